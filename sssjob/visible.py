"""Texts of strangers, made harmless for what shows them: terminals, pictures, spreadsheets.

Each language that others read has a type here, which is a text in which nothing of a stranger can
leave its place. Who writes a picture, a page, a table or a script asks for that type, so that mypy
refuses a text that nobody made harmless: what is put together with ``+``, ``join`` or an f-string
is a plain ``str`` again. Only ``Filled.of``, with a template that stands in the code, and the
functions of a few modules make such texts; ``tests/test_writers.py`` holds all others to that.
What prints to a terminal in ``cli`` goes by ``cli/common``, to which ruff holds it.
"""

from __future__ import annotations

import codecs
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator
from shlex import quote
from typing import TYPE_CHECKING, ClassVar, Self, TextIO

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


def markup(text: str) -> Markup:
    """A text for XML, SVG and HTML, between tags and in attributes; controls are shown.

    >>> markup("a<b\x1b")
    'a&lt;b␛'
    """
    import html

    shown = visible(text).encode("utf-8", "replace").decode("utf-8")
    return Markup(html.escape(_NO_XML.sub("\ufffd", shown), quote=True))


def in_dot(*lines: str) -> Dot:
    """A text of some lines as a quoted string of DOT.

    >>> print(in_dot('a"b', "c"))
    "a\\"b\\nc"
    """
    quoted = (visible(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return Dot('"' + "\\n".join(quoted) + '"')


class Written(str):
    """A text in a language that others read, which no part of it can steer."""

    __slots__ = ()

    @classmethod
    def joined(cls, parts: Iterable[Self], between: str = "") -> Self:
        """Texts of this language one after the other."""
        return cls(between.join(parts))


class Filled(Written):
    """A language in which texts of anybody can stand, put into templates."""

    __slots__ = ()
    shown: ClassVar[staticmethod[[str], str]]  # how a text of anybody stands in it

    @classmethod
    def of(cls, template: str, /, **values: object) -> Self:
        """A template with values: numbers and texts of this language stay, others are ``shown``.

        >>> Markup.of("<b>{name}</b>{end}", name="a<b", end=Markup("<br/>"))
        '<b>a&lt;b</b><br/>'
        """
        return cls(template.format_map({name: cls._value(each) for name, each in values.items()}))

    @classmethod
    def _value(cls, value: object) -> object:
        return value if isinstance(value, cls | int | float) else cls.shown(str(value))


class Terminal(Filled):
    """Lines for a terminal, whose colours are ours."""

    __slots__ = ()
    shown = staticmethod(visible)


class Markup(Filled):
    """XML, SVG and HTML; a text may stand between tags and in attributes."""

    __slots__ = ()
    shown = staticmethod(markup)


class Dot(Filled):
    """The language of Graphviz; a text becomes a quoted string."""

    __slots__ = ()
    shown = staticmethod(in_dot)


class ShellText(Filled):
    """Words and lines of a POSIX shell; a text becomes one word."""

    __slots__ = ()
    shown = staticmethod(quote)


class Csv(Written):
    """Lines of comma-separated values; ``csv_lines`` makes them."""

    __slots__ = ()


class Ldif(Written):
    """Lines of LDIF; ``lcginfo.ldif`` makes them."""

    __slots__ = ()


class Visible(io.RawIOBase):
    """A stream of bytes in UTF-8 to a text stream that is a terminal, which they cannot steer."""

    def __init__(self, terminal: TextIO) -> None:
        super().__init__()
        self._terminal = terminal
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        """It is only written to."""
        return True

    def styled(self, text: Terminal) -> None:
        """Show a text with colours."""
        self._terminal.write(text)

    def write(self, data: ReadableBuffer, /) -> int:
        """Show some bytes; a letter may come in pieces."""
        octets = bytes(data)
        self._terminal.write(visible_lines(self._decoder.decode(octets)))
        return len(octets)


def csv_lines(rows: Iterable[Iterable[object]], *, raw: bool = False) -> Iterator[Csv]:
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
        yield Csv(out.getvalue().removesuffix("\r\n") + "\n")
        out.seek(0)
        out.truncate()


def _harmless(cell: object) -> object:
    if not isinstance(cell, str) or len(cell) < 2 or _NUMBER.fullmatch(cell):
        return cell
    is_formula = cell[0] in "\t\r" or cell.lstrip()[:1] in _FORMULA
    return f"'{cell}" if is_formula else cell
