"""Which of two runs of a job is the later one, by what is told of them."""

import pytest

from sssjob.document import loads
from sssjob.runs import RunOrder, RunTimes

TOLERANCE = 60
HOUR, START = 3600, 1_700_000_000


@pytest.mark.parametrize(
    ("known", "told", "order"),
    [
        ((None, None), (5, 100), RunOrder.SAME),
        ((None, 100), (None, None), RunOrder.SAME),
        ((None, 100), (None, 160), RunOrder.SAME),
        ((None, 100), (None, 161), RunOrder.LATER),
        # A run that is requeued is submitted anew, and may begin soon behind the one before.
        ((None, 100), (103, 113), RunOrder.LATER),
        ((None, 100), (103, None), RunOrder.LATER),
        ((None, 100), (102, 113), RunOrder.SAME),
        ((50, 100), (50, 113), RunOrder.SAME),
        # Runs of one job do not overlap, and what overlaps is one run, whatever the minute says.
        ((None, 100, 120), (None, 123), RunOrder.LATER),
        ((50, 100, 120), (50, 130, 140), RunOrder.LATER),
        ((None, 100, 120), (None, 122), RunOrder.SAME),
        ((None, 100, 400), (None, 190), RunOrder.SAME),
        ((None, 100, 400), (None, 190, 400), RunOrder.SAME),
        ((None, 100, 400), (None, 399), RunOrder.LATER),
        ((None, 100, 100), (None, 100, 100), RunOrder.SAME),
        # By its start and what it used a run was gone, where it tells no end.
        ((50, 100, None, None, None, 105), (50, 111, 116), RunOrder.LATER),
        ((50, 100, None, None, None, 105), (50, 103), RunOrder.LATER),
        ((50, 100, None, None, None, 105), (50, 102, 107), RunOrder.SAME),  # by clocks
        ((50, 100, None, None, None, 105), (50, 103, 105), RunOrder.SAME),
        ((50, 100, None, None, None, 400), (50, 190, 500), RunOrder.LATER),
        ((50, 100, None, None, None, 400), (50, 113, 500), RunOrder.SAME),
        # One of a second may be behind another one of a second.
        ((None, 100, 101), (None, 102, 152), RunOrder.LATER),
        ((None, 100, 102), (None, 102, 152), RunOrder.LATER),
        ((None, 100, 102), (None, 101, 152), RunOrder.SAME),
        ((None, 100, 101), (None, 102, 103), RunOrder.SAME),
        ((None, 100, 101), (None, 102), RunOrder.SAME),
        ((None, 100, 101), (None, 102, None, 152), RunOrder.LATER),
        # So may one of a second be behind a longer one.
        ((None, 100, 130), (None, 130, 132), RunOrder.LATER),
        ((None, 100, 131), (None, 130, 132), RunOrder.SAME),
        # A run that began before the one that ended may have ended before it, too.
        ((None, 100), (None, 190, 400), RunOrder.LATER),
    ],
)
def test_a_run_stands_to_another_one_as_their_times_say(known, told, order):
    first, second = RunTimes(*known), RunTimes(*told)
    assert second.order(first, TOLERANCE) is order
    opposite = {RunOrder.LATER: RunOrder.EARLIER, RunOrder.SAME: RunOrder.SAME}
    assert first.order(second, TOLERANCE) is opposite[order]


@pytest.mark.parametrize(
    ("start", "order"),
    [
        (START, RunOrder.SAME),
        (START + 60, RunOrder.SAME),
        (START + 61, RunOrder.UNTOLD),  # one zone east it would be an earlier run
        (START + HOUR, RunOrder.UNTOLD),
        (START - 5 * HOUR, RunOrder.UNTOLD),
        (START + 14 * HOUR + 60, RunOrder.UNTOLD),
        (START + 14 * HOUR + 61, RunOrder.LATER),
        (START - 12 * HOUR - 60, RunOrder.UNTOLD),
        (START - 12 * HOUR - 61, RunOrder.EARLIER),
    ],
)
def test_times_without_a_zone_are_of_another_run_only_where_they_are_in_every_zone(start, order):
    told = RunTimes(None, start)
    assert told.order_without_zone(RunTimes(None, START), TOLERANCE) is order


@pytest.mark.parametrize(
    ("known", "told", "is_apart"),
    [
        ((None, 100, 160), (162, None), True),
        ((None, 100, 160), (158, None), True),  # anew as soon as the one before ended
        ((None, 100, 160), (157, None), False),
        ((None, 160, 160), (161, None), False),
        ((None, None, 160), (162, None), False),
        ((None, None, 160), (163, None), True),
        ((None, None, 160), (None, 163), True),
        ((None, 100, 160), (162, 150), False),  # where both began, that tells it
        ((None, 100), (162, None), False),
        ((None, 100, 160), (None, None, 90), False),  # it is earlier, and nothing tells which
        ((200, None), (None, None, 160), False),
        ((200, None), (None, 100, 160), True),
        ((None, 200), (None, 100, 160), True),
    ],
)
def test_a_run_that_had_ended_before_another_was_submitted_is_told_apart(known, told, is_apart):
    first, second = RunTimes(*known), RunTimes(*told)
    assert second.is_told_apart(first) is is_apart


@pytest.mark.parametrize(
    ("state", "used", "start", "order"),
    [
        ("", 600, 500, RunOrder.SAME),
        ("", 600, 800, RunOrder.LATER),  # a Charge tells an end, which may be of another zone
        ("", None, 800, RunOrder.SAME),
        ("Completed", 600, 800, RunOrder.SAME),
        ("Idle", 600, 800, RunOrder.LATER),  # an end that is expected only
    ],
)
def test_an_end_beside_no_state_of_one_reaches_no_further_than_what_was_used(
    state, used, start, order
):
    used = "" if used is None else f"<Delivered><Duration>{used}</Duration></Delivered>"
    state = state and f"<State>{state}</State>"
    times = "<StartTime>100</StartTime><EndTime>4300</EndTime>"
    known = RunTimes.of_job(loads(f"<Job><Id>7</Id>{times}{state}{used}</Job>"))
    assert RunTimes(None, start, 4900).order(known, 2) is order


def ended(state="Cancelled", end=900, more="", **times):
    """What a run tells that is over."""
    told = "".join(f"<{name}>{value}</{name}>" for name, value in times.items())
    text = f"<Job><Id>7</Id><State>{state}</State>{told}<EndTime>{end}</EndTime>{more}</Job>"
    return RunTimes.of_job(loads(text))


def used(seconds):
    return f"<Delivered><Duration>{seconds}</Duration></Delivered>"


@pytest.mark.parametrize(
    ("unbegun", "run", "order"),
    [
        (ended(), ended("Completed", 700, StartTime=100), RunOrder.LATER),
        (ended(end=50), ended("Completed", 700, StartTime=100), RunOrder.EARLIER),
        (ended(end=400), ended("Completed", 700, StartTime=100), RunOrder.LATER),
        (ended("Completed"), ended("Completed", 700, StartTime=100), RunOrder.LATER),
        (ended(more=used(0)), ended("Completed", 700, StartTime=100), RunOrder.LATER),
        # It may be requeued and cancelled in one second.
        (ended(end=700), ended("Completed", 700, StartTime=100), RunOrder.LATER),
        # Nothing else is known of the run than that it began: it may have ended so.
        (ended(), RunTimes(None, 100), RunOrder.SAME),
        (ended(), RunTimes(None, 100, None, 400), RunOrder.LATER),
        # What used something began, and nothing tells when.
        (ended(more="<CpuDuration>9</CpuDuration>"), RunTimes(None, 100, None, 400), RunOrder.SAME),
        (ended(more="<Charge>9</Charge>"), RunTimes(None, 100, None, 400), RunOrder.SAME),
    ],
)  # fmt: skip
def test_one_that_ended_without_having_begun_is_none_that_ran(unbegun, run, order):
    assert unbegun.order(run, TOLERANCE) is order
    opposite = {RunOrder.LATER: RunOrder.EARLIER, RunOrder.EARLIER: RunOrder.LATER}
    assert run.order(unbegun, TOLERANCE) is opposite.get(order, order)
    is_apart = order is not RunOrder.SAME
    assert unbegun.is_told_apart(run) is run.is_told_apart(unbegun) is is_apart
