"""The rows of a report as a table, CSV, plain data, and bars."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING

from sssjob import units
from sssjob.drawing import bars, histogram, stacked
from sssjob.drawing.columns import aligned
from sssjob.drawing.histogram import NOT_STATED
from sssjob.measures import COUNT, ENERGY, HOURS, MONEY, PART, SCALES, Totals, merged
from sssjob.spans import SPANS
from sssjob.visible import Csv, Markup, csv_lines, visible

if TYPE_CHECKING:
    from sssjob.accounting.report import Key, Money, Report
    from sssjob.measures import Measure, Number, Spread

NOBODY = "-"  # stands for a name that a job does not state

Rows = Sequence[tuple["Key", "Totals"]]

_PARTS = 5  # groups that are told apart over time: those with the most
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
    shown = [one for one in report.measures if not one.rare or one.of(total) is not None]
    spread = _SpreadColumns(report)

    def shown_of(some: Totals) -> tuple[str, ...]:
        return tuple(_written(measure, some, report.money) for measure in shown)

    body = [
        (*(part or NOBODY for part in key), *shown_of(totals), *spread.shown(key))
        for key, totals in rows
    ]
    if others := _others(report, rows):
        body.append((*_label("others", names), *shown_of(others), *spread.unknown))
    if len(body) > 1:
        body.append((*_label("total", names), *shown_of(total), *spread.shown(None)))
    return [(*report.by, *(_heading(it, report.money) for it in shown), *spread.headings), *body]


def as_csv(report: Report, rows: Rows, *, raw: bool = False) -> Csv:
    """A line of names, and a line for each row, in seconds, bytes and parts of 1."""
    spread = _SpreadColumns(report)
    lines: list[tuple[object, ...]] = [
        (
            *report.by,
            *(measure.name for measure in report.measures),
            *spread.names,
            *histogram.names(report),
        )
    ]
    lines += [
        (*key, *("" if each is None else each
                 for each in (*_numbers(report, totals).values(), *spread.numbers(key),
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
             **_numbers(report, totals), **spread.as_json(key), **histogram.as_json(report, [key])}
            for key, totals in rows
        ],
        **({"others": {**_numbers(report, others), **histogram.as_json(report, cut_off)}}
           if others else {}),
        "total": {**_numbers(report, report.total), **spread.as_json(None),
                  **histogram.as_json(report, report.groups)},
        "outside": report.outside,
        **({} if report.answered is None else {"answered": report.answered}),
        **({"currency": report.money.currency} if _has_money(report) else {}),
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


def _length(value: Number | None) -> float:
    return min(units.double(value or 0), _MOST)


def picture(report: Report, rows: Rows, measure: Measure) -> tuple[str, list[bars.Bar]]:
    """A measure of the rows as bars, with their title."""
    drawn = [
        bars.Bar(
            ", ".join(part or NOBODY for part in key),
            _length(measure.of(totals)),
            _written(measure, totals, report.money),
        )
        for key, totals in rows
    ]
    return f"{_heading(measure, report.money)} by {', '.join(report.by)}", drawn


def over_time(report: Report, rows: Rows, measure: Measure) -> Markup | None:
    """A measure over time, a column for each span of time and in it a part for each group, as SVG.

    None where the report is by no span, or by several, or an amount is below 0.
    """
    spans = [number for number, name in enumerate(report.by) if name in SPANS]
    if len(spans) != 1 or measure.form not in (COUNT, HOURS, ENERGY, MONEY):
        return None
    (at,) = spans
    parts: dict[Key, dict[str, Totals]] = defaultdict(dict)
    for key, totals in rows:
        parts[(*key[:at], *key[at + 1 :])][key[at]] = totals
    sums = {rest: measure.of(merged(some.values())) or 0 for rest, some in parts.items()}
    ordered = sorted(sums, key=lambda rest: (-sums[rest], rest))
    groups = [[rest] for rest in ordered[:_PARTS]]
    names = [", ".join(part or NOBODY for part in rest) for rest in ordered[:_PARTS]]
    if ordered[_PARTS:]:
        groups.append(ordered[_PARTS:])
        names.append("(others)")
    columns, most = [], merged([])
    for name in sorted({key[at] for key, _ in rows}):
        some = [merged(parts[rest].get(name, Totals()) for rest in group) for group in groups]
        amounts = [_length(measure.of(totals)) for totals in some]
        if min(amounts) < 0:
            return None
        words = [_written(measure, totals, report.money) for totals in some]
        columns.append(stacked.StackedColumn(name or NOBODY, amounts, words))
        most = max(most, merged(some), key=lambda totals: measure.of(totals) or 0)
    title = f"{_heading(measure, report.money)} by {', '.join(report.by)}"
    return stacked.svg(title, names, columns, _written(measure, most, report.money))


def _others(report: Report, rows: Rows) -> Totals | None:
    """The groups that a limit cut off, added up."""
    shown = {key for key, _ in rows}
    left = [totals for key, totals in report.groups.items() if key not in shown]
    return merged(left) if left else None


def _label(text: str, columns: int) -> tuple[str, ...]:
    return (f"({text})", *("" for _ in range(columns - 1)))


def _written(measure: Measure, totals: Totals, money: Money) -> str:
    """A measure of a group as people read it; ``-`` where no job states it."""
    value = measure.of(totals)
    if measure.form == MONEY and value is not None:
        return money.text(value)
    return _as_text(value, measure.form)


def _heading(measure: Measure, money: Money) -> str:
    """The heading of a column; of money with its currency."""
    currency = f" {money.currency}" if money.currency and measure.form == MONEY else ""
    return f"{measure.heading}{currency}"


def _has_money(report: Report) -> bool:
    return any(measure.form == MONEY for measure in report.measures)


def _as_text(value: Number | float | None, form: str) -> str:
    if value is None:
        return "-"
    if form == COUNT:
        return str(value)
    exact = value if isinstance(value, float) else Fraction(value)
    scaled = units.double(exact if form == PART else exact / SCALES.get(form, 1))
    return f"{scaled:.0%}" if form == PART and isfinite(scaled) else f"{scaled:.2f}"


def _numbers(report: Report, totals: Totals) -> dict[str, int | float | str | None]:
    """The measures as JSON and CSV have them; money as the text of a decimal number."""
    found: dict[str, int | float | str | None] = {}
    for measure in report.measures:
        value = measure.of(totals)
        is_money = measure.form == MONEY and value is not None
        found[measure.name] = report.money.text(value or 0) if is_money else _plain(value)
    return found


def _plain(value: Number | float | None) -> int | float | None:
    """As JSON and CSV have it: whole, or in six places; of an infinite double there is none."""
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return None
    near = units.approximate(Fraction(value))
    return round(near, 6) if isinstance(near, float) else near
