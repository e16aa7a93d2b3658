"""``sssjob ledger show``: what a ledger knows of jobs."""

from __future__ import annotations

import json
import sys

import click

from sssjob.cli import common, options
from sssjob.cli.ledger import shared
from sssjob.visible import visible


@click.command(
    epilog="""\b
Examples:
  sssjob ledger show usage 4711
  sssjob ledger show --record usage 4711
  sssjob ledger show --json usage 4711 4712_3 | jq .wall_seconds

Exit code: 0 found, 1 not one of them, 2 not understood, or something could not be read."""
)
@click.option(
    "--record", "wants_record", is_flag=True,
    help="Print the record, too, as it was read, where sssjob ledger ingest --keep kept it.",
)  # fmt: skip
@options.JSON_LINES
@shared.AS_OF
@shared.directory
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
def command(
    wants_record: bool, as_json: bool, number: int | None, directory: str, ids: tuple[str, ...]
) -> None:
    """Print every run of the jobs with these IDs, column by column, and where it was read.

    What is not stated is left out. Times are seconds since 1970.
    """
    with shared.opened(directory, number=number) as ledger:
        found = ledger.runs(ids)
        if wants_record:
            from sssjob.verbs.ledger import record_of

            for run in found:
                kept = record_of(ledger, run)
                if kept is None:
                    common.say(f"{run.get('id')}: its record is not kept: ingest --keep --again")
                else:
                    run["header"] = kept.header.decode("utf-8", "replace")
                    run["record"] = kept.text.decode("utf-8", "replace")
    width = max((len(name) for run in found for name in run), default=0)
    for place, run in enumerate(found):
        if as_json:
            common.data(json.dumps(run, ensure_ascii=False))
            continue
        if place:
            common.echo()
        text = (run.pop("header", ""), run.pop("record", ""))
        for name, value in run.items():
            common.fitted(f"{name:{width}}  {value}")
        for line in "".join(text).splitlines():
            common.data(visible(line))
    sys.exit(common.FOUND if found else common.NOTHING)
