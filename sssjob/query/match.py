"""What a query found: its value, and where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from decimal import Decimal
from math import isinf, isnan
from typing import Any, NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import spec
from sssjob.document.batches import Located, around
from sssjob.document.places import has_elements, split
from sssjob.document.text import escape, quoted
from sssjob.query.syntax import MADE

Value = str | int | float | bool

_STRING = etree.XPath("string()", smart_strings=False)
_IDS = frozenset(
    ("Id", *(row.name for row in spec.ALIASES if row.canonical == "Id" and "Job" in row.containers))
)
_EXACT = 2**53  # whole numbers up to here are what they seem


class Match(NamedTuple):
    """One node that a query found, or the one string, number or boolean that it gave.

    A match in a streamed source is good until the next one is asked for: its tree goes away.
    ``found`` is what lxml gives; ``unit`` is the job object it was found in, where that is known.
    """  # a tuple, since of what a store finds, a frozen dataclass would take half of the time

    found: Any
    unit: Element | None = None
    offset: int = 0
    unit_line: int = 0
    is_node: bool = True

    @property
    def is_true(self) -> bool:
        """Whether something was found: a node, or a value that XPath's ``boolean()`` calls true."""
        return self.is_node or (bool(self.found) and self.found == self.found)  # NaN is false

    @property
    def text(self) -> str:
        """The string value by the rules of XPath 1.0, whole, white space included."""
        if type(self.found) is str:
            return self.found
        if isinstance(self.found, Element):
            return _string(self.found)
        if isinstance(self.found, bool):
            return "true" if self.found else "false"
        if isinstance(self.found, float):
            return number(self.found)
        if isinstance(self.found, Decimal):
            return format(self.found, "f")
        return str(self.found[1] if isinstance(self.found, tuple) else self.found)

    @property
    def line_of_text(self) -> str:
        """The text on one line: line breaks become blanks, and so do tags between texts."""
        if isinstance(self.found, Element) and has_elements(self.found):
            return " ".join(" ".join(_texts(self.found)).split())
        text = self.text
        return " ".join(text.splitlines()) if "\n" in text or "\r" in text else text

    @property
    def value(self) -> Value:
        """The value for JSON: text, XML for an element with children, a number, or a boolean."""
        if isinstance(self.found, bool | int):
            return self.found
        if isinstance(self.found, Decimal):
            return float(self.found)
        if isinstance(self.found, Element):
            return _xml(self.found) if has_elements(self.found) else self.text
        if isinstance(self.found, float) and not isnan(self.found) and not isinf(self.found):
            return int(self.found) if self.found.is_integer() else self.found
        return self.text

    @property
    def xml(self) -> str:
        """The node as XML on one line, with the namespace declarations it needs."""
        if isinstance(self.found, Element):
            text = _xml(self.found)
            return _xml(_unbroken(self.found)).replace("\n", "&#10;") if "\n" in text else text
        if getattr(self.found, "is_attribute", False):
            return f"{self._attribute}={quoted(str(self.found))}"
        return escape(self.text, {"\n": "&#10;", "\r": "&#13;"})

    @property
    def element(self) -> Element | None:
        """The element that was found, or that holds the attribute or text that was."""
        if isinstance(self.found, Element):
            return self.found
        parent: Element | None = getattr(self.found, "getparent", lambda: None)()
        if parent is not None and getattr(self.found, "is_tail", False):
            return parent.getparent()
        return parent

    @property
    def is_made(self) -> bool:
        """Whether a function of the query made the node, which then stands in no document."""
        element = self.element
        if element is None:
            return False
        top = next(reversed([element, *element.iterancestors()]))
        is_root = top is element.getroottree().getroot()
        return isinstance(top.tag, str) and (not is_root or top.tag == MADE)

    @property
    def line(self) -> int | None:
        """The line in the source, counted from 1; None where it is not known."""
        element = self.element
        if element is None or self.is_made:
            return self.unit_line or None
        return Located(element, self.offset).line or self.unit_line or None

    @property
    def job(self) -> str | None:
        """The Id of the job that holds it, the nearest one; None outside jobs."""
        holder = self.holder
        if holder is None or _local(holder) != "Job":
            return None
        ids = (_string(child).strip() for child in holder if _local(child) in _IDS)
        return next(ids, None)

    @property
    def holder(self) -> Element | None:
        """The nearest job that holds it, or else its job object; None where neither is known."""
        element = self.element
        if element is None or self.is_made:
            element = self.unit
        found = self.unit
        while element is not None:
            if _local(element) == "Job":
                return element
            found = element if _local(element) == "JobGroup" else found
            element = element.getparent()
        return found

    @property
    def path(self) -> str | None:
        """The names from the root to the node, as ``/Jobs/Job/Memory/@units``."""
        element = self.element
        if element is None or self.is_made:
            return None
        names = [_local(item) for item in (element, *around(element))]
        way = "/" + "/".join(reversed(names))
        if isinstance(self.found, Element):
            return way
        attribute = getattr(self.found, "is_attribute", False)
        return f"{way}/@{self._attribute}" if attribute else f"{way}/text()"

    @property
    def _attribute(self) -> str:
        name = etree.QName(self.found.attrname)
        if not name.namespace:
            return str(name.localname)
        prefixes = self.found.getparent().nsmap
        bound = (prefix for prefix, uri in prefixes.items() if prefix and uri == name.namespace)
        return f"{next(bound, 'xml')}:{name.localname}"


def number(value: float) -> str:
    """A number as XPath 1.0 writes it: never with an exponent.

    >>> number(16.0), number(1e12), number(0.1 + 0.2), number(float("inf"))
    ('16', '1000000000000', '0.3', 'Infinity')
    """
    if isnan(value):
        return "NaN"
    if isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value.is_integer() and abs(value) <= _EXACT:
        return str(int(value))
    # Fifteen digits, as libxml2 has them: the sixteenth shows how the number was computed.
    return format(Decimal(f"{value:.15g}"), "f")


def _string(element: Element) -> str:
    """The string value: notes (comments, instructions) are no part of it, wherever they stand."""
    return (element.text or "") if len(element) == 0 else str(_STRING(element))


def _texts(element: Element) -> Iterator[str]:
    """The texts between tags; a note between two of them does not part them."""
    text = element.text or ""
    for child in element:
        if isinstance(child.tag, str):
            yield text
            yield from _texts(child)
            text = ""
        text += child.tail or ""
    yield text


def _local(element: Element) -> str:
    if isinstance(element, etree._Comment):
        return "comment()"
    if isinstance(element, etree._ProcessingInstruction):
        return "processing-instruction()"
    namespace, local = split(str(element.tag))
    return local if namespace in spec.NAMESPACES else str(element.tag)


def _xml(element: Element) -> str:
    return etree.tostring(element, encoding="unicode", with_tail=False)


def _unbroken(element: Element) -> Element:
    """A copy without the line breaks that mean nothing: those between elements, and in notes."""
    copy = deepcopy(element)
    copy.tail = None
    for item in copy.iter():
        if len(item) and not (item.text or "").strip():
            item.text = None
        elif not isinstance(item.tag, str):
            item.text = " ".join((item.text or "").splitlines())
        if not (item.tail or "").strip():
            item.tail = None
    return copy
