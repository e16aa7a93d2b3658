"""A JobGroup that is imported again keeps each run that it has, job by job.

Strategy. A group is one document, and a store keeps one version of it. What is imported may tell
less of a run than is known, may tell of another run of a job, or may have a job no more: as the
next version it would take away what these jobs used, and give back what they were charged.

The idea is to ask of each job whether its run is here, by the rule for all runs (``runs``). If
nothing goes that a job used, the group is the next version. Otherwise the one that is there stays,
with the jobs that this tells more of or that are new, and a run that the group does not have is a
document of its own beside it, as ``deliver`` makes it. # decision 877

A job that is imported alone is that of the group that waits for its run, or has it, and no job
beside it, whichever of both comes first. # decisions 946, 956 and 1006

What a run was charged stays with it wherever an import says nothing of a Charge, also of a job
alone: whoever tells of a run, such as its epilog, need not know what it cost. # decision 914
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from itertools import count
from operator import itemgetter
from typing import NamedTuple

from sssjob import units
from sssjob.defaults import resolve
from sssjob.document import loads
from sssjob.document.splice import rewrite
from sssjob.errors import InvalidValue
from sssjob.fold import JOB, Fact, placed
from sssjob.known_by import BEGAN, ENDED, WAITS, telling
from sssjob.model import (
    Block,
    Delivered,
    Job,
    JobDefaults,
    JobGroup,
    Property,
    belonging,
    jobs_of,
    without,
)
from sssjob.runs import OF_A_RUN, Run, among, are_near, moment, waits
from sssjob.states import is_over
from sssjob.store.flat_properties import flat_properties, jobs_in
from sssjob.store.identity import Marks, ids_of, is_same_job, marks_of
from sssjob.store.settling import charge_of, owner_of

_CHARGE = "Charge"
_OF_A_RUN = OF_A_RUN | {"GlobalId", "SubmitTime", "State", "StatusMessage"}
_DURATIONS = ("Duration", "CpuDuration")
_SHOWN = 3  # Ids of jobs that a message names


class Kept(Enum):
    """Why a group keeps the run of a job, or of several, and not what is imported of them."""

    OLDER = "this is older, and tells less of it", "this is older, and tells less of them"
    OTHER = (
        "this has another one, which is kept beside it",
        "this has others, which are kept beside it",
    )
    GONE = "it is not in this", "they are not in this"


class Regrouped(NamedTuple):
    """A group as it is to be kept, the runs beside it, and whose runs it keeps, and why."""

    group: bytes
    beside: Sequence[Job]
    kept: Sequence[tuple[Kept, Sequence[str]]]

    def told(self, id_: str) -> Iterator[str]:
        """What is to be said of it."""
        for why, ids in self.kept:
            more = len(ids) - _SHOWN
            some = ", ".join(ids[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
            one, many = why.value
            runs = f"run of job {some}: {one}" if len(ids) == 1 else f"runs of jobs {some}: {many}"
            yield f"JobGroup {id_} keeps the {runs}"


class RunEvidence(NamedTuple):
    """How much a job tells of its run, and what else says that there was one.

    ``used`` is wall time, processor time or a charge that is not zero, and ``is_over`` what its
    State says.
    """

    telling: tuple[int, float, bool]
    has_begun: bool
    used: bool
    is_over: bool = False
    says_charge: bool = False
    has_run: bool = False  # two of: it began, it ended, it used something
    wall: float = 0  # seconds, 0 where none are told

    @classmethod
    def told(
        cls, start: object, end: object, wall: float | None, cpu: object, charge: object,
        state: object = None, owned_by: str = "",
    ) -> RunEvidence:  # fmt: skip
        """Of what a job says; None is not stated. Amounts are numbers."""
        return cls(
            telling(start, end, wall, owned_by), start is not None, any((wall, cpu, charge)),
            isinstance(state, str) and is_over(state), charge is not None,
            sum((start is not None, end is not None, bool(wall or cpu))) > 1, wall or 0,
        )  # fmt: skip

    @classmethod
    def of(cls, job: Job, owned_by: str = "") -> RunEvidence:
        """Of a job object, whose owner is told where owners tell runs apart."""
        wall, cpu, charge = (_number(job, name) for name in ("Duration", "CpuDuration", _CHARGE))
        start, end = moment(job, "StartTime"), moment(job, "EndTime")
        real = None if wall is None else _real(wall)
        return cls.told(start, end, real, cpu, charge, job.get("State"), owned_by)

    @property
    def is_used(self) -> bool:
        """Whether something would go with it."""
        return self.telling[0] != WAITS or self.used

    @property
    def says_use(self) -> bool:
        """Whether it used something, or says what it was charged, if that was nothing."""
        return self.used or self.says_charge

    def is_less_than(self, known: RunEvidence) -> bool | None:
        """Whether it is older than what is known of the run; None where neither is more.

        One that ended without having begun, and used nothing, is none that ran, and one that names
        nobody does not replace one that does; else one that ended tells what is new.
        # decisions 827 and 978
        One that waits, or is over and tells no time, is older than one that used something or was
        charged, told by no times, unless it ``says_use`` itself: then it is older than a run that
        has ended, unless it is charged, or over and tells no less wall time, and than more of it.
        """
        mine, its = self.telling, known.telling
        if mine[0] == ENDED:
            if known.has_run and not (self.has_begun or self.says_use):
                return True
            return (its[2] and not mine[2] and mine < its) or None
        if mine[0] == WAITS and self.says_use:
            if its[0] == WAITS:
                return -1 < mine[1] < its[1] or None
            is_done = self.says_charge or (self.is_over and self.wall >= known.wall)
            return (its[0] == ENDED and not is_done) or None
        if mine[0] == its[0] == WAITS:
            return known.used or None
        has_no_wall = -1 in (mine[1], its[1])
        if its == mine or (its[0] == mine[0] == BEGAN and has_no_wall):
            return None
        return mine < its


class _MemberJob(NamedTuple):
    """A job of a group as it is written, with the defaults of the group, and what it tells."""

    written: Job
    whole: Job
    run: Run
    told: RunEvidence

    @classmethod
    def alone(cls, job: Job) -> _MemberJob:
        """One that stands alone, or came so."""
        return cls(job, job, Run.of_job(job), RunEvidence.of(job))

    @property
    def marks(self) -> Marks:
        """What tells its run, and whose it is."""
        return _marks(self.whole)

    @property
    def ids(self) -> tuple[str, ...]:
        """The Ids by which it may be told of, its own first."""
        return _ids(self.whole)

    def is_job(self, job: Job) -> bool:
        """Whether another one is the same job, by its Id or by another one; users may differ."""
        return is_same_job(job.id, _marks(job), self.whole.id, self.marks)

    def is_run_of(self, known: _MemberJob) -> bool:
        """Whether it may be the run of one that is there."""
        found = among(self.whole, [known.whole], lambda whole: whole)
        return bool(found) and self.is_job(known.whole)

    def with_charge_of(self, known: _MemberJob) -> _MemberJob:
        """The same, with what is known that its run was charged, if it says nothing of that.

        Jobs without an Id are nobody's that can be told but for whom they name.
        """
        charge = _kept_charge(known.whole, self.whole)
        is_named = self.written.id or owner_of(self.whole) == owner_of(known.whole)
        if charge is None or not is_named:
            return self
        written, whole = (placed(each, charge) for each in (self.written, self.whole))
        return self._replace(written=written, whole=whole)


def _kept_charge(known: Job, new: Job) -> Fact | None:
    """What a job is known to be charged, if one that is imported says nothing of a Charge."""
    if _CHARGE in flat_properties(new) or not charge_of(known):
        return None
    return Fact(Property(_CHARGE, flat_properties(known)[_CHARGE].text), JOB)


def charged(there: bytes, new: bytes) -> bytes:
    """A job alone that is imported, with what the one that is there was charged."""
    [(_, known)], [(_, coming)] = jobs_in(loads(there)), jobs_in(loads(new))
    charge = _kept_charge(known, coming)
    return new if charge is None else b"".join(rewrite(new, lambda job: placed(job, charge)))


class GroupMembers:
    """A group that takes in runs of its jobs that stand alone, or come so."""

    def __init__(self, document: bytes) -> None:
        group = loads(document)
        assert isinstance(group, JobGroup)
        self._document, self._namespace = document, group.namespace
        self._jobs = list(_jobs(group))
        self._by_id: dict[str, list[int]] = defaultdict(list)
        for place, each in enumerate(self._jobs):
            for id_ in each.ids:
                self._by_id[id_].append(place)
        self._changes: dict[int, Job] = {}

    @property
    def document(self) -> bytes:
        """The group with what it has taken in."""
        return _rewritten(self._document, self._changes, ()) if self._changes else self._document

    def named(self, job: Job) -> Iterator[tuple[int, _MemberJob]]:
        """What may be this job, and of its user where users tell runs apart, with their places."""
        for place in sorted({place for id_ in _ids(job) for place in self._by_id.get(id_, ())}):
            member = self._jobs[place]
            if member.is_job(job) and _marks(member.whole).are_of_one_user(_marks(job)):
                yield place, member

    def at(self, place: int) -> Job:
        """The job in a place, as it is written."""
        return self._jobs[place].written

    def take(self, place: int, run: Job) -> None:
        """Let a job that comes alone be the one in a place: what is older does not stay so."""
        self._change(place, run)

    def take_known(self, place: int, run: Job) -> None:
        """Let a run that was there before the group be that of a job: what tells more of it stays.

        So does what it was charged, if the group says nothing of that.
        """
        member, alone = self._jobs[place], _MemberJob.alone(run)
        if member.told.is_less_than(alone.told):
            self._change(place, alone.with_charge_of(member).written)
        elif (charged := member.with_charge_of(alone)) is not member:
            self._changes[place], self._jobs[place] = charged.written, charged

    def _change(self, place: int, run: Job) -> None:
        known = self._jobs[place].written
        changed = _with_request(belonging(run, self._namespace), known)
        self._changes[place], self._jobs[place] = changed, _MemberJob.alone(changed)


def home(
    run: Job, groups: Mapping[int, GroupMembers], *, has_begun: bool = False
) -> tuple[int, int] | None:
    """The group of a job that stands alone, by its number, and the place there.

    With ``has_begun`` jobs that wait for it do not count. None where it is of none, or may be of
    several; those that wait count where none has run, and of several that began when it did, the
    first one counts: it is there already.
    """
    own = ((number, *each) for number, group in groups.items() for each in group.named(run))
    found = among(run, own, lambda each: each[2].whole)
    ran = [each for each in found if not waits(each[2].whole)]
    start = moment(run, "StartTime")
    same = [each for each in ran if are_near(start, each[2].run.times.started)]
    found = [min(same, key=itemgetter(0))] if same else ran if has_begun else ran or found
    return found[0][:2] if len(found) == 1 else None


def uncharged(document: bytes) -> bytes:
    """A job alone without what it was charged, as that stands elsewhere."""
    return b"".join(rewrite(document, _uncharged))


def _uncharged(job: Block) -> Block:
    items = (_uncharged(item) if isinstance(item, Delivered) else item for item in job.items)
    return without(job.holding(items), _CHARGE)


def _marks(job: Job) -> Marks:
    """What tells the run of a job, with its user, who may tell it. # decisions 820, 1200"""
    return marks_of(job).of_user(job.id, owner_of(job).user)


def _ids(job: Job) -> tuple[str, ...]:
    """The Ids by which a job may be told of, its own first."""
    return ids_of("Job", job.id, _marks(job))


# decision 973
def _with_request(run: Job, known: Job) -> Job:
    """A run that came alone, with what the job of its group requests, and this says nothing of."""
    names = {item.name for item in run.properties} | _OF_A_RUN
    kinds = {Delivered, *(type(item) for item in run.items if isinstance(item, Block))}
    blocks = [item for item in run.items if isinstance(item, Block)]
    requested = [item for item in known.properties if item.name not in names]
    others = [item for item in known.items if isinstance(item, Block) and type(item) not in kinds]
    return run.holding((*run.properties, *requested, *others, *blocks))


def regrouped(there: bytes, new: bytes) -> Regrouped | None:
    """What becomes of a group; None where what is imported is its next version as it is."""
    group, coming = loads(there), loads(new)
    assert isinstance(group, JobGroup)
    assert isinstance(coming, JobGroup)
    came, theirs = list(_jobs(coming)), list(_jobs(group))
    places = _matched(came, theirs)
    mine = _with_charges(came, theirs, places)
    matches = [None if place is None else mine[place] for place in places]
    ids = {id_ for each in theirs for id_ in each.ids}
    came_as = {id_ for each in mine for id_ in each.ids}
    kept: dict[Kept, list[str]] = defaultdict(list)
    for known, found in zip(theirs, matches, strict=True):
        if (why := _why_kept(known, found, came_as)) is not None:
            kept[why].append(known.written.id)
    if not kept:
        changes = {
            place: each.written
            for place, (each, as_it_came) in enumerate(zip(mine, came, strict=True))
            if each is not as_it_came
        }
        return Regrouped(_rewritten(new, changes, ()), (), ()) if changes else None
    taken = {id(each) for each in matches if each is not None}
    left = [each for each in mine if id(each) not in taken]
    is_framed = group.blocks(JobDefaults) == coming.blocks(JobDefaults)
    added = [_in_frame(each, is_framed) for each in left if ids.isdisjoint(each.ids)]
    changes = {
        place: _in_frame(found, is_framed)
        for place, (known, found) in enumerate(zip(theirs, matches, strict=True))
        if found is not None
        and found.whole != known.whole
        and not found.told.is_less_than(known.told)
    }
    document = _rewritten(there, changes, added) if changes or added else there
    beside = [_alone(each) for each in left if not ids.isdisjoint(each.ids)]
    return Regrouped(document, beside, [*kept.items()])


def _jobs(group: JobGroup) -> Iterator[_MemberJob]:
    whole = jobs_of(resolve(group).block)
    for written, each in zip(group.jobs, whole, strict=True):
        yield _MemberJob(written, each, Run.of_job(each), RunEvidence.of(each))


def _matched(mine: Sequence[_MemberJob], theirs: Sequence[_MemberJob]) -> list[int | None]:
    """The place of the job of the same run for each of those that are there, each of them once."""
    by_id: dict[str, list[int]] = defaultdict(list)
    for place, each in enumerate(mine):
        for id_ in each.ids:
            by_id[id_].append(place)
    found: list[int | None] = []
    taken: set[int] = set()
    for known in theirs:
        some = (place for id_ in known.ids for place in by_id.get(id_, ()) if place not in taken)
        same = next((place for place in some if mine[place].is_run_of(known)), None)
        if same is not None:
            taken.add(same)
        found.append(same)
    return found


def _with_charges(
    mine: Sequence[_MemberJob], theirs: Sequence[_MemberJob], places: Sequence[int | None]
) -> list[_MemberJob]:
    """The jobs of a group that comes, with what is known that their runs were charged."""
    found = [*mine]
    for known, place in zip(theirs, places, strict=True):
        if place is not None:
            found[place] = found[place].with_charge_of(known)
    return found


def _why_kept(known: _MemberJob, found: _MemberJob | None, came_as: Collection[str]) -> Kept | None:
    if found is not None:
        return Kept.OLDER if found.told.is_less_than(known.told) else None
    if not known.told.is_used:
        return None
    is_there = any(id_ in came_as for id_ in known.ids)
    return Kept.OTHER if is_there else Kept.GONE


def _in_frame(job: _MemberJob, is_framed: bool) -> Job:
    """A job for the group that is there; the defaults of another one go with it."""
    return job.written if is_framed else job.whole


def _rewritten(group: bytes, changes: Mapping[int, Job], added: Sequence[Job]) -> bytes:
    """A group with other jobs in some places, and some behind all."""
    return b"".join(rewrite(group, lambda block: _changed(block, changes, added)))


def _changed(group: Block, changes: Mapping[int, Job], added: Sequence[Job]) -> Block:
    places = count()
    items = [changes.get(next(places), item) if type(item) is Job else item for item in group.items]
    return group.holding((*items, *added))


def _alone(job: _MemberJob) -> Job:
    """A run as a document of its own: what a group was charged by default is not its."""
    return job.whole if job.written.get(_CHARGE) else without(job.whole, _CHARGE)


def _real(number: Fraction) -> float:
    """A number as columns have it; one beyond all of theirs is more than any."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _number(job: Job, name: str) -> Fraction | None:
    """An amount as a job says it, what was delivered first; a duration is in seconds."""
    read = units.duration if name in _DURATIONS else units.number
    for block in (*job.blocks(Delivered), job):
        for item in block.properties.all(name):
            try:
                return Fraction(read(item.text))
            except InvalidValue:
                continue
    return None
