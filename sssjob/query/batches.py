"""Many job objects at once: bytes of a stream, cut where job objects begin, as small documents.

Two kinds of source are cut: documents of one line each, and one document whose job objects begin
on lines of their own. Where to cut is a guess by these bytes; what is read from a batch proves it.
A document of job objects is well-formed only if every piece of it is, put between the start and
end tags of its wrapper, unless a cut fell into a comment or the like, and then the piece before
it is not. A batch that is not as it seemed goes back, with all that follows it, to whoever reads
job object by job object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import spec
from sssjob.document import tree
from sssjob.document.pull import TAGS, Located, is_stranger
from sssjob.query.match import LINES

SIZE = 1 << 18  # bytes of one batch: some 300 job objects
_LONGEST = 1 << 22  # bytes without a place to cut, from which on nothing is cut

_NAME = rb"(?:[A-Za-z_][\w.-]*:)?[A-Za-z_][\w.-]*"
_DECLARATION = rb"<\?xml\s[^<>?]*\?>"
_START = rb"<%s(?:\s[^<>]*)?(?<!/)>\s*" % _NAME
_HEAD = re.compile(
    rb"(?P<before>\A(?:\xef\xbb\xbf)?(?:%s)?\s*)(?P<wrappers>(?:%s){1,4}?)"
    rb"(?P<unit><(?P<prefix>(?:[A-Za-z_][\w.-]*:)?)Job(?:Group)?[\s/>])" % (_DECLARATION, _START)
)
_ENCODING = re.compile(rb"encoding\s*=\s*[\"']([^\"']*)", re.IGNORECASE)
_TAG = re.compile(rb"<(%s)" % _NAME)
_UNIT = re.compile(rb"Job(?:Group)?[\s/>]")
_LINE_WRAPPER = LINES.encode()

_STANDARD = {"s": spec.NAMESPACE}
_UNITS = "*[self::Job or self::JobGroup or self::s:Job or self::s:JobGroup]"
_COUNT = etree.XPath(f"count({_UNITS})", namespaces=_STANDARD)
_APART = etree.XPath("count(*[contains(following-sibling::node()[1][self::text()], '\n')])")
_STRAY = etree.XPath(
    f"boolean(node()[not(self::{_UNITS})][not(self::text()) or normalize-space()])",
    namespaces=_STANDARD,
)


class Batch(NamedTuple):
    """Bytes of some job objects, and how many lines and bytes were cut before them."""

    data: bytes
    line: int
    before: int = 0
    is_last: bool = False


class Frame(NamedTuple):
    """What stands around each batch of a stream, so that it is a document of its own."""

    is_lines: bool
    before: bytes
    after: bytes

    def document(self, batch: Batch) -> bytes:
        """The document that a batch is."""
        ends = self.is_lines or not batch.is_last
        return self.before + batch.data + (self.after if ends else b"")

    def parsed(self, batch: Batch) -> Located | None:
        """The root of a batch as a document of its own; None if it is not as it seemed."""
        try:
            root = tree.parsed(self.document(batch))
        except etree.XMLSyntaxError:
            return None
        if self.is_lines and not _is_document_a_line(root, batch.data):
            return None
        has_namespaces = b"xmlns" in self.before or b"xmlns" in batch.data
        if has_namespaces and any(map(is_stranger, root.iter(*TAGS))):
            return None
        return Located(root, batch.line - self.before.count(b"\n"))


class Cutter:
    """The batches of a stream, and what is left of it when they end early."""

    def __init__(self, stream: BinaryIO, head: bytes) -> None:
        self.stream = stream
        self.is_lines = tree.is_lines(head)
        self.possible = self.is_lines
        self.before, self.after, self.boundary = b"<%s>" % _LINE_WRAPPER, b"", b"\n"
        self.rest = head
        self.taken = 0
        if self.is_lines:
            self.after = b"</%s>" % _LINE_WRAPPER
        elif found := _HEAD.match(head):
            self._wrapped(found, head)
        self.line = 0 if self.is_lines else self.before.count(b"\n")

    def __iter__(self) -> Iterator[Batch]:
        """Batches in order; ends early, with a ``rest``, where no place to cut is found."""
        ended = False
        while self.possible:
            enough = len(self.rest) >= SIZE or ended
            place = (self._place(SIZE) or self._place(len(self.rest))) if enough else 0
            if place:
                yield self._taken(place)
            elif ended:
                if self.rest:
                    yield self._taken(len(self.rest))._replace(is_last=True)
                return
            elif len(self.rest) > _LONGEST:
                return
            else:
                more = self.stream.read(SIZE)
                self.rest += more
                ended = not more

    @property
    def frame(self) -> Frame:
        """What stands around its batches."""
        return Frame(self.is_lines, self.before, self.after)

    def parsed(self, batch: Batch) -> Located | None:
        """The root of a batch as a document of its own; None if it is not as it seemed."""
        return self.frame.parsed(batch)

    def going_on(self, unread: Sequence[Batch], on_error: tree.OnError | None) -> Iterator[Located]:
        """The job objects of batches and of all that follows, read one by one."""
        if not self.possible:
            return tree.going_on(self.stream, self.rest, 0, as_lines=False, on_error=on_error)
        first = next(iter(unread), Batch(b"", self.line, self.taken))
        data = b"".join(batch.data for batch in unread) + self.rest
        if self.is_lines:
            return tree.going_on(self.stream, data, first.line, as_lines=True, on_error=on_error)
        kept = self.before.count(b"\n")
        return tree.going_on(
            self.stream, self.before + data, first.line - kept,
            as_lines=False, left_out=first.before, kept=kept, on_error=on_error,
        )  # fmt: skip

    def _wrapped(self, found: re.Match[bytes], head: bytes) -> None:
        names = [name.rpartition(b":")[2] for name in _TAG.findall(found["wrappers"])]
        encoding = _ENCODING.search(found["before"])
        plain = encoding is None or encoding[1].lower() in (b"utf-8", b"us-ascii")
        alone = found["wrappers"].rpartition(b"\n")
        if not plain or not alone[1] or any(name.decode() in spec.CONTAINER for name in names):
            return
        self.possible = True
        self.before = head[: found.start("unit")]
        self.after = b"".join(b"</%s>" % name for name in reversed(_TAG.findall(found["wrappers"])))
        # Only what stands as far to the right as the first one is outermost.
        self.boundary = b"\n" + alone[2] + b"<" + found["prefix"] + b"Job"
        self.rest = head[found.start("unit") :]

    def _place(self, end: int) -> int:
        """The last place before an end where a job object or, in lines, a line begins; or 0."""
        if self.is_lines:
            return self.rest.rfind(b"\n", 0, end) + 1
        while (place := self.rest.rfind(self.boundary, 0, end)) > 0:
            if _UNIT.match(self.rest, place + len(self.boundary) - len(b"Job")):
                return place
            end = place
        return 0

    def _taken(self, place: int) -> Batch:
        batch = Batch(self.rest[:place], self.line, self.taken)
        self.taken += place
        self.line += batch.data.count(b"\n")
        self.rest = self.rest[place:]
        return batch


def _is_document_a_line(root: Element, data: bytes) -> bool:
    """Whether each line that is not blank is one job object.

    As many job objects as lines, and a new line behind each of them: none shares its line or goes
    on in the next.
    """
    lines = sum(not line.isspace() for line in data.splitlines())
    return bool(_COUNT(root) == lines and _APART(root) >= lines - 1 and not _STRAY(root))
