"""A directory queue, as the programs of grids share it: every message is a file.

The layout is that of ``Directory::Queue::Simple`` and Python's ``dirq``: files of 14 hexadecimal
digits, by which they are sorted in time, in directories of 8. One appears whole, by a link; it is
locked by a second link that ends in ``.lck``. What others write has a name in ``.tmp`` before.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

from sssjob import atomic
from sssjob.errors import LimitExceeded

SIZE_LIMIT = 1 << 26  # bytes of a message
STALE = 600.0  # seconds after which nobody is at a lock any more
UNFINISHED = 300.0  # seconds after which nobody writes a message any more

_SPAN = 60  # seconds whose messages share a directory
_DIRECTORY = re.compile(r"[0-9a-f]{8}")
_ELEMENT = re.compile(r"[0-9a-f]{14}")
_LOCK, _NEW = ".lck", ".tmp"


Parts = tuple[bytes, list[bytes]]  # what a message begins with, and what follows, part by part


@dataclass(frozen=True, slots=True)
class DirectoryQueue:
    """The messages of a directory."""

    path: Path

    def add(self, data: bytes) -> str:
        """Put a message in, forced to disk; gives its name. Raises ``OSError``."""
        while True:
            now = time.time()
            folder = self.path / f"{int(now) // _SPAN * _SPAN:08x}"
            is_new = not folder.is_dir()
            folder.mkdir(parents=True, exist_ok=True)
            name = f"{int(now):08x}{int(now % 1 * 1_000_000):05x}{os.getpid() % 16:x}"
            try:
                _appear(folder, name, data)
            except (FileExistsError, FileNotFoundError):  # another writer; who tidied up
                continue
            for each in (folder, self.path, self.path.parent) if is_new else (folder,):
                atomic.force_names(each)
            return f"{folder.name}/{name}"

    def put(self, messages: Sequence[bytes], parted: Callable[[bytes], Parts]) -> int:
        """Put messages in, but for those parts of them that wait there, in whatever message: who
        put them in may have been ended before all were, or have cut them otherwise. Gives of how
        many all was there. Raises ``OSError``.
        """
        given = [*map(parted, messages)]
        wanted = {_digest(head, part) for head, parts in given for part in parts}
        there: set[bytes] = set()
        for data in self._waiting() if wanted else ():
            head, parts = parted(data)
            there |= wanted & {_digest(head, part) for part in parts}
        found = 0
        for head, parts in given:
            new = [part for part in parts if _digest(head, part) not in there]
            if new:
                self.add(head + b"".join(new))
                there |= {_digest(head, part) for part in new}
            else:
                found += 1
        return found

    def _waiting(self) -> Iterator[bytes]:
        """The messages that are there; of what is none, nothing."""
        for name in self.names() if self.path.is_dir() else ():
            path = self.path / name
            with suppress(FileNotFoundError):  # it was taken meanwhile
                told = os.lstat(path)
                if S_ISREG(told.st_mode) and told.st_size <= SIZE_LIMIT:
                    yield path.read_bytes()

    def names(self) -> Iterator[str]:
        """The names of all messages, in the order of time. Raises ``OSError``."""
        for folder in self._folders():
            with suppress(FileNotFoundError):
                for name in sorted(filter(_ELEMENT.fullmatch, os.listdir(self.path / folder))):
                    yield f"{folder}/{name}"

    def has(self, name: str) -> bool:
        """Whether a message is there, taken or not."""
        return os.path.lexists(self.path / name)

    def lock(self, name: str) -> bool:
        """Take a message; False if somebody else has it, or had it."""
        try:
            os.link(self.path / name, self._locked(name), follow_symlinks=False)
        except (FileExistsError, FileNotFoundError):
            return False
        try:
            os.utime(self.path / name, follow_symlinks=False)
        except FileNotFoundError:
            self.unlock(name)
            return False
        return True

    def read(self, name: str) -> bytes:
        """A message that was taken. Raises ``OSError`` and ``LimitExceeded``."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        handle = os.open(self._locked(name), flags)
        with open(handle, "rb") as stream:
            if not S_ISREG(os.fstat(handle).st_mode):
                raise OSError(22, "not a regular file", str(self.path / name))
            data = stream.read(SIZE_LIMIT + 1)
        if len(data) > SIZE_LIMIT:
            raise LimitExceeded("bytes in a message", SIZE_LIMIT)
        return data

    def unlock(self, name: str) -> None:
        """Give a message back."""
        with suppress(FileNotFoundError):
            os.unlink(self._locked(name))

    def remove(self, name: str) -> None:
        """Remove a message that was taken."""
        os.unlink(self.path / name)
        self.unlock(name)
        atomic.force_names((self.path / name).parent)

    def purge(self) -> None:
        """Remove what is left of writers and senders that were ended, and empty directories."""
        now = time.time()
        folders = list(self._folders())
        for folder in folders:
            with suppress(FileNotFoundError):
                _sweep(self.path / folder)
                for file in os.scandir(self.path / folder):
                    most = {_LOCK: STALE, _NEW: UNFINISHED}.get(file.name[-4:])
                    with suppress(FileNotFoundError):
                        if most and now - file.stat(follow_symlinks=False).st_mtime > most:
                            os.unlink(file)
        for folder in folders[:-1]:
            with suppress(OSError):  # it is not empty
                os.rmdir(self.path / folder)

    def _folders(self) -> Iterator[str]:
        yield from sorted(filter(_DIRECTORY.fullmatch, os.listdir(self.path)))

    def _locked(self, name: str) -> Path:
        return self.path / f"{name}{_LOCK}"


def _appear(folder: Path, name: str, data: bytes) -> None:
    """A new file, forced to disk; a process that is ended before leaves nothing of it."""
    handle = os.open(folder, atomic.FOLDER)
    try:
        new = atomic.Hidden(handle, name, 0o666)
        try:
            new.fill(data)
            new.appear_new()
        finally:
            new.end()
    except OSError as error:
        raise atomic.naming(error, str(folder / name)) from None
    finally:
        os.close(handle)


def _sweep(folder: Path) -> None:
    """Remove what ended processes left where a file system has no files without a name."""
    left = [*filter(atomic.is_hidden, os.listdir(folder))]
    if not left:
        return
    handle = os.open(folder, atomic.FOLDER)
    try:
        for name in left:
            atomic.sweep(handle, name)
    finally:
        os.close(handle)


def _digest(head: bytes, part: bytes) -> bytes:
    """What tells a part of a message from others."""
    return hashlib.sha256(head + part).digest()
