"""Match and Pattern (2.10): what Perl answers, what is refused and where, what is given up."""

# ruff: noqa: E501 - a case is one line of its table

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from sssjob.errors import LimitExceeded
from sssjob.expression.pattern import NotAPattern, Pattern, automaton, backtracking
from sssjob.expression.pattern.automaton import Automaton
from sssjob.expression.pattern.backtracking import Backtracking
from sssjob.expression.pattern.perl import DEPTH_LIMIT, LENGTH_LIMIT, read
from sssjob.expression.pattern.program import program

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
    pytest.param("[[:punct:]]", "\u00a2", False, id="other symbols are not"),
    pytest.param("[[:digit:]]", "\u0661", True, id="digits of every script"),
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
    pytest.param("(?i)(?-i)a", "A", False, id="a flag that is switched off holds no more"),
    pytest.param("(?i:x(?-i:a)b)", "XAB", False, id="nor in a group"),
    pytest.param("(?i:x(?-i:a)b)", "XaB", True, id="but behind that"),
    pytest.param("(?i-s)A", "a", True, id="one is switched on, and another one off"),
    pytest.param("(?s)a(?-s).", "a\n", False, id="a dot that takes no line end any more"),
    pytest.param("(?i)ss", "\u00df", True, id="case is folded fully"),
    pytest.param(r"a{e<=1}", "b", False, id="no construct of our engine: near misses"),
    pytest.param(r"[a&&b]", "&", True, id="no construct of our engine: sets"),
    pytest.param(r"[a--z]", "-", False, id="a range from a to -, which is refused"),
    pytest.param(r"[]a]", "]", True, id="] in front is a member"),
    pytest.param(r"[\w-]+", "a-b", True, id="- behind a class at the end"),
    pytest.param(r"\x{6e}\x6e\156\N{U+6E}", "nnnn", True, id="characters by their codes"),
    pytest.param(r"\cA\c[\c_\cz", "\x01\x1b\x1f\x1a", True, id="characters by their control keys"),
    pytest.param(r"[\ca-\cc]", "\x02", True, id="control keys in a class"),
    pytest.param(r"a[\b]", "a\b", True, id="in a class, b is a backspace"),
    pytest.param(r"a\b", "a\b", False, id="outside it is the end of a word"),
    pytest.param("[\u20ac\xa7 ]+", "\xa7\u20ac ", True, id="signs of every script in a class"),
    pytest.param("[\u20ac\xa7 ]+", "a", False, id="and no others"),
    pytest.param("(?i)[a-c]", "B", True, id="ranges are folded"),
    pytest.param("(?i)[^a-c]", "B", False, id="so are negated ones"),
    pytest.param("a{2}", "aa", True, id="so many"),
    pytest.param("a{2}", "aaa", False, id="so many, and no more"),
    pytest.param("a{2,}", "aaa", True, id="so many or more"),
    pytest.param("a{2,}", "a", False, id="so many or more, and no less"),
    pytest.param("a{1,2}", "aa", True, id="between two numbers"),
    pytest.param("a{1,2}", "aaa", False, id="no more than the second"),
    pytest.param(r"a\Rb", "a\r\nb", True, id=r"\R"),
    pytest.param(r"\h\v\N", "\t\n-", True, id=r"\h, \v and \N"),
    pytest.param(r".", "\n", False, id="the point is no newline"),
    pytest.param(r"(?s).", "\n", True, id="but with s"),
    pytest.param(r"\p{Lu}\PL", "N1", True, id="general categories"),
    pytest.param(r"a(?#b)c", "ac", True, id="comments"),
    pytest.param(r"x{", "x{", True, id="a brace that is no quantifier"),
    pytest.param("(?i)ass", "A\u00df", True, id="a letter of several folds across literals"),
    pytest.param("(?i)s{2}", "\u00df", False, id="but not across what is counted"),
    pytest.param("(?i)(s)s", "\u00df", False, id="nor out of a group that is noted"),
    pytest.param("(?i)[\u00df]", "ss", True, id="in a class by its name"),
    pytest.param("(?i)[\u00de-\u00e0]", "ss", False, id="but not by a range"),
    pytest.param("(?i)i\u0307", "\u0130", True, id="a letter and its mark"),
    pytest.param("(?i)(ss)\\1", "ss\u00df", True, id="folded references"),
    pytest.param(r"(?m)a\n^b", "a\nb", True, id="^ behind a line end"),
    pytest.param(r"(?m)a\n^", "a\n", False, id="^ is not behind the last one"),
    pytest.param(r"(?m)a$\nb", "a\nb", True, id="$ before a line end"),
    pytest.param(r"(?:a(?i)b|c)", "C", True, id="flags hold in the alternatives behind"),
    pytest.param(r"(?:(a)|b)*\1", "abaa", True, id="a reference to the last turn"),
    pytest.param(r"(a|(b*))*\2", "abb", True, id="a turn that takes nothing ends the loop"),
    pytest.param(r"(?:a*)*b", "aab", True, id="loops in loops"),
    pytest.param(r"(a)|b\1", "b", False, id="a group that matched nothing"),
    pytest.param("\\b\u00e9", "\u00e9", True, id="letters of every script are words"),
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


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        (r"[\N]", r"the construct \N in a class is not evaluated at character 2"),
        (r"a[\R]", r"the construct \R in a class is not evaluated at character 3"),
        (r"[\Qa\E]", r"the construct \Q in a class is not evaluated at character 2"),
        (r"[a\E]", r"the construct \E in a class is not evaluated at character 3"),
        (r"[\N{SPACE}]", r"the construct \N in a class is not evaluated at character 2"),
        (r"(a)\9", "a reference to a group that is not there at character 4"),
        (r"(a)\g{10}", "a reference to a group that is not there at character 4"),
        (r"(a)\10", r"the construct \1 is not evaluated at character 4"),
        (r"(a)\18", r"the construct \1 is not evaluated at character 4"),
    ],
)
def test_why_it_is_refused_is_told(pattern, said):
    with pytest.raises(NotAPattern) as caught:
        Pattern(pattern)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"[\N{U+6E}]", "n"),
        (r"(a)\100", "a@"),
        ("(" * 10 + "a" + ")" * 10 + r"\10", "aa"),
        ("(" * 10 + "a" + ")" * 10 + r"\g{10}", "aa"),
    ],
)
def test_a_number_is_a_group_where_there_are_so_many_or_else_a_code(pattern, text):
    assert Pattern(pattern).matches(text)
    assert not Pattern(pattern).matches("a")


def test_a_part_will_do_if_asked_for_and_globs_have_two_signs():
    assert Pattern("node[1-5]", "search").matches("xnode12")
    assert Pattern("fr*n0?", "glob").matches("fr15n03")
    assert not Pattern("fr*", "glob").matches("xfr")
    assert not Pattern("n[1]", "glob").matches("n1")


@pytest.mark.parametrize("pattern", [r"(x+x+)+y", r"(x|xx)+y", r"^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_what_is_regular_takes_a_time_that_grows_with_the_text(pattern):
    made = Pattern(pattern)
    for length in range(4900, 5000):
        assert not made.matches("x" * length)
    assert made.stopped is None


@pytest.mark.parametrize("pattern", [r"(x+x+)+(y)\2", r"(?=(x|xx)+y).*", r"((?>x)+)+y\1"])
def test_what_is_not_is_given_up_after_so_many_steps(pattern):
    made = Pattern(pattern)
    for _ in range(2):
        with pytest.raises(LimitExceeded, match=f"more than {backtracking.STEPS} steps to match"):
            made.matches("x" * 60)
        assert not made.matches("z")  # other texts are not given up with it
    assert made.stopped is not None


def test_a_text_that_is_too_long_for_a_large_pattern_is_given_up_whatever_was_asked_before():
    made, fresh = Pattern("(?:x?){900}"), Pattern("(?:x?){900}")
    assert made.matches("x" * 800)
    for each in (made, fresh):
        with pytest.raises(LimitExceeded, match="steps to match"):
            each.matches("x" * 2000)
    assert made.matches("x")


def test_a_pattern_that_is_too_large_is_refused():
    with pytest.raises(LimitExceeded, match="steps in a pattern"):
        Pattern("((x{1000}){1000}){1000}")


def test_what_is_remembered_is_bounded(monkeypatch):
    made = Pattern(r"(?:ab|[\w-])*c")
    monkeypatch.setattr(automaton, "_REMEMBERED", 50)
    for code in range(300, 1000):
        assert made.matches(f"ab{chr(code)}c") == (regex.match(r"\w", chr(code)) is not None)


def test_the_order_in_which_texts_are_asked_changes_no_answer():
    texts = ["x" * length for length in range(14, 22)]

    def answer(made, text):
        try:
            return made.matches(text)
        except LimitExceeded as error:
            return str(error)

    one, other = Pattern(r"(x+x+)+(y)\2"), Pattern(r"(x+x+)+(y)\2")
    forward = [answer(one, text) for text in texts]
    assert forward == [answer(other, text) for text in reversed(texts)][::-1]
    assert {type(each) for each in forward} == {bool, str}


PIECES = (
    "a", "b", "A", ".", "[ab]", "[^a]", r"\w", r"\b", r"\B", "^", "$", r"\z", r"\Z", r"\n", "(a)", "(?:b|a)",
    "(?i)", "(?s)", "(?m)", "ss", "\u00df", "[\u00df]", "|", "*", "+", "?", "*?", "{2}", "{1,2}", "(a*)*", "(|b)",
)  # fmt: skip


@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=7).map("".join),
    st.text("abA1\n\u00dfsS", max_size=6), st.sampled_from(("full", "search")),
)  # fmt: skip
def test_both_engines_answer_alike(pattern, text, match):
    try:
        made = program(read(pattern))
    except NotAPattern:
        return
    if not made.is_regular:  # two pieces make a possessive quantifier
        return
    engines = [kind(made, match == "search") for kind in (Automaton, Backtracking)]
    assert (
        engines[0].matches(text)
        == engines[1].matches(text)
        == Pattern(pattern, match).matches(text)
    )


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


def test_signs_of_other_engines_mean_themselves():
    assert Pattern("a{e<=1}[a&&b||c]").matches("a{e<=1}|")
