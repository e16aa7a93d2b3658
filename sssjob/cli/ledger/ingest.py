"""``sssjob ledger ingest``: documents, stores and records into a ledger."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack

import click

from sssjob.cli import cluster, common, names, options, records
from sssjob.cli.ledger import shared
from sssjob.cli.names import DOCUMENTS
from sssjob.cli.progress import watching
from sssjob.cli.report import by_format


@click.command(
    epilog="""\b
Examples:
  sssjob ledger ingest usage sacct-2026-11-20.txt
  sssjob ledger ingest --workers 0 usage server_priv/accounting/2026*
  sssjob ledger ingest --cluster slurm --workers 8 usage 2026/sacct-*.txt
  sssjob ledger ingest usage jobs.db
  sacct -aPD -S now-1day -o ALL | sssjob ledger ingest --tz Europe/London usage -

It may be interrupted at any time, and run again.

Exit code: 0 all is in, 1 a record is bad, 2 not understood, or something could not be read or
written."""
)
@shared.directory
@click.argument("files", nargs=-1, metavar="[FILE]...")
@names.DOCUMENTS_OR_RECORDS
@options.ZONE
@options.COLUMNS
@options.DELIMITER
@options.WORKERS
@cluster.option
@click.option(
    "--keep", is_flag=True,
    help="Keep the text of the records, too, compressed: sssjob ledger show --record prints it.",
)  # fmt: skip
@click.option("--again", is_flag=True, help="Read files again that were read before.")
@options.ALL_FINDINGS
@options.JSON_OBJECT
def command(
    directory: str, files: tuple[str, ...], format_name: str, zone: str, columns: str,
    delimiter: str, processes: int, keep: bool, again: bool, as_json: bool,
) -> None:  # fmt: skip
    """Put the runs of jobs in FILEs into the ledger DIR. It is made if it does not exist.

    FILEs hold documents (compressed or not), or are stores or other ledgers, or hold records of a
    batch system; "-" is standard input. A run that is in the ledger already is replaced if the new
    record of it differs, unless the run had not ended yet in the new record. A FILE with the same
    bytes as one that was read before is not read again, unless something in it could not be read
    at all.
    """
    from sssjob.verbs.records import RecordReading

    if format_name != DOCUMENTS:
        records.format_of(format_name)
    table = records.table(columns, delimiter, format_name)
    said, unread = records.RecordMessages(), common.Complaints()
    reading = RecordReading(said, watching)

    def tell(error: Exception) -> None:
        unread(common.reason(error) if isinstance(error, OSError) else error)

    with shared.opened(directory, create=True) as ledger, ExitStack() as stack:
        from sssjob.records.record import Options
        from sssjob.verbs.ledger import Ingestion

        wanted = Options(zone, *table, steps=False)
        processes = cluster.processes(processes)
        work = Ingestion(ledger, tell, wanted, reading, processes, again, keep)
        for name, some in by_format(common.sources(files), format_name, stack, said):
            work.take(some, name)
        work.commit()
    said.rest()
    added, bad = work.adding.total, reading.counts.bad
    if as_json:
        told = {**added._asdict(), "bad": bad, "unread": unread.count, "known": work.known}
        common.data(json.dumps(told))
    else:
        known = f", files read before {work.known}" if work.known else ""
        common.say(f"{added}, bad {bad}{known}")
    sys.exit(common.ended(bad, unread=unread.count + said.unread))
