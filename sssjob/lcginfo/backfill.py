"""A simulation of a scheduler that gives slots by priority, and backfills: what starts when.

Strategy. ``simulate`` knows one pool of slots and the order in which jobs came. Schedulers know
more: which queues may use which nodes, in which order jobs are to start, what is reserved, and how
long jobs may run. Readers of batch systems tell it (``snapshot.Scheduling``).

The idea is to do what the scheduler does, in its next pass behind each time at which a job ends or
a reservation begins or ends. Jobs that wait are gone through by the priority of their queue, then
their own, then by their age. What fits, starts. The first job of each pool that does not fit gets a
start in the future, when enough of what runs has ended by its limits; of those behind it only that
starts which ends before, or leaves it its slots. Jobs then end earlier than their limits, by the
part of them that is expected, so that each time is planned anew.

Why it is right: it is EASY backfill, with one job reserved for in each pool (none where the batch
system keeps nothing free), and fair share as far as it is in the priorities, which stay as they
are. One more job of a queue and a VO stands behind
those of the same ones, and is asked about only: it takes nothing, so that one run answers for all.
Which slots are on one node is not known, so that a wide job may start earlier here. Only the first
``DEPTH`` jobs that do not fit are looked at, as schedulers do it.
"""

from __future__ import annotations

import heapq
import math
import statistics
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from sssjob.lcginfo.simulate import NEVER, Lengths, Wait, free_now, named_end
from sssjob.lcginfo.site import Pair, Site
from sssjob.lcginfo.snapshot import QUEUED, RUNNING, Pool, QueuedJob, QueueRules

CYCLE = 60.0  # seconds from one pass of a scheduler to the next, where nobody says
DEPTH = 500  # jobs that do not fit and are looked at each time
WORK = 1_000_000  # pools and reservations that are looked at for jobs in one simulation

Order = tuple[float, float, float, str]  # of priorities, less than nothing; age; id
Taken = tuple[tuple[int, int], ...]  # of which pools how many slots


class QueuePlace(NamedTuple):
    """A job that waits, or is only asked about: its turn, and what it takes."""

    order: Order
    pair: Pair
    slots: int
    limit: float
    length: float
    jobid: str
    is_asked: bool = False


class _SlotRelease(NamedTuple):
    """When slots come free, and when they had to, and what then counts no longer."""

    time: float
    number: int
    limit: float
    taken: Taken
    queue: str
    vo: str
    counted: int
    jobid: str


class _ReservedSlots(NamedTuple):
    """Slots of a pool that a reservation takes at a time, and gives back at another."""

    start: float
    end: float
    pool: int
    slots: int
    name: str


class _GivenBack(NamedTuple):
    """Slots of a pool that a reservation gives back at a time."""

    time: float
    pool: int
    slots: int
    name: str


@dataclass(slots=True)
class _Promise:
    """When the first job of some pools will have its slots, and what is left of them then."""

    time: float
    left: dict[int, int]


@dataclass(slots=True)
class _QueuePass:
    """What one pass through the queue has promised, and what reservations leave of each pool."""

    promises: list[_Promise] = field(default_factory=list)
    kept: list[tuple[_ReservedSlots, int]] = field(default_factory=list)

    # decision 813
    def take(self, pool: int, slots: int, start: float, end: float) -> None:
        """Leave less beside the reservations that begin while a job has slots, or is to have."""
        self.kept = [
            (kept, left - slots if kept.pool == pool and start <= kept.start < end else left)
            for kept, left in self.kept
        ]


class Rules:
    """What is known of queues; one name may be several, of which a job may use any."""

    def __init__(self, site: Site) -> None:
        self._by_name = {rules.name: rules for rules in site.snapshot.scheduling.queues}

    def of(self, queue: str) -> Sequence[QueueRules]:
        """The rules of each queue that a name stands for; nothing of one that nobody knows."""
        return [self._by_name.get(name, QueueRules(name)) for name in queue.split(",")]

    def priority(self, queue: str) -> float:
        """The priority of the queue: the highest one of several."""
        return max(rules.priority for rules in self.of(queue))

    def limit(self, queue: str) -> float:
        """The longest time that a job may ask for."""
        limits = [rules.maxwalltime for rules in self.of(queue) if rules.starts]
        return NEVER if None in limits else max((each for each in limits if each), default=0.0)

    def usual(self, queue: str) -> float | None:
        """The time of a job that asks for none."""
        for rules in self.of(queue):
            if (told := rules.walltime or rules.maxwalltime) is not None:
                return told
        return None

    def most(self, queue: str) -> float:
        """How many jobs of it may run."""
        return max(
            NEVER if rules.maxrunning is None else rules.maxrunning for rules in self.of(queue)
        )


class _Pools:
    """The pools, and which of them the jobs of a queue may use."""

    def __init__(self, site: Site) -> None:
        told = site.snapshot.scheduling.pools
        self.all = told or (Pool((), site.snapshot.nactive or 0, free_now(site)),)
        self.is_told = bool(told)
        self._of: dict[str, tuple[int, ...]] = {}

    def of(self, queue: str) -> tuple[int, ...]:
        """Those that name it, or else those that name no queue."""
        if queue not in self._of:
            names = set(queue.split(","))
            named = [at for at, pool in enumerate(self.all) if not names.isdisjoint(pool.queues)]
            self._of[queue] = tuple(
                named or (at for at, pool in enumerate(self.all) if not pool.queues)
            )
        return self._of[queue]

    def at(self, queues: tuple[str, ...]) -> int:
        """The pool of these queues, or else the largest one."""
        places = range(len(self.all))
        same = [at for at in places if self.all[at].queues == queues]
        return same[0] if same else max(places, key=lambda at: self.all[at].slots)


class Scheduler:
    """The state of the simulation: what is free, what runs until when, and who waits."""

    def __init__(self, site: Site, usage: float, pairs: Collection[Pair]) -> None:
        self.site, self.rules, self.pools = site, Rules(site), _Pools(site)
        self.cycle = site.cycle or CYCLE
        self.lengths = Lengths(site, usage)
        self.jobs = [self._limited(job) for job in site.snapshot.jobs]
        self.time, self.released, self.started, self.work = 0.0, "", 0, 0
        self.released_of: dict[str, tuple[float, str]] = {}  # the last end of a VO, and when
        self.held, self.running = Counter[str](), Counter[str]()
        self.ends: list[_SlotRelease] = []
        self.limits: list[tuple[float, int, int, int]] = []  # when slots of a pool come free
        self.number = 0
        self.free = self._begin()
        self.kept: list[_ReservedSlots] = []  # reservations that have not begun
        self.given_back: list[_GivenBack] = []
        self._reserve()
        self.waiting = self._places(pairs)

    @cached_property
    def _by_slots(self) -> bool:
        return self.site.config.count == "slots"

    def _begin(self) -> list[int]:
        """Place the jobs that run into the pools; gives what is free in each."""
        pools = self.pools.all
        told = [pool.free for pool in pools]
        room = [pool.slots - (pool.free or 0) if self.pools.is_told else 1 << 31 for pool in pools]
        placed = [0] * len(pools)
        for job in self.jobs:
            if job.state != RUNNING:
                continue
            taken = [] if job.reservation else self._spread(job.cpucount, job.queue, room)
            for at, slots in taken:
                room[at] -= slots
                placed[at] += slots
            rest, limit = self.lengths.rest(job), self._limit(job)
            age = 0.0 if job.start is None else max(self.site.snapshot.time - job.start, 0.0)
            self._run(rest, max(limit - age, rest), tuple(taken), job.queue,
                      self.site.vo(job), self._counted(job.cpucount), job.jobid)  # fmt: skip
        return [
            max(pool.slots - busy, 0) if free is None else free
            for pool, free, busy in zip(pools, told, placed, strict=True)
        ]

    def _reserve(self) -> None:
        """Take what reservations keep now, and note what others will."""
        now = self.site.snapshot.time
        for each in self.site.snapshot.scheduling.reserved:
            if each.end <= now:
                continue
            at = self.pools.at(each.queues)
            if each.start > now:
                self.kept.append(
                    _ReservedSlots(each.start - now, each.end - now, at, each.slots, each.name)
                )
                continue
            used = sum(
                job.cpucount for job in self.jobs
                if job.state == RUNNING and job.reservation == each.name
            )  # fmt: skip
            taken = max(each.slots - used, 0)
            self.free[at] -= taken  # what is missing other jobs have, until they end
            back = taken + min(used, each.slots)
            self.given_back.append(_GivenBack(each.end - now, at, back, each.name))
        self.kept.sort()
        self.given_back.sort()

    def _places(self, pairs: Collection[Pair]) -> list[QueuePlace]:
        """Who waits, in the order of their turns, with those who are asked about."""
        found = []
        least: dict[Pair, float] = {}
        running: dict[Pair, float] = {}
        limits: dict[Pair, list[float]] = {}
        for job in self.jobs:
            pair = job.queue, self.site.vo(job)
            priority = job.priority or 0.0
            if job.state in (QUEUED, RUNNING) and job.maxwalltime:
                for key in (pair, (job.queue, "")):
                    limits.setdefault(key, []).append(job.maxwalltime)
            if job.state == RUNNING:
                running[pair] = min(priority, running.get(pair, NEVER))
            if job.state != QUEUED or job.reservation:
                continue
            for key in (pair, (job.queue, "")):
                least[key] = min(priority, least.get(key, NEVER))
            limit = self._limit(job)
            if limit <= self.rules.limit(job.queue):
                order = (-self.rules.priority(job.queue), -priority, job.qtime or 0.0, job.jobid)
                length = min(self.lengths.of(job), limit)
                found.append(QueuePlace(order, pair, job.cpucount, limit, length, job.jobid))
        last = min(least.values(), default=0.0)
        for queue, vo in pairs:
            priority = least.get(
                (queue, vo), running.get((queue, vo), least.get((queue, ""), last))
            )
            usual = self.rules.usual(queue)
            asked = limits.get((queue, vo)) or limits.get((queue, ""))
            limit = usual or (
                statistics.median(asked) if asked else self.site.config.default_walltime
            )
            if self.rules.limit(queue) > 0:
                order = (-self.rules.priority(queue), -priority, NEVER, "")
                found.append(QueuePlace(order, (queue, vo), 1, limit, limit, "", is_asked=True))
        return sorted(found)

    def _limited(self, job: QueuedJob) -> QueuedJob:
        """A job with the limit that its queue gives it, where it has no other."""
        if job.maxwalltime is not None:
            return job
        return job._replace(maxwalltime=self.rules.usual(job.queue))

    def _limit(self, job: QueuedJob) -> float:
        """How long the scheduler has to expect that a job runs."""
        return self.lengths.of(job) if job.maxwalltime is None else job.maxwalltime

    def _counted(self, slots: int) -> int:
        return slots if self._by_slots else 1

    def _spread(
        self, slots: int, queue: str, room: Sequence[int] | Mapping[int, int]
    ) -> list[tuple[int, int]]:
        """Slots of the pools of a queue, of that with most room first; fewer where there are."""
        taken = []
        for at in sorted(self.pools.of(queue), key=lambda at: -room[at]):
            part = min(slots, max(room[at], 0))
            if part:
                taken.append((at, part))
                slots -= part
        return taken

    def _run(
        self, length: float, limit: float, taken: Taken, queue: str, vo: str, counted: int,
        jobid: str,
    ) -> None:  # fmt: skip
        self.number += 1
        end = _SlotRelease(
            self.time + length, self.number, self.time + limit, taken, queue, vo, counted, jobid
        )
        heapq.heappush(self.ends, end)
        for at, slots in taken:
            insort(self.limits, (end.limit, end.number, at, slots))
        self.held[vo] += counted
        self.running[queue] += 1

    def passes(self) -> Iterator[QueuePlace]:
        """Each who is asked about, when he would start, with ``time`` and what led to it."""
        while True:
            yield from self._pass()
            if not self._next():
                return

    def _next(self) -> bool:
        """Go to the next time at which something changes; False if nothing does."""
        times = [
            *(each[0].time for each in [self.ends] if each),
            *(each.start for each in self.kept[:1]),
            *(each.time for each in self.given_back[:1]),
        ]
        if not times:
            return False
        # The scheduler sees what has changed when it looks again.
        self.time = math.ceil(min(times) / self.cycle) * self.cycle
        while self.ends and self.ends[0].time <= self.time:
            end = heapq.heappop(self.ends)
            for at, slots in end.taken:
                self.free[at] += slots
                del self.limits[bisect_left(self.limits, (end.limit, end.number, at, slots))]
            self.held[end.vo] -= end.counted
            self.running[end.queue] -= 1
            self.released = end.jobid
            self.released_of[end.vo] = self.time, end.jobid
        while self.given_back and self.given_back[0].time <= self.time:
            back = self.given_back.pop(0)
            self.free[back.pool] += back.slots
            self.released = f"the reservation {back.name}"
        while self.kept and self.kept[0].start <= self.time:
            begun = self.kept.pop(0)
            self.free[begun.pool] -= begun.slots  # what is missing ends soon
            insort(self.given_back, _GivenBack(begun.end, begun.pool, begun.slots, begun.name))
        return True

    def _pass(self) -> Iterator[QueuePlace]:
        """Start what can start now, in the order of turns."""
        now = _QueuePass(kept=[(each, self._left_by(each)) for each in self.kept])
        passed_over, gone = 0, []
        self.work += len(self.kept) * (1 + len(self.limits) // 64)
        is_full = self._is_full()
        for number, place in enumerate(self.waiting):
            if passed_over >= DEPTH or self.work >= WORK or is_full:
                break
            self.work += len(self.pools.of(place.pair[0])) + len(self.kept)
            if self._may(place) and (taken := self._fits(place, now)) is not None:
                gone.append(number)
                if place.is_asked:
                    yield place
                else:
                    self._start(place, taken, now)
                    is_full = self._is_full()
            elif not place.is_asked:
                passed_over += 1
        for number in reversed(gone):
            del self.waiting[number]

    def _is_full(self) -> bool:
        return all(free <= 0 for free in self.free)

    def _may(self, place: QueuePlace) -> bool:
        """Whether neither the cap of its VO nor the limit of its queue keeps a job out."""
        queue, vo = place.pair
        caps = self.site.caps
        if vo in caps and self.held[vo] + self._counted(place.slots) > caps[vo]:
            return False
        return self.running[queue] < self.rules.most(queue)

    def _fits(self, place: QueuePlace, now: _QueuePass) -> Taken | None:
        """The slots that a job gets now; what does not fit is promised slots, if nobody is."""
        pools = self.pools.of(place.pair[0])
        room = {at: min([self.free[at], *self._bounds(place.limit, at, now)]) for at in pools}
        taken = self._spread(place.slots, place.pair[0], room)
        if sum(slots for _, slots in taken) == place.slots:
            return tuple(taken)
        promised = {at for promise in now.promises for at in promise.left}
        keeps = self.site.snapshot.scheduling.keeps
        if keeps and not place.is_asked and promised.isdisjoint(pools):
            now.promises += self._promise(place.slots, place.limit, pools, now)
        return None

    def _bounds(self, limit: float, at: int, now: _QueuePass) -> Iterator[int]:
        """What a job may take of a pool without keeping others from what they are to have."""
        for promise in now.promises:
            if at in promise.left and self.time + limit > promise.time:
                yield promise.left[at]
        for kept, left in now.kept:
            if kept.pool == at and self.time + limit > kept.start:
                yield left

    def _start(self, place: QueuePlace, taken: Taken, now: _QueuePass) -> None:
        queue, vo = place.pair
        for at, slots in taken:
            self.free[at] -= slots
            for promise in now.promises:
                if at in promise.left and self.time + place.limit > promise.time:
                    promise.left[at] -= slots
            now.take(at, slots, self.time, self.time + place.limit)
        self._run(
            place.length, place.limit, taken, queue, vo, self._counted(place.slots), place.jobid
        )
        self.started += 1

    def _promise(
        self, slots: int, limit: float, pools: Collection[int], now: _QueuePass
    ) -> Iterator[_Promise]:
        """When so many slots of these pools will be free for so long, by the limits of what runs.

        What is kept for reservations is not: a job that would run into one waits for its end.
        """
        free = {at: self.free[at] for at in pools}
        kept = [(each, left) for each, left in now.kept if each.pool in free]
        changes = heapq.merge(
            ((time, at, ended) for time, _, at, ended in self.limits),
            ((each.time, each.pool, each.slots) for each in self.given_back),
            ((each.start, each.pool, -each.slots) for each, _ in kept),
            sorted((each.end, each.pool, each.slots) for each, _ in kept),
        )
        room: dict[int, int] = {}
        until = self.time
        for time, some in groupby(changes, key=itemgetter(0)):
            for _, at, more in some:
                if at in free:
                    free[at] += more
            if sum(max(each, 0) for each in free.values()) < slots:
                continue
            until = max(time, self.time) + limit
            room = {
                at: min([free[at], *(left for each, left in kept
                                     if each.pool == at and time < each.start < until)])
                for at in free
            }  # fmt: skip
            if sum(max(each, 0) for each in room.values()) >= slots:
                break
        else:
            return  # it never will
        for at in sorted(room, key=lambda at: -room[at]):
            part = min(slots, max(room[at], 0))
            free[at] -= part
            slots -= part
            now.take(at, part, max(time, self.time), until)
        yield _Promise(max(time, self.time), free)

    def _left_by(self, kept: _ReservedSlots) -> int:
        """What a reservation leaves of its pool when it begins, of what is free now."""
        until = bisect_left(self.limits, (kept.start, self.number + 1, 0, 0))
        ended = sum(slots for _, _, at, slots in self.limits[:until] if at == kept.pool)
        back = sum(
            each.slots for each in self.given_back
            if each.pool == kept.pool and each.time <= kept.start
        )  # fmt: skip
        taken = sum(
            each.slots for each in self.kept
            if each.pool == kept.pool and each.start <= kept.start < each.end
        )  # fmt: skip
        return self.free[kept.pool] + ended + back - taken


def waits(site: Site, pairs: Iterable[Pair], usage: float) -> dict[Pair, Wait]:
    """When one job more of each queue and VO would start; "" is a VO without a cap.

    One that would not, is not to start in all time that is simulated; where that was too much
    (``WORK``), there is no answer for it.
    """
    asked = tuple(pairs)
    scheduler = Scheduler(site, usage, asked)
    found: dict[Pair, Wait] = {}
    for place in scheduler.passes():
        vo = place.pair[1]
        capped = vo in site.caps and site.held(vo) >= site.caps[vo]
        at, own = scheduler.released_of.get(vo, (0.0, ""))
        own = own if at == scheduler.time else ""
        released = named_end(site, vo, own, scheduler.released)
        found[place.pair] = Wait(scheduler.time, released, scheduler.started, capped)
        if len(found) == len(asked):
            break
    if scheduler.work < WORK:
        found |= {pair: Wait(NEVER) for pair in asked if pair not in found}
    return found
