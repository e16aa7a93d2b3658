"""What holds for a job: JobDefaults, TaskGroupDefaults and TaskDefaults resolved (SSS 4 to 7).

A job goes over the JobDefaults beside it, a task group over the TaskGroupDefaults of its job
and those over the ones in JobDefaults, and so on for tasks. The result holds no defaults
elements, and resolving it again changes nothing.

>>> from sssjob.model import Job, JobDefaults, JobGroup
>>> group = JobGroup((JobDefaults.of(User="keith", Project="P"), Job.of(Id="b", User="amy")))
>>> [(item.name, item.text) for item in resolve(group).block.jobs[0].properties]
[('Id', 'b'), ('User', 'amy'), ('Project', 'P')]
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sssjob import expression
from sssjob.defaults.entries import OWN, Origin, SourcedValue
from sssjob.defaults.resolver import Env, Resolver
from sssjob.errors import Finding, InvalidValue, LimitExceeded, UnbalancedGroup, of_kind, one_of
from sssjob.expression.offer import ALL_NEEDED, asked_outside, without_set_aside
from sssjob.model import (
    Block,
    Delivered,
    Item,
    Job,
    JobGroup,
    Note,
    Property,
    Requested,
    TaskGroup,
    TaskGroupDefaults,
    has_only_group,
)

__all__ = [
    "COUNTS",
    "LAID_OUT",
    "OVERRIDDEN",
    "OVERRIDDEN_BY_ALL",
    "OWN",
    "SEVERAL",
    "Env",
    "Origin",
    "Resolved",
    "SourcedValue",
    "counted",
    "differing",
    "has_only_group",
    "is_of_each",
    "lending",
    "lent",
    "names_said",
    "of_only_group",
    "overridden",
    "resolve",
    "scope",
    "together",
    "without_said",
]

# fmt: off
# What a job says of each of its task groups, and what it says of all of them together.
DESCRIPTIVE = frozenset((
    "Application", "Architecture", "Arguments", "Environment", "ErrorFile", "Executable",
    "Feature", "InitialWorkingDirectory", "InputFile", "NetworkAdapter", "Node",
    "OperatingSystem", "OutputFile", "ResourceLimit", "Shell",
))
QUANTITIES = frozenset((
    "Charge", "CpuDuration", "Disk", "Duration", "Memory", "Network", "NodeCount", "Processors",
    "Resource", "Swap", "TaskCount", "TaskDistribution",
))
# fmt: on
COUNTS = frozenset(("NodeCount", "Processors", "TaskCount", "TaskDistribution"))
LAID_OUT = COUNTS | {"Node"}  # what a layout is made of
# What a job and its only task group say of different things, of which all counts.
SEVERAL = frozenset(("Dependency", "Environment", "Extension", "Feature", "Hold", "Resource"))
_OF_ALL_TASKS = QUANTITIES - COUNTS - {"Network"} | {"ResourceLimit"}
_OF_A_GROUP = frozenset(("Id", "Name"))
_JOINING = frozenset(("conj", "group"))  # without which each part is one comparison
OVERRIDDEN = "its only task group says another"  # of what a job says, and that counts for nothing
OVERRIDDEN_BY_ALL = "each of its task groups says another"
_OF_ITS_JOB = "its job says another"


@dataclass(frozen=True, slots=True)
class Resolved:
    """A block with its defaults applied, and what is worth knowing about them."""

    block: Block
    findings: tuple[Finding, ...]
    original: Block = field(repr=False)
    env: Env = "merge"

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Where every effective property comes from, in document order; worked out when asked."""
        origins: list[Origin] = []
        Resolver(self.env, origins.append).block(self.original)
        return tuple(origins)


def resolve(block: Block, *, env: Env = "merge") -> Resolved:
    """Apply the defaults in a job group, job or task group to what it holds.

    Variables of an Environment are merged one by one; with ``env="replace"`` an Environment
    overrides the default one as a whole. A Requested element that cannot be read is a finding,
    and stays as it was written, so that whoever reads the request meets it. Raises
    ``LimitExceeded`` where what is inherited is many times what the document says.
    """
    of_kind(block, Block, "a job object")
    one_of(env, Env, "what becomes of an Environment")
    resolver = Resolver(env)
    return Resolved(resolver.block(block), tuple(resolver.findings), block, env)


def scope(block: Block, *, env: Env = "merge") -> Block:
    """The effective block, where task groups also have what their job says of each of them.

    The standard does not make a job the defaults of its task groups: what describes (an
    executable, a feature) reaches a group that lacks it, an amount only the single group of a
    job, or it would be asked for several times.
    """
    effective = resolve(block, env=env).block
    if isinstance(effective, JobGroup):
        jobs = (_with_lent(item, env) if type(item) is Job else item for item in effective.items)
        return effective.holding(jobs)
    return _with_lent(effective, env) if type(effective) is Job else effective


# decision 908
def counted(job: Job) -> Job:
    """A job whose defaults are applied, with the counts that its only task group has of it.

    These are how many tasks, nodes and processors there are, and nothing else. Task groups that
    report what they were delivered are steps of a job that ran, and have their own.
    """
    if not job.task_groups or not has_only_group(job):
        return job
    said = {item.name for item in (*job.properties, *job.requested)}
    ran = any(group.blocks(Delivered) for group in job.task_groups)
    return job if ran or said.isdisjoint(COUNTS) else _given(job, COUNTS, "merge")


def lending(job: Job, name: str) -> Job:
    """A job whose defaults are applied, with task groups that have what it says by a name itself.

    So does each group that says nothing by it, and of variables each that says others.
    """
    said = {item.name for item in (*job.properties, *job.requested)}
    return _given(job, frozenset((name,)), "merge") if name in said else job


# decision 955
def of_only_group(said: Iterable[str]) -> frozenset[str]:
    """By which of these names what the only task group of a job says counts, and not its job.

    It is more exact, as what a block says is beside its defaults. It is no amount, of which a job
    speaks of all its tasks, nothing that names the group or belongs to it alone, and nothing of
    which there may be several, as then all counts.
    """
    return frozenset(said) - _OF_ALL_TASKS - SEVERAL - _OF_A_GROUP


# decision 1154
def names_said(block: Block) -> frozenset[str]:
    """The names by which a block says something, but as a wish alone: that replaces nothing."""
    asked = (item.name for item in block.requested if not expression.is_wish(item))
    return frozenset((*block.properties.names(), *asked))


# decision 987
def differing(own: Property, theirs: Iterable[Property]) -> dict[str, str]:
    """What an Environment of a job says of which its only group says another: ``@export``, too."""
    said = {name: value for each in theirs for name, value in _variables(each).items()}
    mine = _variables(own).items()
    return {name: value for name, value in mine if said.get(name, value) != value}


def without_said(own: Property, theirs: Iterable[Property]) -> Property:
    """An Environment of a job without that of which its only group says something."""
    said = {name for each in theirs for name in _variables(each)}
    left = tuple(each for each in own.children if _called(each) not in said)
    kept = Property(own.name, own.text, own.attributes, left, own.namespace, own.line)
    return kept.having(export=None) if _EXPORT in said else kept


_EXPORT = "@export"


def _variables(item: Property) -> dict[str, str]:
    found = {_called(each): each.text for each in item.children if isinstance(each, Property)}
    export = item.attributes.get("export")
    return found if export is None else {**found, _EXPORT: export}


def _called(item: Property | Note) -> str:
    return item.attributes.get("name", "") if isinstance(item, Property) else ""


class NotCounted(NamedTuple):
    """What a job, or else its only group, says and does not count beside the other; and why."""

    item: Property
    is_of_job: bool
    why: str


class AskedTogether(NamedTuple):
    """What a job and its only task group request, by the parts that And joins.

    ``left`` is what one of them says and does not count, as the other says another.
    """

    parts: tuple[expression.Expression, ...]
    left: tuple[NotCounted, ...]

    @property
    def items(self) -> frozenset[int]:
        """What counts of both, by the identity of properties."""
        return expression.identities(self.parts)


# decision 985
def together(
    own: Sequence[expression.Expression], theirs: Sequence[expression.Expression],
    said: Iterable[str] = (),
) -> AskedTogether:  # fmt: skip
    """What a job requests, and its only task group: one rule for all who ask for it.

    What the group says counts as ``of_only_group`` has it, and of an amount what its job says of
    all tasks. A part that is joined by Or counts as a whole, one in brackets that say nothing by
    itself. ``said`` are names by which the group
    says something outside of these parts. What both say alike is there once.
    """
    own, theirs, said = expression.opened(own), expression.opened(theirs), frozenset(said)
    stated = {key for part in _beside(own, theirs, said) for key in _amounts(_demanded(part))}
    counting = [
        part for part in theirs if stated.isdisjoint(_amounts(expression.comparisons(part)))
    ]
    beside = _beside(own, counting, said)
    counted = frozenset(counting)
    whole = expression.all_of(part for part in beside if part not in counted)
    asked_of_both = expression.all_requested((whole, expression.all_of(counting)))
    parts = expression.conjuncts(asked_of_both)
    asked = {found for part in parts for found in expression.comparisons(part)}
    beside_it = of_only_group(said)
    left = (
        *_left(own, theirs, asked, OVERRIDDEN, beside_it), *_left(theirs, own, asked, _OF_ITS_JOB)
    )  # fmt: skip
    return AskedTogether(parts, left)


def _left(
    every: Iterable[expression.Expression], others: Iterable[expression.Expression],
    asked: Container[expression.Comparison], why: str, beside: Collection[str] = (),
) -> Iterator[NotCounted]:  # fmt: skip
    """What of these parts is not asked for, as the others say another, or say it of another part.

    A part counts as a whole: of what the others say nothing, it is told of what they do. ``beside``
    are names by which they say something outside of these parts.
    """
    said = set(beside) | {
        expression.key(each.item) for part in others for each in expression.comparisons(part)
    }
    for part in every:
        found = [*expression.comparisons(part)]
        named = dict.fromkeys(expression.key(each.item) for each in found)
        cause = ", ".join(name for name in named if name in said)
        for each in found:
            if each in asked:
                continue
            is_said = expression.key(each.item) in said or not cause
            told = why if is_said else f"it is joined to {cause}, of which {why}"
            yield NotCounted(each.item, why == OVERRIDDEN, told)


def lent(
    own: Iterable[expression.Expression], theirs: Sequence[expression.Expression]
) -> tuple[expression.Expression, ...]:
    """What one of several task groups requests, and what its job says of each of them beside."""
    left_out = set(map(id, overridden(own := tuple(own), theirs)))
    beside = [part for part in own if id(part) not in left_out and is_of_each(part)]
    every = (expression.all_of(beside), expression.all_of(theirs))
    return expression.conjuncts(expression.all_requested(every))


def overridden(
    own: Iterable[expression.Expression], theirs: Iterable[expression.Expression]
) -> tuple[expression.Expression, ...]:
    """What a job says of each of its task groups, of which one of several demands another.

    Of features those of both are needed, and a wish takes nothing back that its job demands.
    """
    every = (found.item for part in theirs for found in expression.comparisons(part))
    said = expression.compared(every) - ALL_NEEDED
    return tuple(
        part for part in own if is_of_each(part) and not said.isdisjoint(expression.mentions(part))
    )


def is_of_each(part: expression.Expression) -> bool:
    """Whether what a job requests is said of each of its task groups (1.10)."""
    return expression.is_about(part, DESCRIPTIVE)


def _beside(
    own: Iterable[expression.Expression],
    theirs: Iterable[expression.Expression],
    said: frozenset[str],
) -> list[expression.Expression]:
    """What of a job's request its only group says nothing of that counts in its place."""
    named = {found.item.name for part in theirs for found in _demanded(part)}
    names = of_only_group(said | named)
    return [
        part
        for part in own
        if names.isdisjoint(found.item.name for found in expression.comparisons(part))
    ]


def _demanded(part: expression.Expression) -> Iterator[expression.Comparison]:
    """What a part demands: a wish takes the place of nothing."""
    return (each for each in expression.comparisons(part) if not expression.is_wish(each.item))


def _amounts(every: Iterable[expression.Comparison]) -> set[str]:
    """The amounts that are compared, of which a job speaks of all its tasks."""
    return {expression.key(each.item) for each in every if each.item.name in _OF_ALL_TASKS}


def _with_lent(job: Job, env: Env) -> Job:
    if not job.asking_groups:
        return job
    return _given(job, DESCRIPTIVE | QUANTITIES if has_only_group(job) else DESCRIPTIVE, env)


def _given(job: Job, names: frozenset[str], env: Env) -> Job:
    """A job with task groups that have what it says by these names and they do not."""
    # decision 1167
    items: list[Item] = [item for item in without_set_aside(job).properties if item.name in names]
    of_both = _requested_of_both(job, names)
    groups = [
        _with_features(group if asked is None else _requesting(group, asked), items)
        for group, asked in zip(job.asking_groups, of_both, strict=True)
    ]
    if None in of_both:
        items += _requested(job, names)
    given = [TaskGroupDefaults(tuple(items)), *groups]
    resolver = Resolver(env, wishes_count=False)  # as ``together`` has it
    given_to = iter(resolver.block(job.holding(given)).blocks(TaskGroup))
    return job.holding(
        next(given_to) if type(item) is TaskGroup and not item.is_step else item
        for item in job.items
    )


def _with_features(group: TaskGroup, lent: Sequence[Item]) -> TaskGroup:
    """A task group with what its job says outside of its request and is needed of both."""
    own = {_said(item) for item in group.properties if item.name in ALL_NEEDED}
    added = [
        item for item in lent
        if isinstance(item, Property) and item.name in ALL_NEEDED and _said(item) not in own
    ]  # fmt: skip
    return group.holding((*added, *group.items)) if added else group


def _said(item: Property) -> tuple[object, ...]:
    return item.name, item.text, *item.attributes.items()


def _requesting(group: TaskGroup, requests: Sequence[Requested]) -> TaskGroup:
    """A task group that requests all of these instead of what it does.

    One that requests nothing any more is no step for that.
    """
    left = without_set_aside(group)
    none = (each.holding(()) for each in left.blocks(Requested)[:1])
    others = (item for item in left.items if not isinstance(item, Requested))
    return left.holding((*others, *(requests or none)))


# decisions 1155, 1190
def _requested_of_both(job: Job, names: frozenset[str]) -> list[list[Requested] | None]:
    """What each task group requests with what its job does of these properties only.

    Of the only group that is what counts ``together``, of several what is ``lent``. None where
    nothing is lent, and of what cannot be read, or has words that nobody knows, as awarenessPolicy
    decides about them.
    """
    groups, is_only = job.asking_groups, has_only_group(job)
    own = _readable(job)
    is_one = is_only and names >= QUANTITIES  # which also has what is joined to something else
    lending = [
        part for part in own or ()
        if expression.is_about(part, names)
        or (is_one and not names.isdisjoint(expression.mentions(part)))
    ]  # fmt: skip
    if own is None or not (lending or is_only):
        return [None] * len(groups)
    beside = asked_outside(job)
    said_beside = {each.item.name for each in beside}
    found: list[list[Requested] | None] = []
    for group in groups:
        theirs = _readable(group)
        is_joined = any(not _JOINING.isdisjoint(item.attributes) for item in group.requested)
        said = group.requested.names() | group.properties.names() | said_beside
        is_plain = not is_joined and not (lending if is_only else ALL_NEEDED.intersection(said))
        if theirs is None or is_plain:  # what is lent stands beside it
            found.append(None)
            continue
        theirs = (*theirs, *asked_outside(group))
        items = (
            together((*own, *beside), theirs, group.properties.names()).items
            - expression.identities(part for part in own if part not in lending)
            if is_only
            else expression.identities(lent(lending, theirs))
        )
        found.append([*_keeping((*job.blocks(Requested), *group.blocks(Requested)), items)])
    return found


def _readable(block: Block) -> tuple[expression.Expression, ...] | None:
    """The parts of a request; None of one that cannot be read, or has words that nobody knows."""
    if any(expression.has_unknown_words(each.properties) for each in block.blocks(Requested)):
        return None
    try:
        return expression.opened(expression.parts_of(block))
    except (UnbalancedGroup, InvalidValue, LimitExceeded):
        return None


def _keeping(blocks: Iterable[Requested], items: Container[int]) -> Iterator[Requested]:
    """Requests with those parts alone that are made of some properties.

    What an earlier one says alike is there once: of an ad both may have the same properties.
    """
    said: list[expression.Expression] = []
    for block in blocks:
        parts = expression.opened(expression.conjuncts(expression.parse(block.properties)))
        kept = [
            part for part in parts
            if part not in said
            and all(id(each.item) in items for each in expression.comparisons(part))
        ]  # fmt: skip
        said += kept
        if len(kept) == len(parts):
            yield block
        elif kept:
            yield block.holding(expression.write(expression.all_of(kept)))


def _requested(job: Job, names: frozenset[str]) -> list[Requested]:
    """What the job requests of these properties only; what cannot be read stays as it is.

    Words that nobody knows stay, too: awarenessPolicy decides about them.
    """

    def is_lent(part: expression.Expression) -> bool:
        return expression.is_about(part, names)

    blocks = job.blocks(Requested)
    try:
        if any(expression.has_unknown_words(block.properties) for block in blocks):
            every = (expression.keeping(block.properties, is_lent) for block in blocks)
            pairs = zip(blocks, every, strict=True)
            return [block.holding(written) for block, written in pairs if written]
        given = [part for part in expression.parts_of(job) if is_lent(part)]
    except (UnbalancedGroup, InvalidValue, LimitExceeded):
        return list(blocks)
    return [blocks[0].holding(expression.write(expression.all_of(given)))] if given else []
