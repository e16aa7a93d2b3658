"""Jobs as a Parquet table: the columns of a store, and the whole job beside them.

The fields are those of ``sssjob.store.parquet``, whose metadata says of which path in the job each
is and what it tells. Behind them stand sums that a report would make of the job alone (``USED``);
``document`` is the job as XML text, so that nothing is lost.
"""

from __future__ import annotations

from operator import attrgetter
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from sssjob.accounting.report import Facts, Number, used
from sssjob.accounting.writers.writer import OnLoss, Writer, WriterOptions
from sssjob.document.bridge import to_tree
from sssjob.document.text import dumps
from sssjob.model import Job
from sssjob.store import parquet, rows
from sssjob.store.columns import NAMES

DOCUMENT = "document"
_ROWS = 10_000  # of one piece of the table, which is held in memory
# What was used over time, by the names that reports have.
# fmt: off
USED = (
    ("processor_seconds", "wall time by processors",   attrgetter("slots")),
    ("node_seconds",      "wall time by nodes",        attrgetter("nodes")),
    ("gpu_seconds",       "wall time by GPUs",         attrgetter("gpus")),
    ("energy_joules",     "the energy that was used",  attrgetter("energy")),
)
# fmt: on
_OF_STORES = (DOCUMENT, "place")  # these fields say where a job stands in a store


def schema() -> pa.Schema:
    """The fields of the table."""
    fields = [field for field in parquet.schema() if field.name not in _OF_STORES]
    fields += (
        pa.field(name, pa.float64(), metadata={"path": "Delivered", "says": says})
        for name, says, _ in USED
    )
    return pa.schema([*fields, pa.field(DOCUMENT, pa.string(), nullable=False)])


class ParquetTable(Writer):
    """A table of jobs; a piece of it is held in memory."""

    def __init__(self, stream: BinaryIO, options: WriterOptions, on_loss: OnLoss) -> None:
        self._schema = schema()
        of_stores = self._schema.names[: -len(USED) - 1]
        self._places = [NAMES.index(parquet.column_of(name)) for name in of_stores]
        self._rows: list[tuple[object, ...]] = []
        self._table = pq.ParquetWriter(stream, self._schema, compression="zstd")
        super().__init__(stream, options, on_loss)

    def add(self, job: Job) -> None:
        """Take one row."""
        # The last row is the one with older names replaced.
        found = rows.rows(to_tree(job))[-1]
        told, sums = (found[place] for place in self._places), used(Facts(job))
        self._rows.append((*told, *(_float(of(sums)) for _, _, of in USED), dumps(job)))
        if len(self._rows) == _ROWS:
            self._flush()

    def close(self) -> None:
        """Write the rows that are left, and where the pieces of the table stand."""
        if self._rows:
            self._flush()
        self._table.close()

    def _flush(self) -> None:
        self._table.write_batch(parquet.batch_of(self._rows, self._schema))
        self._rows = []


def _float(value: Number | None) -> float | None:
    return None if value is None else float(value)
