"""Placement without a solver: nodes are filled in an order, part after part.

Strategy. Where each task can be on a node in one way only, a node has two numbers: how well it
is liked, and how many tasks fit. Sizes (so many nodes with so many tasks) are given out from the
largest to the smallest, each to the best liked node on which it fits: if a better solution gave it
to another node, exchanging the two would cost nothing, since what fits a larger size fits a smaller
one. Without sizes the best liked nodes are filled up first, and of those that are liked as little
as the last one needed, the largest. Where more nodes are asked for, each more has one task of those
that are liked least. So for one part without named nodes this is exact, but where fewer nodes are
asked for than the best liked ones come to, and some are liked better than others.

For everything else it is a heuristic: a part comes after those before it, named nodes come first,
and where a node has several options, it is tried with those that are liked at least so much, from
the most to the least. What it finds is a placement; that there is none, or none better, it cannot
say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import NamedTuple

from sssjob.placement.problem import (
    BestSolution,
    On,
    PlacementPart,
    PlacementProblem,
    Run,
    TaskOption,
)

COUNTS = 64  # numbers of nodes that are tried of those that would do
LEVELS = 64  # scores that are tried

_Where = dict[int, On]


class _NodeOption(NamedTuple):
    """A node with the option that is tried, in the order in which nodes are chosen."""

    last: bool  # whether nobody named it
    dislike: int  # how many scores are better
    fresh: bool  # whether the job does not use it yet
    node: int
    option: int
    fits: int


class _Tried(NamedTuple):
    score: Fraction
    nodes: int
    where: _Where


def fill(problem: PlacementProblem) -> BestSolution:
    """A placement, and whether none is better; None if no way was found."""
    room = [each.room for each in problem.classes]
    taken: dict[int, list[int]] = {}
    solution: list[_Where] = []
    proved = len(problem.parts) == 1
    for part in problem.parts:
        found, exact = _Filling(problem, part, room, taken).best()
        proved = proved and exact
        if found is None:
            return BestSolution(None, proved)
        solution.append(found)
        for node, on in found.items():
            kind = problem.class_of[node]
            left = taken.setdefault(node, list(room[kind]))
            for option, number in on:
                for row, each in part.options[kind][option].takes:
                    left[row] -= each * number
    return BestSolution(tuple(solution), proved)


class _Filling:
    """One part, with the room that others left."""

    def __init__(
        self, problem: PlacementProblem, part: PlacementPart, room: Sequence[Sequence[int]],
        taken: dict[int, list[int]],
    ) -> None:  # fmt: skip
        self.problem, self.part, self.room, self.taken = problem, part, room, taken
        self.named = set(part.pins)
        self.proved = part.simple
        # Classes share their options, which are told apart by what they are, not by what they say.
        distinct = {id(option): option for each in part.options for option in each}
        self.scores = sorted({option.score for option in distinct.values()}, reverse=True)
        places = {score: place for place, score in enumerate(self.scores)}
        self.dislikes = {key: places[option.score] for key, option in distinct.items()}

    def best(self) -> tuple[_Where | None, bool]:
        """The best over all levels of liking."""
        part = self.part
        levels = range(len(self.scores))
        if part.simple:
            levels = levels[-1:]
        best: _Tried | None = None
        for level in (*levels[: LEVELS - 1], *levels[-1:]):
            places = self._places(level)
            for tried in self._at(places):
                if best is None or (tried.score, -tried.nodes) > (best.score, -best.nodes):
                    best = tried
            if best is not None and best.score >= self.scores[level] * part.tasks:
                break  # no lower level is liked better
        return (best.where if best else None), self.proved

    def _places(self, level: int) -> list[_NodeOption]:
        """Each node with the option, liked at least so much, of which most tasks fit."""
        part, found, dislikes = self.part, [], self.dislikes
        most = min(part.tasks, part.per_node or part.tasks)
        named = self.named | self._wanted()
        for kind, each in enumerate(self.problem.classes):
            options = part.options[kind]
            liked = [
                number for number, option in enumerate(options) if dislikes[id(option)] <= level
            ]
            if not liked:
                continue
            best = _most(options, liked, self.room[kind], most)
            for node in self._enough(each.members, best[1], named):
                option, fits = best
                if (left := self.taken.get(node)) is not None:
                    option, fits = _most(options, liked, left, most)
                if fits > 0:
                    dislike = dislikes[id(options[option])]
                    fresh = node not in self.taken
                    found.append(_NodeOption(node not in named, dislike, fresh, node, option, fits))
        found.sort()
        return found

    def _enough(self, members: tuple[int, ...], fits: int, named: Container[int]) -> Iterable[int]:
        """Of nodes that are alike, those that differ after all, and as many as can be used."""
        part = self.part
        used = -(-part.tasks // fits) + part.low + len(part.excluded) if fits else 0
        most = used if part.shape.free else min(part.high, part.tasks + part.low)
        if most >= len(members):
            return members
        other = [node for node in members if node in named or node in self.taken]
        fresh = (node for node in members if node not in named and node not in self.taken)
        return [*other, *islice(fresh, most)]

    # decision 1082
    def _wanted(self) -> set[int]:
        """Of each set of nodes that are named, as many as are wanted, the first ones.

        Sets that have the fewest others come first, and a node of several is one of each.
        """
        found = set(self.part.pins)
        options, class_of = self.part.options, self.problem.class_of
        every = [
            ([node for node in sorted(quota.nodes) if options[class_of[node]]], quota.number)
            for quota in self.part.quotas
        ]
        for able, number in sorted(every, key=lambda each: len(each[0]) - each[1]):
            more = number - sum(node in found for node in able)
            found.update(islice((node for node in able if node not in found), max(more, 0)))
        return found

    def _at(self, places: list[_NodeOption]) -> Iterator[_Tried]:
        """What can be done with each node by one option."""
        part = self.part
        if part.pins:
            pinned = self._geometry if part.shape.sizes else self._pinned
            yield from self._checked([pinned(places)])
        elif part.shape.free:
            yield from self._checked(self._bounded(places))
        else:
            yield from self._checked(self._sized(places))

    def _checked(self, found: Iterable[list[tuple[_NodeOption, int]] | None]) -> Iterator[_Tried]:
        """Those that keep to the numbers of nodes and to the named ones."""
        part = self.part
        for given in found:
            if given is None or not part.low <= len(given) <= part.high:
                continue
            nodes = {place.node for place, _ in given}
            if len(given) in part.excluded:
                continue
            if any(len(nodes & quota.nodes) < quota.number for quota in part.quotas):
                continue
            score = self._score(given)
            where: _Where = {place.node: ((place.option, number),) for place, number in given}
            yield _Tried(score, len(where), where)

    def _score(self, given: list[tuple[_NodeOption, int]]) -> Fraction:
        """How well all tasks together like their nodes."""
        tasks: dict[int, int] = {}
        for place, number in given:
            tasks[place.dislike] = tasks.get(place.dislike, 0) + number
        return sum((self.scores[place] * number for place, number in tasks.items()), Fraction(0))

    def _sized(self, places: list[_NodeOption]) -> Iterator[list[tuple[_NodeOption, int]]]:
        """For each number of nodes that will do, the sizes given out."""
        part, shape = self.part, self.part.shape
        by_size = sorted(places, key=lambda place: -place.fits)
        alike = len({(place.last, place.dislike) for place in places}) <= 1
        found = 0
        for number in part.nodes(len(places)):
            runs = shape.runs(part.tasks, number)
            if sum(count for _, count in runs) > number:
                continue  # so many tasks on each are on more nodes than that
            before = 0
            for size, count in runs:
                before += count
                if by_size[before - 1].fits < size:
                    break
            else:
                yield _given(by_size, runs)
                found += 1
                if alike:
                    return  # more nodes are liked no better
                if found == COUNTS:
                    self.proved = False
                    return

    def _bounded(self, places: list[_NodeOption]) -> Iterator[list[tuple[_NodeOption, int]]]:
        """Any numbers of tasks, on as many nodes as are asked for."""
        part = self.part
        order = _liked(places, {})
        best = self._any(order, {}, part.tasks)
        if best is None:
            return
        more = _allowed(part, max(len(best), part.low), 1)
        if more is not None:
            yield self._spread(best, order, more)
        if more == len(best) or (fewer := _allowed(part, len(best) - 1, -1)) is None:
            return
        if len({place.dislike for place in places}) > 1:
            self.proved = False
            if (few := self._few(order, fewer)) is not None:
                yield few
        # Else the largest are among the best already, and fewer nodes have no room.

    def _few(self, order: list[_NodeOption], number: int) -> list[tuple[_NodeOption, int]] | None:
        """Tasks on so many nodes at most: the best liked, and as many large ones as it takes."""
        large = sorted(order, key=lambda place: -place.fits)
        for some in range(number, -1, -1):
            chosen = dict.fromkeys([*order[:some], *large[: number - some]])
            rest = (place for place in large if place not in chosen)
            chosen |= dict.fromkeys(islice(rest, number - len(chosen)))
            if sum(place.fits for place in chosen) >= self.part.tasks:
                kept = [place for place in order if place in chosen]
                found = self._any(kept, {}, self.part.tasks)
                return None if found is None else self._spread(found, kept, number)
        return None

    def _any(
        self, order: list[_NodeOption], begun: dict[int, int], tasks: int
    ) -> list[tuple[_NodeOption, int]] | None:
        """Nodes filled up in this order."""
        given: list[tuple[_NodeOption, int]] = []
        for place in order:
            number = min(place.fits - begun.get(place.node, 0), tasks)
            if place.node in begun or (number > 0 and tasks > 0):
                given.append((place, begun.get(place.node, 0) + max(number, 0)))
                tasks -= max(number, 0)
        return given if tasks == 0 else None

    def _spread(
        self, given: Sequence[tuple[_NodeOption, int]], order: list[_NodeOption], least: int
    ) -> list[tuple[_NodeOption, int]]:
        """More nodes where so many are not reached: a task each from those that are liked least."""
        found = list(given)
        used = {place.node for place, _ in given}
        free = iter([place for place in order if place.node not in used])
        pins = self.part.pins
        # Who has a task to spare, and how many; those that are liked least at the end.
        spare = [
            [place.last, place.dislike, number - max(pins.get(place.node, 1), 1), at]
            for at, (place, number) in enumerate(given)
        ]
        spare = sorted(each for each in spare if each[2] > 0)
        while len(found) < least and spare and (place := next(free, None)):
            giver = spare[-1]
            at = giver[-1]
            found[at] = (found[at][0], found[at][1] - 1)
            found.append((place, 1))
            giver[2] -= 1
            if not giver[2]:
                spare.pop()
        return found

    def _pinned(self, places: list[_NodeOption]) -> list[tuple[_NodeOption, int]] | None:
        """The tasks that name a node there, the others as if there were no shape."""
        pins = self.part.pins
        fits = {place.node: place.fits for place in places}
        if any(fits.get(node, 0) < number for node, number in pins.items()):
            return None
        order = _liked(places, pins)
        found = self._any(order, dict(pins), self.part.tasks - sum(pins.values()))
        return None if found is None else self._spread(found, order, self.part.low)

    # decision 1143
    def _geometry(self, places: list[_NodeOption]) -> list[tuple[_NodeOption, int]] | None:
        """The nodes of a geometry that tasks name, and the other sizes given out."""
        pins = self.part.pins
        own = [(place, pins[place.node]) for place in places if place.node in pins]
        if len(own) < len(pins) or any(place.fits < size for place, size in own):
            return None
        left = Counter(self.part.shape.sizes)
        left.subtract(pins.values())
        runs = sorted(((size, number) for size, number in left.items() if number), reverse=True)
        others = sorted(
            (place for place in places if place.node not in pins), key=lambda place: -place.fits
        )
        before = 0
        for size, number in runs:
            before += number
            if before > len(others) or others[before - 1].fits < size:
                return None
        return [*own, *_given(others, runs)]


def _liked(places: list[_NodeOption], begun: Container[int]) -> list[_NodeOption]:
    """The best liked nodes first, of those that are liked alike the largest."""
    return sorted(places, key=lambda p: (p.node not in begun, p.last, p.dislike, -p.fits))


def _allowed(part: PlacementPart, number: int, step: int) -> int | None:
    """The next number of nodes that is asked for, from this one on, up or down."""
    while part.low <= number <= part.high:
        if number not in part.excluded:
            return number
        number += step
    return None


def _most(
    options: Sequence[TaskOption], liked: Sequence[int], room: Sequence[int], most: int
) -> tuple[int, int]:
    """Of some options the one of which most tasks fit, and how many; the best liked of several."""
    best = fits = -1
    for place in liked:
        here = options[place].fits(room, most)
        if here > fits or (here == fits and options[place].score > options[best].score):
            best, fits = place, here
    return best, fits


def _given(by_size: list[_NodeOption], runs: list[Run]) -> list[tuple[_NodeOption, int]]:
    """Each size, from the largest on, to the best nodes on which it fits."""
    given: list[tuple[_NodeOption, int]] = []
    waiting: list[_NodeOption] = []
    heapify(waiting)
    index = 0
    for size, number in runs:
        while index < len(by_size) and by_size[index].fits >= size:
            heappush(waiting, by_size[index])
            index += 1
        given += ((heappop(waiting), size) for _ in range(number))
    return given
