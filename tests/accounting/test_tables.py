"""A part of a table with header lines goes with the last one above it."""

import pytest

from sssjob.errors import UnusableInput
from sssjob.records.record import Options
from sssjob.records.tables import HeaderTable

TABLE = HeaderTable(("id", "end"), "|")
HEADER, OTHER = b"end|id|user\n", b"user|id|end\n"
ROW = b"5|7|amy\n"


@pytest.mark.parametrize(
    ("data", "line", "front"),
    [
        (HEADER + ROW, 1, (1, HEADER)),
        (b"\n" + HEADER + ROW, 1, (2, HEADER)),
        (HEADER + ROW + OTHER + ROW, 1, (3, OTHER)),
        (HEADER + ROW + b"the end of none\n" + ROW, 5, (5, HEADER)),
        (HEADER + ROW + b"5|id of 7|end\n" + ROW, 5, (5, HEADER)),
        (HEADER + OTHER, 1, (2, OTHER)),
    ],
)
def test_the_header_of_the_next_part_is_the_last_one(data, line, front):
    cutter = TABLE.cut.cutter(Options(), ())
    part, size = cutter.cut(data + b"5|8|b", line, final=False)
    assert (part.data, part.front, size) == (data, (), len(data))
    assert [(number, raw + b"\n") for number, raw in cutter.front] == [front]
    part, _ = cutter.cut(ROW * 3, line + 9, final=True)
    assert [(number, raw + b"\n") for number, raw in part.front] == [front]


@pytest.mark.parametrize("data", [ROW, b"\n" + ROW, b"end|user\n" + ROW])
def test_a_table_that_does_not_begin_with_a_header_line_is_refused(data):
    with pytest.raises(UnusableInput, match="no header line with the columns id, end"):
        TABLE.cut.cutter(Options(), ()).cut(data, 1, final=True)


def test_a_table_of_which_the_columns_are_named_needs_no_header_line():
    cutter = TABLE.cut.cutter(Options(columns=("end", "id", "user")), ())
    part, _ = cutter.cut(ROW, 1, final=True)
    assert (part.data, part.front) == (ROW, ())
