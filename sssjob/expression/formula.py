"""An expression made ready to be evaluated: negations at the comparisons, preferences counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from sssjob.expression.comparing import NO, UNKNOWN, YES, Leaf, leaf
from sssjob.expression.offer import Number, Offer
from sssjob.expression.pattern import Matching
from sssjob.expression.tree import (
    And,
    Comparison,
    Expression,
    Not,
    OneOf,
    Wish,
    key,
    weight,
)

Point: TypeAlias = Mapping[str, Number | None]
Result: TypeAlias = tuple[int, Fraction]
_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True, eq=False)
class All:
    """Every part."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Any:
    """At least one part."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Preferred:
    """One run of positive preferences: at least one member, the heaviest counts.

    ``group`` tells which runs count together, ``total`` is the sum of all their weights (3.1).
    """

    members: tuple[Leaf, ...]
    weights: tuple[int, ...]
    group: str
    total: int


@dataclass(frozen=True, slots=True, eq=False)
class Wished:
    """One run of negative preferences: always true, every member that holds counts.

    Members of what is to be avoided are negated already.
    """

    members: tuple[Leaf, ...]
    weights: tuple[int, ...]
    total: int


Formula: TypeAlias = Leaf | All | Any | Preferred | Wished


def formula(expression: Expression, match: Matching, node_count: int | None) -> Formula:
    """The expression with Not pushed down to its comparisons."""

    def ready(comparison: Comparison, negate: bool) -> Leaf:
        return leaf(comparison, negate, match, node_count)

    return _pushed(expression, False, ready, Counter())


Ready = Callable[[Comparison, bool], Leaf]


def _pushed(expression: Expression, negate: bool, ready: Ready, sums: Counter[str]) -> Formula:
    """``sums`` are the weights of each group of preferences at this parenthesis level."""
    match expression:
        case Comparison():
            return ready(expression, negate)
        case Not(operand):
            return _pushed(operand, not negate, ready, sums)
        case OneOf(members) if negate:
            return All(tuple(ready(member, True) for member in members))
        case OneOf(members):
            weights, group, total = _weights(members, sums)
            return Preferred(
                tuple(ready(member, False) for member in members), weights, group, total
            )
        case Wish(members, avoid):
            weights, _, total = _weights(members, sums)
            return Wished(
                tuple(ready(member, avoid != negate) for member in members), weights, total
            )
    level: Counter[str] = Counter()
    for operand in expression.operands:
        inner = operand.operand if isinstance(operand, Not) else operand
        if isinstance(inner, OneOf | Wish):
            weights, group, _ = _weights(inner.members, Counter())
            level[group] += sum(weights)
    parts = tuple(_pushed(operand, negate, ready, level) for operand in expression.operands)
    return All(parts) if isinstance(expression, And) != negate else Any(parts)


def _weights(
    members: tuple[Comparison, ...], sums: Counter[str]
) -> tuple[tuple[int, ...], str, int]:
    """The weights without signs, the group (its name and sign), and the sum of the group."""
    signed = [weight(member.item) for member in members]
    weights = tuple(map(abs, signed))
    group = f"{'+' if signed[0] > 0 else '-'}{key(members[0].item)}"
    return weights, group, sums[group] or sum(weights)


def leaves(part: Formula) -> Iterator[Leaf]:
    """Every comparison, in document order."""
    match part:
        case Leaf():
            yield part
        case All(parts) | Any(parts):
            for inner in parts:
                yield from leaves(inner)
        case Preferred(members) | Wished(members):
            yield from members


def has_preferences(part: Formula) -> bool:
    """Whether anything in it can be more or less liked."""
    if isinstance(part, All | Any):
        return any(map(has_preferences, part.parts))
    return isinstance(part, Preferred | Wished)


def truth(part: Formula, offer: Offer, point: Point) -> int:
    """Three-valued: the amounts are those of ``point``, where None is not known.

    An amount that ``point`` does not have cannot be had at all: nothing holds of it.
    """
    match part:
        case Leaf(ask=None, slots=()):
            return UNKNOWN
        case Leaf(ask=None):
            value = point.get(part.slot, _NOTHING)
            if value is None:
                return UNKNOWN
            return YES if value is not _NOTHING and part.holds(value) else NO
        case Leaf(ask=ask) if ask is not None:
            return ask(offer)
        case All(parts):
            return least(truth(inner, offer, point) for inner in parts)
        case Any(parts) | Preferred(parts):
            return most(truth(inner, offer, point) for inner in parts)
    return YES


def scored(part: Formula, offer: Offer, point: Point) -> Result:
    """Truth, and the sum of the shares of all groups of preferences (3.3)."""
    match part:
        case Preferred(members, weights, _, total):
            return truth(part, offer, point), Fraction(_heaviest(part, offer, point), total)
        case Wished(members, weights, total):
            held = sum(
                each
                for member, each in zip(members, weights, strict=True)
                if truth(member, offer, point) == YES
            )
            return YES, Fraction(held, total)
        case Any(parts):
            return max((scored(inner, offer, point) for inner in parts), default=(NO, _ZERO))
        case All(parts):
            return _all_scored(parts, offer, point)
    return truth(part, offer, point), _ZERO


def _all_scored(parts: Iterable[Formula], offer: Offer, point: Point) -> Result:
    """Runs of one group count once, by the heaviest member that holds in any of them."""
    verdict, score = YES, _ZERO
    shares: dict[str, Fraction] = {}
    for part in parts:
        held, share = scored(part, offer, point)
        verdict = min(verdict, held)
        if isinstance(part, Preferred):
            shares[part.group] = max(share, shares.get(part.group, _ZERO))
        else:
            score += share
    return verdict, score + sum(shares.values(), _ZERO)


def _heaviest(part: Preferred, offer: Offer, point: Point) -> int:
    return max(
        (
            each
            for member, each in zip(part.members, part.weights, strict=True)
            if truth(member, offer, point) == YES
        ),
        default=0,
    )


def least(verdicts: Iterable[int]) -> int:
    """And: the least of all, and no more are asked than needed."""
    lowest = YES
    for verdict in verdicts:
        if verdict == NO:
            return NO
        lowest = min(lowest, verdict)
    return lowest


def most(verdicts: Iterable[int]) -> int:
    """Or: the greatest of all."""
    highest = NO
    for verdict in verdicts:
        if verdict == YES:
            return YES
        highest = max(highest, verdict)
    return highest


_NOTHING = Fraction(-1)
