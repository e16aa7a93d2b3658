"""XML of usage records, cut into its records, and each of them into named entries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple

from lxml.etree import _Element as Element

from sssjob.document.places import names
from sssjob.records import xml_records
from sssjob.records.layout import Piece
from sssjob.records.record import Bad, Noted
from sssjob.records.xml_records import CutRecord

_IDENTITY = "JobIdentity"  # of which a record has one
NESTED = ("JobIdentity", "RecordIdentity", "UserIdentity")


class ElementText(NamedTuple):
    """The text of an element, and its attributes by their local names."""

    text: str
    attributes: tuple[tuple[str, str], ...] = ()

    def get(self, name: str) -> str:
        """An attribute, or ""."""
        return next((value for key, value in self.attributes if key == name), "")

    def __str__(self) -> str:
        """The entry with its attributes, as one text."""
        return " ".join((self.text, *(f"{name}={value}" for name, value in self.attributes)))


Entries = tuple[ElementText, ...]


_FORM = xml_records.RecordTags(
    "usage record",
    re.compile(rb"<(/?)((?:[\w.-]{1,60}:)?(?:JobUsageRecord|UsageRecord|Usage))(?=[\s/>])"),
    (b"UsageRecords",),
)


def pieces(stream: BinaryIO, first: int) -> Iterator[CutRecord]:
    """The records of a stream. Raises ``UnusableInput`` where there is no XML of records."""
    return xml_records.cut(stream, _FORM, first)


def opened(records: Iterable[CutRecord]) -> Iterator[Piece]:
    """The entries of records.

    They go by ``Name``, or by ``Outer/Name`` and ``Outer/@name``; an element of another
    namespace than the record's own is named ``{namespace}Name``, and one within that
    ``{namespace}Outer/Name``.
    """
    for found in xml_records.parsed(records, _FORM):
        if isinstance(found, Bad | Noted):
            yield found
        elif sum(names(child)[1] == _IDENTITY for child in found.element.iterchildren("*")) > 1:
            yield Bad(found.line, "two records in one: an end tag is missing between them")
        else:
            yield found.line, _entries(found.element)


def _entries(record: Element) -> dict[str, Entries]:
    home, _ = names(record)
    found: dict[str, list[ElementText]] = {}
    for element in record.iterchildren("*"):
        for path, entry in _parts(element, home):
            found.setdefault(path, []).append(entry)
    return {name: tuple(entries) for name, entries in found.items()}


def _parts(element: Element, home: str) -> Iterator[tuple[str, ElementText]]:
    """What an element of a record tells, by its names; ``home`` is the record's namespace."""
    namespace, name = names(element)
    if namespace != home or name not in NESTED:
        yield from _leaves(element, "" if namespace == home else f"{{{namespace}}}")
        return
    for key, value in _attributes(element):
        yield f"{name}/@{key}", ElementText(value)
    for child in element.iterchildren("*"):
        yield from _leaves(child, f"{name}/")


def _leaves(element: Element, before: str) -> Iterator[tuple[str, ElementText]]:
    """The element by its name, or those within it by their paths: their texts stay apart."""
    path = before + names(element)[1]
    children = list(element.iterchildren("*"))
    text = "".join((element.text or "", *(child.tail or "" for child in element))).strip()
    if text or not children:
        yield path, ElementText(text, _attributes(element))
    for child in children:
        yield from _leaves(child, f"{path}/")


def _attributes(element: Element) -> tuple[tuple[str, str], ...]:
    return tuple((str(key).rpartition("}")[2], str(value)) for key, value in element.items())
