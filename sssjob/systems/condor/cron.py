"""Facts for the ads of slots, as a job of startd cron prints them.

>>> from sssjob.features.keys import Value
>>> values: dict[str, Value] = {"total_cpu": 8, "hs06": "88.5"}
>>> print(lines(values), end="")
total_cpu = 8
hs06 = 88.5
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from sssjob import units
from sssjob.classads import long
from sssjob.classads.values import Ad
from sssjob.features import keys

if TYPE_CHECKING:
    from sssjob.classads.values import Attribute


def lines(values: Mapping[str, keys.Value], prefix: str = "", slot: int | None = None) -> str:
    """Features as attributes; numbers are numbers. ``slot`` restricts them to one slot.

    HTCondor itself puts a prefix that its configuration names before each.
    """
    ad: dict[str, Attribute] = {}
    for name, value in values.items():
        ad[f"{prefix}{name}"] = _attribute(name, value)
    if slot is not None:
        ad["SlotId"] = slot
    return long.write(Ad(ad))


def _attribute(name: str, value: keys.Value) -> Attribute:
    row = keys.key(name, (*keys.MACHINE_FEATURES, *keys.JOB_FEATURES))
    if row is not None and row.kind != keys.TEXT and isinstance(value, str):
        return units.approximate(Fraction(value))
    if isinstance(value, Fraction):
        return float(value)
    return value
