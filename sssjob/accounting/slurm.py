"""Slurm: what ``sacct --parsable2`` prints, with any columns in any order, becomes job objects.

The rows of one job follow each other: the allocation, then its steps. Steps are folded into their
job and kept as its task groups. The mapping is ``slurm_table``; here is what takes more than one
column, or more than one row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import BinaryIO

from sssjob import units
from sssjob.accounting import slurm_table as table
from sssjob.accounting import slurm_values as values
from sssjob.accounting.record import (
    Bad,
    Converted,
    Noted,
    Outcome,
    Skipped,
)  # fmt: skip
from sssjob.accounting.slurm_header import JOB_ID, Header
from sssjob.accounting.slurm_lines import Reader, Row
from sssjob.accounting.slurm_rows import MEMO_LIMIT, Memories, Rows
from sssjob.accounting.slurm_steps import Places, Total
from sssjob.errors import InvalidValue
from sssjob.model import Delivered, Item, Job, Property, Requested, TaskGroup

COLUMNS = table.COLUMNS

STEP_LIMIT = 100_000  # steps of one job that are kept; all of them are summed

_NOT_STARTED = frozenset(("None assigned",))
_ASSUMED = "times without a zone are read as UTC; --tz names another zone"
_STATE, _SIGNAL = table.noted("State"), table.noted("Signal")


@dataclass(frozen=True, slots=True)
class Options:
    """How to read: ``zone`` for times that state none, ``columns`` and ``delimiter`` of a table
    without a header, whether only ended jobs are wanted, and whether steps stay as task groups.
    """

    zone: str = ""
    columns: tuple[str, ...] = ()
    delimiter: str = ""
    ended_only: bool = False
    steps: bool = True


def jobs(stream: BinaryIO, options: Options | None = None) -> Iterator[Outcome]:
    """What becomes of each record of a stream, in its order; memory holds one job at a time.

    Raises ``UnusableInput`` where there is no header line and no columns are named, and
    ``InvalidValue`` for an unknown zone.
    """
    chosen = options or Options()
    reader = Reader(COLUMNS, chosen.columns, chosen.delimiter)
    clock = values.Clock(chosen.zone)
    told = False
    converter: _Converter | None = None
    for found in reader.rows(stream):
        header = reader.header_now
        if converter is None or converter.header is not header:
            if converter is not None:
                yield from converter.close()
            converter = _Converter(header, clock, chosen)
        if isinstance(found, Row):
            yield from converter.take(found)
        else:
            yield from converter.close()
            yield found
        if clock.assumed and not told:
            told = True
            yield Noted(found.line, _ASSUMED, once=True)
    if converter is not None:
        yield from converter.close()
    if clock.assumed and not told:
        yield Noted(0, _ASSUMED, once=True)


@dataclass(slots=True)
class _Open:
    """The job whose rows are being read: its allocation, and what its steps have told so far."""

    row: Row
    id: str
    total: Total
    groups: list[TaskGroup] = field(default_factory=list)
    lines: dict[str, int] = field(default_factory=dict)
    notes: list[Noted] = field(default_factory=list)
    more: int = 0  # steps beyond the limit
    wrong: InvalidValue | None = None
    early: Outcome | None = None  # what would have become of it at the limit


class _Converter:
    """Makes jobs of rows that share a header."""

    def __init__(self, header: Header, clock: values.Clock, options: Options) -> None:
        self.header = header
        self._clock = clock
        self._options = options
        memories: Memories = {}
        self._allocation = Rows(table.ALLOCATION, header, clock, memories)
        self._step = Rows(table.STEP, header, clock, memories)
        self._states: dict[tuple[str, str, bool], tuple[Property, ...]] = {}
        self._has_end = "End" in header.at
        self._open: _Open | None = None
        self._places = Places(header)

    def take(self, row: Row) -> Iterator[Outcome]:
        """Take the next row: a step of the job before it, or the allocation of another job."""
        row.fields.append("")  # stands for every column that the header does not have
        id = row.fields[self.header.key]
        job, step = _parted(id)
        now = self._open
        if step and now is not None and now.id == job:
            if step in now.lines:
                yield Bad(row.line, f"step {id} a second time")
            elif len(now.lines) < STEP_LIMIT:
                self._keep(now, row, step)
            else:
                yield from self._count(now, row, step)
            return
        yield from self.close()
        self._open = _Open(row, id, Total(self._places))

    def close(self) -> Iterator[Outcome]:
        """What becomes of the last job, and of its steps."""
        now, self._open = self._open, None
        if now is None:
            return
        outcome = self._outcome(now)
        yield outcome
        if isinstance(outcome, Converted):
            yield from self._allocation.doubts(now.row)
            yield from now.notes
            yield from self._twice(now.row)
            return
        for step, line in now.lines.items():
            yield _unfolded(outcome, line, f"{now.id}.{step}")

    def _keep(self, now: _Open, row: Row, step: str) -> None:
        """Fold a step into its job; a value that cannot be read makes the job a bad one."""
        now.lines[step] = row.line
        try:
            now.total.add_step(row, step)
            if self._options.steps:
                now.groups.append(self._group(row, step))
                now.notes.extend(self._step.doubts(row))
        except InvalidValue as wrong:
            now.wrong = now.wrong or wrong

    def _count(self, now: _Open, row: Row, step: str) -> Iterator[Outcome]:
        """Sum up a step beyond the limit; it cannot make the job a bad one."""
        now.early = now.early or self._outcome(now)
        if not isinstance(now.early, Converted):
            yield _unfolded(now.early, row.line, f"{now.id}.{step}")
            return
        try:
            now.total.add_step(row, step)
        except InvalidValue as wrong:
            yield Bad(row.line, str(wrong))
            return
        now.more += 1
        if now.more == 1 and self._options.steps:
            text = f"job {now.id} has more than {STEP_LIMIT} steps: the rest is only summed"
            now.notes.append(Noted(row.line, text))

    def _outcome(self, now: _Open) -> Outcome:
        """What becomes of an allocation."""
        if not JOB_ID.fullmatch(now.id):
            return Bad(now.row.line, f"{now.id[:60]!r} is no job id")
        if _parted(now.id)[1]:
            return Bad(now.row.line, f"step {now.id} without its job before it")
        try:
            return self._converted(now)
        except InvalidValue as wrong:
            return Bad(now.row.line, str(wrong))

    def id(self, row: Row) -> str:
        """The id by which rows belong together."""
        return row.fields[self.header.key]

    def text(self, row: Row, column: str) -> str:
        """The text of a column, or "" where there is none."""
        return row.fields[self.header.at.get(column, -1)]

    def _converted(self, now: _Open) -> Outcome:
        row, total = now.row, now.total
        own, requested, delivered, extensions = self._allocation.properties(row.fields)
        started, ended = self._started(row), self._ended(row)
        if not ended and self._options.ended_only:
            return Skipped(row.line, "not ended")
        if self._clock.twice:
            own = self._untangled(row, own)
        if started:
            if now.early is None:
                total.add_allocation(row)
            delivered.extend(total.memory())
        else:
            own = [item for item in own if item.name not in ("StartTime", "StartCount")]
            delivered = [item for item in delivered if item.name not in table.USED]
            requested[:0] = self._alternatives(row)
        requested.extend(self._memory(row, extensions))
        items: list[Item] = [Property("Id", self.id(row)), *self._global_id(row, own)]
        items += self._state(row, ended, extensions)
        items += own
        items += self._exit(row, started and ended, extensions)
        if started and (cpu := total.cpu()) is not None:
            items.append(Property("CpuDuration", str(values.rounded(cpu))))
        if (raw := self.text(row, "JobIDRaw")) and raw != self.id(row):
            extensions.append(Property("Extension", raw, table.noted("JobIDRaw")))
        items += extensions
        if requested:
            items.append(Requested(tuple(requested)))
        if delivered:
            items.append(Delivered(tuple(delivered)))
        if now.wrong:
            raise now.wrong
        items += now.groups
        return Converted(row.line, Job(tuple(items)), len(now.lines) + now.more)

    def _started(self, row: Row) -> bool:
        if self.text(row, "NodeList") in _NOT_STARTED:
            return False
        if "Start" in self.header.at:
            return self.text(row, "Start") not in values.NO_VALUE
        return not self.text(row, "State").startswith("PENDING")

    def _ended(self, row: Row) -> bool:
        """Whether the record has an end; without the column End the state tells."""
        if self._has_end:
            return self.text(row, "End") not in values.NO_VALUE
        text = self.text(row, "State")
        return bool(text) and values.state(text, False).standard == "Completed"

    def _global_id(self, row: Row, own: list[Property]) -> Iterator[Property]:
        """cluster/id/time of submission: ids begin anew, and a requeued job is submitted anew."""
        if cluster := self.text(row, "Cluster"):
            raw = self.text(row, "JobIDRaw") or self.id(row)
            submitted = next((item.text for item in own if item.name == "SubmitTime"), "")
            yield Property("GlobalId", "/".join(filter(None, (cluster, raw, submitted))))

    def _state(
        self, row: Row, ended: bool, extensions: list[Property] | None = None
    ) -> tuple[Property, ...]:
        """State, and what it says of success; ``extensions`` gets sacct's own word."""
        text, reason = self.text(row, "State"), self.text(row, "Reason")
        if not text:
            return ()
        if extensions is not None:
            extensions.insert(0, Property("Extension", text, _STATE))
        try:
            return self._states[text, reason, ended]
        except KeyError:
            if len(self._states) >= MEMO_LIMIT:
                self._states.clear()
            found = self._states[text, reason, ended] = tuple(_state(text, reason, ended))
            return found

    def _exit(self, row: Row, over: bool, extensions: list[Property]) -> Iterator[Property]:
        """The code, and the signal beside it; 0:0 of what has not run to an end is no code."""
        found = values.exit_code(self.text(row, "ExitCode"))
        if found is None or (found == (0, 0) and not over):
            return
        code, signal = found
        yield Property("ExitCode", str(code))
        if signal:
            extensions.append(Property("Extension", str(signal), _SIGNAL))

    def _alternatives(self, row: Row) -> Iterator[Property]:
        """The partitions in which a job that has not started may run: any of them."""
        names = [name for name in self.text(row, "Partition").split(",") if name]
        for index, name in enumerate(names):
            attributes = {"conj": "Or"} if index else {}
            if len(names) > 1 and index in (0, len(names) - 1):
                attributes["group"] = "-1" if index else "1"
            yield Property("Queue", name, attributes)

    def _memory(self, row: Row, extensions: list[Property]) -> Iterator[Property]:
        """What was requested for the whole job; for a CPU or a node, times their number."""
        text = self.text(row, "ReqMem")
        found = values.requested_memory(text)
        if found is None:
            return
        amount = found.megabytes
        if found.per:
            extensions.append(Property("Extension", text, table.noted("ReqMem")))
            number = values.count(self.text(row, "ReqCPUS" if found.per == "c" else "ReqNodes"))
            if number is None:
                return
            amount *= int(number)
        yield _megabytes(amount)

    def _group(self, row: Row, step: str) -> TaskGroup:
        """A step as a task group, whose Id is the part of the step's id behind the job's."""
        own, _, delivered, extensions = self._step.properties(row.fields)
        if self._clock.twice:
            own = self._untangled(row, own)
        ended = self._ended(row)
        items: list[Item] = [Property("Id", step)]
        items += self._state(row, ended)
        items += own
        items += self._exit(row, ended, extensions)
        items += extensions
        if delivered:
            items.append(Delivered(tuple(delivered)))
        return TaskGroup(tuple(items))

    def _untangled(self, row: Row, own: list[Property]) -> list[Property]:
        """Choose between two readings of an autumn hour by the time that the record says passed."""
        start, end = self.text(row, "Start"), self.text(row, "End")
        if not self._clock.twice & {start, end}:
            return own
        chosen = self._readings(row)
        if len(chosen) != 1:
            return own
        times = dict(zip(("StartTime", "EndTime"), chosen[0], strict=True))
        return [
            Property(item.name, times[item.name]) if item.name in times else item for item in own
        ]

    def _readings(self, row: Row) -> list[tuple[str, str]]:
        """The pairs of start and end that are as far apart as the record says."""
        passed = values.duration(self.text(row, "Elapsed"))
        if passed is None and (raw := values.whole(self.text(row, "ElapsedRaw"))):
            passed = Fraction(int(raw))
        suspended = values.duration(self.text(row, "Suspended")) or 0
        starts = {self._clock.read(self.text(row, "Start"), fold) for fold in (0, 1)}
        ends = {self._clock.read(self.text(row, "End"), fold) for fold in (0, 1)}
        return [
            (start, end)
            for start in starts
            for end in ends
            if start and end and passed is not None and int(end) - int(start) == passed + suspended
        ]

    def _twice(self, row: Row) -> Iterator[Noted]:
        """Times that happened twice and that nothing in the record tells apart."""
        twice = self._clock.twice
        if not twice:
            return
        doubtful = {
            self.text(row, column)
            for column in ("Submit", "Eligible", "Start", "End")
            if self.text(row, column) in twice
        }
        if len(self._readings(row)) == 1:
            doubtful -= {self.text(row, "Start"), self.text(row, "End")}
        for text in sorted(doubtful):
            yield Noted(row.line, f"{text} happened twice; the first time is taken", once=True)


def _unfolded(outcome: Outcome, line: int, id: str) -> Outcome:
    """What becomes of a step whose job is not converted."""
    if isinstance(outcome, Skipped):
        return Skipped(line, outcome.reason)
    return Bad(line, f"step {id} of a job whose record is bad")


def _parted(text: str) -> tuple[str, str]:
    """An id's job and step; the dots of a list that was cut (``1_[1,4,...]``) name no step."""
    job, _, step = text.partition(".")
    return (text, "") if "[" in text else (job, step)


def _state(text: str, reason: str, ended: bool) -> Iterator[Property]:
    """A state in the standard's words; a reason tells why a job waits."""
    state = values.state(text, ended)
    if state.standard == "Idle" and reason.startswith("JobHeld"):
        state = state._replace(standard="Hold")
    yield Property("State", state.standard)
    if state.standard == "Hold":
        yield Property("Hold", "System" if "Admin" in reason else "User")
    if state.standard in ("Idle", "Hold") and reason not in values.NO_VALUE:
        yield Property("StatusMessage", reason)
    elif state.standard == "Completed" and state.word != "COMPLETED":
        yield Property("StatusMessage", text)


@lru_cache(MEMO_LIMIT)
def _megabytes(amount: values.Amount) -> Property:
    return Property("Memory", units.decimal(amount), {"units": "MB"})
