"""A job object's text changed where its value changed: every other byte of it is kept.

*Strategy.* The old value and the new one become trees in the same way; so what differs between
these trees is what was changed, and nothing else. The old tree stands beside the tree that was
read, child by child, and that beside the places of its tags in the text. A child that is the same
in both keeps its bytes; one that differs inside is looked into; one that is gone is cut out, and a
new one is written between its neighbours. Where the trees do not stand side by side (an older
name became part of a Requested), nobody guesses: the whole element is written anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import spec
from sssjob.document import text
from sssjob.document.bridge import from_tree, to_tree
from sssjob.document.cutting import declared
from sssjob.document.parsing import parsed
from sssjob.document.places import TEXT, attributes, place, split
from sssjob.model import Block

_MARKUP = re.compile(
    rb"<(?:(?P<note>!--.*?-->|\?.*?\?>)|(?P<data>!\[CDATA\[.*?\]\]>)"
    rb"|(?P<end>/[^>]*>)|(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+>)",
    re.DOTALL,
)
# A name of two properties, by what it holds; see places.is_adapter.
_TWO_IN_ONE = {"Network": ("NetworkAdapter",)}
_MANY = 1 << 20  # pairs of children among which what they share is looked for


@dataclass(slots=True)
class Span:
    """Where a child begins and ends in a text; an element also has an inside, and children."""

    start: int
    end: int = 0
    inside: tuple[int, int] | None = None  # None for a note, and for a tag that closes itself
    children: list[Span] = field(default_factory=list)


class Edit(NamedTuple):
    """Bytes that come in the place of others."""

    start: int
    end: int
    new: bytes


class _Apart(Exception):
    """The trees do not stand side by side."""


def patched(raw: bytes, element: Element, old: Block, new: Block) -> bytes | None:
    """The text of a job object, in UTF-8, with what makes its old value the new one.

    ``element`` is its tree. None where that cannot be done.
    """
    prefixes = {prefix or "": uri for prefix, uri in element.nsmap.items() if uri}
    before, after = (to_tree(replace(block, prefixes=prefixes)) for block in (old, new))
    try:
        edits = list(_Patch(raw).element(spans(raw), element, before, after))
    except _Apart:
        return None
    found = applied(raw, edits)
    parent = element.getparent()
    scope = {} if parent is None else parent.nsmap
    read = from_tree(parsed(declared(found, scope)))
    is_it = read.items == new.items and read.attributes == new.attributes
    return found if is_it else None


def applied(raw: bytes, edits: Sequence[Edit]) -> bytes:
    """A text with edits that do not overlap."""
    pieces: list[bytes] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        pieces += (raw[at : edit.start], edit.new)
        at = edit.end
    return b"".join((*pieces, raw[at:]))


def blank_before(raw: bytes, span: Span) -> bytes:
    """The white space before the first child of an element."""
    assert span.inside is not None
    before = raw[span.inside[0] : span.children[0].start]
    return before[len(before.rstrip()) :]


def spans(raw: bytes) -> Span:
    """The one element of a well-formed text."""
    top = Span(0)
    above = [top]
    for found in _MARKUP.finditer(raw):
        if found["data"]:
            continue
        if found["end"]:
            span = above.pop()
            assert span.inside is not None
            span.inside, span.end = (span.inside[0], found.start()), found.end()
            continue
        span = Span(found.start(), found.end())
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

    def element(self, span: Span, read: Element, before: Element, after: Element) -> Iterator[Edit]:
        """What changes in an element. Raises ``_Apart``."""
        if before.tag != after.tag or attributes(before) != attributes(after):
            raise _Apart
        if _same(before, after):
            return
        if not _has_elements(before) and not _has_elements(after):
            yield self._value(span, before, after)
            return
        if span.inside is None or len(span.children) != len(read) or not _alike(read, before):
            raise _Apart
        if _texts(before) != _texts(after):
            raise _Apart
        yield from self._children(span, read, before, after)

    def _value(self, span: Span, before: Element, after: Element) -> Edit:
        """A new text for a value; the notes in it stay, behind it."""
        if span.inside is None or [_key(each) for each in before] != [_key(each) for each in after]:
            raise _Apart
        value = "".join(filter(None, (after.text, *(child.tail for child in after))))
        notes = b"".join(self.raw[each.start : each.end] for each in span.children)
        return Edit(*span.inside, value.translate(TEXT).encode() + notes)

    def _children(
        self, span: Span, read: Element, before: Element, after: Element
    ) -> Iterator[Edit]:
        """Children that are alike keep their bytes; of those with one tag, one became the other."""
        for step in _differences([*map(_key, before)], [*map(_key, after)]):
            if step.is_equal:
                continue
            old, new = before[step.old], after[step.new]
            for inner in _differences([*map(_tag, old)], [*map(_tag, new)]):
                at, end = step.old.start + inner.old.start, step.old.start + inner.old.stop
                if inner.is_equal:
                    for n, child in enumerate(new[inner.new], at):
                        yield from self._child(span.children[n], read[n], before[n], child)
                else:
                    yield from self._exchanged(span, read, at, end, new[inner.new])

    def _exchanged(
        self, span: Span, read: Element, at: int, end: int, new: Sequence[Element]
    ) -> Iterator[Edit]:
        """Children that come in the place of others."""
        assert span.inside is not None
        for child in span.children[at:end]:
            yield Edit(self._after_blank(span, child.start), child.end, b"")
        if new:
            behind = span.children[at - 1].end if at else span.inside[0]
            yield Edit(behind, behind, b"".join(self._written(span, read, each) for each in new))

    def _child(self, span: Span, read: Element, before: Element, after: Element) -> Iterator[Edit]:
        """What changes in a child, or all of it."""
        try:
            edits = list(self.element(span, read, before, after))
        except _Apart:
            parent = read.getparent()
            assert parent is not None
            edits = [Edit(span.start, span.end, self._text(span.start, parent, after))]
        yield from edits

    def _after_blank(self, span: Span, start: int) -> int:
        """Where the white space begins that stands before a child."""
        assert span.inside is not None
        kept = self.raw[span.inside[0] : start].rstrip()
        return span.inside[0] + len(kept)

    def _written(self, span: Span, read: Element, new: Element) -> bytes:
        """A new child, on a line of its own where its neighbours have theirs."""
        if not span.children:
            raise _Apart
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


class _Step(NamedTuple):
    """What of two sequences is the same, or comes in the place of the other."""

    is_equal: bool
    old: slice
    new: slice


def _differences(old: Sequence[Any], new: Sequence[Any]) -> Iterator[_Step]:
    """The steps from one sequence to the other, in order."""
    start, most = 0, min(len(old), len(new))
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    if start:
        yield _Step(True, slice(0, start), slice(0, start))
    a, b = old[start : len(old) - end], new[start : len(new) - end]
    steps: Sequence[tuple[str, int, int, int, int]]
    if len(a) * len(b) > _MANY:
        steps = [("replace", 0, len(a), 0, len(b))]
    else:
        steps = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    for tag, i, j, k, m in steps:
        yield _Step(tag == "equal", slice(start + i, start + j), slice(start + k, start + m))
    if end:
        yield _Step(True, slice(len(old) - end, len(old)), slice(len(new) - end, len(new)))


def _alike(read: Element, before: Element) -> bool:
    """Whether the children of a tree that was read became those of its value, one by one."""
    container = split(str(read.tag))[1]
    if len(read) != len(before):
        return False
    for one, other in zip(read, before, strict=True):
        if type(one.tag) is not str or type(other.tag) is not str:
            if one.tag is not other.tag:
                return False
            continue
        if container not in spec.CONTAINER:
            if one.tag != other.tag:
                return False
            continue
        here = place(one.tag, container)
        is_moved = here.implied and here.category != container
        known = here.name, split(one.tag)[1], *_TWO_IN_ONE.get(here.name, ())
        if is_moved or split(str(other.tag))[1] not in known:
            return False
    return True


def _texts(element: Element) -> list[str]:
    """What stands between children; where there is only white space, nothing does."""
    found = (element.text, *(child.tail for child in element))
    return [each for each in found if each and each.strip()]


def _has_elements(element: Element) -> bool:
    return next(element.iterchildren(etree.Element), None) is not None


def _tag(element: Element) -> str:
    """The tag of an element; a note is like no other."""
    return element.tag if type(element.tag) is str else f"{id(element)}"


def _same(one: Element, other: Element) -> bool:
    return _key(one) == _key(other)


def _key(element: Element) -> bytes:
    return etree.tostring(element, with_tail=False)
