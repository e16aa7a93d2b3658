"""Job objects and findings as HTML, for notebooks."""

from lxml import html

import sssjob
from sssjob.drawing import notebook
from sssjob.model import Job, JobGroup, Property, Requested

SCRIPT = "<script>alert(1)</script>'\""
EVIL = f"{SCRIPT}\x1b[2J"  # which no job can hold


def test_everything_is_escaped():
    job = Job.of(
        Property("Odd", SCRIPT, {"odd": SCRIPT}),
        Requested.of(Property("Node", SCRIPT)),
        Property("Environment", children=[Property("Variable", SCRIPT, {"name": SCRIPT})]),
        Id=SCRIPT,
    )
    found = sssjob.Findings([sssjob.Finding("E-XML", EVIL, file=EVIL, path=EVIL, suggestion=EVIL)])
    for shown in (job, found, found[0]):
        text = shown._repr_html_()
        assert ("<script" in text, "\x1b" in text) == (False, False)
        assert not [each for each in html.fromstring(text).iter() if each.tag == "script"]
        assert "alert(1)" in html.fromstring(text).text_content()


def test_a_group_of_any_size_is_a_table_of_some_rows():
    group = JobGroup.of(*[Job.of(Id=number) for number in range(10_000)], Id="g")
    rows = html.fromstring(group._repr_html_()).findall(".//tr")
    assert len(rows) == notebook.ROWS + 1


def test_no_findings_are_told():
    assert sssjob.Findings()._repr_html_() == "<p>nothing is wrong</p>"
    assert repr(sssjob.validate("<Job><Id>1</Id></Job>")) == "<Findings: 1 notice>"
