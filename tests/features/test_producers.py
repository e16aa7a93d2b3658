"""Directories as producers at work are known to write them, and consumers as they read ours.

Each producer is a table of names and bytes, each consumer the few lines that it parses a value by.
"""

import os

import pytest

from sssjob import features
from sssjob.features.vocabulary import spoken
from sssjob.features.write import write

START = 1_700_000_000

PRODUCERS = [
    pytest.param(
        {
            "allocated_cpu": b"8\n", "allocated_CPU": b"8\n", "wall_limit_secs": b"3600",
            "cpu_limit_secs": b"28800", "max_rss_bytes": b"2147483648", "mem_limit_MB": b"2147",
            "cpufactor_lrms": b"1.0", "wall_limit_secs_lrms": b"3600",
            "job_id": b"5d3c8f3e-7b0e-4c7f-9f0e-2f0f1f2a3b4c",
        },
        {"allocated_cpu": 8, "wall_limit_secs": 3600, "max_rss_bytes": 2147483648},
        0, id="Vac: no newline, both vocabularies",
    ),
    pytest.param(
        {
            "README": b"see the wiki", "cpu_limit_secs": b"7200\n",
            "cpu_limit_secs_lrms": b"5400\n", "cpufactor_lrms": b"0.75\n",
            "mem_limit_MB": b"4000\n", "disk_limit_GB": b"20\n",
        },
        {"cpu_limit_secs": 7200, "max_rss_bytes": 4 * 10**9, "scratch_limit_bytes": 20 * 10**9},
        0, id="GridKa: normalised by the table, a README beside",
    ),
    pytest.param(
        {"shutdowntime_job": b"-1\n", "hs06_job": b"18.90\n", "max_swap_bytes": b"1073741824\n"},
        {"hs06_job": 18.9, "max_swap_bytes": 2**30},
        1, id="Quattor: -1 for no shutdown",
    ),
    pytest.param(
        {"jobstart_secs": b"1700000000.25\n", "allocated_CPU": b"1\n", "mem_limit_MB": b"2048\n"},
        {"jobstart_secs": START, "allocated_cpu": 1, "max_rss_bytes": 2048 * 10**6},
        0, id="HTCondor: a start with a fraction",
    ),
    pytest.param(
        {"shutdown_time": b"1700003600", "wall_limit_secs": b"3600\r\n"},
        {"shutdown_time": "1700003600", "wall_limit_secs": 3600},
        0, id="Vcycle: a key of another name",
    ),
]  # fmt: skip


@pytest.mark.parametrize("contents, expected, problems", PRODUCERS)
def test_what_producers_write_is_read(tmp_path, contents, expected, problems):
    for name, octets in contents.items():
        (tmp_path / name).write_bytes(octets)
    found = features.here({"JOBFEATURES": str(tmp_path), "MACHINEFEATURES": "/"})
    assert {name: found.job[name] for name in expected} == expected
    assert len([each for each in found.problems if "JOBFEATURES" in each]) == problems
    assert "README" not in found.job


def test_cores_that_a_producer_swapped_are_put_right(tmp_path):
    for name, text in (("phys_cores", "16"), ("log_cores", "8")):
        (tmp_path / name).write_text(f"{text}\n")
    found = features.here({"MACHINEFEATURES": str(tmp_path)})
    assert (found.machine["phys_cores"], found.machine["log_cores"]) == (8, 16)
    assert "the other way round" in found.problems[0]


OURS = {
    "allocated_cpu": 8, "wall_limit_secs": 3600, "cpu_limit_secs": 28800, "jobstart_secs": START,
    "max_rss_bytes": 2**31, "shutdowntime_job": START + 3600, "hs06_job": "75.63",
    "job_id": "PBS.1",
}  # fmt: skip


def number(text):
    """What most consumers make of a text that has no surrounding white space left."""
    return int(text) if text.isdigit() else float(text)


CONSUMERS = [
    pytest.param(lambda text: number(text[:-1] if text.endswith("\n") else text), id="ATLAS pilot"),
    pytest.param(lambda text: int(text) if text.strip().isdigit() else float(text), id="mjf.py"),
    pytest.param(lambda text: number(text.strip()), id="DIRAC"),
    pytest.param(lambda text: float(text.split("\n")[0]), id="WMCore"),
    pytest.param(lambda text: number(text.rstrip("\n")), id="SAM probe"),
]


@pytest.mark.parametrize("parse", CONSUMERS)
@pytest.mark.parametrize("vocabulary", ["2014", "2016", "both"])
def test_what_we_write_is_read_by_consumers_at_work(tmp_path, parse, vocabulary):
    values = spoken(OURS, vocabulary)
    write(values, tmp_path)
    for name in os.listdir(tmp_path):
        if not name.startswith(".") and name != "job_id":
            text = (tmp_path / name).read_text()
            assert parse(text) == float(str(values[name]))
