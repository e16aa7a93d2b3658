"""The starts of a job in its document: each attempt to run it that started something.

One that a slot fetched has the ticket of its attempt, whatever its reports say of when it began;
one of a schedd is known by when it began. They stand in an Extension, ``Starts`` of type HTCondor,
one word for each: ``ticket/at:ran:cpu+``, the ticket if there is one, the moment, the seconds it
ran, the seconds of CPU time, and ``+`` once it has ended. From the second start on each is also a
task group with a Delivered of its own, as steps of jobs are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sssjob import units, usage
from sssjob.classads import evaluate
from sssjob.classads.values import Ad
from sssjob.errors import InvalidValue
from sssjob.fold import JOB, Fact
from sssjob.fold import fold as folded
from sssjob.model import Delivered, Item, Job, Properties, Property, TaskGroup, without
from sssjob.states import goes_on
from sssjob.systems.condor import names

# What of a job is of one of its starts.
_OF_A_START = ("State", "StatusMessage", "StartTime", "EndTime", "ExitCode", "CpuDuration")
_OF_AN_END = ("State", "StatusMessage", "EndTime", "ExitCode")
NAME = "start {}"  # of the task group of one
_UNHEARD = "nothing was heard of its end"


# decision 591
@dataclass(frozen=True, slots=True)
class Start:
    """One start of a job: when (seconds since 1970), and what it used, in seconds."""

    at: int
    ran: int = 0
    cpu: float = 0.0
    ended: bool = False
    ticket: str = ""

    def __str__(self) -> str:
        head = f"{self.ticket}/" if self.ticket else ""
        return f"{head}{self.at}:{self.ran}:{self.cpu:g}{'+' if self.ended else ''}"

    @property
    def key(self) -> str:
        """What it is known by: the Id of its task group."""
        return self.ticket or str(self.at)

    @property
    def order(self) -> tuple[int, int, int, int]:
        """Starts of a job in the order in which they were given away.

        By the number of the job in its queue only where an earlier version did not say when: one
        job has several, of the queues of several machines, and after its document was renamed.
        """
        key, attempt = names.of_ticket(self.ticket) or (0, 0)
        return (names.given_at(attempt), key, attempt, self.at)

    def grown(self, other: Start) -> Start:
        """What both know: the end settles how long it ran, and nothing shrinks."""
        cpu, at = max(self.cpu, other.cpu), min(self.at, other.at)
        if self.ended != other.ended:
            return replace(self if self.ended else other, cpu=cpu, at=at)
        return replace(self, ran=max(self.ran, other.ran), cpu=cpu, at=at)


def of_ad(ad: Ad, moment: int, ended: bool) -> Start:
    """The start that a report tells of; ``moment`` is when it was left, in seconds since 1970."""
    text = ad.text(names.KEY)
    ticket = text if names.of_ticket(text) is not None else ""
    ran = evaluate.number(ad, "JobDuration")
    at = began(ad) or moment - (ran or 0)
    if ran is None:
        ran = max(moment - at - (evaluate.number(ad, "CumulativeSuspensionTime") or 0), 0)
    cpu = sum(evaluate.number(ad, name) or 0 for name in ("RemoteUserCpu", "RemoteSysCpu"))
    return Start(int(at), units.rounded(ran), round(float(cpu), 3), ended, ticket)


def began(ad: Ad) -> int | float | None:
    """When the start began that a report tells of, in seconds since 1970; None is not told.

    Of a job of a schedd its history has what the schedd says; the starter is seconds later.
    # decision 824
    """
    is_fetched = names.of_ticket(ad.text(names.KEY)) is not None
    known = ("JobStartDate", "JobCurrentStartDate")[:: 1 if is_fetched else -1]
    return next(filter(None, (evaluate.number(ad, name) for name in known)), None)


def of_job(job: Job) -> dict[str, Start]:
    """The starts that earlier reports told of, by their keys."""
    item = job.properties.get("Extension", type=names.EXTENSION, name=names.STARTS)
    found = (_read(word) for word in (item.text.split() if item is not None else ()))
    return {each.key: each for each in found if each is not None}


def taken(job: Job) -> str:
    """The ticket of the attempt that a startd took, "" once something was heard of it."""
    item = job.properties.get("Extension", type=names.EXTENSION, name=names.TAKEN)
    return item.text.strip() if item is not None else ""


def mark(name: str, ticket: str) -> Property:
    """The Extension that says of an attempt that a startd took it, or that we held its job then."""
    return Property("Extension", ticket, {"type": names.EXTENSION, "name": name})


# decision 810
def is_overtaken(job: Job, ticket: str) -> bool:
    """Whether a job tells of an attempt that was given away behind this one."""
    return any(is_earlier(ticket, other) for other in tickets(job))


def tickets(job: Job) -> list[str]:
    """The attempts that a job tells of, also those of which nothing was heard."""
    held = job.properties.get("Extension", type=names.EXTENSION, name=names.HELD)
    told = [each.ticket for each in of_job(job).values()]
    return [*told, taken(job), "" if held is None else held.text.strip()]


def is_earlier(ticket: str, other: str) -> bool:
    """Whether an attempt was given away before another; not where one of them is none."""
    if names.of_ticket(ticket) is None or names.of_ticket(other) is None:
        return False
    return Start(0, ticket=ticket).order < Start(0, ticket=other).order


def without_taken(job: Job) -> Job:
    """A job without the mark of an attempt that a startd took."""
    return job.holding(each for each in job.items if not _is_mark(each, names.TAKEN))


def without_marks_behind(job: Job, ticket: str) -> Job:
    """A job without marks of attempts at which its queue gave it away behind another one."""
    key, attempt = names.of_ticket(ticket) or (0, 0)

    def is_behind(item: Item) -> bool:
        if not isinstance(item, Property) or not _is_mark(item, names.TAKEN, names.HELD):
            return False
        found = names.of_ticket(item.text.strip())
        return found is not None and found[0] == key and found[1] > attempt

    return job.holding(each for each in job.items if not is_behind(each))


def _is_mark(item: Item, *of: str) -> bool:
    return (
        isinstance(item, Property) and item.name == "Extension"
        and item.said("type") == names.EXTENSION
        and item.attributes.get("name") in of
    )  # fmt: skip


def _read(word: str) -> Start | None:
    """A start as it is written; None of what somebody wrote by hand."""
    ticket, _, rest = word.rpartition("/")
    parts = rest.removesuffix("+").split(":")
    try:
        start = Start(int(parts[0]), int(parts[1]), float(parts[2]), word.endswith("+"), ticket)
    except (ValueError, IndexError):
        return None
    return start if not ticket or names.of_ticket(ticket) is not None else None


def added(known: Mapping[str, Start], start: Start) -> dict[str, Start]:
    """The starts with what a report tells of one, in their order."""
    found = {**known}
    same = found.pop(start.key, None)
    if same is None and start.ticket:
        # An earlier version wrote down when it began, and no ticket.
        same = found.get(str(start.at))
        if same is not None and not same.ticket and not same.ended:
            del found[same.key]
            same = replace(same, ticket=start.ticket)
        else:
            same = None
    start = start if same is None else same.grown(start)
    found[start.key] = start
    return {each.key: each for each in sorted(found.values(), key=lambda each: each.order)}


def extension(starts: Iterable[Start]) -> Property:
    """The Extension that lists the starts."""
    text = " ".join(map(str, starts))
    return Property("Extension", text, {"type": names.EXTENSION, "name": names.STARTS})


# decision 592
def with_groups(
    before: Job, after: Job, starts: Mapping[str, Start], start: Start, facts: Iterable[Fact],
    *, is_apart: bool = False,
) -> Job:  # fmt: skip
    """A job with a task group for each of its starts, if there are several.

    Or if its only one ``is_apart``: what the job says is of another attempt. ``before`` is the job
    before a report about ``start`` was folded into it, ``facts`` are what that says of the start
    alone.
    """
    groups = _groups(after, starts)
    if len(starts) < 2 and not (groups or is_apart):
        return after
    groups = groups or _groups(apart(before), starts)
    mine = Job(groups[start.key].items) if start.key in groups else _empty(start, after)
    groups[start.key] = TaskGroup(
        folded(mine, facts, overwrite=True).job.items, namespace=after.namespace
    )
    items: list[Item] = [
        item for item in after.items
        if not (isinstance(item, TaskGroup) and is_start(item, starts))
    ]  # fmt: skip
    last = max(starts.values(), key=lambda each: each.order)
    named = (
        _as_it_is(groups[key], each, is_last=each is last).setting(Name=NAME.format(number))
        for number, (key, each) in enumerate(starts.items(), 1)
        if key in groups
    )
    return _evened(after.holding((*items, *named)), starts)


# decision 1007
def _as_it_is(group: TaskGroup, start: Start, *, is_last: bool) -> TaskGroup:
    """The task group of a start; one that a later one followed without an end runs no more.

    Its machine went away, or it was given up as nothing was heard of it. An end may come late.
    """
    if start.ended or is_last:
        is_unheard = group.get("StatusMessage") == _UNHEARD
        return without(group, "StatusMessage") if is_unheard else group
    if not goes_on(group.get("State")):
        return group
    return group.setting(State="Aborted", StatusMessage=_UNHEARD)


# decision 818
def apart(job: Job) -> Job:
    """A job whose only start has a task group: what the job says next is of another attempt."""
    known = of_job(job)
    if len(known) != 1 or _groups(job, known):
        return job
    [start] = known.values()
    # What was delivered so far was delivered to that one.
    return job.holding((*job.items, _first(job, start).setting(Name=NAME.format(1))))


def finished(job: Job) -> list[Start]:
    """The starts that came to their own end, so that the job is done: they have an EndTime."""
    known = of_job(job)
    groups = _groups(job, known)
    return [
        each for key, each in known.items() if each.ended and groups.get(key, job).get("EndTime")
    ]


def without_end(job: Job) -> Job:
    """A job without what the end of a start says of it."""
    return job.holding(
        item for item in job.items
        if not (isinstance(item, Property) and item.name in _OF_AN_END)
    )  # fmt: skip


def _groups(job: Job, starts: Mapping[str, Start]) -> dict[str, TaskGroup]:
    return {each.id: each for each in job.task_groups if is_start(each, starts)}


# decision 638, 665
def _evened(job: Job, starts: Mapping[str, Start]) -> Job:
    """A job whose starts had different amounts, with those that it had on average.

    Readers multiply them by the Duration of the job. Processors are whole, and their ``duration``
    says for how long so many were had, in two parts where one number and whole seconds cannot say
    it; of a Resource there is any part.
    """
    groups = [group.delivered for group in job.task_groups if is_start(group, starts)]
    spans = [(each, each.value("Duration")) for each in groups]
    told = [(each, ran) for each, ran in spans if isinstance(ran, int)]
    return _resources_evened(_processors_evened(job, told), told)


def _processors_evened(job: Job, told: Sequence[tuple[Properties, int]]) -> Job:
    found = [
        (had, ran, _rate(each.get("Processors")))
        for each, ran in told if isinstance(had := each.value("Processors"), int)
    ]  # fmt: skip
    held = job.delivered.all("Processors")
    total = sum(had * ran for had, ran, _ in found)
    seconds = sum(ran for _, ran, _ in found)
    if not total or (len({had for had, *_ in found}) < 2 and len(held) < 2):
        return job
    wall = job.delivered.value("Duration")
    parts = usage.processors(total, wall if isinstance(wall, int) and wall > 0 else seconds)
    if all(rate is not None for *_, rate in found):
        mean = sum(had * ran * (rate or 0) for had, ran, rate in found) / total
        rate = {"consumptionRate": f"{float(mean):.4g}"}
        parts = tuple(Property(each.name, each.text, {**each.attributes, **rate}) for each in parts)
    return _with_processors(job, parts)


def _with_processors(job: Job, parts: Iterable[Property]) -> Job:
    """A job to which these processors were delivered, and no others."""
    block = job.block(Delivered) or Delivered()
    places = [at for at, item in enumerate(block.items) if _is_processors(item)]
    at = places[0] if places else len(block.items)
    rest = [item for item in block.items[at:] if not _is_processors(item)]
    changed = block.holding((*block.items[:at], *parts, *rest))
    return job.holding(changed if item is block else item for item in job.items)


def _is_processors(item: Item) -> bool:
    return isinstance(item, Property) and item.name == "Processors"


def _resources_evened(job: Job, told: Sequence[tuple[Properties, int]]) -> Job:
    held: dict[frozenset[tuple[str, str]], list[tuple[Fraction, int]]] = {}
    for each, ran in told:
        for item in each.all("Resource"):
            number = item.value
            if "metric" not in item.attributes and isinstance(number, (int, Fraction)):
                key = frozenset(item.attributes.items())
                held.setdefault(key, []).append((Fraction(number), ran))
    seconds = sum(ran for _, ran in told)
    for key, found in held.items():
        if seconds and (len(found) < len(told) or len({number for number, _ in found}) > 1):
            mean = sum((number * ran for number, ran in found), Fraction(0)) / seconds
            job = _having(job, Property("Resource", units.decimal(mean), dict(sorted(key))))
    return job


def _having(job: Job, new: Property) -> Job:
    """A job to which a resource was delivered, in place of the one with the same attributes."""
    block = job.block(Delivered) or Delivered()
    is_same = [
        isinstance(item, Property) and (item.name, item.attributes) == (new.name, new.attributes)
        for item in block.items
    ]  # fmt: skip
    items = [new if same else item for item, same in zip(block.items, is_same, strict=True)]
    changed = block.holding(items if any(is_same) else [*items, new])
    return job.holding(changed if item is block else item for item in job.items)


def _rate(item: Property | None) -> Fraction | None:
    """The part of processors that was used on average."""
    text = "" if item is None else item.attributes.get("consumptionRate", "")
    try:
        return units.number(text)
    except InvalidValue:
        return None


def is_start(group: TaskGroup, starts: Mapping[str, Start]) -> bool:
    """Whether a task group is that of a start."""
    return group.id in starts and bool(group.get("Name").startswith(NAME.format("")))


def _empty(start: Start, job: Job) -> Job:
    items = (Property("Id", start.key), Property("Name", ""), Property("TaskCount", 1))
    return Job(items, namespace=job.namespace)


def _first(job: Job, start: Start) -> TaskGroup:
    """The first start of a job, whose own properties are that one's until there is another."""
    items: list[Item] = [*_empty(start, job).items]
    for item in job.items:
        if (isinstance(item, Property) and item.name in _OF_A_START) or isinstance(item, Delivered):
            items.append(item)
    made = TaskGroup(tuple(items), namespace=job.namespace).setting(StartTime=start.at)
    return made.setting(State="Completed") if start.ended else made


def of_start(start: Start) -> list[Fact]:
    """What is known of a start alone, wherever reports of it come in."""
    return [
        Fact(Property("StartTime", start.at), JOB, renews=True),
        Fact(Property("CpuDuration", units.rounded(start.cpu)), JOB, renews=True),
    ]
