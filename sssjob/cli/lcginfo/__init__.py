"""``sssjob lcginfo``: queue states, free slots and response times of grid sites."""

from __future__ import annotations

import click

from sssjob.cli.commands import Commands

# fmt: off
COMMANDS = {
    "lrms":     "Print the state of a batch system as lrmsinfo.",
    "jobs":     "Turn lrmsinfo into job objects.",
    "caps":     "Print how many slots each group may take at most, as vo-max-jobs.",
    "check":    "Explain a configuration file.",
    "estimate": "Estimate how long a job would wait.",
    "run":      "Print the LDIF that is published.",
    "backtest": "Compare estimates with what happened.",
}
# fmt: on


@click.group(
    cls=Commands,
    home=__name__,
    sections={"Commands": COMMANDS},
    epilog="""\b
Examples:
  sssjob lcginfo lrms --from slurm > /var/lib/lrmsinfo
  sssjob lcginfo estimate -c lcg-info-dynamic-scheduler.conf --explain""",
)
def command() -> None:
    """Queue states, free slots and response times of grid sites.

    The formats and the configuration are those of lcg-info-dynamic-scheduler.
    """
