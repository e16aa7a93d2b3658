"""Jobs to CAR 1.2, EMI's Compute Accounting Record: what the accounting of grids demands."""

from __future__ import annotations

from sssjob.accounting.writers.grid import ATTRIBUTES, Site, level, noted
from sssjob.accounting.writers.losses import Taken
from sssjob.accounting.writers.ur import charge, machine, record_identity, status
from sssjob.accounting.writers.xml import Pieces
from sssjob.formats.car import NAMESPACE
from sssjob.model import stripped

CAR = Pieces("urf", any_host=True)  # ARC writes gsiftp://ce.example.org:2811/jobs as a SubmitHost
HEAD = f'<?xml version="1.0" encoding="UTF-8"?>\n<urf:UsageRecords xmlns:urf="{NAMESPACE}">\n'
TAIL = "</urf:UsageRecords>\n"


def record(job: Taken, site: Site, created: int | None = None) -> str:
    """One record; ``created`` is its createTime, in seconds since 1970-01-01T00:00:00Z."""
    identity, global_id = record_identity(job, created, CAR)
    extensions = noted(job)
    name = site.name or extensions.pop("Site", "")
    benchmark = level(job, site)
    # fmt: off
    parts = (
        identity,
        CAR.around("JobIdentity",
            CAR.element("GlobalJobId", global_id)
            + CAR.text(job, "Id", "LocalJobId")
            + "".join(CAR.element("ProcessId", stripped(it.text)) for it in job.all("Process"))),
        CAR.around("UserIdentity",
            CAR.text(job, "GlobalUser", "GlobalUserName")
            + CAR.text(job, "User", "LocalUserId")
            + CAR.text(job, "Group", "LocalGroup")
            + CAR.text(job, "Project", "Group")
            + "".join(
                CAR.element("GroupAttribute", extensions.pop(key), {"type": key})
                for key in ATTRIBUTES if key in extensions)),
        CAR.text(job, "Name", "JobName"),
        charge(CAR, job),
        CAR.element("Status", status(job)),
        CAR.integer(job, "ExitCode", "ExitStatus"),
        CAR.around("Infrastructure", "", {"type": site.infrastructure}),
        CAR.duration(job, "Duration", "WallDuration"),
        CAR.duration(job, "CpuDuration", "CpuDuration", usageType="all"),
        CAR.element("ServiceLevel", benchmark[1], {"type": benchmark[0]}),
        *(CAR.volumes(job, name) for name in ("Memory", "Swap", "Disk", "Network")),
        CAR.duration(job, "SuspendDuration", "TimeDuration", type="suspended"),
        CAR.time(job, "SubmitTime", "TimeInstant", type="ctime"),
        CAR.time(job, "EligibleTime", "TimeInstant", type="etime"),
        CAR.count(job, "NodeCount"),
        CAR.count(job, "Processors", "consumptionRate"),
        CAR.time(job, "StartTime", "StartTime"),
        CAR.time(job, "EndTime", "EndTime"),
        machine(CAR, job, "Machine", "MachineName"),
        CAR.hosts(job),
        CAR.host(site.submit_host, "SubmitHost") if site.submit_host
        else machine(CAR, job, "SubmitHost", "SubmitHost"),
        CAR.text(job, "Queue"),
        CAR.element("Site", name),
    )
    # fmt: on
    return CAR.around("UsageRecord", "".join(parts))
