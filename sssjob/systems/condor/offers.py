"""The ad of a slot or machine as an offer, to be matched with requests.

>>> from sssjob.classads.values import Ad
>>> slot = offer(Ad({"Name": "slot1@n1", "Cpus": 4, "Memory": 2048, "HasIb": True}))
>>> slot.id, slot.amounts["Memory"], slot.names["Feature"]
('slot1@n1', 2147483648, ('Ib',))
"""

from __future__ import annotations

from collections.abc import Iterator

from sssjob.classads import evaluate
from sssjob.classads.question import one_question
from sssjob.classads.values import Ad
from sssjob.expression.offer import Offer
from sssjob.model import Property
from sssjob.systems.condor import names

_UNITS = {1 << 20: {"units": "MB"}, 1 << 10: {"units": "KB"}, 1: {}}
# What has a total and is no custom resource.
_COUNTED = frozenset(("cpus", "memory", "disk", "swap", "virtualmemory"))


@one_question
def offer(slot: Ad) -> Offer:
    """What a slot has to offer, of any kind of slot: a partitionable one what is left in it.

    Amounts are what it has, in the context Configured what the machine has. Custom resources
    (what has a ``TotalX`` beside its ``X``) are Resources, attributes ``Has...`` that are true
    Features. Raises ``InvalidValue``.
    """
    return Offer.of(slot.text("Name") or slot.text("Machine") or "slot", _properties(slot))


def resources(slot: Ad) -> dict[str, int]:
    """How many a slot has of each custom resource of its machine, GPUs for example."""
    found = {}
    for name in slot:
        if name.startswith("Total") and len(name) > 5 and name[5:].lower() not in _COUNTED:
            resource = name[5:]
            if f"Assigned{resource}" in slot or f"TotalSlot{resource}" in slot:
                count = evaluate.number(slot, resource)
                if isinstance(count, int):
                    found[resource] = count
    return found


def _properties(slot: Ad) -> Iterator[Property]:
    for element, (_, name, unit) in names.AMOUNTS.items():
        value = evaluate.number(slot, name)
        if value is not None and value >= 0:
            yield Property(element, int(value), _UNITS[unit])
        whole, unit = names.CONFIGURED[element]
        total = evaluate.number(slot, whole) if whole != name else None
        if total is not None and total >= 0:
            yield Property(element, int(total), {**_UNITS[unit], "context": "Configured"})
    yield Property("NodeCount", 1)
    for name, count in resources(slot).items():
        yield Property("Resource", count, {"name": names.resource(name)})
    if text := slot.text("Arch"):
        yield Property("Architecture", names.plain_architecture(text))
    if text := slot.text("OpSys"):
        yield Property("OperatingSystem", names.plain_system(text))
    if text := slot.text("Machine"):
        yield Property("Node", text)
    for name, held in slot.items():
        if name.startswith(names.HAS) and held is True:
            yield Property("Feature", name[len(names.HAS) :])
