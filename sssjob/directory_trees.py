"""Directories as a whole, below a handle: made, exchanged, mounted on, and removed.

A new directory is made under a hidden name, as ``atomic`` makes files, and gets its name when it is
ready. What users put into a directory of their own is unlinked, never followed. Directories that
are nested in it are moved up before they are emptied, so that no step depends on how deep they
were, and the entries of a tree are counted.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from sssjob import atomic
from sssjob import directory_handles as handles

_HANDLES = Path("/proc/self/fd")  # where a handle is a path
MOST = 2_000_000  # entries of one tree that are removed at once
_AT_ONCE = 1_000  # names of a directory that are held at once
_DIGITS = 16  # of the number behind the name of what is removed
_EXCHANGE = 2  # of renameat2
_NOSUID, _NODEV, _NOEXEC = 2, 4, 8  # of mount
_DETACH, _NO_FOLLOW = 2, 8  # of umount2
# What umount2 answers where nothing is, or where nobody can mount anything.
_NOT_MOUNTED = (errno.EINVAL, errno.ENOENT, errno.ENOTDIR, errno.EPERM)
# What a system, a file system, or a directory above answers where it allows no exchange.
_NOT_HERE = (
    errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.ENOSYS, errno.EINVAL,
    errno.EOPNOTSUPP, errno.EXDEV, errno.EMLINK,
)  # fmt: skip


@handles.block
def made(folder: int, name: str, mode: int = 0o755) -> Generator[int, None, None]:
    """A handle of a new directory, which has its name when the block ends without an exception.

    Before that it is hidden, and only its owner can enter. If anything goes wrong it is removed,
    with all that is in it, and if the process is killed, by the next one that makes this directory,
    or by ``sweep``. The mode holds whatever the umask is. Raises ``OSError``, also where the name
    is taken.
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


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Where to write files that belong together, for a ``with`` block.

    A new directory has its name when the block ends without an exception, whole; one that is there
    and holds nothing is filled. If the block ends early nothing stays of what it wrote, and of a
    new directory nothing either if the process is killed. Raises ``FileExistsError`` for one that
    holds anything, or another ``OSError``.
    """
    named = Path(path)
    try:
        if os.path.lexists(named) or not _HANDLES.is_dir():
            with _filled(named):
                yield named
            return
        os.makedirs(named.parent, exist_ok=True)
        folder = os.open(named.parent, atomic.FOLDER)
        try:
            with made(folder, named.name) as handle:
                yield _HANDLES / str(handle)
        finally:
            os.close(folder)
    except OSError as error:
        raise atomic.naming(error, os.fspath(path)) from None


@contextmanager
def _filled(named: Path) -> Iterator[None]:
    """A directory that holds nothing, and again holds nothing if the block ends early."""
    os.makedirs(named, exist_ok=True)
    if os.listdir(named):
        reason = "the directory is not empty; name a new one, or remove it"
        raise FileExistsError(errno.EEXIST, reason, os.fspath(named))
    try:
        yield
    except BaseException:
        folder = os.open(named, handles.READ)
        try:
            for each in os.listdir(folder):
                remove_tree(folder, each)
        finally:
            os.close(folder)
        raise


class Irreplaceable(Exception):
    """Raised where no other directory can take the place of one, for a reason of the system."""


@handles.block
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
        atomic.lock(folder)  # or the old one would be a leftover to others, before it is done with
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
        above = os.open("..", handles.READ, dir_fd=folder)
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


def _discard(folder: int, hidden: str) -> bool:
    """Remove what is needed no more, or leave it to the next one; whether it is gone."""
    try:
        remove_tree(folder, hidden)
    except OSError:
        return False
    return True


def _fresh(folder: int, name: str) -> tuple[str, int]:
    """The name and a handle of a new hidden directory, which nobody takes for a leftover."""
    head = atomic.hidden_head(name)
    for place in (*range(atomic.PLACES), os.urandom(8).hex()):
        hidden = f"{head}-{place}"
        if handles.is_there(folder, hidden) and not _sweep(folder, hidden):
            continue
        try:
            os.mkdir(hidden, 0o700, dir_fd=folder)
            handle = os.open(hidden, handles.READ | os.O_NOFOLLOW, dir_fd=folder)
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
            if handles.is_there(above, hidden):
                _sweep(above, hidden)
    finally:
        os.close(above)


def _sweep(folder: int, hidden: str, *, dry_run: bool = False) -> bool:
    """Remove what a killed process left under a name; whether that could be.

    Who makes a directory, or takes it away, locks it meanwhile, and the kernel frees that lock when
    the process is gone.
    """
    try:
        handle = os.open(hidden, handles.READ | os.O_NOFOLLOW, dir_fd=folder)
    except OSError:
        return False
    try:
        is_left = (
            os.fstat(handle).st_uid == os.geteuid()
            and atomic.lock(handle)
            and atomic.is_named(folder, hidden, handle)  # else it has its own name since
        )
        if is_left and not dry_run:
            _discard(folder, hidden)
        return is_left if dry_run else not handles.is_there(folder, hidden)
    finally:
        os.close(handle)


def mount(folder: int, name: str, options: str) -> None:
    """Mount a file system in memory on a directory in another one, with its own limits.

    ``options`` are those of tmpfs, such as ``size=65536,nr_inodes=64``. What is on it cannot be
    run, and is no device. Raises ``OSError``.
    """
    with handles.inside(folder, name) as handle:
        _call(
            "mount", b"tmpfs", os.fsencode(f"/proc/self/fd/{handle}"), b"tmpfs",
            _NOSUID | _NODEV | _NOEXEC, options.encode("ascii"),
        )  # fmt: skip


def unmount(folder: int, name: str) -> bool:
    """Take away all that is mounted on a directory, used or not; False if nothing is.

    It is not looked at: it may be of a user's program, which need not answer. Raises ``OSError``.
    """
    place = os.fsencode(f"/proc/self/fd/{folder}/{name}")
    count = 0
    try:
        while True:
            _call("umount2", place, _DETACH | _NO_FOLLOW)
            count += 1
    except OSError as error:
        if error.errno not in _NOT_MOUNTED:
            raise
    return count > 0


def _call(name: str, *arguments: object) -> None:
    """Call a function of the C library that Python does not offer. Raises ``OSError``."""
    import ctypes

    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), name)


def _name(folder: int, hidden: str, name: str) -> None:
    """Rename a directory; one that is there stays, though a rename would replace an empty one."""
    taken = FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
    if handles.is_there(folder, name):
        raise taken
    try:
        os.rename(hidden, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        raise taken if error.errno in (errno.ENOTEMPTY, errno.EEXIST) else error from None


def set_aside(folder: int, name: str) -> str:
    """Rename what has this name, if anything has, to a hidden name, by which ``sweep`` removes it.

    Gives the hidden name, or "". Raises ``OSError``.
    """
    hidden = _hidden(name)
    try:
        os.rename(name, hidden, src_dir_fd=folder, dst_dir_fd=folder)
    except FileNotFoundError:
        return ""
    return hidden


def remove_tree(folder: int, name: str, *, most: int = MOST) -> bool:
    """Remove an entry of a directory, with all below it; False if there is none of this name.

    It is gone from its name at once. Follows no link, and goes into no directory that is nested in
    another one. Of what is mounted on a directory right in it root takes only the mount away.
    Raises ``OSError``, with what is left under a hidden name, also for more than ``most`` entries.
    """
    if name.startswith("."):
        return _remove_hidden(folder, name, most)
    with _locked(folder, name):  # or it would be a leftover to others, before it is done with
        hidden = set_aside(folder, name)
        return bool(hidden) and _remove_hidden(folder, hidden, most)


@contextmanager
def _locked(folder: int, name: str) -> Iterator[None]:
    """For a ``with`` block: while ``sweep`` leaves what has this name, if it can be opened."""
    try:
        handle = os.open(name, handles.READ | os.O_NOFOLLOW, dir_fd=folder)
    except OSError:
        yield  # it is no directory, or not there, or must be permitted first
        return
    try:
        atomic.lock(handle)
        yield
    finally:
        os.close(handle)


def _remove_hidden(folder: int, hidden: str, most: int) -> bool:
    try:
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


def sweep(folder: int, *, dry_run: bool = False) -> tuple[str, ...]:
    """Remove what killed processes left in a directory, as far as that can be; its names there.

    That is what they began to remove, and what they had not made whole, whatever it was to be.
    With ``dry_run`` nothing is removed.
    """
    return tuple(
        [
            name for name in sorted(os.listdir(folder))
            if (_is_aside(name) or atomic.is_hidden(name)) and _sweep(folder, name, dry_run=dry_run)
        ]
    )  # fmt: skip


def _is_aside(name: str) -> bool:
    """Whether a name is that of something that is to be removed."""
    head, _, number = name.rpartition(".")
    return head.startswith(".") and len(number) == _DIGITS and number.isalnum()


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
    if os.geteuid() == handles.ROOT:
        unmount(top, name)
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
    return os.open(name, handles.READ | os.O_NOFOLLOW, dir_fd=folder)


def _permit(folder: int, name: str) -> None:
    """Give the owner of a directory the permissions that he needs there, unless he is root."""
    if os.geteuid() != handles.ROOT:
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
