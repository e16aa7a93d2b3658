"""Comparisons of what stands at a path, as XPath 1.0 makes them, from the columns of a row.

Strategy. A node set compares as true when one of its nodes does; text is compared with ``=`` and
``!=`` only, all else is a comparison of numbers, and functions of a node set look at its first
node. A row keeps less than the nodes: all texts in one column, or the lowest number and the
highest. Each comparison is one method here that asks these columns, and gives bounds where they
do not decide it.

Why it is right: in a row that is not odd at the path, a column of text has the texts of all
nodes, in order; the columns of numbers have those of all nodes, since a third number or a text
that is no number makes the row odd; and without a node they are empty. Each method argues from
that alone. For this to be enough, everything it gives rests on the path: bounds are made by
``between`` and ``exactly``, which name it, also where the answer is always or never. What has no
column is bounded by the node above it, and rests on that one's path.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from math import isnan, ulp

from sssjob.store import columns
from sssjob.store.bounds import UNKNOWN, PredicateBounds, between, exactly
from sssjob.store.columns import SEPARATOR, Says
from sssjob.store.condition import (
    FALSE,
    TRUE,
    Compare,
    Condition,
    Holds,
    Op,
    Prefix,
    Present,
    Relate,
    all_of,
    any_of,
    none_of,
)
from sssjob.store.rows import number

_UP = (Op.GT, Op.GE)
_EQUALITY = (Op.EQ, Op.NE)
_EXACT = 2**53  # whole numbers up to here are doubles
_ROUNDED = 8  # units in the last place, by which two readings of a text differ at most


@dataclass(frozen=True, slots=True)
class PathColumns:
    """The columns of one path: of text, of numbers, or of neither if it has none."""

    path: str

    def between(self, sure: Condition, maybe: Condition) -> PredicateBounds:
        """What is said of the nodes at this path: it rests on the path."""
        return between(sure, maybe, frozenset((self.path,)))

    def exactly(self, condition: Condition) -> PredicateBounds:
        """The same where columns decide it."""
        return self.between(condition, condition)

    @property
    def text(self) -> str | None:
        """The column of string values."""
        return columns.column(self.path, Says.TEXT)

    @property
    def low(self) -> str | None:
        """The column of the number, or of the lowest of several."""
        return columns.column(self.path, Says.LOW)

    @property
    def high(self) -> str | None:
        """The column of the highest of several numbers, where several are usual."""
        return columns.column(self.path, Says.HIGH)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns of numbers: together they have those of all nodes, where no row is odd."""
        return tuple(filter(None, (self.low, self.high)))

    @property
    def is_single(self) -> bool:
        """Whether its number is that of the only node, where the row is not odd."""
        return len(self.numbers) == 1

    @property
    def count(self) -> str | None:
        """The column that counts the nodes."""
        return columns.column(self.path, Says.COUNT)

    @property
    def exists(self) -> PredicateBounds:
        """Whether there is a node."""
        if self.count:
            return self.exactly(Compare(self.count, Op.GT, 0))
        column = self.text or self.low
        if column:
            return self.exactly(Present(column))
        above = self.path.rpartition("/")[0]
        return PathColumns(above).exists.possible if above else UNKNOWN

    @property
    def is_one(self) -> PredicateBounds:
        """Whether there is no second number beside a number."""
        return self.exactly(none_of(Present(self.high)) if self.high else TRUE)

    def compared(self, op: Op, value: str | float) -> PredicateBounds:
        """The node set against a literal."""
        if isinstance(value, str) and op in _EQUALITY:
            return self._text(op, value)
        wanted = number(value) if isinstance(value, str) else value
        if isnan(wanted):
            return self.exists if op is Op.NE else self._never
        if self.numbers:
            return self.exactly(self._ranged(op, wanted))
        return self.exists.possible

    def related(self, op: Op, other: PathColumns) -> PredicateBounds:
        """The node set against another one: true when one pair of nodes compares so."""
        both = (self.exists & other.exists).possible
        if self.numbers and other.numbers:
            if op in _EQUALITY:
                pairs = _pairs(self.numbers, op, other.numbers)
                equal = op is Op.EQ  # as texts, see below
                return between(
                    FALSE if equal else pairs, pairs if equal else both.maybe, both.paths
                )  # fmt: skip
            mine = self.numbers if op in _UP else self.numbers[:1]
            theirs = other.numbers[:1] if op in _UP else other.numbers
            return exactly(_pairs(mine, op, theirs), both.paths)
        if self.text and other.text and op in _EQUALITY:
            several = all_of(both.maybe, any_of(in_several(self.text), in_several(other.text)))
            relation = Relate(self.text, op, other.text)
            sure = relation if op is Op.EQ else all_of(relation, none_of(several))
            return between(sure, any_of(relation, several), both.paths)
        return both

    def string(self, value: str) -> PredicateBounds:
        """Whether ``string()`` of the node set, which is that of its first node, is a text."""
        if self.text:
            first = Prefix(self.text, f"{SEPARATOR}{value}{SEPARATOR}")
            found = any_of(Compare(self.text, Op.EQ, value), first)
            return self.exactly(found if value else any_of(found, none_of(Present(self.text))))
        if self.low and not value:
            return ~self.exists  # no number is an empty text
        return self.compared(Op.EQ, value) if value else UNKNOWN

    def begins(self, value: str) -> PredicateBounds:
        """Whether the first node begins with a text; where there is no node, "" does."""
        if not value:
            return self._always
        if self.text:
            several = Prefix(self.text, f"{SEPARATOR}{value}")
            return self.exactly(any_of(Prefix(self.text, value), several))
        return self.exists.possible

    def contains(self, value: str) -> PredicateBounds:
        """Whether the first node has a text in it; where there is no node, "" is."""
        if not value:
            return self._always
        if self.text:
            holds = Holds(self.text, value)
            return self.between(all_of(none_of(in_several(self.text)), holds), holds)
        return self.exists.possible

    def number(self, op: Op, value: float) -> PredicateBounds:
        """``number()`` of the node set, which is that of its first node, against a number."""
        if isnan(value):
            return self._always if op is Op.NE else self._never
        if not self.numbers:
            return UNKNOWN if op is Op.NE else self.exists.possible
        found = self.exactly(self._ranged(op, value))
        bounds = self.between((found & self.is_one).sure, found.maybe)
        # Where there is no node, the number is NaN: different from every number.
        return bounds | ~self.exists if op is Op.NE else bounds

    def counted(self, op: Op, value: float) -> PredicateBounds:
        """``count()`` of the node set against a number."""
        if self.count:
            if isnan(value):
                return self._always if op is Op.NE else self._never
            return self.exactly(Compare(self.count, op, value))
        none, one, two, more = (_holds(float(count), op, value) for count in (0, 1, 2, 1e15))
        found = ~self.exists if none else self._never
        if one and two and more and _is_even(op, value):
            return found | self.exists
        if self.text:
            several = in_several(self.text)
            if one:
                found |= self.exists & self.exactly(none_of(several))
            if two and more and _is_even(op, value):
                return found | self.exactly(several)
            possible = two or more or (op is Op.EQ and value >= 2)
            return found | self.between(FALSE, several) if possible else found
        if self.is_single:
            return found | self.exists if one else found  # several are odd
        if self.high:
            found |= self.exists & self.is_one if one else self._never
            return found | ~self.is_one if two else found  # three are odd
        return found | self.exists.possible

    def bytes(self, op: Op, value: float) -> PredicateBounds:
        """An amount in bytes, that of the first node, against a number."""
        column = columns.column(self.path, Says.BYTES)
        if not column or isnan(value):
            return UNKNOWN
        found = self.exactly(Compare(column, op, value))
        if op is Op.NE:
            found |= ~self.exists  # NaN is different from every number
        return found | (self.exists & ~self.exactly(Present(column))).possible

    @property
    def _always(self) -> PredicateBounds:
        return self.exactly(TRUE)

    @property
    def _never(self) -> PredicateBounds:
        return self.exactly(FALSE)

    @property
    def several(self) -> PredicateBounds:
        """Whether there is more than one node."""
        if self.count:
            return self.exactly(Compare(self.count, Op.GT, 1))
        if self.text:
            return self.exactly(in_several(self.text))
        if self.numbers:  # a second one is the higher one, or makes the row odd
            return self.exactly(Present(self.high) if self.high else FALSE)
        return self.exists.possible

    def sorted(self, op: Op, value: str) -> PredicateBounds:
        """Whether the text of a node stands before or behind another one, as XPath 2.0 asks."""
        if not self.text:
            return self.exists.possible
        several = in_several(self.text)
        one = all_of(none_of(several), Compare(self.text, op, value))
        return self.between(one, any_of(one, several))

    def measured(self, op: Op, value: float | Decimal) -> PredicateBounds:
        """The numbers against a number, as XPath 2.0 reads texts: rounded in another way.

        Columns have what XPath 1.0 makes of a text. Where the row is not odd, that is a whole
        number where XPath 2.0 has the same one, and lies between the same two elsewhere (``rows``).
        """
        if not self.numbers or not -_EXACT <= value <= _EXACT:
            return self.exists.possible
        near = float(value)
        if near == value and near.is_integer():
            return self.exactly(self._ranged(op, near))
        low, high = near - _ROUNDED * ulp(near), near + _ROUNDED * ulp(near)
        if op is Op.EQ:
            pairs = (all_of(Compare(each, Op.GE, low), Compare(each, Op.LE, high))
                     for each in self.numbers)  # fmt: skip
            return self.between(FALSE, any_of(*pairs))
        below, above = self._ranged(Op.LT, low), self._ranged(Op.GT, high)
        if op is Op.NE:
            return self.between(any_of(below, above), self.exists.maybe)
        sure = above if op in _UP else below
        maybe = self._ranged(Op.GE, low) if op in _UP else self._ranged(Op.LE, high)
        return self.between(sure, maybe)

    def _ranged(self, op: Op, value: float) -> Condition:
        """Whether one of the numbers compares so; the lowest is the first to be below."""
        numbers = self.numbers if op in (*_UP, *_EQUALITY) else self.numbers[:1]
        return any_of(*(Compare(column, op, value) for column in numbers))

    def _text(self, op: Op, value: str) -> PredicateBounds:
        if self.text and op is Op.EQ:
            inside = Holds(self.text, f"{SEPARATOR}{value}{SEPARATOR}")
            several = all_of(in_several(self.text), inside)
            return self.exactly(any_of(Compare(self.text, op, value), several))
        if self.text:
            return self.sorted(op, value)
        wanted = number(value)
        if not self.numbers:
            return self.exists.possible
        if isnan(wanted):  # and every node is a number
            return self.exists if op is Op.NE else self._never
        numbers = self._ranged(op, wanted)
        # Equal numbers may be written differently; different ones are.
        equal = op is Op.EQ
        return self.between(FALSE if equal else numbers, numbers if equal else self.exists.maybe)


def in_several(column: str) -> Condition:
    """A text column that holds the texts of several nodes."""
    return Prefix(column, SEPARATOR)


def _pairs(mine: tuple[str, ...], op: Op, theirs: tuple[str, ...]) -> Condition:
    return any_of(*(Relate(one, op, other) for one in mine for other in theirs))


def _holds(one: float, op: Op, other: float) -> bool:
    return {
        Op.EQ: one == other, Op.NE: one != other, Op.LT: one < other,
        Op.LE: one <= other, Op.GT: one > other, Op.GE: one >= other,
    }[op]  # fmt: skip


def _is_even(op: Op, value: float) -> bool:
    """Whether a comparison that holds for 2 and for very many nodes holds for all between."""
    return op is not Op.NE or value < 2
