"""One change of a store: all of it happens, or nothing, and who did it is kept."""

from __future__ import annotations

import time
from collections.abc import Sequence

from sssjob.document import text
from sssjob.model import Block
from sssjob.store import schema
from sssjob.store.engine import Engine
from sssjob.store.identity import Identity
from sssjob.store.packing import NotUnpacked, Packing
from sssjob.store.reading import incoming
from sssjob.store.stored import Stored
from sssjob.store.writing import Outcome, Present, Writer
from sssjob.errors import DamagedStore


class Change:
    """What is read and written within ``Store.change``; good until its block ends."""

    def __init__(
        self, engine: Engine, packing: Packing, *, by: str, source: str, reason: str
    ) -> None:
        self._engine, self._packing = engine, packing
        self._origin = by, source, reason
        self._writer = Writer(engine, packing)
        self._number: int | None = None
