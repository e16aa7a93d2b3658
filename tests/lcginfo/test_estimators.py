import pytest

from sssjob.lcginfo import estimators
from sssjob.lcginfo.answers import answers
from sssjob.lcginfo.config import Config
from sssjob.lcginfo.estimators import Estimate, NoEstimator, published
from sssjob.lcginfo.site import Site
from sssjob.lcginfo.snapshot import QueuedJob, Snapshot

NOW = 1000.0
RUNNING = QueuedJob(
    "long", "atlas", "running", "1.host", qtime=100.0, start=400.0, maxwalltime=3600.0
)
LATER = RUNNING._replace(jobid="2.host", qtime=300.0, start=400.0, group="cms")
WAITING = QueuedJob("long", "atlas", "queued", "3.host", qtime=900.0, maxwalltime=3600.0)


def site(*jobs, nfree=0, caps=None, **config):
    snapshot = Snapshot(tuple(jobs), nactive=2, nfree=nfree, now=NOW, cycle=120.0)
    return Site.of(snapshot, caps or {}, Config(**{"usage": 1.0, **config}))


@pytest.mark.parametrize("estimate, cycle, times", [
    pytest.param((0, 0), 120, (60, 120), id="zero-becomes-half-a-cycle"),
    pytest.param((119, 119), 120, (60, 120), id="and-so-does-less-than-a-cycle"),
    pytest.param((120, 120), 120, (120, 120), id="a-cycle-stays"),
    pytest.param((0, 0), 26, (13, 26), id="an-idle-queue-of-a-BDII"),
    pytest.param((0, 0), 25, (12, 25), id="half-is-cut"),
    pytest.param((1.9, 2.9), None, (1, 2), id="no-cycle-no-change"),
    pytest.param((1.9, 2.9), 0, (1, 2), id="zero-is-no-cycle"),
    pytest.param((500, 300), 120, (500, 500), id="the-worst-is-no-better"),
    pytest.param((float("inf"), float("inf")), 120, (2147483647,) * 2, id="never"),
])  # fmt: skip
def test_what_is_published(estimate, cycle, times):
    assert published(Estimate(*estimate), cycle) == times


def test_waittime_takes_what_running_jobs_had_waited():
    found = estimators.get("waittime")(site(RUNNING, LATER, WAITING), [("long", "atlas")])
    assert found["long", "atlas"][:2] == (200, 300)
    free = estimators.get("waittime")(site(RUNNING, nfree=1), [("long", "cms"), ("new", "cms")])
    assert {estimate[:2] for estimate in free.values()} == {(0, 0)}
    assert estimators.get("waittime")(site(WAITING), [("long", "atlas")]) == {}


def test_simulate_answers_for_each_VO_and_for_the_queue():
    pairs = [("long", ""), ("long", "atlas"), ("long", "cms"), ("empty", "")]
    found = estimators.get("simulate")(site(RUNNING, WAITING, nfree=1, caps={"cms": 0}), pairs)
    assert found["long", ""].ert == 3000  # a job waits in it, for the slot that is free
    assert found["long", "atlas"].ert == 3000
    assert found["long", "cms"].ert == float("inf")
    assert found["empty", ""].ert == 0


def test_why_a_job_would_wait_names_the_jobs_and_the_cap():
    row, other = answers(site(RUNNING, LATER, WAITING, caps={"cms": 1}))
    assert row.why == (
        "no slot is free",
        "2 jobs hold 2 slots; the next to end: 1.host in 00:50:00, 2.host in 00:50:00",
        "1 job that waits starts first",
        "the end of 2.host makes room",
    )
    assert other.why[:2] == (
        "the cap of 1 binds: 1 used",
        "1 job holds 1 slot; the next to end: 2.host in 00:50:00",
    )


def test_an_answer_has_the_counts_and_the_times():
    rows = answers(site(RUNNING, LATER, WAITING))
    times = {"ert": 3000, "wrt": 3000}
    assert [row.as_dict() for row in rows] == [
        {"queue": "long", "vo": vo, "running": 1, "waiting": waiting, "free": 0, **times}
        for vo, waiting in (("atlas", 1), ("cms", 0))
    ]
    assert "why" in rows[0].as_dict(explain=True)


@pytest.mark.parametrize("unknown, times", [
    pytest.param("peer", 0, id="as-the-programs-before"),
    pytest.param("omit", None, id="nothing"),
    pytest.param("placeholder", 2146660842, id="as-static-files-have-it"),
])  # fmt: skip
def test_what_stands_for_no_estimate(unknown, times):
    (row,) = answers(site(WAITING, unknown=unknown), [("long", "atlas")], "waittime")
    assert (row.ert, row.wrt) == (times, times)


def test_the_cycle_of_the_batch_system_wins_unless_it_is_0():
    assert site(cycle_time=30.0).cycle == 120
    assert Site.of(Snapshot(cycle=0.0), {}, Config(cycle_time=30.0)).cycle == 30
    assert Site.of(Snapshot(), {}, Config()).cycle is None


def test_an_estimator_of_others_is_found_by_its_name(monkeypatch):
    class Point:
        name = "mine"

        def load(self):
            return lambda site, pairs: {pair: Estimate(777, 888) for pair in pairs}

    def entry_points(*, group, name="mine"):
        assert group == "sssjob.lcginfo.estimators"
        return [Point()] if name == "mine" else []

    monkeypatch.setattr(estimators, "entry_points", entry_points)
    assert estimators.names() == ("simulate", "backfill", "basic", "waittime", "mine")
    assert answers(site(WAITING), estimator="mine")[0].wrt == 888
    with pytest.raises(NoEstimator, match="known: simulate, backfill, basic, waittime, mine"):
        estimators.get("theirs")
