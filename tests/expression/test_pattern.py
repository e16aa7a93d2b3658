"""Match and Pattern (2.10): what Perl answers, what is refused and where, what is stopped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.errors import LimitExceeded
from sssjob.expression.pattern import NotAPattern, Pattern
from sssjob.expression.perl import DEPTH_LIMIT, LENGTH_LIMIT, translate

# fmt: off
# Answers of perl 5.36 to $text =~ /\A(?:$pattern)\z/, but for \Q..\E, which it reads before that.
ANSWERS = [
    pytest.param(r"fr15.*", "fr15n03", True, id="anything behind"),
    pytest.param(r"fr15.*", "xfr15n03", False, id="nothing in front"),
    pytest.param(r"node[1-5]", "node12", False, id="nothing behind"),
    pytest.param(r"a|bc", "abc", False, id="the anchors are around all alternatives"),
    pytest.param(r"a\z", "a", True, id=r"\z"),
    pytest.param(r"a\z\n", "a\n", False, id=r"\z is the very end"),
    pytest.param(r"a\Z\n", "a\n", True, id=r"\Z may have a newline behind it"),
    pytest.param(r"a$\n", "a\n", True, id="so may $"),
    pytest.param(r"\Aa", "a", True, id=r"\A"),
    pytest.param(r"\Qa.b[\E1", "a.b[1", True, id=r"\Q quotes"),
    pytest.param(r"\Qa.b\E", "axb", False, id=r"\Q quotes the point"),
    pytest.param(r"[[:alpha:]]+[[:digit:]]", "node1", True, id="classes of POSIX"),
    pytest.param(r"[[:^alpha:]_]", "a", False, id="negated classes of POSIX"),
    pytest.param(r"[[:punct:]]+", "$+<=>^`|~!.", True, id="symbols of ASCII are punctuation"),
    pytest.param(r"[[:punct:]]", "\u00a2", False, id="other symbols are not"),
    pytest.param(r"[[:digit:]]", "\u0661", True, id="digits of every script"),
    pytest.param(r"(?<rack>r\d)\k<rack>", "r1r1", True, id="named groups"),
    pytest.param(r"(?'q'a)\g{q}", "aa", True, id="named groups in quotes"),
    pytest.param(r"(a)(b)\g{-1}\1", "abba", True, id="relative references"),
    pytest.param(r"a\Kb", "ab", True, id=r"\K changes nothing of whether"),
    pytest.param(r"(?!fr15)fr.*", "fr15n1", False, id="looking ahead"),
    pytest.param(r".*(?<=n)3", "n3", True, id="looking behind"),
    pytest.param(r"(?>a+)ab", "aaab", False, id="atomic groups"),
    pytest.param(r"a++ab", "aaab", False, id="possessive quantifiers"),
    pytest.param(r"(a(?i)b)c", "aBc", True, id="flags hold to the end of the group"),
    pytest.param(r"(a(?i)b)c", "aBC", False, id="and not behind it"),
    pytest.param(r"(?i)ss", "\u00df", True, id="case is folded fully"),
    pytest.param(r"a{e<=1}", "b", False, id="no construct of our engine: near misses"),
    pytest.param(r"[a&&b]", "&", True, id="no construct of our engine: sets"),
    pytest.param(r"[a--z]", "-", False, id="a range from a to -, which is refused"),
    pytest.param(r"[]a]", "]", True, id="] in front is a member"),
    pytest.param(r"[\w-]+", "a-b", True, id="- behind a class at the end"),
    pytest.param(r"\x{6e}\x6e\156\N{U+6E}", "nnnn", True, id="characters by their codes"),
    pytest.param(r"a\Rb", "a\r\nb", True, id=r"\R"),
    pytest.param(r"\h\v\N", "\t\n-", True, id=r"\h, \v and \N"),
    pytest.param(r".", "\n", False, id="the point is no newline"),
    pytest.param(r"(?s).", "\n", True, id="but with s"),
    pytest.param(r"\p{Lu}\PL", "N1", True, id="general categories"),
    pytest.param(r"a(?#b)c", "ac", True, id="comments"),
    pytest.param(r"x{", "x{", True, id="a brace that is no quantifier"),
]
REFUSED = [
    pytest.param(r"a(?R)", 2, id="recursion"),
    pytest.param(r"(a)(?1)", 4, id="recursion by number"),
    pytest.param(r"(?&n)", 1, id="recursion by name"),
    pytest.param(r"(?|a|b)", 1, id="branch reset"),
    pytest.param(r"(?(1)a|b)", 1, id="conditions"),
    pytest.param(r"a(?{ code })", 2, id="code"),
    pytest.param(r"a(*FAIL)", 2, id="verbs"),
    pytest.param(r"(?x) a b", 1, id="the flag x"),
    pytest.param(r"ab\Gc", 3, id=r"\G"),
    pytest.param(r"\X", 1, id=r"\X"),
    pytest.param(r"\Ua", 1, id=r"\U"),
    pytest.param(r"a\p{Greek}", 2, id="scripts"),
    pytest.param(r"[a[.x.]]", 3, id="collation"),
    pytest.param(r"[[:alpa:]]", 2, id="a class that is not known"),
    pytest.param(r"a{,3}", 2, id="a quantifier that Perls read differently"),
    pytest.param(r"a{3,2}", 2, id="bounds out of order"),
    pytest.param(r"a{65535}", 2, id="bounds beyond Perl's"),
    pytest.param(r"a**", 3, id="a quantifier of a quantifier"),
    pytest.param(r"*a", 1, id="nothing to repeat"),
    pytest.param(r"(a", 1, id="a group that is open"),
    pytest.param(r"a)", 2, id="a group that is not"),
    pytest.param(r"ab[c", 3, id="a class that is open"),
    pytest.param(r"[z-a]", 3, id="a range out of order"),
    pytest.param(r"[a-\d]", 3, id="a range to a class"),
    pytest.param(r"\1", 1, id="no such group"),
    pytest.param(r"\k<n>", 1, id="no such name"),
    pytest.param("a\\", 2, id="a backslash at the end"),
    pytest.param(r"\x{110000}", 1, id="no such character"),
    pytest.param("(" * (DEPTH_LIMIT + 1), DEPTH_LIMIT + 1, id="groups too deep"),
    pytest.param("a" * (LENGTH_LIMIT + 1), LENGTH_LIMIT + 1, id="too long"),
]
# fmt: on


@pytest.mark.parametrize(("pattern", "text", "answer"), ANSWERS)
def test_patterns_mean_what_they_mean_in_perl(pattern, text, answer):
    try:
        assert Pattern(pattern).matches(text) is answer
    except NotAPattern:
        assert not answer


@pytest.mark.parametrize(("pattern", "position"), REFUSED)
def test_what_is_not_evaluated_is_refused_by_its_position(pattern, position):
    with pytest.raises(NotAPattern) as caught:
        Pattern(pattern)
    assert caught.value.position == position
    assert f"at character {position} of" in str(caught.value)


def test_a_part_will_do_if_asked_for_and_globs_have_two_signs():
    assert Pattern("node[1-5]", "search").matches("xnode12")
    assert Pattern("fr*n0?", "glob").matches("fr15n03")
    assert not Pattern("fr*", "glob").matches("xfr")
    assert not Pattern("n[1]", "glob").matches("n1")


@pytest.mark.parametrize("pattern", [r"(x+x+)+y", r"(x|xx)+y", r"^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_a_pattern_that_explodes_is_stopped_and_not_tried_again(pattern):
    made = Pattern(pattern)
    for _ in range(1000):
        with pytest.raises(LimitExceeded, match="to match"):
            made.matches("x" * 5000)
    assert made.stopped is not None


@given(st.text())
def test_quoted_text_matches_itself_only(text):
    quoted = Pattern("".join(f"\\x{{{ord(letter):x}}}" for letter in text))
    assert quoted.matches(text)
    assert not quoted.matches(text + "x")


@given(st.text(alphabet="ab1-[](){}|*+?^$\\.:,dwzQEK<>!=#&~ \n", max_size=12), st.text(max_size=6))
def test_every_text_is_evaluated_or_refused(pattern, text):
    position = 1
    try:
        Pattern(pattern).matches(text)
    except NotAPattern as error:
        position = error.position
    assert 1 <= position <= len(pattern) + 1


def test_the_engine_sees_nothing_of_its_own():
    assert translate("a{e<=1}[a&&b||c]") == r"a\{e\<\=1\}[a\&\&b\|\|c]"
