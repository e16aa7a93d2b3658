"""What a job requests of each of its task groups, and each of them requests otherwise (1.10).

A job is what its task groups go by where they say nothing, so that what all of them say otherwise
is asked of nobody. One rule for all who ask: ``match``, ``place``, ads and each target.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from sssjob import expression
from sssjob.defaults import DESCRIPTIVE, overridden
from sssjob.errors import InvalidValue, LimitExceeded, UnbalancedGroup
from sssjob.expression.evaluate import stated
from sssjob.expression.offer import ALL_NEEDED, ASKED, SPOKEN_OF
from sssjob.model import Block, Item, Job, Property, Requested

J = TypeVar("J", bound=Job)

_OF_EACH = DESCRIPTIVE & (ASKED | SPOKEN_OF) - ALL_NEEDED


# decision 1110
def overridden_by_all(
    job: Block, own: Sequence[expression.Expression],
    theirs: Iterable[Sequence[expression.Expression]],
) -> tuple[expression.Expression, ...]:  # fmt: skip
    """What a job requests and each of its task groups demands otherwise: it binds nobody.

    ``theirs`` is what each group demands. Of a group that is only referred to nobody knows.
    """
    if job.references("TaskGroup"):
        return ()
    useless = set(map(id, own))
    for parts in theirs:
        useless &= set(map(id, overridden(own, parts)))
    return tuple(part for part in own if id(part) in useless)


def without_overridden(job: J) -> tuple[J, tuple[Property, ...]]:
    """A job whose defaults are applied without what binds nobody, and what that is.

    A request that cannot be read stays as it is.
    """
    groups = job.asking_groups
    if len(groups) < 2 or not _names(job).intersection(_OF_EACH, *map(_names, groups)):
        return job, ()
    try:
        every = [expression.conjuncts(stated(group, job)) for group in groups]
        useless = overridden_by_all(job, expression.conjuncts(stated(job)), every)
        items = [each.item for part in useless for each in expression.comparisons(part)]
        return _without(job, items) if items else (job, ())
    except (UnbalancedGroup, InvalidValue, LimitExceeded):
        return job, ()


def _without(job: J, items: Sequence[Property]) -> tuple[J, tuple[Property, ...]]:
    """A job without some of what it requests, and what else it says outside of Requested of it."""
    useless, keys = set(map(id, items)), {expression.key(item) for item in items}
    left: list[Item] = []
    gone: list[Property] = []

    def is_kept(part: expression.Expression) -> bool:
        return all(id(each.item) not in useless for each in expression.comparisons(part))

    for item in job.items:
        if isinstance(item, Requested):
            kept = expression.keeping(item.properties, is_kept)
            if len(kept) < len(item.properties):
                gone += (each for each in item.properties if id(each) in useless)
                left.append(item.holding(kept))
                continue
        elif isinstance(item, Property) and expression.key(item) in keys:
            gone.append(item)
            continue
        left.append(item)
    return job.holding(left), tuple(gone)


def _names(block: Block) -> frozenset[str]:
    return frozenset(block.properties.names()) | block.requested.names()
