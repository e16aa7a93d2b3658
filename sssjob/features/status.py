"""$JOBSTATUS: what a pilot says of itself, read and written whole under the lock of ``used_CPU``.

The draft names the file to lock and not the call, so both locks are taken, always in one order:
``lockf``, then ``flock``. ``used_CPU`` is rewritten in its place, because a rename would leave
those who wait with the lock of a file that nobody sees any more. # decision 77
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from sssjob import atomic, json_text
from sssjob.errors import Finding, InvalidValue, SSSJobError
from sssjob.features import files, keys
from sssjob.features.files import REMOTE, KeyFault, locate
from sssjob.features.keys import Value
from sssjob.features.read import reading
from sssjob.features.write import content, naming, put, remove

LOCK = keys.JOB_STATUS[0].name
WAIT = 10.0  # seconds for the lock
SECTION = "MJF 2014, 3"

_OTHERS = tuple(row.name for row in keys.JOB_STATUS if row.name != LOCK)
_NAMES = (LOCK, *_OTHERS)
_PAUSE = 0.001  # seconds between two attempts at the lock
_TRIES = 3  # at a server, where nothing can be locked
# Held by somebody else, or (on a file server without locks) not to be had at all.
_HELD = (errno.EACCES, errno.EAGAIN, errno.ENOLCK)
_OPEN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class StatusSnapshot:
    """All keys of one moment. ``now`` was taken under the lock, ``written`` is when they changed.

    Both are in seconds since 1970; ``written`` is None where a server does not say. A snapshot
    that is not ``consistent`` may mix the values of two moments.
    """

    values: Mapping[str, Value] = field(default_factory=dict)
    now: float = 0.0
    written: float | None = None
    consistent: bool = True
    findings: tuple[Finding, ...] = ()


class LockTimeout(SSSJobError, TimeoutError):
    """Somebody kept the lock too long; ``snapshot`` holds the values as read without it."""

    def __init__(self, place: str, seconds: float, snapshot: StatusSnapshot) -> None:
        # As an OSError has it, whose text many print.
        text = f"it was locked by others for {seconds:g} seconds"
        super().__init__(errno.EAGAIN, text, f"{place}/{LOCK}")
        self.place, self.seconds, self.snapshot = place, seconds, snapshot

    def __str__(self) -> str:
        return f"{self.place}/{LOCK} was locked by others for {self.seconds:g} seconds"

    def __reduce__(self) -> tuple[type[LockTimeout], tuple[str, float, StatusSnapshot]]:
        return type(self), (self.place, self.seconds, self.snapshot)


def read(place: str | os.PathLike[str], *, wait: float = WAIT) -> StatusSnapshot | None:
    """The status in a directory, local or at an address; None if there is none yet.

    Nothing is created. Raises ``LockTimeout`` after ``wait`` seconds, with what stood there
    without the lock; ``OSError`` if the directory cannot be read.
    """
    where = locate(os.fspath(place))
    if where.kind == REMOTE:
        return _at_a_server(where.place)
    folder = os.open(where.place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with naming(where.place):
            handle = _opened(folder, os.O_RDONLY)
        if handle is None:
            return None
        try:
            if not _locked(handle, fcntl.LOCK_SH, wait):
                unlocked = _snapshot(where.place, handle, consistent=False)
                raise LockTimeout(where.place, wait, unlocked or StatusSnapshot(consistent=False))
            return _snapshot(where.place, handle, consistent=True)
        finally:
            os.close(handle)  # which gives both locks back
    finally:
        os.close(folder)


def write(
    values: Mapping[str, Value | bool | None], directory: str | os.PathLike[str], *,
    wait: float = WAIT,
) -> None:  # fmt: skip
    """Write keys under the lock, ``used_CPU`` last; None removes one, the others stay.

    Raises ``InvalidValue`` before anything is touched, ``LockTimeout``, or ``OSError``.
    """
    texts = {name: _spelled(name, value) for name, value in values.items()}
    if texts.get(LOCK, "") is None:
        raise InvalidValue(LOCK, "a key that may be removed: it is the lock")
    with _for_writing(directory, wait) as handle:
        others = {name: text for name, text in texts.items() if name != LOCK and text is not None}
        if others:
            put(others, directory)
        if gone := [name for name, text in texts.items() if text is None]:
            remove(gone, directory)
        text = texts.get(LOCK)
        with naming(directory):
            own = content(LOCK, text) if text is not None else _present(handle) or b"0\n"
            _rewrite(handle, own)


def dumps(snapshot: StatusSnapshot | None) -> bytes:
    """A snapshot as bytes, of which ``loads`` makes the same one, but for its findings."""
    if snapshot is None:
        return b""
    texts = {name: _spelled(name, value) for name, value in snapshot.values.items()}
    return json.dumps([texts, snapshot.now, snapshot.written, snapshot.consistent]).encode()


def loads(octets: bytes, place: str) -> StatusSnapshot | None:
    """The snapshot of what ``dumps`` made. Raises ``InvalidValue`` for anything else."""
    if not octets:
        return None
    try:
        texts, now, written, consistent = json_text.kept(octets)
        return _taken(place, dict(texts), [], now, written, consistent)
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidValue(str(error), f"a status of {place} that was kept") from None


@contextmanager
def _for_writing(directory: str | os.PathLike[str], wait: float) -> Iterator[int]:
    """A descriptor of the lock file, which is made if need be, with both locks held."""
    folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with naming(directory):
            handle = _opened(folder, os.O_RDWR | os.O_CREAT)
        assert handle is not None
        try:
            if not _locked(handle, fcntl.LOCK_EX, wait):
                raise LockTimeout(os.fspath(directory), wait, StatusSnapshot(consistent=False))
            yield handle
        finally:
            os.close(handle)
    finally:
        os.close(folder)


def _opened(folder: int, flags: int) -> int | None:
    """The lock file, or None if it is not there. Raises ``InvalidValue`` if it is no file."""
    try:
        handle = os.open(LOCK, flags | _OPEN, 0o644, dir_fd=folder)
    except FileNotFoundError:
        return None
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise InvalidValue(LOCK, "a regular file")
    if flags & os.O_CREAT and status.st_size == 0:
        with suppress(PermissionError):  # somebody else's, who made it readable or not
            _changed(os.fchmod, handle, 0o644)  # whatever the umask
    return handle


def _locked(handle: int, kind: int, wait: float) -> bool:
    """Take both locks in their order; False if that takes longer than ``wait`` seconds."""
    end = time.monotonic() + wait
    locks: list[Callable[[int, int], object]] = [fcntl.lockf, fcntl.flock]
    for lock in locks:
        while True:
            try:
                lock(handle, kind | fcntl.LOCK_NB)
                break
            except OSError as error:
                if error.errno not in _HELD:
                    raise
                if time.monotonic() >= end:
                    return False
                time.sleep(_PAUSE)
    return True


def _snapshot(place: str, handle: int, *, consistent: bool) -> StatusSnapshot | None:
    """What stands there now; the lock file is read by its own descriptor.

    To open and close it once more would give the lock of ``lockf`` back.
    """
    texts, faults = files.texts(place, _OTHERS)
    octets = os.pread(handle, files.LONGEST + 1, 0)
    written = os.fstat(handle).st_mtime
    now = time.time()
    if not octets.strip():
        return None
    try:
        texts[LOCK] = octets.decode().strip()
    except UnicodeDecodeError as error:
        faults.append(files.unread(LOCK, f"UTF-8: byte {error.start + 1} is not"))
    return _taken(place, texts, faults, now, written, consistent)


def _taken(
    place: str, texts: Mapping[str, str], faults: list[KeyFault], now: float, written: float | None,
    consistent: bool,
) -> StatusSnapshot:  # fmt: skip
    found = reading(place, texts, (*faults, *_loose(texts)), keys.JOB_STATUS)
    ordered = {name: found.values[name] for name in _NAMES if name in found.values}
    return StatusSnapshot({**ordered, **found.values}, now, written, consistent, found.findings)


def _loose(texts: Mapping[str, str]) -> Iterator[KeyFault]:
    """Spellings of truth that are read though the draft has only two."""
    for row in keys.JOB_STATUS:
        text = texts.get(row.name, "True")
        meant = keys.BOOLEANS.get(text.lower(), text)
        if row.kind == keys.BOOLEAN and text != meant:
            yield KeyFault("W-TYPE", row.name, f"{row.name} {text} is read as {meant}")


def _at_a_server(url: str) -> StatusSnapshot | None:
    """A status without a lock: ``used_CPU`` is read first and last, and must be the same."""
    from sssjob.features.remote import asked

    for attempt in range(1, _TRIES + 1):
        answer = asked(url, (LOCK, *_OTHERS))
        if LOCK not in answer.texts:
            return None if LOCK not in answer.unknown else _lost(url, answer.faults)
        again = asked(url, (LOCK,))
        same = again.texts.get(LOCK) == answer.texts[LOCK]
        if same or attempt == _TRIES:
            return _taken(url, answer.texts, answer.faults, time.time(), None, same)
    raise AssertionError


def _lost(url: str, faults: list[KeyFault]) -> StatusSnapshot:
    return _taken(url, {}, faults, time.time(), None, consistent=False)


def _present(handle: int) -> bytes:
    return os.pread(handle, files.LONGEST, 0)


def _rewrite(handle: int, octets: bytes) -> None:
    """New bytes in the place of the old ones, and never fewer than a whole number."""
    _changed(os.pwrite, handle, octets, 0)
    _changed(os.ftruncate, handle, len(octets))
    _changed(os.fsync, handle)


def _changed(change: Callable[..., object], *arguments: object) -> None:
    """Change the lock file; an error names it."""
    try:
        change(*arguments)
    except OSError as error:
        raise atomic.naming(error, LOCK) from None


def _spelled(name: str, value: Value | bool | None) -> str | None:
    """A value as its file has it, checked by the row of its key."""
    if not keys.is_name(name):
        raise InvalidValue(name, "a key, which is letters, digits and underscores")
    if value is None:
        return None
    text = keys.spell(value) if not isinstance(value, bool) else str(value)
    row = keys.key(name, keys.JOB_STATUS)
    return keys.spell(keys.parse(text, row, name))
