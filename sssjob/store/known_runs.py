"""Which of the runs that a store has a document is about, and which tells more of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_

from sssjob.document import loads
from sssjob.model import Job
from sssjob.runs import Run, are_near
from sssjob.store import columns
from sssjob.store.cells import only
from sssjob.store.columns import NAMES
from sssjob.store.engine import Engine, Row
from sssjob.store.flat_properties import jobs_in
from sssjob.store.identity import known_as, near
from sssjob.store.incoming import Incoming
from sssjob.store.packing import NotUnpacked, Packing
from sssjob.store.regrouping import RunEvidence
from sssjob.store.versions import PresentDocument

_STARTED, _ENDED, _CPU, _STATE, _CHARGE = (
    NAMES.index(columns.name_of(path))
    for path in ("StartTime", "EndTime", "CpuDuration", "State", "Charge")
)
# How long a job ran so far: what was delivered, or else its own Duration, as in reports.
WALL = [columns.name_of(path) for path in ("Delivered/Duration", "Duration")]
_WALL_PLACES = [NAMES.index(name) for name in WALL]
_TOLD_BY = (
    "StartTime",
    "EndTime",
    "Delivered/Duration",
    "Duration",
    "CpuDuration",
    "Charge",
    "State",
)
_NOT_TOLD = reduce(or_, map(columns.bit, _TOLD_BY))  # values that their columns cannot tell
_TOLD = (
    f"SELECT max({NAMES[_STARTED]}), max({NAMES[_ENDED]}), max(coalesce({', '.join(WALL)})), "
    f"max({NAMES[_CPU]}), max({NAMES[_CHARGE]}), max({columns.ODD} & {_NOT_TOLD}) "
    "FROM job WHERE document = ?"
)
_ODD = NAMES.index(columns.ODD)
_HAS_END = (
    f"SELECT 1 FROM job WHERE document = ? AND ({columns.ODD} <> 0 OR "
    f"{NAMES[_ENDED]} IS NOT NULL) LIMIT 1"
)


class KnownRuns:
    """The runs that a store has, for documents that come within one transaction.

    ``keeps_ended`` as ``DocumentWriter`` has it.
    """

    def __init__(self, engine: Engine, packing: Packing, *, keeps_ended: bool) -> None:
        self._engine, self._packing, self._keeps_ended = engine, packing, keeps_ended

    def about(self, incoming: Incoming, runs: Iterable[PresentDocument]) -> PresentDocument | None:
        """The document of the run that one which comes is about.

        One that names no user may be about several, and is about the one that tells most.
        """
        runs = [run for run in runs if not self._is_told_apart(incoming, run)]
        told = incoming.name, incoming.id, incoming.marks
        run = known_as(*told, runs)
        if run is None and self._keeps_ended and incoming.name == "Job":
            some = [each for each in runs if (each.name, each.id) == told[:2]]
            # What waits may be submitted anew, a second later, too.
            is_run = bool(incoming.marks.started) or self._has_run(incoming)
            return (self._by_times if is_run else _that_began)(incoming, some)
        if run is None or incoming.marks.whose or not run.marks.whose:
            return run
        others = [each for each in runs if each.marks.whose != run.marks.whose]
        found = [each for each in (run, *others) if known_as(*told, [each]) is not None]
        return max(found, key=lambda each: self._told_of(each).telling) if len(found) > 1 else run

    def _has_run(self, incoming: Incoming) -> bool:
        """Whether a job without times used something, says what it was charged, or is over."""
        told = self._told(incoming)
        return told.says_use or told.is_over

    def _by_times(
        self, incoming: Incoming, runs: Sequence[PresentDocument]
    ) -> PresentDocument | None:
        """The run that times tell which are not told exactly, or the job that waits for it."""
        found = near(incoming.marks, runs) or self._waiting(incoming, runs)
        if found is not None or not _may_have_ended(incoming.rows):
            return found
        ended = (run for run in runs if not run.marks.started and self._has_end(run))
        return next((run for run in ended if self._spans(incoming, run)), None)

    def _spans(self, incoming: Incoming, present: PresentDocument) -> bool:
        """Whether what comes and what is there began and ended at one time. # decision 970"""
        nobody = incoming.marks.of_user_alone._replace(global_id=incoming.marks.global_id)
        told = self._jobs_of(incoming, present) if nobody.agree(present.marks) else None
        return told is not None and Run.of_job(told[0]).is_of_by_times(Run.of_job(told[1]))

    def _jobs_of(self, incoming: Incoming, present: PresentDocument) -> tuple[Job, Job] | None:
        """The job that comes and the one that is there; None where that is damaged."""
        try:
            documents = (
                self._packing.document(incoming.content),
                self._packing.unpack(present.dictionary, present.data),
            )
        except NotUnpacked:
            return None
        [(_, mine)], [(_, known)] = (jobs_in(loads(each)) for each in documents)
        return mine, known

    # decision 945
    def _waiting(
        self, incoming: Incoming, runs: Iterable[PresentDocument]
    ) -> PresentDocument | None:
        """The job that waits, and begins by what comes, whenever it was submitted."""
        told, nobody = incoming.marks.told, incoming.marks.of_user_alone
        for run in runs:
            if run.deleted or not told.may_begin(run.marks.told) or not nobody.agree(run.marks):
                continue
            if not self._told_of(run).is_used:
                return run
        return None

    # decisions 922, 926, 970 and 979
    def _is_told_apart(self, incoming: Incoming, present: PresentDocument) -> bool:
        """Whether what comes is of another run, as one of both had ended before the other began.

        Documents are opened only where that may be: as a rule what comes of a job that waits tells
        when it was submitted, which its document tells, too.
        """
        comes, there = (each.marks.told.times for each in (incoming, present))
        has_end = _may_have_ended(incoming.rows)
        if incoming.name != "Job" or present.name != "Job":
            return False
        if comes.started is not None and there.started is not None:
            may_be_short = comes.started != there.started and are_near(comes.started, there.started)
            return may_be_short and self._are_told_apart(incoming, present)
        begins = comes.started if there.submitted is not None else comes.started or comes.submitted
        may_be_later = (begins is not None or has_end) and self._has_end(present)
        may_be_earlier = has_end and (there.started is not None or there.submitted is not None)
        if not (may_be_later or may_be_earlier):
            return False
        return self._are_told_apart(incoming, present)

    def _are_told_apart(self, incoming: Incoming, present: PresentDocument) -> bool:
        told = self._jobs_of(incoming, present)
        if told is None:
            return False
        comes, there = (Run.of_job(job).times for job in told)
        return comes.is_told_apart(there)

    def _has_end(self, present: PresentDocument) -> bool:
        return bool(self._engine.fetch(_HAS_END, (present.number,)))

    def tells_less(self, incoming: Incoming, present: PresentDocument) -> bool | None:
        """Whether a job is of an open run, of which the one that is there tells more.

        False where it tells more itself; None where neither is known. What used something is none
        that waits, and what does not tell its wall time may tell other things.
        """
        mine, known = self._told(incoming), self._told_of(present)
        if incoming.is_cut and mine.telling <= known.telling:  # decision 962
            return True
        return mine.is_less_than(known)

    def _told_of(self, present: PresentDocument) -> RunEvidence:
        """How much a document that is there tells of its run."""
        rows = self._engine.fetch(_TOLD, (present.number,))
        what = f"what the jobs of {present.name} {present.id} used"
        start, end, wall, cpu, charge, is_odd = only(rows, self._engine.address, what)
        if is_odd and present.name == "Job":
            try:
                document = self._packing.unpack(present.dictionary, present.data)
                return _evidence(document, present.marks.whose)
            except NotUnpacked:
                pass  # the columns tell the rest
        return RunEvidence.told(start, end, wall, cpu, charge, owned_by=present.marks.whose)

    def _told(self, incoming: Incoming) -> RunEvidence:
        """How much a job that comes tells of its run."""
        if any(row[_ODD] & _NOT_TOLD for row in incoming.rows):
            return _evidence(self._packing.document(incoming.content), incoming.marks.whose)
        return _told_by(incoming.rows, incoming.marks.whose)


# decision 974
def _that_began(incoming: Incoming, runs: Iterable[PresentDocument]) -> PresentDocument | None:
    """The run that has begun since, of what waits: the first that began after its submission."""
    told, nobody = incoming.marks.told, incoming.marks.of_user_alone
    return min(
        (
            run for run in runs
            if nobody.agree(run.marks) and told.waited_for(run.marks.told)
        ),
        default=None, key=lambda run: (run.marks.told.times.started, run.number),
    )  # fmt: skip


def is_none_that_began(present: PresentDocument) -> bool:
    """Whether a document is hidden, or of a job that only waited."""
    return present.deleted or not present.marks.started


def _first(rows: Iterable[Row], at: int) -> object:
    """The first value in a place of rows; None if there is none."""
    return next((row[at] for row in rows if row[at] is not None), None)


def _evidence(document: bytes, whose: str) -> RunEvidence:
    """How much a job tells of its run, of a document."""
    [(_, job)] = jobs_in(loads(document))
    return RunEvidence.of(job, whose)


def _told_by(rows: Sequence[Row], whose: str) -> RunEvidence:
    """The same by its rows."""
    start, end, cpu, charge, state = (
        _first(rows, at) for at in (_STARTED, _ENDED, _CPU, _CHARGE, _STATE)
    )
    return RunEvidence.told(start, end, _wall(rows), cpu, charge, state, whose)


def _wall(rows: Iterable[Row]) -> float | None:
    walls = (row[at] for row in rows for at in _WALL_PLACES)
    return next((wall for wall in walls if isinstance(wall, int | float)), None)


def _may_have_ended(rows: Iterable[Row]) -> bool:
    return any(row[_ENDED] is not None or row[_ODD] for row in rows)
