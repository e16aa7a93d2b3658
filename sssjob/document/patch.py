"""A job object's text changed where its value changed: every other byte of it is kept.

Strategy. Inside a job, too, a change must not touch what stands beside it, and there values know
nothing of bytes.

The idea is to compare two values item by item, and to change their places in the text: what is
read has a child for each item of its value, in the same order. An item that is the same keeps its
bytes, one that differs inside is looked into, one that is gone is cut out, and a new one is written
between its neighbours. Where items do not stand beside children (an older name became part of a
Requested), nobody guesses: the whole element is written anew.

Why it is right: what came out is read again, and has to be the value that was wanted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from lxml.etree import _Element as Element

from sssjob import spec
from sssjob.document import text
from sssjob.document.bridge import from_tree, to_tree
from sssjob.document.cutting import declared
from sssjob.document.parsing import parsed
from sssjob.document.places import TEXT, place, split
from sssjob.model import Block, Item, Job, Note, Property

_MARKUP = re.compile(
    rb"<(?:(?P<note>!--.*?-->|\?.*?\?>)|(?P<data>!\[CDATA\[.*?\]\]>)"
    rb"|(?P<end>/[^>]*>)|(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+'|(?!))*+>)",
    re.DOTALL,
)
# A name of two properties, by what it holds; see places.is_adapter.
_TWO_IN_ONE = {"Network": ("NetworkAdapter",)}
_MANY = 1 << 20  # pairs of items among which what they share is looked for

Make = Callable[[Item], Element]  # the tree of an item that stands in a certain other one


@dataclass(slots=True)
class NodeSpan:
    """Where a child begins and ends in a text; an element also has an inside, and children."""

    start: int
    end: int = 0
    inside: tuple[int, int] | None = None  # None for a note, and for a tag that closes itself
    children: list[NodeSpan] = field(default_factory=list)


class ByteEdit(NamedTuple):
    """Bytes that come in the place of others."""

    start: int
    end: int
    new: bytes


class _NotAdjacent(Exception):
    """Items do not stand beside children."""


def patched(raw: bytes, element: Element, old: Block, new: Block) -> bytes | None:
    """The text of a job object, in UTF-8, with what makes its old value the new one.

    ``element`` is its tree. None where that cannot be done.
    """
    prefixes = {prefix or "": uri for prefix, uri in element.nsmap.items() if uri}
    patch = _Patch(raw, prefixes)
    try:
        edits = list(patch.block(spans(raw), element, old, new))
    except _NotAdjacent:
        return None
    found = applied(raw, edits)
    parent = element.getparent()
    read = from_tree(parsed(declared(found, {} if parent is None else parent.nsmap)))
    is_it = read.items == new.items and read.attributes == new.attributes
    return found if is_it else None


def applied(raw: bytes, edits: Sequence[ByteEdit]) -> bytes:
    """A text with edits that do not overlap."""
    pieces: list[bytes] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        pieces += (raw[at : edit.start], edit.new)
        at = edit.end
    return b"".join((*pieces, raw[at:]))


def blank_before(raw: bytes, span: NodeSpan) -> bytes:
    """The white space before the first child of an element."""
    assert span.inside is not None
    before = raw[span.inside[0] : span.children[0].start]
    return before[len(before.rstrip()) :]


def spans(raw: bytes) -> NodeSpan:
    """The one element of a well-formed text."""
    top = NodeSpan(0)
    above = [top]
    for found in _MARKUP.finditer(raw):
        if found["data"]:
            continue
        if found["end"]:
            span = above.pop()
            assert span.inside is not None
            span.inside, span.end = (span.inside[0], found.start()), found.end()
            continue
        span = NodeSpan(found.start(), found.end())
        above[-1].children.append(span)
        if not found["note"] and not found[0].endswith(b"/>"):
            span.inside = (found.end(), found.end())
            above.append(span)
    return next(
        child for child in top.children if raw[child.start + 1 : child.start + 2] not in b"!?"
    )


@dataclass(frozen=True, slots=True)
class _Patch:
    raw: bytes
    prefixes: dict[str, str]

    def block(self, span: NodeSpan, read: Element, old: Block, new: Block) -> Iterator[ByteEdit]:
        """What changes in a block. Raises ``_NotAdjacent``."""
        if _head(old) != _head(new):
            raise _NotAdjacent

        def make(item: Item) -> Element:
            return to_tree(type(new)((item,), {}, new.namespace, 0, self.prefixes))[0]

        yield from self._items(span, read, old.items, new.items, make)

    def _property(
        self, span: NodeSpan, read: Element, old: Property, new: Property
    ) -> Iterator[ByteEdit]:
        if _head(old) != _head(new):
            raise _NotAdjacent
        if not any(isinstance(each, Property) for each in (*old.children, *new.children)):
            if span.inside is None or old.children != new.children:
                raise _NotAdjacent
            # The notes in a value stay, behind it.
            notes = b"".join(self.raw[each.start : each.end] for each in span.children)
            yield ByteEdit(*span.inside, new.text.translate(TEXT).encode() + notes)
            return
        if old.text != new.text:
            raise _NotAdjacent

        def make(item: Item) -> Element:
            assert isinstance(item, Property | Note)
            holder = Property(new.name, "", {}, (item,), new.namespace)
            return to_tree(Job((holder,), {}, "", 0, self.prefixes))[0][0]

        yield from self._items(span, read, old.children, new.children, make)

    def _items(
        self, span: NodeSpan, read: Element, old: Sequence[Item], new: Sequence[Item], make: Make
    ) -> Iterator[ByteEdit]:
        """Items that are alike keep their bytes; of those with one name, one became the other."""
        if span.inside is None or len(span.children) != len(read) or not _are_beside(read, old):
            raise _NotAdjacent
        if any(isinstance(item, Note) and item.kind == "text" for item in new):
            raise _NotAdjacent
        for step in _differences(old, new):
            if step.is_equal:
                continue
            was, now = old[step.old], new[step.new]
            for inner in _differences([*map(_kind, was)], [*map(_kind, now)]):
                at, end = step.old.start + inner.old.start, step.old.start + inner.old.stop
                if inner.is_equal:
                    for n, item in enumerate(now[inner.new], at):
                        yield from self._item(span.children[n], read[n], old[n], item, make)
                else:
                    yield from self._exchanged(span, read, at, end, map(make, now[inner.new]))

    def _item(
        self, span: NodeSpan, read: Element, old: Item, new: Item, make: Make
    ) -> Iterator[ByteEdit]:
        """What changes in an item, or all of it."""
        try:
            if isinstance(old, Block) and isinstance(new, Block):
                edits = list(self.block(span, read, old, new))
            elif isinstance(old, Property) and isinstance(new, Property):
                edits = list(self._property(span, read, old, new))
            else:
                raise _NotAdjacent
        except _NotAdjacent:
            parent = read.getparent()
            assert parent is not None
            edits = [ByteEdit(span.start, span.end, self._text(span.start, parent, make(new)))]
        yield from edits

    def _exchanged(
        self, span: NodeSpan, read: Element, at: int, end: int, new: Iterator[Element]
    ) -> Iterator[ByteEdit]:
        """Children that come in the place of others."""
        assert span.inside is not None
        for child in span.children[at:end]:
            yield ByteEdit(self._after_blank(span, child.start), child.end, b"")
        if written := b"".join(self._written(span, read, each) for each in new):
            behind = span.children[at - 1].end if at else span.inside[0]
            yield ByteEdit(behind, behind, written)

    def _after_blank(self, span: NodeSpan, start: int) -> int:
        """Where the white space begins that stands before a child."""
        assert span.inside is not None
        kept = self.raw[span.inside[0] : start].rstrip()
        return span.inside[0] + len(kept)

    def _written(self, span: NodeSpan, read: Element, new: Element) -> bytes:
        """A new child, on a line of its own where its neighbours have theirs."""
        if not span.children:
            raise _NotAdjacent
        return blank_before(self.raw, span) + self._text(span.children[0].start, read, new)

    def _text(self, start: int, parent: Element, new: Element) -> bytes:
        line = self.raw[self.raw.rfind(b"\n", 0, start) + 1 : start]
        is_on_lines = b"\n" in self.raw[:start] and not line.strip()
        if is_on_lines:
            text.put_on_lines(new, "\n" + line.decode())
        new.tail = None
        written = text.within(parent.nsmap, new)
        if not is_on_lines:
            written = text.on_one_line(written)
        elif b"\r\n" in self.raw:
            written = written.replace("\n", "\r\n")
        return written.encode()


class _EditStep(NamedTuple):
    """What of two sequences is the same, or comes in the place of the other."""

    is_equal: bool
    old: slice
    new: slice


def _differences(old: Sequence[Any], new: Sequence[Any]) -> Iterator[_EditStep]:
    """The steps from one sequence to the other, in order."""
    start, most = 0, min(len(old), len(new))
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    if start:
        yield _EditStep(True, slice(0, start), slice(0, start))
    a, b = old[start : len(old) - end], new[start : len(new) - end]
    steps: Sequence[tuple[str, int, int, int, int]]
    if len(a) * len(b) > _MANY:
        steps = [("replace", 0, len(a), 0, len(b))]
    else:
        steps = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    for tag, i, j, k, m in steps:
        yield _EditStep(tag == "equal", slice(start + i, start + j), slice(start + k, start + m))
    if end:
        yield _EditStep(True, slice(len(old) - end, len(old)), slice(len(new) - end, len(new)))


def _are_beside(read: Element, items: Sequence[Item]) -> bool:
    """Whether each child of an element that was read became one of these items, in this order."""
    if len(read) != len(items):
        return False
    container = split(str(read.tag))[1]
    for child, item in zip(read, items, strict=True):
        if type(child.tag) is not str or isinstance(item, Note):
            if type(child.tag) is str or not isinstance(item, Note) or item.kind == "text":
                return False
        elif container in spec.CONTAINER:
            here = place(child.tag, container)
            is_moved = here.implied and here.category != container
            if is_moved or item.name not in (here.name, *_TWO_IN_ONE.get(here.name, ())):
                return False
        elif item.name not in (child.tag, split(child.tag)[1]):
            return False
    return True


def _head(item: Block | Property) -> tuple[object, ...]:
    """What its start tag says."""
    return type(item), item.name, item.namespace, item.attributes


def _kind(item: Item) -> object:
    """What an item can become another of; a note is like no other."""
    return id(item) if isinstance(item, Note) else (type(item), item.name)
