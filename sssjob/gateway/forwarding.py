"""Finished jobs go on to another server, such as a Gold: each once, as far as that server allows.

What is to be sent is found in the history of the store, so that a job cannot be finished there
and forgotten here. Gold charges twice for what it is told twice: where nobody knows whether a
Charge arrived, it is asked whether it has charged the job, and only then told again.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import random
import re
import socket
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from sssjob import spec
from sssjob.accounting.report import JobProperties, wall_time
from sssjob.client import GOLD, Client, Dialect
from sssjob.errors import InvalidValue, NoReply, Refused
from sssjob.gateway.log import event
from sssjob.gateway.outbox import Outbox, Parcel, ParcelState
from sssjob.gateway.rounds import Rounds
from sssjob.handlers.attributes import (
    GROUP,
    JOB,
    AttributeType,
    ObjectAttribute,
    attribute,
    shown,
)
from sssjob.handlers.charging import require_amount, require_no_part
from sssjob.handlers.documents import of_two_values, require_credits
from sssjob.handlers.ledger_entries import quote_of
from sssjob.handlers.rates import ChargeRates, priced_by
from sssjob.handlers.stores import Stores
from sssjob.handlers.view import HasLedger, JobView, job_views
from sssjob.integers import LARGEST
from sssjob.model import Delivered, TaskGroup
from sssjob.rmap import codes
from sssjob.rmap.message import Data, Get, Object, Op, Request, Row, Where
from sssjob.runs import OF_A_RUN
from sssjob.states import has_ended, is_known, is_over, was_cancelled
from sssjob.store import Identity, Store, Stored
from sssjob.store.ledger import Entry, EntryKind
from sssjob.store.settling import SAID
from sssjob.units import decimal, number

_OVERLAP = 120  # seconds of the history that are looked at again: a change may commit late
_DAY, _SELDOM = 86_400, 3600.0  # a whole day at the start and once an hour: imports commit late
_WARY = 7 * _DAY  # seconds in which jobs that are new here may be known to the other server
_SETTLED = 60.0  # seconds after which a server has done what it was told, or never will
_LONGEST = 3600.0  # seconds between two tries
_WALL = "WallDuration"
_NOTHING = "nothing"
_OTHER = "another gateway sends what is in this queue; this one takes over when that ends"
_OLDER = "the queue is an older copy: what it may have sent since is asked for before it is sent"
_LOST = "the store is an older copy: jobs that were sent since are compared with it"
_NEW_STORE = (
    "{0} jobs were sent from this queue before, and none from this store: it is another one, or an "
    "older copy, and what the server has of them is not looked at"
)
_NO_JOB = "the store has no such job"
_ELSEWHERE = "see --take-over: jobs of this store are forwarded from another queue, {0}"
_OTHER_NAME = (
    "see --take-over: {2} may be another name of {0}, to which jobs of this store are forwarded "
    "from another queue, {1}"
)
_BESIDE = "jobs of this store are forwarded to {0}, too, from another queue, {1}"
_FORWARDING = "forwarding to "  # what the names of notes in a store begin with
_COUNTS = frozenset(("Processors", "NodeCount"))  # Gold has whole numbers there
_AMOUNTS = frozenset((*_COUNTS, "Memory", "Disk"))
_MOST = 10**15  # of anything; a Charge has as many digits
_SECONDS = re.compile("[0-9]{1,15}")
# What no charge depends on.
_DESCRIBING = frozenset(("Queue", "Type", "Executable", "Application"))
_OWNER = ("UserId", "ProjectId", "MachineName")
# What is compared with a Charge of the other server, by its names in Data and in a Get.
_COMPARED = {"UserId": "User", "ProjectId": "Project", "MachineName": "Machine", "Charge": "Charge"}
_MEASURED = spec.AMOUNTS | OF_A_RUN  # what a job used, and not what it asked for

# fmt: off
# What is sent, by the names of Gold's Data; the standard's name where it has another.
FIELDS: tuple[tuple[str, str], ...] = (
    ("JobId", "Id"), ("UserId", "User"), ("ProjectId", "Project"), ("MachineName", "Machine"),
    ("Queue", "Queue"), ("Type", "Type"), ("QualityOfService", "QualityOfService"),
    ("Nodes", "NodeCount"), ("Processors", "Processors"), ("Memory", "Memory"), ("Disk", "Disk"),
    ("Executable", "Executable"), ("Application", "Application"), ("QuoteId", "Quote"),
    ("StartTime", "StartTime"), ("EndTime", "EndTime"),
)
# fmt: on


@dataclass(frozen=True, slots=True)
class ForwardingPlan:
    """Where finished jobs go. ``every`` is how many seconds pass between looks at the store.

    ``charge`` sends what a job was charged here, too, so that the other server takes that amount.
    After ``give_up`` seconds a job that is refused each time is no longer tried. One that was not
    charged here is sent so many seconds, ``wait``, after it was last changed.
    """

    client: Client
    queue: Path
    actor: str = "sssjob"
    every: float = 5.0
    charge: bool = False
    give_up: float = 7 * 86_400.0
    wait: float = 0.0


class Forwarding:
    """Finds finished jobs and sends them, in a thread of its own."""

    def __init__(
        self, plan: ForwardingPlan, stores: Stores, *, clock: Callable[[], float] = time.time,
        rates: Callable[[], ChargeRates] = ChargeRates,
    ) -> None:  # fmt: skip
        self.plan, self.stores, self.clock, self._rates = plan, stores, clock, rates
        self.outbox = Outbox(plan.queue)
        self._rounds = Rounds(
            "forward", self._round, plan.every, failed="not forwarded",
            patience=plan.client.tries * 60,
        )  # fmt: skip
        self.start = self._rounds.start
        self._wide = 0.0  # when to look at a day again
        self._resume = 0.0  # when to try a server again that is down
        self._failures = 0  # how often in a row nobody replied
        self._seen: dict[Identity, int] = {}
        now = clock()
        if self.outbox.fact("since") is None:  # jobs of former times are somebody else's
            self.outbox.keep("since", str(int(now)))
            self._since = int(now)
        else:
            self._since = int(self.outbox.fact("since") or 0)
        self._first = int(self.outbox.fact("first") or now)
        self.outbox.keep("first", str(self._first))
        self._owned: int | None = None  # a handle of the lock of the queue
        self._has_told_beside = False  # which other queues there are
        self._told = ""  # why nothing is sent, as it was logged
        self._own()

    def _own(self) -> bool:
        """Whether this process is the one that sends what is in the queue; another may be.

        Two gateways of one configuration would each send every job. The other one takes over when
        this one ends, however that is.
        """
        if self._owned is not None:
            return True
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(f"{self.plan.queue}.lock", flags, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return False
        self._owned = handle
        now = self.clock()
        self.outbox.recover(
            *((ParcelState.WAITING, now) if self._once else (ParcelState.UNKNOWN, now + _SETTLED))
        )
        return True

    @property
    def _once(self) -> bool:
        """Whether the other server does a Charge once, however often it is told."""
        return "Charge" in self.plan.client.dialect.once

    def stop(self) -> None:
        """End after what is being sent now."""
        self._rounds.stop()
        self.outbox.close()
        if self._owned is not None:
            os.close(self._owned)
            self._owned = None

    def look(self) -> int:
        """Put into the queue what has finished since the last look; how many jobs that were."""
        added, last = 0, self._since
        with self.stores.use() as jobs:
            changed = {}
            for each in jobs.changes(since=max(self._first, self._since - self._overlap())):
                changed[each.identity] = each.version
                last = max(last, each.at)
            for identity, version in changed.items():
                if self._seen.get(identity) == version:
                    continue
                stored = jobs.get(identity)
                if stored is not None:
                    added += self._take(jobs, stored)
                self._seen[identity] = version
        if last > self._since:
            self._since = last
            self.outbox.keep("since", str(last))
            self._seen = {each: self._seen[each] for each in changed}
        return added

    def _take(self, jobs: Store, stored: Stored) -> int:
        """Look at the jobs of a document; how many are new in the queue, and can be sent."""
        begin = _begin(stored.identity)
        views = {f"{begin}{_id(view)}": view for view in job_views(stored, jobs)}
        asks = int(self.outbox.fact("asks") or self._first)
        is_wary = self.clock() < int(self.outbox.fact("wary") or 0)
        kept = jobs.first_kept(stored)
        if kept < self._first:
            # Jobs that were over before this queue began are for somebody else to send.
            for key, view in _over_before(jobs, stored, self._first, begin).items():
                self._add_former(key, view, ParcelState.SENT, _charged(view))
        may_be_there = is_wary or kept < asks
        added = sum(self._put(key, view, asks=may_be_there) for key, view in views.items())
        if stored.identity.name == GROUP:
            self._gone(jobs, stored, begin, views)
        if kept < asks:
            # Another queue may have sent what ended meanwhile, also a job that runs again by now.
            begun = int(self.outbox.fact("doubts") or self._first)
            for key, view in _over_between(jobs, stored, begun, asks, begin).items():
                last = _last_charged(jobs, stored, view) or _charged(view)
                self._add_former(key, view, ParcelState.FORMER, last)
        for former in self.outbox.formers(begin):
            if former.key in views:
                self._compare(former, views[former.key], (), "")
            elif former.key == f"{begin}{dict(former.fields)['JobId']}":
                self._tell_gone(jobs, stored, former)
        return added

    def _add_former(self, key: str, view: JobView, state: ParcelState, charged: str) -> None:
        """Keep a job that another queue has sent, or may have sent.

        Its Charge is what it was charged then: after a refund the job says less, or nothing.
        """
        fields = _fields(view, self.plan.client.dialect, charge=self.plan.charge)
        if self.plan.charge and charged and "Charge" not in dict(fields):
            fields = (*fields, ("Charge", charged))
        if not view.block.id:
            fields = (("JobId", _id(view)), *fields)
        self.outbox.add_former(key, fields, charged or "0", state, self.clock())

    def _put(self, key: str, view: JobView, *, asks: bool) -> bool:
        """Put a job into the queue if it is over; whether it is new there, and can be sent."""
        dialect = self.plan.client.dialect
        is_gone = view.stored.deleted and not _owes(view)
        said = "" if is_gone else hindrance(view, dialect, charge=self.plan.charge)
        is_over = not said and not is_gone
        fields = finished(view, dialect, charge=self.plan.charge) if is_over else ()
        sent = self.outbox.told(key)
        if sent is not None:
            # It is there: that it runs again is no reason to hold it back.
            self._compare(sent, view, fields, "" if _goes_on(view) else said)
            return False
        if fields:
            # Schedulers say first that a job has ended, and then what it is charged.
            is_charged = view.home is None or _is_charged(view, view.home)
            otherwise = charged_otherwise(view, fields, self._rates())
            added = self.outbox.add(
                key, fields, self.clock(), certain=not self._once, charged=_charged(view) or "0",
                otherwise=otherwise, wait=0.0 if is_charged else self.plan.wait,
                asks=asks or _came_charged(view),
            )  # fmt: skip
            if added and otherwise:
                state = str(ParcelState.WAITING)
                event("forward", logging.WARNING, job=view.block.id, state=state, reason=otherwise)
            return added
        if said:
            shown = (("JobId", _id(view)),)
            certain = not self._once
            if self.outbox.add(key, shown, self.clock(), hindrance=said, certain=certain):
                state = str(ParcelState.INCOMPLETE)
                event("forward", logging.WARNING, job=_id(view), state=state, reason=said)
        else:
            self.outbox.drop(key, certain=not self._once)
        return False

    def _compare(
        self, sent: Parcel, view: JobView, fields: tuple[tuple[str, str], ...], hindrance: str
    ) -> None:
        """Tell that a job was sent otherwise than it is by now: it is not sent a second time."""
        charged = _charged(view) or "0"
        now = fields or _still(sent, view, charged)
        said = hindrance or _differs(sent, now, charged)
        if said and not sent.tries:
            said = f"it was not sent from this queue, and {said}"
        self._tell(sent, said, now, charged)

    def _gone(
        self, jobs: Store, stored: Stored, begin: str, views: Mapping[str, JobView]
    ) -> None:  # fmt: skip
        """Tell of jobs that were sent and stand in their group no more; forget the others."""
        for parcel, is_told in self.outbox.within(begin):
            id_ = dict(parcel.fields)["JobId"]
            if parcel.key in views or parcel.key != f"{begin}{id_}":
                continue
            if is_told:
                self._tell_gone(jobs, stored, parcel)
            else:
                self.outbox.drop(parcel.key, certain=not self._once)

    def _tell_gone(self, jobs: Store, stored: Stored, parcel: Parcel) -> None:
        charged = decimal(jobs.ledger.balance(stored.number, dict(parcel.fields)["JobId"]))
        self._tell(parcel, f"it is in {stored.identity} no more", parcel.fields, charged)

    def _tell(
        self, sent: Parcel, said: str, fields: tuple[tuple[str, str], ...], charged: str
    ) -> None:
        differs = self.outbox.differ(sent, said, fields, charged)
        if differs and said and sent.state is not ParcelState.FORMER:  # perhaps nobody has it
            state, job = str(ParcelState.CHANGED), dict(sent.fields)["JobId"]
            event("forward", logging.WARNING, job=job, state=state, reason=said)

    def _look_back(self, noted: tuple[int, int] | None) -> None:
        """Compare what was sent with the store, where that is an older copy.

        What was sent since that copy was made is known to this queue and to the other server alone.
        The store has ``noted`` how often the queue had sent by then, and when last.
        """
        times = int(self.outbox.fact("times") or 0)
        if noted is None:
            if count := self.outbox.count_sent() if times else 0:
                said = _NEW_STORE.format(count)
                event("forward", logging.WARNING, state="compares", reason=said)
            return
        known, since = noted
        if known >= times:
            return
        if (
            known < times - 1
        ):  # else it may have been killed between its count and that of the store
            event("forward", logging.WARNING, state="compares", reason=_LOST)
        self._take_again(since)
        _note_own(self.plan, self.stores, self.outbox)

    def _take_again(self, since: float) -> None:
        """Look at the jobs of what was moved in the queue since a time, changed here or not."""
        with self.stores.use() as jobs:
            for identity in self.outbox.documents(since, _document):
                stored = jobs.get(identity)
                if stored is not None:
                    self._take(jobs, stored)
                    continue
                for parcel, is_told in self.outbox.within(_begin(identity)):
                    if _document(parcel) != identity:
                        continue
                    if is_told or parcel.state is ParcelState.FORMER:
                        self._tell(parcel, _NO_JOB, parcel.fields, "0")
                        continue
                    self.outbox.drop(parcel.key, certain=not self._once)
                    if parcel.state is ParcelState.UNKNOWN:  # then it is asked for, and not sent
                        former = replace(parcel, state=ParcelState.FORMER)
                        self._tell(former, _NO_JOB, parcel.fields, "0")

    def _overlap(self) -> int:
        """How many seconds of the history to look at again; now and then a whole day."""
        now = self.clock()
        if now < self._wide:
            return _OVERLAP
        self._wide = now + _SELDOM
        return _DAY

    def send(self) -> int:
        """Try what is due, as long as the server answers; how many jobs have arrived.

        One that is down is asked ever more seldom, whichever jobs are due.
        """
        arrived = 0
        if self.clock() < self._resume:
            return arrived
        due = list(self.outbox.due(self.clock()))
        if due:
            _count(self.plan, self.stores, self.outbox, self.clock())
        for parcel in due:
            if self._rounds.stopping:
                break
            try:
                arrived += (
                    self._settle(parcel)
                    if parcel.state in (ParcelState.UNKNOWN, ParcelState.FORMER)
                    else self._send(parcel)
                )
            except NoReply:
                self._failures += 1
                self._resume = self.clock() + _wait(self._failures)
                break  # it is down for the others, too
            self._failures = 0
        return arrived

    def _send(self, parcel: Parcel) -> bool:
        request = Request(
            "Charge", self.plan.actor, (Object(JOB),), data=Data((Row(JOB, parcel.fields),)),
            id=f"forward {parcel.key}",
        )  # fmt: skip
        self.outbox.move(parcel, ParcelState.SENDING)
        try:
            [*_, last] = self.plan.client.call(request)
        except NoReply as error:
            if error.asked and not self._once:
                self._move(parcel, ParcelState.UNKNOWN, str(error), wait=_SETTLED)
            else:
                self._move(parcel, ParcelState.WAITING, str(error))
            raise
        except Refused as error:  # an answer that nobody understands
            self._move(parcel, ParcelState.UNKNOWN, str(error), wait=_SETTLED)
            return False
        except InvalidValue as error:
            self._move(parcel, ParcelState.REFUSED, str(error))
            return False
        if last.status.value is not codes.Value.FAILURE:
            self._move(parcel, ParcelState.SENT)
            return True
        # A failure leaves nothing behind: it is tried again, since somebody may mend its cause.
        late = self.clock() - parcel.added > self.plan.give_up
        said = f"{last.status.code} {last.status.message}"
        self._move(parcel, ParcelState.REFUSED if late else ParcelState.WAITING, said)
        return False

    def _settle(self, parcel: Parcel) -> bool:
        """Find out whether a job has arrived that was sent before, from here or elsewhere."""
        fields = dict(parcel.fields)
        names = [name for name in ("JobId", _WALL, "StartTime", "EndTime") if name in fields]
        gets = tuple(map(Get, (*names, *_COMPARED.values())))
        request = Request(
            "Query", self.plan.actor, (Object(JOB),), gets,
            wheres=(Where("JobId", fields["JobId"]), Where("Stage", "Charge", Op.EQ)),
        )  # fmt: skip
        try:
            found = list(self.plan.client.rows(request))
        except NoReply as error:
            self._move(parcel, parcel.state, str(error))
            raise
        except (Refused, InvalidValue) as error:
            self._move(parcel, parcel.state, str(error))
            return False
        # Another run of the Id may have been charged there, for as long.
        others = [dict(each.fields) for each in self.outbox.sent(fields["JobId"])]
        theirs = [row for row in found if isinstance(row, Row)]
        known = _alike(theirs, fields, names) > _alike(others, fields, names)
        if not parcel.tries and (known or len(theirs) > len(others)):
            # Not from this queue. What it is for, people know; to send it could charge it twice.
            self.outbox.known(parcel, _there(theirs, fields, names))
            known = True
        if parcel.state is ParcelState.FORMER and not known:
            self.outbox.forget(parcel)
            return False
        self._move(parcel, ParcelState.SENT if known else ParcelState.WAITING, wait=0.0)
        return known

    def _move(
        self, parcel: Parcel, state: ParcelState, said: str = "", *, wait: float | None = None
    ) -> None:
        if wait is None:
            wait = _wait(parcel.tries)
        self.outbox.move(parcel, state, due=self.clock() + wait, said=said)
        level = logging.INFO if state is ParcelState.SENT else logging.WARNING
        event("forward", level, job=dict(parcel.fields)["JobId"], state=str(state), reason=said)

    def _round(self) -> None:
        noted = None
        if not self._own():
            why = _OTHER
        else:
            noted = _noted(self.plan, self.stores, self.outbox)
            why = _chosen(self.plan, self.stores, self.outbox)
        if not why:
            if _is_older(self.plan, self.stores, self.outbox, self.clock()):
                event("forward", logging.WARNING, state="asks", reason=_OLDER)
                self._seen.clear()
            if self._told:  # it has taken over, and what was sent before is not its own
                self._since = int(self.outbox.fact("since") or self.clock())
                self._first = int(self.outbox.fact("first") or self.clock())
                self._seen.clear()
        if why != self._told:
            event("forward", logging.WARNING, state="waits" if why else "goes on", reason=why)
        self._told = why
        if not why:
            self._tell_beside()
            if doubted := self.outbox.fact("doubted"):
                self._take_again(int(doubted))
                self.outbox.keep("doubted", "")
            self._look_back(noted)
            self.look()
            self.send()

    def _tell_beside(self) -> None:
        """Say once which other queues forward from this store, as somebody has said they may."""
        if self._has_told_beside:
            return
        self._has_told_beside = True
        own, *_ = _own_note(self.plan, self.outbox)
        with self.stores.use() as jobs:
            notes = jobs.notes(_FORWARDING)
        for there, where in _beside(notes, own):
            event("forward", logging.INFO, state="beside", reason=_BESIDE.format(there, where))


def take_over(
    plan: ForwardingPlan, stores: Stores, *, now: float, since: float | None = None
) -> bool:
    """Let a queue forward from a store what ends from now on, whichever queue did so before.

    What the other one had not sent is not known to this one. What was changed ``since`` a time is
    looked at, too. The other server is asked whether it has charged that, and what is in this queue
    already, before it is sent: another queue, or a newer copy of this one, may have sent it. False
    where it is this queue that does, which has nothing to take without such a time.
    Raises ``UnusableStore``.
    """
    outbox = Outbox(plan.queue)
    try:
        own, *_ = _own_note(plan, outbox)
        with stores.use() as jobs:
            noted = jobs.notes(_FORWARDING).get(_note(plan))
        is_own = noted is not None and json.loads(noted)[0] == own
        if is_own and since is None:
            return False
        begin = now if since is None else min(since, now)
        if is_own:  # what it has not looked at yet stays to be looked at
            begin = min(begin, int(outbox.fact("since") or now) - _OVERLAP)
        for name in ("since", "first"):
            outbox.keep(name, str(int(begin)))
        _ask_for_all(outbox, begin, now)
        if since is not None:  # the store may be an older copy, too, and know less than the server
            outbox.keep("wary", str(int(now + _WARY)))
        _chosen(plan, stores, outbox, instead=True)
    finally:
        outbox.close()
    return True


def _chosen(plan: ForwardingPlan, stores: Stores, outbox: Outbox, *, instead: bool = False) -> str:
    """Why this queue does not forward from a store to this server; "" where it does.

    The first one that comes does, and stands in the store. Where another one forwards to a server
    of another name, nobody knows whether that is the same. ``instead`` makes it this one.
    """
    own, name = _own_note(plan, outbox), _note(plan)
    with stores.use() as jobs:
        why, is_noted = _hindered(jobs.notes(_FORWARDING), own[0], name)
        if instead or not (why or is_noted):
            with jobs.change(reason="forwarding") as change:
                why, is_noted = _hindered(change.notes(_FORWARDING), own[0], name)
                if instead or not (why or is_noted):
                    change.note(name, json.dumps(own))
                    why = ""
    return why


def _hindered(notes: Mapping[str, str], own: str, name: str) -> tuple[str, bool]:
    """Why a queue does not forward, "" for nothing, and whether one is noted for its server.

    ``notes`` are those of a store, ``own`` is the id of the queue, ``name`` that of its note.
    """
    if name in notes:
        id_, where, *_ = json.loads(notes[name])
        return "" if id_ == own else _ELSEWHERE.format(where), True
    for there, where in _beside(notes, own):
        return _OTHER_NAME.format(there, where, name.removeprefix(_FORWARDING)), False
    return "", False


def _beside(notes: Mapping[str, str], own: str) -> Iterator[tuple[str, str]]:
    """The servers that other queues forward to from a store, and where those are."""
    for name, text in notes.items():
        id_, where, *_ = json.loads(text)
        if id_ != own:
            yield name.removeprefix(_FORWARDING), where


def _note(plan: ForwardingPlan) -> str:
    """The name of the note in a store that tells which queue forwards to a server."""
    return f"{_FORWARDING}{', '.join(map(str, plan.client.transports))}"


def _own_note(plan: ForwardingPlan, outbox: Outbox) -> tuple[str, str, int, int]:
    """What a queue notes of itself: its id, where it is, how often it has sent, and when last."""
    id_ = outbox.fact("id")
    if id_ is None:
        id_ = uuid.uuid4().hex
        outbox.keep("id", id_)
    where = f"{plan.queue.absolute()} of {socket.gethostname()}"
    return id_, where, int(outbox.fact("times") or 0), int(outbox.fact("at") or 0)


def _note_own(plan: ForwardingPlan, stores: Stores, outbox: Outbox) -> None:
    with stores.use() as jobs, jobs.change(reason="forwarding") as change:
        change.note(_note(plan), json.dumps(_own_note(plan, outbox)))


def _count(plan: ForwardingPlan, stores: Stores, outbox: Outbox, now: float) -> None:
    """Count in the queue and in its store that something is sent, before it is."""
    _, _, times, _ = _own_note(plan, outbox)
    outbox.keep("at", str(int(now)))
    outbox.keep("times", str(times + 1))
    _note_own(plan, stores, outbox)


def _noted(plan: ForwardingPlan, stores: Stores, outbox: Outbox) -> tuple[int, int] | None:
    """How often a queue has sent, as its store knows, and when last; None where it knows nothing.

    To whichever name of a server.
    """
    own, *_ = _own_note(plan, outbox)
    with stores.use() as jobs:
        known = map(json.loads, jobs.notes(_FORWARDING).values())
    found = [[*map(int, more), 0, 0] for id_, _, *more in known if id_ == own]
    times, at, *_ = max(found, default=[-1, 0])
    return None if times < 0 else (times, at)


def _is_older(plan: ForwardingPlan, stores: Stores, outbox: Outbox, now: float) -> bool:
    """Whether a queue has sent less often than its store knows: then it is an older copy.

    What was sent meanwhile it does not know, so that the other server is asked first.
    """
    sent, _ = _noted(plan, stores, outbox) or (0, 0)
    if sent <= int(outbox.fact("times") or 0):
        return False
    seen = int(outbox.fact("since") or now) - _OVERLAP
    _ask_for_all(outbox, min(seen, int(outbox.fact("doubts") or seen)), now)
    outbox.keep("times", str(sent))
    return True


def _ask_for_all(outbox: Outbox, begin: float, now: float) -> None:
    """Ask for all that another queue, or another copy of this one, may have sent until now.

    That is what the queue has not yet sent, and what was over since a time, and is perhaps no more.
    """
    outbox.keep("doubts", str(int(begin)))
    outbox.keep("asks", str(int(now)))
    outbox.keep("doubted", str(int(now)))
    outbox.doubt(now + _SETTLED)


def _alike(found: Iterable[Row | dict[str, str]], fields: dict[str, str], names: list[str]) -> int:
    """How many have the same under some names."""
    return sum(all(each.get(name) == fields[name] for name in names) for each in found)


def _there(theirs: list[Row], fields: dict[str, str], names: list[str]) -> str:
    """How a job is charged at the other server otherwise than it would be sent; "" where it is not.

    ``names`` are those that tell a run.
    """
    same = [row for row in theirs if _alike([row], fields, names)]
    row = (same or theirs)[-1]
    compared = {name: name for name in names} | _COMPARED
    said = [
        f"{name} {shown(there)}"
        for name, told in compared.items()
        if (there := row.get(told)) and name in fields and not _equal(there, fields[name])
    ]
    return f"it is charged there already, with {', '.join(said)}" if said else ""


def _equal(one: str, other: str) -> bool:
    try:
        return number(one) == number(other)
    except InvalidValue:
        return one == other


def _wait(tries: int) -> float:
    """Seconds until the next try: twice as many each time, and not the same for everybody."""
    return min(_LONGEST, 2.0 ** min(tries, 20)) * (0.5 + random.random() / 2)


def finished(
    view: JobView, dialect: Dialect = GOLD, *, charge: bool = False
) -> tuple[tuple[str, str], ...]:
    """The fields of a job that is over and says how long it took; nothing for any other.

    What only describes it is left out where the dialect has no place for it.
    """
    if not view.block.id or not _seconds(view) or not _is_over(view):
        return ()
    return _fields(view, dialect, charge=charge)


def _fields(view: JobView, dialect: Dialect, *, charge: bool) -> tuple[tuple[str, str], ...]:
    """What is sent of a job that says how long it took."""
    found = [
        (gold, text) for gold, name in FIELDS
        if (text := _sent(view, name)) and (name not in _DESCRIBING or dialect.reaches(text))
    ]  # fmt: skip
    quote = quote_of(view)
    if quote and view.home is not None and view.home.ledger.quote(quote):
        found = [each for each in found if each[0] != "QuoteId"]  # it is a number of ours
    if charge and (amount := _charged(view)):
        found.append(("Charge", amount))
    return (*found, (_WALL, _seconds(view)))


def _over_before(jobs: Store, stored: Stored, at: int, begin: str) -> dict[str, JobView]:
    """The jobs of a document that were over before a time, or seemed so, by their keys."""
    *_, last = (None, *(each for each in jobs.versions(stored.identity) if each.at < at))
    if last is None:
        return {}

    def was_charged(view: JobView) -> bool:
        entries = jobs.ledger.of_job(stored.number, view.block.id)
        return any(each.kind is EntryKind.CHARGE and each.at < at for each in entries)

    return {
        f"{begin}{_id(view)}": view
        for view in job_views(replace(last, deleted=False))
        if not _goes_on(view)
        and (finished(view) or hindrance(view) or (not _text(view, "State") and was_charged(view)))
    }


def _last_charged(jobs: Store, stored: Stored, view: JobView) -> str:
    """What a job was charged last by the ledger, whatever was given back since; "" for nothing."""
    entries = jobs.ledger.of_job(stored.number, view.block.id)
    found = [each.amount for each in entries if each.kind is EntryKind.CHARGE and each.amount]
    return decimal(found[-1]) if found else ""


def _over_between(
    jobs: Store, stored: Stored, since: int, until: int, begin: str
) -> dict[str, JobView]:
    """The jobs of a document that were over in that time, as they were last; keys ``begin`` so."""
    return {
        f"{begin}{_id(view)}": view
        for former in jobs.versions(stored.identity)
        if since <= former.at <= until
        for view in job_views(replace(former, deleted=False))
        if finished(view)
    }


def _still(sent: Parcel, view: JobView, charged: str) -> tuple[tuple[str, str], ...]:
    """A job that was sent and is not over any more: as it was sent, but whose and what it costs."""
    now = dict(sent.fields)
    now |= {gold: _sent(view, name) for gold, name in FIELDS if gold in _OWNER}
    if "Charge" in now:
        now["Charge"] = charged
    return tuple((gold, text) for gold, text in now.items() if text)


def _differs(sent: Parcel, fields: tuple[tuple[str, str], ...], charged: str) -> str:
    """How a job differs from what was sent, "" where a charge there would be the same."""
    before, now = dict(sent.fields), dict(fields)
    if "Charge" not in now and sent.charged:
        before["Charge"], now["Charge"] = sent.charged, charged
    names = [name for name in {**before, **now} if name not in _DESCRIBING]
    return ", ".join(
        f"{name} was sent as {_or_nothing(before, name)} and is {_or_nothing(now, name)} now"
        for name in names
        if before.get(name) != now.get(name)
        and not (name == "Charge" and {before.get(name), now.get(name)} <= {None, "0"})
    )  # fmt: skip


def charged_otherwise(
    view: JobView, fields: tuple[tuple[str, str], ...], rates: ChargeRates
) -> str:  # fmt: skip
    """How what is sent differs from what the job was charged here, "" where it does not.

    The other server charges once, for what is sent. Here the ledger may have several Charges, and
    Refunds, or the job may say something else than when it was charged.
    """
    if view.home is None:
        return ""
    entries = view.home.ledger.of_job(view.stored.number, view.block.id)
    charges = [entry for entry in entries if entry.kind is EntryKind.CHARGE]
    if not charges:
        return ""
    sent, last = dict(fields), charges[-1]
    said: list[tuple[str, str]] = []
    balance = view.home.ledger.balance(view.stored.number, view.block.id)
    if "Charge" not in sent:
        if last.amount is not None and balance != last.amount:
            told = f"what is sent was charged {decimal(last.amount)}"
            return f"{told} here, and the job {decimal(balance)} in all"
        said += [("Charge", decimal(last.amount or 0))] * _is_told(last)
        said += [(_WALL, str(last.duration))] * (last.duration is not None)
        said += _priced(last.details, sent, rates)
    shares = view.home.ledger.shares(view.stored.number, view.block.id, balance)
    for owner, credits in shares:
        said += zip(_OWNER, owner, strict=True) if credits else ()
    return ", ".join(dict.fromkeys(
        f"{name} is sent as {_or_nothing(sent, name)} and was charged as {shown(text or _NOTHING)}"
        for name, text in said if sent.get(name, "") != text
    ))  # fmt: skip


def _is_told(charge: Entry) -> bool:
    """Whether somebody said what to charge, and it was not computed.

    What came with its job is not meant: that may be the other server's own.
    """
    return f"[{_WALL}]" not in charge.details and charge.details != SAID


def _priced(details: str, sent: dict[str, str], rates: ChargeRates) -> Iterator[tuple[str, str]]:
    """By which values of what is sent a job was charged; nothing where nobody computed that."""
    if f"[{_WALL}]" not in details:
        return
    charged = priced_by(details)
    for gold, name in FIELDS:
        rated = name in rates.resources or sent.get(gold, "") in rates.multipliers.get(name, ())
        if rated or name in charged:
            yield gold, charged.get(name, "")


def _or_nothing(said: dict[str, str], name: str) -> str:
    return shown(said.get(name) or _NOTHING)


def _charged(view: JobView) -> str:
    """What a job was charged: by the ledger, where it was charged here, also if all came back."""
    if view.home is not None and _is_charged(view, view.home):
        return decimal(view.home.ledger.balance(view.stored.number, view.block.id))
    number = view.number(_known("Charge"))
    return _text(view, "Charge") if number is None else decimal(number)


def _owes(view: JobView) -> bool:
    """Whether a job was charged here, and not all of it given back."""
    home = view.home
    return home is not None and home.ledger.balance(view.stored.number, view.block.id) > 0


def _begin(document: Identity) -> str:
    """What the keys of the jobs of a document begin with in the queue."""
    return f"{document.name} {document.id} {document.run} "


def _document(parcel: Parcel) -> Identity | None:
    """The document of a job in the queue, as its key says; None for a key of another form."""
    id_ = dict(parcel.fields)["JobId"]
    name, _, rest = parcel.key.removesuffix(f" {id_}").partition(" ")
    document, _, run = rest.rpartition(" ")
    if not (parcel.key.endswith(f" {id_}") and (run.isdigit() or run == "None")):
        return None
    return Identity(name, document, int(run) if run != "None" else None)


def _id(view: JobView) -> str:
    """What a job is called in the queue."""
    return view.block.id or f"job {view.place} of {view.stored.identity}"


def _came_charged(view: JobView) -> bool:
    """Whether a job has a Charge that nobody charged here: perhaps the other server's own."""
    if view.home is None:
        return False
    entries = view.home.ledger.of_job(view.stored.number, view.block.id)
    return any(each.kind is EntryKind.CHARGE and each.details == SAID for each in entries)


def _was_charged(view: JobView) -> bool:
    """Whether a job was charged: it says so, which is entered at last, or the ledger does.

    One of which all was given back is over only where it says how long it ran.
    """
    if view.number(_known("Charge")):
        return True
    return bool(_seconds(view)) and view.home is not None and _is_charged(view, view.home)


def _is_charged(view: JobView, home: HasLedger) -> bool:
    return EntryKind.CHARGE in home.ledger.kinds(view.stored.number, view.block.id)


def hindrance(view: JobView, dialect: Dialect = GOLD, *, charge: bool = False) -> str:
    """Why a job that is over cannot be sent; "" where nothing is in the way, or it never ran.

    ``charge`` says that its Charge is sent, too.
    """
    if not view.block.id:
        is_over = (_is_over(view) and not _never_ran(view)) or _doubt(view)
        return "it has no Id" if is_over else ""
    if not _is_over(view):
        return _doubt(view)
    if _seconds(view):
        return _unsaid(view, dialect, charge=charge)
    if _never_ran(view):
        return ""
    start, end = _text(view, "StartTime"), _text(view, "EndTime")
    if duration := _text(view, "Duration"):
        return f"Duration {shown(duration)} is not in whole seconds"
    if start and end:
        return f"StartTime {shown(start)} and EndTime {shown(end)} are not the times of a run"
    if start:
        return "it says when it started, and not how long it ran or when it ended"
    if end:
        return "it says when it ended, and not how long it ran or when it started"
    return "it says neither how long it ran nor when it started and ended"


def _unsaid(view: JobView, dialect: Dialect, *, charge: bool) -> str:
    """What of a job that ran cannot be said to a server, "" where all of it can."""
    parts = any(isinstance(item, TaskGroup) for item in view.block.items)
    if parts and not _text(view, "Processors"):
        return "its Processors are told of its task groups only"
    for _, name in FIELDS:
        if said := _odd(view, name):
            return said
        text = _sent(view, name)
        if name not in _DESCRIBING and not dialect.reaches(text):
            return f"{name} {shown(text)} has a character that the server cannot take"
    try:
        require_credits(_charged(view) if charge else "")
    except Refused as error:
        return error.message
    return ""


def _odd(view: JobView, name: str) -> str:
    """What is wrong with an amount or a time of a job that ran, by the rules of a Charge.

    To charge what is less than nothing would give credits away.
    """
    found, text = _known(name), _text(view, name)
    if found.kind is AttributeType.TIME:
        return (
            ""
            if not text or _SECONDS.fullmatch(_sent(view, name))
            else f"{name} {shown(text)} is no time"
        )
    if name not in _AMOUNTS:
        return ""
    used = view.used
    if name in of_two_values(used.block):
        return f"it has two different values of {name}"
    stated, number = used.property(found), _number(view, name)
    is_said = stated is not None and (text or name == "Processors")
    try:
        if stated is not None and is_said:
            require_amount(stated)
        elif name == "Processors":  # of the others, Gold charges for hardly any
            require_no_part(used.block, name)
    except Refused as error:
        return error.message
    if not text:
        return ""
    if name in _COUNTS and (number is None or number.denominator != 1):
        return f"{name} {shown(_sent(view, name))} is no whole number"
    if number is None or number < 0:
        return f"{name} {shown(text)} is {'no number' if number is None else 'less than 0'}"
    return f"{name} {shown(text)} has more than 15 digits" if number >= _MOST else ""


def _never_ran(view: JobView) -> bool:
    """Whether a job was cancelled before it ran: nothing of a run is said of it."""
    if not was_cancelled(_text(view, "State")) or list(view.block.blocks(Delivered)):
        return False
    if view.number(_known("Charge")):
        return False
    return not any(_text(view, name) for name in ("StartTime", "CpuDuration", "StartCount"))


def _doubt(view: JobView) -> str:
    """What hinders a job that seems to be over, in a State that is no end, or that nobody knows.

    It was charged, or says when it ended or how in a State that nobody knows. A job that runs may
    say when it will end. # decision 915
    """
    state = _text(view, "State")
    if _goes_on(view):
        has_not = f"it was charged, and a job of the State {shown(state)} has not ended"
        return has_not if _was_charged(view) else ""
    if is_known(state):
        return ""
    seems_over = _seconds(view) and (_text(view, "EndTime") or _text(view, "ExitCode"))
    if not seems_over and not _was_charged(view):
        return ""
    return f"nobody knows whether a job of the State {shown(state)} has ended"


def _goes_on(view: JobView) -> bool:
    """Whether a job is in a State of which it is known that it has not ended."""
    state = _text(view, "State")
    return bool(state) and is_known(state) and not is_over(state)


def _is_over(view: JobView) -> bool:
    """Whether a job has ended; schedulers of Gold say it by the Charge alone.

    One that was charged and is hidden will say nothing more.
    """
    if has_ended(lambda name: _text(view, name)):
        return True
    if view.stored.deleted:
        return _owes(view)
    return not _text(view, "State") and _was_charged(view)


def _seconds(view: JobView) -> str:
    """How long a job ran, not how long it might have; "" if no source gives it."""
    found = wall_time(JobProperties(view.block), spans=True)
    if found is None or not 0 <= found <= LARGEST or found.denominator != 1:
        return ""
    return str(found)


def _sent(view: JobView, name: str) -> str:
    """A value as Gold reads it: a time in seconds, in whatever form the document has it."""
    found = _known(name)
    if found.kind is AttributeType.TIME:
        seconds = view.seconds(found)
        return _text(view, name) if seconds is None else str(seconds)
    number = _number(view, name) if name in _AMOUNTS else None
    return _text(view, name) if number is None else decimal(number)


def _number(view: JobView, name: str) -> Fraction | None:
    """An amount of what a job used, for as long as it ran."""
    return view.used.amount(_known(name), int(_seconds(view) or 0))


def _known(name: str) -> ObjectAttribute:
    found = attribute(name)
    assert found is not None
    return found


def _text(view: JobView, name: str) -> str:
    if name == "Id":  # the ledger keeps a no-break space of it, too
        return view.block.id
    return ((view.used if name in _MEASURED else view).text(_known(name)) or "").strip()
