"""``sssjob features submit``: a job object to a batch system, and the document to its place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sssjob import outputs
from sssjob.cli import common
from sssjob.cli.features import batch
from sssjob.cli.features.document import one_job
from sssjob.cli.signals import terminable
from sssjob.cli.steer import refused
from sssjob.errors import InvalidJob, InvalidValue, Severity, SSSJobError

if TYPE_CHECKING:
    from sssjob.model import Job


@click.command(
    epilog="""\b
Examples:
  sssjob features submit --for slurm --dry-run job.xml
  sssjob features submit --for slurm --documents /var/lib/sssjob/jobs job.xml
  sssjob features submit --for gridengine --pe smp --documents jobs --select 4 jobs.xml

Exit code: 0 submitted, 1 the batch system refuses the job, 2 the document
cannot be read or written, or has no job that can be submitted."""
)
@batch.system("submission")
@batch.jobs
@click.option("--select", metavar="ID", help="The job to take from a document of several.")
@click.option("--pe", "environment", metavar="NAME", default="smp", show_default=True,
              help="Grid Engine's parallel environment.")  # fmt: skip
@click.option("-n", "--dry-run", is_flag=True, help="Print the command and the script only.")
@batch.seconds
@click.argument("file", metavar="JOB.xml", type=click.Path())
def command(
    system: str, jobs: str, select: str | None, environment: str, dry_run: bool, seconds: float,
    file: str,
) -> None:  # fmt: skip
    """Submit a job object, print its id, and put the document where the prolog looks for it.

    The job is submitted held, the document is written to DIR/ID.xml with that Id, then the job is
    released, unless its Hold is User. The Executable is a path on the nodes. For a range of
    processors the smallest number is requested, for other ranges the largest.

    If the batch system has no option for something that the job asks for, this is listed and the
    job is refused. With awarenessPolicy Warn the job is submitted nevertheless, and with Ignore
    nothing is reported.
    """
    from sssjob.submission.at_once import submission, submitted_id

    job, around = one_job(file, select, begins=True)
    try:
        made = submission(job, system, environment=environment, around=around)
    except InvalidJob as refused:
        common.print_findings(item.in_file(file) for item in refused.findings)
        common.fail(f"{common.name_of(file)}: not submitted: what it asks for would be left out")
    except SSSJobError as error:
        common.fail(common.placed(error, file))
    common.print_findings(
        item.in_file(file) for item in made.findings if item.severity is not Severity.ERROR
    )
    if dry_run:
        import shlex

        common.data(f"{shlex.join(made.command)}\n{made.script}", nl=False)
        return
    try:
        name = submitted_id(system, _run(made.command, seconds, made.script))
    except InvalidValue as error:
        common.fail(f"{made.command[0]}: {error}")
    if jobs:
        try:
            _keep(job, name, Path(jobs))
        except (OSError, SSSJobError) as error:
            _run(made.cancel(name), seconds)
            common.fail(common.reason(error) if isinstance(error, OSError) else error)
    if not made.stays_held:
        _run(made.release(name), seconds)
    common.echo(name)


def _keep(job: Job, name: str, directory: Path) -> None:
    """Write the job with its new Id."""
    from sssjob.document import dumps
    from sssjob.features.batch.allocation import Allocation
    from sssjob.features.batch.documents import place
    from sssjob.model import Property

    Allocation(name)  # an id that names a file
    text = dumps(job.setting(Property("Id", name)))
    with terminable(), outputs.writing(place(directory, name), follow=False) as stream:
        stream.write(text.encode())


def _run(words: Sequence[str], seconds: float, script: str = "") -> str:
    """What a command of the batch system prints; ends this one if it fails."""
    from sssjob.commands import CommandFailed, CommandLimits, run

    try:
        printed = run(words, words[0], CommandLimits(seconds), given=script.encode())
    except CommandFailed as error:
        refused(error)
    return printed.decode("utf-8", "replace")
