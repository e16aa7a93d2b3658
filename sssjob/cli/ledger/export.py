"""``sssjob ledger export``: a ledger as one file for other programs."""

from __future__ import annotations

import sys

import click

from sssjob.cli import common, options
from sssjob.cli.ledger import shared

FORMS = ("csv", "parquet", "sqlite", "duckdb")
DELTA = "delta"


@click.command(
    epilog="""\b
Examples:
  sssjob ledger export usage > runs.csv
  sssjob ledger export --to parquet -o runs.parquet usage
  sssjob ledger export --to sqlite -o runs.db usage
  sssjob ledger export --to delta -o runs.delta usage

Exit code: 0 done, 1 there is no run, 2 the ledger cannot be read, or the file cannot be written."""
)
@click.option(
    "--to", "form", type=click.Choice((*FORMS, DELTA)), default="csv", show_default=True,
    help="Comma-separated values, one file of Parquet, a database of SQLite or DuckDB, or a "
         "directory that is a table of Delta Lake.",
)  # fmt: skip
@options.RAW
@options.OUTPUT
@shared.AS_OF
@shared.directory
def command(form: str, raw: bool, output: str | None, number: int | None, directory: str) -> None:
    """Write every run of the ledger DIR to one file, or a new directory, in any order.

    It has the columns of the table runs of sssjob ledger sql, which is its name in a database, too.
    A database is made in the directory for temporary files before it is copied.
    """
    if raw and form != "csv":
        common.fail("--raw is for --to csv")
    if form == DELTA and output in (None, "-"):
        common.fail("--to delta needs --output DIRECTORY, which is new or empty")
    with shared.opened(directory, number=number) as ledger:
        from sssjob.ledger import exporting
        from sssjob.ledger.tables import Runs

        if form == DELTA and output:
            count = exporting.export_delta(Runs(ledger), output)
        else:
            with common.output(output) as stream:
                count = exporting.export(Runs(ledger), form, stream, raw=raw)
    common.say(f"{common.name_of(directory)}: {count} runs")
    sys.exit(common.FOUND if count else common.NOTHING)
