"""From bytes to lines of text that a document can hold, whatever the bytes are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

# XML 1.0 has no place for these, not even escaped (production 2, Char).
_FORBIDDEN_BYTES = bytes(range(0x09)) + b"\x0b\x0c" + bytes(range(0x0E, 0x20))
_NONCHARACTERS = (b"\xef\xbf\xbe", b"\xef\xbf\xbf")


def clean(raw: bytes, keep: bytes = b"") -> str:
    """Bytes as text that a document can hold.

    Control characters go, except those in ``keep`` (a delimiter may be one); what is not UTF-8
    becomes U+FFFD, so that no byte can end a run; line ends become ``\\n``.

    >>> clean(b"caf\\xe9\\x00 1\\r\\n2")
    'caf\\ufffd 1\\n2'
    """
    unwanted = _FORBIDDEN_BYTES
    if keep:
        unwanted = bytes(byte for byte in _FORBIDDEN_BYTES if byte not in keep)
    raw = raw.translate(None, unwanted)
    if b"\r" in raw:
        raw = raw.replace(b"\r\n", b"\n").removesuffix(b"\r")
    if b"\xef\xbf" in raw:
        for character in _NONCHARACTERS:
            raw = raw.replace(character, b"")
    return raw.decode("utf-8", "replace")


class Readable(Protocol):
    """What gives bytes."""

    def read(self, size: int, /) -> bytes:
        """At most so many bytes; none at the end."""
        ...


CUT_SHORT = "the last line has no line end: it may be cut short"


class Watched:
    """The bytes of a stream; afterwards ``cut_short`` tells whether the last is no line end."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._last, self._ends = b"\n", 0

    @property
    def cut_short(self) -> int:
        """The number of the last line if it has no end, else 0."""
        return self._ends + 1 if self._last != b"\n" else 0

    def read(self, size: int, /) -> bytes:
        """The next bytes of the stream."""
        found = self._stream.read(size)
        self._last = found[-1:] or self._last
        self._ends += found.count(b"\n")
        return found


def legal(text: str) -> str:
    """A text without what a document cannot hold.

    >>> legal("a\\x00b\\x1b")
    'ab'
    """
    return text if text.isprintable() else clean(text.encode("utf-8", "surrogatepass"))


def blocks(stream: Readable, limit: int, chunk: int = 1 << 16) -> Iterator[bytes]:
    """The bytes of a stream in blocks of whole lines, their last line end left out.

    Of a line longer than ``limit`` bytes only somewhat more than that is given: memory stays
    bounded, and the caller sees that it is too long.
    """
    rest, dropping = b"", False
    while block := stream.read(chunk):
        if dropping:
            _, newline, block = block.partition(b"\n")
            if not newline:
                continue
            yield rest
            rest, dropping = b"", False
        head, newline, tail = block.rpartition(b"\n")
        if newline:
            yield rest + head
            rest = tail
        else:
            rest += block
            dropping = len(rest) > limit + chunk
    if rest:
        yield rest


def numbered(stream: Readable, limit: int) -> Iterator[tuple[int, bytes]]:
    """Each line with its number and without its end.

    Of a line longer than ``limit`` bytes only somewhat more than that is given.
    """
    number = 0
    for block in blocks(stream, limit):
        for line in block.split(b"\n"):
            number += 1
            yield number, line
