import os
import resource

import pytest

from sssjob.errors import UnusableInput
from sssjob.features.used import Used, of_cgroup, of_condor, of_rusage, session_cpu_secs

V2 = {
    "cpu.stat": "usage_usec 2500000\nuser_usec 1\n",
    "memory.peak": "4096\n",
    "memory.swap.peak": "8\n",
}
V1 = {
    "cpuacct.usage": "2500000000\n",
    "memory.max_usage_in_bytes": "4096\n",
    "memory.memsw.max_usage_in_bytes": "4104\n",
}


@pytest.mark.parametrize("files", [pytest.param(V2, id="v2"), pytest.param(V1, id="v1")])
def test_a_control_group_tells_what_was_used(tmp_path, files):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert of_cgroup(tmp_path) == Used(2.5, 4096, 8)


def test_an_older_kernel_measures_no_peak(tmp_path):
    (tmp_path / "cpu.stat").write_text("usage_usec 1000000\n")
    assert of_cgroup(tmp_path) == Used(1.0)


def test_any_other_directory_is_refused(tmp_path):
    with pytest.raises(UnusableInput, match="no control group"):
        of_cgroup(tmp_path)


def test_a_finished_process_tells_kibibytes():
    usage = resource.struct_rusage((1.5, 0.25, 100, *[0] * 13))
    assert of_rusage(usage) == Used(1.75, 102400)


def test_condor_tells_kibibytes_too():
    update = {"RemoteUserCpu": 3.0, "RemoteSysCpu": 1.0, "ResidentSetSize": 10, "DiskUsage": 7}
    assert of_condor(update) == Used(4.0, 10240, None, 7168)
    assert of_condor({}) == Used()


def test_the_time_of_a_session_is_added_up(tmp_path):
    own, ticks = os.getsid(0), os.sysconf("SC_CLK_TCK")
    for number, (name, session) in enumerate([("a b) R 7", own), ("x", own), ("y", own + 1)], 1):
        place = tmp_path / "proc" / str(number)
        place.mkdir(parents=True)
        times = f"{ticks} {ticks} {ticks} {ticks}"
        (place / "stat").write_text(
            f"{number} ({name}) S 1 2 {session} 0 -1 0 0 0 0 0 {times} 20 0"
        )
    assert session_cpu_secs(tmp_path) == 8


def test_this_session_used_some_time():
    assert session_cpu_secs() > 0
