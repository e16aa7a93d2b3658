"""Counts and names of nodes that contradict each other, told for each target alike.

Which they are, a layout says (``contradicting_counts``); what a target makes of them is its own
matter, and with Reject it is not written.
"""

from __future__ import annotations

from collections.abc import Iterator

from sssjob import contradicting_counts
from sssjob.contradicting_counts import NAMES, NODE, CountContradiction
from sssjob.defaults import COUNTS, LAID_OUT
from sssjob.errors import InvalidValue, LimitExceeded
from sssjob.expression import LOGIC_AND_OPERATOR
from sssjob.layout.feasible import keep, said
from sssjob.model import Block, Item, Note, Property, Requested, TaskGroup
from sssjob.translate.requests import JobRequest

_agreeing: dict[tuple[object, ...], None] = {}  # what task groups are made of that agree


# decision 1083
def tell(asked: JobRequest) -> None:
    """Tell of counts and names that contradict each other, where nothing of these is told."""
    if asked.holds_everything:
        return
    if not asked.has_groups:
        for each in of_job(asked):
            _tell(asked, each)
        return
    if asked.ended:
        return
    made_of = _made_of(asked.scope.block)
    if made_of is not None and made_of in _agreeing:
        return
    views = asked.groups() if len(asked.job.asking_groups) > 1 else ()
    by_owner = {id(view.owner): view for view in views}
    every = [*contradicting_counts.of_groups(asked.scope)]
    for place, found in every:
        owner = asked.job.task_groups[place : place + 1]
        for each in found:
            _tell(by_owner.get(id(*owner), asked) if owner else asked, each)
    # What the only one says is told elsewhere.
    of_sum = [*contradicting_counts.of_sum(asked.scope)] if views else []
    for each in of_sum:
        _tell(asked, each)
    if made_of is not None and not of_sum and not any(found for _, found in every):
        keep(_agreeing, made_of, None)


# decision 1127
def _made_of(job: Block) -> tuple[object, ...] | None:
    """What the layouts of task groups are made of; None of a job of which that is not known.

    That is one with Task elements, with references, or with more logic than And.
    """
    found: list[object] = [*job.attributes.items()]
    for item in job.items:
        if type(item) is TaskGroup:
            found.append((*item.attributes.items(),))
            for inner in item.items:
                if not _add(found, inner):
                    return None
            found.append(None)
        elif not _add(found, item):
            return None
    return tuple(found)


def _add(found: list[object], item: Item) -> bool:
    """Add what a layout is made of; False where that is not known."""
    if type(item) is Property:
        if item.name in LAID_OUT:
            found.extend(said((item,)))
        return True
    if type(item) is not Requested:
        return type(item) is Note
    every = item.properties
    if any(not LOGIC_AND_OPERATOR.isdisjoint(each.attributes) for each in every):
        return False
    found.append(tuple(said(every)))
    return True


def _tell(asked: JobRequest, found: CountContradiction) -> None:
    if asked.is_told(NAMES):
        return
    asked.approximate(next(said_by(asked, found), found.name), found.why, met=False)


def said_by(asked: JobRequest, found: CountContradiction) -> Iterator[str]:
    """The names by which a job says that: its own, or where it follows from others, theirs."""
    return (name for name in (found.name, *NAMES) if asked.items(name))


def of_job(asked: JobRequest) -> Iterator[CountContradiction]:
    """The contradictions of a job without task groups, in the alternative that is written."""
    names = asked.names
    if NODE not in names and len(COUNTS & names) < 2:
        return
    outline = asked.known_outline
    texts = asked.texts_of_counts if outline is not None else ()
    if (outline is not None and texts in outline.agreeing) or asked.ended:
        return
    try:
        found = [*contradicting_counts.of_job(asked.scope)]
    except (InvalidValue, LimitExceeded):
        return  # which is told where it is taken
    if outline is not None and not found:
        keep(outline.agreeing, texts, None)
    yield from found
