"""What a job of Grid Engine finds in its environment. A payload imports this: nothing slow."""

from __future__ import annotations

from sssjob import host_name
from sssjob.features import kernel
from sssjob.features.said import StatedValues, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST = 1 << 20  # bytes of the list of hosts


def read(environment: Mapping[str, str]) -> StatedValues:
    """What is said of the job on this host; limits stand in no variable."""
    said = StatedValues("Grid Engine", ("wall_limit_secs", "jobstart_secs", "cpu_limit_secs"))
    is_task = environment.get("SGE_TASK_ID", "").strip() not in ("", "undefined")
    task = said.whole("SGE_TASK_ID", environment) if is_task else None
    if task or not is_task:
        said.text("job_id", "JOB_ID", environment, f".{task}" if task else "")
    if not is_task and "job_id" in said.job:
        said.ids[f"{said.job['job_id']}.1"] = False  # as in its spool
    if said.whole("NHOSTS", environment, "allocated_cpu") == 1:
        said.number("allocated_cpu", "NSLOTS", environment)
    said.also("allocated_cpu", _here(environment, said), "$PE_HOSTFILE")
    return said


def _here(environment: Mapping[str, str], said: StatedValues) -> int | None:
    """The slots of this host, of all its queues: lines of ``HOST SLOTS QUEUE PROCESSORS``."""
    place = environment.get("PE_HOSTFILE", "")
    if not place:
        return None
    name = host_name.own()
    rows = (line.split() for line in kernel.text(place, _LONGEST).splitlines())
    counts = [whole(row[1]) for row in rows if len(row) > 1 and host_name.short(row[0]) == name]
    if not counts or not all(counts):
        told = f"$PE_HOSTFILE names no slots of {name}, or no number of them"
        said.wrong(told, "allocated_cpu")
        return None
    return sum(each or 0 for each in counts)
