"""``sssjob store delete``: job objects that are hidden, and kept."""

from __future__ import annotations

import json
import sys

import click

from sssjob.cli import common, options
from sssjob.cli.store import shared
from sssjob.errors import TakenId


@click.command(
    epilog="""\b
Examples:
  sssjob store delete jobs.db PBS.1234.0 --reason "a test"
  sssjob store delete jobs.db --undo PBS.1234.0

Exit code: 0 all of them, 1 some were not there or have their Id taken by now,
2 the store cannot be written."""
)
@shared.store
@click.argument("ids", nargs=-1, metavar="ID...", required=True)
@click.option("--undo", is_flag=True, help="Show deleted job objects again.")
@shared.by
@options.REASON
@shared.as_json
def command(
    store: str, ids: tuple[str, ...], undo: bool, by: str | None, reason: str, as_json: bool
) -> None:
    """Hide the job objects of IDs: queries and exports pass over them, but no version is lost."""
    done: list[str] = []
    missed: list[tuple[str, str]] = []
    with (
        shared.opened(store, by=shared.user(by)) as jobs,
        jobs.change(reason=reason, brings_groups=undo) as change,
    ):
        for id_ in ids:
            try:
                found = change.undelete(id_) if undo else change.delete(id_)
            except TakenId as error:
                missed.append((id_, str(error)))
                continue
            if found is None:
                missed.append((id_, f"no job object {id_} that is {'' if undo else 'not '}deleted"))
            else:
                done.append(id_)
    for _, said in missed:
        common.say(f"{store}: {said}")
    if as_json:
        common.data(json.dumps({"done": done, "missed": [id_ for id_, _ in missed]}))
    sys.exit(common.NOTHING if missed else common.FOUND)
