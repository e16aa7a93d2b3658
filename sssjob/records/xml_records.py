"""Records cut out of XML and parsed one by one, so that a bad one costs only itself.

Some writers escape nothing, and what a command prints may be cut short. No entity is expanded and
no address is opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from lxml.etree import _Element as Element

from sssjob.document.parsing import parse
from sssjob.errors import UnreadableDocument, UnusableInput
from sssjob.records import lines
from sssjob.records.lines import clean
from sssjob.records.record import Bad, Noted
from sssjob.records.unread import unread

RECORD_LIMIT = 1 << 20  # bytes
_TOO_LONG = f"a record of more than {RECORD_LIMIT} bytes"
CHUNK = 1 << 16

_ENDS = {b"<!--": b"-->", b"<![CDATA[": b"]]>"}
_MARK_LENGTH = 200  # no mark but a comment is longer
_ROOT = re.compile(rb"<((?:[\w.-]{1,60}:)?[A-Za-z][\w.-]{0,60})(?:\s[^<>]*)?>")
_ALONE = re.compile(rb"<((?:[\w.-]{1,60}:)?[A-Za-z][\w.-]{0,60})[\s/>]")
_BEGIN = re.compile(rb"<([A-Za-z][\w:.-]{0,60})((?:\s[^<>]*)?)/?>")
_ATTRIBUTE = re.compile(rb"""\s([A-Za-z_][\w:.-]{0,60})\s*=\s*["']""")
_ENCODING = re.compile(rb"""<\?xml[^>]{0,100}?encoding=["']([\w.-]{1,40})["']""")
_ASIDE = re.compile(rb"<!--.*?-->|<\?.*?\?>", re.DOTALL)
_MENDED = "tags without a name: <>"
_NAMELESS = re.compile(rb"<(/?)>")


class RecordTags(NamedTuple):
    """What records look like: the tags that begin and end one, and what may be without any.

    ``tag`` is a pattern of a tag: the name stands in its second group, and ``/`` of one that ends
    a record in its first. ``roots`` are the names of documents that may be without records.
    ``around`` are names of elements, and of attributes as ``name@attribute``, that may stand around
    records; others are told. None: nothing is told.
    """

    what: str
    tag: re.Pattern[bytes]
    roots: tuple[bytes, ...]
    around: frozenset[str] | None = None

    @property
    def mark(self) -> re.Pattern[bytes]:
        """What is looked for: what stands in comments and CDATA is no tag."""
        return re.compile(rb"<!--|<!\[CDATA\[|<!DOCTYPE|" + self.tag.pattern)


class XMLRecord(NamedTuple):
    """A record: the line that it begins in, and its element within a root like that of its own.

    ``gap`` is what stands between it and the record before, ``note`` what was wrong with it.
    """

    line: int
    element: Element
    gap: bytes
    note: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around the records of a document: they need its namespaces and encoding."""

    root: bytes = b""
    name: bytes = b""
    encoding: str = "utf-8"

    def below(self, gap: bytes) -> Frame:
        """The frame behind these bytes, which hold no record; a file may be several documents."""
        encoding, root = _ENCODING.search(gap), _ROOT.search(_ASIDE.sub(b"", gap))
        if not encoding and not root:
            return self
        code = encoding[1].decode("ascii", "replace") if encoding else "utf-8"
        return Frame(root[0] if root else b"", root[1] if root else b"", code)

    def around(self, raw: bytes) -> bytes:
        """A record as a document of its own, whose first line is that of the record."""
        if self.encoding.lower() not in ("utf-8", "utf8", "us-ascii", "ascii"):
            with suppress(LookupError):  # what nobody knows is most often UTF-8 by another name
                raw = raw.decode(self.encoding, "replace").encode()
        end = b"</" + self.name + b">" if self.name else b""
        return clean(self.root).replace("\n", " ").encode() + clean(raw).encode() + end


class CutRecord(NamedTuple):
    """A record with its line, its frame and what stands before it, or a text: what is wrong.

    None in the place of the last one comes with what stands behind it.
    """

    line: int
    raw: bytes | str | None
    frame: Frame
    gap: bytes


def read(stream: BinaryIO, form: RecordTags, first: int = 1) -> Iterator[XMLRecord | Bad | Noted]:
    """Every record of a stream. Raises ``UnusableInput`` where there is no XML of records."""
    return parsed(cut(stream, form, first), form)


def parsed(records: Iterable[CutRecord], form: RecordTags) -> Iterator[XMLRecord | Bad | Noted]:
    """Records that were cut out, as elements."""
    for line, raw, frame, gap in records:
        if form.around is not None and gap:
            yield from unread(line, "elements around the jobs", (*_names(gap),), form.around)
        if raw is None:
            continue
        if isinstance(raw, str):
            yield Bad(line, raw)
            continue
        try:
            root = parse(frame.around(raw))
        except UnreadableDocument as error:
            found = error.finding
            if (mended := _mended(frame, raw)) is not None:
                yield XMLRecord(line, mended[0] if frame.root else mended, gap, _MENDED)
            else:
                yield Bad(line + max(found.line - 1, 0), f"not well-formed: {found.message}")
            continue
        yield XMLRecord(line, root[0] if frame.root else root, gap)


def _mended(frame: Frame, raw: bytes) -> Element | None:
    """A record whose only fault are tags without a name, as Grid Engine prints some."""
    try:
        return parse(frame.around(_NAMELESS.sub(rb"<\1element>", raw)))
    except UnreadableDocument:
        return None


def cut(stream: BinaryIO, form: RecordTags, first: int) -> Iterator[CutRecord]:
    """Each record as it is cut out. Raises ``UnusableInput`` where there is no XML of records."""
    search = form.mark.search
    buffer, line = b"", first  # what was not given yet, and the line that it begins in
    at, begun, name = 0, -1, b""  # in the buffer: how far it was searched, where a record begins
    frame, gap, seen, ended = Frame(), b"", False, False
    outer = b""  # the name of the document that is open
    large = b""  # the name of a record that was let go, and whose end is yet to come
    apart = 0  # bytes that were let go since the last record began
    endless: set[bytes] = set()  # marks whose end is not in the buffer

    def line_at(place: int) -> int:
        return line + buffer.count(b"\n", 0, place)

    while not ended:
        chunk = stream.read(CHUNK)
        ended = not chunk
        buffer += chunk
        endless.clear()
        while mark := search(buffer, at):
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
                    wrong = f"no </{name.decode()}> before the next record"
                    yield CutRecord(line_at(begun), wrong, frame, gap)
                else:
                    gap = buffer[: mark.start()]
                    outer, frame = _outer(outer, gap), frame.below(gap)
                begun, name, at, seen, apart = mark.start(), mark[2], mark.end(), True, 0
                large = b""
            else:
                end = buffer.find(b">", mark.end() - 1) + 1
                if not end and not ended:
                    at = mark.start()
                    break
                at = end or mark.end()
                if begun >= 0 and mark[2] == name:
                    record = buffer[begun:at] if at - begun <= RECORD_LIMIT else _TOO_LONG
                    yield CutRecord(line_at(begun), record, frame, gap)
                    line, buffer, at, begun = line_at(at), buffer[at:], 0, -1
                elif begun < 0 and mark[2] == large:
                    large = b""
                elif begun < 0:  # of a record without its beginning # decision 952
                    gap = buffer[: mark.start()]
                    if not frame.root:
                        outer, frame = _outer(outer, gap), frame.below(gap)
                    wrong = f"no start tag before </{mark[2].decode()}>: it is damaged, or missing"
                    yield CutRecord(line_at(mark.start()), wrong, frame, b"")
                    line, buffer, at, seen = line_at(at), buffer[at:], 0, True
        else:
            at = max(at, len(buffer) - _MARK_LENGTH)
        if begun >= 0 and len(buffer) - begun > RECORD_LIMIT:
            yield CutRecord(line_at(begun), _TOO_LONG, frame, gap)
            begun, large = -1, name
        if begun < 0 and len(buffer) > RECORD_LIMIT:
            at = max(at, len(buffer) - _MARK_LENGTH)
            yield CutRecord(line, None, frame, buffer[:at])
            line, buffer, at, apart = line_at(at), buffer[at:], 0, apart + at
            if apart > lines.ENDLESS:
                raise UnusableInput(f"no {form.what} in {lines.ENDLESS >> 20} MiB")
    if begun >= 0:
        wrong = f"the input ends before </{name.decode()}>"
        yield CutRecord(line_at(begun), wrong, frame, gap)
        return
    yield CutRecord(line, None, frame, buffer)
    if not seen:
        if not _is_empty(frame, buffer, form):
            raise UnusableInput(f"no {form.what} in it")
        buffer += b" >"  # a tag that is cut off is one, too, and no empty one
    if still := _still_open(outer, buffer):
        wrong = f"the input ends before </{still.decode()}>"
        yield CutRecord(line_at(len(buffer)), wrong, frame, b"")


def _names(gap: bytes) -> Iterator[str]:
    """The elements that begin here, and their attributes."""
    for found in _BEGIN.finditer(_ASIDE.sub(b"", gap)):
        name = found[1].decode()
        yield name
        yield from (f"{name}@{each.decode()}" for each in _ATTRIBUTE.findall(found[2]))


def _outer(outer: bytes, gap: bytes) -> bytes:
    """The document that is open behind these bytes: the same one, or the next after its end."""
    gap = _ASIDE.sub(b"", gap)
    ends = [*_end_of(outer).finditer(gap)] if outer else []
    if outer and not ends:
        return outer
    return _root(gap[ends[-1].end() if ends else 0 :])


def _still_open(outer: bytes, rest: bytes) -> bytes:
    """The document that is open at the end: ``outer``, or one of those behind it; or none."""
    rest = _ASIDE.sub(b"", rest)
    last = outer or _root(rest)
    while last:
        ends = [*_end_of(last).finditer(rest)]
        if not ends:
            return last
        rest = rest[ends[-1].end() :]
        if not (behind := _root(rest)):
            return last if b"<" in rest else b""
        last = behind
    return b""


def _root(text: bytes) -> bytes:
    """The name of the first tag."""
    found = _ROOT.search(text)
    return found[1] if found else b""


def _end_of(name: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"</" + re.escape(name) + rb"\s*>|<" + re.escape(name) + rb"(?:\s[^<>]*)?/>")


def _is_empty(frame: Frame, rest: bytes, form: RecordTags) -> bool:
    """Whether a document may be without records: ``<Data/>``; its name may have a prefix."""
    names = (frame.name, *(found[1] for found in _ALONE.finditer(rest)))
    return any(name.rpartition(b":")[2] in form.roots for name in names)
