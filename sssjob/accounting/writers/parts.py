"""What a writer makes of a job, in parts, for one job or for many at once.

Strategy. A record of accounting is put together of some dozens of values, and asking a job object
for each of them took ten times as long as the text of a whole document. But what a target holds,
and what is lost, must not depend on how many jobs are written at once.

The idea is that a writer declares its record as parts, and each part the names of the properties
that it is made of. Of one job, each part is asked what it makes. Of many jobs, which come as
columns of properties, a part is asked once for what repeats: for a job that has nothing but these
properties. Values that seldom repeat, such as times, have a way for a whole column.

Why it is right: a part sees no other properties than those it names, so what it makes of them in a
job of their own is what it makes of them in any. ``many`` gives nothing where texts are not of the
plainest form. Jobs that state an awarenessPolicy are written one by one, and tests compare all
writers both ways.
"""

# decision 277

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from sssjob.accounting.writers.losses import NO_PLACE, POLICY, WISH, TakenJob, UnwrittenValue, named
from sssjob.accounting.writers.writer import (
    Kinds,
    RefusedJob,
    Unfit,
    WriterOptions,
    WrittenJob,
    checked,
)
from sssjob.model import Job, Properties, Property, TaskGroup
from sssjob.records.builders import OBJECTS, TEXTS, Column, Items, LineBuilder, Same
from sssjob.records.property_columns import (
    ColumnPlace,
    ColumnsBuilder,
    NamedTexts,
    RememberedValues,
    items_of,
)
from sssjob.records.record import DELIVERED, JOB, REQUESTED

# Of many texts and of attributes that all have; and of many jobs.
Many = Callable[[Sequence[str], Mapping[str, str]], "Column | None"]
Whole = Callable[["JobBatch"], "Column | None"]

# What an amount with a ``duration`` is depends on another property, that of the whole job.
_DECIDING = frozenset((POLICY, "duration"))
_PATHS = {JOB: "", REQUESTED: f"{REQUESTED}/", DELIVERED: f"{DELIVERED}/"}


class RecordPart(NamedTuple):
    """A piece of a record: the properties that it takes, and what it makes of a job.

    It may look at others, too, which it does not take, and at some only whether they are ``there``.
    ``of`` tells which properties of these names
    matter, where not all do; the others are lost. ``is_each``: what it makes of several properties
    is what it makes of each. ``many`` makes the same of many properties, one of a job, and
    ``whole`` of many jobs; both give None where it takes the job to tell.
    """

    takes: tuple[str, ...]
    write: Callable[[TakenJob, WriterOptions], str]
    looks: tuple[str, ...] = ()
    many: Many | None = None
    whole: Whole | None = None
    of: Callable[[Property], bool] | None = None
    is_each: bool = False
    there: tuple[str, ...] = ()


class EnclosingElement(NamedTuple):
    """An element around parts, which is not there without any of them."""

    name: str
    parts: tuple[RecordPart | EnclosingElement, ...]


def of_job(
    parts: Iterable[RecordPart | EnclosingElement], job: TakenJob, options: WriterOptions
) -> str:
    """The text of a record. Raises ``Unfit``."""
    return "".join(
        part.write(job, options)
        if isinstance(part, RecordPart)
        else _around(part.name, of_job(part.parts, job, options))
        for part in parts
    )


def _around(name: str, inner: str) -> str:
    return f"<{name}>{inner}</{name}>" if inner else ""


class PartsBuilder(ColumnsBuilder[WrittenJob]):
    """Builds records of parts; ``end`` stands behind each."""

    def __init__(
        self, parts: Sequence[RecordPart | EnclosingElement], options: WriterOptions, end: str = ""
    ) -> None:
        self._parts, self._options, self._end = parts, options, end
        self._makers: dict[int, _ColumnMaker] = {}
        self._takes = dict(_taken(parts))

    def from_job(self, job: Job) -> WrittenJob:
        """One record, all parts of the job itself."""
        taken = TakenJob(job)
        try:
            text = of_job(self._parts, taken, self._options)
            losses = checked(taken)
        except (Unfit, RefusedJob) as error:
            return WrittenJob("", (), error)
        return WrittenJob(text + self._end, (_kinds(losses),))

    def jobs(
        self, own: Sequence[Column], requested: Sequence[Column], delivered: Sequence[Column],
        groups: Sequence[Items],
    ) -> list[WrittenJob]:  # fmt: skip
        """Records of many jobs, part by part."""
        told = _JobColumns(own, requested, delivered)
        if told.is_odd:
            mine, asked, given = ([*map(items_of, each)] for each in (own, requested, delivered))
            return [*map(self.from_job, OBJECTS.jobs(mine, asked, given, groups))]
        size = len(groups)
        batch = JobBatch(told, self._options, size)
        lines = LineBuilder(size)
        self._put(lines, self._parts, batch)
        lost = [*batch.lost, *told.lost(self._takes, size), *_of_groups(groups)]
        texts = lines.texts(self._end)
        if not batch.errors:
            return [*map(WrittenJob, texts, zip(*lost, strict=True) if lost else [()] * size)]
        each = zip(*lost, strict=True) if lost else [()] * size
        return [
            WrittenJob("", (), batch.errors[at]) if at in batch.errors else WrittenJob(text, kinds)
            for at, (text, kinds) in enumerate(zip(texts, each, strict=True))
        ]

    def _put(
        self, lines: LineBuilder, parts: Sequence[RecordPart | EnclosingElement], batch: JobBatch
    ) -> None:
        for part in parts:
            if isinstance(part, RecordPart):
                lines.put(self._columns((part,), batch))
            else:
                inner = self._columns(part.parts, batch)
                if any(inner):
                    lines.put_block(part.name, inner)

    def _columns(
        self, parts: Sequence[RecordPart | EnclosingElement], batch: JobBatch
    ) -> list[Column]:
        found: list[Column] = []
        for part in parts:
            if isinstance(part, EnclosingElement):
                inner = LineBuilder(batch.size)
                self._put(inner, (part,), batch)
                if made := inner.texts():  # none, where nothing of it is there
                    found.append(made)
            else:
                maker = self._makers.get(id(part))
                if maker is None:
                    maker = self._makers[id(part)] = _ColumnMaker(part, self._options)
                found += maker.columns(batch)
        return found


Takes = Mapping[str, Callable[[Property], bool] | None]  # names, and which of them, if not all


def _taken(parts: Iterable[RecordPart | EnclosingElement]) -> Iterator[tuple[str, Any]]:
    for part in parts:
        if isinstance(part, RecordPart):
            yield from ((name, part.of) for name in part.takes)
        else:
            yield from _taken(part.parts)


class _JobColumns:
    """The columns of many jobs, by the names of their properties."""

    def __init__(
        self, own: Sequence[Column], requested: Sequence[Column], delivered: Sequence[Column]
    ) -> None:
        self.places = [
            *(ColumnPlace.of(DELIVERED, column) for column in delivered),
            *(ColumnPlace.of(JOB, column) for column in own),
        ]
        self._requested = [ColumnPlace.of(REQUESTED, column) for column in requested]
        self.is_odd = any(map(_is_odd, (*self.places, *self._requested)))

    def lost(self, takes: Takes, size: int) -> Iterator[Sequence[Kinds]]:
        """What of many jobs no part takes."""
        for each in self.places:
            yield from _lost(each, takes, NO_PLACE, size)
        for each in self._requested:
            yield from _lost(each, {}, WISH, size)


def _is_odd(place: ColumnPlace) -> bool:
    """Whether a column holds what decides about losses, or is no plain property."""
    return any(
        type(item) is not Property or not _DECIDING.isdisjoint(item.attributes)
        for piece in place.pieces
        for item in piece
    )


def _lost(place: ColumnPlace, takes: Takes, reason: str, size: int) -> Iterator[Sequence[Kinds]]:
    """What is lost of each piece of a column, but for what is taken, if anything is."""

    def is_taken(item: Property) -> bool:
        which = takes.get(item.name) if item.name in takes else _nothing
        return which is None or which(item)

    def kinds(piece: Properties) -> Kinds:
        path = _PATHS[place.place]
        return tuple(((f"{path}{named(item)}", reason), 1) for item in piece if not is_taken(item))

    if any(map(kinds, place.pieces)):
        yield place.spread(kinds, size)


def _nothing(_: Property) -> bool:
    return False


def _of_groups(groups: Sequence[Items]) -> Iterator[Sequence[Kinds]]:
    if any(groups):
        yield [(((TaskGroup.name, NO_PLACE), len(each)),) if each else () for each in groups]


class JobBatch:
    """Many jobs that are written at once: what was lost so far, and which cannot be written."""

    def __init__(self, told: _JobColumns, options: WriterOptions, size: int) -> None:
        self.told, self.options, self.size = told, options, size
        self.lost: list[Sequence[Kinds]] = []
        self.errors: dict[int, Unfit] = {}

    def texts(self, name: str) -> Sequence[str] | None:
        """The text of a property of each job, "" where it has none.

        None where a job may have several, or one with attributes.
        """
        places = [each for each in self.told.places if name in each.names]
        if not places:
            return [""] * self.size
        if len(places) > 1 or (alike := places[0].alike()) is None or alike.attributes:
            return None
        return alike.texts


class _PartText(NamedTuple):
    """What a part makes of some properties."""

    text: str
    lost: Kinds
    error: Unfit | None


class _ColumnMaker:
    """Makes columns of a part, and remembers what it made of the same properties."""

    def __init__(self, part: RecordPart, options: WriterOptions) -> None:
        self._part, self._options = part, options
        self._names = frozenset((*part.takes, *part.looks, *part.there))
        self._known = RememberedValues(self._made, self._sees, part.there)

    def columns(self, batch: JobBatch) -> list[Column]:
        """What the part makes of many jobs: columns that stand side by side."""
        part = self._part
        places = [each for each in batch.told.places if not each.names.isdisjoint(self._names)]
        if part.of is not None:
            places = [each for each in places if any(map(self._sees, _items(each)))]
        if part.whole and (made := part.whole(batch)) is not None:
            return [made]
        if part.is_each and len({each.place for each in places}) == 1:
            found = [self._column([each], batch) for each in places]
        else:
            found = [self._column(places, batch)]
        return [each for each in found if each is not None]

    def _sees(self, item: Property) -> bool:
        of = self._part.of
        return item.name in self._names and (of is None or of(item))

    def _column(self, places: Sequence[ColumnPlace], batch: JobBatch) -> Column | None:
        """One column; None is nothing of any job."""
        if len(places) == 1 and self._part.many:
            made = self._together(places[0], self._part.many)
            if made is not None:
                return made
        return self._one_by_one(places, batch)

    def _together(self, place: ColumnPlace, many: Many) -> Column | None:
        column = place.column
        if isinstance(column, NamedTexts):
            return many(column.texts, column.attributes)
        if place.is_same or any(len(piece) > 1 for piece in place.pieces):
            return None
        pieces = cast(Sequence[Properties], items_of(column))
        alike: dict[tuple[tuple[str, str], ...], list[int]] = {}
        for at, piece in enumerate(pieces):
            if piece:
                alike.setdefault(tuple(piece[0].attributes.items()), []).append(at)
        (without,) = self._known.values((), 1)  # what it makes of a job that has nothing
        if without.error is not None and not all(pieces):
            return None
        found = [without.text] * len(pieces)
        for attributes, some in alike.items():
            texts = [pieces[at][0].text for at in some]
            if not all(texts) or (made := many(texts, dict(attributes))) is None:
                return None
            for at, text in zip(some, TEXTS.side_by_side((made,), len(some)), strict=True):
                found[at] = text
        return found

    def _one_by_one(self, places: Sequence[ColumnPlace], batch: JobBatch) -> Column | None:
        made = self._known.values(places, batch.size)
        lost = [each.lost for each in made]
        if any(lost):
            batch.lost.append(lost)
        for at, each in enumerate(made):
            if each.error is not None:
                batch.errors.setdefault(at, each.error)
        if all(each.is_same for each in places):
            return Same((made[0].text,)) if made and made[0].text else None
        return [each.text for each in made]

    def _made(self, job: Job) -> _PartText:
        """What the part makes of a job that has nothing but what it is made of."""
        taken = TakenJob(job)
        try:
            text = self._part.write(taken, self._options)
        except Unfit as error:
            return _PartText("", (), error)
        return _PartText(text, _kinds(taken.losses(frozenset(self._part.takes))), None)


def _items(place: ColumnPlace) -> Iterator[Property]:
    """Every property that there is in a column."""
    return (item for piece in place.pieces for item in piece)


def _kinds(losses: Iterable[UnwrittenValue]) -> Kinds:
    """How many losses there are of each kind."""
    return tuple(Counter((loss.path, loss.reason) for loss in losses).items())
