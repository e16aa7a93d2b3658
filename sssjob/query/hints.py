"""Why a query may have found nothing, or something else than was meant.

Names are compared with those of the standard. Conditions that can never hold are told only where
the tables know both sides: an element in its container, an attribute of its element, a value of a
closed vocabulary, a number beside a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from sssjob import spec, states, suggestions, units
from sssjob.errors import InvalidValue, picture
from sssjob.query.question import Question
from sssjob.query.scope import UNITS
from sssjob.query.syntax import (
    ANYWHERE,
    Chain,
    Constant,
    Expression,
    FunctionCall,
    Negative,
    Path,
    Step,
    parts,
)

_ORDER = ("<", "<=", ">", ">=")
_COMPARED = (*_ORDER, "=", "!=")
_NUMBERS = (spec.INTEGER, spec.FLOAT, spec.DURATION, spec.DATETIME)
_READ_BY = {spec.DURATION: "sss:seconds", spec.DATETIME: "sss:time"}


class Hint(NamedTuple):
    """A remark on one place of an expression; ``position`` counts characters from 0.

    One ``of_units`` is worth saying whatever was found: the answer may not be what was asked for.
    """

    expression: str
    position: int
    message: str
    of_units: bool = False

    def __str__(self) -> str:
        return f"{self.message}\n{picture(self.expression, self.position)}"


def hints(query: Question) -> Iterator[Hint]:
    """What may be wrong with a query: names, and what can never be so.

    >>> from sssjob.query import compile
    >>> print(next(hints(compile("//Job[Proccessors > 4]"))).message)
    Proccessors is not a name of the standard; did you mean Processors?
    """
    if query.parsed is None:
        return
    for step in sorted(_steps(query.parsed), key=lambda step: step.test.at):
        test = step.test
        if test.prefix or test.name == "*" or not test.is_name or step.axis == "namespace":
            continue
        message = _attribute(test.name) if step.axis == "attribute" else _element(test.name)
        if message:
            yield Hint(query.expression, test.at, message)
    for doubt in dict.fromkeys(doubts(query.parsed)):
        yield Hint(query.expression, *doubt)


def elements(query: Question) -> list[str]:
    """The names of elements in a query, each once, in its order.

    Of one beyond XPath 1.0 they are the names that stand in it and are no attributes.

    >>> from sssjob.query import compile
    >>> elements(compile("//Job[Name = 'a']/Delivered/@x"))
    ['Job', 'Name', 'Delivered']
    """
    if query.parsed is None:
        return [name for sign, name in _words(query) if not sign]
    return _names(query.parsed, lambda axis: axis not in ("attribute", "namespace"))


def attributes(query: Question) -> list[str]:
    """The same of attributes.

    >>> from sssjob.query import compile
    >>> attributes(compile("//Job[Name = 'a']/Delivered/@x"))
    ['x']
    """
    if query.parsed is None:
        return [name for sign, name in _words(query) if sign and sign != "$"]
    return _names(query.parsed, lambda axis: axis == "attribute")


def reaches(query: Question) -> bool:
    """Whether a query finds elements, attributes or texts of a job that it does not name.

    >>> from sssjob.query import compile
    >>> [reaches(compile(text)) for text in ("//Job/Id/text()", "//Job//text()", "//Delivered/*")]
    [False, True, True]
    """
    if query.parsed is None:
        return bool(_ANY_NAME.search(_LITERAL.sub("''", query.expression)))
    return any(
        step.test.name == "*"
        or (not step.test.is_name and (_is_deep(step, before) or _is_any_child(step)))
        for before, step in _pairs(query.parsed)
    )


def _is_deep(step: Step, before: Step | None) -> bool:
    """Whether it goes to what is below at any depth; ``//`` by itself goes nowhere."""
    return (step.axis == "descendant") or (before == ANYWHERE and step.axis == "child")


def _is_any_child(step: Step) -> bool:
    return step.axis == "child" and step.test.name == "node()"


def _pairs(parsed: Expression) -> Iterator[tuple[Step | None, Step]]:
    """Each step with the one before it."""
    before = None
    for step in _steps(parsed):
        yield before, step
        before = step


def _words(query: Question) -> list[tuple[str, str]]:
    """The names in an expression, each once, with what stands before: @, $ or nothing."""
    return [*dict.fromkeys(_WORD.findall(_LITERAL.sub("''", query.expression)))]


_LITERAL = re.compile(r"""'[^']*'|"[^"]*"|\(:.*?:\)""", re.DOTALL)
_WORD = re.compile(r"(?:(@|attribute\s*::|[$])\s*)?([A-Za-z_][\w.-]*)")
# A star is a name where no operand stands before it. Behind a name of an operator it is one, too.
_ANY_NAME = re.compile(
    r"""
    (^ | [^\s\w.\-)\]}'"*?] | \s- | (?<![\w.\-/:@$])
      (and|or|div|mod|idiv|union|intersect|except|to|is|eq|ne|lt|le|gt|ge|in|return|satisfies|then
       |else))
    \s*[*]
    | (// | descendant(-or-self)?\s*::)\s*text\s*\(
    | (?<!parent::)(?<!self::)\bnode\s*\(
    | \b(element|attribute)\s*\(\s*\)
    """,
    re.VERBOSE,
)


def _names(parsed: Expression, is_wanted: Callable[[str], bool]) -> list[str]:
    steps = sorted(_steps(parsed), key=lambda step: step.test.at)
    names = (step.test.name for step in steps if step.test.is_name and is_wanted(step.axis))
    return [*dict.fromkeys(names)]


@cache
def attribute_names() -> frozenset[str]:
    """Every attribute name of the text."""
    return frozenset(row.name for row in spec.ATTRIBUTES)


def _element(name: str) -> str:
    if name in spec.names():
        return ""
    if canonical := _canonical(name):
        return f"{name} is an older name of {canonical}; did you mean {canonical}?"
    if name in attribute_names():
        return f"{name} is an attribute; did you mean @{name}?"
    return _unknown(name, spec.names(), "")


def _attribute(name: str) -> str:
    if name in attribute_names():
        return ""
    if name in spec.names():
        return f"{name} is an element; did you mean {name} without @?"
    return _unknown(name, attribute_names(), "@")


def _canonical(name: str) -> str:
    return next((row.canonical for row in spec.ALIASES if row.name == name), "")


def _unknown(name: str, names: frozenset[str], sign: str) -> str:
    near = suggestions.nearest(name, names)
    advice = f"; did you mean {sign}{near}?" if near else ""
    return f"{sign}{name} is not a name of the standard{advice}"


def _steps(expression: Expression) -> Iterator[Step]:
    """Every step whose name the standard should know: a wrapper may be called anything."""
    if isinstance(expression, Path):
        entry = _entry(expression)
        for index, step in enumerate(expression.steps):
            if index >= entry:
                yield step
            for predicate in step.predicates:
                yield from _steps(predicate)
        for predicate in expression.predicates:
            yield from _steps(predicate)
    for part in parts(expression):
        yield from _steps(part)


def _entry(path: Path) -> int:
    """The step at which a path from the document comes to a job object."""
    if not path.absolute:
        return 0
    names = (index for index, step in enumerate(path.steps) if step.test.name in UNITS)
    return next(names, 0)


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
    if row.name == "State" and sign == "=" and literal is not None and _tells_how(literal):
        text = "records of batch systems are Completed, however the job ended"
        yield Doubt(step.test.at, f"{text}: StatusMessage and ExitCode tell that")
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


def _tells_how(state: str) -> bool:
    """Whether a State says how a job ended, which those that are read from records do not."""
    said = state.strip().upper()
    told = said in states.said_of_aborted() or said in states.said_of_failed()
    return told or states.ended_badly(state)


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
    call = FunctionCall(function, (Constant(f"'{literal}'"),))
    return f"; {function}({row.name}) can be compared with {call}"
