"""What is worked out of several attributes of an ad, whatever one of them is."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.errors import InvalidValue
from sssjob.systems.condor.accounting.values import NUMBERS, WORKED_OUT, worked_out

AD = {
    "ClusterId": 1, "ProcId": 0, "JobStatus": 4, "JobCurrentStartDate": 1700000100,
    "CompletionDate": 1700000200, "RemoteWallClockTime": 100.0, "CumulativeRemoteUserCpu": 5,
    "CumulativeRemoteSysCpu": 1,
}  # fmt: skip
# What an ad tells already, or tells by itself.
UNNEEDED = ("JobStartDate", "EnteredCurrentStatus", "CommittedTime", "NumJobStarts",
            "CommittedSuspensionTime", "RemoteUserCpu", "RemoteSysCpu")  # fmt: skip
OF_USE = slice(0, WORKED_OUT.index("Duration") + 1)


def of(ad):
    return worked_out([ad.get(name) for name in NUMBERS])


@pytest.mark.parametrize("odd", ["x", True, [1]])
@pytest.mark.parametrize("name", UNNEEDED)
def test_an_odd_value_that_nothing_is_made_of_costs_nothing_else(name, odd):
    told = of(AD | {name: odd})
    assert told[:-1] == of(AD)[:-1]
    assert bool(told[-1]) == (name != "NumJobStarts")


# decision 900
@pytest.mark.parametrize("blank", ["", " ", "\t"])
@pytest.mark.parametrize("name", UNNEEDED)
def test_a_blank_tells_nothing(name, blank):
    assert of(AD | {name: blank}) == of({key: value for key, value in AD.items() if key != name})


@pytest.mark.parametrize(
    "name", ["ClusterId", "JobStatus", "CompletionDate", "RemoteWallClockTime"]
)
def test_an_odd_value_of_what_the_usage_is_made_of_refuses_the_ad(name):
    with pytest.raises(InvalidValue, match=name):
        of(AD | {name: "x"})


@given(
    st.fixed_dictionaries(
        {}, optional=dict.fromkeys(NUMBERS, st.sampled_from([-1, 0, 2, 4, 60.5]))
    ),
    st.sampled_from(NUMBERS),
)
def test_an_odd_value_is_told_and_changes_no_usage(ad, name):
    with suppress(InvalidValue):
        told = of(ad | {name: "odd"})
        without = of({key: value for key, value in ad.items() if key != name})
        assert told[OF_USE] == without[OF_USE]
        assert name in ("NumJobStarts", "CumulativeSuspensionTime") or "odd" in " ".join(told)
