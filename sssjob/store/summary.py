"""The columns that jobs are counted by, of a large store, kept side by side in memory.

Strategy. A row of a store has two hundred columns, and to count a million of them reads all. Here
the thirty columns that filters, facets and dashboards ask are copied once, by a process of their
own, into a table of DuckDB, which keeps each column by itself. What asks it are the same
conditions and statements that ask the store, in DuckDB's words (``sql.DUCKDB``).

A summary is of one moment of the store and never changes: ``moment_of`` tells whether the store
has gone on since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sssjob import store
from sssjob.errors import UnusableStore
from sssjob.store.browsing import FACETS, SEARCHED, SUSPENDED, USUAL, columns_of
from sssjob.store.columns import COLUMNS, KIND, ODD, PLACE, READING, ColumnType
from sssjob.store.condition import Condition, columns
from sssjob.store.engine import ReadTransaction, Row
from sssjob.store.schema import listed
from sssjob.store.sql import DUCKDB, SqlDialect

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

_ROWS = 50_000  # of one piece, which is held in memory
_MEMORY = "2GB"  # of a summary; a million jobs take about 200 MB
_ALWAYS = ("document", "deleted", KIND, PLACE, READING, ODD)
_NUMBERS = ("start", "nodes", "processors", "memory", "wall")
_OTHERS = ("cpu_duration", SUSPENDED)


def names() -> tuple[str, ...]:
    """The columns that are kept: all that the table shows usually, and what charts are made of."""
    shown = {*USUAL, *FACETS, *_NUMBERS}
    kept = {each for name in shown for each in columns_of(name)} | {*SEARCHED, *_OTHERS}
    known = tuple(each.name for each in COLUMNS)
    return (*_ALWAYS, *(name for name in known if name in kept and name not in _ALWAYS))


class Built(NamedTuple):
    """A file of columns, and the last change of the store that they have."""

    path: str
    change: int


def moment_of(reading: ReadTransaction) -> int:
    """The number of the last change of a store."""
    [(found,)] = reading.fetch("SELECT max(number) FROM change")
    return int(found or 0)


def builder() -> Callable[[tuple[str, str]], Built]:
    """What a process is asked for: the columns of the store at an address, written to a file."""
    return lambda asked: build(*asked)


def build(address: str, path: str) -> Built:
    """Write the columns of a store to a file. Raises ``UnusableStore``."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kept = names()
    kinds = {column.name: column.kind for column in COLUMNS}
    types = {
        ColumnType.TEXT: pa.string(), ColumnType.NUMBER: pa.float64(),
        ColumnType.INTEGER: pa.int64(),
    }  # fmt: skip
    fields = pa.schema([(name, types[kinds.get(name, ColumnType.INTEGER)]) for name in kept])
    with store.open(address, read_only=True) as jobs, jobs.engine.reading() as reading:
        change = moment_of(reading)
        rows = reading.stream(f"SELECT {listed(kept)} FROM job WHERE deleted = 0")
        with pq.ParquetWriter(path, fields, compression="zstd") as writer:
            while batch := list(islice(rows, _ROWS)):
                made = zip(fields, zip(*batch, strict=True), strict=True)
                arrays = [pa.array(values, field.type) for field, values in made]
                writer.write_batch(pa.record_batch(arrays, schema=fields))
    return Built(path, change)


class Summary:
    """The columns of a file, in memory: asked by several threads at once, changed by nobody."""

    dialect: SqlDialect = DUCKDB

    def __init__(self, built: Built, at: float) -> None:
        """``at`` is when it was begun, in seconds since 1970. Raises ``UnusableStore``."""
        import duckdb

        self.change, self.at = built.change, at
        self._names = frozenset(names())
        self._known: dict[Any, Any] = {}
        self._fault = duckdb.Error
        self._connection: Connection = duckdb.connect()
        ask = self._connection.execute
        try:
            for setting, value in (
                ("autoinstall_known_extensions", False), ("autoload_known_extensions", False),
                ("enable_progress_bar", False), ("threads", 1), ("memory_limit", _MEMORY),
                ("disabled_optimizers", "filter_pushdown"),  # decision 296
            ):  # fmt: skip
                ask(f"SET {setting} = $1", [value])
            self._connection.read_parquet(str(Path(built.path))).create("job")
            ask("SET enable_external_access = false")
            ask("SET lock_configuration = true")
        except duckdb.Error as error:
            self._connection.close()
            raise UnusableStore("summary", str(error)) from None

    def has(self, where: Condition, *others: str) -> bool:
        """Whether it has the columns that a condition asks, and others."""
        return columns(where) | {*others} <= self._names

    @contextmanager
    def reading(self) -> Iterator[ReadTransaction]:
        """See ``CountedIn``. Raises ``UnusableStore``."""
        cursor = self._connection.cursor()
        try:
            yield _SummaryReader(cursor, self._known)
        except self._fault as error:
            raise UnusableStore("summary", str(error)) from None
        finally:
            cursor.close()

    def close(self) -> None:
        """Give the memory back."""
        self._connection.close()


class _SummaryReader:
    """See ``ReadTransaction``."""

    def __init__(self, cursor: Connection, known: dict[Any, Any]) -> None:
        self._cursor, self.known = cursor, known

    def fetch(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        return self._cursor.execute(statement, [*values]).fetchall()

    def stream(self, statement: str, values: Sequence[object] = ()) -> Iterator[Row]:
        self._cursor.execute(statement, [*values])
        while some := self._cursor.fetchmany(_ROWS):
            yield from some
