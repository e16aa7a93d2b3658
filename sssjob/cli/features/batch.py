"""What the commands of batch systems share: their options, and the call of a script."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from sssjob.cli import common
from sssjob.cli.systems import SystemName

if TYPE_CHECKING:
    from sssjob.features.batch.call import Call

SYSTEMS = ("slurm", "gridengine", "pbs")  # as sssjob.features.batch has them

Command = Callable[..., Any]

system = click.option("--for", "system", type=click.Choice(SYSTEMS), required=True,
                      help="The batch system.")  # fmt: skip
script = click.option("--for", "system", type=SystemName("script"), required=True,
                      help="The batch system.")  # fmt: skip
root = click.option("--root", metavar="DIR", type=click.Path(), default="/run/mjf",
                    show_default=True, help="Where the directories of jobs are.")  # fmt: skip
jobs = click.option("--jobs", metavar="DIR", type=click.Path(), default="",
                    help="Job objects: DIR/ID.xml has the job with that Id.")  # fmt: skip
seconds = click.option("--seconds", type=click.FloatRange(0.1, 3600), default=10, show_default=True,
                       help="How long the batch system may take to answer.")  # fmt: skip


def call(system: str, arguments: tuple[str, ...], limit: float) -> Call:
    """The call of a script: what PBS gives as arguments, others have in the environment."""
    from sssjob.features.batch.call import Call

    environment = {name: value for name, value in os.environ.items() if value}
    return Call(system, arguments, environment, limit)


def notes(said: tuple[str, ...]) -> None:
    """Print what is missing."""
    for note in said:
        common.say(f"sssjob: {note}")
