"""Looking after a ledger: ``sssjob ledger init``, ``check``, ``repair`` and ``compact``."""

from __future__ import annotations

import json

import click

from sssjob.cli import common, options
from sssjob.cli.ledger import shared


@click.command(
    epilog="""\b
Examples:
  sssjob ledger init usage

Exit code: 0 there is a ledger now, 2 it cannot be made."""
)
@shared.directory
@options.JSON_OBJECT
def init(directory: str, as_json: bool) -> None:
    """Make an empty ledger in DIR. One that is there stays as it is."""
    with shared.opened(directory, create=True) as ledger:
        rows = ledger.manifest().rows
    if as_json:
        common.data(json.dumps({"ledger": directory, "runs": rows}))
    else:
        common.say(f"{common.name_of(directory)}: {rows} runs")
