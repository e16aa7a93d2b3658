"""One query over whatever was named: documents, directories, records, stores and ledgers."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, BinaryIO

from sssjob.document import sources
from sssjob.document.sources import NamedSource, UnusableSource, is_small
from sssjob.errors import SSSJobError, UnreadableDocument, UnusableStore
from sssjob.verbs.ask import Asked
from sssjob.verbs.documents import (
    DocumentsOfRecords,
    as_stream,
    asked_runs,
    inside,
    named_format,
    recognised,
    untold,
)

if TYPE_CHECKING:
    from sssjob.query import Question
    from sssjob.query.forms import AnswerRow
    from sssjob.records.recognition import Recognised
    from sssjob.records.record import Bad, Noted, Options
    from sssjob.store import Store
    from sssjob.store.answers import Trace
    from sssjob.store.verifying import Difference, OnDifference
    from sssjob.verbs.ask import Asker

# Stores are imported where there is one: most sources are files.


class Listener:
    """Who hears what a query tells of its sources. This one raises what cannot be asked, and
    hears nothing else.
    """

    def looking(self, source: NamedSource) -> None:
        """A store, a file or a stream, or what is in it, is looked at next."""

    def not_asked(self, name: str, error: SSSJobError | OSError) -> None:
        """A source, or a document in it, cannot be asked; the rest goes on."""
        raise error

    def damaged(self, store: str, error: SSSJobError) -> None:
        """A document of a store cannot be asked; the rest goes on."""
        raise error

    def differs(self, store: Store, difference: Difference) -> None:
        """What the columns of a store say of a document is not what it says."""

    def of_record(self, name: str, item: Bad | Noted) -> None:
        """What is to be said of a record, of which a bad one was not asked, or of a directory."""

    def asking(self, source: NamedSource) -> None:
        """A file or stream is asked next."""

    def asking_store(self, store: Store) -> None:
        """A store is asked next."""

    def asked_store(self, store: Store, trace: Trace) -> None:
        """A store was asked, also where a limit ended it."""

    def asking_ledger(self, name: str, untold: Sequence[str]) -> None:
        """A ledger is asked next, whose runs do not tell some of the names that are asked for."""

    def asking_total(self, name: str) -> None:
        """A ledger is asked next for one value of all its runs."""

    def opened(self, source: NamedSource) -> AbstractContextManager[BinaryIO]:
        """The bytes of a source, as whoever listens wants them read: documents, or records."""
        return sources.opened(source)

    def adding(self, runs: NamedSource) -> AbstractContextManager[BinaryIO]:
        """The same, of a ledger's runs that are counted or added one by one."""
        return sources.opened(runs)


@dataclass(frozen=True, slots=True)
class SourcesQuery:
    """A query over many sources; what cannot be asked is told to ``listener``.

    So many ``processes`` read what can be cut. ``verify`` asks the documents of stores, too,
    whatever their columns say. ``by_itself`` opens each source here, also small ones, so that the
    listener hears of each. ``options`` say how records are read.
    """

    asked: Asked
    listener: Listener = field(default_factory=Listener)
    processes: int = 1
    verify: bool = False
    by_itself: bool = False
    options: Options | None = None

    def rows(self, named: Iterable[NamedSource]) -> Generator[AnswerRow, None, None]:
        """What is found in each source, in their order. Raises ``NotAQuery``."""
        with self.asked.workers(self.processes) as workers:
            for _, found in self._answers(named, workers):
                yield from found

    def count(self, named: Iterable[NamedSource], limit: int | None = None) -> int:
        """How many matches are true, at most ``limit``; a store counts without showing them.

        Raises ``NotAQuery``.
        """
        total = 0
        with self.asked.workers(self.processes) as workers:
            for source, answers in self._answers(named, workers):
                if source is not None and source.is_store and limit is None:
                    with self._telling(source.name):
                        total += self._count_in_store(source.name, workers)
                    continue
                for found in answers:
                    total += found.is_true
                    if total == limit:
                        return total
        return total

    def _answers(
        self, named: Iterable[NamedSource], workers: Asker
    ) -> Iterator[tuple[NamedSource | None, Iterator[AnswerRow]]]:
        """The rows of each source, and of small files many at once."""
        for small, some in groupby(self._sources(named), self._is_small):
            if small:
                yield None, self._in_small(some, workers)
            else:
                for source in some:
                    yield source, self._in_source(source, workers)

    def _is_small(self, source: NamedSource) -> bool:
        if self.processes < 2 or self.by_itself or not self.asked.is_shared:
            return False
        return not source.is_store and is_small(source)

    def _in_small(self, some: Iterator[NamedSource], workers: Asker) -> Iterator[AnswerRow]:
        def tell(source: NamedSource, error: Exception) -> None:
            with self._telling(source.name):
                raise error

        return self.asked.in_small(some, tell, workers=workers)

    def _in_source(self, source: NamedSource, workers: Asker) -> Iterator[AnswerRow]:
        with self._telling(source.name):
            if source.is_store:
                yield from self._in_store(source.name, workers)
            elif source.is_ledger:
                yield from self._in_ledger(source, workers)
            else:
                yield from self._in_documents(source, workers)

    def _in_documents(self, source: NamedSource, workers: Asker) -> Iterator[AnswerRow]:
        self.listener.asking(source)
        is_made = isinstance(source.given, DocumentsOfRecords)  # of what the listener opens itself
        yield from self.asked.rows(
            source,
            partial(self.listener.not_asked, source.name),
            opening=sources.opened if is_made else self.listener.opened,
            workers=workers,
        )

    def _in_ledger(self, source: NamedSource, workers: Asker) -> Iterator[AnswerRow]:
        from sssjob.store.totals import total

        self.listener.asking_ledger(source.name, untold(self.asked.query))
        whole = total(self.asked.query)
        if whole is None:
            yield from self._in_documents(asked_runs(source, self.asked.query), workers)
            return
        self.listener.asking_total(source.name)
        answer = iter((whole.match(partial(self._total, source)),))
        yield from self.asked.made(source.name, answer, partial(self.listener.damaged, source.name))

    def _total(self, ledger: NamedSource, what: str, part: Question) -> float:
        """What a part of a value of all runs is, over all of them."""
        from sssjob.store.totals import summed

        runs = asked_runs(ledger, part)
        with self.listener.adding(runs) as stream:
            return summed(what, part.run(stream, effective=self.asked.effective, places=False))

    def _in_store(self, name: str, workers: Asker) -> Iterator[AnswerRow]:
        with self._opened(name) as (jobs, arguments):
            yield from self.asked.stored(jobs, name, workers=workers, **arguments)

    def _count_in_store(self, name: str, workers: Asker) -> int:
        with self._opened(name) as (jobs, arguments):
            return self.asked.how_many(jobs, name, workers=workers, **arguments)

    @contextmanager
    def _opened(self, name: str) -> Iterator[tuple[Store, dict[str, Any]]]:
        """A store that is only read, and what else it is asked with."""
        from sssjob import store
        from sssjob.store.answers import Trace

        trace = Trace()
        with store.open(name, read_only=True) as jobs:
            self.listener.asking_store(jobs)
            try:
                yield (
                    jobs,
                    {
                        "on_error": partial(self.listener.damaged, name),
                        "trace": trace,
                        "on_difference": self._on_difference(jobs),
                    },
                )
            finally:  # also where a limit ends it
                self.listener.asked_store(jobs, trace)

    def _on_difference(self, jobs: Store) -> OnDifference | None:
        """What hears that columns and documents differ, where they are to be compared."""
        return partial(self.listener.differs, jobs) if self.verify or jobs.verifies else None

    @contextmanager
    def _telling(self, name: str) -> Iterator[None]:
        """Tell what a source cannot be asked for; the next one can."""
        try:
            yield
        except (UnreadableDocument, UnusableStore, UnusableSource, OSError) as error:
            self.listener.not_asked(name, error)

    def _sources(self, named: Iterable[NamedSource]) -> Iterator[NamedSource]:
        """What is asked: stores, and documents as files or streams."""
        with ExitStack() as stack:  # what was opened to look at it
            for given in named:
                if wanted := named_format(self.options):
                    self.listener.looking(given)
                    yield self._as_stream(wanted, given)
                    continue
                if given.is_store or given.is_ledger:
                    self.listener.looking(given)
                    yield given
                    continue
                for source in inside(given, self.listener.of_record):
                    self.listener.looking(source)
                    with self._telling(source.name):
                        found, source = recognised(source, stack, self.options)
                        yield self._as_stream(found, source) if found else source

    def _as_stream(self, found: Recognised, source: NamedSource) -> NamedSource:
        """Records as the documents that they become."""
        hears = self.listener
        return as_stream(found, source, hears.of_record, self.options, hears.opened)
