"""What Slurm's words mean wherever they stand: node lists such as ``n[01-04,7],r[1-2]c[0-1]``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from sssjob.errors import InvalidValue

_NAME = re.compile(r"[^\s,\[\]]*(?:\[[0-9,\-]+\][^\s,\[\]]*)*")
_PART = re.compile(r"\[([0-9,\-]+)\]")
_ITEM = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")
# SSS 5.1 Node: "a range of nodes of the form: <prefix>[5-23,77]"
_RANGE = re.compile(r"[^\s,\[\]]*\[[0-9]+(?:-[0-9]+)?(?:,[0-9]+(?:-[0-9]+)?)*\]")


def is_range(text: str) -> bool:
    """Whether the whole list is one ``prefix[..]``, which the standard calls a Range."""
    return _RANGE.fullmatch(text) is not None


def expand(text: str, limit: int) -> tuple[str, ...] | None:
    """Every name of a list in its order, or None where there are more than ``limit``.

    Raises ``InvalidValue`` where the text is no node list.

    >>> expand("n[08-10],r[1-2]c0", 100)
    ('n08', 'n09', 'n10', 'r1c0', 'r2c0')
    """
    names: list[str] = []
    for host in _split(text):
        choices = [_choices(text, part, limit) for part in _alternating(host)]
        size = 1
        for choice in choices:
            if choice is None:
                return None
            size *= len(choice)
            if len(names) + size > limit:
                return None
        names.extend("".join(parts) for parts in product(*(c for c in choices if c is not None)))
    return tuple(names)


def _split(text: str) -> Iterator[str]:
    """The members of a list; a comma inside brackets separates nothing."""
    position = 0
    while True:
        found = _NAME.match(text, position)
        if not found or not found[0]:
            raise InvalidValue(text, "a node list such as n[01-04,7],m5")
        yield found[0]
        position = found.end()
        if position == len(text):
            return
        if text[position] != ",":
            raise InvalidValue(text, "a node list such as n[01-04,7],m5")
        position += 1


def _alternating(host: str) -> Iterator[tuple[bool, str]]:
    """Plain text and bracket contents in turn, each with whether it stood in brackets."""
    for index, part in enumerate(_PART.split(host)):
        yield index % 2 == 1, part


def _choices(text: str, part: tuple[bool, str], limit: int) -> list[str] | None:
    bracketed, content = part
    if not bracketed:
        return [content]
    chosen: list[str] = []
    for item in content.split(","):
        found = _ITEM.fullmatch(item)
        if not found:
            raise InvalidValue(text, "a node list such as n[01-04,7],m5")
        low, high = found[1], found[2] or found[1]
        if int(low) > int(high):
            raise InvalidValue(text, "a node list whose ranges ascend")
        if len(chosen) + int(high) - int(low) >= limit:
            return None
        # The low bound is printed padded to the width that all names of the range have.
        chosen.extend(str(number).zfill(len(low)) for number in range(int(low), int(high) + 1))
    return chosen
