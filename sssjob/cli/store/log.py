"""``sssjob store log``: who changed what, when, from where and why."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC
from itertools import islice
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, options, spans
from sssjob.cli.ranges import WholeNumber
from sssjob.cli.store import shared
from sssjob.errors import Severity

if TYPE_CHECKING:
    from sssjob.store import Event, Store


@click.command(
    epilog="""\b
Examples:
  sssjob store log jobs.db
  sssjob store log jobs.db PBS.1234.0
  sssjob store log jobs.db --since 2026-01-31T00:00Z --by alice --json

Exit code: 0 something was found, 1 nothing, 2 the store cannot be read."""
)
@shared.store
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--since", metavar="TIME", default="",
    help="Only changes from then on, in UTC if it states no zone.",
)  # fmt: skip
@click.option("--by", metavar="NAME", default="", help="Only changes by this user.")
@click.option("--limit", metavar="N", type=WholeNumber(min=1), help="Stop after so many lines.")
@options.JSON_LINES
@options.ALL_FINDINGS
def command(
    store: str, ids: tuple[str, ...], since: str, by: str, limit: int | None, as_json: bool
) -> None:
    """Show who changed what, when, from where and why, for each version of each job object.

    With IDs, only for these job objects.
    """
    start = spans.moment(since, UTC) or 0
    found = False
    with shared.opened(store, read_only=True) as jobs:
        events = _of(jobs, ids, start, by) if ids else jobs.changes(since=start, by=by)
        for event in islice(events, limit):
            found = True
            if as_json:
                common.data(_json(event))
            else:
                common.fitted(_line(event))
    sys.exit(common.FOUND if found else common.NOTHING)


def _of(jobs: Store, ids: tuple[str, ...], since: int, by: str) -> Iterator[Event]:
    from sssjob.store import Event

    def tell(damage: object) -> None:  # its history is here all the same
        common.say_of(jobs.address, Severity.WARNING, f"sssjob: warning: {damage}")

    for id_ in ids:
        for each in jobs.versions(id_, on_error=tell, deleted=None):
            if each.at >= since and by in ("", each.by):
                yield Event(
                    each.identity, each.version, each.at, each.by, each.source, each.reason,
                    each.deleted,
                )  # fmt: skip


def _line(event: Event) -> str:
    what = f"{event.identity} version {event.version}{' deleted' if event.deleted else ''}"
    rest = (
        f"by {event.by}" if event.by else "",
        f"from {event.source}" if event.source else "",
        f"({event.reason})" if event.reason else "",
    )
    return " ".join(filter(None, (shared.moment(event.at), what, *rest)))


def _json(event: Event) -> str:
    fields = asdict(event)
    name, id_, run = fields.pop("identity")
    return json.dumps({"name": name, "id": id_, "run": run, **fields}, ensure_ascii=False)
