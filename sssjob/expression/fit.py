"""Fit: is there an amount of everything, above zero and within the offer, that satisfies all?

Strategy. An offer has capacities, and a request is satisfied if some part of them satisfies it
(2.11). There are endlessly many parts, but only few that differ: between two numbers that the
request names, no comparison of an amount changes, so one number of each such interval is tried.
Three facts keep the number of tries small.

- An Or is satisfied where one of its operands is, so each is fitted by itself, and the best counts.
- Operands of an And that share neither an amount nor a group of preferences cannot get into each
  other's way, so they are fitted apart (``components``). What does share is searched together:
  one amount after the other, the largest first, leaving what can no longer become true.
- A part with one amount becomes true at a capacity and stays so with every larger one. That
  capacity, and the best amount up to each, are found once, in one pass over all numbers
  (``sweep``), and all offers are compared with them (``Threshold``).

What a part says at given amounts is ``scored`` of the normal form, and that alone: verdicts,
scores, what is taken, reasons and thresholds all ask it. A search that has compared too much ends
with what it found so far. It counts comparisons and never looks at a clock, so the same request
and the same offer get the same answer everywhere.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor, inf
from types import MappingProxyType
from typing import NamedTuple, Protocol

from sssjob.errors import LimitExceeded
from sssjob.expression.comparison import NO, UNKNOWN, YES, Ask, Leaf
from sssjob.expression.normal_form import (
    REMEMBERED,
    All,
    Any,
    Formula,
    Point,
    groups,
    has_preferences,
    leaves,
    linked,
    scale,
    scored,
    size,
    truth,
)
from sssjob.expression.offer import Number, Offer
from sssjob.expression.sweep import swept

# Made for one part and one offer before its search ends; it also bounds how deep that goes, since
# each amount that is open costs a look at all comparisons.
COMPARISONS = 250_000

_ZERO = Fraction(0)
_NOWHERE = Offer("", {})
_TAKES_NOTHING: Point = MappingProxyType({})


class Fit(NamedTuple):
    """The greatest truth of a part, the best score with it, and the amounts to take for it.

    ``stopped`` says that a search ended before everything was tried.
    """

    verdict: int
    score: Fraction = _ZERO
    taken: Point = _TAKES_NOTHING
    stopped: LimitExceeded | None = None


class FitPlan(Protocol):
    """A part made ready to be asked of many offers; ``verdict`` is that of ``best``, sooner."""

    @property
    def verdict(self) -> Ask:
        """Whether it fits an offer."""

    def best(self, offer: Offer) -> Fit:
        """How it fits best."""


@lru_cache(REMEMBERED)
def plan(part: Formula) -> FitPlan:
    """How a part is fitted."""
    match part:
        case Leaf(slots=()):
            return PlainComparison(part, part.ask or _unknown)
        case Any(parts):
            return OrChoice(tuple(map(plan, parts)))
        case All(parts):
            return _joint([_together(group) for group in components(parts)])
    return _together((part,))


@lru_cache(REMEMBERED)
def components(parts: tuple[Formula, ...]) -> tuple[tuple[Formula, ...], ...]:
    """The parts that have to be looked at together: they share an amount or a preference."""
    held = [{*groups(part), *(each.slot for each in leaves(part) if each.slots)} for part in parts]
    return tuple(tuple(parts[number] for number in tied) for tied in linked(held))


@lru_cache(REMEMBERED)
def numbers(found: tuple[Leaf, ...], whole: bool) -> tuple[Number, ...]:
    """Numbers above zero such that every comparison of one amount is constant between them.

    Among the numbers that satisfy, the least one is listed if there is a least one.
    """
    constants = sorted({each.number for each in found} | {0})
    if whole:
        near = {n for c in constants for n in (floor(c), floor(c) + 1, ceil(c) - 1, ceil(c))}
        return tuple(sorted(n for n in near if n > 0))
    between = [Fraction(a + b) / 2 for a, b in pairwise(constants)]
    return tuple(sorted(n for n in (*constants, *between, constants[-1] + 1) if n > 0))


def at(part: Formula, offer: Offer, point: Point) -> Fit:
    """How a part fits with these amounts."""
    whole = scale(part)
    verdict, score = scored(part, offer, point, whole)
    return Fit(verdict, Fraction(score, whole), point)


def _together(parts: tuple[Formula, ...]) -> FitPlan:
    """Parts that take the same amounts."""
    whole = parts[0] if len(parts) == 1 else All(parts)
    found = tuple(leaves(whole))
    amounts = {each.slot for each in found if each.slots}
    if len(amounts) == 1 and all(each.slots for each in found):
        return _threshold(whole, found)
    if len(parts) == 1 and isinstance(whole, All | Any | Leaf):
        return plan(whole)
    return _searched(whole)


@dataclass(frozen=True, slots=True, eq=False)
class PlainComparison:
    """A comparison of what is not taken in amounts."""

    leaf: Leaf
    verdict: Ask

    def best(self, offer: Offer) -> Fit:
        """It holds or not, whatever is taken."""
        return Fit(self.verdict(offer))


@dataclass(frozen=True, slots=True, eq=False)
class OrChoice:
    """Operands of Or: the best of them."""

    plans: tuple[FitPlan, ...]

    def verdict(self, offer: Offer) -> int:
        """The greatest verdict of all."""
        highest = NO
        for each in self.plans:
            verdict = each.verdict(offer)
            if verdict == YES:
                return YES
            highest = max(highest, verdict)
        return highest

    def best(self, offer: Offer) -> Fit:
        """The best of all, by its verdict and then by its score."""
        return max((each.best(offer) for each in self.plans), key=_rank, default=Fit(NO))


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Operands of And that are fitted apart."""

    verdict: Ask
    plans: tuple[FitPlan, ...]

    def best(self, offer: Offer) -> Fit:
        """The best of each, together."""
        verdict, score, taken, stopped = YES, _ZERO, dict[str, Number | None](), None
        for each in self.plans:
            found = each.best(offer)
            verdict, score = min(verdict, found.verdict), score + found.score
            taken.update(found.taken)
            stopped = stopped or found.stopped
        return Fit(verdict, score, taken, stopped)


def _joint(plans: Sequence[FitPlan]) -> FitPlan:
    return plans[0] if len(plans) == 1 else Joint(_every(plans), tuple(plans))


def _every(plans: Sequence[FitPlan]) -> Ask:
    """The least verdict of all, sooner: most of a request are least amounts of single kinds."""
    needs = [
        (each.slots[0], each.bound, each.missing)
        for each in plans
        if isinstance(each, Threshold) and each.is_least
    ]
    asks = [each.verdict for each in plans if not (isinstance(each, Threshold) and each.is_least)]

    def ask(offer: Offer) -> int:
        verdict = YES
        known = offer.amounts
        for slot, bound, missing in needs:
            value = known.get(slot)
            if value is None:
                if missing == NO:
                    return NO
                verdict = min(verdict, missing)
            elif value < bound:
                return NO
        for each in asks:
            answer = each(offer)
            if answer != YES:
                if answer == NO:
                    return NO
                verdict = UNKNOWN
        return verdict

    return ask


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """Parts whose amounts depend on each other.

    ``amounts`` has one comparison of each amount, and the numbers to try of it.
    """

    part: Formula
    size: int
    amounts: tuple[tuple[Leaf, tuple[Number, ...]], ...]
    liked: bool

    def verdict(self, offer: Offer) -> int:
        """That of the first amounts that satisfy."""
        return _FitSearch(self, offer, False).best().verdict

    def best(self, offer: Offer) -> Fit:
        """The first of the amounts that no others are liked better than."""
        return _FitSearch(self, offer, self.liked).best()


def _searched(part: Formula) -> Searched:
    kinds: dict[str, list[Leaf]] = {}
    found = tuple(leaves(part))
    for each in found:
        if each.slots:
            kinds.setdefault(each.slot, []).append(each)
    amounts = ((alike[0], numbers(tuple(alike), alike[0].whole)) for alike in kinds.values())
    return Searched(part, size(part), tuple(amounts), has_preferences(part))


@dataclass(frozen=True, slots=True, eq=False)
class Threshold:
    """Parts with one amount: they fit from some capacity on, which is known beforehand.

    From ``bound`` on, or above it if that is ``open``; ``missing`` is the verdict where the
    capacity is not known. ``best_of`` has for each of the ``tried`` numbers the place of the best
    up to it.
    """

    part: Formula
    liked: bool
    slots: tuple[str, ...]
    whole: bool
    bound: Number | float
    open: bool
    missing: int
    tried: tuple[Number, ...]
    best_of: tuple[int, ...]

    @property
    def is_least(self) -> bool:
        """Whether it is a least amount, looked up at one place."""
        return len(self.slots) == 1 and not self.open

    def verdict(self, offer: Offer) -> int:
        """Whether the capacity is large enough."""
        value = offer.amount(self.slots)
        if value is None:
            return self.missing
        return YES if value > self.bound or (value == self.bound and not self.open) else NO

    def best(self, offer: Offer) -> Fit:
        """The largest of the amounts that no others are liked better than."""
        verdict = self.verdict(offer)
        if verdict == NO:
            return Fit(NO)
        point = self._taken(offer.amount(self.slots))
        return at(self.part, _NOWHERE, point) if self.liked else Fit(verdict, _ZERO, point)

    def _taken(self, capacity: Number | None) -> Point:
        if capacity is None:
            return {self.slots[0]: None}
        if self.whole:
            capacity = floor(capacity)
        if capacity <= 0:
            return _TAKES_NOTHING
        place = self._place(capacity)
        best = self.best_of[place]
        return {self.slots[0]: capacity if best == place else self.tried[best]}

    def _place(self, capacity: Number) -> int:
        """Which of the numbers no comparison tells apart from a capacity above zero."""
        place = max(bisect_right(self.tried, capacity) - 1, 0)
        if self.whole or self.tried[place] >= capacity:
            return place
        return place if _is_between(place) else place + 1


def _threshold(part: Formula, found: tuple[Leaf, ...]) -> Threshold:
    slots, whole = found[0].slots, found[0].whole
    missing = truth(part, _NOWHERE, {slots[0]: None})
    tried = numbers(found, whole)
    least, best_of = swept(part, tried)
    bound, is_open = (inf, False) if least is None else (tried[least], False)
    if truth(part, _NOWHERE, _TAKES_NOTHING) == YES:  # it only wishes for the amount
        bound = -inf
    elif least is not None and not whole and _is_between(least):
        # Any number between two constants will do, however near to the lower one.
        bound, is_open = tried[least - 1] if least else 0, True
    liked = has_preferences(part)
    return Threshold(part, liked, slots, whole, bound, is_open, missing, tried, best_of)


def _is_between(place: int) -> bool:
    """Whether one of the ``numbers`` that are not whole stands for all between two constants."""
    return place % 2 == 0


class _FitSearch:
    """Every way to take the amounts of one offer, but for those that cannot be better."""

    def __init__(self, asked: Searched, offer: Offer, liked: bool) -> None:
        self.asked, self.part, self.offer, self.liked = asked, asked.part, offer, liked
        self.scale = scale(asked.part)
        self.found: tuple[int, int, Point] = NO, 0, _TAKES_NOTHING
        self.compared = 0

    def best(self) -> Fit:
        """The best that is found; a verdict that is not certain when it ends early is unknown."""
        stopped = None
        try:
            self.over(0, {})
        except LimitExceeded as error:
            stopped = error
        verdict, score, taken = self.found
        if stopped and verdict != YES:
            verdict = UNKNOWN
        return Fit(verdict, Fraction(score, self.scale), taken, stopped)

    def over(self, index: int, point: Point) -> None:
        """Every number of the amount at ``index``, and for each of those the rest."""
        self.compared += self.asked.size
        if self.compared > COMPARISONS:
            raise LimitExceeded("comparisons for one offer", COMPARISONS)
        amounts = self.asked.amounts
        if index == len(amounts):
            self.take(point)
            return
        # What cannot become true with the amounts chosen so far need not be followed.
        unknown = {each.slot: None for each, _ in amounts[index:]}
        if index and truth(self.part, self.offer, {**point, **unknown}) == NO:
            return
        leaf, listed = amounts[index]
        for number in _candidates(leaf, listed, self.offer):
            self.over(index + 1, point if number is _NONE else {**point, leaf.slot: number})
            if self.found[0] == YES and not self.liked:
                return

    def take(self, point: Point) -> None:
        """Keep what these amounts give if it is better than all before."""
        verdict, score = (
            scored(self.part, self.offer, point, self.scale)
            if self.liked
            else (truth(self.part, self.offer, point), 0)
        )
        if (verdict, score) > self.found[:2]:
            self.found = verdict, score, point


def _candidates(leaf: Leaf, listed: tuple[Number, ...], offer: Offer) -> Iterator[Number | None]:
    """The numbers to try, the largest first; one that no offer can give is left out."""
    capacity = offer.amount(leaf.slots)
    if capacity is None:
        yield None
        return
    if leaf.whole:
        capacity = floor(capacity)
    if capacity <= 0:
        yield _NONE
        return
    yield capacity
    yield from (number for number in reversed(listed) if number < capacity)


def _unknown(offer: Offer) -> int:
    """The verdict over a comparison that cannot be evaluated."""
    return UNKNOWN


def _rank(found: Fit) -> tuple[int, Fraction]:
    return found.verdict, found.score


_NONE = Fraction(-1)
