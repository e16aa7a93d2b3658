import pytest
from lxml import etree

from sssjob import spec
from sssjob.query import compile
from sssjob.query.parser import parse
from sssjob.query.scope import is_inside, is_relative, residual, unions

S = {"s": spec.NAMESPACE, "x": "urn:x"}


@pytest.mark.parametrize(
    "expression",
    [
        "//Job/Id",
        "/Jobs/Job/Id",
        "/*/*/Job[Id = 'x']//Memory[1]",
        "//Job[not(Delivered) and count(TaskGroup) > 2]",
        "//Job[TaskGroup[2]/Name]",
        "//Job/TaskGroup[position() < last()]",
        "//Job/Id[. = 'x']/..",
        "//Job/TaskGroup/Task/../..",
        "//Job/TaskGroup/Task/../../Id/..",
        "//Job/Requested/Processors[1]/following-sibling::Processors",
        "//JobGroup/Job[1]",
        "//s:Job/Id",
        "//Job | //JobGroup/Id",
        "/descendant::Job[Id]",
        "Id",
        "string(Id)",
        "Delivered/Processors > 12",
        "count(TaskGroup)",
        "self::Job[1]",
        ".",
        "(Id | Name)[1]",
    ],
)
def test_what_stays_in_a_job_object_streams(expression):
    assert compile(expression, S).streams


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param("//Id", id="may be outside of jobs"),
        pytest.param("//Job[1]", id="position among jobs"),
        pytest.param("//Job[count(TaskGroup)]", id="a number is a position"),
        pytest.param("//Job[position() mod 2 = 0]/Id", id="position()"),
        pytest.param("//Job[not(last())]", id="last()"),
        pytest.param("(//Job)[1]", id="position among answers"),
        pytest.param("//Job/..", id="parent of a job"),
        pytest.param("//Job/Id/../..", id="grandparent"),
        pytest.param("//Job/TaskGroup/Task/../../..", id="one parent more than there are"),
        pytest.param("//Job/TaskGroup/../Id/../..", id="down and up again"),
        pytest.param("//Job[../Id]", id="parent in a predicate"),
        pytest.param("//Job[Id = //Job/Dependency]", id="other jobs in a predicate"),
        pytest.param("//Job/following-sibling::Job", id="the next job"),
        pytest.param("//Job/Id/following::Id", id="what follows"),
        pytest.param("//Job/ancestor::Jobs", id="ancestors"),
        pytest.param("//Jobs[Id]/Job", id="predicate of the wrapper"),
        pytest.param("count(//Job)", id="count of all"),
        pytest.param("//Job | //Id", id="one branch of a union"),
        pytest.param("Id | //Job/Id", id="two starting points"),
        pytest.param("//x:Job", id="a job of strangers"),
        pytest.param("id('a')", id="anywhere by id"),
        pytest.param("../Job", id="outside of the job object"),
        pytest.param("lang('en')", id="language of ancestors"),
        pytest.param("/self::node()/Jobs/Job", id="other axes"),
        pytest.param("1 + 1", id="no job at all"),
        pytest.param("true()", id="a function of nothing"),
        pytest.param("string(/Jobs)", id="text of the document"),
    ],
)
def test_what_may_leave_a_job_object_does_not_stream(expression):
    assert not compile(expression, S).streams


@pytest.mark.parametrize(
    "expression, told",
    [
        ("//Job/Id", ""),
        ("Id", ""),
        ("//Job[Id] | //JobGroup", ""),
        ("true()", "true() is worked out over the whole document"),
        ("string(/Jobs)", "string(/child::Jobs) is worked out over the whole document"),
        ("lang('en')", "lang() looks at the whole document"),
        ("//Job[lang('en')]", "lang() looks at the whole document"),
        (
            "//s:Job = //s:JobGroup",
            "/descendant::s:Job = /descendant::s:JobGroup is worked out over the whole document",
        ),
    ],
)
def test_why_it_does_not_is_told(expression, told):
    assert compile(expression, S).obstacle == told


@pytest.mark.parametrize(
    "expression, is_relative_, is_inside_",
    [
        ("Id", True, True),
        (".", True, True),
        ("Id/..", True, True),
        ("..", True, False),
        ("following-sibling::Job", True, False),
        ("string()", True, True),
        ("concat('a', name())", True, True),
        ("count(Id)", True, True),
        ("1 + Id", True, True),
        ("-Id", True, True),
        ("lang('en')", True, False),
        ("Id | //Job", True, False),
        ("Id[//Job]", True, False),
        ("/", False, False),
        ("//Job", False, False),
        ("string(/)", False, False),
        ("(//Job)[Id]", False, False),
        ("//Job | //JobGroup", False, False),
        ("'a'", False, True),
        ("1 + 2", False, True),
        ("true()", False, True),
    ],
)
def test_it_is_known_where_an_expression_starts_and_whether_it_stays(
    expression, is_relative_, is_inside_
):
    parsed = parse(expression)
    assert is_relative(parsed) is is_relative_
    assert is_inside(parsed) is is_inside_


@pytest.mark.parametrize(
    "expression, paths",
    [
        ("//Job", ["//Job"]),
        ("//Job | /Jobs/Id", ["//Job", "/Jobs/Id"]),
        ("//Job | (//JobGroup | //Id)", ["//Job", "//JobGroup", "//Id"]),
        ("//Job | Id", []),
        ("Id", []),
        ("//Job = //JobGroup", []),
        ("//Job and //JobGroup", []),
        ("//Job + //JobGroup", []),
        ("(//Job)[1] | //JobGroup", []),
        ("count(//Job)", []),
    ],
)
def test_only_a_union_of_absolute_paths_is_asked_path_by_path(expression, paths):
    assert unions(parse(expression)) == tuple(map(parse, paths))


NESTED = (
    f"<Jobs xmlns:s='{spec.NAMESPACE}' xmlns:x='urn:x'><Job><Id>1</Id></Job><s:a>"
    "<Job><Id>2</Id></Job>"
    "<x:b><s:Job><s:Id>3</s:Id></s:Job></x:b></s:a><JobGroup><Id>g</Id><Job><Id>4</Id></Job>"
    "<JobGroup><Id>h</Id><Job><Id>5</Id></Job></JobGroup></JobGroup></Jobs>"
).encode()


@pytest.mark.parametrize(
    "expression, expected",
    [
        ("/Jobs/Job/Id", "1"),
        ("/Job/Id", ""),
        ("/*/Job/Id", "1"),
        ("/*/*/Job/Id", "2 4"),
        ("/*/s:*/Job/Id", "2"),
        ("/*/x:*/Job/Id", ""),
        ("//x:*/Job/Id", "3"),
        ("//s:*//Job/Id", "2 3"),
        ("/node()/Job/Id", "1"),
        ("/node()/node()/Job/Id", "2 4"),
        ("//node()//Job/Id", "1 2 3 4 5"),
        ("//*//*//Job/Id", "2 3 4 5"),
        ("//JobGroup/Job/Id", "4 5"),
        ("//JobGroup//Job/Id", "4 5"),
        ("//JobGroup/JobGroup/Id", "h"),
        ("/descendant::JobGroup/descendant::Job/Id", "4 5"),
        ("/text()/Job/Id", ""),
        ("/Jobs/JobGroup/Job/Id | //x:b/Job/Id", "3 4"),
        ("//s:Job/s:Id", "3"),
        ("//s:Job/Id", "3"),
    ],
)
def test_what_streams_finds_what_the_whole_document_has(expression, expected):
    query = compile(expression, S)
    assert query.streams
    assert sorted(match.text for match in query.run(NESTED)) == expected.split()
    names = etree.fromstring(NESTED)
    assert sorted(found.text for found in query.on(names)) == expected.split()


JOBS, GROUP, OURS, THEIRS = ("", "Jobs"), ("", "JobGroup"), (spec.NAMESPACE, "a"), ("urn:x", "b")


@pytest.mark.parametrize(
    "expression, ancestors, is_reached",
    [
        ("/*/Job/Id", [JOBS], True),
        ("/*/Job/Id", [JOBS, GROUP], False),
        ("/*/*/Job/Id", [JOBS, GROUP], True),
        ("/*/*/Job/Id", [JOBS, THEIRS], True),
        ("/*/s:*/Job/Id", [JOBS, OURS], True),
        ("/*/s:*/Job/Id", [JOBS, GROUP], False),
        ("/*/s:*/Job/Id", [JOBS, THEIRS], False),
        ("/*/x:*/Job/Id", [JOBS, THEIRS], True),
        ("/*/x:*/Job/Id", [JOBS, OURS], False),
        ("/Jobs/JobGroup/Job/Id", [JOBS, GROUP], True),
        ("/Jobs/JobGroup/Job/Id", [GROUP, GROUP], False),
        ("/Jobs/a/Job/Id", [JOBS, OURS], True),
        ("/Jobs/b/Job/Id", [JOBS, THEIRS], False),
        ("/node()/node()/Job/Id", [JOBS], False),
        ("/node()/Job/Id", [JOBS], True),
        ("/text()/Job/Id", [JOBS], False),
    ],
)
def test_a_path_reaches_a_job_by_the_names_of_what_is_above_it(expression, ancestors, is_reached):
    found = residual(unions(parse(expression, S)), ancestors, S)
    assert ("self::Job/child::Id" in map(str, found)) == is_reached
