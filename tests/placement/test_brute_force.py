"""Placements against an oracle that tries every spread of the tasks."""

import itertools
from collections import Counter

import place_oracle as oracle
import pytest
from draws import examples
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from sssjob import dumps
from sssjob.expression import parse
from sssjob.expression.evaluate import Request, Verdict
from sssjob.expression.offer import Offer
from sssjob.layout import units
from sssjob.matching import Asker
from sssjob.model import Job, Property, Requested, Task, TaskGroup
from sssjob.placement import Nodes, place
from sssjob.placement.demand import demanded
from sssjob.placement.matching import Market
from sssjob.placement.search import best
from sssjob.placement.solving import Budget
from sssjob.verbs.match import requests

CASES = 150

pytestmark = pytest.mark.explore

FACTS = {"Feature": ("ib", "ssd"), "Queue": ("a", "b"), "Architecture": ("x86", "ppc")}
HALVES = ("0.5", "1", "1.5", "2", "3")
OPERATIONS = ("EQ", "GE", "GE", "LE", "GT", "LT", "NE")


def requested(choose):
    """Up to four elements about what a node has, with any op, conj, group and preference."""
    count = choose.choice((0, 1, 2, 2, 3, 4))
    names = choose.sample(("Memory", "Disk", "Feature", "Architecture", "Queue", "Duration"), 2)
    depth, items = 0, []
    for index in range(count):
        name, attributes = choose.choice(names), {}
        if name in FACTS:
            op, text = choose.choice(("EQ", "EQ", "NE")), choose.choice(FACTS[name])
        elif name == "Duration":
            op, text = choose.choice(OPERATIONS), choose.choice(("1", "2", "3"))
        else:
            op, text = choose.choice(OPERATIONS), choose.choice(HALVES)
        attributes["op"] = op
        group = -depth if index == count - 1 else choose.choice((0, 0, 0, 1, -1))
        group = max(group, -depth)
        depth += group
        if group:
            attributes["group"] = str(group)
        if index and choose.random() < 0.4:
            attributes["conj"] = choose.choice(("And", "Or", "Or", "Nand", "Nor"))
        if choose.random() < 0.5:
            attributes["preference"] = choose.choice(("1", "2", "3", "-1", "-2", "-3"))
        items.append(Property(name, text, attributes))
    return items


def group(choose, names):
    """A task group for the oracle, and as an element."""
    tasks, each = choose.randint(1, 4), choose.choice((1, 1, 1, 2))
    request = requested(choose)
    items = [Property("TaskCount", tasks)]
    rows = list(request)
    low, high, shape, only, among, pins, other = 1, tasks, ("any",), (), (), {}, 0
    kind = choose.choice(
        ("open", "open", "nodes", "full", "even", "sizes", "least", "most", "other", "only", "pins")
    )
    number = choose.randint(1, min(tasks, len(names)))
    each_said = Property("TaskDistribution", each, {"type": "ProcessorsPerTask"})
    if kind in ("open", "nodes", "least", "only", "pins") and each > 1:
        items.append(each_said)
    else:
        each = 1
    if kind == "nodes":
        items.append(Property("NodeCount", number))
        low, high, shape = number, number, ("even",)
    elif kind == "least":
        rows.append(Property("NodeCount", number, {"op": "GE"}))
        low = number
        shape = ("even",) if low == high else ("any",)
    elif kind == "most":
        rows.append(Property("NodeCount", number, {"op": "LE"}))
        high = number
        shape = ("even",) if low == high else ("any",)
    elif kind == "other" and tasks > 1:
        rows.append(Property("NodeCount", number, {"op": "NE"}))
        other = number
        if number == 1:
            low = 2
            shape = ("even",) if low == high else ("any",)
    elif kind == "full":
        full = choose.randint(1, tasks)
        items.append(Property("TaskDistribution", full, {"type": "TasksPerNode"}))
        low = high = -(-tasks // full)
        if choose.random() < 0.3 and low < tasks:
            low = high = low + 1
            items.append(Property("NodeCount", low))
        elif choose.random() < 0.3:
            rows.append(Property("NodeCount", choose.randint(1, low), {"op": "GE"}))
        shape = ("full", full)
    elif kind == "even":
        items.append(Property("TaskDistribution", "RoundRobin", {"type": "Rule"}))
        shape = ("even",)
    elif kind == "sizes":
        sizes = [tasks] if tasks == 1 else choose.choice(([tasks], [1, tasks - 1], [tasks - 1, 1]))
        ends = [sum(sizes[:place]) for place in range(len(sizes) + 1)]
        text = "".join(
            f"{{{','.join(map(str, range(start, end)))}}}"
            for start, end in itertools.pairwise(ends)
        )
        items.append(Property("TaskDistribution", text, {"type": "Geometry"}))
        low = high = len(sizes)
        shape = ("sizes", tuple(sizes))
    elif kind == "only":
        only = tuple(choose.sample(names, choose.randint(number, len(names))))
        attributes = {"aggregation": "List", "count": str(number)}
        rows.append(Property("Node", ",".join(only), attributes))
        low, high, shape = number, number, ("even",)
    elif kind == "pins":
        pins = {choose.choice(names): 1}
        items += [_task(next(iter(pins)))] + [_task("") for _ in range(tasks - 1)]
    if choose.random() < 0.1 and kind == "nodes":
        among = (choose.choice(names),)
        rows.append(Property("Node", among[0]))
    if any(item.attributes.get("conj") in ("Or", "Nor") for item in request) and len(rows) > len(
        request
    ):
        rows = bracketed(request) + rows[len(request) :]
    made = oracle.Group(tasks, each, request, low, high, shape, only, among, pins, other=other)
    return made, (*items, *([Requested(tuple(rows))] if rows else []))


def bracketed(items):
    """The same elements in brackets, so that what follows is joined to all of them."""
    first, last = items[0], items[-1]
    if first is last:
        return items
    opened = first.having(group=str(int(first.attributes.get("group", "0")) + 1))
    closed = last.having(group=str(int(last.attributes.get("group", "0")) - 1))
    return [opened, *items[1:-1], closed]


def _task(name):
    return Task((Property("Node", name),)) if name else Task((Property("Id", "x"),))


def node(choose, name):
    """What is free on a node, for the oracle and as an offer."""
    given = {
        "Processors": choose.choice((None, "0", "1", "2", "3", "4", "5", "6", "8", "-1")),
        "Memory": choose.choice((None, "0", "0.5", "1.5", "2", "3.5", "6", "9")),
        "Disk": choose.choice((None, "1", "2.5", "4", "9")),
        "Duration": choose.choice((None, "1", "2", "3")),
        "Queue": choose.choice((None, "a", "b")),
        "Architecture": choose.choice((None, "x86", "ppc")),
    }
    facts = {(key, None): [text] for key, text in given.items() if text is not None}
    features = choose.sample(FACTS["Feature"], choose.randint(0, 2))
    if features:
        facts["Feature", None] = features
    properties = [Property(key, text) for (key, _), texts in facts.items() for text in texts]
    return oracle.Node(name, facts), Offer.of(name, properties)


def case(choose):
    """Groups and nodes for the oracle, and the same as a job and offers."""
    names = ["n1", "n2", "n3"][: choose.randint(1, 3)]
    nodes, offers = zip(*(node(choose, name) for name in names), strict=True)
    if choose.random() < 0.4:
        only, items = group(choose, names)
        is_whole = not any(isinstance(item, Task) for item in items)  # which only groups have
        job = Job((Property("Id", "1"), *(items if is_whole else (TaskGroup(items),))))
        return [only._replace(whole=is_whole)], nodes, job, offers
    made = [group(choose, names) for _ in range(choose.choice((1, 2, 2)))]
    groups = [each for each, _ in made]
    job = Job((Property("Id", "1"), *(TaskGroup(items) for _, items in made)))
    return groups, nodes, job, offers


@examples(CASES, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_the_solver_finds_what_trying_everything_finds(choose):
    groups, nodes, job, offers = case(choose)
    found, expected = place(job, offers, solver=True), oracle.best(groups, nodes)
    assert found.proved
    assert value(found) == expected, told(job, nodes)
    check(found, groups, nodes)


@examples(CASES, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_filling_places_and_what_it_proves_is_so(choose):
    groups, nodes, job, offers = case(choose)
    found, expected = place(job, offers, solver=False), oracle.best(groups, nodes)
    if found.proved:
        assert value(found) == expected, told(job, nodes)
    elif found.placed:
        assert value(found) <= expected, told(job, nodes)
    check(found, groups, nodes)


def told(job, nodes):
    return "\n".join((dumps(job), *map(str, nodes)))


def value(found):
    return (found.score, -len(found.nodes)) if found.placed else None


def check(found, groups, nodes):
    """What is said to be placed can be placed so, with that score at the least."""
    if not found.placed:
        return
    wheres = []
    for group, shown in zip(groups, found.groups, strict=True):
        where = {share.name: len(share.tasks) for share in shown.shares}
        every = sorted(task for share in shown.shares for task in share.tasks)
        assert len(where) == len(shown.shares)
        assert every == list(range(group.tasks))
        assert where in list(oracle.spreads(group, [node.name for node in nodes]))
        wheres.append(where)
    best = oracle.scored(groups, nodes, wheres)
    assert best is not None
    assert best >= found.score


@examples(CASES, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_without_any_one_of_the_reasons_there_is_a_placement(choose):
    _, nodes, job, offers = case(choose)
    found = place(job, offers, solver=True)
    if found.placed or found.findings:
        return
    market = Market(Nodes.of(offers))
    every = tuple(units(job))
    asked, _ = demanded(Asker("/Job", job), every, every, "full")
    things = list(asked.things())
    kept = Counter((reason.path, reason.text) for reason in found.reasons)
    kept.pop((asked.groups[0].path, "a free processor for each task"), None)
    left_out = []
    for index, thing in things:
        if kept[thing.path, thing.text]:
            kept[thing.path, thing.text] -= 1
        else:
            left_out.append((index, thing))
    bare = asked.without(left_out)
    assert not placed(market, bare), told(job, nodes)
    for each in bare.things():
        assert placed(market, bare.without([each])), (each, told(job, nodes))


def placed(market, asked):
    ways = [each.asked().ways for each in asked.groups]
    return all(ways) and any(
        best(market.asking(each), ways, solver=Budget()).solution is not None
        for each in asked.asked().variants
    )


def asked_of(choose, kind, names):
    """A job or a task group that says some of what it asks for outside of Requested."""
    rows = [item for item in requested(choose) if item.name in names]
    if choose.random() < 0.3 and any("group" in item.attributes for item in rows):
        rows = []
    rows = [item.having(group=None) for item in rows]
    outside = [
        Property(name, choose.choice(FACTS.get(name, ("1", "2"))))
        for name in choose.sample(names, choose.choice((0, 0, 1, 2)))
    ]
    return kind((*outside, *([Requested(tuple(rows))] if rows else [])))


ASKED = ("Memory", "Disk", "Duration", *FACTS)
OF_NODES = ("Duration", *FACTS)


@examples(4 * CASES, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_the_tasks_of_a_job_are_on_one_node_where_match_says_yes_to_all_that_it_asks(choose):
    groups = choose.choice((0, 1, 1, 2, 3))
    # Amounts of several groups are added up, and match compares each by itself.
    inside = ASKED if groups < 2 else OF_NODES
    job = asked_of(choose, Job, ASKED)
    job = job.holding((*job.items, *(asked_of(choose, TaskGroup, inside) for _ in range(groups))))
    facts = {
        "Processors": "8",
        "Memory": choose.choice(("0.5", "2", "3.5")),
        "Disk": choose.choice(("1", "2.5", "4")),
        "Duration": choose.choice(("1", "2", "3")),
        **{name: choose.choice(texts) for name, texts in FACTS.items()},
    }
    offer = Offer.of("n1", [Property(name, text) for name, text in facts.items()])
    said = []
    asked = list(requests(job, "", said.append))
    answers = [Request(each.expression).answer(offer).verdict for each in asked]
    found = place(job, [offer], solver=False)
    assert found.placed is all(each is Verdict.YES for each in answers), (dumps(job), facts)


@examples(CASES, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_one_task_is_on_a_node_where_match_says_yes_with_the_same_score(choose):
    request = requested(choose)
    facts = {
        "Processors": "1",
        "Memory": choose.choice(("-1", "0", "0.5", "2", "3.5")),
        "Disk": choose.choice(("0", "1", "2.5", "4")),
        "Duration": choose.choice(("1", "2", "3")),
        **{name: choose.choice(texts) for name, texts in FACTS.items()},
    }
    offer = Offer.of("n1", [Property(name, text) for name, text in facts.items()])
    answer = Request(parse(request)).answer(offer)
    job = Job((Property("Id", "1"), TaskGroup((Requested(tuple(request)),))))
    found = place(job, [offer], solver=False)
    assert found.placed is (answer.verdict == Verdict.YES)
    assert found.score == answer.score
