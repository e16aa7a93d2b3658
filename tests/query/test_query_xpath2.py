"""XPath 2.0, 3.0 and 3.1: what they can say, where they stream, and what they are refused."""
# ruff: noqa: E501 (a row of a table is a line)

import pickle
from contextlib import suppress
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sssjob import spec
from sssjob.document import limits
from sssjob.errors import LimitExceeded, SSSJobError, UnreadableDocument
from sssjob.query import NotAQuery, compile
from sssjob.query.xpath2 import VERSIONS, context, parser

JOBS = b"""<Jobs>
 <Id>all</Id>
 <Job><Id>1</Id><User>amy</User><Memory units="GB">2</Memory></Job>
 <JobGroup><Id>g</Id><JobDefaults><Queue>batch</Queue></JobDefaults>
  <Job><Id>2</Id><User>bob</User><Memory units="MB">512</Memory></Job>
 </JobGroup>
</Jobs>"""
WIRE = JOBS.replace(b"<Jobs>", f'<Jobs xmlns="{spec.NAMESPACE}">'.encode())

STREAMED = [
    pytest.param("//Job[matches(User, '^a')]/Id", ["1"], id="patterns"),
    pytest.param("//Job/sss:bytes(Memory)", ["2147483648", "536870912"], id="a function as a step"),
    pytest.param(
        "for $j in //Job return concat($j/Id, ':', $j/User)", ["1:amy", "2:bob"], id="for"
    ),
    pytest.param("//Job ! upper-case(User)", ["AMY", "BOB"], id="a simple map"),
    pytest.param(
        "//Job[some $m in Memory satisfies $m/@units = ('MB', 'KB')]/Id", ["2"], id="some"
    ),
    pytest.param("/Jobs/Job/Id | //JobGroup/Id", ["1", "g"], id="a union"),
    pytest.param("//Job[exists(Memory)][User = 'bob']/(Id, User)", ["2", "bob"], id="a sequence"),
    pytest.param("Id || '!'", ["1!", "g!"], id="of each job object"),
    pytest.param("if (Memory) then 'some' else 'none'", ["some", "none"], id="if"),
    pytest.param(
        "//Job[if (Memory) then User = 'bob' else false()]/Id", ["2"], id="a predicate if"
    ),
    pytest.param("let $m := Memory return count($m)", ["1", "0"], id="let"),
    pytest.param("count(.//Memory)", ["1", "1"], id="numbers"),
    pytest.param("//Job[sss:satisfied(.)]/Id", [], id="a predicate of ours"),
    pytest.param("//Job/Memory/@units", ["GB", "MB"], id="attributes"),
    pytest.param("//Job/User/text()", ["amy", "bob"], id="texts"),
    pytest.param("//Job/tokenize('a b', ' ')", ["a", "b"] * 2, id="tokens"),
    pytest.param("//Job/tokenize('a,b c,,', ',')", ["a", "b c", "", ""] * 2, id="at a pattern"),
    pytest.param("//Job/tokenize(' a  b ')", ["a", "b"] * 2, id="at white space"),
    pytest.param("//Job/tokenize('', ',')", [], id="no tokens"),
    pytest.param("//Job/replace(User, '(.)$', '[$1]')", ["am[y]", "bo[b]"], id="replaced"),
    pytest.param("//Job/(Id cast as xs:integer + 1)", ["2", "3"], id="types"),
]
WHOLE = [
    pytest.param("distinct-values(//Job/User)", ["amy", "bob"], id="values of all"),
    pytest.param("sum(//Job/sss:bytes(Memory))", ["2684354560"], id="a sum of amounts"),
    pytest.param("//Id", ["all", "1", "g", "2"], id="may be outside of jobs"),
    pytest.param("//Job[1]/Id", ["1", "2"], id="position"),
    pytest.param("//Job/position()", ["1", "2"], id="a place as a step"),
    pytest.param("//Job/(if (position() = 2) then Id else ())", ["2"], id="a place in a step"),
    pytest.param("//Job/concat(Id, ' of ', last())", ["1 of 2", "2 of 2"], id="how many in a step"),
    pytest.param("//Job ! position()", ["1", "2"], id="a place in a simple map"),
    pytest.param("//Job/map{'p': position()}?p", ["1", "2"], id="a place in a map"),
    pytest.param("//Job/map{'n': map{'n': count(//Job)}}?n?n", ["2", "2"], id="all jobs in a map"),
    pytest.param("//Job/(fn:position#0())", ["1", "2"], id="a place by the name of its function"),
    pytest.param("//Job[position() = last()]/Id", ["1", "2"], id="last"),
    pytest.param("//Job[count(Id)]/Id", ["1", "2"], id="a number is a position"),
    pytest.param("//Job[sss:seconds(Id)]/Id", ["1"], id="a number of ours is one, too"),
    pytest.param("//Job[2 * 1]/Id", [], id="a product is a position"),
    pytest.param("//Job/../Id", ["all", "g"], id="parent"),
    pytest.param("//Job[Id = //Id]/Id", ["1", "2"], id="the document again"),
    pytest.param("//Job/root()/Jobs/Id", ["all"], id="root"),
    pytest.param("(//Job)[2]/Id", ["2"], id="the second of all"),
    pytest.param("//Job/Id, //Job/User", ["1", "2", "amy", "bob"], id="one behind the other"),
    pytest.param("for $j in //Job, $u in //User return $j/Id", ["1", "1", "2", "2"], id="two fors"),
    pytest.param("for $j in //Job return Id", ["1", "1", "g", "g"], id="two starting points"),
]


def texts(expression, source, **options):
    version = options.pop("version", "3.1")
    return [match.text for match in compile(expression, None, version).run(source, **options)]


@pytest.mark.parametrize("expression, expected", STREAMED)
def test_what_stays_in_a_job_streams(expression, expected):
    query = compile(expression, None, "3.1")
    assert query.streams, query.obstacle
    assert texts(expression, JOBS) == expected
    assert texts(expression, JOBS, whole=True) == expected


@pytest.mark.parametrize(
    "expression, streams",
    [
        ("//s:Job/Id", True), ("//s:JobGroup[s:Id]/Id", True), ("//x:Job/Id", False),
        ("/Jobs/child::Job/Id", True), ("/descendant::Job/Id", True), ("/child::Jobs/Id", False),
        ("//s:Id", False), ("//x:JobGroup/x:Job", False),
    ],
)  # fmt: skip
def test_only_prefixes_of_the_standard_name_its_jobs(expression, streams):
    given = {"s": spec.NAMESPACE, "x": "urn:x", "Job": spec.NAMESPACE}
    assert compile(expression, given, "3.1").streams is streams


@pytest.mark.parametrize(
    "expression, told",
    [
        ("//Job", ""),
        ("Id", ""),
        ("(//Job)/Id", ""),
        ("((//Job))", ""),
        ("(//Job[Id] | //JobGroup)/Id", ""),
        ("(for $j in //Job return $j/Id)", ""),
        ("(//Id)", "(//Id) may stand outside of job objects"),
        ("(//Job)[1]", "(//Job)[1] is worked out over the whole document"),
        ("(//Job, //JobGroup)/Id", "//Job, //JobGroup is worked out over the whole document"),
        ("(//Job/..)/Id", ".. may leave the job object"),
        ("(1)", "1 is worked out over the whole document"),
        ("//Job[lang('en')]", "Job[lang('en')] may count job objects"),
        ("//Job[Id][lang('en')]/Id", "Job[Id][lang('en')] may count job objects"),
        ("//Job/lang('en')", "lang() may leave the job object"),
        ("Id[. = //Id]", "//Id starts at the document again"),
        ("//child::Job/Id", ""),
        ("//descendant-or-self::JobGroup", ""),
        ("/child::*", "/child::* may stand outside of job objects"),
        ("//self::Job/Id", "self::Job may stand outside of job objects"),
        ("//@Job", "@Job may stand outside of job objects"),
        ("//(Job)", "(Job) may stand outside of job objects"),
        ("//string(Job)", "string(Job) may stand outside of job objects"),
        ("//element(Job)", "element(Job) may stand outside of job objects"),
    ],
)
def test_why_a_whole_document_is_asked_is_told(expression, told):
    query = compile(expression, None, "3.1")
    assert query.obstacle == told
    assert query.streams is (not told)


@pytest.mark.parametrize("version", ["1.0", *VERSIONS])
@pytest.mark.parametrize(
    "expression, expected", [("//Id/@op", "b"), ("//Id/@s:op", "a"), ("//@op", "b")]
)
def test_an_attribute_without_prefix_is_in_no_namespace(expression, expected, version):
    source = f"<Job xmlns:s='{spec.NAMESPACE}'><Id s:op='a' op='b'>1</Id></Job>".encode()
    query = compile(expression, {"s": spec.NAMESPACE}, version)
    assert [match.text for match in query.run(source)] == [expected]


@pytest.mark.parametrize("expression, expected", WHOLE)
def test_what_may_look_elsewhere_is_asked_of_the_whole_document(expression, expected):
    assert not compile(expression, None, "3.1").streams
    assert texts(expression, JOBS) == expected


@pytest.mark.parametrize("expression, expected", [*STREAMED, *WHOLE])
def test_a_namespace_of_the_standard_changes_no_answer(expression, expected):
    assert texts(expression, WIRE) == expected


SIMPLE = [
    "//Job/Id", "Id", "//Job[Memory > 600]/Id", "//Job[User = 'amy']/Memory/@units", "string(Id)",
    "//JobGroup/Job/User", "//Job[not(Memory)]", "count(//Job)", "//Job[Id = '2'] | //Job[User]",
    "//Memory/text()",
]  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("expression", SIMPLE)
def test_simple_questions_have_the_answers_of_xpath_1(expression, version):
    def shown(match):
        return match.text, match.path, match.line, match.job

    expected = [shown(match) for match in compile(expression).run(JOBS)]
    assert [shown(match) for match in compile(expression, None, version).run(JOBS)] == expected


names = st.sampled_from(("Job", "JobGroup", "Id", "Memory", "Requested", "Jobs"))


def _element(name, text="", children=()):
    element = etree.Element(name)
    element.text = text or None
    element.extend(etree.fromstring(etree.tostring(child)) for child in children)
    return element


documents = st.recursive(
    st.builds(_element, names, st.sampled_from(("", "1", "2"))),
    lambda inner: st.builds(_element, names, st.just(""), st.lists(inner, max_size=4)),
    max_leaves=15,
)
inside = st.sampled_from(
    (
        "Id",
        "Memory",
        "Requested/*",
        ".//Id",
        "Id = 1",
        "exists(Memory)",
        "every $i in Id satisfies $i = 1",
    )
)
predicates = st.one_of(st.just(""), st.builds("[{}]".format, inside))
starts = st.builds(
    "{}{}{}".format,
    st.sampled_from(("//", "/Jobs/", "//*/", "/", "//JobGroup/")),
    st.sampled_from(("Job", "JobGroup")),
    predicates,
)
expressions = st.one_of(
    st.builds("{}/({})".format, starts, inside),
    st.builds("{} ! ({})".format, starts, inside),
    st.builds("for $j in {} return $j/({})".format, starts, inside),
    st.builds("{} | {}//Id".format, starts, starts),
    inside,
)


@given(documents, expressions)
def test_streamed_answers_are_those_of_the_whole_tree(root, expression):
    query = compile(expression, None, "3.1")
    assert query.streams
    data = etree.tostring(root)
    assert _answers(query, data) == _answers(query, data, whole=True)


def test_a_comparison_that_is_none_is_told_whether_streamed_or_not():
    query = compile("//Job/(Id = 1)", None, "3.1")
    data = b"<Jobs><Job><Id/></Job></Jobs>"  # XPath 2.0 has no number for an empty text: FORG0001
    assert _answers(query, data) == _answers(query, data, whole=True) == "FORG0001"


@pytest.mark.parametrize("expression", ["//Job[User > 0.5]/Id", "//Job[number(Id) gt 1{}]/Id"])
def test_numbers_that_python_cannot_make_are_told_of(expression):
    errors = []
    assert texts(expression.format("0" * 400), JOBS, on_error=errors.append) == []
    assert {error.finding.code for error in errors} == {"E-TYPE"}


def _answers(query, data, **options):
    """The texts that are found, or that there is a job which cannot be asked."""
    errors = []
    found = [match.text for match in query.run(data, on_error=errors.append, **options)]
    codes = {error.finding.code for error in errors}
    assert codes <= {"E-TYPE"}
    return "FORG0001" if codes and all("FORG0001" in str(error) for error in errors) else found


def test_effective_asks_jobs_with_their_defaults():
    assert texts("//Job/Queue", JOBS) == []
    assert texts("//Job ! Queue", JOBS, effective=True) == ["batch"]
    assert texts("/Jobs/JobGroup/Job[Queue]/Id", JOBS, effective=True) == ["2"]


def test_matches_know_where_they_stand():
    query = compile("//Job/Memory/@units", None, "2.0")
    assert [(match.path, match.line, match.job, match.xml) for match in query.run(JOBS)] == [
        ("/Jobs/Job/Memory/@units", 3, "1", 'units="GB"'),
        ("/Jobs/JobGroup/Job/Memory/@units", 5, "2", 'units="MB"'),
    ]


def test_a_job_that_cannot_be_asked_is_said_and_the_rest_go_on():
    errors = []
    found = texts("//Job/xs:integer(replace(User, 'bob', '7'))", JOBS, on_error=errors.append)
    assert found == ["7"]
    assert [(error.finding.line, error.finding.code) for error in errors] == [(3, "E-TYPE")]


@pytest.mark.parametrize(
    "expression, position, said",
    [
        ("//Job[", 6, "unexpected end of source"),
        ("//Job/x:Id", 7, "prefix 'x' is not declared"),
        ("foo(1)", 0, "unknown function 'foo'"),
        ("$v", 0, "unknown variable 'v'"),
        ("(" * 40 + "1" + ")" * 40, 32, "nested more than 32 levels deep"),
        ("- " * 4999 + "1", 0, "nested too deeply"),
        ("1" * 10_001, 10_000, "at most 10000"),
        ("count(1 to 100000000)", 0, "more than 1000000 numbers in a range"),
        ("matches('a', '(')", 0, "is not a pattern"),
        ("matches('a', 'a', 'y')", 0, "one of the flags"),
        ("replace('a', 'a*', 'b')", 0, "no empty one"),
        ("replace('a', 'a', '$')", 0, "a replacement with $1"),
    ],
)
def test_an_error_has_its_place(expression, position, said):
    with pytest.raises(NotAQuery) as raised:
        compile(expression, None, "3.1")
    assert raised.value.position == position
    assert said in str(raised.value)


@pytest.mark.parametrize("name", sorted(parser._REFUSED))
def test_no_function_reads_files_or_the_environment(name):
    calls = [f"{name}({', '.join(arguments)})" for arguments in ([], ["'x'"], ["'x'", "'y'"])]
    for call in [*calls, f"fn:{calls[1]}", f"{name}#1"]:
        with pytest.raises(NotAQuery):
            compile(call, None, "3.1")


def test_a_pattern_that_takes_too_long_is_stopped():
    slow = f"//Job[matches(concat(User, '{'xx' * 2500}'), '(x+x+)+y')]"
    with pytest.raises(UnreadableDocument, match="milliseconds to match a pattern"):
        texts(slow, JOBS)


def test_an_evaluation_that_takes_too_long_is_stopped(monkeypatch):
    monkeypatch.setattr("sssjob.query.xpath2.context.SECONDS", 0)
    with pytest.raises(UnreadableDocument, match="more than 0 seconds"):
        texts("//Job[Id = 1]/Id", JOBS)


STOPPED = [
    "//Id[. = //Id]", "//Id[//Id != .]", "//Id/following::Id",
    "//Id[string() = //Id][count(//Id[. = //User]) < 1]",
]  # fmt: skip


@pytest.mark.parametrize("at", range(8))
@pytest.mark.parametrize("query", STOPPED)
def test_an_evaluation_that_is_stopped_tells_its_limit_wherever_it_was(query, at, monkeypatch):
    """A comparison of elementpath takes what is raised inside it for a value that is wrong."""
    checks = count()

    def check(self):
        if next(checks) >= at:
            raise LimitExceeded("seconds for one document", 20)

    monkeypatch.setattr("sssjob.query.xpath2.context.Context.check", check)
    with pytest.raises(UnreadableDocument) as failure:
        texts(query, JOBS)
    found = failure.value.finding
    assert (found.code, found.message) == ("E-LIMIT", "more than 20 seconds for one document")


@pytest.mark.parametrize("values", [
    "(1 to 999)[. = 0]", "(1 to 999) ! 1", "(1 to 999) ! ()", "let $x := 1 to 999 return $x ! $x",
    "let $x := 1 to 999 return $x[. = 0]", "for $x in 1 to 999 return $x + 1",
    "some $x in 1 to 999 satisfies $x = 0", "for-each(1 to 999, function($x) { $x })",
    "filter(1 to 999, function($x) { $x = 0 })",
    "fold-left(1 to 999, 0, function($a, $b) { $a + $b })",
])  # fmt: skip
def test_an_evaluation_of_values_alone_is_stopped_too(values, monkeypatch):
    checks = count()

    def check(self):
        if next(checks) > 500:
            raise LimitExceeded("seconds for one document", 20)

    monkeypatch.setattr("sssjob.query.xpath2.context.Context.check", check)
    with pytest.raises(UnreadableDocument, match="more than 20 seconds for one document"):
        texts(f"//Job[count({values}) = 0]/Id", JOBS)


def test_a_later_query_is_a_value():
    query = compile("//x:Job ! string(Id)", {"x": spec.NAMESPACE}, "3.1")
    assert pickle.loads(pickle.dumps(query)) == query
    assert query != compile("//x:Job ! string(Id)", {"x": spec.NAMESPACE}, "3.0")
    assert [match.text for match in query.run(WIRE)] == ["1", "2"]


@pytest.mark.parametrize("many, told", [(100, []), (101, ["E-LIMIT"])])
@pytest.mark.parametrize("inside", [False, True])
def test_more_prefixes_than_a_hundred_are_a_limit(many, told, inside):
    declared = "".join(f" xmlns:p{number}='urn:{number}'" for number in range(many - 1))
    some = f"<a{declared}><Id>1</Id></a>" if inside else "<Id>1</Id>"
    job = f"<Job{'' if inside else declared} xmlns:q='urn:q'>{some}</Job>".encode()
    errors = []
    found = texts("//Job//Id[. = (1, 2)]", job, on_error=errors.append)
    assert [error.finding.code for error in errors] == told
    assert found == ([] if told else ["1"])


def declaring(name, many):
    return "".join(f" xmlns:{name}{number}='urn:{number}'" for number in range(many))


def test_prefixes_of_elements_side_by_side_do_not_add_up():
    some = "".join(f"<a{declaring(each, 60)}/>" for each in "pqr")
    assert texts("//Job/Id[. = (1, 2)]", f"<Job>{some}<Id>1</Id></Job>".encode()) == ["1"]


def test_a_prefix_that_is_declared_again_inside_holds_on_behind_it():
    job = f"<Job{declaring('p', 100)}><a xmlns:p0='urn:x'/><b xmlns:q='urn:q'/><Id>1</Id></Job>"
    errors = []
    assert texts("//Job/Id[. = (1, 2)]", job.encode(), on_error=errors.append) == []
    assert [error.finding.code for error in errors] == ["E-LIMIT"]


@pytest.mark.parametrize("around", [99, 100])
def test_prefixes_around_an_element_count_too(around):
    declared = "".join(f" xmlns:p{number}='urn:{number}'" for number in range(around))
    job = etree.fromstring(f"<a{declared}><Job xmlns:q='urn:q'><Id>1</Id></Job></a>")[0]
    query = compile("Id[. = (1, 2)]", None, "3.1")
    assert query.is_inside
    if around < 100:
        assert [found.text for found in query.on(job)] == ["1"]
    else:
        with pytest.raises(LimitExceeded, match="prefixes"):
            query.on(job)


BREAK = "codepoints-to-string(10)"


@pytest.mark.parametrize(
    "expression, expected",
    [
        # As the functions and operators of XPath have flags and replacements (F&O 5.6).
        ("matches('Amy', 'a.Y')", ["false"]),
        ("matches('Amy', 'a.Y', 'i')", ["true"]),
        ("matches('amy', 'a.y', 'q')", ["false"]),
        ("matches('a.y', 'a.y', 'q')", ["true"]),
        ("matches('(.Y', '(.y', 'iq')", ["true"]),
        (f"matches(concat('a', {BREAK}, 'b'), 'a.b')", ["false"]),
        (f"matches(concat('a', {BREAK}, 'b'), 'a.b', 's')", ["true"]),
        (f"matches(concat('a', {BREAK}, 'b'), '^b$')", ["false"]),
        (f"matches(concat('a', {BREAK}, 'b'), '^b$', 'm')", ["true"]),
        ("matches('ab', 'a b')", ["false"]),
        ("matches('ab', 'a b', 'x')", ["true"]),
        ("matches('a b', '^a[ ]b $', 'x')", ["true"]),
        ("matches('ab', '^a[b-z -[ c]] $', 'x')", ["true"]),
        ("matches('a[b', 'a \\ [ b', 'x')", ["true"]),
        ("matches('a#b', 'a # b', 'x')", ["true"]),
        ("matches('ab', 'a b', 'xq')", ["false"]),
        ("matches('a b', 'a b', 'xq')", ["true"]),
        ("matches('-b&c #~]', '-B&c #~]', 'qqii')", ["true"]),
        ("matches((), '^$')", ["true"]),
        ("replace('a.c', '.', 'b')", ["bbb"]),
        ("replace('a.c', '.', 'b', 'q')", ["abc"]),
        ("replace('abc', 'b', '$1\\', 'q')", ["a$1\\c"]),
        ("replace('abc', '(b)(z)?', '[$2$1$3$0]')", ["a[bb]c"]),
        ("replace('abc', 'b', '\\$\\\\')", ["a$\\c"]),
        ("replace('aBb', 'b', '-', 'i')", ["a--"]),
        ("replace((), 'b', '-')", [""]),
        ("tokenize('aXbxc', 'x')", ["aXb", "c"]),
        ("tokenize('aXbxc', 'x', 'i')", ["a", "b", "c"]),
        ("tokenize('a.b', '.', 'q')", ["a", "b"]),
    ],
)
def test_patterns_have_flags_and_replacements_have_groups(expression, expected):
    source = b"<Job><Id>1</Id></Job>"
    assert texts(f"//Job/{expression}", source) == expected


@pytest.mark.parametrize(
    "call", ["replace('a', '', 'b')", "replace('a', 'x*', 'b')", "tokenize('a', 'x*')"]
)
def test_a_pattern_of_an_empty_text_replaces_and_splits_nothing(call):
    with pytest.raises((NotAQuery, UnreadableDocument), match="and no empty one"):
        texts(f"//Job/{call}", b"<Job><Id>1</Id></Job>")


def test_a_version_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match=r"expected 1\.0, 2\.0"):
        compile("//Job", None, "4.0")


@pytest.mark.parametrize(
    "expression", ["math:pow(10,400)", "1 mod Q{3 - -2", "xs:integer('" + "9" * 5000 + "')"]
)
def test_what_elementpath_fails_at_is_no_query(expression):
    with pytest.raises(NotAQuery):
        list(compile(expression, {}, "3.1").run(b"<Job><Id>1</Id></Job>"))


def test_a_number_with_too_many_digits_is_a_limit():
    expression = " * ".join(["xs:integer(math:pow(10, 300))"] * 20)
    with pytest.raises(UnreadableDocument, match="bits of a number"):
        list(compile(expression, {}, "3.1").run(b"<Job><Id>1</Id></Job>"))


def test_what_the_library_stumbles_over_is_told_in_words():
    with pytest.raises(NotAQuery, match=r"^cannot be worked out\n") as error:
        compile("1 mod Q{3 - -2", version="3.1")
    assert error.value.position == 0


ARRAYS = {
    "sum([])": "0", "number([])": "NaN", "count([])": "1", "[//Id](1)": "1", "array{//Id}?1": "1",
    "[1, //Id]?*": "1 1", "//Job[[1](1) = 1]/Id": "1", "count(//Id ! [])": "1",
}  # fmt: skip


@pytest.mark.parametrize("expression, expected", ARRAYS.items(), ids=ARRAYS)
def test_an_array_in_brackets_is_no_predicate(expression, expected):
    assert " ".join(texts(expression, b"<Job><Id>1</Id></Job>")) == expected


@pytest.mark.parametrize(
    "expression", ["[] eq 'a'", "//Id[[]]", "string-join([])", "[](1)", "min([])", "sort([])"]
)
def test_whatever_is_asked_of_an_empty_array_is_no_error_of_our_own(expression):
    with suppress(SSSJobError):
        list(compile(expression, version="3.1").run(b"<Job><Id>1</Id></Job>"))


@pytest.mark.parametrize(
    "expression, said",
    [
        ('QName("a", ())', "the 2nd argument of QName() is an empty sequence, which it does not take (XPTY0004)"),
        ('QName(1, "a")', "the 1st argument of QName() is xs:integer, which it does not take (XPTY0004)"),
        ("string-length(1)", "the 1st argument of fn:string-length() is xs:integer, and not xs:string (XPTY0004)"),
        ("year-from-date(1)", "the 1st argument of fn:year-from-date() is xs:integer, and not xs:date (XPTY0004)"),
        ('abs("a")', "the argument of fn:abs() is xs:string, which it does not take (XPTY0004)"),
        ("xs:anyURI(1)", "the argument of xs:anyURI() is xs:integer, which it does not take (FORG0001)"),
        ('subsequence(1, "b")', "the 2nd argument of fn:subsequence() is xs:string, and not a number (XPTY0004)"),
        ("fn:error(1)", "the 1st argument of fn:error() is xs:integer, and not xs:QName (XPTY0004)"),
        ('codepoints-to-string("a")', "invalid type xs:string for codepoint a (XPTY0004)"),
        ("adjust-date-to-timezone(current-date(), 1)", "the 2nd argument of fn:adjust-date-to-timezone() is xs:integer, and not xs:dayTimeDuration (XPTY0004)"),
    ],
)  # fmt: skip
def test_types_of_arguments_are_told_as_xpath_calls_them(expression, said):
    with pytest.raises(NotAQuery) as told:
        compile(expression, version="3.1")
    assert told.value.message == said


def test_an_argument_that_a_document_gives_is_told_so(tmp_path):
    found = compile("QName(//Job/@op, round(/a))", version="3.1")
    with pytest.raises(
        UnreadableDocument, match=r"the 2nd argument of QName\(\) is an empty sequence"
    ):
        list(found.run(b"<Job><Id>1</Id></Job>"))


def test_what_elementpath_makes_of_a_document_counts_to_what_is_held(monkeypatch):
    root = etree.fromstring("<Job>" + "<Id>7</Id>" * 50 + "</Job>")
    nodes = limits.nodes_of_tree(root)
    most = nodes * (limits.NODE + limits.NODE_OF_XPATH2)
    monkeypatch.setattr(limits, "held", lambda: most)
    assert context.Context(root).root is not None
    monkeypatch.setattr(limits, "held", lambda: most - 1)
    with pytest.raises(LimitExceeded):
        context.Context(root)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.5", 1.5), ("10 div 4", 2.5), ("7", 7), ("1 = 1", True), ("'a'", "a"), ("1e3", 1000)],
)
def test_a_value_is_one_of_json(text, value):
    [match] = compile(text, None, "3.1").run(b"<Job/>")
    assert (match.value, type(match.value)) == (value, type(value))
