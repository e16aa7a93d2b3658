"""Each road takes the same choice of a job with its only task group, where both have alternatives.

That is the first of those of both, best first, that can be met (decisions 1117, 1161, 1162).
"""

import re

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from test_named_nodes import READERS, ROADS, differences
from translated import wrapped

from sssjob import layout, loads
from sssjob.amounts import Scope
from sssjob.features.derive import derive
from sssjob.lcginfo.jobs import from_job
from sssjob.submission.at_once import submission


def requested(inner):
    return f"<Requested>{inner}</Requested>" if inner else ""


def group(inner):
    return f"<TaskGroup><Name>a</Name>{inner}</TaskGroup>"


def either(first, second):
    """One or the other: the second is a property without attributes, or with some."""
    name, rest = second[1:].split(">", 1)
    return requested(f'{first}<{name} conj="Or">{rest}')


def preferred(name, number, preference):
    return f'<{name} preference="{preference}">{number}</{name}>'


P2, P4, N3, N2 = (
    f"<{name}>{number}</{name}>"
    for name, number in (("Processors", 2), ("Processors", 4), ("NodeCount", 3), ("NodeCount", 2))
)
F, G, A = "<Feature>f</Feature>", "<Feature>g</Feature>", "<Architecture>A</Architecture>"
B, M1, M3 = "<Architecture>B</Architecture>", "<Memory>1</Memory>", "<Memory>3</Memory>"
BRACKETS = '<Processors group="1">4</Processors><NodeCount group="-1">2</NodeCount>'
# What a job and its only group say, and on how many processors and nodes that is.
CASES = {
    "tasks or a feature, and memory or an architecture":
        (either(P2, G), group(either(M3, A)), 2, None),
    "fewer tasks than the group has nodes":
        (either(P2, G), group(either(N3, A)), 2, None),
    "more nodes than the group has tasks":
        (either(N3, G), group(either(P2, A)), 3, 3),
    "two numbers of tasks and two of nodes":
        (either(P2, P4), group(either(N3, N2)), 2, 2),
    "a number beside a feature of the group":
        (either(P4, F), group(requested(G)), 4, None),
    "a number beside a feature that the group says outside of its request":
        (either(P4, F), group(G), 4, None),
    "a number beside the tasks of the group":
        (either(P4, F), group("<TaskCount>2</TaskCount>"), 4, None),
    "a number beside a group that requests nothing":
        (either(P4, M1), group("<Application>g</Application>"), 4, None),
    "a number or memory, beside a feature of the group":
        (either(P4, M1), group(requested(G)), 4, None),
    "nodes beside a feature of the group":
        (either(N3, F), group(requested(G)), 3, 3),
    "the tasks of the job beside a number or a feature":
        ("<TaskCount>2</TaskCount>", group(either(P4, F)), 4, None),
    "a number that is joined to nodes, of which the group says another":
        (either(P4, N2), group(N3), 3, 3),
    "a number that is joined to an architecture, of which the group requests another":
        (either(P4, B), group(requested(A)), 1, None),
    "brackets that say nothing":
        (requested(BRACKETS), group(N3), 4, 3),
    "brackets that say nothing, beside a wish":
        (requested(f'{BRACKETS}<Feature preference="-1">f</Feature>'), group(N3), 4, 3),
    "brackets that say nothing, beside a feature":
        (requested(BRACKETS + F), group(N3), 4, 3),
    "a feature that the group does not want, or a number": (
        either('<Feature op="NE">f</Feature>', P2), group(requested(F)), 2, None,
    ),
    "a feature that the job requests and the group does not want, or a number":
        (requested(F), group(either('<Feature op="NE">f</Feature>', P2)), 2, None),
    "preferred numbers of both": (
        requested(preferred("Processors", 2, 1) + preferred("Processors", 4, 3)),
        group(requested(preferred("NodeCount", 2, 1) + preferred("NodeCount", 1, 2))),
        4, 1,
    ),
}  # fmt: skip


def first_layout(job):
    [unit] = layout.units(job)
    found = layout.layouts(unit.block, unit.path).layouts[0]
    return int(found.processors.value), None if found.nodes is None else int(found.nodes.value)


def holds(job):
    [unit] = layout.units(job)
    found = layout.layouts(unit.block, unit.path).layouts
    return bool(found) and found[0].holds


def cpucount(job):
    return from_job(job, queue="q", group="g").cpucount


def with_policy(policy, inner):
    return loads(wrapped(inner).replace("<Job>", f'<Job awarenessPolicy="{policy}">'))


@pytest.mark.parametrize("policy", ["Warn", "Reject"])
@pytest.mark.parametrize("own, inner, processors, nodes", CASES.values(), ids=CASES)
def test_all_who_count_take_the_first_choice_that_can_be_met(own, inner, processors, nodes, policy):
    job = with_policy(policy, own + inner)
    found, on = first_layout(job)
    assert (found, nodes and on) == (processors, nodes)
    assert cpucount(job) == processors
    assert derive(job, starting=True).values["allocated_cpu"] == processors


@pytest.mark.parametrize("own, inner, processors, nodes", CASES.values(), ids=CASES)
def test_so_do_targets_ads_and_places(own, inner, processors, nodes):
    del processors, nodes  # of the layout
    assert differences(with_policy("Warn", own + inner), set(ROADS) - {"place"}) == {}


@pytest.mark.parametrize("own, inner, processors, nodes", CASES.values(), ids=CASES)
def test_so_does_what_is_submitted(own, inner, processors, nodes):
    """With the features of a job, the options are arguments of the command."""
    job = with_policy("Warn", own + inner)
    options = [each for each in submission(job, "slurm").command if each.startswith("--")]
    asked = READERS["sbatch"]("".join(f"#SBATCH {each}\n" for each in options))
    assert (asked.processors, nodes and asked.nodes) == (processors, nodes)


WISH = '<Feature preference="-1">w</Feature>'
PARTS = st.sampled_from((
    P2, P4, N3, N2, F, G, A, B, M1, M3, '<Processors op="GE">3</Processors>',
    '<NodeCount op="LE">2</NodeCount>', '<NodeCount op="GE">2</NodeCount>',
))  # fmt: skip


def joined(first, second, word):
    name, rest = re.match(r"<(\w+)(.*)", second).groups()
    return f'{first}<{name} conj="{word}"{rest}'


def bracketed(first, second):
    return re.sub(r"^<(\w+)", r'<\1 group="1"', first) + re.sub(
        r"^<(\w+)", r'<\1 group="-1"', second
    )


REQUESTS = st.one_of(
    PARTS,
    st.builds(joined, PARTS, PARTS, st.sampled_from(("Or", "Or", "Or", "And"))),
    st.builds(bracketed, PARTS, PARTS),
    st.just(""),
)
SAID = st.tuples(
    st.sampled_from(("", "", "<TaskCount>4</TaskCount>", "<NodeCount>3</NodeCount>", F, A)),
    REQUESTS,
    st.sampled_from(("", "", WISH)),
)


@examples(120)
@given(own=SAID, inner=SAID)
def test_all_roads_count_the_same_whatever_is_joined_on_either_side(own, inner):
    texts = [outside + requested(asked + wish) for outside, asked, wish in (own, inner)]
    job = with_policy("Warn", texts[0] + group(texts[1]))
    if not Scope(job, "/Job").choices or not holds(job):
        return
    processors, _ = first_layout(job)
    assert cpucount(job) == processors
    assert derive(job, starting=True).values["allocated_cpu"] == processors
    assert differences(job, set(ROADS) - {"place"}) == {}
