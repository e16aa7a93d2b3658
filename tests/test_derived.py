"""What follows from other values is the same for a document and for a slot of HTCondor."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.classads.values import Ad
from sssjob.features.derive import derive
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


@pytest.mark.parametrize("id", ["7", "Heavy Wässer", "100%", "a\tb"])
@given(st.integers(1, 512), st.integers(1, 10**7), st.integers(1, 10**6))
def test_a_document_and_a_slot_that_say_the_same_give_the_same_features(id, cpus, seconds, size):
    assert of_slot(id, cpus, seconds, size) == of_document(id, cpus, seconds, size)
