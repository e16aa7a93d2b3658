"""Documents and records from what the user named; what else becomes of records is printed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

import click

from sssjob.cli import common

if TYPE_CHECKING:
    from sssjob.document.sources import NamedSource
    from sssjob.records import Format, record
    from sssjob.records.record import Options

FAULTS = 1000  # bad records that are listed
_ONCE = 10_000  # messages that are not said again, of which each record may have another one
_AUTO, _DOCUMENTS = "auto", "sss"  # what --from names beside formats of records


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


def reading() -> Options | None:
    """How the command that runs reads records, or None where nothing says so: by the options of
    ``names.records``, and by the zone that, of a command without ``--tz``, the file of defaults
    names for times that state none. What does not fit together ends the command.
    """
    from sssjob.cli import defaults
    from sssjob.cli.options import OF_RECORDS

    context = click.get_current_context()
    given = context.meta.get(OF_RECORDS, {})
    zone = given.get("zone") or context.params.get("zone") or defaults.zone(context)
    format_name = given.get("format_name") or _AUTO
    own = table(given.get("columns", ""), given.get("delimiter", ""), format_name)
    if not zone and not any(own) and format_name == _AUTO:
        return None
    from sssjob.records.record import Options

    if format_name not in (_AUTO, _DOCUMENTS):
        format_name = format_of(format_name).name
    return Options(zone, *own, format="" if format_name == _AUTO else format_name)


def documents(files: Iterable[str], complain: common.Complain) -> Iterator[NamedSource]:
    """The documents of each named file, directory or store; records are jobs, and that is said.

    ``complain`` says what is bad of them: each bad record is a ``BadRecord``.
    """
    return (document for _, document in documents_by_source(files, complain))


def documents_by_source(
    files: Iterable[str], complain: common.Complain, *, requests: bool = False
) -> Iterator[tuple[NamedSource, NamedSource]]:
    """The same, each with the source that it is of; ``requests``: as ``with_requests``."""
    from sssjob.verbs import documents

    said, options = RecordMessages(complain), reading()
    for source in with_requests(files) if requests else common.sources(files):
        for document in documents.documents((source,), said, options):
            yield source, document
    said.rest()


def read_by(said: RecordMessages, files: Iterable[str]) -> Iterator[NamedSource]:
    """The documents of each named source; what is to be said of records goes to ``said``."""
    from sssjob.verbs import documents

    return documents.documents(common.sources(files), said, reading())


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


def table(columns: str, delimiter: str, format_name: str = "") -> UserTable:
    """What ``--columns`` and ``--delimiter`` say. Ends the command where a ``format_name`` is given
    and is no format that they could be about.
    """
    if columns or delimiter:
        if format_name in (_AUTO, _DOCUMENTS):
            common.fail(
                "--columns and --delimiter need --from: without a header line no format is "
                "recognised"
            )
        if format_name and not format_of(format_name).load().is_table:
            common.fail(
                f"--columns and --delimiter are for tables of sacct: records of {format_name} say "
                "themselves what they have"
            )
    names = tuple(name.strip() for name in columns.split(",") if name.strip())
    return UserTable(names, delimiter.replace("\\x1f", "\x1f").replace("\\t", "\t"))


class RecordMessages:
    """What was said of records: each bad one, and some notes only once.

    ``faults`` lists the first bad records. The first of each file are printed, as ``common.told``
    counts them, and ``rest`` prints how many others there were, and for how many more records each
    of the notes stood that are said once. ``bad`` counts bad records, and
    ``unread`` documents that cannot be read at all: ``common.ended`` takes both.
    """

    def __init__(self, complain: common.Complain = common.say) -> None:
        self._complain = complain
        self.faults: list[dict[str, str | int]] = []
        self.bad = self.unread = 0
        self._told: set[str] = set()

    def __call__(self, name: str, item: record.Bad | record.Noted) -> None:
        """Print it, with its place."""
        from sssjob.records.record import Bad

        place = common.name_of(name) + (f":{item.line}" if item.line else "")
        if isinstance(item, Bad):
            self.unread += item.unread
            self.bad += not item.unread
            if common.told().is_told(name, "error"):
                place += f":{item.column}" if item.column else ""
                said = f"{place}: error: {item.reason}{f' [{item.code}]' if item.code else ''}"
                self._complain(said if item.unread else common.BadRecord(said))
            if len(self.faults) < FAULTS:
                self.faults.append({"file": name, "line": item.line, "reason": item.reason})
        elif item.message in self._told:
            # A zone is of no record, but of each part of a source; of a notice nothing is wrong.
            if not item.assumes_utc and item.severity != "notice":
                common.told().not_again(item.message)
        else:
            head = f"{place}: {item.severity}:"
            is_printed = common.say_of(name, item.severity, f"{head} {_advised(item)}")
            if is_printed and item.once and len(self._told) < _ONCE:
                self._told.add(item.message)
                common.told().said_once(item.message, head)

    def rest(self) -> None:
        """Print how many there were that were not printed."""
        common.told().rest()


def _advised(item: record.Noted) -> str:
    """Its message; of a command that has no ``--tz``, none is named."""
    from sssjob.records.clock import AS_UTC

    context = click.get_current_context(silent=True)
    if not item.assumes_utc or context is None or "--tz" in _options(context.command):
        return item.message
    return f"{AS_UTC}; zone in the file of defaults names another zone (sssjob config)"


def _options(command: click.Command) -> set[str]:
    return {name for each in command.params for name in each.opts}
