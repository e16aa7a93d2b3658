"""Directories by handle: what root does where users write stays where root meant it.

Strategy. A path is looked up anew at each use. Whoever can write in one of its directories can
put a link, or another directory, in the place of the next one between two uses.

The idea is to look up once. A directory below which root makes, removes or gives away anything is
opened name by name from ``/``, without following a link, and in each directory on the way nobody
but root may be able to write (``protected``). All that follows is asked of the handle, with single
names.

Why it is right: a handle stays at its directory, whatever its path is renamed to, and a single
name in it leads nowhere else as long as no link is followed. ``directory_trees`` makes, exchanges
and removes whole directories in the same way.

Hooks work before every job: nothing here that is slow to import.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator
    from types import TracebackType
    from typing import ParamSpec

    P = ParamSpec("P")
    Place = str | os.PathLike[str] | int

READ = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_PASS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_OTHERS = stat.S_IWGRP | stat.S_IWOTH
ROOT = 0
LOGGER = "syslog"  # the group of the system's logger, to whom /var/log belongs on Ubuntu
_LINKS = 40  # as many as Linux follows


class _HandleBlock:
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


def block(function: Callable[P, Generator[int, None, None]]) -> Callable[P, _HandleBlock]:
    """What gives such a block, of what gives its generator."""

    def begin(*args: P.args, **kwargs: P.kwargs) -> _HandleBlock:
        return _HandleBlock(function(*args, **kwargs))

    begin.__name__, begin.__doc__ = function.__name__, function.__doc__
    return begin


@block
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


def check(path: str | os.PathLike[str], *, logs: bool = False) -> None:
    """Raise ``Unprotected`` if others can lead a path elsewhere, as far as it is there.

    A directory of ``logs`` may belong to the group of the system's logger. # decision 561
    """
    try:
        os.close(_walked(os.fspath(path), make=False, logs=logs))
    except FileNotFoundError:
        return  # what is there is all right


def fault(path: str | os.PathLike[str], *, links: bool = False) -> str:
    """How others than root and this user could exchange what is in a directory, "" if not.

    Links of root are followed where ``links`` says so, as a system puts one version of a program
    in the place of another. What is not there is all right.
    """
    from sssjob.errors import Unprotected

    named = os.path.abspath(path)
    try:
        os.close(_followed(named, judged=True) if links else _walked(named, make=False))
    except FileNotFoundError:
        return ""
    except Unprotected as error:
        return f"{error.place} {error.why}"
    except OSError as error:
        return error.strerror or str(error)
    return ""


def open_file(path: str | os.PathLike[str]) -> int:
    """A handle of a regular file that nobody but root and this user can change or exchange.

    Raises ``InvalidValue`` for another one, ``Unprotected`` where its directory is open to others,
    or ``OSError``.
    """
    from sssjob.errors import InvalidValue

    named = os.path.abspath(path)
    wanted = "a file of root's or your own that nobody else can write"
    with protected(os.path.dirname(named)) as folder:
        # A pipe would be waited for.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        name = os.path.basename(named)
        try:
            handle = os.open(name, flags, dir_fd=folder)
        except OSError as error:
            error.filename = named
            if not is_there(folder, name):
                raise
            fault = file_fault(os.stat(name, dir_fd=folder, follow_symlinks=False))
            if not fault:
                raise
            raise InvalidValue(str(path), f"{wanted}: it {fault}") from None
    if fault := file_fault(os.fstat(handle)):
        os.close(handle)
        raise InvalidValue(str(path), f"{wanted}: it {fault}")
    return handle


def file_fault(
    status: os.stat_result, forbids: int = _OTHERS, owners: Collection[int] | None = None
) -> str:  # fmt: skip
    """What is wrong with a file that others must not change, "" if nothing is.

    ``forbids`` are the bits of the mode that it must not have; its owner has to be one of
    ``owners``, by default root or this user.
    """
    if not stat.S_ISREG(status.st_mode):
        return "is no file of its own"
    if status.st_uid not in (owners or (ROOT, os.geteuid())):
        return f"belongs to {_user(status.st_uid)}, not to root"
    if stat.S_IMODE(status.st_mode) & forbids:
        return f"has the mode {stat.S_IMODE(status.st_mode):04o}, which lets others in"
    return ""


@block
def opened(place: Place) -> Generator[int, None, None]:
    """A handle of a directory that a caller named, or of one that is open already.

    Root follows a link in its name only where the link is root's.
    """
    if isinstance(place, int):
        handle = os.open(".", READ, dir_fd=place)
    elif os.geteuid() == ROOT:
        handle = _followed(os.fspath(place))
    else:
        handle = os.open(place, READ)
    try:
        yield handle
    finally:
        os.close(handle)


@block
def inside(folder: int, name: str) -> Generator[int, None, None]:
    """A handle of a directory in another one; a link is none. Raises ``OSError``."""
    handle = os.open(name, READ | os.O_NOFOLLOW, dir_fd=folder)
    try:
        yield handle
    finally:
        os.close(handle)


@block
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


def is_there(folder: int, name: str) -> bool:
    """Whether anything has a name in a directory, be it a link that leads nowhere."""
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _walked(named: str, make: bool, logs: bool = False) -> int:
    """A handle of a directory after a walk on which every step was judged."""
    names = [name for name in os.path.abspath(named).split(os.sep) if name]
    place = os.sep
    handle = os.open(place, _PASS if names else READ)
    try:
        for index, name in enumerate(names, 1):
            _judge(os.fstat(handle), place, named, is_last=False)
            place = os.path.join(place, name)
            flags = (READ if index == len(names) else _PASS) | os.O_NOFOLLOW
            following = _step(handle, name, flags, place, make=make)
            before, handle = handle, following
            os.close(before)
        _judge(os.fstat(handle), place, named, is_last=True, logs=logs)
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
    made = os.open(name, READ | os.O_NOFOLLOW, dir_fd=handle)
    os.fchmod(made, 0o755)  # mkdir obeys the umask
    return made


def _judge(
    status: os.stat_result, place: str, named: str, *, is_last: bool, logs: bool = False,
    is_there: bool = False,
) -> None:  # fmt: skip
    """Refuse a directory in which others than root and this user could exchange names.

    ``is_there`` says that the next name is there already, and is judged as this directory is.
    """
    mine = os.geteuid()
    if status.st_uid not in (ROOT, mine):
        raise _unprotected(place, f"belongs to {_user(status.st_uid)}", named)
    mode = stat.S_IMODE(status.st_mode)
    # In a sticky directory nobody renames what is another's, so that a user has his own below it.
    # That is not good enough for root: whoever comes first makes it.
    sticky = bool(mode & stat.S_ISVTX) and (mine != ROOT or is_there) and not is_last
    open_to = mode & _OTHERS
    if open_to == stat.S_IWGRP and logs and _is_of_logger(status.st_gid):
        return
    if open_to and not sticky:
        raise _unprotected(place, f"can be written by others (mode {mode:04o})", named)


def _is_of_logger(number: int) -> bool:
    from sssjob.users import group_name

    return group_name(number) == LOGGER


def _user(number: int) -> str:
    from sssjob.users import user_name

    return f"the user {user_name(number) or number}"


def _unprotected(place: str, reason: str, named: str = "") -> Exception:
    from sssjob.errors import Unprotected

    return Unprotected(place, reason, named or place)


def _path_of(handle: int, named: str) -> str:
    """Where the directory of a handle is, by the kernel; ``named`` where that does not tell."""
    try:
        return os.readlink(f"/proc/self/fd/{handle}")
    except OSError:
        return named


def _followed(named: str, *, judged: bool = False) -> int:
    """A handle of a directory, on the way to which only links of root were followed.

    ``judged`` has no directory on the way in which others could exchange names.
    """
    names = named.split(os.sep)[::-1]
    handle = os.open(os.sep if named.startswith(os.sep) else ".", _PASS)
    links = 0
    try:
        while names:
            name = names.pop()
            if name in ("", "."):
                continue
            if judged:
                _judge(
                    os.fstat(handle), _path_of(handle, named), named, is_last=False, is_there=True
                )
            status = os.stat(name, dir_fd=handle, follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                if status.st_uid not in (ROOT, os.geteuid()):
                    reason = f"is a link of {_user(status.st_uid)}"
                    raise _unprotected(name, reason, named)
                links += 1
                if links > _LINKS:
                    import errno  # hooks start sooner without it

                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), named)
                target = os.readlink(name, dir_fd=handle)
                names += target.split(os.sep)[::-1]
                start = os.sep if target.startswith(os.sep) else "."
                following = os.open(start, _PASS, dir_fd=handle)
            else:
                following = os.open(name, _PASS | os.O_NOFOLLOW, dir_fd=handle)
            before, handle = handle, following
            os.close(before)
        found = os.open(".", READ, dir_fd=handle)
        if judged:
            _judge(os.fstat(found), _path_of(found, named), named, is_last=True)
    except OSError as error:
        error.filename = named
        raise
    finally:
        os.close(handle)
    return found
