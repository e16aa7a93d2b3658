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

from sssjob.systems.condor.hooks.settings import SPOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pwd
    from collections.abc import Iterator

    from sssjob.systems.condor.hooks.settings import HookSettings

AWAY = "not-ours"  # behind the name of what is put away
FILE, LOCK, IDLE = "queue.db", "lock", "idle"
_LINKS = 40  # that are followed, as many as Linux follows

# The queue as it was before it was one file.
_FORMER, _OUT = "index.json", ("offered", "accepted", "running")


class UnsafeQueue(OSError):
    """Why a queue is not used: who else could write into it, or whose it is."""


def check_said(settings: HookSettings) -> None:
    """Raise ``UnsafeQueue`` if nobody said where the jobs and their queue are."""
    if not settings.jobs or not settings.state:
        raise UnsafeQueue(
            "no jobs: say --documents DIR, or a STORE; and --state DIR for a store elsewhere"
        )


def owner_of(settings: HookSettings, *, is_put_away: bool = False) -> int:
    """The uid to which a queue belongs, or will: that of the jobs, where there is none yet.

    ``is_put_away``: what stands there now will have another name. Raises ``UnsafeQueue`` if it is
    neither theirs nor of somebody whom the site trusts: whoever may put documents there could have
    put a queue there, too.
    """
    state = os.path.abspath(settings.state)
    jobs = settings.jobs.removeprefix("sqlite:")
    home = next(filter(None, (status(jobs), status(os.path.dirname(state)))), None)
    found = None if is_put_away else status(state)
    uid = os.geteuid() if home is None else home.st_uid
    if found is None or found.st_uid in (0, uid, os.getuid(), os.geteuid()):
        return uid if found is None else found.st_uid
    from sssjob.systems.condor.hooks.trust import trust

    if found.st_uid not in trust(settings).uids:
        raise UnsafeQueue(
            f"{state} belongs to uid {found.st_uid}, and {jobs} to uid {uid}: put it away, or name "
            "its owner with --trust"
        )
    return found.st_uid


def as_whom(settings: HookSettings, *, is_put_away: bool = False) -> int:
    """As whom a queue is opened: as who runs this, and by root as its owner.

    Raises ``UnsafeQueue`` where root does not act as that user.
    """
    uid = owner_of(settings, is_put_away=is_put_away)
    if os.geteuid() or not uid:
        return os.geteuid()
    from sssjob.systems.condor.hooks.trust import trust

    if uid not in trust(settings).uids:
        # A startd that is root would run as anybody whom that user names.
        raise UnsafeQueue(
            f"{settings.jobs} belongs to uid {uid}: root gives away jobs of root, condor and those "
            "whom --trust names"
        )
    return uid


def in_the_way(settings: HookSettings) -> os.stat_result | None:
    """What a stranger put into the directory of documents under the name of the queue.

    It is to be put away, for which this is called by the owner of that directory, or by root, who
    may do so. Raises ``UnsafeQueue`` for anybody else.
    """
    from sssjob.systems.condor.hooks.settings import state_of

    if settings.state != state_of(settings.jobs) or not os.path.isdir(settings.jobs):
        return None
    found = status(settings.state)
    try:
        owner_of(settings)
    except UnsafeQueue:
        from sssjob.systems.condor.hooks.trust import trust

        uid = os.stat(settings.jobs).st_uid
        if uid != os.geteuid() and (os.geteuid() or uid not in trust(settings).uids):
            raise
        return found
    return None


def clear_the_way(settings: HookSettings) -> None:
    """Put away what is in the way of a queue. Raises ``OSError``."""
    if (found := in_the_way(settings)) is not None:
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


# decision 963
def look(settings: HookSettings, *, is_put_away: bool = False) -> None:
    """Raise what whoever opens the queue now would raise; nothing is changed.

    For who acts as ``as_whom`` says.
    """
    state = os.path.abspath(settings.state)
    found = None if is_put_away else status(state)
    if found is None:
        try:  # noqa: SIM105  (contextlib takes too long to import)
            _guard_way(state)
        except FileNotFoundError:
            pass  # directories above it will be made, too
        _check_makeable(state)
        return
    guard(state)
    spool = os.path.join(state, SPOOL)
    if (there := status(spool)) is not None:
        _check_spool(spool, there)
    for name in (FILE, LOCK):
        path = os.path.join(state, name)
        if (there := status(path)) is not None:
            _check_own(path, there)
    if status(os.path.join(state, FILE)) is None:
        check_former(state)


def _check_makeable(state: str) -> None:
    """Raise ``UnsafeQueue`` where the directory of a queue, which is not there, cannot be made."""
    above = os.path.dirname(state)
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    if not os.access(above, os.W_OK | os.X_OK, effective_ids=True):
        raise UnsafeQueue(
            f"{state} is not there, and {_user()} cannot make it in {above}: make it, chown it to "
            f"uid {os.geteuid()}, chmod it 711"
        )


def guard(state: str) -> None:
    """Raise ``UnsafeQueue`` if anybody but us could write into the directory of a queue."""
    state = os.path.abspath(state)  # behind a slash a link would be what it leads to
    found = os.lstat(state)
    if not stat.S_ISDIR(found.st_mode):
        raise UnsafeQueue(f"{state} is not a directory")
    if found.st_uid != os.geteuid():
        raise UnsafeQueue(
            f"{state} belongs to uid {found.st_uid}, and the queue in it is used by {_user()}: "
            f"chown it to uid {os.geteuid()}, or say another --state"
        )
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UnsafeQueue(f"{state} can be written by others than its owner: chmod go-w it")
    _guard_way(state)


def _guard_way(state: str) -> None:
    """Raise ``UnsafeQueue`` if somebody could put another directory in the place of a queue.

    That is in each directory on the way, also on the one by which a link is found.
    """
    for place in way(os.path.dirname(state)):
        who = _writers(os.lstat(place))
        if who:
            raise UnsafeQueue(f"{place} can be written by {who}, who could exchange {state}")


def way(path: str) -> Iterator[str]:
    """Each directory on the way to a path, before anything is looked up in it, and what is there.

    Links are followed one by one. Raises ``OSError``.
    """
    place, links = "/", 0
    rest = path.split("/")[::-1]
    while rest:
        part = rest.pop()
        if part in ("", "."):
            continue
        if part == "..":
            place = os.path.dirname(place)
            continue
        yield place
        below = os.path.join(place, part)
        found = os.lstat(below)
        if not stat.S_ISLNK(found.st_mode):
            place = below
        elif (links := links + 1) > _LINKS:
            return
        else:
            target = os.readlink(below)
            rest.extend(target.split("/")[::-1])
            place = "/" if target.startswith("/") else place
    yield place


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
    from sssjob.users import account

    found = account(uid)
    return -1 if found is None else found.pw_gid


def account_of(uid: int) -> pwd.struct_passwd:
    """Whom root acts as. Raises ``UnsafeQueue`` where nobody knows them."""
    from sssjob.users import account

    if (found := account(uid)) is None:
        raise UnsafeQueue(f"the queue belongs to uid {uid}, which is no user of this host")
    return found


def _user() -> str:
    """Who is at the queue, as people know them."""
    from sssjob.users import user_name

    uid = os.geteuid()
    return f"{user_name(uid) or 'a user without a name'} (uid {uid})"


def own(path: str) -> None:
    """Make a file that is ours alone. Raise ``UnsafeQueue`` if there is another one."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        handle = os.open(path, flags, 0o600)
    except PermissionError:
        if (there := status(path)) is not None:  # whose it is says more
            _check_own(path, there)
        raise
    try:
        found = os.fstat(handle)
    finally:
        os.close(handle)
    _check_own(path, found)


def _check_own(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        raise UnsafeQueue(f"{path} is not a file with one name")
    # Whoever can read it could keep it locked.
    if found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise UnsafeQueue(f"{path} is not ours alone: chown it to uid {os.geteuid()}, chmod it 600")


def make(state: str) -> None:
    """Make the directories of a queue. The spool is everybody's, as /tmp is."""
    try:
        os.makedirs(state, mode=0o711)
        os.chmod(state, 0o711)
    except FileExistsError:
        pass
    except PermissionError:
        _check_makeable(os.path.abspath(state))
        raise
    guard(state)
    spool = os.path.join(state, SPOOL)
    try:
        os.mkdir(spool)
    except FileExistsError:
        _check_spool(spool, os.lstat(spool))
    if stat.S_IMODE(os.lstat(spool).st_mode) != 0o1777:
        os.chmod(spool, 0o1777)


def _check_spool(spool: str, found: os.stat_result) -> None:
    if not stat.S_ISDIR(found.st_mode):
        raise UnsafeQueue(f"{spool} is not a directory of ours")
    if found.st_uid != os.geteuid():
        raise UnsafeQueue(f"{spool} is not a directory of ours: chown it to uid {os.geteuid()}")


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
