"""What a payload knows where no site made directories: of its batch system, its pod, the kernel."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import sssjob.systems
from sssjob import features, registry
from sssjob.cli.features import command
from sssjob.features import pod

PAGE = (Path(__file__).parents[2] / "docs/features-payloads.md").read_text(encoding="utf-8")
START = 1_700_000_000
MIB = 1 << 20
GROUP = "sys/fs/cgroup/kubepods/pod7"


def system(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(root)


def limited(root, **limits):
    """A root directory whose control group has these limits, on a machine of many processors."""
    files = {f"{GROUP}/{name.replace('_', '.')}": f"{text}\n" for name, text in limits.items()}
    many = "".join(f"processor\t: {number}\n\n" for number in range(os.cpu_count() or 1))
    return system(root, {"proc/self/cgroup": "0::/kubepods/pod7\n", "proc/cpuinfo": many, **files})


SLURM = {
    "SLURM_JOB_ID": "7", "SLURM_CPUS_ON_NODE": "4", "SLURM_MEM_PER_CPU": "50",
    "SLURM_JOB_START_TIME": f"{START}", "SLURM_JOB_END_TIME": f"{START + 3600}",
}  # fmt: skip
OLDER = {"SLURM_JOB_ID": "7", "SLURM_JOB_CPUS_PER_NODE": "4(x2)", "SLURM_MEM_PER_NODE": "100"}
PBS = {
    "PBS_JOBID": "7.server", "PBS_NUM_NODES": "1", "PBS_NP": "2", "PBS_WALLTIME": "600",
}  # fmt: skip
HOST = os.uname().nodename
LSF = {"LSB_JOBID": "7", "LSB_JOBINDEX": "3", "LSB_MCPU_HOSTS": f"other 8 {HOST} 2"}
GRID_ENGINE = {"JOB_ID": "7", "SGE_TASK_ID": "undefined", "NSLOTS": "3", "NHOSTS": "1"}
POD = {
    "KUBERNETES_SERVICE_HOST": "10.0.0.1", "POD_UID": "a-b", "CPU_LIMIT": "2",
    "MEMORY_LIMIT": "1000",
}  # fmt: skip
WAITS = ("wall_limit_secs", "jobstart_secs")


@pytest.mark.parametrize(
    ("environment", "job", "unknown"),
    [
        pytest.param(
            SLURM,
            {"job_id": "7", "allocated_cpu": 4, "max_rss_bytes": 200 * MIB,
             "jobstart_secs": START, "wall_limit_secs": 3600},
            (), id="Slurm",
        ),
        pytest.param(
            {**SLURM, "SLURM_JOB_END_TIME": f"{START + 365 * 86400}"},
            {"job_id": "7", "allocated_cpu": 4, "max_rss_bytes": 200 * MIB, "jobstart_secs": START},
            (), id="Slurm without a limit",
        ),
        pytest.param(
            OLDER, {"job_id": "7", "allocated_cpu": 4, "max_rss_bytes": 100 * MIB},
            ("wall_limit_secs",), id="Slurm that tells no times",
        ),
        pytest.param(
            {"SLURM_JOB_ID": "7", "SLURM_JOB_CPUS_PER_NODE": "4,2", "SLURM_MEM_PER_CPU": "1"},
            {"job_id": "7"}, ("wall_limit_secs", "max_rss_bytes"),
            id="Slurm with other counts on other nodes",
        ),
        pytest.param(
            PBS, {"job_id": "7.server", "allocated_cpu": 2, "wall_limit_secs": 600},
            ("jobstart_secs",), id="PBS",
        ),
        pytest.param(
            LSF, {"job_id": "7[3]", "allocated_cpu": 2}, (*WAITS, "cpu_limit_secs"), id="LSF"
        ),
        pytest.param(
            GRID_ENGINE, {"job_id": "7", "allocated_cpu": 3}, (*WAITS, "cpu_limit_secs"),
            id="Grid Engine",
        ),
        pytest.param(
            {**GRID_ENGINE, "SGE_TASK_ID": "2", "NHOSTS": "2"}, {"job_id": "7.2"},
            (*WAITS, "cpu_limit_secs"), id="a task on several hosts",
        ),
        pytest.param({"FLUX_JOB_ID": "f7"}, {"job_id": "6"}, WAITS, id="Flux"),
        pytest.param(
            POD, {"job_id": "a-b", "allocated_cpu": 2, "max_rss_bytes": 1000}, (), id="a pod"
        ),
        pytest.param({"JOB_ID": "7", "CPU_LIMIT": "2"}, {}, (), id="nobody"),
    ],
)  # fmt: skip
def test_what_the_environment_says(environment, job, unknown):
    found = features.here(environment)
    assert found.job == job
    assert found.unknown == unknown
    assert found.sources.keys() == job.keys()


@pytest.mark.parametrize("value", ["", "-5", "4 cores", "NaN", "\0", "9" * 40, "1e9", "٤"])
def test_what_is_no_number_says_nothing(value):
    found = features.here({"SLURM_JOB_ID": "7", "SLURM_CPUS_ON_NODE": value})
    assert found.job == {"job_id": "7"}


NUMBERS = {  # a variable whose number is needed, and what else stands there
    "SLURM_CPUS_ON_NODE": SLURM, "SLURM_JOB_START_TIME": SLURM, "SLURM_JOB_END_TIME": SLURM,
    "SLURM_MEM_PER_CPU": SLURM, "SLURM_MEM_PER_GPU": SLURM, "PBS_WALLTIME": PBS, "PBS_NP": PBS,
    "NSLOTS": GRID_ENGINE, "CPU_LIMIT": POD, "MEMORY_LIMIT": POD,
}  # fmt: skip


@pytest.mark.parametrize("value", ["-5", "NaN", "1e99", "x" * 10**6])
@pytest.mark.parametrize("variable", NUMBERS)
def test_what_is_no_number_is_told_by_its_variable(variable, value):
    found = features.here({**NUMBERS[variable], variable: value})
    told = [each for each in found.problems if f"${variable} is '{value[:40]}'" in each]
    assert len(told) == 1
    assert len(told[0]) < 100


BAD = {  # what was handed over and says nothing, and who is told of it
    "SLURM_CPUS_ON_NODE=0": SLURM, "SLURM_JOB_CPUS_PER_NODE=4(x": SLURM, "CPU_LIMIT=0": POD,
    "SLURM_JOB_CPUS_PER_NODE=4,-2": SLURM, "PBS_NP=0": PBS, "PBS_NODEFILE=/nowhere": PBS,
    "LSB_JOBID=7\n8": LSF, "LSB_JOBINDEX=-3": LSF, "LSB_MCPU_HOSTS=vm": LSF,
    "LSB_MCPU_HOSTS=vm -1": LSF, "LSB_MCPU_HOSTS=vm 0": LSF, "SGE_TASK_ID=-3": GRID_ENGINE,
    "FLUX_JOB_SIZE=-1": {"FLUX_JOB_ID": "7"}, "PE_HOSTFILE=/nowhere": GRID_ENGINE,
}  # fmt: skip


@pytest.mark.parametrize("handed", BAD)
def test_what_was_handed_over_and_says_nothing_is_told(handed):
    variable, _, value = handed.partition("=")
    found = features.here({**BAD[handed], variable: value})
    told = [each for each in found.problems if not each.endswith("is not set")]
    assert [f"${variable}" in each for each in told] == [True]
    assert ("job_id" in found.job) is (variable not in ("LSB_JOBID", "LSB_JOBINDEX", "SGE_TASK_ID"))


@pytest.mark.parametrize("slots", ["0", "-5", "many"])
def test_a_list_of_hosts_without_a_number_of_slots_is_told(tmp_path, slots):
    (tmp_path / "hosts").write_text(f"{HOST} {slots} a.q UNDEFINED\n")
    found = features.here({**SEVERAL, "PE_HOSTFILE": f"{tmp_path}/hosts"})
    assert "allocated_cpu" not in found.job
    assert [each for each in found.problems if "$PE_HOSTFILE names no slots" in each]


@pytest.mark.parametrize("end", [START - 7200, START, 0])
def test_an_end_before_the_start_is_told_and_is_no_job_without_a_limit(end):
    found = features.here({**SLURM, "SLURM_JOB_END_TIME": str(end)})
    assert "wall_limit_secs" not in found.job
    assert "wall_limit_secs" in found.unknown
    assert f"$SLURM_JOB_END_TIME {end} is not after the start of the job" in found.problems


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({**PBS, "NCPUS": "4"}, "allocated_cpu is 4 by $NCPUS, but 2 by $PBS_NP"),
        ({**SLURM, "SLURM_JOB_CPUS_PER_NODE": "8"},
         "allocated_cpu is 4 by $SLURM_CPUS_ON_NODE, but 8 by $SLURM_JOB_CPUS_PER_NODE"),
        ({**POD, "MY_CPU_LIMIT": "3"}, "allocated_cpu is 2 by $CPU_LIMIT, but 3 by $MY_CPU_LIMIT"),
        ({"PBS_JOBID": "7", "NCPUS": "4", "PBS_NUM_PPN": "2"},
         "allocated_cpu is 4 by $NCPUS, but 2 by $PBS_NUM_PPN"),
        ({"PBS_JOBID": "7", "NCPUS": "1", "PBS_NUM_PPN": "3", "PBS_NP": "3"},
         "allocated_cpu is 1 by $NCPUS, but 3 by $PBS_NUM_PPN"),
        ({**SLURM, "SLURM_MEM_PER_NODE": "1000"},
         f"max_rss_bytes is {1000 * MIB} by $SLURM_MEM_PER_NODE, but {200 * MIB} by "
         "$SLURM_MEM_PER_CPU x processors"),
    ],
)  # fmt: skip
def test_of_variables_that_contradict_each_other_the_least_counts_and_both_are_told(
    environment, told
):
    found = features.here(environment)
    assert told in found.problems
    key, numbers = told.split(" is ")
    counts = [int(each.split(" by ")[0]) for each in numbers.split(", but ")]
    assert found.job[key] == min(counts)


def alone(processors, wall=None, start=None, name="PBS"):
    """What a job of a system says, by its variables; PBS tells no start."""
    if name == "Slurm":
        times = {} if wall is None else {
            "SLURM_JOB_START_TIME": str(start), "SLURM_JOB_END_TIME": str(start + wall)
        }  # fmt: skip
        return {"SLURM_JOB_ID": "7", "SLURM_CPUS_ON_NODE": str(processors), **times}
    return {"PBS_JOBID": "8.s", "NCPUS": str(processors), "PBS_WALLTIME": str(wall)}


NUMBERS_OF_JOBS = st.integers(1, 100), st.integers(1, 10**6)


@given(st.tuples(*NUMBERS_OF_JOBS), st.tuples(*NUMBERS_OF_JOBS))
def test_of_two_jobs_in_one_environment_no_bound_is_above_that_of_either(slurm, pbs):
    found = features.here({**alone(*slurm, START, "Slurm"), **alone(*pbs)})
    assert found.job["allocated_cpu"] == min(slurm[0], pbs[0])
    assert found.job["wall_limit_secs"] == min(slurm[1], pbs[1])
    # Whose limit it is counts from the start of that job, and the end of the other one stays.
    if pbs[1] < slurm[1]:
        assert "jobstart_secs" not in found.job
        assert found.job["shutdowntime_job"] == START + slurm[1]
    else:
        assert found.job["jobstart_secs"] == START
        assert "shutdowntime_job" not in found.job
    assert "jobstart_secs" in found.unknown
    assert "job_id" not in found.job
    assert any("Slurm (7) and PBS (8.s) are in one environment" in each for each in found.problems)


@pytest.mark.parametrize("inner", [LSF, GRID_ENGINE, {"FLUX_JOB_ID": "f7", "FLUX_JOB_SIZE": "1"}])
def test_what_an_inner_job_does_not_tell_is_unknown_beside_what_the_outer_one_does(inner, run):
    """Flux in an allocation of Slurm: Slurm's 4 processors and hour are no more than bounds."""
    found = features.here({**SLURM, **inner})
    mine = features.here(inner)
    assert set(mine.unknown) <= set(found.unknown)
    mine = mine.job.get("allocated_cpu")
    assert found.job.get("allocated_cpu") == mine
    assert ("allocated_cpu" in found.unknown) is (mine is None)
    assert found.job["wall_limit_secs"] == 3600
    codes = {600: 2, 6000: 1}  # seconds that are needed, and whether they are there
    for needed, code in codes.items():
        words = ("left", "--now", str(START), "--at-least", str(needed))
        assert run({**SLURM, **inner}, *words).exit_code == code


def test_a_job_that_began_last_is_the_innermost(tmp_path):
    places = glidein(tmp_path, START)
    for start, id, share in ((START - 600, "7.0", 20.0), (START + 600, "9", 20.0)):
        outer = {**alone(64, 1000, start, "Slurm"), "SLURM_JOB_ID": "9"}
        found = features.here({**outer, **places})
        assert found.job["job_id"] == id
        assert found.job["allocated_cpu"] == 2
        assert found.job["hs06_job"] == share
        assert (found.job["jobstart_secs"], found.job["wall_limit_secs"]) == (start, 1000)
        assert found.sources["total_cpu"] == "HTCondor"
    assert "job_id" not in features.here({**alone(64, 9, START, "Slurm"), **places}).job
    narrow = features.here({**alone(1, 9, START, "Slurm"), **places})
    assert "hs06_job" not in narrow.job  # that of two processors


def test_the_variables_of_torque_that_slurm_sets_are_no_other_job():
    found = features.here({**SLURM, "PBS_JOBID": "7", "PBS_NUM_PPN": "1"})
    assert found.job == features.here(SLURM).job


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"LSB_JOBID": "7", "LSB_MCPU_HOSTS": f"{HOST} 2", "LSB_DJOB_NUMPROC": "3"},
         "allocated_cpu is 2 by $LSB_MCPU_HOSTS, but 3 by $LSB_DJOB_NUMPROC"),
        ({**LSF, "LSB_DJOB_NUMPROC": "9"},
         "$LSB_DJOB_NUMPROC is 9, but $LSB_MCPU_HOSTS names 10 slots"),
        ({**SLURM, "SLURM_JOBID": "9"}, "job_id is 7 by $SLURM_JOB_ID, but '9' by $SLURM_JOBID"),
        ({**SLURM, "SLURM_JOB_END_TIME": "4294967294"},
         "$SLURM_JOB_END_TIME is 4294967294, which stands for no time"),
    ],
)  # fmt: skip
def test_what_one_system_says_in_two_ways_is_told(environment, told):
    assert told in features.here(environment).problems


def test_memory_of_each_processor_or_gpu_of_which_nobody_says_the_number_is_unknown():
    for variable in ("SLURM_MEM_PER_GPU", "SLURM_MEM_PER_CPU"):
        found = features.here({"SLURM_JOB_ID": "7", variable: "100"})
        assert "max_rss_bytes" in found.unknown


def test_processors_of_this_node_in_the_order_of_the_list_of_nodes():
    nodes = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "a[1-2],m", "SLURMD_NODENAME": "m"}
    found = features.here({**nodes, "SLURM_JOB_CPUS_PER_NODE": "4(x2),2"})
    assert found.job["allocated_cpu"] == 2
    assert "allocated_cpu" not in features.here({**nodes, "SLURM_JOB_CPUS_PER_NODE": "4,2"}).job


TORQUE = {"PBS_JOBID": "7", "PBS_NUM_NODES": "2", "PBS_NUM_PPN": "3", "PBS_NP": "6"}
SEVERAL = {**GRID_ENGINE, "NHOSTS": "2"}
UNTOLD = {
    "TORQUE, other counts on other nodes": {**TORQUE, "PBS_NP": "7"},
    "Flux": {"FLUX_JOB_ID": "7", "FLUX_JOB_SIZE": "1"},
    "Grid Engine on several hosts": SEVERAL,
    "LSF on other hosts": {**LSF, "LSB_MCPU_HOSTS": "other 8 more 2"},
    "LSF on another host": {"LSB_JOBID": "7", "LSB_HOSTS": "other", "LSB_DJOB_NUMPROC": "2"},
    "a pod": {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "CPU_LIMIT": "500m"},
    "HTCondor": {"_CONDOR_JOB_AD": "/nowhere"},
}


@pytest.mark.parametrize("case", UNTOLD)
def test_who_gave_a_job_processors_did_not_give_it_all_of_the_node(tmp_path, case):
    """On which it may run: without that system, this is what is known."""
    found = features.here(UNTOLD[case], limited(tmp_path))
    assert "allocated_cpu" not in found.job
    assert "allocated_cpu" in found.unknown
    assert features.here({}, limited(tmp_path)).job["allocated_cpu"] >= 1


def test_processors_of_this_host_where_a_job_has_several(tmp_path):
    rows = f"{HOST}.example.org 1 a.q UNDEFINED\nother 9 a.q UNDEFINED\n{HOST} 2 b.q UNDEFINED\n"
    (tmp_path / "hosts").write_text(rows)
    told = features.here({**SEVERAL, "PE_HOSTFILE": f"{tmp_path}/hosts"})
    assert told.job["allocated_cpu"] == 3
    assert features.here(TORQUE).job["allocated_cpu"] == 3
    (tmp_path / "nodes").write_text(f"{HOST}\n{HOST}.example.org\nother\n" * 2)
    apart = {**TORQUE, "PBS_NP": "7", "PBS_NODEFILE": f"{tmp_path}/nodes"}
    assert features.here(apart).job["allocated_cpu"] == 4


@pytest.mark.parametrize(
    ("line", "name", "key"),
    [("Cpus = -5", "Cpus", "allocated_cpu"), ("Memory = NaN", "Memory", "max_rss_bytes"),
     ("MaxJobRetirementTime = 1/0", "MaxJobRetirementTime", "wall_limit_secs")],
)  # fmt: skip
def test_an_ad_without_a_number_is_told(tmp_path, line, name, key):
    (tmp_path / "job").write_text("ClusterId = 7\n")
    (tmp_path / "slot").write_text(f"{line}\n")
    places = {"_CONDOR_JOB_AD": f"{tmp_path}/job", "_CONDOR_MACHINE_AD": f"{tmp_path}/slot"}
    found = features.here(places)
    assert f"{name} in the ads is no number from 0 on" in found.problems
    assert key in found.unknown


def test_a_source_is_a_variable_or_a_file(tmp_path):
    root = limited(tmp_path, memory_swap_max=4096)
    found = features.here(SLURM, root)
    assert found.sources["allocated_cpu"] == "$SLURM_CPUS_ON_NODE"
    assert found.sources["max_swap_bytes"].startswith(f"{root}/{GROUP}/memory.swap.max")


def test_the_kernel_tells_what_nobody_else_does(tmp_path):
    root = limited(tmp_path, memory_max=4096, memory_swap_max=512, cpu_max="50000 100000")
    found = features.here({}, root)
    assert found.job == {"allocated_cpu": 1, "max_rss_bytes": 4096, "max_swap_bytes": 512}
    assert features.here({}).job == {}  # of another environment, not of this process


def test_no_swap_at_all_is_a_limit(tmp_path):
    root = limited(tmp_path, memory_swap_max=0)
    for environment in ({}, SLURM, POD):
        assert features.here(environment, root).job["max_swap_bytes"] == 0


def test_that_the_kernel_enforces_less_is_told_and_more_is_not(tmp_path):
    less = features.here(SLURM, limited(tmp_path / "less", memory_max=100 * MIB))
    assert less.job["max_rss_bytes"] == 200 * MIB
    [told] = [each for each in less.problems if "max_rss_bytes" in each]
    assert "is 209715200" in told
    assert "allows 104857600" in told
    more = features.here(SLURM, limited(tmp_path / "more", memory_max=300 * MIB))
    assert not [each for each in more.problems if "max_rss_bytes" in each]


def test_a_pod_without_a_limit_is_told_the_whole_node_which_its_group_contradicts(tmp_path):
    files = {"etc/podinfo/mem_limit": "999999999999", "etc/podinfo/cpu_limit": "3\n"}
    root = limited(tmp_path, memory_max=4096)
    found = features.here({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, system(tmp_path, files))
    assert found.job["allocated_cpu"] == 3
    assert found.sources["allocated_cpu"] == f"{root}/etc/podinfo/cpu_limit"
    assert any("allows 4096" in each for each in found.problems)


PODINFO = {
    "POD_UID": ("job_id", "a-b"), "CPU_LIMIT": ("allocated_cpu", 2),
    "MEMORY_LIMIT": ("max_rss_bytes", 1000), "MEM_LIMIT": ("max_rss_bytes", 1000),
    "EPHEMERAL_STORAGE_LIMIT": ("scratch_limit_bytes", 5000),
}  # fmt: skip


def test_the_page_for_payloads_has_the_names_of_the_downward_API_and_no_other():
    sentence = re.search(r"downward API of Kubernetes tells a pod: (.+?);\n", PAGE, re.DOTALL)
    told = re.findall("`([A-Z_]+)`", sentence[1])
    assert sorted(told) == sorted([*pod.NAMES, "MY_"])
    assert PODINFO.keys() == {name for name, key in pod.NAMES.items() if key}
    assert {pod.NAMES[name] for name in PODINFO} == {key for key, _ in PODINFO.values()}


@pytest.mark.parametrize("before", ["", "MY_"])
@pytest.mark.parametrize("name", pod.NAMES)
def test_each_name_of_the_downward_API_is_known_in_each_spelling(tmp_path, name, before):
    own = before + name
    assert pod.value(name, {own: "x"}, str(tmp_path)) == "x"
    for file in (own, own.lower()):
        root = system(tmp_path / file, {f"etc/podinfo/{file}": "x\n"})
        assert pod.value(name, {own: ""}, root) == "x"


@pytest.mark.parametrize("before", ["", "MY_"])
@pytest.mark.parametrize("name", PODINFO)
def test_each_name_of_the_downward_API_is_read_of_a_variable_and_of_a_file(tmp_path, name, before):
    key, value = PODINFO[name]
    own = before + name
    pod = {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}
    found = features.here({**pod, own: str(value)}, str(tmp_path))
    assert (found.job[key], found.sources[key]) == (value, f"${own}")
    for file in (own, own.lower()):
        root = system(tmp_path / file, {f"etc/podinfo/{file}": f"{value}\n"})
        found = features.here(pod, root)
        assert (found.job[key], found.sources[key]) == (value, f"{root}/etc/podinfo/{file}")


def test_of_a_variable_and_a_file_of_a_pod_the_least_counts_and_both_are_told(tmp_path):
    root = system(tmp_path, {"etc/podinfo/memory_limit": "500", "etc/podinfo/pod_uid": "a b"})
    found = features.here({**POD, "POD_UID": ""}, root)
    assert found.job["max_rss_bytes"] == 500
    told = f"max_rss_bytes is 1000 by $MEMORY_LIMIT, but 500 by {root}/etc/podinfo/memory_limit"
    assert told in found.problems
    assert f"{root}/etc/podinfo/pod_uid is 'a b', not one word" in found.problems


def directory(place, **values):
    for name, value in values.items():
        (place / name).write_text(f"{value}\n")
    return {"JOBFEATURES": str(place)}


def test_of_directories_and_the_batch_system_the_least_of_each_limit_counts_and_is_told(tmp_path):
    given = directory(tmp_path, allocated_cpu=8, jobstart_secs=START - 30, job_id="x", site_key=1,
                      max_rss_bytes=MIB)  # fmt: skip
    found = features.here({**SLURM, **given})
    assert found.job == {
        "allocated_cpu": 4, "jobstart_secs": START, "job_id": "x", "wall_limit_secs": 3600,
        "max_rss_bytes": MIB, "site_key": "1",
    }  # fmt: skip
    assert found.sources == {
        "job_id": "$JOBFEATURES", "max_rss_bytes": "$JOBFEATURES", "site_key": "$JOBFEATURES",
        "allocated_cpu": "$SLURM_CPUS_ON_NODE", "jobstart_secs": "$SLURM_JOB_START_TIME",
        "wall_limit_secs": "$SLURM_JOB_END_TIME - $SLURM_JOB_START_TIME",
    }  # fmt: skip
    assert found.problems[1:] == (
        "allocated_cpu is 8 by $JOBFEATURES, but 4 by $SLURM_CPUS_ON_NODE",
        f"max_rss_bytes is {MIB} by $JOBFEATURES, but {200 * MIB} by "
        "$SLURM_MEM_PER_CPU x processors",
        "wall_limit_secs is 3600 by $SLURM_JOB_END_TIME - $SLURM_JOB_START_TIME, "
        "and not in $JOBFEATURES",
    )


@pytest.mark.parametrize(
    ("start", "wall", "ends"),
    [
        (START, 3600, START + 3600), (START - 10, 3600, START + 3590),
        (START + 10, 3600, START + 3600), (START, 9000, START + 3600), (START, 60, START + 60),
        (None, 60, START + 60), (None, 9000, START + 3600), (START - 5, None, START + 3600),
    ],
)  # fmt: skip
def test_the_limit_of_time_that_ends_first_counts_with_its_own_start(tmp_path, start, wall, ends):
    values = {"jobstart_secs": start, "wall_limit_secs": wall}
    given = directory(tmp_path, **{key: each for key, each in values.items() if each is not None})
    found = features.here({**SLURM, **given})
    assert found.job["jobstart_secs"] + found.job["wall_limit_secs"] == ends
    assert found.left(START, 0).wall == ends - START


def test_what_only_the_kernel_limits_completes_a_directory(tmp_path):
    given = directory(tmp_path, allocated_cpu=8)
    root = limited(tmp_path, memory_max=4096, cpu_max="50000 100000")
    found = features.here(given, root)
    assert found.job == {"allocated_cpu": 8, "max_rss_bytes": 4096}
    assert any("allows 1" in each for each in found.problems)
    # That a process may run on all processors gives it none of them.
    other = tmp_path / "other"
    other.mkdir()
    assert features.here({"JOBFEATURES": str(other)}, limited(other)).job == {}


def test_a_job_inside_another_one_whose_directory_it_still_has_does_not_know_its_own_limits(
    tmp_path,
):
    given = directory(tmp_path, job_id=7, jobstart_secs=START, wall_limit_secs=90000)
    nested = features.here({**SLURM, "FLUX_JOB_ID": "f8", **given})
    assert nested.left(START + 60, 0).wall == 3540
    assert "wall_limit_secs" in nested.unknown
    other = features.here({"SLURM_JOB_ID": "8", **given})
    assert "wall_limit_secs" in other.unknown
    assert features.here({**SLURM, **given}).unknown == ()


@pytest.mark.parametrize("digits", ["9" * 19, "9" * 5000, "9223372036854771712", "²"])
def test_a_limit_of_a_control_group_that_no_number_holds_is_none(tmp_path, digits):
    root = limited(tmp_path, memory_max=digits, cpu_max=f"{digits} {digits}")
    assert "max_rss_bytes" not in features.here({}, root).job


JOB_AD = "ClusterId = 7\nProcId = 0\nRequestCpus = 2\nJobCurrentStartDate = 1700000000\n"
SLOT_AD = "Cpus = 2\nMemory = 100\nDisk = 2048\nTotalCpus = 8\nDetectedCpus = 16\nMJF_HS06 = 80\n"


def glidein(place, start):
    """The variables of a job of HTCondor that began at a time, with its ads in a directory."""
    (place / "job").write_text(JOB_AD.replace("1700000000", str(start)))
    (place / "slot").write_text(SLOT_AD)
    return {"_CONDOR_JOB_AD": f"{place}/job", "_CONDOR_MACHINE_AD": f"{place}/slot"}


ODD = {  # what can be odd, and what else a job of that system finds
    **dict.fromkeys(("SLURM_CPUS_ON_NODE", "SLURM_JOB_CPUS_PER_NODE", "SLURM_MEM_PER_CPU",
                     "SLURM_MEM_PER_NODE", "SLURM_MEM_PER_GPU", "SLURM_JOB_START_TIME",
                     "SLURM_JOB_END_TIME"), SLURM),
    **dict.fromkeys(("PBS_WALLTIME", "PBS_NP", "PBS_NUM_PPN", "NCPUS", "PBS_NUM_NODES"), PBS),
    **dict.fromkeys(("LSB_MCPU_HOSTS", "LSB_DJOB_NUMPROC"), LSF),
    **dict.fromkeys(("NSLOTS", "NHOSTS", "PE_HOSTFILE"), GRID_ENGINE),
    **dict.fromkeys(("CPU_LIMIT", "MEMORY_LIMIT", "EPHEMERAL_STORAGE_LIMIT"), POD),
    **dict.fromkeys(("MaxJobRetirementTime", "AllowedJobDuration", "Cpus", "Memory",
                     "SSSFeature_wall_limit_secs", "SSSFeature_cpu_limit_secs", "ClaimEndTime",
                     "RetirementTimeRemaining"), None),
}  # fmt: skip
ODD_VALUES = st.one_of(
    st.sampled_from(["", "0", "-1", "abc", "00:10:01", "601.5", "1e3", "NaN", "9" * 30, "1/0",
                     str(START), str(START + 1), str(START - 1), "4294967294", "2(x2),1"]),
    st.integers(-2, 7200).map(str),
)  # fmt: skip
LIMITS = ("allocated_cpu", "cpu_limit_secs", "wall_limit_secs", "max_rss_bytes",
          "scratch_limit_bytes")  # fmt: skip
OF_A_DIRECTORY = st.fixed_dictionaries(
    {}, optional={**{key: st.integers(1, 9000) for key in LIMITS},
                  "jobstart_secs": st.integers(START - 100, START + 100),
                  "shutdowntime_job": st.integers(START + 200, START + 9000)},
)  # fmt: skip


@given(st.sampled_from(sorted(ODD)), ODD_VALUES, OF_A_DIRECTORY, st.data())
def test_with_a_directory_nothing_is_surer_than_without(tmp_path_factory, name, value, has, data):
    """What the batch system says and nobody can read may be less than the directory says."""
    place = tmp_path_factory.mktemp("job")
    if ODD[name] is None:
        usual, odd = dict(glidein(place, START)), {}
        (place / "odd").write_text(f'{SLOT_AD}Activity = "Retiring"\n{name} = {value or 0}\n')
        odd = {"_CONDOR_MACHINE_AD": f"{place}/odd"}
        if name.startswith(("SSS", "Allowed")):
            (place / "odd").write_text(f"{JOB_AD}{name} = {value or 0}\n")
            odd = {"_CONDOR_JOB_AD": f"{place}/odd"}
    else:
        usual, odd = ODD[name], {name: value}
        if data.draw(st.booleans(), label="without a start"):
            usual = {key: text for key, text in usual.items() if key != "SLURM_JOB_START_TIME"}
    (place / "features").mkdir()
    given = directory(place / "features", **has)
    without, within = (features.here({**usual, **odd, **more}) for more in ({}, given))
    told = {each for each in without.problems if not each.endswith(" is not set")}
    assert told <= set(within.problems)
    became_unknown = set(without.unknown) - set(features.here(usual).unknown)
    assert became_unknown <= set(within.unknown)
    for key in (*LIMITS, "shutdowntime_job"):
        if key in without.job and key not in ("wall_limit_secs",):
            assert within.job[key] <= min(without.job[key], has.get(key, without.job[key]))
    now = START + 50
    least = [each.time for each in (without.left(now, 0), within.left(now, 0))]
    assert least[0] is None or least[1] <= least[0]


@pytest.mark.parametrize(
    ("odd", "said", "left"),
    [
        ({"SLURM_JOB_START_TIME": ""}, "and nobody says since when", 3590),
        ({"SLURM_JOB_START_TIME": "0"}, "START_TIME is 0, which stands for no time", 3590),
        ({"SLURM_JOB_END_TIME": str(START)}, "is not after the start of the job", 9000),
        ({"SLURM_JOB_END_TIME": "soon"}, "is 'soon', not a whole number", 9000),
    ],
)
def test_a_time_of_the_batch_system_that_cannot_be_meant_is_told_beside_a_directory(
    run, tmp_path, odd, said, left
):
    given = directory(tmp_path, jobstart_secs=START, wall_limit_secs=9010)
    environment = {**SLURM, **odd}
    for more in ({}, given):
        found = features.here({**environment, **more})
        assert any(said in each for each in found.problems)
        assert "wall_limit_secs" in found.unknown
        done = run({**environment, **more}, "left", "--now", str(START + 10))
        assert (done.exit_code, said in done.stderr) == (2, True)
        done = run({**environment, **more}, "left", "--now", str(START + 10), "--json")
        assert (done.exit_code, json.loads(done.stdout)["unknown"]) == (2, ["wall_limit_secs"])
    assert found.left(START + 10, 0).time == left


def test_a_job_of_two_systems_has_the_least_processors_that_one_of_them_tells(tmp_path):
    both = {**SLURM, "FLUX_JOB_ID": "f7"}
    given = directory(tmp_path, allocated_cpu=64)
    found = features.here({**both, **given})
    assert (found.job["allocated_cpu"], "allocated_cpu" in found.unknown) == (4, True)
    root = limited(tmp_path / "root", cpu_max="150000 100000")  # 2, as the kernel has it
    narrow = features.here({**both, "SLURM_CPUS_ON_NODE": "1"}, root)
    assert narrow.job.get("allocated_cpu", 1) == 1


@pytest.mark.parametrize(("start", "ends"), [(START + 1000, START + 600), (START + 9, START + 609)])
def test_a_job_that_started_at_two_times_counts_from_the_earlier_one(tmp_path, start, ends):
    slurm = {key: text for key, text in SLURM.items() if key != "SLURM_JOB_END_TIME"}
    given = directory(tmp_path, jobstart_secs=start, wall_limit_secs=600)
    job = features.here({**slurm, **given}).job
    assert job["jobstart_secs"] + job["wall_limit_secs"] == ends


def test_a_shutdown_before_a_start_that_lies_in_the_future_counts(run, tmp_path):
    now = START + 10
    given = directory(tmp_path, jobstart_secs=START + 5000, wall_limit_secs=6600,
                      shutdowntime_job=START + 100)  # fmt: skip
    done = run(given, "left", "--now", str(now), "--json")
    assert json.loads(done.stdout)["time"] == 90
    # A limit counts from now then, whatever ends later by the clock that was changed.
    (tmp_path / "shutdowntime_job").unlink()
    done = run({**SLURM, **given}, "left", "--now", str(now), "--json")
    assert json.loads(done.stdout)["time"] == 3590


def test_a_drain_that_only_the_ad_of_the_machine_tells_counts_beside_directories(tmp_path):
    places = glidein(tmp_path, START)
    with (tmp_path / "slot").open("a") as file:
        file.write(f"Draining = true\nExpectedMachineGracefulDrainingCompletion = {FAR}\n")
    for name, has, ends in (("job", {"job_id": 7}, FAR), ("less", {"shutdowntime": FAR - 9},
                            FAR - 9), ("more", {"shutdowntime": FAR + 9}, FAR)):  # fmt: skip
        (tmp_path / f"of-{name}").mkdir()
        given = directory(tmp_path / f"of-{name}", **has)["JOBFEATURES"]
        variable = "JOBFEATURES" if name == "job" else "MACHINEFEATURES"
        found = features.here({**places, variable: given})
        assert found.machine["shutdowntime"] == ends
        assert found.machine.keys() == {*has, "shutdowntime"} or name == "job"


FAR = 4_000_000_000


@pytest.mark.parametrize("words", ["left", "watch"])
def test_a_start_that_nothing_counts_from_decides_nothing(run, tmp_path, words):
    given = directory(tmp_path, jobstart_secs="soon", shutdowntime_job=FAR)
    if words == "left":
        assert run(given, "left").exit_code == 0
        (tmp_path / "wall_limit_secs").write_text("600\n")
        assert run(given, "left").exit_code == 2
    else:
        assert run(given, "watch", "--once", "--from", "features").exit_code == 0
        (tmp_path / "wall_limit_secs").write_text("600\n")
        assert run(given, "watch", "--once", "--from", "features").exit_code == 2


SAME_JOBS = {  # what $JOBFEATURES and the environment may call one job, and what not
    ("7", "7"): True, ("3", "7"): False, ("7_2", "9"): True, ("7_3", "9"): False,
    ("x", "7"): True, ("70bb7fd6-1c8e", "7"): True, ("٧", "8"): True,
}  # fmt: skip


@pytest.mark.parametrize(("named", "id"), SAME_JOBS)
def test_features_of_another_job_are_told(tmp_path, named, id):
    (tmp_path / "job_id").write_text(f"{named}\n")
    array = {"SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "2"} if id == "9" else {}
    found = features.here({"JOBFEATURES": str(tmp_path), "SLURM_JOB_ID": id, **array})
    told = [each for each in found.problems if each.startswith(f"job_id is {named} by $JOB")]
    assert bool(told) is not SAME_JOBS[named, id]


TASK = {"SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "4"}


@pytest.mark.parametrize(
    ("named", "environment", "is_told"),
    [
        ("7", PBS, False), ("7.other", PBS, True), ("8.server", PBS, True), ("7[3]", LSF, False),
        ("7[4]", LSF, True), ("7.2", {**GRID_ENGINE, "SGE_TASK_ID": "2"}, False),
        ("7.3", {**GRID_ENGINE, "SGE_TASK_ID": "2"}, True),
        ("7", {**SLURM, "FLUX_JOB_ID": "f7"}, False), ("9", {**SLURM, **PBS}, True),
        # The leader of an array has its id; another task does not.
        ("7_3", {**SLURM, **TASK}, True), ("7_4", {**SLURM, **TASK}, False),
        ("7", {**SLURM, **TASK}, False), ("7", {**SLURM, **TASK, "SLURM_JOB_ID": "9"}, True),
        ("7_4", {**SLURM, **TASK, "SLURM_JOB_ID": "9"}, False), ("7_3", SLURM, True),
        ("10+1", {**SLURM, "SLURM_HET_JOB_ID": "10", "SLURM_HET_JOB_OFFSET": "1"}, False),
        ("10", {**SLURM, "SLURM_HET_JOB_ID": "10", "SLURM_HET_JOB_OFFSET": "1"}, True),
        ("99.s2", {"PBS_JOBID": "99.s1"}, True), ("99.s1.x", {"PBS_JOBID": "99.s1"}, False),
        ("99[].s1", {"PBS_JOBID": "99[4].s1"}, False), ("99[3].s1", {"PBS_JOBID": "99.s1"}, True),
        ("99-3.s1", {"PBS_JOBID": "99[4].s1"}, True), ("7", LSF, False),
        ("7[3]", {**LSF, "LSB_JOBINDEX": "0"}, True), ("7.1", GRID_ENGINE, False),
        ("7.2", GRID_ENGINE, True), ("f8", {"FLUX_JOB_ID": "f9"}, True),
        ("f8", {"FLUX_JOB_ID": "7"}, False), ("7", {"FLUX_JOB_ID": "ƒ8"}, False),
    ],
)  # fmt: skip
def test_ids_have_many_forms(tmp_path, named, environment, is_told):
    (tmp_path / "job_id").write_text(f"{named}\n")
    found = features.here({**environment, "JOBFEATURES": str(tmp_path)})
    assert any(f"job_id is {named} by" in each for each in found.problems) is is_told


def test_directories_of_the_job_around_this_one_are_told(tmp_path):
    (tmp_path / "allocated_cpu").write_text("4\n")
    found = features.here({**SLURM, **LSF, "JOBFEATURES": str(tmp_path)})
    assert any("are in one environment" in each for each in found.problems)


def test_ads_of_htcondor_are_read_as_its_hooks_read_them(tmp_path):
    places = glidein(tmp_path, START)
    found = features.here(places)
    assert found.job == {
        "job_id": "7.0", "allocated_cpu": 2, "max_rss_bytes": 100 * MIB, "hs06_job": 20.0,
        "scratch_limit_bytes": 2 * MIB, "jobstart_secs": START,
    }  # fmt: skip
    assert found.machine["total_cpu"] == 8
    assert found.sources["total_cpu"] == "HTCondor"


def test_of_two_ads_that_contradict_each_other_the_least_counts_and_is_told(tmp_path):
    places = glidein(tmp_path, START)
    with (tmp_path / "job").open("a") as file:
        file.write("CpusProvisioned = 16\nMemoryProvisioned = 64000\nDiskProvisioned = 1000000\n")
    found = features.here(places)
    amounts = ("allocated_cpu", "max_rss_bytes", "scratch_limit_bytes", "hs06_job")
    assert [found.job[key] for key in amounts] == [2, 100 * MIB, 2 * MIB, 20.0]
    assert [each for each in found.problems if "Provisioned" in each] == [
        "allocated_cpu is 16 by CpusProvisioned, but 2 by Cpus",
        "max_rss_bytes is 64000 by MemoryProvisioned, but 100 by Memory",
        "scratch_limit_bytes is 1000000 by DiskProvisioned, but 2048 by Disk",
    ]


@pytest.mark.parametrize("kind", ["nothing", "fifo", "directory", "rubbish", "large"])
def test_an_ad_that_cannot_be_read_is_a_problem(tmp_path, kind):
    place = tmp_path / "ad"
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "directory":
        place.mkdir()
    elif kind != "nothing":
        place.write_bytes(b"\0\xff" * (10 if kind == "rubbish" else 4 << 20))
    found = features.here({"_CONDOR_JOB_AD": str(place), "_CONDOR_MACHINE_AD": "/nowhere"})
    assert found.job == {}
    assert any("$_CONDOR_JOB_AD" in each for each in found.problems)
    assert "wall_limit_secs" in found.unknown


def test_every_system_that_tells_its_jobs_who_they_are_has_a_module_inside():
    rows = {name: row.inside for name, row in registry.systems().items() if row.inside}
    home = Path(sssjob.systems.__file__).parent
    there = {path.parent.name: f"sssjob.systems.{path.parent.name}.inside:read"
             for path in home.glob("*/inside.py")}  # fmt: skip
    told = "INSIDE of sssjob/systems/__init__.py: a row for each, in its system.py as well"
    assert {name: row.reader for name, row in rows.items()} == there, told
    assert rows.keys() == sssjob.systems.INSIDE.keys(), told
    variables = {row.id_variable for row in registry.systems().values()} - {"", "JOB_ID"}
    known = {row.variable for row in rows.values()}
    assert variables <= known, "an id_variable of a system that has no inside.py"


@pytest.mark.parametrize("environment", [SLURM, PBS, LSF, GRID_ENGINE, POD, {"FLUX_JOB_ID": "1"},
                                         {"_CONDOR_JOB_AD": "/nowhere"}, {}])  # fmt: skip
def test_nothing_slow_is_imported_anywhere(environment):
    code = """if True:
        import sys
        from sssjob import features
        features.here()
        heavy = {"lxml", "click", "typing", "re", "dataclasses", "enum", "functools", "fractions"}
        assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()
    """
    root = os.path.dirname(os.path.dirname(os.path.dirname(features.__file__)))
    subprocess.run(
        [sys.executable, "-S", "-c", code], check=True, env={**environment, "PYTHONPATH": root}
    )


@pytest.fixture
def run(monkeypatch):
    """A command of features in a job with this environment, and no directories."""
    for variable in ("JOBFEATURES", "MACHINEFEATURES", *dict(sssjob.systems.INSIDE.values())):
        monkeypatch.delenv(variable, raising=False)

    def invoke(environment, *words):
        return CliRunner().invoke(command, words, env=environment)

    return invoke


@pytest.mark.parametrize(
    ("environment", "words", "code"),
    [
        pytest.param(SLURM, ("--at-least", "60"), 0, id="there is more"),
        pytest.param(SLURM, ("--at-least", "6000"), 1, id="there is less"),
        pytest.param(OLDER, ("--at-least", "60"), 2, id="a limit that is not told"),
        pytest.param(OLDER, (), 2, id="nothing is asked for, and a limit is not told"),
        pytest.param(OLDER, ("--cpu", "60"), 0, id="what is not told decides nothing"),
        pytest.param({}, (), 1, id="nobody gave anything"),
    ],
)
def test_left_says_when_it_cannot_know(run, environment, words, code):
    done = run(environment, "left", "--now", str(START + 60), "--cpu-used", "0", *words)
    assert done.exit_code == code, done.output
    if code == 2:
        assert "wall_limit_secs" in done.stderr


def test_a_directory_that_is_named_is_all_that_counts(run, tmp_path):
    (tmp_path / "allocated_cpu").write_text("8\n")
    done = run(SLURM, "show", "--job", str(tmp_path), "--json")
    told = json.loads(done.stdout)
    assert told["job"] == {"allocated_cpu": "8"}
    assert told["sources"] == {"allocated_cpu": str(tmp_path)}


def test_show_says_who_says_it(run):
    done = run(SLURM, "show", "--now", str(START + 60))
    assert (
        "allocated_cpu    4  processors given to this job (by $SLURM_CPUS_ON_NODE)" in done.stdout
    )
    told = json.loads(run(SLURM, "show", "--json").stdout)
    assert told["sources"]["jobstart_secs"] == "$SLURM_JOB_START_TIME"
