"""A run of which peers, records and files tell in any order, by whatever they know of it, is one.

What it was charged is what was charged, and nobody pays in silence for whom another one named.
"""

import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest
from draws import examples, pairwise
from hypothesis import example, given
from hypothesis import strategies as st
from job_service import job_service

from sssjob.errors import Refused
from sssjob.handlers.charging import Accounting
from sssjob.handlers.rates import ChargeRates

SUBMITTED, STARTED, ENDED = 1_700_000_000, 1_700_000_400, 1_700_000_460
CREDITS = 120
ACCOUNTING = Accounting(ChargeRates({"Processors": Fraction(1)}))
GROUP = "<JobGroup><Id>g</Id>{}<Job><Id>8</Id></Job></JobGroup>"
MARKS = {
    "JobId": {},
    "GlobalId": {"GlobalId": "urn:x:7"},
    "SubmitTime": {"SubmitTime": SUBMITTED},
    "StartTime": {"StartTime": STARTED},
}
FLAT = (
    "<Job><JobId>7</JobId><UserId>{}</UserId>{}<Processors>2</Processors>"
    "<WallDuration>60</WallDuration></Job>"
)
WHOLE = (
    "<Job><Id>7</Id><User>{}</User>{}<Delivered><Processors>2</Processors>"
    "<Duration>60</Duration></Delivered></Job>"
)


class Told(NamedTuple):
    """What a Charge tells: of the run, by clocks that differ, and whom it names."""

    marks: str
    clock: int = 0
    end: int | None = None
    user: str = "ann"
    form: str = FLAT

    def document(self):
        times = {
            name: value if name == "GlobalId" else value + self.clock
            for name, value in MARKS[self.marks].items()
        }
        if self.end is not None:
            times["EndTime"] = self.end
        return self.form.format(self.user, said(times))


def said(values):
    return "".join(f"<{name}>{text}</{name}>" for name, text in values.items())


def job(values, more="", user="ann"):
    return f"<Job><Id>7</Id><User>{user}</User>{said(values)}{more}</Job>"


class Site:
    """A store behind a gateway; and what must be there, by what was done."""

    def __init__(self, address):
        self.opened = job_service(address, accounting=ACCOUNTING)
        self.is_known = self.is_delivered = False
        self.paid = Counter()

    def __enter__(self):
        self.jobs = self.opened.__enter__()
        return self

    def __exit__(self, *error):
        self.opened.__exit__(*error)

    def user(self):
        """Whose the job is as it is shown, "" for none."""
        rows = self.jobs.ask("Query", gets=["User"], wheres=[("Id", "EQ", "7")])
        return rows[0]["User"] if rows else ""

    def wait(self, values=(), around="{}"):
        """A job that waits is made known: by a peer alone, and in a group by its file."""
        waiting = job({**dict(values), "State": "Idle"})
        if around == "{}":
            code = self.jobs.code("Create", data=[waiting])
            assert code == ("740" if self.is_known else "000")
        else:
            self.load(around.format(waiting))
        self.is_known = True

    def charge(self, told):
        before = self.user()
        answer, _ = self.jobs.answer("Charge", data=[told.document()])
        payer = before if self.is_delivered else told.user
        self.paid[payer] += CREDITS
        is_told = before not in ("", told.user)
        assert (f"not {told.user}" in answer.message) == (is_told and self.is_delivered)
        assert (f"{told.user} is charged" in answer.message) == (is_told and payer == told.user)
        assert answer.code == "100" or not is_told
        self.is_known = True

    def record(self, *_):
        with self.moving() as told:
            told += self.jobs.deliver("7", STARTED, ENDED, SUBMITTED)
        self.is_delivered = self.is_known

    def file(self, told):
        """As its epilog has written it, by the clock of its node."""
        times = {
            "SubmitTime": SUBMITTED + told.clock, "StartTime": STARTED, "EndTime": ENDED,
            "State": "Completed", **MARKS["GlobalId"],
        }  # fmt: skip
        used = "<Delivered><User>ann</User><Duration>60</Duration></Delivered>"
        with self.moving() as findings:
            findings += self.load(job(times, used))
        self.is_known = self.is_delivered = True

    def refund(self, *_):
        code = self.jobs.code("Refund", options={"JobId": "7"})
        assert code == ("000" if +self.paid else "740")
        self.paid.clear()

    def create(self, told):
        """A peer makes the run by another clock: not where it is known."""
        times = {"SubmitTime": SUBMITTED + told.clock, "StartTime": STARTED + 1}
        code = self.jobs.code("Create", data=[job(times)])
        assert code == ("740" if self.is_known else "000")
        self.is_known = True

    def load(self, document):
        found = []
        with self.jobs.service.stores.use() as kept:
            kept.load(document.encode(), on_warning=found.append)
        return found

    def moving(self):
        return Moving(self)

    def holds(self):
        rows = self.jobs.ask("Query", gets=["Id", "Charge"], wheres=[("Id", "EQ", "7")])
        total = sum(self.paid.values())
        assert [int(row["Charge"] or 0) for row in rows] == [total] * self.is_known
        entries = self.jobs.ask("Query", object="Transaction", gets=["Action", "User", "Amount"])
        found = Counter()
        for entry in entries:
            sign = {"Charge": 1, "Refund": -1}[entry["Action"]]
            found[entry["User"]] += sign * int(entry["Amount"])
        assert +found == +self.paid
        with self.jobs.service.stores.use() as kept:
            assert list(kept.check()) == []


class Moving(list):
    """What is told while the job may become another user's: that others were charged is."""

    def __init__(self, site):
        self.site = site

    def __enter__(self):
        self.before = self.site.user()
        return self

    def __exit__(self, *error):
        is_moved = self.before != self.site.user() and self.site.paid[self.before] > 0
        text = f"stay charged to {self.before}"
        assert any(text in each.message for each in self) == is_moved


# A later end is that of another run for who does not know when this one began.
ENDS = (None, ENDED, SUBMITTED - 600)
WHO = {"user": st.sampled_from(("ann", "bob")), "form": st.sampled_from((FLAT, WHOLE))}
CLOCK = st.sampled_from((-1, 0, 1))
NAMED = st.builds(Told, st.sampled_from(sorted(MARKS)), CLOCK, st.none(), **WHO)
SUBMITTING = st.builds(Told, st.just("SubmitTime"), CLOCK, st.sampled_from(ENDS), **WHO)
LATER = st.sampled_from((*ENDS, ENDED + 3600))
BEGINNING = st.builds(Told, st.just("StartTime"), CLOCK, LATER, **WHO)
DOES = st.sampled_from(("charge", "charge", "record", "record", "file", "refund", "create"))
STEPS = st.lists(st.tuples(DOES, NAMED | SUBMITTING | BEGINNING), min_size=2, max_size=6)
WAITING = ((), ("SubmitTime", SUBMITTED), ("SubmitTime", SUBMITTED + 1))
WAITS = st.none() | st.tuples(st.sampled_from(WAITING), st.sampled_from(("{}", GROUP)))


def run(site, waits, steps):
    if waits is not None:
        values, around = waits
        site.wait([values] if values else (), around)
    for does, told in steps:
        getattr(site, does)(told)
        site.holds()


@examples(60)
@given(WAITS, STEPS)
@example(None, [("charge", Told("SubmitTime")), ("file", Told("JobId", 1))])
@example(((), GROUP), [("file", Told("JobId")), ("charge", Told("JobId", user="bob"))])
def test_a_run_is_one_with_its_charges_in_whatever_order_it_is_told(waits, steps):
    with tempfile.TemporaryDirectory() as directory, Site(Path(directory, "s.db")) as site:
        run(site, waits, steps)


BOTH = [("record", "charge"), ("charge", "record"), ("file", "charge"), ("charge", "file"),
        ("charge", "create", "record", "refund", "charge", "file")]  # fmt: skip
CHARGES = {
    "it names another user": Told("StartTime", user="bob"),
    "it names another user in a whole job": Told("StartTime", user="bob", form=WHOLE),
    "it tells a SubmitTime by another clock": Told("SubmitTime", clock=2),
    "it tells a SubmitTime and an end before it": Told("SubmitTime", end=SUBMITTED - 600),
    "it tells a StartTime and an end before it": Told("StartTime", end=SUBMITTED - 600),
}


@pairwise(
    around={"unknown": None, "alone": "{}", "in a group": GROUP},
    steps={" ".join(each): each for each in BOTH},
    told=CHARGES,
)
def test_a_charge_is_of_the_run_that_was_or_will_be_told_though(address, told, steps, around):
    with Site(address) as site:
        run(site, None if around is None else ((), around), [(does, told) for does in steps])


LATE = 900  # seconds by which the clock differs of whom a job was submitted to


@pairwise(
    around={"alone": "{}", "in a group": GROUP},
    does=["file", "begun", "record"],
    submitted=[None, SUBMITTED, SUBMITTED - LATE],
)
def test_a_job_that_waits_is_the_run_that_begins(address, submitted, does, around):
    with Site(address) as site:
        site.wait({} if submitted is None else {"SubmitTime": submitted}, around)
        for each in (does, "file", "record"):
            if each == "begun":
                times = {"SubmitTime": SUBMITTED, "StartTime": STARTED}
                asked = {"data": [FLAT.format("ann", said(times))]}
                is_anew = f"SubmitTime {submitted} is replaced by {SUBMITTED}"
                assert (is_anew in site.jobs.said("Charge", **asked)) == (
                    submitted == SUBMITTED - LATE
                )
                site.paid["ann"] += CREDITS
            else:
                getattr(site, each)(Told("JobId"))
            site.holds()
        [row] = site.jobs.ask("Query", gets=["SubmitTime", "StartTime"], wheres=[("Id", "EQ", "7")])
        assert row == {"SubmitTime": str(SUBMITTED), "StartTime": str(STARTED)}
        if around != "{}":
            with site.jobs.service.stores.use() as kept:
                assert [each.identity.name for each in kept.documents()] == ["JobGroup"]


def test_another_run_of_a_job_in_a_group_that_is_imported_is_a_document_beside_it(address):
    with Site(address) as site:
        site.wait((), GROUP)
        site.file(Told("JobId"))
        later = {"StartTime": STARTED + 9000, "EndTime": ENDED + 9000}
        site.load(job(later))
        site.load(job(later))
        rows = site.jobs.ask("Query", gets=["StartTime"], wheres=[("Id", "EQ", "7")])
        assert [int(row["StartTime"]) - STARTED for row in rows] == [0, 9000]


def test_a_run_that_a_group_puts_beside_it_stays_there(address):
    """Of a job that was charged with an end before the run began, and with no start."""
    with Site(address) as site:
        site.load(GROUP.format(job({})))
        charge = Told("SubmitTime", end=STARTED - 30)
        assert site.jobs.code("Charge", data=[charge.document()]) == "000"
        for _ in range(2):
            site.load(job({"SubmitTime": SUBMITTED, "StartTime": STARTED, "EndTime": ENDED}))
        rows = site.jobs.ask("Query", gets=["StartTime"], wheres=[("Id", "EQ", "7")])
        assert [row["StartTime"] for row in rows] == ["", str(STARTED)]


def test_a_run_stands_alone_where_jobs_of_two_groups_wait_for_it(address):
    with Site(address) as site:
        site.wait((), GROUP)
        site.load(GROUP.replace(">g<", ">h<").format(job({"State": "Idle"})))
        site.load(job({"StartTime": STARTED}))
        rows = site.jobs.ask("Query", gets=["StartTime"], wheres=[("Id", "EQ", "7")])
        assert [row["StartTime"] for row in rows] == ["", "", str(STARTED)]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_group_is_the_home_of_a_run_in_its_file_whichever_of_both_is_first(address, is_first):
    documents = [job({"StartTime": STARTED}), GROUP.format(job({"State": "Idle"}))]
    with Site(address) as site:
        site.load(f"<Jobs>{''.join(documents[::-1] if is_first else documents)}</Jobs>")
        rows = site.jobs.ask("Query", gets=["StartTime"], wheres=[("Id", "EQ", "7")])
        assert {row["StartTime"] for row in rows} == {str(STARTED)}


@pairwise(
    name=["User", "Project", "Machine"],
    form={"flat": FLAT, "whole": WHOLE},
    around={"alone": "{}", "in a group": GROUP},
)
def test_what_a_run_was_delivered_with_is_charged_and_told(address, name, form, around):
    delivered = f"<Delivered><{name}>one</{name}><Duration>60</Duration></Delivered>"
    ran = f"<Job><Id>7</Id><{name}>one</{name}><StartTime>{STARTED}</StartTime>{delivered}</Job>"
    with Site(address) as site:
        site.load(around.format(ran))
        another = form.replace("<UserId>{}</UserId>", "{}").replace("<User>{}</User>", "{}")
        for told in ("", "one", "two"):
            data = [another.format(f"<{name}>{told}</{name}>" if told else "", "")]
            answer = site.jobs.answer("Charge", data=data)[0]
            kept = f"{name} one is kept, not two: the run was delivered with it"
            assert (kept in answer.message) == (told == "two")
            assert answer.code == ("100" if told == "two" else "000")
        entries = site.jobs.ask("Query", object="Transaction", gets=[name])
        assert entries == [{name: "one"}] * 3
        rows = site.jobs.ask("Query", gets=[name, "Charge"], wheres=[("Id", "EQ", "7")])
        assert rows == [{name: "one", "Charge": "360"}]


def test_a_charge_that_names_another_project_than_was_asked_for_says_whom_it_charges(address):
    with Site(address) as site:
        site.load(job({"Project": "a", "State": "Idle"}))
        data = [FLAT.format("ann", said({"ProjectId": "b"}))]
        assert site.jobs.said("Charge", data=data) == (
            "Successfully charged job 7 for 120 credits\n"
            "Project of job 7 is b now, not a; b is charged"
        )
        with pytest.raises(Refused):
            site.jobs.answer("Refund", options={"JobId": "8"})


@pytest.mark.parametrize("told", ["nothing", "record", "file"])
def test_what_is_told_of_another_job_of_the_group_leaves_a_name_that_a_charge_said(address, told):
    """It can be corrected by a later Charge, and is told of no other run."""
    delivered = (
        "<Delivered><User>{}</User><Processors>2</Processors><Duration>60</Duration></Delivered>"
    )
    charge = f"<Job><Id>7</Id><StartTime>{STARTED}</StartTime>{delivered}</Job>"
    other = f"<Job><Id>8</Id><StartTime>{STARTED}</StartTime>{delivered.format('eve')}</Job>"
    with Site(address) as site:
        site.load(GROUP.format("<Job><Id>7</Id><State>Idle</State></Job>"))
        assert site.jobs.code("Charge", data=[charge.format("ann")]) == "000"
        if told == "record":
            site.jobs.deliver("8", STARTED, ENDED, SUBMITTED)
        elif told == "file":
            site.load(other)
        answer, _ = site.jobs.answer("Charge", data=[charge.format("bob")])
        assert "bob is charged" in answer.message
        assert site.user() == "bob"
