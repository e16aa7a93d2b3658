"""What a job of Slurm finds in its environment. A payload imports this: nothing slow.

No version tells the time limit to a job by itself; later ones tell when it starts and ends.
"""

from __future__ import annotations

from sssjob.features.said import StatedValues, whole

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
    processors = _processors(environment, said)
    per_node = said.whole("SLURM_MEM_PER_NODE", environment)
    per_processor = said.whole("SLURM_MEM_PER_CPU", environment)
    if per_node:  # 0 is all of the node
        said.also("max_rss_bytes", per_node * _MIB, "$SLURM_MEM_PER_NODE")
    if per_processor and processors:
        source = "$SLURM_MEM_PER_CPU x processors"
        said.also("max_rss_bytes", per_processor * _MIB * processors, source)
    start, end = (said.whole(f"SLURM_JOB_{name}_TIME", environment) for name in ("START", "END"))
    said.add("jobstart_secs", start, "$SLURM_JOB_START_TIME")
    if start and end is not None:
        if end > start:
            said.known("wall_limit_secs")
            limit = end - start if end - start != YEAR else None
            said.add("wall_limit_secs", limit, "$SLURM_JOB_END_TIME - $SLURM_JOB_START_TIME")
        else:
            said.problems.append(f"$SLURM_JOB_END_TIME {end} is not after the start of the job")
    return said


def times(environment: Mapping[str, str]) -> tuple[int | None, int | None]:
    """The start of the job, and its limit of elapsed time; None is not said, or no limit."""
    start, end = (whole(environment.get(f"SLURM_JOB_{name}_TIME", "")) for name in ("START", "END"))
    if not start:
        return None, None
    return start, end - start if end and 0 < end - start != YEAR else None


def _processors(environment: Mapping[str, str], said: StatedValues) -> int | None:
    """Those of this node, or of each, if all have as many."""
    said.number("allocated_cpu", "SLURM_CPUS_ON_NODE", environment)
    text = environment.get("SLURM_JOB_CPUS_PER_NODE", "").strip()
    counts = [_count(part) for part in text.split(",")] if text else []
    if not all(counts):
        said.untold("SLURM_JOB_CPUS_PER_NODE", text, "processors of nodes such as 4(x2),8")
    elif len(counts) == 1:
        said.also("allocated_cpu", counts[0], "$SLURM_JOB_CPUS_PER_NODE")
    found = said.job.get("allocated_cpu")
    return found if isinstance(found, int) else None


def _count(part: str) -> int | None:
    """The processors of each of some nodes: ``4`` or ``4(x2)``."""
    each, several, times = part.partition("(x")
    is_form = not several or (times.endswith(")") and whole(times[:-1]))
    return whole(each) if is_form else None
