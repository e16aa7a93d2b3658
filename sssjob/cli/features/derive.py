"""Features derived: of a job object, of a machine, of what a machine enforces."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from sssjob import host_name
from sssjob.cli import common, names, options
from sssjob.cli.features import batch
from sssjob.cli.features.common import VOCABULARIES, fail, offer, rated, running, site, there
from sssjob.cli.features.document import known_job
from sssjob.cli.names import SystemName
from sssjob.cli.ranges import WholeNumber
from sssjob.errors import SSSJobError, shortened
from sssjob.integers import whole

if TYPE_CHECKING:
    from sssjob.amounts import Amount
    from sssjob.expression.offer import Offer


@click.command(
    epilog="""\b
Examples:
  sssjob features job.xml /run/mjf/1234
  sssjob features --dry-run --explain job.xml
  sssjob features --select fr15n05.1234.1 --repair workflow.xml /run/mjf/1
  sssjob features --node n1 --node n2 --json job.xml /run/mjf/1234
  sssjob features --host --site site.toml --vocabulary both job.xml /run/mjf/1

Exit code: 0 done, 1 the job has errors or gives no key (the keys that it gives are written), 2 the
document cannot be read, or the keys cannot be written."""
)
@click.argument("file", metavar="JOB.xml", type=click.Path())
@click.argument("directory", metavar="[DIR]", required=False, type=click.Path())
@click.option("-n", "--dry-run", is_flag=True, help="Write nothing; print what would be written.")
@click.option("--explain", is_flag=True, help="Which element gave each value, and on what basis.")
@options.JSON_OBJECT
@click.option("--select", metavar="ID", help="The job to take from a document that holds several.")
@click.option("--node", "nodes", metavar="NAME", multiple=True,
              help="Only the tasks on this node; may be repeated.")  # fmt: skip
@click.option("--no-cpu-limit", is_flag=True,
              help="No cpu_limit_secs from elapsed time and processors alone.")  # fmt: skip
@click.option(
    "--repair",
    is_flag=True,
    help="Reverse the signs of all group attributes, where parentheses balance only then.",
)
@click.option(
    "--starting",
    is_flag=True,
    help="The job starts now: its StartTime, if it has none. Nothing that was folded of an "
    "earlier run counts.",
)
@options.NOW
@click.option("--vocabulary", type=click.Choice(VOCABULARIES), default="2016", show_default=True,
              help="Write the keys of the 2016 text, of the 2014 text, or both.")  # fmt: skip
@click.option("--machine", metavar="DIR", type=click.Path(),
              help="$MACHINEFEATURES: the job has a share of its rating.")  # fmt: skip
@click.option("--site", "site_file", metavar="FILE", type=click.Path(),
              help="The site's configuration (TOML): factor, notice.")  # fmt: skip
@click.option("--host", "host", is_flag=True,
              help="Ask this machine, too, what it enforces on this process.")  # fmt: skip
@click.option("--pid", metavar="PID", type=WholeNumber(1), callback=running,
              help="With --host: ask about another process.")  # fmt: skip
@names.records
def job(
    file: str, directory: str | None, dry_run: bool, explain: bool, as_json: bool,
    select: str | None, nodes: tuple[str, ...], no_cpu_limit: bool, repair: bool, starting: bool,
    now: int | None, vocabulary: str, machine: str | None, site_file: str | None, host: bool,
    pid: int | None,
) -> None:  # fmt: skip
    """Derive $JOBFEATURES from a job object, and write them into DIR.

    Each key is one file, which appears whole or not at all. Keys of an earlier run that no longer
    apply are removed; other files in DIR are left alone. Defaults are applied first.
    """
    if directory is None and not (dry_run or explain or as_json):
        common.fail("a directory to write to is needed, or --dry-run")
    from sssjob.features.derive import derive

    name = nodes[0] if len(nodes) == 1 else host_name.own() if host else ""
    known = None if site_file is None else site(site_file)
    features = derive(
        known_job(file, select, begins=starting),
        now=int(time.time()) if now is None else now, starting=starting, nodes=nodes,
        cpu_limit=not no_cpu_limit, repair=repair,
        machine=rated(machine, known, name, ask=host),
        settings={} if known is None else known.settings(name),
        host=_host(pid) if host else {},
    )  # fmt: skip
    offer(
        features, None if dry_run else directory, vocabulary, as_json=as_json, explain=explain,
        file="<stdin>" if file == "-" else file,
    )  # fmt: skip


def _host(pid: int | None) -> dict[str, Amount]:
    from sssjob.features import host

    return host.job(pid=pid)


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
@options.JSON_OBJECT
@options.SITE
@options.NODE
@click.option("--description", metavar="FILE", type=click.Path(),
              help="Nodes as JSON, as sssjob match takes them.")  # fmt: skip
@click.option("--job", "job_file", metavar="JOB.xml", type=click.Path(),
              help="A job object that describes the node it ran on.")  # fmt: skip
@click.option("--select", metavar="ID", help="The job to take from a document of several.")
@options.HOST
@click.option("--for", "system", type=SystemName("script"),
              help="Ask this batch system how many processors jobs may have there.")  # fmt: skip
@batch.seconds
@click.option("--vocabulary", type=click.Choice(VOCABULARIES), default="both", show_default=True,
              help="Write the keys of the 2016 text, of the 2014 text, or both.")  # fmt: skip
@options.NOW
def machine(
    directory: str | None, dry_run: bool, explain: bool, as_json: bool, site_file: str | None,
    node: str | None, description: str | None, job_file: str | None, select: str | None, host: bool,
    system: str | None, seconds: float, vocabulary: str, now: int | None,
) -> None:  # fmt: skip
    """Derive $MACHINEFEATURES of a node, and write them into DIR.

    If several sources state a value, the first of these counts: Extensions of type MachineFeatures
    of the job, the site's configuration, the description of the node, the job, its batch system,
    this machine itself.
    """
    if directory is None and not (dry_run or explain or as_json):
        common.fail("a directory to write to is needed, or --dry-run")
    from sssjob.features import host as this
    from sssjob.features import machine

    name = host_name.own() if node is None else node
    moment = int(time.time()) if now is None else now
    granted = _granted(system, seconds, name, moment)
    of_host = this.machine() if host else {}
    if system is not None and "total_cpu" not in granted:
        of_host.pop("total_cpu", None)  # which is not what jobs may have
    features = machine.derive(
        granted=granted,
        settings={} if site_file is None else site(site_file).of(name),
        description=None if description is None else _described(description, node),
        job=None if job_file is None else known_job(job_file, select),
        host=of_host,
        now=moment,
    )
    offer(features, None if dry_run else directory, vocabulary, as_json=as_json, explain=explain)


def _granted(system: str | None, seconds: float, node: str, now: int) -> dict[str, Amount]:
    """What the batch system gives to jobs on a node, and until when."""
    if system is None:
        return {}
    said: list[str] = []
    call = batch.call(system, (), seconds)
    found = {"total_cpu": call.processors(node, said)}
    if (shutdown := call.shutdown(node, now, said)) is not None:
        found["shutdowntime"] = shutdown.moment
    batch.notes(tuple(said))
    return {name: amount for name, amount in found.items() if amount is not None}


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
        common.fail(f"{common.name_of(source.name)}: {error}")
    if len(found) != 1:
        what = f"no node {node}" if not found and node else f"{len(found)} nodes; name one of them"
        common.fail(f"{common.name_of(source.name)}: {what}")
    return found[0]


@click.command(
    epilog="""\b
Examples:
  sssjob features live --explain
  sssjob features live --job-id 1234 --start now /run/mjf/1234
  sssjob features live --cgroup /sys/fs/cgroup/system.slice/job_1234 --json

Exit code: 0 done, 1 no limit was found, 2 something that was named is not there, or
cannot be written."""
)
@click.argument("directory", metavar="[DIR]", required=False, type=click.Path())
@click.option("-n", "--dry-run", is_flag=True, help="Write nothing; print what would be written.")
@click.option("--explain", is_flag=True, help="What gave each value, and on what basis.")
@options.JSON_OBJECT
@click.option("--job-id", metavar="ID", help="The local id; without it, that of the environment.")
@click.option("--start", metavar="SECONDS|now", help="When the job started.")
@click.option("--wall", metavar="SECONDS", type=WholeNumber(1),
              help="The elapsed time limit, which this machine cannot know.")  # fmt: skip
@click.option("--pid", metavar="PID", type=WholeNumber(1), callback=running,
              help="A process of the job.")  # fmt: skip
@click.option("--cgroup", metavar="DIR", default="", callback=there,
              help="The control group of the job.")  # fmt: skip
@click.option("--scratch", metavar="DIR", callback=there,
              help="The scratch space; without it, $TMPDIR.")  # fmt: skip
@click.option("--machine", metavar="DIR", type=click.Path(),
              help="$MACHINEFEATURES: the job has a share of its rating.")  # fmt: skip
@click.option("--site", "site_file", metavar="FILE", type=click.Path(),
              help="The site's configuration (TOML): factor, notice.")  # fmt: skip
@click.option("--vocabulary", type=click.Choice(VOCABULARIES), default="2016", show_default=True,
              help="Write the keys of the 2016 text, of the 2014 text, or both.")  # fmt: skip
def live(
    directory: str | None, dry_run: bool, explain: bool, as_json: bool, job_id: str | None,
    start: str | None, wall: int | None, pid: int | None, cgroup: str, scratch: str | None,
    machine: str | None, site_file: str | None, vocabulary: str,
) -> None:  # fmt: skip
    """Derive $JOBFEATURES from what this machine enforces, and write them into DIR.

    Processors are those that the process may run on, memory and swap what its control groups
    (v1 or v2) allow, scratch space the file system of $TMPDIR.
    """
    if directory is None and not (dry_run or explain or as_json):
        common.fail("a directory to write to is needed, or --dry-run")
    from sssjob.features import host
    from sssjob.features.live import LocalJob, derive, local_id

    known = None if site_file is None else site(site_file)
    node = host_name.own()
    features = derive(
        LocalJob(local_id(os.environ) if job_id is None else job_id, _start(start), wall),
        host.job(pid=pid, cgroup=cgroup, scratch=scratch),
        settings={} if known is None else known.settings(node),
        machine=rated(machine, known, node, ask=True),
    )
    offer(features, None if dry_run else directory, vocabulary, as_json=as_json, explain=explain)


def _start(text: str | None) -> int | None:
    if text is None or text == "now":
        return None if text is None else int(time.time())
    if (moment := whole(text)) is None:
        common.fail(f"--start {shortened(text)} is neither seconds since 1970 nor now")
    return moment
