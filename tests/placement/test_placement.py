"""What placements mean: counts, names, amounts, preferences, limits, and what is refused."""

import pytest

from sssjob import loads
from sssjob.errors import InvalidValue
from sssjob.expression.offers import read
from sssjob.placement import Nodes, NotNodes, filling, place, placements, reasons, search, solving
from sssjob.placement.problem import TaskGeometry

SOLVERS = pytest.mark.parametrize("solver", [True, False], ids=["solver", "filling"])
NODES = """[
  {"id": "n1", "Processors": 4, "Memory": "8 GB", "Feature": ["ib"], "Architecture": "x86"},
  {"id": "n2", "Processors": 8, "Memory": "4 GB", "Feature": ["ib", "gpu"], "Architecture": "ppc"},
  {"id": "m1", "Processors": 2, "Memory": "16 GB", "Feature": [], "Architecture": "x86"}
]"""


def job(inner):
    return loads(f"<Job><Id>1</Id>{inner}</Job>")


def group(inner):
    return job(f"<TaskGroup>{inner}</TaskGroup>")


def on(block, nodes=NODES, **options):
    return place(block, list(read(nodes.encode())), **options)


def where(found, number=0):
    return {share.name: len(share.tasks) for share in found.groups[number].shares}


# The request of a task group, and how many tasks each node gets; None where there is no way.
PLACED = [
    ("<TaskCount>9</TaskCount>", {"n1": 1, "n2": 8}, "largest first"),
    ("<TaskCount>15</TaskCount>", None, "more tasks than processors"),
    ("<TaskCount>6</TaskCount><NodeCount>3</NodeCount>", {"n1": 2, "n2": 2, "m1": 2}, "evenly"),
    ("<TaskCount>9</TaskCount><NodeCount>3</NodeCount>", None, "evenly, and one is too small"),
    ("<TaskCount>12</TaskCount><Requested><NodeCount op='GE'>3</NodeCount></Requested>",
     {"n1": 4, "n2": 7, "m1": 1}, "a range of nodes"),
    ("<TaskCount>4</TaskCount><Requested><NodeCount op='NE'>1</NodeCount></Requested>",
     {"n1": 3, "n2": 1}, "not on one node"),
    ("<TaskCount>4</TaskCount><Requested><NodeCount op='NE'>2</NodeCount><Architecture op='NE'>"
     "ppc</Architecture><Memory op='GT' units='GB'>2</Memory></Requested>", None, "not on two"),
    ("<TaskCount>6</TaskCount><Requested><NodeCount op='GE'>3</NodeCount>"
     "<Feature preference='-1'>gpu</Feature></Requested>", {"n2": 4, "n1": 1, "m1": 1},
     "more nodes take of those that are liked least"),
    ("<TaskCount>10</TaskCount><Requested><NodeCount op='LE'>2</NodeCount>"
     "<Architecture preference='-1'>x86</Architecture></Requested>", {"n1": 4, "n2": 6},
     "a liked one has no place where fewer nodes are asked for"),
    ("<TaskCount>2</TaskCount><TaskDistribution type='TasksPerNode'>1</TaskDistribution><Requested>"
     "<NodeCount op='LE'>3</NodeCount><Feature>gpu</Feature></Requested>", None,
     "one on each, and there is one node"),
    ("<TaskCount>7</TaskCount><TaskDistribution type='TasksPerNode'>4</TaskDistribution>",
     {"n1": 4, "n2": 3}, "tasks per node"),
    ("<TaskCount>6</TaskCount><TaskDistribution type='ProcessorsPerTask'>2</TaskDistribution>",
     {"n1": 2, "n2": 4}, "processors per task"),
    ("<TaskDistribution type='Geometry'>{1,2,5}{3}{4,6}</TaskDistribution>",
     {"n1": 3, "n2": 2, "m1": 1}, "geometry"),
    ("<TaskCount>5</TaskCount><TaskDistribution type='Rule'>RoundRobin</TaskDistribution>",
     {"n2": 5}, "round robin on the fewest nodes"),
    ("<TaskCount>3</TaskCount><Feature>gpu</Feature>", {"n2": 3}, "feature"),
    ("<TaskCount>3</TaskCount><Requested><Feature op='NE'>ib</Feature></Requested>", None,
     "no node without it has room"),
    ("<TaskCount>3</TaskCount><Memory units='GB'>2</Memory>", {"n1": 3}, "memory of each task"),
    ("<TaskCount>2</TaskCount><Requested><Memory op='GT' units='GB'>8</Memory></Requested>", None,
     "just above half of what there is"),
    ("<TaskCount>2</TaskCount><Requested><Memory units='GB' context='Configured'>16</Memory>"
     "</Requested>", {"m1": 2}, "configured takes nothing"),
    ("<TaskCount>2</TaskCount><Disk>1</Disk>", None, "not known"),
    ("<TaskCount>2</TaskCount><Queue>batch</Queue><Duration>60</Duration>", {"n1": 2},
     "about the job"),
    ("<TaskCount>2</TaskCount><Node aggregation='Range'>n[1-2]</Node>", {"n1": 1, "n2": 1},
     "all of a range"),
    ("<TaskCount>2</TaskCount><Node aggregation='List' count='1'>m1,n2</Node>", {"n2": 2},
     "one of a list"),
    ("<TaskCount>4</TaskCount><Requested><Node op='Match'>n.*</Node><Node op='NE'>n1</Node>"
     "</Requested>", {"n2": 4}, "pattern and exception"),
    ("<TaskCount>4</TaskCount><NodeCount>2</NodeCount><Node>m1</Node>", {"n1": 2, "m1": 2},
     "a name that has to be among them"),
    ("<TaskCount>4</TaskCount><Node>x1</Node>", None, "a name that nobody has"),
    (f"<TaskCount>3</TaskCount>{2 * '<Task><Node>m1</Node></Task>'}", {"n1": 1, "m1": 2},
     "nodes that tasks name"),
    ("<Task><Node>x1</Node></Task>", None, "a task's node that is not there"),
    ("<Requested><Processors group='1'>30</Processors><Processors conj='Or' group='-1'>3"
     "</Processors></Requested>", {"n1": 3}, "the alternative that fits"),
    ("<TaskCount>9</TaskCount><Requested><Architecture preference='3'>x86</Architecture>"
     "<Architecture preference='1'>ppc</Architecture></Requested>", {"n1": 4, "n2": 3, "m1": 2},
     "the better alternative as often as it can be"),
    ("<TaskCount>9</TaskCount><Requested><Feature preference='-1'>gpu</Feature></Requested>",
     {"n1": 1, "n2": 8}, "wishes"),
]  # fmt: skip


@SOLVERS
@pytest.mark.parametrize("inner, expected", [pytest.param(*row[:2], id=row[2]) for row in PLACED])
def test_tasks_are_where_they_can_be(inner, expected, solver):
    found = on(group(inner), solver=solver)
    assert (where(found) if found.placed else None) == expected
    assert found.placed or found.reasons


def test_amounts_of_a_job_are_those_of_all_tasks_together():
    whole = "<Requested><Processors>8</Processors><Memory units='GB'>4</Memory></Requested>"
    assert where(on(job(whole))) == {"n2": 8}
    own = f"<TaskGroup><Name>a</Name>{whole}</TaskGroup>"
    assert where(on(job(own))) == {"n1": 2, "m1": 2, "n2": 1} or not on(job(own)).placed
    lent = f"{whole}<TaskGroup><Name>a</Name></TaskGroup>"
    assert where(on(job(lent))) == {"n2": 8}


# What a job and its task groups say, and whether the node below is enough. decision 1023
ONE = [
    ("<Requested><Queue>short</Queue></Requested><TaskGroup/>", False),
    ("<Requested><Queue>long</Queue></Requested><TaskGroup/>", True),
    ("<Requested><Feature op='NE'>gpu</Feature></Requested>{ib}", False),
    ("<Feature>ssd</Feature>{ib}", False),
    ("<Feature>gpu</Feature>{ib}", True),
    ("<Memory>2048</Memory>{m512}", False),
    ("<Requested><Memory>2048</Memory></Requested>{m512}", False),
    (
        "<Requested><Memory>512</Memory></Requested>"
        "<TaskGroup><Requested><Memory>4096</Memory></Requested></TaskGroup>",
        True,
    ),
    (
        "<Requested><Memory preference='-1'>512</Memory></Requested>"
        "<TaskGroup><Requested><Memory>4096</Memory></Requested></TaskGroup>",
        False,
    ),
    ("<Memory>2048</Memory><TaskGroup/><TaskGroup/>", False),
    ("<Memory>1024</Memory><TaskGroup/><TaskGroup/>", True),
    ("<Memory>1024</Memory>{m512}<TaskGroup/>", True),
    (
        "<Requested><Memory op='GE'>512</Memory><Memory op='LT'>600</Memory></Requested>"
        "{m512}{m512}",
        True,
    ),
    ("<Requested><Queue>short</Queue></Requested><TaskGroup/><TaskGroup/>", False),
    (
        "<Requested><Queue group='1'>short</Queue><Memory conj='Or' group='-1'>1024</Memory>"
        "</Requested><TaskGroup/><TaskGroup/>",
        True,
    ),
    (
        "<Requested><Queue group='1'>short</Queue><Memory conj='Or' group='-1'>1025</Memory>"
        "</Requested><TaskGroup/><TaskGroup/>",
        False,
    ),
    (
        "<Requested><Queue group='1'>short</Queue><Node conj='Or' group='-1' op='Match'>n.</Node>"
        "</Requested><TaskGroup/><TaskGroup/>",
        True,
    ),
    (
        "<Requested><Queue group='1'>short</Queue><Node conj='Or' group='-1' op='Match'>m.</Node>"
        "</Requested><TaskGroup/><TaskGroup/>",
        False,
    ),
    (
        "<Requested><Duration>600</Duration></Requested><TaskGroup><Duration>500</Duration>"
        "</TaskGroup><TaskGroup/>",
        True,
    ),
    (
        "<Requested><Processors>5</Processors></Requested><TaskGroup><Processors>2</Processors>"
        "</TaskGroup><TaskGroup/>",
        False,
    ),
    (
        "<Requested><Processors>4</Processors></Requested><TaskGroup><Processors>2</Processors>"
        "</TaskGroup><TaskGroup/>",
        True,
    ),
    ("<Feature>ssd</Feature>{ib}{gpu}", False),
    ("<Feature>ib</Feature>{ib}{gpu}", True),
    ("<Architecture>ppc</Architecture>{x86}{x86}", True),
    ("<Architecture>ppc</Architecture>{x86}<TaskGroup/>", False),
    ("<Requested><Processors op='LE'>8</Processors></Requested>", True),
    ("<Requested><NodeCount op='LE'>8</NodeCount></Requested>", True),
]
ONE_NODE = """[{"id": "n1", "Processors": 4, "Memory": 1024, "Feature": ["ib", "gpu"],
  "Queue": "long", "Architecture": "x86", "Duration": 900}]"""
GROUPS = {
    name: f"<TaskGroup><Requested>{inner}</Requested></TaskGroup>"
    for name, inner in {
        "ib": "<Feature>ib</Feature>", "gpu": "<Feature>gpu</Feature>",
        "m512": "<Memory>512</Memory>", "x86": "<Architecture>x86</Architecture>",
    }.items()
}  # fmt: skip


@SOLVERS
@pytest.mark.parametrize(("inner", "placed"), ONE)
def test_what_a_job_asks_beside_its_task_groups_is_needed(inner, placed, solver):
    found = on(job(inner.format(**GROUPS)), ONE_NODE, solver=solver)
    assert found.placed is placed
    assert placed or len(found.reasons) == 1
    assert [each for each in found.findings if each.code not in ("W-USELESS", "W-COUNTS")] == []


def test_amounts_of_a_job_are_of_all_its_groups_and_told_once():
    groups = "<TaskGroup/><TaskGroup><TaskCount>2</TaskCount></TaskGroup>"
    assert on(job(f"<Memory units='GB'>24</Memory>{groups}")).nodes == ("n1", "m1")
    found = on(job(f"<Memory units='GB'>36</Memory>{groups}"))  # one node has 12 GB, for one task
    (reason,) = found.reasons
    assert (reason.path, reason.text, reason.nodes) == ("/Job/Memory", "Memory EQ 36 GB", 0)


def test_the_upper_end_of_a_range_is_placed_where_it_has_room():
    for most, tasks in ((3, 3), (4, 4), (5, 1)):
        asked = f"<Requested><Processors op='LE'>{most}</Processors></Requested>"
        found = on(job(asked), ONE_NODE)
        assert where(found) == {"n1": tasks}
        assert [each.code for each in found.findings] == ["W-COUNTS"] * (most > tasks)


def test_a_node_count_of_a_job_is_told_beside_several_groups():
    found = on(job("<NodeCount>2</NodeCount><TaskGroup/><TaskGroup/>"))
    assert [(each.code, each.path) for each in found.findings] == [("W-USELESS", "/Job/NodeCount")]
    assert found.placed


def test_processors_that_contradict_those_of_the_groups_are_not_placed():
    groups = "<TaskGroup><Processors>2</Processors></TaskGroup>" * 2
    found = on(job(f"<Processors>5</Processors>{groups}"))
    assert [each.code for each in found.findings] == ["E-COUNTS"]
    assert not found.placed


def test_of_a_chosen_group_the_amounts_of_its_job_are_not_asked_for():
    block = job("<Memory>4096</Memory><Requested><Queue>long</Queue></Requested><TaskGroup/>"
                "<TaskGroup/>")  # fmt: skip
    (found,) = placements(block, list(read(ONE_NODE.encode())), chosen="/Job/TaskGroup[1]".__eq__)
    assert found.placed
    (found,) = placements(
        block, list(read(ONE_NODE.replace("long", "short").encode())),
        chosen="/Job/TaskGroup[1]".__eq__,
    )  # fmt: skip
    assert [each.text for each in found.reasons] == ["Queue EQ long"]


@SOLVERS
def test_task_groups_share_what_is_free(solver):
    groups = "".join(
        f"<TaskGroup><TaskCount>{tasks}</TaskCount><Feature>gpu</Feature></TaskGroup>"
        for tasks in (5, 3)
    )
    found = on(job(groups), solver=solver)
    assert (where(found), where(found, 1)) == ({"n2": 5}, {"n2": 3})
    too_much = groups.replace(">3<", ">4<")
    assert not on(job(too_much), solver=solver).placed


def test_dedicated_is_what_nobody_else_has():
    nodes = """[
      {"id": "a", "Processors": 4, "Memory": {"Configured": "8 GB", "Available": "4 GB"}},
      {"id": "b", "Processors": 4, "Memory": {"Configured": "2 GB", "Available": "2 GB"}}
    ]"""
    asked = "<Requested><Memory context='{}' units='GB'>1</Memory></Requested>"
    assert where(on(group(asked.format("Dedicated")), nodes)) == {"b": 1}
    assert where(on(group(asked.format("Available")), nodes)) == {"a": 1}


def test_a_geometry_keeps_its_tasks_together_and_round_robin_deals_them_out():
    spread = "<TaskDistribution type='{}'>{}</TaskDistribution>"
    found = on(group(spread.format("Geometry", "{1,4}{2}{3,5}")))
    assert sorted(share.tasks for share in found.groups[0].shares) == [(1, 4), (2,), (3, 5)]
    dealt = on(group(
        f"<TaskCount>5</TaskCount><NodeCount>2</NodeCount>{spread.format('Rule', 'RoundRobin')}"
    ))  # fmt: skip
    assert [list(share.tasks) for share in dealt.groups[0].shares] == [[0, 2, 4], [1, 3]]


def test_the_least_reasons_are_told_with_how_many_nodes_each_leaves():
    asked = (
        "<TaskCount>9</TaskCount><Memory>1</Memory>"
        "<Feature>gpu</Feature><Architecture>ppc</Architecture>"
    )
    found = on(group(asked), solver=False)
    assert [str(reason) for reason in found.reasons] == [
        "TaskCount 9",
        "Architecture EQ ppc: 1 of 3 nodes",
    ]
    (only,) = found.groups
    assert (only.able, only.room, only.tasks) == (1, 8, 9)


@pytest.mark.parametrize(
    "nodes, able",
    [
        pytest.param("[]", 0, id="no nodes"),
        pytest.param('[{"id": "a", "Processors": 0}]', 0, id="nothing free"),
        pytest.param('[{"id": "a", "Processors": -4}]', 0, id="less than nothing"),
        pytest.param('[{"id": "a"}]', 0, id="nothing known"),
    ],
)
def test_without_a_free_processor_nothing_is_placed(nodes, able):
    found = on(group("<TaskCount>1</TaskCount>"), nodes)
    assert not found.placed
    assert found.proved
    (reason,) = found.reasons
    assert (reason.text, reason.nodes) == ("a free processor for each task", able)


@pytest.mark.parametrize(
    "nodes, said",
    [
        pytest.param('[{"id": "a"}, {"id": "a"}]', "node a is offered twice", id="twice"),
        pytest.param('[{"id": "a"}, {"id": "b", "Node": "a"}]', "offered twice", id="by its Node"),
        pytest.param('[{"id": "q", "Node": ["a", "b"]}]', "q offers 2 nodes", id="a queue"),
        pytest.param('[{"id": " "}]', "a node has no name", id="no name"),
        pytest.param(f"[{','.join(['{}'] * 40)}]".replace("{}", '{"id": "a"}'), "and more",
                     id="many"),
    ],
)  # fmt: skip
def test_what_is_no_set_of_nodes_is_refused(nodes, said):
    with pytest.raises(NotNodes, match=said):
        on(group("<TaskCount>1</TaskCount>"), nodes)


@pytest.mark.parametrize(
    "inner, code",
    [
        pytest.param("<TaskCount>1000000000</TaskCount>", "E-LIMIT", id="a billion tasks"),
        pytest.param("<TaskCount>4</TaskCount><NodeCount>9</NodeCount>", "E-COUNTS", id="counts"),
        pytest.param("<TaskCount>-1</TaskCount>", "E-TYPE", id="less than a task"),
        pytest.param("<Requested><Processors>1</Processors><Processors>2</Processors></Requested>",
                     "E-UNSAT", id="two numbers"),
        pytest.param("<Requested><Memory op='LT'>0</Memory></Requested>", "E-UNSAT", id="below 0"),
        pytest.param("<Requested><Memory op='Match'>1</Memory></Requested>", "E-OP", id="Match"),
        pytest.param("<Requested><Phase>1</Phase></Requested>", "E-UNKNOWN", id="element"),
        pytest.param("<Requested><Memory group='1'>1</Memory></Requested>", "E-GROUP", id="group"),
        pytest.param("<TaskDistribution type='Rule'>packed</TaskDistribution>", "E-UNKNOWN",
                     id="rule"),
    ],
)  # fmt: skip
def test_what_cannot_be_placed_at_all_is_a_finding(inner, code):
    found = on(group(inner))
    assert not found.placed
    assert code in {finding.code for finding in found.findings if finding.severity == "error"}


@pytest.mark.parametrize("policy, said", [("Warn", ["E-UNKNOWN"]), ("Ignore", [])])
def test_what_is_not_understood_is_met_by_its_policy(policy, said):
    inner = (
        f"<TaskGroup awarenessPolicy='{policy}'><TaskCount>3</TaskCount>"
        "<TaskDistribution type='Rule'>packed</TaskDistribution>"
        "<Requested><Phase>1</Phase></Requested></TaskGroup>"
    )
    found = on(job(inner))
    assert where(found) == {"n1": 3}
    assert sorted({finding.code for finding in found.findings}) == said


def test_jobs_are_placed_by_themselves():
    both = loads(
        "<JobGroup><Id>g</Id>"
        + "".join(f"<Job><Id>{n}</Id><Processors>8</Processors></Job>" for n in (1, 2))
        + "</JobGroup>"
    )
    nodes = Nodes.of(read(NODES.encode()))
    assert [found.nodes for found in placements(both, nodes)] == [("n2",), ("n2",)]
    with pytest.raises(InvalidValue, match="one job"):
        place(both, nodes)


def test_a_large_set_is_placed_exactly_without_a_solver():
    rows = ",".join(f'{{"id": "n{n}", "Processors": {4 + n % 3}}}' for n in range(3000))
    found = on(group("<TaskCount>1000</TaskCount>"), f"[{rows}]", solver=False)
    assert found.proved
    assert len(found.nodes) == 167  # 166 with six processors, and one more


@pytest.mark.parametrize("memory", [0, 1], ids=["alike", "each with its own memory"])
def test_nodes_are_asked_once_for_what_is_alike(memory, monkeypatch):
    from sssjob.expression.evaluate import Request

    asked = []
    verdict = Request.verdict
    monkeypatch.setattr(Request, "verdict", lambda *both: asked.append(1) or verdict(*both))
    rows = ",".join(
        f'{{"id": "n{n}", "Processors": 4, "Feature": "ib", "Memory": {1000 + memory * n}}}'
        for n in range(500)
    )
    assert on(group("<TaskCount>9</TaskCount><Feature>ib</Feature>"), f"[{rows}]").placed
    assert len(asked) == 1


def test_what_the_solver_is_not_asked_is_not_said_to_be_proved(monkeypatch):
    inner = "".join(
        f"<TaskGroup><TaskCount>2</TaskCount><Memory>{n}</Memory></TaskGroup>" for n in (1, 2)
    )
    assert on(job(inner), solver=True).proved
    monkeypatch.setattr(solving, "VARIABLES", 1)
    found = on(job(inner), solver=True)
    assert found.placed
    assert not found.proved


def test_amounts_that_no_solver_adds_up_are_placed_by_filling():
    nodes = """[{"id": "a", "Processors": 8, "Memory": "2.5 DB"},
      {"id": "b", "Processors": 8, "Memory": "1.5 DB"}]"""
    inner = "".join(
        f"<TaskGroup><TaskCount>1</TaskCount><Memory units='B'>{2**100 + n}</Memory></TaskGroup>"
        for n in (1, 2, 4)
    )
    found = on(job(inner), nodes)
    assert found.placed
    assert not found.proved


@pytest.mark.parametrize(
    "shape, tasks, nodes, runs",
    [
        pytest.param(TaskGeometry(full=2), 5, 4, [(2, 2), (1, 1), (0, 1)], id="one idle"),
        pytest.param(TaskGeometry(sizes=(1, 3, 1)), 5, 3, [(3, 1), (1, 2)], id="geometry"),
        pytest.param(TaskGeometry(even=True), 6, 3, [(2, 3)], id="even"),
    ],
)
def test_a_shape_is_sizes_from_the_largest(shape, tasks, nodes, runs):
    assert shape.runs(tasks, nodes) == runs


def test_only_some_numbers_of_nodes_are_tried():
    assert filling.COUNTS < 1000
    rows = ",".join(
        f'{{"id": "n{n}", "Processors": 9, "Feature": "{"ib" if n == 299 else "eth"}"}}'
        for n in range(300)
    )
    asked = (
        "<TaskCount>300</TaskCount><TaskDistribution type='Rule'>RoundRobin</TaskDistribution>"
        "<Requested><Feature preference='-1'>ib</Feature></Requested>"
    )
    found = on(group(asked), f"[{rows}]", solver=False)
    assert found.placed
    assert not found.proved


@SOLVERS
def test_wishes_never_block_however_many_contradict_each_other(solver):
    wishes = "".join(
        f"<Memory preference='-{weight}' units='GB'>{weight}</Memory>" for weight in range(1, 40)
    )
    found = on(group(f"<TaskCount>4</TaskCount><Requested>{wishes}</Requested>"), solver=solver)
    assert found.placed
    assert not found.proved
    assert [finding.code for finding in found.findings] == ["E-LIMIT"]


def test_many_alternatives_and_many_reasons_are_answered_in_bounded_steps(monkeypatch):
    tried = []
    possible = search.possible
    monkeypatch.setattr(reasons, "possible", lambda *a, **k: tried.append(1) or possible(*a, **k))
    either = "".join(
        f"<Feature group='1'>a{n}</Feature><Feature conj='Or' group='-1'>b{n}</Feature>"
        for n in range(300)
    )
    found = on(group(f"<TaskCount>4</TaskCount><Requested>{either}</Requested>"))
    assert not found.placed
    assert not found.proved
    assert len(found.reasons) == 1
    assert len(tried) < 30  # of 301 things, halves are tried


def test_when_trials_run_out_all_that_was_not_left_out_is_a_reason(monkeypatch):
    monkeypatch.setattr(reasons, "TRIALS", 1)
    found = on(group("<TaskCount>2</TaskCount><Memory>1</Memory><Feature>none</Feature>"))
    assert [reason.text for reason in found.reasons] == [
        "TaskCount 2", "Memory EQ 1", "Feature EQ none",
    ]  # fmt: skip


def test_where_no_steps_are_left_nothing_is_said_to_be_proved(monkeypatch):
    none_left = solving.Budget(0.0)
    monkeypatch.setattr(solving, "Budget", lambda: none_left)
    inner = "".join(
        f"<TaskGroup><TaskCount>2</TaskCount><Memory>{n}</Memory></TaskGroup>" for n in (1, 2)
    )
    found = on(job(inner), solver=True)
    assert found.placed
    assert not found.proved


def test_the_same_job_has_the_same_placement_each_time():
    inner = "".join(
        f"<TaskGroup><TaskCount>{n}</TaskCount><Memory units='GB'>1</Memory>"
        "<Requested><Feature preference='-1'>gpu</Feature></Requested></TaskGroup>"
        for n in (3, 4, 2)
    )
    first, second = (on(job(inner), solver=True) for _ in range(2))
    assert first == second
    assert first.proved


@pytest.mark.parametrize("name", ["Queue", "Node"])
@pytest.mark.parametrize("other", [False, True], ids=["nowhere", "on another node"])
def test_a_pattern_that_takes_too_many_steps_proves_nothing(name, other):
    long = {"id": "n", "Processors": 4, name: "a" * 3000 + "b"}
    nodes = [long, *([{"id": "m", "Processors": 1, name: "aaaa"}] if other else [])]
    inner = f"<{name} op='Match'>(a|aa)+\\1</{name}><Processors>1</Processors>"
    found = place(job(f"<Requested>{inner}</Requested>"), nodes)
    assert found.placed == other
    assert not found.proved
    (finding,) = found.findings
    assert (finding.code, str(finding.severity)) == ("E-REGEX-LIMIT", "warning")
    assert finding.path == f"/Job/Requested/{name}"


@pytest.mark.parametrize("inner, places", [
    ("<Processors>99</Processors>", ["/Job/Processors"]),
    ("<Requested><Processors>99</Processors></Requested>", ["/Job/Requested/Processors"]),
    ("<Processors>88</Processors><Requested><Processors>99</Processors></Requested>",
     ["/Job/Requested/Processors"]),
    ("<Feature>x</Feature><Requested><Processors>1</Processors></Requested>", ["/Job/Feature"]),
    ("<Node>x</Node><Requested><Processors>1</Processors></Requested>", ["/Job/Node"]),
    ("<Requested><Processors>99</Processors></Requested><TaskGroup><Feature>ib</Feature>"
     "</TaskGroup>", ["/Job/Requested/Processors"]),
    ("<TaskGroup><Feature>x</Feature><Requested><Memory>1</Memory></Requested></TaskGroup>",
     ["/Job/TaskGroup/Feature"]),
    ("<Requested><Feature group='1'>x</Feature><Feature conj='Or' group='-1'>y</Feature>"
     "</Requested>", ["/Job/Requested/Feature"]),
])  # fmt: skip
def test_what_is_in_the_way_is_told_with_its_place(inner, places):
    offers = [{"id": "n", "Processors": 8, "Memory": 1024, "Feature": ["ib"]}]
    found = place(loads(f"<Job><Id>1</Id>{inner}</Job>"), offers)
    assert [reason.path for reason in found.reasons] == places


def both_or(name, other):
    """Two values of a property, or another thing."""
    first = f'<{name} group="1">1</{name}><{name} group="-1">2</{name}>'
    element, rest = other[1:].split(">", 1)
    return f'<Requested>{first}<{element} conj="Or">{rest}</Requested>'


# decision 1181
@pytest.mark.parametrize("name", ["Queue", "Project", "Duration", "Memory"])
@pytest.mark.parametrize("form", ["{}", "<TaskGroup>{}</TaskGroup>",
                                  "{}<TaskGroup/><TaskGroup/>"])  # fmt: skip
def test_an_alternative_that_contradicts_itself_is_left_out_whatever_nodes_mention(name, form):
    offers = [{"id": "n", "Processors": 8, "Feature": ["f"]}]
    assert not place(job(form.format(both_or(name, "<Feature>x</Feature>"))), offers).placed
    assert place(job(form.format(both_or(name, "<Feature>f</Feature>"))), offers).placed


def test_where_each_alternative_contradicts_itself_by_what_nodes_do_not_mention_all_are_tried():
    asked = both_or("Queue", "<Queue group='1'>3</Queue>").replace(
        "</Requested>", '<Queue group="-1">4</Queue></Requested>'
    )
    assert place(job(asked), [{"id": "n", "Processors": 8}]).placed


def test_a_wish_that_contradicts_a_demand_blocks_nothing():
    wish = '<Queue preference="-1">b</Queue>'
    asked = f"<Requested><Queue>a</Queue>{wish}<Processors>9</Processors></Requested>"
    assert place(job(asked), [{"id": "n", "Processors": 9}]).placed


NONE_OF = {
    "processors": ('<Processors op="LT">1</Processors><Processors conj="Or">5</Processors>', "5"),
    "nodes": ('<NodeCount op="LT">1</NodeCount><Feature conj="Or">ib</Feature>', "ib"),
}


# decision 1182
@pytest.mark.parametrize("asked, left", NONE_OF.values(), ids=NONE_OF)
def test_an_alternative_of_less_than_one_is_left_out_beside_several_groups_and_told(asked, left):
    two = "<TaskGroup><TaskCount>2</TaskCount></TaskGroup>" * 2
    found = on(job(f"<Requested>{asked}</Requested>{two}"))
    assert found.placed
    assert [each.message for each in found.findings if "no number of nodes" in each.message]
    other = asked.replace(left, {"5": "99", "ib": "x"}[left])
    assert not on(job(f"<Requested>{other}</Requested>{two}")).placed
