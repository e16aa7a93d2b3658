"""A store of job objects: documents as they were read, their versions, and a row for each job."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from sssjob.document import Source, tree
from sssjob.errors import UnreadableDocument
from sssjob.integers import LARGEST
from sssjob.query import Match, Question
from sssjob.store import changed_since, files, flat, lookup, opening, upkeep
from sssjob.store.answers import StoreAnswers, Trace
from sssjob.store.change import OF_REQUESTS, Change
from sssjob.store.condition import TRUE, Compare, Condition, Op, all_of
from sssjob.store.documents import OnError, PackedRows, parts
from sssjob.store.engine import Engine, Row
from sssjob.store.explanation import Explanation, explain
from sssjob.store.flat import FlatGroup, Texts
from sssjob.store.history import HistoryEntry
from sssjob.store.identity import Identity
from sssjob.store.incoming import Incoming
from sssjob.store.ledger import StoreLedger
from sssjob.store.loading import keep, load
from sssjob.store.packing import packing_of
from sssjob.store.parts import KeptSums
from sssjob.store.plan import QueryPlan
from sssjob.store.pushdown import plan
from sssjob.store.reach import Reach
from sssjob.store.reading import NamedReading, OnWarning, Readers
from sssjob.store.schema import listed
from sssjob.store.sql import quoted, sql
from sssjob.store.stored import Counts, Event, Fault, Statistics, Stored
from sssjob.store.totals import Total, total
from sssjob.store.verifying import LOGGER, Difference, OnDifference

if TYPE_CHECKING:
    from sssjob.store.used import Follow

T = TypeVar("T")

_FORGOTTEN = 1000  # notes that are forgotten at once
_OLD_NOTES = (
    "SELECT n.name, n.change FROM note AS n JOIN change AS c ON c.number = n.change "
    "WHERE n.name >= ? AND n.name < ? AND c.at < ? ORDER BY n.name LIMIT ?"
)

VERIFY, ON, OFF = "verify", "on", "off"  # a setting of a store, and its values


class Store:
    """One connection to a store; see ``sssjob.store.open``.

    It belongs to one thread at a time. Threads, and processes, that work at the same time open
    the store for themselves: nothing that one commits is lost by another. Whatever a method
    cannot do raises an ``UnusableStore``; ``BusyStore`` says that trying again may help.
    ``verifies`` is whether every question is asked of the documents, too (``verify``).
    ``sums`` are kept; the connections of several threads may share them.
    """

    def __init__(
        self, engine: Engine, *, by: str = "", verifies: bool = False, sums: KeptSums | None = None
    ) -> None:
        self.engine, self.by, self.verifies = engine, by, verifies
        self.sums = KeptSums() if sums is None else sums
        self.packing = packing_of(engine)
        self.ledger = StoreLedger(engine)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()

    @property
    def address(self) -> str:
        """What to call the store in messages: its path or address, without a password."""
        return self.engine.address

    def verify(self, questions: bool) -> None:
        """Set whether whoever opens the store has all questions asked of the documents, too.

        Their answers hold then, and what columns say else is told: to ``on_difference`` of
        ``run`` and ``how_many``, or to the logger ``sssjob.store``.
        """
        opening.state(self.engine, VERIFY, ON if questions else OFF)
        self.verifies = questions

    def close(self) -> None:
        """End the connection."""
        self.engine.close()

    def release(self) -> None:
        """Give back memory in which pages of the store are kept; they are read again."""
        self.engine.release()

    @contextmanager
    def change(
        self, *, by: str | None = None, source: str = "", reason: str = "",
        brings_groups: bool = False,
    ) -> Iterator[Change]:  # fmt: skip
        """One change: what its block does is all committed when the block ends, or none of it.

        ``by`` (else the one of the store), ``source`` and ``reason`` are kept in the history. It
        waits for other writers as long as the store has patience, then raises ``BusyStore``. One
        that may keep or show again a JobGroup with jobs that were not in it ``brings_groups``: no
        job comes from elsewhere meanwhile.
        """
        who = self.by if by is None else by
        with self.engine.transaction():
            entry = HistoryEntry(self.engine, by=who, source=source, reason=reason)
            change = Change(self.engine, self.packing, entry, brings_groups=brings_groups)
            yield change
            change.settle()

    def load(
        self,
        source: Source,
        *,
        by: str | None = None,
        name: str = "",
        reason: str = "",
        on_error: tree.OnError | None = None,
        on_batch: Callable[[Counts], None] | None = None,
        on_warning: OnWarning | None = None,
        readers: Readers | None = None,
        file: PathLike[str] | None = None,
    ) -> Counts:
        """Keep every outermost Job and JobGroup of a source, byte for byte as it stands there.

        They are committed in batches; should it end early, what was committed stays, and the
        same source can be loaded again: what is there already is left alone. ``name`` is what
        the history calls the source. A document that cannot be kept raises
        ``UnreadableDocument``, or goes to ``on_error`` while the rest go on; ``on_batch`` is told
        the counts so far after each commit. The Files beside a job that it names are kept with it;
        ``on_warning`` is told which are not there. What is kept is the same with ``readers``:
        processes that read documents while this one writes (``sssjob.store.reading.readers``). Of a
        ``file`` that the source, a stream, reads, they read the documents themselves.
        """
        who = self.by if by is None else by
        entry = HistoryEntry(self.engine, by=who, source=name, reason=reason)
        return load(
            self.engine, self.packing, source, entry,
            on_error=on_error, on_batch=on_batch, on_warning=on_warning,
            by=None if readers is None else NamedReading(readers, name, file),
        )  # fmt: skip

    def keep(
        self,
        documents: Iterable[Incoming | UnreadableDocument],
        *,
        by: str | None = None,
        name: str = "",
        reason: str = "",
        on_error: tree.OnError | None = None,
        on_warning: OnWarning | None = None,
        follow: Follow | None = None,
    ) -> Counts:
        """Keep documents that come with their rows (``reading.made``), as ``load`` keeps others.

        ``follow`` is given what reports read of the new ones of each batch, once they are there.
        """
        who = self.by if by is None else by
        entry = HistoryEntry(self.engine, by=who, source=name, reason=reason)
        return keep(
            self.engine, self.packing, documents, entry,
            on_error=on_error, on_warning=on_warning, follow=follow,
        )  # fmt: skip

    def get(
        self, identity: Identity | str, *, deleted: bool | None = False
    ) -> Stored | None:  # fmt: skip
        """A document, or None.

        A text is the Id of a Job, whose last run is given; or else of a JobGroup; or else of a
        Job inside a JobGroup, which is given. Of these one that is shown comes first, and a deleted
        one is given where there is no other; with ``deleted`` it is the other way round, and with
        None both are alike.
        """
        row = lookup.find(self.engine, identity, deleted=deleted)
        return None if row is None else self._stored(row)

    def at(self, number: int) -> Stored:
        """The document of a number, a deleted one too."""
        row = lookup.by_number(self.engine, number)
        assert row is not None  # documents never go away
        return self._stored(row)

    def numbered(self, number: int) -> Stored | None:
        """The same, and None where no document has the number. Raises ``DamagedStore``."""
        row = lookup.by_number(self.engine, number)
        return None if row is None else self._stored(row)

    def files(self, stored: Stored) -> dict[str, bytes]:
        """What the Files of a version hold, by the ids that its job objects name with ``#``.

        Raises ``DamagedStore``.
        """
        return files.contents(self.engine, self.packing, stored.files)

    def count(self) -> int:
        """How many documents there are, without deleted ones."""
        return int(self.engine.fetch("SELECT count(*) FROM document WHERE deleted = 0")[0][0])

    def documents(
        self, *, deleted: bool = False, on_error: lookup.OnDamage | None = None
    ) -> Iterator[Stored]:
        """All documents in the order of the store, of one moment; ``deleted`` ones if asked for.

        Raises ``DamagedStore`` at the first that cannot be read, or hands it to ``on_error`` and
        goes on.
        """
        return lookup.each(self.engine, self.packing, deleted=deleted, on_error=on_error)

    def news(self, mark: str = "") -> changed_since.StoreNews:
        """The documents that are new since a mark, without what they hold, and the next mark.

        All that are not deleted, without one. See ``changed_since``.
        """
        return changed_since.since(self.engine, mark)

    def packed(self, *, on_error: lookup.OnDamage | None = None) -> Iterator[PackedRows]:
        """All documents that are not deleted, in parts for other processes, of one moment."""
        rows = lookup.rows(self.engine, deleted=False, on_error=on_error)
        return parts(rows, self.packing, self.engine.address)

    def ended_within(
        self, since: int | None, until: int | None, on_others: Callable[[int], None],
        *, on_error: lookup.OnDamage | None = None,
    ) -> Iterator[PackedRows]:  # fmt: skip
        """Documents that may have jobs that ended at ``since`` or later and before ``until``.

        In parts, of one moment. The others are one Job each, which ended at another time: in the
        end ``on_others`` is told how many. Times are seconds since 1970-01-01T00:00:00Z; one of
        them is given.
        """
        rows = lookup.ended_within(self.engine, since, until, on_others, on_error)
        return parts(rows, self.packing, self.engine.address)

    def candidates(
        self, how: QueryPlan, *, effective: bool = False, deleted: bool = False
    ) -> Iterator[Stored]:
        """The documents in which a plan may find something, in the order of the store.

        All are of one moment. With ``deleted``, hidden documents are among them. Raises
        ``DamagedStore`` at the first that cannot be read.
        """
        return lookup.candidates(
            self.engine, self.packing, how, effective=effective, deleted=deleted
        )  # fmt: skip

    def named(self, id_: str, *, deleted: bool = False) -> Iterator[Stored]:
        """The documents with a Job or JobGroup of this Id, all that there may be.

        With ``deleted``, hidden documents are among them.
        """
        return lookup.named(self.engine, self.packing, id_, deleted=deleted)

    def totals(
        self, how: QueryPlan, by: Sequence[str], of: Sequence[str], add: Callable[[Stored], None]
    ) -> list[FlatGroup] | None:
        """Jobs in groups by texts of flat properties, with totals of others; see ``flat``.

        Documents that columns do not decide are given to ``add``, and are in no group. None where
        columns cannot tell.
        """
        return flat.totals(self.engine, self.packing, how, by, of, add, self.sums)

    def flat_rows(self, how: QueryPlan, names: Sequence[str]) -> Iterator[Texts | Stored] | None:
        """The texts of flat properties of each job of a plan; see ``flat``.

        Documents that columns do not decide are given themselves. None where columns do not have
        these properties as texts.
        """
        return flat.rows(self.engine, self.packing, how, names)

    def flat_rows_of(
        self, id_: str, reach: Reach, names: Sequence[str]
    ) -> list[Texts | Stored] | None:
        """The same of the jobs with an Id, as far as ``reach`` covers them."""
        return flat.named(self.engine, self.packing, id_, reach, names)

    def compared(
        self, what: QueryPlan | str, *, effective: bool = False, deleted: bool = False
    ) -> Iterator[tuple[Stored, bool]]:
        """Every document, each with whether it is among those of a plan, or of an Id.

        For those who want to see with their own eyes that no other document is meant.
        """
        return lookup.compared(
            self.engine, self.packing, what, effective=effective, deleted=deleted
        )  # fmt: skip

    def rows(
        self,
        names: Sequence[str],
        where: Condition = TRUE,
        *,
        sort: Sequence[tuple[str, bool]] = (),
        limit: int | None = None,
        offset: int = 0,
        deleted: bool = False,
    ) -> Iterator[Row]:
        """These columns of every job that meets a condition, in the order of the store.

        The columns are ``document`` (its number), ``deleted``, and those of ``columns``. ``sort``
        names columns to sort by first, each with whether it descends. Without ``deleted``, jobs
        of deleted documents are passed over.
        """
        chosen = where if deleted else all_of(where, Compare("deleted", Op.EQ, 0))
        condition = sql(chosen, self.engine.dialect)
        order = [f"{quoted(name)}{' DESC' if down else ''}" for name, down in sort]
        order += map(quoted, ("document", "place", "reading"))
        window = "" if limit is None and not offset else " LIMIT ? OFFSET ?"
        bounds = (LARGEST if limit is None else limit, offset) if window else ()
        yield from self.engine.stream(
            f"SELECT {listed(tuple(names))} FROM job WHERE {condition.text} "
            f"ORDER BY {', '.join(order)}{window}",
            (*condition.values, *bounds),
        )

    def run(
        self,
        question: Question,
        *,
        effective: bool = False,
        places: bool = True,
        trace: Trace | None = None,
        on_error: OnError | None = None,
        on_difference: OnDifference | None = None,
    ) -> Iterator[Match]:
        """What a query finds in each document, in the order of the store, as of one moment.

        The answers are those of ``question.run`` on the documents; ``count()`` and ``sum()`` of
        paths from the document are asked of the store as a whole, and so is all else that later
        versions of XPath work out from paths. ``effective`` asks jobs with
        their defaults applied. Without ``places`` a match knows its text, not where it stands;
        where columns have the texts, no document is opened for them. ``trace`` is told what was
        done. Raises ``DamagedStore``, ``LimitExceeded`` or ``UnreadableDocument`` for a document
        that cannot be asked, or hands it to ``on_error`` and goes on. With ``on_difference`` every
        document is asked, and it is told where columns say something else.
        """
        answers = self._answers(question, effective, trace, on_error, on_difference)
        whole = _over_all(question, answers)
        return answers.matches(places=places) if whole is None else whole

    def made(
        self,
        question: Question,
        here: Callable[[Iterator[Match]], Iterator[T]],
        elsewhere: Callable[[Iterator[PackedRows]], Iterator[T]],
        *,
        effective: bool = False,
        places: bool = True,
        trace: Trace | None = None,
        on_error: OnError | None = None,
        on_difference: OnDifference | None = None,
    ) -> Iterator[T]:
        """What ``here`` makes of the matches of ``run``.

        Where every answer comes from documents, ``elsewhere`` makes the same of these, in parts
        that travel: other processes can ask them (``PackedRows.documents``).
        """
        answers = self._answers(question, effective, trace, on_error, on_difference)
        whole = _over_all(question, answers)
        if whole is not None:
            return here(whole)
        return answers.made(here, elsewhere, places=places)

    def how_many(
        self,
        question: Question,
        *,
        effective: bool = False,
        trace: Trace | None = None,
        on_error: OnError | None = None,
        on_difference: OnDifference | None = None,
    ) -> int:
        """How many matches of a query are true; where columns decide, no document is opened."""
        answers = self._answers(question, effective, trace, on_error, on_difference)
        whole = _over_all(question, answers)
        if whole is not None:
            return sum(match.is_true for match in whole)
        return answers.how_many()

    def explain(self, question: Question, *, effective: bool = False) -> list[Explanation]:
        """How a query is answered: its plan, or those of the paths whose totals it is made of."""
        return explain(self.engine, question, effective=effective)

    def reads_documents(self, question: Question) -> bool:
        """Whether columns cannot count the matches of a query: each document has to be asked."""
        is_one = total(question) is not None or question.has_one_answer
        return not is_one and plan(question.plain or question).path is None

    def differ(self, difference: Difference) -> None:
        """Log that columns say something else than a document."""
        LOGGER.error("%s: %s", self.address, difference)

    def versions(
        self, identity: Identity | str, *, on_error: lookup.OnDamage | None = None,
        newest: int | None = None, deleted: bool | None = False,
    ) -> list[Stored]:  # fmt: skip
        """Every version of a document, the first one first; an empty list if there is none.

        Which document is as for ``get``. With ``newest`` only so many, which is at least one.

        One that is damaged raises ``DamagedStore``, or goes to ``on_error``; then it stands in the
        list with an empty document.
        """
        present = lookup.find(self.engine, identity, deleted=deleted)
        if present is None:
            return []
        former = lookup.former(self.engine, present[0], None if newest is None else newest - 1)
        return [
            lookup.stored(row, self.packing, self.address, on_error) for row in (*former, present)
        ]

    def first_kept(self, stored: Stored) -> int:
        """When the first version of a document was kept, in seconds since 1970."""
        [(at,)] = self.engine.fetch(
            "SELECT min(c.at) FROM change AS c WHERE c.number IN "
            "(SELECT change FROM former WHERE document = ? AND version = 1 UNION ALL "
            "SELECT change FROM document WHERE number = ? AND version = 1)",
            (stored.number, stored.number),
        )
        return stored.at if at is None else int(at)

    def changes(self, *, since: int = 0, by: str = "") -> Iterator[Event]:
        """What happened, first things first: each version of each document, with who made it.

        ``since`` is a time in seconds since 1970-01-01T00:00:00Z; ``by`` leaves the others out.
        """
        for row in self.engine.stream(lookup.EVENTS, (since, by, by)):
            name, id_, run, version, at, who, source, reason, deleted = row
            identity = Identity(name, id_, run)
            yield Event(identity, version, at, who, source, reason, bool(deleted))

    def noted(self, name: str) -> str | None:
        """A small fact that a change noted beside the documents, or None."""
        return lookup.noted(self.engine, name)

    def notes(self, begin: str) -> dict[str, str]:
        """The small facts whose names begin so, in order of their names."""
        return lookup.notes(self.engine, begin)

    def answered(self, kind: str, mark: str, since: float) -> str | None:
        """What was answered to a message of a kind since a time; None if it was not, or not yet."""
        return lookup.answered(self.engine, kind, mark, since)

    def was_answered(self, mark: str, since: float) -> bool:
        """Whether a message with this mark was answered since a time."""
        found = self.engine.fetch(
            "SELECT 1 FROM answer WHERE at >= ? AND mark = ? LIMIT 1", (math.floor(since), mark)
        )
        return bool(found)

    def is_first(self, kind: str, mark: str, until: float) -> bool:
        """Note that a message came, until a time; whether nobody had noted it.

        A machine that loses its power may forget it, and everything else that ends does not.
        """
        return bool(
            self.engine.fetch_early(
                "INSERT INTO answer (job, mark, at, text) VALUES (?, ?, ?, '') "
                "ON CONFLICT (job, mark) DO NOTHING RETURNING 1",
                (kind, mark, math.ceil(until)),
            )
        )

    def prune(self, *, quotes: int | None, answers: int) -> int:
        """Forget quotes and reservations that ended, and answers that were given, before a time.

        What is noted of requests (``OF_REQUESTS``) that came before both is forgotten with the
        quotes; None forgets answers only. Times are in seconds since 1970; how many entries of
        the ledger those were is given.
        """
        with self.engine.transaction():
            self.engine.hold("prune answers")
            self.engine.fetch("DELETE FROM answer WHERE at < ?", (answers,))
        if quotes is None:
            return 0
        for begin in OF_REQUESTS:
            self._forget_notes(begin, min(quotes, answers))
        return self.ledger.prune(quotes)

    # decision 1015
    def _forget_notes(self, begin: str, before: int) -> None:
        """Forget notes whose names begin so, of changes before a time.

        They are looked for while others may write; one that is noted anew meanwhile stays.
        """
        values = begin, f"{begin[:-1]}!", before, _FORGOTTEN  # by bytes, "!" is behind " "
        is_all = False
        while not is_all:
            old = [*self.engine.fetch(_OLD_NOTES, values)]
            is_all = len(old) < _FORGOTTEN
            if old:  # else others that write are not waited for
                with self.engine.transaction():
                    self.engine.hold("prune notes")
                    self.engine.many("DELETE FROM note WHERE name = ? AND change = ?", old)

    def statistics(self) -> Statistics:
        """The store in numbers."""
        return upkeep.statistics(self.engine, self.packing)

    def check(self, *, on_progress: Callable[[int], None] | None = None) -> Iterator[Fault]:
        """What is not as it was written: in the database, in each document, and in its rows.

        ``on_progress`` is told how many documents were looked at.
        """
        return upkeep.check(self.engine, self.packing, on_progress)

    def compact(self, *, on_progress: Callable[[int], None] | None = None) -> None:
        """Make the store small: a new dictionary, every version packed with patience, no gaps.

        It may be interrupted at any time, and others may read and write meanwhile.
        """
        upkeep.compact(self.engine, self.packing, on_progress)

    def _answers(
        self, question: Question, effective: bool, trace: Trace | None,
        on_error: OnError | None, on_difference: OnDifference | None,
    ) -> StoreAnswers:  # fmt: skip
        counted = Trace() if trace is None else trace
        told = on_difference or (self.differ if self.verifies else None)
        asked = question.plain or question
        return StoreAnswers(self.engine, self.packing, asked, effective, counted, on_error, told)

    def _stored(self, row: Row) -> Stored:
        return lookup.stored(row, self.packing, self.address)


def _over_all(question: Question, answers: StoreAnswers) -> Iterator[Match] | None:
    """The one answer of a query that is about the whole store; None where each document has its."""
    whole = total(question)
    if whole is not None:
        return _total(whole, answers)
    if not question.has_one_answer:
        return None
    from sssjob.store import gathered  # importing elementpath takes half a second

    return gathered.matches(question, answers)


def _total(whole: Total, answers: StoreAnswers) -> Iterator[Match]:
    """The one answer of a query that is made of totals."""

    def value(what: str, part: Question) -> float:
        asked = answers._replace(question=part)
        return float(asked.how_many()) if what == "count" else asked.total()

    yield whole.match(value)
