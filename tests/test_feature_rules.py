"""What follows from other values is the same for a document and for a slot of HTCondor."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.classads.values import Ad
from sssjob.feature_rules import MAY_BE_0, is_told
from sssjob.features.derive import derive
from sssjob.features.keys import JOB_FEATURES, spell
from sssjob.model import Delivered, Job, Property, Requested
from sssjob.systems.condor.slot import job_features

KEYS = ("job_id", "allocated_cpu", "wall_limit_secs", "cpu_limit_secs", "max_rss_bytes")


def of_document(id, processors, seconds, mebibytes):
    requested = (
        Property("Duration", str(seconds), {"op": "LE"}),
        Property("Memory", str(mebibytes), {"units": "MB", "op": "LE"}),
    )
    delivered = (Property("Processors", str(processors)),)
    job = Job((Property("Id", id), Requested(requested), Delivered(delivered)))
    values = derive(job, now=1000, starting=True).values
    return {key: values.get(key) for key in KEYS}


def of_slot(id, processors, seconds, mebibytes):
    job = Ad({"SSSJobId": id, "AllowedJobDuration": seconds})
    values = job_features(job, Ad({"Cpus": processors, "Memory": mebibytes}), 1000)
    return {key: values.get(key) for key in KEYS}


@given(st.integers(1, 10**7), st.integers(1, 512), st.integers(1, 512))
def test_a_document_and_a_slot_of_a_rated_machine_have_the_same_share(hundredths, total, given):
    rating, cpus = Fraction(hundredths, 100), min(given, total)
    machine = {"hs06": rating, "total_cpu": total}
    job = Job((Property("Id", "7"), Delivered((Property("Processors", str(cpus)),))))
    values = derive(job, now=1000, machine=machine).values
    slot = Ad({"Cpus": cpus, "TotalCpus": total, "MJF_HS06": float(rating)})
    found = job_features(Ad({"SSSJobId": "7"}), slot, 1000)
    assert found.get("hs06_job", "0") == spell(values.get("hs06_job", 0))


@pytest.mark.parametrize("id", ["7", "Heavy Wässer", "100%", "a\tb"])
@given(st.integers(1, 512), st.integers(1, 10**7), st.integers(1, 10**6))
def test_a_document_and_a_slot_that_say_the_same_give_the_same_features(id, cpus, seconds, size):
    assert of_slot(id, cpus, seconds, size) == of_document(id, cpus, seconds, size)


def test_0_is_a_value_of_the_keys_whose_row_says_so():
    assert {key.name for key in JOB_FEATURES if key.least == 0} == MAY_BE_0
    for key in JOB_FEATURES:
        assert is_told(key.name, 0) == (key.name in MAY_BE_0)
        assert is_told(key.name, 1)
        assert not is_told(key.name, -1)
