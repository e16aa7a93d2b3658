"""Locks of what is submitted: who holds one, or has started a command that holds it, is alone.

A command that submits inherits the lock. If who started it is killed, the lock is held until the
command has ended, too: only then does the batch system know whether there is a job.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sssjob.errors import SSSJobError
from sssjob.users import at_home

PATIENCE = 150.0  # seconds: longer than a command may take

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_POLL = 0.05  # seconds


class Busy(SSSJobError, RuntimeError):
    """Another call is at work on the same thing."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(what, seconds)
        self.what, self.seconds = what, seconds

    def __str__(self) -> str:
        return f"{self.what}: another call is at work on it for more than {self.seconds:g} s"


def default_place() -> Path:
    """The directory of one's own locks. Raises ``OSError`` where no home is known."""
    state = os.environ.get("XDG_STATE_HOME", "")
    home = state if os.path.isabs(state) else at_home("~/.local/state")
    return Path(home, "sssjob/locks")


@contextmanager
def locked(place: Path, what: str, patience: float) -> Iterator[int]:
    """Be alone with something; gives the descriptor that commands inherit.

    Raises ``Busy``, and ``OSError`` where there can be no lock.
    """
    place.mkdir(0o700, parents=True, exist_ok=True)
    path = place / f"{hashlib.sha256(what.encode()).hexdigest()[:40]}.lock"
    handle = _held(path, what, patience)
    try:
        yield handle
    finally:
        # Gone before it is given back: who waits for it sees that it has no name, and makes one.
        try:
            path.unlink(missing_ok=True)
        finally:
            os.close(handle)


def _held(path: Path, what: str, patience: float) -> int:
    end = time.monotonic() + patience
    while True:
        handle = os.open(path, _FLAGS, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            if time.monotonic() > end:
                raise Busy(what, patience) from None
            time.sleep(_POLL)
            continue
        if _is_named(handle, path):
            return handle
        os.close(handle)


def _is_named(handle: int, path: Path) -> bool:
    """Whether a file that is locked still has its name, and is not one that was given back."""
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except FileNotFoundError:
        return False
