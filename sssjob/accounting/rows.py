"""The rows of a report as a table of Arrow, for files of Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from sssjob import units
from sssjob.errors import UnusableInput
from sssjob.measures import COUNT, MONEY

if TYPE_CHECKING:
    from sssjob.accounting.report import Key, Report
    from sssjob.measures import Measure, Totals

_DIGITS = 38  # of a decimal number


def table(report: Report, rows: Sequence[tuple[Key, Totals]]) -> pa.Table:
    """A column of texts for each name that it is by, then the measures: null is not stated.

    Counts are whole numbers, money is decimal, all else the double next to it, in the unit that the
    name says or as a part of 1.
    """
    found = {
        name: pa.array([key[number] or None for key, _ in rows], pa.string())
        for number, name in enumerate(report.by)
    }
    for measure in report.measures:
        found[measure.name] = _column(report, measure, [totals for _, totals in rows])
    return pa.table(found)


def write(report: Report, rows: Sequence[tuple[Key, Totals]], stream: BinaryIO) -> None:
    """Write them as Parquet."""
    pq.write_table(table(report, rows), stream, compression="zstd")


def _column(report: Report, measure: Measure, every: Sequence[Totals]) -> pa.Array:
    values = [measure.of(totals) for totals in every]
    if measure.form == COUNT:
        return pa.array(values, pa.int64())
    if measure.form == MONEY:
        told = [None if it is None else Decimal(report.money.text(it)) for it in values]
        if any(len(it.as_tuple().digits) > _DIGITS for it in told if it is not None):
            raise UnusableInput(f"a {measure.title} of more than {_DIGITS} digits")
        return pa.array(told, pa.decimal128(_DIGITS, report.money.decimals))
    return pa.array([None if it is None else units.double(it) for it in values], pa.float64())
