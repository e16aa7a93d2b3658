"""The log of prologs and epilogs: a line for each job, with the time, and one for each trouble.

Prologs of many jobs write it at once, so that a line is one write at the end of the file. When it
is full it becomes ``FILE.1``, in the place of the one before; nothing else has to rotate it.
"""

from __future__ import annotations

import fcntl
import os
import stat
from contextlib import suppress

from sssjob import directory_handles as handles
from sssjob.units import iso
from sssjob.visible import visible

MOST = 1 << 22  # bytes, of the log and of the one before
_LONGEST = 2000  # characters of a line
_OPEN = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def note(path: str, now: float, words: str, most: int = MOST) -> None:
    """Add a line to a log; control characters are shown, and no link is followed in its name, for
    root none of another user on the way.

    Raises ``OSError``.
    """
    line = f"{iso(int(now))} {visible(words)[:_LONGEST]}\n".encode("utf-8", "replace")
    place, name = os.path.split(os.path.abspath(path))
    with handles.opened(place) as folder:
        handle = os.open(name, _OPEN, 0o644, dir_fd=folder)
        try:
            status = os.fstat(handle)
            if stat.S_ISREG(status.st_mode) and status.st_size + len(line) > most:
                following = _rotated(folder, name, handle)
                before, handle = handle, following
                os.close(before)
            os.write(handle, line)
        finally:
            os.close(handle)


def _rotated(folder: int, name: str, handle: int) -> int:
    """A new log, once the full one has another name; another job may be quicker."""
    with suppress(FileNotFoundError):
        fcntl.flock(handle, fcntl.LOCK_EX)
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if os.path.samestat(os.fstat(handle), status):
            os.replace(name, f"{name}.1", src_dir_fd=folder, dst_dir_fd=folder)
    return os.open(name, _OPEN, 0o644, dir_fd=folder)
