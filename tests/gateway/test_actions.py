"""What the gateway answers about itself, by the rules that hold for jobs."""
# ruff: noqa: E501 (a row of a table is a line)

import pytest

from sssjob.errors import Refused
from sssjob.gateway.actions import Actions
from sssjob.rmap.message import Conj, Get, Object, Op, Request, Where
from sssjob.rmap.responder import ReceivedRequest


def asked(*wheres, gets=("Name",)):
    request = Request(
        "Query", "ann", (Object("System"),), tuple(map(Get, gets)), wheres=tuple(wheres)
    )
    return [row.get("Name") for row in Actions({})(ReceivedRequest(request, "ann")).rows]


@pytest.mark.parametrize(
    ("wheres", "is_found"),
    [
        ([], True),
        ([Where("Name", "sssjob")], True),
        ([Where("Name", "sssjob", Op.NE)], False),
        ([Where("Name", "other", Op.NE)], True),
        ([Where("Name", "sss*", Op.MATCH)], True),
        ([Where("Name", "sssjob", conj=Conj.AND_NOT)], False),
        ([Where("Name", "x"), Where("Version", "0", Op.GT, Conj.OR)], True),
        ([Where("Name", "x", group=1), Where("Version", "0", Op.GT, Conj.OR, -1), Where("Organization", "x")], False),
    ],
)  # fmt: skip
def test_conditions_on_the_system_mean_what_they_say(wheres, is_found):
    assert asked(*wheres) == ["sssjob"] * is_found


def test_what_the_system_does_not_have_is_refused():
    for wheres, gets in (([Where("State", "x")], ["Name"]), ([], ["State"])):
        with pytest.raises(Refused) as error:
            asked(*wheres, gets=gets)
        assert error.value.code == "318"
