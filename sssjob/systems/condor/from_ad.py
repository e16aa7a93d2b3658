"""The ad of a job as a job object: what was asked, what became of it, and what was used.

>>> ad = Ad({"ClusterId": 7, "Owner": "amy", "JobStatus": 2, "RequestCpus": 8})
>>> job = to_job(ad).job
>>> job.id, job.get("State"), job.requested.text("Processors")
('7', 'Running', '8')
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sssjob import expression, units
from sssjob.classads import quoting, writing
from sssjob.classads.values import Ad, Node
from sssjob.document import loads
from sssjob.errors import Finding, UnreadableDocument, finding
from sssjob.file_names import literal
from sssjob.model import Block, Delivered, Item, Job, Property, Requested, Task, TaskGroup
from sssjob.systems.condor import attributes, names, requirements
from sssjob.systems.condor.usage import delivered, number

if TYPE_CHECKING:
    from sssjob.classads.values import Attribute

_REMOVED = "removed"
_MOST = 60  # letters of a value that are told


@dataclass(frozen=True, slots=True)
class ReadJob:
    """A job, and what was found on the way."""

    job: Job
    findings: tuple[Finding, ...] = ()


def to_job(ad: Ad, *, embedded: bool = True) -> ReadJob:
    """The job of an ad.

    An ad that carries its document (SSSJobXML) gives that job back, with what became of it since;
    without ``embedded`` only the attributes count. Expressions are worked out over the ad itself.
    A value that is none of its attribute's kind is kept as an Extension.
    """
    findings: list[Finding] = []
    odd = [_odd(name, ad[name], findings) for name in attributes.odd(ad)]
    if odd:
        away = {item.attributes["name"] for item in odd}
        ad = Ad({name: value for name, value in ad.items() if name not in away}, ad.line)
    base = _embedded(ad, findings) if embedded else None
    found = tuple(_properties(ad, findings))
    if base is not None:
        status = [item for item in found if item.name in _STATUS]
        job = base.setting(*status)
        used = tuple(delivered(ad))
        if used and not job.blocks(Delivered):
            job = job.holding((*job.items, Delivered(used)))
        return ReadJob(job, tuple(findings))
    items: list[Item] = [*found, *odd]
    asked = tuple(_requested(ad, items, findings))
    if asked:
        items.append(Requested(asked))
    if used := tuple(delivered(ad)):
        items.append(Delivered(used))
    if (process := number(ad, "JobPid")) is not None:
        host = Property("Node", _host(ad))
        items.append(TaskGroup((Task((host, Property("Process", int(process)))),)))
    return ReadJob(Job(tuple(items)), tuple(findings))


_STATUS = frozenset((
    "State", "Hold", "StatusMessage", "StartTime", "EndTime", "ExitCode", "StartCount",
    "SuspendDuration", "CpuDuration", "GlobalId",
))  # fmt: skip


def _embedded(ad: Ad, findings: list[Finding]) -> Job | None:
    text = ad.text(names.DOCUMENT)
    if not text:
        return None
    try:
        block: Block = loads(text)
    except UnreadableDocument as error:
        findings.append(finding("E-XML", f"{names.DOCUMENT}: {error.finding.message}"))
        return None
    if isinstance(block, Job):
        return block
    findings.append(finding("E-XML", f"{names.DOCUMENT} holds a {block.name}, not a Job"))
    return None


def _properties(ad: Ad, findings: list[Finding]) -> Iterator[Property]:
    yield from _identity(ad)
    for element, name in names.TEXTS:
        text = ad.text(name)
        if text:
            yield Property(element, text)
    if not ad.text("JobBatchName") and (text := ad.text("JobDescription")):
        yield Property("Name", text)
    if not ad.text("AcctGroup") and (text := ad.text("ProjectName")):
        yield Property("Project", text)
    yield from _state(ad)
    for element, name in names.NUMBERS:
        value = number(ad, name)
        if element == "StartTime" and value is None:
            value = number(ad, "JobStartDate")
        if value is None or (element == "EndTime" and not value):
            continue
        if element in ("StartCount", "SuspendDuration") and not value:
            continue
        yield Property(element, int(value))
    if (code := _exit_code(ad)) is not None:
        yield Property("ExitCode", code)
    if (cpu := cpu_seconds(ad)) is not None:
        yield Property("CpuDuration", units.rounded(cpu))
    if ad.text("SubmitHost") or "#" in ad.text("GlobalJobId"):
        submitted = ad.text("GlobalJobId").partition("#")[0]
        yield Property("SubmitHost", ad.text("SubmitHost") or submitted)
    yield from _command(ad, findings)


def _identity(ad: Ad) -> Iterator[Property]:
    cluster, proc = number(ad, "ClusterId"), number(ad, "ProcId")
    if text := ad.text(names.JOB_ID):
        yield Property("Id", text)
    elif cluster is not None:
        yield Property("Id", f"{int(cluster)}" + (f".{int(proc)}" if proc is not None else ""))
    elif text := ad.text("GlobalJobId"):
        yield Property("Id", text)


def _state(ad: Ad) -> Iterator[Property]:
    status = number(ad, "JobStatus")
    state = next((word for code, word, _ in names.STATES if code == status), "")
    if state:
        yield Property("State", state)
    if state == "Hold":
        yield Property("Hold", "User" if number(ad, "HoldReasonCode") == 1 else "System")
    message = {
        3: ad.text("RemoveReason"), 5: ad.text("HoldReason"),
        1: ad.text("ReleaseReason") or ad.text("HoldReason"),
        4: ad.text("ExitReason"),
    }.get(int(status or 0), "")  # fmt: skip
    if status == 3:
        message = f"{_REMOVED}: {message}" if message else _REMOVED
    if message:
        yield Property("StatusMessage", message)


def _exit_code(ad: Ad) -> int | None:
    """The exit code; 128 more than the signal where a signal ended the job."""
    signal, code = number(ad, "ExitSignal"), number(ad, "ExitCode")
    if ad.get("ExitBySignal") is True and signal is not None:
        return 128 + int(signal)
    return None if code is None else int(code)


def cpu_seconds(ad: Ad) -> float | None:
    """User and system time; of all starts where the ad has them, else of the last.

    Less than nothing is not known, as for ``accounting``; nothing is, of a job that was started.
    """
    known = False
    for prefix in ("CumulativeRemote", "Remote"):
        stated = (number(ad, f"{prefix}{kind}Cpu") for kind in ("User", "Sys"))
        found = [value for value in stated if value is not None]
        if any(found):
            return total if (total := sum(found)) >= 0 else None
        known = bool(found)
    return 0.0 if known and number(ad, "NumJobStarts") else None


def _command(ad: Ad, findings: list[Finding]) -> Iterator[Property]:
    try:
        if words := quoting.arguments(ad):
            yield Property("Arguments", shlex.join(words))
    except ValueError as error:
        yield _unreadable(ad, ("Arguments", "Args"), error, findings)
    for element, name in (("InputFile", "In"), ("OutputFile", "Out"), ("ErrorFile", "Err")):
        text = ad.text(name)
        if text and text != names.NULL_DEVICE:
            words = [word for word, flag, meant in (
                ("Flush", f"Stream{name}", True), ("Keep", f"Transfer{name}", False),
            ) if ad.get(flag) is meant and element != "InputFile"]  # fmt: skip
            yield Property(
                element, literal(text), {"redirectList": ",".join(words)} if words else {}
            )
    try:
        variables = quoting.environment(ad)
    except ValueError as error:
        yield _unreadable(ad, ("Environment", "Env"), error, findings)
    else:
        if variables:
            yield Property("Environment", "", {}, (
                Property("Variable", value, {"name": name}) for name, value in variables.items()
            ))  # fmt: skip
    code = number(ad, "JobNotification")
    word = next((word for known, word in names.NOTIFICATIONS if known == code), "")
    if word and code:
        address = ad.text("NotifyUser")
        yield Property("NotificationList", word, {"uri": address} if address else {})


def _requested(ad: Ad, items: list[Item], findings: list[Finding]) -> Iterator[Property]:
    """What the Request attributes say, and what of Requirements can be said in a request."""
    asked: list[expression.Expression] = []
    for element, (name, _, unit) in names.AMOUNTS.items():
        value = number(ad, name) if name else None
        if value is not None and value > 0:
            attributes = {} if unit == 1 else {"units": "MB" if unit == 1 << 20 else "KB"}
            amount = Property(element, units.decimal(Fraction(value)), attributes)
            asked.append(expression.Comparison(amount))
    resources: dict[str, int] = {}
    known = {row[0].lower() for row in names.AMOUNTS.values()}
    for name in ad:
        if name.lower().startswith("request") and name.lower() not in known:
            value = number(ad, name)
            if value:
                resource = Property("Resource", int(value), {"name": name[len("request") :]})
                resources[resource.attributes["name"].lower()] = int(value)
                asked.append(expression.Comparison(resource))
    if (limit := number(ad, "AllowedJobDuration")) is not None:
        asked.append(expression.Comparison(Property("Duration", int(limit))))
    if (low := number(ad, "MinHosts")) is not None and low > 1:
        asked.append(expression.Comparison(Property("NodeCount", int(low))))
    held = ad.get(names.REQUIREMENTS)
    if isinstance(held, Node):
        found = requirements.request(held, resources)
        if found.request is not None:
            told = {each.item.name for each in asked if isinstance(each, expression.Comparison)}
            asked += (
                each for each in expression.conjuncts(found.request) if not _repeats(each, told)
            )
        if found.rest is not None:
            items.append(_extension(names.REQUIREMENTS, found.rest, findings))
    rank = ad.get(names.RANK)
    if isinstance(rank, Node):
        items.append(_extension(names.RANK, rank, findings))
    if asked:
        yield from expression.write(expression.all_of(asked))


def _repeats(asked: expression.Expression, told: set[str]) -> bool:
    """Whether a term demands of the slot what the job requests anyway."""
    amounts = ("Processors", "Memory", "Disk")
    return isinstance(asked, expression.Comparison) and asked.item.name in told & set(amounts)


def _extension(name: str, node: Node, findings: list[Finding]) -> Property:
    text = writing.expression(node, writing.NEW)
    told = f"{name} is kept as an Extension, as far as a request cannot say it"
    findings.append(finding("W-USELESS", told))
    return Property("Extension", text, {"type": names.EXTENSION, "name": name})


def _odd(name: str, value: Attribute, findings: list[Finding]) -> Property:
    """An Extension for a value that is none of its attribute's kind, which is told."""
    kept = _kept(name, value)
    told = f"{kept.text[:_MOST]!r} is no value of {name}; kept as an Extension"
    findings.append(finding("W-TYPE", told))
    return kept


def _unreadable(
    ad: Ad, either: tuple[str, str], error: ValueError, findings: list[Finding]
) -> Property:
    """An Extension for a text that is not quoted as it has to be: the first of these that is."""
    name = next(name for name in either if name in ad)
    findings.append(finding("W-TYPE", f"{either[0]}: {error}; kept as an Extension"))
    return _kept(name, ad[name])


def _kept(name: str, value: Attribute) -> Property:
    text = value if isinstance(value, str) else writing.attribute(value, writing.NEW)
    return Property("Extension", text, {"type": names.EXTENSION, "name": name})


def _host(ad: Ad) -> str:
    return (ad.text("RemoteHost") or ad.text("LastRemoteHost")).rpartition("@")[2]
