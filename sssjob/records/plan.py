"""A mapping made ready for the columns that a file has, and asked for many records at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import starmap
from operator import itemgetter
from typing import Any, Generic, TypeVar

from sssjob import spec
from sssjob.errors import InvalidValue
from sssjob.model import Property
from sssjob.records.record import DELIVERED, JOB, NOWHERE, REQUESTED, Field, Found, Many, plain
from sssjob.records.roads import Column, Road

P = TypeVar("P")
J = TypeVar("J")

MEMO_LIMIT = 4096  # values of one column that are remembered with what they become
_MEMO_SIZE = 1 << 18  # characters of all that is remembered of one column

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
        self._road = road
        self._of = road.of
        self._make = road.maker(row.element, row.attributes)
        self._column = road.column(row.element, row.attributes)
        self._nothing = road.nothing
        self._as_it_stands = row.read is plain and not row.beside
        self._varied = getattr(row.read, "varied", False)
        self._largest = getattr(row.read, "largest", 0)
        self._many: Many | None = getattr(row.read, "many", None)
        self._room = _MEMO_SIZE

    def column(self, texts: Sequence[Any]) -> Column:
        """What every text of a column becomes. Raises ``InvalidValue``, which names the column."""
        first = texts[0]
        if first == texts[-1] and texts.count(first) == len(texts):
            piece = self._made(first) if self._varied else self[first]
            return self._road.same(piece, len(texts))
        if self._as_it_stands:
            return self._put([text or None for text in texts] if "" in texts else texts)
        if not self._varied:
            return list(map(self.__getitem__, texts))
        if self._largest and _are_numbers(texts, self._largest):
            return self._numbers(texts)
        if self._many and "" not in texts and (read := self._many(texts)) is not None:
            return self._column(read, False)
        try:
            if self._row.beside:
                found = list(starmap(self._read, texts))
            else:
                found = [self._read(text) if text else None for text in texts]
        except InvalidValue as wrong:
            raise self._named(wrong) from None
        return self._put(found)

    def _put(self, found: Sequence[Found]) -> Column:
        texts = [text for text in found if text.__class__ is str and text]
        if len(texts) == len(found):
            return self._column(texts, True)
        if len(texts) + found.count(None) < len(found):
            return list(map(self._piece, found))
        made = self._road.side_by_side((self._column(texts, True),), len(texts))
        pieces, nothing = iter(made), self._nothing
        return [nothing if text is None else next(pieces) for text in found]

    def _numbers(self, texts: Sequence[str]) -> Column:
        if min(texts) >= "1":  # in the order of characters, before it come "" and leading zeros
            return self._column(texts, False)
        return [self._make(text) if text >= "1" else self._made(text) for text in texts]

    def __missing__(self, text: Any) -> P:
        found = self._found(text)
        piece = self._piece(found)
        self._room -= _weight(text) + (len(piece) if isinstance(piece, str) else _weight(found))
        if len(self) >= MEMO_LIMIT or self._room < 0:
            self.clear()
            self._room = _MEMO_SIZE
        self[text] = piece
        return piece

    def _made(self, text: Any) -> P:
        return self._piece(self._found(text))

    def _found(self, text: Any) -> Found:
        try:
            return self._read(*text) if self._row.beside else self._read(text) if text else None
        except InvalidValue as wrong:
            raise self._named(wrong) from None

    def _piece(self, found: Found) -> P:
        if found is None:
            return self._nothing
        return self._make(found) if isinstance(found, str) else self._of(found)

    def _named(self, wrong: InvalidValue) -> InvalidValue:
        return InvalidValue(wrong.text, f"{wrong.expected}: {self._row.column}")


def _weight(found: Any) -> int:
    """About how many characters something has."""
    if isinstance(found, str):
        return len(found)
    if isinstance(found, tuple):
        return sum(map(_weight, found))
    return len(found.text) if isinstance(found, Property) else 1


def _are_numbers(texts: Sequence[str], largest: int) -> bool:
    """Whether every text is a whole number up to a largest, or empty."""
    joined = "".join(texts)
    if not (joined.isdecimal() and joined.isascii()):
        return False
    longest = max(map(len, texts))
    if longest < len(str(largest)):
        return True
    return longest <= 18 and max(map(int, filter(None, texts))) <= largest


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
            _read(readers, columns) for readers in (self._own, self._requested, self._delivered)
        )
        return self._road.jobs(own, requested, delivered, groups)

    def _groups(self, columns: Columns) -> list[P]:
        own, delivered = (_read(readers, columns) for readers in (self._own, self._delivered))
        return self._road.groups(own, delivered, len(columns[0]))


T = TypeVar("T")
_Reader = tuple[Memory[P], Callable[[Columns], Sequence[Any]]]


def _read(readers: list[_Reader[Any]], columns: Columns) -> list[Column]:
    return [memory.column(take(columns)) for memory, take in readers]


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
