"""Time is cut where a span of a report begins in which something is."""

from datetime import UTC

import pytest

from sssjob.spans import pieces

DAY = 86_400


@pytest.mark.parametrize(
    "times, days",
    [
        ([(0, 0)], ["01"]),
        ([(0, DAY - 1)], ["01"]),
        ([(0, DAY)], ["01", "02"]),
        ([(DAY - 1, DAY)], ["01", "02"]),
        ([(5, DAY - 1), (4 * DAY, 5 * DAY - 1)], ["01", "05"]),
        ([(5, DAY), (5 * DAY - 1, 5 * DAY - 1)], ["01", "02", "05"]),
    ],
)
def test_each_day_in_which_something_is_has_a_piece_from_its_first_to_its_last_second(times, days):
    found = pieces(("day",), UTC, None, None, times)
    assert [name for (name,) in found.names] == [f"1970-01-{day}" for day in days]
    assert all(found.inside)


@pytest.mark.parametrize(
    "since, until, bounds, names",
    [
        (None, None, [15, 20], "123"),
        (None, 100, [15, 20, 100], "1233"),
        (None, 21, [15, 20, 21], "1233"),
        (None, 20, [15, 20], "123"),
        (None, 15, [15], "12"),
        (10, None, [10, 15, 20], "1123"),
        (15, None, [15, 20], "223"),
        (20, None, [20], "33"),
        (12, 18, [12, 15, 18], "1122"),
        (0, 5, [0, 5], "111"),
        (30, 40, [30, 40], "333"),
    ],
)
def test_a_period_is_cut_behind_the_first_second_that_is_and_up_to_the_last(
    since, until, bounds, names
):
    found = pieces(("period",), UTC, since, until, [(10, 20)], (10, 15, 20, 21, 22))
    assert found.bounds[1:-1] == bounds
    assert [*zip(names, strict=True)] == found.names


def test_times_are_not_cut_at_periods_that_the_report_is_not_by():
    found = pieces(("day",), UTC, None, None, [(10, 20)], (10, 15, 20, 21))
    assert found.bounds[1:-1] == []


@pytest.mark.parametrize(
    "since, until, names, inside",
    [
        (0, DAY, ["01", "02"], [False, True, False]),
        (10, 20, ["01"], [False, True, False]),
        (None, DAY, ["01", "02"], [True, False]),
        (DAY, None, ["02"], [False, True]),
    ],
)
def test_time_is_cut_at_the_window_of_a_report_too(since, until, names, inside):
    found = pieces(("day",), UTC, since, until, [(0, 2 * DAY - 1)])
    assert [*dict.fromkeys(name for (name,) in found.names)] == [f"1970-01-{day}" for day in names]
    assert [*found.inside] == inside
