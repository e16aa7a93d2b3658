"""The directories of a job below those of its node: made before it starts, taken away behind it.

``ROOT/machinefeatures`` is of all jobs, ``ROOT/ID/jobfeatures`` of one, and ``ROOT/ID/jobstatus``
is what the job itself may write. Their names are the values of the variables that a job finds.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sssjob import atomic
from sssjob import directory_handles as handles
from sssjob import directory_trees as trees
from sssjob.features import files
from sssjob.features.batch.allocation import is_id
from sssjob.features.keys import Value
from sssjob.features.write import naming, put, remove, write
from sssjob.integers import whole
from sssjob.users import user_id

MACHINE = "machinefeatures"
VARIABLES = {"JOBFEATURES": "jobfeatures", "MACHINEFEATURES": MACHINE, "JOBSTATUS": "jobstatus"}
_TRIES = 4  # to make directories that others make at the same moment
_BLOCK, _LEAST_FILES = 4096, 64
SHUTDOWN = "shutdowntime"
_ANNOUNCED = ".announced"  # the shutdowns that we were told of, by who told, and the one we found
_ANNOUNCING = ".announcing"  # is locked meanwhile; only root can open it
_FOUND = "-"
_DRAINING = "draining"  # behind the moment of a machine that takes no new jobs
_STALE = 3600  # seconds after which a shutdown that has come is no news
_UNFOLDED = ".unfolded"
_DESCRIBED = ".described"  # a document may describe the job, which is on this node alone
_WATCHED = ".watched"  # by which batch system, for which node, and until when that counts
LONGEST_WATCH = 3600  # seconds


@dataclass(frozen=True, slots=True)
class Directories:
    """Where the directories of one job are; none of them need be there."""

    root: Path
    job_id: str

    @property
    def job(self) -> Path:
        """What is of this job alone."""
        return self.root / self.job_id

    @property
    def jobfeatures(self) -> Path:
        """$JOBFEATURES."""
        return self.job / "jobfeatures"

    @property
    def machinefeatures(self) -> Path:
        """$MACHINEFEATURES."""
        return self.root / MACHINE

    @property
    def jobstatus(self) -> Path:
        """$JOBSTATUS."""
        return self.job / "jobstatus"

    def variables(self) -> dict[str, str]:
        """The variables of the directories that are there."""
        places = {
            variable: (self.root if name == MACHINE else self.job) / name
            for variable, name in VARIABLES.items()
        }
        return {name: str(place) for name, place in places.items() if place.is_dir()}

    def make(
        self, values: Mapping[str, Value], user: str = "", room: int = 0,
        unlearned: Collection[str] = (), *, is_described: bool = False,
    ) -> str:  # fmt: skip
        """Make those of a job anew, all or none; ``user`` owns the status: a name, or a number.

        ``unlearned`` are keys that may limit the job though nobody learned how; they are noted, and
        so is that a document may describe the job, which is on this node alone. The status has
        ``room`` bytes of its own, and a file for each 4 KiB; 0 is no limit. Where that cannot be
        there is no status, and what is given back says why, and whether an earlier run was kept
        here. Raises ``Unprotected`` where others could lead root elsewhere, ``OSError``, and
        ``LookupError`` for a user who is not known.
        """
        owner = user_number(user) if user and os.geteuid() == 0 else -1
        with handles.protected(self.root, make=True) as root, naming(self.job, is_deep=True):
            trees.sweep(root)
            lost = f"what {self.job} kept of an earlier run is gone, and was not folded"
            notes = [lost] if self.is_kept else []
            for left in reversed(range(_TRIES)):
                try:
                    trees.remove_tree(root, self.job_id)  # of an earlier run of this job
                    notes.append(
                        self._fill(root, values, owner, room, unlearned, is_described=is_described)
                    )
                    break
                except FileExistsError:  # another prolog of this job made them just now
                    if not left:
                        raise
            return "; ".join(filter(None, notes))

    def _fill(
        self, root: int, values: Mapping[str, Value], owner: int, room: int,
        unlearned: Collection[str], *, is_described: bool,
    ) -> str:  # fmt: skip
        """Make those that are not there; why there is no status, where there is none.

        Until all is there only root can enter. Raises ``FileExistsError`` where others were
        quicker.
        """
        with trees.made(root, self.job_id) as job:
            if is_described:
                atomic.put(job, _DESCRIBED, b"")
            with trees.made(job, self.jobfeatures.name) as folder:
                if unlearned:
                    lines = "".join(f"{name}\n" for name in sorted(unlearned))
                    atomic.put(folder, files.UNLEARNED, lines.encode())
                write(values, folder)
            with trees.made(job, self.jobstatus.name) as folder:
                if not room:
                    os.fchown(folder, owner, -1)
            return self._limit(job, room, owner) if room else ""

    def _limit(self, job: int, room: int, owner: int) -> str:
        """Give the status a file system of its own, or take it away and say why.

        Only that is the user's: what is beneath it stays root's. # decision 840
        """
        options = f"size={room},nr_inodes={max(_LEAST_FILES, room // _BLOCK)},mode=0755"
        options += f",uid={owner}" if owner >= 0 else ""
        try:
            trees.mount(job, self.jobstatus.name, options)
        except OSError as error:
            trees.remove_tree(job, self.jobstatus.name)
            return f"no $JOBSTATUS: its room cannot be limited: {error.strerror}"
        return ""

    def keep(self, said: bytes) -> None:
        """Note that what is here is still to be folded, and what the status ``said`` at the end.

        A process that goes on could still write there. Raises ``Unprotected``, ``OSError``.
        """
        self._note(_UNFOLDED, said)

    def kept(self) -> bytes:
        """What the status said so. Raises ``Unprotected``, ``OSError``."""
        with handles.protected(self.root) as root, naming(self.job):  # noqa: SIM117
            with handles.inside(root, self.job_id) as job:
                found = os.open(_UNFOLDED, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=job)
                with open(found, "rb") as stream:
                    return stream.read()

    @property
    def is_kept(self) -> bool:
        """Whether an epilog noted that."""
        return os.path.lexists(self.job / _UNFOLDED)

    def describe(self) -> None:
        """Note that there is a document of the job. Raises ``Unprotected``, ``OSError``."""
        self._note(_DESCRIBED, b"")

    def _note(self, name: str, said: bytes) -> None:
        with handles.protected(self.root) as root, naming(self.job):  # noqa: SIM117
            with handles.inside(root, self.job_id) as job:
                atomic.put(job, name, said)

    @property
    def is_described(self) -> bool:
        """Whether that was noted, or the prolog could not tell: all is folded at its end."""
        return os.path.lexists(self.job / _DESCRIBED)

    @contextmanager
    def held(self) -> Iterator[int | None]:
        """A handle of what is of this job now, and of no later run of it; None if nothing is there.

        Raises ``Unprotected``, ``OSError``.
        """
        handle = None
        try:
            with handles.protected(self.root) as root, naming(self.job):  # noqa: SIM117
                with handles.inside(root, self.job_id) as job:
                    handle = os.dup(job)
        except FileNotFoundError:
            pass
        try:
            yield handle
        finally:
            if handle is not None:
                os.close(handle)

    def is_held(self, handle: int | None) -> bool:
        """Whether that is still what is of this job. Raises as ``make`` does."""
        try:
            with handles.protected(self.root) as root, handles.inside(root, self.job_id) as job:
                return handle is not None and os.path.sameopenfile(job, handle)
        except (FileNotFoundError, NotADirectoryError):
            return False

    def remove_held(self, handle: int | None) -> bool:
        """Take away that, and nothing that was made since; False if it is not there any more.

        Raises as ``make`` does.
        """
        return handle is not None and self._remove_if(lambda job: os.path.sameopenfile(job, handle))

    def remove_leftover(self, seen: DirectoryIdentity) -> bool:
        """Take away what was seen of this job; False if that is gone, or was made anew since.

        Raises as ``make`` does.
        """
        return self._remove_if(lambda job: DirectoryIdentity.of(job) == seen)

    def _remove_if(self, is_it: Callable[[int], bool]) -> bool:
        with handles.protected(self.root) as root, naming(self.job):
            try:
                with handles.inside(root, self.job_id) as job:
                    return is_it(job) and self._take_away(root, job)
            except (FileNotFoundError, NotADirectoryError):
                return False

    def _take_away(self, root: int, job: int) -> bool:
        """Take away what is open, and nothing that has its name by now; False if that has."""
        atomic.lock(job)  # or a prolog of another job would take it for a leftover meanwhile
        aside = trees.set_aside(root, self.job_id)
        if not aside:
            return False
        if atomic.is_named(root, aside, job):
            trees.remove_tree(root, aside)
            return True
        # a prolog made it anew at this very moment
        os.rename(aside, self.job_id, src_dir_fd=root, dst_dir_fd=root)
        return False


class DirectoryIdentity(NamedTuple):
    """Which directory it is, so that one that was made anew under its name is another one."""

    device: int
    number: int
    changed: int

    @classmethod
    def of(cls, folder: int) -> DirectoryIdentity:
        """Of an open directory."""
        status = os.fstat(folder)
        return cls(status.st_dev, status.st_ino, status.st_mtime_ns)


def identity(root: Path, job_id: str) -> DirectoryIdentity | None:
    """Which directory a job has now, or the rest of one; None if there is none.

    Raises ``Unprotected`` where others could lead root elsewhere, or ``OSError``.
    """
    of_job = Directories(root, job_id)
    try:
        with handles.protected(root) as folder, handles.inside(folder, job_id) as job:
            names = of_job.jobfeatures.name, of_job.jobstatus.name
            is_of_job = any(handles.is_there(job, name) for name in names)
            return DirectoryIdentity.of(job) if is_of_job else None
    except (FileNotFoundError, NotADirectoryError):
        return None


def standing(root: Path) -> dict[str, DirectoryIdentity]:
    """The directories of jobs that are there, by id: those that have features in them.

    Raises ``Unprotected`` where others could lead root elsewhere, or ``OSError``.
    """
    found = {}
    with handles.protected(root) as folder:
        for name in sorted(os.listdir(folder)):
            if not is_id(name):
                continue
            try:
                with (
                    handles.inside(folder, name) as job,
                    handles.inside(job, Directories(root, name).jobfeatures.name),
                ):
                    found[name] = DirectoryIdentity.of(job)
            except (FileNotFoundError, NotADirectoryError):
                continue  # it is something else, or has just gone
    return found


def of_node(root: str, node: str) -> Path:
    """Where the directories of a node are: in ``root``, %n stands for its name."""
    return Path(root.replace("%n", node))


def doubt(root: Path) -> str:
    """Why no job can be below ``root``; "" where a prolog has been, or nobody can tell."""
    try:
        names = sorted(os.listdir(root))
    except FileNotFoundError:
        return f"{root} is not there: no prolog has made it"
    except OSError:
        return ""  # whoever works there tells it
    if MACHINE in names:
        return ""
    of_nodes = [root / name for name in names if (root / name / MACHINE).is_dir()]
    if not of_nodes:
        return ""
    name = of_nodes[0].name
    return f"{root} has no jobs, but {of_nodes[0]} has: --root {root}/%n --node {name}"


def sweep(root: Path, *, dry_run: bool = False) -> tuple[str, ...]:
    """Remove what prologs and epilogs that were killed left half made, or half removed; its names.

    Raises ``Unprotected`` where others could lead root elsewhere, or ``OSError``.
    """
    try:
        with handles.protected(root) as folder:
            return trees.sweep(folder, dry_run=dry_run)
    except FileNotFoundError:
        return ()  # no job has been here


def make_machine(root: Path, values: Mapping[str, Value]) -> None:
    """Make the directory of the machine whole; one that is there gets the keys that it lacks.

    What stands there is left: others may have changed it. Raises ``Unprotected`` where others
    could lead root elsewhere, or ``OSError``.
    """
    if not values:
        return
    with handles.protected(root, make=True) as folder, naming(root / MACHINE):
        # Another job that starts at this moment may be quicker.
        with suppress(FileExistsError), trees.made(folder, MACHINE) as machine:
            write(values, machine)
            return
        with handles.inside(folder, MACHINE) as machine:
            there = files.texts(machine)[0]
            if missing := {name: each for name, each in values.items() if name not in there}:
                put(missing, machine)


def announce(root: Path, said: Mapping[str, int | None], now: int) -> None:
    """Have the machine tell when somebody takes it away: ``said`` by a source, None is never.

    The earliest of all sources is told, and what a person announced if that is earlier; it is
    there again when a source calls off its own. Raises ``Unprotected``, or ``OSError``.
    """
    with (
        handles.protected(root) as folder, naming(root / MACHINE),
        handles.inside(folder, MACHINE) as machine,
    ):  # fmt: skip
        _announce(machine, SHUTDOWN, said, now)


def watched(machine: Path, system: str, node: str, until: int) -> None:
    """Note that somebody asks a batch system when a node is taken away, and announces it there.

    It holds until that moment, in seconds since 1970. Raises as ``announce`` does.
    """
    with handles.protected(machine) as folder, naming(machine):
        atomic.put(folder, _WATCHED, f"{system} {node} {until}\n".encode())


def unwatched(machine: Path) -> None:
    """Note that nobody does so any more. Raises as ``announce`` does."""
    with handles.protected(machine) as folder, naming(machine), suppress(FileNotFoundError):
        os.unlink(_WATCHED, dir_fd=folder)


def is_watched(root: Path, system: str, node: str, now: int) -> bool:
    """Whether that is so now of this machine."""
    try:
        with handles.protected(root) as above, handles.inside(above, MACHINE) as folder:
            words = files.content(folder, _WATCHED).decode("ascii").split()
    except (OSError, ValueError):
        return False
    until = whole(words[2]) if len(words) == 3 and words[:2] == [system, node] else None
    return until is not None and now < until <= now + LONGEST_WATCH


def announce_in(
    directory: Path, key: str, said: Mapping[str, int | None], now: int,
    reads: Collection[str] = (), draining: Collection[str] = (),
) -> None:  # fmt: skip
    """The same in any directory of features, for ``shutdowntime`` or ``shutdowntime_job``.

    Sources of ``draining`` say that the machine takes no new jobs. That is noted: when they no
    longer say it, what they announced goes, also where it has come, whoever announced it.
    # decision 762

    What sources say that ``reads`` names stands there already where others announced it: it is
    theirs, to be called off by them.
    """
    with handles.protected(directory) as folder, naming(directory):
        standing = _announcements(folder, key, said)
        theirs = {who for who in reads if said.get(who) in standing.others}
        _announce(folder, key, {**said, **dict.fromkeys(theirs)}, now, draining)


class Announcements(NamedTuple):
    """The moments that some sources announced in a directory, and those of all others.

    What a person wrote is of others.
    """

    ours: frozenset[int] = frozenset()
    others: frozenset[int] = frozenset()


def announcements(
    directory: str | os.PathLike[str], key: str, names: Collection[str]
) -> Announcements:
    """What these sources announced in a directory, and what others did; nothing if it is gone."""
    try:
        with handles.opened(directory) as folder:
            return _announcements(folder, key, names)
    except OSError:
        return Announcements()


def _announcements(folder: int, key: str, names: Collection[str]) -> Announcements:
    noted = _announced(folder, _note(key)).moments
    written = whole(files.texts(folder, (key,))[0].get(key, ""))
    others = {moment for who, moment in noted.items() if who not in names}
    if written is not None and written not in noted.values():
        others.add(written)
    return Announcements(
        frozenset(moment for who, moment in noted.items() if who in names), frozenset(others)
    )


def _note(key: str) -> str:
    return _ANNOUNCED + key.removeprefix(SHUTDOWN)


def _announce(
    folder: int, key: str, said: Mapping[str, int | None], now: int, draining: Collection[str] = ()
) -> None:
    note = _note(key)
    if not any(said.values()) and not handles.is_there(folder, note):
        return  # nobody announces anything
    with _alone(folder):
        written = whole(files.texts(folder, (key,))[0].get(key, ""))
        standing = written if written is not None and written > now else None
        noted, drained = _announced(folder, note)
        found = noted.get(_FOUND)
        others = [moment for who, moment in noted.items() if who != _FOUND]
        if written is None and min(others, default=now + 1) <= now:
            pass  # what stood had come, and was taken away for that: the rest stands
        elif written is None or written not in (*noted.values(), *said.values()):
            found = standing  # a person announced it, or called it off
        if found is not None and found <= now:
            found = None
        fresh = {who: moment for who, moment in noted.items() if moment > now - _STALE}
        told = {who: moment for who, moment in {**fresh, **said, _FOUND: found}.items() if moment}
        ours = told if told.keys() - {_FOUND} else {}
        # Who drained the machine is known until it says that this is over.
        drains = {
            who: noted[who] for who in drained
            if who not in said or (who in draining and not said[who])
        }  # fmt: skip
        is_new = ours != {who: noted[who] for who in noted if who in ours or who not in drains}
        drains |= {who: moment for who, moment in ours.items() if who in draining}
        lines = _lines(ours | drains, drains)
        if lines and lines != _lines(noted, drained):
            atomic.put(folder, note, lines.encode())
        elif not lines:
            with suppress(FileNotFoundError):
                os.unlink(note, dir_fd=folder)
        # What has come stands until it is taken away (``expire``), and does not come again then.
        has_come = written is not None and written <= now and written in ours.values()
        least = min((each for each in told.values() if is_new or each > now), default=None)
        is_back = any(
            noted[who] == written and not said.get(who) for who in drained - drains.keys()
        )
        if least is None and (standing is not None or is_back):
            remove((key,), folder)
        elif least is not None and least != written and (is_new or not has_come):
            put({key: least}, folder)


def forget(directory: str | os.PathLike[str], key: str) -> None:
    """A person calls off a shutdown: none of a person comes back. Raises ``OSError``."""
    with handles.opened(directory) as folder:
        note = _note(key)
        if not handles.is_there(folder, note):
            return
        with _alone(folder):
            noted, drained = _announced(folder, note)
            if noted.pop(_FOUND, None) is not None:
                atomic.put(folder, note, _lines(noted, drained).encode())


def _lines(moments: Mapping[str, int], draining: Collection[str]) -> str:
    """The note of such announcements."""
    ends = {who: f" {_DRAINING}" if who in draining else "" for who in moments}
    return "".join(f"{who} {moments[who]}{end}\n" for who, end in sorted(ends.items()))


@contextmanager
def _alone(folder: int) -> Iterator[None]:
    """While no other prolog or watch announces there."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(_ANNOUNCING, flags, 0o600, dir_fd=folder)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


class _Announced(NamedTuple):
    """The shutdowns that were announced, by who told, and the one that was found there.

    ``draining`` are those who told it of a machine that takes no new jobs.
    """

    moments: dict[str, int]
    draining: frozenset[str]


def _announced(folder: int, note: str) -> _Announced:
    try:
        lines = files.content(folder, note).decode("ascii").splitlines()
    except (OSError, ValueError):
        return _Announced({}, frozenset())
    words = ([*line.split(" "), "", ""] for line in lines)
    read = {who: (whole(moment), end) for who, moment, end, *_ in words}
    moments = {who: moment for who, (moment, _) in read.items() if moment is not None}
    return _Announced(moments, frozenset(who for who in moments if read[who][1] == _DRAINING))


def user_number(user: str) -> int:
    """The number of a user by name or number. Raises ``LookupError`` for one who is not known."""
    number = whole(user)
    found = user_id(user) if number is None else number
    if found is None:
        raise LookupError(repr(user))
    return found
