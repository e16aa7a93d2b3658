"""Where a queue is kept: a directory of one user, into which nobody else can write.

```text
queue.db    the queue           spool/      reports, which any user may leave
lock        who is at the documents
idle        that the queue has nothing to give away, as long as nothing has changed
```
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sssjob.systems.condor.hooks.settings import HookSettings

AWAY = "not-ours"  # behind the name of what is put away
FILE, LOCK, IDLE = "queue.db", "lock", "idle"

# The queue as it was before it was one file.
_FORMER, _OUT = "index.json", ("offered", "accepted", "running")


class UnsafeQueue(OSError):
    """Why a queue is not used: who else could write into it, or whose it is."""


def owner_of(settings: HookSettings) -> int:
    """The uid to which a queue belongs, or will: that of the jobs, where there is none yet.

    Raises ``UnsafeQueue`` if it is neither theirs nor of somebody whom the site trusts: whoever may
    put documents there could have put a queue there, too.
    """
    state = os.path.abspath(settings.state)
    jobs = settings.jobs.removeprefix("sqlite:")
    home = next(filter(None, (status(jobs), status(os.path.dirname(state)))), None)
    found = status(state)
    uid = os.geteuid() if home is None else home.st_uid
    if found is None or found.st_uid in (0, uid, os.getuid()):
        return uid if found is None else found.st_uid
    from sssjob.systems.condor.hooks.trust import trust

    if found.st_uid not in trust(settings).uids:
        raise UnsafeQueue(f"{state} belongs to uid {found.st_uid}, and {jobs} to uid {uid}")
    return found.st_uid


def clear_the_way(settings: HookSettings) -> None:
    """Put away what a stranger put into the directory of documents under the name of the queue.

    For the owner of that directory, and root, who may do so. Raises ``OSError``.
    """
    from sssjob.systems.condor.hooks.settings import state_of
    from sssjob.systems.condor.hooks.trust import trust

    if settings.state != state_of(settings.jobs) or not os.path.isdir(settings.jobs):
        return
    found = status(settings.state)
    try:
        owner_of(settings)
    except UnsafeQueue:
        uid = os.stat(settings.jobs).st_uid
        if uid != os.geteuid() and (os.geteuid() or uid not in trust(settings).uids):
            raise
        if found is not None:
            put_away(settings.state, found)


def put_away(path: str, found: os.stat_result) -> None:
    """Give what was found and is not ours another name. Raises ``OSError``.

    Where another process did so, and made there what is ours, that stays.
    """
    away = f"{path}.{AWAY}.{os.urandom(6).hex()}"
    try:
        os.rename(path, away)
    except FileNotFoundError:
        return
    if not os.path.samestat(os.lstat(away), found):
        os.rename(away, path)


def document_stamp(found: os.stat_result) -> str:
    """What changes when a document does that is a file, and when another takes its name."""
    return f"{found.st_ino}.{found.st_mtime_ns}.{found.st_size}.{found.st_uid}"


def status(path: str) -> os.stat_result | None:
    """What has a name, itself and not what it leads to; None if nothing has."""
    try:
        return os.lstat(path)
    except OSError:
        return None


def guard(state: str) -> None:
    """Raise ``UnsafeQueue`` if anybody but us could write into the directory of a queue."""
    found = os.lstat(state)
    if not stat.S_ISDIR(found.st_mode):
        raise UnsafeQueue(f"{state} is not a directory")
    if found.st_uid != os.geteuid():
        raise UnsafeQueue(f"{state} belongs to uid {found.st_uid}, and this runs as {os.geteuid()}")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UnsafeQueue(f"{state} can be written by others than its owner: chmod go-w it")
    above = os.path.dirname(os.path.realpath(state))
    while True:
        who = _writers(os.stat(above))
        if who:
            raise UnsafeQueue(f"{above} can be written by {who}, who could exchange {state}")
        if above == os.path.dirname(above):
            return
        above = os.path.dirname(above)


def _writers(found: os.stat_result) -> str:
    """Who else than its owner could exchange what is in a directory, "" if nobody could."""
    if found.st_mode & stat.S_ISVTX:
        return ""
    if found.st_mode & stat.S_IWOTH:
        return "everybody"
    # A group of a user's own is that user, and one of root's directories is as root wants it.
    if found.st_mode & stat.S_IWGRP and found.st_uid and found.st_gid != _own_group(found.st_uid):
        return f"its group (gid {found.st_gid})"
    return ""


def _own_group(uid: int) -> int:
    import pwd

    try:
        return pwd.getpwuid(uid).pw_gid
    except KeyError:
        return -1


def own(path: str) -> None:
    """Make a file that is ours alone. Raise ``UnsafeQueue`` if there is another one."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(path, flags, 0o600)
    try:
        found = os.fstat(handle)
    finally:
        os.close(handle)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        raise UnsafeQueue(f"{path} is not a file with one name")
    # Whoever can read it could keep it locked.
    if found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise UnsafeQueue(f"{path} is not ours alone: chown it to uid {os.geteuid()}, chmod it 600")


def make(state: str) -> None:
    """Make the directories of a queue. The spool is everybody's, as /tmp is."""
    from sssjob.systems.condor.hooks.settings import SPOOL

    try:
        os.makedirs(state, mode=0o711)
        os.chmod(state, 0o711)
    except FileExistsError:
        pass
    guard(state)
    spool = os.path.join(state, SPOOL)
    try:
        os.mkdir(spool)
    except FileExistsError:
        found = os.lstat(spool)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            raise UnsafeQueue(f"{spool} is not a directory of ours") from None
    if stat.S_IMODE(os.lstat(spool).st_mode) != 0o1777:
        os.chmod(spool, 0o1777)


def check_former(state: str) -> None:
    """Raise ``UnsafeQueue`` while jobs of the queue of an earlier version are still out."""
    if not os.path.lexists(os.path.join(state, _FORMER)):
        return
    for name in _OUT:
        directory = os.path.join(state, name)
        if os.path.isdir(directory) and os.listdir(directory):
            raise UnsafeQueue(
                f"{directory}: an earlier version gave these jobs away, and this one would again: "
                "once they have ended, delete what is in it"
            )
