"""The ad of a job as a job object: what was asked, what became of it, and what was used.

>>> ad = Ad({"ClusterId": 7, "Owner": "amy", "JobStatus": 2, "RequestCpus": 8})
>>> job = to_job(ad).job
>>> job.id, job.get("State"), job.requested.text("Processors")
('7.0', 'Running', '8')
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sssjob import expression, units
from sssjob.classads import quoting, writing
from sssjob.classads.needed import references
from sssjob.classads.question import one_question
from sssjob.classads.values import Ad, Node
from sssjob.document import loads
from sssjob.errors import Finding, InvalidValue, UnreadableDocument, finding
from sssjob.mail_addresses import to_uri
from sssjob.model import Block, Delivered, Item, Job, Property, Requested, Task, TaskGroup
from sssjob.records.record import DELIVERED, JOB, KEPT, REQUESTED, Field, Instead
from sssjob.systems.condor import attributes, gpus, names, requirements
from sssjob.systems.condor.accounting import table
from sssjob.systems.condor.accounting.values import CPU_TIMES, told
from sssjob.systems.condor.usage import AdTexts, Wrong, delivered, number
from sssjob.task_counts import CountRange, StatedCounts

if TYPE_CHECKING:
    from sssjob.classads.values import Attribute

_MOST = 60  # letters of a value that are told


@dataclass(frozen=True, slots=True)
class ReadJob:
    """A job, and what was found on the way."""

    job: Job
    findings: tuple[Finding, ...] = ()


@one_question
def to_job(ad: Ad, *, embedded: bool = True) -> ReadJob:
    """The job of an ad.

    An ad that carries its document (SSSJobXML) gives that job back, with what became of it since;
    without ``embedded`` only the attributes count. Expressions are worked out over the ad itself.
    A value that is none of its attribute's kind is kept as an Extension.
    """
    findings: list[Finding] = []
    ad = attributes.with_numbers(ad)
    odd = {name: _odd(name, ad[name], findings) for name in attributes.odd(ad)}
    if odd:
        gone = {*odd, *(other for pair in CPU_TIMES for other in pair if odd.keys() & {*pair})}
        ad = Ad({name: value for name, value in ad.items() if name not in gone}, ad.line)

    remarks: dict[str, Finding] = {}  # of values that are not kept

    def wrong(row: Field, error: InvalidValue) -> None:
        name = next(name for name in (row.column, *row.beside) if name in ad)
        if isinstance(error, Instead) and not error.keeps:
            remarks[name] = finding("W-TYPE", f"{name}: {error}; {error.then}")
        elif name not in odd:
            findings.append(finding("W-TYPE", f"{name}: {error}; {KEPT}"))
            odd[name] = _kept(name, ad[name])

    base = _embedded(ad, findings) if embedded else None
    if base is None and (left := attributes.unsaid(ad)):
        findings.append(finding("W-USELESS", f"no job object says: {', '.join(left)[:_TOLD]}"))
    found = list(_properties(ad, findings, wrong, ours=embedded))
    used = list(delivered(ad, wrong=wrong))
    if base is not None:
        status = [item for place, item in found if place == JOB and item.name in _STATUS]
        job = base.setting(*status)
        if used and not job.blocks(Delivered):
            job = job.holding((*job.items, Delivered(tuple(used))))
        return ReadJob(job, (*findings, *_unless(odd, remarks)))
    items: list[Item] = [item for place, item in found if place == JOB]
    kept: list[Item] = []
    asked = tuple(_requested(ad, kept, findings, wrong))
    items += (*odd.values(), *kept)
    if asked:
        items.append(Requested(asked))
    if given := (*used, *(item for place, item in found if place == DELIVERED)):
        items.append(Delivered(given))
    if (process := number(ad, "JobPid")) is not None:
        host = Property("Node", _host(ad))
        items.append(TaskGroup((Task((host, Property("Process", int(process)))),)))
    return ReadJob(Job(tuple(items)), (*findings, *_unless(odd, remarks)))


def _unless(odd: Container[str], remarks: Mapping[str, Finding]) -> Iterator[Finding]:
    """The remarks about attributes whose values are not kept, which is told."""
    return (told for name, told in remarks.items() if name not in odd)


_TOLD = 400  # letters of names that are told
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


# What is requested is written by expressions as well (``_requested``).
_ROWS = tuple(
    row for row in table.ATTRIBUTES if row.place != REQUESTED and row.column != table.REQUESTS
)
_USED = frozenset(("diskusage", "imagesize", "memoryusage", "residentsetsize"))
_ASKED = tuple(
    row for row in table.ATTRIBUTES if row.place == REQUESTED and row.column != table.REQUESTS
)
_OF_ALL = tuple(row for row in _ROWS if row.element not in table.OF_STARTED)
_ELEMENTS = frozenset(row.element for row in _ROWS)
# What only ads of our own making have, and what records of accounting leave out.
_TEXTS = tuple(row for row in table.TEXTS if row[0] not in _ELEMENTS)
_NUMBERS = tuple(row for row in table.WHOLE_NUMBERS if row[0] not in _ELEMENTS)


def _properties(
    ad: Ad, findings: list[Finding], wrong: Wrong, *, ours: bool
) -> Iterator[tuple[str, Property]]:
    """The properties by the table of accounting, each with where it stands, and some more.

    The Id is ``ours`` where the ad has one; else it is only where the batch system gave none.
    """
    texts = AdTexts.of(ad)
    own = ad.text(names.JOB_ID) if ours or not texts.text("Id") else ""
    if own:
        yield JOB, Property("Id", own)
    for row, item in texts.properties(_ROWS if texts.ran else _OF_ALL, wrong):
        if item.name in _STREAMS:
            yield row.place, _redirected(ad, row.column, item)
        elif not (own and item.name == "Id"):
            yield row.place, item
    for element, name in _TEXTS:
        if text := ad.text(name):
            yield JOB, Property(element, text)
    for element, name in _NUMBERS:
        if (value := number(ad, name)) is not None:
            yield JOB, Property(element, int(value))
    yield from ((JOB, item) for item in _around(ad, findings))


_STREAMS = ("OutputFile", "ErrorFile")


def _redirected(ad: Ad, name: str, item: Property) -> Property:
    """A file of the job, and how it is written."""
    rows = (("Flush", f"Stream{name}", True), ("Keep", f"Transfer{name}", False))
    words = [word for word, flag, meant in rows if ad.get(flag) is meant]
    return Property(item.name, item.text, {"redirectList": ",".join(words)} if words else {})


# decision 390
def _around(ad: Ad, findings: list[Finding]) -> Iterator[Property]:
    """The environment of the job, and who is told of it."""
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
        yield Property("NotificationList", word, {"uri": to_uri(address)} if address else {})


def _is_usage(value: object) -> bool:
    """Whether a request is a function of what the job uses, as condor_submit writes without one."""
    return isinstance(value, Node) and any(each.name.lower() in _USED for each in references(value))


def _requested(
    ad: Ad, items: list[Item], findings: list[Finding], wrong: Wrong
) -> Iterator[Property]:
    """What the Request attributes say, and what of Requirements can be said in a request."""
    texts = AdTexts.of(ad)
    hosts = int(table.hosts_of(texts.text("MinHosts"), texts.text("JobUniverse")))
    asked: list[expression.Expression] = []
    resources: dict[str, int] = {}  # on each host
    of_site = (table.of_site(name) for name in ad if table.is_of_site(name))
    for row, item in texts.properties((*_ASKED, *of_site), wrong):
        name, signs = row.column, item.attributes
        if _is_usage(ad.get(name)):
            continue
        if item.name == "NodeCount" and (most := _most_hosts(ad, hosts)) is not None:
            signs = {"op": "GE"}
            asked.append(expression.Comparison(Property("NodeCount", most, {"op": "LE"})))
        if name == gpus.REQUEST and (kind := _gpu_model(ad, items, findings)):
            signs = {**signs, "type": kind}
        if item.name == "Resource" and (each := number(ad, name)) is not None:
            resources[name[len(table.REQUEST) :].lower()] = int(each)
        total = _total(ad, name, hosts)
        text = item.text if total is None else str(total)
        asked.append(expression.Comparison(Property(item.name, text, signs)))
    held = ad.get(names.REQUIREMENTS)
    if isinstance(held, Node):
        found = requirements.request(held, resources, machines=hosts)
        if found.request is not None:
            told = {each.item.name for each in asked if isinstance(each, expression.Comparison)}
            asked += (
                each for each in expression.conjuncts(found.request) if not _repeats(each, told)
            )
        if found.rest is not None:
            items.append(_extension(names.REQUIREMENTS, found.rest, findings))
    rank = ad.get(names.RANK)
    if isinstance(rank, Node):
        try:
            asked += requirements.wishes(rank)
        except InvalidValue:
            items.append(_extension(names.RANK, rank, findings))
    if asked:
        yield from expression.write(expression.all_of(asked))


def _most_hosts(ad: Ad, hosts: int) -> int | None:
    """The most hosts that a parallel job takes, where these are more than the least."""
    most = number(ad, "MaxHosts")
    return int(most) if most is not None and most > hosts else None


def _total(ad: Ad, name: str, hosts: int) -> int | None:
    """What all hosts together are asked for, where our ad says it, and nobody changed it since."""
    if not name.lower().startswith(table.REQUEST) or (hosts < 2 and name != "RequestCpus"):
        return None
    total, each = ad.get(names.total(name)), ad.get(name)
    if type(total) is not int or type(each) is not int:
        return None
    written = total if name != "RequestCpus" else _with_tasks(ad, total)
    return total if units.rounded_up(written, hosts) == each else None


# decision 1134
def _with_tasks(ad: Ad, processors: int) -> int:
    """As many processors as an ad has where so many are asked for: its tasks may overrule them."""
    tasks = number(ad, names.OWN["TaskCount"])
    if tasks is None:
        return processors
    counts = StatedCounts(int(tasks), processors=CountRange.exactly(processors))
    return counts.overruling or processors


def _gpu_model(ad: Ad, items: list[Item], findings: list[Finding]) -> str:
    """The model of the GPUs that are requested; what else is required of them is kept."""
    held = ad.get(gpus.REQUIRE)
    if not isinstance(held, Node):
        return ""
    kind, exact = gpus.model(writing.expression(held, writing.NEW))
    if kind and not exact:
        told = f"{gpus.REQUIRE} finds {kind} anywhere in a DeviceName, the type is a word of it"
        findings.append(finding("W-TYPE", told))
    if not kind:
        items.append(_extension(gpus.REQUIRE, held, findings))
    return kind


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
    told = f"{kept.text[:_MOST]!r} is no value of {name}; {KEPT}"
    findings.append(finding("W-TYPE", told))
    return kept


def _unreadable(
    ad: Ad, either: tuple[str, str], error: ValueError, findings: list[Finding]
) -> Property:
    """An Extension for a text that is not quoted as it has to be: the first of these that is."""
    name = next(name for name in either if name in ad)
    findings.append(finding("W-TYPE", f"{either[0]}: {error}; {KEPT}"))
    return _kept(name, ad[name])


def _kept(name: str, value: Attribute) -> Property:
    if isinstance(value, str):
        text = value
    elif attributes.finite(value):
        text = told(value)
    else:
        text = writing.attribute(value, writing.NEW)
    return Property("Extension", text, {"type": names.EXTENSION, "name": name})


def _host(ad: Ad) -> str:
    return (ad.text("RemoteHost") or ad.text("LastRemoteHost")).rpartition("@")[2]
