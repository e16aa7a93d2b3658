"""``sssjob ledger export``: a ledger as one file for other programs."""

from __future__ import annotations

import sys

import click

from sssjob.cli import common, options
from sssjob.cli.ledger import shared

FORMS = ("csv", "parquet", "sqlite", "duckdb")


@click.command(
    epilog="""\b
Examples:
  sssjob ledger export usage > runs.csv
  sssjob ledger export --to parquet -o runs.parquet usage
  sssjob ledger export --to sqlite -o runs.db usage

Exit code: 0 done, 1 there is no run, 2 the ledger cannot be read, or the file cannot be written."""
)
@click.option(
    "--to", "form", type=click.Choice(FORMS), default="csv", show_default=True,
    help="Comma-separated values, one file of Parquet, or a database of SQLite or DuckDB.",
)  # fmt: skip
@options.RAW
@options.OUTPUT
@shared.AS_OF
@shared.directory
def command(form: str, raw: bool, output: str | None, number: int | None, directory: str) -> None:
    """Write every run of the ledger DIR to one file, in any order.

    It has the columns of the table runs of sssjob ledger sql, which is its name in a database, too.
    A database is made in the directory for temporary files before it is copied.
    """
    if raw and form != "csv":
        common.fail("--raw is for --to csv")
    with shared.opened(directory, number=number) as ledger:
        from sssjob.ledger import exporting
        from sssjob.ledger.tables import Runs

        with common.output(output) as stream:
            count = exporting.export(Runs(ledger), form, stream, raw=raw)
    common.say(f"{common.name_of(directory)}: {count} runs")
    sys.exit(common.FOUND if count else common.NOTHING)
