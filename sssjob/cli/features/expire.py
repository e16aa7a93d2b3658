"""``sssjob features expire``: shutdown times that have come are removed."""

from __future__ import annotations

import json
import sys
import time

import click

from sssjob.cli import common


@click.command(
    epilog="""\b
Examples:
  sssjob features expire /run/mjf/*/
  * * * * * root sssjob features expire /run/mjf/*/ /run/mjf/machinefeatures

Exit code: 0 done, whether there was one or not, 2 a directory cannot be read,
or others can exchange it (the rest is done all the same)."""
)
@click.argument("directories", metavar="DIR...", nargs=-1, required=True, type=click.Path())
@click.option("--now", metavar="SECONDS", type=click.IntRange(0),
              help="What time it is, in seconds since 1970.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print directories and keys as JSON.")
def command(directories: tuple[str, ...], now: int | None, as_json: bool) -> None:
    """Remove shutdowntime and shutdowntime_job from each DIR if the moment has come.

    The text of 2014 wants them gone by then, and a job that starts later must not find them.
    """
    from sssjob.features.update import expire

    moment = int(time.time()) if now is None else now
    removed: dict[str, list[str]] = {}
    failed = False
    for directory in directories:
        try:
            names = expire(directory, moment)
        except OSError as error:
            common.say(f"sssjob: error: {common.reason(error)}")
            failed = True
            continue
        removed[directory] = list(names)
        if names and not as_json:
            click.echo(f"{directory}: removed {', '.join(names)}")
    if as_json:
        click.echo(json.dumps(removed, indent=2))
    sys.exit(common.NOT_UNDERSTOOD if failed else common.FOUND)
