"""Many documents have one answer to what is worked out from all of them (XPath 2.0 and later)."""

import pickle
import re

import one_answer
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sssjob.query import Match, NotAQuery, compile
from sssjob.query.xpath2 import gathering

STREAM = b"\n".join(one_answer.DOCUMENTS)


def answers(query, source, **options):
    """The texts, or the errors."""
    errors = []
    found = [match.text for match in query.run(source, on_error=errors.append, **options)]
    return [str(error) for error in errors] or found


@pytest.mark.parametrize(("text", "expected"), one_answer.QUESTIONS)
def test_a_stream_has_one_answer(text, expected):
    query = compile(text, None, "3.1")
    assert query.has_one_answer or text == "//User"
    assert answers(query, STREAM) == expected
    assert answers(pickle.loads(pickle.dumps(query)), STREAM, places=False) == expected


# A node says in which document a path behind it starts; a value does not.
@pytest.mark.parametrize("text", [
    "(//Job/Id)[1] ! count(//Job)", "(//Job//Id)[1] ! count(//Job)", "(//Job/.)[1]/count(//Job)",
    "(//Id/..)[1] ! count(//Job)", "(//*)[1] ! count(//Job)", "(//Job/(Id))[1] ! count(//Job)",
    "(//Job/child::Id)[1] ! count(//Job)", "(//Memory/@units)[1] ! count(//Job)",
    "(//Job/(Id | User))[1] ! count(//Job)", "(//Job/Id[1])[1] ! count(//Job)",
])  # fmt: skip
def test_what_stands_behind_nodes_of_all_documents_starts_at_theirs(text):
    assert answers(compile(text, None, "3.1"), STREAM) == ["1"]


@pytest.mark.parametrize("text", [
    "(//Job/string(Id))[1] ! count(//Job)", "('a', 'b')[1] ! count(//Job)",
    "(//Job/(Charge + 1))[1] ! count(//Job)", "(//Job/(Id, 1))[1] ! count(//Job)",
])  # fmt: skip
def test_what_stands_behind_values_is_asked_of_each_document(text):
    assert answers(compile(text, None, "3.1"), STREAM) == ["1", "1", "1"]


@pytest.mark.parametrize(("text", "expected"), one_answer.SIDE_BY_SIDE)
def test_what_each_document_answers_stands_side_by_side(text, expected):
    query = compile(text, None, "3.1")
    assert not query.has_one_answer
    assert answers(query, STREAM) == expected


@pytest.mark.parametrize("text", one_answer.OF_TEXTS)
@pytest.mark.parametrize("version", ["2.0", "3.0", "3.1"])
def test_a_text_that_is_no_number_is_the_same_error_of_each_function_of_numbers(text, version):
    query = compile(text, None, version)
    for documents in (STREAM, b"<Jobs>" + STREAM + b"</Jobs>", one_answer.DOCUMENTS[2]):
        [error] = answers(query, documents)
        assert re.fullmatch(one_answer.NO_NUMBER, error), error


@pytest.mark.parametrize("name", ["sum", "avg", "max", "min"])
def test_a_text_that_is_no_number_is_that_error_of_each_job(name):
    found = answers(compile(f"{name}(User)", None, "3.1"), STREAM)
    assert [each[0] for each in found] == ["1", "3"]  # the group has no User
    assert all(re.fullmatch(f".: {one_answer.NO_NUMBER}", each) for each in found), found


@pytest.mark.parametrize("text, expected", [
    ("sum(//Job/Id ! 'NaN' ! xs:untypedAtomic(.))", "NaN"),
    ("sum((//Job/Charge, number(//JobGroup/Job/User)))", "NaN"),
    ("sum(//Job/nothing)", "0"),
    ("sum(//Job/nothing, 7)", "7"),
    ("sum((xs:dayTimeDuration('PT1H'), xs:dayTimeDuration('PT2H')))", "PT3H"),
    ("sum((xs:untypedAtomic('INF'), 1))", "Infinity"),
    ("fold-left(//Job/Charge, 0, function($a, $b) { sum(($a, $b)) })", "22"),
    ("for-each((1, 2), sum#1)[2]", "2"),
])  # fmt: skip
def test_a_sum_of_numbers_is_what_it_was(text, expected):
    assert {*answers(compile(text, None, "3.1"), STREAM)} == {expected}


def test_as_many_nodes_are_held_as_may_be(monkeypatch):
    two = b"<Job><Id>1</Id></Job>\n<Job><Id>2</Id></Job>"  # with the namespaces 6 nodes each
    monkeypatch.setattr(gathering, "NODES", 12)
    assert answers(compile("(//Job)[2]/Id", None, "3.1"), two) == ["2"]
    monkeypatch.setattr(gathering, "NODES", 11)
    assert "more than 11 nodes" in answers(compile("(//Job)[2]/Id", None, "3.1"), two)[0]


@given(st.sampled_from(one_answer.DOCUMENTS), one_answer.EXPRESSIONS)
def test_one_document_is_answered_as_elementpath_does(document, text):
    query = one_answer.compiled(text)
    try:
        found = query.on(etree.fromstring(document))
        expected = [Match(item, None, 0, 0, hasattr(item, "getparent")).text for item in found]
    except NotAQuery as error:
        expected = [f"error: {error.message} [E-TYPE]"]
    found = answers(query, document)
    assert found == expected or (len(found) == len(expected) == 1 and "FO" in found[0])


@given(one_answer.EXPRESSIONS)
def test_documents_are_answered_as_one_that_holds_them(text):
    query = one_answer.compiled(text)
    found = answers(query, STREAM)
    whole = answers(query, b"<Jobs>" + STREAM + b"</Jobs>")
    is_error = any("[E-" in each for each in (*found, *whole))
    assert found == whole or is_error or "//Job[1]" in text  # the first job of each document


def test_defaults_are_applied_first():
    group = b"<JobGroup><Id>g</Id><JobDefaults><Charge>4</Charge></JobDefaults><Job/></JobGroup>"
    query = compile("sum(//Job/Charge), (//Job/Charge)[last()]", None, "2.0")
    stream = STREAM + b"\n" + group
    assert answers(query, stream) == ["22", "10"]
    assert answers(query, stream, effective=True) == ["26", "4"]
    assert answers(compile("max(//Job/Charge)", None, "2.0"), group, effective=True) == ["4"]


def test_there_is_no_answer_where_a_document_cannot_be_asked():
    odd = STREAM + b"\n<Job><Id>4</Id><Charge>soon</Charge></Job>"
    for text in ("sum(//Job[Charge > 5]/Charge)", "max(//Job/Charge)", "(//Job)[Charge > 5]/Id",
                 "sum(//Job[Charge > 5]/Charge) + count(//Job)"):  # fmt: skip
        [error] = answers(compile(text, None, "3.1"), odd)
        assert "[E-TYPE]" in error
    [error] = answers(compile("count(//Job), 1", None, "3.1"), STREAM + b"\n<Job><Id></Job>")
    assert "[E-XML]" in error


@pytest.mark.parametrize(
    ("limit", "text", "said"),
    [
        ("VALUES", "max(//Job/Charge)", "more than 2 values gathered from all documents"),
        (
            "VALUES",
            "max(//Job/Charge) + max(//Job/Id)",
            "more than 2 values gathered from all documents",
        ),
        ("TEXT", "max(//Job/Charge)", "more than 2 characters gathered from all documents"),
        ("NODES", "(//Job)[2]/Id", "more than 2 nodes of documents that are asked together"),
    ],
)
def test_what_is_gathered_is_bounded(monkeypatch, limit, text, said):
    monkeypatch.setattr(gathering, limit, 2)
    [error] = answers(compile(text, None, "3.1"), STREAM)
    assert said in error
    assert "[E-LIMIT]" in error


PLAIN = (
    "//Job/Id", "//Job[User='amy']/Charge", "//Job[not(User = 'bob') and Charge]/Id", "User",
    "//Job[empty(Memory) or exists(Memory[@units = 'GB'])]", "/Job/Id", "//Job[User != 'x']",
    "//Job[Memory/@units = 'GB']/Memory/@units", "(//Job)/Id", "self::Job/Id", "//Job//Id",
)  # fmt: skip
NOT_PLAIN = (
    "//Job[Charge > 5]", "//Job[1]", "//Job[User eq 'amy']", "//Job[User < 'b']", "//Job/string()",
    "//Job[User = ('amy')][count(Id)]", "//Job[contains(User, 'a')]", "//Job[User = Id]",
    "//Job[/Job]", "max(//Job/Id)", "//Job[(User = 'amy') = true()]",
)  # fmt: skip


@pytest.mark.parametrize("text", PLAIN)
def test_what_means_the_same_is_asked_of_libxml2(text):
    query = compile(text, None, "3.1")
    assert answers(query.plain, STREAM) == answers(query, STREAM)


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_what_may_mean_something_else_is_not(text):
    assert compile(text, None, "3.1").plain is None


@pytest.mark.parametrize("text", [*PLAIN, "//Job[1]/Id", "//Job[User eq 'amy']/Id"])
def test_what_is_found_in_a_document_that_was_read_is_what_is_found_in_its_bytes(text):
    query = compile(text, None, "3.1")
    for document in one_answer.DOCUMENTS:
        found = [match.text for match in query.asked_of(etree.fromstring(document))]
        assert found == answers(query, document)


@pytest.mark.parametrize(("text", "part", "streams"), [
    ("count(//Job[User = 'amy'])", "//Job[User = 'amy']", True),
    ("sum(//Job[1]/Charge)", "//Job[1]/Charge", False),
    ("count(//Job) + count(//User)", None, None),
    ("count(//Job/Id)", "//Job/Id", True),
])  # fmt: skip
def test_an_answer_of_one_part_is_gathered_as_that_part_is_asked(text, part, streams):
    alone = compile(text, None, "3.1").only_part
    assert (alone is None) == (part is None)
    if part is not None:
        assert alone.streams is streams
        assert answers(alone, STREAM) == answers(compile(part, None, "3.1"), STREAM)
