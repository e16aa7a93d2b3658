"""Where the documents of jobs are: the files of a directory, or a store."""

from __future__ import annotations

import errno
import hashlib
import io
import math
import os
import signal
import stat
import struct
import time
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO, NamedTuple, Protocol, TypeGuard

from sssjob import atomic, store
from sssjob.document import dumps, read
from sssjob.document.splice import rewrite
from sssjob.errors import UnusableInput
from sssjob.fold import JOB, Fact, fold
from sssjob.known_by import of_one, whose
from sssjob.model import Block, Item, Job, JobGroup, Property
from sssjob.states import has_ended
from sssjob.systems.condor import names
from sssjob.systems.condor.hooks import starts
from sssjob.systems.condor.hooks.place import document_stamp
from sssjob.systems.condor.hooks.settings import HookSettings
from sssjob.systems.condor.hooks.trust import reporters

SUFFIXES = (".xml", ".sss")
BY = "condor"  # who changes the documents of a store
LIMIT = 256 << 20  # bytes of one document
ENTRIES = 1_000_000  # of a directory
REPORTED = "reported"  # where the documents stand that reports made, of which none can run

_ROOM = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

# Told which job it is, the job, and the uid of whose it is, None where that is no file of a user.
Change = Callable[[int, Job, int | None], Job]
Say = Callable[[object], None]


@dataclass(frozen=True, slots=True)
class QueuedDocument:
    """A document: its stamp changes when it does, ``uid`` is whose file it is.

    ``size`` is in bytes, 0 in a store.
    """

    name: str
    stamp: str
    uid: int
    size: int = 0


class FoundDocuments(NamedTuple):
    """Documents as they are found, and a mark by which to ask for those that are new next time.

    ``gone`` are the names of those that are not there any more, None where ``there`` are all.
    """

    there: list[QueuedDocument]
    mark: str = ""
    gone: set[str] | None = None


class Claim(NamedTuple):
    """The claim of an attempt in a store, by the place where its job stands and by its ticket."""

    place: str
    ticket: str


class Others(NamedTuple):
    """What is known of attempts at a job when it is to be given away.

    ``runs`` is the ticket of the one of which its document tells that it runs, "" without one;
    ``own`` are those that this queue gave away before, which are over if it gives the job away.
    """

    runs: str
    own: Container[str | None]


class Documents(Protocol):
    """Documents by name; ``owned`` says whether each is the file of a user."""

    owned: bool

    def found(self, mark: str, also: Iterable[str], say: Say) -> FoundDocuments:
        """Every document, or those that are new since a mark, and ``also`` some by their names.

        What has the name of one and is none is said.
        """

    def blocks(self, found: QueuedDocument) -> list[Block]:
        """The Jobs and JobGroups of a document. Raises ``UnreadableDocument`` and ``OSError``."""

    def change(self, name: str, change: Change, uid: int | None = None) -> bool:
        """Give every job of a document to ``change``, with its number, and keep what comes back.

        ``uid`` is whose document it is known to be: a file that we write becomes one of ours.
        False if the document is gone. Raises ``UnreadableDocument`` and ``OSError``.
        """

    def report(self, uid: int, new: Job, change: Change) -> None:
        """Change the document that reports made about a job, or make it of ``new``.

        ``uid`` is the user whose job it is: what others report is another document. Raises
        ``UnreadableDocument``, ``UnusableInput`` and ``OSError``.
        """

    def tidy(self) -> None:
        """Take away what was not finished when we were killed; nobody else is at it."""

    def take(self, claim: Claim, until: float, others: Others, read: QueuedDocument) -> bool:
        """Claim a job for an attempt, until a moment in seconds since 1970.

        False if an attempt of another machine has it, or had it since its document was ``read``.
        """

    def keep(self, claim: Claim, until: float) -> None:
        """Let the claim of an attempt last until a moment, also where its job is moved."""

    def keep_place(self, claim: Claim, until: float) -> None:
        """Let that by its place last until a moment, unless another attempt has it there."""

    def release(self, *claims: Claim) -> None:
        """Give the claims of attempts up; what others have there stays theirs."""

    def give_up(self, place: str, ticket: str) -> None:
        """Give up whichever claims there are of a place, and of an attempt."""

    def claimed(self, *tickets: str) -> float | None:
        """Until when the last of the claims of some attempts holds, None if there never was one."""

    def taken(self, place: str, others: Others) -> float:
        """Until when attempts of other machines have the job of a place; 0 if none has it."""


def documents(settings: HookSettings) -> Documents:
    """The documents that the hooks are told of. Raises ``UnusableInput`` and ``UnusableStore``."""
    if os.path.isdir(settings.jobs):
        place = os.path.join(settings.state, REPORTED)
        return _DocumentDirectory(settings.jobs, place, reporters(settings).uids)
    if store.is_store(settings.jobs) or os.path.isfile(settings.jobs):
        return _StoredDocuments(settings.jobs, settings.seconds)
    raise UnusableInput(f"{settings.jobs} is neither a directory of jobs nor a store")


def asks(job: Job) -> str:
    """What tells a job from another one that is put in its place, under its Id: what it runs."""
    said = "\0".join(job.get(name) for name in ("Executable", "Arguments"))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class _DocumentDirectory:
    """Files that hold one document each, or several."""

    owned = True

    def __init__(self, path: str, reported: str, believed: Container[int]) -> None:
        self.path, self.reported, self._believed = path, reported, believed

    def found(self, mark: str, also: Iterable[str], say: Say) -> FoundDocuments:
        return FoundDocuments(list(self._every(say)))

    def _every(self, say: Say) -> Iterator[QueuedDocument]:
        with os.scandir(self.path) as entries:
            for count, each in enumerate(entries, 1):
                if count > ENTRIES:
                    say(f"{self.path}: more than {ENTRIES} entries; the rest is passed over")
                    return
                if not each.name.endswith(SUFFIXES) or each.name[0] == ".":
                    continue
                if not each.name.isprintable():  # which is not UTF-8, too
                    say(f"{each.name!r}: a name that cannot be printed is not one of a document")
                    continue
                try:
                    status = each.stat(follow_symlinks=False)
                    _check(each.name, status)
                except OSError as error:
                    say(f"{each.name}: {error.strerror}")
                    continue
                yield QueuedDocument(
                    each.name, document_stamp(status), status.st_uid, status.st_size
                )

    def blocks(self, found: QueuedDocument) -> list[Block]:
        with _folder(self.path) as folder, _opened(folder, found.name) as file:
            # Another file may have taken its name since it was asked whose it is.
            _unchanged(found.name, os.fstat(file.fileno()), found.stamp)
            return list(read(file, parts=False))

    def change(self, name: str, change: Change, uid: int | None = None) -> bool:
        with _folder(self.path) as folder:
            return _change(folder, name, change, self._believed, uid)

    def report(self, uid: int, new: Job, change: Change) -> None:
        # A name of our own making, which differs where the users differ.
        mark = hashlib.sha256(f"{uid}\0{new.get('GlobalId')}".encode("utf-8", "surrogatepass"))
        name = f"{mark.hexdigest()[:32]}.xml"
        with suppress(FileExistsError):
            os.mkdir(self.reported, 0o755)
        with _folder(self.reported) as folder:
            if not _change(folder, name, change):
                text = dumps(change(1, new, None), indent=True) + "\n"
                atomic.put(folder, name, text.encode())

    def tidy(self) -> None:
        for path in (self.path, self.reported):
            if not os.path.isdir(path):
                continue
            with _folder(path) as folder, os.scandir(folder) as entries:
                for each in entries:
                    if atomic.is_hidden(each.name):
                        atomic.sweep(folder, each.name)

    def take(self, claim: Claim, until: float, others: Others, read: QueuedDocument) -> bool:
        return True  # the queue's own claim is enough

    def keep(self, claim: Claim, until: float) -> None:
        pass

    def keep_place(self, claim: Claim, until: float) -> None:
        pass

    def release(self, *claims: Claim) -> None:
        pass

    def give_up(self, place: str, ticket: str) -> None:
        pass

    def claimed(self, *tickets: str) -> float | None:
        return None

    def taken(self, place: str, others: Others) -> float:
        return 0.0


@contextmanager
def _folder(path: str) -> Iterator[int]:
    folder = os.open(path, _ROOM)
    try:
        yield folder
    finally:
        os.close(folder)


@contextmanager
def _opened(folder: int, name: str) -> Iterator[BinaryIO]:
    """A document of a folder, of which is known what it is."""
    with open(os.open(name, _FLAGS, dir_fd=folder), "rb") as file:
        _check(name, os.fstat(file.fileno()))
        yield file


def _check(name: str, status: os.stat_result) -> None:
    """Raise ``OSError`` for what cannot be a document: nobody knows whose it is, or it is huge."""
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", name)
    if status.st_nlink != 1:
        raise OSError(errno.EMLINK, "it has more than one name", name)
    if status.st_size > LIMIT:
        raise OSError(errno.EFBIG, f"it has more than {LIMIT} bytes", name)


def _unchanged(name: str, status: os.stat_result, before: str) -> None:
    if document_stamp(status) != before:
        raise OSError(errno.EAGAIN, "it changes while it is read", name)


# decision 590
class _OriginMark:
    """A change that notes in each job whose file its document was, if anything changes.

    By the rename with which we write a document it becomes a file of ours, and those are believed
    whatever they say. ``uid`` is whose it is, and ``keeps`` says that a note in it counts.
    """

    def __init__(self, change: Change, uid: int, *, keeps: bool) -> None:
        self._change, self._uid, self._keeps = change, uid, keeps
        self._mark = Property("Extension", uid, {"type": names.EXTENSION, "name": names.ORIGIN})
        self.changes = False

    def __call__(self, number: int, job: Job) -> Job:
        noted = origin(job) if self._keeps else None
        new = self._change(number, job, self._uid if noted is None else noted)
        self.changes = self.changes or new != job
        if noted is not None:
            return new
        bare = new.holding(item for item in new.items if not _is_origin(item))
        return fold(bare, [Fact(self._mark, JOB)]).job


def origin(job: Job) -> int | None:
    """The uid that stands in a job as that of its document; -1 for what is none, None without."""
    for item in job.items:
        if _is_origin(item):
            text = item.text.strip()
            return int(text) if text.isdecimal() and text.isascii() and len(text) < 20 else -1
    return None


def _is_origin(item: Item) -> TypeGuard[Property]:
    return (
        isinstance(item, Property)
        and item.name == "Extension"
        and item.said("type") == names.EXTENSION
        and item.said("name") == names.ORIGIN
    )


def _change(
    folder: int, name: str, change: Change, believed: Container[int] | None = None,
    known: int | None = None,
) -> bool:  # fmt: skip
    """Change a document in the place of the one that was read; False if there is none.

    ``known`` is whose it is, where that is known and the file is one of those who are
    ``believed``; without these nobody asks whose it is.
    """
    try:
        with _opened(folder, name) as file:
            status = os.fstat(file.fileno())
            old = file.read(LIMIT + 1)
    except FileNotFoundError:
        return False
    if believed is None:
        new = b"".join(rewrite(old, _of_nobody(change).block))
    else:
        keeps = status.st_uid in believed
        uid = status.st_uid if known is None or not keeps else known
        marked = _OriginMark(change, uid, keeps=keeps)
        new = b"".join(rewrite(old, NumberedChange(marked).block))
        if not marked.changes:
            return True
    if new == old:
        return True
    _unchanged(name, os.stat(name, dir_fd=folder, follow_symlinks=False), document_stamp(status))
    _replace(folder, name, new, status)
    return True


def _replace(folder: int, name: str, content: bytes, old: os.stat_result) -> None:
    """Put a file in the place of one that stays its user's, or that its user can still read.

    Only root can give a file away. Raises ``OSError``.
    """
    mode = stat.S_IMODE(old.st_mode) & 0o777
    new = atomic.Hidden(folder, name, 0o600)
    try:
        new.fill(content, 0o600)
        if os.geteuid() == 0:
            os.fchown(new.handle, old.st_uid, old.st_gid)
        access = _access(folder, name) or (
            b"" if old.st_uid == os.fstat(new.handle).st_uid else _readable(mode, old.st_uid)
        )
        os.fchmod(new.handle, mode & ~0o070 if access else mode)
        if access:
            with suppress(OSError):  # a file system without such lists
                os.setxattr(new.handle, _ACL, access)
        os.fsync(new.handle)
        new.appear()
    finally:
        new.end()
    atomic.force_names(folder)


_ACL = "system.posix_acl_access"
_ACL_VERSION, _NO_ID = 2, 0xFFFF_FFFF


def _access(folder: int, name: str) -> bytes:
    """The access list of a file; empty without one."""
    try:
        handle = os.open(name, _FLAGS, dir_fd=folder)
    except OSError:
        return b""
    try:
        return os.getxattr(handle, _ACL)
    except OSError:
        return b""
    finally:
        os.close(handle)


def _readable(mode: int, uid: int) -> bytes:
    """The access list of a file that a user may read, beside those who may by its mode (acl(5))."""
    owner, group, other = mode >> 6 & 7, mode >> 3 & 7, mode & 7
    rows = ((0x01, owner, _NO_ID), (0x02, 4, uid), (0x04, group, _NO_ID),
            (0x10, group | 4, _NO_ID), (0x20, other, _NO_ID))  # fmt: skip
    return struct.pack("<I", _ACL_VERSION) + b"".join(struct.pack("<HHI", *row) for row in rows)


class _StoredDocuments:
    """The documents of a store, which the hooks of other machines may look at, too."""

    owned = False

    def __init__(self, address: str, seconds: int) -> None:
        self.address, self._seconds = address, seconds

    def _read(self) -> store.Store:
        return store.open(self.address, read_only=True, patience=self._patience())

    @contextmanager
    def _changing(self) -> Iterator[store.Change]:
        with (
            store.open(self.address, by=BY, patience=self._patience()) as jobs,
            jobs.change() as work,
        ):
            yield work

    def _patience(self) -> float:
        """How long to wait for whoever else has the store: what is left of the time of the hook.

        A wait within SQLite does not end by the alarm of the hook.
        """
        return math.ceil(signal.getitimer(signal.ITIMER_REAL)[0]) or self._seconds

    # decision 906
    def found(self, mark: str, also: Iterable[str], say: Say) -> FoundDocuments:
        # Who may write into a store may say anything in it.
        path = self.address.removeprefix("sqlite:")
        uid = os.getuid() if "://" in path else os.stat(path).st_uid
        with self._read() as jobs:
            news = jobs.news(mark)
            told = {_name(identity): (version, deleted)
                    for identity, version, deleted in news.documents}  # fmt: skip
            for name in () if news.are_all else set(also) - told.keys():
                stored = jobs.get(_identity(name))
                told[name] = (0, True) if stored is None else (stored.version, stored.deleted)
        there = [
            QueuedDocument(name, str(version), uid)
            for name, (version, is_deleted) in told.items() if not is_deleted
        ]  # fmt: skip
        gone = {name for name, (_, is_deleted) in told.items() if is_deleted}
        return FoundDocuments(there, news.mark, None if news.are_all else gone)

    def blocks(self, found: QueuedDocument) -> list[Block]:
        with self._read() as jobs:
            stored = _there(jobs, found.name)
        return [] if stored is None else list(read(io.BytesIO(stored.document)))

    def change(self, name: str, change: Change, uid: int | None = None) -> bool:
        with self._changing() as work:
            found = _there(work, name)
            if found is None:
                return False
            pieces = rewrite(found.document, _of_nobody(change).block)
            work.put(b"".join(pieces), replacing=found)
        return True

    def report(self, uid: int, new: Job, change: Change) -> None:
        with self._changing() as work:
            every = [*_of_user(work, uid, new)]
            if any(map(_is_settled, every)):
                return
            for found in every[:1]:
                folded = _of_nobody(partial(_named_by, new, change))
                pieces = rewrite(found.document, folded.block)
                work.put(b"".join(pieces), replacing=found)
                return
            for named in _named(new):
                if work.about(_whenever(named)) is None:
                    made = work.put(change(1, named, None))
                    work.note(_reported(made.identity), str(uid))
                    return
        name = new.get("GlobalId")
        raise UnusableInput(f"{name}: its document in the store is not from hooks of this user")

    def tidy(self) -> None:
        pass

    # decision 817
    def take(self, claim: Claim, until: float, others: Others, read: QueuedDocument) -> bool:
        with self._changing() as work:
            if _until(work, claim.place, others) > time.time():
                return False
            found = _there(work, read.name)
            if found is None or str(found.version) != read.stamp:
                return False
            _let_have(work, claim, until)
        return True

    def keep(self, claim: Claim, until: float) -> None:
        with self._changing() as work:
            work.note(_note(claim.ticket), str(until))
            _let_keep(work, claim, until)

    def keep_place(self, claim: Claim, until: float) -> None:
        with self._changing() as work:
            _let_keep(work, claim, until)

    def release(self, *claims: Claim) -> None:
        with self._changing() as work:
            for place, ticket in claims:
                work.note(_note(ticket), "0")
                if work.noted(_whose(place)) == ticket:
                    work.note(_note(place), "0")

    def give_up(self, place: str, ticket: str) -> None:
        with self._changing() as work:
            for name in filter(None, (place, ticket)):
                work.note(_note(name), "0")

    def claimed(self, *tickets: str) -> float | None:
        with self._read() as jobs:
            known = [jobs.noted(_note(ticket)) for ticket in tickets]
        return max((float(each) for each in known if each is not None), default=None)

    def taken(self, place: str, others: Others) -> float:
        with self._read() as jobs:
            return _until(jobs, place, others)


# decision 846
def _there(jobs: store.Store | store.Change, name: str) -> store.Stored | None:
    """A document of a store; None also where it was deleted, as a file that is gone.

    Whoever writes another version of one that was deleted undoes that.
    """
    found = jobs.get(_identity(name))
    return None if found is None or found.deleted else found


def _until(jobs: store.Store | store.Change, place: str, others: Others) -> float:
    """Until when attempts of other machines have the job of a place; 0 if none has it."""
    ticket = others.runs
    by_place = jobs.noted(_note(place)) if jobs.noted(_whose(place)) not in others.own else None
    by_ticket = jobs.noted(_note(ticket)) if ticket and ticket not in others.own else None
    return max(float(by_place or 0), float(by_ticket or 0))


def _let_keep(work: store.Change, claim: Claim, until: float) -> None:
    """The same, unless another attempt has it."""
    is_mine = work.noted(_whose(claim.place)) in (None, claim.ticket)
    if is_mine or float(work.noted(_note(claim.place)) or 0) <= time.time():
        _let_have(work, claim, until)


def _let_have(work: store.Change, claim: Claim, until: float) -> None:
    """Note that the job of a place is that of an attempt, until a moment."""
    work.note(_note(claim.place), str(until))
    work.note(_whose(claim.place), claim.ticket)


def _named(new: Job) -> Iterator[Job]:
    """A job under its Id, and under one that others cannot have a report take before."""
    if "@" not in new.id:
        yield new
    yield new.setting(Property("Id", f"{_number(new)}@{new.get('User')}"))


def _number(new: Job) -> str:
    """The Id of a job on its schedd."""
    return new.get("GlobalId").split("#")[1]


# decision 824
def _of_user(work: store.Change, uid: int, new: Job) -> Iterator[store.Stored]:
    """The documents of a job of a schedd and of its user, whoever put them there."""
    every = new.id, _number(new), new.get("GlobalId"), f"{_number(new)}@{new.get('User')}"
    met: set[int] = set()
    for id_ in dict.fromkeys(every):
        for found in work.named(id_, deleted=True):
            by = work.noted(_reported(found.identity))
            if found.number not in met and by in (None, str(uid)) and _is_about(found, new):
                met.add(found.number)
                yield found


def _is_settled(found: store.Stored) -> bool:
    """Whether the batch system told how a job ended: reports of its user change that no more."""
    [block] = read(io.BytesIO(found.document))
    return isinstance(block, Job) and has_ended(block.get) and not starts.of_job(block)


def _whenever(job: Job) -> Job:
    """A job that does not say of which start it is: to a store each would be another run."""
    return job.holding(
        item for item in job.items if not isinstance(item, Property) or item.name != "StartTime"
    )


# decision 828
def _is_about(found: store.Stored, new: Job) -> bool:
    """Whether a document is of the job of a report: others may have replaced it.

    What tells no GlobalJobId, as messages of APEL, or no user, is of the run that began then.
    """
    [block] = read(io.BytesIO(found.document))
    if not isinstance(block, Job):
        return False
    one, user, its = of_one(block.id, block.get("GlobalId")), _user(block), _user(new)
    if one not in ("", new.get("GlobalId")):
        return False
    is_named = user == its or "" != whose(user) == whose(its)
    if is_named and one:
        return True
    start = block.properties.value("StartTime")
    is_it = start is not None and start == new.properties.value("StartTime")
    return is_it and (is_named or not whose(user))


def _user(job: Job) -> str:
    """Whose a job of a schedd is."""
    return job.delivered.text("User") or job.get("User")


def _named_by(new: Job, change: Change, number: int, job: Job, uid: int | None) -> Job:
    """A change of a job that is known as that of a report, which tells whose it is."""
    job = change(number, job, uid)
    return job if whose(_user(job)) else job.setting(Property("User", _user(new)))


def _name(identity: store.Identity) -> str:
    return f"{identity.name}/{identity.run or 1}/{identity.id}"


def _identity(name: str) -> store.Identity:
    kind, run, id_ = name.split("/", 2)
    return store.Identity(kind, id_, int(run))


def _note(name: str) -> str:
    """The claim of a job in a store: until when it holds, in seconds since 1970."""
    return f"condor/{name}"


def _whose(place: str) -> str:
    """Which attempt has the job of a place; an earlier version did not note it."""
    return f"condor-attempt/{place}"


def _reported(identity: store.Identity) -> str:
    """That reports made a document: about the jobs of which uid."""
    return f"condor-reported/{_name(identity)}"


class NumberedChange:
    """A change of jobs that is told which one each is, counted from 1 through a document."""

    def __init__(self, change: Callable[[int, Job], Job]) -> None:
        self._change = change
        self._count = 0

    def block(self, block: Block) -> Block:
        """A job, or a group with its jobs, as the change gives them back."""
        if isinstance(block, Job):
            return self._next(block)
        if isinstance(block, JobGroup):
            items = (self._next(item) if type(item) is Job else item for item in block.items)
            return block.holding(items)
        return block

    def _next(self, job: Job) -> Job:
        self._count += 1
        return self._change(self._count, job)


def _of_nobody(change: Change) -> NumberedChange:
    """A change of a document that is no file of a user."""
    return NumberedChange(lambda number, job: change(number, job, None))
