import contextlib

import pytest

from sssjob.query import NotAQuery, compile
from sssjob.query.parser import MAX_DEPTH, parse
from sssjob.query.tokens import MAX_LENGTH, tokens

ANYWHERE = "/descendant-or-self::node()"


@pytest.mark.parametrize(
    "text, printed",
    [
        pytest.param("//Job/Id", f"{ANYWHERE}/child::Job/child::Id", id="anywhere"),
        pytest.param("/", "/", id="document"),
        pytest.param("/ | Id", "/ | child::Id", id="document in a union"),
        pytest.param("../@units", "parent::node()/attribute::units", id="abbreviations"),
        pytest.param("div div mod", "child::div div child::mod", id="operators as names"),
        pytest.param("* * *", "child::* * child::*", id="star thrice"),
        pytest.param("a-b - c", "child::a-b - child::c", id="minus in a name"),
        pytest.param("--1", "-(-1)", id="minus twice"),
        pytest.param("1-(2-3)", "1 - (2 - 3)", id="brackets that count"),
        pytest.param("(1-2)-3", "(1 - 2) - 3", id="brackets that are kept"),
        pytest.param("a or b and c", "child::a or child::b and child::c", id="and before or"),
        pytest.param("(a or b) and c", "(child::a or child::b) and child::c", id="or first"),
        pytest.param("not(a or b)", "not(child::a or child::b)", id="or in a function"),
        pytest.param("-a|b", "-child::a | child::b", id="minus of a union"),
        pytest.param("(//Job)[1]/Id", f"({ANYWHERE}/child::Job)[1]/child::Id", id="the first"),
        pytest.param("id('x')//a", f"id('x'){ANYWHERE}/child::a", id="a call and a path"),
        pytest.param("processing-instruction('p')", "child::processing-instruction('p')", id="pi"),
        pytest.param("processing-instruction()", "child::processing-instruction()", id="any pi"),
        pytest.param("comment() | text()", "child::comment() | child::text()", id="kinds"),
        pytest.param("xml:*|@xml:lang", "child::xml:* | attribute::xml:lang", id="xml prefix"),
        pytest.param(' \t\n"it\'s" ', '"it\'s"', id="white space and quotes"),
    ],
)
def test_an_expression_prints_with_every_axis(text, printed):
    assert str(parse(text)) == printed


END = "unexpected end of source; expected "
OPERAND = "a path, a value or a function"

ERRORS = [
    pytest.param("//Job[State='Idle'", 18, END + "an operator or ]", id="bracket"),
    pytest.param("", 0, END + OPERAND, id="nothing"),
    pytest.param("//", 2, END + OPERAND, id="slashes"),
    pytest.param("Id Name", 3, "unexpected Name; expected an operator or the end", id="two"),
    pytest.param("Id = ", 5, END + OPERAND, id="half"),
    pytest.param("(1", 2, "unexpected end of source; expected an operator or )", id="parenthesis"),
    pytest.param("State='Idle", 11, "a literal without an end; expected '", id="quote"),
    pytest.param("Id # 1", 3, "'#' has no meaning in XPath 1.0", id="sign"),
    pytest.param("Id == 1", 4, "unexpected =; expected " + OPERAND, id="equals"),
    pytest.param("if (Id) then 1", 0, "no function if in XPath 1.0", id="xpath 2"),
    pytest.param("uncle::Job", 0, "no axis uncle in XPath 1.0", id="axis"),
    pytest.param("$x", 0, "$x has no value here", id="variable"),
    pytest.param("$ x", 0, "$ without a name; expected the name of a variable", id="no variable"),
    pytest.param("//Job/x:Id", 6, "prefix x has no namespace; expected --ns x=URI", id="prefix"),
    pytest.param("x:lower('A')", 0, "no function x:lower in XPath 1.0", id="extension"),
    pytest.param("document('/etc/passwd')", 0, "no function document in XPath 1.0", id="document"),
    pytest.param(
        "count('x')", 6, "a string as argument of count(); expected a node set", id="type"
    ),
    pytest.param("Id | 1", 5, "a number on both sides of |; expected a node set", id="union"),
    pytest.param("'a'/Id", 0, "a string before [ or /; expected a node set", id="path of a string"),
    pytest.param("substring('a')", 0, "1 arguments of substring(); expected 2 to 3", id="few"),
    pytest.param(
        "concat('a')", 0, "1 arguments of concat(); expected at least 2", id="one of many"
    ),
    pytest.param("true(1)", 0, "1 arguments of true(); expected 0", id="none"),
    pytest.param("concat('a',)", 11, "unexpected ); expected " + OPERAND, id="comma"),
    pytest.param(
        "position() = 1",
        0,
        "position() without brackets around it; expected [ before it",
        id="position",
    ),
    pytest.param(
        "count(Job[1][2]) = last()",
        19,
        "last() without brackets around it; expected [ before it",
        id="last behind brackets",
    ),
    pytest.param("text('x')", 5, "unexpected 'x'; expected )", id="a kind with a name"),
    pytest.param("node(1)", 5, "unexpected 1; expected )", id="a kind with a number"),
    pytest.param("processing-instruction(p)", 23, "unexpected p; expected )", id="bare pi"),
    pytest.param("Id\0", 2, "character U+0000 cannot be in XML", id="nul"),
    pytest.param(
        "(" * 99 + "1" + ")" * 99, MAX_DEPTH, "nested more than 32 levels deep", id="deep"
    ),
    pytest.param(
        "a[" * 99, 2 * MAX_DEPTH + 1, "nested more than 32 levels deep", id="deep predicates"
    ),
]


@pytest.mark.parametrize("text, position, said", ERRORS)
def test_an_error_has_its_place_and_what_was_expected(text, position, said):
    with pytest.raises(NotAQuery) as raised:
        compile(text)
    assert raised.value.position == position
    message, expression, caret = str(raised.value).rsplit("\n", 2)
    assert message == said
    assert len(expression) < 80
    assert caret.strip() == "^"
    if len(text) < 40:
        assert caret.index("^") - 4 == position


def test_the_caret_stands_under_the_place_in_its_line():
    with pytest.raises(NotAQuery) as raised:
        compile("//Job[State =\n  'Idle'\n  and =]")
    assert str(raised.value).endswith("\n      and =]\n          ^")


def test_an_expression_is_not_too_long():
    with pytest.raises(NotAQuery, match="at most 10000"):
        compile("1" * (MAX_LENGTH + 1))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("+".join("1" * (MAX_LENGTH // 2)), id="sums"),
        pytest.param("/".join("a" * (MAX_LENGTH // 2)), id="steps"),
        pytest.param("a[" * (MAX_DEPTH - 1) + "1" + "]" * (MAX_DEPTH - 1), id="predicates"),
        pytest.param("-" * (MAX_LENGTH - 1) + "1", id="signs"),
        pytest.param("a[1]" * 1 + "[1]" * 3000, id="brackets"),
    ],
)
def test_long_expressions_are_answered_or_refused(text):
    with contextlib.suppress(NotAQuery):
        compile(text)


def test_tokens_know_their_places():
    expression = "//Job[ @units != 'GB' ]"
    for token in tokens(expression):
        assert expression[token.start : token.end] == token.text
