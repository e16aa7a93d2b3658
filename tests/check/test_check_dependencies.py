"""Dependencies in a check: where each is told, and what is told of it once."""
# ruff: noqa: E501 (a row of a table is a line)

import pytest
from lxml import etree

from sssjob.check import dependencies
from sssjob.check.findings import check

JOB = "<Job><Id>1</Id><Duration>5</Duration>\n{}</Job>"
GROUP = "<JobGroup><Id>g</Id>\n{}\n</JobGroup>"
FIRST = "<Job><Id>a</Id><Duration>1</Duration>{}</Job>"
SECOND = "<Job><Id>b</Id><Duration>1</Duration>\n{}</Job>"
MOON = "condition: 'OnMoon' is not a value of condition, which is OnSuccess, OnFailure, OnExit"
# A document, what is told of it where it may mention what is elsewhere, and where it is closed.
HERE, CLOSED = "I-REFERENCE", "E-REF"
CASES = [
    ("a job alone depends on what is elsewhere", JOB.format("<Dependency>x</Dependency>"), [],
     [(2, CLOSED, "/Job/Dependency", "1 depends on x, which is not here")]),
    ("a word is told once", JOB.format('<Dependency condition="OnMoon">x</Dependency>'),
     *[[(2, "E-UNKNOWN", "/Job/Dependency/@condition", MOON)]] * 2),
    ("a code is told once", JOB.format('<Dependency condition="OnExit" code="y">x</Dependency>'),
     *[[(2, "E-TYPE", "/Job/Dependency/@code", "code: 'y' is not an integer such as 16")]] * 2),
    ("none is named", JOB.format("<Dependency> </Dependency>"),
     *[[(2, "W-USELESS", "/Job/Dependency", "a Dependency that names no job has no effect")]] * 2),
    ("a job waits for itself", JOB.format("<Dependency>1</Dependency>"),
     *[[(2, "E-CYCLE", "/Job", "jobs wait for each other: 1 → 1")]] * 2),
    ("what was delivered depends on nothing", JOB.format("<Delivered><Dependency>1</Dependency></Delivered>"),
     *[[(2, "E-CATEGORY", "/Job/Delivered/Dependency", "Dependency is not a property that can be delivered")]] * 2),
    ("a task group is no job", JOB.format("<TaskGroup><Id>t</Id><Dependency>x</Dependency></TaskGroup>"), [], []),
    ("the job before", GROUP.format(FIRST.format("") + SECOND.format("<Dependency>a</Dependency>")), [], []),
    ("by a name, as it was called", GROUP.format(
        FIRST.format("<Name>n</Name>") + SECOND.format('<Dependency designator="JobName">n</Dependency>')), [], []),
    ("a job that is not there", GROUP.format(FIRST.format("") + SECOND.format("<Dependency>c</Dependency>")),
     *[[(3, code, "/JobGroup/Job[2]/Dependency", "b depends on c, which is not here")] for code in (HERE, CLOSED)]),
    ("what all jobs inherit", GROUP.format(
        "<JobDefaults>\n<Dependency>c</Dependency></JobDefaults>" + FIRST.format("")),
     *[[(3, code, "/JobGroup/JobDefaults/Dependency", "a depends on c, which is not here")] for code in (HERE, CLOSED)]),
    ("an element of the same name in another namespace", GROUP.format(
        FIRST.format("<Dependency>c</Dependency>") + '<x:Job xmlns:x="urn:x" awarenessPolicy="Ignore"><Id>c</Id></x:Job>'),
     *[[(2, code, "/JobGroup/Job/Dependency", "a depends on c, which is not here")] for code in (HERE, CLOSED)]),
    ("what is not known before it", JOB.format('<Colour awarenessPolicy="Ignore"/><Dependency>x</Dependency>'), [],
     [(2, CLOSED, "/Job/Dependency", "1 depends on x, which is not here")]),
    ("an element of another namespace before it", GROUP.format(
        '<x:Job xmlns:x="urn:x" awarenessPolicy="Ignore"><Id>c</Id></x:Job>' + FIRST.format("<Dependency>c</Dependency>")),
     *[[(2, code, "/JobGroup/Job/Dependency", "a depends on c, which is not here")] for code in (HERE, CLOSED)]),
    ("a job that is only mentioned", GROUP.format("<Job>c</Job>" + FIRST.format("<Dependency>c</Dependency>")),
     *[[(2, code, "/JobGroup/Job[2]/Dependency", "a depends on c, which is not here"),
        (2, code, "/JobGroup/Job[1]", "Job c is not defined in this JobGroup")] for code in (HERE, CLOSED)]),
    ("a group that holds nothing but jobs that wait for each other", GROUP.format(
        FIRST.format("<Dependency>b</Dependency>") + SECOND.format("<Dependency>a</Dependency>")),
     *[[(2, "E-CYCLE", "/JobGroup/Job[1]", "jobs wait for each other: a → b → a")]] * 2),
]  # fmt: skip


@pytest.mark.parametrize("offset", [0, 10])
@pytest.mark.parametrize(
    "text, here, closed", [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_a_check_says_of_dependencies(text, here, closed, offset):
    root = etree.fromstring(text)
    for is_closed, expected in ((False, here), (True, closed)):
        found = check(root, offset=offset, closed=is_closed)
        assert [(one.line - offset, one.code, one.path, one.message) for one in found] == expected


@pytest.mark.parametrize("text, silent", [
    (JOB.format(""), True), (JOB.format("<Dependency>x</Dependency>"), False),
    (JOB.format("<TaskGroup><Dependency>x</Dependency></TaskGroup>"), False),
])  # fmt: skip
def test_where_nothing_depends_on_anything_nothing_is_asked(text, silent):
    assert dependencies.is_silent(etree.fromstring(text)) == silent
