"""A store has the one answer that a file of its documents has, whatever is worked out."""

import one_answer
import pytest
from draws import examples
from hypothesis import HealthCheck, given

from sssjob import store
from sssjob.query import compile
from sssjob.store.answers import Trace

STREAM = b"\n".join(one_answer.DOCUMENTS)


@pytest.fixture
def address(address_of_made):
    return address_of_made


@pytest.fixture
def jobs(address):
    with store.open(address, create=True) as jobs:
        jobs.load(STREAM)
        yield jobs


def answers(ask, *arguments, **options):
    """The texts, or that something cannot be asked."""
    errors = []
    found = [match.text for match in ask(*arguments, on_error=errors.append, **options)]
    return {error.finding.code for error in errors} or found


@pytest.mark.parametrize(
    ("text", "expected"), [*one_answer.QUESTIONS, *one_answer.SIDE_BY_SIDE]
)  # fmt: skip
def test_a_store_answers_as_a_stream(jobs, text, expected):
    query, told = compile(text, None, "3.1"), []
    for places in (True, False):
        assert answers(jobs.run, query, places=places) == expected
        assert answers(jobs.run, query, places=places, on_difference=told.append) == expected
    assert told == []
    assert jobs.how_many(query) == sum(each not in ("false", "0") for each in expected)


@pytest.mark.parametrize("text", one_answer.OF_TEXTS)
def test_a_text_that_is_no_number_is_an_error_of_a_store_as_of_a_stream(jobs, text):
    query = compile(text, None, "3.1")
    for places in (True, False):
        told = []
        assert [*jobs.run(query, places=places, on_error=told.append)] == []
        assert [*query.run(STREAM, on_error=told.append)] == []
        assert str(told[0]) == str(told[1])


@examples(30, suppress_health_check=list(HealthCheck))
@given(one_answer.EXPRESSIONS)
def test_any_expression_has_the_answer_of_a_stream(jobs, text):
    query = one_answer.compiled(text)
    assert answers(jobs.run, query, places=False) == answers(query.run, STREAM)


def test_columns_count_and_few_documents_are_held(jobs):
    for text, opened in (
        ("count(//Job[User='amy'])", 0),
        ("string-join(//Job[User='amy']/Id, '+')", 0),
        ("(//Job[User='bob'])[1]/Id", 1),
        ("avg(//Job[Charge > 9]/Charge)", 1),
    ):
        trace = Trace()
        assert len(list(jobs.run(compile(text, None, "3.1"), trace=trace))) == 1
        assert trace.opened == opened, text


def test_the_plan_of_each_part_is_explained(jobs):
    text = "let $m := max(//Job[User='amy']/Charge) return (count(//Job), //Job[Charge = $m])"
    plans = jobs.explain(compile(text, None, "3.1"))
    assert [(each.level.name, each.why) for each in plans] == [
        ("EXACT", ""), ("EXACT", ""),
        ("NOTHING", "a path depends on what is found elsewhere"),
    ]  # fmt: skip


def test_differences_of_parts_are_told(jobs):
    with jobs.engine.transaction():
        jobs.engine.fetch("UPDATE job SET \"user\" = 'eve' WHERE id = '1'")
    for text in ("count(//Job[User='amy'])", "(//Job[User='amy'])[1]/Id"):
        told = []
        found = jobs.run(compile(text, None, "3.1"), on_difference=told.append)
        assert [match.text for match in found] == (["2"] if "count" in text else ["1"])
        assert [each.identity.id for each in told] == ["1"]


def test_there_is_no_answer_where_a_document_cannot_be_asked(jobs):
    with jobs.change() as change:
        change.put(b"<Job><Id>4</Id><Charge>soon</Charge></Job>")
    for text in ("sum(//Job[Charge > 5]/Charge)", "(//Job[Charge > 5])[1]/Id"):
        assert answers(jobs.run, compile(text, None, "3.1")) == {"E-TYPE"}
    with jobs.engine.transaction():
        jobs.engine.fetch("UPDATE document SET data = ? WHERE id = '4'", (b"\0",))
    damaged = []
    found = jobs.run(compile("max(//Job/Memory)", None, "3.1"), on_error=damaged.append)
    assert [match.text for match in found] == ["2"]  # its columns say that it has none
    found = jobs.run(compile("max(//Memory)", None, "3.1"), on_error=damaged.append)
    assert (list(found), len(damaged)) == ([], 1)
