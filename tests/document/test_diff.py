"""Differences of job objects: what they say counts, how they say it does not."""
# ruff: noqa: E501 (a row of a table is a line)

from fractions import Fraction

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from strategies import ANY

from sssjob import units
from sssjob.document import from_tree, loads
from sssjob.document.bundle import MessageFile
from sssjob.document.diff import Difference, OfFile, diff, differences
from sssjob.model import Block, Delivered, Property, Requested


def job(text):
    return loads(f"<Job>{text}</Job>")


def found(left, right, **options):
    return [tuple(each) for each in diff(job(left), job(right), **options)]


# fmt: off
SAME = [
    pytest.param("<Id>1</Id><User>a</User>", "<User>a</User><JobId> 1 </JobId>", id="order and older names"),
    pytest.param('<Memory units="GB">2</Memory>', "<Memory>2048</Memory>", id="units"),
    pytest.param('<Dependency condition="OnSuccess">b</Dependency>', "<Dependency>b</Dependency>", id="defaults"),
    pytest.param("<Hold>User</Hold><Hold>System</Hold>", "<Hold>System</Hold><Hold>User</Hold>", id="holds"),
    pytest.param("<Requested><User>a</User><Queue>q</Queue></Requested>",
                 '<Requested><Queue>q</Queue><User conj="And" op="EQ">a</User></Requested>', id="requests"),
    pytest.param("<Requested/>", "", id="nothing requested"),
    pytest.param("<!-- c -->", "", id="comments"),
    pytest.param('<x:Mood xmlns:x="urn:x"/>', '<y:Mood xmlns:y="urn:x"/>', id="prefixes"),
]

DIFFERENT = [
    #            left, right, the differences
    pytest.param("<User>a</User>", "<User>b</User>", [("/Job/User", "a", "b")], id="a property"),
    pytest.param("<User>a</User>", "", [("/Job/User", "a", None)], id="one that is missing"),
    pytest.param('<Memory units="GB">2</Memory>', "<Memory>512</Memory>", [("/Job/Memory", "2 GB", "512 MB")],
                 id="amounts with their units"),
    pytest.param("<Id>1</Id>", '<Id mood="x">1</Id>', [("/Job/Id/@mood", None, "x")], id="an attribute"),
    pytest.param("<Requested/>", '<Requested awarenessPolicy="Warn"/>',
                 [("/Job/Requested/@awarenessPolicy", None, "Warn")], id="a policy"),
    pytest.param('<ResourceLimit name="cpu" type="Hard">9</ResourceLimit><ResourceLimit name="cpu" type="Soft">8</ResourceLimit>',
                 '<ResourceLimit name="CPUTime" type="Soft">7</ResourceLimit>',
                 [("/Job/ResourceLimit[@name='CPUTime'][@type='Hard']", "9", None),
                  ("/Job/ResourceLimit[@name='CPUTime'][@type='Soft']", "8", "7")], id="limits by name and type"),
    pytest.param('<Environment><Variable name="A">1</Variable></Environment>', "",
                 [("/Job/Environment/Variable[@name='A']", "1", None)], id="variables"),
    pytest.param('<Extension name="it\'s">1</Extension>', "",
                 [('/Job/Extension[@name="it\'s"]', "1", None)], id="a key with a quote"),
    pytest.param('<Delivered><Memory metric="Max">2</Memory><Memory metric="Average">1</Memory></Delivered>',
                 '<Delivered><Memory metric="Max">3</Memory></Delivered>',
                 [("/Job/Delivered/Memory[@metric='Average']", "1 MB", None),
                  ("/Job/Delivered/Memory[@metric='Max']", "2 MB", "3 MB")], id="consumables by metric"),
    pytest.param("""<Extension name="a'b&quot;c'">1</Extension>""", "",
                 [("""/Job/Extension[@name=concat('a', "'", 'b"c', "'", '')]""", "1", None)], id="a key with both quotes"),
    pytest.param("<Hold>User</Hold><Hold>System</Hold>", "<Hold>User</Hold>",
                 [("/Job/Hold[1]", "System", None)], id="one of several"),
    pytest.param('<Dependency>b</Dependency>', '<Dependency condition="OnExit">b</Dependency>',
                 [("/Job/Dependency/@condition", None, "OnExit")], id="a condition"),
    pytest.param('<Delivered><User group="1">a</User><Queue group="-1">q</Queue></Delivered>',
                 '<Delivered><Queue group="1">q</Queue><User group="-1">a</User></Delivered>',
                 [("/Job/Delivered/*[1]", 'User a group="1"', 'Queue q group="1"'),
                  ("/Job/Delivered/*[2]", 'Queue q group="-1"', 'User a group="-1"')], id="bags by position"),
    pytest.param("<TaskGroup><Name>m</Name></TaskGroup>", "<TaskGroup><Name>s</Name></TaskGroup>",
                 [("/Job/TaskGroup[Name='m']", "TaskGroup m", None), ("/Job/TaskGroup[Name='s']", None, "TaskGroup s")],
                 id="task groups by name"),
    pytest.param("<TaskGroup><TaskCount>1</TaskCount></TaskGroup>", "<TaskGroup><TaskCount>2</TaskCount></TaskGroup>",
                 [("/Job/TaskGroup/TaskCount", "1", "2")], id="task groups by position"),
    pytest.param("<Mood><b>1</b></Mood>", "<Mood><b>2</b></Mood>", [("/Job/Mood/b", "1", "2")], id="inside strangers"),
    # Requests, part by part
    pytest.param('<Requested><Processors op="GE">8</Processors><Memory>512</Memory></Requested>',
                 '<Requested><Memory>1024</Memory><Processors op="GE">8</Processors></Requested>',
                 [("/Job/Requested/Memory", "Memory EQ 512 MB", "Memory EQ 1 GB")], id="one part of a request"),
    pytest.param('<Requested><User>a</User><User conj="Or">b</User></Requested>', "<Requested><User>a</User></Requested>",
                 [("/Job/Requested/User", "(User EQ a Or User EQ b)", "User EQ a")], id="alternatives"),
    pytest.param('<Requested><Memory units="GB" preference="1">2</Memory></Requested>', "",
                 [("/Job/Requested/Memory", "OneOf(Memory EQ 2 GB: 1)", None)], id="one of several, with its unit"),
    pytest.param('<Requested><Memory units="GB" preference="-1">2</Memory></Requested>', "",
                 [("/Job/Requested/Memory", "Wish(Memory EQ 2 GB: 1)", None)], id="a wish, with its unit"),
    pytest.param('<Requested><Resource name="x" type="t">3</Resource></Requested>',
                 '<Requested><Resource name="x" type="u">3</Resource></Requested>',
                 [("/Job/Requested/Resource", "Resource[name='x' type='t'] EQ 3", None),
                  ("/Job/Requested/Resource", None, "Resource[name='x' type='u'] EQ 3")], id="resources by name and type"),
    pytest.param('<Requested><Processors>8</Processors></Requested>', "",
                 [("/Job/Requested/Processors", "Processors EQ 8", None)], id="a request and none"),
    pytest.param('<Requested><Memory dynamic="true">8</Memory></Requested>', "<Requested><Memory>8</Memory></Requested>",
                 [("/Job/Requested/Memory", 'Memory EQ 8 MB dynamic="true"', "Memory EQ 8 MB")], id="attributes of a request"),
    pytest.param('<Requested><User group="1">a</User></Requested>', "<Requested><User>a</User></Requested>",
                 [("/Job/Requested/*[1]/@group", "1", None)], id="a request that cannot be read"),
    pytest.param("x<TaskGroup><Id>1</Id></TaskGroup>", "y<TaskGroup><Id>2</Id></TaskGroup>",
                 [("/Job/TaskGroup[Id='1']", "TaskGroup 1", None), ("/Job/TaskGroup[Id='2']", None, "TaskGroup 2"),
                  ("/Job/text()", "x", "y")], id="text behind what is inside"),
]

STRICT = [
    pytest.param("<Memory>1024</Memory>", '<Memory units="GB">1</Memory>', [("/Job/Memory", "1024", "1 GB")], id="units"),
    pytest.param("<Id>1</Id><User>a</User>", "<User>a</User><Id>1</Id>", [("/Job/*", "Id, User", "User, Id")], id="order"),
    pytest.param("<Id> 1</Id>", "<Id>1</Id>", [("/Job/Id", " 1", "1")], id="white space"),
    pytest.param("<Dependency>b</Dependency>", '<Dependency condition="OnSuccess">b</Dependency>',
                 [("/Job/Dependency/@condition", None, "OnSuccess")], id="defaults"),
    pytest.param('<Requested><User>a</User></Requested>', '<Requested><User op="EQ">a</User></Requested>',
                 [("/Job/Requested/*[1]/@op", None, "EQ")], id="requests"),
]
# fmt: on


@pytest.mark.parametrize("left, right", SAME)
def test_how_it_is_said_makes_no_difference(left, right):
    assert found(left, right) == []


@pytest.mark.parametrize("left, right, expected", DIFFERENT)
def test_what_is_said_differently_is_told_with_its_path(left, right, expected):
    assert found(left, right) == expected
    assert found(right, left) == [(path, other, one) for path, one, other in expected]


@pytest.mark.parametrize("left, right, expected", STRICT)
def test_strictly_the_spelling_counts(left, right, expected):
    assert found(left, right) == []
    assert found(left, right, strict=True) == expected


def test_another_kind_of_object_is_one_difference():
    assert list(diff(job("<Id>1</Id>"), loads("<JobGroup><Id>g</Id></JobGroup>"))) == [
        Difference("/", "Job 1", "JobGroup g")
    ]


def test_effective_values_are_compared_for_who_asks():
    one = loads(
        "<JobGroup><JobDefaults><User>a</User></JobDefaults><Job><Id>1</Id></Job></JobGroup>"
    )
    other = loads("<JobGroup><Job><Id>1</Id><User>a</User></Job></JobGroup>")
    assert list(diff(one, other, effective=True)) == []
    assert [each.path for each in diff(one, other)] == [
        "/JobGroup/JobDefaults",
        "/JobGroup/Job[Id='1']/User",
    ]


def jobs(*ids):
    return [job(f"<Id>{each}</Id><User>u{each}</User>") for each in ids]


def test_many_jobs_are_matched_by_id():
    left, right = jobs(1, 2, 3), jobs(3, 1, 4)
    right[0] = job("<Id>3</Id><User>other</User>")
    assert list(differences(left, right)) == [
        Difference("/Job[Id='3']/User", "u3", "other"),
        Difference("/Job[Id='2']", "Job 2", None),
        Difference("/Job[Id='4']", None, "Job 4"),
    ]


def test_a_single_job_is_compared_with_a_single_other_one():
    assert [each.path for each in differences(jobs(1), jobs(2))] == ["/Job/Id", "/Job/User"]


def held(**contents):
    """Which Files each job names: by its Id, those of an id one behind the other."""
    return lambda block: [MessageFile(id_, text) for id_, text in contents.get(block.id, ())]


def test_files_of_jobs_are_compared_by_their_ids_and_places():
    one, other = jobs("a", "b")
    files = held(
        a=[("in", b"1"), ("in", b"2"), ("same", b"x"), ("gone", b"g")],
        b=[("in", b"1"), ("in", b"3"), ("same", b"x"), ("new", b"\xff")],
    )
    found = [each for each in differences([one], [other], files=files) if type(each) is OfFile]
    assert found == [
        ("//File[@id='in'][2]", "2", "3"),
        ("//File[@id='gone']", "g", None),
        ("//File[@id='new']", None, "\ufffd"),
    ]


def test_files_of_several_jobs_are_compared_with_those_of_their_match():
    left, right = jobs("a", "b"), jobs("b", "c")
    texts = {id(left[0]): b"1", id(left[1]): b"2", id(right[0]): b"3", id(right[1]): b"4"}
    found = differences(left, right, files=lambda one: [MessageFile("f", texts[id(one)])])
    assert [each for each in found if type(each) is OfFile] == [
        ("/*[//Job[Id='b']]//File[@id='f']", "2", "3"),
        ("/*[//Job[Id='a']]//File[@id='f']", "1", None),
        ("/*[//Job[Id='c']]//File[@id='f']", None, "4"),
    ]


def test_files_that_several_jobs_name_are_compared_once():
    one, other = MessageFile("f", b"1"), MessageFile("f", b"2")
    left, right = jobs("a", "b"), jobs("a", "b")
    mine = {id(each) for each in left}
    found = differences(left, right, files=lambda job: [one if id(job) in mine else other])
    assert [*found] == [("/*[//Job[Id='a']]//File[@id='f']", "1", "2")]


def test_very_many_jobs_without_ids_are_matched_in_linear_time():
    group = loads(
        "<JobGroup>"
        + "".join(f"<Job><User>{n}</User></Job>" for n in range(20_000))
        + "</JobGroup>"
    )
    turned = group.holding(reversed(group.items))
    assert list(diff(group, turned)) == []


def respelled(block, random_):
    """The same job, said in another way: order where it means nothing, and units."""
    items = [
        respelled(item, random_) if isinstance(item, Block) else in_other_units(item)
        for item in block.items
    ]
    names = [getattr(item, "name", "") for item in items]
    if not isinstance(block, Requested | Delivered) and len(set(names)) == len(names):
        random_.shuffle(items)
    return type(block)(tuple(items), block.attributes, block.namespace)


def in_other_units(item):
    if type(item) is not Property or item.name not in units.DEFAULT_UNITS:
        return item
    try:
        size = item.bytes
    except ValueError:
        return item
    text = units.decimal(Fraction(size) / units.UNITS["KB"])
    return Property(
        item.name, f" {text} ", {**item.attributes, "units": "KB"}, item.children, item.namespace
    )


@examples(75)
@given(ANY, ANY)
def test_swapped_sides_give_swapped_differences(left, right):
    one, other = from_tree(left), from_tree(right)
    for strict in (False, True):
        forth = [(each.path, each.left, each.right) for each in diff(one, other, strict=strict)]
        back = [(each.path, each.right, each.left) for each in diff(other, one, strict=strict)]
        assert back == forth


@examples(75)
@given(ANY)
def test_nothing_differs_from_itself(element):
    block = from_tree(element)
    for strict in (False, True):
        assert list(diff(block, block, strict=strict)) == []


@examples(100)
@given(ANY, st.randoms(use_true_random=False))
def test_order_and_units_make_no_difference_in_any_document(element, random_):
    block = from_tree(element)
    assert list(diff(block, respelled(block, random_))) == []
