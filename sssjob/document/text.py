"""Values to XML text at full speed: the same bytes as by way of a tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from io import TextIOBase
from typing import BinaryIO

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import spec
from sssjob.document.bridge import to_tree
from sssjob.document.places import (
    ATTRIBUTE,
    TEXT,
    has_elements,
    local,
)
from sssjob.errors import WrongKind, of_kind, shown
from sssjob.legality import ILLEGAL, legal, legal_name, legal_namespace, legal_note
from sssjob.model import Block, Note, Property
from sssjob.units import XML_SPACE

_PLAIN = re.compile(r"[^&<>\r]*")
_PLAIN_ATTRIBUTE = re.compile(r'[^&<>"\r\n\t]*')
_TOGETHER = 1 << 15  # characters that are written at once
_OPENED = re.compile(r"<[^\s/>]+")  # a tag as far as its name, with the prefix
_NOTE = re.compile(r"<!--.*?-->|<\?.*?\?>", re.DOTALL)


def dumps(
    block: Block, *, dialect: str = "", namespace: str | None = None, indent: bool = False
) -> str:
    """A job object as XML text, on one line unless ``indent``; no declaration, no last newline.

    See ``bridge.to_tree`` for ``dialect`` and ``namespace``. What XML cannot hold raises
    ``InvalidValue``.
    """
    of_kind(block, Block, "a job object")
    _check(dialect, namespace)
    text = "" if indent or namespace else _flat(block, dialect)
    if not text or any(f"{prefix}:" in text for prefix in block.prefixes if prefix):
        tree = to_tree(block, dialect=dialect, namespace=namespace)
        if indent:
            put_on_lines(tree)
        return etree.tostring(tree, encoding="unicode")
    if not text.isprintable() and ILLEGAL.search(text):
        to_tree(block)  # says which value it is
        legal(text)
    return text


def write(
    blocks: Iterable[Block],
    stream: BinaryIO,
    *,
    wrap: str = "",
    dialect: str = "",
    namespace: str | None = None,
    indent: bool = False,
) -> int:
    """Write job objects to a binary stream as UTF-8, and give their number.

    Each is a document on a line of its own, or all stand in one document whose root is ``wrap``.
    """
    of_kind(blocks, Iterable, "job objects")
    if isinstance(stream, type | TextIOBase) or not hasattr(stream, "write"):
        raise WrongKind(shown(stream), "a binary stream to write to")
    of_kind(wrap, str, "the name of a wrapper")
    if wrap:
        legal_name(wrap)
    texts = (dumps(block, dialect=dialect, namespace=namespace, indent=indent) for block in blocks)
    return write_texts(texts, stream, wrap=wrap, indent=indent)


def _check(dialect: object, namespace: object) -> None:
    """Refuse what is neither a dialect nor a namespace."""
    if dialect != "" and not (isinstance(dialect, str) and dialect in spec.DIALECTS):
        raise WrongKind(shown(dialect), f"a dialect: {', '.join(spec.DIALECTS)}")
    if namespace is not None:
        of_kind(namespace, str, "a namespace")
    if namespace:
        legal_namespace(str(namespace))


def write_texts(
    texts: Iterable[str], stream: BinaryIO, *, wrap: str = "", indent: bool = False,
    at_once: bool = False,
) -> int:  # fmt: skip
    """Write texts of job objects like ``write``; those with ``indent`` keep their lines.

    Many are written together, unless each is to be seen ``at_once``.
    """
    count = 0
    if wrap:
        stream.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<{wrap}>\n'.encode())
    waiting: list[str] = []
    size = 0
    try:
        for text in texts:
            # A line break inside a value would break the line that holds the document.
            waiting.append(text if indent or wrap or "\n" not in text else on_one_line(text))
            count += 1
            size += len(text)
            if at_once or size > _TOGETHER:
                size = 0
                _write(waiting, stream)
                if at_once:
                    stream.flush()
    finally:  # what came before something that failed is written
        _write(waiting, stream)
    if wrap:
        stream.write(f"</{wrap}>\n".encode())
    return count


def _write(texts: list[str], stream: BinaryIO) -> None:
    """Write texts, each with a line end, and forget them."""
    data = "\n".join([*texts, ""]).encode()
    texts.clear()
    stream.write(data)


def escape(text: str, also: Mapping[str, str] | None = None) -> str:
    """A text as it can stand between tags; ``also`` has what else is written otherwise.

    The same as in ``xml.sax.saxutils``, which imports what browsers need.
    """
    text = text.replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;")
    for character, written in (also or {}).items():
        text = text.replace(character, written)
    return text


def quoted(text: str) -> str:
    """A value of an attribute with the quotes around it, whichever it does not hold."""
    text = escape(text, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
    if '"' not in text:
        return f'"{text}"'
    return f"'{text}'" if "'" not in text else '"{}"'.format(text.replace('"', "&quot;"))


def clean(text: str) -> str:
    """The text without the characters that XML 1.0 does not have.

    >>> clean("a\\x00b")
    'a�b'
    """
    return ILLEGAL.sub("\ufffd", text)


def fragment(items: Iterable[Property]) -> str:
    """Properties as they stand in a document, side by side.

    Properties of a namespace raise ``ValueError``: they need a document that declares it.
    """
    pieces: list[str] = []
    try:
        for item in items:
            _write_property(item, item.name, pieces.append)
    except _NeedsTree:
        raise ValueError("a property in a namespace cannot stand alone") from None
    return "".join(pieces)


def writer(name: str, attributes: Mapping[str, str]) -> Callable[[str], str]:
    """What writes the same as ``fragment`` for one property after the other, given their texts."""
    before, behind = tags(name, attributes)
    empty = before[:-1] + "/>"

    def write(text: str) -> str:
        if text.isalnum():
            return before + text + behind
        if not _PLAIN.fullmatch(text):
            text = text.translate(TEXT)
        return before + text + behind if text else empty

    return write


def escaped(texts: Sequence[str]) -> Sequence[str]:
    """Texts as they stand between tags."""
    joined = "\0".join(texts)  # what no document can hold
    if not ("&" in joined or "<" in joined or ">" in joined or "\r" in joined):
        return texts
    joined = joined.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    found = joined.replace("\r", "&#13;").split("\0")
    return found if len(found) == len(texts) else [text.translate(TEXT) for text in texts]


def tags(name: str, attributes: Mapping[str, str]) -> tuple[str, str]:
    """What stands before and behind the text of such properties."""
    return f"<{_head(name, attributes)}>", f"</{_name(name)}>"


class _NeedsTree(Exception):
    """A namespace has to be declared, which is left to a tree."""


def _flat(block: Block, dialect: str) -> str:
    """The text of a job object, or "" if something in it is in a namespace."""
    pieces: list[str] = []
    try:
        _write_block(block, dialect, pieces.append)
    except _NeedsTree:
        return ""
    return "".join(pieces)


def _write_block(block: Block, dialect: str, put: Callable[[str], None]) -> None:
    if block.namespace:
        raise _NeedsTree
    head = _head(block.name, block.attributes)
    if not block.items:
        put(f"<{head}/>")
        return
    put(f"<{head}>")
    for item in block.items:
        if isinstance(item, Property):
            name = item.name
            if dialect and type(item) is Property:
                name = spec.written(name, block.name, dialect)
            if item.children or item.namespace:
                _write_property(item, name, put)
            else:
                # As _write_property does it: these lines write most of any document.
                head = _head(name, item.attributes) if item.attributes else _name(name)
                text = item.text
                if not (text.isalnum() or _PLAIN.fullmatch(text)):
                    text = text.translate(TEXT)
                put(f"<{head}>{text}</{name}>" if text else f"<{head}/>")
        elif isinstance(item, Block):
            _write_block(item, dialect, put)
        else:
            put(note(item))
    put(f"</{block.name}>")


def _write_property(item: Property, name: str, put: Callable[[str], None]) -> None:
    if item.namespace:
        raise _NeedsTree
    head, text = _head(name, item.attributes), item.text.translate(TEXT)
    if not item.children:
        put(f"<{head}>{text}</{name}>" if text else f"<{head}/>")
        return
    put(f"<{head}>{text}")
    for child in item.children:
        if isinstance(child, Note):
            put(note(child))
        else:
            _write_property(child, child.name, put)
    put(f"</{name}>")


_HEADS: dict[tuple[str, tuple[tuple[str, str], ...]], str] = {}
_HEADS_LIMIT, _HEAD_LENGTH = 1 << 12, 200


def _head(name: str, attributes: Mapping[str, str]) -> str:
    """A name and attributes, as they stand in a tag; short ones are remembered."""
    if not attributes:
        return _name(name)
    key = name, tuple(attributes.items())
    try:
        return _HEADS[key]
    except KeyError:
        head = _name(name) + "".join([
            f' {_name(name)}="{value}"' if _PLAIN_ATTRIBUTE.fullmatch(value)
            else f' {_name(name)}="{value.translate(ATTRIBUTE)}"'
            for name, value in attributes.items()
        ])  # fmt: skip
        if len(head) <= _HEAD_LENGTH:
            if len(_HEADS) >= _HEADS_LIMIT:
                _HEADS.clear()
            _HEADS[key] = head
        return head


@lru_cache(1 << 12)
def _name(name: str) -> str:
    """The name of an element or attribute, which a program may have made up."""
    if name.startswith("{"):
        raise _NeedsTree
    return legal_name(name)


def note(item: Note) -> str:
    """What stands between elements, as text. Raises ``InvalidValue``."""
    text = legal_note(item.kind, item.text)
    if item.kind == "comment":
        return f"<!--{text}-->"
    if item.kind == "instruction":
        target, _, rest = text.partition(" ")
        return f"<?{target} {rest}?>"
    return text.translate(TEXT)


def on_one_line(text: str) -> str:
    """A document without line breaks: as a reference in a value, as a space in a comment."""
    if "\n" not in text:
        return text
    text = _NOTE.sub(lambda note: note[0].replace("\n", " "), text)
    return text.replace("\n", "&#10;")


def within(scope: Mapping[str | None, str], element: Element) -> str:
    """The text of an element where the prefixes of ``scope`` are declared already."""
    default = scope.get(None)
    if default and any(str(item.tag)[0] != "{" for item in element.iter(etree.Element)):
        # lxml does not write that there is no default namespace any more.
        written = etree.tostring(element, encoding="unicode")
        return _OPENED.sub(r'\g<0> xmlns=""', written, count=1)
    shell = etree.Element("shell", None, dict(scope))
    shell.append(element)
    whole = etree.tostring(shell, encoding="unicode")
    return whole[whole.index(">") + 1 : whole.rindex("</")]


def put_on_lines(element: Element, line: str = "\n") -> None:
    """Put each child of a container on a line of its own; texts and values stay as they are.

    A container that holds no element may be a value, of which white space would be a part.
    """
    if not has_elements(element) or local(element) not in spec.CONTAINER:
        return
    if any(
        text and text.strip(XML_SPACE)
        for text in (element.text, *(child.tail for child in element))
    ):
        return
    inner = line + "  "
    element.text = inner
    for child in element:
        child.tail = inner
        if type(child.tag) is str:
            put_on_lines(child, inner)
    element[-1].tail = line
