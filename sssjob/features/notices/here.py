"""The shutdown times of $MACHINEFEATURES and $JOBFEATURES, and the end of the time limit."""

from __future__ import annotations

import os
from collections.abc import Iterator

from sssjob.errors import InvalidValue
from sssjob.features.batch import directories
from sssjob.features.files import REMOTE, locate
from sssjob.features.here import Here, here
from sssjob.features.left import shutdowns, undecided
from sssjob.features.notices import JOB, MACHINE, Notice, Surroundings, Unread

_VARIABLES = {MACHINE: "MACHINEFEATURES", JOB: "JOBFEATURES"}


def read(asked: Surroundings, now: int) -> Iterator[Notice | Unread]:
    """What both directories say; without $JOBFEATURES, what the batch system says to its job.

    Where one is on a server, what the other one says comes first.
    """
    remote = [name for name in _VARIABLES.values() if _is_remote(asked.environment.get(name, ""))]
    if len(remote) == 1:
        local = {name: text for name, text in asked.environment.items() if name not in remote}
        yield from _notices(here(local, asked.root), asked, now)
    found = here(asked.environment, asked.root, asked.share(max(len(remote), 1)))
    yield from _notices(found, asked, now)
    named = any(asked.environment.get(name) for name in _VARIABLES.values())
    told = [each for each in found.problems if not each.endswith(" is not set")]
    if (unknown := undecided(found.job, found.unknown)) and (named or told):
        yield Unread("; ".join(told) or f"not known: {', '.join(unknown)}")


def _is_remote(text: str) -> bool:
    try:
        return locate(text).kind == REMOTE
    except InvalidValue:
        return False


def _notices(found: Here, asked: Surroundings, now: int) -> Iterator[Notice]:
    for key, moment in shutdowns(found.job, found.machine, now)[0].items():
        source = found.sources.get(key, key)
        said = _of_others(key, moment, asked) if source == f"${_VARIABLES[key]}" else moment
        if said is not None:
            yield Notice(key, said, "features", source)
    start, limit = found.job.get("jobstart_secs"), found.job.get("wall_limit_secs")
    if isinstance(start, int) and isinstance(limit, int):
        yield Notice(JOB, start + limit, "features", "jobstart_secs + wall_limit_secs")


def _of_others(key: str, moment: int, asked: Surroundings) -> int | None:
    """What stands there of others than who asks: no announcement is its own source. # decision 654

    Of a directory on a server nobody knows whether it is the one in which is announced: there a
    moment is an echo that another source announced, for what is read there is announced, too.
    """
    place = asked.announced.get(key)
    if place is None:
        return moment
    names = [asked.called(name) for name in asked.names]
    text = asked.environment.get(_VARIABLES[key], "")
    if _is_remote(text):
        names = [name for name in names if name != "features"]
    elif not _is_same(locate(text).place, place):
        return moment
    announced = directories.announcements(place, key, names)
    if moment not in announced.ours or moment in announced.others:
        return moment
    return min(announced.others, default=None)


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:  # one of them has gone, and with it what it said
        return False
