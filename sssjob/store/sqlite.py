"""A store in one file, by SQLite: the default, with nothing to install.

The write-ahead log lets readers read while one writer writes; a killed process leaves whole
transactions only. A commit waits for the disk, because what a gateway has answered must stay.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

from sssjob import database_files
from sssjob.database_files import APPLICATION, OTHER, InheritedStore, OpenFile
from sssjob.errors import BusyStore, DamagedStore, FullStore, UnusableStore
from sssjob.json_text import why
from sssjob.store.cells import KnownCells
from sssjob.store.engine import Row, Sparse, comparable
from sssjob.store.parts import part_of, touching
from sssjob.store.schema import TOUCH, Table, insert
from sssjob.store.sql import SQLITE, SqlDialect, quoted

_CELLS = KnownCells()
PATIENCE = 60.0  # seconds to wait for other writers
_CACHE = 32 << 10  # KiB of pages that are kept in memory
_SHAPES = 50  # of rows; with more, statements would be made again and again
# What it says where it cannot make the files of a log, or where those that were left are not ours.
_NO_LOG = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_PAUSE = 0.01  # seconds between two tries where SQLite does not wait by itself
_SAFE = "PRAGMA synchronous = FULL"  # a commit waits for the disk
# Of a table that has few rows now and many later it would be known for good that to read all of it
# costs no more than to look for one row: a join would read it for each row of the other table.
_MANY = 100
_INHERITED = (
    "was open in the process that this one is a copy of (fork), whose locks it has not: "
    "have the process start anew (spawn), or open the store behind the copy only"
)
_ANY_TABLE = "SELECT 1 FROM sqlite_master LIMIT 1"

_TYPES = {"integer": "INTEGER", "number": "REAL", "text": "TEXT", "bytes": "BLOB"}
_SMALL = " WITHOUT ROWID"


def memory_used() -> int | None:
    """Bytes that SQLite holds in this process, pages and statements of all connections.

    None where its library does not say.
    """
    import _sqlite3  # what few ask for
    import ctypes

    library = ctypes.CDLL(getattr(_sqlite3, "__file__", None))  # and those that it needs
    tells = getattr(library, "sqlite3_memory_used", None)
    if tells is None:
        return None
    tells.restype = ctypes.c_int64
    return int(tells())


class _KnownConnection(sqlite3.Connection):
    """A connection of which ``database_files`` knows that it has the file open."""

    file: OpenFile | None = None

    def close(self) -> None:
        """End it."""
        super().close()
        file, self.file = self.file, None
        if file is not None:
            file.closed()

    def __del__(self) -> None:
        if self.file is not None:  # a store that nobody closed
            self.close()


class _ReadTransaction:
    """One connection; its block is a transaction that reads.

    No generator makes the block, since a point lookup has but a few microseconds.
    """

    def __init__(self, engine: SQLite, connection: sqlite3.Connection) -> None:
        self._engine, self._connection = engine, connection
        self._version = 0
        self.known: dict[Any, Any] = {}

    def __enter__(self) -> _ReadTransaction:
        """Hold this moment of the store; what was known of another one is forgotten."""
        with self._engine.told:
            self._connection.execute("BEGIN")
            [version] = self._connection.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            self._version = version
            self.known.clear()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        """Let the moment go."""
        self._connection.rollback()
        self._engine.idle.append(self)
        if isinstance(error, sqlite3.Error | UnicodeDecodeError):
            raise self._engine.fault(error) from error

    @property
    def connection(self) -> sqlite3.Connection:
        """What reads."""
        return self._connection

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def fetch(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        """See ``Reader``."""
        return _fetched(self._connection, statement, values, self._engine.address)

    def stream(self, statement: str, values: Sequence[object] = ()) -> Iterator[Row]:
        """See ``Reader``."""
        cursor = self._connection.execute(statement, comparable(values))
        return _CELLS.of(statement, cursor).each_of(cursor, self._engine.address)


# What it says of values that were never written: texts that are no UTF-8, sums beyond 64 bits.
_DAMAGE = ("Could not decode to UTF-8", "integer overflow")


class _ErrorsTold:
    """A block in which what SQLite raises is said in our words."""

    __slots__ = ("_engine",)

    def __init__(self, engine: SQLite) -> None:
        self._engine = engine

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if isinstance(error, sqlite3.Error | UnicodeDecodeError):
            raise self._engine.fault(error) from error


class SQLite:
    """The engine of a file."""

    dialect: SqlDialect = SQLITE

    def __init__(
        self, path: Path, *, create: bool, read_only: bool, patience: float = PATIENCE,
        address: str = "",
    ) -> None:  # fmt: skip
        self.path, self.read_only, self.patience = path, read_only, patience
        self.address = address or str(path)
        if path.exists() and not path.is_file():  # SQLite would leave its log beside a device
            raise UnusableStore(self.address, "no regular file, as a store is")
        is_new = not path.exists() or path.stat().st_size == 0
        if is_new and not create:
            what = "an empty file, no store" if path.exists() else "no such store"
            raise UnusableStore(self.address, what)
        self._immutable = False
        self.told = _ErrorsTold(self)
        self.idle: list[_ReadTransaction] = []
        self._touched: set[int] = set()
        with self.told:
            self._connection = self._connected()
            try:
                if create and not read_only:
                    self._begin()
                if self._pragma("application_id") != APPLICATION:
                    raise UnusableStore(self.address, f"{OTHER}, no store of job objects")
            except BaseException:
                self._connection.close()
                raise

    def fetch(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        """See ``Engine``."""
        with self.told:
            return _fetched(self._connection, statement, values, self.address)

    def fetch_early(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        """See ``Engine``; the log is still forced to disk before it goes into the file."""
        self.fetch("PRAGMA synchronous = NORMAL")
        try:
            return self.fetch(statement, values)
        finally:
            self.fetch(_SAFE)

    def stream(self, statement: str, values: Sequence[object] = ()) -> Iterator[Row]:
        """See ``Engine``."""
        with self.reading() as reader:
            yield from reader.stream(statement, values)

    def reading(self) -> _ReadTransaction:
        """See ``Engine``; connections for it are kept, because a new one knows no pages yet."""
        if self.idle:
            return self.idle.pop()
        with self.told:
            return _ReadTransaction(self, self._connected())

    def many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """See ``Engine``."""
        with self.told:
            self._connection.executemany(statement, rows)

    def add(self, table: Table, rows: Sequence[Sequence[object]]) -> None:
        """See ``Engine``."""
        self.many(insert(table), rows)

    def add_sparse(self, table: Table, rows: Sequence[Sparse]) -> None:
        """See ``Engine``; in the order of the rows, of which many behind each other are alike."""
        shapes = {row.places for row in rows}
        if len(shapes) > _SHAPES:
            self.add(table, [row.whole(len(table.fields)) for row in rows])
            return
        statements = {places: insert(table, places) for places in shapes}
        for places, alike in groupby(rows, itemgetter(0)):
            self.many(statements[places], [row.values for row in alike])

    def add_some(self, table: Table, places: Sequence[int], rows: Iterable[Row]) -> None:
        """See ``Engine``."""
        self.many(insert(table, places), rows)

    def add_new(self, table: Table, rows: Sequence[Sequence[object]]) -> set[int]:
        """See ``Engine``; there is one writer at a time, so nobody was first."""
        self.add(table, rows)
        return {int(str(row[0])) for row in rows}

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """See ``Engine``."""
        with self.told:
            self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            if self._touched:
                self.many(TOUCH, touching(self._touched, 0))
            with self.told:
                self._connection.execute("COMMIT")
        finally:
            self._touched.clear()
            if self._connection.in_transaction:
                with self.told:
                    self._connection.execute("ROLLBACK")

    def touch(self, documents: Iterable[int]) -> None:
        """See ``Engine``."""
        self._touched.update(map(part_of, documents))

    def hold(self, key: str, *, shared: bool = False) -> None:
        """See ``Engine``; the transaction itself keeps all other writers waiting."""

    def hold_all(self, keys: Sequence[str]) -> None:
        """See ``Engine``; the transaction itself keeps all other writers waiting."""

    def among(self, column: str, values: Sequence[str] | Sequence[int]) -> tuple[str, object]:
        """See ``Engine``."""
        return f"{quoted(column)} IN (SELECT value FROM json_each(?))", json.dumps(values)

    def numbers(self, table: Table, count: int) -> Sequence[int]:
        """See ``Engine``."""
        [(last,)] = self.fetch(f'SELECT max("number") FROM {quoted(table.name)}')
        return range((last or 0) + 1, (last or 0) + 1 + count)

    def locking(self, table: str) -> str:
        """See ``Engine``."""
        return ""

    def found(self, tables: Sequence[Table]) -> None:
        """See ``Engine``; nothing is needed."""

    def has(self, table: str) -> bool:
        """See ``Engine``."""
        return bool(self.fetch("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)))

    def indexes(self) -> set[str]:
        """See ``Engine``."""
        return {
            name for (name,) in self.fetch("SELECT name FROM sqlite_master WHERE type = 'index'")
        }

    def types(self) -> tuple[dict[str, str], str]:
        """See ``Engine``."""
        return _TYPES, _SMALL

    def size(self) -> int:
        """See ``Engine``; the log that was not yet moved into the file counts too."""
        files = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def observe(self) -> None:
        """See ``Engine``."""
        self.fetch("PRAGMA analysis_limit = 1000")
        for (name,) in self.fetch("SELECT name FROM sqlite_master WHERE type = 'table'"):
            table = quoted(str(name))
            if len(self.fetch(f"SELECT 1 FROM {table} LIMIT {_MANY}")) == _MANY:
                self.fetch(f"ANALYZE {table}")

    def damage(self) -> Iterator[str]:
        """See ``Engine``."""
        try:
            for (line,) in self.fetch("PRAGMA integrity_check"):
                if line != "ok":
                    yield str(line)
        except DamagedStore as error:
            yield error.reason

    def release(self) -> None:
        """See ``Engine``; the system still has the pages of the file."""
        with self.told:
            for connection in (self._connection, *(each.connection for each in self.idle)):
                connection.execute("PRAGMA shrink_memory")

    def shrink(self) -> None:
        """See ``Engine``."""
        self.fetch("VACUUM")
        self.fetch("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """See ``Engine``."""
        for reader in self.idle:
            reader.close()
        self.idle.clear()
        self._connection.close()

    def _begin(self) -> None:
        """Make a database that is empty a store, which others may be doing at the same time."""
        if self._pragma("application_id") != APPLICATION:
            if self._pragma("application_id") or self._connection.execute(_ANY_TABLE).fetchone():
                return
            self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
        until = time.monotonic() + self.patience
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                # SQLite itself does not wait for others who are about to do the same.
                if _code(error) not in _LOCKED or time.monotonic() > until:
                    raise
                time.sleep(_PAUSE)

    def _connected(self) -> sqlite3.Connection:
        connection = self._open()
        try:
            self._settle(connection)
        except sqlite3.Error as error:
            connection.close()
            # A log cannot be opened where nothing may be written, and then nobody writes to it.
            if _code(error) not in _NO_LOG or not self._is_unwritable():
                raise
            if self._has_log():
                said = "has changes in its log (-wal) that only who may write beside it can read"
                raise UnusableStore(self.address, said) from error
            self._immutable = True
            connection = self._open()
            self._settle(connection)
        return connection

    def _open(self) -> sqlite3.Connection:
        mode = "mode=ro" if self.read_only else "mode=rwc"
        mode += "&immutable=1" if self._immutable else ""
        with database_files.guard:
            connection = sqlite3.connect(
                f"file:{quote(os.fsencode(self.path.absolute()))}?{mode}", uri=True,
                timeout=self.patience, isolation_level=None, check_same_thread=False,
                factory=_KnownConnection,
            )  # fmt: skip
            try:
                connection.file = OpenFile(self.path)
            except InheritedStore as error:
                connection.close()
                raise UnusableStore(self.address, _INHERITED) from error
            return connection

    def _settle(self, connection: sqlite3.Connection) -> None:
        connection.execute(_SAFE)
        connection.execute(f"PRAGMA cache_size = -{_CACHE}")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()

    def _is_unwritable(self) -> bool:
        return self.read_only and self.path.exists() and not os.access(self.path.parent, os.W_OK)

    def _has_log(self) -> bool:
        """Whether changes are in a log, which who does not look at it would not see."""
        log = self.path.with_name(f"{self.path.name}-wal")
        return log.exists() and log.stat().st_size > 0

    def _pragma(self, name: str) -> Any:
        return self._connection.execute(f"PRAGMA {name}").fetchone()[0]

    def fault(self, error: sqlite3.Error | UnicodeDecodeError) -> Exception:
        """What SQLite raises, in our words."""
        # Its texts, and what it quotes of them in messages, are UTF-8 as they were written.
        if isinstance(error, UnicodeDecodeError):
            return DamagedStore(self.address, f"the file is damaged: {why(error)}")
        if any(each in str(error) for each in _DAMAGE):
            return DamagedStore(self.address, f"the file is damaged: {error}")
        match _code(error):
            case code if code in _LOCKED:
                said = f"locked by another process for more than {self.patience:g} seconds"
                return BusyStore(self.address, said)
            case sqlite3.SQLITE_FULL:
                return FullStore(self.address, "no room is left on the disk")
            case sqlite3.SQLITE_READONLY:
                return UnusableStore(self.address, "may only be read, not written")
            case sqlite3.SQLITE_CANTOPEN:
                return UnusableStore(self.address, "cannot be opened")
            case sqlite3.SQLITE_NOTADB:
                return UnusableStore(self.address, "no store, nor any other database")
            case sqlite3.SQLITE_CORRUPT:
                return DamagedStore(self.address, f"the file is damaged: {error}")
            case sqlite3.SQLITE_IOERR:
                return FullStore(self.address, f"the disk cannot be read or written: {error}")
        return error


def _fetched(
    connection: sqlite3.Connection, statement: str, values: Sequence[object], address: str
) -> list[Row]:
    cursor = connection.execute(statement, comparable(values))
    return _CELLS.of(statement, cursor).all_of(cursor.fetchall(), address)


def _code(error: sqlite3.Error) -> int:
    """The primary code of SQLite; extended ones keep it in their lowest byte."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
