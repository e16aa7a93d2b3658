"""Jobs are submitted exactly once, whatever ends this process, and whenever. # decision 214

1. All jobs are translated. What must not be left out refuses all of them.
2. Each job gets a GlobalId, if it has none, and the document is written.
3. Under the lock of its GlobalId, the batch system is asked for a job with the mark of it, unless
   the GlobalId has just been made. Only if there is none, and all questions were answered, is the
   job submitted: held, and marked. The command inherits the lock.
4. Id, SubmitTime and State are written into the document. As the job is held it cannot have run
   and gone before that.
5. The job is released, and its State written.

Whoever calls again goes on where this ended: before 3 the job is submitted, between 3 and 4 it is
found by its mark, between 4 and 5 its State is Hold without a Hold of its user, and it is released.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from sssjob.commands import CommandFailed
from sssjob.errors import Finding, InvalidValue, Severity, finding
from sssjob.model import Job, stripped
from sssjob.submission.calling import Caller, How
from sssjob.submission.control import HOLD, Seen, control, mark_of
from sssjob.submission.editing import naming, saying, setting
from sssjob.submission.locks import locked
from sssjob.submission.places import Place
from sssjob.submission.planning import NotSubmitted, Plan, Planned, plan
from sssjob.translate import Loss, Settings

IDLE = "Idle"


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
class Wish:
    """What is wanted of a submission: ``hold`` submits jobs that stay held.

    ``chosen`` tells which jobs of the document; a job of them may wait for others that are
    submitted already. ``settings`` are those of translations.
    """

    to: str
    hold: bool = False
    settings: Settings = field(default_factory=Settings)
    chosen: Callable[[Job], bool] = lambda job: True


def prepared(place: Place, wish: Wish, how: How | None = None) -> Plan:
    """All jobs translated, and nothing submitted. Raises ``NotSubmitted``."""
    how = how or How()
    to = control(wish.to)
    return plan(place.blocks(), place.files(), to, wish.settings, wish.chosen, how.user)


def shown(found: Plan, planned: Planned) -> tuple[list[str], str]:
    """The command that submits a job, and what it is given.

    A GlobalId that is still to be made is all zeros, and ids of jobs that are not there are 1.
    """
    name = stripped(planned.written.get("GlobalId")) or uuid.UUID(int=0).urn
    words, text = found.control.mark(found.control.target, found.text(planned), mark_of(name))
    return [*found.control.submit, *words], text


def submit(place: Place, wish: Wish, how: How | None = None) -> Iterator[Submitted]:
    """Submit the jobs of a place in their order, each once; each is told when it is submitted.

    Raises ``NotSubmitted`` before any job is; ``CommandFailed`` where the batch system refuses
    one, or does not answer; ``Busy``; ``Changed``; and ``OSError`` and ``UnreadableDocument`` for
    the document. Those behind the one that fails are not submitted, and a later call goes on
    with it.
    """
    how = how or How()
    to = control(wish.to)
    with locked(how.place, place.name, how.patience) as lock:
        found = plan(place.blocks(), place.files(), to, wish.settings, wish.chosen, how.user)
        work = _Work(place, found, Caller(to, how), wish.hold, lock, _named(place, found))
        for planned in found.jobs:
            yield work.done(planned)


def _named(place: Place, found: Plan) -> Mapping[int, _Name]:
    """The GlobalIds of jobs by their places; those that are new are in the document then.

    Raises ``NotSubmitted`` where two jobs have the same.
    """
    names: dict[int, _Name] = {}
    for planned in found.jobs:
        text = stripped(planned.written.get("GlobalId"))
        new = not text and not planned.submitted
        names[planned.place] = _Name(uuid.uuid4().urn if new else text, new)
    texts = [name.text for name in names.values() if name.text]
    if twice := sorted({text for text in texts if texts.count(text) > 1}):
        raise NotSubmitted(
            finding("E-DUP", f"several jobs have the GlobalId {text!r}") for text in twice
        )
    naming(place, {
        planned.place: (planned.written, names[planned.place].text)
        for planned in found.jobs if names[planned.place].new
    })  # fmt: skip
    return names


class _Name(NamedTuple):
    """A GlobalId; of a ``new`` one no batch system can have a job yet."""

    text: str
    new: bool


@dataclass(frozen=True, slots=True)
class _Work:
    """A submission that goes on, under the lock of its place."""

    place: Place
    plan: Plan
    caller: Caller
    hold: bool
    lock: int
    names: Mapping[int, _Name]

    def done(self, planned: Planned) -> Submitted:
        """A job that the batch system has, and the document knows it."""
        return replace(self, caller=self.caller.about(planned.job))._done(planned)

    def _done(self, planned: Planned) -> Submitted:
        name = self.names[planned.place]
        if planned.submitted:
            seen = Seen(planned.written.id, stripped(planned.written.get("State")))
            state, new = self._let_go(planned, name.text, seen, known=True), False
        else:
            how = self.caller.how
            with locked(how.place, f"job {name.text}", how.patience) as own:
                there = None if name.new else self.caller.find(name.text)
                seen = there or self._submit(planned, name.text, (self.lock, own))
                self.plan.ids[planned.place] = seen.id
                self._record(planned, name.text, seen)
                state, new = self._let_go(planned, name.text, seen), there is None
        told = (*planned.findings, *self._elsewhere(planned))
        return Submitted(seen.id, name.text, state, new, planned.written, told, planned.losses)

    def _elsewhere(self, planned: Planned) -> Iterator[Finding]:
        """What is to be said of a job that another batch system has."""
        job = planned.written
        text = stripped(job.get("ResourceManagerType"))
        if planned.submitted and text and not self._is_ours(planned):
            said = f"job {job.id} is submitted to {text} already"
            yield finding("E-REF", said, line=job.line, severity=Severity.WARNING)

    def _submit(self, planned: Planned, name: str, locks: Sequence[int]) -> Seen:
        """Submit a job, held and marked.

        A command that fails may have been heard nevertheless, so the batch system is asked.
        """
        mark = self.caller.control.mark
        words, text = mark(self.plan.control.target, self.plan.text(planned), mark_of(name))
        try:
            id_ = self.caller.submit(words, text, locks)
        except (CommandFailed, InvalidValue):
            if (seen := self.caller.find(name)) is None:
                raise
            return seen
        return Seen(id_, HOLD)

    def _record(self, planned: Planned, name: str, seen: Seen) -> None:
        """Write what the job is now into its document."""
        system = self.caller.control.system
        submitted = seen.submitted or str(int(time.time()))

        def edit(job: Job) -> Job:
            job = saying(job, Id=seen.id, SubmitTime=submitted, State=seen.state)
            if not stripped(job.get("ResourceManagerType")):
                job = saying(job, ResourceManagerType=system)
            if self.hold and not stripped(planned.job.get("Hold")):
                job = saying(job, Hold="User")
            return job

        setting(self.place, name, seen.id, edit, planned.written.id)

    def _let_go(self, planned: Planned, name: str, seen: Seen, *, known: bool = False) -> str:
        """Release a job that is held only because it was being submitted; gives its State."""
        if seen.state != HOLD or self.hold or stripped(planned.job.get("Hold")):
            return seen.state
        if known:
            if not self._is_ours(planned) or (now := self.caller.job(seen.id)) is None:
                return seen.state
            seen = now
        if seen.state == HOLD:
            self.caller.tell(self.caller.control.release, seen.id)
            seen = seen._replace(state=IDLE)
        setting(self.place, name, seen.id, lambda job: saying(job, State=seen.state))
        return seen.state

    def _is_ours(self, planned: Planned) -> bool:
        """Whether the batch system that a job is submitted to is this one."""
        return self.caller.control.manages(planned.written.get("ResourceManagerType"))
