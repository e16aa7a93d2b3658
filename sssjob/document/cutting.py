"""Where job objects begin and end in a stream of bytes, before anybody has parsed them.

Only the tags of Jobs, JobGroups and the root are looked at, and what may hide them. What stands
around the job objects is parsed like any document, with a mark in the place of each; so what is
cut out is what a parser would find, unless it is broken by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import BinaryIO, NamedTuple, cast

from lxml import etree
from lxml.etree import _Element as Element

from sssjob.document import cause, limits, pull, tree
from sssjob.document.text import quoted
from sssjob.errors import UnreadableDocument, finding


class Piece(NamedTuple):
    """The bytes of what looks like a job object, and the line on which it begins."""

    document: bytes
    line: int


Cut = Piece | UnreadableDocument

_UNIT = rb"(?:[^\s<>/=:!?]+:)?(?:JobGroup|Job)"
_IS_UNIT = re.compile(_UNIT)
# What may hide an end, or another begin; each alternative has a text that is looked for first.
_HIDING = re.compile(rb"<!|<\?|<Job(?:Group)?[\s/>]|:Job(?:Group)?[\s/>]")
_BEGIN = re.compile(rb"\s*+(<(" + _UNIT + rb")(?:\s++(?:[^<>\"'/]++|\"[^\"<]*+\"|'[^'<]*+')*+)?>)")
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


class Cutter:
    """Cuts a stream of documents, one after the other."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._data, self._at = b"", 0  # what was read, and how much of it is used up
        self.lines = 0  # lines that are used up
        self._found = False  # whether there was any document

    def pieces(self) -> Iterator[Cut]:
        """All job objects, and what cannot be read between them.

        Raises ``UnreadableDocument`` where the source cannot be followed any more.
        """
        self._more()
        if self._data.startswith(_BYTE_ORDER_MARK):
            self._at = len(_BYTE_ORDER_MARK)
        while True:
            yield from self._run()
            if (prolog := self._prolog()) is None:
                break
            encoding = _ENCODING.search(prolog) if b"encoding" in prolog else None
            if b"\0" in self.rest(_HEAD) or (encoding and encoding[1].lower() not in _AS_IT_IS):
                yield from self._as_utf8(prolog)
                return
            name = _NAME.match(self._data, self._at)
            if name is None:
                yield self._wrong_line()
            elif _IS_UNIT.fullmatch(name[1]):
                yield self._alone(prolog)
            else:
                yield from _Wrapper(self, name[1]).pieces()
            self._found = True
        if not self._found:
            raise UnreadableDocument(finding("E-XML", "the document is empty"))

    def _run(self) -> Iterator[Piece]:
        """Job objects one after the other with nothing but space between them, as far as they go.

        What this sees is what the other methods would see, sooner.
        """
        while (begin := _BEGIN.match(self._data, self._at)) is not None:
            tag, name = begin.span(1), begin[2]
            end = self._data.find(b"</" + name + b">", tag[1])
            if end < 0 or _HIDING.search(self._data, tag[1], end):
                return
            self.use(tag[0] - self._at)
            line = self.lines + 1
            self._found = True
            yield Piece(self.use(end + len(name) + 3 - self._at), line)

    def next(
        self, pattern: re.Pattern[bytes], after: int = 0
    ) -> tuple[re.Match[bytes], int] | None:
        """The next token, and where it begins; places count from what is not used up yet."""
        while True:
            found = pattern.search(self._data, self._at + after)
            if found is not None and found["open"] is None:
                return found, found.start() - self._at
            after = (len(self._data) if found is None else found.start()) - self._at
            if not self._more():
                return None

    def unit(self, found: re.Match[bytes], before: bytes) -> bytes:
        """The job object that begins with a tag, where what is not used up begins; and use it.

        One whose end is missing ends where another begins that stands as far into its line.
        """
        if found[0].endswith(b"/>"):
            return self.use(len(found[0]))
        if (end := self._plain_end(found)) is not None:
            return self.use(end)
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
        line = self._data[self._at + max(start - _HEAD, 0) : self._at + start]
        return margin is not None and _margin(line) == margin

    def _plain_end(self, found: re.Match[bytes]) -> int | None:
        """The end of a job object that hides nothing, which is most of them, and fast to see."""
        end = self._data.find(b"</" + found["name"] + b">", self._at)
        if end < 0 or _HIDING.search(self._data, self._at + len(found[0]), end):
            return None
        return end + len(found["name"]) + len(b"</>") - self._at

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
        if len(waiting) > limits.OBJECT_LIMIT:
            limits.refuse_too_large(len(waiting), 0, self.lines)
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

    def _alone(self, prolog: bytes) -> Cut:
        """A document that is a job object."""
        token = self.next(_tokens(b""))
        if token is None or token[1]:
            return self._wrong_line()
        line = self.lines + 1
        return Piece(self.unit(token[0], prolog), line)

    def _wrong_line(self) -> UnreadableDocument:
        """Use up a line that is no document, and tell what is wrong with it."""
        end = self.rest().find(b"\n")
        line, offset = self.use(end + 1 if end >= 0 else len(self.rest())), self.lines
        offset -= line.count(b"\n")
        try:
            tree.parse(line)
        except UnreadableDocument as error:
            below = UnreadableDocument(tree.below(error.finding, offset))
            if not self._found:
                raise below from error
            return below
        message = "a tag that does not end"
        return UnreadableDocument(finding("E-XML", message, line=offset + 1))

    def _as_utf8(self, prolog: bytes) -> Iterator[Cut]:
        """What is left, in another encoding: it is written anew, as it was parsed."""
        offset = self.lines - prolog.count(b"\n")
        rest = cast(BinaryIO, _Chained(prolog + self.rest(), self._stream))
        bad: list[UnreadableDocument] = []
        for unit, lines in tree.located(rest, on_error=bad.append):
            yield from (UnreadableDocument(tree.below(each.finding, offset)) for each in bad)
            bad.clear()
            if unit.tag in pull.UNIT_TAGS:
                yield copied(unit, offset + lines)
        yield from (UnreadableDocument(tree.below(each.finding, offset)) for each in bad)


class _Wrapper:
    """A document with job objects inside: what is around them is parsed with marks for them."""

    def __init__(self, cutter: Cutter, root: bytes) -> None:
        self._cutter, self._pattern, self._offset = cutter, _tokens(root), cutter.lines
        self._name = root
        self._parser = etree.XMLPullParser(
            events=("start",), tag=f"{{*}}{_MARK}",
            resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False,
        )  # fmt: skip

    def pieces(self) -> Iterator[Cut]:
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
                yield Piece(_declared(document, scope) if scope else document, line)
        else:
            self._feed(cutter.use(len(cutter.rest())))
        yield from self._close(found)

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
            is_part = mark.getroottree().getroot().tag in pull.PART_TAGS
            return None if is_part else dict(parent.nsmap)
        message = "a job object where none can be"
        raise UnreadableDocument(finding("E-XML", message, line=self._cutter.lines + 1))

    def _close(self, found: bool) -> Iterator[UnreadableDocument]:
        try:
            root = self._parser.close()
        except etree.XMLSyntaxError as error:
            first = next(iter(self._parser.feed_error_log), error)
            raise cause.unreadable(first, offset=self._offset) from error
        name = etree.QName(root).localname
        if not found and (name != WRAPPER or len(root)):
            message = f"<{name}> is no Job or JobGroup and holds none"
            line = self._offset + (root.sourceline or 1)
            if pull.is_stranger(root):
                yield cause.foreign(name, etree.QName(root).namespace or "", line)
                return
            yield UnreadableDocument(finding("E-UNKNOWN", message, line=line))


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
            added += b" " + attribute + b"=" + quoted(uri).encode()
    return document[: name.end()] + added + document[name.end() :]


def copied(unit: Element, offset: int) -> Piece:
    """A job object as a document of its own, written anew; ``offset`` lines are before it."""
    document = etree.tostring(unit, encoding="utf-8", with_tail=False, xml_declaration=False)
    return Piece(document, (unit.sourceline or 0) + offset)
