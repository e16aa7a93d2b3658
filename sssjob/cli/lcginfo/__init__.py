"""``sssjob lcginfo``: queue states, free slots and response times of grid sites."""

from __future__ import annotations

from importlib import import_module

import click

# fmt: off
COMMANDS = {
    "lrms":     "Print the state of a batch system as lrmsinfo.",
    "jobs":     "Turn lrmsinfo into job objects.",
    "caps":     "Print the caps of groups as vo-max-jobs.",
    "check":    "Explain a configuration file.",
    "estimate": "Estimate how long a job would wait.",
    "run":      "Print the LDIF that is published.",
    "backtest": "Compare estimates with what happened.",
}
# fmt: on


class _Commands(click.Group):
    """Commands by name; a command's module is imported when it is called, not before."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"sssjob.cli.lcginfo.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=_Commands,
    epilog="""\b
Examples:
  sssjob lcginfo lrms --from slurm > /var/lib/lrmsinfo
  sssjob lcginfo estimate -c lcg-info-dynamic-scheduler.conf --explain""",
)
def command() -> None:
    """Queue states, free slots and response times of grid sites.

    The formats and the configuration are those of lcg-info-dynamic-scheduler.
    """
