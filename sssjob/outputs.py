"""Files that a caller named: written whole or not at all, or into a device, a pipe or a descriptor.

A file appears as ``atomic`` lets it. Here stands what a name can lead to, and what of an old file
stays. ``Aside`` is for files that others write by a name, such as a database.
"""

from __future__ import annotations

import errno
import io
import os
import stat

from sssjob import atomic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import BinaryIO

    from _typeshed import ReadableBuffer

_INTO = os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC
_STORE = "is a store, and is not written over: name another file"
_LINKS = 40  # as many as Linux follows
_BUFFER = 1 << 16  # bytes
_AT_ONCE, _THREADS = 32, 8  # files, of two descriptors each, that are forced to disk together


class Unchanged(Exception):
    """Raised in the block of ``writing``, which ends there: the file stays as it is."""


def writing(path: str | os.PathLike[str], *, follow: bool = True) -> _AtomicOutput | _Into:
    """A stream, for a ``with`` block, into a file that a caller named; errors carry that name.

    A regular file, or one that is not there yet, appears when the block ends without an exception,
    and else stays as it is; its mode and owner stay in any case. A symbolic link is followed.
    Whatever else is there (a device, a FIFO, a descriptor as ``/dev/stdout`` is) is written into.

    A store is not replaced: it would be lost by a slip of the hand.
    Without ``follow`` only a regular file can be replaced: that is for names that no caller typed,
    in directories where others may write. Raises ``OSError``.
    """
    named = os.fspath(path)
    try:
        return _found(named, follow)
    except OSError as error:
        raise atomic.naming(error, named) from None


def _found(named: str, follow: bool) -> _AtomicOutput | _Into:
    """What is to be written: by directories that are held open, whatever becomes of their names."""
    path = named
    for _ in range(_LINKS):
        head, name = os.path.split(path)
        folder = os.open(head or ".", atomic.FOLDER)
        try:
            status = _status(folder, name)
            if follow and _is_descriptor(head, name):
                return _Into(_descriptor(folder, head, name), named)
            if status is None or stat.S_ISREG(status.st_mode):
                if status is not None and _is_store(folder, name):
                    raise OSError(errno.EEXIST, _STORE)
                return _AtomicOutput(folder, name, named, status)
            if not follow:
                raise OSError(errno.EINVAL, "is no regular file, and is left alone")
            if not stat.S_ISLNK(status.st_mode):
                return _Into(os.open(name, _INTO, dir_fd=folder), named)
            path = os.path.join(head, os.readlink(name, dir_fd=folder))
        finally:
            os.close(folder)
    raise _refusal(errno.ELOOP)


def _is_store(folder: int, name: str) -> bool:
    """Whether a regular file is a store; one that cannot be read is taken for none."""
    from sssjob.database_files import STORE, database, first_bytes

    try:
        return database(first_bytes(name, folder=folder)) == STORE
    except OSError:
        return False


def _status(folder: int, name: str) -> os.stat_result | None:
    """What has a name, itself and not what it leads to; None if nothing has."""
    if name in ("", ".", ".."):
        raise _refusal(errno.EISDIR)
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise _refusal(errno.EISDIR)
    _check_planted(status, os.fstat(folder))
    if stat.S_ISREG(status.st_mode) and not os.access(
        name, os.W_OK, dir_fd=folder, effective_ids=os.access in os.supports_effective_ids
    ):
        raise _refusal(errno.EACCES)
    return status


def _check_planted(found: os.stat_result, folder: os.stat_result) -> None:
    """In /tmp and its like, what a stranger put there is not ours to write: so Linux has it, too.

    A link would lead us elsewhere; a file would stay theirs, with what we wrote.
    """
    everybodys = stat.S_ISVTX | stat.S_IWOTH
    if folder.st_mode & everybodys == everybodys and found.st_uid not in (
        os.geteuid(), folder.st_uid,
    ):  # fmt: skip
        raise OSError(errno.EACCES, "another user put it there, where everybody may")


def _is_descriptor(head: str, name: str) -> bool:
    """Whether a path is a descriptor of a process: what that is open on may have no name."""
    real = os.path.realpath(head) if name.isdecimal() else ""
    return real.startswith("/proc/") and real.endswith("/fd")


def _descriptor(folder: int, head: str, name: str) -> int:
    """A descriptor like one of a process; one of our own shares its place in the file."""
    ours = os.path.join(os.path.realpath("/proc/self"), "")
    if os.path.realpath(head).startswith(ours):
        return os.dup(int(name))
    return os.open(name, _INTO | os.O_APPEND, dir_fd=folder)


def _refusal(code: int) -> OSError:
    return OSError(code, os.strerror(code))


def _of(named: str, step: Callable[..., object], *given: object) -> None:
    """Take a step, whose errors name the file that a caller knows."""
    try:
        step(*given)
    except OSError as error:
        raise atomic.naming(error, named) from None


class Many:
    """Files that a caller named, for a ``with`` block, each as by ``writing``: with less waiting.

    Some tens are forced to disk at the same time, and appear then; their directories are forced to
    disk when the block ends. What has not appeared when an exception ends it goes.
    """

    def __init__(self) -> None:
        from concurrent.futures import ThreadPoolExecutor  # slow to import

        self._pool = ThreadPoolExecutor(_THREADS)
        self._waiting: list[_AtomicOutput] = []
        self._folders: dict[tuple[int, int], tuple[int, str]] = {}

    def __enter__(self) -> Many:
        return self

    def put(self, path: str | os.PathLike[str], content: bytes, mode: int | None = None) -> None:
        """Write a file. Its mode is that of the old one, or of new ones. Raises ``OSError``."""
        file = writing(path)
        if isinstance(file, _Into):
            with file as stream:
                stream.write(content)
            return
        try:
            file.__enter__().write(content)
            file.settle(mode)
            self._waiting.append(file)
        except BaseException:
            file.end()
            raise
        if len(self._waiting) >= _AT_ONCE:
            self._appear()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        try:
            if kind is None:
                self._appear()
            for handle, named in self._folders.values():
                _of(named, atomic.force_names, handle)
        finally:
            self._pool.shutdown(cancel_futures=True)  # nobody forces a file that is closed
            for file in self._waiting:
                file.end()
            for handle, _ in self._folders.values():
                os.close(handle)
            self._folders.clear()

    def _appear(self) -> None:
        """Force those that wait to disk, and give each its name."""
        try:
            for _ in self._pool.map(_AtomicOutput.force, self._waiting):
                pass
        except RuntimeError:  # there may be no more threads
            for file in self._waiting:
                file.force()
        for file in self._waiting:
            folder = file.appear()
            status = os.fstat(folder)
            if (key := (status.st_dev, status.st_ino)) not in self._folders:
                self._folders[key] = os.dup(folder), file.named
            file.end()
        self._waiting.clear()


class _NamedDescriptor(io.FileIO):
    """A descriptor to write to, whose errors name the file that a caller knows."""

    def __init__(self, handle: int, named: str) -> None:
        super().__init__(handle, "wb")
        self._named = named

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise atomic.naming(error, self._named) from None


class _Into:
    """A stream into what cannot be replaced: what was written of it stays written."""

    def __init__(self, handle: int, named: str) -> None:
        self._file = io.BufferedWriter(_NamedDescriptor(handle, named), _BUFFER)

    def __enter__(self) -> BinaryIO:
        return self._file

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:  # fmt: skip
        if kind is None:
            self._file.close()
        else:
            self._file.raw.close()  # without the rest: who does not read would hold us up
        return kind is Unchanged


class _AtomicOutput:
    """A stream into a hidden file, which takes the place of a file when the block has ended.

    ``old`` is what stands there now, None if nothing; ``named`` is what the caller calls the file.
    """

    def __init__(self, folder: int, name: str, named: str, old: os.stat_result | None) -> None:
        self._folder = -1
        self._new: atomic.Hidden | None = None
        self._file: io.BufferedWriter | None = None
        self._name, self.named, self._old = name, named, old
        self._mode = old.st_mode & 0o777 if old else None
        self._folder = os.dup(folder)

    def __enter__(self) -> BinaryIO:
        # Without a mode the umask decides, or what the directory says of new files.
        mode = 0o666 if self._mode is None else 0o600
        try:
            self._new = atomic.Hidden(self._folder, self._name, mode)
            self._file = io.BufferedWriter(
                _NamedDescriptor(os.dup(self._new.handle), self.named), _BUFFER
            )
            self._keep_owner(self._new.handle)
        except OSError as error:
            self.end()
            raise atomic.naming(error, self.named) from None
        return self._file

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:  # fmt: skip
        try:
            if kind is None:
                self.settle()
                self.force()
                _of(self.named, atomic.force_names, self.appear())
        finally:
            self.end()
        return kind is Unchanged

    def __del__(self) -> None:
        self.end()  # a signal may come before a block begins, or before its end

    def _keep_owner(self, handle: int) -> None:
        """Give the new file to the owner of the old one, whom it would be taken from otherwise."""
        new, old = os.fstat(handle), self._old
        if old is None or (old.st_uid, old.st_gid) == (new.st_uid, new.st_gid):
            return
        try:
            os.fchown(handle, old.st_uid, old.st_gid)
        except PermissionError:
            text = "is another user's, and only root could replace it so that it stays theirs"
            raise OSError(errno.EPERM, text) from None

    def settle(self, mode: int | None = None) -> None:
        """Write the rest, and set the mode, where it is another one. Raises ``OSError``."""
        assert self._file is not None
        mode = self._mode if mode is None else mode
        _of(self.named, self._file.close)
        if mode is not None:
            _of(self.named, os.fchmod, self._handle, mode)

    def force(self) -> None:
        """Force what is settled to disk. Raises ``OSError``."""
        _of(self.named, os.fsync, self._handle)

    def appear(self) -> int:
        """Give it its name, in the directory that is given back. Raises ``OSError``."""
        assert self._new is not None
        _of(self.named, self._new.appear)
        return self._folder

    @property
    def _handle(self) -> int:
        assert self._new is not None
        return self._new.handle

    def end(self) -> None:
        """Close everything; what has not got its name yet goes. Once more, it does nothing."""
        if self._file is not None:
            self._file.raw.close()  # and what is left in its buffer goes, too
        if self._new is not None:
            self._new.end()
        if self._folder >= 0:
            os.close(self._folder)
        self._folder, self._new, self._file = -1, None, None


class Aside:
    """An empty file with a hidden name beside another one; a ``with`` block gets its path.

    It goes when the block ends, and so does what was made beside it: by its name with one of
    ``ends``. What killed processes left of all this goes first. Raises ``OSError``.
    """

    def __init__(self, path: str | os.PathLike[str], ends: tuple[str, ...] = ()) -> None:
        self._head, self._name = os.path.split(os.fspath(path))
        self._ends = ends

    def __enter__(self) -> str:
        self._folder = os.open(self._head or ".", atomic.FOLDER)
        try:
            for hidden in atomic.places(self._name):
                atomic.sweep(self._folder, hidden, self._ends)
            self._held = atomic.Hidden(self._folder, self._name, 0o644, is_named=True)
        except BaseException:
            os.close(self._folder)
            raise
        return os.path.join(self._head, self._held.hidden)

    def __exit__(self, *_: object) -> None:
        for end in self._ends:  # first, since they are found by the file that is locked
            atomic.remove(self._folder, self._held.hidden + end)
        self._held.end()
        os.close(self._folder)


def end_second_names(path: str | os.PathLike[str]) -> None:
    """Take away hidden names of a file itself: who was killed while it got its name left one.

    Nobody needs such a name, and it is not opened: that would end the locks of this process.
    """
    head, name = os.path.split(os.fspath(path))
    for each in atomic.places(name):
        hidden = os.path.join(head, each)
        try:
            if os.path.samestat(os.lstat(hidden), os.lstat(path)):
                os.unlink(hidden)
        except OSError:
            continue  # as mostly: there is none
