"""Job objects with the bytes that they were read from, so that these can be kept, or replaced."""

from __future__ import annotations

from collections.abc import Iterator

from sssjob.document import reader
from sssjob.document.batches import Batch, OnError, Slice, without_jobs
from sssjob.document.files import Source
from sssjob.errors import UnreadableDocument

__all__ = ["Slice", "slices"]


def slices(source: Source, *, on_error: OnError | None = None) -> Iterator[Slice]:
    """The outermost Jobs and JobGroups of a source, each cut out; read as ``tree.units`` reads.

    A document without any is told as what cannot be read, unless it is an empty wrapper.
    """

    def tell(error: UnreadableDocument) -> None:
        if on_error is None:
            raise error
        on_error(error)

    for batch in reader.batches(source, on_error=on_error):
        yield from of_batch(batch, tell)


def of_batch(batch: Batch, tell: OnError) -> Iterator[Slice]:
    """The same of a batch."""
    found = tuple(batch.slices())
    yield from found
    if not found and (error := without_jobs(batch.root, batch.offset)):
        tell(error)
