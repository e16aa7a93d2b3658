"""``sssjob store import``: job objects into a store, as they are, and what records become."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, names, options, progress, records
from sssjob.cli.store import shared
from sssjob.errors import UNREAD
from sssjob.records import AUTO

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sssjob.document.sources import NamedSource
    from sssjob.errors import Finding, UnreadableDocument
    from sssjob.records.record import Options
    from sssjob.store import Counts, Store
    from sssjob.store.reading import Readers
    from sssjob.store.used import Follow
    from sssjob.verbs.keeping import Read


@click.command(
    name="import",
    epilog="""\b
Examples:
  sssjob store import jobs.db jobs.sss archive/
  sssjob convert --from slurm sacct.txt | sssjob store import jobs.db -
  sssjob store import jobs.db --reason "April, corrected" april.sss.zst
  sssjob store import --workers 0 jobs.db archive/
  sssjob store import jobs.db sacct-2026-*.txt.gz
  sssjob store import all.db cluster-a.db cluster-b.db

Exit code: 0 all job objects are kept, 1 some were bad, 2 a document or a file cannot be read,
or the store cannot be used.""",
)
@shared.store
@click.argument("files", nargs=-1, metavar="[FILE]...")
@shared.by
@names.DOCUMENTS_OR_RECORDS
@options.ZONE
@options.COLUMNS
@options.DELIMITER
@options.ENDED_ONLY
@options.REASON
@options.WORKERS
@options.ALL_FINDINGS
@shared.as_json
def command(
    store: str, files: tuple[str, ...], by: str | None, format_name: str, zone: str, columns: str,
    delimiter: str, ended_only: bool, reason: str, processes: int,
    as_json: bool,
) -> None:  # fmt: skip
    """Keep the job objects of FILEs, byte for byte; makes the store if there is none.

    A FILE has documents or records, compressed or not; or it is a directory of these,
    another store, or "-" for standard input. Records are kept as the job objects that sssjob
    convert makes of them. Job objects that cannot be stored are reported with their line, and the
    others are imported. Job objects that are there already stay as they are, so an import that was
    interrupted can be run again. A File that a job object refers to with # is kept with it; a
    warning names each one that is missing.
    """
    from sssjob.records.record import Options
    from sssjob.store import Counts
    from sssjob.store.reading import readers

    if format_name != names.DOCUMENTS:
        records.format_of(format_name)
    elif any((zone, columns, delimiter, ended_only)):
        common.fail("--tz, --columns, --delimiter and --ended-only are for records, not --from sss")
    table = records.table(columns, delimiter, format_name)
    options_ = Options(zone, table.columns, table.delimiter, ended_only)
    said = records.RecordMessages()
    with (
        shared.opened(store, create=True, by=shared.user(by)) as jobs,
        readers(common.processes(processes)) as some,
        common.failing(),
        ExitStack() as stack,
    ):
        total, not_read = Counts(), 0
        for name, found in _by_format(records.with_requests(files), format_name, stack, said):
            if name == names.DOCUMENTS:
                more, unread = _documents(jobs, found, reason, some)
                total, not_read = total + more, not_read + unread
            else:
                total += _records(
                    jobs, found, name, options_, said, reason, common.processes(processes)
                )
    said.rest()
    if as_json:
        common.data(json.dumps(total.as_dict()))
    else:
        common.say(total)
    sys.exit(common.ended(total.bad, unread=not_read))


def _by_format(
    found: Iterable[NamedSource], format_name: str, stack: ExitStack, said: records.RecordMessages
) -> Iterator[tuple[str, Iterable[NamedSource]]]:
    """The sources by the format that was named, or that they are recognised by, which is said."""
    from sssjob.verbs import documents

    if format_name == AUTO.name:
        yield from documents.by_format(found, stack, said)
    else:
        yield format_name, documents.readable(found, said)


def _documents(
    jobs: Store, found: Iterable[NamedSource], reason: str, readers: Readers
) -> tuple[Counts, int]:
    """Keep documents; how many cannot be read comes beside the counts."""
    from sssjob.store import Counts
    from sssjob.verbs import documents

    total, unread = Counts(), 0
    for name, source in documents.readable(found):
        more, other = _load(jobs, name, source, reason, readers)
        total, unread = total + more, unread + other
    return total, unread


def _records(
    jobs: Store, found: Iterable[NamedSource], format_name: str, wanted: Options,
    said: records.RecordMessages, reason: str, processes: int,
) -> Counts:  # fmt: skip
    """Keep what records become; one history entry for each source."""
    from sssjob.records.runs import SeenRuns
    from sssjob.store import Counts
    from sssjob.verbs import keeping, store_report
    from sssjob.verbs.convert import Conversion
    from sssjob.verbs.records import RecordReading

    reading = RecordReading(said, progress.watching)
    seen = SeenRuns(takes_later=True)
    work = Conversion(found, format_name, wanted, reading, processes, seen=seen)
    total = Counts()
    with store_report.followed(jobs) as follow:
        for name, documents in keeping.of_sources(work):
            total += _keep(jobs, name, documents, reason, follow)
    return total + Counts(bad=reading.counts.bad)


def _keep(jobs: Store, name: str, documents: Iterable[Read], reason: str, follow: Follow) -> Counts:
    def tell(error: UnreadableDocument) -> None:
        warn(error.finding)

    def warn(found: Finding) -> None:
        common.print_findings([found.in_file(name)])

    return jobs.keep(
        documents, name=name, reason=reason, on_error=tell, on_warning=warn, follow=follow
    )


def _load(
    jobs: Store, name: str, source: object, reason: str, readers: Readers
) -> tuple[Counts, int]:
    unread = 0

    def tell(error: UnreadableDocument) -> None:
        nonlocal unread
        unread += error.finding.code in UNREAD
        common.print_findings([error.finding.in_file(name)])

    def warn(found: Finding) -> None:
        common.print_findings([found.in_file(name)])

    with progress.watched(source, Path(name).name) as stream:  # type: ignore[arg-type]
        found = jobs.load(
            stream, name=name, reason=reason, on_error=tell, on_warning=warn, readers=readers,
            file=source if isinstance(source, Path) else None,
        )  # fmt: skip
    return found, unread
