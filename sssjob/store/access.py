"""How the rows of a plan are reached: by which statement, after a look at what a store has.

What no row has need not be asked for: texts of several nodes, and rows that are odd. And SQLite,
which guesses how many rows an index saves, is told to use one where it saves most.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from sssjob.store import columns
from sssjob.store.columns import SEPARATOR
from sssjob.store.condition import (
    FALSE,
    And,
    Compare,
    Condition,
    Not,
    Op,
    Or,
    Prefix,
    all_of,
    any_of,
    none_of,
)
from sssjob.store.engine import Reader, Row
from sssjob.store.plan import Plan, reading
from sssjob.store.proof import Bounds
from sssjob.store.sql import Dialect, Sql, quoted, sql

SHOWN = Compare("deleted", Op.EQ, 0)
_FEW = 20  # an index helps as long as it leaves less than one row in so many

_LEADING = frozenset(names[0] for names in columns.INDEXES)


class Access(NamedTuple):
    """The rows of a plan as they are asked for.

    ``bounds`` are those of the plan without what no row has; ``doubt`` is None where no row is
    odd. ``by_index`` is whether the order of the store is made afterwards.
    """

    bounds: Bounds
    doubt: Condition | None
    by_index: bool

    @property
    def is_certain(self) -> bool:
        """Whether every row is an answer."""
        return self.doubt is None and self.bounds.is_exact


def access(reader: Reader, dialect: Dialect, how: Plan) -> Access:
    """How to reach the rows of a plan, by what this moment of a store has."""
    lonely = frozenset(
        name
        for name in _repeated(how.bounds.maybe) | _repeated(how.bounds.sure)
        if name in _LEADING and not _any(reader, dialect, Prefix(name, SEPARATOR))
    )
    bounds = Bounds(*(_without(each, lonely) for each in how.bounds))
    doubt = how.doubt if _any(reader, dialect, how.doubt) else None
    return Access(bounds, doubt, dialect.guesses and _is_selective(reader, dialect, bounds.maybe))


@lru_cache(256)
def statement(way: Access, what: str, effective: bool, dialect: Dialect) -> Sql:
    """The candidates in the order of the store: document, whether it is certain, and a column."""
    shown = all_of(reading(effective=effective), SHOWN)
    sure, maybe = way.bounds
    column = quoted(what) if what else "NULL"
    if way.is_certain:
        certain = Sql("1")
    elif sure == FALSE:
        certain = Sql("0")
    else:
        text, values = sql(sure, dialect)
        certain = Sql(f"CASE WHEN {text} THEN 1 ELSE 0 END", values)
    doubt = none_of(way.doubt) if way.doubt else And()
    plain = sql(all_of(maybe, shown, doubt), dialect)
    order = "+document, +place" if way.by_index else "document, place"
    select = f"SELECT document, {certain.text}, {column}"
    if way.doubt is None:
        return Sql(
            f"{select} FROM job WHERE {plain.text} ORDER BY {order}",
            (*certain.values, *plain.values),
        )
    # Odd rows are asked for on their own, so that each part has an index to go by.
    odd = sql(all_of(way.doubt, shown), dialect)
    return Sql(
        f"{select}, place FROM job WHERE {plain.text} "
        f"UNION ALL SELECT document, 0, NULL, place FROM job WHERE {odd.text} ORDER BY 1, 4",
        (*certain.values, *plain.values, *odd.values),
    )


def candidates(way: Access, effective: bool) -> Condition:
    """The rows that may be an answer."""
    doubtful = way.bounds.maybe if way.doubt is None else any_of(way.bounds.maybe, way.doubt)
    return all_of(doubtful, reading(effective=effective), SHOWN)


def fetched(
    reader: Reader, dialect: Dialect, select: str, condition: Condition, effective: bool
) -> Row:
    """One row of aggregates over all rows that meet a condition."""
    where = sql(all_of(condition, reading(effective=effective), SHOWN), dialect)
    [row] = reader.fetch(f"SELECT {select} FROM job WHERE {where.text}", where.values)
    return row


def _any(reader: Reader, dialect: Dialect, condition: Condition) -> bool:
    text, values = sql(condition, dialect)
    return bool(reader.fetch(f"SELECT 1 FROM job WHERE {text} LIMIT 1", values))


def _is_selective(reader: Reader, dialect: Dialect, condition: Condition) -> bool:
    """Whether an index that leaves few rows serves one part that all rows have to meet."""
    parts = condition.parts if isinstance(condition, And) else (condition,)
    served = [part for part in parts if _is_served(part)]
    if not served:
        return False
    if any(isinstance(part, Compare) and part.op is Op.EQ for part in served):
        return True
    [(last,)] = reader.fetch("SELECT max(document) FROM job")
    most = (last or 0) // _FEW
    for part in served:
        text, values = sql(part, dialect)
        counted = f"SELECT count(*) FROM (SELECT 1 FROM job WHERE {text} LIMIT ?) AS few"
        [(found,)] = reader.fetch(counted, (*values, most + 1))
        if found <= most:
            return True
    return False


def _is_served(part: Condition) -> bool:
    match part:
        case Compare(column, op) if op is not Op.NE:
            return column in _LEADING
        case Prefix(column):
            return column in _LEADING
        case Or(parts):
            return bool(parts) and all(map(_is_served, parts))
        case And(parts):
            return any(map(_is_served, parts))
    return False


def _repeated(condition: Condition) -> frozenset[str]:
    """The columns that are asked for texts of several nodes."""
    match condition:
        case And(parts) | Or(parts):
            return frozenset().union(*map(_repeated, parts))
        case Not(part):
            return _repeated(part)
        case Prefix(column, text) if text.startswith(SEPARATOR):
            return frozenset((column,))
    return frozenset()


def _without(condition: Condition, lonely: frozenset[str]) -> Condition:
    """The condition in a store where no row has several texts in these columns."""
    match condition:
        case And(parts):
            return all_of(*(_without(part, lonely) for part in parts))
        case Or(parts):
            return any_of(*(_without(part, lonely) for part in parts))
        case Not(part):
            return none_of(_without(part, lonely))
        case Prefix(column, text) if column in lonely and text.startswith(SEPARATOR):
            return FALSE
    return condition
