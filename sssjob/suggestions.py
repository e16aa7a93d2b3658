"""Advice on names: what was probably meant by one that the standard does not know."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from sssjob import spec

_FARTHEST = 2  # edits; more are another word
_SHORT = 4  # letters; in a name so short, two edits are half of another word
_LONGEST = 60  # characters; a longer name is no misspelling of ours


def nearest(name: str, names: Iterable[str]) -> str:
    """The name that differs in case only, or in at most two edits; "" if there is none.

    In a name of four letters or fewer, one edit.

    >>> nearest("Proccessors", ["Priority", "Processors"]), nearest("nope", ["oge", "pbs"])
    ('Processors', '')
    """
    if len(name) > _LONGEST:
        return ""
    known = sorted(names)
    same = [other for other in known if other.lower() == name.lower()]
    if same:
        return same[0]
    if len(name) <= _FARTHEST:
        return ""
    farthest = _FARTHEST if len(name) > _SHORT else 1
    far = ((_distance(name, other), other) for other in known)
    near = [each for each in far if each[0] <= farthest]
    return min(near)[1] if near else ""


def beginning(name: str, names: Iterable[str]) -> str:
    """The shortest name that begins with one of three letters or more, in any letters; or "".

    >>> beginning("mem", ["Memory", "MemoryBandwidth"]), beginning("Me", ["Memory"])
    ('Memory', '')
    """
    if len(name) <= _FARTHEST:
        return ""
    known = [other for other in names if other.lower().startswith(name.lower())]
    return min(known, key=lambda other: (len(other), other), default="")


def question(name: str, names: Iterable[str]) -> str:
    """The end of a message about a name that is none of these; "" if none is near.

    >>> question("usr", ["user", "group"])
    '; did you mean user?'
    """
    meant = nearest(name, names)
    return f"; did you mean {meant}?" if meant else ""


@lru_cache(1 << 12)
def advice(name: str, container: str = "") -> str:
    """A sentence of advice on an element name in a container, or ""."""
    for row in spec.ALIASES:
        if row.name == name:
            return f"{name} is an older name of {row.canonical}"
    here = [*spec.properties(container), *spec.blocks(container)] if container else ()
    found = nearest(name, here) or nearest(name, spec.names())
    return f"did you mean {found}?" if found and found != name else ""


def _distance(one: str, other: str) -> int:
    """How many letters to insert, drop, change or swap with their neighbour."""
    if abs(len(one) - len(other)) > _FARTHEST:
        return _FARTHEST + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        oldest, before, row = before, row, [i]
        for j, against in enumerate(other, 1):
            best = min(row[-1] + 1, before[j] + 1, before[j - 1] + (letter != against))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == against:
                best = min(best, oldest[j - 2] + 1)
            row.append(best)
        if min(row) > _FARTHEST:
            return _FARTHEST + 1  # no letter behind makes it less
    return row[-1]
