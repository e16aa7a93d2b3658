"""Cells of a store's tables: each is of the type that its column was declared with, or is damage.

SQLite keeps values of any type in any column, so that a few changed bytes make a text of a number.
Engines look at what they read in one place, so that nothing above them meets such a cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, repeat
from typing import Any, Protocol

from sssjob.errors import DamagedStore
from sssjob.store import schema

Row = tuple[Any, ...]
Shape = tuple[type, ...]

_SAID: dict[type, str] = {
    int: "a whole number", float: "a number", str: "a text", bytes: "bytes", type(None): "nothing",
}  # fmt: skip
_OF = {schema.INTEGER: int, schema.NUMBER: float, schema.TEXT: str, schema.BYTES: bytes}
_TABLES = re.compile(r'\b(?:FROM|JOIN|INTO|UPDATE)\s+"?(\w+)')
_INNER = re.compile(r"\([^()]*\)")
# What SQLite calls a column that is not named otherwise, where it is made of one of a table.
_MADE_OF = re.compile(r'(?:min|max|sum)\("?(?:\w+\.)?"?(\w+)"?\)')
_TOGETHER, _LARGE = 256, 16  # rows that are looked at at once, and those with whole documents
_STATEMENTS = 1000  # that are known at once
_SHAPES = 1000  # of rows that are known to be right; a job's row has any of its columns or not


class RowCursor(Protocol):
    """A cursor that has rows."""

    def fetchmany(self, size: int, /) -> list[Row]:
        """The next rows, so many at most."""
        ...

    def __iter__(self) -> Iterator[Row]:
        """One after the other."""
        ...


class StatementColumns(Protocol):
    """A cursor that knows the columns of what it was asked."""

    @property
    def description(self) -> Sequence[Sequence[Any]] | None:
        """Their names, each with more; None where there are none."""
        ...


class Cells:
    """What the rows of one statement have: a type for each column that is one of a table."""

    __slots__ = ("_is_known", "_last", "_right", "_size", "_types")

    def __init__(self, columns: Sequence[tuple[str, frozenset[type]]]) -> None:
        self._types = columns
        self._is_known = any(types for _, types in columns)
        self._size = _LARGE if any(bytes in types for _, types in columns) else _TOGETHER
        self._right: set[Shape] = set()
        self._last: list[type] = []  # of the row before, which most are like

    def all_of(self, rows: list[Row], address: str) -> list[Row]:
        """The rows. Raises ``DamagedStore`` where a cell is of another type."""
        if len(rows) == 1:  # as who looks for one document asks
            if tuple(map(type, rows[0])) not in self._right:
                self._look(rows[0], address)
        elif self._is_known and list(map(type, chain.from_iterable(rows))) != self._last * len(
            rows
        ):
            for row in rows:
                if tuple(map(type, row)) not in self._right:
                    self._look(row, address)
            self._last = [*map(type, rows[-1])]
        return rows

    def each_of(self, rows: RowCursor, address: str) -> Iterator[Row]:
        """The same for what a cursor has, some rows at a time."""
        if not self._is_known:
            return iter(rows)
        some = iter(partial(rows.fetchmany, self._size), [])
        return chain.from_iterable(map(self.all_of, some, repeat(address)))

    def _look(self, row: Row, address: str) -> None:
        for cell, (name, types) in zip(row, self._types, strict=True):
            if types and type(cell) not in types:
                said = f"a cell of the column {name} holds {_SAID.get(type(cell), 'other things')}"
                meant = " or ".join(sorted(_SAID[each] for each in types))
                raise DamagedStore(address, f"{said}, where {meant} stands")
        if len(self._right) < _SHAPES:
            self._right.add(tuple(map(type, row)))


class KnownCells:
    """What the rows of the statements of an engine have, which are asked again and again."""

    def __init__(self) -> None:
        self._known: dict[str, Cells] = {}

    def of(self, statement: str, cursor: StatementColumns) -> Cells:
        """What a statement gives, by the names that the database has given its columns."""
        found = self._known.get(statement)
        if found is None:
            if len(self._known) >= _STATEMENTS:
                self._known.clear()
            names = [str(column[0]) for column in cursor.description or ()]
            found = self._known[statement] = cells(statement, names)
        return found


def cells(statement: str, names: Sequence[str]) -> Cells:
    """What the rows of a statement have, whose columns are called so."""
    if statement.startswith("EXPLAIN"):  # its columns are called like some of ours
        return Cells([(name, frozenset()) for name in names])
    return Cells([(name, _types(name, statement)) for name in names])


def only(rows: Sequence[Row], address: str, what: str) -> Row:
    """The one row that there has to be. Raises ``DamagedStore``."""
    if len(rows) != 1:
        raise DamagedStore(address, f"{what} is not in its table")
    return rows[0]


def _types(name: str, statement: str) -> frozenset[type]:
    """The types of a column of what a statement gives; none where it is of no table."""
    made = _MADE_OF.fullmatch(name)
    wanted = made[1] if made else name
    found = next(filter(None, (_fields(wanted, some) for some in _places(wanted, statement))), [])
    is_made = bool(made and found) and "GROUP BY" not in statement  # a sum of no rows is nothing
    lacks = is_made or any(field.optional for field in found)
    return frozenset([*(_OF[field.type] for field in found), *[type(None)] * lacks])


def _places(name: str, statement: str) -> Iterator[Iterable[str]]:
    """The tables in which a column may be, those that come first before the others."""
    outer, all_ = _outer(statement), _TABLES.findall(statement)
    said = re.search(rf'(\w+)\."?{re.escape(name)}\b', outer.partition(" FROM ")[0])
    if said:
        table = re.search(rf"(\w+) AS {said[1]}\b", outer)
        yield [table[1]] if table else {*all_} - {*_TABLES.findall(outer)}
    else:
        yield _TABLES.findall(outer)
    yield all_


def _fields(name: str, tables: Iterable[str]) -> list[schema.Field]:
    known = filter(None, map(schema.known, tables))
    return [field for table in known for field in table.fields if field.name == name]


def _outer(statement: str) -> str:
    """A statement without the questions in it."""
    while (shorter := _INNER.sub("", statement)) != statement:
        statement = shorter
    return statement
