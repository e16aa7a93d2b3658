"""What a job of Grid Engine finds in its environment. A payload imports this: nothing slow."""

from __future__ import annotations

import os

from sssjob.features import kernel
from sssjob.features.said import StatedValues, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST = 1 << 20  # bytes of the list of hosts


def read(environment: Mapping[str, str]) -> StatedValues:
    """What is said of the job on this host; limits stand in no variable."""
    said = StatedValues("Grid Engine", ("wall_limit_secs", "jobstart_secs", "cpu_limit_secs"))
    task = whole(environment.get("SGE_TASK_ID", ""))
    if task and environment.get("JOB_ID"):
        said.add("job_id", f"{environment['JOB_ID']}.{task}", "$JOB_ID.$SGE_TASK_ID")
    said.text("job_id", "JOB_ID", environment)
    if environment.get("NHOSTS") == "1":
        said.number("allocated_cpu", "NSLOTS", environment)
    said.also("allocated_cpu", _here(environment), "$PE_HOSTFILE")
    return said


def _here(environment: Mapping[str, str]) -> int | None:
    """The slots of this host, of all its queues: lines of ``HOST SLOTS QUEUE PROCESSORS``."""
    name = os.uname().nodename.partition(".")[0]
    rows = (
        line.split()
        for line in kernel.text(environment.get("PE_HOSTFILE", ""), _LONGEST).splitlines()
    )
    counts = [whole(row[1]) for row in rows if len(row) > 1 and row[0].partition(".")[0] == name]
    return sum(each or 0 for each in counts) if all(counts) else None
