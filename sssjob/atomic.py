"""Atomic write: a file appears whole or not at all, whoever reads it while it is written.

Strategy. Others read a file while it is written, disks get full, and processes are killed: nobody
must ever see half of a file, and no halves must be left.

The idea is that what is written goes to a file without a name, is forced to disk, and gets the name
of the file in one step, which is forced to disk as well.

Why it is right: until that step readers have the old file, and from it on the new one, whole. If
anything goes wrong before, what was written goes and the old file stays; a process that is killed
leaves nothing behind, since what has no name goes with it. ``put`` is for the files of a directory
of our own, ``writing`` for a file that a caller named, which may be a device or a pipe as well.

Only to replace a file it needs a second name, for a moment: ``.sssjob-``, a sum of the file's name,
and a number. Where a file system has no files without a name, what is written has that name all
the time, and so has what others write by its name, as ``Aside``. It is locked meanwhile; so who
writes the same file later knows a name that a killed process left, and takes it away.

Hooks write before every job: nothing here that is slow to import.
"""

from __future__ import annotations

import errno
import io
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType
    from typing import BinaryIO

    from _typeshed import ReadableBuffer

_OPEN = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_INTO = os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_UNNAMED = getattr(os, "O_TMPFILE", 0) | os.O_WRONLY | os.O_CLOEXEC
_LEFT = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_SYNCED = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
PLACES = 8  # names that processes take which write the same file at once
_LINKS = 40  # as many as Linux follows
_BUFFER = 1 << 16  # bytes
_AT_ONCE, _THREADS = 32, 8  # files, of two descriptors each, that are forced to disk together


class Unchanged(Exception):
    """Raised in the block of ``writing``, which ends there: the file stays as it is."""


def put(
    folder: int | str | os.PathLike[str], name: str, content: bytes, mode: int = 0o644, *,
    durable: bool = True,
) -> None:  # fmt: skip
    """Put a file into a directory; a link or whatever else has its name there is replaced.

    It has the mode whatever the umask is. What is made anew after a loss of power need not be
    ``durable``. Raises ``OSError``.
    """
    handle = folder if isinstance(folder, int) else os.open(folder, _FOLDER)
    try:
        with _Whole(handle, name, name, mode=mode, durable=durable) as file:
            file.write(content)
    finally:
        if handle != folder:
            os.close(handle)


def put_all(folder: int, contents: Mapping[str, bytes], mode: int = 0o644) -> None:
    """Put several files into a directory: all are on disk before the first one gets its name.

    So a full disk leaves everything as it was. The mode is as of ``put``. Raises ``OSError``.
    """
    with Together(folder, contents, mode) as new:
        for name in contents:
            new.appear(name)


class Together:
    """Several new files of a directory, for a ``with`` block: on disk, and not seen yet.

    Those that have not appeared when the block ends go. The mode is as of ``put``. Raises
    ``OSError``.
    """

    def __init__(self, folder: int, contents: Mapping[str, bytes], mode: int = 0o644) -> None:
        self._folder, self._contents, self._mode = folder, contents, mode
        self._hidden: dict[str, _Hidden] = {}

    def __enter__(self) -> Together:
        try:
            for name, content in self._contents.items():
                self._hidden[name] = _Hidden(self._folder, name, 0o600)
                self._hidden[name].fill(content, self._mode)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def appear(self, name: str) -> None:
        """Give one its name. Raises ``OSError``."""
        self._hidden.pop(name).appear()

    def _end(self) -> None:
        for each in self._hidden.values():
            each.end()


class Aside:
    """An empty file with a hidden name beside another one; a ``with`` block gets its path.

    It goes when the block ends, and so does what was made beside it: by its name with one of
    ``ends``. What killed processes left of all this goes first. Raises ``OSError``.
    """

    def __init__(self, path: str | os.PathLike[str], ends: tuple[str, ...] = ()) -> None:
        self._head, self._name = os.path.split(os.fspath(path))
        self._ends = ends

    def __enter__(self) -> str:
        self._folder = os.open(self._head or ".", _FOLDER)
        try:
            for hidden in _places(self._name):
                _sweep(self._folder, hidden, self._ends)
            self._held = _Hidden(self._folder, self._name, 0o644, is_named=True)
        except BaseException:
            os.close(self._folder)
            raise
        return os.path.join(self._head, self._held.hidden)

    def __exit__(self, *_: object) -> None:
        for end in self._ends:  # first, since they are found by the file that is locked
            _remove(self._folder, self._held.hidden + end)
        self._held.end()
        os.close(self._folder)


def end_second_names(path: str | os.PathLike[str]) -> None:
    """Take away hidden names of a file itself: who was killed while it got its name left one.

    Nobody needs such a name, and it is not opened: that would end the locks of this process.
    """
    head, name = os.path.split(os.fspath(path))
    for each in _places(name):
        hidden = os.path.join(head, each)
        try:
            if os.path.samestat(os.lstat(hidden), os.lstat(path)):
                os.unlink(hidden)
        except OSError:
            continue  # as mostly: there is none


class _Hidden:
    """A new file that is not seen yet; ``handle`` is open for writing, and belongs to it."""

    def __init__(self, folder: int, name: str, mode: int, *, is_named: bool = False) -> None:
        """Raises ``OSError``."""
        self._folder, self._name, self.hidden = folder, name, ""
        self.handle = -1 if is_named else _unnamed(folder, mode)
        if self.handle < 0:
            self._take(lambda hidden: self._make(hidden, mode))

    def fill(self, content: bytes, mode: int) -> None:
        """Force this to disk. Raises ``OSError``."""
        view = memoryview(content)
        while view:
            view = view[os.write(self.handle, view) :]
        os.fchmod(self.handle, mode)
        os.fsync(self.handle)

    def appear(self) -> None:
        """Give it its name, and close it. Raises ``OSError``."""
        try:
            if not self.hidden:
                try:
                    return self._link(self._name)
                except FileExistsError:
                    lock(self.handle)
                    self._take(self._link)
            os.rename(self.hidden, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
            self.hidden = ""
        finally:
            self.end()

    def end(self) -> None:
        """Close it; without its name, it goes. Once more, it does nothing."""
        if self.hidden:
            _remove(self._folder, self.hidden)
        if self.handle >= 0:
            os.close(self.handle)
        self.hidden, self.handle = "", -1

    def _link(self, name: str) -> None:
        os.link(_proc(self.handle), name, dst_dir_fd=self._folder, follow_symlinks=True)

    def _make(self, hidden: str, mode: int) -> None:
        handle = os.open(hidden, _OPEN, mode, dir_fd=self._folder)
        if not is_kept(self._folder, hidden, handle):
            os.close(handle)
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), hidden)
        self.handle = handle

    def _take(self, make: Callable[[str], None]) -> None:
        """Make it under one of its names, or else under one by chance."""
        for hidden in _places(self._name):
            for _ in range(2):
                try:
                    make(hidden)
                except FileExistsError:
                    if not _sweep(self._folder, hidden):
                        break
                else:
                    self.hidden = hidden
                    return
        hidden = f"{hidden_head(self._name)}-{os.urandom(8).hex()}"
        make(hidden)
        self.hidden = hidden


def _unnamed(folder: int, mode: int) -> int:
    """A new file in a directory without a name; -1 where there is no such thing."""
    try:
        handle = os.open(".", _UNNAMED, mode, dir_fd=folder)
    except (FileNotFoundError, IsADirectoryError):  # a system that does not know of them
        return -1
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EINVAL):
            return -1
        raise
    if not os.path.exists(_proc(handle)):
        os.close(handle)
        return -1
    return handle


def _proc(handle: int) -> str:
    return f"/proc/self/fd/{handle}"


def hidden_head(name: str) -> str:
    """How the hidden names begin under which something is made that gets a name later."""
    import binascii  # hooks start sooner without it

    return f".sssjob-{binascii.crc32(os.fsencode(name)):08x}"


def _places(name: str) -> tuple[str, ...]:
    """The hidden names that processes take which write a file at once."""
    return tuple(f"{hidden_head(name)}-{place}" for place in range(PLACES))


def lock(handle: int) -> bool:
    """Whether a file is locked now; not where others hold it, or where files have no locks."""
    import fcntl  # hooks start sooner without it

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def is_kept(folder: int, hidden: str, handle: int) -> bool:
    """Lock what was just made; whether nobody who looks for leftovers came between."""
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # files have no locks there, and so nobody removes any
    return _is_named(folder, hidden, handle)


def _is_named(folder: int, name: str, handle: int) -> bool:
    try:
        named = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return os.path.samestat(named, os.fstat(handle))


def _sweep(folder: int, name: str, ends: tuple[str, ...] = ()) -> bool:
    """Take away what a killed process left under a name; whether that could be.

    ``ends`` are those of the names of what stands beside it, and goes with it.
    """
    try:
        handle = os.open(name, _LEFT, dir_fd=folder)
    except OSError:
        return False
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or not lock(handle):
            return False
        if _is_named(folder, name, handle):  # else another one took it away, or it has its name
            for each in (*ends, ""):
                _remove(folder, name + each)
        return True
    finally:
        os.close(handle)


def force_names(folder: int) -> None:
    """Force the names in a directory to disk, as far as it lets us. Raises ``OSError``."""
    try:
        handle = os.open(".", _SYNCED, dir_fd=folder)
    except PermissionError:  # a directory that may be written and not be read
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # as some networks' have it
            raise
    finally:
        os.close(handle)


def empty(directory: str | os.PathLike[str]) -> None:
    """Make a directory for files that belong together, unless there is one that holds nothing.

    Raises ``FileExistsError`` for one that holds anything, or another ``OSError``.
    """
    os.makedirs(directory, exist_ok=True)
    if os.listdir(directory):
        raise FileExistsError(errno.EEXIST, "the directory is not empty", os.fspath(directory))


def writing(path: str | os.PathLike[str], *, follow: bool = True) -> _Whole | _Into:
    """A stream, for a ``with`` block, into a file that a caller named; errors carry that name.

    A regular file, or one that is not there yet, appears when the block ends without an exception,
    and else stays as it is; its mode and owner stay in any case. A symbolic link is followed.
    Whatever else is there (a device, a FIFO, a descriptor as ``/dev/stdout`` is) is written into.

    Without ``follow`` only a regular file can be replaced: that is for names that no caller typed,
    in directories where others may write. Raises ``OSError``.
    """
    named = os.fspath(path)
    try:
        return _found(named, follow)
    except OSError as error:
        raise _naming(error, named) from None


def _found(named: str, follow: bool) -> _Whole | _Into:
    """What is to be written: by directories that are held open, whatever becomes of their names."""
    path = named
    for _ in range(_LINKS):
        head, name = os.path.split(path)
        folder = os.open(head or ".", _FOLDER)
        try:
            status = _status(folder, name)
            if follow and _is_descriptor(head, name):
                return _Into(_descriptor(folder, head, name), named)
            if status is None or stat.S_ISREG(status.st_mode):
                return _Whole(folder, name, named, old=status)
            if not follow:
                raise OSError(errno.EINVAL, "is no regular file, and is left alone")
            if not stat.S_ISLNK(status.st_mode):
                return _Into(os.open(name, _INTO, dir_fd=folder), named)
            path = os.path.join(head, os.readlink(name, dir_fd=folder))
        finally:
            os.close(folder)
    raise _refusal(errno.ELOOP)


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
        raise _naming(error, named) from None


def _naming(error: OSError, named: str) -> OSError:
    """The same error about the file that a caller knows."""
    error.filename, error.filename2 = named, None
    return error


class Many:
    """Files that a caller named, for a ``with`` block, each as by ``writing``: with less waiting.

    Some tens are forced to disk at the same time, and appear then; their directories are forced to
    disk when the block ends. What has not appeared when an exception ends it goes.
    """

    def __init__(self) -> None:
        from concurrent.futures import ThreadPoolExecutor  # slow to import

        self._pool = ThreadPoolExecutor(_THREADS)
        self._waiting: list[_Whole] = []
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
                _of(named, force_names, handle)
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
            for _ in self._pool.map(_Whole.force, self._waiting):
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


class _Named(io.FileIO):
    """A descriptor to write to, whose errors name the file that a caller knows."""

    def __init__(self, handle: int, named: str) -> None:
        super().__init__(handle, "wb")
        self._named = named

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise _naming(error, self._named) from None


class _Into:
    """A stream into what cannot be replaced: what was written of it stays written."""

    def __init__(self, handle: int, named: str) -> None:
        self._file = io.BufferedWriter(_Named(handle, named), _BUFFER)

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


class _Whole:
    """A stream into a hidden file, which takes the place of a file when the block has ended.

    ``old`` is what stands there now; ``named`` is what the caller calls the file.
    """

    def __init__(
        self, folder: int, name: str, named: str, *, mode: int | None = None,
        old: os.stat_result | None = None, durable: bool = True,
    ) -> None:  # fmt: skip
        self._folder = -1
        self._new: _Hidden | None = None
        self._file: io.BufferedWriter | None = None
        self._name, self.named = name, named
        self._mode = old.st_mode & 0o777 if old else mode
        self._old, self._durable = old, durable
        self._folder = os.dup(folder)

    def __enter__(self) -> BinaryIO:
        # Without a mode the umask decides, or what the directory says of new files.
        mode = 0o666 if self._mode is None else 0o600
        try:
            self._new = _Hidden(self._folder, self._name, mode)
            self._file = io.BufferedWriter(_Named(os.dup(self._new.handle), self.named), _BUFFER)
            self._keep_owner(self._new.handle)
        except OSError as error:
            self.end()
            raise _naming(error, self.named) from None
        return self._file

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:  # fmt: skip
        try:
            if kind is None:
                self.settle()
                if self._durable:
                    self.force()
                folder = self.appear()
                if self._durable:
                    _of(self.named, force_names, folder)
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


def _remove(folder: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:
        return  # it was never made, or what went wrong before is the better thing to tell
