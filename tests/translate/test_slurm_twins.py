"""sbatch and slurmrestd are asked for the same by the same job, and losses are told alike."""

import json

import pytest
from translated import wrapped

from sssjob.document import loads
from sssjob.translate import Settings, read, translate

PRIORITIES = ("0", "1", "+3", "-1", "00", "1.5", "1e2", "5000", *(
    str(number)
    for power in (31, 32, 64)
    for number in range((1 << power) - 4, (1 << power) + 2)
), *(str(-number) for number in range((1 << 31) - 4, (1 << 31) + 2)))  # fmt: skip
OF_32_BITS, OF_16_BITS = 2147483647, 65533
# What says a number in the units that Slurm counts in, and the greatest that Slurm holds.
COUNTS = (
    ("<TaskCount>{}</TaskCount>", OF_32_BITS, 1),
    ("<TaskGroup><TaskCount>{}</TaskCount></TaskGroup>", OF_32_BITS, 1),
    ("<Requested><Processors>{}</Processors></Requested>", OF_32_BITS, 1),
    ("<Requested><NodeCount>{}</NodeCount></Requested>", OF_32_BITS, 1),
    ('<Requested><NodeCount op="LE">{}</NodeCount></Requested>', OF_32_BITS, 1),
    ('<Requested><NodeCount op="GE">{}</NodeCount></Requested>', OF_32_BITS, 1),
    ("<Requested><Duration>{}</Duration></Requested>", OF_32_BITS, 60),
    ("<TaskGroup><Requested><Duration>{}</Duration></Requested></TaskGroup>", OF_32_BITS, 60),
    ('<Requested><Disk units="MB">{}</Disk></Requested>', OF_32_BITS, 1),
    ('<Requested><Resource name="GPU">{}</Resource></Requested>', OF_32_BITS, 1),
    ('<Requested><Resource name="License" type="m">{}</Resource></Requested>', OF_32_BITS, 1),
    ("<TaskCount>1</TaskCount><Requested><Processors>{}</Processors></Requested>", OF_16_BITS, 1),
    *(
        (f'<TaskCount>9</TaskCount><TaskDistribution type="{kind}">{{}}</TaskDistribution>',
         OF_16_BITS, 1)
        for kind in ("TasksPerNode", "ProcessorsPerTask")
    ),
)  # fmt: skip
COUNTED = frozenset((
    "Disk", "Duration", "NodeCount", "Processors", "Resource", "TaskCount", "TaskDistribution",
))  # fmt: skip
VARIABLES = ("A", "_", "a1", "1A", "A-B", "A B", "A.B", "é", "A%", "A;B", "BASH_FUNC_x%%", "")


def of_both(inner, among=("Priority", "Environment", *COUNTED)):
    """What comes back, and what is told, of a script and of a request."""
    told = []
    for target in ("sbatch", "slurmrest"):
        job = loads(wrapped(inner))
        text, losses = translate(job, target, Settings(residual=False, unstated="Warn"))
        (back,) = read(text.encode(), target)
        kept = [
            (item.name, item.text, [(each.attributes["name"], each.text) for each in item.children])
            for item in (*back.job.properties, *back.job.requested)
            if item.name in among
        ]
        said = {(loss.path, loss.done, loss.reason) for loss in losses if loss.path != "/Job/Id"}
        told.append((kept, said))
    return told


@pytest.mark.parametrize("number", PRIORITIES)
def test_a_priority_is_one_number_in_a_script_and_in_a_request(number):
    script, request = of_both(f"<Priority>{number}</Priority>")
    assert script == request


@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_has_a_name_that_a_shell_takes_in_a_script_and_in_a_request(name):
    script, request = of_both(f'<Environment><Variable name="{name}">1</Variable></Environment>')
    assert bool(script[1]) is bool(request[1])
    assert script[0] == request[0]


@pytest.mark.parametrize(("inner", "most", "of"), COUNTS)
def test_a_number_beyond_what_slurm_holds_is_asked_for_by_neither_and_told(inner, most, of):
    for number in (most * of + 1, (most + 1) * of, (2 * most + 4) * of, (1 << 62) - 1):
        script, request = of_both(inner.format(number))
        assert script == request
        kept, said = script
        assert not any(str(number) in text for _, text, _ in kept)
        assert said
        told = " ".join(reason for _, _, reason in said)
        beyond = f"Slurm takes no more than {most}" in told or "does not fit 64 bits" in told
        assert beyond or number > 999_999_999 > most  # a distribution of more is none at all


@pytest.mark.parametrize(("inner", "most", "of"), COUNTS)
def test_the_greatest_number_that_slurm_holds_is_asked_for_by_both(inner, most, of):
    (script, of_script), (request, of_request) = of_both(inner.format(most * of))
    assert sorted(script) == sorted(request)
    assert script
    assert not any("no more than" in reason for _, _, reason in of_script | of_request)


@pytest.mark.parametrize("nodes", ["", "<NodeCount>2</NodeCount>", "<Node>n1</Node>"])
@pytest.mark.parametrize("tasks", ["", "<TaskCount>4</TaskCount>", "<TaskCount>1</TaskCount>"])
@pytest.mark.parametrize("processors", ["", "<Processors>8</Processors>"])
@pytest.mark.parametrize("size", ["8388608", "8388609"])
def test_memory_is_of_the_same_share_in_a_script_and_in_a_request(nodes, tasks, processors, size):
    asked = f'<Memory units="KB">{size}</Memory>{processors}{nodes}'
    (script, of_script), (request, of_request) = of_both(
        f"{tasks}<Requested>{asked}</Requested>", ("Memory",)
    )
    assert script == request
    done = [{(path, done) for path, done, _ in each} for each in (of_script, of_request)]
    assert done[0] == done[1]


@pytest.mark.parametrize("name", ["EligibleTime", "DeadlineTime"])
@pytest.mark.parametrize("time", [
    "0", "1", "-1", "1800000000", "2027-01-15T08:00:00Z", "soon", "", "1.5", "253402300800",
    "4294967296", "9223372036854775807", "9223372036854775808",
])  # fmt: skip
def test_a_time_is_asked_for_by_both_or_by_neither(name, time):
    script, request = of_both(f"<{name}>{time}</{name}>", (name,))
    assert script[0] == request[0]
    assert bool(script[1]) is bool(request[1])


QUEUES = ("", *(
    f"{queue}{partition}"
    for queue in ("<Queue>q</Queue>", "<Queue>q</Queue><Queue>r</Queue>", "<Queue> q </Queue>")
    for partition in ("", *(f"<Partition>{name}</Partition>" for name in "qrs"))
), "<Partition>p</Partition>", "<Partition>a,b</Partition>", "<Partition/>")  # fmt: skip


@pytest.mark.parametrize("inner", QUEUES)
def test_a_partition_is_what_the_queue_is_in_a_script_and_in_a_request(inner):
    script, request = of_both(inner, ("Queue", "Partition"))
    assert script == request


# What a script and a request ask for, the same by options and by members.
# fmt: off
AMOUNTS_OF_EACH = (
    {"tres-per-task": "gres/gpu:2"},
    {"tres-per-task": "gres/gpu:2", "ntasks": 4},
    {"tres-per-task": "gres/gpu:2", "ntasks": 4, "nodes": "2-3"},
    {"tres-per-task": "gres/gpu:2", "nodes": "2-3"},  # kept
    {"tres-per-task": "gres/gpu:2,shard:3", "ntasks": 4},
    {"tres-per-task": "cpu=4"},
    {"tres-per-task": "cpu=4", "ntasks": 3},
    {"tres-per-task": "cpu:4,gres/gpu:a100:2", "ntasks": 3},
    {"tres-per-task": "cpu=4", "cpus-per-task": 4, "ntasks": 2},
    {"tres-per-task": "cpu=4", "cpus-per-task": 2, "ntasks": 2},  # kept
    {"tres-per-task": "cpu=4,license/a:2", "nodes": 2},
    {"tres-per-task": "cpu=70000"},  # kept
    {"gpus-per-node": "2", "ntasks": 4},  # kept
    {"gpus-per-node": "2", "nodes": 2},
    {"mem": 1000, "ntasks": 4},
    {"mem": 1000, "ntasks": 4, "ntasks-per-node": 2},
    {"mem": 1000, "ntasks": 5, "ntasks-per-node": 2, "cpus-per-task": 3},
    {"mem": 1000, "ntasks-per-node": 2},
    {"mem": 1000, "nodes": "2-4", "tmp": 10},
    {"mem-per-cpu": 10, "ntasks": 5, "ntasks-per-node": 2, "tres-per-task": "cpu=2"},
    {"tmp": 1000, "ntasks": 5, "ntasks-per-node": 2},
)
# fmt: on
MEMBERS = {
    "mem": "memory_per_node",
    "mem-per-cpu": "memory_per_cpu",
    "tmp": "temporary_disk_per_node",
    "ntasks": "tasks",
    "ntasks-per-node": "tasks_per_node",
    "gpus-per-node": "tres_per_node",
}  # fmt: skip


# decision 967
@pytest.mark.parametrize("asked", AMOUNTS_OF_EACH, ids=str)
def test_amounts_of_each_task_and_node_are_read_alike_and_what_is_kept_is_told(asked):
    lines = "".join(f"#SBATCH --{name}={value}\n" for name, value in asked.items())
    members = {MEMBERS.get(name, name.replace("-", "_")): value for name, value in asked.items()}
    if "tres_per_node" in members:
        members["tres_per_node"] = f"gres/gpu:{members['tres_per_node']}"
    request = {"job": {"script": "#!/bin/sh\nexec /bin/true\n", **members}}
    found = []
    for text, target in (
        (f"#!/bin/sh\n{lines}exec /bin/true\n", "sbatch"), (json.dumps(request), "slurmrest"),
    ):  # fmt: skip
        (back,) = read(text.encode(), target)
        items = [item for item in back.job.properties if item.name in COUNTED]
        kept = [each for each in back.job.properties.all("Extension")
                if each.attributes["name"] != "order"]  # fmt: skip
        told = [each for each in back.findings if "is kept as it is" in each.message]
        assert len(told) == len(kept)
        assumed = [each for each in back.findings if "assumed" in each.message]
        found.append((items, [*back.job.requested], len(kept), len(assumed)))
    assert found[0] == found[1]


ODD_NUMBERS = ("2.5", "2.0", "1e30", "99999999999999999999", '{"set": true, "number": 2.5}')


@pytest.mark.parametrize("member", [
    "tasks", "cpus_per_task", "tasks_per_node", "minimum_nodes", "memory_per_node",
    "memory_per_cpu", "temporary_disk_per_node", "time_limit", "minimum_cpus", "priority", "nice",
    "begin_time",
])  # fmt: skip
def test_what_is_no_whole_number_that_slurm_holds_is_kept_and_told_with_its_place(member):
    for number in ODD_NUMBERS:
        request = f'{{"job": {{"script": "#!/bin/sh\\nexec /bin/true\\n", "{member}": {number}}}}}'
        (back,) = read(request.encode(), "slurmrest")
        assert f"/job/{member}" in [each.path for each in back.findings]
        kept = [each.attributes["name"] for each in back.job.properties.all("Extension")]
        assert kept
        assert all(name.startswith(f"job/{member}") for name in kept)
        assert not list(back.job.requested)


@pytest.mark.parametrize("option", ["mem", "mem-per-cpu", "tmp"])
@pytest.mark.parametrize("size", ["1E", "16e", "1Z", "2P", "1EB", "9999999999999T"])
def test_a_size_that_sbatch_does_not_take_is_kept_and_told(option, size):
    script = f"#!/bin/sh\n#SBATCH --{option}={size}\nexec /bin/true\n"
    (back,) = read(script.encode(), "sbatch")
    assert [each.line for each in back.findings] == [2]
    assert [each.text for each in back.job.properties.all("Extension")] == [size]
