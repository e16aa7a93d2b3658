"""Looking after a store: ``sssjob store init``, ``stats``, ``check``, ``compact`` and others."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, options
from sssjob.cli.store import shared

if TYPE_CHECKING:
    from sssjob.store import Statistics
import sys


@click.command(
    epilog="""\b
Examples:
  sssjob store init jobs.db
  sssjob store init postgresql://batch@db.example.org/jobs

Exit code: 0 there is a store now, 2 it cannot be made."""
)
@shared.store
@shared.as_json
def init(store: str, as_json: bool) -> None:
    """Make an empty store. One that is there stays as it is."""
    with shared.opened(store, create=True) as jobs:
        count = jobs.count()
        if as_json:
            common.data(json.dumps({"store": jobs.address, "documents": count}))
        else:
            common.say(f"{jobs.address}: {count} documents")


@click.command(
    epilog="""\b
Examples:
  sssjob store stats jobs.db
  sssjob store stats jobs.db --json | jq .jobs

Exit code: 0 done, 2 the store cannot be read."""
)
@shared.store
@shared.as_json
def stats(store: str, as_json: bool) -> None:
    """Describe a store in numbers. The size of the documents is estimated from a sample."""
    with shared.opened(store, read_only=True) as jobs:
        found = jobs.statistics()
    if as_json:
        common.data(json.dumps(asdict(found), ensure_ascii=False))
        return
    for name, value in _lines(found):
        common.fitted(f"{name:13} {value}")


def _lines(found: Statistics) -> list[tuple[str, str]]:
    from sssjob import units

    ratio = f" ({found.size / found.documents_size:.2f} times)" if found.documents_size else ""
    states = ", ".join(f"{state or 'none'} {count}" for state, count in found.by_state.items())
    return [
        ("documents", f"{found.documents} ({found.deleted} deleted)"),
        ("jobs", str(found.jobs)),
        ("states", states or "-"),
        ("versions", f"{found.versions} before the present ones"),
        ("as XML", f"{units.size(found.documents_size)}, packed {units.size(found.packed_size)}"),
        ("store", f"{units.size(found.size)}{ratio}"),
        ("dictionaries", str(found.dictionaries)),
        ("changed", f"{shared.moment(found.first_change)} to {shared.moment(found.last_change)}"),
    ]


@click.command(
    epilog="""\b
Examples:
  sssjob store check jobs.db
  sssjob store check jobs.db --json

Exit code: 0 nothing is damaged, 1 something is, 2 the store cannot be read at all."""
)
@shared.store
@options.JSON_LINES
def check(store: str, as_json: bool) -> None:
    """Find what is damaged: in the database, in every version of each job object, in its columns.

    "sssjob store export" saves the undamaged documents. Importing a good copy of a damaged one
    repairs it.
    """
    faults = 0
    with shared.opened(store, read_only=True) as jobs, shared.counted("checking") as tell:
        for fault in jobs.check(on_progress=tell):
            faults += 1
            if as_json:
                named = fault.identity._asdict() if fault.identity else {"name": None, "id": None}
                row = {**named, "version": fault.version or None, "message": fault.message}
                common.data(json.dumps(row, ensure_ascii=False))
            else:
                common.fitted(f"{store}: {fault}")
        common.say(f"{jobs.address}: {faults} faults" if faults else f"{jobs.address}: whole")
    sys.exit(common.NOTHING if faults else common.FOUND)


@click.command(
    epilog="""\b
Examples:
  sssjob store compact jobs.db

Exit code: 0 done, 2 the store cannot be written."""
)
@shared.store
@shared.as_json
def compact(store: str, as_json: bool) -> None:
    """Make a store smaller: train its dictionary again, compress all versions, free space.

    Others may read and write meanwhile, and it may be interrupted at any time. A store in a file
    needs as much free space as its size, for the new file.
    """
    with shared.opened(store) as jobs, shared.counted("compacting") as tell:
        before = jobs.engine.size()
        jobs.compact(on_progress=tell)
        after = jobs.engine.size()
    if as_json:
        common.data(json.dumps({"before": before, "after": after}))
    else:
        common.say(f"{jobs.address}: {before} bytes before, {after} now")


@click.command(
    epilog="""\b
Examples:
  sssjob store settings jobs.db
  sssjob store settings jobs.db --verify

Exit code: 0 shown, and set if that was asked for, 2 the store cannot be read or written."""
)
@shared.store
@click.option(
    "--verify/--no-verify", default=None,
    help="Compare every answer from columns with the documents, and report differences.",
)  # fmt: skip
@shared.as_json
def settings(store: str, verify: bool | None, as_json: bool) -> None:
    """Show the settings of a store, or change one for everybody who opens it from now on.

    With --verify each query also reads every document, and reports where the columns differ from
    it; a gateway writes these reports into its log.
    """
    with shared.opened(store, read_only=verify is None) as jobs:
        if verify is not None:
            jobs.verify(verify)
        if as_json:
            common.data(json.dumps({"store": jobs.address, "verify": jobs.verifies}))
        else:
            common.echo(f"verify  {'on' if jobs.verifies else 'off'}")


@click.command(
    epilog="""\b
Examples:
  sssjob store upgrade jobs.db

Exit code: 0 this sssjob can use the store, 2 it cannot be upgraded."""
)
@shared.store
@shared.as_json
def upgrade(store: str, as_json: bool) -> None:
    """Make a store of an older sssjob usable by this one, completely or not at all."""
    from sssjob.store import upgrade

    with shared.failing(), shared.counted("upgrading") as tell:
        done = upgrade(store, on_progress=tell)
    if as_json:
        common.data(json.dumps({"upgraded": done}))
    else:
        common.say("upgraded" if done else "nothing to do: it is a store of this sssjob")
