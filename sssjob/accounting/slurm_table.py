"""What becomes of each column of sacct: the mapping, laid beside ``sacct --helpformat``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from sssjob import units
from sssjob.accounting import slurm_values as values
from sssjob.accounting.clock import NO_VALUE, time
from sssjob.accounting.readers import single
from sssjob.accounting.record import (
    DELIVERED,
    JOB,
    NOWHERE,
    REQUESTED,
    Field,
    Found,
    plain,
    varied,
)
from sssjob.accounting.slurm_nodes import expand, is_range
from sssjob.model import Property


def together(text: str) -> Found:
    """A column that is read with others, in the functions of ``slurm``."""
    return None


def noted(name: str) -> dict[str, str]:
    """The attributes of what the standard has no property for."""
    return {"type": "Slurm", "name": name}


# Columns that are worked out for each record: whether it has an end, and has run to it; the time
# of submission in seconds; the last part of a step's id; and what is summed over steps.
ENDED, OVER, SUBMITTED, STEP_ID = "(ended)", "(over)", "(submitted)", "(step)"
CPU, MEMORY, MEAN_MEMORY, SWAP, MEAN_SWAP = SUMS = (
    "(cpu)", "(memory)", "(mean memory)", "(swap)", "(mean swap)"
)  # fmt: skip
WORKED_OUT = (ENDED, OVER, SUBMITTED, STEP_ID, *SUMS)


@varied
def global_id(cluster: str, raw: str, id: str, submitted: str) -> Found:
    """cluster/id/time of submission: ids begin anew, and a requeued job is submitted anew."""
    if not cluster:
        return None
    return "/".join(filter(None, (cluster, raw or id, submitted)))


@varied
def raw_id(raw: str, id: str) -> Found:
    """The plain number of a job, where its id is another."""
    return raw if raw and id and raw != id else None


def state(text: str, reason: str, ended: str) -> Found:
    """A state in the standard's words; a reason tells why a job waits."""
    return tuple(_state(text, reason, bool(ended))) if text else None


def _state(text: str, reason: str, ended: bool) -> Iterator[Property]:
    state = values.state(text, ended)
    if state.standard == "Idle" and reason.startswith("JobHeld"):
        state = state._replace(standard="Hold")
    yield Property("State", state.standard)
    if state.standard == "Hold":
        yield Property("Hold", "System" if "Admin" in reason else "User")
    if state.standard in ("Idle", "Hold") and reason not in NO_VALUE:
        yield Property("StatusMessage", reason)
    elif state.standard == "Completed" and state.word != "COMPLETED":
        yield Property("StatusMessage", text)


def exit_code(text: str, over: str) -> Found:
    """The code; 0:0 of what has not run to an end is no code."""
    found = values.exit_code(text)
    return None if found is None or (found == (0, 0) and not over) else str(found[0])


def signal(text: str) -> Found:
    """The signal beside the code."""
    found = values.exit_code(text)
    return str(found[1]) if found and found[1] else None


def alternatives(text: str) -> Found:
    """The partitions in which a job that has not started may run: any of them."""
    names = [name for name in text.split(",") if name]
    return tuple(
        Property("Queue", name, ({"conj": "Or"} if index else {}) | _bracket(index, len(names)))
        for index, name in enumerate(names)
    )


def _bracket(index: int, size: int) -> dict[str, str]:
    return {"group": "-1" if index else "1"} if size > 1 and index in (0, size - 1) else {}


def worded(text: str) -> Found:
    """Text, unless it is one of the words for no value."""
    return None if text in NO_VALUE else text


def nodes(text: str) -> Found:
    """One name, a Range where the list is one ``prefix[..]``, else a List of every name."""
    if text in NO_VALUE:
        return None
    if text.isalnum():
        return text
    names = expand(text, values.NODE_LIMIT)
    if is_range(text):
        return (Property("Node", text, {"aggregation": "Range"}),)
    if names is None or len(names) == 1:
        return names[0] if names else None
    return (Property("Node", ",".join(names), {"aggregation": "List"}),)


def too_long(text: str) -> Found:
    """A list of more than ``NODE_LIMIT`` names, as it was printed."""
    if "[" not in text and text.count(",") < values.NODE_LIMIT:
        return None
    return text if not is_range(text) and expand(text, values.NODE_LIMIT) is None else None


def features(text: str) -> Found:
    """Features that are all needed (``a&b``); nothing for any other expression."""
    if not _FEATURES.fullmatch(text):
        return None
    if "&" not in text:
        return text
    return (Property("Feature", text.replace("&", ","), {"aggregation": "List"}),)


def constraints(text: str) -> Found:
    """An expression that is no list of features, in its own words."""
    return None if _FEATURES.fullmatch(text) else text


def requested_memory(text: str, processors: str, nodes: str) -> Found:
    """MB for the whole job; what was requested for a CPU or a node, times their number."""
    found = values.requested_memory(text)
    if found is None:
        return None
    number = {"c": processors, "n": nodes, "": "1"}[found.per]
    times = int(values.count(number) or 0)
    return units.decimal(found.megabytes * times) if times else None


def per_unit(text: str) -> Found:
    """Memory that was requested for each CPU or node, as it was printed."""
    found = values.requested_memory(text)
    return text if found and found.per else None


def devices(text: str) -> Found:
    """The resources of a TRES list that have no property of their own, energy left out."""
    return _resources(values.resources(text))


def allocated(text: str) -> Found:
    """The resources of a TRES list, energy included; ConsumedEnergyRaw tells the same."""
    joules = values.tres(text).get("energy")
    found = _resources(values.resources(text))
    return (*found, *_energy(joules)) if joules else found


def total_memory(text: str) -> Found:
    """The sum over the tasks of a step of what each had at most, in KB."""
    value = values.tres(text).get("mem")
    return None if value is None else values.in_kilobytes(value)


def generic(text: str) -> Found:
    """The resources of the columns that versions before 20.11 had."""
    return _resources(values.generic_resources(text))


def licenses(text: str) -> Found:
    """``name:count`` or ``name``, separated by commas."""
    if text in NO_VALUE or license_choice(text):
        return None
    return _resources(
        ("License", name, values.whole(amount or "1") or "")
        for name, _, amount in (item.partition(":") for item in text.split(","))
    )


def license_choice(text: str) -> Found:
    """An expression of licenses with ``|`` or ``;``, as it is."""
    return text if "|" in text or ";" in text else None


def energy(text: str) -> Found:
    """Joules; 0 is what sacct prints where nothing measures them. K is 1000 here."""
    if text in NO_VALUE:
        return None
    number, power = text.rstrip("KMGT"), "KMGT".find(text[-1]) + 1
    value = values.size(number)
    return _energy(value * 1000**power) if value else None


def derived(text: str) -> Found:
    """The worst exit code of any step, where one failed."""
    return None if values.exit_code(text) in (None, (0, 0)) else text


def restarts(text: str) -> Found:
    """The number of starts: one more than of restarts."""
    value = values.whole(text)
    return None if value is None else str(int(value) + 1)


def _energy(joules: values.Amount) -> tuple[Property, ...]:
    if joules >= _UNSET:
        return ()
    amount = str(values.rounded(joules))
    return (Property("Resource", amount, {"name": "Energy", "units": "J"}),)


def _resources(found: Iterable[tuple[str, str, str]]) -> tuple[Property, ...]:
    return tuple(Property("Resource", amount, _named(name, kind)) for name, kind, amount in found)


def _named(name: str, kind: str) -> dict[str, str]:
    return {"name": name, "type": kind} if kind else {"name": name}


_FEATURES = re.compile(r"[\w.:/\-]+(?:&[\w.:/\-]+)*")
_UNSET = 1 << 63  # sacct prints an unset counter as 2^64 - 2

_MAX = {"metric": "Max", "units": "KB"}
_AVERAGE = {"metric": "Average", "units": "KB"}
_TOTAL = {"metric": "Total", "units": "KB"}

# fmt: off
# A job, in the order of ``sacct --helpformat``. Of two columns for one property the later
# counts: it is the exacter one.
ALLOCATION: tuple[Field, ...] = (
    Field("State",              JOB,       "Extension",  plain, noted("State")),
    Field("Account",            DELIVERED, "Project"),
    Field("AdminComment",       JOB,       "Extension",  plain, noted("AdminComment")),
    Field("AllocCPUS",          DELIVERED, "Processors", values.count),
    Field("AllocGRES",          DELIVERED, "Resource",   generic),
    Field("AllocNodes",         DELIVERED, "NodeCount",  values.count),
    Field("AllocTRES",          DELIVERED, "Resource",   allocated),
    Field("AssocID",            NOWHERE),
    Field("AveCPU",             NOWHERE),
    Field("AveCPUFreq",         NOWHERE),
    Field("AveDiskRead",        NOWHERE),
    Field("AveDiskWrite",       NOWHERE),
    Field("AvePages",           NOWHERE),
    Field("AveRSS",             DELIVERED, "Memory",     together, _AVERAGE),
    Field("AveVMSize",          DELIVERED, "Swap",       together, _AVERAGE),
    Field("BlockID",            NOWHERE),
    Field("Cluster",            DELIVERED, "Machine"),
    Field("Cluster",            JOB,       "GlobalId",   global_id,
          beside=("JobIDRaw", "JobID", SUBMITTED)),
    Field("Comment",            JOB,       "Extension",  plain, noted("Comment")),
    Field("Constraints",        REQUESTED, "Feature",    features),
    Field("Constraints",        JOB,       "Extension",  constraints, noted("Constraints")),
    Field("ConsumedEnergy",     DELIVERED, "Resource",   energy, {"name": "Energy"}),
    Field("ConsumedEnergyRaw",  DELIVERED, "Resource",   energy, {"name": "Energy"}),
    Field("Container",          JOB,       "Extension",  plain, noted("Container")),
    Field("CPUTime",            NOWHERE),  # Processors times Duration, not time that was used
    Field("CPUTimeRAW",         NOWHERE),
    Field("DBIndex",            NOWHERE),
    Field("DerivedExitCode",    JOB,       "Extension",  derived, noted("DerivedExitCode")),
    Field("Elapsed",            DELIVERED, "Duration",   values.clock_seconds),
    Field("ElapsedRaw",         DELIVERED, "Duration",   values.whole),
    Field("Eligible",           JOB,       "EligibleTime", time),
    Field("End",                JOB,       "EndTime",    time),
    Field("ExitCode",           JOB,       "ExitCode",   exit_code, beside=(OVER,)),
    Field("Extra",              JOB,       "Extension",  plain, noted("Extra")),
    Field("FailedNode",         JOB,       "Extension",  worded, noted("FailedNode")),
    Field("Flags",              NOWHERE),
    Field("GID",                NOWHERE),
    Field("Group",              DELIVERED, "Group"),
    Field("JobIDRaw",           JOB,       "Id",         single),
    Field("JobID",              JOB,       "Id",         single),
    Field("JobName",            JOB,       "Name"),
    Field("Layout",             NOWHERE),
    Field("Licenses",           REQUESTED, "Resource",   licenses),
    Field("Licenses",           JOB,       "Extension",  license_choice, noted("Licenses")),
    Field("MaxDiskRead",        NOWHERE),
    Field("MaxDiskReadNode",    NOWHERE),
    Field("MaxDiskReadTask",    NOWHERE),
    Field("MaxDiskWrite",       NOWHERE),
    Field("MaxDiskWriteNode",   NOWHERE),
    Field("MaxDiskWriteTask",   NOWHERE),
    Field("MaxPages",           NOWHERE),
    Field("MaxPagesNode",       NOWHERE),
    Field("MaxPagesTask",       NOWHERE),
    Field("MaxRSS",             DELIVERED, "Memory",     together, _MAX),
    Field("MaxRSSNode",         NOWHERE),
    Field("MaxRSSTask",         NOWHERE),
    Field("MaxVMSize",          DELIVERED, "Swap",       together, _MAX),
    Field("MaxVMSizeNode",      NOWHERE),
    Field("MaxVMSizeTask",      NOWHERE),
    Field("McsLabel",           JOB,       "Extension",  worded, noted("McsLabel")),
    Field("MinCPU",             NOWHERE),
    Field("MinCPUNode",         NOWHERE),
    Field("MinCPUTask",         NOWHERE),
    Field("NCPUS",              DELIVERED, "Processors", values.count),
    Field("NNodes",             DELIVERED, "NodeCount",  values.count),
    Field("NodeList",           DELIVERED, "Node",       nodes),
    Field("NodeList",           JOB,       "Extension",  too_long, noted("NodeList")),
    Field("NTasks",             NOWHERE),
    Field("OriginalSLUID",      JOB,       "Extension",  worded, noted("OriginalSLUID")),
    Field("Partition",          DELIVERED, "Queue"),
    Field("Partition",          DELIVERED, "Partition"),
    Field("Planned",            NOWHERE),  # EligibleTime to StartTime
    Field("PlannedCPU",         NOWHERE),
    Field("PlannedCPURAW",      NOWHERE),
    Field("Priority",           JOB,       "Priority",   values.whole),
    Field("QOS",                DELIVERED, "QualityOfService"),
    Field("QOSRAW",             NOWHERE),
    Field("QOSREQ",             REQUESTED, "QualityOfService", worded),
    Field("Reason",             JOB,       "Extension",  worded, noted("Reason")),
    Field("ReqCPUFreq",         NOWHERE),
    Field("ReqCPUFreqGov",      NOWHERE),
    Field("ReqCPUFreqMax",      NOWHERE),
    Field("ReqCPUFreqMin",      NOWHERE),
    Field("ReqCPUS",            REQUESTED, "Processors", values.count),
    Field("ReqGRES",            REQUESTED, "Resource",   generic),
    Field("ReqMem",             REQUESTED, "Memory",     requested_memory, {"units": "MB"},
          beside=("ReqCPUS", "ReqNodes")),
    Field("ReqMem",             JOB,       "Extension",  per_unit, noted("ReqMem")),
    Field("ReqNodes",           REQUESTED, "NodeCount",  values.count),
    Field("ReqTRES",            REQUESTED, "Resource",   devices),
    Field("Reservation",        REQUESTED, "Reservation", worded),
    Field("ReservationId",      NOWHERE),
    Field("Reserved",           NOWHERE),  # Planned, before 23.02
    Field("ResvCPU",            NOWHERE),
    Field("ResvCPURAW",         NOWHERE),
    Field("Restarts",           JOB,       "StartCount", restarts),
    Field("SLUID",              JOB,       "Extension",  worded, noted("SLUID")),
    Field("Start",              JOB,       "StartTime",  time),
    Field("State",              JOB,       "State",      state, beside=("Reason", ENDED)),
    Field("StdErr",             JOB,       "ErrorFile"),
    Field("StdIn",              JOB,       "InputFile"),
    Field("StdOut",             JOB,       "OutputFile"),
    Field("Submit",             JOB,       "SubmitTime", time),
    Field("SubmitLine",         JOB,       "Extension",  plain, noted("SubmitLine")),
    Field("Suspended",          JOB,       "SuspendDuration", values.clock_seconds),
    Field("SystemComment",      JOB,       "Extension",  plain, noted("SystemComment")),
    Field("SystemCPU",          JOB,       "CpuDuration", together),
    Field("Timelimit",          REQUESTED, "Duration",   values.clock_seconds, {"op": "LE"}),
    Field("TimelimitRaw",       REQUESTED, "Duration",   values.limit_seconds, {"op": "LE"}),
    Field("TotalCPU",           JOB,       "CpuDuration", together),
    *(Field(f"TRESUsage{way}{what}", NOWHERE)
      for way in ("In", "Out")
      for what in ("Ave", "Max", "MaxNode", "MaxTask", "Min", "MinNode", "MinTask", "Tot")),
    Field("UID",                NOWHERE),
    Field("User",               DELIVERED, "User"),
    Field("UserCPU",            JOB,       "CpuDuration", together),
    Field("WCKey",              JOB,       "Extension",  worded, noted("WCKey")),
    Field("WCKeyID",            NOWHERE),
    Field("WorkDir",            JOB,       "InitialWorkingDirectory"),
    Field("ExitCode",           JOB,       "Extension",  signal, noted("Signal")),
    Field("JobIDRaw",           JOB,       "Extension",  raw_id, noted("JobIDRaw"), ("JobID",)),
    # What a job and its steps tell together, see ``slurm_steps``.
    Field(CPU,                  JOB,       "CpuDuration", single),
    Field(MEMORY,               DELIVERED, "Memory",     single, _MAX),
    Field(MEAN_MEMORY,          DELIVERED, "Memory",     single, _AVERAGE),
    Field(SWAP,                 DELIVERED, "Swap",       single, _MAX),
    Field(MEAN_SWAP,            DELIVERED, "Swap",       single, _AVERAGE),
)

# A step, which becomes a TaskGroup of its job.
STEP: tuple[Field, ...] = (
    Field("AllocCPUS",          DELIVERED, "Processors", values.count),
    Field("AllocNodes",         DELIVERED, "NodeCount",  values.count),
    Field("AllocTRES",          DELIVERED, "Resource",   allocated),
    Field("AveRSS",             DELIVERED, "Memory",     values.kibibytes, _AVERAGE),
    Field("AveVMSize",          DELIVERED, "Swap",       values.kibibytes, _AVERAGE),
    Field("Elapsed",            DELIVERED, "Duration",   values.clock_seconds),
    Field("ElapsedRaw",         DELIVERED, "Duration",   values.whole),
    Field("End",                JOB,       "EndTime",    time),
    Field("ExitCode",           JOB,       "ExitCode",   exit_code, beside=(OVER,)),
    Field(STEP_ID,              JOB,       "Id",         single),
    Field("JobName",            JOB,       "Name"),
    Field("MaxRSS",             DELIVERED, "Memory",     values.kibibytes, _MAX),
    Field("MaxVMSize",          DELIVERED, "Swap",       values.kibibytes, _MAX),
    Field("NCPUS",              DELIVERED, "Processors", values.count),
    Field("NNodes",             DELIVERED, "NodeCount",  values.count),
    Field("NodeList",           DELIVERED, "Node",       nodes),
    Field("NodeList",           JOB,       "Extension",  too_long, noted("NodeList")),
    Field("NTasks",             JOB,       "TaskCount",  values.count),
    Field("Start",              JOB,       "StartTime",  time),
    Field("State",              JOB,       "State",      state, beside=("Reason", ENDED)),
    Field("TotalCPU",           JOB,       "CpuDuration", values.clock_seconds),
    Field("TRESUsageInTot",     DELIVERED, "Memory",     total_memory, _TOTAL),
    Field("ExitCode",           JOB,       "Extension",  signal, noted("Signal")),
)
# fmt: on

COLUMNS = tuple(dict.fromkeys(row.column for row in ALLOCATION if row.column not in WORKED_OUT))

# What only a job that was started can have been given, or have.
_USED = frozenset(
    ("Duration", "Memory", "Node", "NodeCount", "Partition", "Processors", "Queue", "Resource",
     "Swap")
)  # fmt: skip
_STARTED = frozenset(("StartTime", "StartCount", "CpuDuration"))

# A job that was not started.
WAITING = (
    *(row for row in ALLOCATION
      if row.element not in {DELIVERED: _USED, JOB: _STARTED}.get(row.place, ())),
    Field("Partition", REQUESTED, "Queue", alternatives),
)  # fmt: skip


def chosen(rows: Iterable[Field], columns: Collection[str]) -> Iterator[Field]:
    """The rows for the columns that there are; of two that tell the same, the later."""
    found: dict[tuple[object, ...], Field] = {}
    for row in rows:
        if row.column in columns and row.read is not together:
            measured = {"ConsumedEnergy", "ConsumedEnergyRaw"} & set(columns)
            found[_identity(row)] = (
                row._replace(read=devices) if row.read is allocated and measured else row
            )
    return iter(found.values())


def _identity(row: Field) -> tuple[object, ...]:
    """What makes two columns tell the same property, so that one of them is enough."""
    shared = (
        row.element in ("Id", "Processors", "NodeCount", "Duration") or "metric" in row.attributes
    )
    shared = shared or row.column.startswith("ConsumedEnergy")
    column = "" if shared else row.column
    return (row.place, column, row.element, *row.attributes.values())
