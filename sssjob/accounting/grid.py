"""The grid's half of jobs, joined with what the batch system says of them.

A computing element's log (BLAH) knows whose grid job became which batch job, the batch system
what it used. They belong together by the id in the batch system; because ids begin anew, the
record has to lie in a window of time about the entry in the log.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import BinaryIO

from sssjob import records, units
from sssjob.model import Block, Delivered, Item, Job
from sssjob.records.readers import noted
from sssjob.records.record import Converted, Outcome

# Of the times that a record has, the first counts.
_TIMES = ("EndTime", "StartTime", "SubmitTime")
BEFORE, AFTER = 86_400, 28 * 86_400  # seconds about the entry in which the record may lie

_LONGEST = 18  # digits of a time that is compared
_LENT = ("GlobalId", "SubmitHost")  # properties of a job that a record may lack


class Grid:
    """The entries of logs, held in memory; ``joined`` counts the jobs that found theirs."""

    def __init__(self) -> None:
        self._entries: dict[str, list[tuple[int, Job]]] = defaultdict(list)
        self._local: dict[str, str] = {}
        self.entries = 0
        self.joined = 0

    def read(self, stream: BinaryIO) -> Iterator[Outcome[Job]]:
        """Learn the entries of a log; gives what became of each."""
        for outcome in records.jobs("blah", stream):
            if isinstance(outcome, Converted):
                self._learn(outcome.job)
            yield outcome

    def join(self, job: Job) -> Job:
        """The job with what its entry tells beside it; what the record itself says stays."""
        entry = self._entry(job)
        if entry is None:
            return job
        self.joined += 1
        known = job.properties.names()
        lent: list[Item] = [
            noted("BLAH", name, item.text) if name in known else item
            for name in _LENT
            if (item := entry.properties.get(name)) is not None
        ]
        lent += entry.properties.all("Extension")
        blocks = [item for item in job.items if isinstance(item, Block)]
        own = [item for item in job.items if not isinstance(item, Block)]
        return _delivered(job.holding((*own, *lent, *blocks)), entry)

    def _learn(self, entry: Job) -> None:
        time = entry.get("SubmitTime")
        if not time:
            return
        self.entries += 1
        self._entries[entry.id].append((units.time(time), entry))
        # Some batch systems print ``7.server`` in one place and ``7`` in another.
        self._local.setdefault(entry.id.partition(".")[0], entry.id)

    def _entry(self, job: Job) -> Job | None:
        """The entry of a job's id that is nearest in time to when it was submitted."""
        id = job.id if job.id in self._entries else self._local.get(job.id, "")
        times = [
            int(text)
            for name in _TIMES
            if (text := job.get(name)).isdecimal() and len(text) <= _LONGEST
        ]
        if not id or not times:
            return None
        found = [
            (abs(times[-1] - time), entry)
            for time, entry in self._entries[id]
            if time - BEFORE <= times[0] < time + AFTER
        ]
        return min(found, key=lambda pair: pair[0])[1] if found else None


def _delivered(job: Job, entry: Job) -> Job:
    """The job with the credentials of its entry, where it has none of that name."""
    known = job.delivered.names()
    lent = tuple(item for item in entry.delivered if item.name not in known)
    block = job.block(Delivered)
    if block is None:
        return job.holding((*job.items, Delivered(lent))) if lent else job
    joined = block.holding((*block.items, *lent))
    return job.holding(joined if item is block else item for item in job.items)
