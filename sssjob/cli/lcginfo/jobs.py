"""``sssjob lcginfo jobs``: lrmsinfo in, job objects out."""

from __future__ import annotations

import sys

import click

from sssjob.cli import common, options
from sssjob.cli.lcginfo import shared

FORMS = ("sss-lines", "sss")


@click.command(
    epilog="""\b
Examples:
  sssjob lcginfo jobs lrmsinfo > jobs.sss
  sssjob lcginfo lrms --from slurm | sssjob lcginfo jobs --clock none

Exit code: 0 every line converted, 1 some were bad, 2 nothing converted."""
)
@click.option(
    "--clock", metavar="TIME", default="now",
    help="What the clock showed at the file's 'now': times are moved by the difference. "
         "'none' leaves them as they are. Default: the time at present.",
)  # fmt: skip
@click.option(
    "--to", "form", type=click.Choice(FORMS), default="sss-lines",
    help="One document on each line (the default), or one document around all.",
)  # fmt: skip
@options.OUTPUT
@options.ALL_FINDINGS
@click.argument("file", default="-", metavar="[FILE]")
def command(clock: str, form: str, output: str | None, file: str) -> None:
    """Turn lrmsinfo into job objects.

    lrmsinfo often counts seconds in local time. If the file has a 'now', its times are moved so
    that this 'now' becomes the present time of the clock.
    """
    from sssjob.document import opened, write
    from sssjob.document.sources import naming
    from sssjob.lcginfo import jobs, lrmsinfo

    log = shared.Log()
    with common.failing():
        (named,) = common.sources((file,))
        log.name = named.name
        with naming(named.name), opened(named.given) as stream:
            snapshot = lrmsinfo.read(stream, log)
        shift = 0.0
        if clock != "none" and snapshot.now is not None:
            shift = options.seconds(clock) - snapshot.now
        with common.output(output) as target:
            converted = jobs.to_jobs(snapshot, shift, log)
            write(converted, target, wrap="Jobs" if form == "sss" else "")
    log.close()
    common.say(f"converted {len(snapshot.jobs)}, bad {log.bad}")
    sys.exit(common.NOTHING if log.bad else common.FOUND)
