"""What is refused of a document, however it came: too much of it, and document types."""

from __future__ import annotations

import re

from lxml.etree import _Element as Element

from sssjob.document import cause
from sssjob.errors import UnreadableDocument, finding

OBJECT_LIMIT = 128 << 20  # bytes of one job object; a JobGroup of 100 000 jobs has some 80 MiB
NODE_LIMIT = 4 << 20  # elements and attributes of one job object; an empty one costs 130 bytes
TOKEN_LIMIT = 16 << 20  # bytes without any tag; libxml2 itself refuses text above 10 MB
AROUND_LIMIT = 1 << 16  # characters of the tags around job objects, which are read with each batch

SPACE = b" \t\r\n"
_DOCTYPE = re.compile(rb"(?>[ \t\r\n]+|<\?.*?\?>|<!--.*?-->|(?!))*+<!DOCTYPE", re.DOTALL)


def refuse_doctype(element: Element, head: bytes, offset: int) -> None:
    """Refuse what only the parser noticed: a declaration far down, or in another encoding."""
    if element.getroottree().docinfo.internalDTD is not None:
        raise _declared(head[: max(head.find(b"<!DOCTYPE"), 0)], offset)


def _declared(before: bytes, offset: int) -> UnreadableDocument:
    """The refusal of a document type behind these bytes, and behind so many lines."""
    last = before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")
    return cause.doctype(before.count(b"\n") + 1 + offset, len(last) + 1)


def refuse_early(head: bytes, offset: int) -> None:
    """Refuse a document type before the parser works on what it declares."""
    if found := _DOCTYPE.match(head):
        raise _declared(found[0].removesuffix(b"<!DOCTYPE"), offset)
    if not head.strip(SPACE):
        raise cause.empty()


def markup_of(data: bytes) -> int:
    """About how many tags and attributes there are."""
    return data.count(b"<") + data.count(b"=")


def nodes_of(data: bytes) -> int:
    """About how many elements and attributes there are."""
    return markup_of(data) - data.count(b"</")


def refuse_endless(data: bytes, line: int, *, is_object: bool = True) -> None:
    """Refuse to wait for the end of what was read so far, behind so many lines."""
    size = len(data)
    is_large = size > TOKEN_LIMIT
    if is_large and size - data.rfind(b"<") > TOKEN_LIMIT:
        raise without_tag(line)
    if is_object:
        refuse_too_large(size, nodes_of(data) if is_large else 0, line)


def is_too_large(data: bytes) -> bool:
    """Whether some bytes are more than those of one job object, which is to be said with care."""
    return len(data) > TOKEN_LIMIT and nodes_of(data) > NODE_LIMIT


def refuse_too_large(size: int, nodes: int, line: int) -> None:
    """Refuse a job object whose tree would take more memory than one may."""
    if size > OBJECT_LIMIT:
        raise too_large(f"one job object of more than {OBJECT_LIMIT >> 20} MiB", line)
    if nodes > NODE_LIMIT:
        text = f"one job object of more than {NODE_LIMIT >> 20} million elements and attributes"
        raise too_large(text, line)


def without_tag(line: int) -> UnreadableDocument:
    """What to raise of too many bytes without any tag, behind so many lines."""
    return too_large(f"more than {TOKEN_LIMIT >> 20} MiB without a tag", line)


def too_large(text: str, line: int) -> UnreadableDocument:
    """What to raise of something too large that begins behind so many lines."""
    return UnreadableDocument(finding("E-LIMIT", text, line=line + 1))
