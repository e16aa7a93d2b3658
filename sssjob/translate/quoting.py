"""Texts on their way into lines of others: nothing but what was meant gets there."""

from __future__ import annotations

import re
import shlex

from sssjob.errors import InvalidValue

_UNSAFE = re.compile(r"[\0\r\n]")
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
