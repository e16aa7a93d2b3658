"""What a job of Grid Engine finds in its environment. A payload imports this: nothing slow."""

from __future__ import annotations

from sssjob.features.said import StatedValues, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def read(environment: Mapping[str, str]) -> StatedValues:
    """What is said of the job on this host; limits stand in no variable."""
    said = StatedValues("Grid Engine", ("wall_limit_secs", "jobstart_secs", "cpu_limit_secs"))
    task = whole(environment.get("SGE_TASK_ID", ""))
    if task and environment.get("JOB_ID"):
        said.add("job_id", f"{environment['JOB_ID']}.{task}", "$JOB_ID.$SGE_TASK_ID")
    said.text("job_id", "JOB_ID", environment)
    if environment.get("NHOSTS") == "1":
        said.number("allocated_cpu", "NSLOTS", environment)
    return said
