"""Job objects with the bytes that they were read from, so that these can be kept, or replaced."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sssjob.document import reader
from sssjob.document.batches import Batch, OnError, Slice, without_jobs
from sssjob.document.files import Source
from sssjob.errors import hand_over

__all__ = ["Slice", "slices"]


def slices(source: Source, *, on_error: OnError | None = None) -> Iterator[Slice]:
    """The outermost Jobs and JobGroups of a source, each cut out; read as ``tree.units`` reads.

    A document without any is told as what cannot be read, unless it is an empty wrapper.
    """
    tell = partial(hand_over, on_error=on_error)
    for batch in reader.batches(source, on_error=on_error):
        yield from of_batch(batch, tell)


def of_batch(batch: Batch, tell: OnError) -> Iterator[Slice]:
    """The same of a batch."""
    found = tuple(batch.slices())
    yield from found
    if not found and (error := without_jobs(batch.root, batch.offset)):
        tell(error)
