"""What a job of HTCondor finds: the ads of itself and of its slot, in files that variables name.

A payload imports this: nothing slow.
"""

from __future__ import annotations

import time

from sssjob.classads import hook_ads
from sssjob.classads.values import Ad
from sssjob.features import kernel
from sssjob.features.said import StatedValues
from sssjob.systems.condor.slot import job_features, machine_features, unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST = 4 << 20  # bytes of one ad
_RATINGS = ("hs06", "hs06_job")


def read(environment: Mapping[str, str]) -> StatedValues:
    """What both ads say, by the rules of the slot's hooks."""
    said = StatedValues("HTCondor")
    job, slot = (
        _ad(environment.get(variable, ""), variable, said)
        for variable in ("_CONDOR_JOB_AD", "_CONDOR_MACHINE_AD")
    )
    now = int(time.time())
    for key, value in job_features(job, slot).items():
        said.add(key, float(value) if key in _RATINGS else value, "the job's and the slot's ad")
    for key, name in unreadable(job, slot):
        said.problems.append(f"{name} in the ads is no number from 0 on")
        said.doubt(key)
    for key, value in machine_features(slot, now).items():
        said.machine[key] = float(value) if key in _RATINGS else value
    return said


def _ad(place: str, variable: str, said: StatedValues) -> Ad:
    """The ad in a file; an empty one, and a problem, where it cannot be read."""
    found = hook_ads.read(kernel.text(place, _LONGEST).encode()) if place else []
    if not found:
        said.problems.append(f"${variable} names no ad that can be read")
        said.unknown += ["wall_limit_secs", "jobstart_secs"]
        return Ad({})
    return found[0]
