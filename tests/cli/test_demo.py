"""The examples as a newcomer without a clone has them, and the demo on them."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from sssjob import outputs
from sssjob.cli import demo, sssjob

EXAMPLES = Path(__file__).parents[2] / "examples"
README = (EXAMPLES / "README.md").read_text()
# --help is the only thing to try of a command that serves until it is stopped.
COMMANDS = [line for line in re.findall(r"`sssjob ([^`]+)`", README) if " " in line]
FOUND = {"profile awareness.xml": 1, "validate --closed references.xml": 1}


def call(line):
    return CliRunner().invoke(sssjob, line if isinstance(line, list) else shlex.split(line))


def files(folder):
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder): path.read_bytes() for path in found}


def test_without_a_directory_the_examples_are_told():
    result = call("examples")
    assert result.exit_code == 0
    assert result.stdout == README


def test_the_examples_are_written_as_they_are(tmp_path):
    result = call(["examples", str(tmp_path / "new" / "examples")])
    assert result.exit_code == 0, result.output
    assert files(tmp_path / "new" / "examples") == files(EXAMPLES)
    assert f"{len(files(EXAMPLES))} examples written" in result.stderr


def test_every_example_is_told():
    rows = set(re.findall(r"`([\w.-]+/?)`", "".join(re.findall(r"(?m)^\|(.*?)\|", README))))
    names = {f"{path.name}/" if path.is_dir() else path.name for path in EXAMPLES.iterdir()}
    assert rows == names - {"README.md"}


@pytest.mark.parametrize("line", [line for line in COMMANDS if not line.startswith("examples ")])
def test_each_command_that_is_told_works_beside_the_examples(line, tmp_path, monkeypatch):
    assert call(["examples", str(tmp_path / "examples")]).exit_code == 0
    monkeypatch.chdir(tmp_path / "examples")
    result = call(line)
    assert result.exit_code == FOUND.get(line, 0), result.output


@pytest.mark.parametrize("line", ["examples", "demo"])
def test_a_directory_that_holds_anything_is_left_alone(line, tmp_path):
    (tmp_path / "mine").write_text("mine")
    result = call([line, str(tmp_path)])
    assert result.exit_code == 2
    assert (
        result.stderr
        == f"sssjob: error: {tmp_path}: the directory is not empty; name a new one, or remove it\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("line", ["examples", "demo"])
def test_what_is_no_directory_is_told(line, tmp_path):
    (tmp_path / "file").write_text("mine")
    result = call([line, str(tmp_path / "file")])
    assert result.exit_code == 2
    assert result.stderr == f"sssjob: error: {tmp_path / 'file'}: File exists\n"


def test_the_demo_shows_each_command_and_keeps_what_it_made(tmp_path, capfd):
    result = call(["demo", str(tmp_path / "demo")])
    assert result.exit_code == 0, result.output
    shown = [line for line in result.stdout.splitlines() if line.startswith("$ ")]
    assert shown == [f"$ sssjob {line}" for _, *lines in demo.STEPS for line in lines]
    printed = capfd.readouterr().out
    assert "#PBS -l walltime=24:00:00" in printed
    assert "physics" in printed
    made = {path.name for path in (tmp_path / "demo").iterdir()}
    assert {"examples", "jobs.sss", "jobs.db", "records.xml", "workflow.xml"} <= made


def test_a_step_that_fails_ends_the_demo(tmp_path, monkeypatch):
    steps = (("Nothing like that", "show nosuch.xml"), ("Never", "show examples/message.xml"))
    monkeypatch.setattr(demo, "STEPS", steps)
    result = call(["demo", str(tmp_path / "demo")])
    assert result.exit_code == 2
    assert "Never" not in result.stdout
    assert result.stderr == "sssjob: error: the command ended with 2\n"


@pytest.mark.parametrize("line", ["examples", "demo", "conformance --export"])
@pytest.mark.parametrize("there", [False, True], ids=["new", "empty"])
def test_what_is_broken_off_leaves_no_directory_half_written(line, there, tmp_path, monkeypatch):
    home = tmp_path / "home"
    if there:
        home.mkdir()
    written = []
    really = outputs.writing

    def writing(path, **options):
        written.append(path)
        if len(written) > 9:
            raise KeyboardInterrupt
        return really(path, **options)

    monkeypatch.setattr(outputs, "writing", writing)
    result = call([*line.split(), str(home)])
    assert result.exit_code == 130
    assert len(written) == 10
    assert [path.relative_to(tmp_path) for path in tmp_path.rglob("*")] == [Path("home")] * there


def test_a_demo_that_is_broken_off_at_a_step_leaves_nothing(tmp_path, monkeypatch):
    def run(*words, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo.subprocess, "run", run)
    assert call(["demo", str(tmp_path / "home")]).exit_code == 130
    assert list(tmp_path.iterdir()) == []
