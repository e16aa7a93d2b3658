"""What the grammar lets pass is what the walk has nothing to say about."""
# ruff: noqa: E501 (a row of a table is a line)

from pathlib import Path

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from strategies import documents, mutants

from sssjob import spec
from sssjob.check import accept
from sssjob.check.accept import Acceptor
from sssjob.check.findings import check
from sssjob.check.sources import check_source
from sssjob.conformance.cases import sections
from sssjob.document.tree import units

DATA = Path(__file__).parents[1] / "data"
VALID = sorted((DATA / "valid").glob("*.xml"))
INVALID = sorted((DATA / "invalid").glob("*.xml"))
CASES = [case for section in sections() for case in section.cases if case.document]
JOBS = ("Job", "JobGroup")


@pytest.fixture(autouse=True)
def _from_the_first_document_on(monkeypatch):
    monkeypatch.setattr(accept, "_WORTH_A_GRAMMAR", 0)


@examples(80)
@given(st.one_of(documents(JOBS), mutants(JOBS)), st.sampled_from([(), ("I-UNIT",)]))
def test_what_is_accepted_gives_no_finding(element, said):
    root = etree.fromstring(etree.tostring(element))
    if Acceptor(set(said))(root):
        assert list(check(root, said=set(said))) == []


@pytest.mark.parametrize("path", [*VALID, *INVALID], ids=lambda path: path.stem)
def test_accepting_changes_no_finding(path, monkeypatch):
    some = list(check_source(path))
    monkeypatch.setattr(accept, "_WORTH_A_GRAMMAR", 1000)
    assert list(check_source(path)) == some


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_accepting_changes_no_finding_of_the_standard(case, monkeypatch):
    test_accepting_changes_no_finding(case.document.encode(), monkeypatch)


ACCEPTED = [
    *[
        pytest.param(
            f"<Job><Id>1</Id><Duration>5</Duration>{inside}</Job>", False, id=f"empty {number}"
        )
        for number, inside in enumerate((
            "<TaskGroup/>", "<TaskGroupDefaults/>", "<TaskGroup><Id>a</Id><TaskDefaults/></TaskGroup>",
            "<TaskGroup><Id>a</Id><Task> </Task></TaskGroup>", "<TaskGroup><!-- --></TaskGroup>",
            "<Requested/>", "<Delivered><!-- --></Delivered>",
        ))
    ],
    pytest.param("<Job><Id>1</Id><Duration>5</Duration></Job>", True, id="a small job"),
    pytest.param("<Job><Id>1</Id></Job>", False, id="no duration"),
    pytest.param(
        "<Job><Id>1</Id><Requested><Duration>5</Duration></Requested></Job>", True, id="requested"
    ),
    pytest.param(
        "<Job><Id>1</Id><TaskGroup><Duration>5</Duration></TaskGroup></Job>", False,
        id="a duration of a task group only",
    ),
    pytest.param(
        "<Job><Id>1</Id><Duration>5</Duration><TaskGroup><Task>1</Task></TaskGroup></Job>", False,
        id="a task group without properties",
    ),
    pytest.param(
        "<Job><Id>1</Id><Duration>5</Duration><TaskGroup><Id>a</Id></TaskGroup>"
        "<TaskGroup><Id>a</Id></TaskGroup></Job>",
        False, id="two task groups of one id",
    ),
    pytest.param(
        '<Job><Id>1</Id><Duration>5</Duration><Requested><Memory units="GB" context="Used">1</Memory>'
        "</Requested></Job>",
        False, id="requested as used",
    ),
    pytest.param(
        '<Job><Id>1</Id><Duration>5</Duration><Processors dynamic="true">1</Processors></Job>',
        False, id="dynamic beside Requested",
    ),
    pytest.param("<Job><Id>1</Id><Duration>5</Duration><Duration>5</Duration></Job>", False, id="twice"),
]  # fmt: skip


@pytest.mark.parametrize("text, accepted", ACCEPTED)
def test_the_grammar_takes_documents_that_are_right(text, accepted):
    assert Acceptor(set())(etree.fromstring(text)) == accepted
    element = etree.fromstring(text.replace("<Job>", f'<Job xmlns="{spec.NAMESPACE}">'))
    assert Acceptor(set())(element) == accepted


# What stands in a job beside its Id and Duration, by what says that nothing is wrong there: the
# grammar of jobs without contradictions, that of all jobs with the rules about several values, or
# the walk alone.
SIMPLE = [
    "", "<!-- c -->", "<State>Completed</State><User>amy</User>", "<Hold>a</Hold><Hold>b</Hold>",
    '<Memory units="GB">1</Memory>', '<Memory units="GB" context="Used">1</Memory>',
    *(f'<Requested><Processors op="{op}">2</Processors></Requested>' for op in ("GE", "GT", "NE")),
    "<Requested><Node>n1</Node></Requested>",
    *(f'<Requested><Memory units="GB" context="{context}">1</Memory></Requested>'
      for context in ("Configured", "Available", "Dedicated")),
    *(f'<Delivered><Memory units="GB" context="{context}">1</Memory></Delivered>'
      for context in ("Used", "Dedicated")),
    '<Delivered><Memory units="GB">1</Memory><Memory units="GB" context="Dedicated">1</Memory></Delivered>',
    '<Delivered><Node group="1">a</Node><Node group="-1">a</Node></Delivered>',
    "<Delivered><Processors>1</Processors><NodeCount>2</NodeCount></Delivered>",
    "<Requested><User>a</User></Requested><Delivered><User>b</User></Delivered>",
    '<Environment><Variable name="A">1</Variable><Variable name="B">1</Variable></Environment>',
    '<Environment export="true"/>', "<Environment/>", "<OutputFile>o</OutputFile>",
    '<Resource name="x">1</Resource>', '<Extension name="x">1</Extension>', "<Network>100</Network>",
    '<Network units="MB">100</Network>', '<ResourceLimit name="CPUTime" type="Hard">1</ResourceLimit>',
    *(f'<Requested><Processors dynamic="{word}">1</Processors></Requested>' for word in ("true", "false")),
    '<Processors dynamic="false">1</Processors>', '<User awarenessPolicy="Warn">x</User>',
    *(f'<Processors consumptionRate="{rate}">1</Processors>' for rate in ("0", "0.5", "1")),
    *(f'<Requested><Node preference="{number}">1</Node></Requested>' for number in ("2", "-2")),
    '<Requested><Node count="2">n</Node></Requested>',
    *(f"<Charge>{number}</Charge>" for number in ("-1", "1.5", "1")), "<Priority>-4</Priority>",
    "<Processors>0</Processors>", "<ExitCode>-1</ExitCode>", "<Interactive>true</Interactive>",
    "<StartTime>4294967295</StartTime>", "<CpuDuration>0</CpuDuration>",
]  # fmt: skip
SILENT = [
    '<Requested><Processors op="GE">2</Processors><Processors op="LE">4</Processors></Requested>',
    "<Requested><NodeCount>2</NodeCount><Processors>4</Processors></Requested>",
    "<NodeCount>2</NodeCount>", "<TaskGroup><Id>a</Id></TaskGroup><TaskGroup><Id>b</Id></TaskGroup>",
    "<Requested><User>a</User></Requested><Requested><User>b</User></Requested>",
]  # fmt: skip
WALKED = [
    "<Memory>1</Memory>", '<Requested><Node op="GE">n1</Node></Requested>', "text", "<Colour>x</Colour>",
    '<Requested><Processors op="GE">4</Processors><Processors op="LE">2</Processors></Requested>',
    *(f'<Delivered><Memory units="GB" context="{context}">1</Memory></Delivered>'
      for context in ("Configured", "Available", "Spare")),
    '<Memory units="furlong">1</Memory>', "<Delivered><TaskCount>1</TaskCount></Delivered>",
    "<Requested><NodeCount>4</NodeCount><Processors>2</Processors></Requested>", "<TaskCount>2</TaskCount>",
    "<TaskGroup><TaskDefaults><User>x</User></TaskDefaults></TaskGroup>",
    "<TaskGroup>a</TaskGroup>", "<TaskGroup><Id> </Id></TaskGroup>", "<Dependency>2</Dependency>",
    '<Environment><Variable name="A">1</Variable><Variable name="A">1</Variable></Environment>',
    "<Environment><Variable>1</Variable></Environment>", "<Environment/><Environment/>",
    "<NotificationList>JobStart</NotificationList>", '<OutputFile redirectList="Keep">o</OutputFile>',
    "<Resource>1</Resource>", '<Requested><User group="1">a</User><User group="-1">b</User></Requested>',
    *(f'<Processors consumptionRate="{rate}">1</Processors>' for rate in ("1.5", "-1", "x")),
    '<Requested><Node preference="0">1</Node></Requested>', '<Requested><Node count="0">n</Node></Requested>',
    '<Requested><Node aggregation="Range">n[1-4]</Node></Requested>', "<Processors>-1</Processors>",
    '<Requested><Node delimiter=";">n</Node></Requested>', "<Charge>x</Charge>", "<Priority>1.5</Priority>",
    '<Requested><User conj="Or">a</User></Requested>', "<Interactive>True</Interactive>",
    "<StartTime>4294967296</StartTime>", "<CpuDuration>-12</CpuDuration>", '<User mood="x">x</User>',
    '<User awarenessPolicy="Never">x</User>', "<JobId>1</JobId>", "<Network>Myrinet</Network>",
    "<TaskGroupDefaults><Id>2</Id></TaskGroupDefaults>", "<Delivered><CpuDuration>1</CpuDuration></Delivered>",
    "<TaskGroup><Name>x</Name><Task><Id>a</Id></Task><Task><Id>a</Id></Task></TaskGroup>",
]  # fmt: skip
ROADS = [
    *((inside, (True, True)) for inside in SIMPLE), *((inside, (False, True)) for inside in SILENT),
    *((inside, (False, False)) for inside in WALKED),
]  # fmt: skip


@pytest.mark.parametrize("namespace", spec.NAMESPACES, ids=lambda each: each or "none")
@pytest.mark.parametrize("inside, roads", ROADS, ids=[inside or "nothing" for inside, _ in ROADS])
def test_what_says_of_a_job_that_nothing_is_wrong(namespace, inside, roads):
    named = f' xmlns="{namespace}"' if namespace else ""
    job = etree.fromstring(f"<Job{named}><Id>1</Id><Duration>5</Duration>{inside}</Job>")
    accepts = Acceptor(set())
    assert (accepts._is_simple(job), Acceptor(set())(job)) == roads
    assert [*check(job)] == [] or not roads[1]


GROUPED = [
    ("<Job><Id>1</Id><Duration>1</Duration></Job>", True),
    ("<Job><Id>1</Id><Duration>1</Duration></Job><Job><Id>2</Id><Duration>1</Duration></Job>", True),
    ("<Job><Id>1</Id><Duration>1</Duration></Job><Job><Id>1</Id><Duration>1</Duration></Job>", False),
    ("<Job><Id>1</Id><Duration>1</Duration></Job><Job><Id>2</Id></Job>", False),
    ("<Job><Id>1</Id></Job><Job><Id>2</Id><Duration>1</Duration></Job>", False),
    ("<Job><Id>1</Id><Requested><Duration>1</Duration></Requested></Job>", True),
    ("<Job><Id>1</Id><Delivered><Duration>1</Duration></Delivered></Job>", True),
    ("<JobDefaults><Queue>q</Queue></JobDefaults><Job><Id>1</Id><Duration>1</Duration></Job>", True),
    ("<JobDefaults/><Job><Id>1</Id><Duration>1</Duration></Job>", False),
    ("<JobDefaults><Id>q</Id></JobDefaults><Job><Id>1</Id><Duration>1</Duration></Job>", False),
    ("<Job>1</Job>", False),
    ("", False),
]  # fmt: skip


@pytest.mark.parametrize("jobs, accepted", GROUPED)
def test_a_group_is_accepted_where_each_of_its_jobs_is_one_of_its_own(jobs, accepted):
    group = etree.fromstring(f"<JobGroup><Id>g</Id>{jobs}</JobGroup>")
    assert Acceptor(set())(group) == accepted
    assert [*check(group)] == [] or not accepted


@pytest.mark.parametrize("text", [
    "<Requested><User>a</User></Requested>", "<Task><Id>a</Id></Task>",
    '<Job xmlns="urn:x"><Id>1</Id><Duration>5</Duration></Job>', "<Queue>q</Queue>",
])  # fmt: skip
def test_no_grammar_takes_what_is_no_job_object(text):
    assert not Acceptor(set())(etree.fromstring(text))


def test_who_was_told_of_units_is_told_once():
    job = etree.fromstring("<Job><Id>1</Id><Duration>5</Duration><Memory>1</Memory></Job>")
    assert (Acceptor({"I-UNIT"})(job), Acceptor(set())(job)) == (True, False)


def test_the_first_job_objects_are_walked_as_a_grammar_has_its_price(monkeypatch):
    monkeypatch.setattr(accept, "_WORTH_A_GRAMMAR", 2)
    job = etree.fromstring("<Job><Id>1</Id><Duration>5</Duration></Job>")
    accepts = Acceptor(set())
    assert [accepts(job) for _ in range(4)] == [False, False, True, True]


def asked(answers):
    """The calls in which a test is asked, whose answers are given as long as there are some."""
    calls, given = [], iter(answers)
    number = 0

    def test(_):
        calls.append(number)
        return next(given, False)

    backoff = accept._Backoff(test)
    passed = []
    for number in range(250):
        if backoff(None):
            passed.append(number)
    return calls, passed


def test_a_test_that_keeps_refusing_is_asked_more_and_more_seldom_up_to_every_64th_time():
    assert asked([]) == ([0, 1, 4, 11, 26, 57, 120, 184, 248], [])


def test_a_test_that_passes_is_asked_the_next_time_whatever_it_refused_before():
    calls, passed = asked([False, False, True, True, False])
    assert passed == [4, 5]
    assert calls[:8] == [0, 1, 4, 5, 6, 7, 10, 17]


def test_most_measured_jobs_are_accepted():
    path = next(path for path in VALID if "moderate" in path.stem)
    # What most jobs have, in _WORDY or _CONTRADICTING, sends each of them on the walk.
    told = "a grammar has no place any more for what most jobs have: say in it what has no finding"
    assert all(Acceptor(set())(job) for job in units(path)), told
