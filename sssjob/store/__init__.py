"""A store of job objects: documents kept as they were read, and a row of columns for each job.

One file by SQLite needs nothing installed; PostgreSQL serves many machines.

    with store.open("jobs.db", create=True) as jobs:
        with jobs.change(by="amy") as change:
            change.put(b"<Job><Id>PBS.1</Id><State>Idle</State></Job>")
        jobs.get("PBS.1").document
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike

from sssjob.addresses import is_store
from sssjob.store import opening, upkeep
from sssjob.store.answers import Trace
from sssjob.store.change import Change
from sssjob.store.identity import Identity
from sssjob.store.parts import KeptSums
from sssjob.store.plan import Level
from sssjob.store.sqlite import PATIENCE
from sssjob.store.store import ON, VERIFY, Store
from sssjob.store.stored import Counts, Event, Fault, Statistics, Stored
from sssjob.store.verifying import Difference

__all__ = [
    "Change",
    "Counts",
    "Difference",
    "Event",
    "Fault",
    "Identity",
    "Level",
    "Statistics",
    "Store",
    "Stored",
    "Trace",
    "is_store",
    "open",
    "upgrade",
]


def open(
    target: str | PathLike[str],
    *,
    create: bool = False,
    read_only: bool = False,
    by: str = "",
    patience: float = PATIENCE,
    sums: KeptSums | None = None,
) -> Store:
    """The store at a path, ``sqlite:PATH`` or ``postgresql://...``; made if ``create`` says so.

    ``by`` is who makes the changes, for the history. ``patience`` is how many seconds to wait for
    other writers. ``sums`` are those that another connection to it keeps.

    Raises ``UnusableStore``: there is none, it is none, it cannot be opened; and
    ``OtherStore`` for one of another version.
    """
    engine = opening.engine(target, create=create, read_only=read_only, patience=patience)
    try:
        if create:
            opening.prepare(engine)
        stated = opening.stated(engine)
        if not read_only:
            opening.make_indexes(engine)
        return Store(engine, by=by, verifies=stated.get(VERIFY) == ON, sums=sums)
    except BaseException:
        engine.close()
        raise


def upgrade(
    target: str | PathLike[str], *, on_progress: Callable[[int], None] | None = None
) -> bool:
    """Make the store of an older sssjob one of this; False if it is one already.

    All of it happens or nothing. ``on_progress`` is told how many documents are done. Raises
    ``OtherStore`` for a store of a newer sssjob, and ``UnusableStore`` as ``open`` does.
    """
    engine = opening.engine(target, create=False, read_only=False)
    try:
        done = upkeep.upgrade(engine, on_progress)
        opening.make_indexes(engine)
        return done
    finally:
        engine.close()
