"""Whichever format the records are in: told by their first bytes, and said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple

from sssjob import registry
from sssjob.document import cause
from sssjob.document.encodings import beginning
from sssjob.document.files import looked_at
from sssjob.errors import Severity, UnusableInput
from sssjob.records import AUTO, FORMATS, Format, formats
from sssjob.records.layout import Layout
from sssjob.records.lines import clean
from sssjob.records.record import Noted
from sssjob.registry import Sign

DOCUMENTS = "sss"  # the format of job objects
HEAD = 1 << 16  # bytes that are looked at
_OVER = (
    "recognised as {0} by {1}, which sssjob convert and report read, and not as the listing "
    "of jobs that was expected"
)
_LIVE = (
    "live jobs as a batch system shows them, recognised as {0} by {1}; sssjob status reads them, "
    "and prints the job objects that this takes"
)
_BEGIN = 512  # those that tell whether it is text at all
_MISTAKEN = 1 << 12  # those that tell what is often taken for a format


class Recognised(NamedTuple):
    """A format, and what in the records tells it."""

    format: Format
    sign: str

    def __str__(self) -> str:
        """``recognised as pbs by lines of stamp;letter;id;text``."""
        return f"recognised as {self.format.name} by {self.sign}"


class TakenForRecords(UnusableInput):
    """What is often taken for records or documents, and is known to be neither.

    Such are live jobs as a batch system prints them, and the log of its server.
    """


def recognised(stream: BinaryIO) -> tuple[Format, Noted, BinaryIO]:
    """The format of the records of a stream, a notice that says so, and the stream again.

    Raises ``UnusableInput`` where nothing is recognised.
    """
    head, again = looked_at(stream, HEAD)
    found = recognise(head)
    return found.format, Noted(1, str(found), severity=Severity.NOTICE), again


def checked(layout: Layout, stream: BinaryIO) -> BinaryIO:
    """The same stream. Raises ``UnusableInput`` where it begins with what is no such format."""
    head, again = looked_at(stream, _MISTAKEN)
    if reason := layout.mistaken(head):
        raise UnusableInput(reason, 1)
    return again


def recognise(head: bytes, rows: Sequence[Format] = ()) -> Recognised:
    """The format of records that begin so, one of ``rows`` if there are any, or of all formats.

    Raises ``UnusableInput`` where it is none, as ``TakenForRecords`` where it is known what it is,
    and nobody asked for that. What begins like a document is one: whoever reads it says what is
    wrong with it. Without ``rows`` raises ``UnreadableDocument`` for what is empty or no text.
    """
    if not (start := beginning(head)):
        raise UnusableInput("nothing to read") if rows else cause.empty()
    for row in sorted(rows, key=lambda row: row.sign) if rows else _in_order():
        if reason := _told(row, "recognises", head):
            return Recognised(row, reason)
    for row in () if rows else registry.all_status_formats().values():
        if reason := _told(row, "recognises", start):
            raise TakenForRecords(_LIVE.format(row.name, reason), 1)
    for row in _in_order() if rows else ():
        if reason := _told(row, "recognises", head):
            raise UnusableInput(_OVER.format(row.name, reason), 1)
    for row in rows or formats().values():
        if reason := _told(row, "mistaken", head):
            raise TakenForRecords(reason, 1)
    if head.startswith(cause.SCRIPT.encode()):
        raise UnusableInput(f"{cause.SCRIPT_SAID}; {cause.SCRIPT_ADVICE}", 1)
    if rows and cause.is_binary(head[:_BEGIN].decode("utf-8", "replace")):
        raise UnusableInput(cause.BINARY_SAID)
    if not rows and cause.begins_document(head):
        return Recognised(FORMATS[DOCUMENTS], "the sign <")
    begin = clean(head[:200]).strip()[:60]
    raise UnusableInput(
        f"no known format of records begins with {begin!r}; name the format: --from FORMAT"
    )


def _in_order() -> Iterator[Format]:
    """The formats by their signs, the surest first; ours come first among equals."""
    others: list[Format] | None = None
    for sign in Sign:
        yield from (row for row in FORMATS.values() if row is not AUTO and row.sign == sign)
        if others is None:  # looking for them takes time
            others = [row for name, row in formats().items() if name not in FORMATS]
        yield from (row for row in others if row.sign == sign)


def _told(row: Format, name: str, head: bytes) -> str:
    """What a function of a format's layout says of the first bytes."""
    if row is AUTO:
        return ""
    try:
        layout = row.load()
    except UnusableInput:
        return ""  # it will be told to whoever names the format
    return str(getattr(layout, name)(head))
