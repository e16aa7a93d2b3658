"""Which queue serves a directory of documents: two would give each job away twice.

In the directory itself stands, in ``.condor/served``, which queue that is, if it is kept elsewhere
(``--state``): a word by which that queue is known, its machine, and its path. A queue that is kept
in ``.condor`` is seen there. Notes of others than the owner of the queue, root and the owner of the
documents say nothing: any user may put files beside the documents, also under these names, and what
is not ours there is put away.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

from sssjob.systems.condor.hooks.place import FILE, UnsafeQueue, put_away, status
from sssjob.systems.condor.hooks.settings import state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sssjob.systems.condor.hooks.settings import HookSettings

SERVED = "served"
_LONGEST = 8192  # bytes of a note
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_OURS = stat.S_IRWXU | stat.S_IXGRP | stat.S_IXOTH
_MACHINE_ID = "/etc/machine-id"
_BOOT_ID = "/proc/sys/kernel/random/boot_id"
_NAMESPACE = "/proc/self/ns/uts"
_OF_THE_HOST = 0xEFFFFFFE  # the namespace that Linux begins with
_STAYS = "it is there again and again, or of who may keep a queue there"
_CONTAINER = "container:"  # before what a container is up since

Told = tuple[str, str, str]  # a word, a machine, and a path


# decision 696, 711
def check_served(settings: HookSettings) -> None:
    """Raise ``UnsafeQueue`` where another queue serves the documents, and note that this one does.

    For who acts as the owner of the queue, which is there. In a store claims do this.
    """
    if not os.path.isdir(settings.jobs):
        return
    home = state_of(settings.jobs)
    mine = os.path.realpath(settings.state)
    note = os.path.join(home, SERVED)
    if mine == os.path.realpath(home) and _is_of_ours(home, settings):
        _check_told(settings, mine, _told(note, settings), None)
        return
    _close(home, settings)
    told = _told(note, settings)
    known = _known(own := os.path.join(mine, SERVED), settings)
    place = (_machine(), mine)
    _check_told(settings, mine, told, known)
    if told and known and _is_ours(told, known):
        now = (told[0], *place)
        if not told == known == now:
            with suppress(OSError):  # it serves by its word, whatever else the note says
                _note(note, now)
                _note(own, now)
        with suppress(OSError):  # what a process that was killed left, of this queue alone
            os.unlink(_new(note, told[0]))
        return
    is_mine = False
    if told is None:
        try:
            _make_ready(home, settings)
            told = _first(note, own, known, place, settings)
            is_mine = told == _known(own, settings)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise _unwritable(settings, error.strerror) from error
            raise
        # The owner of that queue makes it before it looks for this note.
        try:
            _check_home(settings, home)
        except UnsafeQueue:
            if is_mine:
                os.unlink(note)
            raise
    if not is_mine:
        _check_told(settings, mine, told, None)
    _note(own, told)


# decision 963
def look(settings: HookSettings) -> None:
    """Raise ``UnsafeQueue`` where ``check_served`` would now, and change nothing."""
    if not os.path.isdir(settings.jobs):
        return
    home = state_of(settings.jobs)
    mine = os.path.realpath(settings.state)
    note = os.path.join(home, SERVED)
    is_home = mine == os.path.realpath(home)
    if is_home and (status(home) is None or _is_of_ours(home, settings)):
        _check_told(settings, mine, _told(note, settings), None)
        return
    told = _told(note, settings)
    if _is_to_be_closed(home) and not _is_of_others(status(note), settings):
        told = _noted(note, settings)
    known = _known(os.path.join(mine, SERVED), settings)
    _check_told(settings, mine, told, known)
    if told is None:
        found = status(home)
        if found is not None and not _is_ready(found, settings):
            _check_removable(home, found, settings)
            return
        _check_home(settings, home)


def _check_told(settings: HookSettings, mine: str, told: Told | None, known: Told | None) -> None:
    """Raise ``UnsafeQueue`` where the note tells of another queue than that in ``mine``.

    ``known`` is the note in that queue itself.
    """
    if told is None:
        return
    home = state_of(settings.jobs)
    note = os.path.join(home, SERVED)
    if known and _is_ours(told, known):
        if _is_copied(told[2], mine):
            raise _other(settings, f"the queue in {told[2]}, of which this one is a copy", note)
        if _is_taken_over(told, known, _machine()):
            raise _other(settings, f"a clone of this queue, on {_name(told[1])}", note)
        return
    is_home = mine == os.path.realpath(home) and _is_of_ours(home, settings)
    if is_home or not _is_place(told, (_machine(), mine)):
        raise _other(settings, f"the queue in {told[2]} of {_name(told[1])}", note)


def _check_home(settings: HookSettings, home: str) -> None:
    """Raise ``UnsafeQueue`` where a queue in the directory of the documents serves them."""
    if status(file := os.path.join(home, FILE)) is not None:
        raise _other(settings, f"the queue in {home}", file)


def _is_ours(told: Told, known: Told) -> bool:
    """Whether the note beside the documents is by the word of a queue."""
    return told[0] == known[0] and _may_be(told[1], _machine())


def _other(settings: HookSettings, which: str, note: str) -> UnsafeQueue:
    return UnsafeQueue(
        f"{settings.jobs} is served by {which}, and two queues would give each job away twice: put "
        "the documents into a store, which several machines read (sssjob store import), or delete "
        f"{note} if that queue is no more"
    )


def _machine() -> str:
    """A machine: its name, what tells it from others of the same name, and since when it is up.

    Each of the latter is empty where the machine has none.
    """
    return "/".join((os.uname().nodename, _hidden(_text_of(_MACHINE_ID)), _since()))


# decision 773
def _since() -> str:
    """Since when a machine is up, or a container: those of a host have its boot together."""
    boot = _text_of(_BOOT_ID)
    try:
        namespace = os.stat(_NAMESPACE).st_ino
    except OSError:
        namespace = _OF_THE_HOST
    if namespace == _OF_THE_HOST:
        return _hidden(boot)
    return _CONTAINER + _hidden(b"%s %d" % (boot, namespace))


def _text_of(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_LONGEST).strip()
    except OSError:
        return b""


def _hidden(text: bytes) -> str:
    """What tells an Id from others, and not the Id itself, which is not for everybody."""
    if text in (b"", b"uninitialized"):  # as images have it that are to get one
        return ""
    from hashlib import blake2b

    return blake2b(text, digest_size=16, person=b"sssjob").hexdigest()


def _parts(machine: str) -> list[str]:
    """Its name, its Id, and that of its boot; versions before noted the first, or two of them."""
    return [*machine.split("/"), "", ""][:3]


def _name(machine: str) -> str:
    return machine.partition("/")[0]


def _may_be(machine: str, other: str) -> bool:
    """Whether two notes may be of one machine: its name says nothing, since it may get another."""
    what, other_what = _parts(machine)[1], _parts(other)[1]
    return what == other_what or not what or not other_what


def _is_place(told: Told, place: tuple[str, str]) -> bool:
    """Whether a note that this queue does not know is of this place all the same.

    Many machines of a cluster have one Id, or one name, and without an Id nobody knows. Containers
    may have both of their image, and the path, too.
    """
    name, what, since = _parts(place[0])
    if not what or [name, what] != _parts(told[1])[:2] or told[2] != place[1]:
        return False
    noted = _parts(told[1])[2]
    return since == noted or not any(each.startswith(_CONTAINER) for each in (since, noted))


def _is_taken_over(told: Told, known: Told, machine: str) -> bool:
    """Whether a clone of the whole machine says that it serves, since this one has said so.

    This one said so last since it is up, and the other one is up since another time.
    """
    boot, noted = _parts(machine)[2], _parts(told[1])[2]
    return bool(noted) and noted != boot == _parts(known[1])[2]


def _is_copied(there: str, here: str) -> bool:
    """Whether there is still a queue at the place that it is noted for: one that moved left it."""
    if there == here:
        return False
    try:
        os.lstat(os.path.join(there, FILE))
        return not os.path.samefile(there, here)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # nobody can tell
        return True


# decision 774
def _close(home: str, settings: HookSettings) -> None:
    """Keep others than its owner from writing into our directory beside the documents.

    What they could have put there and is not ours is put away; a note that is ours still counts.
    """
    if not _is_to_be_closed(home):
        return
    note = os.path.join(home, SERVED)
    for _ in range(2):  # again behind the moment from which on nobody else can
        there = status(note)
        if there is not None and _is_of_others(there, settings):
            put_away(note, there)
        os.chmod(home, _OURS)


def _is_of_others(found: os.stat_result | None, settings: HookSettings) -> bool:
    """Whether what has the name of a note is none of ours."""
    if found is None:
        return False
    return not (stat.S_ISREG(found.st_mode) and _may_say(found, settings))


def _is_to_be_closed(home: str) -> bool:
    found = status(home)
    return (
        found is not None
        and stat.S_ISDIR(found.st_mode)
        and found.st_uid == os.geteuid()
        and bool(found.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
    )


def _make_ready(home: str, settings: HookSettings) -> None:
    """Make a directory of ours beside the documents, if there is none.

    What somebody else has put there under its name is put away. Raises ``UnsafeQueue`` where that
    is not allowed: nobody would know which queue serves the documents. And ``OSError``.
    """
    from sssjob.systems.condor.hooks.trust import trust

    for _ in range(3):
        try:
            os.mkdir(home, 0o711)
            os.chmod(home, _OURS)
        except FileExistsError:
            pass
        found = status(home)
        if found is None:
            continue
        if _is_ready(found, settings):
            return
        if found.st_uid in trust(settings).uids:  # who may keep a queue there
            break
        try:
            put_away(home, found)
        except OSError as error:
            raise _in_the_way(home, error.strerror) from error
        home = state_of(settings.jobs)
    raise _in_the_way(home, _STAYS)


def _is_ready(found: os.stat_result, settings: HookSettings) -> bool:
    return stat.S_ISDIR(found.st_mode) and _may_say(found, settings)


def _check_removable(home: str, found: os.stat_result, settings: HookSettings) -> None:
    """Raise ``UnsafeQueue`` where what is in the way of our directory cannot be put away."""
    from sssjob.systems.condor.hooks.trust import trust

    if found.st_uid in trust(settings).uids:
        raise _in_the_way(home, _STAYS)
    above = os.stat(settings.jobs)
    # In a directory with the sticky bit a name is only its owner's, and that of the directory.
    if above.st_mode & stat.S_ISVTX and os.geteuid() not in (0, above.st_uid, found.st_uid):
        raise _in_the_way(home, os.strerror(errno.EPERM))


def _unwritable(settings: HookSettings, why: str | None) -> UnsafeQueue:
    return UnsafeQueue(
        f"{settings.jobs}: uid {os.geteuid()} cannot write there, {why}: no queue can note that it "
        "serves the documents, nor write into them what became of the jobs"
    )


def _in_the_way(home: str, why: str | None) -> UnsafeQueue:
    return UnsafeQueue(
        f"{home} is not of the owner of the queue, so that no queue can note there that it serves "
        f"the documents, {why}: delete it"
    )


def _is_of_ours(home: str, settings: HookSettings) -> bool:
    """Whether a name leads where it does by the word of who may say it: any user may put a link."""
    found = status(home)
    return found is not None and found.st_uid in _speakers(settings)


def _may_say(found: os.stat_result, settings: HookSettings) -> bool:
    is_open = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return found.st_uid in _speakers(settings) and not is_open


def _speakers(settings: HookSettings) -> set[int]:
    return {0, os.geteuid(), os.stat(settings.jobs).st_uid}


def _known(path: str, settings: HookSettings) -> Told | None:
    """The note in the directory of the queue itself; one that is damaged is written anew."""
    with suppress(UnsafeQueue):
        return _told(path, settings)
    return None


def _told(path: str, settings: HookSettings) -> Told | None:
    """The note of a path; None if there is none, or it is in a place where anybody writes.

    Raises ``UnsafeQueue`` for one of ours that cannot be read: it may be that of another queue.
    """
    above = status(os.path.dirname(path))
    if above is None or not _is_ready(above, settings):
        return None
    return _noted(path, settings)


def _noted(path: str, settings: HookSettings) -> Told | None:
    """The note of a path, wherever that is. Raises ``UnsafeQueue`` as ``_told`` does."""
    try:
        handle = os.open(path, _READ)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, error.strerror) from error
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or not _may_say(found, settings):
            raise _unreadable(path, f"it is of uid {found.st_uid}, or no file")
        text = os.fsdecode(os.read(handle, _LONGEST))
    finally:
        os.close(handle)
    word, _, rest = text.removesuffix("\n").partition(" ")
    machine, _, where = rest.partition(" ")
    if not where or not text.endswith("\n"):
        raise _unreadable(path, "it is damaged")
    return (word, machine, where)


def _unreadable(path: str, why: str | None) -> UnsafeQueue:
    return UnsafeQueue(
        f"{path} does not say which queue serves the documents, {why}: delete it if no other does"
    )


def _first(
    note: str, own: str, known: Told | None, place: tuple[str, str], settings: HookSettings
) -> Told:
    """Note which queue it is, unless another one was faster: what is noted then."""
    told = (known[0] if known else os.urandom(16).hex(), *place)
    # First here: who is killed knows its word again, and what it left under that.
    _note(own, told)
    new = _new(note, told[0])
    handle = os.open(new, _WRITE, 0o644)
    try:
        os.fchmod(handle, 0o644)
        os.write(handle, _text(told))
        os.fsync(handle)
    finally:
        os.close(handle)
    try:
        os.link(new, note)
    except FileExistsError:
        found = _told(note, settings)
        if found is None:
            raise _unreadable(note, "it has just changed") from None
        return found
    finally:
        os.unlink(new)
    return told


def _new(note: str, word: str) -> str:
    return f"{note}.{word}"


def _text(told: Told) -> bytes:
    return os.fsencode(" ".join(told) + "\n")


def _note(path: str, told: Told) -> None:
    from sssjob import atomic

    folder, name = os.path.split(path)
    atomic.put(folder, name, _text(told))
