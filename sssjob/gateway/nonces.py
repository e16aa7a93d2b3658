"""Nonces that several processes remember together.

Processes of one gateway have a file that lives as long as they do. Gateways over one store have
nothing else in common: there those of requests that change something are remembered.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sssjob.errors import Refused
from sssjob.handlers.stores import Stores
from sssjob.rmap.message import READING
from sssjob.rmap.replay import Nonces, mark_of, seen_before, too_many
from sssjob.rmap.responder import ReceivedRequest

_SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS nonce (mark BLOB PRIMARY KEY, until REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS nonce_until ON nonce (until);
"""
_KIND = "nonce"  # of the messages that are noted in a store
_OFTEN = 1000  # requests after which what is too old is forgotten
_PATIENCE = 10.0  # seconds to wait for other processes, which need microseconds


class SharedNonces(Nonces):
    """Nonces in a file, for every process that opens it.

    The file need not survive a crash of the machine, after which nothing from before is good; it
    survives the end of any process.
    """

    def __init__(
        self, path: Path, *, since: float, window: int = 300, required: bool = False,
        limit: int = 1_000_000,
    ) -> None:  # fmt: skip
        super().__init__(since=since, window=window, required=required, limit=limit)
        self._connection = sqlite3.connect(
            path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
        )
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.executescript(_SCHEMA)
        self._left = 0  # requests until the next time to forget

    def close(self) -> None:
        """End the use of the file."""
        self._connection.close()

    def _remember(self, mark: bytes, now: float, until: float) -> None:
        try:
            self._prepare(now)
            added = self._connection.execute(
                "INSERT OR IGNORE INTO nonce (mark, until) VALUES (?, ?)", (mark, until)
            )
        except sqlite3.OperationalError as error:  # others hold it, or the disk is full
            raise Refused("730", "The request cannot be told from a copy now") from error
        if not added.rowcount:
            raise seen_before()

    def _prepare(self, now: float) -> None:
        self._left -= 1
        if self._left > 0:
            return
        self._connection.execute("DELETE FROM nonce WHERE until < ?", (now,))
        [(count,)] = self._connection.execute("SELECT count(*) FROM nonce").fetchall()
        if count >= self.limit:
            raise too_many()
        self._left = _OFTEN


class StoredNonces:
    """The nonces of changes, in the store that they are made in.

    A copy of a question tells whoever has it nothing that the first answer did not; to remember
    it, too, each question would have to write. ``window`` is in seconds, as that of ``Nonces``.
    """

    def __init__(self, stores: Stores, window: int) -> None:
        self.stores, self.window = stores, window

    def admit(self, call: ReceivedRequest) -> None:
        """Remember a request that was verified. Raises ``Refused`` (424) for a copy."""
        asked = call.request
        if asked.action in READING or not call.proven or not asked.nonce or asked.time is None:
            return
        until = max(call.now, asked.time) + self.window
        with self.stores.use() as jobs:
            if not jobs.is_first(_KIND, mark_of(asked).hex(), until):
                raise seen_before()
