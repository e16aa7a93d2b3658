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
from sssjob.model import BLOCKS, Note

# Characters that XML 1.0 does not have at all, escaped or not (XML 2.2).
TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
ATTRIBUTE = TEXT | str.maketrans({'"': "&quot;", "\n": "&#10;", "\t": "&#9;"})
ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_START = (
    "A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NAME = f"[{_START}][{_START}.0-9\xb7\u0300-\u036f\u203f\u2040-]*"  # XML 2.3
_ASCII_NAME = re.compile("[A-Za-z_][A-Za-z_.0-9-]*")  # the other one takes long to compile
CATEGORIES = (spec.REQUESTED, spec.DELIVERED)


def legal(text: str) -> str:
    """A text, if XML 1.0 has all of its characters (2.2). Raises ``InvalidValue``.

    Values may hold any text: this is asked where one is written.
    """
    # Whatever is printable is legal, which is four times as fast to find out.
    if not text.isprintable() and (illegal := ILLEGAL.search(text)):
        raise InvalidValue(text, f"a text that XML can hold: it has U+{ord(illegal[0]):04X}")
    return text


@lru_cache(1 << 12)
def legal_name(name: str) -> str:
    """The name of an element or attribute, which a program may have made up.

    Raises ``InvalidValue``.
    """
    local = name.rpartition("}")[2] if name[:1] == "{" else name
    if not (_ASCII_NAME.fullmatch(local) or re.fullmatch(_NAME, local)):
        raise InvalidValue(name, "a name of XML")
    return name


def legal_note(note: Note) -> Note:
    """What stands between elements, if XML can hold it. Raises ``InvalidValue``."""
    legal(note.text)
    if note.kind == "comment" and ("--" in note.text or note.text.endswith("-")):
        raise InvalidValue(note.text, "a comment of XML: it has -- or ends with -")
    if note.kind == "instruction":
        target = legal_name(note.text.partition(" ")[0])
        if "?>" in note.text or target.lower() == "xml":
            raise InvalidValue(note.text, "an instruction of XML: it has ?> or is named xml")
    return note


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


class Place(NamedTuple):
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
    """A tag as namespace and local name."""
    namespace, _, name = tag[1:].rpartition("}") if tag[:1] == "{" else ("", "", tag)
    return namespace, name


def names(element: Element) -> tuple[str, str]:
    """The namespace and local name of an element."""
    return split(str(element.tag))


def local(element: Element) -> str:
    """The name of an element without its namespace."""
    return split(str(element.tag))[1]


@lru_cache(_REMEMBERED)
def place(tag: str, container: str) -> Place:
    """What a tag means in a container."""
    namespace, name = split(tag)
    if namespace not in spec.NAMESPACES:
        return Place(tag, "")
    if name in BLOCKS:
        return Place(name, namespace, block=True)
    category = container if container in CATEGORIES else ""
    rows = spec.properties(container)
    if name in rows:
        return Place(name, namespace, category=category, row=rows[name])
    alias = spec.alias(name, container)
    if alias is None or (category and alias.category not in ("", category)):
        return Place(name, namespace, category=category)
    canonical = alias.canonical
    return Place(canonical, namespace, False, alias.category or category, rows[canonical], alias)


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
