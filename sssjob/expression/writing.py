"""A tree to the properties of a Requested block that every known reader takes the same way.

Strategy. Readers differ in two things: some know no precedence and go from left to right, some
negate the first element of a group instead of the group. So negations move to single comparisons,
where most of them become the inverse operation; whatever And and Or join inside each other gets
brackets; and what is left of negations stands behind a sibling that is not negated.

Preferences are in the way, because they are weighed against the others in the same brackets: an And
that shares preferences with its Or must not have any. One such And comes first in its Or, where
left to right and precedence are the same. Of several each gets brackets after all, and within them
a row that never holds, in which the weight stands that would be missing (``_alike``).
"""

from __future__ import annotations

from collections import Counter
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
    comparisons,
    follows,
    group,
    inverse,
    is_level,
    negation,
    sums,
    weight,
)
from sssjob.model import Property


def write(expression: Expression) -> tuple[Property, ...]:
    """The properties of a Requested block that mean ``expression`` to every known reader.

    Explicit groups make readers with and without precedence agree. Negations are moved to
    single comparisons and written as the inverse operation where there is one; what is negated
    all the same stands behind a sibling that is not, for some readers negate a group and some
    only its first element. A group of nothing but negated Match terms has no such form: see
    ``scope_matters``.

    What is to be avoided is wished the other way round where nothing else can open its group.
    Scores are those that we read; where preferences are negated twice, readers from left to right
    may take the whole for something else.
    """
    plain = _alike(_plain(expression, False))
    rows: list[_PropertyRow] = []
    joined = "Or" if isinstance(plain, Or) else "And"
    members = _ordered(plain, at_root=True) if isinstance(plain, And | Or) else (plain,)
    for member in members:
        _emit(member, joined, rows)
    return tuple(_written(rows))


def scope_matters(properties: Iterable[Property]) -> bool:
    """Whether readers differ that negate a whole group, or only its first element."""
    return any(conjunction(item)[1] and group_or_zero(item) > 0 for item in properties)


@dataclass(slots=True)
class _PropertyRow:
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


def _ordered(core: And | Or, *, at_root: bool = False) -> tuple[Expression, ...]:
    """The operands, with one that can lead in front if there is any.

    An And that has no brackets comes first in its Or, behind what never holds only: there all
    readers take it for the same.
    """
    operands = core.operands
    if isinstance(core, Or) and any(map(_lacks_brackets, operands)):
        ranked = sorted(operands, key=_rank)
        if at_root or _leads(ranked[0]):
            return tuple(ranked)
    first = next((i for i, operand in enumerate(operands) if _leads(operand)), None)
    if first is None:
        first = next((i for i, operand in enumerate(operands) if not _negative(operand)), 0)
    return (*operands[first : first + 1], *operands[:first], *operands[first + 1 :])


def _rank(operand: Expression) -> int:
    return 0 if _is_never(operand) else 1 if _lacks_brackets(operand) else 2


def _lacks_brackets(operand: Expression) -> bool:
    """Whether it is an And that has no brackets in an Or."""
    if not isinstance(operand, And):
        return False
    return operand.loose or not (_negative(operand) or _led(operand))


def _is_bare(operand: Expression) -> bool:
    """Whether it is an And that has no brackets in an Or, and can hold."""
    return _lacks_brackets(operand) and not _is_never(operand)


def _is_never(expression: Expression) -> bool:
    """Whether it cannot hold, because what always holds is negated in it."""
    match expression:
        case And(operands):
            return any(map(_is_never, operands))
        case Or(operands):
            return all(map(_is_never, operands))
        case Not(operand):
            return _is_idle(operand)
    return False


def _alike(expression: Expression, inverted: bool = False) -> Expression:
    """The same in a form that readers without precedence take for the same.

    They read two of Or that have no brackets, or one behind another operand, otherwise. But an And
    has none if its preferences count with those of the other operands, or if nothing can open
    them. Then a row that never holds helps: it opens the brackets, and in it preferences find as
    much weight again as they had outside. In what is negated it would count, so there is no help.
    """
    if isinstance(expression, Not):
        return Not(_alike(expression.operand, not inverted))
    if not isinstance(expression, And | Or):
        return expression
    parts = tuple(_alike(each, inverted) for each in expression.operands)
    if inverted or _negative(expression):
        if not any(_gains(each, inverted) for each in parts):
            parts = tuple(And(each.operands) if isinstance(each, And) else each for each in parts)
        return type(expression)(parts, expression.loose)
    if isinstance(expression, Or) and sum(map(_is_bare, parts)) > 1:
        totals = sums(parts)
        parts = tuple(_weighed(each, totals) for each in parts)
    in_or = isinstance(expression, Or)
    return type(expression)(tuple(_opened(each, in_or) for each in parts), expression.loose)


def _weighed(operand: Expression, totals: Counter[str]) -> Expression:
    """An operand of Or in brackets of its own, if its preferences count with those of others."""
    missing = {name: totals[name] - own for name, own in sums((operand,)).items()}
    runs = {group(run.members): run for run in _runs(operand)}
    others = tuple(
        type(runs[name])((_weighing(runs[name].members[0], more),))
        for name, more in missing.items()
        if more
    )
    return Or((_never(operand, others), operand)) if others or _is_bare(operand) else operand


def _opened(operand: Expression, in_or: bool) -> Expression:
    """An operand whose brackets something can open."""
    match operand:
        case And((Wish(),)) | Or((Wish(),)) | And(loose=True):
            return operand
        case And() if in_or or _negative(operand) or _led(operand):
            return operand
        case And():
            return Or((_never(operand), operand))
        case Or(operands):
            first = (
                min(operands, key=_rank) if any(map(_lacks_brackets, operands)) else _led(operand)
            )
            if _negative(operand) or (first is not None and _leads(first)):
                return operand
            return Or((_never(operand), *operands))
    return operand


def _never(near: Expression, others: tuple[Expression, ...] = ()) -> And:
    """A row that never holds, made of what stands beside it."""
    first = next(comparisons(near))
    bare = Comparison(first.item.having(preference=None, conj=None, group=None))
    # A wish always holds. Who negates it alone, and not its group, meets a contradiction.
    never = Not(Or((Wish((_weighing(first, 1, "-"),)), bare)))
    return And((*(others or (bare,)), never, inverse(bare)), bool(others))


def _gains(expression: Expression, inverted: bool) -> bool:
    """Whether preferences in it count, which those that are negated do not."""
    match expression:
        case Not(operand):
            return _gains(operand, not inverted)
        case And(operands) | Or(operands):
            return any(_gains(each, inverted) for each in operands)
    return isinstance(expression, OneOf | Wish) and not inverted


def _runs(expression: Expression) -> Iterator[OneOf | Wish]:
    """The runs of preferences that count in the brackets in which an operand stands."""
    match expression:
        case OneOf() | Wish():
            yield expression
        case Not(operand):
            yield from _runs(operand)
        case And(operands) | Or(operands) if not is_level(expression):
            for operand in operands:
                yield from _runs(operand)


def _weighing(comparison: Comparison, much: int, sign: str = "") -> Comparison:
    sign = sign or "-" * (weight(comparison.item) < 0)
    return Comparison(comparison.item.having(preference=f"{sign}{much}", conj=None, group=None))


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


def _emit(expression: Expression, joined: str, rows: list[_PropertyRow]) -> None:
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
            for operand in _ordered(led):
                _emit(operand, inner, rows)
            _bracket(rows, start)
        case OneOf(members) | Wish(members):
            rows += [
                _PropertyRow(member.item, head=not index) for index, member in enumerate(members)
            ]
            negated = negated or (isinstance(core, Wish) and core.avoid)
        case Comparison(item):
            rows.append(_PropertyRow(item))
    if len(rows) > start:
        rows[start].joined, rows[start].negated = joined, negated


def _bracket(rows: Sequence[_PropertyRow], start: int) -> None:
    if len(rows) > start:
        rows[start].group += 1
        rows[-1].group -= 1


def _emit_loosely(core: And | Or, joined: str, rows: list[_PropertyRow]) -> None:
    """Add the rows of a group without brackets: And binds closer than the Or around it."""
    if isinstance(core, Or):
        kept = tuple(filter(_is_idle, core.operands))
        if not kept:
            _emit(_plain(Or(tuple(map(_binding, core.operands))), False), joined, rows)
            return
        # It always holds, and only what is wished in it counts.
        core = Or(kept)
    for index, operand in enumerate(_ordered(core)):
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


def _written(rows: Sequence[_PropertyRow]) -> Iterator[Property]:
    before: Property | None = None
    for row in rows:
        item = row.item.having(conj=None, group=str(row.group) if row.group else None)
        conj = {"And": "Nand", "Or": "Nor"}[row.joined] if row.negated else row.joined
        runs_on = before is not None and follows(before, item)
        if not row.head or (conj == "And" and not runs_on) or (before is None and conj == "Or"):
            conj = ""
        before = item.having(conj=conj) if conj else item
        yield before
