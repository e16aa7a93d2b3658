"""``sssjob demo``: the main use, step by step, on the examples."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import click

from sssjob import directory_trees
from sssjob.cli import common, examples
from sssjob.cli.signals import terminable

# What a step shows, and its commands.
# fmt: off
STEPS = (
    ("A script for Slurm becomes one for PBS, and tells what was approximated",
     "translate examples/translate/job.sh --to pbs",
     "translate examples/translate/job.sh --to sss -o script.xml"),
    ("Slurm's records become job objects, and every record is accounted for",
     "convert --from slurm -o jobs.sss examples/slurm/sacct.txt"),
    ("They follow the standard",
     "validate --level warning jobs.sss"),
    ("A job that was requested before: what its $JOBFEATURES are, and why",
     "features examples/requested/workflow.xml jobfeatures --select 4 --explain"),
    ("The records take their place in the requested jobs",
     "deliver examples/requested/workflow.xml --features jobfeatures"
     " --record examples/slurm/sacct.txt -o workflow.xml",
     "show workflow.xml"),
    ("Questions in XPath",
     "query '//Job[Delivered/Processors > 4]/Id' jobs.sss",
     "query --json '//Job[StatusMessage = \"TIMEOUT\"]/Name' jobs.sss",
     "query '//Job[Delivered/Processors > Requested/Processors]/Delivered/Duration' workflow.xml"),
    ("A store keeps every version, and answers from columns",
     "store import jobs.db jobs.sss",
     "query --explain '//Job[Delivered/Processors > 4]/Id' jobs.db"),
    ("Who used what, and usage records for others",
     "report --by project jobs.db --plot",
     "convert --from sss --to ur -o records.xml --losses losses.jsonl jobs.sss"),
)
# fmt: on


@click.command(
    epilog="""\b
Examples:
  sssjob demo
  sssjob demo /tmp/demo

Exit code: 0 every step was done, 2 a step failed or DIR cannot be written."""
)
@click.argument("directory", metavar="[DIR]", default="sssjob-demo", type=click.Path())
def command(directory: str) -> None:
    """Go through the main use, step by step, on records that a real Slurm printed.

    The examples, and what the steps make of them, go into DIR (sssjob-demo when left out), which
    is new or empty. There each command can be called again.
    """
    try:
        with terminable(), directory_trees.whole(directory) as home:
            _show(home)
    except OSError as error:
        common.fail(common.reason(error))
    common.echo()
    common.fitted(
        f"All of it is in {common.name_of(directory)}, where each command can be repeated."
    )


def _show(home: Path) -> None:
    """Write the examples, and call each command on them."""
    examples.copy(home / "examples")
    for number, (title, *lines) in enumerate(STEPS, start=1):
        common.echo()
        common.fitted(f"{number}. {title}", bold=True)
        for line in lines:
            common.echo(f"$ sssjob {line}", dim=True)
            _run(line, home)


def _run(line: str, home: Path) -> None:
    """Call a command as a user in that directory would."""
    sys.stdout.flush()
    sys.stderr.flush()
    # -P: no module that lies in the directory is imported.
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "sssjob", *shlex.split(line)], cwd=home, check=False
    ).returncode
    if ended:
        common.fail(f"the command ended with {ended}")
