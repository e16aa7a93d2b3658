"""Functions of times. What no zone is said of is UTC: the zone of this machine is not the job's."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta

from sssjob.classads import times
from sssjob.classads.numbers import integer
from sssjob.classads.values import ERROR, UNDEFINED, AbsTime, Ad, RelTime, Special

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sssjob.classads.values import Function, Value

    Now = Callable[[], float]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86400
PARTS = ("Year", "Month", "Day", "Hours", "Minutes", "Seconds")  # of a moment as an ad


def _time(now: Now) -> Value:
    return int(now())


def _current(now: Now) -> Value:
    return AbsTime(int(now()))


def _zone(now: Now) -> Value:
    return RelTime(0)


def _of_the_day(now: Now) -> Value:
    return RelTime(int(now()) % _DAY)


def _absolute(now: Now, value: Value = UNDEFINED, *zone: Value) -> Value:
    if isinstance(value, Special):
        return ERROR if zone and type(zone[0]) is not int else value
    if isinstance(value, str):
        return (times.absolute(value) or ERROR) if not zone else ERROR
    if zone and type(zone[0]) is not int:
        return ERROR
    if isinstance(value, AbsTime):
        return value
    seconds = ERROR if isinstance(value, bool) else integer(value)
    offset = zone[0] if zone else 0
    if not isinstance(seconds, int) or not isinstance(offset, int) or abs(offset) >= _DAY:
        return ERROR
    return AbsTime(seconds, offset)


def _here_and_now(now: Now, *values: Value) -> Value:
    return _absolute(now, *values) if values else _current(now)


def _relative(now: Now, value: Value) -> Value:
    if isinstance(value, (Special, RelTime)):
        return value
    if isinstance(value, str):
        return times.relative(value) or ERROR
    if isinstance(value, AbsTime):
        return RelTime(value.seconds)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return RelTime(value)
    return ERROR


def _calendar(moment: AbsTime, offset: int = 0) -> datetime | None:
    try:
        return _EPOCH + timedelta(seconds=moment.seconds + offset)
    except OverflowError:
        return None


# What is asked of a moment is told in UTC, and counts as C counts: the first day of a year is 0.
_PARTS: dict[str, Callable[[datetime], int]] = {
    "year": lambda date: date.year,
    "month": lambda date: date.month,
    "dayofyear": lambda date: date.timetuple().tm_yday - 1,
    "dayofmonth": lambda date: date.day,
    "dayofweek": lambda date: date.isoweekday() % 7,
    "hours": lambda date: date.hour,
    "minutes": lambda date: date.minute,
    "seconds": lambda date: date.second,
}
_SPAN: dict[str, Callable[[int], int]] = {
    "days": lambda span: span // _DAY,
    "hours": lambda span: span % _DAY // 3600,
    "minutes": lambda span: span % 3600 // 60,
    "seconds": lambda span: span % 60,
}


def _part(name: str) -> Function:
    def asked(now: Now, value: Value) -> Value:
        if isinstance(value, AbsTime) and name in _PARTS:
            date = _calendar(value)
            return ERROR if date is None else _PARTS[name](date)
        if isinstance(value, RelTime) and name in _SPAN and abs(value.seconds) < 2**63:
            found = _SPAN[name](int(abs(value.seconds)))
            return -found if value.seconds < 0 else found
        return ERROR

    return asked


def _split(now: Now, value: Value) -> Value:
    if value is UNDEFINED:
        return UNDEFINED
    if isinstance(value, RelTime) and abs(value.seconds) < 2**63:
        return _split_span(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        seconds = integer(value)
        value = AbsTime(seconds) if isinstance(seconds, int) else ERROR
    date = _calendar(value, value.offset) if isinstance(value, AbsTime) else None
    if date is None or not isinstance(value, AbsTime):
        return ERROR
    return Ad({
        "Type": "AbsoluteTime", "Year": date.year, "Month": date.month, "Day": date.day,
        "Hours": date.hour, "Minutes": date.minute, "Seconds": date.second,
        "Offset": value.offset,
    })  # fmt: skip


def _split_span(span: RelTime) -> Ad:
    whole = int(abs(span.seconds))
    parts = {name.title(): of(whole) for name, of in _SPAN.items()}
    parts["Seconds"] += abs(span.seconds) - whole  # type: ignore[assignment]
    largest = next((name for name, count in parts.items() if count), "Seconds")
    if span.seconds < 0:  # the first one carries the sign
        parts[largest] = -parts[largest]
    return Ad({"Type": "RelativeTime", **parts, "Seconds": float(parts["Seconds"])})


_TIMELESS = re.compile(r"(?:[^%]|%[%nt])*")  # a form that says nothing of a moment


def _format(now: Now, *values: Value) -> Value:
    moment: Value = values[0] if values else int(now())
    form = values[1] if len(values) > 1 else "%c"
    if not isinstance(form, str) or isinstance(moment, (bool, str, RelTime)):
        return ERROR
    try:
        parts = _of_parts(moment) if isinstance(moment, Ad) else _of_seconds(moment)
        if parts is None:
            return ERROR
        # What has no zone of its own would be told in that of this process.
        return time.strftime(form, time.struct_time((*parts[:8], 0, "UTC", 0)))
    except (OverflowError, ValueError, OSError):
        # No calendar has the moment; who asks for nothing of it gets what is left.
        return time.strftime(form, time.gmtime(0)) if _TIMELESS.fullmatch(form) else ERROR


def _of_seconds(moment: Value) -> time.struct_time | None:
    """The parts of a number of seconds; None of what is none. Raises ``OverflowError``."""
    seconds = integer(moment)
    if isinstance(moment, float) and not isinstance(seconds, int):
        raise OverflowError
    if not isinstance(seconds, int):
        return None
    return time.gmtime(seconds + (moment.offset if isinstance(moment, AbsTime) else 0))


def _of_parts(moment: Ad) -> time.struct_time | None:
    """The moment of an ad as splitTime() gives it; the time of the day may be absent.

    Raises ValueError if there is no such moment.
    """
    values = (moment.get(name, None if name in PARTS[:3] else 0) for name in PARTS)
    parts = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    if len(parts) < len(PARTS):
        return None
    year, month, day, hour, minute, second = parts
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timetuple()


# fmt: off
TABLE: dict[str, tuple[int, int, Function]] = {
    "time":           (0, 0, _time),
    "currenttime":    (0, 0, _current),
    "timezoneoffset": (0, 0, _zone),
    "daytime":        (0, 0, _of_the_day),
    "abstime":        (0, 2, _here_and_now),
    "reltime":        (1, 1, _relative),
    "splittime":      (1, 1, _split),
    "formattime":     (0, 2, _format),
    **{f"get{name}":  (1, 1, _part(name)) for name in (*_PARTS, "days")},
}
# fmt: on
