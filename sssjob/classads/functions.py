"""The functions that are evaluated; any other is kept as text, and its value is ERROR."""

from __future__ import annotations

import math
import re

from sssjob.classads.operators import compared, truth, wrapped
from sssjob.classads.values import ERROR, UNDEFINED, Ad, Special
from sssjob.classads.writing import NEW, attribute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sssjob.classads.values import Value

    Function = Callable[..., Value]

_INTEGER = re.compile(r"\s*([+-]?[0-9]{1,400})")
_REAL = re.compile(
    r"\s*([+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,3})?)"
)
_ODD = {"INF": math.inf, "-INF": -math.inf, "NAN": math.nan}
_DELIMITERS = " ,"
_OPTIONS = "ims"


def call(name: str, values: tuple[Value, ...], now: Callable[[], float]) -> Value:
    """The value of a function that is known by its name in small letters."""
    if name == "time":
        return ERROR if values else int(now())
    least, most, function = TABLE[name]
    if not least <= len(values) <= (most or len(values)):
        return ERROR
    return function(*values)


def _kind(*types: type) -> Function:
    def ask(value: Value) -> Value:
        exact = bool if bool in types else None
        return isinstance(value, types) and isinstance(value, bool) is (exact is bool)

    return ask


def _missing(function: Function) -> Function:
    """The same function, which gives what is undefined or an error back as it is."""

    def asked(value: Value, *others: Value) -> Value:
        if isinstance(value, Special):
            return value
        return function(value, *others)

    return asked


def _int(value: Value) -> Value:
    if isinstance(value, (bool, int)):
        return int(value)
    if isinstance(value, float):
        return int(value) if abs(value) < 2**63 else ERROR
    if isinstance(value, str):
        number = _leading(value)
        return ERROR if number is None else _int(number)
    return ERROR


def _real(value: Value) -> Value:
    if isinstance(value, (bool, int, float)):
        return float(value)
    if isinstance(value, str):
        if (odd := _ODD.get(value.strip().upper())) is not None:
            return odd
        number = _leading(value)
        return ERROR if number is None else float(number)
    return ERROR


def _leading(text: str) -> int | float | None:
    """The number that a text begins with, as ``strtod`` reads it."""
    real, whole = _REAL.match(text), _INTEGER.match(text)
    if real is None:
        return None
    if whole is not None and whole.end() == real.end():
        return wrapped(int(whole[1]))
    return float(real[1])


def _rounded(round_: Callable[[float], int]) -> Function:
    def asked(value: Value) -> Value:
        number = _real(value) if isinstance(value, (bool, int, float, str)) else ERROR
        if not isinstance(number, float) or not abs(number) < 2**63:
            return ERROR
        return round_(number)

    return asked


def _to_even(number: float) -> int:
    return round(number)


def _bool(value: Value) -> Value:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower(), UNDEFINED)
    return truth(value)


def _string(value: Value) -> Value:
    return value if isinstance(value, str) else attribute(value, NEW)


def _strcat(*values: Value) -> Value:
    parts = []
    for value in values:
        if isinstance(value, Special):
            return value
        parts.append(str(_string(value)))
    return "".join(parts)


def _cased(change: Callable[[bytes], bytes]) -> Function:
    """Only the letters of ASCII have two cases here."""
    return lambda value: change(str(_string(value)).encode()).decode()


def _size(value: Value) -> Value:
    if isinstance(value, str):
        return len(value.encode())
    return len(value) if isinstance(value, (tuple, Ad)) else ERROR


def _substr(value: Value, offset: Value, length: Value = UNDEFINED) -> Value:
    if not isinstance(value, str) or type(offset) is not int:
        return ERROR
    start = max(len(value) + offset, 0) if offset < 0 else offset
    if length is UNDEFINED:
        return value[start:]
    if type(length) is not int:
        return ERROR
    return value[start : start + length if length >= 0 else len(value) + length]


def _member(item: Value, members: Value) -> Value:
    if item is UNDEFINED or members is UNDEFINED:
        return UNDEFINED
    if not isinstance(members, tuple) or isinstance(item, (tuple, Ad)):
        return ERROR
    return any(compared("==", item, each) is True for each in members)  # type: ignore[arg-type]


def _string_list_member(fold: bool) -> Function:
    def asked(item: Value, members: Value, delimiters: Value = _DELIMITERS) -> Value:
        marks = _DELIMITERS if delimiters is UNDEFINED else delimiters
        if not all(isinstance(each, str) or each is UNDEFINED for each in (item, members)):
            return ERROR
        if not isinstance(marks, str):
            return ERROR
        if not isinstance(item, str) or not isinstance(members, str):
            return UNDEFINED if item is members else False
        words = [word.strip() for word in _cut(members, marks) if word.strip()]
        return item.lower() in map(str.lower, words) if fold else item in words

    return asked


def _split(text: Value, delimiters: Value = _DELIMITERS) -> Value:
    if not isinstance(text, str) or not isinstance(delimiters, str) or not delimiters:
        return ERROR
    if not set(delimiters) & set(" \t"):
        return tuple(_cut(text, delimiters)) if text else ()
    # White space around a delimiter belongs to it; an empty word is one between two others.
    marks = "".join(each for each in delimiters if not each.isspace())
    if not marks:
        return tuple(text.split())
    words = [word for part in _cut(text.strip(), marks) for word in part.split() or [""]]
    if words and not words[0]:
        words = words[1:]
    return tuple(words[:-1] if words and not words[-1] else words)


def _cut(text: str, delimiters: str) -> list[str]:
    return re.split(f"[{re.escape(delimiters)}]", text) if delimiters else [text]


def _regexp(pattern: Value, text: Value, options: Value = "") -> Value:
    if ERROR in (pattern, text, options):
        return ERROR
    if UNDEFINED in (pattern, text, options):
        return UNDEFINED
    if not (isinstance(pattern, str) and isinstance(text, str) and isinstance(options, str)):
        return ERROR
    from sssjob.errors import SSSJobError
    from sssjob.expression.pattern import Pattern

    flags = "".join(sorted(set(options) & set(_OPTIONS)))
    whole = f"(?{flags}:{pattern})" if flags else pattern
    try:
        return Pattern(whole, "search").matches(text)
    except SSSJobError:  # no expression, or one that takes too long
        return ERROR


def _extreme(choose: Callable[[Iterable[float]], float]) -> Function:
    def asked(members: Value) -> Value:
        if not isinstance(members, tuple):
            return UNDEFINED if members is UNDEFINED else ERROR
        numbers = [each for each in members if each is not UNDEFINED]
        if not all(isinstance(each, (bool, int, float)) for each in numbers):
            return ERROR
        if not numbers:
            return UNDEFINED
        real = any(isinstance(each, float) for each in numbers)
        kinds = [float(each) if real else int(each) for each in numbers]  # type: ignore[arg-type]
        return choose(kinds)

    return asked


def _join(*values: Value) -> Value:
    if len(values) == 2 and isinstance(values[1], tuple):
        separator, parts = values[0], values[1]
    else:
        separator, parts = values[0], values[1:]
    if not isinstance(separator, str):
        return ERROR
    texts = [_strcat(each) for each in parts]  # type: ignore[arg-type]
    return (
        separator.join(map(str, texts)) if ERROR not in texts and UNDEFINED not in texts else ERROR
    )


# fmt: off
# Name in small letters, how many arguments at least and at most (0: any number), what it does.
TABLE: dict[str, tuple[int, int, Function]] = {
    "isundefined":       (1, 1, lambda value: value is UNDEFINED),
    "iserror":           (1, 1, lambda value: value is ERROR),
    "isstring":          (1, 1, _kind(str)),
    "isinteger":         (1, 1, _kind(int)),
    "isreal":            (1, 1, _kind(float)),
    "isboolean":         (1, 1, _kind(bool)),
    "islist":            (1, 1, _kind(tuple)),
    "isclassad":         (1, 1, _kind(Ad)),
    "int":               (1, 1, _missing(_int)),
    "real":              (1, 1, _missing(_real)),
    "bool":              (1, 1, _missing(_bool)),
    "string":            (1, 1, _missing(_string)),
    "floor":             (1, 1, _rounded(math.floor)),
    "ceiling":           (1, 1, _rounded(math.ceil)),
    "round":             (1, 1, _rounded(_to_even)),
    "strcat":            (0, 0, _strcat),
    "join":              (1, 0, _join),
    "tolower":           (1, 1, _missing(_cased(bytes.lower))),
    "toupper":           (1, 1, _missing(_cased(bytes.upper))),
    "substr":            (2, 3, _missing(_substr)),
    "size":              (1, 1, _missing(_size)),
    "member":            (2, 2, _member),
    "stringlistmember":  (2, 3, _string_list_member(fold=False)),
    "stringlistimember": (2, 3, _string_list_member(fold=True)),
    "regexp":            (2, 3, _regexp),
    "split":             (1, 2, _split),
    "min":               (1, 1, _extreme(min)),
    "max":               (1, 1, _extreme(max)),
}
# fmt: on
KNOWN = frozenset((*TABLE, "ifthenelse", "time"))
