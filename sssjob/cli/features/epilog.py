"""``sssjob features epilog``: what a batch system's epilog calls behind a job."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from sssjob.cli import common
from sssjob.cli.features import batch
from sssjob.cli.features.common import fail
from sssjob.cli.signals import terminable
from sssjob.errors import SSSJobError


@click.command(
    epilog="""\b
Examples:
  sssjob features epilog --for slurm --root /run/mjf
  sssjob features epilog --for gridengine --jobs /var/lib/sssjob/jobs
  sssjob features epilog --for pbs -- "$@"

Exit code: 0 done, 1 the directories are gone but the document could not be
written, 2 no job is named or its directories cannot be taken away: also where others
than root can write on the way to --root."""
)
@batch.script
@batch.root
@batch.jobs
@batch.seconds
@click.argument("arguments", nargs=-1, metavar="[-- ARGUMENTS]")
def command(
    system: str, root: str, jobs: str, seconds: float, arguments: tuple[str, ...]
) -> None:  # fmt: skip
    """Take away the directories of the job that an epilog is called for.

    If DIR/ID.xml is there, what the job was given goes into it before, with what it said in
    $JOBSTATUS and what the batch system measured, as "sssjob deliver" does. What one of several
    nodes gave is left to the accounting record.
    """
    from sssjob.collect import end

    try:
        with terminable():
            done = end(batch.call(system, arguments, seconds), Path(root), jobs)
    except (OSError, SSSJobError) as error:
        fail(error)
    if done.tally is not None:
        common.print_findings(done.tally.findings)
        click.echo(f"{done.job_id}: {done.tally.changes} facts folded")
    batch.notes(done.notes)
    sys.exit(common.NOTHING if done.notes else common.FOUND)
