"""Questions asked of columns and of documents: the documents' answers hold, and lies are told."""
# ruff: noqa: E501 (a row of a table is a line)

import logging

import pytest
from job_service import job_service

from sssjob import store
from sssjob.query import compile

JOBS = [
    b"<Job><Id>1</Id><User>amy</User><Charge>5</Charge></Job>",
    b"<JobGroup><Id>g</Id><Job><Id>2</Id><User>bob</User><Charge>7</Charge></Job></JobGroup>",
    b"<Job><Id>3</Id><User>amy</User><Charge>soon</Charge></Job>",
]
# Rows that somebody has changed.
LIES = (
    "UPDATE job SET \"user\" = 'eve' WHERE id = '1'",
    "UPDATE job SET charge = 70 WHERE id = '2'",
)


@pytest.fixture
def address(address_of_made):
    return address_of_made


@pytest.fixture
def jobs(address):
    with store.open(address, create=True) as jobs:
        with jobs.change() as change:
            for document in JOBS:
                change.put(document)
        yield jobs


def lie(jobs):
    with jobs.engine.transaction():
        for statement in LIES:
            jobs.engine.fetch(statement)


CASES = [
    ("//Job[User='amy']/Id", ["1", "3"], ["Job 1: its columns give nothing, but the document gives '1'"]),
    ("//Job/User", ["amy", "bob", "amy"], ["Job 1: its columns give 'eve', but the document gives 'amy'"]),
    ("//Job/Charge", ["5", "7", "soon"], ["JobGroup g: its columns give 70, but the document gives 7"]),
    ("//Job[Charge > 60]", [], ["JobGroup g: its columns give a job, but the document gives nothing"]),
    ("//Job[Charge < 60][Hold]", [], []),
    ("//User", ["amy", "bob", "amy"], []),
    ("sum(//Job[Charge > 6]/Charge)", ["7"], ["JobGroup g: its columns give 70, but the document gives 7"]),
    ("count(//Job[User='eve'])", ["0"], ["Job 1: its columns give a job, but the document gives nothing"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "answers", "said"), CASES)
@pytest.mark.parametrize("places", [True, False])
def test_documents_answer_and_differences_are_told(jobs, text, answers, said, places):
    query, told = compile(text), []
    assert [each.text for each in jobs.run(query, places=places, on_difference=told.append)] == (
        answers
    )
    assert told == []
    lie(jobs)
    assert [each.text for each in jobs.run(query, places=places, on_difference=told.append)] == (
        answers
    )
    assert [str(each) for each in told] == said


LATER = [
    ("//Job[User eq 'amy']/Id", ["1", "3"], "Job 1: its columns give nothing, but the document gives '1'"),
    ("//Job[Charge > 60]", [], "JobGroup g: its columns give a job, but the document gives nothing"),
    ("//Job[User = ('amy', 'bob')] ! string(Id)", ["1", "2", "3"], "Job 1: its columns give nothing, but the document gives a job"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "answers", "said"), LATER)
@pytest.mark.parametrize("version", ["2.0", "3.1"])
def test_later_versions_are_compared_too(jobs, text, answers, said, version):
    if "!" in text and version == "2.0":
        text = text.replace(" ! ", "/")
    query, told, errors = compile(text, None, version), [], []
    for expected in ([], [said]):
        found = jobs.run(query, places=False, on_error=errors.append, on_difference=told.append)
        assert [each.text for each in found] == answers
        assert [str(each) for each in told] == expected
        lie(jobs)
    assert len(errors) == (2 if "Charge" in text else 0)  # "soon" is no number


def test_a_count_is_compared_too(jobs):
    lie(jobs)
    told = []
    assert jobs.how_many(compile("//Job[User='amy']"), on_difference=told.append) == 2
    assert [each.identity.id for each in told] == ["1"]


def test_only_few_answers_are_said():
    difference = store.Difference(store.Identity("Job", "7"), ("a",) * 5, (None,) * 2)
    said = "Job 7: its columns give 'a', 'a', 'a' and 2 more, but the document gives 2 of its jobs"
    assert str(difference) == said


def test_a_store_can_ask_for_it_whoever_opens_it(jobs, address, caplog):
    jobs.verify(True)
    lie(jobs)
    query = compile("//Job[User='amy']/Id")
    for opened in ({"read_only": True}, {}):
        caplog.clear()
        with store.open(address, **opened) as other:
            assert other.verifies
            assert [each.text for each in other.run(query, places=False)] == ["1", "3"]
        assert [record.levelno for record in caplog.records] == [logging.ERROR]
        assert "Job 1: its columns give nothing" in caplog.text
    jobs.verify(False)
    with store.open(address) as other:
        assert [each.text for each in other.run(query, places=False)] == ["3"]


def test_an_upgrade_keeps_the_setting(jobs, address):
    jobs.verify(True)
    with jobs.engine.transaction():
        for column in ("begins", "said"):
            jobs.engine.fetch(f"ALTER TABLE ledger DROP COLUMN {column}")
        jobs.engine.fetch("UPDATE setting SET value = '1' WHERE name = 'version'")
    assert store.upgrade(address)
    with store.open(address) as other:
        assert other.verifies


def test_a_damaged_document_is_no_difference(jobs):
    with jobs.engine.transaction():
        jobs.engine.fetch("UPDATE document SET data = ? WHERE id = '1'", (b"\0",))
    damaged, told = [], []
    found = jobs.run(
        compile("//Job[User]/Id"), on_error=damaged.append, on_difference=told.append
    )  # fmt: skip
    assert [each.text for each in found] == ["2", "3"]
    assert (len(damaged), told) == (1, [])


@pytest.mark.parametrize(
    ("where", "ids"), [(("Id", "EQ", "1"), ["1"]), (("User", "EQ", "amy"), ["1", "3"])]
)
def test_requests_find_what_columns_would_leave_out_and_log_it(jobs, address, caplog, where, ids):
    jobs.verify(True)
    with jobs.engine.transaction():
        jobs.engine.fetch("UPDATE job SET \"user\" = 'eve', id = '9' WHERE id = '1'")
    with job_service(address) as made:
        assert made.ids(where) == ids
        assert "Job 1: its columns give nothing, but the document gives a job" in caplog.text
        caplog.clear()
        assert made.ids(("User", "EQ", "bob")) == ["2"]
        assert caplog.records == []
