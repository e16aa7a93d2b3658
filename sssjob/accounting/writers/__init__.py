"""Job objects as what others want: usage records, messages of grids, lines of JSON, tables.

A writer is given jobs one by one and writes to a binary stream. What its target cannot hold is a
``Loss``; one whose awarenessPolicy is Reject refuses the job, and nothing of it is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import BinaryIO, NamedTuple

from sssjob.accounting.writers import apel, car, ur
from sssjob.accounting.writers.losses import Taken
from sssjob.accounting.writers.writer import OnLoss, Writer, WriterOptions
from sssjob.document import json as plain
from sssjob.model import Job


class _JSONLines(Writer):
    """Each job as a JSON object on a line of its own; see ``document.json``."""

    def add(self, job: Job) -> None:
        self.put(f"{json.dumps(plain.as_dict(job), ensure_ascii=False)}\n")


class _UsageRecords(Writer):
    """OGF Usage Records 1.0 (GFD.98)."""

    head, tail = ur.HEAD, ur.TAIL

    def add(self, job: Job) -> None:
        taken = Taken(job)
        text = ur.record(taken, self.options.created)
        self.report_losses(taken)
        self.put(f"{text}\n")


class _ComputeRecords(Writer):
    """EMI's Compute Accounting Record 1.2."""

    head, tail = car.HEAD, car.TAIL

    def add(self, job: Job) -> None:
        taken = Taken(job)
        text = car.record(taken, self.options.site, self.options.created)
        self.report_losses(taken)
        self.put(f"{text}\n")


class _Messages(Writer):
    """APEL's message about individual jobs."""

    head = apel.INDIVIDUAL

    def add(self, job: Job) -> None:
        self.put(apel.record(self.facts(job)))

    def facts(self, job: Job) -> apel.Facts:
        """What APEL knows of a job. Raises ``Refused`` or ``Unfit``."""
        taken = Taken(job)
        found = apel.facts(taken, self.options.site)
        self.report_losses(taken)
        return found


class _Summaries(_Messages):
    """APEL's message of sums by month, user and kind of job."""

    head = apel.SUMMARY

    def __init__(self, stream: BinaryIO, options: WriterOptions, on_loss: OnLoss) -> None:
        super().__init__(stream, options, on_loss)
        self._sums = apel.Summary()

    def add(self, job: Job) -> None:
        self._sums.add(self.facts(job))

    def close(self) -> None:
        for text in self._sums.records():
            self.put(text)


class WriterRow(NamedTuple):
    """A target format: the name it goes by, and its writer."""

    name: str
    writer: Callable[[BinaryIO, WriterOptions, OnLoss], Writer]
    description: str


def _parquet(stream: BinaryIO, options: WriterOptions, on_loss: OnLoss) -> Writer:
    from sssjob.accounting.writers.parquet import ParquetTable  # pyarrow takes its time

    return ParquetTable(stream, options, on_loss)


# fmt: off
TARGETS: dict[str, WriterRow] = {
    row.name: row
    for row in (
        WriterRow("jsonl",        _JSONLines,      "a JSON object on each line"),
        WriterRow("parquet",      _parquet,       "a table for DuckDB, Polars and Spark"),
        WriterRow("ur",           _UsageRecords,   "OGF Usage Records 1.0 (GFD.98)"),
        WriterRow("car",          _ComputeRecords, "EMI Compute Accounting Records 1.2"),
        WriterRow("apel",         _Messages,       "APEL's message about individual jobs"),
        WriterRow("apel-summary", _Summaries,      "APEL's message of sums by month"),
    )
}
# fmt: on
