"""What the requests of a document probably do not mean, asked of the floor of meaning."""

from __future__ import annotations

import re

from lxml.etree import _Element as Element

from sssjob import spec, units
from sssjob.document.places import attributes, is_adapter, split, text_of
from sssjob.document.report import ObjectReport
from sssjob.errors import InvalidValue
from sssjob.expression.conflicts import COUNTED
from sssjob.expression.lint import lint
from sssjob.model import Property

# The operations about which nothing can be said; sets have no order.
ANY_OPERATION = ("EQ", "NE", "GE", "LE", "GT", "LT")
_WITH_AN_END = ("EQ", "LE", "LT")
_FROM_ONE = re.compile("[1-9][0-9]*").fullmatch  # as most counts are written
PLAIN_OPERATIONS = {"Feature": ("EQ", "NE"), "Node": ("EQ", "NE")}

# Said by the walk, which sees every value and every group.
_SAID = frozenset(("E-TYPE", "E-LIMIT", "W-GROUP-SWAP"))


def check(report: ObjectReport) -> None:
    """Say of each Requested element what readers take differently and what nothing satisfies."""
    root = report.root
    for requested in root.iter("{*}Requested"):
        if is_plain(requested) or not _is_understood(requested, root):
            continue
        children = [child for child in requested if type(child.tag) is str]
        items = [_property(child) for child in children]
        # The place of each child travels as its line, of which two may stand on one.
        for found in lint(
            Property(item.name, item.text, item.attributes, line=place)
            for place, item in enumerate(items)
        ):
            place = found.line
            if found.code not in _SAID:
                report.say(
                    found.code, children[place], found.message, found.section, found.suggestion
                )


def is_silent(element: Element) -> bool:
    """Whether it is certain, without values, that ``check`` finds nothing."""
    return all(map(is_plain, element.iter("{*}Requested")))


def is_plain(requested: Element) -> bool:
    """Whether each property is compared once, or lies in a range, and all are joined by And."""
    seen: dict[str, Element] = {}
    for child in requested:
        if type(child.tag) is not str:
            continue
        if (
            child.get("conj") is not None
            or child.get("group") is not None
            or child.get("op") == "Match"
            or child.get("aggregation") is not None
        ):
            return False
        name, op = _canonical(child), child.get("op", "EQ")
        is_doubtful = name in COUNTED and (op == "LT" or _FROM_ONE(child.text or "") is None)
        if is_doubtful and not leaves_some(child):
            return False
        if op not in PLAIN_OPERATIONS.get(name, ANY_OPERATION):
            return False
        first = seen.setdefault(name, child)
        if first is not child and not _is_range(first, child):
            return False
    return True


def leaves_some(count: Element) -> bool:
    """Whether a number of nodes or processors is left by a comparison that stands alone."""
    op = count.get("op", "EQ")
    if op not in _WITH_AN_END:
        return True
    try:
        return units.number(text_of(count)) > (op == "LT")
    except InvalidValue:
        return False


def _is_range(first: Element, second: Element) -> bool:
    """From a GE to an LE that is not below it, in the same units."""
    if (first.get("op"), second.get("op")) != ("GE", "LE") or first.get("units") != second.get(
        "units"
    ):
        return False
    try:
        return units.number(text_of(first)) <= units.number(text_of(second))
    except InvalidValue:
        return False


def _is_understood(requested: Element, root: Element) -> bool:
    """Whether it stands in elements that are known: of others, nothing that they hold counts."""
    node = requested.getparent() if requested is not root else None
    while node is not None:
        namespace, name = split(str(node.tag))
        if name not in spec.CONTAINER or namespace not in spec.NAMESPACES:
            return False
        node = node.getparent() if node is not root else None
    return True


def _canonical(element: Element) -> str:
    name = split(str(element.tag))[1]
    alias = spec.alias(name, spec.REQUESTED)
    return alias.canonical if alias else name


def _property(element: Element) -> Property:
    name, text = _canonical(element), text_of(element)
    if name == "Network" and is_adapter(text, element.keys()):
        name = "NetworkAdapter"
    return Property(name, text, attributes(element))
