"""Tables and lines of text that fit a terminal; in a narrow one a row stands on several lines."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

_NARROWEST = 8  # columns; a line is never folded to fewer
_NO_CELL = ("Mn", "Me", "Cf")  # categories of what stands on the letter before it
_TWO_CELLS = ("W", "F")  # wide and full width, by the table of Unicode
_PIECES = re.compile(r"\s+|\S+")


def aligned(
    rows: Sequence[Sequence[str]], left: int, room: int = 0, names: int | None = None
) -> Iterator[str]:
    """Lines of a table, headings first; the first ``left`` columns begin at the left.

    Where a line would be longer than ``room``, unless that is 0, each row becomes a line of its
    ``names`` (so many first columns; None: those at the left), and a line for each other column.
    The headings of these names stand once, in brackets, above all rows.
    """
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    if room and sum(widths) + 2 * (len(widths) - 1) > room:
        yield from _below(rows, left, left if names is None else names, room)
        return
    for row in rows:
        yield "  ".join(
            padded(text, width, at_right=at >= left)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()


def _below(rows: Sequence[Sequence[str]], left: int, names: int, room: int) -> Iterator[str]:
    headings, *others = rows
    width = max(map(cells, headings[names:]), default=0)
    numbers = max((cells(text) for row in others for text in row[left:]), default=0)
    if others and all(headings[:names]):
        yield from folded(f"[{'  '.join(headings[:names])}]", room)
    for row in others:
        yield from folded("  ".join(filter(None, row[:names])), room)
        for at in range(names, len(row)):
            text = row[at] if at < left else padded(row[at], numbers, at_right=True)
            if headings[at] or text:
                yield from folded(f"  {padded(headings[at], width)}  {text}".rstrip(), room)


def cells(text: str) -> int:
    """How many columns of a terminal a text takes: letters of East Asia take two.

    >>> cells("amy"), cells("\u7530\u4e2d")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    return sum(_cells(letter) for letter in text)


def _cells(letter: str) -> int:
    if unicodedata.category(letter) in _NO_CELL:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in _TWO_CELLS else 1


def padded(text: str, width: int, *, at_right: bool = False) -> str:
    """A text with blanks, so that it takes ``width`` columns of a terminal."""
    blanks = " " * (width - cells(text))
    return blanks + text if at_right else text + blanks


def folded_at_blanks(line: str, room: int, head: int = 0) -> Iterator[str]:
    """The same as ``folded``, but words and the first ``head`` letters stay whole, however long.

    So what is to be copied, or read by an editor, is what it was.

    >>> print(*folded_at_blanks("my job.xml:3: error: no /Job/Requested/Memory", 14, 12), sep="\\n")
    my job.xml:3:
      error: no
      /Job/Requested/Memory
    """
    if not room or cells(line) <= room:
        yield line
        return
    indent = " " * min(len(line) - len(line.lstrip()) + 2, room // 2)
    now = line[:head]
    for piece in _PIECES.findall(line[head:]):
        if now.strip() and not piece.isspace() and cells(now + piece) > room:
            yield now.rstrip()
            now = indent
        now += piece
    yield now.rstrip()


def folded(line: str, room: int) -> Iterator[str]:
    """A line, or several of at most ``room`` columns, unless that is 0; those below are indented.

    It is broken at spaces, and inside of a word only where the word is longer than a line.

    >>> print(*folded("  needs b to fail, which is ready", 20), sep="\\n")
      needs b to fail,
        which is ready
    """
    if not room or cells(line) <= room:
        yield line
        return
    room = max(room, _NARROWEST)
    indent = " " * min(len(line) - len(line.lstrip()) + 2, room // 2)
    now, used = "", 0
    for piece in _PIECES.findall(line):
        wide = cells(piece)
        if used + wide > room and (piece.isspace() or wide <= room - len(indent)):
            if now.strip():
                yield now.rstrip()
            now, used = indent, len(indent)
            if piece.isspace():
                continue
        while used + wide > room:  # a word that is longer than a line
            fits = _fitting(piece, room - used)
            if now + piece[:fits] != indent:
                yield (now + piece[:fits]).rstrip()
            now, used, piece = indent, len(indent), piece[fits:]
            wide = cells(piece)
        if piece.strip() or now != indent:
            now, used = now + piece, used + wide
    if now.strip():
        yield now.rstrip()


def _fitting(word: str, room: int) -> int:
    """How many letters of a word fit into so many columns."""
    taken = 0
    for number, letter in enumerate(word):
        taken += cells(letter)
        if taken > room:
            return number
    return len(word)
