"""Numbers of a request: what is stated plainly is what its expression says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob import loads
from sssjob.amounts import NUMBERS, Scope
from sssjob.features.derive import derive
from sssjob.model import Job, Property, Requested

NUMBER = st.one_of(
    st.integers(0, 3).map(str), st.integers(0, 2**64).map(str),
    st.sampled_from(["1.5", "2.0", "-1", "", " 7 ", "x", "1e3", "01:00:00", "P1D", "unlimited"]),
)  # fmt: skip
ITEM = st.tuples(
    st.sampled_from([*NUMBERS, "Feature", "Queue", "Resource"]),
    NUMBER,
    st.fixed_dictionaries(
        {},
        optional={
            "units": st.sampled_from(["MB", "GB", "KiB", "yards"]),
            "op": st.sampled_from(["EQ", "LE", "GE", "LT", "GT", "NE", "MATCH", "odd"]),
        },
    ),
)


@given(st.lists(ITEM, max_size=4), st.lists(ITEM, max_size=1))
def test_a_plain_request_gives_the_numbers_of_its_expression(items, more):
    others = [(Requested([Property(*item) for item in more]))] if more else []
    # The same request, whose first sign says what holds without it.
    signs = [
        {**signs, **({} if number else {"conj": "And"})} for number, (*_, signs) in enumerate(items)
    ]
    spelled = [
        Property(name, text, said) for (name, text, _), said in zip(items, signs, strict=True)
    ]
    plain = [Property(*item) for item in items]
    assert asked([Requested(plain), *others]) == asked([Requested(spelled), *others])


def asked(blocks):
    told = []
    scope = Scope(Job(tuple(blocks)), "/Job", lambda finding: told.append(str(finding)))
    amounts = [scope.requested(name, least=least) for name in NUMBERS for least in (True, False)]
    return amounts, told


SPACED = {
    "what was delivered": (
        '<Delivered><Processors context="~Dedicated~">4</Processors></Delivered>',
        "allocated_cpu",
    ),
    "what is dedicated": ('<Processors context="~Dedicated~">4</Processors>', "allocated_cpu"),
    "a hard limit":
        ('<ResourceLimit name="Memory" type="~Hard~">500</ResourceLimit>', "max_rss_bytes"),
    "a total": ('<Delivered><Processors metric="~Total~">4</Processors></Delivered>',
                "allocated_cpu"),
}  # fmt: skip


# decision 1177
@pytest.mark.parametrize("text, key", SPACED.values(), ids=SPACED)
def test_white_space_around_the_value_of_an_attribute_changes_no_number(text, key):
    found = [
        derive(loads(f"<Job><Id>1</Id>{text.replace('~', space)}</Job>")).values.get(key)
        for space in ("", " ", "\n\t")
    ]
    assert found[0] in (4, 500)
    assert found == found[:1] * 3
