"""How the bytes of a document are encoded, as far as its tags must be seen before it is parsed.

In most encodings the bytes of ``<``, ``>``, quotes and names are those of ASCII wherever they
stand, so that tags are seen in the bytes as they are. Others are decoded first.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import BinaryIO

UTF8 = "utf-8"

_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_BARE = (
    (b"<\x00\x00\x00", "utf-32-le"),
    (b"\x00\x00\x00<", "utf-32-be"),
    (b"<\x00?\x00", "utf-16-le"),
    (b"\x00<\x00?", "utf-16-be"),
)
LONGEST_MARK = _MARKS[0][0]
_HIDING = tuple(mark for mark, _ in (*_MARKS, *_BARE))
# The same bytes mean this or that in them, by what comes before.
_STATEFUL = re.compile(r"iso2022.*|hz|utf_?7|utf-7")
# Of the codecs of Python: others are no encodings of XML, or take quadratic time.
_READ = re.compile(
    r"utf-8|ascii|iso8859-\d+|cp\d+|koi8-[rtu]|shift_jis|euc_(jp|kr)|gb2312|gbk|gb18030|big5"
    rf"|{_STATEFUL.pattern}"
)
DECLARATION = re.compile(rb"<\?xml\s")  # how a document begins that has one
_DECLARED = re.compile(rb"<\?xml[^>]*?\sencoding\s*=\s*[\"']([A-Za-z0-9._\-]+)[\"']")
_CONTINUATION = bytes(range(0x80, 0xC0))  # of a UTF-8 character
_ASCII = bytes(range(0x80))


def by_mark(head: bytes) -> str | None:
    """The encoding that the first bytes of a source tell, if it is one that hides tags."""
    return next((name for mark, name in (*_MARKS, *_BARE) if head.startswith(mark)), None)


def hides_tags(head: bytes) -> bool:
    """Whether a source that begins so has to be decoded before anything is looked for in its bytes.

    >>> hides_tags("<Job/>".encode("utf-16")), hides_tags(b"<Job/>")
    (True, False)
    """
    return head.startswith(_HIDING)


def marked(head: bytes) -> tuple[bytes, str]:
    """The byte order mark that a source begins with, and what it tells; both empty without one."""
    known = (*_MARKS, (codecs.BOM_UTF8, UTF8))
    return next((each for each in known if head.startswith(each[0])), (b"", ""))


def beginning(head: bytes) -> bytes:
    """The first bytes of a source in UTF-8, whatever they are in, from the first sign on.

    >>> beginning("<Job/>".encode("utf-16")), beginning(b"\\xef\\xbb\\xbf {}")
    (b'<Job/>', b'{}')
    """
    if name := by_mark(head):
        head = head.decode(name, "ignore").encode("utf-8", "ignore")
    return head.lstrip(b"\xef\xbb\xbf \t\r\n")


def declared(prolog: bytes) -> str | None:
    """The encoding that a document declares; None for UTF-8, or none."""
    found = _DECLARED.search(prolog) if b"encoding" in prolog else None
    name = found[1].decode().lower() if found else UTF8
    return None if name in (UTF8, "utf8") else name


def mislabelled(head: bytes) -> str | None:
    """The encoding that a document declares, if it is none that a declaration can be seen in.

    >>> mislabelled(b'<?xml version="1.0" encoding="UTF-16"?>'), mislabelled(b"<?xml ?>")
    ('utf-16', None)
    """
    if not DECLARATION.match(head) or (name := declared(head)) is None or shows_tags(name):
        return None
    return name


def hiding(head: bytes) -> str | None:
    """The encoding of a source that begins so, by its first bytes or by what it declares, if it is
    one that hides tags; None for all others.

    >>> hiding("<Job/>".encode("utf-16")), hiding(b"<?xml version='1.0' encoding='latin1'?><Job/>")
    ('utf-16-le', None)
    """
    return by_mark(head) or mislabelled(head)


def shows_tags(name: str) -> bool:
    """Whether tags can be seen in the bytes of an encoding."""
    try:
        codec = codecs.lookup(name)
    except LookupError:  # libxml2 may know it
        return True
    if _STATEFUL.fullmatch(codec.name):
        return False
    try:
        return codec.decode(_ASCII)[0] == _ASCII.decode()
    except UnicodeError:
        return False


@lru_cache(maxsize=64)  # names come from strangers
def codec(name: str) -> str | None:
    """What Python calls an encoding in which a declaration can be read, if it is one of XML.

    >>> codec("Windows-1252"), codec("EUC-JP"), codec("HZ"), codec("UTF-16"), codec("punycode")
    ('cp1252', 'euc_jp', 'hz', None, None)
    """
    try:
        found = codecs.lookup(name).name
    except LookupError:
        return None
    is_seen = shows_tags(found) or _STATEFUL.fullmatch(found)
    return found if is_seen and _READ.fullmatch(found) else None


def invalid(data: bytes, name: str) -> int | None:
    """Where the first byte is that an encoding does not have; None where that cannot be told.

    >>> invalid(b"a\\xe4", "utf-8"), invalid(b"a\\xe4", "iso-8859-1"), invalid(b"\\x81", "cp1252")
    (1, None, 0)
    """
    known = codec(name)
    try:
        data.decode(known or "latin-1")
    except UnicodeDecodeError as error:
        return error.start
    return None


def characters(data: bytes, name: str = UTF8) -> int:
    """How many characters some bytes are; of an encoding that is not known, each byte is one.

    >>> characters("ä€".encode()), characters(b"\\xa4\\xa4", "iso-8859-15")
    (2, 2)
    """
    if name == UTF8:
        return len(data.translate(None, _CONTINUATION))
    known = None if data.isascii() else codec(name)
    return len(data.decode(known, "replace") if known else data)


def size(data: bytes, origin: str) -> int | None:
    """How many bytes some were in the encoding that they were decoded from, if that tells.

    Without an ``origin`` they are those of the source.
    """
    if not origin:
        return len(data)
    if origin in ("utf-32-le", "utf-32-be"):
        return 4 * characters(data)
    if origin in ("utf-16-le", "utf-16-be"):
        # Characters of four bytes in UTF-8 are pairs in UTF-16.
        return 2 * (characters(data) + sum(data.count(byte) for byte in _LEADING_FOUR))
    return None


class Decoded:
    """A source that is read as UTF-8: ``head``, which was read already, and the rest of a stream.

    ``skipped`` bytes are a byte order mark. What cannot be decoded becomes U+FFFF, which no
    document may have.
    """

    def __init__(self, head: bytes, stream: BinaryIO, name: str) -> None:
        mark = next((mark for mark, of in _MARKS if of == name and head.startswith(mark)), b"")
        self.skipped = len(mark)
        self._head, self._stream = head[len(mark) :], stream
        self._decoder = codecs.getincrementaldecoder(name)(_ILLEGAL)
        self._has_ended = False

    def read(self, size: int = -1, /) -> bytes:
        """About so many bytes; none at the end."""
        while not self._has_ended:
            data = self._head or self._stream.read(size)
            self._head = b""
            self._has_ended = not data
            if text := self._decoder.decode(data, final=not data):
                return text.encode("utf-8", "surrogatepass")
        return b""


_LEADING_FOUR = [bytes([byte]) for byte in range(0xF0, 0xF5)]
_ILLEGAL = "sssjob.illegal"


def _illegal(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "\uffff", error.end


codecs.register_error(_ILLEGAL, _illegal)
