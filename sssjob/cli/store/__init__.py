"""``sssjob store``: job objects kept as they were read, with every version of them."""

from __future__ import annotations

import click

from sssjob.cli.commands import Commands
from sssjob.cli.ranges import NumberRange

# fmt: off
COMMANDS = {
    "init":     "Make an empty store.",
    "import":   "Put job objects into a store, as they are.",
    "export":   "Print job objects, byte for byte as they were read.",
    "query":    "Find jobs and values in job objects, by XPath.",
    "log":      "Show who changed what, and when.",
    "delete":   "Hide job objects, or show them again.",
    "stats":    "Describe a store in numbers.",
    "check":    "Find what is damaged.",
    "compact":  "Make a store small.",
    "settings": "Show or change the settings of a store.",
    "upgrade":  "Make a store of an older sssjob usable by this one.",
}
FAMILIES = {"upkeep": ("init", "stats", "check", "compact", "settings", "upgrade")}
# fmt: on


@click.group(
    cls=Commands,
    home=__name__,
    sections={"Commands": COMMANDS},
    families=FAMILIES,
    epilog="""\b
Examples:
  sssjob store import jobs.db jobs.sss
  sssjob store query "//Job[State='Idle']/Id" jobs.db
  sssjob store export jobs.db > jobs.sss""",
)
@click.option(
    "--patience", type=NumberRange(min=0), metavar="SECONDS", default=60, show_default=True,
    help="How long to wait for others who write to the store.",
)  # fmt: skip
@click.pass_context
def command(context: click.Context, patience: float) -> None:
    """Keep job objects, with all their versions, and query them.

    STORE is a file, or postgresql://USER@HOST/DATABASE. Importing the same file again changes
    nothing; a job object of the same Id is the next version of the one that is there.
    """
    context.obj = patience
