"""Grid Engine: the accounting file of SGE, Son of Grid Engine and Univa becomes job objects.

A line has 43 to some 75 fields between colons, see accounting(5) and ``columns``. Nothing is
escaped: where a name or a command holds a colon, its end is found by the numbers behind it. Rows of
the slave tasks of a parallel job come before the row of the job, or right behind it, and are folded
into it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from sssjob.records.clock import is_apart, passed
from sssjob.records.cuts import Lines, RegularLines
from sssjob.records.folding import Fold, Folding
from sssjob.records.layout import (
    NO_START,
    KnownColumns,
    Layout,
    NoRecord,
    Record,
    RecordBatch,
    RunKey,
    alone,
    ran,
    told_by_columns,
)
from sssjob.records.lines import TWO_RECORDS, first_line
from sssjob.records.readers import seconds
from sssjob.records.record import Noted
from sssjob.records.texts import BulkColumn, distinct, same
from sssjob.records.values import is_whole
from sssjob.records.wall_times import lasted
from sssjob.systems.gridengine.accounting import table
from sssjob.systems.gridengine.accounting.columns import (
    ACCOUNT,
    CATEGORY,
    CLASSED,
    COMMANDED,
    CPU,
    CWD,
    ENDED,
    FAILED,
    JOB,
    LATEST,
    NAME,
    NAMED,
    NEWEST,
    OLDEST,
    PE,
    PE_TASK,
    PRIORITY,
    SIZES,
    SLOTS,
    STARTED,
    SUBMITTED,
    TASK,
    WALL,
    WALLCLOCK,
    command_ends,
    fit,
    fit_columns,
    fits_but_an_anchor,
    fits_but_values,
    has_tail,
    is_task,
    known,
    known_behind,
    may_begin,
    with_tail,
)
from sssjob.systems.gridengine.words import SECONDS, in_seconds

SURPLUS_LIMIT = 200  # fields too many that are still taken for colons in texts

# What every row has: of the first two State and Processors are made.
_ALWAYS = (FAILED, SLOTS, SUBMITTED, CATEGORY, PE_TASK)

_TRIES = 500  # ways to join the fields of a line
# Priority, three times, failed, and exit_status: so much of each row has a form of its own.
_TIMES_AND_ENDS = re.compile(r":-?[0-9]{1,9}(?=:[1-9])(?::(?:0|[0-9]{9,13})){3}(?::[0-9]{1,5}){2}:")
_HEAD = 3  # colons in names from which on these hold the first fields of another row
_ROUNDED = 2  # s by which a wall time may be longer than from the start to the end
_MAY_BE_TWO = (
    "a colon in job_name or account: it may be two records on one line, the first cut short"
)
_NUMBERS = 12  # fields, of which every record has more

_SUBMITS = re.compile(r"(?:/\S*/)?q(?:sub|rsh|login|sh|alter|resub|make)(?:\s|$)")


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it is Grid Engine's accounting, or ""."""
    fields = first_line(head, b"#").split(b":")
    numbers = sum(field.isdigit() for field in fields)
    found = len(fields) >= OLDEST and numbers > _NUMBERS
    return f"lines of {OLDEST} or more fields with colons" if found else ""


_TIMES = (SUBMITTED, STARTED, ENDED)
_UNTOLD = ("", "-1", "-1.000000", "-1.000")  # instead of a wall time
_MOMENT = 10  # digits of the seconds since 1970


def split(lines: Sequence[str]) -> Sequence[str | list[str]]:
    """The fields of lines; the lines themselves where these are not the fields of one version.

    A comment has none, whatever it holds.
    """
    rows = [line.split(":") for line in lines]
    has_comments = any(text[:1] == "#" for text in {row[0] for row in rows})
    return rows if not has_comments and fit(rows) else lines


def record(number: int, line: str | list[str]) -> Record | None:
    """What a line is, or its fields. Raises ``InvalidValue``."""
    is_joined = not isinstance(line, list)
    if isinstance(line, list):
        fields = line if len(line) <= NAMED else with_tail(line)
    elif line[0] == "#" or len(line) < 2:
        return None
    else:
        fields = parted(line)
    if any(len(fields[index]) > SECONDS for index in _TIMES):
        for index in _TIMES:
            fields[index] = in_seconds(fields[index])
    if fields[WALL] in _UNTOLD:
        fields[WALL] = passed(fields[STARTED], fields[ENDED]) or fields[WALL]
    size = len(fields)
    more = fields[-1].count(":") + 1 if has_tail(size) else 0
    says_no_start = fields[STARTED] == "0"
    is_used = says_no_start and _ran(fields[WALL], fields[CPU])
    names = table.names(size, more, says_no_start and not is_used)
    fields.append("")
    notes = [
        *([_MAY_BE_TWO] if is_joined and ":" in fields[NAME] + fields[ACCOUNT] else ()),
        *([table.not_known(names)] if more else ()),
        *([NO_START] if is_used else ()),
        *(f"{names[at]} is empty, which tells nothing" for at in _ALWAYS if not fields[at]),
    ]
    found = told_by_columns(number, names, fields)
    if notes:
        found = found._replace(notes=tuple(Noted(number, text, once=True) for text in notes))
    return found


def fit_alone(columns: Sequence[BulkColumn]) -> bool:
    """Whether lines with these fields are records of jobs, and none of a slave task."""
    return (
        {*distinct(columns[PE_TASK])} == {"NONE"}
        and not any(text[:1] == "#" for text in distinct(columns[0]))
        and fit_columns(columns)
    )


def batches(line: int, columns: Sequence[BulkColumn]) -> list[RecordBatch]:
    """What ``record`` makes of lines that ``fit_alone``, those that began and those that did not.

    So many fields have no tail.
    """
    size = len(columns[0])
    told: list[Sequence[str]] = [*columns, same("", size)]
    for index in _TIMES:
        told[index] = _in_seconds(columns[index])
    starts = told[STARTED]
    if any(text in _UNTOLD for text in distinct(columns[WALL])):
        runs = zip(columns[WALL], starts, told[ENDED], strict=True)
        told[WALL] = [
            (passed(start, end) or text) if text in _UNTOLD else text for text, start, end in runs
        ]
    found = RecordBatch(
        table.names(len(columns), 0, False), range(size), range(line, line + size), told
    )
    if "0" not in starts:
        return [found]
    others = [at for at, start in enumerate(starts) if start == "0"]
    walls, times = told[WALL], told[CPU]
    used = {at for at in others if _ran(walls[at], times[at])}
    if used:
        told_so = (
            (Noted(line + at, NO_START, once=True),) if at in used else () for at in range(size)
        )
        found = found._replace(notes=[*told_so])
    others = [at for at in others if at not in used]
    begun = sorted({*range(size)}.difference(others))
    never = table.names(len(columns), 0, True)
    return [found.only(begun), found.only(others)._replace(names=never)]


def _ran(wall: str, cpu: str) -> bool:
    """Whether a job without a start ran: a wall time that is a moment was counted from 1970."""
    return ran(wall if len(wall.partition(".")[0]) < _MOMENT else "", cpu)


def _in_seconds(times: BulkColumn) -> Sequence[str]:
    """Times of which some may be in milliseconds."""
    return times if max(map(len, distinct(times))) <= SECONDS else [*map(in_seconds, times)]


def key(record: Record) -> tuple[str, str]:
    """The job with its task in an array."""
    return record.fields[JOB], record.fields[TASK]


def slave_task(record: Record) -> str:
    """The slave task that a row is about."""
    found: str = record.fields[PE_TASK]
    return "" if found == "NONE" or not is_task(found) else found


def is_parallel(job: Record) -> bool:
    """Whether rows of slave tasks may belong to the row of a job."""
    found: bool = job.fields[PE] != "NONE"
    return found


def follows(task: Record, job: Record) -> bool:
    """Whether a slave task is of the job before it: a later one is of the job's next run."""
    return int(task.fields[STARTED]) <= int(job.fields[ENDED])


def are_jobs(lines: Sequence[bytes]) -> list[bool]:
    """Which lines are of a usual length and surely jobs: no rows of slave tasks, nor comments.

    So many fields as ``NEWEST`` may be ``OLDEST`` with two colons in texts, of which the slave task
    then stands where else a number is. Of more fields, all are looked at.
    """
    return [
        (last := line.rsplit(b":", 4))[1] == b"NONE" and b"." not in last[3] and b"$" < line < b"~"
        if (colons := line.count(b":")) == NEWEST - 1
        else colons == OLDEST - 1 and line.rsplit(b":", 2)[1] == b"NONE" and b"$" < line < b"~"
        if colons < NEWEST
        else b"$" < line < b"~" and _is_of_univa(line)
        for line in lines
    ]


def _is_of_univa(line: bytes) -> bool:
    """Whether a line is of a job, and has the fields that a version of Univa writes."""
    fields = line.decode("ascii", "replace").split(":")
    return fields[PE_TASK] == "NONE" and fit([fields])


def told(line: str | list[str]) -> tuple[bool, tuple[str, str]] | None:
    """Of the fields of a line whether it is about a slave task, and its key."""
    return (line[PE_TASK] != "NONE", (line[JOB], line[TASK])) if line.__class__ is list else None


FOLDS = (
    Fold("hostname", "set", table.HOSTS),
    Fold("cpu", "sum"),
    Fold("ru_maxrss", "max"),
    Fold("maxvmem", "max"),
)


def parted(line: str) -> list[str]:
    """The fields of a line, those that hold colons joined. Raises ``InvalidValue``."""
    fields = line.split(":")
    if fit([fields]):
        return with_tail(fields)
    if len(fields) < OLDEST:
        raise NoRecord(f"{len(fields)} fields, where a record has {OLDEST} at least")
    if _holds_two(line):
        raise NoRecord(TWO_RECORDS)
    if _has_whole_clock(fields):
        return with_tail(fields)
    hopeless = len(fields) > LATEST + SURPLUS_LIMIT
    found = set() if hopeless else _readings(fields)
    told = known(fields)
    if len(found) == 1 and told < NAMED:
        (reading,) = found
        if (reading[NAME] + reading[ACCOUNT]).count(":") >= _HEAD:
            raise NoRecord(TWO_RECORDS)
        return with_tail([*reading])
    if told > WALLCLOCK and not _fits_wall_clock(fields):
        raise NoRecord(TWO_RECORDS)
    if told:
        # A later version, or a colon in the command: where both may be, neither is believed.
        return with_tail(fields, min(told, CWD) if found else told)
    if found:
        raise NoRecord("a colon in a text, and the columns cannot be told apart")
    if hopeless:
        raise NoRecord(f"more than {LATEST + SURPLUS_LIMIT} fields")
    if fits_but_values(fields) or (len(fields) in SIZES and fits_but_an_anchor(fields)):
        return with_tail(fields, known_behind(fields))
    raise NoRecord("the columns do not fit: no times where they should be")


def _readings(fields: list[str]) -> set[tuple[str, ...]]:
    """The ways to join fields around colons in texts that fit, two at most: nobody can choose.

    Raises ``NoRecord`` where so many ways would have to be tried that somebody meant it.
    """
    found: set[tuple[str, ...]] = set()
    for tries, reading in enumerate(_ways(fields)):
        if tries == _TRIES:
            raise NoRecord("colons in texts, and too many ways to tell the columns apart")
        if fit([reading]) and _can_be(reading):
            found.add(tuple(reading))
            if len(found) == 2:
                break
    return found


# decision 1077
def _has_whole_clock(fields: list[str]) -> bool:
    """Whether a wall time without a fraction stands behind the command, and no part of that.

    It is the time from start to end, and all else is what it should be.
    """
    size, text = len(fields), fields[WALLCLOCK] if len(fields) > WALLCLOCK else ""
    if size not in SIZES or not is_whole(text):
        return False
    lasted = _lasted(fields)
    return (
        lasted is not None
        and not is_apart(lasted, Decimal(text), _ROUNDED)
        and fit([[*fields[:WALLCLOCK], f"{text}.0", *fields[WALLCLOCK + 1 :]]])
    )


def _holds_two(line: str) -> bool:
    """Whether the times of two jobs stand in a line, in front of how each ended."""
    return len(_TIMES_AND_ENDS.findall(line)) > 1


def _can_be(reading: list[str]) -> bool:
    """Whether a run that began has ended behind its begin: what moved its times would not."""
    lasted = _lasted(reading)
    return lasted is None or (lasted >= 0 and _fits_wall_clock(reading))


def _fits_wall_clock(reading: list[str]) -> bool:
    """Whether the wall time that stands behind a command is not longer than from start to end."""
    lasted = _lasted(reading)
    return (
        lasted is None
        or len(reading) <= WALLCLOCK
        or not is_apart(lasted, Decimal(reading[WALLCLOCK]), _ROUNDED, longer=True)
    )


def _lasted(reading: list[str]) -> Decimal | None:
    """The seconds from the start to the end, which may be in milliseconds; None without them."""
    started, ended = reading[STARTED], reading[ENDED]
    if started == "0" or not (is_whole(started) and is_whole(ended)):
        return None
    return Decimal(int(ended) - int(started)) / (1000 if len(started) > SECONDS else 1)


def _ways(fields: list[str]) -> Iterator[list[str]]:
    """The ways to join fields around colons in job name, account, category, cwd and command."""
    for job in range(JOB, len(fields) - 37):
        if not fields[job].isdecimal():
            continue
        for priority in range(job + 2, len(fields) - 35):
            if not may_begin(fields, priority):
                continue
            head = [
                *fields[:4], ":".join(fields[4:job]), fields[job],
                ":".join(fields[job + 1 : priority]),
            ]  # fmt: skip
            for tail in _tails(fields[priority:]):
                yield head + tail


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


# As 74 fields have a tail, they go line by line.
REGULAR = RegularLines(":", frozenset(size for size in SIZES if size <= NAMED), fit_alone, batches)
LAYOUT = Layout(
    type=table.TYPE,
    cut=Lines(split, regular=REGULAR, has_parts=True),
    reader=alone(record),
    folding=Folding(
        part=slave_task,
        key=key,
        goes_on=is_parallel,
        follows=follows,
        are_jobs=are_jobs,
        told=told,
        folds=FOLDS,
        alone="slave task whose job does not follow",
    ),
    rows=table.rows,
    span=("start_time", "end_time"),
    lasted=lasted(seconds, "wallclock", "ru_wallclock", rounded=_ROUNDED),
    known=KnownColumns(table.COLUMNS, {}, table.NOT_KEPT, table.ALSO),
    # A run that is rescheduled before it began has a record without any time.
    run=RunKey("submission_time", "start_time", "end_time", is_whole=True),
    recognises=recognises,
)
