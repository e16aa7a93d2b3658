"""What an estimator is told of a site, and the counts that are published: jobs and free slots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from sssjob.lcginfo.config import Config
from sssjob.lcginfo.names import VOMap
from sssjob.lcginfo.snapshot import QUEUED, RUNNING, QueuedJob, Snapshot

Pair = tuple[str, str]  # a queue and a VO; the VO "" stands for the queue as a whole


@dataclass(frozen=True)
class Site:
    """A snapshot with what its configuration makes of it: VOs for groups, caps of VOs."""

    snapshot: Snapshot
    caps: Mapping[str, int] = field(default_factory=dict)
    vomap: VOMap = field(default_factory=VOMap)
    config: Config = field(default_factory=Config)

    @classmethod
    def of(cls, snapshot: Snapshot, caps: Mapping[str, int], config: Config) -> Site:
        """A site from what the batch system says of groups."""
        return cls(snapshot, config.vomap.caps(caps), config.vomap, config)

    def vo(self, job: QueuedJob) -> str:
        """The VO or FQAN that a job counts for; not the VO of an FQAN as well."""
        return self.vomap(job.group)

    @property
    def cycle(self) -> float | None:
        """Seconds between scheduling passes: what the batch system says, unless it says 0."""
        return self.snapshot.cycle or self.config.cycle_time

    @cached_property
    def counts(self) -> Counter[tuple[str, str, str]]:
        """How many jobs are in each state, queue and VO."""
        by_group = Counter((job.state, job.queue, job.group) for job in self.snapshot.jobs)
        counts: Counter[tuple[str, str, str]] = Counter()
        for (state, queue, group), number in by_group.items():
            counts[state, queue, self.vomap(group)] += number
        return counts

    @cached_property
    def _sums(self) -> Counter[tuple[str, str | None, str | None]]:
        """The counts added up over VOs, over queues, and over both."""
        sums: Counter[tuple[str, str | None, str | None]] = Counter()
        for (state, queue, vo), number in self.counts.items():
            sums[state, queue, None] += number
            sums[state, None, vo] += number
            sums[state, None, None] += number
        return sums

    def count(self, state: str, queue: str | None = None, vo: str | None = None) -> int:
        """How many jobs are in a state; None stands for any queue, or any VO."""
        if queue is None or vo is None:
            return self._sums[state, queue, vo]
        return self.counts[state, queue, vo]

    def running(self, queue: str | None = None, vo: str | None = None) -> int:
        """How many jobs run."""
        return self.count(RUNNING, queue, vo)

    def waiting(self, queue: str | None = None, vo: str | None = None) -> int:
        """How many jobs wait; a job on hold does not."""
        return self.count(QUEUED, queue, vo)

    @cached_property
    def _most(self) -> int | None:
        """How many slots one job can have at most; None where nobody says how many there are."""
        if not self.snapshot.nactive:
            return None
        known = self.snapshot
        return max(self.snapshot.nactive, known.busy - known.lacking + (known.free or 0))

    def can_start(self, job: QueuedJob) -> bool:
        """Whether a job waits, and asks for no more slots than there are."""
        return job.state == QUEUED and (self._most is None or job.cpucount <= self._most)

    @cached_property
    def too_wide(self) -> int:
        """How many jobs wait that ask for more slots than there are."""
        return self.waiting() - sum(map(self.can_start, self.snapshot.jobs))

    @cached_property
    def _sizes(self) -> Counter[tuple[str, str, str]]:
        """How many slots the jobs in each state, queue and VO hold or ask for."""
        sizes: Counter[tuple[str, str, str]] = Counter()
        for job in self.snapshot.jobs:
            sizes[job.state, job.queue, self.vo(job)] += job.cpucount
        return sizes

    def slots(self, state: str, queue: str, vo: str = "") -> int:
        """How many slots the jobs of a queue hold or ask for; without a VO, those of all."""
        if vo:
            return self._sizes[state, queue, vo]
        found = self._sizes.items()
        return sum(number for (had, where, _), number in found if (had, where) == (state, queue))

    @cached_property
    def _slots(self) -> Counter[str]:
        """What the running jobs of each VO count against its cap: jobs, or slots."""
        held: Counter[str] = Counter()
        for job in self.snapshot.jobs:
            if job.state == RUNNING:
                held[self.vo(job)] += job.cpucount if self.config.count == "slots" else 1
        return held

    def held(self, vo: str) -> int:
        """How much of its cap a VO uses."""
        return self._slots[vo]

    @cached_property
    def free_slots(self) -> int | None:
        """The free slots of the site, whatever waits; None if nobody knows.

        Where no number is stated, a job that waits for one slot, and not for its cap, says that
        there is none. (A wide job may wait beside free slots, and one of a queue with limits, too.)
        """
        if (told := self.snapshot.free) is not None or self.snapshot.scheduling.queues:
            return told
        waits = any(
            job.state == QUEUED and job.cpucount == 1 and not self._is_capped(self.vo(job))
            for job in self.snapshot.jobs
        )
        return 0 if waits else None

    def _is_capped(self, vo: str) -> bool:
        return vo in self.caps and self.held(vo) >= self.caps[vo]

    def free(self, vo: str) -> int | None:
        """The free slots for a VO: none while its jobs wait, and no more than its cap leaves."""
        if self.waiting(vo=vo) or self._is_capped(vo):
            return 0
        if vo in self.caps and self.free_slots is not None:
            return min(self.free_slots, self.caps[vo] - self.held(vo))
        return self.free_slots

    @cached_property
    def queues(self) -> tuple[str, ...]:
        """The queues that any job names, in order of their names."""
        return tuple(sorted({queue for _, queue, _ in self.counts}))

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The queues and VOs that any waiting or running job names, in order of their names."""
        alive = (QUEUED, RUNNING)
        return tuple(sorted({(queue, vo) for state, queue, vo in self.counts if state in alive}))
