"""What entries of the ledger say of a job."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Protocol

from sssjob.handlers.attributes import ObjectAttribute, attribute
from sssjob.rmap.responder import ReceivedRequest
from sssjob.store import Stored
from sssjob.store.ledger import Entry, EntryKind

_SERIAL = re.compile("[0-9]{1,15}")


class HasTexts(Protocol):
    """A job by the texts of its attributes."""

    def text(self, attribute: ObjectAttribute) -> str | None:
        """The text of an attribute; None without one."""


def about(
    kind: EntryKind,
    amount: Fraction,
    view: HasTexts,
    id_: str,
    stored: Stored | None,
    call: ReceivedRequest,
    details: str = "",
) -> Entry:
    """An entry about a job; ``stored`` is the document that it is in, if it is known."""
    return Entry(
        kind, amount, int(call.now), id_, stored.number if stored else None,
        user=text(view, "User"), project=text(view, "Project"), machine=text(view, "Machine"),
        details=details,
    )  # fmt: skip


def quote_of(view: HasTexts) -> int:
    """The number of the quote that a job names; 0 where it names none, or none of ours."""
    number = text(view, "Quote")
    return int(number) if _SERIAL.fullmatch(number) else 0


def text(view: HasTexts, name: str) -> str:
    """What a job says by a name; "" if it says nothing."""
    found = attribute(name)
    return ((view.text(found) if found else "") or "").strip()
