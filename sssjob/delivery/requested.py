"""What was requested of a job that runs again, for a further run of it: one rule for all roads.

A run that a store does not have yet, of which a record or a Charge tells, is a document of its own:
the job as it was requested, with what is told of the run. So it costs the same, whichever of both
comes first. # decisions 850, 864 and 972
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
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
from sssjob.store.flat_properties import flat_properties
from sssjob.store.identity import marks_of
from sssjob.store.stored import DELIVERED, is_of_request, of_request

_CHARGE = "Charge"
# Requests by which a job may become known, or changes in nothing that was requested.
_CHARGING = (_CHARGE, "Quote", "Refund", "Reserve")
_MODIFY = "Modify"
_KNOWN_BY = ("Id", "GlobalId")
_SUBMITTED_BY = frozenset(row.name for row in spec.CREDENTIALS)
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


def runs_of(change: Change, record: Job, open_: Opened = opened) -> list[StoredRun]:
    """The runs of the job of a record, alone and in groups; the last first, deleted ones last."""
    numbers = {
        each.number for id_ in sorted({record.id, *identities(record)} - {""})
        for each in change.named(id_, deleted=True)
    }  # fmt: skip
    runs: list[StoredRun] = []
    for stored in map(change.at, sorted(numbers)):
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
    every = _latest_before(runs, told)
    firsts = [first for run in every if (first := _first_version(change, run, told)) is not None]
    first = min(firsts, key=_how_far, default=None) or _known_alone(runs[0])
    return first._replace(job=_without_numbers(change, _requested(first), first, told))


# decisions 997 and 1012
def for_charging(
    change: Change, runs: Sequence[StoredRun], told: Job, names: Iterable[str] = ()
) -> StoredRun:  # fmt: skip
    """The same for a Charge, Reserve or Quote, which says less of a run than its record does.

    Who submitted the job is as in any run of it, also where a record alone tells it; and so are the
    ``names`` that a file says of the job itself. How another run went is nothing of this one.
    """
    first = requested(change, runs, told)
    asked = first.job.holding(item for item in first.job.items if not _is_outcome(item))
    known = {*asked.properties.names(), *asked.requested.names()}
    for item in _brought(change, _latest_before(runs, told), {*_SUBMITTED_BY, *names} - known):
        if item.name not in known:
            asked = asked.setting(item)
            known.add(item.name)
    return first._replace(job=asked)


def _latest_before(runs: Sequence[StoredRun], told: Job) -> list[StoredRun]:
    """The runs of a job as they tell of another one: the last before it first."""
    latest = marks_of(told).latest
    before = [run for run in runs if marks_of(run.job).latest <= latest]
    return [*before, *(run for run in runs if run not in before)]


def _brought(
    change: Change, runs: Iterable[StoredRun], names: Collection[str]
) -> Iterator[Property]:  # fmt: skip
    """What was brought of runs of a job by some names, that no Charge of one alone has said."""
    if not names:
        return
    for run in runs:
        who = who_said(change, run, names)
        for item in run.job.delivered:
            if item.name in who.delivered and item.name in _SUBMITTED_BY:
                yield item
        for name, text in who.own.items():
            if text:
                yield Property(name, text, {}, (), run.job.namespace)


class SaidNames(NamedTuple):
    """Who said the names that a run has.

    ``delivered`` are those in its Delivered that were not said by a Charge, Reserve or Quote alone;
    ``own`` is what others than these said last of the job itself, and ``asked`` what was last
    requested, also where the document of the run says another one, or none, by now: "" is none.
    """

    delivered: set[str]
    own: dict[str, str]
    asked: dict[str, str]


def is_from_files(change: Change, stored: Stored) -> bool:
    """Whether a file took the place of a version of a document: who walks that may find more."""
    return any(not is_of_request(reason) for reason in change.reasons(stored)[1:])


# decisions 1009 and 1012
def who_said(change: Change, run: StoredRun, names: Iterable[str]) -> SaidNames:
    """Who said the names of a run, by the history of its document.

    A Charge does not change what a record or a file delivered; what an earlier Charge said is
    corrected by a later one, and told of no other run. A record that is delivered leaves what it
    agrees with, or says nothing of, in Delivered as its own, and so does a file of a job in a
    group: nothing tells these two apart.
    """
    names = tuple(names)
    found = SaidNames(set(), {}, {})
    before = Job()
    for stored in change.versions(run.stored):
        job = about(loads(stored.document), run.job) or Job()
        if job == before:
            continue  # it tells of another job of the group
        action, is_file = of_request(stored.reason), not is_of_request(stored.reason)
        for name in names:
            now, was = (
                (each.delivered.text(name), stripped(each.get(name))) for each in (job, before)
            )
            if waits(job) or (action == _MODIFY and now != was):
                found.asked[name] = _flat(job, name)
            if waits(job) and not found.asked[name]:
                del found.asked[name]
            if now[0] != was[0] or is_file or stored.reason == DELIVERED:
                is_brought = bool(now[0]) and action not in _CHARGING
                (found.delivered.add if is_brought else found.delivered.discard)(name)
            if action not in _CHARGING and (now[1] != was[1] or is_file):
                found.own[name] = now[1]
        before = job
    return found


def _flat(job: Job, name: str) -> str:
    found = flat_properties(job).get(name)
    return stripped(found.text) if found else ""


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
    return found[0] if found and of_request(found[0].stored.reason) != _CHARGE else None


def _how_far(first: StoredRun) -> int:
    """How much less than a request it is: one that waited is all, one of a Reserve the least."""
    if _is_of_charge(first):
        return 2
    return 0 if waits(first.job) else 1


def _is_of_charge(run: StoredRun) -> bool:
    return of_request(run.stored.reason) in _CHARGING


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
        name = _PUT.get(of_request(stored.reason), "")
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
