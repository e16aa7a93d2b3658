"""Records folded into the jobs of a store: a stream of any length, each batch in one change.

A record goes to the run of the job that it is about, by the rule by which a document on its own
tells runs apart. A run that the store does not have yet (the job was requeued) becomes a further
document, also of a job of a group: the job as it was requested, with that record, as it would be
on its own. Folding the same records again changes nothing. # decision 850
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import count, islice
from operator import itemgetter

from sssjob.check.awareness import is_old
from sssjob.delivery.document import JobsUnderstood
from sssjob.delivery.records import DeliveryCounts, PlacedRecord, RecordRemark, read
from sssjob.delivery.requested import StoredRun, about, requested, runs_of, told_ids
from sssjob.delivery.runs import fold_run, frame_of, of_recorded_run, told_order
from sssjob.document import Source, dumps, loads, tree
from sssjob.document.splice import rewrite
from sssjob.errors import Finding, Severity, finding
from sssjob.fold import identities, is_about
from sssjob.model import Block, Job, JobGroup
from sssjob.records import Format
from sssjob.runs import Run, RunOrder
from sssjob.store import Change, Store, Stored
from sssjob.store.engine import tried
from sssjob.store.stored import DELIVERED

_BATCH = 200  # records of one change


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
        self._groups: dict[int, GroupToFold] = {}  # by the numbers of their documents
        self._findings: list[tuple[int, Finding]] = []
        self._at = 0  # of the record that is told of, in its batch
        self.tally = StoreTally()

    def take_records(
        self, source: Source, name: str, format_: Format, zone: str = ""
    ) -> Iterator[Finding]:
        """Fold the records of a source, as far as it is followed; bad ones are counted."""
        found = read(source, name, format_, zone, self.tally)
        has_job = False
        while batch := list(islice(found, _BATCH)):
            has_job = self._take_all(batch, name, has_job=has_job)
            yield from self._told()

    def _take_all(
        self, batch: Sequence[PlacedRecord | RecordRemark | Finding], name: str, *, has_job: bool
    ) -> bool:
        """Fold what was read together in one change, which is tried again where others were first.

        ``has_job`` is whether there is a job that the record before is about; gives that of the
        last one.
        """
        records = [each for each in batch if isinstance(each, PlacedRecord)]
        ids = {id_ for each in records for id_ in told_ids(each.job)}
        before = replace(self.tally)

        def fold() -> bool:
            has = has_job
            with self._jobs.change(source=name, reason=DELIVERED) as change:
                change.hold(ids)
                for self._at, each in enumerate(batch):
                    if isinstance(each, PlacedRecord):
                        has = self._take(change, each)
                    elif isinstance(each, Finding):
                        self._tell(each)
                    elif has:
                        self._tell(each.finding)
                self._fold_groups(change)
            return has

        def forget() -> None:
            self._groups.clear()
            self._findings.clear()
            for field in fields(before):  # the reader counts in the same tally
                setattr(self.tally, field.name, getattr(before, field.name))

        return tried(fold, forget)

    def _take(self, change: Change, placed: PlacedRecord) -> bool:
        """Fold a record; whether there is a job that it is about, and that is not deleted."""
        place, record = placed.place, placed.job
        runs = runs_of(change, record, self._opened)
        if any(group.waits_for(record) for group in self._groups.values()):
            self._fold_groups(change)
            runs = runs_of(change, record, self._opened)
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
            self._fold_groups(change)
            if placed.is_zoneless and _is_told_by_zone(record, last.job):
                self._tell_zone(place, last.job)
            self._further(change, place, record, runs)
        return True

    def _accepted(self, run: StoredRun) -> bool:
        """Whether a job goes on with what is understood of it; that is told (9.0)."""
        assert isinstance(run.whole, Job | JobGroup)
        group = self._groups.get(run.stored.number)
        jobs = JobsUnderstood(run.whole) if group is None else group.understood
        known = jobs.understood(run.job)
        if not known.accepted and is_old(tree.parse(run.stored.document)):
            return True
        for item in known.findings():
            self._tell(item.in_file(self._jobs.address))
        return known.accepted

    def _opened(self, stored: Stored, record: Job) -> tuple[Block, Job | None]:
        """What a document holds, and the job of it that a record is about; a group is read once."""
        group = self._groups.get(stored.number)
        if group is None:
            whole = loads(stored.document)
            if not isinstance(whole, JobGroup):
                return whole, about(whole, record)
            group = self._groups[stored.number] = GroupToFold.of(stored, whole)
        return group.whole, next((group.jobs[each] for each in group.about(record)), None)

    def _fold(self, change: Change, place: str, record: Job, stored: Stored) -> None:
        """Fold a record into the job of a document that it is about; other bytes stay."""
        self.tally.delivered += 1
        if group := self._groups.get(stored.number):
            group.records.update(dict.fromkeys(group.about(record), (self._at, place, record)))
            return
        before = self.tally.changes
        document = b"".join(rewrite(stored.document, lambda job: self._of(job, record, place)))
        if self.tally.changes > before:
            at = self._at
            self._put(change, document, stored, defaultdict(lambda: (at, place)))

    # decision 949
    def _fold_groups(self, change: Change) -> None:
        """Fold what there is for groups: each is written once for all records of a batch."""
        now = self._at
        for group in (each for each in self._groups.values() if each.records):
            before = self.tally.changes
            document = b"".join(rewrite(group.stored.document, partial(self._in_group, group)))
            if self.tally.changes > before:
                told = {
                    group.jobs[place].id: (at, name)
                    for place, (at, name, _) in group.records.items()
                }
                self._put(change, document, group.stored, told)
        self._groups.clear()
        self._at = now

    def _in_group(self, group: GroupToFold, block: Block) -> Block:
        if not isinstance(block, JobGroup):
            return block
        frame, places = frame_of(block), count()
        return block.holding(
            self._member(group, next(places), item, frame) if type(item) is Job else item
            for item in block.items
        )

    def _member(self, group: GroupToFold, place: int, job: Job, frame: JobGroup | None) -> Job:
        if place not in group.records:
            return job
        self._at, name, record = group.records[place]
        return self._folded(job, record, name, frame)

    def _of(self, block: Block, record: Job, place: str) -> Block:
        return self._folded(block, record, place) if isinstance(block, Job) else block

    def _put(
        self, change: Change, document: bytes, stored: Stored, told: Mapping[str, tuple[int, str]]
    ) -> None:
        """Keep a document with what records told of its jobs, by their Ids."""
        made = change.put(document, replacing=stored)
        for id_, text in change.moved_jobs(stored, made):
            self._at, place = told[id_]
            self._tell(finding("W-DISAGREE", f"{place}: {text}", file=self._jobs.address))

    def _further(
        self, change: Change, place: str, record: Job, runs: Sequence[StoredRun]
    ) -> None:  # fmt: skip
        """Keep a run that nobody has seen: the job as it was first requested, and the record."""
        first = requested(change, runs, record)
        changes = self.tally.changes
        folded = self._folded(first.job, record, place)
        document = dumps(folded).encode()
        taken = _taken(change, folded, document)
        if taken is None:
            self.tally.delivered += 1
            self.tally.runs += 1
            change.put(document, files=change.files(first.stored))
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

    def _tell_deleted(self, place: str, record: Job, run: StoredRun) -> None:
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
        self._findings.append((self._at, item))

    def _told(self) -> list[Finding]:
        """What is to be told of a batch, in the order of its records."""
        found, self._findings = sorted(self._findings, key=itemgetter(0)), []
        return [item for _, item in found]


@dataclass(frozen=True, slots=True)
class GroupToFold:
    """A group that records of a batch are about, read once; ``places`` are those of its ``jobs``.

    ``records`` are to be folded into them: each with when and where it came.
    """

    stored: Stored
    whole: JobGroup
    jobs: Sequence[Job]
    understood: JobsUnderstood
    places: Mapping[str, Sequence[int]]
    records: dict[int, tuple[int, str, Job]]

    @classmethod
    def of(cls, stored: Stored, whole: JobGroup) -> GroupToFold:
        """The group of a document."""
        places: dict[str, list[int]] = defaultdict(list)
        jobs = whole.jobs
        for place, job in enumerate(jobs):
            for id_ in identities(job):
                places[id_].append(place)
        return cls(stored, whole, jobs, JobsUnderstood(whole), places, {})

    def about(self, record: Job) -> list[int]:
        """The places of the jobs that a record is about."""
        found = {place for id_ in identities(record) for place in self.places.get(id_, ())}
        return [place for place in sorted(found) if is_about(record, self.jobs[place])]

    def waits_for(self, record: Job) -> bool:
        """Whether another record is to be folded into a job that this one is about."""
        return any(place in self.records for place in self.about(record))


def _taken(change: Change, job: Job, document: bytes) -> StoredRun | None:
    """What the store takes a job alone for, that is in it already, also in a group."""
    elsewhere = (each for each, *_ in change.elsewhere(job, None, deleted=True))
    found = (each for each in (change.about(document), *elsewhere) if each is not None)
    stored = next((each for each in found if not each.is_taken_in), None)
    if stored is None:
        return None
    whole = loads(stored.document)
    return StoredRun(stored, whole, about(whole, job) or job)


def _of_record(runs: Sequence[StoredRun], record: Job) -> StoredRun | None:
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
