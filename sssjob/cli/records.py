"""Documents and records from what the user named; what else becomes of records is printed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sssjob.cli import common

if TYPE_CHECKING:
    from sssjob.document.sources import NamedSource
    from sssjob.records import Format, record

FAULTS = 1000  # bad records that are listed


def format_of(name: str) -> Format:
    """The format of a name; one that is not known ends the command."""
    from sssjob.errors import UnusableInput
    from sssjob.records import AUTO, find

    try:
        found = find(name)
        if found is not AUTO:
            found.load()
    except UnusableInput as error:
        common.fail(error.reason)
    return found


def documents(files: Iterable[str]) -> Iterator[NamedSource]:
    """The documents of each named file, directory or store; records are jobs, and that is said."""
    return (document for _, document in documents_by_source(files))


def documents_by_source(files: Iterable[str]) -> Iterator[tuple[NamedSource, NamedSource]]:
    """The same, each with the source that it is of."""
    from sssjob.verbs import documents

    said = Said()
    for source in common.sources(files):
        for document in documents.documents((source,), said):
            yield source, document


class Said:
    """What was said of records: each bad one, and some notes only once.

    ``faults`` lists the first bad records; all of them are printed and counted.
    """

    def __init__(self) -> None:
        self.faults: list[dict[str, str | int]] = []
        self._told: set[str] = set()

    def __call__(self, name: str, item: record.Bad | record.Noted) -> None:
        """Print it, with its place."""
        from sssjob.records.record import Bad

        place = f"{common.name_of(name)}:{item.line}"
        if isinstance(item, Bad):
            common.say(f"{place}: error: {item.reason}")
            if len(self.faults) < FAULTS:
                self.faults.append({"file": name, "line": item.line, "reason": item.reason})
        elif item.message not in self._told:
            self._told |= {item.message} if item.once else set()
            common.say(f"{place}: {item.severity}: {item.message}")
