"""What names of nodes contradict each other is the same for requests and layouts (1107)."""

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from translated import requested, wrapped

from sssjob import layout, loads
from sssjob.errors import Severity
from sssjob.expression import Comparison, Not, all_of, alternatives, write
from sssjob.expression.asked_names import names_in
from sssjob.expression.conflicts import conflict
from sssjob.expression.tree import inverse
from sssjob.model import Job, Property, Requested
from sssjob.translate import Settings, Untranslatable, translate

NAMES = ("n1", "n2", "n3", "m1", "other")
SETS = {
    "n1": {}, "n2": {}, "m1": {},
    "n1,n2": {"aggregation": "List"}, "n2,n3": {"aggregation": "List"},
    "n[1-3]": {"aggregation": "Range"}, "m1,n3": {"aggregation": "List"},
    "n[2-2]": {"aggregation": "Range"}, "n3,n3": {"aggregation": "List"},
}  # fmt: skip


def term(text, op, negated):
    made = Comparison(Property("Node", text, {**SETS[text], **({"op": op} if op else {})}))
    return inverse(made) if negated else made


TERMS = st.builds(term, st.sampled_from(sorted(SETS)), st.sampled_from(("", "NE")), st.booleans())


def can_be_met(terms):
    """Whether some nodes satisfy all, by trying each name: a second opinion."""
    said = [(names_in(each), {*names_in(each).names}) for each in terms]
    may_be = {
        name
        for name in NAMES
        if not any(each.excludes and name in texts for each, texts in said)
        and all(name in texts for each, texts in said if each.is_one_of)
    }
    wanted = [texts for each, texts in said if not each.excludes]
    return bool(may_be) and all(texts & may_be for texts in wanted)


def is_laid_out(terms, tasks=()):
    items = (Property("Id", "1"), *tasks, Requested(tuple(write(all_of(terms)))))
    return all(each.severity is not Severity.ERROR for each in layout.check(Job(items)))


@examples(300)
@given(st.lists(TERMS, min_size=1, max_size=4))
def test_names_contradict_each_other_for_a_request_as_for_a_layout(terms):
    [one] = alternatives(all_of(terms))
    assert bool(conflict(one)) is not can_be_met(terms)
    if not conflict(one):
        assert is_laid_out(terms)
    else:
        assert not is_laid_out(terms)
        assert not is_laid_out(terms, (Property("TaskCount", "8"),))


PATTERN = Comparison(Property("Node", "n.*", {"aggregation": "Pattern"}))
MATCH = Comparison(Property("Node", "n.*", {"op": "Match"}))
UNMATCHED = Comparison(Property("Node", "n.*", {"aggregation": "Pattern", "op": "NE"}))


@pytest.mark.parametrize("tasks", [(), (Property("TaskCount", "2"),)])
@pytest.mark.parametrize("first", [PATTERN, MATCH, Not(UNMATCHED)])
@pytest.mark.parametrize("second", [UNMATCHED, Not(PATTERN), Not(MATCH)])
def test_no_node_has_a_name_that_a_pattern_matches_and_does_not(first, second, tasks):
    for terms in ([first, second], [second, first]):
        [one] = alternatives(all_of(terms))
        assert conflict(one)
        assert not is_laid_out(terms, tasks)


@pytest.mark.parametrize("name, text, several", [
    ("Node", "n2", {"aggregation": "List"}), ("Node", "n2,n2", {"aggregation": "List"}),
    ("Node", "n[2-2]", {"aggregation": "Range"}), ("Node", "n2,", {"aggregation": "List"}),
    ("Feature", "n2", {"aggregation": "List"}),
    ("Feature", "n2;n2", {"aggregation": "List", "delimiter": ";"}),
])  # fmt: skip
@pytest.mark.parametrize("op", ["EQ", "NE"])
def test_not_of_a_list_of_one_name_is_not_of_that_name(name, text, several, op):
    said = {} if op == "EQ" else {"op": op}
    of_one = inverse(Comparison(Property(name, text, {**several, **said})))
    assert of_one == inverse(Comparison(Property(name, "n2", said)))


@pytest.mark.parametrize("name, text, attributes", [
    ("Node", "n1,n2", {"aggregation": "List"}), ("Node", "n[1-2]", {"aggregation": "Range"}),
    ("Node", "n2", {"aggregation": "Pattern"}), ("Node", "n[", {"aggregation": "Range"}),
    ("Node", ",", {"aggregation": "List"}), ("Architecture", "x", {"aggregation": "List"}),
])  # fmt: skip
def test_not_of_what_is_no_name_stays_not(name, text, attributes):
    compared = Comparison(Property(name, text, {**attributes, "op": "NE"}))
    assert inverse(compared) == Not(compared)


TARGETS = ("sbatch", "slurmrest", "pbs", "torque", "sge", "lsf", "condor", "flux", "jsdl", "psij")


def written(target, node):
    try:
        return translate(loads(wrapped(requested(node))), target, Settings(residual=False)).text
    except Untranslatable:
        return None


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("beside", ["", "<Node>n4</Node>", '<Node op="NE">n4</Node>'])
@pytest.mark.parametrize("op", ["", ' op="NE"'])
def test_a_target_writes_not_of_a_list_of_one_name_as_not_of_that_name(target, beside, op):
    one = f'<Node{op} conj="Nand">n2</Node>{beside}'
    listed = f'<Node aggregation="List"{op} conj="Nand">n2</Node>{beside}'
    ranged = f'<Node aggregation="Range"{op} conj="Nand">n[2-2]</Node>{beside}'
    assert written(target, one) == written(target, listed) == written(target, ranged)
