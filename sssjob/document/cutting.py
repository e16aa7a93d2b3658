"""Where documents and job objects begin and end in a stream of bytes, before they are parsed.

Strategy. A parser that is fed a stream costs several times as much as one that is given whole
pieces; but where a job object ends can only be told by who knows what is a tag and what is a text.

The idea is to look at few tags, those of Jobs, JobGroups and the root, and at what may hide them:
comments, CDATA, instructions. What stands around job objects goes through a parser, with a mark in
the place of some of them, which tells what is declared there.

Why it is right: in a well-formed document a job object is cut where a parser sees it begin and
end, and the document is well-formed if all that was cut and all around it is. In a broken one, an
end that is missing is guessed: where the next job object begins that stands as far into its line.
"""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import BinaryIO, NamedTuple, cast

from lxml import etree
from lxml.etree import _Element as Element

from sssjob.document import cause, encodings, limits, parsing
from sssjob.document.enclosing import ALONE, EnclosingTags, FilesBeside, Skeleton
from sssjob.document.encodings import DECLARATION
from sssjob.document.limits import SPACE
from sssjob.document.outermost import PART_TAGS, TAGS
from sssjob.document.parsing import BYTE_ORDER_MARK, START, SourcePlace
from sssjob.document.places import ATTRIBUTE
from sssjob.errors import UnreadableDocument, Window, finding


class Piece(NamedTuple):
    """The bytes of what looks like a job object; without its end, it is certainly none.

    ``end`` is the number of bytes up to its end in the source, -1 if that is not known.
    """

    data: bytes
    place: SourcePlace
    end: int
    around: EnclosingTags = ALONE
    has_end: bool = True


class Other(NamedTuple):
    """The root of a document without any job object, and how many lines are before it."""

    root: Element
    offset: int


class WholeDocument(NamedTuple):
    """The bytes of one document, with its prolog and with what comes behind its root.

    Where that is faulty (``is_faulty``), it is not with them: what is wrong with the document
    itself comes first.
    """

    data: bytes
    place: SourcePlace
    encoding: str
    is_first: bool = False
    is_faulty: bool = False


Cut = Piece | Other | WholeDocument | FilesBeside | UnreadableDocument


class _Prolog(NamedTuple):
    """What comes before a root, where, and what before that still belongs to the last document."""

    data: bytes
    place: SourcePlace
    epilog: bytes


_READ = 1 << 18  # bytes read at once; fewer mean more copying of what is not used up
_HEAD = 4096  # bytes in which the name of a root is looked for
_MUCH_SPACE = 1 << 16  # bytes

_UNIT = rb"(?:[^\s<>/=:!?]+:)?(?:JobGroup|Job)"
_IS_UNIT = re.compile(_UNIT)
_REST_OF_TAG = rb"(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+'|(?!))*+>"
# A tag that has not ended, though what stands in quotes may look like its end.
_CUT = re.compile(rb"<(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+'|(?!))*+(?:[\"'][^<]*+)?\Z")
_BEGIN = re.compile(
    rb"[ \t\r\n]*+(?P<tag><(?P<name>" + _UNIT + rb")(?=[\s/>])" + _REST_OF_TAG + rb")"
)
_HIDING = (b"<!", b"<?", b"<Job", b":Job")  # what may hide the end of a job object
_PROLOG = re.compile(rb"(?>[ \t\r\n]+|<\?.*?\?>|<!--.*?-->|(?!))*+", re.DOTALL)
_ITEM = re.compile(rb"<\?.*?\?>|<!--.*?-->", re.DOTALL)
_NAME = re.compile(rb"<([^\s<>/?!=]+)(?=[\s/>])")
_PARTS = frozenset(tag.rpartition("}")[2].encode() for tag in PART_TAGS)
_XMLNS = re.compile(rb"\sxmlns:?([^\s=]*)\s*=")
_PREFIX = re.compile(rb"(?<![\w.\-\x80-\xff])([\w.\-\x80-\xff]++):")
_ROOT = b"<_/>"  # stands for the root where only what is around it is looked at

Token = tuple[re.Match[bytes], int]


@lru_cache(64)
def _tokens(names: bytes) -> re.Pattern[bytes]:
    """Comments, CDATA, instructions, and the tags of some names.

    The groups ``open`` and ``cut`` are what has begun and not ended in the bytes at hand, ``bad``
    is a tag in which another one begins.
    """
    return re.compile(
        rb"<(?:!--.*?-->|!\[CDATA\[.*?\]\]>|\?.*?\?>"
        rb"|(?P<end>/?)(?P<name>" + names + rb")(?=[\s/>])"
        rb"(?:" + _REST_OF_TAG + rb"|(?P<cut>[^<]*+\Z)|(?P<bad>[^<>]*+(?=[<>])))"
        rb"|(?P<open>!--|!\[CDATA\[|\?|[^<>]{0,300}+\Z))",
        re.DOTALL,
    )


class DocumentCutter:
    """Cuts a stream of documents, one after the other.

    ``head`` is what was read of the stream already, ``place`` where that begins. With an
    ``encoding`` everything is in that one, whatever it declares. ``behind`` is the encoding of a
    document that comes before, whose comments may come first.
    """

    def __init__(
        self, stream: BinaryIO, head: bytes = b"", place: SourcePlace = START, encoding: str = "",
        behind: str = "",
    ) -> None:  # fmt: skip
        self._stream = stream
        self._data, self._at = head, 0  # what was read, and how much of it is used up
        self._known: dict[bytes, int] = {}  # where in it some bytes come next
        self._start, self._line, self._column = place
        self._margin: bytes | None = b"" if place.column == 1 else None  # of this line, if blank
        self._origin = ""  # the encoding from which what is read was decoded
        self._forced = encoding
        self._encoding = encoding or behind or encodings.UTF8  # of the present document
        self._blank = 0  # bytes of white space since the last document
        self._found = bool(behind)  # whether there was any document
        self._is_broken = False  # whether an end was missing: then others may be
        self._has_ended = False
        self._kept: _KeptBytes | None = None  # of a document that is wanted as a whole
        self._last = (0, b"")  # the size of the last one given so, and all read behind its root
        self._holds_documents = False
        self._mark = False  # whether there was a byte order mark of UTF-8
        self.is_open = False  # whether the bytes ended inside of a document
        self.begun = place.start  # where the last document begins, by itself or behind others

    @property
    def place(self) -> SourcePlace:
        """Where what is not used up begins."""
        return SourcePlace(self._start, self._line, self._column)

    @property
    def encoding(self) -> str:
        """The encoding of the last document."""
        return self._encoding

    def cuts(self) -> Iterator[Cut]:
        """All job objects, documents without any, and what cannot be read between them.

        Raises ``UnreadableDocument`` where the source cannot be followed any more.
        """
        self._begin()
        while True:
            if self._kept is None:
                yield from self._undeclared()
            yield from self._document()
            if self._has_ended:
                break
        self._refuse_nothing()

    def within(self, before: bytes) -> Iterator[Cut]:
        """The same from the middle of the first document, whose first tags are ``before``."""
        self._mark = before.startswith(BYTE_ORDER_MARK)
        before = before.removeprefix(BYTE_ORDER_MARK)
        prolog = _PROLOG.match(before)
        assert prolog is not None
        self._check(b"", prolog[0] + _ROOT, START)
        self._found = True
        tags = re.findall(rb"<([^\s<>/?!]+)", before)
        wrapper = _Wrapper(self, tags[0], self._encoding, self._origin, START)
        wrapper.resume(before, tags.count(tags[0]))
        yield from wrapper.cuts()
        yield from self.cuts()

    def documents(self) -> Iterator[WholeDocument | UnreadableDocument]:
        """Each document as it stands, and what cannot be read between them."""
        self._holds_documents = True
        self._begin()
        while (prolog := self._prolog()) is not None:
            is_first, name = not self._found, self._next_name()
            if name is None:
                yield self._wrong_line()
                self._found = True
                continue
            self._found, is_faulty = True, False
            data = prolog.data + self.use(self._root(name))
            self._kept = used = _KeptBytes()
            try:
                behind = self._epilog()
            except UnreadableDocument:
                behind, is_faulty = b"", True
            self._kept = None
            self._last = (len(data), used.data)
            yield WholeDocument(data + behind, prolog.place, self._encoding, is_first, is_faulty)
        self._refuse_nothing()

    def again(self, whole: WholeDocument) -> Iterator[Cut]:
        """From a document on that was just given, everything with care, and each as a whole.

        What is wrong with a document comes before it.
        """
        size, behind = self._last
        self._data, self._at, self._known = whole.data[:size] + behind + self.rest(), 0, {}
        self._start, self._line, self._column = whole.place
        self._margin = b"" if self._column == 1 else None
        self._found, self._holds_documents = not whole.is_first, False
        self._kept = _HeldBytes(whole.place)
        return self.cuts()

    def _document(self) -> Iterator[Cut]:
        """What the next document is cut into, if there is one."""
        is_first = not self._found
        place = self.place
        if self._kept is not None:
            self._kept = _HeldBytes(place)
        if self._prolog() is None:
            self._has_ended = True
            return
        self.begun = place.start
        name = self._next_name()
        if name is None:
            yield self._wrong_line()
        elif _IS_UNIT.fullmatch(name) or self._is_part(name):
            yield self._alone(name)
        else:
            yield FilesBeside(is_new=True)
            yield from _Wrapper(self, name, self._encoding, self._origin, self.place).cuts()
        self._found = True
        if self._kept is not None and name is not None:
            self._epilog()
            yield WholeDocument(self._kept.data, place, self._encoding, is_first)

    def _undeclared(self) -> Iterator[Piece]:
        """Documents that are job objects without a declaration, which would name an encoding."""
        if _BEGIN.match(self._data, self._at) is not None:
            self._know_encoding(b"")
            yield from self.siblings(self._apart)

    def siblings(self, around: EnclosingTags) -> Iterator[Piece]:
        """Job objects with nothing but space between them that hide nothing, as far as they go.

        What this sees is what the other methods would see, sooner.
        """
        while (tag := _BEGIN.match(self._data, self._at)) is not None:
            end = self._plain_end(tag, _HIDING)
            if end is None:
                return
            self.use(tag.start("tag") - self._at)
            self._found, self._blank = True, 0
            yield self._piece(end - self._at, around, True)

    def unit(self, tag: re.Match[bytes], around: EnclosingTags, root: bytes = b"") -> Piece:
        """Use up the job object that begins here with a tag, inside of a root or alone."""
        if (end := self._plain_end(tag, _HIDING)) is not None:
            return self._piece(end - self._at, around, True)
        size, has_end = self._end(tag, around, root)
        self._is_broken = self._is_broken or not has_end
        return self._piece(size, around, has_end)

    def _piece(self, size: int, around: EnclosingTags, has_end: bool) -> Piece:
        place = self.place
        data = self.use(size)
        end = self._start if encodings.size(b"", self._origin) is not None else -1
        return Piece(data, place, end, around, has_end)

    @property
    def _apart(self) -> EnclosingTags:
        """What is around a document."""
        if self._origin or self._encoding != encodings.UTF8:
            return EnclosingTags(encoding=self._encoding, origin=self._origin)
        return ALONE

    def use(self, count: int) -> bytes:
        """Use up so many bytes."""
        used = self._data[self._at : self._at + count]
        self._at += count
        if self._kept is not None:
            self._kept.add(used)
        self._start += (encodings.size(used, self._origin) or 0) if self._origin else len(used)
        lines = used.count(b"\n")
        if lines:
            self._line += lines
            self._column, self._margin = 1, b""
        last = used[used.rfind(b"\n") + 1 :] if lines else used
        self._column += encodings.characters(last, self._encoding)
        if self._margin is not None:
            blank = not last.strip(SPACE) and len(last) < _HEAD
            self._margin = self._margin + last if blank else None
        return used

    def find(self, pattern: re.Pattern[bytes], after: int = 0) -> Token | None:
        """The next token, and where it begins; places count from what is not used up yet."""
        while True:
            found = pattern.search(self._data, self._at + after)
            if found is not None and found["open"] is None and found["cut"] is None:
                return found, found.start() - self._at
            after = (len(self._data) if found is None else found.start()) - self._at
            if not self.more(len(self._data) - self._at - after):
                return None

    def ahead(self, pattern: re.Pattern[bytes]) -> tuple[re.Match[bytes] | None, int]:
        """The next token in the bytes at hand, if any, and how many bytes come before it."""
        found = pattern.search(self._data, self._at)
        if found is None:
            return None, len(self._data) - self._at
        is_whole = found["open"] is None and found["cut"] is None
        return found if is_whole else None, found.start() - self._at

    def more(self, least: int = 1) -> bool:
        """Read on, as much again as is waiting, so that nothing is looked at too often.

        ``least`` is how many bytes will be looked at again: so many new ones are waited for, though
        a stream, such as a pipe, gives them in small pieces.
        """
        waiting = self._data[self._at :]
        limits.refuse_endless(waiting, self._line - 1, is_object=not self._holds_documents)
        if self._holds_documents:
            limits.refuse_held(waiting, self._line - 1)
        chunks, wanted = [], max(_READ, len(waiting))
        while (chunk := self._stream.read(wanted)) and (least := least - len(chunk)) > 0:
            chunks.append(chunk)
        data = b"".join((waiting, *chunks, chunk))
        self._data, self._at, self._known = data, 0, {}
        return len(data) > len(waiting)

    @property
    def waiting(self) -> int:
        """How many bytes were read and are not used up."""
        return len(self._data) - self._at

    def _begin(self) -> None:
        """See how the source is encoded, by its first bytes."""
        while self.waiting < len(encodings.LONGEST_MARK) and not self._start and self.more():
            pass
        if self._start or self._forced:
            return
        if self._data.startswith(BYTE_ORDER_MARK):
            self._at = self._start = len(BYTE_ORDER_MARK)
            self._mark = True
        elif (name := encodings.by_mark(self._data)) is not None:
            self._decode(name)

    def _decode(self, name: str) -> None:
        """Read everything that is left in an encoding in which bytes do not tell what tags are."""
        decoded = encodings.Decoded(self._data[self._at :], self._stream, name)
        self._stream, self._origin = cast(BinaryIO, decoded), name
        self._start += decoded.skipped
        self._data, self._at, self._known, self._forced = b"", 0, {}, encodings.UTF8
        self._encoding = encodings.UTF8

    def _prolog(self) -> _Prolog | None:
        """Use up what comes before the next root; None if nothing comes any more."""
        size, head, place = self._misc()
        prolog = _split(self.use(size), place, is_first=not self._found)
        if prolog.epilog.strip(SPACE):
            self._check(_ROOT, prolog.epilog, place, self._encoding)
        if prolog.data.strip(SPACE):
            self.is_open = not head
            self._check(b"", prolog.data + (_ROOT if head else b""), prolog.place)
        if head.startswith(b"<!DOCTYPE"):
            raise cause.doctype(self.place.line, self.place.column)
        self._blank = 0
        if not head:
            return None
        self._know_encoding(prolog.data)
        return prolog

    def _epilog(self) -> bytes:
        """Use up what comes behind a root and belongs to it."""
        size, _, place = self._misc()
        epilog = _split(self.rest(size), place, is_first=False).epilog
        if epilog.strip(SPACE):
            self._check(_ROOT, epilog, place, self._encoding)
        return self.use(len(epilog))

    def _misc(self) -> tuple[int, bytes, SourcePlace]:
        """How many bytes of space, comments and instructions come next, and what is behind them."""
        place = self.place
        while True:
            found = _PROLOG.match(self._data, self._at)
            assert found is not None
            size = found.end() - self._at
            head = self._data[found.end() : found.end() + _HEAD]
            is_open = len(head) < _HEAD or head.startswith((b"<?", b"<!--"))
            if is_open and self._skipped_space():
                place, size = self.place, 0
            if not (is_open and self.more(self.waiting)):
                return size, head, place

    def _skipped_space(self) -> bool:
        """Use up what is nothing but much white space, lest it fill the memory."""
        if self.waiting < _MUCH_SPACE or self._data[self._at :].strip(SPACE):
            return False
        if self._found:
            self._blank += self.waiting
            if self._blank > limits.TOKEN_LIMIT:
                raise limits.without_tag(self._line - 1)
        self.use(self.waiting)
        return True

    def _know_encoding(self, prolog: bytes) -> None:
        """Take the encoding that a document declares."""
        name = encodings.declared(prolog)
        if self._forced or name is None or self._is_marked:
            self._encoding = self._forced or encodings.UTF8
        elif encodings.shows_tags(name):
            self._encoding = name
        else:
            self._decode(name)

    def _check(
        self, before: bytes, data: bytes, place: SourcePlace, known: str | None = None
    ) -> None:
        """Raise what is wrong with bytes that begin at a place; something stands before them.

        They declare their encoding, unless it is ``known``.
        """
        encoding = self._forced or (encodings.UTF8 if self._is_marked else known)
        if not _is_sound(before + data, encoding):
            error = parsing.fault(before + data, encoding)
            assert error is not None
            behind = place._replace(column=place.column - len(before))
            raise parsing.refusal(error, before + data, behind, known or encodings.UTF8)

    @property
    def _is_marked(self) -> bool:
        """Whether a byte order mark tells the encoding of this document."""
        return self._mark and not self._found

    def _next_name(self) -> bytes | None:
        found = _NAME.match(self._data, self._at)
        while found is None and b">" not in self.rest() and self.more():
            found = _NAME.match(self._data, self._at)
        return None if found is None else found[1]

    def rest(self, count: int | None = None) -> bytes:
        """What was read and is not used up, or so many bytes of it."""
        return self._data[self._at : None if count is None else self._at + count]

    def _is_part(self, name: bytes) -> bool:
        """Whether the next document is about a part of a job, by the tag of its root."""
        if name.rpartition(b":")[2] not in _PARTS:
            return False
        token = self.find(_tokens(re.escape(name)))
        if token is None or token[1]:
            return False
        tag = token[0][0].removesuffix(b">").removesuffix(b"/") + b"/>"
        try:
            return parsing.parsed(tag, self._encoding).tag in PART_TAGS
        except etree.XMLSyntaxError:
            return False

    def _alone(self, name: bytes) -> Cut:
        """A document that is one job object, or a part of one."""
        is_unit = _IS_UNIT.fullmatch(name) is not None
        token = self.find(_tokens(_UNIT if is_unit else re.escape(name)))
        if token is None or token[1]:
            return self._wrong_line()
        if is_unit:
            return self.unit(token[0], self._apart)
        return self._piece(self._root(name), self._apart, not self.is_open)

    def _root(self, name: bytes) -> int:
        """The size of a root that begins here, in bytes at hand; all of them, if it is open."""
        pattern = _tokens(re.escape(name))
        token = self.find(pattern)
        if token is None or token[1]:
            self.is_open = token is None
            return self.waiting
        if (end := self._plain_end(token[0], (b"<!", b"<?", b"<" + name))) is not None:
            return end - self._at
        after = depth = 0
        while (token := self.find(pattern, after)) is not None:
            found, start = token
            after = start + len(found[0])
            if found["name"] is not None:
                depth += -1 if found["end"] else not found[0].endswith(b"/>")
                if depth <= 0:
                    return after
        self.is_open = True
        return self.waiting

    def _plain_end(self, tag: re.Match[bytes], hiding: tuple[bytes, ...]) -> int | None:
        """The end of an element that hides nothing, which is most of them, and fast to see."""
        data, begin = self._data, tag.end()
        if data[begin - 1 : begin] != b">":
            return None
        if data[begin - 2 : begin - 1] == b"/":
            return begin
        closing = b"</" + tag["name"] + b">"
        end = self._next(closing, begin)
        if end == len(data):
            return None
        for each in hiding:
            if self._next(each, begin) < end:
                return None
        return end + len(closing)

    def _next(self, sought: bytes, begin: int) -> int:
        """Where some bytes come next in those at hand, or their end; looked for only once."""
        at = self._known.get(sought, -1)
        if at < begin:
            at = self._data.find(sought, begin)
            at = self._known[sought] = len(self._data) if at < 0 else at
        return at

    def _end(self, tag: re.Match[bytes], around: EnclosingTags, root: bytes) -> tuple[int, bool]:
        """Where a job object ends that begins here, and whether that is an end of its own.

        One whose end is missing ends where another begins that stands as far into its line. To
        look for an end in vain is done once: what is broken is cut at the first such place.
        """
        pattern = _tokens(_UNIT + b"|" + re.escape(root) if root else _UNIT)
        margin, depth, roots, after, sibling = self._margin, 1, 0, tag.end() - self._at, 0
        try:
            while (token := self.find(pattern, after)) is not None:
                found, start = token
                after = start + len(found[0])
                closes, is_empty = bool(found["end"]), found[0].endswith(b"/>")
                if found["name"] is None:
                    continue
                if found["name"] == root:
                    if closes and not roots:
                        return sibling or start, False
                    roots += -1 if closes else not is_empty
                elif closes:
                    depth -= 1
                    if not depth:
                        is_one = not sibling or around.is_sound(self.rest(after))
                        return (after, True) if is_one else (sibling, False)
                else:
                    depth += not is_empty
                    if not sibling and found["name"] == tag["name"]:
                        sibling = start if self._is_sibling(margin, start) else 0
                        if sibling and self._is_broken:
                            return sibling, False
        except UnreadableDocument:  # there is too much of it
            if not sibling:
                raise
        self.is_open = self.is_open or not sibling
        return sibling or self.waiting, False

    def _is_sibling(self, margin: bytes | None, start: int) -> bool:
        """Whether what begins at a place begins its line behind the same margin."""
        if margin is None:
            return False
        line, place = b"\n" + margin, self._at + start
        return self._data[max(place - len(line), self._at) : place] == line

    def _wrong_line(self) -> UnreadableDocument:
        """Use up a line that is no document, and tell what is wrong with it."""
        place, end = self.place, self.rest().find(b"\n")
        self.is_open = end < 0 and (b">" not in self.rest() or bool(_CUT.match(self.rest())))
        line = self.use(end + 1 if end >= 0 else self.waiting)
        text = line.decode(self._encoding, "replace") if self._encoding != encodings.UTF8 else ""
        window = Window(text.encode() or line, *place)
        if line.startswith(BYTE_ORDER_MARK):
            said = finding(
                "E-XML", cause.LATE_MARK, line=place.line, column=place.column,
                suggestion=cause.LATE_MARK_ADVICE,
            )  # fmt: skip
        elif (error := parsing.fault(line, self._encoding)) is None:
            said = finding("E-XML", "a tag that does not end", line=place.line)
        else:
            said = parsing.refusal(error, line, place, self._encoding).finding
        refusal = UnreadableDocument(said, window)
        if not self._found:
            raise refusal  # it is no XML at all
        return refusal

    def _refuse_nothing(self) -> None:
        if not self._found:
            self.is_open = True
            raise cause.empty()


class _KeptBytes:
    """What was used up of a document that is wanted as a whole."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    @property
    def data(self) -> bytes:
        """All of it."""
        return b"".join(self._parts)

    def add(self, data: bytes) -> None:
        """Keep more."""
        self._parts.append(data)


class _HeldBytes(_KeptBytes):
    """The same, and no more than may be held of one."""

    def __init__(self, place: SourcePlace) -> None:
        super().__init__()
        self._size, self._place = 0, place

    def add(self, data: bytes) -> None:
        """Hold more; raises ``UnreadableDocument`` where that is too much."""
        super().add(data)
        self._size += len(data)
        limits.refuse_held_bytes(self._size, self._place.line - 1)


class _Wrapper:
    """A document with job objects inside: what is around them is parsed with marks for them."""

    def __init__(
        self, cutter: DocumentCutter, name: bytes, encoding: str, origin: str, place: SourcePlace
    ) -> None:
        self._cutter, self._name = cutter, name
        self._pattern = _tokens(_UNIT + b"|" + re.escape(name))
        self._skeleton = Skeleton(encoding, origin, place)
        self._depth = 0  # of roots, one in the other
        self._around: EnclosingTags | None = None  # of the last job object; they still hold
        self._has_units = False

    def resume(self, before: bytes, depth: int) -> None:
        """Take up a document of which the first tags and some job objects were read already."""
        self._skeleton.feed(before, START, START.behind(before))
        self._skeleton.begin()
        self._depth, self._has_units = depth, True

    def cuts(self) -> Iterator[Cut]:
        """The job objects; ends behind the end of the root."""
        is_cut_off = False
        while (token := self._next()) is not None:
            name = token["name"]
            if name is None or token["end"] or not _IS_UNIT.fullmatch(name):
                self._feed(len(token[0]))
                if name == self._name:
                    self._depth += -1 if token["end"] else not token[0].endswith(b"/>")
                    if self._depth <= 0:
                        break
                continue
            if self._around is None:
                self._around = self._skeleton.mark(self._cutter.place)
                yield from self._skeleton.complaints()
                if files := self._skeleton.files():
                    yield FilesBeside(files)
            self._has_units = True
            piece = self._cutter.unit(token, self._around, self._name)
            is_cut_off = not piece.has_end
            yield piece
            for piece in self._cutter.siblings(self._around):
                is_cut_off = False
                yield piece
        else:
            self._cutter.is_open = True
            if is_cut_off:
                return  # which says all
        root = self._skeleton.close(self._cutter.place)
        yield from self._skeleton.complaints()
        if root is not None and not self._has_units:
            yield Other(root, self._skeleton.offset)
        if files := self._skeleton.files():
            yield FilesBeside(files)

    def _next(self) -> re.Match[bytes] | None:
        """The next token; what comes before it is used up."""
        while True:
            token, before = self._cutter.ahead(self._pattern)
            self._feed(before)
            if token is not None:
                return token
            if not self._cutter.more():
                self._feed(self._cutter.waiting)
                return None

    def _feed(self, count: int) -> None:
        """Use up what stands around job objects; white space is made up for when more comes."""
        place = self._cutter.place
        data = self._cutter.use(count)
        if data.strip(SPACE):
            self._skeleton.feed(data, place, self._cutter.place)
            self._around = None
        else:
            self._skeleton.skip(data)


def pieces(data: bytes, place: SourcePlace, around: EnclosingTags = ALONE) -> Iterator[Piece]:
    """The outermost job objects in well-formed bytes that begin at a place."""
    cutter = DocumentCutter(io.BytesIO(), data, place)
    pattern = _tokens(_UNIT)
    while True:
        yield from cutter.siblings(around)
        if (token := cutter.find(pattern)) is None:
            return
        found, start = token
        cutter.use(start)
        if found["name"] is None or found["end"]:
            cutter.use(len(found[0]))
        else:
            yield cutter.unit(found, around)


def parts(piece: Piece, element: Element, chosen: Collection[Element]) -> Iterator[Piece]:
    """The pieces of some Jobs and JobGroups in a well-formed piece whose element is known."""
    if element in chosen:
        yield piece
        return
    origin, at, place = piece.around.origin, 0, piece.place
    for inner, (start, end) in zip(element.iter(*TAGS), spans(piece.data), strict=True):
        if inner not in chosen:
            continue
        before, data = piece.data[at:start], piece.data[start:end]
        begun = place.start + (encodings.size(before, origin) or 0)
        at, place = start, place.behind(before)._replace(start=begun)
        size = encodings.size(data, origin)
        end_there = -1 if size is None else begun + size
        yield piece._replace(data=data, place=place, end=end_there)


def spans(data: bytes) -> list[tuple[int, int]]:
    """Where each element with the name of a job object begins and ends in well-formed bytes.

    In the order in which they begin, one inside another included.
    """
    found: list[tuple[int, int]] = []
    open_: list[int] = []
    for token in _tokens(_UNIT).finditer(data):
        if token["name"] is None:
            continue
        if token["end"]:
            place = open_.pop()
            found[place] = found[place][0], token.end()
            continue
        if not token[0].endswith(b"/>"):
            open_.append(len(found))
        found.append((token.start(), token.end()))
    return found


def declared(document: bytes, scope: Mapping[str | None, str]) -> bytes:
    """A job object that declares what it uses of the namespaces declared around it."""
    tag = _BEGIN.match(document)
    assert tag is not None
    own = set(_XMLNS.findall(tag["tag"]))
    used = set(_PREFIX.findall(document)) if len(scope) > (None in scope) else set()
    added = b""
    for prefix, uri in scope.items():
        name = prefix.encode() if prefix else b""
        if name not in own and (not name or name in used):
            value = uri.translate(ATTRIBUTE).encode()
            added += b' xmlns%b="%b"' % (b":" + name if name else b"", value)
    at = tag.end("name")
    return document[:at] + added + document[at:]


def _split(prolog: bytes, place: SourcePlace, *, is_first: bool) -> _Prolog:
    """What stands before a root: from its declaration on, if it has one, it is about that root."""
    if is_first:
        return _Prolog(prolog, place, b"")
    for item in _ITEM.finditer(prolog):
        if DECLARATION.match(item[0]):
            epilog = prolog[: item.start()]
            return _Prolog(prolog[item.start() :], place.behind(epilog), epilog)
    return _Prolog(b"", place.behind(prolog), prolog)


@lru_cache(256)
def _is_sound_and_short(data: bytes, encoding: str | None) -> bool:
    return parsing.fault(data, encoding) is None


def _is_sound(data: bytes, encoding: str | None) -> bool:
    """Whether bytes are a document; most prologs are those of others."""
    if len(data) > _HEAD:
        return parsing.fault(data, encoding) is None
    return _is_sound_and_short(data, encoding)
