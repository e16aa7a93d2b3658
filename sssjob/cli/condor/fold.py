"""``sssjob condor fold``: what hooks reported, into the documents of the jobs."""

from __future__ import annotations

import sys

import click

from sssjob.cli import common
from sssjob.cli.condor.hooks import given, places
from sssjob.cli.signals import terminable


@click.command(
    epilog="""\b
Examples:
  sssjob condor fold --documents /var/lib/sssjob/jobs

Exit code: 0 folded, or nothing to fold, 1 a report cannot be folded, 2 the jobs cannot be read."""
)
@places
def command(jobs: str, state: str, trust: tuple[str, ...]) -> None:
    """Put the reports of hooks into Delivered and State of the jobs, now.

    Hooks of the startd do this after they have answered. Hooks that run as the user of a job may
    not write documents: their reports wait for the next hook of the startd, or for this command.
    Reports that are not accepted are moved to the directory bad beside the queue. Root acts as the
    owner of the queue.
    """
    from sssjob.errors import SSSJobError
    from sssjob.systems.condor.hooks.queue import OpenQueue
    from sssjob.systems.condor.hooks.reports import fold

    settings = given(jobs, state, trust=trust)
    is_whole = True

    def say(text: object) -> None:
        nonlocal is_whole
        is_whole = False
        common.say(f"sssjob: {text}")

    try:
        with OpenQueue(settings) as queue, terminable():
            queue.take_limits(settings)
            count, bad = fold(settings, queue, say=say)
    except OSError as error:
        common.fail(common.reason(error))
    except SSSJobError as error:
        common.fail(error)
    common.say(f"{count} report{'' if count == 1 else 's'} folded, {bad} bad")
    sys.exit(common.FOUND if is_whole else common.NOTHING)
