"""Documents on their way into a store: found again, or new; former versions are kept."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

from sssjob import units
from sssjob.document import dumps, from_tree, loads, tree
from sssjob.document.attached import files_named
from sssjob.document.places import local
from sssjob.document.splice import rewrite
from sssjob.errors import Finding, Severity, finding
from sssjob.fold import JOB, Fact, placed
from sssjob.model import Job, Property
from sssjob.store import columns, schema, settling
from sssjob.store.cells import only
from sssjob.store.engine import Engine, Sparse
from sssjob.store.files import NONE, ChosenFiles, add, chosen
from sssjob.store.history import HistoryEntry
from sssjob.store.identity import Identity, identify, ids_of, known_as
from sssjob.store.incoming import (
    MARKED,
    Incoming,
    MemberRow,
    Ready,
    distinct,
    has_global_ids,
    sparse,
    user_in,
)
from sssjob.store.known_runs import WALL, KnownRuns, is_none_that_began
from sssjob.store.ledger import StoreLedger
from sssjob.store.packing import Content, NotUnpacked, Packing
from sssjob.store.regrouping import (
    GroupMembers,
    charged,
    home,
    regrouped,
    uncharged,
)
from sssjob.store.rows import rows
from sssjob.store.stored import of_request
from sssjob.store.versions import PRESENT, DocumentVersions, PresentDocument, requests

if TYPE_CHECKING:
    from sssjob.store.used import JobUse

_STARTED, _ENDED, _CPU, _ID, _GLOBAL_ID, _CHARGE = (
    columns.name_of(path)
    for path in ("StartTime", "EndTime", "CpuDuration", "Id", "GlobalId", "Charge")
)
# Whether a job of a group may have used something, or may have been charged.
_USED = (_STARTED, _ENDED, _CPU, _CHARGE, *WALL)
_USED_IN_GROUP = (
    f"SELECT 1 FROM job WHERE document = ? AND ({columns.ODD} <> 0 OR "
    f"{' OR '.join(f'{name} IS NOT NULL' for name in _USED)}) LIMIT 1"
)
_WAS_CHARGED = (
    f"SELECT 1 FROM job WHERE document = ? AND ({columns.ODD} <> 0 OR "
    f"{_CHARGE} IS NOT NULL) LIMIT 1"
)
# Jobs that have a GlobalJobId as their Id, or that of their user, by when they started.
_OF_LINES = f"({_ID} LIKE '%#%' OR {_ID} LIKE '%@%') AND "
_LINES = f"SELECT document FROM job WHERE {_OF_LINES}"
_OF_HTCONDOR = "jobs that have several ids"  # what writers of these hold, one after the other
# Jobs of groups that are shown, and their Ids.
_IN_GROUPS = f"{columns.PLACE} > 0 AND deleted = 0 AND "
_MEMBERS = f"SELECT document, {_ID}, {_GLOBAL_ID} FROM job WHERE "
_COMING = 0  # no number of a document: the group that comes
_OLDER = "{} stays as it is there: this is older, and tells less of the run"
_TAKEN_IN = "{} is that of {} from now on, and no document of its own"
_REPLACED = "{} is replaced, with what was made of it since it was imported: {}"
_CHARGED = "; what it was charged stays"
_OTHERS = "{} of {}: the same job and start are there as one of {}; both are kept"
_KEEP = (
    "INSERT INTO former (document, version, change, deleted, files, dictionary, data) "
    "SELECT number, version, change, deleted, files, dictionary, data FROM document "
    "WHERE number = ?"
)
_REPLACE = (
    "UPDATE document SET global_id = ?, submitted = ?, started = ?, version = version + 1, "
    "change = ?, deleted = 0, files = ?, dictionary = ?, data = ? WHERE number = ?"
)
_HIDE = "UPDATE document SET version = version + 1, change = ?, deleted = ? WHERE number = ?"


class Outcome(Enum):
    """What became of a document."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


class StoredDocument(NamedTuple):
    """The number of a document in the store, what became of it, and Files that it has not."""

    number: int
    outcome: Outcome
    missing: tuple[str, ...] = ()

    def with_outcome(self, other: Outcome) -> StoredDocument:
        """The same, where another document was made of it, too."""
        some = {self.outcome, other}
        return self._replace(outcome=next(each for each in Outcome if each in some))


class _TakenIn(NamedTuple):
    """A group that comes, and the documents of runs of its jobs that it has taken in."""

    incoming: Incoming
    taken: Sequence[PresentDocument] = ()


class _GroupsThere(NamedTuple):
    """Groups by their numbers, and which of them have jobs of which Ids."""

    by_id: Mapping[str, Collection[int]]
    groups: Mapping[int, GroupMembers]

    def of(self, job: Incoming | PresentDocument) -> Mapping[int, GroupMembers]:
        """Those that may have a job."""
        numbers = {each for id_ in job.every_id() for each in self.by_id.get(id_, ())}
        return {each: self.groups[each] for each in sorted(numbers & self.groups.keys())}


class _NextVersion(NamedTuple):
    """What comes of a document, as it is to be kept, and whether that is there already.

    A group leaves runs ``beside`` it, and has ``taken`` documents of others in.
    """

    incoming: Incoming
    files: ChosenFiles
    is_there: bool
    beside: Sequence[Incoming] = ()
    taken: Sequence[PresentDocument] = ()

    @property
    def outcome(self) -> Outcome:
        """What becomes of the document."""
        return Outcome.UNCHANGED if self.is_there else Outcome.CHANGED


@dataclass(slots=True)
class _WritingToDo:
    """What is to be written of documents that come, each told by its place among them.

    ``written`` are those with a known document, whose next version is ``changed``, and which may
    be called otherwise (``renamed``, with the number of its run). ``fresh`` ones are about runs
    that nobody has, and ``begun`` ones may belong into a group that is there (as ``_put_in_groups``
    takes them). Groups leave runs ``beside`` them, and have documents ``taken`` in.
    """

    written: dict[int, StoredDocument] = field(default_factory=dict)
    changed: list[tuple[int, Incoming, ChosenFiles]] = field(default_factory=list)
    renamed: list[tuple[int, int, Incoming]] = field(default_factory=list)
    fresh: list[tuple[int, int, Incoming]] = field(default_factory=list)
    begun: list[tuple[int, Incoming, bool]] = field(default_factory=list)
    beside: list[tuple[int, Incoming]] = field(default_factory=list)
    taken: list[tuple[PresentDocument, Incoming]] = field(default_factory=list)

    def follow(
        self, index: int, incoming: Incoming, run: PresentDocument, following: _NextVersion
    ) -> None:
        """Write the next version of a document, if that is not there."""
        self.written[index] = StoredDocument(run.number, following.outcome, following.files.missing)
        self.beside += ((index, each) for each in following.beside)
        self.taken += ((each, incoming) for each in following.taken)
        if not following.is_there:
            self.changed.append((run.number, following.incoming, following.files))


class _MemberRun(NamedTuple):
    """A run that goes into a group: its document, and the job of the group as it was."""

    at: int  # in what is written
    incoming: Incoming
    place: int
    known: Job


class DocumentWriter:
    """Writes documents within a transaction that somebody else has begun.

    One that ``keeps_ended`` takes no document of a run that is open for the next version of one in
    which that run has ended, or has run longer: it is older, whenever it comes. Nor does it take
    one of another user for it; both are told in ``remarks``. One that
    ``keeps_former`` versions takes none that is one of these: what it is made of was read before
    what is there. ``used`` is what reports read of new documents, by their numbers.
    """

    def __init__(
        self, engine: Engine, packing: Packing, *, keeps_ended: bool = False,
        keeps_former: bool = False,
    ) -> None:  # fmt: skip
        self.engine, self.packing = engine, packing
        self._keeps_ended, self._keeps_former = keeps_ended, keeps_former
        self._rows = schema.job()
        self._unsettled: set[int] = set()
        self._taken_in: set[int] = set()  # documents whose runs stand in groups from now on
        self._versions = DocumentVersions(engine, packing)
        self._runs = KnownRuns(engine, packing, keeps_ended=keeps_ended)
        self.remarks: list[Finding] = []
        self.used: dict[int, Sequence[JobUse]] = {}

    def settle(self, entry: HistoryEntry) -> None:
        """Let the ledger follow what was written; the last of each transaction (``settling``)."""
        if self._unsettled:
            found = settling.settle(self.engine, self.packing, entry, self._unsettled)
            self._unsettled.clear()
            if self._keeps_ended:
                told = (each for each in found if each.document not in self._taken_in)
                self.remarks += (_given_back(each) for each in told if each.said < each.entered)

    def keep_groups_still(self, *, brings_groups: bool) -> None:
        """Let no groups come while jobs do that may be theirs, as the first of a transaction.

        Who looks for the group of a job, or for the jobs of a group, does not see what another
        transaction writes meanwhile: both would stay, and the run of the job count twice.
        """
        self.engine.hold("groups", shared=not brings_groups)

    def hold(self, ids: Collection[str]) -> None:
        """Keep the documents of many jobs as they are, for who takes one after the other.

        Two that took them in different orders would wait for each other.
        """
        lock = self.engine.locking("document")
        if not lock:  # the transaction itself keeps all others waiting
            return
        if has_global_ids(ids):
            self.engine.hold(_OF_HTCONDOR)
        self.engine.hold_all(sorted(ids))
        condition, value = self.engine.among("id", sorted(ids))
        # First the documents of these Ids, then groups, as an import does.
        inside = f"number IN (SELECT document FROM job WHERE {condition})"
        for which in (condition, inside):
            self.engine.fetch(
                f"SELECT number FROM document WHERE {which} ORDER BY number{lock}", (value,)
            )

    def write(self, documents: Sequence[Incoming], entry: HistoryEntry) -> list[StoredDocument]:
        """Write documents in their order, and say what became of each."""
        if not self._keeps_ended:
            documents = [each.of_nobody() for each in documents]
        return [
            written for distinct in distinct(documents) for written in self._write(distinct, entry)
        ]

    def write_ready(self, parts: Sequence[Ready], entry: HistoryEntry) -> list[StoredDocument]:
        """The same for many at once, which is quick as long as the store has none of them."""
        ids, table = [id_ for part in parts for id_ in part.ids], schema.DOCUMENT
        every = [id_ for part in parts for id_ in part.every_id()]
        starts = {start for part in parts for start in part.starts()}
        is_known = len(set(every)) < len(every) or bool(self._known(every, starts))
        if is_known or (self._keeps_ended and self._may_be_in_groups(parts, every, starts)):
            return self.write([each for part in parts for each in part.documents()], entry)
        numbers = self.engine.numbers(table, len(ids))
        left = iter(numbers)
        rows = [row for part in parts for row in part.added(left, entry.number)]
        added = self.engine.add_new(table, rows)
        if len(added) < len(rows):
            documents = (each for part in parts for each in part.documents())
            fresh = [(index, each, ()) for index, each in enumerate(documents)]
            written = self._with_jobs(numbers, fresh, added, entry)
            return [written[index] for index in range(len(ids))]
        self.engine.touch(numbers)
        first = 0
        for part in parts:
            owners = map(numbers[first : first + len(part.ids)].__getitem__, part.owners)
            owner = part.owners.__getitem__
            of_charge = map(owner, settling.charged(part.places, part.columns, schema.OWN))
            self._unsettled.update(numbers[first + each] for each in of_charge)
            self.engine.add_some(self._rows, part.places, zip(owners, repeat(0), *part.columns))
            first += len(part.ids)
        return [StoredDocument(number, Outcome.NEW) for number in numbers]

    def _may_be_in_groups(
        self, parts: Sequence[Ready], ids: Sequence[str], starts: Collection[int]
    ) -> bool:
        """Whether jobs of these Ids stand in groups, or those of their groups alone, or come so."""
        coming = [each for part in parts for each in part.members()]
        inside = {id_ for each in coming for id_ in each.ids()}
        if not inside.isdisjoint(ids) or self._groups_with(ids, starts):
            return True
        return bool(self._alone(coming))

    def _groups_with(
        self, ids: Sequence[str], starts: Collection[int]
    ) -> Mapping[str, Collection[int]]:
        """The groups that are shown and have jobs of these Ids, by the Ids of these jobs.

        Or that have jobs with GlobalJobIds whose runs started then.
        """
        found: dict[str, set[int]] = defaultdict(set)
        conditions = [self.engine.among(_ID, ids)]
        if starts:
            condition, value = self.engine.among(_STARTED, sorted(starts))
            conditions.append((_OF_LINES + condition, value))
        for condition, value in conditions:
            text = _MEMBERS + _IN_GROUPS + condition
            for number, *told in self.engine.fetch(text, (value,)):
                for id_ in MemberRow(*told).ids():
                    found[id_].add(number)
        return found

    def _alone(self, members: Sequence[MemberRow]) -> Mapping[str, Sequence[PresentDocument]]:
        """The jobs of groups that are shown and stand alone, kept as they are, by all their Ids."""
        ids = {id_ for each in members for id_ in each.ids()}
        starts = {start for each in members for start in each.starts()}
        found: dict[str, list[PresentDocument]] = defaultdict(list)
        for present in self._known(sorted(ids), starts) if ids else ():
            if present.name == "Job" and not present.deleted:
                for id_ in ids_of(present.name, present.id, present.marks):
                    found[id_].append(present)
        return found

    def find(self, ids: Sequence[str]) -> list[PresentDocument]:
        """The documents of these Ids, kept as they are until the transaction ends."""
        return self._held(*self.engine.among("id", ids))

    def about(self, incoming: Incoming) -> PresentDocument | None:
        """The document of the run that one which comes is about, kept as it is."""
        return self._runs.about(incoming, self._known(incoming.every_id(), {*incoming.starts()}))

    def _known(self, ids: Sequence[str], starts: Collection[int]) -> list[PresentDocument]:
        """The documents of these Ids, and those of GlobalJobIds of runs that started then."""
        if starts or has_global_ids(ids):
            self.engine.hold(_OF_HTCONDOR)
        found = self.find(ids)
        if starts:
            condition, value = self.engine.among(_STARTED, sorted(starts))
            numbers = {number for (number,) in self.engine.fetch(_LINES + condition, (value,))}
            numbers -= {each.number for each in found}
            if numbers:
                found += self._held(*self.engine.among("number", sorted(numbers)))
        return found

    def _held(self, condition: str, value: object) -> list[PresentDocument]:
        order = f" ORDER BY number{self.engine.locking('document')}"
        rows = self.engine.fetch(PRESENT + condition + order, (value,))
        found = [PresentDocument.of(row) for row in rows]
        if self._keeps_ended:
            return found
        return [each._replace(marks=each.marks.of_nobody()) for each in found]

    def hide(
        self, number: int, entry: HistoryEntry, *, deleted: bool, is_taken_in: bool = False
    ) -> None:  # fmt: skip
        """A version of a document that is hidden, or is no longer.

        What was reserved for a hidden job is reserved no more. With ``is_taken_in`` nobody deletes
        it: a group has its job.
        """
        if deleted:
            StoreLedger(self.engine, entry).end_reservations(number, int(time.time()))
        self.engine.touch([number])
        self.engine.fetch(_KEEP, (number,))
        value = schema.TAKEN_IN if is_taken_in else int(deleted)
        self.engine.fetch(_HIDE, (entry.number, value, number))
        self.engine.fetch("UPDATE job SET deleted = ? WHERE document = ?", (int(deleted), number))

    def replace(
        self, number: int, identity: Identity, incoming: Incoming, entry: HistoryEntry
    ) -> None:
        """Make a document the next version of one that is there, even if it has another Id."""
        rows = self.engine.fetch("SELECT files FROM document WHERE number = ?", (number,))
        [former] = only(rows, self.engine.address, f"document {number}")
        self._replaced([(number, incoming, self._chosen(incoming, former))], entry)
        if (incoming.name, incoming.id) != (identity.name, identity.id):
            self._rename(number, _next_run(incoming, self.find([incoming.id])), incoming)

    def _rename(self, number: int, run: int, incoming: Incoming) -> None:
        """Let a document be found by what its newest version is called."""
        values = incoming.name, incoming.id, run, number
        self.engine.fetch("UPDATE document SET name = ?, id = ?, run = ? WHERE number = ?", values)

    def _write(
        self, documents: Sequence[Incoming], entry: HistoryEntry, *, are_beside: bool = False
    ) -> list[StoredDocument]:
        """Write documents of which no two have the same Id; runs ``beside`` the group of a job."""
        work = self._sorted(documents, are_beside=are_beside)
        if work.changed:
            self._replaced(work.changed, entry)
        for number, run_number, incoming in work.renamed:
            self._rename(number, run_number, incoming)
        written, begun = work.written, work.begun
        if work.fresh:
            fresh, of_groups = self._at_home(work.fresh) if not are_beside else (work.fresh, [])
            written |= self._added(fresh, entry) if fresh else {}
            begun += ((*each, False) for each in of_groups)
        for present, group in work.taken:
            self._take_in(present, group, entry)
        written |= self._put_in_groups(begun, entry) if begun else {}
        if work.beside:
            # Another group may have such a run.
            runs_beside = [(at, each, True) for at, (_, each) in enumerate(work.beside)]
            kept = self._put_in_groups(runs_beside, entry)
            for at, (index, _) in enumerate(work.beside):
                written[index] = written[index].with_outcome(kept[at].outcome)
        return [written[index] for index in range(len(documents))]

    def _sorted(self, documents: Sequence[Incoming], *, are_beside: bool) -> _WritingToDo:
        """What is to be written of documents, by what is known of the jobs that they are about."""
        known = self._known_by_id(documents)
        members = [job for each in documents for job in each.members()] if self._keeps_ended else []
        alone = self._alone(members)
        found_runs = [
            [run for id_ in each.every_id() for run in known.get(id_, ())] for each in documents
        ]
        abouts = [
            self._runs.about(each, runs) if runs else None
            for each, runs in zip(documents, found_runs, strict=True)
        ]
        in_groups = () if are_beside else self._that_groups_may_have(documents, abouts)
        work = _WritingToDo()
        for index, incoming in enumerate(documents):
            runs, run = found_runs[index], abouts[index]
            if run is None:
                if runs and incoming.marks.whose:
                    self._tell_others(incoming, runs)
                found = self._with_runs_alone(incoming, None, alone)
                work.fresh.append((index, _next_run(incoming, runs), found.incoming))
                work.taken += ((each, incoming) for each in found.taken)
                continue
            is_of_group = incoming.is_one_of(in_groups) and is_none_that_began(run)
            if is_of_group and not self._stays_deleted(incoming, run):
                work.begun.append((index, incoming, not run.deleted))
                continue
            following = self._next_version(incoming, run, alone)
            work.follow(index, incoming, run, following)
            if not following.is_there:
                changed = following.incoming
                self._tell_replaced(changed, run, incoming)
                self._tell_moved(changed, run)
                if changed.id != run.id:
                    work.renamed.append((run.number, _next_run(changed, runs), changed))
        return work

    def _known_by_id(self, documents: Sequence[Incoming]) -> Mapping[str, list[PresentDocument]]:
        """The documents that may be about the jobs of those that come, by all their Ids."""
        known: dict[str, list[PresentDocument]] = defaultdict(list)
        ids = [id_ for each in documents for id_ in each.every_id()]
        starts = {start for each in documents for start in each.starts()}
        for present in self._known(ids, starts):
            for id_ in ids_of(present.name, present.id, present.marks):
                known[id_].append(present)
        return known

    def _stays_deleted(self, incoming: Incoming, run: PresentDocument) -> bool:
        """Whether somebody has deleted what was imported before, and comes again as it was."""
        if run.is_taken_in or not run.deleted:
            return False
        files, content = self._chosen(incoming, run.files), incoming.content
        is_there = files.column == run.files and self._versions.has(run, content)
        return is_there or self._versions.is_no_news({content}, files, run)

    def _next_version(
        self, incoming: Incoming, run: PresentDocument,
        alone: Mapping[str, Sequence[PresentDocument]],
    ) -> _NextVersion:  # fmt: skip
        """What becomes of a document of which one comes, and of runs of its jobs."""
        files = self._chosen(incoming, run.files)
        contents = {incoming.content}
        if self._keeps_ended:
            incoming = self._with_global_id(incoming, run)
            contents.add(incoming.content)
        is_there = files.column == run.files and self._versions.has(run, incoming.content)
        if not self._keeps_ended:
            return _NextVersion(incoming, files, is_there)
        if not is_there and self._versions.is_no_news(contents, files, run):
            return _NextVersion(incoming, files, is_there=True)
        if incoming.name == "JobGroup":
            return self._next_of_group(_NextVersion(incoming, files, is_there), run, alone)
        # decisions 265 and 517
        is_there = is_there or self._is_older(incoming, run, contents)
        if not is_there:
            incoming = self._with_charge(incoming, run)
            is_there = files.column == run.files and self._versions.has(run, incoming.content)
        return _NextVersion(incoming, files, is_there)

    def _next_of_group(
        self, following: _NextVersion, run: PresentDocument,
        alone: Mapping[str, Sequence[PresentDocument]],
    ) -> _NextVersion:  # fmt: skip
        incoming, beside, is_kept = following.incoming, following.beside, following.is_there
        again = None if following.is_there else self._regrouped(incoming, run)
        if again is not None:
            incoming, beside, is_kept = again
            if run.deleted:  # meanwhile, runs of jobs that it keeps may have come to stand alone
                alone = self._alone([*incoming.members()])
        if run.deleted and self._versions.has(run, incoming.content):
            return following._replace(is_there=True, beside=beside)  # and stays deleted
        found = self._with_runs_alone(incoming, run.number, alone)
        if found.incoming is following.incoming:
            return following._replace(taken=found.taken)
        files = self._chosen(found.incoming, run.files)
        has_files = is_kept or files.column == run.files
        is_there = has_files and self._versions.has(run, found.incoming.content)
        return _NextVersion(found.incoming, files, is_there, beside, found.taken)

    # decision 956
    def _with_runs_alone(
        self, incoming: Incoming, number: int | None,
        alone: Mapping[str, Sequence[PresentDocument]],
    ) -> _TakenIn:  # fmt: skip
        """A group with the runs of its jobs that stand alone, unless another group may have them.

        Most groups have no job that stands alone, and are not read for that.
        """
        ids = incoming.ids_inside() & alone.keys()
        if not ids:
            return _TakenIn(incoming)
        document = self.packing.document(incoming.content)
        group, taken = GroupMembers(document), []
        runs = {each.number: each for id_ in ids for each in alone[id_]}
        others = self._groups([*runs.values()], number)
        for present in sorted(runs.values(), key=lambda each: each.marks.told.times.rank):
            try:
                run = loads(self.packing.unpack(present.dictionary, present.data))
            except NotUnpacked:
                continue
            assert isinstance(run, Job)
            found = home(run, {_COMING: group, **others.of(present)})
            if found is not None and found[0] == _COMING:
                group.take_known(found[1], run)
                taken.append(present)
        whole = group.document
        return _TakenIn(
            incoming if whole == document else self._read_anew(incoming, whole), taken
        )  # fmt: skip

    def _groups(
        self, jobs: Sequence[Incoming | PresentDocument], but: int | None = None
    ) -> _GroupsThere:
        """The groups but one that may have jobs which stand alone, and are not damaged."""
        ids = sorted({id_ for each in jobs for id_ in each.every_id()})
        by_id = self._groups_with(ids, {start for each in jobs for start in each.starts()})
        numbers = sorted({each for some in by_id.values() for each in some} - {but})
        found = {}
        for group in self._held(*self.engine.among("number", numbers)) if numbers else ():
            try:
                there = self.packing.unpack(group.dictionary, group.data)
            except NotUnpacked:
                continue
            found[group.number] = GroupMembers(there)
        return _GroupsThere(by_id, found)

    def _take_in(self, present: PresentDocument, group: Incoming, entry: HistoryEntry) -> None:
        """Hide a run that stands in a group from now on, with what it was charged; that is told."""
        about = f"{present.name} {present.id}"
        text = _TAKEN_IN.format(about, f"{group.name} {group.id}")
        self._tell(group, "W-USELESS", Severity.NOTICE, text)
        if self.engine.fetch(_WAS_CHARGED, (present.number,)):
            document = uncharged(self.packing.unpack(present.dictionary, present.data))
            mine = Incoming(present.name, present.id, present.marks, document, ())
            incoming = self._read_anew(mine, document)
            files = self._chosen(incoming, present.files)
            self._replaced([(present.number, incoming, files)], entry)
        self._taken_in.add(present.number)
        self.hide(present.number, entry, deleted=True, is_taken_in=True)

    def _that_groups_may_have(
        self, documents: Sequence[Incoming], abouts: Sequence[PresentDocument | None]
    ) -> Collection[str]:
        """The Ids of jobs in groups that come, of which no document is shown in which they began.

        A run that a group has comes before a job that only waited alone.
        """
        found = [
            each
            for each, run in zip(documents, abouts, strict=True)
            if run is not None
            and each.name == "Job"
            and is_none_that_began(run)
            and (run.deleted or each.marks.started)
        ]
        return self._ids_in_groups(found) if self._keeps_ended else ()

    def _ids_in_groups(self, jobs: Sequence[Incoming]) -> Collection[str]:
        """The Ids of jobs in groups of which some that come may tell."""
        if not jobs:
            return ()
        ids = [id_ for each in jobs for id_ in each.every_id()]
        return self._groups_with(ids, {start for each in jobs for start in each.starts()}).keys()

    # decisions 946 and 1006
    def _at_home(
        self, fresh: Sequence[tuple[int, int, Incoming]]
    ) -> tuple[list[tuple[int, int, Incoming]], list[tuple[int, Incoming]]]:
        """What is new; and what may be a job of a group, or the run of one."""
        jobs = [each for _, _, each in fresh if each.name == "Job"] if self._keeps_ended else []
        inside = self._ids_in_groups(jobs)
        if not inside:
            return [*fresh], []
        new, of_groups = [], []
        for each in fresh:
            index, _, incoming = each
            if incoming.name == "Job" and incoming.is_one_of(inside):
                of_groups.append((index, incoming))
            else:
                new.append(each)
        return new, of_groups

    def _put_in_groups(
        self, begun: Sequence[tuple[int, Incoming, bool]], entry: HistoryEntry
    ) -> dict[int, StoredDocument]:
        """Keep jobs in the only groups that have them; others are documents of their own.

        Each comes with whether only a group will do that has the run, and none that waits. What is
        older than what a group has of it changes nothing. A group is read and written once for all
        of them.
        """
        written: dict[int, StoredDocument] = {}
        groups = self._groups([each for _, each, _ in begun])
        inside: dict[int, list[_MemberRun]] = defaultdict(list)
        alone: list[tuple[int, Incoming]] = []
        for index, incoming, has_begun in begun:
            run = loads(self.packing.document(incoming.content))
            assert isinstance(run, Job)
            found = home(run, groups.of(incoming), has_begun=has_begun)
            if found is not None:
                number, place = found
                group = groups.groups[number]
                inside[number].append(_MemberRun(index, incoming, place, group.at(place)))
                group.take(place, run)
            else:
                alone.append((index, incoming))
        kept_alone = (
            each
            for distinct in distinct([incoming for _, incoming in alone])
            for each in self._write(distinct, entry, are_beside=True)
        )
        written |= {index: each for (index, _), each in zip(alone, kept_alone, strict=True)}
        for number, runs in inside.items():
            first, *_ = (each.incoming for each in runs)
            document = groups.groups[number].document
            files = {id_: held for each in runs for id_, held in each.incoming.files.items()}
            whole = self._read_anew(first, document)._replace(files=files)
            [kept] = self._write([whole], entry)
            now = GroupMembers(self._document(number)) if kept.outcome is Outcome.CHANGED else None
            for each in runs:
                is_there = now is None or now.at(each.place) == each.known
                outcome = Outcome.UNCHANGED if is_there else Outcome.CHANGED
                written[each.at] = kept._replace(outcome=outcome)
        return written

    def _document(self, number: int) -> bytes:
        """A document as it is there now."""
        [present] = self._held(*self.engine.among("number", [number]))
        return self.packing.unpack(present.dictionary, present.data)

    def _with_global_id(self, incoming: Incoming, present: PresentDocument) -> Incoming:
        """A job with the GlobalJobId that is known of it, if it tells none itself.

        Messages of APEL do not, and whoever tells of the job next may know it by nothing else.
        """
        one = present.marks.one(present.id) if present.name == "Job" else ""
        if not one or incoming.marks.global_id or incoming.marks.one(incoming.id):
            return incoming
        document = self.packing.document(incoming.content)
        fact = Fact(Property("GlobalId", one), JOB)
        content = b"".join(rewrite(document, lambda job: placed(job, fact)))
        marks = incoming.marks._replace(global_id=one)
        told = rows(tree.parse(content))
        return incoming._replace(content=content, marks=marks, rows=told, used=None)

    # decision 670
    def _is_older(
        self, incoming: Incoming, present: PresentDocument, contents: Collection[Content]
    ) -> bool:
        """Whether nothing comes of a job, as more is known of its run; that is told.

        What was stored before is not told again.
        """
        tells_less = self._runs.tells_less(incoming, present)
        if tells_less is False or not (tells_less or self._keeps_former):
            return False
        if self._versions.is_former(contents, present):
            return True
        if tells_less:
            text = _OLDER.format(f"{incoming.name} {incoming.id}")
            self._tell(incoming, "W-USELESS", Severity.NOTICE, text)
        return bool(tells_less)

    # decision 877
    def _regrouped(
        self, incoming: Incoming, present: PresentDocument
    ) -> tuple[Incoming, Sequence[Incoming], bool] | None:
        """A group with what is there of it, the runs beside it, and whether it keeps its own.

        None where it is the next version as it is.

        Most groups have no job that ran, and are not read for that.
        """
        there = self._if_it(_USED_IN_GROUP, present)
        if there is None:
            return None
        found = regrouped(there, self.packing.document(incoming.content))
        if found is None:
            return None
        if not self._versions.is_former((incoming.content,), present):
            for text in found.told(incoming.id):
                self._tell(incoming, "W-USELESS", Severity.NOTICE, text)
        whole = self._read_anew(incoming, found.group)
        beside = [self._read_anew(incoming, dumps(job).encode()) for job in found.beside]
        return whole, beside, bool(found.kept)

    # decision 914
    def _with_charge(self, incoming: Incoming, present: PresentDocument) -> Incoming:
        """A job with what the one that is there was charged, if it says nothing of that."""
        there = self._if_it(_WAS_CHARGED, present)
        if there is None:
            return incoming
        document = self.packing.document(incoming.content)
        found = charged(there, document)
        return incoming if found == document else self._read_anew(incoming, found)

    def _if_it(self, does: str, present: PresentDocument) -> bytes | None:
        """A document that is there, if a query finds its number and it is not damaged."""
        if not self.engine.fetch(does, (present.number,)):
            return None
        try:
            return self.packing.unpack(present.dictionary, present.data)
        except NotUnpacked:
            return None

    def _read_anew(self, incoming: Incoming, document: bytes) -> Incoming:
        """What was made of a document that came, with the Files that came with it."""
        root = tree.parse(document)
        name, found = local(root), rows(root)
        id_, marks = identify(root, name)
        if name == "Job":
            marks = marks.of_user(id_, user_in(found[0]))
        named = tuple(dict.fromkeys(files_named(from_tree(root)))) if b"#" in document else ()
        return incoming._replace(
            name=name, id=id_, marks=marks, content=document, rows=found, named=named, used=None
        )

    def _tell_others(self, incoming: Incoming, runs: Iterable[PresentDocument]) -> None:
        """Tell of a run that another user is said to have run."""
        whoever = incoming.of_nobody()
        known = known_as(incoming.name, incoming.id, whoever.marks, runs)
        if known is not None and incoming.marks.started == known.marks.started != "":
            about = f"{incoming.name} {incoming.id}"
            text = _OTHERS.format(about, incoming.marks.whose, known.marks.whose)
            self._tell(incoming, "W-DISAGREE", Severity.WARNING, text)

    def _tell(self, incoming: Incoming, code: str, severity: Severity, text: str) -> None:
        told = finding(code, text, line=incoming.line, severity=severity)
        self.remarks.append(told)

    def _tell_replaced(
        self, incoming: Incoming, present: PresentDocument, brought: Incoming
    ) -> None:
        """Tell of what goes that requests have made of a document since it was imported."""
        if not self._keeps_ended:
            return
        reasons = [reason for reason, _ in requests(self._versions.of(present))]
        if not reasons:
            return
        names = ", ".join(dict.fromkeys(map(of_request, reversed(reasons))))
        text = _REPLACED.format(f"{incoming.name} {incoming.id}", names)
        if settling.says_charge(incoming.rows) and not settling.says_charge(brought.rows):
            text += _CHARGED
        self._tell(incoming, "W-USELESS", Severity.NOTICE, text)

    # decision 928
    def _tell_moved(self, incoming: Incoming, present: PresentDocument) -> None:
        """Tell of a job that becomes another user's than was charged for it."""
        if not (self._keeps_ended and settling.says_charge(incoming.rows)):
            return
        try:
            before, after = (
                loads(each)
                for each in (
                    self.packing.unpack(present.dictionary, present.data),
                    self.packing.document(incoming.content),
                )
            )
        except NotUnpacked:
            return
        for _, text in settling.moved(self.engine, present.number, before, after):
            self._tell(incoming, "W-DISAGREE", Severity.WARNING, text)

    def _added(
        self, fresh: Sequence[tuple[int, int, Incoming]], entry: HistoryEntry
    ) -> dict[int, StoredDocument]:
        """Documents nobody has seen; where somebody else was faster, the next version of theirs."""
        table = schema.DOCUMENT
        rows, known = [], []
        numbers = self.engine.numbers(table, len(fresh))
        for number, (index, run, incoming) in zip(numbers, fresh, strict=True):
            dictionary, data, _ = self.packing.packed(incoming.content)
            files = self._chosen(incoming, "")
            known.append((index, incoming, files.missing))
            rows.append((
                number, incoming.name, incoming.id, run, *incoming.marks[:MARKED], 1, entry.number,
                0, files.column, dictionary, data,
            ))  # fmt: skip
        return self._with_jobs(numbers, known, self.engine.add_new(table, rows), entry)

    def _with_jobs(
        self, numbers: Sequence[int], fresh: Sequence[tuple[int, Incoming, tuple[str, ...]]],
        added: Collection[int], entry: HistoryEntry,
    ) -> dict[int, StoredDocument]:  # fmt: skip
        """The rows of the documents that were added; the others are written again."""
        written: dict[int, StoredDocument] = {}
        late = []
        jobs: list[Sparse] = []
        for number, (index, incoming, missing) in zip(numbers, fresh, strict=True):
            if number in added:
                written[index] = StoredDocument(number, Outcome.NEW, missing)
                jobs += _owned(number, incoming)
                if incoming.used is not None:
                    self.used[number] = incoming.used
                if settling.says_charge(incoming.rows):
                    self._unsettled.add(number)
            else:
                late.append((index, incoming))
        self.engine.touch(added)
        self.engine.add_sparse(self._rows, jobs)
        if late:
            again = self._write([incoming for _, incoming in late], entry)
            written |= {index: done for (index, _), done in zip(late, again, strict=True)}
        return written

    def _chosen(self, incoming: Incoming, former: str) -> ChosenFiles:
        """The Files of a document, kept already: there is no version without them."""
        if not incoming.named:
            return NONE
        found = chosen(incoming.named, incoming.files, former)
        add(self.engine, self.packing, found.contents)
        return found

    def _replaced(
        self, changed: Sequence[tuple[int, Incoming, ChosenFiles]], entry: HistoryEntry
    ) -> None:
        numbers = [(number,) for number, _, _ in changed]
        self.engine.many(_KEEP, numbers)
        self.engine.many(_REPLACE, [
            (
                *new.marks[:MARKED], entry.number, files.column,
                *self.packing.packed(new.content)[:2], number,
            )
            for number, new, files in changed
        ])  # fmt: skip
        self._unsettled.update(number for number, _, _ in changed)
        self.engine.touch(number for number, _, _ in changed)
        self.engine.many("DELETE FROM job WHERE document = ?", numbers)
        self.engine.add_sparse(
            self._rows, [row for number, new, _ in changed for row in _owned(number, new)]
        )


def _given_back(found: settling.ChargeDifference) -> Finding:
    """What is told of credits that an import gives back."""
    more, known = (units.decimal(each) for each in (found.entered - found.said, found.entered))
    text = f"job {found.job} was charged {known}, of which {more} are given back: this says less"
    return finding("W-DISAGREE", text, severity=Severity.WARNING)


def _owned(number: int, incoming: Incoming) -> Iterator[Sparse]:
    """The rows of the document of this number, which is not hidden."""
    for row in incoming.rows:
        places, values = sparse(row)
        yield Sparse(places, (number, 0, *values))


def _next_run(incoming: Incoming, known: Iterable[PresentDocument]) -> int:
    """The number of a run of an Id that the store does not have."""
    runs = (each.run for each in known if (each.name, each.id) == (incoming.name, incoming.id))
    return 1 + max(runs, default=0)
