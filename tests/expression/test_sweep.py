"""One pass over all amounts says what asking at each of them says."""

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
