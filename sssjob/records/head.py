"""The first bytes of a stream, looked at without taking them away."""

from __future__ import annotations

import io
from typing import Any, BinaryIO, cast


def looked_at(stream: BinaryIO, size: int) -> tuple[bytes, BinaryIO]:
    """Up to so many bytes, fewer only at the end, and the stream from its beginning again."""
    pieces, found = [], 0
    while found < size and (piece := stream.read(size - found)):  # a pipe gives piece by piece
        pieces.append(piece)
        found += len(piece)
    head = b"".join(pieces)
    return head, cast(BinaryIO, io.BufferedReader(_Chain(head, stream), 1 << 16))


def first_line(head: bytes, comment: bytes = b"") -> bytes:
    """The first line that is neither blank nor a comment, without blanks around it."""
    for line in head.split(b"\n"):
        text = line.strip()
        if text and not (comment and text.startswith(comment)):
            return text
    return b""


class _Chain(io.RawIOBase):
    """Bytes, and then those of a stream, which stays open."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head = memoryview(head)
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._head:
            found = self._head[: len(buffer)]
            self._head = self._head[len(found) :]
        else:
            found = memoryview(self._stream.read(len(buffer)))
        buffer[: len(found)] = found
        return len(found)
