"""``sssjob ledger``: what each run of each job used, kept for reports in seconds."""

from __future__ import annotations

import click

from sssjob.cli.commands import Commands

# fmt: off
COMMANDS = {
    "init":    "Make an empty ledger.",
    "ingest":  "Put documents, stores or records into a ledger.",
    "report":  "Add up what jobs used, divided at midnight or counted at the end.",
    "query":   "Find jobs and values in job objects, by XPath.",
    "show":    "Print what is known of the runs of jobs.",
    "sql":     "Answer a SELECT on the rows of a ledger.",
    "export":  "Write every run to one file: CSV, Parquet, SQLite or DuckDB.",
    "audit":   "Find runs that are missing or doubled, by asking the system.",
    "check":   "Find damaged files.",
    "repair":  "Leave out damaged files, so that the rest answers again.",
    "compact": "Put the files of each month together.",
}
FAMILIES = {"upkeep": ("init", "check", "repair", "compact")}
# fmt: on


@click.group(
    cls=Commands,
    home=__name__,
    sections={"Commands": COMMANDS},
    families=FAMILIES,
    epilog="""\b
Examples:
  sssjob ledger init usage
  sssjob ledger ingest usage sacct-2026-11-*.txt.gz
  sssjob ledger report --by month,project usage""",
)
def command() -> None:
    """Keep what each run of each job used, for reports over very many of them.

    A ledger is a directory (DIR) of Parquet files, or an address in an object store such as
    s3://BUCKET/usage. A record that is read twice counts once, and a later version of a record
    replaces it. It needs pip install 'sssjob[ledger]'.
    """
