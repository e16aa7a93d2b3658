"""``sssjob features show``: both directories as the job sees them, and what is left."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, options
from sssjob.cli.features.given import FeatureOptions, options_of, take
from sssjob.features import keys

if TYPE_CHECKING:
    from sssjob.features.left import Left

_SIZES = (("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10))


@click.command(
    epilog="""\b
Examples:
  sssjob features show
  sssjob features show --job /run/mjf/1234 --machine /etc/machinefeatures
  sssjob features show --job https://mjf.example.org/jobfeatures --ca /etc/ssl/site.pem
  sssjob features show --json | jq .left.time

Exit code: 0 shown, 1 this process has no keys, 2 a directory that was named
cannot be read."""
)
@options.JSON_OBJECT
@options_of
def command(given: FeatureOptions, as_json: bool) -> None:
    """Show $MACHINEFEATURES and $JOBFEATURES: values, meaning, and what is left of the limits.

    Without options, the directories are those in the environment of this process, local or over
    HTTP(S). Without $JOBFEATURES, the limits of the batch system, the pod and the kernel are shown,
    each with its source.
    """
    found = take(given)
    remaining = found.left(given)
    if as_json:
        common.data(json.dumps(found.as_dict(remaining), indent=2, ensure_ascii=False))
    else:
        for title, values, table in (
            ("MACHINEFEATURES", found.machine, keys.MACHINE_FEATURES),
            ("JOBFEATURES", found.job, keys.JOB_FEATURES),
        ):
            for line in _lines(title, values, table, given.now, found.elsewhere):
                common.fitted(line)
        for line in _left(remaining):
            common.fitted(line)
    common.print_findings(found.findings)
    is_given = found.is_ours and (found.machine or found.job)
    sys.exit(common.FOUND if is_given else common.NOTHING)


def _lines(
    title: str, values: dict[str, keys.Value], table: tuple[keys.Key, ...], now: int | None,
    elsewhere: dict[str, str],
) -> Iterator[str]:  # fmt: skip
    yield f"${title}"
    width = max(map(len, values), default=0)
    order = {row.name: number for number, row in enumerate(table)}
    for name in sorted(values, key=lambda name: (order.get(name, len(order)), name)):
        row = keys.key(name, table)
        value = _visible(keys.spell(values[name]))
        said = (
            f"{row.meaning}{_aside(row, values[name], now)}" if row else "not a key of either text"
        )
        source = f" (by {_visible(elsewhere[name])})" if name in elsewhere else ""
        yield f"  {name:{width}}  {value}  {said}{source}"
    if not values:
        yield "  no keys"


def _aside(row: keys.Key, value: keys.Value, now: int | None) -> str:
    """A time and a size as people read them."""
    from sssjob.units import clock, iso

    if not isinstance(value, int):
        return ""
    if row.kind == keys.TIME:
        away = value - (int(time.time()) if now is None else now)
        return f": {iso(value)}, {clock(abs(away))} {'from now' if away >= 0 else 'ago'}"
    if row.kind == keys.SECONDS:
        return f": {clock(value)}"
    for unit, shift in _SIZES:
        if row.kind in (keys.BYTES, keys.MEGABYTES, keys.GIGABYTES) and value >> shift:
            return f": {value / (1 << shift):.4g} {unit}"
    return ""


def _left(remaining: Left) -> Iterator[str]:
    from sssjob.units import clock

    yield "left"
    for name, seconds in (
        ("wall", remaining.wall), ("cpu", remaining.cpu), ("shutdown", remaining.shutdown)
    ):  # fmt: skip
        if seconds is None:
            yield f"  {name:8}  no limit that is known"
        else:
            yield f"  {name:8}  {seconds} s  {'-' * (seconds < 0)}{clock(abs(seconds))}"
    for note in remaining.notes:
        yield f"  {note}"


def _visible(text: str) -> str:
    """A text of strangers on one line, without what would steer a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
