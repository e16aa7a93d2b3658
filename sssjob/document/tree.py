"""Bytes to trees, with safe limits: a stream of job objects from a source of any size.

A source may be one document (a Job, a JobGroup, or any wrapper around many of them) or many
documents one after the other, each on a line of its own or not; gzip, bzip2, xz and zstd are read
as they are. Memory holds one job object at a time. No entity is expanded, no address is opened.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import BinaryIO, NamedTuple, cast

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import spec
from sssjob.document import cause
from sssjob.document.files import CHUNK, Source, opened, split_lines
from sssjob.document.places import ILLEGAL
from sssjob.errors import Finding, UnreadableDocument, finding

OBJECT_LIMIT = 128 << 20  # bytes of one job object; a JobGroup of 100 000 jobs has some 80 MiB
MARKUP_LIMIT = 8 << 20  # tags and attributes of one job object; each costs far more than its bytes
TOKEN_LIMIT = 16 << 20  # bytes without any tag; libxml2 itself refuses text above 10 MB

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
_TAGS = tuple(f"{{*}}{name}" for name in _UNITS)
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
_SPACE = b" \t\r\n"
_SPACE_BYTES = (b" ", b"\t", b"\r", b"\n")
_START_TAG = re.compile(rb"(?>\s+|<\?.*?\?>|<!--.*?-->)*+<([^\s<>/?!]+)", re.DOTALL)
_DOCTYPE = re.compile(rb"(?>\s+|<\?.*?\?>|<!--.*?-->)*+<!DOCTYPE", re.DOTALL)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CONTINUATION = bytes(range(0x80, 0xC0))  # of a UTF-8 character
_EXTRA_CONTENT = etree.ErrorTypes.ERR_DOCUMENT_END
_INVALID_BYTES = etree.ErrorTypes.ERR_INVALID_ENCODING
_UNFINISHED = (
    etree.ErrorTypes.ERR_TAG_NOT_FINISHED, etree.ErrorTypes.ERR_GT_REQUIRED,
    etree.ErrorTypes.ERR_DOCUMENT_EMPTY, etree.ErrorTypes.ERR_DOCUMENT_END,
)  # fmt: skip
_LATE_DECLARATION = etree.ErrorTypes.ERR_RESERVED_XML_NAME


def units(source: Source, *, on_error: OnError | None = None) -> Iterator[Element]:
    """The outermost Job and JobGroup elements, or a root TaskGroup, Task, or defaults element.

    An element hangs in its document, with its ancestors and without the siblings before it, until
    the next one is asked for. Raises ``UnreadableDocument``, or hands it to ``on_error`` and goes
    on with the next line where each line is a document.
    """
    for element, _ in located(source, on_error=on_error):
        if element.tag in UNIT_TAGS or etree.QName(element).localname in spec.CONTAINER:
            yield element


def located(source: Source, *, on_error: OnError | None = None) -> Iterator[Located]:
    """As ``units``, with line offsets; a document without a job object gives its root."""
    try:
        with opened(source) as stream:
            head = stream.read(CHUNK)
            yield from going_on(stream, head, 0, as_lines=is_lines(head), on_error=on_error)
    except UnreadableDocument as error:
        if on_error is None:
            raise
        on_error(error)


def going_on(
    stream: BinaryIO, head: bytes, line: int, *,
    as_lines: bool, left_out: int = 0, kept: int = 0, on_error: OnError | None = None,
) -> Iterator[Located]:  # fmt: skip
    """As ``located``, from the middle of a source: ``head`` and the stream behind ``line`` lines.

    Of the first document, ``left_out`` bytes behind its ``kept`` first lines are not among them.
    ``as_lines`` says that each line is a document. Else a fault is raised, not handed over.
    """
    if as_lines:
        yield from _lines(stream, head, on_error, line)
    else:
        yield from _documents(stream, head, offset=line, left_out=left_out, kept=kept)


def parse(data: bytes | str) -> Element:
    """The root of exactly one document. Raises ``UnreadableDocument``."""
    octets = data.encode() if isinstance(data, str) else data
    if isinstance(data, str):
        # A declaration names the encoding that the text had as bytes, which it no longer has.
        octets = re.sub(rb"^(\s*<\?xml[^>]*?)\sencoding=(\"[^\"]*\"|'[^']*')", rb"\1", octets)
    _refuse_early(octets.removeprefix(_BYTE_ORDER_MARK), 0)
    try:
        root: Element = etree.fromstring(octets, safe_parser())
    except etree.XMLSyntaxError as error:
        raise _unreadable(error, octets, 0) from error
    _refuse_doctype(root, octets, 0)
    return root


def whole(source: Source) -> Iterator[Located]:
    """The root of each document of a source, each as a whole tree in memory."""
    with opened(source) as stream:
        yield from _documents(stream, stream.read(CHUNK), whole=True)


def safe_parser() -> etree.XMLParser:
    """A parser that expands no entity and opens no address."""
    return etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)


def _lines(
    stream: BinaryIO, head: bytes, on_error: OnError | None, first: int = 0
) -> Iterator[Located]:
    """Documents of one line each: one that cannot be read does not hide the next.

    Where a document turns out to go on in the next line, the rest is read as documents of any
    shape: somebody put files together.
    """
    parser = safe_parser()
    lines = enumerate(split_lines(stream, head, OBJECT_LIMIT), first)
    waiting: list[tuple[int, bytes]] = []
    while (numbered := waiting.pop() if waiting else next(lines, None)) is not None:
        number, line = numbered
        if not line.strip(_SPACE):
            continue
        try:
            _refuse_early(line, number)
            if len(line) > TOKEN_LIMIT:
                refuse_too_large(len(line), markup_of(line), number)
            root = etree.fromstring(line, parser)
            _refuse_doctype(root, line, number)
        except etree.XMLSyntaxError:
            try:
                for _ in _documents(io.BytesIO(), line):  # several on one line, perhaps
                    pass
                yield from _documents(io.BytesIO(), line, offset=number)
                continue
            except UnreadableDocument as error:
                failure = UnreadableDocument(below(error.finding, number))
                incomplete = _is_incomplete(error)
            waiting.extend(itertools.islice(lines, 1))
            if incomplete and waiting and not _begins_alike(line, waiting[0][1]):
                rest = _Lines(line for _, line in itertools.chain(waiting, lines))
                yield from _documents(cast(BinaryIO, rest), line + b"\n", offset=number)
                return
        except UnreadableDocument as error:
            failure = error
        else:
            found = [root] if root.tag in UNIT_TAGS else [
                item for item in root.iter(*_TAGS)
                if item.tag in UNIT_TAGS and _is_outermost(item)
            ]  # fmt: skip
            yield from (Located(item, number) for item in found or [root])
            continue
        if on_error is None:
            raise failure
        on_error(failure)


class _Lines:
    """Lines as the stream that they were."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines

    def read(self, size: int) -> bytes:
        """Whole lines of about that size together."""
        pieces = []
        while size > 0 and (line := next(self._lines, None)) is not None:
            pieces.append(line + b"\n")
            size -= len(line) + 1
        return b"".join(pieces)


def _begins_alike(line: bytes, another: bytes) -> bool:
    """Whether both begin with the same tag: then the second is no part of the first."""
    one, other = _START_TAG.match(line), _START_TAG.match(another)
    return one is not None and other is not None and one[1] == other[1]


def _is_incomplete(error: UnreadableDocument) -> bool:
    """Whether a document may go on where its bytes ended."""
    said = error.__cause__
    return isinstance(said, etree.XMLSyntaxError) and said.code in _UNFINISHED


def below(found: Finding, lines: int) -> Finding:
    """A finding as it stands so many lines further down; an unknown line stays unknown."""
    return replace(found, line=found.line + lines) if found.line else found


def _documents(
    stream: BinaryIO,
    head: bytes,
    *,
    whole: bool = False,
    offset: int = 0,
    left_out: int = 0,
    kept: int = 0,
) -> Iterator[Located]:
    """Documents of any shape, one after the other."""
    chunk = head.removeprefix(_BYTE_ORDER_MARK)
    first = True
    while True:
        # Blank lines between documents count; before its declaration a document may have none.
        while chunk and not (rest := chunk.lstrip(_SPACE)):
            offset, chunk = offset + chunk.count(b"\n"), stream.read(CHUNK)
        if not chunk and not first:
            return
        if not first or chunk.startswith(_SPACE_BYTES):
            offset, chunk = offset + chunk[: len(chunk) - len(rest)].count(b"\n"), rest
        while len(chunk) < _HEAD and (more := stream.read(CHUNK)):
            chunk += more
        document = _Document(stream, chunk, offset)
        document.fed, document.kept, left_out, kept = left_out, kept, 0, 0
        yield from document.objects(whole=whole)
        offset, chunk, first = offset + document.lines, document.rest, False


class _Document:
    """One document, fed from a stream up to its end or to the start of the next one."""

    def __init__(self, stream: BinaryIO, head: bytes, offset: int) -> None:
        self.stream, self.head, self.offset = stream, head, offset
        self.lines = self.fed = 0  # lines and bytes of this document, fed so far
        self.kept = 0  # lines of it that no offset counts for
        self.rest = b""  # what comes after it
        self.root: Element | None = None
        name = _START_TAG.match(head)
        local = name[1].rpartition(b":")[2].decode("utf-8", "replace") if name else "Job"
        local = ILLEGAL.sub("", local) or "Job"  # lxml takes no other; the parser will tell why
        # The end of the root shows where a document ends when another one follows.
        self.parser = etree.XMLPullParser(
            events=("end",), tag=(*_TAGS, f"{{*}}{local}"),
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False,
        )  # fmt: skip
        self._column = 0  # characters of the current line, fed so far
        self._tail = b""  # the last bytes fed; the parser may complain about them a chunk later

    def objects(self, *, whole: bool) -> Iterator[Located]:
        """The job objects as they end, or the root when it is whole or holds none."""
        _refuse_early(self.head, self.offset)
        last: Element | None = None
        wrapper: Element | None = None
        chunk, since_object, since_tag, markup = self.head, 0, 0, 0
        while chunk:
            failure = self._feed(chunk)
            for _, element in self.parser.read_events():
                parent = element.getparent()
                if parent is None:
                    self.root = element
                if whole or element.tag not in UNIT_TAGS:
                    continue
                if parent is None or parent is not wrapper:
                    if not _is_outermost(element):
                        continue
                    if last is None:
                        _refuse_doctype(element, self.head, self.offset)
                    _forget(last, element)
                    wrapper = parent
                if wrapper is not None:
                    # What was handed out goes, so that memory stays flat.
                    while wrapper[0] is not element:
                        del wrapper[0]
                last, since_object, markup = element, 0, 0
                yield Located(element, self.offset)
            if failure is not None:
                self._end_at_next(failure, chunk)
                break
            since_object += len(chunk)
            tag = chunk.rfind(b"<")
            since_tag = len(chunk) - tag if tag >= 0 else since_tag + len(chunk)
            if since_tag > TOKEN_LIMIT:
                text = f"more than {TOKEN_LIMIT >> 20} MiB without a tag"
                raise _too_large(text, self.offset + self.lines)
            if since_object > TOKEN_LIMIT and not whole:
                markup += markup_of(chunk)
                refuse_too_large(since_object, markup, self.offset + self.lines)
            self._count(chunk)
            chunk = self.stream.read(CHUNK)
        else:
            self.root = self._close()
        assert self.root is not None
        _refuse_doctype(self.root, self.head, self.offset)
        if last is None:
            yield Located(self.root, self.offset)

    def _feed(self, chunk: bytes) -> etree.XMLSyntaxError | None:
        try:
            self.parser.feed(chunk)
        except etree.XMLSyntaxError as error:
            return error
        return None

    def _close(self) -> Element:
        try:
            return self.parser.close()
        except etree.XMLSyntaxError as error:
            # What the parser kept to itself while it was fed is the cause.
            first = next(iter(self.parser.feed_error_log), error)
            raise cause.unreadable(first, offset=self.offset, kept=self.kept) from error

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
        if error.code == _INVALID_BYTES:
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


def _unreadable(error: etree.XMLSyntaxError, data: bytes, offset: int) -> UnreadableDocument:
    """What is wrong with one whole document."""
    line, column = error.position
    if error.code == _INVALID_BYTES:
        try:
            data.decode()
        except UnicodeDecodeError as where:
            return cause.invalid_byte(data[where.start], where.start, line + offset)
    lines = data.split(b"\n")
    context = lines[line - 1].decode("utf-8", "replace") if 0 < line <= len(lines) else ""
    return cause.unreadable(error, _about(context, column), offset=offset)


def _about(line: str, column: int) -> str:
    """The characters of a line about a column, counted from 1."""
    return line[max(column - 3, 0) : column + 1]


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


def _is_outermost(element: Element) -> bool:
    ancestors = [item.tag for item in element.iterancestors()]
    return not ancestors or (ancestors[-1] not in PART_TAGS and UNIT_TAGS.isdisjoint(ancestors))


def is_lines(head: bytes) -> bool:
    """Whether the first two lines that are not blank are documents, each of its own.

    The second may be a broken one, if it ends as it began.
    """
    lines = [line.strip(_SPACE) for line in head.split(b"\n")[:-1] if line.strip(_SPACE)][:2]
    if len(lines) < 2 or not all(_is_document(line) for line in lines[:1]):
        return False
    name = _START_TAG.match(lines[1])
    return _is_document(lines[1]) or (
        name is not None and lines[1].endswith(b"</" + name[1] + b">")
    )


def _is_document(line: bytes) -> bool:
    if not line.startswith(b"<"):
        return False
    try:
        etree.fromstring(line, safe_parser())
    except etree.XMLSyntaxError:
        return False
    return True


def _refuse_doctype(element: Element, head: bytes, offset: int) -> None:
    """Refuse what only the parser noticed: a declaration far down, or in another encoding."""
    if element.getroottree().docinfo.internalDTD is not None:
        line = head[: max(head.find(b"<!DOCTYPE"), 0)].count(b"\n") + 1 + offset
        raise cause.doctype(line)


def _refuse_early(head: bytes, offset: int) -> None:
    """Refuse a document type before the parser works on what it declares."""
    if found := _DOCTYPE.match(head):
        raise cause.doctype(found[0].count(b"\n") + 1 + offset)
    if not head.strip(_SPACE):
        raise UnreadableDocument(finding("E-XML", "the document is empty"))


def markup_of(data: bytes) -> int:
    """About how many tags and attributes there are."""
    return data.count(b"<") + data.count(b"=")


def refuse_too_large(size: int, markup: int, line: int) -> None:
    """Refuse a job object whose tree would take more memory than one may."""
    if size > OBJECT_LIMIT:
        raise _too_large(f"one job object of more than {OBJECT_LIMIT >> 20} MiB", line)
    if markup > MARKUP_LIMIT:
        text = f"one job object of more than {MARKUP_LIMIT >> 20} million tags and attributes"
        raise _too_large(text, line)


def _too_large(text: str, line: int) -> UnreadableDocument:
    return UnreadableDocument(finding("E-LIMIT", text, line=line + 1))
