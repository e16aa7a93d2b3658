"""Bytes that may be broken as text with places: their encoding, their lines, their excerpts."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property

from sssjob.document import cause, encodings
from sssjob.document.parsing import START, SourcePlace
from sssjob.errors import Finding, finding

_BARE_UTF16 = ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))
# In a declaration whose quotes are broken, too.
_DECLARED = re.compile(
    rb"\A[ \t\r\n]*<\?xml[^>]{0,200}?encoding[ \t\r\n]*=[^A-Za-z>]{1,4}([A-Za-z0-9._-]+)"
)
_BEGIN = 512  # bytes that tell whether it is text at all
_WIDEST = 100  # characters of a line that an excerpt shows


class Source:
    """A document as text, and what puts it back into bytes.

    ``fault`` is the finding about bytes that are not of the encoding; they are U+FFFD in the text.
    Lines and columns count from where the document ``begin``s in what it was cut from.
    """

    def __init__(self, data: bytes, begin: SourcePlace = START) -> None:
        self._begin = begin
        self.fault: Finding | None = None
        self.mark, marked = encodings.marked(data)
        told = marked or _encoding(data)
        self.encoding = encodings.codec(told) or told
        octets = data[len(self.mark) :]
        try:
            self.text = octets.decode(self.encoding)
        except UnicodeDecodeError as error:
            self.text = octets.decode(self.encoding, "replace")
            begin = begin._replace(start=begin.start + len(self.mark))
            self.fault = _invalid(octets, error, begin, told)

    def encode(self, text: str) -> bytes:
        """The bytes of a text in the encoding of the source."""
        return self.mark + text.encode(self.encoding)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def place(self, index: int) -> tuple[int, int]:
        """Line and column of an index, both counted from 1."""
        line = bisect_right(self._starts, index)
        column = index - self._starts[line - 1] + 1
        return line + self._begin.line - 1, column + (self._begin.column - 1 if line == 1 else 0)

    def index(self, line: int, column: int) -> int:
        """The index of a line and column."""
        line, column = self._own(line, column)
        line = min(max(line, 1), len(self._starts))
        return min(self._starts[line - 1] + max(column, 1) - 1, len(self.text))

    def _own(self, line: int, column: int) -> tuple[int, int]:
        """A line and column of what the text was cut from as those of the text."""
        line -= self._begin.line - 1
        return line, column - (self._begin.column - 1 if line == 1 and column else 0)

    def _line(self, number: int) -> str:
        """A line of the text without its end."""
        end = self._starts[number] - 1 if number < len(self._starts) else len(self.text)
        return self.text[self._starts[number - 1] : end].rstrip("\r")

    def indent(self, index: int) -> int | None:
        """How far what stands at an index is indented; None if it does not begin its line."""
        before = self.text[self._starts[bisect_right(self._starts, index) - 1] : index]
        column = self.place(index)[1]
        return column if not before.strip() else None

    def excerpt(self, line: int, column: int) -> str:
        """The source line with a caret below the column; a long line is cut about it."""
        line, column = self._own(line, column)
        if line < 1 or line > len(self._starts):
            return ""
        shown = self._line(line)
        if column < 1:
            return shown[:_WIDEST]
        first = max(0, column - 1 - _WIDEST * 2 // 3) if len(shown) > _WIDEST else 0
        shown = shown[first : first + _WIDEST].expandtabs(1)
        return f"{shown}\n{' ' * (column - 1 - first)}^"


def _invalid(
    octets: bytes, error: UnicodeDecodeError, begin: SourcePlace, encoding: str
) -> Finding:  # fmt: skip
    """The first byte that the encoding does not have, with its offset in the document."""
    if cause.is_binary(octets[:_BEGIN].decode(error.encoding, "replace")):
        return finding("E-XML", cause.BINARY_SAID, line=begin.line, column=begin.column)
    text = octets[: error.start].decode(error.encoding, "replace")
    lines, column = text.count("\n"), len(text) - text.rfind("\n")
    column += 0 if lines else begin.column - 1
    at, line = begin.start + error.start, begin.line + lines
    return cause.invalid_byte(octets[error.start], encoding, at, line, column).finding


def _encoding(data: bytes) -> str:
    if bare := encodings.by_mark(data):
        return bare
    for start, encoding in _BARE_UTF16:
        if data.startswith(start):
            return encoding
    declared = _DECLARED.match(data)
    if declared is None:
        return "utf-8"
    # Bytes that have just been read as a declaration are not UTF-16, whatever they say.
    name = declared[1].decode("ascii").lower()
    return name if encodings.codec(name) not in (None, encodings.UTF8) else encodings.UTF8
