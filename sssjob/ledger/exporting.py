"""The runs of a ledger for other programs: as one file of CSV, Parquet, SQLite or DuckDB, or as a
table of Delta Lake.

Each has the columns of the table ``runs`` of ``sssjob ledger sql``. The databases have this table,
and a view ``usage`` of it with the columns of the other, so a question may be asked there, too.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from sssjob import directory_trees
from sssjob.dotted import needed
from sssjob.errors import UnusableStore
from sssjob.ledger.engine import RUNS, USAGE, told_of
from sssjob.ledger.tables import Runs
from sssjob.visible import csv_lines

_Batches = Iterable[pa.RecordBatch]
_VIEW = f"CREATE VIEW {USAGE} AS SELECT {{}} FROM {RUNS}".format(
    ", ".join(f'"{name}"' for name in told_of(USAGE))
)
_MEMORY = "1GB"


def export(runs: Runs, form: str, stream: BinaryIO, *, raw: bool = False) -> int:
    """Write every run to a stream in one of ``FORMS``: how many there are.

    Some hundred thousand are in memory. The databases are made in a temporary directory first. In
    CSV, cells that a spreadsheet would take for formulas get an apostrophe, unless ``raw``. Raises
    ``UnusableStore``, also where a file of the ledger is damaged, and ``OSError``.
    """
    rows = runs.select()
    with rows.opened() as (fields, batches):
        counted = _CountedPieces(batches)
        if form == "csv":
            _csv(fields, counted, stream, raw=raw)
        elif form == "parquet":
            _parquet(fields, counted, stream)
        else:
            _database(_DATABASES[form], fields, counted, stream)
    return counted.rows


# decision 434
def export_delta(runs: Runs, path: str) -> int:
    """Write every run as a table of Delta Lake, a new directory: how many there are.

    It appears whole or not at all. Raises as ``export`` does, ``FileExistsError`` for a directory
    that holds anything, and ``ModuleNotFoundError`` without the extra ``delta``.
    """
    library = needed("deltalake", "delta", "a table of Delta Lake")
    with runs.select().opened() as (fields, batches):
        counted = _CountedPieces(batches)
        # Delta's usual times are in UTC; those without a zone need readers of a later version.
        told = pa.schema(
            each.with_type(pa.timestamp("us", "UTC")) if pa.types.is_timestamp(each.type) else each
            for each in fields
        )
        found = (batch.cast(told) for batch in counted)
        with directory_trees.whole(path) as folder:
            reader = pa.RecordBatchReader.from_batches(told, found)
            try:
                library.write_deltalake(str(folder), reader, name=RUNS)
            except library.exceptions.DeltaError as error:
                raise UnusableStore(path, f"cannot be written: {error}") from None
    return counted.rows


class _CountedPieces:
    """Pieces, and how many rows they had."""

    def __init__(self, batches: _Batches) -> None:
        self.rows = 0
        self._batches = batches

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for each in self._batches:
            self.rows += each.num_rows
            yield each


def _csv(fields: pa.Schema, batches: _Batches, stream: BinaryIO, *, raw: bool) -> None:
    for line in csv_lines([fields.names], raw=raw):
        stream.write(line.encode())
    for batch in batches:
        for line in csv_lines(_plain_rows(batch), raw=raw):
            stream.write(line.encode())


def _parquet(fields: pa.Schema, batches: _Batches, stream: BinaryIO) -> None:
    with pq.ParquetWriter(stream, fields, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch)


def _plain_rows(batch: pa.RecordBatch) -> Iterable[tuple[Any, ...]]:
    """Rows of numbers and texts: timestamps are texts."""
    found = [
        [each and str(each) for each in column.to_pylist()]
        if pa.types.is_timestamp(column.type)
        else column.to_pylist()
        for column in batch.columns
    ]
    return zip(*found, strict=True)


def _database(
    write: Callable[[Path, pa.Schema, _Batches], None], fields: pa.Schema, batches: _Batches,
    stream: BinaryIO,
) -> None:  # fmt: skip
    """Make a database, and copy it: a stream may lead anywhere, and a database needs a file."""
    with TemporaryDirectory(prefix="sssjob-ledger-") as folder:
        path = Path(folder, "runs")
        try:
            write(path, fields, batches)
        except (sqlite3.Error, duckdb.Error) as error:  # a full disk, most of all
            raise UnusableStore(folder, f"a database cannot be written: {error}") from None
        with open(path, "rb") as made:
            shutil.copyfileobj(made, stream, 1 << 20)


def _sqlite(path: Path, fields: pa.Schema, batches: _Batches) -> None:
    names = ", ".join(
        f'"{each.name}" {"INTEGER" if pa.types.is_integer(each.type) else "TEXT"}'
        for each in fields
    )
    marks = ", ".join("?" * len(fields))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")  # nobody else knows the file
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        connection.execute(f"CREATE TABLE {RUNS} ({names})")
        connection.execute(_VIEW)
        for batch in batches:
            connection.executemany(f"INSERT INTO {RUNS} VALUES ({marks})", _plain_rows(batch))
        connection.execute("COMMIT")


def _duckdb(path: Path, fields: pa.Schema, batches: _Batches) -> None:
    with duckdb.connect(path, config={"memory_limit": _MEMORY}) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.register("nothing", fields.empty_table())
        connection.execute(f"CREATE TABLE {RUNS} AS SELECT * FROM nothing")
        connection.execute(_VIEW)
        for batch in batches:
            connection.register("piece", pa.Table.from_batches([batch]))
            connection.execute(f"INSERT INTO {RUNS} SELECT * FROM piece")
            connection.unregister("piece")


_DATABASES: Mapping[str, Callable[[Path, pa.Schema, _Batches], None]] = {
    "sqlite": _sqlite,
    "duckdb": _duckdb,
}
FORMS = ("csv", "parquet", *_DATABASES)
