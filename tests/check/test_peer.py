"""What a peer says of a document that it does not understand as a whole (9.0, 13.2)."""
# ruff: noqa: E501 (a row of a table is a line)

import pytest
from lxml import etree

from sssjob.check import peer
from sssjob.check.vocabulary import FULL, of_level

DOCUMENT = """<Job awarenessPolicy="Warn"><Id>1</Id><Duration>5</Duration>
<Colour>red</Colour>
<Requested><Processors op="XX">2</Processors><State>x</State>
<Memory units="furlong">x</Memory></Requested>
<TaskCount>x</TaskCount>
<Shell mood="x" awarenessPolicy="Ignore">s</Shell>
<Extension name="a" awarenessPolicy="Reject"><b/></Extension>
<TaskGroup><TaskCount>x</TaskCount><Colour/></TaskGroup>
<OutputFile redirectList="Keep,Burn">o</OutputFile></Job>"""
COLOUR = (2, "E-UNKNOWN", "warning", "/Job/Colour", "element Colour is not known")
OP = "op: 'XX' is not a value of op, which is EQ, NE, LT, GT, LE, GE, Match"
BURN = "redirectList: 'Burn' is not a value of redirectList, which is Append, Close, Flush, Keep, Merge"
REQUESTED = [
    (3, "E-UNKNOWN", "warning", "/Job/Requested/Processors/@op", OP),
    (3, "E-CATEGORY", "warning", "/Job/Requested/State", "State is not a property that can be requested"),
    (4, "E-TYPE", "error", "/Job/Requested/Memory", "Memory: 'x' is not a number such as 1.89"),
]  # fmt: skip


def above(level, name):
    """What lacks a level, and the sentence about an element that needs one."""
    return f"element {name} needs the level {level}, above"


SAID = [
    pytest.param(of_level("minimal"), [
        COLOUR,
        (3, "E-UNKNOWN", "warning", "/Job/Requested", f"{above('recommended', 'Requested')} minimal"),
        (5, "E-UNKNOWN", "warning", "/Job/TaskCount", f"{above('full', 'TaskCount')} minimal"),
        (7, "E-UNKNOWN", "error", "/Job/Extension", f"{above('full', 'Extension')} minimal"),
        (8, "E-UNKNOWN", "warning", "/Job/TaskGroup", f"{above('full', 'TaskGroup')} minimal"),
        (9, "E-UNKNOWN", "warning", "/Job/OutputFile", f"{above('recommended', 'OutputFile')} minimal"),
    ], id="minimal"),
    pytest.param(of_level("recommended"), [
        COLOUR, *REQUESTED,
        (4, "E-UNKNOWN", "warning", "/Job/Requested/Memory/@units", "attribute units needs the level full, above recommended"),
        (5, "E-UNKNOWN", "warning", "/Job/TaskCount", f"{above('full', 'TaskCount')} recommended"),
        (7, "E-UNKNOWN", "error", "/Job/Extension", f"{above('full', 'Extension')} recommended"),
        (8, "E-UNKNOWN", "warning", "/Job/TaskGroup", f"{above('full', 'TaskGroup')} recommended"),
        (9, "E-UNKNOWN", "warning", "/Job/OutputFile/@redirectList", BURN),
    ], id="recommended"),
    pytest.param(FULL, [
        COLOUR, *REQUESTED,
        (4, "E-UNKNOWN", "warning", "/Job/Requested/Memory/@units",
         "units: 'furlong' is not a value of units, which is B, KB, MB, GB, TB, PB, EB, ZB, YB, NB, DB"),
        (5, "E-TYPE", "error", "/Job/TaskCount", "TaskCount: 'x' is not an integer such as 16"),
        (7, "E-UNKNOWN", "error", "/Job/Extension/b", "element b is not supported in Extension"),
        (8, "E-TYPE", "error", "/Job/TaskGroup/TaskCount", "TaskCount: 'x' is not an integer such as 16"),
        (8, "E-UNKNOWN", "warning", "/Job/TaskGroup/Colour", "element Colour is not known"),
        (9, "E-UNKNOWN", "warning", "/Job/OutputFile/@redirectList", BURN),
    ], id="full"),
    pytest.param(of_level("minimal").unaware(), [
        (1, "E-UNKNOWN", "error", "/Job/@awarenessPolicy", "attribute awarenessPolicy is not supported"),
        (2, "E-UNKNOWN", "error", "/Job/Colour", "element Colour is not known"),
        (3, "E-UNKNOWN", "error", "/Job/Requested", f"{above('recommended', 'Requested')} minimal"),
        (5, "E-UNKNOWN", "error", "/Job/TaskCount", f"{above('full', 'TaskCount')} minimal"),
        (6, "E-UNKNOWN", "error", "/Job/Shell", f"{above('full', 'Shell')} minimal"),
        (7, "E-UNKNOWN", "error", "/Job/Extension", f"{above('full', 'Extension')} minimal"),
        (8, "E-UNKNOWN", "error", "/Job/TaskGroup", f"{above('full', 'TaskGroup')} minimal"),
        (9, "E-UNKNOWN", "error", "/Job/OutputFile", f"{above('recommended', 'OutputFile')} minimal"),
    ], id="minimal without awarenessPolicy"),
]  # fmt: skip


@pytest.mark.parametrize("who, expected", SAID)
def test_a_peer_says_what_it_does_not_understand_and_nothing_about_what_is_inside(who, expected):
    found = peer.check(etree.fromstring(DOCUMENT), who, offset=10)
    assert [
        (one.line - 10, one.code, one.severity.value, one.path, one.message) for one in found
    ] == expected


def test_each_of_two_unknown_words_is_told_by_who_understands_the_list():
    text = '<Job><Id>1</Id><Duration>5</Duration><OutputFile redirectList="Burn,Eat">o</OutputFile></Job>'
    found = [
        one.message.partition(" is not")[0] for one in peer.check(etree.fromstring(text), FULL)
    ]
    assert found == ["redirectList: 'Burn'", "redirectList: 'Eat'"]


def test_the_place_of_what_only_the_standard_has_is_of_its_section():
    found = [*peer.check(etree.fromstring(DOCUMENT), of_level("minimal"))]
    assert {one.section for one in found} == {"SSS 9.0"}


def test_a_source_names_its_file_and_is_told_of_units_once():
    job = "<Job><Id>1</Id><Duration>5</Duration><Memory>1</Memory></Job>\n"
    found = [*peer.check_source((job * 2).encode(), FULL, name="a.xml")]
    assert [(one.file, one.line, one.code) for one in found] == [("a.xml", 1, "I-UNIT")]


@pytest.mark.parametrize("closed, code", [(False, "I-REFERENCE"), (True, "E-REF")])
def test_what_a_peer_does_not_find_in_a_closed_document_is_an_error(closed, code):
    text = b"<JobGroup><Id>g</Id><Job>7</Job></JobGroup>"
    assert [one.code for one in peer.check_source(text, FULL, closed=closed)] == [code]
