"""What Grid Engine's words mean wherever they stand: states, sizes and times, by sge_types(5).

A reader gives None where nothing limits (INFINITY, and what is below zero: 8.1.9 takes that as no
limit), and raises ``InvalidValue`` where the text is no such value at all.
"""

from __future__ import annotations

import re
from fractions import Fraction

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.integers import limit_seconds

SECONDS = 11  # digits that seconds since 1970 have at most; more are milliseconds
GPU_TYPE = "gpu_type"  # a resource that a site has to have: the type of its GPUs

# What makes a wc_queue more than the name of a queue: a host or a host group, wildcards, logic.
QUEUE_PATTERN = re.compile(r"[@*?\[\]!&|()]")
_NUMBER = re.compile(r"(-?)(?:0[xX]([0-9a-fA-F]{1,16})|([0-9]{1,18})(\.[0-9]{0,9})?)")
_SIZE = re.compile(rf"({_NUMBER.pattern})([kKmMgGtT]?)")
_CLOCK = re.compile(r"([0-9]{0,9}):([0-9]{0,9}):([0-9]{0,9})")
_OCTAL = re.compile(r"0[0-7]+")
_INFINITY = "INFINITY"
_LETTERS = frozenset("qwhErtRdsSTNPxz")  # x: it is exiting, and still has its slots
_FACTORS = {"": 1, **{letter: base**power for base, letters in ((1000, "kmgt"), (1024, "KMGT"))
                      for power, letter in enumerate(letters, 1)}}  # fmt: skip


def state(letters: str) -> str:
    """The state behind qstat's letters, in the standard's words; "" where nobody knows one.

    >>> [state(letters) for letters in ("qw", "hqw", "Eqw", "dr", "tS", "z", "?")]
    ['Idle', 'Hold', 'Hold', 'Running', 'Suspended', 'Completed', '']
    """
    if not letters or not set(letters) <= _LETTERS:
        return ""
    if "z" in letters:
        return "Completed"
    if "w" in letters or "q" in letters:
        return "Hold" if "h" in letters or "E" in letters else "Idle"
    return "Suspended" if set(letters) & set("sSTN") else "Running"


def size(text: str) -> Fraction | None:
    """Bytes: a small letter multiplies by a power of 1000, a capital by one of 1024.

    >>> size("1.5G") == 1.5 * 2**30, size("1t") == 10**12, size("0144M") == 100 * 2**20
    (True, True, True)
    """
    if text.upper() == _INFINITY:
        return None
    if not (found := _SIZE.fullmatch(text)):
        raise InvalidValue(text, "a size such as 300M or 1.5G")
    value = _number(found[1])
    return None if value is None else value * _FACTORS[found[6]]


def in_seconds(text: str) -> str:
    """A time since 1970, which Univa counts in milliseconds since 8.2; what is none as it stands.

    >>> in_seconds("1690000000123"), in_seconds("1690000000"), in_seconds("later")
    ('1690000000', '1690000000', 'later')
    """
    return text[:-3] if len(text) > SECONDS and text.isdecimal() else text


def seconds(text: str) -> Fraction | None:
    """A time: seconds, or hours, minutes and seconds, of which those that are zero may be missing.

    >>> seconds("1::1"), seconds("90"), seconds("0x90"), seconds("infinity")
    (Fraction(3601, 1), Fraction(90, 1), Fraction(144, 1), None)
    """
    if text.upper() == _INFINITY:
        return None
    if found := _CLOCK.fullmatch(text):
        hours, minutes, rest = (int(part or 0) for part in found.groups())
        return Fraction(3600 * hours + 60 * minutes + rest)
    if not _NUMBER.fullmatch(text):
        raise InvalidValue(text, "a time such as 01:30:00, or seconds")
    return _number(text)


def limit(text: str) -> int | None:
    """A limit of time in whole seconds; None is no limit."""
    value = seconds(text)
    return None if value is None else limit_seconds(value)


def _number(text: str) -> Fraction | None:
    """A number, decimal, hexadecimal or octal as strtol has it; None below zero."""
    found = _NUMBER.fullmatch(text)
    assert found is not None
    minus, hexadecimal, whole, fraction = found.groups()
    if minus:
        return None
    if hexadecimal:
        return Fraction(int(hexadecimal, 16))
    if fraction is None and _OCTAL.fullmatch(whole):
        return Fraction(int(whole, 8))
    return Fraction(f"{whole}{fraction or ''}".removesuffix("."))


def written(number: int) -> str:
    """Bytes with the largest letter that keeps them whole; capitals multiply by 1024.

    >>> written(2 << 30), written(100)
    ('2G', '100')
    """
    return units.in_largest(number, ("", "K", "M", "G"))
