"""Asking documents by XPath: a match becomes its row where it is found, in any process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from sssjob.document.batches import Batch, Located
from sssjob.document.files import Source
from sssjob.document.outermost import Wanted
from sssjob.document.reader import (
    OfFiles,
    SharedPart,
    in_groups,
    in_parts,
    on_each_file,
    on_files,
    on_parts,
    on_whole,
    on_whole_files,
    whole_in_parts,
)
from sssjob.document.sources import Files, NamedSource, Opening, opened
from sssjob.errors import SSSJobError, UnreadableDocument, finding
from sssjob.query import Match, Question
from sssjob.query.forms import AnswerRow, FileMatch, Shape
from sssjob.workers import PartWork, Workers

if TYPE_CHECKING:
    from sssjob.store import Store
    from sssjob.store.answers import Trace
    from sssjob.store.documents import PackedRows
    from sssjob.store.verifying import OnDifference

    Asker = Workers["SharedPart | OfStore | Files", Any]

OnError = Callable[[UnreadableDocument], None]
OnDamage = Callable[[SSSJobError], None]
Events = list[AnswerRow | SSSJobError]


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, how it is asked (see ``Question.run``), and what becomes of its matches."""

    query: Question
    shape: Shape = field(default_factory=Shape)
    effective: bool = False
    places: bool = True
    whole: bool = False

    @property
    def streams(self) -> bool:
        """Whether it is asked of one job object after the other."""
        return self.query.streams and not self.whole

    @property
    def is_shared(self) -> bool:
        """Whether processes can share a source of many documents or job objects."""
        return not self.query.holds_documents

    def workers(self, processes: int) -> Asker:
        """So many processes that ask it, for a ``with`` block."""
        return Workers(PartWork("sssjob.verbs.ask:asker", (self,)), processes)

    def rows(
        self, source: NamedSource, on_error: OnError, *, opening: Opening = opened,
        workers: Asker | None = None,
    ) -> Iterator[AnswerRow]:  # fmt: skip
        """The rows of a source, in document order; by workers where it can be cut.

        Raises ``OSError``, ``NotAQuery``, and ``UnreadableDocument`` where nobody could go on.
        """

        def on_fault(error: SSSJobError) -> None:
            if not isinstance(error, UnreadableDocument):
                error = UnreadableDocument(finding("E-LIMIT", str(error)))
            on_error(error)

        with opening(source) as stream:
            if workers is None or workers.processes < 2 or not self.is_shared:
                matches = self.query.run(
                    stream, effective=self.effective, places=self.places, whole=self.whole,
                    on_error=on_error,
                )  # fmt: skip
                yield from self.made(source.name, matches, on_fault)
                return
            if self.query.has_one_answer:
                from sssjob.verbs import one_answer  # few expressions need elementpath

                answer = one_answer.answered(
                    self.query, self.effective, source, stream, workers, on_error
                )
                yield from self.made(source.name, answer, on_fault)
                return
            if self.streams:
                found = in_parts(
                    source.name, source.given, stream, workers, _on_batches(self),
                    on_error=on_error, wanted=Wanted.DOCUMENTS,
                )  # fmt: skip
            else:
                found = whole_in_parts(
                    source.name, source.given, stream, workers, _on_documents(self),
                    on_error=on_error, known=self.query.known,
                )  # fmt: skip
            for events in found:
                yield from _heard(events, on_fault)

    def in_small(
        self, sources: Iterable[NamedSource], on_error: Callable[[NamedSource, Exception], None], *,
        workers: Asker,
    ) -> Iterator[AnswerRow]:  # fmt: skip
        """The rows of small files, in their order, which workers open."""
        for source, found in in_groups(sources, workers):
            if isinstance(found, Exception):
                on_error(source, found)
            else:
                yield from _heard(found, partial(on_error, source))

    def stored(
        self, jobs: Store, name: str, on_error: OnDamage, *, workers: Asker,
        trace: Trace | None = None, on_difference: OnDifference | None = None,
    ) -> Iterator[AnswerRow]:  # fmt: skip
        """The rows of a store that is called so; by workers where its documents are asked.

        Raises ``UnusableStore``.
        """
        if workers.processes < 2:
            matches = jobs.run(
                self.query, effective=self.effective, places=self.places, trace=trace,
                on_error=on_error, on_difference=on_difference,
            )  # fmt: skip
            return self.made(name, matches, on_error)

        def here(matches: Iterator[Match]) -> Iterator[AnswerRow]:
            return self.made(name, matches, on_error)

        def elsewhere(parts: Iterator[PackedRows]) -> Iterator[AnswerRow]:
            for _, events in workers.in_order((OfStore(name, part) for part in parts), str):
                yield from _heard(events or [], on_error)

        return jobs.made(
            self.query, here, elsewhere, effective=self.effective, places=self.places,
            trace=trace, on_error=on_error, on_difference=on_difference,
        )  # fmt: skip

    def how_many(
        self, jobs: Store, name: str, on_error: OnDamage, *, workers: Asker,
        trace: Trace | None = None, on_difference: OnDifference | None = None,
    ) -> int:  # fmt: skip
        """How many matches in a store are true, which columns may know."""
        if workers.processes > 1 and jobs.reads_documents(self.query):
            counting = replace(self, shape=Shape(), places=False)
            rows = counting.stored(
                jobs, name, on_error, workers=workers, trace=trace, on_difference=on_difference
            )
            return sum(row.is_true for row in rows)
        return jobs.how_many(
            self.query, effective=self.effective, trace=trace, on_error=on_error,
            on_difference=on_difference,
        )  # fmt: skip

    def made(self, name: str, matches: Iterator[Match], on_error: OnDamage) -> Iterator[AnswerRow]:
        """Matches of a source as rows; one of which a column cannot be asked is told."""
        return self.shape.rows((FileMatch(name, match) for match in matches), on_error)


class OfStore(NamedTuple):
    """Documents of a store, on their way to who asks them, and what the caller calls it."""

    name: str
    packed: PackedRows

    def __str__(self) -> str:
        return str(self.packed)


def asker(asked: Asked) -> Callable[[SharedPart | OfStore | Files], Events | OfFiles | None]:
    """What makes rows of a part, or of small files, and of what cannot be asked in it.

    Of a part of what has one answer it gathers what the answer needs.
    """
    on_part: Callable[[SharedPart], Any]
    if asked.query.has_one_answer:
        on_part, on_small = _gathering(asked)
    elif asked.streams:
        ask = _on_batches(asked)
        on_part, on_small = on_parts(ask), on_files(ask, wanted=Wanted.DOCUMENTS)
    else:
        whole = _on_documents(asked)
        on_part, on_small = on_whole(whole), on_whole_files(whole, asked.query.known)

    def work(part: SharedPart | OfStore | Files) -> Events | OfFiles | None:
        if isinstance(part, Files):
            return on_small(part)
        if not isinstance(part, OfStore):
            return on_part(part)
        return _events(asked, part.name, partial(
            part.packed.matches, asked.query, effective=asked.effective, places=asked.places
        ))  # fmt: skip

    return work


def _gathering(
    asked: Asked,
) -> tuple[Callable[[SharedPart], Any], Callable[[Files], OfFiles]]:
    """What does so for a question that has one answer: of a small file it gives that."""

    from sssjob.verbs import one_answer

    def whole(name: str, source: Source) -> Events:
        run = partial(asked.query.run, source, effective=asked.effective, places=asked.places)
        return _events(asked, name, lambda tell: run(on_error=tell))

    return one_answer.part_work(asked.query, asked.effective), on_each_file(whole)


def _events(asked: Asked, name: str, matches: Callable[[OnDamage], Iterator[Match]]) -> Events:
    """The rows of what is found in some source, and in their turn the faults that are told."""
    events: Events = []
    for row in asked.made(name, matches(events.append), events.append):  # told as rows are made
        events.append(row)
    return events


def _on_batches(asked: Asked) -> Callable[[str, Batch], Events]:
    """What makes rows of a batch of some source, and of what cannot be asked in it."""
    ask = asked.query.batch_asker(asked.effective, asked.places)
    return lambda name, batch: _events(asked, name, partial(ask, batch))


def _on_documents(asked: Asked) -> Callable[[str, Sequence[Located]], Events]:
    """The same of documents of some source, each a whole tree."""
    query, effective, places = asked.query, asked.effective, asked.places
    return lambda name, some: _events(
        asked, name, partial(query.of_documents, some, effective, places)
    )


def _heard(events: Events, on_error: OnDamage) -> Iterator[AnswerRow]:
    """The rows of events; faults are told in their turn."""
    for event in events:
        if isinstance(event, AnswerRow):
            yield event
        else:
            on_error(event)
