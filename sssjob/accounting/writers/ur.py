"""Jobs to OGF Usage Records 1.0 (GFD.98), valid against its schema: order, whole numbers, units."""

from __future__ import annotations

from sssjob.accounting.writers.losses import Taken
from sssjob.accounting.writers.writer import Unfit
from sssjob.accounting.writers.xml import Pieces, iso
from sssjob.formats.ur import NAMESPACE
from sssjob.model import stripped

UR = Pieces("urf")
HEAD = f'<?xml version="1.0" encoding="UTF-8"?>\n<urf:UsageRecords xmlns:urf="{NAMESPACE}">\n'
TAIL = "</urf:UsageRecords>\n"

# What batch systems say of jobs that did not end by themselves, and of those that went wrong.
_ABORTED = ("ABORT", "CANCEL", "DEADLINE", "NODE_FAIL", "PREEMPTED", "REMOVED", "TIMEOUT")
_FAILED = ("BOOT_FAIL", "FAIL", "OUT_OF_MEMORY")
_DESCRIBED = ("ExitCode", "StatusMessage", "Group", "Partition")


def record(job: Taken, created: int | None = None) -> str:
    """One record; ``created`` is its createTime, in seconds since 1970-01-01T00:00:00Z."""
    identity = record_identity(job, created)
    # fmt: off
    parts = (
        identity[0],
        UR.around("JobIdentity",
            UR.element("GlobalJobId", identity[1])
            + UR.text(job, "Id", "LocalJobId")
            + "".join(UR.element("ProcessId", stripped(each.text)) for each in job.all("Process"))),
        UR.around("UserIdentity",
            UR.text(job, "User", "LocalUserId") + UR.text(job, "GlobalUser", "GlobalUserName")),
        UR.text(job, "Name", "JobName"),
        charge(UR, job),
        UR.element("Status", status(job)),
        *(UR.volumes(job, name) for name in ("Disk", "Memory", "Swap", "Network")),
        UR.duration(job, "SuspendDuration", "TimeDuration", type="suspended"),
        UR.time(job, "SubmitTime", "TimeInstant", type="ctime"),
        UR.time(job, "EligibleTime", "TimeInstant", type="etime"),
        UR.text(job, "QualityOfService", "ServiceLevel"),
        UR.duration(job, "Duration", "WallDuration"),
        UR.duration(job, "CpuDuration", "CpuDuration"),
        UR.count(job, "NodeCount"),
        UR.count(job, "Processors", "consumptionRate"),
        UR.time(job, "EndTime", "EndTime"),
        UR.time(job, "StartTime", "StartTime"),
        machine(UR, job, "Machine", "MachineName"),
        machine(UR, job, "SubmitHost", "SubmitHost"),
        UR.text(job, "Queue"),
        UR.text(job, "Project", "ProjectName"),
        UR.hosts(job),
        *(UR.element("Resource", job.text(name), {"description": name}) for name in _DESCRIBED),
        *_extensions(job),
        *_resources(job),
    )
    # fmt: on
    return UR.around("JobUsageRecord", "".join(parts))


def record_identity(job: Taken, created: int | None, pieces: Pieces = UR) -> tuple[str, str]:
    """The element RecordIdentity, and the GlobalId that it may be made of. Raises ``Unfit``."""
    global_id = job.text("GlobalId")
    if not global_id and not job.peek("Id"):
        raise Unfit("no Id")
    names = ("Machine", "Id", "SubmitTime", "StartTime")
    made = "/".join("".join(job.peek(name).split()) for name in names if job.peek(name))
    values = {
        "createTime": "" if created is None else iso(created),
        "recordId": " ".join(global_id.split()) or made,
    }
    return pieces.around("RecordIdentity", "", values), global_id


def charge(pieces: Pieces, job: Taken) -> str:
    """What was charged, in its currency."""
    found = job.one("Charge", "units")
    if found is None:
        return ""
    unit = found.attributes.get("units", "")
    return pieces.number(job, found, "Charge", {"unit": " ".join(unit.split())})


def status(job: Taken) -> str:
    """The state in the words of GFD.98: a job that ended with a code other than 0 has failed."""
    state = job.text("State")
    if state == "Completed" or (not state and job.peek("EndTime")):
        said = job.peek("StatusMessage").upper()
        if said.startswith(_ABORTED):
            return "aborted"
        went_well = not said.startswith(_FAILED) and job.peek("ExitCode").strip("0") == ""
        return "completed" if went_well else "failed"
    known = {"Idle": "queued", "Hold": "held", "Running": "started", "Suspended": "suspended"}
    return known.get(state) or " ".join(state.lower().split()) or (
        "started" if job.peek("StartTime") else "queued"
    )  # fmt: skip


def machine(pieces: Pieces, job: Taken, name: str, as_: str) -> str:
    """A host by its property."""
    text = job.text(name)
    return pieces.host(text, as_) if text else ""


def _extensions(job: Taken) -> list[str]:
    return [
        UR.element("Resource", each.text, {
            "description": " ".join(
                filter(None, (each.attributes.get("type"), each.attributes.get("name")))
            ),
        })
        for each in job.all("Extension", "type", "name")
        if stripped(each.text)
    ]  # fmt: skip


def _resources(job: Taken) -> list[str]:
    found = []
    for each in job.all("Resource", "name", "type", "units"):
        told = filter(None, (each.attributes.get("name"), each.attributes.get("type")))
        values = {"units": each.attributes.get("units", ""), "description": " ".join(told)}
        found.append(UR.number(job, each, "ConsumableResource", values))
    return found
