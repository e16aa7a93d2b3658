"""Bytes to trees, with safe limits: a stream of job objects from a source of any size.

A source may be one document (a Job, a JobGroup, or any wrapper around many of them) or many
documents one after the other, each on a line of its own or not; gzip, bzip2, xz and zstd are read
as they are. Memory holds one job object at a time. No entity is expanded, no address is opened.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import BinaryIO, cast

from lxml import etree
from lxml.etree import _Element as Element

from sssjob.document import cause, pull
from sssjob.document.files import CHUNK, Source, opened, split_lines
from sssjob.document.limits import (
    OBJECT_LIMIT,
    SPACE,
    TOKEN_LIMIT,
    markup_of,
    refuse_doctype,
    refuse_early,
    refuse_too_large,
)
from sssjob.document.places import names
from sssjob.document.pull import (
    BYTE_ORDER_MARK,
    INVALID_BYTES,
    START_TAG,
    UNIT_TAGS,
    Located,
    documents,
)
from sssjob.errors import Finding, UnreadableDocument
from sssjob.model import BLOCKS

OnError = pull.OnError

_UNFINISHED = (
    etree.ErrorTypes.ERR_TAG_NOT_FINISHED, etree.ErrorTypes.ERR_GT_REQUIRED,
    etree.ErrorTypes.ERR_DOCUMENT_EMPTY, etree.ErrorTypes.ERR_DOCUMENT_END,
)  # fmt: skip


def units(source: Source, *, on_error: OnError | None = None) -> Iterator[Element]:
    """The outermost Job and JobGroup elements, or a root TaskGroup, Task, or defaults element.

    An element hangs in its document, with its ancestors and without the siblings before it, until
    the next one is asked for. Raises ``UnreadableDocument``, or hands it to ``on_error`` and goes
    on with the next line where each line is a document.
    """
    for element, _ in located(source, on_error=on_error):
        if element.tag in UNIT_TAGS or names(element)[1] in BLOCKS:
            yield element


def located(source: Source, *, on_error: OnError | None = None) -> Iterator[Located]:
    """As ``units``, with line offsets; a document without a job object gives its root.

    What has the name of a job object in another namespace is no job object, and goes to
    ``on_error`` as what cannot be read does.
    """
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
        yield from documents(
            stream, head, offset=line, left_out=left_out, kept=kept, on_error=on_error
        )


def parse(data: bytes | str) -> Element:
    """The root of exactly one document. Raises ``UnreadableDocument``."""
    octets = data.encode() if isinstance(data, str) else data
    if isinstance(data, str):
        # A declaration names the encoding that the text had as bytes, which it no longer has.
        octets = re.sub(rb"^(\s*<\?xml[^>]*?)\sencoding=(\"[^\"]*\"|'[^']*')", rb"\1", octets)
    refuse_early(octets.removeprefix(BYTE_ORDER_MARK), 0)
    try:
        root = parsed(octets)
    except etree.XMLSyntaxError as error:
        raise _unreadable(error, octets, 0) from error
    refuse_doctype(root, octets, 0)
    return root


def parsed(octets: bytes, parser: etree.XMLParser | None = None) -> Element:
    """The root of one document. Raises ``XMLSyntaxError`` for any error in it.

    lxml forgets an error, as a prefix that is declared nowhere, when a warning comes behind it.
    """
    used = parser or safe_parser()
    root: Element = etree.fromstring(octets, used)
    for error in used.error_log.filter_from_errors():
        raise etree.XMLSyntaxError(error.message, error.type, error.line, error.column)
    return root


def whole(
    source: Source, *, on_error: OnError | None = None, known: Collection[str] = ()
) -> Iterator[Located]:
    """The root of each document of a source, each as a whole tree in memory.

    Job objects of other namespaces than the standard's and the ``known`` ones go to ``on_error``,
    or are raised; other faults are raised.
    """
    with opened(source) as stream:
        head = stream.read(CHUNK)
        yield from documents(stream, head, whole=True, on_error=on_error, known=known)


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
        if not line.strip(SPACE):
            continue
        try:
            refuse_early(line, number)
            if len(line) > TOKEN_LIMIT:
                refuse_too_large(len(line), markup_of(line), number)
            root = parsed(line, parser)
            refuse_doctype(root, line, number)
        except etree.XMLSyntaxError:
            try:
                # Several on one line, perhaps.
                for _ in documents(io.BytesIO(), line, on_error=lambda error: None):
                    pass
                yield from documents(io.BytesIO(), line, offset=number, on_error=on_error)
                continue
            except UnreadableDocument as error:
                failure = UnreadableDocument(below(error.finding, number))
                incomplete = _is_incomplete(error)
            waiting.extend(itertools.islice(lines, 1))
            if incomplete and waiting and not _begins_alike(line, waiting[0][1]):
                rest = _Lines(line for _, line in itertools.chain(waiting, lines))
                yield from documents(
                    cast(BinaryIO, rest), line + b"\n", offset=number, on_error=on_error
                )
                return
        except UnreadableDocument as error:
            failure = error
        else:
            if root.tag in UNIT_TAGS:
                yield Located(root, number)
            else:
                yield from documents(io.BytesIO(), line, offset=number, on_error=on_error)
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
    one, other = START_TAG.match(line), START_TAG.match(another)
    return one is not None and other is not None and one[1] == other[1]


def _is_incomplete(error: UnreadableDocument) -> bool:
    """Whether a document may go on where its bytes ended."""
    said = error.__cause__
    return isinstance(said, etree.XMLSyntaxError) and said.code in _UNFINISHED


def below(found: Finding, lines: int) -> Finding:
    """A finding as it stands so many lines further down; an unknown line stays unknown."""
    return replace(found, line=found.line + lines) if found.line else found


def _unreadable(error: etree.XMLSyntaxError, data: bytes, offset: int) -> UnreadableDocument:
    """What is wrong with one whole document."""
    line, column = error.position
    if error.code == INVALID_BYTES:
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


def is_lines(head: bytes) -> bool:
    """Whether the first two lines that are not blank are documents, each of its own.

    The second may be a broken one, if it ends as it began.
    """
    lines = [line.strip(SPACE) for line in head.split(b"\n")[:-1] if line.strip(SPACE)][:2]
    if len(lines) < 2 or not all(_is_document(line) for line in lines[:1]):
        return False
    name = START_TAG.match(lines[1])
    return _is_document(lines[1]) or (
        name is not None and lines[1].endswith(b"</" + name[1] + b">")
    )


def _is_document(line: bytes) -> bool:
    if not line.startswith(b"<"):
        return False
    try:
        parsed(line)
    except etree.XMLSyntaxError:
        return False
    return True
