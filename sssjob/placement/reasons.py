"""Why a job cannot be placed: the least of what it asks that is too much.

What it asks is left out thing by thing, and what makes no difference stays out. What is left is
too much together, and without any of it there would be a placement.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sssjob import expression
from sssjob.placement import search
from sssjob.placement.demand import Demand, Thing
from sssjob.placement.matching import Market
from sssjob.placement.values import Reason

TRIALS = 200  # placements that are tried; what is not tried to be left out by then is a reason

_COUNTED = frozenset(("Processors", "NodeCount", "TaskCount"))


def least(market: Market, demands: Sequence[Demand], *, solver: bool) -> Iterator[Reason]:
    """The reasons why these cannot be placed together."""
    left = list(demands)
    kept: list[tuple[Demand, Thing]] = []
    trials = 0
    for place, demand in enumerate(demands):
        for thing in demand.things():
            trial = [*left[:place], left[place].without(thing), *left[place + 1 :]]
            trials += 1
            if trials <= TRIALS and not _placed(market, trial, solver=solver):
                left = trial
            else:
                kept.append((demand, thing))
    every = len(market.nodes.names)
    for demand, thing in kept:
        yield Reason(thing.path, thing.text, _satisfying(market, demand, thing), every)
    if not kept:
        path = demands[0].path
        able = sum(
            len(kind.members)
            for kind in market.nodes.kinds
            if (kind.offer.amount(("Processors",)) or 0) >= 1
        )
        yield Reason(path, "a free processor for each task", able, every)


def _placed(market: Market, demands: Sequence[Demand], *, solver: bool) -> bool:
    ways = [demand.asked().ways for demand in demands]
    return all(ways) and search.best(market, ways, solver=solver).solution is not None


def _satisfying(market: Market, demand: Demand, thing: Thing) -> int | None:
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
