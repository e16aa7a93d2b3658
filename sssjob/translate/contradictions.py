"""Counts and names of nodes that contradict each other, told for each target alike.

Which they are, a layout says (``layout.plan.CountsPlan``), as it does for ``validate`` and
``place``; what a target makes of them is its own matter, and with Reject it is not written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sssjob.defaults import COUNTS
from sssjob.errors import InvalidValue, LimitExceeded, Severity, UnbalancedGroup
from sssjob.layout import check_sum, units
from sssjob.layout.met import holds
from sssjob.layout.plan import CountsPlan
from sssjob.layout.request import LayoutRequest, Statement, requests
from sssjob.model import Block
from sssjob.translate.requests import JobRequest

_NODE, _SUM = "Node", "Processors"
_NAMES = (_NODE, *sorted(COUNTS))
_EVERY = frozenset(_NAMES)
_MOST = 4096  # counts that are known to agree

_agreeing: set[object] = set()


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
    views = asked.groups() if len(asked.job.asking_groups) > 1 else ()
    by_owner = {id(view.owner): view for view in views}
    for place, found in of_groups(asked.scope.block):
        owner = asked.job.task_groups[place : place + 1]
        for each in found:
            _tell(by_owner.get(id(*owner), asked) if owner else asked, each)
    for each in _of_sum(asked) if views else ():  # what the only one says is told elsewhere
        _tell(asked, each)


def _tell(asked: JobRequest, found: CountContradiction) -> None:
    if asked.is_told(_NAMES):
        return
    asked.approximate(next(found.said(asked), found.name), found.why, met=False)


def of_job(asked: JobRequest) -> Iterator[CountContradiction]:
    """The contradictions of a job without task groups, in the alternative that is written."""
    names = asked.names
    if _NODE not in names and len(COUNTS & names) < 2:
        return
    key = asked.plainly(_EVERY)
    if (key is not None and key in _agreeing) or asked.over:
        return
    terms = asked.scope.chosen.terms if asked.scope.chosen is not None else ()
    try:
        request = Statement(asked.scope.block, "/Job").request(terms)
    except (InvalidValue, LimitExceeded):
        return  # which is told where it is taken
    found = [*_of_request(request)]
    if not found and key is not None:
        if len(_agreeing) >= _MOST:
            _agreeing.clear()
        _agreeing.add(key)
    yield from found


def of_groups(job: Block) -> Iterator[tuple[int, list[CountContradiction]]]:
    """Those of each task group, in the alternative that is written, with its place among them."""
    for unit in units(job):
        try:
            every, _ = requests(unit.block, unit.path)
        except (InvalidValue, LimitExceeded, UnbalancedGroup):
            continue
        if every:
            _, is_one_of_several, number = unit.path.rpartition("[")
            found = [*_of_request(next(filter(holds, every), every[0]))]
            yield int(number.rstrip("]")) - 1 if is_one_of_several else 0, found


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
            yield CountContradiction(name, found.message)
