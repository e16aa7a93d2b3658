"""A mapping made ready for the columns that a file has, and asked for many records at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import starmap
from operator import itemgetter
from typing import Any, Generic, TypeVar

from sssjob import spec
from sssjob.accounting.record import DELIVERED, JOB, NOWHERE, REQUESTED, Field, Found
from sssjob.accounting.roads import Road
from sssjob.errors import InvalidValue

P = TypeVar("P")
J = TypeVar("J")

MEMO_LIMIT = 1024  # values of one column that are remembered with what they become

_EXTENSION = "Extension"
_FIRST = ("Id", "GlobalId", "State", "Hold", "StatusMessage", "Name", "TaskCount")
_LAST = ("ExitCode", "CpuDuration", _EXTENSION)
_PRINTED = {
    name: place
    for place, name in enumerate((
        *_FIRST,
        *(name for name in spec.properties("Job") if name not in (*_FIRST, *_LAST)),
        *_LAST,
    ))
}  # fmt: skip

Columns = Sequence[Sequence[Any]]
Memories = dict[Any, Any]


class Memory(dict[Any, P]):
    """What the texts of one column become, made when a text is met for the first time."""

    def __init__(self, row: Field, road: Road[P, Any]) -> None:
        super().__init__()
        self._row = row
        self._read = row.read
        self._of = road.of
        self._make = road.maker(row.element, row.attributes)
        self._column = road.column(row.element, row.attributes)
        self._nothing = road.nothing
        self._varied = getattr(row.read, "varied", False)
        self._largest = getattr(row.read, "largest", 0)

    def column(self, texts: Sequence[Any]) -> list[P]:
        """What every text of a column becomes. Raises ``InvalidValue``, which names the column."""
        if not self._varied:
            return list(map(self.__getitem__, texts))
        if self._largest and _are_numbers(texts, self._largest):
            return self._numbers(texts)
        try:
            if self._row.beside:
                found = list(starmap(self._read, texts))
            else:
                found = [self._read(text) if text else None for text in texts]
        except InvalidValue as wrong:
            raise self._named(wrong) from None
        texts = [text for text in found if text.__class__ is str and text]
        if len(texts) == len(found):
            return self._column(texts)
        if len(texts) + found.count(None) < len(found):
            return list(map(self._piece, found))
        pieces, nothing = iter(self._column(texts)), self._nothing
        return [nothing if text is None else next(pieces) for text in found]

    def _numbers(self, texts: Sequence[str]) -> list[P]:
        if min(texts) >= "1":  # in the order of characters, before it come "" and leading zeros
            return self._column(texts)
        return [self._make(text) if text >= "1" else self._made(text) for text in texts]

    def __missing__(self, text: Any) -> P:
        piece = self._made(text)
        if len(self) >= MEMO_LIMIT:
            self.clear()
        self[text] = piece
        return piece

    def _made(self, text: Any) -> P:
        try:
            found = self._read(*text) if self._row.beside else self._read(text) if text else None
        except InvalidValue as wrong:
            raise self._named(wrong) from None
        return self._piece(found)

    def _piece(self, found: Found) -> P:
        if found is None:
            return self._nothing
        return self._make(found) if isinstance(found, str) else self._of(found)

    def _named(self, wrong: InvalidValue) -> InvalidValue:
        return InvalidValue(wrong.text, f"{wrong.expected}: {self._row.column}")


def _are_numbers(texts: Sequence[str], largest: int) -> bool:
    """Whether every text is a whole number up to a largest, or empty."""
    joined = "".join(texts)
    return (
        joined.isdecimal()
        and joined.isascii()
        and max(map(len, texts)) <= 18
        and (largest >= 10**18 - 1 or max(map(int, filter(None, texts))) <= largest)
    )


class Plan(Generic[P, J]):
    """The rows of a mapping for the columns that there are, in the order of the output.

    A row counts only if there is its first column. ``names`` are those of the columns that are
    given later, and may hold more than the mapping. Plans that share ``memories`` remember
    together: a job and its steps tell much the same.
    """

    def __init__(
        self, rows: Iterable[Field], names: Sequence[str], road: Road[P, J],
        memories: Memories | None = None,
    ) -> None:  # fmt: skip
        memories = {} if memories is None else memories
        at = {name: index for index, name in reversed(tuple(enumerate(names)))}
        chosen = [row for row in rows if row.place != NOWHERE and row.column in at]
        chosen.sort(key=lambda row: _PRINTED.get(row.element, len(_PRINTED)))
        self._road = road
        # Extensions stand behind all other properties, and have no place in the categories.
        self._own: list[_Reader[P]] = []
        self._requested: list[_Reader[P]] = []
        self._delivered: list[_Reader[P]] = []
        kinds = {JOB: self._own, REQUESTED: self._requested, DELIVERED: self._delivered}
        for row in chosen:
            key = (*row[:4], *row.attributes.items(), row.beside)
            if key not in memories:
                memories[key] = Memory(row, road)
            taker = _taker((row.column, *row.beside), at)
            kinds[JOB if row.element == _EXTENSION else row.place].append((memories[key], taker))
        self.columns = frozenset(row.column for row in chosen)

    def jobs(self, columns: Columns, groups: Sequence[P] | None = None) -> list[J | InvalidValue]:
        """What many records become, column by column: for each a job, or what is wrong with it."""
        inner = [self._road.nothing] * len(columns[0]) if groups is None else groups
        return _each(self._jobs, (*columns, inner))

    def groups(self, columns: Columns) -> list[P | InvalidValue]:
        """The same for steps, which become task groups."""
        return _each(self._groups, columns)

    def _jobs(self, columns: Columns) -> list[J]:
        *columns, groups = columns
        own, requested, delivered = (
            self._read(readers, columns)
            for readers in (self._own, self._requested, self._delivered)
        )
        return self._road.jobs(own, requested, delivered, groups)

    def _groups(self, columns: Columns) -> list[P]:
        own, delivered = (self._read(readers, columns) for readers in (self._own, self._delivered))
        return self._road.groups(own, delivered)

    def _read(self, readers: list[_Reader[P]], columns: Columns) -> list[P]:
        if not readers:
            return [self._road.nothing] * len(columns[0])
        pieces = [memory.column(take(columns)) for memory, take in readers]
        return pieces[0] if len(pieces) == 1 else self._road.side_by_side(pieces)


T = TypeVar("T")
_Reader = tuple[Memory[P], Callable[[Columns], Sequence[Any]]]


def _taker(names: tuple[str, ...], at: dict[str, int]) -> Callable[[Columns], Sequence[Any]]:
    """What takes a column out of many: one of texts, or one of the texts of several columns."""
    if len(names) == 1:
        return itemgetter(at[names[0]])
    places = [at.get(name) for name in names]

    def take(columns: Columns) -> Sequence[Any]:
        empty = [""] * len(columns[0])
        found = (empty if place is None else columns[place] for place in places)
        return list(zip(*found, strict=True))

    return take


def _each(make: Callable[[Columns], list[T]], columns: Columns) -> list[T | InvalidValue]:
    """What is made of records, and of each that cannot be made, why."""
    size = len(columns[0])
    if not size:
        return []
    try:
        return [*make(columns)]
    except InvalidValue as wrong:
        if size == 1:
            return [wrong]
    half = size // 2
    first, second = (
        [column[part] for column in columns] for part in (slice(half), slice(half, None))
    )
    return _each(make, first) + _each(make, second)
