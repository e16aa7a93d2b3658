"""The columns of a ledger: a row for each run of each job, and how it is made of a job object.

What a row says of names and of usage is what ``sssjob report`` says of the job, from the same
functions, so reports of both agree. None is "not stated", never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import pyarrow as pa

from sssjob.accounting.column_readings import (
    ANY,
    ASKED,
    GIVEN,
    OWN,
    ColumnReading,
    grouping,
    time_reading,
)
from sssjob.accounting.report import (
    EXIT,
    NAMED,
    NODES,
    SAME,
    JobProperties,
    exit_code,
    gpus,
    rounded,
    used,
)
from sssjob.integers import LARGEST
from sssjob.measures import SUMS, JobUsage, Number, node_class_sql, usage_text, wait_sql
from sssjob.model import Job

Row = tuple[Any, ...]

ID, TOLD, EXACT, SOURCE, LINE = "id", "told", "exact", "source", "line"
GLOBAL = "global_id"
USED_GPUS = "used_gpus"
MACHINE, SUBMIT, START, END = "machine", "submit_time", "start_time", "end_time"
# What tells a run from all others; TOLD does where a job states neither submission nor start.
KEY = (MACHINE, ID, SUBMIT, START, TOLD)


class Column(NamedTuple):
    """A column: its name, its type, the unit of numbers, and what it says.

    ``read`` is None for what is known of the row, and not of a job.
    """

    name: str
    type: pa.DataType
    unit: str
    says: str
    read: ColumnReading | None = None


def _text(*names: str) -> ColumnReading:
    return ColumnReading(lambda job: job.text(*names) or None, names, ANY)


def _given(name: str) -> ColumnReading:
    return ColumnReading(
        lambda job: rounded(job.given(name)), (name,), GIVEN, is_number=True, most=LARGEST
    )


# By what a report groups, as it reads them: delivered, else the job's own, else requested.
GROUPED = {name: name.replace("-", "_") for name in NAMED}

# What a report adds up, by the names in ``JobUsage``; how long a job waited is told by its times.
SUMMED = {
    **{each.name: each.column for each in SUMS},
    "wait": f"CASE WHEN {START} >= {SUBMIT} THEN {wait_sql(SUBMIT, START)} END",
}
# Of which a file has a column that says nothing else: those of requests beside it are ``READ``.
KEPT = [each for each in SUMS if each.name not in ("asked_processors", "wait")]
# What a report groups by, as SQL: "" is not stated.
KEYED = {
    **{name: f"coalesce(\"{column}\", '')" for name, column in GROUPED.items()},
    **{name: f"coalesce(\"{GROUPED[other]}\", '')" for name, other in SAME.items()},
    EXIT: "coalesce(exit_code::VARCHAR, '')",
    NODES: node_class_sql("used_nodes"),
}
# The column that this is made of.
KEYED_BY = {
    **GROUPED,
    **{name: GROUPED[other] for name, other in SAME.items()},
    EXIT: "exit_code",
    NODES: "used_nodes",
}
_INTEGER, _TEXT = pa.int64(), pa.string()


def _asked(name: str) -> ColumnReading:
    return ColumnReading(
        lambda job: rounded(job.asked(name)), (name,), ASKED, is_number=True, most=LARGEST
    )


# fmt: off
COLUMNS: tuple[Column, ...] = (
    Column(ID, _TEXT, "", "Id, as the batch system prints it",
           ColumnReading(lambda job: job.job.id, ("Id",), OWN)),
    Column(GLOBAL, _TEXT, "", "GlobalId", _text("GlobalId")),
    Column(SUBMIT, _INTEGER, "s", "when it was submitted, since 1970", time_reading("SubmitTime")),
    Column("eligible_time", _INTEGER, "s", "when it could have started",
           time_reading("EligibleTime")),
    Column(START, _INTEGER, "s", "when it started", time_reading("StartTime")),
    Column(END, _INTEGER, "s", "when it ended", time_reading("EndTime")),
    *(
        Column(column, _TEXT, "", f"what report --by {name} says", grouping(name))
        for name, column in GROUPED.items()
    ),
    Column("exit_code", _INTEGER, "", "ExitCode",
           ColumnReading(exit_code, ("ExitCode",), ANY, is_number=True)),
    Column("asked_processors", _INTEGER, "", "requested processors", _asked("Processors")),
    Column("asked_nodes", _INTEGER, "", "requested nodes", _asked("NodeCount")),
    Column("used_nodes", _INTEGER, "", "how many nodes there were",
           _given("NodeCount")),
    Column(USED_GPUS, _INTEGER, "", "how many GPUs there were",
           ColumnReading(lambda job: rounded(gpus(job)), ("Resource",), GIVEN, is_number=True)),
    Column("suspended_seconds", _INTEGER, "s", "how long it was suspended",
           _given("SuspendDuration")),
    *(
        Column(each.column, _INTEGER, each.unit, each.says)
        for each in KEPT
    ),
    Column(EXACT, _TEXT, "", "the sums as fractions, where one is no whole number of 64 bits"),
    Column(TOLD, _TEXT, "", "a digest of a row that states neither submission nor start"),
    Column(SOURCE, _TEXT, "", "the file that it was read from"),
    Column(LINE, _INTEGER, "", "the line of its record there"),
)
# fmt: on
NAMES = tuple(column.name for column in COLUMNS)
# From which version on files have a column that those of version 1 do not have.
LATER = {"asked_gpus": 2, USED_GPUS: 3}
_KEPT = [JobUsage._fields.index(each.name) for each in KEPT]
_SUBMITTED, _STARTED = NAMES.index(SUBMIT), NAMES.index(START)
# What a later version of a record may say otherwise; where it was read says nothing of the job.
CONTENT = tuple(name for name in NAMES if name not in (*KEY, SOURCE, LINE))
READ = [column.read for column in COLUMNS if column.read is not None]

assert all(column.read for column in COLUMNS[: len(READ)])


def schema() -> pa.Schema:
    """The fields of the files: their metadata says the unit and what a column means."""
    return pa.schema(
        pa.field(each.name, each.type, metadata={"unit": each.unit, "says": each.says})
        for each in COLUMNS
    )


def row(job: Job, source: str = "", line: int | None = None) -> Row:
    """The row of a run."""
    told = values(job)
    return (*told, digest(told), source or None, line)


def values(job: Job, readings: Sequence[ColumnReading | None] = READ) -> Row:
    """What a job says of these columns, None of those without a reading, and what it used."""
    facts = JobProperties(job)
    return (*(read and read.of(facts) for read in readings), *whole(used(facts)))


def whole(sums: JobUsage) -> Row:
    """The sums of a row, and what tells them exactly where they are no whole numbers."""
    exact = None if all(map(_fits, sums)) else usage_text(sums._replace(wait=None))
    return (*map(rounded, kept(sums)), exact)


def kept(sums: Sequence[Any]) -> list[Any]:
    """Those of what a job used that have a column of their own (``KEPT``)."""
    return [sums[at] for at in _KEPT]


def digest(told: Sequence[Any]) -> str | None:
    """What tells a row from others that states neither submission nor start.

    It is that of a row of version 1, and of the requested GPUs where these are stated.
    """
    if told[_SUBMITTED] is not None or told[_STARTED] is not None:
        return None
    named = zip(NAMES, told, strict=False)
    some = [
        value
        for name, value in named
        if name not in LATER or (value is not None and name != USED_GPUS)
    ]
    return blake2b(repr(some).encode(), digest_size=16).hexdigest()


def fit(numbers: Sequence[Any]) -> bool:
    """Whether all are whole numbers of 64 bits, or None."""
    if not {*map(type, numbers)} <= {int, type(None)}:
        return False
    known = [each for each in numbers if each is not None]
    return not known or (max(known) <= LARGEST and min(known) >= -LARGEST)


def table(rows: list[Row]) -> pa.Table:
    """Rows as a table of Arrow. Texts are as UTF-8 has them: a lone surrogate becomes "?"."""
    columns = [*zip(*rows, strict=True)] if rows else [()] * len(COLUMNS)
    return pa.table(
        [array(values, column.type) for values, column in zip(columns, COLUMNS, strict=True)],
        schema=schema(),
    )


def array(values: Any, type_: pa.DataType) -> pa.Array:
    """A column of values; see ``table`` for texts."""
    try:
        return pa.array(values, type_)
    except UnicodeEncodeError:
        return pa.array(
            [each and each.encode("utf-8", "replace").decode() for each in values], type_
        )


def _fits(value: Number | None) -> bool:
    return value is None or (type(value) is int and abs(value) <= LARGEST)
