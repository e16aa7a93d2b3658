"""Functions, scopes and bounds of ClassAd expressions, held against HTCondor's own library."""

import io
import itertools
import math

import pytest
from classad_cases import differences, spelled_otherwise
from classads_oracle import classad2, comparable, value_of

from sssjob.classads import evaluate, functions, new, writing
from sssjob.classads.needed import names
from sssjob.classads.parser import expression, plain
from sssjob.classads.values import ERROR, UNDEFINED, AbsTime, Ad, RelTime, same

# The predefined functions of the manual of HTCondor, in its order.
MANUAL = [
    "eval",
    "unparse",
    "unresolved",
    "ifThenElse",
    "isUndefined",
    "isError",
    "isString",
    "isInteger",
    "isReal",
    "isList",
    "isClassAd",
    "isBoolean",
    "isAbstime",
    "isReltime",
    "member",
    "anyCompare",
    "allCompare",
    "identicalMember",
    "int",
    "real",
    "string",
    "bool",
    "absTime",
    "relTime",
    "floor",
    "ceiling",
    "pow",
    "quantize",
    "round",
    "random",
    "sum",
    "avg",
    "min",
    "max",
    "strcat",
    "join",
    "substr",
    "strcmp",
    "stricmp",
    "versioncmp",
    "versionGT",
    "versionLT",
    "versionGE",
    "versionLE",
    "versionEQ",
    "version_in_range",
    "toUpper",
    "toLower",
    "size",
    "split",
    "splitUserName",
    "splitSlotName",
    "time",
    "formatTime",
    "interval",
    "evalInEachContext",
    "countMatches",
    "debug",
    "envV1ToV2",
    "mergeEnvironment",
    "stringListSize",
    "stringListSum",
    "stringListAvg",
    "stringListMin",
    "stringListMax",
    "stringListMember",
    "stringListIMember",
    "stringListsIntersect",
    "stringListSubsetMatch",
    "stringListISubsetMatch",
    "regexp",
    "regexpMember",
    "regexps",
    "replace",
    "replaceall",
    "stringList_regexpMember",
    "userHome",
    "userMap",
]

WORTH = [
    ("quantize(3, 8)", 8), ("quantize(1.5, 6.8)", 6.8), ("quantize(10, 5.1)", 10.2),
    ("quantize(0, {4})", 4), ('quantize(2, {1, 2, "A"})', 2), ("quantize(2.7, {1, 2, 0.5})", 3.0),
    ('quantize(3, {1, 2, "A"})', ERROR), ("pow(2, 3)", 8), ("pow(2, -1)", 0.5), ("pow(-2, 3)", -8),
    ("pow(3, 39)", 4052555153018976267), ("pow(2, 64)", ERROR), ("pow(0, -1)", math.inf),
    ("sum({1, 2.5})", 3.5), ("sum({})", 0), ("avg({1, 2})", 1.5), ("avg({undefined, 4})", 4.0),
    ('strcmp("a", "b")', -1), ('stricmp("A", "a")', 0), ('strcmp(undefined, "a")', UNDEFINED),
    ('versionLT("8.9", "8.10")', True), ('versioncmp("000", "00") < 0', True),
    ('versioncmp("010", "09") < 0', True), ('versioncmp("09", "0") < 0', True),
    ('versioncmp("1", "9") < 0', True), ('versioncmp("9", "10") < 0', True),
    ('version_in_range("8.9", "8.0", "8.10")', True), ('versionEQ("7", "7")', True),
    ('splitUserName("u@d@e")', ("u", "d@e")), ('splitUserName("u")', ("u", "")),
    ('splitSlotName("slot1@m")', ("slot1", "m")), ('splitSlotName("m")', ("", "m")),
    ('split(",a,")', ("a",)), ('split(",,a")', ("", "a")), ('split("a;;b;", ";")', ("a", "", "b")),
    ('split("a;,b", ";,")', ("a", "b")), ('split("a , , b", " ,")', ("a", "", "b")),
    ('split(",")', ()), ('split("a\tb")', ("a", "b")), ('split("a\tb", " ")', ("a\tb",)),
    ("-1e308 * 10", -math.inf), ("1e308 * 10", ERROR), ("-1.0 / 0", -math.inf),
    ("1.0 / 0", ERROR), ("0.0 / 0", math.nan), ("1.0 / -0.0", -math.inf), ("1 / 0", ERROR),
    ('real("INF") + 1', ERROR), ("sum({1e308, 1e308})", ERROR), ("avg({1e308, 1e308})", ERROR),
    ('sum({real("INF")})', math.inf), ('stringListSum("1e308,1e308")', math.inf),
    ('int("-9223372036854775808")', -(2**63)), ('int("-9223372036854775809")', -(2**63)),
    ('int("9223372036854775807")', 2**63 - 1), ('int("9223372036854775808")', ERROR),
    ('int("0x8000000000000000")', ERROR), ('real("-9223372036854775809")', -(2.0**63)),
    ('real("0xffffffffffffffffff")', float(2**72 - 1)),
    ('stringListSum("1,9223372036854775808")', ERROR), ('real("0x1p3")', 8.0),
    ('int("0x.8p4")', 8), ('real("-0x1P-2")', -0.25), ('real("0x1p99999")', math.inf),
    ('real("-infinite")', -math.inf), ('real("nanx")', math.nan), ('real("ınf")', ERROR),
    ('bool("false ")', UNDEFINED), ('bool("FALSE")', False),
    ('formatTime(splitTime(absTime("2020-03-04T05:06:07+01:00")), "%F %T")', "2020-03-04 05:06:07"),
    ('formatTime([Year = 2020; Month = 1 + 1; Day = Month], "%F %a")', "2020-02-02 Sun"),
    ('formatTime([Year = 2020; Month = 2; Day = 30], "%F")', ERROR),
    ('formatTime(1e308, "ABC%%")', "ABC%"), ('formatTime(-1e308, "")', ""),
    ('formatTime(1e308, "%Y")', ERROR), ('formatTime(1e308, "%%%Y")', ERROR),
    ('formatTime([Month = 2; Day = 3], "%F")', ERROR), ('formatTime(relTime(5), "%F")', ERROR),
    ("interval(67)", "1:07"), ("interval(1472523)", "17+01:02:03"), ("interval(-67)", "-1:07"),
    ('formatTime(0, "%Y %j")', "1970 001"), ('formatTime(absTime(0, 3600), "%H")', "01"),
    ('formatTime("a")', ERROR), ('envV1ToV2("a=b;c=d e")', "a=b c=d' 'e"),
    ('mergeEnvironment("c=1 a=2", undefined, "a=9")', "a=9 c=1"), ('mergeEnvironment("a")', ERROR),
    ('stringListSize("a, b c,,d")', 4), ('stringListSum("1, 2.5")', 3.5),
    ('stringListSum("1;2", ";")', 3), ('stringListAvg("1,2.5")', 1.75),
    ('stringListMin("")', UNDEFINED), ('stringListMax("-1,-2")', -1), ('stringListMin("x")', ERROR),
    ('stringListsIntersect("a,b", "b,c")', True), ('stringListSubsetMatch("a", "a,b")', True),
    ('stringListSubsetMatch(undefined, "a")', True), ('stringListISubsetMatch("A", "a")', True),
    ('stringListIMember("É", "a,é")', False), ('stringListISubsetMatch("É", "é")', False),
    ('stringListIMember("BÉ", "bÉ")', True),
    ('regexps("(a)(b)", "xaby", "[\\\\2\\\\1]")', "[ba]"), ('regexps("z", "ab", "c")', ""),
    ('replace("a", "baba", "X")', "bXba"), ('replaceall("a", "baba", "X")', "bXbX"),
    ('regexp("(?-i)a", "A", "i")', False), ('regexp("(?-m)^b", "a\nb", "m")', False),
    ('replace("a\\\\Kb", "ab", "<\\\\0>")', "a<b>"), ('replaceAll("a\\\\Kb", "abab", "X")', "aXaX"),
    ('replaceAll("^", "ab", "<")', "<ab"), ('replaceAll("(?=a)", "aba", "<")', "<ab<a"),
    ('regexps("^|a", "ab", "<\\\\0>", "g")', "<><a>b"), ('replaceAll("a\\\\K", "aa", "X")', ERROR),
    ('replaceall("x*", "ab", "-")', ERROR), ('regexps("(a)", "a", "\\\\2")', ERROR),
    ('regexps("a b", "ab", "X", "x")', "X"), ('regexpMember("b", {"a", "b"})', True),
    ('regexpMember("b", {"a", undefined})', UNDEFINED), ('regexpMember("b", {1, "b"})', ERROR),
    ('stringList_regexpMember("b", "abc d")', True), ('identicalMember("A", {"a"})', False),
    ('anyCompare("<", {1, 2}, 2)', True), ('allCompare("<", {1, 2}, 2)', False),
    ('anyCompare("is", {1, undefined}, undefined)', True), ('anyCompare("foo", {1}, 1)', ERROR),
    ("absTime(5, 3600)", AbsTime(5, 3600)), ("relTime(5) * 2", RelTime(10)),
    ("int(relTime(3600))", 3600), ("real(relTime(1.5))", 1.5), ("bool(relTime(0))", False),
    ("string(relTime(93784))", "1+02:03:04"), ('relTime("x")', ERROR), ('relTime("")', ERROR),
    ('relTime("1d2h3m4s")', RelTime(93784)), ('relTime("2H")', RelTime(7200)),
    ('relTime("1d")', RelTime(86400)), ('relTime("1h30")', RelTime(3630)),
    ('relTime("1:2m")', RelTime(3720)), ('relTime("-1d 2:3:4")', RelTime(-93784)),
    ('relTime("2h3d")', ERROR), ('relTime("1.5h")', ERROR), ('relTime("h")', ERROR),
    ('size("é")', 2), ('substr("aéb", 1, 2)', "é"), ('substr("aéb", 3)', "b"),
    ('substr("é", 0, 1)', ERROR), ('substr("aéb", -3, 2)', "é"), ('regexp("^..$", "é")', True),
    ('regexp("^.$", "é")', False), ('regexp("É", "é", "i")', False), ('regexp("[^a]", "a")', False),
    ('replaceall(".", "é", "x")', "xx"), ('replace(".", "é", "x")', ERROR),
    ('replace("é", "aéb", "日")', "a日b"), ('regexp("\\\\w", "é")', False),
    ("absTime(5, 0) =?= absTime(5, 3600)", False), ("getYear(absTime(0))", 1970),
    ("getDayOfWeek(absTime(0))", 4), ("getHours(relTime(93784))", 2), ("getYear(5)", ERROR),
    ("splitTime(absTime(0, 3600)).Hours", 1), ("splitTime(relTime(-93784)).Days", -1),
    ("isAbstime(absTime(0))", True), ("isReltime(relTime(5))", True),
    ('eval("1 + 2")', 3), ('eval("a +")', ERROR), ("eval(undefined)", ERROR), ("debug(1)", 1),
    ('userHome("no such user", "d")', "d"), ('userMap("a", "b", "c", "d")', "d"),
    ('substr("hello", -3)', "llo"), ('substr("hello", -3, 2)', "ll"),
    ('substr("hello", 1, -1)', "ell"),
    ('substr("hello", -10, 2)', "he"), ('substr("hello", 3, -3)', ""), ('int("0x1f")', 31),
    ("{[a = 1], [a = 2]}.a", (1, 2)), ("{[a = 1], [b = 2]}.a", (1, UNDEFINED)),
    ("{[a = 1], 3}.a", (1, ERROR)), ("{{[a = 1]}}.a", ((1,),)), ("{}.a", ()),
    ("[x = {[a = y], [a = 2]}; y = 5; z = x.a].z", (5, 2)),
    ("[x = 1; y = [x = 2; z = parent.x]].y.z", 1), ("[x = 1; y = [x = 2; z = self.x]].y.z", 2),
    ("[Other = 5; y = Other + 1].y", 6), ("[My = 5; y = My].y", 5), ("[root = 5; y = root].y", 5),
    ("[q = Prio > 2; n = countMatches(q, {[Prio = 3], [Prio = 1], 5})].n", 1),
    ("[q = Prio + 1; n = evalInEachContext(q, {[Prio = 3], undefined})].n", (4, UNDEFINED)),
    ("countMatches(Prio > 2, undefined)", 0), ("countMatches(Prio > 2, 5)", ERROR),
    ("[c = x + 3; b = unparse(c)].b", "x + 3"), ('[c = s + 1; s = t; b = unresolved(c)].b', "t"),
    ('[c = OpSys == "LINUX"; b = unresolved(c, "^Op")].b', True),
    ("[n = [a = 1]; b = unresolved(n.a)].b", ""), ("[n = [a = x]; b = unresolved(n.a)].b", "x"),
    ("[n = [a = q.r]; q = [r = w]; b = unresolved(n.a)].b", "w"),
    ("[l = {[a = 1; c = z]}; b = unresolved(l[0].c)].b", "z"),
    ("unresolved(nosuch.a)", UNDEFINED), ("10[undefined]", UNDEFINED), ("true[nosuch]", UNDEFINED),
    ('"abc"[undefined]', UNDEFINED), ("error[undefined]", ERROR), ("10[error]", ERROR),
    ("10[1]", ERROR), ('formatTime(0, "%Z")', "UTC"),
    ('formatTime(splitTime(0), "%Z %z")', "UTC +0000"),
    ("quantize(9223372036854775807, 1000000000)", -9223372035000000000),
    ("quantize(5, 9223372036854775807)", 0),
    ('[l = {1, "a"}; b = unparse(l)].b', '\n   {\n      1,\n      "a"\n   }'),
    ("[l = {}; b = unparse(l)].b", "\n   {\n   }"), ("[l = -x; b = unparse(l)].b", " -x"),
    ("[l = f({2}); b = unparse(l)].b", "f(\n   {\n      2\n   })"),
    ("[l = [d = {3}; C = 1; bb = 2]; b = unparse(l)].b",
     "\n    [\n        C = 1; \n        d = \n           {\n              3\n           }; \n"
     "        bb = 2\n    ]"),

]  # fmt: skip


def worth(text, my=None, target=None, **options):
    return evaluate.evaluate(expression(text), my, target, **options)


@pytest.mark.parametrize("text, value", WORTH, ids=[text for text, _ in WORTH])
def test_a_function_gives(text, value):
    assert same(worth(text, now=0), value)


@pytest.mark.parametrize("name", MANUAL)
def test_every_function_of_the_manual_is_known(name):
    assert name.lower() in functions.KNOWN


def test_every_function_stands_in_the_module_that_is_said_to_have_it():
    for name in functions.KNOWN - {*functions.LAZY}:
        assert functions.call(name, (ERROR,) * 9, lambda: 0, {}) is not None


@pytest.mark.skipif(classad2 is None, reason="the bindings of HTCondor are not installed")
def test_the_bindings_agree_about_every_function():
    found, asked = differences(600, 1)
    assert asked > 500
    assert found == []


@pytest.mark.skipif(classad2 is None, reason="HTCondor's bindings are not installed")
def test_numbers_lists_and_environments_are_read_as_the_library_reads_them():
    found, asked = spelled_otherwise(500, 1)
    assert found == []
    assert asked > 2200


LISTS = """[a = 1; l = {1 + 1, "x", foo}; s = [p = 1 + 1; q = l]; m = {{1 + 1}, [t = 2 * 3]};
t = absTime(5); k = {(i > 3), 2.5, 'a b', split("a b")}]"""


@pytest.mark.skipif(classad2 is None, reason="the bindings of HTCondor are not installed")
@pytest.mark.parametrize("text", [
    "string(l)", "toUpper(l)", "string(s)", "string(s.q)", "string(m)", "string(m[0])",
    "string(k)", 'strcat("=", k, l)', "string(true ? {1 + 1} : {})", "string({t})",
    "string(ifThenElse(true, l, m))", 'join(",", {1 + 1, {2 + 2}})', 'join("-", l, m)',
    'join(l, "a", "b")', "string({[a = 1 + 1]}.a)", "size(string(l))", "string([a = l].a)",
])  # fmt: skip
def test_the_text_of_a_list_is_what_was_written_of_it(text):
    ad = next(iter(new.read(io.BytesIO(LISTS.encode()))))
    theirs = classad2.ExprTree(text).eval(classad2.ClassAd(LISTS))
    assert evaluate.evaluate(expression(text), ad) == theirs


# What is random, or the time, or evaluates what it is given by itself.
OF_ITS_OWN = {"random", "time", "currenttime", "timezoneoffset", "daytime", "debug",
              "evalineachcontext", "countmatches"}  # fmt: skip
GIVEN = ("error", "undefined", '"<"', "1", '{ "a" }', "true")


@pytest.mark.skipif(classad2 is None, reason="the bindings of HTCondor are not installed")
def test_what_an_undefined_or_wrong_argument_makes_of_every_function_is_as_the_bindings_have_it():
    asked, nothing = 0, classad2.ClassAd()
    for name, count in itertools.product(sorted(functions.KNOWN - OF_ITS_OWN), (1, 2, 3)):
        for arguments in itertools.product(GIVEN, repeat=count):
            if not {"error", "undefined"} & {*arguments}:
                continue
            text = f"{name}({', '.join(arguments)})"
            try:
                theirs = classad2.ExprTree(text).eval(nothing, nothing)
            except (classad2.ClassAdException, UnicodeDecodeError):
                continue
            if isinstance(theirs, list):  # of which the members are not evaluated
                continue
            asked += 1
            ours = comparable(evaluate.evaluate(expression(text), now=0))
            assert same(ours, value_of(theirs)), text
    assert asked > 14_000


SCOPES = [
    ("evalInEachContext(nosuch, l)", "[l = {[a = 1], [nosuch = 2]}]", "[]", UNDEFINED),
    ("evalInEachContext(nosuch, ({[a = 1], [nosuch = 2]}))", "[]", "[]", (UNDEFINED, 2)),
    ("evalInEachContext(q, l)", "[q = a + 1; l = {[a = 1], [b = 2]}]", "[]", (2, UNDEFINED)),
    ("countMatches(nosuch, l)", "[l = {[nosuch = 2]}]", "[]", 0),
    ("formatTime(TARGET.t, y)", '[y = "%Y"]', "[t = [Year = z; Month = 1; Day = 1]; z = 1999]",
     "1999"),
    ("formatTime(t)", "[t = [Year = formatTime(t); Month = 1; Day = 1]]", "[]", ERROR),
    ("TARGET.w", "[a = 1]", "[z = 3; w = self.z]", 3),
    ("n.v", "[a = 1; n = [v = TARGET.z]]", "[z = 3]", 3),
    ("n.v", "[a = 1; n = [a = 2; v = MY.a]]", "[]", 2),
    ("n.v", "[a = 1; n = [v = z]]", "[z = 3]", UNDEFINED),
    ("root.a", "[a = 1]", "[]", UNDEFINED), (".a", "[a = 1]", "[]", UNDEFINED),
    ("parent.a", "[a = 1]", "[]", UNDEFINED), ("Other", "[Other = 5]", "[x = 1]", 5),
    ("Target.z", "[Target = [z = 7]]", "[z = 3]", 7), ("other.z", "[]", "[z = 3]", 3),
    ("countMatches(MY.q, TARGET.l)", "[q = P > 2]", "[l = {a, b, c}; a = [P = 3]; b = [P = 1]]", 1),
    ("countMatches(MY.q, TARGET.l)", "[q = P > z; z = 0]", "[z = 2; l = {a}; a = [P = 2]]", 0),
    ('eval("TARGET.q")', "[]", "[q = 3]", 3),
    ("TARGET.l[0].v", "[y = 1]", "[y = 2; l = {[v = y]}]", 2),
]  # fmt: skip


@pytest.mark.parametrize(
    "text, my, target, value", SCOPES, ids=[" ".join(row[:2]) for row in SCOPES]
)
def test_a_name_is_looked_up_where_it_stands(text, my, target, value):
    assert same(worth(text, plain(my), plain(target)), value)


def test_the_time_is_what_the_caller_says_under_each_of_its_names():
    ad = Ad({"CurrentTime": 5})
    assert worth("CurrentTime", now=100) == worth("int(currentTime())", now=100) == 100
    assert worth("CurrentTime", ad, now=100) == 5
    assert worth("dayTime()", now=86405) == RelTime(5)


def test_chance_is_within_its_bounds():
    assert 0 <= worth("random(5)") < 5
    assert 0 <= worth("random()") < 1
    assert worth('random("a")') is worth("random(0)") is ERROR


def test_a_map_tells_the_groups_of_users():
    maps = {"groups": {"amy": "physics, chemistry"}.get}
    assert worth('userMap("Groups", "amy")', maps=maps) == "physics, chemistry"
    assert worth('userMap("groups", "amy", "Chemistry")', maps=maps) == "chemistry"
    assert worth('userMap("groups", "amy", "music")', maps=maps) == "physics"
    assert worth('userMap("groups", "bob", "music", "none")', maps=maps) == "none"
    assert worth('userMap("groups", "bob")', maps=maps) is UNDEFINED


def test_what_an_expression_needs_from_elsewhere_is_told():
    ad = Ad({"RequestCpus": 1, "r": plain("TARGET.Cpus >= RequestCpus && Arch == x.y && MY.q")})
    assert names(expression("r"), ad) == ["Arch", "Cpus", "q", "x.y"]


CIRCLES = [
    '[a = eval("a")].a', "[a = {a}].a", "[a = countMatches(a, {[x = 1]})].a",
    "[a = strcat(a, a)].a",
    "[a = evalInEachContext(a, {[x = 1], [x = 2]})].a", "[a = {[b = a.b], [b = a.b]}].a.b",
    "[a = b.a; b = [c = a]].a", '[a = replaceall("a", a, a)].a', "[a = a[a[a[a]]]].a",
    "[a = " + "{" * 60 + "a" + "}" * 60 + "].a", "[y = ads.y; ads = {[z = 4], MY.y}; v = ads.v].v",
    "[a = " + "ifThenElse(true, " * 60 + "a" + ", 1)" * 60 + "].a",
]  # fmt: skip


@pytest.mark.parametrize("text", CIRCLES, ids=[text[:40] for text in CIRCLES])
def test_a_circle_ends(text):
    run = evaluate._Evaluation(None, None)
    run.value(expression(text), evaluate._AdScope(Ad(), None))
    assert run.steps < 2 * evaluate.STEPS_LIMIT


def test_a_text_that_grows_without_end_is_an_error():
    doubled = {f"a{number}": plain(f"strcat(a{number + 1}, a{number + 1})") for number in range(40)}
    assert worth("a0", Ad({**doubled, "a40": "x" * 4096})) is ERROR
    assert worth('replaceall("a", x, x)', Ad({"x": "a" * 5000})) is ERROR


def test_an_expression_in_a_text_that_takes_too_long_is_an_error():
    assert worth('replaceall("(x+x+)+y", x, "z")', Ad({"x": "x" * 60})) is ERROR


# decision 662
EXTREMES = [
    "absTime(1e18)", "absTime(-9223372036854775807)", 'absTime("9999-12-31T23:59:59-23:59")',
    'absTime("0001-01-01T00:00:00+23:59")', "absTime(253402300799)", "relTime(1e300)",
    "relTime(9223372036854775807)", 'relTime(real("INF"))', 'relTime(real("NaN"))', "1e308",
    'real("-INF")', 'real("NaN")', "9223372036854775807", "0", '"x"', "{absTime(1e18)}", "Far",
    "undefined", "[Year=99999;Month=1;Day=1]",
]  # fmt: skip


def test_numbers_that_are_too_large_for_times_are_errors_wherever_they_come_from():
    ad = Ad({"Far": expression("absTime(1e18)")})
    texts = [f"({a}) {op} ({b})" for a in EXTREMES for b in EXTREMES for op in "+-*/<"]
    names_of_all = sorted({*functions.KNOWN, *functions.LAZY})
    texts += [f"{name}({a})" for name in names_of_all for a in EXTREMES]
    texts += [f"{name}({a}, {a})" for name in names_of_all for a in EXTREMES]
    for text in texts:
        for each in (text, f"string({text})"):
            value = evaluate.evaluate(expression(each), ad, Ad(), now=1.0)
            writing.attribute(value, writing.NEW)
    assert value_of_ours("absTime(253402300799) + relTime(1)") is ERROR
    assert value_of_ours("absTime(253402300799)") == AbsTime(253402300799)


def value_of_ours(text):
    return evaluate.evaluate(expression(text), Ad(), Ad(), now=1.0)


ARGUMENTS = [
    ('listToArgs({"a b","c"})', "a' 'b c"), ('listToArgs({"x\'b",""})', "x''''b ''"),
    ("listToArgs({})", ""), ('listToArgs({1,"x"})', ERROR), ('listToArgs("a")', ERROR),
    ('listToArgs({"a b"},1)', ERROR), ('listToArgs({"a","b"},1)', "a b"),
    ('listToArgs({"","a"},1)', "a"), ('listToArgs({"a b","c"},2)', "a' 'b c"),
    ('listToArgs({"a"},3)', ERROR), ('listToArgs({"a"},true)', ERROR),
    ("argsToList(\"a 'b c' d\")", ("a", "b c", "d")), ("argsToList(\"'a''b'\")", ("a'b",)),
    ('argsToList("")', ()), ("argsToList(\"a '' b\")", ("a", "", "b")), ("argsToList(1)", ERROR),
    ("argsToList(\"'open\")", ERROR), ("argsToList(\"a b 'c\",1)", ("a", "b", "'c")),
    ('argsToList("a b",3)', ERROR), ('argsToList("a b",1.5)', ERROR), ("argsToList()", ERROR),
    ("argsToList(undefined)", ERROR), ('listToArgs({"a",undefined})', ERROR),
]  # fmt: skip


@pytest.mark.parametrize("text, value", ARGUMENTS)
def test_lists_and_arguments(text, value):
    assert same(value_of_ours(text), value)
    if classad2 is not None:
        assert same(value_of(classad2.ExprTree(text).eval()), value)


ALONE = "[L = {[a = true], [b = 1]}; M = {[b = true], [b = 2.5], [b = 0]}; E = {}; a = false]"


@pytest.mark.parametrize("text, value", [
    ("countMatches(b, L)", 1), ("countMatches(b, M)", 2), ("countMatches(zz, L)", 0),
    ("countMatches(a, L)", 0), ("countMatches(MY.b, L)", 1), ("countMatches(b, E)", 0),
    ("countMatches(zz, NoList)", 0), ("evalInEachContext(b, L)", (UNDEFINED, 1)),
    ("evalInEachContext(b, E)", ()), ("evalInEachContext(zz, NoList)", UNDEFINED),
    ("evalInEachContext(zz, L)", (UNDEFINED, UNDEFINED)),
])  # fmt: skip
def test_a_name_in_the_ads_of_a_list_where_an_ad_stands_alone(text, value):
    ad = plain(ALONE)
    assert same(evaluate.evaluate(expression(text), ad), value)
    if classad2 is not None:
        theirs = classad2.ClassAd(f"[r = {text}; {ALONE[1:]}").eval("r")
        assert same(value_of(theirs), value)
