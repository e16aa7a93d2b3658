"""The record engine: accounting records become job objects, whatever their format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from sssjob import registry
from sssjob.errors import UnusableInput
from sssjob.registry import Format

if TYPE_CHECKING:
    from sssjob.model import Job
    from sssjob.records.record import Options, Outcome
    from sssjob.records.roads import J, P, Road

__all__ = ["AUTO", "FORMATS", "Format", "find", "formats", "jobs", "read_records"]

AUTO = Format("auto", "sssjob.records.recognition", "whichever the records look like")
_HEAD = 1 << 12  # bytes that tell what is often taken for a format
FORMATS: dict[str, Format] = {AUTO.name: AUTO, **registry.formats()}


def formats() -> dict[str, Format]:
    """Every format by its name, those of other distributions last; none of them is imported."""
    return {AUTO.name: AUTO, **registry.all_formats()}


def find(name: str) -> Format:
    """The format of a name. Raises ``UnusableInput``, which lists those that are known."""
    if row := FORMATS.get(name):
        return row
    known = formats()
    if row := known.get(name):
        return row
    raise UnusableInput(f"{name!r} is no known record format; known: {', '.join(known)}")


def jobs(name: str, stream: BinaryIO, options: Options | None = None) -> Iterator[Outcome[Job]]:
    """What becomes of each record of a stream in the format of a name (``auto``: recognised).

    Raises ``UnusableInput`` where the format is not known or the stream is not in it.
    """
    from sssjob.records.record import Options
    from sssjob.records.roads import OBJECTS

    return read_records(find(name), stream, options or Options(), OBJECTS)


def read_records(
    format_: Format, stream: BinaryIO, options: Options, road: Road[P, J]
) -> Iterator[Outcome[J]]:
    """What becomes of each record, on one of the roads. Raises ``UnusableInput``."""
    yield from read_part(format_, checked(format_, stream), options, road)


def checked(format_: Format, stream: BinaryIO) -> BinaryIO:
    """The same stream. Raises ``UnusableInput`` where it begins with what is no such format."""
    mistaken = getattr(format_.load(), "mistaken", None)
    if mistaken is None:
        return stream
    from sssjob.records.head import looked_at

    head, stream = looked_at(stream, _HEAD)
    if reason := mistaken(head):
        raise UnusableInput(reason, 1)
    return stream


def read_part(
    format_: Format, stream: BinaryIO, options: Options, road: Road[P, J]
) -> Iterator[Outcome[J]]:
    """The same as ``read_records`` of a stream that was checked, or of a part of it."""
    module = format_.load()
    if hasattr(module, "records"):
        yield from module.records(stream, options, road)
        return
    from sssjob.records.record import Converted

    for outcome in module.jobs(stream, options):
        whole = isinstance(outcome, Converted)
        yield outcome._replace(job=road.whole(outcome.job)) if whole else outcome
