"""What answers are sorted by: numbers as numbers, amounts in base units, all else as text.

>>> sorted([place("16"), place("4"), place("n1")]) == [place("4"), place("16"), place("n1")]
True
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import total_ordering
from math import isfinite, isnan
from typing import Any

from lxml.etree import _Element as Element

from sssjob import expression, units
from sssjob.errors import InvalidValue
from sssjob.query import functions
from sssjob.query.match import Match
from sssjob.query.question import Question
from sssjob.query.versions import DEFAULT, compile

_NUMBER, _TEXT, _MISSING = range(3)
_FARTHEST = Fraction(10) ** 400  # beyond what a double holds: where infinities stand
_OPENING = {"(": ")", "[": "]", "{": "}"}

Place = tuple[int, Fraction | str]


@total_ordering
@dataclass(frozen=True, slots=True)
class _Down:
    """A place in descending order."""

    place: Place

    def __lt__(self, other: _Down) -> bool:
        return other.place < self.place


@dataclass(frozen=True)
class SortKey:
    """One thing to sort by: a query that is asked of each element, and which way."""

    query: Question
    descending: bool = False

    def of(self, element: Element | None) -> tuple[bool, Place | _Down]:
        """Where an element stands in this order; those without a value stand last."""
        found = None if element is None else self.query.on(element)
        at = place(found)
        return at[0] == _MISSING, _Down(at) if self.descending else at


def place(found: Any) -> Place:
    """Where a value of XPath stands among others; of several nodes the first counts."""
    if isinstance(found, list):
        found = found[0] if found else None
    if isinstance(found, Element) and isinstance(found.tag, str):
        try:
            return _NUMBER, expression.amount(functions.as_property(found))
        except InvalidValue:
            return _text(Match(found).text)
    if isinstance(found, bool | int | float):
        if isnan(found):
            return _MISSING, ""
        return _NUMBER, Fraction(found) if isfinite(found) else _FARTHEST * (1 if found > 0 else -1)
    return (_MISSING, "") if found is None else _text(Match(found).text)


def keys(
    text: str, namespaces: Mapping[str, str] | None = None, version: str = DEFAULT
) -> tuple[SortKey, ...]:
    """Keys from a list as ``Project,-Delivered/Duration``; a minus sign sorts downwards.

    Raises ``NotAQuery``.
    """
    return tuple(
        SortKey(compile(part.removeprefix("-"), namespaces, version), part.startswith("-"))
        for part in split(text)
    )


def columns(
    text: str, namespaces: Mapping[str, str] | None = None, version: str = DEFAULT
) -> dict[str, Question]:
    """Queries by their text from a list as ``Id,User,Delivered/Duration``; raises ``NotAQuery``."""
    return {part: compile(part, namespaces, version) for part in split(text)}


def split(text: str) -> Iterator[str]:
    """The expressions between commas that stand outside of brackets and quotes.

    >>> list(split("Id, substring(Name, 1, 3), Feature[. != ',']"))
    ['Id', 'substring(Name, 1, 3)', "Feature[. != ',']"]
    """
    start, closing = 0, ""
    for index, letter in enumerate(text):
        if closing and letter == closing[-1]:
            closing = closing[:-1]
        elif closing and closing[-1] in "\"'":
            continue
        elif letter in "\"'":
            closing += letter
        elif letter in _OPENING:
            closing += _OPENING[letter]
        elif letter == "," and not closing:
            yield text[start:index].strip()
            start = index + 1
    yield text[start:].strip()


def _text(text: str) -> Place:
    try:
        return _NUMBER, units.number(text)
    except InvalidValue:
        return _TEXT, text
