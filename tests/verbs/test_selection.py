"""What is chosen of a document, as a caller of the library asks."""

import io

import pytest

from sssjob.check.awareness import LAYOUT
from sssjob.errors import NotAQuery
from sssjob.verbs.selection import NotChoosable, chosen, with_notes

GROUP = (
    b"<Jobs><!-- first --><JobGroup><Id>g</Id><Job><Id>1</Id>"
    b"<TaskGroup><Name>master</Name></TaskGroup><TaskGroup><Name>slave</Name></TaskGroup></Job>"
    b"<Job><Id>2</Id></Job></JobGroup><Job><Id>2</Id></Job><!-- last --></Jobs>"
)


def paths(select, data=GROUP):
    errors = []
    found = chosen("jobs.xml", io.BytesIO(data), select, on_error=errors.append)
    return [(item.block.name, item.paths) for item in found], errors


@pytest.mark.parametrize(
    ("select", "found"),
    [
        (None, [("JobGroup", None), ("Job", None)]),
        ("2", [("JobGroup", ("/JobGroup/Job[2]",)), ("Job", ("/Job",))]),
        ("slave", [("JobGroup", ("/JobGroup/Job[1]/TaskGroup[2]",))]),
        ("//Job[Id='1']", [("JobGroup", ("/JobGroup/Job[1]",))]),
        ("g", [("JobGroup", ("/JobGroup",))]),
        ("//Job[Id='9']", []),
    ],
)
def test_jobs_are_chosen_by_id_name_or_expression(select, found):
    assert paths(select) == (found, [])


@pytest.mark.parametrize("select", ["//Job/Id", "count(//Job)", "//@units | //Id"])
def test_what_is_neither_a_job_nor_a_group_is_refused(select):
    with pytest.raises(NotChoosable, match="neither a job nor a task group"):
        paths(select)


def test_an_expression_that_is_none_is_raised():
    with pytest.raises(NotAQuery):
        paths("//Job[")


def test_what_cannot_be_read_is_told_and_the_rest_is_chosen():
    found, errors = paths("1", b"<Job><Id>1</Id></Job>\n<Job><Id>2</Job>\n<Job><Id>1</Id></Job>\n")
    assert [name for name, _ in found] == ["Job", "Job"]
    assert [error.finding.line for error in errors] == [2]


def test_notes_come_with_the_object_that_they_stand_around():
    told = []
    group, job = with_notes("jobs.xml", io.BytesIO(GROUP), told.append, on_error=told.append)
    assert [note.text.strip() for note in group.before] == ["first"]
    assert [note.text.strip() for note in job.behind] == ["last"]
    assert told == []


def test_only_what_matters_to_the_choice_is_judged():
    odd = b"<JobGroup><Job><Id>1</Id></Job><Job><Id>2</Id><Odd>1</Odd></Job></JobGroup>"
    accepted = {}
    for select in ("1", "2"):
        [item] = chosen("jobs.xml", io.BytesIO(odd), select, on_error=print)
        accepted[select] = item.understood(LAYOUT).accepted
    assert accepted == {"1": True, "2": False}
