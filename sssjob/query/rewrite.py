"""Expressions turned into others with the same answers: both namespaces, and no detours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sssjob.query.syntax import (
    ANYWHERE,
    ELEMENT_LESS,
    Chain,
    Expression,
    FunctionCall,
    Negative,
    Path,
    Step,
    Test,
    is_positional,
)


def direct(expression: Expression) -> Expression:
    """The same answers without the detour over every node: ``//Job`` as ``/descendant::Job``.

    libxml2 needs quadratic time for ``//Job[...]``. With a positional predicate the two differ
    (``//Job[1]`` is the first of each parent), so that such steps stay as they are.
    """
    return _with_paths(expression, lambda path: replace(path, steps=_direct(path.steps)))


def in_both_namespaces(expression: Expression, prefix: str) -> Expression:
    """The same expression where a name without prefix means the prefix's namespace as well.

    The test for both names stands before the other predicates, so that these count the same
    nodes. Attributes have no namespace of their own and keep their names.
    """
    return _with_paths(
        expression,
        lambda path: replace(path, steps=tuple(_either(step, prefix) for step in path.steps)),
    )


def _direct(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    found: list[Step] = []
    for step in steps:
        if found and found[-1] == ANYWHERE and step.axis == "child" and not _counts(step):
            found[-1] = replace(step, axis="descendant")
        else:
            found.append(step)
    return tuple(found)


def _counts(step: Step) -> bool:
    return any(is_positional(predicate) for predicate in step.predicates)


def _either(step: Step, prefix: str) -> Step:
    test = step.test
    if test.prefix or test.name == "*" or not test.is_name or step.axis in ELEMENT_LESS:
        return step
    names = (Test(test.name), Test(test.name, prefix))
    either = Chain(tuple(Path((Step("self", name),)) for name in names), ("or",))
    return Step(step.axis, Test("*"), (either, *step.predicates))


def _with_paths(expression: Expression, change: Callable[[Path], Path]) -> Expression:
    """The expression with every path changed, the innermost first."""

    def changed(inner: Expression) -> Expression:
        match inner:
            case Path():
                return change(
                    Path(
                        tuple(
                            replace(step, predicates=all_(step.predicates)) for step in inner.steps
                        ),
                        inner.absolute,
                        None if inner.start is None else changed(inner.start),
                        all_(inner.predicates),
                    )
                )
            case Chain():
                return replace(inner, operands=all_(inner.operands))
            case Negative():
                return Negative(changed(inner.operand))
            case FunctionCall():
                return replace(inner, arguments=all_(inner.arguments))
        return inner

    def all_(inner: tuple[Expression, ...]) -> tuple[Expression, ...]:
        return tuple(changed(one) for one in inner)

    return changed(expression)
