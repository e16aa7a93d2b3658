"""A document to its rows: one for its own object, and one for each job of a JobGroup."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from math import floor, isinf, isnan, nan, ulp
from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import defaults, spec, units
from sssjob.document import bridge
from sssjob.document.outermost import UNIT_TAGS
from sssjob.document.places import has_elements, names
from sssjob.errors import InvalidValue
from sssjob.legality import ILLEGAL
from sssjob.store import columns
from sssjob.store.columns import (
    ALL,
    BOTH,
    EFFECTIVE,
    GROUP,
    JOB,
    LONGEST,
    NAMES,
    ODD,
    PATHS,
    REFERENCE,
    SEPARATOR,
    WRITTEN,
    Says,
)
from sssjob.store.flat_properties import ONLY_GIVEN
from sssjob.store.identity import NAMED

Value = str | int | float | None
Row = tuple[Value, ...]  # in the order of ``columns.COLUMNS``

_PLACE, _KIND, _READING, _ODD = map(
    NAMES.index, (columns.PLACE, columns.KIND, columns.READING, ODD)
)
_STRING = etree.XPath("string()", smart_strings=False)
_NUMBER = etree.XPath("number($text)", smart_strings=False)
_NOWHERE = etree.Element("Nothing")
_EXACT = 16  # from so many digits on, a double may not hold a whole number
_MEASURED = frozenset(("metric", "context"))  # what says that an amount may not be what was given
_DOUBLE = re.compile(r"[ \t\r\n]*-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[ \t\r\n]*")
_ROUNDED = 4  # units in the last place, by which two readings of a text may differ
# Digits that a double holds exactly, on both sides of the point: there libxml2 computes what
# Python does. It computes the others in a way of its own, and is asked.
_PLAIN = re.compile(r"[ \t\r\n]*(-?)([0-9]{1,15})(?:\.([0-9]{1,15}))?[ \t\r\n]*")


class _FactPlaces(NamedTuple):
    """Where the facts about an element go: places in the row, -1 for those it has not."""

    text: int = -1
    low: int = -1
    high: int = -1
    bytes: int = -1
    bit: int = 0
    default_unit: str = ""
    attributes: tuple[tuple[str, int, int], ...] = ()  # name, place, bit
    number: int = -1  # of how many there are
    only_given: bool = False  # it is odd with a metric or a context
    inner: Mapping[str, _FactPlaces] | None = None  # what is asked of its children
    is_name: bool = False  # blanks around it say nothing


def rows(root: Element) -> list[Row]:
    """The rows of a document whose root is a Job or a JobGroup, in the order of their places.

    Where defaults or older names make the resolved document another one, there are rows for what
    is written and rows for what holds, told apart by ``reading``.
    """
    written, differs = _rows(root)
    if not differs:
        return [tuple(row) for row in written]
    resolved, _ = _rows(bridge.to_tree(defaults.resolve(bridge.from_tree(root)).block))
    for reading, those in ((WRITTEN, written), (EFFECTIVE, resolved)):
        for row in those:
            row[_READING] = reading
    return [tuple(row) for row in (*written, *resolved)]


class PropertySummary(NamedTuple):
    """What a row says of the properties of a name: in which places, and what these are.

    ``text`` is the place of their text, or ``low``, ``high`` and ``bytes`` of their numbers; -1 for
    those that there are not. Of their attributes only those named matter.
    """

    places: tuple[int, ...]
    text: int
    low: int
    high: int
    bytes: int
    attributes: frozenset[str]


@lru_cache(1 << 10)
def told_of(block: str, name: str) -> PropertySummary | None:
    """The same for a name in Requested, Delivered or, for "", in the job; None: a row says nothing.

    It says the same whatever else the job says, unless ``is_resolved``.
    """
    inner = _TOP[block].inner if block else _TOP
    leaf = (inner or {}).get(name)
    if leaf is None or leaf.inner is not None:
        return None
    some = leaf.text, leaf.low, leaf.high, leaf.bytes, *(place for _, place, _ in leaf.attributes)
    places = tuple(place for place in some if place >= 0)
    names = {"units"} if leaf.bytes >= 0 else set()
    names.update(name for name, _, _ in leaf.attributes)
    names.update(_MEASURED if leaf.only_given else ())
    return PropertySummary(places, leaf.text, leaf.low, leaf.high, leaf.bytes, frozenset(names))


def is_resolved(name: str) -> bool:
    """Whether a job with such a property may have rows for what is written and for what holds."""
    return name in _RESOLVED


def one_number(text: str) -> float | None:
    """The number that XPath of all versions makes of a text; None for others.

    >>> one_number("12.50"), one_number("7e")
    (12.5, None)
    """
    return None if isnan(value := number(text)) or _is_read_in_two_ways(text) else value


def number(text: str) -> float:
    """The number that XPath 1.0 makes of a text, to the last bit of libxml2; NaN for others.

    >>> number(" 12.50 "), number("1e3"), number("soon")
    (12.5, 1000.0, nan)
    """
    if len(text) < _EXACT and text.isascii() and text.isdecimal():
        return float(text)
    return _number(text)


@lru_cache(1 << 16)
def _number(text: str) -> float:
    plain = _PLAIN.fullmatch(text)
    if plain is None:
        # What no document can hold is no number either, and lxml does not take it.
        return nan if ILLEGAL.search(text) else float(_NUMBER(_NOWHERE, text=text))
    sign, whole, fraction = plain.groups()
    value = float(whole)
    if fraction:
        value += float(fraction) / 10.0 ** len(fraction)
    return -value if sign else value


@lru_cache(1 << 16)
def _is_read_in_two_ways(text: str) -> bool:
    """Whether XPath 2.0 may see another number than XPath 1.0, and not only by rounding.

    It is no number to one of them (``7e``), or whole for one and not for the other. The digits of
    a whole number that a double holds are not asked for.

    >>> _is_read_in_two_ways("7e"), _is_read_in_two_ways("29.17")
    (True, False)
    """
    if len(text) > LONGEST or _DOUBLE.fullmatch(text) is None:
        return True
    first, later = _number(text), float(text)
    if isinf(first) or isinf(later):
        return True
    try:
        exact = Decimal(text.strip())
    except InvalidOperation:  # an exponent beyond those of Decimal: no number that is known
        return True
    if first.is_integer() or exact == exact.to_integral_value() or later.is_integer():
        return not first == exact == later
    if not floor(first) == floor(exact) == floor(later):
        return True
    return abs(first - later) > _ROUNDED * ulp(later)


@lru_cache(1 << 16)
def in_bytes(text: str, unit: str) -> float | None:
    """An amount in bytes, the double that is nearest to it; None when it is none."""
    try:
        return float(units.bytes_of(text, unit))
    except (InvalidValue, OverflowError):
        return None


def _rows(root: Element) -> tuple[list[list[Value]], bool]:
    """The rows of a document, and whether the resolved one may have others."""
    _, kind = names(root)
    inner = [item for item in root.iter(*_UNITS) if item is not root]
    own, differs = _row(root, 0, GROUP if kind == GROUP else _kind(root))
    found = [own]
    regular = kind == GROUP
    for job in inner:
        if job.getparent() is not root or names(job)[1] != JOB:
            regular = False
            continue
        row, other = _row(job, len(found), _kind(job))
        found.append(row)
        differs = differs or other
    if inner and not regular:
        for row in found:
            row[_ODD] = ALL
    return found, differs


def _kind(job: Element) -> str:
    if len(job) and type(job[0].tag) is str:
        return JOB
    return JOB if has_elements(job) or not (job.text or "").strip() else REFERENCE


def _row(element: Element, place: int, kind: str) -> tuple[list[Value], bool]:
    row = list(_EMPTY)
    row[_PLACE], row[_KIND] = place, kind
    return row, _fill(row, element, _TOP)


def _fill(row: list[Value], element: Element, table: Mapping[str, _FactPlaces]) -> bool:
    """Put what the children say into the row; tell whether defaults or older names are there."""
    differs = False
    for child in element:
        leaf = table.get(child.tag)  # type: ignore[arg-type]  # str, or what a comment has
        if leaf is None:
            differs = differs or child.tag in _RESOLVED
            continue
        if leaf.number >= 0:
            row[leaf.number] += 1  # type: ignore[operator]  # a count is there from the start
        if leaf.inner is not None:
            differs = _fill(row, child, leaf.inner) or differs
            continue
        if len(child):
            text, differs = str(_STRING(child)), True
            row[_ODD] |= leaf.bit  # type: ignore[operator]  # text() finds but parts of it
        else:
            text = child.text or ""
        at = leaf.text
        if at >= 0:
            if leaf.is_name and text != text.strip(units.XML_SPACE):
                row[_ODD] |= leaf.bit  # type: ignore[operator]  # it is named without its blanks
            if row[at] is None and len(text) <= LONGEST:
                row[at] = text
            else:
                _add_text(row, at, leaf.bit, text)
        elif leaf.low >= 0:
            _add_number(row, leaf, text, child)
            if leaf.only_given and not _MEASURED.isdisjoint(child.keys()):
                row[_ODD] |= leaf.bit  # type: ignore[operator]
        else:
            row[_ODD] |= leaf.bit  # type: ignore[operator]  # it stands where it has no column
        for name, at, bit in leaf.attributes:
            value = child.get(name)
            if value is not None:
                _add_text(row, at, bit, value)
    return differs


def _add_text(row: list[Value], at: int, bit: int, text: str) -> None:
    old = row[at]
    if old is not None:
        # All of them, each between separators; the first one keeps its place.
        text = f"{old}{text}{SEPARATOR}" if str(old)[:1] == SEPARATOR else (
            f"{SEPARATOR}{old}{SEPARATOR}{text}{SEPARATOR}"
        )  # fmt: skip
    if len(text) > LONGEST:
        row[_ODD] |= bit  # type: ignore[operator]  # an integer, from the start
        text = text[:LONGEST]
    row[at] = text


def _add_number(row: list[Value], leaf: _FactPlaces, text: str, element: Element) -> None:
    if len(text) < _EXACT and text.isascii() and text.isdecimal():
        value = float(text)  # to whoever reads it
    elif isnan(value := _number(text)):
        row[_ODD] |= leaf.bit  # type: ignore[operator]
        return
    elif _is_read_in_two_ways(text):
        row[_ODD] |= leaf.bit  # type: ignore[operator]
    low = row[leaf.low]
    if low is None:
        row[leaf.low] = value
        if leaf.bytes >= 0:
            row[leaf.bytes] = in_bytes(text, element.get("units") or leaf.default_unit)
        return
    high = row[leaf.high] if leaf.high >= 0 else low
    if high is not None:
        row[_ODD] |= leaf.bit  # type: ignore[operator]  # a third number may lie between
    assert isinstance(low, float)
    row[leaf.low] = min(low, value)
    if leaf.high >= 0:
        assert isinstance(high, float | None)
        row[leaf.high] = max(low, value) if high is None else max(high, value)
    if leaf.bytes >= 0:
        row[leaf.bytes] = None


def _at(path: str, says: Says) -> int:
    name = columns.column(path, says)
    return -1 if name is None else NAMES.index(name)


def _tags(name: str) -> tuple[str, ...]:
    return tuple(f"{{{uri}}}{name}" if uri else name for uri in spec.NAMESPACES)


def _table(block: str) -> dict[str, _FactPlaces]:
    """What is asked of the children of a block, by their tags."""
    found: dict[str, _FactPlaces] = {}
    prefix = f"{block}/" if block else ""
    for path in (*PATHS, *columns.COUNTED):
        if not path.startswith(prefix):
            continue
        name, _, deeper = path[len(prefix) :].partition("/")
        here = prefix + name
        if deeper and deeper[0] != "@":
            leaf = _FactPlaces(number=_at(here, Says.COUNT), inner=_table(here))
        elif name[0] != "@" and not (name in found and deeper):
            leaf = _leaf(here)
        else:
            continue
        if name not in found or leaf.inner is not None:
            found[name] = leaf
    if block in (spec.REQUESTED, spec.DELIVERED):
        for name in columns.HOT[""]:
            if name not in spec.properties(block):
                found[name] = _FactPlaces(bit=columns.bit(name))
    return {tag: leaf for name, leaf in found.items() for tag in _tags(name)}


def _leaf(path: str) -> _FactPlaces:
    attributes = tuple(
        (each.rpartition("@")[2], _at(each, Says.TEXT), columns.bit(each))
        for each in PATHS
        if each.startswith(f"{path}/@")
    )
    return _FactPlaces(
        text=_at(path, Says.TEXT),
        low=_at(path, Says.LOW),
        high=_at(path, Says.HIGH),
        bytes=_at(path, Says.BYTES),
        bit=columns.bit(path),
        default_unit=units.DEFAULT_UNITS.get(path.rpartition("/")[2], ""),
        attributes=attributes,
        only_given=path.rpartition("/")[2] in ONLY_GIVEN,
        is_name=path.rpartition("/")[2] in NAMED,
    )


_UNITS = tuple(UNIT_TAGS)
_TOP = _table("")
# Elements that make a resolved document another one: defaults, and names that become others.
_RESOLVED = frozenset(
    tag
    for name in (*spec.DEFAULTS.values(), *(row.name for row in spec.ALIASES), "Network")
    for tag in _tags(name)
)
_EMPTY: list[Value] = [
    {columns.READING: BOTH, ODD: 0}.get(column.name, 0 if column.says is Says.COUNT else None)
    for column in columns.COLUMNS
]
