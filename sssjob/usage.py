"""What was used over time: an amount for a duration at an average rate (SSS 5.1).

>>> item = Property("Processors", 4, {"duration": "1234", "consumptionRate": "0.63"})
>>> units.decimal(usage(item))
'3109.68'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from sssjob import expression, spec, units
from sssjob.model import Block, Property

_RATE = "consumptionRate"
_CONSUMED = frozenset(row.name for row in spec.CONSUMABLES) | {"Resource"}


@dataclass(frozen=True, slots=True)
class Usage:
    """The use of one delivered resource, in seconds times its amount: bytes, or a count.

    ``held`` is what it would have been at a rate of 1.
    """

    item: Property
    total: Fraction
    held: Fraction


def usage(item: Property, duration: int | None = None) -> Fraction | None:
    """Amount times duration times consumptionRate, or None if no duration is known.

    ``duration`` counts where the property has none of its own, and a rate of 1 where it has no
    consumptionRate. Raises ``InvalidValue``.
    """
    most = held(item, duration)
    return None if most is None else most * units.number(item.attributes.get(_RATE, "1"))


def held(
    item: Property, duration: int | Fraction | None = None, *,
    amount: Callable[[Property], Fraction] = expression.amount,
) -> Fraction | None:  # fmt: skip
    """Amount times duration, whatever the consumptionRate is; as ``usage`` otherwise."""
    stated = item.attributes.get("duration")
    seconds = duration if stated is None else units.duration(stated)
    return None if seconds is None else amount(item) * seconds


def average(
    items: Iterable[Property], seconds: int | Fraction, *,
    amount: Callable[[Property], Fraction] = expression.amount,
) -> Fraction:  # fmt: skip
    """What amounts are together for so many seconds, each for its own duration, or for all of them.

    ``amount`` reads each of them. Raises ``InvalidValue``.

    >>> average([Property("Processors", 4, {"duration": "5"})], 100)
    Fraction(1, 5)
    """
    found = (held(each, seconds, amount=amount) or Fraction() for each in items)
    return sum(found, Fraction()) / seconds


# decision 710
def processors(total: int, wall: int) -> tuple[Property, ...]:
    """Processors whose amounts times their durations are ``total`` processor seconds, exactly.

    One amount for a ``duration`` of at most ``wall`` seconds, how long the job ran, if there is
    one near the average; otherwise so many for as long as the job ran, and one more for a part of
    it, which are two groups (SSS 8.2).

    >>> [(each.text, each.attributes) for each in processors(300, 200)]
    [('2', {'duration': '150'})]
    >>> [(each.text, each.attributes) for each in processors(1124, 200)]
    [('5', {'group': '1'}), ('1', {'duration': '124', 'group': '2'})]
    """
    many, rest = divmod(total, wall)
    if not rest:
        return (Property("Processors", many),)
    for most in (many, many + 1):
        if most and total % most == 0 and total // most <= wall:
            return (Property("Processors", most, {"duration": str(total // most)}),)
    return (
        Property("Processors", many, {"group": "1"}),
        Property("Processors", 1, {"duration": str(rest), "group": "2"}),
    )


def usages(block: Block) -> tuple[Usage, ...]:
    """The use of each delivered resource of a job, task group or task, in document order.

    What is delivered for as long as the job ran says no duration; then that of Delivered
    counts, or the one beside it. Raises ``InvalidValue``.
    """
    found = block.delivered.value("Duration")
    if found is None:
        found = block.properties.value("Duration")
    seconds = found if isinstance(found, int) else None
    totals = (
        (item, usage(item, seconds), held(item, seconds))
        for item in block.delivered if item.name in _CONSUMED
    )  # fmt: skip
    return tuple(
        Usage(item, total, most)
        for item, total, most in totals if total is not None and most is not None
    )  # fmt: skip
