"""Job objects as plain data for JSON: the same order, nothing left out."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.model import Block, Item, Note, Property, Reference


def as_dict(item: Item) -> dict[str, Any]:
    """A job object as dictionaries and lists.

    A block has ``element``, ``attributes`` and ``items``; a property ``element``, ``text`` as it
    was written, ``value`` by its data type (null where the text is not of it), ``attributes``
    and ``children``. Empty members are left out.
    """
    if isinstance(item, Note):
        return {item.kind: item.text}
    told: dict[str, Any] = {"element": item.name, "namespace": item.namespace}
    if isinstance(item, Block):
        told |= {"attributes": dict(item.attributes), "items": [as_dict(i) for i in item.items]}
    elif isinstance(item, Reference):
        told |= {"reference": item.id, "attributes": dict(item.attributes)}
    else:
        told |= {"text": item.text, "value": _value(item), "attributes": dict(item.attributes)}
        told["children"] = [as_dict(child) for child in item.children]
    return {name: value for name, value in told.items() if value not in ("", [], {})}


def _value(item: Property) -> str | int | float | bool | None:
    try:
        value = item.value
    except InvalidValue:
        return None
    if isinstance(value, Fraction):
        return units.approximate(value)
    return value
