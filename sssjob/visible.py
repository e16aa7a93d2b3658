"""Texts of strangers, made harmless for whoever looks at them on a terminal or in a picture."""

from __future__ import annotations

import unicodedata


def visible(text: str) -> str:
    """A text whose control characters are shown and cannot steer a terminal.

    >>> visible("a\\x1b[2Jb")
    'a␛[2Jb'
    """
    return "".join(
        chr(0x2400 + ord(letter)) if letter < " "
        else "\ufffd" if unicodedata.category(letter) in ("Cc", "Cf") else letter
        for letter in text
    )  # fmt: skip
