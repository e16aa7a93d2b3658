"""Advice on names."""
# ruff: noqa: E501 (a row of a table is a line)

from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sssjob import spec
from sssjob import suggestions as spelling

# fmt: off
ADVICE = [
    pytest.param("Proccessors", "Job",        "did you mean Processors?",             id="a letter too many"),
    pytest.param("processors",  "Job",        "did you mean Processors?",             id="case"),
    pytest.param("Prcoessors",  "Job",        "did you mean Processors?",             id="letters swapped"),
    pytest.param("UserId",      "Job",        "UserId is an older name of User",      id="an older name"),
    pytest.param("Colour",      "Job",        "",                                     id="another word"),
    pytest.param("Processors",  "JobGroup",   "",                                     id="right, elsewhere"),
    pytest.param("x" * 10_000,  "Job",        "",                                     id="no name at all"),
    pytest.param("I",           "Job",        "",                                     id="too short to tell"),
]
# fmt: on


@pytest.mark.parametrize("name, container, expected", ADVICE)
def test_a_name_gets_the_advice_that_it_needs(name, container, expected):
    assert spelling.advice(name, container) == expected


@given(st.sampled_from(sorted(spec.names())), st.integers(0, 30), st.sampled_from("xyzXYZ"))
def test_one_letter_more_never_hides_a_known_name(name, place, letter):
    misspelled = name[:place] + letter + name[place:]
    assert misspelled in spec.names() or spelling.nearest(misspelled, spec.names())


@cache
def edits(one, other):
    """How many edits make one name the other, as the definition has it."""
    if not one or not other:
        return len(one) + len(other)
    least = min(
        edits(one[1:], other) + 1,
        edits(one, other[1:]) + 1,
        edits(one[1:], other[1:]) + (one[0] != other[0]),
    )
    if one[:2] == other[1::-1] and len(one) > 1:
        least = min(least, edits(one[2:], other[2:]) + 1)
    return least


WORDS = st.text("abc", min_size=1, max_size=8)


@given(WORDS, st.lists(WORDS, max_size=4))
@example("abcab", ["baacb"])
@example("abcabc", ["abcabcab"])
@example("abcabcab", ["abcabc"])
@example("abc", ["abca", "abcb"])
@example("ab", ["abc"])
@example("abcd", ["abdc"])
@example("abcd", ["abef"])
@example("abcde", ["abcfg"])
@example("aaa", ["a"])
def test_the_nearest_name_is_the_one_of_fewest_edits(name, names):
    most = 0 if len(name) <= 2 else 1 if len(name) <= 4 else 2
    near = [(edits(name, each), each) for each in names if edits(name, each) <= most]
    assert spelling.nearest(name, names) == min(near, default=(0, ""))[1]


def test_a_name_of_sixty_letters_may_be_misspelt_and_a_longer_one_is_no_name():
    assert spelling.nearest("a" * 60, ["a" * 61]) == "a" * 61
    assert spelling.nearest("a" * 61, ["a" * 60]) == ""


def test_letter_case_does_not_count_in_short_names():
    assert spelling.nearest("ID", ["Id", "No"]) == "Id"


def test_a_beginning_of_three_letters_is_that_of_the_shortest_name():
    names = ["MemoryBandwidth", "Memory", "Memoir"]
    assert spelling.beginning("MEM", names) == "Memoir"
    assert spelling.beginning("me", names) == ""
    assert spelling.beginning("mex", names) == ""


@pytest.mark.parametrize("container", ["Job", "JobGroup", "Requested", ""])
def test_a_name_of_the_container_itself_comes_before_the_others(container):
    for name in spec.properties(container) if container else sorted(spec.names()):
        if len(name) > 4 and name not in {row.name for row in spec.ALIASES}:
            assert spelling.advice(f"{name}x", container) == f"did you mean {name}?"
