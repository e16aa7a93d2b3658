"""What expressions are worth: three-valued, between two ads, as the bindings of HTCondor say."""

import re
from itertools import pairwise

import classad_strategies
import pytest
from classads_oracle import classad2, comparable, value_of
from hypothesis import assume, example, given
from hypothesis import strategies as st

from sssjob.classads import evaluate, forms, writing
from sssjob.classads.parser import expression, plain
from sssjob.classads.tree import AttributeReference, Binary, Call, Literal
from sssjob.classads.values import ERROR, UNDEFINED, AbsTime, Ad, Node, RelTime, same
from sssjob.systems.condor.why import obstacles

WORTH = [
    ("false && undefined", False), ("undefined && false", False), ("true || undefined", True),
    ("undefined || true", True), ("undefined && error", ERROR), ("error && false", ERROR),
    ("false && error", False), ("error || true", ERROR), ("undefined || false", UNDEFINED),
    ("1 && true", True), ('"a" && true', ERROR), ("!undefined", UNDEFINED), ("!0.0", True),
    ('"A" == "a"', True), ('"A" =?= "a"', False), ("1 =?= 1.0", False), ("1 == 1.0", True),
    ("undefined == 1", UNDEFINED), ("undefined =?= undefined", True), ("error is error", True),
    ("[x = 1] =!= {1}", True), ("5 % true", 0), ("true % 2", 1), ("5 % false", ERROR),
    ("{1} =?= {1}", ERROR), ("{1} =!= undefined", True), ('"a" == 1', ERROR), ("true == 1", True),
    ("7 / 2", 3), ("-7 / 2", -3), ("-7 % 3", -1), ("1 / 0", ERROR), ("1.0 / 0", ERROR),
    ("7.5 % 2", ERROR), ("9223372036854775807 + 1", -(2**63)), ("true + 1", 2), ("-true", ERROR),
    ("undefined + error", ERROR), ('undefined + "a"', UNDEFINED), ("-8 >>> 1", 2**63 - 4),
    ("undefined ? 2 : 3", UNDEFINED), ('"a" ? 2 : 3', ERROR), ("0.5 ? 2 : 3", 2),
    ("undefined ?: 5", 5), ("3 ?: 1 + 5", 8), ("!undefined ?: 3", False),
    ("error ?: 5", ERROR), ("3 ?: 5", 3),
    ("{1,2,3}[1]", 2), ("{1,2,3}[5]", ERROR), ("{1}[undefined]", UNDEFINED),
    ("[a=1;b=a+1].b", 2), ("[a=1].c", UNDEFINED), ("[a=1;b=[c=a]].b.c", 1), ('[a=1]["a"]', 1),
    ("[a=b;b=a].a", UNDEFINED), ("[a=a].a", UNDEFINED), ('"a".b', ERROR),
    ('size("é")', 2), ("size({1,2})", 2), ("size(1)", ERROR), ("size(undefined)", UNDEFINED),
    ("member(1,{undefined,1})", True), ('member("A",{"a"})', True), ("member(1,2)", ERROR),
    ('stringListMember("a","b, a")', True), ('stringListMember("a","b;a",";")', True),
    ('stringListIMember("A","b, a")', True), ('stringListMember(1,"1")', ERROR),
    ('regexp("a.c","xabcx")', True), ('regexp("A","a","i")', True), ('regexp("(","a")', ERROR),
    ('int("12.7")', 12), ('int("a")', ERROR), ("int(-12.7)", -12), ('real("1.5")', 1.5),
    ("string(1.5)", "1.500000000000000E+00"), ('strcat("a",1,true)', "a1true"),
    ('strcat("a",undefined)', UNDEFINED), ("toUpper(1)", "1"), ('floor("1.5")', 1),
    ("ceiling(-1.5)", -1), ("min({1,2.5})", 1.0), ("min({})", UNDEFINED), ('max({1,"a"})', ERROR),
    ('split("a, b  c,")', ("a", "b", "c")), ('split("a:b",":")', ("a", "b")), ('split("")', ()),
    ("ifThenElse(true,1,error)", 1), ("ifThenElse(undefined,1,2)", UNDEFINED),
    ("isError(error)", True),
    ("isUndefined(error)", False), ('join(",",{1,2})', "1,2"), ('substr("hello",1,2)', "el"),
    ('absTime("2020-01-02T00:00:00Z") - absTime("2020-01-01T00:00:00Z")', RelTime(86400)),
    ('absTime("2020-01-01T00:00:00Z") + relTime("01:00:00")', AbsTime(1577840400)),
    ("relTime(5) + relTime(6)", RelTime(11)), ("nosuch(1)", ERROR), ("time(1)", ERROR),
]  # fmt: skip


def worth(text, my=None, target=None, **options):
    return evaluate.evaluate(expression(text), my, target, **options)


@pytest.mark.parametrize("text, value", WORTH, ids=[text for text, _ in WORTH])
def test_an_expression_is_worth(text, value):
    assert same(worth(text), value)


@pytest.mark.skipif(classad2 is None, reason="the bindings of HTCondor are not installed")
@pytest.mark.parametrize(
    "text, value",
    # The bindings take a moment plus a span for an error, which the manual does not.
    [row for row in WORTH if "relTime(" not in row[0]],
    ids=[text for text, _ in WORTH if "relTime(" not in text],
)
def test_the_bindings_agree_about_every_case(text, value):
    assert same(value_of(classad2.ExprTree(text).eval()), comparable(value))


# Text to numbers and back, and what overflows a double, are left to the libraries of C.
_SCALARS = st.one_of(
    st.integers(-9, 99), st.booleans(),
    st.sampled_from([0.0, 0.5, 1.5, -2.25, 1e6]), st.sampled_from(["", "a", "A", "b,a", "1", "é"]),
    st.sampled_from([UNDEFINED, ERROR]),
)  # fmt: skip
LIST_AS_TEXT = re.compile(r"(string|strcat|toLower|toUpper)\(.*\{")
_NAMES = st.sampled_from(["Memory", "Cpus", "x"])
_ADS = st.dictionaries(_NAMES, _SCALARS.filter(lambda value: value is not ERROR), max_size=3).map(
    Ad
)


def parts(node):
    """A tree, and each tree in it."""
    yield node
    for name in node.__match_args__:
        value = getattr(node, name)
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, Node):
                yield from parts(each)


def rounds_beyond_64_bits(whole, *ads):
    """Whether a real in it is made an integer that has no place there, which C leaves open."""
    rounded = (each for each in parts(whole) if isinstance(each, Call) and each.name in _ROUNDING)
    texts = map(writing.expression, rounded)
    return any(classad2.ExprTree(text).eval(*ads) == -(2**63) for text in texts)


_ROUNDING = ("int", "floor", "ceiling")
_BEYOND = Call("strcat", (Literal(0), AttributeReference(None, "Memory"), Literal(19)))


@pytest.mark.skipif(classad2 is None, reason="the bindings of HTCondor are not installed")
@given(classad_strategies.expressions(_SCALARS, _NAMES), _ADS, _ADS)
@example(Binary("+", Call("floor", (_BEYOND,)), Literal(1)), Ad({"Memory": 1.5}), Ad())
def test_the_bindings_agree_about_every_expression(tree, my, target):
    text = writing.expression(tree)
    # They look up a bare name in its own ad only, when there is no match going on.
    target = Ad((name, value) for name, value in target.items() if name in my)
    mine, theirs = (classad2.ClassAd(next(forms.write([ad], "new"))) for ad in (my, target))
    found = evaluate.evaluate(expression(text), my, target)
    # Their lists come back half evaluated, and so are the texts that they make of them.
    assume(not isinstance(found, tuple) and not LIST_AS_TEXT.search(text))
    agreed = same(comparable(found), value_of(classad2.ExprTree(text).eval(mine, theirs)))
    assert agreed or rounds_beyond_64_bits(tree, mine, theirs)  # decision 635


def test_a_bare_name_is_of_its_own_ad_or_else_of_the_other():
    my, target = Ad({"x": 1}), Ad({"x": 2, "y": 3, "z": plain("TARGET.x + q"), "q": 10})
    assert worth("x", my, target) == 1
    assert worth("y", my, target) == 3
    assert worth("TARGET.x", my, target) == worth("other.X", my, target) == 2
    assert worth("MY.y", my, target) is UNDEFINED
    assert worth("TARGET.z", my, target) == 11


@pytest.mark.skipif(classad2 is None, reason="the bindings of HTCondor are not installed")
def test_the_bindings_match_by_the_same_lookup():
    texts = ["[Requirements = Memory > 5; x = 1]", "[Memory = 10; Requirements = x == 1]"]
    mine, theirs = (classad2.ClassAd(text) for text in texts)
    assert mine.symmetricMatch(theirs)
    my, target = (forms.read_text(text)[0] for text in texts)
    assert evaluate.matches(my, target)


def test_requirements_that_are_undefined_do_not_match():
    assert not evaluate.matches(Ad({"Requirements": plain("TARGET.HasGpu")}), Ad())
    assert evaluate.matches(Ad(), Ad({"Requirements": True}))


def test_time_is_what_the_caller_says():
    assert worth("time()", now=1051557713.9) == 1051557713


def test_a_function_that_is_not_known_is_an_error_with_a_remark():
    remarks = []
    assert worth("nosuch(1) || true", remark=remarks.append) is ERROR
    assert remarks == ["the function nosuch is not known"]


def test_a_pattern_that_takes_too_long_is_an_error():
    text = f'regexp("(x+x+)+(y)\\\\2", "{"x" * 40}")'
    assert worth(text) is ERROR


def test_an_expression_that_grows_without_end_is_an_error():
    names = [f"a{number}" for number in range(60)]
    doubling = {name: plain(f"{after} + {after}") for name, after in pairwise(names)}
    ad = Ad({**doubling, names[-1]: 1})
    assert worth("a0", ad) is ERROR
    assert worth("a50", ad) == 2**9


def test_long_chains_are_evaluated():
    assert worth(" + ".join(["1"] * 5000)) == 5000


def test_undefined_is_neither_true_nor_false():
    with pytest.raises(TypeError, match="undefined is neither true nor false"):
        bool(UNDEFINED)


# Beside truth values, numbers and spans can be Requirements.
REQUIREMENTS = [
    ("1", True), ("2.0", True), ("-1", True), ("0.5", True), ("0", False), ("0.0", False),
    ('real("NaN")', True), ('real("INF")', True), ("relTime(5)", True), ("relTime(0)", False),
    ('"true"', False), ('"x"', False), ("undefined", False), ("error", False), ("{true}", False),
    ("[a = 1]", False), ('absTime("2020-01-01T00:00:00Z")', False), ("1 && true", True),
    ("0.3 ? 1 : 0", True), ("relTime(5) && true", False), ("x && 1", True), ("x", True),
]  # fmt: skip


@pytest.mark.parametrize("text, met", REQUIREMENTS, ids=[text for text, _ in REQUIREMENTS])
def test_requirements_are_met_by_what_htcondor_takes_for_true(text, met):
    own, other = f"[x = 1; Requirements = {text}]", "[Requirements = true]"
    job, slot = plain(own), plain(other)
    assert evaluate.matches(job, slot) is evaluate.matches(slot, job) is met
    assert (not list(obstacles(job, slot))) is (not list(obstacles(slot, job))) is met
    if classad2 is not None:
        theirs = [classad2.ClassAd(each) for each in (own, other)]
        assert theirs[0].symmetricMatch(theirs[1]) is met


@pytest.mark.parametrize(
    "text, value",
    [
        ("ifThenElse(true, self, 1).parent", UNDEFINED),
        ("ifThenElse(true, self, 1).i", 3),
        ("[i = 5; n = [p = ifThenElse(true, parent, 1).i]].n.p", 5),
        ("[i = 5; n = [p = ifThenElse(true, parent, 1).parent.i]].n.p", 3),
    ],
)
def test_an_ad_that_a_function_gives_lies_where_it_lay(text, value):
    assert evaluate.evaluate(expression(text), Ad({"i": 3})) == value
