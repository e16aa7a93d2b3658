"""An event simulation of the jobs of a snapshot: what starts when, and when one more would.

Strategy. When a job of a VO would start depends on all that run and wait before it, on the cap of
each VO, and on how long jobs run, which is known for none of them.

The idea is to play it through from one end of a job to the next. The slots are one pool, as in
lrmsinfo. Waiting jobs start in the order in which they came; those of a VO at its cap are passed
over, and so are those of more slots than there are, which never start; nobody else is. A job runs
for a part of its limit, learned from finished jobs. One run answers for all VOs: each would start
at the first step that leaves a free slot below its cap.

Why it is right: a job of several slots takes them one by one as they come free, ahead of those
behind it. What drains for it is not modelled, and in exchange more slots never make anyone wait
longer, as long as they let no job start that could not, which does not hold for jobs that wait for
all their slots at once while others pass them by. Only the first job of each VO competes, in a
heap, so that the time of a step grows with the jobs that start or end in it, and not with the
length of the queue.
"""

from __future__ import annotations

import heapq
import statistics
from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sssjob.lcginfo.site import Site
from sssjob.lcginfo.snapshot import DONE, RUNNING, QueuedJob, ordered

NEVER = float("inf")
EXPECTED_USAGE = 0.5  # of its limit, where nothing is known of finished jobs
SAMPLES = 20  # finished jobs that say more than the assumption


class PoolStep(NamedTuple):
    """The pool after everything that can start at a time has started.

    ``busy`` counts slots, ``waiting`` jobs. ``released`` is the id of the last job whose end
    brought us here, of each VO, and of "", which is any; none at the beginning. ``held`` is what
    every VO uses of its cap, and changes with the next step.
    """

    time: float
    free: int
    busy: int
    waiting: int
    released: Mapping[str, str]
    held: Mapping[str, int]


class Lengths:
    """How long jobs run, by their limits and a part of it that they use."""

    def __init__(self, site: Site, usage: float) -> None:
        self._usage = usage
        self._time = site.snapshot.time
        self._soon = (site.cycle or 0.0) / 2
        self._default = site.config.default_walltime
        ages: dict[str, list[float]] = {}
        for job in site.snapshot.jobs:
            if job.state == RUNNING and job.start is not None:
                ages.setdefault(job.queue, []).append(max(self._time - job.start, 0.0))
        # Jobs are met in the middle of their run, on average.
        self._met = {queue: 2 * statistics.fmean(found) for queue, found in ages.items()}

    def of(self, job: QueuedJob) -> float:
        """How long a job runs from its start to its end."""
        if job.maxwalltime is not None:
            return job.maxwalltime * self._usage
        return self._met.get(job.queue, 0.0) or self._default

    def rest(self, job: QueuedJob) -> float:
        """How long a running job still runs; an overdue one ends with half a cycle."""
        age = 0.0 if job.start is None else max(self._time - job.start, 0.0)
        return max(self.of(job) - age, self._soon)


def expected_usage(site: Site) -> float:
    """The part of its limit that a job runs: configured, or learned from finished jobs."""
    if site.config.usage is not None:
        return site.config.usage
    parts = [
        min(job.walltime / job.maxwalltime, 1.0)
        for job in site.snapshot.jobs
        if job.state == DONE and job.walltime and job.maxwalltime
    ]
    return statistics.fmean(parts) if len(parts) >= SAMPLES else EXPECTED_USAGE


def steps(site: Site, usage: float) -> Iterator[PoolStep]:
    """The pool now and after every end of a job, as long as jobs end.

    Times are seconds from now.
    """
    pool = _SimulatedPool.of(site, Lengths(site, usage))
    pool.start()
    yield pool.step(0.0, {})
    while pool.ends:
        time, released = pool.release()
        pool.start()
        yield pool.step(time, released)


@dataclass(slots=True)
class _Waiting:
    """A job in the queue, with the slots that it still lacks."""

    order: int
    length: float
    lacks: int
    jobid: str
    begun: bool = False


class _End(NamedTuple):
    """Slots that come free at a time, and what is then no longer counted against a cap."""

    time: float
    order: int
    slots: int
    vo: str
    counted: int
    jobid: str


@dataclass(slots=True)
class _SimulatedPool:
    """The state of the simulation: free slots, ends to come, and the queue of each VO."""

    free: int
    caps: Mapping[str, int]
    by_slots: bool
    ends: list[_End]
    queues: dict[str, deque[_Waiting]]
    held: Counter[str]
    busy: int = 0
    waiting: int = 0
    time: float = 0.0
    ready: list[tuple[int, str]] = field(default_factory=list)
    offered: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, site: Site, lengths: Lengths) -> _SimulatedPool:
        by_slots = site.config.count == "slots"
        ends, held = [], Counter[str]()
        queues: dict[str, deque[_Waiting]] = {}
        running = [job for job in site.snapshot.jobs if job.state == RUNNING]
        for order, job in enumerate(running):
            vo, counted = site.vo(job), job.cpucount if by_slots else 1
            ends.append(_End(lengths.rest(job), order, job.cpucount, vo, counted, job.jobid))
            held[vo] += counted
        heapq.heapify(ends)
        waiting = ordered(job for job in site.snapshot.jobs if site.can_start(job))
        for order, job in enumerate(waiting, len(running)):
            place = _Waiting(order, lengths.of(job), job.cpucount, job.jobid)
            queues.setdefault(site.vo(job), deque()).append(place)
        busy = sum(end.slots for end in ends)
        free = free_now(site)
        pool = cls(free, site.caps, by_slots, ends, queues, held, busy, len(waiting))
        for vo in queues:
            pool.offer(vo)
        return pool

    def step(self, time: float, released: Mapping[str, str]) -> PoolStep:
        return PoolStep(time, self.free, self.busy, self.waiting, released, self.held)

    def below_cap(self, vo: str) -> bool:
        return vo not in self.caps or self.held[vo] < self.caps[vo]

    def offer(self, vo: str) -> None:
        """Let the first waiting job of a VO compete for slots, if there is one and it may."""
        queue = self.queues.get(vo)
        if not queue or vo in self.offered:
            return
        if self.below_cap(vo) or (queue[0].begun and not self.by_slots):
            heapq.heappush(self.ready, (queue[0].order, vo))
            self.offered.add(vo)

    def start(self) -> None:
        """Give the free slots to the jobs that came first."""
        while self.free > 0 and self.ready:
            _, vo = heapq.heappop(self.ready)
            self.offered.remove(vo)
            queue = self.queues[vo]
            job = queue[0]
            slots = min(self.free, job.lacks)
            if self.by_slots and vo in self.caps:
                slots = min(slots, self.caps[vo] - self.held[vo])
            counted = slots if self.by_slots else int(not job.begun)
            end = _End(self.time + job.length, job.order, slots, vo, counted, job.jobid)
            heapq.heappush(self.ends, end)
            self.free -= slots
            self.busy += slots
            self.held[vo] += counted
            job.lacks -= slots
            job.begun = True
            if not job.lacks:
                queue.popleft()
                self.waiting -= 1
            self.offer(vo)

    def release(self) -> tuple[float, Mapping[str, str]]:
        """Go to the next time at which slots come free; gives it and the last job to end.

        Of each VO, and of "", which is any.
        """
        self.time = self.ends[0].time
        released: dict[str, str] = {}
        while self.ends and self.ends[0].time == self.time:
            end = heapq.heappop(self.ends)
            self.free += end.slots
            self.busy -= end.slots
            self.held[end.vo] -= end.counted
            self.offer(end.vo)
            released[end.vo] = released[""] = end.jobid
        return self.time, released


def free_now(site: Site) -> int:
    """The slots that are free at the beginning; less than 0 where some are ``lacking``.

    Where nobody says, jobs that wait show that there are none, and no waiting job that there is
    at least one.
    """
    if site.free_slots is not None:
        return site.free_slots - site.snapshot.lacking
    return 0 if site.waiting() else 1


@dataclass(frozen=True, slots=True)
class Wait:
    """When a job of a VO would start if it came now, and what it waits for.

    ``started`` counts the waiting jobs that start before it. ``capped`` says that there was a
    free slot before, but not for this VO.
    """

    seconds: float
    released: str = ""
    started: int = 0
    capped: bool = False


def named_end(site: Site, vo: str, own: str, last: str) -> str:
    """Of the ends at a time, which all make room, the one that is named: a job's own VO's, if that
    has a cap, as it makes room there, too.
    """
    return own if own and vo in site.caps else last


def waits(site: Site, vos: Collection[str], usage: float) -> dict[str, Wait]:
    """When one job more of each VO would start, behind all that wait; "" is a VO without a cap."""
    open_, capped = set(vos), set[str]()
    found: dict[str, Wait] = {}
    before = site.waiting() - site.too_wide
    for step in steps(site, usage):
        if step.free <= 0:
            continue
        for vo in tuple(open_):
            if vo in site.caps and step.held[vo] >= site.caps[vo]:
                capped.add(vo)
                continue
            released = named_end(site, vo, step.released.get(vo, ""), step.released.get("", ""))
            found[vo] = Wait(step.time, released, before - step.waiting, vo in capped)
            open_.remove(vo)
        if not open_:
            break
    return found | {vo: Wait(NEVER, capped=vo in capped) for vo in open_}
