"""Where the output of sacct can be cut: before an allocation that surely begins a record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from sssjob.records.cutting import Part
from sssjob.records.lines import clean
from sssjob.records.record import Options
from sssjob.systems.slurm.accounting.header import Header
from sssjob.systems.slurm.accounting.lines import DELIMITERS, TableReader
from sssjob.systems.slurm.accounting.table import COLUMNS

_TAILS = (1 << 13, 1 << 16)  # bytes before the end in which a boundary is looked for at first


class _HeaderLine(NamedTuple):
    """A header, and where its line begins and ends in some data; it may be known before."""

    header: Header
    begin: int = 0
    end: int = 0


class TableCutter:
    """Cuts between two whole records of which the second is no step, and before a header line.

    There a reader knows nothing of what stood before but the header, which becomes the columns
    of the next part.
    """

    def __init__(self, options: Options, front: tuple[tuple[int, bytes], ...] = ()) -> None:
        self.options = options
        self.front = front

    def cut(self, data: bytes, line: int, *, final: bool) -> tuple[Part | None, int]:
        """The part that the data begins with, and its bytes.

        Raises ``UnusableInput`` where there is no header line and no columns are named.
        """
        options = self.options
        heads = list(self._heads(data, line))
        size = len(data)
        if not final:
            size = self._boundary(data, heads[-1]) if heads else 0
            if not size and len(heads) > 1:
                size = heads.pop().begin
        if not size:
            return None, 0
        if heads:
            head = heads[-1].header
            self.options = replace(options, columns=head.names, delimiter=head.delimiter)
        return Part(data[:size], line, options), size

    def _heads(self, data: bytes, line: int) -> Iterator[_HeaderLine]:
        """The header that is known, and those in the data, whose first line has this number."""
        reader = TableReader(COLUMNS, self.options.columns, self.options.delimiter, line)
        reader.begin(data)
        position = 0
        if reader.header is None:
            keep = (self.options.delimiter or DELIMITERS).encode()
            while reader.header is None and (end := data.find(b"\n", position) + 1):
                reader.first([clean(data[position : end - 1], keep)], 0)
                position = end
        if reader.header is None:
            return
        yield _HeaderLine(reader.header, 0, position)
        while (found := data.find(b"JobID", position)) >= 0:
            begin, end = data.rfind(b"\n", 0, found) + 1, data.find(b"\n", found) + 1
            if not end:
                return
            keep = reader.header.delimiter.encode()
            if begin >= position and (new := reader.another(clean(data[begin : end - 1], keep))):
                reader.header = new
                yield _HeaderLine(new, begin, end)
            position = end

    def _boundary(self, data: bytes, head: _HeaderLine) -> int:
        """How many bytes stand before the last boundary behind a header."""
        end = data.rfind(b"\n") + 1
        for width in (*_TAILS, end):
            begin = max(data.rfind(b"\n", 0, max(end - width, 0)) + 1, head.end)
            if found := _last(data[begin:end], head.header):
                return begin + found
        return 0


def _last(data: bytes, head: Header) -> int:
    """How many bytes of some lines stand before the last two that are whole records."""
    raw = data.split(b"\n")[:-1]
    keep = head.delimiter.encode()
    rows = [head.split(clean(line, keep)) for line in raw]
    whole = head.records(rows)
    # What follows the last line is not seen: it may belong to it.
    for place in range(len(rows) - 1, 0, -1):
        if whole[place] and whole[place - 1] and "." not in rows[place][head.key]:
            return sum(len(line) + 1 for line in raw[:place])
    return 0
