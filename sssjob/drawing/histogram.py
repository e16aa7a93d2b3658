"""The histograms of a report as tables, CSV, plain data and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from sssjob.accounting.efficiency import BYTES, SECONDS, amount
from sssjob.drawing import bars, stacked
from sssjob.drawing.columns import aligned
from sssjob.measures import DISTRIBUTIONS, HOURS, PART, SIZE
from sssjob.visible import Markup, visible

if TYPE_CHECKING:
    from sssjob.accounting.report import Key, Report
    from sssjob.measures import Distribution, Histogram, Number

NOT_STATED = "not_stated"  # how many jobs a distribution has no number of
_UNITS = {HOURS: SECONDS, SIZE: BYTES}
_OTHERS, _NOBODY = "(others)", "-"
_TOLD_APART = 5  # groups of a picture; the others are added up


def bound(name: str, low: Number) -> str:
    """The lower bound of a part as people read it.

    >>> bound("wait", 60), bound("memory", 1 << 30), bound("nodes", 3), bound("efficiency", 1)
    ('00:01:00', '1 GB', '3', '100%')
    """
    form = DISTRIBUTIONS[name].form
    return f"{float(low):.0%}" if form == PART else amount(low, _UNITS.get(form, ""))


def part(name: str, low: Number, high: Number | None) -> str:
    """A part as people read it.

    >>> part("wait", 60, 300), part("nodes", 4097, None)
    ('00:01:00 to below 00:05:00', '4097 and more')
    """
    if high is None:
        return f"{bound(name, low)} and more"
    return f"{bound(name, low)} to below {bound(name, high)}"


def tables(report: Report, rows: Sequence[Key], room: int = 0) -> Iterator[str]:
    """A table for each distribution: a line for each group, and below them the total.

    Parts at both ends in which no job is are left out.
    """
    told = report.histograms
    names = len(report.by)
    for at, of in enumerate(told.of if told else ()):
        found = [*_lines(report, rows, at)]
        within = _within(found[-1][1].counts)
        has_gaps = found[-1][1].not_stated > 0
        headings = [*report.by, *(bound(of.name, low) for low in of.bounds[within])]
        lines = [[*headings, "not stated"] if has_gaps else headings]
        for key, each in found if len(found) > 2 else found[:1]:
            numbers = [*each.counts[within], *([each.not_stated] if has_gaps else [])]
            lines.append([*map(visible, key), *map(str, numbers)])
        yield from ("", f"jobs by {of.name}, from:")
        yield from aligned(lines, names, room)


def names(report: Report) -> list[str]:
    """The names of the columns of CSV: the lower bounds, and what is not stated.

    The latter stands beside percentiles already, where there are some.
    """
    told = report.histograms
    return [
        f"{of.name}_{label}"
        for of in (told.of if told else ())
        for label in (
            *(f"from_{_plain(low)}" for low in of.bounds),
            *(() if _has_percentiles(report, of) else (NOT_STATED,)),
        )
    ]


def numbers(report: Report, key: Key) -> list[int]:
    """How many jobs of a group each of these columns has."""
    told = report.histograms
    if told is None:
        return []
    return [
        count
        for of, each in zip(told.of, told.group(key), strict=True)
        for count in (
            *each.counts, *(() if _has_percentiles(report, of) else (each.not_stated,)),
        )
    ]  # fmt: skip


def as_json(report: Report, keys: Iterable[Key]) -> dict[str, object]:
    """The histograms of some groups together as plain data, if there are any."""
    told = report.histograms
    if told is None:
        return {}
    return {
        "histograms": {
            of.name: {
                "parts": [
                    {"from": _plain(low), "to": _plain(high), "jobs": jobs}
                    for (low, high), jobs in zip(_parts(of), each.counts, strict=True)
                ],
                NOT_STATED: each.not_stated,
            }
            for of, each in zip(told.of, told.added(keys), strict=True)
        }
    }  # fmt: skip


def terminal(report: Report, room: int = 0) -> Iterator[str]:
    """The histograms of all jobs as bars of characters, in ``room`` columns; 0 is any."""
    told = report.histograms
    for of, each in zip(told.of, told.total, strict=True) if told else ():
        drawn = [
            bars.Bar(part(of.name, *where), count, str(count))
            for where, count in zip(_parts(of), each.counts, strict=True)
        ]
        yield from bars.terminal(f"jobs by {of.name}", drawn[_within(each.counts)], room)


def svg(report: Report, rows: Sequence[Key]) -> Markup:
    """The first histogram as a picture: columns in which groups stand on each other."""
    told = report.histograms
    assert told is not None
    of = told.of[0]
    named = rows[:_TOLD_APART]
    groups = [told.group(key)[0] for key in named]
    titles = [", ".join(each or _NOBODY for each in key) for key in named]
    if rest := told.groups.keys() - {*named}:
        groups.append(told.added(rest)[0])
        titles.append(_OTHERS)
    stacks = [[each.counts[at] for each in groups] for at in range(len(of.bounds))]
    columns = [
        stacked.StackedColumn(bound(of.name, low), counts, [*map(str, counts)])
        for low, counts in zip(of.bounds, stacks, strict=True)
    ]
    most = max(told.total[0].counts)
    title = f"Jobs by {of.name} and {', '.join(report.by)}"
    return stacked.svg(title, titles, columns, str(most))


def _lines(report: Report, rows: Sequence[Key], at: int) -> Iterator[tuple[Key, Histogram]]:
    """The groups, what was cut off, and the total, each with one of its histograms."""
    told = report.histograms
    assert told is not None
    for key in rows:
        yield tuple(each or _NOBODY for each in key), told.group(key)[at]
    rest = report.groups.keys() - {*rows}
    blank = ("",) * (len(report.by) - 1)
    if rest:
        yield (_OTHERS, *blank), told.added(rest)[at]
    yield ("(total)", *blank), told.total[at]


def _within(counts: Sequence[int]) -> slice:
    """The parts from the first to the last in which there are jobs."""
    some = [number for number, count in enumerate(counts) if count]
    return slice(some[0], some[-1] + 1) if some else slice(0, 1)


def _parts(of: Distribution) -> list[tuple[Number, Number | None]]:
    return [*zip(of.bounds, (*of.bounds[1:], None), strict=True)]


def _has_percentiles(report: Report, of: Distribution) -> bool:
    return report.percentiles is not None and of in report.percentiles.of


def _plain(low: Number | None) -> int | float | None:
    return low if low is None or isinstance(low, int) else float(low)
