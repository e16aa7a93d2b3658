"""Job objects as what others want: usage records, messages of grids, lines of JSON, tables.

A writer is given jobs one by one and writes to a binary stream. What its target cannot hold is an
``UnwrittenValue``; one whose awarenessPolicy is Reject refuses the job: nothing of it is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple

from sssjob.accounting.writers import apel, car, grid, lines, ur
from sssjob.accounting.writers.losses import TakenJob
from sssjob.accounting.writers.parts import EnclosingElement, PartsBuilder, RecordPart, of_job
from sssjob.accounting.writers.writer import OnLoss, Writer, WriterOptions, WrittenJob
from sssjob.accounting.writers.xml import TAIL
from sssjob.model import Job
from sssjob.records.builders import Builder


class _JSONLines(Writer):
    """Each job as a JSON object on a line of its own; see ``document.json``."""

    def add(self, job: Job) -> None:
        self.put(lines.line_of(job))

    def builder(self) -> Builder[Any, WrittenJob]:
        return lines.JSONBuilder()


class _Records(Writer):
    """Records that are made in parts, of one job or of many."""

    parts: tuple[RecordPart | EnclosingElement, ...]
    end = ""

    def add(self, job: Job) -> None:
        taken = TakenJob(job)
        text = of_job(self.parts, taken, self.options)
        self.report_losses(taken)
        self.put(f"{text}{self.end}")

    def builder(self) -> Builder[Any, WrittenJob] | None:
        return PartsBuilder(self.parts, self.options, self.end) if self.counts_only else None


class _UsageRecords(_Records):
    """OGF Usage Records 1.0 (GFD.98)."""

    head, tail, parts, end = ur.HEAD, TAIL, (ur.RECORD,), "\n"


class _ComputeRecords(_Records):
    """EMI's Compute Accounting Record 1.2."""

    head, tail, parts, end = car.HEAD, TAIL, (car.RECORD,), "\n"


class _Messages(_Records):
    """APEL's message about individual jobs."""

    head, parts, end = apel.INDIVIDUAL, apel.RECORD, apel.END


class _RecordSums(Writer):
    """A message of sums, which are written when there are no more jobs."""

    sums: Callable[[], Any]

    def __init__(self, stream: BinaryIO, options: WriterOptions, on_loss: OnLoss) -> None:
        super().__init__(stream, options, on_loss)
        self._sums = self.sums()

    def add(self, job: Job) -> None:
        taken = TakenJob(job)
        found = apel.facts(taken, self.options)
        self.report_losses(taken)
        self._sums.add(found)

    def part(self) -> Any:
        return self._sums

    def join(self, part: Any) -> None:
        self._sums.include(part)

    def close(self) -> None:
        for text in self._sums.records():
            self.put(text)


class _UsageSummaries(_RecordSums):
    """APEL's message of sums by month, user and kind of job."""

    head, sums = apel.SUMMARY, apel.UsageSummary


class _NormalisedSummaries(_RecordSums):
    """APEL's message of the same sums with what they are worth by benchmarks."""

    head, sums = apel.NORMALISED, apel.NormalisedSummary

    def add(self, job: Job) -> None:
        taken = TakenJob(job)
        found = apel.facts(taken, self.options)
        levels = grid.levels(taken, self.options.site)  # later than the one level of a fact
        self.report_losses(taken)
        self._sums.add(found, levels)


class _Synchronisation(_RecordSums):
    """APEL's message of how many jobs there are."""

    head, sums = apel.SYNC, apel.Sync


class WriterRow(NamedTuple):
    """A target format: the name it goes by, and its writer.

    ``head`` stands before the records of one to which more can be appended, else it is None;
    ``tail`` stands behind them, and each record has the ``end``.
    """

    name: str
    writer: Callable[[BinaryIO, WriterOptions, OnLoss], Writer]
    description: str
    head: str | None = None
    tail: str = ""
    end: str = "\n"


def _parquet(stream: BinaryIO, options: WriterOptions, on_loss: OnLoss) -> Writer:
    from sssjob.accounting.writers.parquet import ParquetTable  # pyarrow takes its time

    return ParquetTable(stream, options, on_loss)


# fmt: off
TARGETS: dict[str, WriterRow] = {
    row.name: row
    for row in (
        WriterRow("jsonl",        _JSONLines,      "a JSON object on each line", ""),
        WriterRow("parquet",      _parquet,       "a table for DuckDB, Polars and Spark"),
        WriterRow("ur",           _UsageRecords,   "OGF Usage Records 1.0 (GFD.98)",
                  ur.HEAD, TAIL, ">\n"),
        WriterRow("car",          _ComputeRecords, "EMI Compute Accounting Records 1.2",
                  car.HEAD, TAIL, ">\n"),
        WriterRow("apel",         _Messages,       "APEL's message about jobs", apel.INDIVIDUAL,
                  end=apel.END),
        WriterRow("apel-summary", _UsageSummaries,      "APEL's message of sums by month"),
        WriterRow("apel-normalised", _NormalisedSummaries, "the same with what they are worth"),
        WriterRow("apel-sync",    _Synchronisation, "APEL's message of how many jobs there are"),
    )
}
# fmt: on
