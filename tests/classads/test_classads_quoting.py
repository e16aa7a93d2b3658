"""Arguments and environments split, join, and say what is wrong with them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.classads import forms, quoting
from sssjob.classads.errors import BadAd
from sssjob.classads.values import Ad

WORDS = st.lists(st.text(st.sampled_from("a'\" ;=\\\té|"), max_size=6), max_size=4)
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z_0-9]{0,5}", fullmatch=True)
VALUES = st.text(st.sampled_from("a'\" ;=\\\té|"), max_size=6)
VARIABLES = st.dictionaries(NAMES, VALUES, max_size=4)

# fmt: off
V2 = [
    ("", []),
    ("   ", []),
    ("a b", ["a", "b"]),
    ("a\tb  c ", ["a", "b", "c"]),
    ("''", [""]),
    ("a '' b", ["a", "", "b"]),
    ("'a b'", ["a b"]),
    ("a' 'b", ["a b"]),
    ("'a''b'", ["a'b"]),
    ("''''", ["'"]),
    ("'a'b'c'", ["abc"]),
    (r"C:\dir \n", [r"C:\dir", r"\n"]),
    ('say "x"', ["say", '"x"']),
    ("sleep' '1", ["sleep 1"]),
]
SUBMIT = [
    ("a b", ["a", "b"]),
    ('a \\"b\\"', ["a", '"b"']),
    ("it's", ["it's"]),
    ('"a \'b c\'"', ["a", "b c"]),
    ('"a ""b"""', ["a", '"b"']),
    ('""', []),
]
# fmt: on


@pytest.mark.parametrize("text, words", V2)
def test_v2_groups_by_single_quotes(text, words):
    assert quoting.split_v2(text) == words


@pytest.mark.parametrize("text, words", SUBMIT)
def test_a_submit_file_has_v2_in_double_quotes_and_v1_without(text, words):
    assert quoting.split_submit(text) == words


@given(WORDS)
def test_words_come_back_from_v2(words):
    assert quoting.split_v2(quoting.join_v2(words)) == words
    assert quoting.split_submit(quoting.quoted_v2(words)) == words


@given(WORDS)
def test_words_come_back_from_v1_or_are_refused(words):
    written = quoting.join_v1(words)
    assert written is None or quoting.split_v1(written) == words
    assert (written is None) == any(not word or re.search(r"\s", word) for word in words)


@given(VARIABLES)
def test_variables_come_back_from_v2(variables):
    assert quoting.environment_v2(quoting.join_environment_v2(variables)) == variables


@given(VARIABLES, st.sampled_from(quoting.DELIMITERS))
def test_variables_come_back_from_v1_or_are_refused(variables, delimiter):
    written = quoting.join_environment_v1(variables, delimiter)
    if written is not None:
        assert quoting.environment_v1(written, delimiter) == variables
    else:
        assert any(delimiter in value for value in variables.values())


@pytest.mark.parametrize(
    "split, text, reason",
    [
        pytest.param(quoting.split_v2, "a 'b", "single quote that is not closed", id="single"),
        pytest.param(quoting.split_submit, '"a', "double quote that is not closed", id="double"),
        pytest.param(quoting.split_submit, '"a"b"', "must be doubled", id="in the middle"),
        pytest.param(quoting.split_submit, 'a "b"', "without a backslash", id="bare"),
        pytest.param(quoting.environment_v1, "A=1;B", "'B' is no variable", id="no equal sign"),
        pytest.param(quoting.environment_v2, "=1", "'=1' is no variable", id="no name"),
    ],
)
def test_what_cannot_be_split_is_refused_with_its_reason(split, text, reason):
    with pytest.raises(BadAd, match=reason):
        split(text)


def test_a_macro_of_htcondor_may_stand_for_variables():
    assert quoting.environment_v1("$$(Vars);A=1") == {"$$(Vars)": "", "A": "1"}


def test_a_line_feed_is_no_safe_value():
    with pytest.raises(BadAd, match="line feed"):
        quoting.join_environment_v2({"A": "1\n2"})
    assert quoting.join_environment_v1({"A": "1\n2"}) is None


@pytest.mark.parametrize(
    "ad, added",
    [
        pytest.param({}, {"Environment": "JOBFEATURES=/j"}, id="neither"),
        pytest.param({"Environment": "A=1"}, {"Environment": "A=1 JOBFEATURES=/j"}, id="V2"),
        pytest.param({"Env": "A=1"}, {"Env": "A=1;JOBFEATURES=/j"}, id="V1"),
        pytest.param({"Env": "A=1|B=2", "EnvDelim": "|"}, {"Env": "A=1|B=2|JOBFEATURES=/j"},
                     id="V1 of Windows"),
        pytest.param({"Env": "A=1", "Environment": "B=2"}, {"Environment": "B=2 JOBFEATURES=/j"},
                     id="both, of which V2 wins"),
        pytest.param({"Environment": "JOBFEATURES=/old B='2 3'"},
                     {"Environment": "JOBFEATURES=/j B=2' '3"}, id="replaced"),
    ],
)  # fmt: skip
def test_variables_are_added_to_the_attribute_that_the_job_uses(ad, added):
    assert quoting.with_environment(Ad(ad), {"JOBFEATURES": "/j"}) == added


def test_what_v1_cannot_hold_goes_to_v2():
    found = quoting.with_environment(Ad({"Env": "A=1"}), {"B": "x;y"})
    assert found == {"Environment": "A=1 B=x;y"}


def test_an_environment_that_is_an_expression_is_worked_out_and_not_lost():
    [ad] = forms.read_text('Environment = strcat("A=", B)\nB = 1\nArguments = strcat("x ", B)\n')
    assert quoting.with_environment(ad, {"C": "2"}) == {"Environment": "A=1 C=2"}
    assert quoting.arguments(ad) == ["x", "1"]
    [ad] = forms.read_text('Environment = undefined\nEnv = strcat("A=", 1)\n')
    assert quoting.with_environment(ad, {"C": "2"}) == {"Env": "A=1;C=2"}


def test_arguments_are_those_of_v2_if_there_are_both():
    assert quoting.arguments(Ad({"Args": "a b", "Arguments": "'c d'"})) == ["c d"]
    assert quoting.arguments(Ad({"Args": "a 'b"})) == ["a", "'b"]
