"""Every example in the README and in docs/ does what the page says.

A block fenced as ``console`` is a session: lines after ``$ `` are commands (a backslash at the
end continues one, and so does ``<<'END'`` up to a line END), the lines below are what they print,
``...`` stands for anything. A block fenced as ``python`` that holds ``>>>`` is a session of the
interpreter, another one is a script that must run. Blocks of a page share one directory, a copy of
what the project offers.
"""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import fork_server
import pytest
from daemons import protected
from waiting import HANG

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
KNOWN = {"console", "python", "xml", "text", "json", "toml", "xpath", "mermaid", "sh"}


def blocks(page):
    text = page.read_text()
    for match in FENCE.finditer(text):
        yield match[1], match[2], text[: match.start()].count("\n") + 1


def sessions(text):
    """The commands of a console block, each with what it prints."""
    command, printed = "", []
    for line in text.splitlines():
        if line.startswith("$ ") or (continued(command) and not printed):
            if line.startswith("$ ") and command:
                yield command, "\n".join(printed)
                command, printed = "", []
            command += ("\n" if command else "") + line.removeprefix("$ ").removeprefix("> ")
        else:
            printed.append(line)
    if command:
        yield command, "\n".join(printed)


def continued(command):
    """Whether the next line belongs to a command."""
    return command.endswith("\\") or ("<<'END'" in command and not command.endswith("\nEND"))


def matches(expected, printed):
    pattern = re.escape(expected.strip()).replace(re.escape("..."), ".*?")
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A directory for each page, with the examples in it."""
    made = {}

    def place(page):
        if page not in made:
            made[page] = top / page.relative_to(ROOT).with_suffix("")
            made[page].mkdir(parents=True)
            for name in ("examples", "schemas", "xslt"):
                shutil.copytree(ROOT / name, made[page] / name)
        return made[page]

    with protected(tmp_path_factory.mktemp("docs")) as top:
        yield place


def run(command, directory):
    environment = {
        **os.environ,
        **fork_server.environment(),
        "PATH": f"{fork_server.COMMAND.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "COLUMNS": "400",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }
    return subprocess.run(
        ["bash", "-c", command], cwd=directory, env=environment, text=True, timeout=HANG,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False,
    ).stdout  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_a_page_is_of_a_kind_that_is_known(page):
    unknown = [(kind, line) for kind, _, line in blocks(page) if kind not in KNOWN]
    assert not unknown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_do_what_it_says(page, places, monkeypatch):
    directory = places(page)
    for kind, text, line in blocks(page):
        where = f"{page.name}:{line}"
        if kind == "console":
            for command, expected in sessions(text):
                printed = run(command, directory)
                assert matches(expected, printed), f"{where}: $ {command}\n{printed}"
        elif kind == "python" and ">>>" in text:
            monkeypatch.chdir(directory)
            parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(
                optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            )  # fmt: skip
            runner.run(parser.get_doctest(text, {}, where, str(page), line))
            assert runner.failures == 0, where
        elif kind == "python":
            printed = run(f"{sys.executable} - <<'END'\n{text}\nEND", directory)
            assert "Traceback" not in printed, f"{where}:\n{printed}"


def test_every_local_link_of_every_page_leads_somewhere():
    broken = [
        (page.name, target)
        for page in PAGES
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert not broken


def test_every_page_gives_the_same_advice_about_pipx():
    root = Path(__file__).parents[1]
    pages = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    found = {
        each
        for page in pages
        for each in re.findall(r"pipx install [^`\s]+", page.read_text("utf-8"))
    }
    assert found == {"pipx install ."}
