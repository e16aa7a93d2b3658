"""``sssjob features status``: $JOBSTATUS shown or written, under its lock."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, options
from sssjob.cli.features.common import fail
from sssjob.cli.ranges import NumberRange

if TYPE_CHECKING:
    from sssjob.features.status import StatusSnapshot


@click.command(
    epilog="""\b
Examples:
  sssjob features status
  sssjob features status --in /run/mjf/1234/jobstatus --json
  sssjob features status used_CPU=4 last_job_start=now can_postpone_last_job=True
  sssjob features status used_CPU=0 last_job_start=

Exit code: 0 done, 1 there is no status yet, 2 a directory, key or value is
wrong, or another process does not release the lock."""
)
@click.argument("settings", metavar="[KEY=VALUE]...", nargs=-1)
@click.option(
    "--in",
    "directory",
    metavar="DIR|URL",
    default="",
    help="The directory to take instead of $JOBSTATUS.",
)
@click.option("--wait", metavar="SECONDS", type=NumberRange(0, 600), default=10.0,
              show_default=True, help="How long to wait for the lock.")  # fmt: skip
@options.JSON_OBJECT
def command(settings: tuple[str, ...], directory: str, wait: float, as_json: bool) -> None:
    """Show the status of a pilot, or write keys of it: all at once, under the lock of used_CPU.

    A time may be "now"; nothing after the equals sign removes a key.
    """
    from sssjob.errors import InvalidValue
    from sssjob.features import status

    place = directory or os.environ.get("JOBSTATUS", "")
    if not place:
        common.fail("a directory is needed: $JOBSTATUS is not set")
    try:
        if settings:
            status.write(dict(_setting(each) for each in settings), place, wait=wait)
            return
        found = status.read(place, wait=wait)
    except (InvalidValue, status.LockTimeout) as error:
        common.fail(error)
    except OSError as error:
        fail(error)
    _print(found, as_json)
    if found is not None:
        common.print_findings(found.findings)
    sys.exit(common.NOTHING if found is None else common.FOUND)


def _setting(text: str) -> tuple[str, str | None]:
    from sssjob.features import keys

    name, separator, value = text.partition("=")
    row = keys.key(name, keys.JOB_STATUS)
    if not separator or row is None:
        known = ", ".join(each.name for each in keys.JOB_STATUS)
        common.fail(f"{text}: expected KEY=VALUE with one of the keys {known}")
    if value == "now" and row.kind == keys.TIME:
        value = str(int(time.time()))
    return name, value or None


def _print(found: StatusSnapshot | None, as_json: bool) -> None:
    from sssjob.features.keys import spell

    values = {} if found is None else found.values
    if as_json:
        moment = None if found is None else {"now": int(found.now), "consistent": found.consistent}
        shown = {name: spell(value) for name, value in values.items()}
        common.data(json.dumps({"values": shown, **(moment or {})}, indent=2))
    for name, value in () if as_json else values.items():
        common.fitted(f"{name:{max(map(len, values))}}  {spell(value)}")
