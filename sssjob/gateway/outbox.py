"""The queue of jobs to be forwarded, in a file: what stands there survives every crash."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from sssjob.errors import UnusableStore

_APPLICATION = 0x73734F42  # "ssOB"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS job (
    key TEXT PRIMARY KEY, fields TEXT NOT NULL, state TEXT NOT NULL, tries INTEGER NOT NULL,
    added REAL NOT NULL, due REAL NOT NULL, said TEXT NOT NULL, charged TEXT NOT NULL DEFAULT '',
    later TEXT NOT NULL DEFAULT '', otherwise TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX IF NOT EXISTS job_due ON job (due) WHERE state IN ('waiting', 'unknown');
CREATE INDEX IF NOT EXISTS job_former ON job (due) WHERE state = 'former';
CREATE TABLE IF NOT EXISTS fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
"""
# Columns that files of older versions have not.
_ADDED = ("charged", "later", "otherwise")
_COLUMNS = "key, fields, state, tries, added, due, said, charged, otherwise, later"
# The other server does not have it; of what waits after a try that is known where it is certain.
_UNTOLD = (
    "(job.state IN ('incomplete', 'refused') OR "
    "(job.tries = 0 AND job.state IN ('waiting', 'unknown')) OR (job.state = 'waiting' AND ?))"
)
_ADD = (
    f"INSERT INTO job ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '') ON CONFLICT (key) "
    "DO UPDATE SET fields = excluded.fields, due = excluded.due, later = '', "
    "state = CASE WHEN job.state IN ('former', 'unknown') AND excluded.state = 'waiting' "
    "THEN 'unknown' "
    "ELSE excluded.state END, "
    "said = excluded.said, added = excluded.added, charged = excluded.charged, "
    "otherwise = excluded.otherwise "
    "WHERE job.state IN ('incomplete', 'former') OR ((job.fields <> excluded.fields OR "
    "job.charged <> excluded.charged OR job.otherwise <> excluded.otherwise) AND "
    f"{_UNTOLD})"
)
_DIFFERS = "(later <> '' OR otherwise <> '')"
_STATE = f"CASE WHEN state = 'sent' AND {_DIFFERS} THEN 'changed' ELSE state END"
# The other server may have got it from this queue.
_TOLD = "(state IN ('sending', 'sent') OR (state = 'unknown' AND tries > 0))"

D = TypeVar("D")


class ParcelState(StrEnum):
    """How far a job is. ``unknown`` was sent, perhaps from elsewhere: nobody knows if it arrived.

    ``incomplete`` does not say what has to be sent; it may be put into the queue again.
    ``changed`` is one that was sent, and says or costs something else here. ``former`` is over no
    more, and may have been sent from elsewhere when it was: that is asked, and it is not sent.
    """

    WAITING = "waiting"
    SENDING = "sending"
    UNKNOWN = "unknown"
    SENT = "sent"
    REFUSED = "refused"
    INCOMPLETE = "incomplete"
    CHANGED = "changed"
    FORMER = "former"


@dataclass(frozen=True, slots=True)
class Parcel:
    """A job on its way: its fields, and how often it was tried.

    ``added`` and ``due`` are in seconds since 1970; ``said`` is why it is not there yet.
    ``charged`` is what it was charged here when it was put in, "" for nobody knows; ``otherwise``
    is what was charged then otherwise than it is sent, until somebody has settled it.
    """

    key: str
    fields: tuple[tuple[str, str], ...]
    state: ParcelState
    tries: int
    added: float
    due: float
    said: str
    charged: str
    otherwise: str = ""


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
            there = {row[1] for row in self._connection.execute("PRAGMA table_info(job)")}
            for name in _ADDED:
                if name not in there:
                    self._connection.execute(
                        f"ALTER TABLE job ADD COLUMN {name} TEXT NOT NULL DEFAULT ''"
                    )
        except sqlite3.Error as error:
            raise UnusableStore(str(path), f"cannot be opened as a queue: {error}") from error

    def close(self) -> None:
        """End the use of the file."""
        self._connection.close()

    def add(
        self, key: str, fields: Sequence[tuple[str, str]], now: float, *, hindrance: str = "",
        certain: bool = True, charged: str = "", otherwise: str = "", wait: float = 0.0,
        asks: bool = False,
    ) -> bool:  # fmt: skip
        """Put a job into the queue; False if it has been there before, and nothing has changed.

        What nobody has yet follows its job: what was refused, and what waits. Of what was tried,
        that is known where ``certain``. With a ``hindrance`` it is only shown, until it comes
        without one. It is due after a ``wait`` of seconds. With ``asks`` the other server may have
        it from elsewhere; once that is so, it is so until the server was asked.
        """
        state = ParcelState.UNKNOWN if asks else ParcelState.WAITING
        state = ParcelState.INCOMPLETE if hindrance else state
        due, text = now + wait, json.dumps(fields)
        row = key, text, state, 0, now, due, hindrance, charged, otherwise, certain
        return self._do(_ADD, row)

    def add_former(
        self, key: str, fields: Sequence[tuple[str, str]], charged: str,
        state: ParcelState = ParcelState.SENT, due: float = 0.0,
    ) -> None:  # fmt: skip
        """Keep a job that was over once, unless it is here: as what another queue has sent.

        As ``FORMER`` it is what another one may have sent, as it was last.
        """
        row = key, json.dumps(fields), state, 0, due, due, "", charged, ""
        self._do(
            f"INSERT INTO job ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '') "
            "ON CONFLICT (key) DO UPDATE SET fields = excluded.fields, charged = excluded.charged "
            "WHERE job.state = 'former'",
            row,
        )

    def told(self, key: str) -> Parcel | None:
        """A job that the other server was told of, or may have been, as it was sent."""
        return next(iter(self._parcels(f"key = ? AND {_TOLD}", key)), None)

    def formers(self, begin: str) -> list[Parcel]:
        """The jobs whose keys begin so that are over no more, as another may have sent them."""
        bounds = begin, f"{begin}{chr(0x10FFFF)}"
        return self._parcels("key >= ? AND key < ? AND state = 'former'", *bounds)

    def within(self, begin: str) -> list[tuple[Parcel, bool]]:
        """The jobs whose keys begin so, each with whether the other server may have it."""
        condition = "key >= ? AND key < ?"
        bounds = begin, f"{begin}{chr(0x10FFFF)}"
        told = {each.key for each in self._parcels(f"{condition} AND {_TOLD}", *bounds)}
        return [(each, each.key in told) for each in self._parcels(condition, *bounds)]

    def documents(self, since: float, of: Callable[[Parcel], D | None]) -> Iterator[D]:
        """What is found ``of`` parcels that were moved since a time, or differ: each once."""
        key, seen = "", None
        while found := self._parcels(
            f"key > ? AND (due >= ? OR {_DIFFERS}) ORDER BY key LIMIT 1000", key, since
        ):
            for each in found:
                document = of(each)
                if document is not None and document != seen:
                    yield document
                seen = document
            key = found[-1].key

    def sent(self, id_: str) -> list[Parcel]:
        """The jobs of an Id of which it is known that they have arrived."""
        found = self._parcels("state = 'sent' AND instr(fields, ?)", json.dumps(id_))
        return [each for each in found if dict(each.fields).get("JobId") == id_]

    def differ(
        self, parcel: Parcel, said: str, fields: Sequence[tuple[str, str]], charged: str
    ) -> bool:
        """Keep how a job differs by now from what was sent; "" is not at all.

        Whether that is another difference than was known.
        """
        later = json.dumps({"said": said, "fields": fields, "charged": charged}) if said else ""
        return self._do(
            "UPDATE job SET later = ? WHERE key = ? AND later <> ?", (later, parcel.key, later)
        )

    def settle(self, id_: str) -> int:
        """Take jobs of an Id that have changed since for ones that were sent so; how many."""
        found = [each for each in self.left() if each.state is ParcelState.CHANGED]
        meant = [each.key for each in found if dict(each.fields)["JobId"] == id_]
        for key in meant:
            self._do(
                "UPDATE job SET fields = json_extract(later, '$.fields'), "
                "charged = json_extract(later, '$.charged'), later = '' "
                "WHERE key = ? AND later <> ''",
                (key,),
            )
            self._do("UPDATE job SET otherwise = '' WHERE key = ?", (key,))
        return len(meant)

    def drop(self, key: str, *, certain: bool) -> None:
        """Forget a job that nobody has yet, since nothing is to be sent of it any more.

        Of what was tried, that is known where ``certain``. What another may have sent is kept as
        ``FORMER``.
        """
        self._do("UPDATE job SET state = 'former' "
                 "WHERE key = ? AND state = 'unknown' AND tries = 0", (key,))  # fmt: skip
        self._do(f"DELETE FROM job WHERE key = ? AND {_UNTOLD}", (key, certain))

    def doubt(self, due: float) -> None:
        """Ask for what waits before it is sent: another copy of this queue may have sent it."""
        self._do("UPDATE job SET state = 'unknown', tries = 0, due = ?, said = '' "
                 "WHERE state IN ('waiting', 'sending', 'unknown', 'refused')", (due,))  # fmt: skip

    def forget(self, parcel: Parcel) -> None:
        """Forget a job that was asked for, and that nobody has."""
        self._do("DELETE FROM job WHERE key = ? AND state = 'former'", (parcel.key,))

    def known(self, parcel: Parcel, otherwise: str) -> None:
        """Another than this queue has sent a job, ``otherwise`` than it is; "" for not so."""
        said = ", ".join(filter(None, (parcel.otherwise, otherwise)))
        self._do("UPDATE job SET otherwise = ? WHERE key = ?", (said, parcel.key))

    def due(self, now: float) -> Iterator[Parcel]:
        """What is to be tried now, the longest due first; then what is only asked for."""
        for states in ("IN ('waiting', 'unknown')", "= 'former'"):
            condition = f"state {states} AND due <= ? ORDER BY due, added, key LIMIT 100"
            yield from self._parcels(condition, now)

    def left(self) -> Iterator[Parcel]:
        """What has not arrived, or not as it is now."""
        yield from self._parcels(f"state <> 'sent' OR {_DIFFERS} ORDER BY added, key")

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
            rows = self._connection.execute(f"SELECT {_STATE}, count(*) FROM job GROUP BY 1")
            return {ParcelState(state): count for state, count in rows.fetchall()}

    def count_sent(self) -> int:
        """How many jobs have arrived, as they are now or otherwise."""
        counts = self.counts()
        return counts.get(ParcelState.SENT, 0) + counts.get(ParcelState.CHANGED, 0)

    def fact(self, name: str) -> str | None:
        """A fact that was kept, or None."""
        with self._lock:
            found = self._connection.execute("SELECT value FROM fact WHERE name = ?", (name,))
            row = found.fetchone()
        return row[0] if row else None

    def keep(self, name: str, value: str) -> None:
        """Keep a fact beside the jobs."""
        self._do("INSERT OR REPLACE INTO fact (name, value) VALUES (?, ?)", (name, value))

    def _parcels(self, condition: str, *values: object) -> list[Parcel]:
        columns = _COLUMNS.replace("state", _STATE, 1)
        with self._lock:
            statement = f"SELECT {columns} FROM job WHERE {condition}"
            rows = self._connection.execute(statement, values).fetchall()
        found = []
        for key, fields, state, tries, added, due, said, charged, otherwise, later in rows:
            if state == ParcelState.CHANGED:
                said = ", ".join(filter(None, (otherwise, later and json.loads(later)["said"])))
            found.append(Parcel(
                key, tuple(map(tuple, json.loads(fields))), ParcelState(state), tries, added, due,
                said or otherwise, charged, otherwise,
            ))  # fmt: skip
        return found

    def _do(self, statement: str, values: Sequence[object]) -> bool:
        with self._lock:
            return self._connection.execute(statement, tuple(values)).rowcount > 0
