"""The shutdown times of $MACHINEFEATURES and $JOBFEATURES, and the end of the time limit."""

from __future__ import annotations

from collections.abc import Iterator

from sssjob.features.here import here
from sssjob.features.left import shutdowns, undecided
from sssjob.features.notices import JOB, Notice, Surroundings, Unread

_VARIABLES = ("MACHINEFEATURES", "JOBFEATURES")


def read(asked: Surroundings, now: int) -> Iterator[Notice | Unread]:
    """What both directories say; without $JOBFEATURES, what the batch system says to its job."""
    found = here(asked.environment, asked.root)
    for key, moment in shutdowns(found.job, found.machine, now)[0].items():
        yield Notice(key, moment, "features", found.sources.get(key, key))
    start, limit = found.job.get("jobstart_secs"), found.job.get("wall_limit_secs")
    if isinstance(start, int) and isinstance(limit, int):
        yield Notice(JOB, start + limit, "features", "jobstart_secs + wall_limit_secs")
    named = any(asked.environment.get(name) for name in _VARIABLES)
    told = [each for each in found.problems if not each.endswith(" is not set")]
    if (unknown := undecided(found.job, found.unknown)) and (named or told):
        yield Unread("; ".join(told) or f"not known: {', '.join(unknown)}")
