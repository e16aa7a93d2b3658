"""Jobs of a document cancelled, held and released where they are; each call may come twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

from sssjob.commands import CommandFailed
from sssjob.errors import InvalidValue, SSSJobError
from sssjob.model import Item, Job, Property, stripped
from sssjob.states import is_over
from sssjob.submission.calling import Caller, How
from sssjob.submission.control import HOLD, RUNNING, Control, Seen, control, manager
from sssjob.submission.editing import Edited, saying, setting
from sssjob.submission.locks import locked
from sssjob.submission.places import Place
from sssjob.submission.planning import defined
from sssjob.submission.submitting import IDLE
from sssjob.translate.sss import jobs_of

CANCELLED = "Cancelled"

USER = "User"

_NOT_MARKED = "it does not have the mark of the GlobalId"


class Order(StrEnum):
    """What is to become of a job."""

    CANCEL = "cancel"
    HOLD = "hold"
    RELEASE = "release"


# The Extension of a job that is about to be cancelled, which stays if that is cut short.
_BEGUN = {"type": "sssjob", "name": "order"}


class NoSuchJob(SSSJobError, LookupError):
    """A job that was not submitted, or that its batch system does not have any more."""

    def __init__(self, id_: str, why: str) -> None:
        super().__init__(id_, why)
        self.id, self.why = id_, why

    def __str__(self) -> str:
        return f"job {self.id}: {self.why}" if self.id else self.why


class Steered(NamedTuple):
    """A job and its State now; ``done`` tells whether an order had to be given. ``why`` not."""

    id: str
    state: str
    done: bool
    job: Job
    why: str = ""


def steer(
    place: Place, order: Order, to: str = "", how: How | None = None,
    chosen: Callable[[Job], bool] = lambda job: True, *, marked: bool = False,
) -> Iterator[Steered]:  # fmt: skip
    """Give an order about the jobs of a place, each in the batch system that it says, or ``to``.

    ``marked`` are only those with the mark of their GlobalId: whoever wrote another Id into a
    document does not steer the job of that Id by it.

    A job that cannot be found, or of which the batch system refuses the order, has a ``why``; the
    others go on. Raises ``CommandFailed`` for a system that does not answer, ``Busy``,
    ``UnusableInput``, ``OSError`` and ``UnreadableDocument``.
    """
    how = how or How()
    with locked(how.place, place.name, how.patience) as lock:
        blocks = place.blocks()
        written = [job for block in blocks for job in defined(block)]
        for job, effective in zip(written, jobs_of(blocks), strict=True):
            if chosen(job):
                yield _told(_SteeringCall(place, order, to, how, marked, lock), job, effective)


def alter(
    job: Job, name: str, text: str, to: str, how: How | None = None, *, marked: bool = False
) -> None:
    """Give a job that a batch system has another value of a property; see ``Control.alters``.

    Its document stays as it is. ``marked`` is as in ``steer``. Raises ``InvalidValue``,
    ``CommandFailed`` and ``NoSuchJob``.
    """
    caller = Caller(control(to), how or How())
    if marked:
        seen = caller.job(job.id)
        if seen is None or not caller.carries(seen, stripped(job.get("GlobalId"))):
            raise NoSuchJob(job.id, _NOT_MARKED)
    caller.alter(name, text, job.id)


class _SteeringCall(NamedTuple):
    place: Place
    order: Order
    to: str
    how: How
    marked: bool
    lock: int  # that a command holds until it has ended, whoever is killed


def _told(call: _SteeringCall, job: Job, effective: Job) -> Steered:
    """A job that was steered, or why it was not."""
    state = stripped(job.get("State"))
    try:
        caller = Caller(_control(job, call.to), call.how).about(effective)
        return _steered(call, job, caller)
    except (NoSuchJob, InvalidValue) as error:
        return Steered(job.id, state, False, job, str(error))
    except CommandFailed as error:
        if error.status is None:
            raise
        return Steered(job.id, state, False, job, str(error))


def _control(job: Job, to: str) -> Control:
    """The commands of the system that a job is submitted to."""
    text = stripped(job.get("ResourceManagerType"))
    if to:
        found = control(to)
        if text and not found.manages(text):
            raise NoSuchJob(job.id, f"it is submitted to {text}")
        return found
    if not text:
        raise NoSuchJob(job.id, "no ResourceManagerType tells where it is submitted")
    if not (name := manager(text)):
        raise NoSuchJob(job.id, f"{text} is no batch system that is known")
    return control(name)


def _steered(call: _SteeringCall, job: Job, caller: Caller) -> Steered:
    place, order = call.place, call.order
    id_, state = job.id, stripped(job.get("State"))
    if not id_ or not stripped(job.get("SubmitTime")):
        raise NoSuchJob(id_, "it is not submitted: it has no SubmitTime")
    caller.control.id(id_)
    if is_over(state):
        return _over(place, order, job, state)
    seen = caller.job(id_)
    name = stripped(job.get("GlobalId"))
    if call.marked and seen is not None and not (name and caller.carries(seen, name)):
        raise NoSuchJob(id_, _NOT_MARKED)
    if seen is None or is_over(seen.state):
        return _over(place, order, job, state if seen is None else seen.state)
    if order is Order.CANCEL:
        return _cancelled(call, job, caller)
    held = seen.state == HOLD
    if held is (order is Order.HOLD) and not _is_to_be_let_go(order, seen, job):
        return _written(place, job, seen.state, False, order)
    command = caller.control.hold if order is Order.HOLD else caller.control.release
    caller.tell(command, id_, (call.lock,))
    after = caller.job(id_) or Seen(id_, HOLD if order is Order.HOLD else IDLE)
    return _written(place, job, after.state, True, order)


def _cancelled(call: _SteeringCall, job: Job, caller: Caller) -> Steered:
    """Cancel a job, of which the document says before that this is about to be done.

    Many a system forgets at once what it cancelled, or does not tell it from what has ended. So
    whoever is killed here could not know later what has become of the job.
    """
    _edit(call.place, job, _begun)
    try:
        caller.tell(caller.control.cancel, job.id, (call.lock,))
    except CommandFailed as error:
        if (
            error.status is not None
        ):  # it is refused; a system that does not answer may have done it
            _edit(call.place, job, _not_begun)
        raise
    return _written(call.place, job, CANCELLED, True)


def _says_begun(item: Item) -> bool:
    return isinstance(item, Property) and item.name == "Extension" and item.attributes == _BEGUN


def _begun(job: Job) -> Job:
    """A job with the word that it is about to be cancelled."""
    word = Property("Extension", Order.CANCEL.value, _BEGUN, namespace=job.namespace)
    return _not_begun(job).holding((*_not_begun(job).items, word))


def _not_begun(job: Job) -> Job:
    """A job without that word."""
    if not any(map(_says_begun, job.items)):
        return job
    return job.holding(item for item in job.items if not _says_begun(item))


def _is_to_be_let_go(order: Order, seen: Seen, job: Job) -> bool:
    """Whether a job that runs was held meanwhile, so that it would not start once more."""
    return order is Order.RELEASE and seen.state == RUNNING and stripped(job.get("Hold")) == USER


def _over(place: Place, order: Order, job: Job, state: str) -> Steered:
    """A job that has ended: it cannot be steered any more, and a cancelled one need not be."""
    if order is Order.CANCEL and any(map(_says_begun, job.items)):
        return _written(place, job, CANCELLED, False)
    if not is_over(state):
        raise NoSuchJob(job.id, "its batch system does not have it any more")
    if order is not Order.CANCEL:
        raise NoSuchJob(job.id, f"it has ended: {state}")
    known = stripped(job.get("State"))
    return _written(place, job, known if is_over(known) else state, False)


def _written(
    place: Place, job: Job, state: str, done: bool, order: Order = Order.CANCEL
) -> Steered:
    """Keep the State; a job that its user holds says so."""

    def edit(old: Job) -> Job:
        old = _not_begun(old)
        if order is Order.HOLD and not stripped(old.get("Hold")):
            old = saying(old, Hold=USER)
        if order is Order.RELEASE and stripped(old.get("Hold")) == USER:
            old = old.removing("Hold")
        return old if old.get("State") == state else saying(old, State=state)

    if edit(job) is not job:
        _edit(place, job, edit)
    return Steered(job.id, state, done, job)


def _edit(place: Place, job: Job, edit: Callable[[Job], Job]) -> None:
    setting(place, Edited(stripped(job.get("GlobalId")), job.id, edit))
