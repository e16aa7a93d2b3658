"""What becomes of each column of sacct: the mapping, laid beside ``sacct --helpformat``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain

from sssjob.model import Property
from sssjob.records.clock import time
from sssjob.records.layout import NEVER
from sssjob.records.readers import only_queue, queues, single
from sssjob.records.record import (
    COMPARED,
    DELIVERED,
    JOB,
    NOWHERE,
    REQUESTED,
    Field,
    Found,
    plain,
    varied,
)
from sssjob.systems.slurm.accounting import values
from sssjob.systems.slurm.accounting.readers import (
    COUNTS,
    allocated,
    allocated_nodes,
    allocated_processors,
    as_given,
    as_long,
    constraints,
    derived,
    devices,
    energy,
    exit_code,
    features,
    flagged_memory,
    flagged_per_unit,
    generic,
    global_id,
    licenses,
    listed_megabytes,
    nodes,
    noted,
    opened_file,
    other_licenses,
    raw_id,
    requested_memory,
    reservation,
    reservations,
    restarts,
    signal,
    state,
    too_long,
    total_memory,
    worded,
)


def read_with_others(text: str) -> Found:
    """A column that is read with others, see ``slurm_steps``."""
    return None


@varied
def _as_they_are(items: tuple[Property, ...]) -> Found:
    return items


# Columns that are worked out for jobs and steps: how far each is, and whether it has run to its
# end; the time of submission in seconds; the last part of a step's id; what is summed over steps,
# and the texts of which nothing could be summed.
PROGRESS, OVER, SUBMITTED, STEP_ID = "(progress)", "(over)", "(submitted)", "(step)"
CPU, MEMORY, MEAN_MEMORY, SWAP, MEAN_SWAP, NOT_SUMMED = SUMS = (
    "(cpu)", "(memory)", "(mean memory)", "(swap)", "(mean swap)", "(not summed)"
)  # fmt: skip
SPAN = "(span)"  # of a job that has no better column, from its start to its end
OF_JOBS = (PROGRESS, OVER, SUBMITTED, SPAN, *SUMS)
OF_STEPS = (PROGRESS, OVER, STEP_ID)


_MAX = {"metric": "Max", "units": "KB"}
_AVERAGE = {"metric": "Average", "units": "KB"}
_TOTAL = {"metric": "Total", "units": "KB"}

# fmt: off
# A job, in the order of ``sacct --helpformat``. Of two columns for one property the later
# counts: it is the exacter one.
_OF_FILES = ("JobID", "JobIDRaw", "JobName", "User")
ALLOCATION: tuple[Field, ...] = (
    Field("State",              JOB,       "Extension",  plain, noted("State")),
    Field(SPAN,                 DELIVERED, "Duration",   values.integer),
    Field("AllocTRES",          DELIVERED, "Processors", allocated_processors),
    Field("AllocTRES",          DELIVERED, "NodeCount",  allocated_nodes),
    Field("Account",            DELIVERED, "Project"),
    Field("AdminComment",       JOB,       "Extension",  plain, noted("AdminComment")),
    Field("AllocCPUS",          DELIVERED, "Processors", values.count),
    Field("AllocGRES",          DELIVERED, "Resource",   generic),
    Field("AllocNodes",         DELIVERED, "NodeCount",  values.count),
    Field("AllocTRES",          DELIVERED, "Resource",   allocated),
    Field("AllocTRES",          COMPARED,  "Extension",  as_given, noted("AllocTRES")),
    Field("AssocID",            NOWHERE),
    Field("AveCPU",             NOWHERE),
    Field("AveCPUFreq",         NOWHERE),
    Field("AveDiskRead",        NOWHERE),
    Field("AveDiskWrite",       NOWHERE),
    Field("AvePages",           NOWHERE),
    Field("AveRSS",             DELIVERED, "Memory",     read_with_others, _AVERAGE),
    Field("AveVMSize",          DELIVERED, "Swap",       read_with_others, _AVERAGE),
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
    Field("CPUTimeRAW",         COMPARED,  "Extension",  as_long, noted("CPUTimeRAW")),
    Field("DBIndex",            NOWHERE),
    Field("DerivedExitCode",    JOB,       "Extension",  derived, noted("DerivedExitCode")),
    Field("Elapsed",            DELIVERED, "Duration",   values.clock_seconds),
    Field("ElapsedRaw",         DELIVERED, "Duration",   values.integer),
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
    Field("Licenses",           JOB,       "Extension",  other_licenses, noted("Licenses")),
    Field("MaxDiskRead",        NOWHERE),
    Field("MaxDiskReadNode",    NOWHERE),
    Field("MaxDiskReadTask",    NOWHERE),
    Field("MaxDiskWrite",       NOWHERE),
    Field("MaxDiskWriteNode",   NOWHERE),
    Field("MaxDiskWriteTask",   NOWHERE),
    Field("MaxPages",           NOWHERE),
    Field("MaxPagesNode",       NOWHERE),
    Field("MaxPagesTask",       NOWHERE),
    Field("MaxRSS",             DELIVERED, "Memory",     read_with_others, _MAX),
    Field("MaxRSSNode",         NOWHERE),
    Field("MaxRSSTask",         NOWHERE),
    Field("MaxVMSize",          DELIVERED, "Swap",       read_with_others, _MAX),
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
    Field("Planned",            JOB,       "Extension",  worded, noted("Planned")),
    Field("PlannedCPU",         NOWHERE),
    Field("PlannedCPURAW",      NOWHERE),
    Field("Priority",           JOB,       "Priority",   values.integer),
    Field("QOS",                DELIVERED, "QualityOfService"),
    Field("QOSRAW",             NOWHERE),
    Field("QOSREQ",             REQUESTED, "QualityOfService", worded),
    Field("Reason",             JOB,       "Extension",  worded, noted("Reason")),
    Field("ReqCPUFreq",         NOWHERE),
    Field("ReqCPUFreqGov",      NOWHERE),
    Field("ReqCPUFreqMax",      NOWHERE),
    Field("ReqCPUFreqMin",      NOWHERE),
    Field("ReqTRES",            REQUESTED, "Processors", allocated_processors),
    Field("ReqTRES",            REQUESTED, "NodeCount",  allocated_nodes),
    Field("ReqTRES",            REQUESTED, "Memory",     listed_megabytes, {"units": "MB"}),
    Field("ReqCPUS",            REQUESTED, "Processors", values.count),
    Field("ReqGRES",            REQUESTED, "Resource",   generic),
    Field("ReqMem",             REQUESTED, "Memory",     flagged_memory, {"units": "MB"},
          beside=COUNTS),
    Field("ReqMem",             JOB,       "Extension",  flagged_per_unit, noted("ReqMem")),
    Field("ReqNodes",           REQUESTED, "NodeCount",  values.count),
    Field("ReqTRES",            REQUESTED, "Resource",   devices),
    Field("Reservation",        REQUESTED, "Reservation", reservation),
    Field("Reservation",        JOB,       "Extension",  reservations, noted("Reservation")),
    Field("ReservationId",      NOWHERE),
    Field("Reserved",           JOB,       "Extension",  worded, noted("Reserved")),
    Field("ResvCPU",            NOWHERE),
    Field("ResvCPURAW",         NOWHERE),
    Field("Restarts",           JOB,       "StartCount", restarts),
    Field("SLUID",              JOB,       "Extension",  worded, noted("SLUID")),
    Field("Start",              JOB,       "StartTime",  time),
    Field("State",              JOB,       "State",      state, beside=("Reason", PROGRESS)),
    Field("StdErr",             JOB,       "ErrorFile",  opened_file, beside=_OF_FILES),
    Field("StdIn",              JOB,       "InputFile",  opened_file, beside=_OF_FILES),
    Field("StdOut",             JOB,       "OutputFile", opened_file, beside=_OF_FILES),
    Field("Submit",             JOB,       "SubmitTime", time),
    Field("SubmitLine",         JOB,       "Extension",  plain, noted("SubmitLine")),
    Field("Suspended",          JOB,       "SuspendDuration", values.clock_seconds),
    Field("SystemComment",      JOB,       "Extension",  plain, noted("SystemComment")),
    Field("SystemCPU",          JOB,       "CpuDuration", read_with_others),
    Field("Timelimit",          REQUESTED, "Duration",   values.limit_seconds, {"op": "LE"}),
    Field("TimelimitRaw",       REQUESTED, "Duration",   values.limit_seconds, {"op": "LE"}),
    Field("TotalCPU",           JOB,       "CpuDuration", read_with_others),
    *(Field(f"TRESUsage{way}{what}", NOWHERE)
      for way in ("In", "Out")
      for what in ("Ave", "Max", "MaxNode", "MaxTask", "Min", "MinNode", "MinTask", "Tot")),
    Field("UID",                NOWHERE),
    Field("User",               DELIVERED, "User"),
    Field("UserCPU",            JOB,       "CpuDuration", read_with_others),
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
    Field(NOT_SUMMED,           JOB,       "Extension",  _as_they_are),
)

# A step, which becomes a TaskGroup of its job.
STEP: tuple[Field, ...] = (
    Field("AllocCPUS",          DELIVERED, "Processors", values.count),
    Field("AllocNodes",         DELIVERED, "NodeCount",  values.count),
    Field("AllocTRES",          DELIVERED, "Resource",   allocated),
    Field("AveRSS",             DELIVERED, "Memory",     values.kibibytes, _AVERAGE),
    Field("AveVMSize",          DELIVERED, "Swap",       values.kibibytes, _AVERAGE),
    Field("Elapsed",            DELIVERED, "Duration",   values.clock_seconds),
    Field("ElapsedRaw",         DELIVERED, "Duration",   values.integer),
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
    Field("State",              JOB,       "State",      state, beside=("Reason", PROGRESS)),
    Field("TotalCPU",           JOB,       "CpuDuration", values.clock_seconds),
    Field("TRESUsageInTot",     DELIVERED, "Memory",     total_memory, _TOTAL),
    Field("ExitCode",           JOB,       "Extension",  signal, noted("Signal")),
)
# fmt: on

COLUMNS = tuple(dict.fromkeys(row.column for row in ALLOCATION if row.column not in OF_JOBS))

_KNOWN = frozenset(COLUMNS)

# What is worked out of columns for a job and its steps together, and why others are not kept.
# fmt: off
WORKED_OUT = {
    CPU: ("TotalCPU", "UserCPU", "SystemCPU"), MEMORY: ("MaxRSS",), MEAN_MEMORY: ("AveRSS",),
    SWAP: ("MaxVMSize",), MEAN_SWAP: ("AveVMSize",),
}
NOT_KEPT = {
    **dict.fromkeys(("AssocID", "DBIndex", "GID", "QOSRAW", "ReservationId", "UID", "WCKeyID"),
                    "a number of the database or of the host; the name is kept"),
    **dict.fromkeys(("CPUTime", "CPUTimeRAW", "PlannedCPU", "PlannedCPURAW", "ResvCPU",
                     "ResvCPURAW"), "processors times a time: not what was used"),
    **dict.fromkeys(("AveCPU", "MinCPU", "MinCPUNode", "MinCPUTask"),
                    "CPU time of one task; that of all is kept"),
    **dict.fromkeys(("AveCPUFreq", "ReqCPUFreq", "ReqCPUFreqGov", "ReqCPUFreqMax", "ReqCPUFreqMin"),
                    "a frequency of processors, for which there is no property"),
    **dict.fromkeys(("AveDiskRead", "AveDiskWrite", "MaxDiskRead", "MaxDiskReadNode",
                     "MaxDiskReadTask", "MaxDiskWrite", "MaxDiskWriteNode", "MaxDiskWriteTask"),
                    "what one task read or wrote, for which there is no property"),
    **dict.fromkeys(("AvePages", "MaxPages", "MaxPagesNode", "MaxPagesTask"),
                    "page faults of one task, for which there is no property"),
    **dict.fromkeys(("MaxRSSNode", "MaxRSSTask", "MaxVMSizeNode", "MaxVMSizeTask"),
                    "where a task had the most; how much it was is kept"),
    **dict.fromkeys((f"TRESUsage{way}{what}" for way in ("In", "Out") for what in
                     ("Ave", "Max", "MaxNode", "MaxTask", "Min", "MinNode", "MinTask", "Tot")),
                    "lists that the other columns are made of; of a step, mem of TRESUsageInTot "
                    "is Memory metric=\"Total\""),
    "BlockID": "of Blue Gene, which is gone", "Flags": "how the scheduler worked",
    "Layout": "how tasks of a step are laid out", "NTasks": "of a step, where it is TaskCount",
}
# fmt: on

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
    Field("Partition", JOB, "Queue", only_queue),
    Field("Partition", REQUESTED, "Queue", queues),
)  # fmt: skip


def rows(names: Sequence[str]) -> Iterator[Field]:
    """The rows for jobs with these columns, those that never started, or steps.

    A column that no version has is an Extension of the job.
    """
    if names[-1] == STEP_ID:
        return chosen(STEP, names)
    others = (
        Field(name, JOB, "Extension", plain, noted(name))
        for name in dict.fromkeys(names)
        if _other(name)
    )
    return chain(chosen(WAITING if names[-1] == NEVER else ALLOCATION, names), others)


def rows_of_opened(names: Sequence[str]) -> Iterator[Field]:
    """The same, of who names files as Slurm opens them."""
    return map(opened_already, rows(names))


def opened_already(row: Field) -> Field:
    """A row whose file has the name that Slurm opens."""
    return row._replace(read=plain, beside=()) if row.read is opened_file else row


def _other(name: str) -> bool:
    return name != "" and name[0] != "(" and name not in _KNOWN


def chosen(rows: Iterable[Field], columns: Collection[str]) -> Iterator[Field]:
    """The rows for the columns that there are; of two that tell the same, the later."""
    found: dict[tuple[object, ...], Field] = {}
    measured = tuple(name for name in _MEASURED if name in columns)
    for row in rows:
        if row.column in columns and row.read is not read_with_others:
            if row.read is allocated:
                row = row._replace(beside=measured)
            elif row.read in (requested_memory, flagged_memory):
                row = row._replace(beside=COUNTS)
            elif row.place == COMPARED:
                others = _SECONDS if row.read is as_long else _NODES
                row = row._replace(beside=tuple(_there(names, columns) for names in others))
            found[_identity(row)] = row
    return iter(found.values())


# What tells energy; where it does not, AllocTRES may.
_MEASURED = ("ConsumedEnergy", "ConsumedEnergyRaw")

# What processor seconds, and resources that were given, are held against.
_CPUS = ("NCPUS", "AllocCPUS")
_SECONDS = (("ElapsedRaw", "Elapsed"), _CPUS)
_NODES = (_CPUS, ("NNodes", "AllocNodes"))


def _there(names: tuple[str, ...], columns: Collection[str]) -> str:
    """The first of some columns that there is."""
    return next((name for name in names if name in columns), names[0])


def _identity(row: Field) -> tuple[object, ...]:
    """What makes two columns tell the same property, so that one of them is enough."""
    shared = (
        row.element in ("Id", "Processors", "NodeCount", "Duration") or "metric" in row.attributes
    )
    shared = shared or row.column.startswith("ConsumedEnergy")
    shared = shared or (row.place, row.element) == (REQUESTED, "Memory")
    column = "" if shared else row.column
    return (row.place, column, row.element, *row.attributes.values())
