"""What was delivered, folded into the jobs of a document: records and features directories.

The document may be of any size: it is read twice, first for the ids of its jobs and then to write
it anew with what is for them. Everything but the jobs that change is kept to the byte.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path

from sssjob.check.awareness import SharedContext, Understood, around, understood
from sssjob.defaults import resolve
from sssjob.delivery import records
from sssjob.delivery.records import DeliveryCounts, PlacedRecord
from sssjob.delivery.runs import fold_run, frame_of, of_recorded_run, of_run
from sssjob.document import Source, read
from sssjob.document.splice import rewrite
from sssjob.errors import AwarenessPolicy, Finding, UnusableInput, finding
from sssjob.features import fold as features
from sssjob.features import keys, status
from sssjob.features.keys import Value
from sssjob.features.measured import of_status, of_usage
from sssjob.features.read import modern
from sssjob.features.read import read as read_features
from sssjob.features.status import StatusSnapshot
from sssjob.features.used import Used, of_cgroup, of_file
from sssjob.fold import Fact, identities, is_about
from sssjob.model import Block, Job, JobGroup, Property, jobs_of
from sssjob.records import Format
from sssjob.runs import RunOrder, RunTimes
from sssjob.states import has_ended


@dataclass(slots=True)
class Tally(DeliveryCounts):
    """What happened, in numbers: of records, of jobs, and of documents that cannot be read."""

    jobs: int = 0
    findings: list[Finding] = field(default_factory=list)


class Delivery:
    """The jobs of a document, read twice: first which there are, then with what is for them."""

    def __init__(
        self, source: str | PathLike[str], name: str = "", *,
        overwrite: bool = False, force: bool = False, now: int | None = None,
        same_start: int = features.START_TOLERANCE,
    ) -> None:  # fmt: skip
        """``same_start`` are the seconds by which features and a job that has not ended may differ
        about the start of one run."""
        self.source, self.name = source, name or str(source)
        self.same_start = same_start
        self.overwrite, self.force, self.now = overwrite, force, now
        self.tally = Tally()
        self.wanted: set[str] = set()
        self.records: dict[str, list[PlacedRecord]] = defaultdict(list)
        # Not folded: of earlier runs, of which they may tell the end.
        self.earlier: dict[str, list[PlacedRecord]] = defaultdict(list)
        self.directory = ""
        self.sources: list[str] = []
        self.snapshot: StatusSnapshot | None = None
        self.used: list[Used] = []
        self.features: dict[str, Value] = {}
        self.machine: dict[str, Value] = {}

    def look(self) -> None:
        """Learn the ids, so that only records about these jobs are kept."""
        for block in read(self.source):
            for job in jobs_of(block):
                self.tally.jobs += 1
                self.wanted |= identities(job)

    def take_features(self, directory: str) -> None:
        """Read a features directory; keys of the machine may stand in it too."""
        both = modern(read_features(directory, (*keys.JOB_FEATURES, *keys.MACHINE_FEATURES)))
        of_machine = {row.name for row in keys.MACHINE_FEATURES}
        self.directory = directory
        self.features = {k: v for k, v in both.values.items() if k not in of_machine}
        self.machine = {k: v for k, v in both.values.items() if k in of_machine}
        self.tally.findings += both.findings
        self._belongs(directory)

    def take_machine(self, directory: str) -> None:
        """Read a directory of the machine beside that of the job."""
        found = modern(read_features(directory, keys.MACHINE_FEATURES))
        self.machine = {**self.machine, **found.values}
        self.tally.findings += found.findings
        self._belongs(directory)

    def take_status(self, directory: str) -> None:
        """Read what a pilot said of itself, under its lock; without a status it said nothing.

        Raises ``LockTimeout`` if the pilot does not give the lock back.
        """
        snapshot = status.read(directory)
        if snapshot is not None:
            self.take_snapshot(snapshot, directory)

    def take_snapshot(self, snapshot: StatusSnapshot, directory: str) -> None:
        """Take what a pilot said of itself in a directory."""
        self.snapshot = snapshot
        self._belongs(directory)

    def take_usage(self, path: str) -> None:
        """Read what was measured: the control group of the job, or a file of names and numbers."""
        self.take_used(of_cgroup(path) if os.path.isdir(path) else of_file(path), path)

    def take_used(self, used: Used, place: str) -> None:
        """Take what was measured; ``place`` tells where."""
        self.used.append(used)
        self._belongs(place)

    def _belongs(self, place: str) -> None:
        """Keep the name of a source, which must be about one job."""
        self.sources.append(place)
        if "job_id" not in self.features and self.tally.jobs > 1:
            text = f"{self.directory or place} has no job_id, and {self.name} holds several jobs"
            raise UnusableInput(text)

    def take_records(self, source: Source, name: str, format_: Format, zone: str = "") -> None:
        """Read the records about jobs of the document; bad ones are reported and counted."""
        about: frozenset[str] = frozenset()
        for found in records.read(source, name, format_, zone, self.tally):
            if isinstance(found, PlacedRecord):
                about = identities(found.job) & self.wanted
                self.tally.elsewhere += not about
                for identity in about:
                    self.records[identity].append(found)
            elif isinstance(found, Finding):
                self.tally.findings.append(found)
            elif about:
                self.tally.findings.append(found.finding)

    def pieces(self) -> Iterator[bytes]:
        """The document as it was, but for the jobs to which something was delivered."""
        return rewrite(Path(self.source), self._changed)

    def _changed(self, block: Block) -> Block:
        """A job, or the jobs of a group, with what was delivered to each."""
        if isinstance(block, Job):
            return self._understood(block, JobsUnderstood(block))
        if isinstance(block, JobGroup):
            whole = JobsUnderstood(block)
            return block.holding(
                self._understood(item, whole) if type(item) is Job else item for item in block.items
            )
        return block

    def _understood(self, job: Job, whole: JobsUnderstood) -> Job:
        """A job with what is for it, unless that is refused for what is not understood (9.0)."""
        found = self._records(job)
        if not found and not (self.sources and self._has_features(job)):
            return job
        known = whole.understood(job)
        self._find(known.findings())
        if not known.accepted:
            self.tally.refused += 1
            return job
        return self._delivered(job, known.block, found, whole.frame)

    def _delivered(
        self, job: Job, effective: Job, found: Collection[PlacedRecord], frame: JobGroup | None
    ) -> Job:
        """A job with its records, then with its features; ``effective`` has its defaults.

        Of several runs in the records the last one counts, and features of a run before, too, go
        the way of its record. # decision 807
        """
        about = False
        passed: list[RunTimes] = []  # runs of records that are not folded, or that went for a later
        _, before = by_run(found)
        former = {record.place for record in before}
        before += _about(self.earlier, job)
        known = _known(job, before)
        for record in found:
            told = RunTimes.of_job(record.job)
            order = RunOrder.EARLIER if record.place in former else _order(record, known)
            self._tell_run(job, order, record.place)
            if order is RunOrder.EARLIER:
                passed.append(told)
            elif order is RunOrder.LATER:
                passed.append(known)
            if order in (RunOrder.EARLIER, RunOrder.UNTOLD):
                continue
            job, effective = (of_recorded_run(each, order, record.job) for each in (job, effective))
            job, about = self._fold(job, record.job, record.place, frame), True
            known = _known(job, before)
        if self.sources and self._has_features(job):
            given = self._with_features(job, effective, passed, frame)
            job, about = given or job, about or given is not None
        self.tally.delivered += about
        return job

    def _with_features(
        self, job: Job, effective: Job, passed: Iterable[RunTimes], frame: JobGroup | None
    ) -> Job | None:
        """A job with features and what was measured; None where these are not of its last run."""
        start = self.features.get("jobstart_secs")
        told = RunTimes(None, start if isinstance(start, int) else None)
        known = RunTimes.of_job(job)
        tolerance = features.START_TOLERANCE if has_ended(job.get) else self.same_start
        order = told.order(known, tolerance)
        if any(told.is_rather(each, known, features.START_TOLERANCE) for each in passed):
            order = RunOrder.EARLIER
        job, effective = (of_run(each, order) for each in (job, effective))
        whole = effective.holding((*effective.items, *_times(job, effective)))
        given = features.facts(whole, self.features, self.machine, now=self.now, force=self.force)
        self._find(given.findings)
        if not given.about:
            return None
        place = ", ".join(self.sources)
        self._tell_run(job, order, place)
        if order is RunOrder.EARLIER:
            return None
        facts = (*given.facts, *self._measured(job))
        return self._fold(job, facts, place, frame)

    def _tell_run(self, job: Job, order: RunOrder, place: str) -> None:
        """Tell that what is told is of another run than what a job has, or may be."""
        if order is RunOrder.EARLIER:
            text = f"{place}: an earlier run of job {job.id} is not folded"
            self._note("W-USELESS", text, self.name, job.line)
        elif order is RunOrder.LATER:
            text = f"{place}: a later run of job {job.id} replaces what is known of one before"
            self._note("W-USELESS", text, self.name, job.line)
            self.tally.changes += 1
        elif order is RunOrder.UNTOLD:
            why = "its times have no zone (--tz), and may be of another run"
            text = f"{place}: is not folded into job {job.id}: {why}"
            self._note("W-USELESS", text, self.name, job.line)

    def _measured(self, job: Job) -> Iterator[Fact]:
        """What the pilot said, and what was measured."""
        if self.snapshot is not None:
            allocated = self.features.get("allocated_cpu")
            number = allocated if isinstance(allocated, int) else None
            said = of_status(job, self.snapshot, number)
            self._find(said.findings)
            yield from said.facts
        for used in self.used:
            yield from of_usage(used)

    def _has_features(self, job: Job) -> bool:
        stated = self.features.get("job_id")
        return self.tally.jobs == 1 or features.is_of(job, stated)

    def _records(self, job: Job) -> list[PlacedRecord]:
        """The records about a job, of all of its runs."""
        return _about(self.records, job)

    def _fold(
        self, job: Job, delivered: Job | Iterable[Fact], place: str, frame: JobGroup | None
    ) -> Job:
        folded = fold_run(job, delivered, frame=frame, source=place, overwrite=self.overwrite)
        self._find(folded.findings)
        self.tally.changes += folded.changes
        return folded.job

    def _find(self, findings: Iterable[Finding]) -> None:
        self.tally.findings += (item.in_file(item.file or self.name) for item in findings)

    def _note(self, code: str, text: str, file: str, line: int) -> None:
        self.tally.findings.append(finding(code, text, file=file, line=line))


def by_run(
    records: Iterable[PlacedRecord],
) -> tuple[list[PlacedRecord], list[PlacedRecord]]:
    """The records of the last run of a job, and those of runs before."""
    ranks = [(RunTimes.of_job(record.job).rank, record) for record in records]
    last = max((rank for rank, _ in ranks), default=None)
    return (
        [record for rank, record in ranks if rank == last],
        [record for rank, record in ranks if rank != last],
    )


def _known(job: Job, before: Iterable[PlacedRecord]) -> RunTimes:
    """The run that a job has, if any; one of the records that are not folded may tell its end."""
    known = RunTimes.of_job(job)
    for record in before if known.started is not None else ():
        if known.ended is None and _order(record, known) is RunOrder.SAME:
            known = known.with_end_of(RunTimes.of_job(record.job))
    return known


def _about(records: Mapping[str, Iterable[PlacedRecord]], job: Job) -> list[PlacedRecord]:
    found = {
        record.place: record
        for name in identities(job)
        for record in records.get(name, ())
        if is_about(record.job, job)
    }
    return [*found.values()]


def _order(record: PlacedRecord, known: RunTimes) -> RunOrder:
    """How the run of a record stands to one that is known."""
    told = RunTimes.of_job(record.job)
    ordered = told.order_without_zone if record.is_zoneless else told.order
    return ordered(known, features.START_TOLERANCE)


class JobsUnderstood:
    """A job object as it was read, for what is understood of each job with its defaults."""

    def __init__(self, block: Job | JobGroup) -> None:
        self._places = {id(job): place for place, job in enumerate(jobs_of(block))}
        self._in_group = isinstance(block, JobGroup)
        self._around = AwarenessPolicy.REJECT
        if self._in_group:
            self._around = AwarenessPolicy.at(block.attributes, self._around)
        self._block = block
        self.frame = frame_of(block)

    def understood(self, job: Job) -> Understood[Job]:
        """What is left of one of its jobs, and what follows from the rest (9.0)."""
        place = self._places[id(job)]
        number = f"[{place + 1}]" * (len(self._places) > 1)
        path = f"/JobGroup/Job{number}" if self._in_group else "/Job"
        known = understood(self._effective[place], around=self._around, path=path)
        return known.within(self._contexts[place])

    @cached_property
    def _contexts(self) -> tuple[SharedContext | None, ...]:
        return tuple(around(self._block, jobs_of(self._block)))

    @cached_property
    def _effective(self) -> tuple[Job, ...]:
        return jobs_of(resolve(self._block).block)


def _times(job: Job, effective: Job) -> Iterator[Property]:
    """What a record told about times, for a job whose defaults were resolved before."""
    for item in job.properties:
        told = item.name in ("StartTime", "EndTime", "SuspendDuration")
        if told and effective.properties.get(item.name) is None:
            yield item
