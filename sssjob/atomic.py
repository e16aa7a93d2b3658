"""Atomic write: a file appears whole or not at all, whoever reads it while it is written.

Strategy. Others read a file while it is written, disks get full, and processes are killed: nobody
must ever see half of a file, and no halves must be left.

The idea is that what is written goes to a file without a name, is forced to disk, and gets the name
of the file in one step, which is forced to disk as well.

Why it is right: until that step readers have the old file, and from it on the new one, whole. If
anything goes wrong before, what was written goes and the old file stays; a process that is killed
leaves nothing behind, since what has no name goes with it. What stands here is for the files of a
directory of our own; ``outputs`` writes files that a caller named, in the same way.

Only to replace a file it needs a second name, for a moment: ``.sssjob-``, a sum of the file's name,
and a number. Where a file system has no files without a name, what is written has that name all
the time, and so has what others write by its name. It is locked meanwhile; so who writes the same
file later knows a name that a killed process left, and takes it away.

Hooks write before every job: nothing here that is slow to import.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_OPEN = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_UNNAMED = getattr(os, "O_TMPFILE", 0) | os.O_WRONLY | os.O_CLOEXEC
_LEFT = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_SYNCED = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_PRIME = 0xFFFF_FFFB  # the greatest of 32 bits: names have different sums, and nothing is imported
_HIDDEN = ".sssjob-"  # how each hidden name begins
_DIGITS = "0123456789abcdef"
PLACES = 8  # names that processes take which write the same file at once


def put(
    folder: int | str | os.PathLike[str], name: str, content: bytes, mode: int = 0o644, *,
    durable: bool = True,
) -> None:  # fmt: skip
    """Put a file into a directory; a link or whatever else has its name there is replaced.

    It has the mode whatever the umask is. What is made anew after a loss of power need not be
    ``durable``. Raises ``OSError``, which names the file as the caller does.
    """
    handle = folder if isinstance(folder, int) else os.open(folder, FOLDER)
    try:
        new = Hidden(handle, name, 0o600)
        try:
            new.fill(content, mode, durable=durable)
            new.appear()
        finally:
            new.end()
        if durable:
            force_names(handle)
    except OSError as error:
        raise naming(error, name) from None
    finally:
        if handle != folder:
            os.close(handle)


def put_all(folder: int, contents: Mapping[str, bytes], mode: int = 0o644) -> None:
    """Put several files into a directory: all are on disk before the first one gets its name.

    So a full disk leaves everything as it was. The mode is as of ``put``. Raises ``OSError``.
    """
    with AtomicFiles(folder, contents, mode) as new:
        for name in contents:
            new.appear(name)


class AtomicFiles:
    """Several new files of a directory, for a ``with`` block: on disk, and not seen yet.

    Those that have not appeared when the block ends go. The mode is as of ``put``. Raises
    ``OSError``.
    """

    def __init__(self, folder: int, contents: Mapping[str, bytes], mode: int = 0o644) -> None:
        self._folder, self._contents, self._mode = folder, contents, mode
        self._hidden: dict[str, Hidden] = {}

    def __enter__(self) -> AtomicFiles:
        try:
            for name, content in self._contents.items():
                self._hidden[name] = Hidden(self._folder, name, 0o600)
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


class Hidden:
    """A new file that is not seen yet; ``handle`` is open for writing, and belongs to it."""

    def __init__(self, folder: int, name: str, mode: int, *, is_named: bool = False) -> None:
        """Raises ``OSError``."""
        self._folder, self._name, self.hidden = folder, name, ""
        try:
            self.handle = -1 if is_named else _unnamed(folder, mode)
            if self.handle < 0:
                self._take(lambda hidden: self._make(hidden, mode))
        except OSError as error:
            raise naming(error, name) from None

    def fill(self, content: bytes, mode: int | None = None, *, durable: bool = True) -> None:
        """Write this, with a mode, and force it to disk if it is ``durable``. Raises ``OSError``.

        Errors name the file as it is called later.
        """
        try:
            view = memoryview(content)
            while view:
                view = view[os.write(self.handle, view) :]
            if mode is not None:
                os.fchmod(self.handle, mode)
            if durable:
                os.fsync(self.handle)
        except OSError as error:
            raise naming(error, self._name) from None

    def appear(self) -> None:
        """Give it its name, and close it. Raises ``OSError``, which tells that name."""
        try:
            self._appear()
        except OSError as error:
            raise naming(error, self._name) from None
        finally:
            self.end()

    def appear_new(self) -> None:
        """The same; raises ``FileExistsError`` where something has its name."""
        try:
            if self.hidden:
                os.link(self.hidden, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
            else:
                self._link(self._name)
        except OSError as error:
            raise naming(error, self._name) from None
        finally:
            self.end()

    def _appear(self) -> None:
        if not self.hidden:
            try:
                return self._link(self._name)
            except FileExistsError:
                lock(self.handle)
                self._take(self._link)
        os.rename(self.hidden, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        self.hidden = ""

    def end(self) -> None:
        """Close it; without its name, it goes. Once more, it does nothing."""
        if self.hidden:
            remove(self._folder, self.hidden)
        self.hidden, handle, self.handle = "", self.handle, -1
        if handle >= 0:  # forgotten first: whatever interrupts this, it is not closed twice
            os.close(handle)

    def _link(self, name: str) -> None:
        os.link(_proc(self.handle), name, dst_dir_fd=self._folder, follow_symlinks=True)

    def _make(self, hidden: str, mode: int) -> None:
        handle = os.open(hidden, _OPEN, mode, dir_fd=self._folder)
        if not is_kept(self._folder, hidden, handle):
            os.close(handle)
            import errno

            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), hidden)
        self.handle = handle

    def _take(self, make: Callable[[str], None]) -> None:
        """Make it under one of its names, or else under one by chance."""
        for hidden in places(self._name):
            for _ in range(2):
                try:
                    make(hidden)
                except FileExistsError:
                    if not sweep(self._folder, hidden):
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
        if not _is_lacking(error):
            raise
        return -1
    if not os.path.exists(_proc(handle)):
        os.close(handle)
        return -1
    return handle


def _proc(handle: int) -> str:
    return f"/proc/self/fd/{handle}"


def hidden_head(name: str) -> str:
    """How the hidden names begin under which something is made that gets a name later."""
    return f"{_HIDDEN}{int.from_bytes(os.fsencode(name), 'big') % _PRIME:08x}"


def is_hidden(name: str) -> bool:
    """Whether a name is one of these, whatever is made under it."""
    total, _, place = name.removeprefix(_HIDDEN).partition("-")
    is_ours = name.startswith(_HIDDEN) and len(total) == 8 and bool(place)
    return is_ours and not (total + place).strip(_DIGITS)


def places(name: str) -> tuple[str, ...]:
    """The hidden names that processes take which write a file at once."""
    head = hidden_head(name)
    return tuple([f"{head}-{place}" for place in range(PLACES)])


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
    return is_named(folder, hidden, handle)


def is_named(folder: int, name: str, handle: int) -> bool:
    """Whether a name still leads to what is open."""
    try:
        named = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return os.path.samestat(named, os.fstat(handle))


def sweep(folder: int, name: str, ends: tuple[str, ...] = ()) -> bool:
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
        if is_named(folder, name, handle):  # else another one took it away, or it has its name
            for each in (*ends, ""):
                remove(folder, name + each)
        return True
    finally:
        os.close(handle)


def force_names(folder: int | str | os.PathLike[str]) -> None:
    """Force the names in a directory to disk, as far as it lets us. Raises ``OSError``."""
    place, above = (".", folder) if isinstance(folder, int) else (folder, None)
    try:
        handle = os.open(place, _SYNCED, dir_fd=above)
    except PermissionError:  # a directory that may be written and not be read
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if not _is_lacking(error):
            raise
    finally:
        os.close(handle)


def _is_lacking(error: OSError) -> bool:
    """Whether a file system has no such thing, as those of some networks lack some."""
    import errno  # hooks start sooner without it

    return error.errno in (errno.EOPNOTSUPP, errno.EINVAL)


def naming(error: OSError, named: str) -> OSError:
    """The same error about the file that a caller knows."""
    error.filename, error.filename2 = named, None
    return error


def remove(folder: int, name: str) -> None:
    """Take a name away, if it is there and can be."""
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:
        return  # it was never made, or what went wrong before is the better thing to tell
