"""From what is stated to numbers, from numbers to nodes: derive, check, place.

Strategy. TaskCount, NodeCount, Processors and TaskDistribution say the same thing several times,
each may be left out or be a bound, and together they can contradict each other.

The idea is to derive the counts one after the other: a count is what is given, or what follows
from others, or one, and it keeps its source. Each equation between counts (``TaskCount <=
NodeCount x TasksPerNode`` and its like) is checked as soon as both of its sides are known. Tasks
are placed last, by the distribution that is asked for, or evenly. The number of nodes may stay
unknown; then nothing is placed.

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

from sssjob.errors import Finding, finding
from sssjob.layout.request import LayoutRequest
from sssjob.layout.values import Count, Layout, Share
from sssjob.nodes import Names
from sssjob.task_distribution import LIMIT

ROUND_ROBIN, BALANCED, AS_NAMED = "RoundRobin", "balanced", "as the tasks say"
ASSUMED, SHARED = "assumed", "Processors / TaskCount"

_SECTION = "SSS 5.1 TaskDistribution"


@dataclass(slots=True)
class CountsPlan:
    """The counts of one alternative while they are worked out, and what contradicts what."""

    request: LayoutRequest
    lenient: bool
    findings: list[Finding] = field(default_factory=list)

    def checked(self) -> Layout:
        """The counts, checked against each other, without the tasks on nodes."""
        asked, spread = self.request, self.request.distribution
        each = self._each()
        tasks = self._tasks(each)
        processors = self._processors(tasks, each)
        nodes = self._nodes(tasks)
        if nodes is not None:
            nodes = self._enough(tasks, nodes)
        self._named(nodes)
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

    # Derive: what is given, or else what follows from what is given.

    def _each(self) -> Count:
        """Processors of one task: given, or an even part of all, or one."""
        asked = self.request
        if asked.distribution.per_task is not None:
            return asked.distribution.per_task
        tasks = self._given_tasks()
        if tasks is None or asked.processors is None:
            return Count(1, ASSUMED)
        # Of bounds, the least number that can be shared evenly.
        even = asked.processors.fitting(tasks.value)
        return Count(1, ASSUMED) if even is None else Count(even // tasks.value, SHARED)

    def _given_tasks(self) -> Count | None:
        """The number of tasks that is given; a geometry overrides the others."""
        asked, spread = self.request, self.request.distribution
        if spread.geometry:
            return Count(sum(map(len, spread.geometry)), spread.path, spread.line)
        if asked.tasks is not None:
            return asked.tasks.count(asked.tasks.least)
        if asked.spelled > self._implied():
            return Count(asked.spelled, f"{asked.path}/Task")
        return None

    def _implied(self) -> int:
        """How many tasks the processors or nodes ask for; not all need be spelled out."""
        asked, spread = self.request, self.request.distribution
        if asked.processors is not None:
            return asked.processors.least // (spread.per_task.value if spread.per_task else 1)
        if asked.nodes is not None:
            return asked.nodes.least * (spread.per_node.value if spread.per_node else 1)
        return 0

    def _tasks(self, each: Count) -> Count:
        asked, per_node = self.request, self.request.distribution.per_node
        given = self._given_tasks()
        if given is not None:
            stated = asked.tasks and asked.tasks.count(asked.tasks.least)
            if stated and stated.value != given.value:
                text = f"{stated} is not {given}"
                self._contradicts("TaskCount = tasks of the geometry", text, stated, given.value)
            elif stated and asked.spelled > stated.value:
                text = f"{stated} is less than the {asked.spelled} Task elements"
                self._contradicts("TaskCount >= Task elements", text, stated, stated.value)
            return given
        if asked.processors is not None:
            # No node is without a task.
            nodes = 0 if asked.nodes is None or asked.nodes.bounds.lo is None else asked.nodes.least
            number = asked.processors.fitting(each.value, nodes, self._room)
            number = number or asked.processors.least
            return Count(max(number // each.value, 1), "Processors / ProcessorsPerTask")
        if asked.nodes is not None and per_node is not None:
            return Count(asked.nodes.least * per_node.value, "NodeCount x TasksPerNode")
        if asked.nodes is not None:
            return Count(asked.nodes.least, "NodeCount")
        named = asked.candidates.count()
        if named is not None and (named > 1 or per_node is not None):  # all of them are wanted
            number = named * (per_node.value if per_node else 1)
            return Count(number, asked.candidates.path, asked.candidates.line)
        return Count(1, ASSUMED)

    # decision 1136
    @property
    def _room(self) -> int | None:
        """For how many tasks the nodes have room; None where nothing says it."""
        nodes, per_node = self.request.nodes, self.request.distribution.per_node
        if nodes is None or nodes.bounds.hi is None or per_node is None:
            return None
        return int(nodes.bounds.hi) * per_node.value

    def _processors(self, tasks: Count, each: Count) -> Count:
        product = Count(tasks.value * each.value, "TaskCount x ProcessorsPerTask")
        stated = self.request.processors
        if stated is None:
            return product
        if product.value in stated.bounds:
            return stated.count(product.value)
        self._contradicts(
            "Processors = TaskCount x ProcessorsPerTask", f"{stated} is not {tasks} x {each}",
            stated.count(stated.least), product.value,
        )  # fmt: skip
        return product if self.lenient else stated.count(stated.least)

    def _nodes(self, tasks: Count) -> Count | None:
        """The number of nodes: given, or as many as the tasks need, or those that are named."""
        asked, spread = self.request, self.request.distribution
        if spread.geometry:
            given = Count(len(spread.geometry), spread.path, spread.line)
            if asked.nodes is not None and given.value not in asked.nodes.bounds:
                self._contradicts(
                    "NodeCount = nodes of the geometry", f"{asked.nodes} is not {given}",
                    asked.nodes.count(asked.nodes.least), given.value,
                )  # fmt: skip
            return given
        need = -(-tasks.value // spread.per_node.value) if spread.per_node else 1
        if asked.nodes is not None:
            fitting = max(asked.nodes.least, need)
            if asked.nodes.bounds.lo is None:
                fitting = min(asked.nodes.least, max(tasks.value, need))
            fitting = int(asked.nodes.bounds.next_to(fitting, need))
            return asked.nodes.count(
                fitting if fitting in asked.nodes.bounds else asked.nodes.least
            )
        candidates = asked.candidates
        if self._all_pinned(tasks.value):
            return Count(len(set(asked.pins)), f"{asked.path}/Task/Node")
        is_said = self._given_tasks() is not None or asked.processors is not None
        per_node = None if spread.per_node is None else spread.per_node.value
        number = candidates.count(tasks.value if is_said else None, per_node)
        by_tasks = per_node is not None and (number is None or (is_said and number == need))
        if by_tasks:
            return Count(need, "TaskCount / TasksPerNode")
        if number is not None:
            return Count(number, candidates.path, candidates.line)
        return Count(1, "a single task") if tasks.value == 1 else None

    # Check: each equation that does not hold names its sources.

    def _enough(self, tasks: Count, nodes: Count) -> Count:
        """TaskCount <= NodeCount x TasksPerNode, NodeCount <= TaskCount, and what tasks name."""
        per_node = self.request.distribution.per_node
        pins = Counter(name for name in self.request.pins if name)
        if len(pins) > nodes.value and not self.request.distribution.geometry:
            text = f"{nodes} is less than the {len(pins)} nodes that Task elements name"
            self._contradicts("NodeCount >= nodes of the tasks", text, nodes, len(pins))
            nodes = self._taken(nodes, len(pins), "Task/Node")
        if (needed := self.request.candidates.least) > nodes.value:
            text = f"{nodes} is less than the {needed} that have to be among them by name"
            self._contradicts("NodeCount >= nodes that are named", text, nodes, needed)
            nodes = self._taken(nodes, needed, self.request.candidates.path)
        if per_node is not None and pins and (most := pins.most_common(1)[0])[1] > per_node.value:
            text = f"{per_node} is less than the {most[1]} tasks on {most[0]}"
            self._contradicts("TasksPerNode >= tasks that name a node", text, per_node, most[1])
        if per_node is not None and tasks.value > nodes.value * per_node.value:
            need = -(-tasks.value // per_node.value)
            text = f"{tasks} is more than {nodes} x {per_node}"
            self._contradicts("TaskCount <= NodeCount x TasksPerNode", text, nodes, need)
            nodes = self._taken(nodes, need, "TaskCount / TasksPerNode")
        if nodes.value > tasks.value:
            text = f"{nodes} is more than {tasks}"
            self._contradicts("NodeCount <= TaskCount", text, nodes, tasks.value)
            nodes = self._taken(nodes, tasks.value, "TaskCount")
        return nodes

    def _taken(self, count: Count, value: int, source: str) -> Count:
        """What is gone on with: leniently what overrides, strictly what was said."""
        return Count(value, source) if self.lenient else count

    def _named(self, nodes: Count | None) -> None:
        """Whether the sets that nodes are to be chosen from have as many, and any name is left."""
        candidates = self.request.candidates
        if nodes is not None and nodes.value > LIMIT:
            return
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

    def _unsatisfiable(self, text: str, line: int, *, counted: bool) -> None:
        """Tell that names cannot be had, of a set by its count or else of Node."""
        candidates = self.request.candidates
        self.findings.append(finding(
            "E-UNSAT", text, path=f"{candidates.path}/@count" if counted else candidates.path,
            line=line, section="SSS 5.1 Node",
        ))  # fmt: skip

    def _contradicts(self, equation: str, text: str, blamed: Count, taken: int) -> None:
        code, suggestion = "E-COUNTS", ""
        if self.lenient:
            code, suggestion = "W-COUNTS", f"{taken} is taken"
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
        for task, name in enumerate(() if spread.geometry else asked.pins[:tasks]):
            if name:
                pinned.setdefault(name, []).append(task)
        if pinned:
            yield from _around(pinned, tasks, nodes, asked.candidates.names(nodes))
            return
        if spread.geometry:
            parts: Iterator[Sequence[int]] = iter(spread.geometry)
        elif rule == ROUND_ROBIN:
            parts = (range(node, tasks, nodes) for node in range(nodes))
        elif spread.per_node is not None:
            parts = filled(tasks, nodes, spread.per_node.value)
        else:
            parts = balanced(tasks, nodes)
        names = asked.candidates.names(nodes)
        for number, part in enumerate(parts):
            yield Share(names[number] if number < len(names) else "", part)


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
    pinned: dict[str, list[int]], tasks: int, nodes: int, names: Sequence[str]
) -> Iterator[Share]:
    """Tasks on the nodes that they name; each other task where the fewest are."""
    others = [name for name in names if name not in pinned]
    free = [*others, *[""] * nodes][: nodes - len(pinned)]
    shares = [(name, list(own)) for name, own in pinned.items()] + [(name, []) for name in free]
    placed = {task for own in pinned.values() for task in own}
    heap = [(len(own), number) for number, (_, own) in enumerate(shares)]
    heapify(heap)
    for task in range(tasks):
        if task not in placed:
            load, number = heap[0]
            shares[number][1].append(task)
            heapreplace(heap, (load + 1, number))
    for name, own in shares:
        yield Share(name, tuple(sorted(own)))
