"""Lines go by columns where they fit, and each of the others by itself, in its place."""

import pytest

from sssjob.records.cuts import RegularLines
from sssjob.records.lines import KeysWithin
from sssjob.records.texts import Coded, Plain, fused

pa = pytest.importorskip("pyarrow")
np = pytest.importorskip("numpy")
regular = pytest.importorskip("sssjob.records.regular")

SIZE = 8 * regular.LEAST
FORM = RegularLines("|", frozenset({2}), lambda columns: "odd" not in [*columns[1]], lambda *_: ())


def block(odd=(), names=lambda at: f"n{at % 3}"):
    """Lines of a number and a word, or of what does not fit."""
    return "\n".join(f"{at}|{'odd' if at in odd else names(at)}" for at in range(SIZE)).encode()


@pytest.mark.parametrize(
    "odd", [(), (0,), (SIZE - 1,), (3,), (SIZE // 2,), (SIZE // 2 - 1, SIZE - 2), (70, 300, 500)]
)
def test_runs_of_lines_that_fit_are_told_with_their_places(odd):
    found = regular.regular(block(odd), "|", 2, set())
    seen = []
    for begin, (numbers, words) in FORM.runs(found):
        assert [*numbers] == [str(begin + at) for at in range(len(words))]
        assert "odd" not in [*words]
        assert len(words) >= regular.LEAST
        seen += range(begin, begin + len(words))
    assert seen == sorted({*seen})
    assert len(seen) >= SIZE - 2 * regular.LEAST * len(odd)


@pytest.mark.parametrize("names", [lambda at: f"name{at}", lambda at: f"caf\u00e9{at}"])
def test_words_that_seldom_repeat_are_the_same_in_the_blocks_behind(names):
    varied = set()
    for _ in range(2):
        _, words = regular.regular(block(names=names), "|", 2, varied).columns
        assert [*words] == [names(at) for at in range(SIZE)]
        assert varied == {0, 1}


@pytest.mark.parametrize(
    "names, kinds",
    [
        (lambda at: f"name{at}", (Plain, Plain)),
        (lambda at: f"caf\u00e9{at}", (Plain, Coded)),
        (lambda at: f"caf\u00e9{at % 3}", (Plain, Coded)),
        (lambda at: f"name{at % 3}", (Plain, Coded)),
    ],
)
def test_only_words_of_ascii_that_seldom_repeat_are_held_as_they_stand(names, kinds):
    varied = set()
    for _ in range(2):
        found = regular.regular(block(names=names), "|", 2, varied).columns
        assert tuple(map(type, found)) == kinds


def test_a_column_that_says_the_same_everywhere_tells_no_records_apart():
    one, other = (np.arange(60) % size for size in (2, 3))
    same = np.zeros(60, np.int64)
    found = fused([(2, one), (1, same), (3, other)])
    assert found.firsts.tolist() == [0, 4, 2, 3, 1, 5]
    assert found.codes.tolist() == fused([(2, one), (3, other)]).codes.tolist()


def test_a_value_that_hides_a_delimiter_is_told_in_sixty_letters():
    said = KeysWithin(("user",), "=").told([("name", "a" * 61 + "user=b")], ())
    assert said == f"name is {'a' * 60!r}: a delimiter is missing at user"


@pytest.mark.parametrize(
    ("needed", "sizes", "whole", "is_open"),
    [
        pytest.param("columns_to_come", [9], 0, False, id="too few bytes"),
        pytest.param("columns_to_come", [9, 1], 0, True, id="enough with those before"),
        pytest.param("columns_to_come", [1], 10, True, id="the stream is known to have enough"),
        pytest.param("columns_to_come", [1], 9, False, id="the stream has too few"),
        pytest.param("pytest", [1], 0, True, id="imported already"),
        pytest.param("no_such_columns", [99], 99, False, id="not installed"),
    ],
)
def test_columns_are_used_where_there_are_bytes_enough_to_import_them(
    needed, sizes, whole, is_open, tmp_path, monkeypatch
):
    (tmp_path / "columns_to_come.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    road = regular.Road(10, (needed,))
    assert [road.is_open(size, whole) for size in sizes][-1] is is_open
    assert road.wide() == regular.CHUNK * is_open
