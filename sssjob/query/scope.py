"""What an expression looks at: can it be answered one job object at a time?

The proof is cautious. A path from the document is answered job by job when it must pass an
element Job or JobGroup, counts no nodes up to there, and never leaves the job object again.
A path that starts at the job object is, when it never leaves it. All else needs the whole tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sssjob import spec
from sssjob.query.syntax import (
    UNION,
    Chain,
    Constant,
    Expression,
    FunctionCall,
    Negative,
    Path,
    Step,
    Test,
    is_positional,
    level_of,
    parts,
)

UNITS = ("Job", "JobGroup")

_OF_CONTEXT = frozenset((
    "position", "last", "string", "name", "local-name", "namespace-uri", "number",
    "string-length", "normalize-space",
))  # fmt: skip
_DOWN = {"child": 1, "descendant": 1, "attribute": 1, "self": 0, "descendant-or-self": 0}
_SIDEWAYS = ("following-sibling", "preceding-sibling")


class _Outside(Exception):
    """An expression that may look outside of its job object, and where it does."""


Name = tuple[str, str]  # namespace and local name of an element


def is_relative(expression: Expression) -> bool:
    """Whether the answer depends on where the expression starts: then that is each job object."""
    match expression:
        case Path(start=None):
            return not expression.absolute
        case FunctionCall(name="lang"):
            return True
        case FunctionCall() if expression.name in _OF_CONTEXT and not expression.arguments:
            return True
    return any(is_relative(part) for part in parts(expression))


def obstacle(expression: Expression, namespaces: Mapping[str, str]) -> str:
    """Why the expression needs whole documents; "" if job object by job object will do."""
    try:
        if is_relative(expression):
            _depth(expression, 0)
        elif branches := unions(expression):
            for path in branches:
                _enter(path, namespaces)
        else:
            return f"{expression} is worked out over the whole document"
    except _Outside as reason:
        return str(reason)
    return ""


def is_inside(expression: Expression) -> bool:
    """Whether an expression, asked of an element, certainly stays in that element."""
    try:
        _depth(expression, 0)
    except _Outside:
        return False
    return True


def unions(expression: Expression) -> tuple[Path, ...]:
    """The absolute paths of which the expression is the union; none if it is something else."""
    if isinstance(expression, Path):
        return (expression,) if expression.absolute else ()
    if isinstance(expression, Chain) and level_of(expression) == UNION:
        found = [unions(operand) for operand in expression.operands]
        return tuple(path for paths in found for path in paths) if all(found) else ()
    return ()


def residual(
    paths: Sequence[Path], ancestors: Sequence[Name], namespaces: Mapping[str, str]
) -> tuple[Path, ...]:
    """What is left of absolute paths at a job object below these ancestors, root first.

    The steps before a job object hold no predicates (``is_local``), so that the names of the
    ancestors say how far each path has come.
    """
    found = [rest for path in paths for rest in _residual(path, ancestors, namespaces)]
    return tuple(dict.fromkeys(found))


def _residual(path: Path, ancestors: Sequence[Name], namespaces: Mapping[str, str]) -> list[Path]:
    found = []
    chain: tuple[Name | None, ...] = (None, *ancestors)  # None is the document itself
    for index, level in _reached(path.steps, chain, namespaces):
        step = path.steps[index]
        if step.axis != "child":
            axis = "descendant-or-self"
        elif level == len(chain) - 1:
            axis = "self"
        else:
            continue
        found.append(Path((replace(step, axis=axis), *path.steps[index + 1 :])))
    return found


def _reached(
    steps: Sequence[Step], chain: Sequence[Name | None], namespaces: Mapping[str, str]
) -> set[tuple[int, int]]:
    """Pairs (steps taken, place in the chain) that the path can stand at, more steps ahead."""
    reached: set[tuple[int, int]] = set()
    ahead = [(0, 0)]
    while ahead:
        state = ahead.pop()
        taken, level = state
        if state in reached or taken == len(steps):
            continue
        reached.add(state)
        first = level if steps[taken].axis == "descendant-or-self" else level + 1
        last = level + 1 if steps[taken].axis == "child" else len(chain) - 1
        ahead.extend(
            (taken + 1, place)
            for place in range(first, min(last, len(chain) - 1) + 1)
            if _selects(steps[taken].test, chain[place], namespaces)
        )
    return reached


def _selects(test: Test, name: Name | None, namespaces: Mapping[str, str]) -> bool:
    if not test.is_name:
        return test.name == "node()"
    if name is None:
        return False
    namespace, local = name
    allowed = (namespaces[test.prefix],) if test.prefix else spec.NAMESPACES
    if test.name == "*":
        return not test.prefix or namespace in allowed
    return local == test.name and namespace in allowed


def _enter(path: Path, namespaces: Mapping[str, str]) -> None:
    """Check that an absolute path passes a job object, by name, before it asks for anything."""
    for index, step in enumerate(path.steps):
        if step.axis not in ("child", "descendant", "descendant-or-self"):
            break
        if _names_unit(step.test, namespaces):
            if any(is_positional(predicate) for predicate in step.predicates):
                raise _Outside(f"{step} counts job objects")
            _depth(Path((replace(step, axis="self"), *path.steps[index + 1 :])), 0)
            return
        if step.predicates:
            raise _Outside(f"{step} asks something before a job object is reached")
    raise _Outside(f"{path} may stand outside of job objects")


def _names_unit(test: Test, namespaces: Mapping[str, str]) -> bool:
    known = not test.prefix or namespaces.get(test.prefix) in spec.NAMESPACES
    return known and test.name in UNITS


def _depth(expression: Expression, depth: int) -> int:
    """How far below the job object the nodes of an expression certainly are.

    ``depth`` says so of the context node. Raises ``_Outside`` where it may look outside.
    """
    match expression:
        case Constant():
            return depth
        case Negative():
            return _depth(expression.operand, depth)
        case FunctionCall(name="id" | "lang"):
            raise _Outside(f"{expression.name}() looks at the whole document")
        case FunctionCall():
            return _least(expression.arguments, depth)
        case Chain():
            return _least(expression.operands, depth)
        case Path(absolute=True):
            raise _Outside(f"{expression} starts at the document again")
    start = depth if expression.start is None else _depth(expression.start, depth)
    _least(expression.predicates, start)
    return _after(expression.steps, start)


def _after(steps: Sequence[Step], depth: int) -> int:
    for step in steps:
        if step.axis in _DOWN:
            depth += _DOWN[step.axis]
        elif step.axis == "parent" and depth > 0:
            depth -= 1
        elif not (step.axis in _SIDEWAYS and depth > 0):
            raise _Outside(f"{step} may leave the job object")
        _least(step.predicates, depth)
    return depth


def _least(expressions: Sequence[Expression], depth: int) -> int:
    """The least depth of several expressions."""
    return min((depth, *(_depth(expression, depth) for expression in expressions)))
