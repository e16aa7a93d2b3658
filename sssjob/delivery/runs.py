"""Which run of a job a document has, and of which one is told: the last run is folded in.

A batch system may run a job again (a requeue), with the same Id. A document has one place for what
a run used, so that values of two runs in it would be a job that never was: the start of one and the
end of the other. Where what is told is of a later run, all that the document has of the earlier one
goes; of an earlier run nothing is taken. # decision 803
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sssjob.defaults import resolve
from sssjob.features.fold import START_TOLERANCE
from sssjob.features.folded import (
    beyond,
    is_folded,
    listed,
    without_list,
    without_listed,
    without_run,
)
from sssjob.fold import JOB, Fact, Folded, fold, placed
from sssjob.model import Block, Job, JobDefaults, JobGroup, Property, Requested, jobs_of
from sssjob.runs import CLOCKS, Run, RunOrder, has_run, requested_anew


def of_run(job: Job, order: RunOrder) -> Job:
    """The job that what is told of a run is folded into: of another run nothing is left in it."""
    return without_run(job) if order is RunOrder.LATER else job


def of_recorded_run(job: Job, order: RunOrder, record: Job) -> Job:
    """The same for a record, which may tell by which marks another run is known."""
    job = of_run(job, order)
    is_told = order is RunOrder.LATER and bool(record.get("SubmitTime"))
    return requested_anew(job) if is_told else job


def told_order(job: Job, record: Job, *, is_zoneless: bool = False) -> RunOrder:
    """How the run that a record tells of stands to the one that a job has.

    When it was submitted tells it only where the job has run: one that waits may be submitted anew.
    A start that no fold put there is that of a batch system or a Charge, whose clocks are near.
    # decisions 921 and 990
    """
    told, known = Run.of_job(record), Run.of_job(job)
    tolerance = START_TOLERANCE if is_folded(job, "StartTime") else CLOCKS
    ordered = told.times.order_without_zone if is_zoneless else told.times.order
    return ordered(known.times, tolerance, by_submission=has_run(job))


def frame_of(block: Block) -> JobGroup | None:
    """A group without its jobs, for what each has of it; None where it has no defaults."""
    if not isinstance(block, JobGroup) or not block.blocks(JobDefaults):
        return None
    return block.holding(
        item for item in block.items if not isinstance(item, Block) or isinstance(item, JobDefaults)
    )


def fold_run(
    job: Job, delivered: Job | Iterable[Fact], *,
    frame: JobGroup | None = None, source: str = "", overwrite: bool = False,
) -> Folded:  # fmt: skip
    """Fold what is told of the run that a job has, and list it as what is of that run.

    What the ``frame`` of its group requests for it stays as what it requests itself.
    """
    effective = known = without_list(job)
    lent: list[Property] = []
    if frame is not None:
        effective = in_group(known, frame)
        lent = beyond(effective.properties, known.properties)
    folded = fold(_with(known, lent), delivered, source=source, overwrite=overwrite)
    if not folded.changes:
        return replace(folded, job=job)
    ran = folded.job if frame is None else _without_lent(folded.job, lent, effective, frame)
    return replace(folded, job=listed(_with(without_listed(job), lent), ran))


def in_group(job: Job, frame: JobGroup) -> Job:
    """A job with the defaults of its group."""
    return jobs_of(resolve(frame.holding((*frame.items, job))).block)[0]


def _with(job: Job, lent: Iterable[Property]) -> Job:
    for item in lent:
        job = placed(job, Fact(item, JOB))
    return job


def _without_lent(whole: Job, lent: Iterable[Property], before: Job, frame: JobGroup) -> Job:
    """A job without what its group still lends it; what the fold would hide becomes its own.

    Else who resolves the defaults could not tell what was requested. # decision 852
    """
    ours = {id(item) for item in lent}
    own = whole.holding(item for item in whole.items if id(item) not in ours)
    after = in_group(own, frame)
    hidden = beyond(whole.properties, after.properties)
    kept = [item for item in whole.items if id(item) not in ours or item in hidden]
    requested = before.blocks(Requested)
    if after.blocks(Requested) == requested:
        return whole.holding(kept)
    kept = [item for item in kept if not isinstance(item, Requested)]
    place = next((n for n, item in enumerate(kept) if isinstance(item, Block)), len(kept))
    return whole.holding((*kept[:place], *requested, *kept[place:]))
