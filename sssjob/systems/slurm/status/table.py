"""What becomes of a live job: sacct's columns with their meaning, and what only live jobs have.

squeue and scontrol say of a job what sacct says of it later, by other names. So each of them is
read into the columns of sacct, and what becomes of a column is said once, in ``accounting.table``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from sssjob.errors import InvalidValue
from sssjob.model import Property
from sssjob.records.clock import Clock, is_backwards, time
from sssjob.records.dependencies import dependencies, other_dependencies
from sssjob.records.layout import NEVER, Names, NoRecord, Record
from sssjob.records.record import JOB, REQUESTED, Field, Found, Noted
from sssjob.records.unread import Left, expected, unread
from sssjob.records.values import is_whole
from sssjob.systems.slurm import states
from sssjob.systems.slurm.accounting import json_table as places
from sssjob.systems.slurm.accounting import table, values
from sssjob.systems.slurm.accounting.header import JOB_ID
from sssjob.systems.slurm.accounting.json_table import JSONColumn, number, text
from sssjob.systems.slurm.accounting.readers import (
    BEGUN,
    ENDED,
    flagged_memory,
    flagged_per_unit,
    nodes,
    noted,
    per_unit,
    requested_memory,
    too_long,
    unwanted_nodes,
    worded,
)
from sssjob.systems.slurm.unset import NO_VALUE
from sssjob.systems.slurm.words import SETTABLE, opened_name, waited_for

_dependencies = partial(dependencies, id=waited_for)
_other_dependencies = partial(other_dependencies, id=waited_for)
_FALSE = ("0", "NO", "false")


def flag(text: str) -> Found:
    """Yes or no."""
    return None if text in NO_VALUE else "false" if text in _FALSE else "true"


def many(text: str) -> Found:
    """A number above one: one is what a job without a request has."""
    found = values.count(text)
    return None if found == "1" else found


def per_node(tasks: str, processors: str) -> Found:
    """The tasks of each node; the one TaskDistribution that a job has may be said already."""
    if not (found := values.count(tasks) if tasks else None):
        return None
    if not _is_distribution(processors):
        return (Property("TaskDistribution", found, {"type": "TasksPerNode"}),)
    return (Property("Extension", found, noted("NtasksPerNode")),)


def node_range(least: str, most: str) -> Found:
    """How many nodes are requested: a number, or a least and a largest one."""
    lo, hi = values.count(least), values.count(most) if most else None
    if lo and hi and int(lo) < int(hi):
        return Property("NodeCount", lo, {"op": "GE"}), Property("NodeCount", hi, {"op": "LE"})
    return lo


def _is_distribution(processors: str) -> bool:
    """Whether a number of processors of each task is a TaskDistribution of its own."""
    try:
        return bool(processors) and many(processors) is not None
    except InvalidValue:
        return False


# fmt: off
# What squeue and scontrol say and sacct does not, in columns of ours.
LIVE: tuple[Field, ...] = (
    Field("AllocNode",     JOB,       "SubmitHost",       worded),
    Field("Deadline",      JOB,       "DeadlineTime",     time),
    Field("Dependency",    JOB,       "Dependency",       _dependencies),
    Field("Dependency",    JOB,       "Extension",        _other_dependencies, noted("Dependency")),
    Field("ExcNodeList",   REQUESTED, "Node",             unwanted_nodes),
    Field("ExcNodeList",   JOB,       "Extension",        too_long, noted("ExcNodeList")),
    Field("MinTmpDisk",    REQUESTED, "Disk",             requested_memory, {"units": "MB"},
          ("ReqCPUS", "ReqNodes")),
    Field("NumTasks",      JOB,       "TaskCount",        many),
    Field("CPUs/Task",     JOB,       "TaskDistribution", many, {"type": "ProcessorsPerTask"}),
    Field("NtasksPerNode", JOB,       "TaskDistribution", per_node, beside=("CPUs/Task",)),
    Field("ReqNodeList",   REQUESTED, "Node",             nodes),
    Field("ReqNodes",      REQUESTED, "NodeCount",        node_range, beside=("MaxNodes",)),
    Field("Requeue",       JOB,       "Restartable",      flag),
)
# fmt: on

OVER = "(over)"  # as accounting.table names what is worked out
_WORKED_OUT = (table.PROGRESS, OVER, table.SUBMITTED)
# Columns by which it is told what a record is.
_TOLD = ("JobID", "State", "Start", "End", "NodeList", "ReqTRES", "Submit")


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
    begin = f",{name}="

    def read(value: Any) -> str:
        if type(value) is not str:
            return ""
        _, _, behind = f",{value}".partition(begin)
        return text(behind.partition(",")[0])

    return read


def passed(job: places.Tree) -> str:
    """The seconds that a job that is over ran: since it was last resumed, and before that."""
    if states.phase(state(job.get("job_state"))) is not states.Phase.TOLD_BY_END:
        return ""  # the end is an expected one
    start, end, resumed, before = (
        places.time(job.get(name))
        for name in ("start_time", "end_time", "suspend_time", "pre_sus_time")
    )
    begun = resumed or start
    if not (is_whole(begun) and is_whole(end) and int(begun) <= int(end)):
        return ""
    return str(int(end) - int(begun) + (int(before) if is_whole(before) else 0))


def yes(value: Any) -> str:
    """A truth value."""
    return "" if type(value) is not bool else "1" if value else "0"


_OF_IDS = (
    "job_id", "array_job_id", "array_task_id", "array_task_string", "het_job_id", "het_job_offset",
)  # fmt: skip


def id_of(job: places.Tree) -> str:
    """The id as sacct prints it: of an array's task and of a part of a heterogeneous job, too."""
    return places.id_text(*map(job.get, _OF_IDS))


_OF_FILES = ("standard_error", "standard_input", "standard_output")


def file_name(member: str) -> Callable[[places.Tree], str]:
    """The name of a file, which JSON has as it was submitted and scontrol as Slurm opens it."""

    def read(job: places.Tree) -> str:
        name = text(job.get(member))
        if "%" not in name and "\\" not in name:
            return name
        id, array, task = (number(job.get(name)) for name in _OF_IDS[:3])
        array = "" if array == "0" else array
        known = {
            "j": id, "A": array or id, "a": task if array else "",
            "x": text(job.get("name")), "u": text(job.get("user_name")),
        }  # fmt: skip
        return opened_name(name, known)

    return read


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
    JSONColumn("Group",         ("group_id",),                  number),
    JSONColumn("JobName",       ("name",),                      text),
    JSONColumn("Licenses",      ("licenses",),                  text),
    JSONColumn("MaxNodes",      ("max_nodes",),                 number),
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
    JSONColumn("StdErr",        ("stderr_expanded",),           text),
    JSONColumn("StdErr",        (),                             file_name("standard_error")),
    JSONColumn("StdIn",         ("stdin_expanded",),            text),
    JSONColumn("StdIn",         (),                             file_name("standard_input")),
    JSONColumn("StdOut",        ("stdout_expanded",),           text),
    JSONColumn("StdOut",        (),                             file_name("standard_output")),
    JSONColumn("Submit",        ("submit_time",),               places.time),
    JSONColumn("SystemComment", ("system_comment",),            text),
    JSONColumn("TimelimitRaw",  ("time_limit",),                number),
    JSONColumn("User",          ("user_name",),                 text),
    JSONColumn("User",          ("user_id",),                   number),
    JSONColumn("WCKey",         ("wckey",),                     text),
    JSONColumn("WorkDir",       ("current_working_directory",), text),
)
# fmt: on


_UNFLAGGED: dict[Any, Any] = {flagged_memory: requested_memory, flagged_per_unit: per_unit}


def rows(names: Names) -> Iterator[Field]:
    """The mapping: of what waits that of a job that was given nothing."""
    own = table.WAITING if NEVER in names else table.ALLOCATION
    return table.chosen((*map(_unflagged, own), *LIVE), names)


def _unflagged(row: Field) -> Field:
    """Only sacct leaves a flag in its memory; squeue and scontrol may show 2^31 MB and more."""
    row = table.opened_already(row)
    return row._replace(read=_UNFLAGGED.get(row.read, row.read))


class ColumnListReader:
    """Reads records that have one list of columns.

    A time in the future is none that has come: the start of what waits and the end of what runs
    are expected ones.
    """

    def __init__(self, names: Sequence[str], clock: Clock) -> None:
        self._started = (*names, *_WORKED_OUT)
        self._waiting = (*self._started, NEVER)
        self._end, self._start, self._licenses = map(names.index, ("End", "Start", "Licenses"))
        self._told = itemgetter(*map(names.index, _TOLD))
        self._clock = clock

    def record(self, line: int, fields: list[str]) -> Record:
        """The record of a job. Raises ``InvalidValue``."""
        id, word, start, end, where, requested, submit = self._told(fields)
        if not JOB_ID.fullmatch(id):
            raise NoRecord(f"{id[:60]!r} is no job id")
        phase, over = states.phase(word), states.is_over(word)
        started = (
            phase is not states.Phase.WAITS and where not in NO_VALUE and start not in NO_VALUE
        )
        if not over:
            fields[self._end] = ""
        if "license/" in requested:
            fields[self._licenses] = ""  # the requested resources tell them as well
        if not started:
            fields[self._start] = ""
        progress = ENDED if over else BEGUN if started else ""
        submitted = self._clock.readable(submit)
        fields += (progress, "1" if over and started else "", submitted)
        names = self._started if started else self._waiting
        notes = tuple(self._doubts(line, start, end)) if over else ()
        return Record(line, names, fields, over, notes=notes)

    def _doubts(self, line: int, start: str, end: str) -> Iterator[Noted]:
        if is_backwards(self._clock.readable(start), self._clock.readable(end)):
            yield Noted(line, "EndTime is before StartTime")


JSON_NAMES = tuple(dict.fromkeys(row.column for row in JSON))

# fmt: off
# Members of a job that are not read, by what they are about; docs/status.md lists them.
LEFT: Left = {
    "how the scheduler came to what it does": (
        "accrue_time", "association_id", "billable_tres", "last_sched_evaluation", "preempt_time",
        "preemptable_time", "priority_by_partition", "resize_time", "scheduled_nodes",
        "state_description",
    ),
    "what is said elsewhere as well": (
        "array_max_tasks", "batch_flag", "batch_host", "command", "flags", "gres_detail",
        "het_job_id_set", "hold", "job_resources", "job_size_str", "show_flags",
    ),
    "how a site or its users have it set up": (
        "cluster_features", "container_id", "cron", "delay_boot", "federation_origin",
        "federation_siblings_active", "federation_siblings_viable", "mail_type", "mail_user",
        "nice", "power", "profile", "reboot", "selinux_context",
    ),
    "fine points of a request": (
        "batch_features", "burst_buffer", "burst_buffer_state", "contiguous", "core_spec",
        "cores_per_socket", "cpu_frequency_governor", "cpu_frequency_maximum",
        "cpu_frequency_minimum", "cpus_per_tres", "max_cpus",
        "maximum_switch_wait_time", "memory_per_tres", "minimum_cpus_per_node", "network", "prefer",
        "required_switches", "shared", "sockets_per_board", "sockets_per_node", "tasks_per_board",
        "tasks_per_core", "tasks_per_socket", "tasks_per_tres", "thread_spec", "threads_per_core",
        "time_minimum", "tres_bind", "tres_freq", "tres_per_job", "tres_per_node",
        "tres_per_socket", "tres_per_task",
    ),
}
# fmt: on
_OF_MEMBERS = ("job_state", "start_time", "end_time", "suspend_time", "pre_sus_time", *_OF_IDS)
_KNOWN = expected((*_OF_MEMBERS, *_OF_FILES, *(row.path[0] for row in JSON if row.path)), LEFT)
# Members that may be objects, and what these have: a number that may be none or endless, a code.
_CODE = frozenset(("status", "return_code", "signal"))
_INNER = {row.path[0]: _CODE if row.read is wait_status else SETTABLE
          for row in JSON if row.path and row.read not in (text, state)}  # fmt: skip


def unread_members(line: int, job: places.Tree) -> tuple[Noted, ...]:
    """A notice of members of a job that are neither read nor known to be left out."""
    inner = [
        f"{name}.{each}"
        for name, known_of in _INNER.items()
        if type(found := job.get(name)) is dict and not found.keys() <= known_of
        for each in found.keys() - known_of
    ]
    return unread(line, "members of a job", (*job, *inner) if inner else job, _KNOWN)
