r"""The JSON form: objects, in which ``"\/Expr(...)\/"`` is an expression.

The backslashes are what tells an expression from a text; ordinary readers of JSON lose them, so
that strings are looked at before they are decoded.
"""

from __future__ import annotations

import json
import re

from sssjob.classads.chunks import JSON, ads
from sssjob.classads.errors import BadAd
from sssjob.classads.parser import DEPTH_LIMIT, plain
from sssjob.classads.values import UNDEFINED, Ad
from sssjob.classads.writing import NEW, real
from sssjob.classads.writing import attribute as spelled
from sssjob.integers import LARGEST, SMALLEST
from sssjob.library_words import json_fault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

    from sssjob.classads.errors import OnError
    from sssjob.classads.values import Attribute

_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_EXPRESSION = re.compile(r'"\\/Expr\((.*)\)\\/"', re.DOTALL)
_UNESCAPED = re.compile(r'"\\?/Expr\((.*)\)\\?/"', re.DOTALL)
# A lone surrogate, which no string may have, marks what was an expression.
_MARK = "\ud800"


def read(
    stream: BinaryIO, *, unescaped: bool = False, on_error: OnError | None = None
) -> Iterator[Ad]:
    """The ads of arrays or of objects one after another; one a line is such a stream too.

    ``unescaped`` takes ``"/Expr(...)/"`` for an expression too, as it comes from tools that
    decoded the JSON. A bad ad is raised as ``BadAd``, or handed to ``on_error``.
    """
    expression = _UNESCAPED if unescaped else _EXPRESSION
    yield from ads(stream, JSON, "{", lambda text, line: _ad(text, line, expression), on_error)


def write(ad: Ad, *, indent: bool = False) -> str:
    """An ad as an object, in one line or with an attribute a line."""
    parts = [f"{json.dumps(name)}: {_text(value)}" for name, value in ad.items()]
    if indent and parts:
        return "{\n  " + ",\n  ".join(parts) + "\n}"
    return f"{{{', '.join(parts)}}}"


def _ad(text: str, line: int, expression: re.Pattern[str]) -> Ad:
    def marked(match: re.Match[str]) -> str:
        word = match[0]
        if "/Expr(" in word and (found := expression.fullmatch(word)):
            return f'"\\ud800{found[1]}"'
        if "\\ud8" in word.lower() and json.loads(word).startswith(_MARK):
            raise BadAd(f"a string with a lone surrogate: {word[:40]}")
        return word

    try:
        data = json.loads(
            _STRING.sub(marked, text), parse_int=_integer, parse_float=_real,
            parse_constant=_constant, object_pairs_hook=_Pairs,
        )  # fmt: skip
    except RecursionError:
        raise BadAd(f"an ad more than {DEPTH_LIMIT} levels deep") from None
    except json.JSONDecodeError as error:
        place = f"at line {line + error.lineno - 1}, column {error.colno}"
        raise BadAd(f"no JSON: {json_fault(error.msg)} {place}") from None
    found = _value(data, 0)
    assert isinstance(found, Ad)
    return found


class _Pairs(list["tuple[str, Any]"]):
    """The members of an object, told apart from an array."""


def _value(data: Any, depth: int) -> Attribute:
    if depth > DEPTH_LIMIT:
        raise BadAd(f"an ad more than {DEPTH_LIMIT} levels deep")
    if data is None:
        return UNDEFINED
    if isinstance(data, str):
        if data.startswith(_MARK):
            return plain(data[1:])
        try:
            data.encode()
        except UnicodeEncodeError:
            raise BadAd(f"a string with a lone surrogate: {data[:40]!r}") from None
        if "\0" in data:
            raise BadAd("a string with a NUL character")
        return data
    if isinstance(data, _Pairs):
        return Ad((name, _value(part, depth + 1)) for name, part in data)
    if isinstance(data, list):
        return tuple(_value(part, depth + 1) for part in data)
    assert isinstance(data, (bool, int, float))
    return data


def _integer(word: str) -> int:
    if len(word) > 20 or not SMALLEST <= int(word) <= LARGEST:
        raise BadAd(f"{word[:40]} does not fit 64 bits")
    return int(word)


def _real(word: str) -> float:
    number = float(word)
    if number - number != 0:
        raise BadAd(f"{word[:40]} does not fit a real")
    return number


def _constant(word: str) -> float:
    raise BadAd(f"{word} is no number of JSON")


def _text(value: Attribute) -> str:
    if isinstance(value, str):
        spelled(value, NEW)  # which refuses what no form can hold
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and value - value == 0:
        return real(value)
    if value is UNDEFINED:
        return "null"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, Ad):
        return write(value)
    if isinstance(value, (bool, int)):
        return spelled(value, NEW)
    return f'"\\/Expr({json.dumps(spelled(value, NEW), ensure_ascii=False)[1:-1]})\\/"'
