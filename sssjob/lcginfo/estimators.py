"""Estimators by name: how long a job would wait in each queue, for each VO.

An estimator is a function of a site and of the pairs of queue and VO that are asked for. It
gives raw seconds; what is published is cut to the scheduling cycle by ``published``. Others
register theirs as entry points of the group ``sssjob.lcginfo.estimators``.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping
from importlib.metadata import entry_points
from typing import NamedTuple, Protocol

from sssjob.errors import SSSJobError
from sssjob.lcginfo import backfill, explain, simulate
from sssjob.lcginfo import basic as samples
from sssjob.lcginfo.site import Pair, Site
from sssjob.lcginfo.snapshot import RUNNING

GROUP = "sssjob.lcginfo.estimators"
LARGEST = 2**31 - 1  # those who read the values keep them in 32 bits
UNKNOWN_TIME = 2146660842  # what the schema's users write for a time that is not known


class Estimate(NamedTuple):
    """The estimated and the worst response time in seconds, and why a job would wait."""

    ert: float
    wrt: float
    why: tuple[str, ...] = ()


Estimates = Mapping[Pair, Estimate]


class Estimator(Protocol):
    """What an estimator is: a pair without an estimate is left out of the answer."""

    def __call__(self, site: Site, pairs: Collection[Pair], /) -> Estimates:
        """The estimates for these pairs."""
        ...


class NoEstimator(SSSJobError, LookupError):
    """A name by which no estimator is known."""


def get(name: str) -> Estimator:
    """The estimator of that name, ours or registered. Raises ``NoEstimator``."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    for point in entry_points(group=GROUP, name=name):
        found: Estimator = point.load()
        return found
    raise NoEstimator(f"{name!r} is no known estimator; known: {', '.join(names())}")


def names() -> tuple[str, ...]:
    """The names of all estimators, ours first."""
    others = sorted({point.name for point in entry_points(group=GROUP)} - BUILT_IN.keys())
    return (*BUILT_IN, *others)


def published(estimate: Estimate, cycle: float | None) -> tuple[int, int]:
    """The times as they are published: nothing starts before the scheduler's next pass.

    >>> published(Estimate(0, 0), 120), published(Estimate(3600.7, 10), 120)
    ((60, 120), (3600, 3600))
    """
    ert, wrt = estimate.ert, max(estimate.ert, estimate.wrt)
    if cycle:
        ert = int(cycle / 2) if ert < cycle else ert
        wrt = cycle if wrt < cycle else wrt
    return int(min(ert, LARGEST)), int(min(wrt, LARGEST))


def simulated(site: Site, pairs: Collection[Pair]) -> Estimates:
    """What a simulation of the queue says: the default.

    The estimate takes jobs to run the expected part of their limits, the worst case all of it.
    """
    vos = {vo for _, vo in pairs}
    expected = simulate.waits(site, vos, simulate.expected_usage(site))
    worst = simulate.waits(site, vos, 1.0)
    reasons = explain.Reasons(site)
    found = {}
    for queue, vo in pairs:
        if _at_once(site, queue, vo):
            found[queue, vo] = Estimate(0.0, 0.0, reasons.free(vo))
        else:
            wait = expected[vo]
            why = reasons.waiting(vo, wait)
            found[queue, vo] = Estimate(wait.seconds, worst[vo].seconds, why)
    return found


def backfilled(site: Site, pairs: Collection[Pair]) -> Estimates:
    """What a simulation of a scheduler with priorities, reservations and backfill says.

    A pair that takes too long to simulate is left to ``simulated``.
    """
    expected = backfill.waits(site, pairs, simulate.expected_usage(site))
    worst = backfill.waits(site, pairs, 1.0)
    reasons = explain.Reasons(site)
    found = {
        pair: Estimate(wait.seconds, worst[pair].seconds, _why_backfilled(reasons, pair, wait))
        for pair, wait in expected.items()
        if pair in worst
    }
    rest = [pair for pair in pairs if pair not in found]
    return {**found, **simulated(site, rest)} if rest else found


def _why_backfilled(reasons: explain.Reasons, pair: Pair, wait: simulate.Wait) -> tuple[str, ...]:
    """Why a job would wait; one that starts now does not."""
    return reasons.waiting(pair[1], wait) if wait.seconds else ("it would start now",)


def waited(site: Site, pairs: Collection[Pair]) -> Estimates:
    """How long the running jobs of the queue had waited, unless there are free slots."""
    times: dict[str, list[float]] = {}
    for job in site.snapshot.jobs:
        if job.state == RUNNING and job.start is not None and job.qtime is not None:
            times.setdefault(job.queue, []).append(max(job.start - job.qtime, 0.0))
    if site.free_slots:
        return {pair: Estimate(0.0, 0.0, (f"{site.free_slots} slots are free",)) for pair in pairs}
    return {
        (queue, vo): Estimate(
            statistics.fmean(found),
            max(found),
            (f"{len(found)} running jobs of the queue had waited that long",),
        )
        for queue, vo in pairs
        if (found := times.get(queue))
    }


def sampled(site: Site, pairs: Collection[Pair]) -> Estimates:
    """The formula of the deployed program, with its sample files."""
    found = samples.estimate(site)
    return {
        (queue, vo): Estimate(found[queue].ert, found[queue].wrt, (found[queue].why,))
        for queue, vo in pairs
        if queue in found
    }


def _at_once(site: Site, queue: str, vo: str) -> bool:
    """Whether a slot is free that nobody before has a claim to."""
    if vo:
        return bool(site.free(vo))
    return bool(site.free_slots) and not site.waiting(queue)


BUILT_IN: dict[str, Estimator] = {
    "simulate": simulated, "backfill": backfilled, "basic": sampled, "waittime": waited,
}  # fmt: skip
