"""What can be asked of a job by name: properties, by older names too, and facts of the gateway."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType

from sssjob import spec, units
from sssjob.errors import shortened

JOB, GROUP = "Job", "JobGroup"


class AttributeType(StrEnum):
    """How the values of an attribute compare."""

    TEXT = "text"
    NUMBER = "number"
    AMOUNT = "amount"  # in its default unit
    TIME = "time"  # in seconds since 1970, UTC
    DURATION = "duration"  # in seconds
    FLAG = "flag"  # True or False


@dataclass(frozen=True, slots=True)
class ObjectAttribute:
    """A name that stands in Get, Set and Where, and what it means.

    ``name`` is the present name of a property. What is ``derived`` is known to the gateway and
    never set; ``hidden`` is shown where ShowHidden asks for it, or its name.
    """

    name: str
    kind: AttributeType = AttributeType.TEXT
    derived: bool = False
    hidden: bool = False
    extension: bool = False


# fmt: off
# What the gateway knows of a job besides its properties, by the names that Gold has.
DERIVED: Mapping[str, ObjectAttribute] = MappingProxyType({
    each.name: each for each in (
        ObjectAttribute("Stage", derived=True),
        ObjectAttribute("ModificationTime", AttributeType.TIME, derived=True, hidden=True),
        ObjectAttribute("Deleted", AttributeType.FLAG, derived=True, hidden=True),
        ObjectAttribute("Version", AttributeType.NUMBER, derived=True, hidden=True),
    )
})
# What Gold has for a job and the standard has not: kept as an Extension of that name.
EXTENSIONS: Mapping[str, ObjectAttribute] = MappingProxyType({
    "Description": ObjectAttribute("Description", extension=True),
})
# fmt: on
_NUMBERS = (spec.INTEGER, spec.FLOAT)
_SHOWN = 60  # characters
_REMEMBERED = 1 << 12  # names come from strangers


@lru_cache(_REMEMBERED)
def attribute(name: str, kind: str = JOB) -> ObjectAttribute | None:
    """What a name means for a Job or JobGroup; None if it means nothing.

    >>> attribute("WallDuration").name, attribute("Colour")
    ('Duration', None)
    """
    rows = spec.properties(kind)
    if name not in rows:
        alias = spec.alias(name, kind)
        if alias is None or alias.canonical not in rows:
            return DERIVED.get(name) or (EXTENSIONS.get(name) if kind == JOB else None)
        name = alias.canonical
    return ObjectAttribute(name, _kind(rows[name]))


def shown(text: str) -> str:
    """What a stranger wrote, as short as a message should be."""
    return shortened(text, _SHOWN)


def _kind(row: spec.Element) -> AttributeType:
    if row.name in units.DEFAULT_UNITS:
        return AttributeType.AMOUNT
    if row.type == spec.DATETIME:
        return AttributeType.TIME
    if row.type == spec.DURATION:
        return AttributeType.DURATION
    return AttributeType.NUMBER if row.type in _NUMBERS else AttributeType.TEXT
