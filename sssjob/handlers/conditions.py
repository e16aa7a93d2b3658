"""Where: which jobs a request is about, decided on each job, and by columns before that.

And binds tighter than Or; groups open and close parentheses. A condition is about a value: what
a job does not have is neither equal nor unequal to anything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isnan
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Protocol

from sssjob.errors import InvalidValue, Refused
from sssjob.handlers.attributes import JOB, AttributeType, ObjectAttribute, attribute, shown
from sssjob.handlers.view import on_the_wire
from sssjob.model import Property
from sssjob.query.functions import size_of
from sssjob.rmap.message import Conj, Op, Where
from sssjob.store.plan import QueryPlan
from sssjob.store.rows import number
from sssjob.store.where import Term, where

_MOST = 1000  # conditions of a request
_PLANNED = 20  # of which columns are asked; databases take expressions of a certain depth only
_COMPARISONS: dict[Op, Callable[[Any, Any], bool]] = {
    Op.EQ: eq, Op.NE: ne, Op.GT: gt, Op.GE: ge, Op.LT: lt, Op.LE: le,
}  # fmt: skip


class Described(Protocol):
    """What conditions are asked of: a job, or anything else with attributes."""

    def text(self, attribute: ObjectAttribute) -> str | None:
        """The value of an attribute as text; None if absent."""
        ...

    def property(self, attribute: ObjectAttribute) -> Property | None:
        """The property behind it, if there is one."""
        ...

    def number(self, attribute: ObjectAttribute) -> Fraction | None:
        """The value as an exact number; None if it is none."""
        ...


@dataclass(frozen=True, slots=True)
class _ConditionTest:
    """One condition, with its value made ready to be compared."""

    attribute: ObjectAttribute
    where: Where
    value: str | float

    def holds(self, view: Described) -> bool:
        found = view.text(self.attribute)
        if found is None:
            return False
        return self._compares(view, found) is not self.where.conj.negates

    def _compares(self, view: Described, found: str) -> bool:
        if self.where.op is Op.MATCH:
            return matches(self.where.value, found)
        compare = _COMPARISONS[self.where.op]
        if isinstance(self.value, str):
            return compare(found, self.value)
        own = (
            _bytes(view, self.attribute)
            if self.attribute.kind is AttributeType.AMOUNT
            else number(found)
        )
        return not isnan(own) and compare(own, self.value)


_Node = _ConditionTest | list[tuple[bool, Any]]


class Conditions:
    """The conditions of a request. ``names`` are what its object may be called in them.

    ``known`` finds an attribute of the kind by its name.

    Raises ``Refused``: 318 for a name that is unknown, or a condition that joins objects; 317 for
    a value that is not of the type of its attribute.
    """

    def __init__(
        self,
        wheres: Sequence[Where],
        kind: str = JOB,
        names: Collection[str] = (),
        known: Callable[[str, str], ObjectAttribute | None] = attribute,
    ) -> None:
        if len(wheres) > _MOST:
            raise Refused("318", f"There are more than {_MOST} conditions")
        self._kind = kind
        self._tests = [_test(each, kind, names, known) for each in wheres]
        self._tree = _tree(self._tests)
        self.asks_deleted = any(
            test.attribute.name == "Deleted" and "True" in test.where.value for test in self._tests
        )

    def hold(self, view: Described) -> bool:
        """Whether they hold for a job, or another thing of their kind."""
        return _holds(self._tree, view)

    @property
    def id(self) -> str | None:
        """The Id that a job has to have, whatever else is asked of it; None if any will do."""
        if any(test.where.conj is not Conj.AND or test.where.group for test in self._tests):
            return None
        wanted = (test.where.value for test in self._tests
                  if test.attribute.name == "Id" and test.where.op is Op.EQ)  # fmt: skip
        return next(wanted, None)

    @property
    def only_id(self) -> str | None:
        """The Id of the jobs that are meant, where nothing else is asked of them."""
        return self.id if len(self._tests) == 1 else None

    @property
    def is_planned(self) -> bool:
        """Whether the plan says all that the conditions do, and no less."""
        known = sum(_has_columns(test.attribute) for test in self._tests)
        return known == len(self._tests) <= _PLANNED

    @property
    def plan(self) -> QueryPlan:
        """What columns say about where they may hold."""
        simple = all(
            test.where.conj in (Conj.AND, Conj.AND_NOT) and not test.where.group
            for test in self._tests
        )
        known = [test for test in self._tests if _has_columns(test.attribute)]
        # One part of a conjunction finds candidates as well as all of it.
        if not simple and not (len(known) == len(self._tests) <= _PLANNED):
            known = []
        known = known[:_PLANNED]
        return where((_term(test.where) for test in known), self._kind)


def matches(pattern: str, text: str) -> bool:
    """Whether a whole text is of a pattern: ``*`` is any text, ``?`` any character.

    >>> matches("PBS.123?.*", "PBS.1234.0"), matches("a*b", "abc")
    (True, False)
    """
    at = place = 0
    star, mark = -1, 0
    while place < len(text):
        if at < len(pattern) and pattern[at] == "*":
            star, mark, at = at, place, at + 1
        elif at < len(pattern) and pattern[at] in ("?", text[place]):
            at, place = at + 1, place + 1
        elif star >= 0:
            mark += 1
            at, place = star + 1, mark
        else:
            return False
    return not pattern[at:].strip("*")


def _test(
    asked: Where, kind: str, names: Collection[str],
    known: Callable[[str, str], ObjectAttribute | None],
) -> _ConditionTest:  # fmt: skip
    if asked.subject or (asked.object and asked.object not in names):
        raise Refused("318", "A condition cannot join objects here")
    found = known(asked.name, kind)
    if found is None:
        raise Refused("318", f"{shown(asked.name)} is not a valid attribute for a {kind} object")
    if asked.op is not Op.MATCH:  # compared in seconds, as they are shown
        asked = replace(asked, value=on_the_wire(found, asked.value))
    return _ConditionTest(found, asked, _value(found, asked))


def _value(found: ObjectAttribute, asked: Where) -> str | float:
    value = asked.value
    if asked.op is Op.MATCH or found.kind is AttributeType.TEXT:
        return value
    if found.kind is AttributeType.FLAG:
        if value not in ("True", "False"):
            raise Refused("317", f"{asked.name} is True or False")
        return value
    if found.kind is AttributeType.TIME and not (value.isascii() and value.isdigit()):
        raise Refused("317", f"{asked.name} is a time in seconds since 1970")
    is_amount = found.kind is AttributeType.AMOUNT
    wanted = size_of(found.name, value) if is_amount else number(value)
    if isnan(wanted):
        raise Refused("317", f"{asked.name} is a number")
    return wanted


def _bytes(view: Described, attribute: ObjectAttribute) -> float:
    found = view.property(attribute)
    try:
        return float("nan") if found is None else float(found.bytes)
    except (InvalidValue, OverflowError):
        return float("nan")


def _tree(tests: Sequence[_ConditionTest]) -> _Node:
    """The tests with their parentheses, which balance."""
    frames: list[list[tuple[bool, _Node]]] = [[]]
    joins: list[bool] = []
    for test in tests:
        is_or = test.where.conj.is_or
        for _ in range(test.where.group):
            joins.append(is_or)
            frames.append([])
            is_or = False
        frames[-1].append((is_or, test))
        for _ in range(-test.where.group):
            inner = frames.pop()
            frames[-1].append((joins.pop(), inner))
    return frames[0]


def _holds(node: _Node, view: Described) -> bool:
    if isinstance(node, _ConditionTest):
        return node.holds(view)
    found = True
    for place, (is_or, each) in enumerate(node):
        if is_or and place:
            if found:
                return True
            found = True
        found = found and _holds(each, view)
    return found


def _has_columns(found: ObjectAttribute) -> bool:
    return not (found.derived or found.extension)


def _term(asked: Where) -> Term:
    return Term(asked.name, str(asked.op), asked.value, str(asked.conj), asked.group)
