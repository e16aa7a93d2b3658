"""A column of very many texts answers as the list of them does, in whichever way it holds them."""

import re

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob.records import texts

np = pytest.importorskip("numpy")
pa = pytest.importorskip("pyarrow")

words = st.sampled_from(["", "a", "ab", "amy", "bob-1"])
times = st.sampled_from([f"2026-11-2{day}T14:29:34" for day in range(10)])
some = st.lists(words, min_size=1, max_size=9) | st.lists(times, min_size=1, max_size=9)
numbers = st.lists(st.integers(0, 10**9), min_size=1, max_size=9)


def coded(found):
    values = sorted({*found})
    return texts.Coded(values, np.array([values.index(each) for each in found]))


def plain(found):
    """Within an array that has more before and behind, as a slice of it is."""
    return texts.Plain(pa.array(["before", *found, "behind"]).slice(1, len(found)))


def beside(found):
    return texts.SideBySide([plain([str(len(each)) for each in found]), [*found]])


KINDS = {
    "codes": (coded, some, list),
    "an array": (plain, some, list),
    "numbers": (lambda found: texts.WholeNumbers(np.array(found)), numbers,
                lambda found: [*map(str, found)]),
    "columns side by side": (beside, some,
                             lambda found: [(str(len(each)), each) for each in found]),
}  # fmt: skip


@pytest.mark.parametrize(("make", "drawn", "listed"), KINDS.values(), ids=KINDS)
@examples(40)
@given(data=st.data())
def test_a_column_is_read_as_the_list_of_its_texts(make, drawn, listed, data):
    found = data.draw(drawn)
    expected = listed(found)
    at = data.draw(st.integers(-len(found), len(found) - 1))
    assert make(found)[at] == expected[at]
    assert make(found)[at:] == expected[at:]
    column = make(found)
    assert (len(column), [*column], column.list) == (len(expected), expected, expected)
    for each in [*expected, *listed(data.draw(drawn)), "of none"]:
        assert column.count(each) == expected.count(each)
        assert (each in column) is (each in expected)
    assert {*texts.distinct(column)} == {*expected}


@pytest.mark.parametrize(("make", "drawn", "listed"), KINDS.values(), ids=KINDS)
@examples(25)
@given(data=st.data())
def test_some_of_a_column_are_a_column_of_them_alone(make, drawn, listed, data):
    found = data.draw(drawn)
    places = data.draw(st.lists(st.integers(0, len(found) - 1), min_size=1, max_size=9))
    taken = make(found).take(np.array(places))
    expected = listed([found[at] for at in places])
    assert type(taken) is type(make(found))
    assert [*taken] == expected
    assert {*texts.distinct(taken)} == {*expected}


@examples(40)
@given(some, st.frozensets(words | times, max_size=3))
def test_a_column_has_a_word_that_one_of_its_texts_is(found, asked):
    for make in (coded, plain, list):
        assert texts.has_any(make(found), asked) is not asked.isdisjoint(found)


@examples(40)
@given(some, st.sampled_from(["[a-z]*", "a|ab", "[0-9T:-]{19}", "(?:a|b).*", "b"]))
def test_all_texts_match_a_pattern_from_their_begin_to_their_end(found, pattern):
    expected = all(re.fullmatch(pattern, each) for each in found)
    assert plain(found).all_match(pattern) is expected


@examples(25)
@given(st.lists(times, min_size=1, max_size=5), st.integers(1, 19))
def test_the_ends_of_texts_are_rows_of_bytes(found, width):
    rows = [bytes(row).decode() for row in plain(found).last(width)]
    assert rows == [each[-width:] for each in found]


@examples(40)
@given(some)
def test_texts_of_one_width_are_rows_of_bytes_and_others_have_none(found):
    widths = {*map(len, found)}
    assert [*plain(found).sizes()] == [*map(len, found)]
    for width in {1, 19, *widths} - {0}:
        rows = plain(found).characters(width)
        told = None if rows is None else [bytes(row).decode() for row in rows]
        assert told == (found if widths == {width} else None)


@pytest.mark.parametrize(
    ("told", "is_like"),
    [
        ("2026-11-20T14:29:34", True),
        ("2026-11-20 14:29:34", False),
        ("2026-11-2/T14:29:34", False),
        ("2026-11-2:T14:29:34", False),
        ("2026-11-20T14:29-34", False),
        ("9999-99-99T99:99:99", True),
    ],
)
def test_a_form_has_digits_where_it_has_0_and_all_else_as_it_stands(told, is_like):
    rows = plain(["2026-11-20T14:29:34", told]).characters(19)
    assert texts.is_of_form(rows, "0000-00-00T00:00:00") is is_like


@pytest.mark.parametrize("width", [3, 600], ids=["few", "more than are counted in a table"])
@examples(25)
@given(data=st.data())
def test_columns_side_by_side_are_held_once_where_they_repeat(width, data):
    pairs = st.tuples(st.integers(0, 2), st.integers(0, 2))
    repeated = data.draw(st.lists(pairs, min_size=1, max_size=4)) * 5
    values = [*map(str, range(width))]
    columns = [texts.Coded(values, np.array([each[at] for each in repeated])) for at in (0, 1)]
    expected = [(str(one), str(other)) for one, other in repeated]
    found = texts.beside(columns)
    assert [*found] == expected
    assert sorted(found.values) == sorted({*expected})
    few = len({*expected})
    told = [(len(each.values), each.codes) for each in columns]
    assert (texts.fused(told, few - 1) is None) is True
    firsts, codes = texts.fused(told, few)
    assert [expected[firsts[code]] for code in codes] == expected


def test_columns_that_hardly_repeat_stay_side_by_side():
    apart = coded([f"n{at}" for at in range(9)])
    found = texts.beside([apart, coded(["a", "b", "c"] * 3)])
    assert isinstance(found, texts.SideBySide)
    assert found[3] == ("n3", "a")
