"""Job objects as values."""
# ruff: noqa: E501 (a row of a table is a line)

import copy
import pickle
from dataclasses import FrozenInstanceError
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import pytest

from sssjob import expression
from sssjob.errors import InvalidValue, NoSuchProperty, Severity, UnknownName
from sssjob.model import (
    Delivered,
    Job,
    JobDefaults,
    JobGroup,
    Note,
    Properties,
    Property,
    Reference,
    Requested,
    TaskGroup,
    walk,
)

JOB = Job.of(
    Requested.of(Processors=16, Memory=Fraction(3, 2)),
    Delivered.of(Property("Memory", "975", {"metric": "Max"}), Property("Memory", 1, {"units": "gb"})),
    Id=" PBS.1234.0 ",
    Interactive=True,
    Charge=1.5,
)  # fmt: skip


def test_values_are_read_by_the_types_of_the_tables():
    assert JOB.id == "PBS.1234.0"
    assert JOB["Interactive"].value is True
    assert JOB["Charge"].value == Fraction(3, 2)
    assert JOB.requested.value("Processors") == 16
    assert JOB.requested.text("Memory") == "1.5"
    assert JOB.get("Nothing", "none") == "none"
    with pytest.raises(KeyError):
        JOB["Nothing"]
    with pytest.raises(InvalidValue):
        assert Property("Processors", "many").value


def test_amounts_are_bytes_in_the_stated_or_the_default_unit():
    most, other = JOB.delivered
    assert most.bytes == 975 << 20
    assert other.bytes == 1 << 30


def test_properties_are_told_apart_by_attributes():
    assert JOB.delivered.get("Memory", metric="Max").text == "975"
    assert JOB.delivered.get("Memory", metric="").text == "1"
    assert JOB.delivered.names() == {"Memory"}
    assert Properties().get("Memory") is None


def test_only_the_white_space_of_xml_is_stripped():
    assert Reference("Job", "\u00a0a\n").id == "\u00a0a"
    assert Property("User", " \u2028amy\t").value == "\u2028amy"


def test_a_change_is_a_new_value_in_the_same_place():
    changed = JOB.setting(Property("Id", "2"), Property("User", "amy"))
    assert (changed.id, changed["User"].text, JOB.id) == ("2", "amy", "PBS.1234.0")
    assert changed.items[0].name == "Id"
    assert JOB["Id"].having(awarenessPolicy="Warn").attributes == {"awarenessPolicy": "Warn"}
    assert JOB.delivered[0].having(metric=None).attributes == {}


def test_where_something_stood_is_no_part_of_what_it_is():
    assert Property("Id", "1", line=7) == Property("Id", "1")
    assert hash(Property("Id", "1", {"a": "b"})) == hash(
        Property("Id", "1", line=3, attributes={"a": "b"})
    )


def test_walking_gives_every_block():
    group = JobGroup.of(JOB, Reference("Job", "7"), Id="g")
    assert [block.name for block in walk(group)] == ["JobGroup", "Job", "Requested", "Delivered"]
    assert group.jobs == (JOB,)
    assert [item.id for item in group.references("Job")] == ["7"]


# What is built


@pytest.mark.parametrize("value, text", [
    (datetime(2003, 4, 28, 19, 21, 53, 999999, UTC), "1051557713"),
    (datetime(2003, 4, 28, 21, 21, 53, tzinfo=timezone(timedelta(hours=2))), "1051557713"),
    (timedelta(days=1, hours=2), "93600"),
    (Decimal("1.890"), "1.89"),
    (Decimal("1E+3"), "1000"),
    (Severity.ERROR, "error"),
    (True, "true"),
    (-0.5, "-0.5"),
])  # fmt: skip
def test_values_of_python_are_spelled_as_documents_spell_them(value, text):
    assert Property("Extension", value, {"name": value}).text == text
    assert Job.of(Extension=value)["Extension"].text == text
    assert Property("Memory", 1, {"units": value}).attributes == {"units": text}


@pytest.mark.parametrize("value", [
    None, float("nan"), float("inf"), Decimal("NaN"), Decimal("-Infinity"), datetime(2003, 4, 28),
    timedelta(seconds=1.5), b"1", [1], date(2003, 4, 28), Decimal("1E-1000000"),
    Decimal("1E+1000000"), Fraction(1, 10**401), Fraction(10**401, 3),
    pytest.param(10**4000, id="a whole number of 4001 digits"),
], ids=repr)  # fmt: skip
def test_what_has_no_spelling_is_refused(value):
    for build in (
        lambda: Property("Memory", value),
        lambda: Property("Memory", 1, {"units": value}),
        lambda: Job.of(Memory=value),
        lambda: Job().setting(Memory=value),
    ):
        with pytest.raises(InvalidValue):
            build()


@pytest.mark.parametrize("name, advice", [
    ("Memroy", "did you mean Memory?"),
    ("memory", "did you mean Memory?"),
    ("JobId", "JobId is an older name of Id"),
    ("Requested", "give Requested.of(...)"),
])  # fmt: skip
def test_names_that_are_none_are_refused_with_advice(name, advice):
    for build in (lambda: Job.of(**{name: 1}), lambda: Job().setting(**{name: 1})):
        with pytest.raises(UnknownName) as refused:
            build()
        assert str(refused.value) == f"{name} is no property of Job; {advice}"
    assert Job.of(Property("Memroy", 1), Colour="red").properties.names() == {"Memroy", "Colour"}


def test_nothing_of_a_value_changes():
    given = {"units": "GB"}
    memory = Property("Memory", 2, given)
    job = Job([memory], {"awarenessPolicy": "Warn"})
    given["units"] = "KB"
    assert memory.attributes == {"units": "GB"}
    changes = [
        ("__setitem__", "a", "b"), ("__delitem__", "units"), ("__ior__", {"a": "b"}), ("clear",),
        ("pop", "units"), ("popitem",), ("setdefault", "a", "b"), ("update", {"a": "b"}),
    ]  # fmt: skip
    for attributes in (memory.attributes, job.attributes, job.prefixes, Property("Id").attributes):
        for change, *arguments in changes:
            with pytest.raises(TypeError):
                getattr(attributes, change)(*arguments)
    for attempt in (lambda: setattr(memory, "text", "3"), lambda: setattr(job, "items", ())):
        with pytest.raises(FrozenInstanceError):
            attempt()
    assert job.items == (memory,)
    assert pickle.loads(pickle.dumps(job)) == copy.deepcopy(job) == job


def test_a_name_is_looked_for_in_the_block_itself_and_where_it_is_instead_is_said():
    job = Job.of(Requested.of(Memory=1), Delivered.of(Memory=2), Id=1, Processors=2)
    assert ("Processors" in job, "Memory" in job, "Memory" in job.requested) == (True, False, True)
    assert (job.items[0] in job, job.requested["Memory"].text) == (True, "1")
    assert [item.name for item in job] == ["Id", "Processors"]
    for ask, said in [
        (lambda: job["Memory"], "no Memory among the properties of the Job itself; its Requested and its Delivered has one"),
        (lambda: job["processors"], "no processors among the properties of the Job itself; did you mean Processors?"),
        (lambda: job.requested["Memroy"], "no Memroy among the properties of the block itself; did you mean Memory?"),
    ]:  # fmt: skip
        with pytest.raises(KeyError) as missing:
            ask()
        assert str(missing.value) == said
        assert isinstance(missing.value, NoSuchProperty)


ASKED = Requested.of(
    Property("Memory", 2, {"op": "GE"}), Property("Memory", 4, {"op": "LE"}), Processors=8
)
OR = Requested((
    Property("Memory", 2, {"group": "1"}), Property("Processors", 8, {"group": "-1"}),
    Property("Memory", 4, {"conj": "Or"}), Property("Queue", "q", {"conj": "Nor"}),
))  # fmt: skip


@pytest.mark.parametrize("request_, change, expected", [
    (ASKED, lambda each: each.removing("Memory"), "Processors EQ 8"),
    (ASKED, lambda each: each.setting(Memory=3), "(Processors EQ 8 And Memory EQ 3)"),
    (ASKED, lambda each: each.setting(Property("Memory", 1, {"op": "GT"}), Property("Memory", 9, {"op": "LT"})), "(Processors EQ 8 And Memory GT 1 And Memory LT 9)"),
    (ASKED, lambda each: each.setting(Disk=1), "(Processors EQ 8 And Memory GE 2 And Memory LE 4 And Disk EQ 1)"),
    (ASKED, lambda each: each.setting(Property("Memory", 2, {"preference": "1"}), Property("Memory", 4, {"preference": "2"})), "(Processors EQ 8 And OneOf(Memory EQ 2: 1, Memory EQ 4: 2))"),
    (OR, lambda each: each.removing("Memory"), "(Processors EQ 8 Or Queue NE q)"),
    (OR, lambda each: each.setting(Memory=3), "((Processors EQ 8 Or Queue NE q) And Memory EQ 3)"),
    (OR, lambda each: each.removing("Memory", "Processors", "Queue"), "()"),
])  # fmt: skip
def test_a_request_is_changed_as_the_expression_that_it_is(request_, change, expected):
    assert str(expression.parse(change(request_).properties)) == expected
    job = Job.of(request_, Id=1)
    assert job.items[1] is request_


NOTES = Note("comment", "one"), Note("comment", "other")
NOTED = Requested((NOTES[0], Property("Memory", 2), NOTES[1], Property("Processors", 8)))


@pytest.mark.parametrize("change, expected", [
    (lambda each: each.removing("Memory"), [*NOTES, "Processors"]),
    (lambda each: each.removing("Processors"), [NOTES[0], "Memory", NOTES[1]]),
    (lambda each: each.setting(Memory=3), [NOTES[0], "Memory", NOTES[1], "Processors"]),
    (lambda each: each.setting(Disk=1), [NOTES[0], "Memory", NOTES[1], "Processors", "Disk"]),
])  # fmt: skip
def test_a_comment_stays_where_it_is_in_a_request_all_of_which_holds(change, expected):
    assert [item if item in NOTES else item.name for item in change(NOTED).items] == expected


def test_a_job_is_changed_in_its_categories():
    job = Job.of(Id=1).setting(Memory=2, inside=Requested).setting(Memory=1, inside=Delivered)
    assert (job.requested["Memory"].text, job.delivered["Memory"].text) == ("2", "1")
    assert job.removing("Memory", inside=Requested).requested == ()
    assert job.removing("Id").items == job.items[1:]
    assert job.setting(Name="n")["Name"].text == "n"


def test_what_is_shown_of_a_value_is_short():
    many = Job.of(*[Property("Feature", "x" * 1000)] * 1000, Requested.of(Memory=1), Id="7")
    assert repr(many) == "<Job 7: 1001 properties, 1 Requested>"
    assert repr(JobGroup()) == "<JobGroup: empty>"
    assert (
        repr(Property("Memory", "2" * 99, {"units": "GB"}))
        == f"Property('Memory', '{'2' * 40}...', {{'units': 'GB'}})"
    )


@pytest.mark.parametrize("name", ["Processors", "Duration", "StartTime"])
@pytest.mark.parametrize("value", [4.0, Decimal("4.0"), Fraction(8, 2)])
def test_what_is_whole_is_written_whole(name, value):
    assert Job.of(**{name: value})[name].text == "4"
    assert Job.of(Memory=Decimal("1.5"))["Memory"].text == "1.5"


@pytest.mark.parametrize("name", ["Processors", "Duration", "StartTime"])
@pytest.mark.parametrize("value", [1.5, Decimal("1.5"), Fraction(1, 3)])
def test_builders_refuse_parts_of_what_is_whole(name, value):
    with pytest.raises(InvalidValue, match=f"{name}, which is whole"):
        Job.of(**{name: value})
    with pytest.raises(InvalidValue, match=f"{name}, which is whole"):
        Job.of(Id="1").setting(**{name: value})


READ_OTHERWISE = [
    (Job, "Requested"), (Job, "Delivered"), (Job, "Job"), (Job, "TaskGroup"), (Job, "JobDefaults"), (Job, "Task"),
    (JobGroup, "Job"), (JobGroup, "JobDefaults"), (TaskGroup, "Task"), (TaskGroup, "TaskDefaults"),
    (JobDefaults, "Requested"), (Requested, "Job"), (Delivered, "Requested"), (Job, "jobId"),
    (Job, "requestedProcessors"), (JobDefaults, "jobId"), (Requested, "requestedProcessors"),
]  # fmt: skip


@pytest.mark.parametrize("kind, name", READ_OTHERWISE)
def test_a_property_that_is_read_again_as_something_else_is_refused(kind, name):
    for make in (kind.of, kind.of().setting):
        with pytest.raises(UnknownName) as told:
            make(Property(name, "x"))
        assert str(told.value).startswith(f"{name} is no property of {kind.name}; ")
        assert len(str(told.value)) > len(f"{name} is no property of {kind.name}; ")


@pytest.mark.parametrize("kind", [Job, JobGroup, TaskGroup, Requested])
@pytest.mark.parametrize(
    "name", ["Feature", "Id", "Resource", "mine", "{urn:x}Requested", "{urn:x}jobId"]
)
def test_a_property_that_is_read_again_as_itself_is_taken(kind, name):
    made = kind.of(Property(name, "x"))
    assert [item.name for item in made.items] == [name]


@pytest.mark.parametrize("value", ["1", "urn:x", ""])
def test_no_attribute_declares_the_namespace_of_names_without_a_prefix(value):
    with pytest.raises(InvalidValue, match="xmlns"):
        Property("Feature", "x", {"xmlns": value})
    with pytest.raises(InvalidValue, match="xmlns"):
        Property("Feature", "x").having(xmlns=value)
