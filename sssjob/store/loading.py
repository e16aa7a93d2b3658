"""Documents on their way into a store: one, or millions of them.

What is read becomes ready to be written, with the rows of its jobs. A source is loaded in batches,
each of which is there whole or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeGuard

from sssjob.document import Source, dumps
from sssjob.document.places import local
from sssjob.document.slices import Slice, slices
from sssjob.document.tree import OnError
from sssjob.errors import BusyStore, UnreadableDocument, finding
from sssjob.model import Block
from sssjob.store import columns, opening, packing
from sssjob.store.columns import BOTH, GROUP, NAMES, SEPARATOR
from sssjob.store.engine import Engine, Row
from sssjob.store.identity import Marks, identify
from sssjob.store.packing import NO_DICTIONARY, Packing
from sssjob.store.rows import rows
from sssjob.store.stored import Counts
from sssjob.store.writing import HistoryEntry, Incoming, Outcome, Writer
from sssjob.units import XML_SPACE

_DOCUMENTS, _BYTES = 2000, 8 << 20  # of a batch, at the most
_TRIES = 5  # for a batch that stood in the way of another writer's
_ODD, _READING, _KIND = map(NAMES.index, (columns.ODD, columns.READING, columns.KIND))
_ID, _GLOBAL_ID, _SUBMITTED, _STARTED = (
    NAMES.index(columns.name_of(path)) for path in ("Id", "GlobalId", "SubmitTime", "StartTime")
)


def load(
    engine: Engine,
    packing_: Packing,
    source: Source,
    entry: HistoryEntry,
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
                packing.learn(engine, packing_, [each.document for each in batch])
            if len(batch) == _DOCUMENTS and not engine.fetch("SELECT 1 FROM document LIMIT 1"):
                # Sorted once they are all there, indexes take less time and less room.
                opening.drop_indexes(engine)
            total += _written(engine, packing_, batch, entry)
            if on_batch is not None:
                on_batch(total + Counts(bad=bad))
    finally:
        opening.make_indexes(engine)
        if total.new:
            engine.observe()
    return total + Counts(bad=bad)


def incoming(cut: Slice) -> Incoming:
    """A Job or JobGroup that was cut out of its source, ready to be written.

    Raises ``UnreadableDocument`` for one that has no Id (SSS 4.1, 5.1).
    """
    name = local(cut.element)
    found = rows(cut.element)
    id_, marks = told(found[0]) or identify(cut.element, name)
    if not id_:
        raise UnreadableDocument(finding("E-MISSING", f"a {name} without an Id", line=cut.line))
    return Incoming(name, id_, marks, cut.document, found)


def told(row: Row) -> tuple[str, Marks] | None:
    """What ``identify`` says, as far as the row of a document tells without doubt, else None.

    It was read already, and reading it again would cost as much as compressing the document.
    """
    if row[_ODD] or row[_READING] != BOTH:
        return None
    id_, global_id = str(row[_ID] or ""), str(row[_GLOBAL_ID] or "")
    submitted, started = row[_SUBMITTED], row[_STARTED]
    if SEPARATOR in id_ or SEPARATOR in global_id:  # there are several
        return None
    if row[_KIND] == GROUP:
        return id_.strip(XML_SPACE), Marks()
    if not (_is_whole(submitted) and _is_whole(started)):
        return None
    times = (f"{value:.0f}" if value is not None else "" for value in (submitted, started))
    return id_.strip(XML_SPACE), Marks(global_id.strip(XML_SPACE), *times)


def only(document: Block | bytes) -> Incoming:
    """The one Job or JobGroup of a document. Raises ``UnreadableDocument``."""
    data = document if isinstance(document, bytes) else dumps(document).encode()
    found = list(slices(data))
    if len(found) != 1:
        message = f"{len(found)} job objects where one is due"
        raise UnreadableDocument(finding("E-CARD", message))
    return incoming(found[0])


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


def _written(
    engine: Engine, packing_: Packing, batch: Sequence[Incoming], entry: HistoryEntry
) -> Counts:
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


def _is_whole(value: object) -> TypeGuard[float | None]:
    return value is None or (isinstance(value, float) and value.is_integer())
