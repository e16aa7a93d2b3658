"""``sssjob features agent``: a resident process that prologs and epilogs are run by."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sssjob import registry, standard_output
from sssjob.cli import common
from sssjob.cli.features.common import fail
from sssjob.errors import SSSJobError

if TYPE_CHECKING:
    from sssjob.features.batch.agent import Child

SOCKET = "/run/sssjob/features.sock"


@click.command(
    epilog="""\b
Examples:
  sssjob features agent
  sssjob features agent --socket /run/sssjob/features.sock
  sssjob features install --for slurm --agent /run/sssjob/features.sock

Exit code: 2 it cannot listen there, also if users other than root can write in a directory above
the socket, or another agent listens; else the signal that ended it."""
)
@click.option("--socket", "place", metavar="PATH", type=click.Path(), default=SOCKET,
              show_default=True, help="Where it listens.")  # fmt: skip
def command(place: str) -> None:
    """Run prologs and epilogs without the time that a start of Python takes.

    The scripts of "sssjob features install --agent PATH" call it. Where it does not run, they do
    all by themselves. It answers to its own user only.
    """
    from sssjob.features.batch import agent

    prepare()
    try:
        agent.serve(Path(os.path.abspath(place)), lambda: common.say(f"listening at {place}"))
    except agent.Child as child:
        _run(child)
    except (OSError, SSSJobError) as error:
        fail(error)


def prepare() -> None:
    """Import what a prolog or epilog of any batch system needs, and read their options once."""
    # As they import it themselves, so that a child finds it there.
    import sssjob.cli.defaults
    import sssjob.collect
    import sssjob.features.batch.journal
    import sssjob.features.batch.starting
    import sssjob.features.site  # noqa: F401
    from sssjob.cli.features import batch

    for row in registry.all_systems().values():
        if row.script:
            row.load("script")
            for each in (batch.prolog, batch.epilog):
                with each.make_context(each.name, ["--for", row.name]):
                    pass  # what click remembers of options, children have then


def _run(child: Child) -> None:
    """The command of a caller, in a child of the agent."""
    from sssjob.cli import main

    code: object = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    if standard_output.finish() is not None:
        code = common.NOT_UNDERSTOOD
    sys.stderr.flush()
    child.answer(code if isinstance(code, int) else int(code is not None))
