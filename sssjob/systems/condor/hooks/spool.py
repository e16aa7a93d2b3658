"""The spool: what hooks that run as the users of jobs report, a file each.

Everybody may write into it, as into /tmp, so that nothing in a file is believed before it is
known whose it is: that is asked of the open file, which has to be a regular one with one name.
The names of files say nothing; they begin with the key of a job, so that its reports are found.
"""

from __future__ import annotations

import os
import stat

from sssjob.systems.condor.hooks.settings import SPOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    Say = Callable[[object], None]

BAD = "bad"
REPORT_LIMIT = 16 << 20  # bytes of one report
ENTRIES = 100_000  # looked at in one go
PER_OWNER = 10_000  # reports taken in one go, so that nobody fills the spool for everybody
BYTES_PER_OWNER = 256 << 20
TOLD = 20  # odd things in one go, so that nobody fills a log
ASIDE = 1000  # reports that are kept although they cannot be folded
STALE = 3600  # seconds after which an unfinished report is one of a hook that was killed

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_ROOM = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class SpooledReport:
    """A report: ``uid`` is whose file it is, ``left`` when it was left (seconds since 1970).

    ``moment`` is the same in whole seconds, as documents have it.
    """

    __slots__ = ("left", "moment", "name", "text", "uid")

    def __init__(self, name: str, uid: int, left: float, text: bytes) -> None:
        self.name, self.uid, self.text = name, uid, text
        self.left, self.moment = left, int(left)


class NotAReport(Exception):
    """What is no report, in words; ``keep`` if somebody may want to look at it."""

    def __init__(self, reason: str, *, keep: bool = False) -> None:
        super().__init__(reason)
        self.keep = keep


class Spool:
    """The reports in the spool of a queue that is ours."""

    __slots__ = ("_folder", "_say", "_state", "_staying", "_told", "refused")

    def __init__(self, state: str, say: Say) -> None:
        self._state, self._say = state, say
        self.refused = self._told = 0
        self._staying: list[tuple[str, str]] = []
        self._folder = os.open(os.path.join(state, SPOOL), _ROOM)

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        os.close(self._folder)

    def reports(self, now: float) -> Iterator[SpooledReport]:
        """Every report, one of each user in turn, the oldest first.

        What is none is said and taken away; the others go on.
        """
        taken: dict[int, tuple[int, int]] = {}
        full: set[int] = set()
        for _, uid, size, name in _in_turn(self._entries(now)):
            if uid in full:
                continue
            count, total = taken.get(uid, (0, 0))
            if count == PER_OWNER or total > BYTES_PER_OWNER:
                self._say(f"{SPOOL}: uid {uid} left more than {count} reports; the rest waits")
                full.add(uid)
                continue
            taken[uid] = (count + 1, total + size)
            try:
                yield self._read(name)
            except FileNotFoundError:
                continue
            except PermissionError:
                self.refuse(name, NotAReport("only its user may read it", keep=True))
            except OSError as error:
                self._say(f"{SPOOL}/{name!r}: {error.strerror}")
            except NotAReport as odd:
                self.refuse(name, odd)

    def by_key(self, now: float, keys: Collection[int]) -> dict[int, list[tuple[int, str]]]:
        """The uids and names of the reports that are named after jobs, the newest first."""
        found: dict[int, list[tuple[int, str]]] = {}
        for _, uid, _, name in sorted(self._entries(now), reverse=True):
            head = name.partition(".")[0]
            if head.isdecimal() and head.isascii() and len(head) < 20 and int(head) in keys:
                found.setdefault(int(head), []).append((uid, name))
        return found

    def read(
        self, names: Iterable[tuple[int, str]], counts: Callable[[int], bool]
    ) -> Iterator[SpooledReport]:
        """Those of reports that can be read, of users who count; nothing becomes of the others."""
        for uid, name in names:
            try:
                if counts(uid) and counts((report := self._read(name)).uid):
                    yield report
            except (OSError, NotAReport):
                continue

    def remove(self, name: str) -> None:
        """Take a report away that was folded."""
        try:
            os.unlink(name, dir_fd=self._folder)
        except FileNotFoundError:
            return

    def refuse(self, name: str, reason: NotAReport) -> None:
        """Set a report aside that does not count, or take it away, and say why."""
        try:
            if reason.keep:
                self._set_aside(name)
            else:
                self._discard(name)
        except OSError as error:
            self._staying.append((name, f"{reason}; it stays: {error.strerror}"))
            return
        self.refused += 1
        self.tell(name, str(reason))

    def tell_staying(self, is_news: Callable[[str, Iterable[object]], bool]) -> None:
        """Say what nobody but its user can take away; it is refused when it is news."""
        if is_news("odd in the spool", self._staying):
            self.refused += len(self._staying)
            for name, reason in self._staying:
                self.tell(name, reason)

    def tell(self, name: str, what: str) -> None:
        """Say something about a report, unless too much was said."""
        self._told += 1
        if self._told <= TOLD:
            self._say(f"{SPOOL}/{name!r}: {what}")
        elif self._told == TOLD + 1:
            self._say(f"{SPOOL}: there is more of this, of which nothing is said")

    def _entries(self, now: float) -> Iterator[tuple[int, int, int, str]]:
        """When each file was left, by whom, its size and its name."""
        odd: list[tuple[str, NotAReport]] = []
        with os.scandir(self._folder) as entries:
            for count, each in enumerate(entries, 1):
                if count > ENTRIES:
                    self._say(f"{SPOOL}: more than {ENTRIES} entries; the rest waits")
                    break
                try:
                    found = each.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                if not stat.S_ISREG(found.st_mode):
                    odd.append((each.name, NotAReport("it is not a regular file")))
                elif each.name[0] != ".":
                    yield found.st_mtime_ns, found.st_uid, found.st_size, each.name
                elif found.st_mtime < now - STALE:
                    odd.append((each.name, NotAReport("a hook that was killed did not finish it")))
        for name, reason in odd:
            self.refuse(name, reason)

    def _read(self, name: str) -> SpooledReport:
        """A report, when it is known whose it is. Raises ``NotAReport``."""
        handle = os.open(name, _FLAGS, dir_fd=self._folder)
        with open(handle, "rb") as file:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise NotAReport("it is not a regular file")
            if found.st_nlink != 1:
                raise NotAReport(
                    "it has more than one name, so that nobody knows who left it", keep=True
                )
            text = file.read(REPORT_LIMIT + 1)
        if len(text) > REPORT_LIMIT:
            raise NotAReport(f"it has {found.st_size} bytes, and a report at most {REPORT_LIMIT}")
        return SpooledReport(name, found.st_uid, found.st_mtime, text)

    def _discard(self, name: str) -> None:
        try:
            os.unlink(name, dir_fd=self._folder)
        except (IsADirectoryError, PermissionError):  # which of both depends on the system
            os.rmdir(name, dir_fd=self._folder)

    def _set_aside(self, name: str) -> None:
        """Keep a report where nobody can write, under the next number."""
        place = os.path.join(self._state, BAD)
        if not os.path.isdir(place):
            os.mkdir(place, 0o700)
        folder = os.open(place, _ROOM)
        try:
            numbers = [int(each) for each in os.listdir(folder) if each.isdecimal()]
            if len(numbers) >= ASIDE:
                self._discard(name)
                return
            new = str(max(numbers, default=0) + 1)
            os.rename(name, new, src_dir_fd=self._folder, dst_dir_fd=folder)
        finally:
            os.close(folder)


def _in_turn(entries: Iterable[tuple[int, int, int, str]]) -> list[tuple[int, int, int, str]]:
    """Entries so that who left many keeps nobody waiting; those of one user by their age."""
    count: dict[int, int] = {}
    ranked = []
    for entry in sorted(entries):
        rank = count[entry[1]] = count.get(entry[1], 0) + 1
        ranked.append((rank, entry))
    return [entry for _, entry in sorted(ranked)]
