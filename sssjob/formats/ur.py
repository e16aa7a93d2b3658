"""OGF Usage Record 1.0 (GFD.98), a format whose metrics, units and rates are kin to ours."""

from __future__ import annotations

import re

from sssjob.formats.usage_records import elements, of_elements
from sssjob.records.record import DELIVERED, Field

NAMESPACE = "http://schema.ogf.org/urf/2003/09/urf"


# A service level is "the quality of service" in GFD.98.
ELEMENTS = (*elements("UR"), Field("ServiceLevel", DELIVERED, "QualityOfService"))


def recognises(head: bytes) -> str:
    """What in the first bytes of a file tells that it holds usage records, or ""."""
    found = re.search(rb"<(?:[\w.-]{1,60}:)?(UsageRecords|JobUsageRecord|UsageRecord)[\s>]", head)
    return f"an element {found[1].decode()}" if found and NAMESPACE.encode() in head else ""


LAYOUT = of_elements("UR", ELEMENTS, recognises)
