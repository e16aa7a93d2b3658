"""Functions that take regular expressions, in bounded steps: what takes more is an error."""

from __future__ import annotations

import re

from sssjob.classads.lists import words
from sssjob.classads.strings import DELIMITERS, octets, of_octets
from sssjob.classads.values import ERROR, UNDEFINED, Special, undecided
from sssjob.errors import SSSJobError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from sssjob.classads.values import Function, Value
    from sssjob.expression.pattern import Pattern, Span

LONGEST = 1 << 20  # octets of what a replacement gives
_OPTIONS = "ims"
_BLANK = re.compile(r"(\\.|\[(?:\\.|[^\]\\])*\])|\s+|#[^\n]*", re.DOTALL)
_PROPERTY = re.compile(r"(?<!\\)(?:\\\\)*\\[pP]")
_BEHIND = re.compile(r"\(\?<[=!][^)]*[*+?{]")
_REFERENCE = re.compile(r"\\([0-9])")


_HIGH = {each: 0xF700 + each for each in range(0x80, 0x100)}
_LOW = {high: low for low, high in _HIGH.items()}


# decision 602
def _letters(text: str) -> str:
    """A text with a letter for each of its octets, which are what expressions are about here.

    Those outside ASCII are of the private use area: of no case, and no word.
    """
    return text if text.isascii() else octets(text).decode("latin-1").translate(_HIGH)


def _text(letters: str) -> Value:
    if letters.isascii():
        return letters
    return of_octets(letters.translate(_LOW).encode("latin-1"))


def _whole(pattern: str, options: str) -> str:
    """An expression with its options in it."""
    letters = options.lower()
    if "x" in letters:
        pattern = _BLANK.sub(lambda found: found[1] or "", pattern)
    flags = "".join(sorted(set(letters) & set(_OPTIONS)))
    return f"(?{flags}:{pattern})" if flags else pattern


def _asked(pattern: str, options: str) -> Pattern:
    from sssjob.expression.pattern import Pattern  # not needed by hooks that compare numbers

    return Pattern(_whole(pattern, options), "search")


# decision 778
def otherwise(name: str, values: tuple[Value, ...]) -> str:
    """What HTCondor, with PCRE, may answer otherwise about the expression of a function."""
    texts = [value for value in values if isinstance(value, str)]
    if not texts or not isinstance(values[0], str):
        return ""
    pattern = texts[0]
    at = 2 if name in ("regexp", "regexpmember") else 3
    options = values[at] if len(values) > at else ""
    try:
        _asked(_letters(pattern), options if isinstance(options, str) else "").matches("")
    except SSSJobError as error:
        return f"{name}: the regular expression is an error here, HTCondor may read it: {error}"
    if _PROPERTY.search(pattern):
        return f"{name}: \\p in a regular expression is about letters of ASCII here"
    if _BEHIND.search(pattern):
        return f"{name}: what stands in (?<= ) or (?<! ) HTCondor reads only if it is of one length"
    return ""


def _texts(*values: Value) -> tuple[str, ...] | Special:
    """Strings, or what stands in their way."""
    for value in values:
        if isinstance(value, Special):
            return value
    found = tuple(value for value in values if isinstance(value, str))
    return found if len(found) == len(values) else ERROR


def _regexp(pattern: Value, text: Value, options: Value = "") -> Value:
    if ERROR in (pattern, text, options):
        return ERROR
    texts = _texts(pattern, text, options)
    if isinstance(texts, Special):
        return texts
    try:
        return _asked(_letters(texts[0]), texts[2]).matches(_letters(texts[1]))
    except SSSJobError:  # no expression, or one that takes too long
        return ERROR


def _regexp_member(pattern: Value, members: Value, options: Value = "") -> Value:
    if (special := undecided((pattern, members, options), ERROR)) is not None:
        return special
    if not isinstance(members, tuple) or not isinstance(pattern, str):
        return ERROR
    if not isinstance(options, str):
        return ERROR
    missing = False
    for each in members:
        if each is not UNDEFINED and not isinstance(each, str):
            return ERROR
        missing = missing or each is UNDEFINED
        if isinstance(each, str) and _regexp(pattern, each, options) is True:
            return True
    return UNDEFINED if missing else False


def _string_list_regexp_member(
    pattern: Value, text: Value, delimiters: Value = DELIMITERS, options: Value = ""
) -> Value:
    texts = _texts(pattern, text, delimiters, options)
    if isinstance(texts, Special):
        return ERROR
    found = words(texts[1], texts[2])
    if not found:  # still, the expression has to be one
        return ERROR if _regexp(pattern, "", options) is ERROR else UNDEFINED
    answers = [_regexp(pattern, word, options) for word in found]
    return ERROR if ERROR in answers else True in answers


def _substituting(always: str) -> Function:
    def asked(pattern: Value, text: Value, by: Value, options: Value = "") -> Value:
        if ERROR in (pattern, text, by, options):
            return ERROR
        texts = _texts(pattern, text, by, options)
        if isinstance(texts, Special):
            return texts
        letters = texts[3].lower() + always
        try:
            whole = _whole(_letters(texts[0]), letters)
            found = _parts(whole, _letters(texts[1]), _letters(texts[2]), letters)
            return ERROR if found is None else _bounded(found)
        except SSSJobError:
            return ERROR

    return asked


def _parts(pattern: str, text: str, by: str, letters: str) -> Iterable[str] | None:
    """The text with what replaces its parts, or that alone; None if that cannot be said.

    As HTCondor goes on behind a match of nothing: one just there that takes something comes next,
    or else the next letter, which is kept; and at the end of the text it gives up.
    """
    from sssjob.expression.pattern import finder

    full, every = "f" in letters, "g" in letters
    find = finder(pattern, text)
    found: list[str] = []
    at = length = 0
    is_behind_nothing = False
    while (spans := find(at, is_behind_nothing)) is not None or is_behind_nothing:
        if spans is None:
            if at == len(text):
                return None
            is_behind_nothing = False
            found.append(text[at])
            at += 1
            continue
        assert spans[0] is not None
        start, end = spans[0]
        filled = _filled(by, text, spans)
        if filled is None:
            return None
        found += [text[at:start], filled] if full else [filled]
        length += len(filled)
        is_behind_nothing = is_behind_nothing or start == end
        at = end
        if not every or length > LONGEST:
            break
    return [*found, text[at:]] if full else found


def _filled(by: str, text: str, spans: tuple[Span, ...]) -> str | None:
    """A replacement with its \\N filled in; None if there is no such group."""
    last = max(number for number, span in enumerate(spans) if span is not None)

    def group(found: re.Match[str]) -> str:
        start, end = spans[int(found[1])] or (0, 0)
        return text[start:end]

    if any(int(number) > last for number in _REFERENCE.findall(by)):
        return None
    return _REFERENCE.sub(group, by)


def _bounded(parts: Iterable[str]) -> Value:
    found = "".join(parts)
    return _text(found) if len(found) <= LONGEST else ERROR


# fmt: off
TABLE: dict[str, tuple[int, int, Function]] = {
    "regexp":                  (2, 3, _regexp),
    "regexpmember":            (2, 3, _regexp_member),
    "regexps":                 (3, 4, _substituting("")),
    "replace":                 (3, 4, _substituting("f")),
    "replaceall":              (3, 4, _substituting("fg")),
    "stringlist_regexpmember": (2, 4, _string_list_regexp_member),
}
# fmt: on
