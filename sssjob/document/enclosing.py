"""What stands around job objects: parsed without them, so that it is known what holds for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count, takewhile
from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from sssjob.document import limits, parsing
from sssjob.document.encodings import UTF8
from sssjob.document.meant import Around
from sssjob.document.outermost import FILE_TAGS
from sssjob.document.parsing import ParserError, SourcePlace
from sssjob.document.places import ATTRIBUTE, attributes, inside_of, split
from sssjob.errors import UnreadableDocument, finding

_MARK = "_"  # the name of what stands for a job object; no job object is shorter
_MARKED = b"<_/>"
_TAGS = (f"{{*}}{_MARK}", *FILE_TAGS)
_SOME = 1 << 20
_XML = "http://www.w3.org/XML/1998/namespace"


@dataclass(frozen=True, slots=True, eq=False)
class EnclosingTags:
    """The tags around job objects, on one line and one in the other, and how they are encoded.

    Without tags, a job object is a document by itself. ``origin`` is the encoding of the source,
    if it was decoded. ``elements`` are those whose tags they are.
    """

    before: bytes = b""
    after: bytes = b""
    encoding: str = UTF8
    origin: str = ""
    elements: Around = ()

    @property
    def depth(self) -> int:
        """How many tags there are."""
        return self.after.count(b"<")

    def is_sound(self, data: bytes) -> bool:
        """Whether bytes are well-formed here."""
        try:
            parsing.parsed(self.before + data + self.after, self.encoding)
        except etree.XMLSyntaxError:
            return False
        return True


ALONE = EnclosingTags()


class FileBeside(NamedTuple):
    """A File with its id as it is written, the elements around it, and its other attributes.

    ``line`` is 0 where it is not known.
    """

    id: str
    content: bytes
    around: Around
    others: tuple[str, ...] = ()
    line: int = 0


class FilesBeside(NamedTuple):
    """Files that stand beside the job objects of a document.

    They come where they stand, behind job objects before them. ``is_new`` begins a document: what
    comes behind has nothing to do with job objects before it.
    """

    files: tuple[FileBeside, ...] = ()
    is_new: bool = False


class Skeleton:
    """One document without its job objects, fed as it comes; white space stands for them."""

    def __init__(self, encoding: str, origin: str, place: SourcePlace) -> None:
        self.offset = place.line - 1  # lines before the document
        self._encoding, self._origin = encoding, origin
        self._parser = parsing.pull_parser(encoding, _TAGS)
        self._files: list[FileBeside] = []  # that were not taken yet
        self._open: list[tuple[Element, int]] = []  # around what came last, and their numbers
        self._numbers = count()
        self._place = SourcePlace(0, place.line, 1)  # how far it was fed
        self._fed, self._fed_at = b"", place  # at last
        self._begin, self._begun = place, bytearray()  # all before the first mark
        self._lag = self._fed_lag = 0  # columns that the parser was not told of this line
        # What is wrong, in its place: only while it is fed is known where its columns are.
        self._faults: list[UnreadableDocument] = []
        self._logged = self._noted = self._told = 0  # of its log, its errors, and the faults
        self._parent: Element | None = None  # of the last mark
        self._around = ALONE
        self._size = self._nodes = self._blank = 0  # since the last mark, or tag

    def feed(self, data: bytes, place: SourcePlace, end: SourcePlace) -> None:
        """Take bytes that stand from one place to another. Raises ``UnreadableDocument``."""
        self._bound(data, place)
        self.skip(data)
        self._take(self._filler(place))
        self._fed, self._fed_at, self._fed_lag = data, place, self._lag
        self._take(data)
        self._lag = 0 if b"\n" in data else self._lag
        self._place = end

    def skip(self, blank: bytes) -> None:
        """Know of white space, which is not fed, before a place where something is."""
        if self._parent is None and len(self._begun) < limits.AROUND_LIMIT:
            self._begun += blank

    def begin(self) -> None:
        """Number what was fed, which is the first tags: job objects in there were read before."""
        self._take(_MARKED)
        self._lag -= len(_MARKED)  # nothing stands there
        for _, mark in self._parser.read_events():
            self._around_of(mark)

    def mark(self, place: SourcePlace) -> EnclosingTags:
        """What is around a job object that stands at a place. Raises ``UnreadableDocument``."""
        self._take(self._filler(place))
        self._look()  # also for elements that are called like a mark
        self._take(_MARKED)
        self._place = place.behind(_MARKED)
        self._size = self._nodes = 0
        mark = next((mark for _, mark in self._parser.read_events()), None)
        parent = None if mark is None else mark.getparent()
        if mark is None or parent is None:
            # lxml may have forgotten what is wrong with the first tag, and begun another document.
            begun = bytes(self._begun) if self._parent is None else b""
            if (fault := parsing.fault(begun, self._encoding) if begun else None) is not None:
                raise parsing.refusal(fault, begun, self._begin, self._encoding)
            try:
                self._parser.close()  # it may wait for what ends an entity
            except etree.XMLSyntaxError as error:
                raise self._first(error) from error
            message = "a job object where none can be"
            raise UnreadableDocument(finding("E-XML", message, line=place.line))
        while parent[0] is not mark:
            del parent[0]
        if parent is not self._parent:
            if (untold := self._untold()) and any(map(_is_unbound, _chain(parent))):
                raise untold[0]
            self._parent = parent
            around = _around(parent, self._encoding, self._origin, place.line)
            self._around = replace(around, elements=self._around_of(mark))
        return self._around

    def files(self) -> tuple[FileBeside, ...]:
        """The Files since this was asked last."""
        found, self._files = tuple(self._files), []
        return found

    def complaints(self) -> Iterator[UnreadableDocument]:
        """What is wrong with it and was not told, though it could be read on."""
        for fault in self._untold():
            self._told += 1
            yield fault

    def close(self, place: SourcePlace) -> Element | None:
        """The root, unless what was told is wrong with it. Raises ``UnreadableDocument``."""
        self._take(self._filler(place))
        self._look()
        self._fed, self._fed_at, self._fed_lag = b"", place, self._lag
        try:
            return self._parser.close()
        except etree.XMLSyntaxError as error:
            # What lxml says may be what was told already.
            if not self._untold() and self._told:
                return None
            raise self._first(error) from error

    def _look(self) -> None:
        """Keep the Files that have ended; a mark of ours is none."""
        for event, element in self._parser.read_events():
            if event == "end" and element.tag in FILE_TAGS:
                around = self._around_of(element)
                content = inside_of(element).encode()
                others = tuple(name for name in attributes(element) if name != "id")
                line = element.sourceline + self.offset if element.sourceline else 0
                id_ = element.get("id", "")
                self._files.append(FileBeside(id_, content, around, others, line))

    def _around_of(self, element: Element) -> Around:
        """The elements around one that came last; what they were called they stay."""
        chain = _chain(element)[:-1]
        known = zip(chain, self._open, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1][0], known))
        self._open = self._open[:same] + [(each, next(self._numbers)) for each in chain[same:]]
        return tuple(number for _, number in self._open)

    def _take(self, data: bytes) -> None:
        try:
            for start in range(0, len(data), _SOME):  # libxml2 refuses too much at once
                self._parser.feed(data[start : start + _SOME])
        except etree.XMLSyntaxError as error:
            raise self._first(error) from error
        # lxml does not always raise what ends a document, and begins another one then.
        if (untold := self._untold()) and self._parser.feed_error_log.filter_from_fatals():
            raise untold[0]

    def _first(self, error: etree.XMLSyntaxError) -> UnreadableDocument:
        """The first error that was not told: what the parser kept to itself is the cause."""
        return next(iter(self._untold()), None) or self._refusal(parsing.fault_of(error))

    def _untold(self) -> list[UnreadableDocument]:
        log = self._parser.feed_error_log
        if len(log) != self._logged:
            self._logged, said = len(log), [*parsing.faults(log)]
            new = said[self._noted :] if self._noted < len(said) else said  # of another document
            self._faults += map(self._refusal, new)
            self._noted = len(said)
        return self._faults[self._told :]

    def _filler(self, place: SourcePlace) -> bytes:
        """Lines up to a place, so that what comes there is told there."""
        lines = place.line - self._place.line
        self._lag = place.column - 1 if lines else self._lag + place.column - self._place.column
        if lines < _SOME:  # almost always, and for each tag: what follows makes a long text first
            return b"\n" * lines
        # libxml2 refuses a text that is too long.
        return (b"<!---->" + b"\n" * _SOME) * (lines // _SOME) + b"\n" * (lines % _SOME)

    def _refusal(self, said: ParserError) -> UnreadableDocument:
        """An error in its place, which is looked for in what was fed at last."""
        line = self.offset + said.line - self._fed_at.line + 1
        column = said.column - (self._fed_at.column - self._fed_lag - 1 if line == 1 else 0)
        there = said._replace(line=line, column=column, offset=self.offset)
        return parsing.refusal(there, self._fed, self._fed_at, self._encoding)

    def _bound(self, data: bytes, place: SourcePlace) -> None:
        """Refuse too much of it between two job objects."""
        self._size += len(data)
        self._nodes += limits.nodes_of(data)
        tag = data.rfind(b"<")
        self._blank = self._blank + len(data) if tag < 0 else len(data) - tag
        if self._blank > limits.TOKEN_LIMIT:
            raise limits.without_tag(place.line - 1)
        if self._size > limits.TOKEN_LIMIT:
            limits.refuse_too_large(self._size, self._nodes, place.line - 1)


def _chain(element: Element) -> list[Element]:
    """The elements from the root down to one."""
    return [element, *element.iterancestors()][::-1]


def _around(parent: Element, encoding: str, origin: str, line: int) -> EnclosingTags:
    """The tags around what stands in an element, written anew. Raises ``UnreadableDocument``."""
    before, after = "", ""
    scope: dict[str | None, str] = {}
    for element in _chain(parent):
        declared = {prefix: uri or "" for prefix, uri in element.nsmap.items()}
        prefixes = {uri: prefix for prefix, uri in declared.items() if prefix}
        name = f"{element.prefix}:{split(str(element.tag))[1]}" if element.prefix else (
            split(str(element.tag))[1]
        )  # fmt: skip
        shown = [
            (f"xmlns:{prefix}" if prefix else "xmlns", uri)
            for prefix, uri in declared.items()
            if uri != scope.get(prefix, "")
        ] + [(_written(key, prefixes), value) for key, value in attributes(element).items()]
        written = (f' {key}="{value.translate(ATTRIBUTE)}"' for key, value in shown)
        before += f"<{name}{''.join(written)}>"
        after = f"</{name}>{after}"
        scope = declared
    if len(before) > limits.AROUND_LIMIT:
        text = f"more than {limits.AROUND_LIMIT >> 10} KiB of tags around a job object"
        raise limits.too_large(text, line - 1)
    tags, ends = (text.encode(encoding, "xmlcharrefreplace") for text in (before, after))
    return EnclosingTags(tags, ends, encoding, origin)


def _written(key: str, prefixes: Mapping[str, str]) -> str:
    """The name of an attribute with a prefix of its namespace."""
    namespace, name = split(key)
    if not namespace:
        return name
    if namespace == _XML:
        return f"xml:{name}"
    return f"{prefixes[namespace]}:{name}"


def _is_unbound(element: Element) -> bool:
    """Whether a prefix of an element or its attributes is declared nowhere."""
    return any(":" in name and name[0] != "{" for name in (str(element.tag), *element.keys()))
