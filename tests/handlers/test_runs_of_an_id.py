"""An Id means the last run of those that are there for what is asked, whatever was deleted."""

import tempfile
from collections import defaultdict
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from job_service import job_service

from sssjob.handlers.charging import Accounting
from sssjob.handlers.rates import ChargeRates

FIRST = 1_700_000_000
RUNS = range(4)
REQUESTS = {
    "9": "<Job><Id>9</Id><User>ann</User><Name>asked</Name></Job>",
    "7": "<JobGroup><Id>g</Id><Job><Id>7</Id><User>ann</User><Name>asked</Name></Job></JobGroup>",
}
USED = (
    "<Job><JobId>{}</JobId><UserId>ann</UserId><Processors>2</Processors>"
    "<WallDuration>60</WallDuration>"
)
ACCOUNTING = Accounting(ChargeRates({"Processors": Fraction(1)}))
DOES = st.sampled_from((
    "deliver", "deliver", "delete", "undo", "charge", "refund", "charge_run", "refund_run",
    "refund_submitted", "load", "charge_submitted",
))  # fmt: skip
CLOCKS = (0, 1, -2)  # seconds by which the clock of a scheduler is ahead of that of the records
TIMES = ("StartTime", "SubmitTime", "EndTime")
STEPS = st.lists(
    st.tuples(DOES, st.sampled_from(sorted(REQUESTS)), st.sampled_from(RUNS)),
    min_size=6, max_size=14,
)  # fmt: skip


class Site:
    """A store behind a gateway, and what must be there of the runs of each job."""

    def __init__(self, address):
        self.opened = job_service(address, accounting=ACCOUNTING)
        self.deleted = {id_: {} for id_ in REQUESTS}
        self.shown = {id_: {} for id_ in REQUESTS}
        self.submitted = defaultdict(set)  # runs that tell when they were
        self.started = defaultdict(set)  # runs that tell when they began
        self.loaded = defaultdict(set)  # runs of which a file was imported
        self.grouped = {}  # the run that stands in the group, which comes behind those alone

    def __enter__(self):
        self.jobs = self.opened.__enter__()
        self.jobs.create(REQUESTS["9"])
        with self.changing() as change:
            change.put(REQUESTS["7"].encode())
        for id_ in REQUESTS:
            self.deliver(id_, 0)
            self.grouped[id_] = 0 if id_ == "7" else None
        return self

    def __exit__(self, *error):
        self.opened.__exit__(*error)

    @contextmanager
    def changing(self):
        with self.jobs.service.stores.use() as kept, kept.change(reason="Delete Job") as change:
            yield change

    def deliver(self, id_, run):
        start = FIRST + 9000 * run
        self.jobs.deliver(id_, start, start + 60, start - 20)
        if run not in self.deleted[id_]:
            self.shown[id_].setdefault(run, 0)
            self.submitted[id_].add(run)
            self.started[id_].add(run)

    def load(self, id_, run):
        """As a file is imported into which the record was delivered, charged by nobody."""
        if run in self.deleted[id_] and id_ == "7":
            return
        start = FIRST + 9000 * run
        names = ("SubmitTime", "StartTime", "EndTime")
        times = zip(names, (start - 20, start, start + 60), strict=True)
        told = "".join(f"<{name}>{time}</{name}>" for name, time in times)
        delivered = "<Delivered><Duration>60</Duration></Delivered></Job>"
        document = REQUESTS.get(id_, REQUESTS["9"].replace("9", id_)).replace(
            "</Job>", told + delivered
        )
        with self.jobs.service.stores.use() as kept:
            kept.load(document.encode())
        if run in self.deleted[id_] and run not in self.loaded[id_]:  # it is another version
            self.shown[id_][run] = self.deleted[id_].pop(run)
        if run not in self.deleted[id_]:
            self.shown[id_].setdefault(run, 0)  # it says nothing of a Charge, and takes none away
        self.loaded[id_].add(run)
        self.submitted[id_].add(run)
        self.started[id_].add(run)

    def last(self, id_, runs):
        """The run of which a document is hidden or shown: a group is more than the job."""
        alone = [run for run in runs if run != self.grouped[id_]]
        return max(alone or runs)

    def delete(self, id_, _):
        self.move(id_, self.shown, self.deleted, "delete")

    def undo(self, id_, _):
        self.move(id_, self.deleted, self.shown, "undelete")

    def move(self, id_, here, there, does):
        with self.changing() as change:
            found = getattr(change, does)(id_)
        assert (found is None) == (not here[id_])
        if here[id_]:
            run = self.last(id_, here[id_])
            there[id_][run] = here[id_].pop(run)

    def charge(self, id_, _):
        code = self.jobs.code("Charge", data=[f"{USED.format(id_)}</Job>"])
        assert code == ("000" if self.shown[id_] else "740")
        if self.shown[id_]:
            self.shown[id_][max(self.shown[id_])] += 120

    def charge_run(self, id_, run):
        """As a scheduler does when the run has ended, mostly before its record is delivered."""
        if run % 2 == 0 and self.submitted[id_] - self.started[id_]:
            return  # it may be one of these as well, that tells no start
        start = FIRST + 9000 * run + CLOCKS[run % len(CLOCKS)]
        times = f"<StartTime>{start}</StartTime><EndTime>{start + 60}</EndTime>"
        if run % 2:
            times += f"<SubmitTime>{FIRST + 9000 * run - 19}</SubmitTime>"
        code = self.jobs.code("Charge", data=[f"{USED.format(id_)}{times}</Job>"])
        is_hidden = run in self.deleted[id_]
        assert code == ("740" if is_hidden else "000")
        if not is_hidden:
            self.shown[id_][run] = self.shown[id_].get(run, 0) + 120
            self.submitted[id_].update({run} if run % 2 else ())
            self.started[id_].add(run)

    def charge_submitted(self, id_, run):
        """As clients of Gold do, of a run that may be known by nothing else."""
        known = self.shown[id_] | self.deleted[id_]
        if run not in self.submitted[id_] and self.submitted[id_] != {*known}:
            return  # it may be one of these as well, that does not tell when it was submitted
        time = f"<SubmitTime>{FIRST + 9000 * run - 20}</SubmitTime>"
        code = self.jobs.code("Charge", data=[f"{USED.format(id_)}{time}</Job>"])
        is_hidden = run in self.deleted[id_]
        assert code == ("740" if is_hidden else "000")
        if not is_hidden:
            self.shown[id_][run] = self.shown[id_].get(run, 0) + 120
            self.submitted[id_].add(run)

    def refund(self, id_, _):
        shown = self.shown[id_]
        self.give_back(id_, max(shown, default=None), {})

    def refund_run(self, id_, run):
        """A run that does not tell when it began is not the one that began then."""
        has_it = run in self.started[id_]
        self.give_back(id_, run if has_it else None, {"StartTime": FIRST + 9000 * run})

    def refund_submitted(self, id_, run):
        """A run that does not tell when it was submitted is not the one that was submitted then."""
        has_it = run in self.submitted[id_]
        told = {"SubmitTime": FIRST + 9000 * run - 20}
        self.give_back(id_, run if has_it else None, told)

    def give_back(self, id_, run, told):
        was_charged = bool(self.shown[id_].get(run))
        code = self.jobs.code("Refund", options={"JobId": id_} | told)
        assert code == ("000" if was_charged else "740")
        if was_charged:
            self.shown[id_][run] = 0

    def found(self):
        """What a Query shows: the runs of each Id by their starts, with what they were charged."""
        names = ["Id", *TIMES, "Charge", "WallDuration"]
        rows = self.jobs.ask("Query", gets=names)
        assert {row["WallDuration"] for row in rows} <= {"60"}
        runs = {id_: {} for id_ in self.shown}
        for row in rows:
            time = next(filter(None, map(row.get, TIMES)))
            run = (int(time) - FIRST + 100) // 9000
            assert run not in runs[row["Id"]]
            runs[row["Id"]][run] = int(row["Charge"] or 0)
        return runs

    def entered(self):
        """What the ledger says that the runs of an Id were charged, deleted ones too."""
        with self.jobs.service.stores.use() as kept, kept.change() as change:
            documents = [each.number for each in kept.documents(deleted=True)]
            return {
                id_: sorted(int(change.ledger.balance(each, id_)) for each in documents)
                for id_ in REQUESTS
            }


@examples(25)
@given(STEPS)
def test_what_is_shown_is_charged_and_deleted_by_its_id_and_what_was_deleted_comes_back(steps):
    with tempfile.TemporaryDirectory() as directory, Site(Path(directory, "s.db")) as site:
        for does, id_, run in steps:
            getattr(site, does)(id_, run)
            assert site.found() == site.shown
        charged = {id_: site.shown[id_] | site.deleted[id_] for id_ in REQUESTS}
        for id_, runs in charged.items():
            amounts = sorted(runs.values())
            assert [each for each in site.entered()[id_] if each] == [*filter(None, amounts)]
        for id_ in REQUESTS:
            for does in ("delete", "undo"):
                for _ in charged[id_]:
                    getattr(site, does)(id_, None)
        assert site.found() == charged
        with site.jobs.service.stores.use() as kept:
            assert list(kept.check()) == []


@pytest.mark.parametrize("id_", sorted(REQUESTS))
def test_each_run_that_is_left_is_charged_refunded_and_deleted_by_its_id(address, id_):
    with Site(address) as site:
        for run in RUNS:
            site.deliver(id_, run)
        for does in (*("charge", "refund", "charge", "delete") * len(RUNS), "charge", "refund"):
            getattr(site, does)(id_, None)
            assert site.found() == site.shown
        assert not site.shown[id_]
        for _ in RUNS:
            site.undo(id_, None)
        assert site.found()[id_] == {run: 120 for run in RUNS}


@pytest.mark.parametrize("id_", sorted(REQUESTS))
def test_a_run_that_the_store_does_not_have_is_kept_where_all_others_are_deleted(address, id_):
    with Site(address) as site:
        site.delete(id_, None)
        for run in (0, 1):
            site.deliver(id_, run)
        assert [*site.found()[id_]] == [1]
        site.undo(id_, None)
        assert sorted(site.found()[id_]) == [0, 1]


@pytest.mark.parametrize("id_", sorted(REQUESTS))
def test_a_charge_that_tells_of_a_run_before_its_record_makes_it_known(address, id_):
    with Site(address) as site:
        site.charge_run(id_, 0)
        site.charge_run(id_, 1)
        assert site.found()[id_] == {0: 120, 1: 120}
        site.deliver(id_, 0)
        site.deliver(id_, 1)
        site.refund_run(id_, 0)
        assert site.found()[id_] == {0: 0, 1: 120}


@pytest.mark.parametrize("id_", [*sorted(REQUESTS), "10"])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_a_run_that_is_known_by_its_submission_is_no_other_one_of_which_a_record_tells(
    address, id_, order
):
    with Site(address) as site:
        site.shown.setdefault(id_, {}), site.deleted.setdefault(id_, {})
        site.charge_submitted(id_, 1)
        for run in order:
            site.deliver(id_, run)
            site.charge_submitted(id_, run)
            assert site.found() == site.shown
        assert site.shown[id_] == {0: 120, 1: 240, 2: 120}


@pytest.mark.parametrize("does", ["deliver", "load", "charge_run"])
@pytest.mark.parametrize("id_", ["10", "11"])
def test_a_run_of_which_only_its_end_is_known_is_no_later_one(address, id_, does):
    """What is told of a later run takes neither its place nor its Charge."""
    with Site(address) as site:
        site.shown[id_], site.deleted[id_] = {0: 120}, {}
        if id_ == "11":
            with site.changing() as change:
                change.put(REQUESTS["7"].replace("7", "11").replace(">g<", ">h<").encode())
        used = f"{USED.format(id_)}<EndTime>{FIRST + 60}</EndTime></Job>"
        assert site.jobs.code("Charge", data=[used]) == "000"
        getattr(site, does)(id_, 1)
        assert site.found() == site.shown
        assert len(site.shown[id_]) == 2
        for run in (1, 0):
            site.deliver(id_, run)
        assert site.found() == site.shown
        rows = site.jobs.ask("Query", gets=["StartTime"], wheres=[("Id", "EQ", id_)])
        assert [bool(row["StartTime"]) for row in rows] == [True, True]


@pytest.mark.parametrize("charged", [0, 1])
def test_each_record_has_a_run_where_a_charge_told_an_end_alone(address, charged):
    """The run that had begun by then, and went on until then, has the Charge."""
    with Site(address) as site:
        site.deleted["10"], site.shown["10"] = {}, {0: 0, 1: 0} | {charged: 120}
        used = f"{USED.format('10')}<EndTime>{FIRST + 9000 * charged + 60}</EndTime></Job>"
        assert site.jobs.code("Charge", data=[used]) == "000"
        for run in (0, 1):
            site.deliver("10", run)
        assert site.found() == site.shown


def test_a_charge_of_a_run_that_may_be_one_that_is_over_has_to_tell_when_it_ended(address):
    with Site(address) as site:
        submitted, start, end = (
            f"<{name}>{FIRST - seconds}</{name}>"
            for name, seconds in (("SubmitTime", 900), ("StartTime", 4000), ("EndTime", 1000))
        )
        used = USED.format("10")
        assert site.jobs.code("Charge", data=[f"{used}{submitted}</Job>"]) == "000"
        said = site.jobs.said("Charge", data=[f"{used}{start}</Job>"])
        assert said == "Job 10 had another run; say the EndTime of this one"
        assert site.jobs.code("Charge", data=[f"{used}{start}{end}</Job>"]) == "000"


def test_a_refund_of_a_run_is_of_no_other_one(address):
    with Site(address) as site:
        site.charge("9", 0)
        given = {"JobId": "9", "StartTime": FIRST + 5000}
        assert site.jobs.said("Refund", options=given) == "There is no job 9 with this StartTime"
        assert site.jobs.code("Refund", options=given | {"StartTime": "yesterday"}) == "317"
        assert site.found()["9"] == {0: 120}


@pytest.mark.parametrize(
    "told",
    [{"GlobalId": "zz"}, {"SubmitTime": FIRST + 9000}, {"GlobalId": "zz", "StartTime": FIRST}],
    ids=" ".join,
)
def test_a_refund_by_a_mark_that_no_run_has_is_refused(address, told):
    with Site(address) as site:
        site.charge("9", 0)
        assert site.jobs.code("Refund", options={"JobId": "9"} | told) == "740"
        assert site.found()["9"] == {0: 120}


@pytest.mark.parametrize("name", ["starttime", "Start", "EndTime", "SubmitTme", "Foo"])
def test_an_option_that_a_refund_does_not_have_is_refused(address, name):
    with Site(address) as site:
        site.charge("9", 0)
        assert site.jobs.code("Refund", options={"JobId": "9", name: FIRST}) == "318"
        assert site.found()["9"] == {0: 120}


@pytest.mark.parametrize("name", ["starttime", "SubmitTime", "GlobalId", "WalDuration"])
@pytest.mark.parametrize("action", ["Charge", "Reserve", "Quote"])
def test_an_option_that_seems_to_tell_a_run_is_refused(address, action, name):
    with Site(address) as site:
        used = f"{USED.format('9')}</Job>"
        assert site.jobs.code(action, data=[used], options={name: FIRST}) == "318"
        assert site.jobs.code(action, data=[used], options={"Project": "of other clients"}) == "000"


@pytest.mark.parametrize("id_", sorted(REQUESTS))
@pytest.mark.parametrize(
    "told",
    [
        "<SubmitTime>{1}</SubmitTime><StartTime>{0}</StartTime>",
        "<SubmitTime>{1}</SubmitTime>",
        "<SubmitTime>{0}</SubmitTime><StartTime>{0}</StartTime>",
    ],
)
def test_a_charge_is_of_the_run_that_has_what_it_tells(address, id_, told):
    with Site(address) as site:
        site.charge_run(id_, 2)  # later, and it does not tell when it was submitted
        times = told.format(FIRST, FIRST - 19)
        said = site.jobs.said("Charge", data=[f"{USED.format(id_)}{times}</Job>"])
        submitted = f"SubmitTime {FIRST - 20} is kept, not {FIRST}"
        assert (submitted in said) == ("<SubmitTime>{0}" in told)
        assert site.found()[id_] == {0: 120, 2: 120}
        site.deliver(id_, 0)
        assert site.found()[id_] == {0: 120, 2: 120}


def test_a_charge_by_its_end_alone_is_of_another_run_where_that_was_over_by_then(address):
    with Site(address) as site:
        end = f"<EndTime>{FIRST - 5000}</EndTime>"
        said = site.jobs.said("Charge", data=[f"{USED.format('9')}{end}</Job>"])
        assert said.endswith(
            f"No run of job 9 that is known ended at {FIRST - 5000}: a further one is charged"
        )
        assert site.found()["9"] == {-1: 120, 0: 0}


def test_a_job_that_waits_begins_by_whatever_clock(address):
    """The clock of who submits may be minutes ahead of that of the scheduler."""
    with Site(address) as site:
        job = f"<Job><Id>5</Id><User>ann</User><SubmitTime>{FIRST + 60}</SubmitTime></Job>"
        site.jobs.create(job)
        start = f"<StartTime>{FIRST}</StartTime>"
        assert site.jobs.code("Charge", data=[f"{USED.format('5')}{start}</Job>"]) == "000"
        rows = site.jobs.ask("Query", gets=["SubmitTime", "StartTime"], wheres=[("Id", "EQ", "5")])
        assert rows == [{"SubmitTime": str(FIRST + 60), "StartTime": str(FIRST)}]


def test_the_runs_beside_a_group_are_deleted_and_shown_by_the_id_of_their_job(address):
    """The run in the group is a part of it; of a job that has no other run that is refused."""
    with Site(address) as site:
        for run in (1, 2):
            site.deliver("7", run)
        named = {"wheres": [("Id", "EQ", "7")]}
        for _ in range(2):  # where the answer was lost it is asked again
            assert site.jobs.code("Delete", **named, id="d1") == "100"
            assert [*site.found()["7"]] == [0]
        assert site.jobs.said("Delete", **named) == "The job is a part of JobGroup g"
        assert site.jobs.said("Undelete", **named) == "Successfully undeleted 2 Jobs"
        assert [*site.found()["7"]] == [0, 1, 2]
        assert site.jobs.said("Delete", **named) == "The run in JobGroup g is not deleted"


def test_a_charge_whose_clock_differs_keeps_the_start_that_is_known(address):
    with Site(address) as site:
        for id_ in REQUESTS:
            for seconds in (-2, 0, 2, 30):  # no run begins while the one before it goes on
                start = f"<StartTime>{FIRST + seconds}</StartTime>"
                code = site.jobs.code("Charge", data=[f"{USED.format(id_)}{start}</Job>"])
                assert code == ("000" if seconds <= 2 else "100")
        rows = site.jobs.ask("Query", gets=["StartTime", "Charge"])
        assert rows == [{"StartTime": str(FIRST), "Charge": "480"}] * 2


@pytest.mark.parametrize("id_", [*sorted(REQUESTS), "10"])
def test_a_further_run_is_what_was_requested_and_not_what_another_run_was_charged(address, id_):
    """A Charge may be the first that a store is told of a run, or of a job."""
    with Site(address) as site:
        site.deleted[id_], site.shown[id_] = {}, {0: 0}
        site.charge_run(id_, 2)
        site.deliver(id_, 1)
        with site.jobs.service.stores.use() as kept:
            documents = [each.document for each in kept.named(id_)]
        (further,) = (each for each in documents if str(FIRST + 9000).encode() in each)
        assert b"<Charge>" not in further
        assert (b"<Name>asked</Name>" in further) == (id_ in REQUESTS)


def test_what_was_reserved_for_a_run_is_of_no_further_one(address):
    with Site(address) as site:
        assert site.jobs.code("Reserve", data=[f"{USED.format('10')}</Job>"]) == "000"
        site.deleted["10"], site.shown["10"] = {}, {}
        for run in (0, 1):
            site.deliver("10", run)
        rows = site.jobs.ask("Query", gets=["Reservation"], wheres=[("Id", "EQ", "10")])
        assert [row["Reservation"] for row in rows] == ["1", ""]


def reserved(site):
    """The numbers of what is reserved, and those of jobs whose Stage is that."""
    named = {"object": "Reservation", "gets": ["Id"]}
    shown = [row["Id"] for row in site.jobs.ask("Query", **named)]
    rows = site.jobs.ask("Query", gets=["Reservation", "Stage"])
    return shown, [row["Reservation"] for row in rows if row["Stage"] == "Reserve"]


def test_what_is_reserved_for_a_run_ends_with_its_own_charge_or_replace(address):
    with Site(address) as site:
        first, second = (
            {"data": [f"{USED.format('10')}<SubmitTime>{time}</SubmitTime></Job>"]}
            for time in (FIRST, FIRST + 9000)
        )
        for run in (first, second):
            assert site.jobs.code("Reserve", **run) == "000"
        assert reserved(site) == (["1", "2"], ["1", "2"])
        said = site.jobs.said("Reserve", **first, options={"Replace": "True"})
        assert said.endswith("\n1 reservations were removed")
        assert reserved(site) == (["2", "3"], ["3", "2"])
        assert site.jobs.said("Charge", **first).endswith("\n1 reservations were removed")
        assert reserved(site) == (["2"], ["2"])


@pytest.mark.parametrize("id_", sorted(REQUESTS))
def test_what_is_reserved_for_a_run_that_is_over_ends_with_the_charge_of_the_next(address, id_):
    """A Reserve need not tell when the run was submitted for which it is."""
    with Site(address) as site:
        assert site.jobs.code("Reserve", data=[f"{USED.format(id_)}</Job>"]) == "000"
        assert reserved(site) == (["1"], ["1"])
        site.charge_run(id_, 1)
        assert reserved(site) == ([], [])
        assert site.found()[id_] == {0: 0, 1: 120}


@pytest.mark.parametrize("id_", sorted(REQUESTS))
def test_what_is_reserved_for_a_run_that_is_over_ends_with_no_charge_before_it(address, id_):
    """Nobody deletes the job with it, and what tells that it has ended goes when it does."""
    with Site(address) as site:
        site.load(id_, 1)
        times = f"<SubmitTime>{FIRST + 8980}</SubmitTime>"
        assert site.jobs.code("Reserve", data=[f"{USED.format(id_)}{times}</Job>"]) == "000"
        site.charge_run(id_, 0)
        assert reserved(site) == (["1"], ["1"])
        site.charge_run(id_, 2)
        assert reserved(site) == ([], [])
        done = {"object": "Transaction", "gets": ["Action"]}
        rows = site.jobs.ask("Query", **done)
        assert [row["Action"] for row in rows] == ["Reserve", "Charge", "Charge"]
        with site.jobs.service.stores.use() as kept:
            assert kept.prune(quotes=10**9, answers=0) == 2
            assert list(kept.check()) == []


WHOLE = (
    "<Job><Id>{}</Id><User>ann</User>{}<Delivered><Processors>2</Processors>"
    "<Duration>60</Duration></Delivered></Job>"
)


@pytest.mark.parametrize("id_", sorted(REQUESTS))
@pytest.mark.parametrize("form", [USED + "{}</Job>", WHOLE], ids=["flat", "whole"])
def test_no_charge_moves_an_end_that_is_known(address, id_, form):
    """An end in another zone would reach into the next run, which would be charged as this one."""
    with Site(address) as site:
        for seconds in (-3600, -2, 0, 2, 3600, 8000):
            ends = f"<StartTime>{FIRST}</StartTime><EndTime>{FIRST + 60 + seconds}</EndTime>"
            said = site.jobs.said("Charge", data=[form.format(id_, ends)])
            told = f"EndTime {FIRST + 60} is kept, not {FIRST + 60 + seconds}"
            assert (told in said) == (abs(seconds) > 2)
        site.shown[id_][0] = 720
        site.deliver(id_, 0)
        site.charge_run(id_, 1)
        site.deliver(id_, 1)
        assert site.found() == site.shown
        [first] = site.jobs.ask("Query", gets=["EndTime", "SubmitTime"], wheres=[
            ("Id", "EQ", id_), ("StartTime", "EQ", str(FIRST))
        ])  # fmt: skip
        assert first == {"EndTime": str(FIRST + 60), "SubmitTime": str(FIRST - 20)}


def test_a_charge_without_times_keeps_those_that_tell_the_run(address):
    with Site(address) as site:
        assert site.jobs.code("Charge", data=[WHOLE.format("9", "")]) == "000"
        site.shown["9"][0] = 120
        site.charge_run("9", 1)
        assert site.found()["9"] == {0: 120, 1: 120}


def test_the_end_that_is_expected_of_a_job_that_runs_follows_its_charge(address):
    with Site(address) as site:
        ends = "<EndTime>{}</EndTime>"
        running = f"<State>Running</State><StartTime>{FIRST}</StartTime>"
        site.jobs.create(f"<Job><Id>5</Id><User>ann</User>{running}{ends.format(FIRST + 9)}</Job>")
        ended = f"<State>Completed</State>{ends.format(FIRST + 60)}"
        assert site.jobs.code("Charge", data=[f"{USED.format('5')}{ended}</Job>"]) == "000"
        rows = site.jobs.ask("Query", gets=["EndTime"], wheres=[("Id", "EQ", "5")])
        assert rows == [{"EndTime": str(FIRST + 60)}]


CHANGES = {
    "nothing": [],
    "a Modify": [("Modify", {"sets": [("Description", "x")]})],
    "a Charge": [("Charge", {})],
    "a Refund": [("Charge", {}), ("Refund", {"options": {"JobId": "10"}})],
    "a Delete": [("Delete", {}), ("Undelete", {})],
    "a Quote": [
        ("Quote", {"options": {"Guarantee": "True"}}),
        ("Modify", {"sets": [("Name", "x")]}),
    ],
}


@pytest.mark.parametrize("is_delivered", [False, True])
@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_no_further_run_has_what_was_reserved_or_quoted_whatever_was_done_since(
    address, changes, is_delivered
):
    """Any change of a job is a version of it; what a Reserve has made known was asked by nobody."""
    with Site(address) as site:
        used = {"data": [f"{USED.format('10')}</Job>"]}
        assert site.jobs.code("Reserve", **used) == "000"
        site.deleted["10"], site.shown["10"] = {}, {}
        if is_delivered:
            site.deliver("10", 0)
        for action, said in changes:
            by_id = (
                {} if action in ("Refund", "Charge", "Quote") else {"wheres": [("Id", "EQ", "10")]}
            )
            more = used if action in ("Charge", "Quote") else {}
            assert site.jobs.code(action, **said, **more, **by_id) in ("000", "100")
        for run in (0, 1):
            site.deliver("10", run)
        names = ["StartTime", "Reservation", "Quote", "Stage", "Charge"]
        further = [("StartTime", "EQ", str(FIRST + 9000)), ("Id", "EQ", "10")]
        [row] = site.jobs.ask("Query", gets=names, wheres=further)
        assert row == dict.fromkeys(names, "") | {"StartTime": str(FIRST + 9000)}


@pytest.mark.parametrize("id_", ["5", "6"])
def test_a_reservation_that_was_asked_for_stays_in_each_run(address, id_):
    """Also where a request has put another one there since, or one into a job of its group."""
    asked = "<Job><Id>{}</Id><User>ann</User><Reservation>r</Reservation></Job>"
    with Site(address) as site:
        group = f"<JobGroup><Id>h</Id>{asked.format(6)}<Job><Id>8</Id></Job></JobGroup>"
        with site.changing() as change:
            change.put(asked.format(5).encode())
            change.put(group.encode())
        assert (
            site.jobs.code("Reserve", data=[f"{USED.format({'5': '5', '6': '8'}[id_])}</Job>"])
            == "000"
        )
        site.deleted[id_], site.shown[id_] = {}, {}
        for run in (0, 1):
            site.deliver(id_, run)
        further = [("StartTime", "EQ", str(FIRST + 9000)), ("Id", "EQ", id_)]
        rows = site.jobs.ask("Query", gets=["Reservation"], wheres=further)
        assert rows == [{"Reservation": "r"}]


@pytest.mark.parametrize("around", ["{}", "<JobGroup><Id>h</Id>{}</JobGroup>"])
@pytest.mark.parametrize(
    ("seconds", "is_other"),
    [(-9000, True), (-2, False), (1, False), (30, False), (57, False), (63, True)],
)
@pytest.mark.parametrize("id_", sorted(REQUESTS))
def test_a_create_makes_no_run_that_is_there_by_its_times(address, id_, seconds, is_other, around):
    start = FIRST + seconds
    times = f"<StartTime>{start}</StartTime><EndTime>{start + 60}</EndTime>"
    job = around.format(f"<Job><Id>{id_}</Id><User>ann</User>{times}</Job>")
    made = {"object": "JobGroup" if "JobGroup" in job else "Job", "data": [job]}
    with Site(address) as site:
        if is_other:
            assert site.jobs.code("Create", **made) == "000"
            return
        place = "JobGroup g" if id_ == "7" else f"Job {id_}"
        said = f"{place} is there already, with this run"
        assert site.jobs.said("Create", **made) == said
        if id_ == "9":
            site.delete(id_, None)
            assert site.jobs.said("Create", **made) == f"{said}, and is deleted"
