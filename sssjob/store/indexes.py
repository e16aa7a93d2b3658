"""The indexes of the rows: left out while a new store is filled, and made when they are missing.

A store without them answers the same, later. So an import that was killed leaves nothing to
repair: whoever opens the store for writing next makes them.
"""

from __future__ import annotations

from sssjob.store import schema
from sssjob.store.engine import Engine
from sssjob.store.sql import quoted

_LOCK = "indexes"


def make(engine: Engine) -> None:
    """Make the indexes that are missing."""
    if _all().keys() <= engine.indexes():
        return
    with engine.transaction():
        engine.hold(_LOCK)
        for name in sorted(_all().keys() - engine.indexes()):
            engine.fetch(_all()[name])


def drop(engine: Engine) -> None:
    """Take the indexes away for as long as many rows are added."""
    with engine.transaction():
        engine.hold(_LOCK)
        for name in _all():
            engine.fetch(f"DROP INDEX IF EXISTS {quoted(name)}")


def _all() -> dict[str, str]:
    """The statements that make them, by name."""
    found = {}
    for table in schema.tables():
        for names in table.indexes:
            found[schema.index_name(table, names)] = schema.create_index(table, names)
        for name in table.sparse:
            found[schema.index_name(table, (name,))] = schema.create_sparse_index(table, name)
    return found
