"""The record engine: a stream in a format that was declared, and what becomes of its records.

How it works, and why, is told in ``layout.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, BinaryIO, Generic, TypeVar

from sssjob.errors import InvalidValue
from sssjob.records.builders import Builder
from sssjob.records.clock import Clock
from sssjob.records.cutting import Settled
from sssjob.records.layout import Layout, Piece, Read, Reader, RecordRun, RunKey, Stretch
from sssjob.records.lines import clean
from sssjob.records.making import Maker, Plans
from sssjob.records.record import CUT_SHORT, Bad, Noted, Options, Outcome, Skipped
from sssjob.records.runs import Met, Once

P = TypeVar("P")
J = TypeVar("J")

_NOT_ENDED = "not ended"
_NOTHING: Settled = {}


class RecordEngine(Generic[P, J]):
    """Reads streams in one format, for one builder; what was learnt of one serves the next."""

    def __init__(self, layout: Layout, options: Options, builder: Builder[P, J]) -> None:
        """Raises ``InvalidValue`` for an unknown zone."""
        self._layout = layout
        self._options = options
        self._clock = Clock(options.zone, layout.untold)
        self._plans = Plans(layout, self._clock, builder)
        self._maker = Maker(self._plans, layout.span, layout.lasted)
        self._ends_in_record = True  # what was read last, but for notes, became a job

    def outcomes(
        self, stream: BinaryIO, first: int = 1, front: Sequence[tuple[int, bytes]] = (),
        met: Met | None = None, settled: Settled = _NOTHING,
    ) -> Iterator[Outcome[J]]:  # fmt: skip
        """What becomes of each record of a stream whose first line has this number.

        ``front`` are lines from further up that belong to it, and of those that are ``settled`` is
        known what they become; see ``Part``. Of runs that ``met`` knows nothing is
        made again. Raises ``UnusableInput`` where the stream is not in the format.
        """
        batches = self._layout.cut.batches(stream, first, self._options)
        return self.of_batches(batches, front, met, settled)

    def of_batches(
        self, cut: Iterable[Iterable[Piece]], front: Sequence[tuple[int, bytes]] = (),
        met: Met | None = None, settled: Settled = _NOTHING,
    ) -> Iterator[Outcome[J]]:  # fmt: skip
        """The same of pieces that were cut."""
        self._clock.begin()
        self._ends_in_record = True
        layout = self._layout
        options = self._options
        read = layout.reader(options, self._clock) if layout.reader else None
        folder = layout.folding.folder(options, self._plans) if layout.folding else None
        run = layout.run
        once = Once(layout, run, met, self._clock) if isinstance(run, RunKey) and met else None
        before = [(number, clean(raw)) for number, raw in front]
        batches: Iterable[Iterable[Piece]] = chain([before], cut)
        if settled:
            batches = (_settled(batch, settled) for batch in batches)
        for batch in batches:
            found = self._read(read, batch) if read else [*batch]
            yield from self._made(folder.take(found) if folder else Stretch.of(found), once)
        if folder:
            yield from self._made(folder.close(), once)

    def made(self, found: Sequence[Read]) -> Sequence[Outcome[J]]:
        """What becomes of what was read by other means, as documents are."""
        return self._made(Stretch.of(found), None)

    def _made(self, found: Stretch, once: Once | None) -> Sequence[Outcome[J]]:
        if self._options.ended_only:
            found = _ended(found)
        noted, ends_in_record = _end_of(found.items, self._ends_in_record)
        if once is not None:
            is_cut = noted is not None and (noted.doubts or ends_in_record)
            found = once.take(found, self._bad, is_cut=is_cut)
        outcomes = self._maker.outcomes(found)
        if once is not None and self._maker.bad:
            once.forget(found, self._maker.bad)
        _, self._ends_in_record = _end_of(outcomes, self._ends_in_record)
        if noted is not None and self._ends_in_record:  # decision 962
            outcomes[outcomes.index(noted)] = replace(noted, doubts=True)
        return [*self._clock.assumption(outcomes[0].line), *outcomes] if outcomes else ()

    def _bad(self, found: Stretch) -> Collection[int]:
        """The places of the records of a stretch that are bad."""
        self._maker.outcomes(found)
        return self._maker.bad

    def _read(self, read: Reader, batch: Iterable[Piece]) -> list[Any]:
        found: list[Any] = []
        clock = self._clock
        for piece in batch:
            if piece.__class__ is not tuple:
                found.append(piece)
                continue
            line, value = piece
            try:
                item = read(line, value)
            except InvalidValue as wrong:
                item = Bad(line, str(wrong))
            if clock.assumed:
                found += clock.assumption(line)
            if item.__class__ is list:
                found += item
            elif item is not None:
                found.append(item)
        return found


def _end_of(items: Sequence[Any], ends_in_record: bool) -> tuple[Noted | None, bool]:
    """What is said of a last line that was cut, and whether a record stands before it.

    ``ends_in_record`` is whether one stood before these items.
    """
    noted = None
    for item in reversed(items):
        if item.__class__ is not Noted:
            return noted, item.__class__ is not Bad and item.__class__ is not Skipped
        if item.message == CUT_SHORT:
            noted = item
    return noted, ends_in_record


def _settled(batch: Iterable[Piece], settled: Settled) -> Iterator[Piece]:
    """The same pieces, with what is known of some lines in their place."""
    for piece in batch:
        if piece.__class__ is RecordRun:
            yield from (settled.get(line[0], line) for line in piece.pieces())
        else:
            yield settled.get(piece[0], piece) if piece.__class__ is tuple else piece


def _ended(found: Stretch) -> Stretch:
    """The same, where records of jobs that have not ended are skipped."""
    instead: dict[int, list[Skipped]] = {
        place: [Skipped(found.items[place].line, _NOT_ENDED)]
        for place in found.made
        if not found.items[place].ended
    }
    for batch in found.batches:
        for at, ended in enumerate(batch.ended):
            if not ended:
                instead[batch.places[at]] = batch.skipped(at, _NOT_ENDED)
    return found.replaced(instead, {}) if instead else found
