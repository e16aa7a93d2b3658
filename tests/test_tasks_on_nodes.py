"""Which task is on which node where Task elements name some: one answer of all who ask."""

from collections import defaultdict

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob import layout, loads
from sssjob.features.derive import derive
from sssjob.placement import place

JOB = "<Job><Id>1</Id><TaskGroup><Name>g</Name>{}</TaskGroup></Job>"
PER_NODE = '<TaskDistribution type="TasksPerNode">{}</TaskDistribution>'
AROUND = '<TaskDistribution type="Rule">RoundRobin</TaskDistribution>'
NAMED = "<Requested><Node>n1</Node></Requested>"
NODES = [f"n{number}" for number in range(1, 7)]
OFFERS = [{"id": name, "Node": name, "Processors": 64} for name in NODES]


def tasks(*names):
    """Task elements, each with the node that it names, if any."""
    return "".join(
        f"<Task><TaskId>{number}</TaskId>{f'<Node>{name}</Node>' if name else ''}</Task>"
        for number, name in enumerate(names)
    )


def laid_out(said):
    (unit,) = layout.units(loads(JOB.format(said)))
    (laid,) = layout.layouts(unit.block, unit.path).layouts
    return laid


def placed(said, *, solver):
    (group,) = place(loads(JOB.format(said)), OFFERS, solver=solver).groups
    return group.shares


FILLED = {
    "a node has as many as it may": (
        PER_NODE.format(3) + "<TaskCount>4</TaskCount>" + tasks("n3"), [[0, 1, 2], [3]],
    ),
    "a later task names the first node": (
        PER_NODE.format(3) + tasks("", "", "", "n3"), [[0, 1, 3], [2]],
    ),
    "two nodes are named": (
        PER_NODE.format(3) + "<TaskCount>5</TaskCount>" + tasks("n1", "n2"), [[0, 2, 3], [1, 4]],
    ),
    "one is full by name": (
        PER_NODE.format(2) + "<TaskCount>4</TaskCount>" + tasks("n2", "n2"), [[0, 1], [2, 3]],
    ),
    "another node is named, which has one all the same": (
        PER_NODE.format(2) + "<TaskCount>2</TaskCount>" + NAMED + tasks("n2"), [[0], [1]],
    ),
    "nodes that are counted have one each": (
        PER_NODE.format(3) + "<TaskCount>4</TaskCount><NodeCount>3</NodeCount>" + tasks("n2"),
        [[0, 1], [2], [3]],
    ),
    "without TasksPerNode they are even": (
        "<TaskCount>4</TaskCount><NodeCount>2</NodeCount>" + tasks("n3"), [[0, 2], [1, 3]],
    ),
    "around": (
        AROUND + "<TaskCount>5</TaskCount><NodeCount>2</NodeCount>" + tasks("n2", "n3"),
        [[0, 2, 4], [1, 3]],
    ),
}  # fmt: skip


# decision 1132
@pytest.mark.parametrize("solver", [True, False], ids=["solver", "filling"])
@pytest.mark.parametrize("said, parts", FILLED.values(), ids=FILLED)
def test_tasks_without_a_name_are_beside_those_that_have_one_as_is_said(said, parts, solver):
    assert [list(share.tasks) for share in laid_out(said).shares] == parts
    assert sorted(list(share.tasks) for share in placed(said, solver=solver)) == sorted(parts)


SPREADS = ("", PER_NODE.format(1), PER_NODE.format(2), PER_NODE.format(3), AROUND)
NAMES = (
    "",
    "<Node>n2</Node>",
    '<Node aggregation="List">n1,n2,n3</Node>',
    '<Node op="NE">n3</Node>',
)
SAID = st.fixed_dictionaries({
    "spread": st.sampled_from(SPREADS),
    "tasks": st.none() | st.integers(1, 5),
    "nodes": st.none() | st.integers(1, 3),
    "names": st.sampled_from(NAMES),
    "pins": st.lists(st.sampled_from(("", "n1", "n2", "n3")), min_size=1, max_size=4),
})  # fmt: skip


# decision 1132
@examples(100)
@given(SAID)
def test_a_placement_has_the_tasks_together_that_a_layout_has(said):
    text = said["spread"]
    text += f"<TaskCount>{said['tasks']}</TaskCount>" if said["tasks"] else ""
    text += f"<NodeCount>{said['nodes']}</NodeCount>" if said["nodes"] else ""
    text += f"<Requested>{said['names']}</Requested>" if said["names"] else ""
    text += tasks(*said["pins"])
    laid = laid_out(text)
    (group,) = place(loads(JOB.format(text)), OFFERS, solver=False).groups or (None,)
    assert laid.holds is bool(group and group.shares)
    if not (laid.shares and group):
        return
    on = {task: share.name for share in group.shares for task in share.tasks}
    assert all(on[task] == name for task, name in enumerate(said["pins"]) if name)
    together = defaultdict(set)
    for number, share in enumerate(laid.shares):
        for task in share.tasks:
            together[on[task]].add(number)
    assert all(len(numbers) == 1 for numbers in together.values())


LISTED = '<Requested><Node aggregation="List">n1,n2</Node></Requested>'
# A task group, and the processors of its nodes.
PARTS = {
    "a node that a task names, and another": (
        "<TaskCount>4</TaskCount><NodeCount>2</NodeCount>" + tasks("n3"), {"n3": 2, "n1": 2},
    ),
    "as many tasks on a node as there may be": (
        PER_NODE.format(3) + "<TaskCount>4</TaskCount>" + tasks("n3"), {"n3": 3, "n1": 1},
    ),
    "a geometry": ("<TaskDistribution>{0,1}{2}</TaskDistribution>" + LISTED, {"n1": 2, "n2": 1}),
    "tasks that fill named nodes": (
        PER_NODE.format(2) + "<TaskCount>3</TaskCount>" + LISTED, {"n1": 2, "n2": 1},
    ),
    "processors of each task": (
        '<TaskDistribution type="ProcessorsPerTask">4</TaskDistribution><TaskCount>3</TaskCount>'
        + LISTED, {"n1": 8, "n2": 4},
    ),
    "a set of more names than nodes": ("<TaskCount>1</TaskCount>" + LISTED, {"n1": 1, "n2": 1}),
    "a name that is not of the set": ("<TaskCount>4</TaskCount>" + LISTED, {"n9": 2}),
    "tasks of which nobody knows on how many nodes they are": (
        "<TaskCount>4</TaskCount>" + tasks("n1", "n1", "n2"), {"n2": 2},
    ),
}  # fmt: skip


# decision 1133
@pytest.mark.parametrize("said, parts", PARTS.values(), ids=PARTS)
def test_a_node_has_the_tasks_that_the_layout_has_there(said, parts):
    job = loads(JOB.format(said))
    for name, number in parts.items():
        assert derive(job, starting=True, nodes=(name,)).values["allocated_cpu"] == number
    if len(parts) > 1:
        whole = derive(job, starting=True).values["allocated_cpu"]
        assert derive(job, starting=True, nodes=tuple(parts)).values["allocated_cpu"] == whole


def test_a_node_of_which_each_node_is_known_and_it_is_none_has_nothing():
    job = loads(JOB.format(tasks("n1", "n2")))
    assert "allocated_cpu" not in derive(job, starting=True, nodes=("n3",)).values


IN_PLACES = {"job": "{}{}", "group": "<TaskGroup><Name>g</Name>{}{}</TaskGroup>",
             "both": "{}<TaskGroup><Name>g</Name>{}</TaskGroup>"}  # fmt: skip


def job_of(place_, said, names, count=""):
    asked = f"<Requested>{names}{count}</Requested>"
    return loads(f"<Job><Id>1</Id>{IN_PLACES[place_].format(said, asked)}</Job>")


ONE, LIST = "<Node>n1</Node>", '<Node aggregation="List">n1,n2</Node>'
# What counts the tasks, and with which names and counts; and the processors of nodes.
BY_PROCESSORS = {
    "on one node": ("<Processors>4</Processors>", ONE, "", {"n1": 4, "n2": 4}),
    "on two": ("<Processors>4</Processors>", LIST, "", {"n1": 2, "n2": 2}),
    "unevenly": ("<Processors>5</Processors>", LIST, "", {"n1": 3, "n2": 2}),
    "on one by name of two": (
        "<Processors>5</Processors>", ONE, "<NodeCount>2</NodeCount>", {"n1": 3},
    ),
    "a range": ("", ONE, '<Processors op="GE">4</Processors>', {"n1": 4, "n2": 4}),
    "other than one": ("", LIST, '<Processors op="NE">1</Processors>', {"n1": 1, "n2": 1}),
}  # fmt: skip


# decision 1133
@pytest.mark.parametrize("place_", IN_PLACES)
@pytest.mark.parametrize("said, names, count, parts", BY_PROCESSORS.values(), ids=BY_PROCESSORS)
def test_processors_that_count_the_tasks_are_on_the_nodes_of_these(
    said, names, count, parts, place_
):
    job = job_of(place_, said, names, count)
    for name, number in parts.items():
        assert derive(job, starting=True, nodes=(name,)).values["allocated_cpu"] == number


# decision 1133
@examples(100)
@given(
    place_=st.sampled_from([*IN_PLACES]), names=st.sampled_from((ONE, LIST)),
    processors=st.integers(1, 6), tasks_=st.none() | st.integers(1, 4),
    nodes=st.none() | st.integers(1, 3), of_task=st.none() | st.integers(1, 3),
)  # fmt: skip
def test_a_node_has_no_more_and_no_fewer_processors_than_the_layout_has_there(
    place_, names, processors, tasks_, nodes, of_task
):
    said = f"<Processors>{processors}</Processors>"
    said += f"<TaskCount>{tasks_}</TaskCount>" if tasks_ else ""
    said += f'<TaskDistribution type="ProcessorsPerTask">{of_task}</TaskDistribution>' * bool(
        of_task
    )
    count = f"<NodeCount>{nodes}</NodeCount>" if nodes else ""
    job = job_of(place_, said, names, count)
    (unit,) = layout.units(job)
    (laid,) = layout.layouts(unit.block, unit.path).layouts
    if not laid.holds or len(laid.shares) < names.count("n"):
        return
    for share in laid.shares:
        if share.name:
            found = derive(job, starting=True, nodes=(share.name,)).values
            part = len(share.tasks) * laid.processors_per_task.value
            assert found["allocated_cpu"] == part
    assert derive(job, starting=True).values["allocated_cpu"] == laid.processors.value


SEVERAL = (
    "<TaskGroup><Name>a</Name><TaskDistribution type=\"ProcessorsPerTask\">3</TaskDistribution>"
    + tasks("n1", "n2")
    + "</TaskGroup><TaskGroup><Name>b</Name><Processors>4</Processors>{}</TaskGroup>"
)  # fmt: skip
OF_GROUPS = {
    "a group that names no node": ("", {"n1": 7, "n2": 7, "n3": 4}),
    "each names nodes": (f"<Requested>{ONE}</Requested>", {"n1": 7, "n2": 3, "n9": 4}),
    "a set that has fewer nodes": (
        '<NodeCount>1</NodeCount><Node aggregation="List">n3,n4</Node>',
        {"n1": 3, "n2": 3, "n3": 4, "n9": 4},
    ),
    "a node that is not wanted": (
        '<Requested><Node op="NE">n2</Node></Requested>', {"n1": 7, "n2": 3, "n3": 4},
    ),
    "a pattern": (
        '<Requested><Node op="Match">n[2-9]</Node></Requested>', {"n1": 3, "n2": 7, "n3": 4},
    ),
    "nodes that are counted": ("<NodeCount>4</NodeCount>", {"n1": 4, "n2": 4, "n9": 1}),
    "tasks of both": (tasks("n1", "n1", "n2", "n3"), {"n1": 5, "n2": 4, "n3": 1}),
}  # fmt: skip


# decision 1159
@pytest.mark.parametrize("whole", ["", "<Processors>10</Processors>"], ids=["groups", "job"])
@pytest.mark.parametrize("said, parts", OF_GROUPS.values(), ids=OF_GROUPS)
def test_of_several_groups_a_node_has_the_processors_of_its_own_tasks(said, parts, whole):
    job = loads(f"<Job><Id>1</Id>{whole}{SEVERAL.format(said)}</Job>")
    for name, number in parts.items():
        assert derive(job, starting=True, nodes=(name,)).values["allocated_cpu"] == number


@pytest.mark.parametrize("node", ["n1", "n2", "n9"])
def test_tasks_that_name_no_node_are_on_any(node):
    job = loads(JOB.format(LISTED + tasks("")))
    assert derive(job, starting=True, nodes=(node,)).values["allocated_cpu"] == 1


SET_ASIDE = "<NodeCount>1</NodeCount><Requested><Feature>f</Feature>" + (
    '<NodeCount conj="Or">2</NodeCount></Requested>'
)


# decision 1167
@pytest.mark.parametrize("place_", ["{}", "<TaskGroup>{}</TaskGroup>"])
@pytest.mark.parametrize("count, part", [("", 1), ("<TaskCount>4</TaskCount>", 2)])
def test_a_number_of_nodes_that_counts_for_nothing_gives_no_node_the_tasks_of_all(
    place_, count, part
):
    named = '<Node aggregation="List">n1,n2</Node>'
    job = loads(f"<Job><Id>1</Id>{place_.format(count + named + SET_ASIDE)}</Job>")
    whole = derive(job, starting=True).values["allocated_cpu"]
    parts = [derive(job, starting=True, nodes=(n,)).values["allocated_cpu"] for n in ("n1", "n2")]
    assert parts == [part, part]
    assert whole == 2 * part
