"""What a part with one amount says of every amount, found in one pass over them, least first.

Strategy. Between two numbers that a request names nothing changes, and at each number only the
comparisons with that number. So the part is a tree of gates: a comparison that turns tells the gate
above it, which tells the one above itself only if its own value has changed. Each comparison turns
twice at most, so a request of n comparisons costs some n log n steps, where asking it anew at each
number would cost n * n.

Scores are whole numbers of ``scale``: sums of fractions are slow.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from sssjob.expression.comparison import Leaf
from sssjob.expression.normal_form import All, Any, Formula, Preferred, Wished, counted, scale
from sssjob.expression.offer import Number

# Whether it holds, and its score; a better one is greater.
Value: TypeAlias = tuple[bool, int]
_NOT: Value = False, 0
_HELD: Value = True, 0


class Swept(NamedTuple):
    """What a part says of some numbers, the least first.

    ``least`` is the place of the first number that satisfies, or None. ``best`` has for each place
    that of the best number up to it: of equally good ones, the largest.
    """

    least: int | None
    best: tuple[int, ...]


def swept(part: Formula, numbers: Sequence[Number]) -> Swept:
    """What a part whose comparisons are all of one amount says of each of the numbers."""
    return _Sweep(part, numbers).swept()


class _SweepPart:
    """A part, which tells the gate ``above`` it, where it has a ``place``, each new value."""

    def __init__(self, above: _SweepPart | None = None, place: int = 0) -> None:
        self.above, self.place = above, place
        self.value = _NOT

    def put(self, place: int, value: Value) -> None:
        """What stands below it at ``place`` has this value now."""
        gate: _SweepPart | None = self
        while gate is not None:
            own = gate.with_(place, value)
            if own == gate.value:
                return
            gate.value = value = own
            place, gate = gate.place, gate.above

    def with_(self, place: int, value: Value) -> Value:
        """Its own value with this one below it."""
        raise NotImplementedError


class _Every(_SweepPart):
    """It holds if all below it do, and all scores are added."""

    def __init__(self, size: int, above: _SweepPart, place: int) -> None:
        super().__init__(above, place)
        self.values = [_NOT] * size
        self.missing, self.score = size, 0

    def with_(self, place: int, value: Value) -> Value:
        before = self.values[place]
        self.values[place] = value
        self.missing += before[0] - value[0]
        self.score += value[1] - before[1]
        return not self.missing, self.score


class _Always(_Every):
    """A wish: what holds below it is added."""

    def with_(self, place: int, value: Value) -> Value:
        return True, super().with_(place, value)[1]


class _Tournament(_SweepPart):
    """The best value below it: a tournament, in which a new one meets few others."""

    def __init__(self, size: int, above: _SweepPart | None = None, place: int = 0) -> None:
        super().__init__(above, place)
        self.size = size
        self.rounds = [_NOT] * max(2 * size, 2)

    def with_(self, place: int, value: Value) -> Value:
        rounds, place = self.rounds, place + self.size
        rounds[place] = value
        while place > 1:
            place //= 2
            rounds[place] = max(rounds[2 * place], rounds[2 * place + 1])
        return rounds[1]


class _PreferenceRuns(_Every):
    """Runs of one group of preferences: all have to hold, and the heaviest counts."""

    def __init__(self, size: int, above: _SweepPart, place: int) -> None:
        super().__init__(size, above, place)
        self.heaviest = _Tournament(size)

    def with_(self, place: int, value: Value) -> Value:
        held, _ = super().with_(place, value)
        return held, self.heaviest.with_(place, (True, value[1]))[1]


class _Sweep:
    """One part, and its numbers."""

    def __init__(self, part: Formula, numbers: Sequence[Number]) -> None:
        self.numbers, self.scale = numbers, scale(part)
        # What turns at each number: the gate that is told, and what.
        self.turns: list[list[tuple[_SweepPart, int, Value]]] = [[] for _ in numbers]
        self.root = _Tournament(1)
        self.add(part, self.root, 0)

    def swept(self) -> Swept:
        """One number after the other."""
        least: int | None = None
        best: list[int] = []
        greatest = _NOT
        for index, turning in enumerate(self.turns):
            for gate, place, value in turning:
                gate.put(place, value)
            if least is None and self.root.value[0]:
                least = index
            is_best = self.root.value >= greatest
            greatest = max(greatest, self.root.value)
            best.append(index if is_best else best[-1])
        return Swept(least, tuple(best))

    def add(self, part: Formula, above: _SweepPart, place: int) -> None:
        """A part below a gate."""
        match part:
            case Leaf():
                self.compare(part, above, place, 0)
            case Any(parts):
                here = _Tournament(len(parts), above, place)
                for index, each in enumerate(parts):
                    self.add(each, here, index)
            case All(parts):
                self.add_all(counted(parts), above, place)
            case Preferred(members, weights, _, total):
                best = _Tournament(len(members), above, place)
                self.weigh(members, weights, total, best)
            case Wished(members, weights, total):
                wish = _Always(len(members), above, place)
                wish.put(0, _NOT)
                self.weigh(members, weights, total, wish)

    def add_all(self, runs: Sequence[Sequence[Formula]], above: _SweepPart, place: int) -> None:
        if not runs:
            above.put(place, _HELD)
        here = _Every(len(runs), above, place)
        for index, run in enumerate(runs):
            inner: _SweepPart = here
            first = index
            if len(run) > 1:
                inner, first = _PreferenceRuns(len(run), here, index), 0
            for number, each in enumerate(run, first):
                self.add(each, inner, number)

    def weigh(
        self, members: Sequence[Leaf], weights: Sequence[int], total: int, gate: _SweepPart
    ) -> None:
        unit = self.scale // total
        for index, (member, weight) in enumerate(zip(members, weights, strict=True)):
            self.compare(member, gate, index, weight * unit)

    def compare(self, leaf: Leaf, gate: _SweepPart, place: int, share: int) -> None:
        """A comparison, which turns at its number, or where it is left."""
        below, at, beyond = (leaf.holds(leaf.number + step) for step in (-1, 0, 1))
        index = bisect_left(self.numbers, leaf.number)
        is_listed = self.numbers[index : index + 1] == (leaf.number,)
        said = (
            [(0, below)] * (index > 0) + [(index, at)] * is_listed + [(index + is_listed, beyond)]
        )
        before = False
        for index, held in said:
            if held != before and index < len(self.numbers):
                self.turns[index].append((gate, place, (True, share) if held else _NOT))
            before = held
