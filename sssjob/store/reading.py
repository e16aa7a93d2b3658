"""Documents as they come, made ready to be written."""

from __future__ import annotations

from lxml.etree import _Element as Element

from sssjob.document import tree
from sssjob.document.places import local
from sssjob.errors import UnreadableDocument, finding
from sssjob.store import columns
from sssjob.store.identity import identify
from sssjob.store.writing import Incoming


def incoming(element: Element, document: bytes, line: int = 0) -> Incoming:
    """A Job or JobGroup and its bytes, ready to be written.

    Raises ``UnreadableDocument`` for what is neither, and for what has no Id (SSS 4.1, 5.1).
    """
    name = local(element)
    if element.tag not in tree.UNIT_TAGS:
        text = f"a {name} where a Job or a JobGroup is due"
        raise UnreadableDocument(finding("E-UNKNOWN", text, line=line))
    id_, marks = identify(element, name)
    if not id_:
        raise UnreadableDocument(finding("E-MISSING", f"a {name} without an Id", line=line))
    return Incoming(name, id_, marks, document, tuple(columns.rows(element)))
