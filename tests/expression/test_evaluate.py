"""Evaluation: rules 2.5, 2.11, 3 and 4.4 by their numbers, and an oracle that tries everything."""

# ruff: noqa: E501 - a case is one line of its table

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob import expression
from sssjob.expression import And, Comparison, Not, OneOf, Or, Wish, fit
from sssjob.expression.evaluate import Offer, Request, ranked
from sssjob.model import Delivered, Job, Property


def asked(*rows):
    """Properties from rows such as "Processors op=GE 8": a name, attributes, a value."""
    properties = []
    for row in rows:
        name, *attributes, value = row.split(" ")
        properties.append(Property(name, value, dict(pair.split("=") for pair in attributes)))
    return tuple(properties)


def request(*rows, **options):
    return Request(expression.parse(asked(*rows)), **options)


def offer(*rows, mode="fit", none=()):
    """An offer of rows; ``none`` are properties of which it is known to have none."""
    made = Offer.of("o", asked(*rows), mode)
    return Offer("o", {**dict.fromkeys(none, ()), **made.facts}, mode)


def verdict(wanted, given):
    """The verdict, which the explanation and the quick way agree on."""
    answer = wanted.answer(given)
    assert answer.verdict == wanted.verdict(given) == answer.reason.verdict
    return str(answer.verdict)


EXAMPLE_1 = ("Processors op=GE 8", "Processors op=LE 16", "Duration 3600")
DAY = "Duration 86400"

# fmt: off
FITS = [
    pytest.param(EXAMPLE_1, ("Processors 4", DAY), "no", id="example 1 on 4"),
    pytest.param(EXAMPLE_1, ("Processors 8", DAY), "yes", id="example 1 on 8"),
    pytest.param(EXAMPLE_1, ("Processors 64", DAY), "yes", id="example 1 on 64"),
    pytest.param(EXAMPLE_1, ("Processors 64", "Duration 1800"), "no", id="example 1 with a limit of 1800"),
    pytest.param(EXAMPLE_1, ("Processors 64",), "unknown", id="example 1 without a known limit"),
    pytest.param(("Processors 12", "Processors 16"), ("Processors 64",), "no", id="12 And 16 on any node"),
    pytest.param(("Processors conj=Nand op=GE 8",), ("Processors 64",), "yes", id="Not at least 8: take 7"),
    pytest.param(("Processors 12", "Processors conj=Or 16"), ("Processors 14",), "yes", id="12 Or 16 on 14"),
    pytest.param(("Processors 12", "Processors conj=Or 16"), ("Processors 8",), "no", id="12 Or 16 on 8"),
    pytest.param(("Processors op=GT 4", "Processors op=LT 5"), ("Processors 64",), "no", id="between 4 and 5 processors"),
    pytest.param(("Memory op=GT 4", "Memory op=LT 5"), ("Memory 64",), "yes", id="between 4 and 5 megabytes"),
    pytest.param(("Memory op=GT 4", "Memory op=LT 5"), ("Memory 4",), "no", id="above 4 of 4"),
    pytest.param(("Memory op=GT 4", "Memory op=LT 5"), ("Memory 4.001",), "yes", id="above 4 of a little more"),
    pytest.param(("Memory op=GE units=GB 2",), ("Memory units=MB 2048",), "yes", id="2 GB are 2048 MB"),
    pytest.param(("Memory op=GE units=GB 2",), ("Memory units=MB 2047.999",), "no", id="a little less than 2 GB"),
    pytest.param(("Memory op=GE units=GB 1.89",), ("Memory units=B 2029372047",), "no", id="1.89 GB are 50734301184/25 bytes"),
    pytest.param(("Memory op=GE units=GB 1.89",), ("Memory units=B 2029372048",), "yes", id="and not a byte more"),
    pytest.param(("Processors op=LT 1",), ("Processors 64",), "no", id="nothing below one can be taken"),
    pytest.param(("Processors op=NE 1",), ("Processors 1",), "no", id="another number than all there is"),
    pytest.param(("Processors 1",), ("Processors 0",), "no", id="nothing is left"),
    pytest.param(("Queue z", "Processors conj=Or 8"), ("Queue z", "Processors 0"), "yes", id="nothing is left, and nothing needed"),
    pytest.param(("Processors group=1 8", "Memory group=-1 op=GE 1", "Processors conj=Or group=1 4", "Memory group=-1 op=GE 8"), ("Processors 16", "Memory 2"), "yes", id="two kinds, each with its memory"),
    pytest.param(("Processors group=2 8", "Memory group=-1 op=GE 1", "Processors conj=Or group=1 4", "Memory group=-2 op=GE 8", "Processors op=LE 4"), ("Processors 16", "Memory 2"), "no", id="the kind that is left has too little memory"),
]
UNKNOWN = [
    pytest.param(("Queue a", "Processors 1"), ("Queue b",), "no", id="unknown And false"),
    pytest.param(("Queue a", "Processors 1"), ("Queue a",), "unknown", id="unknown And true"),
    pytest.param(("Queue a", "Processors conj=Or 1"), ("Queue a",), "yes", id="unknown Or true"),
    pytest.param(("Queue a", "Processors conj=Or 1"), ("Queue b",), "unknown", id="unknown Or false"),
    pytest.param(("Queue conj=Nand a",), (), "unknown", id="Not unknown"),
    pytest.param(("Queue op=NE a",), (), "unknown", id="another than unknown"),
    pytest.param((), (), "yes", id="nothing is asked"),
]
FACTS = [
    pytest.param(("Queue a", "Queue b"), ("Queue a",), "no", id="2.5 one queue is not two"),
    pytest.param(("Feature a", "Feature b"), ("Feature a", "Feature b"), "yes", id="2.5 a set has both"),
    pytest.param(("Feature a", "Feature b"), ("Feature a",), "no", id="2.5 a set without one"),
    pytest.param(("Feature op=NE a",), ("Feature a", "Feature b"), "no", id="NE is no member"),
    pytest.param(("Feature conj=Nand a",), ("Feature b",), "yes", id="Not a member"),
    pytest.param(("Feature aggregation=List a,b",), ("Feature a", "Feature b", "Feature c"), "yes", id="4.4 all features of a List"),
    pytest.param(("Feature aggregation=List a,b",), ("Feature a",), "no", id="4.4 one is missing"),
    pytest.param(("Feature aggregation=List op=NE a,b",), ("Feature a",), "no", id="none of a List"),
    pytest.param(("Feature aggregation=Pattern a+",), ("Feature aaa",), "yes", id="4.4 a feature by a Pattern"),
    pytest.param(("NodeCount 1", "Node op=Match fr15.*"), ("NodeCount 1", "Node fr15n03"), "yes", id="example 2"),
    pytest.param(("NodeCount 1", "Node op=Match fr15.*"), ("NodeCount 1", "Node xfr15n03"), "no", id="2.10 anchored in front"),
    pytest.param(("Node op=Match node[1-5]",), ("Node node12",), "no", id="2.10 anchored behind"),
    pytest.param(("Node aggregation=Range count=2 n[01-08]",), ("Node aggregation=Range n[07-09]",), "yes", id="4.4 two of a Range"),
    pytest.param(("Node aggregation=Range count=2 n[01-08]",), ("Node aggregation=Range n[08-20]",), "no", id="4.4 one of two"),
    pytest.param(("Node aggregation=Range n[1-2]",), ("Node n1",), "no", id="4.4 all of a Range"),
    pytest.param(("NodeCount 2", "Node aggregation=Range n[1-8]"), ("NodeCount 4", "Node aggregation=Range n[1-2]"), "yes", id="4.4 as many as NodeCount"),
    pytest.param(("NodeCount 3", "Node aggregation=Range n[1-8]"), ("NodeCount 4", "Node aggregation=Range n[1-2]"), "no", id="4.4 fewer than NodeCount"),
    pytest.param(("NodeCount op=LE 2", "Node aggregation=Range n[1-8]"), ("NodeCount 4", "Node n1"), "yes", id="4.4 NodeCount at most"),
    pytest.param(("NodeCount op=LE 2", "NodeCount op=GE 2", "Node aggregation=Range n[1-8]"), ("NodeCount 4", "Node n1"), "no", id="4.4 NodeCount at most and at least"),
    pytest.param(("NodeCount op=NE 2", "Node aggregation=Range n[1-8]"), ("NodeCount 4", "Node n1"), "yes", id="4.4 NodeCount not two"),
    pytest.param(("NodeCount op=NE 1", "Node aggregation=Range n[1-8]"), ("NodeCount 4", "Node n1"), "no", id="4.4 NodeCount not one"),
    pytest.param(("NodeCount conj=Nand 2", "Node aggregation=Range n[1-8]"), ("NodeCount 4", "Node n1"), "yes", id="4.4 NodeCount and not two"),
    pytest.param(("NodeCount preference=2 2", "NodeCount preference=1 1", "Node aggregation=Range n[1-8]"), ("NodeCount 4", "Node n1"), "yes", id="4.4 NodeCount of alternatives the fewest"),
    pytest.param(("NodeCount preference=2 3", "NodeCount preference=1 2", "Node aggregation=Range n[1-8]"), ("NodeCount 4", "Node n1"), "no", id="4.4 NodeCount of alternatives more"),
    pytest.param(("NodeCount group=1 4", "NodeCount conj=Or group=-1 1", "Node aggregation=Range n[1-8]"), ("NodeCount 4", "Node n1"), "yes", id="4.4 NodeCount one or the other"),
    pytest.param(("NodeCount group=1 4", "Queue conj=Or group=-1 q", "Node aggregation=Range n[1-8]"), ("NodeCount 4", "Node n1", "Queue q"), "no", id="4.4 NodeCount not in any case"),
    pytest.param(("NodeCount op=GE 0", "Node aggregation=Range n[1-8]"), ("NodeCount 4", "Node n1"), "yes", id="4.4 NodeCount none or more"),
    pytest.param(("NodeCount op=GE -1", "Node aggregation=Range n[1-8]"), ("NodeCount 4", "Node n1"), "yes", id="4.4 NodeCount less than none"),
    pytest.param(("NodeCount preference=-1 1", "Node aggregation=Range n[1-8]"), ("NodeCount 4", "Node n1"), "no", id="4.4 NodeCount a wish is no number"),
    pytest.param(("Node aggregation=Pattern n.*",), ("Node n1", "Node x"), "yes", id="4.4 one of a Pattern"),
    pytest.param(("Node aggregation=Range op=NE n[1-2]",), ("Node n3",), "yes", id="none of a Range"),
    pytest.param(("Priority op=GE 10",), ("Priority 9",), "no", id="numbers that are not taken are compared as numbers"),
    pytest.param(("Gpus op=GE 10",), ("Gpus 9",), "no", id="unknown properties are numbers if they read as such"),
    pytest.param(("Mood op=GT b",), ("Mood c",), "yes", id="or else texts"),
    pytest.param(("Resource name=a 2",), ("Resource name=a 3", "Resource name=b 1"), "yes", id="resources by name"),
    pytest.param(("Resource name=b 2",), ("Resource name=a 3", "Resource name=b 1"), "no", id="each its own"),
    pytest.param(("Network units=Mbps op=GE 10",), ("Network units=GB 10",), "unknown", id="8.2 units that cannot be converted"),
]
CONTEXTS = [
    pytest.param(("Processors op=GE 32",), "no", id="Available is meant"),
    pytest.param(("Processors op=GE context=Available 16",), "yes", id="and can be said"),
    pytest.param(("Processors op=GE context=Configured 32",), "yes", id="Configured"),
    pytest.param(("Processors op=GE context=Dedicated 1",), "no", id="Dedicated is free and exclusive"),
    pytest.param(("Processors op=GE context=Used 1",), "unknown", id="Used is not known"),
]
EXACT = [
    pytest.param(("Processors op=GE 8", "Processors op=LE 16", "Duration op=LE 3600"), ("Processors 12", "Duration 1234"), "yes", id="delivered in the range"),
    pytest.param(("Processors op=GE 8", "Processors op=LE 16"), ("Processors 64",), "no", id="more than asked for is not what was asked for"),
    pytest.param(("Memory op=LE units=GB 2",), ("Memory metric=Max units=GB 1.89", "Memory metric=Average 975"), "yes", id="Max is meant where none is named"),
    pytest.param(("Memory op=LE metric=Average 900",), ("Memory metric=Max units=GB 1.89", "Memory metric=Average 975"), "no", id="a metric by its name"),
    pytest.param(("User group=1 scottmo", "Project group=-1 mscfops", "User conj=Or group=1 amy", "Project group=-1 chemistry"), ("User scottmo", "Project mscfops"), "yes", id="example 3"),
    pytest.param(("User group=1 scottmo", "Project group=-1 mscfops", "User conj=Or group=1 amy", "Project group=-1 chemistry"), ("User amy", "Project mscfops"), "no", id="example 3 crosswise"),
    pytest.param(("Memory preference=2 1024", "Memory preference=1 512"), ("Memory 1024",), "yes", id="example 4"),
]
# fmt: on


@pytest.mark.parametrize(("wanted", "given", "expected"), FITS)
def test_2_11_an_offer_fits_if_some_part_of_it_satisfies(wanted, given, expected):
    assert verdict(request(*wanted), offer(*given)) == expected


@pytest.mark.parametrize(("wanted", "given", "expected"), UNKNOWN)
@pytest.mark.parametrize("mode", ["fit", "exact"])
def test_2_11_what_is_missing_is_unknown(wanted, given, expected, mode):
    assert verdict(request(*wanted), offer(*given, mode=mode)) == expected


@pytest.mark.parametrize(("wanted", "given", "expected"), FACTS)
def test_facts_are_compared_by_their_type(wanted, given, expected):
    assert verdict(request(*wanted), offer(*given)) == expected


@pytest.mark.parametrize(("wanted", "expected"), CONTEXTS)
def test_2_11_a_context_chooses_the_number(wanted, expected):
    given = offer("Processors context=Configured 64", "Processors context=Available 16")
    assert verdict(request(*wanted), given) == expected


@pytest.mark.parametrize("context", ["Available", "Configured", "Dedicated"])
def test_2_11_a_number_without_a_context_serves_any(context):
    assert verdict(request(f"Processors context={context} 4"), offer("Processors 4")) == "yes"


@pytest.mark.parametrize(("wanted", "given", "expected"), EXACT)
def test_2_11_exact_compares_what_was_delivered(wanted, given, expected):
    assert verdict(request(*wanted), offer(*given, mode="exact")) == expected


def test_2_3_scope_of_a_negation_by_two_readers():
    items = asked(
        "Feature ib", "Architecture conj=Nand group=1 ppc", "OperatingSystem conj=Or group=-1 AIX"
    )
    given = offer("Feature ib", "Architecture x86", "OperatingSystem AIX")
    ours, gold = expression.parse(items), expression.parse(items, nor_scope="term")
    assert str(gold) == "(Feature EQ ib And (Not Architecture EQ ppc Or OperatingSystem EQ AIX))"
    assert [verdict(Request(each), given) for each in (ours, gold)] == ["no", "yes"]


def test_2_2_precedence_and_from_left_to_right():
    items = asked("Processors 12", "Processors conj=Or 16", "Memory 512")
    other = expression.parse(items, precedence=False)
    assert str(other) == "((Processors EQ 12 Or Processors EQ 16) And Memory EQ 512)"
    given = offer("Processors 12", "Memory 1")
    assert [verdict(Request(e), given) for e in (expression.parse(items), other)] == ["yes", "no"]


# Reasons


# fmt: off
REASONS = [
    pytest.param(EXAMPLE_1, ("Processors 4", DAY), ["Processors GE 8: up to 4 offered"], id="the comparison that failed"),
    pytest.param(("Memory op=GE units=GB 2",), ("Memory units=MB 512",), ["Memory GE 2 GB: up to 512 MB offered"], id="both in their own units"),
    pytest.param(EXAMPLE_1, ("Processors 64",), ["Duration EQ 3600: not known"], id="what is not known"),
    pytest.param(("Processors 12", "Processors conj=Or 16"), ("Processors 8",), ["Processors EQ 12: up to 8 offered", "Processors EQ 16: up to 8 offered"], id="every alternative that failed"),
    pytest.param(("Processors 12", "Processors conj=Or 16"), ("Processors 14",), ["Processors EQ 12: up to 14 offered"], id="the alternative that holds"),
    pytest.param(("Processors 12", "Processors 16"), ("Processors 64",), ["no amount of Processors satisfies Processors EQ 12 and Processors EQ 16 together"], id="what cannot hold together"),
    pytest.param(("Processors op=Match 1.",), ("Processors 1",), ["Processors Match 1.: Processors is a number, which no pattern or list describes"], id="what has no meaning"),
    pytest.param((), (), [], id="nothing is asked"),
    pytest.param(("Feature preference=-1 ib",), ("Feature ib",), [], id="a wish decides nothing"),
    pytest.param(("Queue a", "Feature preference=-1 ib", "Disk preference=-1 1"), ("Queue a", "Disk 1"), ["Queue EQ a: a offered"], id="beside others, too"),
    pytest.param(("Feature group=1 conj=Nand preference=-1 ib", "Queue conj=Or group=-1 a"), ("Queue b",), ["a negated group has a preference in it, which always holds"], id="unless its group is negated"),
    pytest.param(("Memory units=GB 1",), ("Memory 1", "Memory 2"), ["Memory EQ 1 GB: cannot be compared with 1, 2"], id="more than one number"),
]
# fmt: on


@pytest.mark.parametrize(("wanted", "given", "expected"), REASONS)
def test_reasons_name_the_comparisons_that_decided(wanted, given, expected):
    assert list(request(*wanted).answer(offer(*given)).reasons) == expected


def test_what_is_taken_satisfies_and_is_told():
    answer = request("Processors conj=Nand op=GE 8").answer(offer("Processors 64"))
    assert (answer.taken, str(answer.alternative)) == ({"Processors": 7}, "Processors LT 8")


def test_2_10_match_on_a_number_is_a_fault():
    (fault,) = request("Processors op=Match 1.*").faults()
    assert fault.code == "E-OP"


def test_2_10_a_pattern_that_explodes_is_given_up_and_leaves_it_unknown():
    wanted = request(r"Node op=Match (x+x+)+(y)\2")
    given = offer(f"Node {'x' * 40}")
    assert [verdict(wanted, given) for _ in range(100)] == ["unknown"] * 100
    (found,) = wanted.stopped()
    assert found.code == "E-REGEX-LIMIT"
    (reason,) = wanted.answer(given).reasons
    assert "given up, more than 200000 steps to match '(x+x+)+(y)" in reason


def test_2_10_a_pattern_is_given_up_for_the_offers_that_it_takes_too_long_with_only():
    wanted = request(r"Node op=Match (x+x+)+(y)\2", "Queue conj=Or a")
    long, short = offer(f"Node {'x' * 40}", "Queue b"), offer("Node xxyy", "Queue b")
    for each in (long, short, long):
        wanted.answer(each)
    assert [verdict(wanted, each) for each in (long, short)] == ["unknown", "yes"]
    assert wanted.answer(short).reasons == (r"Node Match (x+x+)+(y)\2: xxyy offered",)


def test_delivered_blocks_are_offers():
    job = Job.of(Delivered.of(Processors=12, Duration=1234), Id="1")
    given = Offer.of(job.id, job.delivered, "exact")
    assert verdict(request("Processors op=GE 8", "Processors op=LE 16"), given) == "yes"


# Preferences

MEMORY = ("Memory preference=2 1024", "Memory preference=1 512")
SOFT = ("Memory 256", "Feature preference=-3 ib", "Feature preference=-1 ssd")
BOTH = (
    "Memory preference=3 2048",
    "Memory preference=1 1024",
    "Feature preference=-2 ib",
    "Feature preference=-1 ssd",
)

# fmt: off
SCORES = [
    pytest.param(MEMORY, ("Memory 256",), None, id="example 4 on 256"),
    pytest.param(MEMORY, ("Memory 512",), "1/3", id="example 4 on 512"),
    pytest.param(MEMORY, ("Memory 1024",), "2/3", id="example 4 on 1024"),
    pytest.param(MEMORY, ("Memory 4096",), "2/3", id="example 4 on 4096"),
    pytest.param(SOFT, ("Memory 256",), "0", id="no wish is met"),
    pytest.param(SOFT, ("Memory 256", "Feature ib"), "3/4", id="the heavier wish"),
    pytest.param(SOFT, ("Memory 256", "Feature ssd"), "1/4", id="the lighter wish"),
    pytest.param(SOFT, ("Memory 256", "Feature ib", "Feature ssd"), "1", id="all wishes"),
    pytest.param(BOTH, ("Memory 512", "Feature ib"), None, id="512 and ib"),
    pytest.param(BOTH, ("Memory 1024", "Feature ib", "Feature ssd"), "5/4", id="1024, ib and ssd"),
    pytest.param(BOTH, ("Memory 2048",), "3/4", id="2048"),
    pytest.param(BOTH, ("Memory 2048", "Feature ib"), "17/12", id="2048 and ib"),
    pytest.param((*MEMORY, "Memory conj=And op=LE 600"), ("Memory 4096",), "1/3", id="3.3 the heaviest that the rest allows"),
    pytest.param(("Memory preference=1 1024", "Memory preference=1 512"), ("Memory 4096",), "1/2", id="weights of 1 rank nothing"),
    pytest.param(("Memory preference=1 1024", "Memory preference=1 512"), ("Memory 512",), "1/2", id="weights of 1 rank nothing: the other"),
    pytest.param(("Memory preference=2 1024", "Feature preference=1 ib"), ("Memory 4096", "Feature ib"), "2", id="3.1 another name is another group"),
    pytest.param(("Memory preference=2 1024", "Memory preference=-1 op=GE 2048"), ("Memory 4096",), "1", id="3.4 both signs are two groups"),
    pytest.param(("Memory preference=2 1024", "Memory conj=Or preference=1 512"), ("Memory 4096",), "2/3", id="3.2 an explicit Or"),
    pytest.param(("Feature preference=2 a", "Feature conj=And preference=1 b"), ("Feature a", "Feature b"), "2/3", id="3.2 an explicit And: the heaviest counts"),
    pytest.param(("Memory preference=1 performanceFactor=2 1",), ("Memory 1",), "1", id="3.4 performanceFactor is carried"),
    pytest.param(("Feature conj=Nand preference=-1 gpu",), ("Feature gpu",), "0", id="what is to be avoided and is there"),
    pytest.param(("Feature conj=Nand preference=-1 gpu",), ("Feature x",), "1", id="what is to be avoided and is not"),
]
# fmt: on


@pytest.mark.parametrize(("wanted", "given", "expected"), SCORES)
def test_3_3_scores_are_shares_of_the_sum(wanted, given, expected):
    wanted, given = request(*wanted), offer(*given, none=("Feature",))
    answer = wanted.answer(given)
    assert (None if answer.score is None else str(answer.score)) == expected
    assert verdict(wanted, given) == ("no" if expected is None else "yes")


def test_3_3_the_best_offer_comes_first_and_ties_keep_their_order():
    wanted = request(*BOTH)
    rows = {
        "small": ("Memory 512", "Feature ib"), "2048": ("Memory 2048",), "again": ("Memory 2048",),
        "1024+both": ("Memory 1024", "Feature ib", "Feature ssd"), "2048+ib": ("Memory 2048", "Feature ib"),
    }  # fmt: skip
    answers = [
        wanted.answer(Offer(name, {"Feature": (), **offer(*given).facts})) for name, given in rows.items()
    ]  # fmt: skip
    assert [each.offer.id for each in ranked(answers)] == [
        "2048+ib", "1024+both", "2048", "again", "small",
    ]  # fmt: skip


def test_the_chosen_alternative_is_the_best_that_fits():
    answer = request(*MEMORY, "Queue conj=And a").answer(offer("Memory 700", "Queue a"))
    assert str(answer.alternative) == "(Memory EQ 512 And Queue EQ a)"


# Bounds


def test_2_to_the_40_alternatives_are_answered_at_once():
    pairs = asked(
        *(
            row
            for n in range(40)
            for row in (f"Resource name=r{n} group=1 1", f"Resource name=r{n} conj=Or group=-1 2")
        )
    )
    wanted = Request(expression.parse(pairs))
    given = Offer.of("o", asked(*(f"Resource name=r{n} 2" for n in range(40))))
    assert verdict(wanted, given) == "yes"


def test_40_alternatives_of_one_amount_are_answered_at_once():
    pairs = asked(*("Processors group=1 1", "Processors conj=Or group=-1 2") * 40)
    assert verdict(Request(expression.parse(pairs)), offer("Processors 2")) == "yes"


def test_amounts_that_depend_on_each_other_are_given_up_after_so_many_tries(monkeypatch):
    monkeypatch.setattr(fit, "COMPARISONS", 10)
    pairs = itertools.combinations(NAMES, 2)
    rows = [row for a, b in pairs for row in (f"{a} group=1 2", f"{b} conj=Or group=-1 3")]
    wanted = request(*rows)
    given = offer(*(f"{name} 9" for name in NAMES))
    answer = wanted.answer(given)
    assert str(answer.verdict) == str(wanted.verdict(given)) == "unknown"
    assert answer.reasons == ("more than 10 comparisons for one offer",)


def test_thousands_of_amounts_that_depend_on_each_other_are_given_up_in_time():
    rows = [
        row
        for n in range(3000)
        for row in (f"Resource name=r{n} group=1 5", f"Resource name=r{n + 1} conj=Or group=-1 6")
    ]
    wanted = request(*rows)
    given = Offer.of("o", asked(*(f"Resource name=r{n} 9" for n in range(3001))))
    assert str(wanted.verdict(given)) == str(wanted.answer(given).verdict) == "unknown"


def test_a_search_that_ends_early_keeps_what_it_proved(monkeypatch):
    rows = [row for name in NAMES for row in (f"{name} preference=1 1", f"{name} preference=2 9")]
    wanted = request("Processors group=1 1", "NodeCount conj=Or group=-1 1", "NodeCount group=1 1",
                     "TaskCount conj=Or group=-1 1", *rows)  # fmt: skip
    given = offer(*(f"{name} 2" for name in NAMES))
    every = wanted.answer(given)
    monkeypatch.setattr(fit, "COMPARISONS", 80)
    some = wanted.answer(given)
    assert str(some.verdict) == str(wanted.verdict(given)) == str(every.verdict) == "yes"
    assert 0 < some.score <= every.score


# The oracle: every whole amount from 1 to what is offered, and every comparison by hand.

NAMES = ("Processors", "NodeCount", "TaskCount")
COMPARE = {
    "EQ": lambda a, b: a == b, "NE": lambda a, b: a != b, "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b, "GT": lambda a, b: a > b, "GE": lambda a, b: a >= b,
}  # fmt: skip


def by_hand(expr, facts, amounts):
    """True, False or None (unknown), with the text of each rule written out once more."""
    match expr:
        case Comparison(item):
            op = item.attributes.get("op", "EQ")
            if item.name == "Queue":
                have = facts.get("Queue")
                return None if have is None else COMPARE[op](have, item.text)
            have = amounts[item.name]
            return None if have is None else COMPARE[op](have, int(item.text))
        case Not(operand):
            inner = by_hand(operand, facts, amounts)
            return None if inner is None else not inner
        case And(operands):
            inner = [by_hand(operand, facts, amounts) for operand in operands]
            return False if False in inner else None if None in inner else True
        case Or(operands) | OneOf(operands):
            inner = [by_hand(operand, facts, amounts) for operand in operands]
            return True if True in inner else None if None in inner else False
        case Wish():
            return True


def share(expr, facts, amounts, total=None):
    """The score of what is true, group by group (3.3), without negated or nested preferences."""
    match expr:
        case OneOf(members) | Wish(members):
            weights = [abs(int(m.item.attributes["preference"])) for m in members]
            held = [
                w
                for w, m in zip(weights, members, strict=True)
                if by_hand(m, facts, amounts) is True
            ]
            if isinstance(expr, Wish):
                return Fraction(sum(held), sum(weights))
            return Fraction(max(held, default=0), sum(weights))
        case And(operands):
            return sum((share(operand, facts, amounts) for operand in operands), Fraction(0))
    return Fraction(0)


def oracle(expr, facts, capacity):
    """The best verdict over all allocations, and the best score among those that are true."""
    ranges = [[None] if capacity[name] is None else range(1, capacity[name] + 1) for name in NAMES]
    found = {}
    for values in itertools.product(*ranges):
        amounts = dict(zip(NAMES, values, strict=True))
        answer = by_hand(expr, facts, amounts)
        score = share(expr, facts, amounts)
        found[answer] = max(score, found.get(answer, score))
    best = True if True in found else None if None in found else False
    return {True: "yes", None: "unknown", False: "no"}[best], found.get(True)


amount_comparisons = st.builds(
    lambda name, value, op: Comparison(Property(name, value, {"op": op})),
    st.sampled_from(NAMES), st.integers(0, 5), st.sampled_from(tuple(COMPARE)),
)  # fmt: skip
queue_comparisons = st.builds(
    lambda value, op: Comparison(Property("Queue", value, {"op": op})),
    st.sampled_from("ab"), st.sampled_from(("EQ", "NE")),
)  # fmt: skip


def joined(inner):
    some = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(some.map(And), some.map(Or), inner.map(Not))


def run(sign, kind):
    return st.builds(
        lambda name, values: kind(tuple(
            Comparison(Property(name, value, {"preference": str(sign * weight), "op": "GE"})) for value, weight in values
        )),
        st.sampled_from(NAMES), st.lists(st.tuples(st.integers(1, 5), st.integers(1, 3)), min_size=1, max_size=3),
    )  # fmt: skip


expressions = st.recursive(st.one_of(amount_comparisons, queue_comparisons), joined, max_leaves=8)
facts = st.sampled_from([{}, {"Queue": "a"}, {"Queue": "b"}])
capacities = st.fixed_dictionaries(
    {name: st.one_of(st.none(), st.integers(1, 4)) for name in NAMES}
)


def given_of(known, capacity, mode="fit"):
    rows = [f"{name} {value}" for name, value in {**known, **capacity}.items() if value is not None]
    return offer(*rows, mode=mode)


@examples(50)
@given(expressions, facts, capacities)
def test_fit_is_what_trying_every_allocation_finds(expr, known, capacity):
    expected, _ = oracle(expr, known, capacity)
    assert str(Request(expr).verdict(given_of(known, capacity))) == expected
    assert str(Request(expr).answer(given_of(known, capacity)).verdict) == expected


@examples(50)
@given(expressions, facts, capacities)
def test_exact_is_what_comparing_by_hand_finds(expr, known, capacity):
    expected = {True: "yes", None: "unknown", False: "no"}[by_hand(expr, known, capacity)]
    assert verdict(Request(expr), given_of(known, capacity, "exact")) == expected


@examples(50)
@given(expressions, run(1, OneOf), run(-1, Wish), facts, capacities)
def test_the_score_is_the_best_over_every_allocation(expr, hard, soft, known, capacity):
    whole = And((expr, hard, soft))
    expected, best = oracle(whole, known, capacity)
    answer = Request(whole).answer(given_of(known, capacity))
    assert str(answer.verdict) == expected
    if expected == "yes":
        assert answer.score == best


@given(expressions, facts, capacities)
def test_what_is_taken_makes_the_request_true(expr, known, capacity):
    answer = Request(expr).answer(given_of(known, capacity))
    if answer.verdict == 2:
        amounts = {name: answer.taken.get(name, capacity[name] and 1) for name in NAMES}
        assert by_hand(expr, known, amounts) is True
        assert by_hand(answer.alternative, known, amounts) is True


def preferring(inner):
    return st.recursive(st.one_of(inner, run(1, OneOf)), joined, max_leaves=8)


@examples(50)
@given(preferring(st.one_of(amount_comparisons, queue_comparisons)), st.sampled_from("ab"),
       st.fixed_dictionaries({name: st.integers(1, 4) for name in NAMES}))  # fmt: skip
def test_3_3_the_score_is_that_of_the_best_alternative_that_is_satisfied(expr, queue, have):
    given_ = given_of({"Queue": queue}, have, "exact")
    for asked_for in (expr, expression.parse(expression.write(expr))):
        answer = Request(asked_for).answer(given_)
        found = expression.alternatives(asked_for, 10_000)
        assert found.complete
        held = [one.score for one in found if Request(And(one.terms)).verdict(given_) == 2]
        assert answer.score == max(held, default=None)
        assert held == sorted(held, reverse=True)


@pytest.mark.parametrize("given, said", [("9", "yes"), ("2", "no")])
def test_an_amount_without_a_context_serves_whichever_is_asked_beside_another_amount(given, said):
    wanted = request("Memory op=GE context=Configured 3", "Processors op=GE 1")
    assert str(wanted.verdict(offer(f"Memory {given}", "Processors 2"))) == said
