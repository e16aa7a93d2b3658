"""Documents, stores and records of any format put into a ledger, as rows of what was used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import file_digest
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from sssjob import store
from sssjob.document import loads
from sssjob.document.sources import NamedSource
from sssjob.errors import SSSJobError, UnusableStore
from sssjob.formats.sss import jobs_of
from sssjob.ledger.building import RowsBuilder
from sssjob.ledger.columns import Row, row
from sssjob.ledger.ledger import Adding, Ledger
from sssjob.ledger.manifest import Input, Manifest
from sssjob.records import find, read_records
from sssjob.records.record import Bad, Converted, Counts, Noted, Options, Skipped
from sssjob.verbs.convert import Answer, Conversion, Small, Task, in_turn, on_tasks
from sssjob.verbs.documents import DOCUMENTS
from sssjob.verbs.records import RecordReading
from sssjob.workers import Work, Workers


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
    known: int = 0
    adding: Adding = field(init=False)
    _before: Manifest = field(init=False)
    _unread: set[str] = field(default_factory=set)  # names of sources

    def __post_init__(self) -> None:
        self.adding = Adding(self.ledger)
        self._before = self.ledger.manifest()

    def take(self, sources: Iterable[NamedSource], format_: str) -> None:
        """Take sources of one format in. Raises ``UnusableStore``, where the ledger is unusable."""
        inputs = ((source, self._input(source, format_)) for source in sources)
        wanted = (each for each in inputs if self._is_unknown(each[1]))
        if self.processes > 1 and format_ != DOCUMENTS:
            self._take_parts([*wanted], format_)
            return
        for source, read in wanted:
            rows = self._stored(source) if source.is_store else self._read(source, format_)
            try:
                for each in rows:
                    self.adding.put(each)
            except UnusableStore as error:
                if error.store == str(self.ledger.home):
                    raise
                self.on_error(error)
            except (OSError, SSSJobError) as error:
                self.on_error(error)
            else:
                self._done(read)

    def commit(self) -> None:
        """Commit what was taken in and is not committed yet."""
        self.adding.commit()

    def _done(self, read: Input) -> None:
        if read.digest and read.name not in self._unread:
            self.adding.has_read(read)

    def _tell(self, name: str, item: Bad | Noted) -> None:
        if isinstance(item, Bad) and item.unread:
            self._unread.add(name)
        self.reading.tell(name, item)

    def _is_unknown(self, read: Input) -> bool:
        """Whether an input is to be read; those that were are counted."""
        if self.again or not read.digest or not self._before.has_read(read):
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
        records = Conversion(sources, format_, self.options, self.reading, seen=None)
        work = Work("sssjob.verbs.ledger:rows_of", ())
        try:
            with Workers[Task | Small, Answer[LedgerRows]](work, self.processes) as workers:
                for task, found in in_turn(workers, records.tasks()):
                    if task.sign:
                        self.reading.tell(task.name, task.noted)
                    self.reading.counts.include(found.counts)
                    for item in found.remarks:
                        self._tell(task.name, item)
                    for each in found.rows:
                        self.adding.put(each)
        except UnusableStore:
            raise
        except (OSError, SSSJobError) as error:
            self.on_error(error)
        else:
            for _, read in wanted:
                self._done(read)


def _rows(outcome: Any, name: str) -> Row | pa.Table:
    """The row of a record of this source, or a table of those of many."""
    if isinstance(outcome, Converted):
        return (*outcome.job, name, outcome.line)
    return outcome.jobs.table(name, outcome.lines)


class LedgerRows(NamedTuple):
    """The rows of a part of records, how many there are, and what there is to say."""

    rows: list[Row | pa.Table]
    counts: Counts
    remarks: list[Bad | Noted]


def rows_of() -> Callable[[Task | Small], Answer[LedgerRows]]:
    """What makes rows of a part of records, in another process."""
    builder = RowsBuilder().remembering()

    def read(task: Task) -> LedgerRows:
        found = LedgerRows([], Counts(), [])
        for outcome in found.counts.counting(task.outcomes(builder)):
            if isinstance(outcome, Bad | Noted):
                found.remarks.append(outcome)
            elif not isinstance(outcome, Skipped):
                found.rows.append(_rows(outcome, task.name))
        return found

    return on_tasks(read)
