"""What every command must have: help with an example, a test and a place in the docs."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from command_tree import commands

from sssjob.cli import SECTIONS, sssjob

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]


COMMANDS = dict(commands(sssjob))
every_command = pytest.mark.parametrize("words", COMMANDS, ids=" ".join)


@every_command
def test_a_command_shows_an_example_of_itself_and_says_how_it_ends(words):
    epilog = COMMANDS[words].epilog or ""
    called = {f"sssjob {' '.join(words)}", f"sssjob {words[-1]}"}  # one may go by two names
    assert any(call in epilog for call in called), "epilog: no example that calls it"
    assert "Exit code" in epilog, "epilog: no line with its exit codes"


@every_command
def test_a_command_has_a_test(words):
    called = f'"{words[-1]}"'
    tests = (path for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__))
    assert any(called in path.read_text(encoding="utf-8") for path in tests), (
        f"no test has {called}"
    )


@every_command
def test_a_command_stands_on_a_page_about_its_group(words):
    group, name = f"sssjob {words[0]}", re.compile(rf"\b{re.escape(words[-1])}\b")
    texts = (path.read_text(encoding="utf-8") for path in PAGES)
    assert any(group in text and name.search(text) for text in texts), f"no page has {words[-1]}"


@pytest.mark.parametrize(
    "words, meant",
    [
        (["valdate"], "validate"),
        (["store", "imprt"], "import"),
        (["features", "instal"], "install"),
        (["features", "Set", "shutdowntime", "+1h"], "set"),
    ],
    ids=["a command", "of a group", "of a group with a default", "with arguments"],
)
def test_a_command_that_is_misspelt_gets_advice(words, meant):
    result = CliRunner().invoke(sssjob, words)
    assert result.exit_code == 2
    assert f"Did you mean '{meant}'?" in result.stderr


def test_a_file_that_is_nearly_called_like_a_command_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("instal").write_text("<Job><Id>1</Id></Job>")
    assert "Did you mean" not in CliRunner().invoke(sssjob, ["features", "instal"]).stderr


def test_every_command_stands_in_a_section_of_the_help():
    shown = CliRunner().invoke(sssjob, ["--help"]).output
    for title, rows in SECTIONS.items():
        assert f"\n{title}:\n" in shown
        for name, text in rows.items():
            assert f"  {name} " in shown
            assert text in shown
