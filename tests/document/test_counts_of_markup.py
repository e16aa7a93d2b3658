"""Limits count what a document has, and what they refuse is told with its place."""

import pytest
from lxml import etree

from sssjob.document import limits, places, reader
from sssjob.errors import UnreadableDocument


@pytest.mark.parametrize(
    ("data", "nodes"),
    [
        (b"<a/>", 1),
        (b"<a></a>", 1),
        (b"<a x='1' y='2'><b/></a>", 4),
        (b"<a><b>7</b><b>8</b></a>", 3),
        (b"", 0),
    ],
)
def test_elements_and_attributes_count_and_end_tags_do_not(data, nodes):
    assert limits.nodes_of(data) == nodes


def test_a_job_object_is_too_large_with_more_than_may_be_and_not_with_as_much(monkeypatch):
    data = b"<a><b>7</b><b>8</b></a>"
    for most_bytes, most, is_too_large in ((9, 2, True), (9, 3, False), (len(data), 2, False)):
        monkeypatch.setattr(limits, "TOKEN_LIMIT", most_bytes)
        monkeypatch.setattr(limits, "NODE_LIMIT", most)
        assert limits.is_too_large(data) is is_too_large


@pytest.mark.parametrize(
    ("head", "offset", "line", "column"),
    [
        (b"<!DOCTYPE a>", 0, 1, 1),
        (b"  <!DOCTYPE a>", 0, 1, 3),
        (b"<?xml version='1.0'?>\n <!-- \xc3\xa9 --> <!DOCTYPE a>", 0, 2, 13),
        (b"\n\n<!DOCTYPE a>", 7, 10, 1),
    ],
)
def test_a_document_type_is_refused_where_it_begins(head, offset, line, column):
    with pytest.raises(UnreadableDocument) as caught:
        limits.refuse_early(head, offset)
    found = caught.value.finding
    assert (found.line, found.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<a>7</a>", "7"), ("<a/>", ""), ("<a><!-- x -->7</a>", "7"), ("<a>7<!-- x -->8</a>", "78"),
        ("<a>7<b>8</b>9</a>", "7"), ("<a><b>8</b></a>", ""),
    ],
)  # fmt: skip
def test_the_text_of_an_element_is_its_own(text, found):
    assert places.text_of(etree.fromstring(text)) == found


@pytest.mark.parametrize(
    ("documents", "names"),
    [
        ([b"<Job/>", b"<JobGroup/>"], ["Job", "JobGroup"]),
        ([b"<Job/>"], ["Job"]),
        ([b"<Job/><Job/>", b"<Job/>"], None),
        ([b"<Job/>", b"<?xml version='1.0'?><Job/>"], None),
        ([b"<Job>"], None),
    ],
)
def test_documents_are_read_together_where_each_is_one_object(documents, names):
    root = reader.joined(documents)
    assert (None if root is None else [places.local(each) for each in root]) == names
