"""Files of tests that need no disk: they are made in memory, where forcing them takes no time.

Beside the processor, tests of stores and of ledgers take the disk. What is forced to it, and when,
is looked at in the calls themselves, wherever the files are: ``power_loss.py``.
"""

import os
from pathlib import Path

PLACE = Path("/dev/shm")  # in it, pytest makes a directory that is its user's alone
ROOM = 4 << 30  # bytes: twice and more of what a whole run leaves


def place():
    """The directory below which tests make their files; None is that of the system, on its disk.

    It is None where there is none in memory, where none of its programs may run, as in many a
    container, and where it or the memory that is left is small.
    """
    try:
        kinds = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
        known = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        found = os.statvfs(PLACE)
    except OSError:
        return None
    is_kept = [str(PLACE), "tmpfs"] in kinds and os.access(PLACE, os.W_OK | os.X_OK)
    return PLACE if is_kept and suits(found, int(known["MemAvailable"].split()[0]) << 10) else None


def suits(found, available):
    """Whether a file system, by its ``statvfs``, and so many bytes of memory do for a whole run."""
    closed = os.ST_NOEXEC | os.ST_RDONLY
    room = min(found.f_bavail * found.f_frsize, available // 2)
    return not found.f_flag & closed and room >= ROOM
