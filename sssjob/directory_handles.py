"""Directories by handle: what root does where users write stays where root meant it.

Strategy. A path is looked up anew at each use. Whoever can write in one of its directories can
put a link, or another directory, in the place of the next one between two uses.

The idea is to look up once. A directory below which root makes, removes or gives away anything is
opened name by name from ``/``, without following a link, and in each directory on the way nobody
but root may be able to write (``protected``). All that follows is asked of the handle, with single
names.

Why it is right: a handle stays at its directory, whatever its path is renamed to, and a single
name in it leads nowhere else as long as no link is followed. What users put into a directory of
their own is unlinked, never followed. Directories that are nested in it are moved up before they
are emptied, so that no step depends on how deep they were, and the entries of a tree are counted.

Hooks work before every job: nothing here that is slow to import.
"""

from __future__ import annotations

import errno
import os
import stat

from sssjob import atomic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator
    from types import TracebackType
    from typing import ParamSpec

    P = ParamSpec("P")
    Place = str | os.PathLike[str] | int

MOST = 2_000_000  # entries of one tree that are removed at once
_AT_ONCE = 1_000  # names of a directory that are held at once
_READ = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_PASS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_ROOT = 0
_DIGITS = 16  # of the number behind the name of what is removed
_LINKS = 40  # as many as Linux follows
_EXCHANGE = 2  # of renameat2
_NOSUID, _NODEV, _NOEXEC = 2, 4, 8  # of mount
_DETACH, _NO_FOLLOW = 2, 8  # of umount2
# What a system, a file system, or a directory above answers where it allows no exchange.
_NOT_HERE = (
    errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.ENOSYS, errno.EINVAL,
    errno.EOPNOTSUPP, errno.EXDEV, errno.EMLINK,
)  # fmt: skip


class _Block:
    """A ``with`` block of a generator that gives a handle, and raises again what is raised in it.

    ``contextlib`` would do. To import that takes a quarter of the time of a hook.
    """

    __slots__ = ("_steps",)

    def __init__(self, steps: Generator[int, None, None]) -> None:
        self._steps = steps

    def __enter__(self) -> int:
        return next(self._steps)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if error is None:
            next(self._steps, None)
            return
        try:
            self._steps.throw(error)
        except BaseException as raised:
            if raised is not error and raised.__cause__ is not error:
                raise


def _block(function: Callable[P, Generator[int, None, None]]) -> Callable[P, _Block]:
    """What gives such a block, of what gives its generator."""

    def begin(*args: P.args, **kwargs: P.kwargs) -> _Block:
        return _Block(function(*args, **kwargs))

    begin.__name__, begin.__doc__ = function.__name__, function.__doc__
    return begin


@_block
def protected(path: str | os.PathLike[str], *, make: bool = False) -> Generator[int, None, None]:
    """A handle of a directory that nobody but root and this user can exchange or lead elsewhere.

    With ``make`` what is missing of it is made, open to all for reading whatever the umask is.
    Raises ``Unprotected`` with the reason, or ``OSError``.
    """
    named = os.fspath(path)
    handle = -1
    try:
        handle = _walked(named, make)
        yield handle
    finally:
        if handle >= 0:
            os.close(handle)


def check(path: str | os.PathLike[str]) -> None:
    """Raise ``Unprotected`` if others can lead a path elsewhere, as far as it is there."""
    try:
        os.close(_walked(os.fspath(path), make=False))
    except FileNotFoundError:
        return  # what is there is all right


@_block
def opened(place: Place) -> Generator[int, None, None]:
    """A handle of a directory that a caller named, or of one that is open already.

    Root follows a link in its name only where the link is root's.
    """
    if isinstance(place, int):
        handle = os.open(".", _READ, dir_fd=place)
    elif os.geteuid() == _ROOT:
        handle = _followed(os.fspath(place))
    else:
        handle = os.open(place, _READ)
    try:
        yield handle
    finally:
        os.close(handle)


@_block
def made(folder: int, name: str, mode: int = 0o755) -> Generator[int, None, None]:
    """A handle of a new directory, which has its name when the block ends without an exception.

    Before that it is hidden; if anything goes wrong it is removed, with all that is in it, and if
    the process is killed, by the next one that makes this directory. The mode holds whatever the
    umask is. Raises ``OSError``, also where the name is taken.
    """
    hidden, handle = _fresh(folder, name)
    try:
        try:
            yield handle
            os.fchmod(handle, mode)
            os.fsync(handle)
            _name(folder, hidden, name)
        except BaseException:
            remove_tree(folder, hidden)
            raise
        atomic.force_names(folder)  # or it would be gone after a loss of power
    finally:
        os.close(handle)


class Irreplaceable(Exception):
    """Raised where no other directory can take the place of one, for a reason of the system."""


@_block
def replacing(folder: int, ours: Collection[str]) -> Generator[int, None, None]:
    """A handle of a new directory that takes the place of an open one when the block ends.

    They are exchanged in one step, and the old one is removed. Mode, owner, extended attributes
    and all files but ``ours`` stay. Raises ``Irreplaceable``, or ``OSError``: the old one stays.
    """
    above, name = _whereabouts(folder)
    hidden, handle, stands = "", -1, False
    try:
        hidden, handle = _fresh(above, name)
        yield handle
        _keep(folder, handle, ours)
        _resemble(handle, folder)
        os.fsync(handle)
        _exchange(above, hidden, name)
        if not os.path.samestat(_status(above, hidden), os.fstat(folder)):
            _exchange(above, hidden, name)  # another one was quicker
            raise Irreplaceable(name)
        stands = True
        _keep_late(folder, handle, ours)
        os.fsync(above)
    except OSError as error:
        if error.errno in _NOT_HERE and not stands:
            raise Irreplaceable(str(error)) from None
        raise
    finally:
        if hidden:
            os.close(handle)
            _discard(above, hidden)
        os.close(above)


def _whereabouts(folder: int) -> tuple[int, str]:
    """A handle of the directory above one, and the name that it has there."""
    if os.path.samestat(os.stat("."), os.fstat(folder)):
        raise Irreplaceable(".")  # who called us would stand in one that is gone
    try:
        name = os.path.basename(os.readlink(f"/proc/self/fd/{folder}"))
        above = os.open("..", _READ, dir_fd=folder)
    except OSError as error:
        raise Irreplaceable(str(error)) from None
    try:
        is_it = bool(name) and os.path.samestat(_status(above, name), os.fstat(folder))
    except FileNotFoundError:
        is_it = False
    if not is_it:
        os.close(above)
        raise Irreplaceable(name)
    return above, name


def _resemble(handle: int, folder: int) -> None:
    """Give a new directory the owner, the mode and the attributes of the old one."""
    old = os.fstat(folder)
    if (old.st_uid, old.st_gid) != (os.fstat(handle).st_uid, os.fstat(handle).st_gid):
        os.fchown(handle, old.st_uid, old.st_gid)
    os.fchmod(handle, stat.S_IMODE(old.st_mode))
    if hasattr(os, "listxattr"):
        for name in os.listxattr(folder):
            os.setxattr(handle, name, os.getxattr(folder, name))


def _exchange(folder: int, one: str, other: str) -> None:
    """Exchange what two names lead to. Raises ``OSError``."""
    import ctypes

    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if call(folder, os.fsencode(one), folder, os.fsencode(other), _EXCHANGE):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), other)


def _keep(old: int, new: int, ours: Collection[str]) -> None:
    """Have the files of others in a new directory, too."""
    for name in _others(old, ours):
        try:
            os.link(name, name, src_dir_fd=old, dst_dir_fd=new, follow_symlinks=False)
        except FileNotFoundError:
            continue  # it has just gone


def _keep_late(old: int, new: int, ours: Collection[str]) -> None:
    """Move what others put into a directory while it was exchanged."""
    for name in os.listdir(old):
        try:
            if name not in ours and not _is_same(old, new, name):
                os.rename(name, name, src_dir_fd=old, dst_dir_fd=new)
        except FileNotFoundError:
            continue


def _others(folder: int, ours: Collection[str]) -> list[str]:
    names = os.listdir(folder)
    if len(names) > _AT_ONCE:
        raise Irreplaceable(f"more than {_AT_ONCE} entries")
    return [name for name in names if name not in ours]


def _is_same(one: int, other: int, name: str) -> bool:
    try:
        there = _status(other, name)
    except FileNotFoundError:
        return False
    return os.path.samestat(_status(one, name), there)


def _status(folder: int, name: str) -> os.stat_result:
    return os.stat(name, dir_fd=folder, follow_symlinks=False)


def _discard(folder: int, hidden: str) -> None:
    """Remove what is needed no more; who makes the same directory next removes it otherwise."""
    try:  # noqa: SIM105  (without contextlib, see above)
        remove_tree(folder, hidden)
    except OSError:
        pass


def _fresh(folder: int, name: str) -> tuple[str, int]:
    """The name and a handle of a new hidden directory, which nobody takes for a leftover."""
    head = atomic.hidden_head(name)
    for place in (*range(atomic.PLACES), os.urandom(8).hex()):
        hidden = f"{head}-{place}"
        if is_there(folder, hidden) and not _sweep(folder, hidden):
            continue
        try:
            os.mkdir(hidden, 0o700, dir_fd=folder)
            handle = os.open(hidden, _READ | os.O_NOFOLLOW, dir_fd=folder)
        except (FileExistsError, FileNotFoundError):
            continue  # another one makes it at this moment, or takes it for a leftover
        if atomic.is_kept(folder, hidden, handle):
            return hidden, handle
        os.close(handle)
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)


def sweep_beside(folder: int) -> None:
    """Remove what killed processes left that exchanged, or were to exchange, an open directory."""
    try:
        above, name = _whereabouts(folder)
    except Irreplaceable:
        return
    try:
        for place in range(atomic.PLACES):
            hidden = f"{atomic.hidden_head(name)}-{place}"
            if is_there(above, hidden):
                _sweep(above, hidden)
    finally:
        os.close(above)


def _sweep(folder: int, hidden: str) -> bool:
    """Remove what a killed process left under a name; whether that could be."""
    try:
        handle = os.open(hidden, _READ | os.O_NOFOLLOW, dir_fd=folder)
    except OSError:
        return False
    try:
        if os.fstat(handle).st_uid == os.geteuid() and atomic.lock(handle):
            _discard(folder, hidden)
        return not is_there(folder, hidden)
    finally:
        os.close(handle)


@_block
def inside(folder: int, name: str) -> Generator[int, None, None]:
    """A handle of a directory in another one; a link is none. Raises ``OSError``."""
    handle = os.open(name, _READ | os.O_NOFOLLOW, dir_fd=folder)
    try:
        yield handle
    finally:
        os.close(handle)


@_block
def kept(folder: int, name: str, mode: int) -> Generator[int, None, None]:
    """A handle of a directory that may be there, and is made if it is not; it has the mode then.

    Raises ``OSError``, also where something else has its name: a link is none.
    """
    try:  # noqa: SIM105  (without contextlib, see above)
        os.mkdir(name, mode, dir_fd=folder)
    except FileExistsError:
        pass  # it is opened, and then it has to be a directory
    with inside(folder, name) as handle:
        os.fchmod(handle, mode)
        yield handle


def mount(folder: int, name: str, options: str) -> None:
    """Mount a file system in memory on a directory in another one, with its own limits.

    ``options`` are those of tmpfs, such as ``size=65536,nr_inodes=64``. What is on it cannot be
    run, and is no device. Raises ``OSError``.
    """
    with inside(folder, name) as handle:
        _call(
            "mount", b"tmpfs", os.fsencode(f"/proc/self/fd/{handle}"), b"tmpfs",
            _NOSUID | _NODEV | _NOEXEC, options.encode("ascii"),
        )  # fmt: skip


def unmount(folder: int, name: str) -> bool:
    """Take away what is mounted on a directory, used or not; False if nothing is.

    Raises ``OSError``.
    """
    try:
        with inside(folder, name) as handle:
            if os.fstat(handle).st_dev == os.fstat(folder).st_dev:
                return False
    except (FileNotFoundError, NotADirectoryError, OSError) as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return False
        raise
    _call("umount2", os.fsencode(f"/proc/self/fd/{folder}/{name}"), _DETACH | _NO_FOLLOW)
    return True


def _call(name: str, *arguments: object) -> None:
    """A call of the C library that Python has not. Raises ``OSError``."""
    import ctypes

    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), name)


def _name(folder: int, hidden: str, name: str) -> None:
    """Rename a directory; one that is there stays, though a rename would replace an empty one."""
    taken = FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
    if is_there(folder, name):
        raise taken
    try:
        os.rename(hidden, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        raise taken if error.errno in (errno.ENOTEMPTY, errno.EEXIST) else error from None


def is_there(folder: int, name: str) -> bool:
    """Whether anything has a name in a directory, be it a link that leads nowhere."""
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def remove_tree(folder: int, name: str, *, most: int = MOST) -> bool:
    """Remove what has a name in a directory, with all below it; False if nothing has.

    It is gone from its name at once. Follows no link, and goes into no directory that is nested in
    another one. Raises ``OSError``, with what is left under a hidden name, also for more than
    ``most`` entries.
    """
    hidden = name if name.startswith(".") else _hidden(name)
    try:
        if hidden != name:
            os.rename(name, hidden, src_dir_fd=folder, dst_dir_fd=folder)
        if not stat.S_ISDIR(os.stat(hidden, dir_fd=folder, follow_symlinks=False).st_mode):
            os.unlink(hidden, dir_fd=folder)
            return True
    except FileNotFoundError:
        return False
    try:
        top = _entered(folder, hidden)
        try:
            os.fchmod(top, 0o700)  # who still runs there comes in no more
            _empty(top, hidden, most)
        finally:
            os.close(top)
        os.rmdir(hidden, dir_fd=folder)
    except FileNotFoundError:
        pass  # who looks for leftovers removes it at this moment
    return True


def sweep(folder: int) -> None:
    """Go on with what killed processes began to remove in a directory, as far as that can be."""
    for name in os.listdir(folder):
        head, _, number = name.rpartition(".")
        if head.startswith(".") and len(number) == _DIGITS and number.isalnum():
            _discard(folder, name)


def _empty(top: int, named: str, most: int) -> None:
    """Remove all entries; a directory among them gives up its own directories to this one first."""
    left = most
    while entries := _some(top):
        for name, is_directory in entries:
            if is_directory:
                left -= _lift(top, name, left)
            else:
                os.unlink(name, dir_fd=top)
            left -= 1
            if left < 0:
                raise OSError(errno.E2BIG, f"it holds more than {most} entries", named)


def _lift(top: int, name: str, most: int) -> int:
    """Remove a directory, with its files, and move its directories up; how many entries it had."""
    count = 0
    handle = _entered(top, name)
    try:
        while count <= most and (entries := _some(handle)):
            for each, is_directory in entries:
                if is_directory:
                    _permit(handle, each)
                    os.rename(each, _hidden(""), src_dir_fd=handle, dst_dir_fd=top)
                else:
                    os.unlink(each, dir_fd=handle)
            count += len(entries)
    finally:
        os.close(handle)
    if count <= most:
        os.rmdir(name, dir_fd=top)
    return count


def _entered(folder: int, name: str) -> int:
    """A handle of a directory that is to be emptied."""
    _permit(folder, name)
    return os.open(name, _READ | os.O_NOFOLLOW, dir_fd=folder)


def _permit(folder: int, name: str) -> None:
    """Who is not root may have to permit himself what he does to a directory of his own."""
    if os.geteuid() != _ROOT:
        os.chmod(name, 0o700, dir_fd=folder)


def _some(folder: int) -> list[tuple[str, bool]]:
    """Some entries of a directory, and whether each is a directory itself."""
    found: list[tuple[str, bool]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            found.append((entry.name, entry.is_dir(follow_symlinks=False)))
            if len(found) == _AT_ONCE:
                break
    return found


def _hidden(name: str) -> str:
    return f".{name[:200]}.{os.urandom(_DIGITS // 2).hex()}"


def _walked(named: str, make: bool) -> int:
    """A handle of a directory after a walk on which every step was judged."""
    names = [name for name in os.path.abspath(named).split(os.sep) if name]
    place = os.sep
    handle = os.open(place, _PASS if names else _READ)
    try:
        for index, name in enumerate(names, 1):
            _judge(os.fstat(handle), place, named, is_last=False)
            place = os.path.join(place, name)
            flags = (_READ if index == len(names) else _PASS) | os.O_NOFOLLOW
            following = _step(handle, name, flags, place, make=make)
            os.close(handle)
            handle = following
        _judge(os.fstat(handle), place, named, is_last=True)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _step(handle: int, name: str, flags: int, place: str, *, make: bool) -> int:
    """The next directory of a walk; ``place`` is its path, for whoever is told of errors."""
    try:
        return os.open(name, flags, dir_fd=handle)
    except FileNotFoundError as error:
        if not make:
            error.filename = place
            raise
    except OSError as error:
        error.filename = place
        if stat.S_ISLNK(os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode):
            raise _unprotected(place, "is a link, which may lead elsewhere later") from None
        raise
    try:
        os.mkdir(name, 0o700, dir_fd=handle)
    except FileExistsError:  # another job that starts at this moment was quicker
        return _step(handle, name, flags, place, make=False)
    except OSError as error:
        error.filename = place
        raise
    made = os.open(name, _READ | os.O_NOFOLLOW, dir_fd=handle)
    os.fchmod(made, 0o755)  # mkdir obeys the umask
    return made


def _judge(status: os.stat_result, place: str, named: str, *, is_last: bool) -> None:
    """Refuse a directory in which others than root and this user could exchange names."""
    mine = os.geteuid()
    if status.st_uid not in (_ROOT, mine):
        raise _unprotected(place, f"belongs to {_user(status.st_uid)}", named)
    mode = stat.S_IMODE(status.st_mode)
    # In a sticky directory nobody renames what is another's, so that a user has his own below it.
    # That is not good enough for root: whoever comes first makes it.
    sticky = bool(mode & stat.S_ISVTX) and mine != _ROOT and not is_last
    if mode & _OTHERS and not sticky:
        raise _unprotected(place, f"can be written by others (mode {mode:04o})", named)


def _user(number: int) -> str:
    import pwd

    try:
        return f"the user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f"the user {number}"


def _unprotected(place: str, reason: str, named: str = "") -> Exception:
    from sssjob.errors import Unprotected

    return Unprotected(place, reason, named or place)


def _followed(named: str) -> int:
    """A handle of a directory, on the way to which only links of root were followed."""
    names = named.split(os.sep)[::-1]
    handle = os.open(os.sep if named.startswith(os.sep) else ".", _PASS)
    links = 0
    try:
        while names:
            name = names.pop()
            if name in ("", "."):
                continue
            status = os.stat(name, dir_fd=handle, follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                if status.st_uid != _ROOT:
                    reason = f"is a link of {_user(status.st_uid)}"
                    raise _unprotected(name, reason, named)
                links += 1
                if links > _LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), named)
                target = os.readlink(name, dir_fd=handle)
                names += target.split(os.sep)[::-1]
                start = os.sep if target.startswith(os.sep) else "."
                following = os.open(start, _PASS, dir_fd=handle)
            else:
                following = os.open(name, _PASS | os.O_NOFOLLOW, dir_fd=handle)
            os.close(handle)
            handle = following
        found = os.open(".", _READ, dir_fd=handle)
    except OSError as error:
        error.filename = named
        raise
    finally:
        os.close(handle)
    return found
