"""``sssjob features job``: $JOBFEATURES for a job object, as files or to look at."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from sssjob.cli import common
from sssjob.cli.features.common import VOCABULARIES, offer, rated, running, site
from sssjob.cli.features.document import one_job

if TYPE_CHECKING:
    from sssjob.amounts import Amount


@click.command(
    epilog="""\b
Examples:
  sssjob features job.xml /run/mjf/1234
  sssjob features --dry-run --explain job.xml
  sssjob features --select fr15n05.1234.1 --repair workflow.xml /run/mjf/1
  sssjob features --node n1 --node n2 --json job.xml /run/mjf/1234
  sssjob features --host --site site.toml --vocabulary both job.xml /run/mjf/1

Exit code: 0 done, 1 the job has errors or gives no key (what it gives is
written all the same), 2 the document cannot be read or nothing be written."""
)
@click.argument("file", metavar="JOB.xml", type=click.Path())
@click.argument("directory", metavar="[DIR]", required=False, type=click.Path())
@click.option("-n", "--dry-run", is_flag=True, help="Write nothing; print what would be written.")
@click.option("--explain", is_flag=True, help="Which element gave each value, and on what basis.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--select", metavar="ID", help="The job to take from a document that holds several.")
@click.option("--node", "nodes", metavar="NAME", multiple=True,
              help="Only the tasks on this node; may be repeated.")  # fmt: skip
@click.option("--no-cpu-limit", is_flag=True,
              help="No cpu_limit_secs from elapsed time and processors alone.")  # fmt: skip
@click.option("--repair", is_flag=True, help="Turn the signs of groups if only that balances them.")
@click.option("--starting", is_flag=True, help="The job starts now: its StartTime, if it has none.")
@click.option("--now", metavar="SECONDS", type=click.IntRange(0),
              help="What time it is, in seconds since 1970.")  # fmt: skip
@click.option("--vocabulary", type=click.Choice(VOCABULARIES), default="2016", show_default=True,
              help="Write the keys of the 2016 text, of the 2014 text, or both.")  # fmt: skip
@click.option("--machine", metavar="DIR", type=click.Path(),
              help="$MACHINEFEATURES: the job has a share of its rating.")  # fmt: skip
@click.option("--site", "site_file", metavar="FILE", type=click.Path(),
              help="The site's configuration (TOML): factor, notice.")  # fmt: skip
@click.option("--host", "host", is_flag=True,
              help="Ask this machine, too, what it enforces on this process.")  # fmt: skip
@click.option("--pid", metavar="PID", type=click.IntRange(1), callback=running,
              help="With --host: ask about another process.")  # fmt: skip
def command(
    file: str, directory: str | None, dry_run: bool, explain: bool, as_json: bool,
    select: str | None, nodes: tuple[str, ...], no_cpu_limit: bool, repair: bool, starting: bool,
    now: int | None, vocabulary: str, machine: str | None, site_file: str | None, host: bool,
    pid: int | None,
) -> None:  # fmt: skip
    """Derive $JOBFEATURES from a job object, and write them into DIR.

    Each key is one file, which appears whole or not at all. Keys of an earlier run that the job
    no longer gives are removed; other files in DIR are left alone. Defaults are resolved first.
    """
    if directory is None and not (dry_run or explain or as_json):
        common.fail("a directory to write to is needed, or --dry-run")
    from sssjob.features.derive import derive

    name = nodes[0] if len(nodes) == 1 else os.uname().nodename.partition(".")[0] if host else ""
    known = None if site_file is None else site(site_file)
    features = derive(
        one_job(file, select), now=int(time.time()) if now is None else now, starting=starting,
        nodes=nodes, cpu_limit=not no_cpu_limit, repair=repair,
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
