"""Estimates against what happened: a log of finished jobs, replayed to when each job came.

For a sample of the jobs, the batch system is shown as it was when the job could first have
started, and estimators are asked how long it would wait. The log tells how long it did.
"""

from __future__ import annotations

import heapq
import math
import statistics
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import NamedTuple

from sssjob.errors import InvalidValue, Severity, unheard
from sssjob.lcginfo import answers, estimators, jobs
from sssjob.lcginfo.config import Config
from sssjob.lcginfo.site import Site
from sssjob.lcginfo.snapshot import (
    DONE,
    QUEUED,
    RUNNING,
    QueuedJob,
    Remark,
    Report,
    Scheduling,
    Snapshot,
)
from sssjob.model import Block, Job

SAMPLES = 200


class Past(NamedTuple):
    """A job of the log: its entry, and when it could start, started and ended, in seconds.

    A job that never started waited until it ended; without an end it still waits, or runs.
    """

    entry: QueuedJob
    ready: float
    start: float | None
    end: float | None


class BacktestSample(NamedTuple):
    """One question: when it was asked for which job, what happened, and what was answered."""

    time: float
    jobid: str
    queue: str
    vo: str
    waited: float
    ert: int | None
    wrt: int | None


@dataclass(frozen=True, slots=True)
class Trial:
    """What one estimator answered; the numbers are over the samples with an answer."""

    estimator: str
    samples: tuple[BacktestSample, ...]

    @property
    def errors(self) -> tuple[float, ...]:
        """Estimated less actual waits in seconds."""
        return tuple(
            sample.ert - sample.waited for sample in self.samples if sample.ert is not None
        )

    @property
    def bias(self) -> float | None:
        """The mean error: positive where the estimator says more than happens."""
        return statistics.fmean(self.errors) if self.errors else None

    @property
    def median_error(self) -> float | None:
        """The median of the absolute errors."""
        return statistics.median(map(abs, self.errors)) if self.errors else None

    @property
    def error_bounds(self) -> tuple[float, float] | None:
        """Bounds of the median absolute error of all jobs like these, right in 95 of 100 long logs.

        They are two of the errors that were seen: the least and the greatest median of a stretch
        of the log. None for fewer than ``LEAST``.
        """
        return _bounds([abs(error) for error in self.errors])

    @property
    def within_worst(self) -> float | None:
        """The part of the jobs that started within the worst time."""
        answered = [sample for sample in self.samples if sample.wrt is not None]
        if not answered:
            return None
        return sum(sample.waited <= (sample.wrt or 0) for sample in answered) / len(answered)


class EstimatorChoice(NamedTuple):
    """The estimator that was nearest, and those that may be as near: ``rivals``."""

    estimator: str
    rivals: tuple[str, ...]


STRETCHES = 6  # of a log, one behind the other, each with as many samples
LEAST = 2 * STRETCHES  # samples, for anything to be said of how sure it is
_SURE = 0.05  # how often what is said may be wrong


def choice(trials: Sequence[Trial]) -> EstimatorChoice | None:
    """The estimator that was nearest to most jobs, None where none answered.

    It has the least median absolute error over the jobs that all of those estimators answered
    which answered any. Another one is a rival unless the stretches of the log say otherwise: that
    in each so many more jobs favour one of both would not come by chance.
    """
    answered = [trial for trial in trials if trial.errors]
    errors = {
        trial.estimator: [
            abs(sample.ert - sample.waited) if sample.ert is not None else None
            for sample in trial.samples
        ]
        for trial in answered
    }
    rows = [
        [each for each in row if each is not None]
        for row in zip(*errors.values(), strict=True) if None not in row
    ]  # fmt: skip
    if not rows:
        return None
    columns = dict(zip(errors, zip(*rows, strict=True), strict=True))
    best = min(columns, key=lambda name: statistics.median(columns[name]))
    rivals = []
    for name, column in columns.items():
        nearer = [
            (ours < theirs) - (ours > theirs)
            for ours, theirs in zip(columns[best], column, strict=True)
        ]
        sure = sum(nearer) > 0 and _chance(_means(nearer)) * (len(columns) - 1) < _SURE
        if name != best and not sure:
            rivals.append(name)
    return EstimatorChoice(best, tuple(rivals))


def _parts(values: Sequence[float]) -> list[list[float]]:
    """The values of each stretch of the log."""
    parts: list[list[float]] = [[] for _ in range(STRETCHES)]
    for place, value in enumerate(values):
        parts[place * STRETCHES // len(values)].append(value)
    return parts


def _means(values: Sequence[float]) -> list[float]:
    """The mean of each stretch; none where there are too few values."""
    return [*map(statistics.fmean, _parts(values))] if len(values) >= LEAST else []


def _chance(means: Sequence[float]) -> float:
    """How probable it is that means of stretches are so far from 0 where that is the true one.

    Jobs that came one behind the other met the same queue, and waited alike: they say as much as
    one of them. Stretches of a log are nearly independent where it is long. Their means are
    compared by Student's test, whose distribution has a closed form for so many. Without any, 1.

    >>> round(_chance([2, 0, 2, 0, 2, 0]), 4), _chance([1] * 6), _chance([])
    (0.0756, 0.0, 1.0)
    """
    if not means:
        return 1.0
    mean = statistics.fmean(means)
    spread = math.sqrt(sum((each - mean) ** 2 for each in means) / STRETCHES)
    if not spread:
        return 0.0 if mean else 1.0
    angle = math.atan(abs(mean) / spread)
    near = math.cos(angle)
    inside = angle + math.sin(angle) * (near + 2 / 3 * near**3)  # of 5 degrees of freedom
    return 1 - 2 / math.pi * inside


def _bounds(errors: Sequence[float]) -> tuple[float, float] | None:
    """The least and the greatest median of a stretch of the log.

    The median of all such errors is above that of a stretch as often as below it. So it is beyond
    the medians of all six, which are nearly independent, in 2 of 64 logs, whatever errors are like.
    """
    if len(errors) < LEAST:
        return None
    parts = _parts(errors)
    return min(map(statistics.median_low, parts)), max(map(statistics.median_high, parts))


@dataclass(frozen=True, slots=True)
class Setup:
    """What a log does not tell: the slots, the caps of VOs, and how to ask.

    ``slots`` of None is the most that were ever busy. Jobs of the first ``warm_up`` seconds are
    not asked about, since the log does not show what ran before. ``remembered`` finished jobs
    are part of each snapshot, as of a batch system that shows them for a while. ``scheduling`` is
    how slots were given away all the time.
    """

    config: Config = field(default_factory=Config)
    caps: Mapping[str, int] = field(default_factory=dict)
    slots: int | None = None
    samples: int = SAMPLES
    warm_up: float = 0.0
    remembered: int = 0
    scheduling: Scheduling = field(default_factory=Scheduling)


def history(blocks: Iterable[Block], *, queue: str = "", report: Report = unheard) -> list[Past]:
    """The jobs of documents with the times of their lives, in the order in which they came.

    A job without SubmitTime is reported and left out; ``queue`` is that of jobs that name none.
    """
    found: list[Past] = []
    for block in blocks:
        for job, policy in jobs.effective_jobs(block, report):
            entry = jobs.from_document(job, around=policy, queue=queue, report=report)
            if entry is not None and entry.qtime is None:
                message = f"job {job.id!r}: no SubmitTime, so it cannot be replayed"
                report(Remark(job.line, message, Severity.ERROR))
            elif entry is not None:
                found.append(_past(job, entry, entry.qtime or 0.0))
    return sorted(found, key=attrgetter("ready"))


def most_busy(log: Iterable[Past]) -> int:
    """The most slots that were busy at the same time."""
    changes: list[tuple[float, int]] = []
    for job in log:
        if job.start is not None:
            changes.append((job.start, job.entry.cpucount))
            if job.end is not None:
                changes.append((job.end, -job.entry.cpucount))
    busy = most = 0
    for _, change in sorted(changes):  # at one time, ends come first
        busy += change
        most = max(most, busy)
    return most


def backtest(
    log: Sequence[Past], names: Sequence[str], setup: Setup | None = None
) -> tuple[Trial, ...]:
    """Ask estimators about a sample of the jobs of a log.

    ``basic`` keeps its samples in a directory of its own that is gone afterwards. Raises
    ``NoEstimator``, and whatever an estimator raises.
    """
    setup = setup or Setup()
    for name in names:
        estimators.get(name)
    asked: dict[str, list[BacktestSample]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory(prefix="sssjob-backtest-") as scratch:
        config = replace(setup.config, sample_dir=scratch)
        for job, snapshot in replay(log, setup):
            site = Site(snapshot, setup.caps, config.vomap, config)
            for name, samples in asked.items():
                samples.append(_asked(site, job, name))
    return tuple(Trial(name, tuple(samples)) for name, samples in asked.items())


def replay(log: Sequence[Past], setup: Setup) -> Iterator[tuple[Past, Snapshot]]:
    """The sampled jobs, each with what was there when it could first have started.

    The log is in the order in which jobs came. Of jobs that came at the same time, those before
    the sampled one are there.
    """
    slots = most_busy(log) if setup.slots is None else setup.slots
    pools = tuple(pool._replace(free=None) for pool in setup.scheduling.pools)
    scheduling = setup.scheduling._replace(pools=pools)  # what is free, the jobs say
    there: dict[int, Past] = {}
    ends: list[tuple[float, int]] = []
    finished: deque[QueuedJob] = deque(maxlen=setup.remembered)
    wanted = set(_chosen(log, setup))
    for number, job in enumerate(log):
        if number in wanted:
            while ends and ends[0][0] <= job.ready:
                gone = there.pop(heapq.heappop(ends)[1])
                if gone.start is not None:
                    finished.append(gone.entry._replace(state=DONE, start=gone.start))
            entries = (*finished, *(_seen(other, job.ready) for other in there.values()))
            yield job, Snapshot(entries, slots, now=job.ready, scheduling=scheduling)
        there[number] = job
        if job.end is not None:
            heapq.heappush(ends, (job.end, number))


def _past(job: Job, entry: QueuedJob, submitted: float) -> Past:
    start, end, eligible = (_time(job, name) for name in ("StartTime", "EndTime", "EligibleTime"))
    if start is not None:
        start = max(start, submitted)
        if end is None and entry.state == DONE and entry.walltime is not None:
            end = start + entry.walltime
    # A job that others had to end before, or that was held, did not wait for slots until then.
    last = start if start is not None else end
    ready = submitted
    if eligible is not None and (last is None or submitted < eligible <= last):
        ready = max(eligible, submitted)
    if end is not None:
        end = max(end, start if start is not None else ready)
    return Past(entry._replace(qtime=ready), ready, start, end)


def _time(job: Job, name: str) -> float | None:
    try:
        value = job.properties.value(name)
    except InvalidValue:
        return None
    return float(value) if isinstance(value, int) else None


def _chosen(log: Sequence[Past], setup: Setup) -> list[int]:
    """The numbers of the jobs to ask about: as many as are wanted, evenly over the log."""
    if not log:
        return []
    since = log[0].ready + setup.warm_up
    started = [
        number for number, job in enumerate(log) if job.start is not None and job.ready >= since
    ]
    count = min(setup.samples, len(started))
    return [started[index * len(started) // count] for index in range(count)]


def _seen(job: Past, time: float) -> QueuedJob:
    """A job as the batch system showed it at a time."""
    if job.start is not None and job.start <= time:
        return job.entry._replace(state=RUNNING, start=job.start, walltime=None)
    return job.entry._replace(state=QUEUED, start=None, walltime=None)


def _asked(site: Site, job: Past, estimator: str) -> BacktestSample:
    assert job.start is not None
    pair = job.entry.queue, site.vo(job.entry)
    (answer,) = answers.answers(site, [pair], estimator)
    waited = max(job.start - job.ready, 0.0)
    return BacktestSample(job.ready, job.entry.jobid, *pair, waited, answer.ert, answer.wrt)
