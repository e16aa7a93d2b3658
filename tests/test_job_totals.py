"""Processors and nodes of a job come to the same on every road, wherever the job says them.

Jobs are drawn: with counts, nodes by name and Memory, requested or not, on the job, in its only
task group, or in two of them. Another number on a road is one that is told.
"""

import json
import re

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from test_named_nodes import COUNTED, OVERRIDDEN, READERS, Asked
from translated import requested, wrapped

from sssjob import dumps, layout, loads
from sssjob.features.derive import derive
from sssjob.layout.request import requests
from sssjob.model import TaskGroup
from sssjob.named_nodes import nodes_together
from sssjob.systems.condor.task_groups import to_ads
from sssjob.translate import Done, Settings, read, translate

# fmt: off
NAMES = (
    "", "<Node>n1</Node>", "<Node>n1</Node><Node>n2</Node>",
    '<Node aggregation="List">n1,n2</Node>', '<Node aggregation="Range">n[1-3]</Node>',
    '<Node aggregation="Range" count="2">n[1-9]</Node>',
    '<Node aggregation="Pattern" count="3">n.*</Node>',
)
RANGES = (
    "<{0}>{1}</{0}>", "<{0}>{1}</{0}>", '<{0} op="GE">{1}</{0}>', '<{0} op="LE">{2}</{0}>',
    '<{0} op="GE">{1}</{0}><{0} op="LE">{2}</{0}>',
)
# fmt: on
NUMBERS = {"NodeCount": (1, 2, 3, 4), "Processors": (1, 2, 3, 4, 6, 8, 12)}
UNTOLD = ("task groups are added up", "there is no option for it")  # so it is said of all of them


def of_psij(text):
    said = json.loads(text).get("resources", {})
    nodes = said.get("node_count")
    tasks = said.get("process_count") or nodes or 1
    return Asked(tasks, nodes, tasks * said.get("cpu_cores_per_process", 1))


def of_jsdl(text):
    """The numbers of a document; None of a range, which is written as it is said."""
    counts = dict(re.findall(r"<(?:jsdl:Total|spmd:)(\w+)>(?:\s*<jsdl:Exact>)?(\d+)", text))
    tasks, nodes, each, processors = (
        int(counts.get(name, 0)) or None
        for name in ("NumberOfProcesses", "ResourceCount", "ThreadsPerProcess", "CPUCount")
    )
    return Asked(tasks, nodes, processors or (tasks and each and tasks * each))


SLOTS = ("ads", "condor", "pbs")  # hosts and chunks, of which several may be of one node
TARGETS = {**READERS, "psij": of_psij, "jsdl": of_jsdl}


@st.composite
def parts(draw, *, ranges=True):
    """What a job or a task group says, in Requested or not."""
    some = st.integers(0, 2).map(lambda number: not number)
    own, asked = "", draw(st.sampled_from(NAMES)) if draw(some) else ""
    if draw(some):
        own += f"<TaskCount>{draw(st.sampled_from((1, 2, 3, 4, 6, 8)))}</TaskCount>"
    if draw(some):
        kind = draw(st.sampled_from(("TasksPerNode", "ProcessorsPerTask")))
        own += f'<TaskDistribution type="{kind}">{draw(st.integers(1, 4))}</TaskDistribution>'
    for name, numbers in NUMBERS.items():
        if draw(some):
            form = draw(st.sampled_from(RANGES)) if ranges else RANGES[0]
            ends = sorted(draw(st.tuples(st.sampled_from(numbers), st.sampled_from(numbers))))
            text = form.format(name, *ends)
            if "op=" in form or draw(st.booleans()):
                asked += text
            else:
                own += text
    if draw(some):
        asked += '<Memory units="GB">12</Memory>'
    return own + (requested(asked) if asked else "")


@st.composite
def jobs(draw):
    groups = draw(st.integers(0, 2))
    inner = draw(parts(ranges=groups < 2))  # what several groups have of a range no road says
    return inner + "".join(
        f"<TaskGroup><Name>g{at}</Name>{draw(parts())}</TaskGroup>" for at in range(groups)
    )


def only_layout(block, path="/Job"):
    first = next(iter(layout.layouts(block, path).layouts), None)
    return first if first is not None and first.holds else None


def nodes_of(laid):
    """The nodes of a layout, None where a single task is all that counts them."""
    if laid.nodes is None or (laid.nodes.value == 1 and laid.nodes.source[:1] != "/"):
        return None
    return laid.nodes.value


def on_nodes(job, every):
    """On how many nodes task groups are together, of which several may name the same (1124)."""
    asked = [requests(unit.block, unit.path)[0][0].candidates for unit in layout.units(job)]
    return nodes_together(zip(asked, every, strict=True))


def totals(job, *, slots=False):
    """What a job asks for by its layouts, or else by what it says of all task groups together.

    ``slots``: each group has hosts of its own, also on a node that several name.
    """
    found = [only_layout(unit.block, unit.path) for unit in layout.units(job)]
    if None in found or any(each.code == "E-COUNTS" for each in layout.check(job)):
        return None
    every = [nodes_of(each) for each in found]
    tasks, processors = (
        sum(getattr(each, name).value for each in found) for name in ("tasks", "processors")
    )
    nodes = None if None in every else sum(every) if slots else on_nodes(job, every)
    said = {item.name for item in (*job.properties, *job.requested)} & set(NUMBERS)
    if len(found) > 1 and said:
        gone = ("TaskCount", "TaskDistribution")
        kept = (each for each in job.items if type(each) is not TaskGroup and each.name not in gone)
        whole = only_layout(job.holding(kept))
        if whole is None:
            return None
        nodes = whole.nodes.value if "NodeCount" in said else nodes
        if "Processors" in said and whole.processors.value != processors:
            tasks, processors = None, whole.processors.value
    return Asked(tasks, nodes, processors)


def of_ads(job):
    nodes = processors = 0
    told = ""
    for made in to_ads(job):
        hosts = made.ad.get("MinHosts", 1)
        nodes += hosts
        processors += made.ad.get("TotalRequestCpus", hosts * made.ad["RequestCpus"])
        told += " ".join(each.message for each in made.findings)
    return Asked(None, nodes, None if "in all and not" in told else processors)


def of_target(job, target):
    """What a target is asked for; None of it where a count is told to be another."""
    text, losses = translate(job, target, Settings(residual=False, unstated="Warn"))
    told = {
        loss.path.rpartition("/")[2] for loss in losses
        if loss.done is not Done.CONVERTED and loss.reason != OVERRIDDEN
        and not loss.reason.endswith(UNTOLD)
    }  # fmt: skip
    return Asked(None, None, None) if told & COUNTED else TARGETS[target](text)


def others(inner):
    """The numbers of roads that are other ones than those of the layouts."""
    job = loads(wrapped(inner))
    if (wanted := totals(job)) is None:
        return {}
    by_slots = totals(job, slots=True)
    found = {"ads": of_ads(job)}
    found["features"] = Asked(None, None, derive(job, starting=True).values["allocated_cpu"])
    # Of a range of nodes these take both ends, of which their readers tell the upper one.
    both = {"sbatch", "slurmrest", "lsf"} if "<NodeCount op" in inner else set()
    both |= {"lsf"} if "<Processors op" in inner else set()
    found |= {target: of_target(job, target) for target in TARGETS.keys() - both}
    return {
        f"{road} {name}": (said, is_)
        for road, numbers in found.items()
        for name, said, is_ in zip(
            Asked._fields, numbers, by_slots if road in SLOTS else wanted, strict=True
        )
        if None not in (said, is_) and said != is_
    }


def group(own="", asked=""):
    return f"<TaskGroup>{own}{requested(asked)}</TaskGroup>"


ONE, TWO = "<NodeCount>1</NodeCount>", "<NodeCount>2</NodeCount>"
SIX = "<TaskCount>6</TaskCount>"
OPEN = '<Processors op="GE">4</Processors><Node aggregation="Pattern" count="3">n.*</Node>'
FOUR = '<Node aggregation="Range">n[1-4]</Node>'
ON_EACH, OF_EACH = (
    f'<TaskDistribution type="{kind}">{{}}</TaskDistribution>'
    for kind in ("TasksPerNode", "ProcessorsPerTask")
)
UNEVEN = group("<TaskCount>8</TaskCount>" + OF_EACH.format(4)) + group(
    asked="<Processors>12</Processors>"
)
# fmt: off
FOUND = [  # what a road made another number of
    "<Processors>12</Processors>" + group(asked="<Processors>6</Processors>"),
    "<TaskCount>12</TaskCount>" + requested("<NodeCount>4</NodeCount>") + group(TWO),
    requested("<Processors>6</Processors>")
    + group(OF_EACH.format(4), "<Processors>8</Processors>"),
    OF_EACH.format(3),
    UNEVEN,
    requested(ONE) + group(asked=TWO) + group(asked=ONE),
    ONE + group(asked="<Node>n1</Node><Node>n2</Node>") + group(asked=ONE),
    requested("<Processors>10</Processors>" + FOUR) + group(asked=FOUR) + group(SIX),
    group(SIX + ON_EACH.format(1)) + group(asked=ONE),
    "<TaskCount>8</TaskCount><NodeCount>3</NodeCount>" + group("<TaskCount>3</TaskCount>", TWO),
    OF_EACH.format(2) + requested("<Processors>7</Processors>") + group(SIX) + group(asked=ONE),
    requested('<Processors>2</Processors><NodeCount op="LE">3</NodeCount>'),
    group("<TaskCount>2</TaskCount>", '<NodeCount op="LE">3</NodeCount>') + group(asked=ONE),
    SIX + ON_EACH.format(4),
    requested('<Node>n1</Node><Node>n2</Node><NodeCount op="LE">3</NodeCount>'),
    SIX + requested('<Node>n1</Node><Node>n2</Node><NodeCount op="LE">3</NodeCount>'),
    requested(OPEN) + group(asked=OPEN),
    requested('<Node aggregation="List">n1,n2</Node>')
    + group(asked='<NodeCount op="LE">3</NodeCount>'),
    requested('<Node aggregation="List">n1,n2</Node><NodeCount op="LE">3</NodeCount>'),
    requested('<Processors op="GE">1</Processors>')
    + group(OF_EACH.format(3), '<Node aggregation="Pattern" count="3">n.*</Node>'),
]
# fmt: on


@pytest.mark.parametrize("inner", FOUND)
def test_totals_of_jobs_of_which_a_road_had_another_are_those_of_the_layout(inner):
    assert others(inner) == {}


@examples(250)
@given(jobs())
def test_processors_and_nodes_of_a_job_are_the_same_on_every_road(inner):
    assert others(inner) == {}


def of_job_read(job, target):
    """The numbers of a target that are others in the job that its text is read as, or none."""
    text = translate(job, target, Settings(residual=False, unstated="Ignore")).text
    (found,) = read(text.encode(), target)
    again = totals(loads(dumps(found.job)))
    if again is None:
        return dumps(found.job)  # it contradicts itself
    pairs = zip(Asked._fields, TARGETS[target](text), again, strict=True)
    return [each for each in pairs if None not in each and each[1] != each[2]]


READ = TARGETS.keys() - {"pbs"}  # whose chunks are task groups, which may name a node twice


@pytest.mark.parametrize("inner", [each for each in FOUND if "op=" not in each])
def test_totals_that_a_road_had_otherwise_are_read_again(inner):
    job = loads(wrapped(inner))
    assert not [(each, said) for each in READ if (said := of_job_read(job, each))]


@examples(60)
@given(jobs())
def test_what_is_written_is_read_as_a_job_of_the_same_numbers(inner):
    job = loads(wrapped(inner))
    if totals(job) is not None and "op=" not in inner:
        assert not [(each, said) for each in READ if (said := of_job_read(job, each))]


@pytest.mark.parametrize(
    "inner",
    [
        requested("<Processors>8</Processors>") + group(asked=TWO) + group(asked=ONE), UNEVEN,
        SIX + requested("<Processors>8</Processors>"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("target", ["sge", "condor"])
def test_no_other_number_of_processors_is_told_than_is_asked_for(target, inner):
    text, losses = translate(loads(wrapped(inner)), target, Settings(residual=False))
    asked = TARGETS[target](text).processors
    assert asked >= 8
    reasons = " ".join(loss.reason for loss in losses)
    assert {*re.findall(r"(\d+) (?:processors )?in all|processors: (\d+)", reasons)} <= {
        (str(asked), "")
    }
