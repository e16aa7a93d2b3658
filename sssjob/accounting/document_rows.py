"""Rows of a store built column by column, of the columns of the record engine, with the documents.

Beside them stands what reports want of the jobs, so that a report need not open the documents.

Strategy. A row says what ``store.rows`` says of a document. To read the document that was just
written takes longer than to make it: it is parsed, and forty values are looked for.

The idea is that what a row says of properties of one name at one place rests on these alone
(``rows.told_of``). So of many records, which come as columns of properties, it is asked once for
what repeats, of a job that has nothing else. Digits and short texts stand in the row as they are.

Why it is right: every value comes from ``store.rows``. A record with anything else than plain
properties, or with names that defaults and older names are resolved by, becomes a job object, and
its rows are those of its tree. Tests compare both over changed records of every format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, repeat
from typing import Any, NamedTuple, Self, TypeVar, cast

from sssjob.accounting.column_values import JobRowsReader, PlacedColumns, PlainPieces
from sssjob.accounting.report import JobRow
from sssjob.document.bridge import to_tree
from sssjob.document.text import dumps, fragment
from sssjob.formats.sss import jobs_of
from sssjob.model import Delivered, Item, Job, Property, TaskGroup
from sssjob.records.builders import OBJECTS, TEXTS, Column, Items, Picked, Same
from sssjob.records.property_columns import (
    REMEMBERED,
    ColumnPlace,
    ColumnsBuilder,
    NamedTexts,
    PickedItems,
    RememberedValues,
    SameItems,
    items_of,
    job_of,
)
from sssjob.records.record import DELIVERED, JOB, REQUESTED
from sssjob.records.texts import distinct
from sssjob.store import columns
from sssjob.store.columns import LONGEST, NAMES, ODD, Says
from sssjob.store.rows import PropertySummary, Row, in_bytes, is_resolved, one_number, rows, told_of
from sssjob.units import DEFAULT_UNITS

_DIGITS = 15  # that a double holds
_NAME = "Name"
_ODD = NAMES.index(ODD)
_EMPTY = rows(to_tree(Job()))[0]
_COUNTS = {
    name: NAMES.index(str(columns.column(name, Says.COUNT))) for name in (REQUESTED, DELIVERED)
}
_OF_GROUPS = [
    place for place, column in enumerate(columns.COLUMNS) if column.path.startswith("TaskGroup")
]

J = TypeVar("J")


class DocumentRows(NamedTuple):
    """The text of a document, its rows, and what reports read of its jobs: mostly one of each."""

    text: str
    rows: Sequence[Row]
    used: Sequence[JobRow]

    @classmethod
    def of(cls, job: Job) -> Self:
        """Those of a job object."""
        return cls(dumps(job), (*rows(to_tree(job)),), (*map(JobRow.of, jobs_of(job)),))


class TextPiece(tuple[Item, ...]):
    """Items with the text that they have in a document."""

    text: str

    @classmethod
    def of(cls, items: Iterable[Item], text: str) -> Self:
        """Items that have this text."""
        piece = cls(items)
        piece.text = text
        return piece


class ReadColumns(NamedTuple):
    """Many records as columns, their documents, and their rows but for ``irregular`` ones."""

    told: PlacedColumns
    texts: Sequence[str]
    cells: Sequence[Iterable[Any]]  # by the columns of rows; ``repeat`` of what all have
    groups: Sequence[Items]
    irregular: Iterable[int]

    def job(self, at: int) -> Job:
        """A record as a job object."""
        items = {
            place: [item for each in some for item in each.piece(at)]
            for place, some in self.told.items()
        }
        return job_of(items, self.groups[at])


class TextColumnsBuilder(ColumnsBuilder[J]):
    """Of columns of properties and of documents, for who needs both; see ``ReadColumns``."""

    nothing = TextPiece.of((), "")

    def __init__(self) -> None:
        self._said: dict[tuple[str, str], _StatedProperties | None] = {}
        self._groups = _OfGroups()

    def of(self, properties: Iterable[Property]) -> TextPiece:
        """The piece of properties."""
        told = tuple(properties)
        return TextPiece.of(told, fragment(told))

    def maker(self, element: str, attributes: Mapping[str, str]) -> Callable[[str], Items]:
        """What makes the piece of one text."""
        write = TEXTS.maker(element, attributes)
        return lambda text: TextPiece.of((Property.read(element, text, attributes),), write(text))

    def join(self, pieces: Iterable[Items]) -> TextPiece:
        """Pieces behind each other."""
        some = cast(Sequence[TextPiece], [*pieces])
        return TextPiece.of(super().join(some), "".join([piece.text for piece in some]))

    def side_by_side(self, columns: Sequence[Column], size: int) -> list[Items]:
        """The pieces of each record."""
        texts = TEXTS.side_by_side([*map(_as_text, columns)], size)
        return [*map(TextPiece.of, super().side_by_side(columns, size), texts)]

    def groups(self, own: Sequence[Column], delivered: Sequence[Column], size: int) -> list[Items]:
        """Task groups."""
        texts = TEXTS.groups([*map(_as_text, own)], [*map(_as_text, delivered)], size)
        items = OBJECTS.groups([*map(items_of, own)], [*map(items_of, delivered)], size)
        return [*map(TextPiece.of, items, texts)]

    def read(
        self, own: Sequence[Column], requested: Sequence[Column], delivered: Sequence[Column],
        groups: Sequence[Items],
    ) -> ReadColumns:  # fmt: skip
        """What is said of many records."""
        size = len(groups)
        given = {JOB: own, REQUESTED: requested, DELIVERED: delivered}
        told = {
            place: [ColumnPlace.of(place, column) for column in some]
            for place, some in given.items()
        }
        texts = TEXTS.jobs(
            [*map(_as_text, own)],
            [*map(_as_text, requested)],
            [*map(_as_text, delivered)],
            [cast(TextPiece, group).text for group in groups],
        )
        cells: list[Iterable[Any]] = [*map(repeat, _EMPTY)]
        odd = [0] * size
        for place, some in told.items():
            for said, those in self._names(place, some):
                for at, values in said.cells(those, size, odd):
                    cells[at] = values
            if place in _COUNTS:
                cells[_COUNTS[place]] = _counts(some, size)
        irregular = _irregular(told, size)
        if any(groups):
            irregular |= self._groups.put(groups, cells, odd)
        if any(odd):
            cells[_ODD] = odd
        return ReadColumns(told, texts, cells, groups, irregular)

    def _names(
        self, place: str, some: Sequence[ColumnPlace]
    ) -> Iterator[tuple[_StatedProperties, list[ColumnPlace]]]:
        """What is said of each name that rows speak of, and the columns that have it."""
        by_name: dict[str, list[ColumnPlace]] = {}
        for each in some:
            for name in each.names:
                by_name.setdefault(name, []).append(each)
        for name, those in by_name.items():
            key = place, name
            if key not in self._said:
                told = told_of("" if place == JOB else place, name)
                self._said[key] = _StatedProperties(place, name, told) if told else None
            if said := self._said[key]:
                yield said, those


class DocumentRowsBuilder(TextColumnsBuilder[DocumentRows]):
    """Builds documents as text, with their rows and what reports read."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces, self._used = PlainPieces(), JobRowsReader()

    def from_job(self, job: Job) -> DocumentRows:
        """The document and the rows of a job object."""
        return DocumentRows.of(job)

    def jobs(
        self, own: Sequence[Column], requested: Sequence[Column], delivered: Sequence[Column],
        groups: Sequence[Items],
    ) -> list[DocumentRows]:  # fmt: skip
        """The documents and rows of many records."""
        found = self.read(own, requested, delivered, groups)
        size = len(groups)
        told = islice(zip(*found.cells, strict=False), size)
        used = self._used.rows(found.told, size)
        made = [
            DocumentRows(text, (row,), (each,))
            for text, row, each in zip(found.texts, told, used, strict=True)
        ]
        for at in {*found.irregular, *self._pieces.others(found.told, size)}:
            made[at] = DocumentRows.of(found.job(at))
        return made


def _as_text(column: Column) -> Column:
    """A column of items as the text that they have."""
    if isinstance(column, NamedTexts):
        return TEXTS.column(column.name, column.attributes)(column.texts, True)
    if isinstance(column, SameItems):
        return Same((cast(TextPiece, column.items).text,))
    if isinstance(column, PickedItems):
        return Picked([cast(TextPiece, piece).text for piece in column.pieces], column.codes)
    return [piece.text for piece in column]


def _counts(given: Sequence[ColumnPlace], size: int) -> Iterable[int]:
    """How many blocks of these columns each record has: one, where anything stands in it."""
    if any(all(each.pieces) for each in given):
        return repeat(1)
    varied = [each.spread(bool, size) for each in given if any(each.pieces)]
    return [int(any(each)) for each in zip(*varied, strict=True)] if varied else repeat(0)


def _irregular(told: PlacedColumns, size: int) -> set[int]:
    """The numbers of the records with something else than plain properties."""
    found: set[int] = set()
    for each in (each for some in told.values() for each in some):
        if not all(map(_is_regular, each.pieces)):
            kept = enumerate(each.spread(_is_regular, size))
            found.update(at for at, is_kept in kept if not is_kept)
    return found


def _is_regular(piece: Items) -> bool:
    return all(map(_is_plain, piece))


def _is_plain(item: Item) -> bool:
    return (
        type(item) is Property
        and not (item.children or item.namespace)
        and not is_resolved(item.name)
    )


class _OfGroups:
    """What rows say of task groups, which are their names; others are irregular."""

    def __init__(self) -> None:
        self._memory: dict[Any, Row] = {}

    def put(self, groups: Sequence[Items], cells: list[Iterable[Any]], odd: list[int]) -> set[int]:
        """Put in what is said; the numbers of the records whose groups are irregular."""
        found = [self._of(group) if group else _EMPTY for group in groups]
        for at in _OF_GROUPS:
            cells[at] = [None if row is None else row[at] for row in found]
        for number, row in enumerate(found):
            if row is not None:
                odd[number] |= cast(int, row[_ODD])
        return {number for number, row in enumerate(found) if row is None}

    def _of(self, group: Items) -> Row | None:
        """What a row says of a job with these groups alone; None where that is not certain."""
        if not all(
            type(item) is TaskGroup and all(map(_is_of_group, item.items)) for item in group
        ):
            return None
        key = tuple(
            tuple(
                item.text
                for item in each.items
                if isinstance(item, Property) and item.name == _NAME
            )
            for each in cast(Sequence[TaskGroup], group)
        )
        found = self._memory.get(key)
        if found is None:
            told = (TaskGroup(tuple(Property(_NAME, text) for text in names)) for names in key)
            if len(self._memory) >= REMEMBERED:
                self._memory.clear()
            found = self._memory[key] = rows(to_tree(Job(tuple(told))))[-1]
        return found


def _is_of_group(item: Item) -> bool:
    """Whether a row says nothing of it in a task group, or that it is its name."""
    return type(item) is Delivered or _is_plain(item)


Values = Sequence[Any]
Cells = Iterator[tuple[int, Values]]


class _StatedProperties:
    """What rows say of the properties of a name at a place."""

    def __init__(self, place: str, name: str, told: PropertySummary) -> None:
        self._place, self._name, self._told = place, name, told
        at = (*told.places, _ODD)

        def cells(job: Job) -> tuple[Any, ...]:
            row = rows(to_tree(job))[-1]
            return tuple([row[each] for each in at])

        self._known = RememberedValues(cells, lambda item: item.name == name)

    def cells(self, some: Sequence[ColumnPlace], size: int, odd: list[int]) -> Cells:
        """The values of each place in the rows of many records; what is ``odd`` is put there."""
        plain = [*filter(None, map(self._alike, some))]
        if len(plain) == len(some):
            alone = len(some) == 1
            found = self._together(plain[0], odd) if alone else self._numbers_together(plain)
            if found is not None:
                return iter(found.items())
        return self._one_by_one(some, size, odd)

    def _alike(self, place: ColumnPlace) -> NamedTexts | None:
        """A column of properties alike in what matters; one that all have is looked up sooner."""
        return None if place.is_same else place.alike(self._told.attributes)

    def _together(self, column: NamedTexts, odd: list[int]) -> dict[int, Values] | None:
        """The values of a column of texts, "" being none, if they stand in a row as they are."""
        like, texts = self._like([column]), column.texts
        if like is None:
            return None
        found: dict[int, Values] = {}
        for at, value in like.items():
            if at == self._told.text:
                found[at] = [text or None for text in texts] if "" in texts else texts
                if not _stand_in_rows(texts):
                    found[at] = self._asked_for(column, odd)
            elif at == self._told.low:
                numbers = _numbers(texts)
                if numbers.count(None) > texts.count(""):
                    return None
                found[at] = numbers
            elif at == self._told.bytes and value is not None:
                found[at] = self._bytes(column, value)
            else:
                found[at] = [value if text else None for text in texts]
        return found

    def _asked_for(self, column: NamedTexts, odd: list[int]) -> Values:
        """Texts of which some may not stand in a row as they are: what a row says of these."""
        found: list[str | None] = []
        for at, text in enumerate(column.texts):
            if not _stand_in_rows((text,)):
                (values,) = self._known.of_texts(self._place, [column], (text,))
                odd[at] |= values[-1]
                found.append(values[self._told.places.index(self._told.text)])
            else:
                found.append(text or None)
        return found

    def _numbers_together(self, some: Sequence[NamedTexts]) -> dict[int, Values] | None:
        """The same of several columns of numbers, which all records have."""
        columns = [_numbers(each.texts) for each in some] if self._told.low >= 0 else [[None]]
        like = self._like(some)
        if like is None or any(None in numbers for numbers in columns):
            return None
        known = cast(list[list[float]], columns)
        ends = {self._told.low: min, self._told.high: max}
        return {
            at: [*map(ends[at], *known)] if at in ends else [value] * len(known[0])
            for at, value in like.items()
        }

    def _like(self, some: Sequence[NamedTexts]) -> dict[int, Any] | None:
        """What a row says of the text 1 with each of these attributes; None if that is odd."""
        ((*values, odd),) = self._known.of_texts(self._place, some, ("1",))
        return None if odd else dict(zip(self._told.places, values, strict=True))

    def _bytes(self, column: NamedTexts, one: float) -> Values:
        """Amounts in bytes; ``one`` is the amount of the text 1."""
        texts = column.texts
        if _are_digits(texts) and one.is_integer():
            each = int(one)  # a product of whole numbers is exact, whatever a double is
            return [float(int(text) * each) if text else None for text in texts]
        unit = column.attributes.get("units") or DEFAULT_UNITS[self._name]
        return [in_bytes(text, unit) if text else None for text in texts]

    def _one_by_one(self, some: Sequence[ColumnPlace], size: int, odd: list[int]) -> Cells:
        """The values of properties; those of some that were met before are known."""
        found = self._known.values(some, size)
        for at, values in enumerate(found):
            if values[-1]:
                odd[at] |= values[-1]
        return iter([*zip(self._told.places, [*zip(*found, strict=True)], strict=False)])


def _stand_in_rows(texts: Sequence[str]) -> bool:
    """Whether it is certain that rows have texts as they are: short ones, without blanks around.

    What rows say of others is asked of ``store.rows`` alone.
    """
    some = [*distinct(texts)]
    return max(map(len, some)) <= LONGEST and [*map(str.strip, some)] == some


def _are_digits(texts: Sequence[str]) -> bool:
    """Whether all are so few digits that a double holds their number, or nothing."""
    joined = "".join(texts)
    return joined.isdecimal() and joined.isascii() and max(map(len, texts)) <= _DIGITS


def _numbers(texts: Sequence[str]) -> list[float | None]:
    """The number of each text; None of those that are none, or are read in two ways."""
    if _are_digits(texts):
        return [float(text) if text else None for text in texts]
    return [*map(one_number, texts)]
