"""What the tables ask of a property in one place, looked up once for each tag and container."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from lxml.etree import _Element as Element

from sssjob import spec, units
from sssjob.check.values import Plain, plain
from sssjob.document.places import TagMeaning, place
from sssjob.units import XML_SPACE

_REMEMBERED = 1 << 16
# What has an id of its own in what.
IDENTIFIED = {"JobGroup": "Job", "Job": "TaskGroup", "TaskGroup": "Task"}

_SPECIAL = frozenset(("Id", "Network", "NotificationList", *units.DEFAULT_UNITS))


class CarriedAttribute(NamedTuple):
    """An attribute that an element may carry, and what tells that nothing is wrong with it."""

    row: spec.Attribute
    plain: Plain


class PropertyRule(NamedTuple):
    """All that is asked of a property in one place, looked up once for each tag and container."""

    place: TagMeaning
    row: spec.Element
    plain: Plain | None  # None: any text is right
    attributes: Mapping[str, CarriedAttribute]
    required: tuple[str, ...]
    key: str | tuple[str, ...]  # what a set of properties that were seen knows it by
    keys: tuple[str, ...] | None  # what tells two of one name apart; None: it may repeat
    special: bool  # it needs more than a look at its text


@lru_cache(_REMEMBERED)
def rule(tag: str, container: str) -> PropertyRule | None:
    """The rule for a property that the tables have in this place, or None."""
    here = place(tag, container)
    row = here.row
    if row is None:
        return None
    keys = row.repeats or ()
    return PropertyRule(
        place=here,
        row=row,
        plain=None if row.type in ("", spec.STRING) else plain(row.type, element=row.name),
        attributes=carried(row.name, here.category),
        required=spec.required(row.name),
        key=(row.name,) if here.implied else row.name,
        keys=None if here.category or keys is True else keys,
        special=row.name in _SPECIAL or here.alias is not None,
    )


def is_idle(element: Element, name: str, key: str) -> bool:
    """Whether an attribute of the tables is not understood there, for what stands beside it.

    The code of a Dependency counts with the condition OnExit only (5.1).
    """
    if key != "code" or name != "Dependency":
        return False
    return element.get("condition", "").strip(XML_SPACE) != "OnExit"


@lru_cache
def carried(element: str, category: str) -> dict[str, CarriedAttribute]:
    """The attributes that an element may carry in a category."""
    return {
        name: CarriedAttribute(row, plain(row.type, row, element, category))
        for name, row in spec.attributes(element, category).items()
    }
