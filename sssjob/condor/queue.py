"""The jobs that hooks give away, as files that move from directory to directory by rename.

``ready`` holds a file for each job that may be fetched: its ads in the long form, one for each
alternative of its request, best first. Whoever renames the file to ``offered`` has the job, and
nobody else. From there it goes to ``accepted`` or back, as the startd replies, to ``running`` when
its starter is heard, and to ``done`` in the end; ``waiting`` holds jobs that may not run yet, with
the reason. ``spool`` takes the reports of hooks that run as the users of jobs.

File names begin with what orders the queue: the highest priority, then the oldest.
"""

from __future__ import annotations

import os

from sssjob import atomic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

STATES = ("ready", "offered", "accepted", "running", "waiting", "done")
READY, OFFERED, ACCEPTED, RUNNING, WAITING, DONE = STATES
SPOOL, INDEX, LOCK = "spool", "index.json", "lock"

REPORT_LIMIT = 16 << 20  # bytes of one report
_SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@#:")
_LETTERS = frozenset(map(chr, _SAFE)) | {"%", "~"}
_LONGEST = 200
_MOST_PRIORITY = 10**10


def encoded(text: str) -> str:
    """A text as a part of a file name: bytes that could mean something else are per cent."""
    octets = text.encode("utf-8", "surrogatepass")
    whole = "".join(chr(byte) if byte in _SAFE else f"%{byte:02X}" for byte in octets)
    return whole[:_LONGEST]


def entry(key: str, priority: int = 0, submitted: int = 0) -> str:
    """The file name of a job: higher priority first, then what was submitted first."""
    rank = _MOST_PRIORITY - max(min(priority, _MOST_PRIORITY - 1), 1 - _MOST_PRIORITY)
    return f"{rank:011d}~{max(min(submitted, 10**11 - 1), 0):011d}~{encoded(key)}"


def is_entry(name: str) -> bool:
    """Whether a text can be the file name of a job: it came with an ad, from outside."""
    parts = name.split("~")
    safe = all(letter in _LETTERS for letter in name)
    return safe and len(parts) == 3 and parts[0].isdecimal() and parts[1].isdecimal()


def known_as(name: str) -> str:
    """The job of a file name of the queue, as people know it.

    >>> known_as(entry("Job/1/a b"))
    'Job/1/a b'
    """
    from urllib.parse import unquote  # hooks must start fast

    # The key of a document is encoded, too, where it is a part of the key of a job.
    return unquote(unquote(name.rpartition("~")[2]))


class Queue:
    """The directory in which hooks keep what they know."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def make(self) -> None:
        """Make what is missing. The spool is everybody's, as /tmp is."""
        for name in ("", *STATES, SPOOL):
            directory = os.path.join(self.path, name)
            if not os.path.isdir(directory):
                os.makedirs(directory, exist_ok=True)
                os.chmod(directory, 0o1777 if name == SPOOL else 0o755)

    def names(self, state: str) -> list[str]:
        """The jobs in a state, in the order of the queue."""
        try:
            return sorted(name for name in os.listdir(self.place(state)) if name[0] != ".")
        except FileNotFoundError:
            return []

    def place(self, state: str, name: str = "") -> str:
        """The path of a state, or of a job in it."""
        return os.path.join(self.path, state, name)

    def text(self, state: str, name: str) -> bytes:
        """What stands in the file of a job."""
        with open(self.place(state, name), "rb") as file:
            return file.read()

    def put(self, state: str, name: str, text: bytes) -> None:
        """Write the file of a job, whole or not at all."""
        atomic.put(self.place(state), name, text, durable=False)

    def move(self, name: str, before: str, after: str) -> bool:
        """Take a job from one state to another; False if it is not there, or another was faster."""
        try:
            os.rename(self.place(before, name), self.place(after, name))
        except FileNotFoundError:
            return False
        self.touch(after, name)
        return True

    def touch(self, state: str, name: str) -> bool:
        """Note that something was heard of a job."""
        try:
            os.utime(self.place(state, name))
        except FileNotFoundError:
            return False
        return True

    def state_of(self, name: str) -> str:
        """Where a job is, or an empty text."""
        return next((s for s in STATES if os.path.exists(self.place(s, name))), "")

    def silent(self, state: str, before: float) -> Iterator[str]:
        """The jobs of a state of which nothing was heard since a moment."""
        for name in self.names(state):
            try:
                if os.stat(self.place(state, name)).st_mtime < before:
                    yield name
            except FileNotFoundError:
                continue

    def report(self, name: str, start: int, kind: str, text: bytes) -> str:
        """Leave a report; a later one of its kind about the same start takes its place."""
        spool = os.path.join(self.path, SPOOL)
        final = os.path.join(spool, f"{encoded(name)[:150]}~{start}~{kind}")
        atomic.put(spool, os.path.basename(final), text)
        return final

    def reports(self) -> list[str]:
        """The names of all reports, the oldest first."""
        found = []
        try:
            with os.scandir(os.path.join(self.path, SPOOL)) as entries:
                for each in entries:
                    if each.name[0] != "." and each.is_file(follow_symlinks=False):
                        found.append((each.stat(follow_symlinks=False).st_mtime_ns, each.name))
        except FileNotFoundError:
            return []
        return [name for _, name in sorted(found)]

    def ended(self, name: str) -> bool:
        """Whether a report says that a job has ended, which nobody has folded yet."""
        head = encoded(name)[:150] + "~"
        return any(
            each.startswith(head) and each.rpartition("~")[2].startswith("exit")
            for each in self.reports()
        )
