"""The words of ClassAd expressions: literals, names and signs."""

from __future__ import annotations

import re

from sssjob.classads.errors import BadAd
from sssjob.errors import quoted
from sssjob.integers import LARGEST, SMALLEST

NAME, QUOTED, NUMBER, STRING, SIGN, END = "name", "quoted", "number", "string", "sign", "end"

LONGEST = 1 << 20  # characters of one expression, and of one line

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n\f\v]+|//[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/)
      | (?P<number>(?:[0-9]++\.[0-9]+|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]++(?:[eE][+-]?[0-9]+)?)
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*+)
      | (?P<string>"(?:[^"\\]|\\.)*+")
      | (?P<quoted>'(?:[^'\\]|\\.)*+')
      | (?P<sign>=\?=|=!=|>>>|\|\||&&|==|!=|<=|>=|<<|>>|/(?!\*)|[-+*%!~<>&|^?:()\[\]{},;.=])""",
    re.VERBOSE | re.DOTALL,
)
# The two signs whose words the new syntax prefers.
_SIGNS = {"=?=": "is", "=!=": "isnt"}
_ESCAPE = re.compile(rb"\\([0-3][0-7]{2}|[0-7]{1,2}|.)", re.DOTALL)
_ESCAPES = {
    b"a": b"\a",
    b"b": b"\b",
    b"t": b"\t",
    b"n": b"\n",
    b"v": b"\v",
    b"f": b"\f",
    b"r": b"\r",
}
_OCTAL = re.compile("[0-7]+")
_LITERAL_BACKSLASH = re.compile(r'\\(?!")|\\(?="\Z)')


def tokens(text: str, old: bool = False) -> list[tuple[str, str, int]]:
    """Kind, text and place of every word, closed by an END. Raises ``BadAd``.

    In the ``old`` syntax the backslash is an escape before a double quote only, and not there
    if that quote is the last character.
    """
    if len(text) > LONGEST:
        raise BadAd(f"an expression of more than {LONGEST} characters")
    if old and "\\" in text:
        text = _LITERAL_BACKSLASH.sub(r"\\\\", text)
    found = []
    place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            raise BadAd(_wrong(text, place))
        kind, start, place = str(token.lastgroup), place, token.end()
        if kind == NUMBER and (text[place : place + 1].isalnum() or text[place : place + 1] == "."):
            raise BadAd(f"{text[start : place + 1]!r} is no number")
        word = token[0]
        if kind == "space":
            if old and word.strip():
                raise BadAd(f"a comment in an expression: {quoted(word)}")
        elif kind == SIGN and word in _SIGNS:
            found.append((NAME, _SIGNS[word], start))
        else:
            found.append((kind, word, start))
    found.append((END, "", place))
    return found


def unquoted(word: str) -> str:
    """The text of a string or of a quoted name: escapes of C, octal ones for bytes of UTF-8.

    >>> unquoted(r'"caf\\303\\251"')
    'café'
    """
    inner = word[1:-1]
    if "\\" in inner or not inner.isprintable():
        octets = _encoded(inner)
        octets = _ESCAPE.sub(_escaped, octets)
        if b"\0" in octets:
            raise BadAd("a string with a NUL character")
        try:
            return octets.decode()
        except UnicodeDecodeError:
            raise BadAd(f"a string that is no UTF-8: {quoted(inner)}") from None
    return inner


def number(word: str, negative: bool = False) -> int | float:
    """An integer of 64 bits or a real; ``negative`` tells that a minus stands before it.

    HTCondor reads no integer with a zero before it, but for octal digits right behind a minus,
    which it takes for decimal ones. # decision 771
    """
    if not word.isdecimal():
        return -float(word) if negative else float(word)
    if word[0] == "0" and len(word) > 1 and not (negative and _OCTAL.fullmatch(word)):
        raise BadAd(f"{quoted(word)} is no number: HTCondor reads none with a zero before it")
    value = -_whole(word) if negative else _whole(word)
    if value > LARGEST or value < SMALLEST:
        raise BadAd(f"{quoted(word)} does not fit 64 bits")
    return value


def _whole(word: str) -> int:
    digits = word.lstrip("0") or "0"
    if len(digits) > 19:
        raise BadAd(f"{quoted(word)} does not fit 64 bits")
    return int(digits)


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise BadAd(f"a string with a lone surrogate: {quoted(text)}") from None


def _escaped(match: re.Match[bytes]) -> bytes:
    letter = match[1]
    if letter.isdigit() and letter[:1] <= b"7":
        return bytes((int(letter, 8),))
    return _ESCAPES.get(letter, letter)


def _wrong(text: str, place: int) -> str:
    if text[place] in "\"'":
        return f"a string that is not closed: {quoted(text[place:])}"
    if text.startswith("/*", place):
        return "a comment that is not closed"
    return f"{text[place]!r} has no meaning here: {quoted(text[place:])}"
