"""``sssjob lcginfo caps``: limits of groups in, vo-max-jobs out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from sssjob.cli import common
from sssjob.cli.lcginfo import shared

if TYPE_CHECKING:
    from sssjob.commands import Limits

COMMANDS = {
    "slurm": ("sacctmgr", "--parsable2", "show", "assoc"),
    "maui": ("diagnose", "-g"),
    "gridengine": ("qconf", "-srqs"),
}

NO_QUOTAS = "No resource quota set found"  # what qconf says, and ends with 1


@click.command(
    epilog="""\b
Examples:
  sssjob lcginfo caps --from maui
  qconf -srqs | sssjob lcginfo caps --from gridengine -

Exit code: 0 done, 1 a cap was left out, 2 nothing printed."""
)
@click.option(
    "--from", "format_name", required=True, type=click.Choice((*COMMANDS, "vomaxjobs")),
    help="Whose limits: sacctmgr's, Maui's diagnose -g, resource quotas, or vo-max-jobs.",
)  # fmt: skip
@click.option("--timeout", type=click.FloatRange(0.1), default=120, help="Seconds for the command.")
@click.argument("file", required=False, metavar="[FILE]")
def command(format_name: str, timeout: float, file: str | None) -> None:
    """Print the caps of groups as vo-max-jobs.

    FILE holds what the command of the scheduler printed; without FILE the command is run.
    """
    from sssjob import commands
    from sssjob.lcginfo import caps

    log = shared.Log()
    log.name = file or format_name
    with common.failing():
        if file is None and format_name in COMMANDS:
            arguments = COMMANDS[format_name]
            limits = commands.Limits(seconds=timeout)
            text = _printed(arguments, limits)
        else:
            text = shared.text(file or "-", caps.TEXT_LIMIT)
        found = (
            caps.read(text, log) if format_name == "vomaxjobs" else caps.READERS[format_name](text)
        )
        click.echo(caps.write(found), nl=False)
    log.close()
    sys.exit(common.NOTHING if log.bad else common.FOUND)


def _printed(arguments: Sequence[str], limits: Limits) -> str:
    from sssjob import commands

    try:
        return commands.run(arguments, arguments[0], limits).decode("utf-8", "replace")
    except commands.CommandFailed as error:
        if error.reason == NO_QUOTAS:
            return ""
        raise
