"""The objects of a JSON document one by one, in memory that does not grow with their number.

A document is an array of objects, an object with such an array as one of its members, or objects
one after the other (JSON lines). Where objects stand on lines of their own, as batch systems
print them, the end of one is found by its indentation, which no text in it can imitate: JSON has
no line break in a text. An object that is none is reported, and the next one is read.

Letters that no document can hold, and bytes that are no UTF-8, become U+FFFD, and that is told with
its place: once for each object.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, BinaryIO, NamedTuple

import orjson

from sssjob.document.files import looked_at
from sssjob.errors import UnusableInput
from sssjob.json_text import Odd, held, line_of_value, may_be_odd, said_of
from sssjob.records import cuts
from sssjob.records.record import Bad, Noted

OBJECT_LIMIT = 1 << 24  # characters of one object
CHUNK = 1 << 16  # what is read, decoded and put together stays in the cache of a processor
_HEAD = 1 << 14  # bytes that tell where the objects stand
_WINDOW = 1 << 14
_MOST_INDENT = 1 << 8  # characters before an object on its line, by which its end is found

_SPACE = " \t\r\n\ufeff"
_BETWEEN = re.compile(rf"[{_SPACE},]*+")
_BLANK = re.compile(r"[ \t]*+")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}]', re.DOTALL)
_DECODER = json.JSONDecoder()


Found = tuple[int, dict[str, Any]]  # the line that an object begins in, and the object
Said = Bad | Noted


class Named(NamedTuple):
    """An object that is a member of another: its line, and the name that it has there."""

    line: int
    name: str
    value: dict[str, Any]


def objects(member: Callable[[bytes], str]) -> cuts.CustomPieces:
    """Pieces that are objects; the first bytes tell in which array they stand, if in any."""

    def found(stream: BinaryIO, first: int) -> Iterator[Found | Said]:
        head, again = looked_at(stream, _HEAD)
        yield from read(again, member(head), first)

    return cuts.CustomPieces(found)


def read(stream: BinaryIO, member: str = "", first: int = 1) -> Iterator[Found | Said]:
    """The objects of a stream; those of the array ``member`` where it is objects with that.

    ``first`` is the number of its first line. Raises ``UnusableInput`` where it does not begin with
    such a document.
    """
    text = _Text(stream, first)
    text.skip()
    if text.now() == "{" and member:
        yield from _members(text, member)
    elif text.now() in ("{", "["):
        while text.now() == "[":
            text.at += 1
            yield from _objects(text, in_array=True)
            text.skip()
        yield from _objects(text)
    elif text.now():
        raise UnusableInput("no JSON", text.line_at(text.at))


def read_named(stream: BinaryIO, member: str, first: int = 1) -> Iterator[Named | Said]:
    """The objects in the object ``member`` of a document, by their names; none has no such member.

    Raises ``UnusableInput`` where it does not begin with an object.
    """
    text = _Text(stream, first)
    text.skip()
    if text.now() != "{":
        if text.now():
            raise UnusableInput("no JSON object", text.line_at(text.at))
        return
    text.at += 1
    if _enter(text, member, "{"):
        yield from _named(text, member)
    elif not text.now():
        yield Bad(text.line_at(text.at), "the input ends inside an object")


class _Text:
    """The text of a stream, as much of it as is looked at; ``at`` is the place of work in it."""

    def __init__(self, stream: BinaryIO, first: int) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        self._line = first  # that the text begins in
        self._counted, self._lines = 0, 0
        self.text = ""
        self.at = 0
        self.ended = False

    def more(self) -> bool:
        """Read on, twice as much where much is kept; False at the end of the stream."""
        if self.ended:
            return False
        raw = self._stream.read(max(CHUNK, len(self.text) - self.at))
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

    @property
    def kept(self) -> int:
        """How much there is from the place of work on."""
        return len(self.text) - self.at


def _members(text: _Text, member: str) -> Iterator[Found | Said]:
    """The objects in the array of each document; one document may follow another."""
    known = False  # whether there was such an array
    while text.now() == "{":
        text.at += 1
        entered = True
        while entered:
            try:
                entered = _enter(text, member)
            except UnusableInput as error:
                if not known:
                    raise
                yield Bad(error.line, error.reason)
                return
            if entered:
                known = True
                yield from _objects(text, in_array=True)
        if not known:
            raise UnusableInput(f'no array "{member}" in it', text.line_at(text.at))
        text.at += text.now() == "}"
        text.skip()
    if text.now():
        begin = text.text[text.at : text.at + 20].split("\n")[0]
        yield Bad(text.line_at(text.at), f"{begin!r} behind the array")


def _enter(text: _Text, member: str, opening: str = "[") -> bool:
    """Go into an array that is a member of the object here; False where there is no more."""
    while True:
        text.skip()
        if text.now() != '"':
            return False
        name = _value(text)
        text.skip()
        if text.now() != ":":
            return False
        text.at += 1
        text.skip()
        if name == member and text.now() == opening:
            text.at += 1
            return True
        _value(text)


def _named(text: _Text, member: str) -> Iterator[Named | Said]:
    """The objects up to the end of the object here, each with its name."""
    found: _Decoded | Bad | None = None
    while True:
        text.skip()
        line = text.line_at(text.at)
        if text.now() == "}":
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
            found = _decoded(text, place, indent)
            if isinstance(found, Bad):
                yield found
            else:
                name, odd = held(name, (member,))
                value, said = _as_held(found)
                yield from (*_noted(place, odd), *said)
                yield Named(place, name, value)
        else:
            yield Bad(line, f"{name!r} is no object")
            try:
                _value(text)
            except UnusableInput:
                return


def _indent(text: _Text) -> str:
    """What stands before the place of work on its line."""
    return text.text[text.text.rfind("\n", 0, text.at) + 1 : text.at]


def _value(text: _Text) -> Any:
    """Any value at the place of work. Raises ``UnusableInput`` where there is none."""
    while True:
        try:
            value, end = _DECODER.raw_decode(text.text, text.at)
        except (ValueError, RecursionError) as error:
            line = text.line_at(text.at)
            begun = line - text.text.count("\n", 0, text.at)  # of the text that was decoded
            if text.kept > OBJECT_LIMIT or not text.more():
                raise UnusableInput(f"not JSON: {_why(error, begun)}", line) from None
        else:
            # A number at the end of what was read may go on.
            if end < len(text.text) or not text.more():
                text.at = end
                return value


def _objects(text: _Text, *, in_array: bool = False) -> Iterator[Found | Said]:
    """The objects up to the end of the array, or of the text."""
    packed = False  # whether several objects stand on one line
    found: Found | _Decoded | Bad | None = None
    while True:
        text.skip()
        character = text.now()
        if character in ("", "]"):
            if in_array and not character and not isinstance(found, Bad):
                yield Bad(text.line_at(text.at), "the input ends inside an array")
            text.at += len(character)
            return
        if character != "{":
            line = text.line_at(text.at)
            begin = re.split("[\n,]", text.text[text.at : text.at + 20], maxsplit=1)[0]
            found = Bad(line, f"{begin!r} where an object is expected")
            yield found
            _go_to_next(text)
            continue
        line = text.line_at(text.at)
        end = 0 if packed else _end_by_lines(text)
        if end:
            raw = text.text[text.at : end]
            try:
                value = orjson.loads(raw)
            except orjson.JSONDecodeError:
                pass  # what the standard library does not read either is reported
            else:
                text.at = end
                if may_be_odd(raw):
                    value, said = _as_held(_Decoded(line, value, raw))
                    yield from said
                found = line, value
                yield found
                continue
        found = _decoded(text, line)
        packed = packed or (isinstance(found, _Decoded) and text.now() not in ("", "\r", "\n"))
        if isinstance(found, Bad):
            yield found
        else:
            value, said = _as_held(found)
            yield from said
            yield found.line, value


def _end_by_lines(text: _Text) -> int:
    """Where the object here ends by its lines; 0 if that cannot be told within the limit."""
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
    searched = 0
    while not (found := end.search(text.text, text.at + searched)):
        searched = max(text.kept - length - 1, 0)
        if text.kept > OBJECT_LIMIT:
            return 0
        if not text.more():
            return len(text.text) if end is _LINE_END else 0
    return found.end() if end is not _LINE_END else _trimmed(text, found.start())


_LINE_END = re.compile("\n")


@lru_cache(64)
def _closing(indent: str) -> re.Pattern[str]:
    return re.compile(re.escape(f"\n{indent}}}"))


def _trimmed(text: _Text, end: int) -> int:
    """The end of a line without what separates it from the next object."""
    while end > text.at and text.text[end - 1] in " \t\r,":
        end -= 1
    return end


class _Decoded(NamedTuple):
    """An object, the line that it begins in, and its text."""

    line: int
    value: dict[str, Any]
    raw: str


def _as_held(found: _Decoded) -> tuple[dict[str, Any], Sequence[Noted]]:
    """An object as far as a document can hold it, and what is to be said of that."""
    value, odd = held(found.value)
    place = found.line + line_of_value(found.raw, odd[0].path) - 1 if odd else 0
    return value, _noted(place, odd)


def _noted(line: int, odd: Sequence[Odd]) -> Sequence[Noted]:
    return (Noted(line, said_of(odd)),) if odd else ()


def _decoded(text: _Text, line: int, indent: str = "") -> _Decoded | Bad:
    """The object here by itself, wherever it ends; what is wrong with it, and go on behind it.

    ``indent`` is that of the line of its name, which its last brace has, too.
    """
    size = _WINDOW  # what is decoded at once: an error counts the lines of all of it
    while True:
        window = text.text[text.at : text.at + size]
        try:
            value, length = _DECODER.raw_decode(window)
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
            _go_behind(text, indent) if indent.isspace() else _go_to_next(text)
            return Bad(line, reason)
        text.at += length
        return _Decoded(line, value, window[:length])


def _is_incomplete(error: Exception, window: str) -> bool:
    """Whether the text may only be cut: an error far before its end is one."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.msg.startswith("Unterminated") or error.pos >= len(window) - 16


def _go_behind(text: _Text, indent: str) -> None:
    """Go behind the last brace of an object, which stands on a line of its own."""
    while not (found := _closing(indent).search(text.text, text.at)):
        text.at = max(len(text.text) - len(indent) - 2, text.at)
        if not text.more():
            text.at = len(text.text)
            return
    text.at = found.end()


def _go_to_next(text: _Text) -> None:
    """Go behind what is here: to where the next object begins a line, or behind the last brace."""
    if text.now() == "{" and text.kept <= OBJECT_LIMIT and (end := _end_by_lines(text)):
        one_line = "\n" not in text.text[text.at : end]
        follows = text.text[end : end + 80].lstrip(_SPACE + ",")
        last = len(text.text) if follows[:1] not in ("{", "]") else end
        text.at = (_end_by_braces(text, last) if one_line else 0) or end
        return
    while True:
        end = text.text.find("\n", text.at)
        if end >= 0:
            text.at = end + 1
            return
        text.at = len(text.text)
        if not text.more():
            return


def _end_by_braces(text: _Text, end: int) -> int:
    depth = 0
    for found in _TOKEN.finditer(text.text, text.at, end):
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
        return f"{error.msg[0].lower()}{error.msg[1:]} at line {line + error.lineno - 1}"
    return "nested too deep" if isinstance(error, RecursionError) else str(error)
