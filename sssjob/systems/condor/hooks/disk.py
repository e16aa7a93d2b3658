"""What a directory takes on its file system: however deep it is, and what its user has closed, too.

Strategy. Whose files these are may make paths of any length, take their own rights away, and move
directories while we look.

The idea is to go by handles: each directory is opened by its name in the one above, which stays
open for what else is in it. Of very many above each other some are closed, and opened again by
``..``. A directory of the user who asks is opened for reading if it is not, and closed again.

Why it ends: so many entries are looked at, for so long; what these take counts at least. What
``..`` leads to counts if it is the directory from which we came; else its rest is passed over.
"""

from __future__ import annotations

import os
import stat
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

ENTRIES = 200_000  # that are looked at
SECONDS = 5.0  # for which they are
OPEN = 200  # directories above each other that stay open
_READ = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NAME = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_BLOCK = 512  # bytes of a block, whatever the file system has
_NEEDED = stat.S_IRUSR | stat.S_IXUSR


class _Room:
    """A directory that is open, and those in it into which we have not looked yet.

    ``mode`` is as what it is closed again, -1 where it was open; ``handle`` is -1 while it is not.
    """

    __slots__ = ("below", "handle", "identity", "mode")

    def __init__(self, handle: int, found: os.stat_result, mode: int) -> None:
        self.handle, self.mode = handle, mode
        self.identity = found.st_dev, found.st_ino
        self.below: list[str] = []

    def close(self) -> None:
        if self.handle >= 0:
            os.close(self.handle)
        self.handle = -1


# decision 886
def used(path: str, say: Callable[[object], None]) -> int | None:
    """The KiB that a directory and what is below take; None where it is not there.

    A file with several names counts once, and what is on another file system does not. What cannot
    be looked into is told.
    """
    try:
        top = _entered(path, None)
    except OSError:
        return None
    if top is None:
        return None
    rooms = [top]
    closed: list[str] = []
    try:
        return _walked(rooms, closed) * _BLOCK // 1024
    finally:
        for each in reversed(rooms):
            _left(each)
        if closed:
            told = "a directory cannot be looked into, and does not count"
            if len(closed) > 1:
                told = (
                    f"{len(closed)} directories cannot be looked into, and do not count, the first"
                )
            say(f"{told}: {closed[0]!r}")


def _walked(rooms: list[_Room], closed: list[str]) -> int:
    """The blocks of what is below the first of these directories."""
    device, _ = rooms[0].identity
    seen: set[int] = set()
    until = time.monotonic() + SECONDS
    blocks = _listed(rooms[0], device, seen)
    while rooms[0].below or len(rooms) > 1:
        if len(seen) > ENTRIES or time.monotonic() > until:
            break
        room = rooms[-1]
        if not room.below:
            _back(rooms)
            continue
        name = room.below.pop()
        try:
            child = _entered(name, room.handle)
        except PermissionError:
            closed.append(name)
            continue
        except OSError:  # it goes while we look
            continue
        if child is None or child.identity[0] != device:
            if child is not None:
                _left(child)
            continue
        if len(rooms) > OPEN:
            room.close()
        rooms.append(child)
        blocks += _listed(child, device, seen)
    return blocks


def _listed(room: _Room, device: int, seen: set[int]) -> int:
    """The blocks of what stands in a directory, whose directories are to be looked into then."""
    blocks = 0
    try:
        with os.scandir(room.handle) as entries:
            for each in entries:
                found = each.stat(follow_symlinks=False)
                if found.st_dev == device and found.st_ino not in seen:
                    seen.add(found.st_ino)
                    blocks += found.st_blocks
                    if stat.S_ISDIR(found.st_mode):
                        room.below.append(each.name)
                if len(seen) > ENTRIES:
                    break
    except OSError:  # it goes while we look
        pass
    return blocks


def _entered(name: str, above: int | None) -> _Room | None:
    """A directory that is opened; None where it is gone. Raises ``OSError``."""
    try:
        handle = os.open(name, _READ, dir_fd=above)
    except FileNotFoundError:
        return None
    except PermissionError:
        return _opened(name, above)
    found = os.fstat(handle)
    mode = -1
    if _is_closed(found):
        mode = stat.S_IMODE(found.st_mode)
        os.fchmod(handle, mode | _NEEDED)
    return _Room(handle, found, mode)


def _opened(name: str, above: int | None) -> _Room:
    """A directory that its user, who we are, has closed. Raises ``OSError``."""
    place = os.open(name, _NAME, dir_fd=above)
    try:
        found = os.fstat(place)
        if not _is_closed(found):
            raise PermissionError(name)
        # By this name it is no other directory that was put in its place.
        itself, mode = f"/proc/self/fd/{place}", stat.S_IMODE(found.st_mode)
        os.chmod(itself, mode | _NEEDED)
        return _Room(os.open(itself, _READ & ~os.O_NOFOLLOW), found, mode)
    finally:
        os.close(place)


def _is_closed(found: os.stat_result) -> bool:
    is_ours = found.st_uid == os.geteuid() != 0
    return is_ours and found.st_mode & _NEEDED != _NEEDED


def _left(room: _Room) -> None:
    """Let a directory be as it was found."""
    if room.handle >= 0 and room.mode >= 0:
        try:  # noqa: SIM105  (contextlib takes too long to import)
            os.fchmod(room.handle, room.mode)
        except OSError:
            pass
    room.close()


def _back(rooms: list[_Room]) -> None:
    """Go back to the directory above; to one that is open still where that was moved."""
    room = rooms.pop()
    above = rooms[-1]
    if above.handle < 0:
        try:
            above.handle = os.open("..", _READ, dir_fd=room.handle)
            found = os.fstat(above.handle)
            is_same = (found.st_dev, found.st_ino) == above.identity
        except OSError:
            is_same = False
        if not is_same:
            above.close()
            while rooms[-1].handle < 0:
                rooms.pop()
    _left(room)
