import pytest

from sssjob.features.left import left

START = 1_700_000_000
HOUR = {"jobstart_secs": START, "wall_limit_secs": 3600}

CASES = [
    pytest.param(HOUR, {}, 600, (3000, None, None, 3000), id="elapsed time"),
    pytest.param({"wall_limit_secs": 3600}, {}, 600, (None, None, None, None), id="no start"),
    pytest.param(HOUR, {}, 4000, (-400, None, None, -400), id="over the limit"),
    pytest.param(HOUR, {}, -100, (3600, None, None, 3600), id="the clock went back"),
    pytest.param(
        {**HOUR, "shutdowntime_job": START + 1000}, {}, 600, (3000, None, 400, 400), id="job ends",
    ),
    pytest.param(
        {**HOUR, "shutdowntime_job": START + 2000}, {"shutdowntime": START + 1000}, 600,
        (3000, None, 400, 400), id="the machine ends earlier",
    ),
    pytest.param({}, {"shutdowntime": START + 10}, 0, (None, None, 10, 10), id="only a shutdown"),
    pytest.param({}, {"shutdowntime": START}, 1, (None, None, None, None), id="a leftover"),
    pytest.param(
        {"shutdowntime_job": START}, {}, 1, (None, None, -1, -1), id="in a directory of its own",
    ),
    pytest.param(
        {"jobstart_secs": START - 9}, {"shutdowntime": START}, 1, (None, None, -1, -1),
        id="a shutdown that came while the job ran",
    ),
    pytest.param(
        HOUR, {"shutdowntime": START - 1}, 600, (3000, None, None, 3000),
        id="a shutdown of the machine before the job started",
    ),
    pytest.param({"cpu_limit_secs": 100}, {}, 0, (None, 70, None, None), id="CPU time"),
    pytest.param({"wall_limit_secs": "soon", **HOUR}, {}, 0, (3600, None, None, 3600), id="known"),
    pytest.param({}, {}, 0, (None, None, None, None), id="no limit"),
]  # fmt: skip


@pytest.mark.parametrize("job, machine, after, expected", CASES)
def test_the_least_of_what_is_known_is_left(job, machine, after, expected):
    found = left(job, machine, START + after, cpu_used=30.9)
    assert (found.wall, found.cpu, found.shutdown, found.time) == expected


def test_without_the_time_used_no_cpu_time_is_told():
    found = left({"cpu_limit_secs": 100}, {}, START, cpu_used=None)
    assert found.cpu is None
    assert found.notes == ("the CPU time that was used is not known",)


def test_a_clock_that_jumped_is_told():
    assert "100 s ahead" in left(HOUR, {}, START - 100, 0).notes[0]
