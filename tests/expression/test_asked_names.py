"""What a term demands and excludes, held against all offers there can be (decision 1036)."""

from itertools import combinations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sssjob.expression import Comparison, Not, all_of, alternatives
from sssjob.expression.asked_names import asked_names
from sssjob.expression.conflicts import conflict
from sssjob.expression.evaluate import Request
from sssjob.expression.offer import Offer
from sssjob.model import Property

NAMES = ("a1", "a2", "b")
# Of each name there is, what a text may stand for; "other" is what no term speaks of.
WORLDS = [
    Offer.of("o", [Property("Feature", text) for text in (*some, "other")])
    for number in range(len(NAMES) + 1)
    for some in combinations(NAMES, number)
]
SINGLE = st.tuples(st.sampled_from(NAMES), st.just({}))
SEVERAL = st.sampled_from(
    (
        ("a1,a2", {"aggregation": "List"}), ("a2,b", {"aggregation": "List"}),
        ("a[1-2]", {"aggregation": "Range"}), ("a1,a2,b", {"aggregation": "List"}),
    )
)  # fmt: skip
PATTERN = st.sampled_from((
    ("a.", {"aggregation": "Pattern"}), (".*2|b", {"op": "Match"}), ("b", {"op": "Match"}),
    ("a1", {"aggregation": "Pattern"}),
))  # fmt: skip


def term(name, named, op, negated):
    text, attributes = named
    made = Comparison(Property(name, text, {**({"op": op} if op != "EQ" else {}), **attributes}))
    return Not(made) if negated else made


TERMS = st.builds(
    term, st.just("Feature"), SINGLE | SEVERAL | PATTERN, st.sampled_from(("EQ", "NE")),
    st.booleans(),
)  # fmt: skip


def satisfied(terms):
    request = Request(all_of(terms))
    return any(str(request.answer(offer).verdict) == "yes" for offer in WORLDS)


@given(st.lists(TERMS, min_size=1, max_size=4))
def test_what_conflicts_is_satisfied_by_no_offer(terms):
    for one in alternatives(all_of(terms)):
        if conflict(one):
            assert not satisfied(one.terms)


# What Not makes a choice of names apart, a conflict is known wherever there is one.
CERTAIN = TERMS.filter(lambda term: not isinstance(term, Not))
LISTED = {"aggregation": "List"}


@given(st.lists(CERTAIN, min_size=1, max_size=4))
@example(
    [term("Feature", ("a1,a2", LISTED), "NE", False), term("Feature", ("a1", {}), "EQ", False)]
)
@example([term("Feature", ("a1", {}), "NE", False), term("Feature", ("a1,b", LISTED), "EQ", False)])
def test_features_that_no_offer_has_conflict(terms):
    [one] = alternatives(all_of(terms))
    # What a pattern demands is no name.
    if all(asked_names(each).demanded for each in terms if each.op in ("EQ", "Match")):
        assert bool(conflict(one)) is not satisfied(terms)


@given(TERMS)
def test_a_term_demands_and_excludes_what_each_offer_shows(one):
    asked = asked_names(one)
    request = Request(one)
    for offer in WORLDS:
        there = {*offer.names["Feature"]}
        if str(request.answer(offer).verdict) == "yes":
            assert all(not there.isdisjoint(texts) for texts in asked.demanded)
            assert not any(map(asked.excludes, there & {*NAMES}))


def test_of_nodes_a_list_is_a_set_to_choose_from():
    either = Comparison(Property("Node", "n1,n2", LISTED))
    none = Comparison(Property("Node", "n1,n2", {**LISTED, "op": "NE"}))
    first = Comparison(Property("Node", "n1", {"op": "NE"}))
    assert asked_names(either).demanded == (("n1", "n2"),)
    assert conflict(alternatives(all_of([either, none])).best[0]) == (either, none)
    assert conflict(alternatives(all_of([either, first])).best[0]) == ()


MATCHED = {"op": "Match"}
PATTERNED = {"aggregation": "Pattern"}


# decision 1041
@pytest.mark.parametrize("name, first, second, is_one", [
    ("Node", ("n.*", MATCHED), Not(("n.*", MATCHED)), True),
    ("Node", ("n.*", MATCHED), ("n.*", {**PATTERNED, "op": "NE"}), True),
    ("Feature", ("i.*", PATTERNED), ("i.*", {**PATTERNED, "op": "NE"}), True),
    ("Feature", ("i.*", PATTERNED), ("ib", {**PATTERNED, "op": "NE"}), False),
    ("Node", ("n1", MATCHED), ("n1", {"op": "NE"}), True),
    ("Node", ("n.", MATCHED), ("n1", {"op": "NE"}), False),
    ("Node", ("n.", MATCHED), ("m3", {}), False),  # of several nodes
    ("Architecture", ("x.*", MATCHED), ("y", {}), True),
    ("Architecture", ("x.*", MATCHED), ("x86", {}), False),
    ("Architecture", ("x.*", MATCHED), ("x86", {"op": "NE"}), False),
    ("Queue", ("x.*", MATCHED), ("y", {}), True),
    ("Queue", ("(a*)*b", MATCHED), ("a" * 40, {}), True),
    ("Queue", ("x[", MATCHED), ("y", {}), False),  # no pattern, which is told where it is read
])  # fmt: skip
def test_what_a_pattern_demands_is_held_against_names_and_the_same_pattern(
    name, first, second, is_one
):
    terms = [
        Not(Comparison(Property(name, *said.operand))) if isinstance(said, Not)
        else Comparison(Property(name, *said)) for said in (first, second)
    ]  # fmt: skip
    for pair in (terms, terms[::-1]):
        [found] = alternatives(all_of(pair)).best
        assert bool(conflict(found)) is is_one
