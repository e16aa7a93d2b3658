"""Which way to count, and who solves it: the best placement of a job over all its ways.

Strategy. What a job asks for can often be counted in several ways, by alternatives of its request
and by bounds of its counts, and each way of each part is another problem to solve.

The idea is to try the combinations in the order of what they could be worth at the most, which is
known without solving them.

Why it is right: once the next one could be worth no more than what was found, none behind it is
better. Where too many were tried before that, the best so far is not called proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import islice
from typing import NamedTuple

from sssjob.placement.filling import fill
from sssjob.placement.matching import Market
from sssjob.placement.problem import PlacementProblem, Solution, value
from sssjob.placement.requests import CountingWay
from sssjob.placement.solving import Budget, solve

WAYS = 64  # combinations of the ways to count of all parts that are tried
PARTS = 128 * WAYS  # task groups in all of these: of a job with very many, fewer are tried


class Best(NamedTuple):
    """The best placement of all, with the ways that it counts; or none.

    ``proved`` tells whether nothing is better, or nothing can be placed.
    """

    ways: tuple[CountingWay, ...]
    problem: PlacementProblem | None
    solution: Solution | None
    proved: bool


def best(market: Market, asked: Sequence[Sequence[CountingWay]], *, solver: Budget | None) -> Best:
    """The best placement, over the ways of all parts."""
    found = Best((), None, None, True)
    worth: tuple[Fraction, int] | None = None
    proved, most = True, _most(asked)
    for tried, (bound, ways) in enumerate(_combined(asked)):
        if worth is not None and bound < worth[0]:
            break
        if tried == most:
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


def possible(
    market: Market, asked: Sequence[Sequence[CountingWay]], *, solver: Budget | None
) -> bool:
    """Whether a placement is found, however good it is."""
    for _, ways in islice(_combined(asked), _most(asked)):
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


def _solved(problem: PlacementProblem, solver: Budget | None) -> tuple[Solution | None, bool]:
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


def _combined(
    asked: Sequence[Sequence[CountingWay]],
) -> Iterator[tuple[Fraction, tuple[CountingWay, ...]]]:
    """One way of each part, those first that could be liked most."""
    ranked = [sorted(ways, key=lambda way: -_liked(way)) for ways in asked]
    if not all(ranked):
        return
    first = tuple(ways[0] for ways in ranked)
    # A combination is what differs from the first one: minus the part, and which way of it. So the
    # least of equally good ones is that whose ways come first, in the order of the parts.
    waiting: list[tuple[Fraction, tuple[tuple[int, int], ...]]] = []
    heappush(waiting, (-sum(map(_liked, first), Fraction(0)), ()))
    while waiting:
        bound, others = heappop(waiting)
        ways = list(first)
        for part, place in others:
            ways[-part] = ranked[-part][place]
        yield -bound, tuple(ways)
        # Each is made of one only: of that whose last other way is one less.
        last, place = others[-1] if others else (0, 0)
        for part in range(-last, len(ranked)):
            further = place + 1 if part == -last else 1
            if further < len(ranked[part]):
                kept = others[:-1] if part == -last else others
                less = _liked(ranked[part][further - 1]) - _liked(ranked[part][further])
                heappush(waiting, (bound + less, (*kept, (-part, further))))


def _most(asked: Sequence[Sequence[CountingWay]]) -> int:
    """How many combinations are tried."""
    return max(min(WAYS, PARTS // max(len(asked), 1)), 1)


def _liked(way: CountingWay) -> Fraction:
    return max(variant.score for variant in way.variants)
