"""From bytes to lines of text that a document can hold, whatever the bytes are."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Container, Iterable, Iterator
from typing import Protocol

from sssjob.errors import UnusableInput

LINE_LIMIT = 1 << 20  # bytes of a line
TOO_LONG = f"longer than {LINE_LIMIT} bytes"
TWO_RECORDS = "two records on one line: a line end is missing, or the first one was cut short"
ENDLESS = 1 << 30  # bytes of a line behind which no line end is looked for any more

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


class KeysWithin:
    """Finds keys of a format inside of values: what stands between two pairs is lost there.

    ``between`` stands between a key and its value. Of the keys that ``each`` record has, that may
    be lost, too, and the key begins a word. Where values stand in a ``quote``, a key behind one is
    no part of a value, whatever else the record has.

    >>> lost = KeysWithin(("user", "group"), "=", each=("group",))
    >>> lost.told({"user": "amygroup=g"}.items(), ["user"])
    "user is 'amygroup=g': a delimiter is missing at group"
    >>> lost.told([("user", "amy groupg")], ["user"]) != "", lost.told([("user", "amy")], ["user"])
    (True, '')
    """

    def __init__(
        self, keys: Iterable[str], between: str, each: Iterable[str] = (), quote: str = ""
    ) -> None:
        names = "|".join(map(re.escape, sorted(keys, key=len, reverse=True)))
        words = "|".join(map(re.escape, each))
        sure = (f"{quote}\\s*{quote}?({names}){between}", rf"{quote}\s+{quote}({names})")
        glued = (rf"\s({words})(?=\S)",)
        parts = (*(sure if quote else ()), f"({names}){between}", *(glued if words else ()))
        self._within = re.compile("|".join(parts))
        self._sure = len(sure) if quote else 0  # the first groups
        self._sign = "" if words or quote else between  # a value without it holds no key

    def told(self, values: Iterable[tuple[str, str]], known: Container[str]) -> str:
        """What is wrong with values, each with its key, or "".

        A key that is ``known``, as it has a value of its own, may be a part of another one.
        """
        for name, value in values:
            if self._sign not in value:
                continue
            for found in self._within.finditer(value):
                place = found.lastindex or 0
                if place <= self._sure or found[place] not in known:
                    return f"{name} is {value[:60]!r}: a delimiter is missing at {found[place]}"
        return ""


class Readable(Protocol):
    """What gives bytes."""

    def read(self, size: int, /) -> bytes:
        """At most so many bytes; none at the end."""
        ...


def legal(text: str) -> str:
    """A text without what a document cannot hold.

    >>> legal("a\\x00b\\x1b")
    'ab'
    """
    return text if text.isprintable() else clean(text.encode("utf-8", "surrogatepass"))


def blocks(stream: Readable, limit: int = LINE_LIMIT, chunk: int = 1 << 17) -> Iterator[bytes]:
    """The bytes of a stream in blocks of whole lines, their last line end left out.

    Of a line longer than ``limit`` bytes only somewhat more than that is given: memory stays
    bounded, and the caller sees that it is too long. Raises ``UnusableInput`` for one that seems to
    have no end, as those of ``/dev/zero``.
    """
    rest, dropping, dropped = b"", False, 0
    while block := stream.read(chunk):
        if dropping:
            dropped += len(block)
            _, newline, block = block.partition(b"\n")
            if not newline:
                check_end(dropped)
                continue
            yield rest
            rest, dropping, dropped = b"", False, 0
        head, newline, tail = block.rpartition(b"\n")
        if newline:
            yield rest + head
            rest = tail
        else:
            rest += block
            dropping = len(rest) > limit + chunk
    if rest:
        yield rest


def check_end(size: int) -> None:
    """Raise ``UnusableInput`` where so many bytes were read of a line without meeting its end."""
    if size > ENDLESS:
        raise UnusableInput(f"no line end in {ENDLESS >> 20} MiB: these are no lines of records")


class Blocks:
    """Blocks of whole lines, each with the number of its first line.

    ``cut_short`` is the number of the last line where it has no line end, else 0: known with the
    last block. Blocks are larger where ``wide`` says so, for a road on which much is read at once.
    """

    def __init__(self, stream: Readable, first: int = 1, wide: Callable[[], int] = int) -> None:
        self._stream, self._wide = stream, wide
        self._next, self._last, self._is_over = first, b"\n", False
        self._begins = first == 1
        self.cut_short = 0

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        for block in blocks(self):
            number, self._next = self._next, self._next + block.count(b"\n") + 1
            if self._is_over and self._last != b"\n":
                self.cut_short = self._next - 1
            yield number, block

    def read(self, size: int, /) -> bytes:
        """The next bytes of the stream."""
        found = self._stream.read(max(size, self._wide()))
        if self._begins:
            self._begins = False
            found = self._without_mark(found, size)
        self._last, self._is_over = found[-1:] or self._last, not found
        return found

    def _without_mark(self, found: bytes, size: int) -> bytes:
        """The first bytes without a byte order mark, which is no part of the first value."""
        mark = codecs.BOM_UTF8
        while (
            len(found) < len(mark) and mark.startswith(found) and (more := self._stream.read(size))
        ):
            found += more
        return found[len(mark) :] or self._stream.read(size) if found.startswith(mark) else found

    def lines(self) -> Iterator[tuple[int, str]]:
        """Each line by itself, with its number: a text that a document can hold."""
        for number, block in self:
            yield from enumerate(clean(block).split("\n"), number)


def first_line(head: bytes, comment: bytes = b"") -> bytes:
    """The first line that is neither blank nor a comment, without blanks around it."""
    for line in head.removeprefix(codecs.BOM_UTF8).split(b"\n"):
        text = line.strip()
        if text and not (comment and text.startswith(comment)):
            return text
    return b""
