import os
from pathlib import Path

import pytest

from sssjob.errors import UnusableInput
from sssjob.features.used import Used, of_cgroup, of_file, session_cpu_secs

# Left by Grid Engine 8.1.9 for the epilog of a job, and by HTCondor 23.9.6 when one had ended.
DATA = Path(__file__).parents[1] / "data" / "features"

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


@pytest.mark.parametrize(
    "name, expected",
    [
        pytest.param("sge-usage", Used(0.011402, 4704 * 1024), id="Grid Engine"),
        pytest.param("condor-history", Used(4.0, 8368 * 1024, None, None), id="HTCondor"),
    ],
)
def test_batch_systems_leave_files_of_names_and_numbers(name, expected):
    found = of_file(DATA / name)
    assert found.cpu_secs == pytest.approx(expected.cpu_secs)
    assert found.max_rss_bytes == expected.max_rss_bytes


def test_our_own_names_come_first_and_units_are_those_of_their_system(tmp_path):
    (tmp_path / "usage").write_text(
        "cpu_secs=7\nru_utime=9\nmax_swap_bytes = 5\nDiskUsage = 3\nru_maxrss=0\nodd\nx==\n"
    )
    assert of_file(tmp_path / "usage") == Used(7.0, None, 5, 3072)


@pytest.mark.parametrize("text", ["", "cpu=soon\n", "exit_status=0\n", "cpu=-1"])
def test_a_file_that_measures_nothing_is_refused(tmp_path, text):
    (tmp_path / "usage").write_text(text)
    with pytest.raises(UnusableInput, match="none of"):
        of_file(tmp_path / "usage")


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
