"""What a job of HTCondor finds: the ads of itself and of its slot, in files that variables name.

A payload imports this: nothing slow.
"""

from __future__ import annotations

import time

from sssjob.classads import hook_ads
from sssjob.classads.values import Ad
from sssjob.features import kernel
from sssjob.features.said import StatedValues
from sssjob.systems.condor.slot import apart, ids, job_features, machine_features, unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

OF_JOB, OF_MACHINE = "_CONDOR_JOB_AD", "_CONDOR_MACHINE_AD"  # variables
_LONGEST = 4 << 20  # bytes of one ad
_RATINGS = ("hs06", "hs06_job")


def read(environment: Mapping[str, str]) -> StatedValues:
    """What both ads say, by the rules of the slot's hooks."""
    said = StatedValues("HTCondor")
    job, slot = (_ad(environment, variable, said) for variable in (OF_JOB, OF_MACHINE))
    now = int(time.time())
    for key, value in job_features(job, slot).items():
        said.add(key, float(value) if key in _RATINGS else value, "the job's and the slot's ad")
    for key, name in unreadable(job, slot):
        said.wrong(f"{name} in the ads is no number from 0 on", key)
    said.problems += apart(job, slot)
    said.ids.update(dict.fromkeys(ids(job), True))
    for key, value in machine_features(slot, now).items():
        said.machine[key] = float(value) if key in _RATINGS else value
    return said


def own_ad(environment: Mapping[str, str], variable: str) -> Ad | None:
    """The ad in the file that a variable names; None where none can be read."""
    place = environment.get(variable, "")
    found = hook_ads.read(kernel.text(place, _LONGEST).encode()) if place else []
    return found[0] if found else None


def _ad(environment: Mapping[str, str], variable: str, said: StatedValues) -> Ad:
    """The same; an empty one, and a problem, where it cannot be read."""
    found = own_ad(environment, variable)
    if found is None:
        told = f"${variable} names no ad that can be read"
        said.wrong(told, "wall_limit_secs", "jobstart_secs")
        return Ad({})
    return found
