"""``sssjob store compact``: a store made small."""

from __future__ import annotations

import json

import click

from sssjob.cli import common
from sssjob.cli.store import shared


@click.command(
    epilog="""\b
Examples:
  sssjob store compact jobs.db

Exit code: 0 done, 2 the store cannot be written."""
)
@shared.store
@shared.as_json
def command(store: str, as_json: bool) -> None:
    """Make a store smaller: train its dictionary again, compress all versions, free space.

    Others may read and write meanwhile, and it may be interrupted at any time. A file needs as
    much room again while it is written anew.
    """
    with shared.opened(store) as jobs, shared.counted("compacting") as tell:
        before = jobs.engine.size()
        jobs.compact(on_progress=tell)
        after = jobs.engine.size()
    if as_json:
        click.echo(json.dumps({"before": before, "after": after}))
    else:
        common.say(f"{jobs.address}: {before} bytes before, {after} now")
