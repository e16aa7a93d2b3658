"""Documents as they come, made ready to be written."""

from __future__ import annotations

from sssjob.document import dumps
from sssjob.document.places import local
from sssjob.document.slices import Slice, slices
from sssjob.errors import UnreadableDocument, finding
from sssjob.model import Block
from sssjob.store.identity import identify
from sssjob.store.rows import rows
from sssjob.store.writing import Incoming


def incoming(cut: Slice) -> Incoming:
    """A Job or JobGroup that was cut out of its source, ready to be written.

    Raises ``UnreadableDocument`` for one that has no Id (SSS 4.1, 5.1).
    """
    name = local(cut.element)
    id_, marks = identify(cut.element, name)
    if not id_:
        raise UnreadableDocument(finding("E-MISSING", f"a {name} without an Id", line=cut.line))
    return Incoming(name, id_, marks, cut.document, rows(cut.element))


def only(document: Block | bytes) -> Incoming:
    """The one Job or JobGroup of a document. Raises ``UnreadableDocument``."""
    data = document if isinstance(document, bytes) else dumps(document).encode()
    found = list(slices(data))
    if len(found) != 1:
        message = f"{len(found)} job objects where one is due"
        raise UnreadableDocument(finding("E-CARD", message))
    return incoming(found[0])
