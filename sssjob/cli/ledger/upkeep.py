"""Looking after a ledger: ``sssjob ledger init``, ``check``, ``repair`` and ``compact``."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, options, ranges
from sssjob.cli.ledger import shared

if TYPE_CHECKING:
    from sssjob.errors import DamagedStore


@click.command(
    epilog="""\b
Examples:
  sssjob ledger init usage

Exit code: 0 there is a ledger now, 2 it cannot be made."""
)
@shared.directory
@options.JSON_OBJECT
def init(directory: str, as_json: bool) -> None:
    """Make an empty ledger in DIR. One that is there stays as it is."""
    with shared.opened(directory, create=True) as ledger:
        rows = ledger.manifest().rows
    if as_json:
        common.data(json.dumps({"ledger": directory, "runs": rows}))
    else:
        common.say(f"{common.name_of(directory)}: {rows} runs")


@click.command(
    epilog="""\b
Examples:
  sssjob ledger check usage

Exit code: 0 whole, 1 damaged, 2 the ledger cannot be read."""
)
@options.JSON_LINES
@shared.directory
def check(as_json: bool, directory: str) -> None:
    """Find what is damaged: compare every byte of every file with what was written.

    Files that a writer left behind when it was killed are counted, but are no part of the ledger.
    Files that only older commits need (--as-of) are counted, too; compact --forget removes both.
    """
    with shared.opened(directory) as ledger:
        from sssjob.ledger import upkeep

        found = upkeep.check(ledger)
    _tell(found.faults, as_json=as_json)
    left = f", files left behind {len(found.strays)}" if found.strays else ""
    if found.older.files:
        left += f", {found.older.files} files of {found.older.size} bytes for older commits only"
    faults = f"{len(found.faults)} faults" if found.faults else "whole"
    common.say(f"{common.name_of(directory)}: {faults}, {found.runs} runs{left}")
    sys.exit(common.NOTHING if found.faults else common.FOUND)


@click.command(
    epilog="""\b
Examples:
  sssjob ledger repair usage
  sssjob ledger ingest usage sacct-2026-*.txt

Exit code: 0 it was whole, 1 something is left out now, 2 the ledger cannot be read or written."""
)
@options.JSON_LINES
@shared.directory
def repair(as_json: bool, directory: str) -> None:
    """Leave out files that are damaged, and say which, so that the rest answers again.

    The runs in them are lost until their records are put in again: ingest then reads each file,
    also those that it read before. Nothing is removed; a damaged manifest gets another name.
    """
    with shared.opened(directory, damaged=True) as ledger:
        from sssjob.ledger import upkeep

        found = upkeep.repair(ledger)
    _tell(found.faults, as_json=as_json)
    left_out = f"{found.lost} runs left out" if found.lost else "repaired"
    lost = left_out if found.faults else "whole"
    common.say(f"{common.name_of(directory)}: {lost}, {found.runs} runs")
    sys.exit(common.NOTHING if found.faults else common.FOUND)


def _tell(faults: Iterable[DamagedStore], *, as_json: bool) -> None:
    for fault in faults:
        if as_json:
            common.data(json.dumps({"file": fault.store, "message": fault.reason}))
        else:
            common.fitted(str(fault))


@click.command(
    epilog="""\b
Examples:
  sssjob ledger compact usage
  sssjob ledger compact --forget 30 usage

Exit code: 0 done, 2 the ledger cannot be read or written."""
)
@click.option(
    "--forget", "days", metavar="DAYS", type=ranges.WholeNumber(0),
    help="Then remove commits that are older than so many days, and the files that no later one "
         "needs. Whoever still reads them is told that a file is gone.",
)  # fmt: skip
@options.JSON_OBJECT
@shared.directory
def compact(days: int | None, as_json: bool, directory: str) -> None:
    """Put the files of each month together, without rows that were replaced, and make rollups.

    Reports stay the same. Others may read meanwhile, and the command may be interrupted at any
    time. Files that older commits need (--as-of) stay, unless they are to be forgotten.
    """
    removed = 0
    with shared.opened(directory) as ledger:
        from sssjob.ledger import upkeep
        from sssjob.ledger.report import roll_up

        before, after = upkeep.compact(ledger)
        try:
            roll_up(ledger)
            upkeep.filter_ids(ledger)
        except OSError as error:
            common.fail(f"{common.name_of(directory)}: no rollups: {common.reason(error)}")
        if days is not None:
            removed, _ = upkeep.forget(ledger, days, time.time())
    if as_json:
        common.data(json.dumps({"before": before, "after": after, "removed": removed}))
    else:
        gone = "" if days is None else f", {removed} removed"
        common.say(f"{common.name_of(directory)}: {before} files before, {after} now{gone}")
