"""What ``qstat -f -x`` of TORQUE prints: ``<Data><Job>`` with an element for each attribute."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO, TypeVar

from lxml.etree import _Element as Element

from sssjob.model import Job
from sssjob.records import xml_records
from sssjob.records.record import Bad, Options, Outcome
from sssjob.records.roads import OBJECTS, Road
from sssjob.systems.pbs.status import table

P = TypeVar("P")
J = TypeVar("J")

_FORM = xml_records.Form("job", re.compile(rb"<(/?)(Job)(?=[\s/>])"), (b"Data",))
# SSSRMAP has jobs in a Data element as well: theirs have an Id.
_JOB = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?<Data>\s*(?:<Job>\s*<Job_Id>|</Data>)")
_EMPTY = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?<Data\s*/>")


def jobs(stream: BinaryIO, options: Options | None = None) -> Iterator[Outcome[Job]]:
    """What becomes of each job, in its order. Raises ``UnusableInput`` where there is none."""
    return records(stream, options or Options(), OBJECTS)


def records(stream: BinaryIO, options: Options, road: Road[P, J]) -> Iterator[Outcome[J]]:
    """The same on either road."""
    return table.outcomes(_listed(stream), options, road)


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that qstat of TORQUE printed it, or ""."""
    found = _JOB.match(head) or _EMPTY.match(head)
    return "<Data> with jobs that have a Job_Id" if found else ""


def _listed(stream: BinaryIO) -> Iterator[table.Listed | Bad]:
    for found in xml_records.read(stream, _FORM):
        if isinstance(found, Bad):
            yield found
            continue
        attributes = dict(_attributes(found.element))
        yield table.Listed(found.line, attributes.pop("Job_Id", ""), attributes, found.note)


def _attributes(job: Element) -> Iterator[tuple[str, Any]]:
    """The attributes, those of a list by the names of both: ``Resource_List.mem``."""
    for element in job.iterchildren("*"):
        name, text = str(element.tag), (element.text or "").strip()
        if name == table.VARIABLES:
            yield name, table.variables(text)
        elif len(element):
            for part in element.iterchildren("*"):
                yield f"{name}.{part.tag!s}", (part.text or "").strip()
        else:
            yield name, text
