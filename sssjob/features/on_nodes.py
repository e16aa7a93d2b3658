"""How many of the tasks that a job or a task group has are on the nodes that are looked at.

A layout says it, where nodes have names that are known to be among them: those that Task elements
name, and all names of the request where there are no fewer nodes. Other nodes have an even part of
the tasks that are left. # decision 1133
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from sssjob.amounts import Scope
from sssjob.errors import InvalidValue, LimitExceeded
from sssjob.model import Delivered
from sssjob.task_counts import pins


class TasksOfNodes(NamedTuple):
    """How many tasks are on the nodes that are looked at, and on all nodes."""

    here: Fraction
    every: Fraction


def tasks_on(scope: Scope, nodes: Collection[str]) -> TasksOfNodes | None:
    """How many tasks are on these nodes, of those of the layout; None where none says it of them.

    A job that says nothing of tasks runs its program once, but its layout has as many tasks as
    processors: what is here is a part of those.
    """
    own = frozenset(filter(None, pins(scope.block)))
    if not own and scope.named_nodes is None:
        return None
    found = _known(scope, own)
    if found is None:
        return None
    known, others = found
    named = Fraction(sum(known.get(name, 0) for name in nodes))
    every = Fraction(sum(known.values()) + sum(others))
    unknown = sum(name not in known for name in nodes)
    if not unknown:
        return TasksOfNodes(named, every)
    if not own:  # a node may be called otherwise
        return None
    part = Fraction(min(unknown, len(others)), len(others) or 1)
    return TasksOfNodes(named + sum(others) * part, every)


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
        asked = Statement(scope.block, scope.path).request(terms)
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
