"""Texts against the data types, vocabularies and units of the tables: each fault as a message.

A check yields ``(code, message, suggestion)``; the walk in ``check`` knows the place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from sssjob import spec, suggestions, units
from sssjob.errors import InvalidValue
from sssjob.model import VALUE_READERS

Fault = tuple[str, str, str]
Plain = Callable[[str], object]

_DIGITS = re.compile(r"[ \t\r\n]*(?:\+?[0-9]{1,4000}|-0{1,4000})[ \t\r\n]*")


def plain(
    type_: str, attribute: spec.Attribute | None = None, element: str = "", category: str = ""
) -> Plain:
    """What tells texts about which a check says nothing: of a type, or of one attribute there."""
    if attribute is None:
        return (_PLAIN_AMOUNT if element in spec.COUNTED else _PLAIN)[type_]
    name = attribute.name
    if name == "units" and element in units.DEFAULT_UNITS:
        return frozenset(units.UNITS).__contains__
    if name == "context" and category:
        return frozenset(contexts(category)).__contains__
    if name == "dynamic" and category != spec.REQUESTED:
        return frozenset(("false",)).__contains__
    if attribute.values:
        return frozenset(attribute.values).__contains__
    return _PLAIN_ATTRIBUTE.get(name) or _PLAIN[attribute.type]


def check_text(type_: str, text: str) -> Iterator[Fault]:
    """Whether a text is of a data type of 2.2, and spelled as one writes it."""
    if type_ == spec.STRING:
        return
    stripped = text.strip(units.XML_SPACE)
    try:
        value = VALUE_READERS[type_](text)
    except InvalidValue as fault:
        yield "E-TYPE", str(fault), _repaired(type_, stripped)
        return
    if type_ == spec.BOOLEAN and stripped not in ("true", "false"):
        yield "W-TYPE", f"{stripped!r} is read as a Boolean", f"write {str(value).lower()}"
    elif type_ in (spec.DATETIME, spec.DURATION) and not _DIGITS.fullmatch(text):
        yield "W-TYPE", f"{stripped!r} is read as seconds", f"write {value}"
    if type_ == spec.DATETIME and value > units.TIME_LIMIT:
        yield "W-RANGE", f"{value} is more than 32 bits of seconds hold", ""


def check_amount(text: str) -> Iterator[Fault]:
    """Whether a number is one of something that there is."""
    try:
        below = units.number(text) < 0
    except InvalidValue:
        return
    if below:
        yield "W-RANGE", f"{text.strip(units.XML_SPACE)!r} is below zero", ""


def check_attribute(
    row: spec.Attribute, text: str, element: str = "", category: str = ""
) -> Iterator[Fault]:
    """Whether an attribute's value is of its type and vocabulary, and means something there."""
    name = row.name
    if row.words:
        yield from check_words(name, text, row.values)
    elif row.values:
        stripped = text.strip(units.XML_SPACE)
        for word in unknown_values(row, text):
            yield "E-UNKNOWN", _not_one_of(word, name, row.values), _meant(word, row.values)
        if stripped in row.values and stripped != text:
            yield "W-TYPE", f"{text!r} is read as {stripped}", f'write {name}="{stripped}"'
        if name == "context" and stripped in row.values and stripped not in contexts(category):
            meaning = "resources in use" if stripped == "Used" else "resources that may be used"
            yield "W-USELESS", f"{stripped} is of {meaning}, not of {category.lower()} ones", ""
    elif name == "units":
        yield from _check_units(element, text)
    else:
        faults = tuple(check_text(row.type, text))
        yield from faults
        if not any(code == "E-TYPE" for code, _, _ in faults):
            yield from _check_range(name, text, category)


def check_words(name: str, text: str, values: tuple[str, ...]) -> Iterator[Fault]:
    """Whether every word of a comma-separated list is one of its vocabulary."""
    for word in unknown_words(text, values):
        yield "E-UNKNOWN", _not_one_of(word, name, values), _meant(word, values)


def unknown_words(text: str, values: Iterable[str]) -> Iterator[str]:
    """The words of a comma-separated list that are not of its vocabulary."""
    if text.strip(units.XML_SPACE):
        for word in text.split(","):
            if (stripped := word.strip(units.XML_SPACE)) not in values:
                yield stripped


def unknown_values(row: spec.Attribute, text: str, element: str = "") -> Iterator[str]:
    """What of an attribute's value is not of its closed vocabulary; nothing if that is open."""
    stripped = text.strip(units.XML_SPACE)
    if row.words:
        yield from unknown_words(text, row.values)
    elif row.values:
        if stripped not in row.values:
            yield stripped
    elif row.name == "units" and any(_is_unknown(fault) for fault in _check_units(element, text)):
        yield stripped


def contexts(category: str) -> tuple[str, ...]:
    """The contexts that mean something in a category: "Used" is what Delivered says anyway.

    What was delivered may have been dedicated to the job, too, whether it used it or not.
    """
    if category == spec.REQUESTED:
        return ("Configured", "Available", "Dedicated")
    return ("Used", "Dedicated") if category else ("Configured", "Available", "Used", "Dedicated")


def _check_units(element: str, text: str) -> Iterator[Fault]:
    """Amounts of bytes state a unit of Appendix A; other resources have open units."""
    stripped = text.strip(units.XML_SPACE)
    if element not in units.DEFAULT_UNITS or text in units.UNITS:
        return
    try:
        meant = units.unit(text)
    except InvalidValue:
        yield "E-UNKNOWN", _not_one_of(stripped, "units", tuple(units.UNITS)), ""
    else:
        yield "W-TYPE", f"{text!r} is read as {meant}", f'write units="{meant}"'


def _is_unknown(fault: Fault) -> bool:
    return fault[0] == "E-UNKNOWN"


def _check_range(name: str, text: str, category: str) -> Iterator[Fault]:
    if name == "consumptionRate" and not 0 <= units.number(text) <= 1:
        yield "W-RANGE", f"{text!r} is no fraction between 0 and 1", "is it a percentage?"
    elif name == "count" and units.integer(text) < 1:
        yield "E-TYPE", f"{text!r} is no count of nodes, which is at least 1", ""
    elif name == "preference" and units.integer(text) == 0:
        yield "W-USELESS", "a preference of 0 prefers nothing", ""
    elif name == "dynamic" and category != spec.REQUESTED and units.boolean(text):
        yield "W-USELESS", "only what is requested may grow or shrink", ""


def _not_one_of(word: str, name: str, values: tuple[str, ...]) -> str:
    shown = word if len(word) <= 60 else word[:57] + "..."
    return f"{shown!r} is not a value of {name}, which is {', '.join(values)}"


def _meant(word: str, values: tuple[str, ...]) -> str:
    found = suggestions.nearest(word, values)
    return f"did you mean {found}?" if found else ""


def _repaired(type_: str, text: str) -> str:
    """What a number was probably meant to be, with separators and units told apart."""
    joined = text.replace(",", "").replace("_", "")
    if joined != text and type_ in (spec.INTEGER, spec.FLOAT, spec.DURATION):
        return f"write {joined}" if joined.isascii() and joined.isdigit() else ""
    amount = units.with_unit(text)
    if amount is None or type_ != spec.FLOAT:
        return ""
    try:
        return f'write {amount[0]} with units="{units.unit(amount[1])}"'
    except InvalidValue:
        return ""


def _written(form: str) -> Plain:
    """Whether a text has a form, with white space around it at most."""
    return re.compile(rf"[ \t\r\n]*(?:{form})[ \t\r\n]*").fullmatch


# Narrower than the readers: what these let pass needs no second look.
_PLAIN: dict[str, Plain] = {
    spec.STRING: lambda _: True,
    spec.INTEGER: _written(r"[+-]?[0-9]{1,400}"),
    spec.FLOAT: _written(r"[+-]?[0-9]{1,400}(?:\.[0-9]{1,400})?"),
    spec.BOOLEAN: _written("true|false"),
    spec.DATETIME: _written("[0-9]{1,9}|[0-3][0-9]{9}"),
    spec.DURATION: _written("[0-9]{1,400}"),
}
_PLAIN_AMOUNT = {
    spec.INTEGER: _written(r"\+?[0-9]{1,400}"),
    spec.FLOAT: _written(r"\+?[0-9]{1,400}(?:\.[0-9]{1,400})?"),
}
_PLAIN_ATTRIBUTE: dict[str, Plain] = {
    "consumptionRate": _written(r"0?\.[0-9]{1,400}|0|1"),
    "count": _written("[1-9][0-9]{0,400}"),
    "preference": _written("[+-]?[1-9][0-9]{0,400}"),
}
