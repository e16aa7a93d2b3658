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
