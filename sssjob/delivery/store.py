"""Records folded into the jobs of a store: a stream of any length, each batch in one change.

A record goes to the run of the job that it is about, by the rule by which a document on its own
tells runs apart. A run that the store does not have yet (the job was requeued) becomes a further
document, also of a job of a group: the job as it was requested, with that record, as it would be
on its own. Folding the same records again changes nothing. # decision 850
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from sssjob.check.awareness import is_old
from sssjob.defaults import resolve
from sssjob.delivery.document import JobsUnderstood
from sssjob.delivery.records import DeliveryCounts, PlacedRecord, read
from sssjob.delivery.runs import RunOrder, RunTimes, fold_run, frame_of, of_run, told_order
from sssjob.document import Source, dumps, loads, tree
from sssjob.document.splice import rewrite
from sssjob.errors import Finding, Severity, finding
from sssjob.features.fold import START_TOLERANCE
from sssjob.features.folded import without_run
from sssjob.fold import identities, is_about
from sssjob.model import Block, Job, JobGroup, jobs_of
from sssjob.records import Format
from sssjob.store import Change, Store, Stored

_BATCH = 200  # records of one change


@dataclass(slots=True)
class StoreTally(DeliveryCounts):
    """What happened, in numbers: of records, and of documents."""

    runs: int = 0
    disagreements: int = 0
    errors: int = 0


class StoreDelivery:
    """Folds records into a store, and gives what disagrees or is wrong after each change."""

    def __init__(self, jobs: Store, *, overwrite: bool = False) -> None:
        self._jobs, self._overwrite = jobs, overwrite
        self._findings: list[Finding] = []
        self.tally = StoreTally()

    def take_records(
        self, source: Source, name: str, format_: Format, zone: str = ""
    ) -> Iterator[Finding]:
        """Fold the records of a source, as far as it is followed; bad ones are counted."""
        found = read(source, name, format_, zone, self.tally)
        about = False
        while batch := list(islice(found, _BATCH)):
            with self._jobs.change(source=name, reason="delivered") as change:
                for each in batch:
                    if isinstance(each, PlacedRecord):
                        about = self._take(change, each)
                    elif isinstance(each, Finding):
                        self._tell(each)
                    elif about:
                        self._tell(each.finding)
            yield from self._told()

    def _take(self, change: Change, placed: PlacedRecord) -> bool:
        """Fold a record; whether there is a job that it is about."""
        place, record = placed.place, placed.job
        found = _document(change, record)
        whole = None if found is None else loads(found.document)
        job = None if whole is None else _about(whole, record)
        if found is None or whole is None or job is None:
            self.tally.elsewhere += 1
            return False
        if not self._accepted(whole, job, found):
            self.tally.refused += 1
            return True
        run = _run(change, record, found, job)
        if run is None:
            if placed.is_zoneless and _is_told_by_zone(record, job):
                self._tell_zone(place, job)
            self._further(change, place, record, found)
        elif run.deleted:
            self.tally.elsewhere += 1
            return False
        else:
            self._fold(change, place, record, run)
        return True

    def _accepted(self, whole: Block, job: Job, stored: Stored) -> bool:
        """Whether a job goes on with what is understood of it; that is told (9.0)."""
        assert isinstance(whole, Job | JobGroup)
        known = JobsUnderstood(whole).understood(job)
        if not known.accepted and is_old(tree.parse(stored.document)):
            return True
        for item in known.findings():
            self._tell(item.in_file(self._jobs.address))
        return known.accepted

    def _fold(self, change: Change, place: str, record: Job, stored: Stored) -> None:
        """Fold a record into the job of a document that it is about; other bytes stay."""

        def changed(block: Block) -> Block:
            if isinstance(block, JobGroup):
                frame = frame_of(block)
                return block.holding(
                    self._folded(item, record, place, frame)
                    if type(item) is Job and is_about(record, item)
                    else item
                    for item in block.items
                )
            return self._folded(block, record, place) if isinstance(block, Job) else block

        self.tally.delivered += 1
        before = self.tally.changes
        document = b"".join(rewrite(stored.document, changed))
        if self.tally.changes > before:
            change.put(document, replacing=stored)

    def _further(self, change: Change, place: str, record: Job, last: Stored) -> None:
        """Keep a run that nobody has seen: the job as it was first requested, and the record."""
        first = self._jobs.versions(last.identity._replace(run=last.identity.run and 1))
        known = next((each for each in first if _about(loads(each.document), record)), last)
        changes = self.tally.changes
        folded = self._folded(_first_requested(loads(known.document), record), record, place)
        document = dumps(folded).encode()
        taken = change.about(document)
        if taken is not None and told_order(_one(taken), record) is RunOrder.EARLIER:
            self.tally.changes = changes  # it says too little to be told from that run
            text = f"{place}: an earlier run of {taken.identity} is not folded"
            self._tell(finding("W-USELESS", text, file=self._jobs.address))
            return
        self.tally.delivered += 1
        self.tally.runs += 1
        change.put(document, files=self._jobs.files(known))

    def _tell_zone(self, place: str, job: Job) -> None:
        """It is kept: in the same zone two runs are as far apart. # decision 808"""
        why = "its times have no zone (--tz), and may be of one that is there"
        text = f"{place}: becomes a further run of job {job.id}: {why}"
        self._tell(finding("W-USELESS", text, file=self._jobs.address))

    def _folded(self, job: Job, record: Job, place: str, frame: JobGroup | None = None) -> Job:
        folded = fold_run(job, record, frame=frame, source=place, overwrite=self._overwrite)
        for item in folded.findings:
            self._tell(item if item.file else item.in_file(self._jobs.address))
        self.tally.changes += folded.changes
        return folded.job

    def _tell(self, item: Finding) -> None:
        self.tally.disagreements += item.code == "W-DISAGREE"
        self.tally.errors += item.severity is Severity.ERROR
        self._findings.append(item)

    def _told(self) -> list[Finding]:
        found, self._findings = self._findings, []
        return found


def _document(change: Change, record: Job) -> Stored | None:
    """The document that holds the job of a record: its last run, unless it was deleted."""
    for identity in sorted(identities(record)):
        found = change.get(identity)
        while found is not None and (found.deleted or not _about(loads(found.document), record)):
            run = found.identity.run or 1
            found = change.get(found.identity._replace(run=run - 1)) if run > 1 else None
        if found is not None:
            return found
    return None


def _about(block: Block, record: Job) -> Job | None:
    """The job of a document that a record is about."""
    jobs = block.jobs if isinstance(block, JobGroup) else (block,)
    for job in jobs:
        if type(job) is Job and is_about(record, job):
            return job
    return None


def _run(change: Change, record: Job, last: Stored, job: Job) -> Stored | None:
    """The document with the run that a record tells of, of all that have its job."""
    if _is_of(job, record):
        return last
    for found in _others(change, record, last):
        other = _about(loads(found.document), record)
        if other is not None and _is_of(other, record):
            return found
    return None


def _others(change: Change, record: Job, last: Stored) -> Iterator[Stored]:
    """The documents beside that of its last run that may have a job."""
    if last.identity.name != Job.__name__:
        return
    for run in range((last.identity.run or 1) - 1, 0, -1):
        found = change.get(last.identity._replace(run=run))
        if found is not None:
            yield found
    for id_ in sorted(identities(record)):  # its first run may stand in a group
        for found in change.named(id_):
            if found.identity.name == JobGroup.__name__:
                yield found


def _is_of(job: Job, record: Job) -> bool:
    """Whether a record tells of the run that a job has."""
    mine, its = job.get("GlobalId"), record.get("GlobalId")
    return (not mine or not its or mine == its) and told_order(job, record) is RunOrder.SAME


def _is_told_by_zone(record: Job, job: Job) -> bool:
    """Whether a record whose times have no zone is of another run in some zones alone."""
    told, known = RunTimes.of_job(record), RunTimes.of_job(job)
    return told.order_without_zone(known, START_TOLERANCE) is RunOrder.UNTOLD


def _first_requested(block: Block, record: Job) -> Job:
    """The job that a record is about as it was requested, with the defaults of its group."""
    job = _about(block, record)
    assert job is not None
    asked = without_run(of_run(job, RunTimes.of_job(record), told_order(job, record)))
    if not isinstance(block, JobGroup):
        return asked
    place = block.jobs.index(job)
    whole = block.holding(asked if item is job else item for item in block.items)
    return jobs_of(resolve(whole).block)[place]


def _one(stored: Stored) -> Job:
    job = loads(stored.document)
    assert isinstance(job, Job)
    return job
