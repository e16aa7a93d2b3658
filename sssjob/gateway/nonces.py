"""Nonces that several processes remember together, in a file that lives as long as they do."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

from sssjob.errors import Refused
from sssjob.rmap.replay import Nonces, seen_before, too_many

_SCHEMA = """
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS nonce (mark BLOB PRIMARY KEY, until REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS nonce_until ON nonce (until);
"""
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

    def _remember(self, mark: tuple[str, str], now: float, until: float) -> None:
        try:
            self._prepare(now)
            digest = hashlib.blake2b("\0".join(mark).encode(), digest_size=16).digest()
            added = self._connection.execute(
                "INSERT OR IGNORE INTO nonce (mark, until) VALUES (?, ?)", (digest, until)
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
