"""$JOBSTATUS from the side of a pilot: which user jobs it runs, told to the site as it changes.

>>> running = [Running("a", 4, 1000, 5000, 6000), Running("b", 2, 2000, 4000, 9000)]
>>> state(running, allocated=8)["add_final_exp_waste"]
4000
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from sssjob.errors import InvalidValue
from sssjob.features import status
from sssjob.features.here import here
from sssjob.features.keys import Value

# "It should not update any of the other values for a significant amount of time."
SETTLING = 600.0


@dataclass(frozen=True, slots=True)
class Running:
    """A user job in a pilot: its cores, its start, and its expected and enforced end.

    Times are in seconds since 1970; an end may be None if nobody knows it.
    """

    name: str
    cores: int
    start: int
    expected_end: int | None = None
    enforced_end: int | None = None


def state(running: Iterable[Running], allocated: int) -> dict[str, Value | None]:
    """The keys that follow from the jobs that run; None for what is not known.

    What was uncommitted when the latest job started is what the others had used until then.
    What draining wastes after the first end are the cores that stand idle until the last.
    """
    jobs = list(running)
    used = sum(job.cores for job in jobs)
    last = max((job.start for job in jobs), default=None)
    expected = [job.expected_end for job in jobs if job.expected_end is not None]
    enforced = [job.enforced_end for job in jobs if job.enforced_end is not None]
    found: dict[str, Value | None] = {
        "used_CPU": used,
        "last_job_start": last,
        "first_exp_job_end": min(expected) if _all(expected, jobs) else None,
        "last_exp_job_end": max(expected) if _all(expected, jobs) else None,
        "last_max_job_end": max(enforced) if _all(enforced, jobs) else None,
        "add_uncom_time": 0,
        "add_final_exp_waste": None,
    }
    if last is not None:
        found["add_uncom_time"] = sum(job.cores * (last - job.start) for job in jobs)
    if _all(expected, jobs):
        first, end = min(expected), max(expected)
        busy = sum(
            job.cores * (job.expected_end - first) for job in jobs if job.expected_end is not None
        )
        found["add_final_exp_waste"] = max(0, allocated * (end - first) - busy)
    return found


def _all(ends: list[int], jobs: list[Running]) -> bool:
    return bool(jobs) and len(ends) == len(jobs)


class Pilot:
    """A pilot that keeps its $JOBSTATUS up to date while it is used in a ``with`` statement.

    Each change is written whole under the lock. When the block ends, nothing runs any more and
    no more work is fetched. ``allocated`` are the cores given to the pilot; without it, those of
    its $JOBFEATURES. Raises ``InvalidValue`` if neither it nor a directory is known.
    """

    def __init__(
        self, directory: str | os.PathLike[str] | None = None, *, allocated: int | None = None,
        priority: int | None = None, settling: float = SETTLING, wait: float = status.WAIT,
        clock: Callable[[], float] = time.time,
    ) -> None:  # fmt: skip
        place = os.environ.get("JOBSTATUS", "") if directory is None else os.fspath(directory)
        if not place:
            raise InvalidValue(place, "a directory: $JOBSTATUS is not set")
        self.directory = place
        self.allocated = _allocated() if allocated is None else allocated
        self.settling, self.wait, self.clock = settling, wait, clock
        self.running: dict[str, Running] = {}
        self.can_postpone = True
        self._priority = priority
        self._held_until: float | None = None

    def __enter__(self) -> Self:
        self._write({**self._state(), "can_postpone_last_job": True})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.running.clear()
        self.can_postpone = False
        self._write({**self._state(), "can_postpone_last_job": False})

    def started(
        self, name: str, cores: int, *, seconds: int | None = None, limit: int | None = None
    ) -> None:
        """A user job starts now: it is expected to take ``seconds``, and is ended at ``limit``."""
        if name in self.running:
            raise InvalidValue(name, "the name of a job that is not running yet")
        now = int(self.clock())
        ends = (None if each is None else now + each for each in (seconds, limit))
        self.running[name] = Running(name, cores, now, *ends)
        self._update()

    def ended(self, name: str) -> None:
        """A user job has ended."""
        del self.running[name]
        self._update()

    def retires(self) -> None:
        """The pilot fetches no more work."""
        self.can_postpone, self._held_until = False, None
        self._write({**self._state(), "can_postpone_last_job": False})

    def returns(self) -> None:
        """The pilot fetches work again. For a while nothing else is changed, as the text asks."""
        if not self.can_postpone:
            self.can_postpone = True
            self._held_until = self.clock() + self.settling
            self._write({"can_postpone_last_job": True})

    def _update(self) -> None:
        """Write what follows from the jobs, unless that has to wait after ``returns``."""
        if self._held_until is None or self.clock() >= self._held_until:
            self._held_until = None
            self._write(self._state())

    def _state(self) -> dict[str, Value | None]:
        found = state(self.running.values(), self.allocated)
        return found if self._priority is None else {**found, "priority_factor": self._priority}

    def _write(self, values: Mapping[str, Value | bool | None]) -> None:
        status.write(values, self.directory, wait=self.wait)


def _allocated() -> int:
    found = here().job.get("allocated_cpu")
    if not isinstance(found, int):
        raise InvalidValue("", "a number of cores: $JOBFEATURES says none; pass allocated")
    return found
