"""What every record format shares: clean text, blocks of lines, and counts that add up."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.errors import InvalidValue
from sssjob.model import Job
from sssjob.records import FORMATS
from sssjob.records.layout import Layout
from sssjob.records.lines import blocks, clean
from sssjob.records.readers import listed
from sssjob.records.record import Bad, Converted, Noted, RecordCounts, Skipped

LEGAL = re.compile("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")


@given(st.binary())
def test_any_bytes_become_text_that_a_document_can_hold(raw):
    assert LEGAL.fullmatch(clean(raw))


def test_a_control_character_that_delimits_is_kept():
    assert clean(b"1\x1fa\x1eb", b"\x1f") == "1\x1fab"


@given(st.lists(st.binary(max_size=20).map(lambda raw: raw.replace(b"\n", b""))), st.integers(1, 9))
def test_blocks_hold_whole_lines_wherever_the_input_is_cut(lines, chunk):
    found = [line for block in blocks(io.BytesIO(b"\n".join(lines)), 100, chunk)
             for line in block.split(b"\n")]  # fmt: skip
    while lines and not lines[-1]:
        lines.pop()
    while found and not found[-1]:
        found.pop()
    assert found == lines


def test_a_line_beyond_the_limit_is_cut_and_the_next_is_whole():
    stream = io.BytesIO(b"x" * 10_000 + b"\nnext\n")
    first, second = (line for block in blocks(stream, 100, 10) for line in block.split(b"\n"))
    assert 100 < len(first) < 130
    assert second == b"next"


def test_counts_add_up_and_print_as_one_line():
    counts = RecordCounts()
    all_ = [Converted(1, Job(), 2), Skipped(4, "header"), Bad(5, "short"), Noted(5, "zone")]
    assert list(counts.counting(all_)) == all_
    assert counts.records == 5
    assert str(counts) == "converted 1 (and 2 steps), skipped 1 (header 1), bad 1"
    assert counts.as_dict() == {
        "records": 5, "jobs": 1, "skipped": {"folded into their job": 2, "header": 1},
        "bad_count": 1,
    }  # fmt: skip
    twice = RecordCounts()
    twice.include(counts)
    twice.include(counts)
    assert twice.records == 10
    assert str(RecordCounts(converted=1, steps=1)) == "converted 1 (and 1 step), skipped 0, bad 0"


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_its_layout(name):
    if name != "auto":
        assert isinstance(FORMATS[name].load(), Layout)


@pytest.mark.parametrize("names, found", [
    (["n1"], "n1"), (["n,1"], "n,1"), (["n1", "n2"], "n1,n2"),
])  # fmt: skip
def test_one_name_is_a_text_and_several_are_a_list(names, found):
    told = listed(names)
    assert told == found or [(each.text, each.attributes) for each in told] == [
        (found, {"aggregation": "List"})
    ]


def test_a_name_with_a_comma_is_not_two_names_of_a_list():
    with pytest.raises(InvalidValue, match="no comma"):
        listed(["n1", "n,2"])
