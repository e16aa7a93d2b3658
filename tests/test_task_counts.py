"""How many tasks, nodes and processors there are: one derivation for all who ask (5.1)."""

import json
import re
from itertools import product

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob import defaults, layout, loads
from sssjob.amounts import Scope
from sssjob.errors import InvalidJob, InvalidValue
from sssjob.features.derive import derive
from sssjob.lcginfo.jobs import _processors
from sssjob.placement import place
from sssjob.submission.at_once import submission
from sssjob.systems.condor.job_ad import to_ad
from sssjob.systems.condor.task_groups import to_ads
from sssjob.task_counts import CountRange, StatedCounts
from sssjob.translate import Settings, translate

MOST = 14  # of any number in the exhaustive search

TASK = "<Task><TaskId>{}</TaskId></Task>"
ON = "<Task><TaskId>{}</TaskId><Requested><Node>{}</Node></Requested></Task>"
JOB = '<Job awarenessPolicy="Warn"><Id>1</Id><Executable>/bin/date</Executable>{}</Job>'


def ranges(most):
    """Ranges that have a number."""
    return st.builds(
        CountRange, st.none() | st.integers(1, most), st.none() | st.integers(1, most),
        st.frozensets(st.integers(1, most), max_size=2),
    ).map(_begun).filter(lambda found: not found.empty)  # fmt: skip


def _begun(found):
    """The same as ``CountRange.of`` makes it: no end is excluded, and one is there."""
    lo, hi = found.lo, found.hi
    if lo is None and hi is None:
        lo = 1
    while lo in found.excluded:
        lo += 1
    while hi in found.excluded:
        hi -= 1
    return CountRange(lo, hi, found.excluded)


SMALL = st.none() | st.integers(1, 5)
STATED = st.tuples(
    SMALL, st.none() | ranges(5), st.none() | ranges(9),
    st.none() | st.integers(1, 4), st.none() | st.integers(1, 3),
).map(lambda found: StatedCounts(*found))  # fmt: skip


def holds(said, tasks, nodes, processors, each):
    """The equations of 5.2, and what is said."""
    return (
        said.task_count in (None, tasks)
        and said.per_task in (None, each)
        and (said.counted is None or said.counted.admits(nodes))
        and (said.processors is None or said.processors.admits(processors))
        and processors == tasks * each
        and nodes <= tasks <= nodes * (said.per_node or MOST)
    )


@examples(400)
@given(STATED)
def test_numbers_that_agree_are_found_where_there_are_any(said):
    # Without TaskCount a task has one processor, unless it is said (5.1).
    shares = (said.per_task,) if said.per_task else range(1, 10) if said.task_count else (1,)
    numbers = range(1, MOST + 1)
    can_be = any(
        holds(said, tasks, nodes, tasks * each, each)
        for tasks, nodes, each in product(numbers, numbers, shares)
    )
    tasks, nodes = said.tasks.value, said.nodes
    processors = said.processors_of_tasks
    if can_be:
        assert processors is not None
        assert any(
            holds(said, tasks, number, processors, said.each)
            for number in (numbers if nodes is None else (nodes.value,))
        )


@examples(200)
@given(STATED)
def test_what_is_rounded_up_is_no_less_than_what_agrees(said):
    rounded = said._replace(rounded=True)
    assert rounded.tasks.value >= said.tasks.value
    assert rounded.each >= said.each
    if said.processors_of_tasks is not None:
        assert rounded.processors_of_tasks == said.processors_of_tasks


# A request with names of nodes and Task elements that name some, and every number there may be.
BOUND = st.tuples(st.sampled_from(("EQ", "GE", "LE", "LT", "NE")), st.integers(1, 4))
ASKED_NAMES = {
    "none": "",
    "one": "<Node>n1</Node>",
    "two": "<Node>n1</Node><Node>n4</Node>",
    "set": '<Node aggregation="List">n1,n2</Node>',
    "counted set": '<Node aggregation="List" count="2">n1,n2,n3</Node>',
    "not outside of a set": '<Node aggregation="List" op="NE" conj="Nand">n1,n2</Node>',
    "other than one": '<Node op="NE">n2</Node>',
}
NAMED_REQUEST = st.fixed_dictionaries({
    "tasks": st.none() | st.integers(1, 5),
    "per_node": st.none() | st.integers(1, 3),
    "nodes": st.lists(BOUND, max_size=2),
    "processors": st.lists(BOUND, max_size=2),
    "names": st.sampled_from([*ASKED_NAMES]),
    "pins": st.just(()) | st.lists(st.sampled_from(("", "n1", "n2", "n3")), min_size=1, max_size=3),
})  # fmt: skip
HOLDS = {
    "EQ": int.__eq__, "GE": int.__ge__, "LE": int.__le__, "LT": int.__lt__, "NE": int.__ne__,
}  # fmt: skip


def _document(said):
    """The only task group that says so."""
    bounds = "".join(
        f'<{name} op="{op}">{number}</{name}>'
        for name, key in (("NodeCount", "nodes"), ("Processors", "processors"))
        for op, number in said[key]
    )
    spread = '<TaskDistribution type="TasksPerNode">{}</TaskDistribution>'
    return "".join((
        f"<TaskCount>{said['tasks']}</TaskCount>" if said["tasks"] else "",
        spread.format(said["per_node"]) if said["per_node"] else "",
        # What begins with Nand needs something before it.
        f"<Requested><Feature>f</Feature>{bounds}{ASKED_NAMES[said['names']]}</Requested>",
        *((ON if name else TASK).format(at, name) for at, name in enumerate(said["pins"])),
    ))  # fmt: skip


def _may_have_names(said, tasks, nodes):
    """Whether so many nodes are among names, and have those of the tasks and of the request."""
    names, own = said["names"], set(filter(None, said["pins"]))
    wanted = {"one": {"n1"}, "two": {"n1", "n4"}}.get(names, set())
    among = {
        "set": {"n1", "n2"}, "not outside of a set": {"n1", "n2"}, "counted set": {"n1", "n2", "n3"}
    }.get(names)  # fmt: skip
    if among is not None and (nodes > len(among) or not own <= among):
        return False
    if names == "counted set" and (nodes < 2 or (nodes > 2 and not said["nodes"])):
        return False
    if names == "other than one" and "n2" in own:
        return False
    beside = sum(map(bool, said["pins"])) - len(own)
    return len(own | wanted) <= nodes <= tasks - beside


def _can_be(said, tasks, nodes, each):
    return (
        said["tasks"] in (None, tasks)
        and tasks >= len(said["pins"])
        and all(HOLDS[op](nodes, number) for op, number in said["nodes"])
        and all(HOLDS[op](tasks * each, number) for op, number in said["processors"])
        and tasks <= nodes * (said["per_node"] or MOST)
        and all(
            said["pins"].count(name) <= (said["per_node"] or MOST) for name in ("n1", "n2", "n3")
        )
        and _may_have_names(said, tasks, nodes)
    )


# decisions 1129, 1130
@examples(600)
@given(NAMED_REQUEST)
def test_a_layout_is_refused_only_where_no_numbers_agree_with_its_names(said):
    job = loads(JOB.format(f"<TaskGroup><Name>g</Name>{_document(said)}</TaskGroup>"))
    (unit,) = layout.units(job)
    found = layout.layouts(unit.block, unit.path).layouts
    numbers = [*product(range(1, MOST + 1), range(1, MOST + 1))]
    # Without TaskCount a task has one processor (5.1); Task elements may have even parts.
    shares = range(1, 6) if said["tasks"] else (1,)
    can_be = any(_can_be(said, *pair, each) for pair in numbers for each in shares)
    may_be = can_be or any(_can_be(said, *pair, each) for pair in numbers for each in range(1, 6))
    assert can_be <= bool(found and found[0].holds) <= may_be
    if not (found and found[0].holds):
        return
    laid = found[0]
    nodes = [laid.nodes.value] if laid.nodes else range(1, MOST + 1)
    each = laid.processors_per_task.value
    assert any(_can_be(said, laid.tasks.value, number, each) for number in nodes)


@given(ranges(9), st.integers(1, 4))
def test_the_multiple_of_a_range_is_the_next_where_none_is_admitted(found, step):
    fitting, multiple = found.fitting(step), found.multiple(step)
    assert multiple % step == 0
    assert fitting in (None, multiple)
    assert fitting is None or found.admits(fitting)


PER_NODE = '<TaskDistribution type="TasksPerNode">2</TaskDistribution>'
THREE = "".join(map(TASK.format, range(3)))
# What is said, how many tasks and nodes that is, and how many processors in all.
SAID = {
    "Task elements": (THREE, 3, None, 3),
    "more processors than Task elements": (
        f"<Requested><Processors>6</Processors></Requested>{THREE}", 6, None, 6,
    ),
    "fewer processors than Task elements": (
        f"<Requested><Processors op='GE'>2</Processors></Requested>{THREE}", 3, None, 3,
    ),
    "more nodes than Task elements": (
        f"<Requested><NodeCount>4</NodeCount></Requested>{THREE}", 4, 4, 4,
    ),
    "TaskCount beside Task elements": (f"<TaskCount>5</TaskCount>{THREE}", 5, None, 5),
    "Task elements that fill nodes": (PER_NODE + THREE, 3, 2, 3),
    "nodes that all tasks name": (
        "".join(ON.format(number, f"n{number % 2}") for number in range(4)), 4, 2, 4,
    ),
    "nodes that all tasks name, with room for more": (
        '<TaskDistribution type="TasksPerNode">3</TaskDistribution>' + ON.format(0, "n2"), 1, 1, 1,
    ),
    "nodes that some tasks name": (ON.format(0, "n1") + TASK.format(1), 2, None, 2),
    "nodes of tasks beside a TaskCount": (
        "<TaskCount>3</TaskCount>" + ON.format(0, "n1") + ON.format(1, "n2"), 3, None, 3,
    ),
    "a node that no Task element names": (
        "<NodeCount>2</NodeCount>" + ON.format(0, "n1") + ON.format(1, "n1"), 3, 2, 3,
    ),
    "a node that the request names, and no Task element": (
        "<Requested><Node>n2</Node></Requested>" + ON.format(0, "n1"), 2, 2, 2,
    ),
    "a geometry beside Task elements": (
        f'<TaskDistribution type="Geometry">{{0,1}}{{2,3}}</TaskDistribution>{THREE}', 4, 2, 4,
    ),
}  # fmt: skip


@pytest.mark.parametrize("said, tasks, nodes, processors", SAID.values(), ids=SAID)
def test_all_count_the_same(said, tasks, nodes, processors):
    job = loads(JOB.format(f"<TaskGroup><Name>g</Name>{said}</TaskGroup>"))
    (unit,) = layout.units(job)
    (laid,) = layout.layouts(unit.block, unit.path).layouts
    assert (laid.tasks.value, laid.nodes and laid.nodes.value) == (tasks, nodes)
    counts = Scope(unit.block, unit.path).counts
    assert (counts.tasks.value, counts.nodes and counts.nodes.value) == (tasks, nodes)
    script = translate(job, "sbatch", Settings(residual=False)).text
    assert _option(script, "--ntasks", default=_option(script, "--nodes")) == tasks
    assert _option(script, "--nodes", default=nodes or 1) == (nodes or 1)
    if "Requested" not in said:
        assert _processors(Scope(defaults.resolve(job).block, "/Job"), started=False) == processors


def test_a_task_outside_of_a_task_group_counts_for_nothing():
    job = loads(JOB.replace("Warn", "Ignore").format(THREE))
    assert "--ntasks" not in translate(job, "sbatch", Settings(residual=False)).text


def _option(script, name, default=1):
    found = re.search(rf"{name}=(\d+)", script)
    return int(found[1]) if found else default


# A request, and its numbers of tasks, nodes and processors.
OTHER_THAN = {
    "nodes": ("<Requested><NodeCount op='NE'>1</NodeCount></Requested>", 2, 2, 2),
    "processors that tasks share": (
        "<TaskCount>3</TaskCount><Requested><Processors op='NE'>3</Processors></Requested>",
        3, None, 6,
    ),
    "processors on nodes": (
        f"{PER_NODE}<Requested><NodeCount>2</NodeCount><Processors op='NE'>4</Processors>"
        "</Requested>", 3, 2, 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("said, tasks, nodes, processors", OTHER_THAN.values(), ids=OTHER_THAN)
def test_a_number_that_is_not_wanted_counts_alike_for_all(said, tasks, nodes, processors):
    job = loads(JOB.format(said))
    (laid,) = layout.layouts(job).layouts
    assert (laid.tasks.value, laid.nodes and laid.nodes.value) == (tasks, nodes)
    assert laid.processors.value == processors
    assert derive(job, starting=True).values["allocated_cpu"] == processors
    assert _processors(Scope(job, "/Job"), started=False) == processors
    script = translate(job, "sbatch", Settings(residual=False)).text
    each = _option(script, "--cpus-per-task")
    assert _option(script, "--ntasks", default=_option(script, "--nodes")) * each == processors


def test_an_ad_asks_for_no_more_hosts_at_least_than_at_most_where_others_were_delivered():
    said = "<NodeCount>2</NodeCount><Delivered><NodeCount>3</NodeCount></Delivered>"
    ad = to_ad(loads(JOB.format(said))).ad
    assert (ad["MinHosts"], ad["MaxHosts"]) == (2, 2)


def test_the_first_of_two_distributions_counts_for_all():
    each = '<TaskDistribution type="ProcessorsPerTask">3</TaskDistribution>'
    job = loads(JOB.format(f"<TaskCount>4</TaskCount>{PER_NODE}{each}"))
    counts = Scope(job, "/Job").counts
    assert (counts.per_node, counts.per_task) == (2, None)
    made = translate(job, "sbatch", Settings(residual=False))
    assert "--cpus-per-task" not in made.text
    assert any("is asked for as well" in loss.reason for loss in made.losses)


def test_an_ad_tells_of_tasks_of_several_groups_that_contradict_their_number():
    two = ON.format(0, "n3") + ON.format(1, "n2")
    groups = f"<TaskGroup><Name>a</Name><TaskCount>1</TaskCount>{two}</TaskGroup>"
    job = loads(JOB.format(groups + "<TaskGroup><Name>b</Name></TaskGroup>"))
    told = [each.message for part in to_ads(job) for each in part.findings]
    assert any("Task elements" in message for message in told)


@pytest.mark.parametrize("policy, code", [("Reject", "E-LOSS"), ("Warn", "W-USELESS")])
def test_an_ad_tells_of_the_nodes_of_tasks_as_the_policy_has_it(policy, code):
    group = f"<TaskGroup><Name>a</Name>{ON.format(0, 'n1')}</TaskGroup>"
    (made,) = to_ads(loads(JOB.replace("Warn", policy).format(group)))
    assert [each.code for each in made.findings if "Task of a" in each.message] == [code]


# decision 1122
def test_the_count_of_a_single_name_counts_no_nodes():
    node = "<Requested><Node count='1'>n1</Node></Requested>"
    one = '<TaskDistribution type="TasksPerNode">1</TaskDistribution>'
    job = loads(JOB.format(f"<TaskCount>4</TaskCount>{one}{node}"))
    (laid,) = layout.layouts(job).layouts
    assert (laid.holds, laid.nodes.value) == (True, 4)


WISHED = {
    "nodes": ("<NodeCount>4</NodeCount>", "<NodeCount preference='-1'>2</NodeCount>", 4),
    "processors": ("<Processors>4</Processors>", "<Processors preference='-1'>2</Processors>", 4),
}


@pytest.mark.parametrize("own, wish, number", WISHED.values(), ids=WISHED)
def test_a_placement_has_what_is_said_outside_of_a_request_beside_a_wish(own, wish, number):
    job = loads(JOB.format(f"{own}<Requested>{wish}</Requested>"))
    offers = [{"id": f"n{each}", "Processors": 8} for each in range(6)]
    (group,) = place(job, offers, solver=False).groups
    assert group.tasks == number


UNMET = "<Requested><Processors>6</Processors><Processors op='GT'>7</Processors></Requested>"


@pytest.mark.parametrize("target", ["sbatch", "pbs", "lsf", "condor", "flux", "psij"])
@pytest.mark.parametrize("others", ["", "<TaskGroup><Name>b</Name></TaskGroup>"], ids=["1", "2"])
def test_a_task_group_whose_request_nothing_satisfies_is_not_written(target, others):
    job = loads(JOB.format(f"<TaskGroup><Name>a</Name>{UNMET}</TaskGroup>{others}"))
    with pytest.raises(InvalidValue, match=r"no amount satisfies|cannot be read"):
        translate(job, target)


FOUR = "".join(map(TASK.format, range(4)))


@pytest.mark.parametrize("target", ["flux", "flux-canonical"])
def test_more_processors_than_tasks_are_told_where_elements_count_the_tasks(target):
    job = loads(JOB.format(
        f"<TaskGroup><Name>a</Name><NodeCount>3</NodeCount>{FOUR}</TaskGroup>"
    ))  # fmt: skip
    losses = translate(job, target).losses
    assert any("6 processors in all, and 4 of its tasks" in loss.reason for loss in losses)


# decision 1131
@pytest.mark.parametrize("target", ["flux", "flux-canonical", "condor"])
def test_they_are_told_where_another_alternative_alone_speaks_of_processors(target):
    said = "<TaskCount>5</TaskCount><NodeCount>2</NodeCount>"
    asked = "<Requested><Feature>g</Feature><Processors conj='Or'>2</Processors></Requested>"
    losses = translate(loads(JOB.format(said + asked)), target).losses
    assert any("6 processors in all, and 5 of its tasks" in loss.reason for loss in losses)


TWO_TO_SIX = "<NodeCount op='GE'>2</NodeCount><NodeCount op='LE'>6</NodeCount>"
FROM_TWO = "<NodeCount op='GE'>2</NodeCount>"
UP_TO_SIX = "<NodeCount op='LE'>6</NodeCount>"
OF_THREE = "<TaskCount>3</TaskCount><Requested>{}</Requested>"
# A request, and the least and the greatest number of nodes for its tasks.
CUT = {
    "a range beside TaskCount": (OF_THREE.format(TWO_TO_SIX), 2, 3),
    "a lower end beside TaskCount": (OF_THREE.format(FROM_TWO), 2, 3),
    "an upper end beside TaskCount": (OF_THREE.format(UP_TO_SIX), 1, 3),
    "a range beside Processors": (
        f"<Requested>{TWO_TO_SIX}<Processors>4</Processors></Requested>", 2, 4,
    ),
    "a range beside Task elements": (
        f"<TaskGroup><Name>g</Name><Requested>{TWO_TO_SIX}</Requested>{THREE}</TaskGroup>", 2, 3,
    ),
    "a range beside Task elements on one node": (
        f"<TaskGroup><Name>g</Name><TaskCount>4</TaskCount><Requested>{TWO_TO_SIX}</Requested>"
        + ON.format(0, "n1") + ON.format(1, "n1") + "</TaskGroup>", 2, 3,
    ),
}  # fmt: skip


# decision 1131
@pytest.mark.parametrize("said, least, most", CUT.values(), ids=CUT)
def test_a_range_of_nodes_ends_at_the_tasks_for_each_target_that_has_a_place_for_one(
    said, least, most
):
    job, bare = loads(JOB.format(said)), Settings(residual=False)
    script = translate(job, "sbatch", bare).text
    assert f"--nodes={least}-{most}\n" in script
    asked = json.loads(translate(job, "slurmrest", bare).text)["job"]
    assert (asked["minimum_nodes"], asked["maximum_nodes"]) == (least, most)
    assert f"UpperBound>{most}<" in translate(job, "jsdl", bare).text.replace("edRange", "")
    count = json.loads(translate(job, "flux-canonical", bare).text)["resources"][0]["count"]
    assert (count if isinstance(count, int) else count["max"]) == most


SLOTS = {
    "processors": (f"<Requested>{TWO_TO_SIX}<Processors>4</Processors></Requested>", "8 in all"),
    "tasks": (
        "<TaskCount>4</TaskCount>" f"<Requested>{TWO_TO_SIX}</Requested>",
        "8 processors in all, and 4 of its tasks",
    ),
}  # fmt: skip


@pytest.mark.parametrize("said, told", SLOTS.values(), ids=SLOTS)
def test_a_range_of_nodes_with_more_slots_than_tasks_is_told(said, told):
    losses = translate(loads(JOB.format(said)), "flux-canonical").losses
    assert any(told in loss.reason for loss in losses)


LAST_HAS_THE_REST = {
    "NodeCount": "<TaskCount>4</TaskCount><NodeCount>2</NodeCount>",
    "a range of processors": "<NodeCount>2</NodeCount>"
        "<Requested><Processors op='GE'>4</Processors></Requested>",
    "a name": "<TaskCount>2</TaskCount><Requested><Node>n3</Node></Requested>",
}  # fmt: skip


@pytest.mark.parametrize("target", ["sbatch", "slurmrest", "pbs", "torque", "lsf"])
@pytest.mark.parametrize("said", LAST_HAS_THE_REST.values(), ids=LAST_HAS_THE_REST)
def test_tasks_that_fill_their_nodes_but_for_the_last_are_as_said(said, target):
    three = '<TaskDistribution type="TasksPerNode">3</TaskDistribution>'
    made = translate(loads(JOB.format(three + said)), target)
    assert not [loss for loss in made.losses if "TaskDistribution" in loss.path]


SUBMITTED = {
    "a range of nodes": (
        "<Requested><NodeCount op='GT'>2</NodeCount></Requested>", ["--ntasks=3", "--nodes=3"],
    ),
    "tasks on each node": (
        '<TaskDistribution type="TasksPerNode">1</TaskDistribution>'
        "<Requested><Processors op='LE'>9</Processors></Requested>",
        ["--ntasks=9", "--nodes=9"],
    ),
    "processors of each task": (
        '<TaskDistribution type="ProcessorsPerTask">3</TaskDistribution>'
        "<Requested><Processors op='LE'>6</Processors></Requested>",
        ["--ntasks=2", "--cpus-per-task=3"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("said, options", SUBMITTED.values(), ids=SUBMITTED)
def test_what_is_submitted_at_once_has_the_same_tasks(said, options):
    made = submission(loads(JOB.format(said)), "slurm")
    assert set(options) <= {*made.command}


CONTRADICTING = {
    "more nodes than tasks": "<TaskCount>2</TaskCount><NodeCount>3</NodeCount>",
    "fewer processors than nodes":
        "<TaskCount>1</TaskCount><NodeCount>2</NodeCount><Processors>4</Processors>",
    "more Task elements than tasks":
        f"<TaskGroup><Name>g</Name><TaskCount>2</TaskCount>{THREE}</TaskGroup>",
}  # fmt: skip


@pytest.mark.parametrize("said", CONTRADICTING.values(), ids=CONTRADICTING)
@pytest.mark.parametrize("system", ["slurm", "pbs", "lsf", "flux"])
def test_what_contradicts_itself_is_not_submitted_at_once(said, system):
    with pytest.raises(InvalidJob):
        submission(loads(JOB.replace("Warn", "Reject").format(said)), system)


# What contradicts itself, and how many processors it is by precedence (5.2).
OVERRULED = {
    "tasks of several processors": (
        '<TaskCount>6</TaskCount><TaskDistribution type="ProcessorsPerTask">3</TaskDistribution>'
        "<Processors>1</Processors>", 18,
    ),
    "more tasks than processors": ("<TaskCount>6</TaskCount><Processors>5</Processors>", 6),
    "more tasks than may be": (
        "<TaskCount>6</TaskCount><Requested><Processors op='LE'>5</Processors></Requested>", 6,
    ),
    "fewer processors of each task": (
        '<TaskCount>2</TaskCount><TaskDistribution type="ProcessorsPerTask">2</TaskDistribution>'
        "<Requested><Processors>9</Processors></Requested>", 4,
    ),
}  # fmt: skip


# decision 1134
@pytest.mark.parametrize("said, number", OVERRULED.values(), ids=OVERRULED)
def test_tasks_overrule_processors_that_contradict_them_for_all_who_do_not_refuse(said, number):
    job = loads(JOB.format(said))
    (laid,) = layout.layouts(job, lenient=True).layouts
    assert laid.processors.value == number
    assert derive(job, starting=True).values["allocated_cpu"] == number
    assert _processors(Scope(job, "/Job"), started=False) == number
    assert to_ad(job).ad["RequestCpus"] == number
    bare = Settings(residual=False)
    assert f"request_cpus = {number}\n" in translate(job, "condor", bare).text
    script = translate(job, "sbatch", bare).text
    assert _option(script, "--ntasks") * _option(script, "--cpus-per-task") == number
