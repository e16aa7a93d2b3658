"""Submit, Cancel, Hold, Release and Refresh: jobs of the store in a batch system.

A job that is submitted here is noted by its GlobalId, with the number of its document. Orders are
given about such jobs only: whoever may create jobs may write any Id into them. # decision 219
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sssjob.commands import CommandFailed
from sssjob.document import dumps
from sssjob.errors import InvalidValue, Refused, Severity
from sssjob.handlers.attributes import JOB
from sssjob.handlers.changes import reason, require_conditions
from sssjob.handlers.documents import carried
from sssjob.handlers.editing import WARNING, require_own, require_short, settable
from sssjob.handlers.finding import Search
from sssjob.handlers.query import document_of
from sssjob.handlers.roles import Reach
from sssjob.handlers.stores import Stores
from sssjob.handlers.view import View, only, views
from sssjob.model import Block, Job, stripped, walk
from sssjob.rmap.message import Request
from sssjob.rmap.responder import Answer, Call
from sssjob.store import Store, Stored
from sssjob.submission import (
    BECAME,
    OVER,
    Busy,
    Changed,
    How,
    InMemory,
    InStore,
    NotSubmitted,
    Order,
    Submitted,
    Wish,
    alter,
    control,
    is_there,
    prepared,
    record,
    states,
    steer,
    submit,
)
from sssjob.submission.planning import Plan
from sssjob.translate import read

ORDERS = {"Cancel": Order.CANCEL, "Hold": Order.HOLD, "Release": Order.RELEASE}
SLOW = frozenset(("Submit", "Refresh", *ORDERS))

# What only a batch system says of a job, or who runs this.
_SAID = (*BECAME, "State", "SubmitTime")
# What a document says of a job that is submitted, and no batch system is asked for.
_OURS = frozenset(("Application", "Charge", "Description", "Quote", "TimeCategory", "Type"))
# What commands of batch systems need of an environment, which may hold secrets.
_FOUND = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TZ", "USER", "CONDOR_CONFIG", "FLUX_URI")
_FOUND_BY = ("LSB_", "LSF_", "PBS_", "SGE_", "SLURM_")
_HOLD, _USER, _NULL = "Hold", "User", "NULL"
_UNDER_WAY = "submissions that are under way"
_LOOKED = "Refresh Job"
_MOST = 100  # jobs of one request, each of which starts commands
_NAMED = 200  # characters of a name in the history
_SHOWN = 400  # characters of what a batch system says

Handler = Callable[[Stores, Call, Reach], Answer]


class Refreshed(NamedTuple):
    """The documents of jobs that are ``known`` to the batch system, as they are now.

    ``awaited`` are the numbers of those of which there is more to come: they had not ended when it
    was asked, whatever their documents say since, or it did not show more than their State. ``why``
    tells why nothing else is known.
    """

    known: Sequence[Stored]
    awaited: frozenset[int]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Submission:
    """The batch system that jobs go ``to``, and how.

    Jobs run as the ``account``; where that is another one than runs this, by ``sudo``. ``queues``
    are those that a job may go to, the first of which is the usual one; without any, a job goes
    where it says. ``timeout`` limits each command, in seconds, and ``locks`` is a directory of
    the account that runs this. The state of jobs is looked up ``every`` so many seconds, and
    ``at_once`` is how many requests give orders at a time.
    """

    to: str
    locks: Path
    account: str = ""
    queues: tuple[str, ...] = ()
    timeout: float = 60.0
    every: float = 30.0
    at_once: int = 2

    @property
    def user(self) -> str:
        """Who the jobs run as."""
        return self.account or How().owner

    def how(self) -> How:
        """How commands are run."""
        other = self.account not in ("", How().owner)
        prefix = ("sudo", "-n", "-u", self.account, "--") if other else ()
        return How(
            self.timeout, prefix, self.user, _environment(), self.locks, 2 * self.timeout
        )  # fmt: skip

    def order(self, name: str) -> Handler:
        """The handler of Cancel, Hold or Release."""

        def answer(stores: Stores, call: Call, reach: Reach) -> Answer:
            return _ordered(self, ORDERS[name], stores, call, reach)

        return answer

    def submit(self, stores: Stores, call: Call, reach: Reach) -> Answer:
        """A new job is kept, then submitted, once however often the request comes."""
        asked = call.request
        if asked.wheres or asked.gets or asked.sets:
            raise Refused("318", "A Submit has Data only")
        new = carried(asked)
        if len(new.blocks) != 1:
            raise Refused("314", "A Submit carries exactly one Job")
        if new.files:
            raise Refused("740", "Files cannot travel with a Submit: an Executable is a path")
        job, digest = self._intended(new.blocks[0], call)
        require_own(call, reach, [only(job)])
        wish = Wish(self.to)
        with stores.use() as jobs, _telling(self.to):
            if jobs.noted(_name(job)) is None:
                self._require_queue(prepared(InMemory((job,)), wish, self.how()))
            place = _place(jobs, _kept(jobs, call, job, digest), call)
            (done,) = submit(place, wish, self.how())
        (view,) = views(jobs.at(place.number), JOB)
        return _submitted(done, view, new.warnings)

    def refresh(self, stores: Stores, call: Call, reach: Reach) -> Answer:
        """The batch system is asked for the State of jobs; without Where, of all one may see."""
        asked = call.request
        if asked.sets or asked.gets or asked.data:
            raise Refused("318", "A Refresh has Where only")
        search = Search(call, reach)
        with stores.use() as jobs, _telling(self.to):
            found = [
                view.stored
                for view in search.run(jobs)
                if view.block.get("SubmitTime") and _is_live(jobs, view)
            ]  # fmt: skip
            now = self.refreshed(jobs, found, reason(asked), call.actor[:_NAMED])
        rows = [document_of(view) for stored in now.known for view in views(stored, JOB)]
        said = f"Successfully refreshed {len(now.known)} of {len(found)} Jobs"
        if now.why:
            why = f"Nothing but the State is known: {now.why[:_SHOWN]}"
            return Answer(rows, WARNING, f"{said}\n{why}")
        return Answer(rows, "000" if len(now.known) == len(found) else WARNING, said)

    def look(self, stores: Stores) -> str:
        """Ask what became of all jobs that are under way; gives why only their State is known.

        Those that have ended, and those that the batch system does not know any more, are not
        asked for again.
        """
        with stores.use() as jobs:
            before = [*map(jobs.at, _under_way(jobs))]
            waiting = {
                each.number
                for each in before
                if not each.deleted and not _job(each).get("SubmitTime")
            }
            after = self.refreshed(jobs, before, _LOOKED, None)
            if over := {each.number for each in before} - waiting - after.awaited:
                _forget(jobs, over)
        return after.why

    def refreshed(
        self, jobs: Store, documents: Sequence[Stored], why: str, by: str | None
    ) -> Refreshed:
        """Write what became of the jobs of some documents, as their batch system says now."""
        asked = {
            _global_id(job): (InStore(jobs, stored.number, why, by), job)
            for stored in documents
            for job in [_job(stored)]
            if job.get("SubmitTime") and not (_is_over(job) and job.get("EndTime"))
        }
        if not asked:
            return Refreshed((), frozenset())
        known: list[Stored] = []
        awaited: set[int] = set()
        found = states((job for _, job in asked.values()), self.to, self.how())
        for each in found.jobs:
            place = asked[_global_id(each.job)][0]
            if each.state:
                record(place, each)
                known.append(after := jobs.at(place.number))
                if each.state not in OVER or (found.why and not _job(after).get("EndTime")):
                    awaited.add(place.number)
        return Refreshed(known, frozenset(awaited), found.why)

    def guarded(self, handler: Handler) -> Handler:
        """Modify and Delete, which leave alone what the batch system would have to be told."""

        def answer(stores: Stores, call: Call, reach: Reach) -> Answer:
            require_conditions(call.request)
            with stores.use() as jobs:
                live = [view for view in Search(call, reach).run(jobs) if _is_live(jobs, view)]
            if not live or self._are_gone(call.request, live):
                return handler(stores, call, reach)
            if (order := _hold_of(call.request)) is not None:
                return _ordered(self, order, stores, call, reach)
            altered = _require_ours(call.request, live[0], self.to)
            if len(live) * len(altered) > 1:  # what of it was done, if one is refused?
                names = " and ".join(altered)
                raise Refused("740", f"Only one of {names}, of one job, can be changed at a time")
            for name, text in altered.items():
                self._alter(live[0].block, name, text)
            return handler(stores, call, reach)

        return answer

    def _alter(self, job: Block, name: str, value: str) -> None:
        """Tell the batch system another value of one of its jobs."""
        if not isinstance(job, Job) or not job.get("SubmitTime"):
            raise Refused("740", f"{job.id} is not submitted yet")
        try:
            alter(job, name, value, self.to, self.how())
        except InvalidValue as error:
            raise Refused("317", f"{name}: {error}") from error
        except CommandFailed as error:
            refused = error.status is not None
            said = "refuses it" if refused else "does not answer"
            text = f"The batch system {said}: {error}"[:_SHOWN]
            raise Refused("740" if refused else "700", text) from error

    def _are_gone(self, asked: Request, found: Sequence[View]) -> bool:
        """Whether jobs are deleted that no batch system has: it refused them."""
        if asked.action != "Delete" or any(view.block.get("SubmitTime") for view in found):
            return False
        with _telling(self.to):
            return not any(is_there(view.block, self.to, self.how()) for view in found)

    def _intended(self, given: Block, call: Call) -> tuple[Job, str]:
        """The job as it is kept before it is submitted, and what tells it from others."""
        assert isinstance(given, Job)
        said = [name for name in _SAID if given.get(name)]
        said += ["Delivered"] * bool(given.delivered)
        if said:
            raise Refused("740", f"The job is submitted or has run already: it has a {said[0]}")
        manager = stripped(given.get("ResourceManagerType"))
        if manager and not control(self.to).manages(manager):
            raise Refused("740", f"Jobs are submitted to {self.to} here, not to {manager[:60]}")
        for block in walk(given):
            for item in block.properties:
                if item.name == "Extension" and item.attributes.get("type") in _forms(self.to):
                    raise Refused("740", "Options of the batch system itself are not taken here")
        digest = hashlib.sha256(dumps(given).encode()).hexdigest()
        named = stripped(given.get("GlobalId")) or _made_name(call, digest)
        require_short(named)
        job = given.setting(Id=named, GlobalId=named)
        if not stripped(job.get("User")):
            job = job.setting(User=self.user)
        if not stripped(job.get("GlobalUser")):
            job = job.setting(GlobalUser=call.actor)
        if self.queues and not stripped(job.get("Queue")) and job.requested.get("Queue") is None:
            job = job.setting(Queue=self.queues[0])
        return job, digest

    def _require_queue(self, plan: Plan) -> None:
        """Refuse (740) a job that would go to another queue than one of ours.

        What is submitted is read, for a job may say in several ways where it goes.
        """
        (planned,) = plan.jobs
        for found in read(plan.text(planned).encode(), plan.control.target):
            said = found.job or Job()
            if self.queues and (
                stripped(said.get("Queue")) not in self.queues or said.get("Machine")
            ):
                raise Refused("740", f"Jobs go to one of these queues: {', '.join(self.queues)}")


def _environment() -> Mapping[str, str]:
    """What commands find of the environment of this process, and their jobs with them."""
    return {
        name: text
        for name, text in os.environ.items()
        if name in _FOUND or name.startswith(_FOUND_BY)
    }


def _ordered(
    to: Submission, order: Order, stores: Stores, call: Call, reach: Reach
) -> Answer:  # fmt: skip
    """Give an order about each job that a Where finds."""
    asked = call.request
    if asked.gets or asked.data:
        raise Refused("318", f"{asked.action} has Where only")
    require_conditions(asked)
    done: list[View] = []
    failed: dict[str, str] = {}
    with stores.use() as jobs, _telling(to.to):
        search = Search(call, reach).run(jobs)
        found = [view for view, _ in zip(search, range(_MOST + 1), strict=False)]
        if len(found) > _MOST:
            raise Refused("740", f"More than {_MOST} jobs; give conditions that find fewer")
        for view in found:
            if not _is_here(jobs, view):
                failed[view.block.id] = "it was not submitted here"
                continue
            place = _place(jobs, view.stored.number, call)
            (told,) = steer(place, order, to.to, to.how())
            if told.why:
                failed[told.id] = told.why.removeprefix(f"job {told.id}: ")[:_SHOWN]
            else:
                done += views(jobs.at(place.number), JOB)
    if found and not done:
        [(id_, why), *_] = failed.items()
        raise Refused("740", f"{id_}: {why}")
    message = f"{asked.action}: done for {len(done)} of {len(found)} jobs"
    said = "\n".join([message, *(f"{id_}: {why}" for id_, why in failed.items())])
    return Answer([*map(document_of, done)], WARNING if failed else "000", said, len(done))


@contextmanager
def _telling(system: str) -> Iterator[None]:
    """What went wrong with a batch system, as a code of the protocol."""
    try:
        yield
    except NotSubmitted as error:
        wrong = [each for each in error.findings if each.severity is Severity.ERROR]
        unknown = any(each.code == "E-UNKNOWN" for each in wrong)
        raise Refused("710" if unknown else "740", str(error)) from error
    except (Busy, Changed) as error:
        raise Refused("730", "The job is being worked on; send the request again") from error
    except CommandFailed as error:
        if error.status is not None and error.what == control(system).submit[0]:
            raise Refused("740", f"The batch system refuses it: {error}"[:_SHOWN]) from error
        said = f"The batch system does not answer: {error}"
        raise Refused("700", f"{said[:_SHOWN]}; send the request again") from error
    except InvalidValue as error:
        raise Refused("700", f"The batch system answers oddly: {error}"[:_SHOWN]) from error


def _submitted(done: Submitted, view: View, warnings: str) -> Answer:
    """The job as it is kept now, and what of it the batch system was not asked for."""
    told = [loss.finding() for loss in done.losses]
    told += [each for each in done.findings if each.severity is not Severity.NOTICE]
    said = [each.message for each in told if each.severity is Severity.WARNING][:_MOST]
    warned = "\n".join(filter(None, (warnings, *said)))
    message = f"Successfully submitted job {done.id}"
    text = f"{message}\n{warned}" if warned else message
    return Answer([document_of(view)], WARNING if warned else "000", text)


def _kept(jobs: Store, call: Call, job: Job, digest: str) -> int:
    """The number of the document of a job, which is made if it is new.

    Raises ``Refused`` (740) where its GlobalId is that of another job.
    """
    name, global_id = _name(job), _global_id(job)
    with jobs.change(
        by=call.actor[:_NAMED], source=call.origin, reason=reason(call.request)
    ) as change:
        before = change.noted(name)
        if before is not None:
            number, *known = json.loads(before)
            if known != [digest, call.actor] or change.at(number).deleted:
                raise Refused("740", f"{global_id} is another job, or was deleted")
            return int(number)
        if (old := change.about(job)) is not None:
            raise Refused("740", f"{old.identity} is there already")
        stored = change.put(job)
        change.note(name, json.dumps([stored.number, digest, call.actor]))
        numbers = json.loads(change.noted(_UNDER_WAY) or "[]")
        change.note(_UNDER_WAY, json.dumps([*numbers, stored.number]))
        return stored.number


def _under_way(jobs: Store) -> list[int]:
    """The documents of jobs that were submitted, and had not ended when they were looked at."""
    return [int(number) for number in json.loads(jobs.noted(_UNDER_WAY) or "[]")]


def _forget(jobs: Store, over: set[int]) -> None:
    with jobs.change(reason=_LOOKED) as change:
        numbers = json.loads(change.noted(_UNDER_WAY) or "[]")
        change.note(_UNDER_WAY, json.dumps([each for each in numbers if each not in over]))


def _made_name(call: Call, digest: str) -> str:
    """A GlobalId: the same for the same request, so that a copy of it is about the same job."""
    asked = call.request
    if not asked.id and not call.mark:
        return uuid.uuid4().urn
    words = json.dumps([call.actor, asked.id or call.mark, digest])
    return uuid.uuid5(uuid.NAMESPACE_OID, words).urn


def _place(jobs: Store, number: int, call: Call) -> InStore:
    return InStore(jobs, number, reason(call.request), call.actor[:_NAMED], call.origin)


def _job(stored: Stored) -> Job:
    (view,) = views(stored, JOB)
    assert isinstance(view.block, Job)
    return view.block


def _global_id(job: Block) -> str:
    return stripped(job.get("GlobalId"))


def _name(job: Block) -> str:
    return f"submission of {_global_id(job)}"


def _is_here(jobs: Store, view: View) -> bool:
    """Whether a job was submitted by this gateway."""
    noted = jobs.noted(_name(view.block)) if not view.place else None
    return noted is not None and json.loads(noted)[0] == view.stored.number


def _is_live(jobs: Store, view: View) -> bool:
    return not _is_over(view.block) and _is_here(jobs, view)


def _is_over(job: Block) -> bool:
    return stripped(job.get("State")) in OVER


def _hold_of(asked: Request) -> Order | None:
    """The order that a Modify of nothing but Hold is."""
    if asked.action != "Modify" or len(asked.sets) != 1:
        return None
    (only_,) = asked.sets
    found = settable(only_, JOB)
    if found.name != _HOLD or only_.op != "Assign" or only_.value not in (_USER, _NULL):
        return None
    return Order.HOLD if only_.value == _USER else Order.RELEASE


def _require_ours(asked: Request, view: View, system: str) -> Mapping[str, str]:
    """What a batch system has to be told of one of its jobs, by name.

    Raises ``Refused`` (740) for what it does not let change.
    """
    id_, alters = view.block.id, control(system).alters
    told: dict[str, str] = {}
    if asked.action == "Delete":
        raise Refused("740", f"{id_} has not ended: cancel it first")
    for each in asked.sets:
        found = settable(each, JOB)
        if found.name in alters and each.op == "Assign" and each.value != _NULL:
            told[found.name] = each.value
        elif found.name not in _OURS and not found.extension:
            raise Refused("740", f"{each.name} of {id_} cannot be changed in its batch system")
    return told


def _forms(system: str) -> frozenset[str]:
    """The forms of a batch system, which are the types of Extensions that hold its options."""
    found = control(system)
    return frozenset((found.target, *found.also))
