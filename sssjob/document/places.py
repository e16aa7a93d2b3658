"""What a tag means where it stands, asked of the tables once and remembered.

Reading and checking ask the same question of every element; so they agree on older names, on
categories that a name implies, and on the one name that two properties share.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import spec, units
from sssjob.errors import InvalidValue
from sssjob.model import BLOCKS

TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
ATTRIBUTE = TEXT | str.maketrans({'"': "&quot;", "\n": "&#10;", "\t": "&#9;"})
CATEGORIES = (spec.REQUESTED, spec.DELIVERED)
_REMEMBERED = 1 << 16  # names come from documents, of which there is no end
_AMOUNT = frozenset(spec.attributes("Network")) - {"awarenessPolicy"}
MANY = 50  # attributes, of which lxml looks for each among all
_VALUES = etree.XPath("@*", smart_strings=False)
_NO_AMOUNT = re.compile(r"[+-]?(?:nan|inf(?:inity)?)", re.IGNORECASE)  # numbers, not names
_STRING = etree.XPath("string()")


def attributes(element: Element) -> dict[str, str]:
    """The attributes of an element, in a time that grows with their number."""
    names = element.keys()
    if not names:
        return {}
    if len(names) < MANY:
        return dict(element.items())
    # lxml looks for the value of each by its name, among all of them.
    return dict(zip(names, _VALUES(element), strict=True))


class TagMeaning(NamedTuple):
    """What a tag means in a container.

    ``name`` is the present name, or the tag itself in a foreign namespace. ``category`` is the
    block in which the property stands, by its container or by its own name. ``row`` is None for
    what the tables do not have here.
    """

    name: str
    namespace: str
    block: bool = False
    category: str = ""
    row: spec.Element | None = None
    alias: spec.Alias | None = None

    @property
    def implied(self) -> bool:
        """Whether it is the name that says the category, not the container."""
        return self.alias is not None and self.alias.category != ""


@lru_cache(_REMEMBERED)
def split(tag: str) -> tuple[str, str]:
    """A tag as lxml spells it, as namespace and local name.

    >>> split("{urn:x}Id"), split("Id")
    (('urn:x', 'Id'), ('', 'Id'))
    """
    namespace, _, name = tag[1:].rpartition("}") if tag[:1] == "{" else ("", "", tag)
    return namespace, name


def names(element: Element) -> tuple[str, str]:
    """The namespace and local name of an element."""
    return split(str(element.tag))


def local(element: Element) -> str:
    """The name of an element without its namespace."""
    return split(str(element.tag))[1]


@lru_cache(_REMEMBERED)
def place(tag: str, container: str) -> TagMeaning:
    """What a tag means in a container."""
    namespace, name = split(tag)
    if namespace not in spec.NAMESPACES:
        return TagMeaning(tag, "")
    if name in BLOCKS:
        return TagMeaning(name, namespace, block=True)
    category = container if container in CATEGORIES else ""
    rows = spec.properties(container)
    if name in rows:
        return TagMeaning(name, namespace, category=category, row=rows[name])
    alias = spec.older(name, container)
    if alias is None:
        return TagMeaning(name, namespace, category=category)
    canonical = alias.canonical
    return TagMeaning(
        canonical, namespace, False, alias.category or category, rows[canonical], alias
    )


def is_adapter(text: str, attributes: Iterable[str]) -> bool:
    """Whether a Network is a type of adapter: no number, and no attributes of an amount.

    One name for two properties: Table 2 means what is NetworkAdapter now, Table 4 an amount.
    """
    if not text.strip(units.XML_SPACE) or not _AMOUNT.isdisjoint(attributes):
        return False
    try:
        units.number(text)
    except InvalidValue:
        return not _NO_AMOUNT.fullmatch(text.strip(units.XML_SPACE))
    return False


def has_elements(element: Element) -> bool:
    """Whether an element holds elements, not only text, comments and instructions."""
    return len(element) > 0 and any(type(child.tag) is str for child in element)


def text_of(element: Element) -> str:
    """The text of an element, also around comments, but not that of elements inside it."""
    if not len(element):
        return element.text or ""
    if has_elements(element):
        return element.text or ""
    return str(_STRING(element))


def inside_of(element: Element) -> str:
    """All that an element holds: its text, or XML where elements stand in it, cut off nowhere."""
    if not has_elements(element):
        return text_of(element)
    whole = etree.tostring(element, encoding="unicode", with_tail=False)
    return whole[whole.index(">") + 1 : whole.rindex("</")]  # ">" in a value is "&gt;" there
