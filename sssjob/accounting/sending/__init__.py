"""Messages on their way to others: an outbox that is a directory queue, a sender, and receipts.

Strategy. A message stands in the outbox until somebody has taken it, whatever ends the sender. It
is locked, published, noted with the number that the other side gave it, forced to disk, and only
then removed. A sender that was ended between the answer and the note sends it once more, under the
same name (``empaid``), by which receivers know it; one that was ended behind the note only removes
it.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sssjob import atomic, json_text
from sssjob.accounting.sending.ams import NotPublished, Topic
from sssjob.accounting.sending.queue import SIZE_LIMIT, DirectoryQueue
from sssjob.errors import LimitExceeded

RECORDS = 1000  # of a message, as APEL's own senders have it
_END = b"%%"
_APEL = b"APEL-"


class AcceptedMessage(NamedTuple):
    """A message that was taken, and the number that the other side gave it."""

    name: str
    id: str


class KeptMessage(NamedTuple):
    """A message that stays in the outbox, and why."""

    name: str
    why: str


def messages(lines: Iterable[bytes], most: int = RECORDS) -> Iterator[bytes]:
    """A message of APEL as several, with so many records at most; any other one is itself.

    One without a record is none. Raises ``LimitExceeded`` for one that no outbox takes.
    """
    rest = iter(lines)
    head = next(rest, b"")
    rest = _bounded(rest, SIZE_LIMIT - len(head), most if head.startswith(_APEL) else 0)
    if not head.startswith(_APEL):
        whole = head + b"".join(rest)
        if whole.strip():
            yield whole
        return
    head = head if head.endswith(b"\n") else head + b"\n"
    some: list[bytes] = []
    count = 0
    for line in rest:
        some.append(line)
        if line.strip() == _END:
            count += 1
            if count == most:
                yield head + b"".join(some)
                some, count = [], 0
    if any(line.strip() for line in some):
        yield head + b"".join(some)


def _bounded(lines: Iterable[bytes], room: int, most: int) -> Iterator[bytes]:
    """Lines of which a message has room for so many bytes; of records so many are one message."""
    left, count = room, 0
    for line in itertools.chain([b""], lines):
        left -= len(line)
        if left < 0:
            raise LimitExceeded("bytes in a message", SIZE_LIMIT)
        yield line
        count += line.strip() == _END
        if count == most > 0:
            left, count = room, 0


def parted(message: bytes) -> tuple[bytes, list[bytes]]:
    """The header of a message of APEL and its records; any other one is one part.

    >>> parted(b"APEL-x-message: v1\\na: 1\\n%%\\na: 2\\n%%\\n")
    (b'APEL-x-message: v1\\n', [b'a: 1\\n%%\\n', b'a: 2\\n%%\\n'])
    """
    if not message.startswith(_APEL):
        return b"", [message]
    head, *lines = message.splitlines(keepends=True)
    found, begin = [], 0
    for at, line in enumerate(lines, start=1):
        if line.strip() == _END:
            found.append(b"".join(lines[begin:at]))
            begin = at
    rest = b"".join(lines[begin:])
    return head, [*found, rest] if rest.strip() else found


class Locked(NamedTuple):
    """A message that another sender is at, or was at when it was ended."""

    name: str


@dataclass(frozen=True, slots=True)
class Receipts:
    """What was taken: a line of JSON for each message, forced to disk."""

    path: Path

    def names(self) -> dict[str, str]:
        """The digests of the messages that were taken, by their names; a broken line is none."""
        found: dict[str, str] = {}
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return found
        for line in lines:
            try:
                receipt = json_text.kept(line)
                found[str(receipt["message"])] = str(receipt["sha256"])
            except (ValueError, TypeError, KeyError):
                continue  # of a sender that was ended while it wrote
        return found

    def add(self, sent: AcceptedMessage, data: bytes, to: str) -> None:
        """Note that a message was taken. Raises ``OSError``."""
        receipt = {
            "message": sent.name, "id": sent.id, "bytes": len(data), "sha256": digest(data),
            "to": to,
        }  # fmt: skip
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        with open(os.open(self.path, flags, 0o640), "r+b", buffering=0) as stream:
            text = json.dumps(receipt).encode() + b"\n"
            size = os.fstat(stream.fileno()).st_size
            if size and os.pread(stream.fileno(), 1, size - 1) != b"\n":
                text = b"\n" + text  # behind what was not written to its end
            stream.write(text)
            os.fsync(stream.fileno())
        if not size:
            atomic.force_names(self.path.parent)


def digest(data: bytes) -> str:
    """What tells a message from others that once had its name."""
    return hashlib.sha256(data).hexdigest()


def send(
    outbox: DirectoryQueue, topic: Topic, receipts: Receipts,
    publish: Callable[[Topic, str, bytes], str],
) -> Iterator[AcceptedMessage | KeptMessage | Locked]:  # fmt: skip
    """Publish all messages of an outbox, the oldest first, but those that others are at.

    One that is refused stays, and the next is sent. Raises ``OSError``, and ``NotPublished`` where
    the other side cannot be reached, or takes nothing from us.
    """
    outbox.purge()
    known = receipts.names()
    for name in outbox.names():
        if not outbox.lock(name):
            if outbox.has(name):
                yield Locked(name)
            continue
        try:
            data = outbox.read(name)
        except (OSError, LimitExceeded) as error:
            outbox.unlock(name)
            yield KeptMessage(name, str(error))
            continue
        try:
            if known.get(name) != digest(data):
                sent = AcceptedMessage(name, publish(topic, name, data))
                receipts.add(sent, data, topic.url)
                yield sent
        except NotPublished as error:
            outbox.unlock(name)
            if not error.is_about_message:
                raise
            yield KeptMessage(name, error.reason)
        except BaseException:
            outbox.unlock(name)
            raise
        else:
            outbox.remove(name)
    outbox.purge()
