"""What values say together, placed in the tree that they came from."""
# ruff: noqa: E501 (a row of a table is a line)

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sssjob import layout, nodes
from sssjob.check import meaning
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
            "<Data>" + job('<Delivered><Node aggregation="Pattern">n.*</Node></Delivered>') + "</Data>",
            [("E-OP", 2, "/Job/Delivered/Node/@aggregation")], id="in a wrapper",
        ),
        pytest.param(
            job("<Delivered><Processors>1</Processors><NodeCount>2</NodeCount></Delivered>"), [],
            id="what was delivered is what it is",
        ),
        pytest.param(
            job('<Mood awarenessPolicy="Ignore"><Node aggregation="Range">n[</Node></Mood>'), [],
            id="what is inside the unknown",
        ),
        pytest.param(
            job('<x:Node xmlns:x="urn:x" aggregation="Range" awarenessPolicy="Ignore">n[</x:Node>'), [],
            id="a name of another namespace",
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


# What stands in a job, and whether it is certain without values that it contradicts nothing.
SETTLED = [
    ("<NodeCount>2</NodeCount>", True),
    ("<Processors>2</Processors>", True),
    ("<NodeCount>2</NodeCount><Processors>2</Processors>", True),
    ("<NodeCount>3</NodeCount><Processors>2</Processors>", False),
    ("<NodeCount>2</NodeCount><Requested><Processors>2</Processors></Requested>", True),
    ("<NodeCount>3</NodeCount><Requested><Processors>2</Processors></Requested>", False),
    ("<NodeCount>3</NodeCount><Delivered><Processors>2</Processors></Delivered>", True),
    ("<Delivered><NodeCount>3</NodeCount><Processors>2</Processors></Delivered>", True),
    ("<requestedNodes>2</requestedNodes><requestedProcessors>4</requestedProcessors>", True),
    ("<requestedNodes>5</requestedNodes><requestedProcessors>4</requestedProcessors>", False),
    ("<Requested><NodeCount>0</NodeCount><Processors>0</Processors></Requested>", False),
    ("<Requested><NodeCount>0</NodeCount><Processors>1</Processors></Requested>", False),
    ("<Requested><NodeCount>1</NodeCount><Processors>0</Processors></Requested>", False),
    ("<Requested><NodeCount>2</NodeCount><Processors>x</Processors></Requested>", False),
    ("<Requested><NodeCount>x</NodeCount><Processors>2</Processors></Requested>", False),
    ("<Requested><NodeCount>2</NodeCount><Processors/></Requested>", False),
    ("<Requested><NodeCount op='GE'>2</NodeCount><Processors op='EQ'>4</Processors></Requested>", True),
    ("<Requested><NodeCount op='LE'>2</NodeCount><Processors>4</Processors></Requested>", True),
    ("<Requested><NodeCount op='LT'>2</NodeCount><Processors>4</Processors></Requested>", False),
    ("<Requested><NodeCount>2</NodeCount><Processors op='NE'>4</Processors></Requested>", False),
    ("<Requested><NodeCount>2</NodeCount><Processors>4</Processors><User conj='And'>a</User></Requested>",
     False),
    ("<Requested><NodeCount>2</NodeCount><Processors>4</Processors><User group='0'>a</User></Requested>",
     False),
    ("<NodeCount>2</NodeCount><TaskGroup><NodeCount>3</NodeCount><Processors>3</Processors></TaskGroup>",
     True),
    ("<NodeCount>4</NodeCount><TaskGroup><NodeCount>2</NodeCount><Processors>3</Processors></TaskGroup>",
     False),
    ("<Processors>1</Processors><TaskGroup><Id>t</Id></TaskGroup>", True),
    ("<Processors>2</Processors><TaskGroup><Processors>2</Processors></TaskGroup>", False),
    ("<Node>a</Node>", True),
    ("<Node>a</Node><Delivered><Node>b</Node><Node>c</Node></Delivered>", True),
    ("<Node>a</Node><TaskGroup><Node>b</Node></TaskGroup>", False),
    ("<Feature>a</Feature><TaskGroup><Feature>b</Feature></TaskGroup>", True),
    ("<Feature aggregation='List'>b</Feature>", False),
    ("<Feature delimiter=','>b</Feature>", False),
    ("<Delivered><Node aggregation='List'>b</Node></Delivered>", False),
    ("<TaskCount>1</TaskCount>", False),
    ("<TaskDistribution>Block</TaskDistribution>", False),
    ("<TaskGroup><Task><Id>1</Id></Task></TaskGroup>", False),
    # What is compared in a request
    ("<Requested><User>a</User><Queue>b</Queue><!-- c --></Requested>", True),
    ("<Requested><User>a</User><User>b</User></Requested>", False),
    ("<Requested><User>a</User></Requested><Requested><User>b</User></Requested>", True),
    ("<Requested><!-- c --><User>a</User><User>b</User></Requested>", False),
    ("<Requested><User op='NE'>a</User></Requested>", True),
    ("<Requested><User op='Match'>a</User></Requested>", False),
    ("<Requested><User conj='And'>a</User></Requested>", False),
    ("<Requested><User group='0'>a</User></Requested>", False),
    ("<Requested><User aggregation='List'>a</User></Requested>", False),
    ("<Requested><Node op='EQ'>a</Node></Requested>", True),
    ("<Requested><Node op='NE'>a</Node></Requested>", True),
    ("<Requested><Node op='GE'>a</Node></Requested>", False),
    ("<Requested><Feature op='LT'>a</Feature></Requested>", False),
    *((f"<Requested><Memory op='{op}'>1</Memory></Requested>", True)
      for op in ("EQ", "NE", "GE", "LE", "GT", "LT")),
    ("<Requested><Memory op='XX'>1</Memory></Requested>", False),
    ("<Requested><Memory op='GE'>1</Memory><Memory op='LE'>2</Memory></Requested>", True),
    ("<Requested><Memory op='GE'>2</Memory><Memory op='LE'>2</Memory></Requested>", True),
    ("<Requested><Memory op='GE'>3</Memory><Memory op='LE'>2</Memory></Requested>", False),
    ("<Requested><Memory op='LE'>3</Memory><Memory op='GE'>2</Memory></Requested>", False),
    ("<Requested><Memory op='GE'>1</Memory><Memory op='LT'>2</Memory></Requested>", False),
    ("<Requested><Memory op='GT'>1</Memory><Memory op='LE'>2</Memory></Requested>", False),
    ("<Requested><Memory op='GE'>1</Memory><Memory op='LE'>x</Memory></Requested>", False),
    ("<Requested><Memory op='GE' units='GB'>1</Memory><Memory op='LE' units='GB'>2</Memory></Requested>",
     True),
    ("<Requested><Memory op='GE' units='KB'>1</Memory><Memory op='LE' units='MB'>2</Memory></Requested>",
     False),
    ("<Requested><Processors op='GE'>1</Processors>"
     "<requestedProcessors op='LE'>2</requestedProcessors></Requested>", True),
    ("<Requested><Processors op='GE'>3</Processors>"
     "<requestedProcessors op='LE'>2</requestedProcessors></Requested>", False),
]  # fmt: skip


@pytest.mark.parametrize("inside, settled", SETTLED)
def test_what_agrees_at_a_look_is_not_asked_for_its_values(inside, settled):
    root = etree.fromstring(f"<Job><Id>1</Id><Duration>1</Duration>{inside}</Job>")
    assert is_silent(root) == settled
    assert not settled or {fault.code for fault in check(root)} <= {"I-ALIAS", "I-UNIT"}


@pytest.mark.parametrize("more", ["conj='Or'", "group='0'"])
def test_counts_in_groups_and_conjunctions_are_asked_for_their_values(more):
    counts = "<NodeCount>2</NodeCount><Processors>4</Processors>"
    root = etree.fromstring(f"<Job><Requested>{counts}<User {more}>a</User></Requested></Job>")
    assert not meaning._is_settled(root)


PLACED = [
    pytest.param(
        "<JobGroup><Id>g</Id>\n<Job><Id>1</Id><Duration>1</Duration><TaskCount>2</TaskCount>\n"
        "<Requested><NodeCount>3</NodeCount></Requested></Job>\n"
        "<Job><Id>2</Id><Duration>1</Duration><TaskCount>2</TaskCount>\n"
        "<Requested><NodeCount>3</NodeCount></Requested></Job></JobGroup>",
        [("E-COUNTS", 3, "/JobGroup/Job[1]/Requested/NodeCount"),
         ("E-COUNTS", 5, "/JobGroup/Job[2]/Requested/NodeCount")], id="of each of two jobs",
    ),
    pytest.param(
        job("<TaskGroup><TaskCount>2</TaskCount>", "<NodeCount>3</NodeCount></TaskGroup>"),
        [("E-COUNTS", 3, "/Job/TaskGroup/NodeCount")], id="of a task group",
    ),
    pytest.param(
        job("<TaskGroupDefaults>", "<TaskCount>2</TaskCount>", "<NodeCount>3</NodeCount></TaskGroupDefaults>",
            "<TaskGroup><Id>t</Id></TaskGroup>"),
        [("E-COUNTS", 4, "/Job/TaskGroupDefaults/NodeCount")], id="of defaults of task groups",
    ),
    pytest.param(
        "<JobGroup><Id>g</Id><JobDefaults>\n<requestedNodes>3</requestedNodes></JobDefaults>\n"
        "<Job><Id>1</Id><Duration>1</Duration><TaskCount>2</TaskCount></Job></JobGroup>",
        [("E-COUNTS", 2, "/JobGroup/JobDefaults/requestedNodes")], id="inherited by an older name",
    ),
]  # fmt: skip


@pytest.mark.parametrize("text, expected", PLACED)
def test_a_contradiction_is_told_where_its_count_was_written(text, expected):
    assert found(text) == expected


def test_what_has_no_line_is_told_of_the_block_that_has_it():
    root = etree.Element("JobGroup")
    for parent, name, text in (
        ("", "Id", "g"), ("JobDefaults", "TaskCount", "2"), ("JobDefaults", "NodeCount", "3"),
        ("Job", "Id", "1"), ("Job", "Duration", "5"), ("Job", "Dependency", " "),
    ):  # fmt: skip
        around = root if not parent else root.find(parent)
        if around is None:
            around = etree.SubElement(root, parent)
        etree.SubElement(around, name).text = text
    assert [(fault.code, fault.line, fault.path) for fault in check(root, offset=7)] == [
        ("E-COUNTS", 0, "/JobGroup/Job"), ("W-USELESS", 0, "/JobGroup/Job/Dependency"),
    ]  # fmt: skip


def test_many_contradictions_are_found_in_time_that_grows_with_their_number():
    one = "<Job><Id>{}</Id><Duration>1</Duration><NodeCount>3</NodeCount></Job>"
    inner = "".join(map(one.format, range(2000)))
    text = (
        f"<JobGroup><Id>g</Id><JobDefaults><TaskCount>2</TaskCount></JobDefaults>{inner}</JobGroup>"
    )
    assert len(found(text)) == 2000
