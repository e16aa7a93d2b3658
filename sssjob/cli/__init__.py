"""The command ``sssjob``: each command opens its files, makes one call of the library, prints."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from sssjob._version import __version__

# fmt: off
COMMANDS = {
    "validate":  "Check documents against the standard.",
    "show":      "Show job objects as a tree, or write them anew.",
    "query":     "Ask job objects by XPath.",
    "convert":   "Turn accounting records into job objects.",
    "features":  "Derive $JOBFEATURES from a job object.",
    "deliver":   "Fold features and records into requested jobs.",
    "graph":     "Show which jobs are ready, wait or will never run.",
    "match":     "Tell which offers satisfy a request, and why.",
    "explain":   "Show a request as a readable tree.",
    "alternatives": "List what would satisfy a request, best first.",
    "layout":    "Lay out the tasks of jobs on nodes.",
    "profile":   "List what a peer that supports less would lose.",
    "lcginfo":   "Queue states and response times of grid sites.",
    "transform": "Apply a sheet to job objects.",
    "repair":    "Put common mistakes right in what is not well-formed.",
    "canon":     "Write job objects in canonical form.",
    "diff":      "Tell what two documents say differently.",
}
# fmt: on


class _Commands(click.Group):
    """Commands by name; a command's module is imported when it is called, not before."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"sssjob.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", message="sssjob %(version)s")
def sssjob() -> None:
    """Job objects of the SSS Job Object Specification 3.1.0, from submission to accounting.

    Every command reads FILEs, compressed or not, or standard input ("-"), and ends with
    0 when done and found, 1 when not valid or nothing was found, 2 when not understood.

    \b
    sssjob convert --from slurm sacct.txt > jobs.sss
    sssjob validate jobs.sss
    sssjob query "//Job[Delivered/Processors > 12]/Id" jobs.sss

    Completion for bash: eval "$(_SSSJOB_COMPLETE=bash_source sssjob)"; also zsh and fish.
    """


def main() -> None:
    """Run the command; a reader that closes the pipe early is no error."""
    try:
        sssjob(prog_name="sssjob")
    except BrokenPipeError:
        # The interpreter flushes standard output once more when it ends: give it nowhere to go.
        sys.stderr.close()
        sys.stdout.close()
