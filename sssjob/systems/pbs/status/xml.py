"""What ``qstat -f -x`` of TORQUE prints: ``<Data><Job>`` with an element for each attribute."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from lxml.etree import _Element as Element

from sssjob.records import xml_records
from sssjob.records.layout import Piece
from sssjob.records.record import Bad
from sssjob.systems.pbs.status import table

_FORM = xml_records.Form("job", re.compile(rb"<(/?)(Job)(?=[\s/>])"), (b"Data",))
# SSSRMAP has jobs in a Data element as well: theirs have an Id.
_JOB = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?<Data>\s*(?:<Job>\s*<Job_Id>|</Data>)")
_EMPTY = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?<Data\s*/>")


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that qstat of TORQUE printed it, or ""."""
    found = _JOB.match(head) or _EMPTY.match(head)
    return "<Data> with jobs that have a Job_Id" if found else ""


def pieces(stream: BinaryIO, first: int) -> Iterator[Piece]:
    """Every job. Raises ``UnusableInput`` where there is none."""
    for found in xml_records.read(stream, _FORM, first):
        if isinstance(found, Bad):
            yield found
            continue
        attributes = dict(_attributes(found.element))
        yield found.line, table.ListedJob(attributes.pop("Job_Id", ""), attributes, found.note)


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


LAYOUT = table.of_jobs(pieces, recognises)
