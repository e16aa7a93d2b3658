"""Bytes to trees by libxml2, with safe limits: nothing is expanded, and no address is opened.

No other module has libxml2 parse job objects. What lxml forgets is looked up: an error, as a
prefix that is declared nowhere, counts whatever warning comes behind it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from sssjob.document import cause, encodings
from sssjob.document.encodings import UTF8, characters
from sssjob.document.limits import refuse_doctype, refuse_early
from sssjob.errors import UnreadableDocument

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
INVALID_BYTES = etree.ErrorTypes.ERR_INVALID_ENCODING

# libxml2 lets 256 levels of elements in, and to compare or copy two job objects takes Python up to
# eight calls for each, where it allows 1000 in all.
CALLS = 4000
sys.setrecursionlimit(max(sys.getrecursionlimit(), CALLS))

_DECLARED = re.compile(rb"^(\s*<\?xml[^>]*?)\sencoding=(\"[^\"]*\"|'[^']*')")


def octets(data: bytes | str) -> bytes:
    """A document as bytes, in the encoding that it declares; a text in UTF-8, and without that."""
    # A declaration names the encoding that the text had as bytes, which it no longer has.
    return _DECLARED.sub(rb"\1", data.encode()) if isinstance(data, str) else data


def parse(data: bytes | str) -> Element:
    """The root of exactly one document. Raises ``UnreadableDocument``.

    Why is told as of UTF-8; ``tree.parse`` tells it as of the encoding that the document has.
    """
    given = octets(data)
    refuse_early(given.removeprefix(BYTE_ORDER_MARK), 0)
    try:
        root = _tree(given)
    except etree.XMLSyntaxError as error:
        raise refusal(fault(given) or fault_of(error), given, START) from error
    refuse_doctype(root, given, 0)
    return root


def parsed(octets: bytes, encoding: str | None = None, *, ids: bool = False) -> Element:
    """The root of one document, in an encoding whatever it declares.

    ``ids`` has ``xml:id`` found by ``id()``, and refuses one that appears twice. Raises
    ``etree.XMLSyntaxError``, also for one with a document type, in whatever encoding that is:
    whoever reads it with care tells where it stands.
    """
    root = _tree(octets, encoding, ids=ids)
    _refuse_doctype(root)
    return root


def _tree(octets: bytes, encoding: str | None = None, *, ids: bool = False) -> Element:
    parser = safe_parser(encoding, ids=ids)
    root: Element = etree.fromstring(octets, parser)
    _raise(parser.error_log)
    return root


def _refuse_doctype(root: Element) -> None:
    if root.getroottree().docinfo.internalDTD is not None:
        raise etree.XMLSyntaxError(cause.DOCTYPE, 0, 1, 1)


def parsed_by(parser: etree.XMLParser, octets: bytes) -> Element:
    """The same, by a parser that is used again: for a small document, in less time."""
    parser.feed(octets)
    root: Element = parser.close()
    _raise(parser.feed_error_log)
    _refuse_doctype(root)
    return root


def _raise(log: etree._ListErrorLog) -> None:
    """What a parser noted, if anything of it is an error."""
    if len(log):
        for said in faults(log):
            raise etree.XMLSyntaxError(said.message, said.kind, said.line, said.column)


def safe_parser(encoding: str | None = None, *, ids: bool = False) -> etree.XMLParser:
    """A parser that expands no entity and opens no address."""
    return etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, collect_ids=ids,
        encoding=encoding,
    )  # fmt: skip


def pull_parser(encoding: str, tags: Sequence[str]) -> etree.XMLPullParser:
    """The same for bytes as they come; it tells where elements with some tags start and end."""
    return etree.XMLPullParser(
        events=("start", "end"), tag=tags,
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, collect_ids=False,
        encoding=encoding,
    )  # fmt: skip


Parser = etree.XMLParser


class SourcePlace(NamedTuple):
    """Where something begins in its source: the bytes before it, its line, and its column."""

    start: int = 0
    line: int = 1
    column: int = 1

    def behind(self, data: bytes, encoding: str = UTF8) -> SourcePlace:
        """Where something begins that comes behind bytes of an encoding that begin here.

        The byte order mark of a source has no column of its own.
        """
        lines, last = data.count(b"\n"), data[data.rfind(b"\n") + 1 :]
        if not self.start:
            last = last.removeprefix(BYTE_ORDER_MARK)
        column = characters(last, encoding) + (1 if lines else self.column)
        return SourcePlace(self.start + len(data), self.line + lines, column)


START = SourcePlace()


class ParserError(NamedTuple):
    """An error of libxml2 in bytes: what it says, of which kind, and where in these bytes.

    ``offset`` is what the numbers of lines in its sentences lack, if it is not what is before them.
    """

    message: str
    kind: int
    line: int
    column: int
    offset: int | None = None


def faults(log: etree._ListErrorLog) -> Iterator[ParserError]:
    """The errors in what a parser noted."""
    for said in log.filter_from_errors():
        yield ParserError(said.message, said.type, said.line, said.column)


def fault(octets: bytes, encoding: str | None = None) -> ParserError | None:
    """The first error in bytes, which need not be a whole document; None if there is none."""
    parser = safe_parser(encoding)
    try:
        etree.fromstring(octets, parser)
    except etree.XMLSyntaxError as error:
        return next(faults(parser.error_log), fault_of(error))
    return next(faults(parser.error_log), None)


def fault_of(error: etree.XMLSyntaxError) -> ParserError:
    """The error that lxml raised."""
    line, column = error.position
    return ParserError(error.msg or "not well-formed", error.code, line, column)


# What libxml2 says of something behind it, and the sign with which that begins.
_BEGUN_BY = {"Opening and ending tag mismatch": "</", "xmlParseEntityRef: no name": "&"}
# What it says behind the encoding of a declaration, if the bytes cannot be in it.
_NO_BLANK = "Blank needed here"
_BEGIN = 512  # bytes that tell what something is that is no XML


def refusal(
    said: ParserError, data: bytes, place: SourcePlace, encoding: str = UTF8
) -> UnreadableDocument:
    """Why bytes that begin at a place are refused, in words and with the place in their source."""
    if said.kind == INVALID_BYTES and (byte := _invalid(data, encoding)) is not None:
        at = place.behind(data[:byte], encoding)
        return cause.invalid_byte(data[byte], encoding, at.start, at.line, at.column)
    above = place.line - 1
    column = _column(said, data, encoding) + (place.column - 1 if said.line == 1 else 0)
    if said.message.startswith(_NO_BLANK) and (other := encodings.mislabelled(data)):
        return cause.mislabelled(other, above + said.line, column)
    context = _about(data, said.line, said.column, encoding)
    if cause.NO_TAG.search(said.message):
        context = data[:_BEGIN].lstrip().decode("utf-8", "replace")
    offset = above if said.offset is None else said.offset
    return cause.unreadable(said.message, above + said.line, column, context, offset)


def _column(said: ParserError, data: bytes, encoding: str) -> int:
    """Where an error is in its line; that of an end tag, or of a bare &, is where it begins."""
    sign = next((sign for begin, sign in _BEGUN_BY.items() if said.message.startswith(begin)), "")
    begin = _line(data, said.line, encoding).rfind(sign, 0, said.column) if sign else -1
    return begin + 1 if begin >= 0 else said.column


def _invalid(octets: bytes, name: str) -> int | None:
    """Where the first byte is that an encoding has not; a character that was cut in two is none."""
    start = 0
    while name == UTF8 and start < 3 and octets[start : start + 1] and octets[start] & 0xC0 == 0x80:
        start += 1
    found = encodings.invalid(octets[start:], name)
    return None if found is None else start + found


def _about(octets: bytes, line: int, column: int, encoding: str) -> str:
    """The characters about a place, which counts lines and columns from 1."""
    return _line(octets, line, encoding)[max(column - 3, 0) : column + 1]


def _line(octets: bytes, line: int, encoding: str) -> str:
    """The characters of a line, which count from 1; none of a line that is not there."""
    start = 0
    for _ in range(line - 1):
        start = octets.find(b"\n", start) + 1
        if not start:
            return ""
    end = octets.find(b"\n", start)
    found = octets[start : end if end >= 0 else len(octets)]
    return found.decode(encodings.codec(encoding) or UTF8, "replace")
