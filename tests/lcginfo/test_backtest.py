"""A log replayed: what was there at each time, what is asked, and who comes closer."""

import math
import random

import day_of_load
import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob import loads
from sssjob.lcginfo import backtest
from sssjob.lcginfo.backtest import BacktestSample, Past, Setup, Trial
from sssjob.lcginfo.config import Config
from sssjob.lcginfo.snapshot import DONE, QUEUED, RUNNING, QueuedJob


def past(jobid, ready, start=None, end=None, **values):
    entry = QueuedJob("q", "vo", DONE, jobid, qtime=float(ready), **values)
    return Past(entry, float(ready), start, end)


def job(**values):
    texts = "".join(f"<{name}>{value}</{name}>" for name, value in values.items())
    return loads(f"<Job><Id>1</Id><Queue>q</Queue><Group>g</Group>{texts}</Job>")


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("jobs", [150, 400], ids=["a busy day", "more than a day of work"])
def test_simulate_is_ahead_of_basic_on_a_day_of_load(seed, jobs):
    setup = Setup(
        Config(cycle_time=day_of_load.CYCLE), day_of_load.CAPS, day_of_load.SLOTS,
        samples=60, warm_up=4 * 3600,
    )  # fmt: skip
    simulate, basic = backtest.backtest(day_of_load.day(seed, jobs), ("simulate", "basic"), setup)
    assert len(simulate.samples) == len(basic.samples) == 60
    assert simulate.median_error < basic.median_error / 2
    assert abs(simulate.bias) < abs(basic.bias)
    assert simulate.within_worst > 0.9


def test_the_generated_day_keeps_to_its_slots_and_caps():
    log = day_of_load.day(1, 400)
    assert backtest.most_busy(log) == day_of_load.SLOTS
    for vo, cap in day_of_load.CAPS.items():
        jobs = [item._replace(entry=item.entry._replace(cpucount=1)) for item in log]
        assert backtest.most_busy([item for item in jobs if item.entry.group == vo]) <= cap


# fmt: off
NAMES = ("SubmitTime", "EligibleTime", "StartTime", "EndTime")
LIVES = [
    #             told                      ready, started, ended
    pytest.param((10, None, 20,   30),     (10, 20,   30),   id="a life"),
    pytest.param((10, None, 20,   None),   (10, 20,   None), id="it runs"),
    pytest.param((10, None, None, None),   (10, None, None), id="it waits"),
    pytest.param((10, None, None, 30),     (10, None, 30),   id="cancelled before its start"),
    pytest.param((10, 15,   20,   30),     (15, 20,   30),   id="eligible later"),
    pytest.param((10, 25,   20,   30),     (10, 20,   30),   id="eligible after its start"),
    pytest.param((10, None, 5,    7),      (10, 10,   10),   id="clocks that disagree"),
    pytest.param((10, None, 20,   "soon"), (10, 20,   None), id="no time"),
]
# fmt: on


@pytest.mark.parametrize("told, times", LIVES)
def test_the_times_of_a_job_are_those_of_its_life(told, times):
    values = {name: time for name, time in zip(NAMES, told, strict=True) if time is not None}
    (found,) = backtest.history([job(**values)])
    assert (found.ready, found.start, found.end) == times
    assert found.entry.qtime == found.ready


def test_a_job_ends_after_what_was_delivered_where_no_end_is_told():
    text = "<Job><Id>1</Id><Queue>q</Queue><User>u</User><State>Completed</State>"
    text += "<SubmitTime>1</SubmitTime><StartTime>5</StartTime>"
    text += "<Delivered><Duration>60</Duration></Delivered></Job>"
    (found,) = backtest.history([loads(text)])
    assert found.end == 65


def test_a_job_that_cannot_be_replayed_is_reported_and_left_out():
    remarks = []
    assert backtest.history([job(StartTime=5)], report=remarks.append) == []
    assert [remark.message for remark in remarks] == [
        "job '1': no SubmitTime, so it cannot be replayed"
    ]


def test_a_snapshot_shows_what_was_there_when_a_job_came():
    log = [
        past("gone", 0, 0, 50),
        past("runs", 0, 10, 200, cpucount=2),
        past("cancelled before", 5, None, 90),
        past("waits", 20, 150, 160),
        past("cancelled later", 30, None, 180),
        past("sampled", 100, 170, 190),
        past("behind", 100, 180, 190),
    ]
    shown = {item.entry.jobid: snapshot for item, snapshot in backtest.replay(log, Setup())}
    snapshot = shown["sampled"]
    assert {(item.jobid, item.state) for item in snapshot.jobs} == {
        ("runs", RUNNING), ("waits", QUEUED), ("cancelled later", QUEUED),
    }  # fmt: skip
    assert (snapshot.now, snapshot.nactive, snapshot.free) == (100, 4, 2)
    assert all((item.start is None) == (item.state == QUEUED) for item in snapshot.jobs)
    assert "cancelled later" not in shown


def test_finished_jobs_are_shown_if_that_is_asked():
    log = [past("a", 0, 0, 10, walltime=10.0), past("b", 0, 0, 20), past("c", 50, 50, 60)]
    *_, (_, snapshot) = backtest.replay(log, Setup(remembered=1))
    assert [(item.jobid, item.state) for item in snapshot.jobs] == [("b", DONE)]


def test_the_most_that_was_busy_counts_slots_and_lets_ends_come_first():
    log = [past("a", 0, 0, 10, cpucount=3), past("b", 0, 10, 20, cpucount=2), past("c", 5, 15)]
    assert backtest.most_busy(log) == 3
    assert backtest.most_busy([]) == 0


def test_nothing_is_asked_of_an_empty_log_or_of_jobs_that_never_started():
    for log in ([], [past("a", 0)]):
        (trial,) = backtest.backtest(log, ["simulate"])
        assert (trial.samples, trial.bias, trial.median_error, trial.within_worst) == (
            (), None, None, None,
        )  # fmt: skip


def trial(name, *errors):
    samples = (BacktestSample(0, "7", "q", "vo", 1000.0, None if e is None else int(1000 + e), None)
               for e in errors)  # fmt: skip
    return Trial(name, tuple(samples))


def test_the_bounds_of_a_median_are_errors_that_were_seen():
    low, high = trial("a", *(7 * number % 60 for number in range(60))).error_bounds
    assert low in range(18, 30)
    assert high in range(30, 42)
    assert trial("a", *range(1, 12)).error_bounds is None
    assert trial("a", *[7] * 12).error_bounds == (7, 7)
    assert trial("a", *(-each for each in range(1, 13))).error_bounds == (1, 12)


def test_jobs_that_waited_alike_make_nobody_surer():
    """A queue that is met by many jobs in a row is one queue."""
    chance = random.Random(3)
    for _ in range(20):
        few = [chance.expovariate(1 / 1000) for _ in range(24)]
        many = [each for each in few for _ in range(50)]
        (low, high), (lower, higher) = trial("a", *few).error_bounds, trial("a", *many).error_bounds
        assert lower <= low < high <= higher


def alike(chance, count, part):
    """Numbers around 0 of which each is like the one before, by a part of it."""
    value = chance.gauss(0, 1)
    for _ in range(count):
        value = part * value + math.sqrt(1 - part**2) * chance.gauss(0, 1)
        yield value


@pytest.mark.parametrize("part, least", [(0, 0.95), (0.5, 0.95), (0.8, 0.9)])
def test_the_bounds_hold_as_often_as_they_say_and_so_does_a_choice(part, least):
    chance = random.Random(5)
    hold = chosen = 0
    for _ in range(250):
        one, other = ([1000 * math.exp(each) for each in alike(chance, 120, part)] for _ in "ab")
        low, high = trial("a", *one).error_bounds
        hold += low <= 1000 <= high
        chosen += not backtest.choice([trial("a", *one), trial("b", *other)]).rivals
    assert hold / 250 >= least
    assert chosen / 250 <= 1.1 - least


@pytest.mark.parametrize(
    "others, rivals",
    [
        ([("b", [9] * 24)], ()),
        ([("b", [9] * 16 + [0] * 8)], ("b",)),
        ([("b", [9, 9, 0, 9] * 6)], ()),
        ([("b", [1] * 24), ("c", [9] * 24)], ("b",)),
        ([("none", [None] * 24)], ()),
    ],
    ids=["far", "later the other", "three of four all the time", "as near", "no answer"],
)
def test_the_nearest_estimator_is_chosen_and_those_that_may_be_as_near_are_named(others, rivals):
    trials = [trial(name, *errors) for name, errors in others]
    assert backtest.choice([trial("best", *[1] * 24), *trials]) == ("best", rivals)


def test_few_jobs_choose_nobody_for_sure():
    assert backtest.choice([trial("a", *[1] * 11), trial("b", *[9] * 11)]) == ("a", ("b",))


def test_nothing_is_chosen_where_nobody_answered():
    assert backtest.choice([trial("a", None), trial("b")]) is None
    assert backtest.choice([]) is None


def test_the_numbers_of_a_trial():
    def sample(waited, ert, wrt):
        return BacktestSample(0.0, "1", "q", "vo", waited, ert, wrt)

    trial = Trial("x", (sample(10, 20, 30), sample(100, 60, 90), sample(7, None, None)))
    assert trial.errors == (10, -40)
    assert (trial.bias, trial.median_error, trial.within_worst) == (-15, 25, 0.5)


LIVES_OF_JOBS = st.lists(
    st.tuples(st.integers(0, 99), st.integers(0, 50), st.integers(0, 50), st.integers(1, 3)),
    max_size=30,
)


@given(LIVES_OF_JOBS, st.integers(1, 40))
@examples(50)
def test_no_snapshot_is_fuller_than_the_slots_and_samples_are_as_many_as_wanted(lives, wanted):
    log = sorted(
        (
            past(str(number), ready, float(ready + wait), float(ready + wait + run), cpucount=slots)
            for number, (ready, wait, run, slots) in enumerate(lives)
        ),
        key=lambda item: item.ready,
    )
    shown = list(backtest.replay(log, Setup(samples=wanted)))
    assert len(shown) == min(wanted, len(log))
    assert [item.ready for item, _ in shown] == sorted(item.ready for item, _ in shown)
    for item, snapshot in shown:
        assert snapshot.busy <= snapshot.nactive
        assert item.entry.jobid not in {other.jobid for other in snapshot.jobs}
        assert all(other.qtime <= item.ready for other in snapshot.jobs)
