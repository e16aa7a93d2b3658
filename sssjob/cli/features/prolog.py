"""``sssjob features prolog``: what a batch system's prolog calls before a job starts."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from sssjob.cli import common
from sssjob.cli.features import batch
from sssjob.cli.features.common import VOCABULARIES, fail, site
from sssjob.errors import SSSJobError


@click.command(
    epilog="""\b
Examples:
  sssjob features prolog --for slurm --root /run/mjf
  sssjob features prolog --for gridengine --root /run/mjf --site /etc/sssjob/site.toml
  sssjob features prolog --for pbs --jobs /var/lib/sssjob/jobs -- "$@"

Exit code: 0 done, 1 done without something that is told on standard error,
2 nothing can be made: also where others than root can write on the way to --root.
The scripts of "sssjob features install" end with 0."""
)
@batch.script
@batch.root
@batch.jobs
@click.option("--site", "site_file", metavar="FILE", type=click.Path(),
              help="The site's configuration (TOML): ratings, notice, factor.")  # fmt: skip
@click.option("--scratch", metavar="DIR", default="", type=click.Path(),
              help="The scratch space of jobs, which its file system limits.")  # fmt: skip
@click.option("--vocabulary", type=click.Choice(VOCABULARIES), default="both", show_default=True,
              help="Write the keys of the 2016 text, of the 2014 text, or both.")  # fmt: skip
@batch.seconds
@click.argument("arguments", nargs=-1, metavar="[-- ARGUMENTS]")
def command(
    system: str, root: str, jobs: str, site_file: str | None, scratch: str, vocabulary: str,
    seconds: float, arguments: tuple[str, ...],
) -> None:  # fmt: skip
    """Make the directories of the job that a prolog is called for, and print their names.

    The batch system is asked what it gave the job on this node. That counts before what DIR/ID.xml
    requests, and the document tells the rest. $JOBSTATUS belongs to the user of the job. With Grid
    Engine the variables go into the environment of the job, too.
    """
    from sssjob.features.batch.starting import Settings, start

    known = None if site_file is None else site(site_file)
    try:
        done = start(
            batch.call(system, arguments, seconds),
            Settings(Path(root), jobs, known, scratch, vocabulary),
        )
    except (OSError, SSSJobError) as error:
        fail(error)
    except LookupError as error:
        common.fail(f"no such user: {error}")
    for name, place in done.directories.variables().items():
        click.echo(f"{name}={place}")
    batch.notes(done.notes)
    common.print_findings(done.findings)
    sys.exit(common.NOTHING if done.notes else common.FOUND)
