"""What of an HTCondor ad takes more than one attribute: numbers worked out before the mapping.

Attributes come as numbers, texts or None; what is worked out is text, "" where it is not known.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.integers import LARGEST, SMALLEST
from sssjob.records.lines import legal
from sssjob.records.values import number

# What is worked out, in the order in which ``worked_out`` gives it.
WORKED_OUT = (
    "Id", "StartTime", "EndTime", "Duration", "CpuDuration", "ResidentSet", "Image", "DiskSpace",
    "Unread",
)  # fmt: skip
NUMBERS = (
    "ClusterId", "ProcId", "JobStatus", "JobCurrentStartDate", "JobStartDate", "CompletionDate",
    "EnteredCurrentStatus", "RemoteWallClockTime", "CumulativeSuspensionTime", "CommittedTime",
    "CommittedSuspensionTime", "NumJobStarts", "CumulativeRemoteUserCpu", "CumulativeRemoteSysCpu",
    "RemoteUserCpu", "RemoteSysCpu", "ResidentSetSize_RAW", "ResidentSetSize", "ImageSize_RAW",
    "ImageSize", "DiskUsage_RAW", "DiskUsage",
)  # fmt: skip
# For the page that says where each goes.
MADE_OF = {
    "Id": ("ClusterId", "ProcId"),
    "StartTime": ("JobStartDate", "JobCurrentStartDate"),
    "EndTime": ("CompletionDate", "EnteredCurrentStatus", "JobStatus"),
    "Duration": ("RemoteWallClockTime", "CumulativeSuspensionTime", "CommittedTime",
                 "CommittedSuspensionTime", "NumJobStarts"),
    "CpuDuration": ("CumulativeRemoteUserCpu", "CumulativeRemoteSysCpu", "RemoteUserCpu",
                    "RemoteSysCpu"),
    "ResidentSet": ("ResidentSetSize_RAW", "ResidentSetSize"),
    "Image": ("ImageSize_RAW", "ImageSize"), "DiskSpace": ("DiskUsage_RAW", "DiskUsage"),
    "Unread": ("JobStartDate", "JobCurrentStartDate", "EnteredCurrentStatus", "CommittedTime",
               "CommittedSuspensionTime"),
}  # fmt: skip
_STARTS = MADE_OF["StartTime"]  # each tells when a job began, where the other one does not
# Half of a pair is not the CPU time.
CPU_TIMES = (MADE_OF["CpuDuration"][:2], MADE_OF["CpuDuration"][2:])
REMOVED, COMPLETED = 3, 4
ENDED = (REMOVED, COMPLETED)

# What every job has, whatever else an ad tells.
_NEEDED = frozenset(("ClusterId", "ProcId", "JobStatus"))
_OF_ID = frozenset(MADE_OF["Id"])  # of which a part is another job's # decision 1074
# What has a row of its own, where it is told what it is.
_TOLD = frozenset(("NumJobStarts", "CumulativeSuspensionTime"))
_USAGE = slice(WORKED_OUT.index("Id"), WORKED_OUT.index("Duration") + 1)
_CPU = WORKED_OUT.index("CpuDuration")
# What is never below 0: all but what every job has.
_AMOUNTS = frozenset(NUMBERS) - _NEEDED
_MOST = dict.fromkeys((*MADE_OF["StartTime"], *MADE_OF["EndTime"][:2]), units.TIME_LIMIT + 1)
_TRIED = (
    None,
    0,
    1,
    units.TIME_LIMIT,
)  # in the place of what is no number: does it change anything?

_pick = itemgetter(*range(len(NUMBERS)))
_KINDS = frozenset((int, float, type(None)))
_HUGE = LARGEST + 1  # from here on, and NaN, no number of anything


def worked_out(values: Sequence[Any]) -> tuple[str, ...]:
    """The texts of WORKED_OUT for an ad whose values begin with NUMBERS.

    A text that is a number counts as that number. What is none, and an amount below 0, is not
    known: the next attribute counts that tells the same, and "Unread" has it by its name, as JSON.
    Raises ``InvalidValue`` where that is what the usage
    is made of: where another number in its place would give another one. # decision 750
    """
    found = _pick(values)
    if _KINDS.issuperset(map(type, found)):
        try:
            return _worked_out(found)
        except (ValueError, OverflowError):  # of infinity, NaN, an amount below 0, part of an id
            pass
    said = [*map(as_number, found)]
    odd = {
        place: text
        for place, (name, value) in enumerate(zip(NUMBERS, said, strict=True))
        if (text := _odd(value, 0 if name in _AMOUNTS else -_HUGE, _MOST.get(name, _HUGE)))
    }
    for name in _OF_ID:
        if _is_part(value := said[NUMBERS.index(name)]):
            raise InvalidValue(repr(value), f"a whole number: {name}")
    numbers = [None if place in odd else _number(value) for place, value in enumerate(said)]
    known = [*_worked_out(numbers)]
    for place, text in odd.items():
        name, is_below = NUMBERS[place], type(said[place]) in _KINDS and said[place] < 0
        changed = _changed(numbers, place)
        is_told = name in _STARTS and any(numbers[each] for each in map(NUMBERS.index, _STARTS))
        is_needed = changed[_USAGE] != known[_USAGE] and not (is_below or is_told)
        if name in _NEEDED or is_needed:
            raise InvalidValue(text, f"a number: {name}")
        if changed[_CPU] != known[_CPU] and not _has_both(numbers):
            known[_CPU] = ""  # half of it is not the CPU time
    unread = {NUMBERS[place]: text for place, text in odd.items() if NUMBERS[place] not in _TOLD}
    known[-1] = json.dumps(unread) if unread else ""
    return tuple(known)


def _is_part(value: Any) -> bool:
    """Whether a number is no whole one."""
    return type(value) is float and math.isfinite(value) and not value.is_integer()


def _changed(numbers: Sequence[Any], place: int) -> list[str]:
    """What is worked out, with "?" where it is another thing with another number in a place."""
    tried = [_worked_out([*numbers[:place], each, *numbers[place + 1 :]]) for each in _TRIED]
    return [same[0] if len({*same}) == 1 else "?" for same in zip(*tried, strict=True)]


def _worked_out(numbers: Sequence[Any]) -> tuple[str, ...]:
    (
        cluster, process, status, current, first, completed, entered, wall, suspended, committed,
        paused, starts, user, system, last_user, last_system, rss_raw, rss, image_raw, image,
        disk_raw, disk,
    ) = numbers  # fmt: skip
    # Where only the CPU time of the last run is known, the time is that of this run as well. The
    # start is of what the time is of: of all runs, or of the last one. # decision 957
    if user is None and committed and (starts or 0) > 1:
        wall, suspended, first = committed, paused, None
    amounts = (
        user or 0, system or 0, last_user or 0, last_system or 0, rss_raw or 0, rss or 0,
        image_raw or 0, image or 0, disk_raw or 0, disk or 0, current or 0, first or 0,
        completed or 0, entered or 0, wall or 0, suspended or 0, committed or 0, paused or 0,
        starts or 0,
    )  # fmt: skip
    if min(amounts) < 0:
        raise ValueError("an amount below 0")
    if _is_part(cluster) or _is_part(process):
        raise ValueError("a part of an id")
    if max(amounts) >= _HUGE:
        raise OverflowError("a number of more than 64 bits")
    if max(current or 0, first or 0, completed or 0, entered or 0) > units.TIME_LIMIT:
        raise OverflowError("a time of more than 32 bits")
    user, system = _cpu_times(user, system, last_user, last_system)
    ended = (completed or entered) if status in ENDED else None if status is not None else completed
    if wall is None:
        first = current or first
        wall, suspended = _span(first, ended, suspended, committed, paused)
    away = suspended or 0
    away = away if wall is None or away <= wall else 0  # nothing is suspended for longer
    return (
        "" if cluster is None else f"{int(cluster)}.{'' if process is None else int(process)}",
        _whole(first or current),
        _whole(ended),
        "" if wall is None else _whole(wall - away, zero=True),
        "" if user is None and system is None else _whole((user or 0) + (system or 0), zero=True),
        _whole(rss if not rss_raw and rss is not None else rss_raw, zero=True),
        _whole(image if not image_raw and image is not None else image_raw, zero=True),
        _whole(disk if not disk_raw and disk is not None else disk_raw, zero=True),
        "",
    )


def _cpu_times(user: Any, system: Any, last_user: Any, last_system: Any) -> tuple[Any, Any]:
    """The CPU times of all runs, or those of the last one, where these tell more.

    The sums over all runs of a job are made when a run ends; one of two is no sum.
    """
    if last_user is None and last_system is None:
        return user, system
    both = user is not None and system is not None
    if last_user is None or last_system is None:
        return (user, system) if user or system else (last_user, last_system)
    if both and user + system >= last_user + last_system:
        return user, system
    return last_user, last_system


def _has_both(numbers: Sequence[Any]) -> bool:
    """Whether an ad tells the CPU time of its job whole, and of the system."""
    place = NUMBERS.index("CumulativeRemoteUserCpu")
    return None not in _cpu_times(*numbers[place : place + 4])


def _span(
    start: Any, end: Any, suspended: Any, committed: Any, paused: Any
) -> tuple[Any, Any]:  # fmt: skip
    """The wall time of an ad without one, and how much of it was suspended: that of the last good
    run, or else from its start to its end.
    """
    if committed:
        return committed, paused
    if start and end and end >= start:
        return end - start, suspended
    return None, suspended


def told(value: Any) -> str:
    """A value as text; an expression, what is undefined, and blanks are none.

    >>> told(1.5), told(2.0), told(True), told("/Expr(1 + Q)/")
    ('1.5', '2', 'true', '')
    """
    if isinstance(value, str):
        return "" if is_expression(value) or is_blank(value) else legal(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return ""


def as_it_stands(value: Any) -> str:
    """A value that is not what it should be as text, an ad and a list as JSON has them."""
    return told(value) or legal(json.dumps(value, ensure_ascii=False, default=str))


def is_blank(value: Any) -> bool:
    """Whether a value is a text of which nothing is seen: it tells nothing, whoever reads it."""
    return isinstance(value, str) and not value.strip()


def is_expression(text: str) -> bool:
    """Whether a text stands for an expression, as JSON has to write it."""
    return text.startswith("/Expr(") and text.endswith(")/")


def _whole(value: float | None, *, zero: bool = False) -> str:
    """A number to the nearest whole one, a half rounded up; 0 is none unless ``zero`` is."""
    if not value or value < 0:
        return "0" if zero and value == 0 else ""
    return str(value if type(value) is int else units.rounded(value))


def as_number(value: Any) -> Any:
    """A value, of a text that is a number of 64 bits this number."""
    if not isinstance(value, str):
        return value
    try:
        found = number(value)
        if not SMALLEST <= found <= LARGEST:
            return value
        return int(found) if found.denominator == 1 else float(found)
    except (InvalidValue, OverflowError):
        return value


def _number(value: Any) -> Any:
    """A number or None, which an expression is too, and what is none."""
    return value if type(value) in _KINDS and not _odd(value) else None


def _odd(value: Any, least: float = -_HUGE, most: float = _HUGE) -> str:
    """The text of what should be a number, or an expression, and is not; else ""."""
    if value is None or (type(value) in _KINDS and least <= value < most):
        return ""
    is_unknown = isinstance(value, str) and (is_expression(value) or is_blank(value))
    return "" if is_unknown else as_it_stands(value)
