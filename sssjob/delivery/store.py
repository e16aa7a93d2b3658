"""Records folded into the jobs of a store: a stream of any length, each batch in one change.

A record goes to the run of the job that it is about, by the rule by which a document on its own
tells runs apart. A run that the store does not have yet (the job was requeued) becomes a further
document, also of a job of a group: the job as it was requested, with that record, as it would be
on its own. Folding the same records again changes nothing. # decision 850
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from sssjob.check.awareness import is_old
from sssjob.defaults import resolve
from sssjob.delivery.document import JobsUnderstood
from sssjob.delivery.records import DeliveryCounts, PlacedRecord, read
from sssjob.delivery.runs import fold_run, frame_of, of_recorded_run, told_order
from sssjob.document import Source, dumps, loads, tree
from sssjob.document.splice import rewrite
from sssjob.errors import Finding, Severity, finding
from sssjob.features.folded import without_run
from sssjob.fold import identities, is_about
from sssjob.model import Block, Job, JobGroup, jobs_of, without
from sssjob.records import Format
from sssjob.runs import Run, RunOrder, requested_anew
from sssjob.store import Change, Store, Stored
from sssjob.store.identity import marks_of
from sssjob.store.stored import DELIVERED

_BATCH = 200  # records of one change
# Requests by which a job may become known, or changes in nothing that was requested.
_CHARGING = ("Charge", "Quote", "Refund", "Reserve")
_PUT = {"Reserve": "Reservation", "Quote": "Quote"}  # the number that a request puts into a job


@dataclass(slots=True)
class StoreTally(DeliveryCounts):
    """What happened, in numbers: of records, and of documents."""

    runs: int = 0
    deleted: int = 0
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
            with self._jobs.change(source=name, reason=DELIVERED) as change:
                for each in batch:
                    if isinstance(each, PlacedRecord):
                        about = self._take(change, each)
                    elif isinstance(each, Finding):
                        self._tell(each)
                    elif about:
                        self._tell(each.finding)
            yield from self._told()

    def _take(self, change: Change, placed: PlacedRecord) -> bool:
        """Fold a record; whether there is a job that it is about, and that is not deleted."""
        place, record = placed.place, placed.job
        runs = _runs(change, record)
        last = next(iter(runs), None)
        found = _of_record(runs, record)
        if last is None:
            self.tally.elsewhere += 1
            return False
        if found is not None and found.stored.deleted:
            self._tell_deleted(place, record, found)
            return False
        if not self._accepted(last):
            self.tally.refused += 1
        elif found is not None:
            self._fold(change, place, record, found.stored)
        else:
            if placed.is_zoneless and _is_told_by_zone(record, last.job):
                self._tell_zone(place, last.job)
            self._further(change, place, record, runs)
        return True

    def _accepted(self, run: _StoredRun) -> bool:
        """Whether a job goes on with what is understood of it; that is told (9.0)."""
        assert isinstance(run.whole, Job | JobGroup)
        known = JobsUnderstood(run.whole).understood(run.job)
        if not known.accepted and is_old(tree.parse(run.stored.document)):
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
            made = change.put(document, replacing=stored)
            for text in change.moved(stored, made):
                self._tell(finding("W-DISAGREE", f"{place}: {text}", file=self._jobs.address))

    def _further(
        self, change: Change, place: str, record: Job, runs: Sequence[_StoredRun]
    ) -> None:  # fmt: skip
        """Keep a run that nobody has seen: the job as it was first requested, and the record."""
        first = _first(self._jobs, runs, record)
        changes = self.tally.changes
        requested = _without_numbers(self._jobs, _requested(first), first, record)
        folded = self._folded(requested, record, place)
        document = dumps(folded).encode()
        taken = _taken(change, folded, document)
        if taken is None:
            self.tally.delivered += 1
            self.tally.runs += 1
            change.put(document, files=self._jobs.files(first.stored))
            return
        # One of the two says too little for the store to tell it from the other.
        self.tally.changes = changes
        if taken.stored.deleted:
            self._tell_deleted(place, record, taken)
        elif told_order(taken.job, record) is RunOrder.EARLIER:
            text = f"{place}: an earlier run of {taken.stored.identity} is not folded"
            self._tell(finding("W-USELESS", text, file=self._jobs.address))
        else:
            self._fold(change, place, record, taken.stored)

    def _tell_deleted(self, place: str, record: Job, run: _StoredRun) -> None:
        self.tally.deleted += 1
        text = f"{place}: is not folded into job {record.id}: {run.stored.identity} is deleted"
        self._tell(finding("W-USELESS", text, file=self._jobs.address))

    def _tell_zone(self, place: str, job: Job) -> None:
        """It is kept: in the same zone two runs are as far apart. # decision 808"""
        why = "its times have no zone (--tz), and may be of one that is there"
        text = f"{place}: becomes a further run of job {job.id}: {why}"
        self._tell(finding("W-USELESS", text, file=self._jobs.address))

    def _folded(self, job: Job, record: Job, place: str, frame: JobGroup | None = None) -> Job:
        job = of_recorded_run(job, told_order(job, record), record)
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


class _StoredRun(NamedTuple):
    """A run of a job in a store: its document, what that holds, and the job of it."""

    stored: Stored
    whole: Block
    job: Job

    def rank(self) -> tuple[bool, int, int]:
        """What orders the runs of a job; one that tells no times is later alone than in a group."""
        return self.stored.rank(marks_of(self.job))


def _runs(change: Change, record: Job) -> list[_StoredRun]:
    """The runs of the job of a record, alone and in groups; the last first, deleted ones last."""
    numbers = {
        each.number for id_ in sorted(identities(record))
        for each in change.named(id_, deleted=True)
    }  # fmt: skip
    runs: list[_StoredRun] = []
    for stored in map(change.at, sorted(numbers)):
        whole = loads(stored.document)
        job = _about(whole, record)
        if job is not None:
            runs.append(_StoredRun(stored, whole, job))
    return sorted(runs, key=_StoredRun.rank, reverse=True)


def _taken(change: Change, job: Job, document: bytes) -> _StoredRun | None:
    """What the store takes a job alone for, that is in it already, also in a group."""
    alone = change.about(document)
    stored = alone or next((each for each, _ in change.elsewhere(job, None, deleted=True)), None)
    if stored is None:
        return None
    whole = loads(stored.document)
    return _StoredRun(stored, whole, _about(whole, job) or job)


def _first(jobs: Store, runs: Sequence[_StoredRun], record: Job) -> _StoredRun:
    """The first version of the last job before a record, as it was requested then.

    One that a request for its Charge made known tells nothing of that: another one is taken, if
    there is one. # decision 864
    """
    told = marks_of(record).latest
    before = [run for run in runs if marks_of(run.job).latest <= told] or runs
    last, *others = before
    first = _first_version(jobs, last, record)
    if not _is_of_charge(first):
        return first
    firsts = (_first_version(jobs, run, record) for run in others)
    return next((run for run in firsts if not _is_of_charge(run)), first)


def _first_version(jobs: Store, run: _StoredRun, record: Job) -> _StoredRun:
    """The first version of a job that somebody brought, or else the one of a Charge."""
    found: list[_StoredRun] = []
    for stored in jobs.versions(run.stored.identity):
        whole = loads(stored.document)
        if (job := _about(whole, record)) is None:
            continue
        found.append(_StoredRun(stored, whole, job))
        is_told = bool(found[1:]) and stored.reason == DELIVERED
        if not is_told and not _is_of_charge(found[-1]):
            return found[-1]
    return found[0] if found else run


def _is_of_charge(run: _StoredRun) -> bool:
    return _action(run.stored) in _CHARGING


def _action(stored: Stored) -> str:
    """The action of the request that made a version, if one did."""
    return stored.reason.partition(" ")[0]


# decision 913
def _without_numbers(jobs: Store, job: Job, run: _StoredRun, record: Job) -> Job:
    """A job without what a Reserve or a Quote put into its document; what was asked for stays.

    Any version may have it that was made since, for whatever reason.
    """
    if not any(job.get(name) for name in _PUT.values()):
        return job
    before = Job()
    for stored in jobs.versions(run.stored.identity):
        now = _about(loads(stored.document), record) or before
        name = _PUT.get(_action(stored), "")
        if name and now.get(name) != before.get(name) and now.get(name) == job.get(name):
            job = without(job, name)
        before = now
    return job


def _about(block: Block, record: Job) -> Job | None:
    """The job of a document that a record is about."""
    jobs = block.jobs if isinstance(block, JobGroup) else (block,)
    for job in jobs:
        if type(job) is Job and is_about(record, job):
            return job
    return None


def _of_record(runs: Sequence[_StoredRun], record: Job) -> _StoredRun | None:
    """The run of which a record tells: one that has what is told, and else the last one."""
    told = Run.of_job(record)
    return max(
        (run for run in runs if _is_of(run.job, record)), default=None,
        key=lambda run: (not run.stored.deleted, told.marks_of(Run.of_job(run.job))),
    )  # fmt: skip


def _is_of(job: Job, record: Job) -> bool:
    """Whether a record tells of the run that a job has."""
    mine, its = job.get("GlobalId"), record.get("GlobalId")
    return (not mine or not its or mine == its) and told_order(job, record) is RunOrder.SAME


def _is_told_by_zone(record: Job, job: Job) -> bool:
    """Whether a record whose times have no zone is of another run in some zones alone."""
    return told_order(job, record, is_zoneless=True) is RunOrder.UNTOLD


def _requested(run: _StoredRun) -> Job:
    """The job of a run as it was requested, with the defaults of its group."""
    block, job = run.whole, run.job
    asked = requested_anew(without_run(job))
    if not isinstance(block, JobGroup):
        return asked
    place = block.jobs.index(job)
    whole = block.holding(asked if item is job else item for item in block.items)
    found = jobs_of(resolve(whole).block)[place]  # and what a group has been charged by default
    return without(found, "Charge")
