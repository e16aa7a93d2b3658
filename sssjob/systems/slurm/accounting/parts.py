"""Where the output of sacct can be cut: before an allocation that surely begins a record."""

from __future__ import annotations

from collections.abc import Iterator

from sssjob.records.cutting import Part
from sssjob.records.record import Options
from sssjob.systems.slurm.accounting.headers import HeaderLine, TableHeaders, first_within, named
from sssjob.systems.slurm.accounting.table import COLUMNS

_TAILS = (1 << 13, 1 << 16)  # bytes before the end in which a boundary is looked for at first


class TableCutter:
    """Cuts between two whole records of which the second is no step, and before a header line.

    There a reader knows nothing of what stood before but the headers, which become columns of the
    next part.
    """

    def __init__(self, options: Options, front: tuple[tuple[int, bytes], ...] = ()) -> None:
        self.options = options
        self.front = front

    def cut(self, data: bytes, line: int, *, final: bool) -> tuple[Part | None, int]:
        """The part that the data begins with, and its bytes.

        Raises ``UnusableInput`` where there is no header line and no columns are named.
        """
        options = self.options
        lines = list(self._headers(data, line))
        size = len(data)
        if not final:
            size = self._boundary(data, lines[-1]) if lines else 0
            if not size and len(lines) > 1:
                size = lines.pop().begin
        if not size:
            return None, 0
        if lines:
            self.options = lines[-1].headers.options(options)
        return Part(data[:size], line, options), size

    def _headers(self, data: bytes, line: int) -> Iterator[HeaderLine]:
        """The headers that are known, and those in the data, whose first line has this number."""
        headers, begin = named(COLUMNS, self.options), 0
        whole = data[: data.rfind(b"\n") + 1]
        if headers is None:
            found = first_within(whole, line, COLUMNS, self.options.delimiter)
            if found is None:
                return
            headers, begin = found.headers, found.end
        elif line == 1:
            headers = headers.of_beginning(data)
        yield HeaderLine(0, begin, headers)
        yield from headers.within(whole, begin)

    def _boundary(self, data: bytes, behind: HeaderLine) -> int:
        """How many bytes stand before the last boundary behind a header line."""
        end = data.rfind(b"\n") + 1
        for width in (*_TAILS, end):
            begin = max(data.rfind(b"\n", 0, max(end - width, 0)) + 1, behind.end)
            if found := _last(data[begin:end], behind.headers):
                return begin + found
        return 0


def _last(data: bytes, headers: TableHeaders) -> int:
    """How many bytes of some lines stand before the last two that are whole records."""
    raw = data.split(b"\n")[:-1]
    lines = [line for each in raw for line in headers.lines(each)]
    owners, rows = headers.owners(lines)
    # What follows the last line is not seen: it may belong to it.
    for place in range(len(lines) - 1, 0, -1):
        head = owners[place]
        if head and owners[place - 1] and "." not in rows[place][head.key]:
            return sum(len(line) + 1 for line in raw[:place])
    return 0
