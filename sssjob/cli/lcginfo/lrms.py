"""``sssjob lcginfo lrms``: a batch system in, lrmsinfo out."""

from __future__ import annotations

import sys

import click

from sssjob.cli import common, options, records, spans
from sssjob.cli.lcginfo import shared
from sssjob.cli.names import SystemName
from sssjob.cli.ranges import NumberRange, WholeNumber
from sssjob.records import AUTO

DAY = 86400
_KINDS = ("sss", "store", "lrmsinfo")  # what is no output of a batch system


@click.command(
    epilog="""\b
Examples:
  sssjob lcginfo lrms --from slurm > lrmsinfo
  sssjob lcginfo lrms --from pbs --tz Europe/Amsterdam qstat-f.txt pbsnodes.txt
  sssjob lcginfo lrms --slots 240 jobs.sss
  sssjob lcginfo lrms --slots 240 --done-within 3600 jobs.db

Exit code: 0 every job printed, 1 some could not be, 2 nothing printed."""
)
@click.option(
    "--from", "format_name", default=AUTO.name, show_default=True,
    type=SystemName("queue", AUTO.name, *_KINDS),
    help="The batch system, or what the FILEs hold; auto: their first bytes tell.",
)  # fmt: skip
@click.option(
    "--text", is_flag=True, help="Have the commands of the batch system print text instead of JSON."
)
@click.option("--slots", metavar="N", type=WholeNumber(0), help="How many slots there are.")
@click.option(
    "--cycle",
    metavar="SECONDS",
    type=NumberRange(0),
    help="How many seconds are between two runs of the scheduler.",
)
@click.option(
    "--done-within", metavar="SECONDS", type=WholeNumber(0), default=DAY, show_default=True,
    help="With a store: also show jobs that ended at most this long ago.",
)  # fmt: skip
@click.option(
    "--now", metavar="TIME", type=options.MOMENT, help="When the files were written. Default: now."
)
@options.QUEUE
@options.ALL_FINDINGS
@click.option(
    "--group-by", type=click.Choice(("group", "account", "user")), default="group",
    show_default=True,
    help="What is printed as the unix group of a job.",
)  # fmt: skip
@click.option(
    "--tz", "zone", metavar="ZONE", default="", shell_complete=options.completes(options.zones),
    help="The zone of times that state none, such as Europe/Amsterdam. Default: UTC.",
)  # fmt: skip
@options.TIMEOUT
@click.argument("files", nargs=-1, metavar="[FILE]...")
def command(
    format_name: str,
    text: bool,
    slots: int | None,
    cycle: float | None,
    done_within: int,
    now: int | None,
    queue: str,
    group_by: str,
    zone: str,
    timeout: float,
    files: tuple[str, ...],
) -> None:
    """Print the state of a batch system as lrmsinfo.

    With --from SYSTEM and no FILE its commands are run. FILEs hold what its commands printed, in
    any order; or documents or records of jobs (sss), or lrmsinfo itself; or each is a store, such
    as postgresql://... Without FILEs, all but a store is read from standard input.
    """
    from sssjob.commands import CommandLimits
    from sssjob.lcginfo import lrmsinfo
    from sssjob.lcginfo.reader import ReaderOptions
    from sssjob.verbs.queue_state import QueueReading, is_asked, name_of_group

    log = shared.Log()
    told = ReaderOptions(
        zone=spans.zone_of(zone) if zone else None, now=now, queue=queue, group=group_by,
        cycle=cycle, slots=slots, name_of_group=str if files else name_of_group,
    )  # fmt: skip
    with common.failing():
        said = records.RecordMessages()
        reading = QueueReading(told, log.about, said, done_within)
        sources = [] if not files and is_asked(format_name) else [*common.sources(files)]
        limits = CommandLimits(seconds=timeout)
        snapshot = reading.shown(format_name, sources, text=text, limits=limits)
    lrmsinfo.write(snapshot, sys.stdout)
    said.rest()
    log.close()
    sys.exit(common.ended(log.bad + said.bad, unread=log.unread + said.unread))
