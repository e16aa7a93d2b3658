# ruff: noqa: E501 (a row is a target)
"""Whose the Memory of a job is, the caller decides: numbers for each target, and how they are told.

Four gigabytes, on 2 nodes, by 8 tasks of 2 processors each.
"""

from fractions import Fraction

import pytest
from translated import requested, wrapped

from sssjob import units
from sssjob.document import loads
from sssjob.translate import Done, Settings, read, translate

GIB = 1 << 30
JOB = "<TaskCount>8</TaskCount>" + requested(
    '<NodeCount>2</NodeCount><Processors>16</Processors><Memory units="GB">4</Memory>'
)
# What is written for the job, for each task, and for each node.
# fmt: off
WRITTEN = {
    "sbatch":    ("--mem=2G\n", "--mem-per-cpu=2G\n", "--mem=4G\n"),
    "pbs":       (":mem=2gb\n", ":mem=16gb\n", ":mem=4gb\n"),
    "torque":    ("-l mem=4gb\n", "-l pmem=2gb\n", "-l mem=8gb\n"),
    "sge":       ("h_vmem=256M\n", "h_vmem=2G\n", "h_vmem=512M\n"),
    "lsf":       ("[mem=2048MB/host]", "[mem=4096MB/task]", "[mem=4096MB/host]"),
    "condor":    ("request_memory = 2048\n", "request_memory = 16384\n", "request_memory = 4096\n"),
    "slurmrest": tuple(
        f'"memory_per_{of}": {{\n      "set": true,\n      "infinite": false,\n      "number": {mib}\n'
        for of, mib in (("node", 2048), ("cpu", 2048), ("node", 4096))
    ),
    "jsdl":      (f"<jsdl:TotalPhysicalMemory>\n        <jsdl:Exact>{4 * GIB}<",
                  f"<jsdl:TotalPhysicalMemory>\n        <jsdl:Exact>{32 * GIB}<",
                  f"<jsdl:IndividualPhysicalMemory>\n        <jsdl:Exact>{4 * GIB}<"),
    "psij":      (f'"memory": {4 * GIB}', f'"memory": {32 * GIB}', f'"memory": {8 * GIB}'),
    "flux-canonical": ('"count": 512,\n              "unit": "MB"', '"count": 4096,\n              "unit": "MB"',
                       '"count": 1024,\n              "unit": "MB"'),
}
# What is the number of the document, so that there is no arithmetic.
SAME = {("sbatch", "node"), ("pbs", "node"), ("torque", "job"), ("lsf", "task"), ("lsf", "node"), ("condor", "node"),
        ("slurmrest", "node"), ("jsdl", "job"), ("jsdl", "node"), ("psij", "job")}
# fmt: on
# Where a text does not say on how many nodes, or by how many tasks: by what it is another number.
PARTS = {
    ("torque", "task"): Fraction(2),
    ("sge", "task"): Fraction(2),
    ("sge", "node"): Fraction(1, 2),
    ("condor", "task"): Fraction(1, 8),
}  # fmt: skip


@pytest.mark.parametrize("scope", ["job", "task", "node"])
@pytest.mark.parametrize("target", WRITTEN)
def test_memory_is_written_by_its_scope_and_the_arithmetic_is_told(target, scope):
    settings = Settings(scope, residual=False)
    text, losses = translate(loads(wrapped(JOB)), target, settings)
    assert WRITTEN[target][("job", "task", "node").index(scope)] in text
    told = [loss for loss in losses if loss.path == "/Job/Requested/Memory"]
    assert [loss.done for loss in told] == [Done.CONVERTED] * ((target, scope) not in SAME)


@pytest.mark.parametrize("scope", ["job", "task", "node"])
@pytest.mark.parametrize("target", WRITTEN)
def test_memory_is_read_by_the_scope_that_it_is_written_by(target, scope):
    settings = Settings(scope, residual=False)
    text = translate(loads(wrapped(JOB)), target, settings).text
    (found,) = read(text.encode(), target, settings)
    (memory,) = found.job.requested.all("Memory")
    read_ = units.bytes_of(memory.text, memory.attributes["units"])
    assert read_ * PARTS.get((target, scope), 1) == 4 * GIB


SIXTEEN = '<Memory units="GB">16</Memory>'
UP_TO = '<Processors op="LE">16</Processors>'
UP_TO_NODES = '<NodeCount op="LE">4</NodeCount>'
GROUP = '<TaskGroup><Requested><Processors op="LE">16</Processors><Memory units="GB">1</Memory></Requested></TaskGroup>'
# fmt: off
FROM_ONE = [  # what asks for a range from one on, and what the least that may be granted has
    ("sge",            requested(UP_TO + SIXTEEN),               "-pe smp -16\n#$ -l h_vmem=16G\n"),
    ("lsf",            requested(UP_TO + SIXTEEN),               "-n 1,16\n#BSUB -R rusage[mem=16384MB/host]\n"),
    ("lsf",            '<TaskDistribution type="TasksPerNode">4</TaskDistribution>' + requested(UP_TO + SIXTEEN), "rusage[mem=16384MB/host]\n"),
    ("flux-canonical", requested(UP_TO_NODES + SIXTEEN),         '"count": 16384,\n              "unit": "MB"'),
    ("flux-canonical", "<TaskCount>8</TaskCount>" + requested(UP_TO_NODES + SIXTEEN), '"count": 2048,\n              "unit": "MB"'),
    # Each task of a group has it, however many there are.
    ("sge",            GROUP,                                    "-pe smp -16\n#$ -l h_vmem=1G\n"),
    ("lsf",            GROUP,                                    "rusage[mem=1024MB/task]\n"),
]
# fmt: on


@pytest.mark.parametrize(("target", "inner", "expected"), FROM_ONE)
def test_a_range_with_an_upper_end_alone_begins_at_one_for_memory(target, inner, expected):
    job = loads(wrapped(inner))
    text = translate(job, target, Settings(residual=False)).text
    assert expected in text
    if "TaskGroup" not in inner:
        (found,) = read(text.encode(), target)
        (memory,) = found.job.requested.all("Memory")
        assert units.bytes_of(memory.text, memory.attributes["units"]) == 16 * GIB


@pytest.mark.parametrize(("target", "expected"), [
    ("sge", "-l gpu=8\n"), ("lsf", "-gpu num=8\n"), ("flux-canonical", '"count": 8\n'),
])  # fmt: skip
def test_a_range_with_an_upper_end_alone_begins_at_one_for_gpus(target, expected):
    ends = UP_TO_NODES if target == "flux-canonical" else UP_TO
    job = loads(wrapped(requested(f'{ends}<Resource name="GPU">8</Resource>')))
    text = translate(job, target, Settings(residual=False)).text
    assert expected in text
    (found,) = read(text.encode(), target)
    assert [each.text for each in found.job.requested.all("Resource")] == ["8"]


@pytest.mark.parametrize("slots", ["-16", "1-16", "1-"])
def test_slots_of_a_parallel_environment_without_a_lower_end_are_one_at_least(slots):
    text = f"#!/bin/sh\n#$ -pe smp {slots}\n#$ -l h_vmem=1G\nexec /bin/true\n"
    (found,) = read(text.encode(), "sge")
    (memory,) = found.job.requested.all("Memory")
    assert units.bytes_of(memory.text, memory.attributes["units"]) == GIB


def _group(tasks, inner=""):
    asked = f'<NodeCount>1</NodeCount><Memory units="GB">8</Memory>{inner}'
    return f"<TaskGroup><TaskCount>{tasks}</TaskCount>{requested(asked)}</TaskGroup>"


# decision 937
@pytest.mark.parametrize("groups", [_group(6), _group(2) + _group(2)], ids=["one", "two"])
@pytest.mark.parametrize("target", WRITTEN)
def test_memory_of_a_job_counts_and_that_of_its_task_groups_beside_it_is_told(target, groups):
    asked = '<Memory units="GB">4</Memory>'
    both = loads(wrapped(requested(asked) + groups))
    alone = loads(wrapped(requested(asked) + groups.replace('<Memory units="GB">8</Memory>', "")))
    settings = Settings(residual=False, unstated="Warn")
    text, losses = translate(both, target, settings)
    assert text == translate(alone, target, settings).text
    told = [loss for loss in losses if loss.path.startswith("/Job/TaskGroup")]
    told = [(loss.done, loss.reason) for loss in told if loss.path.endswith("/Memory")]
    assert told == [(Done.DROPPED, "its job says what it asks for")] * groups.count("<TaskGroup>")
    (found,) = read(text.encode(), target)
    sizes = [(*block.requested.all("Memory"),) for block in (found.job, *found.job.asking_groups)]
    parts = [units.bytes_of(each.text, each.attributes["units"]) for (each,) in filter(None, sizes)]
    tasks = [2, 2] if found.job.asking_groups else [1]
    if target != "condor":  # which is one machine there, or two with half of it
        total = sum(part * count for part, count in zip(parts, tasks, strict=True))
        assert 0 <= total - 4 * GIB < 8 << 20  # rounded up


@pytest.mark.parametrize("wish", ['preference="-1"', 'op="NE"'])
def test_memory_that_a_job_does_not_demand_leaves_that_of_its_task_groups(wish):
    inner = requested(f'<Memory units="GB" {wish}>4</Memory>') + _group(2)
    text, losses = translate(
        loads(wrapped(inner)), "torque", Settings(residual=False, unstated="Warn")
    )
    assert "-l mem=16gb\n" in text
    assert not [loss for loss in losses if loss.path == "/Job/TaskGroup/Requested/Memory"
                and loss.done is Done.DROPPED]  # fmt: skip


def test_each_target_with_memory_is_in_the_table():
    from sssjob import registry

    others = {"sss", "flux", "dagman"}  # as it is; none; as in condor
    targets = {name for name, row in registry.all_targets().items() if row.writes}
    assert targets == {*WRITTEN, *others}
