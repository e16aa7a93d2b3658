"""``sssjob lcginfo lrms``: a batch system in, lrmsinfo out."""

from __future__ import annotations

import io
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, options, records, spans
from sssjob.cli.lcginfo import shared
from sssjob.cli.names import SystemName
from sssjob.records import AUTO

if TYPE_CHECKING:
    from sssjob.document.sources import NamedSource
    from sssjob.lcginfo.reader import ReaderOptions
    from sssjob.lcginfo.snapshot import QueuedJob, Snapshot

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
@click.option("--text", is_flag=True, help="Ask the batch system for text where JSON is usual.")
@click.option("--slots", type=click.IntRange(0), help="How many slots there are.")
@click.option("--cycle", type=click.FloatRange(0), help="Seconds between scheduling passes.")
@click.option(
    "--done-within", metavar="SECONDS", type=click.IntRange(0), default=DAY, show_default=True,
    help="With a store: also show jobs that ended at most this long ago.",
)  # fmt: skip
@click.option(
    "--now", metavar="TIME", type=options.MOMENT, help="When the files were written. Default: now."
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
    from sssjob.lcginfo import lrmsinfo
    from sssjob.lcginfo.reader import ReaderOptions

    log = shared.Log()
    with common.failing(), ExitStack() as stack:
        options = ReaderOptions(
            zone=spans.zone_of(zone) if zone else None,
            now=now,
            queue=queue,
            group=group_by,
            cycle=cycle,
            slots=slots,
            name_of_group=str if files else _name_of_group,
        )
        if not files and format_name not in (AUTO.name, *_KINDS):
            snapshot = _asked(format_name, options, log, text=text, timeout=timeout)
        else:
            sources = [*common.sources(files)]
            if format_name == AUTO.name:
                format_name, sources = _recognised(sources)
            snapshot = _read(format_name, sources, options, log, stack, done_within)
    lrmsinfo.write(snapshot, sys.stdout)
    log.close()
    sys.exit(common.NOTHING if log.bad else common.FOUND)


def _recognised(sources: list[NamedSource]) -> tuple[str, list[NamedSource]]:
    """What sources are, and the sources from their beginning: one of ``_KINDS``, or ``auto`` for
    what batch systems print, of which each source may be a part.
    """
    found = [_kind(source) for source in sources]
    kinds = {kind for kind, _ in found}
    again = [source for _, source in found]
    if kinds == {"sss", "store"}:
        return "sss", again
    return (kinds.pop() if len(kinds) == 1 else AUTO.name), again


def _kind(source: NamedSource) -> tuple[str, NamedSource]:
    from sssjob.document import opened
    from sssjob.document.files import looked_at
    from sssjob.document.sources import naming
    from sssjob.lcginfo.lrmsinfo import begins
    from sssjob.records.recognition import HEAD
    from sssjob.verbs.documents import are_documents

    if source.is_store:
        return "store", source
    if source.is_directory or source.is_ledger:
        return "sss", source
    if isinstance(source.given, Path):
        with naming(source.name), opened(source.given) as stream:
            head = stream.read(HEAD)
    else:
        head, stream = looked_at(source.given, HEAD)
        source = source._replace(given=stream)
    if begins(head):
        return "lrmsinfo", source
    return ("sss" if are_documents(head) else AUTO.name), source


def _asked(
    name: str, options: ReaderOptions, log: shared.Log, *, text: bool, timeout: float
) -> Snapshot:  # fmt: skip
    from sssjob.commands import CommandLimits
    from sssjob.lcginfo import reader

    log.name = name
    outputs = list(reader.ask(name, text=text, limits=CommandLimits(seconds=timeout)))
    return _dated(reader.snapshot(name, outputs, options, log))


def _read(
    kind: str,
    sources: list[NamedSource],
    options: ReaderOptions,
    log: shared.Log,
    stack: ExitStack,
    done_within: int,
) -> Snapshot:
    if kind == "store":
        return _stores(sources, options, log, done_within)
    if kind == "sss":
        return _documents(sources, options, log, stack)
    if kind == "lrmsinfo":
        return _lrmsinfo(sources, options, log)
    return _printed(kind, sources, options, log, stack)


def _printed(
    name: str, sources: list[NamedSource], options: ReaderOptions, log: shared.Log, stack: ExitStack
) -> Snapshot:
    """What a batch system printed; ``auto`` is the one that prints this, or has such records."""
    from sssjob.commands import OUTPUT_LIMIT
    from sssjob.document.sources import naming
    from sssjob.lcginfo import reader
    from sssjob.lcginfo.snapshot import UnusableOutput
    from sssjob.verbs.documents import recognise

    log.name = ", ".join(source.name for source in sources) if name == AUTO.name else name
    outputs = [shared.bytes_of(source, OUTPUT_LIMIT) for source in sources]
    if name != AUTO.name:
        return _dated(reader.snapshot(name, outputs, options, log))
    try:
        return _dated(reader.recognised(outputs, options, log)[1])
    except UnusableOutput as error:
        for source, each in zip(sources, outputs, strict=True):
            with naming(source.name):
                if not recognise(each):
                    common.fail(f"{log.name}: {error}")
    again = [
        source._replace(given=io.BufferedReader(io.BytesIO(each)))
        for source, each in zip(sources, outputs, strict=True)
    ]
    return _documents(again, options, log, stack)


def _documents(
    sources: list[NamedSource], options: ReaderOptions, log: shared.Log, stack: ExitStack
) -> Snapshot:
    from sssjob.document import read
    from sssjob.lcginfo import jobs
    from sssjob.verbs import documents

    entries: list[QueuedJob] = []
    for name, source in documents.streams(sources, stack, records.RecordMessages()):
        log.name = name
        blocks = read(source, on_error=log.unreadable)
        entries += jobs.from_blocks(blocks, queue=options.queue, report=log)
    return _of(entries, options)


def _stores(
    sources: list[NamedSource], options: ReaderOptions, log: shared.Log, done_within: int
) -> Snapshot:
    from sssjob import store
    from sssjob.lcginfo import jobs

    moment = time.time() if options.now is None else options.now
    entries: list[QueuedJob] = []
    for address, given in sources:
        if not isinstance(given, Path):
            common.fail("name a store: --from store FILE")
        log.name = address
        with store.open(address, read_only=True) as stored:
            log.name = stored.address
            entries += jobs.from_store(
                stored, since=int(moment) - done_within, queue=options.queue, report=log
            )
    return _of(entries, options)


def _of(entries: list[QueuedJob], options: ReaderOptions) -> Snapshot:
    """The snapshot of job objects, which say nothing of slots."""
    from sssjob.lcginfo.snapshot import Snapshot

    found = Snapshot(tuple(entries), options.slots, None, options.now, options.cycle)
    return _dated(replace(found, nfree=found.free))


def _lrmsinfo(sources: list[NamedSource], options: ReaderOptions, log: shared.Log) -> Snapshot:
    from sssjob.commands import OUTPUT_LIMIT
    from sssjob.lcginfo import lrmsinfo

    log.name = ", ".join(source.name for source in sources)
    joined = b"\n".join(shared.bytes_of(source, OUTPUT_LIMIT) for source in sources)
    found = lrmsinfo.read(io.BytesIO(joined), log)
    cycle = found.cycle if options.cycle is None else options.cycle
    if options.slots is not None:
        found = replace(found, nactive=options.slots, nfree=None)
    return replace(found, nfree=found.free, cycle=cycle)


def _dated(snapshot: Snapshot) -> Snapshot:
    """A snapshot of which nobody said when it was taken was taken now."""
    return snapshot if snapshot.now is not None else replace(snapshot, now=int(time.time()))


def _name_of_group(number: int) -> str:
    import grp

    try:
        return grp.getgrgid(number).gr_name
    except (KeyError, OverflowError):
        return str(number)
