"""A store of job objects: documents kept as they were read, and a row of columns for each job.

One file by SQLite needs nothing installed; PostgreSQL serves many machines.

    with store.open("jobs.db", create=True) as jobs:
        with jobs.change(by="amy") as change:
            change.put(b"<Job><Id>PBS.1</Id><State>Idle</State></Job>")
        jobs.get("PBS.1").document
"""

from __future__ import annotations

from os import PathLike

from sssjob.store import opening
from sssjob.store.answers import Trace
from sssjob.store.change import Change
from sssjob.store.identity import Identity
from sssjob.store.opening import is_address
from sssjob.store.sqlite import PATIENCE
from sssjob.store.store import Store
from sssjob.store.stored import Counts, Stored

__all__ = ["Change", "Counts", "Identity", "Store", "Stored", "Trace", "is_address", "open"]


def open(
    target: str | PathLike[str],
    *,
    create: bool = False,
    read_only: bool = False,
    by: str = "",
    patience: float = PATIENCE,
) -> Store:
    """The store at a path, ``sqlite:PATH`` or ``postgresql://...``; made if ``create`` says so.

    ``by`` is who makes the changes, for the history. ``patience`` is how many seconds to wait for
    other writers. Raises ``UnusableStore``: there is none, it is none, it cannot be opened; and
    ``OtherStore`` for one of another version.
    """
    engine = opening.engine(target, create=create, read_only=read_only, patience=patience)
    try:
        if create:
            opening.prepare(engine)
        opening.verify(engine)
        return Store(engine, by=by)
    except BaseException:
        engine.close()
        raise
