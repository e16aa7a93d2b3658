"""Documents into a store: a source is loaded in batches, each there whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sssjob.document import Source
from sssjob.document.tree import OnError
from sssjob.errors import BusyStore, Finding, UnreadableDocument
from sssjob.store import opening, packing, reading
from sssjob.store.engine import Engine
from sssjob.store.packing import NO_DICTIONARY, Packing
from sssjob.store.reading import NamedReading
from sssjob.store.stored import Counts
from sssjob.store.writing import HistoryEntry, Incoming, Outcome, Writer

OnWarning = Callable[[Finding], None]

_DOCUMENTS, _BYTES = 2000, 8 << 20  # of a batch, at the most
_TRIES = 5  # for a batch that stood in the way of another writer's


def load(
    engine: Engine,
    packing_: Packing,
    source: Source,
    entry: HistoryEntry,
    *,
    on_error: OnError | None,
    on_batch: Callable[[Counts], None] | None,
    on_warning: OnWarning | None = None,
    by: NamedReading | None = None,
) -> Counts:
    """Write all job objects of a source, each batch in a transaction; see ``Store.load``."""
    bad = 0

    def tell(error: UnreadableDocument) -> None:
        nonlocal bad
        bad += 1
        if on_error is None:
            raise error
        on_error(error)

    total = Counts()
    try:
        for batch in _batches(reading.incomings(source, tell, packing_, by)):
            if packing_.current == NO_DICTIONARY:
                packing.learn(engine, packing_, [packing_.document(each.content) for each in batch])
            if len(batch) == _DOCUMENTS and not engine.fetch("SELECT 1 FROM document LIMIT 1"):
                # Sorted once they are all there, indexes take less time and less room.
                opening.drop_indexes(engine)
            counts, warnings = _written(engine, packing_, batch, entry)
            total += counts
            if on_warning is not None:
                for warning in warnings:
                    on_warning(warning)
            if on_batch is not None:
                on_batch(total + Counts(bad=bad))
    finally:
        opening.make_indexes(engine)
        if total.new:
            engine.observe()
    return total + Counts(bad=bad)


def _batches(found: Iterator[Incoming]) -> Iterator[list[Incoming]]:
    batch: list[Incoming] = []
    size = 0
    for each in found:
        batch.append(each)
        size += each.size
        if len(batch) == _DOCUMENTS or size > _BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _written(
    engine: Engine, packing_: Packing, batch: Sequence[Incoming], entry: HistoryEntry
) -> tuple[Counts, list[Finding]]:
    for left in reversed(range(_TRIES)):
        try:
            with engine.transaction():
                written = Writer(engine, packing_).write(batch, entry)
        except BusyStore:
            entry.ended(committed=False)
            if not left:
                raise
        else:
            entry.ended(committed=True)
            break
    outcomes = [each.outcome for each in written]
    counts = Counts(*map(outcomes.count, (Outcome.NEW, Outcome.CHANGED, Outcome.UNCHANGED)))
    warnings = [
        warning
        for incoming, known in zip(batch, written, strict=True)
        for warning in reading.left_out(incoming, known.missing)
    ]
    return counts, warnings
