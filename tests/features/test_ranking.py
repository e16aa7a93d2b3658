import os

import pytest

from sssjob.features.ranking import look, ranked
from sssjob.features.status import LOCK, write
from sssjob.features.write import write as write_features

NOW = 1_700_000_000


def pilot(place, name, allocated=8, **values):
    (place / name / "jobstatus").mkdir(parents=True)
    write_features({"job_id": name, "allocated_cpu": allocated}, place / name / "jobfeatures")
    known = {
        "used_CPU": 4, "last_job_start": NOW - 100, "first_exp_job_end": NOW + 100,
        "last_exp_job_end": NOW + 500, "add_uncom_time": 0, "add_final_exp_waste": 0, **values,
    }  # fmt: skip
    write(known, place / name / "jobstatus")
    return str(place / name)


def order(places, purpose):
    return [each.job_id for each in ranked([look(place, now=NOW) for place in places], purpose)]


@pytest.mark.parametrize(
    "purpose, values, expected",
    [
        pytest.param(
            "drain", [{"used_CPU": 1}, {"used_CPU": 8}, {"used_CPU": 4}], ["b", "c", "a"],
            id="least draining waste",
        ),
        pytest.param(
            "kill", [{"add_uncom_time": 9}, {"add_uncom_time": 5}, {"add_uncom_time": 7}],
            ["b", "c", "a"], id="least kill waste",
        ),
        pytest.param(
            "wait",
            [{"last_exp_job_end": NOW + 9}, {"last_exp_job_end": NOW + 5}, {}],
            ["b", "a", "c"], id="least remaining time",
        ),
        pytest.param(
            "kill", [{"priority_factor": 3}, {"priority_factor": -1}, {"priority_factor": 2}],
            ["b", "c", "a"], id="the least critical for its user",
        ),
        pytest.param(
            "drain", [{"used_CPU": 6}, {"can_postpone_last_job": "False", "used_CPU": 1}, {}],
            ["b", "a", "c"], id="a pilot that drains already loses nothing by it",
        ),
        pytest.param(
            "wait",
            [{"last_exp_job_end": NOW + 5}, {"can_postpone_last_job": "False"},
             {"can_postpone_last_job": "True"}],
            ["b", "a", "c"], id="only the end of a pilot that fetches no more work is certain",
        ),
        pytest.param(
            "kill", [{}, {"can_postpone_last_job": "False"}, {"last_job_start": NOW - 99}],
            ["c", "b", "a"], id="between equals the one that drains already",
        ),
        pytest.param(
            "kill", [{"last_job_start": None}, {}, {"add_uncom_time": 7}], ["b", "c", "a"],
            id="too little is known",
        ),
    ],
)  # fmt: skip
def test_what_costs_least_to_end_comes_first(tmp_path, purpose, values, expected):
    places = [pilot(tmp_path, name, **each) for name, each in zip("abc", values, strict=True)]
    assert order(places, purpose) == expected


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_priorities_of_different_users_are_not_compared(tmp_path):
    places = [
        pilot(tmp_path, name, priority_factor=priority)
        for name, priority in (("a", 9), ("b", 1), ("c", 5))
    ]
    os.chown(tmp_path / "b" / "jobstatus", 12345, -1)
    assert order(places, "kill") == ["c", "a", "b"]


def test_a_status_alone_needs_to_be_told_the_cores(tmp_path):
    write({"used_CPU": 2, "first_exp_job_end": NOW + 10, "add_final_exp_waste": 1}, tmp_path)
    assert look(str(tmp_path), now=NOW).outlook.draining_waste is None
    assert look(str(tmp_path), now=NOW, allocated=4).outlook.draining_waste.value == 21


@pytest.mark.parametrize(
    "prepare, problem",
    [
        pytest.param(lambda place: None, "No such file", id="no directory"),
        pytest.param(lambda place: place.mkdir(), "no status yet", id="nothing written"),
        pytest.param(
            lambda place: (place.mkdir(), os.mkfifo(place / LOCK)), "regular file", id="a pipe"
        ),
    ],
)
def test_a_pilot_of_which_nothing_is_known_says_why_and_comes_last(tmp_path, prepare, problem):
    prepare(tmp_path / "odd")
    places = [str(tmp_path / "odd"), pilot(tmp_path, "a")]
    first, last = ranked([look(place, now=NOW) for place in places], "drain")
    assert first.job_id == "a"
    assert problem in last.problem
