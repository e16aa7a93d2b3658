"""Texts of strangers steer no terminal and are no formulas of a spreadsheet."""

import csv
import io
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import sssjob
from sssjob.cli import sssjob as command
from sssjob.query.forms import Form
from sssjob.visible import csv_lines, visible, visible_lines

STEERING = "\x1b[2J\x9b31m\u202e\u2028\u200b\x7f"
FORMULAS = ["=cmd|' /C calc'!A0", "+1", "@SUM(A1)", "-1+1", " =1", "\t=1", "\r1", "\uff1d1+1"]
CALLS = ["query --csv User", "query --csv --columns User //Job", "report --csv --by user"]
ERRORS = [["query", "//Job["], ["show"], ["validate"], ["convert", "--from", "slurm"]]
HARMLESS = ["", "-", "-5", "-1.5e-3", "a=b", "1", "x", "'=1"]


def test_what_steers_is_shown():
    assert visible(STEERING) == "\u241b[2J\ufffd31m" + "\ufffd" * 4
    assert visible_lines(f"a\t{STEERING}\nb").splitlines()[1:] == ["b"]
    assert visible_lines("a\r\nb\tc") == "a\u240d\nb\tc"


@pytest.mark.parametrize("cell", FORMULAS)
def test_a_cell_is_no_formula(cell):
    for raw, expected in ((False, f"'{cell}"), (True, cell)):
        written = io.StringIO("".join(csv_lines([[cell]], raw=raw)), newline="")
        assert list(csv.reader(written)) == [[expected]]


@pytest.mark.parametrize("cell", HARMLESS)
def test_a_cell_that_is_none_stays(cell):
    assert next(csv_lines([["a", cell]])) == f"a,{cell}\n"


@pytest.mark.parametrize("words", CALLS)
def test_commands_write_cells(words, tmp_path):
    file = tmp_path / "jobs.xml"
    file.write_text("<Job><Id>1</Id><User>=1+1</User><State>Completed</State></Job>")
    written = CliRunner().invoke(command, [*words.split(), str(file)]).stdout
    raw = CliRunner().invoke(command, [*words.split(), "--raw", str(file)]).stdout
    assert "'=1+1" in written
    assert raw == written.replace("'", "")


@pytest.mark.parametrize("words", ERRORS, ids=" ".join)
def test_an_error_steers_no_terminal(words, tmp_path):
    file = tmp_path / f"a{STEERING}.xml"
    done = CliRunner().invoke(command, [*words, str(file)])
    assert done.exit_code in (1, 2)
    assert not re.search("[\x1b\x9b\u202e\u2028]", done.stderr)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("kind", ["text", "xml", "json", "jsonl"])
def test_a_terminal_is_shown_what_steers_and_a_pipe_gets_it(kind):
    for stream, shown in ((Terminal(), "\u241b[2J"), (io.StringIO(), "\x1b[2J")):
        Form(kind).write(iter(["\x1b[2J"]), stream)
        assert shown in stream.getvalue()


def test_there_is_one_way_to_write_cells():
    home = Path(sssjob.__file__).parent
    found = {path.name for path in home.rglob("*.py") if "csv.writer" in path.read_text()}
    assert found == {"visible.py"}
