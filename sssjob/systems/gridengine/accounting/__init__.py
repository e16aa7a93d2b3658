"""Grid Engine: the accounting file of SGE, Son of Grid Engine and Univa becomes job objects.

A line has 43 to some 75 fields between colons, see accounting(5) and ``columns``. Nothing is
escaped: where a name or a command holds a colon, its end is found by the numbers behind it. Rows of
the slave tasks of a parallel job come before the row of the job, or right behind it, and are folded
into it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import BinaryIO, TypeVar

from sssjob.model import Job
from sssjob.records.head import first_line
from sssjob.records.lines import CUT_SHORT
from sssjob.records.record import Bad, Field, Noted, Options, Outcome, Skipped
from sssjob.records.roads import OBJECTS, Road
from sssjob.records.shapes import LINE_LIMIT, Lines, Read, Record, Shapes
from sssjob.systems.gridengine.accounting import columns as sge_columns
from sssjob.systems.gridengine.accounting import table
from sssjob.systems.gridengine.accounting.columns import (
    CATEGORY,
    CLASSED,
    COMMANDED,
    CPU,
    CWD,
    ENDED,
    JOB,
    LATEST,
    MAXRSS,
    MAXVMEM,
    NAMED,
    NEWEST,
    NUMBER,
    OLDEST,
    PE,
    PE_TASK,
    PRIORITY,
    STARTED,
    SUBMITTED,
    TASK,
    command_ends,
    fits_alone,
    fits_but_values,
    has_tail,
    is_times,
    known,
    with_tail,
)

P = TypeVar("P")
J = TypeVar("J")

SLAVE_LIMIT = 100_000  # rows of slave tasks that wait for the row of their job
SURPLUS_LIMIT = 200  # fields too many that are still taken for colons in texts

_NUMBERS = 12  # fields, of which every record has more

_SUBMITS = re.compile(r"(?:/\S*/)?q(?:sub|rsh|login|sh|alter|resub|make)(?:\s|$)")


def jobs(stream: BinaryIO, options: Options | None = None) -> Iterator[Outcome[Job]]:
    """What becomes of each record of a stream, in its order."""
    return records(stream, options or Options(), OBJECTS)


def records(stream: BinaryIO, options: Options, road: Road[P, J]) -> Iterator[Outcome[J]]:
    """The same on either road."""

    def rows(names: tuple[str, ...]) -> Iterable[Field]:
        return table.waiting(names) if table.NEVER in names else table.started(names)

    shapes = Shapes(rows, road, table.TYPE, ("start_time", "end_time"))
    tasks = _Tasks()
    held: tuple[int, list[str]] | None = None  # a parallel job that some tasks may follow
    lines = Lines(stream)
    for batch in lines:
        wanted = [(number, line) for number, line in batch if line[0] != "#" and len(line) > 1]
        found: list[Read] = []
        for (number, line), fields in zip(wanted, _fields_of(wanted), strict=True):
            if held is not None and not (isinstance(fields, list) and follows(fields, held[1])):
                found.append(tasks.job(*held))
                held = None
            if len(line) > LINE_LIMIT:
                found.append(Bad(number, f"longer than {LINE_LIMIT} bytes"))
            elif isinstance(fields, Bad):
                found.append(fields)
            elif fields[PE_TASK] != "NONE":
                found += tasks.take(number, fields)
            elif is_parallel(fields):
                held = number, fields
            else:
                found.append(tasks.job(number, fields))
        yield from shapes.outcomes(found)
    yield from shapes.outcomes([*([tasks.job(*held)] if held else ()), *tasks.close()])
    if lines.cut_short:
        yield Noted(lines.cut_short, CUT_SHORT)


def _fields_of(lines: Sequence[tuple[int, str]]) -> list[list[str] | Bad]:
    """The fields of lines, or what is wrong with them."""
    rows = [line.split(":") if len(line) <= LINE_LIMIT else [] for _, line in lines]
    if sge_columns.fit(rows):
        return [*map(with_tail, rows)] if len(rows[0]) > NAMED else [*rows]
    return [
        parted(number, line) if fields else []
        for (number, line), fields in zip(lines, rows, strict=True)
    ]


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it is Grid Engine's accounting, or ""."""
    fields = first_line(head, b"#").split(b":")
    numbers = sum(field.isdigit() for field in fields)
    found = len(fields) >= OLDEST and numbers > _NUMBERS
    return f"lines of {OLDEST} or more fields with colons" if found else ""


def key_of(fields: list[str]) -> tuple[str, str, str]:
    """The job, its task in an array, and its slave task, which is NONE for the job itself."""
    return fields[JOB], fields[TASK], fields[PE_TASK]


def is_parallel(job: list[str]) -> bool:
    """Whether rows of slave tasks may belong to the row of a job."""
    return job[PE] != "NONE"


def follows(fields: list[str], job: list[str]) -> bool:
    """Whether a row is that of a slave task of the parallel job in the row before it.

    One that started later than that job ended is of its next run.
    """
    return (
        len(fields) >= OLDEST
        and key_of(fields)[:2] == key_of(job)[:2]
        and fields[PE_TASK] != "NONE"
        and int(fields[STARTED]) <= int(job[ENDED])
    )


class _Task:
    """What the slave rows of one job told."""

    __slots__ = ("cpu", "hosts", "lines", "maxrss", "maxvmem")

    def __init__(self) -> None:
        self.lines: list[int] = []
        self.hosts: dict[str, None] = {}
        self.cpu = Decimal(0)
        self.maxrss = Decimal(0)
        self.maxvmem = Decimal(0)

    def add(self, line: int, fields: list[str]) -> None:
        """Take a row, which was found to be whole."""
        self.lines.append(line)
        self.hosts[fields[1]] = None
        self.cpu += Decimal(fields[CPU])
        self.maxrss = max(self.maxrss, Decimal(fields[MAXRSS]))
        self.maxvmem = max(self.maxvmem, Decimal(fields[MAXVMEM]))

    def fold_into(self, job: list[str]) -> str:
        """Put what all tasks told into the fields of their job; the hosts of all of them.

        What is no amount there stays: it will be told.
        """
        self.hosts[job[1]] = None
        if NUMBER.fullmatch(job[CPU]):
            job[CPU] = str(self.cpu + Decimal(job[CPU]))
        for place, most in ((MAXRSS, self.maxrss), (MAXVMEM, self.maxvmem)):
            if NUMBER.fullmatch(job[place]):
                job[place] = str(max(most, Decimal(job[place])))
        return ",".join(self.hosts)


class _Tasks:
    """Folds the rows of slave tasks into the row of their job."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], _Task] = {}
        self._count = 0

    def take(self, number: int, fields: list[str]) -> list[Read]:
        """Take the row of a slave task; what is known after too many that wait."""
        task = self._open.setdefault(key_of(fields)[:2], _Task())
        task.add(number, fields)
        self._count += 1
        if self._count <= SLAVE_LIMIT:
            return []
        return [*_alone(self._closed(next(iter(self._open))))]

    def job(self, number: int, fields: list[str]) -> Record:
        """The row of a job, with what its slave tasks told."""
        return _record(number, fields, self._closed(key_of(fields)[:2]))

    def close(self) -> list[Read]:
        """What becomes of slave tasks whose job did not follow."""
        return [item for key in tuple(self._open) for item in _alone(self._closed(key))]

    def _closed(self, key: tuple[str, str]) -> _Task | None:
        task = self._open.pop(key, None)
        if task is not None:
            self._count -= len(task.lines)
        return task


def _alone(task: _Task | None) -> Iterator[Read]:
    for line in task.lines if task else ():
        yield Skipped(line, "slave task whose job does not follow")


def _record(number: int, fields: list[str], task: _Task | None) -> Record:
    """The row of a job, with what its slave tasks told."""
    tail = fields[-1] if has_tail(len(fields)) else None
    for index in (SUBMITTED, STARTED, ENDED):
        if len(fields[index]) > 11:
            fields[index] = fields[index][:-3]  # Univa 8.2 counts milliseconds
    more = 0 if tail is None else tail.count(":") + 1
    names = table.names(len(fields), more, fields[STARTED] == "0")
    fields.append(task.fold_into(fields) if task else "")
    note = table.not_known(names) if more else ""
    return Record(number, names, fields, tuple(task.lines) if task else (), note)


def parted(number: int, line: str) -> list[str] | Bad:
    """The fields of a line, those that hold colons joined."""
    fields = line.split(":")
    if fits_alone(fields):
        return with_tail(fields)
    if len(fields) < OLDEST:
        return Bad(number, f"{len(fields)} fields, where a record has {OLDEST} at least")
    hopeless = len(fields) > LATEST + SURPLUS_LIMIT
    found = set() if hopeless else {tuple(reading) for reading in _readings(fields)}
    told = known(fields)
    if len(found) == 1 and told < NAMED:
        return with_tail([*found.pop()])
    if told:
        # A later version, or a colon in the command: where both may be, neither is believed.
        return with_tail(fields, min(told, CWD) if found else told)
    if found:
        return Bad(number, "a colon in a text, and the columns cannot be told apart")
    if hopeless:
        return Bad(number, f"more than {LATEST + SURPLUS_LIMIT} fields")
    if fits_but_values(fields):
        return with_tail(fields)
    return Bad(number, "the columns do not fit: no times where they should be")


def _readings(fields: list[str]) -> Iterator[list[str]]:
    """The ways to join fields around colons in job name, account, category, cwd and command."""
    for job in range(JOB, len(fields) - 37):
        if not fields[job].isdecimal():
            continue
        for priority in range(job + 2, len(fields) - 35):
            if not (
                fields[priority].removeprefix("-").isdecimal() and is_times(fields, priority + 1)
            ):
                continue
            head = [
                *fields[:4], ":".join(fields[4:job]), fields[job],
                ":".join(fields[job + 1 : priority]),
            ]  # fmt: skip
            for tail in _tails(fields[priority:]):
                if fits_alone(found := head + tail):
                    yield found
            break  # times stand in one place


def _tails(fields: list[str]) -> Iterator[list[str]]:
    """The ways to join what follows the account."""
    first = CATEGORY - PRIORITY
    if len(fields) <= first:
        return
    for end in range(first + 1, len(fields) - 2):
        joined = [*fields[:first], ":".join(fields[first:end]), *fields[end:]]
        rest = len(joined) + PRIORITY
        if rest in (OLDEST, NEWEST, CLASSED):
            yield joined
        elif rest >= COMMANDED:
            yield from _univa(joined)
        # Where a category has no colon, the command may have one.


def _univa(fields: list[str]) -> Iterator[list[str]]:
    """The ways to join a directory and a command, which begins with the name of a program.

    Where that does not tell it from the directory before it, both stay together as its text.
    """
    first = CWD - PRIORITY
    for last in command_ends(fields, first):
        texts = fields[first:last]
        begins = [at for at in range(1, len(texts)) if len(texts) == 2 or _SUBMITS.match(texts[at])]
        if len(begins) == 1:
            told = [":".join(texts[: begins[0]]), ":".join(texts[begins[0] :])]
        else:
            told = ["NONE", ":".join(texts)]
        yield [*fields[:first], *told, *fields[last:]]
