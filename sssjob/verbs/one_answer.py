"""The one answer of many documents (XPath 2.0 and later), whose parts processes gather.

Each process keeps what the parts of the expression find in its share of the documents; that is put
together in their order, and the answer is worked out here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO

from sssjob.document.batches import Batch, Located
from sssjob.document.outermost import Wanted
from sssjob.document.reader import SharedPart, in_parts, on_parts, on_whole, whole_in_parts
from sssjob.document.sources import NamedSource
from sssjob.errors import LimitExceeded, SSSJobError, UnreadableDocument
from sssjob.query import Match, Question
from sssjob.query.xpath2 import XPath2Query
from sssjob.query.xpath2.gathering import GatheredValues, Gathering
from sssjob.workers import Workers

Gathered = dict[str, GatheredValues]
Events = list[Gathered | SSSJobError]
Tell = Callable[[Any], None]


def answered(
    question: Question, effective: bool, source: NamedSource, stream: BinaryIO,
    workers: Workers[Any, Any], on_error: Tell,
) -> Iterator[Match]:  # fmt: skip
    """The one answer about a source, if it holds no documents; none where a fault is told."""
    assert isinstance(question, XPath2Query)
    supply = _OfParts(_Parts(question, effective), source, stream, workers)
    return question.gathered(supply, on_error)


def part_work(question: Question, effective: bool) -> Callable[[SharedPart], Events | None]:
    """What gathers in a part of a source, in another process."""
    assert isinstance(question, XPath2Query)
    parts = _Parts(question, effective)
    return on_parts(parts.in_batch) if parts.streams else on_whole(parts.in_documents)


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of a question, asked of some of the documents."""

    question: XPath2Query
    effective: bool

    @property
    def streams(self) -> bool:
        """Whether they are asked of one job object after the other."""
        alone = self.question.only_part
        return alone is not None and alone.streams

    def in_batch(self, _: str, batch: Batch) -> Events:
        """What the only part finds in job objects."""
        alone = self.question.only_part
        assert alone is not None
        return self._only(partial(alone.batch_asker(self.effective, places=False), batch))

    def in_documents(self, _: str, documents: Sequence[Located]) -> Events:
        """What the parts find in documents, each a whole tree."""
        if (alone := self.question.only_part) is not None:
            return self._only(partial(alone.of_documents, documents, self.effective, False))

        def keep(found: Gathered, tell: Tell) -> None:
            for each in documents:
                self.question.keep(each, found, self.effective, tell)

        return self._gathered(keep)

    def _only(self, matches: Callable[[Tell], Iterator[Match]]) -> Events:
        def keep(found: Gathered, tell: Tell) -> None:
            for each in found.values():
                each.add(matches(tell))

        return self._gathered(keep)

    def _gathered(self, keep: Callable[[Gathered, Tell], None]) -> Events:
        how = self.question.gathering
        assert how is not None
        events: Events = []
        found = how.kept()
        try:
            keep(found, events.append)
        except LimitExceeded as error:
            events.append(error)
        return [*events, found]


@dataclass(frozen=True, slots=True)
class _OfParts:
    """What processes gather in the documents of a source, which is read once."""

    parts: _Parts
    source: NamedSource
    stream: BinaryIO
    workers: Workers[Any, Any]

    @property
    def holds_all(self) -> bool:
        """No document is held."""
        return False

    def gathered(self, how: Gathering, on_error: Tell) -> tuple[Mapping[str, list[Any]], list[Any]]:
        """What the parts give, by their variables. Raises ``LimitExceeded``."""
        whole = how.kept()
        for event in (event for events in self._events(on_error) for event in events):
            if isinstance(event, UnreadableDocument):
                on_error(event)
            elif isinstance(event, SSSJobError):
                raise event
            else:
                for name, found in event.items():
                    whole[name].merge(found)
        return {name: each.items for name, each in whole.items()}, []

    def _events(self, on_error: Tell) -> Iterable[Events]:
        name, given = self.source.name, self.source.given
        if self.parts.streams:
            return in_parts(
                name, given, self.stream, self.workers, self.parts.in_batch, on_error=on_error,
                wanted=Wanted.DOCUMENTS,
            )  # fmt: skip
        return whole_in_parts(
            name, given, self.stream, self.workers, self.parts.in_documents, on_error=on_error,
            known=self.parts.question.known,
        )  # fmt: skip
