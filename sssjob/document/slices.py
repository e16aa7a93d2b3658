"""Job objects with the bytes that they were read from.

So a document can be kept to the byte, and one that cannot be read does not hide the next, also
inside of a wrapper. The answers are those of ``tree.units``; memory holds a few at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from sssjob.document import limits, pull, tree
from sssjob.document.cutting import Cut, Cutter, Piece, copied
from sssjob.document.files import Source, opened
from sssjob.errors import UnreadableDocument


class Slice(NamedTuple):
    """An outermost Job or JobGroup; ``document`` is its bytes in UTF-8, a document by itself.

    Namespaces that were declared around it are declared in it, if it uses them; else the bytes
    are those of the source. ``element`` may hang in a tree with others. ``line`` counts from 1.
    """

    element: Element
    document: bytes
    line: int


_GROUP, _GROUP_BYTES = 64, 1 << 18  # of pieces that are parsed together, which is faster


def slices(source: Source, *, on_error: tree.OnError | None = None) -> Iterator[Slice]:
    """The outermost Jobs and JobGroups of a source, each cut out.

    Raises ``UnreadableDocument`` for the first that cannot be read, or hands it to ``on_error``
    and goes on behind it; what is wrong outside of job objects ends the source.
    """

    def tell(error: UnreadableDocument) -> None:
        if on_error is None:
            raise error
        on_error(error)

    try:
        with opened(source) as stream:
            for group in _groups(Cutter(stream).pieces()):
                if isinstance(group, UnreadableDocument):
                    tell(group)
                else:
                    yield from _together(group) or _one_by_one(group, tell)
    except UnreadableDocument as error:
        tell(error)


def _groups(pieces: Iterator[Cut]) -> Iterator[list[Piece] | UnreadableDocument]:
    """Pieces that are parsed together, and in their places what cannot be read."""
    group: list[Piece] = []
    size = 0
    try:
        for piece in pieces:
            if isinstance(piece, UnreadableDocument):
                yield group
                yield piece
                group, size = [], 0
                continue
            group.append(piece)
            size += len(piece.document)
            if len(group) == _GROUP or size > _GROUP_BYTES:
                yield group
                group, size = [], 0
    except UnreadableDocument:
        yield group
        raise
    yield group


def _together(group: Sequence[Piece]) -> list[Slice]:
    """The job objects of a group, or none when one of its pieces is not what it looks like."""
    if len(group) < 2 or sum(len(piece.document) for piece in group) > 2 * _GROUP_BYTES:
        return []
    try:
        root = tree.parsed(b"<_>%b</_>" % b"".join([piece.document for piece in group]))
    except etree.XMLSyntaxError:
        return []
    units = list(root)
    if len(units) != len(group) or any(unit.tag not in pull.UNIT_TAGS for unit in units):
        return []
    return [Slice(unit, *piece) for unit, piece in zip(units, group, strict=True)]


def _one_by_one(group: Sequence[Piece], tell: tree.OnError) -> Iterator[Slice]:
    for document, line in group:
        try:
            if len(document) > limits.TOKEN_LIMIT:
                limits.refuse_too_large(len(document), limits.markup_of(document), line - 1)
            root = tree.parse(document)
        except UnreadableDocument as error:
            tell(UnreadableDocument(tree.below(error.finding, line - 1)))
            continue
        if root.tag in pull.UNIT_TAGS:
            yield Slice(root, document, line)
            continue
        # An element of another namespace that has the same name, and perhaps jobs inside.
        for unit in tree.units(document, on_error=_further_down(tell, line - 1)):
            if unit.tag in pull.UNIT_TAGS:
                yield Slice(unit, *copied(unit, line - 1))


def _further_down(tell: tree.OnError, lines: int) -> tree.OnError:
    """What tells of a document that has so many lines before it."""
    return lambda error: tell(UnreadableDocument(tree.below(error.finding, lines)))
