"""What becomes of each attribute of an HTCondor job ad: the mapping.

Sizes that the schedd rounds up to a quarter of their magnitude come with the measured ``_RAW``
beside them. An attribute may be an expression: that is no amount, and is left out.
"""

from __future__ import annotations

from sssjob.accounting.assembly import extension, noted
from sssjob.accounting.record import DELIVERED, JOB, REQUESTED, Field, Found, plain, varied
from sssjob.accounting.values import amount, count, number, rounded, seconds
from sssjob.errors import InvalidValue
from sssjob.model import Property

REMOVED, COMPLETED = "3", "4"
ENDED = (REMOVED, COMPLETED)

# fmt: off
STATES = {
    "1": "Idle", "2": "Running", REMOVED: "Completed", COMPLETED: "Completed", "5": "Hold",
    "6": "Running",  # its output is being transferred
    "7": "Suspended",
}
UNIVERSES = {"7": "scheduler", "9": "grid", "11": "parallel", "12": "local", "13": "vm"}
# fmt: on
_ON_THE_SUBMIT_HOST = ("scheduler", "local")  # such jobs use no slot


@varied
def job_id(cluster: str, process: str, everywhere: str) -> Found:
    """``cluster.process``; a text without them has at least the id that holds everywhere."""
    return f"{cluster}.{process or 0}" if cluster else everywhere or None


def first(old: str, new: str) -> Found:
    """The newer way to write a thing, or else the older one."""
    return new or old or None


@varied
def time(*texts: str) -> Found:
    """The first time that is known; 0 is none."""
    for text in texts:
        if text and number(text) > 0:
            return str(int(number(text)))
    return None


@varied
def end(completed: str, entered: str, status: str) -> Found:
    """When the job was completed; one that was removed has only entered that status."""
    return time(completed, entered) if status in ENDED else None


def state(status: str, removed: str, held: str) -> Found:
    """The state, and why a job was removed or is held."""
    if not status:
        return None
    word = STATES.get(status)
    if word is None:
        raise InvalidValue(status, "a JobStatus from 1 to 7")
    found = [Property("State", word)]
    if word == "Hold":
        found.append(Property("Hold", "System"))
    message = {REMOVED: removed or "removed", "5": held}.get(status, "")
    return tuple(found + [Property("StatusMessage", message)] * bool(message))


def exit_code(text: str, by_signal: str) -> Found:
    """The exit code of a job that ended by itself."""
    return str(int(number(text))) if text and by_signal != "true" else None


def signal(text: str, by_signal: str) -> Found:
    """The signal of a job that one ended; without ``by_signal`` it is that of an earlier run."""
    return (noted("HTCondor", "Signal", text),) if text and by_signal == "true" else None


@varied
def duration(
    wall: str, suspended: str, committed: str, paused: str, user: str, starts: str
) -> Found:
    """The seconds in which the job ran, those of all its runs, less those of suspension.

    Where only the CPU time of the last run is known, it is the time of that run.
    """
    if not user and committed and number(committed) > 0 and starts and number(starts) > 1:
        wall, suspended = committed, paused
    if not wall:
        return None
    value = number(wall) - number(suspended or "0")
    return str(rounded(value)) if value >= 0 else None


@varied
def cpu(user: str, system: str, last_user: str, last_system: str) -> Found:
    """CPU seconds of the user and the system: of all runs, or else of the last."""
    both = (user, system) if user else (last_user, last_system)
    return str(rounded(sum(number(text) for text in both if text))) if any(both) else None


def processors(provisioned: str, requested: str, hosts: str, universe: str) -> Found:
    """How many were given, or asked for as a number; a parallel job has as many on each host."""
    if UNIVERSES.get(universe) in _ON_THE_SUBMIT_HOST and not provisioned:
        return None
    each = provisioned or requested
    if not each or (found := number(each)) <= 0:
        return None
    if UNIVERSES.get(universe) == "parallel" and hosts and number(hosts) > 1:
        found *= number(hosts)
    return str(rounded(found))


@varied
def kilobytes(measured: str, rounded_up: str) -> Found:
    """A size in KB: the measured one, where it is there."""
    text = measured or rounded_up
    return amount(text) if text else None


def node(last: str, several: str) -> Found:
    """The node of ``slot1_3@node``; of a parallel job all of them, each once."""
    names = tuple(dict.fromkeys(name.rpartition("@")[2] for name in (several or last).split(",")))
    if len(names) > 1:
        return (Property("Node", ",".join(names), {"aggregation": "List"}),)
    return names[0] or None


def project(group: str, both: str, user: str) -> Found:
    """The accounting group, which older ads have together with the user: ``group.user``."""
    if group:
        return group
    return both.removesuffix(f".{user}") if "." in both else None


def universe(text: str) -> Found:
    """The universe, where it is not the usual one."""
    return UNIVERSES.get(text)


def gpus(text: str) -> Found:
    """A number of GPUs."""
    found = count(text)
    return (Property("Resource", found, {"name": "GPU"}),) if found else None


_PEAK = {"metric": "Max", "units": "KB"}
_OTHER_ID = ("ProcId", "GlobalJobId")
_OTHER_END = ("EnteredCurrentStatus", "JobStatus")
_RESIDENT = ("ResidentSetSize",)
_REASONS = ("RemoveReason", "HoldReason")
_SUSPENDED, _USER_CPU = "CumulativeSuspensionTime", "CumulativeRemoteUserCpu"
_OTHER_CPU = ("CumulativeRemoteSysCpu", "RemoteUserCpu", "RemoteSysCpu")
_OTHER_CPUS = ("RequestCpus", "MaxHosts", "JobUniverse")
_OTHER_WALL = (_SUSPENDED, "CommittedTime", "CommittedSuspensionTime", _USER_CPU, "NumJobStarts")
_UNIVERSE = extension("HTCondor", "JobUniverse")
_OLDER_GROUP = ("AccountingGroup", "AcctGroupUser")

# fmt: off
ATTRIBUTES: tuple[Field, ...] = (
    Field("ClusterId",              JOB,       "Id",           job_id, {}, _OTHER_ID),
    Field("GlobalJobId",            JOB,       "GlobalId"),
    Field("JobBatchName",           JOB,       "Name"),
    Field("JobStatus",              JOB,       "State",        state, {}, _REASONS),
    Field("QDate",                  JOB,       "SubmitTime",   time),
    Field("JobCurrentStartDate",    JOB,       "StartTime",    time, {}, ("JobStartDate",)),
    Field("CompletionDate",         JOB,       "EndTime",      end, {}, _OTHER_END),
    Field(_SUSPENDED,               JOB,       "SuspendDuration", seconds),
    Field(_USER_CPU,                JOB,       "CpuDuration",  cpu, {}, _OTHER_CPU),
    Field("ExitCode",               JOB,       "ExitCode",     exit_code, {}, ("ExitBySignal",)),
    Field("ExitSignal",             JOB,       "Extension",    signal, {}, ("ExitBySignal",)),
    Field("NumJobStarts",           JOB,       "StartCount",   count),
    Field("JobPrio",                JOB,       "Priority"),
    Field("Iwd",                    JOB,       "InitialWorkingDirectory"),
    Field("Cmd",                    JOB,       "Executable"),
    Field("Args",                   JOB,       "Arguments",    first, {}, ("Arguments",)),
    Field("In",                     JOB,       "InputFile"),
    Field("Out",                    JOB,       "OutputFile"),
    Field("Err",                    JOB,       "ErrorFile"),
    Field("JobUniverse",            JOB,       "Extension",    universe, _UNIVERSE),
    Field("x509UserProxyVOName",    JOB,       "Extension",    plain, extension("VOMS", "VO")),
    Field("x509UserProxyFirstFQAN", JOB,       "Extension",    plain, extension("VOMS", "FQAN")),
    Field("RequestCpus",            REQUESTED, "Processors",   count),
    Field("RequestMemory",          REQUESTED, "Memory",       amount, {"units": "MB"}),
    Field("RequestDisk",            REQUESTED, "Disk",         amount, {"units": "KB"}),
    Field("RequestGPUs",            REQUESTED, "Resource",     gpus),
    Field("Owner",                  DELIVERED, "User"),
    Field("AcctGroup",              DELIVERED, "Project",      project, {}, _OLDER_GROUP),
    Field("x509userproxysubject",   DELIVERED, "GlobalUser"),
)
# What only a job that was started can have.
OF_STARTED = frozenset(("CpuDuration", "StartTime", "StartCount", "SuspendDuration"))
USED: tuple[Field, ...] = (
    Field("RemoteWallClockTime",    DELIVERED, "Duration",     duration, {}, _OTHER_WALL),
    Field("CpusProvisioned",        DELIVERED, "Processors",   processors, {}, _OTHER_CPUS),
    Field("ResidentSetSize_RAW",    DELIVERED, "Memory",       kilobytes, _PEAK, _RESIDENT),
    Field("ImageSize_RAW",          DELIVERED, "Swap",         kilobytes, _PEAK, ("ImageSize",)),
    Field("DiskUsage_RAW",          DELIVERED, "Disk",         kilobytes, _PEAK, ("DiskUsage",)),
    Field("GPUsProvisioned",        DELIVERED, "Resource",     gpus),
    Field("LastRemoteHost",         DELIVERED, "Node",         node, {}, ("RemoteHosts",)),
)
# fmt: on

NAMES = tuple(
    dict.fromkeys(name for row in (*ATTRIBUTES, *USED) for name in (row.column, *row.beside))
)
