"""``sssjob store stats``: a store in numbers."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from sssjob.cli.store import shared

if TYPE_CHECKING:
    from sssjob.store import Statistics


@click.command(
    epilog="""\b
Examples:
  sssjob store stats jobs.db
  sssjob store stats jobs.db --json | jq .jobs

Exit code: 0 done, 2 the store cannot be read."""
)
@shared.store
@shared.as_json
def command(store: str, as_json: bool) -> None:
    """Describe a store in numbers. The size of the documents is estimated from a sample."""
    with shared.opened(store, read_only=True) as jobs:
        found = jobs.statistics()
    if as_json:
        click.echo(json.dumps(asdict(found), ensure_ascii=False))
        return
    for name, value in _lines(found):
        click.echo(f"{name:13} {value}")


def _lines(found: Statistics) -> list[tuple[str, str]]:
    ratio = f" ({found.size / found.documents_size:.2f} times)" if found.documents_size else ""
    states = ", ".join(f"{state or 'none'} {count}" for state, count in found.by_state.items())
    return [
        ("documents", f"{found.documents} ({found.deleted} deleted)"),
        ("jobs", str(found.jobs)),
        ("states", states or "-"),
        ("versions", f"{found.versions} before the present ones"),
        ("as XML", f"{_size(found.documents_size)}, packed {_size(found.packed_size)}"),
        ("store", f"{_size(found.size)}{ratio}"),
        ("dictionaries", str(found.dictionaries)),
        ("changed", f"{shared.moment(found.first_change)} to {shared.moment(found.last_change)}"),
    ]


def _size(count: int) -> str:
    """Bytes, in the unit that leaves few digits."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"
