"""``sssjob condor queue``: which jobs wait for a slot, run, or are done."""

from __future__ import annotations

import json
import math
import time
from typing import TYPE_CHECKING

import click

from sssjob.cli import common, options
from sssjob.cli.condor.hooks import given, places

if TYPE_CHECKING:
    from sssjob.systems.condor.hooks.documents import Documents
    from sssjob.systems.condor.hooks.queue import JobQueue, SpoolJob
    from sssjob.systems.condor.hooks.settings import HookSettings


@click.command(
    epilog="""\b
Examples:
  sssjob condor queue --documents /var/lib/sssjob/jobs
  sssjob condor queue --documents jobs.db --json
  sssjob condor queue --documents jobs.db --give-back a.xml

Exit code: 0 there are jobs, 1 there are none, 2 the jobs, or one document, cannot be read."""
)
@places
@click.option("--give-back", metavar="KEY", help="Let slots fetch this job again.")
@options.JSON_OBJECT
def command(
    jobs: str, state: str, trust: tuple[str, ...], give_back: str | None, as_json: bool
) -> None:
    """Show every job in the order of the queue, as the next slot would find it.

    A job is ready (may be fetched), offered (printed by fetch-work), accepted (taken by a startd),
    running (a report has come), returned (given back), waiting (may not run yet), held (could not
    be started too often) or done (has ended). Nothing is changed, unless --give-back is given.
    """
    from sssjob.errors import SSSJobError
    from sssjob.systems.condor.hooks.candidates import UnreadReason, refresh
    from sssjob.systems.condor.hooks.documents import documents
    from sssjob.systems.condor.hooks.queue import STATES, copied

    settings, unread = given(jobs, state, trust=trust), common.Complaints()

    def tell(text: object) -> None:
        (unread if isinstance(text, UnreadReason) else common.say)(f"sssjob: {text}")

    try:
        if give_back is not None:
            _give_back(settings, give_back)
        queue = copied(settings)
        queue.take_limits(settings)
        queue.read_again_those_without_jobs()  # hooks have said why, once
        refresh(settings, queue, until=None, say=tell)
    except OSError as error:
        common.fail(common.reason(error))
    except SSSJobError as error:
        common.fail(error)
    now = time.time()
    source = documents(settings)
    rows = []
    for each in (job for state in STATES for job in queue.jobs(state)):
        reason = _reason(each, now)
        if (
            each.state == "ready" and not each.untimely(now) and not each.failures
            and _elsewhere(queue, source, each) > now
        ):  # fmt: skip
            reason = _ELSEWHERE
        refused = queue.not_run(each) if each.state == "ready" else ""
        reason = refused or reason
        waits = each.state == "ready" and (
            bool(refused) or reason == _ELSEWHERE or each.untimely(now)
        )
        rows.append((STATES.index("waiting" if waits else each.state), each.label, reason))
    shown = [
        {"state": STATES[number], "key": label, "reason": reason}
        for number, label, reason in sorted(rows, key=lambda row: row[0])
    ]
    if as_json:
        common.data(json.dumps({"jobs": shown}, indent=2, ensure_ascii=False))
    else:
        for row in shown:
            common.fitted(f"{row['state']:<8}  {row['key']}  {row['reason']}".rstrip())
    unread.leave(shown)


_ELSEWHERE = "another machine has it"


def _elsewhere(queue: JobQueue, source: Documents, job: SpoolJob) -> float:
    """Until when another machine has a job that is ready here; 0 if none has it."""
    return source.taken(job.known_as, job.others(queue.attempts(job.key)))


def _reason(job: SpoolJob, now: float) -> str:
    """Why a job is given to no slot now, "" if nothing keeps it."""
    if job.state == "ready" and (untimely := job.untimely(now)):
        return untimely
    if job.state in ("waiting", "held"):
        return job.reason
    if job.state == "ready" and job.rests > now and not job.failures and job.losses > 1:
        return f"{job.losses} attempts were lost; the next one in {math.ceil(job.rests - now)} s"
    if job.state == "ready" and job.rests > now and not job.failures:
        return f"it came back; it is offered again in {math.ceil(job.rests - now)} s"
    if job.state == "ready" and job.rests > now:
        often = f"{job.failures} attempt{'' if job.failures == 1 else 's'} came to nothing"
        return f"{often}; the next one in {math.ceil(job.rests - now)} s"
    return ""


def _give_back(settings: HookSettings, label: str) -> None:
    """Take a job back by the name that people know; ends the command if nobody has it."""
    from sssjob.systems.condor.hooks.candidates import refresh
    from sssjob.systems.condor.hooks.documents import documents
    from sssjob.systems.condor.hooks.queue import HELD, READY, RETURNED, STATES, TAKEN, OpenQueue
    from sssjob.systems.condor.hooks.reports import fold, free

    def say(text: object) -> None:
        common.say(f"sssjob: {text}")

    with OpenQueue(settings) as queue:
        queue.take_limits(settings)
        # What lies in the spool may tell that the job ended, or waits for nobody.
        count, _ = fold(settings, queue, say=say)
        if count:
            say(f"{count} report{'' if count == 1 else 's'} folded")
        refresh(settings, queue, until=None, say=say)  # of a store it may never have looked at
        source = documents(settings)
        found = next((job for job in queue.jobs(*TAKEN, HELD) if job.label == label), None)
        waits = next((job for job in queue.jobs(READY, RETURNED) if job.label == label), None)
        if found is not None and found.state == HELD:
            free(settings, queue, found, say=say)
        elif found is not None and queue.uid(found.document) is None:  # decision 848
            common.fail(f"{label} is not given back: its document is not there, and its end waits")
        elif found is not None:
            queue.give_back(found.key, found.attempt, TAKEN, time.time())
            source.release(found.claim(found.attempt))
        elif waits is not None and (
            max(waits.rests, _elsewhere(queue, source, waits)) > time.time()
        ):
            queue.wake(waits.key)
            source.give_up(waits.known_as, waits.taken)
        else:
            known = next((job for job in queue.jobs(*STATES) if job.label == label), None)
            told = "no job has this name"
            if known is not None:
                told = "; ".join(
                    filter(None, (f"it is {known.state}", _reason(known, time.time())))
                )
            common.fail(f"{label} is not given to a slot, and does not rest: {told}")
