import pytest

from sssjob import spec
from sssjob.store import columns
from sssjob.store.columns import COLUMNS, INDEXES, NAMES, PATHS, ColumnType, Says


def test_no_two_columns_share_a_name():
    assert len(set(NAMES)) == len(NAMES)


def test_every_hot_property_is_in_the_tables_where_it_may_stand():
    for block, names in columns.HOT.items():
        known = (
            spec.properties(block)
            if block
            else spec.properties("Job") | spec.properties("JobGroup")
        )
        assert set(names) <= set(known)


def test_every_attribute_is_in_the_tables():
    for path in columns.ATTRIBUTES:
        element, _, name = path.rpartition("/@")
        assert name in spec.attributes(element.rpartition("/")[2])


def test_indexes_are_on_columns():
    assert {name for names in INDEXES for name in names} <= set(NAMES)


def test_the_bits_of_paths_fit_into_an_integer_of_sql():
    bits = [columns.bit(path) for path in PATHS]
    assert len(set(bits)) == len(bits)
    assert sum(bits) < columns.ALL < 2**63


@pytest.mark.parametrize(
    "name, kind",
    [
        ("id", ColumnType.TEXT), ("exit_code", ColumnType.NUMBER),
        ("start_time", ColumnType.NUMBER),
        ("delivered_memory_high", ColumnType.NUMBER), ("delivered_count", ColumnType.INTEGER),
    ],
)  # fmt: skip
def test_types_come_from_the_tables(name, kind):
    assert COLUMNS[NAMES.index(name)].kind is kind


def test_a_path_without_a_column_has_no_bit():
    assert columns.bit("Shell") == 0
    assert columns.column("Shell", Says.TEXT) is None
