"""Formats of which each line is a record: many lines at once, those of one shape together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Generic, NamedTuple, TypeVar, cast

from sssjob.errors import InvalidValue
from sssjob.records.clock import Clock, is_backwards
from sssjob.records.lines import CUT_SHORT, Watched, blocks, clean
from sssjob.records.plan import Odd, Plan
from sssjob.records.record import Bad, Converted, Field, Noted, Outcome, Skipped
from sssjob.records.roads import Road

P = TypeVar("P")
J = TypeVar("J")

LINE_LIMIT = 1 << 20  # bytes

_converted = tuple.__new__  # what Converted(...) calls in the end, without a call in between
_PLANS = 256  # shapes that are remembered with their plans
_PART = "part of a job whose record is bad"
_BACKWARDS = "the job ends before it starts: the clock was set back"


class Record(NamedTuple):
    """A record: its line, the names of its columns, their texts, and lines that are folded in.

    Records that have one tuple of names are taken together. ``note`` is worth knowing about it.
    """

    line: int
    names: tuple[str, ...]
    fields: Sequence[Any]
    folded: tuple[int, ...] = ()
    note: str = ""


Read = Record | Skipped | Bad | Noted


class Shapes(Generic[P, J]):
    """Makes jobs of records of any shape, by a mapping that may depend on the shape."""

    def __init__(
        self, rows: Callable[[tuple[str, ...]], Iterable[Field]], road: Road[P, J], type: str,
        span: tuple[str, str] = ("", ""),
    ) -> None:  # fmt: skip
        """``type`` is that of Extensions.

        ``span`` names the columns of start and end, in seconds, of which a note may speak.
        """
        self._rows = rows
        self._road = road
        self._type = type
        self._span = span
        self._plans: dict[tuple[str, ...], Plan[P, J]] = {}

    def outcomes(self, found: Sequence[Read]) -> list[Outcome[J]]:
        """What becomes of records, in their order."""
        shapes: dict[int, list[int]] = {}  # by the identity of the names: hashing them takes time
        for place, item in enumerate(found):
            if isinstance(item, Record):
                shapes.setdefault(id(item.names), []).append(place)
        outcomes: list[Outcome[J] | Record] = [*found]
        beside: dict[int, Sequence[Outcome[J]]] = {}
        for places in shapes.values():
            records = [found[place] for place in places]
            self._make(places, cast(list[Record], records), outcomes, beside)
        if not beside:
            return cast(list[Outcome[J]], outcomes)
        return [
            item
            for place, outcome in enumerate(outcomes)
            for item in (cast(Outcome[J], outcome), *beside.get(place, ()))
        ]

    def _make(
        self, places: Sequence[int], records: Sequence[Record],
        outcomes: list[Outcome[J] | Record], beside: dict[int, Sequence[Outcome[J]]],
    ) -> None:  # fmt: skip
        """Put in their places what becomes of records of one shape, and what is to say beside."""
        names = records[0].names
        columns = list(zip(*[record.fields for record in records], strict=True))
        jobs = self._plan(names).jobs(columns)
        for place, record, job in zip(places, records, jobs, strict=True):
            if isinstance(job, InvalidValue):
                outcomes[place] = Bad(record.line, str(job))
                beside[place] = [Bad(row, _PART) for row in record.folded]
                continue
            said: tuple[str, ...] = (record.note,) if record.note else ()
            if isinstance(job, Odd):
                job, remarks = job
                said += remarks
            outcomes[place] = _converted(Converted, (record.line, job, len(record.folded)))
            if said:
                beside[place] = [Noted(record.line, text, once=True) for text in said]
        for at in self._backwards(names, columns):
            if isinstance(outcomes[places[at]], Converted):
                notes = beside.get(places[at], ())
                beside[places[at]] = [*notes, Noted(records[at].line, _BACKWARDS)]

    def _plan(self, names: tuple[str, ...]) -> Plan[P, J]:
        try:
            return self._plans[names]
        except KeyError:
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            plan = self._plans[names] = Plan(self._rows(names), names, self._road, self._type)
            return plan

    def _backwards(self, names: tuple[str, ...], columns: Sequence[Sequence[Any]]) -> set[int]:
        """Records whose clock was set back while they ran."""
        start, end = self._span
        if start not in names or end not in names:
            return set()
        starts, ends = columns[names.index(start)], columns[names.index(end)]
        return {
            place
            for place, (begun, over) in enumerate(zip(starts, ends, strict=True))
            if over < begun and is_backwards(begun, over)
        }


class Lines:
    """The lines of a stream with their numbers, some hundred at once, without empty ones.

    ``cut_short`` is the number of the last line where it has no line end, else 0.
    """

    def __init__(self, stream: BinaryIO, keep: bytes = b"") -> None:
        self._stream = Watched(stream)
        self._keep = keep
        self.cut_short = 0

    def __iter__(self) -> Iterator[list[tuple[int, str]]]:
        number = 0
        for block in blocks(self._stream, LINE_LIMIT):
            found = clean(block, self._keep).split("\n")
            yield [(place, line) for place, line in enumerate(found, number + 1) if line.strip()]
            number += len(found)
        self.cut_short = self._stream.cut_short


def records(
    stream: BinaryIO, parse: Callable[[int, str], Read], shapes: Shapes[P, J],
    clock: Clock | None = None,
) -> Iterator[Outcome[J]]:  # fmt: skip
    """What becomes of each line of a stream, read by ``parse`` from its number and text.

    ``clock`` is the one of the table, where times may have no zone.
    """
    lines = Lines(stream)
    for batch in lines:
        outcomes = shapes.outcomes([
            Bad(number, f"longer than {LINE_LIMIT} bytes")
            if len(line) > LINE_LIMIT
            else parse(number, line)
            for number, line in batch
        ])  # fmt: skip
        if clock and outcomes:
            yield from clock.assumption(outcomes[0].line)
        yield from outcomes
    if lines.cut_short:
        yield Noted(lines.cut_short, CUT_SHORT)
