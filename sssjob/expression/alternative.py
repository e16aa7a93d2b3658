"""What satisfies a request: alternatives, and in each the numbers that are left."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from operator import add, itemgetter
from typing import TypeAlias

from sssjob.expression.comparison import Leaf
from sssjob.expression.normal_form import (
    All,
    Any,
    Formula,
    Preferred,
    Wished,
    apart,
    counted,
    pushed,
    scale,
)
from sssjob.expression.tree import (
    INVERSES,
    And,
    Comparison,
    Expression,
    Term,
    Wish,
    amount,
    conjuncts,
    inverse,
    key,
)
from sssjob.model import Property

# Parts of a request that are joined, times alternatives of it that are worked out: each join costs
# about so many pairs, and no more terms come out.
STEPS = 250_000


@dataclass(frozen=True, slots=True)
class Alternative:
    """One conjunction that satisfies a request: every term holds.

    ``score`` is the sum of the shares of the preferences that were chosen (8.1: "a ratio to
    the sum of all weights in the same group"); wishes bind nothing and are not among the terms.
    ``parts`` are what of the request the terms were made of, if there was anything to choose.
    """

    terms: tuple[Term, ...]
    score: Fraction = Fraction(0)
    parts: Sequence[Leaf | Wished] = field(default=(), repr=False, compare=False)

    @property
    def asked(self) -> Iterator[tuple[Term, Comparison]]:
        """Each term with the comparison of the request that it is: under Not that is another."""
        if not self.parts:  # there was nothing to choose
            return ((term, term) for term in self.terms if isinstance(term, Comparison))
        leaves = (part for part in self.parts if isinstance(part, Leaf))
        return ((term, leaf.comparison) for term, leaf in zip(self.terms, leaves, strict=True))

    @property
    def wished(self) -> Iterator[Wish]:
        """The wishes that stand beside the terms, in their branches."""
        for part in self.parts:
            if isinstance(part, Wished):
                members = tuple(each.comparison for each in part.members)
                yield Wish(members, part.members[0].negated)

    def __str__(self) -> str:
        return str(And(self.terms))


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The best alternatives; not ``complete`` if there are more than ``limit``.

    The limit is the one that was asked for, or as many as ``STEPS`` allow of so long a request.
    """

    best: tuple[Alternative, ...]
    complete: bool = True
    limit: int = 0

    def __iter__(self) -> Iterator[Alternative]:
        return iter(self.best)

    def __len__(self) -> int:
        return len(self.best)


@dataclass(frozen=True, slots=True)
class Interval:
    """The numbers that satisfy every bound; None is no bound, an open end is not included."""

    lo: Fraction | None = None
    hi: Fraction | None = None
    lo_open: bool = False
    hi_open: bool = False
    excluded: frozenset[Fraction] = frozenset()

    @property
    def bounded(self) -> bool:
        """Whether there is a bound at all."""
        return self.lo is not None or self.hi is not None

    @property
    def empty(self) -> bool:
        """Whether no number is left."""
        if self.lo is None or self.hi is None:
            return False
        if self.lo is self.hi or self.lo == self.hi:
            return (
                self.lo_open or self.hi_open or (bool(self.excluded) and self.lo in self.excluded)
            )
        return self.lo > self.hi

    @property
    def has_no_count(self) -> bool:
        """Whether no whole number above 0 is left: of what is counted there is one at least.

        >>> Interval(hi=Fraction(1), hi_open=True).has_no_count
        True
        """
        whole = self.integers()
        return whole.empty or (whole.hi is not None and whole.hi < 1)

    def times(self, number: int) -> Interval:
        """The bounds of so many times as much, which may be another number of each part."""
        lo, hi = (None if end is None else end * number for end in (self.lo, self.hi))
        return Interval(lo, hi, self.lo_open, self.hi_open)

    def __contains__(self, number: Fraction | int) -> bool:
        above = self.lo is None or number > self.lo or (number == self.lo and not self.lo_open)
        below = self.hi is None or number < self.hi or (number == self.hi and not self.hi_open)
        return above and below and number not in self.excluded

    def integers(self) -> Interval:
        """The same whole numbers between closed ends: counts, seconds, bytes.

        >>> Interval(lo=Fraction(4), lo_open=True).integers().lo
        Fraction(5, 1)
        """
        lo, hi = self.lo, self.hi
        if _whole(lo) and _whole(hi) and not (self.lo_open or self.hi_open or self.excluded):
            return self
        if lo is not None:
            lo = Fraction(floor(lo) + 1 if self.lo_open else ceil(lo))
            while lo in self.excluded:
                lo += 1
        if hi is not None:
            hi = Fraction(ceil(hi) - 1 if self.hi_open else floor(hi))
            while hi in self.excluded:
                hi -= 1
        return Interval(lo, hi, excluded=self.excluded)


def _whole(end: Fraction | None) -> bool:
    return end is None or end.denominator == 1


def alternatives(expression: Expression, limit: int = 64, *, wishes: bool = False) -> Alternatives:
    """The disjunctive normal form: best preference first, else in document order.

    At most ``limit`` alternatives are worked out at any time, so n two-way groups do not cost
    2^n, and no more than ``STEPS`` allow. With equal scores the first in document order are kept.
    With ``wishes`` each wish is granted in some alternatives, as one of their terms and with its
    share, and in others not.
    """
    parts = conjuncts(expression)
    terms = tuple(part for part in parts if isinstance(part, Comparison))
    if len(terms) == len(parts):  # nothing to choose
        return Alternatives((Alternative(terms),), True, _allowed(limit, len(terms)))
    form = pushed(expression, Leaf)
    limit = _allowed(limit, _joins(form))
    shares = scale(form)
    found, complete = _choices(form, limit, wishes, shares)
    made: dict[int, Term] = {}  # of each leaf, which may be in many of them
    best = tuple(_alternative(_flat(rope), Fraction(score, shares), made) for score, rope in found)
    return Alternatives(best, complete, limit)


def interval(
    terms: Iterable[Term], name: str, *, amount: Callable[[Property], Fraction] = amount
) -> Interval:
    """The numbers that the terms of one alternative leave to the property of that ``key``.

    Match and its negation bound nothing. ``amount`` reads a property's number.
    """
    bounds = _ALL
    for term in terms:
        if not isinstance(term, Comparison):
            continue
        item = term.item
        if item.name != name and (item.name != "Resource" or key(item) != name):
            continue
        if (op := term.op) in INVERSES:
            bounds = _narrowed(bounds, op, amount(item))
    return bounds


_ALL = Interval()


def exactly(item: Property) -> Interval:
    """The whole numbers that an amount is by itself: one, or none. Raises ``InvalidValue``."""
    return _exactly(item.name, item.text, item.attributes.get("units"))


@lru_cache(1 << 10)
def _exactly(name: str, text: str, unit: str | None) -> Interval:
    value = amount(Property(name, text, {} if unit is None else {"units": unit}))
    return Interval(value, value).integers()


# What an alternative is made of, joined without copying: a leaf, two ropes, or nothing.
_Rope: TypeAlias = Leaf | Wished | tuple["_Rope", "_Rope"] | None
_Choice: TypeAlias = tuple[int, _Rope]


def _allowed(limit: int, joins: int) -> int:
    return max(min(limit, STEPS // max(joins, 1)), 1)


def _joins(part: Formula) -> int:
    """How many lists of choices are put together."""
    match part:
        case All(parts):
            return len(parts) + sum(map(_joins, apart(parts)))
        case Any(parts):
            return sum(1 + _joins(inner) for inner in parts if not isinstance(inner, Leaf))
        case Wished(members):
            return len(members)
    return 0


def _choices(part: Formula, limit: int, wishes: bool, shares: int) -> tuple[list[_Choice], bool]:
    """The best ``limit`` choices, and whether these are all; ``shares`` make a score of 1."""
    match part:
        case Leaf():
            return [(0, part)], True
        case Wished(members, weights, total) if wishes:
            granted = zip(_shares(weights, shares // total), members, strict=True)
            return _all((([each, (0, None)], True) for each in granted), add, limit)
        case Wished():
            return [(0, part)], True
        case Preferred(members, weights, _, total):
            chosen = zip(_shares(weights, shares // total), members, strict=True)
            return _best(list(chosen), limit)
        case Any(parts):
            every = [_choices(inner, limit, wishes, shares) for inner in parts]
            found, complete = _best([choice for some, _ in every for choice in some], limit)
            return found, complete and all(whole for _, whole in every)
        case All(parts):
            joined = [_all((_choices(run, limit, wishes, shares) for run in runs), max, limit)
                      for runs in counted(parts)]  # fmt: skip
            return _all(joined, add, limit)


def _shares(weights: Iterable[int], unit: int) -> list[int]:
    return [weight * unit for weight in weights]


def _alternative(
    parts: Sequence[Leaf | Wished], score: Fraction, made: dict[int, Term]
) -> Alternative:
    terms: list[Term] = []
    for part in parts:
        if isinstance(part, Leaf):
            if (term := made.get(id(part))) is None:
                term = made[id(part)] = _term(part)
            terms.append(term)
    return Alternative(tuple(terms), score, parts)


def _term(leaf: Leaf) -> Term:
    return inverse(leaf.comparison) if leaf.negated else leaf.comparison


_Sum: TypeAlias = Callable[[int, int], int]


def _all(
    parts: Iterable[tuple[list[_Choice], bool]], add: _Sum, limit: int
) -> tuple[list[_Choice], bool]:
    """One choice of each part."""
    found: list[_Choice] = [(0, None)]
    complete = True
    for some, every in parts:
        found, whole = _joined(found, some, add, limit)
        complete = complete and every and whole
    return found, complete


def _joined(
    some: list[_Choice], more: list[_Choice], add: _Sum, limit: int
) -> tuple[list[_Choice], bool]:
    """Each of some with each of more: both are sorted, so in the n-th best (i + 1)(j + 1) <= n."""
    pairs = [
        (add(left[0], right[0]), (left[1], right[1]))
        for i, left in enumerate(some)
        for right in more[: limit // (i + 1)]
    ]
    found, whole = _best(pairs, limit)
    return found, whole and len(pairs) == len(some) * len(more)


def _best(choices: Sequence[_Choice], limit: int) -> tuple[list[_Choice], bool]:
    ranked = sorted(choices, key=itemgetter(0), reverse=True)  # equal ones stay in order
    return ranked[:limit], len(ranked) <= limit


def _flat(rope: _Rope) -> list[Leaf | Wished]:
    parts: list[Leaf | Wished] = []
    pending = [rope]
    while pending:
        match pending.pop():
            case (left, right):
                pending += (right, left)
            case Leaf() | Wished() as part:
                parts.append(part)
    return parts


def _narrowed(bounds: Interval, op: str, number: Fraction) -> Interval:
    if op == "EQ" and bounds is _ALL:
        return Interval(number, number)
    lo, hi, lo_open, hi_open = bounds.lo, bounds.hi, bounds.lo_open, bounds.hi_open
    excluded = bounds.excluded
    if op == "NE":
        excluded |= {number}
    if op in ("EQ", "GE", "GT") and (lo is None or number >= lo):
        lo, lo_open = number, op == "GT" or (lo_open and number == lo)
    if op in ("EQ", "LE", "LT") and (hi is None or number <= hi):
        hi, hi_open = number, op == "LT" or (hi_open and number == hi)
    return Interval(lo, hi, lo_open, hi_open, excluded)
