"""``sssjob store settings``: how a store is asked, whoever opens it."""

from __future__ import annotations

import json

import click

from sssjob.cli.store import shared


@click.command(
    epilog="""\b
Examples:
  sssjob store settings jobs.db
  sssjob store settings jobs.db --verify

Exit code: 0 told, and set if that was asked for, 2 the store cannot be read or written."""
)
@shared.store
@click.option(
    "--verify/--no-verify", default=None,
    help="Ask every document what is asked of columns, and tell differences.",
)  # fmt: skip
@shared.as_json
def command(store: str, verify: bool | None, as_json: bool) -> None:
    """Show the settings of a store, or set one for whoever opens it from now on.

    With --verify every query reads every document, also those of a gateway, which logs the
    differences.
    """
    with shared.opened(store, read_only=verify is None) as jobs:
        if verify is not None:
            jobs.verify(verify)
        if as_json:
            click.echo(json.dumps({"store": jobs.address, "verify": jobs.verifies}))
        else:
            click.echo(f"verify  {'on' if jobs.verifies else 'off'}")
