"""What in an expression can never be so, by the tables of the standard, or is not what it seems.

A doubt is raised only where the tables know both sides: an element in its container, an attribute
of its element, a value of a closed vocabulary, a number beside a text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sssjob import spec, units
from sssjob.errors import InvalidValue
from sssjob.query.syntax import Call, Chain, Constant, Expression, Negative, Path, Step, parts

_ORDER = ("<", "<=", ">", ">=")
_COMPARED = (*_ORDER, "=", "!=")
_NUMBERS = (spec.INTEGER, spec.FLOAT, spec.DURATION, spec.DATETIME)
_READ_BY = {spec.DURATION: "sss:seconds", spec.DATETIME: "sss:time"}


class Doubt(NamedTuple):
    """A remark on a place of an expression; ``of_units`` if it holds whatever was found."""

    position: int
    message: str
    of_units: bool = False


def doubts(expression: Expression, within: str = "") -> Iterator[Doubt]:
    """The doubts about an expression that is asked of elements of a name, "" for any."""
    match expression:
        case Path():
            yield from _of_path(expression, within)
        case Chain():
            for left, sign, right in zip(
                expression.operands, expression.signs, expression.operands[1:], strict=False
            ):
                if sign in _COMPARED:
                    yield from _of_comparison(left, sign, right)
                    yield from _of_comparison(right, sign, left)
    for part in parts(expression):
        yield from doubts(part, within)


def _of_path(path: Path, within: str) -> Iterator[Doubt]:
    holder = "" if path.absolute or path.start is not None else within
    for step in path.steps:
        name = step.test.name if step.test.is_name and not step.test.prefix else ""
        if holder and name not in ("", "*"):
            if step.axis == "child":
                yield from _of_child(holder, name, step)
            elif step.axis == "attribute":
                yield from _of_attribute(holder, name, step)
        if step.axis != "self" or step.test.is_name:
            holder = "" if name == "*" or step.axis == "attribute" else name
        for predicate in step.predicates:
            yield from doubts(predicate, holder)


def _of_child(holder: str, name: str, step: Step) -> Iterator[Doubt]:
    """An element that the tables know, but not there; strangers may stand anywhere."""
    if name not in spec.names() or holder not in spec.names():
        return
    if holder not in spec.CONTAINER:
        yield Doubt(
            step.test.at, f"{holder} holds no elements, so that {name} is never found in it"
        )
    elif name not in spec.properties(holder) and name not in spec.blocks(holder):
        yield Doubt(step.test.at, f"{name} does not stand in {holder}")


def _of_attribute(holder: str, name: str, step: Step) -> Iterator[Doubt]:
    known = {
        row for category in ("", spec.REQUESTED, spec.DELIVERED)
        for row in spec.attributes(holder, category)
    }  # fmt: skip
    everywhere = {row.name for row in spec.ATTRIBUTES}
    if holder in spec.names() and name in everywhere and name not in known:
        yield Doubt(step.test.at, f"{holder} has no attribute {name}")


def _of_comparison(side: Expression, sign: str, other: Expression) -> Iterator[Doubt]:
    """What is odd about one side, an element or attribute, beside the other."""
    if not isinstance(side, Path) or not side.steps:
        return
    step = side.steps[-1]
    if step.test.prefix or not step.test.is_name:
        return
    if step.axis == "attribute":
        yield from _of_vocabulary(step, sign, other)
        return
    row = spec.element(step.test.name)
    if row is None or step.axis not in ("child", "descendant"):
        return
    literal = _literal(other)
    if literal is not None and not _is_number(literal):
        if row.type in _NUMBERS:
            advice = _advice(row, literal)
            what = f"{literal!r} is no number, so that this is never true{advice}"
            if sign in _ORDER or (sign == "=" and advice):
                yield Doubt(step.test.at, f"{row.name} is compared as a number: {what}")
        elif sign in _ORDER:
            what = f"{sign} compares numbers, and {literal!r} is none"
            yield Doubt(step.test.at, f"{row.name} is a text: {what}")
    elif row.type == spec.STRING and sign in _ORDER and isinstance(other, Constant | Negative):
        yield Doubt(step.test.at, f"{row.name} is a text, and {sign} compares numbers")
    if row.name in units.DEFAULT_UNITS and _is_amount(other) and not step.predicates:
        text = f"{row.name} is compared as it is written, whatever its units"
        yield Doubt(step.test.at, f"{text}; sss:bytes({row.name}) compares bytes", of_units=True)


def _of_vocabulary(step: Step, sign: str, other: Expression) -> Iterator[Doubt]:
    rows = [row for row in spec.ATTRIBUTES if row.name == step.test.name]
    values = {value for row in rows for value in row.values}
    literal = _literal(other)
    closed = rows and all(row.values and not row.words for row in rows)
    if closed and sign == "=" and literal is not None and literal not in values:
        listed = ", ".join(sorted(values))
        yield Doubt(step.test.at, f"{step.test.name} is never {literal!r}: it is one of {listed}")


def _literal(expression: Expression) -> str | None:
    """The text of a quoted string."""
    if isinstance(expression, Constant) and expression.text[0] in "\"'":
        return expression.text[1:-1]
    return None


def _is_number(text: str) -> bool:
    try:
        units.number(text)
    except InvalidValue:
        return False
    return True


def _is_amount(expression: Expression) -> bool:
    """A plain number, or another amount with units of its own."""
    if isinstance(expression, Path) and expression.steps:
        step = expression.steps[-1]
        return step.test.name in units.DEFAULT_UNITS and not step.predicates
    return isinstance(expression, Constant) and _literal(expression) is None


def _advice(row: spec.Element, literal: str) -> str:
    """The function of ours that reads such a literal, as it would be written."""
    function = "sss:bytes" if row.name in units.DEFAULT_UNITS else _READ_BY.get(row.type, "")
    if not function:
        return ""
    call = Call(function, (Constant(f"'{literal}'"),))
    return f"; {function}({row.name}) can be compared with {call}"
