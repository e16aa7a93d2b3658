"""Why a job cannot be placed: the least of what it asks that is too much.

What it asks is left out thing by thing, and what makes no difference stays out. What is left is
too much together, and without any of it there would be a placement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sssjob import expression
from sssjob.placement.demand import Demand, JobDemand, PlacedThing, Thing
from sssjob.placement.matching import Market
from sssjob.placement.search import possible
from sssjob.placement.solving import Budget
from sssjob.placement.values import Reason

TRIALS = 200  # placements that are tried, and comparisons in all of them together: what is not
COMPARISONS = 600_000  # tried to be left out by then is a reason

_COUNTED = frozenset(("Processors", "NodeCount", "TaskCount"))


def least(market: Market, job: JobDemand, *, solver: Budget | None) -> Iterator[Reason]:
    """The reasons why the task groups of a job cannot be placed together."""
    kept = _Leaving(market, job, solver).least(list(job.things()))
    every = len(market.nodes.names)
    for place, thing in kept:
        able = _satisfying(market, job if place is None else job.groups[place], thing)
        yield Reason(thing.path, thing.text, able, every)
    if not kept:
        path = job.groups[0].path
        able = sum(
            len(kind.members)
            for kind in market.nodes.kinds
            if (kind.offer.amount(("Processors",)) or 0) >= 1
        )
        yield Reason(path, "a free processor for each task", able, every)


class _Leaving:
    """A job that cannot be placed, and stays so while things are left out."""

    def __init__(self, market: Market, left: JobDemand, solver: Budget | None) -> None:
        self.market, self.left, self.solver = market, left, solver
        self.trials = self.compared = 0

    def least(self, things: Sequence[PlacedThing]) -> list[PlacedThing]:
        """Those of which none can be left out."""
        kept = self._parted(things)
        before = len(things)
        # A count that is left out may follow from others, which are then asked once more.
        while len(kept) < before:
            before = len(kept)
            kept = [each for each in kept if not self._left_out([each])]
        return kept

    def _parted(self, things: Sequence[PlacedThing]) -> list[PlacedThing]:
        """Some are left out at once if that can be, or else half of them."""
        if not things or self._left_out(things):
            return []
        if len(things) == 1:
            return list(things)
        half = len(things) // 2
        return [*self._parted(things[:half]), *self._parted(things[half:])]

    def _left_out(self, things: Sequence[PlacedThing]) -> bool:
        """Leave them out if there is no placement without them either."""
        trial = self.left.without(things)
        if self.trials >= TRIALS or self.compared >= COMPARISONS or self._placed(trial):
            return False
        self.left = trial
        return True

    def _placed(self, job: JobDemand) -> bool:
        ways = [demand.asked().ways for demand in job.groups]
        self.trials += 1
        markets = [self.market.asking(each) for each in job.asked().variants]
        terms = sum(
            len(variant.facts) + len(variant.needs)
            for some in ways
            for way in some
            for variant in way.variants
        )
        terms += sum(len(each.of_job.facts) + len(each.of_job.needs) for each in markets)
        self.compared += terms * (1 + len(self.market.nodes.kinds) // 4)
        return all(ways) and any(possible(each, ways, solver=self.solver) for each in markets)


def _satisfying(market: Market, demand: Demand | JobDemand, thing: Thing) -> int | None:
    """How many nodes could have a task that asks for this only."""
    if not any(thing.what is part for part in demand.parts):
        return None
    part = next(part for part in demand.parts if part is thing.what)
    if expression.mentions(part) <= _COUNTED:
        return None
    ways = demand.alone(part).asked().ways
    able: set[int] = set()
    for way in ways:
        problem = market.problem((way,))
        (only,) = problem.parts
        nodes = {
            node
            for each, options in zip(problem.classes, only.options, strict=True)
            if options
            for node in each.members
        }
        for quota in only.quotas:
            nodes &= quota.nodes
        able |= nodes
    return len(able)
