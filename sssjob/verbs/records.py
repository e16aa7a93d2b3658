"""Records of all sources: what they become is given, what else is to be said of them is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Generic, TypeVar

from sssjob.document import opened as unpacked
from sssjob.document.sources import NamedSource, Opening, naming, opened
from sssjob.records.record import (
    Bad,
    Converted,
    ConvertedTogether,
    Noted,
    Outcome,
    RecordCounts,
    Skipped,
)

J = TypeVar("J")
T = TypeVar("T")

Tell = Callable[[str, Bad | Noted], None]  # what is to be said, and of which source


def nothing(name: str, item: Bad | Noted) -> None:
    """Tell nobody."""


class ToldOnce:
    """Whom to tell what there is to say, where all is read again: what was told is not again."""

    def __init__(self, tell: Callable[..., None]) -> None:
        self._tell, self._count, self._known = tell, 0, 0
        self._is_silent = False

    def __call__(self, *said: Any) -> None:
        """Say it, unless it was said."""
        self._count += 1
        if self._count > self._known and not self._is_silent:
            self._tell(*said)

    def begin(self, *, is_silent: bool) -> None:
        """All is read from its beginning; ``is_silent``: all was told."""
        self._known, self._count = max(self._known, self._count), 0
        self._is_silent = is_silent


class LastRecords(Generic[T]):
    """Marks what the last record of a source became, where this may be cut short.

    It hears what is told, and tells it.
    """

    def __init__(self, tell: Tell, mark: Callable[[T], T]) -> None:
        self._tell, self._mark = tell, mark
        self._cut: set[str] = set()

    def tell(self, name: str, item: Bad | Noted) -> None:
        """Hear what is told of a source."""
        if isinstance(item, Noted) and item.doubts:
            self._cut.add(name)
        self._tell(name, item)

    def marked(self, name: str, items: Iterable[T]) -> Iterator[T]:
        """What the records of a source became."""
        held: list[T] = []
        for item in items:
            yield from held
            held = [item]
        yield from map(self._mark, held) if name in self._cut else held
        self._cut.discard(name)


@dataclass(frozen=True, slots=True)
class RecordReading:
    """How sources are read, whom to tell of what, and how many records became what.

    ``opening`` opens them, so that a caller can show how far they are read; but for small files
    that other processes open themselves.
    """

    tell: Tell = nothing
    opening: Opening = opened
    counts: RecordCounts = field(default_factory=RecordCounts)

    def jobs(
        self, sources: Iterable[NamedSource], read: Callable[[BinaryIO], Iterator[Outcome[J]]]
    ) -> Iterator[J]:
        """The jobs of all sources, or their texts, as ``read`` gives them.

        Raises ``OSError``, ``UnusableSource`` and ``UnreadableDocument``, which name the source.
        """
        counts = self.counts
        for source in sources:
            with naming(source.name), self.opening(source) as raw, unpacked(raw) as stream:
                for outcome in read(stream):
                    if isinstance(outcome, Converted):  # as nearly all are
                        counts.converted += 1
                        counts.steps += outcome.steps
                        yield outcome.job
                        continue
                    counts.add(outcome)
                    if not isinstance(outcome, Skipped):
                        self.tell(source.name, outcome)

    def made(
        self, sources: Iterable[NamedSource], read: Callable[[BinaryIO], Iterator[Outcome[J]]]
    ) -> Iterator[tuple[str, Converted[J] | ConvertedTogether[J]]]:
        """The same, with names of sources, of a builder that may hand on many together."""
        for source in sources:
            with naming(source.name), self.opening(source) as raw, unpacked(raw) as stream:
                for outcome in self.counts.counting(read(stream)):
                    if isinstance(outcome, Bad | Noted):
                        self.tell(source.name, outcome)
                    elif not isinstance(outcome, Skipped):
                        yield source.name, outcome
