"""How many tasks, nodes and processors there are: one derivation for all who ask (5.1)."""

import re
from itertools import product

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob import defaults, layout, loads
from sssjob.amounts import Scope
from sssjob.lcginfo.jobs import _processors
from sssjob.task_counts import CountRange, StatedCounts
from sssjob.translate import Settings, translate

MOST = 14  # of any number in the exhaustive search


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


@given(ranges(9), st.integers(1, 4))
def test_the_multiple_of_a_range_is_the_next_where_none_is_admitted(found, step):
    fitting, multiple = found.fitting(step), found.multiple(step)
    assert multiple % step == 0
    assert fitting in (None, multiple)
    assert fitting is None or found.admits(fitting)


TASK = "<Task><TaskId>{}</TaskId></Task>"
ON = "<Task><TaskId>{}</TaskId><Requested><Node>{}</Node></Requested></Task>"
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
    "nodes that some tasks name": (ON.format(0, "n1") + TASK.format(1), 2, None, 2),
    "nodes of tasks beside a TaskCount": (
        "<TaskCount>3</TaskCount>" + ON.format(0, "n1") + ON.format(1, "n2"), 3, None, 3,
    ),
    "a geometry beside Task elements": (
        f'<TaskDistribution type="Geometry">{{0,1}}{{2,3}}</TaskDistribution>{THREE}', 4, 2, 4,
    ),
}  # fmt: skip
JOB = '<Job awarenessPolicy="Warn"><Id>1</Id><Executable>/bin/date</Executable>{}</Job>'


def _only_group(said):
    """The same said by the only task group of a job."""
    return f"<TaskGroup><Name>g</Name>{said}</TaskGroup>"


@pytest.mark.parametrize("within", [str, _only_group], ids=["job", "only group"])
@pytest.mark.parametrize("said, tasks, nodes, processors", SAID.values(), ids=SAID)
def test_all_count_the_same(said, tasks, nodes, processors, within):
    job = loads(JOB.format(within(said)))
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


def _option(script, name, default=1):
    found = re.search(rf"{name}=(\d+)", script)
    return int(found[1]) if found else default
