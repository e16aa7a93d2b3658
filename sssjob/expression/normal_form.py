"""The normal form of a request: negations at the comparisons, preferences with their sums.

Strategy. An expression says what stands in a document: Not before groups, wishes, runs of
preferences, brackets that matter only to weights. What asks it, asks one form in which little is
left to be decided. Not is pushed down to the comparisons by De Morgan, so that all above them is
monotone: what is true stays true when one more comparison becomes true. On that rest the thresholds
of ``fit``, the pruning of its search, and alternatives, which choose one operand of each Or. A wish
is true, and so false where it is negated with its group; alone it is negated by wishing the
contrary. Each run of preferences carries its group with the sum of its weights (3.1), for after
this nobody sees brackets.

Of one group the heaviest counts (3.3), so runs of one group in several parts of an And must not be
scored apart. Double negation puts them below Or there, as in ``Not (Not OneOf(a) Or b And Not
OneOf(c))``, which is ``OneOf(a) And (Not b Or OneOf(c))``. Such parts are multiplied out
(``apart``), until runs of one group stand side by side in each alternative; ``counted`` takes them
together.

``truth`` and ``scored`` say what a request makes of given amounts. All else is built on them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain, product
from math import lcm, prod
from typing import TypeAlias

from sssjob.errors import LimitExceeded
from sssjob.expression.comparison import NO, UNKNOWN, YES, Leaf, leaf
from sssjob.expression.offer import Number, Offer
from sssjob.expression.pattern import Matching
from sssjob.expression.tree import (
    And,
    Comparison,
    Expression,
    Not,
    OneOf,
    Wish,
    group,
    is_level,
    negation,
    sums,
    weights,
)

Point: TypeAlias = Mapping[str, Number | None]
Result: TypeAlias = tuple[int, int]

REMEMBERED = 1 << 12  # parts of requests, of which what all offers share is worked out once
MULTIPLIED = 10_000  # comparisons of parts of an And that are multiplied out together
SCALE_BITS = 1 << 18  # of a number that all scores are counted in parts of


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

    ``group`` is the same for runs that count together, ``total`` the sum of all their weights
    (3.1).
    """

    members: tuple[Leaf, ...]
    weights: tuple[int, ...]
    group: Group
    total: int


@dataclass(frozen=True, slots=True, eq=False)
class Wished:
    """One run of negative preferences: always true, every member that holds counts.

    Members of what is to be avoided are negated already.
    """

    members: tuple[Leaf, ...]
    weights: tuple[int, ...]
    total: int


@dataclass(frozen=True, slots=True, eq=False)
class ParenthesisLevel:
    """One parenthesis level, with the sum of the weights of each group of preferences in it."""

    sums: Counter[str]


Group: TypeAlias = tuple[ParenthesisLevel, str]
Formula: TypeAlias = Leaf | All | Any | Preferred | Wished


def formula(expression: Expression, match: Matching, node_count: int | None) -> Formula:
    """The expression with Not pushed down to its comparisons."""

    def ready(comparison: Comparison, negate: bool) -> Leaf:
        return leaf(comparison, negate, match, node_count)

    return pushed(expression, ready)


Ready = Callable[[Comparison, bool], Leaf]


def pushed(expression: Expression, ready: Ready) -> Formula:
    """The expression with Not pushed down, and each run of preferences with its group (3.1).

    Raises ``LimitExceeded`` where more would have to be worked out than its limits allow.
    """
    made = _pushed(expression, False, ready, ParenthesisLevel(sums(())))
    if sum(total.bit_length() for total in set(_totals(made))) > SCALE_BITS:
        raise LimitExceeded("bits in the sums of preferences", SCALE_BITS)
    return made


def _pushed(expression: Expression, negate: bool, ready: Ready, level: ParenthesisLevel) -> Formula:
    match expression:
        case Comparison():
            return ready(expression, negate)
        case Not(Not(operand)):
            return _pushed(operand, negate, ready, level)
        case Not(Wish() as operand):
            return _pushed(negation(operand), negate, ready, level)
        case Not(operand):
            return _pushed(operand, not negate, ready, level)
        case OneOf(members) if negate:
            return All(tuple(ready(member, True) for member in members))
        case OneOf(members):
            found = tuple(ready(member, False) for member in members)
            together = level, group(members)
            return Preferred(found, weights(members), together, _total(members, level))
        case Wish() if negate:
            return Any(())  # a wish is always true, so what is negated with it never is
        case Wish(members, avoid):
            found = tuple(ready(member, avoid) for member in members)
            return Wished(found, weights(members), _total(members, level))
    operands = expression.operands
    if is_level(expression):
        level = ParenthesisLevel(sums(operands))
    parts = tuple(_pushed(operand, negate, ready, level) for operand in operands)
    if len(parts) == 1 and not is_level(expression):
        return parts[0]
    if isinstance(expression, And) != negate:
        apart(parts)  # what is too large is told when a request is read
        return All(parts)
    return Any(parts)


def _total(members: tuple[Comparison, ...], level: ParenthesisLevel) -> int:
    return level.sums[group(members)] or sum(weights(members))


@lru_cache(REMEMBERED)
def counted(parts: tuple[Formula, ...]) -> tuple[tuple[Formula, ...], ...]:
    """The parts of an And, runs of one group together: of these the heaviest counts (3.3)."""
    together: dict[object, list[Formula]] = {}
    for part in apart(parts):
        together.setdefault(part.group if isinstance(part, Preferred) else part, []).append(part)
    return tuple(map(tuple, together.values()))


@lru_cache(REMEMBERED)
def apart(parts: tuple[Formula, ...]) -> tuple[Formula, ...]:
    """The parts of an And such that none but runs share a group of preferences with another.

    Those that do are one part: Or of all ways to choose among what Or joins in them. Raises
    ``LimitExceeded`` if there are too many.
    """
    if all(isinstance(part, Leaf | Preferred | Wished) for part in parts):
        return parts
    inside = [groups(part) for part in parts]
    times = Counter(chain.from_iterable(inside))
    shared = frozenset(group for group, several in times.items() if several > 1)
    found: list[Formula] = []
    for tied in linked([each & shared for each in inside]):
        some = tuple(parts[number] for number in tied)
        if len(some) == 1 or all(isinstance(part, Preferred) for part in some):
            found += some
        else:
            found.append(Any(tuple(map(All, _ways(some, shared)))))
    return tuple(found)


def linked(held: Iterable[Iterable[object]]) -> list[list[int]]:
    """The places of what has anything in common, directly or through others, the first first."""
    leader: list[int] = []  # of each an earlier one of its like, or itself

    def first(number: int) -> int:
        while leader[number] != number:
            leader[number] = number = leader[leader[number]]
        return number

    holders: dict[object, int] = {}  # who each thing was seen with first
    for number, things in enumerate(held):
        leader.append(number)
        for thing in things:
            one, other = sorted((first(number), first(holders.setdefault(thing, number))))
            leader[other] = one
    found: dict[int, list[int]] = {}
    for number in range(len(leader)):
        found.setdefault(first(number), []).append(number)
    return list(found.values())


@lru_cache(REMEMBERED)
def groups(part: Formula) -> frozenset[Group]:
    """The groups of which a part has runs of positive preferences."""
    match part:
        case All(parts) | Any(parts):
            return frozenset(chain.from_iterable(map(groups, parts)))
        case Preferred(group=group):
            return frozenset((group,))
    return frozenset()


def _ways(parts: tuple[Formula, ...], shared: frozenset[Group]) -> list[tuple[Formula, ...]]:
    """All of the parts, in each way to choose among what Or joins around the shared groups."""
    several = [_choices(part, shared) for part in parts]
    ways = prod(map(len, several))
    sizes = (
        sum(map(size, chain.from_iterable(each))) * (ways // len(each)) for each in several if each
    )
    if sum(sizes) > MULTIPLIED:
        raise LimitExceeded("comparisons with preferences that are negated twice", MULTIPLIED)
    return [tuple(chain.from_iterable(chosen)) for chosen in product(*several)]


def _choices(part: Formula, shared: frozenset[Group]) -> list[tuple[Formula, ...]]:
    match part:
        case Any(parts) if groups(part) & shared:
            return [chosen for inner in parts for chosen in _choices(inner, shared)]
        case All(parts) if groups(part) & shared:
            return _ways(parts, shared)
    return [(part,)]


def size(part: Formula) -> int:
    """How many comparisons its score takes."""
    match part:
        case Any(parts):
            return sum(map(size, parts))
        case All(parts):
            return sum(map(size, apart(parts)))
        case Preferred(members) | Wished(members):
            return len(members)
    return 1


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


@lru_cache(REMEMBERED)
def scale(part: Formula) -> int:
    """What all shares of preferences are parts of: scores are counted in such parts.

    Sums of fractions are slow, and those of thousands of groups slower with each.
    """
    return lcm(*_totals(part))


def _totals(part: Formula) -> Iterator[int]:
    match part:
        case All(parts) | Any(parts):
            for inner in parts:
                yield from _totals(inner)
        case Preferred() | Wished():
            yield part.total


def scored(part: Formula, offer: Offer, point: Point, scale: int) -> Result:
    """Truth, and the sum of the shares of all groups of preferences (3.3), times ``scale``."""
    match part:
        case Preferred(total=total):
            heaviest = _heaviest(part, offer, point)
            return truth(part, offer, point), heaviest * (scale // total)
        case Wished(members, weights, total):
            held = sum(
                each
                for member, each in zip(members, weights, strict=True)
                if truth(member, offer, point) == YES
            )
            return YES, held * (scale // total)
        case Any(parts):
            return max((scored(inner, offer, point, scale) for inner in parts), default=(NO, 0))
        case All(parts):
            return _all_scored(parts, offer, point, scale)
    return truth(part, offer, point), 0


def _all_scored(parts: tuple[Formula, ...], offer: Offer, point: Point, scale: int) -> Result:
    verdict, score = YES, 0
    for runs in counted(parts):
        answers = [scored(part, offer, point, scale) for part in runs]
        verdict = min(verdict, *(held for held, _ in answers))
        score += max(share for _, share in answers)
    return verdict, score


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
