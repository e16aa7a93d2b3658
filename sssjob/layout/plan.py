"""From what is stated to numbers, from numbers to nodes: derive, check, place.

Strategy. What TaskCount, NodeCount, Processors and TaskDistribution say several times may be left
out, be a bound, and contradict each other.

The idea is to derive the counts one after the other (``task_counts``): a count is what is given,
or what follows from others, or one, and it keeps its source. Each equation between counts
(``TaskCount <= NodeCount x TasksPerNode`` and its like) is checked as soon as both of its sides
are known. Tasks are placed last, by the distribution that is asked for, or evenly. The number of
nodes may stay unknown; then nothing is placed.

Why it is right: a count that is given comes before any that could be derived in its place, so
that an equation that does not hold is found, with both of its sides and where these were written.
Strictly each one is an error and nothing is placed; leniently the value of higher precedence is
taken and a warning says so, which is the freedom that SSS 5.1 leaves. More tasks or nodes than
``LIMIT`` are counted and checked, but not placed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heapreplace
from itertools import repeat

from sssjob import task_counts
from sssjob.errors import Finding, finding
from sssjob.layout.request import LayoutRequest
from sssjob.layout.values import Count, Layout, Share
from sssjob.nodes import Names
from sssjob.task_counts import ASSUMED, DerivedCount, StatedCounts
from sssjob.task_distribution import LIMIT

ROUND_ROBIN, BALANCED, AS_NAMED = "RoundRobin", "balanced", "as the tasks say"
SHARED = "Processors / TaskCount"

_SECTION = "SSS 5.1 TaskDistribution"
_SHOWN = 8  # tasks of a node that are told


@dataclass(slots=True)
class CountsPlan:
    """The counts of one alternative while they are worked out, and what contradicts what."""

    request: LayoutRequest
    lenient: bool
    findings: list[Finding] = field(default_factory=list)
    said: StatedCounts = field(init=False)

    def __post_init__(self) -> None:
        self.said = self.request.said

    def checked(self) -> Layout:
        """The counts, checked against each other, without the tasks on nodes."""
        asked, spread = self.request, self.request.distribution
        each, tasks = self._each(), self._tasks()
        processors, nodes = self._processors(tasks, each), self._nodes()
        if nodes is not None:
            nodes = self._enough(tasks, nodes)
        self._named(nodes)
        if spread.geometry and asked.pins:
            self._parted()
        return Layout(
            asked.alternative, tasks, nodes, processors, each, spread.per_node, self._rule(), (),
            tuple(self.findings),
        )  # fmt: skip

    def layout(self) -> Layout:
        """The counts, and the tasks on nodes."""
        asked, spread, laid = self.request, self.request.distribution, self.checked()
        tasks, nodes = laid.tasks, laid.nodes
        carried = spread.rule not in ("", ROUND_ROBIN) and not self._all_pinned(tasks.value)
        if nodes is None or carried or not laid.holds:
            return laid
        if max(nodes.value, tasks.value) > LIMIT:
            too_many = f"only layouts of up to {LIMIT} tasks and nodes are worked out"
            found = finding("E-LIMIT", too_many, path=asked.path, line=asked.line, section=_SECTION)
            return replace(laid, findings=(*self.findings, found))
        return replace(laid, shares=tuple(self._shares(tasks.value, nodes.value, laid.rule)))

    # Derive: what is given, or else what follows from what is given; and what overrides what.

    def _each(self) -> Count:
        """Processors of one task: given, or an even part of all, or one."""
        if (given := self.request.distribution.per_task) is not None:
            return given
        even = self.said.share
        return Count(1, ASSUMED) if even is None else Count(even, SHARED)

    def _tasks(self) -> Count:
        asked, spelled = self.request, len(self.request.pins)
        tasks = self._from(self.said.tasks)
        stated = asked.tasks and asked.tasks.count(asked.tasks.least)
        if stated and stated.value != tasks.value:
            text = f"{stated} is not {tasks}"
            self._contradicts("TaskCount = tasks of the geometry", text, stated, tasks.value)
        elif asked.distribution.geometry and spelled > tasks.value:
            text = f"{tasks} is less than the {spelled} Task elements"
            self._contradicts("tasks of the geometry >= Task elements", text, tasks, tasks.value)
        elif stated and spelled > stated.value:
            text = f"{stated} is less than the {spelled} Task elements"
            self._contradicts("TaskCount >= Task elements", text, stated, stated.value)
        return tasks

    def _from(self, found: DerivedCount) -> Count:
        """A number with the place where that stands which it follows from."""
        asked, spread, named = self.request, self.request.distribution, self.request.candidates
        places = {
            task_counts.GEOMETRY: (spread.path, spread.line),
            task_counts.TASK_COUNT: (asked.tasks.path, asked.tasks.line) if asked.tasks else None,
            task_counts.TASKS: (f"{asked.path}/Task", 0),
            task_counts.NODES_OF_TASKS: (f"{asked.path}/Task/Node", 0),
            task_counts.NAMED: (named.path, named.line),
        }
        source, line = places.get(found.source) or (found.source, 0)
        return Count(found.value, source, line)

    def _processors(self, tasks: Count, each: Count) -> Count:
        product = Count(tasks.value * each.value, "TaskCount x ProcessorsPerTask")
        stated = self.request.processors
        if stated is None:
            return product
        if stated.bounds.admits(product.value):
            return stated.count(product.value)
        self._contradicts(
            "Processors = TaskCount x ProcessorsPerTask", f"{stated} is not {tasks} x {each}",
            stated.count(stated.least), product.value,
        )  # fmt: skip
        return product if self.lenient else stated.count(stated.least)

    def _nodes(self) -> Count | None:
        """The number of nodes: given, or as many as the tasks need, or those that are named."""
        asked, found = self.request, self.said.nodes
        if found is None:
            return None
        if found.source == task_counts.NODE_COUNT and asked.nodes is not None:
            return asked.nodes.count(found.value)
        given = self._from(found)
        stated = asked.nodes
        if stated is not None and not stated.bounds.admits(given.value):
            self._contradicts(
                "NodeCount = nodes of the geometry", f"{stated} is not {given}",
                stated.count(stated.least), given.value,
            )  # fmt: skip
        return given

    # Check: each equation that does not hold names its sources.

    def _enough(self, tasks: Count, nodes: Count) -> Count:
        """TaskCount <= NodeCount x TasksPerNode, NodeCount <= TaskCount, and what tasks name."""
        per_node = self.request.distribution.per_node
        nodes = self._enough_named(nodes)
        pins = Counter(filter(None, self.request.pins if per_node is not None else ()))
        if per_node is not None and pins and (most := pins.most_common(1)[0])[1] > per_node.value:
            text = f"{per_node} is less than the {most[1]} tasks on {most[0]}"
            self._contradicts("TasksPerNode >= tasks that name a node", text, per_node, most[1])
        if per_node is not None and tasks.value > nodes.value * per_node.value:
            need = -(-tasks.value // per_node.value)
            text = f"{tasks} is more than {nodes} x {per_node}"
            self._contradicts("TaskCount <= NodeCount x TasksPerNode", text, nodes, need)
            nodes = self._taken(nodes, need, "TaskCount / TasksPerNode")
        return self._no_more(nodes, tasks)

    # decision 1142
    def _enough_named(self, nodes: Count) -> Count:
        """NodeCount >= the nodes that Task elements name, that the request names, and both."""
        said, candidates = self.said, self.request.candidates
        own = said.nodes_of_tasks
        if len(own) > nodes.value and not said.geometry:
            text = f"{nodes} is less than the {len(own)} nodes that Task elements name"
            self._contradicts("NodeCount >= nodes of the tasks", text, nodes, len(own))
            nodes = self._taken(nodes, len(own), "Task/Node")
        if (needed := candidates.least) > nodes.value:
            text = f"{nodes} is less than the {needed} that have to be among them by name"
            self._contradicts("NodeCount >= nodes that are named", text, nodes, needed)
            nodes = self._taken(nodes, needed, candidates.path)
        both = candidates.least_beside(own) if own else 0
        if both > max(nodes.value, len(own), needed):
            text = f"{nodes} is less than the {both} that Task elements and Node name together"
            self._contradicts("NodeCount >= nodes that are named", text, nodes, both)
            nodes = self._taken(nodes, both, candidates.path)
        return nodes

    def _no_more(self, nodes: Count, tasks: Count) -> Count:
        """NodeCount <= TaskCount; of tasks that name a node several may be on one."""
        most = tasks.value if self.said.geometry else self.said.most_nodes(tasks.value)
        if nodes.value <= most:
            return nodes
        text = f"{nodes} is more than {tasks}"
        if most < tasks.value:
            text = f"{nodes} is more than {most}, as several of {tasks} name one node"
        self._contradicts("NodeCount <= TaskCount", text, nodes, most)
        return self._taken(nodes, most, "TaskCount")

    def _taken(self, count: Count, value: int, source: str) -> Count:
        """What is gone on with: leniently what overrides, strictly what was said."""
        return Count(value, source) if self.lenient else count

    def _named(self, nodes: Count | None) -> None:
        """Whether the sets that nodes are to be chosen from have as many, and any name is left."""
        candidates = self.request.candidates
        if nodes is not None and nodes.value > LIMIT:
            return
        self._strangers()
        short = [*candidates.short(counted=nodes is not None)]
        for names, count, left in short:
            text, line = _short(names, count, left), candidates.line_of(names)
            self._unsatisfiable(text, line, counted=bool(count))
        if short or nodes is None:
            return
        most = candidates.most
        size = nodes.value if candidates.open else candidates.among(nodes.value)
        if most is not None:
            size = min(size, most)
        if size < nodes.value:
            counted = nodes.source.endswith("/@count")
            text = f"{nodes} nodes are wanted of a set of {size}"
            self._unsatisfiable(text, candidates.line, counted=counted)

    def _strangers(self) -> None:
        """Whether the nodes that Task elements name are among those that the request admits."""
        own = self.said.nodes_of_tasks
        if some := [*self.request.candidates.strangers(own)] if own else ():
            text = f"the request admits no node {some[0]}, which a Task element names"
            self._unsatisfiable(text, self.request.candidates.line, counted=False)

    def _unsatisfiable(self, text: str, line: int, *, counted: bool) -> None:
        """Tell that names cannot be had, of a set by its count or else of Node."""
        candidates = self.request.candidates
        self.findings.append(finding(
            "E-UNSAT", text, path=f"{candidates.path}/@count" if counted else candidates.path,
            line=line, section="SSS 5.1 Node",
        ))  # fmt: skip

    # decision 1143
    def _parted(self) -> None:
        """Whether tasks name one node where a geometry has them together, and another elsewhere."""
        spread, seen = self.request.distribution, set[str]()
        blamed = Count(0, spread.path, spread.line)
        equation = "nodes of the tasks = nodes of the geometry"
        for part, names in zip(spread.geometry, self.request.nodes_of_geometry, strict=False):
            tasks = ",".join(map(str, part[:_SHOWN])) + ",..." * (len(part) > _SHOWN)
            if len(names) > 1:
                text = f"the tasks of {{{tasks}}} name {names[0]} and {names[1]}"
                self._contradicts(equation, text, blamed, 0)
            elif twice := seen.intersection(names):
                text = f"tasks apart from those of {{{tasks}}} name {min(twice)} as well"
                self._contradicts(equation, text, blamed, 0)
            seen.update(names)

    def _contradicts(self, equation: str, text: str, blamed: Count, taken: int) -> None:
        code, suggestion = "E-COUNTS", ""
        if self.lenient:
            code, suggestion = "W-COUNTS", f"{taken or 'the geometry'} is taken"
        path = blamed.source if blamed.source.startswith("/") else self.request.path
        message = f"{equation} does not hold: {text}"
        line = blamed.line or self.request.line
        self.findings.append(finding(
            code, message, path=path, line=line, section=_SECTION, suggestion=suggestion
        ))  # fmt: skip

    # Place: every task on one node.

    def _rule(self) -> str:
        spread = self.request.distribution
        if spread.geometry:
            return "Geometry"
        if spread.rule:
            return spread.rule
        if spread.per_node:
            return "TasksPerNode"
        named = self.request.pins
        return AS_NAMED if named and all(named) else BALANCED

    def _all_pinned(self, tasks: int) -> bool:
        pins = self.request.pins
        return len(pins) == tasks and all(pins)

    def _shares(self, tasks: int, nodes: int, rule: str) -> Iterator[Share]:
        asked, spread = self.request, self.request.distribution
        pinned: dict[str, list[int]] = {}
        if spread.geometry:
            yield from self._of_geometry(nodes)
            return
        for task, name in enumerate(asked.pins[:tasks]):
            if name:
                pinned.setdefault(name, []).append(task)
        if pinned:
            named = asked.candidates.beside(tuple(pinned)).names(nodes)
            per_node = None if spread.per_node is None else spread.per_node.value
            yield from _around(pinned, tasks, nodes, named, per_node)
            return
        parts: Iterator[Sequence[int]]
        if rule == ROUND_ROBIN:
            parts = (range(node, tasks, nodes) for node in range(nodes))
        elif spread.per_node is not None:
            parts = filled(tasks, nodes, spread.per_node.value)
        else:
            parts = balanced(tasks, nodes)
        names = asked.candidates.names(nodes)
        for number, part in enumerate(parts):
            yield Share(names[number] if number < len(names) else "", part)

    def _of_geometry(self, nodes: int) -> Iterator[Share]:
        """The nodes of a geometry by the names that their tasks have for them, or else by others.

        One that is named apart is that of the first tasks that name it.
        """
        asked, taken = self.request, set[str]()
        own = asked.nodes_of_geometry or ((),) * nodes
        every = {name for names in own for name in names[:1]}
        found = asked.candidates.beside(tuple(every)).names(nodes)
        others = iter([name for name in found if name not in every])
        for part, names in zip(asked.distribution.geometry, own, strict=True):
            name = next((name for name in names[:1] if name not in taken), "")
            taken.add(name)
            yield Share(name or next(others, ""), part)


def _short(names: Names, count: int | None, left: int) -> str:
    """What is said of a set of which fewer names are left than have to be among the nodes."""
    if count:
        return f"{count} nodes are wanted of a set of {left}"
    some = "node" if names.distinct == 1 else f"set of {names.distinct}"
    return f"nothing is left of a {some} that has to be among the nodes"


def balanced(tasks: int, nodes: int) -> Iterator[Sequence[int]]:
    """Each node as many tasks as the others; the first have one more where it must be.

    >>> [len(part) for part in balanced(4, 3)]
    [2, 1, 1]
    """
    each, more = divmod(tasks, nodes)
    start = 0
    for node in range(nodes):
        end = start + each + (node < more)
        yield range(start, end)
        start = end


def filled(tasks: int, nodes: int, per_node: int) -> Iterator[Sequence[int]]:
    """Nodes with as many tasks as they may have, one after the other; the last gets the rest.

    >>> [len(part) for part in filled(12, 3, 5)]
    [5, 5, 2]
    """
    for node in range(nodes):
        yield range(min(node * per_node, tasks), min((node + 1) * per_node, tasks))


def _around(
    pinned: dict[str, list[int]], tasks: int, nodes: int, names: Sequence[str],
    per_node: int | None,
) -> Iterator[Share]:  # fmt: skip
    """Tasks on the nodes that they name, and the others where there is a place."""
    others = [name for name in names if name not in pinned]
    free = [*others, *[""] * nodes][: nodes - len(pinned)]
    shares = [(name, list(own)) for name, own in pinned.items()] + [(name, []) for name in free]
    loads = [len(own) for _, own in shares]
    placed = {task for own in pinned.values() for task in own}
    left = [task for task in range(tasks) if task not in placed]
    places = (
        _least_loaded(loads) if per_node is None else _first_with_room(loads, per_node, len(left))
    )
    for task, number in zip(left, places, strict=False):
        shares[number][1].append(task)
    for name, own in shares:
        yield Share(name, tuple(sorted(own)))


def _least_loaded(loads: Sequence[int]) -> Iterator[int]:
    """For one task after the other the node where the fewest are."""
    heap = [(load, number) for number, load in enumerate(loads)]
    heapify(heap)
    while True:
        load, number = heap[0]
        yield number
        heapreplace(heap, (load + 1, number))


def _first_with_room(loads: Sequence[int], per_node: int, tasks: int) -> Iterator[int]:
    """The same of the first node that has fewer than it may, of so many tasks.

    One task is left for each node behind it that has none.
    """
    empty = loads.count(0)
    for number, load in enumerate(loads):
        empty -= not load
        own = 0 if load else min(tasks, 1)
        count = max(min(per_node - load, max(tasks - empty, own)), 0)
        yield from repeat(number, count)
        tasks -= count
