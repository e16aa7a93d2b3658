"""Job objects as values."""
# ruff: noqa: E501 (a row of a table is a line)

from fractions import Fraction

import pytest

from sssjob.errors import InvalidValue
from sssjob.model import Delivered, Job, JobGroup, Properties, Property, Reference, Requested, walk

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
