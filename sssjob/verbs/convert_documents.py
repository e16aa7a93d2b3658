"""Job objects again, one on each line, by several processes; see ``convert.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sssjob.document import from_tree
from sssjob.document import opened as unpacked
from sssjob.document.batches import Batch, without_jobs
from sssjob.document.outermost import is_block
from sssjob.document.reader import SharedPart, in_parts, on_parts
from sssjob.document.sources import NamedSource, naming
from sssjob.errors import UnreadableDocument
from sssjob.formats import sss
from sssjob.records.builders import TEXTS
from sssjob.records.engine import RecordEngine
from sssjob.records.parts import Result, result
from sssjob.records.record import Options
from sssjob.verbs.records import RecordReading
from sssjob.workers import Work, Workers


def parts(
    sources: Iterable[NamedSource], reading: RecordReading, processes: int, *,
    lines: bool, ended_only: bool,
) -> Iterator[bytes | memoryview]:  # fmt: skip
    """The documents of sources, cut as documents are: what is refused is a bad record."""
    work = Work("sssjob.verbs.convert_documents:of_parts", (lines, ended_only))
    made = _of_batches(lines, ended_only)
    with Workers[SharedPart, Result | None](work, processes) as workers:
        for source in sources:
            with naming(source.name), reading.opening(source) as raw, unpacked(raw) as stream:
                tell = _telling(reading, source)
                for found in in_parts(
                    source.name, source.given, stream, workers, made, on_error=tell
                ):
                    reading.counts.include(found.counts)
                    for remark in found.remarks:
                        reading.tell(source.name, remark)
                    yield found.data


def of_parts(lines: bool, ended_only: bool) -> Callable[[SharedPart], Result | None]:
    """What makes documents of a part of documents, each on one line with ``lines``."""
    return on_parts(_of_batches(lines, ended_only))


def _telling(reading: RecordReading, source: NamedSource) -> Callable[[UnreadableDocument], None]:
    """What counts and tells what cannot be read of a source of documents."""

    def tell(error: UnreadableDocument) -> None:
        bad = sss.unread(error)
        reading.counts.add(bad)
        reading.tell(source.name, bad)

    return tell


def _of_batches(lines: bool, ended_only: bool) -> Callable[[str, Batch], Result]:
    """What makes documents of a batch."""
    engine = RecordEngine(sss.LAYOUT, Options(ended_only=ended_only), TEXTS)

    def work(_: str, batch: Batch) -> Result:
        if not batch.units and (error := without_jobs(batch.root, batch.offset)):
            return result(engine.made([sss.unread(error)]), lines=lines)
        found = (
            sss.made(job.line, job)
            for unit in filter(is_block, batch.units)
            for job in sss.jobs_of(from_tree(unit))
        )
        return result(engine.made([*found]), lines=lines)

    return work
