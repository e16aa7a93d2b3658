"""The record engine: accounting records become job objects, whatever their format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from sssjob import registry
from sssjob.registry import Format

if TYPE_CHECKING:
    from sssjob.model import Job
    from sssjob.records.builders import Builder, J, P
    from sssjob.records.record import Options, Outcome
    from sssjob.records.runs import Met

__all__ = ["AUTO", "FORMATS", "Format", "find", "formats", "jobs", "read_records"]

AUTO = Format("auto", "", "whichever the records look like")
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
    if (system := registry.called(name)) and system.formats:
        return system.formats[0]
    raise registry.unknown(name, "record format", known, lambda row: row.formats)


def jobs(name: str, stream: BinaryIO, options: Options | None = None) -> Iterator[Outcome[Job]]:
    """What becomes of each record of a stream in the format of a name (``auto``: recognised).

    Raises ``UnusableInput`` where the format is not known or the stream is not in it.
    """
    from sssjob.records.builders import OBJECTS
    from sssjob.records.record import Options

    return read_records(find(name), stream, options or Options(), OBJECTS)


def read_records(
    format_: Format, stream: BinaryIO, options: Options, builder: Builder[P, J],
    met: Met | None = None,
) -> Iterator[Outcome[J]]:  # fmt: skip
    """What becomes of each record, as a builder makes it. Raises ``UnusableInput``.

    Runs that ``met`` knows are left out (``runs.Seen``).
    """
    from sssjob.records.engine import RecordEngine
    from sssjob.records.recognition import checked, recognised

    if format_ is AUTO:
        format_, notice, stream = recognised(stream)
        yield notice
    layout = format_.load()
    yield from RecordEngine(layout, options, builder).outcomes(checked(layout, stream), met=met)
