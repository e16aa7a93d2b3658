"""XPath 1.0 expressions as a tree of few node kinds that print themselves.

Two expressions are equal when they mean the same tests in the same order; places do not count.
Printing spells every axis out: ``//Id`` becomes ``/descendant-or-self::node()/child::Id``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

NAMESPACE = "urn:sssjob:functions"  # of the functions of jobs: decision 32
PREFIX = "sss"  # and theirs
MADE = f"{{{NAMESPACE}}}Nodes"  # what holds the nodes that such a function makes
ELEMENT_LESS = ("attribute", "namespace")  # the axes whose name tests never select elements


class Type(StrEnum):
    """What an expression gives; without variables that is known before it runs."""

    NODES = "a node set"
    NUMBER = "a number"
    STRING = "a string"
    BOOLEAN = "a boolean"


# fmt: off
# name: what it gives, least and most arguments (None: any number), whether the first is a node set
FUNCTIONS: dict[str, tuple[Type, int, int | None, bool]] = {
    "last":             (Type.NUMBER,  0, 0,    False),
    "position":         (Type.NUMBER,  0, 0,    False),
    "count":            (Type.NUMBER,  1, 1,    True),
    "id":               (Type.NODES,   1, 1,    False),
    "local-name":       (Type.STRING,  0, 1,    True),
    "namespace-uri":    (Type.STRING,  0, 1,    True),
    "name":             (Type.STRING,  0, 1,    True),
    "string":           (Type.STRING,  0, 1,    False),
    "concat":           (Type.STRING,  2, None, False),
    "starts-with":      (Type.BOOLEAN, 2, 2,    False),
    "contains":         (Type.BOOLEAN, 2, 2,    False),
    "substring-before": (Type.STRING,  2, 2,    False),
    "substring-after":  (Type.STRING,  2, 2,    False),
    "substring":        (Type.STRING,  2, 3,    False),
    "string-length":    (Type.NUMBER,  0, 1,    False),
    "normalize-space":  (Type.STRING,  0, 1,    False),
    "translate":        (Type.STRING,  3, 3,    False),
    "boolean":          (Type.BOOLEAN, 1, 1,    False),
    "not":              (Type.BOOLEAN, 1, 1,    False),
    "true":             (Type.BOOLEAN, 0, 0,    False),
    "false":            (Type.BOOLEAN, 0, 0,    False),
    "lang":             (Type.BOOLEAN, 1, 1,    False),
    "number":           (Type.NUMBER,  0, 1,    False),
    "sum":              (Type.NUMBER,  1, 1,    True),
    "floor":            (Type.NUMBER,  1, 1,    False),
    "ceiling":          (Type.NUMBER,  1, 1,    False),
    "round":            (Type.NUMBER,  1, 1,    False),
    "sss:bytes":        (Type.NUMBER,  1, 1,    False),
    "sss:seconds":      (Type.NUMBER,  1, 1,    False),
    "sss:time":         (Type.NUMBER,  1, 1,    False),
    "sss:min":          (Type.NUMBER,  1, 1,    True),
    "sss:max":          (Type.NUMBER,  1, 1,    True),
    "sss:satisfied":    (Type.BOOLEAN, 1, 1,    True),
    "sss:nodes":        (Type.NODES,   1, 1,    False),
}
# Functions that refuse a request with something that is not understood (9.0).
JUDGING = frozenset(("sss:min", "sss:max", "sss:satisfied"))
# Binary operators from loose to tight; a minus sign stands between the last two.
LEVELS: tuple[tuple[tuple[str, ...], Type], ...] = (
    (("or",),                  Type.BOOLEAN),
    (("and",),                 Type.BOOLEAN),
    (("=", "!="),              Type.BOOLEAN),
    (("<", "<=", ">", ">="),   Type.BOOLEAN),
    (("+", "-"),               Type.NUMBER),
    (("*", "div", "mod"),      Type.NUMBER),
    (("|",),                   Type.NODES),
)
# fmt: on
UNION = len(LEVELS) - 1
_ATOM = len(LEVELS)
_LEVEL = {sign: level for level, (signs, _) in enumerate(LEVELS) for sign in signs}


@dataclass(frozen=True, slots=True)
class Test:
    """A node test: a name with or without prefix, ``*``, or a node type such as ``text()``."""

    name: str
    prefix: str = ""
    at: int = field(default=0, compare=False)

    @property
    def is_name(self) -> bool:
        """Whether it asks for a name, ``*`` included."""
        return not self.name.endswith(")")

    def __str__(self) -> str:
        return f"{self.prefix}:{self.name}" if self.prefix else self.name


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a location path."""

    axis: str
    test: Test
    predicates: tuple[Expression, ...] = ()

    def __str__(self) -> str:
        return f"{self.axis}::{self.test}{_bracketed(self.predicates)}"


ANYWHERE = Step("descendant-or-self", Test("node()"))  # what // stands for


@dataclass(frozen=True, slots=True)
class Path:
    """A location path: from the document, from the context, or from what ``start`` gives."""

    steps: tuple[Step, ...]
    absolute: bool = False
    start: Expression | None = None
    predicates: tuple[Expression, ...] = ()

    def __str__(self) -> str:
        way = "/".join(str(step) for step in self.steps)
        if self.start is None:
            return f"/{way}" if self.absolute else way
        start = str(self.start) if isinstance(self.start, FunctionCall) else f"({self.start})"
        return f"{start}{_bracketed(self.predicates)}{'/' if way else ''}{way}"


@dataclass(frozen=True, slots=True)
class Chain:
    """Operands between operators of one level, read from left to right."""

    operands: tuple[Expression, ...]
    signs: tuple[str, ...]

    def __str__(self) -> str:
        level = level_of(self)
        first, *rest = (_inside(operand, level) for operand in self.operands)
        pairs = zip(self.signs, rest, strict=True)
        return first + "".join(f" {sign} {operand}" for sign, operand in pairs)


@dataclass(frozen=True, slots=True)
class Negative:
    """A number with its sign turned."""

    operand: Expression

    def __str__(self) -> str:
        return f"-{_inside(self.operand, UNION - 1)}"


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call of one of the functions of XPath 1.0, or of ours, whose prefix is always sss."""

    name: str
    arguments: tuple[Expression, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(str(argument) for argument in self.arguments)})"


@dataclass(frozen=True, slots=True)
class Constant:
    """A number or a quoted string, as written."""

    text: str

    def __str__(self) -> str:
        return self.text


Expression = Path | Chain | Negative | FunctionCall | Constant


def type_of(expression: Expression) -> Type:
    """What an expression gives.

    >>> type_of(FunctionCall("count", (Path((Step("child", Test("Job")),)),)))
    <Type.NUMBER: 'a number'>
    """
    match expression:
        case Path():
            return Type.NODES
        case Chain():
            return LEVELS[level_of(expression)][1]
        case Negative():
            return Type.NUMBER
        case FunctionCall():
            return FUNCTIONS[expression.name][0]
        case Constant():
            return Type.STRING if expression.text[0] in "\"'" else Type.NUMBER


def level_of(expression: Expression) -> int:
    """How tightly an expression binds: an index into ``LEVELS``, or what is above all of them."""
    match expression:
        case Chain():
            return _LEVEL[expression.signs[0]]
        case Negative():
            return UNION - 1
    return _ATOM


def parts(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside one that have the same context node."""
    match expression:
        case Path(start=Path() | Chain() | Negative() | FunctionCall() | Constant() as start):
            return (start,)
        case Chain():
            return expression.operands
        case Negative():
            return (expression.operand,)
        case FunctionCall():
            return expression.arguments
    return ()


def judges(expression: Expression) -> bool:
    """Whether it calls, anywhere in it, what refuses requests that are not understood."""
    if isinstance(expression, FunctionCall) and expression.name in JUDGING:
        return True
    inside = [*parts(expression)]
    if isinstance(expression, Path):
        inside += (each for step in expression.steps for each in step.predicates)
    return any(map(judges, inside))


def is_positional(predicate: Expression) -> bool:
    """Whether a predicate asks for the place of a node among others."""
    return type_of(predicate) is Type.NUMBER or _asks_position(predicate)


def _asks_position(expression: Expression) -> bool:
    if isinstance(expression, FunctionCall) and expression.name in ("position", "last"):
        return True
    return any(_asks_position(part) for part in parts(expression))


def _inside(operand: Expression, level: int) -> str:
    return str(operand) if level_of(operand) > level else f"({operand})"


def _bracketed(predicates: tuple[Expression, ...]) -> str:
    return "".join(f"[{predicate}]" for predicate in predicates)
