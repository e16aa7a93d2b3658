"""One pass over all amounts says what asking at each of them says."""

from itertools import product
from random import Random

import pytest
from counting import calls
from draws import cases
from match_requests import COUNTS, HALVES, WORDS, requested

from sssjob.expression import parse
from sssjob.expression.evaluate import Offer, Request
from sssjob.expression.fit import numbers
from sssjob.expression.normal_form import leaves, scale, scored
from sssjob.expression.sweep import swept
from sssjob.model import Property

CASES = cases(400)
NOWHERE = Offer("", {})

pytestmark = pytest.mark.explore


def unnamed(item):
    return {name: text for name, text in item.attributes.items() if name != "name"}


def one_amount(choose):
    """A random request of which every element is about one amount."""
    name, texts = choose.choice(
        (("Processors", COUNTS), ("Processors", ("-1", "7")), ("Memory", HALVES))
    )
    return [
        Property(name, choose.choice(texts), {**unnamed(item), "op": choose.choice(WORDS)})
        for item in requested(choose)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_each_number_is_judged_as_if_it_were_asked_alone(seed):
    choose = Random(seed)
    for _ in range(CASES):
        form = Request(parse(one_amount(choose))).formula
        found = tuple(leaves(form))
        if not found:  # a negated wish
            continue
        tried, whole = numbers(found, found[0].whole), scale(form)
        said = [scored(form, NOWHERE, {found[0].slot: each}, whole) for each in tried]
        best = [max(range(end + 1), key=lambda n: (said[n], n)) for end in range(len(said))]
        held = [place for place, (verdict, _) in enumerate(said) if verdict]
        assert swept(form, tried) == (held[0] if held else None, tuple(best))


ONE = [[("8", {"op": op})] for op in ("EQ", "NE", "GE", "LE", "GT", "LT")]
TWO = [
    [("8", {"op": op}), ("16", {"op": other, "conj": join})]
    for op, other, join in product(("EQ", "GE", "LT"), ("NE", "LE", "GT"), ("And", "Or"))
]


@pytest.mark.parametrize("asked", [(), (8,), (7, 8), (8, 9), (1, 2), (20, 30), (7, 9, 15, 16, 17)])
@pytest.mark.parametrize("rows", [*ONE, *TWO], ids=repr)
def test_any_numbers_may_be_asked_and_not_only_those_that_the_request_names(rows, asked):
    form = Request(parse([Property("Processors", *row) for row in rows])).formula
    slot = next(leaves(form)).slot
    said = [scored(form, NOWHERE, {slot: each}, scale(form))[0] for each in asked]
    held = [place for place, verdict in enumerate(said) if verdict]
    found = swept(form, asked)
    assert found.least == (held[0] if held else None)
    assert len(found.best) == len(asked)


def pairs(count):
    """Preferences in pairs about one amount, of which no amount satisfies the last."""
    for number in range(count):
        for weight in (1, 2):
            attributes = {"op": "NE", "preference": str(number + weight)}
            attributes["group"] = "1" if weight == 1 else "-1"
            yield Property("Memory", number + weight, attributes)
    yield Property("Memory", 0, {"op": "LT"})


def test_a_request_of_thousands_of_preferences_about_one_amount_costs_n_log_n_steps():
    asked = parse(pairs(3000))
    request = []
    calls(lambda: request.append(Request(asked)), most=5_000_000)
    calls(lambda: request[0].answer(Offer.of("n", [Property("Memory", 10**6)])), most=5_000_000)
