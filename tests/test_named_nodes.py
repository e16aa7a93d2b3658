"""Every road asks for the same tasks, nodes and processors of a job that names nodes."""

import json
import re
from itertools import product
from typing import NamedTuple

import pytest
from draws import examples, share
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from translated import requested, wrapped

from sssjob import dumps, layout, loads, named_nodes, nodes
from sssjob.check.sources import check_source
from sssjob.classads import writing
from sssjob.errors import Severity
from sssjob.features.derive import derive
from sssjob.placement import place
from sssjob.systems.condor.job_ad import to_ad
from sssjob.systems.condor.task_groups import to_ads, together
from sssjob.translate import Done, Settings, Untranslatable, read, translate


class Asked(NamedTuple):
    """How many of each are asked for; None where a road does not say it by itself."""

    tasks: int | None
    nodes: int | None
    processors: int | None


# fmt: off
NODES = {
    "none":           "",
    "one":            "<Node>n1</Node>",
    "two":            "<Node>n1</Node><Node>n2</Node>",
    "list":           '<Node aggregation="List">n1,n2,n3</Node>',
    "range":          '<Node aggregation="Range">n[1-3]</Node>',
    "range, twice":   '<Node aggregation="Range">n[1-3,2]</Node>',
    "range and one":  '<Node aggregation="Range">n[1-3]</Node><Node>m1</Node>',
    "two of a range": '<Node aggregation="Range" count="2">n[1-3]</Node>',
    "three of a range": '<Node aggregation="Range" count="3">n[1-4]</Node>',
    "three of a pattern": '<Node aggregation="Pattern" count="3">n.*</Node>',
    "pattern":        '<Node aggregation="Pattern">n.*</Node>',
    "two of a pattern": '<Node aggregation="Pattern" count="2">n.*</Node>',
    "one and two of a pattern": '<Node aggregation="Pattern" count="2">n.*</Node><Node>n1</Node>',
    "not one":        '<Node aggregation="Range">n[1-4]</Node><Node op="NE">n4</Node>',
}
COUNTS = {
    "none":        ("", ""),
    "2 tasks":     ("<TaskCount>2</TaskCount>", ""),
    "6 tasks":     ("<TaskCount>6</TaskCount>", ""),
    "3 nodes":     ("", "<NodeCount>3</NodeCount>"),
    "2 nodes":     ("", "<NodeCount>2</NodeCount>"),
    "from 2 nodes": ("", '<NodeCount op="GE">2</NodeCount>'),
    "to 2 nodes":  ("", '<NodeCount op="LE">2</NodeCount>'),
    "2 processors": ("", "<Processors>2</Processors>"),
    "12 processors": ("", "<Processors>12</Processors>"),
    "tasks, from 3": ("<TaskCount>6</TaskCount>", '<Processors op="GE">3</Processors>'),
    "tasks, from 9": ("<TaskCount>7</TaskCount>", '<Processors op="GE">9</Processors>'),
    "tasks, to 10": ("<TaskCount>4</TaskCount>", '<Processors op="LE">10</Processors>'),
    "to 11 processors": ("", '<Processors op="LE">11</Processors>'),
    "from 3 processors": ("", '<Processors op="GE">3</Processors>'),
    "from 2 processors": ("", '<Processors op="GE">2</Processors>'),
    "both":        ("<TaskCount>6</TaskCount>", "<Processors>12</Processors>"),
    "all": ("<TaskCount>6</TaskCount>", "<NodeCount>3</NodeCount><Processors>12</Processors>"),
}
SPREADS = {
    "none":        "",
    "on each":     '<TaskDistribution type="TasksPerNode">2</TaskDistribution>',
    "of each":     '<TaskDistribution type="ProcessorsPerTask">2</TaskDistribution>',
    "around":      '<TaskDistribution type="Rule">RoundRobin</TaskDistribution>',
    "geometry":    '<TaskDistribution type="Geometry">{0,1}{2,3}{4,5}</TaskDistribution>',
}
# fmt: on
OFFERS = [{"id": f"{head}{number}", "Processors": 32} for head in "nm" for number in range(1, 5)]
OVERRIDDEN = "its only task group says another"
COUNTED = {"NodeCount", "TaskCount", "Processors", "TaskDistribution"}


def laid(job):
    """What a layout comes to, and None where it does not hold."""
    (unit,) = layout.units(job)
    first = layout.layouts(unit.block, unit.path).layouts[0]
    if not first.holds:
        return None
    return Asked(first.tasks.value, first.nodes and first.nodes.value, first.processors.value)


def options(text):
    """The options of a script, by their names; what stands behind them."""
    lines = re.findall(r"^#(?:SBATCH|PBS|BSUB|\$) (.*)$", text, re.M)
    found = (re.fullmatch(r"(-l \w+|-R \w+|-\w|--[\w-]+)[ =\[]?(.*)", line) for line in lines)
    return dict(each.group(1, 2) for each in found)


def numbers(text):
    """How many nodes Slurm is asked for: any of a range."""
    least, _, most_ = text.partition("-")
    return range(int(least), int(most_) + 1) if most_ else int(text or 0)


def most(count):
    """The greatest number of nodes that is asked for, and one where none is."""
    return count[-1] if isinstance(count, range) else count or 1


def is_asked(wanted, said):
    """Whether the number of a layout is what a system is asked for."""
    return wanted in said if isinstance(said, range) else wanted == said


def of_sbatch(text):
    said = options(text)
    listed = nodes.spans(said["--nodelist"]) if "[" in said.get("--nodelist", "") else ()
    listed = listed or [each for each in said.get("--nodelist", "").split(",") if each]
    count = numbers(said.get("--nodes", "")) or len({*listed}) or None
    tasks = int(said.get("--ntasks", 0))
    tasks = tasks or most(count) * int(said.get("--ntasks-per-node", 1))
    return Asked(tasks, count, tasks * int(said.get("--cpus-per-task", 1)))


def of_slurmrest(text):
    job = json.loads(text)["job"]
    count = numbers(job.get("nodes", "")) or len(job.get("required_nodes", ())) or None
    tasks = job.get("tasks", most(count) * job.get("tasks_per_node", 1))
    return Asked(tasks, count, tasks * job.get("cpus_per_task", 1))


def of_pbs(text):
    tasks = count = processors = 0
    for part in options(text).get("-l select", "1").split("+"):
        number, *rest = part.split(":")
        has = dict(each.split("=") for each in rest)
        count += int(number)
        tasks += int(number) * int(has.get("mpiprocs", 1))
        processors += int(number) * int(has.get("ncpus", 1))
    return Asked(tasks, count, processors)


def of_torque(text):
    count = processors = 0
    for part in options(text).get("-l nodes", "1").split("+"):
        name, *rest = part.split(":")
        number = int(name) if name.isdigit() else 1
        count += number
        processors += number * int(
            dict(each.split("=") for each in rest if "=" in each).get("ppn", 1)
        )
    return Asked(None, count, processors)


def of_flux(text):
    spec = json.loads(text)
    (outer,), told = spec["resources"], spec["tasks"][0]["count"]
    count, slot = (outer["count"], outer["with"][0]) if outer["type"] == "node" else (None, outer)
    slots = (count or 1) * slot["count"]
    cores = next(each["count"] for each in slot["with"] if each["type"] == "core")
    tasks = told.get("total", slots)
    return Asked(tasks, count, tasks * cores)


def of_lsf(text):
    found = re.findall(r"^#BSUB (-\w) (.*)$", text, re.M)
    tasks = next((int(value.rpartition(",")[2]) for name, value in found if name == "-n"), 1)
    usage = " ".join(value for name, value in found if name == "-R")
    on_each, hosts = re.search(r"ptile=(\d+)", usage), re.search(r"hosts=(\d+)", usage)
    count = -(-tasks // int(on_each[1])) if on_each else int(hosts[1]) if hosts else None
    cores = re.search(r"core\((\d+)\)", usage)
    return Asked(tasks, count, tasks * int(cores[1]) if cores else None)


def of_sge(text):
    said = options(text).get("-p", "e smp 1").split()[-1]
    return Asked(None, None, int(said) if said.isdecimal() else None)


def of_condor(text):
    said = dict(re.findall(r"^(\w+) = (.*)$", text, re.M))
    count = int(said.get("machine_count", 1))
    return Asked(None, count, count * int(said.get("request_cpus", 1)))


READERS = {
    "sbatch": of_sbatch, "slurmrest": of_slurmrest, "pbs": of_pbs, "torque": of_torque,
    "flux": of_flux, "lsf": of_lsf, "sge": of_sge, "condor": of_condor,
}  # fmt: skip


def of_target(target):
    """What a target is asked for, and the counts of which it is told that they are not met."""

    def road(job):
        text, losses = translate(job, target, Settings(residual=False, unstated="Warn"))
        told = {
            loss.path.rpartition("/")[2] for loss in losses
            if loss.done is not Done.CONVERTED and loss.reason != OVERRIDDEN
        }  # fmt: skip
        spreads = [each.get("TaskDistribution") for each in (job, *job.task_groups)]
        if "2" not in spreads:  # on each node
            told.discard("TaskDistribution")  # which task is where is none of the numbers
        return READERS[target](text), told & COUNTED

    return road


def of_features(job):
    return Asked(None, None, int(derive(job, starting=True).values["allocated_cpu"])), set()


def of_ad(job):
    (made,) = to_ads(job)
    count = made.ad.get("MinHosts", 1)
    total = made.ad.get("TotalRequestCpus", count * made.ad["RequestCpus"])
    return Asked(None, count, total), set()


def of_placement(job):
    found = place(job, OFFERS, solver=False)
    if not found.placed:
        return None
    (group,) = found.groups
    return Asked(group.tasks, len(group.shares), group.tasks * group.processors_per_task), {
        each.path for each in found.findings if each.code == "W-COUNTS"
    }


ROADS = {target: of_target(target) for target in READERS} | {
    "features": of_features, "ad": of_ad, "place": of_placement,
}  # fmt: skip


def job_of(named, count, spread, *, group=False):
    own, asked = count
    inner = own + spread + (requested(named + asked) if named + asked else "")
    return loads(wrapped(f"<TaskGroup><Name>g</Name>{inner}</TaskGroup>" if group else inner))


def differences(job, roads=ROADS):
    """Roads that ask for other numbers than the layout, of which nothing is told."""
    wanted, found = laid(job), {}
    if wanted is None:
        return {}
    for name in roads:
        told = ROADS[name](job)
        if told is None or told[1]:
            continue
        pairs = zip(Asked._fields, wanted, told[0], strict=True)
        others = {each: (is_, said) for each, is_, said in pairs if None not in (is_, said)}
        if name in ("ad", "condor") and wanted.nodes and wanted.processors % wanted.nodes:
            others.pop("processors")  # rounded up for each machine
        found |= {f"{name} {key}": pair for key, pair in others.items() if not is_asked(*pair)}
    return found


@pytest.mark.explore
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("named", NODES)
def test_every_road_asks_for_what_the_layout_comes_to(named, count):
    found = {}
    first, step = [*NODES].index(named) + [*COUNTS].index(count), share(2)
    for place_, (spread, said) in enumerate(SPREADS.items(), first):
        for group in (False, True)[place_ % step :: step]:
            job = job_of(NODES[named], COUNTS[count], said, group=group)
            roads = set(ROADS) - ({"place"} if " 2 nodes" in count else set())  # any of a range
            found |= {f"{spread}, {name}": pair for name, pair in differences(job, roads).items()}
    assert found == {}


@examples(25)
@given(
    names=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    sets=st.integers(1, 2), own=st.none() | st.integers(1, 9), all_=st.none() | st.integers(1, 18),
    spread=st.sampled_from(sorted(SPREADS.values())), group=st.booleans(),
)  # fmt: skip
def test_any_names_and_counts_are_one_request_on_every_road(names, sets, own, all_, spread, group):
    parts = [names[: len(names) // 2], names[len(names) // 2 :]] if sets == 2 else [names]
    named = "".join(
        f'<Node aggregation="Range">n[{",".join(map(str, part))}]</Node>' for part in parts if part
    )
    count = (
        f"<TaskCount>{own}</TaskCount>" if own else "",
        f"<Processors>{all_}</Processors>" if all_ else "",
    )
    job = job_of(named, count, spread, group=group)
    assert differences(job, set(ROADS) - {"place"}) == {}


def _of_job_and_group(values):
    """Texts of the job, of its only group, or other ones of both."""
    some = st.sampled_from(values)
    return st.one_of(st.tuples(some, st.just("")), st.tuples(st.just(""), some),
                     st.tuples(some, some))  # fmt: skip


@examples(120)
@given(
    tasks=_of_job_and_group(("", "<TaskCount>6</TaskCount>", "<TaskCount>8</TaskCount>")),
    spread=_of_job_and_group(tuple(SPREADS[each] for each in ("none", "on each", "of each"))),
    nodes_=_of_job_and_group((
        "", "<NodeCount>2</NodeCount>", "<NodeCount>4</NodeCount>", "<Node>n1</Node>",
        '<NodeCount op="GE">2</NodeCount>', '<NodeCount op="LE">2</NodeCount>',
    )),
    processors=_of_job_and_group((
        "", "<Processors>16</Processors>", '<Processors op="GE">3</Processors>',
    )),
    bare=st.tuples(st.booleans(), st.booleans()),  # outside of Requested
)  # fmt: skip
def test_a_job_and_its_only_task_group_are_one_request_on_every_road(
    tasks, spread, nodes_, processors, bare
):
    def said(at):
        outside = bare[at] and "op" not in processors[at]
        first, second = (processors[at], "") if outside else ("", processors[at])
        return tasks[at] + spread[at] + first + requested(nodes_[at] + second)

    own, inner = said(0), said(1)
    job = loads(wrapped(f"{own}<TaskGroup><Name>g</Name>{inner}</TaskGroup>"))
    assert differences(job, set(ROADS) - {"place"}) == {}


# decision 964
@pytest.mark.parametrize("of_group", ["{}", "<Requested>{}</Requested>"])
@pytest.mark.parametrize("of_job", ["{}", "<Requested>{}</Requested>"])
@pytest.mark.parametrize("name", ["Processors", "NodeCount"])
def test_what_the_only_task_group_says_counts_in_whichever_category(of_job, of_group, name):
    own, inner = (
        form.format(f"<{name}>{number}</{name}>") for form, number in ((of_job, 24), (of_group, 12))
    )
    job = loads(wrapped(f"{own}<TaskGroup>{inner}</TaskGroup>"))
    assert differences(job, set(ROADS) - {"place"}) == {}
    told = [
        each.message for each in (*derive(job, starting=True).findings, *to_ads(job)[0].findings)
    ]
    assert [each for each in told if "says another" in each]
    assert bool([each for each in told if "but 24 by /Job" in each]) is (name == "Processors")


@examples(60)
@given(
    own=st.tuples(
        st.sampled_from(("", "<TaskCount>6</TaskCount>")), st.sampled_from([*SPREADS.values()][:3])
    ),
    groups=st.lists(
        st.tuples(
            st.sampled_from(("", "<TaskCount>2</TaskCount>", "<TaskCount>3</TaskCount>")),
            st.sampled_from([*SPREADS.values()][:3]),
            st.sampled_from(("", "<NodeCount>2</NodeCount>", "<Processors>6</Processors>")),
        ),
        min_size=2, max_size=3,
    ),
)  # fmt: skip
def test_several_task_groups_are_added_up_or_it_is_told(own, groups):
    """What a job says of its tasks is of none of them."""
    inner = "".join(
        f"<TaskGroup><Name>g{at}</Name>{tasks}{spread}{requested(asked)}</TaskGroup>"
        for at, (tasks, spread, asked) in enumerate(groups)
    )
    job = loads(wrapped("".join(own) + inner))
    parts = [layout.layouts(unit.block, unit.path).layouts[0] for unit in layout.units(job)]
    if not all(part.holds for part in parts):
        return
    wanted = sum(part.processors.value for part in parts)
    assert derive(job, starting=True).values["allocated_cpu"] == wanted
    for target, reader in READERS.items():
        text, losses = translate(job, target, Settings(residual=False, unstated="Warn"))
        found = reader(text).processors
        told = " ".join(loss.reason for loss in losses)
        if found not in (wanted, None):
            assert f"{found} processors in all" in told or f"{found} in all" in told, target


@pytest.mark.parametrize("target", ["sbatch", "slurmrest"])
@pytest.mark.parametrize("name", ["Memory", "Disk"])
@pytest.mark.parametrize("nodes_, each", [
    ('<NodeCount op="LE">12</NodeCount>', 12), ('<NodeCount op="GE">3</NodeCount>', 4),
    ('<NodeCount op="GE">2</NodeCount><NodeCount op="LE">4</NodeCount>', 6),
    ("<NodeCount>4</NodeCount>", 3),
])  # fmt: skip
def test_on_the_fewest_nodes_of_a_range_a_job_has_what_it_asks_for(target, name, nodes_, each):
    inner = requested(f'{nodes_}<{name} units="GB">12</{name}>')
    settings = Settings(residual=False, unstated="Warn")
    text, losses = translate(loads(wrapped(inner)), target, settings)
    sizes = re.findall(r"--(?:mem|tmp)=(\d+)G|per_node\D+(?:number\D+)?(\d+)", text)
    assert [int(gib or 0) or int(mib) // 1024 for gib, mib in sizes] == [each]
    done = {loss.done for loss in losses if loss.path.endswith(name)}
    assert done == {Done.APPROXIMATED if '"LE"' in nodes_ else Done.CONVERTED}


@pytest.mark.parametrize("nodes_", ["<NodeCount>4</NodeCount>", '<NodeCount op="GE">2</NodeCount>'])
@pytest.mark.parametrize("spread", SPREADS.values(), ids=SPREADS)
@pytest.mark.parametrize("least", [1, 3, 9])
def test_no_node_is_without_a_task_on_every_road(nodes_, spread, least):
    asked = f'{nodes_}<Processors op="GE">{least}</Processors>'
    job = loads(wrapped(spread + requested(asked)))
    assert differences(job, set(ROADS) - {"place"}) == {}


def test_what_a_job_names_is_of_its_task_groups():
    text = (
        "<TaskGroup><TaskCount>4</TaskCount></TaskGroup><TaskGroup><Name>b</Name></TaskGroup>"
        '<Requested><Node aggregation="Range">n[1-3]</Node></Requested>'
    )
    job = loads(wrapped(text))
    found = [layout.layouts(unit.block, unit.path).layouts[0] for unit in layout.units(job)]
    assert [(each.tasks.value, each.nodes.value) for each in found] == [(4, 3), (3, 3)]
    assert derive(job, starting=True).values["allocated_cpu"] == 7
    assert of_sbatch(translate(job, "sbatch", Settings(unstated="Warn")).text).tasks == 7
    assert of_torque(translate(job, "torque", Settings(unstated="Warn")).text).nodes == 3


def test_a_million_names_beside_another_are_counted_and_told():
    job = loads(wrapped(requested(
        '<Node aggregation="Range">n[1-1000000]</Node><Node>m1</Node>'
    )))  # fmt: skip
    found = layout.layouts(job).layouts[0]
    assert found.tasks.value == found.nodes.value == 1_000_001
    assert [each.code for each in found.findings] == ["E-LIMIT"]
    assert derive(job, starting=True).values["allocated_cpu"] == 1_000_001
    text, losses = translate(job, "sbatch", Settings(residual=False, unstated="Warn"))
    assert of_sbatch(text).nodes == 1_000_001
    assert "more than 10000 names" in {loss.reason for loss in losses}


def test_what_cannot_be_read_as_names_asks_for_nothing_and_is_told_by_features():
    job = loads(wrapped(requested('<Node aggregation="Range">n[3-1]</Node>')))
    made = derive(job, starting=True)
    assert made.values["allocated_cpu"] == 1
    (told,) = [each for each in made.findings if each.path == "/Job/Node"]
    assert (told.code, told.severity) == ("E-TYPE", Severity.WARNING)


@pytest.mark.parametrize("target", ["flux", "lsf", "jsdl"])
@pytest.mark.parametrize(
    "named, all_of_them",
    [("n[1-3]", False), ("n[1-4]", True), ("n[1-9]", True), ("n1", False)],
)
def test_what_every_node_has_to_be_among_is_asked_for_where_there_are_so_many(
    target, named, all_of_them
):
    inner = f'<NodeCount>4</NodeCount><Node aggregation="Range">{named}</Node>'
    text, losses = translate(
        loads(wrapped(requested(inner))), target, Settings(residual=False, unstated="Warn")
    )
    told = [loss.reason for loss in losses if loss.path.endswith("/Node")]
    assert ("n1" in text) is all_of_them
    assert bool(told) is not all_of_them
    assert all("each of 4 nodes would have to be among" in reason for reason in told)


@pytest.mark.parametrize(
    "inner, reason",
    [
        ("<NodeCount>2</NodeCount><Node>n1</Node>", "any of the nodes that are named"),
        ('<Node aggregation="Range">n[1-3]</Node>', "any of the nodes that are named"),
        ("<Node>n1</Node><Node>n2</Node>", "a machine has one name"),
        ('<Node aggregation="Range" count="1">n[1-3]</Node>', ""),
        ("<Node>n1</Node>", ""),
    ],
)
def test_an_ad_tells_what_a_submit_file_tells_of_names(inner, reason):
    job = loads(wrapped(requested(inner)))
    said = " ".join(each.message for each in to_ad(job).findings)
    losses = translate(job, "condor", Settings(residual=False, unstated="Warn")).losses
    told = [loss for loss in losses if loss.path.endswith("/Node")]
    assert bool(reason) is bool(said) is bool(told)
    assert reason in said


@examples(100)
@given(
    st.lists(
        st.tuples(st.sampled_from(("n", "n1", "n0", "")), st.integers(0, 120), st.integers(0, 30)),
        min_size=1, max_size=5,
    ),
    st.lists(st.sampled_from(("n1", "n10", "n010", "n", "7", "07", "m")), max_size=3),
    st.integers(0, 3),
)  # fmt: skip
def test_names_are_counted_as_if_they_were_made(spans, texts, excluded):
    parts = [nodes.Names((nodes.Span(head, low, low + more),)) for head, low, more in spans]
    parts += [nodes.Names((text,)) for text in texts]
    some, others = parts[excluded:], parts[:excluded]
    found = named_nodes.NamedNodes(tuple((each, None) for each in some), tuple(others))
    left_out = {name for each in others for name in each}
    assert found.number == len({name for each in some for name in each} - left_out)


@pytest.mark.parametrize(
    "inner, road, wanted",
    [
        ("<TaskGroup/><TaskGroup><TaskCount>3</TaskCount></TaskGroup>", "pbs", Asked(4, None, 4)),
        (
            f"<TaskGroup>{requested('<Node>a1</Node>')}</TaskGroup><TaskGroup>{requested('')}</TaskGroup>"
            f"<TaskGroup>{requested('<NodeCount>5</NodeCount>')}</TaskGroup>",
            "pbs", Asked(7, 7, 7),
        ),
        (
            '<TaskDistribution type="ProcessorsPerTask">3</TaskDistribution>'
            + requested("<Node>m1</Node>"),
            "lsf", Asked(1, 1, 3),
        ),
        (
            '<TaskDistribution type="ProcessorsPerTask">4</TaskDistribution>'
            + requested('<Processors>4</Processors><Node aggregation="List">m1</Node>'),
            "lsf", Asked(1, 1, 4),
        ),
    ],
)  # fmt: skip
def test_what_says_nothing_of_itself_counts_where_others_do(inner, road, wanted):
    found, told = ROADS[road](loads(wrapped(inner)))
    assert (found.tasks, found.processors) == (wanted.tasks, wanted.processors)
    assert not told


@pytest.mark.parametrize("target", ["sbatch", "slurmrest", "pbs", "torque"])
def test_more_names_than_nodes_are_told_and_cut_off(target):
    inner = requested("<NodeCount>1</NodeCount><Node>n1</Node><Node>n2</Node>")
    text, losses = translate(
        loads(wrapped(inner)), target, Settings(residual=False, unstated="Warn")
    )
    assert "n1" in text
    assert "n2" not in text
    told = {loss.reason for loss in losses if loss.path.endswith("/Node")}
    assert told == {"2 nodes are named, and 1 asked for"}


@pytest.mark.parametrize("target", ["flux", "condor"])
@pytest.mark.parametrize(
    "own, all_, said",
    [
        ("", "<Processors>10</Processors>", "12 in all"),
        ("<TaskCount>5</TaskCount>", "", "8 processors in all, and 5 of its tasks"),
        ("<TaskCount>8</TaskCount>", "", ""),
    ],
)
def test_processors_that_nodes_cannot_share_evenly_are_told(target, own, all_, said):
    job = loads(wrapped(own + requested(f"<NodeCount>4</NodeCount>{all_}")))
    losses = translate(job, target, Settings(residual=False, unstated="Warn")).losses
    told = " ".join(
        loss.reason for loss in losses if loss.path.endswith(("Processors", "TaskCount"))
    )
    assert said in told
    assert bool(said) is bool(told)


ONE_NUMBER = {"pbs", "torque", "flux", "condor", "features", "ad", "place"}  # others take ranges
NONE_AT_ALL = ("0", "-1", "9223372036854775808")


@pytest.mark.parametrize("number", NONE_AT_ALL)
@pytest.mark.parametrize(
    "element",
    ["<NodeCount>{}</NodeCount>", "<Processors>{}</Processors>", '<Memory units="GB">{}</Memory>',
     '<Disk units="GB">{}</Disk>', '<Resource name="GPU">{}</Resource>'],
)  # fmt: skip
def test_no_number_that_can_be_asked_for_is_told_by_an_ad_and_a_submit_file(element, number):
    job = loads(wrapped(requested(element.format(number))))
    made = to_ad(job)
    asked = {name for name in made.ad if name.startswith("Request") or name.endswith("Hosts")}
    assert made.runs
    assert not asked - {"RequestCpus"} or "Requirements" in asked
    assert "9223372036854775808" not in str(made.ad)
    losses = translate(job, "condor", Settings(residual=False, unstated="Warn")).losses
    for said in ([each.message for each in made.findings], [loss.reason for loss in losses]):
        assert any("number above 0" in text or "fit 64 bits" in text for text in said)


def test_of_a_range_from_none_on_the_least_is_one_on_every_road():
    for element in ("NodeCount", "Processors"):
        inner = requested(f'<{element} op="GE">0</{element}><{element} op="LE">4</{element}>')
        job = loads(wrapped(inner))
        assert laid(job).processors == 1
        assert differences(job, ONE_NUMBER) == {}


@pytest.mark.parametrize("of_job", ["<Node>m1</Node>", "<Node>m1</Node><Node>m2</Node>", ""])
@pytest.mark.parametrize(
    "groups",
    [
        [("", '<Node aggregation="Range">a[1-2]</Node>'), ("", "<Node>b1</Node>")],
        [("<TaskCount>2</TaskCount>", "<Node>a</Node>"),
         ("", '<Node aggregation="List">b,c</Node>')],
        [("", '<Node aggregation="Range" count="2">a[1-9]</Node>')],
    ],
)  # fmt: skip
def test_ads_of_task_groups_ask_for_the_nodes_that_these_name_and_not_those_of_their_job(
    of_job, groups
):
    inner = "".join(f"<TaskGroup>{own}{requested(named)}</TaskGroup>" for own, named in groups)
    job = loads(wrapped((requested(of_job) if of_job else "") + inner))
    wanted = [
        layout.layouts(unit.block, unit.path).layouts[0].nodes.value for unit in layout.units(job)
    ]
    made = [each.ad for each in to_ads(job)]
    assert [ad.get("MinHosts", 1) for ad in made] == wanted
    assert "m1" not in str([ad.get("Requirements") for ad in made])


def _read_ad(job, text):
    del text
    return together([made.ad for made in to_ads(job)]).job


def _read_script(job, text):
    del job
    (found,) = read(text.encode(), "condor")
    return loads(dumps(found.job))


# decision 932
@pytest.mark.parametrize("way", [_read_ad, _read_script])
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("named", NODES)
def test_machines_of_htcondor_that_are_named_are_read_as_as_many_nodes(named, count, way):
    """What is written for HTCondor says as many nodes and processors when it is read again."""
    job = job_of(NODES[named], COUNTS[count], "")
    settings = Settings(residual=False, unstated="Ignore")
    first = translate(job, "condor", settings).text
    again = way(job, first)
    assert of_condor(translate(again, "condor", settings).text) == of_condor(first)
    if laid(job) is None:  # it contradicts itself, and so does what is read
        return
    found, wanted = laid(again), of_condor(first)
    assert found is not None
    assert found.nodes in (None, wanted.nodes)
    if found.nodes is None:
        assert wanted.nodes == 1


def test_one_of_several_machines_is_read_as_one_node():
    text = 'executable = /bin/x\nrequirements = member(TARGET.Machine,{"n1","n2"})\nqueue\n'
    job = _read_script(None, text)
    assert laid(job).nodes == 1
    assert [READERS[each](translate(job, each, Settings(residual=False, unstated="Ignore")).text)
            .nodes for each in ("condor", "lsf", "flux")] == [1, None, 1]  # fmt: skip


# decision 938
@pytest.mark.parametrize(("machines", "named"), [(2, True), (3, False), (4, False)])
def test_no_more_machines_than_there_are_names_are_nodes_of_a_list(machines, named):
    lines = ("universe = parallel", f"machine_count = {machines}",
             'requirements = member(TARGET.Machine,{ "n1","n2" })')  # fmt: skip
    text = "executable = /bin/x\n" + "\n".join(lines) + "\nqueue\n"
    (found,) = read(text.encode(), "condor")
    job = loads(dumps(found.job))
    assert laid(job).nodes == machines  # and so it holds
    assert ("Node" in job.requested.names()) is named
    assert bool(found.findings) is not named
    again = translate(job, "condor", Settings(residual=False, unstated="Ignore")).text
    assert all(line in again for line in lines)


# decision 966
@pytest.mark.parametrize(
    ("requirements", "machines", "named"),
    [
        ('member(TARGET.Machine,{"n1","n2"}) && member(TARGET.Machine,{"N2","n3"})', 1, ["n2"]),
        ('member(TARGET.Machine,{"a","b","c"}) && member(TARGET.Machine,{"c","b"})', 1, ["b,c"]),
        ('member(TARGET.Machine,{"a","b","c"}) && member(TARGET.Machine,{"c","b"})', 2, ["b,c"]),
        ('member(TARGET.Machine,{"a","b","c"}) && member(TARGET.Machine,{"c","b"})', 3, []),
        ('member(TARGET.Machine,{"n1","n2"}) && TARGET.Machine == "n2"', 1, ["n2"]),
        ('member(TARGET.Machine,{"n1","n2"}) && member(TARGET.Machine,{"n3"})', 1, []),
        ('TARGET.Machine == "n1" && TARGET.HasX && TARGET.Machine == "n2"', 1, []),
        ('(TARGET.Machine == "n1" && TARGET.Machine == "n2" || TARGET.Machine == "k")', 1, []),
    ],
)  # fmt: skip
def test_lists_of_machines_that_hold_together_are_the_names_in_all_of_them(
    requirements, machines, named
):
    lines = ["universe = parallel", f"machine_count = {machines}"] * (machines > 1)
    lines = ["executable = /bin/x", *lines, f"requirements = {requirements}", "queue\n"]
    (found,) = read("\n".join(lines).encode(), "condor")
    job = loads(dumps(found.job))
    assert [each.text for each in job.requested.all("Node")] == named
    assert bool(found.findings) is not bool(named)
    assert laid(job).nodes == machines
    again = translate(job, "condor", Settings(residual=False, unstated="Ignore")).text
    assert (f"requirements = {requirements}" in again) is not bool(named)


# decision 969
@pytest.mark.parametrize("target", READERS)
@pytest.mark.parametrize(
    "asked", ["<Processors>8</Processors>", '<Processors op="GE">7</Processors>']
)
def test_more_tasks_by_processors_than_nodes_have_by_tasks_per_node_are_told(target, asked):
    job = loads(wrapped(SPREADS["on each"] + requested(f"<NodeCount>2</NodeCount>{asked}")))
    assert laid(job) is None  # it contradicts itself
    text, losses = translate(job, target, Settings(residual=False, unstated="Warn"))
    tasks = layout.layouts(job, lenient=True).layouts[0].tasks.value
    found = READERS[target](text)
    assert found.tasks in (None, tasks)
    assert found.processors in (None, tasks, 8)
    assert "TaskDistribution" in {loss.path.rpartition("/")[2] for loss in losses}


def hosts_of(target, text):
    """The hosts by name that a text asks for, apart from those that it excludes."""
    said = options(text)
    if target == "sbatch":
        listed = said.get("--nodelist", "")
        if "[" in listed:
            return [*nodes.spans(listed)]
        return [each for each in listed.split(",") if each]
    if target == "slurmrest":
        return json.loads(text)["job"].get("required_nodes", [])
    if target == "flux":
        stated = json.loads(text)["attributes"]["system"].get("constraints", {})
        lists = (each.get("hostlist", ()) for each in stated.get("and", [stated]))
        return [name for each in lists for name in each]
    if target == "torque":
        parts = [each.split(":")[0] for each in said.get("-l nodes", "1").split("+")]
        return [each for each in parts if not each.isdigit()]
    found = {"pbs": r"host=(\w+)", "lsf": r"-m \"?([\w ]+)", "sge": r"-l h=\(?(\w[\w|]*)"}[target]
    return re.findall(r"\w+", " ".join(re.findall(found, text)))


HOSTS = tuple(f"n{number}" for number in range(1, 5))


def _of_hosts(name, sets):
    """A set of hosts in each form that a Node has for it, but for patterns of wanted ones."""
    text = ",".join(sorted(sets))
    digits = ",".join(sorted(each[1:] for each in sets))
    forms = [(text, 'aggregation="List"'), (f"n[{digits}]", 'aggregation="Range"')]
    forms += [(text, "")] * (len(sets) == 1)
    forms += [(f"n[{digits.replace(',', '')}]", 'aggregation="Pattern"')] * (name == "NE")
    sign = ' op="NE"' if name == "NE" else ""
    return st.sampled_from([(sets, f"<Node{sign} {form}>{each}</Node>") for each, form in forms])


SOME = st.sets(st.sampled_from(HOSTS), min_size=1, max_size=4)


# decision 1048
@examples(40)
@given(
    wanted=st.lists(SOME.flatmap(lambda sets: _of_hosts("EQ", sets)), min_size=1, max_size=2),
    unwanted=st.lists(SOME.flatmap(lambda sets: _of_hosts("NE", sets)), max_size=2),
    count=st.sampled_from(("", *(COUNTS[f"{each} nodes"][1] for each in ("2", "3", "from 2")))),
    group=st.booleans(),
)
def test_no_target_asks_for_a_node_that_is_excluded_or_not_of_the_set(
    wanted, unwanted, count, group
):
    own = "".join(text for _, text in (*wanted, *unwanted))
    job = job_of(own, ("", count), "", group=group)
    excluded = set().union(*(sets for sets, _ in unwanted))
    among = set().union(*(sets for sets, _ in wanted))
    is_set = len(wanted) == 1 and "aggregation" in wanted[0][1]
    left = among - excluded
    contradicts = any(sets <= excluded for sets, _ in wanted)
    found = place(job, OFFERS, solver=False)
    names = [share.name for each in found.groups for share in each.shares]
    assert {*names} & excluded == set()
    if is_set:
        assert {*names} <= left
        assert bool(names) is (laid(job) is not None)
    for target in (*READERS.keys() - {"condor"},):
        text, losses = translate(job, target, Settings(residual=False, unstated="Warn"))
        told = [loss for loss in losses if loss.path.endswith("/Node")]
        asked = hosts_of(target, text)
        if contradicts:
            assert told
            continue
        assert {*asked} <= left
        number = READERS[target](text).nodes
        if is_set and number and not told:
            assert asked
            assert most(number) <= len({*asked})


REJECTING = (
    '<Job awarenessPolicy="Reject"><Executable>/bin/date</Executable>{}'
    "<Requested>{}</Requested></Job>"
)
TARGETS = (*READERS, "jsdl")
TWO = '<Node aggregation="List" count="2">n4,n3</Node>'


def refused_by(target, job):
    try:
        translate(job, target, Settings(residual=False, unstated="Warn"))
    except Untranslatable:
        return True
    return False


# decisions 1065, 1066, 1068
@pytest.mark.parametrize("own, asked", [
    ("", f'{TWO}<Node op="NE">n3</Node>'),
    ("<TaskCount>1</TaskCount>", f'{TWO}<Node op="NE">n3</Node>'),
    ("<TaskCount>1</TaskCount>", TWO),
    ("<TaskCount>1</TaskCount>", "<Node>n3</Node><Node>n4</Node>"),
    ("", f"<NodeCount>1</NodeCount>{TWO}"),
    ("", "<NodeCount>1</NodeCount><Node>n3</Node><Node>n4</Node>"),
])  # fmt: skip
def test_names_that_their_numbers_contradict_are_refused_on_every_road(own, asked):
    job = loads(REJECTING.format(own, asked))
    assert laid(job) is None
    assert Severity.ERROR in {each.severity for each in layout.check(job)}
    assert not place(job, OFFERS, solver=False).placed
    assert [target for target in TARGETS if not refused_by(target, job)] == []


# decision 1066
@pytest.mark.parametrize("op, number", [("LE", 2), ("LE", 3), ("GE", 1), ("GE", 2)])
def test_of_a_range_of_nodes_there_are_as_many_as_names_are_counted_for(op, number):
    job = loads(REJECTING.format("", f'<NodeCount op="{op}">{number}</NodeCount>{TWO}'))
    assert laid(job).nodes == len(place(job, OFFERS, solver=False).nodes) == 2


def fewest_of_jsdl(text):
    """The nodes of the least range or number that JSDL admits."""
    (found,) = etree.fromstring(text.encode()).iterfind(".//{*}TotalResourceCount")
    ends = {etree.QName(each).localname: each.text for each in found.iter()}
    assert "UpperBoundedRange" not in ends  # which begins at none
    return min(int(ends[name]) for name in ends.keys() & {
        "Exact", "LowerBound", "LowerBoundedRange",
    })  # fmt: skip


def fewest_of_canonical(text):
    count = json.loads(text)["resources"][0]["count"]
    if isinstance(count, str):
        return min(int(each.partition("-")[0]) for each in count.split(","))
    return count if isinstance(count, int) else count["min"]


FEWEST = {each: (lambda text, reader=reader: reader(text).nodes)
          for each, reader in READERS.items() if each != "sge"} | {
    "jsdl": fewest_of_jsdl, "flux-canonical": fewest_of_canonical,
    "psij": lambda text: json.loads(text)["resources"]["node_count"],
    "sbatch": lambda text: int(options(text)["--nodes"].partition("-")[0]),
    "slurmrest": lambda text: json.loads(text)["job"]["minimum_nodes"],
}  # fmt: skip
RANGES = [f'<NodeCount op="{op}">{number}</NodeCount>' for op, number in (
    ("GE", 1), ("GT", 0), ("LE", 2), ("LE", 4), ("LT", 5), ("GE", 2),
)] + ['<NodeCount op="GE">1</NodeCount><NodeCount op="LE">4</NodeCount>']  # fmt: skip
A_CHOICE = '<NodeCount group="1"{}>{}</NodeCount><NodeCount conj="Or" group="-1"{}>{}</NodeCount>'


# decision 1094
@pytest.mark.parametrize("count", [
    *RANGES, A_CHOICE.format("", 2, "", 1), A_CHOICE.format("", 2, ' op="LE"', 4),
    A_CHOICE.format(' op="GE"', 1, "", 4), A_CHOICE.format(' op="LE"', 4, "", 1),
])  # fmt: skip
@pytest.mark.parametrize("named", [
    TWO, '<Node aggregation="List" count="2">n1,n3,n4</Node>', "<Node>n3</Node><Node>n4</Node>",
    '<Node>n3</Node><Node aggregation="Range" count="1">n[1-2]</Node>',
])  # fmt: skip
def test_a_range_of_nodes_begins_for_each_target_at_the_names(count, named):
    job = loads(REJECTING.format("", count + named).replace("Reject", "Ignore"))
    assert laid(job).nodes == 2
    texts = {target: translate(job, target, Settings(residual=False)).text for target in FEWEST}
    assert {target: FEWEST[target](text) for target, text in texts.items()} == dict.fromkeys(
        texts, 2
    )


# decision 1067
@pytest.mark.parametrize("beside", ["<Node>n2</Node>", '<Node aggregation="List">n1,n2</Node>'])
def test_of_several_sets_all_that_is_left_is_among_the_nodes(beside):
    sets = f'<Node aggregation="Range">n[3-4]</Node>{beside}<Node op="NE">n4</Node>'
    job = loads(REJECTING.format("", sets))
    shares = layout.layouts(job).layouts[0].shares
    placed = place(job, OFFERS, solver=False)
    names = {share.name for each in placed.groups for share in each.shares}
    assert names == {share.name for share in shares} == {"n3", *re.findall(r"n[12]", beside)}


SET = 'Node aggregation="List"'
PATTERN = 'Node aggregation="Pattern"'


# decision 1135
@pytest.mark.parametrize("requested, names", [
    (f'<{PATTERN} count="2">m.*</Node><Node>n1</Node>', {"n1", "m1", "m2"}),
    (f'<{PATTERN} count="2">m.*</Node><Node aggregation="Range">n[1-3]</Node>',
     {"n1", "n2", "n3", "m1", "m2"}),
    (f'<{PATTERN} count="2">m.*</Node><{PATTERN} count="1">n.*</Node>', {"m1", "m2", "n1"}),
    (f'<{PATTERN} count="2">m.*</Node><{SET} count="2">m1,m2,n3</Node>', {"n3", "m1", "m2", "m3"}),
    (f'<{PATTERN} count="2">n.*</Node><Node>n4</Node>', {"n4", "n1"}),
    (f'<{PATTERN} count="2">[nm].*</Node><{SET}>n3,m3</Node>', {"n3", "m3"}),
    (f'<{PATTERN} count="3">n.*</Node><Node op="NE">n2</Node>', {"n1", "n3", "n4"}),
    (f'<NodeCount>3</NodeCount><{PATTERN} count="2">m.*</Node>', {"m1", "m2", "m3"}),
    (f'<NodeCount>4</NodeCount><{PATTERN} count="1">m.*</Node><{SET}>n1,n2,n3</Node>',
     {"n1", "n2", "n3", "m1"}),
])  # fmt: skip
def test_a_pattern_with_a_count_asks_for_nodes_that_match_beside_those_with_names(requested, names):
    job = loads(REJECTING.format("", requested).replace("Reject", "Warn"))
    [laid] = layout.layouts(job).layouts
    assert laid.holds
    assert len(laid.shares) == len(names)
    assert {share.name for share in laid.shares} - {""} <= names
    placed = place(job, OFFERS, solver=False)
    assert {share.name for each in placed.groups for share in each.shares} == names
    texts = {target: translate(job, target, Settings(residual=False)).text for target in FEWEST}
    if names == {"n3", "m3"}:  # all that are asked for, by their names
        del texts["sbatch"], texts["slurmrest"]
    counted = {target: FEWEST[target](text) for target, text in texts.items()}
    assert counted == dict.fromkeys(texts, len(names))


@pytest.mark.parametrize("requested", [
    f'<NodeCount>2</NodeCount><{PATTERN} count="2">m.*</Node><Node>n1</Node>',
    f'<NodeCount>3</NodeCount><{PATTERN} count="1">m.*</Node><{SET}>n1,n2,n3</Node>',
])  # fmt: skip
def test_nodes_that_match_have_to_be_there_beside_those_with_names(requested):
    job = loads(REJECTING.format("", requested).replace("Reject", "Warn"))
    [laid] = layout.layouts(job).layouts
    assert [each.code for each in laid.findings] == ["E-COUNTS"]
    assert not place(job, OFFERS, solver=False).groups


@pytest.mark.parametrize("requested, expected", [
    (f'<{SET}>n1,n3</Node><{SET} op="NE" conj="Nand">n1,n2</Node>', {"n1"}),
    (f'<Node>n2</Node><{SET} op="NE" conj="Nand">n2,n1</Node>', {"n2"}),
    (f'<Node>n4</Node><{SET} op="NE" conj="Nand">n2</Node>', set()),
    (f'<{SET}>n1,n2,n3</Node><Node aggregation="Pattern" count="2" op="NE">n[12]</Node>', {"n3"}),
])  # fmt: skip
def test_not_to_be_none_of_some_names_is_to_be_one_of_them(requested, expected):
    """And how many there are to be of what is not wanted says nothing."""
    job = loads(REJECTING.format("<TaskCount>1</TaskCount>", requested))
    found = layout.layouts(job).layouts
    assert {share.name for each in found for share in each.shares} == expected


# decisions 1065, 1112
def test_machines_that_a_choice_counts_are_refused_as_all_others_are():
    choice = '<Node group="1" aggregation="List">n3,n4</Node><{0} conj="Or" group="-1"{1}>a,b</{0}>'
    several = choice.format("Node", ' aggregation="List"')
    assert refused_by("condor", loads(REJECTING.format("", several)))
    found = loads(REJECTING.format("", choice.format("Feature", ' aggregation="List"')))
    text = translate(found, "condor", Settings(residual=False)).text
    assert "Hasa" in text
    assert "machine_count" not in text  # the other one is written, and asks for one machine


def _either(first, second):
    """A choice between what stands in two groups, the first of which is the best."""
    return f'<Node group="1">{first}</Node>' + second.format(' conj="Or" group="-1"')


LATER = '<Node aggregation="List"{}>n4,n1</Node>'
OF_EACH = ("lsf", "flux", "flux-canonical", "condor")  # targets that ask each node for a choice
CHOSEN = [
    ("", _either("n5", LATER), {"n5"}),
    ("<TaskCount>2</TaskCount>", _either("n5", LATER), {"n5"}),
    ("<TaskCount>1</TaskCount>", _either("n5", LATER), {"n5", "n4", "n1"}),
    ("<NodeCount>1</NodeCount>", _either("n5", LATER), {"n5", "n4", "n1"}),
    ("<TaskCount>2</TaskCount><NodeCount>1</NodeCount>", _either("n5", LATER), {"n5", "n4", "n1"}),
    ("", _either("n3", '<Node aggregation="List"{}>n3,n2</Node>'), {"n3"}),
    ("", _either("n5", "<Node{}>n4</Node>"), {"n5", "n4"}),
    ("", '<Node group="1" aggregation="Range" count="1">n[2-3]</Node>'
         '<Node conj="Or" group="-1" aggregation="Range">n[1-2]</Node>', {"n2", "n3"}),
    ("", '<Node group="1">n5</Node><Feature conj="Or" group="1">x</Feature>'
         '<Node aggregation="List" group="-2">n4,n1</Node>', {"n5"}),
    ("", '<Node group="1">n5</Node><Node conj="Or" group="1">n4</Node><Node group="-2">n1</Node>',
     {"n5"}),
    ("", '<Feature group="1">x</Feature><Node aggregation="List" conj="Or" group="-1">n4,n1</Node>',
     set()),
]  # fmt: skip


# decision 1095
@pytest.mark.parametrize("target", [*OF_EACH, "ad"])
@pytest.mark.parametrize("own, choice, wanted", CHOSEN)
def test_a_node_is_any_of_a_choice_where_an_alternative_has_it_alone(target, own, choice, wanted):
    job = loads(REJECTING.format(own, choice))
    if target == "ad":
        (made,) = to_ads(job)
        text = writing.expression(made.ad["Requirements"])
    else:
        text = translate(job, target, Settings(residual=False)).text
    assert set(re.findall(r"\bn[1-6]\b", text)) == wanted


# decision 1095
@pytest.mark.parametrize("own", ["", "<NodeCount>2</NodeCount>", "<TaskCount>2</TaskCount>"])
@pytest.mark.parametrize("other", ["n5", "n6,n5"])
def test_of_a_choice_of_sets_several_nodes_are_of_one_of_them(own, other):
    listed = ' aggregation="List"' if "," in other else ""
    job = loads(REJECTING.format(
        own, '<Node aggregation="List" group="1">n4,n1</Node>'
        f'<Node conj="Or" group="-1"{listed}>{other}</Node>',
    ))  # fmt: skip
    for target in ("lsf", "flux", "flux-canonical"):
        text = translate(job, target, Settings(residual=False)).text
        assert set(re.findall(r"\bn[1-6]\b", text)) == {"n4", "n1"}
        assert FEWEST.get(target, FEWEST["flux"])(text) == 2
    # One machine is all that a single name asks for where nobody counts nodes. # decision 1112
    assert refused_by("condor", job) != (other == "n5" and "NodeCount" not in own)


# decisions 1065, 1066, 1068
@examples(40)
@given(
    some=SOME, is_set=st.booleans(), stated=st.sampled_from(("", ' count="1"', ' count="2"')),
    unwanted=st.lists(SOME, max_size=1), counts=st.sampled_from((
        ("", ""), ("<TaskCount>1</TaskCount>", ""), ("<TaskCount>2</TaskCount>", ""),
        *(("", COUNTS[each][1]) for each in ("2 nodes", "3 nodes", "from 2 nodes")),
    )),
)  # fmt: skip
def test_a_layout_a_placement_a_check_and_targets_agree_on_nodes(
    some, is_set, stated, unwanted, counts
):
    listed = f'<Node aggregation="List"{stated}>{",".join(sorted(some))}</Node>'
    single = "".join(f"<Node>{name}</Node>" for name in sorted(some - set().union(*unwanted)))
    but = "".join(f'<Node aggregation="List" op="NE">{",".join(sorted(each))}</Node>'
                  for each in unwanted)  # fmt: skip
    own, count = counts
    job = loads(REJECTING.format(own, f"{count}{listed if is_set else single}{but}"))
    asked = laid(job)
    placed = place(job, OFFERS, solver=False)
    errors = [each for each in (*layout.check(job), *nodes.check(job))
              if each.severity is Severity.ERROR]  # fmt: skip
    assert (asked is None) is bool(errors)
    assert placed.placed is (asked is not None)
    if asked is not None and asked.nodes is not None:
        assert len(placed.nodes) == asked.nodes
    if asked is None and some - set().union(*unwanted):
        assert [target for target in TARGETS if not refused_by(target, job)] == []


class Wishes(NamedTuple):
    """What a request says of its nodes: sets with their counts, and names that are excluded."""

    sets: tuple[tuple[frozenset[str], int | None], ...]  # a single name has the count None
    excluded: frozenset[str]
    text: str

    @property
    def is_closed(self):
        return len(self.sets) == 1 and "aggregation" in self.text.partition("</Node>")[0]

    def is_met(self, names):
        """Whether what has to be there is among some names: each count has nodes of its own."""
        left = {*names} - self.excluded
        if self.is_closed and not self.sets[0][0] & left:
            return False
        all_of = [] if self.is_closed else [each for each, count in self.sets if not count]
        whole = frozenset().union(*all_of) - self.excluded
        if not whole <= left or not all(each - self.excluded for each in all_of):
            return False
        places = [
            each - whole for each, count in self.sets if count
            for _ in range(count - len(each & whole))
        ]  # fmt: skip
        taken: dict[str, int] = {}

        def finds(place, tried):
            for name in (places[place] & left) - tried:
                tried.add(name)
                if name not in taken or finds(taken[name], tried):
                    taken[name] = place
                    return True
            return False

        return all(finds(place, set()) for place in range(len(places)))


def _listed(names, attributes=""):
    return f'<Node aggregation="List"{attributes}>{",".join(sorted(names))}</Node>'


@st.composite
def wishes(draw):
    """Sets with counts or without, single names, and what excludes names."""
    sets, texts = [], []
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            name = draw(st.sampled_from(HOSTS))
            sets.append((frozenset((name,)), None))
            texts.append(f"<Node>{name}</Node>")
        else:
            some, count = frozenset(draw(SOME)), draw(st.sampled_from((None, None, 1, 2, 3)))
            sets.append((some, count))
            texts.append(_listed(some, f' count="{count}"' if count else ""))
    excluded = frozenset(draw(st.sets(st.sampled_from(HOSTS), max_size=2)))
    if excluded and draw(st.booleans()):
        digits = "".join(each[1:] for each in sorted({*HOSTS} - excluded))
        texts.append(f'<Node op="Match">[nm][{digits}5-9]</Node>')
    elif excluded:
        texts.append(_listed(excluded, ' op="NE"'))
    return Wishes(tuple(sets), excluded, "".join(texts))


COUNTED_BY = st.sampled_from(("", "", "", *(
    f'<NodeCount op="{op}">{number}</NodeCount>'
    for op, number in product(("EQ", "GE", "GT", "LE"), (1, 2, 3, 5))
)))  # fmt: skip
TASKS = st.sampled_from(("", "", *(
    f"<{name}>{number}</{name}>"
    for name, number in product(("TaskCount", "Processors"), (1, 2, 4, 6))
)))  # fmt: skip
MANY = [{"id": f"{head}{number}", "Processors": 32} for head in "nm" for number in range(1, 10)]


# decisions 1080 to 1082
@examples(60)
@given(wanted=wishes(), nodes_=COUNTED_BY, tasks=TASKS)
def test_what_has_to_be_among_the_nodes_is_there_or_it_is_a_contradiction(wanted, nodes_, tasks):
    job = loads(REJECTING.format(tasks, nodes_ + wanted.text))
    (found, *_) = layout.layouts(job).layouts
    errors = [each for each in (*layout.check(job), *nodes.check(job))
              if each.severity is Severity.ERROR]  # fmt: skip
    placed = place(job, MANY, solver=False)
    assert found.holds is placed.placed is not bool(errors)
    can_be_met = wanted.is_met(HOSTS)
    assert can_be_met or not found.holds
    if not nodes_ and not tasks:
        assert found.holds is can_be_met
    reported = {each.code for each in check_source(dumps(job).encode())
                if each.severity is Severity.ERROR}  # fmt: skip
    # As ``validate`` looks at the document: not each request is asked for its layout.
    assert bool(reported & {"E-COUNTS", "E-UNSAT"}) is bool(errors)
    if found.holds:
        assert found.nodes is not None
        laid_on, placed_on = ({share.name for share in each}
                              for each in (found.shares, placed.groups[0].shares))  # fmt: skip
        assert wanted.is_met(laid_on)
        assert wanted.is_met(placed_on)
        assert not wanted.excluded & (laid_on | placed_on)
        if wanted.is_closed:
            assert (laid_on | placed_on) <= wanted.sets[0][0]
        # Of a range placements have the fewest.
        fewer = 'op="LE"' in nodes_ and len(placed_on) < found.nodes.value
        assert fewer or len(placed_on) == found.nodes.value


# decisions 1080, 1081
@pytest.mark.parametrize("own, asked, names", [
    ("", '<Node>n1</Node><Node op="NE">n1</Node>', None),
    ("<TaskCount>2</TaskCount>", '<Node>n1</Node><Node op="NE">n1</Node>', None),
    ("", '<Node>n2</Node><Node op="NE" aggregation="Range">n[1-2]</Node>', None),
    ("", '<Node>n1</Node><Node>n2</Node><Node op="NE">n1</Node>', None),
    ("<TaskCount>2</TaskCount>", f'{_listed({"n1", "n4"})}<Node op="NE">n1</Node>'
                                 '<Node op="Match">n[1-3]</Node>', None),
    ("", f"<NodeCount>2</NodeCount>{_listed(HOSTS[2:])}<Node>n1</Node>", None),
    ("", f"<NodeCount>3</NodeCount>{_listed(HOSTS[2:])}<Node>n1</Node>", {"n1", "n3", "n4"}),
    ("", f'<NodeCount op="GE">2</NodeCount>{_listed(HOSTS[2:])}<Node>n1</Node>',
     {"n1", "n3", "n4"}),
    ("", '<Node>n1</Node>' + _listed(HOSTS[2:], ' count="1"'), {"n1", "n3"}),
    ("", _listed(HOSTS[2:], ' count="1"') + "<Node>n1</Node>", {"n1", "n3"}),
    ("", _listed(HOSTS[2:], ' count="1"') + "<Node>n4</Node>", {"n4"}),
    ("", "<NodeCount>1</NodeCount><Node>n1</Node>" + _listed(HOSTS[2:], ' count="1"'), None),
    # decision 1093
    ("", f"<NodeCount>2</NodeCount>{_listed(HOSTS)}{_listed(HOSTS[2:])}", None),
    ("", f"<NodeCount>4</NodeCount>{_listed(HOSTS)}{_listed(HOSTS[2:])}", {*HOSTS}),
    ("", _listed(HOSTS) + _listed(HOSTS[2:]), {*HOSTS}),
    ("", "<NodeCount>2</NodeCount>" + _listed(HOSTS, ' count="2"') + _listed(HOSTS[2:]),
     {"n3", "n4"}),
    ("", f'<NodeCount op="GE">3</NodeCount>{_listed({"n1", "n2"})}', None),
    ("", _listed({"n1", "n2"}, ' count="1"') + _listed({"n1", "n2"}, ' count="2"'), None),
    ("", _listed({"n1", "n2"}, ' count="1"') + _listed({"n2", "n3"}, ' count="2"'),
     {"n1", "n2", "n3"}),
    ("", _listed({"n1", "n2"}, ' count="1"') + _listed({"n1"}, ' count="1"'), {"n1", "n2"}),
    ("", "<Processors>1</Processors><Node>n1</Node><Node>n2</Node>", None),
    ("", '<Node>n1</Node><Node op="Match">m[1-3]</Node>', None),
])  # fmt: skip
def test_names_that_have_to_be_among_the_nodes_beside_sets(own, asked, names):
    job = loads(REJECTING.format(own, asked))
    (found,) = layout.layouts(job).layouts
    placed = place(job, OFFERS, solver=False)
    assert found.holds is placed.placed is (names is not None)
    assert bool([each for each in layout.check(job) if each.severity is Severity.ERROR]) is (
        names is None
    )
    if names is not None:
        assert {share.name for share in found.shares} == names
        assert {share.name for share in placed.groups[0].shares} == names


# decision 1098
@pytest.mark.parametrize("own, asked, names", [
    ("", '<NodeCount op="LE">3</NodeCount>' + _listed({"n1", "n2"}), {"n1", "n2"}),
    ("<TaskCount>6</TaskCount>", '<NodeCount op="LT">4</NodeCount>' + _listed({"n1", "n2"}),
     {"n1", "n2"}),
    ("", f'<NodeCount op="LE">2</NodeCount>{_listed({"n1", "n2"})}<Node op="NE">n2</Node>',
     {"n1"}),
    ("<TaskCount>4</TaskCount><TaskDistribution type=\"TasksPerNode\">2</TaskDistribution>",
     '<NodeCount op="LE">3</NodeCount>' + _listed({"n1", "n2"}), {"n1", "n2"}),
])  # fmt: skip
def test_an_upper_end_alone_asks_for_no_more_nodes_than_one_set_has(own, asked, names):
    job = loads(REJECTING.format(own, asked))
    (found,) = layout.layouts(job).layouts
    assert found.holds
    assert {share.name for share in found.shares} == names
    assert {share.name for share in place(job, OFFERS, solver=False).groups[0].shares} <= names
    assert not [*layout.check(job)]
    assert derive(job).values.get("allocated_cpu") is not None
    assert "#SBATCH --nodelist=" in translate(job, "sbatch", Settings()).text  # and not refused


CONTRADICTING = [
    ("", '<Node>n1</Node><Node op="NE">n1</Node>'),
    ("", '<Node>n2</Node><Node op="NE" aggregation="Range">n[1-2]</Node>'),
    ("<TaskCount>2</TaskCount>", "<NodeCount>3</NodeCount>"),
    ("<TaskCount>2</TaskCount>", "<Node>n3</Node><Node>n4</Node><Node>n1</Node>"),
    ("<Processors>1</Processors>", "<Node>n3</Node><Node>n4</Node>"),
    ("", f"<NodeCount>2</NodeCount>{_listed(HOSTS[2:])}<Node>n1</Node>"),
]


# decision 1083
@pytest.mark.parametrize("own, asked", CONTRADICTING)
@pytest.mark.parametrize("form", [
    "{}", "<TaskGroup>{}</TaskGroup>",
    "<TaskGroup><Name>a</Name></TaskGroup><TaskGroup>{}</TaskGroup>",
])  # fmt: skip
def test_what_contradicts_itself_is_refused_by_each_target_and_ad(own, asked, form):
    job = loads(wrapped(form.format(own + requested(asked))))
    refusing = loads(dumps(job).replace("<Job>", '<Job awarenessPolicy="Reject">'))
    assert [target for target in TARGETS if not refused_by(target, refusing)] == []
    assert not all(made.runs for made in to_ads(refusing))
    for target in TARGETS:
        losses = translate(job, target, Settings(residual=False, unstated="Warn")).losses
        assert [loss for loss in losses if loss.path.rpartition("/")[2] in {*COUNTED, "Node"}]


def _either(*texts):
    """Requests of which one is enough, each in signs of its own."""
    found = []
    for number, text in enumerate(texts):
        parts = re.findall(r"<\w+.*?</\w+>", text)
        if number:
            parts[0] = parts[0].replace(" ", ' conj="Or" ', 1) if " " in parts[0] else (
                re.sub(r"<(\w+)>", r'<\1 conj="Or">', parts[0], count=1))  # fmt: skip
        if len(parts) > 1:
            for place, sign in ((0, "1"), (-1, "-1")):
                parts[place] = re.sub(r"<(\w+)", rf'<\1 group="{sign}"', parts[place], count=1)
        found.append("".join(parts))
    return "".join(found)


@st.composite
def asking(draw):
    """What a job asks for by itself, with an alternative, or in each of two task groups."""
    ways = st.sampled_from(("itself", "either", "groups"))
    asked = [draw(COUNTED_BY) + draw(wishes()).text for _ in range(2)]
    tasks, way = draw(TASKS), draw(ways)
    if way == "groups":
        bare = re.sub(r"<Processors>.*", "", tasks)  # which its groups have together
        inner = ((tasks, requested(asked[0])), (draw(TASKS), requested(asked[1])), ("", ""))
        some = inner[:2] if draw(st.booleans()) else inner[::2]
        groups = "".join(f"<TaskGroup><Name>{name}</Name>{own}{block}</TaskGroup>"
                         for name, (own, block) in zip("ab", some, strict=True))  # fmt: skip
        return groups + (bare if draw(st.booleans()) else "")
    return tasks + requested(_either(*asked) if way == "either" else asked[0])


# decisions 1083, 1092
@examples(25)
@given(inner=asking())
def test_no_target_and_no_ad_writes_what_a_layout_refuses(inner):
    job = loads(wrapped(inner).replace("<Job>", '<Job awarenessPolicy="Reject">'))
    every = [layout.layouts(unit.block, unit.path).layouts for unit in layout.units(job)]
    # Of alternatives one that holds may be written.
    if any(found and not any(each.holds for each in found) for found in every):
        assert [target for target in TARGETS if not refused_by(target, job)] == []
        assert not all(made.runs for made in to_ads(job))


# decision 1084
@pytest.mark.parametrize("policy", ["Reject", "Warn"])
def test_counts_of_groups_that_an_ad_adds_up_are_refused_as_by_a_submit_file(policy):
    group = "<TaskGroup><Name>{}</Name><TaskCount>2</TaskCount></TaskGroup>"
    inner = group.format("a") + group.format("b")
    job = loads(wrapped(inner).replace("<Job>", f'<Job awarenessPolicy="{policy}">'))
    assert refused_by("condor", job) is (policy == "Reject")
    assert all(made.runs for made in to_ads(job)) is (policy == "Warn")


AMOUNTS = [
    "",
    "<Memory>1024</Memory>",
    "<Disk>5</Disk>",
    "<Swap>4</Swap>",
    "<Processors>2</Processors>",
    "<NodeCount>2</NodeCount>",
    "<Node>n1</Node>",
    '<Processors op="GE">3</Processors>',
    '<Resource name="GPU">1</Resource>',
]


def _of_two_groups(policy, every, outer):
    groups = "".join(
        f"<TaskGroup><Name>{name}</Name>{requested(said) if said else ''}</TaskGroup>"
        for name, said in zip("ab", every, strict=True)
    )
    text = wrapped(groups + (requested(outer) if outer else ""))
    return loads(text.replace("<Job>", f'<Job awarenessPolicy="{policy}">'))


# decision 1092
@pytest.mark.parametrize("outer", ["", "<Node>n1</Node>"])
@pytest.mark.parametrize("whole", [
    "<Processors>1</Processors>", '<Processors op="LE">1</Processors>',
    '<Processors op="GE">3</Processors>', "<Processors>3</Processors>",
])  # fmt: skip
def test_processors_that_are_not_those_of_the_groups_are_refused_on_every_road(whole, outer):
    one = "<Processors>1</Processors>"
    job = _of_two_groups("Reject", (one, one), outer + whole)
    assert Severity.ERROR in {each.severity for each in layout.check(job)}
    assert not place(job, OFFERS, solver=False).placed
    assert [target for target in TARGETS if not refused_by(target, job)] == []
    assert not all(made.runs for made in to_ads(job))


# decision 1091
@pytest.mark.parametrize("outer", ["", AMOUNTS[1], AMOUNTS[4]])
@pytest.mark.parametrize("every", list(product(AMOUNTS, AMOUNTS)))
def test_one_ad_of_two_groups_is_refused_where_a_submit_file_is(every, outer):
    job = _of_two_groups("Reject", every, outer)
    ads = to_ads(job)
    assert len(ads) == 2 or all(made.runs for made in ads) is not refused_by("condor", job)


# decision 1091
@pytest.mark.parametrize("outer", ["", AMOUNTS[1], AMOUNTS[6]])
@pytest.mark.parametrize("every", list(product(AMOUNTS, AMOUNTS[1:])))
def test_what_groups_only_wish_for_refuses_no_ad(every, outer):
    demanded, wished = every
    wish = re.sub(r"<(\w+)", r'<\1 preference="-1"', wished, count=1)
    for pair in ((wish, wish), ("", wish), (wish, "")):
        job = _of_two_groups("Reject", pair, "")
        assert all(made.runs for made in to_ads(job))
    both = [_of_two_groups("Reject", (demanded + wish, demanded), outer),
            _of_two_groups("Reject", (demanded, demanded), outer)]  # fmt: skip
    with_wish, without = ([made.runs for made in to_ads(job)] for job in both)
    assert with_wish == without


# decision 1091
@pytest.mark.parametrize("every", list(product(AMOUNTS, AMOUNTS)))
def test_what_may_be_ignored_of_groups_is_not_told_with_an_ad(every):
    job = _of_two_groups("Ignore", every, "<TaskCount>3</TaskCount><Node>n2</Node>")
    found = [each for made in to_ads(job) for each in made.findings]
    assert [each for each in found if each.severity is Severity.WARNING] == []


# decision 1085
def test_more_processors_of_groups_than_of_their_job_are_told_beside_a_named_node():
    outer = requested("<Node>n1</Node><Processors>1</Processors>")
    groups = "<TaskGroup><Name>a</Name></TaskGroup><TaskGroup><Name>b</Name></TaskGroup>"
    found = translate(loads(wrapped(outer + groups)), "pbs", Settings(unstated="Warn"))
    assert of_pbs(found.text).processors == 2
    assert any(loss.reason.startswith("2 in all; ") for loss in found.losses)
