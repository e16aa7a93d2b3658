"""``absTime`` and ``relTime``: text to values and back."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from sssjob.classads.values import AbsTime, RelTime, exists

_ABSOLUTE = re.compile(
    r"\s*([0-9]{4})-?([0-9]{2})-?([0-9]{2})(?:[T ]([0-9]{2}):?([0-9]{2}):?([0-9]{2}))?"
    r"\s*(Z|[+-][0-9]{2}:?[0-9]{2})?\s*",
    re.IGNORECASE,
)
# Each amount with its letter or sign: one colon is behind minutes, the first of two behind hours.
_RELATIVE = re.compile(
    r"\s*([+-])?\s*(?=[0-9])(?:([0-9]{1,9})\s*[d+]\s*)??(?:([0-9]{1,9})\s*[h:]\s*)??"
    r"(?:([0-9]{1,9})\s*[m:]\s*)?(?:([0-9]{1,18}(?:\.[0-9]{1,9})?)\s*s?\s*)?",
    re.IGNORECASE | re.ASCII,
)


def absolute(text: str) -> AbsTime | None:
    """A moment such as ``2003-04-28T19:21:53+01:00``; without a zone it is UTC. None if none."""
    found = _ABSOLUTE.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    offset = _offset(found[7] or "Z")
    try:
        zone = timezone(timedelta(seconds=offset))
        moment = datetime(year, month, day, hour, minute, second, tzinfo=zone)
    except ValueError:
        return None
    told = AbsTime(int(moment.timestamp()), offset)
    return told if exists(told) else None


def relative(text: str) -> RelTime | None:
    """A span such as ``1+02:24:13.5`` or ``1d2h24m``: days, hours, minutes, seconds; else None."""
    found = _RELATIVE.fullmatch(text)
    if found is None or (found[1] == "+" and found[2]):  # whose + would that be
        return None
    days, hours, minutes = (int(part or 0) for part in found.groups()[1:4])
    seconds = ((days * 24 + hours) * 60 + minutes) * 60 + float(found[5] or 0)
    return RelTime(-seconds if found[1] == "-" else seconds)


def absolute_text(moment: AbsTime) -> str:
    """A moment as HTCondor writes it.

    >>> absolute_text(AbsTime(1051557713, 3600))
    '2003-04-28T20:21:53+01:00'
    """
    local = datetime.fromtimestamp(moment.seconds, UTC) + timedelta(seconds=moment.offset)
    sign, minutes = "+" if moment.offset >= 0 else "-", abs(moment.offset) // 60
    return f"{local:%Y-%m-%dT%H:%M:%S}{sign}{minutes // 60:02}:{minutes % 60:02}"


def relative_text(span: RelTime) -> str:
    """A span as HTCondor writes it.

    >>> relative_text(RelTime(95053))
    '1+02:24:13'
    """
    whole = int(abs(span.seconds))
    rest = f"{abs(span.seconds) - whole:.3f}"[1:] if abs(span.seconds) % 1 else ""
    minutes, seconds = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    sign = "-" if span.seconds < 0 else ""
    day = f"{days}+" if days else ""
    hour = f"{hours:02}:" if days or hours else ""
    minute = f"{minutes:02}:" if days or hours or minutes else ""
    return f"{sign}{day}{hour}{minute}{seconds:02}{rest}"


def _offset(zone: str) -> int:
    if zone.upper() == "Z":
        return 0
    digits = zone[1:].replace(":", "")
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -seconds if zone[0] == "-" else seconds
