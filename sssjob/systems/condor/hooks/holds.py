"""That a job is held because no attempt started it: in its document, and who sets it free.

The queue holds the job; its document says so once that is folded. Whoever sets the State back, or
takes the hold away, sets the job free, and so does who asks for something else.
"""

from __future__ import annotations

from collections.abc import Iterator

from sssjob.model import Job, Property
from sssjob.states import spelled

_HELD = ("State", "Hold", "StatusMessage")
_BEGINS = "held after "


def reason(attempts: int, why: str) -> str:
    """What is said of a job after so many attempts.

    >>> reason(5, "it could not be started")
    'held after 5 attempts: it could not be started'
    """
    return f"{_BEGINS}{attempts} attempts: {why}"


def properties(told: str) -> Iterator[Property]:
    """What the document of a job that is held says; ``told`` is the reason."""
    yield from map(Property, _HELD, ("Hold", "System", told))


def is_ours(job: Job) -> bool:
    """Whether a document says that we hold the job."""
    return _was(job) and spelled(job.get("State")) == "Hold" and job.get("Hold") == "System"


def was_ours(job: Job) -> bool:
    """Whether somebody set a job free that we held, and left the rest of what we said of it.

    By setting its State back, or by taking its Hold away.
    """
    state, hold = spelled(job.get("State") or "Idle"), job.get("Hold")
    return _was(job) and ((state == "Idle" and hold in ("", "System")) or (
        state == "Hold" and "Hold" not in job.properties.names()
    ))  # fmt: skip


def without(job: Job) -> Job:
    """A job without what we said of a hold."""
    if not (is_ours(job) or was_ours(job)):
        return job
    return job.holding(
        item for item in job.items if not (isinstance(item, Property) and item.name in _HELD)
    )


def _was(job: Job) -> bool:
    holds = len(job.properties.all("Hold"))
    return holds < 2 and job.get("StatusMessage").startswith(_BEGINS)
