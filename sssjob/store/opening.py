"""Opening a store: where it is, whether it is one, and of which version."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from os import PathLike
from pathlib import Path

from sssjob import atomic, outputs
from sssjob.addresses import POSTGRESQL, SQLITE
from sssjob.errors import DamagedStore, OtherStore, UnusableStore
from sssjob.store import columns, schema
from sssjob.store.engine import Engine
from sssjob.store.sql import quoted
from sssjob.store.sqlite import PATIENCE, SQLite

_DIGITS = 9  # of a version
_BESIDE = ("-journal", "-wal", "-shm")  # what SQLite adds to the name of a file


def engine(
    target: str | PathLike[str], *, create: bool, read_only: bool, patience: float = PATIENCE
) -> Engine:
    """The engine of a path, of ``sqlite:PATH``, or of ``postgresql://...``."""
    if isinstance(target, str) and target.startswith(POSTGRESQL):
        require_library(target)
        from sssjob.store.postgresql import PostgreSQL

        return PostgreSQL(target, read_only=read_only, patience=patience)
    path = Path(target.removeprefix(SQLITE) if isinstance(target, str) else target)
    if create and not read_only:
        if os.path.lexists(path):
            outputs.end_second_names(path)
        else:
            _make(path, patience)
    return SQLite(path, create=create, read_only=read_only, patience=patience)


def require_library(target: str) -> None:
    """Raise ``UnusableStore`` where a store is in PostgreSQL, and nothing here connects to it."""
    if target.startswith(POSTGRESQL):
        try:
            import psycopg  # noqa: F401
        except ImportError as error:  # or the library of PostgreSQL below it
            said = f"PostgreSQL needs psycopg: pip install 'sssjob[postgresql]' ({error})"
            raise UnusableStore("postgresql://", said) from error


def _make(path: Path, patience: float) -> None:
    """Make a file a store before it gets its name, so that it is there whole or not at all.

    Somebody else may be faster; then that one's store stays. What is left by who was killed here
    goes with the next one who makes or opens it.
    """
    try:
        with outputs.Aside(path, _BESIDE) as name:
            hidden = Path(name)
            made = SQLite(
                hidden, create=True, read_only=False, patience=patience, address=str(path)
            )
            try:
                prepare(made)
                made.fetch("PRAGMA wal_checkpoint(TRUNCATE)")  # all of it into this one file
            finally:
                made.close()
            with suppress(FileExistsError):
                _name(hidden, path)
    except OSError as error:
        raise UnusableStore(str(path), f"cannot be made: {error.strerror}") from error


def _name(hidden: Path, path: Path) -> None:
    """Give a file its name for good. Raises ``FileExistsError`` where there is one so named."""
    try:
        os.link(hidden, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if path.exists():
            raise FileExistsError(path) from None
        hidden.rename(path)
    atomic.force_names(path.parent)


def prepare(engine: Engine) -> None:
    """Make the tables of a store that has none yet."""
    if engine.has(schema.SETTING.name):
        return
    types, suffix = engine.types()
    with engine.transaction():
        engine.hold("tables")
        if engine.has(schema.SETTING.name):  # somebody else was faster
            return
        engine.found(schema.tables())
        for table in schema.tables():
            engine.fetch(schema.create(table, types, suffix if table.is_small else ""))
        engine.add(schema.SETTING, list(settings().items()))


def settings() -> dict[str, str]:
    """What a new store says of itself: the version of its tables, and the columns of its rows."""
    names = " ".join(f"{column.name}:{column.kind}" for column in columns.COLUMNS)
    return {"version": str(schema.VERSION), "columns": names}


def stated(engine: Engine) -> dict[str, str]:
    """What a store says of itself: ``settings`` and what was set since.

    Raises ``OtherStore`` unless it has the tables of this version of sssjob.
    """
    if not engine.has(schema.SETTING.name):
        raise UnusableStore(engine.address, "no store; sssjob store init makes one")
    found: dict[str, str] = dict(engine.fetch("SELECT name, value FROM setting"))
    version = version_of(engine, found.get("version", "0"))
    if version > schema.VERSION:
        said = (
            f"a store of version {version}, made by a newer sssjob; "
            f"this one knows versions up to {schema.VERSION}"
        )
        raise OtherStore(engine.address, said)
    if version < schema.VERSION or found.get("columns") != settings()["columns"]:
        said = "made by an older sssjob; sssjob store upgrade makes it ready for this one"
        raise OtherStore(engine.address, said, can_upgrade=True)
    return found


def version_of(engine: Engine, text: str) -> int:
    """The version that a store says that it has. Raises ``DamagedStore``."""
    if not (text.isascii() and text.isdecimal() and len(text) <= _DIGITS):
        raise DamagedStore(engine.address, f"its version is {text!r}, and no number")
    return int(text)


def state(engine: Engine, name: str, value: str) -> None:
    """Set one thing that a store says of itself."""
    with engine.transaction():
        engine.hold("settings")
        engine.fetch("DELETE FROM setting WHERE name = ?", (name,))
        engine.add(schema.SETTING, [(name, value)])


def make_indexes(engine: Engine) -> None:
    """Make the indexes of the rows that are missing.

    A store without them answers the same, later. So an import that was killed leaves nothing to
    repair: whoever opens the store for writing next makes them.
    """
    if _indexes().keys() <= engine.indexes():
        return
    with engine.transaction():
        engine.hold("indexes")
        there = engine.indexes()
        for name, statement in sorted(_indexes().items()):
            if name not in there:
                engine.fetch(statement)


def drop_indexes(engine: Engine) -> None:
    """Take the indexes away for as long as many rows are added.

    Those of each table by themselves: who holds the locks of one and waits for another can meet
    somebody who reads both in another order.
    """
    for table in schema.tables():
        with engine.transaction():
            engine.hold("indexes")
            for name in _indexes_of(table):
                engine.fetch(f"DROP INDEX IF EXISTS {quoted(name)}")


@cache
def _indexes() -> Mapping[str, str]:
    """The statements that make them, by name."""
    return {name: made for table in schema.tables() for name, made in _indexes_of(table).items()}


def _indexes_of(table: schema.Table) -> Mapping[str, str]:
    found = {}
    for names in table.indexes:
        found[schema.index_name(table, names)] = schema.create_index(table, names)
    for name in table.sparse:
        found[schema.index_name(table, (name,))] = schema.create_sparse_index(table, name)
    return found
