"""What ``sssjob query`` asks: files, directories, globs, standard input and stores."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from sssjob.cli import common, progress, query_store, records
from sssjob.errors import UnreadableDocument, UnusableStore

if TYPE_CHECKING:
    from sssjob.document.sources import NamedSource
    from sssjob.query import Question
    from sssjob.query.forms import AnswerRow
    from sssjob.records.record import Bad, Noted
    from sssjob.verbs.ask import Asked, Asker

_LARGE = 64 << 20  # bytes from which a tree in memory is worth a notice
_SHOWN = 5  # names of skipped files that are printed


@dataclass
class SourcesQuery:
    """One query over all that the user named; what cannot be read is said and passed."""

    asked: Asked
    quiet: bool = False
    explain: bool = False
    processes: int = 1
    as_json: bool = False  # the explanation, for programs
    verify: bool = False  # ask the documents of stores, too, whatever their columns say
    differs: bool = field(default=False, init=False)
    failed: bool = field(default=False, init=False)
    _noticed: bool = field(default=False, init=False)
    _records: records.RecordMessages = field(default_factory=records.RecordMessages, init=False)

    @property
    def query(self) -> Question:
        """What is asked."""
        return self.asked.query

    def rows(self, files: tuple[str, ...]) -> Generator[AnswerRow, None, None]:
        """What is found in each source, in the order of their names."""
        with self.asked.workers(self.processes) as workers:
            for _, found in self._answers(files, workers):
                yield from found

    def count(self, files: tuple[str, ...], limit: int | None) -> int:
        """How many matches are true, at most ``limit``; a store counts without showing them."""
        total = 0
        with self.asked.workers(self.processes) as workers:
            for given, answers in self._answers(files, workers):
                if isinstance(given, query_store.NamedStore) and limit is None:
                    with self._told(given.name):
                        total += query_store.count(self, given, workers)
                    continue
                for found in answers:
                    total += found.is_true
                    if total == limit:
                        return total
        return total

    def _answers(
        self, files: tuple[str, ...], workers: Asker
    ) -> Iterator[tuple[NamedSource | query_store.NamedStore | None, Iterator[AnswerRow]]]:
        """The rows of each source, and of small files many at once."""
        for small, some in groupby(self._sources(files), self._is_small):
            if small:
                yield None, self._in_small(some, workers)
            else:
                for given in some:
                    yield given, self._in_source(given, workers)

    def _is_small(self, given: NamedSource | query_store.NamedStore) -> bool:
        from sssjob.document.sources import is_small

        if self.processes < 2 or self.explain or not self.asked.streams:
            return False
        return not isinstance(given, query_store.NamedStore) and is_small(given)

    def _in_small(self, some: Iterator[Any], workers: Asker) -> Iterator[AnswerRow]:
        def tell(source: NamedSource, error: Exception) -> None:
            with self._told(source.name):
                raise error

        with self._told(""):  # a query that cannot be asked
            yield from self.asked.in_small(some, tell, workers=workers)

    def _in_source(
        self, given: NamedSource | query_store.NamedStore, workers: Asker
    ) -> Iterator[AnswerRow]:
        with self._told(given.name):
            if isinstance(given, query_store.NamedStore):
                yield from query_store.rows(self, given, workers)
                return
            if self.explain:
                common.say(f"{common.name_of(given.name)}: {self.plan}")
            yield from self.asked.rows(
                given,
                lambda error: self._unreadable(given.name, error),
                opening=self._opened,
                workers=workers,
            )

    def _opened(self, given: NamedSource) -> AbstractContextManager[BinaryIO]:
        return progress.watched(given.given, Path(given.name).name, self._notice(given.name))

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        """Say what a source cannot be asked for, and go on with the next."""
        from sssjob.document.sources import UnusableSource
        from sssjob.query import NotAQuery

        try:
            yield
        except UnreadableDocument as error:
            self._unreadable(name, error)
        except (UnusableStore, UnusableSource) as error:
            self.fail(f"sssjob: error: {error}")
        except OSError as error:
            self.fail(f"sssjob: error: {common.reason(error)}")
        except NotAQuery as error:
            common.fail(error)

    @property
    def plan(self) -> str:
        """How a file is asked, in words."""
        if self.query.has_one_answer:
            return "one answer for all documents of this file"
        if self.query.obstacle:
            return f"each document as a whole tree, because {self.query.obstacle}"
        if self.asked.whole:
            return "each document as a whole tree, because a column or key looks around its match"
        return "streamed job by job"

    def _sources(self, files: tuple[str, ...]) -> Iterator[NamedSource | query_store.NamedStore]:
        from sssjob.document import sources
        from sssjob.verbs.documents import as_stream, recognised

        with ExitStack() as stack:  # what was opened to look at it
            for given in common.sources(sources.expanded(files)):
                if given.is_store:
                    yield query_store.NamedStore(given.name)
                    continue
                for source in self._documents(given):
                    found, source = recognised(source, stack)
                    yield as_stream(found, source, self._say) if found else source

    def _documents(self, given: NamedSource) -> Iterator[NamedSource]:
        """A file, those of a directory, of which the passed over are said, or a ledger's runs."""
        from sssjob.document import sources
        from sssjob.verbs.documents import inside

        if given.is_ledger:
            yield from inside(given)
            return
        skipped: list[Path] = []
        yield from sources.files(
            given,
            on_skipped=skipped.append,
            on_error=lambda error: self.fail(f"sssjob: error: {common.reason(error)}"),
        )
        if skipped and not self.quiet:
            common.say(_skipped(given.name, skipped))

    def _say(self, name: str, item: Bad | Noted) -> None:
        """What is to be said of records; a bad one could not be asked."""
        from sssjob.records.record import Bad

        self.failed = self.failed or isinstance(item, Bad)
        if isinstance(item, Bad) or not self.quiet:
            self._records(name, item)

    def _unreadable(self, name: str, error: UnreadableDocument) -> None:
        self.fail(str(error.finding.in_file(name)))

    def fail(self, message: str) -> None:
        """Say that something could not be asked; the rest goes on."""
        self.failed = True
        common.say(message)

    def _notice(self, name: str) -> Callable[[int], None] | None:
        """Say once that a large input has to be held in memory, when so much of it was read."""
        if self.asked.streams or self.quiet or self.explain:
            return None

        def tell(count: int) -> None:
            if count > _LARGE and not self._noticed:
                self._noticed = True
                where = common.name_of(name)
                common.say(
                    f"{where}: notice: this expression needs each document as a whole in memory; "
                    "one that names the job (//Job//Memory, not //Memory) is answered job by job"
                )

        return tell


def _skipped(name: str, files: list[Path]) -> str:
    shown = ", ".join(str(file.relative_to(name)) for file in files[:_SHOWN])
    more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
    where = common.name_of(name)
    return f"{where}: notice: not read, since named neither *.xml nor *.sss: {shown}{more}"
