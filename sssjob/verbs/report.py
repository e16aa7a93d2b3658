"""What jobs used, added up: of documents, stores, and records of any format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from sssjob import store
from sssjob.accounting.report import Report
from sssjob.document import loads, read
from sssjob.errors import SSSJobError, UnreadableDocument
from sssjob.model import Block
from sssjob.records import find, read_records
from sssjob.records.record import Options
from sssjob.records.roads import OBJECTS
from sssjob.verbs.records import Reading
from sssjob.verbs.sources import Source

DOCUMENTS = "sss"  # the format that sources have of themselves


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs of sources: documents and stores, or records of a format.

    ``on_error`` is given what cannot be read, and the rest goes on.
    """

    sources: Iterable[Source]
    on_error: Callable[[SSSJobError], None]
    format: str = DOCUMENTS
    zone: str = ""
    reading: Reading = field(default_factory=Reading)

    def add_to(self, report: Report) -> None:
        """Add them all to a report. Raises ``OSError``, and ``SSSJobError`` for the first source
        of records that has none.
        """
        for block in self:
            report.add(block)

    def __iter__(self) -> Iterator[Block]:
        if self.format == DOCUMENTS:
            for source in self.sources:
                yield from self._stored(source) if source.is_store else self._read(source)
            return
        chosen, options = find(self.format), Options(zone=self.zone, steps=False)
        yield from self.reading.jobs(
            self.sources, lambda stream: read_records(chosen, stream, options, OBJECTS)
        )

    def _stored(self, source: Source) -> Iterator[Block]:
        with store.open(source.name, read_only=True) as jobs:
            for stored in jobs.documents(on_error=self.on_error):
                yield loads(stored.document)

    def _read(self, source: Source) -> Iterator[Block]:
        def tell(error: UnreadableDocument) -> None:
            self.on_error(UnreadableDocument(error.finding.in_file(source.name)))

        with self.reading.opening(source) as stream:
            yield from read(stream, on_error=tell)
