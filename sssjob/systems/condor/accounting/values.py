"""What of an HTCondor ad takes more than one attribute: numbers worked out before the mapping.

Attributes come as numbers, texts or None; what is worked out is text, "" where it is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.records.lines import legal

# What is worked out, in the order in which ``worked_out`` gives it.
WORKED_OUT = (
    "Id", "StartTime", "EndTime", "Duration", "CpuDuration", "ResidentSet", "Image", "DiskSpace",
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
    "StartTime": ("JobCurrentStartDate", "JobStartDate"),
    "EndTime": ("CompletionDate", "EnteredCurrentStatus", "JobStatus"),
    "Duration": ("RemoteWallClockTime", "CumulativeSuspensionTime", "CommittedTime",
                 "CommittedSuspensionTime", "NumJobStarts"),
    "CpuDuration": ("CumulativeRemoteUserCpu", "CumulativeRemoteSysCpu", "RemoteUserCpu",
                    "RemoteSysCpu"),
    "ResidentSet": ("ResidentSetSize_RAW", "ResidentSetSize"),
    "Image": ("ImageSize_RAW", "ImageSize"), "DiskSpace": ("DiskUsage_RAW", "DiskUsage"),
}  # fmt: skip
REMOVED, COMPLETED = 3, 4
ENDED = (REMOVED, COMPLETED)

# What an ad can do without, by what is worked out of it.
_OPTIONAL = {
    "CumulativeRemoteUserCpu": "CpuDuration", "CumulativeRemoteSysCpu": "CpuDuration",
    "RemoteUserCpu": "CpuDuration", "RemoteSysCpu": "CpuDuration",
    "ResidentSetSize_RAW": "ResidentSet", "ResidentSetSize": "ResidentSet",
    "ImageSize_RAW": "Image", "ImageSize": "Image",
    "DiskUsage_RAW": "DiskSpace", "DiskUsage": "DiskSpace",
}  # fmt: skip

_pick = itemgetter(*range(len(NUMBERS)))
_KINDS = frozenset((int, float, type(None)))
_HUGE = 1e300  # beyond this, and NaN, no number of anything


def worked_out(values: Sequence[Any]) -> tuple[str, ...]:
    """The texts of WORKED_OUT for an ad whose values begin with NUMBERS.

    What is no number stands in the place of what would have been worked out of it. Raises
    ``InvalidValue`` where that is what the usage is made of.
    """
    found = _pick(values)
    if _KINDS.issuperset(map(type, found)):
        try:
            return _worked_out(found)
        except (ValueError, OverflowError):  # of infinity, or of NaN
            pass
    odd: dict[str, str] = {}
    numbers = [_number(name, value, odd) for name, value in zip(NUMBERS, found, strict=True)]
    told = dict(zip(WORKED_OUT, _worked_out(numbers), strict=True))
    return tuple((told | odd).values())


def _worked_out(numbers: Sequence[Any]) -> tuple[str, ...]:
    (
        cluster, process, status, current, first, completed, entered, wall, suspended, committed,
        paused, starts, user, system, last_user, last_system, rss_raw, rss, image_raw, image,
        disk_raw, disk,
    ) = numbers  # fmt: skip
    # Where only the CPU time of the last run is known, the time is that of this run as well.
    if user is None and committed and (starts or 0) > 1:
        wall, suspended = committed, paused
    # The sums over all runs of a job are made when a run ends; one of two is no sum.
    user, system = _together(user, system)
    last_user, last_system = _together(last_user, last_system)
    last = sum(each is not None for each in (last_user, last_system))
    both = user is not None and system is not None
    if last and (not (user or system) or (not both and last == 2)):
        user, system = last_user, last_system
    ended = (completed or entered) if status in ENDED else None if status else completed
    if wall is None or wall < 0:
        wall, suspended = _span(current or first, ended, suspended, committed, paused)
    away = max(suspended or 0, 0)
    away = away if wall is None or away <= wall else 0  # nothing is suspended for longer
    return (
        "" if cluster is None else f"{int(cluster)}.{int(process or 0)}",
        _whole(current or first),
        _whole(ended),
        "" if wall is None else _whole(wall - away, zero=True),
        "" if user is None and system is None else _whole((user or 0) + (system or 0), zero=True),
        _whole(rss if rss_raw is None else rss_raw, zero=True),
        _whole(image if image_raw is None else image_raw, zero=True),
        _whole(disk if disk_raw is None else disk_raw, zero=True),
    )


def _together(user: Any, system: Any) -> tuple[Any, Any]:
    """Two CPU times, None for one that is below zero."""
    known = [None if each is not None and each < 0 else each for each in (user, system)]
    return known[0], known[1]


def _span(
    start: Any, end: Any, suspended: Any, committed: Any, paused: Any
) -> tuple[Any, Any]:  # fmt: skip
    """The wall time of an ad without one, and how much of it was suspended: that of the last good
    run, or else from its start to its end.
    """
    if committed and committed > 0:
        return committed, paused
    if start and end and end >= start:
        return end - start, suspended
    return None, suspended


def is_expression(text: str) -> bool:
    """Whether a text stands for an expression, as JSON has to write it."""
    return text.startswith("/Expr(") and text.endswith(")/")


def _whole(value: float | None, *, zero: bool = False) -> str:
    """A number to the nearest whole one, a half rounded up; 0 is none unless ``zero`` is."""
    if not value or value < 0:
        return "0" if zero and value == 0 else ""
    return str(value if type(value) is int else units.rounded(value))


def _number(name: str, value: Any, odd: dict[str, str]) -> Any:
    """A number or None, which an expression is too, and what an ad can do without that is none.

    The text of that is put in its place in ``odd``. Raises ``InvalidValue`` for any other.
    """
    if value is None or (type(value) in _KINDS and -_HUGE < value < _HUGE):
        return value
    if isinstance(value, str) and is_expression(value):
        return None
    if name not in _OPTIONAL:
        raise InvalidValue(str(value), f"a number: {name}")
    odd[_OPTIONAL[name]] = legal(str(value))
    return None
