"""Entries of lrmsinfo as job objects, and job objects as entries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from sssjob import defaults, query, units
from sssjob.amounts import UNKNOWN as UNREADABLE
from sssjob.amounts import Amount, Scope
from sssjob.check.awareness import LAYOUT, Operation, understood
from sssjob.defaults import counted
from sssjob.document import bridge, clean
from sssjob.errors import AwarenessPolicy, Finding, InheritedTooMuch, InvalidValue, unheard
from sssjob.integers import limit_seconds
from sssjob.lcginfo.snapshot import (
    BY_WORD,
    DONE,
    PENDING,
    QUEUED,
    RUNNING,
    UNKNOWN,
    QueuedJob,
    Remark,
    Report,
    Snapshot,
    unread,
)
from sssjob.model import Block, Delivered, Item, Job, JobGroup, Properties, Property, Requested
from sssjob.records.record import DELIVERED, JOB, REQUESTED
from sssjob.states import OVER, competes, has_ended, spelled
from sssjob.store import Store

# The first word of each state, the other way round.
WRITTEN = {state: word for word, state in reversed(BY_WORD.items())}
SUBMITTED = ("SubmitTime", "StagedTime", "EligibleTime")
GROUPS = ("Group", "Project", "User")
_WHOSE = frozenset((*GROUPS, "Queue"))
_COUNTED = frozenset(("Duration", "NodeCount", "Processors"))
# All that ``from_job`` looks at, by its place.
READ = {
    JOB: _WHOSE | _COUNTED | {
        "Id", "Name", "State", "Hold", "StatusMessage", *SUBMITTED, "StartTime", "EndTime",
        "Priority",
        "ExitCode", "ResourceLimit", "TaskCount", "TaskDistribution",
    },
    REQUESTED: _WHOSE | _COUNTED,
    DELIVERED: _WHOSE | _COUNTED,
}  # fmt: skip
_QUEUE = Operation(
    "queue", (LAYOUT.blocks or frozenset()) | {DELIVERED},
    (LAYOUT.properties or frozenset()).union(*READ.values()),
)  # fmt: skip


def to_jobs(snapshot: Snapshot, shift: float = 0.0, report: Report = unheard) -> Iterator[Job]:
    """The entries as job objects, with ``shift`` seconds added to times.

    lrmsinfo counts from any zero point, so ``clock - now`` is what makes times of its times.
    """
    for number, entry in enumerate(snapshot.jobs, 1):
        yield to_job(entry, shift, report, number)


def to_job(entry: QueuedJob, shift: float = 0.0, report: Report = unheard, number: int = 0) -> Job:
    """One entry as a job object; a time before 1970 is reported and left out.

    A job object needs an Id: an entry without one is named by its number.
    """
    state = WRITTEN.get(entry.state, "")
    if not state:
        report(Remark(number, f"job {entry.jobid!r}: state {entry.state!r} has no name in SSS"))
    times = {"SubmitTime": entry.qtime, "StartTime": entry.start}
    moved = {name: units.rounded(time + shift) for name, time in times.items() if time is not None}
    for name in [name for name, time in moved.items() if time < 0]:
        report(Remark(number, f"job {entry.jobid!r}: {name} is before 1970"))
        del moved[name]
    # fmt: off
    items: list[Item] = [
        Property(name, clean(value) if isinstance(value, str) else value)
        for name, value in (
            ("Id",    entry.jobid.strip() or f"entry-{number}"),
            ("Name",  entry.name),
            ("User",  entry.user),
            ("Group", entry.group),
            ("Queue", entry.queue),
            ("State", state),
            ("Hold",  "System" if entry.state == PENDING else ""),
            *moved.items(),
            ("Priority", _whole(entry.priority)),
        )
        if value != ""
    ]
    # fmt: on
    requested = [Property("Processors", entry.cpucount)]
    if entry.maxwalltime is not None:
        requested.append(Property("Duration", limit_seconds(entry.maxwalltime)))
    items.append(Requested(tuple(requested)))
    if entry.walltime is not None:
        items.append(Delivered((Property("Duration", units.rounded(entry.walltime)),)))
    return Job(tuple(items))


def _whole(number: float | None) -> int | str:
    """A number as the standard has it, "" for one that is not whole: Grid Engine has such."""
    return int(number) if number is not None and float(number).is_integer() else ""


def from_blocks(
    blocks: Iterable[Block], *, queue: str = "", report: Report = unheard
) -> Iterator[QueuedJob]:
    """The jobs of documents as entries; a group gives those of its jobs.

    ``queue`` is that of jobs that name none; without it they are reported and left out.
    """
    for block in blocks:
        for job, policy in effective_jobs(block, report):
            if entry := from_document(job, around=policy, queue=queue, report=report):
                yield entry


def effective_jobs(block: Block, report: Report = unheard) -> Iterator[tuple[Job, AwarenessPolicy]]:
    """The jobs of a block, whose defaults are resolved, with the awarenessPolicy around each.

    Where jobs inherit too much that is reported, and there are none.
    """
    try:
        effective = defaults.resolve(block).block
    except InheritedTooMuch as error:
        report(unread(error))
        return
    policy = AwarenessPolicy.REJECT
    if isinstance(effective, JobGroup):
        policy = AwarenessPolicy.at(effective.attributes, policy)
    for job in effective.jobs if isinstance(effective, JobGroup) else (effective,):
        if type(job) is Job:
            yield job, policy


def from_store(
    jobs: Store, *, since: int, queue: str = "", report: Report = unheard
) -> Iterator[QueuedJob]:
    """The jobs of a store that have not ended, or ended at ``since`` or later, as entries.

    ``since`` is in seconds since 1970-01-01T00:00:00Z; ``queue`` as in ``from_blocks``. Raises
    ``UnusableStore``.
    """
    # The store leaves out most of what ended before; ``has_ended`` knows the rest, too.
    over = " or ".join(f"State = '{state}'" for state in sorted(OVER))
    former = f"EndTime < {since} and (not(State) or {over})"
    for match in jobs.run(query.compile(f"//Job[Id][not({former})]"), effective=True):
        job = bridge.from_tree(match.found)
        assert isinstance(job, Job)
        if has_ended(job.get) and not _ended_since(job, since):
            continue
        if entry := from_document(job, queue=queue, report=report):
            yield entry


# decision 1153
def from_document(
    job: Job, *, around: AwarenessPolicy = AwarenessPolicy.REJECT, queue: str = "",
    report: Report = unheard,
) -> QueuedJob | None:  # fmt: skip
    """One job object that somebody wrote as an entry, without what of it is not understood.

    That is told, whether it would be rejected or not: the job stands in the queue already.
    ``around`` is the awarenessPolicy around the job.
    """
    known = understood(job, _QUEUE, around=around)
    for found in known.findings():
        report(Remark(found.line or job.line, f"job {job.id!r}: {found.message}"))
    return from_job(known.block, queue=queue, report=report)


def _ended_since(job: Job, since: int) -> bool:
    end = _number(job.properties, ("EndTime",), lambda message: None)
    return end is not None and end >= since


def from_job(
    job: Job, *, queue: str = "", groups: Sequence[str] = GROUPS, group: str = "",
    report: Report = unheard,
) -> QueuedJob | None:  # fmt: skip
    """One job object whose defaults are resolved as an entry, or None without queue or group.

    The group is the first of the properties ``groups`` that the job has, else ``group``.
    """

    def tell(message: str) -> None:
        report(Remark(job.line, f"job {job.id!r}: {message}"))

    def heard(finding: Finding) -> None:
        tell(finding.message)

    scope = Scope(job, "/Job", heard)
    places = (scope.own, scope.given, scope.request)
    at = _said(places, ("Queue",)) or queue
    group = _said(places, groups) or group
    if not at or not group:
        missing = (
            f"{', '.join(groups[:-1])} or {groups[-1]}".removeprefix(" or ") if at else "Queue"
        )
        other = next((name for name in GROUPS if at and _said(places, (name,))), "")
        hint = f"; its {other} could stand for that" if other else ""
        tell(f"no {missing}, so nobody could count it{hint}")
        return None
    state = _state(job)
    start = _number(scope.own, ("StartTime",), tell)
    started = state in (RUNNING, DONE)
    limit = _usable(scope.requested("Duration")) or scope.limit("Duration")
    elapsed = scope.delivered("Duration")
    processors = math.ceil(_processors(scope, started=started))
    if processors < 1 and not started:
        tell("it asks for no processors, and counts as one that asks for one")
    return QueuedJob(
        at,
        group,
        state,
        job.id,
        _said(places, ("User",)),
        job.get("Name"),
        _number(scope.own, SUBMITTED, tell),
        start if started else None,
        None if limit is None else float(limit.value),
        max(processors, 1),
        None if elapsed is None else float(elapsed.value),
        _number(scope.own, ("Priority",), tell),
    )


def _state(job: Job) -> str:
    """The state by name, or else by the times that are there; ``UNKNOWN`` of an unknown name."""
    said = job.get("State")
    if (word := spelled(said)) in BY_WORD:
        state = BY_WORD[word]
        return PENDING if state == QUEUED and not _competes(job) else state
    if has_ended(job.get):
        return DONE
    if said:
        return UNKNOWN
    return RUNNING if "StartTime" in job.properties.names() else QUEUED


def _competes(job: Job) -> bool:
    """Whether a job that waits would start if there were a slot for it."""
    if "Hold" in job.properties.names():
        return False

    def extension(name: str) -> str:
        found = job.properties.get("Extension", name=name)
        return found.text if found else ""

    return competes(job.get("StatusMessage"), extension)


def _said(places: Iterable[Properties], names: Iterable[str]) -> str:
    """The first of these properties that has a text, in the first of these places."""
    for name in names:
        for place in places:
            if text := place.text(name):
                return text
    return ""


def _number(own: Properties, names: Iterable[str], tell: Callable[[str], None]) -> float | None:
    for name in names:
        try:
            value = own.value(name)
        except InvalidValue as error:
            tell(f"{name}: {error}")
            continue
        if isinstance(value, int):
            return float(value)
    return None


def _processors(scope: Scope, *, started: bool) -> float:
    """How many processors a job has or asks for: stated, or those of its task groups."""
    block = scope.block
    assert isinstance(block, Job)
    groups = [
        scope.of_group(group, "/Job/TaskGroup", scope.report, is_counted=True)
        for group in counted(block).task_groups
    ]
    asking = groups[0] if len(groups) == len(block.asking_groups) == 1 else scope
    given = scope.delivered("Processors") or scope.dedicated("Processors")
    asked = _usable(asking.processors(least=not started)) or asking.own_processors()
    if (stated := given or asked) is not None:
        return float(stated.value)
    return sum(_of_group(group, started=started) for group in groups or [scope])


def _of_group(scope: Scope, *, started: bool) -> float:
    found = _usable(scope.processors_in_all(least=not started)) or scope.processors_of_tasks()
    return float(found.value)


def _usable(amount: Amount | None) -> Amount | None:
    return None if amount is None or amount.basis == UNREADABLE else amount
