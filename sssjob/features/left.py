"""What is left of the limits of a job: seconds of elapsed time, of CPU time, until a shutdown.

A payload imports this module: nothing here that is slow to import.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from sssjob.features.keys import Value

_DECIDING = ("wall_limit_secs", "shutdowntime", "shutdowntime_job")
_IDLE = 0.001  # processors; at less than that a limit is not reached


class Left:
    """Seconds that are left; None where nothing limits them or nothing is known.

    ``wall`` is of the elapsed time limit, ``shutdown`` until the earlier shutdown, ``time`` the
    least of both, which is how long the job may go on; ``cpu`` is of the CPU time limit, and
    ``rate`` how long that lasts if the job goes on to use as many processors as it did. What is
    used up is below 0. ``notes`` say how it was counted, and what could not be.
    """

    __slots__ = ("cpu", "notes", "rate", "shutdown", "wall")

    def __init__(
        self, wall: int | None, cpu: int | None, shutdown: int | None, notes: tuple[str, ...],
        rate: int | None = None,
    ) -> None:  # fmt: skip
        self.wall, self.cpu, self.shutdown, self.notes = wall, cpu, shutdown, notes
        self.rate = rate

    def __repr__(self) -> str:
        return f"<left: time {self.time}, cpu {self.cpu}>"

    @property
    def time(self) -> int | None:
        """Seconds that the job may go on: the least of what is known."""
        known = [seconds for seconds in (self.wall, self.shutdown) if seconds is not None]
        return min(known, default=None)


def left(
    job: Mapping[str, Value], machine: Mapping[str, Value], now: float, cpu_used: float | None,
    cpu_rate: float | None = None,
) -> Left:  # fmt: skip
    """What is left at ``now`` of the limits in both directories (2016 vocabulary). # decision 73

    ``cpu_used`` is in seconds; without it CPU time cannot be counted. ``cpu_rate`` is how many
    processors the job keeps busy. A start that lies in the
    future counts as now: then a clock was set, and a job has no more time than its limit.
    """
    notes: list[str] = []
    now = int(now)
    wall = _whole(job, "wall_limit_secs")
    start = _whole(job, "jobstart_secs")
    if wall is not None:
        if start is None:
            notes.append("wall_limit_secs counts from jobstart_secs, which is not known")
            wall = None
        elif start > now:
            notes.append(
                f"jobstart_secs lies {start - now} s ahead (a clock was changed); now is taken"
            )
        else:
            wall -= now - start
    cpu = _whole(job, "cpu_limit_secs")
    if cpu is not None:
        if cpu_used is None:
            notes.append("the CPU time that was used is not known")
            cpu = None
        else:
            cpu -= int(cpu_used)
    rate = int(cpu / cpu_rate) if cpu is not None and cpu_rate and cpu_rate > _IDLE else None
    ends, leftovers = shutdowns(job, machine, now)
    for name, moment in leftovers.items():
        notes.append(f"{name} {moment} is taken for a leftover and not counted")
    end = min(ends.values()) - now if ends else None
    return Left(wall, cpu, end, tuple(notes), rate)


def shutdowns(
    job: Mapping[str, Value], machine: Mapping[str, Value], now: int
) -> tuple[dict[str, int], dict[str, int]]:
    """The shutdowns that count at ``now``, by key, and those that are leftovers. # decision 74

    What came before the job, or may have, is one that nobody removed. The directory of a job is
    its own, so that a shutdown in it is of no other one. A start that lies in the future is now.
    """
    start = _whole(job, "jobstart_secs")
    start = start if start is None else min(start, now)
    ends: dict[str, int] = {}
    leftovers: dict[str, int] = {}
    for name, values, earliest in (
        ("shutdowntime", machine, now if start is None else start),
        ("shutdowntime_job", job, start or 0),
    ):
        moment = _whole(values, name)
        if moment is not None:
            (ends if moment >= earliest else leftovers)[name] = moment
    return ends, leftovers


def undecided(job: Mapping[str, Value], unknown: Collection[str]) -> list[str]:
    """The keys of which nobody knows what they say, and by which the time is decided that is left.

    A start decides only where a limit counts from it.
    """
    found = [key for key in _DECIDING if key in unknown]
    is_lost = "jobstart_secs" in unknown
    counts = "wall_limit_secs" in job and (is_lost or "jobstart_secs" not in job)
    if counts or (is_lost and "wall_limit_secs" in unknown):
        found.append("jobstart_secs")
    return sorted(found)


def _whole(values: Mapping[str, Value], name: str) -> int | None:
    value = values.get(name)
    return value if isinstance(value, int) else None
