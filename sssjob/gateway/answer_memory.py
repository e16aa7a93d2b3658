"""The memory for answers of the server behind: what they take is known before they are parsed.

Anybody who may ask here can ask for all that is there, and the tree of an answer takes some thirty
times its bytes.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sssjob.client import Client
from sssjob.client.transports import Transport
from sssjob.errors import Refused
from sssjob.rmap import gate
from sssjob.rmap.message import Item, Request, Response

_SMALL = 1 << 20  # bytes of memory of an answer that there is always room for


class NoRoom(Refused):
    """An answer that there is no memory for: never (242), or not at present (730)."""


class AnswerParts(list[Response]):
    """The parts of an answer, which have their room as long as somebody holds them."""


class AnswerRows(list[Item]):
    """The rows of an answer, which hold its parts."""

    def __init__(self, parts: AnswerParts) -> None:
        super().__init__(row for part in parts for row in part.rows)
        self._parts = parts


@dataclass(slots=True)
class AnswerRoom:
    """Room for answers that take so many bytes of memory together."""

    size: int
    _taken: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def asked(self, client: Client, request: Request) -> AnswerParts:
        """The parts of what a server answers. Raises what ``client`` raises, and ``NoRoom``."""
        exchange = _Exchange(self)
        parts = AnswerParts()
        weakref.finalize(parts, exchange.end)
        ways = [_WeighedTransport(exchange, way) for way in client.transports]
        parts.extend(replace(client, transports=ways).call(request))
        return parts

    def take(self, weight: int) -> None:
        """Take room for an answer. Raises ``NoRoom``."""
        if weight > self.size:
            said = "The answer of the server behind takes more memory than the server may have"
            raise NoRoom("242", said)
        with self._lock:
            if self._taken + weight > self.size and weight > _SMALL:
                said = "The server has no memory for the answer of the server behind at present"
                raise NoRoom("730", said)
            self._taken += weight

    def give_back(self, weight: int) -> None:
        """Let others have the room."""
        with self._lock:
            self._taken -= weight


@dataclass(slots=True)
class _Exchange:
    """What room one answer has taken."""

    room: AnswerRoom
    taken: int = 0

    def take(self, weight: int) -> None:
        self.room.take(weight)
        self.taken += weight

    def end(self) -> None:
        self.room.give_back(self.taken)


@dataclass(frozen=True, slots=True)
class _WeighedTransport:
    """A way to a server whose answer is weighed when it has come, before it is parsed.

    ``way`` has a limit of bytes of its own.
    """

    asked: _Exchange
    way: Transport

    def exchange(self, message: bytes) -> Iterator[bytes]:
        size = self.asked.room.size
        documents: list[bytes] = []
        weight = 0
        for document in self.way.exchange(message):
            weight += gate.weight(document, size)
            documents.append(document)
            if weight > size:
                break
        self.asked.take(weight)
        documents.reverse()
        while documents:
            yield documents.pop()
