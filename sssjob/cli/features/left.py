"""``sssjob features left``: how long may this job go on?"""

from __future__ import annotations

import json
import sys

import click

from sssjob.cli import common, options
from sssjob.cli.features.given import FeatureOptions, left_dict, options_of, take
from sssjob.cli.ranges import WholeNumber
from sssjob.features.left import undecided
from sssjob.features.vocabulary import made_of


@click.command(
    epilog="""\b
Examples:
  sssjob features left
  sssjob features left --at-least 3600 && start-another-hour
  sssjob features left --at-least 3600 --cpu 7200 --json | jq .unknown

Exit code: 0 there is as much as was asked for, or no limit, 1 there is less, or
there are no features at all, 2 a directory or a key that is needed cannot be read."""
)
@click.option("--at-least", "--wall", "wall", metavar="SECONDS", type=WholeNumber(0),
              help="Elapsed time that is needed before any limit.")  # fmt: skip
@click.option("--cpu", metavar="SECONDS", type=WholeNumber(0), help="CPU time that is needed.")
@options.JSON_OBJECT
@options_of
def command(given: FeatureOptions, wall: int | None, cpu: int | None, as_json: bool) -> None:
    """Show how many seconds are left: of elapsed time, of CPU time, and until a shutdown.

    How long the job may go on is printed as time: the smallest of wall_limit_secs, shutdowntime and
    shutdowntime_job. Where a limit is missing, there is no limit. Where the site measures its jobs
    ("sssjob features sample"), rate is how long the CPU time lasts if the job keeps as many
    processors busy as now. Without $JOBFEATURES, the limits that the batch system shows to its
    jobs are used; it may have limits that it does not show.
    """
    found = take(given)
    remaining = found.left(given)
    needs = (
        ("time", wall, remaining.time), ("cpu", cpu, remaining.cpu), ("rate", wall, remaining.rate),
    )  # fmt: skip
    short = [name for name, need, is_left in needs if _is_short(need, is_left)]
    asked = {key for name, need, _ in needs if need is not None for key in _DECIDING.get(name, ())}
    asked = asked or {key for deciding in _DECIDING.values() for key in deciding}
    unread = {made_of(name) for name in found.unread}
    undecided_keys = undecided(found.job, {*unread, *found.unknown})
    asked = asked.difference(_DECIDING["time"]).union(asked.intersection(undecided_keys))
    unknown = sorted(asked.intersection(found.unknown))
    lost = sorted(asked.intersection((*unread, *undecided_keys)).difference(unknown))
    if as_json:
        row = {**left_dict(remaining), "short": short, "unknown": sorted({*unknown, *lost})}
        common.data(json.dumps(row, indent=2))
    else:
        for name, seconds in (
            ("time", remaining.time), ("wall", remaining.wall), ("shutdown", remaining.shutdown),
            ("cpu", remaining.cpu), ("rate", remaining.rate),
        ):  # fmt: skip
            if name == "rate" and seconds is None:
                continue  # few sites measure it
            common.fitted(f"{name:8}  {'-' if seconds is None else seconds}")
    for note in remaining.notes:
        common.say(f"notice: {note}")
    common.print_findings(found.findings)
    for name in short:
        common.say(_SHORT.get(name, f"there is less {name} left than is needed"))
    if unknown and not short:
        common.fail(f"the server did not answer about: {', '.join(unknown)}")
    if lost and not short:
        common.fail(f"a limit that the answer needs is not known: {', '.join(lost)}")
    nothing = not found.is_ours or not (found.machine or found.job)
    sys.exit(common.NOTHING if short or nothing else common.FOUND)


_SHORT = {"rate": "at the rate of now, the CPU time limit is reached before"}
# The keys by which each is decided; the last one stands in $JOBSTATUS.
_DECIDING = {
    "time": ("wall_limit_secs", "jobstart_secs", "shutdowntime", "shutdowntime_job"),
    "cpu": ("cpu_limit_secs", "used_cpu_secs"),
    "rate": ("used_cpu_secs",),
}


def _is_short(need: int | None, is_left: int | None) -> bool:
    return need is not None and is_left is not None and is_left < need
