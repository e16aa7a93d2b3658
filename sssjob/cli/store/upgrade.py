"""``sssjob store upgrade``: a store of an older sssjob, for this one."""

from __future__ import annotations

import json

import click

from sssjob.cli import common
from sssjob.cli.store import shared


@click.command(
    epilog="""\b
Examples:
  sssjob store upgrade jobs.db

Exit code: 0 the store is one of this sssjob now, 2 it cannot become one."""
)
@shared.store
@shared.as_json
def command(store: str, as_json: bool) -> None:
    """Bring a store of an older sssjob up to this one, all of it or nothing."""
    from sssjob.store import upgrade

    with shared.failing(), shared.counted("upgrading") as tell:
        done = upgrade(store, on_progress=tell)
    if as_json:
        click.echo(json.dumps({"upgraded": done}))
    else:
        common.say("upgraded" if done else "nothing to do: it is a store of this sssjob")
