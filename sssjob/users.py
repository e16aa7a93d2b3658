"""Users of this host by name and number.

Hooks work before every job: nothing here that is slow to import.
"""

from __future__ import annotations

import pwd


def user_id(name: str) -> int | None:
    """The uid of a user, None if there is none of the name here."""
    try:
        return pwd.getpwnam(name).pw_uid
    except (KeyError, ValueError):  # unknown, or with a NUL
        return None


def user_name(uid: int) -> str:
    """The name of a user, empty if there is none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except (KeyError, OverflowError):  # unknown, or beyond all
        return ""


def is_host() -> bool:
    """Whether the users of this process are those of the host, and not of a user namespace."""
    try:
        with open("/proc/self/uid_map", "rb") as file:
            first = file.readline().split()
    except OSError:
        return False
    return first[:2] == [b"0", b"0"]
