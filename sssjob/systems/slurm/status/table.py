"""What becomes of a live job: sacct's columns with their meaning, and what only live jobs have.

squeue and scontrol say of a job what sacct says of it later, by other names. So each of them is
read into the columns of sacct, and what becomes of a column is said once, in ``accounting.table``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sssjob.records.clock import NO_VALUE, Clock, is_backwards, time
from sssjob.records.dependencies import dependencies, other_dependencies
from sssjob.records.layout import NEVER, Names, NoRecord, Record
from sssjob.records.record import JOB, REQUESTED, Field, Found, Noted
from sssjob.systems.slurm.accounting import json_table as places
from sssjob.systems.slurm.accounting import table, values
from sssjob.systems.slurm.accounting.header import JOB_ID
from sssjob.systems.slurm.accounting.json_table import JSONColumn, number, text
from sssjob.systems.slurm.accounting.readers import (
    BEGUN,
    ENDED,
    nodes,
    noted,
    requested_memory,
    worded,
)

_FALSE = ("0", "NO", "false")


def flag(text: str) -> Found:
    """Yes or no."""
    return None if text in NO_VALUE else "false" if text in _FALSE else "true"


def many(text: str) -> Found:
    """A number above one: one is what a job without a request has."""
    found = values.count(text)
    return None if found == "1" else found


# fmt: off
# What squeue and scontrol say and sacct does not, in columns of ours.
LIVE: tuple[Field, ...] = (
    Field("AllocNode",     JOB,       "SubmitHost",       worded),
    Field("Deadline",      JOB,       "DeadlineTime",     time),
    Field("Dependency",    JOB,       "Dependency",       dependencies),
    Field("Dependency",    JOB,       "Extension",        other_dependencies, noted("Dependency")),
    Field("ExcNodeList",   JOB,       "Extension",        worded, noted("ExcNodeList")),
    Field("MinTmpDisk",    REQUESTED, "Disk",             requested_memory, {"units": "MB"},
          ("ReqCPUS", "ReqNodes")),
    Field("NumTasks",      JOB,       "TaskCount",        many),
    Field("CPUs/Task",     JOB,       "TaskDistribution", many, {"type": "ProcessorsPerTask"}),
    Field("NtasksPerNode", JOB,       "TaskDistribution", values.count, {"type": "TasksPerNode"}),
    Field("ReqNodeList",   REQUESTED, "Node",             nodes),
    Field("Requeue",       JOB,       "Restartable",      flag),
)
# fmt: on

OVER = "(over)"  # as accounting.table names what is worked out
_WORKED_OUT = (table.PROGRESS, OVER, table.SUBMITTED)


def state(value: Any) -> str:
    """The state: a word, or a list of which the last word is a flag such as COMPLETING."""
    return places.state(value).upper()


def wait_status(value: Any) -> str:
    """``code:signal``, of a pair or, up to 23.02, of what wait(2) gives."""
    if type(value) is int:
        return f"{value >> 8 & 255}:{value & 127}" if value >= 0 else ""
    return places.exit_code(value)


def amount(name: str) -> Callable[[Any], str]:
    """One amount out of ``cpu=4,mem=200M,node=1``."""
    begin = f"{name}="

    def read(value: Any) -> str:
        for item in value.split(",") if type(value) is str else ():
            if item.startswith(begin):
                return text(item[len(begin) :])
        return ""

    return read


def passed(job: places.Tree) -> str:
    """The seconds that a job that is over ran: since it was last resumed, and before that."""
    if values.phase(state(job.get("job_state"))) is not values.Phase.TOLD_BY_END:
        return ""  # the end is an expected one
    start, end, resumed, before = (
        places.time(job.get(name))
        for name in ("start_time", "end_time", "suspend_time", "pre_sus_time")
    )
    begun = resumed or start
    if not (begun.isdecimal() and end.isdecimal() and int(begun) <= int(end)):
        return ""
    return str(int(end) - int(begun) + (int(before) if before.isdecimal() else 0))


def yes(value: Any) -> str:
    """A truth value."""
    return "" if type(value) is not bool else "1" if value else "0"


_OF_IDS = (
    "job_id", "array_job_id", "array_task_id", "array_task_string", "het_job_id", "het_job_offset",
)  # fmt: skip


def id_of(job: places.Tree) -> str:
    """The id as sacct prints it: of an array's task and of a part of a heterogeneous job, too."""
    return places.id_text(*map(job.get, _OF_IDS))


# fmt: off
# Where the columns stand in the JSON of squeue and of scontrol; of several the first counts.
JSON: tuple[JSONColumn, ...] = (
    JSONColumn("JobID",         (),                             id_of),
    JSONColumn("JobIDRaw",      ("job_id",),                    number),
    JSONColumn("Account",       ("account",),                   text),
    JSONColumn("AdminComment",  ("admin_comment",),             text),
    JSONColumn("AllocNode",     ("allocating_node",),           text),
    JSONColumn("AllocTRES",     ("tres_alloc_str",),            text),
    JSONColumn("Cluster",       ("cluster",),                   text),
    JSONColumn("Comment",       ("comment",),                   text),
    JSONColumn("Constraints",   ("features",),                  text),
    JSONColumn("Container",     ("container",),                 text),
    JSONColumn("CPUs/Task",     ("cpus_per_task",),             number),
    JSONColumn("Deadline",      ("deadline",),                  places.time),
    JSONColumn("Dependency",    ("dependency",),                text),
    JSONColumn("DerivedExitCode", ("derived_exit_code",),       wait_status),
    JSONColumn("ElapsedRaw",    (),                             passed),
    JSONColumn("Eligible",      ("eligible_time",),             places.time),
    JSONColumn("End",           ("end_time",),                  places.time),
    JSONColumn("ExcNodeList",   ("excluded_nodes",),            text),
    JSONColumn("ExitCode",      ("exit_code",),                 wait_status),
    JSONColumn("Extra",         ("extra",),                     text),
    JSONColumn("FailedNode",    ("failed_node",),               text),
    JSONColumn("Group",         ("group_name",),                text),
    JSONColumn("JobName",       ("name",),                      text),
    JSONColumn("Licenses",      ("licenses",),                  text),
    JSONColumn("McsLabel",      ("mcs_label",),                 text),
    JSONColumn("MinTmpDisk",    ("minimum_tmp_disk_per_node",), places.megabytes("n")),
    JSONColumn("NCPUS",         ("tres_alloc_str",),            amount("cpu")),
    JSONColumn("NCPUS",         ("cpus",),                      number),
    JSONColumn("NNodes",        ("node_count",),                number),
    JSONColumn("NodeList",      ("nodes",),                     text),
    JSONColumn("NtasksPerNode", ("tasks_per_node",),            number),
    JSONColumn("NumTasks",      ("tasks",),                     number),
    JSONColumn("Partition",     ("partition",),                 text),
    JSONColumn("Priority",      ("priority",),                  number),
    JSONColumn("QOS",           ("qos",),                       text),
    JSONColumn("Reason",        ("state_reason",),              text),
    JSONColumn("ReqCPUS",       ("tres_req_str",),              amount("cpu")),
    JSONColumn("ReqCPUS",       ("cpus",),                      number),
    JSONColumn("ReqMem",        ("memory_per_cpu",),            places.megabytes("c")),
    JSONColumn("ReqMem",        ("memory_per_node",),           places.megabytes("n")),
    JSONColumn("ReqNodeList",   ("required_nodes",),            text),
    JSONColumn("ReqNodes",      ("tres_req_str",),              amount("node")),
    JSONColumn("ReqNodes",      ("node_count",),                number),
    JSONColumn("ReqTRES",       ("tres_req_str",),              text),
    JSONColumn("Requeue",       ("requeue",),                   yes),
    JSONColumn("Reservation",   ("resv_name",),                 text),
    JSONColumn("Restarts",      ("restart_cnt",),               number),
    JSONColumn("Start",         ("start_time",),                places.time),
    JSONColumn("State",         ("job_state",),                 state),
    JSONColumn("StdErr",        ("standard_error",),            text),
    JSONColumn("StdIn",         ("standard_input",),            text),
    JSONColumn("StdOut",        ("standard_output",),           text),
    JSONColumn("Submit",        ("submit_time",),               places.time),
    JSONColumn("SystemComment", ("system_comment",),            text),
    JSONColumn("TimelimitRaw",  ("time_limit",),                number),
    JSONColumn("User",          ("user_name",),                 text),
    JSONColumn("WCKey",         ("wckey",),                     text),
    JSONColumn("WorkDir",       ("current_working_directory",), text),
)
# fmt: on


def rows(names: Names) -> Iterator[Field]:
    """The mapping: of what waits that of a job that was given nothing."""
    own = table.WAITING if NEVER in names else table.ALLOCATION
    return table.chosen((*own, *LIVE), names)


class Listed:
    """Reads records that have one list of columns.

    A time in the future is none that has come: the start of what waits and the end of what runs
    are expected ones.
    """

    def __init__(self, names: Sequence[str], clock: Clock) -> None:
        self._started = (*names, *_WORKED_OUT)
        self._waiting = (*self._started, NEVER)
        self._at = {name: place for place, name in enumerate(names)}
        self._clock = clock

    def record(self, line: int, fields: list[str]) -> Record:
        """The record of a job. Raises ``InvalidValue``."""
        at = self._at
        if not JOB_ID.fullmatch(id := fields[at["JobID"]]):
            raise NoRecord(f"{id[:60]!r} is no job id")
        word, start, end = (fields[at[name]] for name in ("State", "Start", "End"))
        phase = values.phase(word)
        nodes_known = fields[at["NodeList"]] not in NO_VALUE
        over = values.is_over(word)
        started = nodes_known and phase is not values.Phase.WAITS and start not in NO_VALUE
        if not over:
            fields[at["End"]] = ""
        if "license/" in fields[at["ReqTRES"]]:
            fields[at["Licenses"]] = ""  # the requested resources tell them as well
        if not started:
            fields[at["Start"]] = ""
        progress = ENDED if over else BEGUN if started else ""
        submitted = self._clock.readable(fields[at["Submit"]])
        fields += (progress, "1" if over and started else "", submitted)
        names = self._started if started else self._waiting
        notes = tuple(self._doubts(line, start, end)) if over else ()
        return Record(line, names, fields, over, notes=notes)

    def _doubts(self, line: int, start: str, end: str) -> Iterator[Noted]:
        if is_backwards(self._clock.readable(start), self._clock.readable(end)):
            yield Noted(line, "EndTime is before StartTime")


JSON_NAMES = tuple(dict.fromkeys(row.column for row in JSON))
