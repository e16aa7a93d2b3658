"""A column of properties says what each of its records has, whichever of its kinds it is of."""

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob.model import Attributes, Property, Reference
from sssjob.records import property_columns as columns
from sssjob.records.record import JOB
from sssjob.records.texts import Coded

np = pytest.importorskip("numpy")

texts = st.sampled_from(["1", "2", "amy"])
told = st.sampled_from([{}, {"units": "GB"}, {"units": "MB"}, {"units": "GB", "type": "x"}])
properties = st.builds(
    lambda name, text, given: Property.read(name, text, Attributes.read(given)),
    st.sampled_from(["Memory", "User"]), texts | st.just(""), told,
)  # fmt: skip
memory = st.builds(
    lambda text, given: Property.read("Memory", text, Attributes.read(given)), texts, told
)
pieces = (
    st.lists(properties, max_size=2).map(tuple)
    | st.lists(memory, max_size=1).map(tuple)
    | st.just((Reference("Memory", "1"),))
)
sizes = st.integers(1, 6)


@st.composite
def named(draw):
    column = draw(st.lists(texts, min_size=1, max_size=6))
    if draw(st.booleans()):
        values = sorted({*column})
        column = Coded(values, np.array([values.index(each) for each in column]))
    return columns.NamedTexts("Memory", Attributes.read(draw(told)), column)


@st.composite
def picked(draw):
    some = draw(st.lists(pieces, min_size=1, max_size=3))
    codes = draw(st.lists(st.integers(0, len(some) - 1), min_size=1, max_size=6))
    return columns.PickedItems(some, np.array(codes))


KINDS = (
    named()
    | picked()
    | st.builds(columns.SameItems, pieces, sizes)
    | st.lists(pieces, min_size=1, max_size=6)
    | st.lists(memory.map(lambda item: (item,)) | st.just(()), min_size=1, max_size=6)
)


def rows(column):
    """What each record has: of texts with a name, written by hand."""
    if isinstance(column, columns.NamedTexts):
        name, attributes, found = column
        return [(Property.read(name, text, attributes),) for text in found]
    if isinstance(column, columns.SameItems):
        return [column.items for _ in range(column.size)]
    if isinstance(column, columns.PickedItems):
        return [column.pieces[code] for code in column.codes]
    return [*column]


@examples(100)
@given(KINDS)
def test_each_record_has_the_piece_that_stands_in_its_place(column):
    place = columns.ColumnPlace.of(JOB, column)
    expected = rows(column)
    assert [*columns.items_of(column)] == expected
    assert [place.piece(at) for at in range(len(expected))] == expected
    assert place.is_same is isinstance(column, columns.SameItems)
    assert place.names >= {
        item.name for piece in expected for item in piece if isinstance(item, Property)
    }


@examples(50)
@given(KINDS, st.data())
def test_the_column_of_some_records_has_what_they_have(column, data):
    expected = rows(column)
    at = data.draw(st.lists(st.integers(0, len(expected) - 1), max_size=6))
    found = columns.ColumnPlace.of(JOB, column).some(at)
    assert [*columns.items_of(found.column)] == [expected[each] for each in at]
    assert [found.piece(each) for each in range(len(at))] == [expected[each] for each in at]


@examples(50)
@given(KINDS)
def test_what_is_said_of_a_piece_is_said_of_each_record_that_has_it(column):
    expected = rows(column)
    names = [[item.name for item in piece] for piece in expected]
    spread = columns.ColumnPlace.of(JOB, column).spread(
        lambda piece: [item.name for item in piece], len(expected)
    )
    assert [*spread] == names


def as_told(item, needed):
    return item.name, {
        name: value for name, value in item.attributes.items() if needed is None or name in needed
    }


@pytest.mark.parametrize("needed", [None, frozenset(), frozenset({"units"})])
@examples(60)
@given(column=KINDS)
def test_a_column_of_one_property_is_texts_with_its_name(needed, column):
    expected = rows(column)
    items = [item for piece in columns.ColumnPlace.of(JOB, column).pieces for item in piece]
    kinds = [as_told(item, needed) for item in items]
    found = columns.ColumnPlace.of(JOB, column).alike(needed)
    if isinstance(column, columns.NamedTexts):
        assert found == column
    elif (
        kinds
        and kinds.count(kinds[0]) == len(kinds)
        and all(type(item) is Property and item.text for item in items)
        and max(map(len, expected)) < 2
    ):
        assert (found.name, {**found.attributes}) == kinds[0]
        assert [*found.texts] == [piece[0].text if piece else "" for piece in expected]
    elif any(len(piece) > 1 for piece in expected) or not kinds:
        assert found is None
    elif found is not None:
        assert kinds.count(kinds[0]) == len(kinds)


@examples(60)
@given(KINDS)
def test_records_with_one_number_have_one_piece(column):
    found = columns.ColumnPlace.of(JOB, column).coded()
    is_repeated = isinstance(column, columns.NamedTexts) and isinstance(column.texts, Coded)
    assert (found is not None) is (is_repeated or isinstance(column, columns.PickedItems))
    if found is not None:
        count, codes = found
        expected = rows(column)
        assert len(codes) == len(expected)
        assert {*codes.tolist()} <= {*range(count)}
        for code, piece in zip(codes, expected, strict=True):
            assert expected[[*codes].index(code)] == piece
