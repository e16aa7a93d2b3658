"""Values that several formats print, each read by one small parser.

A parser gives None where the text says that there is no value, and raises ``InvalidValue`` where
it is no such value at all.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import takewhile

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.integers import limit_seconds

_NUMBER = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{0,18})?(?:[eE][+-]?[0-9]{1,2})?")
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_NAME = re.compile(r"(?:[^,\[]++|\[[^\]]*+\]?)+")  # a comma in brackets is part of a name
_DURATION = re.compile(
    r"P(?:([0-9]{1,9})Y)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})W)?(?:([0-9]{1,9})D)?"
    r"(?:T(?:([0-9]{1,12})H)?(?:([0-9]{1,12})M)?(?:([0-9]{1,12})(?:[.,]([0-9]{1,18}))?S)?)?"
)


def is_whole(text: str) -> bool:
    """Whether a text is a whole number of 18 digits at most; more than 4300 no Python reads.

    >>> is_whole("7"), is_whole("9" * 19), is_whole("\u0661"), is_whole("")
    (True, False, False, False)
    """
    return len(text) <= 18 and text.isascii() and text.isdecimal()


def is_number(text: str) -> bool:
    """Whether a text is a number that records may have.

    >>> is_number("-1.5e3"), is_number("1e999"), is_number("")
    (True, False, False)
    """
    return bool(_NUMBER.fullmatch(text))


def names(text: str) -> list[str]:
    """Names with commas between them, as of nodes.

    >>> names("n1, n2,,m[1,3]")
    ['n1', 'n2', 'm[1,3]']
    """
    return [name for each in _NAME.findall(text) if (name := each.strip())]


def number(text: str) -> Fraction:
    """A decimal number, exactly.

    >>> number("1.5e1")
    Fraction(15, 1)
    """
    if is_whole(text):
        return Fraction(int(text))  # in a quarter of the time that a Fraction reads a text in
    if not _NUMBER.fullmatch(text):
        raise InvalidValue(text, "a number")
    return Fraction(text.removesuffix("."))


def is_unknown(text: str) -> bool:
    """Whether a text is the number -1, by which logs say that something is not known.

    >>> is_unknown("-1"), is_unknown("-1.000000"), is_unknown("-15"), is_unknown("1")
    (True, True, False, False)
    """
    return text[:2] == "-1" and not text[2:].removeprefix(".").strip("0") and text[2:3] in "."


def known_number(text: str) -> Fraction | None:
    """A number from 0 on; None for -1. Raises ``InvalidValue`` for any other below 0."""
    value = number(text)
    if text[0] != "-" or not value:
        return value
    if is_unknown(text):
        return None
    raise InvalidValue(text, "a number from 0 on, or -1 where it is not known")  # decision 1045


def amount(text: str) -> str | None:
    """A number from 0 on; -1 means that it is not known.

    >>> amount("0.50"), amount("-1")
    ('0.5', None)
    """
    if text.isdecimal() and text.isascii() and text[0] != "0" and len(text) <= 18:
        return text
    value = known_number(text)
    return None if value is None else units.decimal(value)


def count(text: str) -> str | None:
    """How many of something; 0 and -1 mean that it is not known."""
    value = known_number(text)
    if value and value.denominator != 1:
        raise InvalidValue(text, "a whole number")
    return str(int(value)) if value else None


def integer(text: str) -> str:
    """A whole number, below zero too.

    >>> integer("-007")
    '-7'
    """
    if not _INTEGER.fullmatch(text):
        raise InvalidValue(text, "a whole number")
    return str(int(text))


def seconds(text: str) -> str | None:
    """Seconds, half a second rounded up; -1 means that they are not known."""
    value = known_number(text)
    return None if value is None else str(units.rounded(value))


def limit(text: str) -> str | None:
    """A limit of time in seconds, rounded up; -1 means that there is none."""
    value = known_number(text)
    return None if value is None else str(limit_seconds(value))


def iso_duration(text: str) -> Fraction:
    """An ISO 8601 duration in seconds; a month and a year have no fixed length.

    >>> iso_duration("P1DT2H3M4,5S") == 93784 + Fraction(1, 2)
    True
    """
    found = _DURATION.fullmatch(text.strip())
    if not found or text.strip()[-1] in "PT":
        raise InvalidValue(text, "a duration such as PT1H30M")
    years, months, weeks, days, hours, minutes, whole, fraction = found.groups("0")
    if int(years) or int(months):
        raise InvalidValue(text, "a duration of fixed length, without years and months")
    total = ((int(weeks) * 7 + int(days)) * 24 + int(hours)) * 60 + int(minutes)
    return total * 60 + int(whole) + Fraction(int(fraction), 10 ** len(fraction))


def epoch(value: Fraction | int, text: str) -> str:
    """Seconds since 1970, a fraction cut off so that no start is after its end."""
    if not 0 <= value <= units.TIME_LIMIT:
        raise InvalidValue(text, "a time of 32 bits since 1970")
    return str(int(value))


def is_nearly(text: str, word: str) -> bool:
    """Whether a text is a word but for one letter: changed, lost, or one too many.

    >>> [is_nearly(text, "JOB") for text in ("JOB", "JB", "JOOB", "JOP", "BOJ")]
    [False, True, True, True, False]
    """
    if text == word or abs(len(text) - len(word)) > 1:
        return False
    pairs = zip(text, word, strict=False)
    at = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    more = len(text) - len(word)  # letters too many
    return text[at + (more >= 0) :] == word[at + (more <= 0) :]
