"""Tables of texts: in columns, or below each other where a terminal is too narrow for that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def aligned(rows: Sequence[Sequence[str]], left: int, room: int = 0) -> Iterator[str]:
    """Lines of a table, headings first; the first ``left`` columns begin at the left.

    Where a line would be longer than ``room``, unless that is 0, each row becomes a line of its
    names, and a line for each of its numbers.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if room and sum(widths) + 2 * (len(widths) - 1) > room:
        yield from _below(rows, left)
        return
    for row in rows:
        yield "  ".join(
            text.ljust(width) if at < left else text.rjust(width)
            for at, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()


def _below(rows: Sequence[Sequence[str]], left: int) -> Iterator[str]:
    headings, *others = rows
    names = max((len(heading) for heading in headings[left:]), default=0)
    numbers = max((len(text) for row in others for text in row[left:]), default=0)
    for row in others:
        yield "  ".join(filter(None, row[:left]))
        for heading, text in zip(headings[left:], row[left:], strict=True):
            yield f"  {heading.ljust(names)}  {text.rjust(numbers)}"
