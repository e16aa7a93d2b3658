"""$JOBFEATURES of a job that no job object describes: what its machine enforces, and who it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sssjob import registry
from sssjob.amounts import ASSUMED, MAXIMUM, Amount
from sssjob.features.derive import derive as derive_job
from sssjob.features.keys import Value
from sssjob.features.precedence import Features
from sssjob.model import Job, Property

# The variables of OAR and LoadLeveler, of which nothing else is known here.
_OTHERS = ("OAR_JOB_ID", "LOADL_STEP_ID")


@dataclass(frozen=True, slots=True)
class LocalJob:
    """What a batch system told about a job: its id, its start, and its elapsed time limit."""

    id: str = ""
    start: int | None = None
    wall_limit_secs: int | None = None


def local_id(environment: Mapping[str, str]) -> str:
    """The local job id in the environment of a job, or "".

    >>> local_id({"JOB_ID": "7", "SGE_TASK_ID": "3"})
    '7.3'
    """
    rows = registry.all_systems().values()
    # The particular ones first: JOB_ID is what other programs call theirs, too.
    names = sorted({*_OTHERS, *(row.id_variable for row in rows)} - {""}, key=len, reverse=True)
    found = next((value for name in names if (value := environment.get(name, "").strip())), "")
    tasks = (environment.get(row.task_variable, "") for row in rows if row.task_variable)
    task = next((each for each in tasks if each.isdigit()), "")
    return f"{found}.{task}" if found and task else found


def derive(
    job: LocalJob,
    host: Mapping[str, Amount],
    *,
    settings: Mapping[str, Amount],
    machine: Mapping[str, Value],
) -> Features:
    """The values of the 2016 vocabulary for a job on this machine."""
    items = [Property("Id", job.id)] if job.id else []
    if job.start is not None:
        items.append(Property("StartTime", job.start))
    if job.wall_limit_secs is not None:
        items.append(Property("Duration", job.wall_limit_secs))
    processors = host.get("allocated_cpu")
    if processors is not None and processors.basis == ASSUMED:
        # Nothing else is known of this job: the processors it may run on are the most it has.
        host = {**host, "allocated_cpu": replace(processors, basis=MAXIMUM)}
    found = derive_job(Job(tuple(items)), host=host, settings=settings, machine=machine)
    # Outside of a batch system no job has an id, and that is no fault of anybody.
    findings = tuple(item for item in found.findings if job.id or item.code != "E-MISSING")
    return replace(found, findings=findings)
