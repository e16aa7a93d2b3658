"""Whether the queue knows all documents, told without opening one."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sssjob.systems.condor.hooks.queue import Queue
    from sssjob.systems.condor.hooks.settings import Settings

_SETTLED = 2  # seconds after which a directory's time tells two changes apart


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


def is_fresh(settings: Settings, queue: Queue, now: float) -> bool:
    """Whether nothing came or went since the queue was made, less than ``refresh`` seconds ago.

    A document that is edited in place shows when that time is over.
    """
    kept, at = queue.seen()
    return (
        at > now - settings.refresh
        and kept == stamp(settings.jobs) != ""
        and "://" not in settings.jobs
    )


def note(queue: Queue, before: str, began: float) -> None:
    """Note what the queue knows: the stamp from ``before`` it looked, if that has settled."""
    newest = max((int(part.partition(".")[0]) for part in before.split()), default=0)
    settled = began - newest / 1e9 > _SETTLED
    queue.note_seen(before if settled else "", began)
