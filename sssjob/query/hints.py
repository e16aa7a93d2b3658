"""Why a query may have found nothing, or something else than was meant."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from sssjob import spec
from sssjob import suggestions as spelling
from sssjob.errors import picture
from sssjob.query.doubts import doubts
from sssjob.query.question import Question
from sssjob.query.scope import UNITS
from sssjob.query.syntax import Expression, Path, Step, parts


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
    near = spelling.nearest(name, names)
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
