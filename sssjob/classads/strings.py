"""Functions of strings: parts, cases, comparisons, versions, names, environments."""

from __future__ import annotations

import re

from sssjob.classads.numbers import integer
from sssjob.classads.operators import short
from sssjob.classads.times import relative_text
from sssjob.classads.values import (
    ERROR,
    UNDEFINED,
    AbsTime,
    Ad,
    Listed,
    RelTime,
    Special,
    missing,
    undecided,
)
from sssjob.classads.writing import NEW, attribute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sssjob.classads.values import Function, Value

DELIMITERS = " ,"
BLANKS = " \t\n\v\f\r"  # of C's isspace


def string(value: Value) -> Value:
    """A value as text: strings and times as they are, anything else in the new syntax."""
    if isinstance(value, str):
        return value
    if isinstance(value, Listed):
        return attribute(value.told, NEW)
    if isinstance(value, RelTime):
        return relative_text(RelTime(int(value.seconds)))
    if isinstance(value, AbsTime):
        return attribute(value, NEW)[9:-2]  # without absTime("")
    return attribute(value, NEW)


def strcat(*values: Value) -> Value:
    """All values as one text; the first that is undefined or an error is the answer."""
    for value in values:
        if isinstance(value, Special):
            return value
    return "".join(str(string(value)) for value in values)


def _join(*values: Value) -> Value:
    if not values:
        return ""
    separator, parts = values[0], values[1:]
    if len(values) == 1 and isinstance(separator, tuple):
        separator, parts = "", separator  # type: ignore[assignment]
    elif len(values) == 2 and isinstance(values[1], tuple):
        parts = values[1]  # type: ignore[assignment]
    if separator is ERROR or ERROR in parts:
        return ERROR
    between = "" if separator is UNDEFINED else str(string(separator))
    texts = [str(string(each)) for each in parts if each is not UNDEFINED]
    if not texts and UNDEFINED in (separator if not parts else UNDEFINED, *parts):
        return UNDEFINED
    first = next((place for place, text in enumerate(texts) if text), len(texts))
    return between.join(texts[first:])  # nothing stands before the first that is not empty


def _cased(change: Callable[[bytes], bytes]) -> Function:
    """Only the letters of ASCII have two cases here."""
    return lambda value: of_octets(change(octets(str(string(value)))))


def octets(text: str) -> bytes:
    """The octets of a text: HTCondor counts and cuts these, and not letters."""
    return text.encode("utf-8", "surrogatepass")


def of_octets(found: bytes) -> Value:
    """The text that octets are; an error where a letter was cut, since that is no text."""
    try:
        return found.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return ERROR


def _size(value: Value) -> Value:
    if isinstance(value, str):
        return len(octets(value))
    return len(value) if isinstance(value, (tuple, Ad)) else ERROR


def _substr(text: Value, offset: Value, *length: Value) -> Value:
    if (special := undecided((text, offset, *length))) is not None:
        return special
    if not isinstance(text, str) or any(type(each) is not int for each in (offset, *length)):
        return ERROR
    whole = octets(text)
    start = short(int(offset))  # type: ignore[arg-type]
    start = max(len(whole) + start, 0) if start < 0 else start
    if not length:
        return of_octets(whole[start:])
    size = short(int(length[0]))  # type: ignore[arg-type]
    end = start + size if size >= 0 else len(whole) + size
    return of_octets(whole[start:end]) if end > start else ""


def _split(text: Value, delimiters: Value = f"{DELIMITERS}\t") -> Value:
    if not isinstance(text, str) or not isinstance(delimiters, str):
        return ERROR
    if not delimiters:
        return (text,) if text else ()
    # An empty word is one between two delimiters that are the same, blanks aside: of "a,,b", but
    # neither of "a;,b" nor at an end.
    words, former = [], ""
    *parts, last = re.split(f"([{re.escape(delimiters)}])", text)
    for word, mark in zip(parts[::2], parts[1::2], strict=True):
        if word or mark == former:
            words.append(word)
        if mark not in BLANKS:
            former = mark
    return (*words, last) if last else tuple(words)


def cut(text: str, delimiters: str) -> list[str]:
    """The parts of a text between any of some letters."""
    for each in delimiters[1:]:
        text = text.replace(each, delimiters[0])
    return text.split(delimiters[0]) if delimiters else [text]


def _compared(fold: bool) -> Function:
    def asked(left: Value, right: Value) -> Value:
        if (special := undecided((left, right))) is not None:
            return special
        one, other = (octets(str(string(value))) for value in (left, right))
        return _sign(one.lower(), other.lower()) if fold else _sign(one, other)

    return asked


def _sign(one: bytes, other: bytes) -> int:
    return (one > other) - (one < other)


def _version(choose: Callable[[int], Value]) -> Function:
    def asked(left: Value, right: Value) -> Value:
        if (special := undecided((left, right))) is not None:
            return special
        return choose(_version_order(*(octets(str(string(each))) for each in (left, right))))

    return asked


def _version_order(one: bytes, other: bytes) -> int:
    """Below, at or above 0, as C's ``strverscmp``: runs of digits are numbers.

    One with more leading zeros comes first.
    """
    first = next((at for at, pair in enumerate(zip(one, other, strict=False)) if len({*pair}) > 1),
                 min(len(one), len(other)))  # fmt: skip
    if one == other:
        return 0
    start = first
    while start and one[start - 1 : start].isdigit():
        start -= 1
    plain = _letter(one, first) - _letter(other, first)
    if start == first and not (_digit(one, first) and _digit(other, first)):
        return plain
    zeros, others = _zeros(one, start), _zeros(other, start)
    if zeros != others:
        return others - zeros
    if zeros:
        return plain
    return (_digits(one, start) - _digits(other, start)) or plain


def _letter(text: bytes, place: int) -> int:
    """A letter as C compares it: signed, and 0 at the end."""
    code = text[place] if place < len(text) else 0
    return code - 256 if code > 127 else code


def _digit(text: bytes, place: int) -> bool:
    return text[place : place + 1].isdigit()


def _digits(text: bytes, start: int) -> int:
    end = start
    while _digit(text, end):
        end += 1
    return end - start


def _zeros(text: bytes, start: int) -> int:
    """How many zeros lead a number, of which the last one is no leading one if it ends it."""
    end = start
    while text[end : end + 1] == b"0":
        end += 1
    return end - start - (end > start and not _digit(text, end))


def _in_range(version: Value, low: Value, high: Value) -> Value:
    if (special := undecided((low, high))) is not None:
        return special
    if isinstance(version, Special):
        return ERROR
    at_least = _version(lambda order: order <= 0)
    return at_least(low, version) is True and at_least(version, high) is True


def _split_name(alone: int) -> Function:
    """Around the first @; without one the whole name is the part that ``alone`` counts."""

    def asked(name: Value) -> Value:
        if not isinstance(name, str):
            return ERROR
        left, at, right = name.partition("@")
        if at:
            return (left, right)
        return (name, "") if not alone else ("", name)

    return asked


def _interval(value: Value) -> Value:
    whole = integer(value)
    if not isinstance(whole, int):
        return ERROR
    seconds = short(whole)
    minutes, second = divmod(abs(seconds), 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    sign = "-" if seconds < 0 else ""
    if days:
        return f"{sign}{days}+{hour:02}:{minute:02}:{second:02}"
    if hours:
        return f"{sign}{hour}:{minute:02}:{second:02}"
    return f"{sign}{minute}:{second:02}" if minutes else f"{sign}{second}"


def _env_v1_to_v2(text: Value) -> Value:
    from sssjob.classads import quoting

    return _environment(quoting.environment_marked, text) if text is not UNDEFINED else UNDEFINED


def _merge_environment(*texts: Value) -> Value:
    from sssjob.classads import quoting

    return _environment(quoting.environment_v2, *(each for each in texts if each is not UNDEFINED))


def _environment(read: Callable[[str], dict[str, str]], *texts: Value) -> Value:
    """Variables of texts, sorted by name, as V2."""
    from sssjob.classads import quoting
    from sssjob.classads.errors import BadAd

    found: dict[str, str] = {}
    try:
        for text in texts:
            if not isinstance(text, str):
                return ERROR
            found |= read(text)
        return quoting.join_v2(quoting.assigned(*item) for item in sorted(found.items()))
    except BadAd:
        return ERROR


# How arguments are written: 1 between blanks, 2 with quotes.
_V1, _V2 = 1, 2


def _form(form: Value) -> Value:
    found = short(form) if type(form) is int else None
    return found if found in (_V1, _V2) else ERROR


def _list_to_args(words: Value, form: Value = _V2) -> Value:
    from sssjob.classads import quoting

    form = _form(form)
    if not isinstance(words, tuple) or form is ERROR:
        return ERROR
    texts = [word for word in words if isinstance(word, str)]
    if len(texts) < len(words):
        return ERROR
    if form == _V2:
        return quoting.join_v2(texts)
    some = [word for word in texts if word]
    text = " ".join(some)
    return text if quoting.split_v1(text) == some else ERROR


def _args_to_list(text: Value, form: Value = _V2) -> Value:
    from sssjob.classads import quoting
    from sssjob.classads.errors import BadAd

    form = _form(form)
    if not isinstance(text, str) or form is ERROR:
        return ERROR
    try:
        return tuple(quoting.split_v2(text) if form == _V2 else quoting.split_v1(text))
    except BadAd:
        return ERROR


# fmt: off
TABLE: dict[str, tuple[int, int, Function]] = {
    "string":           (1, 1, missing(string)),
    "strcat":           (0, -1, strcat),
    "join":             (0, -1, _join),
    "tolower":          (1, 1, missing(_cased(bytes.lower))),
    "toupper":          (1, 1, missing(_cased(bytes.upper))),
    "substr":           (2, 3, _substr),
    "size":             (1, 1, missing(_size)),
    "split":            (1, 2, _split),
    "strcmp":           (2, 2, _compared(fold=False)),
    "stricmp":          (2, 2, _compared(fold=True)),
    "versioncmp":       (2, 2, _version(lambda order: order)),
    "versiongt":        (2, 2, _version(lambda order: order > 0)),
    "versionge":        (2, 2, _version(lambda order: order >= 0)),
    "versionlt":        (2, 2, _version(lambda order: order < 0)),
    "versionle":        (2, 2, _version(lambda order: order <= 0)),
    "versioneq":        (2, 2, _version(lambda order: order == 0)),
    "version_in_range": (3, 3, _in_range),
    "splitusername":    (1, 1, _split_name(alone=0)),
    "splitslotname":    (1, 1, _split_name(alone=1)),
    "interval":         (1, 1, _interval),
    "envv1tov2":        (1, 1, _env_v1_to_v2),
    "listtoargs":       (1, 2, _list_to_args),
    "argstolist":       (1, 2, _args_to_list),
    "mergeenvironment": (0, -1, _merge_environment),
}
# fmt: on
