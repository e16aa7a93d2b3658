"""What becomes of each column of sacct: the mapping, laid beside ``sacct --helpformat``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sssjob import spec
from sssjob.accounting import slurm_values as values
from sssjob.accounting.record import DELIVERED, JOB, NOWHERE, REQUESTED, Field, Found, plain
from sssjob.accounting.slurm_nodes import expand, is_range
from sssjob.model import Property


def time(text: str) -> Found:
    """A place holder: a reader of one zone takes its place, see ``slurm.Plan``."""
    raise NotImplementedError(text)


def together(text: str) -> Found:
    """A column that is read with others, in the functions of ``slurm``."""
    return None


def noted(name: str) -> dict[str, str]:
    """The attributes of what the standard has no property for."""
    return {"type": "Slurm", "name": name}


def worded(text: str) -> Found:
    """Text, unless it is one of the words for no value."""
    return None if text in values.NO_VALUE else text


def nodes(text: str) -> Found:
    """One name, a Range where the list is one ``prefix[..]``, else a List of every name.

    A list of more than ``NODE_LIMIT`` names is kept as printed, in an Extension.
    """
    if text in values.NO_VALUE:
        return None
    names = expand(text, values.NODE_LIMIT)
    if names is None and not is_range(text):
        return (Property("Extension", text, noted("NodeList")),)
    if is_range(text):
        return (Property("Node", text, {"aggregation": "Range"}),)
    assert names is not None
    if len(names) == 1:
        return names[0]
    return (Property("Node", ",".join(names), {"aggregation": "List"}),)


def constraints(text: str) -> Found:
    """Features that are all needed (``a&b``); any other expression stays in its own words."""
    plain_names = text.split("&")
    if not all(re.fullmatch(r"[\w.:/\-]+", name) for name in plain_names):
        return (Property("Extension", text, noted("Constraints")),)
    if len(plain_names) == 1:
        return text
    return (Property("Feature", ",".join(plain_names), {"aggregation": "List"}),)


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
    """``name:count`` or ``name``, separated by commas; an expression with ``|`` stays as it is."""
    if text in values.NO_VALUE:
        return None
    if "|" in text or ";" in text:
        return (Property("Extension", text, noted("Licenses")),)
    return _resources(
        ("License", name, values.whole(amount or "1") or "")
        for name, _, amount in (item.partition(":") for item in text.split(","))
    )


def energy(text: str) -> Found:
    """Joules; 0 is what sacct prints where nothing measures them. K is 1000 here."""
    if text in values.NO_VALUE:
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
    if joules >= _NO_VALUE:
        return ()
    amount = str(values.rounded(joules))
    return (Property("Resource", amount, {"name": "Energy", "units": "J"}),)


def _resources(found: Iterable[tuple[str, str, str]]) -> tuple[Property, ...]:
    return tuple(Property("Resource", amount, _named(name, kind)) for name, kind, amount in found)


def _named(name: str, kind: str) -> dict[str, str]:
    return {"name": name, "type": kind} if kind else {"name": name}


_NO_VALUE = 1 << 63  # sacct prints an unset counter as 2^64 - 2

_MAX = {"metric": "Max", "units": "KB"}
_AVERAGE = {"metric": "Average", "units": "KB"}
_TOTAL = {"metric": "Total", "units": "KB"}

# fmt: off
# An allocation, in the order of ``sacct --helpformat``. Of two columns for one property the later
# counts: it is the exacter one.
ALLOCATION: tuple[Field, ...] = (
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
    Field("Comment",            JOB,       "Extension",  plain, noted("Comment")),
    Field("Constraints",        REQUESTED, "Feature",    constraints),
    Field("ConsumedEnergy",     DELIVERED, "Resource",   energy, {"name": "Energy"}),
    Field("ConsumedEnergyRaw",  DELIVERED, "Resource",   energy, {"name": "Energy"}),
    Field("Container",          JOB,       "Extension",  plain, noted("Container")),
    Field("CPUTime",            NOWHERE),  # Processors times Duration, not time that was used
    Field("CPUTimeRAW",         NOWHERE),
    Field("DBIndex",            NOWHERE),
    Field("DerivedExitCode",    JOB,       "Extension",  derived, noted("DerivedExitCode")),
    Field("Elapsed",            DELIVERED, "Duration",   values.clock_seconds),
    Field("ElapsedRaw",         DELIVERED, "Duration",   values.seconds),
    Field("Eligible",           JOB,       "EligibleTime", time),
    Field("End",                JOB,       "EndTime",    time),
    Field("ExitCode",           JOB,       "ExitCode",   together),
    Field("Extra",              JOB,       "Extension",  plain, noted("Extra")),
    Field("FailedNode",         JOB,       "Extension",  worded, noted("FailedNode")),
    Field("Flags",              NOWHERE),
    Field("GID",                NOWHERE),
    Field("Group",              DELIVERED, "Group"),
    Field("JobID",              JOB,       "Id",         together),
    Field("JobIDRaw",           JOB,       "Extension",  together, noted("JobIDRaw")),
    Field("JobName",            JOB,       "Name"),
    Field("Layout",             NOWHERE),
    Field("Licenses",           REQUESTED, "Resource",   licenses),
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
    Field("ReqMem",             REQUESTED, "Memory",     together, {"units": "MB"}),
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
    Field("State",              JOB,       "State",      together),
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
)

# A step, which becomes a TaskGroup of its job.
STEP: tuple[Field, ...] = (
    Field("AllocCPUS",          DELIVERED, "Processors", values.count),
    Field("AllocNodes",         DELIVERED, "NodeCount",  values.count),
    Field("AllocTRES",          DELIVERED, "Resource",   allocated),
    Field("AveRSS",             DELIVERED, "Memory",     values.kibibytes, _AVERAGE),
    Field("AveVMSize",          DELIVERED, "Swap",       values.kibibytes, _AVERAGE),
    Field("Elapsed",            DELIVERED, "Duration",   values.clock_seconds),
    Field("ElapsedRaw",         DELIVERED, "Duration",   values.seconds),
    Field("End",                JOB,       "EndTime",    time),
    Field("ExitCode",           JOB,       "ExitCode",   together),
    Field("JobID",              JOB,       "Id",         together),
    Field("JobName",            JOB,       "Name"),
    Field("MaxRSS",             DELIVERED, "Memory",     values.kibibytes, _MAX),
    Field("MaxVMSize",          DELIVERED, "Swap",       values.kibibytes, _MAX),
    Field("NCPUS",              DELIVERED, "Processors", values.count),
    Field("NNodes",             DELIVERED, "NodeCount",  values.count),
    Field("NodeList",           DELIVERED, "Node",       nodes),
    Field("NTasks",             JOB,       "TaskCount",  values.count),
    Field("Start",              JOB,       "StartTime",  time),
    Field("State",              JOB,       "State",      together),
    Field("TotalCPU",           JOB,       "CpuDuration", values.clock_seconds),
    Field("TRESUsageInTot",     DELIVERED, "Memory",     total_memory, _TOTAL),
)
# fmt: on

COLUMNS = tuple(row.column for row in ALLOCATION)

# What only a job that was started can have been given.
USED = frozenset(
    ("Duration", "Memory", "Node", "NodeCount", "Partition", "Processors", "Queue", "Resource",
     "Swap")
)  # fmt: skip

_PRINTED = ("Id", "GlobalId", "Name", "TaskCount", *spec.properties("Job"))


def place_in_output(element: str) -> int:
    """Where a property stands: the id and the names first, then the order of the tables."""
    return _PRINTED.index(element)
