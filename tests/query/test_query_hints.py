import pytest

from sssjob.query import compile, hints


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
        "//Job[Memory = '2']", "//Job[Memory > count(TaskGroup)]", "//Job[Memory > string(Name)]",
        "//Job[Processors > count(TaskGroup)]", "//*[@units = 'XB']",
    ],
)  # fmt: skip
def test_what_may_be_so_is_not_doubted(expression):
    doubted = [str(hint) for hint in hints(compile(expression))]
    assert [each for each in doubted if "is not a name" not in each] == []


def test_foreign_names_are_left_alone():
    assert list(hints(compile("//Job/x:Mood", {"x": "urn:x"}))) == []


def test_a_hint_has_a_caret_under_the_name():
    (hint,) = hints(compile("//Job[Proccessors > 1]"))
    assert str(hint).splitlines()[1:] == ["    //Job[Proccessors > 1]", "          ^"]
