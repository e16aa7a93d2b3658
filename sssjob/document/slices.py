"""Job objects with the bytes that they were read from: each is cut out, then parsed by itself.

So a document keeps every byte, and one that cannot be read does not hide the next, also inside of
a wrapper. What stands around the job objects is parsed like any document, with a mark in the
place of each. The answers are those of ``tree.units``; memory holds one job object at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import BinaryIO, NamedTuple, cast
from xml.sax.saxutils import quoteattr

from lxml import etree
from lxml.etree import _Element as Element

from sssjob.document import cause, tree
from sssjob.document.files import Source, opened
from sssjob.errors import UnreadableDocument, finding


class Slice(NamedTuple):
    """An outermost Job or JobGroup, a document by itself; ``document`` is its bytes in UTF-8.

    Namespaces that were declared around it are declared in it, if it uses them; else the bytes
    are those of the source. ``line`` counts from 1.
    """

    element: Element
    document: bytes
    line: int


_UNIT = rb"(?:[^\s<>/=:!?]+:)?(?:JobGroup|Job)"
_IS_UNIT = re.compile(_UNIT)
_PROLOG = re.compile(rb"(?>\s+|<\?.*?\?>|<!--.*?-->)*+", re.DOTALL)
_NAME = re.compile(rb"<([^\s<>/?!=]+)(?=[\s/>])")
_ENCODING = re.compile(rb"<\?xml[^>]*?\sencoding\s*=\s*[\"']([A-Za-z0-9._\-]+)[\"']")
_AS_IT_IS = (b"utf-8", b"utf8", b"us-ascii", b"ascii")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_HEAD = 4096  # bytes in which the name of a root is looked for
_READ = 1 << 18  # bytes read at once; fewer mean more copying of what is not used up
WRAPPER = "Jobs"  # the root that says by its name that jobs follow, if only none
_MARK = "sssjob-unit"  # stands for a job object in what is around them


@lru_cache(64)
def _tokens(root: bytes) -> re.Pattern[bytes]:
    """What may hide or end a job object: comments, CDATA, instructions, and the tags that count.

    The group ``open`` is what has begun and not ended in the bytes at hand.
    """
    names = _UNIT + (b"|" + re.escape(root) if root else b"")
    return re.compile(
        rb"<(?:!--.*?-->|!\[CDATA\[.*?\]\]>|\?.*?\?>"
        rb"|(?P<end>/?)(?P<name>" + names + rb")(?=[\s/>])"
        rb"(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+>"
        rb"|(?P<open>!--|!\[CDATA\[|\?|[^<>]{0,300}+\Z|/?(?:" + names + rb")(?=[\s/>])[^<]*+\Z))",
        re.DOTALL,
    )


def slices(source: Source, *, on_error: tree.OnError | None = None) -> Iterator[Slice]:
    """The outermost Jobs and JobGroups of a source, each cut out.

    Raises ``UnreadableDocument`` for the first that cannot be read, or hands it to ``on_error``
    and goes on behind it; what is wrong outside of job objects ends the source.
    """
    try:
        with opened(source) as stream:
            yield from _Cutter(stream, on_error).slices()
    except UnreadableDocument as error:
        if on_error is None:
            raise
        on_error(error)


class _Cutter:
    """Cuts a stream of documents, one after the other."""

    def __init__(self, stream: BinaryIO, on_error: tree.OnError | None) -> None:
        self._stream, self._on_error = stream, on_error
        self._parser = tree.safe_parser()
        self._data, self._at = b"", 0  # what was read, and how much of it is used up
        self.lines = 0  # lines that are used up
        self._found = False  # whether there was any document

    def slices(self) -> Iterator[Slice]:
        """All job objects; raises ``UnreadableDocument`` where the source cannot be followed."""
        self._more()
        if self._data.startswith(_BYTE_ORDER_MARK):
            self._at = len(_BYTE_ORDER_MARK)
        while (prolog := self._prolog()) is not None:
            encoding = _ENCODING.search(prolog) if b"encoding" in prolog else None
            if b"\0" in self.rest(_HEAD) or (encoding and encoding[1].lower() not in _AS_IT_IS):
                yield from self._as_utf8(prolog)
                return
            name = _NAME.match(self._data, self._at)
            if name is None:
                self._pass_line()
            elif _IS_UNIT.fullmatch(name[1]):
                yield from self._alone(prolog)
            else:
                yield from _Wrapper(self, name[1]).slices()
            self._found = True
        if not self._found:
            raise UnreadableDocument(finding("E-XML", "the document is empty"))

    def next(
        self, pattern: re.Pattern[bytes], after: int = 0
    ) -> tuple[re.Match[bytes], int] | None:
        """The next token, and where it begins; places count from what is not used up yet."""
        while True:
            found = pattern.search(self._data, self._at + after)
            if found is not None and found["open"] is None:
                return found, found.start() - self._at
            after = (len(self._data) if found is None else found.start()) - self._at
            if after > tree.OBJECT_LIMIT:
                tree.refuse_too_large(after, 0, self.lines)
            if not self._more():
                return None

    def unit(self, found: re.Match[bytes], before: bytes) -> bytes:
        """The job object that begins with a tag, where what is not used up begins; and use it.

        One whose end is missing ends where another begins that stands as far into its line.
        """
        if found[0].endswith(b"/>"):
            return self.use(len(found[0]))
        pattern, depth, after = _tokens(b""), 1, len(found[0])
        margin = _margin(before)
        while (token := self.next(pattern, after)) is not None:
            tag, start = token
            after = start + len(tag[0])
            if tag["name"] is None:
                continue
            if tag["end"]:
                depth -= 1
                if depth == 0:
                    return self.use(after)
            elif tag["name"] == found["name"] and self._is_sibling(margin, start):
                return self.use(start)
            else:
                depth += not tag[0].endswith(b"/>")
        return self.use(len(self.rest()))

    def _is_sibling(self, margin: bytes | None, start: int) -> bool:
        """Whether what begins at a place begins its line behind the same margin."""
        return margin is not None and _margin(self.rest(start)) == margin

    def cut(self, document: bytes, line: int, scope: dict[str | None, str]) -> Iterator[Slice]:
        """The job object in some bytes; ``scope`` are the namespaces declared around it."""
        document = _declared(document, scope) if scope else document
        try:
            if len(document) > tree.TOKEN_LIMIT:
                tree.refuse_too_large(len(document), tree.markup_of(document), line - 1)
            try:
                root = etree.fromstring(document, self._parser)
            except etree.XMLSyntaxError:
                root = tree.parse(document)
        except UnreadableDocument as error:
            self.report(UnreadableDocument(tree.below(error.finding, line - 1)))
            return
        if root.tag in tree.UNIT_TAGS:
            yield Slice(root, document, line)
            return
        # An element of another namespace that has the same name, and perhaps jobs inside.
        for unit in tree.units(document):
            if unit.tag in tree.UNIT_TAGS:
                yield _copied(unit, line - 1)

    def use(self, count: int) -> bytes:
        """Use up so many bytes."""
        used = self._data[self._at : self._at + count]
        self._at += count
        self.lines += used.count(b"\n")
        return used

    def rest(self, count: int | None = None) -> bytes:
        """What was read and is not used up, or so many bytes of it."""
        return self._data[self._at : None if count is None else self._at + count]

    def _more(self) -> bool:
        """Read on, as much again as is waiting, so that nothing is looked at too often."""
        waiting = self._data[self._at :]
        chunk = self._stream.read(max(_READ, len(waiting)))
        self._data, self._at = waiting + chunk, 0
        return bool(chunk)

    def _prolog(self) -> bytes | None:
        """Use up what comes before the next root; None if nothing comes any more."""
        while True:
            prolog = _PROLOG.match(self._data, self._at)
            assert prolog is not None
            size = prolog.end() - self._at
            head = self._data[prolog.end() : prolog.end() + _HEAD]
            is_open = len(head) < _HEAD or head.startswith((b"<?", b"<!--"))
            if is_open and self._more():
                continue
            used = self.use(size)
            if head.startswith(b"<!DOCTYPE"):
                raise cause.doctype(self.lines + 1)
            return used if head else None

    def _alone(self, prolog: bytes) -> Iterator[Slice]:
        """A document that is a job object."""
        token = self.next(_tokens(b""))
        if token is None or token[1]:
            self._pass_line()
            return
        line = self.lines + 1
        yield from self.cut(self.unit(token[0], prolog), line, {})

    def _pass_line(self) -> None:
        """Tell what is wrong with a line that is no document, and go on behind it."""
        end = self.rest().find(b"\n")
        line, offset = self.use(end + 1 if end >= 0 else len(self.rest())), self.lines
        offset -= line.count(b"\n")
        try:
            tree.parse(line)
        except UnreadableDocument as error:
            below = UnreadableDocument(tree.below(error.finding, offset))
            if not self._found:
                raise below from error
            self.report(below)

    def report(self, error: UnreadableDocument) -> None:
        """Tell of what cannot be read, and go on."""
        if self._on_error is None:
            raise error
        self._on_error(error)

    def _as_utf8(self, prolog: bytes) -> Iterator[Slice]:
        """What is left, in another encoding: it is written anew, as it was parsed."""
        offset = self.lines - prolog.count(b"\n")
        rest = cast(BinaryIO, _Chained(prolog + self.rest(), self._stream))
        for unit, lines in tree.located(rest, on_error=self._on_error):
            if unit.tag in tree.UNIT_TAGS:
                yield _copied(unit, offset + lines)


class _Wrapper:
    """A document with job objects inside: what is around them is parsed with marks for them."""

    def __init__(self, cutter: _Cutter, root: bytes) -> None:
        self._cutter, self._pattern, self._offset = cutter, _tokens(root), cutter.lines
        self._name = root
        self._parser = etree.XMLPullParser(
            events=("start",), tag=f"{{*}}{_MARK}",
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False,
        )  # fmt: skip

    def slices(self) -> Iterator[Slice]:
        """The job objects; ends behind the end of the root."""
        cutter, depth, found, before = self._cutter, 0, False, b""
        while (token := cutter.next(self._pattern)) is not None:
            tag, start = token
            if tag["name"] is None or not _IS_UNIT.fullmatch(tag["name"]) or tag["end"]:
                before = cutter.use(start + len(tag[0]))
                self._feed(before)
                if tag["name"] == self._name:
                    depth += -1 if tag["end"] else not tag[0].endswith(b"/>")
                    if depth == 0:
                        break
                continue
            before = before + cutter.use(start)
            self._feed(before[len(before) - start :])
            line = cutter.lines + 1
            document = cutter.unit(tag, before)
            scope = self._mark(document)
            before = b""
            if scope is not None:
                found = True
                yield from cutter.cut(document, line, scope)
        else:
            self._feed(cutter.use(len(cutter.rest())))
        self._close(found)

    def _feed(self, data: bytes) -> None:
        try:
            self._parser.feed(data)
        except etree.XMLSyntaxError as error:
            raise cause.unreadable(error, offset=self._offset) from error

    def _mark(self, document: bytes) -> dict[str | None, str] | None:
        """Leave a mark for a job object, and give the namespaces declared around it.

        None if a job object does not count here, because it stands inside a part of one.
        """
        lines = b"\n" * document.count(b"\n")  # so that places behind it stay what they are
        self._feed(b"<" + _MARK.encode() + lines + b"/>")
        for _, mark in self._parser.read_events():
            parent = mark.getparent()
            assert parent is not None  # the root is another element
            while parent[0] is not mark:
                del parent[0]
            if mark.getroottree().docinfo.internalDTD is not None:
                raise cause.doctype(self._offset + 1)
            is_part = mark.getroottree().getroot().tag in tree.PART_TAGS
            return None if is_part else dict(parent.nsmap)
        message = "a job object where none can be"
        raise UnreadableDocument(finding("E-XML", message, line=self._cutter.lines + 1))

    def _close(self, found: bool) -> None:
        try:
            root = self._parser.close()
        except etree.XMLSyntaxError as error:
            first = next(iter(self._parser.feed_error_log), error)
            raise cause.unreadable(first, offset=self._offset) from error
        name = etree.QName(root).localname
        if not found and (name != WRAPPER or len(root)):
            message = f"<{name}> is no Job or JobGroup and holds none"
            line = self._offset + (root.sourceline or 1)
            self._cutter.report(UnreadableDocument(finding("E-UNKNOWN", message, line=line)))


class _Chained:
    """Bytes that were read already, and the rest of their stream, as one stream."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head, self._stream = head, stream

    def peek(self, size: int) -> bytes:
        """The first bytes, if there are any."""
        return self._head[:size]

    def read(self, size: int) -> bytes:
        """Up to so many bytes."""
        if self._head:
            given, self._head = self._head[:size], self._head[size:]
            return given
        return self._stream.read(size)


def _margin(before: bytes) -> bytes | None:
    """The white space in front of what begins a line; None if it does not begin one."""
    margin = before[before.rfind(b"\n") + 1 :]
    return margin if not margin.strip() and (margin or b"\n" in before or not before) else None


def _declared(document: bytes, scope: dict[str | None, str]) -> bytes:
    """A job object that declares what it uses of the namespaces declared around it."""
    name = _NAME.match(document)
    assert name is not None
    tag = document[: document.index(b">")]
    added = b""
    for prefix, uri in scope.items():
        attribute = b"xmlns:" + prefix.encode() if prefix else b"xmlns"
        is_used = not prefix or re.search(rb"(?<![\w.-])" + prefix.encode() + b":", document)
        if is_used and not re.search(rb"\s" + re.escape(attribute) + rb"\s*=", tag):
            added += b" " + attribute + b"=" + quoteattr(uri).encode()
    return document[: name.end()] + added + document[name.end() :]


def _copied(unit: Element, offset: int) -> Slice:
    """A job object as a document of its own, written anew."""
    document = etree.tostring(unit, encoding="utf-8", with_tail=False, xml_declaration=False)
    return Slice(unit, document, (unit.sourceline or 0) + offset)
