"""Batches cut out of a stream by guesses at its bytes, which parsing them proves.

Documents of one line each, or one document whose job objects begin on lines of their own: most
sources are such, and are cut without a look into their tags. A document is well-formed if, and
only if, every piece of it is, put between the tags around it; a cut that fell into a comment or
the like leaves a piece that is not. What a guess does not fit is cut with care.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import BinaryIO, NamedTuple, Self, TypeVar

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import spec
from sssjob.document import cutting, limits, parsing
from sssjob.document.batches import (
    APART,
    SIZE,
    Batch,
    Found,
    Located,
    OnError,
    careful,
    inner,
    located_jobs,
    told,
    trees,
)
from sssjob.document.cutting import Cut, DocumentCutter, Piece
from sssjob.document.enclosing import EnclosingTags
from sssjob.document.encodings import UTF8, hides_tags
from sssjob.document.limits import SPACE
from sssjob.document.outermost import (
    FILE_TAGS,
    UNIT_TAGS,
    UNITS,
    Wanted,
    may_hold_strangers,
    outermost,
    strangers,
)
from sssjob.document.parsing import START, SourcePlace
from sssjob.document.places import local
from sssjob.errors import UnreadableDocument, Window

T = TypeVar("T")

_LONGEST = 1 << 22  # bytes of a batch without a place to cut, from which on nothing is guessed

_TAG_NAME = rb"(?:[A-Za-z_][\w.-]*:)?[A-Za-z_][\w.-]*"
_WRAPPER = rb"<%s(?:\s[^<>]*)?(?<!/)>[ \t\r\n]*" % _TAG_NAME
_HEAD = re.compile(
    rb"(?P<before>\A(?:\xef\xbb\xbf)?(?:<\?xml\s[^<>?]*\?>)?[ \t\r\n]*)(?P<wrappers>(?:%s){1,4}?)"
    rb"(?P<unit><(?P<prefix>(?:[A-Za-z_][\w.-]*:)?)Job(?:Group)?[\s/>])" % _WRAPPER
)
_ENCODING = re.compile(rb"encoding\s*=\s*[\"']([^\"']*)", re.IGNORECASE)
_TAG = re.compile(rb"<(%s)" % _TAG_NAME)
_UNIT = re.compile(rb"Job(?:Group)?[\s/>]")
_VISIBLE = re.compile(rb"[^ \t\r\n]")
_START_TAG = re.compile(rb"(?>[ \t\r\n]+|<\?.*?\?>|<!--.*?-->|(?!))*+<([^\s<>/?!]+)", re.DOTALL)


class Guess(NamedTuple):
    """Bytes of some job objects, cut by a guess."""

    data: bytes
    place: SourcePlace
    is_last: bool = False


class BareLines(NamedTuple):
    """What stands around guesses that are lines of one document each: nothing."""

    def parsed(self, guess: Guess) -> Batch | None:
        """The documents as one tree, if each line that is not blank is one job object.

        As many job objects as lines, and a new line behind each of them: none shares its line or
        goes on in the next.
        """
        if len(guess.data) > _LONGEST or may_hold_strangers(guess.data):
            return None
        try:
            root = parsing.parsed(APART.before + guess.data + APART.after)
        except etree.XMLSyntaxError:
            return None
        units = list(root)
        if (root.text or "").strip() or not all(map(_ends_its_line, units[:-1])):
            return None
        last = units[-1] if units else root
        if last.tag not in UNIT_TAGS or (last.tail or "").strip():
            return None
        lines = guess.data.count(b"\n") + (not guess.data.endswith(b"\n"))
        if len(units) != lines and len(units) != _count(guess.data):
            return None
        pieces = partial(_lines, guess.data, guess.place)
        return Batch(root, units, guess.place.line - 1, True, pieces)


class TagsAround(NamedTuple):
    """What stands around guesses in one document: its first tags, which are so many, and ends."""

    before: bytes
    after: bytes
    depth: int
    finds_files: bool = False

    def parsed(self, guess: Guess) -> Batch | None:
        """A batch, if the guess is well-formed between these tags."""
        if limits.is_too_large(guess.data):
            return None
        try:
            after = b"" if guess.is_last else self.after
            root = parsing.parsed(self.before + guess.data + after)
        except etree.XMLSyntaxError:
            return None
        if self.finds_files and b"File" in guess.data and _has_file(root):
            return None
        if not guess.is_last and not self._hold(root):
            return None
        units = list(inner(root, self.depth))
        has_more = guess.is_last and self.depth > 1  # perhaps, behind the innermost tag
        if (
            has_more
            or may_hold_strangers(guess.data, self.before)
            or any(unit.tag not in UNIT_TAGS for unit in units)
        ):
            if next(strangers(root), None) is not None:
                return None
            units = outermost(root)
            if _are_hidden(units):
                return None
        offset = guess.place.line - 1 - self.before.count(b"\n")
        around = EnclosingTags(elements=tuple(range(self.depth)))
        pieces = partial(cutting.pieces, guess.data, guess.place, around)
        return Batch(root, units, offset, pieces=pieces)

    def _hold(self, root: Element) -> bool:
        """Whether these tags hold behind a guess, too: it ends none of them to begin others."""
        for _ in range(self.depth - 1):
            if len(root) != 1:
                return False
            root = root[0]
        return True


Frame = BareLines | TagsAround


def guesses(
    stream: BinaryIO, head: bytes, *, alone: bool = False, finds_files: bool = False
) -> Guesses | None:
    """A stream of which ``head`` was read, if it begins as one that can be cut by guesses.

    With ``alone``, documents of one line each are given each as a tree of its own. With
    ``finds_files``, what has Files beside its job objects is cut with care, which tells them.
    """
    if is_lines(head):
        return DocumentsOfLines(stream, head, alone=alone)
    return _OfTags.of(stream, head, finds_files=finds_files)


def only(head: bytes, *, ids: bool = False) -> Batch | None:
    """The one document that some bytes are as they stand, which small sources mostly are."""
    if not _is_harmless(head):
        return None
    try:
        root = parsing.parsed(head, ids=ids)
    except etree.XMLSyntaxError:
        return None
    if root.tag in UNIT_TAGS:
        return Batch(root, (root,), 0)
    return None if next(strangers(root), None) is not None else Batch(root, outermost(root), 0)


def of_lines(stream: BinaryIO, head: bytes) -> DocumentsOfLines | None:
    """A stream of which ``head`` was read, if it begins as documents of one line each."""
    return DocumentsOfLines(stream, head) if is_lines(head) else None


def whole_documents(lines: Guess) -> list[Located] | None:
    """The documents of some lines as whole trees; None if not each line is just a job object."""
    parser = parsing.safe_parser(ids=True)
    found = []
    for line, _ in _each(lines):
        root = _job_object(line.data, parser)
        if root is None:
            return None
        found.append(Located(root, line.place.line - 1))
    return found


def is_lines(head: bytes) -> bool:
    """Whether the first two lines that are not blank are documents, each of its own.

    The second may be a broken one, if it ends as it began.
    """
    lines = [line.strip(SPACE) for line in head.split(b"\n")[:-1] if line.strip(SPACE)][:2]
    if len(lines) < 2 or not _is_document(lines[0]):
        return False
    name = _START_TAG.match(lines[1])
    return _is_document(lines[1]) or (
        name is not None and lines[1].endswith(b"</" + name[1] + b">")
    )


def followed(
    guesses: Guesses, done: Iterable[tuple[Guess, T | None]],
    waiting: Callable[[], Sequence[Guess]],
    with_care: Callable[[Guess, Sequence[Guess]], Iterable[T]],
) -> Iterator[T]:  # fmt: skip
    """What was made of guesses, and of what they did not fit.

    ``done`` is each guess with what was made of it, None where it did not fit; ``waiting`` are
    those that were taken by then and come next. ``with_care`` is given both where it did not.
    """
    for guess, made in done:
        if made is not None:
            yield made
            continue
        yield from with_care(guess, waiting())
        if guesses.has_ended:
            return
    if guesses.rest:
        yield from with_care(Guess(b"", guesses.place), ())


class Guesses:
    """Cuts a stream into batches without looking into it; ``rest`` was read and is not cut.

    A guess and the ``frame`` around it can go to another process, which has it ``parsed``.
    """

    has_ended = False  # whether nothing can be guessed any more

    def __init__(self, stream: BinaryIO, rest: bytes, place: SourcePlace, frame: Frame) -> None:
        self.stream, self.rest, self.place, self.frame = stream, rest, place, frame

    def __iter__(self) -> Iterator[Guess]:
        """Batches in order; ends early, with a ``rest``, where no place to cut is found."""
        ended = False
        while True:
            enough = len(self.rest) >= SIZE or ended
            place = (self.cut(SIZE) or self.cut(len(self.rest))) if enough else 0
            if place:
                yield self._taken(place)
            elif ended:
                if self.rest:
                    yield self._taken(len(self.rest))._replace(is_last=True)
                return
            elif self.is_too_long():
                return
            else:
                more = self.stream.read(max(SIZE, len(self.rest)))
                self.rest += more
                ended = not more

    def cut(self, end: int) -> int:
        """The last place before an end where to cut, or 0."""
        raise NotImplementedError

    def is_too_long(self) -> bool:
        """Whether to give up; raises ``UnreadableDocument`` where nobody could go on."""
        return len(self.rest) > _LONGEST

    def with_care(self, guess: Guess, unread: Sequence[Guess], tell: OnError) -> Iterator[Found]:
        """What a guess holds that did not fit; where it ends the guessing, all that follows it."""
        raise NotImplementedError

    def batches(self, tell: OnError) -> Iterator[Found]:
        """The job objects in batches, and the Files beside them."""
        done = ((guess, self.frame.parsed(guess)) for guess in self)
        return followed(self, done, list, lambda guess, unread: self.with_care(guess, unread, tell))

    def located(self, tell: OnError, wanted: Wanted) -> Iterator[Located]:
        """The job objects one by one."""
        return located_jobs(self.batches(tell), wanted, tell)

    def going_on(self, data: bytes, unread: Sequence[Guess]) -> bytes:
        """Bytes with all that was read and comes behind them."""
        return b"".join((data, *(guess.data for guess in unread), self.rest))

    def _taken(self, place: int) -> Guess:
        guess = Guess(self.rest[:place], self.place)
        self.place = self.place.behind(guess.data)
        self.rest = self.rest[place:]
        return guess


class DocumentsOfLines(Guesses):
    """Documents of one line each: one that cannot be read hides no other.

    Where a document turns out to go on in the next line, the rest is documents of any shape:
    somebody put files together.
    """

    def __init__(self, stream: BinaryIO, head: bytes, *, alone: bool = False) -> None:
        super().__init__(stream, head, START, BareLines())
        self._alone = alone
        self._parser = parsing.safe_parser()
        self._whole = parsing.safe_parser(ids=True)
        self._encoding = UTF8  # of the last document that was read with care, or behind it
        self._end = 0  # of the last guess that was

    def cut(self, end: int) -> int:
        """The last line end before an end, or 0."""
        return self.rest.rfind(b"\n", 0, end) + 1

    def is_too_long(self) -> bool:
        """Never: a line may be long, up to a limit."""
        limits.refuse_endless(self.rest, self.place.line - 1)
        return False

    def with_care(self, guess: Guess, unread: Sequence[Guess], tell: OnError) -> Iterator[Found]:
        """Each line by itself, and from one on that goes on in the next, all that follows."""
        self._begin(guess)
        for line, end in _each(guess):
            root = _job_object(line.data, self._parser)
            if root is not None:
                self._encoding = UTF8
                offset = line.place.line - 1
                pieces = partial(cutting.pieces, line.data, line.place)
                yield Batch(root, (root,), offset, pieces=pieces)
            else:
                yield from self._line(guess, line, end, unread, tell)
            if self.has_ended:
                return

    def located(self, tell: OnError, wanted: Wanted) -> Iterator[Located]:
        """Each job object as the root of its own document."""
        for guess in self:
            self._begin(guess)
            at, offset = 0, guess.place.line - 1
            parsed = _parsed if _is_harmless(guess.data) else _job_object
            for data in guess.data.split(b"\n"):
                end = at + len(data)
                root = parsed(data, self._parser) if data else None
                if root is not None:
                    self._encoding = UTF8
                    yield Located(root, offset)
                elif data.strip(SPACE):
                    line = Piece(data, SourcePlace(guess.place.start + at, offset + 1), 0)
                    yield from located_jobs(self._line(guess, line, end, (), tell), wanted, tell)
                    if self.has_ended:
                        return
                at, offset = end + 1, offset + 1

    def _line(
        self, guess: Guess, line: Piece, end: int, unread: Sequence[Guess], tell: OnError
    ) -> Iterator[Found]:
        """What a line holds that is not just one job object, or all from there on."""
        cutter = self._cutter(line)
        cuts: Iterator[Cut] = iter(list(_until_the_end(cutter.cuts())))
        if cutter.is_open and self._goes_on(_last(line, cutter), guess.data, end, unread):
            self.has_ended = True
            cuts = self._rest(line, guess.data[end:], unread).cuts()
            yield from careful(cuts, tell, self._alone)
            return
        self._encoding = cutter.encoding

        def tell_line(error: UnreadableDocument) -> None:
            tell(UnreadableDocument(error.finding, Window(line.data, *line.place)))

        yield from careful(cuts, tell_line, self._alone)

    def whole(self, tell: OnError, known: Collection[str], wanted: Wanted) -> Iterator[Located]:
        """Each document as a whole tree."""
        for guess in self:
            yield from self.whole_with_care(guess, (), tell, known, wanted)
            if self.has_ended:
                return

    def whole_with_care(
        self, guess: Guess, unread: Sequence[Guess], tell: OnError, known: Collection[str],
        wanted: Wanted = Wanted.DOCUMENTS,
    ) -> Iterator[Located]:  # fmt: skip
        """The documents of some lines, or all from there on, each as a whole tree."""
        self._begin(guess)
        for line, end in _each(guess):
            root = _job_object(line.data, self._whole)
            if root is not None:
                self._encoding = UTF8
                yield Located(root, line.place.line - 1)
                continue
            cutter = self._cutter(line)
            for _ in _until_the_end(cutter.cuts()):
                pass
            if cutter.is_open and self._goes_on(_last(line, cutter), guess.data, end, unread):
                self.has_ended = True
                yield from trees(self._rest(line, guess.data[end:], unread), tell, known, wanted)
                return
            whole = self._cutter(line)
            self._encoding = cutter.encoding
            with told(tell):
                yield from trees(whole, tell, known, wanted)

    def _goes_on(self, line: bytes, data: bytes, end: int, unread: Sequence[Guess]) -> bool:
        """Whether a document that has not ended goes on in the next line, from an end on.

        If that begins as this one does, it is another document.
        """
        if _VISIBLE.search(data, end) is None:
            data, end = self.going_on(b"", unread).lstrip(SPACE), 0
            while b"\n" not in data and (more := self.stream.read(SIZE)):
                self.rest += more
                data = (data + more).lstrip(SPACE)
            if not data:
                return False
        one, other = _START_TAG.match(line), _START_TAG.match(data, end)
        return one is None or other is None or one[1] != other[1]

    def _begin(self, guess: Guess) -> None:
        """Begin to read with care; lines before it that were not read so declare nothing."""
        if guess.place.start != self._end:
            self._encoding = UTF8
        self._end = guess.place.start + len(guess.data)

    def _cutter(self, line: Piece) -> DocumentCutter:
        """What cuts a line."""
        return DocumentCutter(io.BytesIO(), line.data, line.place, behind=self._encoding)

    def _rest(self, line: Piece, behind: bytes, unread: Sequence[Guess]) -> DocumentCutter:
        """What cuts everything from a line on as documents of any shape."""
        data = self.going_on(line.data + behind, unread)
        return DocumentCutter(self.stream, data, line.place, behind=self._encoding)


class _OfTags(Guesses):
    """One document whose job objects begin on lines of their own, all as far into them.

    Or one after the other, with nothing between them.
    """

    def __init__(
        self, stream: BinaryIO, head: bytes, found: re.Match[bytes], finds_files: bool
    ) -> None:
        _, new, margin = found["wrappers"].rpartition(b"\n")
        if margin.strip(SPACE):
            new = margin = b""
        # What is cut begins with its line, as far as that is blank.
        before = head[: found.start("unit") - len(new + margin)]
        tags = _TAG.findall(found["wrappers"])
        after = b"".join(b"</%s>" % name for name in reversed(tags))
        frame = TagsAround(before, after, len(tags), finds_files)
        super().__init__(stream, head[len(before) :], START.behind(before), frame)
        self._before = before
        # Only what stands as far to the right as the first one is outermost.
        self._behind = b"" if new else b"</" + found["unit"][1:-1] + b">"
        self._boundary = self._behind + new + margin + b"<" + found["prefix"] + b"Job"

    @classmethod
    def of(cls, stream: BinaryIO, head: bytes, *, finds_files: bool) -> Self | None:
        """A stream that begins as such a document does."""
        if (found := _HEAD.match(head)) is None:
            return None
        names = [name.rpartition(b":")[2] for name in _TAG.findall(found["wrappers"])]
        encoding = _ENCODING.search(found["before"])
        is_plain = encoding is None or encoding[1].lower() == b"utf-8"
        if not is_plain or any(name.decode() in spec.CONTAINER for name in names):
            return None
        return cls(stream, head, found, finds_files)

    def cut(self, end: int) -> int:
        while (place := self.rest.rfind(self._boundary, 0, end)) > 0:
            if _UNIT.match(self.rest, place + len(self._boundary) - len(b"Job")):
                return place + len(self._behind)
            end = place
        return 0

    def with_care(self, guess: Guess, unread: Sequence[Guess], tell: OnError) -> Iterator[Found]:
        self.has_ended = True
        cutter = DocumentCutter(self.stream, self.going_on(guess.data, unread), guess.place)
        return careful(cutter.within(self._before), tell)


def _last(line: Piece, cutter: DocumentCutter) -> bytes:
    """The last document of a line that was cut, of which the others have ended."""
    return line.data[max(cutter.begun - line.place.start, 0) :]


def _job_object(line: bytes, parser: parsing.Parser) -> Element | None:
    """The root of a line that is a job object, which most are."""
    if limits.is_too_large(line):
        return None
    return _parsed(line, parser) if _is_harmless(line) else None


def _parsed(line: bytes, parser: parsing.Parser) -> Element | None:
    try:
        root = parsing.parsed_by(parser, line)
    except etree.XMLSyntaxError:
        return None
    return root if root.tag in UNIT_TAGS else None


def _has_file(root: Element) -> bool:
    """Whether a File stands in a tree, and in none of its job objects."""
    return any(
        UNIT_TAGS.isdisjoint(each.tag for each in file.iterancestors())
        for file in root.iter(*FILE_TAGS)
    )


def _are_hidden(units: Iterable[Element]) -> bool:
    """Whether job objects stand in what only has their name, which its bytes do not tell."""
    parents = {parent for unit in units if (parent := unit.getparent()) is not None}
    return any(
        local(each) in UNITS for parent in parents for each in (parent, *parent.iterancestors())
    )


def _is_document(line: bytes) -> bool:
    if not line.startswith(b"<"):
        return False
    try:
        parsing.parsed(line)
    except etree.XMLSyntaxError:
        return False
    return True


def _is_harmless(data: bytes) -> bool:
    """Whether nothing in some bytes needs a look before they are parsed.

    A declaration does: it may name another encoding, in which the bytes cannot be kept. And in an
    encoding that hides tags none of what is looked for would be found.
    """
    return (
        len(data) <= limits.TOKEN_LIMIT
        and not hides_tags(data)
        and b"<!DOCTYPE" not in data
        and b"<?xml" not in data
        and not may_hold_strangers(data)
    )


def _ends_its_line(unit: Element) -> bool:
    """Whether an element is a job object with nothing but a new line, and space, behind it."""
    tail = unit.tail
    return tail is not None and "\n" in tail and tail.isspace() and unit.tag in UNIT_TAGS


def _count(data: bytes) -> int:
    """How many lines are not blank."""
    return sum(bool(line.strip(SPACE)) for line in data.splitlines())


def _each(guess: Guess) -> Iterator[tuple[Piece, int]]:
    """Each line of a batch that is not blank, and where it ends in the batch."""
    at, place = 0, guess.place
    while at < len(guess.data):
        new = guess.data.find(b"\n", at)
        end = new if new >= 0 else len(guess.data)
        line = guess.data[at:end]
        if line.strip(SPACE):
            yield Piece(line, place, place.start + len(line)), end
        at, place = end + 1, SourcePlace(place.start + len(line) + 1, place.line + 1)


def _lines(data: bytes, place: SourcePlace) -> Iterator[Piece]:
    """The job objects of lines of which each is one."""
    for line in data.split(b"\n"):
        if document := line.strip(SPACE):
            start = place.start + len(line) - len(line.lstrip(SPACE))
            there = place._replace(start=start, column=start - place.start + 1)
            yield Piece(document, there, start + len(document))
        place = SourcePlace(place.start + len(line) + 1, place.line + 1)


def _until_the_end(found: Iterator[T]) -> Iterator[T | UnreadableDocument]:
    """What is found, and at last what ended it."""
    try:
        yield from found
    except UnreadableDocument as error:
        yield error
