"""Each statement of the standard holds, each section has its cases, and all can be exported."""

import json
import re

import pytest
from click.testing import CliRunner
from lxml import etree

from sssjob import resources, spec
from sssjob.cli import sssjob
from sssjob.conformance.cases import sections
from sssjob.conformance.run import found
from sssjob.errors import CODES

CASES = [case for section in sections() for case in section.cases]
TESTED = [case for case in CASES if case.document]

# The headings of the text, in its order, and what stands in it without one.
TEXT = """Status 1.0 1.1 1.2 1.3 2.1 2.2 2.3 3.0 4.0 4.1 Table_1 4.2 5.0 5.1 Table_2 5.1_Executable
5.1_Feature 5.1_OutputFile 5.1_ErrorFile 5.1_InputFile 5.1_NotificationList 5.1_ResourceLimit
5.1_Credentials Table_3 5.1_Environment 5.1_Variable 5.1_Node 5.1_TaskDistribution 5.1_Dependency
5.1_Consumable Table_4 5.1_Resource 5.1_Extension 5.1_TaskGroup 5.2 6.0 6.1 Table_6 6.2 7.0 7.1
Table_7 7.2 8.0 8.1 8.2 9.0 10.0 A Names Namespaces"""


@pytest.mark.parametrize("case", TESTED, ids=lambda case: case.id)
def test_the_statement_holds(case):
    assert found(case) == case.expected, case.statement


def test_every_section_of_the_text_has_a_case():
    assert [section.name.replace(" ", "_") for section in sections()] == TEXT.split()
    assert [section.name for section in sections() if not section.cases] == []


@pytest.mark.parametrize("table", [name for name in spec.TABLES if name.startswith("Table")])
def test_every_row_of_a_table_has_a_case(table):
    (section,) = (each for each in sections() if each.name == table)
    shown = {case.statement.partition(",")[0] for case in section.cases}
    missing = {row.name for row in spec.TABLES[table]} - shown
    assert not missing, f"no case of {section.name} in conformance/ is about {sorted(missing)}"


def test_every_older_name_has_a_case():
    shown = {case.statement.partition(" ")[0] for case in CASES if case.section == "Names"}
    assert shown == {alias.name for alias in spec.ALIASES}


def test_every_attribute_and_each_of_its_values_is_in_a_document():
    text = "".join(case.document for case in TESTED)
    rows = [(row.name, value) for row in spec.ATTRIBUTES for value in row.values or ("",)]
    assert [row for row in rows if not re.search(rf'\b{row[0]}="[^"]*{row[1]}', text)] == []


def test_ids_are_unique():
    assert len({case.id for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_case_expects_something_or_says_why_not(case):
    assert bool(case.document) == bool(case.expected) == (not case.untested)
    assert case.statement.endswith((".", ".)"))
    assert case.level in ("", "MUST", "SHOULD", "MAY")
    if case.document:
        etree.fromstring(case.document)


def test_codes_that_are_expected_exist_and_are_explained():
    codes = {each["code"] for case in TESTED for each in case.expected.get("findings", ())}
    assert codes <= {code.name for code in CODES}
    explained = set(re.findall(r"`([EWI]-[A-Z-]+)`", resources.case_format().read_text()))
    assert explained == codes


def test_every_kind_of_expectation_is_explained():
    kinds = {name for case in TESTED for name in case.expected}
    text = resources.case_format().read_text()
    assert [kind for kind in kinds if f"`{kind}`" not in text] == []


# --- the command ------------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(sssjob, ["conformance", *arguments])


def test_the_command_runs_all_cases():
    done = run()
    assert done.exit_code == 0, done.output
    assert len(done.stdout.splitlines()) == len(sections())
    rows = json.loads(run("--json").stdout)
    assert sum(row["cases"] for row in rows) == len(TESTED)
    assert [row["failed"] for row in rows if row["failed"]] == []


def test_a_case_that_fails_is_named_and_told_by_the_exit_code(monkeypatch):
    from sssjob.conformance import run as module

    monkeypatch.setattr(module, "found", lambda case: {} if case.id == "8.1-10" else case.expected)
    done = run()
    assert done.exit_code == 1
    assert done.stderr == "8.1-10: not as expected\n"


def test_the_export_needs_nothing_of_ours(tmp_path):
    home = tmp_path / "new" / "cases"
    done = run("--export", str(home))
    assert done.exit_code == 0
    assert done.stderr == f"{len(TESTED)} cases written to {home}\n"
    index = json.loads((home / "sections.json").read_text())
    ids = [id_ for row in index for id_ in row["cases"]]
    assert ids == [case.id for case in CASES]
    for case in CASES:
        row = json.loads((home / "cases" / f"{case.id}.json").read_text())
        assert row["expected"] == json.loads(json.dumps(case.expected))
        if row["document"]:
            document = (home / "cases" / row["document"]).read_bytes()
            assert document.decode() == f"{case.document}\n"
            etree.fromstring(document)
    assert (home / "README.md").read_text() == resources.case_format().read_text()
    assert {path.name for path in home.iterdir()} == {"README.md", "cases", "sections.json"}


def test_a_directory_with_anything_in_it_is_left_alone(tmp_path):
    (tmp_path / "mine").touch()
    done = run("--export", str(tmp_path))
    assert done.exit_code == 2
    assert "the directory is not empty" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_directory_that_cannot_be_made_ends_the_command(tmp_path):
    (tmp_path / "file").touch()
    done = run("--export", str(tmp_path / "file" / "cases"))
    assert done.exit_code == 2
    assert done.stderr.startswith("sssjob: error: ")
