"""``sssjob features discover``: what the metadata of a virtual machine says of its features."""

from __future__ import annotations

import json
import shlex
import sys

import click

from sssjob.cli import common, options
from sssjob.cli.features.common import fail
from sssjob.cli.ranges import NumberRange
from sssjob.errors import SSSJobError


@click.command(
    epilog="""\b
Examples:
  eval "$(sssjob features discover)"
  sssjob features discover --service http://169.254.169.253 --json

Exit code: 0 one of both is there, 1 the metadata has neither, 2 no service answers, or what it says
is no directory."""
)
@click.option("--service", metavar="URL", default="http://169.254.169.254", show_default=True,
              help="The metadata service.")  # fmt: skip
@click.option("--seconds", metavar="SECONDS",
              type=NumberRange(0.1, 3600), default=5, show_default=True,
              help="How long each answer may take.")  # fmt: skip
@options.JSON_OBJECT
def command(service: str, seconds: float, as_json: bool) -> None:
    """Print the lines that export MACHINEFEATURES and JOBFEATURES in a virtual machine.

    The metadata of the machine is asked for the keys machinefeatures and jobfeatures, as OpenStack
    and EC2 have metadata. Ask once, when the machine starts: the directories stay where they are.
    """
    from sssjob.features.discover import discover
    from sssjob.features.remote import RemoteOptions

    try:
        found = discover(service, RemoteOptions(seconds, seconds))
    except (OSError, SSSJobError, ModuleNotFoundError) as error:
        if isinstance(error, ModuleNotFoundError):
            common.fail(error)
        fail(error)
    if as_json:
        common.data(json.dumps(found, indent=2))
    else:
        for name, place in found.items():
            common.data(f"export {name}={shlex.quote(place)}")
    if not found:
        common.say(f"{service} has neither machinefeatures nor jobfeatures")
    sys.exit(common.FOUND if found else common.NOTHING)
