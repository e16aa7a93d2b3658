"""Lint (2.2 to 2.6, 2.10): what is probably not meant, where, and what is silent."""

# ruff: noqa: E501 - a case is one line of its table

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob import expression
from sssjob.expression import And, Comparison, Not, OneOf, Or, Wish
from sssjob.expression.lint import lint
from sssjob.model import Property


def asked(*rows):
    properties = []
    for row in rows:
        name, *attributes, value = row.split(" ")
        properties.append(Property(name, value, dict(pair.split("=") for pair in attributes)))
    return tuple(properties)


def said(rows, **options):
    return [(found.code, found.path) for found in lint(asked(*rows), **options)]


# fmt: off
FOUND = [
    pytest.param(("Processors 12", "Processors conj=Or 16", "Memory 512"), [("W-MIXED", "Memory")], id="2.6 And behind Or"),
    pytest.param(("Processors group=1 12", "Processors conj=Or group=-1 16", "Memory 512"), [], id="a group says what is meant"),
    pytest.param(("Memory 512", "Processors 12", "Processors conj=Or 16"), [], id="Or behind And is read alike"),
    pytest.param(("Processors op=GE 8", "Processors conj=Or op=GE 4", "Processors op=GE 2"), [], id="the readings do not differ"),
    pytest.param(("Processors op=GE 8", "Processors conj=Or op=GE 4", "Processors op=LE 2"), [("W-MIXED", "Processors[3]")], id="the readings differ for 8"),
    pytest.param(("User a", "User conj=Or b", "Queue x"), [("W-MIXED", "Queue")], id="of facts, too"),
    pytest.param(("User a", "User conj=Or b", "User op=NE c"), [], id="nobody is two users"),
    pytest.param(("Feature a", "Feature conj=Or b", "Feature op=NE c"), [("W-MIXED", "Feature[3]")], id="but there may be two features"),
    pytest.param(("User a", "User conj=Or b", "User op=NE a"), [("W-MIXED", "User[3]")], id="the readings differ for a"),
    pytest.param(("User a", "User conj=Or b", "User op=Match [^c]"), [("W-MIXED", "User[3]")], id="what a pattern matches is anybody's"),
    pytest.param(("User a", "Queue group=1 x", "Queue conj=Or y", "Project group=-1 p"), [("W-MIXED", "Project")], id="inside a group"),
    pytest.param(("Memory preference=2 2", "Memory preference=1 1"), [], id="a preference is one operand"),
    pytest.param(("Queue x", "Memory conj=Or preference=2 2", "Memory preference=1 1"), [], id="also behind Or"),
    pytest.param(("Queue a", "Queue conj=Or b", "Feature preference=-1 ib"), [], id="a wish behind Or excludes nothing"),
    pytest.param(("Queue a", "Queue conj=Or b", "Feature conj=Nand preference=-1 ib"), [], id="nor does what is to be avoided"),
    pytest.param(("User a", "Feature conj=Or preference=-1 ib", "Queue x"), [("W-MIXED", "Queue")], id="a wish before Or is always so, and what follows is not"),
    pytest.param(("Queue a", "Queue conj=Or b", "Queue conj=Nand c"), [], id="c is neither a nor b"),

    pytest.param(("Processors 12", "Processors 16"), [("W-UNSAT", "Processors[2]")], id="2.5 two numbers"),
    pytest.param(("User a", "User b"), [("W-UNSAT", "User[2]")], id="2.5 two users"),
    pytest.param(("Feature a", "Feature b"), [], id="2.5 two features"),
    pytest.param(("Feature a", "Feature op=NE a"), [("W-UNSAT", "Feature[2]")], id="a feature and its absence"),
    pytest.param(("Processors op=GT 4", "Processors op=LT 5"), [("W-UNSAT", "Processors[2]")], id="no whole number between"),
    pytest.param(("Memory op=GT 4", "Memory op=LT 5"), [], id="but an amount of memory"),
    pytest.param(("Memory op=GE units=GB 2", "Memory op=LE units=MB 1024"), [("W-UNSAT", "Memory[2]")], id="across units"),
    pytest.param(("Memory 1", "Memory context=Configured 2"), [], id="two contexts are two numbers"),
    pytest.param(("Resource name=a 1", "Resource name=b 2"), [], id="two resources"),
    pytest.param(("Processors 12", "Processors conj=Or 16"), [], id="either will do"),
    pytest.param(("Processors group=1 12", "Processors group=-1 16", "Queue conj=Or a"), [], id="another alternative is left"),
    pytest.param(("Processors op=GE 8", "Processors op=LE 16", "Processors op=NE 12"), [], id="a range with a hole"),
    pytest.param(("Processors op=GE 8", "Processors op=LE 9", "Processors op=NE 8", "Processors op=NE 9"), [("W-UNSAT", "Processors[4]")], id="a range of holes"),
    pytest.param(("Memory preference=2 1024", "Memory preference=1 512"), [], id="example 4 is no contradiction"),
    pytest.param(("Queue a", "Feature conj=Nand group=1 preference=-1 ib", "Queue conj=Or group=-1 b"), [("W-NOT-SCOPE", "Feature"), ("W-UNSAT", "Feature")], id="3.2 a wish is always so, and is negated"),
    pytest.param(("Queue a", "Feature conj=Nand preference=-1 ib"), [], id="what is to be avoided blocks nothing"),

    pytest.param(("Processors group=-1 12", "Processors conj=Or group=1 16"), [("W-GROUP-SWAP", "Processors[1]")], id="the elaborate example"),
    pytest.param(("User group=1 a",), [], id="what is wrong otherwise is for parse to say"),
    pytest.param(("Feature ib", "Architecture conj=Nand group=1 ppc", "OperatingSystem conj=Or group=-1 AIX"), [("W-NOT-SCOPE", "Architecture")], id="2.3 a negated group"),
    pytest.param(("Feature ib", "Architecture conj=Nand ppc"), [], id="a negated comparison"),
    pytest.param(("Feature conj=Nand ib",), [("W-NOT-SCOPE", "Feature")], id="2.4 a negation in front"),
    pytest.param(("Feature conj=Or ib",), [], id="2.4 an Or in front"),
    pytest.param(("Processors op=Match 1.*",), [("E-OP", "Processors")], id="2.10 Match on a number"),
    pytest.param(("Node op=Match a(?R)",), [("E-OP", "Node")], id="2.10 a pattern that is refused"),
    pytest.param(("Node op=GT a",), [("E-OP", "Node")], id="nodes have no order"),
    pytest.param(("Node aggregation=Range n[1-3",), [("E-TYPE", "Node")], id="a range that is none"),
    pytest.param((), [], id="nothing"),
]
# fmt: on


@pytest.mark.parametrize(("rows", "expected"), FOUND)
def test_what_is_probably_not_meant_is_said(rows, expected):
    assert said(rows) == expected


NODES = ("node1", "node12", "xnode3")


def test_2_10_a_pattern_that_a_part_would_satisfy_is_told_over_a_list_of_nodes():
    assert said(["Node op=Match node[1-5]"], nodes=NODES) == [("W-ANCHOR", "Node")]
    assert said(["Node aggregation=Pattern node[1-5]"], nodes=NODES) == [("W-ANCHOR", "Node")]
    assert said(["Node op=Match .*node[1-5].*"], nodes=NODES) == []
    assert said(["Node op=Match node[1-5]"]) == []


def test_messages_name_both_sides():
    (found,) = lint(asked("Processors 12", "Processors 16"))
    assert found.message == "Processors EQ 12 and Processors EQ 16 cannot hold together"
    assert found.suggestion == "write Or if one of them is enough"


def test_large_requests_are_bounded():
    pairs = ("A group=1 1", "A conj=Or group=-1 2")
    assert said(pairs * 40) == []
    mixed = [f"A conj={('Or', 'And')[n % 2]} {n}" for n in range(3000)]
    assert [code for code, _ in said(mixed)] == ["W-MIXED"]
    assert len(said(["Feature ib"] * 5000)) == 0


OPS = ("EQ", "NE", "LT", "LE", "GT", "GE")
items = st.builds(
    lambda name, value, op, conj: Property(name, value, {"op": op, "conj": conj}),
    st.sampled_from(("Processors", "NodeCount")), st.integers(1, 4), st.sampled_from(OPS),
    st.sampled_from(("And", "Or", "Nand", "Nor")),
)  # fmt: skip


def true(expr, world):
    match expr:
        case Comparison(item):
            have, want = world[item.name], int(item.text)
            return {"EQ": have == want, "NE": have != want, "LT": have < want,
                    "LE": have <= want, "GT": have > want, "GE": have >= want}[expr.op]  # fmt: skip
        case Not(operand):
            return not true(operand, world)
        case And(operands):
            return all(true(operand, world) for operand in operands)
        case Or(operands) | OneOf(operands):
            return any(true(operand, world) for operand in operands)
        case Wish():
            return True


WORLDS = [{"Processors": a, "NodeCount": b} for a in range(1, 7) for b in range(1, 7)]


@given(st.lists(items, min_size=1, max_size=5))
def test_w_mixed_is_said_exactly_where_the_readings_differ(properties):
    ours, other = expression.parse(properties), expression.parse(properties, precedence=False)
    differ = any(true(ours, world) != true(other, world) for world in WORLDS)
    assert ("W-MIXED" in {found.code for found in lint(properties)}) == differ


@given(st.lists(items, min_size=2, max_size=4))
def test_w_unsat_is_said_only_where_nothing_satisfies(properties):
    if "W-UNSAT" in {found.code for found in lint(properties)}:
        assert not any(true(expression.parse(properties), world) for world in WORLDS)
