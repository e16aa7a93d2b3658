"""What became of jobs that were submitted: their batch system is asked for all of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sssjob.errors import InvalidValue
from sssjob.model import Block, Job, stripped
from sssjob.submission.calling import Caller, How
from sssjob.submission.control import OVER, control
from sssjob.submission.editing import Edited, setting
from sssjob.submission.places import Place


def states(jobs: Iterable[Job], to: str, how: How | None = None) -> Iterator[tuple[Job, str]]:
    """Each job with its State now; "" for one that the batch system does not know any more.

    Raises ``CommandFailed`` where it does not answer, and ``UnusableInput`` for what takes no jobs.
    """
    caller = Caller(control(to), how or How())
    there = {seen.id: seen.state for seen in caller.there()}
    for job in jobs:
        state = there.get(job.id, "")
        yield job, state or _ended(caller, job)


def is_there(job: Block, to: str, how: How | None = None) -> bool:
    """Whether the batch system has a job with the mark of this one. Raises ``CommandFailed``."""
    return Caller(control(to), how or How()).find(stripped(job.get("GlobalId"))) is not None


def record(place: Place, job: Job, state: str) -> None:
    """Write a State into the document of a job. Raises ``Changed``."""
    setting(place, Edited(
        stripped(job.get("GlobalId")), job.id,
        lambda old: old if old.get("State") in (state, *OVER) else old.setting(State=state),
    ))  # fmt: skip


def _ended(caller: Caller, job: Job) -> str:
    """The State of a job that is not among those that are there."""
    try:
        found = caller.job(job.id) or caller.find(stripped(job.get("GlobalId")))
    except InvalidValue:
        return ""
    return found.state if found is not None and found.id == job.id else ""
