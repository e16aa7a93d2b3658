"""What ``qstat -f -x`` of TORQUE prints: ``<Data><Job>`` with an element for each attribute."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from lxml.etree import _Element as Element

from sssjob.records import xml_records
from sssjob.records.layout import Piece
from sssjob.records.record import Bad, Noted
from sssjob.records.unread import unread
from sssjob.systems.pbs.status import table

_FORM = xml_records.RecordTags(
    "job", re.compile(rb"<(/?)(Job)(?=[\s/>])"), (b"Data",), frozenset(("Data",))
)
# SSSRMAP has jobs in a Data element as well: theirs have an Id.
_JOB = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?<Data>\s*<Job>\s*<Job_Id>")
_EMPTY = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?<Data\s*(?:/>|>\s*</Data\s*>)")


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that qstat of TORQUE printed it, or ""."""
    if _JOB.match(head):
        return "<Data> with jobs that have a Job_Id"
    return "<Data> without a job, as qstat prints it" if _EMPTY.match(head) else ""


def pieces(stream: BinaryIO, first: int) -> Iterator[Piece]:
    """Every job. Raises ``UnusableInput`` where there is none."""
    for found in xml_records.read(stream, _FORM, first):
        if isinstance(found, Bad | Noted):
            yield found
            continue
        beside = [
            f"{item.tag!s}@{name}" for item in found.element.iter("*") for name in item.attrib
        ]
        yield from unread(found.line, "XML attributes of a job", beside, frozenset())
        said = list(_attributes(found.element))
        attributes: dict[str, Any] = {}
        for name, value in said:
            attributes.setdefault(name, value)
        if len(attributes) < len(said):
            yield Noted(found.line, table.twice([name for name, _ in said]))
        yield found.line, table.ListedJob(attributes.pop("Job_Id", ""), attributes, found.note)


def _attributes(job: Element) -> Iterator[tuple[str, Any]]:
    """The attributes, those of a list by the names of both: ``Resource_List.mem``."""
    for element in job.iterchildren("*"):
        if element.tag == table.VARIABLES and not len(element):
            yield table.VARIABLES, table.variables((element.text or "").strip())
        else:
            yield from _texts(element, str(element.tag))


def _texts(element: Element, name: str) -> Iterator[tuple[str, str]]:
    """The text of an element and of all within it, each by the names of all that it is in."""
    text = (element.text or "").strip()
    if text or not len(element):
        yield name, text
    for part in element.iterchildren("*"):
        yield from _texts(part, f"{name}.{part.tag!s}")


LAYOUT = table.of_jobs(pieces, recognises)
