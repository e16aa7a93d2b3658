"""Two runs of one job, told in any order by any road: each is there once, with what it was charged.

A Charge is for the same amount, whichever of both comes first.
"""

import tempfile
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest
from draws import examples
from hypothesis import example, given
from hypothesis import strategies as st
from job_service import job_service

from sssjob.handlers.charging import Accounting
from sssjob.handlers.rates import ChargeRates

FIRST = 1_700_000_000
GOLD = "<QualityOfService>gold</QualityOfService>"
RATES = ChargeRates({"Processors": Fraction(1)}, {"QualityOfService": {"gold": Fraction(2)}})
ACCOUNTING = Accounting(RATES)
CREDITS = 4  # a second of 2 processors, twice as dear
LONG, SHORT = (100, 500), (5, 6)  # seconds that each run goes on
ASKED = f"<Job><Id>7</Id><User>ann</User>{GOLD}<State>Idle</State>{{}}</Job>"
RUNS = ASKED.replace("Idle", "Running")  # as a scheduler says at its start, and no Charge ends it
AROUND = {
    "alone": ASKED,
    "alone and running": RUNS,
    "in a group": f"<JobGroup><Id>g</Id>{ASKED}<Job><Id>8</Id></Job></JobGroup>",
    "with defaults": (
        f"<JobGroup><Id>g</Id><JobDefaults>{GOLD}</JobDefaults>{ASKED.replace(GOLD, '')}"
        "<Job><Id>8</Id></Job></JobGroup>"
    ),
}


class Run:
    """The first or the second run of job 7, which share a SubmitTime or not."""

    def __init__(self, number, *, shares, gap=300, used=LONG):
        self.number = number
        self.started = FIRST + (100, 100 + used[0] + gap)[number]
        self.used = used[number]
        self.credits = CREDITS * self.used
        self.ended = self.started + self.used
        self.submitted = FIRST + (0 if shares else (100 + used[0]) * number)

    def times(self, *names):
        values = {"SubmitTime": self.submitted, "StartTime": self.started, "EndTime": self.ended}
        return "".join(f"<{name}>{values[name]}</{name}>" for name in names)


class Site:
    """A store behind a gateway in which job 7 waits."""

    def __init__(self, address, around, *, shares, **times):
        self.share_submission = shares
        self.opened = job_service(address, accounting=ACCOUNTING)
        self.asked = AROUND[around].format(f"<SubmitTime>{FIRST}</SubmitTime>")
        self.runs = [Run(number, shares=shares, **times) for number in range(2)]

    def __enter__(self):
        self.jobs = self.opened.__enter__()
        self.load(self.asked)
        return self

    def __exit__(self, *error):
        self.opened.__exit__(*error)

    def load(self, document):
        with self.jobs.service.stores.use() as kept:
            kept.load(document.encode())

    def do(self, step):
        road, number = step
        getattr(self, road)(self.runs[number])

    def charge(self, run, *names):
        job = (
            f"<Job><JobId>7</JobId><UserId>ann</UserId><Processors>2</Processors>"
            f"<WallDuration>{run.used}</WallDuration>{run.times(*names)}</Job>"
        )
        answer, _ = self.jobs.answer("Charge", data=[job])
        assert f"for {run.credits} credits" in answer.message

    def ended(self, run):
        self.charge(run, "SubmitTime", "EndTime")

    def ended_alone(self, run):
        self.charge(run, "EndTime")

    def started(self, run):
        self.charge(run, "StartTime")

    def submitted(self, run):
        self.charge(run, "SubmitTime")

    def reserve(self, run):
        job = (
            "<Job><JobId>7</JobId><UserId>ann</UserId><Processors>2</Processors>"
            f"<WallDuration>{run.used}</WallDuration></Job>"
        )
        said = self.jobs.said("Reserve", data=[job], now=float(FIRST))
        assert f"reserved {run.credits} credits" in said

    def begun(self, run):
        self.charge(run, "SubmitTime", "StartTime", "EndTime")

    def record(self, run):
        self.jobs.deliver("7", run.started, run.ended, run.submitted)

    def whole(self, run):
        """As its epilog writes it, which knows what was requested of a job alone."""
        asked = "" if "JobGroup" in self.asked else GOLD
        used = f"<Delivered><Processors>2</Processors><Duration>{run.used}</Duration></Delivered>"
        times = run.times("SubmitTime", "StartTime", "EndTime")
        return f"<Job><Id>7</Id><User>ann</User>{asked}<State>Completed</State>{times}{used}</Job>"

    def file(self, run):
        self.load(self.whole(run))

    def create(self, run):
        """A peer makes it: not where it is there, or may be the one that waits."""
        assert self.jobs.code("Create", data=[self.whole(run)]) in ("000", "740")

    def again(self, _):
        self.load(self.asked)

    def found(self):
        gets = ["StartTime", "EndTime", "WallDuration", "Charge"]
        rows = self.jobs.ask("Query", gets=gets, wheres=[("Id", "EQ", "7")])
        with self.jobs.service.stores.use() as kept:
            assert list(kept.check()) == []
        entries = self.jobs.ask("Query", object="Transaction", gets=["Action", "User", "Amount"])
        assert {each["User"] for each in entries} <= {"ann"}
        ledger = sum(int(each["Amount"]) for each in entries if each["Action"] == "Charge")
        assert ledger == sum(int(row["Charge"] or 0) for row in rows)
        return sorted([int(row[name] or 0) for name in gets] for row in rows)

    def expected(self, charged):
        return [
            [run.started, run.ended, run.used, run.credits * charged.count(run.number)]
            for run in self.runs
        ]


WITHOUT_SUBMISSION = {"ended_alone", "started"}  # Charges that tell none


def told(site, steps):
    """The runs after steps, and after all of their records at last.

    A SubmitTime alone tells a run where the other one has another, and where the job that waited,
    which has that of the first, has not become the second by a Charge that tells none.
    """
    if site.share_submission or WITHOUT_SUBMISSION & {*dict(steps)}:
        steps = [step for step in steps if step[0] != "submitted"]
    for step in (*steps, ("record", 0), ("record", 1)):
        site.do(step)
    charged = [number for road, number in steps if road in CHARGES]
    assert site.found() == site.expected(charged)


CHARGES = ("ended", "ended_alone", "begun", "started", "submitted")
ROADS = (*CHARGES, "record", "file", "create", "again", "reserve")
GAPS = st.sampled_from((0, 2, 5, 300))  # seconds between both runs
STEPS = st.lists(
    st.tuples(st.sampled_from(ROADS), st.integers(0, 1)), min_size=2, max_size=6
)  # fmt: skip


@examples(60)
@given(st.sampled_from(sorted(AROUND)), st.booleans(), GAPS, st.sampled_from((LONG, SHORT)), STEPS)
@example("alone", True, 0, LONG, [("record", 0), ("record", 1)])
@example("alone", True, 0, LONG, [("started", 1), ("record", 0)])
@example("in a group", True, 300, LONG, [("ended", 1), ("create", 0), ("reserve", 0)])
@example("alone", True, 2, LONG, [("ended", 1), ("started", 0)])
@example("alone", True, 5, SHORT, [("started", 0), ("record", 1)])
@example("alone and running", True, 5, SHORT, [("started", 0), ("record", 1)])
def test_runs_cost_the_same_and_are_the_same_in_whatever_order_they_are_told(
    around, shares, gap, used, steps
):
    """A run may be submitted anew, and begin, as soon as the one before it has ended."""
    with (
        tempfile.TemporaryDirectory() as directory,
        Site(Path(directory, "s.db"), around, shares=shares, gap=gap, used=used) as site,
    ):
        told(site, steps)


BOTH = [("ended", 0), ("ended", 1), ("record", 0), ("file", 1)]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("steps", [*permutations(BOTH)][::5], ids=str)
def test_two_runs_that_share_a_submission_are_charged_by_their_ends(address, around, steps):
    with Site(address, around, shares=True) as site:
        told(site, steps)


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(("later", "is_further"), [(0, False), (499, False), (1100, True)])
def test_what_waits_is_the_run_that_has_begun_since_unless_it_was_submitted_later(
    address, around, later, is_further
):
    with Site(address, around, shares=False) as site:
        site.record(site.runs[1])
        times = f"<SubmitTime>{FIRST + later}</SubmitTime>"
        for _ in range(2):
            site.again(None)
            site.load(AROUND[around].format(times))
        assert site.jobs.code("Create", data=[ASKED.format(times)]) == "740"
        assert [row[0] for row in site.found()] == [0] * is_further + [FIRST + 500]


def test_the_end_that_a_charge_told_of_a_run_that_was_suspended_is_its_end(address):
    """Its State is still that of the job that waited."""
    with Site(address, "alone", shares=True) as site:
        times = f"<StartTime>{FIRST}</StartTime><EndTime>{FIRST + 900}</EndTime>"
        for told in (times, f"<EndTime>{FIRST + 900}</EndTime>"):
            job = f"<Job><JobId>7</JobId><WallDuration>300</WallDuration>{told}</Job>"
            assert site.jobs.code("Charge", data=[job]) == "100"  # nothing in it has a price
        assert [row[:2] for row in site.found()] == [[FIRST, FIRST + 900]]


TOLD = {
    "a GlobalId that none has": ("<GlobalId>urn:x</GlobalId>", 60),
    "an end in both": (f"<EndTime>{FIRST + 800}</EndTime>", 650),
}


@pytest.mark.parametrize("road", ["Charge", "Reserve", "Quote"])
@pytest.mark.parametrize(("told", "used"), TOLD.values(), ids=TOLD)
def test_what_fits_none_of_two_runs_better_is_refused(address, road, told, used):
    with Site(address, "alone", shares=True) as site:
        for run in site.runs:
            site.record(run)
        said = f"{told}<WallDuration>{used}</WallDuration>"
        job = f"<Job><JobId>7</JobId><UserId>ann</UserId>{said}</Job>"
        if road != "Charge" and "EndTime" in told:
            return  # it tells when the job is to end
        said = site.jobs.said(road, data=[job])
        assert said == "Job 7 has several runs; say the StartTime of this one"
        assert site.jobs.code(road, data=[job]) == "314"
