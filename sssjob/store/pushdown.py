"""From XPath to a plan: which rows of the columns can answer a query.

A path from the document must come to a Job or JobGroup by name; what it asks of that job is
turned into bounds (``predicate``). A path that starts at the job object is asked of the rows of
documents themselves. What is no path, or goes another way, is left to the documents.
"""

from __future__ import annotations

from functools import lru_cache

from sssjob.query import Query, Question
from sssjob.query.syntax import UNION, Chain, Expression, Path, Step, is_positional, level_of
from sssjob.store.bounds import ALWAYS, NEVER, NOTHING, UNKNOWN, Bounds, between, exactly
from sssjob.store.columns import GROUP, KIND, PLACE
from sssjob.store.condition import Compare, Condition, Op, all_of
from sssjob.store.plan import Plan
from sssjob.store.predicate import target, truth

_ROOT = Compare(PLACE, Op.EQ, 0)
_IS_JOB, _IS_GROUP = Compare(KIND, Op.NE, GROUP), Compare(KIND, Op.EQ, GROUP)
_BELOW = Compare(PLACE, Op.GT, 0)
_DOWN = ("descendant", "descendant-or-self")


@lru_cache(256)
def plan(question: Question) -> Plan:
    """How a store answers a query."""
    if not isinstance(question, Query):
        return Plan(UNKNOWN, None, "columns know the comparisons of XPath 1.0 only")
    return planned(question.parsed)


def planned(expression: Expression) -> Plan:
    """How a store answers an expression whose ``//`` were made direct."""
    branches = _branches(expression)
    if len(branches) == 1:
        return _path(branches[0])
    plans = [_path(branch) for branch in branches]
    bounds = NEVER
    for each in plans:
        bounds |= each.bounds
    return Plan(bounds.possible, None, next((each.why for each in plans if each.why), ""))


def _branches(expression: Expression) -> tuple[Expression, ...]:
    if isinstance(expression, Chain) and level_of(expression) == UNION:
        return tuple(path for each in expression.operands for path in _branches(each))
    return (expression,)


def _path(expression: Expression) -> Plan:
    if not isinstance(expression, Path) or expression.start is not None:
        return Plan(UNKNOWN, None, "the expression is no path")
    entry = _entry(expression.steps) if expression.absolute else _start(expression.steps)
    if entry is None:
        return Plan(UNKNOWN, None, "the path does not lead to Job or JobGroup by its name")
    count, scope = entry
    predicates = expression.steps[count - 1].predicates if count else ()
    if any(map(is_positional, predicates)):
        return Plan(UNKNOWN, None, "a place among others is only known in the document")
    held = ALWAYS
    for predicate in predicates:
        held &= truth(predicate)
    return _below(expression.steps[count:], scope, held)


def _entry(steps: tuple[Step, ...]) -> tuple[int, Condition] | None:
    """How many steps lead to a job object, and to which rows."""
    first = steps[0] if steps else None
    if first is None or first.test.prefix:
        return None
    if first.test.name == "Job" and first.axis in _DOWN:
        return 1, _IS_JOB
    if first.test.name == "Job" and first.axis == "child":
        return 1, all_of(_IS_JOB, _ROOT)
    if first.test.name == "JobGroup" and first.axis in (*_DOWN, "child"):
        second = steps[1] if len(steps) > 1 else None
        into = second is not None and second.axis in ("child", "descendant")
        if into and second is not None and second.test.name == "Job" and not second.test.prefix:
            return None if first.predicates else (2, _BELOW)
        return 1, _IS_GROUP
    return None


def _start(steps: tuple[Step, ...]) -> tuple[int, Condition]:
    """The same for a path that starts at a document's own object."""
    first = steps[0]
    kind = {"Job": _IS_JOB, "JobGroup": _IS_GROUP}.get(first.test.name)
    if first.axis == "self" and kind is not None and not first.test.prefix:
        return 1, all_of(kind, _ROOT)
    return 0, _ROOT


def _below(steps: tuple[Step, ...], scope: Condition, held: Bounds) -> Plan:
    """What is asked at the rows of a scope."""
    within = exactly(scope, NOTHING) & held
    if not steps:
        return Plan(within, "")
    aim = target(Path(steps))
    if aim is None:
        return Plan(within.possible, None)
    if aim.held is None and (aim.fact.text or aim.fact.numbers):
        # Of two numbers nobody knows which one stands first.
        told = aim.exists & aim.fact.is_one
        return Plan(within & between(told.sure, aim.exists.maybe, told.paths), aim.fact.path)
    return Plan(within & aim.exists.possible, None)
