"""Documents and records from what the user named; what else becomes of records is printed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

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


def documents(files: Iterable[str], complain: common.Complain) -> Iterator[NamedSource]:
    """The documents of each named file, directory or store; records are jobs, and that is said.

    ``complain`` says what is bad of them: it ends a command as a document that cannot be read does.
    """
    return (document for _, document in documents_by_source(files, complain))


def documents_by_source(
    files: Iterable[str], complain: common.Complain, *, requests: bool = False
) -> Iterator[tuple[NamedSource, NamedSource]]:
    """The same, each with the source that it is of; ``requests``: as ``with_requests``."""
    from sssjob.verbs import documents

    said = RecordMessages(complain)
    for source in with_requests(files) if requests else common.sources(files):
        for document in documents.documents((source,), said):
            yield source, document


def with_requests(files: Iterable[str]) -> Iterator[NamedSource]:
    """Each named file as a source; a ledger, which has no whole requests, ends the command."""
    for source in common.sources(files):
        not_a_ledger(source)
        yield source


def not_a_ledger(source: NamedSource) -> None:
    """End the command if a source is a ledger, which has less than the command needs."""
    if source.is_ledger:
        what = "is a ledger: it has what jobs used, but not all that they asked for"
        common.fail(
            f"{common.name_of(source.name)} {what}; name the documents or records of these jobs"
        )


def only_documents(file: str) -> None:
    """End the command if a file has records, or is a ledger: no document that could be changed."""
    from sssjob.verbs import documents

    (source,) = with_requests((file,))
    if not source.is_directory and os.path.isfile(file):
        with common.failing(), ExitStack() as stack:
            found, _ = documents.recognised(source, stack)
        if found is not None:
            what = f"has records of the format {found.format.name}, and no document to change"
            common.fail(f"{common.name_of(file)} {what}: sssjob convert makes documents of them")


class UserTable(NamedTuple):
    """A table without a header, as the user describes it: its columns, and what separates them."""

    columns: tuple[str, ...]
    delimiter: str


def table(columns: str, delimiter: str) -> UserTable:
    """What ``--columns`` and ``--delimiter`` say."""
    names = tuple(name.strip() for name in columns.split(",") if name.strip())
    return UserTable(names, delimiter.replace("\\x1f", "\x1f").replace("\\t", "\t"))


class RecordMessages:
    """What was said of records: each bad one, and some notes only once.

    ``faults`` lists the first bad records. All of them are printed, or the first ``most`` of each
    file; then ``rest`` prints how many others there were. ``unread`` counts documents that cannot
    be read: these end every command with 2.
    """

    def __init__(self, complain: common.Complain = common.say, most: int | None = None) -> None:
        self._complain = complain
        self._first = common.FirstOfEach(most, "; --all-findings tells each")
        self.faults: list[dict[str, str | int]] = []
        self.unread = 0
        self._told: set[str] = set()

    def __call__(self, name: str, item: record.Bad | record.Noted) -> None:
        """Print it, with its place."""
        from sssjob.records.record import Bad

        place = f"{common.name_of(name)}:{item.line}"
        if isinstance(item, Bad):
            self.unread += item.unread
            if self._first.is_told(name, "error"):
                self._complain(f"{place}: error: {item.reason}")
            if len(self.faults) < FAULTS:
                self.faults.append({"file": name, "line": item.line, "reason": item.reason})
        elif item.message not in self._told:
            self._told |= {item.message} if item.once else set()
            common.say(f"{place}: {item.severity}: {item.message}")

    def rest(self) -> None:
        """Print how many bad records there were that were not printed."""
        self._first.rest()


def said(all_findings: bool) -> RecordMessages:
    """What is said of the records of a command that has the option ``--all-findings``."""
    return RecordMessages(most=None if all_findings else common.MOST)
