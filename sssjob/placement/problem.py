"""Placement in whole numbers: what each class of nodes has room for, what each task takes.

Strategy. Who solves it needs to know nothing of requests. Nodes that nothing tells apart are one
class. Amounts are rows: an option of a part (a task group) takes some of each, a node has room for
some. Bounds that are not included, ``Memory GT 5``, stay exact: all numbers of a row are multiplied
by more than there are tasks, and a task takes one more than the bound.

Why it is right: nodes of a class can exchange their tasks, so only how many are used counts. And
what all tasks take beyond their bounds is less than one of the former numbers: it decides only
where the sum of the bounds is all that a node has, which is where they do not fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

Run = tuple[int, int]  # so many nodes with so many tasks each: size, number


@dataclass(frozen=True, slots=True)
class TaskOption:
    """One way to run a task on a node: how well it is liked, and what it takes of which row."""

    score: Fraction
    takes: tuple[tuple[int, int], ...]

    def fits(self, room: Sequence[int], most: int) -> int:
        """How many tasks there is room for, at most so many."""
        for row, number in self.takes:
            if number * most > room[row]:
                most = max(room[row] // number, 0)
        return most


@dataclass(frozen=True, slots=True)
class TaskGeometry:
    """How many tasks are on the nodes of a part: a geometry, so many on each, evenly, or any."""

    sizes: tuple[int, ...] = ()
    full: int = 0
    even: bool = False

    @property
    def free(self) -> bool:
        """Whether any numbers will do."""
        return not (self.sizes or self.full or self.even)

    def runs(self, tasks: int, nodes: int) -> list[Run]:
        """The sizes on so many nodes, the largest first; for a shape that is not free.

        >>> TaskGeometry(full=5).runs(12, 3), TaskGeometry(even=True).runs(4, 3)
        ([(5, 2), (2, 1)], [(2, 1), (1, 2)])
        """
        if self.sizes:
            found: dict[int, int] = {}
            for size in sorted(self.sizes, reverse=True):
                found[size] = found.get(size, 0) + 1
            return list(found.items())
        if self.full:
            each, rest = divmod(tasks, self.full)
            idle = nodes - each - bool(rest)
            runs = [(self.full, each), (rest, int(bool(rest))), (0, idle)]
        else:
            each, rest = divmod(tasks, nodes)
            runs = [(each + 1, rest), (each, nodes - rest)]
        return [(size, number) for size, number in runs if number > 0]


class Quota(NamedTuple):
    """So many of these nodes are to be among those of a part."""

    nodes: frozenset[int]
    number: int


@dataclass(frozen=True, slots=True)
class PlacementPart:
    """A task group: its tasks, on how many nodes, and its options on each class of nodes."""

    tasks: int
    low: int
    high: int
    shape: TaskGeometry
    options: tuple[tuple[TaskOption, ...], ...]
    excluded: frozenset[int] = frozenset()
    quotas: tuple[Quota, ...] = ()
    pins: Mapping[int, int] = field(default_factory=dict)
    per_node: int = 0  # no more than so many tasks on a node, where pins leave the shape free

    @property
    def simple(self) -> bool:
        """Whether no node is named, and a task can be on a node in one way only."""
        return not (self.quotas or self.pins or any(len(each) > 1 for each in self.options))

    def nodes(self, most: int) -> Iterator[int]:
        """The numbers of nodes that are asked for, of so many, the fewest first."""
        for number in range(self.low, min(self.high, most) + 1):
            if number not in self.excluded:
                yield number


class NodeClass(NamedTuple):
    """Nodes, by their positions, that nothing tells apart; and their room by row."""

    members: tuple[int, ...]
    room: tuple[int, ...]


@dataclass(frozen=True)
class PlacementProblem:
    """Parts to be placed together: they share the room of the nodes."""

    classes: tuple[NodeClass, ...]
    parts: tuple[PlacementPart, ...]

    @cached_property
    def class_of(self) -> dict[int, int]:
        """The class of each node."""
        return {node: place for place, each in enumerate(self.classes) for node in each.members}


# For each part: on which node how many tasks run by which of the options of its class.
On = tuple[tuple[int, int], ...]
Solution = tuple[dict[int, On], ...]


class BestSolution(NamedTuple):
    """The best that was found, None for nothing, and whether that is proved."""

    solution: Solution | None
    proved: bool


def value(problem: PlacementProblem, solution: Solution) -> tuple[Fraction, int]:
    """What is compared, the greater the better: the score, and then how few nodes there are.

    The score of a part is the mean over its tasks; those of all parts are added.
    """
    score = Fraction(0)
    for part, where in zip(problem.parts, solution, strict=True):
        liked = Fraction(0)
        for node, on in where.items():
            options = part.options[problem.class_of[node]]
            liked += sum((options[option].score * number for option, number in on), Fraction(0))
        score += liked / part.tasks
    return score, -len({node for where in solution for node in where})
