"""Where each key of ``$JOBFEATURES`` comes from, in the order of precedence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

from sssjob import units
from sssjob.amounts import (
    ASSUMED,
    DERIVED,
    MIXED,
    NOT_OF_ALL,
    UNKNOWN,
    Amount,
    Scope,
    longest,
    nodes_in_all,
    time_of,
)
from sssjob.defaults import OVERRIDDEN, counted, has_only_group
from sssjob.errors import InvalidValue, finding
from sssjob.expression import Interval
from sssjob.feature_rules import cpu_limit_secs, hs06_job
from sssjob.features import keys
from sssjob.features.keys import Value
from sssjob.features.on_nodes import TasksOfNodes, evenly_on, named_among, tasks_on
from sssjob.features.precedence import Choices
from sssjob.model import Job, Properties, Task, TaskGroup
from sssjob.states import has_begun, has_ended
from sssjob.task_counts import pins

EXTENSION, MACHINE_EXTENSION = "JobFeatures", "MachineFeatures"
RATING = "HS06"


class Derivation(Choices):
    """A job as scopes, what the caller knows besides, and the keys that are chosen so far."""

    def __init__(
        self, job: Job, now: int | None, starting: bool, nodes: frozenset[str],
        cpu_limit: bool, repair: bool, machine: Mapping[str, Value], number: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(keys.JOB_FEATURES, extensions(job, EXTENSION))
        self._tell_doubled(job)
        self.job, self.now, self.starting, self.nodes = job, now, starting, nodes
        self.cpu_limit = cpu_limit
        self.machine = {**extensions(job, MACHINE_EXTENSION), **machine}
        self.reservation_end: int | None = None
        self.parts: dict[str, TasksOfNodes | None] = {}  # of groups on the nodes
        self.settings: Mapping[str, Amount] = {}
        self.host: Mapping[str, Amount] = {}
        self.granted: Mapping[str, Amount] = {}
        self.guessing = True
        self.called = ""
        self.scope = Scope(job, "/Job", self.report, repair=repair, number=number)
        self.groups = [
            self.scope.of_group(group, _group_path(group, number), self.report, is_counted=True)
            for number, group in enumerate(counted(job).task_groups, 1)
        ]
        start = self.time("StartTime")
        past = start is not None and now is not None and start <= now
        self.started = past or has_begun(job.get("State"))

    @cached_property
    def counting(self) -> Scope:
        """Where tasks are counted: in the only task group, or in the job."""
        asking = self.job.asking_groups
        return self.groups[0] if len(asking) == len(self.groups) == 1 else self.scope

    @cached_property
    def named_nodes(self) -> frozenset[str]:
        """The nodes that are looked at and that some task group names."""
        return frozenset().union(*(named_among(group, self.nodes) for group in self.groups))

    @cached_property
    def names_nodes(self) -> bool:
        """Whether some of several task groups names nodes, or one of its tasks does."""
        every = self.groups if len(self.groups) > 1 else []
        return any(any(pins(each.block)) or each.named_nodes is not None for each in every)

    @cached_property
    def is_counted_by_group(self) -> bool:
        """Whether the only task group says Processors itself, requested or not."""
        if self.counting is self.scope:
            return False
        group = self.job.asking_groups[0]
        return any(item.name == "Processors" for item in (*group.properties, *group.requested))

    # decision 988
    def is_of_all(self, name: str, of_each: Callable[[Scope], Amount | None]) -> bool:
        """Whether every task group that asks for something says an amount; else it is told."""
        said = [of_each(group) for group in self.groups if not _is_step(group)]
        silent = said.count(None)
        if 0 < silent < len(said) and of_each(self.scope) is None:
            source = next(each.source for each in said if each is not None)
            text = f"{name} counts for nothing: {NOT_OF_ALL.format(silent, len(said))}"
            self.report(finding("W-USELESS", text, path=source))
        return not silent

    def _tell_doubled(self, job: Job) -> None:
        for said in _saying(job):
            stated = said.all("Extension", type=EXTENSION)
            counts = Counter(item.attributes.get("name", "") for item in stated)
            for name, count in counts.items():
                if count > 1:
                    text = f"the extension {name!r} is there {count} times: the last one counts"
                    self.report(finding("W-DISAGREE", text, path="/Job/Extension"))
        own, *theirs = (dict(_named(said, EXTENSION)) for said in _saying(job))
        for name, value in own.items():
            if any(each.get(name, value) != value for each in theirs):
                text = f"the extension {name!r} counts for nothing: {OVERRIDDEN}"
                self.report(finding("W-DISAGREE", text, path="/Job/Extension"))

    def time(self, name: str) -> int | None:
        """A time of the job, or None."""
        return _time(self.scope, name)

    # decision 986
    def deadline(self) -> tuple[str, int | None]:
        """When the job must end, and where that is said: its only task group comes before it."""
        own, theirs = (_time(scope, "DeadlineTime") for scope in (self.scope, self.counting))
        if theirs is None:
            return "/Job/DeadlineTime", own
        path = f"{self.counting.path}/DeadlineTime"
        if own not in (None, theirs):
            text = f"{own} counts for nothing: {OVERRIDDEN}, {theirs}"
            self.report(finding("W-DISAGREE", text, path="/Job/DeadlineTime"))
        return path, theirs


Source = Callable[[Derivation], Amount | None]


# Sources: each gives an amount, or None where the job does not have it.


def _start(work: Derivation) -> Amount | None:
    start = work.time("StartTime")
    if start is None:
        if work.starting and work.now is not None:
            return Amount(Fraction(work.now), "/Job", why="the job starts now")
        return None
    if work.now is not None and start > work.now:
        text = f"the job starts in the future: {start} is after {work.now}"
        work.report(finding("W-RANGE", text, path="/Job/StartTime"))
    return Amount(Fraction(start), "/Job/StartTime")


def _deadline(work: Derivation) -> Amount | None:
    path, stated = work.deadline()
    known = {path: stated, "reservation": work.reservation_end}
    moments = {path: moment for path, moment in known.items() if moment is not None}
    start = work.derived.get("jobstart_secs")
    for path, moment in sorted(moments.items()):
        if work.now is None or moment > work.now:
            continue
        del moments[path]
        work.absent["shutdowntime_job"] = f"{path} {moment} has passed"
        if start is not None and moment <= int(start.value):
            text = f"the job starts at {start.value}, when {path} {moment} has passed"
            work.report(finding("W-RANGE", text, path=path))
    source = min(moments, key=lambda path: moments[path], default="")
    return Amount(Fraction(moments[source]), source) if source else None


def _delivered_processors(work: Derivation) -> Amount | None:
    if (whole := work.scope.delivered("Processors")) is not None:
        return _processors_here(work, whole)
    parts = [part for group in work.groups if (part := group.delivered("Processors")) is not None]
    return _processors_here(work, _sum(parts)) if parts else None


def _dedicated_processors(work: Derivation) -> Amount | None:
    return _processors_here(work, work.scope.dedicated("Processors"))


# decision 964
def _processors_of_only_group(work: Derivation) -> Amount | None:
    """Those that the only task group says itself; what its job says is another number."""
    if not work.is_counted_by_group:
        return None
    return _processors_here(work, work.counting.processors_in_all(least=not work.started))


def _requested_processors(work: Derivation) -> Amount | None:
    return _shared_by_tasks(work, lambda scope: scope.processors(least=not work.started))


def _bare_processors(work: Derivation) -> Amount | None:
    return _shared_by_tasks(work, Scope.own_processors)


def _shared_by_tasks(
    work: Derivation, of_scope: Callable[[Scope], Amount | None]
) -> Amount | None:  # fmt: skip
    """The processors of a job, of which its only task group says how many tasks share them.

    And what else counts of both.
    """
    own = of_scope(work.scope)
    is_alone = work.counting is work.scope or work.is_counted_by_group
    if own is None or own.basis == UNKNOWN or is_alone:
        return _processors_here(work, own)
    found = of_scope(work.counting)
    return None if found is None else _processors_here(work, replace(found, source=own.source))


def _task_processors(work: Derivation) -> Amount | None:
    """Of the task groups, or of the single implicit one.

    Groups of a job that was delivered may be steps, which run one after the other on the same
    processors: nothing to compare with.
    """
    if work.is_counted_by_group or work.scope.delivered("Processors") is not None:
        return None
    groups = work.groups or [work.scope]
    total = _sum([group.processors_in_all(least=not work.started) for group in groups])
    return _processors_here(work, total)


def _elapsed_request(work: Derivation) -> Amount | None:
    return work.scope.requested("Duration")


# decision 980
def _elapsed_of_groups(*, beside: bool) -> Source:
    """That of the longest task group, where its job says one ``beside`` it, or says none."""

    def source(work: Derivation) -> Amount | None:
        if beside is not (_bare_duration(work) is not None):
            return None
        work.is_of_all("Duration", time_of)
        return longest(work.groups)

    return source


def _bare_duration(work: Derivation) -> Amount | None:
    """A limit, unless the job is over: then it says how long the job ran."""
    job = work.job
    if has_ended(job.get) or "Duration" in job.delivered.names():
        return None
    return work.scope.bare("Duration")


def _elapsed_times_processors(work: Derivation) -> Amount | None:
    elapsed, processors = (work.derived.get(name) for name in ("wall_limit_secs", "allocated_cpu"))
    if not work.cpu_limit or elapsed is None or processors is None:
        return None
    assert isinstance(elapsed.value, int)
    assert isinstance(processors.value, int)
    why = f"{elapsed.value} s on {processors.value} processors"
    value = Fraction(cpu_limit_secs(elapsed.value, processors.value))
    return Amount(value, f"{elapsed.source} x {processors.source}", DERIVED, why)


def _setting(name: str) -> Source:
    """What the configuration of the site says."""

    def source(work: Derivation) -> Amount | None:
        return work.settings.get(name)

    return source


def _limited(work: Derivation, name: str) -> Amount | None:
    """A ResourceLimit of the job; that of its only task group comes first."""
    return work.counting.limit(name)


def _limit(name: str) -> Source:
    def source(work: Derivation) -> Amount | None:
        return _limited(work, name)

    return source


def _size_limit(name: str) -> Source:
    def source(work: Derivation) -> Amount | None:
        return _share(work, _limited(work, name))

    return source


def _size(name: str) -> Source:
    """A size of the whole job: requested or plain."""

    def source(work: Derivation) -> Amount | None:
        scope = work.scope
        found = scope.requested(name)
        if found is None:
            found = scope.dedicated(name) or scope.bare(name)
        return _share(work, found)

    return source


def _task_sizes(name: str) -> Source:
    """Sizes in a task group are of one task each: their context speaks of "the task"."""

    def of_each(group: Scope) -> Amount | None:
        each = group.requested(name)
        return (group.dedicated(name) or group.bare(name)) if each is None else each

    def source(work: Derivation) -> Amount | None:
        parts = []
        if not work.is_of_all(name, of_each):
            return None
        for group in work.groups:
            each = of_each(group)
            tasks = _tasks_here(work, group)
            if each is not None and tasks:
                why = f"{units.decimal(tasks)} x {units.decimal(each.value)}"
                parts.append(Amount(each.value * tasks, each.source, each.basis, why))
        return _sum(parts) if parts else None

    return source


def _address_space_less_memory(work: Derivation) -> Amount | None:
    whole = _share(work, _limited(work, "VirtualMemory"))
    resident = work.derived.get("max_rss_bytes")
    if whole is None or resident is None or isinstance(resident.value, str):
        return None
    rest = whole.value - Fraction(resident.value)
    source = f"{whole.source} - {resident.source}"
    return Amount(rest, source, DERIVED, "virtual less resident memory") if rest > 0 else None


def _delivered_rating(work: Derivation) -> Amount | None:
    for item in work.job.delivered.all("Resource", name=RATING, context="", metric=""):
        if (value := work.scope.read(item)) is not None:
            return Amount(value, f"/Job/Delivered/Resource[@name='{RATING}']")
    return None


def _rating_share(work: Derivation) -> Amount | None:
    """The rating of a processor of this machine times the allocated ones, to two decimals."""
    rating = _configured(work, "hs06", "Resource", name=RATING)
    total = _configured(work, "total_cpu", "Processors")
    processors = work.derived.get("allocated_cpu")
    given = None if processors is None or isinstance(processors.value, str) else processors.value
    if total and given is not None and given > total:
        text = f"allocated_cpu is {keys.spell(given)}, but total_cpu of the machine"
        text += f" {units.decimal(total)}: one of them is wrong"
        work.report(finding("W-DISAGREE", text, path="total_cpu"))
        return _no_rating(text)
    if not rating:
        return _no_rating("the machine has no rating")
    if not total or given is None or processors is None:
        unknown = "allocated_cpu" if total else "total_cpu of the machine"
        return _no_rating(f"{unknown} is not known")
    share = Fraction(hs06_job(rating * 100, total, int(given)), 100)
    why = f"{units.decimal(rating)} / {units.decimal(total)} x {keys.spell(given)}"
    return Amount(share, processors.source, DERIVED, why)


def _no_rating(why: str) -> Amount:
    return Amount(Fraction(0), "hs06", UNKNOWN, why)


# decision 1203
def _least_given(name: str, others: Sequence[Source]) -> Source:
    """What was given to the job alone, where its limits leave it no less, as in an ad."""

    def source(work: Derivation) -> Amount | None:
        if not any(item.said("context") == "Dedicated" for item in work.scope.parts(name)):
            return None  # as of nearly every job
        given = _share(work, work.scope.delivered(name))
        asked = next((found for each in others if (found := each(work)) is not None), None)
        is_less = asked is None or given is None or given.value <= asked.value
        return given if is_less else None

    return source


_OF_MEMORY = (
    _size_limit("ResidentSetSize"), _size_limit("Memory"), _size("Memory"), _task_sizes("Memory"),
)  # fmt: skip
_OF_DISK = _size_limit("Disk"), _size("Disk"), _task_sizes("Disk")

# fmt: off
# The first that yields a number wins; what is looked at last rests on keys chosen before.
SOURCES: dict[str, tuple[Source, ...]] = {
    "jobstart_secs":       (_start,),
    "allocated_cpu":       (_delivered_processors, _dedicated_processors, _processors_of_only_group,
                            _requested_processors, _bare_processors, _task_processors),
    "wall_limit_secs":     (_elapsed_request, _elapsed_of_groups(beside=False), _limit("Duration"),
                            _bare_duration, _elapsed_of_groups(beside=True)),
    "cpu_limit_secs":      (_limit("CPUTime"), _elapsed_times_processors),
    "max_rss_bytes":       (_least_given("Memory", _OF_MEMORY), *_OF_MEMORY),
    "max_swap_bytes":      (_size_limit("Swap"), _size("Swap"),
                            _task_sizes("Swap"), _address_space_less_memory),
    "scratch_limit_bytes": (_least_given("Disk", _OF_DISK), *_OF_DISK),
    "shutdowntime_job":    (_deadline,),
    "grace_secs_job":      (_setting("grace_secs_job"),),
    "cpufactor_lrms":      (_setting("cpufactor_lrms"),),
    "hs06_job":            (_delivered_rating, _rating_share),
}
# fmt: on


def _tasks_here(work: Derivation, scope: Scope) -> Fraction:
    """The tasks of a group on the nodes that are looked at; all of them if none is named."""
    part = _of_tasks(work, scope)
    return scope.tasks.value if part is None or part.here == part.every else part.here


# decision 1133
def _of_tasks(work: Derivation, scope: Scope) -> TasksOfNodes | None:
    """How many tasks of a group are on the nodes that are looked at, and of how many tasks.

    Where no layout says it, of the Task elements; None where none of them names a node either.
    """
    if scope.path not in work.parts:
        work.parts[scope.path] = _part(work, scope) if work.nodes else None
    return work.parts[scope.path]


def _part(work: Derivation, scope: Scope) -> TasksOfNodes | None:
    if (found := tasks_on(scope, work.nodes, work.named_nodes)) is not None:
        return found
    spelled = scope.block.blocks(Task)
    if not any(pins(scope.block)):
        return evenly_on(scope, work.nodes) if work.names_nodes else None
    here = sum(task.get("Node") in work.nodes for task in spelled)
    return TasksOfNodes(Fraction(here), Fraction(len(spelled)))


def _share(
    work: Derivation, whole: Amount | None, of_each: Callable[[Scope], Fraction] | None = None
) -> Amount | None:
    """What the nodes that are looked at have of an amount of the whole job.

    ``of_each`` is how much of it a task group has, where that is not by the number of its tasks.
    """
    if whole is None or whole.basis == UNKNOWN or not work.nodes:
        return whole
    groups = work.groups or [work.scope]
    parts = [_of_tasks(work, group) for group in groups]
    if any(parts):
        every = [
            part or TasksOfNodes(group.tasks.value, group.tasks.value)
            for group, part in zip(groups, parts, strict=True)
        ]
        here = sum((part.here for part in every), Fraction(0))
        weights = [part.every if of_each is None else of_each(group)
                   for group, part in zip(groups, every, strict=True)]  # fmt: skip
        share = _weighed(every, weights)
        why = f"{units.decimal(here)} of the tasks run on {', '.join(sorted(work.nodes))}"
    else:
        count = work.counting.nodes
        total = count.value if count is not None else Fraction(nodes_in_all(work.groups))
        share = min(Fraction(len(work.nodes)) / total, Fraction(1)) if total else Fraction(1)
        why = f"spread evenly over {units.decimal(total)} nodes" if total else "one node"
        if not total and not work.guessing:
            return Amount(whole.value, whole.source, ASSUMED, why)
    if share == 1:
        return whole
    return Amount(whole.value * share, whole.source, ASSUMED, why)


def _weighed(parts: Sequence[TasksOfNodes], weights: Sequence[Fraction]) -> Fraction:
    """Which part of an amount is here, of which groups have as much as their weights say."""
    every = zip(parts, weights, strict=True)
    here = sum((weight * part.here / part.every for part, weight in every), Fraction(0))
    return here / (sum(weights) or 1)


def _processors_here(work: Derivation, whole: Amount | None) -> Amount | None:
    """What the nodes that are looked at have of the processors of the whole job."""
    return _share(work, whole, lambda each: each.processors_in_all(least=not work.started).value)


def _sum(parts: list[Amount]) -> Amount:
    """Amounts of several task groups as one."""
    if len(parts) == 1:
        return parts[0]
    if unknown := next((part for part in parts if part.basis == UNKNOWN), None):
        return unknown
    bases = {part.basis for part in parts}
    basis = ASSUMED if ASSUMED in bases else bases.pop() if len(bases) == 1 else MIXED
    why = " + ".join(units.decimal(part.value) for part in parts)
    source = ", ".join(dict.fromkeys(part.source for part in parts))
    lows = [part.admitted.lo for part in parts]
    highs = [part.admitted.hi for part in parts]
    bounds = Interval(
        None if None in lows else sum((low for low in lows if low), Fraction(0)),
        None if None in highs else sum((high for high in highs if high), Fraction(0)),
    )
    total = sum((part.value for part in parts), Fraction(0))
    return Amount(total, source, basis, why, bounds)


def _configured(work: Derivation, key: str, element: str, /, **attributes: str) -> Fraction | None:
    """A fact about the machine: from the caller, or delivered in the context Configured."""
    if (value := work.machine.get(key)) is not None:
        try:
            parsed = keys.parse(keys.spell(value), keys.key(key, keys.MACHINE_FEATURES), key)
        except InvalidValue:
            return None
        return None if isinstance(parsed, str) else Fraction(parsed)
    for item in (
        *work.job.delivered.all(element, context="Configured", **attributes),
        *work.job.properties.all(element, context="Configured", **attributes),
    ):
        return work.scope.read(item)
    return None


def extensions(job: Job, kind: str) -> dict[str, Value]:
    """The extensions of one type, by name; those of the only task group come first."""
    return {name: value for said in _saying(job) for name, value in _named(said, kind)}


def _is_step(group: Scope) -> bool:
    return isinstance(group.block, TaskGroup) and group.block.is_step


def _saying(job: Job) -> list[Properties]:
    """What a job says, and what its only task group does, which counts where it says another."""
    groups = job.asking_groups if has_only_group(job) else ()
    return [each.properties for each in (job, *groups)]


def _named(said: Properties, kind: str) -> Iterator[tuple[str, str]]:
    """The extensions of one type, with their names."""
    for item in said.all("Extension", type=kind):
        yield item.attributes.get("name", ""), item.text.strip()


def _time(scope: Scope, name: str) -> int | None:
    item = scope.block.properties.get(name)
    value = None if item is None else scope.read(item)
    return None if value is None else int(value)


def _group_path(group: TaskGroup, number: int) -> str:
    name = group.get("Name")
    return f"/Job/TaskGroup[Name='{name}']" if name else f"/Job/TaskGroup[{number}]"
