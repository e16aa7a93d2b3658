"""TaskDistribution: every example and error of rule 5, oracles, and what must always hold."""

import itertools

import pytest
from counting import calls
from hypothesis import given
from hypothesis import strategies as st

from sssjob import loads
from sssjob.check.sources import check_source
from sssjob.errors import Severity
from sssjob.features.derive import derive
from sssjob.layout import balanced, check, filled, geometry, layouts, units
from sssjob.model import (
    Delivered,
    Job,
    JobDefaults,
    JobGroup,
    Property,
    Requested,
    Task,
    TaskGroup,
)


def spread(text, kind=None):
    return Property("TaskDistribution", text, {"type": kind} if kind else {})


def asking(*items, tasks=None, **requested):
    """A job with requested counts, a TaskCount and whatever else."""
    own = {"TaskCount": tasks} if tasks else {}
    if requested:
        items = (*items, Requested.of(**requested))
    return Job.of(*items, Id="1", **own)


def only(block, **options):
    found = layouts(block, **options)
    (laid,) = found.layouts
    return laid


def shares(laid):
    return [list(share.tasks) for share in laid.shares]


def sizes(laid):
    return [len(share.tasks) for share in laid.shares]


PER_NODE, PER_TASK, GEOMETRY, RULE = "TasksPerNode", "ProcessorsPerTask", "Geometry", "Rule"


@pytest.mark.parametrize(
    "job, tasks, nodes, processors, each, placed",
    [
        pytest.param(asking(NodeCount=3, Processors=4), 4, 3, 4, 1, [2, 1, 1],
                     id="the sentence of 3.0"),
        pytest.param(asking(NodeCount=4, Processors=12), 12, 4, 12, 1, [3, 3, 3, 3], id="12 on 4"),
        pytest.param(asking(NodeCount=4, Processors=16), 16, 4, 16, 1, [4, 4, 4, 4], id="16 on 4"),
        pytest.param(asking(spread("{1,4}{2}{3,5}", GEOMETRY)), 5, 3, 5, 1, [2, 1, 2],
                     id="geometry"),
        pytest.param(asking(spread("5", PER_NODE), tasks=12), 12, 3, 12, 1, [5, 5, 2],
                     id="tasks per node"),
        pytest.param(asking(spread("4", PER_TASK), Processors=24), 6, None, 24, 4, [],
                     id="processors per task"),
        pytest.param(asking(tasks=3, NodeCount=2, Processors=12), 3, 2, 12, 4, [2, 1],
                     id="processors shared by tasks"),
        pytest.param(asking(), 1, 1, 1, 1, [1], id="nothing"),
        pytest.param(asking(spread("3", PER_NODE), NodeCount=2), 6, 2, 6, 1, [3, 3],
                     id="nodes times tasks per node"),
        pytest.param(asking(NodeCount=3), 3, 3, 3, 1, [1, 1, 1], id="nodes alone"),
        pytest.param(asking(spread("4", PER_NODE), tasks=5, NodeCount=3), 5, 3, 5, 1, [4, 1, 0],
                     id="more nodes than are filled"),
        pytest.param(asking(Property("NodeCount", 2), Property("Processors", 6)), 6, 2, 6, 1,
                     [3, 3], id="in no category"),
    ],
)  # fmt: skip
def test_counts_follow_from_what_is_given(job, tasks, nodes, processors, each, placed):
    laid = only(job)
    assert laid.tasks.value == tasks
    assert (laid.nodes and laid.nodes.value) == nodes
    assert laid.processors.value == processors
    assert laid.processors_per_task.value == each
    assert sizes(laid) == placed
    assert not list(check(job))


def test_round_robin_deals_tasks_out():
    laid = only(asking(spread("RoundRobin", RULE), NodeCount=4, Processors=12))
    assert shares(laid) == [[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]]


def test_a_rule_that_is_not_known_is_carried_and_places_nothing():
    laid = only(asking(spread("Snake", RULE), NodeCount=4, Processors=12))
    assert (laid.rule, laid.shares, laid.tasks.value) == ("Snake", (), 12)
    assert laid.holds


def test_a_geometry_keeps_its_numbers():
    assert shares(only(asking(spread("{1,4}{2}{3,5}")))) == [[1, 4], [2], [3, 5]]
    assert shares(only(asking(spread("{0}{2,1}")))) == [[0], [2, 1]]


@pytest.mark.parametrize(
    "text, rule, codes",
    [
        pytest.param("{1,2}", "Geometry", [], id="geometry"),
        pytest.param("2", "TasksPerNode", ["W-TYPE"], id="number"),
        pytest.param("RoundRobin", "RoundRobin", [], id="rule"),
    ],
)
def test_without_a_type_the_text_tells(text, rule, codes):
    job = asking(spread(text))
    assert only(job).rule == rule
    assert [found.code for found in check(job)] == codes


T4_GEOMETRY = asking(spread("{1,4}{2}{3,5}", GEOMETRY), tasks=4)


@pytest.mark.parametrize(
    "job, equation, sources, lenient",
    [
        pytest.param(asking(spread("2", PER_TASK), tasks=4, Processors=12),
                     "Processors = TaskCount x ProcessorsPerTask",
                     ["12 (Requested/Processors", "4 (TaskCount", "2 (TaskDist"],
                     (4, None, 8), id="P = T p"),
        pytest.param(asking(spread("2", PER_NODE), tasks=5, NodeCount=2),
                     "TaskCount <= NodeCount x TasksPerNode",
                     ["5 (TaskCount", "2 (Requested/NodeCount", "2 (TaskDist"],
                     (5, 3, 5), id="T <= N t"),
        pytest.param(T4_GEOMETRY, "TaskCount = tasks of the geometry",
                     ["4 (TaskCount", "5 (TaskDistribution"], (5, 3, 5), id="geometry T"),
        pytest.param(asking(spread("{0}{1}", GEOMETRY), NodeCount=1),
                     "NodeCount = nodes of the geometry",
                     ["1 (Requested/NodeCount", "2 (TaskDistribution"], (2, 2, 2),
                     id="geometry N"),
        pytest.param(asking(
                         spread("{0}{1}", GEOMETRY),
                         Requested((Property("NodeCount", "2", {"op": "NE"}),)),
                     ),
                     "NodeCount = nodes of the geometry",
                     ["at least 1, other than 2 (Requested/NodeCount", "2 (TaskDistribution"],
                     (2, 2, 2), id="geometry, NE"),
        pytest.param(asking(tasks=2, NodeCount=5), "NodeCount <= TaskCount",
                     ["5 (Requested/NodeCount", "2 (TaskCount"], (2, 2, 2), id="N <= T"),
        pytest.param(asking(tasks=3, Processors=8), "Processors = TaskCount x ProcessorsPerTask",
                     ["8 (Requested/Processors", "3 (TaskCount", "1 (assumed"],
                     (3, None, 3), id="8 processors for 3 tasks"),
        pytest.param(asking(spread("3", PER_TASK), Processors=8),
                     "Processors = TaskCount x ProcessorsPerTask",
                     ["8 (Requested/Processors", "3 (TaskDist"], (2, None, 6),
                     id="tasks of 3 in 8 processors"),
        pytest.param(asking(Task.of(), Task.of(), tasks=1), "TaskCount >= Task elements",
                     ["1 (TaskCount"], (1, 1, 1), id="Task elements"),
    ],
)  # fmt: skip
def test_each_contradiction_names_its_equation_and_its_sources(job, equation, sources, lenient):
    strict = only(job)
    (found,) = strict.findings
    assert (found.code, found.severity) == ("E-COUNTS", Severity.ERROR)
    assert found.message.startswith(f"{equation} does not hold: ")
    assert all(source in found.message for source in sources)
    assert not strict.shares
    assert list(check(job)) == [found]

    laid = only(job, lenient=True)
    (warning,) = laid.findings
    assert (warning.code, warning.severity) == ("W-COUNTS", Severity.WARNING)
    assert warning.suggestion.endswith("is taken")
    counts = (laid.tasks.value, laid.nodes and laid.nodes.value, laid.processors.value)
    assert counts == lenient
    assert sum(sizes(laid)) == (laid.tasks.value if laid.nodes else 0)


@pytest.mark.parametrize(
    "text, code, words",
    [
        pytest.param("{1,2}{2}", "E-COUNTS", "task 2 twice", id="twice"),
        pytest.param("{2,4}", "E-COUNTS", "begins with task 2", id="from 2"),
        pytest.param("{1,3}", "E-COUNTS", "leaves out task 2", id="gap"),
        pytest.param("{1,2", "E-TYPE", "is not a geometry", id="open"),
        pytest.param("{}", "E-TYPE", "is not a geometry", id="empty"),
        pytest.param("{1},{2}", "E-TYPE", "is not a geometry", id="comma between"),
        pytest.param("{1-3}", "E-TYPE", "is not a geometry", id="range"),
        pytest.param("1,2", "E-TYPE", "is not a geometry", id="no braces"),
    ],
)
def test_a_geometry_that_is_none_is_said_and_nothing_laid_out(text, code, words):
    job = asking(spread(text, GEOMETRY))
    found = layouts(job)
    assert found.layouts == ()
    assert [item.code for item in found.findings] == [code]
    assert words in found.findings[0].message
    assert list(check(job)) == list(found.findings)


@pytest.mark.parametrize("kind", [PER_NODE, PER_TASK])
@pytest.mark.parametrize("text", ["0", "-1", "x", "1.5", ""])
def test_a_number_of_tasks_or_processors_is_at_least_one(kind, text):
    (found,) = check(asking(spread(text, kind)))
    assert (found.code, found.path) == ("E-TYPE", "/Job/TaskDistribution")


def test_a_count_of_none_cannot_be_laid_out():
    assert [found.code for found in layouts(asking(NodeCount=0)).findings] == ["E-UNSAT"]
    assert [found.code for found in layouts(Job.of(TaskCount=0)).findings] == ["E-TYPE"]


# Bounds and alternatives


def requesting(*items, tasks=None):
    return asking(Requested(items), tasks=tasks)


def processors(number, **attributes):
    return Property("Processors", number, attributes)


@pytest.mark.parametrize(
    "job, tasks, taken, each",
    [
        pytest.param(requesting(processors(8, op="GE"), processors(16, op="LE")), 8, 8, 1,
                     id="the least of a range"),
        pytest.param(requesting(processors(8, op="GE"), tasks=3), 3, 9, 3,
                     id="the least that tasks can share"),
        pytest.param(requesting(processors(8, op="LE"), tasks=3), 3, 6, 2, id="most of a limit"),
        pytest.param(requesting(processors(9, op="GE"), processors(9, op="NE"), tasks=3), 3, 12, 4,
                     id="without what is excluded"),
        pytest.param(requesting(processors(4, context="Configured"), tasks=3), 3, 3, 1,
                     id="what a node is built with is no request"),
    ],
)  # fmt: skip
def test_bounds_leave_room(job, tasks, taken, each):
    laid = only(job)
    found = (laid.tasks.value, laid.processors.value, laid.processors_per_task.value)
    assert found == (tasks, taken, each)
    assert laid.holds


def test_every_alternative_has_its_layout():
    job = requesting(
        processors(12, group="1"), processors(16, conj="Or", group="-1"), Property("NodeCount", 4)
    )
    found = layouts(job).layouts
    assert [sizes(laid) for laid in found] == [[3, 3, 3, 3], [4, 4, 4, 4]]
    assert "Processors EQ 16" in found[1].alternative


def test_alternatives_that_differ_elsewhere_are_one_layout():
    memory = [
        Property("Memory", 1024, {"preference": "2"}),
        Property("Memory", 512, {"preference": "1"}),
    ]
    assert len(layouts(requesting(*memory, processors(4))).layouts) == 1


def test_an_alternative_that_contradicts_itself_beside_one_that_does_not_is_a_warning():
    job = requesting(processors(12, group="1"), processors(16, conj="Or", group="-1"), tasks=12)
    (found,) = check(job)
    assert (found.code, found.severity) == ("E-COUNTS", Severity.WARNING)
    worse = requesting(processors(13, group="1"), processors(17, conj="Or", group="-1"), tasks=12)
    assert [found.severity for found in check(worse)] == [Severity.ERROR] * 2


def test_many_alternatives_are_bounded():
    pairs = [
        item
        for number in range(40)
        for item in (
            Property("NodeCount", number + 1, {"group": "1", "op": "NE"}),
            Property("Processors", number + 1, {"conj": "Or", "group": "-1", "op": "NE"}),
        )
    ]
    assert calls(layouts, requesting(*pairs)) < 500_000
    found = layouts(requesting(*pairs))
    assert [item.code for item in found.findings] == ["E-LIMIT"]
    assert found.findings[0].severity is Severity.WARNING
    assert not list(check(requesting(*pairs)))


@pytest.mark.parametrize(
    "job, code",
    [
        pytest.param(requesting(processors(4, group="1")), "E-GROUP", id="groups"),
        pytest.param(requesting(processors("many")), "E-TYPE", id="number"),
        pytest.param(requesting(Property("Node", "n[0-99999999]", {"aggregation": "Range"})),
                     "E-LIMIT", id="range"),
        pytest.param(requesting(processors(4, op="GT"), processors(3, op="LT")), "E-UNSAT",
                     id="empty interval"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_or_satisfied_is_a_finding(job, code):
    assert [found.code for found in layouts(job).findings] == [code]


# Names


def nodes_of(text, kind=None, **attributes):
    return Property("Node", text, attributes | ({"aggregation": kind} if kind else {}))


def names(laid):
    return [share.name for share in laid.shares]


@pytest.mark.parametrize(
    "items, expected",
    [
        pytest.param([Property("NodeCount", 2), nodes_of("n[01-08]", "Range")], ["n01", "n02"],
                     id="as many as are wanted"),
        pytest.param([nodes_of("n[01-08]", "Range", count="3")], ["n01", "n02", "n03"], id="count"),
        pytest.param([Property("NodeCount", 3), nodes_of("a"), nodes_of("b,c", "List")],
                     ["a", "b", "c"], id="several"),
        pytest.param(
            [Property("NodeCount", 3), nodes_of("b,c", "List"), nodes_of("a", "List", count="1")],
            ["a", "b", "c"], id="what is counted first",
        ),
        pytest.param([Property("NodeCount", 2), nodes_of("a,b,c", "List"), nodes_of("a", op="NE")],
                     ["b", "c"], id="what is excluded"),
        pytest.param([Property("NodeCount", 2), nodes_of("n.*", "Pattern")], ["", ""],
                     id="pattern"),
        pytest.param([Property("NodeCount", 2), nodes_of("a")], ["a", ""], id="one of two"),
    ],
)  # fmt: skip
def test_candidates_name_the_nodes(items, expected):
    assert names(only(requesting(*items, tasks=4))) == expected


def test_a_list_without_a_number_of_nodes_is_all_of_them_that_tasks_can_fill():
    assert names(only(requesting(nodes_of("a,b", "List"), tasks=3))) == ["a", "b"]
    assert names(only(requesting(nodes_of("a,b,c", "List"), tasks=2))) == ["a", "b"]


@pytest.mark.parametrize(
    "items, expected",
    [
        ([nodes_of("n[1-3]", "Range")], ["n1", "n2", "n3"]),
        ([nodes_of("a,b", "List")], ["a", "b"]),
        ([nodes_of("a"), nodes_of("b")], ["a", "b"]),
        ([nodes_of("a,b,c", "List"), nodes_of("b", op="NE")], ["a", "c"]),
        ([nodes_of("a")], ["a"]),
        ([nodes_of("n.*", "Pattern")], [""]),
    ],
)  # fmt: skip
def test_where_nothing_says_how_many_tasks_there_are_each_named_node_has_one(items, expected):
    assert names(only(requesting(*items))) == expected


def test_more_nodes_than_a_set_has_cannot_be_satisfied():
    job = requesting(Property("NodeCount", 4), nodes_of("a,b", "List"), tasks=4)
    assert [found.code for found in check(job)] == ["E-UNSAT"]


def test_tasks_run_where_they_say():
    tasks = [Task.of(Node="b"), Task.of(Node="a"), Task.of(Node="b")]
    laid = only(TaskGroup.of(*tasks, Name="m"))
    assert [(share.name, list(share.tasks)) for share in laid.shares] == [("b", [0, 2]), ("a", [1])]
    assert laid.rule == "as the tasks say"


def test_tasks_that_do_not_say_go_where_the_fewest_are():
    tasks = [Task.of(Node="b"), Task.of(), Task.of(Node="b")]
    laid = only(TaskGroup.of(*tasks, TaskCount=5, NodeCount=2))
    assert [(share.name, list(share.tasks)) for share in laid.shares] == [
        ("b", [0, 2, 4]), ("", [1, 3]),
    ]  # fmt: skip


def test_tasks_that_name_more_nodes_than_there_are_contradict():
    tasks = [Task.of(Node="a"), Task.of(Node="b")]
    group = TaskGroup.of(*tasks, NodeCount=1)
    assert "the 2 nodes that Task elements name" in only(group).findings[0].message
    assert names(only(group, lenient=True)) == ["a", "b"]
    crowded = TaskGroup.of(spread("1", PER_NODE), Task.of(Node="a"), Task.of(Node="a"))
    assert any("2 tasks on a" in found.message for found in only(crowded).findings)


# Jobs and task groups


def test_a_single_task_group_has_the_quantities_of_its_job():
    job = Job.of(
        Requested.of(Processors=12, NodeCount=2),
        spread("RoundRobin"),
        TaskGroup.of(Name="m"),
        Id="1",
    )
    (unit,) = units(job)
    assert unit.path == "/Job/TaskGroup"
    assert shares(only(unit.block))[0] == [0, 2, 4, 6, 8, 10]


def test_several_task_groups_have_only_their_own():
    job = Job.of(
        Requested.of(Processors=12), TaskGroup.of(TaskCount=4), TaskGroup.of(TaskCount=8), Id="1"
    )
    assert [only(unit.block).processors.value for unit in units(job)] == [4, 8]


@pytest.mark.parametrize("bound", [("GE", 2), ("NE", 2), ("GT", 0)])
@pytest.mark.parametrize("nodes", [("EQ", 4), ("GE", 4), ("GT", 3)])
def test_the_least_processors_are_taken_that_agree_with_the_nodes(bound, nodes):
    found = only(requesting(
        Property("NodeCount", nodes[1], {"op": nodes[0]}),
        Property("Processors", bound[1], {"op": bound[0]}),
    ))  # fmt: skip
    assert (found.tasks.value, found.nodes.value, found.processors.value) == (4, 4, 4)
    assert not found.findings


def test_processors_that_are_too_few_for_the_nodes_contradict_them():
    bounds = [Property("Processors", 2, {"op": "GE"}), Property("Processors", 3, {"op": "LE"})]
    found = only(requesting(Property("NodeCount", 4), *bounds))
    assert [each.code for each in found.findings] == ["E-COUNTS"]


def test_another_number_than_one_is_two_or_more():
    asked = Property("NodeCount", 1, {"op": "NE"})
    assert only(requesting(asked, processors(4))).nodes.value == 2
    assert only(requesting(asked)).tasks.value == 2


def test_steps_of_one_job_take_nothing_from_another():
    ran = Job.of(TaskGroup.of(Delivered.of(Processors=4), TaskCount=4), Id="1")
    new = Job.of(Requested.of(Processors=6, NodeCount=3), TaskGroup.of(Name="t"), Id="2")
    for group in (JobGroup((ran, new)), JobGroup((new,))):
        *_, unit = units(group)
        assert [laid.tasks.value for laid in layouts(unit.block).layouts] == [6]


def test_steps_of_a_job_that_ran_are_not_what_it_asked_for():
    job = Job.of(
        Requested.of(Processors=6, NodeCount=2),
        TaskGroup.of(Delivered.of(Processors=4), TaskCount=4), Id="1",
    )  # fmt: skip
    assert not list(check(job))


def test_defaults_count():
    group = JobGroup.of(
        JobDefaults.of(TaskCount=3), Job.of(Requested.of(Processors=8), Id="1"),
        Job.of(Requested.of(Processors=9), Id="2"), Id="g",
    )  # fmt: skip
    assert [found.path for found in check(group)] == ["/JobGroup/Job[1]/Requested/Processors"]


@pytest.mark.parametrize(
    "whole, parts, agree",
    [
        pytest.param([processors(16)], [[processors(12)], [processors(4)]], True, id="agree"),
        pytest.param([processors(20)], [[processors(12)], [processors(4)]], False, id="differ"),
        pytest.param([processors(20)], [[processors(12)], []], True, id="one does not say"),
        pytest.param([processors(20, op="LE")], [[processors(12)], [processors(4)]], True,
                     id="a limit that holds"),
        pytest.param([processors(20)], [[processors(12, op="GE")], [processors(4)]], True,
                     id="bounds that admit it"),
        pytest.param([processors(20)], [[processors(12, op="LE")], [processors(4)]], False,
                     id="bounds that do not"),
        pytest.param([processors(20)], [[processors(12)], [processors(4, group="1"),
                     processors(8, conj="Or", group="-1")]], True, id="an alternative"),
        pytest.param([processors(8)], [[processors(12)]], False, id="a single group"),
    ],
)  # fmt: skip
def test_the_processors_of_a_job_are_those_of_its_groups(whole, parts, agree):
    groups = [TaskGroup.of(*([Requested(tuple(part))] if part else []), Name="g") for part in parts]
    job = Job.of(Requested(tuple(whole)), *groups, Id="1")
    found = list(check(job))
    assert [item.code for item in found] == ([] if agree else ["E-COUNTS"])
    assert all("Processors of a job" in item.message for item in found)


# What always holds

COUNTS = st.none() | st.integers(1, 9)


@given(COUNTS, COUNTS, COUNTS, st.sampled_from([None, PER_NODE, PER_TASK, RULE]), st.integers(1, 5))
def test_every_task_is_placed_once_and_every_equation_holds(tasks, nodes, amount, kind, number):
    items = [] if kind is None else [spread("RoundRobin" if kind == RULE else number, kind)]
    asked = {"NodeCount": nodes, "Processors": amount}
    job = asking(*items, tasks=tasks, **{name: n for name, n in asked.items() if n})
    strict = only(job)
    for laid in (strict, only(job, lenient=True)):
        if not laid.holds:
            assert laid.shares == ()
            continue
        assert laid.processors.value == laid.tasks.value * laid.processors_per_task.value
        if laid.nodes is None:
            assert laid.shares == ()
            continue
        placed = list(itertools.chain.from_iterable(shares(laid)))
        assert sorted(placed) == list(range(laid.tasks.value))
        assert len(laid.shares) == laid.nodes.value <= laid.tasks.value
        if laid.tasks_per_node:
            assert max(sizes(laid)) <= laid.tasks_per_node.value
        elif laid.rule == "balanced":
            assert max(sizes(laid)) - min(sizes(laid)) <= 1
    if strict.holds:  # what is given is taken
        assert tasks in (None, strict.tasks.value)
        assert nodes in (None, strict.nodes and strict.nodes.value)
        assert amount in (None, strict.processors.value)
        assert only(job, lenient=True) == strict


@given(st.integers(1, 60), st.integers(1, 12))
def test_balanced_places_as_one_who_deals_tasks_out(tasks, nodes):
    dealt = [0] * nodes
    for task in range(tasks):
        dealt[task % nodes] += 1
    parts = list(balanced(tasks, nodes))
    assert [len(part) for part in parts] == dealt
    assert list(itertools.chain(*parts)) == list(range(tasks))


@given(st.integers(1, 60), st.integers(1, 12), st.integers(1, 9))
def test_filled_places_as_one_who_goes_on_when_a_node_is_full(tasks, nodes, per_node):
    loads = [0] * nodes
    for _ in range(min(tasks, nodes * per_node)):
        node = next(node for node in range(nodes) if loads[node] < per_node)
        loads[node] += 1
    assert [len(part) for part in filled(tasks, nodes, per_node)] == loads


@given(st.permutations(range(8)), st.sets(st.integers(1, 7)), st.booleans())
def test_a_geometry_reads_back(order, cuts, from_one):
    numbers = [number + from_one for number in order]
    ends = [0, *sorted(cuts), 8]
    groups = tuple(tuple(numbers[a:b]) for a, b in itertools.pairwise(ends))
    text = "".join("{" + ",".join(map(str, group)) + "}" for group in groups)
    assert geometry(text) == groups
    assert shares(only(asking(spread(text)))) == [list(group) for group in groups]


# Bounds of time and memory


@pytest.mark.parametrize(
    "job, codes",
    [
        pytest.param(asking(tasks=10**12, NodeCount=10), ["E-LIMIT"], id="tasks"),
        pytest.param(asking(NodeCount=10**12), ["E-LIMIT"], id="nodes"),
        pytest.param(asking(spread("9" * 18, PER_NODE), NodeCount=10**15), ["E-LIMIT"], id="both"),
    ],
)
def test_numbers_without_measure_cost_nothing(job, codes):
    assert calls(layouts, job) < 10_000
    found = layouts(job)
    assert [item.code for laid in found.layouts for item in laid.findings] == codes
    assert not list(check(job))  # it may be written, only not laid out


def test_a_geometry_of_a_million_tasks_is_laid_out_and_a_larger_one_refused():
    numbers = range(499_999)
    laid = only(asking(spread("{" + "}{".join(map(str, numbers)) + "}")))
    assert len(laid.shares) == len(numbers)
    more = layouts(asking(spread("{" + ",".join(map(str, range(1_000_001))) + "}")))
    assert [found.code for found in more.findings] == ["E-LIMIT"]


COUNTING = ["TaskCount", "NodeCount", "Processors"]
IN_PLACES = ["{}", "<TaskGroup><Name>a</Name>{}</TaskGroup>"]


@pytest.mark.parametrize("around", IN_PLACES)
@pytest.mark.parametrize("name", COUNTING)
def test_validate_says_of_a_count_of_none_what_a_layout_says(name, around):
    said = around.format(f"<{name}>0</{name}>")
    text = f"<Job><Id>1</Id><Executable>a</Executable>{said}</Job>"
    (unit,) = units(loads(text))
    (told,) = layouts(unit.block).findings
    assert told.code == "E-TYPE"
    # No processors are what a job may have had.
    is_told = told.message in [each.message for each in check_source(text.encode())]
    assert is_told is (name != "Processors")


# decision 1116
@pytest.mark.parametrize("around", IN_PLACES)
@pytest.mark.parametrize("name", COUNTING)
def test_of_a_count_of_none_nothing_is_allocated(name, around):
    said = around.format(f"<{name}>0</{name}>")
    job = loads(f"<Job><Id>1</Id><Executable>a</Executable>{said}</Job>")
    found = derive(job, starting=True)
    assert "allocated_cpu" not in found.values
    assert [(each.code, name in str(each)) for each in found.findings] == [("E-TYPE", True)]
