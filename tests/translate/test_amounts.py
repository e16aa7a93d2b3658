# ruff: noqa: E501 (a case is a line)
"""What options come to, by the manual of their system, is what the job asks for, or it is told."""

import re
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from translated import requested, wrapped

from sssjob.document import dumps, loads
from sssjob.systems.slurm.submission import expanded
from sssjob.translate import Done, Settings, read, translate

MIB, GIB = 1 << 20, 1 << 30
SIZES = {"b": 1, "k": 1 << 10, "m": MIB, "g": GIB, "t": 1 << 40}


@dataclass
class Asks:
    """What a script comes to: 0 where it does not say it."""

    cpus: int = 0
    nodes: int = 0
    memory: int = 0
    gpus: int = 0


def size(text, unit="b"):
    """Bytes, of a number with a unit of powers of 1024."""
    number, given_ = re.fullmatch(r"([0-9]+)([kmgt]?)b?", text.lower()).groups()
    return int(number) * SIZES[given_ or unit]


def option(text, name):
    """The value of an option in a directive, or ""."""
    found = re.search(rf"^#\S+ {re.escape(name)}[= ](.+)$", text, re.M)
    return found[1].strip('"') if found else ""


def chunks(text, resource):
    """The parts of select= or nodes=: how many, and what each has."""
    for part in filter(None, option(text, f"-l {resource}").split("+")):
        head, *rest = part.split(":")
        yield int(head) if head.isdigit() else 1, dict(each.partition("=")[::2] for each in rest)


def of_pbs(text):
    """``select``: everything is of each chunk."""
    asks = Asks()
    for number, has in chunks(text, "select"):
        asks.cpus += number * int(has.get("ncpus", 1))
        asks.memory += number * size(has.get("mem", "0"))
        asks.gpus += number * int(has.get("ngpus", 0))
        asks.nodes += number
    return asks


def of_torque(text):
    """``nodes``: processors and GPUs are of each node, ``mem`` is of the job."""
    asks = Asks(memory=size(option(text, "-l mem") or "0"))
    for number, has in chunks(text, "nodes"):
        asks.cpus += number * int(has.get("ppn", 1))
        asks.gpus += number * int(has.get("gpus", 0))
        asks.nodes += number
    return asks


def of_sbatch(text):
    """``--mem`` is of each node, ``--mem-per-cpu`` of each processor, ``--gpus`` of the job."""
    nodes = int((option(text, "--nodes") or "0").split("-")[0])
    nodes = nodes or len(expanded(option(text, "--nodelist") or "") or ())
    tasks = int(option(text, "--ntasks") or 0)
    tasks = tasks or (nodes or 1) * int(option(text, "--ntasks-per-node") or 1)
    cpus = tasks * int(option(text, "--cpus-per-task") or 1)
    memory = size(option(text, "--mem") or "0", "m")
    if memory and not nodes and int(option(text, "--ntasks") or 1) > 1:
        raise AssertionError("the memory of each of an open number of nodes")
    memory *= nodes or 1
    memory += size(option(text, "--mem-per-cpu") or "0", "m") * cpus
    return Asks(cpus, nodes, memory, int(option(text, "--gpus") or 0))


READERS = {"pbs": of_pbs, "torque": of_torque, "sbatch": of_sbatch}
MAYBE = st.none() | st.integers(1, 9)


@st.composite
def jobs(draw):
    """A job with any of the counts, and how many of each it asks for."""
    tasks, per_node, nodes, cpus, gpus = (draw(MAYBE) for _ in range(5))
    memory, hosts = draw(MAYBE), draw(st.none() | st.integers(1, 4))
    own = f"<TaskCount>{tasks}</TaskCount>" if tasks else ""
    if per_node:
        own += f'<TaskDistribution type="TasksPerNode">{per_node}</TaskDistribution>'
    asked = "".join(
        f"<{name}>{count}</{name.split()[0]}>"
        for name, count in (("NodeCount", nodes), ("Processors", cpus),
                            ('Memory units="GB"', memory), ('Resource name="GPU"', gpus))
        if count
    )  # fmt: skip
    if hosts:
        asked += f'<Node aggregation="Range">n[1-{hosts}]</Node>'
    return own + (requested(asked) if asked else ""), Asks(
        cpus or 0, nodes or 0, (memory or 0) * GIB, gpus or 0
    )


def differences(body, wanted, target):
    """What options come to besides what was asked for, and about which nothing is told."""
    text, losses = translate(loads(wrapped(body)), target, Settings(residual=False))
    told = {loss.path.rpartition("/")[2] for loss in losses if loss.done is not Done.CONVERTED}
    asks = READERS[target](text)
    pairs = {
        "Processors": (asks.cpus, wanted.cpus), "NodeCount": (asks.nodes, wanted.nodes),
        "Memory": (asks.memory, wanted.memory), "Resource": (asks.gpus, wanted.gpus),
    }  # fmt: skip
    return {
        name: pair for name, pair in pairs.items()
        if pair[1] and pair[0] != pair[1] and name not in told
    }, text  # fmt: skip


@pytest.mark.parametrize("target", READERS)
@given(job=jobs())
def test_options_come_to_what_is_asked_for_or_it_is_told(target, job):
    found, text = differences(*job, target)
    assert not found, text


HOSTS = '<Node aggregation="Range">n[1-4]</Node>'
PER_NODE = '<TaskDistribution type="TasksPerNode">4</TaskDistribution>'
# fmt: off
CASES = [
    ("pbs", requested("<Processors>4</Processors><Node>n1</Node>"), "select=1:ncpus=4:mpiprocs=4:host=n1\n"),
    ("pbs", requested(f"<Processors>64</Processors>{HOSTS}"), "select=" + "+".join(f"1:ncpus=16:mpiprocs=16:host=n{n}" for n in (1, 2, 3, 4)) + "\n"),
    ("pbs", requested("<NodeCount>3</NodeCount><Processors>6</Processors><Node>n1</Node>"), "select=1:ncpus=2:mpiprocs=2:host=n1+2:ncpus=2:mpiprocs=2\n"),
    ("pbs", f"<TaskCount>6</TaskCount>{PER_NODE}", "select=1:ncpus=4:mpiprocs=4+1:ncpus=2:mpiprocs=2\n"),
    ("torque", "<TaskCount>64</TaskCount>" + requested(f"<Processors>128</Processors>{HOSTS}"), "nodes=n1:ppn=32+n2:ppn=32+n3:ppn=32+n4:ppn=32\n"),
    ("torque", f"<TaskCount>6</TaskCount>{PER_NODE}", "nodes=1:ppn=4+1:ppn=2\n"),
]
# fmt: on


@pytest.mark.parametrize(("target", "body", "expected"), CASES)
def test_amounts_are_divided_by_the_nodes_that_are_named_or_follow(target, body, expected):
    text, losses = translate(loads(wrapped(body)), target, Settings(unstated="Reject"))
    assert expected in text
    assert all(loss.fact or loss.done is Done.CONVERTED for loss in losses)


# What is written for options that are read, and whether something is worth knowing of them.
# fmt: off
AGAIN = [
    ("-n 4 --mem-per-cpu=2G", "sbatch", "--mem-per-cpu=2G\n", False),
    ("-n 8 --mem=4G", "sbatch", "--mem-per-cpu=512M\n", True),
    ("--ntasks-per-node=4 -N 2-3 --mem-per-cpu=2G", "sbatch", "--mem=8G\n", False),
    ("--ntasks-per-node=4 -N 2-3 --mem-per-cpu=2G", "pbs", "select=2:ncpus=4:mpiprocs=4:mem=8gb\n", False),
    ("--ntasks-per-node=4 -N 2-3 --mem-per-cpu=2G", "sge", "h_vmem=2G\n", False),
    ("-n 4 --gpus-per-node=4", "sbatch", "--gpus-per-node=4\n", True),
    ("-N 2-4 --gpus-per-node=4", "sbatch", "--gpus-per-node=4\n", True),
    ("-N 2-4 --gres=gpu:4", "sbatch", "--gres=gpu:4\n", True),
    ("-N 2 --gpus-per-node=4", "sbatch", "--gpus=8\n", True),
    ("-n 4 --gpus-per-task=1", "sbatch", "--gpus=4\n", True),
    ("--gpus-per-node=4", "sbatch", "--gpus=4\n", False),
]
# fmt: on


@pytest.mark.parametrize(("options", "target", "expected", "told"), AGAIN)
def test_amounts_of_each_node_or_task_are_read_as_that(options, target, expected, told):
    ((job, findings, files),) = read(f"#!/bin/sh\n#SBATCH {options}\n./a\n".encode(), "sbatch")
    assert bool(findings) is told
    assert expected in translate(job, target, Settings(residual=False, files=files)).text


GPUS = '<Resource name="GPU">{}</Resource>'
# fmt: off
SHARED = [
    ("sge", requested("<Processors>4</Processors>" + GPUS.format(8)), "-l gpu=2\n", Done.CONVERTED),
    ("sge", requested("<Processors>4</Processors>" + GPUS.format(3)), "-l gpu=1\n", Done.APPROXIMATED),
    ("lsf", requested("<NodeCount>2</NodeCount>" + GPUS.format(3)), "-gpu num=2\n", Done.APPROXIMATED),
    ("lsf", requested("<Processors>4</Processors>" + GPUS.format(3)), "-gpu num=3\n", Done.APPROXIMATED),
    ("condor", f"<TaskCount>6</TaskCount>{PER_NODE}", "machine_count = 2\nrequest_cpus = 3\n", Done.DROPPED),
]
# fmt: on


@pytest.mark.parametrize(("target", "body", "expected", "done"), SHARED)
def test_what_is_of_each_slot_or_host_is_divided_and_told(target, body, expected, done):
    text, losses = translate(loads(wrapped(body)), target, Settings(residual=False))
    assert expected in text
    told = ("Resource", "TaskDistribution")
    assert [loss.done for loss in losses if loss.path.rpartition("/")[2] in told] == [done]


def test_gpus_of_each_slot_are_read_as_that():
    script = b"#!/bin/sh\n#$ -pe smp 4 -l gpu=2\n./a\n"
    ((job, _, _),) = read(script, "sge")
    assert [str(item.text) for item in job.requested if item.name == "Resource"] == ["8"]


def per_node(number):
    return f'<TaskDistribution type="TasksPerNode">{number}</TaskDistribution>'


def per_task(number):
    return f'<TaskDistribution type="ProcessorsPerTask">{number}</TaskDistribution>'


def group(inner, tasks=2):
    return f"<TaskGroup><TaskCount>{tasks}</TaskCount>{inner}</TaskGroup>"


def told_of(inner, target, **settings):
    """What is written, and the names of what is told, facts left out."""
    text, losses = translate(loads(wrapped(inner)), target, Settings(residual=False, **settings))
    return text, {loss.path.rpartition("/")[2] for loss in losses if not loss.fact}


# fmt: off
CONTRADICTIONS = [
    ("<TaskCount>8</TaskCount>" + per_task(1) + requested("<Processors>16</Processors>"), "Processors"),
    (per_task(4) + requested("<Processors>1</Processors>"), "Processors"),
    ("<TaskCount>6</TaskCount>" + per_node(3) + requested("<NodeCount>1</NodeCount>"), "TaskDistribution"),
    (per_node(3) + per_task(4) + requested("<NodeCount>2</NodeCount><Processors>2</Processors>"), "TaskDistribution"),
]
# fmt: on


@pytest.mark.parametrize("target", ["sbatch", "slurmrest", "pbs", "torque", "sge", "lsf"])
@pytest.mark.parametrize(("inner", "name"), CONTRADICTIONS)
def test_counts_that_contradict_each_other_are_told(inner, name, target):
    assert name in told_of(inner, target)[1]


# fmt: off
OF_GROUPS = [
    ("lsf", "<Duration>61</Duration>", "-W 2", {"Duration"}),
    ("lsf", '<Memory units="KB">1500</Memory>', "mem=2MB/task", {"Memory"}),
    ("sbatch", '<Memory units="KB">1500</Memory>', "--mem-per-cpu=2M", {"Memory"}),
    ("sge", "<NodeCount>7</NodeCount>", "-pe smp 2", {"NodeCount"}),
    ("lsf", "<NodeCount>7</NodeCount>", "-n 2", {"NodeCount"}),
    ("psij", "<NodeCount>7</NodeCount>", '"process_count": 2', {"NodeCount"}),
    ("sbatch", '<NodeCount op="GE">1</NodeCount><NodeCount op="LE">2</NodeCount>', "--nodes=1-2\n", set()),
    ("flux", "<Duration>61</Duration>", '"duration": 61', set()),
    ("flux-canonical", "<Duration>61</Duration>", '"duration": 61', set()),
]
# fmt: on


@pytest.mark.parametrize(("target", "inner", "expected", "told"), OF_GROUPS)
def test_what_becomes_of_an_amount_of_a_task_group_is_told(target, inner, expected, told):
    text, names = told_of(group(requested(inner)), target)
    assert expected in text
    assert names == told


def test_of_several_task_groups_the_time_of_the_longest_is_asked_for():
    groups = [group(requested(f"<Duration>{seconds}</Duration>")) for seconds in (60, 4321)]
    assert '"duration": 4321' in told_of("".join(groups), "flux")[0]


# fmt: off
NOT_EVENLY = [
    ("<TaskCount>8</TaskCount>" + requested('<NodeCount>3</NodeCount><Memory units="GB">8</Memory>'), "mem=1024MB/task"),
    (requested('<NodeCount>5</NodeCount><Processors>8</Processors><Resource name="GPU">2</Resource>'), "num=2\n"),
    ("<TaskCount>6</TaskCount>" + per_node(3) + requested('<NodeCount>1</NodeCount><Memory units="GB">6</Memory>'), "mem=3072MB/host"),
]
# fmt: on


@pytest.mark.parametrize(("inner", "expected"), NOT_EVENLY)
def test_hosts_that_lsf_is_not_asked_for_divide_nothing(inner, expected):
    text, told = told_of(inner, "lsf")
    assert expected in text
    assert "NodeCount" in told


def test_memory_of_each_node_counts_nodes_that_tasks_fill():
    inner = "<TaskCount>8</TaskCount>" + per_node(1) + requested('<Memory units="GB">4</Memory>')
    assert "h_vmem=4G\n" in told_of(inner, "sge", memory_scope="node")[0]
    assert f'"memory": {32 * GIB}' in told_of(inner, "psij", memory_scope="node")[0]


def test_swap_that_lsf_rounds_up_is_told():
    assert told_of(requested('<Swap units="B">1500</Swap>'), "lsf")[1] == {"Swap"}


LICENCES = '<Resource name="x" type="License">12</Resource><Resource name="GPU">3</Resource>'


@pytest.mark.parametrize("target", ["sge", "lsf", "pbs", "torque"])
def test_what_is_told_of_gpus_is_not_told_of_licences(target):
    inner = requested(f"<NodeCount>2</NodeCount><Processors>4</Processors>{LICENCES}")
    losses = translate(loads(wrapped(inner)), target, Settings(residual=False)).losses
    told = {loss.shown: loss.reason for loss in losses if "/Resource" in loss.path}
    assert told["Resource GPU '3'"] != told.get("Resource x '12'")


def test_gpus_of_a_type_that_torque_has_no_word_for_are_told_as_that():
    inner = requested('<Resource name="GPU" type="a100">3</Resource>')
    (loss,) = (each for each in translate(loads(wrapped(inner)), "torque").losses if not each.fact)
    assert loss.reason == "there is no option for GPUs of a type"


@pytest.mark.parametrize("count", ["²", "٣", "1_0", "1" * 30, "-1", "1.5"])
@pytest.mark.parametrize("text", [
    "#SBATCH --licenses=foo:@", '#BSUB -R "rusage[foo=@]"', "#PBS -l gres=foo+@",
    "executable = /a\nconcurrency_limits = foo:@\nqueue",
], ids=["sbatch", "lsf", "torque", "condor"])  # fmt: skip
def test_the_number_of_a_licence_is_one_for_every_reader(text, count):
    given = text.replace("@", count)
    script = given if given.startswith("executable") else f"#!/bin/sh\n{given}\n/bin/true"
    (found,) = read(f"{script}\n".encode())
    assert count in dumps(found.job) or found.findings
    assert f">{count}</Resource>" not in dumps(found.job)


_LE, _GE = '<Processors op="LE">{}</Processors>', '<Processors op="GE">{}</Processors>'
_ONE_NUMBER = "only one number is taken"


# decision 968
@pytest.mark.parametrize(
    ("target", "own", "asked", "expected", "told"),
    [
        ("sge", "<TaskCount>14</TaskCount>", _LE.format(14), "-pe smp 14\n", ""),
        ("sge", "<TaskCount>4</TaskCount>", _LE.format(16), "-pe smp 4-16\n", ""),
        ("sge", "<TaskCount>4</TaskCount>", _GE.format(3), "-pe smp 4-\n", ""),
        ("sge", "<TaskCount>4</TaskCount>", _GE.format(3) + _LE.format(16), "-pe smp 4-16\n", ""),
        ("sge", "<TaskCount>4</TaskCount>", _GE.format(5), "-pe smp 8-\n", ""),
        ("sge", "", "<NodeCount>2</NodeCount>" + _LE.format(16), "-pe smp 2-16\n", ""),
        ("sge", "", '<Node aggregation="Pattern" count="3">n.*</Node>' + _GE.format(2),
         "-pe smp 3-\n", ""),
        ("sge", "", _LE.format(16), "-pe smp -16\n", ""),
        ("lsf", "<TaskCount>14</TaskCount>", _LE.format(14), "-n 14\n", _ONE_NUMBER),
        ("lsf", "<TaskCount>4</TaskCount>", _LE.format(16),
         "-n 4\n#BSUB -R affinity[core(4)]\n", _ONE_NUMBER),
        ("lsf", "", "<NodeCount>2</NodeCount>" + _LE.format(16),
         "-n 16\n#BSUB -R span[ptile=8]\n", _ONE_NUMBER),
        ("lsf", "", "<NodeCount>2</NodeCount>" + _GE.format(8) + _LE.format(16),
         "-n 8\n#BSUB -R span[ptile=4]\n", _ONE_NUMBER),
        ("lsf", "", "<NodeCount>1</NodeCount>" + _LE.format(16),
         "-n 1,16\n#BSUB -R span[hosts=1]\n", ""),
        ("lsf", "", '<Node aggregation="Pattern" count="3">n.*</Node>' + _GE.format(2),
         "-n 3\n#BSUB -R span[ptile=1]\n", _ONE_NUMBER),
        ("psij", "<TaskCount>4</TaskCount>", _LE.format(16), '"process_count": 4',
         "the most of a range"),
        ("flux-canonical", "<TaskCount>6</TaskCount>", '<NodeCount op="LE">4</NodeCount>',
         '"min":3,"max":4', "from 3 on"),
        ("flux-canonical", "", '<NodeCount op="LE">4</NodeCount>', '"min":1,"max":4', ""),
    ],
)  # fmt: skip
def test_a_range_begins_at_what_tasks_and_nodes_need(target, own, asked, expected, told):
    job = loads(wrapped(own + requested(asked)))
    text, losses = translate(job, target, Settings(residual=False, unstated="Warn"))
    text = re.sub(r"(?<=[,:])\s+", "", text) if target == "flux-canonical" else text
    assert expected in text
    of_ranges = {
        loss.reason for loss in losses if loss.path.endswith(("/Processors", "/NodeCount"))
    }
    assert bool(told) is any(told in reason for reason in of_ranges if told)
    if told:
        assert any(loss.done is Done.APPROXIMATED for loss in losses)
    elif target == "sge":
        assert not [loss for loss in losses if loss.path.endswith("/Processors")]
