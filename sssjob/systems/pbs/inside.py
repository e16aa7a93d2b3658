"""What a job of PBS finds in its environment. A payload imports this: nothing slow."""

from __future__ import annotations

from sssjob import host_name
from sssjob.features import kernel
from sssjob.features.said import StatedValues

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST = 1 << 20  # bytes of the list of hosts


def read(environment: Mapping[str, str]) -> StatedValues | None:
    """What is said of the job on this host: of TORQUE, or of PBS Professional (``NCPUS``).

    None for a job of Slurm whose plugin gives it the variables of TORQUE: an id of PBS has the
    name of its server behind it.
    """
    id = environment.get("PBS_JOBID", "")
    if id.isdigit() and id == environment.get("SLURM_JOB_ID"):
        return None
    said = StatedValues("PBS", ("wall_limit_secs", "jobstart_secs"))
    said.text("job_id", "PBS_JOBID", environment)
    said.number("allocated_cpu", "NCPUS", environment)
    if environment.get("PBS_NUM_NODES") == "1":
        said.number("allocated_cpu", "PBS_NP", environment)
    said.also("allocated_cpu", _each(environment, said), "$PBS_NUM_PPN")
    if environment.get("PBS_NP"):
        said.also("allocated_cpu", _here(environment, said), "$PBS_NODEFILE")
    said.number("wall_limit_secs", "PBS_WALLTIME", environment)
    return said


def _each(environment: Mapping[str, str], said: StatedValues) -> int | None:
    """The processors of TORQUE on each node, where all nodes have as many."""
    nodes, each, total = (
        said.whole(f"PBS_{name}", environment, "allocated_cpu")
        for name in ("NUM_NODES", "NUM_PPN", "NP")
    )
    is_each = nodes is None or total is None or nodes * (each or 0) == total
    return each if is_each else None


def _here(environment: Mapping[str, str], said: StatedValues) -> int | None:
    """How often TORQUE lists this host: once for each of its processors."""
    place = environment.get("PBS_NODEFILE", "")
    if not place:
        return None
    name = host_name.own()
    hosts = [host_name.short(each) for each in kernel.text(place, _LONGEST).split()]
    if name not in hosts:
        said.wrong(f"$PBS_NODEFILE names no processor of {name}", "allocated_cpu")
    return hosts.count(name)
