"""What a job requests, as an expression: op, conj, group and preference of SSS 8.1 as a tree.

``parse`` reads the properties of one Requested block in document order, ``write`` gives them
back in a form that every known reader takes the same way, and ``alternatives`` and ``interval``
answer what is asked for in numbers.

>>> print(parse([Property("User", "amy"), Property("Processors", 16, {"op": "LE"})]))
(User EQ amy And Processors LE 16)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor
from typing import TypeAlias

from sssjob import units
from sssjob.errors import InvalidValue, LimitExceeded, UnbalancedGroup
from sssjob.model import Block, Property, Requested

DEPTH_LIMIT = 64

# Each operation with the one that holds exactly where it does not; Match has none.
INVERSES = {"EQ": "NE", "NE": "EQ", "LT": "GE", "GE": "LT", "GT": "LE", "LE": "GT"}
OPERATIONS = (*INVERSES, "Match")

# fmt: off
# "Nand meaning and not, and Nor meaning or not", SSS 8.1; SSSRMAP's Where calls them AndNot, OrNot.
CONJUNCTIONS: dict[str, tuple[str, bool]] = {
    "And":    ("And", False),
    "Or":     ("Or",  False),
    "Nand":   ("And", True),
    "Nor":    ("Or",  True),
    "AndNot": ("And", True),
    "OrNot":  ("Or",  True),
}
# fmt: on


@dataclass(frozen=True, slots=True)
class Comparison:
    """One property compared by its ``op``."""

    item: Property

    @property
    def op(self) -> str:
        """The operation; EQ if the attribute is absent."""
        return self.item.attributes.get("op", "EQ").strip()

    def __str__(self) -> str:
        return f"{key(self.item)} {self.op} {self.item.text.strip()}"


@dataclass(frozen=True, slots=True)
class Not:
    """True where the operand is false."""

    operand: Expression

    def __str__(self) -> str:
        return f"Not {self.operand}"


@dataclass(frozen=True, slots=True)
class And:
    """True where every operand is; without operands it asks for nothing."""

    operands: tuple[Expression, ...] = ()

    def __str__(self) -> str:
        return f"({' And '.join(map(str, self.operands))})"


@dataclass(frozen=True, slots=True)
class Or:
    """True where an operand is."""

    operands: tuple[Expression, ...] = ()

    def __str__(self) -> str:
        return f"({' Or '.join(map(str, self.operands))})"


@dataclass(frozen=True, slots=True)
class OneOf:
    """Alternatives of positive preference: "at least one of the preferences must be satisfied"."""

    members: tuple[Comparison, ...]

    def __str__(self) -> str:
        return f"OneOf({_weighted(self.members)})"


@dataclass(frozen=True, slots=True)
class Wish:
    """Negative preferences: tried, but "the job will still run", so it is always true.

    ``avoid`` wishes that the members do not hold, as a Nand before them says.
    """

    members: tuple[Comparison, ...]
    avoid: bool = False

    def __str__(self) -> str:
        return f"{'Avoid' if self.avoid else 'Wish'}({_weighted(self.members)})"


Expression: TypeAlias = Comparison | Not | And | Or | OneOf | Wish
Term: TypeAlias = Comparison | Not


@dataclass(frozen=True, slots=True)
class Alternative:
    """One conjunction that satisfies a request: every term holds.

    ``score`` is the sum of the shares of the preferences that were chosen (8.1: "a ratio to
    the sum of all weights in the same group"); wishes bind nothing and are not among the terms.
    """

    terms: tuple[Term, ...]
    score: Fraction = Fraction(0)

    def __str__(self) -> str:
        return str(And(self.terms))


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The best alternatives; not ``complete`` if there are more than were asked for."""

    best: tuple[Alternative, ...]
    complete: bool = True

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
        if self.lo == self.hi:
            return self.lo_open or self.hi_open or self.lo in self.excluded
        return self.lo > self.hi

    def __contains__(self, number: Fraction | int) -> bool:
        above = self.lo is None or number > self.lo or (number == self.lo and not self.lo_open)
        below = self.hi is None or number < self.hi or (number == self.hi and not self.hi_open)
        return above and below and number not in self.excluded

    def whole(self) -> Interval:
        """The same whole numbers between closed ends: counts, seconds, bytes.

        >>> Interval(lo=Fraction(4), lo_open=True).whole().lo
        Fraction(5, 1)
        """
        lo, hi = self.lo, self.hi
        if lo is not None:
            lo = Fraction(floor(lo) + 1 if self.lo_open else ceil(lo))
            while lo in self.excluded:
                lo += 1
        if hi is not None:
            hi = Fraction(ceil(hi) - 1 if self.hi_open else floor(hi))
            while hi in self.excluded:
                hi -= 1
        return Interval(lo, hi, excluded=self.excluded)


def parse(properties: Iterable[Property]) -> Expression:
    """Read the properties of one Requested block, in document order, as one expression.

    Not binds closer than And, And closer than Or; Nand and Nor negate the whole group that
    their element opens, or else that element (decision: the text says only "much like
    parenthetical groupings"). Raises ``UnbalancedGroup``, ``InvalidValue`` for an operation,
    conjunction, group or preference that is none, and ``LimitExceeded`` for too deep groups.
    """
    items = tuple(properties)
    groups = [_group(item) for item in items]
    if fault := _unbalanced(items, groups):
        raise fault
    levels = [_Level()]
    start = 0
    while start < len(items):
        end = _run(items, groups, start)
        joined, negated = _conjunction(items[start])
        operand = _operand(items[start:end])
        opened, closed = max(groups[start], 0), max(-groups[end - 1], 0)
        if len(levels) + opened > DEPTH_LIMIT + 1:
            raise LimitExceeded("groups inside each other", DEPTH_LIMIT)
        if opened:
            levels += [_Level(joined, negated), *(_Level() for _ in range(opened - 1))]
            levels[-1].add("And", operand)
        else:
            levels[-1].add(joined, _negation(operand) if negated else operand)
        for _ in range(closed):
            level = levels.pop()
            levels[-1].add(level.joined, level.expression())
        start = end
    return levels[0].expression()


def of(block: Block) -> Expression | None:
    """Everything that a job, task group or task requests, or None without a Requested element.

    Each Requested element is balanced on its own, and all of them hold.
    """
    blocks = [parse(requested.properties) for requested in block.blocks(Requested)]
    return all_of(part for read in blocks for part in conjuncts(read)) if blocks else None


def balance(properties: Iterable[Property]) -> UnbalancedGroup | None:
    """What is wrong with the group attributes, or None; groups that are no integers count as 0."""
    items = tuple(properties)
    return _unbalanced(items, [_group_or_zero(item) for item in items])


def swap_balances(properties: Iterable[Property]) -> bool:
    """Whether groups that do not balance would if the sign of each were turned."""
    items = tuple(properties)
    groups = [_group_or_zero(item) for item in items]
    turned = [-group for group in groups]
    return bool(_unbalanced(items, groups)) and not _unbalanced(items, turned)


def key(item: Property) -> str:
    """What a property is compared as: its name, and for a Resource which one."""
    if item.name != "Resource":
        return item.name
    names = [name for name in ("name", "type") if name in item.attributes]
    return f"Resource[{' '.join(f'{name}={item.attributes[name]!r}' for name in names)}]"


def all_of(operands: Iterable[Expression]) -> Expression:
    """The operands joined by And; a single one stays what it is."""
    parts = tuple(operands)
    return parts[0] if len(parts) == 1 else And(parts)


def conjuncts(expression: Expression) -> tuple[Expression, ...]:
    """The operands of an And at the root, or the whole."""
    return expression.operands if isinstance(expression, And) else (expression,)


def comparisons(expression: Expression) -> Iterator[Comparison]:
    """Every comparison, in document order."""
    pending: list[Expression] = [expression]
    while pending:
        match pending.pop():
            case Comparison() as found:
                yield found
            case Not(operand):
                pending.append(operand)
            case And(operands) | Or(operands):
                pending.extend(reversed(operands))
            case OneOf(members) | Wish(members):
                yield from members


def mentions(expression: Expression) -> frozenset[str]:
    """The keys of all properties that an expression compares."""
    return frozenset(key(found.item) for found in comparisons(expression))


def write(expression: Expression) -> tuple[Property, ...]:
    """The properties of a Requested block that mean ``expression`` to every known reader.

    Explicit groups make readers with and without precedence agree. Negations are moved to
    single comparisons and written as the inverse operation where there is one; what is negated
    all the same stands behind a sibling that is not, for some readers negate a group and some
    only its first element. A group of nothing but negated Match terms has no such form: see
    ``scope_matters``.
    """
    plain = _plain(expression, False)
    rows: list[_Row] = []
    joined = "Or" if isinstance(plain, Or) else "And"
    members = _ordered(plain.operands) if isinstance(plain, And | Or) else (plain,)
    for member in members:
        _emit(member, joined, rows)
    return tuple(_written(rows))


def scope_matters(properties: Iterable[Property]) -> bool:
    """Whether readers differ that negate a whole group, or only its first element."""
    return any(_conjunction(item)[1] and _group_or_zero(item) > 0 for item in properties)


def alternatives(expression: Expression, limit: int = 64) -> Alternatives:
    """The disjunctive normal form: best preference first, else in document order.

    At most ``limit`` alternatives are worked out at any time, so n two-way groups do not cost
    2^n; with equal scores the first in document order are kept.
    """
    found, complete = _choices(expression, False, limit, Counter())
    return Alternatives(tuple(Alternative(_flat(rope), score) for score, rope in found), complete)


def amount(item: Property) -> Fraction:
    """A number in base units: bytes, seconds, or a count. Raises ``InvalidValue``."""
    if item.name in units.DEFAULT_UNITS or item.attributes.get("units") in units.UNITS:
        return item.bytes
    value = item.value
    if isinstance(value, str):
        return units.number(value)
    return Fraction(value)


def interval(
    terms: Iterable[Term], name: str, *, amount: Callable[[Property], Fraction] = amount
) -> Interval:
    """The numbers that the terms of one alternative leave to the property of that ``key``.

    Match and its negation bound nothing. ``amount`` reads a property's number.
    """
    bounds = Interval()
    for term in terms:
        if isinstance(term, Comparison) and key(term.item) == name and term.op in INVERSES:
            bounds = _narrowed(bounds, term.op, amount(term.item))
    return bounds


# Reading


@dataclass(slots=True)
class _Level:
    """A group that is still open: And binds closer, so it is a list of lists."""

    joined: str = "And"
    negated: bool = False
    rows: list[list[Expression]] = field(default_factory=list)

    def add(self, joined: str, operand: Expression) -> None:
        if joined == "Or" or not self.rows:
            self.rows.append([operand])
        else:
            self.rows[-1].append(operand)

    def expression(self) -> Expression:
        parts = tuple(all_of(row) for row in self.rows)
        whole = Or(parts) if len(parts) > 1 else all_of(parts)
        return _negation(whole) if self.negated else whole


def _unbalanced(items: Sequence[Property], groups: Sequence[int]) -> UnbalancedGroup | None:
    openers: list[list[int]] = []
    depth = 0
    for index, group in enumerate(groups):
        if depth + group < 0:
            return UnbalancedGroup(index, items[index].name, -group, depth)
        depth += group
        if group > 0:
            openers.append([index, group])
        while group < 0:
            closed = min(-group, openers[-1][1])
            openers[-1][1] -= closed
            group += closed
            if not openers[-1][1]:
                openers.pop()
    if not depth:
        return None
    index = openers[-1][0]
    return UnbalancedGroup(index, items[index].name, 0, depth)


def _group(item: Property) -> int:
    return units.integer(item.attributes.get("group", "0"))


def _group_or_zero(item: Property) -> int:
    try:
        return _group(item)
    except InvalidValue:
        return 0


def _conjunction(item: Property) -> tuple[str, bool]:
    conj = item.attributes.get("conj", "And").strip()
    if conj not in CONJUNCTIONS:
        raise InvalidValue(conj, f"one of the conjunctions {', '.join(CONJUNCTIONS)}")
    return CONJUNCTIONS[conj]


def _weight(item: Property) -> int:
    return units.integer(item.attributes.get("preference", "0"))


def _follows(before: Property, item: Property) -> bool:
    """Whether a preference goes on: same property, same sign, no conj of its own."""
    return (
        "conj" not in item.attributes
        and _weight(before) * _weight(item) > 0
        and key(before) == key(item)
    )


def _run(items: Sequence[Property], groups: Sequence[int], start: int) -> int:
    """Where the operand that begins at ``start`` ends: adjacent preferences of one level."""
    end = start + 1
    while (
        end < len(items)
        and groups[end - 1] >= 0
        and groups[end] <= 0
        and _follows(items[end - 1], items[end])
    ):
        end += 1
    return end


def _operand(items: Sequence[Property]) -> Expression:
    members = tuple(Comparison(item) for item in items)
    for member in members:
        if member.op not in OPERATIONS:
            raise InvalidValue(member.op, f"one of the operations {', '.join(OPERATIONS)}")
    weight = _weight(items[0])
    if not weight:
        return members[0]
    return OneOf(members) if weight > 0 else Wish(members)


def _negation(operand: Expression) -> Expression:
    """Not of a wish would block the job, which a wish must never do: it wishes the contrary."""
    return Wish(operand.members, not operand.avoid) if isinstance(operand, Wish) else Not(operand)


def _weighted(members: Sequence[Comparison]) -> str:
    return ", ".join(f"{member}: {abs(_weight(member.item))}" for member in members)


# Writing


@dataclass(slots=True)
class _Row:
    """One property about to be written."""

    item: Property
    joined: str = "And"
    negated: bool = False
    group: int = 0
    head: bool = True


def _plain(expression: Expression, negate: bool) -> Expression:
    """The same with Not only where an operation has no inverse, or over a group with wishes."""
    match expression:
        case Comparison():
            return _inverse(expression) if negate else expression
        case Not(operand):
            return _plain(operand, not negate)
        case Wish():
            return _negation(expression) if negate else expression
        case OneOf():
            return Not(expression) if negate else expression
    if negate and _has_wish(expression):
        # De Morgan would turn the wish, which is always true, into one that is always false.
        return _flip(_plain(expression, False))
    kind = And if isinstance(expression, And) != negate else Or
    parts: list[Expression] = []
    for operand in expression.operands:
        part = _plain(operand, negate)
        # A group of one, of none, or a negated one inside its like needs no brackets of its own.
        splice = isinstance(part, kind) and (_negative(part) or not part.operands)
        parts.extend(part.operands if splice and isinstance(part, kind) else (part,))
    return parts[0] if len(parts) == 1 else kind(tuple(parts))


def _inverse(comparison: Comparison) -> Term:
    item = comparison.item
    if comparison.op not in INVERSES or "aggregation" in item.attributes:
        return Not(comparison)
    inverse = INVERSES[comparison.op]
    return Comparison(item.having(op=None if inverse == "EQ" else inverse))


def _has_wish(expression: Expression) -> bool:
    match expression:
        case And(operands) | Or(operands):
            return any(_has_wish(operand) for operand in operands)
        case Not(operand):
            return _has_wish(operand)
    return isinstance(expression, Wish)


def _negative(expression: Expression) -> bool:
    """Whether nothing in it can be written first without a negation."""
    if isinstance(expression, And | Or):
        return bool(expression.operands) and all(map(_negative, expression.operands))
    return isinstance(expression, Not)


def _flip(expression: Expression) -> Expression:
    """The negation of what is written as one: the other way round, without Not."""
    if isinstance(expression, Not):
        return expression.operand
    if isinstance(expression, And | Or) and _negative(expression):
        kind = Or if isinstance(expression, And) else And
        return kind(tuple(_flip(operand) for operand in expression.operands))
    return Not(expression)


def _ordered(operands: Sequence[Expression]) -> tuple[Expression, ...]:
    """The operands, with one that needs no negation in front if there is any."""
    first = next((i for i, operand in enumerate(operands) if not _negative(operand)), 0)
    return (*operands[first : first + 1], *operands[:first], *operands[first + 1 :])


def _emit(expression: Expression, joined: str, rows: list[_Row]) -> None:
    """Add the rows of one operand; And and Or are bracketed."""
    negated = _negative(expression)
    core = _flip(expression) if negated else expression
    start = len(rows)
    match core:
        case And(operands) | Or(operands):
            inner = "And" if isinstance(core, And) else "Or"
            for operand in _ordered(operands):
                _emit(operand, inner, rows)
            if len(rows) > start:
                rows[start].group += 1
                rows[-1].group -= 1
        case OneOf(members) | Wish(members):
            rows += [_Row(member.item, head=not index) for index, member in enumerate(members)]
            negated = negated or (isinstance(core, Wish) and core.avoid)
        case Comparison(item):
            rows.append(_Row(item))
    if len(rows) > start:
        rows[start].joined, rows[start].negated = joined, negated


def _written(rows: Sequence[_Row]) -> Iterator[Property]:
    before: Property | None = None
    for row in rows:
        item = row.item.having(conj=None, group=str(row.group) if row.group else None)
        conj = {"And": "Nand", "Or": "Nor"}[row.joined] if row.negated else row.joined
        runs_on = before is not None and _follows(before, item)
        if not row.head or (conj == "And" and not runs_on) or (before is None and conj == "Or"):
            conj = ""
        before = item.having(conj=conj) if conj else item
        yield before


# Alternatives

# What an alternative is made of, joined without copying: a term, two ropes, or nothing.
_Rope: TypeAlias = Term | tuple["_Rope", "_Rope"] | None
_Choice: TypeAlias = tuple[Fraction, _Rope]
_ZERO = Fraction(0)


def _choices(
    expression: Expression, negate: bool, limit: int, sums: Counter[str]
) -> tuple[list[_Choice], bool]:
    """The best ``limit`` choices, and whether these are all; ``sums`` are weights by key."""
    match expression:
        case Comparison():
            return [(_ZERO, _inverse(expression) if negate else expression)], True
        case Not(Wish()):
            return [(_ZERO, None)], True
        case Not(operand):
            return _choices(operand, not negate, limit, sums)
        case Wish():
            return ([] if negate else [(_ZERO, None)]), True
        case OneOf(members) if negate:
            return _choices(Or(members), True, limit, sums)
        case OneOf(members):
            total = sums[key(members[0].item)] or sum(_weight(member.item) for member in members)
            return _best([(Fraction(_weight(m.item), total), m) for m in members], limit)
    sums = Counter()
    for operand in expression.operands:
        for member in operand.members if isinstance(operand, OneOf) else ():
            sums[key(member.item)] += _weight(member.item)
    parts = [_choices(operand, negate, limit, sums) for operand in expression.operands]
    complete = all(whole for _, whole in parts)
    if isinstance(expression, Or) != negate:
        found, whole = _best([choice for some, _ in parts for choice in some], limit)
        return found, complete and whole
    found = [(_ZERO, None)]
    for some, _ in parts:
        found, whole = _joined(found, some, limit)
        complete = complete and whole
    return found, complete


def _joined(some: list[_Choice], more: list[_Choice], limit: int) -> tuple[list[_Choice], bool]:
    """Each of some with each of more: both are sorted, so in the n-th best (i + 1)(j + 1) <= n."""
    pairs = [
        (left[0] + right[0], (left[1], right[1]))
        for i, left in enumerate(some)
        for right in more[: limit // (i + 1)]
    ]
    found, whole = _best(pairs, limit)
    return found, whole and len(pairs) == len(some) * len(more)


def _best(choices: Sequence[_Choice], limit: int) -> tuple[list[_Choice], bool]:
    ranked = sorted(choices, key=lambda choice: -choice[0])
    return ranked[:limit], len(ranked) <= limit


def _flat(rope: _Rope) -> tuple[Term, ...]:
    terms: list[Term] = []
    pending = [rope]
    while pending:
        match pending.pop():
            case (left, right):
                pending += (right, left)
            case Comparison() | Not() as term:
                terms.append(term)
    return tuple(terms)


def _narrowed(bounds: Interval, op: str, number: Fraction) -> Interval:
    lo, hi, lo_open, hi_open = bounds.lo, bounds.hi, bounds.lo_open, bounds.hi_open
    excluded = bounds.excluded
    if op == "NE":
        excluded |= {number}
    if op in ("EQ", "GE", "GT") and (lo is None or number >= lo):
        lo, lo_open = number, op == "GT" or (lo_open and number == lo)
    if op in ("EQ", "LE", "LT") and (hi is None or number <= hi):
        hi, hi_open = number, op == "LT" or (hi_open and number == hi)
    return Interval(lo, hi, lo_open, hi_open, excluded)
