"""Accounting held against what the batch system says exists: both sides read, then compared."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from sssjob import registry
from sssjob.accounting import statements
from sssjob.accounting.audit import AuditQuestion, SystemStatement
from sssjob.accounting.run import StatedRun, runs_of
from sssjob.commands import CommandLimits
from sssjob.document.files import looked_at
from sssjob.document.files import opened as unpacked
from sssjob.document.sources import NamedSource, naming, opened
from sssjob.errors import SSSJobError, UnusableInput
from sssjob.verbs.documents import DOCUMENTS, by_format, ledger_of
from sssjob.verbs.records import LastRecords, RecordReading
from sssjob.verbs.report import ReportedJobs

AUTO = "auto"
_HEAD = 512  # bytes that tell whether a file holds sums
_LIMIT = 1 << 24  # bytes of a file with sums

Read = Callable[[str, str], Iterator[SystemStatement]]  # of the name of a source, and its text


@dataclass(frozen=True, slots=True)
class Sides:
    """How both sides are read.

    ``on_error`` is given what cannot be read of documents, ``reading`` tells of records;
    ``columns`` and ``delimiter`` are those of tables without a header.
    """

    on_error: Callable[[SSSJobError], None]
    reading: RecordReading = field(default_factory=RecordReading)
    zone: str = ""
    columns: tuple[str, ...] = ()
    delimiter: str = ""

    def runs(self, sources: Iterable[NamedSource], wanted: str = AUTO) -> Iterator[StatedRun]:
        """The runs of documents, stores, ledgers and records, as often as they are there."""
        for is_ledger, some in groupby(sources, lambda source: source.is_ledger):
            if is_ledger and wanted in (AUTO, DOCUMENTS):
                for source in some:
                    yield from self._of_ledger(source)
            else:
                yield from self._of_jobs(some, wanted)

    def _of_ledger(self, source: NamedSource) -> Iterator[StatedRun]:
        """The runs of a ledger, of its columns. Raises ``UnusableStore``."""
        found = ledger_of(source)
        from sssjob.ledger import jobs

        return jobs.runs(found)

    def _of_jobs(self, sources: Iterable[NamedSource], wanted: str) -> Iterator[StatedRun]:
        raw_ids = [(row.title, row.raw_id) for row in registry.all_systems().values() if row.raw_id]
        with ExitStack() as stack:
            groups = (
                by_format(sources, stack, self.reading.tell)
                if wanted == AUTO
                else ((wanted, iter(sources)),)
            )
            for name, some in groups:
                last = LastRecords[StatedRun](self.reading.tell, _as_cut)
                reading = replace(self.reading, tell=last.tell)
                for source in some:
                    jobs = ReportedJobs(
                        [source], self.on_error, name, self.zone, reading, seen=None,
                        columns=self.columns, delimiter=self.delimiter,
                    )  # fmt: skip
                    yield from last.marked(source.name, runs_of(jobs, raw_ids))

    def against(
        self, sources: Iterable[NamedSource]
    ) -> tuple[list[StatedRun] | None, list[SystemStatement]]:
        """What files say exists: runs, where one lists some, and sums.

        Raises ``OSError``, and ``SSSJobError`` for what cannot be read.
        """
        listing = replace(self, columns=(), delimiter="")  # which has a header
        runs: list[StatedRun] | None = None
        sums: list[SystemStatement] = []
        for source in sources:
            if not source.is_store and not source.is_directory:
                with naming(source.name), opened(source) as raw, unpacked(raw) as stream:
                    head, again = looked_at(stream, _HEAD)
                    read = self._reader_of_sums(head)
                    if read is not None:
                        sums += read(source.name, _text(again))
                        continue
                    if not isinstance(source.given, Path):
                        runs = [*(runs or ()), *listing.runs([source._replace(given=again)])]
                        continue
            runs = [*(runs or ()), *listing.runs([source])]
        return runs, sums

    def asked(self, name: str, question: AuditQuestion, limits: CommandLimits) -> list[StatedRun]:
        """What a batch system lists of the span. Raises ``CommandFailed`` and ``UnusableInput``."""
        system = registry.system(name)
        ask = system.load("listed")
        if question.since is None:
            raise UnusableInput("a batch system is asked about a span of time: give --since")
        printed = ask(question.since, question.until, limits)
        source = NamedSource(name, io.BytesIO(printed))
        plain = replace(self, columns=(), delimiter="")
        return list(plain.runs([source], system.formats[0].name))

    def _reader_of_sums(self, head: bytes) -> Read | None:
        """What reads the sums that begin so."""
        if statements.recognises(head):
            return statements.read
        for row in registry.all_systems().values():
            found: Any = row.load("sums") if row.sums else None
            if found is not None and found.recognises(head):
                return lambda name, text: found.read(name, text, self.zone)
        return None


def _as_cut(run: StatedRun) -> StatedRun:
    return run._replace(is_cut=True)


def _text(stream: Any) -> str:
    found: bytes = stream.read(_LIMIT + 1)
    if len(found) > _LIMIT:
        raise UnusableInput(f"sums of more than {_LIMIT} bytes")
    return found.decode("utf-8", "replace")
