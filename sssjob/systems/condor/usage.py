"""What a job used, as the attributes of its ad tell it: amounts for Delivered.

Sizes are KiB, which ``KB`` is here; ``X_RAW`` is measured, ``X`` rounded up by the schedd.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from sssjob import units
from sssjob.classads import evaluate
from sssjob.classads.values import Ad
from sssjob.integers import LARGEST, SMALLEST
from sssjob.model import Property

# fmt: off
# The attributes that tell it, best first; the property, its attributes.
MEASURED = (
    (("ResidentSetSize_RAW", "ResidentSetSize"), "Memory", {"metric": "Max", "units": "KB"}),
    (("DiskUsage_RAW", "DiskUsage"),             "Disk",   {"metric": "Max", "units": "KB"}),
    (("MemoryProvisioned",),                     "Memory", {"context": "Dedicated", "units": "MB"}),
    (("DiskProvisioned",),                       "Disk",   {"context": "Dedicated", "units": "KB"}),
)
# What has no element of its own.
EXTENSIONS = ("ImageSize", "ProportionalSetSizeKb", "BlockReadKbytes", "BlockWriteKbytes",
              "ScratchDirFileCount")
# fmt: on


def number(ad: Ad, name: str) -> int | float | None:
    """The number that an attribute is or comes to, None where no job object can have it."""
    value = evaluate.number(ad, name)
    return value if value is not None and SMALLEST <= value <= LARGEST else None


def delivered(ad: Ad, duration: float | None = None) -> Iterator[Property]:
    """The properties of Delivered that an ad tells of, for a job that ran.

    ``duration`` in seconds is what the caller knows better than the ad.
    """
    seconds = wall_seconds(ad) if duration is None else duration
    if seconds is not None:
        yield Property("Duration", units.rounded(seconds))
    processors = number(ad, "CpusProvisioned") or number(ad, "RequestCpus")
    if processors is not None and processors >= 1 and ran(ad):
        used = number(ad, "CpusUsage")
        rate = None if used is None else Fraction(used).limit_denominator(10**6) / int(processors)
        attributes = {} if rate is None else {"consumptionRate": f"{float(rate):.4g}"}
        yield Property("Processors", int(processors), attributes)
    for sources, element, attributes in MEASURED:
        value = next((found for name in sources if (found := number(ad, name)) is not None), None)
        if value is not None and ran(ad) and value > 0:
            yield Property(element, int(value), attributes)
    for name in ad:
        if name.endswith("Provisioned") and name not in _SIZES and ran(ad):
            count = number(ad, name)
            if count:
                yield Property("Resource", int(count), {"name": name.removesuffix("Provisioned")})
    host = (ad.text("RemoteHost") or ad.text("LastRemoteHost")).rpartition("@")[2]
    if host:
        yield Property("Node", host)


_SIZES = ("CpusProvisioned", "MemoryProvisioned", "DiskProvisioned")


def ran(ad: Ad) -> bool:
    """Whether the job has ever been started."""
    return bool(number(ad, "JobStartDate") or number(ad, "JobCurrentStartDate"))


def wall_seconds(ad: Ad) -> float | None:
    """Seconds in the Running state of all starts: those of the wall clock less suspension."""
    wall = number(ad, "RemoteWallClockTime")
    if wall is None or not (wall or ran(ad)):
        return None
    return max(wall - (number(ad, "CumulativeSuspensionTime") or 0), 0)
