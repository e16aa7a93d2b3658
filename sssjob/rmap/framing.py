"""What clients put around a message: HTTP/1.1, or what Gold's peers make of it. No sockets.

Strategy. Two kinds of clients use one port. Standard ones speak HTTP/1.1: they name a Host, and
may use their connection again. Legacy ones, the peers of Gold, send one request, leave out line
breaks between chunks, often do not send the chunk that ends a body, and wait for the answer.

The idea is one reader for both, which is fed bytes as they come and gives requests when they are
complete. Whether a Host is named decides between the two as soon as the headers are there. Of a
legacy client a body is complete, too, when a chunk ends with the end tag of an Envelope.

Why it is right: Gold's peers send a message as one chunk, and an Envelope is its root, so that
nothing of a message is behind that chunk, and nobody waits for bytes that never come. For a
standard client only the lengths count. What another server in front of this one might read
differently (two lengths, two Hosts, another coding) is refused, or ends the connection. Bytes of
the headers, of a line and of a body are bounded, and so is the number of small chunks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from http import HTTPStatus
from io import BytesIO
from types import MappingProxyType

from sssjob.errors import BadFraming

# The 88 bytes that Slurm's plugin counts.
LEGACY_HEAD = (
    b"HTTP/1.1 200 OK\r\n"
    b'Content-Type: text/xml; charset="utf-8"\r\n'
    b"Transfer-Encoding: chunked\r\n"
    b"\r\n"
)
PATH = "/SSSRMAP3"
CONTENT_TYPE = 'text/xml; charset="utf-8"'

HEAD_LIMIT = 16 << 10  # bytes of the first line and all headers
_REMEMBERED = 1 << 10  # bytes of a head that is remembered as it was read
_LINE_LIMIT = 1 << 10  # bytes of the line before a chunk
_CHUNKS, _SMALL = 1000, 256  # a body has some chunks, and more where they hold so many bytes
_SIZE_DIGITS = 15  # of a chunk or a body
_HEX = frozenset(b"0123456789abcdefABCDEF")
_TRAILERS = 1000  # lines behind the last chunk
_TAIL = 64  # bytes in which the end of a message is looked for
# How a message ends, with any prefix; Maui puts a NUL behind it.
_END = re.compile(rb"</([^\s<>/:]+:)?Envelope\s*>[ \t\r\n\0]*\Z")
_EMPTY = re.compile(rb"\s*\n")  # lines
_TOKEN = frozenset(b"!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


@dataclass(frozen=True, slots=True)
class HTTPRequest:
    """One request as it was framed. Names of ``headers`` are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    keep_alive: bool = False

    @property
    def is_legacy(self) -> bool:
        """Whether a client sent it that does not name a Host, as no peer of Gold does."""
        return "host" not in self.headers


def chunk_line(buffer: bytearray, of: str = "") -> bytes | None:
    """The line before a chunk, taken from a buffer; None while its end is not there.

    ``of`` says in messages whose chunk it is. Raises ``BadFraming`` for a line that is too long.
    """
    end = buffer.find(b"\n", 0, _LINE_LIMIT + 1)
    if end < 0:
        if len(buffer) > _LINE_LIMIT:
            raise BadFraming(f"The size of a chunk{of} is not hexadecimal")
        return None
    line = bytes(buffer[:end]).strip()
    del buffer[: end + 1]
    return line


def chunk_size(line: bytes, of: str = "") -> int:
    """The size in the line before a chunk. Raises ``BadFraming``."""
    digits = line.partition(b";")[0].strip()
    if len(digits) > _SIZE_DIGITS or not digits or not _HEX.issuperset(digits):
        raise BadFraming(f"The size of a chunk{of} is not hexadecimal")
    return int(digits, 16)


class Requests:
    """The requests of one connection: feed bytes, take what is complete.

    Holds at most ``limit`` bytes of a body, and what was fed and not yet taken.
    """

    def __init__(self, limit: int = 16 << 20) -> None:
        self.limit = limit
        self.awaits_continue = False  # a client waits for "100 Continue"
        self.is_legacy = False  # of the request that is being read, as soon as that is known
        self.ended = False
        self._buffer = bytearray()
        self._head: tuple[str, str, Mapping[str, str], bool] | None = None
        self._body = BytesIO()  # it gives its bytes without another copy of them
        self._left = -1  # bytes of a chunk or a body to come; -1 where a line has to come first
        self._chunked = False
        self._chunks = 0
        self._skipped = 0  # lines, and runs of empty lines, before a request
        self._after_chunks = False  # so that their end may still come

    @property
    def held(self) -> int:
        """Bytes in memory."""
        return len(self._buffer) + self._body.tell()

    @property
    def is_idle(self) -> bool:
        """Whether nothing of a next request is there: an empty line is none (RFC 9112, 2.2)."""
        return self._head is None and (not self._buffer or self._buffer.isspace())

    def feed(self, data: bytes) -> None:
        """Take bytes from a connection; after the one request of a legacy client, forget them."""
        if not self.ended:
            self._buffer += data

    def next(self) -> HTTPRequest | None:
        """The next request that is complete; None while bytes are missing.

        Raises ``BadFraming``, after which the connection cannot be read any more.
        """
        try:
            while not self.ended:
                if self._head is None:
                    if not self._begin():
                        return None
                elif self._body_is_complete():
                    return self._take()
                elif not self._progress():
                    return None
            return None
        except BadFraming:
            self.ended = True
            raise

    def _begin(self) -> bool:
        """Read a request line and headers, if they are all there."""
        while (skipped := _tail(self._buffer, self._after_chunks)) > 0:
            del self._buffer[:skipped]
            self._skipped += 1
            if self._skipped > _TRAILERS:
                raise BadFraming("There is too much behind the last chunk")
        if (end := end_of_head(self._buffer)) < 0:
            if len(self._buffer) > HEAD_LIMIT:
                raise BadFraming(
                    "The header is too long", HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
                )
            return False
        head = bytes(self._buffer[:end])
        del self._buffer[:end]
        # A client sends the same again and again.
        read = _head if end <= _REMEMBERED else _head.__wrapped__
        method, target, version, headers = read(head)
        self.is_legacy = "host" not in headers
        keeps = "close" not in headers.get("connection", "").lower()
        coding = headers.get("transfer-encoding", "").strip().rstrip(";").strip().lower()
        self._chunked = coding == "chunked"
        if coding and not self._chunked:
            raise BadFraming("The transfer encoding is not chunked", HTTPStatus.NOT_IMPLEMENTED)
        length = headers.get("content-length")
        if self._chunked:
            self._left = -1
            keeps = keeps and length is None  # one of them lies: RFC 9112, 6.1
        elif length is not None:
            self._left = _length(length)
            self._check(self._left)
        elif method != "POST":  # it has no body: RFC 9112, 6.3
            self._left = 0
        else:
            raise BadFraming("The request tells no length", HTTPStatus.LENGTH_REQUIRED)
        self.awaits_continue = (
            not self.is_legacy and headers.get("expect", "").lower() == "100-continue"
        )
        self._chunks = self._skipped = 0
        self._head = (method, target, headers, keeps and version == "HTTP/1.1")
        return True

    def _progress(self) -> bool:
        """Read what is there of a body; False where bytes are missing."""
        if self._left < 0:
            return self._size_line()
        piece = self._buffer[: self._left]
        if not piece:
            return False
        self._body.write(piece)
        del self._buffer[: len(piece)]
        self._left -= len(piece)
        return True

    def _size_line(self) -> bool:
        del self._buffer[: _empty(self._buffer)]  # in HTTP it ends a chunk; Gold's peers have none
        line = chunk_line(self._buffer)
        if line is None:
            return False
        size = chunk_size(line)
        self._check(self._body.tell() + size)
        self._chunks += 1
        if self._chunks > _CHUNKS + self._body.tell() // _SMALL:
            raise BadFraming("The message comes in too many small chunks")
        self._left = size if size else _LAST
        return True

    def _body_is_complete(self) -> bool:
        if not self._chunked:
            return self._left == 0
        if self._left == _LAST:
            return True
        if self._left == 0:
            self._left = -1
            # The tail of a legacy request may never come.
            return self.is_legacy and ends_a_message(self._body.getbuffer())
        return False

    def _take(self) -> HTTPRequest:
        assert self._head is not None
        method, target, headers, keeps = self._head
        request = HTTPRequest(
            method, target, headers, self._body.getvalue(), keeps and not self.is_legacy
        )
        self._head, self._body, self._left = None, BytesIO(), -1
        self._after_chunks = self._chunked
        self.awaits_continue = False
        if not request.keep_alive:
            self.ended = True
            self._buffer.clear()
        return request

    def _check(self, size: int) -> None:
        if size > self.limit:
            raise BadFraming(
                f"The message has more than {self.limit} bytes",
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            )


_LAST = -2  # in the place of a size: the chunk that ends a body was read


def legacy_request(payload: bytes, path: str = PATH) -> bytes:
    """A message framed as Gold's Perl client frames it: no Host, one chunk, ``0`` behind it."""
    head = (
        f"POST {path} HTTP/1.1\r\n"
        f"Content-Type: {CONTENT_TYPE}\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
        f"{len(payload):X}\r\n"
    )
    return b"".join([head.encode(), payload, b"0\r\n"])


def legacy_reply(parts: Iterable[bytes]) -> bytes:
    """The documents of an answer as goldd frames them, to be sent at once.

    One chunk for each document. There is no line break between chunks: Gold's Perl and Java
    clients fail on it.
    """
    framed = [LEGACY_HEAD]
    for part in parts:
        framed += [b"%X\r\n" % len(part), part]
    framed.append(b"0\r\n")
    return b"".join(framed)


def standard_reply(
    body: bytes,
    *,
    status: HTTPStatus = HTTPStatus.OK,
    content_type: str = CONTENT_TYPE,
    keep_alive: bool = True,
    headers: Mapping[str, str] | None = None,
    head_only: bool = False,
) -> bytes:
    """An answer of HTTP/1.1 with its length."""
    more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\n"
        f"Content-Type: {content_type}\r\n"
        f"Content-Length: {len(body)}\r\n"
        f"Connection: {'keep-alive' if keep_alive else 'close'}\r\n{more}\r\n"
    )
    return head.encode("latin-1") + (b"" if head_only else body)


CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@lru_cache(256)
def _head(head: bytes) -> tuple[str, str, str, Mapping[str, str]]:
    """Method, target, version and headers of a request. Raises ``BadFraming``."""
    lines = head.replace(b"\r\n", b"\n").rstrip(b"\n").split(b"\n")
    return (*_request_line(lines[0]), MappingProxyType(_headers(lines[1:])))


def _request_line(line: bytes) -> tuple[str, str, str]:
    """Method, target and version; what Python 2 puts behind the version does not matter."""
    words = line.decode("latin-1").split()
    if (
        len(words) < 3
        or not words[2].startswith("HTTP/1.")
        or not _TOKEN.issuperset(words[0].encode("latin-1"))
    ):
        raise BadFraming("The first line is no request of HTTP/1.1")
    return words[0], words[1], words[-1]


def _headers(lines: Iterable[bytes]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or not name or not _TOKEN.issuperset(name):
            raise BadFraming("A header is not understood")
        key, text = name.decode("ascii").lower(), value.decode("latin-1").strip()
        if key in headers and key in ("content-length", "transfer-encoding", "host"):
            raise BadFraming(f"There is more than one {key}")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


def _length(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= _SIZE_DIGITS):
        raise BadFraming("The content length is no number")
    return int(text)


def ends_a_message(body: bytearray | memoryview) -> bool:
    """Whether the end tag of an Envelope stands at the end of what came."""
    return _END.search(body[-_TAIL:]) is not None


def end_of_head(buffer: bytearray) -> int:
    """Where the empty line after the headers ends; -1 if it is not where it may be.

    What stands behind is not looked at: who sent it may have sent much more.
    """
    found, limit = -1, HEAD_LIMIT
    for mark in (b"\r\n\r\n", b"\n\n", b"\n\r\n"):
        at = buffer.find(mark, 0, limit)
        if at >= 0:
            found = limit = at + len(mark)
    return found


def _empty(buffer: bytearray) -> int:
    """How many bytes of empty lines stand first: they are taken at once, however many."""
    found = _EMPTY.match(buffer)
    return found.end() if found else 0


def _tail(buffer: bytearray, after_chunks: bool) -> int:
    """How many bytes stand before the next request: empty lines, or the end of last chunks.

    That may be their ``0``, and trailers.
    """
    if empty := _empty(buffer):
        return empty
    if (end := buffer.find(b"\n", 0, _LINE_LIMIT)) < 0:
        return 0
    line = bytes(buffer[:end]).strip()
    trailer = b":" in line and b" HTTP/" not in line and _TOKEN.issuperset(line.partition(b":")[0])
    return end + 1 if after_chunks and (trailer or line == b"0") else 0
