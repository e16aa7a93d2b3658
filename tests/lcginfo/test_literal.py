import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.errors import InvalidValue
from sssjob.lcginfo import literal

SCALARS = st.one_of(
    st.text(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.none(),
)


@given(st.dictionaries(st.text(), SCALARS))
def test_whatever_repr_prints_of_a_flat_dictionary_is_read_as_it_was(values):
    assert literal.parse(repr(values)) == values
    assert literal.parse(ascii(values)) == values


@given(st.text("{}'\"\\:, ub01.eN\n", max_size=30))
def test_what_is_read_is_what_python_reads(text):
    try:
        found = literal.parse(text)
    except InvalidValue:
        return
    assert found == ast.literal_eval(text.strip())


@given(st.text())
def test_a_quoted_text_holds_no_brace_and_reads_back(text):
    quoted = literal.quoted(text)
    assert quoted.isascii()
    assert not set(quoted) & set("{}")
    assert literal.parse(f"{{'name': {quoted}}}") == {"name": text}


@pytest.mark.parametrize("text, values", [
    pytest.param("{}", {}, id="empty"),
    pytest.param("  {'a': 1,}  ", {"a": 1}, id="trailing-comma"),
    pytest.param("{u'a': b'x', \"b\": u\"y\"}", {"a": "x", "b": "y"}, id="prefixes"),
    pytest.param("{'a': 12L}", {"a": 12}, id="long-of-Python-2"),
    pytest.param(r"{'a': 'x\x41\u00e9\101\q\n'}", {"a": "xAéA\\q\n"}, id="escapes"),
    pytest.param(r"{'a': '\ud800\U00110000'}", {"a": "\ufffd\ufffd"}, id="no-code-point"),
    pytest.param("{'name': 'b{r}a}ces'}", {"name": "b{r}a}ces"}, id="braces-in-strings"),
    pytest.param("{'a': 1, 'a': 2}", {"a": 2}, id="the-last-of-a-key-counts"),
])  # fmt: skip
def test_quirks_of_producers(text, values):
    assert literal.parse(text) == values


@pytest.mark.parametrize("text", [
    pytest.param("{'a': __import__('os').system('id')}", id="a-call"),
    pytest.param("{'a': [1]}", id="a-list"),
    pytest.param("{'a': {'b': 1}}", id="nested"),
    pytest.param("{'a': 1 + 1}", id="an-expression"),
    pytest.param("{'a': 'x' 'y'}", id="two-strings"),
    pytest.param("{'a': '''x'''}", id="triple-quotes"),
    pytest.param("{'a': name}", id="a-name"),
    pytest.param("{1: 'a'}", id="a-number-as-key"),
    pytest.param("{'a'}", id="a-set"),
    pytest.param("{'a': 1", id="cut-off"),
    pytest.param("{'a': 'x", id="cut-off-in-a-string"),
    pytest.param("{'a': 1} # and more", id="more-behind-it"),
    pytest.param("{'a': " + "9" * 5000 + "}", id="a-number-without-end"),
    pytest.param("{'a': '" + "x" * literal.LENGTH_LIMIT + "'}", id="too-long"),
    pytest.param("", id="nothing"),
])  # fmt: skip
def test_anything_else_is_refused(text):
    with pytest.raises(InvalidValue):
        literal.parse(text)


def test_a_hostile_text_is_refused_at_once():
    text = "{'a': '" + "\\" * 60000
    with pytest.raises(InvalidValue):
        literal.parse(text)
