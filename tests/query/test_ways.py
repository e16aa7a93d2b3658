"""What an expression of XPath 2.0 and later is for who answers it without the document."""

from decimal import Decimal

import pytest

from sssjob.query import compile
from sssjob.query.xpath2.ways import branches, called, constants, plain, way

JOBS = b"""<Jobs>
 <Job><Id>1</Id><Requested><Memory op="GE" units="GB">4</Memory></Requested></Job>
 <JobGroup><Id>g</Id><Job><Id>2</Id><Memory op="LT">8</Memory></Job></JobGroup>
</Jobs>"""
AXES = ("child", "descendant", "descendant-or-self", "self", "attribute", "parent", "following")


def token(expression):
    return compile(expression, version="3.1").token


def shown(found):
    """A way as a path; with dots where something follows that is no step."""
    if found is None:
        return None
    steps = [f"{each.axis}::{each.test}{'[]' * len(each.predicates)}" for each in found.moves]
    start = f"${found.variable}/" if found.variable else "/" * found.absolute
    return start + "/".join(steps) + " ..." * found.rest


@pytest.mark.parametrize(
    "expression, expected",
    [
        ("Id", "child::Id"),
        ("@op", "attribute::op"),
        (".", "self::node()"),
        ("self::node()", "self::node()"),
        ("child::node()", None),
        *((f"{axis}::Id", f"{axis}::Id") for axis in AXES[:5]),
        *((f"{axis}::Id", None) for axis in AXES[5:]),
        ("*", None),
        ("@*", None),
        ("descendant::*", None),
        ("Id[1]", "child::Id[]"),
        ("Id[. = 'a'][2]", "child::Id[][]"),
        ("3[. = 1]", None),
        ("Job/self::Job", "child::Job/self::Job"),
        ("(Id)", "child::Id"),
        ("(Id, Name)", None),
        ("count(Id)", None),
        ("Id + 1", None),
    ],
)
def test_a_step_is_a_name_on_an_axis_that_goes_down(expression, expected):
    assert shown(way(token(expression))) == expected


@pytest.mark.parametrize(
    "expression, expected",
    [
        ("/", None),
        ("/Jobs/Job", "/child::Jobs/child::Job"),
        ("/(Id)", "/child::Id"),
        ("/(/Job)", None),
        ("//Job", "/descendant::Job"),
        ("//Job/Id", "/descendant::Job/child::Id"),
        ("//Job//Node", "/descendant::Job/descendant::Node"),
        ("//(Job/Id)", "/descendant::Job/child::Id"),
        ("Job//.", "child::Job/descendant-or-self::node()"),
        ("//self::Job", "/descendant-or-self::Job"),
        ("//descendant::Job", "/descendant::Job"),
        ("//Job/@op", "/descendant::Job/attribute::op"),
    ],
)
def test_two_slashes_make_the_axis_of_a_step_longer(expression, expected):
    assert shown(way(token(expression))) == expected


@pytest.mark.parametrize(
    "expression, expected",
    [
        ("//@op", None),
        ("//attribute::op", None),
        ("//(@op)", None),
        ("Job//@op", "child::Job ..."),
        ("(Job)[1]", "child::Job ..."),
        ("(Job)[1]/Id", "child::Job ..."),
        ("Job ! Id", "child::Job ..."),
        ("Job/*", "child::Job ..."),
        ("Job/count(Id)/Name", "child::Job ..."),
        ("count(Job)/Id", None),
        ("for $a in //Job return $a/Id", "/descendant::Job ..."),
        ("for $a in 1 to 3 return $a", None),
        ("for $a in //Job, $b in //Job return $b", None),
    ],
)
def test_what_no_step_says_is_more_than_the_way_or_no_way(expression, expected):
    assert shown(way(token(expression))) == expected


def test_a_way_may_start_at_a_variable():
    assert shown(way(token("for $a in Job return $a/Id//Name")[2])) == (
        "$a/child::Id/descendant::Name"
    )
    assert way(token("for $a in Job return /$a")[2]) is None


@pytest.mark.parametrize("start", ["/", "//", "//Job/", "//Job//", "//JobGroup[Job]//"])
@pytest.mark.parametrize("step", [*(f"{axis}::{{}}" for axis in AXES[:6]), "{}", "@{}", "{}[.]"])
def test_a_path_has_the_answer_of_xpath_1(start, step):
    for name in ("Memory", "op"):
        path = start + step.format(name)
        assert answers(path, "3.1") == answers(path, "1.0")
    within = f"//Job[{path} = 'GE']/Id"
    assert answers(within, "3.1") == answers(within, "1.0")


def answers(expression, version):
    return [each.text for each in compile(expression, version=version).run(JOBS)]


@pytest.mark.parametrize(
    "expression, expected",
    [
        ("Id", ["Id"]),
        ("Id | Name", ["Id", "Name"]),
        ("(Id union Name) | User", ["Id", "Name", "User"]),
        ("(Id, Name)", ["Id, Name"]),
    ],
)
def test_the_branches_of_a_union_are_its_operands(expression, expected):
    assert [each.source for each in branches(token(expression))] == expected


@pytest.mark.parametrize(
    "expression, expected",
    [
        ("'a'", ("a",)),
        ("1.5", (Decimal("1.5"),)),
        ("1e3", (1000.0,)),
        ("true()", (True,)),
        ("false()", (False,)),
        ("()", ()),
        ("((1, 'a'), true())", (1, "a", True)),
        ("1 + 2 * 3", (7,)),
        ("7 mod 4", (3,)),
        ("7 idiv 2", (3,)),
        ("-1", (-1,)),
        ("sss:bytes('1 KB')", (1024.0,)),
        ("sss:seconds('01:00:00')", (3600.0,)),
        ("fn:concat('a', 'b')", None),
        ("true", None),
        ("*", None),
        ("(1, Id)", None),
        ("1 + Id", None),
        ("'a' = 'a'", None),
        ("sss:bytes(Memory)", None),
        ("sss:min(1)", None),
        ("xs:date('2026-01-01')", None),
    ],
)
def test_constants_ask_no_document(expression, expected):
    assert constants(token(expression)) == expected


def test_constants_that_are_an_error_are_left_to_the_documents():
    assert constants(token("Id[1 idiv (1 - 1)]")[1]) is None


@pytest.mark.parametrize(
    "expression, expected",
    [
        ("//Job/Id", "/descendant::Job/child::Id"),
        ("Job[Id][(Name)]", "child::Job[child::Id][child::Name]"),
        ("Job[Id = 'a']", "child::Job[child::Id = 'a']"),
        ("Job[Id != 'a']", "child::Job[child::Id != 'a']"),
        ("Job[/Jobs/Id = 'a']", "child::Job[/child::Jobs/child::Id = 'a']"),
        ("Job[not(Id)]", "child::Job[not(child::Id)]"),
        ("Job[fn:not(Id)]", "child::Job[not(child::Id)]"),
        ("Job[empty(Id)]", "child::Job[not(child::Id)]"),
        ("Job[exists(Id)]", "child::Job[boolean(child::Id)]"),
        ("Job[boolean(Id)]", "child::Job[boolean(child::Id)]"),
        ("Job[Id and Name]", "child::Job[child::Id and child::Name]"),
        ("Job[Id or not(Name)]", "child::Job[child::Id or not(child::Name)]"),
        ("Job[Task[Node = 'a']]", "child::Job[child::Task[child::Node = 'a']]"),
    ],
)
def test_a_question_about_nodes_and_texts_is_one_of_xpath_1(expression, expected):
    assert str(plain(token(expression), {})) == expected


@pytest.mark.parametrize(
    "expression",
    [
        "Job/count(Id)", "Job[1]", "Job[Id][2]", "Job[count(Id)]", "Job[Id and 1]",
        "Job[1 or Id]", "Job[not(1)]", "Job[Id = 1]", "Job['a' = Id]", "Job[Id < 'a']",
        "Job[count(Id) = 'a']", "Job[Id = \"it's\"]", "Job[/Jobs]", "Job[Id = ('a', 'b')]",
    ],
)  # fmt: skip
def test_what_may_count_or_fail_or_compares_numbers_is_none(expression):
    assert plain(token(expression), {}) is None


def test_a_way_from_a_variable_is_no_question_of_xpath_1():
    assert plain(token("for $a in Job return $a/Id")[2], {}) is None


@pytest.mark.parametrize(
    "expression, namespaces, name, symbol",
    [
        ("sss:bytes(Memory)", {}, "sss:bytes", "bytes"),
        ("fn:count(Job)", {}, "count", "count"),
        ("fn:count(Job)", {"fn": "urn:x"}, ":", ":"),
        ("math:sqrt(4)", {}, ":", ":"),
        ("count(Job)", {}, "count", "count"),
    ],
)
def test_functions_are_called_by_their_names_ours_with_their_prefix(
    expression, namespaces, name, symbol
):
    found, call = called(token(expression), namespaces)
    assert (found, call.symbol) == (name, symbol)
