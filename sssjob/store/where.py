"""From the conditions of SSSRMAP (Where) to conditions on columns.

A condition is about a job as accounting sees it, flat: what was delivered stands before what is
said of the job itself, and that before what was requested. And binds tighter than Or; ``group``
opens and closes parentheses, and the Not of AndNot and OrNot is about one condition.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from typing import NamedTuple

from sssjob import spec, units
from sssjob.errors import InvalidValue, UnbalancedGroup
from sssjob.query.functions import size_of
from sssjob.store.bounds import ALWAYS, NEVER, NOTHING, UNKNOWN, PredicateBounds, exactly
from sssjob.store.columns import KIND, SEPARATOR, Says, column, is_number
from sssjob.store.condition import (
    Compare,
    Holds,
    Like,
    Op,
    Prefix,
    all_of,
    any_of,
    none_of,
)
from sssjob.store.facts import PathColumns
from sssjob.store.plan import QueryPlan
from sssjob.store.rows import number

MATCH = "Match"
_CONJUNCTIONS = ("And", "Or", "AndNot", "OrNot")


class Term(NamedTuple):
    """A condition: a property's name, older ones too, and what it is compared with.

    ``op`` is EQ, NE, GT, GE, LT, LE or Match (``*`` any text, ``?`` any character). A number is
    compared as a number, an amount without a unit is in the default unit of its property.
    """

    name: str
    op: str
    value: str
    conj: str = "And"
    group: int = 0


def where(terms: Iterable[Term], kind: str = "Job") -> QueryPlan:
    """Which rows of jobs, or of job groups, the conditions hold for, of what holds for them.

    Raises ``InvalidValue`` for a name, op or conj that there is none of, and ``UnbalancedGroup``.
    """
    frames: list[list[tuple[bool, PredicateBounds]]] = [[]]
    joins: list[bool] = []
    term, index = None, 0
    for index, term in enumerate(terms):
        if term.conj not in _CONJUNCTIONS:
            raise InvalidValue(term.conj, f"one of {', '.join(_CONJUNCTIONS)}")
        is_or = term.conj.startswith("Or")
        for _ in range(term.group):
            joins.append(is_or)
            frames.append([])
            is_or = False
        frames[-1].append((is_or, _held(term, kind)))
        for closed in range(-term.group):
            if not joins:
                raise UnbalancedGroup(index, term.name, -term.group, closed)
            inner = _joined(frames.pop())
            frames[-1].append((joins.pop(), inner))
    if joins and term is not None:
        raise UnbalancedGroup(index, term.name, 0, len(joins))
    return QueryPlan(exactly(Compare(KIND, Op.EQ, kind), NOTHING) & _joined(frames[0]), "")


def _joined(frame: list[tuple[bool, PredicateBounds]]) -> PredicateBounds:
    """Conditions of one level: And first, then Or."""
    if not frame:
        return ALWAYS
    found, run = NEVER, ALWAYS
    for place, (is_or, each) in enumerate(frame):
        if is_or and place:
            found, run = found | run, ALWAYS
        run &= each
    return found | run


def _held(term: Term, kind: str) -> PredicateBounds:
    found = _flat(term, kind)
    if not term.conj.endswith("Not"):
        return found.held
    # What is not there is not unequal either: a condition is about a value.
    return ~found.held & found.exists


class _FlatBounds(NamedTuple):
    held: PredicateBounds
    exists: PredicateBounds


def _flat(term: Term, kind: str) -> _FlatBounds:
    """A condition of the first place where the property stands."""
    name = _canonical(term.name, kind)
    held, exists = NEVER, NEVER
    for path in _places(name, kind):
        if not any(column(path, says) for says in (Says.TEXT, Says.LOW)):
            held |= ~exists & UNKNOWN
            exists |= PathColumns(path).exists.possible
            continue
        fact = PathColumns(path)
        # A request is a value only where it asks for exactly one.
        asked = path.startswith(f"{spec.REQUESTED}/")
        here, there = _compared(fact, term), fact.exists
        if asked:
            here, there = here.possible, there.possible
        held |= ~exists & here
        exists |= there
    return _FlatBounds(held, exists)


def _places(name: str, kind: str) -> list[str]:
    """Where a property of a kind of object may stand, the first place that counts first."""
    around = ("",) if kind == "JobGroup" else (f"{spec.DELIVERED}/", "", f"{spec.REQUESTED}/")
    return [f"{at}{name}" for at in around if not at or name in spec.properties(at[:-1])]


def _canonical(name: str, kind: str) -> str:
    if name in spec.properties(kind):
        return name
    row = spec.alias(name, kind)
    if row is None:
        raise InvalidValue(name, f"a property of a {kind}")
    return row.canonical


def _compared(fact: PathColumns, term: Term) -> PredicateBounds:
    """The comparison at one path: of the first node where there are several."""
    if term.op == MATCH:
        if fact.text is None:
            return fact.exists.possible
        several = Prefix(fact.text, SEPARATOR)
        one = all_of(Like(fact.text, term.value), none_of(several))
        return fact.between(one, any_of(one, several))
    if term.op not in Op.__members__:
        raise InvalidValue(term.op, f"one of {', '.join((*Op.__members__, MATCH))}")
    op = Op[term.op]
    if is_number(fact.path):
        return _number(fact, op, term.value)
    if fact.text is None:
        return fact.exists.possible
    several = Prefix(fact.text, SEPARATOR)
    one = all_of(Compare(fact.text, op, term.value), none_of(several))
    # Of several texts the first one counts; any of them may be it.
    doubtful = Holds(fact.text, term.value) if op is Op.EQ and term.value else several
    return fact.between(one, any_of(one, all_of(several, doubtful)))


def _number(fact: PathColumns, op: Op, value: str) -> PredicateBounds:
    name = fact.path.rpartition("/")[2]
    if name in units.DEFAULT_UNITS:
        return fact.bytes(op, size_of(name, value)) & fact.exists
    wanted = number(value)
    if isnan(wanted):
        raise InvalidValue(value, f"a number for {name}")
    return fact.number(op, wanted) & fact.exists
