"""A wish never blocks (8.1): every operation, every capacity, wished for and required."""

import itertools
import operator

import pytest

from sssjob import expression
from sssjob.expression.evaluate import Offer, Request
from sssjob.model import Property

ORDERS = {
    "EQ": operator.eq, "NE": operator.ne, "LT": operator.lt,
    "LE": operator.le, "GT": operator.gt, "GE": operator.ge,
}  # fmt: skip
AMOUNTS = {
    "Disk": {}, "Network": {}, "Processors": {}, "Duration": {}, "Resource": {"name": "matlab"},
}  # fmt: skip
CAPACITIES = [None, "-1", "0", "4", "5", "64"]
FACTS = [None, "", "4", "5", "b"]
WANTED = 5
MODES = ("fit", "exact")


def wish(element, value, op, attributes):
    return Property(element, value, {"op": op, "preference": "-1", **attributes})


def around(wished):
    """A wish by itself, and in each place where it stands beside something that holds."""
    name, avoided = Property("Queue", "a"), wished.having(conj="Nand")
    yield (wished,)
    yield (avoided,)
    yield (name, wished)
    yield (wished, name)
    yield (name, avoided)
    yield (wished, wished.having(conj="And"), name)
    yield (name, wished.having(group="1"), avoided.having(group="-1"))
    yield (name.having(op="NE"), wished.having(conj="Or"))
    yield (name, wished.having(group="1"), name.having(conj="Or", op="NE", group="-1"))


def asked(items, given):
    """The verdict, which the quick way and the explanation agree on."""
    wanted = Request(expression.parse(items))
    answer = wanted.answer(given)
    assert answer.verdict == wanted.verdict(given) == answer.reason.verdict
    return str(answer.verdict), answer.score


def offered(name, attributes, capacity, mode):
    some = () if capacity is None else (Property(name, capacity, attributes),)
    return Offer.of("o", (Property("Queue", "a"), *some), mode)


# A negative duration is no offer: it cannot be read.
OFFERED = [
    (name, capacity)
    for name, capacity in itertools.product(AMOUNTS, CAPACITIES)
    if (name, capacity) != ("Duration", "-1")
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("op", ORDERS)
@pytest.mark.parametrize(("name", "capacity"), OFFERED)
def test_a_wished_amount_never_blocks(name, op, capacity, mode):
    attributes = AMOUNTS[name]
    given = offered(name, attributes, capacity, mode)
    for items in around(wish(name, WANTED, op, attributes)):
        assert asked(items, given)[0] == "yes", items


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("capacity", FACTS)
@pytest.mark.parametrize("op", [*ORDERS, "Match"])
@pytest.mark.parametrize("name", ["Priority", "Project", "Gpus", "Feature"])
def test_a_wished_fact_never_blocks(name, op, capacity, mode):
    given = offered(name, {}, capacity, mode)
    for items in around(wish(name, WANTED, op, {})):
        assert asked(items, given)[0] == "yes", items


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("capacity", CAPACITIES)
@pytest.mark.parametrize("op", ORDERS)
@pytest.mark.parametrize("name", ["Processors", "Resource"])
def test_a_wish_counts_exactly_where_a_requirement_would_hold(name, op, capacity, mode):
    given = offered(name, AMOUNTS[name], capacity, mode)
    if capacity is None:
        expected = "unknown"
    else:
        some = range(1, int(capacity) + 1) if mode == "fit" else (int(capacity),)
        expected = "yes" if any(ORDERS[op](one, WANTED) for one in some) else "no"
    wished = wish(name, WANTED, op, AMOUNTS[name])
    assert asked([wished.having(preference=None)], given)[0] == expected
    assert asked([wished], given)[1] == (expected == "yes")


def test_wishes_for_what_an_offer_has_nothing_of_leave_the_rest_to_decide():
    wishes = [wish(name, WANTED, "GE", attributes) for name, attributes in AMOUNTS.items()]
    nothing = [Property(name, 0, attributes) for name, attributes in AMOUNTS.items()]
    for some in itertools.combinations(wishes, 2):
        for queue, expected in (("a", "yes"), ("b", "no")):
            given = Offer.of("o", [*nothing, Property("Queue", "a")])
            assert asked([*some, Property("Queue", queue)], given)[0] == expected
