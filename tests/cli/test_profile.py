"""sssjob profile: what a peer of a lower level would lose."""

import json

import pytest
from click.testing import CliRunner

from sssjob.cli import sssjob

JOB = """<Job awarenessPolicy="Warn"><Id>1</Id><User>amy</User><Shell>sh</Shell>
 <Memory units="GB" awarenessPolicy="Ignore">2</Memory><Colour>red</Colour></Job>"""
SIMPLE = "<Job><Id>1</Id><State>Idle</State><User>amy</User><Duration>60</Duration></Job>"


def profile(*arguments, document=JOB):
    return CliRunner().invoke(sssjob, ["profile", *arguments, "-"], input=document)


def rows(output):
    return [line.split() for line in output.splitlines() if line.startswith("  ")]


def test_a_job_of_the_lowest_level_loses_nothing():
    result = profile(document=SIMPLE)
    assert result.exit_code == 0
    assert result.stdout == "<stdin>:1: Job 1: accepted by a peer of level minimal\n"


def test_what_is_lost_is_a_table_with_the_level_that_it_takes():
    result = profile()
    assert result.exit_code == 1
    head, *rest = rows(result.stdout)
    assert head == ["path", "what", "needs", "policy", "outcome"]
    assert [row[:4] for row in rest] == [
        ["/Job/Shell", "Shell", "full", "Warn"],
        ["/Job/Memory", "Memory", "recommended", "Ignore"],
        ["/Job/Colour", "Colour", "-", "Warn"],
    ]
    assert "Job 1: accepted, with losses by a peer" in result.stdout


@pytest.mark.parametrize(
    "level, lost",
    [
        ("minimal", ["Shell", "Memory", "Colour"]),
        ("recommended", ["Shell", "units", "Colour"]),
        ("full", ["Colour"]),
    ],
)
def test_a_higher_level_loses_less(level, lost):
    assert [row[1] for row in rows(profile("--level", level).stdout)[1:]] == lost


def test_json_has_one_object_for_each_job():
    result = profile("--json", document=f"<Jobs>{SIMPLE}\n{JOB}</Jobs>")
    first, second = map(json.loads, result.stdout.splitlines())
    assert (first["id"], first["accepted"], first["items"]) == ("1", True, [])
    assert second["line"] == 2
    assert second["items"][1] == {
        "path": "/Job/Memory", "line": 3, "kind": "element", "name": "Memory", "value": "2",
        "level": "recommended", "policy": "Ignore", "outcome": "lost in silence",
    }  # fmt: skip
    assert second["items"][2]["level"] is None


def test_a_peer_without_awareness_rejects():
    result = profile("--no-awareness", "--json")
    job = json.loads(result.stdout)
    assert not job["accepted"]
    assert {item["policy"] for item in job["items"]} == {"Reject"}
    assert job["items"][0]["name"] == "awarenessPolicy"


def test_lines_count_in_documents_of_one_line_each():
    result = profile("--json", document=f"{SIMPLE}\n{SIMPLE.replace('User', 'Group')}\n")
    assert json.loads(result.stdout.splitlines()[1])["items"][0]["line"] == 2


@pytest.mark.parametrize("document", ["<Job><Id>1</Job>", ""])
def test_what_cannot_be_read_is_told_apart(document):
    result = profile(document=document)
    assert result.exit_code == 2
    assert "<stdin>" in result.stderr


def test_a_file_that_is_not_there_is_told_apart():
    result = CliRunner().invoke(sssjob, ["profile", "nowhere.xml"])
    assert result.exit_code == 2
    assert "nowhere.xml: No such file" in result.stderr


def test_control_characters_of_strangers_stay_off_the_terminal():
    result = profile(document="<Job><Id>a&#x9b;2J</Id><Hold x='&#x9b;'/></Job>")
    assert "\x9b" not in result.stdout


def differing(*arguments):
    result = CliRunner().invoke(sssjob, ["profile", *arguments])
    assert result.exit_code == 0
    return result.stdout


def test_without_a_file_the_difference_of_two_levels_is_listed():
    names = [row[0] for row in rows(differing("--level", "minimal", "--against", "recommended"))]
    assert {"Memory", "Requested", "Requested/*/@op"} <= set(names)
    assert "Shell" not in names
    assert differing("--level", "full") == ""


def test_differences_are_json_too():
    lines = differing("--level", "recommended", "--json").splitlines()
    assert {
        "kind": "attribute",
        "name": "Memory/@units",
        "level": "full",
        "section": "SSS 5.1 Consumable Resources",
    } in map(json.loads, lines)


def validate(*arguments, document=JOB):
    result = CliRunner().invoke(sssjob, ["validate", "--json", *arguments, "-"], input=document)
    return result.exit_code, [
        (one["code"], one["severity"], one["path"]) for one in json.loads(result.stdout)
    ]


UNKNOWN = ("E-UNKNOWN", "warning")
DURATION = ("I-MISSING", "notice", "/Job")


def test_validating_by_a_profile_says_by_policy_what_is_above_it():
    assert validate("--profile", "full") == (0, [DURATION, (*UNKNOWN, "/Job/Colour")])
    assert validate("--profile", "minimal") == (
        0, [DURATION, (*UNKNOWN, "/Job/Shell"), (*UNKNOWN, "/Job/Colour")]
    )  # fmt: skip


@pytest.mark.parametrize(
    "level, name, code",
    [
        ("minimal", "1.3-very-simple-example", 0),
        ("minimal", "1.3-moderate-example", 1),
        ("recommended", "1.3-moderate-example", 1),
        ("full", "1.3-moderate-example", 0),
    ],
)
def test_a_profile_accepts_what_its_implementations_would(level, name, code, pytestconfig):
    document = (pytestconfig.rootpath / "tests/data/valid" / f"{name}.xml").read_text()
    assert validate("--profile", level, document=document)[0] == code
    assert profile("--level", level, document=document).exit_code == code


def test_a_policy_lets_a_lesser_implementation_go_on(pytestconfig):
    path = pytestconfig.rootpath / "tests/data/valid/1.3-moderate-example.xml"
    document = path.read_text().replace("<Job>", '<Job awarenessPolicy="Warn">')
    code, found = validate("--profile", "minimal", document=document)
    assert code == 0
    assert (*UNKNOWN, "/Job/Application") in found


def test_without_awareness_everything_is_rejected_by_name():
    code, found = validate("--no-awareness")
    assert code == 1
    assert [one for one in found if one[0] == "E-UNKNOWN"] == [
        ("E-UNKNOWN", "error", "/Job/@awarenessPolicy"),
        ("E-UNKNOWN", "error", "/Job/Memory/@awarenessPolicy"),
        ("E-UNKNOWN", "error", "/Job/Colour"),
    ]


def test_what_a_lesser_implementation_does_not_look_at_it_does_not_fault():
    document = (
        "<Job><Id>1</Id><Duration>6</Duration><Requested><Memory>x</Memory></Requested></Job>"
    )
    assert [one[0] for one in validate(document=document)[1]] == ["I-UNIT", "E-TYPE"]
    assert validate("--profile", "minimal", document=document)[1] == [
        ("E-UNKNOWN", "error", "/Job/Requested")
    ]


def test_broken_lines_do_not_hide_those_after_them():
    code, found = validate(
        "--profile", "minimal", document=f"{SIMPLE}\n<Job><Id></Job>\n{SIMPLE}\n"
    )
    assert (code, [one[0] for one in found]) == (2, ["E-XML"])


MESSAGE = (
    "<Data><Job><Id>1</Id><Duration>6</Duration><Executable>#a</Executable></Job>"
    "<JobGroup><Id>g</Id><Job>x</Job></JobGroup><File id='{}'>#!/bin/sh</File></Data>"
)


def test_a_closed_message_holds_the_files_and_jobs_that_it_mentions():
    document = MESSAGE.format("a")
    assert validate(document=document) == (0, [("I-REFERENCE", "notice", "/JobGroup/Job")])
    assert validate("--closed", document=document) == (1, [("E-REF", "error", "/JobGroup/Job")])
    codes = [one[0] for one in validate("--closed", document=MESSAGE.format("b"))[1]]
    assert codes == ["E-REF", "E-FILE", "I-FILE"]


def test_a_closed_message_is_read_from_a_file_too(tmp_path):
    path = tmp_path / "message.xml"
    path.write_text(MESSAGE.format("b"))
    result = CliRunner().invoke(sssjob, ["validate", "--closed", str(path)])
    assert f"{path}:1: error: no File with the id a" in result.stderr


def test_a_message_that_cannot_be_read_is_said_once():
    code, found = validate("--closed", document="<Job><Id></Job>")
    assert (code, [one[0] for one in found]) == (2, ["E-XML"])
