"""From XPath to a plan: which rows of the columns can answer a query.

Strategy. A question that opens every document takes minutes where columns take a blink; but XPath
can ask for anything, and columns know little.

The idea is to let columns decide what they can, and no more. A path from the document must come to
a Job or JobGroup by name (``entry``); what it asks of that job is turned into bounds
(``predicate``, and ``xpath2`` for XPath 2.0 and the versions after it). What is no path, or goes
another way, is left to the documents.

Why it is right: bounds only leave out rows of which they are certain, and only give answers of
which they are certain (``bounds``); every other row is opened, and its document asked.

Where a document may be refused for what is not understood in it (``sss:satisfied`` and its like),
columns decide only what is asked before that, from left to right as XPath does: a document that
they left out would be refused in silence.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import takewhile

from sssjob.query import Query, Question
from sssjob.query.syntax import UNION, Chain, Expression, Path, is_positional, judges, level_of
from sssjob.store.bounds import ALWAYS, NOTHING, UNKNOWN, PredicateBounds, exactly
from sssjob.store.entry import ASTRAY, COUNTED, NO_PATH, answered, either, entry, start
from sssjob.store.plan import QueryPlan
from sssjob.store.predicate import target, truth


@lru_cache(256)
def plan(question: Question) -> QueryPlan:
    """How a store answers a query."""
    if isinstance(question, Query):
        return planned(question.parsed)
    from sssjob.query.xpath2 import XPath2Query  # importing elementpath takes half a second
    from sssjob.store import xpath2

    assert isinstance(question, XPath2Query)
    return xpath2.planned(question.token, question.namespaces)


def planned(expression: Expression) -> QueryPlan:
    """How a store answers an expression whose ``//`` were made direct."""
    return either([_path(branch) for branch in _branches(expression)])


def _branches(expression: Expression) -> tuple[Expression, ...]:
    if isinstance(expression, Chain) and level_of(expression) == UNION:
        return tuple(path for each in expression.operands for path in _branches(each))
    return (expression,)


def _path(expression: Expression) -> QueryPlan:
    if not isinstance(expression, Path) or expression.start is not None:
        return QueryPlan(UNKNOWN, None, NO_PATH)
    entered = entry(expression.steps) if expression.absolute else start(expression.steps)
    if entered is None:
        return QueryPlan(UNKNOWN, None, ASTRAY)
    count, scope = entered
    predicates = expression.steps[count - 1].predicates if count else ()
    if any(map(is_positional, predicates)):
        return QueryPlan(UNKNOWN, None, COUNTED)
    within = exactly(scope, NOTHING)
    for predicate in predicates:
        if judges(predicate):
            return QueryPlan((within & _before(predicate)).possible, None)
        within &= truth(predicate)
    steps = expression.steps[count:]
    if not steps:
        return QueryPlan(within, "")
    aim = None if judges(Path(steps)) else target(Path(steps))
    if aim is None:
        return QueryPlan(within.possible, None)
    return answered(within, aim.exists, aim.fact, is_all=aim.held is None)


def _before(predicate: Expression) -> PredicateBounds:
    """What has to hold before a predicate comes to a call that may refuse the document."""
    if not (isinstance(predicate, Chain) and predicate.signs[0] == "and"):
        return ALWAYS
    found = ALWAYS
    for operand in takewhile(lambda each: not judges(each), predicate.operands):
        found &= truth(operand)
    return found
