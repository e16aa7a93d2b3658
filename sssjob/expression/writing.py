"""A tree to the properties of a Requested block that every known reader takes the same way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sssjob.expression.reading import conjunction, group_or_zero
from sssjob.expression.tree import (
    And,
    Comparison,
    Expression,
    Not,
    OneOf,
    Or,
    Wish,
    follows,
    inverse,
    negation,
)
from sssjob.model import Property


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
    return any(conjunction(item)[1] and group_or_zero(item) > 0 for item in properties)


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
            return inverse(expression) if negate else expression
        case Not(operand):
            return _plain(operand, not negate)
        case Wish():
            return negation(expression) if negate else expression
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
        runs_on = before is not None and follows(before, item)
        if not row.head or (conj == "And" and not runs_on) or (before is None and conj == "Or"):
            conj = ""
        before = item.having(conj=conj) if conj else item
        yield before
