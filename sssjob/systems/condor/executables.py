"""Whether HTCondor would run a program that its configuration names, who can change it, and whether
those who run it get there.
"""

from __future__ import annotations

import hashlib  # noqa: F401  (whom root acts as may not be able to read where Python is)
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import sssjob.systems.condor.hooks.trust  # noqa: F401  (as above)
from sssjob.integers import whole
from sssjob.systems.condor.hooks import place as queue_place
from sssjob.systems.condor.hooks import served
from sssjob.systems.condor.hooks.place import UnsafeQueue, way
from sssjob.users import account

if TYPE_CHECKING:
    import pwd

    from sssjob.systems.condor.hooks.settings import HookSettings


class Runner(NamedTuple):
    """Who runs a program: under which name people know them, with which ids."""

    name: str
    uid: int
    gids: tuple[int, ...]


_NOBODY = 2**32 - 1  # as an id, which stands for none
USERS = Runner("the users of jobs", 65534, (65534,))  # as one who owns nothing, and is in no group


def daemons(ids: str) -> Runner | None:
    """As whom daemons run that root starts: ``ids`` (CONDOR_IDS), or condor; None without both."""
    uid, gid = (_number(each) for each in ids.partition(".")[::2])
    if uid is not None and gid is not None:
        return Runner(f"uid {uid}", uid, (gid,))
    found = account("condor")
    return None if found is None else _runner(found)


def _number(text: str) -> int | None:
    """An id of a user or a group, if the host can have such a one."""
    number = whole(text, 10)
    return None if number is None or number >= _NOBODY else number


def _runner(user: pwd.struct_passwd) -> Runner:
    gids = (user.pw_gid, *os.getgrouplist(user.pw_name, user.pw_gid))
    return Runner(user.pw_name, user.pw_uid, gids)


def unusable(path: str, *, is_hook: bool = True) -> str:
    """What is wrong with a program, "" if nothing is.

    HTCondor itself looks who can change a hook, and where it stands; whatever else it runs, it
    runs as itself, which the queue trusts.
    """
    look: Callable[[str], os.stat_result] = os.stat
    try:
        found, above = look(path), look(os.path.dirname(path) or "/")
    except (OSError, ValueError) as error:
        return f"{path}: {getattr(error, 'strerror', None) or error}"
    if not stat.S_ISREG(found.st_mode):
        return f"{path} is no file"
    if not found.st_mode & stat.S_IXUSR:
        return f"{path} cannot be executed by its owner"
    for where, mode in ((path, found.st_mode), (os.path.dirname(path), above.st_mode)):
        if is_hook and mode & stat.S_IWOTH:
            return f"{where} can be changed by everybody, and HTCondor runs no such hook"
    place = open_to_all(os.path.abspath(path))
    return f"{place} can be changed by everybody, and HTCondor runs what is there" if place else ""


# decision 853
def open_to_all(path: str) -> str:
    """Where everybody can put another program in the place of one, "" if nowhere.

    That is in the file, and in each directory on the way to it. In one with the sticky bit nobody
    changes what is of others. Raises ``OSError``.
    """
    return next((place for place in way(path) if _is_open(os.lstat(place))), "")


# decision 888
def closed(path: str, runner: Runner, *, writes: bool = False) -> str:
    """What keeps somebody from a path, "" if nothing does: a directory on the way, or it itself.

    ``writes`` is whether they have to write there, too. What is not there yet keeps nobody off. The
    kernel is asked, as that user, which only root can do.
    """
    if os.geteuid() != 0:  # whose daemons these are, they are one's own
        return ""
    with _acting_as(runner):
        try:
            for place in way(os.path.abspath(path)):
                is_passed = not writes or os.path.isdir(place)
                if is_passed and not os.access(place, os.X_OK, effective_ids=True):
                    return f"{place} does not let {runner.name} pass"
        except FileNotFoundError:
            return ""
        except OSError as error:
            return f"{path}: {error.strerror}"
        if writes and not os.access(path, os.W_OK, effective_ids=True):
            return f"{path} cannot be written by {runner.name}"
    return ""


# decision 963
def refused(settings: HookSettings, runner: Runner) -> str:
    """Why hooks that somebody runs would refuse a queue, "" if they would not.

    What they would say, by the same functions, which only root can ask as another user.
    """
    try:
        with _acting_as(runner):
            is_put_away = queue_place.in_the_way(settings) is not None
            uid = queue_place.as_whom(settings, is_put_away=is_put_away)
        owner = runner if uid == runner.uid else _runner(queue_place.account_of(uid))
        with _acting_as(owner):
            queue_place.look(settings, is_put_away=is_put_away)
            if not is_put_away:
                served.look(settings)
    except UnsafeQueue as error:
        return str(error)
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    return ""


def is_to_be_put_away(settings: HookSettings, runner: Runner) -> bool:
    """Whether hooks would put away what has the name of their queue, and is a stranger's."""
    with _acting_as(runner):
        try:
            return queue_place.in_the_way(settings) is not None
        except OSError:
            return False


@contextmanager
def _acting_as(runner: Runner) -> Iterator[None]:
    """Be somebody else for a block, where root is asked to; who is not root stays who that is."""
    if os.geteuid() != 0:
        yield
        return
    before = os.getegid(), os.getgroups()
    os.setgroups(runner.gids)
    os.setegid(runner.gids[0])
    os.seteuid(runner.uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(before[0])
        os.setgroups(before[1])


def _is_open(found: os.stat_result) -> bool:
    is_sticky = stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX
    return bool(found.st_mode & stat.S_IWOTH) and not is_sticky
