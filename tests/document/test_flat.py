"""A job as Gold knows it: what was delivered comes first, and what has no place is told."""

import pytest

from sssjob.document import loads
from sssjob.document.flat import flat, name

# What a job holds, what of it is flat, and what has no place there.
CASES = [
    ("<User>amy</User><Queue>a</Queue>", ["User=amy", "Queue=a"], []),
    ("<Delivered><Memory>2</Memory></Delivered><Memory>1</Memory>", ["Memory=2"], ["Memory=1"]),
    ("<Requested><Memory>3</Memory></Requested><User>amy</User>", ["User=amy", "Memory=3"], []),
    ("<Requested><Memory>3</Memory></Requested><Delivered><Memory>2</Memory></Delivered>",
     ["Memory=2"], ["Memory=3"]),
    ("<Requested><Memory op='GE'>3</Memory></Requested>", [], ["Memory=3"]),
    ("<Requested><Memory op='EQ'>3</Memory></Requested>", ["Memory=3"], []),
    ("<Requested><Memory conj='Or'>3</Memory></Requested>", [], ["Memory=3"]),
    ("<Requested><Memory>3</Memory><Memory>4</Memory></Requested>", [], ["Memory=3", "Memory=4"]),
    ("<TaskGroup><Id>1</Id></TaskGroup><User>amy</User>", ["User=amy"], ["TaskGroup"]),
]  # fmt: skip


def told(items):
    return [f"{each.name}={each.text}" if hasattr(each, "text") else each.name for each in items]


@pytest.mark.parametrize("inside, kept, lost", CASES)
def test_each_value_has_one_place_and_what_was_delivered_comes_first(inside, kept, lost):
    job = loads(f"<Job>{inside}</Job>")
    found, left = flat(job)
    assert told(found.items) == kept
    assert told(left) == lost


def test_an_amount_that_was_only_requested_is_not_charged():
    job = loads("<Job><Requested><Memory>3</Memory><Queue>a</Queue></Requested></Job>")
    found, left = flat(job, used=True)
    assert (told(found.items), told(left)) == (["Queue=a"], ["Memory=3"])


def test_what_has_no_place_is_called_by_its_name_and_id():
    job = loads("<Job><!-- x --><TaskGroup><Id>7</Id></TaskGroup></Job>")
    found, left = flat(job)
    assert [each.kind for each in found.items] == ["comment"]
    assert [name(each) for each in (*found.items, *left)] == ["comment", "TaskGroup 7"]
