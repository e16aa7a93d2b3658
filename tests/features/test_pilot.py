from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.errors import InvalidValue
from sssjob.features.here import here
from sssjob.features.pilot import Pilot, Running, state
from sssjob.features.status import read
from sssjob.features.waste import outlook
from sssjob.features.write import write

START = 1_700_000_000


class Clock:
    def __init__(self):
        self.now = START

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_a_pilot_tells_what_it_runs(tmp_path, clock):
    with Pilot(tmp_path, allocated=8, clock=clock, priority=5) as pilot:
        assert read(tmp_path).values == {
            "used_CPU": 0, "add_uncom_time": 0, "can_postpone_last_job": "True",
            "priority_factor": 5,
        }  # fmt: skip
        pilot.started("a", 4, seconds=1000, limit=2000)
        clock.now += 100
        pilot.started("b", 2, seconds=500, limit=600)
        values = read(tmp_path).values
        assert values["used_CPU"] == 6
        assert values["last_job_start"] == START + 100
        assert (values["first_exp_job_end"], values["last_exp_job_end"]) == (
            START + 600,
            START + 1000,
        )
        assert values["last_max_job_end"] == START + 2000
        assert values["add_uncom_time"] == 400
        assert values["add_final_exp_waste"] == 8 * 400 - 4 * 400
        pilot.ended("a")
        assert read(tmp_path).values["used_CPU"] == 2
    values = read(tmp_path).values
    assert values["used_CPU"] == 0
    assert values["can_postpone_last_job"] == "False"
    assert "last_exp_job_end" not in values


def test_a_pilot_that_fails_leaves_no_job_behind(tmp_path, clock):
    def fails():
        with Pilot(tmp_path, allocated=8, clock=clock) as pilot:
            pilot.started("a", 4)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert read(tmp_path).values["used_CPU"] == 0


def test_an_end_that_nobody_knows_leaves_out_what_follows_from_it(tmp_path, clock):
    with Pilot(tmp_path, allocated=8, clock=clock) as pilot:
        pilot.started("a", 4, seconds=10)
        pilot.started("b", 4)
        values = read(tmp_path).values
        assert "first_exp_job_end" not in values
        assert "add_final_exp_waste" not in values
        pilot.ended("b")
        assert read(tmp_path).values["last_exp_job_end"] == START + 10


def test_a_pilot_that_returns_changes_nothing_else_for_a_while(tmp_path, clock):
    with Pilot(tmp_path, allocated=8, clock=clock, settling=600) as pilot:
        pilot.retires()
        assert read(tmp_path).values["can_postpone_last_job"] == "False"
        pilot.returns()
        pilot.started("a", 4)
        values = read(tmp_path).values
        assert (values["can_postpone_last_job"], values["used_CPU"]) == ("True", 0)
        clock.now += 600
        pilot.started("b", 1)
        assert read(tmp_path).values["used_CPU"] == 5


def test_the_environment_says_where_and_how_many(tmp_path, clock, monkeypatch):
    write({"allocated_CPU": 3}, tmp_path / "job")
    (tmp_path / "status").mkdir()
    monkeypatch.setenv("JOBFEATURES", str(tmp_path / "job"))
    monkeypatch.setenv("JOBSTATUS", str(tmp_path / "status"))
    with Pilot(clock=clock) as pilot:
        assert pilot.allocated == 3
    assert read(tmp_path / "status").values["used_CPU"] == 0
    monkeypatch.delenv("JOBFEATURES")
    with Pilot(clock=clock) as pilot:  # where no site says it, what the kernel lets it use
        assert pilot.allocated == here().job["allocated_cpu"]
    monkeypatch.setattr("sssjob.features.pilot.here", lambda: SimpleNamespace(job={}))
    with pytest.raises(InvalidValue, match="cores"):
        Pilot(clock=clock)
    monkeypatch.delenv("JOBSTATUS")
    with pytest.raises(InvalidValue, match="JOBSTATUS"):
        Pilot(allocated=1)


def test_a_name_is_not_used_twice(tmp_path, clock):
    with Pilot(tmp_path, allocated=8, clock=clock) as pilot:
        pilot.started("a", 1)
        with pytest.raises(InvalidValue):
            pilot.started("a", 1)


RUNNING = st.lists(
    st.builds(
        Running, st.uuids().map(str), st.integers(1, 4), st.integers(0, 1000),
        st.integers(2000, 3000),
    ),
    min_size=1, max_size=6,
)  # fmt: skip


@given(RUNNING, st.integers(1000, 1999))
def test_kill_waste_is_what_all_jobs_have_used_and_draining_waste_what_stands_idle(jobs, now):
    allocated = sum(job.cores for job in jobs) + 2
    found = outlook(state(jobs, allocated), allocated, now)
    assert found.kill_waste.value == sum(job.cores * (now - job.start) for job in jobs)
    end = max(job.expected_end for job in jobs)
    busy = sum(job.cores * (job.expected_end - now) for job in jobs)
    assert found.draining_waste.value == allocated * (end - now) - busy
