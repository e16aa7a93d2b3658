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
from sssjob.visible import (
    Markup,
    Visible,
    csv_lines,
    in_dot,
    markup,
    visible,
    visible_lines,
)
from sssjob.visible import (
    Terminal as Coloured,
)

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


@pytest.mark.parametrize("letter", ["\x1b", "\x9b", "\u202e", "\u2066", "\u200f"])
def test_cells_of_a_query_steer_no_terminal_and_a_pipe_gets_them(letter):
    for stream, has in ((Terminal(), False), (io.StringIO(), True)):
        Form("csv", ("Id",)).write(iter([[f"a{letter}b"], ["c\nd"]]), stream)
        assert (letter in stream.getvalue()) == has
        assert stream.getvalue().startswith("Id\na")
        assert stream.getvalue().endswith('"c\nd"\n')


def test_there_is_one_way_to_write_cells():
    home = Path(sssjob.__file__).parent
    found = {path.name for path in home.rglob("*.py") if "csv.writer" in path.read_text()}
    assert found == {"visible.py"}


def test_a_plain_text_is_shown_as_it_is():
    assert visible("a b c") == visible_lines("a b c") == markup("a b c") == "a b c"
    assert visible(" \x00 ") == " \u2400 "


def test_templates_take_numbers_and_what_is_written_and_make_the_rest_harmless():
    filled = Markup.of("{a}{b}{c}{d}", a="<\x1b", b=2, c=1.5, d=Markup("<br/>"))
    assert filled == "&lt;\u241b21.5<br/>"
    assert Markup.of("{a}", a=None) == "None"
    assert Markup.joined([Markup("<b>"), filled], Markup(" ")) == f"<b> {filled}"
    assert type(Markup.joined([])) is Markup
    assert markup("\ufffe'\"") == "\ufffd&#x27;&quot;"
    assert in_dot("a\\", 'b"') == '"a\\\\\\nb\\""'


def test_a_letter_may_come_to_a_terminal_in_pieces():
    terminal = io.StringIO()
    stream = Visible(terminal)
    assert stream.writable()
    assert [stream.write(each) for each in (b"caf\xc3", b"\xa9\x1b\n", b"")] == [4, 3, 0]
    stream.styled(Coloured("\x1b[1m"))
    assert terminal.getvalue() == "caf\u00e9\u241b\n\x1b[1m"


@pytest.mark.parametrize("cell", ["=", "-", "+", 5, -5, None, "ab"])
def test_one_letter_is_no_formula_and_what_is_no_text_stays(cell):
    (line,) = csv_lines([["x", cell]])
    assert line == f"x,{'' if cell is None else cell}\n"


def test_a_cell_of_two_letters_may_be_a_formula():
    assert [*csv_lines([["=a"], ["b"]])] == ["'=a\n", "b\n"]
