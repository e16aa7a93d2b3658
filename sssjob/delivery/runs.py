"""Which run of a job a document has, and of which one is told: the last run is folded in.

A batch system may run a job again (a requeue), with the same Id. A document has one place for what
a run used, so that values of two runs in it would be a job that never was: the start of one and the
end of the other. Where what is told is of a later run, all that the document has of the earlier one
goes; of an earlier run nothing is taken. # decision 803
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

from sssjob.defaults import resolve
from sssjob.features.fold import START_TOLERANCE
from sssjob.features.folded import beyond, listed, without_list, without_listed, without_run
from sssjob.fold import JOB, Fact, Folded, fold, placed
from sssjob.integers import whole
from sssjob.model import Block, Job, JobDefaults, JobGroup, Property, Requested, jobs_of
from sssjob.states import has_ended

CLOCKS = 2  # seconds by which clocks differ
# Where a time that was read as UTC is in its own zone, which is 14 hours east at most, or 12 west.
_SHIFTS = range(-14 * 3600, 12 * 3600 + 1, 900)


class RunOrder(Enum):
    """How a run stands to another one of its job."""

    EARLIER = "it was before"
    SAME = "it is the same, as far as is told"
    LATER = "it was behind"
    UNTOLD = "in some zone it is another one than in others"


class RunTimes(NamedTuple):
    """When a run was submitted, began, and ended, in seconds since 1970; None is not told."""

    submitted: int | None = None
    started: int | None = None
    ended: int | None = None

    @classmethod
    def of_job(cls, job: Job) -> RunTimes:
        """Of what a job object says."""
        ended = _moment(job, "EndTime") if has_ended(job.get) else None  # or it is expected only
        return cls(_moment(job, "SubmitTime"), _moment(job, "StartTime"), ended)

    @property
    def rank(self) -> tuple[int, int]:
        """What orders the runs of one job in records, which tell both as a rule."""
        return self.submitted or 0, self.started or 0

    def order(self, known: RunTimes, tolerance: int) -> RunOrder:
        """How this run stands to one that is known; starts may differ by a ``tolerance``.

        Runs of one job do not overlap. Where no end tells it, a run that began before the other
        was submitted is an earlier one, as a run that is requeued is submitted anew.
        """
        if _is_behind(self.started, known.ended, CLOCKS):
            return RunOrder.LATER
        if _is_behind(known.started, self.ended, CLOCKS):
            return RunOrder.EARLIER
        if self._began_in(known) or known._began_in(self):
            return RunOrder.SAME
        if _is_behind(self.started, known.started, tolerance):
            return RunOrder.LATER
        if _is_behind(known.started, self.started, tolerance):
            return RunOrder.EARLIER
        if _is_behind(self.submitted, known.started, CLOCKS):
            return RunOrder.LATER
        if _is_behind(known.submitted, self.started, CLOCKS):
            return RunOrder.EARLIER
        return RunOrder.SAME

    def order_without_zone(self, known: RunTimes, tolerance: int) -> RunOrder:
        """The same where these times were read as UTC for want of a zone. # decision 808

        They are of another run only where they would be in every zone.
        """
        order = self.order(known, tolerance)
        if order is RunOrder.SAME:
            return order
        in_zones = {self._shifted(each).order(known, tolerance) for each in _SHIFTS}
        return order if in_zones == {order} else RunOrder.UNTOLD

    def _shifted(self, seconds: int) -> RunTimes:
        return RunTimes(*(None if each is None else each + seconds for each in self))

    def with_end_of(self, same: RunTimes) -> RunTimes:
        """This run with what is told of its end elsewhere."""
        return self._replace(ended=same.ended)

    def is_rather(self, other: RunTimes, known: RunTimes, tolerance: int) -> bool:
        """Whether this run is the other one rather than a known one, as its start is nearer."""
        if self.started is None or other.started is None:
            return False
        if self.order(other, tolerance) is not RunOrder.SAME:
            return False
        distance = abs(self.started - other.started)
        return known.started is None or distance < abs(self.started - known.started)

    def _began_in(self, other: RunTimes) -> bool:
        """Whether this run began while the other one was there, whatever clocks say."""
        if self.started is None or other.started is None or other.ended is None:
            return False
        return other.started <= self.started < other.ended - CLOCKS


def of_run(job: Job, order: RunOrder) -> Job:
    """The job that what is told of a run is folded into: of another run nothing is left in it."""
    return without_run(job) if order is RunOrder.LATER else job


def told_order(job: Job, record: Job) -> RunOrder:
    """How the run that a record tells of stands to the one that a job has."""
    return RunTimes.of_job(record).order(RunTimes.of_job(job), START_TOLERANCE)


def frame_of(block: Block) -> JobGroup | None:
    """A group without its jobs, for what each has of it; None where it has no defaults."""
    if not isinstance(block, JobGroup) or not block.blocks(JobDefaults):
        return None
    return block.holding(
        item for item in block.items if not isinstance(item, Block) or isinstance(item, JobDefaults)
    )


def fold_run(
    job: Job, delivered: Job | Iterable[Fact], *,
    frame: JobGroup | None = None, source: str = "", overwrite: bool = False,
) -> Folded:  # fmt: skip
    """Fold what is told of the run that a job has, and list it as what is of that run.

    What the ``frame`` of its group requests for it stays as what it requests itself.
    """
    effective = known = without_list(job)
    lent: list[Property] = []
    if frame is not None:
        effective = _in_group(known, frame)
        lent = beyond(effective.properties, known.properties)
    folded = fold(_with(known, lent), delivered, source=source, overwrite=overwrite)
    if not folded.changes:
        return replace(folded, job=job)
    ran = folded.job if frame is None else _without_lent(folded.job, lent, effective, frame)
    return replace(folded, job=listed(_with(without_listed(job), lent), ran))


def _in_group(job: Job, frame: JobGroup) -> Job:
    """A job with the defaults of its group."""
    return jobs_of(resolve(frame.holding((*frame.items, job))).block)[0]


def _with(job: Job, lent: Iterable[Property]) -> Job:
    for item in lent:
        job = placed(job, Fact(item, JOB))
    return job


def _without_lent(whole: Job, lent: Iterable[Property], before: Job, frame: JobGroup) -> Job:
    """A job without what its group still lends it; what the fold would hide becomes its own.

    Else who resolves the defaults could not tell what was requested. # decision 852
    """
    ours = {id(item) for item in lent}
    own = whole.holding(item for item in whole.items if id(item) not in ours)
    after = _in_group(own, frame)
    hidden = beyond(whole.properties, after.properties)
    kept = [item for item in whole.items if id(item) not in ours or item in hidden]
    requested = before.blocks(Requested)
    if after.blocks(Requested) == requested:
        return whole.holding(kept)
    kept = [item for item in kept if not isinstance(item, Requested)]
    place = next((n for n, item in enumerate(kept) if isinstance(item, Block)), len(kept))
    return whole.holding((*kept[:place], *requested, *kept[place:]))


def _is_behind(one: int | None, other: int | None, seconds: int) -> bool:
    return one is not None and other is not None and one > other + seconds


def _moment(job: Job, name: str) -> int | None:
    return whole((job.get(name) or "").strip()) or None
