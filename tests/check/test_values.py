"""Texts against types, vocabularies and units."""
# ruff: noqa: E501 (a row of a table is a line)

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import ODD

from sssjob import spec
from sssjob.check.values import check_attribute, check_text, check_words, plain

TYPES = [spec.STRING, spec.INTEGER, spec.FLOAT, spec.BOOLEAN, spec.DATETIME, spec.DURATION]
PLACES = [
    (name, category, row)
    for category in ("", spec.REQUESTED, spec.DELIVERED)
    for name in sorted(spec.names())
    for row in spec.attributes(name, category).values()
]


@given(st.sampled_from(TYPES), ODD)
def test_what_is_plain_is_right(type_, text):
    assert not plain(type_)(text) or list(check_text(type_, text)) == []


@given(st.sampled_from(PLACES), ODD)
def test_what_is_plain_in_an_attribute_is_right(place, text):
    name, category, row = place
    looks_right = plain(row.type, row, name, category)(text)
    assert not looks_right or list(check_attribute(row, text, name, category)) == []


# fmt: off
FAULTS = [
    pytest.param(spec.INTEGER,  "1,024", ["E-TYPE"], "write 1024",                id="a separator"),
    pytest.param(spec.FLOAT,    "2 GB",  ["E-TYPE"], 'write 2 with units="GB"',   id="a unit in the text"),
    pytest.param(spec.FLOAT,    "2gib",  ["E-TYPE"], 'write 2 with units="GB"',   id="a unit as people write it"),
    pytest.param(spec.FLOAT,    "2 XB",  ["E-TYPE"], "",                          id="no unit in the text"),
    pytest.param(spec.FLOAT,    "fast",  ["E-TYPE"], "",                          id="no number"),
    pytest.param(spec.BOOLEAN,  "False", ["W-TYPE"], "write false",               id="the prose's False"),
    pytest.param(spec.DURATION, "1:00:00", ["W-TYPE"], "write 3600",              id="a clock"),
    pytest.param(spec.DATETIME, "2100-01-01T00:00:00Z", ["W-TYPE"], "write 4102444800", id="a date"),
    pytest.param(spec.DATETIME, "4294967296", ["W-RANGE"], "",                    id="more than 32 bits"),
    pytest.param(spec.STRING,   "\u00a0", [], None,                               id="any text"),
]
# fmt: on


@pytest.mark.parametrize("type_, text, codes, advice", FAULTS)
def test_a_fault_comes_with_advice(type_, text, codes, advice):
    found = list(check_text(type_, text))
    assert [code for code, _, _ in found] == codes
    assert [suggestion for _, _, suggestion in found] == [advice] * len(codes)


def test_each_unknown_word_of_a_list_is_told():
    found = list(check_words("redirectList", "Keep, Marge,close", ("Keep", "Close", "Merge")))
    advice = [suggestion for _, _, suggestion in found]
    assert advice == ["did you mean Merge?", "did you mean Close?"]
    assert list(check_words("redirectList", " ", ("Keep",))) == []
