"""What servers put around an answer, read without sockets: bytes in, documents out."""

from __future__ import annotations

import re

from sssjob.errors import BadFraming
from sssjob.rmap.framing import HEAD_LIMIT, chunk_line, chunk_size, end_of_head, ends_a_message

_BESIDE = 64 << 10  # bytes of heads before that of the answer, or of empty lines before a chunk
_DIGITS = 15  # of a length
_OF = " of the reply"
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})[^\n]*")
_BETWEEN = re.compile(rb"(?<=Envelope>)\s*(?=<\?xml|<Envelope)")


class Reply:
    """One answer: feed bytes, take documents. A chunked answer of Gold holds several.

    A document is out as soon as its last byte was fed: some servers send nothing behind it.
    ``limit`` is in bytes of what is held. Raises ``BadFraming`` for what is no answer, and for a
    second header, by which Gold begins an answer that never ends.
    """

    def __init__(self, limit: int = 64 << 20) -> None:
        self.limit = limit
        self.status = 0  # of HTTP; 0 before it is known
        self.is_complete = False
        self._buffer = bytearray()
        self._body = bytearray()
        self._left: int | None = -1  # bytes of a chunk or body; -1: a line first; None: to the end
        self._chunked = False
        self._beside = 0  # bytes since the last chunk that were no answer
        self._documents: list[bytes] = []

    def feed(self, data: bytes) -> None:
        """Take what came from the server."""
        self._buffer += data
        if len(self._buffer) + len(self._body) > self.limit:
            raise BadFraming(f"The reply has more than {self.limit} bytes")
        if not self.status and not self._begin():
            return
        while not self.is_complete and self._progress():
            pass

    def end(self) -> None:
        """Say that the server closed the connection."""
        if self.status and self._left is None:
            self.is_complete = True
        self._cut(last=self.is_complete)

    def documents(self) -> list[bytes]:
        """The documents that are whole and were not taken yet."""
        taken, self._documents = self._documents, []
        return taken

    def _begin(self) -> bool:
        """Read the head of the answer, and what says before it that it will come."""
        while True:
            end = end_of_head(self._buffer)
            if end < 0:
                if len(self._buffer) > HEAD_LIMIT:
                    raise BadFraming("The header of the reply is too long")
                return False
            head = bytes(self._buffer[:end])
            del self._buffer[:end]
            first = _STATUS.match(head)
            if first is None:
                raise BadFraming("The reply is not HTTP/1.1")
            if not first[1].startswith(b"1"):
                break
            self._skip(end)
        headers = {
            name.strip().lower(): value.strip()
            for name, colon, value in (line.partition(b":") for line in head.split(b"\n")[1:])
            if colon
        }
        self.status = int(first[1])
        self._chunked = headers.get(b"transfer-encoding", b"").lower().startswith(b"chunked")
        length = headers.get(b"content-length")
        if not self._chunked:
            if length is not None and not length.isdigit():
                raise BadFraming("The content length of the reply is no number")
            self._left = None if length is None else int(length[:_DIGITS])
        return True

    def _progress(self) -> bool:
        if self._left is None:
            self._body += self._buffer
            self._buffer.clear()
            return False
        if self._left < 0:
            return self._size_line()
        if self._left:
            piece = self._buffer[: self._left]
            self._body += piece
            del self._buffer[: len(piece)]
            self._left -= len(piece)
            if self._left:
                return False
        self._cut(last=not self._chunked)
        self.is_complete = not self._chunked
        self._left = -1
        return True

    def _size_line(self) -> bool:
        before = len(self._buffer)
        line = chunk_line(self._buffer, _OF)
        if line is None:
            return False
        if not line:
            self._skip(before - len(self._buffer))
            return True
        if line.startswith(b"HTTP/"):
            raise BadFraming("The server began its reply anew, as Gold does without end")
        size = chunk_size(line, _OF)
        self._beside = 0
        self.is_complete = size == 0
        if self.is_complete:
            self._cut(last=True)
        self._left = size
        return True

    def _skip(self, count: int) -> None:
        """Note bytes that hold nothing: a server could send them without end."""
        self._beside += count
        if self._beside > _BESIDE:
            raise BadFraming(f"The server sent {_BESIDE} bytes that are no reply")

    def _cut(self, *, last: bool) -> None:
        """Hand out what is whole: at the end, all of it."""
        if last or ends_a_message(self._body):
            if body := bytes(self._body).strip():
                self._documents += _BETWEEN.split(body)
            self._body.clear()
