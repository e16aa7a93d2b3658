"""Submit, Cancel, Hold, Release and Refresh: jobs of the store in a batch system.

Orders are given about jobs only that were submitted here: whoever may create jobs may write any
Id into them. # decision 219
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sssjob import registry
from sssjob.commands import CommandFailed
from sssjob.errors import InvalidValue, Refused, Severity
from sssjob.handlers.attributes import GROUP, JOB
from sssjob.handlers.changes import once_outside, reason, require_conditions
from sssjob.handlers.editing import WARNING, made, settable
from sssjob.handlers.finding import Search
from sssjob.handlers.intended import (
    Intake,
    forget,
    global_id,
    is_here,
    kept,
    name_of,
    under_way,
)
from sssjob.handlers.query import document_of
from sssjob.handlers.stores import Stores
from sssjob.handlers.view import View, views
from sssjob.model import Block, Job
from sssjob.rmap.message import Request
from sssjob.rmap.responder import HandlerAnswer, ReceivedRequest
from sssjob.states import is_over
from sssjob.store import Store
from sssjob.store.reach import Reach
from sssjob.submission import (
    Busy,
    Changed,
    How,
    InMemory,
    InStore,
    NoSuchJob,
    NotSubmitted,
    Order,
    Steered,
    SubmitOptions,
    Submitted,
    alter,
    control,
    is_there,
    prepared,
    record,
    states,
    steer,
    submit,
)

ORDERS = {"Cancel": Order.CANCEL, "Hold": Order.HOLD, "Release": Order.RELEASE}
SLOW = frozenset(("Submit", "Refresh", *ORDERS))

# What a document says of a job that is submitted, and no batch system is asked for.
_OURS = frozenset(("Application", "Charge", "Description", "Quote", "TimeCategory", "Type"))
# What any command needs of an environment, which may hold secrets; systems declare what theirs do.
_FOUND = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TZ", "USER")
_HOLD, _USER, _NULL = "Hold", "User", "NULL"
_LOOKED = "Refresh Job"
_MOST = 100  # jobs of one request, each of which starts commands
_TOLD = 20  # ids of a message
_NAMED = 200  # characters of a name in the history
_SHOWN = 400  # characters of what a batch system says

Handler = Callable[[Stores, ReceivedRequest, Reach], HandlerAnswer]


class Refreshed(NamedTuple):
    """The jobs that are ``known`` to the batch system, as they are now.

    ``awaited`` are the numbers of the documents of which there is more to come: jobs had not ended
    when it was asked, whatever their documents say since, or it did not show more than their State.
    ``why`` tells why nothing else is known.
    """

    known: Sequence[View]
    awaited: frozenset[int]
    why: str = ""


@dataclass(frozen=True, slots=True)
class GatewaySubmission:
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

        def answer(stores: Stores, call: ReceivedRequest, reach: Reach) -> HandlerAnswer:
            return once_outside(
                stores, call, lambda: _ordered(self, ORDERS[name], stores, call, reach)
            )

        return answer

    def submit(self, stores: Stores, call: ReceivedRequest, reach: Reach) -> HandlerAnswer:
        """Jobs are kept, then submitted, each once however often the request comes."""
        intake = Intake(self.to, self.user, self.queues)
        with stores.use() as jobs, _telling(self.to):
            wanted = intake.wanted(jobs, call, reach)
            if not wanted.is_known(jobs):
                there = InMemory((wanted.block,))
                intake.require_queue(prepared(there, SubmitOptions(self.to), self.how()))
            place = _place(jobs, kept(jobs, call, wanted), call)
            try:
                with _telling(self.to):
                    done = [*submit(place, SubmitOptions(self.to), self.how())]
            except Refused as error:
                raise self._how_far(place, error) from error
        (view,) = views(jobs.at(place.number), call.request.object)
        return _submitted(done, view, wanted.warnings)

    def _how_far(self, place: InStore, error: Refused) -> Refused:
        """Why a Submit went no further; of a group, which jobs of it are submitted."""
        plan = prepared(place, SubmitOptions(self.to), self.how())
        there = [planned.written.id for planned in plan.jobs if planned.submitted]
        missing = [planned.written.id for planned in plan.jobs if not planned.submitted]
        if len(plan.jobs) == 1 or not missing:
            return error
        named = f" ({', '.join(there[:_TOLD])}{', ...' * (len(there) > _TOLD)})" if there else ""
        said = f"{len(there)} of {len(plan.jobs)} jobs are submitted{named}, not {missing[0]!r}"
        return Refused(error.code, f"{said}: {error.message}")

    def refresh(self, stores: Stores, call: ReceivedRequest, reach: Reach) -> HandlerAnswer:
        """The batch system is asked for the State of jobs; without Where, of all one may see."""
        asked = call.request
        if asked.sets or asked.gets or asked.data:
            raise Refused("318", "A Refresh has Where only")
        search = Search(call, reach)
        with stores.use() as jobs, _telling(self.to):
            found = [
                view
                for view in search.run(jobs)
                if view.block.get("SubmitTime") and _is_live(jobs, view)
            ]  # fmt: skip
            now = self.refreshed(jobs, found, reason(asked), call.actor[:_NAMED])
        rows = [*map(document_of, now.known)]
        said = f"Successfully refreshed {len(now.known)} of {len(found)} Jobs"
        if now.why:
            why = f"Nothing but the State is known: {now.why[:_SHOWN]}"
            return HandlerAnswer(rows, WARNING, f"{said}\n{why}")
        return HandlerAnswer(rows, "000" if len(now.known) == len(found) else WARNING, said)

    def look(self, stores: Stores) -> str:
        """Ask what became of all jobs that are under way; gives why only their State is known.

        Those that have ended, and those that the batch system does not know any more, are not
        asked for again.
        """
        with stores.use() as jobs:
            before = [view for number in under_way(jobs) for view in views(jobs.at(number), JOB)]
            waiting = {
                view.stored.number
                for view in before
                if not view.stored.deleted and not view.block.get("SubmitTime")
            }
            after = self.refreshed(jobs, before, _LOOKED, None)
            if over := {view.stored.number for view in before} - waiting - after.awaited:
                forget(jobs, over, _LOOKED)
        return after.why

    def refreshed(
        self, jobs: Store, found: Sequence[View], why: str, by: str | None
    ) -> Refreshed:  # fmt: skip
        """Write what became of some jobs into their documents, as their batch system says now."""
        asked = {
            global_id(job): (view, job)
            for view in found
            if isinstance(job := view.block, Job)
            and job.get("SubmitTime")
            and not (_is_over(job) and job.get("EndTime"))
        }
        if not asked:
            return Refreshed((), frozenset())
        known: list[View] = []
        awaited: set[int] = set()
        now = states((job for _, job in asked.values()), self.to, self.how())
        for each in now.jobs:
            view, _ = asked[global_id(each.job)]
            if each.state:
                record(InStore(jobs, view.stored.number, why, by), each)
                known.append(after := _again(jobs, view))
                if not is_over(each.state) or (now.why and not after.block.get("EndTime")):
                    awaited.add(view.stored.number)
        return Refreshed(known, frozenset(awaited), now.why)

    def guarded(self, handler: Handler) -> Handler:
        """Modify and Delete, which leave alone what the batch system would have to be told."""

        def answer(stores: Stores, call: ReceivedRequest, reach: Reach) -> HandlerAnswer:
            require_conditions(call.request)
            with stores.use() as jobs:
                live = [
                    job
                    for view in Search(call, reach).run(jobs)
                    for job in _jobs_of(view)
                    if _is_live(jobs, job)
                ]
            if not live or self._are_gone(call.request, live):
                return handler(stores, call, reach)
            if (order := _hold_of(call.request)) is not None:
                return _ordered(self, order, stores, call, reach)
            altered = _require_ours(call.request, live[0], self.to)
            if len(live) * len(altered) > 1:  # what of it was done, if one is refused?
                names = " and ".join(altered)
                raise Refused("740", f"Only one of {names}, of one job, can be changed at a time")
            for name, text in altered.items():
                self._alter(live[0], name, text)
            return handler(stores, call, reach)

        return answer

    def remade(self, handler: Handler) -> Handler:
        """Create, which makes no group anew that was submitted, and whose jobs are noted."""

        def answer(stores: Stores, call: ReceivedRequest, reach: Reach) -> HandlerAnswer:
            with stores.use() as jobs:
                for block in made(call.request):
                    if jobs.noted(name_of(block)) is not None:
                        raise Refused("740", f"{block.id} was submitted here")
            return handler(stores, call, reach)

        return answer

    def _alter(self, view: View, name: str, value: str) -> None:
        """Tell the batch system another value of one of its jobs."""
        job = view.block
        if not isinstance(job, Job) or not job.get("SubmitTime"):
            raise Refused("740", f"{job.id} is not submitted yet")
        try:
            alter(job, name, value, self.to, self.how(), marked=bool(view.place))
        except NoSuchJob as error:
            raise Refused("740", str(error)) from error
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


def _environment() -> Mapping[str, str]:
    """What commands find of the environment of this process, and their jobs with them."""
    known = registry.KnownWords((*_FOUND, *registry.variables()))
    return {name: text for name, text in os.environ.items() if name in known}


def _ordered(
    to: GatewaySubmission, order: Order, stores: Stores, call: ReceivedRequest, reach: Reach
) -> HandlerAnswer:  # fmt: skip
    """Give an order about each job that a Where finds."""
    asked = call.request
    if asked.gets or asked.data:
        raise Refused("318", f"{asked.action} has Where only")
    require_conditions(asked)
    done: list[View] = []
    failed: dict[str, str] = {}
    number = 0
    with stores.use() as jobs, _telling(to.to):
        search = Search(call, reach).run(jobs)
        found = [view for view, _ in zip(search, range(_MOST + 1), strict=False)]
        if len(found) > _MOST:
            raise Refused("740", f"More than {_MOST} jobs; give conditions that find fewer")
        for view in found:
            if not is_here(jobs, view):
                failed[view.block.id] = "it was not submitted here"
                continue
            told = [*_steered(to, order, _place(jobs, view.stored.number, call), view)]
            failed |= {
                each.id: each.why.removeprefix(f"job {each.id}: ")[:_SHOWN]
                for each in told
                if each.why
            }
            if done_of := sum(not each.why for each in told):
                number += done_of
                done.append(_again(jobs, view))
    if found and not done:
        [(id_, why), *_] = failed.items()
        raise Refused("740", f"{id_}: {why}")
    message = f"{asked.action}: done for {number} of {number + len(failed)} jobs"
    said = "\n".join([message, *(f"{id_}: {why}" for id_, why in failed.items())])
    return HandlerAnswer([*map(document_of, done)], WARNING if failed else "000", said, len(done))


def _steered(
    to: GatewaySubmission, order: Order, place: InStore, view: View
) -> Iterator[Steered]:  # fmt: skip
    """Give an order about a job, or about all jobs of a group."""
    if view.block.name == JOB and not view.place:
        return steer(place, order, to.to, to.how())

    def chosen(job: Job) -> bool:
        return view.block.name == GROUP or global_id(job) == global_id(view.block)

    return steer(place, order, to.to, to.how(), chosen, marked=True)


@contextmanager
def _telling(system: str) -> Iterator[None]:
    """What went wrong with a batch system, as a code of the protocol."""
    try:
        yield
    except NotSubmitted as error:
        wrong = [each for each in error.findings if each.severity is Severity.ERROR]
        unknown = any(each.code in ("E-UNKNOWN", "E-LOSS") for each in wrong)
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


def _submitted(done: Sequence[Submitted], view: View, warnings: str) -> HandlerAnswer:
    """A job object as it is kept now, and what of it the batch system was not asked for."""
    told = [loss.finding() for each in done for loss in each.losses]
    told += [found for each in done for found in each.findings]
    said = [each.message for each in told if each.severity is Severity.WARNING][:_MOST]
    warned = "\n".join(filter(None, (warnings, *said)))
    message = f"Successfully submitted job {done[0].id}"
    if view.block.name == GROUP:
        message = f"Successfully submitted the {len(done)} jobs of {view.block.id}"
    text = f"{message}\n{warned}" if warned else message
    return HandlerAnswer([document_of(view)], WARNING if warned else "000", text)


def _place(jobs: Store, number: int, call: ReceivedRequest) -> InStore:
    return InStore(jobs, number, reason(call.request), call.actor[:_NAMED], call.origin)


def _jobs_of(view: View) -> Iterator[View]:
    """A job, or the jobs of a group."""
    return views(view.stored, JOB) if view.block.name == GROUP else iter((view,))


def _again(jobs: Store, view: View) -> View:
    """A job or a group as it is now."""
    now = views(jobs.at(view.stored.number), view.block.name)
    return next(each for each in now if each.place == view.place)


def _is_live(jobs: Store, view: View) -> bool:
    return not _is_over(view.block) and is_here(jobs, view)


def _is_over(job: Block) -> bool:
    return is_over(job.get("State"))


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
