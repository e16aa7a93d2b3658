"""Fit: is there an amount of everything, above zero and within the offer, that satisfies all?

Or asks for one of its parts, so each is asked by itself. Parts of an And are asked by
themselves, too, if they take different amounts; those that share some are searched together, an
amount at a time, over the few numbers between which no comparison changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor

from sssjob.errors import LimitExceeded
from sssjob.expression.comparing import NO, UNKNOWN, YES, Leaf
from sssjob.expression.formula import (
    All,
    Any,
    Formula,
    Point,
    Preferred,
    Result,
    has_preferences,
    leaves,
    scored,
    truth,
)
from sssjob.expression.offer import Number, Offer

_REMEMBERED = 1 << 12  # parts of requests, whose comparisons are gathered once for all offers

STEPS = 20_000  # amounts tried for one offer before it stays unknown

Ask = Callable[[Offer], int]
_ZERO = Fraction(0)


@lru_cache(_REMEMBERED)
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


@lru_cache(_REMEMBERED)
def amounts(part: Formula) -> frozenset[str]:
    """The amounts that are taken in a part."""
    return frozenset(each.slot for each in leaves(part) if each.slots)


@lru_cache(_REMEMBERED)
def compiled(part: Formula) -> Ask:
    """The part as a function of an offer, for verdicts only."""
    match part:
        case Leaf(ask=ask) if ask is not None:
            return ask
        case Any(parts) | Preferred(parts):
            return _either([compiled(inner) for inner in parts])
        case All(parts):
            return _every([_together(group) for group in components(parts)])
        case Leaf(slots=slots) if slots:
            return _threshold((part,))
        case Leaf():
            return lambda offer: UNKNOWN
    return lambda offer: YES


@lru_cache(_REMEMBERED)
def components(parts: tuple[Formula, ...]) -> tuple[tuple[Formula, ...], ...]:
    """The parts that have to be looked at together: they share an amount or a preference."""
    groups: list[tuple[set[str], list[Formula]]] = []
    for part in parts:
        shared, members = set(amounts(part)), [part]
        if isinstance(part, Preferred):
            shared.add(part.group)
        kept = []
        for names, others in groups:
            if names & shared:
                shared |= names
                members = others + members
            else:
                kept.append((names, others))
        groups = [*kept, (shared, members)]
    return tuple(tuple(members) for _, members in groups)


def _together(parts: tuple[Formula, ...]) -> Ask:
    taken = frozenset().union(*(amounts(part) for part in parts))
    if len(taken) == 1 and all(each.slots for part in parts for each in leaves(part)):
        return _threshold(parts)
    if len(parts) == 1:
        return compiled(parts[0])
    whole = All(parts)
    return lambda offer: Search(offer).best(whole, False)[0]


def _threshold(parts: tuple[Formula, ...]) -> Ask:
    """Only one amount matters: what an offer needs of it at least is known beforehand."""
    found = tuple(each for part in parts for each in leaves(part))
    slots, part = found[0].slots, All(parts)
    nothing = Offer("", {})
    if truth(part, nothing, {}) == YES:  # nothing has to be taken: it only wishes for the amount
        return lambda offer: YES
    missing = truth(part, nothing, {slots[0]: None})
    tried = numbers(found, found[0].whole)
    first = next((n for n in tried if truth(part, nothing, {slots[0]: n}) == YES), None)
    if first is None:
        return lambda offer: NO if offer.amount(slots) is not None else missing
    # Between two constants any number will do, however near to the lower one.
    constants = [each.number for each in found]
    open_ = not found[0].whole and first not in constants
    bound = max((c for c in constants if c < first), default=0) if open_ else first
    bound = max(bound, 0)

    if len(slots) > 1 or open_:

        def ask(offer: Offer) -> int:
            value = offer.amount(slots)
            if value is None:
                return missing
            return YES if value > bound or (value == bound and not open_) else NO

        return ask
    return _Need(slots[0], bound, missing)


@dataclass(frozen=True, slots=True)
class _Need:
    """The least that an offer needs of one amount, and the answer where it is not known."""

    slot: str
    bound: Number
    missing: int

    def __call__(self, offer: Offer) -> int:
        value = offer.amounts.get(self.slot)
        return self.missing if value is None else YES if value >= self.bound else NO


def _every(asks: Sequence[Ask]) -> Ask:
    if len(asks) == 1:
        return asks[0]
    # Most of a request are least amounts, which need no call each.
    needs = [(each.slot, each.bound, each.missing) for each in asks if isinstance(each, _Need)]
    others = [each for each in asks if not isinstance(each, _Need)]

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
        for each in others:
            answer = each(offer)
            if answer != YES:
                if answer == NO:
                    return NO
                verdict = UNKNOWN
        return verdict

    return ask


def _either(asks: Sequence[Ask]) -> Ask:
    def ask(offer: Offer) -> int:
        verdict = NO
        for each in asks:
            answer = each(offer)
            if answer == YES:
                return YES
            verdict = max(verdict, answer)
        return verdict

    return ask


class Search:
    """The best amounts of one offer; raises ``LimitExceeded`` after too many tries."""

    def __init__(self, offer: Offer) -> None:
        self.offer, self.steps = offer, 0

    def best(self, part: Formula, liked: bool = True) -> tuple[int, Fraction, Point]:
        """The greatest truth, the best score with it if that is ``liked``, and what to take."""
        match part:
            case Any(parts):
                answers = [self.best(inner, liked) for inner in parts]
                return max(answers, key=_rank, default=(NO, _ZERO, {}))
            case All(parts) if len(split := components(parts)) > 1:
                return _joined(self.best(_all(inner), liked) for inner in split)
        return self.over(part, _taken(part), {}, liked and has_preferences(part))

    def over(
        self,
        part: Formula,
        taken: tuple[Leaf, ...],
        point: Mapping[str, Number | None],
        liked: bool,
    ) -> tuple[int, Fraction, Point]:
        """Every amount of the first that is still open, and for each of those the rest."""
        self.steps += 1
        if self.steps > STEPS:
            raise LimitExceeded("amounts tried for one offer", STEPS)
        if not taken:
            result = scored(part, self.offer, point) if liked else (
                truth(part, self.offer, point), _ZERO
            )  # fmt: skip
            return *result, point
        # What cannot become true with the amounts chosen so far need not be followed.
        if point and self.hopeless(part, point, taken):
            return NO, _ZERO, point
        found: tuple[int, Fraction, Point] = (NO, _ZERO, point)
        for value in self.candidates(part, taken[0]):
            chosen = point if value is _NONE else {**point, taken[0].slot: value}
            answer = self.over(part, taken[1:], chosen, liked)
            if _rank(answer) > _rank(found):
                found = answer
            if found[0] == YES and not liked:
                break
        return found

    def hopeless(self, part: Formula, point: Point, taken: tuple[Leaf, ...]) -> bool:
        """Whether it is false even if all that is open were unknown."""
        return truth(part, self.offer, {**point, **{each.slot: None for each in taken}}) == NO

    def candidates(self, part: Formula, leaf: Leaf) -> Iterator[Number | None]:
        """The numbers to try, the largest first; one that no offer can give is left out."""
        capacity = self.offer.amount(leaf.slots)
        if capacity is None:
            yield None
            return
        if leaf.whole:
            capacity = floor(capacity)
        listed = [n for n in numbers(_alike(part, leaf.slot), leaf.whole) if n < capacity]
        yield from reversed([*listed, *([capacity] if capacity > 0 else [])])
        if capacity <= 0:
            yield _NONE


@lru_cache(_REMEMBERED)
def _taken(part: Formula) -> tuple[Leaf, ...]:
    """One comparison of each amount that is taken in a part."""
    return tuple({each.slot: each for each in leaves(part) if each.slots}.values())


@lru_cache(_REMEMBERED)
def _alike(part: Formula, slot: str) -> tuple[Leaf, ...]:
    """The comparisons of one amount."""
    return tuple(each for each in leaves(part) if each.slot == slot)


@lru_cache(_REMEMBERED)
def _all(parts: tuple[Formula, ...]) -> Formula:
    return parts[0] if len(parts) == 1 else All(parts)


def _rank(answer: tuple[int, Fraction, Point]) -> Result:
    return answer[0], answer[1]


def _joined(answers: Iterable[tuple[int, Fraction, Point]]) -> tuple[int, Fraction, Point]:
    verdict, score, point = YES, _ZERO, dict[str, Number | None]()
    for held, share, taken in answers:
        verdict, score = min(verdict, held), score + share
        point.update(taken)
    return verdict, score, point


_NONE = Fraction(-1)
