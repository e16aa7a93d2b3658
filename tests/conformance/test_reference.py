"""What the standard says of a name."""

import pytest

from sssjob import check, spec
from sssjob.conformance import reference
from sssjob.errors import CODES


def test_every_name_of_the_tables_has_a_topic_that_says_something():
    assert spec.names() | {code.name for code in CODES} <= reference.names()
    for name in reference.names():
        found = reference.topics(name)
        assert found, name
        assert all(topic.facts or topic.about for topic in found), name


def test_an_element_is_told_once_for_each_row_that_it_has_in_the_tables():
    places = [dict(topic.facts)["stands in"] for topic in reference.topics("Id")]
    assert places == [
        "JobGroup", "JobDefaults, Job", "TaskGroupDefaults, TaskGroup", "TaskDefaults, Task",
    ]  # fmt: skip


def test_an_older_name_is_told_as_the_element_that_it_is_read_as():
    [topic] = reference.topics("JobId")
    assert (topic.name, dict(topic.facts)["older names"]) == ("Id", "JobId, jobId")


def test_an_attribute_of_two_elements_is_told_twice():
    assert [dict(topic.facts)["on"] for topic in reference.topics("units")] == [
        "Disk, Memory, Network, Processors, Swap, Resource", "Charge",
    ]  # fmt: skip


@pytest.mark.parametrize("name", sorted(spec.names()))
def test_the_example_of_an_element_is_valid(name):
    for topic in reference.topics(name):
        if topic.kind != "name of a ResourceLimit" and topic.example:
            assert f"<{name}" in topic.example
            assert check.is_valid(topic.example)


def test_the_example_of_a_finding_has_that_finding_alone():
    [topic] = reference.topics("E-CARD")
    assert {found.code for found in check.check_source(topic.example)} == {"E-CARD"}


@pytest.mark.parametrize(
    "name, label, told",
    [
        ("Duration", "type", "Duration, in seconds"),
        ("EndTime", "type", "DateTime, in seconds since 1970-01-01T00:00Z"),
        ("Duration", "how often", "recommended, once"),
        ("Memory", "how often", "optional, once for each metric and context"),
        ("Dependency", "how often", "optional, any number of times"),
    ],
)
def test_a_fact_reads_at_once(name, label, told):
    assert dict(reference.topics(name)[0].facts)[label] == told


def test_a_name_that_is_not_known_has_no_topic():
    assert reference.topics("Memroy") == ()
