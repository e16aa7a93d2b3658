"""Placements: which task runs on which node, and why none could be placed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sssjob.errors import Finding
from sssjob.layout import Share

__all__ = ["Group", "Placement", "Reason", "Share"]


@dataclass(frozen=True, slots=True)
class Group:
    """A task group, or a job that has none, with its tasks on nodes; none where nothing is placed.

    ``able`` is how many nodes could have one of its tasks, ``room`` how many of its tasks these
    have room for together, at most all.
    """

    path: str
    name: str
    alternative: str
    rule: str
    tasks: int
    processors_per_task: int
    able: int
    room: int
    shares: tuple[Share, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The group as the JSON contract has it."""
        return {
            "path": self.path,
            "name": self.name or None,
            "alternative": self.alternative or None,
            "rule": self.rule,
            "tasks": self.tasks,
            "processors_per_task": self.processors_per_task,
            "able_nodes": self.able,
            "room": self.room,
            "placement": [
                {
                    "node": share.name,
                    "tasks": list(share.tasks),
                    "processors": len(share.tasks) * self.processors_per_task,
                }
                for share in self.shares
            ],
        }


@dataclass(frozen=True, slots=True)
class Reason:
    """What stands in the way together with the other reasons: without it, there is a placement.

    ``nodes`` is how many nodes satisfy it if nothing else is asked; None where it is a count.
    """

    path: str
    text: str
    nodes: int | None = None
    of: int = 0

    def __str__(self) -> str:
        return self.text if self.nodes is None else f"{self.text}: {self.nodes} of {self.of} nodes"

    def as_dict(self) -> dict[str, Any]:
        """The reason as the JSON contract has it."""
        return {"path": self.path, "text": self.text, "nodes": self.nodes}


@dataclass(frozen=True, slots=True)
class Placement:
    """What became of a job: placed with a score, or not, and the least of the reasons.

    ``proved`` tells whether nothing is better, or nothing can be placed; else it is the best that
    was found. ``findings`` say what in the job is wrong; after errors nothing is tried.
    """

    path: str
    name: str
    score: Fraction | None
    groups: tuple[Group, ...]
    reasons: tuple[Reason, ...] = ()
    findings: tuple[Finding, ...] = ()
    proved: bool = True

    @property
    def placed(self) -> bool:
        """Whether every task has a node."""
        return self.score is not None

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that are used, each once."""
        return tuple(dict.fromkeys(share.name for each in self.groups for share in each.shares))

    def as_dict(self) -> dict[str, Any]:
        """The placement as the JSON contract has it."""
        return {
            "path": self.path,
            "job": self.name or None,
            "placed": self.placed,
            "score": None if self.score is None else float(self.score),
            "exact_score": None if self.score is None else str(self.score),
            "nodes": list(self.nodes),
            "proved": self.proved,
            "groups": [each.as_dict() for each in self.groups],
            "reasons": [each.as_dict() for each in self.reasons],
            "findings": [each.as_dict() for each in self.findings],
        }


def numbered(
    counts: Sequence[tuple[str, int]], *, around: bool, geometry: Sequence[Sequence[int]],
    pins: Sequence[str],
) -> tuple[Share, ...]:  # fmt: skip
    """Nodes with so many tasks each, and which these are.

    ``around`` deals them out one by one, ``geometry`` says which are together, and ``pins`` which
    node each of the first tasks names, or those of each node of a geometry; else each node has
    those after the one before.

    >>> numbered([("a", 2), ("b", 1)], around=True, geometry=(), pins=())
    (Share(name='a', tasks=range(0, 3, 2)), Share(name='b', tasks=range(1, 3, 2)))
    """
    if geometry:
        free: dict[int, list[str]] = {}
        for name, number in reversed(counts):
            if name not in pins:
                free.setdefault(number, []).append(name)
        return tuple(
            Share(name or free[len(tasks)].pop(), tasks)
            for name, tasks in zip(pins or ("",) * len(geometry), geometry, strict=True)
        )
    total = sum(number for _, number in counts)
    if any(pins):
        own: dict[str, list[int]] = {name: [] for name, _ in counts}
        for task, name in enumerate(pins):
            if name:
                own[name].append(task)
        named = {task for tasks in own.values() for task in tasks}
        others = iter([task for task in range(total) if task not in named])
        for name, number in counts:
            own[name] += [next(others) for _ in range(number - len(own[name]))]
        return tuple(Share(name, tuple(sorted(tasks))) for name, tasks in own.items())
    if around:
        nodes = len(counts)
        return tuple(
            Share(name, range(place, total, nodes)) for place, (name, _) in enumerate(counts)
        )
    shares, start = [], 0
    for name, number in counts:
        shares.append(Share(name, range(start, start + number)))
        start += number
    return tuple(shares)
