"""``sssjob features collect``: accounting records into the documents of jobs that have ended."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sssjob import registry
from sssjob.cli import common, options
from sssjob.cli.features import batch
from sssjob.cli.features.common import fail
from sssjob.cli.ranges import NumberRange, WholeNumber
from sssjob.cli.signals import terminable
from sssjob.errors import SSSJobError, Unprotected

if TYPE_CHECKING:
    from sssjob.collect import Collected


@click.command(
    epilog="""\b
Examples:
  sssjob features collect --for slurm --documents /var/lib/sssjob/jobs
  sssjob features collect --for slurm --documents jobs --done ended
  sssjob features collect --for gridengine --documents jobs \\
      --record $SGE_ROOT/default/common/accounting

Exit code: 0 every job that was waited for has its record, 1 some have none
yet, or something cannot be read, 2 the batch system does not answer, a file
cannot be read, or others can write where the documents are."""
)
@batch.system("formats")
@click.option("--documents", "jobs", cls=options.Renamed, former="--jobs", metavar="DIR",
              required=True, help="The documents of the jobs, *.xml.",
              type=click.Path(exists=True, file_okay=False))  # fmt: skip
@click.option("--record", "records", metavar="FILE", multiple=True, type=click.Path(),
              help="Accounting files; without one, the batch system is asked.")  # fmt: skip
@click.option("--tz", metavar="ZONE", default="", shell_complete=options.completes(options.zones),
              help="The zone of times that state none.")  # fmt: skip
@click.option("--done", metavar="DIR", type=click.Path(exists=True, file_okay=False),
              help="Move documents there whose jobs all have ended.")  # fmt: skip
@options.ALL_FINDINGS
@click.option("--settle", metavar="SECONDS", type=WholeNumber(0), default=10, show_default=True,
              help="How long after the end of a job its record may be incomplete.")  # fmt: skip
@click.option("--seconds", metavar="SECONDS",
              type=NumberRange(0.1, 3600), default=60, show_default=True,
              help="How long the batch system may take to answer.")  # fmt: skip
def command(
    system: str, jobs: str, records: tuple[str, ...], tz: str, done: str | None, settle: int,
    seconds: float,
) -> None:  # fmt: skip
    """Put accounting records into documents whose jobs have no EndTime yet.

    Run it by cron on the machine that has the records. Shortly after a job has ended, its record
    may be incomplete or missing: the next call then folds it.
    """
    from sssjob import collect as ending
    from sssjob import directory_handles as handles

    if not (records or registry.system(system).ended):
        common.fail(f"{system} cannot be asked; its accounting files are needed: --record FILE")
    place = Path(jobs)
    unread: list[str] = []
    now, away = int(time.time()), Path(done) if done else None
    try:
        if away is not None:
            handles.check(away)
        ids = [name for _, names in ending.waiting(place, unread.append) for name in names]
        batch.notes(tuple(unread))
        if records:
            found = ending.read_records(system, common.sources(records), ids, tz)
        else:
            found = ending.ask(system, ids, os.environ, seconds=seconds)
    except (OSError, SSSJobError) as error:
        fail(error)
    common.print_findings(found.bad)
    missing = bool(unread or found.bad)
    try:
        with terminable():
            for each in ending.collect(place, found.records, now=now, settle=settle, done=away):
                _tell(each)
                missing = missing or bool(each.waiting or each.note)
    except Unprotected as error:
        fail(error)
    sys.exit(common.NOTHING if missing else common.FOUND)


def _tell(each: Collected) -> None:
    if each.tally is not None:
        common.print_findings(each.tally.findings)
        common.echo(f"{each.document}: {each.tally.changes} values added")
    if each.note:
        common.say(f"sssjob: {each.note}")
    elif each.waiting:
        common.say(f"sssjob: {each.document}: no record yet of {', '.join(each.waiting)}")
