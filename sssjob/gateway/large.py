"""Large messages, each read in a process of its own that may take so much memory and no more.

A tree takes 30 to 50 times the bytes of a message, and what libxml2 has taken goes back to the
system for certain only with its process. Who comes so far has a key; what a key can sign is not
all harmless. # decision 460
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from lxml import etree

from sssjob.document.parsing import parsed
from sssjob.errors import LimitExceeded, Refused
from sssjob.rmap.keys import Key
from sssjob.rmap.responder import ReadMessage, Reads, read
from sssjob.rmap.signature import unproven
from sssjob.workers import Bounds, PartWork, Workers

SECONDS, DEADLINE = 60, 180  # of a processor, and of the clock


class _LargeMessage(NamedTuple):
    message: bytes
    key: Key | None


def reading_apart(memory: int) -> Reads:
    """What reads a message in a process that may take so many bytes of memory."""
    bounds = Bounds(memory, SECONDS, DEADLINE)

    def reads(message: bytes, key: Key | None) -> ReadMessage:
        workers: Workers[_LargeMessage, ReadMessage] = Workers(
            PartWork("sssjob.gateway.large:reader"), 1, bounds
        )
        try:
            with workers:
                [(_, found)] = workers.in_order([_LargeMessage(message, key)])
        except LimitExceeded as error:
            raise Refused("242", f"To read the message takes {error}") from None
        return found

    return reads


def reader() -> Callable[[_LargeMessage], ReadMessage]:
    """What reads in the process."""

    def reads(part: _LargeMessage) -> ReadMessage:
        def key_of(*_: object) -> Key:
            if part.key is None:
                raise unproven()
            return part.key

        try:
            # Who may send without a signature is known to who asks.
            return read(part.message, key_of, unsigned=True)
        except Refused as error:
            if error.code == "302" and _lacks_memory(part.message):
                raise MemoryError from None
            raise

    return reads


def _lacks_memory(message: bytes) -> bool:
    """Whether a message cannot be parsed for want of memory, which libxml2 takes for
    a fault of the message.
    """
    try:
        parsed(message)
    except etree.XMLSyntaxError as error:
        return error.code == etree.ErrorTypes.ERR_NO_MEMORY
    return False
