"""New jobs in the place of old ones, in documents that otherwise keep every byte.

Strategy. A document is somebody's: who changes one job of it must not touch what they wrote beside
it. But text that is written from a tree is not the text that was read.

The idea is that the reader tells where each job stands. What is between the jobs that change is
copied byte by byte: comments, declarations, white space, unchanged jobs.

Why it is right: a job is replaced from its first byte to its last, as the reader has proved them,
and the new text is a whole element, which names its own namespaces.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

from lxml.etree import _Element as Element

from sssjob.document import cutting, reader, text
from sssjob.document.bridge import from_tree, to_tree
from sssjob.document.cutting import Piece
from sssjob.document.files import CHUNK, opened
from sssjob.document.outermost import UNIT_TAGS, Wanted, is_block
from sssjob.document.patch import patched
from sssjob.document.places import place as place_of
from sssjob.document.places import split
from sssjob.errors import Finding, UnreadableDocument, finding
from sssjob.model import Block, Item, Job, JobGroup, Property, Reference, belonging

B = TypeVar("B", bound=Block)

Change = Callable[[Block], Block]

_TAIL = 256  # bytes before a job in which the start of its line is looked for
_JOB_TAGS = frozenset(tag for tag in UNIT_TAGS if tag.endswith("Job"))


def in_present_names(source: Path | bytes) -> Iterator[bytes]:
    """The bytes of documents, where each job object with older names is written anew.

    Memory holds a batch of them at a time. Raises ``UnreadableDocument``.
    """
    return _rewritten(source, lambda block: block, _has_older_names)


def rewrite(source: Path | bytes, change: Change) -> Iterator[bytes]:
    """The bytes of a document, or of several, with the jobs that ``change`` exchanges.

    ``change`` is given every job object, and gives it back, or another one. Memory holds a
    batch of them at a time. Raises ``UnreadableDocument``.
    """
    return _rewritten(source, change, lambda element: False)


def _rewritten(
    source: Path | bytes, change: Change, is_written_anew: Callable[[Element], bool]
) -> Iterator[bytes]:
    with opened(source) as stream:
        copy = _Copy(stream)
        for batch in reader.batches(source, wanted=Wanted.DOCUMENTS):
            for element, piece in zip(batch.units, batch.pieces(), strict=True):
                if not is_block(element):
                    continue
                block = from_tree(element, offset=batch.offset)
                changed = _at_home(block, change(block))
                whole = is_written_anew(element)
                pairs = _pairs(element, block, changed, piece)
                for old, new, home, place in [(block, block, element, piece)] if whole else pairs:
                    if not whole and (new is old or not isinstance(new, Block)):
                        continue
                    assert isinstance(new, Block)
                    if place.end < 0:
                        encoding = piece.around.origin or piece.around.encoding
                        raise UnreadableDocument(
                            unplaced("job objects", encoding, line=place.place.line)
                        )
                    yield from copy.until(place.place.start)
                    encoding = piece.around.origin or piece.around.encoding
                    there = _Home(home, encoding)
                    yield copy.replaced(place.end, there, None if whole else old, new)
        yield from copy.until(None)


def unplaced(what: str, encoding: str, *, line: int = 0) -> Finding:
    """What is said where bytes of an encoding do not tell where something stands."""
    message = (
        f"where its {what} stand is not known in {encoding.upper()}: write the document in UTF-8"
    )
    return finding("E-XML", message, line=line)


def _has_older_names(element: Element) -> bool:
    """Whether something in a job object has another name than it has in the present tables."""
    for child in element:
        if type(child.tag) is str:
            name = split(str(element.tag))[1]
            here = place_of(child.tag, name)
            if (here.implied and here.category != name) or here.name not in (
                child.tag, split(child.tag)[1]
            ):  # fmt: skip
                return True
            if here.block and _has_older_names(child):
                return True
    return False


def _at_home(old: B, new: B) -> B:
    """A changed block whose new elements are in the namespace of what they stand in.

    Those that are like one that stood there without, stay as that.
    """
    if new is old or not new.namespace:
        return new
    there = {id(item) for item in old.items}
    bare = {_bare(item) for item in old.items}
    kept = {id(item) for item in new.items}
    former: dict[str, list[Block]] = defaultdict(list)
    for item in old.items:
        if isinstance(item, Block) and id(item) not in kept:
            former[item.name].append(item)
    items: list[Item] = []
    for item in new.items:
        if id(item) in there:
            items.append(item)
        elif isinstance(item, Block) and former[item.name]:
            items.append(_at_home(former[item.name].pop(0), item))
        elif _bare(item) in bare - {""}:
            items.append(item)
        else:
            items.append(belonging(item, new.namespace))
    return new.holding(items)


def _bare(item: Item) -> str:
    """The name of an element in no namespace, else ""."""
    return item.name if isinstance(item, Block | Property) and not item.namespace else ""


def _pairs(
    element: Element, block: Block, changed: Block, piece: Piece
) -> Iterator[tuple[Item, Item, Element, Piece]]:
    """Each job before and after, its element, and its place."""
    if changed is block:
        return
    if not isinstance(block, JobGroup) or not _differ_in_jobs(block, changed):
        yield block, changed, element, piece
        return
    elements = [child for child in element if child.tag in _JOB_TAGS]
    places = cutting.parts(piece, element, frozenset(elements))
    yield from zip(_jobs(block), _jobs(changed), elements, places, strict=True)


def _differ_in_jobs(old: Block, new: Block) -> bool:
    """Whether two groups differ in their jobs only."""
    return (
        old.attributes == new.attributes
        and len(old.items) == len(new.items)
        and all(
            one is other
            or ((type(one) is Job or isinstance(one, Reference)) and type(other) is Job)
            for one, other in zip(old.items, new.items, strict=True)
        )
    )


def _jobs(group: Block) -> Iterator[Item]:
    """The jobs of a group, references to jobs included."""
    for item in group.items:
        if isinstance(item, (Job, Reference)) and item.name == "Job":
            yield item


class _Home(NamedTuple):
    """Where a new job will stand: in the place of an element, in a document's encoding."""

    element: Element
    encoding: str

    def dressed(self, was: Item | None, job: Block, raw: bytes, before: bytes) -> bytes:
        """What a job was, as text for this place, now that it is another; ``raw`` stood here.

        None of what was there is kept if ``was`` is None.
        """
        old = raw.decode(self.encoding, "replace")
        if isinstance(was, Block) and (kept := patched(old.encode(), self.element, was, job)):
            return kept.decode().encode(self.encoding, "xmlcharrefreplace")
        here = {prefix or "": uri for prefix, uri in self.element.nsmap.items() if uri}
        prefixes = {**job.prefixes, **here}
        new = to_tree(replace(job, prefixes=prefixes))
        if "\n" in old:
            line = before.decode(self.encoding, "replace").rpartition("\n")[2]
            text.put_on_lines(new, "\n" + (line if not line.strip(" \t") else ""))
        parent = self.element.getparent()
        written = text.within({} if parent is None else parent.nsmap, new)
        if "\n" not in old:
            written = text.on_one_line(written)
        elif "\r\n" in old:
            written = written.replace("\n", "\r\n")
        return written.encode(self.encoding, "xmlcharrefreplace")


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

    def replaced(self, end: int, home: _Home, old: Item | None, job: Block) -> bytes:
        """A new job for the bytes up to a place, which are left out."""
        before = self._before
        return home.dressed(old, job, b"".join(self.until(end)), before)
