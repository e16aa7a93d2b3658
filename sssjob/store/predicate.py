"""Predicates of XPath, as bounds on the columns of a row.

What stands inside ``[...]`` is asked of one node: of the job itself, or of each node at a path
below it. Of the job, ``and``, ``or`` and ``not()`` mean in SQL what they mean in XPath. Of the
nodes at a path a predicate counts where one node fulfils it: ``or`` can be asked of the parts,
``and`` only narrows, and ``not()`` says nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from lxml import etree

from sssjob.query.functions import extensions
from sssjob.query.syntax import (
    FUNCTIONS,
    NAMESPACE,
    PREFIX,
    UNION,
    Chain,
    Constant,
    Expression,
    FunctionCall,
    Path,
    Type,
    is_positional,
    level_of,
    parts,
    type_of,
)
from sssjob.store.bounds import ALWAYS, NEVER, UNKNOWN, PredicateBounds, between
from sssjob.store.columns import SEPARATOR
from sssjob.store.condition import Op
from sssjob.store.entry import PathStep
from sssjob.store.facts import PathColumns

Literal = str | float | bool

_SIGNS = {
    "=": Op.EQ, "!=": Op.NE, "<": Op.LT, "<=": Op.LE, ">": Op.GT, ">=": Op.GE,
}  # fmt: skip
_OF_CONTEXT = ("position", "last", "lang", "id")
_NOWHERE = etree.Element("Nothing")


class SelectedNodes(NamedTuple):
    """The nodes that a path selects: a fact, and what their predicates say, if there are any.

    ``held`` is whether there is a node that fulfils the predicates.
    """

    fact: PathColumns
    held: PredicateBounds | None = None

    @property
    def exists(self) -> PredicateBounds:
        """Whether the path selects a node."""
        if self.held is None:
            return self.fact.exists
        both = self.fact.exists & self.held
        return between(self.held.sure, both.maybe, both.paths)

    def narrowed(self, found: PredicateBounds) -> PredicateBounds:
        """What was found of the fact, of those nodes that the predicates leave.

        One node may be what was found, and another one what the predicates leave.
        """
        return found if self.held is None else (found & self.held).possible


def truth(expression: Expression, at: str = "") -> PredicateBounds:
    """Whether a predicate holds for the job, or for one of the nodes ``at`` a path below it."""
    value = constant(expression)
    if isinstance(value, bool):
        return _here(at) if value else NEVER
    match expression:
        case Chain(operands, signs) if signs[0] == "or":
            found = NEVER
            for operand in operands:
                found |= truth(operand, at)
            return found
        case Chain(operands, signs) if signs[0] == "and":
            found = ALWAYS
            for operand in operands:
                found &= truth(operand, at)
            return found if not at else found.possible
        case Chain((one, other), (sign,)) if sign in _SIGNS:
            return _compared(one, _SIGNS[sign], other, at)
        case FunctionCall("not", (inner,)):
            return ~truth(inner, at) if not at else _here(at).possible
        case FunctionCall("boolean", (inner,)):
            return truth(inner, at)
        case FunctionCall("starts-with" | "contains" as name, (Path() as path, inner)):
            return _searched(name, path, constant(inner), at)
    if type_of(expression) is Type.NODES:
        return _exists(expression, at)
    return UNKNOWN


def target(path: Expression, at: str = "") -> SelectedNodes | None:
    """What a path from the job, or from the nodes ``at`` a path, selects; None if no fact can."""
    if not isinstance(path, Path) or path.absolute or path.start is not None:
        return None
    way = at
    held: PredicateBounds | None = None
    for step in path.steps:
        inner = step_to(way, step)
        if inner is None:
            return None
        way = inner
        for predicate in step.predicates:
            # A place among others is only known in the document.
            told = UNKNOWN if is_positional(predicate) else truth(predicate, way)
            held = told if held is None else (held & told).possible
        if held is not None and step is not path.steps[-1]:
            held = held.possible
    return SelectedNodes(PathColumns(way), held) if way else None


def constant(expression: Expression) -> Literal | None:
    """The value of an expression that asks no document; None if it does."""
    if not _is_constant(expression):
        return None
    called = f"{PREFIX}:" in str(expression)
    value = etree.XPath(
        str(expression),
        namespaces={PREFIX: NAMESPACE},
        extensions=extensions() if called else None,
        smart_strings=False,
    )(_NOWHERE)
    return value if isinstance(value, str | float | bool) else None


def _is_constant(expression: Expression) -> bool:
    match expression:
        case Path():
            return False
        case FunctionCall(name, arguments) if not arguments:
            return name in ("true", "false")
        case FunctionCall(name) if name in _OF_CONTEXT or FUNCTIONS[name][0] is Type.NODES:
            return False
    return all(map(_is_constant, parts(expression)))


def step_to(way: str, step: PathStep) -> str | None:
    """The path that a step leads to, with names as the standard has them in any namespace."""
    test = step.test
    if step.axis == "self" and test.name == "node()":
        return way
    if test.prefix or not test.is_name or test.name == "*" or "@" in way:
        return None
    below = f"{way}/" if way else ""
    if step.axis == "child":
        return below + test.name
    if step.axis == "attribute":
        return f"{below}@{test.name}"
    return None


def _here(at: str) -> PredicateBounds:
    """Whether there is a context node at all."""
    return PathColumns(at).exists if at else ALWAYS


def _exists(expression: Expression, at: str) -> PredicateBounds:
    found = NEVER
    for each in _branches(expression):
        aim = target(each, at)
        found |= _here(at).possible if aim is None else aim.exists
    return found


def _branches(expression: Expression) -> tuple[Expression, ...]:
    """The paths of a union, or the expression itself."""
    if isinstance(expression, Chain) and level_of(expression) == UNION:
        return expression.operands
    return (expression,)


def _compared(one: Expression, op: Op, other: Expression, at: str) -> PredicateBounds:
    value = constant(other)
    if value is not None:
        return _against(one, op, value, at)
    value = constant(one)
    if value is not None:
        return _against(other, op.mirrored, value, at)
    if not (type_of(one) is type_of(other) is Type.NODES):
        return UNKNOWN
    found = NEVER
    for mine in _branches(one):
        for theirs in _branches(other):
            a, b = target(mine, at), target(theirs, at)
            if a is None or b is None:
                return _here(at).possible
            related = a.narrowed(b.narrowed(a.fact.related(op, b.fact)))
            found |= related.possible if at else related
    return found


def _against(expression: Expression, op: Op, value: Literal, at: str) -> PredicateBounds:
    """An expression against a constant."""
    if isinstance(value, bool) or (isinstance(value, str) and SEPARATOR in value):
        return UNKNOWN
    if type_of(expression) is Type.NODES:
        found = NEVER
        for each in _branches(expression):
            aim = target(each, at)
            if aim is None:
                found |= _here(at).possible
            else:
                found |= aim.narrowed(aim.fact.compared(op, value))
        return found
    if at or not isinstance(expression, FunctionCall) or len(expression.arguments) != 1:
        return UNKNOWN
    aim = target(expression.arguments[0])
    if aim is None or aim.held is not None:
        return UNKNOWN
    return _of_first(expression.name, aim.fact, op, value)


def _of_first(function: str, fact: PathColumns, op: Op, value: str | float) -> PredicateBounds:
    """A function of a node set against a constant; most look at its first node."""
    number = (
        value if isinstance(value, float) else constant(FunctionCall("number", (_quoted(value),)))
    )
    assert isinstance(number, float)
    match function:
        case "string" if isinstance(value, str) and op in (Op.EQ, Op.NE):
            return fact.string(value) if op is Op.EQ else ~fact.string(value)
        case "normalize-space" if isinstance(value, str) and op is Op.EQ and value:
            return fact.exists.possible
        case "number":
            return fact.number(op, number)
        case "count":
            return fact.counted(op, number)
        case "sss:bytes":
            return fact.bytes(op, number)
        case "sss:seconds" | "sss:time" if op is not Op.NE:
            # They read what number() cannot, which is odd; what both read is the same number.
            return fact.compared(op, number).possible
    return UNKNOWN


def _quoted(text: str) -> Constant:
    return Constant(f"'{text}'" if "'" not in text else f'"{text}"')


def _searched(name: str, path: Path, value: Literal | None, at: str) -> PredicateBounds:
    if not isinstance(value, str) or SEPARATOR in value or at:
        return UNKNOWN
    aim = target(path)
    if aim is None:
        return UNKNOWN
    fact = aim.fact
    found = fact.begins(value) if name == "starts-with" else fact.contains(value)
    return found if aim.held is None else fact.exists.possible if value else UNKNOWN
