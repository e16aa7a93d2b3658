"""From the bytes that sacct printed to rows of fields.

Strategy. sacct escapes nothing: delimiters and newlines of job names, comments and command lines
stand in its output as they are. A user could so write a text that looks like a record of somebody
else.

The idea is that most columns have values that no user chooses freely, and that these have shapes
(``header``). Physical lines are joined until the next one that surely begins a record. Lines that
perhaps begin one are tried both ways, and a record with too many fields is split in every way in
which each column has a value of its kind.

Why it is right: nothing is guessed. Readings in which each record has as many delimiters as it
needs come before all others; if two readings are left, the record is bad. Where several splits
are possible, the texts on which they differ are left out, and the row says which; where they
differ on anything else, or none is possible, the record is bad. After a record that was cut
short, one that does not fit by itself is bad as well: the two may be pieces of one text. Runs of
lines that are whole records, which is nearly all of a log, take a short way: each but the last
ends where the next one surely begins. Lines, bytes and tries of one record are bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice, repeat
from typing import BinaryIO, NamedTuple

from sssjob.document.text import clean as clean_text
from sssjob.errors import UnusableInput
from sssjob.records.layout import Names
from sssjob.records.lines import TWO_RECORDS, Blocks
from sssjob.records.record import Bad, Options, Skipped
from sssjob.records.regular import ROAD, Regular, part, regular
from sssjob.records.texts import BulkColumn, Numbers
from sssjob.systems.slurm.accounting.header import JOB_ID, SURPLUS_LIMIT, Begin, Header
from sssjob.systems.slurm.accounting.headers import TableHeaders, first_within, named

RECORD_LIMIT = 1 << 20  # bytes
LINES_LIMIT = 1000
_LIMITS = f"{RECORD_LIMIT} bytes or {LINES_LIMIT} lines"
_LOOK, _SELDOM = 1 << 14, 8  # bytes that tell whether more than one line in so many is of a step
RESTART_LIMIT = 8  # lines within a record that may begin another, and are tried as such


class JoinedLines(NamedTuple):
    """What a record was joined of: so many lines behind its first, and fields of some columns.

    Of columns in doubt it is not known which fields are theirs. It ``may_be_two`` records of which
    the first was cut short.
    """

    lines: int
    in_doubt: tuple[str, ...] = ()
    may_be_two: bool = False


class SacctRow(NamedTuple):
    """One record: the line that it begins in, the names of its columns, and their fields.

    The fields of columns in doubt are empty.
    """

    line: int
    names: Names
    fields: list[str]
    joined: JoinedLines | None = None


class RowRun(NamedTuple):
    """Records of one line each, none of them a step, that follow each other from a line on.

    They are those of some columns from one place to before another.
    """

    line: int
    names: Names
    of: Sequence[BulkColumn]
    begin: int
    end: int

    @property
    def size(self) -> int:
        """How many there are."""
        return self.end - self.begin

    @property
    def lines(self) -> range:
        """Their lines."""
        return range(self.line, self.line + self.size)

    def rows(self) -> list[SacctRow]:
        """Each by itself."""
        some = [part(column, self.begin, self.end).list for column in self.of]
        told = zip(self.lines, zip(*some, strict=True), strict=True)
        return [SacctRow(line, self.names, [*texts]) for line, texts in told]

    @classmethod
    def columns(cls, runs: Sequence[RowRun]) -> list[BulkColumn]:
        """The columns of runs of the same columns, behind each other."""
        if len(runs) == 1:
            return [part(column, runs[0].begin, runs[0].end) for column in runs[0].of]
        import numpy as np

        places = np.concatenate([np.arange(run.begin, run.end) for run in runs])
        return [column.take(places) for column in runs[0].of]


Found = SacctRow | RowRun | Skipped | Bad


class _WholeLines(NamedTuple):
    """Lines of a block that follow each other and are surely whole records, as columns."""

    columns: Sequence[BulkColumn]
    begin: int
    end: int


class TableReader:
    """Reads the rows of a stream, which belong to the last of its ``headers`` that they fit.

    ``options`` may name the columns of a table whose lines are read from the ``first`` one
    on. ``cut_short`` is the number of the last line where it has no line end, else 0, and
    ``may_end_in_step`` whether that may be a step of the job before it.
    """

    def __init__(self, known: Sequence[str], options: Options, first: int = 1) -> None:
        self._known, self._options, self._first = known, options, first
        self._headers = named(known, options)
        self.cut_short = 0
        self.may_end_in_step = False
        # The header of the record that is being read, and its lines; its fields, where one line
        # holds them all; and whether the record before it was cut short.
        self._header = self._headers.latest if self._headers else None
        self._group: list[str] = []
        self._alone: list[str] | None = None
        self._begun, self._size, self._tainted = 0, 0, False
        self._varied: tuple[Header | None, set[int]] = None, set()  # columns of a header
        self._stepped: tuple[Header | None, bool] = None, False  # and whether it has steps

    def batches(self, stream: BinaryIO) -> Iterator[list[Found]]:
        """Every record of a stream, many at once, of which all rows have the same names, and all
        runs the same columns.

        Raises ``UnusableInput`` where the columns are not known.
        """
        found: list[Found] = []
        for number, some in self._pieces(stream):
            if isinstance(some, TableHeaders):
                found += [*self._settle(), Skipped(number, "header")]
                self._follow(some)
                self._tainted = False  # what was cut short ends here, too
            if some is None or isinstance(some, TableHeaders):  # runs behind it have other columns
                yield from (
                    _by_names(found) if len(self.headers.heads) > 1 else filter(None, (found,))
                )
                found = []
            elif isinstance(some, _WholeLines):
                found += self._run(number, some)
            else:
                found += self._batch(number, some)
        if self.cut_short and self._group:
            self.may_end_in_step = self._may_be_step(self._group[-1])
        if last := self._last():
            yield [*last]

    def _follow(self, headers: TableHeaders) -> None:
        """These are the headers from here on."""
        self._headers, self._header = headers, headers.latest

    def _run(self, number: int, run: _WholeLines) -> list[Found]:
        """What is known after lines that are whole records, none of them a step."""
        columns, begin, end = run
        first, last = ([column[at] for column in columns] for at in (begin, end - 1))
        head = self.headers.latest
        found: list[Found] = [*self._begin(head, number, head.delimiter.join(first), first)]
        # Each but the last ends where the next one surely begins.
        found.append(RowRun(number, head.names, columns, begin, end - 1))
        self._drop()
        self._begin(head, number + end - 1 - begin, head.delimiter.join(last), last)
        return found

    def _batch(self, number: int, lines: list[str]) -> list[SacctRow | Bad]:
        """What is known after the next lines."""
        found: list[SacctRow | Bad] = []
        index = 0
        owners, rows = self.headers.owners(lines)
        for owner, run in groupby(owners):
            end = index + sum(1 for _ in run)
            if owner is None:
                for at in range(index, end):
                    found += self._take(number + at, lines[at])
            else:
                found += self._whole(owner, number + index, rows[index:end])
            index = end
        return found

    def _whole(self, head: Header, number: int, rows: list[list[str]]) -> list[SacctRow | Bad]:
        """What is known after whole records of a header, one on each line, by their fields.

        Each but the last ends where the next one surely begins.
        """
        found: list[SacctRow | Bad] = []
        delimiter, last = head.delimiter, rows.pop()
        if rows:
            found += self._begin(head, number, delimiter.join(rows[0]), rows[0])
            self._drop()
            numbers = range(number, number + len(rows))
            told = zip(numbers, repeat(head.names), rows, repeat(None))
            found += map(_row, repeat(SacctRow), told)
        line = delimiter.join(last)
        return [*found, *self._begin(head, number + len(rows), line, last)]

    def _take(self, number: int, line: str) -> Sequence[SacctRow | Bad]:
        """What is known after the next line, which is no whole record."""
        if (head := self._beginning(line)) is not None:
            line = self.headers.own(head, line)
            return self._begin(head, number, line, head.split(line))
        if not self._group:
            if not line.strip():
                return ()
            self._begun, self._size = number, 0
        line = self.headers.own(self.header_now, line)
        self._alone = None
        self._size += len(line) + 1
        if self._size <= RECORD_LIMIT and len(self._group) <= LINES_LIMIT:
            self._group.append(line)
        elif not self._group or self._group[-1] is not _CUT:
            self._group.append(_CUT)
        return ()

    def _beginning(self, line: str) -> Header | None:
        """The header of the record that a line surely begins, if it does."""
        if (head := self.headers.begun_by(line)) is not None:
            return head
        now = self.header_now
        if not now.has_texts:
            return now if any(self.headers.fields(now, line)) else None
        damaged = self.headers.damaged(line, now)
        return damaged if damaged and self._is_full() else None  # decision 951

    def _is_full(self) -> bool:
        """Whether the lines that were gathered have all fields of a record."""
        head = self.header_now
        gathered = "\n".join(self._group)
        return self._alone is not None or len(head.split(gathered)) >= len(head.names)

    def _begin(
        self, head: Header, number: int, line: str, fields: list[str]
    ) -> list[SacctRow | Bad]:
        """A line begins a record of a header; what is known of what was gathered before."""
        found = self._settle()
        self._header = head
        self._group, self._begun, self._size = [line], number, len(line)
        self._alone = fields if len(fields) == len(head.names) else None
        return found

    def _drop(self) -> None:
        """What was gathered is a whole record that is told of by others."""
        self._group, self._alone, self._tainted = [], None, False

    def _settle(self) -> list[SacctRow | Bad]:
        """What the lines are that were gathered."""
        group, self._group = self._group, []
        alone, self._alone = self._alone, None
        if alone is not None:
            self._tainted = False
            return [self._row(self._begun, alone)]
        if not group:
            return []
        outcomes, self._tainted = self._settled(group, self._begun, self._tainted)
        return [*outcomes]

    def _last(self) -> list[SacctRow | Bad]:
        """What the last lines are: sacct ends each, so one without its end is no part of a text."""
        if not self.cut_short or len(self._group) < 2 or not self._has_id(self._group[-1]):
            return self._settle()
        self._group.pop()
        return [*self._settle(), Bad(self.cut_short, "the last line is cut short")]

    def _may_be_step(self, line: str) -> bool:
        """Whether a line that was cut may be a step: not where it has the whole id of a job."""
        head = self.header_now
        fields = head.split(line)
        return len(fields) <= head.key + 1 or "." in fields[head.key]

    def _has_id(self, line: str) -> bool:
        head = self.header_now
        fields = head.split(line)
        return len(fields) > head.key and JOB_ID.fullmatch(fields[head.key]) is not None

    def _pieces(
        self, stream: BinaryIO
    ) -> Iterator[tuple[int, list[str] | _WholeLines | TableHeaders | None]]:
        """The physical lines behind the first header, with the number of the first of them.

        Runs of those that are surely whole records, and no steps, come as columns; another header
        line as the headers from there on. Behind those of a block is None.
        """
        blocks = Blocks(stream, self._first, self._wide)
        for number, block in blocks:
            begin = 0
            if self._headers is None:
                found = first_within(block, number, self._known, self._options.delimiter)
                if found is None:
                    continue
                begin = found.end
                self._follow(found.headers)
            elif number == self._first == 1 and self._options.columns:
                self._follow(self._headers.of_beginning(block))
            yield from self._of_block(number, block, begin)
            yield number, None
        self.cut_short = blocks.cut_short
        if self._headers is None:
            raise UnusableInput("nothing to read: not even a header line")

    def _of_block(
        self, number: int, block: bytes, begin: int
    ) -> Iterator[tuple[int, list[str] | _WholeLines | TableHeaders]]:
        """The lines of a block from a place on, between its header lines."""
        number += block.count(b"\n", 0, begin)
        for line in self.headers.within(block, begin):
            if begin < line.begin:
                yield from self._table(number, block[begin : line.begin - 1])
                number += block.count(b"\n", begin, line.begin)
            yield number, line.headers
            number, begin = number + 1, line.end
        if begin < len(block):
            yield from self._table(number, block[begin:])

    def _table(self, number: int, data: bytes) -> Iterator[tuple[int, list[str] | _WholeLines]]:
        """Lines of which none is a header."""
        found = None
        if not self._is_stepped(data) and ROAD.is_open(len(data)):
            found = self._regular(data)
        if found is None:
            yield number, self.headers.lines(data)
        else:
            yield from self._runs(number, found, self.headers.latest.fit(found.columns))

    def _wide(self) -> int:
        return 0 if self._stepped[1] else ROAD.wide()

    def _is_stepped(self, block: bytes) -> bool:
        """Whether a table has steps, as its first lines tell: these are read with their jobs."""
        head = self.headers.latest
        if self._stepped[0] is not head:
            lines = self.headers.lines(block[:_LOOK])
            steps = sum(
                "." in fields[head.key]
                for fields in head.split_all(lines)
                if len(fields) > head.key
            )
            self._stepped = head, steps * _SELDOM > len(lines)
        return self._stepped[1]

    def _regular(self, block: bytes) -> Regular | None:
        """The regular lines of a block, where the latest header allows for columns."""
        head = self.headers.latest
        delimiter, width = head.delimiter, len(head.names)
        is_plain = len(delimiter) == 1 and delimiter.isascii() and delimiter.isprintable()
        if not is_plain or width < 2:
            return None
        if self._varied[0] is not head:
            self._varied = head, set()
        return regular(block, delimiter, width, self._varied[1])

    def _runs(
        self, number: int, found: Regular, fit: Numbers
    ) -> Iterator[tuple[int, list[str] | _WholeLines]]:
        """The lines of a block, runs of them as columns."""
        place, lines = 0, found.lines

        def others(end: int) -> Iterator[tuple[int, list[str]]]:
            if place < end:
                yield number + place, self.headers.lines(lines.of(place, end))

        for begin, at, size in found.runs(fit):
            yield from others(begin)
            yield number + begin, _WholeLines(found.columns, at, at + size)
            place = begin + size
        yield from others(len(lines))

    def _settled(
        self, group: list[str], line: int, tainted: bool
    ) -> tuple[list[SacctRow | Bad], bool]:
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
        if readings or (isinstance(whole, SacctRow) and not _may_be_two(whole)):
            return [Bad(line, "lines in it may be records or part of a text")], True
        if not tainted and self._only_first(group):
            first = self._row(line, self.header_now.split(group[0]))
            return [first, Bad(line + 1, "not part of any record")], False
        if not tainted and group[-1] is _CUT and self._is_one(group[0]):
            first = self._row(line, self.header_now.split(group[0]))
            told = f"more than {_LIMITS} behind a record, and none begins another one: left out"
            return [first, Bad(line + 1, told)], True
        # A line that may begin a record could be lost in a text of which nothing is certain.
        if not tainted and not self._perhaps(group):
            whole = self._record(group, line, tainted, doubtful=True)
        return [whole], isinstance(whole, Bad)

    def _readings(
        self, group: list[str], line: int, tainted: bool, exact: bool
    ) -> list[tuple[SacctRow, ...]]:
        """Up to two ways to part a group into records at lines that may begin one.

        In an exact one every record has as many delimiters as it needs.
        """
        starts = [0, *self._perhaps(group)]
        # found[n]: ways to read the lines from starts[n] on.
        found: dict[int, list[tuple[SacctRow, ...]]] = {len(starts): [()]}
        for first in range(len(starts) - 1, -1, -1):
            ways: list[tuple[SacctRow, ...]] = []
            for after in range(first + 1, len(starts) + 1):
                if len(ways) > 1 or not found[after]:
                    continue
                end = starts[after] if after < len(starts) else len(group)
                begin = starts[first]
                if exact and not self._has_width(group[begin:end]):
                    continue
                row = self._strictly(group[begin:end], line + begin, tainted and not begin)
                if isinstance(row, SacctRow):
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
    def headers(self) -> TableHeaders:
        """The headers so far, once there is one."""
        assert self._headers is not None
        return self._headers

    @property
    def header_now(self) -> Header:
        """The header of the record that is being read."""
        assert self._header is not None
        return self._header

    def _only_first(self, group: list[str]) -> bool:
        """Whether the first of several lines is a record by itself."""
        if len(group) < 2 or group[-1] is _CUT:
            return False
        return self._is_one(group[0])

    def _is_one(self, text: str) -> bool:
        """Whether a line is a record by itself."""
        fields = self.header_now.split(text)
        return self.header_now.is_whole(fields) or self.header_now.is_record(fields)

    def _strictly(self, group: list[str], line: int, tainted: bool) -> SacctRow | Bad:
        """Like ``_record``, but what follows a whole line can only belong to its last text."""
        if not tainted and self._only_first(group):
            if self.header_now.shapes[-1] is not None:
                return Bad(line, "lines behind a whole record")
            *fields, last = self.header_now.split(group[0])
            text = "\n".join([last, *group[1:]]).rstrip("\n")
            return self._row(line, [*fields, text], _joined(group))
        return self._record(group, line, tainted)

    def _record(
        self, group: list[str], line: int, tainted: bool, *, doubtful: bool = False
    ) -> SacctRow | Bad:
        """The record of a group of lines; one with texts in doubt only if those are wanted."""
        head = self.header_now
        if group[-1] is _CUT:
            return Bad(
                line, f"no record of at most {_LIMITS}: left out up to the next that begins one"
            )
        fields = head.split("\n".join(group).rstrip("\n"))
        width = len(head.names)
        if len(fields) == width and (len(group) == 1 or head.is_whole(fields)):
            return self._row(line, fields, _joined(group))
        if tainted:
            return Bad(line, "not a whole record, and neither is the one before it")
        if head.is_record(fields):
            if broken := head.broken(fields):
                return Bad(line, f"a line end within {broken}")
            return self._row(line, fields, _joined(group))
        if len(fields) < width:
            return Bad(line, f"{_fields(len(fields))} where the header has {width}")
        if len(fields) - width >= SURPLUS_LIMIT:
            return Bad(line, f"more than {width + SURPLUS_LIMIT - 1} fields")
        two = head.holds_two(fields)
        if two is Begin.SURELY:
            return Bad(line, TWO_RECORDS)
        if len(group) == 1 and self.headers.other_owner(head, group[0]):
            return Bad(line, OTHER_OWNER)
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
        texts = [clean_text(text) for text in split.fields]
        joined = _joined(group, names)
        if two is Begin.PERHAPS:
            joined = (joined or JoinedLines(0))._replace(may_be_two=True)
        return self._row(line, texts, joined)

    def _row(self, line: int, fields: list[str], joined: JoinedLines | None = None) -> SacctRow:
        return SacctRow(line, self.header_now.names, fields, joined)


OTHER_OWNER = "a record of an earlier header, or one with a delimiter in a text"


def _by_names(found: Sequence[Found]) -> Iterator[list[Found]]:
    """The same, those of other names by themselves."""
    some: list[Found] = []
    names: Names | None = None
    for each in found:
        if isinstance(each, SacctRow | RowRun) and each.names is not names:
            if names is not None:
                yield some
                some = []
            names = each.names
        some.append(each)
    if some:
        yield some


_row = tuple.__new__  # what SacctRow(...) calls in the end, without a call in between
_CUT = "\0cut"  # stands for lines that were not kept; no clean line holds a NUL


def _joined(group: list[str], in_doubt: tuple[str, ...] = ()) -> JoinedLines | None:
    """What there is to say of a record of these lines."""
    lines = max((place for place, line in enumerate(group) if line), default=0)
    return JoinedLines(lines, in_doubt) if lines or in_doubt else None


def _may_be_two(row: SacctRow) -> bool:
    return row.joined is not None and row.joined.may_be_two


def _fields(count: int) -> str:
    return f"{count} field{'' if count == 1 else 's'}"
