"""What a site wants to know of a pilot: how long it goes on, and what it costs to end it now.

The formulas of the 2014 text, all from one snapshot. Times are in seconds, waste in CPU seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sssjob.features.keys import Value

Number = int | Fraction


@dataclass(frozen=True, slots=True)
class Figure:
    """One number: ``value`` with time differences not below 0, ``exact`` as the formula has it.

    An estimate that has gone by would give waste below nothing.
    """

    value: Number
    exact: Number


@dataclass(frozen=True, slots=True)
class Outlook:
    """The derived values of one snapshot; None where an operand is missing.

    Remaining time is known in two ways, of which the draft prints one: by the pilot's estimate
    (``expected``) and by the limit that it enforces.
    """

    remaining_time_expected: Figure | None
    remaining_time_enforced: Figure | None
    draining_waste: Figure | None
    kill_waste: Figure | None
    notes: tuple[str, ...] = ()


def outlook(status: Mapping[str, Value], allocated: Number | None, now: float) -> Outlook:
    """The derived values at a moment; ``allocated`` is allocated_CPU of $JOBFEATURES."""
    moment = int(now)
    used = _number(status, "used_CPU")
    notes: tuple[str, ...] = ()
    if used is not None and allocated is not None and used > allocated:
        notes = (f"used_CPU {_shown(used)} is more than allocated_CPU {_shown(allocated)}",)
    return Outlook(
        _until(status, "last_exp_job_end", moment),
        _until(status, "last_max_job_end", moment),
        _draining(status, allocated, used, moment),
        _kill(status, used, moment),
        notes,
    )


def _until(status: Mapping[str, Value], name: str, now: int) -> Figure | None:
    end = _number(status, name)
    return None if end is None else Figure(max(end - now, 0), end - now)


def _draining(
    status: Mapping[str, Value], allocated: Number | None, used: Number | None, now: int
) -> Figure | None:
    first, rest = _until(status, "first_exp_job_end", now), _number(status, "add_final_exp_waste")
    if allocated is None or used is None or first is None or rest is None:
        return None
    idle = allocated - used
    return Figure(idle * first.value + rest, idle * first.exact + rest)


def _kill(status: Mapping[str, Value], used: Number | None, now: int) -> Figure | None:
    uncommitted, start = _number(status, "add_uncom_time"), _number(status, "last_job_start")
    if used is None or uncommitted is None or start is None:
        return None
    since = now - start
    return Figure(uncommitted + used * max(since, 0), uncommitted + used * since)


def _number(status: Mapping[str, Value], name: str) -> Number | None:
    value = status.get(name)
    return value if isinstance(value, int | Fraction) else None


def _shown(value: Number) -> str:
    return str(value if isinstance(value, int) else float(value))
