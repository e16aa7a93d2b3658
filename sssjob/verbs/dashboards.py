"""What jobs of a store used over time, divided where runs go over a boundary."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC
from math import isfinite
from typing import NamedTuple

from sssjob import spans
from sssjob.errors import InvalidValue
from sssjob.spans import Pieces
from sssjob.store import dashboards
from sssjob.store.browsing import remembered
from sssjob.store.condition import Condition
from sssjob.store.dashboards import DAY, DailyRuns
from sssjob.store.engine import CountedIn, ReadTransaction

SPANS = {"day": 1, "week": 7, "month": 28, "year": 365}  # and the fewest days that each has
PIECES = 366  # spans that are told at most: the last ones
FEW = 40  # spans for which a shorter one is chosen where nobody says which
SHOWN = 5  # values that are told apart: those with the most
Value = str | float | None


class CalendarSpan(NamedTuple):
    """A day, week, month or year in UTC: its name, and its first second and that of the next."""

    name: str
    begin: int
    end: int


class UsageOverTime(NamedTuple):
    """A measure over time. ``amounts`` has a row for each of ``spans``, and in it a number for each
    of ``values``, and one more for all others if there are ``others``; None is nothing to tell.

    ``totals`` are those of whole spans. ``undated`` jobs do not tell when they ended, and are
    in no span; ``earlier`` is whether some spans are cut off.
    """

    span: str
    spans: tuple[CalendarSpan, ...]
    values: tuple[Value, ...]
    others: bool
    amounts: tuple[tuple[float | None, ...], ...]
    totals: tuple[float | None, ...]
    undated: int
    earlier: bool


def usage(
    engine: CountedIn, by: str, measure: str, span: str, where: Condition,
    window: tuple[int, int] | None = None,
) -> UsageOverTime:  # fmt: skip
    """What jobs used in each span of time, by a column.

    ``window`` is the first second and the one behind the last, both at midnight in UTC. Without a
    ``span`` it is one that there are few of. It is remembered until somebody writes.

    Raises ``InvalidValue``.
    """
    if span and span not in SPANS:
        raise InvalidValue(span, f"one of {', '.join(SPANS)}, for span")

    def asked(moment: ReadTransaction) -> UsageOverTime:
        every = [*dashboards.runs(moment, engine.dialect, by, measure, where)]
        return _usage(every, span, window)

    return remembered(engine, ("usage", by, measure, span, where, window), asked)


def _usage(every: Sequence[DailyRuns], span: str, window: tuple[int, int] | None) -> UsageOverTime:
    dated = [each for each in every if each.ended is not None]
    undated = sum(each.jobs for each in every if each.ended is None)
    if not dated:
        return UsageOverTime(span or "month", (), (), False, (), (), undated, False)
    least, most = _limits(dated, window)
    chosen = span or next((each for each in SPANS if (most - least) // SPANS[each] < FEW), "year")
    begin = max(least, most - PIECES * SPANS[chosen])
    low, high = begin * DAY, (most + 1) * DAY
    if window is not None:
        high = min(high, window[1])
    cut = spans.pieces((chosen,), UTC, low, high, [(low, high - 1)])
    return _divided(dated, cut, (low, high), chosen, undated, begin > least)


def _limits(dated: Sequence[DailyRuns], window: tuple[int, int] | None) -> tuple[int, int]:
    """The first and the last day on which anything ran in a window."""
    least = min(each.begun for each in dated if each.begun is not None)
    most = max(each.ended for each in dated if each.ended is not None)
    if window is None:
        return least, most
    first, last = window[0] // DAY, window[1] // DAY - 1
    least = min(max(least, first), last)
    return least, max(min(most, last), least)


def _divided(
    dated: Sequence[DailyRuns], cut: Pieces, window: tuple[int, int], chosen: str, undated: int,
    earlier: bool,
) -> UsageOverTime:  # fmt: skip
    """The runs in the pieces of a window."""
    low, high = window
    first, last = cut.of(low), cut.of(high - 1)
    parts: dict[Value, dict[int, list[float]]] = defaultdict(dict)
    for each in dated:
        rows = parts[each.value]  # also of a value of which nothing is stated
        for piece, sums in _of(each, cut, first, last):
            kept = rows.setdefault(piece, [0.0] * len(sums))
            for number, some in enumerate(sums):
                kept[number] += some
    totals = {
        value: sum(_told(each) or 0 for each in rows.values()) for value, rows in parts.items()
    }
    ordered = sorted(totals, key=lambda value: (-totals[value], value is None, str(value)))
    shown, rest = ordered[:SHOWN], ordered[SHOWN:]
    groups = [[value] for value in shown] + ([rest] if rest else [])
    amounts = tuple(
        tuple(_added([parts[value].get(piece) for value in group]) for group in groups)
        for piece in range(first, last + 1)
    )
    whole = tuple(
        _added([rows.get(piece) for rows in parts.values()]) for piece in range(first, last + 1)
    )
    named = tuple(
        CalendarSpan(
            cut.names[piece][0], max(cut.bounds[piece], low), min(cut.bounds[piece + 1], high)
        )
        for piece in range(first, last + 1)
    )
    return UsageOverTime(chosen, named, tuple(shown), bool(rest), amounts, whole, undated, earlier)


def _of(runs: DailyRuns, cut: Pieces, first: int, last: int) -> Iterator[tuple[int, list[float]]]:
    """The pieces that runs have a part of, and their sums there; of a count, where they ended."""
    begun, ended = runs.begun, runs.ended
    assert begun is not None
    assert ended is not None
    where = cut.of(ended * DAY)
    if runs.sums is None:
        return
    if not runs.sums:
        if first <= where <= last:
            yield where, [float(runs.jobs)]
        return
    if begun == ended:
        if first <= where <= last:
            yield where, [each.whole for each in runs.sums]
        return
    inner = ended - begun - 1  # whole days between
    for piece in range(max(first, cut.of(begun * DAY)), min(last, where) + 1):
        low, high = cut.bounds[piece] // DAY, cut.bounds[piece + 1] // DAY
        days = max(min(high, ended) - max(low, begun + 1), 0)
        yield (
            piece,
            [
                (each.first if low <= begun < high else 0.0)
                + (each.last if low <= ended < high else 0.0)
                + ((each.whole - each.first - each.last) * days / inner if inner else 0.0)
                for each in runs.sums
            ],
        )


def _added(rows: Sequence[list[float] | None]) -> float | None:
    some = [each for each in rows if each is not None]
    return _told([sum(each) for each in zip(*some, strict=True)]) if some else None


def _told(sums: Sequence[float]) -> float | None:
    """The measure that sums are of: the first, or the part that it is of the second.

    None for what no double holds: somebody stated numbers beyond all others.
    """
    if len(sums) < 2:
        found = sums[0]
    elif not sums[1]:
        return None
    else:
        found = sums[0] / sums[1]
    return found if isfinite(found) else None
