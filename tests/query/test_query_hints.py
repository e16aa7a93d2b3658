import pytest

from sssjob import spec
from sssjob.query import attributes as attributes_of
from sssjob.query import compile, hints, reaches
from sssjob.query import elements as elements_of


def unknown(name, meant):
    return f"{name} is not a name of the standard; did you mean {meant}?"


@pytest.mark.parametrize(
    "expression, said",
    [
        pytest.param(
            "//Job[Proccessors > 1]", [(6, unknown("Proccessors", "Processors"))], id="spelling"
        ),
        pytest.param("//Job/processors", [(6, unknown("processors", "Processors"))], id="case"),
        pytest.param(
            "//Job/JobId", [(6, "JobId is an older name of Id; did you mean Id?")], id="alias"
        ),
        pytest.param(
            "//Job/Delivered/Memory/@unit", [(24, unknown("@unit", "@units"))], id="attribute"
        ),
        pytest.param(
            "//Job/Memory[units='GB']",
            [(13, "units is an attribute; did you mean @units?")],
            id="no at sign",
        ),
        pytest.param(
            "//Job/@Id", [(7, "Id is an element; did you mean Id without @?")], id="at sign"
        ),
        pytest.param(
            "//Job/Flavour", [(6, "Flavour is not a name of the standard")], id="nothing near"
        ),
        pytest.param(
            "count(//Job[Usr = 'a' or not(Stat)])",
            [(12, unknown("Usr", "User")), (29, unknown("Stat", "State"))],
            id="inside",
        ),
        pytest.param("/Jbs/Job/Id", [], id="a wrapper may be called anything"),
        pytest.param("//Job/*[self::Id]/text()", [], id="known"),
        pytest.param("//*/Jobb", [(4, unknown("Jobb", "Job"))], id="behind a star"),
        pytest.param("//node()/Jobb", [(9, unknown("Jobb", "Job"))], id="behind any node"),
        pytest.param(
            "(Jobb)[1]/Idd",
            [(1, unknown("Jobb", "Job")), (10, unknown("Idd", "Id"))],
            id="in brackets",
        ),
    ],
)
def test_unknown_names_are_pointed_at(expression, said):
    assert [(hint.position, hint.message) for hint in hints(compile(expression))] == said


@pytest.mark.parametrize(
    "expression, position, said",
    [
        ("//Job/Requested/State", 16, "State does not stand in Requested"),
        ("//Job[Requested[Charge > 4]]", 16, "Charge does not stand in Requested"),
        ("//JobGroup/User", 11, "User does not stand in JobGroup"),
        ("//Memory/Id", 9, "Memory holds no elements, so that Id is never found in it"),
        ("//Job/User/@units", 12, "User has no attribute units"),
        ("//Job/./Variable", 8, "Variable does not stand in Job"),
        ("//Job/self::Job/Variable", 16, "Variable does not stand in Job"),
        ("//*/self::JobGroup/User", 19, "User does not stand in JobGroup"),
        ("//Job/Id/self::node()/User", 22, "Id holds no elements, so that User is never found"),
        ("//Job/Requested/*[@op = 'ge']", 19, "op is never 'ge': it is one of EQ, GE, GT, LE"),
        ("//Job[StartTime > '2026-01-31T00:00Z']", 6,
         "sss:time(StartTime) can be compared with sss:time('2026-01-31T00:00Z')"),
        ("//Job[Duration < '01:00:00']", 6, "sss:seconds(Duration) can be compared with"),
        ("//Job[State = 'FAILED']", 6, "records of batch systems are Completed, however"),
        ("//Job[State = 'TIMEOUT']", 6, "StatusMessage and ExitCode tell that"),
        ("//Job[Memory > '2 GB']", 6, "'2 GB' is no number, so that this is never true"),
        ("//Job[User > 'm']", 6, "User is a text: > compares numbers, and 'm' is none"),
        ("//Job[State >= 3]", 6, "State is a text, and >= compares numbers"),
        ("//Job[Memory > 512]", 6, "sss:bytes(Memory) compares bytes"),
        ("//Job[Delivered/Memory < Requested/Memory]", 16, "whatever its units"),
    ],
)  # fmt: skip
def test_what_can_never_be_so_is_pointed_at(expression, position, said):
    found = [hint for hint in hints(compile(expression)) if hint.position == position]
    assert any(said in hint.message for hint in found), [hint.message for hint in found]


@pytest.mark.parametrize(
    "expression",
    [
        "//Job[State = 'Sleeping']", "//Job[Requested/Memory[@units = 'GB'] > 2]",
        "//Job[sss:bytes(Memory) > 512]", "//Job[Id = 5 or User = 'a']/TaskGroup/Task/Node",
        "//Job[Requested/Processors[@op = 'GE'] >= 4]/Environment/Variable/@name",
        "//JobGroup/Job[Priority = -1]", "//Job/Dependency/@condition", "//Job[. = 'a']",
        "//Job[Processors = 'x']", "//Job[Memory = '2']",
        "//Job[Memory > count(TaskGroup)]", "//Job[Memory > string(Name)]",
        "//Job[Processors > count(TaskGroup)]", "//*[@units = 'XB']",
        "//Job/Id/../User", "//Job/Id/text()/User", "//Memory/following-sibling::node()/User",
        "//Job/*/Variable", "//Job/self::*/Variable", "//Job/../Variable", "//Job/x/Variable",
    ],
)  # fmt: skip
def test_what_may_be_so_is_not_doubted(expression):
    doubted = [str(hint) for hint in hints(compile(expression))]
    assert [each for each in doubted if "is not a name" not in each] == []


@pytest.mark.parametrize(
    "expression, is_always_said",
    [
        ("//Job[Memory > 512]", True),
        ("//Job[Delivered/Memory < Requested/Memory]", True),
        ("//Job[User > 'm']", False),
        ("//Job/Requested/State", False),
        ("//Job[Memory > '2 GB']", False),
    ],
)
def test_only_a_doubt_about_units_is_said_whatever_was_found(expression, is_always_said):
    assert {hint.of_units for hint in hints(compile(expression))} == {is_always_said}


LATER = [
    # an expression of XPath 3.1, its elements, its attributes
    ("//Job/(Id|Name)/@units", ["Job", "Id", "Name"], ["units"]),
    ("//Job/(Id, attribute::op)", ["Job", "Id"], ["op"]),
    ("//Job[(Id) = 'Queue'] (: User :)", ["Job", "Id"], []),
    ('//Job ! Id[. = "Queue"]', ["Job", "Id"], []),
    ("//Job/(Id,\tattribute :: op,\n@units)", ["Job", "Id"], ["op", "units"]),
    ("//Job/(Id, Id, @op, @op)", ["Job", "Id"], ["op"]),
]


@pytest.mark.parametrize("expression, elements, attributes", LATER)
def test_names_of_a_later_expression_are_those_that_stand_in_it(expression, elements, attributes):
    question = compile(expression, None, "3.1")
    assert question.parsed is None
    assert [name for name in elements_of(question) if name in spec.names()] == elements
    assert attributes_of(question) == attributes
    assert list(hints(question)) == []


@pytest.mark.parametrize(
    "expression",
    [
        "//Job/(*)", "//Job ! *", "for $j in //Job return *", "let $a := * return $a/Id",
        "some $a in * satisfies $a = 1", "if (Id) then * else ()", "if (Id) then () else *",
        "(Id, *)", "Id = (1, 2)[. = 1] or *", "//Job/(Id)/@*", "//Job/(child::*)", "-(1) + *",
        "1 - (*)", "1 - *[. = (1, 2)]", "(1, 2) = *", "Id || *", "//Job/(s:*)", "//Job ! node()",
        "//Job/(node())", "//Job/(.//text())", "//Job/(descendant::text())", "//Job/(element())",
        "//Job/(element(*))", "//Job/(attribute())", "Id ! (* * 2)", "Id[(1, 2) = 1] union *",
    ],
)  # fmt: skip
def test_a_star_that_is_a_name_finds_what_is_not_named(expression):
    assert reaches(compile(expression, {"s": spec.NAMESPACE}, "3.1"))


@pytest.mark.parametrize(
    "expression",
    [
        "//Job ! (Id * 2)", "//Job ! (@op * 2)", "(1, 2)[1] * 3", "//Job/(Id)[1] * 2", "(2)*(3)",
        "//Job/(Id, '*')", "//Job/(Id) (: * :)", "map{'a': 1}?*",
        "let $return := 2 return $return * 2",
        "//Job/(Id/text())", "//Job/(Id/..)", "//Job ! parent::node()", "(1, 2) ! (. * 2)",
        "//Job ! self::node()/Id", "//Job/(element(Id))", "3 ! (2 * .)", "//Job ! (/Jobs/or * 2)",
    ],
)  # fmt: skip
def test_a_star_that_is_an_operator_finds_nothing(expression):
    assert not reaches(compile(expression, None, "3.1"))


def test_foreign_names_are_left_alone():
    assert list(hints(compile("//Job/x:Mood", {"x": "urn:x"}))) == []
    assert list(hints(compile("//Job[x:Memory > 512]", {"x": "urn:x"}))) == []
    found = hints(compile("//x:Job/*/text()[. = ../Idd]", {"x": "urn:x"}))
    assert [hint.message for hint in found] == [unknown("Idd", "Id")]


def test_a_hint_has_a_caret_under_the_name():
    (hint,) = hints(compile("//Job[Proccessors > 1]"))
    assert str(hint).splitlines()[1:] == ["    //Job[Proccessors > 1]", "          ^"]
