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

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice, repeat
from typing import BinaryIO, NamedTuple

from sssjob.document.text import clean as clean_text
from sssjob.errors import UnusableInput
from sssjob.records.layout import Names
from sssjob.records.lines import TWO_RECORDS, Blocks, clean
from sssjob.records.record import Bad, Skipped
from sssjob.records.regular import ROAD, Regular, part, regular
from sssjob.records.texts import BulkColumn, Numbers
from sssjob.systems.slurm.accounting.header import JOB_ID, SURPLUS_LIMIT, Begin, Header, header

RECORD_LIMIT = 1 << 20  # bytes
LINES_LIMIT = 1000
_LIMITS = f"{RECORD_LIMIT} bytes or {LINES_LIMIT} lines"
_FIRST = 8  # lines that tell whether each ends with a delimiter
_LOOK, _SELDOM = 1 << 14, 8  # bytes that tell whether more than one line in so many is of a step
RESTART_LIMIT = 8  # lines within a record that may begin another, and are tried as such


_NO_HEADER = (
    "no header line: expected column names such as JobID|User|State (sacct without --noheader), "
    "or name the columns"
)
_ALIGNED = (
    "columns aligned by blanks, which values have, too: print them with a delimiter, by "
    "sacct --parsable2"
)


def _is_aligned(line: str) -> bool:
    """Whether a line is the header of sacct without ``--parsable2``."""
    words = line.split()
    return len(words) > 1 and words[0].startswith("JobID") and all(map(str.isidentifier, words))


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
    """Reads the rows of a stream; ``header`` is the one that the last row belongs to.

    ``columns`` are those of a table without a header, whose lines are read from the ``first`` one
    on. ``cut_short`` is the number of the last line where it has no line end, else 0, and
    ``may_end_in_step`` whether that may be a step of the job before it.
    """

    def __init__(
        self, known: Iterable[str], columns: Iterable[str] = (), delimiter: str = "",
        first: int = 1,
    ) -> None:  # fmt: skip
        self._known = tuple(known)
        self._first = first
        self._delimiter = delimiter
        self.header: Header | None = None
        self.cut_short = 0
        self.may_end_in_step = False
        # The lines of the record that is being read; its fields, where one line holds them all;
        # and whether the record before it was cut short.
        self._group: list[str] = []
        self._alone: list[str] | None = None
        self._begun, self._size, self._tainted = 0, 0, False
        self._varied: tuple[Header | None, set[int]] = None, set()  # columns of a header
        self._stepped: tuple[Header | None, bool] = None, False  # and whether it has steps
        if names := tuple(columns):
            delimiter = delimiter or "|"
            self.header = header(delimiter.join(names), self._known, delimiter)
            if self.header is None:
                raise UnusableInput("the columns hold no JobID, or what is no column name")

    # decision 1090
    def begin(self, block: bytes) -> None:
        """Look at the first lines of a stream whose columns are named.

        ``sacct --parsable`` puts a delimiter behind each line, as behind that of a header, where it
        has one: behind it stands an empty field, which is no column.
        """
        if self.header is None or self._first != 1:
            return
        head = self.header
        lines = block.split(b"\n", _FIRST)[:_FIRST]
        rows = head.split_all(clean(b"\n".join(lines), head.delimiter.encode()).split("\n"))
        ended = Header((*head.names, ""), head.delimiter)
        if sum(ended.is_record(row) and not row[-1] for row in rows) > sum(
            map(head.is_record, rows)
        ):
            self.header = ended

    def batches(self, stream: BinaryIO) -> Iterator[list[Found]]:
        """Every record of a stream, many at once, of which all rows have the same names, and all
        runs the same columns.

        Raises ``UnusableInput`` where the columns are not known.
        """
        found: list[Found] = []
        head = self.header
        for number, lines in self._lines(stream):
            if found and (lines is None or self.header is not head):  # behind a block, or a header
                yield found
                found = []
            if lines is None:
                continue
            head = self.header_now
            if isinstance(lines, _WholeLines):
                found += self._run(number, lines)
                continue
            more, taken = self._batch(number, lines)
            found += more
            for at in range(taken, len(lines)):  # behind another header, line by line
                if self.header_now is not head:
                    yield found
                    head, found = self.header_now, []
                found += self._take(number + at, lines[at], self.header_now.split(lines[at]))
        if self.cut_short and self._group:
            self.may_end_in_step = self._may_be_step(self._group[-1])
        if last := self._last():
            yield [*last]

    def _run(self, number: int, run: _WholeLines) -> list[Found]:
        """What is known after lines that are whole records, none of them a step."""
        columns, begin, end = run
        first, last = ([column[at] for column in columns] for at in (begin, end - 1))
        delimiter, names = self.header_now.delimiter, self.header_now.names
        found: list[Found] = [*self._take(number, delimiter.join(first), first)]
        # Each but the last ends where the next one surely begins.
        found.append(RowRun(number, names, columns, begin, end - 1))
        self._tainted = False
        self._begin(number + end - 1 - begin, delimiter.join(last), last)
        return found

    def _batch(self, number: int, lines: list[str]) -> tuple[list[SacctRow | Skipped | Bad], int]:
        """What is known after the next lines, and how many were taken: up to another header."""
        head = self.header_now
        found: list[SacctRow | Skipped | Bad] = []
        rows = head.split_all(lines)
        index = 0
        for is_record, run in groupby(head.records(rows)):
            size = sum(1 for _ in run)
            end = index + size
            if is_record and size > 1:
                # Each but the last ends where the next one surely begins.
                found += self._take(number + index, lines[index], rows[index])
                numbers = range(number + index, number + end - 1)
                fields = rows[index : end - 1]
                told = zip(numbers, repeat(head.names), fields, repeat(None))
                found += map(_row, repeat(SacctRow), told)
                self._tainted = False
                self._begin(number + end - 1, lines[end - 1], rows[end - 1])
                index = end
                continue
            while index < end:
                found += self._take(number + index, lines[index], rows[index])
                index += 1
                if self.header is not head:
                    return found, index
        return found, len(lines)

    def _take(
        self, number: int, line: str, fields: list[str]
    ) -> Sequence[SacctRow | Skipped | Bad]:
        """What is known after the next line."""
        head = self.header_now
        begins = head.begins_record(fields)
        if begins is not Begin.SURELY and head.is_damaged(fields) and self._is_full():
            begins = Begin.SURELY  # no text: it is bad, or read, by itself # decision 951
        if begins is Begin.SURELY and not (not head.has_texts and self.another(line)):
            found = self._settle()
            self._begin(number, line, fields)
            return found
        if begins is not Begin.PERHAPS and (new := self.another(line)):
            found = [*self._settle(), Skipped(number, "header")]
            self.header, self._tainted = new, False  # what was cut short ends here, too
            return found
        if not self._group:
            if not line.strip():
                return ()
            self._begun, self._size = number, 0
        self._alone = None
        self._size += len(line) + 1
        if self._size <= RECORD_LIMIT and len(self._group) <= LINES_LIMIT:
            self._group.append(line)
        elif not self._group or self._group[-1] is not _CUT:
            self._group.append(_CUT)
        return ()

    def _is_full(self) -> bool:
        """Whether the lines that were gathered have all fields of a record."""
        head = self.header_now
        gathered = "\n".join(self._group)
        return self._alone is not None or len(head.split(gathered)) >= len(head.names)

    def _begin(self, number: int, line: str, fields: list[str]) -> None:
        """A line begins a record."""
        whole = len(fields) == len(self.header_now.names)
        self._group, self._alone, self._begun = [line], fields if whole else None, number
        self._size = len(line)

    def _settle(self) -> list[SacctRow | Skipped | Bad]:
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

    def _last(self) -> list[SacctRow | Skipped | Bad]:
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

    def _lines(self, stream: BinaryIO) -> Iterator[tuple[int, list[str] | _WholeLines | None]]:
        """The physical lines behind the first header, with the number of the first of them.

        Runs of those that are surely whole records, and no steps, come as columns. Behind those of
        a block is None.
        """
        blocks = Blocks(stream, self._first, self._wide)
        for number, block in blocks:
            begin = 0
            if number == self._first:
                self.begin(block)
            if self.header is None:
                raw = clean(block, (self._delimiter or DELIMITERS).encode())
                begin = self.first(raw.split("\n"), number - 1)
                if self.header is None:
                    continue
                *before, block = block.split(b"\n", begin)
                if len(before) < begin:
                    continue
            if self._is_stepped(block):
                found = None
            else:
                found = self._regular(block) if ROAD.is_open(len(block)) else None
            if found is not None:
                head = self.header
                yield from self._runs(number + begin, found, head.fit(found.columns))
            else:
                yield number + begin, clean(block, self.header.delimiter.encode()).split("\n")
            yield number, None
        self.cut_short = blocks.cut_short
        if self.header is None:
            raise UnusableInput("nothing to read: not even a header line")

    def _wide(self) -> int:
        return 0 if self._stepped[1] else ROAD.wide()

    def _is_stepped(self, block: bytes) -> bool:
        """Whether a table has steps, as its first lines tell: these are read with their jobs."""
        head = self.header_now
        if self._stepped[0] is not head:
            lines = clean(block[:_LOOK], head.delimiter.encode()).split("\n")
            steps = sum(
                "." in fields[head.key]
                for fields in head.split_all(lines)
                if len(fields) > head.key
            )
            self._stepped = head, steps * _SELDOM > len(lines)
        return self._stepped[1]

    def _regular(self, block: bytes) -> Regular | None:
        """The regular lines of a block, where the header allows for columns."""
        head = self.header_now
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
        """The lines of a block, runs of them as columns; behind another header line by line."""
        head, place, lines = self.header_now, 0, found.lines

        def others(end: int) -> Iterator[tuple[int, list[str]]]:
            if place < end:
                raw = lines.of(place, end)
                yield number + place, clean(raw, head.delimiter.encode()).split("\n")

        for begin, at, size in found.runs(fit):
            yield from others(begin)
            if self.header is not head:
                place = begin
                break
            yield number + begin, _WholeLines(found.columns, at, at + size)
            place = begin + size
        yield from others(len(lines))

    def first(self, lines: list[str], before: int) -> int:
        """Find the header in the first lines, and give the number of lines that it ends."""
        for index, line in enumerate(lines, start=1):
            text = line.removeprefix("\ufeff")
            if not text.strip() or text.startswith("#"):
                continue
            self.header = header(text, self._known, self._delimiter)
            if self.header is None:
                raise UnusableInput(_ALIGNED if _is_aligned(text) else _NO_HEADER, before + index)
            return index
        return len(lines)

    def another(self, line: str) -> Header | None:
        """The header of another file that was appended to this one."""
        if "JobID" not in line or len(line) > 8192:
            return None
        found = header(line.removeprefix("\ufeff"), self._known, self._delimiter)
        return found if found and set(found.names) <= {*self._known, ""} else None

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
    def header_now(self) -> Header:
        """The header, once it is known."""
        assert self.header is not None
        return self.header

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


_row = tuple.__new__  # what SacctRow(...) calls in the end, without a call in between
DELIMITERS = "\x1c\x1d\x1e\x1f"  # what control characters may delimit the names of a header
_CUT = "\0cut"  # stands for lines that were not kept; no clean line holds a NUL


def _joined(group: list[str], in_doubt: tuple[str, ...] = ()) -> JoinedLines | None:
    """What there is to say of a record of these lines."""
    lines = max((place for place, line in enumerate(group) if line), default=0)
    return JoinedLines(lines, in_doubt) if lines or in_doubt else None


def _may_be_two(row: SacctRow) -> bool:
    return row.joined is not None and row.joined.may_be_two


def _fields(count: int) -> str:
    return f"{count} field{'' if count == 1 else 's'}"
