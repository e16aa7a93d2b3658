"""``sssjob condor``: ads, features and hooks of HTCondor execution points."""

from __future__ import annotations

import click

from sssjob.cli.commands import Commands

# fmt: off
COMMANDS = {
    "ad":             "Write job objects as job ads.",
    "job":            "Write job ads as job objects.",
    "features":       "Print the features of a job in a slot.",
    "eval":           "Evaluate a ClassAd expression.",
}
# fmt: on


@click.group(
    cls=Commands,
    home=__name__,
    helps=COMMANDS,
    epilog="""\b
Examples:
  sssjob condor ad job.xml
  sssjob condor features --job-ad job.ad --machine-ad machine.ad --json""",
)
def command() -> None:
    """Ads, features and hooks of HTCondor execution points.

    A startd fetches work that job objects describe, each job finds its features, and what it
    used is folded into its job object.
    """
