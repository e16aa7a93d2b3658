"""What the other server was charged is what the ledger says, or people are told that it is not."""

import shutil
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from job_service import job_service

from sssjob.client import GOLD
from sssjob.errors import NoReply
from sssjob.gateway.forwarding import Forwarding, ForwardingPlan, take_over
from sssjob.gateway.outbox import ParcelState
from sssjob.handlers.charging import Accounting
from sssjob.handlers.rates import ChargeRates
from sssjob.handlers.view import job_views
from sssjob.rmap.message import Response, Row, Status

ALONE, GROUPED = "ab", "cd"
RUNNING = ("Running", "Idle")


class Gold:
    """A server that charges what it is told, or what our rates say; some answers are lost."""

    dialect, tries, transports = GOLD, 1, ()

    def __init__(self):
        self.charged, self.loses, self.refuses = [], False, False

    def call(self, request):
        if self.refuses:
            return [Response(Status.of("740", "not now"))]
        [row] = request.data.items
        self.charged.append(dict(row.fields))
        self._answered()
        return [Response(Status.of("000"))]

    def rows(self, request):
        self._answered()
        [wanted] = [where.value for where in request.wheres if where.name == "JobId"]
        for told in self.charged:
            if told["JobId"] == wanted:
                yield Row("Job", tuple((get.name, told.get(get.name, "")) for get in request.gets))

    def _answered(self):
        if self.loses:
            raise NoReply("232", "lost", asked=True)

    def of(self, id_):
        def of_rates(each):
            return int(each.get("Processors", 0)) * int(each["WallDuration"])

        mine = [each for each in self.charged if each["JobId"] == id_]
        return sum(Fraction(each.get("Charge") or of_rates(each)) for each in mine)


class Site:
    """A gateway over a store, its queue, and the server that it forwards to."""

    def __init__(self, jobs, folder, *, charge=True):
        self.jobs, self.gold = jobs, Gold()
        self.plan = ForwardingPlan(
            self.gold, folder / "forward.db", charge=charge, wait=60.0, give_up=4000.0
        )
        self.other = replace(self.plan, queue=folder / "other.db")
        self.copy = folder / "copy.db"
        self.store, self.kept = Path(jobs.address), folder / "kept.db"
        self.now = time.time()
        self.forwarding = self._begun()
        self.round("", 0)  # from now on the store knows this queue

    def _begun(self):
        return Forwarding(self.plan, self.jobs.service.stores, clock=lambda: self.now)

    def create(self, id_, said):
        self.jobs.said("Create", data=[f"<Job><Id>{id_}</Id>{said}</Job>"])

    def imported(self, id_, said):
        with self.jobs.service.stores.use() as kept:
            kept.load(f"<Job><Id>{id_}</Id>{said}</Job>".encode())

    def grouped(self, id_, said):
        """Of the jobs of a group one is there, and the other one says nothing, or is gone.

        No import does that to one that ran.
        """
        with self.jobs.service.stores.use() as kept, kept.change() as change:
            found = change.get("g")
            other = [each for each in GROUPED if each != id_ and "Charge" in said]
            left = "".join(f"<Job><Id>{each}</Id></Job>" for each in other) if found else ""
            change.put(
                f"<JobGroup><Id>g</Id><Job><Id>{id_}</Id>{said}</Job>{left}</JobGroup>".encode()
            )

    def charge(self, id_, seconds):
        used = f"<Processors>2</Processors><WallDuration>{seconds}</WallDuration>"
        self.jobs.said(
            "Charge", data=[f"<Job><JobId>{id_}</JobId><UserId>ann</UserId>{used}</Job>"]
        )

    def refund(self, id_, amount):
        more = {} if amount > 5 else {"Amount": str(amount)}
        self.jobs.said("Refund", options={"JobId": id_} | more)

    def modify(self, id_, sets):
        self.jobs.said("Modify", sets=[sets], wheres=[("Id", "EQ", id_)])

    def hide(self, id_, action):
        kind, name = ("JobGroup", "g") if id_ in GROUPED else ("Job", id_)
        self.jobs.said(action, object=kind, wheres=[("Id", "EQ", name)])

    def round(self, _, seconds):
        self.now += seconds
        self.forwarding._round()

    def lost(self, id_, seconds):
        self.gold.loses = True
        self.round(id_, seconds)
        self.gold.loses = False

    def restarted(self, _, __):
        self.forwarding.stop()
        self.forwarding = self._begun()

    def copied(self, _, __):
        self.forwarding.stop()
        shutil.copy(self.plan.queue, self.copy)
        self.forwarding = self._begun()

    def restored(self, _, __):
        """An older copy of the queue is put back."""
        self.forwarding.stop()
        if self.copy.exists():
            shutil.copy(self.copy, self.plan.queue)
        self.forwarding = self._begun()

    def taken_over(self, _, __):
        """The queue is lost, and another one forwards what the lost one may not have sent."""
        self.forwarding.stop()
        self.plan.queue.unlink()
        self.copy.unlink(missing_ok=True)
        take_over(self.plan, self.jobs.service.stores, now=self.now, since=0)
        self.forwarding = self._begun()

    def failed_over(self, _, since):
        """The other of two queues forwards from now on, and what it has from former times."""
        self.forwarding.stop()
        self.plan, self.other = self.other, self.plan
        take_over(self.plan, self.jobs.service.stores, now=self.now, since=since)
        self.forwarding = self._begun()

    def put_back(self, _, since):
        """Store and queue are put back from one backup."""
        self.store_restored("", 0)
        self.restored("", 0)
        self.forwarding.stop()
        assert take_over(self.plan, self.jobs.service.stores, now=self.now, since=since)
        self.forwarding = self._begun()

    def refused(self, id_, seconds):
        self.gold.refuses = True
        self.round(id_, seconds)
        self.gold.refuses = False

    def store_copied(self, _, __):
        self._copy_store(self.store, self.kept)

    def store_restored(self, _, __):
        """An older copy of the store is put back, and the queue stays."""
        if self.kept.exists():
            self._copy_store(self.kept, self.store)

    def _copy_store(self, one, other):
        self.forwarding.stop()
        self.jobs.service.stores.close()
        shutil.copy(one, other)
        self.forwarding = self._begun()

    def end(self):
        for _ in range(12):
            self.round("", 4000)
        assert not {
            ParcelState.WAITING, ParcelState.UNKNOWN, ParcelState.SENDING, ParcelState.FORMER,
        } & {*self.forwarding.outbox.counts()}  # fmt: skip

    def check(self):
        """What runs is charged there as soon as it ends.

        What nobody charged here has the price of that server, once for each job.
        """
        told = {dict(each.fields)["JobId"] for each in self.forwarding.outbox.left()}
        owed, waits, jobs, entries = Counter(), Counter(), Counter(), Counter()
        with self.jobs.service.stores.use() as kept:
            for stored in kept.documents(deleted=True):
                for view in job_views(stored):
                    id_, state = view.block.id, view.block.get("State")
                    owed[id_] += kept.ledger.balance(stored.number, id_)
                    jobs[id_] += 1
                    entries[id_] += len([*kept.ledger.of_job(stored.number, id_)])
                    if state in RUNNING and not stored.deleted:
                        waits[id_] += kept.ledger.balance(stored.number, id_)
        sent = Counter(each["JobId"] for each in self.gold.charged)
        for id_ in {*owed, *sent} - told:
            if id_ in jobs and not entries[id_]:
                assert sent[id_] <= jobs[id_], id_
                continue
            assert self.gold.of(id_) in (owed[id_], owed[id_] - waits[id_]), id_


SAID = st.builds(
    lambda *parts: "<User>ann</User>" + "".join(parts),
    st.sampled_from([
        "", "<State>Completed</State>", "<State>Running</State>", "<State>Timeout</State>",
        "<State>Cancelled</State>",
    ]),
    st.sampled_from([
        "", "<Delivered><Processors>2</Processors><Duration>6</Duration></Delivered>",
        "<Delivered><Processors>2</Processors></Delivered>", "<EndTime>100</EndTime>",
        "<Requested><Duration>9</Duration><Charge>8</Charge></Requested>",
    ]),
    st.sampled_from(["", "<Charge>12</Charge>", "<Charge>3</Charge>"]),
)  # fmt: skip
SETS = st.sampled_from([
    ("State", "Completed"), ("State", "Running"), ("State", "NULL"), ("WallDuration", "NULL"),
    ("WallDuration", "7"), ("Charge", "4"), ("Charge", "NULL"), ("Description", "x"),
])  # fmt: skip
SECONDS = st.sampled_from([1, 61, 4000])
ONE, OTHER = st.sampled_from(ALONE), st.sampled_from(GROUPED)
EACH = ONE | OTHER
DONE_THERE = st.one_of(
    st.tuples(st.just("create"), ONE, SAID),
    st.tuples(st.just("imported"), ONE, SAID),
    st.tuples(st.just("grouped"), OTHER, SAID),
    st.tuples(st.just("charge"), EACH, st.integers(1, 9)),
    st.tuples(st.just("refund"), EACH, st.integers(1, 9)),
    st.tuples(st.just("modify"), EACH, SETS),
    st.tuples(st.just("hide"), EACH, st.sampled_from(["Delete", "Undelete"])),
    st.tuples(st.just("round"), st.just(""), SECONDS),
    st.tuples(st.just("lost"), st.just(""), SECONDS),
)


def steps(*names):
    """What is done in a site, these besides."""
    others = st.tuples(st.sampled_from(["restarted", *names]), st.just(""), st.just(0))
    return st.lists(DONE_THERE | others, min_size=4, max_size=14)


USED = "<Delivered><Processors>2</Processors><Duration>6</Duration></Delivered>"
OVER = f"<User>ann</User><State>Completed</State><Charge>12</Charge>{USED}"
RUNS = ("modify", "a", ("State", "Running"))
SENDS = [("round", "", 61)] * 2  # what came with a Charge is asked for first
ENDS = [("modify", "a", ("State", "Completed"))]
HIDDEN = [("refund", "a", 9), ("hide", "a", "Delete")]
FREE = ("modify", "a", ("Charge", "NULL"))


@contextmanager
def a_site(*, charge=True):
    with (
        tempfile.TemporaryDirectory() as folder,
        job_service(
            f"{folder}/jobs.db", accounting=Accounting(ChargeRates({"Processors": Fraction(1)}))
        ) as jobs,
    ):
        site = Site(jobs, Path(folder), charge=charge)
        yield site
        site.forwarding.stop()


LEFT_OUT = ("grouped", "d", "<User>ann</User><State>Running</State>")


def ends_with(site, there, told):
    """What the server behind was charged in all, and which jobs the queue tells of."""
    site.end()
    left = site.forwarding.outbox.left()
    assert {dict(each.fields)["JobId"] for each in left} == told
    assert sum(map(site.gold.of, (*ALONE, *GROUPED))) == there
    site.check()


@pytest.mark.parametrize(
    ("after", "then", "there", "told"),
    [
        ([("grouped", "c", OVER), *SENDS, LEFT_OUT], [], 12, {"c"}),
        ([("imported", "a", OVER), *SENDS, RUNS, FREE], [], 12, {"a"}),
        ([("imported", "a", OVER), *SENDS, *HIDDEN], [], 12, {"a"}),
        ([("imported", "a", OVER), *SENDS, RUNS, FREE, ("round", "", 1), LEFT_OUT], [], 12, {"a"}),
        # What nobody has is sent when it is over again, and told while it is charged here.
        ([("grouped", "c", OVER), LEFT_OUT], [], 0, set()),
        ([("imported", "a", OVER), RUNS], [], 0, {"a"}),
        ([("imported", "a", OVER), RUNS], ENDS, 12, set()),
        ([("imported", "a", OVER), *SENDS, RUNS], ENDS, 12, set()),
        ([("imported", "a", OVER), *SENDS, RUNS], [], 12, {"a"}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("how", ["restored", "taken_over"])
def test_what_another_queue_may_have_sent_and_is_over_no_more_is_asked_for(
    how, after, then, there, told
):
    with a_site() as site:
        for do, id_, value in [("copied", "", 0), *after, (how, "", 0)]:
            getattr(site, do)(id_, value)
        site.end()
        for do, id_, value in then:
            getattr(site, do)(id_, value)
        ends_with(site, there, told)


@pytest.mark.parametrize(
    ("id_", "after"),
    [
        ("b", [("refund", "b", 9), ("hide", "b", "Delete")]),
        ("b", [("modify", "b", ("Charge", "NULL")), ("hide", "b", "Delete")]),
        ("b", [("refund", "b", 9), ("modify", "b", ("State", "Running"))]),
        ("b", [("refund", "b", 4), ("modify", "b", ("State", "Idle"))]),
        ("b", [("refund", "b", 9), ("modify", "b", ("State", "Running")),
               ("modify", "b", ("WallDuration", "NULL"))]),
        ("b", [("modify", "b", ("State", "Running")), ("refund", "b", 9)]),
        ("c", [("refund", "c", 9), ("hide", "c", "Delete")]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("how", ["restored", "taken_over"])
@pytest.mark.parametrize("charge", [True, False])
def test_what_was_given_back_before_a_job_was_over_no_more_is_told(charge, how, id_, after):
    """What is compared is what was charged when it was sent, not what that version says now."""
    with a_site(charge=charge) as site:
        made = ("create", id_, "") if id_ == "b" else ("grouped", "c", "")
        sent = [made, ("charge", id_, 5), ("modify", id_, ("State", "Completed")), *SENDS]
        for do, name, value in [("copied", "", 0), *sent]:
            getattr(site, do)(name, value)
        assert site.gold.of(id_) == 10
        for do, name, value in [*after, (how, "", 0)]:
            getattr(site, do)(name, value)
        site.end()
        left = site.forwarding.outbox.left()
        assert {dict(each.fields)["JobId"] for each in left} == {id_}
        assert site.gold.of(id_) == 10


def test_an_amount_that_was_told_and_is_not_sent_is_told():
    with a_site(charge=False) as site:
        said = "<Processors>2</Processors><WallDuration>5</WallDuration><Charge>40</Charge>"
        for name in "ab":
            told = said.replace("<Charge>40</Charge>", "") if name == "a" else said
            site.jobs.said(
                "Charge", data=[f"<Job><JobId>{name}</JobId><UserId>ann</UserId>{told}</Job>"]
            )
        site.end()
        [left] = site.forwarding.outbox.left()
        assert left.said == "Charge is sent as nothing and was charged as 40"
        assert (dict(left.fields)["JobId"], site.gold.of("b")) == ("b", 10)


def test_an_empty_element_of_a_row_of_gold_hinders_nothing():
    with a_site() as site:
        empty = "<NodeCount></NodeCount><QualityOfService></QualityOfService>"
        site.imported("a", OVER + empty)
        site.end()
        assert not [*site.forwarding.outbox.left()]
        assert site.gold.of("a") == 12


def test_an_id_that_begins_with_a_no_break_space_is_another_one_there_too():
    with a_site() as site:
        for name, seconds in (("\N{NO-BREAK SPACE}a", 4), ("a", 3), (" b ", 2)):
            site.charge(name, seconds)
        site.end()
        there = {each["JobId"]: each["WallDuration"] for each in site.gold.charged}
        assert there == {"\N{NO-BREAK SPACE}a": "4", "a": "3", "b": "2"}


@pytest.mark.parametrize("sends", [True, False])
def test_what_waited_in_an_older_copy_and_is_over_no_more_is_asked_for(sends):
    with a_site() as site:
        waits = OVER.replace("<Charge>12</Charge>", "")
        steps = [("imported", "a", waits), ("round", "", 1), ("copied", "", 0)]
        steps += [("charge", "a", 6), *SENDS] * sends
        for do, id_, value in [*steps, RUNS, FREE, ("restored", "", 0)]:
            getattr(site, do)(id_, value)
        site.end()
        told = [dict(each.fields)["JobId"] for each in site.forwarding.outbox.left()]
        assert (told, site.gold.of("a")) == ((["a"], 12) if sends else ([], 0))


STORED, BACK = ("store_copied", "", 0), ("store_restored", "", 0)
CHARGED = ("charge", "b", 5)


@pytest.mark.parametrize(
    ("steps", "there", "told"),
    [
        # The store knows nothing of what was sent, or less, or of what is in the queue.
        ([STORED, CHARGED, *SENDS, BACK], 10, {"b"}),
        ([CHARGED, *SENDS, STORED, ("refund", "b", 9), *SENDS, BACK], 10, set()),
        ([CHARGED, *SENDS, ("refund", "b", 4), *SENDS, STORED, ("imported", "a", OVER), *SENDS,
          BACK], 22, {"a", "b"}),
        ([STORED, ("grouped", "c", OVER), *SENDS, BACK], 12, {"c"}),
        ([("grouped", "d", OVER), *SENDS, STORED, ("grouped", "c", OVER), *SENDS, BACK], 24, {"c"}),
        ([STORED, ("create", "b", OVER), ("round", "", 1), ("lost", "", 61), BACK], 12, {"b"}),
        ([STORED, CHARGED, BACK, CHARGED], 10, set()),
        # It is charged again, as its record is lost here: that is what the server has.
        ([STORED, CHARGED, *SENDS, BACK, *SENDS, CHARGED], 10, set()),
        ([STORED, CHARGED, *SENDS, BACK, *SENDS, ("charge", "b", 6)], 10, {"b"}),
    ],
)  # fmt: skip
def test_what_was_sent_and_an_older_copy_of_the_store_does_not_know_is_told(steps, there, told):
    with a_site() as site:
        for do, id_, value in [("imported", "a", "<State>Idle</State>"), *SENDS, *steps]:
            getattr(site, do)(id_, value)
        ends_with(site, there, told)


@pytest.mark.parametrize(("seconds", "told"), [(5, set()), (6, {"b"})])
def test_what_is_charged_again_after_store_and_queue_were_put_back_is_asked_for(seconds, told):
    """Nothing here knows what was sent, but whoever puts them back can say since when."""
    with a_site() as site:
        for do in ("store_copied", "copied"):
            getattr(site, do)("", 0)
        before = site.now
        for do, id_, value in [CHARGED, *SENDS, BACK, ("restored", "", 0)]:
            getattr(site, do)(id_, value)
        site.forwarding.stop()
        take_over(site.plan, site.jobs.service.stores, now=site.now, since=before)
        site.forwarding = site._begun()
        for do, id_, value in [("round", "", 3600), ("charge", "b", seconds), ("charge", "a", 3)]:
            getattr(site, do)(id_, value)
        site.end()
        left = site.forwarding.outbox.left()
        assert {dict(each.fields)["JobId"] for each in left} == told
        assert (site.gold.of("b"), site.gold.of("a")) == (10, 6)
        site.check()


ENDED = ("imported", "a", OVER.replace("<Charge>12</Charge>", ""))
AT_THE_BACKUP = {
    "unseen": ([ENDED], None),
    "waiting": ([ENDED, ("round", "", 1)], ParcelState.WAITING),
    "refused once": ([ENDED, ("round", "", 1), ("refused", "", 61)], ParcelState.WAITING),
    "refused": ([ENDED, ("round", "", 1), *[("refused", "", 4001)] * 2], ParcelState.REFUSED),
    "unknown": ([ENDED, ("round", "", 1), ("lost", "", 61)], ParcelState.UNKNOWN),
    "asked for": ([("imported", "a", OVER), ("lost", "", 1)], ParcelState.UNKNOWN),
    "incomplete": (
        [("imported", "a", "<State>Completed</State>"), ("round", "", 1)], ParcelState.INCOMPLETE,
    ),
    "sent": ([ENDED, ("round", "", 1), ("round", "", 61)], ParcelState.SENT),
}  # fmt: skip


@pytest.mark.parametrize(
    ("charge", "then"), [(True, "ends"), (False, "is charged"), (False, "runs")]
)
@pytest.mark.parametrize("how", ["put_back", "store_put_back", "failed_over", "failed_over_since"])
@pytest.mark.parametrize("kind", AT_THE_BACKUP)
def test_whatever_stands_in_a_queue_that_takes_over_is_not_charged_twice(kind, charge, how, then):
    """Another queue, or a newer copy of this one, has sent it meanwhile."""
    steps, state = AT_THE_BACKUP[kind]
    with a_site(charge=charge) as site:
        before = int(site.now) - 1  # the store has a clock of its own
        for do, id_, value in steps:
            getattr(site, do)(id_, value)
        assert state in {None, *site.forwarding.outbox.counts()}
        if how == "put_back":
            site.store_copied("", 0)
            site.copied("", 0)
        else:
            site.store_copied("", 0)
            site.failed_over("", before)
        if kind == "incomplete":
            site.imported(*ENDED[1:])
        site.end()
        if kind == "refused" and how == "put_back":  # it was given up, until it is another
            site.charge("a", 5)
            site.end()
        assert len(site.gold.charged) == 1
        if how == "store_put_back":  # to a time when the first queue forwarded
            site.store_restored("", 0)
        since = None if how == "failed_over" else before
        site.put_back("", since) if how == "put_back" else site.failed_over("", since)
        if kind == "incomplete":
            site.imported(*ENDED[1:])
        if then == "is charged":
            site.charge("a", 6)
        elif then == "runs":
            site.modify("a", ("State", "Running"))
        site.end()
        assert len(site.gold.charged) == 1
        told = {dict(each.fields)["JobId"] for each in site.forwarding.outbox.left()}
        with site.jobs.service.stores.use() as kept:
            owed = kept.ledger.balance(kept.get("a").number, "a")
        assert told or site.gold.of("a") == owed or then != "is charged"


@pytest.mark.parametrize("since", [None, 0, 10**6])
def test_a_queue_that_takes_over_from_itself_forgets_nothing(since):
    with a_site() as site:
        for do, id_, value in [CHARGED, *SENDS, ("charge", "a", 3)]:
            getattr(site, do)(id_, value)
        site.forwarding.stop()
        at = None if since is None else site.now - since
        stores = site.jobs.service.stores
        assert take_over(site.plan, stores, now=site.now, since=at) is (since is not None)
        site.forwarding = site._begun()
        site.end()
        assert (site.gold.of("b"), site.gold.of("a")) == (10, 6)
        site.check()


def test_a_queue_that_comes_to_another_store_says_that_it_has_sent_jobs(caplog):
    with a_site() as site:
        for do, id_, value in [CHARGED, *SENDS]:
            getattr(site, do)(id_, value)
        with job_service(str(site.kept)) as other:
            site.forwarding.stop()
            mine = Forwarding(site.plan, other.service.stores, clock=lambda: site.now)
            for _ in "12":
                mine._round()
            [said] = [each for each in caplog.records if each.facts["state"] == "compares"]
            assert said.facts["reason"].startswith("1 jobs were sent from this queue before")
            mine.stop()
            site.forwarding = site._begun()


@examples(30)
@given(steps("store_copied", "store_restored"))
def test_an_older_copy_of_the_store_agrees_with_the_other_server_or_it_is_told(steps):
    with a_site() as site:
        for do, id_, value in steps:
            getattr(site, do)(id_, value)
        site.end()
        site.check()


@examples(40)
@given(steps("copied", "restored", "taken_over", "failed_over"))
def test_the_ledger_and_the_other_server_agree_or_it_is_told(steps):
    with a_site() as site:
        for do, id_, value in steps:
            getattr(site, do)(id_, value)
        site.end()
        site.check()
