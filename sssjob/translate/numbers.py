"""How many of everything a job asks for, in the order in which the counts follow (5.1)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil
from typing import NamedTuple

from sssjob import expression, resource_names, task_distribution, units
from sssjob.amounts import NOT_OF_ALL, OF_EACH_TASK, standing
from sssjob.defaults import COUNTS
from sssjob.errors import InvalidValue
from sssjob.expression import Interval
from sssjob.integers import LARGEST
from sssjob.model import Item, Property, stripped
from sssjob.named_nodes import NamedNodes, nodes_together
from sssjob.nodes import plain
from sssjob.resource_names import (
    GPU,
    LICENSE,
    gpu_model,
    license_attributes,
    license_name,
)
from sssjob.task_counts import NODES_OF_TASKS, CountRange, StatedCounts, as_names_have, pins
from sssjob.translate.nodes import conditions, named_nodes
from sssjob.translate.options import ScriptOptions, ScriptReading
from sssjob.translate.requests import NO_OPTION, OTHER_MEANING, JobRequest, no_case

MIB = 1 << 20
_TOO_LARGE = "does not fit 64 bits"
NO_TYPE = "there is no option for GPUs of a type"
_OPS = ("EQ", "GE", "GT", "LE", "LT")  # by which an amount is bounded
LEAST, MOST = "least", "most"

ADDED_UP = "{} task groups are added up"
OF_A_RANGE = "of a range"  # of which an end is taken
_TOO_MANY_OF_EACH = 10**9  # tasks on a node, or processors of a task
_ROUND_ROBIN = "RoundRobin"

JOB, TASK, NODE = "job", "task", "node"  # whose the Memory of a job is


@dataclass(slots=True)
class TaskCounts:
    """Tasks, nodes and processors of a job, as far as it says them."""

    nodes: CountRange | None = None
    processors: CountRange | None = None
    tasks: int | None = None
    per_node: int | None = None
    per_task: int | None = None
    round_robin: bool = False
    geometry: tuple[tuple[int, ...], ...] = ()  # the tasks of each node
    tasks_of: tuple[int, ...] = ()  # the tasks of each task group
    named: bool = False  # whether names of nodes are all that counts these
    stated: bool = False  # whether their count attribute says how many of these are wanted
    uneven: bool = False  # whether task groups have other processors than so many for each task
    pins: tuple[str, ...] = ()  # for each Task element the node that it names, or nothing
    names: NamedNodes | None = None  # by which nodes are asked for, where no number says how many

    @property
    def said(self) -> StatedCounts:
        """The same as what is said, from which numbers follow; nodes that names alone count not."""
        return StatedCounts(
            self.tasks or None, None if self.named and not self.stated else self.nodes,
            self.processors, self.per_node or None, self.per_task or None, self.geometry,
            self.pins, self.names, rounded=True,
        )  # fmt: skip

    @property
    def each(self) -> int:
        """Processors of one task, rounded up."""
        if self.per_task or not self.processors:
            return self.per_task or 1
        return self.said.each

    @property
    def count(self) -> int | None:
        """How many tasks there are: said, or as many as processors or nodes make (5.1)."""
        if written := self.written:
            return written
        if self.nodes and self.nodes.exact:
            return self.nodes.exact * (self.per_node or 1)
        return None

    @property
    def written(self) -> int | None:
        """How many tasks have to be asked for, where nodes do not say it by themselves."""
        if self.tasks:
            return self.tasks
        if not self.processors or self._by_nodes:
            return None
        found = self.said.tasks_to_place
        return None if found is None else found.value

    @property
    def _by_nodes(self) -> bool:
        """Whether the processors are those that nodes and tasks on each of them make."""
        if not (self.nodes and self.processors and (self.per_node or self.per_task)):
            return False
        return self.processors == self.nodes.times((self.per_node or 1) * self.each)

    # decision 968
    @property
    def slots(self) -> CountRange:
        """Processors where a range of them can be asked for: from what tasks and nodes need on."""
        given, exact = self.processors, CountRange.exactly(self.asked)
        if given is None or given.exact or (self.tasks and self.per_task):
            return given if given and self._are_counted else exact
        step, least = self.per_task or 1, self._least_nodes
        if self.tasks:
            step, least = (1, self.tasks) if self.uneven else (self.tasks, 1)
        lo = max(units.rounded_up(given.granted, step), least) * step
        if given.hi is not None and lo > given.hi:
            return exact
        return given if lo == given.granted else CountRange(lo, given.hi)

    @property
    def _are_counted(self) -> bool:
        """Whether processors are a number of their own, and not so many for each task."""
        return not self.tasks or self.uneven

    @property
    def asked(self) -> int:
        """Processors where one number of them is asked for: those of all tasks, rounded up."""
        return self.total if self._are_counted else (self.tasks or 0) * self.each

    @property
    def _least_nodes(self) -> int:
        """How many nodes there are at least, none of which is without a task."""
        is_open = self.named and not self.stated
        return 0 if self.nodes is None or is_open else self.nodes.lo or 0

    @property
    def filled(self) -> int:
        """How many nodes tasks fill evenly by as many as are on each; 0 where they do not."""
        if not self.written or not self.per_node or self.written % self.per_node:
            return 0
        return self.written // self.per_node

    @property
    def node_count(self) -> int:
        """How many nodes amounts are divided by: the least, where it is a range."""
        if self.nodes is None:
            return self.said.nodes_needed(self.written or 1)
        if self.nodes.exact:
            return self.nodes.exact
        found = self.said.stated_nodes
        return self.nodes.least if found is None else found.value

    @property
    def granted_nodes(self) -> int:
        """How many nodes there are at least, of which each has what is said of one."""
        return self.nodes.granted if self.nodes else self.node_count

    @property
    def task_count(self) -> int:
        """How many tasks amounts are divided by: the least, where nodes are a range."""
        return self.count or self.node_count * (self.per_node or 1)

    @property
    def open_nodes(self) -> bool:
        """Whether nothing says on how many nodes several tasks are."""
        return self.nodes is None and (self.written or 1) > 1

    @property
    def wanted(self) -> int | None:
        """How many nodes are to be among those that are named; None where nothing counts them."""
        return self.node_count if self.nodes else None

    def are_named(self, wanted: Sequence[str]) -> bool:
        """Whether the nodes that are asked for by name are all of them, and nothing counts them."""
        return self.named and self.nodes is not None and len(wanted) == self.nodes.exact

    @property
    def total(self) -> int:
        """Processors of the whole job: of a range what its tasks have, as far as it admits that.

        Those of given tasks overrule what they contradict.
        """
        if self.processors is None:
            return self.task_count * self.each
        given = (self.written or 0) * self.each
        if self.processors.admits(given):
            return given
        of_several = len(self.tasks_of) > 1  # whose processors are added up
        return (None if of_several else self.said.overruling) or self.processors.least


def shape(asked: JobRequest, *, in_tasks: bool = True) -> TaskCounts:
    """Take the counts of a job, or of a task group; ``in_tasks`` as ``added`` has it."""
    found = _stated(asked)
    found.pins = _pins(asked)
    _by_geometry(asked, found)
    _count_named(asked, found)
    _complete(asked, found, in_tasks=in_tasks)
    return found


def _complete(asked: JobRequest, of: TaskCounts, *, in_tasks: bool = True) -> None:
    """Count tasks where nothing does, and tell of counts that do not agree."""
    if of.per_node and not of.count and not of.nodes:
        of.tasks = of.said.tasks.value  # however many may be on a node (5.1)
    if of.processors and of.processors.lo is None and (room := of.said.room) and not of.tasks:
        most = room * of.each
        if of.processors.admits(most):
            of.processors = CountRange(None, most)
    if of.written and of.nodes and of.nodes.lo:
        of.nodes = of.nodes.from_least(of.said.nodes_needed(of.written))
    of.nodes = _no_more_than_tasks(of, of.nodes)
    _agree(asked, of, in_tasks=in_tasks)


# decision 1131
def _no_more_than_tasks(of: TaskCounts, nodes: CountRange | None) -> CountRange | None:
    """A range of nodes up to the tasks, as each node has one; also one that is open (5.2)."""
    if nodes is None or not (tasks := of.written):
        return nodes
    return nodes.ending_at(of.said.most_nodes(tasks))


def _stated(asked: JobRequest, names: Container[str] = COUNTS) -> TaskCounts:
    """What is said by these names."""
    found = TaskCounts()
    if "NodeCount" in names:
        found.nodes = count(asked, "NodeCount")
    if "Processors" in names:
        found.processors = count(asked, "Processors")
    if "TaskCount" in names:
        found.tasks = stated_tasks(asked)
    if "TaskDistribution" in names and (item := asked.one("TaskDistribution", "type")):
        _distribution(asked, item, found)
    return found


def _pins(asked: JobRequest) -> tuple[str, ...]:
    """For each Task element the node that it names, or nothing; of an only group these are it.

    A Task that stands in a job is not understood, and counts for nothing.
    """
    groups = asked.job.asking_groups if asked.owner is asked.job else [asked.owner]
    return pins(groups[0]) if len(groups) == 1 else ()


def stated_tasks(asked: JobRequest) -> int | None:
    """Take the TaskCount that is said; None where there is none, or one that counts nothing."""
    item = asked.one("TaskCount")
    return (item and _whole(asked, item)) or None


# decision 981
def _by_geometry(asked: JobRequest, of: TaskCounts) -> None:
    """Count tasks and nodes by a geometry, which comes before all else that counts them (5.2)."""
    if not of.geometry:
        return
    tasks, nodes = of.said.tasks.value, len(of.geometry)
    if of.tasks not in (None, tasks):
        asked.approximate("TaskCount", f"the geometry has {tasks} tasks", met=False)
    if of.nodes and not of.nodes.admits(nodes):
        asked.approximate("NodeCount", f"the geometry has {nodes} nodes", met=False)
    of.tasks, of.nodes = tasks, CountRange.exactly(nodes)


# decisions 902, 1048
def _count_named(asked: JobRequest, of: TaskCounts) -> None:
    """Count nodes that are named, where nothing else does; a set has no others."""
    is_exact = of.nodes is not None and of.nodes.exact is not None
    if is_exact and not of.pins:
        return
    found = of.names = named_nodes(asked)
    counted = as_names_have(of.nodes, found)
    said = of.said._replace(counted=counted)
    if of.pins:
        of.tasks = said.tasks.value
        said = said._replace(task_count=of.tasks)
    if is_exact:
        return
    if of.nodes:
        of.nodes, lo = counted, counted.lo if counted else None
        if lo and found is not None and not found.open and lo == found.number:
            of.nodes = CountRange.exactly(lo)
        return
    number = said.stated_nodes
    if number is not None:
        of.nodes, of.named = CountRange.exactly(number.value), number.source != NODES_OF_TASKS
        of.stated = found is not None and found.is_counted


def _agree(asked: JobRequest, of: TaskCounts, *, in_tasks: bool) -> None:
    """Tell of counts that do not agree: tasks come first, then nodes, then processors (5.1)."""
    tasks = of.count
    given = (tasks or 0) * of.each
    if in_tasks and of.processors and tasks and not of.processors.admits(given):
        told = f"{tasks} tasks of {of.each} processors: {given}"
        asked.approximate("Processors", told, met=given > of.processors.least)
    nodes = of.nodes.exact if of.nodes else None
    if tasks and nodes and of.per_node and nodes != of.said.nodes_needed(tasks):
        asked.approximate("TaskDistribution", f"{tasks} tasks on {nodes} nodes", met=False)


def added(
    asked: JobRequest, *, in_tasks: bool = True, are_slots: bool = False
) -> TaskCounts:  # fmt: skip
    """Take the counts of a job and of its task groups, which come to one shape.

    ``in_tasks``: processors are asked for as so many of each task, which may be more than all.
    ``are_slots``: what is counted as nodes are slots, of which each group has its own, also on a
    node that several name.
    """
    groups = asked.groups()
    if len(groups) < 2:  # what the only one says is said of the job
        only = shape(asked, in_tasks=in_tasks)
        only.tasks_of = (only.task_count,) * len(groups)
        return only
    own = _of_whole(asked)
    found = [shape(view) for view in groups]
    total = sum(part.total for part in found)
    own.tasks = sum(part.task_count for part in found)
    processors = own.processors
    fewest = sum(part.said.fewest_processors for part in found)
    are_fewer = processors is not None and processors.hi is not None and processors.hi < fewest
    is_any = processors is None or (processors.exact is None and processors.admits(total))
    if are_fewer or is_any:
        own.processors = CountRange.exactly(total)  # decisions 1175, 1192
    if all(part.per_task == found[0].per_task for part in found):
        own.per_task = found[0].per_task
    if all(part.nodes or (part.per_node and part.written) for part in found):
        nodes = nodes_together(
            (None if are_slots else named_nodes(view), part.node_count)
            for view, part in zip(groups, found, strict=True)
        )
        own.named = own.nodes is None and all(part.named for part in found)
        if own.nodes and not own.nodes.admits(nodes):
            asked.approximate("NodeCount", f"its task groups have {nodes} together")
        own.nodes = own.nodes or CountRange.exactly(nodes)
    own.nodes = _no_more_than_tasks(own, own.nodes)
    if own.nodes and own.nodes.granted > own.tasks:  # decision 1192
        told = f"NodeCount <= TaskCount does not hold: its task groups have {own.tasks} tasks"
        asked.approximate("NodeCount", told, met=False)
        own.nodes = CountRange.exactly(own.tasks)
    _agree(asked, own, in_tasks=in_tasks)
    own.uneven = own.tasks * own.each != total
    own.tasks_of = tuple(part.task_count for part in found)
    for view, part in zip(groups, found, strict=True):
        for name, number in (("NodeCount", part.nodes), ("Processors", part.processors)):
            if number and number.exact is None:
                view.approximate(name, f"{number.end} {OF_A_RANGE}")
        for name in sorted(COUNTS):
            view.approximate(name, ADDED_UP.format(len(groups)), met=False)
        if own.uneven and in_tasks:
            for name in sorted(COUNTS):
                view.approximate(name, f"{own.tasks * own.each} processors in all, not {total}")
    return own


def _of_whole(asked: JobRequest) -> TaskCounts:
    """Take what a job says of all its task groups together: not how many tasks are in each."""
    own = _stated(asked, ("NodeCount", "Processors"))
    for item in asked.own("TaskCount", "TaskDistribution"):
        asked.refuse(item, "its task groups count their tasks")
    return own


# decisions 937, 1185
def beside_own(
    asked: JobRequest, groups: Sequence[JobRequest], of: TaskCounts, name: str
) -> bool:  # fmt: skip
    """Whether a job asks for an amount itself, so that what its task groups say is refused.

    Not where that is as much: what all tasks of the only group have together.
    """
    if not asked.asks(name):
        return False
    for view in groups:
        if len(groups) == 1 and (said := view.bounds(name)) is not None:
            [tasks] = of.tasks_of
            if said.times(tasks) == asked.bounds(name):
                continue
        for item in view.items(name):
            asked.refuse(item, "its job says what it asks for")
    return True


# decision 983
def in_all(asked: JobRequest, of: TaskCounts, name: str) -> int | None:
    """Take an amount of a job as one number, or what the tasks of its groups have together."""
    total = of_groups(asked, of, name)
    own = one(asked, name, MOST)
    return total or None if own is None else own


def of_groups(asked: JobRequest, of: TaskCounts, name: str) -> int:
    """Take an amount that task groups say of each of their tasks; 0 where their job says it."""
    found = [(one(view, name, MOST) or 0, tasks) for view, tasks in saying(asked, of, name)]
    return sum(each * tasks for each, tasks in found)


def bounds_of_groups(asked: JobRequest, of: TaskCounts, name: str) -> Interval | None:
    """The same where there is a place for a range; None where no group says anything."""
    found = [(view.bounds(name), tasks) for view, tasks in saying(asked, of, name)]
    ends = [(each, tasks) for each, tasks in found if each is not None]
    if not ends:
        return None
    every = [each.times(tasks) for each, tasks in ends]
    lows = [each.lo for each in every if each.lo is not None]
    highs = [each.hi for each in every if each.hi is not None]
    lo, hi = (sum(all_, Fraction(0)) if len(all_) == len(ends) else None for all_ in (lows, highs))
    return Interval(lo, hi)


def saying(asked: JobRequest, of: TaskCounts, name: str) -> Iterator[tuple[JobRequest, int]]:
    """The task groups, each with the number of its tasks, unless their job says an amount."""
    groups = asked.groups()
    if not groups or beside_own(asked, groups, of, name):
        return
    if not is_of_all(groups, name):
        return
    for view, tasks in zip(groups, of.tasks_of, strict=True):
        yield view, tasks
        if len(groups) > 1:
            view.approximate(name, ADDED_UP.format(len(groups)), met=False)


# decisions 1084, 1091
def added_up(asked: JobRequest, names: Iterable[str]) -> list[Property]:
    """What several task groups say, each by itself, and their job has the sum of.

    That is all that counts tasks, nodes or processors, and what all of them say by one of the
    ``names`` of amounts, unless their job says such an amount itself.
    """
    groups = asked.groups()
    every = [
        *sorted(COUNTS),
        *(each for each in names
          if not asked.asks(each) and all(view.asks(each) for view in groups)),
    ]  # fmt: skip
    return [item for view in groups for item in view.items(*every)] if len(groups) > 1 else []


# decision 988
def is_of_all(groups: Sequence[JobRequest], name: str) -> bool:
    """Whether all task groups say an amount; where only some do, it is refused.

    Of what is said without a bound it is told what it is.
    """
    silent = [view for view in groups if not view.asks(name)]
    for view in groups if silent else ():
        if view not in silent:
            view.leave(name, NOT_OF_ALL.format(len(silent), len(groups)))
    return not silent


def only_processors(asked: JobRequest, of: TaskCounts) -> None:
    """Tell of tasks where processors are all that is counted."""
    if of.tasks and of.each > 1:
        asked.convert("TaskCount", f"{of.total} processors, of whichever tasks")


def nodes_of_tasks(of: TaskCounts) -> None:
    """Count nodes that nobody counts by tasks and how many are on each, where these share them."""
    if of.nodes is None and of.filled:
        of.nodes = CountRange.exactly(of.filled)


def count(asked: JobRequest, name: str) -> CountRange | None:
    """Take a number of things, each of which is at least 1."""
    bounds = asked.bounds(name)
    if bounds is None:  # which tells what is compared by NE, and counts nothing by it
        return asked.scope_of(name).other_than(name) if name in asked.names else None
    lo = None if bounds.lo is None else bounds.lo.numerator  # both are whole
    hi = None if bounds.hi is None else bounds.hi.numerator
    is_any = hi is None and (lo is None or lo < 1)
    if is_any or (hi is not None and hi < 1) or (lo and hi and lo > hi):
        refuse_all(asked, asked.items(name), "it is no number above 0")
        return None
    found = CountRange.of(bounds)
    return found if fitting(asked, name, max(found.lo or 0, found.hi or 0)) else None


def one(asked: JobRequest, name: str, wanted: str, why: str = "") -> int | None:
    """Take an amount as one whole number: the ``least`` of a range, or the ``most``."""
    bounds = asked.bounds(name)
    if bounds is None:
        return None
    end = standing(bounds, least=wanted == LEAST)
    assert end is not None
    value = end.numerator  # it is whole
    if value < 1:
        refuse_all(asked, asked.items(name), "it is no number above 0")
        return None
    if bounds.lo is not None and bounds.hi is not None and bounds.lo != bounds.hi:
        asked.approximate(name, f"the {wanted} {OF_A_RANGE}{why}")
    return fitting(asked, name, value) or None


def fitting(asked: JobRequest, name: str, number: int) -> int:
    """A number that fits 64 bits; 0, and what asks for it is refused, where it does not."""
    if number <= LARGEST:
        return number
    refuse_all(asked, asked.items(name), f"{number} {_TOO_LARGE}")
    return 0


def only_one(asked: JobRequest, name: str, count: CountRange | None) -> None:
    """Tell where one number is asked for of a range."""
    if count and count.exact is None:
        asked.approximate(name, f"{count.end} {OF_A_RANGE}: only one number is taken")


def compared(asked: JobRequest, of: TaskCounts, given: int) -> None:
    """Tell where options come to another number of processors than a job asks for, or its tasks."""
    if not given:
        return
    if given == of.total:
        of_tasks = (of.count or 0) * (of.per_task or 0)
        if of_tasks and of.processors and not of.processors.admits(of_tasks):
            asked.approximate("Processors", f"{given} in all, where tasks have {of_tasks}")
        return
    if of.processors:
        asked.approximate("Processors", f"{given} in all", met=given > of.total)
    if of.count and given > of.total and not asked.says("Processors"):
        told = f"{given} processors in all, and {of.total} of its tasks"
        one = ("TaskCount",) if asked.items("TaskCount") else ("NodeCount", "TaskDistribution")
        for name in sorted(COUNTS) if len(asked.job.asking_groups) > 1 else one:
            asked.approximate(name, told)


def _whole(asked: JobRequest, item: Property) -> int:
    try:
        number = units.integer(item.text)
    except InvalidValue as error:
        asked.refuse(item, str(error))
        return 0
    if number < 1:
        asked.refuse(item, "it is no number above 0")
    return max(number, 0)


def _distribution(asked: JobRequest, item: Property, found: TaskCounts) -> None:
    said = task_distribution.read(item)
    number = max(said.per_node, said.per_task)
    if 0 < number < _TOO_MANY_OF_EACH:
        found.per_node = said.per_node or found.per_node
        found.per_task = said.per_task or found.per_task
    elif said.geometry:
        found.geometry = said.geometry
        asked.refuse(item, "only how many tasks and nodes there are")
    elif said.rule == _ROUND_ROBIN:
        found.round_robin = True
        asked.refuse(item, "nothing spreads tasks over nodes")
    else:
        asked.refuse(item, said.faults[-1].message if said.faults else NO_OPTION)


def spread(asked: JobRequest, of: TaskCounts) -> bool:
    """Whether tasks are to be spread over nodes; what says so is taken then."""
    if of.round_robin:
        items = asked.items("TaskDistribution")
        asked.hold(item for item in items if task_distribution.read(item).rule == _ROUND_ROBIN)
    return of.round_robin


def placed(asked: JobRequest, of: TaskCounts) -> tuple[tuple[int, ...], ...]:
    """The tasks of each node, from 0 on, where a geometry says so; that is taken then."""
    first = min((task for group in of.geometry for task in group), default=0)
    items = asked.items("TaskDistribution")
    asked.hold(item for item in items if task_distribution.read(item).geometry)
    return tuple(tuple(task - first for task in group) for group in of.geometry)


def assumed(of: TaskCounts) -> str:
    """How many nodes are taken for an open number of them, for a sentence."""
    return "one is assumed" if of.node_count == 1 else f"{of.node_count} are assumed"


# decision 980
def wall(asked: JobRequest) -> int:
    """Take the Duration in seconds, or that of the longest task group; 0 for none."""
    own, groups = one(asked, "Duration", MOST), asked.groups()
    if own is None and not is_of_all(groups, "Duration"):
        return 0
    found = [(view, one(view, "Duration", MOST) or 0) for view in groups]
    if own is None:
        return max((seconds for _, seconds in found), default=0)
    for view, seconds in found:
        if seconds and seconds != own:
            view.approximate("Duration", f"its job says {own} s", met=own > seconds)
    return own


def is_of_groups(asked: JobRequest, name: str) -> bool:
    """Whether an amount is what task groups come to, which their job does not say itself."""
    return bool(asked.job.asking_groups) and asked.owner is asked.job and not asked.asks(name)


def memory(
    asked: JobRequest, of: TaskCounts, scope: str, *, each: str, name: str = "Memory"
) -> int | None:
    """Take Memory, in bytes for ``each`` (job, task or node); by which arithmetic is told.

    ``scope`` says whose the amount in the job object is. Numbers are rounded up.
    """
    if name in OF_EACH_TASK and is_of_groups(asked, name):
        scope = JOB
    bytes_ = in_all(asked, of, name)
    if bytes_ is None or scope == each:
        return bytes_
    parts = {JOB: 1, NODE: of.node_count, TASK: of.task_count}
    value = units.rounded_up(bytes_ * parts[scope], parts[each])
    if parts[scope] != parts[each]:
        whose = "the job" if each == JOB else f"each {each}"
        asked.convert(name, f"{shown(bytes_, scope)}, {_parts(parts)}: {size(value)} for {whose}")
    return value


def shown(number: int, scope: str) -> str:
    """An amount, and whose it is."""
    return f"{size(number)} of the job" if scope == JOB else f"{size(number)} for each {scope}"


def _parts(parts: dict[str, int]) -> str:
    named = [f"{number} {part}{'s' if number != 1 else ''}"
             for part, number in parts.items() if part != JOB]  # fmt: skip
    return " and ".join(named)


def size(number: int) -> str:
    """Bytes as people read them."""
    text, unit = units.in_units(number)
    return f"{text} {unit}"


def say_size(heard: ScriptReading, name: str, number: int) -> None:
    """An amount of bytes in the largest unit that keeps it whole."""
    text, unit = units.in_units(number)
    heard.request(name, text, units=unit)


def say_wall(heard: ScriptReading, seconds: int) -> None:
    """A limit of the wall time as the amount that who submits asks for (decision 492)."""
    heard.request("Duration", seconds)


def say_amount(
    said: ScriptOptions, heard: ScriptReading, option: str, name: str,
    parse: Callable[[str], Fraction | int | None],
) -> None:  # fmt: skip
    """An option that is a ``Duration`` in seconds, or a size in bytes.

    It is given back where the parser finds none in it: raises ``InvalidValue``, or gives None.
    """
    value = said.last(option)
    if value is None:
        return
    try:
        number = parse(value)
    except InvalidValue as error:
        said.back(option, value, str(error))
        return
    if number is None:
        said.back(option, value)
    elif name == "Duration":
        say_wall(heard, ceil(number))
    else:
        say_size(heard, name, ceil(number))


def rescope(heard: ScriptReading, scope: str) -> None:
    """Memory of the whole job, as it was read, becomes that of each task or node."""
    if scope == JOB:
        return
    tasks, nodes = _said(heard.items, "TaskCount"), _said(heard.requested, "NodeCount") or 1
    per_node = _said(heard.items, "TaskDistribution", "TasksPerNode")
    parts = nodes if scope == NODE else tasks or nodes * (per_node or 1)
    for place, item in enumerate(heard.requested):
        if item.name == "Memory":
            total = units.bytes_of(item.text, item.attributes.get("units", "B"))
            text, unit = units.in_units(-(-total // parts))
            attributes = {**item.attributes, "units": unit}
            heard.requested[place] = Property("Memory", text, attributes)


def _said(items: Iterable[Item], name: str, kind: str = "") -> int:
    """A number that is read, 0 where there is none, or a bound of one."""
    for item in items:
        if isinstance(item, Property) and item.name == name and "op" not in item.attributes:
            text = stripped(item.text)
            if item.said("type") == kind and text.isdecimal() and len(text) < 10:
                return int(text)
    return 0


def choices(
    asked: JobRequest, name: str, fits: Callable[[Interval], bool] = bool
) -> list[Interval]:
    """Take several values of an amount of which any will do, where nothing else is said of it.

    Each is a number or a range that ``fits``. Those of alternatives that are left out are none.
    """
    about = [part for part in asked.demands() if any(
        each.item.name == name for each in expression.comparisons(part)
    )]  # fmt: skip
    if len(about) != 1 or not isinstance(about[0], expression.Or):
        return []
    never_met = asked.scope_of(name).never_met
    found = conditions(
        asked, (name,), partial(_intervals, name=name, fits=fits, never_met=never_met)
    )
    return found[0] if found else []


# decision 1094
def node_counts(
    asked: JobRequest, of: TaskCounts, fits: Callable[[Interval], bool] = bool
) -> list[CountRange]:
    """Take how many nodes there may be, for a target that has a place for ranges of them.

    These are the values of a choice that ``fits``, or else the number or range that ``of`` has;
    nothing where it has none. Each begins at the names that have to be among the nodes; a value
    below them, which nothing satisfies, is left out.
    """
    several = choices(asked, "NodeCount", fits)
    if not several:
        return [of.nodes] if of.nodes else []
    least = max((named_nodes(asked) or NamedNodes()).least, 1)
    begun = [CountRange.of(each).from_least(least) for each in several]
    ended = [_no_more_than_tasks(of, each) or each for each in begun]
    return [each for each in ended if each.hi is None or each.hi >= least] or ended


def _intervals(
    part: expression.Expression,
    name: str,
    fits: Callable[[Interval], bool],
    never_met: Container[int],
) -> list[Interval]:
    """The values of a choice, but for those that cannot be met. Raises ``InvalidValue``."""
    if not isinstance(part, expression.Or):
        raise InvalidValue(str(part), "a choice")
    found: list[Interval] = []
    for each in part.operands:
        parts = expression.conjuncts(each)
        terms = [term for term in parts if isinstance(term, expression.Comparison)]
        if len(terms) < len(parts) or not all(term.op in _OPS for term in terms):
            raise InvalidValue(str(each), "a number or a range")
        value = amount_of(expression.interval(terms, name).integers())
        if value is None or not fits(value):
            raise InvalidValue(str(each), "an amount")
        if not any(id(term.item) in never_met for term in terms):
            found.append(value)
    return found


def amount_of(found: Interval) -> Interval | None:
    """The part of an interval that is not below 0; None where nothing bounds it."""
    lo = found.lo if found.lo is not None and found.lo >= 0 else None
    bounds = Interval(lo, found.hi)
    negative = found.hi is not None and found.hi < 0
    return None if negative or bounds.empty or not bounds.bounded else bounds


class CountedResource(NamedTuple):
    """A Resource of which there is a number: a licence, or else GPUs."""

    items: Sequence[Property]
    name: str
    kind: str
    number: int


class ResourceAmount(NamedTuple):
    """How many of a Resource are asked for, and what says so."""

    items: Sequence[Property]
    number: int


# decisions 668, 898
def resource_terms(
    asked: JobRequest, fold: Callable[[str], str] = str
) -> Iterator[ResourceAmount]:  # fmt: skip
    """Take the resources that are asked for, with the number of each.

    All that is said of one resource is about the same amount: the most of a range, and a part of
    one rounded up. What cannot hold together with what was said before is refused, and so is
    another name that the target does not tell from one before, as ``fold`` makes them the same.
    """
    spelled: dict[tuple[bool, str], str] = {}
    found: dict[object, list[Property]] = {}
    for item in asked.take_bounds("Resource", "name", "type"):
        found.setdefault(resource_names.key(item.attributes), []).append(item)
    for items in found.values():
        licence = license_name(items[0].attributes)
        name = items[0].said("name") if licence is None else licence
        known = spelled.setdefault((licence is None, fold(name)), name)
        if known != name and gpu_model(items[0].attributes) is None:
            refuse_all(asked, items, no_case(known))
        elif (amount := _of_resource(asked, items)) is not None:
            yield amount


def _of_resource(asked: JobRequest, said: Iterable[Property]) -> ResourceAmount | None:
    """What is said of one resource, as a number of at least 1."""
    bounds, items = Interval(), list[Property]()
    for item in said:
        terms = map(expression.Comparison, (*items, item))
        try:
            both = expression.interval(terms, expression.key(item))
        except InvalidValue as error:
            asked.refuse(item, str(error))
            continue
        if both.empty:
            asked.refuse(item, f"{stripped(items[0].text)} of them are asked for, too")
        else:
            bounds = both
            items.append(item)
    whole = bounds.integers()
    end = whole.lo if whole.empty else standing(whole)
    if end is None:
        return None
    if end < 1:
        refuse_all(asked, items, "it is no number above 0")
        return None
    if end > LARGEST:
        refuse_all(asked, items, f"{end} {_TOO_LARGE}")
        return None
    if bounds.lo is not None and bounds.hi is not None and bounds.lo != bounds.hi:
        asked.approximate("Resource", f"the most {OF_A_RANGE}", where=_is_among(items))
    return ResourceAmount(items, int(end))


def _is_among(items: Iterable[Property]) -> Callable[[Property], bool]:
    wanted = set(map(id, items))
    return lambda item: id(item) in wanted


def refuse_all(asked: JobRequest, items: Iterable[Property], why: str) -> None:
    """Say of several properties that they are not carried."""
    for item in items:
        asked.refuse(item, why)


def counted(
    asked: JobRequest, *, typed: bool = False, others: Callable[[str], bool] | None = None,
    is_licence: Callable[[str], bool] = plain, is_kind: Callable[[str], bool] = plain,
    fold: Callable[[str], str] = str,
) -> Iterator[CountedResource]:  # fmt: skip
    """Take GPUs and licences, with the number of each; all else is refused.

    GPUs with a type are refused, too, unless there is an option for ``typed`` ones. ``others`` says
    of which names a Resource of another kind is taken, too; its kind is then "". ``is_licence``
    and ``is_kind`` say which names the target takes for a licence, and for a type of GPUs.
    ``fold`` makes names the same that it does not tell apart.
    """
    for items, count in resource_terms(asked, fold):
        item = items[0]
        licence, model = license_name(item.attributes), gpu_model(item.attributes)
        if licence is not None and is_licence(licence):
            yield CountedResource(items, licence, LICENSE, count)
        elif model is not None and (not model or (typed and is_kind(model))):
            yield CountedResource(items, GPU, model, count)
        elif model is None and licence is None and others is not None and _named(item, others):
            yield CountedResource(items, item.said("name"), "", count)
        else:
            refuse_all(asked, items, _why_not(licence, model, typed=typed))


def _why_not(licence: str | None, model: str | None, *, typed: bool) -> str:
    """Why a Resource is not taken: a plain name is one that the target takes otherwise."""
    if plain(licence or "") or (typed and plain(model or "")):
        return OTHER_MEANING
    return NO_TYPE if model else "it is neither a GPU nor a License"


def _named(item: Property, others: Callable[[str], bool]) -> bool:
    """Whether a Resource is of a name that is taken, and has no type."""
    return not item.said("type") and others(item.said("name"))


class Gpus(NamedTuple):
    """A number of GPUs; "" for those of any type."""

    number: int = 0
    kind: str = ""


# decision 1037
def licence_names(every: Iterable[JobRequest], is_licence: Callable[[str], bool]) -> frozenset[str]:
    """The names of the licences that a job, or one of its task groups, asks for.

    Where a resource has one name and one kind, a feature can have none of them.
    """
    asking = [each for each in every if "Resource" in each.names]
    said = [item for each in asking for item in each.demanding("Resource")]
    names = (license_name(item.attributes) for item in said)
    return frozenset(name for name in names if name is not None and is_licence(name))


def is_license(item: Property) -> bool:
    """Whether a Resource is a licence."""
    return resource_names.is_license(item.attributes)


def is_gpu(item: Property) -> bool:
    """Whether a Resource is GPUs."""
    return gpu_model(item.attributes) is not None


def resources(
    asked: JobRequest, *, typed: bool = False, is_licence: Callable[[str], bool] = plain,
    fold: Callable[[str], str] = str,
) -> tuple[Gpus, list[tuple[str, int]]]:  # fmt: skip
    """Take GPUs, all together, and licences by their names; of GPUs one type, if there is any."""
    gpus, licences, _ = all_resources(asked, typed=typed, is_licence=is_licence, fold=fold)
    return gpus, licences


def all_resources(
    asked: JobRequest, *, typed: bool = False, others: Callable[[str], bool] | None = None,
    is_licence: Callable[[str], bool] = plain, fold: Callable[[str], str] = str,
) -> tuple[Gpus, list[tuple[str, int]], list[tuple[str, int]]]:  # fmt: skip
    """The same, and Resources of other names, as ``counted`` takes them."""
    gpus, licences, found = Gpus(), [], []
    every = counted(asked, typed=typed, others=others, is_licence=is_licence, fold=fold)
    for items, name, kind, count in every:
        if kind == LICENSE:
            licences.append((name, count))
        elif name != GPU:
            found.append((name, count))
        elif gpus.number and kind != gpus.kind:
            refuse_all(asked, items, "GPUs of another type are asked for")
        else:
            gpus = Gpus(gpus.number + count, kind)
    return gpus, licences, found


def say_gpus(heard: ScriptReading, number: int, kind: str = "") -> None:
    """GPUs of a job, of a type if it is said."""
    heard.request("Resource", number, name=GPU, **({"type": kind} if kind else {}))


def say_licences(heard: ScriptReading, found: list[tuple[str, str]] | None) -> bool:
    """Licences with the number of each; False, and nothing is said, where there are none."""
    for name, count in found or ():
        heard.request("Resource", count, **license_attributes(name))
    return found is not None


def say_count(heard: ScriptReading, name: str, lo: int | None, hi: int | None) -> None:
    """A number, or a range of them."""
    if lo == hi and lo is not None:
        heard.request(name, str(lo))
        return
    if lo is not None:
        heard.request(name, lo, op="GE")
    if hi is not None:
        heard.request(name, hi, op="LE")
