"""Where a path comes to job objects, and which rows these have.

A path from the document must come to a Job or JobGroup by name; one that starts at the job object
is asked of the rows of documents themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from sssjob.query.syntax import Test
from sssjob.store.bounds import NEVER, PredicateBounds, between
from sssjob.store.columns import GROUP, KIND, PLACE
from sssjob.store.condition import Compare, Condition, Op, all_of
from sssjob.store.facts import PathColumns
from sssjob.store.plan import QueryPlan

_ROOT = Compare(PLACE, Op.EQ, 0)
_IS_JOB, _IS_GROUP = Compare(KIND, Op.NE, GROUP), Compare(KIND, Op.EQ, GROUP)
_BELOW = Compare(PLACE, Op.GT, 0)
_DOWN = ("descendant", "descendant-or-self")

ASTRAY = "the path does not lead to Job or JobGroup by its name"
COUNTED = "a place among others is only known in the document"
NO_PATH = "the expression is no path"


class PathStep(Protocol):
    """A step of a path, in any version of XPath."""

    @property
    def axis(self) -> str:
        """The way that it goes."""

    @property
    def test(self) -> Test:
        """What it asks for."""

    @property
    def predicates(self) -> Sequence[object]:
        """What it asks of that."""


class PathEntry(NamedTuple):
    """How many steps lead to a job object, and to which rows."""

    steps: int
    scope: Condition


def entry(steps: Sequence[PathStep]) -> PathEntry | None:
    """Where a path from the document comes to job objects; None where it does not."""
    first = steps[0] if steps else None
    if first is None or first.test.prefix:
        return None
    if first.test.name == "Job" and first.axis in _DOWN:
        return PathEntry(1, _IS_JOB)
    if first.test.name == "Job" and first.axis == "child":
        return PathEntry(1, all_of(_IS_JOB, _ROOT))
    if first.test.name == "JobGroup" and first.axis in (*_DOWN, "child"):
        second = steps[1] if len(steps) > 1 else None
        into = second is not None and second.axis in ("child", "descendant")
        if into and second is not None and second.test.name == "Job" and not second.test.prefix:
            return None if first.predicates else PathEntry(2, _BELOW)
        return PathEntry(1, _IS_GROUP)
    return None


def start(steps: Sequence[PathStep]) -> PathEntry:
    """The same for a path that starts at a document's own object."""
    first = steps[0]
    kind = {"Job": _IS_JOB, "JobGroup": _IS_GROUP}.get(first.test.name)
    if first.axis == "self" and kind is not None and not first.test.prefix:
        return PathEntry(1, all_of(kind, _ROOT))
    return PathEntry(0, _ROOT)


def answered(
    within: PredicateBounds, exists: PredicateBounds, fact: PathColumns, *, is_all: bool
) -> QueryPlan:
    """The plan of a path: what stands at ``fact`` in rows that are bounded by ``within``.

    ``exists`` is whether there is such a node; ``is_all`` whether each node there is meant.
    """
    if is_all and (fact.text or fact.numbers):
        # Of two numbers nobody knows which one stands first.
        told = exists & fact.is_one
        return QueryPlan(within & between(told.sure, exists.maybe, told.paths), fact.path)
    return QueryPlan(within & exists.possible, None)


def either(plans: Sequence[QueryPlan]) -> QueryPlan:
    """The plan of a union of paths."""
    if len(plans) == 1:
        return plans[0]
    bounds = NEVER
    for each in plans:
        bounds |= each.bounds
    return QueryPlan(bounds.possible, None, next((each.why for each in plans if each.why), ""))
