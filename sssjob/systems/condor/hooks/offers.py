"""Notes of what is being offered to slots, beside the queue: a file for each, for some seconds.

What a startd took stands in the document of the job. Before it has said so only the queue knows of
an offer, and where that is lost in this moment, another slot would get the job, too. So each offer
has a note of its own, which a queue that does not know it believes. It stays until the document of
the job tells of the attempt, or the job has come back from it, whoever was killed meanwhile.
"""

from __future__ import annotations

import os
from contextlib import suppress

from sssjob.systems.condor import names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sssjob.systems.condor.hooks.queue import SpoolJob

FOLDER = "offers"
_LONGEST = 1 << 16  # bytes of a note
_TAKEN = "taken"
_ADD = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


class OfferedJob:
    """A job that was offered: which attempt, and by what it is told from others."""

    __slots__ = ("asks", "attempt", "document", "id", "is_taken", "key", "number", "owner")

    def __init__(
        self, key: int, attempt: int, document: str, number: int, id_: str, asks: str, owner: str,
        *, is_taken: bool,
    ) -> None:  # fmt: skip
        self.key, self.attempt, self.document, self.number = key, attempt, document, number
        self.id, self.asks, self.owner, self.is_taken = id_, asks, owner, is_taken


# decision 667
def note(state: str, job: SpoolJob, attempt: int, owner: str) -> None:
    """Note that a job is being offered, before a slot hears of it."""
    folder = os.path.join(state, FOLDER)
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    told = (job.document, str(job.number), job.id, job.asks, owner)
    handle = os.open(os.path.join(folder, names.ticket(job.key, attempt)), _WRITE, 0o600)
    try:
        os.write(handle, "\0".join(told).encode("utf-8", "surrogateescape"))
    finally:
        os.close(handle)


# decision 775
def note_taken(state: str, key: int, attempt: int) -> None:
    """Note that a startd took what was offered, before anything else says so."""
    with suppress(FileNotFoundError):
        handle = os.open(os.path.join(state, FOLDER, names.ticket(key, attempt)), _ADD)
        try:
            os.write(handle, f"\0{_TAKEN}".encode())
        finally:
            os.close(handle)


def settled(state: str, key: int, attempt: int) -> None:
    """Take the note away of an offer of which more is known."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(state, FOLDER, names.ticket(key, attempt)))


def tickets(state: str) -> list[str]:
    """Of which attempts there are notes."""
    try:
        return os.listdir(os.path.join(state, FOLDER))
    except OSError:
        return []


def noted(state: str, tickets: Iterable[str]) -> Iterator[tuple[float, OfferedJob]]:
    """The offers of some tickets that are noted, each with the moment, in seconds since 1970.

    A note that was not written to its end says nothing: no slot heard of that offer.
    """
    folder = os.path.join(state, FOLDER)
    for name in tickets:
        ticket = names.of_ticket(name)
        try:
            with open(os.path.join(folder, name), "rb") as file:
                text = file.read(_LONGEST).decode("utf-8", "surrogateescape")
                moment = os.fstat(file.fileno()).st_mtime
        except OSError:
            continue
        told = text.split("\0")
        is_taken = told[5:] == [_TAKEN]
        if ticket is not None and len(told) - is_taken == 5 and told[1].isdecimal():
            document, number, id_, asks, owner = told[:5]
            yield (
                moment,
                OfferedJob(*ticket, document, int(number), id_, asks, owner, is_taken=is_taken),
            )
