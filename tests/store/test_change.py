"""A job stands in one place: what is created beside it is refused before it is written."""

import pytest

from sssjob import store
from sssjob.document import loads
from sssjob.errors import TakenId
from sssjob.store.ledger import Entry, EntryKind

ALONE = "<Job><Id>7</Id></Job>"
NAMELESS = "<Job><Name>x</Name></Job>"


def group(*jobs, id="g"):
    return f"<JobGroup><Id>{id}</Id>{''.join(jobs)}</JobGroup>"


@pytest.fixture
def jobs(address_of_made):
    with store.open(address_of_made, create=True) as opened:
        yield opened


@pytest.mark.parametrize(
    ("there", "new"),
    [
        (ALONE, group(ALONE)),
        (ALONE, group(NAMELESS, ALONE)),
        (group(NAMELESS, ALONE), ALONE),
        ("", group(ALONE, ALONE)),
        ("", group(NAMELESS, ALONE, NAMELESS, ALONE)),
    ],
)
def test_a_job_never_stands_alone_and_in_a_group_or_twice_in_one(jobs, there, new):
    with jobs.change() as change:
        if there:
            change.put(loads(there))
        with pytest.raises(TakenId, match="7"):
            change.require_one_place(loads(new), None)


@pytest.mark.parametrize(
    ("there", "new"),
    [
        (ALONE, ALONE.replace("7", "8")),
        (group(ALONE), group(ALONE, id="h")),
        (ALONE, group(NAMELESS, NAMELESS)),
    ],
)
def test_what_stands_elsewhere_is_in_nobodys_way(jobs, there, new):
    with jobs.change() as change:
        number = change.put(loads(there)).number
        change.require_one_place(loads(new), None)
        change.require_one_place(loads(there), number)


@pytest.mark.parametrize("new", [ALONE, group(NAMELESS, ALONE)])
@pytest.mark.parametrize("there", [ALONE, group(ALONE)])
@pytest.mark.parametrize("credits", [0, 5])
@pytest.mark.parametrize("is_deleted", [True, False])
def test_a_job_that_was_charged_and_deleted_is_in_the_way(jobs, new, there, credits, is_deleted):
    """Nobody could give back what it was charged, once another one has its Id."""
    with jobs.change() as change:
        number = change.put(loads(there)).number
        if credits:
            change.ledger.add(Entry(EntryKind.CHARGE, credits, 1, "7", number))
    if is_deleted:
        with jobs.change() as change:
            change.delete("7" if there == ALONE else "g")
    stands_otherwise = there.startswith("<JobGroup") is not new.startswith("<JobGroup")
    with jobs.change() as change:
        if credits and is_deleted and stands_otherwise:
            with pytest.raises(TakenId, match="which was charged and deleted"):
                change.require_unpaid(loads(new), None)
        else:
            change.require_unpaid(loads(new), None)


def test_notes_are_told_by_what_they_begin_with(jobs):
    with jobs.change() as change:
        for name in ("submission 1", "submission 2", "submissions", "key"):
            change.note(name, f"of {name}")
        assert dict(change.notes("submission ")) == {
            "submission 1": "of submission 1", "submission 2": "of submission 2",
        }  # fmt: skip
