"""awarenessPolicy: what is not understood, by which policy, and what follows from it."""

import pytest
from counting import calls
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from strategies import documents, policed

from sssjob import spec
from sssjob.check import awareness
from sssjob.check.awareness import AwarenessPolicy, items, judge
from sssjob.check.findings import check
from sssjob.check.vocabulary import (
    CHARGE,
    FULL,
    LEVELS,
    Vocabulary,
    attribute_level,
    differences,
    element_level,
    of_level,
)
from sssjob.document import dumps, from_tree, loads
from sssjob.errors import Severity

EXAMPLE = """<Job awarenessPolicy="Ignore"><Id>1</Id><Colour>red</Colour>
 <Requested awarenessPolicy="Warn"><Processors op="APPROX">4</Processors>
  <Memory weight="3">2</Memory><GPU awarenessPolicy="Reject">2</GPU></Requested>
 <Dependency condition="OnMoon" awarenessPolicy="Reject">7</Dependency><Environment mood="x"/></Job>
"""
TABLE = [
    ("/Job/Colour", 1, "element", "Colour", "Ignore"),
    ("/Job/Requested/Processors/@op", 2, "value", "APPROX", "Warn"),
    ("/Job/Requested/Memory/@weight", 3, "attribute", "weight", "Warn"),
    ("/Job/Requested/GPU", 3, "element", "GPU", "Reject"),
    ("/Job/Dependency/@condition", 4, "value", "OnMoon", "Reject"),
    ("/Job/Environment/@mood", 4, "attribute", "mood", "Ignore"),
]


def found(text, vocabulary=FULL):
    """Path, kind, what and policy of each item."""
    return [
        (item.path, item.kind.value, item.what, item.policy.value)
        for item in items(etree.fromstring(text), vocabulary)
    ]


def test_the_example_of_rule_7_gives_exactly_its_table():
    rows = [
        (item.path, item.line, item.kind.value, item.what, item.policy.value)
        for item in items(etree.fromstring(EXAMPLE))
    ]
    assert rows == TABLE


def test_the_example_fails_naming_what_it_rejects_with_the_warnings_beside():
    outcome = judge(items(etree.fromstring(EXAMPLE)))
    assert not outcome.accepted
    assert [item.what for item in outcome.reject] == ["GPU", "OnMoon"]
    assert [item.what for item in outcome.warn] == ["APPROX", "weight"]
    assert [item.what for item in outcome.ignore] == ["Colour", "mood"]


def test_a_job_read_into_a_value_has_the_same_items_on_the_same_lines():
    assert list(items(loads(EXAMPLE))) == list(items(etree.fromstring(EXAMPLE)))


FOREIGN = "xmlns:x='urn:x'"
EFFECTIVE = [
    pytest.param("<Job><A/></Job>", [("/Job/A", "Reject")], id="7.1 nothing stated"),
    pytest.param(
        "<Job awarenessPolicy='Warn'><A/></Job>", [("/Job/A", "Warn")], id="7.1 of the parent"
    ),
    pytest.param(
        "<JobGroup awarenessPolicy='Ignore'><Job><Requested><A/></Requested></Job></JobGroup>",
        [("/JobGroup/Job/Requested/A", "Ignore")],
        id="7.1 of the group, from afar",
    ),
    pytest.param(
        "<JobGroup awarenessPolicy='Ignore'><Job awarenessPolicy='Warn'><A/></Job><B/></JobGroup>",
        [("/JobGroup/Job/A", "Warn"), ("/JobGroup/B", "Ignore")],
        id="7.1 the inner one overrides",
    ),
    pytest.param(
        "<JobGroup><JobDefaults awarenessPolicy='Warn'><A/></JobDefaults><Job><A/></Job>"
        "</JobGroup>",
        [("/JobGroup/JobDefaults/A", "Warn"), ("/JobGroup/Job/A", "Reject")],
        id="1.9 of JobDefaults, where it is written only",
    ),
    pytest.param(
        "<Job><Dependency code='1'>a</Dependency><Dependency condition='OnFailure' code='1' "
        "awarenessPolicy='Warn'>b</Dependency>"
        "<Dependency condition='OnExit' code='1'>c</Dependency></Job>",
        [("/Job/Dependency[1]/@code", "Reject"), ("/Job/Dependency[2]/@code", "Warn")],
        id="6.2 a code without OnExit",
    ),
    pytest.param(
        "<Job><A awarenessPolicy='Ignore'/></Job>",
        [("/Job/A", "Ignore")],
        id="7.1 of the unknown element",
    ),
    pytest.param(
        "<Job awarenessPolicy='Ignore'><Id awarenessPolicy='Warn' a='1'>1</Id></Job>",
        [("/Job/Id/@a", "Warn")],
        id="7.1 an attribute has that of its element",
    ),
    pytest.param(
        "<Job><Requested><Node a='1' awarenessPolicy='Warn' op='X'>n</Node></Requested></Job>",
        [("/Job/Requested/Node/@a", "Warn"), ("/Job/Requested/Node/@op", "Warn")],
        id="7.1 an attribute before the policy has it, too",
    ),
    pytest.param(
        "<Job><Id a='1'>1</Id></Job>",
        [("/Job/Id/@a", "Reject")],
        id="7 only an Id, with an unknown attribute",
    ),
    pytest.param(
        "<Job awarenessPolicy='ignore'><A/></Job>",
        [("/Job/@awarenessPolicy", "Reject"), ("/Job/A", "Reject")],
        id="7.1 a policy in lower case is none",
    ),
    pytest.param(
        "<JobGroup awarenessPolicy='Ignore'><Job awarenessPolicy='Never'><A/></Job></JobGroup>",
        [("/JobGroup/Job/@awarenessPolicy", "Reject"), ("/JobGroup/Job/A", "Ignore")],
        id="7.1 an illegal policy is always rejected, and none of its own",
    ),
    pytest.param(
        "<Job awarenessPolicy='Ignore'><A awarenessPolicy='ignore'/></Job>",
        [("/Job/A", "Ignore"), ("/Job/A/@awarenessPolicy", "Reject")],
        id="7.1 an illegal policy on an unknown element",
    ),
    pytest.param(
        "<Job awarenessPolicy=' Warn '><A/></Job>",
        [("/Job/A", "Warn")],
        id="0.2 white space around a policy",
    ),
    pytest.param(
        "<Data awarenessPolicy='Warn'><Job><A/></Job></Data>",
        [("/Job/A", "Reject")],
        id="9.0 what is around job objects says nothing of them",
    ),
]
UNDERSTOOD = [
    pytest.param(
        "<Job><A><Memory><B/></Memory><Id x='1'/></A></Job>",
        [("/Job/A", "element", "A")],
        id="7.2 nothing inside an unknown element",
    ),
    pytest.param(
        "<Job><Requested><Id>1</Id></Requested></Job>",
        [("/Job/Requested/Id", "element", "Id")],
        id="7.2 a known element in another parent",
    ),
    pytest.param(
        "<Job><JobDefaults/></Job>",
        [("/Job/JobDefaults", "element", "JobDefaults")],
        id="7.2 a container in another",
    ),
    pytest.param(
        "<Job><Memory op='GE'>1</Memory></Job>",
        [("/Job/Memory/@op", "attribute", "op")],
        id="2.9 op outside a category",
    ),
    pytest.param(
        "<Job><Delivered><Memory op='GE' group='1'>1</Memory></Delivered></Job>",
        [("/Job/Delivered/Memory/@op", "attribute", "op")],
        id="2.9 Delivered has group only",
    ),
    pytest.param(
        "<Job><Requested><Node conj='Xor'>1</Node></Requested></Job>",
        [("/Job/Requested/Node/@conj", "value", "Xor")],
        id="7.2 conj",
    ),
    pytest.param(
        "<Job><Requested><Node op='ge'>1</Node></Requested></Job>",
        [("/Job/Requested/Node/@op", "value", "ge")],
        id="7.2 op counts case",
    ),
    pytest.param(
        "<Job><Dependency designator='Job'>1</Dependency></Job>",
        [("/Job/Dependency/@designator", "value", "Job")],
        id="7.2 designator",
    ),
    pytest.param(
        "<Job><Feature aggregation='Range'>1</Feature></Job>",
        [("/Job/Feature/@aggregation", "value", "Range")],
        id="7.2 aggregation of Feature",
    ),
    pytest.param(
        "<Job><Node aggregation='Range'>n[1]</Node></Job>", [], id="7.2 aggregation of Node"
    ),
    pytest.param(
        "<Job><ResourceLimit name='CPUTime' type='hard'>1</ResourceLimit></Job>",
        [("/Job/ResourceLimit/@type", "value", "hard")],
        id="7.2 ResourceLimit type",
    ),
    pytest.param(
        "<Job><ResourceLimit name='Mood' type='Hard'>1</ResourceLimit></Job>",
        [],
        id="names of limits are open",
    ),
    pytest.param(
        "<Job><TaskDistribution type='Shape'>1</TaskDistribution></Job>",
        [("/Job/TaskDistribution/@type", "value", "Shape")],
        id="7.2 TaskDistribution type",
    ),
    pytest.param(
        "<Job><OutputFile redirectList='Keep, Burn,Merge,Eat'>o</OutputFile></Job>",
        [
            ("/Job/OutputFile/@redirectList", "value", "Burn"),
            ("/Job/OutputFile/@redirectList", "value", "Eat"),
        ],
        id="7.2 each word of a redirectList",
    ),
    pytest.param(
        "<Job><InputFile redirectList='Append'>o</InputFile></Job>",
        [("/Job/InputFile/@redirectList", "value", "Append")],
        id="7.2 redirectList of InputFile",
    ),
    pytest.param(
        "<Job><NotificationList>JobStart,jobend</NotificationList></Job>",
        [("/Job/NotificationList", "value", "jobend")],
        id="7.2 each word of a NotificationList",
    ),
    pytest.param(
        "<Job><Memory units='GX'>1</Memory><Swap units='furlong'>1</Swap>"
        "<Disk units='TB'>1</Disk></Job>",
        [("/Job/Memory/@units", "value", "GX"), ("/Job/Swap/@units", "value", "furlong")],
        id="7.2 units of bytes",
    ),
    pytest.param(
        "<Job><Charge units='USD'>1</Charge>"
        "<Resource name='x' units='furlong' metric='KX'>1</Resource></Job>",
        [],
        id="0.3 open units and metrics",
    ),
    pytest.param(
        "<Job><Memory context='Spare'>1</Memory></Job>",
        [("/Job/Memory/@context", "value", "Spare")],
        id="context",
    ),
    pytest.param(
        "<Job><Memory><A/>1</Memory></Job>",
        [("/Job/Memory/A", "element", "A")],
        id="an element inside a property",
    ),
    pytest.param(
        "<Job><JobId>1</JobId><requestedProcessors>2</requestedProcessors></Job>",
        [],
        id="0.1 older names",
    ),
    pytest.param(
        "<Job><Delivered><CpuDuration>2</CpuDuration></Delivered></Job>",
        [],
        id="CpuDuration is read in Delivered",
    ),
    pytest.param(
        f"<Job {FOREIGN}><x:Memory>1</x:Memory><Id x:a='1'>1</Id></Job>",
        [("/Job/Memory", "element", "{urn:x}Memory"), ("/Job/Id/@a", "attribute", "{urn:x}a")],
        id="12.1 foreign namespaces",
    ),
    pytest.param(
        "<Job xml:lang='en' xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:type='x'>"
        "<Id xml:space='preserve'>1</Id><i:hint/></Job>",
        [],
        id="12.1 xml and xsi",
    ),
    pytest.param(
        f"<s:Job xmlns:s='{spec.NAMESPACE}' {FOREIGN}><s:Id>1</s:Id><Name>n</Name>"
        "<x:Mood awarenessPolicy='Ignore'/></s:Job>",
        [("/Job/Mood", "element", "{urn:x}Mood")],
        id="12.1 namespaces that are ours, mixed",
    ),
    pytest.param(
        "<Queue>1</Queue>", [("/Queue", "element", "Queue")], id="a root that is no job object"
    ),
    pytest.param(
        "<Job><!-- c --><?pi x?><Id>1<!-- c --></Id></Job>", [], id="comments and instructions"
    ),
    pytest.param(
        "<JobGroup><Job a='1'>x</Job></JobGroup>",
        [("/JobGroup/Job/@a", "attribute", "a")],
        id="an attribute of a reference",
    ),
]


@pytest.mark.parametrize("text, expected", EFFECTIVE)
def test_the_effective_policy_is_the_nearest_legal_one(text, expected):
    root = etree.fromstring(text)
    job = root if root.tag != "Data" else root[0]
    assert [(item.path, item.policy.value) for item in items(job)] == expected


@pytest.mark.parametrize("text, expected", UNDERSTOOD)
def test_what_is_not_understood_is_named_and_nothing_else(text, expected):
    assert [row[:3] for row in found(text)] == expected


def test_a_job_that_is_asked_alone_has_the_policy_of_the_group_that_it_stands_in():
    group = etree.fromstring("<JobGroup awarenessPolicy='Warn'><Job><A/></Job></JobGroup>")
    assert [item.policy for item in items(group[0])] == ["Warn"]


def test_one_reject_beats_any_number_of_warnings():
    text = "<Job awarenessPolicy='Warn'><A/><B/><C/>%s</Job>"
    assert judge(items(etree.fromstring(text % ""))).accepted
    assert not judge(items(etree.fromstring(text % "<D awarenessPolicy='Reject'/>"))).accepted


def test_the_text_of_an_element_that_is_not_understood_is_its_value_if_it_holds_no_other():
    text = "<Job><Colour> red\n</Colour><Tree>x<b/></Tree><Size>1<!-- c -->2</Size><Shape/></Job>"
    assert [item.value for item in items(etree.fromstring(text))] == ["red", "", "12", ""]


@pytest.mark.parametrize("text, level", [
    ("<JobGroup/>", "full"), ("<x:Job xmlns:x='urn:x'/>", ""), ("<Queue/>", ""),
])  # fmt: skip
def test_who_does_not_know_the_root_is_told_the_level_that_does(text, level):
    (item,) = items(etree.fromstring(text), of_level("minimal"))
    assert (item.level, item.kind, item.value) == (level, "element", "")


def test_without_awareness_everything_unknown_is_rejected_and_the_attribute_with_it():
    rows = found("<Job awarenessPolicy='Ignore'><A awarenessPolicy='Warn'/></Job>", FULL.unaware())
    assert rows == [
        ("/Job/@awarenessPolicy", "attribute", "awarenessPolicy", "Reject"),
        ("/Job/A", "element", "A", "Reject"),
    ]


def test_what_was_not_understood_is_kept_for_the_way_back():
    text = EXAMPLE.replace("<Job ", "<Job xmlns:x='urn:x' ").replace(
        "<GPU", "<x:Mood x:a='1'/><GPU"
    )
    again = dumps(from_tree(etree.fromstring(text)))
    assert [item[0::2] for item in found(again)] == [item[0::2] for item in found(text)]
    assert list(items(loads(again)))[1].value == "APPROX"


# Profiles: what 13.2 lists, word for word.
MINIMAL = """
    Id State Executable Machine NodeCount StartTime EndTime Duration User Processors
"""
RECOMMENDED = """
    Arguments Charge CpuDuration ExitCode GlobalId Hold InitialWorkingDirectory Interactive Name
    Priority QualityOfService Queue StatusMessage SubmitTime SubmitHost Project GlobalUser Disk
    Memory Resource Feature Environment Node TaskDistribution Dependency Requested Delivered
    OutputFile ErrorFile InputFile NotificationList
"""
CONDITIONAL = [
    ("JobGroup", "Id", "minimal"), ("TaskGroup", "TaskCount", "minimal"),
    ("Task", "Node", "minimal"), ("Job", "TaskCount", "full"),
    ("Delivered", "CpuDuration", "recommended"), ("Requested", "Id", ""), ("Job", "Colour", ""),
    ("Delivered", "Shell", ""), ("Requested", "CpuDuration", ""),
    ("", "Job", "minimal"), ("", "JobGroup", "full"), ("", "Queue", ""),
]  # fmt: skip
ATTRIBUTES = [
    ("Variable", "name", "", "minimal"), ("Dependency", "condition", "", "minimal"),
    ("Memory", "op", "Requested", "recommended"), ("OutputFile", "redirectList", "", "recommended"),
    ("Extension", "type", "", "recommended"), ("Resource", "type", "", "recommended"),
    ("Environment", "export", "", "full"), ("Memory", "units", "", "full"),
    ("Memory", "conj", "Requested", "full"), ("Memory", "colour", "", ""),
]  # fmt: skip


def test_the_levels_of_what_a_job_holds_are_those_of_rule_13_2():
    levels = {
        name: element_level("Job", name)
        for name in (*spec.blocks("Job"), *spec.properties("Job"))
    }  # fmt: skip
    by_level = {level: {name for name in levels if levels[name] == level} for level in LEVELS}
    assert by_level["minimal"] == set(MINIMAL.split())
    assert by_level["recommended"] == set(RECOMMENDED.split())


@pytest.mark.parametrize("container, name, level", CONDITIONAL)
def test_a_level_counts_where_its_container_is_supported(container, name, level):
    assert element_level(container, name) == level


@pytest.mark.parametrize("element, name, category, level", ATTRIBUTES)
def test_attributes_have_levels(element, name, category, level):
    assert attribute_level(element, name, category) == level


@pytest.mark.parametrize("level", LEVELS)
def test_a_profile_understands_what_is_of_its_level_or_below(level):
    reached = LEVELS[: LEVELS.index(level) + 1]
    for container in spec.CONTAINER:
        for name in (*spec.blocks(container), *spec.properties(container)):
            known = element_level(container, name) in reached
            assert of_level(level).has(container, name) == known
    for row in spec.ATTRIBUTES:
        for place in row.on:
            if place.isidentifier():
                known = attribute_level(place, row.name) in reached
                assert of_level(level).has_attribute(place, row.name) == known


def test_the_simple_job_passes_minimal_and_the_moderate_one_needs_full(valid):
    simple, moderate = valid("1.3-very-simple-example"), valid("1.3-moderate-example")
    assert judge(items(simple, of_level("minimal"))).accepted
    assert not judge(items(moderate, of_level("recommended"))).accepted
    assert judge(items(moderate, of_level("full"))).accepted
    levels = {item.what: item.level for item in items(moderate, of_level("recommended"))}
    assert levels == {"Application": "full", "units": "full", "metric": "full"}
    moderate.set("awarenessPolicy", "Warn")
    assert judge(items(moderate, of_level("minimal"))).accepted


@pytest.fixture
def valid(pytestconfig):
    directory = pytestconfig.rootpath / "tests" / "data" / "valid"
    return lambda name: etree.parse(str(directory / f"{name}.xml")).getroot()


def test_differences_between_two_levels_are_rows_of_the_tables():
    names = [row.name for row in differences("minimal", "recommended")]
    assert "Memory" in names
    assert "Requested/*/@op" in names
    assert "Memory/@units" not in names
    assert "Memory/@units" in [row.name for row in differences("recommended")]
    assert list(differences("full")) == []
    every = [row.name for row in differences("minimal")]
    assert {"JobGroup", "TaskGroup", "Requested", "Delivered"} <= {*every}
    assert every.count("Environment") == 1
    both = {*differences("minimal", "recommended"), *differences("recommended", "full")}
    assert set(differences("minimal", "full")) == both


def test_an_operation_that_reads_skips_in_silence_what_it_does_not_need():
    job = etree.fromstring(
        "<Job><Id>1</Id><User>amy</User><Shell>sh</Shell><StartTime>1</StartTime><Colour/>"
        "<Requested><Memory>1</Memory></Requested><Delivered><Memory units='GB'>1</Memory>"
        "</Delivered></Job>"
    )
    all_items = list(items(job, CHARGE))
    assert [item.what for item in all_items] == ["Shell", "Colour", "Requested"]
    assert [item.what for item in judge(all_items, reading=True).reject] == ["Colour"]
    assert [item.what for item in judge(all_items).reject] == ["Shell", "Colour", "Requested"]


def test_a_conversion_states_the_elements_and_attributes_it_has_a_place_for():
    flat = Vocabulary.of("flat", {"Job", "Job/Id", "Memory", "Requested"}, {"Requested/*/op"})
    job = (
        "<Job><Id>1</Id><Memory units='GB'>1</Memory><Requested awarenessPolicy='Warn'>"
        "<Memory op='GE' conj='Or'>1</Memory><Node>n</Node></Requested></Job>"
    )
    assert found(job, flat) == [
        ("/Job/Memory/@units", "attribute", "units", "Reject"),
        ("/Job/Requested/Memory/@conj", "attribute", "conj", "Warn"),
        ("/Job/Requested/Node", "element", "Node", "Warn"),
    ]


# An oracle that knows nothing of the code: it goes from each node upwards.
LEGAL = ("Reject", "Warn", "Ignore")


def policy_upwards(node):
    while node is not None:
        if (stated := (node.get("awarenessPolicy") or "").strip()) in LEGAL:
            return stated
        node = node.getparent()
    return "Reject"


@examples(150)
@given(policed(), st.sampled_from(LEVELS))
def test_every_policy_is_what_is_found_going_upwards(root, level):
    by_path = {}
    for node in root.iter("{*}*"):
        # Names of two namespaces can make one path.
        by_path.setdefault(path_of(node, root), set()).add(policy_upwards(node))
    for item in items(root, of_level(level)):
        policies = by_path[item.path.partition("/@")[0]]
        illegal = item.name == "awarenessPolicy" and item.kind == "value"
        assert item.policy in ({"Reject"} if illegal else policies)


@examples(150)
@given(policed())
def test_a_check_says_as_errors_and_warnings_what_is_rejected_and_warned_of(root):
    outcome = judge(items(root))
    unknown = [item.path for item in (*outcome.reject, *outcome.warn, *outcome.ignore)]
    severities = [
        (Severity.ERROR, outcome.reject), (Severity.WARNING, outcome.warn)
    ]  # fmt: skip
    said = [
        finding for finding in check(root) if finding.code in ("E-UNKNOWN", "E-CATEGORY")
        # A check looks at the attributes of what is known elsewhere, too.
        and not any(finding.path.startswith(f"{path}/") for path in unknown if "@" not in path)
    ]  # fmt: skip
    for severity, expected in severities:
        # A check may say two things of one: where it stands, and what it says.
        paths = {finding.path for finding in said if finding.severity is severity}
        assert paths == {
            item.path for item in expected
            if not any(item.path.startswith(f"{path}/") for path in unknown if "@" not in path)
        }  # fmt: skip


def test_a_check_says_where_an_element_may_not_stand_and_what_its_value_may_not_be():
    text = (
        "<JobDefaults><Delivered><NotificationList>0</NotificationList></Delivered></JobDefaults>"
    )
    found = [*check(etree.fromstring(text))]
    assert [each.code for each in found] == ["E-CATEGORY", "E-UNKNOWN"]
    assert len({each.path for each in found}) == 1


@examples(100)
@given(policed())
def test_a_higher_level_understands_no_less(root):
    low, middle, high = (
        {item.path for item in items(root, of_level(level))} for level in LEVELS
    )  # fmt: skip
    for lower, higher in ((low, middle), (middle, high)):
        assert all(
            any(path == one or path.startswith(f"{one}/") for one in lower) for path in higher
        )


def path_of(node, root):
    steps = []
    while node is not root:
        parent = node.getparent()
        same = [child for child in parent.iterchildren() if child.tag == node.tag]
        name = etree.QName(node).localname
        steps.append(f"{name}[{same.index(node) + 1}]" if len(same) > 1 else name)
        node = parent
    return "/" + "/".join([etree.QName(root).localname, *reversed(steps)])


def test_policies_are_named_as_in_the_text():
    assert [policy.value for policy in AwarenessPolicy] == ["Reject", "Warn", "Ignore"]


def test_a_large_group_takes_linear_time():
    def steps(count):
        job = "<Job><Id>1</Id><Colour/></Job>"
        root = etree.fromstring(f"<JobGroup><Id>g</Id>{job * count}</JobGroup>")
        return calls(lambda: [None for _ in items(root)])

    steps(100)  # what is made once and kept
    assert steps(4_000) < 2.1 * steps(2_000)


@given(documents(("Job",)))
def test_a_block_that_is_known_to_be_understood_is_one_in_which_nothing_is_found(tree):
    block = from_tree(etree.fromstring(etree.tostring(tree)))
    if awareness._is_plain(block):
        root = awareness._tree(block)
        search = awareness._UnknownSearch(root, awareness.FULL, 0)
        assert list(search._container(root, "Job", awareness.AwarenessPolicy.REJECT)) == []
