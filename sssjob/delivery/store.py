"""Records folded into the jobs of a store: a stream of any length, each batch in one change.

A record goes to the run of the job that it is about. A run that the store does not have yet (the
job was requeued) becomes a further document: the job as it was requested, with that record.
Folding the same records again changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from sssjob.check.awareness import is_old
from sssjob.delivery.document import JobsUnderstood
from sssjob.delivery.records import DeliveryCounts, PlacedRecord, read
from sssjob.delivery.runs import fold_run
from sssjob.document import Source, dumps, loads, tree
from sssjob.document.splice import rewrite
from sssjob.errors import Finding, Severity
from sssjob.features.folded import without_listed
from sssjob.fold import identities, is_about
from sssjob.model import Block, Job, JobGroup
from sssjob.records import Format
from sssjob.store import Change, Store, Stored
from sssjob.store.identity import MARKS, stated

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
                        about = self._take(change, each.place, each.job)
                    elif isinstance(each, Finding):
                        self._tell(each)
                    elif about:
                        self._tell(each.finding)
            yield from self._told()

    def _take(self, change: Change, place: str, record: Job) -> bool:
        """Fold a record; whether there is a job that it is about."""
        found = _document(change, record)
        whole = None if found is None else loads(found.document)
        job = None if whole is None else _about(whole, record)
        if found is None or whole is None or job is None:
            self.tally.elsewhere += 1
            return False
        if not self._accepted(whole, job, found):
            self.tally.refused += 1
        elif isinstance(whole, JobGroup) or _agree(job, record):
            self._fold(change, place, record, found)
        elif (run := self._run(change, record, found)) is not None:
            self._fold(change, place, record, run)
        else:
            self._further(change, place, record, found)
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

    def _run(self, change: Change, record: Job, last: Stored) -> Stored | None:
        """The former run that a record is about, of those that the store has."""
        for run in range((last.identity.run or 1) - 1, 0, -1):
            found = change.get(last.identity._replace(run=run))
            if found is not None and is_about(record, _one(found)) and _agree(_one(found), record):
                return found
        return None

    def _fold(self, change: Change, place: str, record: Job, stored: Stored) -> None:
        """Fold a record into the job of a document that it is about; other bytes stay."""

        def changed(block: Block) -> Block:
            if isinstance(block, JobGroup):
                return block.holding(
                    self._folded(item, record, place)
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
        first = self._jobs.versions(last.identity._replace(run=1))
        known = first[0] if first else last
        requested = loads(known.document)
        assert isinstance(requested, Job)
        requested = without_listed(requested)
        folded = fold_run(requested, record, source=place, overwrite=True)
        self.tally.delivered += 1
        self.tally.runs += 1
        self.tally.changes += folded.changes
        change.put(dumps(folded.job).encode(), files=self._jobs.files(known))

    def _folded(self, job: Job, record: Job, place: str) -> Job:
        folded = fold_run(job, record, source=place, overwrite=self._overwrite)
        for item in folded.findings:
            self._tell(item if item.file else item.in_file(self._jobs.address))
        self.tally.changes += folded.changes
        return folded.job if folded.changes else job

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


def _agree(job: Job, record: Job) -> bool:
    """Whether nothing that both say of their run differs."""
    one, other = (stated(*(each.get(name) for name in MARKS)) for each in (job, record))
    return one.agree(other)


def _one(stored: Stored) -> Job:
    job = loads(stored.document)
    assert isinstance(job, Job)
    return job
