"""Files of SQLite: what their first bytes tell, read so that no open database loses its locks.

Strategy. SQLite guards a file by locks of POSIX, which belong to the process: as soon as it closes
any handle of the file, also one that only read its first bytes, all of them are gone. Another
process then takes itself for the last one that has the database open and removes its log, while
this one goes on to write into it, and the file is damaged. The same is true of the memory that all
share (``-shm``), which the other one would cut. So this process knows which files it has open as
stores, by device and inode, with those beside them, and never opens one of them in another way.
Who looks at a file and who opens a store wait for each other, as a handle that was opened just
before is closed behind the first lock.

What a process has open, a copy of it (``fork``) has not: SQLite believes there that it holds locks
which only the parent has. A store that was open is refused in the copy.
"""

from __future__ import annotations

import os
from collections import Counter
from threading import RLock

APPLICATION = 0x53535342  # what the head of a file of SQLite says where it is a store
# What a file of SQLite is, as messages say it.
STORE, OTHER = "a store of job objects", "a database of another program"
DATABASE_HEAD = 72  # bytes that tell which of them

MAGIC = b"SQLite format 3\0"  # with which a file of SQLite begins
_MARK = slice(68, DATABASE_HEAD)  # where it has its application
_APPLICATION = APPLICATION.to_bytes(4, "big")
_OF_STORE = MAGIC.ljust(_MARK.start, b"\0") + _APPLICATION

_BESIDE = ("-wal", "-shm", "-journal")  # what SQLite adds to the name of a file

_FileKey = tuple[int, int]  # device and inode

guard = RLock()  # is held by who opens a store or looks at a file
_open: Counter[_FileKey] = Counter()  # how many connections of this process each has
_paths: dict[_FileKey, str] = {}  # where each of them is
_inherited: set[_FileKey] = set()  # what was open in the process that this one is a copy of


def database(head: bytes) -> str:
    """What a file that begins so is: ``STORE``, ``OTHER``, or "" if SQLite has not written it.

    One that is cut off before it says which was a store, for all that is known.

    >>> database(b"SQLite format 3\\0" + bytes(84)), database(b"<Job/>")
    ('a database of another program', '')
    """
    if not head.startswith(MAGIC):
        return ""
    return STORE if head[_MARK] in (b"", _APPLICATION) else OTHER


def first_bytes(
    name: str | os.PathLike[str], size: int = DATABASE_HEAD, *, folder: int | None = None
) -> bytes:
    """The first bytes of a file, by its name in a directory that is open, if one is given.

    Of a store that this process has open it is what every store begins with. Raises ``OSError``.
    """
    with guard:
        if _is_open(name, folder):
            return _OF_STORE[:size]
        handle = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        try:
            return _read(handle, size)
        finally:
            os.close(handle)


def _read(handle: int, size: int) -> bytes:
    pieces: list[bytes] = []
    while size > 0 and (piece := os.read(handle, size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def is_open(name: str | os.PathLike[str]) -> bool:
    """Whether this process has a file open as a store or beside one, by whichever name."""
    if not _open:
        return False
    with guard:
        return _is_open(name, None)


def any_open() -> bool:
    """Whether this process has any store open in a file."""
    return bool(_open)


def _is_open(name: str | os.PathLike[str], folder: int | None) -> bool:
    if not _open:
        return False
    found = _key(name, folder)
    return found is not None and (found in _open or found in _keys_beside())


def _keys_beside() -> set[_FileKey | None]:
    """The files that are beside the stores now: these come and go."""
    return {_key(path + end, None) for path in _paths.values() for end in _BESIDE}


def _key(name: str | os.PathLike[str], folder: int | None) -> _FileKey | None:
    """What tells a file from all others; None where there is none."""
    try:
        found = os.stat(name, dir_fd=folder)
    except OSError:
        return None
    return found.st_dev, found.st_ino


class InheritedStore(Exception):
    """A store is opened in a copy of a process that had it open."""


class OpenFile:
    """A file that a connection has open as a store, until it is ``closed``.

    Made with ``guard`` held since before the connection was. Raises ``InheritedStore``, and
    ``OSError``.
    """

    __slots__ = ("_key",)

    def __init__(self, path: str | os.PathLike[str]) -> None:
        found = os.stat(path)
        self._key = found.st_dev, found.st_ino
        if self._key in _inherited:
            raise InheritedStore(path)
        _open[self._key] += 1
        _paths[self._key] = os.path.realpath(path)  # SQLite follows links, too

    def closed(self) -> None:
        """Know that the connection is closed."""
        with guard:
            _open[self._key] -= 1
            if _open[self._key] < 1:  # below nothing in a copy of the process, which had none
                del _open[self._key]
                _paths.pop(self._key, None)


def _copied() -> None:
    """What is known in a copy of this process."""
    global guard
    guard = RLock()  # another thread may have held the old one
    _inherited.update(_open)
    _open.clear()
    _paths.clear()


os.register_at_fork(after_in_child=_copied)
