"""The header lines of a table, and which of them each line belongs to.

Files of several writers are appended to each other, and writers append to one file in turn. So
behind a header line records of an earlier one may go on, with other columns or another delimiter.

A line belongs to the latest header of which it is a whole record. One that begins a record of the
latest in any other way stays with that; any other line is what the line before it goes on with.
What decides is the line and the header lines before it, so that it is the same wherever a file is
cut. # decision 1099
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from sssjob.errors import UnusableInput
from sssjob.records.lines import clean
from sssjob.records.record import NamedColumns, Options
from sssjob.systems.slurm.accounting.header import Begin, Header, header

LIMIT = 8  # headers that are remembered
LINE_LIMIT = 8192  # characters of a header line that is not the first
DELIMITERS = "\x1c\x1d\x1e\x1f"  # what control characters may delimit the names of a header
_FIRST = 8  # lines that tell whether each ends with a delimiter

_NO_HEADER = (
    "no header line: expected column names such as JobID|User|State (sacct without --noheader), "
    "or name the columns"
)
_ALIGNED = (
    "columns aligned by blanks, which values have, too: print them with a delimiter, by "
    "sacct --parsable2"
)


class HeaderLine(NamedTuple):
    """Where a header line begins and ends in some data, and the headers from there on."""

    begin: int
    end: int
    headers: TableHeaders


class TableHeaders:
    """The headers of a table so far, the latest first.

    ``known`` are all names of columns that there are.
    """

    def __init__(self, known: Sequence[str], heads: Sequence[Header]) -> None:
        self.known, self.heads = known, tuple(heads)
        self.latest, self._earlier = self.heads[0], self.heads[1:]
        delimiters = "".join(head.delimiter for head in self.heads)
        self._kept = delimiters.encode()
        control = {mark for mark in delimiters if mark < " " and mark != "\t"}
        self._foreign = [
            {ord(mark): None for mark in control if mark not in head.delimiter}
            for head in self.heads
        ]

    # decision 1090
    def of_beginning(self, data: bytes) -> TableHeaders:
        """The same at the first lines of a stream whose columns are named.

        ``sacct --parsable`` puts a delimiter behind each line, as behind that of a header, where it
        has one: behind it stands an empty field, which is no column.
        """
        head = self.latest
        lines = data.split(b"\n", _FIRST)[:_FIRST]
        rows = head.split_all(self.lines(b"\n".join(lines)))
        ended = Header((*head.names, ""), head.delimiter)
        if sum(ended.is_record(row) and not row[-1] for row in rows) > sum(
            map(head.is_record, rows)
        ):
            return TableHeaders(self.known, (ended, *self._earlier))
        return self

    def then(self, new: Header) -> TableHeaders:
        """These behind the line of a header, which may be one of them."""
        same = [head for head in self.heads if _columns(head) == _columns(new)]
        others = [head for head in self.heads if head not in same]
        return TableHeaders(self.known, [*(same or [new]), *others][:LIMIT])

    def lines(self, raw: bytes) -> list[str]:
        """Lines as text; the delimiters of every header are still in it."""
        return clean(raw, self._kept).split("\n")

    def of_line(self, raw: bytes) -> TableHeaders | None:
        """The headers behind a line that is the header of another file, which was appended."""
        line = clean(raw, self._kept + DELIMITERS.encode())
        if "JobID" not in line or len(line) > LINE_LIMIT:
            return None
        line = line.removeprefix("\ufeff")
        for delimiter in (*(head.delimiter for head in self.heads), ""):
            found = header(line, self.known, delimiter)
            if found and self._is_expected(found):
                return self.then(found)
        return None

    def _is_expected(self, new: Header) -> bool:
        """Whether names are those of a header: of one that there was, or most of them known."""
        if any(_columns(head) == _columns(new) for head in self.heads):
            return True
        names = [name for name in new.names if name]
        return 2 * sum(name in self.known for name in names) > len(names)

    def within(self, data: bytes, begin: int = 0) -> Iterator[HeaderLine]:
        """The header lines in some lines, from a place on."""
        now = self
        while (found := data.find(b"JobID", begin)) >= 0:
            start, end = data.rfind(b"\n", 0, found) + 1, data.find(b"\n", found)
            end = len(data) if end < 0 else end
            if start >= begin and (new := now.of_line(data[start:end])):
                now = new
                yield HeaderLine(start, end + 1, now)
            begin = end + 1

    def fields(self, head: Header, line: str) -> list[str]:
        """The fields of a line as one of a header."""
        return head.split(self.own(head, line))

    def own(self, head: Header, line: str) -> str:
        """A line as one of a header: without control characters that delimit those of others."""
        foreign = self._foreign[self.heads.index(head)]
        return line.translate(foreign) if foreign else line

    def owners(self, lines: list[str]) -> tuple[list[Header | None], list[list[str]]]:
        """Of which header each line is a whole record, if it is, and its fields then."""
        latest = self.latest
        rows = latest.split_all(self.all_own(latest, lines))
        owners = [latest if is_record else None for is_record in latest.records(rows)]
        if self._earlier:
            for at, owner in enumerate(owners):
                if owner is None and (found := self._earlier_owner(lines[at], rows[at])):
                    owners[at] = found
                    rows[at] = self.fields(found, lines[at])
        return owners, rows

    def all_own(self, head: Header, lines: list[str]) -> list[str]:
        """Many lines likewise."""
        if not self._foreign[self.heads.index(head)]:
            return lines
        return [self.own(head, line) for line in lines]

    def _earlier_owner(self, line: str, of_latest: list[str]) -> Header | None:
        if _begins(self.latest, of_latest):
            return None
        return next(
            (head for head in self._earlier if head.is_record(self.fields(head, line))), None
        )

    def begun_by(self, line: str) -> Header | None:
        """The latest header of which a line surely begins a record, that has texts.

        Any line may begin one of a header without texts.
        """
        return next((head for head in self.heads if _begins(head, self.fields(head, line))), None)

    def damaged(self, line: str, now: Header) -> Header | None:
        """Whose record a line is but for some delimiters: that of this header, or the latest."""
        heads = chain((now,), self.heads)
        return next((head for head in heads if head.is_damaged(self.fields(head, line))), None)

    def other_owner(self, head: Header, line: str) -> Header | None:
        """Another header of which a line is a whole record, with a fit value in each column."""
        for other in self.heads:
            if other is not head:
                fields = self.fields(other, line)
                if other.is_whole(fields) and other.is_record(fields):
                    return other
        return None

    def options(self, options: Options) -> Options:
        """Those for the reader of the lines behind them."""
        latest, *earlier = map(_columns, self.heads)
        return replace(
            options, columns=latest.names, delimiter=latest.delimiter, earlier=tuple(earlier)
        )


def named(known: Sequence[str], options: Options) -> TableHeaders | None:
    """The headers that are known before the first line.

    Raises ``UnusableInput`` for columns that are those of no header.
    """
    if not options.columns:
        return None
    latest = NamedColumns(options.columns, options.delimiter or "|")
    heads = [
        header(each.delimiter.join(each.names), known, each.delimiter)
        for each in (latest, *options.earlier)
    ]
    if heads[0] is None:
        raise UnusableInput("the columns hold no JobID, or what is no column name")
    return TableHeaders(known, [*filter(None, heads)])


def first_within(
    data: bytes, number: int, known: Sequence[str], delimiter: str
) -> HeaderLine | None:
    """The first header line, in lines of which the first has this number; None behind comments.

    Raises ``UnusableInput`` where another line is there.
    """
    begin, keep = 0, (delimiter or DELIMITERS).encode()
    while begin < len(data):
        end = data.find(b"\n", begin)
        end = len(data) if end < 0 else end
        line = clean(data[begin:end], keep).removeprefix("\ufeff")
        if line.strip() and not line.startswith("#"):
            found = header(line, known, delimiter)
            if found is None:
                raise UnusableInput(_ALIGNED if _is_aligned(line) else _NO_HEADER, number)
            return HeaderLine(begin, end + 1, TableHeaders(known, [found]))
        begin, number = end + 1, number + 1
    return None


def _is_aligned(line: str) -> bool:
    """Whether a line is the header of sacct without ``--parsable2``."""
    words = line.split()
    return len(words) > 1 and words[0].startswith("JobID") and all(map(str.isidentifier, words))


def _begins(head: Header, fields: list[str]) -> bool:
    return head.has_texts and head.begins_record(fields) is Begin.SURELY


def _columns(head: Header) -> NamedColumns:
    return NamedColumns(head.names, head.delimiter)
