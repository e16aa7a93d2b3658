"""From the bytes that sacct printed to rows of fields.

sacct escapes nothing: delimiters and newlines of job names, comments and command lines stand in
its output as they are. Physical lines are joined until the next one that begins a record, and a
record with too many fields is split so that every column has a value of its kind. Where several
splits are possible, the texts on which they differ are left out; where they differ on anything
else, or none is possible, the record is bad: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import BinaryIO, NamedTuple

from sssjob.accounting.lines import blocks, clean
from sssjob.accounting.record import Bad, Skipped
from sssjob.accounting.slurm_header import SURPLUS_LIMIT, Begin, Header, header
from sssjob.document.text import clean as clean_text
from sssjob.errors import UnusableInput

RECORD_LIMIT = 1 << 20  # bytes
LINES_LIMIT = 1000
RESTART_LIMIT = 8  # lines within a record that may begin another, and are tried as such


class Row(NamedTuple):
    """One record: the line that it begins in, and its fields in the order of the header.

    The fields of columns in doubt are empty.
    """

    line: int
    fields: list[str]
    doubtful: tuple[str, ...] = ()


class Reader:
    """Reads the rows of a stream; ``header`` is the one that the last row belongs to."""

    def __init__(
        self, known: Iterable[str], columns: Iterable[str] = (), delimiter: str = ""
    ) -> None:
        self._known = tuple(known)
        self._delimiter = delimiter
        self.header: Header | None = None
        if names := tuple(columns):
            delimiter = delimiter or "|"
            self.header = header(delimiter.join(names), self._known, delimiter)
            if self.header is None:
                raise UnusableInput("the columns hold no JobID, or what is no column name")

    def rows(self, stream: BinaryIO) -> Iterator[Row | Skipped | Bad]:
        """Every record of a stream. Raises ``UnusableInput`` where the columns are not known."""
        group: list[str] = []
        alone: list[str] | None = None  # the fields of a group of one line, where they are whole
        begun, size, tainted = 0, 0, False
        for number, line in self._lines(stream):
            head = self.header_now
            fields = head.split(line)
            begins = head.begins_record(fields)
            if begins is Begin.SURELY and not (not head.has_texts and self._another(line)):
                if alone is not None:
                    yield Row(begun, alone)
                    tainted = False
                elif group:
                    outcomes, tainted = self._settled(group, begun, tainted)
                    yield from outcomes
                whole = len(fields) == len(head.names)
                group, alone, begun = [line], fields if whole else None, number
                size = len(line)
                continue
            if begins is not Begin.PERHAPS and (new := self._another(line)):
                outcomes, tainted = self._settled(group, begun, tainted)
                yield from outcomes
                yield Skipped(number, "header")
                self.header, group, alone = new, [], None
                continue
            if not group:
                if not line.strip():
                    continue
                begun, size = number, 0
            alone = None
            size += len(line) + 1
            if size <= RECORD_LIMIT and len(group) <= LINES_LIMIT:
                group.append(line)
            elif not group or group[-1] is not _CUT:
                group.append(_CUT)
        yield from self._settled(group, begun, tainted)[0]

    def _lines(self, stream: BinaryIO) -> Iterator[tuple[int, str]]:
        """The physical lines behind the first header, with their numbers."""
        number = 0
        for block in blocks(stream, RECORD_LIMIT):
            begin = 0
            if self.header is None:
                raw = clean(block, (self._delimiter or _DELIMITERS).encode())
                begin = self._first(raw.split("\n"), number)
                if self.header is None:
                    number += begin
                    continue
            text = clean(block, self.header.delimiter.encode())
            for line in text.split("\n")[begin:]:
                yield number + begin + 1, line
                number += 1
            number += begin
        if self.header is None:
            raise UnusableInput("nothing to read: not even a header line")

    def _first(self, lines: list[str], before: int) -> int:
        """Find the header in the first lines, and give the number of lines that it ends."""
        for index, line in enumerate(lines, start=1):
            text = line.removeprefix("\ufeff")
            if not text.strip() or text.startswith("#"):
                continue
            self.header = header(text, self._known, self._delimiter)
            if self.header is None:
                raise UnusableInput(
                    "no header line: expected column names such as JobID|User|State "
                    "(sacct without --noheader), or name the columns",
                    before + index,
                )
            return index
        return len(lines)

    def _another(self, line: str) -> Header | None:
        """The header of another file that was appended to this one."""
        if "JobID" not in line or len(line) > 8192:
            return None
        found = header(line.removeprefix("\ufeff"), self._known, self._delimiter)
        return found if found and set(found.names) <= {*self._known, ""} else None

    def _settled(self, group: list[str], line: int, tainted: bool) -> tuple[list[Row | Bad], bool]:
        """What a group of lines is, and whether its last record was cut short.

        After a record that was cut short, one that does not fit by itself is bad as well: the two
        may be pieces of a text that imitates a record.
        """
        if not group:
            return [], tainted
        # A reading in which no text holds a delimiter needs less to be so than any other.
        readings = self._readings(group, line, tainted, exact=True)
        readings = readings or self._readings(group, line, tainted, exact=False)
        if len(readings) == 1:
            return list(readings[0]), False
        whole = self._record(group, line, tainted)
        if readings or isinstance(whole, Row):
            return [Bad(line, "lines in it may be records or part of a text")], True
        if not tainted and self._only_first(group):
            first = Row(line, self.header_now.split(group[0]))
            return [first, Bad(line + 1, "not part of any record")], False
        # A line that may begin a record could be lost in a text of which nothing is certain.
        if not tainted and not self._perhaps(group):
            whole = self._record(group, line, tainted, doubtful=True)
        return [whole], isinstance(whole, Bad)

    def _readings(
        self, group: list[str], line: int, tainted: bool, exact: bool
    ) -> list[tuple[Row, ...]]:
        """Up to two ways to part a group into records at lines that may begin one.

        In an exact one every record has as many delimiters as it needs.
        """
        starts = [0, *self._perhaps(group)]
        # found[n]: ways to read the lines from starts[n] on.
        found: dict[int, list[tuple[Row, ...]]] = {len(starts): [()]}
        for first in range(len(starts) - 1, -1, -1):
            ways: list[tuple[Row, ...]] = []
            for after in range(first + 1, len(starts) + 1):
                if len(ways) > 1 or not found[after]:
                    continue
                end = starts[after] if after < len(starts) else len(group)
                begin = starts[first]
                if exact and not self._has_width(group[begin:end]):
                    continue
                row = self._strictly(group[begin:end], line + begin, tainted and not begin)
                if isinstance(row, Row):
                    ways.extend((row, *rest) for rest in found[after])
            found[first] = ways[:2]
        return found[0]

    def _has_width(self, group: list[str]) -> bool:
        head = self.header_now
        return len(head.split("\n".join(group))) == len(head.names)

    def _perhaps(self, group: list[str]) -> list[int]:
        head = self.header_now
        inner = (
            index
            for index in range(1, len(group))
            if group[index] is not _CUT
            and head.begins_record(head.split(group[index])) is Begin.PERHAPS
        )
        return list(islice(inner, RESTART_LIMIT))

    @property
    def header_now(self) -> Header:
        """The header, once it is known."""
        assert self.header is not None
        return self.header

    def _only_first(self, group: list[str]) -> bool:
        """Whether the first of several lines is a record by itself."""
        head = self.header_now
        return len(group) > 1 and group[-1] is not _CUT and head.whole(head.split(group[0]))

    def _strictly(self, group: list[str], line: int, tainted: bool) -> Row | Bad:
        """Like ``_record``, but what follows a whole line can only belong to its last text."""
        if not tainted and self._only_first(group):
            if self.header_now.shapes[-1] is not None:
                return Bad(line, "lines behind a whole record")
            *fields, last = self.header_now.split(group[0])
            return Row(line, [*fields, "\n".join([last, *group[1:]]).rstrip("\n")])
        return self._record(group, line, tainted)

    def _record(
        self, group: list[str], line: int, tainted: bool, *, doubtful: bool = False
    ) -> Row | Bad:
        """The record of a group of lines; one with texts in doubt only if those are wanted."""
        head = self.header_now
        if group[-1] is _CUT:
            return Bad(line, f"longer than {RECORD_LIMIT} bytes or {LINES_LIMIT} lines")
        fields = head.split("\n".join(group).rstrip("\n"))
        width = len(head.names)
        if len(fields) == width and (len(group) == 1 or head.whole(fields)):
            return Row(line, fields)
        if tainted:
            return Bad(line, "not a whole record, after another that is none")
        if len(fields) < width:
            return Bad(line, f"{_fields(len(fields))} where the header has {width}")
        if len(fields) - width >= SURPLUS_LIMIT:
            return Bad(line, f"more than {width + SURPLUS_LIMIT - 1} fields")
        found = f"{_fields(len(fields))} where the header has {width}: a delimiter in a text"
        split = head.resplit(fields)
        if split is None:
            return Bad(line, f"{found}, and the columns do not fit")
        names = tuple(head.names[index] for index in split.doubtful)
        if names and not (doubtful and all(map(head.can_miss, split.doubtful))):
            return Bad(line, f"{found}, and {', '.join(names)} cannot be told apart")
        for index in split.doubtful:
            split.fields[index] = ""
        # A delimiter that a document cannot hold stands in a text now.
        return Row(line, [clean_text(text) for text in split.fields], names)


_DELIMITERS = "\x1c\x1d\x1e\x1f"  # what control characters may delimit the names of a header
_CUT = "\0cut"  # stands for lines that were not kept; no clean line holds a NUL


def _fields(count: int) -> str:
    return f"{count} field{'' if count == 1 else 's'}"
