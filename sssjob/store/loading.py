"""Documents into a store: a source is loaded in batches, each there whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from sssjob.document import Source
from sssjob.document.tree import OnError
from sssjob.errors import Finding, UnreadableDocument, hand_over, unheard
from sssjob.store import lookup, opening, packing, reading
from sssjob.store.engine import Engine, tried
from sssjob.store.history import HistoryEntry
from sssjob.store.incoming import Incoming, Ready
from sssjob.store.packing import NO_DICTIONARY, Packing
from sssjob.store.reading import NamedReading, OnWarning
from sssjob.store.stored import Counts
from sssjob.store.writing import DocumentWriter, Outcome

if TYPE_CHECKING:
    from sssjob.store.used import Follow, JobUse

_DOCUMENTS, _BYTES = 2000, 8 << 20  # of a batch, at the most


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
    warn = on_warning or unheard

    def found(tell: OnError) -> Iterator[Incoming | Ready]:
        return reading.incomings(source, tell, packing_, by, warn)

    return _kept(engine, packing_, found, entry, on_error, on_batch, warn)


def keep(
    engine: Engine,
    packing_: Packing,
    documents: Iterable[Incoming | UnreadableDocument],
    entry: HistoryEntry,
    *,
    on_error: OnError | None,
    on_warning: OnWarning | None = None,
    follow: Follow | None = None,
) -> Counts:
    """Write documents that are ready, each batch in a transaction; see ``Store.keep``."""

    def found(tell: OnError) -> Iterator[Incoming | Ready]:
        for each in documents:
            if isinstance(each, UnreadableDocument):
                tell(each)
            else:
                yield each

    warn = on_warning or unheard
    return _kept(
        engine, packing_, found, entry, on_error, None, warn, keeps_former=True, follow=follow
    )


def _kept(
    engine: Engine, packing_: Packing, found: Callable[[OnError], Iterator[Incoming | Ready]],
    entry: HistoryEntry, on_error: OnError | None, on_batch: Callable[[Counts], None] | None,
    warn: OnWarning, *, keeps_former: bool = False, follow: Follow | None = None,
) -> Counts:  # fmt: skip
    bad = 0

    def tell(error: UnreadableDocument) -> None:
        nonlocal bad
        bad += 1
        hand_over(error, on_error)

    total = Counts()
    try:
        for batch in _batches(found(tell)):
            if packing_.current == NO_DICTIONARY:
                packing.learn(engine, packing_, batch.contents(packing_))
            if batch.count >= _DOCUMENTS and lookup.is_empty(engine):
                # Sorted once they are all there, indexes take less time and less room.
                opening.drop_indexes(engine)
            counts, warnings, used = _written(
                engine, packing_, batch, entry, keeps_former=keeps_former
            )
            if follow is not None:
                follow(used)
            total += counts
            for warning in warnings:
                warn(warning)
            if on_batch is not None:
                on_batch(total + Counts(bad=bad))
    finally:
        opening.make_indexes(engine)
        if total.new:
            engine.observe()
    return total + Counts(bad=bad)


class _WriteBatch:
    """What is written at once: documents one by one, and many that are ready, in their order."""

    def __init__(self) -> None:
        self.found: list[Incoming | Ready] = []
        self.count = self.size = 0

    def add(self, found: Incoming | Ready) -> None:
        """One more of them."""
        self.found.append(found)
        self.count += len(found.ids) if isinstance(found, Ready) else 1
        self.size += found.size

    def contents(self, packing_: Packing) -> list[bytes]:
        """The documents as they were read, of those that did not come ready."""
        one_by_one = (each for each in self.found if isinstance(each, Incoming))
        return [packing_.document(each.content) for each in one_by_one]

    def write(
        self, writer: DocumentWriter, entry: HistoryEntry
    ) -> tuple[list[Outcome], list[Finding]]:
        """Write them; what became of each, and what is told of their Files."""
        writer.keep_groups_still(brings_groups=any(map(_has_groups, self.found)))
        outcomes: list[Outcome] = []
        warnings: list[Finding] = []
        for kind, some in groupby(self.found, type):
            found: list[Any] = [*some]
            if kind is Ready:
                written = writer.write_ready(found, entry)
            else:
                written = writer.write(found, entry)
                for incoming, known in zip(found, written, strict=True):
                    if incoming.others or known.missing:
                        warnings += reading.left_out(incoming, known.missing)
            outcomes += [each.outcome for each in written]
        return outcomes, warnings


def _has_groups(found: Incoming | Ready) -> bool:
    return "JobGroup" in (found.names if isinstance(found, Ready) else (found.name,))


def _batches(found: Iterator[Incoming | Ready]) -> Iterator[_WriteBatch]:
    batch = _WriteBatch()
    for each in found:
        batch.add(each)
        if batch.count >= _DOCUMENTS or batch.size > _BYTES:
            yield batch
            batch = _WriteBatch()
    if batch.count:
        yield batch


def _written(
    engine: Engine,
    packing_: Packing,
    batch: _WriteBatch,
    entry: HistoryEntry,
    *,
    keeps_former: bool,
) -> tuple[Counts, list[Finding], Mapping[int, Sequence[JobUse]]]:
    def write() -> tuple[DocumentWriter, Sequence[Outcome], list[Finding]]:
        with engine.transaction():
            writer = DocumentWriter(engine, packing_, keeps_ended=True, keeps_former=keeps_former)
            outcomes, warnings = batch.write(writer, entry)
            writer.settle(entry)
        return writer, outcomes, warnings + writer.remarks

    writer, outcomes, warnings = tried(write, lambda: entry.ended(committed=False))
    entry.ended(committed=True)
    counts = Counts(*map(outcomes.count, (Outcome.NEW, Outcome.CHANGED, Outcome.UNCHANGED)))
    return counts, warnings, writer.used
