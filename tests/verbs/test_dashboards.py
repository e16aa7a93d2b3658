"""Usage over time: what a run used is divided at midnight, and nothing is lost or added."""

from fractions import Fraction

import pytest

from sssjob import store
from sssjob.errors import InvalidValue
from sssjob.spans import DATED
from sssjob.store.browsing import having
from sssjob.store.condition import TRUE
from sssjob.store.dashboards import MEASURES
from sssjob.verbs import dashboards
from sssjob.verbs.dashboards import usage

DAY = 86_400
FIRST = 20_000 * DAY  # 2024-10-04
# User, start, end, processors and CPU time; None is not stated.
RUNS = (
    ("amy", FIRST + 3600, FIRST + 7200, 2, 1800),
    ("amy", FIRST - 3600, FIRST + 3 * DAY + 7200, 4, 900_000),  # several midnights
    ("bob", FIRST + DAY - 1, FIRST + DAY, None, None),  # ends at midnight
    ("bob", FIRST, FIRST + 40 * DAY, 1, 86_400),  # over a month
    ("cyd", None, FIRST + 50, 1, 10),  # no start: booked at its end
    ("cyd", FIRST + 100, FIRST, 8, 10),  # ends before it starts
    ("dan", -3 * DAY - 5, -DAY + 5, 1, 7),  # before 1970
    ("eve", FIRST + DAY - 50, None, 1, 7),  # has not ended: counts as far as its record says
    ("fay", None, None, 1, 7),  # nobody knows when
)


def document(number, user, start, end, processors, cpu):
    wall = 100 if start is None or end is None or end <= start else end - start
    told = {"StartTime": start, "EndTime": end, "CpuDuration": cpu}
    own = "".join(f"<{k}>{v}</{k}>" for k, v in told.items() if v is not None)
    held = "" if processors is None else f"<Processors>{processors}</Processors>"
    return (
        f"<Job><Id>{number}</Id><User>{user}</User>{own}"
        f"<Delivered>{held}<Duration>{wall}</Duration></Delivered></Job>"
    )


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    path = tmp_path_factory.mktemp("usage") / "jobs.db"
    with store.open(path, create=True) as jobs:
        rows = (document(number, *run) for number, run in enumerate(RUNS))
        jobs.load(f"<Data>{''.join(rows)}</Data>".encode())
        yield jobs


def by_hand(low, high, user=None):
    """Processor seconds in a span, run by run."""
    total = Fraction(0)
    for who, start, end, processors, _ in RUNS:
        if user not in (None, who) or (start, end) == (None, None):
            continue
        end = start + 100 if end is None else end
        if start is None or start >= end:
            total += 100 * (processors or 1) if low <= end < high else 0
        else:
            total += max(min(end, high) - max(start, low), 0) * (processors or 1)
    return float(total)


@pytest.mark.parametrize("span", ["day", "week", "month", "year"])
@pytest.mark.parametrize("user", [None, "amy", "bob"])
def test_each_span_has_its_part_of_each_run(kept, span, user):
    where = TRUE if user is None else having("user", user)
    told = usage(kept.engine, "user", "processor_seconds", span, where)
    for each, amounts, total in zip(told.spans, told.amounts, told.totals, strict=True):
        assert (total or 0) == pytest.approx(by_hand(each.begin, each.end, user)), each
        for value, amount in zip(told.values, amounts, strict=False):
            assert (amount or 0) == pytest.approx(by_hand(each.begin, each.end, value)), each
    if not told.earlier:
        whole = sum(filter(None, told.totals))
        assert whole == pytest.approx(by_hand(-(10**9), 10**11, user))


def test_spans_behind_each_other_have_no_gap(kept):
    told = usage(kept.engine, "user", "jobs", "day", TRUE)
    assert all(one.end == two.begin for one, two in zip(told.spans, told.spans[1:], strict=False))
    assert len(told.spans) <= dashboards.PIECES + 1
    assert told.earlier  # the run before 1970


def test_a_job_is_counted_where_it_ended_and_one_without_times_is_told(kept):
    told = usage(kept.engine, "user", "jobs", "year", TRUE)
    counted = {each.name: total for each, total in zip(told.spans, told.totals, strict=True)}
    assert counted["1969"] == 1
    assert counted["2024"] == 7
    assert told.undated == 1


def test_a_window_has_no_more_than_what_was_used_in_it(kept):
    window = (FIRST + DAY, FIRST + 3 * DAY)
    told = usage(kept.engine, "user", "processor_seconds", "week", TRUE, window)
    assert sum(filter(None, told.totals)) == pytest.approx(by_hand(*window))


def test_efficiency_is_that_of_jobs_that_state_both_sides(kept):
    told = usage(kept.engine, "user", "efficiency", "year", having("user", "amy"))
    held = 3600 * 2 + (3 * DAY + 10_800) * 4
    assert told.totals == (pytest.approx((1800 + 900_000) / held),)


def test_values_beyond_the_first_are_added_up(tmp_path):
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        rows = (
            document(n, f"u{n}", FIRST, FIRST + 60 * (n + 1), 1, 1)
            for n in range(dashboards.SHOWN + 3)
        )
        jobs.load(f"<Data>{''.join(rows)}</Data>".encode())
        told = usage(jobs.engine, "user", "wall_seconds", "", TRUE)
    assert told.values == tuple(f"u{n}" for n in range(7, 2, -1))
    assert told.amounts == ((480.0, 420.0, 360.0, 300.0, 240.0, 60.0 + 120 + 180),)


def test_a_run_over_all_years_is_told_in_its_last_spans(tmp_path):
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        jobs.load(document(1, "amy", 1 - DATED, DATED - 1, 1, 1).encode())
        jobs.load(document(2, "amy", None, DATED, 1, 1).encode())  # has no date
        for span in ("", "day", "year"):
            told = usage(jobs.engine, "user", "processor_seconds", span, TRUE)
            assert told.spans[-1].name.startswith("3554")
            assert told.undated == 1
            assert len(told.spans) <= dashboards.PIECES + 1


@pytest.mark.parametrize(
    "by, measure, span, said",
    [
        ("usr", "jobs", "", "did you mean user?"),
        ("user", "job", "", "did you mean jobs?"),
        ("user", "jobs", "decade", "one of day"),
        ("name", MEASURES[0], "", "dimension"),
    ],
)
def test_a_name_that_is_none_is_told(kept, by, measure, span, said):
    with pytest.raises(InvalidValue, match=".*".join(said.split("?"))):
        usage(kept.engine, by, measure, span, TRUE)
