"""What every command must have: help with an example, a test and a place in the docs."""

import re
from pathlib import Path

import pytest
from command_tree import commands

from sssjob.cli import sssjob

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
