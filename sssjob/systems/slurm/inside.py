"""What a job of Slurm finds in its environment. A payload imports this: nothing slow.

No version tells the time limit to a job by itself; later ones tell when it starts and ends.
"""

from __future__ import annotations

from sssjob import host_name
from sssjob.features.said import StatedValues, whole
from sssjob.systems.slurm.unset import UNSET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# A job without a limit is said to end after a year.
YEAR = 365 * 86400
_MIB = 1 << 20


def read(environment: Mapping[str, str]) -> StatedValues:
    """What is said of the job on this node, by key of $JOBFEATURES."""
    said = StatedValues("Slurm", ("wall_limit_secs",))
    said.text("job_id", "SLURM_JOB_ID", environment)
    said.ids.update(dict.fromkeys(_other_ids(environment), False))
    older, id = environment.get("SLURM_JOBID", "").strip(), said.job.get("job_id")
    if older and id and older != id:
        said.problems.append(f"job_id is {id} by $SLURM_JOB_ID, but {older[:40]!r} by $SLURM_JOBID")
    processors = _processors(environment, said)
    per_node, per_processor, per_gpu = (
        said.whole(f"SLURM_MEM_PER_{name}", environment, "max_rss_bytes")
        for name in ("NODE", "CPU", "GPU")
    )
    if per_node:  # 0 is all of the node
        said.also("max_rss_bytes", per_node * _MIB, "$SLURM_MEM_PER_NODE")
    if per_processor and processors:
        source = "$SLURM_MEM_PER_CPU x processors"
        said.also("max_rss_bytes", per_processor * _MIB * processors, source)
    elif per_processor or per_gpu:
        said.lacks("max_rss_bytes")  # of how many processors or GPUs, nobody says
    said.whole("SLURM_JOB_START_TIME", environment, "jobstart_secs", "wall_limit_secs")
    end = said.whole("SLURM_JOB_END_TIME", environment, "wall_limit_secs")
    start, limit, wrong = times(environment)
    said.add("jobstart_secs", start, "$SLURM_JOB_START_TIME")
    if not start and end and end not in UNSET:
        wrong = wrong or f"$SLURM_JOB_END_TIME is {end}, and nobody says since when"
        said.add("shutdowntime_job", end, "$SLURM_JOB_END_TIME")
    if wrong:
        said.wrong(wrong, "wall_limit_secs")
    if limit is not None:
        said.known("wall_limit_secs")
        said.add("wall_limit_secs", limit, "$SLURM_JOB_END_TIME - $SLURM_JOB_START_TIME")
    return said


def times(environment: Mapping[str, str]) -> tuple[int | None, int | None, str]:
    """The start of the job, its limit of elapsed time, and what is wrong with both, or "".

    None is not said, and a limit of 0 is none.
    """
    start, end = (whole(environment.get(f"SLURM_JOB_{name}_TIME", "")) for name in ("START", "END"))
    if start in UNSET or start == 0:
        return None, None, f"$SLURM_JOB_START_TIME is {start}, which stands for no time"
    if end in UNSET:
        return start, None, f"$SLURM_JOB_END_TIME is {end}, which stands for no time"
    if end is None:
        return start, None, ""
    if start is None:
        return None, None, ""
    if end <= start:
        return start, None, f"$SLURM_JOB_END_TIME {end} is not after the start of the job"
    return start, end - start if end - start != YEAR else 0, ""


def _other_ids(environment: Mapping[str, str]) -> list[str]:
    """The names of a task of an array, and of a component of a heterogeneous job.

    The number in both is the id of the leader, which is another job.
    """
    array, task, het, offset = (
        environment.get(f"SLURM_{name}", "").strip()
        for name in ("ARRAY_JOB_ID", "ARRAY_TASK_ID", "HET_JOB_ID", "HET_JOB_OFFSET")
    )
    return [*([f"{array}_{task}"] if array else []), *([f"{het}+{offset}"] if het else [])]


def _processors(environment: Mapping[str, str], said: StatedValues) -> int | None:
    """Those of this node, or of each, if all have as many."""
    said.number("allocated_cpu", "SLURM_CPUS_ON_NODE", environment)
    text = environment.get("SLURM_JOB_CPUS_PER_NODE", "").strip()
    counts = [_count(part) for part in text.split(",")] if text else []
    if not all(counts):
        expected = "processors of nodes such as 4(x2),8"
        said.untold("SLURM_JOB_CPUS_PER_NODE", text, expected, "allocated_cpu")
    elif len(counts) == 1:
        said.also("allocated_cpu", counts[0], "$SLURM_JOB_CPUS_PER_NODE")
    elif counts and environment.get("SLURM_JOB_NODELIST"):
        from sssjob.systems.slurm.counts import processors  # slow, and few jobs need it

        node = environment.get("SLURMD_NODENAME") or host_name.own()
        said.also("allocated_cpu", processors(environment, node), "$SLURM_JOB_CPUS_PER_NODE")
    found = said.job.get("allocated_cpu")
    return found if isinstance(found, int) else None


def _count(part: str) -> int | None:
    """The processors of each of some nodes: ``4`` or ``4(x2)``."""
    each, several, times = part.partition("(x")
    is_form = not several or (times.endswith(")") and whole(times[:-1]))
    return whole(each) if is_form else None
