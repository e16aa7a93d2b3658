"""Counts and names of nodes of a job that contradict each other, for all who ask for numbers.

Which they are, the plan of a layout says (``CountsPlan``), as it does for ``validate``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sssjob.amounts import Scope
from sssjob.defaults import COUNTS
from sssjob.errors import InvalidValue, LimitExceeded, Severity, UnbalancedGroup
from sssjob.layout import Unit, check_sum, units
from sssjob.layout.feasible import holds
from sssjob.layout.plan import CountsPlan
from sssjob.layout.request import LayoutRequest, Statement, requests
from sssjob.model import Delivered, TaskGroup

NODE, PROCESSORS = "Node", "Processors"
NAMES = (NODE, *sorted(COUNTS))


class CountContradiction(NamedTuple):
    """What is said by a name and contradicts what else is said there, with why and where."""

    name: str
    why: str
    path: str


def of_all(job: Scope) -> Iterator[CountContradiction]:
    """Those of a job and of its task groups; none of what cannot be read."""
    blocks = (job.block, *job.block.blocks(TaskGroup))
    names = {item.name for block in blocks for item in (*block.properties, *block.requested)}
    if len(blocks) > 2:
        yield from of_sum(job)
    if _has_uncounted_processors(job):
        yield from _of_sum(job)
    if NODE not in names and len(COUNTS & names) < 2:
        return
    if len(blocks) > 1:
        for _, every in of_groups(job):
            yield from every
        return
    try:
        yield from of_job(job)
    except (InvalidValue, LimitExceeded):
        return


def of_job(job: Scope) -> Iterator[CountContradiction]:
    """Those of a job without task groups, in the alternative that is chosen.

    Raises ``InvalidValue`` and ``LimitExceeded`` for what cannot be read.
    """
    terms = job.chosen.terms if job.chosen is not None else ()
    if not job.layout_verdicts.holds(terms):
        yield from _of_request(Statement(job.block, job.path).request(terms))


def of_groups(job: Scope) -> Iterator[tuple[int, list[CountContradiction]]]:
    """Those of each task group, in the alternative that is chosen, with its place among them."""
    if job.is_one and _holds(job):
        return
    for unit in units(job.block):
        try:
            asked = _asked(job, unit)
        except (InvalidValue, LimitExceeded, UnbalancedGroup):
            continue
        if asked is not None:
            _, is_one_of_several, number = unit.path.rpartition("[")
            place = int(number.rstrip("]")) - 1 if is_one_of_several else 0
            yield place, [*_of_request(asked)]


# decisions 1092, 1192
def of_sum(job: Scope) -> Iterator[CountContradiction]:
    """The Processors of a job, where these cannot be those of its several task groups together.

    An alternative that can be is taken before one that cannot.
    """
    if not job.is_one and PROCESSORS in job.mentioned | job.own.names():
        yield from _of_sum(job)


# decision 1183
def _has_uncounted_processors(job: Scope) -> bool:
    """Whether a job has Processors in alternatives alone that its only task group overrules.

    What it says without any is compared with those of the group, where numbers are taken.
    """
    if not job.is_one or PROCESSORS not in job.mentioned or job.requested(PROCESSORS) is not None:
        return False
    return any(item.name == PROCESSORS and id(item) in job.uncounted for item in job.request)


def _of_sum(job: Scope) -> Iterator[CountContradiction]:
    parts = [unit for unit in units(job.block) if unit.job is not None]
    whole = parts[0].job if parts else None
    for found in () if whole is None else check_sum(whole, parts):
        yield CountContradiction(PROCESSORS, found.message, found.path)


def _holds(job: Scope) -> bool:
    """Whether a job has a layout with its only task group, in the choice that is made."""
    made = job.choice
    if made is None or any(group.blocks(Delivered) for group in job.block.blocks(TaskGroup)):
        return False
    try:
        return job.layout_verdicts.holds(made.whole.terms)
    except (InvalidValue, LimitExceeded, UnbalancedGroup):
        return False


def _asked(job: Scope, unit: Unit) -> LayoutRequest | None:
    """What is asked of a task group: of the only one the choice that is made for its job."""
    if job.is_one and job.choice is not None:
        return Statement(unit.block, unit.path).request(job.choice.whole.terms)
    every = requests(unit.block, unit.path).asked
    return next(filter(holds, every), every[0]) if every else None


def _of_request(request: LayoutRequest | None) -> Iterator[CountContradiction]:
    if request is None:
        return  # no number satisfies it, which is told where it is taken
    for found in CountsPlan(request, lenient=False).checked().findings:
        if found.severity is Severity.ERROR and found.code != "E-LIMIT":
            name = found.path.removesuffix("/@count").rpartition("/")[2]
            # What follows from Task elements is said by none of these names.
            yield CountContradiction(name if name in NAMES else NODE, found.message, found.path)
