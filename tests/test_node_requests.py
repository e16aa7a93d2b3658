"""Requests for nodes and counts, against every set of nodes there is (``node_oracle``)."""

from itertools import chain

import node_oracle as oracle
import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from node_oracle import Counts, CountTerm, NodeTerm

from sssjob import layout, nodes
from sssjob.amounts import Scope
from sssjob.errors import InvalidJob, InvalidValue, Severity
from sssjob.expression import And, Comparison, Or, write
from sssjob.expression.lint import lint
from sssjob.model import Job, Property, Requested, Task, TaskGroup
from sssjob.placement import place
from sssjob.registry import all_targets
from sssjob.submission.at_once import submission
from sssjob.systems.condor.hooks.candidates import _NoAd, ads_of
from sssjob.systems.condor.task_groups import to_ads
from sssjob.translate import Settings, Untranslatable, translate

TARGETS = sorted(all_targets().keys() - {"sss", "dagman"})
OFFERS = [{"id": name, "Processors": 64} for name in (*oracle.NAMES, *oracle.OTHERS)]

NAMED = st.sampled_from(oracle.NAMES).map(lambda name: NodeTerm((name,)))
EXCLUDED = st.sampled_from(oracle.NAMES).map(lambda name: NodeTerm((name,), excludes=True))
LISTED = st.builds(
    lambda names, count: NodeTerm(tuple(names), True, count),
    st.lists(st.sampled_from(oracle.NAMES), min_size=1, max_size=4, unique=True),
    st.none() | st.integers(1, 3),
)
EXCLUDED_LIST = LISTED.map(lambda term: term._replace(excludes=True))
NODE_TERM = st.one_of(NAMED, LISTED, EXCLUDED, EXCLUDED_LIST)
OPERATIONS = st.sampled_from([*oracle.ADMITS])
RANGES = st.tuples(OPERATIONS, st.integers(1, 4))
NUMBERED = st.builds(
    CountTerm, st.sampled_from(["NodeCount", "Processors"]), OPERATIONS, st.integers(1, 4)
)


def of_term(term):
    if isinstance(term, CountTerm):
        return Comparison(Property(term.name, str(term.number), {"op": term.op}))
    attributes = {"aggregation": "List"} if term.is_set else {}
    attributes |= {"count": str(term.count)} if term.count else {}
    attributes |= {"op": "NE"} if term.excludes else {}
    return Comparison(Property("Node", ",".join(term.names), attributes))


def job_of(
    branches, tasks=None, nodes=None, processors=None, spread=None, pins=(), policy="Reject"
):
    """A job that requests one of these branches."""
    parts = [And(tuple(map(of_term, terms))) for terms in branches]
    asked = [Or(tuple(parts)) if len(parts) > 1 else parts[0]]
    for name, said in (("NodeCount", nodes), ("Processors", processors)):
        if said is not None:
            asked.append(Comparison(Property(name, str(said[1]), {"op": said[0]})))
    own = [Property("Id", "1"), Property("Executable", "/bin/date")]
    own += [Property("TaskCount", str(tasks))] if tasks else []
    own += [Property("TaskDistribution", str(spread[1]), {"type": spread[0]})] if spread else []
    requested = Requested(tuple(write(And(tuple(asked)))))
    if pins:
        of_tasks = [
            Task((Property("Id", str(number)), *([Property("Node", name)] if name else [])))
            for number, name in enumerate(pins)
        ]
        group = TaskGroup((Property("Name", "a"), *own[2:], requested, *of_tasks))
        return Job((*own[:2], group), {"awarenessPolicy": policy})
    return Job((*own, requested), {"awarenessPolicy": policy})


def counts_of(tasks=None, nodes=None, processors=None, spread=None, pins=()):
    kind, number = spread or ("", None)
    return Counts(
        tasks, nodes and oracle.ADMITS[nodes[0]](nodes[1]),
        processors and oracle.ADMITS[processors[0]](processors[1]),
        number if kind == "TasksPerNode" else None, number if kind == "ProcessorsPerTask" else None,
        tuple(pins),
    )  # fmt: skip


SAID = st.fixed_dictionaries({}, optional={
    "tasks": st.integers(1, 6), "nodes": RANGES, "processors": RANGES,
    "spread": st.tuples(st.sampled_from(["TasksPerNode", "ProcessorsPerTask"]), st.integers(1, 3)),
})  # fmt: skip
TERMS = st.lists(st.one_of(NODE_TERM, NODE_TERM, NUMBERED), min_size=1, max_size=2)
BRANCHES = st.lists(TERMS, min_size=1, max_size=3)


def is_refused(job, target):
    try:
        translate(job, target, Settings(residual=False))
    except (Untranslatable, InvalidValue):
        return True
    return False


@examples(50)
@given(branches=BRANCHES, said=SAID)
def test_layouts_hold_where_there_are_such_nodes(branches, said):
    job, can_be = job_of(branches, **said), oracle.can_be_met(branches, counts_of(**said))
    found = layout.layouts(job)
    assert [each.holds for each in found.layouts] == [can_be] * len(found.layouts)
    errors = [each for each in found.findings if each.severity is Severity.ERROR]
    assert not (can_be and errors)
    assert can_be or errors or found.layouts


@examples(30)
@given(branches=BRANCHES, said=SAID)
def test_an_error_is_found_where_there_are_no_such_nodes(branches, said):
    job, can_be = job_of(branches, **said), oracle.can_be_met(branches, counts_of(**said))
    said_of = [*layout.check(job), *nodes.check(job), *lint(job.requested)]
    told = [each for each in said_of if each.severity is Severity.ERROR or each.code == "W-UNSAT"]
    assert bool(told) != can_be


@examples(30)
@given(branches=BRANCHES, said=SAID)
def test_a_placement_is_found_where_there_are_such_nodes(branches, said):
    job, can_be = job_of(branches, **said), oracle.can_be_met(branches, counts_of(**said))
    assert place(job, OFFERS, solver=False).placed == can_be


# decision 1142
PINS = st.lists(st.sampled_from((*oracle.NAMES[:4], "", "")), min_size=1, max_size=4)


@examples(60)
@given(branches=st.lists(TERMS, min_size=1, max_size=1), said=SAID, pins=PINS)
def test_nodes_that_tasks_name_are_held_against_the_request_by_layouts_and_placements(
    branches, said, pins
):
    can_be = oracle.can_be_met(branches, counts_of(**said, pins=pins))
    job = job_of(branches, **said, pins=pins)
    [unit] = layout.units(job)
    found = layout.layouts(unit.block, unit.path)
    holds = bool(found.layouts) and all(each.holds for each in found.layouts)
    assert holds == can_be
    said_of = [*layout.check(job), *lint(unit.block.requested)]
    told = [each for each in said_of if each.severity is Severity.ERROR or each.code == "W-UNSAT"]
    assert bool(told) != can_be
    assert place(job, OFFERS, solver=False).placed == can_be
    for laid in found.layouts if can_be else ():
        assert not any(pins) or all(share.tasks for share in laid.shares)
        for number, name in enumerate(pins if laid.shares else ()):
            on = [share.name for share in laid.shares if number in share.tasks]
            assert on == [name] if name else len(on) == 1


def without_count(term):
    return term._replace(count=None)


# decision 1143
@pytest.mark.parametrize("solver", [False, True])
@examples(40)
@given(
    terms=st.lists(NODE_TERM.map(without_count), min_size=1, max_size=2),
    sizes=st.lists(st.integers(1, 3), min_size=1, max_size=3),
    pins=st.lists(st.sampled_from(("n1", "n1", "n2", "m1", "", "")), min_size=1, max_size=6),
    first=st.integers(0, 1),
)
def test_a_geometry_has_its_tasks_on_the_nodes_that_these_name(solver, terms, sizes, pins, first):
    tasks = iter(range(first, first + sum(sizes)))
    parts = [[next(tasks) for _ in range(size)] for size in sizes]
    named = [{*pins[part[0] - first : part[-1] + 1 - first]} - {""} for part in parts]
    every = [*chain.from_iterable(named)]
    apart = all(len(names) < 2 for names in named) and len(every) == len({*every})
    counts = Counts(sum(sizes), frozenset({len(sizes)}), pins=tuple(every))
    can_be = apart and len(pins) <= sum(sizes) and oracle.can_be_met([terms], counts)
    text = "".join(f"{{{','.join(map(str, part))}}}" for part in parts)
    job = job_of([terms], spread=("Geometry", text), pins=pins)
    [unit] = layout.units(job)
    found = layout.layouts(unit.block, unit.path)
    assert (bool(found.layouts) and all(each.holds for each in found.layouts)) == can_be
    placed = place(job, OFFERS, solver=solver)
    assert placed.placed == can_be
    shown = (*found.layouts, *placed.groups) if can_be else ()
    for each in shown:
        assert [list(share.tasks) for share in each.shares] == parts
        for share, names in zip(each.shares, named, strict=True):
            assert not names or names == {share.name}


# decision 1143
@pytest.mark.parametrize("pins", [["n1"] * 4, ["", "n1", "n2"], ["n1", "n1", ""]])
def test_leniently_a_geometry_overrides_what_its_tasks_name(pins):
    job = job_of([[NodeTerm(("n1",))]], spread=("Geometry", "{0}{1,2}"), pins=pins)
    [unit] = layout.units(job)
    [laid] = layout.layouts(unit.block, unit.path, lenient=True).layouts
    assert {each.code for each in laid.findings} == {"W-COUNTS"}
    assert [list(share.tasks) for share in laid.shares] == [[0], [1, 2]]


def test_processors_of_a_job_and_of_its_only_group_are_held_against_each_other():
    def job(own, theirs):
        group = TaskGroup((Property("Name", "a"), Property("Processors", theirs)))
        return Job((Property("Id", "1"), Property("Processors", own), group))

    assert place(job("2", "2"), OFFERS).placed
    refused = place(job("4", "2"), OFFERS)
    assert not refused.placed
    assert "E-COUNTS" in [each.code for each in refused.findings]
    assert "E-COUNTS" in [each.code for each in layout.check(job("4", "2"))]


@examples(15)
@given(branches=BRANCHES, said=SAID)
def test_no_target_is_asked_for_what_no_nodes_can_be(branches, said):
    job = job_of(branches, **said)
    if not oracle.can_be_met(branches, counts_of(**said)):
        assert [target for target in TARGETS if not is_refused(job, target)] == []


@examples(15)
@given(branches=BRANCHES, said=SAID)
def test_a_target_refuses_what_it_refuses_of_each_alternative(branches, said):
    job, alone = job_of(branches, **said), [job_of([terms], **said) for terms in branches]
    for target in TARGETS:
        if is_refused(job, target):
            assert all(is_refused(each, target) for each in alone), target


# decision 1145
@examples(40)
@given(branches=BRANCHES, said=SAID)
def test_alternatives_that_no_nodes_can_meet_are_left_out_where_others_can_be_met(branches, said):
    if not oracle.can_be_met(branches, counts_of(**said)):
        return
    job = job_of(branches, **said)
    for each in Scope(job, "/Job").alternatives:
        alone = job.holding(
            Requested(tuple(write(And(each.terms)))) if isinstance(item, Requested) else item
            for item in job.items
        )
        [laid] = layout.layouts(alone).layouts
        assert laid.holds


@examples(30)
@given(branches=BRANCHES, said=SAID, policy=st.sampled_from(["Warn", "Ignore", "Reject"]))
def test_no_contradiction_is_told_of_an_ad_where_an_alternative_can_be_met(branches, said, policy):
    if not oracle.can_be_met(branches, counts_of(**said)):
        return
    for made in to_ads(job_of(branches, **said, policy=policy)):
        told = " ".join(each.message for each in made.findings)
        assert "does not hold" not in told
        assert "are wanted of a set" not in told


def ad_is_refused(job):
    return not all(made.runs for made in to_ads(job))


def slot_is_refused(job):
    try:
        ads_of(job, "", lambda said: None)
    except _NoAd:
        return True
    return False


def submission_is_refused(job):
    try:
        submission(job, "slurm")
    except (InvalidJob, InvalidValue):
        return True
    return False


ROADS = {"ad": ad_is_refused, "slot": slot_is_refused, "submission": submission_is_refused}


# decision 1146
@pytest.mark.parametrize("refuses", ROADS.values(), ids=ROADS)
@examples(20)
@given(branches=BRANCHES, said=SAID, policy=st.sampled_from(["Warn", "Reject"]))
def test_each_road_refuses_what_it_refuses_of_each_alternative(refuses, branches, said, policy):
    job = job_of(branches, **said, policy=policy)
    if refuses(job):
        assert all(refuses(job_of([terms], **said, policy=policy)) for terms in branches)


NO_CHOICE = {
    "one name for two nodes, beside what is excluded":
        [[NodeTerm(("n1",)), NodeTerm(("n2",), excludes=True)]],
    "one name twice for two nodes": [[NodeTerm(("n1",)), NodeTerm(("n1",))]],
}  # fmt: skip


@pytest.mark.parametrize("branches", NO_CHOICE.values(), ids=NO_CHOICE)
@pytest.mark.parametrize("target", ["lsf", "flux", "flux-canonical"])
def test_each_of_several_nodes_is_not_asked_to_be_one(branches, target):
    assert is_refused(job_of(branches, nodes=("EQ", 2)), target)


@pytest.mark.parametrize("target", ["lsf", "flux", "flux-canonical"])
def test_of_a_choice_between_names_no_more_nodes_are_asked_for_than_there_are_names(target):
    either = [[NodeTerm((name,))] for name in ("n1", "n2")]
    assert not is_refused(job_of(either, nodes=("EQ", 2)), target)
    assert is_refused(job_of(either, nodes=("EQ", 3)), target)


def test_a_list_is_chosen_where_a_name_alone_has_no_place():
    branches = [[NodeTerm(("n3",))], [NodeTerm(("n2", "n1"), True)]]
    job = job_of(branches, nodes=("EQ", 2))
    for target in ("lsf", "flux", "flux-canonical", "jsdl"):
        assert not is_refused(job, target), target
