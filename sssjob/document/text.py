"""Values to XML text at full speed: the same bytes as by way of a tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import BinaryIO

from lxml import etree

from sssjob import spec
from sssjob.document.bridge import to_tree
from sssjob.model import Block, Item, Note, Property

_PLAIN = re.compile(r"[^&<>\r]*")
_PLAIN_ATTRIBUTE = re.compile(r'[^&<>"\r\n\t]*')
# Characters that XML 1.0 does not have at all, escaped or not (XML 2.2).
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_ATTRIBUTE = str.maketrans({
    "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#9;",
})  # fmt: skip


def dumps(
    block: Block, *, dialect: str = "", namespace: str | None = None, indent: bool = False
) -> str:
    """A job object as XML text, on one line unless ``indent``; no declaration, no last newline.

    See ``bridge.to_tree`` for ``dialect`` and ``namespace``. A character that XML does not have
    raises ``ValueError``.
    """
    if indent or namespace or _has_namespaces(block):
        tree = to_tree(block, dialect=dialect, namespace=namespace)
        if indent:
            etree.indent(tree)
        return etree.tostring(tree, encoding="unicode")
    pieces: list[str] = []
    _write_block(block, dialect, pieces.append)
    text = "".join(pieces)
    if illegal := _ILLEGAL.search(text):
        raise ValueError(f"U+{ord(illegal[0]):04X} is not a character of XML 1.0")
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
    count = 0
    if wrap:
        stream.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<{wrap}>\n'.encode())
    for block in blocks:
        text = dumps(block, dialect=dialect, namespace=namespace, indent=indent)
        # A line break inside a value would break the line that holds the document.
        stream.write((text if indent or wrap else text.replace("\n", "&#10;")).encode() + b"\n")
        count += 1
    if wrap:
        stream.write(f"</{wrap}>\n".encode())
    return count


def clean(text: str) -> str:
    """The text without the characters that XML 1.0 does not have.

    >>> clean("a\\x00b")
    'a�b'
    """
    return _ILLEGAL.sub("\ufffd", text)


def _write_block(block: Block, dialect: str, put: Callable[[str], None]) -> None:
    head = block.name + _attributes(block.attributes)
    if not block.items:
        put(f"<{head}/>")
        return
    put(f"<{head}>")
    for item in block.items:
        if type(item) is Property:
            name = spec.written(item.name, block.name, dialect) if dialect else item.name
            _write_property(item, name, put)
        elif isinstance(item, Block):
            _write_block(item, dialect, put)
        elif isinstance(item, Property):
            _write_property(item, item.name, put)
        else:
            put(_note(item))
    put(f"</{block.name}>")


def _write_property(item: Property, name: str, put: Callable[[str], None]) -> None:
    head = name + _attributes(item.attributes) if item.attributes else name
    text = item.text if _PLAIN.fullmatch(item.text) else item.text.translate(_TEXT)
    if item.children:
        put(f"<{head}>{text}")
        for child in item.children:
            if isinstance(child, Note):
                put(_note(child))
            else:
                _write_property(child, child.name, put)
        put(f"</{name}>")
    else:
        put(f"<{head}>{text}</{name}>" if text else f"<{head}/>")


def _attributes(attributes: Mapping[str, str]) -> str:
    return "".join(
        f' {name}="{value if _PLAIN_ATTRIBUTE.fullmatch(value) else value.translate(_ATTRIBUTE)}"'
        for name, value in attributes.items()
    )


def _note(note: Note) -> str:
    if note.kind == "comment":
        return f"<!--{note.text}-->"
    return f"<?{note.text}?>" if note.kind == "instruction" else note.text.translate(_TEXT)


def _has_namespaces(item: Item) -> bool:
    if isinstance(item, Note):
        return False
    if item.namespace or any(name[0] == "{" for name in item.attributes):
        return True
    if isinstance(item, Property):
        if item.name[0] == "{" or not item.children:
            return item.name[0] == "{"
        return any(_has_namespaces(child) for child in item.children)
    return any(_has_namespaces(child) for child in item.items)
