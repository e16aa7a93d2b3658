"""JSON that others write: read strictly, and as far as a document can hold it.

>>> line_of_value('{"a": 1,\\n "b": [2,\\n 3]}', ("b", 1))
3
"""

from __future__ import annotations

import io
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from math import isfinite
from typing import Any, BinaryIO, NamedTuple

from sssjob.legality import ILLEGAL
from sssjob.library_words import json_fault
from sssjob.visible import visible

Path = tuple[str | int, ...]

INSTEAD = "\ufffd"  # of what a document cannot hold
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+|\n')
# What is escaped so may be a letter that XML does not have; two of them stand as they are, too.
_LONG = re.compile(r"Exceeds the limit \(([0-9]{1,9}) digits\)")  # as int() says it
_ESCAPES = "ubf"
_OTHERS = ("\ufffe", "\uffff")


class OddLetter(NamedTuple):
    """A text in JSON with a letter that no document can hold, and where it stands."""

    path: Path
    letter: str

    def __str__(self) -> str:
        """What is said of it."""
        where = visible("/".join(map(str, self.path)))[:60]
        code = ord(self.letter)
        what = f"U+{code:04X}"
        if 0xDC80 <= code < 0xDD00:
            what = f"{what} (or the byte {code - 0xDC00:02X}, which is no UTF-8)"
        return f"{where} has {what}, which XML does not have: U+FFFD stands for it"


def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no name stands twice, since the last would hide the others.

    This is an ``object_pairs_hook``; it raises ``ValueError``.

    >>> each_once([("a", 1), ("b", 2)])
    {'a': 1, 'b': 2}
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice[:60]!r} stands twice in one object")
    return found


def kept(data: str | bytes) -> Any:
    """What JSON says in a file that we keep, whatever became of it. Raises ``ValueError`` alone.

    Each object says a name once, and numbers are finite.

    >>> kept(b'{"size": 5}')
    {'size': 5}
    """
    try:
        return json.loads(
            data, parse_float=_finite, parse_constant=_finite, object_pairs_hook=each_once
        )
    except RecursionError:
        raise ValueError("values nested too deeply") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(why(error)) from None


def why(error: Exception) -> str:
    """Why a text is no JSON that is read, in plain words and with its place.

    >>> why(ValueError("Exceeds the limit (4300 digits) for integer string conversion"))
    'a whole number of more than 4300 digits'
    >>> why(UnicodeDecodeError("utf-8", b'{"\\xff"', 2, 3, "invalid start byte"))
    'byte 3 is no UTF-8'
    """
    if isinstance(error, RecursionError):
        return "nested too deep"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start + 1} is no {error.encoding.upper()}"
    if isinstance(error, json.JSONDecodeError):
        return f"{json_fault(error.msg)} at line {error.lineno}, column {error.colno}"
    limit = _LONG.match(str(error))
    return str(error) if limit is None else f"a whole number of more than {limit[1]} digits"


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"{text[:40]} is no number")
    return value


def may_be_odd(text: str) -> bool:
    """Whether well-formed JSON may have letters that no document can hold; soon told if not."""
    # One letter at a time, as the search for two takes as long as reading the JSON does.
    at = text.find("\\")
    while at >= 0:
        if text[at + 1] in _ESCAPES:
            return True
        at = text.find("\\", at + 2)
    return not text.isascii() and any(each in text for each in _OTHERS)


class PlacedText:
    """A text of well-formed JSON, and where in it its object stands, or those of its array."""

    def __init__(self, text: str, *, several: bool) -> None:
        self.text = text
        self._several = several

    @cached_property
    def _begins(self) -> list[tuple[int, int]]:
        """The offset and the line of each value of the array."""
        if not self._several:
            return [(0, 1)]
        return [(each.offset, each.line) for each in _values(self.text) if len(each.path) == 1]

    def lines(self, path: Path, paths: Iterable[Sequence[str | int]]) -> list[int]:
        """The lines of values in an object of a path, or of what is next around each."""
        number, path = (path[0], path[1:]) if self._several else (0, path)
        assert isinstance(number, int)
        return lines_of_values(self.text, ((*path, *each) for each in paths), *self._begins[number])


class Loaded(dict[str, Any]):
    """An object of JSON that knows the text that it was read from, and where in it it stands."""

    text = PlacedText("", several=False)
    path: Path = ()

    @classmethod
    def at(cls, found: dict[str, Any], text: PlacedText, path: Path) -> Loaded:
        """An object as it was read."""
        loaded = cls(found)
        loaded.text, loaded.path = text, path
        return loaded

    def lines(self, paths: Iterable[Sequence[str | int]]) -> list[int]:
        """The lines of values in the object, or of what is next around each."""
        return self.text.lines(self.path, paths)


def held(value: Any, path: Path = ()) -> tuple[Any, list[OddLetter]]:
    """A value as far as a document can hold it, and the texts in it that it cannot.

    Objects and arrays are changed where they are.

    >>> held({"a": ["b\\x00\\ud800"]})
    ({'a': ['b��']}, [OddLetter(path=('a', 0), letter='\\x00')])
    """
    odd: list[OddLetter] = []
    top = [value]
    work: deque[tuple[Any, Path]] = deque([(top, path)])
    while work:
        inner, place = work.popleft()
        names = range(len(inner)) if isinstance(inner, list) else tuple(inner)
        for name in names:
            own = place if inner is top else (*place, name)
            each = inner[name]
            if isinstance(each, str):
                inner[name] = _text(each, own, odd)
            elif isinstance(each, list | dict):
                work.append((each, own))
        if isinstance(inner, dict):
            _rename(inner, place, odd)
    return top[0], odd


def said_of(odd: Sequence[OddLetter]) -> str:
    """What is said of the texts of one object: of the first, and how many more there are."""
    more = f" (and {len(odd) - 1} more)" if len(odd) > 1 else ""
    return f"{odd[0]}{more}"


def _rename(inner: dict[str, Any], path: Path, odd: list[OddLetter]) -> None:
    if not all(map(str.isprintable, inner)):
        found = {_text(name, (*path, name), odd): each for name, each in inner.items()}
        inner.clear()
        inner.update(found)


def _text(text: str, path: Path, odd: list[OddLetter]) -> str:
    if text.isprintable() or not (illegal := ILLEGAL.search(text)):
        return text
    odd.append(OddLetter(path, illegal[0]))
    return ILLEGAL.sub(INSTEAD, text)


def line_of_value(text: str, path: Sequence[str | int]) -> int:
    """The line in which a value begins, or else the one around it; 1 for the whole."""
    return lines_of_values(text, [path])[0]


def lines_of_values(
    text: str, paths: Iterable[Sequence[str | int]], offset: int = 0, line: int = 1
) -> list[int]:
    """The lines of many values of the value at an ``offset``, as ``line_of_value`` has them.

    The text is walked through once, however many they are.

    >>> lines_of_values('{"a": 1,\\n "b": [2,\\n 3]}', [("b", 1), ("a",), ("c",)])
    [3, 1, 1]
    """
    wanted = [*map(tuple, paths)]
    left = set(wanted)
    around = {path[:size] for path in left for size in range(len(path))}
    found: dict[Path, int] = {(): line}
    for each in _values(text, offset, line) if left else ():
        if each.path in left or each.path in around:
            found[each.path] = each.line
            left.discard(each.path)
            if not left:
                break
    return [next(found[each] for each in _outwards(path) if each in found) for path in wanted]


def _outwards(path: Path) -> Iterator[Path]:
    """A path, and those of what is around it; the whole at last."""
    return (path[:size] for size in reversed(range(len(path) + 1)))


class _ReadValue(NamedTuple):
    """Where a value of JSON begins."""

    line: int
    path: tuple[str | int, ...]
    offset: int


def _values(text: str, offset: int = 0, line: int = 1) -> Iterator[_ReadValue]:
    """The value at an offset and each in it, in their order; the text is well-formed JSON."""
    path: list[str | int] = []
    inside: list[str] = []  # brackets that are open
    key = False  # whether the next text is a name
    for token in _TOKEN.finditer(text, offset):
        word = token[0]
        if word == "\n":
            line += 1
        elif word == ",":
            key = inside[-1] == "{"
            last = path[-1]
            if isinstance(last, int):
                path[-1] = last + 1
        elif word in "}]":
            inside.pop()
            path.pop()
            if not inside:
                return
        elif word == ":":
            key = False
        elif key:
            path[-1] = json.loads(word) if "\\" in word else word[1:-1]
        else:
            yield _ReadValue(line, tuple(path), token.start())
            if word in "{[":
                inside.append(word)
                path.append("" if word == "{" else 0)
                key = word == "{"
            elif not inside:
                return


_AT_ONCE = 1 << 16  # bytes


def at_most(stream: BinaryIO | io.BufferedIOBase, most: int) -> bytes:
    """All that is in a stream, or one byte more than so many.

    ``read`` of so many takes memory for all of them at once, however few there are.

    >>> at_most(io.BytesIO(b"abc"), 1), at_most(io.BytesIO(b"abc"), 5)
    (b'ab', b'abc')
    """
    found = bytearray()
    while more := stream.read(min(_AT_ONCE, most + 1 - len(found))):
        found += more
    return bytes(found)
