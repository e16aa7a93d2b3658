"""What many records become together is handed on by stretches of places that follow each other."""

from hypothesis import given
from hypothesis import strategies as st

from sssjob.records.layout import RecordRun
from sssjob.records.making import _stretches
from sssjob.records.texts import SideBySide


@given(st.sets(st.integers(0, 30), min_size=1).map(sorted))
def test_stretches_have_all_places_in_their_order_and_no_gap_within(places):
    found = [*_stretches(places)]
    stretches = [places[begin:end] for begin, end in found]
    assert [place for each in stretches for place in each] == places
    assert all(each == [*range(each[0], each[-1] + 1)] for each in stretches)
    firsts = {each[0] for each in stretches}
    assert not any(each[-1] + 1 in firsts for each in stretches)


@given(st.lists(st.tuples(st.text("ab"), st.text("cd")), min_size=1), st.integers(1, 9))
def test_the_lines_of_a_run_one_by_one_are_numbered_from_its_first(rows, line):
    columns = [SideBySide([[each[at] for each in rows]]) for at in (0, 1)]
    run = RecordRun(line, columns, ())
    assert len(run) == len(rows)
    assert [*run.pieces()] == [
        (number, [(one,), (other,)]) for number, (one, other) in enumerate(rows, line)
    ]
