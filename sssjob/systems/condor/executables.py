"""Whether HTCondor would run a program that its configuration names, who can change it, and whether
those who run it get there.
"""

from __future__ import annotations

import os
import pwd
import stat
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

_LINKS = 40  # that are followed, as many as Linux follows


class Runner(NamedTuple):
    """Who runs a program: under which name people know them, with which ids."""

    name: str
    uid: int
    gids: tuple[int, ...]


USERS = Runner("the users of jobs", 65534, (65534,))  # as one who owns nothing, and is in no group


def daemons(ids: str) -> Runner | None:
    """As whom daemons run that root starts: ``ids`` (CONDOR_IDS), or condor; None without both."""
    uid, _, gid = ids.partition(".")
    if uid.isdecimal() and gid.isdecimal():
        return Runner(f"uid {uid}", int(uid), (int(gid),))
    try:
        found = pwd.getpwnam("condor")
    except KeyError:
        return None
    gids = (found.pw_gid, *os.getgrouplist("condor", found.pw_gid))
    return Runner("condor", found.pw_uid, gids)


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
    for place, mode in ((path, found.st_mode), (os.path.dirname(path), above.st_mode)):
        if is_hook and mode & stat.S_IWOTH:
            return f"{place} can be changed by everybody, and HTCondor runs no such hook"
    place = open_to_all(os.path.abspath(path))
    return f"{place} can be changed by everybody, and HTCondor runs what is there" if place else ""


# decision 853
def open_to_all(path: str) -> str:
    """Where everybody can put another program in the place of one, "" if nowhere.

    That is in the file, and in each directory on the way to it. In one with the sticky bit nobody
    changes what is of others. Raises ``OSError``.
    """
    return next((place for place in _way(path) if _is_open(os.lstat(place))), "")


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
            for place in _way(os.path.abspath(path)):
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


@contextmanager
def _acting_as(runner: Runner) -> Iterator[None]:
    """Be somebody else for a block; only root can."""
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


def _way(path: str) -> Iterator[str]:
    """Each directory on the way to a path, before anything is looked up in it, and what is there.

    Links are followed one by one. Raises ``OSError``.
    """
    place, links = "/", 0
    rest = deque(path.split("/"))
    while rest:
        part = rest.popleft()
        if part in ("", "."):
            continue
        if part == "..":
            place = os.path.dirname(place)
            continue
        yield place
        below = os.path.join(place, part)
        if not stat.S_ISLNK(os.lstat(below).st_mode):
            place = below
        elif (links := links + 1) > _LINKS:
            return
        else:
            target = os.readlink(below)
            rest.extendleft(reversed(target.split("/")))
            place = "/" if target.startswith("/") else place
    yield place


def _is_open(found: os.stat_result) -> bool:
    is_sticky = stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX
    return bool(found.st_mode & stat.S_IWOTH) and not is_sticky
