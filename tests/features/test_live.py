from fractions import Fraction

import pytest

from sssjob.amounts import ASSUMED, Amount
from sssjob.features.derive import derive as derive_job
from sssjob.features.live import LocalJob, derive, local_id
from sssjob.model import Job, Property, Requested


def amounts(**values):
    return {name: Amount(Fraction(value), "cgroup") for name, value in values.items()}


def live(job, host, **options):
    return derive(job, host, settings=options.get("settings", {}), machine={})


def test_what_the_machine_enforces_and_what_the_batch_system_told():
    host = amounts(allocated_cpu=2, max_rss_bytes=10**9)
    found = live(LocalJob("7", 1_700_000_000, 60), host, settings=amounts(grace_secs_job=9))
    assert found.values == {
        "job_id": "7", "jobstart_secs": 1_700_000_000, "wall_limit_secs": 60, "cpu_limit_secs": 120,
        "allocated_cpu": 2, "max_rss_bytes": 10**9, "grace_secs_job": 9,
    }  # fmt: skip
    assert found.findings == ()


def test_a_part_of_a_processor_counts_as_one():
    assert live(LocalJob("7"), amounts(allocated_cpu=Fraction(3, 2))).values["allocated_cpu"] == 2


def test_a_process_that_nothing_restricts_may_use_every_processor():
    host = {"allocated_cpu": Amount(Fraction(64), "affinity", ASSUMED)}
    found = live(LocalJob(), host)
    assert found.derived["allocated_cpu"].value == 64
    assert found.derived["allocated_cpu"].basis == "maximum"
    assert found.findings == ()


@pytest.mark.parametrize(
    "environment, expected",
    [
        ({"SLURM_JOB_ID": "12"}, "12"),
        ({"PBS_JOBID": "12.srv"}, "12.srv"),
        ({"JOB_ID": "12", "SGE_TASK_ID": "undefined"}, "12"),
        ({"JOB_ID": "12", "SGE_TASK_ID": "3"}, "12.3"),
        ({}, ""),
    ],
)
def test_batch_systems_tell_the_id(environment, expected):
    assert local_id(environment) == expected


def requested(*items):
    return Job((Property("Id", "1"), Requested(tuple(items))))


@pytest.mark.parametrize(
    "attributes, processors, disagrees",
    [
        pytest.param({"op": "GE"}, 12, False, id="at least 8: the machine decides"),
        pytest.param({}, 8, True, id="8: the document"),
        pytest.param({"op": "LE"}, 8, True, id="at most 8: the document"),
    ],
)
def test_what_a_request_leaves_open_the_machine_decides(attributes, processors, disagrees):
    job = requested(Property("Processors", 8, attributes))
    found = derive_job(job, host=amounts(allocated_cpu=12))
    assert found.values["allocated_cpu"] == processors
    assert ("W-DISAGREE" in {finding.code for finding in found.findings}) is disagrees


def test_the_machine_answers_where_a_request_cannot_be_read():
    job = requested(Property("Processors", 8, {"group": "2"}))
    assert "allocated_cpu" not in derive_job(job).values
    assert derive_job(job, host=amounts(allocated_cpu=12)).values["allocated_cpu"] == 12


def test_the_machine_answers_where_a_job_says_nothing():
    assert derive_job(requested(), host=amounts(allocated_cpu=12)).values["allocated_cpu"] == 12
