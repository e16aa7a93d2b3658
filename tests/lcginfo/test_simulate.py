import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob.lcginfo import backfill, simulate
from sssjob.lcginfo.config import Config
from sssjob.lcginfo.estimators import published, simulated
from sssjob.lcginfo.simulate import NEVER
from sssjob.lcginfo.site import Site
from sssjob.lcginfo.snapshot import QueuedJob, Snapshot

VOS = ("atlas", "cms", "lhcb")
NOW = 10_000.0
HOUR = 3600.0


def running(vo, started, limit=HOUR, slots=1, **more):
    """A job that has run for some seconds."""
    return QueuedJob(
        "long", vo, "running", f"{vo}-{started}", start=NOW - started, maxwalltime=limit,
        cpucount=slots, **more,
    )  # fmt: skip


def waiting(vo, since, limit=HOUR, slots=1):
    """A job that came some seconds ago."""
    return QueuedJob(
        "long", vo, "queued", f"{vo}-{since}", qtime=NOW - since, maxwalltime=limit, cpucount=slots
    )  # fmt: skip


def site(*jobs, slots=None, nfree=None, caps=None, cycle=120.0, **config):
    snapshot = Snapshot(tuple(jobs), nactive=slots, nfree=nfree, now=NOW, cycle=cycle)
    return Site.of(snapshot, caps or {}, Config(**{"usage": 1.0, **config}))


def wait(found, vo="atlas"):
    return simulate.waits(found, [vo], 1.0)[vo]


def backfilled_wait(found, vo="atlas"):
    return backfill.waits(found, [("long", vo)], 1.0)["long", vo]


def test_an_empty_queue_answers_half_a_cycle():
    estimate = simulated(site(slots=10), [("long", "atlas")])["long", "atlas"]
    assert published(estimate, 120) == (60, 120)


@given(
    st.integers(1, 99),
    st.floats(1, 10**4),
    st.dictionaries(st.sampled_from(VOS), st.integers(1, 9)),
)
def test_an_empty_site_answers_half_a_cycle_to_everybody(slots, cycle, caps):
    pairs = [("any", vo) for vo in ("", *VOS)]
    for estimate in simulated(site(slots=slots, caps=caps, cycle=cycle), pairs).values():
        assert published(estimate, cycle) == (int(cycle / 2), int(cycle))


@pytest.mark.parametrize("jobs, slots, caps, seconds", [
    pytest.param([running("cms", 600)], 1, {}, 3000, id="the-rest-of-the-one-that-runs"),
    pytest.param([running("cms", 600), running("cms", 60)], 2, {}, 3000, id="the-first-to-end"),
    pytest.param([running("cms", 600), waiting("cms", 9)], 1, {}, 6600, id="behind-one-that-waits"),
    pytest.param([running("cms", 600), waiting("cms", 9), waiting("cms", 8)], 2, {}, 3600,
                 id="the-second-slot-is-taken-too"),
    pytest.param([running("atlas", 600)], 9, {"atlas": 1}, 3000, id="the-cap-binds"),
    pytest.param([running("atlas", 600), waiting("atlas", 9)], 9, {"atlas": 1}, 6600,
                 id="the-cap-binds-those-before-too"),
    pytest.param([running("cms", 600), waiting("cms", 9)], 2, {"cms": 1}, 0,
                 id="those-at-their-cap-are-passed-over"),
    pytest.param([running("cms", 600), waiting("cms", 9, slots=2)], 2, {}, 3600,
                 id="a-wide-job-takes-slots-as-they-come"),
    pytest.param([running("cms", 600, slots=2)], 2, {}, 3000, id="a-wide-job-frees-all-its-slots"),
    pytest.param([running("cms", 9999)], 1, {}, 60, id="an-overdue-job-ends-with-half-a-cycle"),
    pytest.param([], 9, {"atlas": 0}, NEVER, id="a-cap-of-0"),
    pytest.param([], 0, {}, NEVER, id="no-slots"),
])  # fmt: skip
def test_when_one_more_job_would_start(jobs, slots, caps, seconds):
    assert wait(site(*jobs, slots=slots, caps=caps)).seconds == seconds


def test_jobs_on_hold_and_done_do_not_wait():
    held = waiting("cms", 9)._replace(state="pending")
    assert wait(site(held, held._replace(state="done"), slots=1)).seconds == 0


def test_waiting_jobs_start_in_the_order_in_which_they_came():
    late, early = waiting("cms", 1, limit=10.0), waiting("lhcb", 2, limit=1000.0)
    found = site(running("atlas", 600), late, early, slots=1)
    assert [step.released.get("", "") for step in simulate.steps(found, 1.0)] == [
        "", "atlas-600", "lhcb-2", "cms-1",
    ]  # fmt: skip


def test_a_start_in_the_future_is_a_start_now():
    assert wait(site(running("cms", -500), slots=1)).seconds == HOUR


def test_a_job_without_limit_runs_twice_the_age_at_which_such_are_met():
    found = site(running("cms", 100, limit=None), running("cms", 300, limit=None), slots=2)
    assert wait(found).seconds == 400 - 300
    alone = site(waiting("cms", 5, limit=None), running("lhcb", 0), slots=1)
    assert wait(alone).seconds == HOUR + simulate.Lengths(alone, 1.0).of(alone.snapshot.jobs[0])
    assert simulate.Lengths(site(), 1.0).of(waiting("cms", 5, limit=None)) == 86400


def test_the_estimate_takes_a_part_of_the_limit_and_the_worst_case_all_of_it():
    found = site(running("cms", 600), slots=1, usage=None)
    estimate = simulated(found, [("long", "atlas")])["long", "atlas"]
    assert (estimate.ert, estimate.wrt) == (1200, 3000)


def test_finished_jobs_tell_what_part_of_their_limits_jobs_use():
    done = [running("cms", 9, walltime=HOUR / 4)._replace(state="done")] * simulate.SAMPLES
    assert simulate.expected_usage(site(*done, usage=None)) == 0.25
    assert simulate.expected_usage(site(*done[1:], usage=None)) == simulate.EXPECTED_USAGE
    assert simulate.expected_usage(site(*done, usage=0.75)) == 0.75


def test_where_nobody_says_how_many_slots_there_are_waiting_jobs_tell():
    busy = running("cms", 600)
    assert wait(site(busy)).seconds == 0
    assert wait(site(busy, waiting("cms", 9))).seconds == 6600


@pytest.mark.parametrize("nfree", [None, 0])
def test_the_first_of_more_running_slots_than_there_are_leave_no_room(nfree):
    """12 of 8 slots are held: when the 4 of the first end, 8 of 8 are."""
    jobs = [running("cms", 3500, slots=4), running("cms", 1800, slots=8)]
    assert wait(site(*jobs, slots=8, nfree=nfree)).seconds == 1800
    assert wait(site(*jobs, slots=9, nfree=nfree)).seconds == 100
    assert wait(site(*jobs, slots=12, nfree=nfree)).seconds == 100
    assert wait(site(*jobs, slots=8, nfree=2)).seconds == 0  # what is stated is believed


@pytest.mark.parametrize("waits", [wait, backfilled_wait])
def test_an_end_of_a_job_that_waited_is_its_groups_own_too(waits):
    mine, other = waiting("atlas", 20, limit=600.0), waiting("cms", 10, limit=600.0)
    held = running("atlas", 100)
    assert waits(site(held, mine, other, slots=50, caps={"atlas": 2})).released == mine.jobid


def test_a_job_wider_than_the_site_is_passed_over_whatever_runs_there():
    wide = waiting("atlas", 100, slots=17)
    found = site(running("cms", 3500, slots=24), wide, slots=16)
    assert found.too_wide == 1
    assert wait(found).seconds == 100


@pytest.mark.parametrize("slots", [5, 2])
def test_the_end_that_a_capped_group_waits_for_is_one_of_its_own(slots):
    jobs = [running(vo, 3000 + number) for number, vo in enumerate(("atlas", "cms"))]
    late = [each._replace(start=NOW - 3000) for each in jobs]
    found = site(*late, slots=slots, caps={"atlas": 1, "cms": 1})
    for job in late:
        assert wait(found, job.group).released == job.jobid
        assert backfilled_wait(found, job.group).released == job.jobid


def test_a_cap_can_count_slots():
    wide = running("atlas", 600, slots=3)
    found = site(wide, waiting("atlas", 9, slots=2), slots=9, caps={"atlas": 4}, count="slots")
    steps = [(step.time, step.busy) for step in simulate.steps(found, 1.0)]
    # One of its two slots fits below the cap at once.
    assert steps == [(0, 4), (3000, 2), (3600, 1), (6600, 0)]


JOBS = st.lists(
    st.builds(
        QueuedJob,
        queue=st.sampled_from(("long", "short")),
        group=st.sampled_from(VOS),
        state=st.sampled_from(("queued", "running", "queued")),
        jobid=st.uuids().map(str),
        qtime=st.integers(0, 100).map(lambda age: NOW - age),
        start=st.integers(0, 50).map(lambda age: NOW - age),
        maxwalltime=st.none() | st.integers(0, 60).map(float),
        cpucount=st.integers(1, 4),
    ),
    max_size=14,
)
CAPS = st.dictionaries(st.sampled_from(VOS), st.integers(0, 4))


@examples(60)
@given(JOBS, CAPS, st.integers(1, 12), st.integers(1, 6), st.sampled_from(("jobs", "slots")))
def test_more_slots_never_make_anyone_wait_longer(jobs, caps, slots, more, count):
    jobs = [job for job in jobs if job.cpucount <= slots]  # another would start with more only
    pairs = [(queue, vo) for queue in ("long", "short") for vo in ("", *VOS)]
    few = simulated(site(*jobs, slots=slots, caps=caps, count=count), pairs)
    many = simulated(site(*jobs, slots=slots + more, caps=caps, count=count), pairs)
    for pair in pairs:
        assert many[pair].ert <= few[pair].ert
        assert many[pair].wrt <= few[pair].wrt


@given(JOBS, CAPS, st.integers(1, 12), st.integers(1, 2), st.sampled_from(("jobs", "slots")))
def test_a_job_of_more_slots_than_there_are_makes_nobody_wait(jobs, caps, slots, wide, count):
    pairs = [(queue, vo) for queue in ("long", "short") for vo in ("", *VOS)]
    others = [job for job in jobs if job.state == "running" or job.cpucount <= slots]
    hopeless = [waiting("cms", 200 + n, slots=slots + 1) for n in range(wide)]
    without = simulate.waits(site(*others, slots=slots, caps=caps, count=count), VOS, 1.0)
    found = site(*others, *hopeless, slots=slots, caps=caps, count=count)
    assert found.too_wide == wide
    assert simulate.waits(found, VOS, 1.0) == without
    why = simulated(found, pairs)["long", "cms"].why
    assert any("more slots than there are: passed over" in sentence for sentence in why)


@given(JOBS, CAPS, st.integers(0, 12), st.sampled_from(("jobs", "slots")))
def test_nobody_ever_starts_above_a_cap_or_without_a_slot(jobs, caps, slots, count):
    found = site(*jobs, slots=slots, caps=caps, count=count)
    held = {vo: found.held(vo) for vo in VOS}
    before, lacks = 0.0, found.snapshot.busy - slots
    for step in simulate.steps(found, 1.0):
        assert step.time >= before
        assert step.free >= min(-lacks, 0)
        assert step.busy + step.free == slots
        lacks = -step.free  # from one end to the next fewer are lacking, and then none
        for vo, cap in caps.items():
            assert step.held[vo] <= max(cap, held[vo])
        before = step.time
    assert step.busy == 0
    if slots and all(caps.values()):
        assert step.waiting == 0


@given(JOBS, CAPS, st.integers(0, 12))
def test_the_same_snapshot_gives_the_same_answers(jobs, caps, slots):
    pairs = [("long", vo) for vo in VOS]
    one = simulated(site(*jobs, slots=slots, caps=caps), pairs)
    assert simulated(site(*reversed(jobs), slots=slots, caps=caps), pairs).keys() == one.keys()
    for pair, estimate in simulated(site(*jobs, slots=slots, caps=caps), pairs).items():
        assert estimate == one[pair]
