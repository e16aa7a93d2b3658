"""Which run of a job is told, whoever tells of it: one rule.

A batch system may run a job again (a requeue), with the same Id. Records, imports, and requests to
charge or refund a job ask here whether they tell of a run that is known. # decision 876
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import NamedTuple, TypeVar

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.known_by import of_one
from sssjob.model import Block, Delivered, Job, Property, without
from sssjob.states import goes_on, has_ended, is_over

TIMES = "SubmitTime", "StartTime", "EndTime"
_LONGEST = 40  # characters of a time
# What only a run can tell. A job that is still to run may say when it should.
OF_A_RUN = frozenset((
    "StartTime", "EndTime", "CpuDuration", "SuspendDuration", "StartCount", "ExitCode", "Charge",
))  # fmt: skip
T = TypeVar("T")
CLOCKS = 2  # seconds by which clocks differ
# Where a time that was read as UTC is in its own zone, which is 14 hours east at most, or 12 west.
_SHIFTS = range(-14 * 3600, 12 * 3600 + 1, 900)


class RunOrder(Enum):
    """How a run stands to another one of its job."""

    EARLIER = "it was before"
    SAME = "it is the same, as far as is told"
    LATER = "it was behind"
    UNTOLD = "in some zone it is another one than in others"


# What Delivered tells of a job that has used nothing: whose it is, and where it was asked for.
_OF_WHOM = frozenset(("User", "Group", "Project", "Machine", "Queue", "QualityOfService"))


class RunTimes(NamedTuple):
    """When a run was submitted, began, and ended, in seconds since 1970; None is not told."""

    submitted: int | None = None
    started: int | None = None
    ended: int | None = None
    ran_until: int | None = None  # how long it surely went on, where that is not until it ended
    began_by: int | None = None  # by its end and what it used, where no start is told
    gone_by: int | None = None  # by its start and what it used, where no end is told
    waited_until: int | None = None  # when it ended without having begun

    @classmethod
    def of_job(cls, job: Block) -> RunTimes:
        """Of what a job object says; an end that is expected only, or before the start, is none.

        So is one before it was submitted, where no start is told. One of a job that used something
        is more than expected, whatever its State, as a Charge tells none; where it may go on by
        that, what it used has to reach until then.
        """
        submitted, started, ended = (moment(job, name) for name in TIMES)
        used = _used(job)
        until = None if started is None or used is None else started + used
        if _is_behind(submitted if started is None else started, ended, CLOCKS):
            ended = None
        state = job.get("State")
        may_go_on = goes_on(state)
        is_expected = used is None or (may_go_on and _is_behind(ended, until, CLOCKS))
        if ended is None or (is_expected and not has_ended(job.get)):
            return cls(submitted, started, None, until, None, None if may_go_on else until)
        if until is not None:
            until = None if is_over(state) else min(ended, until)
        if started is None and is_over(state) and not (used or _has_used(job)):
            return cls(submitted, None, ended, waited_until=ended)
        if started is not None or used is None:
            return cls(submitted, started, ended, until)
        return cls(submitted, None, ended, None, max(ended - used, submitted or 0))

    @property
    def begun(self) -> int | None:
        """When it began, or else when it had begun at the latest; None is not told."""
        return self.began_by if self.started is None else self.started

    @property
    def gone(self) -> int | None:
        """When it ended, or else when it had used what it used; None is not told."""
        return self.gone_by if self.ended is None else self.ended

    @property
    def _until(self) -> int | None:
        """When it ended, or else until when it surely went on; None is not told."""
        return self.ran_until if self.gone is None else self.gone

    @property
    def rank(self) -> tuple[int, int]:
        """What orders the runs of one job in records, which tell both as a rule."""
        return self.submitted or 0, self.started or 0

    # decisions 922, 926, 958, 970 and 978
    def is_over_before(self, other: RunTimes) -> bool:
        """Whether this run had ended when the other one began: runs of one job do not overlap.

        One that tells its end and what it used had begun by then. Where that is not told, it had
        ended by when the other one was submitted. A run is submitted anew as soon as the one before
        it ends, so that clocks may put it before this end. One that ended without having begun is
        none of those that ran.
        """
        if self.begun is not None and other.waited_until is not None:
            has_run = self.gone is not None or self.ran_until is not None
            return has_run and self.begun + CLOCKS <= other.waited_until
        if self.ended is None:
            return self._had_ended(self.gone_by, other)
        is_untold = None in (self.started, other.started)
        went_on = other.ended is not None or other.ran_until is not None
        if other.begun is not None and (is_untold or went_on):
            return self._had_ended(self.ended, other)
        if other.started is not None:
            return _is_behind(other.started, self.ended, CLOCKS)
        if self.started is None:
            return _is_behind(other.submitted, self.ended, CLOCKS)
        was_by_then = not _is_behind(self.ended, other.submitted, CLOCKS)
        return was_by_then and _is_behind(other.submitted, self.started, CLOCKS)

    def _had_ended(self, ended: int | None, other: RunTimes) -> bool:
        """Whether this one had ended, at a moment, when another one began."""
        if ended is None or other.begun is None:
            return False
        if are_near(ended, other.ended) or are_near(self.begun, other.begun):
            return self._was_short(ended, other)
        went_on = _is_behind(other._until, ended, CLOCKS)
        clocks = CLOCKS if self.begun is None and not went_on else -CLOCKS
        return other.begun >= ended + clocks

    # decision 979
    def _was_short(self, ended: int, other: RunTimes) -> bool:
        """Whether one of both went on for a second or two, and they followed each other at once.

        Then either when they began or when they ended tells them apart.
        """
        until = other._until
        if self.begun is None or other.begun is None or until is None:
            return False
        are_two = differ(self.begun, other.begun) or differ(ended, until)
        return are_two and self.begun < other.begun and ended <= other.begun

    def is_told_apart(self, known: RunTimes) -> bool:
        """Whether this is another run than a known one, as one had ended before the other began.

        What tells of an earlier run only that it is one does not tell which; of none that began,
        it is known.
        """
        is_told = self.begun is not None or self.waited_until is not None
        is_earlier = is_told and self.is_over_before(known)
        return is_earlier or known.is_over_before(self)

    def order(self, known: RunTimes, tolerance: int, *, by_submission: bool = False) -> RunOrder:
        """How this run stands to one that is known; starts may differ by a ``tolerance``.

        Where no end tells it, a run that began before the other was submitted is an earlier one,
        as a run that is requeued is submitted anew. ``by_submission`` is whether that tells it,
        too, where one did not begin: a job that waits may be submitted anew.
        """
        if known.is_over_before(self):
            return RunOrder.LATER
        if self.is_over_before(known):
            return RunOrder.EARLIER
        if self.spans(known) or self._began_in(known) or known._began_in(self):
            return RunOrder.SAME
        if _is_behind(self.started, known.started, tolerance):
            return RunOrder.LATER
        if _is_behind(known.started, self.started, tolerance):
            return RunOrder.EARLIER
        if _is_behind(self.submitted, known.started, CLOCKS):
            return RunOrder.LATER
        if _is_behind(known.submitted, self.started, CLOCKS):
            return RunOrder.EARLIER
        if by_submission and None in (self.started, known.started):
            return self._submitted(known)
        return RunOrder.SAME

    def spans(self, known: RunTimes) -> bool:
        """Whether both began and ended at one time, by clocks, whenever they were submitted."""
        return are_near(self.begun, known.begun) and are_near(self.gone, known.gone)

    def _submitted(self, known: RunTimes) -> RunOrder:
        """How this run stands to one that is known, by when they were submitted."""
        if _is_behind(self.submitted, known.submitted, CLOCKS):
            return RunOrder.LATER
        if _is_behind(known.submitted, self.submitted, CLOCKS):
            return RunOrder.EARLIER
        return RunOrder.SAME

    def order_without_zone(
        self, known: RunTimes, tolerance: int, *, by_submission: bool = False
    ) -> RunOrder:
        """The same where these times were read as UTC for want of a zone. # decision 808

        They are of another run only where they would be in every zone.
        """
        order = self.order(known, tolerance, by_submission=by_submission)
        if order is RunOrder.SAME:
            return order
        in_zones = {
            self._shifted(each).order(known, tolerance, by_submission=by_submission)
            for each in _SHIFTS
        }
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
        until = other.ended if other.ran_until is None else other.ran_until
        return other.started <= self.started < until - CLOCKS


class Run(NamedTuple):
    """What tells a run of a job from its others: its GlobalId, "" is not told, and its times."""

    global_id: str = ""
    times: RunTimes = RunTimes()

    @classmethod
    def of_job(cls, job: Job) -> Run:
        """Of what a job object says."""
        return cls(job.get("GlobalId"), RunTimes.of_job(job))

    def is_of(self, known: Run) -> bool:
        """Whether this is about the run that is known, as far as both tell.

        Where both began, that tells it, whenever they were submitted.
        """
        if self.global_id and known.global_id and self.global_id != known.global_id:
            return False
        return self.times.order(known.times, CLOCKS, by_submission=True) is RunOrder.SAME

    # decision 944
    def is_of_by_times(self, known: Run) -> bool:
        """Whether this is about the run that is known, by a time that both tell, as clocks do."""
        mine, its = self.times, known.times
        is_told = None not in (mine.started, its.started) or mine.spans(its)
        return (is_told or are_near(mine.submitted, its.submitted)) and self.is_of(known)

    # decision 945
    def may_begin(self, waiting: Run) -> bool:
        """Whether this run may be the one that a job waits for, whenever that was submitted.

        It may be submitted anew, or by another clock: who tells no start has to tell the same
        submission, or none.
        """
        mine, its = self.times, waiting.times
        if self.global_id and waiting.global_id and self.global_id != waiting.global_id:
            return False
        if mine.is_told_apart(its):
            return False
        if None in (mine.submitted, its.submitted) or are_near(mine.submitted, its.submitted):
            return True
        return mine.started is not None and mine.order(its, CLOCKS) is RunOrder.SAME

    # decision 974
    def waited_for(self, known: Run) -> bool:
        """Whether one that waits is the run that is known to have begun since."""
        has_begun = self.times.started is None and known.times.started is not None
        return has_begun and known.may_begin(self)

    @property
    def marks(self) -> int:
        """By how many marks it is told: GlobalId, SubmitTime, StartTime, and when it ended."""
        told = self.global_id or None, *self.times[:3]
        return sum(each is not None for each in told)

    def marks_of(self, known: Run) -> int:
        """By how many of these it is told to be the run that is known, which it is about."""
        mine, its = self.times, known.times
        return (
            bool(self.global_id and known.global_id)
            + are_near(mine.submitted, its.submitted)
            + (mine.started is not None and its.started is not None)
            + are_near(mine.ended, its.ended)
        )

    def fits(self, known: Run) -> int:
        """The same, where a start also counts by which one had begun that does not tell its own."""
        is_untold = None in (self.times.started, known.times.started)
        return self.marks_of(known) + (
            is_untold and are_near(self.times.begun, known.times.begun)
        )  # fmt: skip


# decisions 973 and 974
def among(told: Job, items: Iterable[T], job_of: Callable[[T], Job]) -> list[T]:
    """Those of what has jobs that may have the run of which a job tells: all roads ask here.

    A run that is known comes before a job that waits for one, and that before one that has begun,
    where what is told waits: it tells what was before.
    """
    mine = Run.of_job(told)
    found = [(each, job, Run.of_job(job)) for each, job in ((each, job_of(each)) for each in items)]
    known = [each for each, _, run in found if mine.is_of(run)]
    if known:
        return known
    begins = [each for each, job, run in found if waits(job) and mine.may_begin(run)]
    return begins or [each for each, _, run in found if waits(told) and mine.waited_for(run)]


# decision 926
def requested_anew(asked: Job) -> Job:
    """What a job requested, for another run of it, without what tells which run it is.

    The GlobalJobId of HTCondor is of all of its runs.
    """
    names = ("SubmitTime",) if of_one("", asked.get("GlobalId")) else ("GlobalId", "SubmitTime")
    for name in names:
        asked = without(asked, name)
    return asked


def has_run(job: Job) -> bool:
    """Whether a job says that it used something, or what it was charged.

    Records tell in Delivered whose a job is, also of one that waits.
    """
    delivered = job.block(Delivered)
    used = delivered is not None and any(
        not isinstance(item, Property) or item.name not in _OF_WHOM for item in delivered.items
    )
    return used or bool(job.get("Charge"))


def _has_used(job: Block) -> bool:
    """Whether a job tells that processors were at work for it, or what it was charged."""
    return any(job.get(name) not in ("", "0") for name in ("CpuDuration", "Charge"))


def waits(job: Job) -> bool:
    """Whether it is known that a job waits: it did not begin, and used nothing."""
    return not job.get("StartTime") and not has_run(job)


def _is_behind(one: int | None, other: int | None, seconds: int) -> bool:
    return one is not None and other is not None and one > other + seconds


def are_near(one: int | None, other: int | None) -> bool:
    """Whether two times are told that are the same, as clocks tell them."""
    return one is not None and other is not None and abs(one - other) <= CLOCKS


def differ(one: int | None, other: int | None) -> bool:
    """Whether two times are told that differ by more than clocks do."""
    return _is_behind(one, other, CLOCKS) or _is_behind(other, one, CLOCKS)


# decision 927
def _used(job: Block) -> int | None:
    """How many seconds a run went on by what it used.

    Beside an end of no State: a Charge tells it, perhaps of another zone, or of when somebody was
    charged.
    """
    delivered = job.block(Delivered)
    used = delivered.get("Duration") if delivered else ""
    try:
        return units.duration(used) if used else None
    except InvalidValue:
        return None


def moment(job: Block, name: str) -> int | None:
    """A time that a job says, in seconds since 1970; None for what is none."""
    return time_of(job.get(name)) or None


def time_of(text: str) -> int | None:
    """The time that a text is, in seconds since 1970; None for what is none."""
    try:
        return units.time(text) if len(text) <= _LONGEST else None
    except InvalidValue:
        return None
