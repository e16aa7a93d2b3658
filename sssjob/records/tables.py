"""Tables of lines, such as CSV, of which a header line names the columns.

A header stands above its records, and wherever a file was appended to another one. So the last one
above goes with each part of a stream (``Part.front``), and whoever reads the part meets it first.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from sssjob.errors import InvalidValue, UnusableInput
from sssjob.library_words import csv_fault
from sssjob.records.clock import Clock
from sssjob.records.cuts import Lines
from sssjob.records.cutting import Front, LineCutter, Part
from sssjob.records.layout import NoRecord, Read, Reader
from sssjob.records.lines import LINE_LIMIT, clean
from sssjob.records.record import Options

_MARK = "\ufeff"
_FIRST = 64  # lines among which one that is not blank is looked for
_NO_DELIMITERS = '"\r\n'

ReadRow = Callable[[int, Mapping[str, str]], Read | list[Read] | None]


@dataclass(frozen=True, slots=True)
class HeaderTable:
    """A table whose header lines have the ``needed`` names, in any order and among others.

    One character, the ``delimiter``, stands between two fields; what is in double quotes may hold
    it, as in CSV. A ``Layout`` has its ``cut`` and ``reader``; with ``is_table`` there a
    user may name the columns of a table without a header line, and its delimiter.

    >>> table = HeaderTable(("id", "end"))
    >>> table.recognises(b"id,user,end\\n1,amy,5\\n"), table.recognises(b"1,2,3\\n")
    ('a header line with id, end', '')
    """

    needed: Sequence[str]
    delimiter: str = ","

    @property
    def cut(self) -> Lines:
        """Each line is a piece, and so is a header line above a part."""
        return Lines(cutter=partial(_BelowHeaderCutter, self))

    def reader(self, read: ReadRow) -> Callable[[Options, Clock], Reader]:
        """What reads each record by ``read``, which is given its line and its fields by name."""

        def of_stream(options: Options, clock: Clock) -> Reader:
            return _BelowHeaderReader(self, options, read).line

        return of_stream

    def recognises(self, head: bytes) -> str:
        """What in the first bytes of a file tells that it is this table, or ""."""
        first = next(filter(str.strip, map(clean, head.split(b"\n"))), "")
        return f"a header line with {', '.join(self.needed)}" if self.names(first) else ""

    def names(self, line: str, delimiter: str = "") -> Sequence[str]:
        """The names of the columns, if a line is a header; none of any other one."""
        if len(line) > LINE_LIMIT or not all(name in line for name in self.needed):
            return ()
        try:
            names = fields(line, delimiter or self.delimiter)
        except InvalidValue:
            return ()
        is_header = {*self.needed} <= {*names} and len({*names}) == len(names)
        return tuple(names) if is_header else ()

    def begins(self, data: bytes, line: int, delimiter: str) -> None:
        """Raise ``UnusableInput`` for lines that begin with a record: no header is above it."""
        for number, raw in enumerate(data.split(b"\n", _FIRST)[:_FIRST], line):
            if (text := clean(raw)).strip():
                if not self.names(text, delimiter):
                    raise self.missing(number)
                return

    def missing(self, line: int) -> UnusableInput:
        """What is wrong where a record has no header line above it, and no columns are named."""
        return UnusableInput(f"no header line with the columns {', '.join(self.needed)}", line)


def fields(line: str, delimiter: str) -> list[str]:
    """The fields of a line. Raises ``InvalidValue`` for quotes that are not as in CSV.

    >>> fields('1,"x, y",', ",")
    ['1', 'x, y', '']
    """
    try:
        return next(csv.reader([line.removeprefix(_MARK)], delimiter=delimiter, strict=True), [])
    except csv.Error as wrong:
        raise NoRecord(f"its fields cannot be told apart: {csv_fault(wrong)}") from wrong


def _delimiter(table: HeaderTable, options: Options) -> str:
    """That of the table, or the user's. Raises ``UnusableInput`` for one that cannot be."""
    delimiter = options.delimiter or table.delimiter
    if len(delimiter) != 1 or delimiter in _NO_DELIMITERS:
        raise UnusableInput(f"{delimiter!r} is no character that separates the fields of a table")
    return delimiter


class _BelowHeaderCutter(LineCutter):
    """Cuts where a line ends; the last header line above goes with a part."""

    def __init__(self, table: HeaderTable, options: Options, front: Front = ()) -> None:
        super().__init__(options, front)
        self._table, self._delimiter = table, _delimiter(table, options)
        self._sign = max(table.needed, key=len).encode()

    def cut(self, data: bytes, line: int, *, final: bool) -> tuple[Part | None, int]:
        """The whole lines, with the header above them."""
        part, size = super().cut(data, line, final=final)
        if not self.front and not self.options.columns:
            self._table.begins(data[:size], line, self._delimiter)
        self.front = self._last(data[:size], line) or self.front
        return part, size

    def _last(self, data: bytes, line: int) -> Front:
        """The last header line in some lines."""
        at = len(data)
        while (at := data.rfind(self._sign, 0, at)) >= 0:
            begin = data.rfind(b"\n", 0, at) + 1
            raw = data[begin:].partition(b"\n")[0]
            if self._table.names(clean(raw), self._delimiter):
                return ((line + data.count(b"\n", 0, begin), raw),)
            at = begin
        return ()


class _BelowHeaderReader:
    """Reads the lines of a stream, below the header that was met."""

    def __init__(self, table: HeaderTable, options: Options, read: ReadRow) -> None:
        self._table, self._read = table, read
        self._delimiter = _delimiter(table, options)
        self._names: Sequence[str] = options.columns

    def line(self, line: int, text: str) -> Read | list[Read] | None:
        """What a line is; a header is none. Raises ``InvalidValue``, or ``UnusableInput``."""
        if names := self._table.names(text, self._delimiter):
            self._names = names
            return None
        if not self._names:
            raise self._table.missing(line)
        found = fields(text, self._delimiter)
        if len(found) != len(self._names):
            raise NoRecord(f"{len(found)} fields where there are {len(self._names)} columns")
        return self._read(line, dict(zip(self._names, found, strict=True)))
