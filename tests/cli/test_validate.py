"""``sssjob validate``: findings for people, scripts and code hosts."""

import gzip
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from sssjob.cli import sssjob
from sssjob.errors import CODES

GOOD = "<Job><Id>1</Id><Duration>60</Duration></Job>"
NOTICED = "<Job><Id>1</Id></Job>"
WARNED = "<Job><Id>1</Id><Duration>00:01:00</Duration></Job>"
WRONG = '<Job>\n <Id>1</Id>\n <Duration>60</Duration>\n <Processors op="GE">x</Processors>\n</Job>'
BROKEN = "<Job>\n<Id>1</Job>"
KEYS = ["file", "line", "column", "code", "severity", "message", "path", "section", "suggestion"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "good": GOOD, "noticed": NOTICED, "warned": WARNED, "wrong": WRONG, "broken": BROKEN,
    }.items():  # fmt: skip
        (tmp_path / f"{name}.xml").write_text(text)

    def run(*arguments, stdin=None):
        result = CliRunner().invoke(sssjob, ["validate", *arguments], input=stdin)
        return result.exit_code, result.stdout, result.stderr

    return run


CODES_OF_EXIT = [
    pytest.param(["good.xml"], 0, id="nothing to say"),
    pytest.param(["noticed.xml", "warned.xml"], 0, id="notices and warnings"),
    pytest.param(["wrong.xml"], 1, id="an error"),
    pytest.param(["broken.xml"], 2, id="not well-formed"),
    pytest.param(["broken.xml", "wrong.xml"], 2, id="not well-formed counts more"),
    pytest.param(["nowhere.xml", "good.xml"], 2, id="no such file"),
    pytest.param(["."], 2, id="a directory"),
]


@pytest.mark.parametrize("files, code", CODES_OF_EXIT)
@pytest.mark.parametrize("form", [[], ["--json"], ["--quiet"], ["--format", "sarif"]])
def test_the_exit_code_tells_what_was_found(run, files, code, form):
    assert run(*form, *files)[0] == code


def test_findings_are_printed_as_compilers_do_with_a_sum(run):
    assert run("wrong.xml", "noticed.xml") == (
        1,
        "",
        "wrong.xml:4: error: attribute op has no meaning outside Requested at /Job/Processors/@op; "
        "put the property into Requested (SSS 9.0) [E-UNKNOWN]\n"
        "wrong.xml:4: error: Processors: 'x' is not an integer such as 16 at /Job/Processors "
        "(SSS 5.1 Table 4) [E-TYPE]\n"
        "noticed.xml:1: notice: Job has no Duration, which is recommended at /Job "
        "(SSS 5.1 Table 2) [I-MISSING]\n"
        "2 errors, 1 notice\n",
    )
    assert run("good.xml") == (0, "", "")


def test_json_has_the_keys_of_the_contract_in_their_order(run):
    code, out, err = run("--json", "wrong.xml", "broken.xml")
    found = json.loads(out)
    assert (code, err) == (2, "")
    assert [list(item) for item in found] == [KEYS] * 3
    assert found[0] == {
        "file": "wrong.xml",
        "line": 4,
        "column": None,
        "code": "E-UNKNOWN",
        "severity": "error",
        "message": "attribute op has no meaning outside Requested",
        "path": "/Job/Processors/@op",
        "section": "SSS 9.0",
        "suggestion": "put the property into Requested",
    }
    assert (found[2]["code"], found[2]["line"], found[2]["column"]) == ("E-XML", 2, 6)


def test_json_of_nothing_is_an_empty_array(run):
    assert run("--json", "good.xml") == (0, "[]\n", "")
    assert run("--json", "--quiet", "wrong.xml") == (1, "[]\n", "")


def test_sarif_is_what_code_hosts_ask_for(run):
    log = json.loads(run("--format", "sarif", "wrong.xml", "noticed.xml", "nowhere.xml")[1])
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (only,) = log["runs"]
    driver = only["tool"]["driver"]
    assert driver["name"] == "sssjob"
    assert [rule["id"] for rule in driver["rules"]] == [code.name for code in CODES]
    levels = {rule["defaultConfiguration"]["level"] for rule in driver["rules"]}
    assert levels == {"error", "warning", "note"}
    assert [result["level"] for result in only["results"]] == ["error", "error", "note", "error"]
    for result in only["results"]:
        assert result["ruleId"] in {rule["id"] for rule in driver["rules"]}
        assert result["message"]["text"]
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"].endswith(".xml")
    place = only["results"][0]["locations"][0]
    assert place["physicalLocation"]["region"] == {"startLine": 4}
    assert place["logicalLocations"] == [{"fullyQualifiedName": "/Job/Processors/@op"}]


LEVELS = [
    pytest.param("notice", ["I-MISSING", "W-TYPE", "E-UNKNOWN", "E-TYPE"], id="notice"),
    pytest.param("warning", ["W-TYPE", "E-UNKNOWN", "E-TYPE"], id="warning"),
    pytest.param("error", ["E-UNKNOWN", "E-TYPE"], id="error"),
]


@pytest.mark.parametrize("level, expected", LEVELS)
def test_a_level_hides_what_weighs_less(run, level, expected):
    code, out, _ = run("--json", "--level", level, "noticed.xml", "warned.xml", "wrong.xml")
    assert [item["code"] for item in json.loads(out)] == expected
    assert code == 1


def test_a_file_that_cannot_be_read_does_not_stop_the_others(run):
    Path("empty").mkdir()
    code, out, _ = run("--json", "nowhere.xml", "empty", "broken.xml", "wrong.xml")
    found = [(item["file"], item["code"]) for item in json.loads(out)]
    assert code == 2
    assert found == [
        ("nowhere.xml", "E-XML"),
        ("empty", "E-XML"),
        ("broken.xml", "E-XML"),
        ("wrong.xml", "E-UNKNOWN"),
        ("wrong.xml", "E-TYPE"),
    ]
    assert "No such file" in json.loads(out)[0]["message"]
    assert "directory" in json.loads(out)[1]["message"]


@pytest.mark.parametrize("arguments", [["-"], []])
def test_standard_input_is_read_packed_or_not(run, arguments):
    for data in (WRONG.encode(), gzip.compress(WRONG.encode())):
        code, _, err = run(*arguments, stdin=data)
        assert code == 1
        assert err.startswith("<stdin>:4: error: ")


def test_quiet_prints_nothing(run):
    assert run("--quiet", "wrong.xml", "broken.xml") == (2, "", "")


def test_help_shows_examples(run):
    code, out, _ = run("--help")
    assert code == 0
    assert "sssjob validate --json jobs/*.xml" in out


def test_sarif_names_a_file_whose_name_is_no_text(run):
    name = os.fsdecode(b"wr\xffng.xml")
    Path(name).write_text(WRONG)
    log = json.loads(run("--format", "sarif", name)[1])
    (place,) = log["runs"][0]["results"][0]["locations"]
    assert place["physicalLocation"]["artifactLocation"] == {"uri": "wr%FFng.xml"}


MANY = "".join(f"<Job><Id>{number}</Id><Odd/></Job>" for number in range(50))


def test_of_many_findings_that_are_alike_the_first_are_told_and_how_many_more(run, tmp_path):
    (tmp_path / "many.xml").write_text(MANY)
    (tmp_path / "more.xml").write_text(MANY)
    lines = run("many.xml", "more.xml")[2].splitlines()
    odd = [line for line in lines if "Odd" in line]
    assert len(odd) == 40
    for name in ("many.xml", "more.xml"):
        assert (
            f"{name}: error: and 30 more like these [E-UNKNOWN]; --all-findings tells each" in lines
        )
    assert "100 errors" in lines[-1]


BAD = "JobID|User|End\n" + "".join(f"{number}|amy|soon\n" for number in range(50))


def test_bad_records_are_findings_of_which_the_first_are_told_to_people(run, tmp_path):
    (tmp_path / "bad.txt").write_text(BAD)
    code, _, said = run("bad.txt")
    assert (code, said.count("'soon' is not a time")) == (1, 20)
    assert "bad.txt: error: and 30 more like these; --all-findings tells each" in said
    assert said.endswith("50 errors\n")


@pytest.mark.parametrize("form", [
    ["--all-findings"], ["--jsonl"], ["--json"], ["--format", "sarif"], ["--json", "--closed"],
])  # fmt: skip
def test_all_bad_records_are_told_if_all_are_asked_for_and_to_programs(run, tmp_path, form):
    (tmp_path / "bad.txt").write_text(BAD)
    code, printed, said = run(*form, "bad.txt")
    assert (code, (printed + said).count("'soon' is not a time")) == (1, 50)
    assert "soon" not in (said if printed else printed)


def test_quiet_says_nothing_of_records(run, tmp_path):
    (tmp_path / "bad.txt").write_text(BAD)
    assert run("-q", "bad.txt") == (1, "", "")


@pytest.mark.parametrize("words", ["show", "query //Id", "profile", "translate --to slurm"])
def test_every_command_tells_the_first_bad_records_and_how_many_more(tmp_path, words):
    (tmp_path / "bad.txt").write_text(BAD)
    said = CliRunner().invoke(sssjob, [*words.split(), str(tmp_path / "bad.txt")]).stderr
    assert said.count("'soon' is not a time") == 20
    assert "and 30 more like these; --all-findings tells each" in said


@pytest.mark.parametrize("form", [["--all-findings"], ["--jsonl"], ["--json"]])
def test_all_findings_are_told_if_all_are_asked_for_and_to_programs(run, tmp_path, form):
    (tmp_path / "many.xml").write_text(MANY)
    _, printed, said = run(*form, "many.xml")
    assert (printed + said).count("E-UNKNOWN") == 50
