"""What commands print with --json is what their schema says; every command has it, or a reason."""

import json
import shutil
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from command_tree import commands
from json_commands import CALLS, keeps_to_its_schema, prepare

from sssjob.cli import sssjob
from sssjob.cli.defaults import KEYS
from sssjob.measures import MEASURES
from sssjob.verbs.shapes import DEFAULTS, MANY, SHAPES, WITHOUT, schema

COMMANDS = {" ".join(words): command for words, command in commands(sssjob)}
HAVING = {
    name
    for name, command in COMMANDS.items()
    if any("--json" in parameter.opts for parameter in command.params)
}
ROWS = [
    pytest.param(name, words, id=f"{name} {words}")
    for name, calls in CALLS.items()
    for words in calls
]


def printed(name, text):
    """What was printed: one JSON text, or one on each line, as the contract says."""
    return list(map(json.loads, text.splitlines())) if SHAPES[name].lines else [json.loads(text)]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """What the commands are given, which no test writes to."""
    place = tmp_path_factory.mktemp("prepared")
    prepare(place)
    return place


@pytest.fixture
def place(prepared, tmp_path, monkeypatch):
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True, symlinks=True)
    monkeypatch.chdir(tmp_path)


def test_every_command_has_json_or_a_reason():
    missing = sorted(set(COMMANDS) - {*SHAPES, *WITHOUT})
    assert not missing, f"{missing}: no schema in SHAPES, and no reason in WITHOUT of shapes.py"
    assert set(SHAPES) == HAVING
    assert set(WITHOUT) == set(COMMANDS) - HAVING


# What a batch system or a server answers is held against the schema where one is.
ELSEWHERE = {
    "submit": "test_submit.py", "request": "test_request.py",
    "features prove": "test_features_prove.py", "features sample": "test_features_sample.py",
    "features discover": "test_features_watch.py", "features watch": "test_features_watch.py",
}  # fmt: skip


def test_every_command_with_json_is_called():
    assert set(CALLS) == HAVING
    assert {name for name, calls in CALLS.items() if not calls} == set(ELSEWHERE)
    for name, file in ELSEWHERE.items():
        text = Path(__file__).with_name(file).read_text("utf-8")
        assert f'keeps_to_its_schema("{name}", ' in text


def test_the_shape_of_defaults_has_each_key_of_their_file():
    assert set(DEFAULTS) == set(KEYS)


@pytest.mark.parametrize("name", SHAPES)
def test_a_schema_is_one_and_is_printed(name):
    result = CliRunner().invoke(sssjob, ["schema", *name.split()])
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found == schema(name, SHAPES[name])
    jsonschema.Draft202012Validator.check_schema(found)


@pytest.mark.parametrize("name, words", ROWS)
def test_what_is_printed_is_what_the_schema_says(name, words, place):
    result = CliRunner().invoke(sssjob, [*name.split(), *words.split(), "--json"])
    assert isinstance(result.exception, SystemExit | None), result.exception
    found = printed(name, result.stdout)
    assert found or name in ("store check", "ledger check", "ledger repair"), result.stderr
    for each in found:
        keeps_to_its_schema(name, each)


def test_a_count_of_matches_is_what_the_schema_says(place):
    found = CliRunner().invoke(sssjob, ["query", "//Job", "--count", "--json", "good.xml"]).stdout
    keeps_to_its_schema("query", json.loads(found))


def test_json_lines_are_had_wherever_there_may_be_many():
    having = {
        name
        for name, command in COMMANDS.items()
        if any("--jsonl" in parameter.opts for parameter in command.params)
    }
    assert having == {*MANY, *(name for name, shape in SHAPES.items() if shape.lines)}


@pytest.mark.parametrize("name, words", [row for row in ROWS if row.values[0] in MANY])
def test_json_lines_are_what_the_array_holds(name, words, place):
    one, lines = (
        CliRunner().invoke(sssjob, [*name.split(), *words.split(), form]).stdout
        for form in ("--json", "--jsonl")
    )
    assert [json.loads(line) for line in lines.splitlines()] == json.loads(one)


def test_a_report_has_every_measure():
    of_total = schema("report", SHAPES["report"])["properties"]["total"]
    assert of_total["required"] == [measure.name for measure in MEASURES]


@pytest.mark.parametrize(
    "words, said",
    [
        (["canon"], "sssjob canon has no --json: it prints documents"),
        (["reprot"], "there is no command 'reprot'; did you mean report?"),
        (["nothing of the kind"], "sssjob schema lists those with --json"),
    ],
)
def test_what_has_no_schema_is_told(words, said):
    result = CliRunner().invoke(sssjob, ["schema", *words])
    assert result.exit_code == 2
    assert said in result.stderr


def test_the_commands_with_a_schema_are_listed():
    lines = CliRunner().invoke(sssjob, ["schema"]).stdout.splitlines()
    assert {line[:18].strip() for line in lines} == HAVING
    assert "show                JSON lines" in lines


def test_those_of_a_group_are_listed_by_its_name():
    lines = CliRunner().invoke(sssjob, ["schema", "ledger"]).stdout.splitlines()
    names = {line[:18].strip() for line in lines}
    assert names == {each for each in HAVING if each.startswith("ledger ")}
    assert len(names) > 5


@pytest.mark.parametrize("forms", [("--json", "--csv"), ("--csv", "--json")])
def test_two_forms_of_a_report_are_refused(forms):
    done = CliRunner().invoke(sssjob, ["report", *forms, "-"], input="")
    assert done.exit_code == 2
    assert done.stderr.endswith("Error: --json and --csv: give one of them\n")


def test_an_option_for_json_that_is_not_there_is_told_with_the_reason():
    done = CliRunner().invoke(sssjob, ["canon", "--json", "-"], input="")
    assert done.exit_code == 2
    assert done.stderr.endswith("Error: This command has no --json: it prints documents.\n")


@pytest.mark.parametrize(
    ("words", "meant"),
    [(["store", "load"], "import"), (["ledger", "add"], "ingest"), (["store", "rm"], "delete")],
)
def test_what_others_call_a_command_leads_to_it(words, meant):
    done = CliRunner().invoke(sssjob, words)
    assert f"Did you mean '{meant}'?" in done.stderr


@pytest.mark.parametrize(
    ("words", "meant"),
    [(["convert", "--from", "sacctt"], "sacct"), (["status", "--from", "slrum"], "slurm")],
)
def test_a_misspelt_format_is_told_with_the_one_that_is_meant(words, meant):
    done = CliRunner().invoke(sssjob, [*words, "-"], input="x")
    assert done.exit_code == 2
    assert done.stderr.endswith(f"; did you mean {meant}?\n")
