import os
from fractions import Fraction

import pytest

from sssjob.features import host

GIB = 2**30


def system(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def cpuinfo(*processors):
    return "\n".join(
        f"processor\t: {number}\nphysical id\t: {socket}\ncore id\t\t: {core}\n"
        for number, (socket, core) in enumerate(processors)
    )


V2 = {
    "proc/self/cgroup": "0::/system.slice/job_7\n",
    "sys/fs/cgroup/system.slice/job_7/memory.max": f"{2 * GIB}\n",
    "sys/fs/cgroup/system.slice/job_7/memory.swap.max": "max\n",
    "sys/fs/cgroup/system.slice/job_7/cpu.max": "150000 100000\n",
    "sys/fs/cgroup/system.slice/memory.max": "max\n",
}
V1 = {
    "proc/self/cgroup": "4:memory:/slurm/job_7\n3:cpu,cpuacct:/slurm/job_7\n1:name=systemd:/\n",
    "sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes": f"{GIB}\n",
    "sys/fs/cgroup/memory/slurm/job_7/memory.memsw.limit_in_bytes": f"{3 * GIB}\n",
    "sys/fs/cgroup/memory/slurm/memory.limit_in_bytes": "9223372036854771712\n",
    "sys/fs/cgroup/cpu/slurm/job_7/cpu.cfs_quota_us": "50000\n",
    "sys/fs/cgroup/cpu/slurm/job_7/cpu.cfs_period_us": "100000\n",
}


@pytest.mark.parametrize(
    "files, key, value",
    [
        pytest.param(V2, "max_rss_bytes", 2 * GIB, id="memory.max"),
        pytest.param(V2, "max_swap_bytes", None, id="max is no limit"),
        pytest.param(V2, "allocated_cpu", Fraction(3, 2), id="cpu.max"),
        pytest.param(V1, "max_rss_bytes", GIB, id="memory.limit_in_bytes"),
        pytest.param(V1, "max_swap_bytes", 2 * GIB, id="memory and swap less memory"),
        pytest.param(V1, "allocated_cpu", Fraction(1, 2), id="cpu.cfs_quota_us"),
        pytest.param(
            {**V2, "sys/fs/cgroup/system.slice/memory.max": f"{GIB}\n"}, "max_rss_bytes", GIB,
            id="a level above is narrower",
        ),
        pytest.param(
            {**V2, "sys/fs/cgroup/system.slice/job_7/memory.swap.max": "4096\n"},
            "max_swap_bytes", 4096, id="memory.swap.max",
        ),
        pytest.param(
            {**V2, "sys/fs/cgroup/system.slice/job_7/memory.swap.max": "0\n"},
            "max_swap_bytes", 0, id="no swap at all",
        ),
        pytest.param(
            {"proc/self/cgroup": "0::/\n"}, "max_rss_bytes", None, id="the group of everybody",
        ),
        pytest.param({}, "max_rss_bytes", None, id="no control groups"),
    ],
)  # fmt: skip
def test_control_groups_of_both_versions_are_read(tmp_path, files, key, value):
    found = host.job(system(tmp_path, files)).get(key)
    if key == "allocated_cpu":
        assert found.value == min(value, len(os.sched_getaffinity(0)))
    else:
        assert (None if found is None else found.value) == value


def test_the_source_is_the_file(tmp_path):
    found = host.job(system(tmp_path, V2))["max_rss_bytes"]
    assert found.source == str(tmp_path / "sys/fs/cgroup/system.slice/job_7/memory.max")


def test_a_group_may_be_given(tmp_path):
    place = tmp_path / "group"
    system(place, {"memory.max": "4096\n"})
    assert host.job(tmp_path, cgroup=str(place))["max_rss_bytes"].value == 4096


def test_another_process_may_be_asked_about(tmp_path):
    files = {name.replace("self", "77"): text for name, text in V2.items()}
    assert host.job(system(tmp_path, files), pid=77)["max_rss_bytes"].value == 2 * GIB


def test_scratch_space_is_what_jobs_may_fill(tmp_path):
    found = host.job(tmp_path, scratch=tmp_path)["scratch_limit_bytes"]
    status = os.statvfs(tmp_path)
    assert 0 < found.value <= status.f_blocks * status.f_frsize
    assert found.basis == "derived"
    assert "scratch_limit_bytes" not in host.job(tmp_path, scratch=tmp_path / "absent")


@pytest.mark.parametrize(
    "processors, physical",
    [
        pytest.param([(0, 0), (0, 1), (0, 0), (0, 1)], 2, id="hyper-threading"),
        pytest.param([(0, 0), (1, 0)], 2, id="two sockets"),
    ],
)
def test_cores_are_counted_by_socket(tmp_path, processors, physical):
    found = host.machine(system(tmp_path, {"proc/cpuinfo": cpuinfo(*processors)}))
    assert found["phys_cores"].value == physical
    assert found["total_cpu"].value == found["log_cores"].value == len(processors)


def test_a_machine_that_does_not_list_cores_has_processors_only(tmp_path):
    found = host.machine(system(tmp_path, {"proc/cpuinfo": "processor\t: 0\nBogoMIPS\t: 50\n\n"}))
    assert found.keys() == {"total_cpu", "log_cores"}


def test_fewer_processors_than_the_machine_has_are_an_allocation(tmp_path):
    here = len(os.sched_getaffinity(0))
    more = system(tmp_path, {"proc/cpuinfo": cpuinfo(*[(0, core) for core in range(here + 1)])})
    found = host.job(more)["allocated_cpu"]
    assert (found.value, found.basis) == (here, "exact")


def test_this_machine_answers():
    assert host.machine()["total_cpu"].value >= len(os.sched_getaffinity(0))
    assert host.job()["allocated_cpu"].value > 0
