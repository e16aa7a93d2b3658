"""Conditions on the columns of a store, as plain values that know nothing of SQL text.

XPath and Where are both turned into these, and each engine turns these into SQL with parameters
(``sql``). They know two truth values: a test of an absent value is false, and its Not is true.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

Plain = str | int | float


class Op(StrEnum):
    """A comparison, by the name that it has in Where and in Requested (SSS 8.1)."""

    EQ = "EQ"
    NE = "NE"
    LT = "LT"
    LE = "LE"
    GT = "GT"
    GE = "GE"

    @property
    def mirrored(self) -> Op:
        """The same comparison with its sides exchanged."""
        return _MIRRORED.get(self, self)


_MIRRORED = {Op.LT: Op.GT, Op.GT: Op.LT, Op.LE: Op.GE, Op.GE: Op.LE}


@dataclass(frozen=True, slots=True)
class Compare:
    """A column against a value of its type: text by code points, numbers as numbers."""

    column: str
    op: Op
    value: Plain


@dataclass(frozen=True, slots=True)
class Relate:
    """One column against another of the same type in the same row, and so much more (numbers)."""

    column: str
    op: Op
    other: str
    plus: float = 0


@dataclass(frozen=True, slots=True)
class CompareSum:
    """The sum of columns of numbers against a number; false where one of them is absent."""

    columns: tuple[str, ...]
    op: Op
    value: float


@dataclass(frozen=True, slots=True)
class Present:
    """A column that has a value."""

    column: str


@dataclass(frozen=True, slots=True)
class Prefix:
    """A text column that begins with a text; an index on the column helps."""

    column: str
    text: str


@dataclass(frozen=True, slots=True)
class Holds:
    """A text column that has a text somewhere inside."""

    column: str
    text: str


@dataclass(frozen=True, slots=True)
class Like:
    """A whole text column against a pattern: ``*`` is any text, ``?`` any character."""

    column: str
    pattern: str


@dataclass(frozen=True, slots=True)
class LikeUpper:
    """A whole text column in capital letters (of ASCII for certain) against such a pattern."""

    column: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Bits:
    """An integer column that has one of the bits of a mask set."""

    column: str
    mask: int


@dataclass(frozen=True, slots=True)
class And:
    """All parts hold; without parts, true."""

    parts: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Or:
    """One part holds; without parts, false."""

    parts: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: Condition


Condition = (
    Compare
    | Relate
    | CompareSum
    | Present
    | Prefix
    | Holds
    | Like
    | LikeUpper
    | Bits
    | And
    | Or
    | Not
)

TRUE = And()
FALSE = Or()


def all_of(*parts: Condition) -> Condition:
    """Every part, as short as it can be said.

    >>> all_of(TRUE, Present("user"), TRUE)
    Present(column='user')
    """
    flat = _flat(And, parts)
    return FALSE if FALSE in flat else flat[0] if len(flat) == 1 else And(flat)


def any_of(*parts: Condition) -> Condition:
    """One of the parts, as short as it can be said."""
    flat = _flat(Or, parts)
    return TRUE if TRUE in flat else flat[0] if len(flat) == 1 else Or(flat)


def none_of(part: Condition) -> Condition:
    """The opposite, as short as it can be said."""
    if part == TRUE:
        return FALSE
    if part == FALSE:
        return TRUE
    return part.part if isinstance(part, Not) else Not(part)


def columns(condition: Condition) -> frozenset[str]:
    """The names of the columns that a condition asks."""
    match condition:
        case And(parts) | Or(parts):
            return frozenset().union(*map(columns, parts))
        case Not(part):
            return columns(part)
        case Relate(column, _, other, _):
            return frozenset((column, other))
        case CompareSum(names):
            return frozenset(names)
    return frozenset((condition.column,))


def _flat(kind: type[And] | type[Or], parts: tuple[Condition, ...]) -> tuple[Condition, ...]:
    flat: list[Condition] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, kind) else (part,))
    return tuple(dict.fromkeys(flat))
