"""``sssjob features sample``: what the jobs of a node use while they run."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
import time
from typing import TYPE_CHECKING

import click

from sssjob import host_name
from sssjob.cli import common, options
from sssjob.cli.features import batch
from sssjob.cli.features.common import fail
from sssjob.cli.ranges import NumberRange
from sssjob.cli.signals import terminable
from sssjob.errors import SSSJobError, Unprotected

if TYPE_CHECKING:
    from sssjob.features.batch.sampling import SampledJobs


@click.command(
    epilog="""\b
Examples:
  sssjob features sample --for slurm --root /run/mjf
  sssjob features sample --for slurm --once --json
  sssjob features sample --for slurm --metrics /var/lib/node_exporter/sssjob.prom
  sssjob features sample --for pbs --cgroup '/sys/fs/cgroup/pbs_jobs.service/jobid/%j'

Exit code: with --once 0 done, 1 something of a job cannot be read or written, 2 users
other than root can write in a directory above --root, or the figures cannot be written; else the
signal that ended it."""
)
@batch.system("script")
@batch.root
@click.option("--node", metavar="NAME", default="",
              help="The name of this node in the batch system. Default: that of the host, without "
              "its domain.")  # fmt: skip
@click.option("--cgroup", metavar="DIR", default="",
              help="The control group of each job: %j is its id, %u the number of its user, %n the "
              "node. Default: as the batch system makes them (Slurm).")  # fmt: skip
@click.option("--every", metavar="SECONDS", type=NumberRange(0.1, 3600), default=30,
              show_default=True, help="How long to wait between two looks.")  # fmt: skip
@click.option("--once", is_flag=True, help="Look once, and end.")
@click.option("--metrics", metavar="FILE", type=click.Path(),
              help="Replace this file after each look by the figures of all jobs, as OpenMetrics; "
              "its directory may be the monitor's.")  # fmt: skip
@options.JSON_LINES
def command(
    system: str, root: str, node: str, cgroup: str, every: float, once: bool, metrics: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Measure what the jobs of this node use, and tell it to them and to the site.

    The control group of each job below --root is looked at: CPU time, memory, swap, how long it
    waited for processors, memory and disks, and GPUs where their drivers tell. The job finds the
    figures as used_* in $JOBSTATUS; the epilog puts them into its document. In --root, %n stands
    for the name of the node.
    """
    from sssjob.features.batch import directories, sampling

    call = batch.call(system, (), 10)
    name = node or host_name.own()
    place = directories.of_node(root, name)
    said: set[str] = set()
    with terminable() as go_on:
        while True:
            go_on()
            try:
                found = sampling.look(call, place, time.time(), name, cgroup)
            except (OSError, SSSJobError) as error:
                fail(error)
            notes = {*found.notes, *filter(None, (directories.doubt(place),))}
            try:
                if metrics:
                    _write(metrics, found, system, name)
            except (OSError, SSSJobError) as error:
                if once:
                    fail(error)
                notes.add(common.reason(error) if isinstance(error, OSError) else str(error))
            # What goes wrong at each look is told once.
            batch.notes(tuple(sorted(notes - said)))
            said = notes
            if once or as_json:
                _print(found, as_json)
            if once:
                sys.exit(common.NOTHING if found.notes else common.FOUND)
            time.sleep(every)


def _print(found: SampledJobs, as_json: bool) -> None:
    for job, sample in found.samples.items():
        if as_json:
            common.data(json.dumps({"job": job, **sample.numbers()}))
        else:
            for name, value in sample.values().items():
                common.echo(f"{job}  {name:17}  {value}")


def _write(file: str, found: SampledJobs, system: str, node: str) -> None:
    """Write the figures whole. Root changes nothing outside a directory of another user.

    The directory often belongs to the user of the monitor. Raises ``OSError``.
    """
    from sssjob import atomic, outputs
    from sssjob import directory_handles as handles
    from sssjob.features.metrics import text

    octets = text(found.samples, system, node).encode()
    place, name = os.path.split(os.path.abspath(file))
    try:
        handles.check(place)
    except Unprotected:
        if os.geteuid() == 0:
            with handles.opened(place) as folder:
                if handles.is_there(folder, name) and not _is_file(folder, name):
                    why = "is no regular file, and others may write in its directory: left alone"
                    raise OSError(errno.EINVAL, why, file) from None
                atomic.put(folder, name, octets)
            return
    with outputs.writing(file) as stream:
        stream.write(octets)


def _is_file(folder: int, name: str) -> bool:
    return stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
