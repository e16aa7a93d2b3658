"""DuckDB over the files of a ledger: a connection with views of the rows that count.

Nothing of it is SQL made of values: files are given as a list, and what was replaced is a table.
A connection neither loads extensions nor reads a file outside the ledger, so what a user asks
cannot either.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import duckdb
import pyarrow as pa

from sssjob.errors import UnusableStore
from sssjob.ledger import columns
from sssjob.ledger.lookup import gone
from sssjob.ledger.manifest import DataFile, Manifest
from sssjob.ledger.places import ObjectPath, Place
from sssjob.measures import wait_sql

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

_SPECIAL = re.compile(r"[*?\[]")  # what DuckDB takes for a pattern in the name of a file
_WHOLE = ", ".join(f'"{name}"' for name in columns.NAMES)


class DerivedColumn(NamedTuple):
    """A column that is worked out of others: how, the unit of numbers, and what it says."""

    sql: str
    unit: str
    says: str


_WAIT = {
    "wait_seconds": DerivedColumn(
        wait_sql(columns.SUBMIT, columns.START), "s", "from submission to start"
    )
}
_TIMES = {
    name: DerivedColumn(
        f"make_timestamp({column} * 1000000)", "", f"{column} as a timestamp in UTC"
    )
    for name, column in (
        ("submitted", columns.SUBMIT), ("started", columns.START), ("ended", columns.END),
    )
}  # fmt: skip
USAGE, RUNS = "usage", "runs"
DERIVED = {USAGE: _WAIT, RUNS: {**_WAIT, **_TIMES}}
VIEWS = {
    view: f"SELECT {', '.join([_WHOLE, *(f'{it.sql} AS {name}' for name, it in more.items())])}"
    " FROM live"
    for view, more in DERIVED.items()
}


def told_of(view: str) -> dict[str, dict[str, str]]:
    """The columns of a view: the unit of each, and what it says."""
    return {
        **{each.name: {"unit": each.unit, "says": each.says} for each in columns.COLUMNS},
        **{name: {"unit": it.unit, "says": it.says} for name, it in DERIVED[view].items()},
    }


@contextmanager
def connected(
    home: Place, manifest: Manifest, files: Sequence[DataFile] | None = None,
    *, fence: Mapping[str, Any] | None = None,
) -> Iterator[Connection]:  # fmt: skip
    """A connection with the views of a ledger: ``live`` has the rows that count and where they are.

    Only these ``files``, or all. With a ``fence`` it is for questions of users: it has these
    settings, none can be changed, and no file outside the ledger is opened. Raises
    ``UnusableStore`` for what DuckDB cannot read.
    """
    with TemporaryDirectory(prefix="sssjob-ledger-") as temporary:
        connection = _connection()
        try:
            connection.execute("SET temp_directory = $1", [temporary])
            if isinstance(home, ObjectPath):
                connection.register_filesystem(home.files)
            look_at(connection, home, manifest, manifest.files if files is None else files)
            for name, text in VIEWS.items():
                connection.execute(f"CREATE VIEW {name} AS {text}")
            if fence is not None:
                for name, value in fence.items():
                    connection.execute(f"SET {name} = $1", [value])
                connection.execute("SET allowed_directories = $1", [[f"{_whole_name(home)}/"]])
                connection.execute("SET enable_external_access = false")
                connection.execute("SET lock_configuration = true")
            yield connection
        except duckdb.Error as error:
            text = f"DuckDB cannot read it: {error}; sssjob ledger check tells of damaged files"
            raise UnusableStore(str(home), text) from None
        finally:
            connection.close()


_kept = threading.local()  # connections over nothing, one for each table at once


@contextmanager
def over(table: pa.Table) -> Iterator[Connection]:
    """A connection in which ``live`` is this table; who makes tables or views in it replaces them.

    It takes long to make one: a thread uses its own again, unless something went wrong in it.
    """
    kept: list[Connection] = _kept.__dict__.setdefault("connections", [])
    connection = kept.pop() if kept else _connection()
    try:
        connection.register("live", table)
        yield connection
        connection.unregister("live")
    except BaseException:
        connection.close()
        raise
    kept.append(connection)


def _connection() -> Connection:
    """A connection that loads nothing, and whose answers do not depend on where it is."""
    connection = duckdb.connect()
    connection.execute("SET autoinstall_known_extensions = false")
    connection.execute("SET autoload_known_extensions = false")
    connection.execute("SET enable_progress_bar = false")
    # DuckDB 2.0.0 filters texts wrongly while it reads them. # decision 296
    connection.execute("SET disabled_optimizers = 'filter_pushdown'")
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def look_at(
    connection: Connection, home: Place, manifest: Manifest, files: Iterable[DataFile]
) -> None:
    """Make ``live``: every row of files that was not replaced, with ``file`` and ``row``."""
    some = [*files]
    clean = [each for each in some if not each.gone]
    rest = [each for each in some if each.gone]
    parts = []
    if rest:
        connection.register("gone", gone(home, manifest))
    place = "parse_filename(filename) AS file, file_row_number AS row"
    for version, kind in product(sorted({each.version for each in some}), ("clean", "rest")):
        chosen = [each for each in (clean if kind == "clean" else rest) if each.version == version]
        if not chosen:
            continue
        name = f"{kind}_{version}"
        found = connection.read_parquet(
            [pattern_of(home / each.path) for each in chosen], filename=True, file_row_number=True
        )
        found.create_view(name)
        names = ", ".join(
            f"NULL::BIGINT AS {each}" if version < columns.LATER.get(each, 1) else f'"{each}"'
            for each in columns.NAMES
        )
        parts.append(f"SELECT {names}, {place} FROM {name}")
        if kind == "rest":
            parts[-1] += (
                f" ANTI JOIN gone ON gone.file = parse_filename({name}.filename)"
                f" AND gone.row = {name}.file_row_number"
            )
    if not parts:  # DuckDB imports pandas, if it is there, with the first table that it gets
        empty = columns.table([]).append_column("file", pa.array([], pa.string()))
        connection.register("nothing", empty.append_column("row", pa.array([], pa.int64())))
        parts.append("SELECT * FROM nothing")
    connection.execute(f"CREATE OR REPLACE VIEW live AS {' UNION ALL '.join(parts)}")


def pattern_of(path: Place) -> str:
    """The name of a file for DuckDB, in which nothing is a pattern.

    >>> from pathlib import Path
    >>> pattern_of(Path("/a[1]/b"))
    '/a[[]1]/b'
    """
    return _SPECIAL.sub(r"[\g<0>]", _whole_name(path))


def _whole_name(path: Place) -> str:
    return str(path if isinstance(path, ObjectPath) else path.absolute())


def rows_of(connection: Connection, text: str, given: Any = None) -> list[tuple[Any, ...]]:
    """All rows of an answer."""
    found: list[tuple[Any, ...]] = connection.execute(text, given).fetchall()
    return found
