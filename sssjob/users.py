"""Users of this host by name and number, and who runs this: nobody else asks the host for them.

A user id may have neither a name nor a home, as in containers. Hooks work before every job: nothing
here that is slow to import.
"""

from __future__ import annotations

import errno
import os
import pwd


def account(user: str | int) -> pwd.struct_passwd | None:
    """What this host knows of a user by name or uid; None if there is none."""
    try:
        return pwd.getpwnam(user) if isinstance(user, str) else pwd.getpwuid(user)
    except (KeyError, ValueError, OverflowError):  # unknown, with a NUL, or beyond all
        return None


def user_id(name: str) -> int | None:
    """The uid of a user, None if there is none of the name here."""
    found = account(name)
    return None if found is None else found.pw_uid


def user_name(uid: int) -> str:
    """The name of a user, empty if there is none."""
    found = account(uid)
    return "" if found is None else found.pw_name


def group_name(gid: int) -> str:
    """The name of a group, empty if there is none."""
    import grp

    try:
        return grp.getgrgid(gid).gr_name
    except (KeyError, OverflowError):  # unknown, or beyond all
        return ""


def caller() -> str:
    """Who calls, as the environment says (LOGNAME, USER), or this host; empty if neither does."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def at_home(path: str) -> str:
    """A path, of which ``~`` or ``~NAME`` at its beginning is the home of the caller or of NAME.

    Raises ``FileNotFoundError`` where nobody knows that home.
    """
    try:
        found = os.path.expanduser(path)
    except ValueError:  # a name with a NUL
        found = path
    if found.startswith("~"):
        said = "no home directory is known of this user"
        if path.split("/", 1)[0] == "~":
            said += f" (uid {os.getuid()}), and HOME is not set"
        raise FileNotFoundError(errno.ENOENT, said, path)
    return found


def is_host() -> bool:
    """Whether the users of this process are those of the host, and not of a user namespace."""
    try:
        with open("/proc/self/uid_map", "rb") as file:
            first = file.readline().split()
    except OSError:
        return False
    return first[:2] == [b"0", b"0"]
