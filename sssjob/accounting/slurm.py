"""Slurm: what ``sacct --parsable2`` prints, with any columns in any order, becomes job objects.

The rows of one job follow each other: the allocation, then its steps. Steps are folded into their
job and kept as its task groups. The mapping is ``slurm_table``; here is what takes more than one
column, or more than one row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
from sssjob.accounting.slurm_rows import MEMO_LIMIT, Rows
from sssjob.errors import InvalidValue
from sssjob.model import Delivered, Item, Job, Property, Requested, TaskGroup

COLUMNS = table.COLUMNS

_NOT_STARTED = frozenset(("None assigned",))
_PEAKS = (("Memory", "MaxRSS", "AveRSS"), ("Swap", "MaxVMSize", "AveVMSize"))
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
    allocation: Row | Skipped | Bad | None = None
    steps: list[Row] = []
    known: set[str] = set()
    for found in reader.rows(stream):
        header = reader.header
        if converter is None or converter.header is not header:
            if converter is not None:
                yield from converter.outcomes(allocation, steps)
                allocation, steps = None, []
            assert header is not None
            converter = _Converter(header, clock, chosen)
        if isinstance(found, Row):
            job, step = _parted(converter.id(found))
            if step and isinstance(allocation, Row) and converter.id(allocation) == job:
                if step in known:
                    yield Bad(found.line, f"step {converter.id(found)} a second time")
                else:
                    steps.append(found)
                    known.add(step)
                continue
            yield from converter.outcomes(allocation, steps)
            allocation, steps, known = found, [], set()
        else:
            yield from converter.outcomes(allocation, steps)
            allocation, steps = None, []
            yield found
        if clock.assumed and not told:
            told = True
            yield Noted(found.line, "times without a zone are read as UTC; --tz names another zone")
    if converter is not None:
        yield from converter.outcomes(allocation, steps)
    if clock.assumed and not told:
        yield Noted(0, "times without a zone are read as UTC; --tz names another zone")


class _Converter:
    """Makes jobs of rows that share a header."""

    def __init__(self, header: Header, clock: values.Clock, options: Options) -> None:
        self.header = header
        self._clock = clock
        self._options = options
        self._allocation = Rows(table.ALLOCATION, header, clock)
        self._step = Rows(table.STEP, header, clock)
        self._peaks = tuple(
            (element, most, average)
            for element, most, average in _PEAKS
            if {most, average} & header.at.keys()
        )
        self._states: dict[tuple[str, str, bool], tuple[Property, ...]] = {}
        self._has_end = "End" in header.at

    def id(self, row: Row) -> str:
        """The id by which rows belong together."""
        return row.fields[self.header.key]

    def text(self, row: Row, column: str) -> str:
        """The text of a column, or "" where there is none."""
        index = self.header.at.get(column)
        return "" if index is None else row.fields[index]

    def outcomes(self, allocation: object, steps: list[Row]) -> Iterator[Outcome]:
        """What becomes of an allocation and its steps."""
        if not isinstance(allocation, Row):
            return
        if not JOB_ID.fullmatch(self.id(allocation)):
            yield Bad(allocation.line, f"{self.id(allocation)[:60]!r} is no job id")
            return
        if _parted(self.id(allocation))[1]:
            yield Bad(allocation.line, f"step {self.id(allocation)} without its job before it")
            return
        try:
            outcome = self._converted(allocation, steps)
        except InvalidValue as wrong:
            outcome = Bad(allocation.line, str(wrong))
        if isinstance(outcome, Converted):
            yield outcome
            yield from self._notes(allocation)
            return
        yield outcome
        for step in steps:
            if isinstance(outcome, Skipped):
                yield Skipped(step.line, outcome.reason)
            else:
                yield Bad(step.line, f"step {self.id(step)} of a job whose record is bad")

    def _converted(self, row: Row, steps: list[Row]) -> Outcome:
        own, requested, delivered, extensions = self._allocation.properties(row.fields)
        started, ended = self._started(row), self._ended(row)
        if not ended and self._options.ended_only:
            return Skipped(row.line, "not ended")
        if self._clock.twice:
            own = self._untangled(row, own)
        if started:
            delivered.extend(self._most([row, *steps]))
        else:
            own = [item for item in own if item.name not in ("StartTime", "StartCount")]
            delivered = [item for item in delivered if item.name not in table.USED]
            requested[:0] = self._alternatives(row)
        requested.extend(self._memory(row, extensions))
        items: list[Item] = [Property("Id", self.id(row)), *self._global_id(row, own)]
        items += self._state(row, ended, extensions)
        items += own
        items += self._exit(row, started and ended, extensions)
        if started and (cpu := self._cpu(row, steps)) is not None:
            items.append(Property("CpuDuration", str(values.rounded(cpu))))
        if (raw := self.text(row, "JobIDRaw")) and raw != self.id(row):
            extensions.append(Property("Extension", raw, table.noted("JobIDRaw")))
        items += extensions
        if requested:
            items.append(Requested(tuple(requested)))
        if delivered:
            items.append(Delivered(tuple(delivered)))
        if self._options.steps:
            items += map(self._group, steps)
        return Converted(row.line, Job(tuple(items)), len(steps))

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
        yield Property("Memory", units.decimal(amount), {"units": "MB"})

    def _cpu(self, row: Row, steps: list[Row]) -> values.Amount | None:
        """CPU seconds: the allocation's, which Slurm sums over the steps, else that sum.

        ``sacct --allocations`` prints 0 for what it has not summed, so 0 counts only beside
        steps. The external step holds what belongs to no other, and counts if it is alone.
        """
        total = self._cpu_of(row)
        if total or (total is not None and steps):
            return total
        counted = [step for step in steps if not self.id(step).endswith(".extern")] or steps
        parts = [part for part in map(self._cpu_of, counted) if part is not None]
        return sum(parts) if parts else None

    def _cpu_of(self, row: Row) -> values.Amount | None:
        if text := self.text(row, "TotalCPU"):
            return values.duration(text)
        user = values.duration(self.text(row, "UserCPU"))
        system = values.duration(self.text(row, "SystemCPU"))
        return None if user is None or system is None else user + system

    def _most(self, rows: list[Row]) -> Iterator[Property]:
        """The most memory that a task of any step had, and the average over all tasks."""
        for element, most, average in self._peaks:
            sizes = [values.size(text) for row in rows if (text := self.text(row, most))]
            if known := [size for size in sizes if size is not None]:
                yield _kilobytes(element, max(known), "Max")
            total: values.Amount = 0
            tasks = 0
            for row in rows:
                if (text := self.text(row, average)) and (size := values.size(text)) is not None:
                    weight = int(values.count(self.text(row, "NTasks")) or 1)
                    total, tasks = total + size * weight, tasks + weight
            if tasks:
                mean = Fraction(total, tasks) if total % tasks else total // tasks
                yield _kilobytes(element, values.rounded(mean), "Average")

    def _group(self, row: Row) -> TaskGroup:
        """A step as a task group, whose Id is the part of the step's id behind the job's."""
        own, _, delivered, extensions = self._step.properties(row.fields)
        if self._clock.twice:
            own = self._untangled(row, own)
        ended = self._ended(row)
        items: list[Item] = [Property("Id", _parted(self.id(row))[1])]
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

    def _notes(self, row: Row) -> Iterator[Noted]:
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
            yield Noted(row.line, f"{text} happened twice; the first time is taken")


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
def _kilobytes(element: str, size: values.Amount, metric: str) -> Property:
    return Property(element, values.in_kilobytes(size), {"metric": metric, "units": "KB"})
