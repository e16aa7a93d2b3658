"""What says how many cases a test draws says so in the same proportion to every test."""

from itertools import combinations, product

import draws
import pytest
from hypothesis import settings


@pytest.fixture
def profile():
    before = "explore" if draws.exploring() else "ci"
    yield settings.load_profile
    settings.load_profile(before)


@pytest.mark.parametrize(
    ("name", "of_ten", "of_a_sweep", "one_in"), [("ci", 10, 400, 192), ("explore", 120, 4800, 16)]
)
def test_a_run_that_explores_draws_more_of_everything(profile, name, of_ten, of_a_sweep, one_in):
    profile(name)
    assert draws.examples(10).max_examples == of_ten
    assert draws.cases(400) == of_a_sweep
    assert draws.share(192) == one_in


def test_one_in_few_becomes_all_of_them(profile):
    profile("explore")
    assert draws.share(10) == 1


VALUES = {"one": (1, 2, 3), "two": "ab", "three": "wxyz", "four": (True, False)}


def marks(way):
    """What a way to choose cases says of a test, by the names of its marks."""

    @way(**VALUES)
    def test():
        pass

    return {mark.name: mark.args for mark in test.pytestmark}


def rows(way):
    names, found = marks(way)["parametrize"]
    assert names == "one, two, three, four"
    return [each.values for each in found]


def test_few_cases_have_every_value():
    few = rows(draws.singly)
    assert [{*column} for column in zip(*few, strict=True)] == [{*each} for each in VALUES.values()]
    assert len(few) == 4


def test_more_cases_have_every_two_values():
    few = rows(draws.pairwise)
    for one, other in combinations(range(4), 2):
        wanted = product([*VALUES.values()][one], [*VALUES.values()][other])
        assert {(row[one], row[other]) for row in few} == {*wanted}
    assert len(few) == 12


@pytest.mark.parametrize("way", [draws.singly, draws.pairwise])
def test_a_run_that_explores_tries_all_with_all(profile, way):
    profile("explore")
    assert sorted(rows(way)) == sorted(product(*VALUES.values()))
    assert "explore" in marks(way)
