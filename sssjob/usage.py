"""What was used over time: an amount for a duration at an average rate (SSS 5.1).

>>> item = Property("Processors", 4, {"duration": "1234", "consumptionRate": "0.63"})
>>> units.decimal(usage(item))
'3109.68'
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sssjob import expression, spec, units
from sssjob.model import Block, Property

_CONSUMED = frozenset(row.name for row in spec.CONSUMABLES) | {"Resource"}


@dataclass(frozen=True, slots=True)
class Usage:
    """The use of one delivered resource, in seconds times its amount: bytes, or a count."""

    item: Property
    total: Fraction


def usage(item: Property, duration: int | None = None) -> Fraction | None:
    """Amount times duration times consumptionRate, or None if no duration is known.

    ``duration`` counts where the property has none of its own, and a rate of 1 where it has no
    consumptionRate. Raises ``InvalidValue``.
    """
    stated = item.attributes.get("duration")
    seconds = duration if stated is None else units.duration(stated)
    if seconds is None:
        return None
    rate = units.number(item.attributes.get("consumptionRate", "1"))
    return expression.amount(item) * seconds * rate


def usages(block: Block) -> tuple[Usage, ...]:
    """The use of each delivered resource of a job, task group or task, in document order.

    What is delivered for as long as the job ran says no duration; then that of Delivered
    counts, or the one beside it. Raises ``InvalidValue``.
    """
    found = block.delivered.value("Duration")
    if found is None:
        found = block.properties.value("Duration")
    seconds = found if isinstance(found, int) else None
    totals = ((item, usage(item, seconds)) for item in block.delivered if item.name in _CONSUMED)
    return tuple(Usage(item, total) for item, total in totals if total is not None)
