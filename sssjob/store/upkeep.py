"""Looking after a store: in numbers, damage found, made smaller, brought up to this version."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice

from sssjob.errors import DamagedStore, OtherStore, UnreadableDocument
from sssjob.store import files, former_notes, lookup, opening, packing, schema, settling
from sssjob.store.columns import EFFECTIVE, JOB
from sssjob.store.engine import Engine, Row
from sssjob.store.history import HistoryEntry
from sssjob.store.identity import Identity
from sssjob.store.packing import Packing
from sssjob.store.reading import only
from sssjob.store.schema import listed
from sssjob.store.stored import Fault, Statistics, Stored
from sssjob.units import decimal

OnProgress = Callable[[int], None]  # told how many documents are done

# Columns of the ledger that came later, each with the first version that has it.
_LATER = {"begins": 7, "said": 9}
_ALL = 0  # stands for each document of a batch
_BATCH = 500  # documents whose rows are looked at together
_JOBS = f"FROM job WHERE kind = '{JOB}' AND reading <> {EFFECTIVE} AND deleted = 0"


def statistics(engine: Engine, packing_: Packing) -> Statistics:
    """A store in numbers."""
    [(documents, deleted, packed)] = engine.fetch(
        "SELECT count(*), count(CASE WHEN deleted > 0 THEN 1 END), sum(length(data)) FROM document"
    )
    [(versions,)] = engine.fetch("SELECT count(*) FROM former")
    [(trained,)] = engine.fetch("SELECT count(*) FROM dictionary")
    [(first, last)] = engine.fetch("SELECT min(at), max(at) FROM change")
    states = engine.fetch(f"SELECT state, count(*) {_JOBS} GROUP BY state")
    sizes = [len(document) for document in packing.sample(engine, packing_, documents)]
    mean = sum(sizes) / max(len(sizes), 1)
    return Statistics(
        documents=documents,
        jobs=sum(count for _, count in states),
        deleted=int(deleted or 0),
        versions=versions,
        size=engine.size(),
        documents_size=round(mean * documents),
        packed_size=int(packed or 0),
        dictionaries=trained,
        first_change=first,
        last_change=last,
        by_state=dict(sorted((state or "", count) for state, count in states)),
    )


def check(engine: Engine, packing_: Packing, on_progress: OnProgress | None) -> Iterator[Fault]:
    """Everything in a store that is not as it was written: see ``Store.check``."""
    for message in engine.damage():
        yield Fault(message)
    damaged: list[Fault] = []

    def tell(error: DamagedStore) -> None:
        identity = Identity(error.name, error.id, error.run) if error.version else None
        damaged.append(Fault(error.reason, identity, error.version))

    done = 0
    documents = lookup.each(engine, packing_, deleted=True, on_error=tell)
    while batch := list(islice(documents, _BATCH)):
        done += len(batch)
        while batch:
            found = [*_strayed(engine, batch)]
            wrong = {number for number, _ in found}
            if _ALL not in wrong:
                rest = [stored for stored in batch if stored.number not in wrong]
                found += _unsettled(engine, packing_, rest)
            batch = _changed(engine, packing_, batch, {number for number, _ in found})
            again = {stored.number for stored in batch}
            yield from (fault for number, fault in found if number not in again)
        if on_progress is not None:
            on_progress(done)
    for _ in lookup.each_former(engine, packing_, tell):
        pass
    yield from damaged
    try:
        yield from map(Fault, files.damaged(engine, packing_))
    except DamagedStore as error:
        yield Fault(f"the Files cannot be read: {error.reason}")


def _changed(
    engine: Engine, packing_: Packing, batch: Sequence[Stored], numbers: Collection[int]
) -> list[Stored]:
    """Those of these numbers to which somebody wrote since they were read, as they are now.

    Rows and entries are read behind the documents, and are those of a later version there.
    """
    read = {stored.number: stored.version for stored in batch if stored.number in numbers}
    if not read:
        return []
    with engine.reading() as moment:
        now = lookup.numbered(engine, packing_, moment, sorted(read))
        return [stored for stored in now if stored.version != read[stored.number]]


def _strayed(engine: Engine, batch: Sequence[Stored]) -> Iterator[tuple[int, Fault]]:
    """The documents whose rows are not those that they would get today, by their numbers."""
    found: dict[int, list[tuple[str, ...]]] = defaultdict(list)
    condition, numbers = engine.among("document", [stored.number for stored in batch])
    names = schema.job().names
    try:
        for row in engine.fetch(f"SELECT {listed(names)} FROM job WHERE {condition}", (numbers,)):
            found[row[0]].append(_plain(row))
    except DamagedStore as error:
        said = f"the rows of {len(batch)} documents cannot be read: {error.reason}"
        yield _ALL, Fault(said)
        return
    for stored in batch:
        try:
            rows = _rows(stored)
        except UnreadableDocument as error:
            yield stored.number, _fault(stored, str(error))
            continue
        if sorted(found[stored.number]) != sorted(map(_plain, rows)):
            yield stored.number, _fault(stored, "its rows are not those of the document")


def _unsettled(
    engine: Engine, packing_: Packing, batch: Sequence[Stored]
) -> Iterator[tuple[int, Fault]]:
    """The documents with jobs whose Charge is not what their entries add up to, by number."""
    by = {stored.number: stored for stored in batch}
    try:
        found = list(settling.differences(engine, packing_, sorted(by)))
    except DamagedStore as error:
        said = f"the ledger of {len(batch)} documents cannot be read: {error.reason}"
        yield _ALL, Fault(said)
        return
    for each in found:
        said, entered = map(decimal, (each.said, each.entered))
        message = f"job {each.job} says that it was charged {said}, and the ledger {entered}"
        yield each.document, _fault(by[each.document], message)


def _rows(stored: Stored) -> list[Row]:
    """The rows of a document with all columns of their table. Raises ``UnreadableDocument``."""
    own = stored.number, int(stored.deleted)
    return [(*own, *row) for row in only(stored.document).rows]


def compact(engine: Engine, packing_: Packing, on_progress: OnProgress | None) -> None:
    """Pack every document anew, with a dictionary trained on all, and give back what is unused."""
    [(count,)] = engine.fetch("SELECT count(*) FROM document")
    packing.learn(engine, packing_, list(packing.sample(engine, packing_, count)))
    packing.repack(engine, packing_, on_progress)
    engine.shrink()


def upgrade(engine: Engine, on_progress: OnProgress | None) -> bool:
    """Make a store of an older sssjob one of this; False if it is one already.

    The rows are made anew from the documents, all of them or none. Raises ``OtherStore`` for one
    of a newer sssjob, and ``DamagedStore`` if a document cannot be read.
    """
    try:
        opening.stated(engine)
    except OtherStore as error:
        if not error.can_upgrade:
            raise
    else:
        return False
    table = schema.job()
    types, suffix = engine.types()
    packing_ = packing.packing_of(engine)
    with engine.transaction():
        engine.fetch("DROP TABLE job")
        _add_files(engine)
        _add_to_ledger(engine)
        engine.found(schema.tables())
        missing = [each for each in schema.tables() if not engine.has(each.name)]
        for each in missing:
            engine.fetch(schema.create(each, types, suffix if each.is_small else ""))
        for done, stored in enumerate(_all(engine, packing_), 1):
            engine.add(table, _rows(stored))
            engine.touch([stored.number])
            if on_progress is not None:
                on_progress(done)
        if schema.LEDGER in missing:
            former_notes.to_ledger(engine, packing_)
        # Up to version 6 it did not follow imports.
        numbers = [number for (number,) in engine.fetch("SELECT number FROM document")]
        entry = HistoryEntry(engine, by="", source="", reason=former_notes.UPGRADE)
        settling.settle(engine, packing_, entry, numbers)
        new = opening.settings()
        names, value = engine.among("name", list(new))
        engine.fetch(f"DELETE FROM setting WHERE {names}", (value,))
        engine.add(schema.SETTING, list(new.items()))
    return True


def _all(engine: Engine, packing_: Packing) -> Iterator[Stored]:
    """All documents, as the transaction that asks sees them."""
    select = f"{lookup.PRESENT}WHERE d.number > ? ORDER BY d.number LIMIT {_BATCH}"
    last = 0
    while batch := engine.fetch(select, (last,)):
        for row in batch:
            yield lookup.stored(row, packing_, engine.address)
        last = batch[-1][0]


def _add_files(engine: Engine) -> None:
    """Make the columns of Files, which stores of version 4 and before have not."""
    if engine.has(schema.FILE.name):
        return
    for table in (schema.DOCUMENT, schema.FORMER):
        engine.fetch(f"ALTER TABLE {table.name} ADD COLUMN files TEXT NOT NULL DEFAULT ''")


def _add_to_ledger(engine: Engine) -> None:
    """Make the columns that entries of ledgers of older versions have not."""
    [(version,)] = engine.fetch("SELECT value FROM setting WHERE name = 'version'")
    if not engine.has(schema.LEDGER.name):
        return
    types, _ = engine.types()
    for field in schema.LEDGER.fields:
        if opening.version_of(engine, version) < _LATER.get(field.name, 0):
            added = f"{field.name} {types[field.type]}"
            engine.fetch(f"ALTER TABLE ledger ADD COLUMN {added}")


def _plain(row: Row) -> tuple[str, ...]:
    """A row so that both databases give the same: one has 1 where another has 1.0 or -0.0."""
    return tuple(
        f"{value + 0.0:.17g}" if isinstance(value, (int, float)) else repr(value) for value in row
    )


def _fault(stored: Stored, message: str) -> Fault:
    said = f"{stored.identity}, version {stored.version}: {message}"
    return Fault(said, stored.identity, stored.version)
