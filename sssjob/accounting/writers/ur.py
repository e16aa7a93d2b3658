"""Jobs to OGF Usage Records 1.0 (GFD.98), valid against its schema: order, whole numbers, units."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sssjob.accounting.writers.losses import TakenJob
from sssjob.accounting.writers.parts import JobBatch, RecordPart
from sssjob.accounting.writers.writer import Unfit, WriterOptions
from sssjob.accounting.writers.xml import HOLE, ElementWriter, head, iso
from sssjob.document.text import escaped
from sssjob.formats.ur import NAMESPACE
from sssjob.model import Property, stripped
from sssjob.records.builders import Column, Tagged
from sssjob.states import SIGNAL, Ending, has_ended, how_it_ended, spelled

UR = ElementWriter("urf")
HEAD = head(NAMESPACE)

_DESCRIBED = ("ExitCode", "StatusMessage", "Group", "Partition")


_NO_PLAIN_ID = re.compile(r"[\s&<>\"']")
_IDENTITY = ("Machine", "Id", "SubmitTime", "StartTime")  # what a recordId is made of


def record_identity(pieces: ElementWriter) -> RecordPart:
    """The element RecordIdentity, which every record has."""

    def write(job: TakenJob, options: WriterOptions) -> str:
        global_id = job.peek("GlobalId")
        if not global_id and not job.peek("Id"):
            raise Unfit("no Id")
        made = "/".join("".join(job.peek(name).split()) for name in _IDENTITY if job.peek(name))
        values = {
            "createTime": "" if options.created is None else iso(options.created),
            "recordId": " ".join(global_id.split()) or made,
        }
        return pieces.around("RecordIdentity", "", values)

    def whole(batch: JobBatch) -> Column | None:
        ids = batch.texts("GlobalId")
        if ids is not None and not any(ids):
            told = [batch.texts(name) for name in _IDENTITY]
            if None in told or not all(told[1] or ()):
                return None
            ids = ["/".join(filter(None, row)) for row in zip(*told, strict=True)]
        if ids is None or not all(ids) or _NO_PLAIN_ID.search("".join(ids)):
            return None
        created = "" if batch.options.created is None else iso(batch.options.created)
        values = {"createTime": created, "recordId": HOLE}
        before, behind = pieces.around("RecordIdentity", "", values).split(HOLE)
        return Tagged(before, ids, behind)

    return RecordPart((), write, looks=("GlobalId", *_IDENTITY), whole=whole)


def processes(pieces: ElementWriter) -> RecordPart:
    """The processes of a job."""

    def write(job: TakenJob, _: WriterOptions) -> str:
        found = job.all("Process")
        return "".join(pieces.element("ProcessId", stripped(each.text)) for each in found)

    return RecordPart(("Process",), write)


def charge(pieces: ElementWriter) -> RecordPart:
    """What was charged, in its currency."""

    def write(job: TakenJob, _: WriterOptions) -> str:
        found = job.one("Charge", "units")
        if found is None:
            return ""
        unit = found.attributes.get("units", "")
        return pieces.number(job, found, "Charge", {"unit": " ".join(unit.split())})

    return RecordPart(("Charge",), write)


def status(pieces: ElementWriter) -> RecordPart:
    """The state in the words of GFD.98; one that has ended says how (``states.how_it_ended``)."""

    def write(job: TakenJob, _: WriterOptions) -> str:
        return pieces.element("Status", _status(job))

    return RecordPart(
        ("State",), write, looks=("StatusMessage", "ExitCode", "Extension"), of=_tells_a_status,
        there=("EndTime", "StartTime"),
    )  # fmt: skip


def _tells_a_status(item: Property) -> bool:
    return item.name != "Extension" or item.attributes.get("name") == SIGNAL


def _status(job: TakenJob) -> str:
    state = job.text("State")
    if has_ended(job.peek):
        ending = how_it_ended(job.peek, job.peek("Extension", name=SIGNAL))
        return str(Ending.WELL if ending is Ending.UNSAID else ending)  # no word for "unsaid"
    words = {"Idle": "queued", "Hold": "held", "Running": "started", "Suspended": "suspended"}
    return words.get(spelled(state)) or " ".join(state.lower().split()) or (
        "started" if job.peek("StartTime") else "queued"
    )  # fmt: skip


def machine(pieces: ElementWriter, name: str, as_: str) -> RecordPart:
    """A host by its property."""

    def write(job: TakenJob, _: WriterOptions) -> str:
        text = job.text(name)
        return pieces.host(text, as_) if text else ""

    return RecordPart((name,), write)


def _described(name: str) -> RecordPart:
    def write(job: TakenJob, _: WriterOptions) -> str:
        return UR.element("Resource", job.text(name), {"description": name})

    return RecordPart((name,), write)


_TOLD_BY = ("type", "name")  # the attributes of an Extension


def _extensions(job: TakenJob, _: WriterOptions) -> str:
    return "".join(
        UR.element("Resource", each.text, _description(each.attributes))
        for each in job.all("Extension", *_TOLD_BY)
        if stripped(each.text)
    )


def _many_extensions(texts: Sequence[str], attributes: Mapping[str, str]) -> Column | None:
    if "\r" in "".join(texts) or not all(map(stripped, texts)) or {*attributes} - {*_TOLD_BY}:
        return None
    before, behind = UR.element("Resource", HOLE, _description(attributes)).split(HOLE)
    return Tagged(before, escaped(texts), behind)


def _description(attributes: Mapping[str, str]) -> dict[str, str]:
    return {"description": " ".join(filter(None, map(attributes.get, _TOLD_BY)))}


def _resources(job: TakenJob, _: WriterOptions) -> str:
    found = []
    for each in job.all("Resource", "name", "type", "units"):
        told = filter(None, (each.attributes.get("name"), each.said("type")))
        values = {"units": each.attributes.get("units", ""), "description": " ".join(told)}
        found.append(UR.number(job, each, "ConsumableResource", values))
    return "".join(found)


RECORD = UR.group(
    "JobUsageRecord",
    record_identity(UR),
    UR.group(
        "JobIdentity", UR.text("GlobalId", "GlobalJobId"), UR.text("Id", "LocalJobId"),
        processes(UR),
    ),
    UR.group(
        "UserIdentity", UR.text("User", "LocalUserId"), UR.text("GlobalUser", "GlobalUserName")
    ),
    UR.text("Name", "JobName"),
    charge(UR),
    status(UR),
    *(UR.volumes(name) for name in ("Disk", "Memory", "Swap", "Network")),
    UR.duration("SuspendDuration", "TimeDuration", type="suspended"),
    UR.processor_time(),
    UR.time("SubmitTime", "TimeInstant", type="ctime"),
    UR.time("EligibleTime", "TimeInstant", type="etime"),
    UR.text("QualityOfService", "ServiceLevel"),
    UR.duration("Duration", "WallDuration"),
    UR.duration("CpuDuration", "CpuDuration"),
    UR.count("NodeCount"),
    UR.count("Processors", "consumptionRate"),
    UR.time("EndTime", "EndTime"),
    UR.time("StartTime", "StartTime"),
    machine(UR, "Machine", "MachineName"),
    machine(UR, "SubmitHost", "SubmitHost"),
    UR.text("Queue"),
    UR.text("Project", "ProjectName"),
    UR.hosts(),
    *map(_described, _DESCRIBED),
    RecordPart(("Extension",), _extensions, many=_many_extensions, is_each=True),
    RecordPart(("Resource",), _resources),
)  # fmt: skip
