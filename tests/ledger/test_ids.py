"""A filter of ids never leaves out a row that has one, however it was damaged."""

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("duckdb")

import pyarrow as pa
from ledger_runs import run

from sssjob.ledger import ids, ledger, upkeep

TEXTS = (
    st.text(max_size=6) | st.integers(0, 10**9).map(str) | st.text("1", min_size=250, max_size=260)
)


@examples(60)
@given(st.lists(st.none() | TEXTS, max_size=40), st.integers(1, 9))
def test_each_id_is_found_in_its_row_group(told, group):
    data = ids.made(pa.chunked_array([pa.array(told, pa.string())]), group)
    for number, each in enumerate(told):
        if each is not None:
            assert number // group in ids._may(pa.BufferReader(data), [each])


def test_others_are_hardly_ever_found():
    data = ids.made(pa.chunked_array([pa.array([str(each) for each in range(5000)])]), 1000)
    found = sum(len(ids._may(pa.BufferReader(data), [f"x{each}"])) for each in range(1000))
    assert found < 5 * 1000 * 0.02


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(ids, "FEW", 1)
    monkeypatch.setattr(ledger, "GROUP", 4)
    found = ledger.create(tmp_path / "usage")
    found.add([run(number, start=5, end=9 + number, wall=4) for number in range(10)])
    found.add([run(3, start=5, end=12, wall=5), run(3, "d", start=5, end=12, wall=6)])
    return found


def found(kept, *wanted):
    return [(each["id"], each["wall_seconds"]) for each in kept.runs(wanted)]


def test_only_row_groups_that_may_have_it_are_read(kept, monkeypatch):
    assert found(kept, "3") == [("3", 5), ("3", 6)]
    assert found(kept, "9", "0", "none") == [("0", 4), ("9", 4)]
    read = []
    numbers = ids._numbers

    def noted(path, known, wanted):
        read.append(known)
        return numbers(path, known, wanted)

    monkeypatch.setattr(ids, "_numbers", noted)
    assert found(kept, "9") == [("9", 4)]
    assert read == [[2]]


def test_a_filter_that_is_damaged_or_gone_leaves_nothing_out(kept):
    paths = sorted((kept.home / ids.FOLDER).iterdir())
    whole = {path: path.read_bytes() for path in paths}
    for size in (0, 3, 16, 40):
        for path, data in whole.items():
            path.write_bytes(data[:size])
        assert found(kept, "3") == [("3", 5), ("3", 6)]
    for path, data in whole.items():
        path.write_bytes(data[:16] + bytes(len(data) - 16))
    assert found(kept, "3") == [("3", 5), ("3", 6)]
    assert len(upkeep.check(kept).faults) == len(paths)
    assert len(upkeep.repair(kept).faults) == len(paths)
    assert upkeep.check(kept).faults == []
    assert found(kept, "3") == [("3", 5), ("3", 6)]
    assert upkeep.filter_ids(kept) == len(paths)
    assert {path: path.read_bytes() for path in paths} == whole
