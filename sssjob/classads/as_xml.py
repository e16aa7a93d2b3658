"""The XML form: ``<c>`` for an ad, ``<a n="NAME">`` for an attribute.

Texts have the escapes of the new form: bytes outside ASCII are octal. The document type that
HTCondor names is never fetched, and entities are refused.
"""

from __future__ import annotations

from lxml import etree

from sssjob.classads.errors import BadAd
from sssjob.classads.parser import DEPTH_LIMIT, plain
from sssjob.classads.times import absolute, absolute_text, relative, relative_text
from sssjob.classads.tokens import number, unquoted
from sssjob.classads.values import ERROR, UNDEFINED, AbsTime, Ad, Node, RelTime
from sssjob.classads.writing import NEW, real, string
from sssjob.classads.writing import attribute as spelled
from sssjob.errors import hand_over
from sssjob.legality import ILLEGAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from sssjob.classads.errors import OnError
    from sssjob.classads.values import Attribute

HEADER = '<?xml version="1.0"?>\n<!DOCTYPE classads SYSTEM "classads.dtd">\n<classads>\n'
FOOTER = "</classads>\n"


def read(stream: BinaryIO, *, on_error: OnError | None = None) -> Iterator[Ad]:
    """The ads of a document. A bad one is raised as ``BadAd``, or handed to ``on_error``."""
    events = etree.iterparse(
        stream, events=("start", "end"), resolve_entities=False, load_dtd=False, no_network=True,
        huge_tree=False,
    )  # fmt: skip
    depth = 0
    try:
        for event, element in events:
            depth += 1 if event == "start" else -1
            if depth > 4 * DEPTH_LIMIT:
                raise BadAd(f"an ad more than {DEPTH_LIMIT} levels deep", _line(element))
            if depth == 1 and event == "start" and element.tag not in ("classads", "c"):
                raise BadAd(f"<{element.tag!s}> where <classads> is expected", _line(element))
            if event == "start" or element.tag != "c" or _inner(element):
                continue
            yield from _taken(element, on_error)
            _forget(element)
    except etree.XMLSyntaxError as error:
        raise BadAd(f"no XML: {error.msg}", error.lineno or 0) from None


def write(ad: Ad) -> str:
    """An ad as ``<c>``, an attribute a line."""
    lines = [f"    <a n={_quoted(name)}>{_element(value)}</a>\n" for name, value in ad.items()]
    return f"<c>\n{''.join(lines)}</c>\n"


def _taken(element: etree._Element, on_error: OnError | None) -> Iterator[Ad]:
    try:
        found = _ad(element, 0)
        found.line = _line(element)
    except BadAd as error:
        hand_over(BadAd(error.reason, error.line or _line(element)), on_error)
    else:
        yield found


def _inner(element: etree._Element) -> bool:
    parent = element.getparent()
    return parent is not None and parent.tag != "classads"


def _forget(element: etree._Element) -> None:
    """Free what was read, and what stands before it."""
    parent = element.getparent()
    element.clear()
    if parent is not None:
        while (before := element.getprevious()) is not None:
            parent.remove(before)


def _line(element: etree._Element) -> int:
    return element.sourceline or 0


def _ad(element: etree._Element, depth: int) -> Ad:
    attributes: list[tuple[str, Attribute]] = []
    for child in element:
        if isinstance(child, etree._Entity):
            raise BadAd("an entity in an ad", _line(element))
        if not isinstance(child.tag, str):  # a comment or an instruction
            continue
        name = child.get("n") if child.tag == "a" else None
        if name is None or len(child) != 1:
            raise BadAd(f"<{child.tag}> is no attribute with a name and a value", _line(child))
        attributes.append((name, _value(child[0], depth + 1)))
    return Ad(attributes)


def _value(element: etree._Element, depth: int) -> Attribute:
    if depth > DEPTH_LIMIT:
        raise BadAd(f"an ad more than {DEPTH_LIMIT} levels deep", _line(element))
    tag = element.tag
    if tag == "c":
        return _ad(element, depth)
    if tag == "l":
        return tuple(_value(child, depth + 1) for child in element)
    if len(element):
        raise BadAd("an entity or element in a value", _line(element))
    text = element.text or ""
    try:
        return _scalar(str(tag), text, element.get("v") or "")
    except ValueError as error:
        reason = error.reason if isinstance(error, BadAd) else f"{text[:40]!r}: {error}"
        raise BadAd(reason, _line(element)) from None


def _scalar(tag: str, text: str, attribute: str) -> Attribute:
    match tag:
        case "s":
            return unquoted(f'"{text}"')
        case "i":
            return _integer(text.strip())
        case "r":
            return _real(text)
        case "b" if attribute in ("t", "f"):
            return attribute == "t"
        case "e":
            return plain(text)
        case "un":
            return UNDEFINED
        case "er":
            return ERROR
        case "at" if moment := absolute(text):
            return moment
        case "rt" if span := relative(text):
            return span
    raise BadAd(f"<{tag}> with {(text or attribute)[:40]!r} is no value")


def _real(text: str) -> float:
    try:
        if text.isascii() and "_" not in text:  # which Python alone takes
            return float(text)
    except ValueError:
        pass
    raise BadAd(f"{text[:40]!r} is no number")


def _integer(text: str) -> int:
    digits = text[text[:1] in ("+", "-") :]
    is_whole = digits.isascii() and digits.isdecimal()  # other digits are read by Python alone
    found = number(digits.lstrip("0") or "0", text.startswith("-")) if is_whole else None
    if not isinstance(found, int):
        raise BadAd(f"{text[:40]!r} is no integer")
    return found


def _element(value: Attribute) -> str:
    match value:
        case bool():
            return f'<b v="{"t" if value else "f"}"/>'
        case int():
            return f"<i>{spelled(value, NEW)}</i>"
        case float():
            return f"<r>{real(value, NEW) if value - value == 0 else value}</r>"
        case str():
            return f"<s>{_escaped(_inside(value))}</s>"
        case tuple():
            return f"<l>{''.join(map(_element, value))}</l>"
        case Ad():
            inner = "".join(
                f"<a n={_quoted(name)}>{_element(part)}</a>" for name, part in value.items()
            )
            return f"<c>{inner}</c>"
        case AbsTime():
            return f"<at>{absolute_text(value)}</at>"
        case RelTime():
            return f"<rt>{relative_text(value)}</rt>"
        case Node():
            return f"<e>{_escaped(spelled(value, NEW))}</e>"
    return "<un/>" if value is UNDEFINED else "<er/>"


def _inside(text: str) -> str:
    """A text with the escapes that HTCondor has in its XML too, but for double quotes."""
    return string(text, NEW)[1:-1].replace('\\"', '"')


def _escaped(text: str) -> str:
    if found := ILLEGAL.search(text):
        raise BadAd(f"the character {found[0]!r} cannot be written as XML")
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("\r", "&#13;")


def _quoted(name: str) -> str:
    text = _escaped(name).replace('"', "&quot;").replace("\n", "&#10;").replace("\t", "&#9;")
    return f'"{text}"'
