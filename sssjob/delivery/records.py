"""Records on their way into jobs, wherever these stand: read, counted, and told of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sssjob.document import Source, opened
from sssjob.errors import Finding, Severity, finding
from sssjob.model import Job
from sssjob.records import Format, read_records
from sssjob.records.builders import OBJECTS
from sssjob.records.record import Bad, Converted, Noted, Options


class PlacedRecord(NamedTuple):
    """A record and where it was read; ``is_zoneless``: its times were read as UTC for want of a
    zone."""

    place: str
    job: Job
    is_zoneless: bool = False


class RecordRemark(NamedTuple):
    """What is worth knowing about the record before it, if that is about a job at all."""

    finding: Finding


@dataclass(slots=True)
class DeliveryCounts:
    """What became of records, in numbers."""

    records: int = 0
    bad: int = 0  # records, with documents that cannot be read at all (``unread``)
    unread: int = 0
    elsewhere: int = 0
    refused: int = 0
    delivered: int = 0
    changes: int = 0


def read(
    source: Source, name: str, format_: Format, zone: str, counts: DeliveryCounts
) -> Iterator[PlacedRecord | RecordRemark | Finding]:
    """The records of a source in their order, and what is to be said; bad ones are counted."""
    said: set[str] = set()
    is_zoneless = False
    with opened(source) as stream:
        for outcome in read_records(format_, stream, Options(zone=zone), OBJECTS):
            match outcome:
                case Converted(line=line, job=job):
                    counts.records += 1
                    yield PlacedRecord(f"{name}:{line}", job, is_zoneless)
                case Bad(line=line, reason=reason, column=column, code=code):
                    counts.bad += 1
                    counts.unread += outcome.unread
                    yield finding(code or "E-TYPE", reason, file=name, line=line, column=column)
                case Noted(severity=Severity.NOTICE):
                    pass
                case Noted(line=line, message=message, once=True, assumes_utc=assumes_utc):
                    is_zoneless |= assumes_utc
                    if message not in said:
                        said.add(message)
                        yield finding("I-UNIT", message, file=name, line=line)
                case Noted(line=line, message=message):
                    yield RecordRemark(finding("W-USELESS", message, file=name, line=line))
