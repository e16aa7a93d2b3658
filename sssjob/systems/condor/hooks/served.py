"""Which queue serves a directory of documents: two would give each job away twice.

In the directory itself stands, in ``.condor/served``, which queue that is, if it is kept elsewhere
(``--state``): a word by which that queue is known, its machine, and its path. A queue that is kept
in ``.condor`` is seen there. Notes of others than the owner of the queue, root and the owner of the
documents say nothing: any user may put files beside the documents.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

from sssjob.systems.condor.hooks.place import FILE, UnsafeQueue, status
from sssjob.systems.condor.hooks.settings import state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sssjob.systems.condor.hooks.settings import HookSettings

SERVED = "served"
_LONGEST = 8192  # bytes of a note
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


# decision 696
def check_served(settings: HookSettings) -> None:
    """Raise ``UnsafeQueue`` where another queue serves the documents, and note that this one does.

    For who acts as the owner of the queue, which is there. In a store claims do this.
    """
    if not os.path.isdir(settings.jobs):
        return
    home = state_of(settings.jobs)
    mine = os.path.realpath(settings.state)
    note = os.path.join(home, SERVED)
    if mine == os.path.realpath(home):
        if told := _told(note, settings):
            raise _other(settings, f"the queue in {told[2]} of {told[1]}", note)
        return
    told = _told(note, settings)
    known = _told(os.path.join(mine, SERVED), settings)
    place = (os.uname().nodename, mine)
    if told and known and told[0] == known[0]:  # whatever its machine is called by now
        return
    if told is None:
        if not _is_ours(home, settings):
            return
        try:
            told = _first(note, (os.urandom(16).hex(), *place), settings)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                return  # where nothing can be folded either
            raise
        # The owner of that queue makes it before it looks for this note.
        if status(file := os.path.join(home, FILE)) is not None:
            if told[1:] == place:
                os.unlink(note)
            raise _other(settings, f"the queue in {home}", file)
    if told[1:] != place:
        raise _other(settings, f"the queue in {told[2]} of {told[1]}", note)
    _note(os.path.join(mine, SERVED), told)


def _other(settings: HookSettings, which: str, note: str) -> UnsafeQueue:
    return UnsafeQueue(
        f"{settings.jobs} is served by {which}, and two queues would give each job away twice: put "
        "the documents into a store, which several machines read (sssjob store import), or delete "
        f"{note} if that queue is no more"
    )


def _is_ours(home: str, settings: HookSettings) -> bool:
    """Whether what stands in a directory beside the documents is from who may say it."""
    with suppress(PermissionError):
        os.makedirs(home, mode=0o711, exist_ok=True)
    found = status(home)
    return found is not None and stat.S_ISDIR(found.st_mode) and _may_say(found, settings)


def _may_say(found: os.stat_result, settings: HookSettings) -> bool:
    known = {0, os.geteuid(), os.stat(settings.jobs).st_uid}
    return found.st_uid in known and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _told(path: str, settings: HookSettings) -> tuple[str, str, str] | None:
    """The note of a path; None if there is none, or it is not from who may say it."""
    above = status(os.path.dirname(path))
    if above is None or not _may_say(above, settings):
        return None
    try:
        handle = os.open(path, _READ)
    except OSError:
        return None
    with open(handle, "rb") as file:
        if not _may_say(os.fstat(handle), settings):
            return None
        word, _, rest = os.fsdecode(file.read(_LONGEST)).removesuffix("\n").partition(" ")
    machine, _, where = rest.partition(" ")
    return (word, machine, where) if where else None


def _first(
    note: str, told: tuple[str, str, str], settings: HookSettings
) -> tuple[str, str, str]:  # fmt: skip
    """Note which queue it is, unless another one was faster: what is noted then."""
    new = f"{note}.{told[0]}"
    _note(new, told)
    try:
        os.link(new, note)
    except FileExistsError:
        return _told(note, settings) or told
    finally:
        os.unlink(new)
    return told


def _note(path: str, told: tuple[str, str, str]) -> None:
    from sssjob import atomic

    folder, name = os.path.split(path)
    atomic.put(folder, name, os.fsencode(" ".join(told) + "\n"))
