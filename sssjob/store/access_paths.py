"""How the rows of a plan are reached: by which statement, after a look at what a store has.

What no row has need not be asked for: texts of several nodes, rows that are odd, deleted, or of
one reading only, and job groups. And SQLite, which guesses how many rows an index leaves, is told
to use one where it leaves few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from sssjob.store import columns
from sssjob.store.bounds import PredicateBounds
from sssjob.store.columns import GROUP, KIND, READING, SEPARATOR, USUAL
from sssjob.store.condition import (
    FALSE,
    TRUE,
    And,
    Compare,
    Condition,
    Holds,
    Like,
    Not,
    Op,
    Or,
    Prefix,
    all_of,
    any_of,
    none_of,
)
from sssjob.store.condition import columns as asked_columns
from sssjob.store.engine import ReadTransaction, Row
from sssjob.store.facts import in_several
from sssjob.store.plan import Level, QueryPlan, reading
from sssjob.store.sql import Sql, SqlDialect, quoted, sql

_FEW = 20  # an index helps as long as it leaves less than one row in so many
_DELETED = "deleted"
_SHOWN = Compare(_DELETED, Op.EQ, 0)
_NO_GROUP = Compare(KIND, Op.NE, GROUP)
_LEADING = frozenset(names[0] for names in columns.INDEXES)


@dataclass(frozen=True)
class Access:
    """The rows of a plan as they are asked for.

    ``bounds`` are those of the plan without what no row has; ``doubt`` is None where no row is
    odd. ``shown`` are the rows of this reading that are not deleted. ``by_index`` is whether the
    order of the store is made afterwards. What is made of it once is kept, since programs ask the
    same query again and again.
    """

    how: QueryPlan
    bounds: PredicateBounds
    doubt: Condition | None
    shown: Condition
    by_index: bool
    dialect: SqlDialect

    @cached_property
    def reads_all(self) -> bool:
        """Whether every document is read."""
        return self.how.level is Level.NOTHING

    @cached_property
    def is_certain(self) -> bool:
        """Whether every row is an answer."""
        return self.doubt is None and self.bounds.is_exact

    @cached_property
    def only_documents_know(self) -> bool:
        """Whether no row is an answer by its columns."""
        return self.bounds.sure == FALSE

    @cached_property
    def texts(self) -> Sql | None:
        """The texts of all answers, in the order of the store, where columns have all of them."""
        if not self.is_certain or self.how.texts is None:
            return None
        return self._in_order(quoted(self.how.texts))

    @cached_property
    def candidates(self) -> Condition:
        """The rows that may be an answer."""
        maybe = self.bounds.maybe
        return all_of(maybe if self.doubt is None else any_of(maybe, self.doubt), self.shown)

    def statement(self, what: str) -> Sql:
        """The candidates in the order of the store: document, whether certain, and a column."""
        if what not in self._statements:
            self._statements[what] = self._stated(quoted(what) if what else "NULL")
        return self._statements[what]

    def aggregates(self, what: str) -> Sql:
        """One row about all rows that are an answer."""
        rows = self._from(all_of(self.bounds.maybe, self.shown))
        return Sql(f"SELECT {what} {rows.text}", rows.values)

    @cached_property
    def _statements(self) -> dict[str, Sql]:
        return {}

    def _stated(self, column: str) -> Sql:
        certain = self._certain()
        if self.doubt is None:
            found = self._in_order(f"document, {certain.text}, {column}")
            return Sql(found.text, (*certain.values, *found.values))
        # Odd rows are asked for on their own, so that each part has an index to go by.
        plain = self._from(all_of(self.bounds.maybe, self.shown, none_of(self.doubt)))
        odd = sql(all_of(self.doubt, self.shown), self.dialect)
        return Sql(
            f"SELECT document, {certain.text}, {column}, place {plain.text} "
            f"UNION ALL SELECT document, 0, NULL, place FROM job WHERE {odd.text} ORDER BY 1, 4",
            (*certain.values, *plain.values, *odd.values),
        )

    def _in_order(self, columns_: str) -> Sql:
        rows = self._from(all_of(self.bounds.maybe, self.shown))
        order = "+document, +place" if self.by_index else "document, place"
        return Sql(f"SELECT {columns_} {rows.text} ORDER BY {order}", rows.values)

    def _from(self, condition: Condition) -> Sql:
        """The rows that meet a condition; found by what an index alone can tell, if that is much.

        SQLite fetches the row of every entry of an index before it looks for a text inside.
        """
        plain = sql(condition, self.dialect)
        told = next(filter(_is_told_by_index, _parts(self.bounds.maybe)), None)
        if told is None or not self.by_index:
            return Sql(f"FROM job WHERE {plain.text}", plain.values)
        parts = [sql(part, self.dialect) for part in _alternatives(told)]
        few = " UNION ".join(f"SELECT document AS one FROM job WHERE {part.text}" for part in parts)
        return Sql(
            f"FROM ({few}) AS few CROSS JOIN job ON document = one WHERE {plain.text}",
            (*(value for part in parts for value in part.values), *plain.values),
        )

    def _certain(self) -> Sql:
        if self.bounds.is_exact:
            return Sql("1")
        if self.only_documents_know:
            return Sql("0")
        text, values = sql(self.bounds.sure, self.dialect)
        return Sql(f"CASE WHEN {text} THEN 1 ELSE 0 END", values)


@dataclass(frozen=True, slots=True)
class StoreMoment:
    """One moment of a store, of which is asked what it has."""

    reader: ReadTransaction
    dialect: SqlDialect

    def access(self, how: QueryPlan, *, effective: bool) -> Access:
        """How to reach the rows of a plan."""
        bounds = how.bounds.replaced(lambda each: _replaced(each, self._simpler))
        shown = []
        if self._has_unusual(READING):
            shown.append(reading(effective=effective))
        if self._has_unusual(_DELETED):
            shown.append(_SHOWN)
        doubt = how.doubt if self._has(how.doubt) else None
        by_index = self.dialect.guesses and self._is_selective(bounds.maybe)
        return Access(how, bounds, doubt, all_of(*shown), by_index, self.dialect)

    def _simpler(self, part: Condition) -> Condition:
        """A part of a condition, in this store."""
        if part == _NO_GROUP and not self._has_unusual(KIND, f" AND kind = '{GROUP}'"):
            return TRUE
        if isinstance(part, Prefix) and part.text.startswith(SEPARATOR):
            is_quick = part.column in _LEADING
            if is_quick and not self._once(part.column, lambda: self._has(in_several(part.column))):
                return FALSE
        return part

    def _has_unusual(self, column: str, more: str = "") -> bool:
        condition = f"{quoted(column)} > {USUAL[column]}{more}"
        return self._once(condition, lambda: self._any(Sql(condition)))

    def _has(self, condition: Condition) -> bool:
        return self._any(sql(condition, self.dialect))

    def _any(self, where: Sql) -> bool:
        return bool(
            self.reader.fetch(f"SELECT 1 FROM job WHERE {where.text} LIMIT 1", where.values)
        )

    def _once(self, what: str, ask: Callable[[], bool]) -> bool:
        known = self.reader.known
        if what not in known:
            known[what] = ask()
        return bool(known[what])

    def _is_selective(self, condition: Condition) -> bool:
        """Whether an index that leaves few rows serves one part that all rows have to meet."""
        served = list(filter(_is_served, _parts(condition)))
        if any(isinstance(part, Compare) and part.op is Op.EQ for part in served):
            return True
        return any(self._leaves_few(part) for part in served)

    def _leaves_few(self, part: Condition) -> bool:
        [(last,)] = self.reader.fetch("SELECT max(document) FROM job")
        most = (last or 0) // _FEW
        text, values = sql(part, self.dialect)
        counted = f"SELECT count(*) FROM (SELECT 1 FROM job WHERE {text} LIMIT ?) AS few"
        [(found,)] = self.reader.fetch(counted, (*values, most + 1))
        return bool(found <= most)


def one(reader: ReadTransaction, statement: Sql) -> Row:
    """The one row that a statement gives."""
    [row] = reader.fetch(statement.text, statement.values)
    return row


def _parts(condition: Condition) -> Iterator[Condition]:
    """The parts that all rows have to meet."""
    yield from condition.parts if isinstance(condition, And) else (condition,)


def _alternatives(part: Condition) -> tuple[Condition, ...]:
    return part.parts if isinstance(part, Or) else (part,)


def _is_told_by_index(part: Condition) -> bool:
    """Whether the entries of one index decide it, a text inside of a column included."""
    names = asked_columns(part)
    looks_inside = any(isinstance(each, Holds | Like) for each in _leaves(part))
    return looks_inside and len(names) == 1 and names <= _LEADING and _is_served(part)


def _leaves(condition: Condition) -> Iterator[Condition]:
    if isinstance(condition, And | Or):
        for part in condition.parts:
            yield from _leaves(part)
    else:
        yield condition


def _is_served(part: Condition) -> bool:
    """Whether an index gives the rows that meet it."""
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


def _replaced(condition: Condition, change: Callable[[Condition], Condition]) -> Condition:
    """The condition with every part changed that has no parts."""
    match condition:
        case And(parts):
            return all_of(*(_replaced(part, change) for part in parts))
        case Or(parts):
            return any_of(*(_replaced(part, change) for part in parts))
        case Not(part):
            return none_of(_replaced(part, change))
    return change(condition)
