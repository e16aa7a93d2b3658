"""The dictionaries of a store: each is trained on its documents, and stays as long as the store.

A dictionary is never taken away, even when no document needs it any more: another process may
be about to write with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from sssjob.store import packing, schema
from sssjob.store.engine import Engine, Row
from sssjob.store.packing import NO_DICTIONARY, NotUnpacked, Packing

_BATCH = 1000  # documents of one transaction
_SAMPLE = 5000  # documents that a dictionary is trained on


def packing_of(engine: Engine) -> Packing:
    """What packs with the newest dictionary of a store, and unpacks with all of them."""

    def fetch(number: int) -> bytes | None:
        found = engine.fetch("SELECT data FROM dictionary WHERE number = ?", (number,))
        return bytes(found[0][0]) if found else None

    [(newest,)] = engine.fetch("SELECT max(number) FROM dictionary")
    return Packing(newest or NO_DICTIONARY, fetch)


def learn(engine: Engine, packing_: Packing, documents: Sequence[bytes]) -> None:
    """Train a dictionary on documents and pack with it from now on, if there is enough to learn."""
    data = packing.train(documents)
    if data is not None:
        with engine.transaction():
            [number] = engine.numbers(schema.DICTIONARY, 1)
            engine.add(schema.DICTIONARY, [(number, data)])
        packing_.current = number


def sample(engine: Engine, packing_: Packing, count: int) -> Iterator[bytes]:
    """Documents from all over a store of so many; damaged ones are left out."""
    step = max(1, count // _SAMPLE)
    statement = "SELECT dictionary, data FROM document WHERE number % ? = 0"
    for dictionary, data in islice(engine.stream(statement, (step,)), _SAMPLE):
        try:
            yield packing_.unpack(dictionary, bytes(data))
        except NotUnpacked:
            continue


def repack(engine: Engine, packing_: Packing, on_progress: Callable[[int], None] | None) -> None:
    """Pack every version of every document anew, with the current dictionary and with patience."""
    done = 0
    for table, key in ((schema.DOCUMENT, "number"), (schema.FORMER, "document")):
        select = (
            f"SELECT {key}, version, dictionary, data FROM {table.name} "
            f"WHERE ({key}, version) > (?, ?) ORDER BY {key}, version LIMIT {_BATCH}"
        )
        # A version that somebody makes meanwhile is another one, and stays as it is.
        update = (
            f"UPDATE {table.name} SET dictionary = ?, data = ? "
            f"WHERE {key} = ? AND version = ? AND dictionary = ?"
        )
        last: tuple[int, int] = (0, 0)
        while batch := engine.fetch(select, last):
            with engine.transaction():
                engine.many(update, list(_repacked(packing_, batch)))
            last = batch[-1][0], batch[-1][1]
            done += len(batch)
            if on_progress is not None:
                on_progress(done)


def _repacked(packing_: Packing, batch: Sequence[Row]) -> Iterator[Row]:
    """What becomes smaller, as the update has it; what is damaged stays for whoever mends it."""
    for number, version, dictionary, data in batch:
        try:
            packed = packing_.pack_small(packing_.unpack(dictionary, bytes(data)))
        except NotUnpacked:
            continue
        if len(packed) < len(data):
            yield packing_.current, packed, number, version, dictionary
