"""``sssjob lcginfo caps``: limits of groups in, vo-max-jobs out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from sssjob import registry
from sssjob.cli import common, options
from sssjob.cli.lcginfo import shared
from sssjob.cli.names import SystemName

if TYPE_CHECKING:
    from sssjob.commands import CommandLimits

WRITTEN = "vomaxjobs"


@click.command(
    epilog="""\b
Examples:
  sssjob lcginfo caps --from maui
  qconf -srqs | sssjob lcginfo caps --from gridengine -

Exit code: 0 done, 1 a cap was left out, 2 nothing printed."""
)
@click.option(
    "--from", "format_name", required=True,
    type=SystemName("caps", *registry.other_caps(), WRITTEN),
    help="Whose limits: those of a batch system, Maui's diagnose -g, or vo-max-jobs.",
)  # fmt: skip
@options.ALL_FINDINGS
@options.TIMEOUT
@click.argument("file", required=False, metavar="[FILE]")
def command(format_name: str, timeout: float, file: str | None) -> None:
    """Print how many slots each group may take at most, as vo-max-jobs.

    FILE holds what the command of the scheduler printed; without FILE the command is run.
    """
    from sssjob import commands
    from sssjob.lcginfo import caps
    from sssjob.lcginfo.snapshot import about_source

    log = shared.Log()
    with common.failing():
        known = _known(format_name)
        if known is None:
            found = shared.caps(file or "-", log)
        else:
            if file is None:
                text = _printed(known, commands.CommandLimits(seconds=timeout))
            else:
                text = shared.text(file, caps.TEXT_LIMIT)
            with about_source(file or format_name):
                found = known.load()(text)
        common.data(caps.write(found), nl=False)
    log.close()
    sys.exit(common.NOTHING if log.bad else common.FOUND)


def _known(name: str) -> registry.Caps | None:
    """What reads the limits of a name, and the command that prints them."""
    if name == WRITTEN:
        return None
    return registry.all_caps()[name]


def _printed(known: registry.Caps, limits: CommandLimits) -> str:
    from sssjob import commands

    try:
        return commands.run(known.ask, known.ask[0], limits).decode("utf-8", "replace")
    except commands.CommandFailed as error:
        if known.none and known.none in error.said.splitlines():
            return ""
        raise
