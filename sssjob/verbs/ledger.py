"""Documents, stores and records of any format put into a ledger, as rows of what was used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from hashlib import file_digest
from io import BufferedReader, RawIOBase
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc

from sssjob import outputs, store
from sssjob.document import loads
from sssjob.document import opened as unpacked
from sssjob.document.sources import NamedSource, opened
from sssjob.errors import DamagedStore, SSSJobError, UnusableStore
from sssjob.formats.sss import jobs_of
from sssjob.ledger import logs
from sssjob.ledger.building import RowsBuilder
from sssjob.ledger.columns import END, ID, LINE, NAMES, SOURCE, START, Row, row
from sssjob.ledger.ledger import Ledger, LedgerAppender
from sssjob.ledger.manifest import Input, Manifest, RecordedLog
from sssjob.ledger.merging import Conflict
from sssjob.ledger.places import Place
from sssjob.measures import LONGEST
from sssjob.records import find, read_records
from sssjob.records.making import BACKWARDS
from sssjob.records.record import Bad, Converted, Noted, Options, RecordCounts, Skipped
from sssjob.verbs.convert import Answer, Conversion, ConvertTask, Small, in_turn, on_tasks
from sssjob.verbs.documents import DOCUMENTS
from sssjob.verbs.records import RecordReading
from sssjob.workers import PartWork, Workers

_LINE = NAMES.index(LINE)
_TIMES = [*(NAMES.index(name) for name in (START, END, ID)), _LINE]
_APART = "the job took more than ten years by its times: one of them is wrong"


@dataclass(slots=True)
class Ingestion:
    """Puts what sources tell into a ledger.

    ``on_error`` is given what cannot be read, and the next source is. A file whose bytes were read
    before is left out, and counted in ``known``, unless it is to be read ``again``; one of which
    something could not be read at all is read each time, so that this is told each time.
    """

    ledger: Ledger
    on_error: Callable[[Exception], None]
    options: Options = field(default_factory=lambda: Options(steps=False))
    reading: RecordReading = field(default_factory=RecordReading)
    processes: int = 1
    again: bool = False
    keep: bool = False  # the texts, too
    known: int = 0
    adding: LedgerAppender = field(init=False)
    _before: Manifest = field(init=False)
    _held: ExitStack = field(default_factory=ExitStack)
    _unread: set[str] = field(default_factory=set)  # names of sources
    _last: int | None = None  # the number of the last record of a source
    _is_cut: bool = False  # whether that may be cut short

    def __post_init__(self) -> None:
        self.adding = LedgerAppender(self.ledger, on_conflict=self._conflict)
        self._before = self.ledger.manifest()

    def take(self, sources: Iterable[NamedSource], format_: str) -> None:
        """Take sources of one format in. Raises ``UnusableStore``, where the ledger is unusable."""
        if self.keep:
            sources = (self._at_hand(source) for source in sources)
        inputs = ((source, self._input(source, format_)) for source in sources)
        wanted = (each for each in inputs if self._is_unknown(each[1]))
        if self.processes > 1 and format_ != DOCUMENTS:
            self._take_parts([*wanted], format_)
            return
        for source, read in wanted:
            rows = self._stored(source) if source.is_store else self._read(source, format_)
            try:
                for each in rows:
                    self._put(each, source.name, is_document=format_ == DOCUMENTS)
            except UnusableStore as error:
                if error.store == str(self.ledger.home):
                    raise
                self.on_error(error)
            except (OSError, SSSJobError) as error:
                self.on_error(error)
            else:
                self._done(source, read)
            finally:
                self._end()

    def commit(self) -> None:
        """Commit what was taken in and is not committed yet."""
        self.adding.commit()
        self._held.close()

    def _put(self, rows: Row | pa.Table, name: str, *, is_document: bool = False) -> None:
        """Put in what a source tells, and say of which jobs a time is wrong.

        Whoever reads records has said already which end before they start.
        """
        for line, id_, is_backwards in _wrong(rows):
            if is_document or not is_backwards:
                said = BACKWARDS if is_backwards else _APART
                self._tell(name, Noted(line or 0, said if line else f"Job {id_}: {said}"))
        first = self.adding.put(rows)
        if size := 1 if isinstance(rows, tuple) else len(rows):
            self._last = first + size - 1

    def _end(self) -> None:
        """All records of a source were put."""
        if self._is_cut and self._last is not None:
            self.adding.doubt(self._last)
        self._last, self._is_cut = None, False

    def _done(self, source: NamedSource, read: Input) -> None:
        kept: Sequence[RecordedLog] = ()
        if self.keep and read.digest and not self._before.keeps(read):
            with opened(source) as raw, unpacked(raw) as text:
                kept = self.ledger.keep(read, text)
        is_whole = read.digest and read.name not in self._unread
        self.adding.has_read(read if is_whole else None, kept)

    def _at_hand(self, source: NamedSource) -> NamedSource:
        """The same source; a stream, which could be read only once, as a temporary file."""
        if isinstance(source.given, Path):
            return source
        folder = self._held.enter_context(TemporaryDirectory(prefix="sssjob-ledger-"))
        path = Path(folder, "input")
        with outputs.writing(path) as held:
            copyfileobj(source.given, held, 1 << 20)
        return source._replace(given=path)

    def _tell(self, name: str, item: Bad | Noted) -> None:
        if isinstance(item, Bad) and item.unread:
            self._unread.add(name)
        if isinstance(item, Noted) and item.doubts:
            self._is_cut = True
        self.reading.tell(name, item)

    def _conflict(self, found: Conflict) -> None:
        """Tell of a run that two users are told to have run."""
        text = f"Job {found.id} of {found.user}: another record tells of the same job and start as"
        said = f"{text} one of {found.other}; both count"
        self._tell(found.source or str(self.ledger.home), Noted(found.line or 0, said))

    def _is_unknown(self, read: Input) -> bool:
        """Whether an input is to be read; those that were are counted."""
        lacks = self.keep and not self._before.keeps(read)
        if self.again or lacks or not read.digest or not self._before.has_read(read):
            return True
        self.known += 1
        return False

    def _input(self, source: NamedSource, format_: str) -> Input:
        """What is written down of a source; without a digest where it is no file."""
        path, told = source.given, self.options
        if not isinstance(path, Path) or source.is_store or not path.is_file():
            return Input(source.name, 0, "", "")
        how = "\x1f".join((format_, str(told.zone), *told.columns, told.delimiter))
        try:
            with open(path, "rb") as file:
                digest = file_digest(file, "blake2b").hexdigest()[:32]
                return Input(source.name, file.tell(), digest, how)
        except OSError:
            return Input(source.name, 0, "", "")  # reading it says why it cannot be read

    def _read(self, source: NamedSource, format_: str) -> Iterator[Row | pa.Table]:
        """The rows of documents or records."""
        chosen, builder = find(format_), RowsBuilder().remembering()
        reading = replace(self.reading, tell=self._tell)
        for name, made in reading.made(
            [source], lambda stream: read_records(chosen, stream, self.options, builder)
        ):
            yield _rows(made, name)

    def _stored(self, source: NamedSource) -> Iterator[Row]:
        with store.open(source.name, read_only=True) as jobs:
            for stored in jobs.documents(on_error=self.on_error):
                for job in jobs_of(loads(stored.document)):
                    self.reading.counts.converted += 1
                    yield row(job, source.name)

    def _take_parts(self, wanted: list[tuple[NamedSource, Input]], format_: str) -> None:
        """Take records in, read by several processes."""
        sources = [source for source, _ in wanted]
        records = Conversion(
            sources, format_, self.options, self.reading, self.processes, seen=None, goes_on=True
        )
        work = PartWork("sssjob.verbs.ledger:rows_of", ())
        failed: set[str] = set()
        with Workers[ConvertTask | Small, Answer[LedgerRows]](work, self.processes) as workers:
            name = ""
            for task, found in in_turn(workers, records.tasks()):
                if task.name != name:
                    self._end()
                    name = task.name
                if task.name not in failed:
                    self._put_part(task, found)
                if found.error is not None:
                    failed.add(task.name)
            self._end()
        for source, read in wanted:
            if source.name not in failed:
                self._done(source, read)

    def _put_part(self, task: ConvertTask, found: LedgerRows) -> None:
        if task.sign:
            self.reading.tell(task.name, task.noted)
        self.reading.counts.include(found.counts)
        for item in found.remarks:
            self._tell(task.name, item)
        for each in found.rows:
            self._put(each, task.name)
        if found.error is not None:
            self.on_error(found.error)


def _wrong(rows: Row | pa.Table) -> list[tuple[int | None, str, bool]]:
    """The lines and ids of the jobs that end before they start, or take more than ten years."""
    if isinstance(rows, tuple):
        start, end, id_, line = (rows[at] for at in _TIMES)
        if start is None or end is None or 0 <= end - start <= LONGEST:
            return []
        return [(line, id_, end < start)]
    took = pc.subtract(rows[END], rows[START])
    wrong = pc.or_(pc.less(took, 0), pc.greater(took, LONGEST))
    if not pc.any(wrong).as_py():
        return []
    some = rows.filter(wrong).select([LINE, ID, START, END]).to_pylist()
    return [(each[LINE], each[ID], each[END] < each[START]) for each in some]


def _rows(outcome: Any, name: str) -> Row | pa.Table:
    """The row of a record of this source, or a table of those of many."""
    if isinstance(outcome, Converted):
        return (*outcome.job, name, outcome.line)
    return outcome.jobs.table(name, outcome.lines)


class LedgerRows(NamedTuple):
    """The rows of a part of records, how many there are, and what there is to say.

    ``error`` is why there are no more.
    """

    rows: list[Row | pa.Table]
    counts: RecordCounts
    remarks: list[Bad | Noted]
    error: OSError | SSSJobError | None = None


def rows_of() -> Callable[[ConvertTask | Small], Answer[LedgerRows]]:
    """What makes rows of a part of records, in another process."""
    builder = RowsBuilder().remembering()

    def read(task: ConvertTask) -> LedgerRows:
        found = LedgerRows([], RecordCounts(), [])
        try:
            for outcome in found.counts.counting(task.outcomes(builder)):
                if isinstance(outcome, Bad | Noted):
                    found.remarks.append(outcome)
                elif not isinstance(outcome, Skipped):
                    found.rows.append(_rows(outcome, task.name))
        except (OSError, SSSJobError) as error:
            return found._replace(error=error)
        return found

    return on_tasks(read)


class KeptRecord(NamedTuple):
    """The text of a record, and the first line of what it was read from, if that is no record."""

    header: bytes
    text: bytes


def record_of(ledger: Ledger, run: Mapping[str, Any]) -> KeptRecord | None:
    """The record that a run of ``Ledger.runs`` was read from; None where no text is kept.

    The text is read again: the record is what makes the same row, up to the next one. Raises
    ``DamagedStore`` for a text that is not what was written.
    """
    home, line = ledger.home, run.get(LINE)
    if line is None:
        return None
    for text in logs.texts(ledger.manifest().logs, run.get(SOURCE, "")):
        behind = _behind(home, text, run, line)
        if behind is not None:
            has_header, following = behind
            header = b"".join(logs.lines(home, text, 1, 2)) if has_header else b""
            return KeptRecord(header, b"".join(logs.lines(home, text, line, following)))
    return None


def _behind(
    home: Place, text: logs.KeptText, run: Mapping[str, Any], line: int
) -> tuple[bool, int | None] | None:
    """Whether the first line is no record, and the line of the record behind that of a run.

    None where no record makes the row of the run.
    """
    format_, zone, *columns, delimiter = text.how.split("\x1f")
    options = Options(zone, tuple(columns), delimiter, steps=False)
    stream = cast(BinaryIO, BufferedReader(_BlockStream(logs.whole(home, text)), 1 << 20))
    is_met, has_header = False, None
    try:
        for outcome in read_records(find(format_), stream, options, RowsBuilder()):
            if isinstance(outcome, Noted):
                continue
            if has_header is None:
                has_header = outcome.line > 1
            if is_met and outcome.line > line:
                return bool(has_header), outcome.line
            if isinstance(outcome, Bad | Skipped):
                continue
            rows = _rows(outcome, text.name)
            some = [rows] if isinstance(rows, tuple) else rows.to_pylist()
            for each in some:
                told = dict(zip(NAMES, each, strict=True)) if isinstance(each, tuple) else each
                if is_met and told[LINE] > line:
                    return bool(has_header), told[LINE]
                stated = {name: value for name, value in told.items() if value is not None}
                is_met = is_met or stated == run
    except DamagedStore:
        raise
    except SSSJobError:
        return None
    return (bool(has_header), None) if is_met else None


class _BlockStream(RawIOBase):
    """Blocks of bytes as a stream."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._rest = blocks, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._rest = memoryview(block)
        count = min(len(into), len(self._rest))
        into[:count], self._rest = self._rest[:count], self._rest[count:]
        return count
