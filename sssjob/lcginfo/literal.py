"""Flat Python-style dictionaries, read by their own grammar: ``{'queue': 'atlas', 'start': 1.0}``.

Job names are chosen by the users of a batch system, so nothing here evaluates: a dictionary
holds strings, numbers, None, True and False, and nothing nested.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sssjob.errors import InvalidValue

LENGTH_LIMIT = 1 << 16

Scalar = str | int | float | bool | None

# A string literal; possessive throughout, so that no text can make matching slow.
_STRING = r"""[uUbB]?+(?:'([^'\\]*+(?:\\.[^'\\]*+)*+)'|"([^"\\]*+(?:\\.[^"\\]*+)*+)")"""
_NUMBER = r"([-+]?+[0-9]{1,30}+(?>(\.[0-9]{0,30}+)?)(?>([eE][-+]?+[0-9]{1,3}+)?))L?+"
_PAIR = re.compile(
    rf"\s*+{_STRING}\s*+:\s*+(?:{_STRING}|{_NUMBER}|(None|True|False))\s*+([,}}])", re.DOTALL
)
_OPEN = re.compile(r"\s*+\{\s*+")
_END = re.compile(r"\s*+")
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL
)
_LETTERS = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\n": "",
    "\\": "\\", "'": "'", '"': '"',
}  # fmt: skip
_WORDS = {"None": None, "True": True, "False": False}


class ParsedDictionary(NamedTuple):
    """A dictionary, and the place in the text behind its closing brace."""

    values: dict[str, Scalar]
    end: int


def parse(text: str) -> dict[str, Scalar]:
    """Read a text that is one flat dictionary. Raises ``InvalidValue``.

    >>> parse("{'name': 'it\\\\'s {me}', 'cpucount': 2, 'start': None}")
    {'name': "it's {me}", 'cpucount': 2, 'start': None}
    """
    found = scan(text, 0)
    place = _end(text, found.end)
    if place != len(text):
        raise InvalidValue(text[place:], f"the end of the line, at column {place + 1}")
    return found.values


def scan(text: str, place: int, limit: int = LENGTH_LIMIT) -> ParsedDictionary:
    """Read the flat dictionary that begins at a place in a text. Raises ``InvalidValue``."""
    if len(text) > limit:
        raise InvalidValue(text, f"a dictionary of at most {limit} characters")
    opened = _OPEN.match(text, place)
    if opened is None:
        raise InvalidValue(text[place:], "a dictionary such as {'queue': 'atlas'}")
    place = opened.end()
    values: dict[str, Scalar] = {}
    while not text.startswith("}", place):
        pair = _PAIR.match(text, place)
        if pair is None:
            raise InvalidValue(
                text[place:], f"a key with a string or a number, at column {place + 1}"
            )
        # fmt: off
        (single, double, string, other_string, number, fraction, exponent, word,
         closing) = pair.groups()
        # fmt: on
        key = _string(double if single is None else single)
        if number is not None:
            values[key] = float(number) if fraction or exponent else int(number)
        elif word is not None:
            values[key] = _WORDS[word]
        else:
            values[key] = _string(other_string if string is None else string)
        place = pair.end()
        if closing == "}":
            return ParsedDictionary(values, place)
        place = _end(text, place)
    return ParsedDictionary(values, place + 1)


def quoted(text: str) -> str:
    """A string literal in ASCII; braces are escaped, because old readers end at the first one.

    >>> quoted("it's {me}")
    '"it\\'s \\\\x7bme\\\\x7d"'
    """
    return ascii(text).replace("{", r"\x7b").replace("}", r"\x7d")


def _string(body: str) -> str:
    return _ESCAPE.sub(_escaped, body) if "\\" in body else body


def _escaped(match: re.Match[str]) -> str:
    two, four, eight, octal, letter = match.groups()
    if letter is not None:
        return _LETTERS.get(letter, "\\" + letter)
    code = int(octal, 8) if octal else int(two or four or eight, 16)
    # Half a surrogate pair, or no code point at all, has no place in a text.
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def _end(text: str, place: int) -> int:
    space = _END.match(text, place)
    assert space is not None
    return space.end()
