"""Nodes of a path of XPath 2.0 and later: in document order and once each, as libxml2 has them."""

import io

import pytest
from lxml import etree

from sssjob import store
from sssjob.query import compile
from sssjob.query.xpath2 import VERSIONS, order, parser

AXES = (
    "child", "descendant", "descendant-or-self", "self", "parent", "ancestor", "ancestor-or-self",
    "following", "preceding", "following-sibling", "preceding-sibling",
)  # fmt: skip
NESTED = (
    b"<r><g i='1'><a i='2'><b i='3'/><a i='4'><b i='5'/><c i='6'/></a><b i='7'/></a><c i='8'/></g>"
    b"<g i='9'><b i='10'/><a i='11'><b i='12'/></a></g><c i='13'/></r>"
)
JOBS = (
    b"<JobGroup><Id>g</Id><Job><Id>1</Id><Memory>4</Memory><User>amy</User></Job>"
    b"<Job><Id>2</Id><Memory>8</Memory><User>bob</User></Job>"
    b"<Job><Id>3</Id><Memory>16</Memory><User>eve</User></Job></JobGroup>"
)
OUT_OF_ORDER = ("//Job//following::Memory", "//Job//following-sibling::*", "//User/preceding::*")


def numbers(found):
    return [each.get("i") if isinstance(each, etree._Element) else str(each) for each in found]


def texts(found):
    return ["".join(each.itertext()) for each in found]


def answer(expression, data, version="3.1"):
    return [match.found for match in compile(expression, {}, version).run(data)]


@pytest.mark.parametrize("start", ["//a", "/r/g", "(//c)[2]", "//a/b"])
@pytest.mark.parametrize("axis", AXES)
def test_nodes_of_each_axis_are_those_of_libxml2_in_their_order(start, axis):
    root = etree.fromstring(NESTED)
    for step in (
        f"/{axis}::*",
        f"//{axis}::*",
        f"/{axis}::*[1]",
        f"/{axis}::*/b",
        f"/{axis}::b/@i",
    ):
        expected = numbers(root.xpath(f"{start}{step}"))
        assert numbers(answer(f"{start}{step}", NESTED)) == expected, step


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("expression", OUT_OF_ORDER)
def test_a_file_a_stream_and_a_store_give_nodes_in_the_same_order(expression, version, tmp_path):
    expected = texts(etree.fromstring(JOBS).xpath(expression))
    path = tmp_path / "jobs.xml"
    path.write_bytes(JOBS)
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        with jobs.change(by="amy") as change:
            change.put(JOBS)
        of_store = [match.text for match in jobs.run(compile(expression, {}, version))]
    for source in (path, io.BytesIO(JOBS), JOBS):
        assert texts(answer(expression, source, version)) == expected
    assert of_store == expected


@pytest.mark.parametrize("expression", OUT_OF_ORDER)
def test_nodes_of_several_documents_come_document_by_document(expression):
    alone = texts(etree.fromstring(JOBS).xpath(expression))
    assert texts(answer(expression, JOBS * 2)) == alone * 2
    assert texts(answer(f"({expression})[position() < 2]", JOBS * 2)) == alone[:1]


def test_values_stand_in_the_order_in_which_they_were_worked_out():
    assert answer("//Job/(3, 1, 2)", JOBS) == [3, 1, 2] * 3


@pytest.mark.parametrize(
    "path, is_kept",
    [
        ("/Jobs/Job/Id", True),
        ("/Jobs/p:Job[User]/Memory/@units", True),
        ("./descendant::Id", True),
        ("/Jobs/Job/descendant::Id", True),
        ("/Jobs/Job/node()/text()", True),
        ("./following-sibling::Job/Id", True),
        ("//Job/Id", False),
        ("Job//Id", False),
        ("Job/following-sibling::Job", False),
        ("Job/..", False),
        ("(Job, Id)/Memory", False),
        ("(Job)/Memory", True),
        ("(Memory * 2)/Id", False),
        ("./ancestor::Job", False),
        ("./ancestor::Job/Id", False),
        ("Job/(Memory, Id)", False),
    ],
)
def test_only_where_steps_may_be_out_of_order_is_sorted(path, is_kept):
    assert order.is_kept(parser.parse(path, {"p": "urn:p"}, "3.1")) == is_kept
