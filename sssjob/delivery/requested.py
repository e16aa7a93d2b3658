"""What was requested of a job that runs again, for a further run of it: one rule for all roads.

A run that a store does not have yet, of which a record or a Charge tells, is a document of its own:
the job as it was requested, with what is told of the run. So it costs the same, whichever of both
comes first. # decisions 850, 864 and 972
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from sssjob import registry, spec
from sssjob.defaults import resolve
from sssjob.document import loads
from sssjob.features.folded import without_run
from sssjob.fold import identities, is_about
from sssjob.model import Block, Item, Job, JobGroup, Property, jobs_of, stripped, without
from sssjob.runs import requested_anew, waits
from sssjob.store import Change, Stored
from sssjob.store.identity import marks_of
from sssjob.store.stored import DELIVERED, is_of_request

_CHARGE = "Charge"
# Requests by which a job may become known, or changes in nothing that was requested.
_CHARGING = (_CHARGE, "Quote", "Refund", "Reserve")
_KNOWN_BY = ("Id", "GlobalId")
_SUBMITTED_BY = frozenset(row.name for row in spec.CREDENTIALS)
_PAYERS = frozenset(("Project", "User"))
_PUT = {"Reserve": "Reservation", "Quote": "Quote"}  # the number that a request puts into a job


class StoredRun(NamedTuple):
    """A run of a job in a store: its document, what that holds, and the job of it."""

    stored: Stored
    whole: Block
    job: Job

    def rank(self) -> tuple[bool, int, int]:
        """What orders the runs of a job; one that tells no times is later alone than in a group."""
        return self.stored.rank(marks_of(self.job))


def runs_of(change: Change, record: Job) -> list[StoredRun]:
    """The runs of the job of a record, alone and in groups; the last first, deleted ones last."""
    numbers = {
        each.number for id_ in sorted({record.id, *identities(record)} - {""})
        for each in change.named(id_, deleted=True)
    }  # fmt: skip
    runs: list[StoredRun] = []
    for stored in map(change.at, sorted(numbers)):
        whole = loads(stored.document)
        job = about(whole, record)
        if job is not None:
            runs.append(StoredRun(stored, whole, job))
    return sorted(runs, key=StoredRun.rank, reverse=True)


def requested(change: Change, runs: Sequence[StoredRun], told: Job) -> StoredRun:
    """The job for a further run of it as it was requested, of its ``runs``, at least one.

    That is as it waited, of the last run before the one that is told; where nobody brought it
    then, as it was brought, and else as a Reserve or a Quote made it known. What a Charge told of
    one run is of no other one.
    """
    latest = marks_of(told).latest
    before = [run for run in runs if marks_of(run.job).latest <= latest]
    every = [*before, *(run for run in runs if run not in before)]
    firsts = [first for run in every if (first := _first_version(change, run, told)) is not None]
    first = min(firsts, key=_how_far, default=None) or _known_alone(runs[0])
    return first._replace(job=_without_numbers(change, _requested(first), first, told))


# decision 997
def for_charging(change: Change, runs: Sequence[StoredRun], told: Job) -> StoredRun:
    """The same for a Charge, Reserve or Quote, which says less of a run than its record does.

    Who submitted the job is as in any run of it, also where a record alone tells it. How another
    run went is nothing of this one.
    """
    first = requested(change, runs, told)
    asked = first.job.holding(item for item in first.job.items if not _is_outcome(item))
    known = {*asked.properties.names(), *asked.requested.names()}
    if not known.issuperset(_PAYERS):
        for item in _delivered(change, runs, told):
            if item.name in _SUBMITTED_BY and item.name not in known and item.text.strip():
                asked = asked.setting(item)
                known.add(item.name)
    return first._replace(job=asked)


def _delivered(change: Change, runs: Sequence[StoredRun], told: Job) -> Iterator[Property]:
    """What was delivered of runs of a job, the last first, and not by a Charge of one."""
    for run in runs:
        for stored in change.versions(run.stored):
            if _action(stored) not in _CHARGING:
                job = about(loads(stored.document), told)
                yield from job.delivered if job is not None else ()


# decision 1009
def was_brought(change: Change, run: StoredRun, name: str) -> bool:
    """Whether a record or a file delivered a run with what its Delivered says by a name.

    Then a Charge does not change it; what an earlier Charge said is corrected by a later one.
    """
    is_brought, before = False, ""
    for stored in change.versions(run.stored):
        job = about(loads(stored.document), run.job)
        now = "" if job is None else stripped(job.delivered.text(name))
        if now != before or not is_of_request(stored.reason) or stored.reason == DELIVERED:
            is_brought = bool(now) and _action(stored) not in _CHARGING
        before = now
    return is_brought


def _is_outcome(item: Item) -> bool:
    """Whether it tells how a run went, in words of the standard or of a batch system."""
    if not isinstance(item, Property) or item.name != "Extension":
        return getattr(item, "name", "") in ("State", "StatusMessage")
    return (item.attributes.get("type"), item.attributes.get("name")) in _outcomes()


@cache
def _outcomes() -> frozenset[tuple[str, str]]:
    """The Extensions by which batch systems tell how a run went, by type and name."""
    rows = registry.all_systems().values()
    return frozenset((row.title, name) for row in rows for name in row.outcomes)


def _known_alone(run: StoredRun) -> StoredRun:
    """A job of which nothing is known but by what it is."""
    known = run.job.holding(item for item in run.job.properties if item.name in _KNOWN_BY)
    return run._replace(whole=known, job=known)


def _first_version(change: Change, run: StoredRun, told: Job) -> StoredRun | None:
    """The first version of a job that somebody brought, or else of a request; None of a Charge."""
    found: list[StoredRun] = []
    for stored in change.versions(run.stored):
        whole = loads(stored.document)
        if (job := about(whole, told)) is None:
            continue
        found.append(StoredRun(stored, whole, job))
        is_told = bool(found[1:]) and stored.reason == DELIVERED
        if not is_told and not _is_of_charge(found[-1]):
            return found[-1]
    return found[0] if found and _action(found[0].stored) != _CHARGE else None


def _how_far(first: StoredRun) -> int:
    """How much less than a request it is: one that waited is all, one of a Reserve the least."""
    if _is_of_charge(first):
        return 2
    return 0 if waits(first.job) else 1


def _is_of_charge(run: StoredRun) -> bool:
    return _action(run.stored) in _CHARGING


def _action(stored: Stored) -> str:
    """The action of the request that made a version, if one did."""
    return stored.reason.partition(" ")[0]


# decision 913
def _without_numbers(change: Change, job: Job, run: StoredRun, record: Job) -> Job:
    """A job without what a Reserve or a Quote put into its document; what was asked for stays.

    Any version may have it that was made since, for whatever reason.
    """
    if not any(job.get(name) for name in _PUT.values()):
        return job
    before = Job()
    for stored in change.versions(run.stored):
        now = about(loads(stored.document), record) or before
        name = _PUT.get(_action(stored), "")
        if name and now.get(name) != before.get(name) and now.get(name) == job.get(name):
            job = without(job, name)
        before = now
    return job


def about(block: Block, record: Job) -> Job | None:
    """The job of a document that a record is about."""
    jobs = block.jobs if isinstance(block, JobGroup) else (block,)
    for job in jobs:
        if type(job) is Job and is_about(record, job):
            return job
    return None


def _requested(run: StoredRun) -> Job:
    """The job of a run as it was requested, with the defaults of its group."""
    block, job = run.whole, run.job
    asked = requested_anew(without_run(job))
    if not isinstance(block, JobGroup):
        return asked
    place = block.jobs.index(job)
    whole = block.holding(asked if item is job else item for item in block.items)
    found = jobs_of(resolve(whole).block)[place]  # and what a group has been charged by default
    return without(found, "Charge")
