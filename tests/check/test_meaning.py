"""What values say together, placed in the tree that they came from."""

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sssjob import layout, nodes
from sssjob.check.findings import check
from sssjob.check.meaning import is_silent
from sssjob.check.sources import check_source
from sssjob.document import from_tree

CODES = {"E-COUNTS", "E-UNSAT", "E-OP", "E-TYPE", "E-LIMIT", "W-USELESS", "W-TYPE"}


def found(text):
    return [
        (fault.code, fault.line, fault.path)
        for fault in check_source(text.encode())
        if fault.code in CODES
    ]


def job(*lines):
    return "\n".join(("<Job><Id>1</Id><Duration>60</Duration>", *lines, "</Job>"))


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param(
            job("<TaskCount>4</TaskCount>", "<Requested><Processors>13</Processors></Requested>"),
            [("E-COUNTS", 3, "/Job/Requested/Processors")], id="counts",
        ),
        pytest.param(
            job("<Requested>", '<Processors op="GE">13</Processors>',
                '<Processors op="LE">14</Processors></Requested>', "<TaskCount>4</TaskCount>"),
            [("E-COUNTS", 3, "/Job/Requested/Processors[1]")], id="one of two",
        ),
        pytest.param(
            job("<TaskDistribution>{2,4}</TaskDistribution>"),
            [("E-COUNTS", 2, "/Job/TaskDistribution")], id="geometry",
        ),
        pytest.param(
            job("<NodeCount>3</NodeCount>", "<TaskGroup><TaskCount>2</TaskCount></TaskGroup>"),
            [("E-COUNTS", 2, "/Job/NodeCount")], id="lent by the job",
        ),
        pytest.param(
            "<JobGroup><Id>g</Id><JobDefaults>\n<TaskCount>2</TaskCount>\n<Requested>\n"
            "<NodeCount>3</NodeCount></Requested></JobDefaults>\n"
            "<Job><Id>1</Id><Duration>1</Duration></Job></JobGroup>",
            [("E-COUNTS", 4, "/JobGroup/JobDefaults/Requested/NodeCount")], id="inherited",
        ),
        pytest.param(
            job("<Requested>", "<Node>a</Node>",
                '<Node aggregation="Range" count="3">n[1-2]</Node></Requested>'),
            [("E-UNSAT", 4, "/Job/Requested/Node[2]/@count")], id="names",
        ),
        pytest.param(
            job("<Requested><requestedNodes>2</requestedNodes></Requested>",
                "<requestedProcessors>1</requestedProcessors>"),
            [("E-COUNTS", 2, "/Job/Requested/requestedNodes")], id="older names",
        ),
        pytest.param(
            job('<Delivered><Node aggregation="Pattern">n.*</Node></Delivered>'),
            [("E-OP", 2, "/Job/Delivered/Node/@aggregation")], id="delivered pattern",
        ),
        pytest.param(
            job("<Delivered><Processors>1</Processors><NodeCount>2</NodeCount></Delivered>"), [],
            id="what was delivered is what it is",
        ),
        pytest.param(
            job('<Mood awarenessPolicy="Ignore"><Node aggregation="Range">n[</Node></Mood>'), [],
            id="what is inside the unknown",
        ),
    ],
)  # fmt: skip
def test_findings_are_placed_where_the_value_was_written(text, expected):
    assert found(text) == expected


def test_lines_count_from_the_start_of_the_source():
    text = job("<TaskDistribution>{2}</TaskDistribution>").replace("\n", "")
    assert [line for _, line, _ in found(f"<Job>a</Job>\n{text}\n{text}\n")] == [2, 3]


@st.composite
def counts(draw, inside=()):
    """Some counts with operations, in Requested, Delivered or none."""
    names = st.sampled_from(["NodeCount", "Processors", "NodeCount", "Processors", *inside])
    attributes = st.sampled_from([{}, {}, {"op": "GE"}, {"op": "LE"}, {"op": "LT"}, {"conj": "Or"}])
    node = etree.Element(draw(st.sampled_from(["Requested", "Requested", "Delivered", "own"])))
    for name in draw(st.lists(names, max_size=3, unique=node.tag == "own")):
        carried = draw(attributes) if node.tag == "Requested" else {}
        etree.SubElement(node, name, carried).text = str(draw(st.integers(0, 4)))
    return list(node) if node.tag == "own" else [node] if len(node) else []


@st.composite
def jobs(draw):
    root = etree.Element("JobGroup")
    for name in draw(
        st.lists(st.sampled_from(["Job", "Job", "JobDefaults"]), min_size=1, max_size=2)
    ):
        holder = etree.SubElement(root, name)
        holder.extend(draw(counts()))
        for _ in range(draw(st.integers(0, 2))):
            group = etree.SubElement(holder, "TaskGroup")
            group.extend(draw(counts()))
            group.extend(draw(counts()))
    return root


@examples(100)
@given(jobs())
def test_of_what_is_silent_nothing_can_be_said(root):
    if is_silent(root):
        block = from_tree(root)
        assert [*layout.check(block), *nodes.check(block)] == []


@examples(100)
@given(jobs())
def test_a_finding_leads_to_one_element(root):
    tree = etree.fromstring(etree.tostring(root, pretty_print=True))
    for fault in check(tree):
        assert len(tree.getroottree().xpath(fault.path)) == 1


def test_many_contradictions_are_found_in_time_that_grows_with_their_number():
    one = "<Job><Id>{}</Id><Duration>1</Duration><NodeCount>3</NodeCount></Job>"
    inner = "".join(map(one.format, range(2000)))
    text = (
        f"<JobGroup><Id>g</Id><JobDefaults><TaskCount>2</TaskCount></JobDefaults>{inner}</JobGroup>"
    )
    assert len(found(text)) == 2000
