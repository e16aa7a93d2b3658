"""What several batch systems say in one environment: bounds that hold together. # decision 565

A job runs inside another one (Flux in an allocation of Slurm, a glidein of HTCondor), or was
submitted from one and has its variables still. A payload imports this module: nothing slow.
"""

from __future__ import annotations

import time

from sssjob.features.said import StatedValues

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sssjob.features.keys import Value

_START, _WALL, _END = "jobstart_secs", "wall_limit_secs", "shutdowntime_job"
_CPU = "allocated_cpu"
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
        said.ids |= each.ids
        said.at_most |= each.at_most
        for key, value in each.machine.items():
            _least(said.machine, key, value)
            said.sources.setdefault(key, each.by)
        for key, value in each.job.items():
            if key not in _OF_ONE:
                said.bound(key, value, each.sources[key])
    _times(said, found)
    if _CPU in said.job and not all(_CPU in each.job for each in found):
        most, source = said.job.pop(_CPU), said.sources.pop(_CPU)
        said.at_most[_CPU] = int(most), source
    for each in found:
        if _SHARE in each.job and _is_whole(each, said):
            said.take(_SHARE, each.job[_SHARE], each.sources[_SHARE])
    last = _last(found)
    if last is not None and "job_id" in last.job:
        said.take("job_id", last.job["job_id"], last.sources["job_id"])
    else:
        said.lacks("job_id")
    said.lacks(_CPU)
    # Behind all that was taken: a bound of one job says nothing of another one's.
    for each in found:
        said.missing += (key for key in each.missing if key not in said.missing)
        for key in each.doubted:
            said.doubt(key)
    said.spelled = _spelled(found)
    return said


def _spelled(found: Sequence[StatedValues]) -> Callable[[str], str]:
    """How records of these systems have an id: one that none of them changes is the same in all."""

    def spelled(id: str) -> str:
        return next((other for each in found if (other := each.spelled(id)) != id), id)

    return spelled


def _least(values: dict[str, Value], key: str, value: Value) -> None:
    known = values.setdefault(key, value)
    if not isinstance(known, str) and not isinstance(value, str):
        values[key] = min(known, value)


def _is_whole(one: StatedValues, said: StatedValues) -> bool:
    """Whether a job has the processors that are taken."""
    mine = one.job.get(_CPU)
    return mine is not None and mine == said.job.get(_CPU)


def _times(said: StatedValues, found: Sequence[StatedValues]) -> None:
    """The limit of elapsed time that ends first, with its own start; the ends of the others.

    Of a job that tells no start nobody knows the end: its limit counts where it is the least.
    """
    limits = [each for each in found if isinstance(each.job.get(_WALL), int)]
    if not limits:
        last = max(
            (each for each in found if isinstance(each.job.get(_START), int)),
            key=lambda each: int(each.job[_START]), default=None,
        )  # fmt: skip
        if last is not None:
            said.take(_START, last.job[_START], last.sources[_START])
        return
    ending = [each for each in limits if isinstance(each.job.get(_START), int)]
    first = min(ending, key=_end, default=None)
    others = (each for each in limits if each not in ending)
    least = min(others, key=lambda each: int(each.job[_WALL]), default=first)
    if first is not None and (least is None or int(first.job[_WALL]) <= int(least.job[_WALL])):
        least = first
    if least is None:
        return
    for key in (_WALL, _START):
        if key in least.job:
            said.take(key, least.job[key], least.sources[key])
    for each in ending:
        if each is not least:
            said.bound(_END, _end(each), f"{each.sources[_WALL]} of {each.by}")


def _end(one: StatedValues) -> int:
    """When a limit ends; one whose start lies in the future counts from now, as in ``left``."""
    return min(int(one.job[_START]), int(time.time())) + int(one.job[_WALL])


def _last(found: Sequence[StatedValues]) -> StatedValues | None:
    """The innermost job: the one that began last, where each one says when it began."""
    starts = [each.job.get(_START) for each in found]
    known = [start for start in starts if isinstance(start, int)]
    if len(known) < len(starts) or known.count(max(known)) > 1:
        return None
    return found[starts.index(max(known))]
