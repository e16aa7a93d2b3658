"""A ledger's report has the numbers of the report over the same jobs, however they are booked."""

from collections import Counter
from datetime import UTC, datetime
from fractions import Fraction
from zoneinfo import ZoneInfo

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from usage_jobs import BY, ZONES, several, times, windows

import sssjob
from sssjob.accounting.report import Report
from sssjob.measures import EXTRA
from sssjob.spans import DATED, span_name

pytest.importorskip("duckdb")

from sssjob.errors import UnusableInput
from sssjob.ledger import columns, ledger
from sssjob.ledger.report import BOOKED, RUN, add_to


def made(home, found):
    """A ledger of jobs, and the jobs that it has: the last one of each run."""
    kept = ledger.create(home)
    rows = [columns.row(job) for job in found]
    kept.add(rows)
    with kept.connected() as connection:
        ids = {row[0] for row in connection.execute("SELECT id FROM usage").fetchall()}
    return kept, ids


@examples(12)
@given(several, st.sampled_from(BY), windows, st.sampled_from(ZONES))
def test_booked_at_the_end_it_is_the_report_over_the_jobs(
    tmp_path_factory, found, by, window, zone
):
    kept, ids = made(tmp_path_factory.mktemp("ledger"), found)
    assert ids == {job.id for job in found}
    wanted, told = (Report(by, *window, zone, extra=tuple(EXTRA)) for _ in range(2))
    for job in found:
        wanted.add(job)
    add_to(told, kept, BOOKED)
    assert (told.groups, told.outside) == (wanted.groups, wanted.outside)


@examples(12)
@given(several, st.sampled_from(BY), st.sampled_from(ZONES))
def test_divided_it_adds_up_to_the_same_total(tmp_path_factory, found, by, zone):
    kept, _ = made(tmp_path_factory.mktemp("ledger"), found)
    wanted, told = (Report(by, zone=zone, extra=tuple(EXTRA)) for _ in range(2))
    for job in found:
        wanted.add(job)
    add_to(told, kept, RUN)
    assert told.total == wanted.total


def second_by_second(begun, over, amount, span, zone, since, until):
    """What each span has of an amount, told by giving each second what has come due in it."""
    found = Counter()
    for second in range(begun, over):
        due = amount * (second + 1 - begun) // (over - begun)
        part = due - amount * (second - begun) // (over - begun)
        if (since is None or second >= since) and (until is None or second < until):
            found[span_name(span, second, zone)] += part
    return {name: part for name, part in found.items() if part}


@examples(12)
@given(
    times, st.integers(1, 8000), st.sampled_from([1, 7, 3600, 2**62]),
    st.sampled_from(["hour", "day", "week", "month", "year"]), st.sampled_from(ZONES), windows,
)  # fmt: skip
def test_each_span_has_what_came_due_in_its_seconds(
    tmp_path_factory, begun, length, amount, span, zone, window
):
    job = ended(1, begun, begun + length, amount)
    kept, _ = made(tmp_path_factory.mktemp("ledger"), [job])
    told = Report((span,), *window, zone)
    add_to(told, kept, RUN)
    found = {name: totals.wall for (name,), totals in told.groups.items() if totals.wall}
    wanted = second_by_second(begun, begun + length, amount, span, zone, *window)
    assert found == wanted


JOB = (
    "<Job><Id>{0}</Id><SubmitTime>{1}</SubmitTime><StartTime>{1}</StartTime>{2}"
    "<Duration>{3}</Duration></Job>"
)
NOON = int(datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp())


def ended(number, begun, over, wall):
    return sssjob.loads(JOB.format(number, begun, f"<EndTime>{over}</EndTime>", wall))


@pytest.mark.parametrize(
    "span, wall", [("year", DATED - NOON), ("month", 10**12), ("day", 10**18), ("year", 2**63 - 1)]
)
def test_a_run_that_would_end_at_no_date_is_counted_in_no_span(tmp_path, span, wall):
    job = sssjob.loads(JOB.format(1, NOON, "", wall))
    kept, _ = made(tmp_path / "ledger", [job, ended(2, NOON, NOON + 60, 7)])
    told = Report((span,))
    add_to(told, kept, RUN)
    found = {name: (totals.jobs, totals.wall) for (name,), totals in told.groups.items()}
    assert found == {"": (1, wall), span_name(span, NOON, UTC): (1, 7)}


@pytest.mark.parametrize("span, zone", [("year", UTC), ("day", ZoneInfo("Asia/Tokyo"))], ids=str)
def test_a_window_at_the_end_of_the_calendar_has_no_run(tmp_path, span, zone):
    last = int(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp())
    kept, _ = made(tmp_path / "ledger", [sssjob.loads(JOB.format(1, NOON, "", 60))])
    told = Report((span,), last, None, zone)
    add_to(told, kept, RUN)
    assert (told.groups, told.outside) == ({}, 1)
    whole = Report((span,), None, last, zone)
    add_to(whole, kept, RUN)
    assert {key: totals.jobs for key, totals in whole.groups.items()} == {
        (span_name(span, NOON, zone),): 1
    }


def days(tmp_path, *found, book=RUN, **window):
    kept, _ = made(tmp_path / "ledger", found)
    told = Report(("day",), **window)
    add_to(told, kept, book)
    return {key: (totals.jobs, totals.wall) for (key,), totals in told.groups.items()}, told.outside


def test_a_run_over_midnight_used_both_days_and_ended_on_one(tmp_path):
    found, _ = days(tmp_path, ended(1, NOON, NOON + 86_400, 86_400))
    assert found == {"2026-11-20": (0, 43_200), "2026-11-21": (1, 43_200)}


def test_a_suspension_is_spread_over_the_run(tmp_path):
    found, _ = days(tmp_path, ended(1, NOON, NOON + 86_400, 3601))
    assert found == {"2026-11-20": (0, 1800), "2026-11-21": (1, 1801)}


def test_a_run_that_ends_at_midnight_used_the_day_before(tmp_path):
    found, _ = days(tmp_path, ended(1, NOON, NOON + 43_200, 43_200))
    assert found == {"2026-11-20": (0, 43_200), "2026-11-21": (1, 0)}


def test_a_run_that_ends_before_it_starts_is_booked_at_its_end(tmp_path):
    found, _ = days(tmp_path, ended(1, NOON, NOON - 86_400, 60))
    assert found == {"2026-11-19": (1, 60)}


def test_a_run_that_goes_on_is_booked_as_far_as_its_record_says(tmp_path):
    found, _ = days(tmp_path, sssjob.loads(JOB.format(1, NOON, "", 86_400)))
    assert found == {"2026-11-20": (0, 43_200), "2026-11-21": (1, 43_200)}
    found, _ = days(tmp_path / "other", sssjob.loads(JOB.format(1, NOON, "", 60)), book=BOOKED)
    assert found == {"": (1, 60)}


def goes_on(wall, suspended):
    away = f"<SuspendDuration>{suspended}</SuspendDuration>"
    return sssjob.loads(JOB.format(1, NOON, away, wall))


@pytest.mark.parametrize("suspended", [1, 86_400, 2 * 86_400])
def test_a_run_that_goes_on_and_was_suspended_is_divided_as_if_it_had_ended_now(
    tmp_path, suspended
):
    over = NOON + 86_400 + suspended
    now = sssjob.loads(JOB.format(
        1, NOON, f"<EndTime>{over}</EndTime><SuspendDuration>{suspended}</SuspendDuration>", 86_400
    ))  # fmt: skip
    assert days(tmp_path / "on", goes_on(86_400, suspended)) == days(tmp_path / "ended", now)


@pytest.mark.parametrize("suspended", [DATED - NOON, 2**63 - 1, 10**30])
def test_a_suspension_that_would_end_at_no_date_is_in_no_span(tmp_path, suspended):
    found, _ = days(tmp_path, goes_on(60, suspended))
    assert found == {"": (1, 60)}


def test_what_was_requested_is_divided_as_what_was_used(tmp_path):
    """Who gets what was requested sees one number twice, also where wall time is an odd one."""
    job = sssjob.loads(
        f"<Job><Id>1</Id><StartTime>{NOON}</StartTime><EndTime>{NOON + 86_401}</EndTime>"
        "<Requested><Processors>5000</Processors></Requested>"
        "<Delivered><Duration>43201</Duration><Processors>5000</Processors></Delivered></Job>"
    )
    kept, _ = made(tmp_path / "ledger", [job])
    told = Report(("day",), extra=tuple(EXTRA))
    add_to(told, kept)
    assert {day: each.asked_slots for day, each in told.groups.items()} == {
        day: each.slots for day, each in told.groups.items()
    }


@pytest.mark.parametrize("wall", [2**20, 2**40, 2**62])
def test_products_of_requests_around_128_bits_add_up(tmp_path, wall):
    job = sssjob.loads(
        f"<Job><Id>1</Id><StartTime>{NOON}</StartTime><EndTime>{NOON + 86_400}</EndTime>"
        f"<Requested><Processors>{2**62}</Processors></Requested>"
        f"<Delivered><Duration>{wall}</Duration><Processors>1</Processors></Delivered></Job>"
    )
    kept, _ = made(tmp_path / "ledger", [job])
    told = Report(("day",), extra=tuple(EXTRA))
    add_to(told, kept)
    assert told.total.asked_slots == wall * 2**62


def test_a_window_has_the_part_of_a_run_that_is_in_it(tmp_path):
    window = {"since": NOON + 10, "until": NOON + 13}
    found, outside = days(
        tmp_path, ended(1, NOON, NOON + 100, 200), ended(2, NOON - 9, NOON, 9), **window
    )
    assert (found, outside) == ({"2026-11-20": (0, 6)}, 1)


@pytest.mark.parametrize("span, name", [("day", "3000-01-01"), ("hour", "3000-01-01 00:00")])
@pytest.mark.parametrize("book", [RUN, BOOKED])
def test_an_end_in_a_thousand_years_is_one_span_of_its_own(tmp_path, monkeypatch, span, name, book):
    monkeypatch.setattr("sssjob.spans.MOST", 1000)
    far = int(datetime(3000, 1, 1, tzinfo=UTC).timestamp())
    kept, _ = made(tmp_path / "ledger", [ended(1, NOON, far, 7), ended(2, NOON, NOON + 60, 9)])
    told = Report((span,))
    add_to(told, kept, book, by_rollup=False)
    assert {key: (each.jobs, each.wall) for key, each in told.groups.items()} == {
        (span_name(span, NOON, UTC),): (1, 9), (name,): (1, 7),
    }  # fmt: skip
    answered = add_to(by_rollup := Report((span,)), kept, book)
    assert by_rollup.groups == told.groups
    assert (answered.by_rollup > 0) == (span == "day")


def test_sums_beyond_64_bits_are_exact(tmp_path):
    found, _ = days(tmp_path, *(ended(number, NOON, NOON + 9, 2**62) for number in range(4)))
    assert found == {"2026-11-20": (4, 2**64)}


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_products_around_64_bits_are_divided_exactly(tmp_path, more):
    wall = (2**63 - 1) // 86_400 + more
    found, _ = days(tmp_path, ended(1, NOON, NOON + 86_400, wall))
    half = wall * 43_200 // 86_400
    assert found == {"2026-11-20": (0, half), "2026-11-21": (1, wall - half)}


def test_more_hours_than_can_be_told_apart_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("sssjob.spans.MOST", 1000)
    kept, _ = made(tmp_path / "ledger", [ended(1, 5, 40_000_000, 7)])
    with pytest.raises(UnusableInput, match="name --since and --until"):
        add_to(Report(("hour",)), kept)
    told = Report(("hour",), since=NOON, until=NOON + 7200)
    add_to(told, kept)
    assert len(told.groups) <= 2


def test_fractions_are_divided_exactly(tmp_path):
    """A tenth of a millionth of a kWh is 0.36 J."""
    job = sssjob.loads(
        f"<Job><Id>1</Id><StartTime>{NOON}</StartTime><EndTime>{NOON + 86_400 * 2}</EndTime>"
        '<Delivered><Resource name="Energy" units="kWh">0.0000001</Resource></Delivered></Job>'
    )
    kept, _ = made(tmp_path / "ledger", [job])
    told = Report(("day",))
    add_to(told, kept)
    parts = [told.groups[(f"2026-11-{day}",)].energy for day in (20, 21, 22)]
    assert parts == [Fraction(9, 100), Fraction(18, 100), Fraction(9, 100)]
