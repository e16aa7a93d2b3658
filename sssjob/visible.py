"""Texts of strangers, made harmless for what shows them: terminals, pictures, spreadsheets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

_HIDDEN = ("Cc", "Cf", "Zl", "Zp")  # categories: controls, what turns or hides text, line ends
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the wide ones, too
_NUMBER = re.compile(r"-?[0-9.]+(?:[eE][-+]?[0-9]+)?")


def visible(text: str) -> str:
    """A text whose control characters are shown and cannot steer a terminal.

    >>> visible("a\\x1b[2Jb")
    'a␛[2Jb'
    """
    if text.isprintable():
        return text
    return "".join(
        chr(0x2400 + ord(letter)) if letter < " "
        else "\ufffd" if unicodedata.category(letter) in _HIDDEN else letter
        for letter in text
    )  # fmt: skip


def visible_lines(text: str) -> str:
    """The same of a text of several lines, which stay, as tabs do."""
    if text.isprintable():
        return text
    pieces = re.split(r"([\n\t])", text)
    return "".join(each if each in "\n\t" else visible(each) for each in pieces)


def csv_lines(rows: Iterable[Iterable[object]], *, raw: bool = False) -> Iterator[str]:
    """Rows as lines of comma-separated values.

    A spreadsheet takes a cell that begins as a formula for one, and runs it: such a cell gets an
    apostrophe in front, unless ``raw``. Numbers stay.

    >>> list(csv_lines([("=1+1", "-5", "a,b", 2)]))
    ['\\'=1+1,-5,"a,b",2\\n']
    """
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")  # so that both are quoted in a cell
    for row in rows:
        writer.writerow(row if raw else map(_harmless, row))
        yield out.getvalue().removesuffix("\r\n") + "\n"
        out.seek(0)
        out.truncate()


def _harmless(cell: object) -> object:
    if not isinstance(cell, str) or len(cell) < 2 or _NUMBER.fullmatch(cell):
        return cell
    is_formula = cell[0] in "\t\r" or cell.lstrip()[:1] in _FORMULA
    return f"'{cell}" if is_formula else cell
