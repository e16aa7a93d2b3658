"""Counts with their sources, and the layouts that are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sssjob.errors import Finding, Severity
from sssjob.spec import REQUESTED
from sssjob.task_counts import CountRange


@dataclass(frozen=True, slots=True)
class Count:
    """A number, and where it comes from: the path of an element, a formula, or an assumption."""

    value: int
    source: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.value} ({_place(self.source, self.line)})"

    def as_dict(self) -> dict[str, Any]:
        """The count as the JSON contract has it."""
        return {"value": self.value, "from": self.source, "line": self.line or None}


@dataclass(frozen=True, slots=True)
class Stated:
    """What a document says about a count: one number, or the bounds that an expression leaves."""

    bounds: CountRange
    path: str
    line: int = 0

    @property
    def least(self) -> int:
        """The number that is taken where nothing else decides."""
        return self.bounds.least

    def within(self, bounds: CountRange) -> Stated:
        """The same between other numbers."""
        return self if bounds is self.bounds else Stated(bounds, self.path, self.line)

    def count(self, value: int) -> Count:
        """The number that was taken of it."""
        return Count(value, self.path, self.line)

    def __str__(self) -> str:
        lo, hi = self.bounds.lo, self.bounds.hi
        ends = f"{lo} to {hi}" if lo and hi else f"at least {lo}" if lo else f"at most {hi}"
        shown = str(lo) if lo == hi else ends
        between = CountRange(lo, hi)
        others = [str(each) for each in sorted(self.bounds.excluded) if between.admits(each)]
        shown = ", other than ".join((shown, " or ".join(others))) if others else shown
        return f"{shown} ({_place(self.path, self.line)})"


@dataclass(frozen=True, slots=True)
class Share:
    """One node, by its name if that is known, and the numbers of its tasks."""

    name: str
    tasks: Sequence[int]


@dataclass(frozen=True, slots=True)
class Layout:
    """The counts of one task group in one alternative of its request, and its tasks on nodes.

    There are no ``shares`` if the number of nodes is open, if the rule is one that is only
    carried, and after errors. Tasks are numbered from 0, or as the geometry numbers them.
    """

    alternative: str
    tasks: Count
    nodes: Count | None
    processors: Count
    processors_per_task: Count
    tasks_per_node: Count | None
    rule: str
    shares: tuple[Share, ...]
    findings: tuple[Finding, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether no count contradicts another, or each that does was overridden."""
        return not any(found.severity is Severity.ERROR for found in self.findings)

    def saying(self, found: Finding) -> str:
        """The message of a finding, with the alternative in which it is made."""
        return f"in {self.alternative}: {found.message}" if self.alternative else found.message

    @property
    def sources(self) -> dict[str, Count]:
        """Every count that is known, by its name."""
        known = {
            "tasks": self.tasks,
            "nodes": self.nodes,
            "processors": self.processors,
            "processors_per_task": self.processors_per_task,
            "tasks_per_node": self.tasks_per_node,
        }
        return {name: count for name, count in known.items() if count is not None}

    def as_dict(self) -> dict[str, Any]:
        """The layout as the JSON contract has it; what is not known is null."""
        each = self.processors_per_task.value
        return {
            "alternative": self.alternative or None,
            "tasks": self.tasks.value,
            "nodes": self.nodes and self.nodes.value,
            "tasks_per_node": [len(share.tasks) for share in self.shares],
            "processors": self.processors.value,
            "processors_per_task": each,
            "rule": self.rule,
            "placement": [
                {
                    "node": share.name or None,
                    "tasks": list(share.tasks),
                    "processors": len(share.tasks) * each,
                }
                for share in self.shares
            ],
            "sources": {name: count.as_dict() for name, count in self.sources.items()},
        }


@dataclass(frozen=True, slots=True)
class Layouts:
    """One layout for each alternative, best first, and what is wrong with all of them alike."""

    layouts: tuple[Layout, ...] = ()
    findings: tuple[Finding, ...] = ()


def _place(source: str, line: int) -> str:
    """Where a count stands, short: the path of its block is known."""
    shown = source
    if source.startswith("/"):
        steps = source.split("/")
        shown = "/".join(
            steps[-2:] if steps[-2] == REQUESTED or steps[-1][0] == "@" else steps[-1:]
        )
    return f"{shown}, line {line}" if line else shown
