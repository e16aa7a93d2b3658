"""The objects of a JSON document one by one, in memory that does not grow with their number.

A document is an array of objects, an object with such an array as one of its members, or objects
one after the other (JSON lines). Where objects stand on lines of their own, as batch systems
print them, the end of one is found by its indentation, which no text in it can imitate: JSON has
no line break in a text. An object that is none is reported, and the next one is read.

Streams of them are cut for several processes by ``json_parts``.

Letters that no document can hold, and bytes that are no UTF-8, become U+FFFD, and that is told with
its place: once for each object.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple, Self

import orjson

from sssjob.errors import UnusableInput
from sssjob.json_text import OddLetter, held, line_of_value, may_be_odd, said_of, why
from sssjob.library_words import json_fault
from sssjob.records import lines
from sssjob.records.lines import Readable
from sssjob.records.record import Bad, Noted
from sssjob.records.unread import Left, expected, unread

OBJECT_LIMIT = 1 << 24  # characters of one object
CHUNK = 1 << 16  # what is read, decoded and put together stays in the cache of a processor
_WINDOW = 1 << 14
_MOST_INDENT = 1 << 8  # characters before an object on its line, by which its end is found

_SPACE = " \t\r\n\ufeff"
_SHOWN = 20  # characters of what is wrong
_NEAR = 80  # characters behind a wrong object, among which the next one is looked for
_BETWEEN = re.compile(rf"[{_SPACE},]*+")
_BLANK = re.compile(r"[ \t]*+")
_OPENS_LINES = re.compile(r"\{[ \t]*+[\r\n]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}]', re.DOTALL)
_FIRST_NAME = re.compile(rf'[{_SPACE}]*+\{{[{_SPACE}]*+"(\w++)"[{_SPACE}]*+:')
_SHOWN_NAME = 1 << 8  # characters in which that stands
# With these a name may end otherwise than by '":', or a quote inside a text is written otherwise.
_OTHER_ENDS = (" :", "\t:", "\n:", "\r:", "\\u0022")
_SURROGATE = re.compile("[\ud800-\udfff]")
_DECODER = json.JSONDecoder()


class WrittenNumber(float):
    """A number that knows how it was written: a system may mean a text that looks like one.

    >>> WrittenNumber("1.10").text
    '1.10'
    """

    text: str

    def __new__(cls, text: str) -> Self:
        """The number of a text."""
        number = super().__new__(cls, text)
        number.text = text
        return number


_OF_TEXTS = json.JSONDecoder(parse_float=WrittenNumber)
TOO_DEEP = "nested too deep"
_DEEPEST = 200  # levels of an object: what writes JSON again may be deep in calls itself
_KINDS = {"[": "array", "{": "object"}
_MOST_TOLD = 200  # letters of what a system complains of


Found = tuple[int, dict[str, Any]]  # the line that an object begins in, and the object
Said = Bad | Noted


ARRAY, MEMBER, OBJECTS = b"[", b"{[", b"{}"  # what objects stand in: an array, one in an object


class PartEnd(Exception):
    """An open part ended: between two objects or not, in an array or not."""

    def __init__(self, line: int, between: bool, in_array: bool) -> None:
        super().__init__()
        self.line, self.between, self.in_array = line, between, in_array


class NamedObject(NamedTuple):
    """An object that is a member of another: its line, and the name that it has there."""

    line: int
    name: str
    value: dict[str, Any]


def sign(head: bytes, keys: Sequence[bytes]) -> str:
    """What tells a format by its keys in the first bytes of an object, two at least, or ""."""
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return ""
    found = [key.decode() for key in keys if key in head]
    return f"a JSON object with {found[0]} and {found[1]}" if len(found) > 1 else ""


class MembersBeside(NamedTuple):
    """What may stand beside the objects of a document, and what is to be said of it.

    ``left`` are members that are not read; of ``complaints`` each that is not empty is told.
    """

    left: Left = MappingProxyType({})
    complaints: tuple[str, ...] = ()

    def said(self, line: int, name: str, value: Any) -> tuple[Noted, ...]:
        """What there is to say of a member beside the objects."""
        if name in self.complaints:
            told = f"{name} of the system: {complaint(value)}"
            return (Noted(line, told, once=True),) if value else ()
        return unread(line, "members beside the jobs", (held(name)[0],), expected((), self.left))


def complaint(value: Any) -> str:
    """What a system complains of, as far as it is told: the texts in it."""
    return "; ".join(_texts_in(value))[:_MOST_TOLD] or "without a text"


def _texts_in(value: Any) -> Iterator[str]:
    """The texts in a value, however deep they stand."""
    pending = [held(value)[0]]
    while pending:
        each = pending.pop()
        if isinstance(each, str) and each:
            yield each
        elif isinstance(each, dict | list):
            inner = each.values() if isinstance(each, dict) else each
            pending.extend(reversed([*inner]))


def read_inside(
    inside: bytes, stream: Readable, member: str, first: int, beside: MembersBeside | None
) -> Iterator[Found | Said]:
    """The objects of a stream, or from its middle on, where it tells what they stand in there.

    Raises ``PartEnd`` where the stream is open.
    """
    if not inside:
        yield from read(stream, member, first, beside)
        return
    text = _StreamText(stream, first)
    if inside.startswith(MEMBER):
        name = inside.removeprefix(MEMBER).decode()
        in_member = _ArrayMember(text, name, "[", beside)
        within = not _begins_document(in_member)
        if not within:
            text.skip()
        yield from _members(in_member, within=within)
    elif inside == ARRAY:
        yield from _objects(text, in_array=True)
        text.skip()
        yield from _top(text)
    else:
        yield from _objects(text)


def _begins_document(member: _ArrayMember) -> bool:
    """Whether another document begins here, and no object of the member: by its first name.

    A part, or what a log has grown by, may begin behind the end of a document.
    """
    text, beside = member.text, member.beside
    with suppress(PartEnd):  # it is told again by whoever reads on
        text.ahead(_SHOWN_NAME)
    found = _FIRST_NAME.match(text.text, text.at)
    others = expected(beside.complaints, beside.left) if beside else ()
    return found is not None and found[1] in (member.name, *others)


def read(
    stream: Readable, member: str = "", first: int = 1, beside: MembersBeside | None = None
) -> Iterator[Found | Said]:
    """The objects of a stream; those of the array ``member`` where it is objects with that.

    ``first`` is the number of its first line; what stands beside the array is told as ``beside``
    says. Raises ``UnusableInput`` where it does not begin with such a document.
    """
    text = _StreamText(stream, first)
    text.skip()
    if text.now() == "{" and member:
        yield from _members(_ArrayMember(text, member, "[", beside))
    elif text.now() in ("{", "["):
        yield from _top(text)
    elif text.now():
        raise UnusableInput("no JSON", text.line_at(text.at))


def _top(text: _StreamText) -> Iterator[Found | Said]:
    """The objects of arrays, and those behind them."""
    while text.now() == "[":
        text.at += 1
        yield from _objects(text, in_array=True)
        text.skip()
    yield from _objects(text)


def read_named(
    stream: BinaryIO, member: str, first: int = 1, beside: MembersBeside | None = None
) -> Iterator[NamedObject | Said]:
    """The objects in the object ``member`` of a document, by their names; none has no such member.

    Numbers with a point or an exponent are each a ``WrittenNumber``. Raises ``UnusableInput`` where
    the document does not begin with an object.
    """
    text = _StreamText(stream, first)
    text.skip()
    if text.now() == "{":
        yield from _members(_ArrayMember(text, member, "{", beside), optional=True)
    elif text.now():
        raise UnusableInput("no JSON object", text.line_at(text.at))


class _StreamText:
    """The text of a stream, as much of it as is looked at; ``at`` is the place of work in it."""

    def __init__(self, stream: Readable, first: int) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        self._line = first  # that the text begins in
        self._counted, self._lines = 0, 0
        self.text = ""
        self.at = 0
        self.ended = False
        self._apart = 0  # bytes that were read since the last object, or what was there instead
        self.between = self.in_array = False  # where the place of work is, if it is an object's
        # Behind the rest of a log that grows there is nothing yet.
        self._until = (PartEnd,) if getattr(stream, "is_rest", False) else ()

    def more(self) -> bool:
        """Read on, twice as much where much is kept; False at the end of the stream.

        Raises ``PartEnd`` at that of an open part, and ``UnusableInput`` where an object, or what
        is none, seems to have no end.
        """
        if self.ended:
            return False
        raw = self._stream.read(max(CHUNK, len(self.text) - self.at))
        self._apart += len(raw)
        if self._apart > lines.ENDLESS:
            raise UnusableInput(f"no object in {lines.ENDLESS >> 20} MiB: this is no JSON of jobs")
        if not raw and getattr(self._stream, "is_open", False):
            raise PartEnd(self.line_at(self.at), self.between, self.in_array)
        self.ended = not raw
        begin = self.text.rfind("\n", 0, self.at) + 1
        if self.at - begin > _MOST_INDENT:
            begin = self.at
        self._line = self.line_at(self.at)  # there is no line end in between
        self.text = self.text[begin:] + self._decode(raw, self.ended)
        self.at -= begin
        self._counted, self._lines = self.at, 0
        return not self.ended

    def now(self) -> str:
        """The character at the place of work, or "" at the end."""
        while self.at >= len(self.text):
            if not self.more():
                return ""
        return self.text[self.at]

    def now_if_any(self) -> str:
        """The character at the place of work, or "" at the end, also at that of an open part."""
        with suppress(PartEnd):
            return self.now()
        return ""

    def ahead(self, size: int) -> str:
        """The next characters, fewer only at the end, however the stream gives them."""
        with suppress(*self._until):
            while self.kept < size and self.more():
                pass
        return self.text[self.at : self.at + size]

    def skip(self, pattern: re.Pattern[str] = _BETWEEN) -> None:
        """Go on to what is neither space nor a comma."""
        while self.now():
            found = pattern.match(self.text, self.at)
            assert found is not None
            self.at = found.end()
            if self.at < len(self.text):
                return

    def line_at(self, place: int) -> int:
        """The number of the line that a place behind the last asked for is in."""
        self._lines += self.text.count("\n", self._counted, place)
        self._counted = max(self._counted, place)
        return self._line + self._lines

    def begin(self) -> None:
        """The next object is looked for, wherever it ends."""
        self._apart = 0

    @property
    def kept(self) -> int:
        """How much there is from the place of work on."""
        return len(self.text) - self.at


class _ArrayMember(NamedTuple):
    """The member that holds the objects: its name, what it begins with, and what is beside it."""

    text: _StreamText
    name: str
    opening: str
    beside: MembersBeside | None

    def objects(self) -> Iterator[Found | NamedObject | Said]:
        """The objects, from behind the opening to the end of the member."""
        if self.opening == "{":
            return _named(self.text, self.name)
        return _objects(self.text, in_array=True)


def _members(
    member: _ArrayMember, *, optional: bool = False, within: bool = False
) -> Iterator[Any]:
    """The objects in the member of each document; one document may follow another.

    ``within``: the text begins in such a member.
    """
    text = member.text
    there = optional or within  # whether there was such a member
    what = f"{_KINDS[member.opening]} {member.name!r}".replace("'", '"')
    while within or text.now() == "{":
        faults = 0
        if within:
            for found in member.objects():
                faults += isinstance(found, Bad)
                yield found
        text.at += not within
        within = False
        while True:
            said: list[Said] = []
            try:
                entered = _enter(member, said)
            except UnusableInput as error:
                if not there:
                    raise
                yield from (*said, Bad(error.line, error.reason))
                return
            if not entered and not there:
                raise UnusableInput(f"no {what} in it", text.line_at(text.at))
            yield from said
            if not entered:
                break
            there = True
            for found in member.objects():
                faults += isinstance(found, Bad)
                yield found
        if text.now() == "" and not faults:
            yield Bad(text.line_at(text.at), "the input ends inside an object")
        text.at += text.now() == "}"
        text.between, text.in_array = True, False  # behind a document
        text.skip()
        text.between = False
    if text.now():
        begin = text.ahead(_SHOWN).split("\n")[0]
        yield Bad(text.line_at(text.at), f"{begin!r} behind the {what}")


def _enter(member: _ArrayMember, said: list[Said]) -> bool:
    """Go into the member of the object here; False where there is no more.

    What there is to say of members before it is appended to ``said``.
    """
    text = member.text
    while True:
        text.skip()
        if text.now() != '"':
            return False
        line = text.line_at(text.at)
        name = _value(text)
        text.skip()
        if text.now() != ":":
            return False
        text.at += 1
        text.skip()
        if name == member.name and text.now() == member.opening:
            text.at += 1
            return True
        value = _value(text)
        if name == member.name and value is not None:
            said.append(Bad(line, f"{name!r} is no {_KINDS[member.opening]}"))
        elif member.beside is not None:
            said.extend(member.beside.said(line, name, value))


def _named(text: _StreamText, member: str) -> Iterator[NamedObject | Said]:
    """The objects up to the end of the object here, each with its name."""
    found: _DecodedObject | Bad | None = None
    while True:
        text.begin()
        text.skip()
        line = text.line_at(text.at)
        if text.now() == "}":
            text.at += 1
            return
        if text.now() != '"':
            if text.now():
                yield Bad(line, f"{text.now()!r} where a name is expected")
            elif not isinstance(found, Bad):
                yield Bad(line, "the input ends inside an object")
            return
        indent = _indent(text)
        try:
            name = _value(text)
        except UnusableInput as error:
            yield Bad(error.line, error.reason)
            return
        text.skip()
        text.at += text.now() == ":"
        text.skip()
        if text.now() == "{":
            place = text.line_at(text.at)
            found = _decoded(text, place, indent, _OF_TEXTS)
            if isinstance(found, Bad):
                yield found
            else:
                name, odd = held(name, (member,))
                value, said = _as_held(found)
                yield from (*_noted(place, odd), *said)
                yield NamedObject(place, name, value)
        else:
            found = Bad(line, f"{name!r} is no object")
            yield found
            _go_behind_value(text)


def _indent(text: _StreamText) -> str:
    """What stands before the place of work on its line."""
    return text.text[text.text.rfind("\n", 0, text.at) + 1 : text.at]


def _value(text: _StreamText) -> Any:
    """Any value at the place of work. Raises ``UnusableInput`` where there is none."""
    while True:
        try:
            value, end = _DECODER.raw_decode(text.text, text.at)
        except (ValueError, RecursionError) as error:
            line = text.line_at(text.at)
            begun = line - text.text.count("\n", 0, text.at)  # of the text that was decoded
            may_go_on = _is_incomplete(error, text.text) and text.kept <= OBJECT_LIMIT
            if not may_go_on or not text.more():
                raise UnusableInput(f"not JSON: {_why(error, begun)}", line) from None
        else:
            # A number at the end of what was read may go on.
            if end < len(text.text) or not text.more():
                text.at = end
                return value


def _go_behind_value(text: _StreamText) -> None:
    """Go behind a value that is no object; where it is no value either, to the next object."""
    try:
        _value(text)
    except UnusableInput:
        _go_to_next(text)


def _objects(text: _StreamText, *, in_array: bool = False) -> Iterator[Found | Said]:
    """The objects up to the end of the array, or of the text."""
    packed = False  # whether several objects stand on one line
    shortest = 0  # characters of the shortest object that was found by its lines
    found: Found | _DecodedObject | Bad | None = None
    while True:
        text.between, text.in_array = True, in_array
        text.begin()
        text.skip()
        character = text.now()
        text.between = False
        if character in ("", "]"):
            if in_array and not character and not isinstance(found, Bad):
                yield Bad(text.line_at(text.at), "the input ends inside an array")
            text.at += len(character)
            return
        if character != "{":
            line = text.line_at(text.at)
            begin = re.split("[\n,]", text.ahead(_SHOWN), maxsplit=1)[0]
            found = Bad(line, f"{begin!r} where an object is expected")
            yield found
            _go_behind_value(text)
            continue
        line = text.line_at(text.at)
        quick = None if packed else _by_lines(text, shortest)
        if quick is not None:
            value, raw = quick
            text.at += len(raw)
            shortest = min(shortest or len(raw), len(raw))
            if wrong := _wrong(raw, value):
                found = Bad(line, wrong)
                yield found
                continue
            if may_be_odd(raw):
                value, said = _as_held(_DecodedObject(line, value, raw))
                yield from said
            found = line, value
            yield found
            continue
        found = _decoded(text, line)
        packed = packed or (
            isinstance(found, _DecodedObject) and text.now_if_any() not in ("", "\r", "\n")
        )
        if isinstance(found, _DecodedObject) and (wrong := _again(found.raw, found.value)):
            found = Bad(line, wrong)
        if isinstance(found, Bad):
            yield found
        else:
            value, said = _as_held(found)
            yield from said
            yield found.line, value


def _by_lines(text: _StreamText, shortest: int) -> tuple[dict[str, Any], str] | None:
    """The object here and its text, where that ends by its lines and is JSON.

    What reads as one object is one, wherever its end was looked for: so that is looked for behind
    most of what the ``shortest`` had, and from its first line where this is a shorter one.
    """
    tried = 0
    for before in (max(shortest * 3 // 4 - _MOST_INDENT, 0), 0):
        end = _end_by_lines(text, before)
        raw = text.text[text.at : end]
        if end and len(raw) != tried:
            try:
                return orjson.loads(raw), raw
            except orjson.JSONDecodeError:
                tried = len(raw)  # what the standard library does not read either is reported
    return None


def _end_by_lines(text: _StreamText, before: int = 0) -> int:
    """Where the object here ends by its lines; 0 if that cannot be told within the limit.

    ``before``: how many characters are not looked at, for an end in what was read already.
    """
    if text.kept < 2:
        text.more()
    line_begin = text.text.rfind("\n", 0, text.at) + 1
    indent = text.text[line_begin : text.at]
    blank = _BLANK.match(text.text, text.at + 1)
    assert blank is not None
    if text.text[blank.end() : blank.end() + 1] in ("\n", "\r") and not indent.strip(" \t"):
        end, length = _closing(indent), len(indent) + 2
    else:
        end, length = _LINE_END, 0
    searched = before
    while not (found := end.search(text.text, text.at + searched)):
        searched = max(text.kept - length - 1, 0)
        if before or text.kept > OBJECT_LIMIT:
            return 0
        try:
            has_more = text.more()
        except PartEnd:  # which may stand between an object and the end of its line
            has_more = False
        if not has_more:
            return _trimmed(text, len(text.text)) if end is _LINE_END else 0
    return found.end() if end is not _LINE_END else _trimmed(text, found.start())


_LINE_END = re.compile("\n")


@lru_cache(64)
def _closing(indent: str) -> re.Pattern[str]:
    return re.compile(re.escape(f"\n{indent}}}"))


def _trimmed(text: _StreamText, end: int) -> int:
    """The end of a line without what separates it from the next object."""
    while end > text.at and text.text[end - 1] in " \t\r,":
        end -= 1
    return end


class _DecodedObject(NamedTuple):
    """An object, the line that it begins in, and its text."""

    line: int
    value: dict[str, Any]
    raw: str


def _as_held(found: _DecodedObject) -> tuple[dict[str, Any], Sequence[Noted]]:
    """An object as far as a document can hold it, and what is to be said of that."""
    raw = found.raw
    # Bytes that are no UTF-8 stand in it as surrogates, which orjson would not have read.
    if not may_be_odd(raw) and (raw.isascii() or not _SURROGATE.search(raw)):
        return found.value, ()
    value, odd = held(found.value)
    place = found.line + line_of_value(found.raw, odd[0].path) - 1 if odd else 0
    return value, _noted(place, odd)


def _noted(line: int, odd: Sequence[OddLetter]) -> Sequence[Noted]:
    return (Noted(line, said_of(odd)),) if odd else ()


def _decoded(
    text: _StreamText, line: int, indent: str = "", decoder: json.JSONDecoder = _DECODER
) -> _DecodedObject | Bad:
    """The object here by itself, wherever it ends; what is wrong with it, and go on behind it.

    ``indent`` is that of the line of its name, which its last brace has, too.
    """
    size = _WINDOW  # what is decoded at once: an error counts the lines of all of it
    while True:
        window = text.text[text.at : text.at + size]
        try:
            value, length = decoder.raw_decode(window)
        except (ValueError, RecursionError) as error:
            incomplete = _is_incomplete(error, window)
            if incomplete and text.kept <= OBJECT_LIMIT:
                if len(window) < text.kept or text.more():
                    size = max(2 * size, text.kept)
                    continue
                text.at = len(text.text)
                return Bad(line, "the input ends inside an object")
            limit = f"an object of more than {OBJECT_LIMIT} characters"
            reason = limit if text.kept > OBJECT_LIMIT else f"not JSON: {_why(error, line)}"
            if indent.isspace() and _OPENS_LINES.match(text.text, text.at):
                _go_behind(text, indent)
            else:
                _go_to_next(text, getattr(error, "pos", 0))
            return Bad(line, reason)
        text.at += length
        if _is_too_deep(window[:length], value):
            return Bad(line, TOO_DEEP)
        return _DecodedObject(line, value, window[:length])


def _wrong(raw: str, value: Any) -> str:
    """Why an object that is JSON is none of a record, or ""."""
    return TOO_DEEP if _is_too_deep(raw, value) else _again(raw, value)


# decision 791
def _again(raw: str, value: Any) -> str:
    """Why an object is bad that has a name twice, with two values; "" for all others.

    Of a text that writes each quote and each colon as ``orjson`` does, it is enough to count the
    ends of names: a name that stands again is lost in ``value``.
    """
    if not any(each in raw for each in _OTHER_ENDS):
        with suppress(TypeError):  # of a number that orjson does not write
            if orjson.dumps(value).count(b'":') == raw.count('":'):
                return ""
    twice: list[str] = []

    def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, inner in pairs:
            if found.setdefault(name, inner) != inner:
                twice.append(name)
        return found

    json.loads(raw, object_pairs_hook=each_once, parse_int=float)
    return f"{held(twice[0])[0]!r} stands twice in it: these are two records" if twice else ""


def _is_too_deep(raw: str, value: Any) -> bool:
    """Whether values are nested deeper than is read; most objects have fewer brackets."""
    if raw.count("{") + raw.count("[") <= _DEEPEST:
        return False
    level, depth = [value], 0
    while level and depth <= _DEEPEST:
        level = [
            inner
            for each in level
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, dict | list)
        ]
        depth += 1
    return depth > _DEEPEST


def _is_incomplete(error: Exception, window: str) -> bool:
    """Whether the text may only be cut: an error far before its end is one."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.msg.startswith("Unterminated") or error.pos >= len(window) - 16


def _go_behind(text: _StreamText, indent: str) -> None:
    """Go behind the last brace of an object, which stands on a line of its own."""
    while not (found := _closing(indent).search(text.text, text.at)):
        text.at = max(len(text.text) - len(indent) - 2, text.at)
        if not text.more():
            text.at = len(text.text)
            return
    text.at = found.end()


def _go_to_next(text: _StreamText, fault: int = 0) -> None:
    """Go behind what is here: to where the next object begins a line, or behind the last brace.

    ``fault`` is the place behind which an object ends that is wrong there.
    """
    if text.now() == "{" and text.kept <= OBJECT_LIMIT and (end := _end_by_lines(text)):
        size = end - text.at
        one_line = "\n" not in text.text[text.at : end]
        follows = text.ahead(size + _NEAR)[size:].lstrip(_SPACE + ",")
        more = (
            ""
            if follows[:1] in ("{", "]") or not one_line
            else text.ahead(max(size, fault) + CHUNK)
        )
        end, last = text.at + size, text.at + max(size, len(more))
        text.at = (end_by_braces(text.text, text.at, last) if one_line else 0) or end
        return
    while True:
        end = text.text.find("\n", text.at)
        if end >= 0:
            text.at = end + 1
            return
        text.at = len(text.text)
        if not text.more():
            return


def end_by_braces(text: str, begin: int, end: int) -> int:
    """Where the brace that begins there is closed; 0 if it is not up to the end."""
    depth = 0
    for found in _TOKEN.finditer(text, begin, end):
        if found[0] == "{":
            depth += 1
        elif found[0] == "}":
            depth -= 1
            if depth == 0:
                return found.end()
    return 0


def _why(error: Exception, line: int) -> str:
    """The decoder's words, with the line of the input; what was decoded began in ``line``."""
    if isinstance(error, json.JSONDecodeError):
        return f"{json_fault(error.msg)} at line {line + error.lineno - 1}"
    return TOO_DEEP if isinstance(error, RecursionError) else why(error)
