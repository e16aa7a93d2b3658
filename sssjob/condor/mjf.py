"""The features of a job of HTCondor, written into its scratch directory before it starts."""

from __future__ import annotations

import os

from sssjob.condor.slot import job_features, machine_features

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sssjob.classads.values import Ad

# The variable, the directory in which it is, its mode, and whether there are values for it.
DIRECTORIES = (
    ("MACHINEFEATURES", "machinefeatures", 0o755),
    ("JOBFEATURES", "jobfeatures", 0o755),
    ("JOBSTATUS", "jobstatus", 0o700),
)


def prepared(job: Ad, slot: Ad, directory: str, now: int) -> dict[str, str]:
    """Write the features of a job in a slot, and give the variables by which it finds them.

    ``now`` is when the job starts, in seconds since 1970, if its ad does not know. Raises
    ``OSError`` if a directory cannot be written. Doing so again changes nothing else.
    """
    from sssjob.features.write import write

    values = {
        "MACHINEFEATURES": machine_features(slot, now),
        "JOBFEATURES": job_features(job, slot, now),
    }
    variables = {}
    for variable, name, mode in DIRECTORIES:
        path = os.path.join(directory, name)
        os.makedirs(path, exist_ok=True)
        os.chmod(path, mode)
        if variable in values:
            write(values[variable], path)
        variables[variable] = path
    return variables


def provisioned(slot: Ad) -> dict[str, str | int]:
    """What the slot gives the job, by the names that a schedd uses: fetched jobs have none.

    Hooks that are called later are given the job's ad only, and report what was delivered.
    """
    found: dict[str, str | int] = {}
    for name in ("Cpus", "Memory", "Disk", "GPUs"):
        value = slot.number(name)
        if value:
            found[f"{name}Provisioned"] = int(value)
    if text := slot.text("Name"):
        found["RemoteHost"] = text
    return found
