"""``sssjob store init``: an empty store."""

from __future__ import annotations

import json

import click

from sssjob.cli import common
from sssjob.cli.store import shared


@click.command(
    epilog="""\b
Examples:
  sssjob store init jobs.db
  sssjob store init postgresql://batch@db.example.org/jobs

Exit code: 0 there is a store now, 2 it cannot be made."""
)
@shared.store
@shared.as_json
def command(store: str, as_json: bool) -> None:
    """Make an empty store. One that is there stays as it is."""
    with shared.opened(store, create=True) as jobs:
        count = jobs.count()
        if as_json:
            click.echo(json.dumps({"store": jobs.address, "documents": count}))
        else:
            common.say(f"{jobs.address}: {count} documents")
