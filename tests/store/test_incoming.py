"""Documents that are ready to be added many at once tell what each of them tells."""

import zlib
from itertools import count

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob.document import tree
from sssjob.store import incoming, rows
from sssjob.store.incoming import Ready
from sssjob.store.packing import Packed
from sssjob.store.reading import made, only

IDS = st.sampled_from(["7", "41.0", "41.1", "s#1#2", "s#41.0#9"])
inner = st.lists(
    st.sampled_from([
        "<GlobalId>s#1#2</GlobalId>", "<GlobalId>s#41.0#9</GlobalId>", "<StartTime>5</StartTime>",
        "<StartTime>x</StartTime>", "<SubmitTime>9</SubmitTime>", "<User>amy</User>",
        "<Delivered><User>bob</User></Delivered>", "<Charge>7</Charge>",
    ]), max_size=4, unique=True,
).map("".join)  # fmt: skip
jobs = st.builds("<Job><Id>{}</Id>{}</Job>".format, IDS, inner)
members = st.lists(jobs | st.builds("<Job>{}</Job>".format, inner), max_size=3).map("".join)
groups = st.builds("<JobGroup><Id>{}</Id>{}</JobGroup>".format, IDS, members)


def packed(document, line):
    """As a reader hands it on: compressed, with the line that it stood in."""
    content = document.content
    return document._replace(content=Packed(3, zlib.compress(content), len(content)), line=line)


def ready(texts):
    return [packed(only(text.encode()), line) for line, text in enumerate(texts, 1)]


@examples(60)
@given(st.lists(jobs | groups, min_size=1, max_size=4))
def test_documents_together_tell_what_each_of_them_tells(texts):
    each = ready(texts)
    assert all(map(incoming.is_plain, each))
    together = Ready.of(each)
    assert together.size == sum(len(text) for text in texts)
    assert {*together.every_id()} == {id_ for one in each for id_ in one.every_id()}
    assert {*together.starts()} == {start for one in each for start in one.starts()}
    assert [*together.members()] == [row for one in each for row in one.members()]
    assert [
        (one.name, one.id, one.marks, one.line, one.content, [*map(tuple, one.rows)])
        for one in together.documents()
    ] == [
        (one.name, one.id, one.marks, one.line, one.content, [*map(tuple, one.rows)])
        for one in each
    ]


@examples(25)
@given(st.lists(jobs, min_size=1, max_size=3))
def test_new_documents_are_rows_with_the_next_numbers(texts):
    each = ready(texts)
    added = [*Ready.of(each).added(count(7), 5)]
    assert [(row[0], row[1], row[2]) for row in added] == [
        (number, one.name, one.id) for number, one in enumerate(each, 7)
    ]
    assert [(row[-2], row[-1]) for row in added] == [(3, one.content.data) for one in each]


@examples(60)
@given(jobs | groups)
def test_what_rows_tell_of_a_document_is_what_it_tells_itself(text):
    document = text.encode()
    found = made(document, rows.rows(tree.parse(document)))
    whole = only(document)
    assert (found.name, found.id, found.marks) == (whole.name, whole.id, whole.marks)
    assert found.content == document


@pytest.mark.parametrize(
    ("id", "told", "user"),
    [
        ("41.0", "<User>amy</User>", "amy"),
        ("41.0", "<User>amy</User><Delivered><User>bob</User></Delivered>", "bob"),
        ("41.0", "", ""),
        ("7", "<User>amy</User>", ""),
    ],
)
def test_of_a_job_of_htcondor_it_is_told_whose_it_is(id, told, user):
    document = f"<Job><Id>{id}</Id>{told}</Job>".encode()
    for found in (only(document), made(document, rows.rows(tree.parse(document)))):
        assert found.marks.whose == user
