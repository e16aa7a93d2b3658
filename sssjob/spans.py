"""Spans of time as a report has them, in any zone: where each begins, and which rows are in it.

Strategy. A report by day in the zone of a site has days of 23 and 25 hours, and its windows begin
at any second. The calendar of Python says what a span is called, here as in every other report. But
it cannot be asked for each of a hundred million times.

The idea is to cut time at every boundary of a span and of the window. The pieces are few, and a
database finds the piece of a time by its quotient: time is divided by the largest number of seconds
that divides all boundaries, a day in UTC, mostly, or a quarter of an hour.

Why it is right: no boundary lies within a quotient, since all are multiples of it. A piece ends
before the clock of the zone shows the next span, or is set: within it, the name is one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise, product

from sssjob.errors import InvalidValue, UnusableInput

MOST = 1_000_000  # pieces of time
APART = 32 * 86_400  # seconds in which nothing is, and time is not cut
BEFORE = 86_400 * 600_000  # seconds that make every time that has a date a positive number
_QUOTIENTS = (86_400, 3600, 900, 60, 1)
_FAR = 60_000_000_000
DATED = 50_000_000_000  # seconds from 1970, some 1584 years: what has a date in every zone
# fmt: off
_FORMS = {
    "hour": "%Y-%m-%d %H:00", "day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m", "year": "%Y",
}
# fmt: on
SPANS = tuple(_FORMS)
PERIOD = "period"  # between two of the times at which names, factors or rates of a site change
TIMED = (*SPANS, PERIOD)  # what a group has of time


@dataclass(frozen=True, slots=True)
class Pieces:
    """Pieces of time behind each other: where each begins, what it is called, and is it inside.

    The last bound is the end of the last piece.
    """

    bounds: Sequence[int]
    names: Sequence[tuple[str, ...]]
    inside: Sequence[bool]

    def of(self, time: int) -> int:
        """The number of the piece in which a time is."""
        return bisect_right(self.bounds, time) - 1

    @property
    def quotient(self) -> int:
        """The seconds by which times are divided."""
        inner = self.bounds[1:-1]
        return next(each for each in _QUOTIENTS if not any(bound % each for bound in inner))


def in_order(since: int | None, until: int | None) -> None:
    """Raise ``InvalidValue`` for a window that ends before it begins; None is no bound.

    >>> in_order(0, 0), in_order(None, 0)
    (None, None)
    """
    if since is not None and until is not None and since > until:
        raise InvalidValue(f"{since}..{until}", "a span of time that does not end before it begins")


def key_of(by: Iterable[str], names: Iterable[str], spans: Iterable[str]) -> tuple[str, ...]:
    """What names a group: values of what groups it, of which those of time come apart."""
    others, times = iter(names), iter(spans)
    return tuple(next(times if name in TIMED else others) for name in by)


def together(times: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans of time behind each other, of some in any order: those that are not far ``APART``.

    >>> together([(10**9, 10**9), (5, 6), (0, 5)])
    [(0, 6), (1000000000, 1000000000)]
    """
    found: list[tuple[int, int]] = []
    for least, most in sorted(times):
        low, high = found.pop() if found and least - found[-1][1] <= APART else (least, most)
        found.append((low, max(high, most)))
    return found


def span_name(span: str, time: int, zone: tzinfo) -> str:
    """What a report calls the hour, day, week, month or year (``SPANS``) of a time."""
    return f"{datetime.fromtimestamp(time, zone):{_FORMS[span]}}"


def period_name(cuts: Sequence[int], time: int) -> str:
    """What a group calls the period of a time: how many of the ``cuts``, upwards, are not after it.

    >>> period_name((10, 20), 9), period_name((10, 20), 10)
    ('0', '1')
    """
    return str(bisect_right(cuts, time))


def pieces(
    by: Sequence[str], zone: tzinfo, since: int | None, until: int | None,
    times: Sequence[tuple[int, int]], cuts: Sequence[int] = (),
) -> Pieces:  # fmt: skip
    """Time cut at the spans that a report is by, and at its window, where there are ``times``.

    These are spans behind each other, each from its first to its last second. If the report is by
    ``PERIOD``, time is cut at the ``cuts``, too.

    Times have dates with a year behind them (``DATED``). The window may be anywhere: where no time
    is, nothing is asked of the calendar, which ends with the year 9999.

    Raises ``UnusableInput`` for more than can be held.
    """
    timed = [name for name in by if name in TIMED]
    spans = [name for name in timed if name in SPANS]
    least, most = times[0][0], times[-1][1]
    begin = least if since is None else min(max(least, since), most)
    end = most + 1 if until is None else min(most + 1, until)
    window = {each for each in (since, until) if each is not None}
    changes = [each for each in cuts if begin < each < end] if PERIOD in timed else []
    within = [(max(low, begin), min(high + 1, end)) for low, high in times]
    firsts = (low for low, _ in within[1:])  # what is before is called by what was there
    bounds = sorted({-_FAR, *firsts, *_cuts(spans, zone, within), *changes, *window, _FAR})
    inside = [
        (since is None or low >= since) and (until is None or high <= until)
        for low, high in pairwise(bounds)
    ]
    named = (min(max(low, begin), most) for low in bounds[:-1])
    names = [
        tuple(
            period_name(cuts, time) if name == PERIOD else span_name(name, time, zone)
            for name in timed
        )
        for time in named
    ]
    return Pieces(bounds, names, inside)


def _cuts(
    spans: Sequence[str], zone: tzinfo, within: Sequence[tuple[int, int]]
) -> Iterator[int]:  # fmt: skip
    """Where one of the spans ends, or the clock is set, in times from one to before another."""
    found = 0
    for name, (time, end) in product(spans, within):
        while (time := _next(name, zone, time)) < end:
            found += 1
            if found > MOST:
                text = f"a report by {name} of more than {MOST} of them: name --since and --until"
                raise UnusableInput(text)
            yield time


def _next(name: str, zone: tzinfo, time: int) -> int:
    """Where the span of a time ends, or before that the clock is set for the first time."""
    local = datetime.fromtimestamp(time, zone)
    shift = local.utcoffset() or timedelta()
    plain = local.replace(tzinfo=None)
    end = time + round((_ENDS[name](plain) - plain).total_seconds())
    if zone is UTC or _shift(zone, end - 1) == shift:
        return end
    low, high = time, end - 1  # at low the clock is as at the beginning, at high it is not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _shift(zone, middle) == shift else (low, middle)
    return high


def _shift(zone: tzinfo, time: int) -> timedelta:
    return datetime.fromtimestamp(time, zone).utcoffset() or timedelta()


def _day(local: datetime) -> datetime:
    return local.replace(hour=0, minute=0, second=0, microsecond=0)


_ENDS: dict[str, Callable[[datetime], datetime]] = {
    "hour": lambda local: local.replace(minute=0, second=0) + timedelta(hours=1),
    "day": lambda local: _day(local) + timedelta(days=1),
    "week": lambda local: _day(local) + timedelta(days=7 - local.weekday()),
    "month": lambda local: (_day(local).replace(day=1) + timedelta(days=32)).replace(day=1),
    "year": lambda local: _day(local).replace(year=local.year + 1, month=1, day=1),
}
assert set(_ENDS) == set(SPANS)
