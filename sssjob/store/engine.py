"""What a store asks of the database below it: statements, transactions, and a few differences.

Statements are written with ``?`` for each value. An engine belongs to one thread at a time; every
process, and every thread that works at the same time, opens its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol, TypeVar

from sssjob.errors import BusyStore
from sssjob.store.schema import Table
from sssjob.store.sql import SqlDialect

T = TypeVar("T")
Row = tuple[Any, ...]
_NO_TEXT = re.compile("[\0\ud800-\udfff]")  # what a database refuses in texts
_TRIES = 5  # for a change that stood in the way of another writer's


def tried(change: Callable[[], T], forget: Callable[[], None]) -> T:
    """What a change gives, which is tried again where others were first.

    ``forget`` takes back what it left in memory. Raises ``BusyStore`` where others always were.
    """
    left = _TRIES
    while True:
        try:
            return change()
        except BusyStore:
            forget()
            left -= 1
            if not left:
                raise


def comparable(values: Sequence[object]) -> tuple[object, ...]:
    """Values that documents are looked for by, as a database takes them.

    A letter that it refuses, and that no document has, becomes another one that no document has.
    """
    return tuple(
        _NO_TEXT.sub("\uffff", value) if isinstance(value, str) else value for value in values
    )


class Sparse(NamedTuple):
    """A row of a table of which most columns have no value: which have one, and the values.

    Databases are slow in being told that there is nothing. Rows of one shape share their places.
    """

    places: tuple[int, ...]
    values: Row

    def whole(self, size: int) -> Row:
        """The row with all its columns, which are so many."""
        row: list[Any] = [None] * size
        for place, value in zip(self.places, self.values, strict=True):
            row[place] = value
        return tuple(row)


class ReadTransaction(Protocol):
    """What one moment of a store gives to several statements, whatever is written meanwhile."""

    known: dict[Any, Any]  # what was found out about the store, for as long as nobody writes

    def fetch(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        """What a statement gives, all of it."""
        ...

    def stream(self, statement: str, values: Sequence[object] = ()) -> Iterator[Row]:
        """The same row by row."""
        ...


class CountedIn(Protocol):
    """What jobs are counted in: a store's engine, or a summary of it."""

    @property
    def dialect(self) -> SqlDialect:
        """How it says what SQL leaves to it."""
        ...

    def reading(self) -> AbstractContextManager[ReadTransaction]:
        """One moment, to be read with as many statements as it takes."""
        ...


class Engine(Protocol):
    """One connection to one database; every fault is an ``UnusableStore``."""

    address: str  # what messages call the store; never with a password
    read_only: bool
    dialect: SqlDialect

    def fetch(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        """What a statement gives, all of it; an empty list if it gives nothing."""
        ...

    def fetch_early(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        """The same for a change of its own that power may take back: no disk is waited for."""
        ...

    def stream(self, statement: str, values: Sequence[object] = ()) -> Iterator[Row]:
        """The same row by row, of one moment, whatever is written while it is read."""
        ...

    def reading(self) -> AbstractContextManager[ReadTransaction]:
        """One moment of the store, to be read with as many statements as it takes."""
        ...

    def many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """One statement for many rows of values."""
        ...

    def add(self, table: Table, rows: Sequence[Sequence[object]]) -> None:
        """Many new rows of a table."""
        ...

    def add_sparse(self, table: Table, rows: Sequence[Sparse]) -> None:
        """The same for rows of which most columns have no value."""
        ...

    def add_some(self, table: Table, places: Sequence[int], rows: Iterable[Row]) -> None:
        """The same for rows that have values in the same places, and nothing in the others."""
        ...

    def add_new(self, table: Table, rows: Sequence[Sequence[object]]) -> set[int]:
        """New rows except those that somebody else added first, and the numbers of those added."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """All that is written in the block, or nothing of it."""
        ...

    def touch(self, documents: Iterable[int]) -> None:
        """Note, inside a transaction, that the rows of documents are written (see ``parts``).

        It is written last, in one order by all, so that no two writers wait in a circle.
        """
        ...

    def hold(self, key: str, *, shared: bool = False) -> None:
        """Keep other transactions that hold the same key waiting until this one ends.

        Those that hold it ``shared`` wait for none of each other.
        """
        ...

    def hold_all(self, keys: Sequence[str]) -> None:
        """Hold many keys, in an order that is the same for all transactions."""
        ...

    def among(self, column: str, values: Sequence[str] | Sequence[int]) -> tuple[str, object]:
        """A condition that a column has one of many values, and the one value for its mark."""
        ...

    def numbers(self, table: Table, count: int) -> Sequence[int]:
        """Numbers that no row of the table has, for new ones; inside a transaction."""
        ...

    def locking(self, table: str) -> str:
        """What ends a SELECT so that its rows of a table stay until the transaction ends."""
        ...

    def found(self, tables: Sequence[Table]) -> None:
        """Make what the database needs before there are tables, if it is not there."""
        ...

    def has(self, table: str) -> bool:
        """Whether there is a table of this name."""
        ...

    def indexes(self) -> set[str]:
        """The names of the indexes that are there."""
        ...

    def types(self) -> tuple[dict[str, str], str]:
        """What the types of a column are called, and what ends a small table."""
        ...

    def size(self) -> int:
        """How many bytes the store takes."""
        ...

    def observe(self) -> None:
        """Look at how the values lie, so that questions are answered by the right index."""
        ...

    def damage(self) -> Iterator[str]:
        """What the database itself finds wrong with what it keeps."""
        ...

    def release(self) -> None:
        """Give back memory in which what was read is kept; only the caller uses the connection."""
        ...

    def shrink(self) -> None:
        """Give back the room that nothing uses any more."""
        ...

    def close(self) -> None:
        """End the connection; what was not committed is lost."""
        ...
