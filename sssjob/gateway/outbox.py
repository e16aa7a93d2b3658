"""The queue of jobs to be forwarded, in a file: what stands there survives every crash."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sssjob.errors import UnusableStore

_APPLICATION = 0x73734F42  # "ssOB"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS job (
    key TEXT PRIMARY KEY, fields TEXT NOT NULL, state TEXT NOT NULL, tries INTEGER NOT NULL,
    added REAL NOT NULL, due REAL NOT NULL, said TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS job_due ON job (due) WHERE state IN ('waiting', 'unknown');
CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
"""
_COLUMNS = "key, fields, state, tries, added, due, said"
_ADD = (
    f"INSERT INTO job ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
    "fields = excluded.fields, state = excluded.state, due = excluded.due, said = excluded.said, "
    "added = excluded.added WHERE job.state = 'incomplete' OR (job.fields <> excluded.fields AND "
    "(job.state = 'refused' OR (job.state = 'waiting' AND (job.tries = 0 OR ?))))"
)


class ParcelState(StrEnum):
    """How far a job is. ``unknown`` was sent, and nobody knows whether it arrived.

    ``incomplete`` does not say what has to be sent; it may be put into the queue again.
    """

    WAITING = "waiting"
    SENDING = "sending"
    UNKNOWN = "unknown"
    SENT = "sent"
    REFUSED = "refused"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class Parcel:
    """A job on its way: its fields, and how often it was tried.

    ``added`` and ``due`` are in seconds since 1970; ``said`` is why it is not there yet.
    """

    key: str
    fields: tuple[tuple[str, str], ...]
    state: ParcelState
    tries: int
    added: float
    due: float
    said: str


class Outbox:
    """The queue in a file, which is made if it is new. Raises ``UnusableStore``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.exists() and not path.is_file():  # SQLite would leave its log beside a device
            raise UnusableStore(str(path), "no regular file, as a queue is")
        self._lock = threading.Lock()
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            known = self._connection.execute("PRAGMA application_id").fetchone()[0]
            if known not in (0, _APPLICATION):
                raise UnusableStore(str(path), "a database, but no queue of jobs to forward")
            self._connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            self._connection.executescript(_SCHEMA)
        except sqlite3.Error as error:
            raise UnusableStore(str(path), f"cannot be opened as a queue: {error}") from error

    def close(self) -> None:
        """End the use of the file."""
        self._connection.close()

    def add(
        self, key: str, fields: Sequence[tuple[str, str]], now: float, *, hindrance: str = "",
        certain: bool = True,
    ) -> bool:  # fmt: skip
        """Put a job into the queue; False if it has been there before, and nothing has changed.

        What nobody has yet follows its job: what was refused, and what waits. Of what was tried,
        that is known where ``certain``. With a ``hindrance`` it is only shown, until it comes
        without one.
        """
        state = ParcelState.INCOMPLETE if hindrance else ParcelState.WAITING
        row = (key, json.dumps(fields), state, 0, now, now, hindrance, certain)
        return self._do(_ADD, row)

    def drop(self, key: str) -> None:
        """Forget a job that was only shown, since nothing is to be sent of it any more."""
        self._do("DELETE FROM job WHERE key = ? AND state = ?", (key, ParcelState.INCOMPLETE))

    def due(self, now: float) -> Iterator[Parcel]:
        """What is to be tried now, the longest due first."""
        condition = (
            "state IN ('waiting', 'unknown') AND due <= ? ORDER BY due, added, key LIMIT 100"
        )
        yield from self._parcels(condition, now)

    def left(self) -> Iterator[Parcel]:
        """What has not arrived."""
        yield from self._parcels("state <> 'sent' ORDER BY added, key")

    def move(self, parcel: Parcel, state: ParcelState, *, due: float = 0.0, said: str = "") -> None:
        """A job goes on to another state; each time that it is sent is a try."""
        self._do(
            "UPDATE job SET state = ?, tries = tries + ?, due = ?, said = ? WHERE key = ?",
            (state, int(state is ParcelState.SENDING), due, said, parcel.key),
        )

    def recover(self, state: ParcelState, due: float) -> None:
        """What was being sent when a process ended goes to this state."""
        self._do("UPDATE job SET state = ?, due = ? WHERE state = 'sending'", (state, due))

    def counts(self) -> dict[ParcelState, int]:
        """How many jobs are in each state."""
        with self._lock:
            rows = self._connection.execute("SELECT state, count(*) FROM job GROUP BY state")
            return {ParcelState(state): count for state, count in rows.fetchall()}

    def fact(self, name: str) -> str | None:
        """A fact that was kept, or None."""
        with self._lock:
            found = self._connection.execute("SELECT value FROM fact WHERE name = ?", (name,))
            row = found.fetchone()
        return row[0] if row else None

    def keep(self, name: str, value: str) -> None:
        """Keep a fact beside the jobs."""
        self._do("INSERT OR REPLACE INTO fact (name, value) VALUES (?, ?)", (name, value))

    def _parcels(self, condition: str, *values: float) -> list[Parcel]:
        with self._lock:
            statement = f"SELECT {_COLUMNS} FROM job WHERE {condition}"
            rows = self._connection.execute(statement, values).fetchall()
        return [
            Parcel(key, tuple(map(tuple, json.loads(fields))), ParcelState(state), *rest)
            for key, fields, state, *rest in rows
        ]

    def _do(self, statement: str, values: Sequence[object]) -> bool:
        with self._lock:
            return self._connection.execute(statement, tuple(values)).rowcount > 0
