"""Finished jobs reach the other server once, whatever happens on the way."""
# ruff: noqa: E501 (a row of a table is a line)

import logging
import os
import re
import shutil
import sqlite3
import time
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from gateways import gateway
from gold import KEY
from job_service import ROLES, job_service
from servers import closed_port, scripted
from waiting import HANG, until

from sssjob.client import GOLD, SSSJOB, Client, Legacy
from sssjob.document import loads
from sssjob.errors import UnusableStore
from sssjob.gateway.actions import Actions
from sssjob.gateway.config import GatewayConfig
from sssjob.gateway.forwarding import (
    Forwarding,
    ForwardingPlan,
    finished,
    hindrance,
    take_over,
)
from sssjob.gateway.jobs import StoreJobs
from sssjob.gateway.outbox import Outbox, ParcelState
from sssjob.gateway.service import answering, unsendable
from sssjob.handlers.charging import Accounting
from sssjob.handlers.rates import ChargeRates
from sssjob.handlers.service import ServiceSettings
from sssjob.handlers.view import job_views, only
from sssjob.rmap.envelope import opened
from sssjob.rmap.framing import legacy_reply
from sssjob.rmap.keys import Key
from sssjob.rmap.message import Data, DataDocument, Object, Request, Response, Row, Status
from sssjob.rmap.reading import read_request
from sssjob.rmap.responder import ReceivedRequest
from sssjob.rmap.writing import envelope, write_response

DONE = "<Job><Id>{0}</Id><User>ann</User><Project>p</Project><Machine>m</Machine><State>Completed</State><Delivered><Processors>16</Processors><Duration>1155</Duration></Delivered></Job>"


def said(*rows, code="000"):
    response = Response(Status.of(code), len(rows), Data(rows) if rows else None)
    return legacy_reply([envelope(write_response(response).encode())])


CHARGED = said(Row("Charge", (("Amount", "18480"),)))
KNOWN = said(Row("Job", (("JobId", "1"), ("WallDuration", "1155"))))
NONE = said()
OTHER = said(Row("Job", (("JobId", "1"), ("WallDuration", "7"))))


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def jobs(tmp_path):
    with job_service(str(tmp_path / "jobs.db")) as made:
        yield made


SILENCE = 0.5  # seconds until a peer that is to say nothing is given up


class Peer:
    """A server whose answers are waited for; of the first ones it may be told how long."""

    def __init__(self, port, patience):
        self.port, self.patience = port, iter(patience)

    def exchange(self, message):
        return Legacy("127.0.0.1", self.port, next(self.patience, HANG)).exchange(message)

    def __str__(self):
        return f"127.0.0.1:{self.port}"


@pytest.fixture
def forwarding(jobs, tmp_path):
    """Makes what forwards to a port; the clock stands still unless it is told."""
    made = []
    clock = Clock()
    clock.now = time.time()

    def forward(port, dialect=GOLD, rates=ChargeRates, patience=(), **options):
        client = Client([Peer(port, patience)], Key(KEY), dialect, tries=1)
        plan = ForwardingPlan(client, **{"queue": tmp_path / "forward.db"} | options)
        each = Forwarding(plan, jobs.service.stores, clock=clock, rates=rates)
        each.clock = clock
        made.append(each)
        return each

    yield forward
    for each in made:
        each.stop()


def states(each):
    return {
        dict(parcel.fields)["JobId"]: (parcel.state, parcel.tries) for parcel in each.outbox.left()
    }


def asked(server, place=-1):
    return read_request(opened(server.requests[place].body).body)


def test_a_finished_job_is_charged_in_golds_words_and_once(jobs, forwarding):
    with scripted(CHARGED) as gold:
        each = forwarding(gold.port)
        jobs.create(
            DONE.format(1), "<Job><Id>2</Id><State>Running</State><Duration>9</Duration></Job>"
        )
        assert (each.look(), each.send()) == (1, 1)
        assert (each.look(), each.send()) == (0, 0)
        request = asked(gold)
        assert (request.action, request.object, request.actor) == ("Charge", "Job", "sssjob")
        assert request.data.items == (Row("Job", (
            ("JobId", "1"), ("UserId", "ann"), ("ProjectId", "p"), ("MachineName", "m"),
            ("Processors", "16"), ("WallDuration", "1155"),
        )),)  # fmt: skip
        jobs.answer("Modify", sets=[("Priority", "1")], wheres=[("Id", "EQ", "1")])
        assert (each.look(), each.send()) == (0, 0)
        assert each.outbox.counts() == {ParcelState.SENT: 1}


def test_jobs_of_former_times_are_not_charged_again(jobs, forwarding):
    jobs.create(DONE.format(1))
    with jobs.service.stores.use() as kept:
        kept.engine.fetch("UPDATE change SET at = at - 1000")
    assert forwarding(closed_port()).look() == 0


def test_what_finished_while_nobody_forwarded_is_found_afterwards(jobs, forwarding):
    forwarding(closed_port()).stop()
    jobs.create(DONE.format(1))
    assert forwarding(closed_port()).look() == 1


def test_a_server_that_is_down_is_tried_again_ever_more_seldom(jobs, forwarding):
    each = forwarding(closed_port())
    jobs.create(DONE.format(1), DONE.format(2))
    each.look()
    waits = []
    for _ in range(8):
        assert each.send() == 0
        tried = states(each)
        assert each.send() == 0
        assert states(each) == tried  # it pauses for all jobs
        waits.append(each._resume - each.clock())
        each.clock.now = each._resume
    assert min(waits) > 0
    assert waits[-1] > 10 * waits[0]
    assert {state for state, _ in states(each).values()} == {ParcelState.WAITING}


def test_a_refusal_leaves_nothing_behind_and_is_tried_again_until_it_is_given_up(jobs, forwarding):
    with scripted(said(code="740"), said(code="740"), CHARGED) as gold:
        each = forwarding(gold.port, give_up=3600.0)
        jobs.create(DONE.format(1))
        each.look()
        each.send()
        assert states(each) == {"1": (ParcelState.WAITING, 1)}
        assert each.send() == 0
        each.clock.now += 4000
        each.send()
        assert states(each) == {"1": (ParcelState.REFUSED, 2)}


def test_what_nobody_has_yet_follows_its_job_and_what_was_sent_does_not(jobs, forwarding):
    each = forwarding(closed_port(), charge=True)

    def charge(name):
        jobs.answer("Charge", data=[USED.format("1", f"<Charge>5</Charge><Queue>{name}</Queue>")])

    def waiting():
        return [dict(parcel.fields).get("Charge") for parcel in each.outbox.left()]

    charge("a")
    assert (each.look(), waiting()) == (1, ["5"])
    charge("b")
    assert (each.look(), waiting()) == (1, ["10"])
    each.send()  # to nobody
    charge("c")
    assert (each.look(), waiting()) == (1, ["15"])
    jobs.answer("Modify", sets=[("Processors", "-5")], wheres=[("Id", "EQ", "1")])
    assert each.look() == 0
    assert states(each)["1"][0] is ParcelState.INCOMPLETE
    jobs.answer("Modify", sets=[("Processors", "5")], wheres=[("Id", "EQ", "1")])
    assert (each.look(), waiting()) == (1, ["15"])
    with scripted(said(code="740"), CHARGED) as gold:
        again = forwarding(gold.port, charge=True, give_up=-1.0)
        again.send()
        assert states(again)["1"][0] is ParcelState.REFUSED
        charge("d")
        assert (again.look(), again.send()) == (1, 1)
        assert asked(gold).data.items[0].get("Charge") == "20"
        charge("e")
        assert (again.look(), again.send()) == (0, 0)
        [parcel] = again.outbox.left()
        assert (parcel.state, parcel.said) == (
            ParcelState.CHANGED, "Charge was sent as 20 and is 25 now",
        )  # fmt: skip


CHARGE = "<Job><JobId>1</JobId><UserId>ann</UserId><Processors>2</Processors><WallDuration>{}</WallDuration></Job>"


def test_a_job_that_has_ended_waits_for_its_charge_and_no_longer(jobs, forwarding):
    """Schedulers say first that it has ended, and a second later what it used."""
    run = "<Job><Id>{}</Id><User>ann</User><State>Running</State><StartTime>0</StartTime></Job>"
    over = [("State", "Completed"), ("EndTime", "10")]
    with scripted(CHARGED, CHARGED) as gold:
        each = forwarding(gold.port, wait=60.0)
        jobs.create(run.format(1), run.format(2))
        for id_ in "12":
            jobs.answer("Modify", sets=over, wheres=[("Id", "EQ", id_)])
        assert (each.look(), each.send()) == (2, 0)
        jobs.answer("Charge", data=[CHARGE.format(10)])
        assert (each.look(), each.send()) == (1, 1)
        assert asked(gold).data.items[0].get("Processors") == "2"
        assert states(each) == {"2": (ParcelState.WAITING, 0)}
        each.clock.now += 61
        assert (each.look(), each.send()) == (0, 1)
        assert states(each) == {}


TOLD_OF_A_RUN = (
    "", "<Requested><Duration>9</Duration></Requested>", "<EndTime>100</EndTime>",
    "<Delivered><Processors>2</Processors></Delivered>", "<StartTime>100</StartTime>",
    "<Delivered><Duration>5.5</Duration></Delivered>",
    "<Delivered><Duration>7</Duration></Delivered>",
)  # fmt: skip


@pytest.mark.parametrize("deleted", [False, True])
def test_no_job_that_was_charged_and_runs_no_more_is_passed_over(jobs, forwarding, deleted):
    """Whatever it says, or not: it is sent, or stands in the queue."""
    states_ = ("", "Completed", "Timeout", "Cancelled", "FAILED", "C")
    for number, (state, told, id_) in enumerate(product(states_, TOLD_OF_A_RUN, (True, False))):
        named = f"<Id>{number}</Id>" if id_ else ""
        said = f"<State>{state}</State>" if state else ""
        job = f"<Job>{named}{said}{told}<Charge>11</Charge></Job>"
        group = f"<JobGroup><Id>g{number}</Id>{job}</JobGroup>"
        jobs.answer("Create", object="JobGroup", data=[group])
        [view] = job_views(jobs.stored(f"g{number}"))
        assert finished(view) or unsendable(view), job
    each = forwarding(closed_port())
    if deleted:
        jobs.answer("Delete", object="JobGroup", wheres=[("Id", "NE", "x")])
    each.look()
    shown = {parcel.key.split()[1] for parcel in each.outbox.left()}
    assert shown == {f"g{at}" for at in range(number + 1)}


USED_WITH = CHARGE.format(10).replace("</Job>", "{}</Job>")


@pytest.mark.parametrize("charge", [False, True])
def test_what_was_sent_and_is_another_now_is_told_until_it_is_settled(charge, jobs, forwarding):
    jobs.service.settings = ServiceSettings(
        ROLES, Accounting(ChargeRates({"Processors": Fraction(1)}))
    )
    with scripted(CHARGED) as gold:
        each = forwarding(gold.port, charge=charge)
        jobs.create("<Job><Id>1</Id><User>ann</User><State>Running</State></Job>")
        over = [("State", "Completed"), ("WallDuration", "10")]
        jobs.answer("Modify", sets=over, wheres=[("Id", "EQ", "1")])
        assert (each.look(), each.send()) == (1, 1)
        assert [*each.outbox.left()] == []
        # It costs and says more than the other server knows; it is sent once.
        jobs.answer("Charge", data=[CHARGE.format(10)])
        assert (each.look(), each.send()) == (0, 0)
        [parcel] = each.outbox.left()
        before = "nothing" if charge else "0"
        assert parcel.state is ParcelState.CHANGED
        assert {*parcel.said.split(", ")} == {
            "Processors was sent as nothing and is 2 now",
            f"Charge was sent as {before} and is 20 now",
        }
        assert each.outbox.counts() == {ParcelState.CHANGED: 1}
        # The same amounts once more cost more, too.
        jobs.answer("Charge", data=[CHARGE.format(10)])
        each.look()
        assert f"Charge was sent as {before} and is 40 now" in next(each.outbox.left()).said
        assert each.outbox.settle("1") == 1
        each._seen.clear()
        assert (each.look(), [*each.outbox.left()], each.outbox.settle("1")) == (0, [], 0)
        jobs.answer("Refund", options={"JobId": "1", "Amount": "5"})
        each.look()
        [parcel] = each.outbox.left()
        assert parcel.said == "Charge was sent as 40 and is 35 now"
        jobs.answer("Charge", data=[CHARGE.format(10).replace(">2<", ">0<")])
        jobs.answer(
            "Modify", sets=[("Charge", "40"), ("Processors", "2")], wheres=[("Id", "EQ", "1")]
        )
        each.look()
        assert [*each.outbox.left()] == []  # as it was sent, again


RATED = ChargeRates({"Processors": Fraction(1)}, {"QualityOfService": {"premium": Fraction(2)}})
MANY = [("Charge", {"data": [CHARGE.format(100)]}), ("Charge", {"data": [CHARGE.format(50)]})]
BACK = "Refund", {"options": {"JobId": "1"}}


def modified(name, value):
    return "Modify", {"sets": [(name, value)], "wheres": [("Id", "EQ", "1")]}


@pytest.mark.parametrize(
    "charge, steps, told",
    [
        (False, MANY[:1], ""),
        (True, [*MANY, BACK], ""),
        (False, MANY, "what is sent was charged 100 here, and the job 300 in all"),
        (False, [MANY[0], BACK], "what is sent was charged 200 here, and the job 0 in all"),
        (False, [MANY[0], BACK, MANY[0]], ""),
        (False, [MANY[0], modified("Charge", "150")], "what is sent was charged 200 here, and the job 150 in all"),
        (False, [MANY[0], modified("Processors", "4")], "Processors is sent as 4 and was charged as 2"),
        (True, [MANY[0], modified("Processors", "4")], ""),
        (False, [MANY[0], modified("WallDuration", "7")], "WallDuration is sent as 7 and was charged as 100"),
        (False, [MANY[0], modified("QualityOfService", "premium")], "QualityOfService is sent as premium and was charged as nothing"),
        (False, [MANY[0], modified("QualityOfService", "usual")], ""),
        (True, [MANY[0], modified("User", "bob")], "UserId is sent as bob and was charged as ann"),
        (False, [("Charge", {"data": [USED_WITH.format("<Charge>5</Charge>")]}), modified("Processors", "4")], "Charge is sent as nothing and was charged as 5"),
    ],
)  # fmt: skip
def test_a_charge_there_that_differs_from_the_ledger_here_is_told(
    charge, steps, told, jobs, forwarding
):
    """The other server charges once, for what is sent; here are entries, and what was said then."""
    jobs.service.settings = ServiceSettings(ROLES, Accounting(RATED))
    with scripted(CHARGED) as gold:
        each = forwarding(gold.port, charge=charge, rates=lambda: RATED)
        jobs.create("<Job><Id>1</Id><User>ann</User><State>Running</State></Job>")
        for action, asked_for in [*steps, modified("State", "Completed")]:
            jobs.answer(action, **asked_for)
        assert each.look() == 1
        assert [parcel.said for parcel in each.outbox.left()] == [told]
        assert each.send() == 1
        state = [(parcel.state, parcel.said) for parcel in each.outbox.left()]
        assert state == ([(ParcelState.CHANGED, told)] if told else [])
        jobs.answer("Modify", **modified("Priority", "3")[1])
        each.look()
        assert [parcel.said for parcel in each.outbox.left()] == [told] * bool(told)
        assert each.outbox.settle("1") == bool(told)
        each._seen.clear()
        each.look()
        assert [*each.outbox.left()] == []


def test_a_queue_of_an_older_version_goes_on(tmp_path):
    path = tmp_path / "forward.db"
    with sqlite3.connect(path) as old:
        old.execute("PRAGMA application_id = 1936936770")
        old.execute(
            "CREATE TABLE job (key TEXT PRIMARY KEY, fields TEXT NOT NULL, state TEXT NOT NULL, "
            "tries INTEGER NOT NULL, added REAL NOT NULL, due REAL NOT NULL, said TEXT NOT NULL)"
        )
        old.execute("""INSERT INTO job VALUES ('k', '[["JobId", "1"]]', 'waiting', 0, 1, 1, '')""")
    for _ in range(2):
        outbox = Outbox(path)
        [parcel] = outbox.due(2.0)
        assert (parcel.fields, parcel.charged) == ((("JobId", "1"),), "")
        outbox.close()


def test_what_may_have_arrived_at_a_server_that_does_it_once_stays_as_it_is(jobs, forwarding):
    each = forwarding(closed_port(), SSSJOB)
    jobs.create(DONE.format(1))
    each.look()
    each.send()
    jobs.answer("Modify", sets=[("Processors", "5")], wheres=[("Id", "EQ", "1")])
    assert each.look() == 0
    assert [dict(parcel.fields)["Processors"] for parcel in each.outbox.left()] == ["16"]


@pytest.mark.parametrize(
    ("answer", "then", "sent"),
    [
        (None, KNOWN, ["Query"]),  # it had arrived
        (None, OTHER, ["Query", "Charge"]),  # something else had
        (None, said(), ["Query", "Charge"]),
        (b"HTTP/1.1 200 OK\r\n", KNOWN, ["Charge", "Query"]),
        (b"", KNOWN, ["Charge", "Query"]),  # silence
    ],
)
def test_where_nobody_knows_whether_it_arrived_gold_is_asked_before_it_is_told_again(
    jobs, forwarding, answer, then, sent
):
    with scripted(answer, then, CHARGED) as gold:
        each = forwarding(gold.port, patience=[SILENCE] if answer == b"" else [])
        jobs.create(DONE.format(1))
        each.look()
        each.send()
        assert states(each) == {"1": (ParcelState.UNKNOWN, 1)}
        each.clock.now += 30
        assert each.send() == 0  # it may still be at work
        gold.over.set()
        each.clock.now += 40
        each.send()
        each.clock.now += 40
        each.send()
        assert states(each) == {}
        assert [asked(gold, place).action for place in range(len(gold.requests))] == sent


def test_a_job_that_was_charged_there_is_not_taken_for_another_run_of_its_id(jobs, forwarding):
    """The first run was charged for as long as the second, of which nobody knows whether it was."""
    with scripted(CHARGED, b"", KNOWN, CHARGED) as gold:
        each = forwarding(gold.port, patience=[HANG, SILENCE])
        for start in (10, 20):
            jobs.create(
                DONE.format(1).replace("<State>", f"<SubmitTime>{start}</SubmitTime><State>")
            )
        assert (each.look(), each.send()) == (2, 1)
        assert states(each) == {"1": (ParcelState.UNKNOWN, 1)}
        gold.over.set()
        for _ in "12":
            each.clock.now += 70
            each.send()
        assert states(each) == {}
        actions = [asked(gold, place).action for place in range(len(gold.requests))]
        assert actions == ["Charge", "Charge", "Query", "Charge"]


def test_of_two_gateways_with_one_queue_one_sends_and_the_other_takes_over(
    jobs, forwarding, caplog
):
    with scripted(CHARGED, CHARGED) as gold:
        one, other = forwarding(gold.port), forwarding(gold.port)
        jobs.create(DONE.format(1))
        one.look()
        [parcel] = one.outbox.due(one.clock())
        one.outbox.move(parcel, ParcelState.SENDING)
        for _ in "12":
            other._round()
        assert (states(one), len(gold.requests)) == ({"1": (ParcelState.SENDING, 1)}, 0)
        assert [each.facts["state"] for each in caplog.records] == ["waits"]
        one.outbox.move(parcel, ParcelState.WAITING, due=one.clock())
        one._round()
        other._round()
        assert (len(gold.requests), states(other)) == (1, {})
        one.stop()
        jobs.create(DONE.format(2))
        other._round()
        assert (len(gold.requests), states(other)) == (2, {})


def test_one_queue_forwards_from_a_store_until_another_one_takes_over(jobs, forwarding, tmp_path):
    """Two gateways with queues of their own would each send every job."""
    with scripted(CHARGED, CHARGED) as gold:
        one = forwarding(gold.port)
        other = forwarding(gold.port, queue=tmp_path / "other.db")
        jobs.create(DONE.format(1))
        for each in (one, other):
            each._round()
        assert len(gold.requests) == 1
        assert [*other.outbox.counts()] == []
        assert other._told.startswith(
            f"see --take-over: jobs of this store are forwarded from another queue, {one.plan.queue}"
        )
        other.clock.now += 10
        take_over(other.plan, jobs.service.stores, now=other.clock.now)
        with jobs.service.stores.use() as kept:  # in the past, as for another second
            kept.engine.fetch("UPDATE change SET at = at - 1000")
        jobs.create(DONE.format(2))
        with jobs.service.stores.use() as kept:
            kept.engine.fetch("UPDATE change SET at = at + 20")
        for each in (one, other, one):
            each._round()
        assert [asked(gold, n).data.items[0].get("JobId") for n in range(len(gold.requests))] == [
            "1",
            "2",
        ]
        assert one._told
        assert not other._told


def test_a_second_name_of_a_server_is_not_forwarded_to_until_somebody_says_so(
    jobs, forwarding, tmp_path, caplog
):
    """One server under two names charged each job twice; two that are two may be wanted."""
    caplog.set_level(logging.INFO, "sssjob.gateway")
    with scripted(CHARGED) as gold, scripted(NONE, CHARGED) as another:
        one = forwarding(gold.port)
        two = forwarding(another.port, queue=tmp_path / "two.db")
        jobs.create(DONE.format(1))
        for each in (one, two, one, two):
            each._round()
        assert (len(gold.requests), len(another.requests)) == (1, 0)
        # What to do is said first: the log cuts what is long.
        assert two._told.startswith(
            f"see --take-over: 127.0.0.1:{another.port} may be another name of "
            f"127.0.0.1:{gold.port}, to which jobs of this store are forwarded from another queue, "
            f"{one.plan.queue}"
        )
        assert [each.facts["state"] for each in caplog.records].count("waits") == 1
        caplog.clear()
        take_over(two.plan, jobs.service.stores, now=two.clock.now + 10, since=0)
        for each in (one, two, one, two):
            each.clock.now += 100
            each._round()
        assert (len(gold.requests), len(another.requests)) == (1, 2)
        assert (one._told, two._told) == ("", "")
        beside = [each for each in caplog.records if each.facts["state"] == "beside"]
        [said] = [each.facts["reason"] for each in beside]
        assert said.startswith(f"jobs of this store are forwarded to 127.0.0.1:{gold.port}, too")


def test_a_queue_may_forward_to_a_server_by_another_name(jobs, forwarding):
    """It knows what it has sent; also when an older copy of it is put back then."""
    with scripted(CHARGED, CHARGED) as gold, scripted(KNOWN) as renamed:
        one = forwarding(gold.port)
        one._round()
        one.stop()
        shutil.copy(one.plan.queue, copy := one.plan.queue.with_name("copy.db"))
        one = forwarding(gold.port)
        jobs.create(DONE.format(1))
        one._round()
        one.stop()
        same = forwarding(renamed.port)
        same._round()
        assert (same._told, len(renamed.requests)) == ("", 0)
        same.stop()
        shutil.copy(copy, one.plan.queue)
        older = forwarding(renamed.port)
        older.clock.now += 10
        older._round()
        older.clock.now += 100
        older._round()
        assert (older._told, asked(renamed).action, _changed(older)) == ("", "Query", {})


def _changed(each):
    return {dict(one.fields)["JobId"]: one.said for one in each.outbox.left()}


SENT_AS = "<Job><Id>{}</Id><User>ann</User><State>Completed</State><Charge>12</Charge><Delivered><Processors>2</Processors><Duration>6</Duration></Delivered></Job>"


@pytest.mark.parametrize("charge", [True, False])
def test_what_was_sent_is_compared_whatever_the_job_says_by_now(jobs, forwarding, charge):
    """Also where it is not over any more, deleted, or in its group no more."""
    group = "<JobGroup><Id>wf</Id>{}</JobGroup>"
    told = {
        "a": ("<Job><Id>a</Id><User>ann</User></Job>", "Charge was sent as 12 and is 0 now"),
        "b": ("<Job><Id>b</Id><User>ann</User><Charge>5</Charge></Job>",
              "it says neither how long it ran nor when it started and ended"),
        "c": ("<Job><Id>c</Id><User>bob</User><State>Idle</State><Charge>12</Charge></Job>",
              "UserId was sent as ann and is bob now"),
        "d": (SENT_AS.format("d").replace("Completed", "Running"), None),  # it runs again
        "e": (SENT_AS.format("e").replace("Completed", "Idle").replace("12", "3"),
              "Charge was sent as 12 and is 3 now"),
        "g": (group.format(""), "it is in JobGroup wf no more"),
    }  # fmt: skip
    with jobs.service.stores.use() as kept:
        for id_ in [*told, "f"]:
            made = SENT_AS.format(id_)
            kept.load((group.format(made) if id_ == "g" else made).encode())
    with scripted(*[NONE] * 7, *[CHARGED] * 7) as gold:
        each = forwarding(gold.port, charge=charge)
        assert (each.look(), each.send(), each.send()) == (7, 0, 7)
        with jobs.service.stores.use() as kept, kept.change() as change:
            for now, _ in told.values():
                change.put(now.encode())
        jobs.answer("Refund", options={"JobId": "f"})
        jobs.answer("Delete", wheres=[("Id", "EQ", "f")])
        each.look()
        assert (each.send(), len(gold.requests)) == (0, 14)
        expected = {id_: said for id_, (_, said) in told.items() if said}
        assert _changed(each) == expected | {"f": "Charge was sent as 12 and is 0 now"}


def test_what_waits_is_forgotten_when_its_job_is_over_no_more(jobs, forwarding):
    each = forwarding(closed_port())
    with jobs.service.stores.use() as kept:
        kept.load(f"<JobGroup><Id>wf</Id>{DONE.format(3)}</JobGroup>".encode())
    jobs.create(DONE.format(1), DONE.format(2))
    assert (each.look(), each.send(), len(states(each))) == (3, 0, 3)
    jobs.answer("Modify", sets=[("State", "Running")], wheres=[("Id", "EQ", "1")])
    jobs.answer("Delete", wheres=[("Id", "EQ", "2")])
    with jobs.service.stores.use() as kept, kept.change() as change:
        change.put(b"<JobGroup><Id>wf</Id></JobGroup>")
    assert (each.look(), states(each)) == (0, {})


@pytest.mark.parametrize("begins", ["at first", "by taking over"])
def test_what_was_over_before_a_queue_began_is_never_sent_from_it(
    jobs, forwarding, tmp_path, begins
):
    """Whatever is done to it later; what it costs otherwise by then is told."""
    with jobs.service.stores.use() as kept:
        kept.load("".join(map(SENT_AS.format, range(6))).encode())
        kept.load(b"<JobGroup><Id>wf</Id>%s</JobGroup>" % SENT_AS.format("g").encode())
        kept.load(b"<Job><Id>r</Id><User>ann</User><State>Running</State></Job>")
        kept.engine.fetch("UPDATE change SET at = at - 100")
    with scripted(NONE, CHARGED) as gold:
        each = forwarding(gold.port)
        if begins == "by taking over":
            forwarding(gold.port, queue=tmp_path / "other.db")._round()
            each._round()
            take_over(each.plan, jobs.service.stores, now=each.clock.now)
        each._round()
        jobs.answer("Refund", options={"JobId": "0", "Amount": "4"})
        for id_ in "1g":
            jobs.answer("Modify", sets=[("Description", "x")], wheres=[("Id", "EQ", id_)])
        for id_ in "235":
            jobs.answer("Delete", wheres=[("Id", "EQ", id_)])
        jobs.answer("Undelete", wheres=[("Id", "EQ", "3")])
        jobs.create(SENT_AS.format("5"))
        with jobs.service.stores.use() as kept:
            kept.load(SENT_AS.format("4").replace("ann", "bob").encode())
        over = [("State", "Completed"), ("WallDuration", "9")]
        jobs.answer("Modify", sets=over, wheres=[("Id", "EQ", "r")])
        for _ in range(3):
            each._round()
            each.clock.now += 100
        # What runs when a queue begins is asked for once it has ended: a lost one may know it.
        assert [asked(gold, at).action for at in range(len(gold.requests))] == ["Query", "Charge"]
        assert asked(gold).data.items[0].get("JobId") == "r"
        said = "it was not sent from this queue, and {} now"
        assert _changed(each) == {
            "0": said.format("Charge was sent as 12 and is 8"),
            "4": said.format("UserId was sent as ann and is bob"),
        }


@pytest.mark.parametrize("charge", [True, False])
@pytest.mark.parametrize("since", [0, None])
def test_what_a_lost_queue_has_sent_and_was_refunded_is_told_and_not_sent(
    jobs, forwarding, tmp_path, charge, since
):
    """Of peers that say no State, in part and in full, at the lost queue and at the next one."""
    jobs.service.settings = ServiceSettings(
        ROLES, Accounting(ChargeRates({"Processors": Fraction(1)}))
    )
    with jobs.service.stores.use() as kept:
        for id_ in "123":
            jobs.answer("Charge", data=[CHARGE.format(10).replace(">1<", f">{id_}<")], now=1.0)
        kept.engine.fetch("UPDATE change SET at = 1")
    jobs.answer("Refund", options={"JobId": "1"})
    jobs.answer("Refund", options={"JobId": "2", "Amount": "4"})
    with jobs.service.stores.use() as kept:
        kept.engine.fetch("UPDATE change SET at = 2 WHERE at > 1")
    found = [said(Row("Job", (("JobId", id_), ("WallDuration", "10"), ("User", "ann"),
                              ("Charge", "20.00")))) for id_ in "123"]  # fmt: skip
    with scripted(*found) as gold:
        each = forwarding(gold.port, charge=charge)
        each.clock.now += 10
        take_over(each.plan, jobs.service.stores, now=each.clock.now, since=since)
        again = forwarding(gold.port, charge=charge)
        each.stop()
        again.clock.now += 10
        for _ in range(3):
            again._round()
        sent = [asked(gold, at).action for at in range(len(gold.requests))]
        if since is None:
            assert (sent, _changed(again)) == ([], {})
            jobs.answer("Modify", sets=[("Description", "x")], wheres=[("Id", "NE", "x")])
            jobs.answer("Refund", options={"JobId": "3"})
            with jobs.service.stores.use() as kept:  # later than the clock that stands still
                kept.engine.fetch("UPDATE change SET at = at + 100 WHERE at > 2")
            again.clock.now += 200
            again._round()
            assert _changed(again).keys() == {"3"}
            assert gold.requests == []
            return
        assert sent == ["Query"] * 3
        told = _changed(again)
        assert told.keys() == {"1", "2"}
        if charge:
            assert set(told.values()) == {"it is charged there already, with Charge 20.00"}


def _came_with_its_charge(jobs, forwarding, port, tmp_path):
    each = forwarding(port)
    with jobs.service.stores.use() as kept:
        kept.load(DONE.format(1).replace("</Job>", "<Charge>20</Charge></Job>").encode())
    return each


def _came_with_a_charge_and_was_charged(jobs, forwarding, port, tmp_path):
    each = forwarding(port)
    run = DONE.format(1).replace("Completed", "Running")
    with jobs.service.stores.use() as kept:
        kept.load(run.replace("</Job>", "<Charge>20</Charge></Job>").encode())
    each.look()
    jobs.answer(
        "Charge", data=[CHARGE.format(1155).replace("</Job>", "<State>Completed</State></Job>")]
    )
    return each


def _taken_over(jobs, forwarding, port, tmp_path):
    one, other = forwarding(port), forwarding(port, queue=tmp_path / "other.db")
    one._round()
    other._round()
    jobs.create(DONE.format(1))  # perhaps sent before the queue was lost
    other.clock.now += 10
    take_over(other.plan, jobs.service.stores, now=other.clock.now, since=0)
    return other


def _an_older_copy(jobs, forwarding, port, tmp_path):
    queue, copy = tmp_path / "forward.db", tmp_path / "copy.db"
    each = forwarding(port)
    each._round()
    each.stop()
    shutil.copy(queue, copy)
    each = forwarding(port)
    jobs.create(DONE.format(1))
    each._round()
    each.stop()
    shutil.copy(copy, queue)
    again = forwarding(port)
    again.clock.now += 10
    return again


@pytest.mark.parametrize(
    ("there", "sent", "told"),
    [
        (KNOWN, 0, {}), (NONE, 1, {}),
        (OTHER, 0, {"1": "it is charged there already, with WallDuration 7"}),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "how",
    [_came_with_its_charge, _came_with_a_charge_and_was_charged, _taken_over, _an_older_copy],
)
def test_what_another_may_have_sent_is_asked_for_first(
    jobs, forwarding, tmp_path, there, sent, told, how
):
    before = [CHARGED] * (how is _an_older_copy)
    with scripted(*before, there, CHARGED) as gold:
        each = how(jobs, forwarding, gold.port, tmp_path)
        for _ in range(4):
            each._round()
            each.clock.now += 100
        actions = [asked(gold, at).action for at in range(len(before), len(gold.requests))]
        assert actions == ["Query", "Charge"][: 1 + sent]
        if how is not _came_with_a_charge_and_was_charged:  # two Charges, which is told anyhow
            assert _changed(each) == told
            assert each.outbox.settle("1") == len(told)


def test_a_process_that_ends_while_it_sends_does_not_send_twice(jobs, forwarding):
    each = forwarding(closed_port())
    jobs.create(DONE.format(1))
    each.look()
    [parcel] = each.outbox.due(each.clock())
    each.outbox.move(parcel, ParcelState.SENDING)
    os.close(each._owned)
    each._owned = None  # and is killed here
    with scripted(KNOWN) as gold:
        again = forwarding(gold.port)
        assert states(again) == {"1": (ParcelState.UNKNOWN, 1)}
        again.clock.now += 70
        assert again.send() == 1
        assert asked(gold).action == "Query"


def test_our_own_gateway_is_simply_told_again_since_it_charges_once(jobs, forwarding, tmp_path):
    with job_service(str(tmp_path / "other.db")) as other, gateway(other.actions) as running:
        other.service.settings.roles.actors["sssjob"] = ("scheduler",)
        each = forwarding(running.address()[1], SSSJOB)
        jobs.create(DONE.format(1))
        each.look()
        for _ in range(2):
            [parcel] = each.outbox._parcels("1 = 1")
            each.outbox.move(parcel, ParcelState.WAITING)
            assert each.send() == 1
        [row] = other.ask("Query", gets=["Charge", "Version"])
        assert row == {"Charge": "0", "Version": "1"}


def test_a_gateway_forwards_to_another_by_itself(jobs, tmp_path):
    with job_service(str(tmp_path / "other.db")) as other, gateway(other.actions) as running:
        other.service.settings.roles.actors["sssjob"] = ("scheduler",)
        client = Client([Legacy(*running.address())], Key(KEY), GOLD, tries=1)
        each = Forwarding(
            ForwardingPlan(client, tmp_path / "forward.db", every=0.02), jobs.service.stores
        )
        each.start()
        jobs.create(*(DONE.format(number) for number in range(20)))
        assert until(lambda: each.outbox.counts() == {ParcelState.SENT: 20})
        each.stop()
        assert len(other.ids(("Duration", "EQ", "1155"))) == 20


@pytest.mark.parametrize(
    ("job", "fields"),
    [
        ("<Job><Id>1</Id><StartTime>100</StartTime><EndTime>160</EndTime></Job>", {"JobId": "1", "StartTime": "100", "EndTime": "160", "WallDuration": "60"}),
        ("<Job><Id>1</Id><State>Completed</State><Requested><Duration>99</Duration></Requested></Job>", {}),
        ("<Job><Id>1</Id><State>Running</State><EndTime>9</EndTime><Duration>9</Duration></Job>", {}),
        ("<Job><Id>1</Id><Duration>9</Duration></Job>", {}),
        ("<Job><Id>1</Id><State>Completed</State><Duration>9</Duration><Charge>5</Charge></Job>", {"JobId": "1", "Charge": "5", "WallDuration": "9"}),
        # What was asked for is not what was used.
        ("<Job><Id>1</Id><State>Completed</State><Requested><Processors>9</Processors><Memory>9</Memory><NodeCount>9</NodeCount><QualityOfService>q</QualityOfService></Requested><Delivered><Duration>9</Duration></Delivered></Job>", {"JobId": "1", "QualityOfService": "q", "WallDuration": "9"}),
        ("<Job><Id>1</Id><Requested><EndTime>60</EndTime></Requested><Delivered><Duration>9</Duration></Delivered></Job>", {}),
        ("<Job><Id>1</Id><Duration>3600</Duration><StartTime>100</StartTime><EndTime>160</EndTime></Job>", {"JobId": "1", "StartTime": "100", "EndTime": "160", "WallDuration": "60"}),
        # As reports read them.
        ("<Job><Id>1</Id><State>Completed</State><Delivered><Duration group='1'>20</Duration><Machine group='-1'>a</Machine><Duration group='1'>40</Duration><Machine group='-1'>b</Machine></Delivered></Job>", {"JobId": "1", "MachineName": "a", "WallDuration": "60"}),
        ("<Job><Id>1</Id><StartTime>1970-01-01T00:01:40Z</StartTime><EndTime>160</EndTime><Delivered><Duration>0:01:00</Duration></Delivered></Job>", {"JobId": "1", "StartTime": "100", "EndTime": "160", "WallDuration": "60"}),
        ("<Job><Id>1</Id><SuspendDuration>20</SuspendDuration><StartTime>100</StartTime><EndTime>160</EndTime></Job>", {"JobId": "1", "StartTime": "100", "EndTime": "160", "WallDuration": "40"}),
        ("<Job><Id>1</Id><State>Completed</State><Duration context='Used'>9</Duration></Job>", {}),
        ("<Job><Id>1</Id><Duration>50</Duration><StartTime>100</StartTime><EndTime>160</EndTime></Job>", {"JobId": "1", "StartTime": "100", "EndTime": "160", "WallDuration": "50"}),
    ],
)  # fmt: skip
def test_a_job_is_sent_when_it_is_over_and_says_how_long_it_ran(job, fields):
    assert dict(finished(only(loads(job)), charge=True)) == fields


def test_a_job_that_cannot_be_sent_is_shown_until_it_can(jobs, forwarding):
    half = DONE.replace("1155", "5.5")
    started = "<Job><Id>2</Id><State>Completed</State><StartTime>5</StartTime></Job>"
    never = "<Job><Id>3</Id><State>Cancelled</State><EndTime>5</EndTime></Job>"
    with scripted(CHARGED) as gold:
        each = forwarding(gold.port)
        jobs.create(half.format(1), started, never)
        assert (each.look(), each.send()) == (0, 0)
        said = {parcel.key.split()[1]: parcel.said for parcel in each.outbox.left()}
        assert said == {
            "1": "Duration 5.5 is not in whole seconds",
            "2": "it says when it started, and not how long it ran or when it ended",
        }  # and nothing of one that was cancelled before it ran
        jobs.answer("Modify", sets=[("WallDuration", "6")], wheres=[("Id", "EQ", "1")])
        assert (each.look(), each.send()) == (1, 1)
        assert asked(gold).data.items[0].get("WallDuration") == "6"
        assert states(each) == {"2": (ParcelState.INCOMPLETE, 0)}
        jobs.answer("Modify", sets=[("Priority", "1")], wheres=[("Id", "EQ", "1")])
        assert each.look() == 0


def test_what_is_no_longer_to_be_sent_leaves_the_queue_and_what_was_sent_stays(jobs, forwarding):
    with scripted(CHARGED) as gold:
        each = forwarding(gold.port)
        silent = "<Job><Id>{}</Id><State>Completed</State></Job>"
        jobs.create(DONE.format(1), *(silent.format(number) for number in (2, 3, 4)))
        assert (each.look(), each.send()) == (1, 1)
        assert [*states(each)] == ["2", "3", "4"]
        jobs.answer("Modify", sets=[("State", "Cancelled")], wheres=[("Id", "EQ", "2")])
        jobs.answer("Delete", wheres=[("Id", "EQ", "3")])
        jobs.answer("Delete", wheres=[("Id", "EQ", "1")])
        assert each.look() == 0
        assert [*states(each)] == ["4"]
        assert each.outbox.counts()[ParcelState.SENT] == 1
        for name in ("1", "3"):
            jobs.answer("Undelete", wheres=[("Id", "EQ", name)])
        assert each.look() == 0
        assert [*states(each)] == ["3", "4"]


NOTHING = "it says neither how long it ran nor when it started and ended"
END = "it says when it ended, and not how long it ran or when it started"


@pytest.mark.parametrize(
    ("said", "hindered"),
    [
        ("<State>Completed</State>", NOTHING),
        ("<State>Failed</State><Requested><Duration>60</Duration></Requested>", NOTHING),
        ("<ExitCode>0</ExitCode>", NOTHING),
        ("<EndTime>60</EndTime>", END),
        ("<State>TimedOut</State><EndTime>60</EndTime>", END),
        ("<State>Completed</State><Delivered><Processors>4</Processors></Delivered>", NOTHING),
        ("<StartTime>60</StartTime><EndTime>5</EndTime>", "StartTime 60 and EndTime 5 are not the times of a run"),
        # Cancelled before it ran: nothing is to be sent.
        ("<State>Cancelled</State>", ""),
        ("<State>removed</State><EndTime>60</EndTime><ExitCode>0</ExitCode>", ""),
        ("<State>Cancelled</State><StartTime>60</StartTime>", "it says when it started, and not how long it ran or when it ended"),
        ("<State>Cancelled</State><Delivered><Processors>4</Processors></Delivered>", NOTHING),
        ("<State>Cancelled</State><StartCount>1</StartCount>", NOTHING),
    ],
)  # fmt: skip
def test_who_makes_a_job_that_cannot_be_sent_is_told_whichever_way_it_became_so(
    said, hindered, tmp_path
):
    """By a Create, by the Modify after which it is so and no later one, and by an Undelete."""
    assert hindrance(only(loads(f"<Job><Id>1</Id>{said}</Job>"))) == hindered
    told = f"{{}}: will not be forwarded: {hindered}" if hindered else None
    with job_service(str(tmp_path / "jobs.db")) as jobs:
        jobs.service.advice = unsendable
        sets = [
            (name, text)
            for name, text in re.findall(
                r"<(State|ExitCode|EndTime|StartTime|StartCount)>(.*?)</", said
            )
        ]
        rest = re.sub(r"<(State|ExitCode|EndTime|StartTime|StartCount)>.*?</\1>", "", said)
        jobs.actions = Actions(jobs.service.actions)
        one = [("Id", "EQ", "2")]
        answers = [
            jobs.answer("Create", data=[f"<Job><Id>1</Id>{said}</Job>"])[0],
            jobs.answer("Create", data=[f"<Job><Id>2</Id><State>Idle</State>{rest}</Job>"])[0],
            jobs.answer("Modify", sets=[("State", "NULL"), *sets], wheres=one)[0],
            jobs.answer("Modify", sets=[("Priority", "1")], wheres=one)[0],
            jobs.answer("Delete", wheres=one)[0],
            jobs.answer("Undelete", wheres=one)[0],
        ]
        said_of = [None if each.code == "000" else each.message for each in answers]
        of_1, of_2 = (told and told.format(name) for name in "12")
        assert said_of == [of_1, None, of_2, None, None, of_2]


@pytest.mark.parametrize(
    ("said", "doubt"),
    [
        ("<State>TIMEOUT</State><EndTime>9</EndTime>", "nobody knows whether a job of the State TIMEOUT has ended"),
        ("<State>TIMEOUT</State>", ""),
        ("<State>TIMEOUT</State><ExitCode>1</ExitCode>", "nobody knows whether a job of the State TIMEOUT has ended"),
        ("<State>running</State><EndTime>9</EndTime>", ""),
    ],
)  # fmt: skip
def test_an_end_in_a_state_that_nobody_knows_is_shown_and_not_charged(said, doubt):
    job = only(loads(f"<Job><Id>1</Id>{said}<Delivered><Duration>9</Duration></Delivered></Job>"))
    assert (finished(job), hindrance(job)) == ((), doubt)


@pytest.mark.parametrize("state", ["Timeout", "Running", "Idle", "HOLD", "suspended"])
def test_a_charge_in_a_state_that_is_no_end_is_told_and_shown_until_its_job_has_ended(
    jobs, forwarding, state
):
    each = forwarding(closed_port())
    created = "<Job><Id>{}</Id><User>ann</User><State>{}</State></Job>"
    jobs.create(created.format(1, state), created.format(2, state))
    jobs.service.advice = unsendable
    jobs.actions = Actions(jobs.service.actions)
    used = "<Processors>1</Processors><WallDuration>5</WallDuration>"
    charge = f"<Job><JobId>1</JobId><UserId>ann</UserId>{used}</Job>"
    answer, _ = jobs.answer("Charge", data=[charge])
    assert (answer.code, "will not be forwarded" in answer.message) == ("100", True)
    each.look()
    assert {id_: found for id_, (found, _) in states(each).items()} == {"1": ParcelState.INCOMPLETE}
    jobs.answer("Modify", sets=[("State", "Completed")], wheres=[("Id", "EQ", "1")])
    each.look()
    assert {id_: found for id_, (found, _) in states(each).items()} == {"1": ParcelState.WAITING}


def test_a_job_that_goes_on_and_was_charged_before_a_queue_began_is_sent_when_it_ends(
    jobs, forwarding
):
    with jobs.service.stores.use() as kept:
        running = SENT_AS.format(1).replace("Completed", "Running")
        kept.load(running.encode())
        kept.engine.fetch("UPDATE change SET at = at - 100")
    each = forwarding(closed_port())
    jobs.answer("Modify", sets=[("State", "Completed")], wheres=[("Id", "EQ", "1")])
    assert (each.look(), len(states(each))) == (1, 1)


def test_who_creates_a_job_that_cannot_be_sent_is_told(tmp_path):
    made = GatewayConfig(
        jobs=StoreJobs(str(tmp_path / "jobs.db"), settings=ServiceSettings(ROLES)),
        forward=ForwardingPlan(
            Client([Legacy("127.0.0.1", closed_port())], Key(KEY), GOLD), tmp_path / "q"
        ),
    )
    for config, code in ((made, "100"), (replace(made, forward=GatewayConfig().forward), "000")):
        service = answering(config)
        data = Data((DataDocument(DONE.replace("1155", "5.5").format(code).encode()),))
        request = Request("Create", "root", (Object("Job"),), data=data)
        answer = Actions(service.actions)(ReceivedRequest(request, "root"))
        assert answer.code == code
        told = f"{code}: will not be forwarded: Duration 5.5 is not in whole seconds"
        assert (answer.message == told) is (code == "100")
        service.stores.close()


def test_a_job_that_was_reserved_is_sent_with_what_it_used(jobs, forwarding):
    reserved = "<Job><JobId>1</JobId><UserId>ann</UserId><Processors>4</Processors><WallDuration>3600</WallDuration></Job>"
    with scripted(CHARGED) as gold:
        each = forwarding(gold.port)
        jobs.create("<Job><Id>1</Id><User>ann</User><State>Idle</State></Job>")
        jobs.answer("Reserve", data=[reserved])
        times = [("StartTime", "1000"), ("EndTime", "1060"), ("State", "Completed")]
        jobs.answer("Modify", sets=times, wheres=[("Id", "EQ", "1")])
        assert (each.look(), each.send()) == (1, 1)
        [row] = asked(gold).data.items
        assert row.get("WallDuration") == "60"


USED = "<Job><JobId>{}</JobId><UserId>ann</UserId><Processors>4</Processors><WallDuration>60</WallDuration>{}</Job>"


def test_a_charge_of_a_peer_that_tells_no_state_ends_its_job(jobs, forwarding):
    """Maui and Hadoop On Demand say nothing else of a job."""
    with scripted(CHARGED, NONE, CHARGED) as gold:
        each = forwarding(gold.port)
        jobs.answer("Charge", data=[USED.format(1, "")])
        jobs.answer("Charge", data=[USED.format(2, "<State>Running</State>")])
        jobs.answer("Reserve", data=[USED.format(3, "")])
        jobs.create("<Job><Id>4</Id><Charge>7</Charge><Duration>60</Duration><State/></Job>")
        assert (each.look(), each.send(), each.send()) == (2, 1, 1)
        # What came with a Charge may be the other server's own, which is asked for it.
        assert asked(gold, 1).action == "Query"
        sent = [asked(gold, place).data.items[0].get("JobId") for place in (0, 2)]
        assert sorted(sent) == ["1", "4"]
        assert {id_: found for id_, (found, _) in states(each).items()} == {
            "2": ParcelState.INCOMPLETE
        }


@pytest.mark.parametrize(
    "back",
    [
        {"action": "Modify", "sets": [("Charge", "NULL")], "wheres": [("Id", "EQ", "1")]},
        {"action": "Modify", "sets": [("Charge", "0")], "wheres": [("Id", "EQ", "1")]},
        {"action": "Refund", "options": {"JobId": "1"}},
    ],
)  # fmt: skip
def test_what_was_taken_back_is_sent_as_a_charge_of_nothing(back, jobs, forwarding):
    jobs.service.settings = replace(
        jobs.service.settings, accounting=Accounting(ChargeRates({"Processors": Fraction(1)}))
    )
    with scripted(CHARGED) as gold:
        each = forwarding(gold.port, charge=True)
        jobs.answer("Charge", data=[USED.format(1, "<State>Running</State>")])
        jobs.answer(**back)
        jobs.answer("Modify", sets=[("State", "Completed")], wheres=[("Id", "EQ", "1")])
        assert (each.look(), each.send()) == (1, 1)
        assert asked(gold).data.items[0].get("Charge") == "0"


@pytest.mark.parametrize(
    ("said", "hindered"),
    [
        ("<User>\u4e2d</User>", "User \u4e2d has a character that the server cannot take"),
        ("<User>o'neil</User>", "User o'neil has a character that the server cannot take"),
        ("<Project>a\\</Project>", "Project a\\ has a character that the server cannot take"),
        ("<Delivered><Processors>-5</Processors></Delivered>", "Processors -5 is less than 0"),
        ("<Processors>4.5</Processors>", "Processors 4.5 is no whole number"),
        ("<NodeCount>many</NodeCount>", "NodeCount many is no whole number"),
        ("<TaskGroup><TaskCount>3</TaskCount><Delivered><Processors>4</Processors></Delivered></TaskGroup>", "its Processors are told of its task groups only"),
    ],
)  # fmt: skip
def test_what_gold_cannot_be_told_is_said_at_once_and_shown(said, hindered, jobs, forwarding):
    job = f"<Job><Id>1</Id><State>Completed</State><Duration>9</Duration>{said}</Job>"
    assert unsendable(only(loads(job))) == f"will not be forwarded: {hindered}"
    each = forwarding(closed_port())
    jobs.create(job)
    assert each.look() == 0
    assert [parcel.said for parcel in each.outbox.left()] == [hindered]
    other = forwarding(closed_port(), SSSJOB, queue=each.plan.queue.with_name("other.db"))
    assert other.look() == (1 if "character" in hindered else 0)


ODD = [
    ("<Processors>-5</Processors>", "Processors -5 is less than 0"),
    ("<NodeCount>-1</NodeCount>", "NodeCount -1 is less than 0"),
    ("<Memory>-5</Memory>", "Memory -5 is less than 0"),
    ("<Disk>much</Disk>", "Disk much is no number"),
    ("<Processors>4/1</Processors>", "Processors 4/1 is no whole number"),
    ("<Processors>1e15</Processors>", "Processors 1e15 has more than 15 digits"),
    ("<Delivered><Processors duration='3'>4</Processors></Delivered>", "Processors 1.33333333333333333 is no whole number"),
    ("<Delivered><Processors duration='soon'>4</Processors></Delivered>", "The duration of Processors: 'soon' is not a duration in whole seconds such as 3600"),
    ("<Processors/>", "Processors has no value"),
    ("<Processors units='KB'>4</Processors>", "Processors has no units, found KB"),
    ("<Processors op='GE'>4</Processors>", "Processors is one value, without op and conj"),
    ("<Resource name='Processors'>4</Resource>", "Processors is not told of the whole job, by its own name"),
    ("<Delivered><Processors>4</Processors><Processors>5</Processors></Delivered>", "it has two different values of Processors"),
    ("<StartTime>noon</StartTime>", "StartTime noon is no time"),
    ("<EndTime>-5</EndTime>", "EndTime -5 is no time"),
]  # fmt: skip


@pytest.mark.parametrize(("said", "hindered"), ODD)
def test_a_negative_or_odd_amount_is_told_and_shown_and_never_sent(
    said, hindered, jobs, forwarding
):
    each = forwarding(closed_port())
    job = f"<Job><Id>1</Id><State>Completed</State><Duration>9</Duration>{said}</Job>"
    # As an import has it, which refuses nothing.
    with jobs.service.stores.use() as kept, kept.change() as change:
        change.put(job.encode())
    assert each.look() == 0
    assert [(parcel.state, parcel.said) for parcel in each.outbox.left()] == [
        (ParcelState.INCOMPLETE, hindered)
    ]


@pytest.mark.parametrize(("said", "good"), [("-5", False), ("a", False), ("0.5", True)])
def test_a_charge_that_is_none_is_not_sent_where_charges_are(said, good):
    job = f"<Job><Id>1</Id><State>Completed</State><Duration>9</Duration><Charge>{said}</Charge></Job>"
    assert (hindrance(only(loads(job)), charge=True) == "") is good
    assert hindrance(only(loads(job))) == ""


def test_amounts_of_each_kind_are_sent_as_numbers(jobs):
    job = "<Job><Id>1</Id><State>Completed</State><Duration>9</Duration><Memory units='GB'>1.5</Memory><Disk>1e3</Disk><NodeCount>2.0</NodeCount></Job>"
    view = only(loads(job))
    expected = {"JobId": "1", "Nodes": "2", "Memory": "1536", "Disk": "1000", "WallDuration": "9"}
    assert (dict(finished(view)), hindrance(view)) == (expected, "")


def test_who_charges_a_job_that_cannot_be_sent_is_told_once(jobs):
    jobs.service.advice = unsendable
    jobs.actions = Actions(jobs.service.actions)
    told = [USED.format("1", "").replace("ann", "\u4e2d"), USED.format("2", "")]
    told.append(
        told[1].replace("<JobId>2", "<JobId>3").replace("</Job>", "<State>Running</State></Job>")
    )
    answers = [jobs.answer("Charge", data=[data])[0] for data in (*told, told[0], told[2])]
    assert [each.code for each in answers] == ["100", "000", "100", "000", "000"]
    assert answers[0].message.splitlines()[1] == (
        "will not be forwarded: User \u4e2d has a character that the server cannot take"
    )
    again = jobs.answer("Charge", data=[told[0]], id="7")[0]
    copy = jobs.answer("Charge", data=[told[0]], id="7")[0]
    assert (again.code, replace(again, again=True)) == ("000", copy)


def test_what_only_describes_a_job_does_not_keep_it_from_being_charged():
    job = "<Job><Id>1</Id><State>Completed</State><Duration>9</Duration><Processors>1e1</Processors><Queue>o'q</Queue><Executable>/home/o'neil/a\u4e2d</Executable></Job>"
    expected = {"JobId": "1", "Processors": "10", "WallDuration": "9"}
    assert (dict(finished(only(loads(job)))), hindrance(only(loads(job)))) == (expected, "")


def test_the_number_of_a_quote_of_ours_is_none_of_the_other_servers(jobs, forwarding):
    with scripted(CHARGED, CHARGED) as gold:
        each = forwarding(gold.port)
        jobs.create(DONE.format(1), DONE.format(2).replace("</Job>", "<Quote>7</Quote></Job>"))
        jobs.answer("Quote", data=[DONE.format(1)], options={"Guarantee": "True"})
        assert (each.look(), each.send()) == (2, 2)
        sent = [asked(gold, place).data.items[0] for place in (0, 1)]
        assert [row.get("QuoteId") for row in sent] == [None, "7"]


@pytest.mark.parametrize("charge", [False, True])
def test_what_was_charged_here_is_sent_although_its_job_was_deleted(charge, jobs, forwarding):
    """Its credits stay taken here: what was charged was used."""
    run = "<Job><Id>1</Id><User>ann</User><State>Running</State></Job>"
    jobs.service.settings = ServiceSettings(ROLES, Accounting(RATED))
    with scripted(CHARGED) as gold:
        each = forwarding(gold.port, charge=charge)
        jobs.create(run, run.replace(">1<", ">2<"), run.replace(">1<", ">3<"))
        for name in "12":
            jobs.answer("Charge", data=[CHARGE.format(10).replace(">1<", f">{name}<")])
        jobs.answer("Refund", options={"JobId": "2"})
        for name in "123":
            jobs.answer("Delete", wheres=[("Id", "EQ", name)])
        assert (each.look(), each.send()) == (1, 1)
        [row] = asked(gold).data.items
        assert (row.get("JobId"), row.get("Charge")) == ("1", "20" if charge else None)
        each._seen.clear()
        jobs.answer("Undelete", wheres=[("Id", "EQ", "1")])
        assert (each.look(), each.send(), [*each.outbox.left()]) == (0, 0, [])


def test_a_job_that_has_ended_and_has_no_id_is_told(jobs, forwarding):
    done = (
        "<Job><User>ann</User><State>{}</State><Delivered><Duration>4</Duration></Delivered></Job>"
    )
    jobs.service.advice = unsendable
    group = "<JobGroup><Id>g</Id>" + done.format("Idle") + done.format("Completed") + "</JobGroup>"
    answer, _ = jobs.answer("Create", object="JobGroup", data=[group])
    assert (answer.code, answer.message) == ("100", "job 2: will not be forwarded: it has no Id")
    each = forwarding(closed_port())
    each._first = 0
    assert each.look() == 0
    [parcel] = each.outbox.left()
    assert (parcel.state, parcel.said) == (ParcelState.INCOMPLETE, "it has no Id")
    assert parcel.fields == (("JobId", "job 2 of JobGroup g"),)


def test_a_queue_is_no_other_database(tmp_path):
    import sqlite3

    (tmp_path / "text").write_text("no database " * 100)
    with pytest.raises(UnusableStore):
        Outbox(tmp_path / "text")
    with sqlite3.connect(tmp_path / "jobs.db") as other:
        other.execute("PRAGMA application_id = 5")
    with pytest.raises(UnusableStore, match="no queue"):
        Outbox(tmp_path / "jobs.db")
