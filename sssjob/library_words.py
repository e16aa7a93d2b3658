"""What libraries say of a text that they do not read, in the words of whoever wrote the text.

Each library has one function, so that no message has words of Python. A sentence that nobody knows
yet becomes a general one.

>>> import csv
>>> csv_fault(csv.Error("unexpected end of data"))
'a quote that is not closed'
>>> toml_fault("Cannot declare ('a', 'b') twice")
'a table that was given before: a.b'
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from sssjob.visible import visible

if TYPE_CHECKING:
    import configparser
    import csv

_Sentences = Iterable[tuple[str, str]]  # what a library says, as a pattern, and what is meant
_KEYS = re.compile(r"'((?:[^'\\]|\\.)*)'")

# fmt: off
_CSV: _Sentences = (
    (r"unexpected end of data",                  "a quote that is not closed"),
    (r"'.+' expected after '.+'",                "text behind a quote that is closed"),
    (r"field larger than field limit \((\d+)\)", "a field of more than {} characters"),
    (r"new-line character seen",                 "a line end in a field without quotes"),
    (r"line contains NUL",                       "the character U+0000"),
)
_SHELL: _Sentences = (
    (r"No closing quotation",                    "a quote that is not closed"),
    (r"No escaped character",                    "a backslash with nothing behind it"),
)
_JSON: _Sentences = (
    (r"Expecting value",                         "a value is missing"),
    (r"Expecting property name",                 "a name in double quotes is missing"),
    (r"Expecting '(.)' delimiter",               "{} is missing"),
    (r"Unterminated string",                     "a string that is not closed"),
    (r"Invalid control character",               "a control character in a string"),
    (r"Invalid \\+escape",                       "a backslash before what it does not escape"),
    (r"Invalid \\+uXXXX escape",                 "a \\u without four hexadecimal digits"),
    (r"Extra data",                              "more than one value"),
    (r"Illegal trailing comma",                  "a comma with nothing behind it"),
    (r"Unexpected UTF-8 BOM",                    "a byte order mark, which JSON has not"),
)
_TOML: _Sentences = (
    (r"Expected '=' after a key",                "a key without ="),
    (r"Expected '(\]+)' at the end of",          "the name of a table without {}"),
    (r"Expected newline or end of document",     "more on a line than a key and its value"),
    (r"Expected (['\"])(.*)\1",                  "{1} is missing"),
    (r"Unclosed array",                          "an array that is not closed"),
    (r"Unclosed inline table",                   "a table in braces that is not closed"),
    (r"Unterminated string",                     "a string that is not closed"),
    (r"Cannot overwrite a value",                "a key that was given before"),
    (r"Cannot declare \((.*)\) twice",           "a table that was given before: {}"),
    (r"Cannot (?:mutate immutable|redefine) namespace \((.*)\)",
                                                 "more for a table that was given before: {}"),
    (r"Duplicate inline table key (.*)",         "a key that stands twice in braces: {}"),
    (r"Found invalid character|Illegal character",
                                                 "a character that may not stand there"),
    (r"Escaped character is not|Invalid hex value|Unescaped '\\'",
                                                 "a backslash before what it does not escape"),
    (r"Invalid initial character for a key",     "a sign that begins no key"),
    (r"Invalid date or datetime",                "a date that no calendar has"),
    (r"There is no nest behind this key|An object other than list found",
                                                 "a table for a key that has another value"),
    (r"Invalid statement",                       "neither a key, a table nor a comment"),
    (r"Invalid value",                           "what is no value"),
)
# fmt: on


def csv_fault(error: csv.Error) -> str:
    """Why a line is no CSV."""
    return _meant(str(error), _CSV, "quotes or separators that are none of CSV")


def shell_fault(error: ValueError) -> str:
    """Why a text cannot be split into words as a shell does."""
    return _meant(str(error), _SHELL, "quotes that no shell reads")


def json_fault(said: str) -> str:
    """Why a text is no JSON, by what ``json`` says, without the place."""
    return _meant(said, _JSON, "what is no JSON")


def toml_fault(said: str) -> str:
    """Why a text is no TOML, by what ``tomllib`` says, without the place."""
    return _meant(said, _TOML, "what no TOML has")


def config_fault(error: configparser.Error) -> str:
    """Why a text has no sections and options, with the first line that is wrong."""
    found = re.search(r"\[line +(\d{1,18})\]", str(error))
    line = f"line {found[1]}: " if found else ""
    return f"{line}neither a section, an option nor a comment"


def pattern_fault(error: Exception) -> str:
    """Why a text is no pattern: where it ends to be one."""
    place = getattr(error, "pos", None)
    behind = f" from character {place + 1} on" if isinstance(place, int) else ""
    return f"it is no regular expression{behind}"


def _meant(said: str, sentences: _Sentences, otherwise: str) -> str:
    for pattern, meant in sentences:
        if found := re.match(pattern, said):
            return meant.format(*map(_plain, found.groups()))
    return otherwise


def _plain(part: str) -> str:
    """A part of a sentence; of keys in Python's form, as they stand in the text."""
    return visible(".".join(_KEYS.findall(part)) or part)[:60]
