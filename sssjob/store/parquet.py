"""The columns of a store as a Parquet table, for DuckDB, Polars, Spark and their like.

One row is a Job with its defaults applied and its older names replaced. The first columns say
where it stands: ``document`` is the number of its document in the store, ``place`` its place in a
JobGroup (0 if it is alone). The others are those of ``columns``; the metadata of each field says
of which path in the job it is and what it tells. Several texts at one path stand between U+001F.
The last one, ``incomplete``, has the paths of which a job says more than its columns can.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from sssjob.store.columns import COLUMNS, JOB, KIND, ODD, READING, WRITTEN, ColumnType, odd_paths
from sssjob.store.condition import And, Compare, Op
from sssjob.store.store import Store

INCOMPLETE = "incomplete"
_ROWS = 50_000  # of one piece of the table, which is held in memory

_TYPES = {
    ColumnType.TEXT: pa.string(),
    ColumnType.NUMBER: pa.float64(),
    ColumnType.INTEGER: pa.int64(),
}
_LEFT_OUT = (KIND, ODD, READING)  # these are about the store, not about the job
_JOBS = And((Compare(KIND, Op.EQ, JOB), Compare(READING, Op.NE, WRITTEN)))


def schema() -> pa.Schema:
    """The fields of the table."""
    fields = [pa.field("document", pa.int64(), nullable=False)]
    for column in COLUMNS:
        if column.name not in _LEFT_OUT:
            said = {"path": column.path, "says": column.says.value}
            fields.append(pa.field(column.name, _TYPES[column.kind], metadata=said))
    said = {"path": "", "says": "the paths of which the job says more than its columns tell"}
    fields.append(pa.field(INCOMPLETE, pa.list_(pa.string()), metadata=said))
    return pa.schema(fields)


def column_of(field: str) -> str:
    """The column of a store that a field is made of."""
    return ODD if field == INCOMPLETE else field


def batch_of(rows: Sequence[Sequence[Any]], fields: pa.Schema) -> pa.RecordBatch:
    """A piece of the table, from the columns of its fields."""
    columns = zip(fields, zip(*rows, strict=True), strict=True)
    return pa.record_batch([array_of(values, field) for field, values in columns], schema=fields)


def array_of(values: Iterable[Any], field: pa.Field) -> pa.Array:
    """A column of the table, of the values that a column of the store has."""
    told = map(odd_paths, values) if field.name == INCOMPLETE else values
    return pa.array([*told], field.type)


def write(jobs: Store, stream: BinaryIO, *, deleted: bool = False) -> int:
    """Write a row for each job, and give their number; memory holds a piece of the table."""
    table, count = schema(), 0
    rows = jobs.rows(list(map(column_of, table.names)), _JOBS, deleted=deleted)
    with pq.ParquetWriter(stream, table, compression="zstd") as writer:
        while batch := list(islice(rows, _ROWS)):
            writer.write_batch(batch_of(batch, table))
            count += len(batch)
    return count
