"""One document after the other out of a stream, and their job objects as they end."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import BinaryIO, NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import spec
from sssjob.document import cause
from sssjob.document.files import CHUNK
from sssjob.document.limits import (
    SPACE,
    TOKEN_LIMIT,
    markup_of,
    refuse_doctype,
    refuse_early,
    refuse_too_large,
    too_large,
)
from sssjob.document.places import ILLEGAL, names
from sssjob.errors import UnreadableDocument
from sssjob.model import BLOCKS

OnError = Callable[[UnreadableDocument], None]


class Located(NamedTuple):
    """An element, and how many lines of its source come before its document."""

    element: Element
    offset: int

    @property
    def line(self) -> int:
        """The line of the element in its source, counted from 1; 0 if it is not known."""
        line = self.element.sourceline
        return line + self.offset if line else 0


_UNITS = ("Job", "JobGroup")
TAGS = tuple(f"{{*}}{name}" for name in _UNITS)
UNIT_TAGS = frozenset(
    etree.QName(namespace or None, name).text for namespace in spec.NAMESPACES for name in _UNITS
)
# A root that is part of a job is what the document is about, whatever stands inside.
PART_TAGS = frozenset(
    etree.QName(namespace or None, row.name).text
    for namespace in spec.NAMESPACES
    for row in spec.CONTAINERS
    if row.name not in _UNITS
)
_HEAD = 4096  # bytes in which the name of a root is looked for
_SPACE_BYTES = (b" ", b"\t", b"\r", b"\n")
START_TAG = re.compile(rb"(?>\s+|<\?.*?\?>|<!--.*?-->)*+<([^\s<>/?!]+)", re.DOTALL)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CONTINUATION = bytes(range(0x80, 0xC0))  # of a UTF-8 character
_EXTRA_CONTENT = etree.ErrorTypes.ERR_DOCUMENT_END
INVALID_BYTES = etree.ErrorTypes.ERR_INVALID_ENCODING
_LATE_DECLARATION = etree.ErrorTypes.ERR_RESERVED_XML_NAME


def documents(
    stream: BinaryIO,
    head: bytes,
    *,
    whole: bool = False,
    offset: int = 0,
    left_out: int = 0,
    kept: int = 0,
    on_error: OnError | None = None,
    known: Collection[str] = (),
) -> Iterator[Located]:
    """Documents of any shape, one after the other.

    Job objects of namespaces that are not ``known`` go to ``on_error``, or are raised; other
    faults are raised.
    """
    chunk = head.removeprefix(BYTE_ORDER_MARK)
    first = True
    while True:
        # Blank lines between documents count; before its declaration a document may have none.
        while chunk and not (rest := chunk.lstrip(SPACE)):
            offset, chunk = offset + chunk.count(b"\n"), stream.read(CHUNK)
        if not chunk and not first:
            return
        if not first or chunk.startswith(_SPACE_BYTES):
            offset, chunk = offset + chunk[: len(chunk) - len(rest)].count(b"\n"), rest
        while len(chunk) < _HEAD and (more := stream.read(CHUNK)):
            chunk += more
        document = _Document(stream, chunk, offset, on_error)
        document.fed, document.kept, left_out, kept = left_out, kept, 0, 0
        document.known = known
        yield from document.objects(whole=whole)
        offset, chunk, first = offset + document.lines, document.rest, False


class _Document:
    """One document, fed from a stream up to its end or to the start of the next one."""

    def __init__(
        self, stream: BinaryIO, head: bytes, offset: int, on_error: OnError | None
    ) -> None:
        self.stream, self.head, self.offset, self.on_error = stream, head, offset, on_error
        self.lines = self.fed = 0  # lines and bytes of this document, fed so far
        self.kept = 0  # lines of it that no offset counts for
        self.rest = b""  # what comes after it
        self.root: Element | None = None
        name = START_TAG.match(head)
        local = name[1].rpartition(b":")[2].decode("utf-8", "replace") if name else "Job"
        local = ILLEGAL.sub("", local) or "Job"  # lxml takes no other; the parser will tell why
        # The end of the root shows where a document ends when another one follows.
        self.parser = etree.XMLPullParser(
            events=("end",), tag=(*TAGS, f"{{*}}{local}"),
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False,
        )  # fmt: skip
        self._column = 0  # characters of the current line, fed so far
        self._tail = b""  # the last bytes fed; the parser may complain about them a chunk later
        self.known: Collection[str] = ()
        self._strangers: list[Element] = []  # ended, and not told yet: they may hold each other
        self._met = False  # whether any was told

    def objects(self, *, whole: bool) -> Iterator[Located]:
        """The job objects as they end, or the root when it is whole or holds none."""
        refuse_early(self.head, self.offset)
        last: Element | None = None
        wrapper: Element | None = None
        chunk, since_object, since_tag, markup = self.head, 0, 0, 0
        while chunk:
            failure = self._feed(chunk)
            # The parser tells of a prefix that is declared nowhere when all is read, or never.
            complaints = self.parser.feed_error_log.filter_from_errors()
            for _, element in self.parser.read_events():
                parent = element.getparent()
                if parent is None:
                    self.root = element
                if whole:
                    continue
                if element.tag not in UNIT_TAGS:
                    if is_stranger(element) and self._is_met(element, last):
                        since_object = markup = 0
                    continue
                if complaints and _has_unbound(element):
                    raise self._unreadable(complaints[0])
                if parent is None or parent is not wrapper:
                    if not is_outermost(element):
                        continue
                    if last is None:
                        refuse_doctype(element, self.head, self.offset)
                    _forget(last, element)
                    wrapper = parent
                if wrapper is not None:
                    # What was handed out goes, so that memory stays flat.
                    while wrapper[0] is not element:
                        del wrapper[0]
                last, since_object, markup = element, 0, 0
                self._tell_strangers()
                yield Located(element, self.offset)
            if failure is not None:
                self._end_at_next(failure, chunk)
                break
            since_object += len(chunk)
            tag = chunk.rfind(b"<")
            since_tag = len(chunk) - tag if tag >= 0 else since_tag + len(chunk)
            if since_tag > TOKEN_LIMIT:
                text = f"more than {TOKEN_LIMIT >> 20} MiB without a tag"
                raise too_large(text, self.offset + self.lines)
            if since_object > TOKEN_LIMIT and not whole:
                markup += markup_of(chunk)
                refuse_too_large(since_object, markup, self.offset + self.lines)
            self._count(chunk)
            chunk = self.stream.read(CHUNK)
        else:
            self.root = self._close()
        assert self.root is not None
        refuse_doctype(self.root, self.head, self.offset)
        if whole:
            for stranger in strangers(self.root):
                self._tell(stranger)
        self._tell_strangers()
        if last is None and (whole or not self._met):
            yield Located(self.root, self.offset)

    def _is_met(self, stranger: Element, last: Element | None) -> bool:
        """Keep what ended, unless it holds job objects or stands in one; whether it is kept."""
        if not is_outermost(stranger):
            return False
        if last is not None and stranger in last.iterancestors():
            return False
        inner = [each for each in self._strangers if stranger not in each.iterancestors()]
        self._strangers = [*inner, stranger]
        if not any(map(is_stranger, stranger.iterancestors())):
            self._tell_strangers()
        return True

    def _tell_strangers(self) -> None:
        """Tell what cannot be a part of another one any more."""
        for stranger in self._strangers:
            self._tell(stranger)
            stranger.clear(keep_tail=True)
        self._met = self._met or bool(self._strangers)
        self._strangers = []

    def _tell(self, stranger: Element) -> None:
        namespace, name = names(stranger)
        if namespace in self.known:
            return
        failure = cause.foreign(name, namespace, Located(stranger, self.offset).line)
        if self.on_error is None:
            raise failure
        self.on_error(failure)

    def _unreadable(self, said: etree._LogEntry | etree.XMLSyntaxError) -> UnreadableDocument:
        return cause.unreadable(said, offset=self.offset, kept=self.kept)

    def _feed(self, chunk: bytes) -> etree.XMLSyntaxError | None:
        try:
            self.parser.feed(chunk)
        except etree.XMLSyntaxError as error:
            return error
        return None

    def _close(self) -> Element:
        log = self.parser.feed_error_log
        try:
            root = self.parser.close()
        except etree.XMLSyntaxError as error:
            # What the parser kept to itself while it was fed is the cause.
            raise self._unreadable(next(iter(log), error)) from error
        if complaints := log.filter_from_errors():
            raise self._unreadable(complaints[0])
        return root

    def _end_at_next(self, error: etree.XMLSyntaxError, chunk: bytes) -> None:
        """End this document where the next one begins, if that is what the parser met."""
        line, column = error.position
        if error.code == _LATE_DECLARATION:
            column -= len("<?xml")  # it complains behind the name
        if self.root is not None and error.code in (_EXTRA_CONTENT, _LATE_DECLARATION):
            fed = self._tail + chunk
            start = _place(
                fed,
                line - 1 - self.lines + self._tail.count(b"\n"),
                column - 1,
                self._column - _characters(_last_line(self._tail)),
            )
            if fed[start : start + 1] == b"<":
                self._count(fed[len(self._tail) : start])
                self.rest = fed[start:]
                return
        raise self._failure(error, line, column, chunk) from error

    def _failure(
        self, error: etree.XMLSyntaxError, line: int, column: int, chunk: bytes
    ) -> UnreadableDocument:
        fed = self._tail + chunk
        if error.code == INVALID_BYTES:
            before = self.fed - len(self._tail)
            try:
                # What begins before the tail is cut there, and was read without complaint.
                start = next((i for i, byte in enumerate(fed) if byte & 0xC0 != 0x80), 0)
                fed[start:].decode()
            except UnicodeDecodeError as where:
                place = start + where.start
                return cause.invalid_byte(fed[place], before + place, line + self.offset)
        start = _place(
            fed,
            max(line - 1 - self.lines + self._tail.count(b"\n"), 0),
            column - 3,
            self._column - _characters(_last_line(self._tail)),
        )
        context = fed[start : start + 16].decode("utf-8", "replace")
        return cause.unreadable(error, context[:4], offset=self.offset, kept=self.kept)

    def _count(self, chunk: bytes) -> None:
        self.fed += len(chunk)
        self.lines += chunk.count(b"\n")
        self._column = _characters(_last_line(chunk)) + (0 if b"\n" in chunk else self._column)
        self._tail = (self._tail + chunk[-16:])[-16:]


def _place(fed: bytes, line: int, column: int, before: int) -> int:
    """The index of a place, counted in lines and characters, of which ``before`` came earlier."""
    start = 0
    for _ in range(line):
        start = fed.index(b"\n", start) + 1
    characters = column - (before if line == 0 else 0)
    for index in range(start, len(fed)):
        if fed[index] & 0xC0 != 0x80:  # not in _CONTINUATION
            if characters == 0:
                return index
            characters -= 1
    return len(fed)


def _last_line(chunk: bytes) -> bytes:
    return chunk[chunk.rfind(b"\n") + 1 :]


def _characters(line: bytes) -> int:
    return len(line.translate(None, _CONTINUATION))


def _forget(previous: Element | None, element: Element) -> None:
    """Empty what was handed out under another wrapper, and that wrapper with it."""
    if previous is not None:
        previous.clear()
    for ancestor in element.iterancestors():
        for sibling in ancestor.itersiblings(preceding=True):
            sibling.clear()


def strangers(root: Element) -> list[Element]:
    """What has the name of a job object in another namespace, stands in none and holds none."""
    found: dict[Element, None] = {}
    for element in root.iter(*TAGS, *([str(root.tag)] if is_stranger(root) else ())):
        if is_stranger(element) and is_outermost(element):
            inside = next(element.iter(*UNIT_TAGS), None) is not None
            if not inside and not any(each in found for each in element.iterancestors()):
                found[element] = None
    return list(found)


def is_stranger(element: Element) -> bool:
    """Whether an element has the name of a job object, or as a root that of a part of one, in a
    namespace that is not the standard's.
    """
    namespace, name = names(element)
    if namespace in spec.NAMESPACES:
        return False
    return name in _UNITS or (name in BLOCKS and element.getparent() is None)


def _has_unbound(element: Element) -> bool:
    """Whether a prefix in an element is declared nowhere."""
    names = (name for each in element.iter(etree.Element) for name in (each.tag, *each.keys()))
    return any(":" in name and name[0] != "{" for name in map(str, names))


def is_outermost(element: Element) -> bool:
    """Whether nothing around a Job or JobGroup is a job object or a part of one."""
    ancestors = [item.tag for item in element.iterancestors()]
    return not ancestors or (ancestors[-1] not in PART_TAGS and UNIT_TAGS.isdisjoint(ancestors))
