"""SWF 2.2, the Standard Workload Format of the Parallel Workloads Archive.

Header comments, then eighteen numbers on a line for each job; -1 stands for what is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.integers import whole
from sssjob.model import Property
from sssjob.records.clock import Clock
from sssjob.records.cuts import Lines
from sssjob.records.cutting import Front, Part
from sssjob.records.layout import NEVER, KnownColumns, Layout, Names, Read, Reader, Record
from sssjob.records.lines import clean
from sssjob.records.readers import NOT_KNOWN, extension, noted, processors
from sssjob.records.readers import number as seconds_told
from sssjob.records.record import (
    DELIVERED,
    JOB,
    KEPT,
    NOWHERE,
    REQUESTED,
    Bad,
    Field,
    Found,
    Instead,
    Noted,
    Options,
    Skipped,
)
from sssjob.records.values import (
    amount,
    count,
    epoch,
    is_number,
    is_unknown,
    known_number,
    limit,
    number,
    seconds,
)

_RELATIVE = (
    "no UnixStartTime in the header: times count from the begin of the log, so they are kept "
    "as Extension and are no times of the job"
)
_HEADER = re.compile(r";\s*+([A-Za-z]++)\s*+:\s*+(.*)")
_NAMED = re.compile(r"([0-9]{1,9})\s+([^\s,;(]+).*")

COMPLETED, FAILED, PARTIAL, CANCELLED = "1", "0", ("2", "3", "4"), "5"
_MESSAGES = {FAILED: "failed", CANCELLED: "cancelled"}


def known(text: str) -> Found:
    """A number that names something; -1 names nothing."""
    value = known_number(text)
    if value and value.denominator != 1:
        raise InvalidValue(text, "a whole number")
    return None if value is None else str(int(value))


def allocated(text: str) -> Found:
    """How many processors the job had; -1 is not known. Raises ``Instead`` for fewer."""
    return None if is_unknown(text) else processors(text)


def preceding(text: str, own: str) -> Found:
    """The job that had to end before this one."""
    found = known(text)
    if found is not None and found == known(own):
        raise InvalidValue(text, "another job")
    return found


def state(text: str) -> Found:
    """The state of a job that has ended, as all have, and how it did where that is known."""
    ended = Property("State", "Completed")
    if text not in (COMPLETED, FAILED, CANCELLED, "-1"):
        raise Instead(text, "a status from 0 to 5", (ended,), "taken for Completed", keeps=True)
    message = _MESSAGES.get(text)
    return (ended, Property("StatusMessage", message)) if message else (ended,)


def seconds_of_all(text: str, many: str) -> Found:
    """Seconds for each processor, times their number."""
    value = _product(text, many)
    return None if value is None else str(units.rounded(value))


def amount_of_all(text: str, many: str) -> Found:
    """An amount for each processor, times their number."""
    value = _product(text, many)
    return units.decimal(value) if value else None


def _product(text: str, many: str) -> Fraction | None:
    each, times = known_number(text), number(many)
    if each and times <= 0:
        raise Instead(text, "a value of a known number of processors", (), NOT_KNOWN, keeps=True)
    return each * times if each is not None and times > 0 else None


ALLOCATED, ASKED = "Number of Allocated Processors", "Requested Number of Processors"
_KB = {"units": "KB"}
_AVERAGE = {"metric": "Average", "units": "KB"}

# fmt: off
# The fields in the order of a line. Wait and run time become a start and an end beside them, and
# queues and partitions their names, where the header gives them.
COLUMNS: tuple[Field, ...] = (
    Field("Job Number",           JOB,       "Id",          known),
    Field("Submit Time",          JOB,       "SubmitTime",  seconds_told),
    Field("Wait Time",            NOWHERE),
    Field("Run Time",             DELIVERED, "Duration",    seconds),
    Field(ALLOCATED,              DELIVERED, "Processors",  allocated),
    Field("Average CPU Time",     JOB,       "CpuDuration", seconds_of_all, {}, (ALLOCATED,)),
    Field("Used Memory",          DELIVERED, "Memory",      amount_of_all, _AVERAGE, (ALLOCATED,)),
    Field(ASKED,                  REQUESTED, "Processors",  count),
    Field("Requested Time",       REQUESTED, "Duration",    limit, {"op": "LE"}),
    Field("Requested Memory",     REQUESTED, "Memory",      amount_of_all, _KB, (ASKED,)),
    Field("Status",               JOB,       "State",       state),
    Field("User ID",              DELIVERED, "User",        known),
    Field("Group ID",             DELIVERED, "Group",       known),
    Field("Executable Number",    JOB,       "Executable",  known),
    Field("Queue Number",         DELIVERED, "Queue"),
    Field("Partition Number",     DELIVERED, "Partition"),
    Field("Preceding Job Number", JOB,       "Dependency",  preceding, {"condition": "OnExit"},
          ("Job Number",)),
    Field("Think Time",           JOB,       "Extension",   amount, extension("SWF", "ThinkTime")),
)
TIMES = (
    Field("Start Time",           JOB,       "StartTime",   seconds_told),
    Field("End Time",             JOB,       "EndTime",     seconds_told),
)
# fmt: on
NAMES = tuple(row.column for row in COLUMNS)
_ID, _SUBMIT, _WAIT, _RUN, _STATUS = (
    NAMES.index(name) for name in ("Job Number", "Submit Time", "Wait Time", "Run Time", "Status")
)
_CPU = NAMES.index("Average CPU Time")
_QUEUE, _PARTITION = NAMES.index("Queue Number"), NAMES.index("Partition Number")

_OF_STARTED = frozenset(("Run Time", ALLOCATED, "Average CPU Time", "Used Memory"))


_TOLD = (*NAMES, *(row.column for row in TIMES))
_RELATIVE_TOLD = (*_TOLD, "(times from the begin of the log)")


def rows(names: Names) -> Iterator[Field]:
    """The mapping: a job that was not started has used nothing; see ``_relative``."""
    for row in (*COLUMNS, *TIMES):
        if NEVER in names and row.column in _OF_STARTED:
            continue
        if NEVER in names and row.column == "Queue Number":
            row = row._replace(place=JOB)
        yield _relative(row) if _RELATIVE_TOLD[-1] in names else row


def reader(options: Options, clock: Clock) -> Reader:
    """What reads the lines of a log, header comments among them."""
    return _WorkloadLog().line


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it is SWF, or ""."""
    for raw in head.split(b"\n"):
        text = clean(raw).strip()
        if text.startswith(";"):
            found = _HEADER.fullmatch(text)
            if found and found[1] in ("Version", "UnixStartTime", "MaxProcs", "MaxNodes"):
                return f"a header comment {found[1]}"
        elif text:
            fields = text.split()
            numbers = len(fields) == len(NAMES) and all(map(is_number, fields))
            return f"lines of {len(NAMES)} numbers" if numbers else ""
    return ""


class LogCutter:
    """Cuts before a job, because its partial executions follow it; its header goes with a part."""

    def __init__(self, options: Options, front: Front = ()) -> None:
        self.options, self.front = options, front

    def cut(self, data: bytes, line: int, *, final: bool) -> tuple[Part | None, int]:
        """The jobs that the data begins with, of which no more comes."""
        size = len(data) if final else _last_job(data)
        if not size:
            return None, 0
        part = Part(data[:size], line, self.options, self.front)
        if b";" in part.read():
            lines = enumerate(data[:size].split(b"\n"), line)
            told = {key: (number, raw) for number, raw in lines if (key := _labelled(raw))}
            self.front = tuple(
                ({_labelled(raw): (n, raw) for n, raw in self.front} | told).values()
            )
        return part, size


def _last_job(data: bytes) -> int:
    """How many bytes stand before the last line of a whole job."""
    end = data.rfind(b"\n") + 1
    while end:
        begin = data.rfind(b"\n", 0, end - 1) + 1
        fields = clean(data[begin:end]).split()
        if len(fields) == len(NAMES) and fields[_STATUS] not in PARTIAL and fields[_ID].isdecimal():
            return begin
        end = begin
    return 0


def _labelled(raw: bytes) -> str:
    """What a comment tells of the lines below it, without its value; "" for all others."""
    text = clean(raw).strip()
    found = _HEADER.fullmatch(text) if text.startswith(";") else None
    if found is None:
        return ""
    label, value = found.groups()
    if label == "UnixStartTime" and value.isdecimal():
        return label
    named = _NAMED.fullmatch(value) if label in ("Queue", "Partition") else None
    return f"{label} {named[1]}" if named else ""


class _WorkloadLog:
    """A log below the header that was seen; a file may hold several."""

    def __init__(self) -> None:
        self.begin = 0
        self._queues: dict[str, str] = {}
        self._partitions: dict[str, str] = {}
        self._previous = ""

    def line(self, line: int, text: str) -> Read | None:
        """What a line is; comments are none. Raises ``InvalidValue``."""
        text = text.strip()
        if text.startswith(";"):
            self.header(text)
            return None
        return self.record(line, text.split())

    def header(self, text: str) -> None:
        """Take a comment; those without a label say nothing."""
        found = _HEADER.fullmatch(text)
        if not found:
            return
        label, value = found.groups()
        if label == "UnixStartTime":
            self.begin = whole(value) or self.begin
        elif label in ("Queue", "Partition") and (named := _NAMED.fullmatch(value)):
            (self._queues if label == "Queue" else self._partitions)[named[1]] = named[2]

    def record(self, line: int, fields: list[str]) -> Read:
        """What one line is. Raises ``InvalidValue``."""
        if len(fields) != len(NAMES):
            return Bad(line, f"{len(fields)} fields where there are {len(NAMES)}")
        id = known(fields[_ID])
        if not isinstance(id, str):
            raise InvalidValue(fields[_ID], "a job number")
        if fields[_STATUS] in PARTIAL:
            # The line of the whole job comes first and has the sum of these.
            if id == self._previous:
                return Skipped(line, "partial execution")
            return Bad(line, f"a partial execution of job {id} without its job before it")
        self._previous = id
        known_number(fields[_RUN])  # what is no run time refuses the job, as it has one
        started = _was_started(fields)
        told = self._times(fields, started=started)
        more: list[Property] = []
        notes = [] if self.begin else [Noted(line, _RELATIVE, once=True)]
        named = {_QUEUE: self._queues, _PARTITION: self._partitions}
        for place in (_SUBMIT, _WAIT, *named):
            try:
                if place in named:
                    told[place] = _named(fields[place], named[place])
                else:
                    known_number(fields[place])
            except InvalidValue as wrong:
                told[place] = ""
                more.append(noted("SWF", NAMES[place], fields[place]))
                notes.append(Noted(line, f"{wrong}: {NAMES[place]}; {KEPT}", once=True))
        return Record(
            line, _SHAPES[bool(self.begin), started], told, more=tuple(more), notes=tuple(notes)
        )

    def _times(self, fields: list[str], *, started: bool) -> list[str]:
        """The fields with times in the place of distances, and two more: start and end."""
        submit, wait, run = (number(fields[at]) for at in (_SUBMIT, _WAIT, _RUN))
        told = [*fields, "", ""]
        told[_SUBMIT] = self._time(submit) if submit >= 0 else ""
        if submit >= 0 and wait >= 0:
            if started:
                told[-2] = self._time(submit + wait)
            if run >= 0 or not started:
                told[-1] = self._time(submit + wait + (run if run > 0 else 0))
        return told

    def _time(self, seconds: Fraction) -> str:
        """A time of the epoch, or without a header the seconds as they are."""
        if not self.begin:
            return units.decimal(seconds)
        return epoch(self.begin + seconds, units.decimal(seconds))


# The names of a record, by whether its times are absolute, and whether it was started.
_SHAPES = {
    (True, True): _TOLD, (True, False): (*_TOLD, NEVER),
    (False, True): _RELATIVE_TOLD, (False, False): (*_RELATIVE_TOLD, NEVER),
}  # fmt: skip


def _relative(row: Field) -> Field:
    """The row for a log whose times count from nowhere: they are no times of the job."""
    if row.element not in ("SubmitTime", "StartTime", "EndTime"):
        return row
    return row._replace(element="Extension", attributes=extension("SWF", row.element))


def _named(text: str, names: dict[str, str]) -> str:
    found = known(text)
    return names.get(found, found) if isinstance(found, str) else ""


# decision 1100
def _was_started(fields: list[str]) -> bool:
    """A job that was cancelled while it waited has no run time, and often 0 for one; one that used
    CPU time ran, whatever its run time is.
    """
    run = number(fields[_RUN])
    return (
        run > 0
        or (run == 0 and fields[_STATUS] != CANCELLED)
        or fields[_STATUS] == COMPLETED
        or number(fields[_CPU]) > 0
    )


LAYOUT = Layout(
    type="SWF",
    cut=Lines(cutter=LogCutter),
    reader=reader,
    rows=rows,
    known=KnownColumns(
        tuple(row.column for row in COLUMNS),
        {"Start Time": ("Submit Time", "Wait Time"), "End Time": ("Wait Time", "Run Time")},
    ),
    recognises=recognises,
)
