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
    is_level,
    negation,
    sums,
)
from sssjob.model import Property


def write(expression: Expression) -> tuple[Property, ...]:
    """The properties of a Requested block that mean ``expression`` to every known reader.

    Explicit groups make readers with and without precedence agree. Negations are moved to
    single comparisons and written as the inverse operation where there is one; what is negated
    all the same stands behind a sibling that is not, for some readers negate a group and some
    only its first element. A group of nothing but negated Match terms has no such form: see
    ``scope_matters``.

    What is to be avoided is wished the other way round where nothing else can open its group. An
    And whose preferences count with those around it, or that nothing can open, has no brackets
    inside an Or; readers without precedence weigh it otherwise. Where nothing can open an Or
    inside an And, or an And inside its like, there is no form at all: what is to be avoided in it
    is written without brackets, which keeps what satisfies the request, but not its scores.
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
    """The same with Not only where an operation has no inverse, or over a group that stays."""
    match expression:
        case Comparison():
            return inverse(expression) if negate else expression
        case Not(operand):
            return _plain(operand, not negate)
        case Wish():
            return negation(expression) if negate else expression
        case OneOf():
            return Not(expression) if negate else expression
    if negate and _stays(expression):
        # De Morgan would turn a wish, which is always true, into one that is always false, and
        # an And that has no brackets into an Or that needs them.
        return _flip(_plain(expression, False))
    kind = And if isinstance(expression, And) != negate else Or
    parts: list[Expression] = []
    for operand in expression.operands:
        part = _plain(operand, negate)
        # A group of one, of none, or a negated one inside its like needs no brackets of its own.
        # Those around preferences say what these are weighed against.
        splice = isinstance(part, kind) and (
            part.loose or not part.operands or (_negative(part) and not sums(part.operands))
        )
        parts.extend(part.operands if splice and isinstance(part, kind) else (part,))
    if len(parts) == 1 and not is_level(kind(tuple(parts))):
        return parts[0]
    return kind(tuple(parts), expression.loose)


def _stays(expression: Expression) -> bool:
    """Whether it holds something that cannot be turned into its contrary."""
    match expression:
        case And(operands) | Or(operands):
            return expression.loose or any(map(_stays, operands))
        case Not(operand):
            return _stays(operand)
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


def _leads(expression: Expression) -> bool:
    """Whether it can be written first in a group: what is negated there negates all of it."""
    if isinstance(expression, And | Or):
        return any(map(_leads, expression.operands))
    return isinstance(expression, Comparison | OneOf) or (
        isinstance(expression, Wish) and not expression.avoid
    )


def _ordered(operands: Sequence[Expression]) -> tuple[Expression, ...]:
    """The operands, with one that can lead in front if there is any."""
    first = next((i for i, operand in enumerate(operands) if _leads(operand)), None)
    if first is None:
        first = next((i for i, operand in enumerate(operands) if not _negative(operand)), 0)
    return (*operands[first : first + 1], *operands[:first], *operands[first + 1 :])


def _led(core: And | Or) -> And | Or | None:
    """The same with something that can lead, or None: what is to be avoided becomes a wish."""
    if _leads(core):
        return core
    for place, operand in enumerate(core.operands):
        led: Expression | None = None
        if isinstance(operand, And | Or):
            led = _led(operand)
        elif isinstance(operand, Wish):
            turned = map(inverse, operand.members)
            members = tuple(member for member in turned if isinstance(member, Comparison))
            led = Wish(members) if len(members) == len(operand.members) else None
        if led is not None:
            others = (*core.operands[:place], *core.operands[place + 1 :])
            return type(core)((led, *others), core.loose)
    return None


def _emit(expression: Expression, joined: str, rows: list[_Row]) -> None:
    """Add the rows of one operand; And and Or are bracketed."""
    if isinstance(expression, And) and expression.loose and joined == "Or":
        _emit_loosely(expression, joined, rows)
        return
    negated = _negative(expression)
    core = _flip(expression) if negated else expression
    start = len(rows)
    match core:
        case And((Wish(avoid=True) as only,)) | Or((Wish(avoid=True) as only,)):
            # A negation of these brackets is one of the run.
            _emit(only, joined, rows)
            _bracket(rows, start)
            return
        case And() | Or():
            led = _led(core)
            if led is None:
                _emit_loosely(core, joined, rows)
                return
            inner = "And" if isinstance(led, And) else "Or"
            for operand in _ordered(led.operands):
                _emit(operand, inner, rows)
            _bracket(rows, start)
        case OneOf(members) | Wish(members):
            rows += [_Row(member.item, head=not index) for index, member in enumerate(members)]
            negated = negated or (isinstance(core, Wish) and core.avoid)
        case Comparison(item):
            rows.append(_Row(item))
    if len(rows) > start:
        rows[start].joined, rows[start].negated = joined, negated


def _bracket(rows: Sequence[_Row], start: int) -> None:
    if len(rows) > start:
        rows[start].group += 1
        rows[-1].group -= 1


def _emit_loosely(core: And | Or, joined: str, rows: list[_Row]) -> None:
    """Add the rows of a group without brackets: And binds closer than the Or around it."""
    if isinstance(core, Or):
        kept = tuple(filter(_is_idle, core.operands))
        if not kept:
            _emit(_plain(Or(tuple(map(_binding, core.operands))), False), joined, rows)
            return
        # It always holds, and only what is wished in it counts.
        core = Or(kept)
    for index, operand in enumerate(_ordered(core.operands)):
        _emit(operand, "And" if index else joined, rows)


def _is_idle(expression: Expression) -> bool:
    """Whether it holds only because it wishes."""
    match expression:
        case And(operands):
            return all(map(_is_idle, operands))
        case Or(operands):
            return any(map(_is_idle, operands))
    return isinstance(expression, Wish)


def _binding(expression: Expression) -> Expression:
    """What is left of an expression without wishes that bind nothing."""
    if isinstance(expression, And | Or):
        parts = tuple(_binding(part) for part in expression.operands if not _is_idle(part))
        return type(expression)(parts)
    return expression


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
