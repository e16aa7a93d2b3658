"""One comparison of a request, made ready to be asked of many offers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any as _Any

from sssjob import nodes, spec, units
from sssjob.errors import InvalidValue, LimitExceeded
from sssjob.expression.offer import AMOUNTS, COUNTS, SETS, Number, Offer, slots
from sssjob.expression.pattern import Matching, NotAPattern, Pattern
from sssjob.expression.tree import Comparison, amount, inverse, key
from sssjob.model import Property, Value


class Verdict(IntEnum):
    """Three-valued truth, in the order in which And takes the least and Or the greatest."""

    NO = 0
    UNKNOWN = 1
    YES = 2

    def __str__(self) -> str:
        return self.name.lower()


NO, UNKNOWN, YES = 0, 1, 2

_ORDERS: dict[str, Callable[[_Any, _Any], bool]] = {
    "EQ": operator.eq, "NE": operator.ne, "LT": operator.lt,
    "LE": operator.le, "GT": operator.gt, "GE": operator.ge,
}  # fmt: skip

Ask = Callable[[Offer], int]


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """A comparison as it is evaluated: of an amount that is taken, or of a fact.

    ``slots`` says where an offer has the number; ``holds`` says whether an amount satisfies it.
    A fact has none, and ``ask`` answers it. ``code`` and ``fault`` say why it cannot be answered.
    """

    comparison: Comparison
    negated: bool = False
    slots: tuple[str, ...] = ()
    op: str = ""
    number: Number = 0
    whole: bool = False
    ask: Ask | None = None
    pattern: Pattern | None = None
    code: str = ""
    fault: str = ""

    @property
    def slot(self) -> str:
        """The amount that it is about; comparisons of one slot are about the same number."""
        return self.slots[0] if self.slots else ""

    def holds(self, value: Number) -> bool:
        """Whether an amount satisfies the comparison."""
        return _ORDERS[self.op](value, self.number)

    def __str__(self) -> str:
        return f"{'Not ' * self.negated}{self.comparison}"


def leaf(
    comparison: Comparison, negated: bool, match: Matching, node_count: int | None = None
) -> Leaf:
    """A comparison, or its negation, ready to be asked.

    ``node_count`` is how many nodes the request wants, for a set of candidate nodes (4.4).
    """
    item = comparison.item
    try:
        if item.name in AMOUNTS:
            return _of_amount(comparison, negated)
        pattern = _pattern(comparison, match)
        ask = _fact(comparison, pattern, node_count)
        return Leaf(comparison, negated, ask=_negated(ask, negated), pattern=pattern)
    except (_NoMeaning, NotAPattern) as error:
        return Leaf(comparison, negated, code="E-OP", fault=str(error))
    except LimitExceeded as error:
        return Leaf(comparison, negated, code="E-LIMIT", fault=str(error))
    except InvalidValue as error:
        return Leaf(comparison, negated, code="E-TYPE", fault=str(error))


class _NoMeaning(Exception):
    """An operation that says nothing about such a property."""


def _of_amount(comparison: Comparison, negated: bool) -> Leaf:
    item = comparison.item
    if comparison.op == "Match" or "aggregation" in item.attributes:
        raise _NoMeaning(f"{item.name} is a number, which no pattern or list describes")
    meant = inverse(comparison) if negated else comparison
    assert isinstance(meant, Comparison)
    number = units.plain(amount(item))
    return Leaf(
        comparison, negated, slots(item), meant.op, number, whole=item.name in COUNTS
    )  # fmt: skip


def _negated(ask: Ask, negated: bool) -> Ask:
    return (lambda offer: YES - ask(offer)) if negated else ask


def _pattern(comparison: Comparison, match: Matching) -> Pattern | None:
    """The regular expression of a Match or a Pattern."""
    item = comparison.item
    aggregation = item.said("aggregation")
    if comparison.op == "Match" and aggregation in (nodes.LIST, nodes.RANGE):
        raise _NoMeaning(f"Match compares with one pattern, not with a {aggregation}")
    if comparison.op == "Match" or aggregation == nodes.PATTERN:
        return Pattern(item.text.strip(), match)
    return None


def _fact(comparison: Comparison, pattern: Pattern | None, node_count: int | None) -> Ask:
    item, op, name = comparison.item, comparison.op, key(comparison.item)
    if item.said("aggregation"):
        return _bounded(_aggregated(item, op, name, pattern, node_count))
    if pattern is not None:
        matches = pattern.matches
        return _bounded(lambda offer: _any(offer, name, matches))
    if op in ("EQ", "NE"):
        if _is_text(item):
            return _member(name, item.text.strip(), *((YES, NO) if op == "EQ" else (NO, YES)))
        same = _same(item)
        return _negated(lambda offer: _any(offer, name, same), op == "NE")
    if item.name in SETS:
        raise _NoMeaning(f"{op} orders numbers, and {item.name} is a name")
    return _ordered(item, op, name)


def _bounded(ask: Ask) -> Ask:
    """A text that takes a pattern too many steps leaves it unknown; the pattern says which."""

    def in_steps(offer: Offer) -> int:
        try:
            return ask(offer)
        except LimitExceeded:
            return UNKNOWN

    return in_steps


def _any(offer: Offer, name: str, test: Callable[[str], bool]) -> int:
    """Whether one of the offered values passes; several are members of a set."""
    values = offer.names.get(name)
    if values is None:
        return UNKNOWN
    for value in values:
        if test(value):
            return YES
    return NO


def _member(name: str, text: str, found: int, missing: int) -> Ask:
    def ask(offer: Offer) -> int:
        values = offer.names.get(name)
        return UNKNOWN if values is None else found if text in values else missing

    return ask


def _ordered(item: Property, op: str, name: str) -> Ask:
    order, want = _ORDERS[op], _value(item)

    def ask(offer: Offer) -> int:
        values = offer.names.get(name)
        if values is None or len(values) != 1:
            return UNKNOWN  # of several values, none is the one to compare
        have = _offered(item, values[0])
        if isinstance(have, str) != isinstance(want, str):
            return UNKNOWN
        return YES if order(have, want) else NO

    return ask


def _aggregated(
    item: Property, op: str, name: str, pattern: Pattern | None, node_count: int | None
) -> Ask:
    """A List or Range of names, or a Pattern, and how many of them are needed."""
    if op not in ("EQ", "NE", "Match"):
        raise _NoMeaning(f"{op} orders numbers, and {item.name} is a name")
    stated: int | None = None
    if item.name == "Node":
        count = item.attributes.get("count")
        stated = units.integer(count) if count is not None else node_count
        if stated is not None and stated < 1:
            raise InvalidValue(str(stated), "a count of nodes, which is at least 1")
    found = nodes.expand(item) if pattern is None else None
    parts = found.parts if isinstance(found, nodes.Names) else ()
    written = frozenset(part for part in parts if isinstance(part, str))
    spans = tuple(part for part in parts if not isinstance(part, str))
    least: int | None = stated if pattern is None else stated or 1

    def ask(offer: Offer) -> int:
        nonlocal least
        values = offer.names.get(name)
        if values is None:
            return UNKNOWN
        if pattern is not None:
            fitting = frozenset(value for value in values if pattern.matches(value))
        else:
            # A range may stand for a million names, of which none is made for this.
            fitting = written.intersection(values)
            fitting |= {value for value in values if any(value in span for span in spans)}
        if op == "NE":  # none of those named
            return NO if fitting else YES
        if least is None:  # all of them
            assert isinstance(found, nodes.Names)
            least = found.distinct
        return YES if len(fitting) >= least else NO

    return ask


def _is_text(item: Property) -> bool:
    row = spec.element(item.name)
    return row is not None and row.type == spec.STRING and item.name != "Extension"


def _same(item: Property) -> Callable[[str], bool]:
    want = _value(item)
    return lambda text: _offered(item, text) == want


def _offered(item: Property, text: str) -> Value:
    """An offered text by the type of what is requested, or as it is if it has not that type."""
    try:
        return _value(Property(item.name, text))
    except InvalidValue:
        return text


def _value(item: Property) -> Value:
    """By the type of the tables; what they do not type is a number if it reads as one."""
    row = spec.element(item.name)
    if row is not None and item.name != "Extension":
        return item.value
    try:
        return units.number(item.text)
    except InvalidValue:
        return item.text.strip()
