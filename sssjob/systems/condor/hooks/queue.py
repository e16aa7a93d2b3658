"""The queue: which jobs may be given to slots, which were, and to whom. One file of SQLite.

It is the only thing from which jobs are handed out, and it stands in a directory into which nobody
writes but its owner. What the users of jobs report comes by another way, the ``spool``, and moves
only what the queue itself gave away.

A job has a key, a number that is never used again, and each time that it is given away is an
attempt; both together are its ticket, SSSKey in its ad. ``ready`` may be fetched, ``offered`` was
printed by fetch-work, ``accepted`` was taken by a startd, ``running`` was heard of since,
``returned`` came back and waits until its document is read again, ``waiting`` may not run yet,
with the reason, ``held`` could not be started too often, and ``done`` has ended.

An attempt that started nothing is a failure, one that was started and ended without a word a loss.
After each a job is given to no slot for a while, which doubles each time; after so many in a row it
is held. Of each attempt stands when and as whom
it was given away, and what the slot gave: so much is known of it whatever a report says.
"""

from __future__ import annotations

import _sqlite3  # what sqlite3 adds to it takes as long to import, and hooks start for every job
import fcntl
import os
import stat
import time
from contextlib import suppress

from sssjob.systems.condor.hooks import owners
from sssjob.systems.condor.hooks.place import (
    FILE,
    LOCK,
    UnsafeQueue,
    account_of,
    as_whom,
    check_former,
    clear_the_way,
    make,
    own,
    owner_of,
    status,
)
from sssjob.systems.condor.hooks.served import check_served
from sssjob.systems.condor.hooks.settings import GONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from sssjob.systems.condor.hooks.documents import Claim, Others
    from sssjob.systems.condor.hooks.settings import HookSettings

STATES = ("ready", "offered", "accepted", "running", "returned", "waiting", "held", "done")
READY, OFFERED, ACCEPTED, RUNNING, RETURNED, WAITING, HELD, DONE = STATES
TAKEN = (OFFERED, ACCEPTED, RUNNING)  # given away

LONGEST_PAUSE = 3600  # seconds that a job rests at most after an attempt that started nothing

_PATIENCE = 5.0  # seconds that another process may keep the file for itself
_MOST = 2**62
_PART = 100_000  # keys of a millisecond
FEW = 100  # jobs that are asked for in one go
_AMONG = "(SELECT value FROM json_each(?))"  # where one of several texts is meant
_ALL = "all"  # that every document was read again
_TRIES = 5  # at a file whose name is taken away between two steps
_AWAITED = "awaited "  # before a ticket: the note of which report waits for its job
_REFUSED = "refused {} {}"  # the note of a job and a slot that did not want it
_NOWHERE = "away/0/{}"  # no name of a document in a directory, and none of one in a store
_ATTEMPTS = """
CREATE TABLE attempt (
    key INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    at REAL NOT NULL,     -- when it was given away, in seconds since 1970
    owner TEXT NOT NULL,  -- as whom it runs
    gave TEXT NOT NULL,   -- attributes of what the slot gives, in the long form
    PRIMARY KEY (key, attempt)
) WITHOUT ROWID;
"""
_TOLD = """
ALTER TABLE attempt ADD COLUMN asks TEXT NOT NULL DEFAULT '';  -- of the job that was given away
ALTER TABLE attempt ADD COLUMN seen INTEGER NOT NULL DEFAULT 0;  -- whether a document tells of it
ALTER TABLE job ADD COLUMN eligible INTEGER NOT NULL DEFAULT 0;  -- from when on it may start
ALTER TABLE job ADD COLUMN deadline INTEGER NOT NULL DEFAULT 0;  -- by when it has to end, 0: none
ALTER TABLE job ADD COLUMN taken TEXT NOT NULL DEFAULT '';  -- which attempt runs, as a store tells
PRAGMA user_version = 4;
"""
_LOST = """
ALTER TABLE job ADD COLUMN losses INTEGER NOT NULL DEFAULT 0;  -- attempts in a row that were lost
PRAGMA user_version = 5;
"""
_PAST = """
CREATE TABLE past (         -- jobs that were given away, and whose documents went
    key INTEGER PRIMARY KEY,
    document TEXT NOT NULL,
    id TEXT NOT NULL,
    asks TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    heard REAL NOT NULL,
    given TEXT NOT NULL,
    at REAL NOT NULL        -- when it went, in seconds since 1970
);
CREATE INDEX past_same ON past (id, asks, at);
CREATE INDEX past_place ON past (document, at);
CREATE INDEX past_age ON past (at);
CREATE INDEX job_heard ON job (state, heard);
CREATE INDEX job_untold ON job (state) WHERE NOT told;
CREATE INDEX document_unread ON document (name) WHERE stamp = '';
DELETE FROM note WHERE name LIKE 'gone %';
PRAGMA user_version = 6;
"""
_BEHIND = """
ALTER TABLE attempt ADD COLUMN since REAL NOT NULL DEFAULT 0;  -- when the job came back before it
ALTER TABLE attempt ADD COLUMN heard REAL NOT NULL DEFAULT 0;  -- when, while another one was out
PRAGMA user_version = 7;
"""
_SCHEMA = (
    """
CREATE TABLE document (
    name TEXT PRIMARY KEY,
    stamp TEXT NOT NULL,   -- what changes when it does, empty if it is to be read again
    uid INTEGER NOT NULL   -- whose it is, whoever wrote it last
);
CREATE TABLE job (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    document TEXT NOT NULL,
    number INTEGER NOT NULL,  -- which job of its document, from 1
    label TEXT NOT NULL,      -- what people know it as
    id TEXT NOT NULL,
    priority INTEGER NOT NULL,
    submitted INTEGER NOT NULL,
    state TEXT NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 0,
    heard REAL NOT NULL DEFAULT 0,  -- when, in seconds since 1970
    owner TEXT NOT NULL,            -- as whom it runs, empty if the site says so
    given TEXT NOT NULL DEFAULT '', -- as whom it was given away last
    ads BLOB NOT NULL,              -- an ad for each alternative, best first
    reason TEXT NOT NULL,           -- why it waits
    failures INTEGER NOT NULL DEFAULT 0,  -- attempts in a row that started nothing
    rests REAL NOT NULL DEFAULT 0,        -- until when it is given to no slot, seconds since 1970
    told INTEGER NOT NULL DEFAULT 0,      -- whether its document says that it is held, or taken
    asks TEXT NOT NULL DEFAULT '',        -- what tells it from another in its place, if known
    UNIQUE (document, number)
);
CREATE INDEX job_order ON job (state, priority DESC, submitted, key);
CREATE TABLE note (name TEXT PRIMARY KEY, value TEXT NOT NULL, at REAL NOT NULL);
"""
    + _ATTEMPTS
    + _TOLD
    + _LOST
    + _PAST
    + _BEHIND
)
_VERSION = 7
# What files of the versions before lack.
_UPGRADES = {
    1: """
ALTER TABLE job ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN rests REAL NOT NULL DEFAULT 0;
""",
    2: """
ALTER TABLE job ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN asks TEXT NOT NULL DEFAULT '';
"""
    + _ATTEMPTS,
    3: _TOLD,
    4: _LOST,
    5: _PAST,
    6: _BEHIND,
}
_COLUMNS = (
    "key, document, number, label, id, state, attempt, owner, given, ads, reason, failures, rests,"
    " asks, eligible, deadline, taken, losses"
)


# The jobs of which something is to be heard now and then.
_HEARD_OF = (
    "state IN ('offered', 'running', 'accepted') AND (state != 'accepted'"
    " OR EXISTS (SELECT 1 FROM note WHERE name = 'updates'))"
)

# A job that was given away before, and is not now.
_CAME_BACK = "key = ? AND state IN ('ready', 'returned', 'held')"


class SpoolJob:
    """A job of the queue."""

    __slots__ = ("ads", "asks", "attempt", "deadline", "document", "eligible", "failures", "given",
                 "id", "key", "label", "losses", "number", "owner", "reason", "rests", "state",
                 "taken")  # fmt: skip

    def __init__(
        self, key: int, document: str, number: int, label: str, id_: str, state: str, attempt: int,
        owner: str, given: str, ads: bytes, reason: str, failures: int, rests: float,
        asks: str, eligible: int, deadline: int, taken: str, losses: int,
    ) -> None:  # fmt: skip
        self.losses = losses
        self.eligible, self.deadline, self.taken = eligible, deadline, taken
        self.key, self.document, self.number, self.label = key, document, number, label
        self.id, self.state, self.attempt = id_, state, attempt
        self.owner, self.given, self.ads, self.reason = owner, given, ads, reason
        self.failures, self.rests, self.asks = failures, rests, asks

    def untimely(self, now: float) -> str:
        """Why a job that may be fetched is not fetched at a moment, "" if it can be."""
        if self.eligible <= now and not 0 < self.deadline <= now:
            return ""
        from sssjob.units import iso

        if self.eligible > now:
            return f"its EligibleTime is {iso(self.eligible)}"
        return f"its DeadlineTime was {iso(self.deadline)}"

    @property
    def known_as(self) -> str:
        """The name by which machines that look at one store know the job, where it stands now."""
        return f"{self.document}#{self.id}" if self.id else self.label

    def others(self, own: Iterable[int]) -> Others:
        """What tells attempts of these machines from those of this queue, which are ``own``."""
        from sssjob.systems.condor import names
        from sssjob.systems.condor.hooks.documents import Others

        return Others(self.taken, {names.ticket(self.key, each) for each in own})

    def claim(self, attempt: int) -> Claim:
        """The claim of an attempt at the job, by which these machines know that it is taken."""
        from sssjob.systems.condor import names
        from sssjob.systems.condor.hooks.documents import Claim

        return Claim(self.known_as, names.ticket(self.key, attempt))


class Candidate:
    """A job as its document tells it: the state that it should have, and why.

    ``says_held`` is whether the document says that we hold it, which alone keeps no job back.
    ``whose`` is as whom it runs in whatever state, empty if the site says so, None if the document
    may not say it. ``runs`` is the key and the attempt of which the document says that it runs,
    ``began`` are those of which it tells a start and no end, ``last`` is the last attempt that it
    tells of, ``over`` are those of which it says that they ended.
    """

    __slots__ = ("ads", "asks", "began", "deadline", "eligible", "id", "last", "over", "owner",
                 "priority", "reason", "runs", "says_held", "state", "submitted", "taken",
                 "whose")  # fmt: skip

    def __init__(
        self, id_: str, state: str, *, owner: str = "", ads: bytes = b"", reason: str = "",
        priority: int = 0, submitted: int = 0, says_held: bool = False,
        eligible: int = 0, deadline: int = 0,
    ) -> None:  # fmt: skip
        self.eligible, self.deadline, self.taken = eligible, deadline, ""
        self.says_held, self.asks = says_held, ""
        self.whose: str | None = None
        self.runs: tuple[int, int] | None = None
        self.last = 0
        self.began: Sequence[tuple[int, int]] = ()
        self.over: Sequence[tuple[int, int]] = ()
        self.id, self.state, self.owner, self.ads, self.reason = id_, state, owner, ads, reason
        self.priority, self.submitted = priority, submitted


class Attempt:
    """When a job was given away, as whom, and what the slot gave, in the long form.

    ``gave`` is empty where the queue was lost, ``asks`` is what tells the job from another, empty
    where it was not noted, and ``is_seen`` says whether its document told of the attempt once.
    """

    __slots__ = ("asks", "at", "gave", "is_seen", "owner")

    def __init__(
        self, at: float, owner: str, gave: str, asks: str = "", seen: int = 0
    ) -> None:  # fmt: skip
        self.at, self.owner, self.gave = at, owner, gave
        self.asks, self.is_seen = asks, bool(seen)


class OpenQueue:
    """The queue of a directory, open for a block, and made if there is none.

    Root acts as the user to whom it belongs, or the jobs, if the site trusts that user: what root
    left there, that user could not change. Raises ``UnsafeQueue`` and ``OSError``.
    """

    __slots__ = ("_before", "_queue", "_settings")

    def __init__(self, settings: HookSettings) -> None:
        self._settings = settings
        self._queue: JobQueue | None = None
        self._before: tuple[int, list[int]] | None = None

    def __enter__(self) -> JobQueue:
        clear_the_way(self._settings)
        uid = as_whom(self._settings)
        if uid != os.geteuid():
            self._become(uid)
        try:
            self._queue = _opened(self._settings.state)
            try:
                check_served(self._settings)
            except UnsafeQueue as error:  # what it gave away before ends by its reports, too
                self._queue.refused = str(error)
        except OSError:
            if self._queue is not None:
                self._queue.close()
            self._restore()
            raise
        return self._queue

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._queue is not None:
            self._queue.close()
        self._restore()

    def _become(self, uid: int) -> None:
        user = account_of(uid)
        self._before = (os.getegid(), os.getgroups())
        os.initgroups(user.pw_name, user.pw_gid)
        os.setegid(user.pw_gid)
        os.seteuid(uid)

    def _restore(self) -> None:
        if self._before is not None:
            os.seteuid(0)
            os.setegid(self._before[0])
            os.setgroups(self._before[1])
            self._before = None


def _opened(state: str) -> JobQueue:
    make(state)
    path = os.path.join(state, FILE)
    if not os.path.lexists(path):
        check_former(state)
    queue = JobQueue(_connected(path), state)
    if queue.version() != _VERSION:
        with queue.changing():
            queue.begin()
    return queue


def copied(settings: HookSettings) -> JobQueue:
    """A copy of a queue in memory: what becomes of it changes nothing.

    Raises ``UnsafeQueue`` and ``OSError``.
    """
    copy = _sqlite3.connect(":memory:", isolation_level=None)
    path = os.path.join(settings.state, FILE)
    if (found := status(path)) is not None:
        _copy(path, found, copy, settings)
    queue = JobQueue(copy, "")
    queue.begin()
    return queue


def _copy(
    path: str, found: os.stat_result, copy: _sqlite3.Connection, settings: HookSettings
) -> None:
    if found.st_uid != owner_of(settings) or not stat.S_ISREG(found.st_mode):
        raise UnsafeQueue(f"{path} is not a file of the owner of {settings.state}")
    # What a hook that was killed had begun is taken back first, for which SQLite has to write.
    for mode in ("ro", "rw"):
        file = None
        try:
            file = _sqlite3.connect(
                _address(path, mode), timeout=_PATIENCE, isolation_level=None, uri=True
            )
            # A copy would wait for ever for a hook that stands still with the lock; this does not.
            file.execute("BEGIN")
            file.execute("SELECT count(*) FROM sqlite_master").fetchone()
            file.backup(copy)
            return
        except _sqlite3.Error as error:
            if mode == "rw" or error.sqlite_errorname != "SQLITE_READONLY_ROLLBACK":
                raise _unusable(path, error) from error
        finally:
            if file is not None:
                file.close()


def _connected(path: str) -> _sqlite3.Connection:
    """A connection with a file that is ours alone, which is made if there is none.

    SQLite makes none: others could read one whose name was taken away in that moment.
    """
    tries = _TRIES
    while True:
        own(path)
        tries -= 1
        try:
            found = _sqlite3.connect(
                _address(path, "rw"), timeout=_PATIENCE, isolation_level=None, uri=True
            )
            # Fewer waits for the disk, and a file that is whole after a crash.
            found.execute("PRAGMA journal_mode = TRUNCATE")
            found.execute("PRAGMA synchronous = NORMAL")
            return found
        except _sqlite3.Error as error:
            if not tries or error.sqlite_errorname != "SQLITE_CANTOPEN":
                raise _unusable(path, error) from error


def _address(path: str, mode: str) -> str:
    """The address of a file for SQLite, which makes none by it."""
    for letter in "%?#":
        path = path.replace(letter, f"%{ord(letter):x}")
    return f"file:{path}?mode={mode}"


def _unusable(path: str, error: _sqlite3.Error) -> UnsafeQueue:
    """Why a queue cannot be read or written, and what to do about one that is damaged."""
    is_damaged = error.sqlite_errorname.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT"))
    advice = "; put it away, and a new one is made of the documents" if is_damaged else ""
    if error.sqlite_errorname.startswith("SQLITE_BUSY"):
        advice = f"; another process has kept it for {_PATIENCE:g} s"
    return UnsafeQueue(f"{path}: {error}{advice}")


class JobQueue:
    """An open queue; ``state`` is its directory, an empty text for a copy in memory.

    ``refused`` is why it gives nothing away, "" if it does.
    """

    __slots__ = ("_connection", "refused", "state")

    def __init__(self, connection: _sqlite3.Connection, state: str) -> None:
        self._connection, self.state = connection, state
        self.refused = ""

    def close(self) -> None:
        """Let the file go."""
        self._connection.close()

    def run(self, statement: str, values: tuple[Any, ...] = ()) -> _sqlite3.Cursor:
        """Run a statement. Raises ``UnsafeQueue`` where the file does not allow it."""
        try:
            return self._connection.execute(statement, values)
        except _sqlite3.Error as error:
            raise _unusable(os.path.join(self.state, FILE), error) from error

    def version(self) -> int:
        """Of which version the file is; 0 if it has just been made."""
        return int(self.run("PRAGMA user_version").fetchone()[0])

    def begin(self) -> None:
        """Make the tables of a file that has none yet, and bring those of an earlier one up.

        Its maker may have been killed before there was anything in it. Raises ``UnsafeQueue`` for
        a file of a later version.
        """
        version = self.version()
        if not 0 <= version <= _VERSION:
            raise UnsafeQueue(f"{os.path.join(self.state, FILE)} is of another version of sssjob")
        scripts = [_UPGRADES[each] for each in range(version, _VERSION)] if version else [_SCHEMA]
        for statement in ";".join(scripts).split(";"):
            self.run(statement)
        if not version:
            # Where a queue was lost, jobs that it gave away may still be heard of: no key of this
            # one may be one of that.
            first = _first(time.time())
            self.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('job', ?)", (first,))
            self.run("INSERT INTO note VALUES ('made', '', ?)", (time.time(),))

    def changing(self) -> _Changing:
        """All or nothing of the changes in a block."""
        return _Changing(self)

    def alone(self, *, wait: bool = True) -> _Alone:
        """Be alone with the documents; another process that is at them is waited for.

        Without waiting, ``BlockingIOError`` is raised.
        """
        return _Alone(self.state, wait=wait)

    def jobs(self, *states: str) -> Iterator[SpoolJob]:
        """The jobs in some states: the highest priority first, then the oldest."""
        marks = ", ".join("?" * len(states))
        found = self.run(
            f"SELECT {_COLUMNS} FROM job WHERE state IN ({marks})"
            " ORDER BY priority DESC, submitted, key",
            states,
        )
        return (SpoolJob(*row) for row in found.fetchall())

    # decision 906
    def ready(self, now: float) -> Iterator[int]:
        """The keys of the jobs that may be fetched now, in the order of the queue.

        They are asked for a few at a time: most slots get the first one.
        """
        last: tuple[int, int, int] = (_MOST + 1, 0, 0)
        while True:
            found = self.run(
                "SELECT priority, submitted, key FROM job WHERE state = 'ready' AND priority <= ?"
                " AND (-priority, submitted, key) > (-?, ?, ?)"
                " AND max(rests, eligible) <= ? AND NOT (0 < deadline AND deadline <= ?)"
                " ORDER BY priority DESC, submitted, key LIMIT ?",
                (last[0], *last, now, now, FEW),
            ).fetchall()
            yield from (key for *_, key in found)
            if len(found) < FEW:
                return
            last = found[-1]

    def rested(self, now: float) -> float:
        """When the first of the jobs that rest, or wait for their time, may be fetched.

        In seconds since 1970; those whose time is over never may.
        """
        [moment] = self.run(
            "SELECT min(max(rests, eligible)) FROM job WHERE state = 'ready'"
            " AND (deadline <= 0 OR deadline > max(rests, eligible, ?))",
            (now,),
        ).fetchone()
        return float("inf") if moment is None else float(moment)

    def job(self, key: int) -> SpoolJob | None:
        """A job by its key."""
        row = self.run(f"SELECT {_COLUMNS} FROM job WHERE key = ?", (key,)).fetchone()
        return None if row is None else SpoolJob(*row)

    def claim(self, key: int, owner: str, now: float, gave: str) -> int | None:
        """Give a job away as one of a user: which attempt it is, None if another was faster.

        ``gave`` are the attributes of what the slot gives, in the long form.
        """
        with self.changing():
            before = self.run("SELECT heard FROM job WHERE key = ?", (key,)).fetchone()
            row = self.run(
                "UPDATE job SET state = 'offered', given = ?, attempt = max(?, 1 + max(attempt,"
                " (SELECT coalesce(max(attempt), 0) FROM attempt WHERE attempt.key = job.key))),"
                " heard = ?, told = 0 WHERE key = ? AND state = 'ready' RETURNING attempt, asks",
                (owner, int(now * 1000), now, key),
            ).fetchone()
            if row is None:
                return None
            attempt, asks = row
            self.run(
                "INSERT INTO attempt (key, attempt, at, owner, gave, asks, since)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (key, attempt, now, owner, gave, asks, *before),
            )
        return int(attempt)

    # decision 819
    def unclaim(self, job: SpoolJob, attempt: int, now: float) -> None:
        """Take an attempt back of which nobody was told; ``job`` is as it was before.

        It is ready again once its document has been read again.
        """
        with self.changing():
            self.run(
                "UPDATE job SET state = 'returned', attempt = ?, given = ?, heard = ?"
                " WHERE key = ? AND attempt = ? AND state = 'offered'",
                (job.attempt, job.given, now, job.key, attempt),
            )
            self.run("DELETE FROM attempt WHERE key = ? AND attempt = ?", (job.key, attempt))
            self._goes_on(job.key)
            self.read_again("?", job.document)

    def attempt(self, key: int, attempt: int) -> Attempt | None:
        """What is known of an attempt; None of one that an earlier version gave away."""
        row = self.run(
            "SELECT at, owner, gave, asks, seen FROM attempt WHERE key = ? AND attempt = ?",
            (key, attempt),
        ).fetchone()
        return None if row is None else Attempt(*row)

    def attempts(self, key: int) -> list[int]:
        """The attempts at a job that this queue knows, of which it gave the job away."""
        found = self.run("SELECT attempt FROM attempt WHERE key = ? AND gave != ''", (key,))
        return [attempt for (attempt,) in found.fetchall()]

    def gave(self, job: SpoolJob, attempt: int) -> bool:
        """Whether this queue gave a job away as this attempt; else only its document tells of it.

        Of those that an earlier version gave away the last one is known.
        """
        is_last = job.attempt == attempt and bool(job.given)
        return is_last or self.attempt(job.key, attempt) is not None

    def note_attempt(self, key: int, attempt: int) -> None:
        """Note that the document of a job tells of an attempt."""
        self.run("UPDATE attempt SET seen = 1 WHERE key = ? AND attempt = ?", (key, attempt))

    def move(
        self, key: int, attempt: int, before: Iterable[str], after: str, now: float, why: str = ""
    ) -> bool:
        """Take a job from one of some states to another; False if this attempt is not there."""
        among = tuple(before)
        done = self.run(
            "UPDATE job SET state = ?, heard = ?, reason = ? WHERE key = ? AND attempt = ?"
            f" AND state IN ({', '.join('?' * len(among))})",
            (after, now, why, key, attempt, *among),
        )
        return done.rowcount == 1

    def give_back(self, key: int, attempt: int, before: Iterable[str], now: float) -> bool:
        """Take a job back. It is ready again once its document has been read again."""
        with self.changing():
            if not self.move(key, attempt, before, RETURNED, now, "it was given back"):
                return False
            self.run("UPDATE attempt SET heard = 0 WHERE key = ?", (key,))
            self.read_again("(SELECT document FROM job WHERE key = ?)", key)
        return True

    def failed(
        self, key: int, attempt: int, now: float, why: str, pause: int, most: int | None
    ) -> str:
        """Take a job back that an attempt did not start: the state that it has then, or "".

        It runs where an attempt before this one was heard of meanwhile.

        It rests ``pause`` seconds, twice as long after each failure in a row; after ``most`` of
        them it is held, if that is a number.
        """
        with self.changing():
            after = self._count(key, attempt, now, why, pause, most, "failures")
            return RUNNING if after and self._goes_on(key) else after

    def _count(
        self, key: int, attempt: int, now: float, why: str, pause: int, most: int | None,
        counted: str,
    ) -> str:  # fmt: skip
        with self.changing():
            job = self.job(key)
            if job is None or job.attempt != attempt or job.state not in TAKEN:
                return ""
            count = int(getattr(job, counted)) + 1
            after = HELD if most is not None and count >= most else RETURNED
            rests = now + min(pause << min(count - 1, 20), LONGEST_PAUSE)
            if after == HELD:
                from sssjob.systems.condor.hooks.holds import reason  # most are not held

                why = reason(count, why)
            self.move(key, attempt, TAKEN, after, now, why)
            values = (count, rests, key)
            self.run(f"UPDATE job SET {counted} = ?, rests = ?, told = 0 WHERE key = ?", values)
            self.read_again("(SELECT document FROM job WHERE key = ?)", key)
        return after

    def rest(self, key: int, attempt: int, now: float, why: str, seconds: int) -> None:
        """Take back a job that cannot be given away for a while, through no fault of an attempt."""
        with self.changing():
            if self.move(key, attempt, TAKEN, RETURNED, now, why):
                self.run("UPDATE job SET rests = ? WHERE key = ?", (now + seconds, key))
                self._goes_on(key)
                self.read_again("(SELECT document FROM job WHERE key = ?)", key)

    # decision 816, 845
    def lost(
        self, key: int, attempt: int, now: float, why: str, pause: int, most: int | None
    ) -> str:
        """Take back a job that an attempt did start, and of which nothing is heard any more.

        It rests, also for a report that says that it runs after all, and is held as where attempts
        fail, but these are counted by themselves. Gives the state that it has then, or "".
        """
        with self.changing():
            after = self._count(key, attempt, now, f"it was lost: {why}", pause, most, "losses")
            if after:
                self.run("UPDATE job SET failures = 0 WHERE key = ?", (key,))
        return after

    # decision 815
    def refuse(self, key: int, attempt: int, slot: str, now: float, pause: int) -> bool:
        """Take back a job that a slot did not want, which is not given to that slot for a while.

        It rests ``pause`` seconds for that slot, twice as long after each time, and for no other.
        """
        with self.changing():
            if not self.move(key, attempt, [OFFERED], RETURNED, now, "a slot did not want it"):
                return False
            self.run("DELETE FROM note WHERE name LIKE 'refused %' AND at < ?",
                     (now - LONGEST_PAUSE,))  # fmt: skip
            name = _REFUSED.format(key, slot)
            found = self.run("SELECT value FROM note WHERE name = ?", (name,)).fetchone()
            count = int(found[0]) if found is not None else 0
            until = now + min(pause << min(count, 20), LONGEST_PAUSE)
            self.run("REPLACE INTO note VALUES (?, ?, ?)", (name, str(count + 1), until))
            self._goes_on(key)
            self.read_again("(SELECT document FROM job WHERE key = ?)", key)
        return True

    def is_refused(self, key: int, slot: str, now: float) -> bool:
        """Whether a slot did not want a job a moment ago."""
        values = (_REFUSED.format(key, slot), now)
        return bool(self.run("SELECT 1 FROM note WHERE name = ? AND at > ?", values).fetchone())

    def wake(self, key: int) -> None:
        """End the rest of a job."""
        self.run("UPDATE job SET rests = 0, failures = 0, losses = 0 WHERE key = ?", (key,))

    # decision 847
    def came_back(self, key: int) -> tuple[str, float] | None:
        """Where a job is that came back from its attempts, and since when; None if one is out."""
        row = self.run(f"SELECT state, heard FROM job WHERE {_CAME_BACK}", (key,))
        found: tuple[str, float] | None = row.fetchone()
        return found

    # decision 896
    def revive(self, key: int, attempt: int, since: float, now: float) -> bool:
        """Let a job that came back at a moment run after all, as one of its attempts.

        False if it is not there any more.
        """
        owner = "SELECT owner FROM attempt WHERE attempt.key = job.key AND attempt.attempt = ?"
        done = self.run(
            "UPDATE job SET state = 'running', heard = ?, reason = '', losses = max(losses - 1, 0),"
            f" attempt = ?, given = coalesce(({owner}), given) WHERE {_CAME_BACK} AND heard = ?",
            (now, attempt, attempt, key, since),
        )
        if done.rowcount == 1:
            self.run("UPDATE attempt SET heard = 0 WHERE key = ?", (key,))
            values = (since, key, attempt)
            self.run("UPDATE attempt SET since = ? WHERE key = ? AND attempt = ?", values)
        return done.rowcount == 1

    # decision 892
    def heard_behind(self, key: int, attempt: int, left: float) -> bool:
        """Note that an attempt is heard of from which its job came back, and which is not out.

        It runs once the one that is out comes back, if that started nothing. False for a report
        that was left before the job came back.
        """
        with self.changing():
            job = self.job(key)
            if job is None or job.attempt == attempt or not self.is_later(key, attempt, left):
                return False
            self.run(
                "UPDATE attempt SET heard = max(heard, ?) WHERE key = ? AND attempt = ?",
                (left, key, attempt),
            )
            self._goes_on(key)
        return True

    def is_later(self, key: int, attempt: int, left: float) -> bool:
        """Whether a report of an attempt was left since the job came back from it."""
        found = self.run(
            "SELECT 1 FROM job JOIN attempt AS last USING (key, attempt) WHERE job.key = ?"
            " AND ? > CASE WHEN job.attempt = ? THEN job.heard ELSE last.since END",
            (key, left, attempt),
        )
        return found.fetchone() is not None

    def _goes_on(self, key: int) -> bool:
        """Let an attempt run that was heard of while another one was out, which came back.

        Not where one behind it started anything. Gives whether there is such a one.
        """
        back = self.came_back(key)
        row = self.run(
            "SELECT attempt, heard FROM attempt AS this WHERE key = ? AND heard > 0 AND NOT EXISTS"
            " (SELECT 1 FROM attempt AS other WHERE other.key = this.key AND other.seen"
            " AND other.attempt > this.attempt) ORDER BY attempt DESC LIMIT 1",
            (key,),
        ).fetchone()
        return back is not None and row is not None and self.revive(key, row[0], back[1], row[1])

    def running(self, key: int) -> Claim | None:
        """The claim of the attempt at a job that runs, None if none does."""
        job = self.job(key)
        return None if job is None or job.state != RUNNING else job.claim(job.attempt)

    def hear_no_more(self, key: int, attempt: int) -> None:
        """Note that an attempt has ended: what was heard of it says no more that it runs."""
        self.run("UPDATE attempt SET heard = 0 WHERE key = ? AND attempt = ?", (key, attempt))

    def started(self, key: int, attempt: int) -> None:
        """Forget the failures of a job that an attempt did start."""
        self.run(
            "UPDATE job SET failures = 0, rests = 0 WHERE key = ? AND attempt = ?", (key, attempt)
        )

    def ended(self, key: int, attempt: int) -> None:
        """Forget the failures and losses of a job of which an attempt ended, and told so.

        And that it is held for them, where its document does not say that yet.
        """
        self.started(key, attempt)
        self.run("UPDATE job SET losses = 0 WHERE key = ? AND attempt = ?", (key, attempt))
        self.run(
            "UPDATE job SET state = 'returned', reason = '' WHERE key = ? AND attempt = ?"
            " AND state = 'held' AND NOT told",
            (key, attempt),
        )

    def free(self, key: int) -> None:
        """Let slots fetch a job that is held."""
        with self.changing():
            self.run(
                "UPDATE job SET state = 'returned', failures = 0, losses = 0, rests = 0, told = 0"
                " WHERE key = ? AND state = 'held'",
                (key,),
            )
            self.read_again("(SELECT document FROM job WHERE key = ?)", key)

    def held_untold(self) -> list[SpoolJob]:
        """The jobs that are held, and whose documents do not say so yet."""
        found = self.run(f"SELECT {_COLUMNS} FROM job WHERE state = 'held' AND NOT told")
        return [SpoolJob(*row) for row in found.fetchall()]

    # decision 885
    def taken_untold(self) -> list[SpoolJob]:
        """The jobs that a startd took, and whose documents tell of no such attempt yet.

        They do by a note of it, or by what its reports say.
        """
        found = self.run(
            f"SELECT {_COLUMNS} FROM job WHERE state IN ('accepted', 'running') AND NOT told"
            " AND NOT EXISTS (SELECT 1 FROM attempt"
            " WHERE seen AND attempt.key = job.key AND attempt.attempt = job.attempt)"
        )
        return [SpoolJob(*row) for row in found.fetchall()]

    def note_told(self, job: SpoolJob) -> None:
        """Note that the document of a job says that it is held, or taken, as it was then."""
        among = "state = 'held'" if job.state == HELD else "state IN ('accepted', 'running')"
        values = (job.key, job.attempt)
        self.run(f"UPDATE job SET told = 1 WHERE key = ? AND attempt = ? AND {among}", values)

    def read_again(self, of: str, value: object) -> None:
        """Have a document read again; ``of`` is the part of SQL that names it."""
        self.run(f"UPDATE document SET stamp = '' WHERE name = {of}", (value,))
        self.run("DELETE FROM note WHERE name = 'seen'")

    def read_again_those_without_jobs(self) -> None:
        """Have documents read again of which no job waits or is done: they may be unreadable."""
        self.run(
            "UPDATE document SET stamp = '' WHERE name NOT IN"
            " (SELECT document FROM job WHERE state NOT IN ('offered', 'accepted', 'running'))"
        )

    def silent(self, before: float) -> Iterator[SpoolJob]:
        """The jobs that were given away, and of which nothing was heard since a moment.

        Of one that was accepted something has to be heard only where updates are.
        """
        found = self.run(f"SELECT {_COLUMNS} FROM job WHERE {_HEARD_OF} AND heard < ?", (before,))
        return (SpoolJob(*row) for row in found.fetchall())

    def oldest(self) -> float:
        """When the one of them was heard of from which nothing came for longest."""
        found = self.run(f"SELECT min(heard) FROM job WHERE {_HEARD_OF}")
        [heard] = found.fetchone()
        return float("inf") if heard is None else float(heard)

    # decision 858
    def note_limits(self, settings: HookSettings, personal: str) -> None:
        """Keep how often hooks let a job fail, how long it rests, and whom they trust, for folds by
        others.

        And as whom a job runs that names no User, and as whom all do, "" where nobody says so.
        """
        limits = f"{settings.attempts} {settings.lost} {settings.pause}"
        told = "\n".join((limits, settings.owner, personal, *settings.trust))
        found = self.run("SELECT value FROM note WHERE name = 'limits'").fetchone()
        if found is None or found[0] != told:
            self.run("REPLACE INTO note VALUES ('limits', ?, 0)", (told,))

    def take_limits(self, settings: HookSettings) -> None:
        """Let the limits be those of the hooks, for who is not told them, and trust their users."""
        found = self.run("SELECT value FROM note WHERE name = 'limits'").fetchone()
        if found is not None:
            limits, *told = found[0].split("\n")
            settings.attempts, settings.lost, settings.pause = map(int, limits.split()[:3])
            settings.trust = (*settings.trust, *told[2:])

    # decision 893
    def is_new(self, now: float) -> bool:
        """Whether no hook that fetches has opened a queue that was made in the last day."""
        found = self.run(
            "SELECT 1 FROM note WHERE name = 'made' AND at > ?"
            " AND NOT EXISTS (SELECT 1 FROM note WHERE name = 'limits')",
            (now - GONE,),
        )
        return found.fetchone() is not None

    def not_run(self, job: SpoolJob) -> str:
        """Why the startd cannot run a job, as far as hooks noted as whom it runs jobs, or ""."""
        found = self.run("SELECT value FROM note WHERE name = 'limits'").fetchone()
        _, *told = found[0].split("\n") if found is not None else ("",)
        if len(told) < 2:  # no hook was called yet
            return ""
        owner, personal, *_ = told
        return owners.refused(job.owner or owner or personal, personal)

    def note_updates(self, now: float) -> None:
        """Note that a hook tells of jobs that run: who says nothing does not run any more."""
        self.run("INSERT OR IGNORE INTO note VALUES ('updates', '', ?)", (now,))

    def documents(self, names: Iterable[str] | None = None) -> dict[str, tuple[str, int]]:
        """The stamp of each document, or of those of some names, and whose it is."""
        which, values = ("", ()) if names is None else (f" WHERE name IN {_AMONG}", _among(names))
        found = self.run(f"SELECT name, stamp, uid FROM document{which}", values)
        return {name: (stamp, uid) for name, stamp, uid in found}

    def unread(self) -> list[str]:
        """The names of documents that are to be read again."""
        found = self.run("SELECT name FROM document WHERE stamp = ''")
        return [name for (name,) in found.fetchall()]

    def stamp(self, document: str) -> str:
        """The stamp of a document when it was read, "" if it is to be read again."""
        row = self.run("SELECT stamp FROM document WHERE name = ?", (document,)).fetchone()
        return "" if row is None else str(row[0])

    def uid(self, document: str) -> int | None:
        """Whose a document is, None of one that is not known."""
        row = self.run("SELECT uid FROM document WHERE name = ?", (document,)).fetchone()
        return None if row is None else int(row[0])

    def forget(self, document: str) -> None:
        """Drop a document that is gone, and its jobs, unless they are given away."""
        self.run("DELETE FROM document WHERE name = ?", (document,))
        self._drop(document, 0)

    def known(self, document: str) -> dict[int, SpoolJob]:
        """The jobs of a document by their numbers."""
        found = self.run(f"SELECT {_COLUMNS} FROM job WHERE document = ?", (document,))
        return {row[2]: SpoolJob(*row) for row in found}

    def put(self, document: str, stamp: str, uid: int, candidates: Sequence[Candidate]) -> None:
        """Bring the jobs of a document in step with it; what is given away stays as it is."""
        self.run("REPLACE INTO document VALUES (?, ?, ?)", (document, stamp, uid))
        self._align(document, candidates)
        for number, each in enumerate(candidates, 1):
            label = _label(document, number, len(candidates))
            rank = (_within(each.priority), _within(each.submitted))
            self.run(
                "INSERT INTO job (document, number, label, id, priority, submitted, state, owner,"
                " ads, reason, asks, told, eligible, deadline, taken, attempt)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (document, number) DO UPDATE SET label = excluded.label,"
                " id = excluded.id, priority = excluded.priority, submitted = excluded.submitted,"
                " state = excluded.state, owner = excluded.owner, ads = excluded.ads,"
                " reason = excluded.reason, asks = excluded.asks, told = excluded.told,"
                " eligible = excluded.eligible, deadline = excluded.deadline,"
                " taken = excluded.taken,"
                # What is asked for anew starts anew, and so does what waited or was set free.
                " failures = CASE WHEN ads = excluded.ads AND state NOT IN ('waiting', 'held')"
                " THEN failures ELSE 0 END,"
                " losses = CASE WHEN ads = excluded.ads AND state NOT IN ('waiting', 'held')"
                " THEN losses ELSE 0 END,"
                " rests = CASE WHEN ads = excluded.ads AND state NOT IN ('waiting', 'held')"
                " THEN rests ELSE 0 END,"
                # Another machine, whose clock may be ahead, gave it away meanwhile.
                " given = CASE WHEN excluded.attempt > attempt THEN '' ELSE given END,"
                " attempt = max(attempt, excluded.attempt)"
                " WHERE state NOT IN ('offered', 'accepted', 'running')"
                # Whoever takes the hold out of the document sets the job free.
                " AND NOT (state = 'held' AND excluded.state = 'ready' AND ads = excluded.ads"
                " AND (? OR NOT told))",
                (document, number, label, each.id, *rank, each.state, each.owner, each.ads,
                 each.reason, each.asks, each.state == HELD, each.eligible, each.deadline,
                 each.taken, each.last, each.says_held),
            )  # fmt: skip
        self._drop(document, len(candidates))

    def _align(self, document: str, jobs: Sequence[Candidate]) -> None:
        """Let each row be that of its job, wherever this one stands in its document by now.

        One that was given away, and whose job is gone, makes room for another: it has no place.
        """
        rows = self.known(document)
        places = {row.key: number for number, row in aligned(rows, jobs).items()}
        moved = [row for row in rows.values() if places.get(row.key) != row.number]
        for row in moved:
            self.run("UPDATE job SET number = ? WHERE key = ?", (-row.key, row.key))
        for row in moved:
            if (number := places.get(row.key)) is not None:
                label = _label(document, number, len(jobs))
                values = (number, label, row.key)
                self.run("UPDATE job SET number = ?, label = ? WHERE key = ?", values)

    def adopt(self, row: SpoolJob, document: str) -> None:
        """Let a row be that of a job in another document; its place is known when that is put."""
        values = (document, -row.key, row.key)
        self.run("UPDATE job SET document = ?, number = ? WHERE key = ?", values)

    # decision 905
    def recall(self, document: str, jobs: Sequence[Candidate]) -> dict[int, SpoolJob]:
        """Which row is that of each job of a document, also of one that is back.

        That was given away before its document went, and is told from others by what those that are
        out are told by.
        """
        rows = self.known(document)
        found = aligned(rows, jobs)
        back = {
            number: key for number, job in enumerate(jobs, 1)
            if number not in found and (key := self._past(document, job)) is not None
        }  # fmt: skip
        if not back:
            return found
        with self.changing():
            for number, key in back.items():
                place = -key if number in rows else number  # another makes room there
                self.run(
                    "INSERT OR IGNORE INTO job (key, document, number, label, id, priority,"
                    " submitted, state, attempt, heard, owner, given, ads, reason, asks)"
                    " SELECT key, ?, ?, ?, id, 0, 0, 'returned', attempt, heard, '', given, ?, '',"
                    " asks FROM past WHERE key = ?",
                    (document, place, document, b"", key),
                )
                self.run("DELETE FROM past WHERE key = ?", (key,))
        return aligned(self.known(document), jobs)

    def _past(self, document: str, job: Candidate) -> int | None:
        """The key by which a job was known whose document went.

        Of several it is one of whose attempt the document tells, then one that stood there, then
        the last one.
        """
        if job.whose is None:
            return None
        told = (*job.began, *job.over, *filter(None, (job.runs,)))
        keys = ", ".join(str(key) for key, _ in told)
        same = (job.id, job.asks, job.whose, job.whose)
        for where, values in ((f"key IN ({keys})", ()), ("document = ?", (document,)), ("1", ())):
            row = self.run(
                f"SELECT key FROM past WHERE {where} AND id = ? AND asks = ?"
                " AND (given IN ('', ?) OR ? = '') ORDER BY at DESC, key DESC LIMIT 1",
                (*values, *same),
            ).fetchone()
            if row is not None:
                return int(row[0])
        return None

    def restore(self, document: str, job: Candidate, now: float, state: str = RUNNING) -> None:
        """Know a job again that runs, says its document, and of which nothing is known here.

        Or of which only an earlier attempt is known: the queue was brought back from a copy. Keys
        that no queue of this place can have given before are none. What is over according to its
        document, and here not yet, comes back; attempts that began and of which no end is known
        are known again. It is ``running`` where its document says so, and in another state where
        only the note of an offer does.
        """
        for key, attempt in job.over:
            self.run(
                "UPDATE job SET state = 'returned', reason = '' WHERE key = ? AND attempt <= ?"
                " AND state IN ('offered', 'accepted', 'running')",
                (key, attempt),
            )
        if job.whose is None or not (job.runs or job.began):
            return
        from sssjob.systems.condor.names import given_at  # most documents tell of none

        if job.runs is not None:
            self._restore(document, job, *job.runs, now, state)
        elif job.began:
            self._restore(document, job, *job.began[-1], now, WAITING)
        for key, attempt in dict.fromkeys((*job.began, *filter(None, (job.runs,)))):
            if at := given_at(attempt) / 1000:
                self.run(
                    "INSERT OR IGNORE INTO attempt (key, attempt, at, owner, gave, asks, seen,"
                    " since) SELECT key, ?, ?, ?, '', ?, ?, ? FROM job"
                    " WHERE key = ? AND document = ?",
                    (attempt, at, job.whose, job.asks, (key, attempt) in job.began, at, key,
                     document),
                )  # fmt: skip

    def _restore(
        self, document: str, job: Candidate, key: int, attempt: int, now: float, state: str
    ) -> None:
        self.run(
            "INSERT INTO job (key, document, number, label, id, priority, submitted, state,"
            " attempt, heard, owner, given, ads, reason, asks, told)"
            " SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?, ? FROM sqlite_sequence"
            f" WHERE name = 'job' AND seq / {_PART} >= ? / {_PART}"  # of the same moment
            " ON CONFLICT (key) DO UPDATE SET state = excluded.state, attempt = excluded.attempt,"
            " heard = excluded.heard, given = excluded.given, asks = excluded.asks, reason = '',"
            " told = excluded.told, id = excluded.id, document = excluded.document,"
            " number = excluded.number"
            # Nobody gave it away here as that, also where it was tried since for another slot.
            " WHERE excluded.state != 'waiting' AND NOT EXISTS (SELECT 1 FROM attempt"
            " WHERE attempt.key = excluded.key AND attempt.attempt = excluded.attempt)"
            " AND (attempt < excluded.attempt OR (state NOT IN ('offered', 'accepted', 'running')"
            " AND (attempt > excluded.attempt OR given = '')))",
            (key, document, -key, document, job.id, _within(job.priority), _within(job.submitted),
             state, attempt, now, job.whose, job.whose, b"", job.asks, state == RUNNING, key),
        )  # fmt: skip
        self.run("DELETE FROM past WHERE key = ? AND key IN (SELECT key FROM job)", (key,))

    def number_from(self, now: float) -> None:
        """Give jobs that are new from now on no key that is less than this moment.

        A queue that was brought back from a copy gave more of them before.
        """
        first = _first(now)
        self.run(
            "UPDATE sqlite_sequence SET seq = ? WHERE name = 'job' AND seq < ?", (first, first)
        )

    def holders(self, documents: Iterable[str]) -> set[str]:
        """Those of some documents of which a job is given away."""
        found = self.run(
            f"SELECT document FROM job WHERE document IN {_AMONG}"
            " AND +state IN ('offered', 'accepted', 'running')",  # no index of states
            _among(documents),
        )
        return {document for (document,) in found.fetchall()}

    def astray(self, documents: Iterable[str]) -> list[SpoolJob]:
        """The jobs that are given away, and have no place, or one in some documents, or in none."""
        found = self.run(
            f"SELECT {_COLUMNS} FROM job WHERE state IN ('offered', 'accepted', 'running')"
            f" AND (number < 0 OR document IN {_AMONG}"
            " OR document NOT IN (SELECT name FROM document))"
            " ORDER BY priority DESC, submitted, key",
            _among(documents),
        )
        return [SpoolJob(*row) for row in found.fetchall()]

    def not_offered(self, tickets: Iterable[str]) -> list[str]:
        """Those of some tickets that are not of jobs that the queue offers to slots."""
        found = self.run(
            "SELECT value FROM json_each(?) WHERE value NOT IN"
            " (SELECT key || '.' || attempt FROM job WHERE state = 'offered')",
            _among(tickets),
        )
        return [ticket for (ticket,) in found.fetchall()]

    def _drop(self, document: str, count: int) -> None:
        """Drop the jobs behind the first so many of a document, unless they are given away."""
        self._delete("document = ? AND (number > ? OR number < 0)", (document, count))

    def drop(self, key: int, attempt: int) -> None:
        """Drop a job that came back from an attempt: another one in its place gets a new key."""
        self._delete("key = ? AND attempt = ?", (key, attempt))

    def part(self, key: int, attempt: int) -> bool:
        """Let a job that is out wait for its document apart from the one that took its place.

        False where its document tells of the attempt, by which it is known when it comes back.
        """
        done = self.run(
            "UPDATE job SET document = ?, number = -key WHERE key = ? AND attempt = ? AND NOT told"
            " AND state IN ('offered', 'accepted', 'running') AND NOT EXISTS (SELECT 1 FROM attempt"
            " WHERE seen AND attempt.key = job.key AND attempt.attempt = job.attempt)",
            (_NOWHERE.format(key), key, attempt),
        )
        return done.rowcount == 1

    def drop_strays(self) -> None:
        """Drop jobs that were given away when their document went, and have come back since."""
        self._delete("document NOT IN (SELECT name FROM document)")

    def _delete(self, which: str, values: tuple[Any, ...] = ()) -> None:
        """Drop jobs that nobody has; what was given away before is known for a day."""
        away = "state IN ('offered', 'accepted', 'running')"
        # What we hold is to be told by its document, which may come back. # decision 889
        held = "state = 'held' AND NOT told AND heard > ?"
        now = time.time()
        gone, kept = f"NOT ({away} OR {held}) AND {which}", (now - GONE, *values)
        self.run(
            "INSERT OR REPLACE INTO past SELECT key, document, id, asks, attempt, heard, given, ?"
            f" FROM job WHERE {gone}"
            " AND EXISTS (SELECT 1 FROM attempt WHERE attempt.key = job.key)",
            (now, *kept),
        )
        self.run(f"DELETE FROM job WHERE {gone}", kept)

    # decision 905
    def forget_past(self, now: float) -> None:
        """Forget jobs whose documents went a day ago, unless a report of one waits."""
        old = now - GONE
        ticket = f"'{_AWAITED}' || past.key || "
        gone = self.run(
            "DELETE FROM past WHERE at < ? AND NOT EXISTS (SELECT 1 FROM note WHERE note.at > ?"
            f" AND name BETWEEN {ticket}'.' AND {ticket}'/') RETURNING key",
            (old, old),
        )
        for key in gone.fetchall():
            self.run("DELETE FROM attempt WHERE key = ?", key)

    def awaits(self, ticket: str, report: str, now: float) -> bool:
        """Note that a report waits for the job of a ticket to be found; only the first one does."""
        self.run("INSERT OR IGNORE INTO note VALUES (?, ?, ?)", (_AWAITED + ticket, report, now))
        return self.is_awaited(ticket, report)

    def is_awaited(self, ticket: str, report: str) -> bool:
        """Whether it is noted that this report waits for the job of a ticket."""
        return self.awaited(ticket, report) is not None

    # decision 897
    def awaited(self, ticket: str, report: str) -> float | None:
        """Since when this report waits for the job of a ticket, None if it does not."""
        values = (_AWAITED + ticket, report)
        row = self.run("SELECT at FROM note WHERE name = ? AND value = ?", values).fetchone()
        return None if row is None else float(row[0])

    def awaits_no_more(self, ticket: str) -> None:
        """Forget that a report waits for the job of a ticket."""
        self.run("DELETE FROM note WHERE name = ?", (_AWAITED + ticket,))

    # decision 716
    def seek(self, now: float, refresh: float) -> bool:
        """Have all documents read again; False where that was begun, or done a moment ago."""
        found = self.run("SELECT value FROM note WHERE name = 'sought'").fetchone()
        is_begun = found is not None and found[0] != _ALL
        if is_begun or ((before := self.sought(now)) is not None and now < before + refresh):
            return False
        with self.changing():
            self.run("UPDATE document SET stamp = ''")
            self.run("DELETE FROM note WHERE name = 'seen'")
            self.run("REPLACE INTO note VALUES ('sought', '', ?)", (now,))
        return True

    def has_sought(self) -> None:
        """Note that all documents that were to be read again have been."""
        self.run("UPDATE note SET value = ? WHERE name = 'sought'", (_ALL,))

    def sought(self, now: float) -> float | None:
        """When it was last begun to read all documents again; None if that was never."""
        row = self.run("SELECT at FROM note WHERE name = 'sought' AND at <= ?", (now,)).fetchone()
        return None if row is None else float(row[0])

    def is_news(self, name: str, every: Iterable[object]) -> bool:
        """Whether other things are to be said than those that were said last; that is noted then.

        In a copy, which somebody looks at, they always are.
        """
        import hashlib

        text = "\n".join(sorted(map(str, every)))
        told = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() if text else ""
        row = self.run("SELECT value FROM note WHERE name = ?", (name,)).fetchone()
        if (row[0] if row else "") == told:
            return not self.state
        self.run("REPLACE INTO note VALUES (?, ?, 0)", (name, told))
        return True

    def seen(self) -> tuple[str, float]:
        """The stamp of all documents when they were last looked at, and when that was."""
        row = self.run("SELECT value, at FROM note WHERE name = 'seen'").fetchone()
        return ("", 0.0) if row is None else (row[0], row[1])

    def note_seen(self, stamp: str, now: float) -> None:
        """Note that all documents were looked at."""
        if self.seen() != (stamp, now):  # a disk is waited for
            self.run("REPLACE INTO note VALUES ('seen', ?, ?)", (stamp, now))

    def marked(self) -> tuple[str, float]:
        """By what to ask for documents that are new, and when all of them were last looked at."""
        row = self.run("SELECT value, at FROM note WHERE name = 'mark'").fetchone()
        return ("", 0.0) if row is None else (row[0], row[1])

    def mark(self, mark: str, whole: float) -> None:
        """Note by what to ask for documents that are new next time."""
        if mark and self.marked() != (mark, whole):
            self.run("REPLACE INTO note VALUES ('mark', ?, ?)", (mark, whole))


# decision 594, 597
def aligned(rows: Mapping[int, SpoolJob], jobs: Sequence[Candidate]) -> dict[int, SpoolJob]:
    """Which row is that of each job of a document, by the jobs that stand in it now.

    What was given away is found first, by all that is known of it; then a row stays where it is, or
    goes elsewhere, if the job there has its Id.
    """
    found = exactly(rows, jobs)
    if len(found) == len(jobs) == len(rows):
        return found
    settled = {row.key for row in found.values()}
    for number, job in enumerate(jobs, 1):
        row = rows.get(number)
        if number not in found and row and row.key not in settled and row.id == job.id:
            found[number] = row
            settled.add(row.key)
    free = _free(jobs, found)
    for _, row in sorted(rows.items()):
        if row.key not in settled and (places := free.get(row.id)):
            found[places.pop()] = row
    return found


def _free(jobs: Sequence[Candidate], found: Mapping[int, SpoolJob]) -> dict[str, list[int]]:
    """The numbers of the jobs of which no row is found, by their Ids; the last one first."""
    free: dict[str, list[int]] = {}
    for number in range(len(jobs), 0, -1):
        if number not in found:
            free.setdefault(jobs[number - 1].id, []).append(number)
    return free


def exactly(rows: Mapping[int, SpoolJob], jobs: Sequence[Candidate]) -> dict[int, SpoolJob]:
    """The rows that were given away, by the numbers of the jobs that they are in a document."""
    away = {number: row for number, row in rows.items() if row.state in TAKEN}
    found = {
        number: row for number, row in away.items()
        if 0 < number <= len(jobs) and is_same(row, jobs[number - 1])
    }  # fmt: skip
    if len(found) == len(away):
        return found
    free = _free(jobs, found)
    settled = {row.key for row in found.values()}
    for _, row in sorted(away.items()):
        if row.key in settled:
            continue
        places = free.get(row.id, [])
        for place in reversed(places):
            if is_same(row, jobs[place - 1]):
                places.remove(place)
                found[place] = row
                break
    return found


def is_same(row: SpoolJob, job: Candidate) -> bool:
    """Whether a job is the one that was given away: its Id, what it runs, and as whom."""
    # An earlier version did not note what it runs.
    return (
        row.id == job.id
        and row.asks in ("", job.asks)
        and job.whose is not None
        and ("" in (row.given, job.whose) or row.given == job.whose)
    )


def _among(texts: Iterable[str]) -> tuple[str]:
    """The value for ``_AMONG``."""
    import json  # most hooks look at nothing

    return (json.dumps(list(texts)),)


def _label(document: str, number: int, count: int) -> str:
    return document if count == 1 else f"{document}#{number}"


class _Changing:
    """A transaction, within which others can be asked for, which are part of it."""

    __slots__ = ("_outermost", "_queue")

    def __init__(self, queue: JobQueue) -> None:
        self._queue = queue
        self._outermost = False

    def __enter__(self) -> None:
        self._outermost = not self._queue._connection.in_transaction
        if self._outermost:
            self._queue.run("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if not self._outermost:
            return
        try:
            if kind is None:
                self._queue.run("COMMIT")
        finally:
            # SQLite has gone back by itself after some errors, such as of a full disk; what is
            # told is the first error.
            if self._queue._connection.in_transaction:
                with suppress(UnsafeQueue):  # closing the file does the same
                    self._queue.run("ROLLBACK")


class _Alone:
    """A lock that only the owner of the queue can take."""

    __slots__ = ("_handle", "_state", "_wait")

    def __init__(self, state: str, *, wait: bool) -> None:
        self._state, self._wait = state, wait
        self._handle = -1

    def __enter__(self) -> None:
        if not self._state:  # a copy in memory is nobody else's
            return
        path = os.path.join(self._state, LOCK)
        own(path)
        self._handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        fcntl.flock(self._handle, fcntl.LOCK_EX | (0 if self._wait else fcntl.LOCK_NB))

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._handle >= 0:
            os.close(self._handle)


# decision 811
def _first(now: float) -> int:
    """A key that no queue gave before this moment, and hardly another one in the same."""
    return int(now * 1000) * _PART + int.from_bytes(os.urandom(4)) % _PART


def _within(number: int) -> int:
    return max(min(number, _MOST), -_MOST)
