"""What the walk over a job object says of each kind of fault, word by word."""
# ruff: noqa: E501 (a row of a table is a line)

import pytest
from lxml import etree

from sssjob.check import walk
from sssjob.check.findings import check

JOB = "<Job><Id>1</Id><Duration>5</Duration>{}</Job>"
GROUP = "<JobGroup><Id>g</Id>{}</JobGroup>"

# fmt: off
# What stands in a job beside its Id and its Duration, and what is said.
IN_A_JOB = [
    ('<Memory units="GB">-1</Memory>',
     ["W-RANGE, warning at /Job/Memory: Memory: '-1' is below zero (SSS 5.1 Table 4)"]),
    ('<Id>2</Id>',
     ['E-DUP, error at /Job/Id[2]: Id appears again; the first is on line 1 (SSS 5.1 Table 2)']),
    ('<Network>x</Network>',
     ['I-ALIAS, notice at /Job/Network: Network with a text is an older NetworkAdapter (SSS 5.1 Table 4); write NetworkAdapter']),
    ('<Network op="GE">x</Network>',
     ['E-UNKNOWN, error at /Job/Network/@op: attribute op has no meaning outside Requested (SSS 9.0); put the property into Requested',
      'I-ALIAS, notice at /Job/Network: Network with a text is an older NetworkAdapter (SSS 5.1 Table 4); write NetworkAdapter']),
    ('<Requested><Network>Myrinet</Network><Network conj="Or">x</Network></Requested>',
     ['I-ALIAS, notice at /Job/Requested/Network[1]: Network with a text is an older NetworkAdapter (SSS 5.1 Table 4); write NetworkAdapter',
      'I-ALIAS, notice at /Job/Requested/Network[2]: Network with a text is an older NetworkAdapter (SSS 5.1 Table 4); write NetworkAdapter']),
    ('<ResourceLimit name="CPUTime">1</ResourceLimit><ResourceLimit name="CPUTime" type="Hard">1</ResourceLimit>',
     ['W-OVERLAP, warning at /Job/ResourceLimit[2]: ResourceLimit CPUTime without a type sets both limits; see line 1 (SSS 5.1 ResourceLimit)']),
    ('<ResourceLimit name="CPUTime" type="Soft">1</ResourceLimit><ResourceLimit name="CPUTime" type="Hard">1</ResourceLimit>', []),
    ('<ResourceLimit name="CPUTime" type="Soft">1</ResourceLimit><ResourceLimit name="cputime">1</ResourceLimit>',
     ['W-OVERLAP, warning at /Job/ResourceLimit[2]: ResourceLimit CPUTime without a type sets both limits; see line 1 (SSS 5.1 ResourceLimit)']),
    ('<ResourceLimit name="CPUTime" type="Hard">1</ResourceLimit><ResourceLimit name="CPUTime" type="Soft">1</ResourceLimit><ResourceLimit name="CPUTime">1</ResourceLimit>',
     ['W-OVERLAP, warning at /Job/ResourceLimit[3]: ResourceLimit CPUTime without a type sets both limits; see line 1 (SSS 5.1 ResourceLimit)',
      'W-OVERLAP, warning at /Job/ResourceLimit[3]: ResourceLimit CPUTime without a type sets both limits; see line 1 (SSS 5.1 ResourceLimit)']),
    ('<ResourceLimit>1</ResourceLimit><ResourceLimit>1</ResourceLimit>',
     ['E-MISSING, error at /Job/ResourceLimit[1]: ResourceLimit has no attribute name (SSS 5.1 ResourceLimit)',
      'E-DUP, error at /Job/ResourceLimit[2]: ResourceLimit appears again; the first is on line 1 (SSS 5.1 ResourceLimit)',
      'E-MISSING, error at /Job/ResourceLimit[2]: ResourceLimit has no attribute name (SSS 5.1 ResourceLimit)']),
    ('<Delivered><CpuDuration x="1">-1</CpuDuration></Delivered>',
     ['W-CATEGORY, warning at /Job/Delivered/CpuDuration: CpuDuration has no category in Table 2 (SSS 5.1 Table 2); write it beside Delivered',
      'E-UNKNOWN, error at /Job/Delivered/CpuDuration/@x: attribute x of CpuDuration is not known (SSS 9.0)',
      "E-TYPE, error at /Job/Delivered/CpuDuration: CpuDuration: '-1' is not a duration in whole seconds such as 3600 (SSS 5.1 Table 2)"]),
    ('<Requested><CpuDuration>1</CpuDuration></Requested>',
     ['E-CATEGORY, error at /Job/Requested/CpuDuration: CpuDuration is not a property that can be requested (SSS 5.1 Table 2); write it beside Requested']),
    ('<Requested><Shell>1</Shell></Requested>',
     ['E-CATEGORY, error at /Job/Requested/Shell: Shell is not a property that can be requested (SSS 5.1 Table 2); write it beside Requested']),
    ('<Delivered><State awarenessPolicy="Ignore">x</State></Delivered>', []),
    ('<s:User xmlns:s="http://www.scidac.org/ScalableSystems/SSSRMAP" s:op="1">a</s:User>',
     ['E-UNKNOWN, error at /Job/User/@op: attribute op of namespace http://www.scidac.org/ScalableSystems/SSSRMAP (SSS 9.0); attributes have no namespace: write op']),
    ('<x:User xmlns:x="urn:x"/>',
     ['E-UNKNOWN, error at /Job/User: element User of namespace urn:x (SSS 9.0)']),
    ('<User xmlns:x="urn:x" x:y="1">a</User>',
     ['E-UNKNOWN, error at /Job/User/@y: attribute y of namespace urn:x (SSS 9.0)']),
    ('<User op="GE">a</User>',
     ['E-UNKNOWN, error at /Job/User/@op: attribute op has no meaning outside Requested (SSS 9.0); put the property into Requested']),
    ('<Memory units="GB" unit="x">1</Memory>',
     ['E-UNKNOWN, error at /Job/Memory/@unit: attribute unit of Memory is not known (SSS 9.0); did you mean units?']),
    ('<Memry>1</Memry>',
     ['E-UNKNOWN, error at /Job/Memry: element Memry is not known (SSS 9.0); did you mean Memory?']),
    ('<Usr>a</Usr>',
     ['E-UNKNOWN, error at /Job/Usr: element Usr is not known (SSS 9.0); did you mean User?']),
    ('<JobGroup/>',
     ['E-UNKNOWN, error at /Job/JobGroup: element JobGroup is not supported in Job (SSS 9.0)']),
    ('<TaskGroup><Id>t</Id><Requested><User>a</User></Requested></TaskGroup>', []),
    ('<TaskGroup><Id>t</Id><TaskGroup/></TaskGroup>',
     ['E-UNKNOWN, error at /Job/TaskGroup/TaskGroup: element TaskGroup is not supported in TaskGroup (SSS 9.0)']),
    ('<Environment mood="x"><b/></Environment>',
     ['E-UNKNOWN, error at /Job/Environment/@mood: attribute mood of Environment is not known (SSS 9.0)',
      'E-UNKNOWN, error at /Job/Environment/b: element b is not known (SSS 9.0)']),
    ('<Environment>x</Environment>',
     ['E-MIXED, error at /Job/Environment: text in Environment, which holds elements (SSS 5.1 Environment)']),
    ('<Environment><Variable name="a">1</Variable>x</Environment>',
     ['E-MIXED, error at /Job/Environment: text beside the elements of Environment (SSS 5.1 Environment)']),
    ('<NotificationList>JobStat,All</NotificationList>',
     ["E-UNKNOWN, error at /Job/NotificationList: 'JobStat' is not a value of NotificationList, which is JobStart, JobEnd, All, None (SSS 5.1 NotificationList); did you mean JobStart?"]),
    ('<NotificationList awarenessPolicy="Ignore">JobStat</NotificationList>', []),
    ('<NotificationList/>', []),
    ('<User/>', []),
    ('<User><b/>x</User>',
     ['E-UNKNOWN, error at /Job/User/b: element b is not supported in User (SSS 9.0)']),
    ('<Processors><b/>x</Processors>',
     ['E-UNKNOWN, error at /Job/Processors/b: element b is not supported in Processors (SSS 9.0)',
      "E-TYPE, error at /Job/Processors: Processors: '' is not an integer such as 16 (SSS 5.1 Table 4)"]),
    ('<Processors><!-- c -->4</Processors>', []),
    ('<Processors/>',
     ["E-TYPE, error at /Job/Processors: Processors: '' is not an integer such as 16 (SSS 5.1 Table 4)"]),
    ('<Extension name="x"><b/></Extension>',
     ['E-UNKNOWN, error at /Job/Extension/b: element b is not supported in Extension (SSS 9.0)']),
    ('<TaskGroup><Id>t</Id><Duration>x</Duration></TaskGroup>',
     ["E-TYPE, error at /Job/TaskGroup/Duration: Duration: 'x' is not a duration in whole seconds such as 3600 (SSS 5.1 Table 2)"]),
    ('<TaskGroup><Task><Id>1</Id></Task></TaskGroup>',
     ['E-MISSING, error at /Job/TaskGroup: TaskGroup has no properties (SSS 6.0)']),
    ('<TaskGroup><TaskDefaults><User>x</User></TaskDefaults></TaskGroup>',
     ['E-MISSING, error at /Job/TaskGroup: TaskGroup has no properties (SSS 6.0)']),
    ('<TaskGroup><Id>t</Id><Task><User>x</User></Task></TaskGroup>', []),
    ('<Task><Id>x</Id></Task>',
     ['E-UNKNOWN, error at /Job/Task: element Task is not supported in Job (SSS 9.0)']),
    ('<Requested><User>a</User></Requested><Duration>7</Duration>',
     ['E-DUP, error at /Job/Duration[2]: Duration appears again; the first is on line 1 (SSS 5.1 Table 2)']),
    ('<Mood awarenessPolicy="Never"/>',
     ['E-UNKNOWN, error at /Job/Mood: element Mood is not known (SSS 9.0)',
      "E-UNKNOWN, error at /Job/Mood/@awarenessPolicy: awarenessPolicy: 'Never' is not a value of awarenessPolicy, which is Reject, Warn, Ignore (SSS 9.0)"]),
    ('<User awarenessPolicy=" Warn " x="1">u</User>',
     ['W-TYPE, warning at /Job/User/@awarenessPolicy: awarenessPolicy: \' Warn \' is read as Warn (SSS 9.0); write awarenessPolicy="Warn"',
      'E-UNKNOWN, warning at /Job/User/@x: attribute x of User is not known (SSS 9.0)']),
    ('<Dependency code="1">x</Dependency>',
     ['E-UNKNOWN, error at /Job/Dependency/@code: code counts with the condition OnExit only (SSS 5.1 Dependency); write condition="OnExit"']),
    ('<Dependency condition=" OnExit " code="1">x</Dependency>',
     ['W-TYPE, warning at /Job/Dependency/@condition: condition: \' OnExit \' is read as OnExit (SSS 5.1 Dependency); write condition="OnExit"']),
    ('<TaskGroup><Id> </Id><TaskCount>1</TaskCount></TaskGroup><TaskGroup><Id> </Id><TaskCount>1</TaskCount></TaskGroup>',
     ['E-MISSING, error at /Job/TaskGroup[1]/Id: the Id of TaskGroup is empty (SSS 6.1 Table 6)',
      'E-MISSING, error at /Job/TaskGroup[2]/Id: the Id of TaskGroup is empty (SSS 6.1 Table 6)']),
    ('<Requested><User group="1">a</User><!-- c --><User group="-1">b</User></Requested>',
     ['W-UNSAT, warning at /Job/Requested/User[2]: User EQ a and User EQ b cannot hold together (SSS 8.1); write Or if one of them is enough']),
    ('<Requested><User group="-1">a</User><User group="1">b</User></Requested>',
     ['E-GROUP, error at /Job/Requested/User[1]: User (item 1) closes 1 level but only 0 are open (SSS 8.1)',
      'W-GROUP-SWAP, warning at /Job/Requested/User[1]: the groups balance if every sign is reversed (SSS 8.1); positive opens, negative closes']),
    ('<Requested><User group="x">a</User></Requested>',
     ["E-TYPE, error at /Job/Requested/User/@group: group: 'x' is not an integer such as 16 (SSS 8.1)"]),
    ('<User xmlns:x="urn:x" x:op="1">a</User>',
     ['E-UNKNOWN, error at /Job/User/@op: attribute op of namespace urn:x (SSS 9.0)']),
    ('<s:User xmlns:s="http://www.scidac.org/ScalableSystems/SSSRMAP" s:mood="1">a</s:User>',
     ['E-UNKNOWN, error at /Job/User/@mood: attribute mood of namespace http://www.scidac.org/ScalableSystems/SSSRMAP (SSS 9.0)']),
    ('<Mood awarenessPolicy="Ignore"><Requested><User>a</User><User>b</User></Requested></Mood>', []),
    ('<x:TaskGroup xmlns:x="urn:x" awarenessPolicy="Ignore"><Requested><User>a</User><User>b</User></Requested></x:TaskGroup>', []),
    ('<TaskGroup><TaskDefaults><User>x</User></TaskDefaults><Task><Id>1</Id></Task></TaskGroup>',
     ['E-MISSING, error at /Job/TaskGroup: TaskGroup has no properties (SSS 6.0)']),
]
# What stands in a group beside its Id.
IN_A_GROUP = [
    ('<JobDefaults><Duration>1</Duration></JobDefaults><Job><Id>1</Id></Job>', []),
    ('<Job><Id>1</Id></Job><JobDefaults><Requested><Duration>1</Duration></Requested></JobDefaults>', []),
    ('<JobDefaults><Requested><wallclockLimit>1</wallclockLimit></Requested></JobDefaults><Job><Id>1</Id></Job>',
     ['I-ALIAS, notice at /JobGroup/JobDefaults/Requested/wallclockLimit: wallclockLimit is an older name of Duration (SSS 5.1 Table 2); write Duration']),
    ('<JobDefaults><User>1</User></JobDefaults><Job><Id>1</Id></Job><Job><Id>2</Id></Job>',
     ['I-MISSING, notice at /JobGroup/Job[1]: Job has no Duration, which is recommended (SSS 5.1 Table 2)',
      'I-MISSING, notice at /JobGroup/Job[2]: Job has no Duration, which is recommended (SSS 5.1 Table 2)']),
    ('<JobDefaults><Id>1</Id><GlobalId>x</GlobalId></JobDefaults><Job><Id>1</Id><Duration>1</Duration></Job>',
     ['W-USELESS, warning at /JobGroup/JobDefaults/Id: Id is never inherited from JobDefaults (SSS 5.0)',
      'W-USELESS, warning at /JobGroup/JobDefaults/GlobalId: GlobalId is never inherited from JobDefaults (SSS 5.0)']),
    ('<JobDefaults><TaskGroup><Id>t</Id><Duration>1</Duration></TaskGroup></JobDefaults><Job><Id>1</Id></Job>',
     ['I-MISSING, notice at /JobGroup/Job: Job has no Duration, which is recommended (SSS 5.1 Table 2)']),
    ('<JobDefaults/><Job><Id>1</Id><Duration>1</Duration></Job>',
     ['E-MISSING, error at /JobGroup/JobDefaults: JobDefaults has no properties (SSS 5.0)']),
    ('<Job><Id>1</Id><Duration>2</Duration></Job><Job><Id> 1</Id><Duration>2</Duration></Job>',
     ['E-DUP, error at /JobGroup/Job[2]/Id: the Id 1 names another Job, too, on line 1 (SSS 5.1 Table 2)']),
    ('<User>x</User><Job>7</Job>',
     ['E-UNKNOWN, error at /JobGroup/User: element User is not supported in JobGroup (SSS 9.0)',
      'I-REFERENCE, notice at /JobGroup/Job: Job 7 is not defined in this JobGroup (SSS 5.0)']),
]
# fmt: on


def said(text):
    """The sentences of the findings about a job object."""
    return [
        f"{one.code}, {one.severity.value} at {one.path}: {one.message} ({one.section})"
        + (f"; {one.suggestion}" if one.suggestion else "")
        for one in check(etree.fromstring(text))
    ]


@pytest.mark.parametrize("inside, expected", IN_A_JOB)
def test_what_is_said_of_a_job(inside, expected):
    assert said(JOB.format(inside)) == expected


@pytest.mark.parametrize("inside, expected", IN_A_GROUP)
def test_what_is_said_of_a_group(inside, expected):
    assert said(GROUP.format(inside)) == expected


def test_the_line_of_the_first_is_told_where_something_stands_twice():
    root = etree.fromstring(
        JOB.format("\n<User>a</User>\n<User>b</User>\n<Environment/>\n<Environment/>")
    )
    assert [(one.line - 7, one.message) for one in check(root, offset=7)] == [
        (3, "User appears again; the first is on line 9"),
        (5, "Environment appears again; the first is on line 11"),
    ]  # fmt: skip


@pytest.mark.parametrize("most, told", [(3, 3), (4, 4), (5, 4)])
def test_so_many_faults_of_one_job_object_are_told_and_that_there_are_more(monkeypatch, most, told):
    monkeypatch.setattr(walk, "MOST", most)
    found = [*check(etree.fromstring(JOB.format("\n<Colour/>" * 4)))]
    assert [one.code for one in found] == ["E-UNKNOWN"] * told + ["E-LIMIT"] * (told == most)
    assert [one.line for one in found] == [*range(2, told + 2), *[told + 1] * (told == most)]


def test_advice_is_given_on_so_many_names_and_on_each_of_them_wherever_it_stands(monkeypatch):
    monkeypatch.setattr(walk, "ADVISED", 2)
    inside = "<Usr>a</Usr><Memry/><Usr>a</Usr><Quue/><Memry/>"
    assert [one.suggestion for one in check(etree.fromstring(JOB.format(inside)))] == [
        "did you mean User?", "did you mean Memory?", "did you mean User?", "", "did you mean Memory?",
    ]  # fmt: skip


def test_what_a_job_in_a_wrapper_requests_is_looked_at_as_that_of_one_alone():
    inside = "<Requested><User>a</User><User>b</User></Requested>"
    wrapped = etree.fromstring(f"<Data><Jobs>{JOB.format(inside)}</Jobs></Data>")
    assert [one.code for one in check(wrapped[0][0])] == ["W-UNSAT"]


def test_a_unit_is_asked_for_where_it_was_not_before():
    root = etree.fromstring(JOB.format("<Memory>1</Memory><Swap>1</Swap>"))
    said = set()
    assert [one.code for one in check(root, said=said)] == ["I-UNIT"]
    assert said == {"I-UNIT"}
    assert [*check(root, said=said)] == []
