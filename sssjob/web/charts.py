"""The dashboards: what jobs used over time, and how they spread, as pages and as data."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from starlette.responses import Response

from sssjob import measures
from sssjob.drawing import histogram, stacked
from sssjob.store.dashboards import DIMENSIONS, MEASURES, SPREAD, Bin, spread
from sssjob.verbs import dashboards
from sssjob.verbs.dashboards import SPANS, CalendarSpan, UsageOverTime, Value
from sssjob.visible import Markup
from sssjob.web import listing, pages
from sssjob.web.listing import COUNTED, FILTERS, PART, RAN
from sssjob.web.parameters import Parameter
from sssjob.web.views import CSV, JSON, PARQUET, PageRequest

_DAY = "%Y-%m-%d"
_TEXT: dict[str, object] = {"type": "string"}
_SEARCH = Parameter("q", "Only jobs with this text, as for the table of jobs.", _TEXT)
_OTHERS = "(others)"
_NOT_STATED = "not stated"
_FAILED = "failed"
# What tells why jobs failed.
_FAILURES = (("exit", "their exit code"), ("status", "their StatusMessage"))

# fmt: off
USAGE = (
    Parameter("by", "The column that amounts are divided by.",
              {"enum": [*DIMENSIONS], "default": DIMENSIONS[0]}),
    Parameter("measure", "What is added up: in seconds, a number, or a part of 1.",
              {"enum": [*MEASURES], "default": MEASURES[0]}),
    Parameter("span", "The spans of time; without it, such that there are few.",
              {"enum": [*SPANS]}),
    _SEARCH, *FILTERS,
)
WAITS = (
    Parameter("of", "The number by which jobs are counted.",
              {"enum": [*SPREAD], "default": next(iter(SPREAD))}),
    _SEARCH, *FILTERS,
)
# fmt: on


class Cell(NamedTuple):
    """An amount as people read it, and the address of the jobs behind it."""

    text: str
    jobs: str


class ChartRow(NamedTuple):
    """A line of the table below a picture."""

    name: str
    cells: tuple[Cell, ...]


def usage(asked: PageRequest) -> Response:
    """What jobs used over time, divided at the boundaries of spans."""
    given = asked.given
    by, measure = given.get("by") or DIMENSIONS[0], given.get("measure") or MEASURES[0]
    window = listing.window(given.get(RAN)) if given.get(RAN) else None
    where = asked.table.where()
    with asked.site.stores.opened() as kept:
        counted = asked.site.stores.summaries.of(kept, where)
        told = dashboards.usage(counted.engine, by, measure, given.get("span"), where, window)
    heads = (*map(_key, told.values), *((_OTHERS,) if told.others else ()))
    if asked.form == JSON:
        return pages.json(_as_dict(told, by, measure) | {"as_of": counted.at})
    if asked.form in (CSV, PARQUET):
        lines = (
            (span.name, *amounts, total)
            for span, amounts, total in zip(told.spans, told.amounts, told.totals, strict=True)
        )
        return asked.data((told.span, *heads, "total"), lines)
    return asked.page(
        "usage.html", picture=_stacked(told, by, measure), rows=_rows(asked, told, by, measure),
        heads=[each or _NOT_STATED for each in heads], told=told, by=by, measure=measure,
        title_of=measures.BY_NAME[measure].title,
        named=[(name, measures.BY_NAME[name].title) for name in MEASURES],
        dimensions=_pairs(DIMENSIONS), spans=_pairs(SPANS),
        own=("by", "measure", "span"), as_of=counted.at, asked=asked,
        forms=(JSON, CSV, PARQUET), table=asked.table,
        failures=[
            (words, f"/usage?measure=jobs&by={name}&outcome={_FAILED}") for name, words in _FAILURES
        ],
    )  # fmt: skip


def waits(asked: PageRequest) -> Response:
    """How many jobs waited for how long, or had which size."""
    name = asked.given.get("of") or next(iter(SPREAD))
    where = asked.table.where()
    with asked.site.stores.opened() as kept:
        counted = asked.site.stores.summaries.of(kept, where)
        parts = spread(counted.engine, name, where)
    named = [*zip(_ranges(parts), parts, strict=True)]
    if asked.form == JSON:
        told = [{"from": part.low, "to": high, "jobs": part.jobs} for (_, high), part in named]
        return pages.json({"of": name, "parts": told, "as_of": counted.at})
    if asked.form in (CSV, PARQUET):
        lines = ((low, high, part.jobs) for (low, high), part in named)
        return asked.data(("from", "to", "jobs"), lines)
    rows = [
        ChartRow(_range(name, low, high), (Cell(str(part.jobs), _of_part(asked, name, low, high)),))
        for (low, high), part in named
    ]
    columns = [
        stacked.StackedColumn(histogram.bound(name, low), (part.jobs,), (str(part.jobs),))
        for (low, _), part in named if low is not None
    ]  # fmt: skip
    most = str(max((part.jobs for (low, _), part in named if low is not None), default=0))
    return asked.page(
        "waits.html", picture=stacked.svg(f"Jobs by {name}", ("",), columns, most), rows=rows,
        name=name, names=_pairs(SPREAD), own=("of",), as_of=counted.at, asked=asked,
        forms=(JSON, CSV, PARQUET), table=asked.table,
    )  # fmt: skip


def _as_dict(told: UsageOverTime, by: str, measure: str) -> dict[str, object]:
    return {
        "by": by,
        "measure": measure,
        "span": told.span,
        "values": [*told.values],
        "rows": [
            {
                "span": span.name, "from": span.begin, "to": span.end,
                "amounts": [*amounts[: len(told.values)]],
                "others": amounts[-1] if told.others else None, "total": total,
            }
            for span, amounts, total in zip(told.spans, told.amounts, told.totals, strict=True)
        ],
        "undated": told.undated,
        "earlier": told.earlier,
    }  # fmt: skip


def _stacked(told: UsageOverTime, by: str, measure: str) -> Markup | None:
    """The picture; parts of 1 do not stand on each other, so of those only the whole is drawn."""
    if not told.spans:
        return None
    title = f"{measures.BY_NAME[measure].title} by {told.span}"
    if measure == "efficiency":
        parts: tuple[str, ...] = ("",)
        amounts: list[tuple[float | None, ...]] = [(total,) for total in told.totals]
    else:
        title += f" and {by}"
        parts = tuple(_key(each) or _NOT_STATED for each in told.values)
        parts += (_OTHERS,) if told.others else ()
        amounts = [*told.amounts]
    columns = [
        stacked.StackedColumn(
            span.name, [max(each or 0.0, 0.0) for each in row], [_words(measure, e) for e in row]
        )
        for span, row in zip(told.spans, amounts, strict=True)
    ]
    most = max((sum(each.amounts) for each in columns), default=0.0)
    return stacked.svg(title, parts, columns, _words(measure, most))


def _rows(asked: PageRequest, told: UsageOverTime, by: str, measure: str) -> list[ChartRow]:
    """The table of the picture, the last span first: each number leads to its jobs."""
    rows = []
    for span, amounts, total in zip(told.spans, told.amounts, told.totals, strict=True):
        values: list[Value] = [*told.values]
        cells = [
            Cell(_words(measure, amount), _jobs(asked, measure, span, {by: _key(value)}))
            for value, amount in zip(values, amounts, strict=False)
        ]
        if told.others:  # no filter says which those are: all of the span are behind them
            cells.append(Cell(_words(measure, amounts[-1]), ""))
        cells.append(Cell(_words(measure, total), _jobs(asked, measure, span, {})))
        rows.append(ChartRow(span.name, tuple(cells)))
    return rows[::-1]


def _jobs(asked: PageRequest, measure: str, span: CalendarSpan, chosen: dict[str, str]) -> str:
    """The address of the jobs that ran in a span, or, where jobs are counted, count in it."""
    days = (datetime.fromtimestamp(each, UTC).strftime(_DAY) for each in (span.begin, span.end))
    when = {COUNTED if measure == "jobs" else RAN: "..".join(days)}
    plain = asked.given.having(by=None, measure=None, span=None, **{RAN: None})
    if measure == "jobs" and asked.given.get(RAN):
        when[RAN] = asked.given.get(RAN)
    return f"/jobs{plain.having(**chosen, **when).query}"


def _of_part(asked: PageRequest, name: str, low: int | None, high: int | None) -> str:
    """The address of the jobs of a part; "" for those that no filter finds."""
    if low is None:
        return ""
    told = f"{name}:{low}..{'' if high is None else high}"
    parts = (*asked.given.all(PART), told)
    return f"/jobs{asked.given.having(of=None, **{PART: parts}).query}"


def _ranges(parts: Iterable[Bin]) -> list[tuple[int | None, int | None]]:
    lows = [part.low for part in parts]
    return [*zip(lows, (*lows[1:], None), strict=True)]


def _range(name: str, low: int | None, high: int | None) -> str:
    return _NOT_STATED if low is None else histogram.part(name, low, high)


def _key(value: Value) -> str:
    """A value as a filter of the table has it; "" is not stated."""
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value:.15g}"


def _words(measure: str, amount: float | None) -> str:
    if amount is None:
        return "–"
    form = measures.BY_NAME[measure].form
    if form == measures.COUNT:
        return str(int(amount))
    if form == measures.PART:
        return f"{amount * 100:.0f} %"
    return f"{amount / measures.SCALES.get(form, 1):.2f}"


def _pairs(names: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, name) for name in names]
