"""A scheduler with queues of their own nodes, priorities, reservations and backfill, simulated."""

from dataclasses import replace

import day_of_load
import pytest
from draws import examples
from hypothesis import example, given
from hypothesis import strategies as st

from sssjob.lcginfo import backfill, backtest
from sssjob.lcginfo.backtest import Setup
from sssjob.lcginfo.config import Config
from sssjob.lcginfo.estimators import backfilled, simulated
from sssjob.lcginfo.simulate import NEVER
from sssjob.lcginfo.site import Site
from sssjob.lcginfo.snapshot import (
    CLOSED,
    DRAINING,
    Pool,
    QueuedJob,
    QueueRules,
    Scheduling,
    SlotReservation,
    Snapshot,
)

NOW = 10_000.0
HOUR = 3600.0


def running(age, limit=HOUR, slots=1, queue="long", vo="cms", **more):
    return QueuedJob(
        queue, vo, "running", f"{vo}-{age}", start=NOW - age, maxwalltime=limit, cpucount=slots,
        **more,
    )  # fmt: skip


def waiting(age, limit=HOUR, slots=1, queue="long", vo="cms", priority=None, **more):
    return QueuedJob(
        queue, vo, "queued", f"{vo}{age}", qtime=NOW - age, maxwalltime=limit, cpucount=slots,
        priority=priority, **more,
    )  # fmt: skip


def site(*jobs, slots=4, caps=None, pools=(), queues=(), reserved=(), cycle=1.0, **config):
    snapshot = Snapshot(
        jobs, slots, now=NOW, cycle=cycle,
        scheduling=Scheduling(tuple(pools), tuple(queues), tuple(reserved)),
    )  # fmt: skip
    return Site.of(snapshot, caps or {}, Config(**{"usage": 1.0, **config}))


def wait(found, queue="long", vo="atlas"):
    return backfill.waits(found, [(queue, vo)], 1.0)[queue, vo].seconds


BUSY = running(600, slots=3)  # of four slots; it has 3000 s left
WIDE = waiting(9, slots=4)
SHORT = QueueRules("short", maxwalltime=1800.0)
OWN = (Pool(("long",), 2), Pool(("short",), 2))


# fmt: off
CASES = [
    # A job of "short" is as long as its queue lets it be, one of "long" as the others of it: 1 h.
    ("nothing waits", site(BUSY), "long", 0),
    ("a wide job waits for all its slots at once, and a long one behind it must not keep it",
     site(BUSY, WIDE), "long", 3000 + HOUR),
    ("a short one ends before the wide one starts", site(BUSY, WIDE, queues=[SHORT]), "short", 0),
    ("one that ends a second too late does not start",
     site(BUSY, WIDE, queues=[SHORT._replace(maxwalltime=3001.0)]), "short", 3000 + HOUR),
    ("what the wide one leaves may be taken",
     site(BUSY, waiting(9, slots=3), slots=5), "long", 0),
    ("of two that wait the higher priority starts first",
     site(running(600, slots=4), waiting(9, limit=100.0, vo="atlas", priority=5.0),
          waiting(8, slots=4, priority=9.0)), "long", 3000 + HOUR),
    ("and the lower one later", site(running(600, slots=1), waiting(9, priority=1.0, vo="atlas"),
          waiting(8, limit=500.0, priority=9.0), slots=1), "long", 3000 + 500 + HOUR),
    ("nodes of another queue do not help",
     site(running(600, slots=2), pools=OWN), "long", 3000),
    ("nor do they hinder", site(running(600, slots=2), pools=OWN), "short", 0),
    ("one who waits for his nodes keeps nobody from others",
     site(running(600, slots=2), waiting(9, slots=2), pools=OWN), "short", 0),
    ("a queue of several names uses the nodes of all",
     site(running(600, slots=2, queue="long,short"), pools=OWN), "long,short", 0),
    ("nodes without a queue are for queues without nodes", site(
        running(600, slots=2), pools=[OWN[0], Pool((), 2)]), "other", 0),
    ("a reservation that has begun has its slots",
     site(reserved=[SlotReservation("m", NOW - 60, NOW + 500, 4)]), "long", 500),
    ("a reservation that has begun gets the slots of jobs that still run in them", site(
        running(60, slots=1), reserved=[SlotReservation("m", NOW - 60, NOW + 50000, 4)]),
     "long", 50000),
    ("and so does one that begins soon", site(
        running(60, slots=1), reserved=[SlotReservation("m", NOW + 1, NOW + 50000, 4)]),
     "long", 50000),
    ("what would run into one waits for its end",
     site(waiting(9), slots=1, reserved=[SlotReservation("m", NOW + 60, NOW + 500, 1)]), "long",
     500 + HOUR),
    ("a short job fits before it", site(
        queues=[SHORT], reserved=[SlotReservation("m", NOW + 1800, NOW + 5000, 4)]), "short", 0),
    ("slots that it does not keep are free", site(
        reserved=[SlotReservation("m", NOW + 60, NOW + 5000, 3)]), "long", 0),
    ("its own jobs have its slots", site(
        running(60, slots=4, reservation="m"),
        reserved=[SlotReservation("m", NOW - 60, NOW + 500, 4)]), "long", 500),
    ("a start is promised behind a reservation that the job would run into", site(
        running(800, slots=1), waiting(9, slots=2), slots=2,
        reserved=[SlotReservation("m", NOW + 4000, NOW + 4600, 2)],
        queues=[QueueRules("long", walltime=3600.0)]), "long", 0),
    ("and not behind one that it is over before", site(
        running(800, slots=1), waiting(9, slots=2, limit=1000), slots=2,
        reserved=[SlotReservation("m", NOW + 4000, NOW + 4600, 2)],
        queues=[QueueRules("long", walltime=3300.0)]), "long", 4600),
    ("what ends at the time of a promise leaves its slots together", site(
        running(600, slots=1), running(600, slots=1, vo="lhcb"), waiting(9, slots=2), slots=3,
        queues=[QueueRules("long", walltime=7200.0)]), "long", 0),
    ("what is over keeps nothing", site(
        reserved=[SlotReservation("m", NOW - 60, NOW, 4)]), "long", 0),
    ("a queue that starts nothing", site(queues=[QueueRules("long", serving=CLOSED)]), "long",
     NEVER),
    ("one that takes no more jobs starts those it has",
     site(queues=[QueueRules("long", serving=DRAINING)]), "long", 0),
    ("as many jobs run as the queue lets", site(
        running(600), waiting(9), queues=[QueueRules("long", maxrunning=1)]), "long",
     3000 + HOUR),
    ("a job that asks for more than the queue gives does not start, and nobody waits for it",
     site(waiting(9, limit=9 * HOUR, slots=4), queues=[QueueRules("long", HOUR)]), "long", 0),
    ("a job wider than the site keeps nobody", site(BUSY, waiting(9, slots=9)), "long", 0),
    ("a cap", site(running(600, vo="atlas"), caps={"atlas": 1}), "long", 3000),
    ("those at their cap are passed over", site(
        running(600), waiting(9, slots=1), slots=2, caps={"cms": 1}), "long", 0),
    ("of queues the higher priority first", site(
        running(600, slots=4), waiting(9, slots=4),
        queues=[SHORT._replace(priority=2.0)]), "short", 3000),
    ("without a limit of its own a job has that of its queue", site(
        running(600, limit=None, slots=4), queues=[QueueRules("long", walltime=700.0)]), "long",
     100),
]
# fmt: on


@pytest.mark.parametrize("found, queue, seconds", [case[1:] for case in CASES],
                         ids=[case[0] for case in CASES])  # fmt: skip
def test_when_one_more_job_would_start(found, queue, seconds):
    assert wait(found, queue) == seconds


def test_a_job_starts_when_the_scheduler_looks_again():
    assert wait(site(running(600, slots=4), cycle=700.0)) == 3500
    assert wait(site(running(601, slots=4), cycle=None)) == 3000


def test_an_estimate_says_what_a_job_waits_for():
    [(estimate)] = backfilled(site(BUSY, WIDE), [("long", "atlas")]).values()
    assert (estimate.ert, estimate.wrt) == (3000 + HOUR, 3000 + HOUR)
    assert "1 job that waits starts first" in estimate.why
    [(estimate)] = backfilled(site(BUSY), [("long", "atlas")]).values()
    assert estimate.why == ("it would start now",)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_backfill_is_ahead_of_simulate_where_the_scheduler_has_queues_and_priorities(seed):
    pools = tuple(Pool(queues, count, None) for queues, count in day_of_load.NODES.items())
    setup = Setup(
        Config(cycle_time=day_of_load.CYCLE), slots=60, samples=60, warm_up=3 * 3600,
        scheduling=Scheduling(pools),
    )  # fmt: skip
    log = day_of_load.day_of_priorities(seed)
    trials = backtest.backtest(log, ("simulate", "backfill"), setup)
    simulate, ours = trials
    assert ours.median_error < simulate.median_error / 1.5
    assert backtest.choice(trials).estimator == "backfill"


def test_a_simulation_has_an_end(monkeypatch):
    monkeypatch.setattr(backfill, "WORK", 3)
    found = site(BUSY, *(waiting(age, slots=4) for age in range(9)))
    assert backfill.waits(found, [("long", "atlas")], 1.0) == {}
    pairs = [("long", "atlas")]
    assert backfilled(found, pairs) == simulated(found, pairs)


JOBS = st.lists(
    st.builds(
        QueuedJob,
        queue=st.sampled_from(("long", "short", "long,short", "other")),
        group=st.sampled_from(("atlas", "cms")),
        state=st.sampled_from(("queued", "running")),
        jobid=st.uuids().map(str),
        qtime=st.integers(0, 100).map(lambda age: NOW - age),
        start=st.integers(0, 50).map(lambda age: NOW - age),
        maxwalltime=st.none() | st.integers(0, 60).map(float),
        cpucount=st.integers(1, 4),
        priority=st.none() | st.integers(0, 3).map(float),
        user=st.just(""),
        name=st.just(""),
        walltime=st.none(),
        reservation=st.just(""),
    ),
    max_size=12,
)
POOLS = st.lists(
    st.builds(
        Pool, st.sampled_from(((), ("long",), ("short",), ("long", "short"))), st.integers(0, 6),
        st.none(),
    ),
    max_size=3,
    unique_by=lambda pool: pool.queues,
)  # fmt: skip
KEPT = st.lists(
    st.builds(
        SlotReservation, st.just("r"), st.integers(-50, 90).map(lambda at: NOW + at),
        st.integers(0, 99).map(lambda at: NOW + at), st.integers(0, 4), st.just(("long",)),
    ),
    max_size=2,
)  # fmt: skip


@examples(80)
@given(JOBS, POOLS, KEPT, st.dictionaries(st.sampled_from(("atlas", "cms")), st.integers(0, 3)))
def test_no_job_is_lost_and_no_slot_given_twice(jobs, pools, reserved, caps):
    found = site(*jobs, slots=6, pools=pools, reserved=reserved, caps=caps)
    scheduler = backfill.Scheduler(found, 1.0, [])
    runs_before = sum(job.state == "running" for job in jobs)
    free_before = list(scheduler.free)
    assert list(scheduler.passes()) == []
    assert scheduler.ends == []
    assert scheduler.limits == []
    assert scheduler.started + len(scheduler.waiting) == len(jobs) - runs_before
    # All have ended: what is free is what there is, or more, where more ran than there is.
    for at, pool in enumerate(scheduler.pools.all):
        assert scheduler.free[at] >= max(free_before[at], pool.slots if pools else 0)
    for place in scheduler.waiting:  # nobody is kept waiting by an empty machine
        room = sum(scheduler.free[at] for at in scheduler.pools.of(place.pair[0]))
        cap = caps.get(place.pair[1], NEVER)
        assert room < place.slots or cap < 1


@examples(60)
@given(JOBS, POOLS, KEPT)
def test_nobody_starts_where_there_is_no_slot(jobs, pools, reserved):
    found = site(*jobs, slots=6, pools=pools, reserved=reserved)
    scheduler = backfill.Scheduler(found, 1.0, [])
    start = scheduler._start

    def checked(place, taken, now):
        assert sum(slots for _, slots in taken) == place.slots
        start(place, taken, now)
        for at, slots in taken:
            assert slots > 0
            assert scheduler.free[at] >= 0

    scheduler._start = checked
    list(scheduler.passes())


# decision 666
def test_where_nothing_is_kept_free_a_job_that_fits_goes_ahead_of_one_that_does_not():
    kept = site(BUSY, WIDE)  # one of four slots is free, and is promised to the wide job
    free = Site(replace(kept.snapshot, scheduling=Scheduling(keeps=False)), config=kept.config)
    assert wait(kept) > 0
    assert wait(free) == 0


# An evaluator of its own, second by second: what is free at each, for all the time of a job.

HORIZON = 600


class Seconds:
    """Slots that are free in each second, by the limits of what runs and by reservations."""

    def __init__(self, slots, running, reserved):
        self.free = [slots] * HORIZON
        for limit, width in running:
            self.take(0, limit, width)
        for start, end, width in reserved:
            self.take(max(start, 0), max(end, 0), width)

    def take(self, start, end, width):
        for second in range(start, min(end, HORIZON)):
            self.free[second] -= width

    def fits(self, start, limit, width):
        return all(free >= width for free in self.free[start : start + limit])


def when_it_starts(slots, running, queue, reserved, asked):
    """When a job of one slot behind a queue starts, by EASY backfill: the first is promised."""
    seconds, left = Seconds(slots, running, reserved), list(queue)
    for now in range(HORIZON // 2):
        promised = None
        for job in list(left):
            limit, width = job
            if seconds.fits(now, limit, width):
                seconds.take(now, now + limit, width)
                left.remove(job)
            elif promised is None:
                promised = next(
                    (
                        at
                        for at in range(now + 1, HORIZON - limit)
                        if seconds.fits(at, limit, width)
                    ),
                    None,
                )
                if promised is not None:
                    seconds.take(promised, promised + limit, width)
                    given_back = (promised, promised + limit, -width)
        if seconds.fits(now, asked, 1):
            return now
        if promised is not None:
            seconds.take(*given_back)
    return None


SPAN = st.integers(1, 25)
WIDTH = st.integers(1, 4)
RUNNING = st.lists(st.tuples(SPAN, WIDTH), max_size=4)
QUEUE = st.lists(st.tuples(SPAN, WIDTH), max_size=4)
RESERVED = st.lists(st.tuples(st.integers(-5, 40), st.integers(1, 30), WIDTH), max_size=3)


@examples(300)
@given(st.integers(2, 5), RUNNING, QUEUE, RESERVED, SPAN)
@example(4, [(10, 3)], [(40, 2)], [(30, 20, 2)], 60)
def test_jobs_start_when_an_evaluator_of_each_second_says(slots, runs, queue, reserved, asked):
    """Also beside reservations that begin while a job runs that was promised its slots."""
    kept = [(start, start + length, width) for start, length, width in reserved]
    while sum(width for _, width in runs) > slots:
        runs = runs[1:]
    found = site(
        *(running(100, limit=100.0 + limit, slots=width, vo=f"r{number}")
          for number, (limit, width) in enumerate(runs)),
        *(waiting(50 - number, limit=float(limit), slots=width, vo=f"q{number}")
          for number, (limit, width) in enumerate(queue)),
        slots=slots, queues=[QueueRules("long", walltime=float(asked))],
        reserved=[SlotReservation(f"m{number}", NOW + start, NOW + end, width)
                  for number, (start, end, width) in enumerate(kept)],
    )  # fmt: skip
    says = when_it_starts(slots, runs, queue, kept, asked)
    assert wait(found) == (NEVER if says is None else says)
