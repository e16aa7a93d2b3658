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


def test_foreign_names_are_left_alone():
    assert list(hints(compile("//Job/x:Mood", {"x": "urn:x"}))) == []


def test_a_hint_has_a_caret_under_the_name():
    (hint,) = hints(compile("//Job[Proccessors > 1]"))
    assert str(hint).splitlines()[1:] == ["    //Job[Proccessors > 1]", "          ^"]
