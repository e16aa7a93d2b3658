"""Text of expressions to trees and back, in both syntaxes, and what is no expression."""

import classad_strategies as ads
import pytest
from classads_oracle import classad2, node_of
from hypothesis import given

from sssjob.classads import writing
from sssjob.classads.errors import BadAd
from sssjob.classads.parser import DEPTH_LIMIT, expression
from sssjob.classads.tree import AttributeReference, Binary, Literal, Unary

WRITTEN = [
    pytest.param("1+2*3", "1 + 2 * 3", id="closer operators need no brackets"),
    pytest.param("(1+2)*3", "(1 + 2) * 3", id="brackets are kept"),
    pytest.param("((a))", "((a))", id="even twice"),
    pytest.param("a =?= 1", "a is 1", id="the new syntax says is"),
    pytest.param("a =!= undefined", "a isnt undefined", id="and isnt"),
    pytest.param("a?b:c", "a ? b : c", id="conditional"),
    pytest.param("a ?: c", "a ?: c", id="without a middle"),
    pytest.param("f(a,  b)", "f(a,b)", id="call"),
    pytest.param("{1,\"x\"}", '{ 1,"x" }', id="list"),
    pytest.param("[a=1;;b=\"x\";]", '[ a = 1; b = "x" ]', id="extra semicolons"),
    pytest.param("'a b' + 'is'", "'a b' + 'is'", id="quoted names"),
    pytest.param('"a" "b"', '"ab"', id="neighbours are one string"),
    pytest.param('"é\\303\\251\\n"', '"\\303\\251\\303\\251\\n"', id="bytes outside ASCII"),
    pytest.param("1.5", "1.500000000000000E+00", id="real"),
    pytest.param('real("INF")', 'real("INF")', id="infinity"),
    pytest.param("TRUE && False", "true && false", id="booleans in any case"),
    pytest.param("- 5", "-5", id="negative number"),
    pytest.param("!(a && b) || -c[1].d", "!(a && b) || -c[1].d", id="signs and steps"),
    pytest.param("a /* x */ + // y\n b", "a + b", id="comments"),
    pytest.param('absTime("2003-04-28T19:21:53Z")', 'absTime("2003-04-28T19:21:53+00:00")',
                 id="moment"),
    pytest.param('relTime("1+02:24:13")', 'relTime("1+02:24:13")', id="span"),
    pytest.param("9223372036854775807", "9223372036854775807", id="the largest integer"),
    pytest.param("-9223372036854775808", "-9223372036854775808", id="the smallest integer"),
]  # fmt: skip

BAD = [
    pytest.param('"open', "not closed", id="string"),
    pytest.param("'open", "not closed", id="quoted name"),
    pytest.param("a /* open", "comment that is not closed", id="comment"),
    pytest.param("1K", "'1K' is no number", id="unit"),
    pytest.param("0x10", "'0x' is no number", id="hexadecimal"),
    pytest.param("9223372036854775808", "64 bits", id="too large an integer"),
    pytest.param("9" * 5000, "64 bits", id="far too large an integer"),
    pytest.param("1 2", "where the end is expected", id="two values"),
    pytest.param("(1", "where ')' is expected", id="bracket"),
    pytest.param("{1,}", "a value, a name or a bracket", id="comma"),
    pytest.param("a ? b", "where ':' is expected", id="half a conditional"),
    pytest.param("is", "a value, a name or a bracket", id="reserved word"),
    pytest.param("a..b", "a name is expected", id="two dots"),
    pytest.param("", "the end at character 1", id="nothing"),
    pytest.param("a # b", "'#' has no meaning here", id="strange sign"),
    pytest.param('"a\\000b"', "NUL", id="NUL"),
    pytest.param('"\\377"', "no UTF-8", id="ill-formed bytes"),
    pytest.param('"\ud800\\n"', "lone surrogate", id="surrogate"),
    pytest.param("(" * 100_000, "levels deep", id="deep brackets"),
    pytest.param("{" * (DEPTH_LIMIT + 1) + "}" * (DEPTH_LIMIT + 1), "levels deep", id="deep lists"),
    pytest.param("[a=" * 100 + "1" + "]" * 100, "levels deep", id="deep ads"),
    pytest.param("!" * 1000 + "a", "signs", id="many signs"),
    pytest.param("a" + ".b" * 1000, "steps", id="many steps"),
    pytest.param("x" * (1 << 21), "more than 1048576 characters", id="too long"),
]


@pytest.mark.parametrize("text, written", WRITTEN)
def test_an_expression_is_written_as_htcondor_writes_it(text, written):
    assert writing.expression(expression(text)) == written
    assert expression(written) == expression(text)


@pytest.mark.parametrize("text, reason", BAD)
def test_what_is_no_expression_is_refused_with_its_reason(text, reason):
    with pytest.raises(BadAd, match=reason.replace("(", r"\(").replace(")", r"\)")):
        expression(text)


def test_long_chains_are_not_deep():
    text = " && ".join(["a"] * 5000)
    assert writing.expression(expression(text)) == text


def test_the_old_syntax_knows_one_escape_only():
    assert expression(r'"C:\dir\n"', True) == Literal(r"C:\dir\n")
    assert expression(r'"say \"x\""', True) == Literal('say "x"')
    assert expression(r'"C:\"', True) == Literal("C:\\")
    with pytest.raises(BadAd, match="not closed"):
        expression(r'"C:\" && true', True)


def test_operators_of_one_level_go_from_left_to_right():
    assert expression("1 - 2 - 3") == Binary("-", Binary("-", Literal(1), Literal(2)), Literal(3))
    assert expression("- - a") == Unary("-", Unary("-", AttributeReference(None, "a")))


def test_what_is_made_by_hand_gets_the_brackets_it_needs():
    made = Binary(
        "&&",
        Binary("||", AttributeReference(None, "a"), AttributeReference(None, "b")),
        Literal(True),
    )
    assert writing.expression(made) == "(a || b) && true"


@given(ads.expressions())
def test_every_tree_is_read_back_from_both_syntaxes(tree):
    for syntax in (writing.NEW, writing.OLD):
        text = writing.expression(tree, syntax)
        again = expression(text, syntax == writing.OLD)
        assert writing.expression(again, syntax) == text


@pytest.mark.skipif(classad2 is None, reason="the bindings of HTCondor are not installed")
@given(ads.expressions())
def test_the_bindings_read_what_we_write_and_write_what_we_read(tree):
    text = writing.expression(tree)
    theirs = " ".join(str(classad2.ExprTree(text)).split())
    assert node_of(theirs) == expression(text)
