"""Offers as columns are answered as each of them is alone."""

import math
from fractions import Fraction

import numpy as np
import pytest
from draws import examples
from hypothesis import example, given
from hypothesis import strategies as st
from match_requests import requested

from sssjob.expression import parse
from sssjob.expression.columns import Columns, _least, _reaches
from sssjob.expression.comparison import NO, UNKNOWN, YES
from sssjob.expression.evaluate import Request, ranked
from sssjob.expression.offers import BadOffer, offer
from sssjob.model import Property

NUMBERS = (None, 0, 1, 2, 3, 4, 5, 0.5, 1.5, 3.5, 4.5, -1)
WHOLE = (None, 0, 1, 2, 3, 4, 5, 100)
NODES = ("n1", "n2", "n[3]", "m1")


def asked(choose):
    """A random request, sometimes with units, contexts, patterns, lists and durations."""
    items = requested(choose)
    for place, item in enumerate(items):
        turn = choose.randint(0, 11)
        if item.name in ("Memory", "Disk") and turn < 3:
            items[place] = item.having(units=choose.choice(("MB", "KB", "GB", "B")))
        elif item.name in ("Memory", "Processors") and turn == 3:
            items[place] = item.having(
                context=choose.choice(("Configured", "Available", "Dedicated"))
            )
        elif item.name == "Disk" and turn == 4:
            items[place] = item.having(metric="Max")
        elif item.name == "Processors" and turn == 5:
            items[place] = Property("Duration", choose.choice("012360"), item.attributes)
        elif item.name == "Node" and item.attributes["op"] in ("EQ", "NE") and turn < 6:
            kind = choose.choice((("List", "n1,n2"), ("Range", "n[1-2]"), ("Pattern", "n.*")))
            items[place] = Property("Node", kind[1], {**item.attributes, "aggregation": kind[0]})
        elif item.name == "Queue" and turn == 6:
            items[place] = Property(
                "Priority",
                choose.choice(WHOLE[1:]),
                {**item.attributes, "op": choose.choice(("LT", "GE", "EQ"))},
            )
        elif item.name == "Queue" and turn == 7:
            items[place] = Property("Node", r"(n)\1?\d", {**item.attributes, "op": "Match"})
        elif item.name == "Memory" and turn == 8:
            items[place] = item.having(op="Match")  # which has no meaning, and is not known
    return items


def amounts(choose, size, values):
    """A column of amounts as programs have it: floats with NaN, integers, masks, lists, texts."""
    made = [choose.choice(values) for _ in range(size)]
    kind = choose.randint(0, 4)
    known = [0 if each is None else each for each in made]
    if kind == 0:
        return np.array([math.nan if each is None else float(each) for each in made])
    if kind == 1:
        whole = [int(each) for each in known]
        return np.ma.MaskedArray(
            np.array(whole, choose.choice((np.int8, np.int64))), [each is None for each in made]
        )
    if kind == 2:
        return np.array([abs(int(each)) for each in known], np.uint16)
    if kind == 3:
        return [None if each is None else str(each) for each in made]
    return made


def columns(choose, size):
    """Some members of offers, each a column."""
    facts = {
        "Queue": (None, "a", "b"), "Priority": (None, 0, 2, 5, "2"), "Node": (None, *NODES),
        "Feature": (None, [], ["ib"], ["ib", "ssd"], ["gpu"], "ssd"),
    }  # fmt: skip
    given = {name: [choose.choice(values) for _ in range(size)] for name, values in facts.items()}
    given |= {name: amounts(choose, size, NUMBERS) for name in ("Memory", "Disk")}
    given |= {name: amounts(choose, size, WHOLE) for name in ("Processors", "Duration")}
    given["Resource"] = {name: amounts(choose, size, NUMBERS) for name in "xy"}
    if choose.random() < 0.2:
        given["Memory"] = {
            each: amounts(choose, size, NUMBERS) for each in ("Configured", "Available")
        }
    if choose.random() < 0.2:
        given["Memory"] = [
            choose.choice((None, "1 KB", "2 MB", "3.5 MB", "1 GB")) for _ in range(size)
        ]
    return {name: given[name] for name in given if choose.random() < 0.8}


@given(st.randoms(use_true_random=False))
@examples(60)
def test_each_offer_gets_the_answer_that_it_would_get_alone(choose):
    size = choose.randint(1, 12)
    request = Request(parse(asked(choose)))
    offers = Columns(columns(choose, size), mode=choose.choice(("fit", "fit", "exact")))
    found = offers.ask(request)
    every = [request.answer(offers.offer(place)) for place in range(len(offers))]
    for place, answer in enumerate(every):
        assert found.verdict(place) == answer.verdict == found.verdicts[place]
        assert found.score(place) == answer.score
        assert found.answer(place).reasons == answer.reasons
    best = {id(answer): place for place, answer in enumerate(every)}
    assert found.ranked().tolist() == [best[id(answer)] for answer in ranked(every)]


@given(
    st.fractions() | st.floats(allow_nan=False, allow_infinity=False).map(Fraction),
    st.booleans(),
)
@example(Fraction("0.1"), False)
@example(Fraction("0.1"), True)
@example(Fraction(2**53 + 1), False)
@example(Fraction(10) ** 400, True)
@example(-(Fraction(10) ** 400), True)
def test_a_bound_is_the_least_float_that_is_written_as_a_number_within_it(limit, open_):
    least = _least(limit, open_)
    assert _reaches(least, limit, open_) or least in (math.inf, -math.inf)
    below = math.nextafter(least, -math.inf)
    assert below == -math.inf or not _reaches(below, limit, open_)


@pytest.mark.parametrize("op, expected", [
    ("GE", [False, True, True]), ("GT", [False, False, True]), ("EQ", [False, True, False]),
])  # fmt: skip
def test_floats_are_the_decimals_that_they_are_written_as(op, expected):
    offers = Columns({"Memory": [0.09, 0.1, 0.30000000000000004]}, mode="exact")
    assert (
        offers.ask(Request(parse([Property("Memory", "0.1", {"op": op})]))).yes.tolist() == expected
    )


@pytest.mark.parametrize("numbers", [[1, 3, 9], [0.5, 3.0, 9.5], np.array([1, 3, 9], np.uint8)])
@pytest.mark.parametrize("op, mode, yes", [
    ("LE", "fit", [True, True, True]), ("LE", "exact", [True, True, False]),
    ("LT", "fit", [True, True, True]), ("LT", "exact", [True, False, False]),
])  # fmt: skip
def test_an_upper_bound_is_met_by_any_capacity_of_which_a_part_is_taken(op, mode, yes, numbers):
    found = Columns({"Memory": numbers}, mode=mode).ask(
        Request(parse([Property("Memory", 3, {"op": op})]))
    )
    assert found.yes.tolist() == yes


@pytest.mark.parametrize("numbers", [[-1, 0, 9], [0.0, 0.5, math.nan], np.array([0, 9], np.uint8)])
def test_a_wish_for_an_amount_is_no_bound_of_it(numbers):
    wish = Property("Memory", 3, {"op": "GE", "preference": "-1"})
    assert Columns({"Memory": numbers}).ask(Request(parse([wish]))).yes.all()


@pytest.mark.parametrize("numbers", [[None, 1, 9], [math.nan, 1.5, 9.0]])
@pytest.mark.parametrize("preference, verdicts", [("0", [UNKNOWN, NO, YES]), ("-1", [YES] * 3)])
def test_an_amount_that_is_not_known_may_be_enough(preference, verdicts, numbers):
    asked_ = Property("Memory", 3, {"op": "GE", "preference": preference})
    assert Columns({"Memory": numbers}).ask(Request(parse([asked_]))).verdicts.tolist() == verdicts


def test_integers_beyond_their_type_are_compared():
    tiny = Columns({"Processors": np.array([1, 127], np.int8)})
    for asked_, yes in [("1000", False), ("100", True)]:
        found = tiny.ask(Request(parse([Property("Processors", asked_, {"op": "GE"})])))
        assert found.yes.tolist() == [False, yes]


def test_a_request_of_anything_is_answered_without_columns_and_without_offers():
    request = Request(parse([Property("Memory", 1, {"op": "GE"})]))
    assert Columns({"Queue": ["a"]}).ask(request).verdicts.tolist() == [1]
    assert Columns({}).ask(request).verdicts.tolist() == []
    assert Columns({"Memory": []}).ask(request).ranked().tolist() == []
    assert Columns({"Queue": ["a"]}).ask(Request(parse([]))).yes.tolist() == [True]


def test_older_names_and_ids_are_those_of_json():
    offers = Columns({"id": ["n7", "n8"], "requestedProcessors": [1, 3]})
    assert [offers.offer(place).id for place in range(2)] == ["n7", "n8"]
    assert offers.offer(1).amounts == offer({"requestedProcessors": 3}).amounts
    assert offers.ask(Request(parse([Property("Processors", 2, {"op": "GE"})]))).yes.tolist() == [
        False,
        True,
    ]


@pytest.mark.parametrize("given_", [
    {"Memory": [1.0, math.inf]}, {"Memory": ["1", "much"]}, {"Duration": [1.5]}, {"Duration": [-1]},
    {"Memory": [1], "Disk": [1, 2]}, {"Memory": np.zeros((2, 2))}, {"Feature": [[["a"]]]},
    {"Processors": [1], "requestedProcessors": [1]}, {"mode": ["fit"]},
    {"Resource": {"x": [1], "y": [1, 2]}}, {"Memory": ["2 furlong"]},
], ids=str)  # fmt: skip
def test_what_is_no_offer_is_refused(given_):
    with pytest.raises(BadOffer):
        Columns(given_)


@pytest.mark.parametrize("values, said", [
    ([0, -1], "offers[1]: Duration: -1 is no amount"),
    ([2.0, 1.5, 0.5], "offers[1]: Duration: 1.5 is no amount"),
    ([0.0, 2.0, -0.5], "offers[2]: Duration: -0.5 is no amount"),
    ([1, 2.5, -3], "offers[1]: Duration: 2.5 is no amount"),
], ids=str)  # fmt: skip
def test_the_first_duration_that_is_none_is_told(values, said):
    with pytest.raises(BadOffer) as refused:
        Columns({"Duration": values})
    assert str(refused.value).startswith(said)


def test_large_weights_are_counted_exactly():
    wishes = [
        Property("Feature", text, {"preference": f"-{10**30 + place}"})
        for place, text in enumerate(("ib", "ssd"))
    ]
    offers = Columns({"Feature": [["ib"], ["ssd"], ["ib", "ssd"]]})
    request = Request(parse(wishes))
    found = offers.ask(request)
    assert [found.score(place) for place in range(3)] == [
        request.answer(offers.offer(place)).score for place in range(3)
    ]
    assert found.ranked().tolist() == [2, 1, 0]
