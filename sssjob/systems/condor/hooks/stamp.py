"""Whether the queue knows all documents, told without opening one; and whether it has nothing to
give away, told without opening the queue.
"""

from __future__ import annotations

import os
import time

from sssjob.systems.condor.hooks.place import (
    FILE,
    IDLE,
    UnsafeQueue,
    document_stamp,
    guard,
    owner_of,
    status,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sssjob.systems.condor.hooks.queue import JobQueue
    from sssjob.systems.condor.hooks.settings import HookSettings

_SETTLED = 2  # seconds after which the times of a file tell two changes apart
_NOTE = 4096  # bytes of a note at the most
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def stamp(jobs: str) -> str:
    """What changes when documents come and go: the times of a directory, or of a store's files."""
    found = []
    for path in (jobs.removeprefix("sqlite:"), f"{jobs.removeprefix('sqlite:')}-wal"):
        try:
            status = os.stat(path)
        except OSError:
            continue
        found.append(f"{status.st_mtime_ns}.{status.st_size}")
    return " ".join(found)


# decision 819
def is_as_read(settings: HookSettings, queue: JobQueue, document: str) -> bool:
    """Whether a document of a directory is the one of which the queue knows the jobs."""
    found = status(os.path.join(settings.jobs, document))
    return found is not None and document_stamp(found) == queue.stamp(document)


def is_fresh(settings: HookSettings, queue: JobQueue, now: float) -> bool:
    """Whether nothing came or went since the queue was made, less than ``refresh`` seconds ago.

    A document that is edited in place shows when that time is over.
    """
    return _is_current(settings, *queue.seen(), now)


def _is_current(settings: HookSettings, kept: str, at: float, now: float) -> bool:
    """Whether a stamp of documents that was kept at some moment still holds."""
    return (
        at > now - settings.refresh
        and kept == stamp(settings.jobs) != ""
        and "://" not in settings.jobs
    )


def note(queue: JobQueue, before: str, began: float, whole: float) -> None:
    """Note what the queue knows: the stamp from ``before`` it looked, if that has settled.

    ``whole`` is when it last looked at all documents.
    """
    newest = max((int(part.partition(".")[0]) for part in before.split()), default=0)
    settled = began - newest / 1e9 > _SETTLED
    queue.note_seen(before if settled else "", whole)


# decision 906
def mark(settings: HookSettings, queue: JobQueue, now: float) -> tuple[str, float]:
    """By what to ask for documents that are new, and when all were looked at; "" to ask for all.

    As all are after a while, and by who looks at a copy of the queue.
    """
    kept, at = queue.marked()
    return (kept, at) if queue.state and now - settings.refresh < at <= now else ("", now)


def file_stamp(state: str) -> str:
    """What changes with every change of a queue, of its rights and names, too; empty if unsettled.

    As long as its file had just been changed, another change might not show.
    """
    found = status(os.path.join(state, FILE))
    if found is None or time.time() - found.st_ctime <= _SETTLED:
        return ""
    return f"{found.st_ino}.{found.st_size}.{found.st_mtime_ns}.{found.st_ctime_ns}"


def note_idle(settings: HookSettings, queue: JobQueue, before: str) -> None:
    """Note that no job is ready; ``before`` is the stamp of the file before it was asked."""
    seen, at = queue.seen()
    if before and seen:
        from sssjob import atomic

        note = "\n".join(
            (before, seen, *map(repr, (at, queue.oldest(), queue.rested(time.time()))))
        )
        try:  # noqa: SIM105  (contextlib takes too long to import)
            atomic.put(settings.state, IDLE, note.encode(), 0o600, durable=False)
        except OSError:
            pass  # then the queue is opened again, which tells what is wrong


def is_idle(settings: HookSettings, now: float) -> bool:
    """Whether nobody needs to open the queue: no job is ready, none is silent, and nothing changed.

    A job that rests is ready when its rest is over.

    To open it takes a third of the time of a hook. Raises ``OSError``, as opening it would.
    """
    try:
        if os.geteuid() != owner_of(settings):  # root acts as the owner, if it trusts that user
            return False
    except UnsafeQueue:  # who opens it puts away what can be
        return False
    try:
        handle = os.open(os.path.join(settings.state, IDLE), _READ)
        try:
            words = os.read(handle, _NOTE).decode("ascii", "replace")
        finally:
            os.close(handle)
    except OSError:
        return False
    guard(settings.state)
    try:
        file, seen, at, oldest, rested = words.split("\n")
        return (
            file == file_stamp(settings.state) != ""
            and now < float(rested)
            and float(oldest) >= now - settings.silence
            and _is_current(settings, seen, float(at), now)
        )
    except ValueError:
        return False
