"""Texts against the data types, vocabularies and units of the tables: each fault as a message.

A check yields ``(code, message, suggestion)``; the walk in ``check`` knows the place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sssjob import spec, spelling, units
from sssjob.errors import InvalidValue

Fault = tuple[str, str, str]

_SPACE = " \t\r\n"
_DIGITS = re.compile(r"[ \t\r\n]*\+?[0-9]{1,4000}[ \t\r\n]*")
_LOOSE_UNITS = re.compile(r"([kmgtpezyn])?i?b?", re.IGNORECASE)


def check_text(type_: str, text: str) -> Iterator[Fault]:
    """Whether a text is of a data type of 2.2, and spelled as one writes it."""
    if type_ == spec.STRING:
        return
    try:
        value = _READERS[type_](text)
    except InvalidValue as fault:
        yield "E-TYPE", str(fault), _repaired(type_, text)
        return
    if type_ == spec.BOOLEAN and text.strip(_SPACE) not in ("true", "false"):
        yield "W-TYPE", f"{text.strip(_SPACE)!r} is read as a Boolean", f"write {str(value).lower()}"
    elif type_ in (spec.DATETIME, spec.DURATION) and not _DIGITS.fullmatch(text):
        yield "W-TYPE", f"{text.strip(_SPACE)!r} is read as seconds", f"write {value}"
    if type_ == spec.DATETIME and value > units.TIME_LIMIT:
        yield "W-RANGE", f"{value} is more than 32 bits of seconds hold", ""


def check_attribute(row: spec.Attribute, text: str) -> Iterator[Fault]:
    """Whether the value of an attribute is of its type, and one of its vocabulary if it has one."""
    if row.values:
        words = text.split(",") if row.words else [text]
        for word in words:
            if word.strip(_SPACE) not in row.values:
                yield "E-UNKNOWN", _not_one_of(word, row.name, row.values), _meant(word, row.values)
        return
    faulty = False
    for fault in check_text(row.type, text):
        faulty = fault[0] == "E-TYPE"
        yield fault
    if not faulty:
        yield from _check_range(row.name, text)


def check_words(text: str) -> Iterator[Fault]:
    """Whether every word of a NotificationList is one of its vocabulary."""
    for word in text.split(","):
        if word.strip(_SPACE) not in spec.NOTIFICATIONS:
            message = _not_one_of(word, "NotificationList", spec.NOTIFICATIONS)
            yield "E-UNKNOWN", message, _meant(word, spec.NOTIFICATIONS)


def check_units(name: str, text: str) -> Iterator[Fault]:
    """Whether an amount of bytes states a unit of Appendix A; other resources have open units."""
    if name not in units.DEFAULT_UNITS or text in units.UNITS:
        return
    loose = _LOOSE_UNITS.fullmatch(text.strip(_SPACE))
    if loose and text.strip(_SPACE):
        meant = f"{(loose[1] or '').upper()}B"
        yield "W-TYPE", f"{text!r} is read as a unit of Appendix A", f"write {meant}"
    else:
        yield "E-UNKNOWN", _not_one_of(text, "units", tuple(units.UNITS)), ""


def _check_range(name: str, text: str) -> Iterator[Fault]:
    if name == "consumptionRate" and not 0 <= units.number(text) <= 1:
        yield "W-RANGE", f"{text!r} is no fraction between 0 and 1", "is it a percentage?"
    elif name == "count" and units.integer(text) < 1:
        yield "E-TYPE", f"{text!r} is no count of nodes, which is at least 1", ""
    elif name == "preference" and units.integer(text) == 0:
        yield "W-USELESS", "a preference of 0 prefers nothing", ""


def _not_one_of(word: str, name: str, values: tuple[str, ...]) -> str:
    return f"{word.strip(_SPACE)!r} is not a value of {name}, which is {', '.join(values)}"


def _meant(word: str, values: tuple[str, ...]) -> str:
    found = spelling.nearest(word.strip(_SPACE), values)
    return f"did you mean {found}?" if found else ""


def _repaired(type_: str, text: str) -> str:
    """What a number was probably meant to be, with separators and units told apart."""
    plain = text.strip(_SPACE).replace(",", "").replace("_", "")
    if plain != text.strip(_SPACE) and type_ in (spec.INTEGER, spec.FLOAT, spec.DURATION):
        return f"write {plain}" if plain.isascii() and plain.isdigit() else ""
    number = re.match(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGTPEZY]?B)$", plain)
    return f'write {number[1]} with units="{number[2]}"' if number and type_ == spec.FLOAT else ""


_READERS = {
    spec.INTEGER: units.integer,
    spec.FLOAT: units.number,
    spec.BOOLEAN: units.boolean,
    spec.DATETIME: units.time,
    spec.DURATION: units.duration,
}
