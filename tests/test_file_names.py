"""Names of files with what only the running job knows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob import loads
from sssjob.errors import InvalidValue
from sssjob.file_names import NAMES, RunningValue, filled, indexed, joined, literal, parse

TEXTS = st.text(st.sampled_from("{}:3Id$%"), max_size=12)
KNOWN = st.builds(RunningValue, st.sampled_from(NAMES), st.integers(0, 9))


@given(TEXTS)
def test_a_text_stands_for_nothing_once_it_is_escaped(text):
    assert "".join(parse(literal(text))) == text


@given(st.lists(st.one_of(TEXTS, KNOWN), max_size=5))
def test_parts_are_read_as_they_were_joined(parts):
    texts = [each for each in parse(joined(parts)) if isinstance(each, RunningValue)]
    assert texts == [each for each in parts if isinstance(each, RunningValue)]
    assert joined(parse(joined(parts))) == joined(parts)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a-{{Id}}", "a-7"), ("{{ArrayId}}_{{ArrayIndex:3}}", "7_000"), ("{{Name}}", "scan"),
        ("{{{{}}Id}}", "{{Id}}"), ("{{Other}}", "{{Other}}"),
    ],
)  # fmt: skip
def test_a_job_whose_id_is_known_fills_in_what_it_says(text, name):
    assert filled(text, loads("<Job><Id>7</Id><Name>scan</Name></Job>")) == name


@pytest.mark.parametrize("text", ["{{Node}}", "{{User}}"])
def test_what_a_job_does_not_say_is_not_filled_in(text):
    with pytest.raises(InvalidValue):
        filled(text, loads("<Job><Id>7</Id></Job>"))


def test_an_element_that_is_a_job_of_its_own_has_its_index():
    assert indexed("{{ArrayIndex}}-{{{{}}ArrayIndex}}", 12) == "12-{{{{}}ArrayIndex}}"
