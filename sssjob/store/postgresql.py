"""A store in PostgreSQL, by psycopg 3: for many writers on many machines.

The tables stand in a schema of their own. Writers wait for each other only where they write the
same job; what two of them bring at once becomes one version after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import count
from typing import Any, LiteralString

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from sssjob.errors import BusyStore, DamagedStore, FullStore, UnusableStore
from sssjob.store.cells import KnownCells
from sssjob.store.engine import Row, Sparse, comparable
from sssjob.store.parts import part_of, touching
from sssjob.store.schema import TOUCH, Table, insert, listed
from sssjob.store.sql import POSTGRESQL, SqlDialect, quoted

SCHEMA = "sssjob"
_FEW = 8  # rows up to which statements are faster than COPY
_CURSOR_ROWS = 500  # that a stream fetches at once

_TYPES = {
    "integer": "BIGINT", "number": "DOUBLE PRECISION", "text": 'TEXT COLLATE "C"', "bytes": "BYTEA",
}  # fmt: skip
_BUSY = (
    errors.LockNotAvailable, errors.DeadlockDetected, errors.SerializationFailure,
    errors.UniqueViolation,  # somebody else has taken the same run of an Id
)  # fmt: skip
_FORBIDDEN = (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction)
_DAMAGED = (errors.DataCorrupted, errors.IndexCorrupted)

_WRITERS = 16  # that note what they write to without waiting for each other

Connection = psycopg.Connection[Row]
_CELLS = KnownCells()


class _ReadTransaction:
    """One connection in a transaction that reads."""

    def __init__(self, connection: Connection, address: str) -> None:
        self._connection, self._address = connection, address
        self._names = count()
        self.known: dict[Any, Any] = {}  # another reader asks anew: nobody tells who wrote since

    def fetch(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        """See ``Reader``."""
        return _fetched(self._connection, statement, values, self._address)

    def stream(self, statement: str, values: Sequence[object] = ()) -> Iterator[Row]:
        """See ``Reader``."""
        with self._connection.cursor(name=f"stream{next(self._names)}") as cursor:
            cursor.itersize = _CURSOR_ROWS
            cursor.execute(_marked(statement), comparable(values))
            yield from _CELLS.of(statement, cursor).each_of(cursor, self._address)


class PostgreSQL:
    """The engine of a server."""

    dialect: SqlDialect = POSTGRESQL

    def __init__(self, address: str, *, read_only: bool, patience: float) -> None:
        self.read_only, self.patience = read_only, patience
        self._target = address
        self.address = "postgresql://"
        self._idle: list[Connection] = []
        self._touched: set[int] = set()
        try:
            self.address = _named(address)
            with self._told():
                self._connection = self._connected()
        except (psycopg.ProgrammingError, UnicodeError) as error:
            raise UnusableStore(self.address, f"no address of PostgreSQL: {error}") from error

    def fetch(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        """See ``Engine``."""
        with self._told():
            return _fetched(self._connection, statement, values, self.address)

    def fetch_early(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        """See ``Engine``."""
        with self._told(), self._connection.transaction():
            self._connection.execute("SET LOCAL synchronous_commit = off")
            return _fetched(self._connection, statement, values, self.address)

    def stream(self, statement: str, values: Sequence[object] = ()) -> Iterator[Row]:
        """See ``Engine``."""
        with self.reading() as reader:
            yield from reader.stream(statement, values)

    @contextmanager
    def reading(self) -> Iterator[_ReadTransaction]:
        """See ``Engine``."""
        with self._told():
            connection = self._idle.pop() if self._idle else self._connected()
            try:
                with connection.transaction():
                    connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                    yield _ReadTransaction(connection, self.address)
            finally:
                if not connection.closed:
                    self._idle.append(connection)

    def many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """See ``Engine``."""
        with self._told(), self._connection.cursor() as cursor:
            cursor.executemany(_marked(statement), rows)

    def add(self, table: Table, rows: Sequence[Sequence[object]]) -> None:
        """See ``Engine``."""
        if len(rows) <= _FEW:
            self.many(insert(table), rows)
        else:
            with self._told():
                self._copy(table.name, table.names, rows)

    def add_sparse(self, table: Table, rows: Sequence[Sparse]) -> None:
        """See ``Engine``; to COPY, nothing is a short word."""
        self.add(table, [row.whole(len(table.fields)) for row in rows])

    def add_some(self, table: Table, places: Sequence[int], rows: Iterable[Row]) -> None:
        """See ``Engine``."""
        with self._told():
            self._copy(table.name, tuple(table.names[place] for place in places), rows)

    def add_new(self, table: Table, rows: Sequence[Sequence[object]]) -> set[int]:
        """See ``Engine``; in the order of their keys, so that no two writers wait in a circle."""
        new = f"new_{table.name}"
        with self._told():
            self._connection.execute(_marked(
                f"CREATE TEMPORARY TABLE IF NOT EXISTS {quoted(new)} "
                f"(LIKE {quoted(table.name)}) ON COMMIT DELETE ROWS"
            ))  # fmt: skip
            self._copy(new, table.names, rows)
        added = self.fetch(
            f"INSERT INTO {quoted(table.name)} SELECT * FROM {quoted(new)} "
            f"ORDER BY {listed(table.unique)} ON CONFLICT DO NOTHING RETURNING number"
        )
        self.fetch(f"TRUNCATE {quoted(new)}")
        return {number for (number,) in added}

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """See ``Engine``."""
        try:
            with self._told(), self._connection.transaction():
                yield
                if self._touched:
                    writer = self._connection.info.backend_pid % _WRITERS
                    self.many(TOUCH, touching(self._touched, writer))
        finally:
            self._touched.clear()

    def touch(self, documents: Iterable[int]) -> None:
        """See ``Engine``."""
        self._touched.update(map(part_of, documents))

    def hold(self, key: str, *, shared: bool = False) -> None:
        """See ``Engine``."""
        lock = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
        self.fetch(f"SELECT {lock}(hashtextextended(?, 0))", (key,))

    def hold_all(self, keys: Sequence[str]) -> None:
        """See ``Engine``."""
        self.fetch(
            "SELECT pg_advisory_xact_lock(key) FROM (SELECT DISTINCT hashtextextended(each, 0) "
            "AS key FROM unnest(CAST(? AS text[])) AS each ORDER BY key) AS keys",
            (list(keys),),
        )

    def among(self, column: str, values: Sequence[str] | Sequence[int]) -> tuple[str, object]:
        """See ``Engine``."""
        return f"{quoted(column)} = ANY(?)", list(values)

    def numbers(self, table: Table, count: int) -> Sequence[int]:
        """See ``Engine``."""
        found = self.fetch(
            "SELECT nextval(?::regclass) FROM generate_series(1, ?)",
            (f"{SCHEMA}.{_sequence(table.name)}", count),
        )
        return [number for (number,) in found]

    def locking(self, table: str) -> str:
        """See ``Engine``."""
        return f" FOR UPDATE OF {quoted(table)}"

    def found(self, tables: Sequence[Table]) -> None:
        """See ``Engine``; numbers come from sequences, which no two writers share."""
        self.fetch(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        for table in tables:
            if table.names[0] == "number":
                self.fetch(f"CREATE SEQUENCE IF NOT EXISTS {_sequence(table.name)}")

    def has(self, table: str) -> bool:
        """See ``Engine``; asked of the catalogue itself.

        What ``to_regclass`` says may be older than a lock that was waited for.
        """
        named = "SELECT 1 FROM pg_tables WHERE schemaname = ? AND tablename = ?"
        return bool(self.fetch(named, (SCHEMA, table)))

    def indexes(self) -> set[str]:
        """See ``Engine``."""
        rows = self.fetch("SELECT indexname FROM pg_indexes WHERE schemaname = ?", (SCHEMA,))
        return {name for (name,) in rows}

    def types(self) -> tuple[dict[str, str], str]:
        """See ``Engine``."""
        return _TYPES, ""

    def size(self) -> int:
        """See ``Engine``."""
        [(size,)] = self.fetch(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class "
            "WHERE relnamespace = ?::regnamespace AND relkind = 'r'",
            (SCHEMA,),
        )
        return int(size or 0)

    def damage(self) -> Iterator[str]:
        """See ``Engine``; the server looks after its own files."""
        yield from ()

    def observe(self) -> None:
        """See ``Engine``; without a list, all else in the database is looked at, too."""
        self.fetch(f"ANALYZE {self._tables()}")

    def release(self) -> None:
        """See ``Engine``; the server keeps what was read."""

    def shrink(self) -> None:
        """See ``Engine``; the room is used again, others may go on meanwhile."""
        self.fetch(f"VACUUM (ANALYZE) {self._tables()}")

    def close(self) -> None:
        """See ``Engine``."""
        for connection in (*self._idle, self._connection):
            connection.close()
        self._idle.clear()

    def _tables(self) -> str:
        """All tables of a store, as a list in a statement."""
        named = self.fetch("SELECT tablename FROM pg_tables WHERE schemaname = ?", (SCHEMA,))
        return ", ".join(f"{SCHEMA}.{quoted(str(name))}" for (name,) in named)

    def _copy(self, name: str, columns: tuple[str, ...], rows: Iterable[Sequence[object]]) -> None:
        into = f"COPY {quoted(name)} ({listed(columns)}) FROM STDIN"
        with self._connection.cursor() as cursor, cursor.copy(_marked(into)) as copy:
            for row in rows:
                copy.write_row(row)

    def _connected(self) -> Connection:
        connection = psycopg.connect(
            self._target, autocommit=True, application_name="sssjob", client_encoding="UTF8"
        )
        settings = {
            "search_path": SCHEMA,
            "lock_timeout": f"{round(self.patience * 1000)}ms",
            "default_transaction_read_only": "on" if self.read_only else "off",
        }
        for name, value in settings.items():
            connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        return connection

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What PostgreSQL raises, said in our words."""
        try:
            yield
        except _BUSY as error:
            said = f"others are writing the same: {_first_line(error)}"
            raise BusyStore(self.address, said) from error
        except errors.DiskFull as error:
            raise FullStore(self.address, "no room is left on the server's disk") from error
        except _FORBIDDEN as error:
            raise UnusableStore(self.address, _first_line(error)) from error
        except _DAMAGED as error:
            raise DamagedStore(self.address, _first_line(error)) from error
        except psycopg.OperationalError as error:
            raise UnusableStore(self.address, _first_line(error)) from error


def _named(address: str) -> str:
    """The address without a password."""
    found = {key: str(value) for key, value in conninfo_to_dict(address).items()}
    user = f"{found['user']}@" if "user" in found else ""
    port = f":{found['port']}" if "port" in found else ""
    return f"postgresql://{user}{found.get('host', '')}{port}/{found.get('dbname', '')}"


@lru_cache(256)
def _marked(statement: str) -> LiteralString:
    """A statement of ours with the marks of psycopg; no value ever becomes part of one."""
    return statement.replace("%", "%%").replace("?", "%s")


def _fetched(
    connection: Connection, statement: str, values: Sequence[object], address: str
) -> list[Row]:
    cursor = connection.execute(_marked(statement), comparable(values))
    if not cursor.description:
        return []
    return _CELLS.of(statement, cursor).all_of(cursor.fetchall(), address)


def _sequence(table: str) -> str:
    return f"{table}_number"


def _first_line(error: psycopg.Error) -> str:
    return (str(error).splitlines() or ["lost"])[0]
