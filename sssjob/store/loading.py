"""Documents by the million into a store: in batches, each of which is there whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sssjob.document import Source
from sssjob.document.slices import slices
from sssjob.document.tree import OnError
from sssjob.errors import BusyStore, UnreadableDocument
from sssjob.store import dictionaries, indexes
from sssjob.store.engine import Engine
from sssjob.store.history import Entry
from sssjob.store.packing import NO_DICTIONARY, Packing
from sssjob.store.reading import incoming
from sssjob.store.stored import Counts
from sssjob.store.writing import Incoming, Outcome, Writer

_DOCUMENTS, _BYTES = 2000, 8 << 20  # of a batch, at the most
_TRIES = 5  # for a batch that stood in the way of another writer's


def load(
    engine: Engine,
    packing_: Packing,
    source: Source,
    entry: Entry,
    *,
    on_error: OnError | None,
    on_batch: Callable[[Counts], None] | None,
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
        for batch in _batches(source, tell):
            if packing_.current == NO_DICTIONARY:
                dictionaries.learn(engine, packing_, [each.document for each in batch])
            if len(batch) == _DOCUMENTS and not engine.fetch("SELECT 1 FROM document LIMIT 1"):
                # Sorted once they are all there, indexes take less time and less room.
                indexes.drop(engine)
            total += _written(engine, packing_, batch, entry)
            if on_batch is not None:
                on_batch(total + Counts(bad=bad))
    finally:
        indexes.make(engine)
        if total.new:
            engine.observe()
    return total + Counts(bad=bad)


def _batches(source: Source, tell: OnError) -> Iterator[list[Incoming]]:
    batch: list[Incoming] = []
    size = 0
    for cut in slices(source, on_error=tell):
        try:
            batch.append(incoming(cut))
        except UnreadableDocument as error:
            tell(error)
            continue
        size += len(cut.document)
        if len(batch) == _DOCUMENTS or size > _BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _written(engine: Engine, packing_: Packing, batch: Sequence[Incoming], entry: Entry) -> Counts:
    for left in reversed(range(_TRIES)):
        try:
            with engine.transaction():
                written = Writer(engine, packing_).write(batch, entry)
        except BusyStore:
            entry.settle(committed=False)
            if not left:
                raise
        else:
            entry.settle(committed=True)
            break
    outcomes = [each.outcome for each in written]
    return Counts(*map(outcomes.count, (Outcome.NEW, Outcome.CHANGED, Outcome.UNCHANGED)))
