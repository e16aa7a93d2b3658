"""What was requested of a job that runs again, for a further run of it: one rule for all roads.

A run that a store does not have yet, of which a record or a Charge tells, is a document of its own:
the job as it was requested, with what is told of the run. So it costs the same, whichever of both
comes first. # decisions 850, 864 and 972
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from operator import itemgetter
from typing import NamedTuple

from sssjob import registry
from sssjob.defaults import resolve
from sssjob.document import loads
from sssjob.features.folded import without_run
from sssjob.fold import identities, is_about
from sssjob.model import Block, Item, Job, JobGroup, Property, jobs_of, without
from sssjob.runs import requested_anew, waits
from sssjob.store import Change, Stored
from sssjob.store.identity import marks_of
from sssjob.store.stored import DELIVERED, OF_CHARGING, is_of_request, of_request

_CHARGE = "Charge"
_KNOWN_BY = ("Id", "GlobalId")
_PUT = {"Reserve": "Reservation", "Quote": "Quote"}  # the number that a request puts into a job


class StoredRun(NamedTuple):
    """A run of a job in a store: its document, what that holds, and the job of it."""

    stored: Stored
    whole: Block
    job: Job

    def rank(self) -> tuple[bool, int, int]:
        """What orders the runs of a job; one that tells no times is later alone than in a group."""
        return self.stored.rank(marks_of(self.job))


Opened = Callable[[Stored, Job], tuple[Block, Job | None]]


def opened(stored: Stored, record: Job) -> tuple[Block, Job | None]:
    """What a document holds, and the job of it that a record is about."""
    whole = loads(stored.document)
    return whole, about(whole, record)


def told_ids(record: Job) -> set[str]:
    """The Ids by which a store is asked for the job of a record."""
    return {record.id, *identities(record)} - {""}


def runs_of(change: Change, record: Job, open_: Opened = opened) -> list[StoredRun]:
    """The runs of the job of a record, alone and in groups; the last first, deleted ones last.

    A document that a group has taken in tells of none: the group does.
    """
    numbers = {
        each.number for id_ in sorted(told_ids(record))
        for each in change.named(id_, deleted=True)
    }  # fmt: skip
    runs: list[StoredRun] = []
    for stored in map(change.at, sorted(numbers)):
        if stored.is_taken_in:
            continue
        whole, job = open_(stored, record)
        if job is not None:
            runs.append(StoredRun(stored, whole, job))
    return sorted(runs, key=StoredRun.rank, reverse=True)


def requested(change: Change, runs: Sequence[StoredRun], told: Job) -> StoredRun:
    """The job for a further run of it as it was requested, of its ``runs``, at least one.

    That is as it waited, of the last run before the one that is told; where nobody brought it
    then, as it was brought, and else as a Reserve or a Quote made it known. What a Charge told of
    one run is of no other one.
    """
    every = latest_before(runs, told)
    found = [each for run in every if (each := _as_requested(change, run, told)) is not None]
    _, first = min(found, key=itemgetter(0)) if found else (0, _known_alone(runs[0]))
    return first._replace(job=_without_numbers(change, _requested(first), first, told))


# decision 997
def for_charging(change: Change, runs: Sequence[StoredRun], told: Job) -> StoredRun:
    """The same for a Charge, Reserve or Quote, which says less of a run than its record does.

    How another run went is nothing of this one.
    """
    first = requested(change, runs, told)
    return first._replace(
        job=first.job.holding(item for item in first.job.items if not _is_outcome(item))
    )


def latest_before(runs: Sequence[StoredRun], told: Job) -> list[StoredRun]:
    """The runs of a job as they tell of another one: the last before it first."""
    latest = marks_of(told).latest
    before = [run for run in runs if marks_of(run.job).latest <= latest]
    return [*before, *(run for run in runs if run not in before)]


def _is_outcome(item: Item) -> bool:
    """Whether it tells how a run went, in words of the standard or of a batch system."""
    if not isinstance(item, Property) or item.name != "Extension":
        return getattr(item, "name", "") in ("State", "StatusMessage")
    return (item.said("type"), item.attributes.get("name")) in _outcomes()


@cache
def _outcomes() -> frozenset[tuple[str, str]]:
    """The Extensions by which batch systems tell how a run went, by type and name."""
    rows = registry.all_systems().values()
    return frozenset((row.title, name) for row in rows for name in row.outcomes)


def _known_alone(run: StoredRun) -> StoredRun:
    """A job of which nothing is known but by what it is."""
    known = run.job.holding(item for item in run.job.properties if item.name in _KNOWN_BY)
    return run._replace(whole=known, job=known)


def _as_requested(change: Change, run: StoredRun, told: Job) -> tuple[int, StoredRun] | None:
    """A job as somebody brought it, or else as a request made it known; None of a Charge alone.

    As long as it waited, what was changed was requested, too. Before it stands how much less than
    a request it is: one that waited is all, one of a Reserve the least.
    """
    first: StoredRun | None = None
    found: tuple[int, StoredRun] | None = None
    for stored in change.versions(run.stored):
        whole = loads(stored.document)
        if (job := about(whole, told)) is None:
            continue
        version = StoredRun(stored, whole, job)
        is_brought = not _is_of_charge(version) and (first is None or stored.reason != DELIVERED)
        if first is not None and of_request(first.stored.reason) == _CHARGE:
            is_brought = not is_of_request(stored.reason)  # else it is what the Charge told
        first = first or version
        if found is not None and not waits(job):
            break
        if is_brought or found is not None:
            found = (0 if waits(job) else 1, version)
            if not waits(job):
                break
    if found is None and first is not None and of_request(first.stored.reason) != _CHARGE:
        found = (2, first)
    return found


def _is_of_charge(run: StoredRun) -> bool:
    return of_request(run.stored.reason) in OF_CHARGING


# decision 913
def _without_numbers(change: Change, job: Job, run: StoredRun, record: Job) -> Job:
    """A job without what a Reserve or a Quote put into its document; what was asked for stays.

    Any version may have it that was made since, for whatever reason.
    """
    if not any(job.get(name) for name in _PUT.values()):
        return job
    before = Job()
    asked: dict[str, Property | None] = dict.fromkeys(_PUT.values())
    put: set[tuple[str, str]] = set()
    for stored in change.versions(run.stored):
        now = about(loads(stored.document), record) or before
        for name in asked:
            text = now.get(name)
            if text == before.get(name):
                continue
            if name == _PUT.get(of_request(stored.reason)):
                put.add((name, text))
            elif (name, text) not in put:
                asked[name] = next((each for each in now.properties if each.name == name), None)
        before = now
    for name, item in asked.items():
        if (name, job.get(name)) in put:
            job = without(job, name) if item is None else job.setting(item)
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
