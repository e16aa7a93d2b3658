"""Task groups as processes of one parallel job: an ad for each, of hosts of its own.

The universe ``parallel`` runs the processes of a cluster at the same time, and each of them says
how many hosts it wants and what each of these has to have.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeVar

from sssjob import contradicting_counts, expression
from sssjob.amounts import (
    NOT_OF_ALL,
    OF_EACH_TASK,
    Scope,
    is_given,
    is_of_job,
    longest,
    with_amounts_times,
)
from sssjob.choices import requesting
from sssjob.classads.values import Ad
from sssjob.defaults import (
    COUNTS,
    OVERRIDDEN,
    OVERRIDDEN_BY_ALL,
    SEVERAL,
    counted,
    differing,
    is_of_each,
    lending,
    names_said,
    of_only_group,
)
from sssjob.defaults.overriding import without_overridden
from sssjob.errors import (
    AwarenessPolicy,
    Finding,
    InvalidValue,
    LimitExceeded,
    UnbalancedGroup,
    finding,
)
from sssjob.expression import Comparison
from sssjob.expression.conflicts import conflict
from sssjob.expression.evaluate import stated
from sssjob.expression.offer import (
    ASKED,
    DESCRIPTIONS,
    OTHERWISE,
    SETS,
    is_over,
    outside,
    passed_over,
    without_set_aside,
)
from sssjob.model import (
    Block,
    Delivered,
    Item,
    Job,
    Note,
    Property,
    Requested,
    TaskGroup,
    stripped,
    worked_out,
)
from sssjob.states import has_ended
from sssjob.systems.condor import names
from sssjob.systems.condor.from_ad import ReadJob, to_job
from sssjob.systems.condor.job_ad import (
    Mapped,
    code_of_loss,
    embedded,
    is_by_number,
    own_time,
    to_ad,
)
from sssjob.translate.losses import IGNORE, WARN
from sssjob.translate.requests import binding

B = TypeVar("B", bound=Block)

_IDENTITY = ("Id", "Name")
_NODE, _VARIABLES = "Node", "Environment"
_OF_TASKS = ("TaskCount", "TaskDistribution")
_COUNTED = "its task groups count their tasks"
_OF_A_GROUP = ("TaskCount", *_IDENTITY)
_TITLES = (("Id", names.TASK_GROUP_ID), ("Name", names.TASK_GROUP_NAME))
_UNSAID = ("Task", "TaskDefaults")  # of a group, for which an ad has no place
_TIME = "Duration"  # which is no sum
_AMOUNTS = frozenset((*names.AMOUNTS, "NodeCount", "Resource"))
_SHARED = OF_EACH_TASK | {_TIME}
# What became of a job, which is said of the job alone.
OUTCOME = frozenset((
    "State", "StatusMessage", "StartTime", "EndTime", "ExitCode", "StartCount", "CpuDuration",
    "SuspendDuration",
))  # fmt: skip
_OF_THE_WHOLE = ("User", "Project", "GlobalUser")  # what is delivered to a job and not to its parts
_APART = frozenset((*_OF_A_GROUP, *_AMOUNTS, _TIME, *OUTCOME))  # not said of a job by its groups
_FACTS = sorted(DESCRIPTIONS - SETS)  # of which a host has one
_MOST_ALTERNATIVES = 64
_MOST_WAITING = 10_000  # ads of jobs of which some are missing


# decision 596, 812
@dataclass(frozen=True, slots=True)
class JobOfAd:
    """What one ad is about: a job that says all that it can of the task groups in it.

    ``told`` are attributes by which the ads of a job find each other. What no ad can say of the
    groups is found.
    """

    job: Job
    groups: tuple[TaskGroup, ...] = ()
    told: Mapping[str, str | int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def mapped(
        self, *, number: int | None = None, document: str = "", v1: bool = False
    ) -> Mapped:  # fmt: skip
        """The ad of it, as ``to_ad`` makes that of a job."""
        made = to_ad(self.job, number=number, document=document, v1=v1)
        told = dict(self.told)
        if told.get(names.TASK_GROUPS, 1) != 1:
            told["JobUniverse"] = names.UNIVERSES["parallel"]
            told |= {name: 1 for name in ("MinHosts", "MaxHosts") if name not in made.ad}
            if "ClusterId" in made.ad:
                told["ProcId"] = int(told[names.TASK_GROUP]) - 1
        lost = _not_added(self.job, self.groups, made.ad)
        found = (*made.findings, *self.findings, *lost)
        return replace(made, ad=made.ad.merged(told), findings=found)


def to_ads(job: Job, *, document: str = "", v1: bool = False) -> list[Mapped]:
    """The ads of a job: one, or one for each task group where these are on hosts of their own."""
    groups = job.asking_groups
    every = [
        part.mapped(document="" if number else document, v1=v1)
        for number, part in enumerate(parts(job))
    ]
    taken = [made.number for made in every]
    is_any = len(taken) > 1 and len(Scope(job, "/Job").choices) > 1  # whose choices those are
    if not any(number is not None for number in taken) or len(taken) != len(groups) or is_any:
        return every
    # What a group asks for each of its tasks is that of the tasks in this alternative.
    return [
        part.mapped(number=number, document="" if place else document, v1=v1)
        for place, (part, number) in enumerate(zip(parts(job, taken), taken, strict=True))
    ]


def parts(job: Job, alternatives: Sequence[int | None] = ()) -> list[JobOfAd]:
    """What the ads of a job are about: a task group with hosts of its own each, or all of it.

    A job that says itself what it asks for in all has one ad, in which its groups are added up.
    ``alternatives`` are the numbers of those by which tasks are counted (``Scope.choices``), None
    for the best: one of the job, or one of each of several groups.
    """
    if any(group.properties.all(_VARIABLES) for group in job.asking_groups):
        job = lending(job, _VARIABLES)  # decisions 987, 1096
    groups = tuple(_of_all_tasks(job, alternatives))
    if not groups:
        return [JobOfAd(job)]
    document = job
    lost: list[Finding] = []
    if len(groups) == 1:  # decision 855
        group = _without_outcome(groups[0])
        uncounted = Scope(_with_only_group(job, group), "/Job").uncounted
        lost = [*_not_counted(job, group, uncounted)]
        groups = (_without_uncounted(group, uncounted),)
    else:
        lost = [*_narrowed(job)]
        job, more = _without_tasks_of_whole(job)
        lost += more
        lost += _overruled(job, groups)
        job, useless = without_overridden(job)
        lost += _binding_nobody(job, useless)
    asks = {item.name for item in _asked(job)} & _AMOUNTS
    asks |= {item.name for item in job.properties} & COUNTS if len(groups) > 1 else set()
    if asks or (len(groups) > 1 and "MinHosts" not in to_ad(job).ad):
        part = _added_up(job, groups)
        return [replace(part, findings=(*lost, *part.findings))]
    digest = hashlib.sha256(embedded(document).encode()).hexdigest()[:32]
    own = own_time(job)
    found = []
    for number, group in enumerate(groups, 1):
        told: dict[str, str | int] = {}
        if len(groups) > 1 or any(_is_named(item, _OF_A_GROUP) for item in group.items):
            told = {names.TASK_GROUP: number, names.TASK_GROUPS: len(groups)}
            told |= {names.TASK_GROUPS_OF: digest} if len(groups) > 1 else {}
            told |= {name: text for of, name in _TITLES if (text := group.get(of))}
        findings = (*lost, *_unsaid(job, group, number))
        findings += (*_other_time(job, group, number, own),)
        group = _without(group, (_TIME,)) if own else group
        found.append(JobOfAd(_alone(job, group), (), told, findings))
        lost = []
    return found


# decision 930
def _of_all_tasks(job: Job, alternatives: Sequence[int | None]) -> Iterator[TaskGroup]:
    """The task groups of a job, of which each asks for what its tasks have together, as a job."""
    groups = job.asking_groups
    of_job = alternatives[0] if len(alternatives) == 1 else None
    taken = alternatives if len(alternatives) > 1 else [None] * len(groups)
    whole = Scope(job, "/Job", number=of_job)
    for group, of, number in zip(groups, counted(job).asking_groups, taken, strict=True):
        counting = whole.of_group(of, "/Job/TaskGroup", is_counted=True)
        if number is not None:
            counting.number = number
        asking = group if whole.is_one else _that_can_be_met(whole, group)
        yield with_amounts_times(asking, _tasks(counting))


# decision 1119
def _that_can_be_met(job: Scope, group: TaskGroup) -> TaskGroup:
    """One of several task groups without alternatives that cannot be met, if one is left."""
    scope = job.of_group(group, "/Job/TaskGroup")
    if scope.never_met and len(scope.choices) == 1:
        return requesting(group, scope.choices[0].own)
    return group


def _narrowed(job: Job) -> Iterator[Finding]:
    """What several task groups say outside of a request of which an alternative is left out."""
    whole = Scope(job, "/Job")
    for number, group in enumerate(job.asking_groups, 1):
        yield from _otherwise(group, _that_can_be_met(whole, group), number, job)


def _otherwise(whole: TaskGroup, left: TaskGroup, number: int, job: Job) -> Iterator[Finding]:
    """What a group says outside of its request, and no longer passed over by what is left of it."""
    still = {id(item) for item, _ in passed_over(left)}
    for item, is_another in passed_over(whole) if whole is not left else ():
        if is_another and id(item) not in still and not is_over(job):
            told = f"{_at(item)} of a task group counts for nothing: {OTHERWISE}"
            yield from _lost(item, told, _path(number, item), job, whole)


def _tasks(group: Scope) -> Fraction:
    return max(group.tasks.value, Fraction(1))


# decision 931
def _without_tasks_of_whole(job: Job) -> tuple[Job, list[Finding]]:
    """A job of several groups without what it says of its own tasks, which is of none of them."""
    gone = [item for item in job.properties if item.name in _OF_TASKS]
    findings = [found for item in gone for found in _counts_for_nothing(job, item, _COUNTED)]
    return job.holding(item for item in job.items if not _is_named(item, _OF_TASKS)), findings


def _without_outcome(group: TaskGroup) -> TaskGroup:
    """The only group of a job, which says nothing of what became of it."""
    return group.holding(item for item in group.items if not _is_named(item, OUTCOME))


def _added_up(job: Job, groups: tuple[TaskGroup, ...]) -> JobOfAd:
    """All of a job in one ad, which says of it what its groups say alike, and all they demand.

    Their amounts are added up where the ad is made. What of all this it cannot say is found.
    """
    own: list[Item] = []
    demands: list[Requested] = []
    job, names_apart, findings = _with_names_apart(job)
    job, facts_apart, more = _with_facts_apart(job)
    findings += more
    apart = _AMOUNTS | {_TIME} | ({_NODE} if names_apart else set()) | facts_apart
    common = _common(groups)
    of_job: set[str] | None = None  # by what it compares
    own_time_ = own_time(job) if len(groups) == 1 else 0  # of several each is told where it is read
    if len(groups) == 1:
        only = without_set_aside(groups[0])
        findings += _otherwise(groups[0], only, 1, job)
        groups, job = (only,), _without_overruled(job, only)
        of_job = {expression.key(each) for each in _asked(job)} - _without_amount(job)
        of_job |= {_TIME} if own_time_ else set()
        own += (item for item in groups[0].properties if item.name in COUNTS)
    if not has_ended(job.get):
        findings += _contradictions(job)
    for number, group in enumerate(groups, 1):
        findings += [*_unsaid(job, group, number), *_other_time(job, group, number, own_time_)]
        shared = [
            item for item in group.properties
            if item.name not in _APART and item in common
        ]  # fmt: skip
        own += shared if number == 1 else ()
        findings += _not_of_all(job, group, number, common)
        for block in group.blocks(Requested):
            left, lost = _demanded(job, block, number, apart, of_job)
            demands += [left] if left.items else []
            findings += lost
        beside = [
            item for item in outside(group, job)
            # Resources of the only group are counted, and told, where the ad is made.
            if not (item.name not in _APART and item in common)
            and (of_job is None or item.name != "Resource")
        ]  # fmt: skip
        if not beside:
            continue
        left, lost = _demanded(job, Requested(tuple(beside)), number, apart, of_job)
        # What the ad asks for by a number it demands as well only where Requested does.
        left = left.holding(item for item in left.properties if not is_by_number(item))
        demands += [left] if left.items else []
        findings += lost
    stated_ = {_which(item) for item in own if isinstance(item, Property)}
    kept = [
        _without_request(item) if len(groups) == 1 and type(item) is TaskGroup else item
        for item in job.items if not _is_stated(item, stated_)
    ]  # fmt: skip
    several = groups if len(groups) > 1 else ()  # the request of the only one is that of its job
    return JobOfAd(job.holding((*kept, *own, *demands)), several, {}, tuple(findings))


def _without_request(group: TaskGroup) -> TaskGroup:
    """The only group of a job, whose request is that of its job now; steps are as they were."""
    if group.is_step:
        return group
    left = without_set_aside(group)
    return left.holding(
        item.holding(()) if isinstance(item, Requested) else item for item in left.items
    )


# decision 1083
def _contradictions(job: Job) -> Iterator[Finding]:
    """The counts and names of nodes of each task group that contradict each other."""
    whole = Scope(job, "/Job")
    for each in contradicting_counts.of_sum(whole):
        said = [*job.properties.all(each.name), *job.requested.all(each.name)]
        yield from _lost(said[0], each.why, each.path, job)
    for place, every in contradicting_counts.of_groups(whole):
        inside = job.task_groups[place : place + 1]
        blocks = (*inside, job)
        said = [each for block in blocks for each in (*block.properties, *block.requested)]
        for found in every:
            item = next((each for each in said if each.name == found.name), None)
            path = f"/Job/TaskGroup[{place + 1}]/{found.name}"
            yield from _lost(item or Property(found.name, ""), found.why, path, job, *inside)


# decision 1026
def _not_of_all(
    job: Job, group: TaskGroup, number: int, common: Container[Property]
) -> Iterator[Finding]:
    """What a group says outside of Requested, and neither the ad of its job says nor is asked.

    What is ``common`` to all groups the job says.
    """
    aside = {id(item): is_another for item, is_another in passed_over(group)}
    for item in group.properties:
        if item.name not in _APART and item in common:
            continue
        if aside.get(id(item)) and not is_by_number(item) and not is_over(job):
            told = f"{_at(item)} of a task group counts for nothing: {OTHERWISE}"
            yield from _lost(item, told, _path(number, item), job, group)
        elif not (id(item) in aside or item.name in _APART | ASKED or _has(job, item)):
            yield from _not_said(item, number, job, group)


# decisions 908, 955, 1161
def _not_counted(
    job: Job, group: TaskGroup, uncounted: Mapping[int, str]
) -> Iterator[Finding]:  # fmt: skip
    """What a job says of which its only group says another, and the other way round."""
    theirs = [*group.properties, *group.requested]
    names = of_only_group(names_said(group))
    said = [_saying(each) for each in theirs]
    aside = {id(item) for item, _ in passed_over(job)}
    for item in (*job.properties, *job.requested):
        if (why := uncounted.get(id(item))) is not None and item not in job.properties:
            yield from _counts_for_nothing(job, item, why)
        elif item.name in names and _saying(item) not in said and id(item) not in aside:
            yield from _counts_for_nothing(job, item, OVERRIDDEN)
    for item in theirs:
        if (why := uncounted.get(id(item))) is not None:
            told = f"{_at(item)} of a task group counts for nothing: {why}"
            yield from _lost(item, told, _path(1, item), job, group)
    still = {id(item) for item, _ in passed_over(_without(job, names))}
    for item, is_another in passed_over(job) if not is_over(job) else ():
        if is_another and id(item) not in still:
            yield from _counts_for_nothing(job, item, OTHERWISE)
    yield from _otherwise(group, _without_uncounted(group, uncounted), 1, job)
    yield from _overruled(job, (group,))


def _with_only_group(job: Job, group: TaskGroup) -> Job:
    """A job with its only task group as it is asked for."""
    [asking] = job.asking_groups
    return job.holding(group if item is asking else item for item in job.items)


def _without_uncounted(group: TaskGroup, uncounted: Mapping[int, str]) -> TaskGroup:
    """The only task group of a job without what its job overrules."""
    if not uncounted:
        return group

    def is_kept(part: expression.Expression) -> bool:
        return all(id(found.item) not in uncounted for found in expression.comparisons(part))

    left = group.holding(item for item in group.items if id(item) not in uncounted)
    return _still_aside(group, _asking_for(left, is_kept))


# decisions 987, 1096
def _overruled(job: Job, groups: Sequence[TaskGroup]) -> Iterator[Finding]:
    """What a job says by one name of several, of which each of its groups says another.

    That is a variable, or an Extension.
    """
    why = OVERRIDDEN_BY_ALL if len(groups) > 1 else OVERRIDDEN
    for item in job.properties.all(_VARIABLES):
        every = [differing(item, group.properties.all(_VARIABLES)) for group in groups]
        for name in every[0]:
            if all(name in each for each in every):
                told = f"{name.lstrip('@')} of an Environment counts for nothing: {why}"
                yield from _lost(item, told, f"/Job/{_VARIABLES}/{name}", job)
    of_groups: list[dict[tuple[object, ...], list[Property]]] = [{} for _ in groups]
    for found, group in zip(of_groups, groups, strict=True):
        for each in group.properties.all("Extension"):
            found.setdefault(_which(each), []).append(each)
    for item in job.properties.all("Extension"):
        said = [found.get(_which(item), []) for found in of_groups]
        if all(said) and not any(
            _saying(item) == _saying(each) for every in said for each in every
        ):
            told = f"{_at(item)} of a job counts for nothing: {why}"
            yield from _lost(item, told, f"/Job/{item.name}", job)


# decision 1110
def _binding_nobody(job: Job, useless: Iterable[Property]) -> Iterator[Finding]:
    """What a job requests, and each of its groups demands otherwise: it refuses no ad."""
    for item in useless:
        policy, _ = binding(item, (job,), WARN)
        if code := code_of_loss(policy, True, ended=has_ended(job.get)):
            told = f"{_at(item)} of a job counts for nothing: {OVERRIDDEN_BY_ALL}"
            yield finding(code, told, path=f"/Job/{item.name}", line=item.line)


def _counts_for_nothing(job: Job, item: Property, why: str) -> Iterator[Finding]:
    told = f"{item.name} of a job counts for nothing: {why}"
    return _lost(item, told, f"/Job/{item.name}", job)


def _without_overruled(job: Job, group: TaskGroup) -> Job:
    """A job without that of which what its only group says counts."""
    return _still_aside(job, _without(job, of_only_group(names_said(group))))


# decision 1167
def _still_aside(whole: B, left: B) -> B:
    """What is left of a block with less of its request, without what counted for nothing before."""
    aside = {id(item) for item, _ in passed_over(whole)} - {
        id(item) for item, _ in passed_over(left)
    }
    return left.holding(item for item in left.items if id(item) not in aside) if aside else left


def _asked(job: Job) -> Iterator[Property]:
    """What a job asks for in all, also where it has no categories.

    But for bare counts, which its only group has of it. # decision 908
    """
    yield from job.requested
    bare = _AMOUNTS - COUNTS
    yield from (item for item in job.properties if item.name in bare and is_given(item))


# decision 1202
def _without_amount(job: Job) -> set[str]:
    """The amounts of which a request only excludes some (NE), so that its only group says them."""
    asked = {each.name for each in job.requested} & _SHARED
    own = {each.name for each in job.properties if is_given(each)}
    scope = Scope(job, "/Job")
    return {name for name in asked - own if scope.requested(name) is None}


def _demanded(
    job: Job,
    asked: Requested,
    number: int,
    apart: Container[str],
    of_job: Container[str] | None,
) -> tuple[Requested, list[Finding]]:
    """What a group requests and the one ad of its job can demand as well, and what it cannot.

    What is said ``apart`` of each group is not demanded of all; of the only one it is, but for
    what is said ``of_job``. What the job requests alike is there once. # decision 985
    """
    findings: list[Finding] = []
    of_both = worked_out(job, _parts) if of_job is not None else {}

    def is_kept(part: expression.Expression) -> bool:
        if part in of_both.get(_compared(part), ()):
            return False
        said = [found.item for found in expression.comparisons(part)]
        left = [] if _excludes_node(part) else [
            item for item in said
            if item.name in apart and (of_job is None or expression.key(item) in of_job)
        ]  # fmt: skip
        if len(left) not in (0, len(said)):
            told = "one ad for all task groups cannot ask for one or the other of this"
            for item in left[:1]:
                findings.extend(_refused(item, f"{_at(item)}: {told}", number, job, asked))
        else:
            for item in left:
                findings.extend(_left_out(job, item, number, asked))
        return not left

    try:
        kept = expression.keeping(asked.properties, is_kept)
    except (UnbalancedGroup, InvalidValue, LimitExceeded) as error:
        path = f"/Job/TaskGroup[{number}]/Requested"
        return asked.holding(()), [finding("E-LOSS", f"it cannot be read: {error}", path=path)]
    return asked.holding(kept), findings


def _parts(job: Job) -> dict[tuple[Property, ...], list[expression.Expression]]:
    """What a job requests, part by part, by what these compare.

    What cannot be read is told where the ad is made.
    """
    found: dict[tuple[Property, ...], list[expression.Expression]] = {}
    try:
        for part in expression.parts_of(job):
            found.setdefault(_compared(part), []).append(part)
    except (UnbalancedGroup, InvalidValue, LimitExceeded):
        return {}
    return found


def _compared(part: expression.Expression) -> tuple[Property, ...]:
    return tuple(found.item for found in expression.comparisons(part))


# decision 965
def _with_names_apart(job: Job) -> tuple[Job, bool, list[Finding]]:
    """A job that names no nodes for all of its task groups, where these do not name the same.

    Its groups name those that it names then. With whether what these name is left to them, as it
    is where the job names the same, and what is not asked for.
    """
    named = lending(job, _NODE)
    every = [_nodes_of(group) for group in named.asking_groups]
    are_alike = all(each == every[0] for each in every)
    of_each = _nodes_of(job, worked_out(job, _said_of_all))
    if len(every) < 2 or (are_alike and of_each in ([], every[0])):
        return job, len(every) > 1 and bool(of_each), []
    findings: list[Finding] = []

    def is_kept(part: expression.Expression) -> bool:
        items = [found.item for found in expression.comparisons(part)]
        is_left = _excludes_node(part) or not is_of_each(part)
        names = [] if is_left else [item for item in items if item.name == _NODE]
        for item in names[:1]:
            why = "its task groups name their own"
            of_one = _other_nodes(item, f"/Job/{_NODE}", job)
            findings.extend(_counts_for_nothing(job, item, why) if are_alike else of_one)
        return not names

    return _asking_for(named, is_kept), not are_alike, findings


# decision 1111
def _with_facts_apart(job: Job) -> tuple[Job, frozenset[str], list[Finding]]:
    """A job that says nothing of what its task groups want another of each, and what that is.

    Of an architecture, say, there is one on each host: no host has what all of them demand. With
    what is not asked for.
    """
    apart: set[str] = set()
    if len(job.asking_groups) > 1:
        apart |= {name for name in _FACTS if not _can_be_one(lending(job, name), name)}
    if not apart:
        return job, frozenset(), []
    said = [item for item in (*job.properties, *job.requested) if item.name in apart]
    findings = [found for item in said for found in _of_one(item, f"/Job/{item.name}", job)]
    return _without(job, apart), frozenset(apart), findings


def _can_be_one(job: Job, name: str) -> bool:
    """Whether one host can be all that the task groups of a job demand of a fact."""
    try:
        demanded = expression.all_of(
            part
            for group in job.asking_groups
            for part in expression.conjuncts(stated(group, job))
            if expression.mentions(part) == {name}
        )
        every = expression.alternatives(demanded, _MOST_ALTERNATIVES)
    except (UnbalancedGroup, InvalidValue, LimitExceeded):
        return True  # which is told where the ad is made
    return not every.complete or not every.best or not all(map(conflict, every))


def _asking_for(block: B, is_kept: Callable[[expression.Expression], bool]) -> B:
    """A job or task group that requests no more than what is kept of its request, part by part."""

    def without(item: Item) -> Item:
        if not isinstance(item, Requested):
            return item
        try:
            return item.holding(expression.keeping(item.properties, is_kept))
        except (UnbalancedGroup, InvalidValue, LimitExceeded):
            return item  # which is told where the ad is made

    return block.holding(map(without, block.items))


# decision 1190
def _said_of_all(job: Job) -> frozenset[int]:
    """What a job requests of its task groups together, in parts that lend nothing to each of them.

    By identity. What cannot be read is told where the ad is made.
    """
    try:
        parts = [part for part in expression.parts_of(job) if not is_of_each(part)]
    except (UnbalancedGroup, InvalidValue, LimitExceeded):
        return frozenset()
    return expression.identities(parts)


def _nodes_of(
    group: Job | TaskGroup, of_all: Container[int] = ()
) -> list[tuple[str, Mapping[str, str]]]:  # fmt: skip
    """The nodes that a block demands by name, in whichever category, but ``of_all`` together."""
    every = (*group.properties, *group.requested)
    return [
        (stripped(item.text), item.attributes) for item in every
        if item.name == _NODE and not expression.is_wish(item) and id(item) not in of_all
    ]  # fmt: skip


def _excludes_node(part: expression.Expression) -> bool:
    """Whether nodes are only not to be those that are named, which holds for other groups, too."""
    inner = part.operand if isinstance(part, expression.Not) else part
    if not isinstance(inner, expression.Comparison) or inner.item.name != _NODE:
        return False
    return inner.op == ("EQ" if inner is not part else "NE")


def _other_nodes(item: Property, path: str, job: Job, *inside: Block) -> Iterator[Finding]:
    told = "one ad for all task groups cannot ask for the nodes of one"
    return _lost(item, told, path, job, *inside)


def _of_one(item: Property, path: str, job: Job, *inside: Block) -> Iterator[Finding]:
    told = f"one ad for all task groups cannot ask for {_at(item)} of one"
    return _lost(item, told, path, job, *inside)


def _left_out(job: Job, item: Property, number: int, asked: Requested) -> Iterator[Finding]:
    """What is found of an amount of a group that the ad of its job does not ask for by itself."""
    if item.name == _TIME:
        return  # of which the longest counts: what is said beside is told there
    inside = (job.asking_groups[number - 1], asked)
    same = worked_out(job, _asked_by_key).get(expression.key(item))
    if same:
        # What one of several groups asks for is a part of what their job does, also where it is
        # as much.
        is_part = item.name in _AMOUNTS and len(job.asking_groups) > 1
        if not is_part and any(_says_the_same(each, item) for each in same):
            return
        told = _BESIDE_JOB.format(_at(item))
        yield from _lost(item, told, _path(number, item), job, *inside)
    elif item.name == _NODE:
        yield from _other_nodes(item, _path(number, item), job, *inside)
    elif item.name in _FACTS:
        yield from _of_one(item, _path(number, item), job, *inside)
    elif item.name != "NodeCount" and not names.AMOUNTS.get(item.name, ("",))[0]:
        # What is counted is added up, or told there.
        told = f"one ad for all task groups cannot ask for {_at(item)} of one"
        yield from _refused(item, told, number, job, *inside)


def _asked_by_key(job: Job) -> dict[str, list[Property]]:
    """What a job asks for by what it compares, without what other alternatives alone speak of."""
    chosen = Scope(job, "/Job").chosen
    others = set() if chosen is None else {id(item) for item in job.requested}
    others -= set() if chosen is None else {id(asked.item) for _, asked in chosen.asked}
    found: dict[str, list[Property]] = {}
    for item in _asked(job):
        if id(item) not in others:
            found.setdefault(expression.key(item), []).append(item)
    return found


def _saying(item: Property) -> tuple[str, str, Mapping[str, str]]:
    return item.name, stripped(item.text), item.attributes


# decision 1185
def _says_the_same(one: Property, other: Property) -> bool:
    """Whether two properties ask for the same, in whichever unit."""
    if _saying(one) == _saying(other):
        return True
    if one.name not in OF_EACH_TASK or is_of_job(one) is not is_of_job(other):
        return False
    both = [expression.interval((Comparison(each),), each.name) for each in (one, other)]
    return both[0].bounded and both[0].integers() == both[1].integers()


_BESIDE_JOB = "{} of a task group counts for nothing: its job says what it asks for"


def _not_added(job: Job, groups: Sequence[TaskGroup], ad: Ad) -> Iterator[Finding]:
    """The amounts of groups that are in no way in the ad of their job."""
    for name, (attribute, _, _) in names.AMOUNTS.items():
        every = [[*each.requested.all(name), *each.properties.all(name)] for each in groups]
        silent = sum(all(map(expression.is_wish, items)) for items in every)
        for number, items in enumerate(every, 1):
            if not attribute or not items or attribute in ad:
                continue
            item = min(items, key=expression.is_wish)  # a demand, where there is one
            told = f"one ad for all task groups does not ask for {name} of this one"
            inside = (job, groups[number - 1])
            if not silent or expression.is_wish(item):
                yield from _refused(item, told, number, *inside)
            else:
                told = f"{told}: {NOT_OF_ALL.format(silent, len(groups))}"
                yield from _lost(item, told, _path(number, item), *inside)


# What of a job says which program runs, and how.
_RUNS = ("Arguments", "Environment", "Executable", "InputFile", "InitialWorkingDirectory", "Type")


def _not_said(item: Property, number: int, job: Job, group: TaskGroup) -> Iterator[Finding]:
    told = f"one ad for all task groups does not say {_at(item)} of one"
    if item.name in _RUNS:
        return _refused(item, told, number, job, group)
    return _lost(item, told, _path(number, item), job, group)


# decisions 1050, 1091
def _lost(item: Property, told: str, path: str, job: Job, *inside: Block) -> Iterator[Finding]:
    """What is found of something that is said, and that an ad says nothing of.

    It is as bad as the awarenessPolicy has it that holds there, by the blocks around it.
    """
    policy, is_wish = binding(item, (job, *inside), WARN)
    if code := code_of_loss(policy, is_wish, ended=has_ended(job.get)):
        yield finding(code, told, path=path, line=item.line)


def _refused(item: Property, told: str, number: int, job: Job, *inside: Block) -> Iterator[Finding]:
    """What is found of something without which there is no ad, whatever the policy; but a wish."""
    if expression.is_wish(item):
        yield from _lost(item, told, _path(number, item), job, *inside)
    else:
        yield finding("E-LOSS", told, path=_path(number, item))


def _has(block: Block, item: Property) -> bool:
    return item in worked_out(block, _properties)


def _common(groups: Iterable[TaskGroup]) -> frozenset[Property]:
    """What all groups say alike."""
    return frozenset.intersection(*(worked_out(group, _properties) for group in groups))


def _properties(block: Block) -> frozenset[Property]:
    return frozenset(item for item in block.items if isinstance(item, Property))


def _at(item: Property) -> str:
    """A property by its name, and which one it is of several."""
    name = item.said("name")
    return f"{item.name} {name}" if name else item.name


def _path(number: int, item: Property) -> str:
    return f"/Job/TaskGroup[{number}]/{item.name}"


# decision 1185
def _other_time(job: Job, group: TaskGroup, number: int, own: int) -> Iterator[Finding]:
    """What is found of the time of a group, of which its job says another: ``own`` seconds.

    A longer one is lost.
    """
    time = longest((Scope(group, "/Job/TaskGroup"),)) if own else None
    if time is None or time.value == own or _is_ignored(job, group):
        return
    told, path = _BESIDE_JOB.format(_TIME), f"/Job/TaskGroup[{number}]/{_TIME}"
    [item, *_] = (*group.requested.all(_TIME), *group.properties.all(_TIME))
    if time.value > own:
        yield from _lost(item, told, path, job, group)
    else:
        yield finding("W-USELESS", told, path=path)


# decision 1125
def _is_ignored(job: Job, group: TaskGroup, item: Item | None = None) -> bool:
    """Whether what a task group says may be ignored, by the awarenessPolicy that holds there."""
    policy = WARN
    for each in (job, group, item):
        if each is not None and not isinstance(each, Note):
            policy = AwarenessPolicy.holding(each.attributes.get("awarenessPolicy"), policy)
    return policy == IGNORE


def _unsaid(job: Job, group: TaskGroup, number: int) -> Iterator[Finding]:
    heard = (item for item in group.items if not _is_ignored(job, group, item))
    for name in dict.fromkeys(item.name for item in heard if not isinstance(item, Note)):
        if name in _UNSAID:
            path = f"/Job/TaskGroup[{number}]/{name}"
            told = f"an ad has no place for {name} of a task group"
            yield from _lost(Property(name, ""), told, path, job, group)


def _alone(job: Job, group: TaskGroup) -> Job:
    """A job that has one of its groups only: what this says, it says of its single group."""
    own = [item for item in group.items if not _is_named(item, _IDENTITY)]
    said = {_which(item) for item in own if isinstance(item, Property)}
    bare = _without_overruled(worked_out(job, _without_groups), group)
    return job.holding((*(item for item in bare.items if not _is_stated(item, said)), *own))


def _without_groups(job: Job) -> Job:
    return job.holding(item for item in job.items if not isinstance(item, TaskGroup))


def _without(block: B, among: Container[str]) -> B:
    """A job or task group that says nothing by these names, as far as its request can be read."""

    def is_kept(part: expression.Expression) -> bool:
        return all(found.item.name not in among for found in expression.comparisons(part))

    left = block.holding(item for item in block.items if not _is_named(item, among))
    return _asking_for(left, is_kept)


def _is_stated(item: Item, among: Container[tuple[object, ...]]) -> bool:
    """Whether a property of a job is stated among others, which count then."""
    return isinstance(item, Property) and _which(item) in among


def _which(item: Property) -> tuple[object, ...]:
    """What tells properties of one name apart, of which each counts.

    Where there may be several it is a name, or else all that they say. An Environment of a group
    has the variables of its job by then.
    """
    name, kind = map(item.said, ("name", "type"))
    if item.name in SEVERAL and not name and item.name != _VARIABLES:
        return item.name, stripped(item.text), tuple(sorted(item.attributes.items()))
    return item.name, name, kind


def _is_named(item: Item, among: Container[str]) -> bool:
    return isinstance(item, Property) and item.name in among


class _AdsOfGroups:
    """The ads of the task groups of one job, as far as they have been seen."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.ads: dict[int, Ad] = {}

    def in_order(self) -> list[Ad]:
        return [self.ads[number] for number in sorted(self.ads)]


def gathered(ads: Iterable[tuple[str, Ad]]) -> Iterator[tuple[str, list[Ad]]]:
    """Ads with where they came from, those of the task groups of one job together, in order.

    These may stand anywhere: a history has the newest first, a queue what else runs between them.
    They are one job by their Id, user, and the digest of the job; two that are the same in all of
    it have the same ads, so that it does not matter which of them is whose.
    """
    waiting: dict[tuple[object, ...], list[_AdsOfGroups]] = {}
    held = 0
    for where, ad in ads:
        number, count = ad.get(names.TASK_GROUP), ad.get(names.TASK_GROUPS)
        if (
            type(number) is not int
            or type(count) is not int
            or not 1 <= number <= count
            or count < 2
        ):
            yield where, [ad]
            continue
        key = (*(ad.text(name) for name in (names.JOB_ID, "Owner", names.TASK_GROUPS_OF)), count)
        of_one = waiting.setdefault(key, [])
        parts = next((each for each in of_one if number not in each.ads), None)
        if parts is None:
            parts = _AdsOfGroups(where)
            of_one.append(parts)
        parts.ads[number] = ad
        held += 1
        if len(parts.ads) < count and held < _MOST_WAITING:
            continue
        if len(parts.ads) < count:
            key = next(iter(waiting))  # what waits for longest
            parts = waiting[key][0]
        waiting[key].remove(parts)
        if not waiting[key]:
            del waiting[key]
        held -= len(parts.ads)
        yield parts.where, parts.in_order()
    for of_one in waiting.values():
        yield from ((parts.where, parts.in_order()) for parts in of_one)


def together(ads: list[Ad], *, embedded: bool = True) -> ReadJob:
    """The job of an ad, or of the ads of its task groups.

    What all of them say is said of the job, and what some say of the groups.
    """
    read = [to_job(ad, embedded=embedded) for ad in ads]
    has_document = embedded and bool(ads[0].text(names.DOCUMENT))
    if names.TASK_GROUP not in ads[0] or has_document:
        return read[0]
    findings = list(dict.fromkeys(each for found in read for each in found.findings))
    findings += _missing(ads)
    jobs = [found.job for found in read]
    others = [frozenset(_said(each)) for each in jobs[1:]]
    common = [item for item in _said(jobs[0]) if all(item in every for every in others)]
    if (identity := jobs[0].properties.get("Id")) is not None and identity not in common:
        common.insert(0, identity)
    given = [_whole(each) for each in jobs]
    whose = [item for item in given[0] if all(item in each for each in given)]
    items: list[Item] = [*common, *([Delivered(tuple(whose))] if whose else [])]
    groups = [
        _group(ad, job, {*common, *whose}, many=len(ads) > 1)
        for ad, job in zip(ads, jobs, strict=True)
    ]
    return ReadJob(jobs[0].holding((*items, *groups)), tuple(findings))


def _said(job: Job) -> list[Property]:
    """What an ad says of its job, but for what can be said of a task group alone."""
    return [
        item for item in job.items
        if isinstance(item, Property) and item.name != "TaskCount"
    ]  # fmt: skip


def _whole(job: Job) -> list[Property]:
    return [item for item in job.delivered if item.name in _OF_THE_WHOLE]


def _group(ad: Ad, job: Job, told: set[Property], *, many: bool) -> TaskGroup:
    """A task group, without what is ``told`` of its job."""
    items: list[Item] = [
        Property(name, ad.text(attribute)) for name, attribute in _TITLES if ad.text(attribute)
    ]
    items += (
        item for item in job.items
        if isinstance(item, Property) and item.name != "Id" and item not in told
    )  # fmt: skip
    asked = [item for block in job.blocks(Requested) for item in block.items]
    if many and "NodeCount" not in job.requested.names():
        asked.insert(0, Property("NodeCount", 1))
    if asked:
        items.append(Requested(tuple(asked)))
    found = TaskGroup(tuple(items))
    items = [*with_amounts_times(found, 1 / _tasks(Scope(found, "/Job/TaskGroup"))).items]
    for block in job.blocks(Delivered):
        if rest := [item for item in block.items if item not in told]:
            items.append(Delivered(tuple(rest)))
    for group in job.task_groups:  # of a job that runs: its processes
        items += (item for item in group.items if isinstance(item, Block))
    return TaskGroup(tuple(items))


def _missing(ads: list[Ad]) -> Iterator[Finding]:
    there, count = {ad[names.TASK_GROUP] for ad in ads}, ads[0].get(names.TASK_GROUPS)
    if isinstance(count, int) and len(there) < count:
        told = f"{len(there)} of the {count} task groups of {ads[0].text(names.JOB_ID)!r} are here"
        yield finding("W-COUNTS", told)
