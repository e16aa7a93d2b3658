"""XML of usage records, cut into its records, and each of them into named entries.

Records are cut out of the bytes and parsed one by one, so that one that is not well-formed (some
writers escape nothing) costs only itself. No entity is expanded and no address is opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from lxml.etree import _Element as Element

from sssjob.document.places import names
from sssjob.document.tree import parse
from sssjob.errors import UnreadableDocument, UnusableInput
from sssjob.records.lines import clean
from sssjob.records.record import Bad

RECORD_LIMIT = 1 << 20  # bytes
CHUNK = 1 << 16

# Where a record begins and ends; what stands in comments and CDATA is neither.
_MARK = re.compile(
    rb"<!--|<!\[CDATA\[|<!DOCTYPE"
    rb"|<(/?)((?:[\w.-]{1,60}:)?(?:JobUsageRecord|UsageRecord|Usage))(?=[\s/>])"
)
_ENDS = {b"<!--": b"-->", b"<![CDATA[": b"]]>"}
_MARK_LENGTH = 100  # no mark but a comment is longer
_ROOT = re.compile(rb"<((?:[\w.-]{1,60}:)?[A-Za-z][\w.-]{0,60})(?:\s[^<>]*)?>")
_ENCODING = re.compile(rb"""<\?xml[^>]{0,100}?encoding=["']([\w.-]{1,40})["']""")
NESTED = ("JobIdentity", "RecordIdentity", "UserIdentity")


class Leaf(NamedTuple):
    """The text of an element, and its attributes by their local names."""

    text: str
    attributes: tuple[tuple[str, str], ...] = ()

    def get(self, name: str) -> str:
        """An attribute, or ""."""
        return next((value for key, value in self.attributes if key == name), "")

    def __str__(self) -> str:
        """The entry with its attributes, as one text."""
        return " ".join((self.text, *(f"{name}={value}" for name, value in self.attributes)))


Entries = tuple[Leaf, ...]


class Record(NamedTuple):
    """A record: the line it begins in, and its entries.

    They go by ``Name``, or by ``Outer/Name`` and ``Outer/@name``; an element of another
    namespace than the record's own is named ``{namespace}Name``, and one within that
    ``{namespace}Outer/Name``.
    """

    line: int
    entries: Mapping[str, Entries]


@dataclass(frozen=True, slots=True)
class _Frame:
    """What stands around the records of a document: they need its namespaces and encoding."""

    root: bytes = b""
    name: bytes = b""
    encoding: str = "utf-8"

    def below(self, gap: bytes) -> _Frame:
        """The frame behind these bytes, which hold no record; a file may be several documents."""
        encoding, root = _ENCODING.search(gap), _ROOT.search(gap)
        if not encoding and not root:
            return self
        code = encoding[1].decode("ascii", "replace") if encoding else "utf-8"
        return _Frame(root[0] if root else b"", root[1] if root else b"", code)

    def around(self, raw: bytes) -> bytes:
        """A record as a document of its own, whose first line is that of the record."""
        if self.encoding.lower() not in ("utf-8", "utf8", "us-ascii", "ascii"):
            with suppress(LookupError):  # what nobody knows is most often UTF-8 by another name
                raw = raw.decode(self.encoding, "replace").encode()
        end = b"</" + self.name + b">" if self.name else b""
        return clean(self.root).replace("\n", " ").encode() + clean(raw).encode() + end


def read(stream: BinaryIO) -> Iterator[Record | Bad]:
    """Every record of a stream. Raises ``UnusableInput`` where there is no XML of records."""
    for line, raw, frame in _cut(stream):
        if isinstance(raw, str):
            yield Bad(line, raw)
            continue
        try:
            root = parse(frame.around(raw))
        except UnreadableDocument as error:
            found = error.finding
            yield Bad(line + max(found.line - 1, 0), f"not well-formed: {found.message}")
            continue
        yield Record(line, _entries(root[0] if frame.root else root))


def _cut(stream: BinaryIO) -> Iterator[tuple[int, bytes | str, _Frame]]:
    """Each record with its line and frame, or what is wrong with it."""
    buffer, line = b"", 1  # what was not given yet, and the line that it begins in
    at, begun, name = 0, -1, b""  # in the buffer: how far it was searched, where a record begins
    frame, seen, ended = _Frame(), False, False
    endless: set[bytes] = set()  # marks whose end is not in the buffer

    def line_at(place: int) -> int:
        return line + buffer.count(b"\n", 0, place)

    while not ended:
        chunk = stream.read(CHUNK)
        ended = not chunk
        buffer += chunk
        endless.clear()
        while mark := _MARK.search(buffer, at):
            word = mark[0]
            if word == b"<!DOCTYPE" and begun < 0:
                text = "a document type declaration is not accepted"
                raise UnusableInput(text, line_at(mark.start()))
            if mark[2] is None:
                known = word in _ENDS and word not in endless
                end = buffer.find(_ENDS[word], mark.end()) if known else -1
                if known and end < 0:
                    endless.add(word)
                    if not ended and len(buffer) - mark.start() < RECORD_LIMIT:
                        at = mark.start()  # its end may be yet to come
                        break
                at = max(end, mark.end())
            elif not mark[1]:
                if begun >= 0:
                    yield line_at(begun), f"no </{name.decode()}> before the next record", frame
                else:
                    frame = frame.below(buffer[: mark.start()])
                begun, name, at, seen = mark.start(), mark[2], mark.end(), True
            else:
                end = buffer.find(b">", mark.end() - 1) + 1
                if not end and not ended:
                    at = mark.start()
                    break
                at = end or mark.end()
                if begun >= 0 and mark[2] == name:
                    yield line_at(begun), buffer[begun:at], frame
                    line, buffer, at, begun = line_at(at), buffer[at:], 0, -1
        else:
            at = max(at, len(buffer) - _MARK_LENGTH)
        if begun >= 0 and len(buffer) - begun > RECORD_LIMIT:
            yield line_at(begun), f"a record of more than {RECORD_LIMIT} bytes", frame
            begun = -1
        if begun < 0 and len(buffer) > RECORD_LIMIT:
            at = max(at, len(buffer) - _MARK_LENGTH)
            line, buffer, at = line_at(at), buffer[at:], 0
    if begun >= 0:
        yield line_at(begun), f"the input ends before </{name.decode()}>", frame
    elif seen and frame.name and not re.search(rb"</" + re.escape(frame.name) + rb"\s*>", buffer):
        yield line_at(len(buffer)), f"the input ends before </{frame.name.decode()}>", frame
    if not seen and b"UsageRecords" not in frame.below(buffer).name:
        raise UnusableInput("no usage record in it")


def _entries(record: Element) -> dict[str, Entries]:
    home, _ = names(record)
    found: dict[str, list[Leaf]] = {}
    for element in record.iterchildren("*"):
        for path, entry in _parts(element, home):
            found.setdefault(path, []).append(entry)
    return {name: tuple(entries) for name, entries in found.items()}


def _parts(element: Element, home: str) -> Iterator[tuple[str, Leaf]]:
    """What an element of a record tells, by its names; ``home`` is the record's namespace."""
    namespace, name = names(element)
    if namespace != home or name not in NESTED:
        yield from _leaves(element, "" if namespace == home else f"{{{namespace}}}")
        return
    for key, value in _attributes(element):
        yield f"{name}/@{key}", Leaf(value)
    for child in element.iterchildren("*"):
        yield from _leaves(child, f"{name}/")


def _leaves(element: Element, before: str) -> Iterator[tuple[str, Leaf]]:
    """The element by its name, or those within it by their paths: their texts stay apart."""
    path = before + names(element)[1]
    children = list(element.iterchildren("*"))
    text = "".join((element.text or "", *(child.tail or "" for child in element))).strip()
    if text or not children:
        yield path, Leaf(text, _attributes(element))
    for child in children:
        yield from _leaves(child, f"{path}/")


def _attributes(element: Element) -> tuple[tuple[str, str], ...]:
    return tuple((str(key).rpartition("}")[2], str(value)) for key, value in element.items())
