"""``count()`` and ``sum()`` of paths from the document: over a whole store, not each document.

Who asks a store how many jobs run wants one number. So ``sum(//Job/Charge) div count(//Job)`` is
one answer, in which every path is followed in all documents. An expression that also asks a
document for something else is asked of each document as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from lxml import etree

from sssjob.query import Match, Query, Question, compile
from sssjob.query.syntax import Chain, Constant, Expression, FunctionCall, Negative, Path, Step
from sssjob.store.rows import number

_TOTALS = ("count", "sum")
EACH = "each"  # of numbers that documents tell, which are added
_UPWARDS = ("self", "parent", "ancestor", "ancestor-or-self", "descendant-or-self")
_OF_CONTEXT = ("position", "last", "lang", "id")


@dataclass(slots=True)
class Total:
    """An expression over totals: ``parts`` are they, by the variables that stand for them.

    Of each: whether it is counted, added (``sum``), or asked of each document (``EACH``).
    """

    parts: dict[str, tuple[str, Question]] = field(default_factory=dict)
    expression: str = ""

    def match(self, value: Callable[[str, Question], float]) -> Match:
        """The answer, by what each total is, and of what."""
        values = {name: value(*part) for name, part in self.parts.items()}
        nowhere = etree.Element("Nothing")
        answer = etree.XPath(self.expression, smart_strings=False)(nowhere, **values)
        return Match(answer, is_node=False)


def summed(what: str, matches: Iterable[Match]) -> float:
    """What is counted or added of matches, in their order; see ``Total``."""
    if what == "count":
        return float(sum(match.is_true for match in matches))
    return added(number(match.text) for match in matches)


def added(numbers: Iterable[float]) -> float:
    """A sum as XPath makes it: one number after the other, each time rounded."""
    total = 0.0
    for each in numbers:
        total += each
    return total


@lru_cache(256)
def total(question: Question) -> Total | None:
    """The totals that an expression is made of, or None if it asks for anything else."""
    if not isinstance(question, Query) or question.is_relative:
        return None
    found = Total()
    rest = _replaced(question.parsed, found, question.namespaces)
    if rest is None or not found.parts:
        return None
    found.expression = str(rest)
    return found


def _replaced(
    expression: Expression, found: Total, namespaces: Mapping[str, str]
) -> Expression | None:
    """The expression with a variable for each total; None where something else asks a document."""
    match expression:
        case FunctionCall(name, (argument,)) if name in _TOTALS:
            variable = f"total{len(found.parts)}"
            if _may_be_document(argument):  # which is a node, and nothing that libxml2 gives out
                found.parts[variable] = EACH, compile(str(expression), namespaces)
            else:
                found.parts[variable] = name, compile(str(argument), namespaces)
            return Constant(f"${variable}")
        case Path():
            return None
        case FunctionCall(name) if name in _OF_CONTEXT or ":" in name:
            return None
        case Constant():
            return expression
        case Negative(operand):
            inner = _replaced(operand, found, namespaces)
            return None if inner is None else Negative(inner)
        case Chain(operands) | FunctionCall(_, operands):
            replaced = [_replaced(each, found, namespaces) for each in operands]
            whole = tuple(each for each in replaced if each is not None)
            if len(whole) < len(replaced):
                return None
            if isinstance(expression, Chain):
                return replace(expression, operands=whole)
            return replace(expression, arguments=whole)


def _may_be_document(nodes: Expression) -> bool:
    """Whether a document itself may be among some nodes, and not only what stands in it."""
    match nodes:
        case Path(steps=(*_, Step(axis, test))):
            return axis in _UPWARDS and not test.is_name
        case Path(start=start):
            return start is None or _may_be_document(start)
        case Chain(operands):
            return any(map(_may_be_document, operands))
    return False
