"""Expressions: the rules of op, conj, group and preference, one test or table each."""

# ruff: noqa: E501 - a case is one line of its table

from __future__ import annotations

import itertools
import operator
from collections import Counter
from fractions import Fraction

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob import expression
from sssjob.errors import InvalidValue, LimitExceeded, UnbalancedGroup
from sssjob.expression import And, Comparison, Interval, Not, OneOf, Or, Wish, tree
from sssjob.expression.comparison import Leaf
from sssjob.expression.normal_form import All, Any, Preferred, Wished, pushed
from sssjob.model import Job, Property, Requested


def asked(*rows):
    """Properties from rows such as "Processors op=GE 8": a name, attributes, a value."""
    properties = []
    for row in rows:
        name, *attributes, value = row.split(" ")
        properties.append(Property(name, value, dict(pair.split("=") for pair in attributes)))
    return tuple(properties)


# fmt: off
PARSED = [
    pytest.param(asked(), "()", id="nothing is requested"),
    pytest.param(asked("Processors op=GE 8", "Processors op=LE 16", "Duration op=EQ 3600"),
        "(Processors GE 8 And Processors LE 16 And Duration EQ 3600)", id="8.1 example 1"),
    pytest.param(asked("NodeCount op=EQ 1", "Node op=Match fr15.*"),
        "(NodeCount EQ 1 And Node Match fr15.*)", id="8.1 example 2"),
    pytest.param(asked("User group=1 scottmo", "Project group=-1 mscfops", "User conj=Or group=1 amy", "Project group=-1 chemistry"),
        "((User EQ scottmo And Project EQ mscfops) Or (User EQ amy And Project EQ chemistry))", id="8.1 example 3"),
    pytest.param(asked("Memory preference=2 1024", "Memory preference=1 512"),
        "OneOf(Memory EQ 1024: 2, Memory EQ 512: 1)", id="8.1 example 4"),
    pytest.param(asked("User group=2 a", "Project group=-1 p", "User conj=Or group=1 b", "Project group=-2 q", "Queue z"),
        "(((User EQ a And Project EQ p) Or (User EQ b And Project EQ q)) And Queue EQ z)", id="nested groups"),
    pytest.param(asked("Processors 12", "Processors conj=Or 16", "Memory 512"),
        "(Processors EQ 12 Or (Processors EQ 16 And Memory EQ 512))", id="And binds closer than Or"),
    pytest.param(asked("Processors group=1 12", "Processors conj=Or group=-1 16", "Memory 512", "Node op=Match fr15n.*"),
        "((Processors EQ 12 Or Processors EQ 16) And Memory EQ 512 And Node Match fr15n.*)", id="the elaborate example repaired"),
    pytest.param(asked("Feature ib", "Architecture conj=Nand group=1 ppc", "OperatingSystem conj=Or group=-1 AIX"),
        "(Feature EQ ib And Not (Architecture EQ ppc Or OperatingSystem EQ AIX))", id="Nand negates the group it opens"),
    pytest.param(asked("A 1", "B conj=Nand 2"), "(A EQ 1 And Not B EQ 2)", id="Nand negates one comparison"),
    pytest.param(asked("A 1", "B conj=Nor 2", "C 3"), "(A EQ 1 Or (Not B EQ 2 And C EQ 3))", id="Nor"),
    pytest.param(asked("A 1", "B conj=AndNot 2", "C conj=OrNot 3"), "((A EQ 1 And Not B EQ 2) Or Not C EQ 3)", id="names of the wire"),
    pytest.param(asked("A conj=Or 1", "B 2"), "(A EQ 1 And B EQ 2)", id="conj on the first element is ignored"),
    pytest.param(asked("A conj=Nor 1", "B 2"), "(Not A EQ 1 And B EQ 2)", id="Nor on the first element negates it"),
    pytest.param(asked("A group=0 1", "B group=+1 2", "C group=-1 3"), "(A EQ 1 And (B EQ 2 And C EQ 3))", id="group 0 is none"),
    pytest.param(asked("Memory 256", "Feature preference=-3 ib", "Feature preference=-1 ssd"),
        "(Memory EQ 256 And Wish(Feature EQ ib: 3, Feature EQ ssd: 1))", id="negative preferences are a wish"),
    pytest.param(asked("Feature conj=Nand preference=-1 gpu"), "Avoid(Feature EQ gpu: 1)", id="a negated wish still blocks nothing"),
    pytest.param(asked("Memory preference=2 2", "Memory conj=And preference=1 1"),
        "(OneOf(Memory EQ 2: 2) And OneOf(Memory EQ 1: 1))", id="explicit conj between preferences"),
    pytest.param(asked("Memory preference=2 2", "Memory preference=-1 1", "Feature preference=-1 x"),
        "(OneOf(Memory EQ 2: 2) And Wish(Memory EQ 1: 1) And Wish(Feature EQ x: 1))", id="another sign or name is another preference"),
    pytest.param(asked("Memory group=1 preference=2 2", "Memory group=-1 preference=1 1", "Memory preference=1 3"),
        "((OneOf(Memory EQ 2: 2, Memory EQ 1: 1)) And OneOf(Memory EQ 3: 1))", id="a group ends a preference"),
    pytest.param(asked("Resource name=a preference=1 1", "Resource name=b preference=1 1"),
        "(OneOf(Resource[name='a'] EQ 1: 1) And OneOf(Resource[name='b'] EQ 1: 1))", id="Resources differ by name"),
    pytest.param(asked("Memory preference=0 1", "Memory preference=0 2"), "(Memory EQ 1 And Memory EQ 2)", id="preference 0 is none"),
    pytest.param(asked("Memory preference=1 performanceFactor=2 1"), "OneOf(Memory EQ 1: 1)", id="performanceFactor is carried"),
]

UNBALANCED = [
    pytest.param(asked("User group=1 a"),                    (0, 0, 1), id="opens one"),
    pytest.param(asked("User group=-1 a"),                   (0, 1, 0), id="closes one"),
    pytest.param(asked("User group=1 a", "User group=-2 b"), (1, 2, 1), id="closes two of one"),
    pytest.param(asked("User group=2 a", "User group=-1 b"), (0, 0, 1), id="closes one of two"),
    pytest.param(asked("User group=1 a", "User group=1 b", "User group=-1 c"), (0, 0, 1), id="the outer one stays open"),
    pytest.param(asked("Processors group=-1 12", "Processors conj=Or group=1 16"), (0, 1, 0), id="the elaborate example"),
    pytest.param((Property("User", "a", {"group": "9" * 3000}),), (0, 0, int("9" * 3000)), id="a number of 3000 digits"),
]

REFUSED = [
    pytest.param(asked("A group=x 1"),       "'x' is not an integer such as 16", id="group"),
    pytest.param(asked("A group=1.0 1"),     "'1.0' is not an integer such as 16", id="group with a point"),
    pytest.param(asked("A op=eq 1"),         "'eq' is not one of the operations EQ, NE, LT, GE, GT, LE, Match", id="op"),
    pytest.param(asked("A 1", "B conj=Xor 1"), "'Xor' is not one of the conjunctions And, Or, Nand, Nor, AndNot, OrNot", id="conj"),
    pytest.param(asked("A preference=x 1"),  "'x' is not an integer such as 16", id="preference"),
]
# fmt: on


@pytest.mark.parametrize(("properties", "printed"), PARSED)
def test_properties_read_as_a_tree(properties, printed):
    assert str(expression.parse(properties)) == printed


@pytest.mark.parametrize(("properties", "blame"), UNBALANCED)
def test_unbalanced_groups_name_the_item_and_both_counts(properties, blame):
    fault = expression.balance(properties)
    assert (fault.index, fault.closes, fault.open) == blame
    with pytest.raises(UnbalancedGroup):
        expression.parse(properties)


def test_the_message_of_the_elaborate_example():
    fault = expression.balance(asked("Processors group=-1 12", "Processors group=1 16"))
    assert str(fault) == "Processors (item 1) closes 1 level but only 0 are open"


@pytest.mark.parametrize(("properties", "message"), REFUSED)
def test_what_is_no_value_is_refused(properties, message):
    with pytest.raises(InvalidValue) as caught:
        expression.parse(properties)
    assert str(caught.value) == message


def test_balance_leaves_groups_that_are_no_integers_to_others():
    assert expression.balance(asked("A group=x 1")) is None


def test_swapped_signs_are_noticed():
    swapped = asked("Processors group=-1 12", "Processors conj=Or group=1 16")
    assert expression.swap_balances(swapped)
    assert not expression.swap_balances(asked("User group=1 a"))
    assert not expression.swap_balances(asked("User group=1 a", "User group=-1 b"))


def test_groups_too_deep_are_refused_and_not_followed():
    deep = [Property("A", 1, {"group": "1"})] * 100_000 + [Property("A", 1, {"group": "-100000"})]
    with pytest.raises(LimitExceeded, match="more than 64 groups inside each other"):
        expression.parse(deep)
    with pytest.raises(LimitExceeded):
        expression.parse(asked(f"A group={10**9} 1", f"A group=-{10**9} 1"))


def test_the_deepest_groups_that_are_read_work_everywhere():
    alternating = [
        Property("A", i, {"group": "1", "conj": ("Nor", "Nand")[i % 2]})
        for i in range(expression.DEPTH_LIMIT)
    ]
    read = expression.parse([*alternating, Property("A", 1, {"conj": "Or", "group": "-64"})])
    assert expression.parse(expression.write(read)) == expression.parse(expression.write(read))
    assert str(read).count("A EQ") == 65
    assert hash(read) == hash(read)
    assert len(expression.alternatives(read))


def test_several_requested_blocks_all_hold():
    job = Job.of(
        Requested(asked("A group=1 1", "B conj=Or group=-1 2")),
        Requested(asked("C 3", "D 4")),
        Id="1",
    )
    assert str(expression.of(job)) == "((A EQ 1 Or B EQ 2) And C EQ 3 And D EQ 4)"


def test_preferences_count_in_their_own_requested_block():
    runs = [
        asked("F preference=1 a", "F preference=1 b"), asked("F preference=3 a", "F preference=1 b")
    ]  # fmt: skip
    read = expression.of(Job.of(*map(Requested, runs)))
    best = next(iter(expression.alternatives(read)))
    assert best.score == Fraction(1, 2) + Fraction(3, 4)


def test_no_requested_block_is_not_an_empty_one():
    assert expression.of(Job.of(Id="1")) is None
    assert expression.of(Job.of(Requested(), Id="1")) == And()


def test_conjuncts_split_at_the_root_only():
    read = expression.parse(asked("A group=1 1", "B group=-1 2", "C 3"))
    assert [str(part) for part in expression.conjuncts(read)] == ["(A EQ 1 And B EQ 2)", "C EQ 3"]
    either = expression.parse(asked("A 1", "B conj=Or 2"))
    assert expression.conjuncts(either) == (either,)


def test_mentions_tell_resources_apart():
    read = expression.parse(
        asked("A 1", "Resource name=matlab type=license conj=Nor 1", "F preference=-1 x")
    )
    assert expression.mentions(read) == {"A", "Resource[name='matlab' type='license']", "F"}


# fmt: off
LEFT = [
    pytest.param(("A 1", "X conj=Or 2"), "A EQ 1", id="an operand of Or"),
    pytest.param(("A 1", "X 2"), "A EQ 1", id="an operand of And"),
    pytest.param(("A 1", "X group=1 2", "X conj=Or group=-1 3"), "A EQ 1", id="a whole group"),
    pytest.param(("A 1", "B conj=Or group=1 2", "X group=-1 3"), "(A EQ 1 Or B EQ 2)", id="part of a group"),
    pytest.param(("X 1", "B conj=Or 2", "C 3"), "(B EQ 2 And C EQ 3)", id="the first"),
    pytest.param(("A 1", "X conj=Nand 2"), "A EQ 1", id="what is negated"),
    pytest.param(("A 1", "X preference=2 1", "X preference=1 2"), "A EQ 1", id="a run of preferences"),
    pytest.param(("X 1",), "None", id="everything"),
]
# fmt: on


@pytest.mark.parametrize(("rows", "left"), LEFT)
def test_what_is_left_out_is_missed_by_nobody(rows, left):
    items = asked(*rows)
    unknown = [item for item in items if item.name == "X"]
    assert str(expression.without(expression.parse(items), unknown)) == left


# Writing

# fmt: off
WRITTEN = [
    pytest.param(asked("A op=GE 8", "A op=LE 16", "B 1"), asked("A op=GE 8", "A op=LE 16", "B 1"), id="a plain And has no groups"),
    pytest.param(asked("A 1", "B conj=Or 2"), asked("A 1", "B conj=Or 2"), id="nor has a plain Or"),
    pytest.param(asked("A 1", "B conj=Or 2", "C 3"), asked("A 1", "B conj=Or group=1 2", "C group=-1 3"), id="mixed And and Or have"),
    pytest.param(asked("A conj=And 1", "B conj=And 2"), asked("A 1", "B 2"), id="And goes without saying"),
    pytest.param(asked("A conj=Nand 1", "B conj=Nor op=LT 2"), asked("A op=NE 1", "B op=GE conj=Or 2"), id="inverse operations"),
    pytest.param(asked("A conj=Nand op=NE 1"), asked("A 1"), id="EQ goes without saying"),
    pytest.param(asked("A 1", "B conj=Nand group=1 2", "C conj=Or group=-1 3"),
        asked("A 1", "B op=NE group=1 2", "C op=NE group=-1 3"), id="De Morgan"),
    pytest.param(asked("A conj=Nand op=Match x", "B units=GB 2"), asked("B units=GB 2", "A op=Match conj=Nand x"), id="Match needs Nand, behind another"),
    pytest.param(asked("B 1", "A conj=Nor group=1 op=Match x", "C conj=Nand group=-1 op=Match y"),
        asked("B 1", "C op=Match conj=Or group=1 y", "A op=Match conj=Nor group=-1 x"), id="a positive Match opens the group"),
    pytest.param(asked("M preference=2 2", "M preference=1 1", "A conj=Or 1"),
        asked("M preference=2 2", "M preference=1 1", "A conj=Or 1"), id="preferences stay adjacent"),
    pytest.param(asked("M preference=2 2", "M conj=And preference=1 1"),
        asked("M preference=2 2", "M preference=1 conj=And 1"), id="And that keeps preferences apart is said"),
    pytest.param(asked("A 1", "F conj=Nand preference=-1 x"), asked("A 1", "F preference=-1 conj=Nand x"), id="a wish to avoid"),
    pytest.param(asked("Q 1", "F conj=Or group=1 preference=-1 x", "G conj=Nand group=-1 preference=-1 y"),
        asked("Q 1", "F preference=-1 conj=Or group=1 x", "G preference=-1 conj=Nand group=-1 y"), id="a wish opens a group, what is to be avoided does not"),
    pytest.param(asked("Q 1", "F conj=Nor preference=-1 x", "G conj=Nand preference=-1 y"),
        asked("Q 1", "F op=NE preference=-1 conj=Or group=1 x", "G preference=-1 conj=Nand group=-1 y"), id="or is wished the other way round"),
    pytest.param(asked("Q 1", "F conj=Nor op=Match preference=-1 x", "G conj=Nand op=Match preference=-1 y"),
        asked("F op=Match preference=-1 conj=Nor x", "G op=Match preference=-1 conj=Nand y", "Q conj=Or 1"), id="or has no brackets, and comes first"),
]
# fmt: on


@pytest.mark.parametrize(("properties", "canonical"), WRITTEN)
def test_expressions_are_written_canonically(properties, canonical):
    assert expression.write(expression.parse(properties)) == canonical


def test_nothing_requested_is_written_as_nothing():
    assert expression.write(And()) == ()


def test_other_attributes_are_kept_as_they_were():
    (written,) = expression.write(Not(Comparison(*asked("Memory units=GB context=Used mood=x 1"))))
    assert written == asked("Memory units=GB context=Used mood=x op=NE 1")[0]


def test_a_group_of_negated_matches_only_has_no_form_for_all_readers():
    read = expression.parse(asked("A 1", "B conj=Nor op=Match group=1 x", "C op=Match group=-1 y"))
    negated = Not(expression.conjuncts(Or((read,)))[0])
    assert not expression.scope_matters(expression.write(negated))
    one, *matches = map(Comparison, asked("A 1", "B op=Match x", "C op=Match y"))
    both = Or((one, Not(Or(tuple(matches)))))
    written = expression.write(both)
    assert written == asked("A 1", "B op=Match conj=Nor group=1 x", "C op=Match conj=Or group=-1 y")
    assert expression.scope_matters(written)


# Oracles: what the text of section 8.1 means to three readers, written on strings of tokens.

NAMES = ("A", "B", "C")
DOMAIN = (1, 2, 3)
COMPARE = {
    "EQ": operator.eq, "NE": operator.ne, "LT": operator.lt,
    "LE": operator.le, "GT": operator.gt, "GE": operator.ge,
    "Match": lambda have, want: str(have) in str(want),
}  # fmt: skip
WORLDS = [dict(zip(NAMES, values, strict=True)) for values in itertools.product(DOMAIN, repeat=3)]


def holds(item, world):
    op = COMPARE[item.attributes.get("op", "EQ")]
    return op(world[item.name], item.text if op is COMPARE["Match"] else int(item.text))


def tokens(properties, world, term_scope):
    """The stream S1 S2 ... Sk with comparisons answered; a Python expression when joined."""
    out = []
    for index, item in enumerate(properties):
        conj = item.attributes.get("conj", "And")
        group = int(item.attributes.get("group", 0))
        if index:
            out.append("or" if conj in ("Or", "Nor") else "and")
        negation = ["not"] if conj in ("Nand", "Nor") else []
        opened = ["("] * max(group, 0)
        out += [*opened, *negation] if term_scope else [*negation, *opened]
        out += [str(holds(item, world)), *[")"] * max(-group, 0)]
    return out


def precedence(properties, world, *, term_scope=False):
    return eval(" ".join(tokens(properties, world, term_scope)) or "True")


def left_to_right(properties, world, *, term_scope=False):
    stream = iter(tokens(properties, world, term_scope))

    def value(token):
        if token == "not":
            return not value(next(stream))
        return level() if token == "(" else token == "True"

    def level():
        result = value(next(stream))
        for token in stream:
            if token == ")":
                break
            right = value(next(stream))
            result = (result or right) if token == "or" else (result and right)
        return result

    return level()


def truth(expr, world):
    match expr:
        case Comparison(item):
            return holds(item, world)
        case Not(operand):
            return not truth(operand, world)
        case And(operands):
            return all(truth(operand, world) for operand in operands)
        case Or(operands) | OneOf(operands):
            return any(truth(operand, world) for operand in operands)
        case Wish():
            return True


def table(answer, thing):
    return [bool(answer(thing, world)) for world in WORLDS]


def properties(ops):
    return st.builds(
        lambda name, value, op: Property(name, value, {"op": op} if op != "EQ" else {}),
        st.sampled_from(NAMES), st.sampled_from(DOMAIN), st.sampled_from(ops),
    )  # fmt: skip


def expressions(leaves):
    def joined(inner):
        some = st.lists(inner, min_size=1, max_size=3).map(tuple)
        return st.one_of(some.map(And), some.map(Or), inner.map(Not))

    return st.recursive(leaves, joined, max_leaves=8)


def preferred(item, weight):
    return item.having(preference=str(weight))


WEIGHTS = [None, None, "1", "2", "-1", "-2"]


def runs(sign, kind, *more):
    return st.builds(
        lambda name, values: kind(
            tuple(
                Comparison(preferred(Property(name, value), sign * weight))
                for value, weight in values
            ),
            *more,
        ),
        st.sampled_from(NAMES),
        st.lists(st.tuples(st.sampled_from(DOMAIN), st.integers(1, 3)), min_size=1, max_size=3),
    )


NUMERIC = expressions(properties(tuple(expression.INVERSES)).map(Comparison))
MATCHING = expressions(properties(expression.OPERATIONS).map(Comparison))
PREFERRING = expressions(
    st.one_of(properties(expression.OPERATIONS).map(Comparison), runs(1, OneOf), runs(-1, Wish))
)

WISHING = expressions(
    st.one_of(
        properties(expression.OPERATIONS).map(Comparison),
        runs(1, OneOf), runs(-1, Wish), runs(-1, Wish, True),
    )
)  # fmt: skip


@st.composite
def balanced(draw, weighted=False):
    """Properties with any conj and any balanced groups."""
    items, depth = draw(st.lists(properties(expression.OPERATIONS), min_size=1, max_size=7)), 0
    out = []
    for index, item in enumerate(items):
        last = index == len(items) - 1
        group = -depth if last else draw(st.integers(max(-depth, -2), 2))
        depth += group
        conj = draw(st.sampled_from([None, "And", "Or", "Nand", "Nor"]))
        weight = draw(st.sampled_from(WEIGHTS)) if weighted else None
        out.append(item.having(conj=conj, group=str(group) if group else None, preference=weight))
    return tuple(out)


@given(balanced())
def test_reading_agrees_with_the_grammar(items):
    read = expression.parse(items)
    assert table(truth, read) == table(precedence, items)
    assert expression.balance(items) is None


@given(NUMERIC)
def test_every_reader_understands_what_is_written(expr):
    written = expression.write(expr)
    expected = table(truth, expr)
    for term_scope in (False, True):
        for reader in (precedence, left_to_right):
            answers = [bool(reader(written, world, term_scope=term_scope)) for world in WORLDS]
            assert answers == expected
    assert not expression.scope_matters(written)


@examples(50)
@given(MATCHING)
def test_with_match_readers_agree_unless_said_otherwise(expr):
    written = expression.write(expr)
    expected = table(truth, expr)
    assert table(precedence, written) == table(left_to_right, written) == expected
    if not expression.scope_matters(written):
        for reader in (precedence, left_to_right):
            assert [bool(reader(written, world, term_scope=True)) for world in WORLDS] == expected


@examples(50)
@given(PREFERRING)
def test_writing_and_reading_keeps_the_truth(expr):
    written = expression.write(expr)
    again = expression.parse(written)
    assert table(truth, expression.parse(expression.write(again))) == table(truth, again)
    if not has_not_wish(expr):
        assert table(truth, again) == table(truth, expr)


@examples(50)
@given(WISHING)
def test_writing_and_reading_keeps_truth_and_scores(expr):
    again = expression.parse(expression.write(expr))
    if not has_not_wish(expr):
        assert table(truth, again) == table(truth, expr)
        assert names_of(again) == names_of(expr)
        assert scores(again) == scores(expr)


@examples(50)
@given(balanced(weighted=True))
def test_what_was_read_is_written_with_the_same_truth_and_scores(items):
    read = expression.parse(items)
    again = expression.parse(expression.write(read))
    assert table(truth, again) == table(truth, read)
    assert scores(again) == scores(read)


@examples(50)
@given(balanced(weighted=True))
def test_3_1_weights_are_shares_of_a_sum_by_parenthesis_level(items):
    levels, here, count = [], [0], 0
    for item in items:
        group = int(item.attributes.get("group", 0))
        for _ in range(group):
            count += 1
            here.append(count)
        levels.append((here[-1], item.name, expression.weight(item) > 0))
        del here[len(here) + min(group, 0) :]
    sums = Counter()
    for level, item in zip(levels, items, strict=True):
        sums[level] += abs(expression.weight(item))
    marked = [item.having(mark=str(place)) for place, item in enumerate(items)]
    for members, total in totals(pushed(expression.parse(marked), Leaf)):
        place = int(members[0].comparison.item.attributes["mark"])
        assert total == sums[levels[place]]


def totals(part):
    match part:
        case All(parts) | Any(parts):
            for inner in parts:
                yield from totals(inner)
        case Preferred(members, _, _, total) | Wished(members, _, total):
            yield members, total


def scores(expr):
    """The score in each world that satisfies it (3.3), from the tree alone."""
    return [score(expr, world) if truth(expr, world) else None for world in WORLDS]


def score(expr, world):
    return (
        Fraction(0)
        if not truth(expr, world)
        else sum(shares(expr, world, False, tree.sums([expr])).values(), Fraction(0))
    )


def shares(expr, world, negate, sums):
    """The share of each group that counts once, or of a place of its own."""
    match expr:
        case Not(Not(operand)):
            return shares(operand, world, negate, sums)
        case Not(Wish(members, avoid)):
            return shares(Wish(members, not avoid), world, negate, sums)
        case Not(operand):
            return shares(operand, world, not negate, sums)
        case OneOf(members) | Wish(members) if not negate:
            total = sums[tree.group(members)]
            avoid = isinstance(expr, Wish) and expr.avoid
            held = [
                abs(expression.weight(m.item)) for m in members if holds(m.item, world) != avoid
            ]
            if isinstance(expr, OneOf):
                return {tree.group(members): Fraction(max(held, default=0), total)}
            return {object(): Fraction(sum(held), total)}
        case And(operands) | Or(operands):
            level = tree.sums(operands) if tree.is_level(expr) else sums
            every = [
                (bool(truth(each, world)) != negate, shares(each, world, negate, level))
                for each in operands
            ]
            if len(every) == 1 and not tree.is_level(expr):
                return every[0][1]
            if isinstance(expr, And) != negate:
                found = {}
                for _, each in every:
                    for group, share in each.items():
                        found[group] = max(share, found.get(group, share))
                return found if tree.is_level(expr) is False else {object(): sum_of(found)}
            best = max(((held, sum_of(each)) for held, each in every), default=(False, Fraction(0)))
            return {object(): best[1]}
    return {}


def sum_of(found):
    return sum(found.values(), Fraction(0))


def has_not_wish(expr):
    """Not of nothing but a wish: reading never makes it, and writing wishes the contrary."""
    match expr:
        case Not(operand) if only_wish(operand):
            return True
        case Not(operand):
            return has_not_wish(operand)
        case And(operands) | Or(operands):
            return any(map(has_not_wish, operands))
    return False


def only_wish(expr):
    match expr:
        case And((operand,)) | Or((operand,)) | Not(operand):
            return only_wish(operand)
    return isinstance(expr, Wish)


def names_of(expr):
    return sorted((c.item.name, c.item.text) for c in expression.comparisons(expr))


# Alternatives and intervals


def listed(expr, limit=64):
    return [str(found) for found in expression.alternatives(expr, limit)]


# fmt: off
ALTERNATIVES = [
    pytest.param(asked(), ["()"], id="nothing requested is one empty alternative"),
    pytest.param(asked("A 1", "B 2"), ["(A EQ 1 And B EQ 2)"], id="a plain And is one"),
    pytest.param(asked("P group=1 12", "P conj=Or group=-1 16", "M 512"),
        ["(P EQ 12 And M EQ 512)", "(P EQ 16 And M EQ 512)"], id="document order"),
    pytest.param(asked("M preference=1 512", "M preference=2 1024", "A 1"),
        ["(M EQ 1024 And A EQ 1)", "(M EQ 512 And A EQ 1)"], id="best preference first"),
    pytest.param(asked("M preference=1 512", "M conj=Or preference=2 1024"),
        ["(M EQ 1024)", "(M EQ 512)"], id="weights of one level are one sum"),
    pytest.param(asked("M 1", "F preference=-1 x"), ["(M EQ 1)"], id="wishes bind nothing"),
    pytest.param(asked("A 1", "B conj=Nand group=1 op=GE 2", "C op=Match group=-1 x"),
        ["(A EQ 1 And B LT 2)", "(A EQ 1 And Not C Match x)"], id="negations reach the terms"),
    pytest.param(asked("A 1", "M conj=Nand preference=1 2", "M preference=1 3"),
        ["(A EQ 1 And M NE 2 And M NE 3)"], id="none of the preferences"),
]
# fmt: on


@pytest.mark.parametrize(("properties", "found"), ALTERNATIVES)
def test_alternatives_are_listed(properties, found):
    assert listed(expression.parse(properties)) == found


def test_scores_are_shares_of_the_sum():
    read = expression.parse(asked("M preference=2 2", "M preference=1 1", "F preference=1 x"))
    scores = [found.score for found in expression.alternatives(read)]
    assert scores == [Fraction(5, 3), Fraction(4, 3)]


def test_of_two_runs_of_one_group_the_heaviest_counts():
    read = expression.parse(asked("F preference=2 a", "F conj=And preference=1 b"))
    assert [found.score for found in expression.alternatives(read)] == [Fraction(2, 3)]


def test_sums_are_those_of_a_parenthesis_level():
    rows = asked("F preference=1 a", "F conj=Or preference=3 b", "Q 1")
    scores = [found.score for found in expression.alternatives(expression.parse(rows))]
    assert scores == [Fraction(3, 4), Fraction(1, 4)]
    first = asked("F preference=3 b", "Q 1", "F conj=Or preference=1 a")
    assert expression.write(expression.parse(rows)) == first  # as all readers take it


def test_alternatives_of_many_groups_cost_no_more_than_the_limit():
    pair = asked("A group=1 1", "A conj=Or group=-1 2")
    found = expression.alternatives(expression.parse(pair * 1000), limit=64)
    assert len(found) == 64
    assert not found.complete
    assert set(map(len, (one.terms for one in found))) == {1000}


def test_exactly_as_many_alternatives_as_the_limit_are_complete():
    pair = asked("A group=1 1", "A conj=Or group=-1 2")
    assert expression.alternatives(expression.parse(pair * 6), limit=64).complete
    assert not expression.alternatives(expression.parse(pair * 6), limit=63).complete


def test_a_limit_keeps_the_best():
    run = asked(*(f"M preference={weight} {weight}" for weight in (1, 5, 3)))
    read = expression.parse(run + asked("N preference=1 1", "N preference=2 2"))
    assert listed(read, 3) == listed(read)[:3]
    assert listed(read, 1) == ["(M EQ 5 And N EQ 2)"]


@given(PREFERRING, st.integers(1, 70))
def test_alternatives_mean_what_the_expression_means(expr, limit):
    again = expression.parse(expression.write(expr))
    found = expression.alternatives(again, limit)
    assert len(found) <= limit
    assert [a.score for a in found] == sorted((a.score for a in found), reverse=True)
    if found.complete:
        either = Or(tuple(And(one.terms) for one in found))
        assert table(truth, either) == table(truth, again)


GB = 2**30
# fmt: off
INTERVALS = [
    pytest.param(asked("P op=GE 8", "P op=LE 16"), "P", Interval(Fraction(8), Fraction(16)), id="8.1 example 1"),
    pytest.param(asked("P 8"), "P", Interval(Fraction(8), Fraction(8)), id="EQ is a point"),
    pytest.param(asked("P op=GT 8", "P op=GE 8", "P op=LT 9"), "P", Interval(Fraction(8), Fraction(9), True, True), id="the stricter bound counts"),
    pytest.param(asked("P op=GE 8", "P op=GT 8"), "P", Interval(Fraction(8), None, True), id="in any order"),
    pytest.param(asked("P op=GT 8", "P op=GE 9"), "P", Interval(Fraction(9)), id="a later one closes it"),
    pytest.param(asked("P op=NE 8"), "P", Interval(excluded=frozenset([Fraction(8)])), id="NE removes a point"),
    pytest.param(asked("Q 8", "P op=Match x"), "P", Interval(), id="others and Match bound nothing"),
    pytest.param(asked("Memory op=GE units=GB 2", "Memory op=LE 4096"), "Memory", Interval(Fraction(2 * GB), Fraction(4 * GB)), id="bytes"),
    pytest.param(asked("Duration op=LE 01:00:00"), "Duration", Interval(None, Fraction(3600)), id="seconds"),
    pytest.param(asked("Network 1.5"), "Network", Interval(Fraction(3, 2), Fraction(3, 2)), id="no unit is assumed for Network"),
    pytest.param(asked("Resource name=a 1", "Resource name=b 2"), "Resource[name='a']", Interval(Fraction(1), Fraction(1)), id="one Resource"),
]
# fmt: on


@pytest.mark.parametrize(("properties", "name", "expected"), INTERVALS)
def test_intervals_are_what_the_terms_leave(properties, name, expected):
    assert expression.interval(map(Comparison, properties), name) == expected


def test_the_amount_may_be_read_otherwise():
    terms = map(Comparison, asked("Memory 1"))
    found = expression.interval(terms, "Memory", amount=lambda item: Fraction(item.text))
    assert found.hi == 1


def test_an_amount_that_is_no_number_is_refused():
    with pytest.raises(InvalidValue):
        expression.interval(map(Comparison, asked("Memory lots")), "Memory")


@pytest.mark.parametrize(
    ("properties", "empty", "whole"),
    [
        pytest.param(asked("P 12", "P 16"), True, True, id="12 and 16"),
        pytest.param(asked("P op=GT 4", "P op=LT 5"), False, True, id="between 4 and 5 only fractions"),
        pytest.param(asked("P op=GE 4", "P op=LT 4"), True, True, id="at least and below"),
        pytest.param(asked("P 4", "P op=NE 4"), True, True, id="a point removed"),
        pytest.param(asked("P op=GE 4", "P op=LE 5", "P op=NE 4"), False, False, id="an end removed"),
        pytest.param(asked("P op=GE 4", "P op=LE 5", "P op=NE 4", "P op=NE 5"), False, True, id="both ends removed"),
        pytest.param(asked("P op=GE 4"), False, False, id="no upper bound"),
    ],
)  # fmt: skip
def test_empty_intervals_are_known(properties, empty, whole):
    found = expression.interval(map(Comparison, properties), "P")
    assert (found.empty, found.integers().empty) == (empty, whole)


@given(st.lists(properties(tuple(expression.INVERSES)), max_size=5))
def test_an_interval_holds_exactly_the_numbers_that_the_terms_do(items):
    terms = [Comparison(Property("A", item.text, item.attributes)) for item in items]
    found = expression.interval(terms, "A")
    for number in map(Fraction, range(5)):
        expected = all(holds(term.item, {"A": number}) for term in terms)
        assert (number in found) == (number in found.integers()) == expected
