"""Findings about a job object are placed by line and path."""

import pytest
from lxml import etree

from sssjob.document.report import ObjectReport
from sssjob.errors import AwarenessPolicy, Severity


def report(text, offset=0):
    return ObjectReport(etree.fromstring(text), offset)


@pytest.mark.parametrize("many", [2, 64, 65, 200])
def test_elements_of_one_name_are_numbered_however_many_there_are(many):
    found = report(f"<Job><a/>{'<b/>' * (many - 2)}<!-- c --><a><c/></a></Job>")
    last = found.root[-1]
    assert found.path(found.root) == "/Job"
    assert found.path(found.root[0]) == "/Job/a[1]"
    assert found.path(last[0]) == "/Job/a[2]/c"
    if many > 2:
        assert found.path(found.root[1]) == ("/Job/b" if many == 3 else "/Job/b[1]")
        assert found.path(found.root[many - 2]) == "/Job/b" + (f"[{many - 2}]" if many > 3 else "")
    found.leave(found.root)
    assert found.path(last) == "/Job/a[2]"


def test_names_have_no_namespace_in_a_path():
    found = report("<x:Job xmlns:x='urn:x'><x:a/><a/>" + "<x:b/>" * 70 + "</x:Job>")
    paths = [found.path(each) for each in found.root[:3]]
    assert paths == ["/Job/a", "/Job/a", "/Job/b[1]"]


def test_a_finding_has_its_line_its_attribute_and_its_section():
    found = report("<Job>\n<Id\n>1</Id></Job>", offset=7)
    found.say("E-MISSING", found.root[0], "m", "5.1", "s", "{urn:x}op")
    (told,) = found.found
    assert (told.line, told.path, told.section) == (10, "/Job/Id/@op", "5.1")
    assert (told.message, told.suggestion, told.severity) == ("m", "s", Severity.ERROR)
    assert found.line(etree.Element("made")) == 0


@pytest.mark.parametrize(
    "code, policy, severity",
    [
        ("E-UNKNOWN", AwarenessPolicy.IGNORE, None),
        ("E-UNKNOWN", AwarenessPolicy.WARN, Severity.WARNING),
        ("E-UNKNOWN", AwarenessPolicy.REJECT, Severity.ERROR),
        ("E-CATEGORY", AwarenessPolicy.WARN, Severity.WARNING),
        ("E-MISSING", AwarenessPolicy.IGNORE, Severity.ERROR),
    ],
)
def test_what_is_not_understood_is_told_as_hard_as_the_policy_asks(code, policy, severity):
    found = report("<Job/>")
    found.by_policy(code, found.root, policy, "m", "9.0")
    assert [told.severity for told in found.found] == ([] if severity is None else [severity])
