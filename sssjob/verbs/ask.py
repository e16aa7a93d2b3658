"""Asking documents by XPath: a match becomes its row where it is found, in any process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from sssjob.errors import UnreadableDocument
from sssjob.query import Match, Question
from sssjob.query.batches import Batch, Cutter
from sssjob.query.forms import Found, Row, Shape
from sssjob.query.parts import Part, worked
from sssjob.verbs.sources import Opening, Source, opened
from sssjob.workers import Work, Workers

OnError = Callable[[UnreadableDocument], None]
Events = list[Row | UnreadableDocument]


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

    def workers(self, processes: int) -> Workers[Part, Events | None]:
        """So many processes that ask it, for a ``with`` block."""
        return Workers(Work("sssjob.verbs.ask:asker", (self,)), processes)

    def rows(
        self, source: Source, on_error: OnError, *, opening: Opening = opened,
        workers: Workers[Part, Events | None] | None = None,
    ) -> Iterator[Row]:  # fmt: skip
        """The rows of a source, in document order; by workers where it can be cut.

        Raises ``OSError``, ``NotAQuery``, and ``UnreadableDocument`` where nobody could go on.
        """
        with opening(source) as stream:
            if workers is None or workers.processes < 2 or not self.streams:
                matches = self.query.run(
                    stream, effective=self.effective, places=self.places, whole=self.whole,
                    on_error=on_error,
                )  # fmt: skip
                yield from self.made(source.name, matches)
                return
            rest = partial(self._rest, source.name, on_error)
            try:
                for events in worked(source.name, source.given, stream, workers, rest):
                    for event in events:
                        if isinstance(event, Row):
                            yield event
                        else:
                            on_error(event)
            except UnreadableDocument as error:
                on_error(error)

    def made(self, name: str, matches: Iterator[Match]) -> Iterator[Row]:
        """Matches of a source as rows."""
        return self.shape.rows(Found(name, match) for match in matches)

    def _rest(
        self, name: str, on_error: OnError, cutter: Cutter, unread: Sequence[Batch]
    ) -> Iterator[Events]:
        located = cutter.going_on(unread, on_error)
        matches = self.query.of_units(located, self.effective, self.places, on_error)
        for row in self.made(name, matches):
            yield [row]


def asker(asked: Asked) -> Callable[[Part], Events | None]:
    """What makes rows of a part, and of what cannot be asked in it."""
    ask = asked.query.batch_asker(asked.effective, asked.places)

    def work(part: Part) -> Events | None:
        events: Events = []
        matches = ask(part, events.append)
        if matches is None:
            return None
        for row in asked.made(part.name, matches):  # among which faults are told
            events.append(row)
        return events

    return work
