"""Texts on their way into lines of others: nothing but what was meant gets there."""

from __future__ import annotations

import re
import shlex

from sssjob.errors import InvalidValue

_UNSAFE = re.compile(r"[\0\r\n]")
_UNQUOTED = re.compile(r"[^\s\"'#]+")
_BLANK = re.compile(r"[\s\0]")


def safe(text: str) -> str:
    """A text for a directive: without line ends and U+0000, behind which another could stand.

    Raises ``InvalidValue``.
    """
    if _UNSAFE.search(text):
        raise InvalidValue(text, "a text without line ends and U+0000, which a directive can hold")
    return text


def word(text: str) -> str:
    """A text that stands for itself between blanks. Raises ``InvalidValue``."""
    if not text or _BLANK.search(text):
        raise InvalidValue(text, "a text without blanks")
    return text


def posix(text: str) -> str:
    """A text as one word of a POSIX shell; U+0000 has none. Raises ``InvalidValue``.

    >>> posix("it's $HOME")
    '\\'it\\'"\\'"\\'s $HOME\\''
    """
    if "\0" in text:
        raise InvalidValue(text, "a text without U+0000, which a shell can hold")
    return shlex.quote(text)


def split(text: str) -> list[str]:
    """Words between blanks; what stands in quotes of one kind is one word, or part of one.

    >>> split('-N "a b" -l nodes=2:ppn=4')
    ['-N', 'a b', '-l', 'nodes=2:ppn=4']
    """
    words: list[str] = []
    word: str | None = None
    inside = ""
    for letter in text:
        if inside:
            inside, word = ("", word) if letter == inside else (inside, (word or "") + letter)
        elif letter in "\"'":
            inside, word = letter, word or ""
        elif letter.isspace():
            words += [] if word is None else [word]
            word = None
        else:
            word = (word or "") + letter
    return words if word is None else [*words, word]


def quoted(text: str) -> str:
    """A word so that ``split`` gives it back. Raises ``InvalidValue`` where no quotes do."""
    if _UNQUOTED.fullmatch(text):
        return text
    for sign in "\"'":
        if sign not in text:
            return f"{sign}{text}{sign}"
    raise InvalidValue(text, "a text with at most one kind of quotes")
