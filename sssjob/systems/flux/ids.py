"""The ids of Flux's jobs, in the forms of its RFC 19. A payload imports this: nothing slow."""

from __future__ import annotations

_F58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def number(id: str) -> str:
    """The number of a job whose id may be in the F58 form of RFC 19; other texts as they are.

    >>> number("ƒiFkbMhFM"), number("f2"), number("17")
    ('91088924704768', '1', '17')
    """
    digits = id[1:]
    if id[:1] not in ("ƒ", "f") or not 0 < len(digits) <= 12 or not set(digits) <= set(_F58):
        return id
    value = 0
    for digit in digits:
        value = value * 58 + _F58.index(digit)
    return str(value)
