"""``sssjob features live``: $JOBFEATURES of a job that nothing describes, from its machine."""

from __future__ import annotations

import os
import time

import click

from sssjob.cli import common
from sssjob.cli.features.common import VOCABULARIES, offer, rated, running, site, there


@click.command(
    epilog="""\b
Examples:
  sssjob features live --explain
  sssjob features live --job-id 1234 --start now /run/mjf/1234
  sssjob features live --cgroup /sys/fs/cgroup/system.slice/job_1234 --json

Exit code: 0 done, 1 nothing limits anything, 2 something that was named is not there, or
cannot be written."""
)
@click.argument("directory", metavar="[DIR]", required=False, type=click.Path())
@click.option("-n", "--dry-run", is_flag=True, help="Write nothing; print what would be written.")
@click.option("--explain", is_flag=True, help="What gave each value, and on what basis.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--job-id", metavar="ID", help="The local id; without it, that of the environment.")
@click.option("--start", metavar="SECONDS|now", help="When the job started.")
@click.option("--wall", metavar="SECONDS", type=click.IntRange(1),
              help="The elapsed time limit: no machine knows it.")  # fmt: skip
@click.option("--pid", metavar="PID", type=click.IntRange(1), callback=running,
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
def command(
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
    node = os.uname().nodename.partition(".")[0]
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
    if not (text.isascii() and text.isdigit()):
        common.fail(f"--start {text} is neither seconds since 1970 nor now")
    return int(text)
