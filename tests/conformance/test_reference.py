"""What the standard says of a name."""

import re

import pytest

from sssjob import spec, units
from sssjob.check.sources import check_source
from sssjob.conformance import reference
from sssjob.conformance.examples import laid_out
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
    topic = reference.topics("JobId")[-1]
    assert (topic.name, dict(topic.facts)["older names"]) == ("Id", "JobId, jobId")


def test_an_attribute_of_two_elements_is_told_twice():
    assert [dict(topic.facts)["on"] for topic in reference.topics("units")] == [
        "Disk, Memory, Network, Processors, Swap, Resource", "Charge",
    ]  # fmt: skip


OF_THE_TABLES = sorted(
    spec.names()
    | {row.name for row in spec.ATTRIBUTES}
    | {name for name, *_ in spec.RESOURCE_LIMITS}
    | {row.name for row in spec.ALIASES}
)


@pytest.mark.parametrize("name", OF_THE_TABLES)
def test_each_meaning_of_a_name_has_its_section_place_default_and_an_example(name):
    for topic in reference.topics(name):
        if topic.kind.startswith("value of "):
            continue
        facts = dict(topic.facts)
        assert topic.section
        assert facts["default"]
        assert topic.name in ("Job", "JobGroup") or facts.get("stands in") or facts.get("on")
        shown = rf"<{topic.name}\b" if topic.kind in ("element", "container") else None
        shown = shown or rf"""<[^>]* {topic.name}=|<ResourceLimit name="{topic.name}">"""
        assert re.search(shown, topic.example)


@pytest.mark.parametrize(
    "name, kind",
    [
        *((value, f"value of {row.name}") for row in spec.ATTRIBUTES for value in row.values),
        *((value, "value of NotificationList") for value in spec.NOTIFICATIONS),
        *((state, "value of State") for state in ("Idle", "Hold", "NotQueued", "TimedOut")),
        *((unit, "unit") for unit in units.UNITS),
    ],
)
def test_each_word_that_an_element_or_attribute_may_say_has_a_meaning_and_an_example(name, kind):
    found = [topic for topic in reference.topics(name) if topic.kind == kind]
    assert found
    for topic in found:
        assert topic.section
        assert topic.about
        assert name in topic.example


@pytest.mark.parametrize("name", sorted(reference.names()))
def test_an_example_has_nothing_to_find_but_what_it_is_about_however_it_is_laid_out(name):
    for topic in reference.topics(name):
        if topic.example:
            plain, *others = (
                sorted(found.code for found in check_source(document))
                for document in (
                    topic.example,
                    laid_out(topic.example),
                    laid_out(topic.example, 30),
                )
            )
            assert set(plain) >= {name} if topic.kind == "finding" else plain == []
            assert others == [plain, plain]


def test_the_example_of_a_finding_has_that_finding_alone():
    [topic] = reference.topics("E-CARD")
    assert {found.code for found in check_source(topic.example)} == {"E-CARD"}


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
