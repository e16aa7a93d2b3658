"""Job objects with the bytes that they were read from, so that these can be kept, or replaced."""

from __future__ import annotations

from collections.abc import Iterator

from sssjob.document import reader
from sssjob.document.batches import OnError, Slice
from sssjob.document.files import Source
from sssjob.document.outermost import Wanted

__all__ = ["Slice", "slices"]


def slices(source: Source, *, on_error: OnError | None = None) -> Iterator[Slice]:
    """The outermost Jobs and JobGroups of a source, each cut out; read as ``tree.units`` reads.

    A document without any is told as what cannot be read, unless it is an empty wrapper.
    """
    for batch in reader.batches(source, on_error=on_error, wanted=Wanted.JOBS):
        yield from batch.slices()
