"""Documents as they come, made ready to be written."""

from __future__ import annotations

from typing import TypeGuard

from sssjob.document import dumps
from sssjob.document.places import local
from sssjob.document.slices import Slice, slices
from sssjob.errors import UnreadableDocument, finding
from sssjob.model import Block
from sssjob.store import columns
from sssjob.store.columns import BOTH, GROUP, NAMES, SEPARATOR
from sssjob.store.identity import Marks, identify
from sssjob.store.rows import Row, rows
from sssjob.store.writing import Incoming
from sssjob.units import XML_SPACE

_ODD, _READING, _KIND = map(NAMES.index, (columns.ODD, columns.READING, columns.KIND))
_ID, _GLOBAL_ID, _SUBMITTED, _STARTED = (
    NAMES.index(columns.name_of(path)) for path in ("Id", "GlobalId", "SubmitTime", "StartTime")
)


def incoming(cut: Slice) -> Incoming:
    """A Job or JobGroup that was cut out of its source, ready to be written.

    Raises ``UnreadableDocument`` for one that has no Id (SSS 4.1, 5.1).
    """
    name = local(cut.element)
    found = rows(cut.element)
    id_, marks = told(found[0]) or identify(cut.element, name)
    if not id_:
        raise UnreadableDocument(finding("E-MISSING", f"a {name} without an Id", line=cut.line))
    return Incoming(name, id_, marks, cut.document, found)


def told(row: Row) -> tuple[str, Marks] | None:
    """What ``identify`` says, as far as the row of a document tells without doubt, else None.

    It was read already, and reading it again would cost as much as compressing the document.
    """
    if row[_ODD] or row[_READING] != BOTH:
        return None
    id_, global_id = str(row[_ID] or ""), str(row[_GLOBAL_ID] or "")
    submitted, started = row[_SUBMITTED], row[_STARTED]
    if SEPARATOR in id_ or SEPARATOR in global_id:  # there are several
        return None
    if row[_KIND] == GROUP:
        return id_.strip(XML_SPACE), Marks()
    if not (_is_whole(submitted) and _is_whole(started)):
        return None
    times = (f"{value:.0f}" if value is not None else "" for value in (submitted, started))
    return id_.strip(XML_SPACE), Marks(global_id.strip(XML_SPACE), *times)


def _is_whole(value: object) -> TypeGuard[float | None]:
    return value is None or (isinstance(value, float) and value.is_integer())


def only(document: Block | bytes) -> Incoming:
    """The one Job or JobGroup of a document. Raises ``UnreadableDocument``."""
    data = document if isinstance(document, bytes) else dumps(document).encode()
    found = list(slices(data))
    if len(found) != 1:
        message = f"{len(found)} job objects where one is due"
        raise UnreadableDocument(finding("E-CARD", message))
    return incoming(found[0])
