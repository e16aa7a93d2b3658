"""Jobs to CAR 1.2, EMI's Compute Accounting Record: what the accounting of grids demands."""

from __future__ import annotations

from sssjob.accounting.writers.grid import (
    ATTRIBUTES,
    infrastructure,
    is_level,
    is_noted,
    level,
    noted,
)
from sssjob.accounting.writers.losses import TakenJob
from sssjob.accounting.writers.parts import RecordPart
from sssjob.accounting.writers.ur import charge, machine, processes, record_identity, status
from sssjob.accounting.writers.writer import WriterOptions
from sssjob.accounting.writers.xml import ElementWriter, head
from sssjob.formats.car import NAMESPACE

CAR = ElementWriter(
    "urf", any_host=True
)  # ARC writes gsiftp://ce.example.org:2811/jobs as a SubmitHost
HEAD = head(NAMESPACE)


_NOTED = ("Extension",)  # by which grids are told what is no property


def _attributes(job: TakenJob, _: WriterOptions) -> str:
    said = noted(job)
    return "".join(
        CAR.element("GroupAttribute", said[key], {"type": key}) for key in ATTRIBUTES if key in said
    )


def _infrastructure(job: TakenJob, options: WriterOptions) -> str:
    kind, described = infrastructure(job, options.site)
    return CAR.around("Infrastructure", "", {"type": kind, "description": described})


def _service_level(job: TakenJob, options: WriterOptions) -> str:
    kind, figure = level(job, options.site)
    return CAR.element("ServiceLevel", figure, {"type": kind})


def _submit_host(job: TakenJob, options: WriterOptions) -> str:
    if options.site.submit_host:
        return CAR.host(options.site.submit_host, "SubmitHost")
    return _MACHINE.write(job, options)


def _site(job: TakenJob, options: WriterOptions) -> str:
    return CAR.element("Site", noted(job).get("Site") or options.site.name)


_MACHINE = machine(CAR, "SubmitHost", "SubmitHost")
RECORD = CAR.group(
    "UsageRecord",
    record_identity(CAR),
    CAR.group(
        "JobIdentity", CAR.text("GlobalId", "GlobalJobId"), CAR.text("Id", "LocalJobId"),
        processes(CAR),
    ),
    CAR.group(
        "UserIdentity",
        CAR.text("GlobalUser", "GlobalUserName"),
        CAR.text("User", "LocalUserId"),
        CAR.text("Group", "LocalGroup"),
        CAR.text("Project", "Group"),
        RecordPart(_NOTED, _attributes, of=is_noted),
    ),
    CAR.text("Name", "JobName"),
    charge(CAR),
    status(CAR),
    CAR.integer("ExitCode", "ExitStatus"),
    RecordPart((), _infrastructure, looks=_NOTED, of=is_noted),
    CAR.duration("Duration", "WallDuration"),
    CAR.duration("CpuDuration", "CpuDuration", usageType="all"),
    RecordPart(("Resource",), _service_level, of=is_level),
    *(CAR.volumes(name) for name in ("Memory", "Swap", "Disk", "Network")),
    CAR.duration("SuspendDuration", "TimeDuration", type="suspended"),
    CAR.processor_time(),
    CAR.time("SubmitTime", "TimeInstant", type="ctime"),
    CAR.time("EligibleTime", "TimeInstant", type="etime"),
    CAR.count("NodeCount"),
    CAR.count("Processors", "consumptionRate"),
    CAR.time("StartTime", "StartTime"),
    CAR.time("EndTime", "EndTime"),
    machine(CAR, "Machine", "MachineName"),
    CAR.hosts(),
    RecordPart(("SubmitHost",), _submit_host),
    CAR.text("Queue"),
    RecordPart((), _site, looks=_NOTED, of=is_noted),
)  # fmt: skip
