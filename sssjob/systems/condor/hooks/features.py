"""The features of a job of HTCondor, written into its scratch directory before it starts."""

from __future__ import annotations

import os

from sssjob import atomic
from sssjob import directory_handles as handles
from sssjob.systems.condor import names
from sssjob.systems.condor.slot import job_features, machine_features

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sssjob.classads.values import Ad
    from sssjob.systems.condor.slot import Values

# The variable, the directory in which it is, its mode, and whether there are values for it.
DIRECTORIES = (
    ("MACHINEFEATURES", "machinefeatures", 0o755),
    ("JOBFEATURES", "jobfeatures", 0o755),
    ("JOBSTATUS", "jobstatus", 0o700),
)


def prepared(job: Ad, slot: Ad, directory: str, now: int) -> dict[str, str]:
    """Write the features of a job in a slot, and give the variables by which it finds them.

    ``now`` is when the job starts, in seconds since 1970, if its ad does not know. Raises
    ``OSError`` if a directory cannot be written; a link that the job brought is none. Once more, it
    changes nothing else.
    """
    values = {
        "MACHINEFEATURES": _machine(job, slot, now),
        "JOBFEATURES": job_features(job, slot, now),
    }
    variables = {}
    above, own = os.path.split(directory)
    with handles.opened(above) as scratch, handles.kept(scratch, own, 0o755) as place:
        for variable, name, mode in DIRECTORIES:
            with handles.kept(place, name, mode) as folder:
                # New with each job, so that nothing in it is stale.
                for key, value in values.get(variable, {}).items():
                    # A job that a loss of power ended is prepared again.
                    atomic.put(folder, key, f"{value}\n".encode(), durable=False)
            variables[variable] = os.path.join(directory, name)
    return variables


_REQUEST = "Request"


def provided(job: Ad, slot: Ad) -> dict[str, str | int]:
    """What the slot gives the job, by the names that a schedd uses, and facts of its machine.

    A starter tells its hooks nothing of the slot when the job was fetched, so that these facts
    travel with the job. Of a partitionable slot a job gets what it requests.
    """
    found: dict[str, str | int] = {}
    if not slot:
        return found
    requested = (name[len(_REQUEST) :] for name in job if name.startswith(_REQUEST))
    for name in dict.fromkeys(("Cpus", "Memory", "Disk", "GPUs", *requested)):
        wanted, has = job.number(f"{_REQUEST}{name}"), slot.number(name)
        value = wanted if slot.get("PartitionableSlot") is True else has
        if value:
            found[f"{name}Provisioned"] = int(value)
    if "RequestGPUs" in job:
        from sssjob.systems.condor.gpus import travelling

        found.update(travelling(job, slot))
    if text := slot.text("Name"):
        found["RemoteHost"] = text
    for key, fact in machine_features(slot).items():
        found[f"{names.MACHINE}{key}"] = fact
    return found


def _machine(job: Ad, slot: Ad, now: int) -> Values:
    """The features of the machine: by the slot, or by what travelled with the job."""
    if slot:
        return machine_features(slot, now)
    found: Values = {}
    for name, value in job.items():
        if name.startswith(names.MACHINE) and isinstance(value, (int, str)):
            found[name[len(names.MACHINE) :]] = value
    return found
