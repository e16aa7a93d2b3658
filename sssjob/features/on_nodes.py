"""How many of the tasks that a job or a task group has are on the nodes that are looked at.

A layout says it, where nodes have names that are known to be among them: those that Task elements
name, and all names of the request where there are no fewer nodes. Other nodes have an even part of
the tasks that are left. A node that another task group names is one of those others, and no node
that is only called otherwise. # decisions 1133, 1191
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from sssjob.amounts import Scope
from sssjob.errors import InvalidValue, LimitExceeded
from sssjob.expression.offer import without_set_aside
from sssjob.model import Delivered
from sssjob.task_counts import pins


class TasksOfNodes(NamedTuple):
    """How many tasks are on the nodes that are looked at, and on all nodes."""

    here: Fraction
    every: Fraction


def named_among(scope: Scope, nodes: Collection[str]) -> frozenset[str]:
    """Which of these nodes the Task elements of a job or task group name, or what it requests."""
    found = set(pins(scope.block))
    for names, _ in () if scope.named_nodes is None else scope.named_nodes.sets:
        found.update(filter(names.tester(), nodes))
    return frozenset(found.intersection(nodes))


def tasks_on(
    scope: Scope, nodes: Collection[str], named: Container[str] = ()
) -> TasksOfNodes | None:
    """How many tasks are on these nodes, of those of the layout; None where none says it of them.

    A job that says nothing of tasks runs its program once, but its layout has as many tasks as
    processors: what is here is a part of those. ``named`` are those of the nodes that some task
    group names.
    """
    own = frozenset(filter(None, pins(scope.block)))
    if not own and scope.named_nodes is None:
        return None
    gone = _strangers(scope, own, [name for name in nodes if name in named])
    if gone and len(gone) == len(nodes):
        return TasksOfNodes(Fraction(0), scope.tasks.value)
    found = _known(scope, own)
    if found is None:
        return None
    known, others = found
    here = Fraction(sum(known.get(name, 0) for name in nodes))
    every = Fraction(sum(known.values()) + sum(others))
    unknown = [name for name in nodes if name not in known]
    if not own and any(name not in named for name in unknown):  # it may be called otherwise
        return None
    more = sum(name not in gone for name in unknown)
    part = Fraction(min(more, len(others)), len(others) or 1)
    return TasksOfNodes(here + sum(others) * part, every)


def _strangers(scope: Scope, own: Container[str], nodes: Iterable[str]) -> frozenset[str]:
    """Which of these nodes are none of a task group, by what it asks of their names."""
    if scope.named_nodes is None:
        return frozenset()
    return frozenset(scope.named_nodes.strangers(name for name in nodes if name not in own))


def evenly_on(scope: Scope, nodes: Collection[str]) -> TasksOfNodes | None:
    """The even part of the tasks that so many of the nodes have; None where no number is known."""
    if scope.named_nodes is not None or not (number := scope.laid_nodes):
        return None
    part = min(Fraction(len(nodes), number), Fraction(1))
    return TasksOfNodes(scope.tasks.value * part, scope.tasks.value)


def _known(
    scope: Scope, own: frozenset[str]
) -> tuple[Mapping[str, int], Sequence[int]] | None:  # fmt: skip
    """The tasks of each node whose name is known, and those of each other one; None of no layout.

    What was delivered says by itself on how many nodes a job ran.
    """
    from sssjob.layout.plan import CountsPlan  # as few jobs need it
    from sssjob.layout.request import Statement

    if scope.block.block(Delivered) or (scope.job and scope.job.block.block(Delivered)):
        return None
    names = scope.named_nodes
    try:
        terms = () if scope.chosen is None else scope.chosen.terms
        asked = Statement(without_set_aside(scope.block), scope.path).request(terms)
    except (InvalidValue, LimitExceeded):  # which is told where numbers are read
        return None
    if asked is None:
        return None
    if names is not None:
        asked = replace(asked, candidates=names)
    laid = CountsPlan(asked, lenient=True).layout().shares
    if not laid:
        return None
    sure = own.union(names.names()) if names is not None and names.number <= len(laid) else own
    known = {share.name: len(share.tasks) for share in laid if share.name in sure}
    return known, [len(share.tasks) for share in laid if share.name not in known]
