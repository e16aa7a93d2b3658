"""Counts and names of nodes that contradict each other, told for each target alike.

Which they are, a layout says (``layout.plan.CountsPlan``), as it does for ``validate`` and
``place``; what a target makes of them is its own matter, and with Reject it is not written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sssjob.amounts import Scope
from sssjob.defaults import COUNTS, LAID_OUT
from sssjob.errors import InvalidValue, LimitExceeded, Severity, UnbalancedGroup
from sssjob.expression import LOGIC_AND_OPERATOR
from sssjob.layout import Unit, check_sum, units
from sssjob.layout.met import holds, keep, said
from sssjob.layout.plan import CountsPlan
from sssjob.layout.request import LayoutRequest, Statement, requests
from sssjob.model import Block, Delivered, Item, Note, Property, Requested, TaskGroup
from sssjob.translate.requests import JobRequest

_NODE, _SUM = "Node", "Processors"
_NAMES = (_NODE, *sorted(COUNTS))

_agreeing: dict[tuple[object, ...], None] = {}  # what task groups are made of that agree


class CountContradiction(NamedTuple):
    """What is said by a name and contradicts what else is said there, with why."""

    name: str
    why: str

    def said(self, asked: JobRequest) -> Iterator[str]:
        """The names by which that is said: its own, or where it follows from others, theirs."""
        return (name for name in (self.name, *_NAMES) if asked.items(name))


# decision 1083
def tell(asked: JobRequest) -> None:
    """Tell of counts and names that contradict each other, where nothing of these is told."""
    if asked.holds_everything:
        return
    if not asked.has_groups:
        for each in of_job(asked):
            _tell(asked, each)
        return
    if asked.over:
        return
    made_of = _made_of(asked.scope.block)
    if made_of is not None and made_of in _agreeing:
        return
    views = asked.groups() if len(asked.job.asking_groups) > 1 else ()
    by_owner = {id(view.owner): view for view in views}
    every = [*of_groups(asked.scope)]
    for place, found in every:
        owner = asked.job.task_groups[place : place + 1]
        for each in found:
            _tell(by_owner.get(id(*owner), asked) if owner else asked, each)
    of_sum = [*_of_sum(asked)] if views else []  # what the only one says is told elsewhere
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
    if asked.is_told(_NAMES):
        return
    asked.approximate(next(found.said(asked), found.name), found.why, met=False)


def of_job(asked: JobRequest) -> Iterator[CountContradiction]:
    """The contradictions of a job without task groups, in the alternative that is written."""
    names = asked.names
    if _NODE not in names and len(COUNTS & names) < 2:
        return
    outline = asked.known_outline
    texts = asked.texts_of_counts if outline is not None else ()
    if (outline is not None and texts in outline.agreeing) or asked.over:
        return
    scope = asked.scope
    terms = scope.chosen.terms if scope.chosen is not None else ()
    try:
        if scope.layout_verdicts.holds(terms):
            if outline is not None:
                keep(outline.agreeing, texts, None)
        else:
            yield from _of_request(Statement(scope.block, "/Job").request(terms))
    except (InvalidValue, LimitExceeded):
        return  # which is told where it is taken


def of_groups(job: Scope) -> Iterator[tuple[int, list[CountContradiction]]]:
    """Those of each task group, in the alternative that is written, with its place among them."""
    if job.is_one and _holds(job):
        return
    for unit in units(job.block):
        try:
            written = _written(job, unit)
        except (InvalidValue, LimitExceeded, UnbalancedGroup):
            continue
        if written is not None:
            _, is_one_of_several, number = unit.path.rpartition("[")
            place = int(number.rstrip("]")) - 1 if is_one_of_several else 0
            yield place, [*_of_request(written)]


def _holds(job: Scope) -> bool:
    """Whether a job has a layout with its only task group, in the choice that is made."""
    made = job.choice
    if made is None or any(group.blocks(Delivered) for group in job.block.blocks(TaskGroup)):
        return False
    try:
        return job.layout_verdicts.holds(made.whole.terms)
    except (InvalidValue, LimitExceeded, UnbalancedGroup):
        return False


def _written(job: Scope, unit: Unit) -> LayoutRequest | None:
    """What is written of a task group: of the only one the choice that is made for its job."""
    if job.is_one and job.choice is not None:
        return Statement(unit.block, unit.path).request(job.choice.whole.terms)
    every = requests(unit.block, unit.path).asked
    return next(filter(holds, every), every[0]) if every else None


# decision 1092
def _of_sum(asked: JobRequest) -> Iterator[CountContradiction]:
    """The Processors of a job, where these are not those of its task groups together."""
    if not asked.items(_SUM):
        return
    parts = [unit for unit in units(asked.scope.block) if unit.job is not None]
    for found in check_sum(parts[0].job, parts) if parts and parts[0].job is not None else ():
        yield CountContradiction(_SUM, found.message)


def _of_request(request: LayoutRequest | None) -> Iterator[CountContradiction]:
    if request is None:
        return  # no number satisfies it, which is told where it is taken
    for found in CountsPlan(request, lenient=False).checked().findings:
        if found.severity is Severity.ERROR and found.code != "E-LIMIT":
            name = found.path.removesuffix("/@count").rpartition("/")[2]
            # What follows from Task elements is said by none of these names.
            yield CountContradiction(name if name in _NAMES else _NODE, found.message)
