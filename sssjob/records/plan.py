"""A mapping made ready for the columns that a file has, and asked for many records at once.

A value that cannot be read costs that value: the job goes without it, its text stays in an
Extension, and a remark says so. Only what a record is about, and what its usage is made of, refuse
it. # decision 181

Strategy. A log has millions of records of dozens of columns, and a call in Python for each value
is what takes the time. But a value that is wrong in one record must not change any other record.

The idea is to work by columns. A ``Plan`` chooses, once for a file, the rows of the table whose
columns are there, in the order of the output. Then each row makes of a whole column of texts a
column of pieces, and the builder puts the pieces of a record together. A column of equal texts is
read once, and a ``Memory`` keeps what texts became, since users, queues and sizes repeat. If one
text of a column cannot be read, that column is read again, text by text, and each fault is noted
for its record.

Why it is right: every way through ``Memory.column`` gives what reading each text by itself would
give, and a shortcut is taken only where the reader of the row says that it may be (``varied``,
``largest``, ``many``, ``parts``). Both builders, of values and of text, use the same plan, and
tests compare their results. What is remembered is bounded by entries and by characters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import starmap
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar, cast

from sssjob import spec, states
from sssjob.errors import InvalidValue
from sssjob.model import Property
from sssjob.records.builders import Builder, Column
from sssjob.records.layout import NO_WALL
from sssjob.records.record import (
    COMPARED,
    DELIVERED,
    JOB,
    KEPT,
    LEFT_OUT,
    NOWHERE,
    REQUESTED,
    Apart,
    Bulk,
    Field,
    Found,
    Instead,
    Many,
    Parts,
    plain,
)
from sssjob.records.texts import BulkColumn, Coded, Plain, WholeNumbers, beside, same

P = TypeVar("P")
J = TypeVar("J")

MEMO_LIMIT = 4096  # values of one column that are remembered with what they become
_MEMO_SIZE = 1 << 18  # characters of all that is remembered of one column
_REPEATS = 2  # times that a text repeats which is read for itself
_COLUMNS = 512  # columns that are remembered for one builder

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

# What refuses a record that cannot tell it.
_VITAL = frozenset((
    (JOB, "Id"), (JOB, "StartTime"), (JOB, "EndTime"),
    (DELIVERED, "Duration"), (DELIVERED, "Processors"),
))  # fmt: skip

_PROCESSORS, _DURATION, _CPU, _STATE = "Processors", "Duration", "CpuDuration", "State"
# States of jobs that have not ended, as they may be written.
_GO_ON = tuple(
    word for state in states.STEPS if not states.is_over(state)
    for word in (state, state.lower(), state.upper())
)  # fmt: skip
# Of a job that ran, however its format leaves them out. # decision 790
NO_PROCESSORS = "no number of processors: sums count such a job as one with one"


Columns = Sequence[Sequence[Any]]


class Odd(NamedTuple, Generic[J]):
    """A job, or a task group, without values that could not be read, and what is to say of each."""

    made: J
    remarks: tuple[str, ...]


class _UnreadText(NamedTuple):
    """A text that could not be read, and why."""

    row: Field
    text: Any
    wrong: InvalidValue


class _Faults(dict[int, list[_UnreadText]]):
    """What could not be read, by the places of the records."""

    def __init__(self, vital: frozenset[tuple[str, str]]) -> None:
        super().__init__()
        self.refused: dict[int, InvalidValue] = {}
        self.untold: dict[int, str] = {}  # what no column tells of a record
        self._vital = vital

    def add(self, place: int, fault: _UnreadText) -> None:
        """Take what could not be read of a record."""
        is_vital = (fault.row.place, fault.row.element) in self._vital
        if is_vital and not isinstance(fault.wrong, Instead):
            self.refused.setdefault(place, fault.wrong)
        else:
            self.setdefault(place, []).append(fault)

    def tell(self, place: int, element: str) -> bool:
        """Whether a fault of a record tells that what was given is not known."""
        wanted = (DELIVERED, element)
        return any((each.row.place, each.row.element) == wanted for each in self.get(place, ()))


class Memory(dict[Any, P]):
    """What the texts of one column become, made when a text is met for the first time."""

    def __init__(self, row: Field, builder: Builder[P, Any]) -> None:
        super().__init__()
        self._row = row
        self._read = row.read
        self._builder = builder
        self._of = builder.of
        self._make = builder.maker(row.element, row.attributes)
        self._column = builder.column(row.element, row.attributes)
        self._nothing = builder.nothing
        self._as_it_stands = row.read is plain and not row.beside
        self._varied = getattr(row.read, "varied", False)
        self._largest = getattr(row.read, "largest", 0)
        self._many: Many | None = getattr(row.read, "many", None)
        self._bulk: Bulk | None = getattr(row.read, "bulk", None)
        self._parts: Parts | None = getattr(row.read, "parts", None)
        self._apart: Apart | None = getattr(row.read, "apart", None)
        self._room = _MEMO_SIZE

    def column(self, texts: Sequence[Any]) -> Column:
        """What every text of a column becomes. Raises ``InvalidValue``: see ``one_by_one``."""
        if isinstance(texts, BulkColumn):
            if (column := self._of_bulk(texts)) is not None:
                return column
            texts = texts.list
        first = texts[0]
        if first == texts[-1] and texts.count(first) == len(texts):
            piece = self._made(first) if self._varied else self[first]
            return self._builder.same(piece, len(texts))
        if self._as_it_stands:
            return self._put([text or None for text in texts] if "" in texts else texts)
        if self._parts:
            return self._of_parts(texts, self._parts)
        if not self._varied:
            return list(map(self.__getitem__, texts))
        if self._largest and _are_numbers(texts, self._largest):
            return self._numbers(texts)
        if self._many and (made := self._together(texts, self._many)) is not None:
            return made
        found: list[Found]
        if self._row.beside:
            found = list(starmap(self._read, texts))
        elif "" not in texts:
            found = list(map(self._read, texts))
        else:
            found = [self._read(text) if text else None for text in texts]
        return self._put(found)

    def _of_bulk(self, texts: BulkColumn) -> Column | None:
        """The same of texts that repeat, each read once, or that are read by their bytes."""
        if isinstance(texts, Coded):
            if len(texts.values) * _REPEATS > len(texts):
                return None
            pieces = [*map(self._piece_of, texts.values)]
            if len(pieces) == 1:
                return self._builder.same(pieces[0], len(texts))
            return self._builder.picked(pieces, texts.codes)
        if isinstance(texts, WholeNumbers) and self._as_it_stands:
            return self._column(texts, False)
        if self._apart and (found := self._apart(texts)):
            picked = self._builder.picked
            return self._builder.side_by_side(
                [picked([*map(self.__getitem__, each.values)], each.codes) for each in found],
                len(texts),
            )
        if self._bulk is None or (read := self._bulk(texts)) is None:
            return None
        if isinstance(read, WholeNumbers):
            return self._column(read, False)
        if isinstance(read, Plain) and read.sizes().min() > 0:
            return self._column(read, True)
        return self._put([text or None for text in read])

    def _piece_of(self, text: Any) -> P:
        if self._parts and text:
            return self._builder.join(map(self.__getitem__, self._parts(text)))
        return self._made(text) if self._varied else self[text]

    def one_by_one(self, texts: Sequence[Any], faults: _Faults) -> Column:
        """The same, where what cannot be read is a fault of its record."""
        known: dict[Any, tuple[P, InvalidValue | None]] = {}
        pieces = []
        for place, text in enumerate(texts):
            if text not in known:
                known[text] = self._or_wrong(text)
            piece, wrong = known[text]
            if wrong is not None:
                faults.add(place, _UnreadText(self._row, text, wrong))
            pieces.append(piece)
        return pieces

    def _or_wrong(self, text: Any) -> tuple[P, InvalidValue | None]:
        try:
            return self._made(text) if self._varied else self[text], None
        except InvalidValue as wrong:
            found = wrong.properties if isinstance(wrong, Instead) else None
            return self._piece(found), wrong

    def _put(self, found: Sequence[Found]) -> Column:
        if "" not in found and {*map(type, found)} == {str}:
            return self._column(cast(Sequence[str], found), True)
        texts = [text for text in found if text.__class__ is str and text]
        if len(texts) + found.count(None) < len(found):
            return list(map(self._piece, found))
        pieces, nothing = self._pieces(self._column(texts, True), len(texts)), self._nothing
        return [nothing if text is None else next(pieces) for text in found]

    def _pieces(self, column: Column, size: int) -> Iterator[P]:
        return iter(self._builder.side_by_side((column,), size))

    def _together(self, texts: Sequence[str], many: Many) -> Column | None:
        """What texts become that are read all at once, if they can be; "" is nothing."""
        if "" not in texts:
            read = many(texts)
            return None if read is None else self._column(read, False)
        told = [text for text in texts if text]
        if (read := many(told)) is None:
            return None
        pieces, nothing = self._pieces(self._column(read, False), len(told)), self._nothing
        return [next(pieces) if text else nothing for text in texts]

    def _of_parts(self, texts: Sequence[str], parts: Parts) -> Column:
        join, piece, nothing = self._builder.join, self.__getitem__, self._nothing
        return [join(map(piece, parts(text))) if text else nothing for text in texts]

    def _numbers(self, texts: Sequence[str]) -> Column:
        if min(texts) >= "1":  # in the order of characters, before it come "" and leading zeros
            return self._column(texts, False)
        return [self._make(text) if text >= "1" else self[text] for text in texts]

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
            raise self._named(wrong, text) from None

    def _piece(self, found: Found) -> P:
        if found is None:
            return self._nothing
        return self._make(found) if isinstance(found, str) else self._of(found)

    def _named(self, wrong: InvalidValue, text: Any) -> InvalidValue:
        names = [name for name in _blamed(self._row, text, wrong) if not _is_worked_out(name)]
        expected = f"{wrong.expected}: {', '.join(names)}" if names else wrong.expected
        if isinstance(wrong, Instead):
            return Instead(wrong.text, expected, wrong.properties, wrong.then, keeps=wrong.keeps)
        return InvalidValue(wrong.text, expected)


def _memory(row: Field, builder: Builder[P, Any]) -> Memory[P]:
    """What this builder remembers of a column: nothing, where texts seldom repeat."""
    if builder.memories is None or getattr(row.read, "varied", False):
        return Memory(row, builder)
    key = (*row[:4], *row.attributes.items(), row.beside)
    if key not in builder.memories:
        if len(builder.memories) >= _COLUMNS:
            builder.memories.clear()
        builder.memories[key] = Memory(row, builder)
    found: Memory[P] = builder.memories[key]
    return found


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
    given later, and may hold more than the mapping; ``type`` is that of Extensions. Plans on a
    builder with memories remember together: a job and its steps tell much the same.
    """

    def __init__(
        self, rows: Iterable[Field], names: Sequence[str], builder: Builder[P, J], type: str
    ) -> None:
        at = {name: index for index, name in reversed(tuple(enumerate(names)))}
        needs = builder.needs or {}
        chosen = [
            row for row in rows
            if row.place != NOWHERE and row.column in at
            and not (needs and row.place == COMPARED)
            and (row.place not in needs or _is_needed(row, needs[row.place]))
        ]  # fmt: skip
        chosen.sort(key=lambda row: _PRINTED.get(row.element, len(_PRINTED)))
        self._builder = builder
        self._type = type
        # Extensions stand behind all other properties, and have no place in the categories.
        self._own: list[_Reader[P]] = []
        self._requested: list[_Reader[P]] = []
        self._delivered: list[_Reader[P]] = []
        kinds = {JOB: self._own, REQUESTED: self._requested, DELIVERED: self._delivered}
        self._at: dict[tuple[str, str], list[int]] = {
            place: []
            for place in (
                (DELIVERED, _PROCESSORS),
                (DELIVERED, _DURATION),
                (JOB, _CPU),
                (JOB, _STATE),
            )
        }
        for row in chosen:
            taker = _taker((row.column, *row.beside), at)
            place = JOB if row.element == _EXTENSION else row.place
            if (place, row.element) in self._at:
                self._at[place, row.element].append(len(kinds[place]))
            kinds[place].append((_memory(row, builder), taker))
        self._no_time, self._no_cpu = (
            builder.of([Property(element, "0")]) for element in (_DURATION, _CPU)
        )
        self._going = [builder.of([Property(_STATE, word)]) for word in _GO_ON]
        self.columns = frozenset(row.column for row in chosen)
        self._extensions = [row for row in chosen if row.element == _EXTENSION and not row.beside]

    def jobs(
        self, columns: Columns, groups: Sequence[P] | None = None, ended: Sequence[bool] = ()
    ) -> Sequence[J | Odd[J] | InvalidValue]:
        """What many records become, column by column: for each a job, or what is wrong with it.

        ``ended`` says of each whether its end is told, so that a wall time that is not can be
        missed; of all where it is empty.
        """
        size = len(columns[0])
        if not size:
            return []
        faults = _Faults(_VITAL)
        own = _read(self._own, columns, faults)
        requested = _read(self._requested, columns, faults)
        delivered = _read(self._delivered, columns, faults)
        if self._at[DELIVERED, _DURATION] and self._builder.needs is None:
            self._tell_missing(own, delivered, faults, ended, size)
        if faults:
            own.append(self._texts(faults, size))
        inner = [self._builder.nothing] * size if groups is None else groups
        jobs = self._builder.jobs(own, requested, delivered, inner)
        if not (faults or faults.refused or faults.untold):
            return jobs
        made = self._with_remarks(jobs, faults)
        return [faults.refused.get(place, job) for place, job in enumerate(made)]

    def groups(self, columns: Columns) -> list[P | Odd[P]]:
        """The same for steps, which become task groups: nothing of them refuses their job."""
        size = len(columns[0])
        if not size:
            return []
        faults = _Faults(frozenset())
        own = _read(self._own, columns, faults)
        delivered = _read(self._delivered, columns, faults)
        if faults:
            own.append(self._texts(faults, size))
        groups = self._builder.groups(own, delivered, size)
        return self._with_remarks(groups, faults) if faults else [*groups]

    def _tell_missing(
        self, own: Sequence[Column], delivered: Sequence[Column], faults: _Faults,
        ended: Sequence[bool], size: int,
    ) -> None:  # fmt: skip
        """Note the records of which nothing says how many processors they had, or how long.

        The first of those that ran, the second of those that ended and used something. Not those of
        which that is told by a fault.
        """
        builder, nothing = self._builder, self._builder.nothing
        had, ran = (
            [delivered[at] for at in self._at[DELIVERED, element]]
            for element in (_PROCESSORS, _DURATION)
        )
        has_all, has_times = (any(map(builder.is_full, columns)) for columns in (had, ran))
        if has_all and has_times:
            return
        numbers, times = (builder.side_by_side(columns, size) for columns in (had, ran))
        if not has_all:
            for place, (processors, duration) in enumerate(zip(numbers, times, strict=True)):
                is_lone = processors == nothing and duration not in (nothing, self._no_time)
                if is_lone and not faults.tell(place, _PROCESSORS):
                    faults.untold[place] = NO_PROCESSORS
        if has_times or nothing not in times:
            return
        used, said = (
            builder.side_by_side([own[at] for at in self._at[JOB, element]], size)
            for element in (_CPU, _STATE)
        )
        for place, (processors, cpu) in enumerate(zip(numbers, used, strict=True)):
            if times[place] != nothing or (ended and not ended[place]):
                continue
            is_used = processors != nothing or cpu not in (nothing, self._no_cpu)
            if is_used and not faults.tell(place, _DURATION) and not self._goes_on(said[place]):
                faults.untold[place] = NO_WALL

    # decision 1207
    def _goes_on(self, said: P) -> bool:
        """Whether the State of a job says that it has not ended, whatever its format knows."""
        return any(self._builder.holds(said, state) for state in self._going)

    def _texts(self, faults: _Faults, size: int) -> Column:
        """The texts that could not be read, each once, as Extensions."""
        found = [self._builder.nothing] * size
        for place, told in faults.items():
            texts = {
                column: text
                for fault in told
                if not isinstance(fault.wrong, Instead) or fault.wrong.keeps
                for column, text in _blamed(fault.row, fault.text, fault.wrong).items()
            }
            found[place] = self._builder.of(
                Property(_EXTENSION, text, {"type": self._type, "name": column})
                for column, text in texts.items()
                if text.strip() and not self._keeps(column, text)
            )
        return found

    def _keeps(self, column: str, text: str) -> bool:
        """Whether a row keeps the text of a column as it is, whatever others make of it."""
        return any(
            row.column == column and row.attributes.get("name") == column and _gives(row, text)
            for row in self._extensions
        )

    def _with_remarks(self, made: Sequence[T], faults: _Faults) -> list[T | Odd[T]]:
        found: list[T | Odd[T]] = [*made]
        for place, told in faults.items():
            remarks = dict.fromkeys(map(_remark, told))
            found[place] = Odd(made[place], tuple(remarks))
        for place, untold in faults.untold.items():
            before = found[place]
            said = before.remarks if isinstance(before, Odd) else ()
            found[place] = Odd(made[place], (*said, untold))
        return found


def _is_needed(row: Field, names: Collection[str]) -> bool:
    """Whether who looks at these names looks at a row: see ``Builder.needs``."""
    return row.element in names or f"{row.element}/{row.attributes.get('name')}" in names


T = TypeVar("T")
_Reader = tuple[Memory[P], Callable[[Columns], Sequence[Any]]]


def _read(readers: list[_Reader[Any]], columns: Columns, faults: _Faults) -> list[Column]:
    found = []
    for memory, take in readers:
        texts = take(columns)
        try:
            found.append(memory.column(texts))
        except InvalidValue:
            found.append(memory.one_by_one(texts, faults))
    return found


def _gives(row: Field, text: str) -> bool:
    """Whether a row gives a text as it stands."""
    try:
        return row.read(text) == text
    except InvalidValue:
        return False


def _is_worked_out(column: str) -> bool:
    """Whether it is no column of the source, and so has a name that nobody else knows."""
    return column[0] == "("


def _blamed(row: Field, text: Any, wrong: InvalidValue) -> dict[str, str]:
    """The texts that could not be read, by their columns. # decision 1045

    Of a row with several columns the first one that is what was wrong, or else holds it; where none
    does, all that have a text may be to blame.
    """
    if not row.beside:
        return {row.column: _plain_text(text)}
    texts = {
        name: _plain_text(each)
        for name, each in zip((row.column, *row.beside), text, strict=True)
        if name == row.column or not _is_worked_out(name)
    }
    if not wrong.text.strip():
        return {row.column: texts[row.column]}
    wanted = wrong.text.casefold()  # a reader may have made words alike
    for is_it in (wrong.text.__eq__, lambda each: wanted in each.casefold()):
        for name, each in texts.items():
            if is_it(each):
                return {name: each}
    told = {name: each for name, each in texts.items() if each.strip()}
    return told or {row.column: texts[row.column]}


def _plain_text(text: Any) -> str:
    return text if isinstance(text, str) else " ".join(map(str, text))


def _remark(fault: _UnreadText) -> str:
    """What to say of a text that could not be read."""
    texts = _blamed(fault.row, fault.text, fault.wrong).values()
    is_told = any(text.strip() for text in texts)
    if isinstance(fault.wrong, Instead):
        kept = f", {KEPT}" if fault.wrong.keeps and is_told else ""
        return f"{fault.wrong}; {fault.wrong.then}{kept}"
    return f"{fault.wrong}; {KEPT if is_told else LEFT_OUT}"


def _taker(names: tuple[str, ...], at: dict[str, int]) -> Callable[[Columns], Sequence[Any]]:
    """What takes a column out of many: one of texts, or one of the texts of several columns."""
    if len(names) == 1:
        return itemgetter(at[names[0]])
    places = [at.get(name) for name in names]

    def take(columns: Columns) -> Sequence[Any]:
        size = len(columns[0])
        if isinstance(columns[0], BulkColumn):
            nothing = same("", size)
            some = [nothing if place is None else columns[place] for place in places]
            return beside(some)
        empty = [""] * size
        found = (empty if place is None else columns[place] for place in places)
        return list(zip(*found, strict=True))

    return take
