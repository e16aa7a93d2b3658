"""The pages for man say what the help says, and groff has nothing to warn of."""

import shutil
import subprocess
import sys

import click
import pytest
from command_tree import commands

from sssjob.cli import manual, sssjob

PAGES = dict(manual.pages(sssjob, click.Context(sssjob, info_name="sssjob")))


def test_every_command_has_a_page():
    names = {f"sssjob-{'-'.join(words)}.1" for words, _ in commands(sssjob)}
    assert names < set(PAGES)
    assert "sssjob.1" in PAGES
    assert "sssjob-store.1" in PAGES


@pytest.mark.parametrize("words", [words for words, _ in commands(sssjob)], ids=" ".join)
def test_a_page_has_every_option_and_section_of_the_help(words):
    page = PAGES[f"sssjob-{'-'.join(words)}.1"]
    command = dict(commands(sssjob))[words]
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            assert parameter.opts[-1].replace("-", "\\-") in page
    assert "\n.SH EXAMPLE" in page
    assert "\n.SH EXIT STATUS" in page
    assert "\b" not in page


def test_nothing_in_a_text_is_a_request_or_an_escape():
    command = click.Command("x", help=".so /etc/passwd\n\n'\\n \\*x", epilog="\b\n.exit\n\n-a")
    page = dict(manual.pages(command, click.Context(command, info_name="x")))["x.1"]
    assert "\n\\&.so /etc/passwd\n" in page
    assert "\n\\&'\\en \\e*x\n" in page
    assert "\n\\&.exit\n" in page


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff")
def test_groff_has_nothing_to_warn_of(tmp_path):
    manual.write(tmp_path)
    for page in sorted(tmp_path.iterdir()):
        done = subprocess.run(
            ["groff", "-man", "-Kutf8", "-Tutf8", "-ww", "-z", page],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, ""), page.name


def test_without_a_directory_its_usage_is_told():
    done = subprocess.run(
        [sys.executable, "-m", "sssjob.cli.manual"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Usage: python -m sssjob.cli.manual DIRECTORY\n"


def test_pages_are_written_into_a_directory(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "sssjob.cli.manual", tmp_path / "man1"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == f"{len(PAGES)} pages in {tmp_path / 'man1'}\n"
    shown = (tmp_path / "man1" / "sssjob-report.1").read_text()
    assert "\n.SH SYNOPSIS\n.B sssjob report\n[OPTIONS] FILE...\n" in shown
