"""Records folded into the jobs of all documents in a directory, each of which is read twice.

Records are read once for all of them. A document that nothing is about stays untouched.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sssjob.delivery.document import Delivery, Tally
from sssjob.document import Source
from sssjob.document.files import is_compressed
from sssjob.document.sources import documents
from sssjob.errors import UnreadableDocument, finding
from sssjob.registry import Format

Write = Callable[[Path, Delivery], None]


class DirectoryDelivery:
    """The documents of a directory: first which jobs there are, then with what is for them."""

    def __init__(self, directory: Path, *, overwrite: bool = False) -> None:
        self._records = Delivery(directory, overwrite=overwrite)
        self._parts: list[Delivery] = []
        self._overwrite = overwrite

    @property
    def tally(self) -> Tally:
        """What happened, in all documents together."""
        return self._records.tally

    def look(self) -> None:
        """Learn the ids of all jobs; a document that cannot be read is a finding."""
        for path in documents(Path(self._records.source)):
            part = Delivery(path, overwrite=self._overwrite)
            try:
                part.look()
            except UnreadableDocument as error:
                self.tally.findings.append(error.finding.in_file(str(path)))
                self.tally.unread += 1
                continue
            self.tally.jobs += part.tally.jobs
            self._records.wanted |= part.wanted
            self._parts.append(part)

    def take_records(self, source: Source, name: str, format_: Format, zone: str = "") -> None:
        """Read the records about jobs of the documents; bad ones are reported and counted."""
        self._records.take_records(source, name, format_, zone)

    def write(self, write: Write) -> None:
        """Have each document written anew that something is about.

        ``write`` is given the path and the delivery whose ``pieces`` are to stand there.
        """
        for part in self._parts:
            if part.wanted.isdisjoint(self._records.records):
                continue
            path = Path(part.source)
            if is_compressed(path):
                text = "is compressed, and is not written back"
                self.tally.findings.append(finding("W-USELESS", text, file=str(path)))
                continue
            part.records = self._records.records
            write(path, part)
            self.tally.delivered += part.tally.delivered
            self.tally.changes += part.tally.changes
            self.tally.refused += part.tally.refused
            self.tally.findings += part.tally.findings
