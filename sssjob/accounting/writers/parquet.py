"""Jobs as a Parquet table: that of ``accounting.table``, in a file."""

from __future__ import annotations

from functools import cached_property
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from sssjob.accounting import table
from sssjob.accounting.writers.writer import OnLoss, Writer, WriterOptions
from sssjob.model import Job


class ParquetTable(Writer):
    """A table of jobs; a piece of it is held in memory."""

    def __init__(self, stream: BinaryIO, options: WriterOptions, on_loss: OnLoss) -> None:
        self._schema = table.schema()
        self._rows: list[table.Row | table.TableRow] = []
        self._joined: list[pa.RecordBatch] = []
        super().__init__(stream, options, on_loss)

    @cached_property
    def _table(self) -> pq.ParquetWriter:
        """What writes the table, from its first piece on."""
        return pq.ParquetWriter(self.stream, self._schema, compression="zstd")

    def add(self, job: Job) -> None:
        """Take one row."""
        self.take(table.row(job))

    def builder(self) -> table.TableBuilder:
        """What makes many rows at once."""
        return table.TableBuilder()

    def take(self, job: table.Row | table.TableRow) -> None:
        """Take one row that is made."""
        self._rows.append(job)
        if len(self._rows) == table.PIECE and not self.is_part:
            self.join(self.part())

    def part(self) -> pa.RecordBatch:
        """The rows that were not joined yet."""
        if not self._rows:
            return pa.RecordBatch.from_pylist([], self._schema)
        batch = table.together(self._rows, self._schema)
        self._rows = []
        return batch

    def join(self, part: pa.RecordBatch) -> None:
        """Take rows; pieces of the table are as large, however many come at once."""
        self._joined.append(part)
        while sum(batch.num_rows for batch in self._joined) >= table.PIECE:
            self._flush()

    def close(self) -> None:
        """Write the rows that are left, and where the pieces of the table stand."""
        if self._rows:
            self.join(self.part())
        if any(batch.num_rows for batch in self._joined):
            self._flush()
        self._table.close()

    def _flush(self) -> None:
        rows = pa.Table.from_batches(self._joined).combine_chunks()
        [piece] = rows.slice(0, table.PIECE).combine_chunks().to_batches()
        self._table.write_batch(piece)
        self._joined = rows.slice(table.PIECE).to_batches()
