"""One change of a store: all of it happens, or nothing, and who did it is kept."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping

from sssjob.errors import BusyStore, TakenId
from sssjob.model import Block, Job
from sssjob.runs import Run, RunTimes, waits
from sssjob.store import lookup, settling
from sssjob.store.engine import Engine, Row
from sssjob.store.files import NO_FILES, contents, require_files
from sssjob.store.flat_properties import jobs_in
from sssjob.store.history import HistoryEntry
from sssjob.store.identity import Identity, ids_of, is_same_job, marks_of
from sssjob.store.ledger import StoreLedger
from sssjob.store.packing import Packing
from sssjob.store.reading import only
from sssjob.store.stored import Stored
from sssjob.store.writing import DocumentWriter

KEY = "key "  # what the names begin with of notes that tell which request has a key
REQUEST = "request "  # and of those that tell what a request with an id was answered
SUBMITTED = f"submission by {REQUEST}"  # or of which document its Submit was
# Each grows with the requests that come, and is forgotten with quotes.
OF_REQUESTS = (KEY, REQUEST, SUBMITTED)


class Change:
    """What is read and written within ``Store.change``; good until its block ends."""

    def __init__(
        self, engine: Engine, packing: Packing, entry: HistoryEntry, *, brings_groups: bool = False
    ) -> None:
        self._engine, self._packing, self._entry = engine, packing, entry
        self._writer = DocumentWriter(engine, packing)
        self._writer.keep_groups_still(brings_groups=brings_groups)
        self.ledger = StoreLedger(engine, entry)

    def settle(self) -> None:
        """Let the ledger follow the documents, as the last of the change."""
        self._writer.settle(self._entry)

    def get(
        self, identity: Identity | str, *, deleted: bool | None = False
    ) -> Stored | None:  # fmt: skip
        """A document as ``Store.get`` gives it; nobody else changes it until the block ends."""
        self._engine.hold(identity.id if isinstance(identity, Identity) else identity)
        row = lookup.find(self._engine, identity, deleted=deleted)
        return None if row is None else self.at(row[0])

    def hold(self, ids: Collection[str]) -> None:
        """Keep others from changing jobs of many Ids until the block ends; as the first of it.

        Two changes that take the same jobs one after the other, in different orders, would wait
        for each other until one gave up.
        """
        self._writer.hold(ids)

    def named(self, id_: str, *, deleted: bool = False) -> Iterator[Stored]:
        """The documents that may have a job of an Id, as ``Store.named`` gives them."""
        self._engine.hold(id_)
        return lookup.named(self._engine, self._packing, id_, deleted=deleted)

    def require_one_place(self, block: Block, number: int | None) -> None:
        """Raise ``TakenId`` for a job that would stand in a group and alone, or twice in a group.

        A Charge would be of one of them, a Modify of both, and each would be forwarded. Runs of
        one Id are several jobs, and workflows of one form may have the same Ids. ``number`` is the
        document in which they are, None for a new one.
        """
        for job, is_alone in _standing(block):
            for stored, place, _ in self.elsewhere(job, number):
                if bool(place) is is_alone:
                    raise TakenId(job.id, str(stored.identity))

    def require_unpaid(self, block: Block, number: int | None) -> None:
        """Raise ``TakenId`` for a job that a hidden document has that was charged.

        It could not be shown again, so that nobody could give back what it was charged. Where it
        stands and ``number`` are as for ``require_one_place``.
        """
        for job, is_alone in _standing(block):
            for stored, place, _ in self.elsewhere(job, number, deleted=True):
                is_hidden = stored.deleted and bool(place) is is_alone
                if is_hidden and self.ledger.balance(stored.number, job.id):
                    raise TakenId(job.id, f"{stored.identity}, which was charged and deleted")

    def elsewhere(
        self, job: Block, number: int | None, *, deleted: bool = False, any_run: bool = False
    ) -> Iterator[tuple[Stored, int, Job]]:
        """Where a job stands in all documents but one, each with its place there, and as it is.

        That is where one of its Ids is, but for other runs of it, unless ``any_run`` counts. The
        place of a job alone is 0; those of a group count from 1. # decision 860
        """
        marks = marks_of(job)
        found = {
            stored.number: stored
            for id_ in ids_of("Job", job.id, marks)
            for stored in self.named(id_, deleted=deleted)
        }
        for stored in found.values():
            if stored.number == number:
                continue
            for at, each in jobs_in(stored.block()):
                if _is_one_job(job, each) if any_run else _may_be_one_run(job, each):
                    yield stored, at, each

    # decision 929
    def of_same_run(self, block: Block) -> Stored | None:
        """A document that has the run of a job of a block, by its times, which no Id tells.

        Clocks differ, and runs of one job do not overlap.
        """
        for job, _ in _standing(block):
            told = Run.of_job(job)
            is_it = told.waited_for if waits(job) else told.is_of_by_times
            for stored in self.named(job.id, deleted=True):
                known = (
                    Run.of_job(each) for _, each in jobs_in(stored.block()) if each.id == job.id
                )
                if any(map(is_it, known)):
                    return stored
        return None

    def lowered(self, number: int) -> list[str]:
        """The Ids of jobs of a document that say less than the ledger says that they were charged.

        It is given back as soon as the change ends.
        """
        found = settling.differences(self._engine, self._packing, [number])
        return [each.job for each in found if each.said < each.entered]

    def moved(self, before: Stored, after: Stored) -> list[str]:
        """What is to be said of jobs that are charged to others than whose they are now."""
        return [text for _, text in self.moved_jobs(before, after)]

    def moved_jobs(self, before: Stored, after: Stored) -> list[tuple[str, str]]:
        """The same, each with the Id of its job."""
        return list(settling.moved(self._engine, after.number, before.block(), after.block()))

    def about(self, document: Block | bytes) -> Stored | None:
        """What there is of the job that a document is about; see ``identity``."""
        new = only(document)
        self._engine.hold(new.id)
        run = self._writer.about(new.of_nobody())
        return None if run is None else self.at(run.number)

    def put(
        self, document: Block | bytes, *, replacing: Stored | None = None,
        files: Mapping[str, bytes] = NO_FILES,
    ) -> Stored:  # fmt: skip
        """Keep a Job or JobGroup: as a new one, or as the next version of what it is about.

        See ``identity`` for what it is about; ``replacing`` says it instead, for a job whose Id
        or times change. Where the same bytes are there already, nothing changes; a deleted
        document of which another version comes is no longer deleted. Of the Files that it names,
        by ``#`` and their ids, those are kept that stand beside it or are among the ``files``;
        of others, those of the version before. Raises ``UnreadableDocument``, ``LimitExceeded``
        for too large Files, ``InvalidValue`` for one that XML cannot hold, and ``BusyStore`` if
        ``replacing`` is no longer the last version.
        """
        new = only(document)
        if new.named and files:
            new = new._replace(files={**new.files, **files})
        require_files({id_: new.files[id_] for id_ in new.named if id_ in new.files})
        self._engine.hold(new.id)
        if replacing is None:
            return self.at(self._writer.write([new], self._entry)[0].number)
        if self.at(replacing.number).version != replacing.version:
            said = f"{replacing.identity} has changed since it was read"
            raise BusyStore(self._engine.address, said)
        self._writer.replace(replacing.number, replacing.identity, new, self._entry)
        return self.at(replacing.number)

    def delete(self, identity: Identity | str) -> Stored | None:
        """Hide a document, which keeps it; None if there is none, or if it is hidden already."""
        return self._hide(self.get(identity), deleted=True)

    def undelete(self, identity: Identity | str) -> Stored | None:
        """Show a hidden document again; None if there is none that is hidden.

        That is the group that has its run, where that is hidden, too; and not one whose run has
        come to stand elsewhere meanwhile, if there is another. Raises ``TakenId`` where there is
        none.
        """
        self._engine.hold(identity.id if isinstance(identity, Identity) else identity)
        taken: TakenId | None = None
        for number in lookup.ranked(self._engine, identity, deleted=True):
            found = self.at(number)
            for each in self._to_be_shown(found) if found.deleted else ():
                same = self._same_runs(each) if each.deleted else ((each, found.block(), 0),)
                shown = next((there for there in same if not there[0].deleted), None)
                if shown is None:
                    return self._hide(each, deleted=False)
                taken = taken or TakenId(shown[1].id, str(shown[0].identity))
        if taken is not None:
            raise taken
        return None

    def _to_be_shown(self, hidden: Stored) -> Iterator[Stored]:
        """What is meant by a hidden document: the groups that have its run, and then itself.

        One that a group took in was not deleted: it is nothing to show as long as a group has its
        run, or the job that it waited for.
        """
        groups = [
            stored
            for job, is_alone in _standing(hidden.block()) if is_alone
            for stored, place, there in self.elsewhere(
                job, hidden.number, deleted=True, any_run=hidden.is_taken_in and waits(job)
            )
            if place and (hidden.is_taken_in or not (waits(job) or waits(there)))
        ]  # fmt: skip
        yield from (each for each in groups if hidden.is_taken_in or each.deleted)
        if not (hidden.is_taken_in and groups):
            yield hidden

    def _same_runs(self, hidden: Stored) -> Iterator[tuple[Stored, Job, int]]:
        """Where runs of a hidden document stand else: its jobs in groups, or those alone.

        One that waits is not the run of one that has begun: an import leaves both, where it cannot
        tell that they belong together. Two groups may both have a run, but not one that came into
        the other when this one was hidden.
        """
        for job, is_alone in _standing(hidden.block()):
            for stored, place, there in self.elsewhere(job, hidden.number, deleted=True):
                if waits(there) is not waits(job):
                    continue
                if bool(place) is is_alone or (place and self._came_since(hidden, job, stored)):
                    yield stored, job, place

    def _came_since(self, hidden: Stored, job: Job, group: Stored) -> bool:
        """Whether a group did not have the run of a job yet when a document was hidden."""
        gone, _ = self.changes(hidden)[-1]
        versions = zip(self.versions(group), self.changes(group), strict=True)
        before = [each for each, (number, _) in versions if number < gone]
        if not before:
            return True
        return not any(
            _may_be_one_run(job, each) and waits(each) is waits(job)
            for _, each in jobs_in(before[-1].block())
        )

    def versions(self, stored: Stored) -> list[Stored]:
        """Every version of a document, the first one first, as ``Store.versions`` gives them."""
        present = lookup.by_number(self._engine, stored.number)
        assert present is not None  # documents never go away
        rows = (*lookup.former(self._engine, stored.number), present)
        return [self._stored(row) for row in rows]

    def changes(self, stored: Stored) -> list[tuple[int, str]]:
        """Which change made each version of a document, and why; the first one first."""
        return lookup.changes(self._engine, stored.number)

    def reasons(self, stored: Stored) -> list[str]:
        """Why each version of a document was made, the first one first."""
        return [reason for _, reason in self.changes(stored)]

    def files(self, stored: Stored) -> dict[str, bytes]:
        """What the Files of a version hold, as ``Store.files`` gives it."""
        return contents(self._engine, self._packing, stored.files)

    def note(self, name: str, value: str) -> None:
        """Keep a small fact beside the documents, such as the id of a request that was served.

        ``noted``, also of the store, gives it back.
        """
        self._engine.hold(name)
        self._engine.fetch(
            "INSERT INTO note (name, value, change) VALUES (?, ?, ?) ON CONFLICT (name) "
            "DO UPDATE SET value = excluded.value, change = excluded.change",
            (name, value, self._entry.number),
        )

    def noted(self, name: str) -> str | None:
        """A fact that was noted, or None; nobody else notes it until the block ends."""
        self._engine.hold(name)
        return lookup.noted(self._engine, name)

    def notes(self, begin: str) -> dict[str, str]:
        """The facts whose names begin so; nobody else asks for these until the block ends."""
        self._engine.hold(f"notes {begin}")
        return lookup.notes(self._engine, begin)

    def answered(self, kind: str, mark: str, since: float) -> str | None:
        """What was answered to a message of a kind since a time; None if it was not.

        Nobody else answers the same message until the block ends.
        """
        self._engine.hold(f"answers to {kind} {mark}")
        return lookup.answered(self._engine, kind, mark, since)

    def keep_answer(self, kind: str, mark: str, at: float, text: str) -> None:
        """Keep what is answered to a message of a kind."""
        self._engine.fetch(
            "INSERT INTO answer (job, mark, at, text) VALUES (?, ?, ?, ?) ON CONFLICT (job, mark) "
            "DO UPDATE SET at = excluded.at, text = excluded.text",
            (kind, mark, math.floor(at), text),
        )

    def _hide(self, found: Stored | None, *, deleted: bool) -> Stored | None:
        if found is None or found.deleted is deleted:
            return None
        self._writer.hide(found.number, self._entry, deleted=deleted)
        return self.at(found.number)

    def at(self, number: int) -> Stored:
        """The document of a number; nobody else changes it until the block ends."""
        # Locked by itself: what was waited for may belong to another change by now.
        lock = f"SELECT 1 FROM document WHERE number = ?{self._engine.locking('document')}"
        self._engine.fetch(lock, (number,))
        row = lookup.by_number(self._engine, number)
        assert row is not None  # documents never go away
        return self._stored(row)

    def _stored(self, row: Row) -> Stored:
        return lookup.stored(row, self._packing, self._engine.address)


def _standing(block: Block) -> Iterator[tuple[Job, bool]]:
    """The jobs of a document that have an Id, and whether they stand alone. Raises ``TakenId``."""
    ids: set[str] = set()
    for place, job in jobs_in(block):
        if not job.id:
            continue
        if job.id in ids:
            raise TakenId(job.id)
        ids.add(job.id)
        yield job, not place


def _is_one_job(one: Block, other: Block) -> bool:
    """Whether two job objects are of one job, by any of their Ids."""
    return is_same_job(one.id, marks_of(one), other.id, marks_of(other))


def _may_be_one_run(one: Block, other: Block) -> bool:
    """Whether they are, and nothing that both tell shows that they are two runs of it."""
    return (
        marks_of(one).agree(marks_of(other))
        and _is_one_job(one, other)
        and not RunTimes.of_job(one).is_told_apart(RunTimes.of_job(other))
    )
