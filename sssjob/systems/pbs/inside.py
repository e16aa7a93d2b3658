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
    said.also("allocated_cpu", _each(environment, said), "$PBS_NUM_PPN")
    said.number("wall_limit_secs", "PBS_WALLTIME", environment)
    return said


def _each(environment: Mapping[str, str], said: StatedValues) -> int | None:
    """The processors of TORQUE on each node, where all nodes have as many."""
    nodes, each, total = (
        said.whole(f"PBS_{name}", environment) for name in ("NUM_NODES", "NUM_PPN", "NP")
    )
    return each if nodes and each and nodes * each == total else None
