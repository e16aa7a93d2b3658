"""Types of slots in a configuration of HTCondor: what each has of its machine, and whether there is
as much.

>>> share = read("cpus=4, 25%", ())
>>> list(overdrawn([SlotType(3, share)], {"cpus": Fraction(8)}, ()))
['the slots have 12 of 8 cpus together']
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

# What each machine has, and the words of which a name of it is the beginning.
_NAMED = (
    ("cpus", ("cpus",)), ("memory", ("memory", "ram")), ("disk", ("disk",)),
    ("swap", ("swap", "virtualmemory")),
)  # fmt: skip
STANDARD = tuple(name for name, _ in _NAMED)
_CHANGING = ("disk", "swap")  # of which a slot has a part, since there is not always as much

_PERCENT = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*%", re.ASCII)
_FRACTION = re.compile(r"(\d{1,9})\s*/\s*(\d{1,9})", re.ASCII)
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,6})?", re.ASCII)
_NEXT = re.compile(r"\s+(?=[A-Za-z_]\w*\s*=)", re.ASCII)


class SlotAmount(NamedTuple):
    """A part of what a machine has, or a number of it (MiB of memory); neither: an equal share of
    what nobody else has.
    """

    part: Fraction | None = None
    number: Fraction | None = None


class SlotShare(NamedTuple):
    """What one slot has: amounts by the names of resources, that of all others, and what is wrong
    with its text (True: such a slot is not made).
    """

    amounts: Mapping[str, SlotAmount]
    rest: SlotAmount
    wrong: tuple[tuple[str, bool], ...] = ()


class SlotType(NamedTuple):
    """So many slots of a share."""

    number: int
    share: SlotShare


def read(text: str, resources: Collection[str] | None) -> SlotShare:
    """What the text of a SLOT_TYPE_<N> says.

    ``resources`` are those that a machine has beside the four of every machine, by their names in
    small letters; None: nobody knows.
    """
    amounts: dict[str, SlotAmount] = {}
    rest = SlotAmount()
    wrong = []
    for word in _words(text):
        name, _, said = word.rpartition("=")
        name = name.strip()
        amount = _amount(said.strip())
        resource = _resource(name, resources) if name else ""
        if amount is None:
            told = f"{word!r} is no amount: a number, a part such as 1/4 or 25%, or auto is one"
            wrong.append((told, True))
        elif resource is None:
            wrong.append((f"{name}: no MACHINE_RESOURCE_{name} is set", True))
        elif not name and amount.number is not None:
            wrong.append((f"{word!r} is a number of nothing: cpus={word} would be one", True))
        elif not name:
            rest = amount
        else:
            if resource in _CHANGING and amount.number is not None:
                told = f"{word!r}: a part of it is expected, such as 25%, since it changes"
                wrong.append((told, False))
            if resource in amounts:
                wrong.append((f"{name}: {resource} is said twice", False))
            amounts[resource] = amount
    return SlotShare(amounts, rest, tuple(wrong))


def overdrawn(
    types: Sequence[SlotType], totals: Mapping[str, Fraction], resources: Collection[str],
    *, apart: bool = False,
) -> Iterator[str]:  # fmt: skip
    """What slots have together that their machine has not.

    ``totals`` are what it has, where that is known; ``resources`` as ``read`` takes them; the disks
    of slots are not one where they are ``apart``.
    """
    percents: dict[str, Fraction] = {}
    names = dict.fromkeys((*STANDARD, *sorted(resources)))
    for each in types:
        names.update(dict.fromkeys(each.share.amounts))
    told: list[str] = []
    for name in names:
        if name == "disk" and apart:
            continue
        given = [(each.number, each.share.amounts.get(name, each.share.rest)) for each in types]
        parts = sum((count * (amount.part or Fraction(0)) for count, amount in given), Fraction(0))
        total = totals.get(name)
        if parts > 1:
            percents[name] = parts * 100
        elif total is not None:
            told += _beyond(name, given, total)
    if len(percents) > 1 and percents.keys() == names.keys() and len({*percents.values()}) == 1:
        percents = {"all": next(iter(percents.values()))}
    for name, percent in sorted(percents.items()):
        yield f"the slots have {float(percent):g}% of {name} together"
    yield from told


def _beyond(name: str, given: list[tuple[int, SlotAmount]], total: Fraction) -> Iterator[str]:
    """What is wrong with amounts of one resource of which a machine has so many."""
    used = Fraction(0)
    open_ = 0
    for count, amount in given:
        if amount.number is not None:
            used += count * amount.number
        elif amount.part is not None:
            # A slot has at least one processor, and no part of one.
            each = amount.part * total
            used += count * (max(each.__floor__(), 1) if name == "cpus" else each)
        else:
            open_ += count
    if used > total:
        yield f"the slots have {float(used):g} of {float(total):g} {name} together"
    elif name == "cpus" and open_ > total - used:
        yield (
            f"{float(total - used):g} of {float(total):g} cpus are left for {open_} slots that "
            "share the rest"
        )


def _words(text: str) -> Iterator[str]:
    """The parts of a type, behind commas and before each name, without their constraints."""
    for part in text.split(","):
        word, _, _ = part.partition(":")
        yield from (each.strip() for each in _NEXT.split(word) if each.strip())


def _amount(text: str) -> SlotAmount | None:
    if found := _PERCENT.fullmatch(text):
        return SlotAmount(part=Fraction(found[1]) / 100)
    if (found := _FRACTION.fullmatch(text)) and int(found[2]):
        return SlotAmount(part=Fraction(int(found[1]), int(found[2])))
    if _NUMBER.fullmatch(text):
        return SlotAmount(number=Fraction(text))
    return SlotAmount() if text.lower() == "auto" else None


def _resource(name: str, resources: Collection[str] | None) -> str | None:
    """The resource that a name means, None if there is none."""
    lower = name.lower()
    if resources is not None and lower in resources:
        return lower
    for resource, words in _NAMED:
        if any(word.startswith(lower) for word in words):
            return resource
    return None if resources is not None else lower
