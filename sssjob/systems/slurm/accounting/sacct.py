"""Slurm: what ``sacct --parsable2`` prints, with any columns in any order, becomes job objects.

The rows of one job follow each other: the allocation, then its steps. Steps are folded into their
job and kept as its task groups. The mapping is ``slurm_table``; here rows are gathered into jobs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Generic, TypeVar

from sssjob.errors import InvalidValue, Severity
from sssjob.records.clock import Clock
from sssjob.records.cuts import CUT_SHORT, Found
from sssjob.records.head import first_line
from sssjob.records.layout import Layout
from sssjob.records.lines import clean
from sssjob.records.plan import Odd
from sssjob.records.record import Bad, Converted, Noted, Options, Outcome, Skipped
from sssjob.records.roads import Road
from sssjob.systems.slurm.accounting import table
from sssjob.systems.slurm.accounting.header import JOB_ID, Header
from sssjob.systems.slurm.accounting.jobs import GOES_ON, Maker
from sssjob.systems.slurm.accounting.lines import DELIMITERS, Reader, Row
from sssjob.systems.slurm.accounting.parts import Cutter
from sssjob.systems.slurm.accounting.steps import Summed, Told

P = TypeVar("P")
J = TypeVar("J")

COLUMNS = table.COLUMNS

STEP_LIMIT = 100_000  # steps of one job that are kept; all of them are summed

_converted = tuple.__new__  # what Converted(...) calls in the end, without a call in between
_ID_COLUMN = re.compile(r"JobID(?:Raw)?(?:%[0-9]+)?")


def records(
    stream: BinaryIO, options: Options, road: Road[P, J], first: int
) -> Iterator[Outcome[J]]:
    """What becomes of each record of a stream, in its order; memory holds few jobs at a time.

    Raises ``UnusableInput`` where there is no header line and no columns are named, and
    ``InvalidValue`` for an unknown zone.
    """
    reader = Reader(COLUMNS, options.columns, options.delimiter, first)
    clock = Clock(options.zone)
    gathering: Gathering[P, J] | None = None
    for header, batch in reader.batches(stream):
        found: list[Outcome[J]] = []
        if gathering is None or gathering.header is not header:
            if gathering is not None:
                found += gathering.close()
            gathering = Gathering(header, clock, options, road)
        found += gathering.take(batch)
        yield from clock.assumption(batch[0].line if batch else 0)
        yield from found
    if gathering is not None:
        found = gathering.close()
        yield from clock.assumption(0)
        yield from found
    if reader.cut_short:
        yield Noted(reader.cut_short, CUT_SHORT)


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it has a header of sacct's, or ""."""
    line = clean(first_line(head, b"#"), DELIMITERS.encode()).removeprefix("\ufeff")
    first = re.match("[A-Za-z]+", line)
    if first is None or "JobID" not in line:
        return ""
    # Between two names of columns stands what delimits them.
    rest = line[first.end() :].removeprefix("%")
    delimiter = re.match(r"[0-9]*([^A-Za-z0-9%]{1,8})", rest)
    names = line.split(delimiter[1]) if delimiter else [line]
    found = any(_ID_COLUMN.fullmatch(name) for name in names)
    return "a header line with JobID" if found else ""


_Found = Row | Skipped | Bad


class _Open(Generic[P]):
    """A job whose rows are being read: its allocation, and what its steps have told so far."""

    __slots__ = ("id", "notes", "row", "steps")

    def __init__(self, row: Row, id: str) -> None:
        self.row = row
        self.id = id
        self.steps: _Steps[P] | None = None
        self.notes: Sequence[Noted] = ()


class _Steps(Generic[P]):
    """The steps of a job: the lines of those that are kept, with their groups, and of others."""

    __slots__ = ("beyond", "groups", "lines")

    def __init__(self) -> None:
        self.lines: dict[str, int] = {}
        self.beyond: list[int] = []
        self.groups: list[P] = []


class Gathering(Generic[P, J]):
    """Gathers rows that share a header into jobs."""

    def __init__(self, header: Header, clock: Clock, options: Options, road: Road[P, J]) -> None:
        self.header = header
        self._options = options
        self._nothing, self._join = road.nothing, road.join
        self._make = Maker(header, clock, road)
        self._summed = Summed(header)
        self._clock = clock
        self._open: _Open[P] | None = None
        self._told: Told | None = None  # what the rows of the open job told
        self._noticed = False

    def take(self, batch: Sequence[_Found]) -> list[Outcome[J]]:
        """Take the next rows: allocations, and steps of the job before them."""
        rows = _Rows(self._open)
        rows.take(batch, self.header.key)
        self._open = rows.now
        told = self._summed.read(rows.rows, rows.parts)
        if rows.before is not None and self._told is not None:
            told = self._told.then(told)
        self._group(rows)
        spans = rows.spans(len(told.parts))
        self._told = told.rows(*spans.pop()) if rows.now is not None else None
        return self._with_notice(self._merged(rows.done, told, spans, rows.beside))

    def close(self) -> list[Outcome[J]]:
        """What becomes of the last job, and of its steps."""
        now, self._open = self._open, None
        if now is None or self._told is None:
            return []
        spans = [(0, len(self._told.parts))]
        return self._with_notice(self._merged([now], self._told, spans, []))

    def _with_notice(self, found: list[Outcome[J]]) -> list[Outcome[J]]:
        """The same, with what is to say once of all rows."""
        line = self._make.truncated
        if not line or self._noticed:
            return found
        self._noticed = True
        return [*found, Noted(line, GOES_ON, once=True, severity=Severity.NOTICE)]

    def _group(self, rows: _Rows[P]) -> None:
        """Make the steps of a batch that are kept into task groups of their jobs."""
        for now, row in rows.joined:
            now.notes = *now.notes, *self._make.joined(row)
        if not rows.steps or not self._options.steps:
            return
        made = self._make.groups([row for _, row, _ in rows.steps], [it for *_, it in rows.steps])
        for (now, row, _), group in zip(rows.steps, made, strict=True):
            if isinstance(group, Odd):
                group, remarks = group
                now.notes = *now.notes, *_noted(row.line, remarks)
            assert now.steps is not None
            now.steps.groups.append(group)
            if row.joined is not None:
                now.notes = *now.notes, *self._make.doubts(row, step=True)

    def _merged(
        self, done: Sequence[_Open[P]], told: Told, spans: Sequence[tuple[int, int]],
        beside: Sequence[tuple[int, Outcome[J]]],
    ) -> list[Outcome[J]]:  # fmt: skip
        """What becomes of jobs, and each other outcome before the job with its number."""
        found: list[Outcome[J]] = []
        outcomes = self._outcomes(done, told, spans)
        if (
            not beside
            and not self._clock.twice
            and all(isinstance(outcome, Converted) for outcome in outcomes)
            and not any(now.notes or now.row.joined for now in done)
        ):
            return outcomes
        others = iter((*beside, (len(done) + 1, None)))
        place, other = next(others)
        for number, (now, outcome) in enumerate(zip(done, outcomes, strict=True)):
            while place <= number and other is not None:
                found.append(other)
                place, other = next(others)
            found.append(outcome)
            if not isinstance(outcome, Converted):
                found += _unfolded(outcome, now)
                found += self._make.joined(now.row)
            elif now.notes or now.row.joined or self._clock.twice:
                found += self._make.joined(now.row)
                found += self._make.doubts(now.row)
                found += dict.fromkeys(now.notes)  # a column may be read for two ends
                found += self._make.twice(now.row)
        while other is not None:
            found.append(other)
            place, other = next(others)
        return found

    def _outcomes(
        self, done: Sequence[_Open[P]], told: Told, spans: Sequence[tuple[int, int]]
    ) -> list[Outcome[J]]:
        """What becomes of allocations."""
        refused = self._refused(done)
        wanted = [place for place in range(len(done)) if place not in refused]
        whole, spans = [done[place] for place in wanted], [spans[place] for place in wanted]
        made = self._make.jobs(
            [now.row for now in whole],
            told.sums(spans),
            [self._join(now.steps.groups) if now.steps else self._nothing for now in whole],
        )
        outcomes = [
            self._outcome(now, job, told, span)
            if now.steps or told.lost or isinstance(job, Odd | InvalidValue)
            else _converted(Converted, (now.row.line, job, 0))
            for now, job, span in zip(whole, made, spans, strict=True)
        ]
        if not refused:
            return outcomes
        rest = iter(outcomes)
        return [refused.get(place) or next(rest) for place in range(len(done))]

    def _outcome(
        self, now: _Open[P], job: J | Odd[J] | InvalidValue, told: Told, span: tuple[int, int]
    ) -> Outcome[J]:
        """What became of an allocation; what there is to say of it is put with its notes."""
        line, steps = now.row.line, now.steps
        if isinstance(job, InvalidValue):
            return Bad(line, str(job))
        if steps is not None and steps.beyond and self._options.steps:
            text = f"job {now.id} has more than {STEP_LIMIT} steps: the rest is only summed"
            now.notes = *now.notes, Noted(steps.beyond[0], text)
        if isinstance(job, Odd):
            job, remarks = job
            now.notes = *now.notes, *_noted(line, remarks)
        if told.lost:
            # The task group of a step tells what is wrong with the columns that it has.
            groups = set(steps.lines.values()) if steps and self._options.steps else set()
            lost = (
                Noted(one.line, str(one), once=True)
                for one in told.lost_of(*span)
                if not (one.line in groups and one.column in self._make.step_columns)
            )
            now.notes = *now.notes, *lost
        count = len(steps.lines) + len(steps.beyond) if steps else 0
        return _converted(Converted, (line, job, count))

    def _refused(self, done: Sequence[_Open[P]]) -> dict[int, Outcome[J]]:
        """What becomes of allocations that cannot be a job, or are not wanted as one."""
        refused: dict[int, Outcome[J]] = {}
        for place, now in enumerate(done):
            line, id = now.row.line, now.id
            if not JOB_ID.fullmatch(id):
                refused[place] = Bad(line, f"{id[:60]!r} is no job id")
            elif "." in id and _parted(id)[1]:
                refused[place] = Bad(line, f"step {id} without its job before it")
            elif self._options.ended_only and not self._make.ended(now.row):
                refused[place] = Skipped(line, "not ended")
        return refused


class _Rows(Generic[P]):
    """Rows by their jobs: ``now`` is the one of which more may come, ``before`` was so before.

    ``rows`` are those of jobs one after the other, with their ``parts``: steps, or "" for a job.
    ``beside`` are outcomes that follow so many jobs.
    """

    def __init__(self, before: _Open[P] | None) -> None:
        self.before = self.now = before
        self.done: list[_Open[P]] = []
        self.rows: list[Row] = []
        self.parts: list[str] = []
        self.steps: list[tuple[_Open[P], Row, str]] = []
        self.joined: list[tuple[_Open[P], Row]] = []
        self.beside: list[tuple[int, Any]] = []
        self._begins: list[int] = [] if before is None else [0]

    def take(self, batch: Sequence[_Found], key: int) -> None:
        """Take the next rows."""
        now, rows, parts = self.now, self.rows, self.parts
        for row in batch:
            if not isinstance(row, Row):
                if now is not None:
                    self.done.append(now)
                    now = None
                self.beside.append((len(self.done), row))
                continue
            id = row.fields[key]
            if "." in id and now is not None:
                job, step = _parted(id)
                if step and now.id == job:
                    self._step(now, row, step)
                    continue
            if now is not None:
                self.done.append(now)
            now = _Open(row, id)
            self._begins.append(len(rows))
            rows.append(row)
            parts.append("")
        self.now = now

    def spans(self, size: int) -> list[tuple[int, int]]:
        """Where the rows of each job begin and end, among so many with those from before."""
        first = 0 if self.before is None else 1
        earlier = size - len(self.rows)
        begins = [*self._begins[:first], *(begin + earlier for begin in self._begins[first:])]
        return list(zip(begins, [*begins[1:], size], strict=False))

    def _step(self, now: _Open[P], row: Row, step: str) -> None:
        if now.steps is None:
            now.steps = _Steps()
        steps = now.steps
        if step in steps.lines:
            told = Bad(row.line, f"step {now.id}.{step} a second time")
            self.beside.append((len(self.done), told))
            return
        self.rows.append(row)
        self.parts.append(step)
        if len(steps.lines) < STEP_LIMIT:
            steps.lines[step] = row.line
            self.steps.append((now, row, step))
        else:
            steps.beyond.append(row.line)
        if row.joined is not None:
            self.joined.append((now, row))


def _noted(line: int, remarks: Iterable[str]) -> Iterator[Noted]:
    return (Noted(line, remark, once=True) for remark in remarks)


def _unfolded(outcome: Outcome[J], now: _Open[P]) -> Iterator[Outcome[J]]:
    """What becomes of the steps of a job that is not converted."""
    if now.steps is None:
        return
    steps = [(line, f"step {now.id}.{step}") for step, line in now.steps.lines.items()]
    for line, name in (*steps, *((line, f"step of {now.id}") for line in now.steps.beyond)):
        if isinstance(outcome, Skipped):
            yield Skipped(line, outcome.reason)
        else:
            yield Bad(line, f"{name} of a job whose record is bad")


def _parted(text: str) -> tuple[str, str]:
    """An id's job and step; the dots of a list that was cut (``1_[1,4,...]``) name no step."""
    job, _, step = text.partition(".")
    return (text, "") if "[" in text else (job, step)


LAYOUT = Layout(
    type="Slurm",
    cut=Found(lambda stream, first: (), Cutter),
    gathered=records,
    recognises=recognises,
)
