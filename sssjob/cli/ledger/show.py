"""``sssjob ledger show``: what a ledger knows of jobs."""

from __future__ import annotations

import json
import sys

import click

from sssjob.cli import common, options
from sssjob.cli.ledger import shared


@click.command(
    epilog="""\b
Examples:
  sssjob ledger show usage 4711
  sssjob ledger show --json usage 4711 4712_3 | jq .wall_seconds

Exit code: 0 found, 1 not one of them, 2 not understood, or something could not be read."""
)
@options.JSON_LINES
@shared.AS_OF
@shared.directory
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
def command(as_json: bool, number: int | None, directory: str, ids: tuple[str, ...]) -> None:
    """Print every run of the jobs with these IDs, column by column, and where it was read.

    What is not stated is left out. Times are seconds since 1970.
    """
    with shared.opened(directory, number=number) as ledger:
        from sssjob.ledger import questions

        found = questions.runs(ledger, ids)
    width = max((len(name) for run in found for name in run), default=0)
    for place, run in enumerate(found):
        if as_json:
            common.data(json.dumps(run, ensure_ascii=False))
            continue
        if place:
            common.echo()
        for name, value in run.items():
            common.fitted(f"{name:{width}}  {value}")
    sys.exit(common.FOUND if found else common.NOTHING)
