"""Whether HTCondor would run a program that its configuration names, and who can change it."""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable

_LINKS = 40  # that are followed, as many as Linux follows


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

    That is in the file, and in each directory on the way to it, links followed one by one. In one
    with the sticky bit nobody changes what is of others. Raises ``OSError``.
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
        if _is_open(os.lstat(place)):
            return place
        below = os.path.join(place, part)
        if not stat.S_ISLNK(os.lstat(below).st_mode):
            place = below
        elif (links := links + 1) > _LINKS:
            return ""
        else:
            target = os.readlink(below)
            rest.extendleft(reversed(target.split("/")))
            place = "/" if target.startswith("/") else place
    return place if _is_open(os.lstat(place)) else ""


def _is_open(found: os.stat_result) -> bool:
    is_sticky = stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX
    return bool(found.st_mode & stat.S_IWOTH) and not is_sticky
