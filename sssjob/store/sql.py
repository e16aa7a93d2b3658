"""Conditions as SQL with parameters, for both engines. No value ever becomes SQL text."""

from __future__ import annotations

from typing import NamedTuple

from sssjob.store.condition import (
    And,
    Bits,
    Compare,
    CompareSum,
    Condition,
    Holds,
    Like,
    LikeUpper,
    Not,
    Op,
    Or,
    Plain,
    Prefix,
    Present,
    Relate,
)
from sssjob.units import YEAR_9999


class SqlDialect(NamedTuple):
    """How an engine says what SQL leaves to it.

    Text columns have the collation BINARY in SQLite and "C" in PostgreSQL: both go by code points.
    """

    mark: str
    place: str  # of one text in another, counted from 1; 0 when it is not there
    like: str
    wildcards: tuple[tuple[str, str], ...]  # a character of a pattern, and how it is written
    whole: str  # a number without fraction
    month: str  # of a time in seconds since 1970, as 2026-11 in UTC; NULL where it has no date
    floor: str  # the greatest whole number that is not above one from the year 1 on
    guesses: bool = False  # whether it chooses indexes without knowing how many rows they leave


_EARLY = 1_000_000  # days and more before 1970: CAST cuts towards 0

# fmt: off
SQLITE     = SqlDialect("?",  "instr({0}, {1})",  "{0} GLOB {1}",
                     (("[", "[[]"),), "{0} = CAST({0} AS INTEGER)",
                     "strftime('%Y-%m', {0}, 'unixepoch')",
                     f"(CAST({{0}} + {_EARLY} AS INTEGER) - {_EARLY})", guesses=True)
POSTGRESQL = SqlDialect("?",  "strpos({0}, {1})", "{0} LIKE {1} ESCAPE '!'",
                     (("!", "!!"), ("%", "!%"), ("_", "!_"), ("*", "%"), ("?", "_")),
                     "{0} = trunc({0})",
                     f"CASE WHEN {{0}} BETWEEN -62135596800 AND {YEAR_9999} THEN "
                     "to_char(to_timestamp({0}) AT TIME ZONE 'UTC', 'YYYY-MM') END", "floor({0})")
DUCKDB     = SqlDialect("?",  "instr({0}, {1})",  "{0} GLOB {1}",
                     (("[", "[[]"),), "{0} = trunc({0})",
                     f"CASE WHEN {{0}} BETWEEN -62135596800 AND {YEAR_9999} THEN "
                     "strftime(make_timestamp(CAST(floor({0}) AS BIGINT) * 1000000), '%Y-%m') END",
                     "floor({0})")

_SIGNS = {Op.EQ: "=", Op.NE: "<>", Op.LT: "<", Op.LE: "<=", Op.GT: ">", Op.GE: ">="}
# fmt: on
_LAST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)  # numbers that are no characters


class Sql(NamedTuple):
    """SQL text, and the values of its marks in order."""

    text: str
    values: tuple[Plain, ...] = ()


def sql(condition: Condition, dialect: SqlDialect, table: str = "") -> Sql:
    """A condition as SQL that is true or not; ``table`` is the name or alias before each column.

    >>> sql(Compare("user", Op.EQ, "amy"), SQLITE)
    Sql(text='"user" = ?', values=('amy',))
    """
    values: list[Plain] = []
    prefix = f"{quoted(table)}." if table else ""

    def name(column: str) -> str:
        return prefix + quoted(column)

    def mark(value: Plain) -> str:
        values.append(value)
        return dialect.mark

    def text(part: Condition) -> str:
        match part:
            case Compare(column, op, value):
                return f"{name(column)} {_SIGNS[op]} {mark(value)}"
            case Relate(column, op, other, plus):
                more = f" + {mark(plus)}" if plus else ""
                return f"{name(column)} {_SIGNS[op]} {name(other)}{more}"
            case CompareSum(columns, op, value):
                return f"{' + '.join(map(name, columns))} {_SIGNS[op]} {mark(value)}"
            case Present(column):
                return f"{name(column)} IS NOT NULL"
            case Prefix(column, start):
                end = after(start)
                low = f"{name(column)} >= {mark(start)}"
                return low if end is None else f"({low} AND {name(column)} < {mark(end)})"
            case Holds(column, inner):
                return f"{dialect.place.format(name(column), mark(inner))} > 0"
            case Like(column, pattern):
                return dialect.like.format(name(column), mark(_written(pattern, dialect)))
            case LikeUpper(column, pattern):
                value = mark(_written(pattern, dialect))
                return dialect.like.format(f"upper({name(column)})", value)
            case Bits(column, mask):
                # "> 0" is what the partial index on the column has.
                return f"({name(column)} > 0 AND ({name(column)} & {mark(mask)}) <> 0)"
            case And(parts):
                return f"({' AND '.join(map(text, parts))})" if parts else "1 = 1"
            case Or(parts):
                return f"({' OR '.join(map(text, parts))})" if parts else "1 = 0"
            case Not(inner_part):
                return f"({text(inner_part)}) IS NOT TRUE"

    return Sql(text(condition), tuple(values))


def quoted(name: str) -> str:
    """A name of a table or column as SQL has it; names are ours, and this keeps it so."""
    if not name.replace("_", "").isalnum():
        raise ValueError(f"{name!r} is no name of a table or column")
    return f'"{name}"'


def after(text: str) -> str | None:
    """The first text behind all those that begin with this one; None when there is none.

    >>> after("PBS.")
    'PBS/'
    """
    while text:
        last = ord(text[-1]) + 1
        last = _SURROGATES.stop if last in _SURROGATES else last
        if last <= _LAST:
            return text[:-1] + chr(last)
        text = text[:-1]
    return None


def _written(pattern: str, dialect: SqlDialect) -> str:
    table = dict(dialect.wildcards)
    return "".join(table.get(character, character) for character in pattern)
