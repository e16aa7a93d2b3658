"""What is read of tasks, nodes and processors holds together, and is what the script says."""

import json
from math import prod

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from test_named_nodes import READERS, Asked, laid
from translated import script

from sssjob import dumps, layout, loads
from sssjob.check.findings import check
from sssjob.translate import Settings, read, translate

numbers = st.none() | st.integers(1, 6)


def read_one(data, source):
    """The job of a script or request, as its document says it."""
    (found,) = read(data if isinstance(data, bytes) else data.encode(), source)
    return loads(dumps(found.job))


def faults(job):
    """What contradicts itself in a job."""
    (unit,) = layout.units(job)
    said = layout.layouts(unit.block, unit.path).layouts[0].findings
    codes = [each.code for each in (*check(etree.fromstring(dumps(job))), *said)]
    return [code for code in codes if code in ("E-COUNTS", "E-DUP", "E-UNSAT")]


def agree(job, target, wanted=None):
    """Whether a job holds and has these numbers, also where it is written and read again."""
    assert faults(job) == [], dumps(job)
    found = laid(job)
    assert found is not None, dumps(job)
    for is_, said in zip(found, wanted or (), strict=False):
        assert said in (None, is_), (found, wanted, dumps(job))
    text = translate(job, target, Settings(residual=False, unstated="Ignore")).text
    is_range = 'op="LE"' in dumps(job)  # of which a target may be asked for the most
    written = READERS[target](text) if target in READERS and not is_range else ()
    for is_, said in zip(found, written, strict=False):
        assert None in (is_, said) or is_ == said, (found, written, text)
    again = laid(read_one(text, target))
    assert again is not None
    for is_, said in zip(found, again, strict=True):
        assert None in (is_, said) or is_ == said, (found, again, text)


def of_slurm(nodes, tasks, per_node, each, named):
    """What Slurm makes of these numbers."""
    least = (
        nodes
        or (
            max(min(named, tasks or named), -(-(tasks or 0) // (per_node or 1)) if per_node else 0)
            or None
        )
        or (1 if per_node and not tasks else None)
    )
    if tasks and least and least > tasks:
        least = tasks
    number = tasks or (least or 1) * (per_node or 1)
    return Asked(number, least, number * (each or 1))


SLURM = {
    "nodes": numbers, "tasks": numbers, "per_node": numbers, "each": numbers,
    "named": st.integers(0, 5), "cyclic": st.booleans(),
}  # fmt: skip


@examples(150)
@given(**SLURM, most=numbers)
def test_a_script_of_sbatch_is_a_job_with_its_numbers(
    nodes, tasks, per_node, each, named, cyclic, most
):
    count = f"{nodes}-{nodes + most}" if nodes and most else nodes
    lines = [
        f"{option}={value}" for option, value in (
            ("--nodes", count), ("--ntasks", tasks), ("--ntasks-per-node", per_node),
            ("--cpus-per-task", each), ("--nodelist", f"n[1-{named}]" if named else None),
            ("--distribution", "cyclic" if cyclic else None),
        ) if value
    ]  # fmt: skip
    wanted = of_slurm(nodes, tasks, per_node, each, named)
    wanted = wanted if not most else wanted._replace(nodes=None)
    agree(read_one(script("#SBATCH", lines), "sbatch"), "sbatch", wanted)


@examples(100)
@given(**SLURM)
def test_a_request_of_slurmrestd_is_a_job_with_its_numbers(
    nodes, tasks, per_node, each, named, cyclic
):
    job = {
        "script": "#!/bin/sh\nexec /bin/true\n", "minimum_nodes": nodes, "maximum_nodes": nodes,
        "tasks": tasks, "tasks_per_node": per_node, "cpus_per_task": each,
        "required_nodes": [f"n{at}" for at in range(named)] or None,
        "distribution": "cyclic" if cyclic else None,
    }  # fmt: skip
    form = {"job": {name: value for name, value in job.items() if value is not None}}
    wanted = of_slurm(nodes, tasks, per_node, each, named)
    agree(read_one(json.dumps(form), "slurmrest"), "slurmrest", wanted)


@examples(60)
@given(nodes=numbers, per_node=numbers, each=numbers, tasks=numbers)
def test_a_jobspec_of_psij_is_a_job_with_its_numbers(nodes, per_node, each, tasks):
    if nodes and per_node:
        tasks = None
    elif nodes and tasks:
        tasks = tasks * nodes
    counts = {"node_count": nodes, "process_count": tasks, "processes_per_node": per_node,
              "cpu_cores_per_process": each}  # fmt: skip
    counts = {name: value for name, value in counts.items() if value}
    form = {"executable": "/bin/x", "resources": {"__version": 1, **counts}}
    number = tasks or ((nodes or 1) * (per_node or 1) if nodes else None)
    wanted = Asked(number, nodes, number and number * (each or 1))
    agree(read_one(json.dumps(form), "psij"), "psij", wanted)


@examples(60)
@given(nodes=numbers, most=numbers, slots=st.integers(1, 6), cores=st.integers(1, 6))
def test_a_jobspec_of_flux_is_a_job_with_its_numbers(nodes, most, slots, cores):
    inner = [{"type": "core", "count": cores}]
    found = {"type": "slot", "label": "task", "count": slots, "with": inner}
    if nodes:
        count = {"min": nodes, "max": nodes + most} if most else nodes
        found = {"type": "node", "count": count, "with": [found]}
    form = {
        "version": 1, "resources": [found], "attributes": {"system": {"duration": 0}},
        "tasks": [{"command": ["/bin/x"], "slot": "task", "count": {"per_slot": 1}}],
    }  # fmt: skip
    number = (nodes or 1) * slots
    job = read_one(json.dumps(form), "flux")
    agree(job, "flux", Asked(number, nodes, number * cores))


KINDS = st.lists(st.sampled_from(("rack", "socket")), max_size=2)


# decision 933
@examples(150)
@given(
    order=st.sampled_from((("node", "slot"), ("slot", "node"), ("slot",))), outer=KINDS,
    between=KINDS, inner=KINDS, counts=st.lists(st.integers(1, 3), min_size=9, max_size=9),
    gpus=st.booleans(),
)  # fmt: skip
def test_what_stands_within_others_in_a_jobspec_of_flux_is_there_as_often_as_these(
    order, outer, between, inner, counts, gpus
):
    kinds = [*outer, order[0], *(between if order[1:] else ()), *order[1:], *inner, "core"]
    chain = list(zip(kinds, counts, strict=False))
    found = [{"type": "gpu", "count": 1}] if gpus else []
    for kind, count in reversed(chain):
        form = {"type": kind, "count": count}
        if kind == "core":
            found = [form, *found]
        else:
            found = [{**form, **({"label": "task"} if kind == "slot" else {}), "with": found}]
    form = {
        "version": 1, "resources": found, "attributes": {"system": {"duration": 0}},
        "tasks": [{"command": ["/bin/x"], "slot": "task", "count": {"per_slot": 1}}],
    }  # fmt: skip

    def times(last):
        return prod(count for _, count in chain[: [kind for kind, _ in chain].index(last) + 1])

    job = read_one(json.dumps(form), "flux")
    nodes = times("node") if "node" in order else None
    slots = times("slot")
    tasks = max(slots, nodes or 0)  # no node is without a task
    assert faults(job) == []
    assert laid(job).tasks == tasks
    assert nodes in (None, laid(job).nodes)
    assert laid(job).processors >= times("core")
    if slots % (nodes or 1) == 0:
        assert laid(job).processors == times("core")
    if gpus:
        asked = next(item for item in job.requested if item.attributes.get("name") == "GPU")
        assert int(asked.text) == prod(count for _, count in chain[:-1])


# decision 936
@examples(200)
@given(nodes=numbers, slots=st.integers(1, 6), cores=st.integers(1, 6), tasks=st.integers(1, 40))
def test_tasks_of_a_jobspec_of_flux_have_what_is_in_all_slots(nodes, slots, cores, tasks):
    inner = [{"type": "core", "count": cores}, {"type": "gpu", "count": 2},
             {"type": "memory", "count": 3, "unit": "GB"}]  # fmt: skip
    found = {"type": "slot", "label": "task", "count": slots, "with": inner}
    found = {"type": "node", "count": nodes, "with": [found]} if nodes else found
    form = {
        "version": 999, "resources": [found], "attributes": {},
        "tasks": [{"command": ["/bin/x"], "slot": "task", "count": {"total": tasks}}],
    }  # fmt: skip
    (heard,) = read(json.dumps(form).encode(), "flux-canonical")
    job = loads(dumps(heard.job))
    told = " ".join(each.message for each in heard.findings)
    number, have = slots * (nodes or 1), slots * (nodes or 1) * cores
    assert faults(job) == [], dumps(job)
    assert (laid(job).processors == have) or f"{laid(job).processors} processors are read" in told
    assert laid(job).tasks == tasks or "each node has a task" in told
    said = {item.name: item.text for item in job.requested}
    assert (said["Memory"], said["Resource"]) == (str(3 * number), str(2 * number))
    # What is written of it and read again is the same job.
    text = translate(job, "flux-canonical", Settings(residual=False, unstated="Ignore")).text
    assert laid(read_one(text, "flux-canonical")) == laid(job), text


@pytest.mark.parametrize(("total", "slots", "cores", "processors", "told"), [
    (2, 8, 4, 32, ""),
    (6, 2, 1, 6, "6 tasks in 2 slots of 1 cores: 6 processors are read"),
    (4, 3, 2, 8, "4 tasks in 3 slots of 2 cores: 8 processors are read"),
])  # fmt: skip
def test_tasks_that_are_not_as_many_as_the_slots_share_their_cores(
    total, slots, cores, processors, told
):
    slot = {"type": "slot", "label": "task", "count": slots,
            "with": [{"type": "core", "count": cores}]}  # fmt: skip
    form = {
        "version": 1, "resources": [slot], "attributes": {"system": {"duration": 0}},
        "tasks": [{"command": ["/bin/x"], "slot": "task", "count": {"total": total}}],
    }  # fmt: skip
    (found,) = read(json.dumps(form).encode(), "flux")
    assert [each.message for each in found.findings] == [told] * bool(told)
    agree(loads(dumps(found.job)), "flux", Asked(total, None, processors))


def test_seven_tasks_on_two_nodes_have_the_memory_and_tasks_that_they_had():
    asked = '<NodeCount>2</NodeCount><Memory units="MB">7168</Memory>'
    job = loads(f"<Job><Id>1</Id><Executable>/x</Executable><TaskCount>7</TaskCount>"
                f"<Requested>{asked}</Requested></Job>")  # fmt: skip
    text = translate(job, "flux-canonical", Settings(residual=False)).text
    again = read_one(text, "flux-canonical")
    assert laid(again) == laid(job)
    assert [item.text for item in again.requested.all("Memory")] == ["7168"]


def test_four_nodes_in_a_slot_of_which_there_are_four_are_read_as_four_nodes():
    cores = {"type": "core", "count": 2}
    slot = {"type": "slot", "label": "task", "count": 4,
            "with": [{"type": "node", "count": 1, "with": [cores]}]}  # fmt: skip
    form = {
        "version": 1, "resources": [slot], "attributes": {"system": {"duration": 0}},
        "tasks": [{"command": ["/bin/x"], "slot": "task", "count": {"per_slot": 1}}],
    }  # fmt: skip
    agree(read_one(json.dumps(form), "flux"), "flux", Asked(4, 4, 8))


@examples(60)
@given(tasks=st.integers(1, 9), tile=numbers, cores=numbers, named=st.integers(0, 4))
def test_a_script_of_lsf_is_a_job_with_its_numbers(tasks, tile, cores, named):
    lines = [f"-n {tasks}"]
    lines += [f'-R "span[ptile={tile}]"'] if tile else []
    lines += [f'-R "affinity[core({cores})]"'] if cores else []
    lines += [f'-m "{" ".join(f"n{at}" for at in range(named))}"'] if named else []
    nodes = -(-tasks // tile) if tile else None
    wanted = Asked(tasks, nodes, tasks * (cores or 1))
    agree(read_one(script("#BSUB", lines), "lsf"), "lsf", wanted)


@examples(60)
@given(
    chunks=st.integers(1, 4), tasks=st.integers(1, 4), each=st.integers(1, 4),
    scatter=st.booleans(), said=st.booleans(),
)  # fmt: skip
def test_a_select_of_pbs_is_a_job_with_its_numbers(chunks, tasks, each, scatter, said):
    tasks = tasks if said else 1
    mpi = f":mpiprocs={tasks}" if said else ""
    lines = [f"-l select={chunks}:ncpus={tasks * each}{mpi}"]
    lines += ["-l place=scatter"] if scatter else []
    job = read_one(script("#PBS", lines), "pbs")
    agree(job, "pbs", Asked(chunks * tasks, None, chunks * tasks * each))


@pytest.mark.parametrize("ncpus", ["", ",ncpus=16", ",ncpus=13", ",ncpus=4"])
def test_nodes_of_torque_are_a_job_with_its_numbers(ncpus):
    job = read_one(script("#PBS", [f"-l nodes=2:ppn=4{ncpus}"]), "torque")
    assert faults(job) == []
    assert laid(job).processors == max(8, int(ncpus[7:] or 0))


@pytest.mark.parametrize("lines, wanted", [
    (["--nodelist=n[1-4]", "--cpus-per-task=8"], (4, 4, 32)),
    (["--nodelist=n[1-4]", "--ntasks-per-node=2"], (8, 4, 8)),
    (["-N 2", "--ntasks-per-node=4", "-c 8"], (8, 2, 64)),
    (["-N 1-3", "--ntasks-per-node=4", "-c 8"], (4, 1, 32)),
    (["--ntasks-per-node=4", "-c 8"], (4, 1, 32)),
    (["-N 6", "--nodelist=n[1-4]"], (6, 6, 6)),
    (["-N 4", "-n 2"], (2, 2, 2)),
])  # fmt: skip
def test_a_script_is_read_as_what_slurm_gives_it(lines, wanted):
    job = read_one(script("#SBATCH", lines), "sbatch")
    assert laid(job) == wanted
    assert faults(job) == []


def test_the_memory_of_each_node_that_is_named_is_of_as_many_nodes_as_the_job_has():
    lines = ["--nodelist=n[1-4]", "--cpus-per-task=8", "--mem=4G"]
    job = read_one(script("#SBATCH", lines), "sbatch")
    memory = next(item for item in job.requested if item.name == "Memory")
    assert (memory.text, laid(job).nodes) == ("16", 4)


JSDL = (
    '<JobDefinition xmlns="http://schemas.ggf.org/jsdl/2005/11/jsdl"><JobDescription><Application>'
    '<POSIXApplication xmlns="http://schemas.ggf.org/jsdl/2005/11/jsdl-posix">'
    "<Executable>/bin/date</Executable></POSIXApplication></Application><Resources>"
    "<{0}><Exact>{1}</Exact></{0}></Resources></JobDescription></JobDefinition>"
)


@pytest.mark.parametrize("name", ["TotalCPUCount", "TotalResourceCount"])
@pytest.mark.parametrize("number", ["1.5", "-1", "1e400", "9" * 5000, "0", "x", "²"])
def test_a_count_of_jsdl_that_is_no_whole_number_is_read_or_told(name, number):
    [found] = read(JSDL.format(name, number).encode(), "jsdl")
    assert found.job.get("Executable") == "/bin/date"
