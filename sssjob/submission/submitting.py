"""Jobs are submitted exactly once, whatever ends this process, and whenever. # decision 214

Strategy. A command that submits may end before it prints an id, or this process before it reads it:
the job is there, and nobody knows. Who then submits again has it twice; who does not may have none.

The idea is that each job carries a mark by which its batch system can be asked for it, and is held
until its document names its id.

1. All jobs are translated. What must not be left out refuses all of them.
2. Each job gets a GlobalId, if it has none, and the document is written.
3. Under the lock of its GlobalId, the batch system is asked for a job with the mark of it, unless
   the GlobalId has just been made. Only if there is none, and all questions were answered, is the
   job submitted: held, and marked. The command inherits the lock.
4. Id, SubmitTime and State are written into the document. As the job is held it cannot have run
   and gone before that.
5. The job is released, and its State written.

Jobs take steps 3 to 5 in batches, of which there are few however many jobs there are: the document
is written once for all in step 4, and once in step 5.

Why it is right: whoever calls again goes on where this ended. Before 3 the job is submitted,
between 3 and 4 it is found by its mark, between 4 and 5 its State is Hold without a Hold of its
user, and it is released.
"""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, TypeVar

from sssjob.commands import CommandFailed
from sssjob.errors import Finding, InvalidValue, Severity, SSSJobError, finding
from sssjob.model import Job, stripped
from sssjob.submission.calling import Caller, How
from sssjob.submission.control import HOLD, Seen, control, mark_of
from sssjob.submission.editing import Edited, naming, saying, setting
from sssjob.submission.locks import locked
from sssjob.submission.places import Place
from sssjob.submission.planning import NotSubmitted, Planned, SubmissionPlan, plan
from sssjob.translate import Loss, Settings

A = TypeVar("A")
B = TypeVar("B")

IDLE = "Idle"

_FIRST = 64  # the part of all jobs that the first batch has


class Submitted(NamedTuple):
    """A job that its batch system has. ``new`` tells that this call submitted it.

    ``job`` is the job as the document had it.
    """

    id: str
    global_id: str
    state: str
    new: bool
    job: Job
    findings: tuple[Finding, ...] = ()
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True, slots=True)
class SubmitOptions:
    """What is wanted of a submission: ``hold`` submits jobs that stay held.

    ``chosen`` tells which jobs of the document; a job of them may wait for others that are
    submitted already. ``settings`` are those of translations.
    """

    to: str
    hold: bool = False
    settings: Settings = field(default_factory=Settings)
    chosen: Callable[[Job], bool] = lambda job: True


def prepared(place: Place, options: SubmitOptions, how: How | None = None) -> SubmissionPlan:
    """All jobs translated, and nothing submitted. Raises ``NotSubmitted``."""
    how = how or How()
    to = control(options.to)
    return plan(place.held(), to, options.settings, options.chosen, how.user)


def shown(found: SubmissionPlan, planned: Planned) -> tuple[list[str], str]:
    """The command that submits a job, and what it is given.

    A GlobalId that is still to be made is all zeros, and ids of jobs that are not there are 1.
    """
    name = stripped(planned.written.get("GlobalId")) or uuid.UUID(int=0).urn
    words, text = found.control.mark(found.control.target, found.text(planned), mark_of(name))
    return [*found.control.submit, *words], text


def submit(place: Place, options: SubmitOptions, how: How | None = None) -> Iterator[Submitted]:
    """Submit the jobs of a place in their order, each once; each is told when it is submitted.

    Raises ``NotSubmitted`` before any job is; ``CommandFailed`` where the batch system refuses
    one, or does not answer; ``Busy``; ``Changed``; and ``OSError`` and ``UnreadableDocument`` for
    the document. Those behind the one that fails are not submitted, and a later call goes on
    with it.
    """
    how = how or How()
    to = control(options.to)
    with locked(how.place, place.name, how.patience) as lock:
        found = plan(place.held(), to, options.settings, options.chosen, how.user)
        work = _OpenSubmission(
            place, found, Caller(to, how), options.hold, lock, _named(place, found)
        )
        for batch in _batches(found.jobs):
            yield from work.done(batch)


def _named(place: Place, found: SubmissionPlan) -> Mapping[int, _GlobalId]:
    """The GlobalIds of jobs by their places; those that are new are in the document then.

    Raises ``NotSubmitted`` where two jobs have the same.
    """
    names: dict[int, _GlobalId] = {}
    for planned in found.jobs:
        text = stripped(planned.written.get("GlobalId"))
        new = not text and not planned.submitted
        names[planned.place] = _GlobalId(uuid.uuid4().urn if new else text, new)
    times = Counter(name.text for name in names.values() if name.text)
    if twice := sorted(text for text, number in times.items() if number > 1):
        raise NotSubmitted(
            finding("E-DUP", f"several jobs have the GlobalId {text!r}") for text in twice
        )
    naming(place, {
        planned.place: (planned.written, names[planned.place].text)
        for planned in found.jobs if names[planned.place].new
    })  # fmt: skip
    return names


class _GlobalId(NamedTuple):
    """A GlobalId; of a ``new`` one no batch system can have a job yet."""

    text: str
    new: bool


class _There(NamedTuple):
    """A job that the batch system has; ``new`` if this call submitted it.

    ``known`` tells that its document knew that already.
    """

    planned: Planned
    seen: Seen
    new: bool = False
    known: bool = False
    submitted: str = ""


@dataclass(frozen=True, slots=True)
class _OpenSubmission:
    """A submission that goes on, under the lock of its place."""

    place: Place
    plan: SubmissionPlan
    caller: Caller
    hold: bool
    lock: int
    names: Mapping[int, _GlobalId]

    def done(self, batch: Sequence[Planned]) -> Iterator[Submitted]:
        """Jobs that the batch system has, and the document knows them; up to one that fails.

        Whatever ends this, what has been submitted is in the document.
        """
        there: list[_There] = []
        try:
            failed = _each(self._submitted, batch, there)
        finally:
            self._record(there)
        let_go: list[Submitted] = []
        try:
            failed = _each(self._let_go, there, let_go) or failed
        finally:
            self._keep(there, let_go)
        yield from let_go
        if failed is not None:
            raise failed

    def _submitted(self, planned: Planned) -> _There:
        """A job that the batch system has: it had it, or it was submitted, held and marked."""
        if planned.submitted:
            seen = Seen(planned.written.id, stripped(planned.written.get("State")))
            return _There(planned, seen, known=True)
        name = self.names[planned.place]
        caller = self.caller.about(planned.job)
        how = caller.how
        with locked(how.place, f"job {name.text}", how.patience) as own:
            there = None if name.new else caller.find(name.text)
            seen = there or self._submit(caller, planned, name.text, (self.lock, own))
        self.plan.ids[planned.place] = seen.id
        return _There(
            planned, seen, there is None, submitted=seen.submitted or str(int(time.time()))
        )

    def _submit(
        self, caller: Caller, planned: Planned, name: str, locks: Sequence[int]
    ) -> Seen:  # fmt: skip
        """Submit a job, held and marked.

        A command that fails may have been heard nevertheless, so the batch system is asked.
        """
        mark = caller.control.mark
        words, text = mark(self.plan.control.target, self.plan.text(planned), mark_of(name))
        try:
            id_ = caller.submit(words, text, locks)
        except (CommandFailed, InvalidValue):
            if (seen := caller.find(name)) is None:
                raise
            return seen
        return Seen(id_, HOLD)

    def _record(self, there: Sequence[_There]) -> None:
        """Write what jobs are now into their document, all at once."""
        setting(self.place, *(
            Edited(
                self.names[each.planned.place].text, each.planned.written.id,
                partial(self._recorded, each), each.seen.id,
            )
            for each in there if not each.known
        ))  # fmt: skip

    def _recorded(self, each: _There, job: Job) -> Job:
        """A job as its document knows it now; its Id is another one, too."""
        job = saying(job, SubmitTime=each.submitted, State=each.seen.state)
        if not stripped(job.get("ResourceManagerType")):
            job = saying(job, ResourceManagerType=self.caller.control.system)
        if self.hold and not stripped(each.planned.job.get("Hold")):
            job = saying(job, Hold="User")
        return job

    def _let_go(self, each: _There) -> Submitted:
        """A job with its State, released if it is held only because it was being submitted."""
        planned, seen = each.planned, each.seen
        if seen.state == HOLD and not self.hold and not stripped(planned.job.get("Hold")):
            seen = self._released(each)
        told = (*planned.findings, *self._elsewhere(planned))
        name = self.names[planned.place].text
        return Submitted(
            seen.id, name, seen.state, each.new, planned.written, told, planned.losses
        )  # fmt: skip

    def _released(self, each: _There) -> Seen:
        """A job of ours after its release; one that is not held any more needs none."""
        seen = each.seen
        caller = self.caller.about(each.planned.job)
        if each.known:
            if not self._is_ours(each.planned) or (now := caller.job(seen.id)) is None:
                return seen
            seen = now
        if seen.state != HOLD:
            return seen
        try:
            caller.tell(caller.control.release, seen.id)
        except CommandFailed:
            # Who submits a copy of the document may have found the job, and released it.
            if (now := caller.job(seen.id)) is None or now.state == HOLD:
                raise
            return now
        return seen._replace(state=IDLE)

    def _keep(self, there: Sequence[_There], let_go: Sequence[Submitted]) -> None:
        """Write the States of jobs that were released into their document, all at once."""
        setting(self.place, *(
            Edited(done.global_id, done.id, partial(saying, State=done.state))
            for each, done in zip(there, let_go, strict=False)
            if done.state != each.seen.state
        ))  # fmt: skip

    def _elsewhere(self, planned: Planned) -> Iterator[Finding]:
        """What is to be said of a job that another batch system has."""
        job = planned.written
        text = stripped(job.get("ResourceManagerType"))
        if planned.submitted and text and not self._is_ours(planned):
            said = f"job {job.id} is submitted to {text} already"
            yield finding("E-REF", said, line=job.line, severity=Severity.WARNING)

    def _is_ours(self, planned: Planned) -> bool:
        """Whether the batch system that a job is submitted to is this one."""
        return self.caller.control.manages(planned.written.get("ResourceManagerType"))


def _batches(jobs: Sequence[Planned]) -> Iterator[Sequence[Planned]]:
    """A bounded number of batches, each twice as long as the one before.

    Each is written into the document at once, so that what is written grows as the document, and
    not as its square; and the first jobs need not wait for the last ones.
    """
    size = max(len(jobs) // _FIRST, 1)
    start = 0
    while start < len(jobs):
        yield jobs[start : start + size]
        start += size
        size *= 2


def _each(work: Callable[[A], B], items: Iterable[A], done: list[B]) -> Exception | None:
    """Do something with each until it fails; gives why it failed."""
    for item in items:
        try:
            done.append(work(item))
        except (SSSJobError, OSError) as error:
            return error
    return None
