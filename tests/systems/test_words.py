"""Sizes and times of each batch system, read once for accounting, features and queues.

Each case names its source: a page of the manual, or what the daemons did with it.
"""

import json

import pytest
from meanings import asked, queued, recorded, shown

from sssjob.errors import InvalidValue
from sssjob.lcginfo import reader
from sssjob.systems.gridengine import words as gridengine
from sssjob.systems.pbs import allocation as pbs_allocation
from sssjob.systems.pbs import words as pbs
from sssjob.systems.pbs.accounting import table as pbs_table
from sssjob.systems.slurm import words as slurm

K, M, G, T = (1 << 10 * power for power in range(1, 5))
BAD = InvalidValue

# fmt: off
# What is read, the value (None: no limit, or no value; BAD: it is none), and who says so.
SIZES = [
    (gridengine, "1T",        T,             "sge_types(5): T multiplies by 1024^4"),
    (gridengine, "2T",        2 * T,         "sge_types(5)"),
    (gridengine, "1t",        10**12,        "sge_types(5): t multiplies by 1000^4"),
    (gridengine, "1.5G",      3 * G // 2,    "8.1.9: qsub -l h_fsize=1.5G, ulimit -f"),
    (gridengine, "300M",      300 * M,       "sge_types(5)"),
    (gridengine, "300m",      300 * 10**6,   "sge_types(5)"),
    (gridengine, "1k",        1000,          "sge_types(5)"),
    (gridengine, "4096",      4096,          "sge_types(5): without a letter, bytes"),
    (gridengine, "0144M",     100 * M,       "sge_types(5): octal; 8.1.9: ulimit -v"),
    (gridengine, "0x90M",     144 * M,       "sge_types(5): hexadecimal; 8.1.9"),
    (gridengine, "089",       89,            "strtol(3) stops at 8, strtod(3) does not"),
    (gridengine, "0",         0,             "sge_types(5)"),
    (gridengine, "INFINITY",  None,          "sge_queue_conf(5)"),
    (gridengine, "infinity",  None,          "8.1.9: qsub -l h_fsize=infinity, ulimit -f"),
    (gridengine, "-1",        None,          "8.1.9: qsub -l h_fsize=-1, ulimit -f"),
    (gridengine, "1P",        BAD,           "8.1.9: qsub refuses it"),
    (gridengine, "UNLIMITED", BAD,           "8.1.9: qsub refuses it"),
    (gridengine, "NONE",      BAD,           "8.1.9: qsub refuses it"),
    (gridengine, "UNDEFINED", BAD,           "stands in the config of a job for descriptors"),
    (gridengine, "",          BAD,           "is no size"),
    (slurm,      "1T",        T,             "sbatch(1) --mem: K, M, G, T"),
    (slurm,      "1t",        T,             "sbatch(1)"),
    (slurm,      "1.5G",      3 * G // 2,    "sacct(1)"),
    (slurm,      "0",         0,             "sacct(1)"),
    (slurm,      "UNLIMITED", None,          "scontrol(1)"),
    (slurm,      "NONE",      None,          "scontrol(1)"),
    (slurm,      "unlimited", BAD,           "nothing prints it"),
    (slurm,      "INFINITY",  BAD,           "nothing prints it"),
    (slurm,      "-1",        BAD,           "nothing prints it"),
    (pbs,        "1tb",       T,             "pbs_resources(7): size"),
    (pbs,        "2T",        2 * T,         "pbs_resources(7): the unit may be missing"),
    (pbs,        "1t",        T,             "pbs_resources(7)"),
    (pbs,        "1.5G",      3 * G // 2,    "records of OpenPBS 23"),
    (pbs,        "1kw",       8 * K,         "pbs_resources(7): words of 8 bytes"),
    (pbs,        "512",       512,           "pbs_resources(7): bytes"),
    (pbs,        "0",         0,             "pbs_resources(7)"),
    *((pbs, text, BAD, "pbs_resources(7) has no such word")
      for text in ("INFINITY", "-1", "unlimited", "UNLIMITED", "NONE", "")),
]
TIMES = [
    (gridengine.seconds, "01:30:00",      5400,   "sge_types(5)"),
    (gridengine.seconds, "1::1",          3601,   "sge_types(5): what is zero can be left out"),
    (gridengine.seconds, "::90",          90,     "8.1.9: ulimit -t of h_cpu=::90"),
    (gridengine.seconds, "90",            90,     "sge_types(5)"),
    (gridengine.seconds, "0144",          100,    "8.1.9: ulimit -t of h_cpu=0144"),
    (gridengine.seconds, "0x90",          144,    "8.1.9: ulimit -t of h_cpu=0x90"),
    (gridengine.seconds, "0",             0,      "sge_types(5)"),
    (gridengine.seconds, "INFINITY",      None,   "sge_queue_conf(5)"),
    (gridengine.seconds, "-1",            None,   "8.1.9: ulimit -t of h_cpu=-1"),
    (gridengine.seconds, "1:30",          BAD,    "8.1.9: qsub refuses it"),
    (gridengine.seconds, "UNLIMITED",     BAD,    "8.1.9: qsub refuses it"),
    (gridengine.seconds, "NONE",          BAD,    "8.1.9: qsub refuses it"),
    (slurm.time_limit,   "90",            5400,   "sbatch(1) --time: minutes"),
    (slurm.time_limit,   "5:30",          330,    "sbatch(1): minutes:seconds"),
    (slurm.time_limit,   "1:00:00",       3600,   "sbatch(1): hours:minutes:seconds"),
    (slurm.time_limit,   "2-0",           172800, "sbatch(1): days-hours"),
    (slurm.time_limit,   "2-1:30",        178200, "sbatch(1): days-hours:minutes"),
    (slurm.time_limit,   "1-02:24:13",    95053,  "scontrol(1): TimeLimit"),
    (slurm.time_limit,   "0",             None,   "sbatch(1): no time limit be imposed"),
    (slurm.time_limit,   "00:00:00",      None,   "sbatch(1)"),
    (slurm.time_limit,   "UNLIMITED",     None,   "scontrol(1): TimeLimit"),
    (slurm.time_limit,   "unlimited",     None,   "sbatch(1), whatever the case"),
    (slurm.time_limit,   "INFINITE",      None,   "sbatch(1)"),
    (slurm.time_limit,   "-1",            None,   "sbatch(1)"),
    (slurm.time_limit,   "Partition_Limit", None, "scontrol of a job that waits"),
    (slurm.time_limit,   "N/A",           None,   "scontrol: TimeMin"),
    (slurm.time_limit,   "INFINITY",      BAD,    "nothing prints it"),
    (slurm.time_limit,   "soon",          BAD,    "is no time"),
    (pbs.seconds,        "800:00:00",     2880000, "pbs_resources(7): any number of hours"),
    (pbs.seconds,        "30:00",         1800,   "pbs_resources(7): minutes:seconds"),
    (pbs.seconds,        "2:00:00:00",    172800, "TORQUE: days first"),
    (pbs.seconds,        "90",            90,     "pbs_resources(7): seconds"),
    (pbs.seconds,        "0",             0,      "pbs_resources(7)"),
    *((pbs.seconds, text, BAD, "pbs_resources(7) has no such word")
      for text in ("INFINITY", "-1", "unlimited", "UNLIMITED", "NONE", "")),
]
# fmt: on


def check(read, text, value):
    if value is BAD:
        with pytest.raises(InvalidValue):
            read(text)
    else:
        assert read(text) == value


@pytest.mark.parametrize(
    ("system", "text", "value", "source"), SIZES,
    ids=[f"{system.__name__.split('.')[2]} {text}" for system, text, *_ in SIZES],
)  # fmt: skip
def test_a_size_is_read_as_its_system_means_it(system, text, value, source):
    check(system.size, text, value)


@pytest.mark.parametrize(
    ("read", "text", "value", "source"), TIMES,
    ids=[f"{read.__module__.split('.')[2]} {text}" for read, text, *_ in TIMES],
)  # fmt: skip
def test_a_time_is_read_as_its_system_means_it(read, text, value, source):
    check(read, text, value)


def slots_of_queue(attributes):
    """The slots of a job that qstat -f shows with these attributes."""
    shown = f"Job Id: 1.s\n    job_state = R\n    queue = q\n    {attributes}\n\n"
    (job,) = reader.snapshot("pbs", [shown.encode()], reader.ReaderOptions()).jobs
    return job.cpucount


@pytest.mark.parametrize("text, hosts", [
    pytest.param("n1/0*2+n2/0", {"n1": 2, "n2": 1}, id="PBS Professional"),
    pytest.param("n1/0+n1/1", {"n1": 2}, id="TORQUE"),
    pytest.param("n1/0-1,5+n2/0", {"n1": 3, "n2": 1}, id="ranges"),
    pytest.param("n1.example.org/0", {"n1.example.org": 1}, id="a long name"),
])  # fmt: skip
def test_hosts_of_pbs_are_read_once_for_accounting_queues_and_prologs(text, hosts):
    assert pbs.hosts(text) == hosts
    assert pbs_table.slots(text) == (tuple(hosts), sum(hosts.values()))
    assert slots_of_queue(f"exec_host = {text}") == sum(hosts.values())
    shown = f"Job Id: 1.s\n    exec_host = {text}\n"
    host = next(iter(hosts))
    found = pbs_allocation.allocation(["1.s"], shown, host)
    assert found.amounts["allocated_cpu"].value == hosts[host]


@pytest.mark.parametrize("text", ["n1/3-1", "n1/x", "/0", "n1//0", "n1/0*2*2", "n1/0+"])
def test_hosts_that_are_none_are_said_or_left_out(text):
    with pytest.raises(InvalidValue):
        pbs.hosts(text)
    assert slots_of_queue(f"exec_host = {text}\n    Resource_List.ncpus = 4") == 4
    found = pbs_allocation.allocation(["1.s"], f"Job Id: 1.s\n    exec_host = {text}\n", "n1")
    assert "allocated_cpu" not in found.amounts
    assert any(note.startswith("exec_host") for note in found.notes)


# A number of Slurm's JSON that may be none, and the minutes of a limit that it is.
NUMBERS = [
    ({"set": True, "infinite": False, "number": 5}, 5),
    ({"set": True, "infinite": True, "number": 5}, None),
    ({"set": False, "infinite": False, "number": 5}, None),
    ({"set": False, "infinite": True, "number": 5}, None),
    ({"number": 5}, None),
    (5, 5),
    (None, None),
]
_LIVE = (
    '"jobs": [{"job_id": 7, "group_name": "g", "partition": "q", "job_state": "RUNNING",'
    ' "time_limit": @}]'
)
READERS = [
    recorded("slurm-json", '{"jobs": [{"job_id": 7, "time": {"limit": @}}]}'),
    shown("squeue-json", f"{{{_LIVE}}}"),
    queued("slurm", f"{{{_LIVE}}}"),
    asked("slurmrest", '{"script": "#!/bin/sh\\ntrue\\n", "job": {"name": "a", "time_limit": @}}'),
]


@pytest.mark.parametrize(("value", "minutes"), NUMBERS)
def test_a_number_that_may_be_none_is_read_alike_by_all_who_read_json_of_slurm(value, minutes):
    seconds = None if minutes is None else 60 * minutes
    assert [read(json.dumps(value)) for read in READERS] == [seconds] * len(READERS)


@pytest.mark.parametrize(("value", "number"), NUMBERS)
def test_the_processors_of_a_node_are_such_a_number(value, number):
    node = {"state": ["IDLE"], "cpus": value, "alloc_cpus": 0}
    found = reader.snapshot(
        "slurm", [json.dumps({"nodes": [node]}).encode()], reader.ReaderOptions()
    )
    assert found.nactive == number
