"""OGF Usage Record 1.0 (GFD.98), a format whose metrics, units and rates are kin to ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, TypeVar

from sssjob.formats import usage_records
from sssjob.model import Job
from sssjob.records.clock import Clock
from sssjob.records.record import DELIVERED, Field, Options, Outcome
from sssjob.records.roads import OBJECTS, Road

P = TypeVar("P")
J = TypeVar("J")

NAMESPACE = "http://schema.ogf.org/urf/2003/09/urf"


def elements(clock: Clock) -> tuple[Field, ...]:
    """The mapping; a service level is "the quality of service" in GFD.98."""
    level = Field("ServiceLevel", DELIVERED, "QualityOfService")
    return (*usage_records.elements("UR", clock), level)


def jobs(stream: BinaryIO, options: Options | None = None) -> Iterator[Outcome[Job]]:
    """What becomes of each record. Raises ``UnusableInput`` where there is none."""
    return records(stream, options or Options(), OBJECTS)


def records(stream: BinaryIO, options: Options, road: Road[P, J]) -> Iterator[Outcome[J]]:
    """The same on either road."""
    return usage_records.records(stream, options, road, elements, "UR")


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it holds usage records, or ""."""
    found = re.search(rb"<(?:[\w.-]{1,60}:)?(UsageRecords|JobUsageRecord|UsageRecord)[\s>]", head)
    return f"an element {found[1].decode()}" if found and NAMESPACE.encode() in head else ""
