"""Which run of an Id a document is about, and which one an Id means."""

from typing import NamedTuple

import pytest

from sssjob import store
from sssjob.store.identity import Marks, ids_of, near, rank, same


class Run(NamedTuple):
    run: int
    marks: Marks
    name: str = "Job"
    id: str = "7"
    deleted: bool = False


@pytest.mark.parametrize(
    "marks, runs, found",
    [
        pytest.param(Marks(), [], None, id="there is none"),
        pytest.param(Marks(), [Run(1, Marks())], 1, id="nothing is told"),
        pytest.param(Marks("a"), [Run(1, Marks("b"))], None, id="another GlobalJobId"),
        pytest.param(
            Marks("", "100"),
            [Run(1, Marks("", "100")), Run(2, Marks("", "100", "500"))],
            1,
            id="one with the same marks is meant before a later one that agrees",
        ),
        pytest.param(
            Marks(),
            [Run(1, Marks()), Run(2, Marks("", "100", "500"))],
            1,
            id="also where none are told",
        ),
        pytest.param(
            Marks("", "100"),
            [Run(1, Marks("", "100")), Run(2, Marks("", "100"))],
            2,
            id="of several with the same marks the last one",
        ),
        pytest.param(
            Marks("", "100"),
            [Run(1, Marks("", "100")), Run(2, Marks("", "100"), deleted=True)],
            1,
            id="of several with the same marks one that is shown",
        ),
        pytest.param(
            Marks("g", "100", "500"),
            [Run(1, Marks("g", "100")), Run(2, Marks("", "100", ""))],
            1,
            id="the one that shares more marks",
        ),
        pytest.param(
            Marks("g", "", "500"),
            [Run(1, Marks("g", "", "500", "amy")), Run(2, Marks("g", "", "", "amy"))],
            1,
            id="users do not count among them",
        ),
    ],
)
def test_a_document_is_about_the_run_that_has_most_of_its_marks(marks, runs, found):
    for some in (runs, runs[::-1]):
        told = same(marks, some)
        assert (told and told.run) == found


@pytest.mark.parametrize(
    "marks, found",
    [
        (Marks("", "100", "500"), 2),  # told exactly: nothing is near it
        (Marks("", "101", "110"), 1),
        (Marks("", "100", "900"), None),
    ],
)
def test_a_run_is_near_where_clocks_differ_a_little(marks, found):
    runs = [Run(1, Marks("", "100", "110")), Run(2, Marks("", "100", "500"))]
    told = same(marks, runs) or near(marks, runs)
    assert (told and told.run) == found


def test_a_run_that_is_shown_is_above_a_later_one_that_is_deleted():
    """Then its last time counts, and in the end which one came later."""
    early, late = Marks("", "100", "110"), Marks("", "100", "500")
    ranks = [
        rank(late, 9, is_there=False),
        rank(early, 1, is_there=True),
        rank(early, 2, is_there=True),
        rank(late, 1, is_there=True),
    ]
    assert ranks == sorted(ranks)
    assert len({*ranks}) == 4


def test_what_a_store_gives_back_ranks_by_whether_it_is_there_its_times_and_its_run(address):
    with store.open(address, create=True) as jobs:
        with jobs.change() as change:
            for start in (500, 100):
                change.put(f"<Job><Id>7</Id><StartTime>{start}</StartTime></Job>".encode())
        first, second = jobs.documents()
        assert [each.identity.run for each in (first, second)] == [1, 2]
        assert first.rank(Marks("", "", "500")) == (True, 500, 1)
        assert second.rank(Marks("", "", "100")) == (True, 100, 2)
        with jobs.change() as change:
            change.delete(first.identity)
        [gone] = [each for each in jobs.documents(deleted=True) if each.deleted]
        assert gone.rank(Marks("", "", "500")) == (False, 500, 1)


@pytest.mark.parametrize(
    ("name", "id", "global_id", "count"),
    [
        ("Job", "7", "", 1),
        ("JobGroup", "7", "", 1),
        ("JobGroup", "s#7.0#18", "", 1),
        ("Job", "s#7.0#18", "", 2),
        ("Job", "7.0", "s#7.0#18", 2),
    ],
)
def test_only_a_job_has_other_ids_than_its_own(name, id, global_id, count):
    found = ids_of(name, id, Marks(global_id))
    assert found[0] == id
    assert len(found) == len({*found}) == count
