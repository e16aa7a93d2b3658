"""What jobs used, added up: of documents, stores, and records of any format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from sssjob.accounting.report import Report
from sssjob.document import from_tree, loads, tree
from sssjob.document.batches import Batch
from sssjob.document.files import looked_at
from sssjob.document.outermost import Wanted
from sssjob.document.reader import OfFiles, SharedPart, in_groups, in_parts, on_files, on_parts
from sssjob.document.sources import Files, NamedSource, is_small
from sssjob.errors import SSSJobError, UnreadableDocument, UnusableStore
from sssjob.formats.sss import jobs_of_each
from sssjob.model import Block, Job
from sssjob.own_process import leave_pandas_out
from sssjob.records import find, read_records
from sssjob.records.builders import OBJECTS, Builder
from sssjob.records.record import (
    Bad,
    Converted,
    ConvertedTogether,
    Noted,
    Options,
    Outcome,
    RecordCounts,
    Skipped,
)
from sssjob.records.regular import Road
from sssjob.records.runs import (
    NO_KEYS,
    Knowing,
    ListedRuns,
    Met,
    RunKeys,
    SeenRuns,
    listed_of,
    of_jobs,
    probe,
    without_twins,
)
from sssjob.verbs.convert import Answer, Conversion, ConvertTask, Small, in_turn, on_tasks
from sssjob.verbs.documents import DOCUMENTS
from sssjob.verbs.records import RecordReading
from sssjob.workers import PartWork, Workers

if TYPE_CHECKING:
    from sssjob.ledger.streamed import RowsAdding
    from sssjob.store import Store
    from sssjob.store.documents import PackedRows
    from sssjob.verbs.store_report import PartRows

    DocumentWorkers = Workers["SharedPart | PackedRows", "DocumentsUsage | PartRows | None"]


# From so many bytes on, rows are added up faster than job objects. # decision 424
ROAD = Road(1 << 22, ("duckdb", "numpy", "pyarrow"))
_PATIENCE = 2.0  # seconds to wait for writers of a store, where rows are kept


@dataclass(frozen=True, slots=True)
class ReportedJobs:
    """The jobs of sources: documents and stores, or records of a format.

    ``on_error`` is given what cannot be read, and the rest goes on. Files and streams are added up
    by so many ``processes``. Of records, runs that ``seen`` has met count once; ``columns`` and
    ``delimiter`` are those of a table without a header. What is read of stores ``keeps`` rows there
    for the next report, if it may. Where there are other sources, of whatever format,
    ``compares_stores`` with these: their jobs are read then, and no rows.
    """

    sources: Iterable[NamedSource]
    on_error: Callable[[SSSJobError], None]
    format: str = DOCUMENTS
    zone: str = ""
    reading: RecordReading = field(default_factory=RecordReading)
    processes: int = 1
    seen: Knowing | None = field(default_factory=SeenRuns)
    columns: tuple[str, ...] = ()
    delimiter: str = ""
    keeps: bool = False
    compares_stores: bool = False

    @property
    def options(self) -> Options:
        """How records are read."""
        return Options(self.zone, self.columns, self.delimiter, steps=False)

    def add_to(self, report: Report) -> None:
        """Add them all to a report. Raises ``OSError``, and ``SSSJobError`` for the first source
        of records that has none, or that cannot be cut for several processes.
        """
        if self.processes > 1:
            if self.format == DOCUMENTS:
                self._add_documents(report)
            else:
                self._add_records(report)
            return
        for source in self.sources if self.format == DOCUMENTS else ():
            if source.is_store:
                self._add_store(source, report, None)
            else:
                self._add_once(source, self._read(source), report)
        if self.format != DOCUMENTS:
            self._add_stream(report)

    def _add_stream(self, report: Report) -> None:
        chosen, options, adding = find(self.format), self.options, _RecordAppender(report)

        def read(stream: BinaryIO) -> Iterator[Outcome[Any]]:
            head, stream = looked_at(stream, ROAD.worth)
            builder = adding.builder(len(head))
            return read_records(chosen, stream, options, builder, self.seen)

        for _, made in self.reading.made(self.sources, read):
            adding.put(made)
        adding.finish()

    def _add_documents(self, report: Report) -> None:
        told = report.empty(), probe() if self.seen else None
        work = PartWork("sssjob.verbs.report:of_documents", told)
        added = _on_batches(*told)
        workers: DocumentWorkers
        with Workers(work, self.processes) as workers:
            for small, some in groupby(self.sources, is_small):
                if small:
                    self._add_small(some, report, workers)
                    continue
                for source in some:
                    if source.is_store:
                        self._add_store(source, report, workers)
                        continue
                    tell = self._telling(source)
                    with self.reading.opening(source) as stream:
                        for found in in_parts(
                            source.name, source.given, stream, workers, added, on_error=tell,
                            wanted=Wanted.JOBS,
                        ):  # fmt: skip
                            assert isinstance(found, DocumentsUsage)
                            self._merge(source, report, found)

    def _add_small(
        self, some: Iterable[NamedSource], report: Report, workers: Workers[Any, Any]
    ) -> None:
        for source, found in in_groups(some, workers):
            if isinstance(found, OSError):
                raise found
            if isinstance(found, UnreadableDocument):
                self._telling(source)(found)
            else:
                self._merge(source, report, found)

    def _merge(self, source: NamedSource, report: Report, found: DocumentsUsage) -> None:
        """Add what a part of documents used, and tell of the rest. Raises ``NotAllNew``."""
        if self.seen is not None and not self.seen.are_new_in(found.runs):
            raise NotAllNew
        for error in found.damaged:
            self._telling(source)(error)
        report.merge(found.report)

    def _add_store(
        self, source: NamedSource, report: Report, workers: DocumentWorkers | None
    ) -> None:
        """Add a store by its rows. What reads stores is loaded only where there is one."""
        if self.compares_stores and self.seen is not None:
            self._add_once(source, self._stored(source), report)
            return
        from sssjob.verbs import store_report

        def mapped(parts: Iterable[PackedRows]) -> Iterator[PartRows]:
            if workers is None:
                yield from map(store_report.rows_of, parts)
                return
            for _, found in workers.in_order(parts, str):
                assert isinstance(found, store_report.PartRows)
                yield found

        with _store_of(source, keeps=self.keeps) as jobs:
            store_report.add_to(report, jobs, mapped, self.on_error)

    def _add_records(self, report: Report) -> None:
        records = Conversion(self.sources, self.format, self.options, self.reading, self.processes)
        empty, seen = report.empty(), self.seen
        work = PartWork("sssjob.verbs.report:of_records", (empty, probe() if seen else None))
        adding = _RecordAppender(empty)
        with Workers[ConvertTask | Small, Answer[RecordsUsage]](work, self.processes) as workers:
            for task, found in in_turn(workers, records.tasks()):
                if task.sign:
                    self.reading.tell(task.name, task.noted)
                if seen and task.part and not seen.are_new_in(found.runs):
                    found = _counted(task, adding, seen)
                report.merge(found.report)
                self.reading.counts.include(found.counts)
                for item in found.remarks:
                    self.reading.tell(task.name, item)

    def __iter__(self) -> Iterator[Block]:
        if self.format == DOCUMENTS:
            for source in self.sources:
                if not source.is_store:
                    yield from self._once(source, self._read(source))
                elif self.compares_stores:
                    yield from self._once(source, self._stored(source))
                else:
                    yield from jobs_of_each(self._stored(source), self._telling(source))
            return
        chosen, options = find(self.format), self.options
        yield from self.reading.jobs(
            self.sources, lambda stream: read_records(chosen, stream, options, OBJECTS, self.seen)
        )

    def _stored(self, source: NamedSource) -> Iterator[Block]:
        with _store_of(source, keeps=False) as jobs:
            for stored in jobs.documents(on_error=self.on_error):
                yield loads(stored.document)

    def _add_once(self, source: NamedSource, documents: Iterable[Block], report: Report) -> None:
        for job in self._once(source, documents):
            report.add(job)

    def _once(self, source: NamedSource, documents: Iterable[Block]) -> Iterator[Job]:
        """The jobs of documents, each run once."""
        jobs = jobs_of_each(documents, self._telling(source))
        if self.seen is None:
            return jobs
        return without_twins(jobs, self.seen, partial(self.reading.tell, source.name))

    def _read(self, source: NamedSource) -> Iterator[Block]:
        with self.reading.opening(source) as stream:
            tell = self._telling(source)
            for element, offset in tree.located(stream, on_error=tell, wanted=Wanted.JOBS):
                yield from_tree(element, offset=offset)

    def _telling(self, source: NamedSource) -> Callable[[UnreadableDocument], None]:
        """What tells of a source what cannot be read."""
        return lambda error: self.on_error(UnreadableDocument(error.finding.in_file(source.name)))


class NotAllNew(Exception):
    """Of documents that several processes read, some are about runs that were met before."""


def add_once(report: Report, read: Callable[[Report, Knowing, bool], None]) -> None:
    """Add to a report what ``read`` finds, each run once, by the record of it that tells most.

    It is given the report, who knows the runs, and whether one process has to do it. It is asked
    again, for all, where a record that does not count was added, or where the first is needed.
    """
    try:
        found = _read_once(report, read, by_one=False)
    except NotAllNew:
        found = _read_once(report, read, by_one=True)
    report.merge(found)


def _read_once(
    report: Report, read: Callable[[Report, Knowing, bool], None], *, by_one: bool
) -> Report:
    seen, found = SeenRuns(), report.empty()
    read(found, seen, by_one)
    if seen.is_undecided:
        found = report.empty()
        read(found, seen.second(), by_one)
    return found


def _store_of(source: NamedSource, *, keeps: bool) -> Store:
    """The store of an address, to write to if it ``keeps`` rows, and may be written to."""
    from sssjob import store

    if keeps:
        try:
            return store.open(source.name, patience=_PATIENCE)
        except UnusableStore:
            pass  # what is wrong with it is told by who only reads it
    return store.open(source.name, read_only=True)


class DocumentsUsage(NamedTuple):
    """What the jobs of a part of documents used, which documents cannot be read, and their runs."""

    report: Report
    damaged: list[UnreadableDocument]
    runs: RunKeys = NO_KEYS


class RecordsUsage(NamedTuple):
    """What the jobs of a part of records used, how many there are, and what there is to say.

    ``runs`` are those that it tells of, where they were only listed.
    """

    report: Report
    counts: RecordCounts
    remarks: list[Bad | Noted]
    runs: RunKeys = NO_KEYS


def of_documents(
    empty: Report, probed: int | None
) -> Callable[[SharedPart | PackedRows | Files], DocumentsUsage | PartRows | OfFiles | None]:
    """What adds up the jobs of a part or of small files, or makes rows of documents of a store."""
    from sssjob.verbs.store_report import rows_of

    added = _on_batches(empty, probed)
    on_part, on_small = on_parts(added), on_files(added, Wanted.JOBS)

    def work(part: SharedPart | PackedRows | Files) -> DocumentsUsage | PartRows | OfFiles | None:
        if isinstance(part, Files):
            return on_small(part)
        if isinstance(part, SharedPart):
            return on_part(part)
        return rows_of(part)

    return work


def of_records(
    empty: Report, probed: int | None
) -> Callable[[ConvertTask | Small], Answer[RecordsUsage]]:
    """The same for records; their runs are listed for whom ``probed`` tells of."""
    adding = _RecordAppender(empty)

    def count(task: ConvertTask) -> RecordsUsage:
        return _counted(task, adding, None if probed is None else ListedRuns(probed))

    return on_tasks(count)


class _RecordAppender:
    """Adds what records became to a report: as rows by their columns, or as job objects.

    Rows, where there is what they take, and enough bytes that it is worth its import.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        self._objects = OBJECTS.remembering()
        self._rows: RowsAdding | None = None

    def builder(self, size: int, whole: int = 0) -> Builder[Any, Any]:
        """What is to become of records of so many bytes, of a stream of ``whole``, if known."""
        if self._rows is None:
            if not ROAD.is_open(size, whole):
                return self._objects
            leave_pandas_out()
            from sssjob.ledger.streamed import RowsAdding

            self._rows = RowsAdding(self.report)
        return self._rows.builder

    def put(self, made: Converted[Any] | ConvertedTogether[Any]) -> None:
        """Add what one or many records became."""
        if isinstance(made, Converted):
            if isinstance(made.job, Job):
                self.report.add(made.job)
                return
            assert self._rows is not None
            self._rows.put(made.job)
        else:
            assert self._rows is not None
            self._rows.put_together(made.jobs)

    def finish(self) -> None:
        """Add what was put last."""
        if self._rows is not None:
            self._rows.finish()

    def begin(self) -> None:
        """Add to an empty report of the same kind; what was put and not finished is forgotten."""
        self.report = self.report.empty()
        if self._rows is not None:
            self._rows.begin(self.report)


def _counted(task: ConvertTask, adding: _RecordAppender, met: Met | None) -> RecordsUsage:
    """Add up the jobs of a part of records."""
    counts, remarks = RecordCounts(), []
    adding.begin()
    builder = adding.builder(task.part.size, task.part.whole) if task.part else adding.builder(0)
    for outcome in counts.counting(task.outcomes(builder, met)):
        if isinstance(outcome, Bad | Noted):
            remarks.append(outcome)
        elif not isinstance(outcome, Skipped):
            adding.put(outcome)
    adding.finish()
    runs = listed_of(met)
    return RecordsUsage(adding.report, counts, remarks, runs)


def _on_batches(empty: Report, probed: int | None) -> Callable[[str, Batch], DocumentsUsage]:
    """What adds up the jobs of a batch; their runs are listed for whom ``probed`` tells of.

    What cannot be added up is among what is ``damaged``.
    """

    def work(_: str, batch: Batch) -> DocumentsUsage:
        met = None if probed is None else ListedRuns(probed)
        found = DocumentsUsage(empty.empty(), [])
        blocks = (from_tree(each, offset=batch.offset) for each in batch.units)
        for job in jobs_of_each(blocks, found.damaged.append):
            found.report.add(job)
            if met is not None:
                met.are_new(of_jobs((job,), met))
        return found._replace(runs=listed_of(met))  # they are listed by now

    return work
