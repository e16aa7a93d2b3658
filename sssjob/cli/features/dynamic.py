"""Keys that change while a job runs: ``sssjob features set`` and ``expire``."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, options

if TYPE_CHECKING:
    from sssjob.features.update import KeyChange


@click.command(
    context_settings={"ignore_unknown_options": True},  # a value may begin with a minus sign
    epilog="""\b
Examples:
  sssjob features set shutdowntime_job +3600 /run/mjf/1234
  sssjob features set shutdowntime +2h /run/mjf/machinefeatures
  sssjob features set shutdowntime never
  sssjob features set allocated_cpu 4 /run/mjf/1234

Exit code: 0 done, 1 the shutdown is sooner than the promised notice in one of the directories, 2
not a key, value or directory (the others are set).""",
)
@click.argument("key")
@click.argument("value")
@click.argument("directories", metavar="[DIR]...", nargs=-1, type=click.Path())
@click.option("--earliest", is_flag=True,
              help="Move a shutdown that is too soon to the earliest moment.")  # fmt: skip
@options.NOW
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array, one object for a DIR.")
def set(
    key: str, value: str, directories: tuple[str, ...], earliest: bool, now: int | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Set the dynamic KEY to VALUE in each DIR.

    A shutdown (shutdowntime, shutdowntime_job) is +SECONDS from now, also +90m, +2h or +1d; a time
    in seconds since 1970; or never, which removes it. It is refused if it is sooner than the notice
    that grace_secs or grace_secs_job of the same DIR promises. Without DIR, the key is set in
    $MACHINEFEATURES or $JOBFEATURES, whichever has it.
    """
    from sssjob.errors import InvalidValue
    from sssjob.features.update import TooSoon, change, table_of

    moment = int(time.time()) if now is None else now
    found = table_of(key)
    results: list[dict[str, object]] = []
    refused = unread = False
    for directory in directories or (_usual(found and found[0]),):
        try:
            done = change(key, value, directory, moment, raise_=earliest)
        except TooSoon as error:
            common.say(f"sssjob: error: {directory}: {error}")
            results.append({"directory": directory, "error": str(error)})
            refused = True
        except InvalidValue as error:
            common.fail(f"{key}: {error}" if found else error)
        except OSError as error:
            common.say(f"sssjob: error: {common.reason(error)}")
            results.append({"directory": directory, "error": common.reason(error)})
            unread = True
        else:
            if done.advice:
                common.say(f"{directory}: notice: {done.advice}")
            results.append({"directory": directory, "key": key, "value": done.value})
            if not as_json:
                common.fitted(_sentence(done, directory))
    if as_json:
        common.data(json.dumps(results, indent=2))
    sys.exit(common.NOT_UNDERSTOOD if unread else common.NOTHING if refused else common.FOUND)


def _usual(variable: str | None) -> str:
    """The directory that a variable names; here, for a key that has none."""
    given = os.environ.get(variable, "") if variable else ""
    if variable and not given:
        common.fail(f"a directory is needed: ${variable} is not set")
    return given or "."


def _sentence(done: KeyChange, directory: str) -> str:
    from sssjob.features.keys import spell
    from sssjob.features.update import SHUTDOWNS
    from sssjob.units import iso

    if done.value is None:
        return f"{done.name} removed from {directory}"
    at = f" ({iso(done.value)})" if done.name in SHUTDOWNS and isinstance(done.value, int) else ""
    return f"{done.name}  {spell(done.value)}{at} in {directory}"


@click.command(
    epilog="""\b
Examples:
  sssjob features expire /run/mjf/*/
  * * * * * root sssjob features expire /run/mjf/*/ /run/mjf/machinefeatures

Exit code: 0 done, whether there was one or not, 2 a directory cannot be read,
or other users could replace it (the rest is done)."""
)
@click.argument("directories", metavar="DIR...", nargs=-1, required=True, type=click.Path())
@options.NOW
@click.option("--json", "as_json", is_flag=True, help="Print directories and keys as JSON.")
def expire(directories: tuple[str, ...], now: int | None, as_json: bool) -> None:
    """Remove shutdowntime and shutdowntime_job from each DIR if that time has come.

    The specification of 2014 requires this, and a job that starts later must not find them.
    """
    from sssjob.features.update import expire

    moment = int(time.time()) if now is None else now
    removed: dict[str, list[str]] = {}
    failed = False
    for directory in directories:
        try:
            names = expire(directory, moment)
        except OSError as error:
            common.say(f"sssjob: error: {common.reason(error)}")
            failed = True
            continue
        removed[directory] = list(names)
        if names and not as_json:
            common.fitted(f"{directory}: removed {', '.join(names)}")
    if as_json:
        common.data(json.dumps(removed, indent=2))
    sys.exit(common.NOT_UNDERSTOOD if failed else common.FOUND)
