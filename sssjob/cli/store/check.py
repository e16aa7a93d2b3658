"""``sssjob store check``: what is damaged."""

from __future__ import annotations

import json
import sys

import click

from sssjob.cli import common
from sssjob.cli.store import shared


@click.command(
    epilog="""\b
Examples:
  sssjob store check jobs.db
  sssjob store check jobs.db --json

Exit code: 0 nothing is damaged, 1 something is, 2 the store cannot be read at all."""
)
@shared.store
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object on each line.")
def command(store: str, as_json: bool) -> None:
    """Find what is damaged: in the database, in every version of each job object, in its columns.

    "sssjob store export" saves what is whole, and importing a good copy of what is not mends it.
    """
    faults = 0
    with shared.opened(store, read_only=True) as jobs, shared.counted("checking") as tell:
        for fault in jobs.check(on_progress=tell):
            faults += 1
            if as_json:
                named = fault.identity._asdict() if fault.identity else {"name": None, "id": None}
                row = {**named, "version": fault.version or None, "message": fault.message}
                click.echo(json.dumps(row, ensure_ascii=False))
            else:
                click.echo(f"{store}: {fault}")
        common.say(f"{jobs.address}: {faults} faults" if faults else f"{jobs.address}: whole")
    sys.exit(common.NOTHING if faults else common.FOUND)
