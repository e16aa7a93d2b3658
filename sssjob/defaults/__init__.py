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

from collections.abc import Iterable
from dataclasses import dataclass, field

from sssjob import expression
from sssjob.defaults.entries import OWN, Origin, SourcedValue
from sssjob.defaults.resolver import Env, Resolver
from sssjob.errors import Finding, InvalidValue, LimitExceeded, UnbalancedGroup, of_kind, one_of
from sssjob.model import (
    Block,
    Delivered,
    Item,
    Job,
    JobGroup,
    Requested,
    TaskGroup,
    TaskGroupDefaults,
)

__all__ = [
    "COUNTS",
    "OWN",
    "SEVERAL",
    "Env",
    "Origin",
    "Resolved",
    "SourcedValue",
    "counted",
    "lending",
    "of_only_group",
    "resolve",
    "scope",
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
# What a job and its only task group say of different things, of which all counts.
SEVERAL = frozenset(("Dependency", "Environment", "Feature", "Hold", "Resource"))
_OF_ALL_TASKS = QUANTITIES - COUNTS - {"Network"} | {"ResourceLimit"}
_OF_A_GROUP = frozenset(("Id", "Name", "Extension"))


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
        jobs = (_lent(item, env) if type(item) is Job else item for item in effective.items)
        return effective.holding(jobs)
    return _lent(effective, env) if type(effective) is Job else effective


# decision 908
def counted(job: Job) -> Job:
    """A job whose defaults are applied, with the counts that its only task group has of it.

    These are how many tasks, nodes and processors there are, and nothing else. Task groups that
    report what they were delivered are steps of a job that ran, and have their own.
    """
    if not job.task_groups or not _has_only_group(job):
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


def _has_only_group(job: Job) -> bool:
    return len(job.asking_groups) == 1 and not job.references("TaskGroup")


def _lent(job: Job, env: Env) -> Job:
    if not job.asking_groups:
        return job
    return _given(job, DESCRIPTIVE | QUANTITIES if _has_only_group(job) else DESCRIPTIVE, env)


def _given(job: Job, names: frozenset[str], env: Env) -> Job:
    """A job with task groups that have what it says by these names and they do not."""
    items: list[Item] = [item for item in job.properties if item.name in names]
    items += _requested(job, names)
    given = [TaskGroupDefaults(tuple(items)), *job.asking_groups]
    lent = iter(resolve(job.holding(given), env=env).block.blocks(TaskGroup))
    return job.holding(
        next(lent) if type(item) is TaskGroup and not item.is_step else item for item in job.items
    )


def _requested(job: Job, names: frozenset[str]) -> list[Requested]:
    """What the job requests of these properties only; what cannot be read stays as it is.

    Words that nobody knows stay, too: awarenessPolicy decides about them.
    """

    def is_lent(part: expression.Expression) -> bool:
        return all(found.item.name in names for found in expression.comparisons(part))

    blocks = job.blocks(Requested)
    try:
        if any(expression.has_unknown_words(block.properties) for block in blocks):
            every = (expression.keeping(block.properties, is_lent) for block in blocks)
            pairs = zip(blocks, every, strict=True)
            return [block.holding(written) for block, written in pairs if written]
        asked = expression.of(job)
    except (UnbalancedGroup, InvalidValue, LimitExceeded):
        return list(blocks)
    lent = [] if asked is None else [part for part in expression.conjuncts(asked) if is_lent(part)]
    return [blocks[0].holding(expression.write(expression.all_of(lent)))] if lent else []
