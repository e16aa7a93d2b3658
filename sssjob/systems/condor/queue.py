"""HTCondor: job and machine ads as ``condor_q`` and ``condor_status`` print them, long or JSON.

Jobs are read as ``sssjob status`` reads them. What lrmsinfo alone needs is here: slots, which jobs
need one, and what grid sites and computing elements add to the ads of their jobs.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from types import MappingProxyType

from sssjob.classads import forms
from sssjob.classads.question import one_question
from sssjob.classads.values import Ad
from sssjob.errors import InvalidValue
from sssjob.integers import limit_seconds
from sssjob.lcginfo.jobs import READ
from sssjob.lcginfo.reader import QueueReader, ReaderOptions
from sssjob.lcginfo.snapshot import DONE, QUEUED, RUNNING, QueuedJob, Report, Snapshot
from sssjob.model import Delivered, Job, Property, Requested
from sssjob.records.record import DELIVERED, JOB, REQUESTED
from sssjob.systems.condor import names
from sssjob.systems.condor.accounting import table
from sssjob.systems.condor.usage import AdTexts, number

# What sites and computing elements write; the first that is there counts. Seconds per unit.
QUEUES = ("BatchQueue", "remote_queue", "queue")
GROUP = "x509UserProxyVOName"
LIMITS = (("MaxWallTimeMins", 60), ("maxWallTime", 60), ("BatchRuntime", 1))
# What was given to an earlier run is nothing that a job has which waits.
_WAITING = ("Idle", "Hold")
_OF_A_RUN = ("Processors", "Duration")
_OF_STARTED = tuple(
    row for row in (*table.ATTRIBUTES, *table.USED) if row.element in READ[row.place]
)
_OF_ALL = tuple(
    row for row in table.ATTRIBUTES if row.element in READ[row.place] - table.OF_STARTED
)
IDLE = "Allqueuesareempty"  # what condor_q -global says, without its blanks


class CondorQueue(QueueReader):
    """Reads job ads and machine ads, told apart by what they have."""

    groups = MappingProxyType({
        "group": ("Project", "Group", "User"), "account": ("Project", "User"), "user": ("User",),
    })  # fmt: skip
    no_queue = "condor"

    def __init__(self, options: ReaderOptions, report: Report) -> None:
        super().__init__(options, report)
        self.submitters: list[str] = []  # of the jobs, in their order
        self.priorities: dict[str, float] = {}
        self.keeps = False  # a slot that comes free is given to the next job that fits

    def take(self, text: str) -> None:
        """Read one output: ads in the old syntax, a blank line between them, or JSON."""
        stripped = "".join(text.split())
        # What is no ad is judged as a whole below.
        ads = forms.read(io.BytesIO(text.encode()), on_error=lambda error: None)
        known = not stripped.strip("[]") or stripped == IDLE
        for ad in ads:
            if "JobStatus" in ad:
                self._job(ad)
            elif "Cpus" in ad and ("SlotID" in ad or ad.get("MyType") == "Machine"):
                self._slot(ad)
            elif "PriorityFactor" in ad:
                self._submitter(ad)
            else:
                continue
            known = True
        if not known:
            raise self.unknown("HTCondor", text)

    # decision 372
    @one_question
    def _job(self, ad: Ad) -> None:
        """Count a job as status reads it, with what only its ad says beside."""
        self.seen_at(_number(ad, "ServerTime"))
        if table.UNIVERSES.get(str(ad.get("JobUniverse"))) in table.ON_THE_SUBMIT_HOST:
            return
        job = _shown(ad)
        if not job.get("State"):
            error = InvalidValue(str(ad["JobStatus"]), "a JobStatus from 1 to 7")
            self.lost(f"job {job.id!r}: {error}")
        elif entry := self.entry(job):
            if entry.state != DONE:
                entry = entry._replace(walltime=None)
            if entry.state == RUNNING:  # since its last start, however often it was started
                entry = entry._replace(start=number(ad, "JobCurrentStartDate") or entry.start)
            self.jobs.append(entry)
            self.submitters.append(ad.text("AccountingGroup") or ad.text("Owner"))

    def _submitter(self, ad: Ad) -> None:
        """Remember what the negotiator divides slots by: the less, the more one gets."""
        priority = _number(ad, "Priority")
        if ad.get("IsAccountingGroup") is not True and priority is not None and priority > 0:
            self.priorities[ad.text("Name").partition("@")[0]] = priority

    def snapshot(self) -> Snapshot:
        """The state, with jobs in the order in which they would be given slots.

        The negotiator gives each submitter a part of the slots in inverse proportion to his
        priority, which is that of one whom nobody names for all alike. So the next slot is for the
        one who has least for his part, and that of his jobs whose JobPrio is highest.
        """
        held = Counter[str]()
        for name, job in zip(self.submitters, self.jobs, strict=True):
            if job.state == RUNNING:
                held[name] += job.cpucount
        least = min(self.priorities.values(), default=1.0)

        def turn(name: str) -> float:
            return -held[name] * self.priorities.get(name, least) / least

        # What a job that runs is given is the turn of one more of the same submitter.
        turns = [
            turn(name) if job.state == RUNNING else None
            for name, job in zip(self.submitters, self.jobs, strict=True)
        ]
        waiting = [at for at, job in enumerate(self.jobs) if job.state == QUEUED]
        for at in sorted(waiting, key=lambda at: _before(self.jobs[at])):
            name = self.submitters[at]
            turns[at] = turn(name)
            held[name] += self.jobs[at].cpucount
        self.jobs = [
            job._replace(priority=turn) for job, turn in zip(self.jobs, turns, strict=True)
        ]
        return super().snapshot()

    @one_question
    def _slot(self, ad: Ad) -> None:
        """Count a slot. A partitionable one stands for those that were cut from it."""
        self.seen_at(_number(ad, "MyCurrentTime"))
        if ad.get("DynamicSlot") is True:
            return
        state = str(ad.get("State", ""))
        if state == names.DRAINED or ad.get("Offline") is True:
            return
        cpus = int(_number(ad, "Cpus") or 0)
        if ad.get("PartitionableSlot") is True:
            up = int(_number(ad, "TotalSlotCpus") or cpus)
            self.add_slots(up, cpus if state != "Owner" else 0)
        else:
            self.add_slots(cpus, cpus if state == "Unclaimed" else 0)


def _before(job: QueuedJob) -> tuple[float, float, str]:
    """By what the jobs of one submitter are in order."""
    return -(job.priority or 0.0), job.qtime or 0.0, job.jobid


def _shown(ad: Ad) -> Job:
    """The job of an ad by the table of status, as far as lrmsinfo looks at it.

    Its queue, its group and its limit may have names of sites, where no other is there (decision
    327). What was given to an earlier run is
    nothing that a job has which waits.
    """
    texts = AdTexts.of(ad)
    found: dict[str, list[Property]] = {place: [] for place in READ}
    for row, item in texts.properties(_OF_STARTED if texts.ran else _OF_ALL):
        if item.name in READ[row.place]:
            found[row.place].append(item)
    job = found[JOB]
    told = {item.name for each in (job, found[REQUESTED]) for item in each}
    if "Queue" not in told and (queue := _first(ad, QUEUES)):
        job.append(Property("Queue", queue))
    if "Group" not in told and (group := _first(ad, (GROUP,))):
        job.append(Property("Group", group))
    if "Duration" not in told and (limit := next(_limits(ad), None)):
        found[REQUESTED].append(Property("Duration", limit_seconds(limit), {"op": "LE"}))
    waits = any(item.name == "State" and item.text in _WAITING for item in job)
    given = [item for item in found[DELIVERED] if not waits or item.name not in _OF_A_RUN]
    return Job((*job, Requested(tuple(found[REQUESTED])), Delivered(tuple(given))))


def _limits(ad: Ad) -> Iterator[float]:
    for name, unit in LIMITS:
        if (value := number(ad, name)) and value > 0:
            yield value * unit


def _number(ad: Ad, name: str) -> float | None:
    value = ad.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value)


def _first(ad: Ad, names: tuple[str, ...]) -> str:
    """The first of these attributes that is a string."""
    found = (ad.get(name) for name in names)
    return next((value for value in found if isinstance(value, str) and value), "")
