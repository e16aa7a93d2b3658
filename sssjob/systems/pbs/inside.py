"""What a job of PBS finds in its environment. A payload imports this: nothing slow."""

from __future__ import annotations

from sssjob.features.said import StatedValues

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def read(environment: Mapping[str, str]) -> StatedValues:
    """What is said of the job on this host: of TORQUE, or of PBS Professional (``NCPUS``)."""
    said = StatedValues("PBS", ("wall_limit_secs", "jobstart_secs"))
    said.text("job_id", "PBS_JOBID", environment)
    said.number("allocated_cpu", "NCPUS", environment)
    if environment.get("PBS_NUM_NODES") == "1":
        said.number("allocated_cpu", "PBS_NP", environment)
    said.number("wall_limit_secs", "PBS_WALLTIME", environment)
    return said
