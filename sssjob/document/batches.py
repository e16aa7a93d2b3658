"""Batches of job objects: what was cut with care is parsed, and accepted or refused by piece."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, TypeVar

from lxml import etree
from lxml.etree import _Element as Element

from sssjob.document import cause, cutting, limits, parsing
from sssjob.document.cutting import Cut, DocumentCutter, Other, Piece, WholeDocument
from sssjob.document.enclosing import EnclosingTags, FilesBeside
from sssjob.document.encodings import UTF8
from sssjob.document.meant import Around
from sssjob.document.outermost import (
    UNIT_TAGS,
    Wanted,
    is_mistaken,
    may_hold_strangers,
    outermost,
    strangers,
)
from sssjob.document.places import names
from sssjob.errors import UnreadableDocument, Window, finding, hand_over

W = TypeVar("W")
FOREIGN = "E-UNKNOWN"  # the code of what is no job object, though it is well-formed
OnError = Callable[[UnreadableDocument], None]

SIZE = 1 << 18  # bytes of one batch: some 300 job objects
_TOGETHER = 64  # pieces that are parsed together

# The root of a tree in which many documents stand: no part of any of them.
_DOCUMENTS = "documents-of-one-line-each"
APART = EnclosingTags(b"<%s>" % _DOCUMENTS.encode(), b"</%s>" % _DOCUMENTS.encode())


class Located(NamedTuple):
    """An element, and how many lines of its source come before its document."""

    element: Element
    offset: int

    @property
    def line(self) -> int:
        """The line of the element in its source, counted from 1; 0 if it is not known."""
        line = self.element.sourceline
        return line + self.offset if line else 0


class LargeDocument(Located):
    """A document of which all that a query finds may take more memory than it may."""

    __slots__ = ()


class Slice(NamedTuple):
    """An outermost Job or JobGroup; ``document`` is its bytes in UTF-8, a document by itself.

    Namespaces that were declared around it are declared in it, if it uses them; else the bytes
    are those of the source, from ``start`` to ``end``, which are not known (-1) where its encoding
    does not tell. ``element`` may hang in a tree with others. ``line`` counts from 1. ``around``
    are the elements around it.
    """

    element: Element
    document: bytes
    line: int
    start: int
    end: int
    encoding: str = UTF8
    around: Around = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """Job objects that were read together: ``units`` hang in the tree of ``root``.

    Above them are the elements that stand around them, or, where they ``are_documents``, one that
    stands around nothing. ``offset`` lines are before the tree. A document without a job object is
    a batch without units; one about a part of a job has its root as its unit.
    """

    root: Element
    units: Sequence[Element]
    offset: int
    are_documents: bool = False
    pieces: Callable[[], Iterable[Piece]] = tuple

    def located(self) -> Iterator[Located]:
        """Each unit without the siblings before it, or the root of a document without any."""
        if not self.units:
            yield Located(self.root, self.offset)
        for unit in self.units:
            parent = unit.getparent()
            while parent is not None and parent[0] is not unit:
                del parent[0]
            yield Located(unit, self.offset)

    def slices(self) -> Iterator[Slice]:
        """Each Job and JobGroup with its bytes."""
        above: object = self
        scope: dict[str | None, str] = {}
        for unit, piece in zip(self.units, self.pieces(), strict=True):
            if unit.tag not in UNIT_TAGS:
                continue
            if (parent := unit.getparent()) is not above:
                above = parent
                inherited = {} if parent is None else parent.nsmap
                scope = {prefix: uri for prefix, uri in inherited.items() if uri}
            data, place, encoding = piece.data, piece.place, piece.around.encoding
            document = data if encoding == UTF8 else data.decode(encoding, "replace").encode()
            if scope:
                document = cutting.declared(document, scope)
            start = place.start if piece.end >= 0 else -1
            origin = piece.around.origin or encoding
            around = piece.around.elements
            yield Slice(unit, document, place.line, start, piece.end, origin, around)


Found = Batch | FilesBeside


def around(element: Element) -> Iterator[Element]:
    """The elements around one in its own document, the nearest first."""
    return (each for each in element.iterancestors() if each.tag != _DOCUMENTS)


def with_jobs(found: Iterable[Found], wanted: Wanted, tell: OnError) -> Iterator[Found]:
    """What was found, but for documents without anything that is wanted, which are told."""
    for each in found:
        if isinstance(each, FilesBeside) or wanted.takes(next(iter(each.units), each.root)):
            yield each
        else:
            _without_jobs(Located(each.root, each.offset), wanted, tell)


def located_jobs(found: Iterable[Found], wanted: Wanted, tell: OnError) -> Iterator[Located]:
    """The same without the Files, one job object after the other."""
    for batch in only_batches(with_jobs(found, wanted, tell)):
        yield from batch.located()


def whole_with_jobs(found: Iterable[Located], wanted: Wanted, tell: OnError) -> Iterator[Located]:
    """The same of whole documents; where one holds a stranger, that was told before."""
    for each in found:
        if wanted.takes_document(each.element):
            yield each
        elif next(strangers(each.element), None) is None:
            _without_jobs(each, wanted, tell)


def _without_jobs(document: Located, wanted: Wanted, tell: OnError) -> None:
    """Tell of a document that has nothing that is wanted; an empty wrapper may have nothing."""
    if is_mistaken(document.element):
        text = wanted.missing(document.element)
        tell(UnreadableDocument(finding(FOREIGN, text, line=document.line)))


def only_batches(found: Iterable[Found]) -> Iterator[Batch]:
    """What was found without the Files."""
    return (each for each in found if isinstance(each, Batch))


def careful(cuts: Iterator[Cut], tell: OnError, alone: bool = False) -> Iterator[Found]:
    """What was cut with care, as batches, and the Files beside; what is refused is told."""
    for group in _groups(cuts, alone):
        for found in _proved(group):
            if isinstance(found, UnreadableDocument):
                tell(found)
            elif isinstance(found, Batch | FilesBeside):
                yield found


def trees(
    cutter: DocumentCutter, tell: OnError, known: Collection[str], wanted: Wanted
) -> Iterator[Located]:
    """Documents as whole trees: as they come, and from the first broken one on with care."""
    return whole_with_jobs(_trees(cutter, tell, known), wanted, tell)


def _trees(cutter: DocumentCutter, tell: OnError, known: Collection[str]) -> Iterator[Located]:
    for part in map(_bounded, cutter.documents()):
        if isinstance(part, UnreadableDocument):
            tell(part)
        elif not part.is_faulty and (root := _tree(part)) is not None:
            for each in _located(root, part.place.line - 1, tell, known):
                yield LargeDocument(*each) if limits.is_much(part.data) else each
        else:
            yield from _with_care(cutter.again(part), tell, known)
            return


@contextmanager
def told(on_error: OnError | None) -> Iterator[OnError]:
    """What raises an error, or hands it over; also one that ends the source."""

    def tell(error: UnreadableDocument) -> None:
        hand_over(error, on_error)

    try:
        yield tell
    except UnreadableDocument as error:
        tell(error)


_Group = Sequence[Piece] | Other | WholeDocument | FilesBeside | UnreadableDocument


def _groups(cuts: Iterator[Cut], alone: bool) -> Iterator[_Group]:
    """Pieces that can be parsed together, and everything else by itself."""
    group: list[Piece] = []
    size = 0
    try:
        for cut in cuts:
            if group and not (
                _fits(cut, group[0], alone) and len(group) < _TOGETHER and size < SIZE
            ):
                yield group
                group, size = [], 0
            if isinstance(cut, Piece):
                group.append(cut)
                size += len(cut.data)
            else:
                yield cut
    except UnreadableDocument:
        if group:
            yield group
        raise
    if group:
        yield group


def _fits(cut: Cut, first: Piece, alone: bool) -> bool:
    """Whether a piece can be parsed together with a first one."""
    return (
        isinstance(cut, Piece)
        and cut.has_end
        and first.has_end
        and cut.around is first.around
        and bool(first.around.before or not alone)
    )


def _proved(
    group: _Group, known: Collection[str] = ()
) -> Iterator[Batch | WholeDocument | FilesBeside | UnreadableDocument]:
    """What a group holds: at once, if it is as it seems, or else by and by."""
    if isinstance(group, WholeDocument | FilesBeside | UnreadableDocument):
        yield group
    elif isinstance(group, Other):
        yield from _accepted(group.root, (), group.offset, tuple, known)
    elif len(group) == 1:
        yield from _judged(group[0], known)
    elif (batch := _together(group)) is not None:
        yield batch
    else:
        half = len(group) // 2
        yield from _proved(group[:half], known)
        yield from _proved(group[half:], known)


def _together(group: Sequence[Piece]) -> Batch | None:
    """Pieces that stand in one another's company as one tree; None if not all are well-formed."""
    first = group[0]
    if any(may_hold_strangers(piece.data, first.around.before) for piece in group):
        return None
    around, is_apart = first.around, not first.around.before
    if is_apart:
        around = replace(APART, encoding=around.encoding)
    parts, line = [around.before], first.place.line
    for piece in group:
        parts += (b"\n" * (piece.place.line - line), piece.data)
        line = piece.place.line + piece.data.count(b"\n")
    try:
        root = parsing.parsed(b"".join((*parts, around.after)), around.encoding)
    except etree.XMLSyntaxError:
        return None
    units = list(inner(root, around.depth))
    if len(units) != len(group) or any(unit.tag not in UNIT_TAGS for unit in units):
        return None
    offset = first.place.line - 1
    return Batch(root, units, offset, is_apart, lambda: group)


def _judged(piece: Piece, known: Collection[str]) -> Iterator[Batch | UnreadableDocument]:
    """One piece by itself, accepted or refused."""
    around, offset = piece.around, piece.place.line - 1
    try:
        if len(piece.data) > limits.TOKEN_LIMIT:
            limits.refuse_too_large(len(piece.data), limits.nodes_of(piece.data), offset)
        root = parsing.parsed(around.before + piece.data + around.after, around.encoding)
    except UnreadableDocument as error:
        yield error
    except etree.XMLSyntaxError:
        yield _refusal(piece)
    else:
        units = outermost(root)
        element = inner(root, around.depth)[0] if around.before else root
        pieces = partial(cutting.parts, piece, element, frozenset(units))
        yield from _accepted(root, units, offset, pieces, known)


def _accepted(
    root: Element, units: Sequence[Element], offset: int, pieces: Callable[[], Iterable[Piece]],
    known: Collection[str],
) -> Iterator[Batch | UnreadableDocument]:  # fmt: skip
    """A batch of what is well-formed, but for what is of another namespace."""
    foreign = list(strangers(root))
    for stranger in foreign:
        if names(stranger)[0] not in known:
            yield _foreign(stranger, offset)
    if units or not foreign:
        yield Batch(root, units, offset, pieces=pieces)


def _refusal(piece: Piece) -> UnreadableDocument:
    """Why a piece is refused, with the place of the first fault in it."""
    around, place = piece.around, piece.place
    before = around.before + b"\n" if around.before else b""
    said = parsing.fault(before + piece.data, around.encoding)
    assert said is not None  # what is around it is open
    if before:
        said = said._replace(line=said.line - 1, offset=place.line - 2)
    refusal = parsing.refusal(said, piece.data, place, around.encoding)
    return UnreadableDocument(refusal.finding, window(piece))


def window(piece: Piece) -> Window:
    """What an error in a piece is explained by."""
    around = piece.around
    data, before, after = (
        each if around.encoding == UTF8 else each.decode(around.encoding, "replace").encode()
        for each in (piece.data, around.before, around.after)
    )
    return Window(data, *piece.place, before, after)


def _foreign(stranger: Element, offset: int) -> UnreadableDocument:
    namespace, name = names(stranger)
    return cause.foreign(name, namespace, Located(stranger, offset).line)


def _with_care(cuts: Iterator[Cut], tell: OnError, known: Collection[str]) -> Iterator[Located]:
    """Documents of which nothing is refused; what is, is told."""
    is_refused = False
    for group in _groups(cuts, True):
        for found in map(_bounded, _proved(group, known)):
            if isinstance(found, UnreadableDocument):
                is_refused = is_refused or found.finding.code != FOREIGN
                tell(found)
            elif isinstance(found, WholeDocument):
                root = None if is_refused else _tree(found)
                if root is not None:
                    yield Located(root, found.place.line - 1)
                elif not is_refused:
                    said = parsing.fault(found.data, found.encoding)
                    assert said is not None
                    tell(parsing.refusal(said, found.data, found.place, found.encoding))
                is_refused = False


def _bounded(found: W) -> W | UnreadableDocument:
    """What was found, or why it is no document that may be held."""
    if isinstance(found, WholeDocument):
        try:
            limits.refuse_held(found.data, found.place.line - 1)
        except UnreadableDocument as error:
            return error
    return found


def _located(
    root: Element, offset: int, tell: OnError, known: Collection[str]
) -> Iterator[Located]:
    for stranger in strangers(root):
        if names(stranger)[0] not in known:
            tell(_foreign(stranger, offset))
    yield Located(root, offset)


def _tree(part: WholeDocument) -> Element | None:
    """The tree of a document, if it is well-formed."""
    for ids in (True, False):
        try:
            return parsing.parsed(part.data, part.encoding, ids=ids)
        except etree.XMLSyntaxError:
            continue
    return None


def inner(root: Element, depth: int) -> Element:
    """The element so many levels down, of which each has one child first."""
    for _ in range(depth - 1):
        root = root[0]
    return root
