"""How a stream of JSON objects is cut into parts that several processes read.

Strategy. A part has to begin and end between two objects, and only who reads all before it knows
where that is; but to read takes as long as all the rest.

The idea is to cut where an object seems to end, by its last line, and to have whoever reads a part
see whether that is so. If not, the rest of the stream is read in one go.

Why it is right: the part ends where an object does if all that is read ends with it, between two
objects and inside the array in which the part begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import BinaryIO

import orjson

from sssjob.document.files import looked_at
from sssjob.records import cuts, json_objects
from sssjob.records.cutting import Cutter, Front, NotAlone, OpenStream, Part, PartStream
from sssjob.records.json_objects import (
    ARRAY,
    MEMBER,
    OBJECTS,
    Found,
    MembersBeside,
    PartEnd,
    Said,
    end_by_braces,
    read,
    read_inside,
)
from sssjob.records.record import Bad, Options

_HEAD = 1 << 14  # bytes that tell where the objects stand
_BEHIND = b" \t\r,"  # what may stand behind an object on its line
_BEFORE = b" \t,["  # and before it
_DECODER = json.JSONDecoder()


def objects(
    member: Callable[[bytes], str], beside: MembersBeside | None = None
) -> cuts.CustomPieces:
    """Pieces that are objects; the first bytes tell in which array they stand, if in any."""

    def found(stream: BinaryIO, first: int) -> Iterator[Found | Said]:
        head, again = looked_at(stream, _HEAD)
        yield from read(again, member(head), first, beside)

    return cuts.CustomPieces(found, parted=parted(member, beside))


def parted(member: Callable[[bytes], str], beside: MembersBeside | None = None) -> cuts.Parted:
    """How streams of objects are cut; the first bytes tell in which array these stand, if in any.

    Raises ``NotAlone``, see ``Parted``.
    """

    def cutter(head: bytes, front: bytes) -> Callable[[Options, Front], Cutter]:
        inside = front or _inside(head, member(head))
        return lambda options, known: ObjectCutter(options, known, inside)

    def behind(front: bytes, stream: PartStream, first: int) -> Iterator[Found | Said]:
        name = "" if front else member(stream.head)
        found = read_inside(front, stream, name, first, beside)
        inside = front or _inside(stream.head, name)
        last: Found | Said | None = None
        try:
            for last in found:
                # How a document ends is told by what was wrong in it.
                if isinstance(last, Bad) and stream.is_open and inside.startswith(MEMBER):
                    raise NotAlone
                yield last
        except PartEnd as end:
            # What is wrong with an object may depend on what follows it.
            if end.between and end.in_array == (inside != OBJECTS) and not isinstance(last, Bad):
                return
            raise NotAlone from None
        if stream.is_open:
            raise NotAlone

    def rest(front: bytes, stream: OpenStream, first: int) -> Iterator[Found | Said]:
        name = "" if front else member(stream.head)
        try:
            yield from read_inside(front, stream, name, first, beside)
        except PartEnd as end:  # a log that grows ends here, for now
            if not end.between:
                yield Bad(end.line, "the input ends inside an object")

    return cuts.Parted(cutter, behind, rest)


def _inside(head: bytes, member: str) -> bytes:
    """What the objects of a stream stand in that begins so."""
    begin = head.lstrip(b"\xef\xbb\xbf, \t\r\n")
    if begin.startswith(b"[") or not member:
        return ARRAY if begin.startswith(b"[") else OBJECTS
    return MEMBER + member.encode()


def _is_json(text: bytes) -> bool:
    with suppress(ValueError):
        orjson.loads(text)
        return True
    return False


def _is_object(text: bytes) -> bool:
    """Whether a text is an object, or has as many braces as one, which may be broken."""
    return _is_json(text) or text.count(b"{") == text.count(b"}")


class ObjectCutter:
    """Cuts where an object seems to end: by its line, or as it is read.

    By the line that its last brace stands on where it has one of its own, as all have that a batch
    system prints. What shares its line with what is no object is read for that, up to its end.
    Reading alone would do, and takes 40 to 100 times as long (80 to 200 ms for 14 MiB of indented
    objects, 2 ms by lines), while all processes wait for their parts. Of lines there are two ways:
    a brace that stands alone closes what begins as far in, at the end of another line most close
    something inside an object.
    """

    def __init__(self, options: Options, front: Front, inside: bytes) -> None:
        self.options, self.front = options, front
        self._inside = inside
        around = rb"[\xef\xbb\xbf\s,\[\]]*+"
        begin, between = around, around
        wrong = around + rb"[^\xef\xbb\xbf\s,\[\]{][^\r\n,\]]*+,?"
        self._name = b""  # with its quotes
        if inside.startswith(MEMBER):
            self._name = b'"%s"' % inside.removeprefix(MEMBER)
            begin = rb".*?%s\s*+:\s*+\[" % re.escape(self._name)
            between = rb"[\s,]*+(?:\]%s)?" % begin  # in the member, or behind its last object
            wrong = (b"" if front else begin) + rb"[\s,]*+[^\s,\]}{][^\r\n,\]]*+,?"
        self._next = re.compile(between + rb"\s*+\{", re.DOTALL)
        self._first = self._next if front else re.compile(begin + rb"\s*+\{", re.DOTALL)
        self._wrong = re.compile(wrong, re.DOTALL)
        self._by_lines: Callable[[bytes], int] | None = None
        self._is_over = False

    def cut(self, data: bytes, line: int, *, final: bool) -> tuple[Part | None, int]:
        """The objects that the data begins with; in the end all that there is, even if nothing."""
        if final:
            if self._is_over:
                return None, 0
            self._is_over = True
            return Part(data, line, self.options, self.front), len(data)
        size = self._end(data) or (len(data) if len(data) > json_objects.OBJECT_LIMIT else 0)
        if not size:
            return None, 0
        part = Part(data[:size], line, self.options, self.front, is_open=True)
        self.front, self._first = ((line, self._inside),), self._next
        return part, size

    def _end(self, data: bytes) -> int:
        """How many bytes there are up to the last object that seems to end, if any.

        What stands behind that is not cut off: in a document that grows, a comma comes before
        the next object, where the end of the array was. The last line counts when it has its end.
        """
        if self._by_lines is None:
            self._by_lines = self._learnt(data)
        return (self._by_lines(data) if self._by_lines else 0) or self._as_read(data)

    def _learnt(self, data: bytes) -> Callable[[bytes], int] | None:
        """What finds ends such as that of the first object; None as long as it is not there."""
        found = self._first.match(data)
        if found is None:
            return None
        place = found.end() - 1
        line_end = data.find(b"\n", place)
        if line_end < 0:
            return None
        indent = data[data.rfind(b"\n", 0, place) + 1 : place]
        text = data[place:line_end]
        if text[1:].isspace() or len(text) == 1:
            return self._nowhere if indent.strip() else partial(self._by_brace, indent)
        try:
            _DECODER.raw_decode(text.decode("latin-1"))
        except (ValueError, RecursionError):
            if not _is_object(text.rstrip(_BEHIND)):
                return self._nowhere
        return self._by_line

    def _nowhere(self, _: bytes) -> int:
        """Of objects that share their lines with others, and are longer than these: no end."""
        return 0

    def _by_brace(self, indent: bytes, data: bytes) -> int:
        """The end of the last object whose brace stands alone, as far in as it began."""
        mark = b"\n" + indent + b"}"
        place = data.rfind(mark)
        while place >= 0:
            size = place + len(mark)
            end = data.find(b"\n", size)
            if end >= 0 and not data[size:end].strip(_BEHIND):
                begin = data.rfind(b"\n" + indent + b"{", 0, place) + 1
                # What stands beside the array may end as its objects do, and begins otherwise.
                if _is_json(data[begin:size]):
                    return size
            place = data.rfind(mark, 0, place)
        return 0

    def _by_line(self, data: bytes) -> int:
        """The end of the last line that is an object, or several.

        A broken one ends with the line: it is told, and the next one is read.
        """
        place = data.rfind(b"\n")
        while place >= 0:
            begin = data.rfind(b"\n", 0, place) + 1
            text = data[begin:place].rstrip(_BEHIND)
            object_ = text.lstrip(_BEFORE)
            is_alone = object_.startswith(b"{") and object_.endswith(b"}")
            if is_alone and not (self._name and self._name in text) and _is_object(object_):
                return begin + len(text)
            place = data.rfind(b"\n", 0, place)
        return 0

    def _as_read(self, data: bytes) -> int:
        """The end of the last object among whole lines, by reading each up to there.

        What is none is cut off as well, so that whoever reads the part tells of it: up to the
        brace that closes it, or all that there is.
        """
        end = data.rfind(b"\n") + 1
        if wrong := self._wrong.match(data, 0, end):
            return wrong.end()
        text = data[:end].decode("latin-1")  # a letter for each byte
        there = len(text.rstrip())
        size, next_ = 0, self._first
        while found := next_.match(data, size, end):
            begin = found.end() - 1
            try:
                size = _DECODER.raw_decode(text, begin)[1]
            except (json.JSONDecodeError, RecursionError) as error:
                if isinstance(error, json.JSONDecodeError) and error.pos >= there:
                    return size
                if not (closed := end_by_braces(text, begin, end)):
                    return size or end
                size = closed
            next_ = self._next
        return size
