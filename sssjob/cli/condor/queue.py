"""``sssjob condor queue``: which jobs wait for a slot, run, or are done."""

from __future__ import annotations

import json
import sys

import click

from sssjob.cli import common
from sssjob.cli.condor.hooking import given, places


@click.command(
    epilog="""\b
Examples:
  sssjob condor queue --jobs /var/lib/sssjob/jobs
  sssjob condor queue --jobs jobs.db --json
  sssjob condor queue --jobs jobs.db --give-back a.xml

Exit code: 0 there are jobs, 1 there are none, 2 the jobs cannot be read."""
)
@places
@click.option("--give-back", metavar="KEY", help="Have a job that was given away fetched again.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(jobs: str, state: str, give_back: str | None, as_json: bool) -> None:
    """Make what is new ready for slots, and show every job in the order of the queue.

    ready may be fetched, offered was printed by fetch-work, accepted was taken by a startd,
    running has been heard of since, waiting may not run yet, done has ended.
    """
    from sssjob.condor.preparing import TAKEN, refresh
    from sssjob.condor.queue import READY, STATES, WAITING, Queue, known_as
    from sssjob.errors import SSSJobError

    settings = given(jobs, state)
    queue = Queue(settings.state)
    try:
        queue.make()
        refresh(settings, queue, until=None, say=lambda text: common.say(f"sssjob: {text}"))
    except OSError as error:
        common.fail(common.reason(error))
    except SSSJobError as error:
        common.fail(error)
    rows = [(where, name) for where in STATES for name in queue.names(where)]
    if give_back is not None:
        found = [row for row in rows if known_as(row[1]) == give_back and row[0] in TAKEN]
        if not found:
            common.fail(f"{give_back} is not given away")
        queue.move(found[0][1], found[0][0], READY)
        rows = [(READY, row[1]) if row == found[0] else row for row in rows]
    shown = [
        {
            "state": where,
            "key": known_as(name),
            "reason": queue.text(where, name).decode().strip() if where == WAITING else "",
        }
        for where, name in rows
    ]
    if as_json:
        click.echo(json.dumps({"jobs": shown}, indent=2, ensure_ascii=False))
    else:
        for row in shown:
            click.echo(f"{row['state']:<8}  {row['key']}  {row['reason']}".rstrip())
    sys.exit(common.FOUND if rows else common.NOTHING)
