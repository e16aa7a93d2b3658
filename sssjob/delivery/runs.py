"""Which run of a job a document has, and of which one is told: the last run is folded in.

A batch system may run a job again (a requeue), with the same Id. A document has one place for what
a run used, so that values of two runs in it would be a job that never was: the start of one and the
end of the other. Where what is told is of a later run, all that the document has of the earlier one
goes; of an earlier run nothing is taken. # decision 803
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from sssjob.features.measured import EXTENSION as STATUS
from sssjob.integers import whole
from sssjob.model import Block, Delivered, Item, Job, Property, TaskGroup
from sssjob.states import SIGNAL, has_ended

CLOCKS = 2  # seconds by which clocks differ
# What a record, or a pilot, says of a run; what was asked for stays.
_OF_A_RUN = frozenset(("StartTime", "EndTime", "CpuDuration", "SuspendDuration"))
_OF_ONE_THAT_ENDED = _OF_A_RUN | {"SubmitTime", "State", "StatusMessage", "ExitCode"}


class RunOrder(Enum):
    """How a run stands to another one of its job."""

    EARLIER = "it was before"
    SAME = "it is the same, as far as is told"
    LATER = "it was behind"


class RunTimes(NamedTuple):
    """When a run was submitted, and when it began, in seconds since 1970; None is not told."""

    submitted: int | None = None
    started: int | None = None

    @classmethod
    def of_job(cls, job: Job) -> RunTimes:
        """Of what a job object says."""
        return cls(_moment(job, "SubmitTime"), _moment(job, "StartTime"))

    @property
    def rank(self) -> tuple[int, int]:
        """What orders the runs of one job in records, which tell both as a rule."""
        return self.submitted or 0, self.started or 0

    def order(self, known: RunTimes, tolerance: int) -> RunOrder:
        """How this run stands to one that is known; starts may differ by a ``tolerance``.

        What began before the other was submitted is an earlier run, as a run that is requeued is
        submitted anew.
        """
        if _is_behind(self.started, known.started, tolerance):
            return RunOrder.LATER
        if _is_behind(known.started, self.started, tolerance):
            return RunOrder.EARLIER
        if _is_behind(self.submitted, known.started, CLOCKS):
            return RunOrder.LATER
        if _is_behind(known.submitted, self.started, CLOCKS):
            return RunOrder.EARLIER
        return RunOrder.SAME


def without_run(job: Job, start: int | None) -> Job:
    """A job without what a run of it was given, did and used, for one that began at ``start``."""
    names = _OF_ONE_THAT_ENDED if has_ended(job.get) else _OF_A_RUN
    items: list[Item] = []
    for item in job.items:
        if isinstance(item, Delivered) or _is_a_step(item):
            continue
        if isinstance(item, TaskGroup):
            inner = [each for each in item.items if not isinstance(each, Delivered)]
            items.append(item.holding(inner))
        elif not (isinstance(item, Property) and _is_of_a_run(item, names, start)):
            items.append(item)
    return job.holding(items)


def _is_a_step(item: Item) -> bool:
    """Whether it is a task group that a record made: with what was delivered, and no request."""
    if not isinstance(item, TaskGroup):
        return False
    kinds = {type(each) for each in item.items if isinstance(each, Block)}
    return Delivered in kinds and not kinds - {Delivered}


def _is_of_a_run(item: Property, names: frozenset[str], start: int | None) -> bool:
    if item.name == "Extension":
        return item.attributes.get("type") == STATUS or item.attributes.get("name") == SIGNAL
    if item.name == "DeadlineTime":  # one that had come when the run began does not bind it
        moment = whole(item.text.strip())
        return moment is not None and start is not None and moment <= start
    return item.name in names


def _is_behind(one: int | None, other: int | None, seconds: int) -> bool:
    return one is not None and other is not None and one > other + seconds


def _moment(job: Job, name: str) -> int | None:
    return whole((job.get(name) or "").strip()) or None
