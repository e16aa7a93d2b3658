"""Ads of slots as features and as offers."""

# ruff: noqa: E501 (a row of a table is a line)

from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest

from sssjob.amounts import Amount
from sssjob.classads import forms
from sssjob.classads.values import Ad
from sssjob.feature_rules import GRANTED, REQUESTED, STATED, winner
from sssjob.features.derive import derive
from sssjob.model import Job, Property, Requested
from sssjob.systems.condor import slot
from sssjob.systems.condor.offers import offer

DATA = Path(__file__).parents[2] / "data" / "condor"
GIB = 1 << 30

# fmt: off
MACHINE = [
    ({"TotalCpus": 8, "DetectedCpus": 16, "Cpus": 1}, {"total_cpu": 8, "log_cores": 16}),
    ({"DetectedCpus": 16}, {"total_cpu": 16, "log_cores": 16}),
    ({"TotalSlots": 4}, {"jobslots": 4}),
    ({"PartitionableSlot": True, "TotalSlotCpus": 8, "TotalSlots": 3}, {"jobslots": 8}),
    ({"MachineMaxVacateTime": 600}, {"grace_secs": 600}),
    ({"Draining": True, "ExpectedMachineGracefulDrainingCompletion": 2000}, {"shutdowntime": 2000}),
    ({"Draining": True, "ExpectedMachineGracefulDrainingCompletion": 500}, {}),
    ({"ExpectedMachineGracefulDrainingCompletion": 2000}, {}),
    ({"MJF_HS06": 88.5}, {"hs06": "88.5"}),
    ({"TotalCpus": 4, "MachineFeatures_total_cpu": 2, "MachineFeatures_phys_cores": 2}, {"total_cpu": 4, "phys_cores": 2}),
    ({"MachineFeatures_hs06": 42.5, "MachineFeatures_shutdowntime": 2000}, {"hs06": "42.5", "shutdowntime": 2000}),
    ({}, {}),
]
JOB = [
    ({}, {"Cpus": 4}, {"allocated_cpu": 4}),
    ({"CpusProvisioned": 2, "RequestCpus": 1}, {"Cpus": 4}, {"allocated_cpu": 2}),
    ({"RequestCpus": 3}, {}, {"allocated_cpu": 3}),
    ({}, {"Memory": 1024, "Disk": 1024}, {"max_rss_bytes": GIB, "scratch_limit_bytes": 1 << 20}),
    ({"MemoryProvisioned": 512}, {"Memory": 1024}, {"max_rss_bytes": GIB // 2}),
    ({"SSSFeature_max_rss_bytes": 1000}, {"Memory": 1024}, {"max_rss_bytes": 1000}),
    ({"SSSFeature_max_rss_bytes": 2 * GIB}, {"Memory": 1024}, {"max_rss_bytes": GIB}),
    ({"AllowedJobDuration": 3600}, {"MaxJobRetirementTime": 600}, {"wall_limit_secs": 600}),
    ({"AllowedJobDuration": 3600}, {"MaxJobRetirementTime": 0}, {"wall_limit_secs": 3600}),
    ({"AllowedJobDuration": 60.1}, {}, {"wall_limit_secs": 61}),
    ({"AllowedJobDuration": 60}, {"Cpus": 4}, {"allocated_cpu": 4, "wall_limit_secs": 60, "cpu_limit_secs": 240}),
    ({"AllowedJobDuration": 60, "SSSFeature_cpu_limit_secs": 90}, {"Cpus": 4}, {"allocated_cpu": 4, "wall_limit_secs": 60, "cpu_limit_secs": 90}),
    ({"SSSFeature_cpu_limit_secs": 90}, {}, {"cpu_limit_secs": 90}),
    ({"JobCurrentStartDate": 900, "JobStartDate": 800}, {}, {"jobstart_secs": 900}),
    ({}, {"JobStart": 700}, {"jobstart_secs": 700}),
    ({}, {"Activity": "Retiring", "MyCurrentTime": 990, "RetirementTimeRemaining": 60}, {"shutdowntime_job": 1050}),
    ({}, {"ClaimEndTime": 5000}, {"shutdowntime_job": 5000}),
    ({"SSSDeadline": 4000}, {"ClaimEndTime": 5000}, {"shutdowntime_job": 4000}),
    ({"SSSDeadline": 6000}, {"ClaimEndTime": 5000}, {"shutdowntime_job": 5000}),
    ({"SSSDeadline": 4000}, {}, {"shutdowntime_job": 4000}),
    ({"SSSDeadline": 900}, {"ClaimEndTime": 5000}, {"shutdowntime_job": 5000}),
    ({"SSSDeadline": 1020}, {"Activity": "Retiring", "MyCurrentTime": 990, "RetirementTimeRemaining": 60}, {"shutdowntime_job": 1020}),
    ({}, {"ClaimEndTime": 0}, {}),
    ({"SSSFeature_wall_limit_secs": -1}, {"MaxJobRetirementTime": 600}, {"wall_limit_secs": 600}),
    ({"SSSFeature_max_swap_bytes": 0}, {}, {"max_swap_bytes": 0}),
    ({"SSSFeature_max_swap_bytes": -1}, {}, {}),
    ({"SSSFeature_grace_secs_job": 0}, {}, {"grace_secs_job": 0}),
    ({"SSSFeature_max_rss_bytes": 0}, {"Memory": 1024}, {"max_rss_bytes": GIB}),
    ({"GlobalJobId": "s#1.0#9"}, {}, {"job_id": "s#1.0#9"}),
    ({"ClusterId": 7, "ProcId": 0}, {}, {"job_id": "7.0"}),
    ({"SSSJobId": "a b"}, {}, {"job_id": "a%20b"}),
]
# fmt: on


@pytest.mark.parametrize("ad, values", MACHINE)
def test_the_ad_of_a_slot_tells_about_the_machine(ad, values):
    assert slot.machine_features(Ad(ad), 1000) == values


@pytest.mark.parametrize("job, machine, values", JOB)
def test_the_ads_of_job_and_slot_tell_about_the_job(job, machine, values):
    found = slot.job_features(Ad(job), Ad(machine), 1000)
    if "jobstart_secs" not in values:
        assert found.pop("jobstart_secs") == 1000
    assert found == values


SAYING = {GRANTED: 2, STATED: 3, REQUESTED: 4}


@pytest.mark.parametrize("saying", [
    pytest.param(each, id=" and ".join(each))
    for size in (1, 2, 3) for each in combinations(SAYING, size)
])  # fmt: skip
def test_a_document_and_the_ads_of_a_slot_have_one_precedence(saying):
    ad = {
        GRANTED: {"CpusProvisioned": 2}, STATED: {"SSSFeature_allocated_cpu": 3},
        REQUESTED: {"RequestCpus": 4},
    }  # fmt: skip
    items = {
        STATED: Property("Extension", "3", {"type": "JobFeatures", "name": "allocated_cpu"}),
        REQUESTED: Requested((Property("Processors", "4"),)),
    }
    job = Job((Property("Id", "1"), *(items[who] for who in saying if who in items)))
    granted = {"allocated_cpu": Amount(Fraction(2), "the batch system")}
    told = {name: value for who in saying for name, value in ad[who].items()}

    of_ads = slot.job_features(Ad(told), Ad({}))
    of_document = derive(job, granted=granted if GRANTED in saying else {}).values
    assert of_ads["allocated_cpu"] == of_document["allocated_cpu"] == SAYING[winner(saying)]


def read(name):
    with open(DATA / name, "rb") as stream:
        return list(forms.read(stream))


def test_a_real_job_in_a_real_slot_has_the_features_of_that_slot():
    [job], [machine] = read("job.ad"), read("machine.ad")
    assert slot.machine_features(machine) == {
        "total_cpu": 8,
        "log_cores": 2,
        "jobslots": 8,
        "grace_secs": 600,
    }
    assert slot.job_features(job, machine) == {
        "allocated_cpu": 1,
        "jobstart_secs": 1795184872,
        "max_rss_bytes": 128 << 20,
        "scratch_limit_bytes": 2 << 20,
        "job_id": "localhost#1.0#1795184872",
    }


def test_a_slot_offers_what_it_has_and_says_what_the_machine_has():
    found = offer(read("condor_status.long")[0])
    assert found.amounts["Processors"] == 5
    assert found.amounts["Processors|Configured|"] == 8
    assert found.names["OperatingSystem"] == ("Linux",)


def test_custom_resources_are_offered_by_their_names():
    ad = Ad({
        "Name": "slot1@n1", "GPUs": 2, "TotalGPUs": 4, "AssignedGPUs": "CUDA0, CUDA1",
        "TotalSlots": 1, "HasIb": True, "HasVM": False,
    })  # fmt: skip
    found = offer(ad)
    assert found.amounts["Resource[name='GPU']"] == 2
    assert found.names["Feature"] == ("Ib",)
