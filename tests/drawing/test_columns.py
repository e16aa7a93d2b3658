"""Tables fit the terminal that they are printed on, and are the same for whoever reads a pipe."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from sssjob.drawing.columns import aligned, cells, folded

ROOT = Path(__file__).parents[2]
ROWS = [
    ("user", "day", "jobs", "wall h"),
    ("amy", "1", "39", "0.07"),
    ("(total)", "", "51", "0.10"),
]
WIDE = ["user     day  jobs  wall h", "amy      1      39    0.07", "(total)         51    0.10"]


@pytest.mark.parametrize("room", [0, 26, 80])
def test_a_table_that_fits_is_in_columns(room):
    assert list(aligned(ROWS, 2, room)) == WIDE


def test_one_that_does_not_fit_is_below_each_other():
    assert list(aligned(ROWS, 2, 25)) == [
        "[user  day]", "amy  1", "  jobs      39", "  wall h  0.07",
        "(total)", "  jobs      51", "  wall h  0.10",
    ]  # fmt: skip
    assert list(aligned(ROWS[:1], 2, 5)) == []


WIDE_LETTERS = [("user", "jobs"), ("\u7530\u4e2d", "39"), ("amy", "7")]


def test_letters_that_take_two_columns_are_counted_as_two():
    assert list(aligned(WIDE_LETTERS, 1)) == ["user  jobs", "\u7530\u4e2d    39", "amy      7"]
    assert list(aligned(WIDE_LETTERS, 1, 8))[:3] == ["[user]", "\u7530\u4e2d", "  jobs"]


@pytest.mark.parametrize(
    "line",
    [
        "\u7530" * 30,
        "amy \u7530\u4e2d " * 9,
        "  " + "e\u0301" * 40,
        "a" * 50,
        "\u4e2d b" * 12 + " ",
    ],
)
def test_no_folded_line_is_wider_than_its_room_and_nothing_is_lost(line):
    for room in range(8, 40):
        lines = list(folded(line, room))
        assert max(map(cells, lines)) <= room
        assert "".join(lines).replace(" ", "") == line.replace(" ", "")


@pytest.mark.parametrize("words", ["report --by user,day", "audit"])
def test_a_report_fits_a_terminal_of_40_columns(words):
    """A pipe gets the table."""
    command = [
        Path(sys.executable).with_name("sssjob"), *words.split(), "examples/slurm/sacct.txt",
    ]  # fmt: skip
    state = os.environ | {"COLUMNS": "40"}
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command, cwd=ROOT, env=state, stdout=theirs, stderr=subprocess.DEVNULL
    ) as process:
        os.close(theirs)
        shown = b""
        while piece := _read(ours):
            shown += piece
    os.close(ours)
    assert process.returncode == 0
    lines = shown.decode().splitlines()
    assert len(lines) > 7
    assert max(map(len, lines)) <= 40
    del state["COLUMNS"]
    piped = subprocess.run(command, cwd=ROOT, env=state, capture_output=True, check=True).stdout
    assert max(map(len, piped.decode().splitlines())) > 40


def _read(end):
    try:
        return os.read(end, 1 << 16)
    except OSError:  # the other side of a terminal is closed
        return b""
