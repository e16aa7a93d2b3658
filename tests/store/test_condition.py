import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.store.bounds import PredicateBounds
from sssjob.store.condition import (
    FALSE,
    TRUE,
    And,
    Bits,
    Compare,
    CompareSum,
    Holds,
    Like,
    Not,
    Op,
    Or,
    Prefix,
    Present,
    Relate,
    all_of,
    any_of,
    columns,
    none_of,
)
from sssjob.store.sql import POSTGRESQL, SQLITE, after, quoted, sql

TEXTS = st.text(st.sampled_from("ab*?[]%_!'\"\ud7ff\ue000\U0010ffff"), max_size=3)
NUMBERS = st.sampled_from([-1.0, 0.0, 0.5, 2.0])
OPS = st.sampled_from(list(Op))
LEAVES = st.one_of(
    st.builds(Compare, st.just("name"), OPS, TEXTS),
    st.builds(Compare, st.just("low"), OPS, NUMBERS),
    st.builds(Relate, st.just("low"), OPS, st.just("high")),
    st.builds(CompareSum, st.just(("low", "high")), OPS, NUMBERS),
    st.builds(Present, st.sampled_from(["name", "low", "high"])),
    st.builds(Prefix, st.just("name"), TEXTS),
    st.builds(Holds, st.just("name"), TEXTS.filter(bool)),
    st.builds(Like, st.just("name"), TEXTS),
    st.builds(Bits, st.just("odd"), st.integers(0, 7)),
)
CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)
ROWS = st.fixed_dictionaries({
    "name": st.none() | TEXTS,
    "low": st.none() | NUMBERS,
    "high": st.none() | NUMBERS,
    "odd": st.integers(0, 7),
})  # fmt: skip


def compared(op, one, other):
    if one is None or other is None:
        return False
    return {
        Op.EQ: one == other, Op.NE: one != other, Op.LT: one < other, Op.LE: one <= other,
        Op.GT: one > other, Op.GE: one >= other,
    }[op]  # fmt: skip


def like(text, pattern):
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(like(text[start:], pattern[1:]) for start in range(len(text) + 1))
    return bool(text) and pattern[0] in ("?", text[0]) and like(text[1:], pattern[1:])


def holds(condition, row):
    match condition:
        case And(parts):
            return all(holds(part, row) for part in parts)
        case Or(parts):
            return any(holds(part, row) for part in parts)
        case Not(part):
            return not holds(part, row)
        case Compare(column, op, value):
            return compared(op, row[column], value)
        case Relate(column, op, other):
            return compared(op, row[column], row[other])
        case CompareSum(columns, op, value):
            some = [row[each] for each in columns]
            return None not in some and compared(op, sum(some), value)
        case Present(column):
            return row[column] is not None
        case Bits(column, mask):
            return bool(row[column] & mask)
        case Prefix(column, text):
            return row[column] is not None and row[column].startswith(text)
        case Holds(column, text):
            return row[column] is not None and text in row[column]
        case Like(column, pattern):
            return row[column] is not None and like(row[column], pattern)


@given(CONDITIONS, ROWS)
def test_sql_decides_as_the_condition_means(condition, row):
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE job (name TEXT, low REAL, high REAL, odd INTEGER)")
    connection.execute("INSERT INTO job VALUES (:name, :low, :high, :odd)", row)
    text, values = sql(condition, SQLITE, "job")
    (count,) = connection.execute(f"SELECT count(*) FROM job WHERE {text}", values).fetchone()
    connection.close()
    assert count == holds(condition, row)


@given(st.lists(CONDITIONS, max_size=3), ROWS)
def test_short_forms_mean_the_same(parts, row):
    assert holds(all_of(*parts), row) == holds(And(tuple(parts)), row)
    assert holds(any_of(*parts), row) == holds(Or(tuple(parts)), row)
    for part in parts:
        assert holds(none_of(part), row) == (not holds(part, row))


def test_short_forms_are_short():
    one = Present("user")
    assert all_of(TRUE, one) == any_of(FALSE, one, one) == none_of(none_of(one)) == one
    assert all_of(one, FALSE) == none_of(TRUE) == FALSE
    assert any_of(one, TRUE) == none_of(FALSE) == TRUE


def test_values_are_never_sql_text():
    hostile = "x' OR 1=1 --"
    for dialect in (SQLITE, POSTGRESQL):
        text, values = sql(Compare("user", Op.EQ, hostile), dialect)
        assert hostile not in text
        assert values == (hostile,)


def test_only_names_are_quoted_as_names():
    assert quoted("task_group_name") == '"task_group_name"'
    with pytest.raises(ValueError, match="no name of a table"):
        quoted('id" = "id')


def test_a_pattern_is_written_for_each_engine():
    assert sql(Like("name", "50%_*?[a]"), POSTGRESQL).values == ("50!%!_%_[a]",)
    assert sql(Like("name", "50%_*?[a]"), SQLITE).values == ("50%_*?[[]a]",)


@given(TEXTS, TEXTS)
def test_what_comes_after_a_prefix_ends_it(prefix, rest):
    end = after(prefix)
    assert end is None or prefix + rest < end
    assert end is not None or not prefix.strip("\U0010ffff")


def test_a_condition_names_its_columns():
    condition = any_of(Relate("low", Op.LT, "high"), none_of(all_of(Present("a"), Bits("odd", 1))))
    assert columns(condition) == {"low", "high", "a", "odd"}


def test_the_columns_of_a_condition_are_all_that_it_asks():
    sums = CompareSum(("low", "high"), Op.GT, 1.0)
    both = all_of(sums, none_of(Compare("name", Op.EQ, "a")))
    assert columns(sums) == {"low", "high"}
    assert columns(both) == {"low", "high", "name"}
    assert columns(any_of(both, Relate("a", Op.LT, "b"))) == {"low", "high", "name", "a", "b"}
    assert columns(TRUE) == columns(FALSE) == frozenset()


def test_both_bounds_of_a_predicate_are_replaced():
    sure, maybe = Compare("name", Op.EQ, "a"), Present("name")
    bounds = PredicateBounds(sure, maybe, frozenset(("Name",)))
    assert bounds.replaced(none_of) == PredicateBounds(Not(sure), Not(maybe), bounds.paths)
