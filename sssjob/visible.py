"""Texts of strangers, made harmless for what shows them: terminals, pictures, spreadsheets.

Each way to write has one function here. ``ruff`` refuses the others: what prints to a terminal in
``cli`` goes by ``cli/common``, and only this module imports ``html.escape`` and ``csv``. LDIF has
its own in ``lcginfo/ldif.py``, words of a shell and of scripts in ``translate/quoting.py``.
"""

from __future__ import annotations

import codecs
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_HIDDEN = ("Cc", "Cf", "Zl", "Zp")  # categories: controls, what turns or hides text, line ends
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the wide ones, too
_NO_XML = re.compile("[\ufffe\uffff]")
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


def markup(text: str) -> str:
    """A text for XML, SVG and HTML, between tags and in attributes; controls are shown.

    >>> markup("a<b\x1b")
    'a&lt;b␛'
    """
    import html

    shown = visible(text).encode("utf-8", "replace").decode("utf-8")
    return html.escape(_NO_XML.sub("\ufffd", shown), quote=True)


def in_dot(*lines: str) -> str:
    """A text of some lines as a quoted string of DOT.

    >>> print(in_dot('a"b', "c"))
    "a\\"b\\nc"
    """
    quoted = (visible(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(quoted) + '"'


class Visible(io.RawIOBase):
    """A stream of bytes in UTF-8 to a text stream that is a terminal, which they cannot steer."""

    def __init__(self, terminal: TextIO) -> None:
        super().__init__()
        self._terminal = terminal
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        """It is only written to."""
        return True

    def styled(self, text: str) -> None:
        """Show a text with colours; the words in it were made visible before."""
        self._terminal.write(text)

    def write(self, data: ReadableBuffer, /) -> int:
        """Show some bytes; a letter may come in pieces."""
        octets = bytes(data)
        self._terminal.write(visible_lines(self._decoder.decode(octets)))
        return len(octets)


def csv_lines(rows: Iterable[Iterable[object]], *, raw: bool = False) -> Iterator[str]:
    """Rows as lines of comma-separated values.

    A spreadsheet takes a cell that begins as a formula for one, and runs it: such a cell gets an
    apostrophe in front, unless ``raw``. Numbers stay.

    >>> list(csv_lines([("=1+1", "-5", "a,b", 2)]))
    ['\\'=1+1,-5,"a,b",2\\n']
    """
    import csv

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
