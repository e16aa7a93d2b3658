"""``sssjob features machine``: $MACHINEFEATURES of a node, as files or to look at."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from sssjob.cli import common
from sssjob.cli.features import batch
from sssjob.cli.features.common import VOCABULARIES, fail, offer, site
from sssjob.cli.features.document import one_job
from sssjob.errors import SSSJobError

if TYPE_CHECKING:
    from sssjob.amounts import Amount
    from sssjob.expression.offer import Offer


@click.command(
    epilog="""\b
Examples:
  sssjob features machine --site /etc/sssjob/site.toml /run/mjf/machinefeatures
  sssjob features machine --explain --site site.toml
  sssjob features machine --for slurm --site site.toml /run/mjf/machinefeatures
  sssjob features machine --node fr15n05 --no-host --site site.toml --json
  sssjob features machine --no-host --description nodes.json --node n1 --explain

Exit code: 0 done, 1 nothing is known or something is wrong with what is known,
2 something cannot be read or written."""
)
@click.argument("directory", metavar="[DIR]", required=False, type=click.Path())
@click.option("-n", "--dry-run", is_flag=True, help="Write nothing; print what would be written.")
@click.option("--explain", is_flag=True, help="What gave each value, and on what basis.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--site", "site_file", metavar="FILE", type=click.Path(),
              help="The site's configuration (TOML): ratings, notice, shutdown.")  # fmt: skip
@click.option("--node", metavar="NAME", help="Which node is meant; without it, this machine.")
@click.option("--description", metavar="FILE", type=click.Path(),
              help="Nodes as JSON, as sssjob match takes them.")  # fmt: skip
@click.option("--job", "job_file", metavar="JOB.xml", type=click.Path(),
              help="A job that tells of the node it ran on.")  # fmt: skip
@click.option("--select", metavar="ID", help="The job to take from a document of several.")
@click.option("--host/--no-host", default=True, show_default=True,
              help="Ask this machine how many processors and cores it has.")  # fmt: skip
@click.option("--for", "system", type=click.Choice(batch.SYSTEMS),
              help="Ask this batch system how many processors jobs may have there.")  # fmt: skip
@batch.seconds
@click.option("--vocabulary", type=click.Choice(VOCABULARIES), default="both", show_default=True,
              help="Write the keys of the 2016 text, of the 2014 text, or both.")  # fmt: skip
@click.option("--now", metavar="SECONDS", type=click.IntRange(0),
              help="What time it is, in seconds since 1970.")  # fmt: skip
def command(
    directory: str | None, dry_run: bool, explain: bool, as_json: bool, site_file: str | None,
    node: str | None, description: str | None, job_file: str | None, select: str | None, host: bool,
    system: str | None, seconds: float, vocabulary: str, now: int | None,
) -> None:  # fmt: skip
    """Derive $MACHINEFEATURES of a node, and write them into DIR.

    What the site's configuration says comes first, then the description of the node, then the
    job, then what its batch system says, then this machine of itself. Extensions of type
    MachineFeatures of the job win.
    """
    if directory is None and not (dry_run or explain or as_json):
        common.fail("a directory to write to is needed, or --dry-run")
    from sssjob.features import host as this
    from sssjob.features import machine

    name = os.uname().nodename.partition(".")[0] if node is None else node
    granted, of_host = _granted(system, seconds, name), this.machine() if host else {}
    if system is not None and not granted:
        of_host.pop("total_cpu", None)  # which is not what jobs may have
    features = machine.derive(
        granted=granted,
        settings={} if site_file is None else site(site_file).of(name),
        description=None if description is None else _described(description, node),
        job=None if job_file is None else one_job(job_file, select),
        host=of_host,
        now=int(time.time()) if now is None else now,
    )
    offer(features, None if dry_run else directory, vocabulary, as_json=as_json, explain=explain)


def _granted(system: str | None, seconds: float, node: str) -> dict[str, Amount]:
    """What the batch system gives to jobs on a node."""
    if system is None:
        return {}
    said: list[str] = []
    found = batch.call(system, (), seconds).processors(node, said)
    batch.notes(tuple(said))
    return {} if found is None else {"total_cpu": found}


def _described(file: str, node: str | None) -> Offer:
    from sssjob.document import opened
    from sssjob.expression.offers import read

    (source,) = common.sources((file,))
    try:
        with opened(source.given) as stream:
            found = [offer for offer in read(stream) if node in (None, offer.id)]
    except OSError as error:
        fail(error)
    except SSSJobError as error:
        common.fail(f"{source.name}: {error}")
    if len(found) != 1:
        what = f"no node {node}" if not found and node else f"{len(found)} nodes; name one of them"
        common.fail(f"{source.name}: {what}")
    return found[0]
