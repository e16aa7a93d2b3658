"""The rows of a report as a table, CSV, plain data, and bars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING

from sssjob import units
from sssjob.drawing import bars, histogram
from sssjob.drawing.columns import aligned
from sssjob.drawing.histogram import NOT_STATED
from sssjob.measures import COUNT, MEASURES, PART, SCALES, merged
from sssjob.visible import Csv, csv_lines, visible

if TYPE_CHECKING:
    from sssjob.accounting.report import Key, Report
    from sssjob.measures import Measure, Number, Spread, Totals

NOBODY = "-"  # stands for a name that a job does not state

Rows = Sequence[tuple["Key", "Totals"]]

_MOST = 1e300  # the most that a bar stands for: infinity has no length


def table(report: Report, rows: Rows, room: int = 0) -> list[str]:
    """The rows as aligned text, below them what was cut off, and the total.

    Where that is wider than ``room``, unless it is 0, the numbers of a row stand below each other.
    """
    names = len(report.by)
    lines = [(*map(visible, line[:names]), *line[names:]) for line in cells(report, rows)]
    keys = [key for key, _ in rows]
    return [*aligned(lines, names, room), *histogram.tables(report, keys, room)]


def cells(report: Report, rows: Rows) -> list[tuple[str, ...]]:
    """A line of headings, the rows, below them what was cut off, and the total, as people read."""
    names, total = len(report.by), report.total
    shown = [one for one in MEASURES if not one.rare or one.of(total) is not None]
    spread = _SpreadColumns(report)
    body = [
        (*(part or NOBODY for part in key), *_shown(totals, shown), *spread.shown(key))
        for key, totals in rows
    ]
    if others := _others(report, rows):
        body.append((*_label("others", names), *_shown(others, shown), *spread.unknown))
    if len(body) > 1:
        body.append((*_label("total", names), *_shown(total, shown), *spread.shown(None)))
    return [(*report.by, *(measure.heading for measure in shown), *spread.headings), *body]


def as_csv(report: Report, rows: Rows, *, raw: bool = False) -> Csv:
    """A line of names, and a line for each row, in seconds, bytes and parts of 1."""
    spread = _SpreadColumns(report)
    lines: list[tuple[object, ...]] = [
        (
            *report.by,
            *(measure.name for measure in MEASURES),
            *spread.names,
            *histogram.names(report),
        )
    ]
    lines += [
        (*key, *("" if each is None else each
                 for each in (*_numbers(totals).values(), *spread.numbers(key),
                              *histogram.numbers(report, key))))
        for key, totals in rows
    ]  # fmt: skip
    return Csv.joined(csv_lines(lines, raw=raw))


def as_json(report: Report, rows: Rows) -> dict[str, object]:
    """The report as plain data: seconds, bytes, parts of 1; None is not stated."""
    others, spread = _others(report, rows), _SpreadColumns(report)
    cut_off = report.groups.keys() - {key for key, _ in rows}
    return {
        "by": list(report.by),
        "rows": [
            {**{name: value or None for name, value in zip(report.by, key, strict=True)},
             **_numbers(totals), **spread.as_json(key), **histogram.as_json(report, [key])}
            for key, totals in rows
        ],
        **({"others": {**_numbers(others), **histogram.as_json(report, cut_off)}}
           if others else {}),
        "total": {**_numbers(report.total), **spread.as_json(None),
                  **histogram.as_json(report, report.groups)},
        "outside": report.outside,
    }  # fmt: skip


class _SpreadColumns:
    """The columns of percentiles, if a report has some: for each distribution the percentiles, and
    how many jobs do not state the number. A key of None is that of all jobs.
    """

    def __init__(self, report: Report) -> None:
        self._told = told = report.percentiles
        self._of = told.of if told else ()
        self._labels = [each.name for each in told.wanted] if told else []
        self._gaps = [spread.not_stated > 0 for spread in self._spreads(None)]

    @property
    def names(self) -> list[str]:
        return [f"{of.name}_{label}" for of in self._of for label in (*self._labels, NOT_STATED)]

    @property
    def headings(self) -> list[str]:
        return [
            f"{of.heading} {label}"
            for of, has_gaps in zip(self._of, self._gaps, strict=True)
            for label in (*self._labels, *(["not stated"] if has_gaps else []))
        ]

    @property
    def unknown(self) -> list[str]:
        """Those of groups that were added up: percentiles cannot be."""
        return ["-"] * len(self.headings)

    def shown(self, key: Key | None) -> list[str]:
        return [
            text
            for of, spread, has_gaps in zip(self._of, self._spreads(key), self._gaps, strict=True)
            for text in (
                *(_as_text(value, of.form) for value in spread.values),
                *([str(spread.not_stated)] if has_gaps else []),
            )
        ]

    def numbers(self, key: Key | None) -> list[int | float | None]:
        return [
            each
            for spread in self._spreads(key)
            for each in (*map(_plain, spread.values), spread.not_stated)
        ]

    def as_json(self, key: Key | None) -> dict[str, object]:
        if self._told is None:
            return {}
        labels = (*self._labels, NOT_STATED)
        spreads = zip(self._of, self._spreads(key), strict=True)
        return {
            "percentiles": {
                of.name: dict(
                    zip(labels, (*map(_plain, told.values), told.not_stated), strict=True)
                )
                for of, told in spreads
            }
        }

    def _spreads(self, key: Key | None) -> tuple[Spread, ...]:
        if self._told is None:
            return ()
        return self._told.group(key) if key is not None else self._told.total or self._told.nothing


def picture(report: Report, rows: Rows, measure: Measure) -> tuple[str, list[bars.Bar]]:
    """A measure of the rows as bars, with their title."""
    drawn = [
        bars.Bar(
            ", ".join(part or NOBODY for part in key),
            min(units.double(measure.of(totals) or 0), _MOST),
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
    return _as_text(measure.of(totals), measure.form)


def _as_text(value: Number | float | None, form: str) -> str:
    if value is None:
        return "-"
    if form == COUNT:
        return str(value)
    exact = value if isinstance(value, float) else Fraction(value)
    scaled = units.double(exact if form == PART else exact / SCALES.get(form, 1))
    return f"{scaled:.0%}" if form == PART and isfinite(scaled) else f"{scaled:.2f}"


def _numbers(totals: Totals) -> dict[str, int | float | None]:
    return {measure.name: _plain(measure.of(totals)) for measure in MEASURES}


def _plain(value: Number | float | None) -> int | float | None:
    """As JSON and CSV have it: whole, or in six places; of an infinite double there is none."""
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return None
    near = units.approximate(Fraction(value))
    return round(near, 6) if isinstance(near, float) else near
