"""Documents in parts: batches of the job objects of a source, each worked on by some process.

A batch is cut by a guess, and proves itself by being parsed. The first that is not as it seemed
goes, with all that follows it, to who reads one job object at a time in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple, TypeVar

from lxml.etree import _Element as Element

from sssjob.document.files import CHUNK, Source, Span, opened, span
from sssjob.document.pull import UNIT_TAGS, Located
from sssjob.query.batches import Batch, Cutter, Frame
from sssjob.workers import Workers

T = TypeVar("T")


class Part(NamedTuple):
    """A batch of a source, on its way to who works on it; with a ``span`` its bytes are there."""

    name: str
    frame: Frame
    batch: Batch
    span: Span | None = None

    def __str__(self) -> str:
        return f"{self.name}:{self.batch.line + 1}"

    def read(self) -> Batch:
        """The batch with its bytes. Raises ``OSError`` where they are in a file that changed."""
        return self.batch if self.span is None else self.batch._replace(data=self.span.read())

    def parsed(self) -> Located | None:
        """The root of the batch as a document of its own; None if it is not as it seemed."""
        return self.frame.parsed(self.read())

    def units(self) -> list[Located] | None:
        """The outermost Jobs and JobGroups of the batch; None if it is not as it seemed.

        Those that are documents by themselves are each the root of a tree.
        """
        if (found := self.parsed()) is None:
            return None
        root, offset = found
        units = [each for each in root.iter(*UNIT_TAGS) if not _is_inside(each)]
        if self.frame.is_lines:
            for unit in units:
                root.remove(unit)
        return [Located(unit, offset) for unit in units]


def worked(
    name: str, source: Source, stream: BinaryIO, workers: Workers[Any, T | None],
    rest: Callable[[Cutter, Sequence[Batch]], Iterator[T]],
) -> Iterator[T]:  # fmt: skip
    """What workers make of the parts of a source, and of what is left when these end early.

    ``stream`` reads the ``source``, which messages call ``name``. A worker gives None for a part
    that is not as it seemed: ``rest`` goes on from there, with batches that were cut in vain.
    """
    with opened(stream) as plain:
        cutter = Cutter(plain, plain.read(CHUNK))
        parts = _parts(name, cutter, span(source, plain))
        unread: list[Batch] = []
        for part, made in workers.in_order(parts, str):
            if made is None:
                unread = [each.read() for each in (part, *workers.waiting)]
                break
            yield made
        if unread or cutter.rest or not cutter.possible:
            yield from rest(cutter, unread)


def _parts(name: str, cutter: Cutter, file: Span | None) -> Iterator[Part]:
    frame = cutter.frame
    first = 0 if frame.is_lines else len(frame.before)
    for batch in cutter:
        if file is None:
            yield Part(name, frame, batch)
        else:
            there = file._replace(start=first + batch.before, size=len(batch.data))
            yield Part(name, frame, batch._replace(data=b""), there)


def _is_inside(element: Element) -> bool:
    return any(ancestor.tag in UNIT_TAGS for ancestor in element.iterancestors())
