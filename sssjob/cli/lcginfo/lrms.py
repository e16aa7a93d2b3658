"""``sssjob lcginfo lrms``: a batch system in, lrmsinfo out."""

from __future__ import annotations

import io
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, options
from sssjob.cli.lcginfo import shared
from sssjob.cli.names import SystemName

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from sssjob.lcginfo.reader import Options
    from sssjob.lcginfo.snapshot import QueuedJob, Snapshot

DAY = 86400


@click.command(
    epilog="""\b
Examples:
  sssjob lcginfo lrms --from slurm > lrmsinfo
  sssjob lcginfo lrms --from pbs --tz Europe/Amsterdam qstat-f.txt pbsnodes.txt
  sssjob lcginfo lrms --from sss --slots 240 jobs.sss
  sssjob lcginfo lrms --from store --slots 240 --done-within 3600 jobs.db

Exit code: 0 every job printed, 1 some could not be, 2 nothing printed."""
)
@click.option(
    "--from", "format_name", required=True, type=SystemName("queue", "sss", "store", "lrmsinfo"),
    help="The batch system, or the format of the files.",
)  # fmt: skip
@click.option("--text", is_flag=True, help="Ask the batch system for text where JSON is usual.")
@click.option("--slots", type=click.IntRange(0), help="How many slots there are.")
@click.option("--cycle", type=click.FloatRange(0), help="Seconds between scheduling passes.")
@click.option(
    "--done-within", metavar="SECONDS", type=click.IntRange(0), default=DAY, show_default=True,
    help="Of a store: show jobs that ended so short a time ago, too.",
)  # fmt: skip
@click.option(
    "--now", metavar="TIME", default="", help="When the files were written. Default: now."
)
@options.QUEUE
@click.option(
    "--group-by", type=click.Choice(("group", "account", "user")), default="group",
    help="What stands for the unix group.",
)  # fmt: skip
@click.option(
    "--tz", "zone", metavar="ZONE", default="",
    help="The zone of local times, such as Europe/Amsterdam. Default: this machine's.",
)  # fmt: skip
@click.option("--timeout", type=click.FloatRange(0.1), default=120, help="Seconds for a command.")
@click.argument("files", nargs=-1, metavar="[FILE]...")
def command(
    format_name: str,
    text: bool,
    slots: int | None,
    cycle: float | None,
    done_within: int,
    now: str,
    queue: str,
    group_by: str,
    zone: str,
    timeout: float,
    files: tuple[str, ...],
) -> None:
    """Print the state of a batch system as lrmsinfo.

    FILEs hold what its commands printed, in any order; without FILEs the commands are run. Job
    objects (sss) and lrmsinfo itself are read from FILEs or standard input; a store is a FILE
    or postgresql://...
    """
    from sssjob.lcginfo import lrmsinfo
    from sssjob.lcginfo.reader import Options

    log = shared.Log()
    with common.failing():
        options = Options(
            zone=_zone(zone),
            now=shared.moment(now) if now else None,
            queue=queue,
            group=group_by,
            cycle=cycle,
            slots=slots,
            name_of_group=str if files else _name_of_group,
        )
        if format_name == "sss":
            snapshot = _documents(files, options, log)
        elif format_name == "store":
            snapshot = _stores(files, options, log, done_within)
        elif format_name == "lrmsinfo":
            snapshot = _lrmsinfo(files, options, log)
        else:
            snapshot = _system(format_name, files, options, log, text=text, timeout=timeout)
    lrmsinfo.write(snapshot, sys.stdout)
    log.close()
    sys.exit(common.NOTHING if log.bad else common.FOUND)


def _system(
    name: str,
    files: tuple[str, ...],
    options: Options,
    log: shared.Log,
    *,
    text: bool,
    timeout: float,
) -> Snapshot:
    from sssjob.commands import OUTPUT_LIMIT, CommandLimits
    from sssjob.lcginfo import reader

    log.name = name
    if files:
        outputs = [shared.contents(file, OUTPUT_LIMIT) for file in files]
    else:
        outputs = list(reader.ask(name, text=text, limits=CommandLimits(seconds=timeout)))
    return _dated(reader.snapshot(name, outputs, options, log))


def _documents(files: tuple[str, ...], options: Options, log: shared.Log) -> Snapshot:
    from sssjob.document import read
    from sssjob.lcginfo import jobs

    entries: list[QueuedJob] = []
    for name, source in common.sources(files):
        log.name = name
        blocks = read(source, on_error=log.unreadable)
        entries += jobs.from_blocks(blocks, queue=options.queue, report=log)
    return _of(entries, options)


def _stores(
    addresses: tuple[str, ...], options: Options, log: shared.Log, done_within: int
) -> Snapshot:
    from sssjob import store
    from sssjob.lcginfo import jobs

    if not addresses:
        common.fail("name a store: --from store FILE")
    moment = time.time() if options.now is None else options.now
    entries: list[QueuedJob] = []
    for address in addresses:
        log.name = address
        with store.open(address, read_only=True) as stored:
            log.name = stored.address
            entries += jobs.from_store(
                stored, since=int(moment) - done_within, queue=options.queue, report=log
            )
    return _of(entries, options)


def _of(entries: list[QueuedJob], options: Options) -> Snapshot:
    """The snapshot of job objects, which say nothing of slots."""
    from sssjob.lcginfo.snapshot import Snapshot

    found = Snapshot(tuple(entries), options.slots, None, options.now, options.cycle)
    return _dated(replace(found, nfree=found.free))


def _lrmsinfo(files: tuple[str, ...], options: Options, log: shared.Log) -> Snapshot:
    from sssjob.commands import OUTPUT_LIMIT
    from sssjob.lcginfo import lrmsinfo

    log.name = ", ".join(files) or "<stdin>"
    joined = b"\n".join(shared.contents(file, OUTPUT_LIMIT) for file in files or ("-",))
    found = lrmsinfo.read(io.BytesIO(joined), log)
    cycle = found.cycle if options.cycle is None else options.cycle
    if options.slots is not None:
        found = replace(found, nactive=options.slots, nfree=None)
    return replace(found, nfree=found.free, cycle=cycle)


def _dated(snapshot: Snapshot) -> Snapshot:
    """A snapshot of which nobody said when it was taken was taken now."""
    return snapshot if snapshot.now is not None else replace(snapshot, now=int(time.time()))


def _zone(name: str) -> ZoneInfo | None:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        common.fail(f"{name!r} is no known time zone")


def _name_of_group(number: int) -> str:
    import grp

    try:
        return grp.getgrgid(number).gr_name
    except (KeyError, OverflowError):
        return str(number)
