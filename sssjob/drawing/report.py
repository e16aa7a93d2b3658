"""The rows of a report as a table, CSV, plain data, and bars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sssjob.drawing import bars
from sssjob.drawing.columns import aligned
from sssjob.measures import COUNT, MEASURES, PART, SCALES, merged
from sssjob.visible import Csv, csv_lines, visible

if TYPE_CHECKING:
    from fractions import Fraction

    from sssjob.accounting.report import Key, Report
    from sssjob.measures import Measure, Totals

NOBODY = "-"  # stands for a name that a job does not state

Rows = Sequence[tuple["Key", "Totals"]]


def table(report: Report, rows: Rows, room: int = 0) -> list[str]:
    """The rows as aligned text, below them what was cut off, and the total.

    Where that is wider than ``room``, unless it is 0, the numbers of a row stand below each other.
    """
    names = len(report.by)
    lines = [(*map(visible, line[:names]), *line[names:]) for line in cells(report, rows)]
    return list(aligned(lines, names, room))


def cells(report: Report, rows: Rows) -> list[tuple[str, ...]]:
    """A line of headings, the rows, below them what was cut off, and the total, as people read."""
    names, total = len(report.by), report.total
    shown = [one for one in MEASURES if not one.rare or one.of(total) is not None]
    body = [(*(part or NOBODY for part in key), *_shown(totals, shown)) for key, totals in rows]
    if others := _others(report, rows):
        body.append((*_label("others", names), *_shown(others, shown)))
    if len(body) > 1:
        body.append((*_label("total", names), *_shown(total, shown)))
    return [(*report.by, *(measure.heading for measure in shown)), *body]


def as_csv(report: Report, rows: Rows, *, raw: bool = False) -> Csv:
    """A line of names, and a line for each row, in seconds, bytes and parts of 1."""
    lines: list[tuple[object, ...]] = [(*report.by, *(measure.name for measure in MEASURES))]
    lines += [
        (*key, *(("" if each is None else each) for each in _numbers(totals).values()))
        for key, totals in rows
    ]
    return Csv.joined(csv_lines(lines, raw=raw))


def as_json(report: Report, rows: Rows) -> dict[str, object]:
    """The report as plain data: seconds, bytes, parts of 1; None is not stated."""
    others = _others(report, rows)
    return {
        "by": list(report.by),
        "rows": [
            {**{name: value or None for name, value in zip(report.by, key, strict=True)},
             **_numbers(totals)}
            for key, totals in rows
        ],
        **({"others": _numbers(others)} if others else {}),
        "total": _numbers(report.total),
        "outside": report.outside,
    }  # fmt: skip


def picture(report: Report, rows: Rows, measure: Measure) -> tuple[str, list[bars.Bar]]:
    """A measure of the rows as bars, with their title."""
    drawn = [
        bars.Bar(
            ", ".join(part or NOBODY for part in key),
            float(measure.of(totals) or 0),
            _written(measure, totals),
        )
        for key, totals in rows
    ]
    return f"{measure.heading} by {', '.join(report.by)}", drawn


def _others(report: Report, rows: Rows) -> Totals | None:
    """The groups that a limit cut off, added up."""
    shown = {key for key, _ in rows}
    left = [totals for key, totals in report.groups.items() if key not in shown]
    return merged(left) if left else None


def _label(text: str, columns: int) -> tuple[str, ...]:
    return (f"({text})", *("" for _ in range(columns - 1)))


def _shown(totals: Totals, measures: Iterable[Measure]) -> tuple[str, ...]:
    return tuple(_written(measure, totals) for measure in measures)


def _written(measure: Measure, totals: Totals) -> str:
    """A measure of a group as people read it; ``-`` where no job states it."""
    value = measure.of(totals)
    if value is None:
        return "-"
    if measure.form == COUNT:
        return str(value)
    if measure.form == PART:
        return f"{float(value):.0%}"
    return f"{float(value / SCALES.get(measure.form, 1)):.2f}"


def _numbers(totals: Totals) -> dict[str, int | float | None]:
    return {measure.name: _plain(measure.of(totals)) for measure in MEASURES}


def _plain(value: Fraction | int | None) -> int | float | None:
    if value is None:
        return None
    return int(value) if value == int(value) else round(float(value), 6)
