"""Advice on names."""
# ruff: noqa: E501 (a row of a table is a line)

import pytest
from hypothesis import given
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
