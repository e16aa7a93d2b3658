"""What several batch systems say in one environment: bounds that hold together. # decision 565

A job runs inside another one (Flux in an allocation of Slurm, a glidein of HTCondor), or was
submitted from one and has its variables still. A payload imports this module: nothing slow.
"""

from __future__ import annotations

from sssjob.features.said import StatedValues

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sssjob.features.keys import Value

_START, _WALL, _END = "jobstart_secs", "wall_limit_secs", "shutdowntime_job"
_SHARE = "hs06_job"  # of the processors of one job
_OF_ONE = ("job_id", _START, _WALL, _SHARE)  # no bound by itself


def joined(found: Sequence[StatedValues]) -> StatedValues:
    """What holds whichever of these jobs, of two at least, runs inside which: the least bounds.

    What one of them may limit and does not tell stays unknown, beside the bounds of the others.
    The processors are those of all only where each job says how many it has.
    """
    said = StatedValues(" and ".join(each.by for each in found))
    jobs = " and ".join(f"{each.by} ({each.job.get('job_id', 'no id')})" for each in found)
    said.nesting = (
        f"jobs of {jobs} are in one environment: one runs inside the other, or was submitted from "
        "it; the least of their limits counts"
    )
    said.problems.append(said.nesting)
    for each in found:
        said.problems += each.problems
        said.ids += each.ids
        for key, value in each.machine.items():
            _least(said.machine, key, value)
            said.sources.setdefault(key, each.by)
        for key, value in each.job.items():
            if key not in _OF_ONE:
                said.bound(key, value, each.sources[key])
    _times(said, found)
    if not all("allocated_cpu" in each.job for each in found):
        said.job.pop("allocated_cpu", None)
        said.sources.pop("allocated_cpu", None)
    for each in found:
        if _SHARE in each.job and _is_whole(each, said):
            said.take(_SHARE, each.job[_SHARE], each.sources[_SHARE])
    last = _last(found)
    if last is not None and "job_id" in last.job:
        said.take("job_id", last.job["job_id"], last.sources["job_id"])
    else:
        said.doubt("job_id")
    if "allocated_cpu" not in said.job:
        said.doubt("allocated_cpu")
    # Behind all that was taken: a bound of one job says nothing of another one's.
    said.unknown += dict.fromkeys(
        key for each in found for key in each.unknown if key not in said.unknown
    )
    return said


def _least(values: dict[str, Value], key: str, value: Value) -> None:
    known = values.setdefault(key, value)
    if not isinstance(known, str) and not isinstance(value, str):
        values[key] = min(known, value)


def _is_whole(one: StatedValues, said: StatedValues) -> bool:
    """Whether a job has the processors that are taken."""
    mine = one.job.get("allocated_cpu")
    return mine is not None and mine == said.job.get("allocated_cpu")


def _times(said: StatedValues, found: Sequence[StatedValues]) -> None:
    """The least limit of elapsed time, with the start of its own job; the ends of the others."""
    limits: list[tuple[int, bool, int, StatedValues]] = []
    for place, each in enumerate(found):
        wall = each.job.get(_WALL)
        if isinstance(wall, int):
            limits.append((wall, _START not in each.job, place, each))
    if not limits:
        last = max(
            (each for each in found if isinstance(each.job.get(_START), int)),
            key=lambda each: int(each.job[_START]), default=None,
        )  # fmt: skip
        if last is not None:
            said.take(_START, last.job[_START], last.sources[_START])
        return
    least = min(limits)[3]
    for key in (_WALL, _START):
        if key in least.job:
            said.take(key, least.job[key], least.sources[key])
    for wall, _, _, each in limits:
        start = each.job.get(_START)
        if each is not least and isinstance(start, int):
            said.bound(_END, start + wall, f"{each.sources[_WALL]} of {each.by}")


def _last(found: Sequence[StatedValues]) -> StatedValues | None:
    """The innermost job: the one that began last, where each one says when it began."""
    starts = [each.job.get(_START) for each in found]
    known = [start for start in starts if isinstance(start, int)]
    if len(known) < len(starts) or known.count(max(known)) > 1:
        return None
    return found[starts.index(max(known))]
