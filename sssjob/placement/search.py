"""Which way to count, and who solves it: the best placement of a job over all its ways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import islice
from typing import NamedTuple

from sssjob.placement.filling import fill
from sssjob.placement.matching import Market
from sssjob.placement.problem import Problem, Solution, value
from sssjob.placement.requests import Way
from sssjob.placement.solving import Budget, solve

WAYS = 64  # combinations of the ways to count of all parts that are tried


class Best(NamedTuple):
    """The best placement of all, with the ways that it counts; or none.

    ``proved`` tells whether nothing is better, or nothing can be placed.
    """

    ways: tuple[Way, ...]
    problem: Problem | None
    solution: Solution | None
    proved: bool


def best(market: Market, asked: Sequence[Sequence[Way]], *, solver: Budget | None) -> Best:
    """The best placement, over the ways of all parts."""
    found = Best((), None, None, True)
    worth: tuple[Fraction, int] | None = None
    proved = True
    for tried, (bound, ways) in enumerate(_combined(asked)):
        if worth is not None and bound < worth[0]:
            break
        if tried == WAYS:
            proved = False
            break
        problem = market.problem(ways)
        solution, certain = _solved(problem, solver)
        proved = proved and certain
        if solution is None:
            continue
        if worth is None or value(problem, solution) > worth:
            worth = value(problem, solution)
            found = Best(ways, problem, solution, True)
    return found._replace(proved=proved)


def possible(market: Market, asked: Sequence[Sequence[Way]], *, solver: Budget | None) -> bool:
    """Whether a placement is found, however good it is."""
    for _, ways in islice(_combined(asked), WAYS):
        problem = market.problem(ways)
        filled = fill(problem)
        if filled.solution is not None:
            return True
        if filled.proved or solver is None:
            continue
        found = solve(problem, solver, any_will_do=True)
        if found is not None and found.solution is not None:
            return True
    return False


def _solved(problem: Problem, solver: Budget | None) -> tuple[Solution | None, bool]:
    """By filling where that is a proof, or else by the solver where there is one."""
    filled = fill(problem)
    if filled.proved or solver is None:
        return filled
    solved = solve(problem, solver)
    if solved is None or (not solved.proved and solved.solution is None):
        return filled
    if solved.proved or filled.solution is None:
        return solved
    assert solved.solution is not None
    better = value(problem, solved.solution) > value(problem, filled.solution)
    return solved if better else filled


def _combined(asked: Sequence[Sequence[Way]]) -> Iterator[tuple[Fraction, tuple[Way, ...]]]:
    """One way of each part, those first that could be liked most."""
    ranked = [sorted(ways, key=lambda way: -_liked(way)) for ways in asked]
    if not all(ranked):
        return
    start = (0,) * len(ranked)
    waiting = [(-sum((_liked(ways[0]) for ways in ranked), Fraction(0)), start)]
    seen = {start}
    while waiting:
        bound, places = heappop(waiting)
        yield -bound, tuple(ways[place] for ways, place in zip(ranked, places, strict=True))
        for part, place in enumerate(places):
            further = (*places[:part], place + 1, *places[part + 1 :])
            if place + 1 < len(ranked[part]) and further not in seen:
                seen.add(further)
                less = _liked(ranked[part][place]) - _liked(ranked[part][place + 1])
                heappush(waiting, (bound + less, further))


def _liked(way: Way) -> Fraction:
    return max(variant.score for variant in way.variants)
