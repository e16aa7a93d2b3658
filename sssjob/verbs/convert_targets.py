"""Records as those of other formats, by several processes, part by part; see ``convert.py``."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from sssjob.accounting.document_rows import DocumentRows, DocumentRowsBuilder
from sssjob.accounting.writers import TARGETS
from sssjob.accounting.writers.losses import UnwrittenValue
from sssjob.accounting.writers.writer import LossCounts, OnLoss, Writer, WriterOptions, ignored
from sssjob.model import Job
from sssjob.records.builders import OBJECTS, Builder
from sssjob.records.record import Bad, Noted, RecordCounts
from sssjob.records.runs import NO_KEYS, ListedRuns, Met, RunKeys, listed_of, probe
from sssjob.verbs.convert import (
    Answer,
    Conversion,
    ConvertTask,
    Small,
    file_of,
    in_turn,
    lrms_lines,
    on_tasks,
)
from sssjob.workers import PartWork, Workers

if TYPE_CHECKING:
    from sssjob.lcginfo.snapshot import Remark, Report


class FileWriter(Writer):
    """Documents by the names of their files, for who writes these; see ``convert.Filed``."""

    def __init__(self, stream: BinaryIO, options: WriterOptions, on_loss: OnLoss) -> None:
        super().__init__(stream, options, on_loss)
        self._documents: list[tuple[str, bytes]] = []

    def add(self, job: Job) -> None:
        """Take one document."""
        self._documents.append(file_of(job))

    def part(self) -> list[tuple[str, bytes]]:
        """The documents."""
        return self._documents


class LRMSWriter(Writer):
    """Lines of lrmsinfo, and what there is to say of jobs."""

    def __init__(self, stream: BinaryIO, options: WriterOptions, on_loss: OnLoss) -> None:
        super().__init__(stream, options, on_loss)
        self._remarks: list[Remark] = []

    def add(self, job: Job) -> None:
        """Write the line of a job."""
        self.put("".join(lrms_lines([job], self._remarks.append)))

    def part(self) -> tuple[bytes, list[Remark]]:
        """The lines and the remarks."""
        return super().part(), self._remarks


class DocumentsWriter(Writer):
    """Documents with the rows that a store has of them, and the lines of their records."""

    def __init__(self, stream: BinaryIO, options: WriterOptions, on_loss: OnLoss) -> None:
        super().__init__(stream, options, on_loss)
        self._documents: list[tuple[int, DocumentRows]] = []

    def builder(self) -> DocumentRowsBuilder:
        """What makes many at once."""
        return DocumentRowsBuilder()

    def add(self, job: Job) -> None:
        """Take one document."""
        self.take(DocumentRows.of(job))

    def take(self, job: DocumentRows) -> None:
        """Take one that is made."""
        self._documents.append((self.line, job))

    def part(self) -> list[tuple[int, DocumentRows]]:
        """The documents."""
        return self._documents


FILES, LRMSINFO, DOCUMENTS = "files", "lrmsinfo", "documents"
_WRITERS = {FILES: FileWriter, LRMSINFO: LRMSWriter, DOCUMENTS: DocumentsWriter}


class WrittenPart(NamedTuple):
    """What the jobs of a part became, for a writer to join, what was lost, and what to say.

    Losses are listed, or only ``counted`` where nobody wants to see each.
    ``runs`` are those that it tells of, where they were only listed.
    """

    part: Any
    losses: list[UnwrittenValue]
    counted: Counter[tuple[str, str]]
    counts: RecordCounts
    remarks: list[Bad | Noted]
    runs: RunKeys = NO_KEYS


def write(
    work: Conversion, name: str, stream: BinaryIO, told: WriterOptions, on_loss: OnLoss
) -> None:
    """Write the records of a target; the same bytes as by one process."""
    writer = TARGETS[name].writer(stream, told, on_loss)
    for _, part in results(work, work.tasks(), name, told, on_loss):
        writer.join(part)
    writer.close()


def documents(work: Conversion) -> Iterator[tuple[str, bytes]]:
    """The documents, with the names of their files."""
    parts = results(work, work.tasks(), FILES, WriterOptions())
    return chain.from_iterable(part for _, part in parts)


def lrmsinfo(work: Conversion, stream: BinaryIO, report: Report) -> None:
    """Write lines of lrmsinfo, as ``convert.lrmsinfo`` does."""
    for _, (lines, remarks) in results(work, work.tasks(), LRMSINFO, WriterOptions()):
        stream.write(lines)
        for remark in remarks:
            report(remark)


def results(
    work: Conversion, tasks: Iterable[ConvertTask | Small], name: str, told: WriterOptions,
    on_loss: OnLoss = ignored,
) -> Iterator[tuple[ConvertTask, Any]]:  # fmt: skip
    """What the parts of streams became, for a writer to join; what is to be said is told."""
    seen, reading = work.seen, work.reading
    counts = on_loss if isinstance(on_loss, LossCounts) and not on_loss.listed else None
    words = (name, told, probe() if seen else None, counts is not None)
    making = PartWork("sssjob.verbs.convert_targets:of_parts", words)
    again: _TargetWriting | None = None
    with Workers[ConvertTask | Small, Answer[WrittenPart]](making, work.processes) as workers:
        for task, found in in_turn(workers, tasks):
            if task.sign:
                reading.tell(task.name, task.noted)
            if seen and task.part and not seen.are_new_in(found.runs):
                again = again or _TargetWriting(name, told, counts_only=counts is not None)
                found = again.written(task, seen)
            if counts is not None:
                counts.kinds.update(found.counted)
            for loss in found.losses:
                on_loss(loss)
            reading.counts.include(found.counts)
            for item in found.remarks:
                reading.tell(task.name, item)
            yield task, found.part
    work.finish()


def of_parts(
    name: str, told: WriterOptions, probed: int | None, counts_only: bool
) -> Callable[[ConvertTask | Small], Answer[WrittenPart]]:
    """What writes the records of a part; its runs are listed for whom ``probed`` tells of."""
    making = _TargetWriting(name, told, counts_only=counts_only)

    def work(task: ConvertTask) -> WrittenPart:
        return making.written(task, None if probed is None else ListedRuns(probed))

    return on_tasks(work)


class _TargetWriting:
    """Writes the records of parts; what was learnt of one serves the next."""

    def __init__(self, name: str, told: WriterOptions, *, counts_only: bool) -> None:
        self._writer = _WRITERS.get(name) or TARGETS[name].writer
        self._told, self._counts_only = told, counts_only
        builder = self._writer(io.BytesIO(), told, LossCounts()).builder() if counts_only else None
        self._builder: Builder[Any, Any] = builder.remembering() if builder else OBJECTS

    def written(self, task: ConvertTask, met: Met | None) -> WrittenPart:
        """What a part becomes."""
        listed: list[UnwrittenValue] = []
        counted = LossCounts()
        on_loss: OnLoss = counted if self._counts_only else listed.append
        writer = self._writer(io.BytesIO(), self._told, on_loss)
        writer.is_part = True
        counts, remarks = RecordCounts(), []
        outcomes = task.outcomes(self._builder, met)
        for outcome in counts.counting(writer.through(outcomes)):
            if isinstance(outcome, Bad | Noted):
                remarks.append(outcome)
        runs = listed_of(met)
        return WrittenPart(writer.part(), listed, counted.kinds, counts, remarks, runs)
