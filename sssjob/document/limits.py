"""What is refused of a document, however it came: too much of it, and document types."""

from __future__ import annotations

import os
import re

from lxml import etree
from lxml.etree import _Element as Element

from sssjob.document import cause
from sssjob.errors import InvalidValue, LimitExceeded, UnreadableDocument, finding
from sssjob.integers import whole

OBJECT_LIMIT = 128 << 20  # bytes of one job object; a JobGroup of 100 000 jobs has some 80 MiB
NODE_LIMIT = 4 << 20  # elements and attributes of one job object; an empty one costs 130 bytes
TOKEN_LIMIT = 16 << 20  # bytes without any tag; libxml2 itself refuses text above 10 MB
HELD = 1 << 10  # MiB of what is held of a document whole, with what is made of it, as reckoned
HELD_BY = "SSSJOB_HELD_MIB"  # the variable of the environment that sets another limit
# Bytes that are reckoned: of an element, note or text in a tree of libxml2; of an attribute with
# its value; of what a query found, as lxml hands it over; of a node as elementpath has it.
NODE, ATTRIBUTE, FOUND, NODE_OF_XPATH2 = 136, 256, 160, 280
COPIES = 2  # of the bytes of a document that is held: as they came, and in the tree
_LEAST = 128  # bytes of a tree, and of all that is found in it, for each of a document, at most
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


def held() -> int:
    """How many bytes may be held of a document whole. Raises ``InvalidValue`` where set wrongly."""
    said = os.environ.get(HELD_BY, str(HELD))
    if not (found := whole(said)):
        raise InvalidValue(said, f"a number of MiB in {HELD_BY}")
    return found << 20


def is_much(data: bytes) -> bool:
    """Whether a tree of some bytes, and what is found in it, could take more than may be held."""
    return len(data) * _LEAST > held()


def refuse_held(data: bytes, line: int) -> None:
    """Refuse a document that begins behind so many lines, if its tree would take too much."""
    if not is_much(data):
        return
    texts = data.count(b">") - data.count(b"><")
    tags = data.count(b"<") - data.count(b"</")
    size = NODE * (tags + texts) + ATTRIBUTE * data.count(b"=")
    refuse_held_bytes(len(data), line, size)


def refuse_held_bytes(count: int, line: int, tree: int = 0) -> None:
    """Refuse to hold so many bytes of one document, with a tree that takes so many itself."""
    if COPIES * count + tree > held():
        raise too_large(str(beyond_held()), line)


def beyond_held() -> LimitExceeded:
    """What is said of a document that takes more than may be held."""
    what = f"MiB for a document that is held whole ({HELD_BY} sets another limit)"
    return LimitExceeded(what, held() >> 20)


_NODES = etree.XPath("count(descendant-or-self::node())", smart_strings=False)


def nodes_of_tree(root: Element) -> int:
    """How many elements, notes and texts there are from an element on."""
    return int(_NODES(root))


def refuse_made(nodes: int, made: int) -> None:
    """Raise ``LimitExceeded`` where so many nodes, and bytes made of them, are too much."""
    if nodes * NODE + made > held():
        raise beyond_held()


def without_tag(line: int) -> UnreadableDocument:
    """What to raise of too many bytes without any tag, behind so many lines."""
    return too_large(f"more than {TOKEN_LIMIT >> 20} MiB without a tag", line)


def too_large(text: str, line: int) -> UnreadableDocument:
    """What to raise of something too large that begins behind so many lines."""
    return UnreadableDocument(finding("E-LIMIT", text, line=line + 1))
