"""New jobs in the place of old ones, in documents that otherwise keep every byte.

A tree does not know where its elements stood, and text that is written from one is not the text
that was read. So the places are found by expat, the values are read as always, and what is
between the jobs that change is copied: comments, declarations, white space, unchanged jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, NamedTuple
from xml.parsers import expat

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import spec
from sssjob.document import pull, text, tree
from sssjob.document.bridge import from_tree, to_tree
from sssjob.document.files import CHUNK, opened
from sssjob.errors import UnreadableDocument, finding
from sssjob.model import Block, Item, Job, JobGroup, Reference

Change = Callable[[Block], Block]

_TAIL = 256  # bytes before a job in which the start of its line is looked for


def rewrite(source: Path | bytes, change: Change) -> Iterator[bytes]:
    """The bytes of a document, or of several, with the jobs that ``change`` exchanges.

    ``change`` is given every outermost Job and JobGroup, and gives it back, or one in which some
    jobs are other objects; nothing else may differ. Memory holds one of them at a time. Raises
    ``UnreadableDocument``.
    """
    with opened(source) as stream, opened(source) as outline:
        copy = _Copy(stream)
        places = _spans(outline)
        for element in tree.units(source):
            block = from_tree(element)
            if element.tag not in pull.UNIT_TAGS:
                change(block)
                continue
            span = next(places, None)
            if span is None:
                message = "the places of its job objects cannot be found"
                raise UnreadableDocument(finding("E-XML", message, line=element.sourceline or 0))
            for old, new, home, (start, end) in _pairs(element, block, change(block), span):
                if new is not old and isinstance(new, Job):
                    yield from copy.until(start)
                    yield copy.replaced(end, _Home(home, span.encoding), new)
        yield from copy.until(None)


def _pairs(
    element: Element, block: Block, changed: Block, span: _Span
) -> Iterator[tuple[Item, Item, Element, tuple[int, int]]]:
    """Each job before and after, its element, and its place."""
    if not isinstance(block, JobGroup):
        yield block, changed, element, (span.start, span.end)
        return
    elements = (child for child in element if child.tag in _JOB_TAGS)
    yield from zip(_jobs(block), _jobs(changed), elements, span.jobs, strict=True)


def _jobs(group: Block) -> Iterator[Item]:
    """The jobs of a group, references to jobs included."""
    for item in group.items:
        if isinstance(item, (Job, Reference)) and item.name == "Job":
            yield item


class _Home(NamedTuple):
    """Where a new job will stand: in the place of an element, in a document's encoding."""

    element: Element
    encoding: str

    def dressed(self, job: Job, raw: bytes, before: bytes) -> bytes:
        """The job as text for this place; ``raw`` is the text that stood here."""
        # A byte order mark says more than the declaration, and may stand without one.
        wide = "UTF-16LE" if raw.startswith(b"<\0") else "UTF-16BE"
        encoding = wide if b"\0" in raw[:2] else self.encoding
        old = raw.decode(encoding, "replace")
        prefixes = {prefix or "": uri for prefix, uri in self.element.nsmap.items() if uri}
        new = to_tree(replace(job, prefixes=prefixes))
        if "\n" in old:
            line = before.decode(encoding, "replace").rpartition("\n")[2]
            text.put_on_lines(new, "\n" + (line if not line.strip(" \t") else ""))
        parent = self.element.getparent()
        written = _within({} if parent is None else parent.nsmap, new)
        if "\n" not in old:
            written = text.on_one_line(written)
        elif "\r\n" in old:
            written = written.replace("\n", "\r\n")
        return written.encode(encoding, "xmlcharrefreplace")


def _within(scope: Mapping[str | None, str], element: Element) -> str:
    """The text of an element where the prefixes of ``scope`` are declared already."""
    default = scope.get(None)
    if default and any(str(item.tag)[0] != "{" for item in element.iter(etree.Element)):
        # lxml does not write that there is no default namespace any more.
        head, name, rest = etree.tostring(element, encoding="unicode").partition(
            etree.QName(element).localname
        )
        return f'{head}{name} xmlns=""{rest}'
    shell = etree.Element("shell", None, dict(scope))
    shell.append(element)
    whole = etree.tostring(shell, encoding="unicode")
    return whole[whole.index(">") + 1 : whole.rindex("</")]


class _Copy:
    """Copies a stream, piece by piece, leaving out what is replaced."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._at = 0
        self._before = b""

    def until(self, end: int | None) -> Iterator[bytes]:
        """The bytes up to a place, or all that are left."""
        while end is None or self._at < end:
            size = CHUNK if end is None else min(CHUNK, end - self._at)
            if not (chunk := self._stream.read(size)):
                return
            self._at += len(chunk)
            self._before = (self._before + chunk)[-_TAIL:]
            yield chunk

    def replaced(self, end: int, home: _Home, job: Job) -> bytes:
        """A new job for the bytes up to a place, which are left out."""
        before = self._before
        return home.dressed(job, b"".join(self.until(end)), before)


class _Span(NamedTuple):
    """Where an outermost Job or JobGroup stands, and the jobs in a group, in bytes."""

    start: int
    end: int
    jobs: list[tuple[int, int]]
    encoding: str


_SEPARATOR = "}"  # expat gives names as "uri}local"
_JOB_TAGS = frozenset(tag for tag in pull.UNIT_TAGS if tag.endswith("Job"))
_JOBS = frozenset(tag.removeprefix("{") for tag in _JOB_TAGS)
_UNITS = frozenset(tag.removeprefix("{") for tag in pull.UNIT_TAGS)
_PARTS = frozenset(
    f"{namespace}{_SEPARATOR}{name}" if namespace else name
    for namespace in spec.NAMESPACES
    for name in spec.CONTAINER
) - _UNITS  # fmt: skip
_NEXT_DOCUMENT = (
    expat.errors.codes[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT],
    expat.errors.codes[expat.errors.XML_ERROR_MISPLACED_XML_PI],
)


def _spans(stream: BinaryIO) -> Iterator[_Span]:
    """The places of the outermost Jobs and JobGroups of a stream of documents."""
    outline, kept, end = _Outline(0), b"", 0
    while chunk := stream.read(CHUNK):
        kept, end = kept[-CHUNK:] + chunk, end + len(chunk)
        while (stop := outline.feed(chunk)) is not None:
            yield from outline.found
            chunk = kept[len(kept) - (end - stop) :]
            outline = _Outline(stop)
        yield from outline.found
        outline.found.clear()
    outline.close(end)
    yield from outline.found


class _Outline:
    """One document, of which only the places of jobs are looked at."""

    def __init__(self, base: int) -> None:
        self.found: list[_Span] = []
        self._base = base
        self._parser = parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.XmlDeclHandler = self._declared
        self._depth = self._unit = 0  # how deep we are, and the outermost object began
        self._is_group = self._is_part = False
        self._begun = self._job = 0
        self._encoding = "UTF-8"
        self._jobs: list[tuple[int, int]] = []
        self._ended = 0  # the depth of what has ended; the next event says where

    def feed(self, chunk: bytes) -> int | None:
        """Read on, and give the place where another document begins, if one does."""
        try:
            self._parser.Parse(chunk, False)
        except expat.ExpatError as error:
            at = self._base + self._parser.ErrorByteIndex
            if error.code in _NEXT_DOCUMENT and at > self._base:
                self._settle(at)
                return at
            raise _unreadable(error) from error
        return None

    def close(self, end: int) -> None:
        """The end of all documents."""
        try:
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise _unreadable(error) from error
        self._settle(end)

    def _declared(self, version: str, encoding: str | None, standalone: int) -> None:
        self._encoding = encoding or self._encoding

    def _start(self, name: str, attributes: object) -> None:
        at = self._here()
        self._depth += 1
        if not self._unit:
            self._is_part = self._depth == 1 and name in _PARTS
            if self._is_part or name in _UNITS:
                self._unit, self._begun, self._jobs = self._depth, at, []
                self._is_group = not self._is_part and name not in _JOBS
        elif self._is_group and self._depth == self._unit + 1 and name in _JOBS:
            self._job = at

    def _end(self, name: str) -> None:
        self._here()
        inner = self._is_group and self._depth == self._unit + 1 and name in _JOBS
        if inner or self._depth == self._unit:
            self._ended = self._depth
            # Whatever comes next: text and comments are only looked at for their place.
            self._parser.DefaultHandler = lambda data: self._here()
        self._depth -= 1

    def _here(self) -> int:
        at = self._base + self._parser.CurrentByteIndex
        self._settle(at)
        return at

    def _settle(self, at: int) -> None:
        """What has ended, if anything has, ended just before this place."""
        if not self._ended:
            return
        if self._ended > self._unit:
            self._jobs.append((self._job, at))
        else:
            if not self._is_part:
                self.found.append(_Span(self._begun, at, self._jobs, self._encoding))
            self._unit, self._is_group = 0, False
        self._ended = 0
        self._parser.DefaultHandler = None


def _unreadable(error: expat.ExpatError) -> UnreadableDocument:
    return UnreadableDocument(finding("E-XML", str(error)))
