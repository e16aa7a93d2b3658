"""How many tasks, nodes and processors there are, whoever asks: layouts, features, targets (5.1).

Strategy. TaskCount, NodeCount, Processors, TaskDistribution, Task elements and names of nodes say
the same thing several times, and each may be left out or be a bound. They are derived in one
order: tasks are what is given, or follow from processors, or from nodes, or are one; nodes are what
is given, or named, or what the tasks fill; processors are what is given, or what the tasks have.
Each number keeps what it follows from. Of a range the number is taken that agrees with the others:
the least, or below an upper end alone the most.

Why it is right: what is given comes before all that could be derived in its place. So whoever holds
the equations of 5.2 against these numbers finds each one that is broken (``layout.plan``), and
whoever cannot refuse goes on with those of higher precedence (``translate.numbers``, ``amounts``).

>>> said = StatedCounts(processors=CountRange(5, None), per_task=2)
>>> said.tasks, said.nodes, said.processors_of_tasks
(DerivedCount(value=3, source='Processors / ProcessorsPerTask'), None, 6)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count, islice
from typing import NamedTuple, Protocol

from sssjob.expression import Interval
from sssjob.model import Block, Property, Task
from sssjob.units import XML_SPACE

# What a number follows from.
GEOMETRY, TASK_COUNT, TASKS, NODE_COUNT = "geometry", "TaskCount", "Task", "NodeCount"
NODES_OF_TASKS, NAMED, SINGLE_TASK, ASSUMED = "Task/Node", "Node", "a single task", "assumed"
BY_PROCESSORS = "Processors / ProcessorsPerTask"
BY_NODES = "NodeCount x TasksPerNode"
BY_TASKS = "TaskCount / TasksPerNode"

_NOTHING: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class CountRange:
    """Whole numbers from 1 on between two ends, None where one is open, but for the excluded.

    An upper end alone has no lower one: it asks for as much as there may be.
    """

    lo: int | None
    hi: int | None
    excluded: frozenset[int] = _NOTHING

    @classmethod
    def of(cls, bounds: Interval) -> CountRange:
        """The whole numbers of at least 1 that an interval has, if there are any.

        One without bounds begins at 1.

        >>> from fractions import Fraction
        >>> from sssjob.expression import Interval
        >>> CountRange.of(Interval(Fraction(0), excluded=frozenset((Fraction(1),))))
        CountRange(lo=2, hi=None, excluded=frozenset({1}))
        """
        whole = bounds.integers()
        lo, hi = (None if end is None else end.numerator for end in (whole.lo, whole.hi))
        if (lo is None and hi is None) or (lo is not None and lo < 1):
            lo = 1  # "not one" is two or more
        if not whole.excluded:
            return cls(lo, hi)
        while lo is not None and lo in whole.excluded:
            lo += 1
        return cls(lo, hi, frozenset(int(each) for each in whole.excluded if each.denominator == 1))

    @classmethod
    def exactly(cls, number: int) -> CountRange:
        """One number."""
        return cls(number, number)

    @property
    def empty(self) -> bool:
        """Whether there is no number."""
        return self.hi is not None and self.hi < (self.lo or 1)

    @property
    def exact(self) -> int | None:
        """The number, where there is only one."""
        return self.lo if self.lo == self.hi else None

    @property
    def least(self) -> int:
        """What is taken where nothing else decides: the lower end, or else the upper."""
        if self.lo is not None:
            return self.lo
        return 1 if self.hi is None else self.hi

    @property
    def granted(self) -> int:
        """How many there are at least, where all of a range is asked for."""
        return self.lo or 1

    @property
    def end(self) -> str:
        """Which end of a range ``least`` is."""
        return "the most" if self.lo is None else "the least"

    @property
    def interval(self) -> Interval:
        """The same as an amount is bounded."""
        lo, hi = (None if end is None else Fraction(end) for end in (self.lo, self.hi))
        return Interval(lo, hi)

    def admits(self, number: int) -> bool:
        """Whether a number is among these."""
        return (
            (self.lo or 1) <= number
            and (self.hi is None or number <= self.hi)
            and number not in self.excluded
        )

    def times(self, factor: int) -> CountRange:
        """So many times as many."""
        return CountRange(
            None if self.lo is None else self.lo * factor,
            None if self.hi is None else self.hi * factor,
        )

    # decision 1023
    def from_one(self) -> CountRange:
        """The same, where an upper end alone begins at one: any number up to it will do."""
        if self.lo is not None or self.hi is None:
            return self
        return replace(self, lo=self._up(1))

    # decision 1066
    def from_least(self, number: int) -> CountRange:
        """The same from a number on, or from the next one that is admitted, where there is one.

        >>> CountRange(1, None, frozenset((2,))).from_least(2).lo
        3
        """
        if number <= (self.lo or 1) or not self.admits(least := self._up(number)):
            return self
        return replace(self, lo=least)

    def up_to(self, number: int | None) -> CountRange:
        """The same up to a number, where there is an upper end and that leaves any.

        >>> CountRange(2, 6, frozenset((4,))).up_to(4)
        CountRange(lo=2, hi=3, excluded=frozenset({4}))
        """
        if number is None or self.hi is None or number >= self.hi:
            return self
        while number in self.excluded:
            number -= 1
        return self if number < (self.lo or 1) else replace(self, hi=number)

    def ending_at(self, number: int | None) -> CountRange:
        """The same up to a number, which also ends what is open, where that leaves any."""
        if number is None:
            return self
        return (self if self.hi is not None else replace(self, hi=max(number, 1))).up_to(number)

    def _up(self, number: int) -> int:
        while number in self.excluded:
            number += 1
        return number

    def next_to(self, number: int, least: int = 1) -> int:
        """The number, or where it is excluded the first from there on that is not.

        Below an upper end alone that is sought down to the ``least``, and then up.

        >>> CountRange(1, None, frozenset((2,))).next_to(2)
        3
        """
        found = number
        while self.lo is None and found in self.excluded and found > least:
            found -= 1
        return self._up(number) if found in self.excluded else found

    def multiples(self, step: int, times: int = 0, most: int | None = None) -> Iterator[int]:
        """The multiples of ``step`` that are admitted, seen from ``least``.

        Those by no less than ``times``, if there may be such, and below an upper end alone by no
        more than ``most``.

        >>> [*CountRange(None, 7).multiples(2)], [*CountRange(3, 7).multiples(2, 3)]
        ([6, 4, 2], [6])
        """
        if self.lo is None:
            last = self.least // step
            numbers: Iterable[int] = range(last if most is None else min(last, most), 0, -1)
        elif self.hi is None:
            numbers = count(max(-(-self.lo // step), times))
        else:
            first = -(-self.lo // step)
            numbers = range(max(first, times) if times * step <= self.hi else first,
                            self.hi // step + 1)  # fmt: skip
        return (each * step for each in numbers if self.admits(each * step))

    def fitting(self, step: int) -> int | None:
        """The first multiple of ``step`` that is admitted, seen from ``least``; None if none is.

        >>> CountRange(3, None).fitting(6), CountRange(None, 10).fitting(3)
        (6, 9)
        >>> CountRange(5, 5).fitting(2) is None
        True
        """
        return next(self.multiples(step), None)

    # decision 884
    def multiple(self, step: int) -> int:
        """The same, or where none is admitted the least that has no less, at least one ``step``.

        >>> CountRange(5, 5).multiple(2), CountRange(None, 3).multiple(4)
        (6, 4)
        """
        if (found := self.fitting(step)) is not None:
            return found
        return max(self.least // step if self.lo is None else -(-self.least // step), 1) * step


class NodeNames(Protocol):
    """Names of nodes that a request gives, as they count nodes (``named_nodes.NamedNodes``)."""

    @property
    def is_counted(self) -> bool:
        """Whether the names say how many nodes are wanted."""

    @property
    def least(self) -> int:
        """How many nodes there are at least."""

    @property
    def greatest(self) -> int | None:
        """How many nodes there are at most; None where names set no end."""

    def count(self, most: int | None = None, need: int | None = None) -> int | None:
        """How many nodes there are, where nothing else counts them."""

    def bounds(self, asked: CountRange) -> CountRange:
        """Which of the numbers that are asked for there can be."""

    def least_beside(self, others: Sequence[str]) -> int:
        """How many nodes there are at least, if these are among them, too."""


# decisions 934, 1066, 1098
def as_names_have(nodes: CountRange | None, names: NodeNames | None) -> CountRange | None:
    """How many nodes are counted beside names: no fewer than these have, or what they count."""
    if names is None:
        return nodes
    if nodes is None:
        return CountRange.exactly(names.least) if names.is_counted else None
    return names.bounds(nodes)


def pins(block: Block) -> tuple[str, ...]:
    """For each Task element of a block the node that it names, or nothing."""
    return tuple(map(_pin, block.blocks(Task)))


def _pin(task: Task) -> str:
    """The one node that a task names."""
    for properties in (task.properties, task.delivered, task.requested):
        item: Property | None = properties.get("Node", aggregation="", op="")
        if item is not None:
            return item.text.strip(XML_SPACE)
    return ""


class DerivedCount(NamedTuple):
    """A number, and what it follows from."""

    value: int
    source: str


class StatedCounts(NamedTuple):
    """What is said of tasks, nodes and processors, and what follows from it; None of nothing said.

    ``counted`` are the nodes as names have it (``as_names_have``), ``pins`` has the node that each
    Task element names, or "". ``rounded``: what tasks do not share evenly is rounded up, for who
    asks for no less than what is said; else it contradicts.
    """

    task_count: int | None = None
    counted: CountRange | None = None
    processors: CountRange | None = None
    per_node: int | None = None
    per_task: int | None = None
    geometry: Sequence[Sequence[int]] = ()
    pins: Sequence[str] = ()
    names: NodeNames | None = None
    rounded: bool = False

    # decisions 981, 1140
    @property
    def given_tasks(self) -> DerivedCount | None:
        """How many tasks there are, where it is said by itself; a geometry overrides the rest.

        Task elements are not all spelled out: processors or nodes may ask for more.
        """
        if self.geometry:
            return DerivedCount(sum(map(len, self.geometry)), GEOMETRY)
        if self.task_count is not None:
            return DerivedCount(self.task_count, TASK_COUNT)
        if self.pins and len(self.pins) > self._implied:
            return DerivedCount(len(self.pins), TASKS)
        return None

    @property
    def _implied(self) -> int:
        """How many tasks the processors or nodes ask for."""
        counted, each = self._counted, self.per_task or 1
        if (asked := self.processors) is not None:
            return (self._shared_by_tasks(asked, each) or asked.least) // each
        if counted is None:
            return self._named_beside_tasks
        more = self._filling(counted.least)
        return more if more > len(self.pins) else counted.least * (self.per_node or 1)

    # decision 1142
    @property
    def nodes_of_tasks(self) -> Sequence[str]:
        """The nodes that Task elements name, each once."""
        return tuple(dict.fromkeys(filter(None, self.pins))) if self.pins else ()

    @property
    def _beside(self) -> int:
        """How many tasks are on a node that another one names as well: they need none more."""
        if not self.pins:
            return 0
        return sum(map(bool, self.pins)) - len(self.nodes_of_tasks)

    @property
    def nodes_by_name(self) -> int:
        """How many nodes there are at least: those of tasks, and those that the request names."""
        if not self.pins:
            return 0
        own = self.nodes_of_tasks
        return self.names.least_beside(own) if own and self.names is not None else len(own)

    @property
    def _counted(self) -> CountRange | None:
        """The nodes that are counted, no fewer than these have names where that is admitted."""
        if self.counted is None or not self.pins:
            return self.counted
        return self.counted.from_least(self.nodes_by_name)

    @property
    def _named_beside_tasks(self) -> int:
        """How many tasks the nodes ask for that have names, where Task elements are fewer.

        A set to choose from asks for no more than these.
        """
        if self.names is None or self.counted is not None:
            return 0
        nodes = max(self.names.count(1) or 0, self.nodes_by_name)
        return nodes + self._beside if nodes + self._beside > len(self.pins) else 0

    def _filling(self, nodes: int) -> int:
        """How many tasks so many nodes ask for, of which none is without one."""
        return nodes * self.per_node if self.per_node is not None else nodes + self._beside

    def most_nodes(self, tasks: int) -> int:
        """On how many nodes tasks can be, if some of them are together by the node they name."""
        return max(tasks - self._beside, 1) if self.pins else tasks

    def _fewest(self, tasks: int) -> int:
        """On how many nodes tasks are at least."""
        return max(self.nodes_needed(tasks), self.nodes_by_name)

    @property
    def tasks_to_place(self) -> DerivedCount | None:
        """How many tasks there are, where something else than nodes says it: given, or processors.

        No node is without a task (decision 934), and no task is without room.
        """
        given, processors, each = self.given_tasks, self.processors, self.per_task or 1
        if given is not None or processors is None:
            return given
        found = self._shared_by_tasks(processors, each)
        if found is None:  # which a layout tells, and a target rounds up
            found = processors.multiple(each) if self.rounded else max(processors.least, each)
        return DerivedCount(found // each, BY_PROCESSORS)

    # decision 1129
    @property
    def _among(self) -> CountRange | None:
        """Among how many nodes the tasks may be: as these are counted, and as they have names."""
        counted, names = self._counted, self.names
        if names is None:
            return counted
        if counted is None:
            counted = CountRange(max(names.least, self.nodes_by_name) or None, None)
        return counted.ending_at(names.greatest)

    # decision 1130
    def _shared_by_tasks(self, processors: CountRange, each: int) -> int | None:
        """The first number of processors that is admitted and whose tasks fit on nodes.

        Those come first whose tasks leave none of the nodes that they fill without one, and last
        those that do not fit. There is none where none is admitted.
        """
        among = self._among
        if among is None:
            return processors.fitting(each)
        least = filling = 0
        if among.lo is not None:
            least = among.lo + self._beside
            if among.lo > self.nodes_by_name:
                filling = (among.lo - 1) * (self.per_node or 1) + 1
        # A number of nodes that is excluded leaves out the tasks of as many as fill it.
        most = (len(among.excluded) + 1) * (self.per_node or 1) + 1
        room = self._room_of(among)
        for times, filled in ((max(least, filling), True), (least, False)):
            for number in islice(processors.multiples(each, times, room), most):
                if self._fit_nodes(among, number // each, filled=filled):
                    return number
        return next(processors.multiples(each, least, room), None)

    def _fit_nodes(self, among: CountRange, tasks: int, *, filled: bool = False) -> bool:
        """Whether so many tasks, of which none is without room, leave no node without one.

        ``filled``: nor where each node has as many as it may, one after the other.
        """
        need, most = self._fewest(tasks), self.most_nodes(tasks)
        number = among.next_to(max(among.lo or 1, need))
        if filled and self.per_node and number > need:
            return False
        return need <= number <= min(most, among.hi or most)

    # decision 1136
    @property
    def room(self) -> int | None:
        """For how many tasks the nodes have room; None where nothing says it."""
        among = self._among
        return None if among is None else self._room_of(among)

    def _room_of(self, among: CountRange) -> int | None:
        """The same of nodes of which there are so many."""
        return None if among.hi is None or self.per_node is None else among.hi * self.per_node

    @property
    def tasks(self) -> DerivedCount:
        """How many tasks there are: one where nothing says it."""
        if (found := self.tasks_to_place) is not None:
            return found
        if (counted := self._counted) is not None:
            source = NODE_COUNT if self.per_node is None else BY_NODES
            return DerivedCount(self._filling(counted.least), source)
        if self.pins and (least := self._named_beside_tasks):
            return DerivedCount(least, NAMED)
        named = self.names.count() if self.names is not None else None
        if named is not None and (named > 1 or self.per_node is not None):  # all are wanted
            return DerivedCount(named * (self.per_node or 1), NAMED)
        return DerivedCount(1, ASSUMED)

    @property
    def share(self) -> int | None:
        """Which even part of the processors each of the given tasks has; None where none has one.

        Of a range that is a part of the first number that can be shared so.
        """
        given, processors = self.given_tasks, self.processors
        if given is None or processors is None:
            return None
        find = processors.multiple if self.rounded else processors.fitting
        even = find(given.value)
        return None if even is None else even // given.value

    @property
    def each(self) -> int:
        """Processors of one task: given, or an even part of all, or one."""
        return self.per_task or self.share or 1

    @property
    def processors_of_tasks(self) -> int | None:
        """How many processors the tasks have; None where that is not what is asked for."""
        product = self.tasks.value * self.each
        return product if self.processors is None or self.processors.admits(product) else None

    # decision 1192
    @property
    def fewest_processors(self) -> int:
        """With how many processors it can do: of a range no more than its given tasks need."""
        if self.processors is None:
            return self.tasks.value * self.each
        given, least = self.given_tasks, self.processors.granted
        product = given.value * (self.per_task or 1) if given is not None else 0
        return product if product > least and self.processors.admits(product) else least

    # decision 1134
    @property
    def overruling(self) -> int | None:
        """How many processors the given tasks have, where these overrule those that are asked for.

        None where both agree, or tasks only do not share them evenly.
        """
        given, asked = self.given_tasks, self.processors
        if given is None or asked is None:
            return None
        product = given.value * (self.per_task or 1)
        are_fewer = asked.hi is not None and asked.hi < product
        is_other = self.per_task is not None and not asked.admits(product)
        return product if are_fewer or is_other else None

    def nodes_needed(self, tasks: int) -> int:
        """On how many nodes tasks are at least, if so many may be on each."""
        return -(-tasks // self.per_node) if self.per_node else 1

    # decisions 902, 908
    @property
    def stated_nodes(self) -> DerivedCount | None:
        """How many nodes are counted or named: of a range as many as the tasks need."""
        if self.geometry:
            return DerivedCount(len(self.geometry), GEOMETRY)
        tasks = self.tasks_to_place
        if (counted := self._counted) is not None:
            return DerivedCount(self._counted_for(counted, tasks), NODE_COUNT)
        if self.pins and tasks is not None and len(self.pins) == tasks.value and all(self.pins):
            return DerivedCount(len(set(self.pins)), NODES_OF_TASKS)
        if self.names is None:
            return None
        most = need = None
        if tasks is not None:
            most = self.most_nodes(tasks.value)
            need = None if self.per_node is None else self.nodes_needed(tasks.value)
        number = self.names.count(most, need)
        return None if number is None else DerivedCount(max(number, self.nodes_by_name), NAMED)

    def _counted_for(self, counted: CountRange, tasks: DerivedCount | None) -> int:
        if tasks is None:
            return counted.least
        need = self._fewest(tasks.value)
        found = max(counted.least, need)
        if counted.lo is None:
            found = min(counted.least, self.most_nodes(tasks.value))
        found = counted.next_to(found, need)
        return found if counted.admits(found) else counted.least

    @property
    def nodes(self) -> DerivedCount | None:
        """How many nodes there are: counted, named, or filled by the tasks; None of an open number.

        Named nodes that the tasks fill are counted by these.
        """
        found, said = self.stated_nodes, self.tasks_to_place
        tasks = self.tasks.value
        need = self._fewest(tasks)
        is_named = found is not None and found.source == NAMED
        filled = found is None or (is_named and said is not None and found.value == need)
        if self.per_node is not None and filled:
            return DerivedCount(need, BY_TASKS)
        if found is None and tasks == 1:
            return DerivedCount(1, SINGLE_TASK)
        return found
