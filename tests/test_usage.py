"""Usage totals (8.4)."""

from fractions import Fraction

import pytest

from sssjob.errors import InvalidValue
from sssjob.model import Delivered, Job, Property
from sssjob.usage import usage, usages


def test_8_4_amount_times_duration_times_rate():
    item = Property("Processors", 4, {"duration": "1234", "consumptionRate": "0.63"})
    assert usage(item) == Fraction("3109.68")


def test_8_4_the_delivered_duration_counts_where_none_is_said():
    job = Job.of(
        Delivered.of(
            Property("Processors", 4, {"consumptionRate": "0.5"}),
            Property("Memory", 2, {"units": "KB", "duration": "10"}),
            Property("Node", "n1"),
            Duration=100,
        ),
        Duration=7,
    )
    assert [(each.item.name, each.total) for each in usages(job)] == [
        ("Processors", 200),
        ("Memory", 20480),
    ]


def test_the_duration_may_stand_beside_delivered():
    job = Job.of(Delivered.of(Processors=4), Duration=7)
    assert [each.total for each in usages(job)] == [28]


def test_without_any_duration_there_is_no_total():
    assert usage(Property("Processors", 4)) is None
    assert usages(Job.of(Delivered.of(Processors=4))) == ()


def test_what_is_no_number_is_refused():
    with pytest.raises(InvalidValue):
        usage(Property("Processors", 4, {"consumptionRate": "half"}), 10)
