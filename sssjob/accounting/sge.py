"""Grid Engine: the accounting file of SGE, Son of Grid Engine and Univa becomes job objects.

A line has 43 to some 75 fields between colons, see accounting(5). Nothing is escaped: where a
name or a command holds a colon, its end is found by the numbers behind it. Rows of the slave
tasks of a parallel job come before the row of the job, or right behind it, and are folded into it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import BinaryIO, TypeVar

from sssjob.accounting import sge_table as table
from sssjob.accounting.lines import CUT_SHORT
from sssjob.accounting.record import Bad, Field, Noted, Options, Outcome, Skipped
from sssjob.accounting.roads import OBJECTS, Road
from sssjob.accounting.shapes import LINE_LIMIT, Lines, Read, Record, Shapes
from sssjob.model import Job

P = TypeVar("P")
J = TypeVar("J")

SLAVE_LIMIT = 100_000  # rows of slave tasks that wait for the row of their job

_NUMBER = re.compile(r"-?[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,3})?")
_PE_TASK_SHAPE = re.compile(r"[0-9]+\.\S+")
_SUBMITS = re.compile(r"(?:/\S*/)?q(?:sub|rsh|login|sh|alter|resub|make)(?:\s|$)")
_OLDEST, _NEWEST = 43, 45  # fields before Univa's
_JOB, _ACCOUNT, _PRIORITY, _SUBMITTED, _STARTED, _ENDED = 5, 6, 7, 8, 9, 10
_MAXRSS, _PE, _SLOTS, _TASK, _CPU = 16, 33, 34, 35, 36
_CATEGORY, _IOW, _PE_TASK, _MAXVMEM, _CWD, _COMMAND = 39, 40, 41, 42, 50, 51


def jobs(stream: BinaryIO, options: Options | None = None) -> Iterator[Outcome[Job]]:
    """What becomes of each record of a stream, in its order."""
    return records(stream, options or Options(), OBJECTS)


def records(stream: BinaryIO, options: Options, road: Road[P, J]) -> Iterator[Outcome[J]]:
    """The same on either road."""

    def rows(names: tuple[str, ...]) -> Iterable[Field]:
        return table.WAITING if table.NEVER in names else table.STARTED

    shapes = Shapes(rows, road, ("start_time", "end_time"))
    tasks = _Tasks()
    lines = Lines(stream)
    for batch in lines:
        found: list[Read] = []
        for number, line in batch:
            if line[0] == "#" or len(line) < 2:
                continue
            found += tasks.take(number, line)
        yield from shapes.outcomes(found)
    yield from shapes.outcomes(tasks.close())
    if lines.cut_short:
        yield Noted(lines.cut_short, CUT_SHORT)


def key_of(fields: list[str]) -> tuple[str, str, str]:
    """The job, its task in an array, and its slave task, which is NONE for the job itself."""
    return fields[_JOB], fields[_TASK], fields[_PE_TASK]


def is_parallel(job: list[str]) -> bool:
    """Whether rows of slave tasks may belong to the row of a job."""
    return job[_PE] != "NONE"


def follows(task: list[str], job: list[str]) -> bool:
    """Whether the row of a slave task belongs to the parallel job of the row before it.

    One that started later than that job ended is of its next run.
    """
    return (
        key_of(task)[:2] == key_of(job)[:2]
        and is_parallel(job)
        and int(task[_STARTED]) <= int(job[_ENDED])
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
        if line:
            self.lines.append(line)
        self.hosts[fields[1]] = None
        self.cpu += Decimal(fields[_CPU])
        self.maxrss = max(self.maxrss, Decimal(fields[_MAXRSS]))
        self.maxvmem = max(self.maxvmem, Decimal(fields[_MAXVMEM]))


class _Tasks:
    """Folds the rows of slave tasks into the row of their job, which comes last, or just before."""

    def __init__(self) -> None:
        self._held: tuple[int, list[str]] | None = None  # a parallel job that some may follow
        self._open: dict[tuple[str, str], _Task] = {}
        self._count = 0

    def take(self, number: int, line: str) -> Iterator[Read]:
        """What is known after a line: nothing of a slave task or a parallel job."""
        fields = parted(number, line) if len(line) <= LINE_LIMIT else _too_long(number)
        if isinstance(fields, Bad):
            yield from self._told()
            yield fields
            return
        key = fields[_JOB], fields[_TASK]
        if fields[_PE_TASK] == "NONE":
            yield from self._told()
            if is_parallel(fields):
                self._held = number, fields
            else:
                yield _record(number, fields, self._closed(key))
            return
        if self._held and not follows(fields, self._held[1]):
            yield from self._told()
        task = self._open.setdefault(key, _Task())
        task.add(number, fields)
        self._count += 1
        if self._count > SLAVE_LIMIT:
            yield from _alone(self._closed(next(iter(self._open))))

    def close(self) -> list[Read]:
        """What becomes of the last job, and of slave tasks whose job did not follow."""
        told = list(self._told())
        return told + [item for key in tuple(self._open) for item in _alone(self._closed(key))]

    def _told(self) -> Iterator[Read]:
        """The parallel job that was held, now that nothing more follows."""
        if self._held:
            number, fields = self._held
            self._held = None
            yield _record(number, fields, self._closed((fields[_JOB], fields[_TASK])))

    def _closed(self, key: tuple[str, str]) -> _Task | None:
        task = self._open.pop(key, None)
        if task is not None:
            self._count -= len(task.lines)
        return task


def _too_long(number: int) -> Bad:
    return Bad(number, f"longer than {LINE_LIMIT} bytes")


def _alone(task: _Task | None) -> Iterator[Read]:
    for line in task.lines if task else ():
        yield Skipped(line, "slave task whose job does not follow")


def _record(number: int, fields: list[str], task: _Task | None) -> Record:
    """The row of a job, with what its slave tasks told."""
    size = len(fields)
    for index in (_SUBMITTED, _STARTED, _ENDED):
        if len(fields[index]) > 11:
            fields[index] = fields[index][:-3]  # Univa 8.2 counts milliseconds
    never = fields[_STARTED] == "0"
    hosts = ""
    if task is not None:
        task.add(0, fields)
        hosts = ",".join(task.hosts)
        fields[_CPU] = str(task.cpu)
        fields[_MAXRSS] = str(task.maxrss)
        fields[_MAXVMEM] = str(task.maxvmem)
    fields.append(hosts)
    names = table.names(size, never)
    return Record(number, names, fields, tuple(task.lines) if task else ())


def parted(number: int, line: str) -> list[str] | Bad:
    """The fields of a line, those that hold colons joined."""
    fields = line.split(":")
    if _fits(fields):
        return fields
    if len(fields) < _OLDEST:
        return Bad(number, f"{len(fields)} fields, where a record has {_OLDEST} at least")
    found = {tuple(reading) for reading in _readings(fields)}
    if len(found) == 1:
        return [*found.pop()]
    if found:
        return Bad(number, "a colon in a text, and the columns cannot be told apart")
    return Bad(number, "the columns do not fit: no times where they should be")


def _fits(fields: list[str]) -> bool:
    """Whether the fields are those of a record as they stand."""
    size = len(fields)
    if size < _OLDEST:
        return False
    amounts = fields[_CPU], fields[_MAXRSS], fields[_IOW], fields[_MAXVMEM]
    # Plain decimals are the rule; only what is none of them is looked at one by one.
    plain = "" not in amounts and "".join(amounts).replace(".", "", 4).isdecimal()
    return (
        fields[_JOB].isdecimal()
        and _is_times(fields, _SUBMITTED)
        and fields[_PRIORITY].removeprefix("-").isdecimal()
        and fields[_SLOTS].isdecimal()
        and (fields[_CATEGORY] == "NONE" or fields[_CATEGORY][:1] == "-")
        and (fields[_PE_TASK] == "NONE" or _PE_TASK_SHAPE.fullmatch(fields[_PE_TASK]) is not None)
        and (plain or all(map(_NUMBER.fullmatch, amounts)))
        and ((size in (_OLDEST, _NEWEST) and all(map(str.isdecimal, fields[_OLDEST:])))
             or (size > _NEWEST and _is_univa(fields)))
    )  # fmt: skip


def _is_times(fields: list[str], index: int) -> bool:
    """Whether three times stand there, as seconds or milliseconds; 0 is none."""
    times = fields[index : index + 3]
    return "".join(times).isdecimal() and all(8 < len(text) < 14 or text == "0" for text in times)


def _is_univa(fields: list[str]) -> bool:
    """Whether the fields behind the command line are all numbers."""
    return len(fields) > _COMMAND and all(map(_NUMBER.fullmatch, fields[_COMMAND + 1 :]))


def _readings(fields: list[str]) -> Iterator[list[str]]:
    """The ways to join fields around colons in job name, account, category, cwd and command."""
    for job in range(_JOB, len(fields) - 37):
        if not fields[job].isdecimal():
            continue
        for priority in range(job + 2, len(fields) - 35):
            if not (
                fields[priority].removeprefix("-").isdecimal() and _is_times(fields, priority + 1)
            ):
                continue
            head = [
                *fields[:4], ":".join(fields[4:job]), fields[job],
                ":".join(fields[job + 1 : priority]),
            ]  # fmt: skip
            for tail in _tails(fields[priority:]):
                if _fits(found := head + tail):
                    yield found
            break  # times stand in one place


def _tails(fields: list[str]) -> Iterator[list[str]]:
    """The ways to join what follows the account."""
    first = _CATEGORY - _PRIORITY
    if len(fields) <= first:
        return
    for end in range(first + 1, len(fields) - 2):
        joined = [*fields[:first], ":".join(fields[first:end]), *fields[end:]]
        rest = len(joined) + _PRIORITY
        if rest in (_OLDEST, _NEWEST):
            yield joined
        elif rest > _NEWEST:
            yield from _univa(joined)
        # Where a category has no colon, the command may have one.


def _univa(fields: list[str]) -> Iterator[list[str]]:
    """Behind the command are numbers only, and it begins with the name of a program.

    Where that does not tell it from the directory before it, both stay together as its text.
    """
    first, last = _CWD - _PRIORITY, len(fields)
    while last > first + 2 and _NUMBER.fullmatch(fields[last - 1]):
        last -= 1
    texts = fields[first:last]
    if len(texts) < 2:
        return
    begins = [at for at in range(1, len(texts)) if len(texts) == 2 or _SUBMITS.match(texts[at])]
    if len(begins) == 1:
        told = [":".join(texts[: begins[0]]), ":".join(texts[begins[0] :])]
    else:
        told = ["NONE", ":".join(texts)]
    yield [*fields[:first], *told, *fields[last:]]
