"""Tables and lines of text that fit a terminal; in a narrow one a row stands on several lines."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

_NARROWEST = 8  # columns; a line is never folded to fewer


def aligned(
    rows: Sequence[Sequence[str]], left: int, room: int = 0, names: int | None = None
) -> Iterator[str]:
    """Lines of a table, headings first; the first ``left`` columns begin at the left.

    Where a line would be longer than ``room``, unless that is 0, each row becomes a line of its
    ``names`` (so many first columns; None: those at the left), and a line for each other column.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if room and sum(widths) + 2 * (len(widths) - 1) > room:
        yield from _below(rows, left, left if names is None else names, room)
        return
    for row in rows:
        yield "  ".join(
            text.ljust(width) if at < left else text.rjust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()


def _below(rows: Sequence[Sequence[str]], left: int, names: int, room: int) -> Iterator[str]:
    headings, *others = rows
    width = max((len(heading) for heading in headings[names:]), default=0)
    numbers = max((len(text) for row in others for text in row[left:]), default=0)
    for row in others:
        yield from folded("  ".join(filter(None, row[:names])), room)
        for at in range(names, len(row)):
            text = row[at] if at < left else row[at].rjust(numbers)
            if headings[at] or text:
                yield from folded(f"  {headings[at].ljust(width)}  {text}".rstrip(), room)


def folded(line: str, room: int) -> Iterator[str]:
    """A line, or several of at most ``room`` columns, unless that is 0; those below are indented.

    It is broken at spaces, and inside of a word only where the word is longer than a line.

    >>> print(*folded("  needs b to fail, which is ready", 20), sep="\\n")
      needs b to fail,
        which is ready
    """
    if not room or len(line) <= room:
        yield line
        return
    room = max(room, _NARROWEST)
    indent = min(len(line) - len(line.lstrip()) + 2, room // 2)
    yield from textwrap.wrap(
        line, room, subsequent_indent=" " * indent, expand_tabs=False, replace_whitespace=False,
        break_on_hyphens=False,
    )  # fmt: skip
