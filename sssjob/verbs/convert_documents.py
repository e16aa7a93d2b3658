"""Job objects again, one on each line, by several processes; see ``convert.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from sssjob.document import from_tree
from sssjob.document import opened as unpacked
from sssjob.document.batches import Batch
from sssjob.document.outermost import Wanted
from sssjob.document.reader import SharedPart, in_parts, on_parts
from sssjob.document.sources import NamedSource, naming
from sssjob.document.text import on_one_line
from sssjob.errors import UnreadableDocument
from sssjob.formats import sss
from sssjob.records.builders import TEXTS
from sssjob.records.engine import RecordEngine
from sssjob.records.parts import Result, result
from sssjob.records.record import Bad, Converted, Noted, Options, Outcome, Skipped
from sssjob.records.runs import (
    AGAIN,
    TWICE,
    Knowing,
    ListedRuns,
    hashed,
    noted,
    of_jobs,
    probe,
)
from sssjob.verbs.records import RecordReading
from sssjob.workers import PartWork, Workers


def parts(
    sources: Iterable[NamedSource], reading: RecordReading, processes: int, seen: Knowing | None,
    *, lines: bool, ended_only: bool,
) -> Iterator[bytes | memoryview]:  # fmt: skip
    """The documents of sources, cut as documents are: what is refused is a bad record.

    Those of runs that ``seen`` has met are left out.
    """
    told = lines, ended_only, probe() if seen else None
    work = PartWork("sssjob.verbs.convert_documents:of_parts", told)
    made = _of_batches(*told)
    with Workers[SharedPart, ConvertedDocuments | None](work, processes) as workers:
        for source in sources:
            with naming(source.name), reading.opening(source) as raw, unpacked(raw) as stream:
                tell = _telling(reading, source)
                for found in in_parts(
                    source.name, source.given, stream, workers, made, on_error=tell,
                    wanted=Wanted.JOBS,
                ):  # fmt: skip
                    if seen and not seen.are_new_in(found.made.runs):
                        found = _without_twins(found, seen)
                    counts, remarks = found.made.counts, found.made.remarks
                    reading.counts.include(counts)
                    for remark in remarks:
                        reading.tell(source.name, remark)
                    yield found.made.data


class ConvertedDocuments(NamedTuple):
    """What a part of documents became, and of each that was converted its size and its line.

    ``remarked`` are the places among these of the documents that remarks are about, in the order of
    the remarks; None for what was not converted.
    """

    made: Result
    sizes: Sequence[int] = ()
    lines: Sequence[int] = ()
    remarked: Sequence[int | None] = ()


def of_parts(
    lines: bool, ended_only: bool, probed: int | None
) -> Callable[[SharedPart], ConvertedDocuments | None]:
    """What makes documents of a part of documents, each on one line with ``lines``.

    Its runs are listed for whom ``probed`` tells of.
    """
    return on_parts(_of_batches(lines, ended_only, probed))


def _without_twins(found: ConvertedDocuments, seen: Knowing) -> ConvertedDocuments:
    """The same without what does not count, and without what there is to say of that."""
    made, texts, at = found.made, [], 0
    verdicts, counts = seen.take(hashed(made.runs)), made.counts
    said = zip(found.remarked, made.remarks, strict=True)
    remarks = [each for place, each in said if place is None or verdicts[place] != TWICE]
    for size, line, verdict in zip(found.sizes, found.lines, verdicts, strict=True):
        if note := noted(line, verdict):
            remarks.append(note)
        if verdict == TWICE:
            counts.converted -= 1
            counts.add(Skipped(line, AGAIN))
        else:
            texts.append(made.data[at : at + size])
        at += size
    remarks.sort(key=lambda each: each.line)
    return found._replace(made=made._replace(data=b"".join(texts), remarks=remarks))


def _remarked(outcomes: Sequence[Outcome[str]]) -> Iterator[int | None]:
    """Of each remark, which of the converted documents it is about; it stands behind that."""
    place, is_converted = -1, False
    for each in outcomes:
        if isinstance(each, Converted):
            place, is_converted = place + 1, True
        elif not isinstance(each, Noted):
            is_converted = False
        if isinstance(each, (Bad, Noted)):
            yield place if is_converted else None


def _telling(reading: RecordReading, source: NamedSource) -> Callable[[UnreadableDocument], None]:
    """What counts and tells what cannot be read of a source of documents."""

    def tell(error: UnreadableDocument) -> None:
        bad = sss.unread(error)
        reading.counts.add(bad)
        reading.tell(source.name, bad)

    return tell


def _of_batches(
    lines: bool, ended_only: bool, probed: int | None
) -> Callable[[str, Batch], ConvertedDocuments]:
    """What makes documents of a batch."""
    engine = RecordEngine(sss.LAYOUT, Options(ended_only=ended_only), TEXTS)

    def work(_: str, batch: Batch) -> ConvertedDocuments:
        blocks = (from_tree(unit, offset=batch.offset) for unit in batch.units)
        jobs = [job for block in blocks for job in sss.jobs_of(block)]
        outcomes = [*engine.made([sss.made(job.line, job) for job in jobs])]
        made = result(outcomes, lines=lines)
        if probed is None:
            return ConvertedDocuments(made)
        met = ListedRuns(probed)
        met.are_new(of_jobs((job for job in jobs if sss.has_ended(job) or not ended_only), met))
        converted = [each for each in outcomes if isinstance(each, Converted)]
        texts = (on_one_line(each.job) if lines else each.job for each in converted)
        return ConvertedDocuments(
            made._replace(runs=met.runs),
            [len(text.encode()) + 1 for text in texts],
            [each.line for each in converted],
            [*_remarked(outcomes)],
        )

    return work
