"""Checking: every fault with its place, in step with the schema and the tables."""
# ruff: noqa: E501 (a row of a table is a line)

import io
import json
from pathlib import Path

import pytest
from draws import examples
from hypothesis import assume, given
from lxml import etree
from strategies import ANY, documents

from sssjob import resources, spec
from sssjob.check import meaning
from sssjob.check.findings import check
from sssjob.check.sources import check_source, is_valid, validate
from sssjob.document import loads
from sssjob.document.document import Document
from sssjob.errors import CODES, InvalidJob, LimitExceeded, Severity

TESTS = Path(__file__).parents[1]
INVALID = sorted((TESTS / "data" / "invalid").glob("*.xml"))
VALID = sorted((TESTS / "data" / "valid").glob("*.xml"))
SCHEMAS = {
    namespace: etree.XMLSchema(file=resources.schema(name))
    for namespace, name in (("", "sssjob"), (spec.NAMESPACE, "sssjob-sssrmap"))
}
# A reader is kinder than the schema: to older names and spellings, and where a policy says so.
# Numbers and names made at random need not agree with each other.
AGREEMENT = {"E-OP", "E-COUNTS", "E-CYCLE", "E-UNSAT"}
KINDER = {"W-TYPE", "I-ALIAS", "W-CATEGORY"}


def codes(text):
    return [finding.code for finding in check_source(text.encode())]


def messages(text):
    return [finding.message for finding in check_source(text.encode())]


def job(inside, more=""):
    return f"<Job{more}><Id>1</Id><Duration>60</Duration>{inside}</Job>"


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_a_document_gives_the_findings_beside_it(path):
    expected = json.loads(path.with_suffix(".findings.json").read_text())
    found = [
        {
            "line": finding.line,
            "code": finding.code,
            "severity": finding.severity.value,
            "path": finding.path,
            "section": finding.section,
            "message": finding.message,
            "suggestion": finding.suggestion,
        }
        for finding in check_source(path)
    ]
    assert found == expected


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_a_document_is_named_after_a_code_that_it_gives(path):
    code = path.stem.removesuffix("-root")
    assert code in {finding.code for finding in check_source(path)}


@pytest.mark.parametrize("code", [code.name for code in CODES])
def test_every_code_has_a_document_or_a_test_of_its_own(code):
    documents = {path.stem for path in INVALID}
    tests = [path for path in TESTS.rglob("test_*.py") if path.name != "test_check.py"]
    told = f"no tests/data/invalid/{code}.xml, and no test has it"
    assert code in documents or any(f'"{code}"' in path.read_text() for path in tests), told


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_valid_documents_have_no_errors(path):
    assert is_valid(path)
    assert all(finding.severity is not Severity.ERROR for finding in validate(path))


@given(documents())
def test_documents_made_from_the_tables_have_no_errors(element):
    root = etree.fromstring(etree.tostring(element))
    errors = [finding for finding in check(root) if finding.severity is Severity.ERROR]
    assert [str(finding) for finding in errors if finding.code not in AGREEMENT] == []


@examples(80)
@given(ANY)
def test_what_the_schema_rejects_the_walk_rejects(element):
    root = etree.fromstring(etree.tostring(element))
    namespaces = {etree.QName(node).namespace or "" for node in root.iter("{*}*")}
    assume(namespaces <= {"", "urn:example:site"} or "" not in namespaces)
    policies = {node.get("awarenessPolicy") for node in root.iter("{*}*")}
    assume(policies.isdisjoint({"Warn", "Ignore"}))
    found = list(check(root))
    assume(KINDER.isdisjoint(finding.code for finding in found))
    rejected = not SCHEMAS[etree.QName(root).namespace or ""].validate(root)
    errors = [finding for finding in found if finding.severity is Severity.ERROR]
    assert errors or not rejected, etree.tostring(root)


@given(ANY)
def test_every_finding_has_all_its_parts(element):
    root = etree.fromstring(etree.tostring(element))
    for finding in check(root):
        assert finding.code in {code.name for code in CODES}
        assert finding.line > 0
        assert finding.path.startswith(f"/{etree.QName(root).localname}")
        assert finding.section.startswith("SSS ")
        assert finding.message
        assert not finding.suggestion.endswith(".")


@given(ANY)
def test_a_path_leads_to_one_element(element):
    root = etree.fromstring(etree.tostring(element))
    assume({etree.QName(node).namespace for node in root.iter("{*}*")} == {None})
    for finding in check(root):
        assert len(root.getroottree().xpath(finding.path.partition("/@")[0])) == 1


def test_lines_count_over_documents_and_files_are_named():
    found = list(check_source(b"<Job>\n<Id/></Job>\n\n<Job>\n\n<Id/></Job>", name="a.xml"))
    errors = [str(finding) for finding in found if finding.severity is Severity.ERROR]
    assert errors == [
        "a.xml:2: error: the Id of Job is empty at /Job/Id (SSS 5.1 Table 2) [E-MISSING]",
        "a.xml:6: error: the Id of Job is empty at /Job/Id (SSS 5.1 Table 2) [E-MISSING]",
    ]


def test_a_line_that_cannot_be_read_does_not_hide_the_next():
    data = b"<Job>a</Job>\n<Job>b</Job>\n<Job>\n<Job/>\n"
    assert [(finding.line, finding.code) for finding in check_source(data)] == [
        (1, "I-REFERENCE"), (2, "I-REFERENCE"), (3, "E-XML"), (4, "E-EMPTY"),
    ]  # fmt: skip


def test_validate_raises_everything_at_once():
    with pytest.raises(InvalidJob) as failure:
        validate(b"<Job><Id> </Id><Colour/></Job>")
    assert [finding.code for finding in failure.value.findings] == [
        "E-MISSING", "E-UNKNOWN", "I-MISSING",
    ]  # fmt: skip
    assert [finding.code for finding in validate(b"<Job><Id>1</Id></Job>")] == ["I-MISSING"]


RIGHT, WRONG = (
    "<Job><Id>1</Id><Duration>1</Duration></Job>",
    "<Job><Id> </Id><Duration>1</Duration></Job>",
)
ODD = RIGHT.replace("<Id>1", "<Id>\ud800")
HELD = [
    pytest.param(loads(WRONG), ["E-MISSING"], id="a job"),
    pytest.param([loads(RIGHT), loads(WRONG)], ["E-MISSING"], id="a list of jobs"),
    pytest.param((loads(WRONG), loads(WRONG)), ["E-MISSING"] * 2, id="a tuple of jobs"),
    pytest.param([], ["E-XML"], id="no jobs, which are no document"),
    pytest.param(Document.read(WRONG.encode()), ["E-MISSING"], id="a document"),
    pytest.param(WRONG, ["E-MISSING"], id="a text"),
    pytest.param(WRONG.encode(), ["E-MISSING"], id="bytes"),
    pytest.param(io.BytesIO(WRONG.encode()), ["E-MISSING"], id="a stream of bytes"),
    pytest.param(io.StringIO(WRONG), ["E-MISSING"], id="a stream of text"),
    pytest.param(io.StringIO(ODD), ["E-XML"], id="a stream of text that is none"),
]  # fmt: skip


@pytest.mark.parametrize("source, expected", HELD)
def test_whatever_holds_job_objects_is_checked(source, expected):
    assert [finding.code for finding in check_source(source)] == expected


@pytest.mark.parametrize(
    "text, valid", [(RIGHT, True), (WRONG, False), ("<Job><Id>1</Id></Job>", True)]
)
def test_a_source_is_valid_without_errors(text, valid):
    assert is_valid(text) == valid


@pytest.mark.parametrize("data", [b"<Job>a</Job>\n<Job>\n<Job/>\n", b"<Job>a</Job>\n<Job>\n"])
def test_each_fault_of_a_source_that_cannot_be_read_names_its_file(data):
    found = [*check_source(data, name="a.xml")]
    assert {finding.file for finding in found} == {"a.xml"}
    assert {"I-REFERENCE", "E-XML"} <= {finding.code for finding in found}


def test_what_jobs_inherit_in_a_great_number_is_told_not_to_be_checked(monkeypatch):
    def too_many(*_, **__):
        raise LimitExceeded("values", 3)

    monkeypatch.setattr(meaning, "check", too_many)
    [found] = check(etree.fromstring(RIGHT))
    assert (found.code, found.severity, found.path, found.section) == (
        "E-LIMIT", Severity.WARNING, "/Job", "SSS 4.2",
    )  # fmt: skip
    assert found.message.startswith("what its jobs inherit is not checked: ")


def test_findings_come_in_the_order_of_their_lines():
    root = etree.fromstring("<Job>\n<Processors>x</Processors>\n<Colour/></Job>")
    lines = [finding.line for finding in check(root)]
    assert lines == sorted(lines)
    assert len(lines) == 4


def test_a_unit_is_asked_for_once_in_a_source():
    memory = job("<Memory>1</Memory><Swap>2</Swap>")
    assert codes(memory * 3) == ["I-UNIT"]
    assert codes(f"<Jobs>{memory * 300}</Jobs>") == ["I-UNIT"]


def test_many_findings_in_one_group_take_time_in_proportion():
    group = "<JobGroup><Id>g</Id>" + "<Job><Id> </Id></Job>" * 20_000 + "</JobGroup>"
    found = list(check_source(group.encode()))
    assert len(found) == 40_000
    assert found[-1].path == "/JobGroup/Job[20000]"


# fmt: off
NETWORKS = [
    pytest.param("<Network>100</Network>",                           [],           id="an amount"),
    pytest.param("<Network>Myrinet</Network>",                       ["I-ALIAS"],  id="an adapter"),
    pytest.param('<Network units="MB">fast</Network>',               ["E-TYPE"],   id="an amount that is none"),
    pytest.param("<Network>100</Network><Network>Myrinet</Network>", ["I-ALIAS"],  id="both"),
    pytest.param('<Requested><Network op="Match">My.*</Network></Requested>', ["I-ALIAS"], id="requested"),
    pytest.param("<NetworkAdapter>7</NetworkAdapter>",               [],           id="an adapter called 7"),
]
# fmt: on


@pytest.mark.parametrize("inside, expected", NETWORKS)
def test_network_is_an_amount_or_the_type_of_an_adapter(inside, expected):
    assert codes(job(inside)) == expected


# fmt: off
UNREPEATED = [
    pytest.param("<User>a</User><User>b</User>", ["E-DUP"], id="a user"),
    pytest.param("<Hold>a</Hold><Hold>b</Hold>", [], id="holds"),
    pytest.param("<Dependency>2</Dependency><Dependency>3</Dependency>", [], id="dependencies"),
    pytest.param('<Resource name="a">1</Resource><Resource name="a">1</Resource>', [], id="resources"),
    pytest.param('<Extension name="a">1</Extension><Extension name="a">1</Extension>', [], id="extensions"),
    pytest.param('<Processors context="Used">1</Processors><Processors>1</Processors>', [], id="contexts"),
    pytest.param("<Processors>1</Processors><Processors>1</Processors>", ["E-DUP"], id="processors"),
    pytest.param("<Requested><User>a</User><User conj='Or'>b</User></Requested>", [], id="requested"),
    pytest.param("<Delivered><User>a</User><User>b</User></Delivered>", [], id="delivered"),
    pytest.param("<wallclockLimit>1</wallclockLimit>", ["I-ALIAS"], id="a limit beside a duration"),
    pytest.param("<Requested><User>a</User></Requested><Requested><User>b</User></Requested>", [], id="two blocks"),
]
# fmt: on


@pytest.mark.parametrize("inside, expected", UNREPEATED)
def test_a_property_set_holds_once_what_does_not_repeat(inside, expected):
    assert codes(job(inside)) == expected


def test_the_same_findings_come_in_either_namespace():
    for path in INVALID:
        if path.stem in ("E-XML", "E-LIMIT", "E-UNKNOWN", "E-UNKNOWN-root"):
            continue
        text = path.read_text()
        name = text[1 : min(text.index(">"), text.index("\n"))]
        spaced = text.replace(f"<{name}>", f'<{name} xmlns="{spec.NAMESPACE}">', 1)
        assert list(check_source(spaced.encode())) == list(check_source(text.encode()))


POLICIES = [
    pytest.param('<Job awarenessPolicy="Warn">{}</Job>', "warning", id="on the job"),
    pytest.param('<Jobs awarenessPolicy="Warn"><Job>{}</Job></Jobs>', "error", id="on a wrapper"),
    pytest.param(
        '<JobGroup awarenessPolicy="Warn"><Id>g</Id><Job>{}</Job></JobGroup>', "warning", id="on the group",
    ),
    pytest.param('<Job awarenessPolicy="Ignore">{}</Job>', None, id="ignored"),
    pytest.param("<Job>{}</Job>", "error", id="Reject if absent"),
    pytest.param(
        '<JobGroup awarenessPolicy="Ignore"><Id>g</Id>'
        '<Job awarenessPolicy="Reject">{}</Job></JobGroup>', "error", id="the nearest counts",
    ),
]  # fmt: skip


@pytest.mark.parametrize("text, severity", POLICIES)
def test_the_nearest_policy_tells_how_hard_the_unknown_weighs(text, severity):
    inside = "<Id>1</Id><Duration>60</Duration><Colour>red</Colour>"
    found = [finding.severity.value for finding in check_source(text.format(inside).encode())]
    assert found == ([severity] if severity else [])


def test_a_policy_never_makes_a_wrong_value_right():
    found = check_source(job("<Processors>x</Processors>", ' awarenessPolicy="Ignore"').encode())
    assert [finding.severity.value for finding in found] == ["error"]


def test_a_wrapper_may_be_empty_but_no_document_is_about_nothing():
    assert codes("<Jobs/>") == []
    assert codes("<Jobs><Nothing/></Jobs>") == ["E-UNKNOWN"]
    assert codes("<Requested><User>a</User></Requested>") == ["E-UNKNOWN"]
    assert codes("<job/>") == ["E-UNKNOWN"]
    assert codes("<Task><Job>1</Job></Task>") == ["E-UNKNOWN"]


def test_foreign_attributes_of_xml_and_of_schemas_are_understood():
    more = ' xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:type="x" xml:lang="en"'
    assert codes(job("", more)) == []


@pytest.mark.parametrize("nothing", ["<Job/>", "<Job>\n  \n</Job>", "<Job><!-- no -->\u00a0</Job>"])
def test_a_job_without_anything_among_jobs_that_depend_on_each_other_is_told(nothing):
    jobs = "<Job><Id>a</Id></Job><Job><Id>b</Id><Dependency>a</Dependency></Job>"
    found = codes(f"<JobGroup><Id>g</Id>{jobs}{nothing}</JobGroup>")
    assert ("E-EMPTY" in found) == ("\u00a0" not in nothing)
