"""Rows of a stream added to a report, as they come: what ``report`` does with records.

The rows are those that would go into a ledger, and they are summed by the same SQL, some ten
thousand at once; nothing is kept but the sums. # decision 424
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from sssjob.accounting.report import Report
from sssjob.ledger import columns
from sssjob.ledger.building import RowsBuilder, RowTable
from sssjob.ledger.columns import COLUMNS, NAMES, Row
from sssjob.ledger.report import add_table, read_of

_TOGETHER = 100_000  # rows that are summed at once: some 20 MB


class RowsAdding:
    """Adds rows to a report, those of the ``builder``; ``finish`` adds the last ones."""

    def __init__(self, report: Report) -> None:
        names = read_of(report)
        self._report = report
        self.builder = RowsBuilder(names).remembering()
        self._places = [NAMES.index(name) for name in names]
        self._fields = pa.schema(
            pa.field(COLUMNS[at].name, COLUMNS[at].type) for at in self._places
        )
        self._tables: list[RowTable] = []
        self._rows: list[Row] = []
        self._count = 0

    def begin(self, report: Report) -> None:
        """Add to this report from now on; what was put and not finished is forgotten."""
        self._report = report
        self._tables, self._rows, self._count = [], [], 0

    def put(self, row: Row) -> None:
        """One more row."""
        self._rows.append(row)
        self._count += 1
        if self._count >= _TOGETHER:
            self.finish()

    def put_together(self, rows: Sequence[Row]) -> None:
        """Many more at once."""
        assert isinstance(rows, RowTable)
        self._tables.append(rows)
        self._count += len(rows)
        if self._count >= _TOGETHER:
            self.finish()

    def finish(self) -> None:
        """Add what was put."""
        if not self._count:
            return
        parts = [[each.columns[at] for at in self._places] for each in self._tables]
        if self._rows:
            told = [*zip(*self._rows, strict=True)]
            parts.append([columns.array(told[at], COLUMNS[at].type) for at in self._places])
        tables = [pa.table(part, schema=self._fields) for part in parts]
        self.begin(self._report)
        add_table(self._report, pa.concat_tables(tables))
