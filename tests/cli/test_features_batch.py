"""The commands that scripts of batch systems call, with programs that print what real ones did."""

import errno
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from unittest.mock import Mock, patch

import pytest
from click.testing import CliRunner
from json_commands import keeps_to_its_schema
from waiting import HANG

from sssjob import collect as collecting
from sssjob import document, features
from sssjob.cli.features import command
from sssjob.cli.features.payload import Stopped
from sssjob.cli.signals import Terminated
from sssjob.features import status
from sssjob.features.batch import directories, documents, scripts
from sssjob.features.keys import MACHINE_FEATURES
from sssjob.features.notices import Surroundings
from sssjob.features.read import read
from sssjob.features.watch import Watch
from sssjob.features.write import write

DATA = Path(__file__).parents[1] / "data/batch"
JOB = """<Job>
  <!-- kept -->
  <Id>3</Id>
  <Requested>
    <Processors op="GE">1</Processors>
    <Disk units="GB">5</Disk>
    <Duration op="LE">600</Duration>
  </Requested>
</Job>
"""
RECORD = (
    "JobID|JobName|State|Start|End|ElapsedRaw|AllocCPUS|TotalCPU|ReqMem\n"
    "3|simple|COMPLETED|1795185000|{end}|20|1|00:09.000|100M\n"
)


@pytest.fixture
def node(safe_path, monkeypatch):
    """A node on which job 3 of Slurm starts; ``scontrol`` prints what a real one did."""
    text = (DATA / "scontrol-one-node.txt").read_text()
    shown = text.replace("StartTime=2026-11-20T14:29:35", "StartTime=1795185000")
    (safe_path / "shown").write_text(shown)
    (safe_path / "bin").mkdir()
    scontrol(safe_path, f"cat {safe_path}/shown")
    (safe_path / "jobs").mkdir()
    (safe_path / "jobs/3.xml").write_text(JOB)
    monkeypatch.chdir(safe_path)
    monkeypatch.setenv("PATH", f"{safe_path}/bin", prepend=os.pathsep)
    environment = {"SLURM_JOB_ID": "3", "SLURM_JOB_UID": str(os.geteuid()),
                   "SLURM_JOB_NUM_NODES": "1", "SLURMD_NODENAME": "n1"}  # fmt: skip
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return safe_path


def agrees(place, **said):
    """scontrol shows of the job what its environment says."""
    shown = (place / "shown").read_text()
    for name, value in said.items():
        shown = re.sub(f"{name}=[^ ]+", f"{name}={value}", shown)
    (place / "shown").write_text(shown)


def scontrol(
    place, job, node=f"cat {DATA}/scontrol-node.txt", reserved="echo No reservations in the system"
):
    text = f'case "$*" in *" node "*) {node};; *" reservation") {reserved};; *) {job};; esac'
    program(place, "scontrol", text)


def program(place, name, text):
    (place / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
    (place / "bin" / name).chmod(0o755)


def run(*words):
    return CliRunner().invoke(command, words)


def prolog(*words):
    return run("prolog", "--for", "slurm", "--root", "mjf", *words)


def epilog(*words):
    return run("epilog", "--for", "slurm", "--root", "mjf", *words)


def test_a_prolog_makes_directories_of_what_was_given_and_what_the_document_says(node):
    done = prolog("--documents", "jobs")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "JOBFEATURES=mjf/3/jobfeatures", "MACHINEFEATURES=mjf/machinefeatures",
        "JOBSTATUS=mjf/3/jobstatus",
    ]  # fmt: skip
    values = read("mjf/3/jobfeatures").values
    wanted = {
        "allocated_cpu": 1, "allocated_CPU": 1, "max_rss_bytes": 100 << 20, "mem_limit_MB": 104,
        "wall_limit_secs": 600, "cpu_limit_secs": 600, "jobstart_secs": 1795185000, "job_id": "3",
        "scratch_limit_bytes": 5 << 30,
    }  # fmt: skip
    assert wanted.items() <= values.items()
    assert (node / "mjf/machinefeatures/total_cpu").read_text() == "8\n"
    assert os.stat(node / "mjf/3/jobfeatures").st_mode & 0o777 == 0o755


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives it away")
def test_where_nobody_says_whose_the_job_is_its_status_is_roots_and_that_is_told(node, monkeypatch):
    monkeypatch.delenv("SLURM_JOB_UID")
    done = prolog()
    assert (done.exit_code, "root owns its $JOBSTATUS" in done.stderr) == (1, True)


SITE = "hs06 = 80\n"


@pytest.mark.parametrize(
    ("shown", "total", "share"), [("scontrol-node.txt", "8", "20"), ("", None, None)]
)
def test_a_share_of_the_rating_is_of_what_jobs_may_have(node, shown, total, share, monkeypatch):
    (node / "site.toml").write_text(SITE)
    monkeypatch.setenv("SLURM_JOB_CPUS_PER_NODE", "2")
    agrees(node, CPU_IDs="4-5")
    scontrol(node, f"cat {node}/shown", f"cat {DATA}/{shown}" if shown else "exit 1")
    done = prolog("--site", "site.toml")
    assert done.exit_code == (0 if total else 1)
    machine, job = (
        {file.name: file.read_text().strip() for file in (node / name).glob("[a-z]*")}
        for name in ("mjf/machinefeatures", "mjf/3/jobfeatures")
    )
    assert (machine.get("total_cpu"), machine["hs06"], job.get("hs06_job")) == (total, "80", share)
    # Nobody takes the processors of this machine for those of jobs.
    assert machine.get("jobslots") == total
    assert ("log_cores" in machine) is (total is not None)


def test_what_a_machine_lacks_is_added_when_it_is_known(node):
    (node / "site.toml").write_text(SITE)
    scontrol(node, f"cat {node}/shown", "exit 1")
    prolog("--site", "site.toml")
    (node / "mjf/machinefeatures/hs06").write_text("77\n")  # by an administrator
    scontrol(node, f"cat {node}/shown")
    assert prolog("--site", "site.toml").exit_code == 0
    found = {
        name: (node / "mjf/machinefeatures" / name).read_text() for name in ("total_cpu", "hs06")
    }
    assert found == {"total_cpu": "8\n", "hs06": "77\n"}
    assert (node / "mjf/3/jobfeatures/hs06_job").read_text() == "9.62\n"


def test_slurm_is_not_asked_about_a_machine_that_is_known(node):
    scontrol(node, f"cat {node}/shown", f"echo asked >> {node}/asked; cat {DATA}/scontrol-node.txt")
    prolog()
    prolog()
    assert (node / "asked").read_text() == "asked\n"
    (node / "site.toml").write_text("total_cpu = 4\n")
    run("prolog", "--for", "slurm", "--root", "other", "--site", "site.toml")
    assert (node / "asked").read_text() == "asked\n"
    assert (node / "other/machinefeatures/total_cpu").read_text() == "4\n"


def test_a_job_has_no_share_of_a_machine_that_is_too_small_for_it(node, monkeypatch):
    (node / "site.toml").write_text("hs06 = 80\ntotal_cpu = 2\n")
    monkeypatch.setenv("SLURM_JOB_CPUS_PER_NODE", "4")
    done = prolog("--site", "site.toml")
    assert "allocated_cpu is 4, but total_cpu of the machine 2" in done.stderr
    assert not (node / "mjf/3/jobfeatures/hs06_job").exists()
    assert (node / "mjf/3/jobfeatures/allocated_cpu").read_text() == "4\n"


def test_the_directory_of_a_machine_can_be_written_of_what_its_batch_system_says(node):
    scontrol(node, "exit 1", f"cat {DATA}/scontrol-node-reserved.txt")
    done = run("machine", "machinefeatures", "--for", "slurm", "--node", "n2")
    assert done.exit_code == 0, done.stderr
    assert (node / "machinefeatures/total_cpu").read_text() == "6\n"
    scontrol(node, "exit 1", "exit 1")
    done = run("machine", "again", "--for", "slurm", "--node", "n2")
    assert "does not say how many processors" in done.stderr
    assert not (node / "again/total_cpu").exists()


def test_a_directory_of_the_machine_that_is_there_is_left_as_it_is(node):
    prolog()
    (node / "mjf/machinefeatures/shutdowntime").write_text("1795190000\n")
    assert prolog().exit_code == 0
    assert (node / "mjf/machinefeatures/shutdowntime").exists()


MAINTAINED = "ReservationName=fix StartTime=4100000000 EndTime=4100003600 Nodes=n[1-2] Flags=MAINT"


def test_maintenance_reaches_jobs_and_goes_when_it_is_called_off(node):
    place = node / "mjf/machinefeatures/shutdowntime"
    scontrol(node, f"cat {node}/shown", reserved=f"echo {MAINTAINED}")
    assert prolog().exit_code == 0
    assert place.read_text() == "4100000000\n"
    scontrol(node, f"cat {node}/shown", reserved="exit 1")
    assert prolog().exit_code == 1  # nobody knows: it stands
    assert place.read_text() == "4100000000\n"
    scontrol(node, f"cat {node}/shown")
    assert prolog().exit_code == 0
    assert not place.exists()


ODD = MAINTAINED.replace("StartTime=4100000000", "StartTime=Unknown")


@pytest.mark.parametrize(
    ("printed", "said"),
    [("rubbish", "prints nothing that says when node n1"), ("", "prints nothing that says"),
     (ODD, "prints nothing that says"), (f"'{MAINTAINED}\n{ODD}'", "cannot be read")],
)  # fmt: skip
def test_a_maintenance_that_cannot_be_read_is_told_by_a_prolog(node, printed, said):
    scontrol(node, f"cat {node}/shown", reserved=f"printf '%b\\n' {printed}")
    done = prolog("--log", "log")
    assert (done.exit_code, done.stderr) == (1, "")
    assert said in (node / "log").read_text()
    place = node / "mjf/machinefeatures/shutdowntime"
    assert place.exists() is (said == "cannot be read")


def test_a_prolog_that_fails_says_so_in_its_log_alone(node, monkeypatch):
    monkeypatch.delenv("SLURM_JOB_ID")
    done = prolog("--log", "log")
    assert (done.exit_code, done.stderr) == (2, "")
    assert re.fullmatch(
        r"20\S*Z prolog slurm -: error: .*SLURM_JOB_ID.*\n", (node / "log").read_text()
    )


def test_the_directory_of_a_machine_has_the_earlier_shutdown(node):
    scontrol(node, "exit 1", reserved=f"echo {MAINTAINED}")
    (node / "site.toml").write_text("shutdowntime = 4100000001\n")
    done = run("machine", "m", "--for", "slurm", "--node", "n1", "--site", "site.toml")
    assert (node / "m/shutdowntime").read_text() == "4100000000\n", done.stderr
    (node / "site.toml").write_text("shutdowntime = 4099999999\n")
    run("machine", "m", "--for", "slurm", "--node", "n1", "--site", "site.toml")
    assert (node / "m/shutdowntime").read_text() == "4099999999\n"


def test_a_command_that_hangs_is_asked_once(node):
    scontrol(
        node, "exec sleep 20", node=f"echo x >> {node}/asked; exit 1", reserved="exec sleep 20"
    )
    done = prolog("--seconds", "0.5")
    assert done.stderr.count("did not end within") == 2
    assert done.exit_code == 1


def test_the_control_group_of_a_job_says_what_the_system_does_not(node, monkeypatch):
    group = node / "group"
    group.mkdir()
    (group / "memory.max").write_text("52428800\n")
    (group / "memory.swap.max").write_text("1048576\n")
    monkeypatch.setattr("sssjob.systems.slurm.groups.place", lambda environment: str(group))
    assert prolog().exit_code == 0
    values = read("mjf/3/jobfeatures").values
    # What Slurm gave counts first; swap is what only the kernel knows.
    assert (values["max_rss_bytes"], values["max_swap_bytes"]) == (100 << 20, 1048576)


def test_a_job_that_runs_again_finds_nothing_of_its_earlier_run(node):
    prolog()
    (node / "mjf/3/jobstatus/used_CPU").write_text("1\n")
    prolog()
    assert os.listdir(node / "mjf/3/jobstatus") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("exec sleep 20", "did not end within"),
        ("echo no such job >&2; exit 1", "returned 1: no such job"),
        ("echo JobId=4 JobName=other", "nothing about job 3"),
        ("head -c 100 /dev/zero", "nothing about job 3"),
    ],
    ids=["hangs", "fails", "another job", "rubbish"],
)
def test_without_an_answer_there_is_what_the_document_says_and_a_note(node, text, said):
    scontrol(node, text)
    done = prolog("--documents", "jobs", "--seconds", "0.5")
    assert done.exit_code == 1
    assert said in done.stderr
    values = read("mjf/3/jobfeatures").values
    assert values["wall_limit_secs"] == 600
    # The limit is that of the document: that of Slurm may be less, and a job is told so.
    environment = {"JOBFEATURES": "mjf/3/jobfeatures", "SLURM_JOB_ID": "3"}
    assert set(features.here(environment).unknown) == {"wall_limit_secs"}
    left = CliRunner().invoke(command, ["left", "--at-least", "9"], env=environment)
    assert (left.exit_code, "not known: wall_limit_secs" in left.stderr) == (2, True)
    # One that tells it to its jobs has said it.
    times = {"SLURM_JOB_START_TIME": "1795190000", "SLURM_JOB_END_TIME": "1795190060"}
    assert features.here({**environment, **times}).unknown == ()
    # "At least 1" does not say how many were given, and nothing is computed of a guess.
    assert not {"allocated_cpu", "allocated_CPU", "cpu_limit_secs"} & values.keys()


def test_the_last_task_of_an_array_is_asked_for_by_its_own_id(node, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    shown = {"1": "scontrol-array.txt", "1_3": "scontrol-array-task.txt"}
    lines = " ".join(f"{job}) cat {DATA}/{name};;" for job, name in shown.items())
    scontrol(node, f"case $5 in {lines} esac")
    done = prolog()
    assert (done.exit_code, done.stderr) == (0, "")
    values = read("mjf/1/jobfeatures").values
    assert (values["allocated_cpu"], values["wall_limit_secs"]) == (2, 180)


@pytest.mark.parametrize("text", ["<Job><Id>4</Id></Job>", "<Job>", ""])
def test_a_document_that_is_not_about_the_job_is_told_and_not_taken(node, text):
    (node / "jobs/3.xml").write_text(text)
    done = prolog("--documents", "jobs")
    assert done.exit_code == 1
    assert "3.xml" in done.stderr
    assert read("mjf/3/jobfeatures").values["allocated_cpu"] == 1


# decision 899
@pytest.mark.parametrize("inner", ["<Processors>16</Processors>", "<Colour/>", "<Requested/>"])
@pytest.mark.parametrize("policy", ["", "Reject", "Warn", "Ignore"])
def test_what_is_not_understood_of_a_group_costs_a_prolog_what_its_policy_says(node, inner, policy):
    job = (node / "jobs/3.xml").read_text()
    stated = f" awarenessPolicy='{policy}'" if policy else ""
    group = f"<JobGroup{stated}><Id>g</Id>{inner}{job}</JobGroup>"
    (node / "jobs/3.xml").write_text(group)
    done = prolog("--documents", "jobs")
    goes_on = policy in ("Warn", "Ignore")
    assert done.exit_code == (0 if goes_on else 1)
    assert ("is not understood" in done.stderr) is (policy != "Ignore")
    values = read("mjf/3/jobfeatures").values
    assert (values["allocated_cpu"], "scratch_limit_bytes" in values) == (1, goes_on)


def test_a_prolog_that_no_batch_system_calls_makes_nothing(node, monkeypatch):
    monkeypatch.delenv("SLURM_JOB_ID")
    done = prolog()
    assert (done.exit_code, (node / "mjf").exists()) == (2, False)
    assert "SLURM_JOB_ID" in done.stderr


def test_an_epilog_folds_what_was_given_and_takes_the_directories_away(node):
    prolog("--documents", "jobs")
    (node / "mjf/3/jobstatus/used_CPU").write_text("1\n")
    assert epilog("--documents", "jobs").exit_code == 0
    assert not (node / "mjf/3").exists()
    assert (node / "mjf/machinefeatures").exists()
    text = (node / "jobs/3.xml").read_text()
    assert "<!-- kept -->" in text
    job = document.loads(text)
    assert job.delivered.text("Processors") == "1"
    assert job.get("StartTime") == "1795185000"
    assert job.requested == document.loads(JOB).requested


@pytest.mark.parametrize(
    "spoil",
    [
        lambda lock: lock.symlink_to("/etc/hostname"),
        lambda lock: os.mkfifo(lock),
        lambda lock: lock.mkdir(),
        lambda lock: lock.write_bytes(b"\xff\0" * 5000),
    ],
    ids=["link", "fifo", "directory", "rubbish"],
)
def test_a_status_that_cannot_be_read_costs_only_itself(node, spoil):
    prolog("--documents", "jobs")
    spoil(node / "mjf/3/jobstatus/used_CPU")
    done = epilog("--documents", "jobs")
    assert not (node / "mjf/3").exists()
    assert document.loads((node / "jobs/3.xml").read_text()).delivered.text("Processors") == "1"
    assert "used_CPU" in done.stderr


def test_an_epilog_without_documents_takes_the_directories_away(node):
    prolog()
    assert epilog().exit_code == 0
    assert not (node / "mjf/3").exists()
    assert epilog().exit_code == 0  # there is nothing to be done twice


def test_the_document_of_a_job_on_several_nodes_waits_for_its_record(node, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "2")
    prolog("--documents", "jobs")
    assert epilog("--documents", "jobs").exit_code == 0
    assert (node / "jobs/3.xml").read_text() == JOB
    assert not (node / "mjf/3").exists()


def test_grid_engine_is_told_the_variables_and_tells_what_was_used(node, monkeypatch):
    spool = node / "spool"
    spool.mkdir()
    for name in ("config", "environment"):
        (spool / name).write_text((DATA / f"sge-{name}").read_text().replace("alice", "root"))
    (spool / "usage").write_text("ru_utime=2.5\nru_stime=1\nru_maxrss=4704\n")
    for name, option, first, other in (
        ("qstat", "-f", "sge-qstat-f.xml", "sge-qstat-j.xml"),
        ("qconf", "-se", "sge-host.txt", "sge-queue.txt"),
    ):
        shown = f"{DATA}/{first};; *) cat {DATA}/{other}"
        program(node, name, f"case $1 in {option}) cat {shown};; esac")
    values = {"JOB_ID": "31", "QUEUE": "main.q", "SGE_JOB_SPOOL_DIR": str(spool), "NHOSTS": "1"}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    (node / "jobs/31.xml").write_text(JOB.replace("<Id>3<", "<Id>31<"))
    options = ("--for", "gridengine", "--root", str(node / "mjf"), "--documents", "jobs")
    done = run("prolog", *options)
    assert done.exit_code == 0
    assert "wall_limit_secs is 3600 by qstat, but 600 by /Job/Requested/Duration" in done.stderr
    assert (
        (spool / "environment")
        .read_text()
        .endswith(
            f"JOBFEATURES={node}/mjf/31/jobfeatures\nMACHINEFEATURES={node}/mjf/machinefeatures\n"
            f"JOBSTATUS={node}/mjf/31/jobstatus\n"
        )
    )
    assert run("epilog", *options).exit_code == 0
    job = document.loads((node / "jobs/31.xml").read_text())
    assert (job.get("CpuDuration"), job.delivered.text("Processors")) == ("4", "2")


def test_pbs_gives_its_arguments(node):
    words = ("101.ce", "root", "root", "run", "nodes=1:ppn=2,walltime=01:00:00,mem=1gb")
    (node / "jobs/101.ce.xml").write_text(JOB.replace("<Id>3<", "<Id>101.ce<"))
    program(node, "qstat", "exit 1")
    program(node, "pbsnodes", 'printf "$1\\n     state = free\\n     np = 4\\n"')
    options = ("--for", "pbs", "--root", "mjf", "--documents", "jobs", "--")
    assert run("prolog", *options, *words).exit_code == 1
    assert read("mjf/101.ce/jobfeatures").values["wall_limit_secs"] == 3600
    used = (*words[:4], "4711", words[4], "cput=00:01:05,mem=3456kb", "batch", "", "0")
    assert run("epilog", *options, *used).exit_code == 0
    assert document.loads((node / "jobs/101.ce.xml").read_text()).get("CpuDuration") == "65"


# Root is not led elsewhere


@pytest.fixture
def open_to_all(node):
    """A directory like /tmp, with links of a user to what is not his."""
    (node / "tmp").mkdir()
    (node / "tmp").chmod(0o1777)
    (node / "precious/3/jobfeatures").mkdir(parents=True)
    (node / "precious/3/jobfeatures/shutdowntime_job").write_text("1\n")
    (node / "precious/3.xml").write_text(JOB)
    (node / "tmp/link").symlink_to(node / "precious")
    return node


@pytest.mark.skipif(os.geteuid() != 0, reason="a user may have his own in a sticky directory")
@pytest.mark.parametrize("place", ["tmp/link", "tmp/mjf", "tmp"])
@pytest.mark.parametrize(
    "words",
    [
        ("prolog", "--for", "slurm", "--root", "{}"),
        ("epilog", "--for", "slurm", "--root", "{}"),
        ("epilog", "--for", "slurm", "--root", "{}", "--documents", "jobs"),
        ("install", "--for", "slurm", "--root", "{}"),
        ("install", "--for", "slurm", "--root", "{}/%n/mjf"),
        ("install", "--for", "slurm", "--documents", "{}"),
        ("install", "--for", "slurm", "--to", "{}"),
        ("collect", "--for", "slurm", "--documents", "{}", "--record", "/dev/null"),
        (
            "collect",
            "--for",
            "slurm",
            "--documents",
            "jobs",
            "--done",
            "{}",
            "--record",
            "/dev/null",
        ),
        ("expire", "{}"),
        ("sweep", "--for", "slurm", "--root", "{}"),
    ],
    ids=" ".join,
)
def test_a_directory_through_which_others_lead_is_refused(open_to_all, words, place):
    if words[0] == "collect" and place == "tmp/mjf":
        (open_to_all / "tmp/mjf").mkdir()
    done = run(*(word.format(open_to_all / place) for word in words))
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"{open_to_all}/tmp can be written by others (mode 1777)" in done.stderr
    assert "name a directory" in done.stderr
    left = {str(path.relative_to(open_to_all)) for path in (open_to_all / "precious").rglob("*")}
    assert left == {
        "precious/3", "precious/3.xml", "precious/3/jobfeatures",
        "precious/3/jobfeatures/shutdowntime_job",
    }  # fmt: skip
    assert (open_to_all / "precious/3.xml").read_text() == JOB


def test_a_link_in_the_name_of_the_root_is_refused(node):
    (node / "mjf").mkdir()
    (node / "link").symlink_to("mjf")
    done = run("prolog", "--for", "slurm", "--root", "link")
    assert (done.exit_code, "link is a link" in done.stderr) == (2, True)
    assert os.listdir(node / "mjf") == []


@pytest.mark.skipif(os.geteuid() != 0, reason="a user may have his own in a sticky directory")
def test_documents_that_others_can_write_are_not_read_and_the_job_goes_on(open_to_all):
    jobs = ("--documents", str(open_to_all / "tmp/link"))
    before = prolog(*jobs)
    assert (before.exit_code, read("mjf/3/jobfeatures").values["allocated_cpu"]) == (1, 1)
    assert "scratch_limit_bytes" not in read("mjf/3/jobfeatures").values
    after = epilog(*jobs)
    assert (after.exit_code, "mjf/3 is kept" in after.stderr) == (1, True)
    assert all("can be written by others" in done.stderr for done in (before, after))
    assert (open_to_all / "precious/3.xml").read_text() == JOB


def test_scripts_can_be_read_by_all_whatever_the_umask(node):
    before = os.umask(0o077)
    try:
        assert run("install", "--for", "slurm", "--to", "etc/scripts").exit_code == 0
    finally:
        os.umask(before)
    modes = {
        name: (node / name).stat().st_mode & 0o777
        for name in ("etc", "etc/scripts", "etc/scripts/taskprolog")
    }
    assert set(modes.values()) == {0o755}, modes


# Records


def collect(*words):
    return run("collect", "--for", "slurm", "--documents", "jobs", *words)


def test_records_are_asked_for_and_folded_when_they_are_complete(node):
    program(node, "sacct", f"cat {node}/records")
    (node / "records").write_text(RECORD.format(end=1795185020).replace("|", "\x1f"))
    done = collect()
    assert done.exit_code == 0, done.stderr
    job = document.loads((node / "jobs/3.xml").read_text())
    assert (job.get("State"), job.get("EndTime")) == ("Completed", "1795185020")
    again = collect()
    assert (again.exit_code, again.stdout) == (0, "")  # nobody is waited for


HALF = "3|allocation|COMPLETED|{start}|{end}|20|1|00:09.000|16?"


@pytest.mark.parametrize("line", [HALF, "3|simple|RUNNING|{start}|Unknown|20|1|00:09.000|100M", ""])
def test_a_record_that_is_half_written_waits(node, line):
    now = int(time.time())
    program(node, "sacct", f"cat {node}/records")
    line = line.format(start=now - 90, end=now - 60)
    (node / "records").write_text(f"{RECORD.splitlines()[0]}\n{line}\n".replace("|", "\x1f"))
    done = collect()
    assert done.exit_code == 1
    assert "no record yet of 3" in done.stderr
    assert (node / "jobs/3.xml").read_text() == JOB


def test_a_record_waits_until_it_has_settled(node):
    (node / "records").write_text(RECORD.format(end=int(time.time()) - 2))
    assert collect("--record", "records").exit_code == 1
    assert collect("--record", "records", "--settle", "0").exit_code == 0


def began(place, moment):
    """A run of the job began then, and another record of its prolog and epilog says so."""
    text = (place / "shown").read_text()
    (place / "shown").write_text(re.sub("StartTime=[0-9]+", f"StartTime={moment}", text))


SAID = {1: "priority_factor", 2: "add_uncom_time"}  # by which run of a job


@pytest.mark.parametrize("apart", [3, 13, 600])
def test_a_job_that_was_requeued_has_what_its_last_run_was_given_and_said(node, apart):
    for number, moment in enumerate((1795185000, 1795185000 + apart), 1):
        began(node, moment)
        prolog("--documents", "jobs")
        status.write({"used_CPU": number, SAID[number]: 5}, "mjf/3/jobstatus")
        assert epilog("--documents", "jobs").exit_code == 0
    text = (node / "jobs/3.xml").read_text()
    assert (SAID[1] in text, SAID[2] in text) == (False, True)
    assert document.loads(text).get("StartTime") == str(1795185000 + apart)
    # An epilog of the first run that comes now, and one of the second that comes again.
    for number, moment in enumerate((1795185000, 1795185000 + apart), 1):
        began(node, moment)
        prolog("--documents", "jobs")
        status.write({"used_CPU": number}, "mjf/3/jobstatus")
        done = epilog("--documents", "jobs")
        assert (done.exit_code, os.listdir("mjf")) == (0, ["machinefeatures"])
        assert ("an earlier run of job 3 is not folded" in done.stderr) == (number == 1)
        assert SAID[2] in (node / "jobs/3.xml").read_text()


def test_collect_tells_that_the_record_it_found_is_of_an_earlier_run(node):
    """Within a minute of the run that an epilog told of, but it ended before that one began."""
    began(node, 1795185030)
    prolog("--documents", "jobs")
    assert epilog("--documents", "jobs").exit_code == 0
    before = (node / "jobs/3.xml").read_text()
    head = "JobID|State|Submit|Start|End|ElapsedRaw|AllocCPUS"
    first = "3|NODE_FAIL|1795184000|1795185000|1795185020|20|2"
    (node / "records").write_text(f"{head}\n{first}\n")
    done = collect("--record", "records")
    assert (done.exit_code, (node / "jobs/3.xml").read_text()) == (1, before)
    assert "records:2: an earlier run of job 3 is not folded" in done.stderr
    assert "no record yet" not in done.stderr


def test_collect_knows_by_the_record_of_an_earlier_run_when_that_ended(node):
    """The epilog of the last run never ran, which began within a minute of the one before."""
    began(node, 1795185000)
    prolog("--documents", "jobs")
    assert epilog("--documents", "jobs").exit_code == 0
    head = "JobID|State|Submit|Start|End|ElapsedRaw|AllocCPUS"
    first = "3|NODE_FAIL|1795184000|1795185000|1795185020|20|2"
    second = "3|COMPLETED|1795184000|1795185030|1795185090|60|3"
    (node / "records").write_text(f"{head}\n{first}\n{second}\n")
    assert collect("--record", "records").exit_code == 0
    job = document.loads((node / "jobs/3.xml").read_text())
    assert (job.get("StartTime"), job.get("EndTime")) == ("1795185030", "1795185090")
    assert job.delivered.text("Processors") == "3"


@pytest.mark.parametrize("hour", ["13", "09"])
def test_collect_asks_for_the_zone_of_a_record_that_may_be_of_the_run_it_knows(node, hour):
    began(node, 1795185000)  # 14:30:00 UTC
    prolog("--documents", "jobs")
    assert epilog("--documents", "jobs").exit_code == 0
    before = (node / "jobs/3.xml").read_text()
    start, stop = (f"2026-11-20T{hour}:{minute}:00" for minute in ("30", "40"))
    head = "JobID|State|Submit|Start|End|ElapsedRaw|AllocCPUS"
    (node / "records").write_text(f"{head}\n3|COMPLETED|{start}|{start}|{stop}|600|2\n")
    done = collect("--record", "records")
    assert (done.exit_code, (node / "jobs/3.xml").read_text()) == (1, before)
    assert "records:2: is not folded into job 3: its times have no zone (--tz)" in done.stderr


def test_a_job_that_was_requeued_finds_no_limit_that_its_first_run_was_given(node):
    """Neither a deadline, nor an Extension, which would win over what the site says now."""
    keys = {"cpu_limit_secs": 3, "shutdowntime_job": 1795186000, "cpufactor_lrms": "0.5"}
    prolog("--documents", "jobs")
    first = {name: (node / "mjf/3/jobfeatures" / name).exists() for name in keys}
    write({**keys, "job_id": "3", "jobstart_secs": 1795185000}, "mjf/3/jobfeatures")
    assert epilog("--documents", "jobs").exit_code == 0
    text = (node / "jobs/3.xml").read_text()
    assert all(str(value) in text for value in keys.values())
    assert prolog("--documents", "jobs").exit_code == 0
    given = node / "mjf/3/jobfeatures"
    values = {name: (given / name).read_text() for name in keys if (given / name).exists()}
    assert {name: name in values for name in keys} == first
    assert not [name for name, value in values.items() if value == f"{keys[name]}\n"]


def test_the_record_of_the_last_run_replaces_what_an_epilog_folded_of_the_first(node):
    """Of the second one no epilog told."""
    prolog("--documents", "jobs")
    status.write({"used_CPU": 1, SAID[1]: 5}, "mjf/3/jobstatus")
    assert epilog("--documents", "jobs").exit_code == 0
    rows = [
        "JobID|JobName|State|Submit|Start|End|ElapsedRaw|AllocCPUS|TotalCPU",
        "3|x|REQUEUED|1795184000|1795185000|1795185008|8|1|00:00.000",
        "3|x|{}|1795185010|1795185013|{}|4|2|00:05.000",
    ]
    (node / "records").write_text("\n".join(rows).format("RUNNING", "Unknown"))
    before = (node / "jobs/3.xml").read_text()
    assert collect("--record", "records").exit_code == 1
    assert (node / "jobs/3.xml").read_text() == before
    (node / "records").write_text("\n".join(rows).format("COMPLETED", "1795185017"))
    done = collect("--record", "records")
    assert done.exit_code == 0
    assert "a later run of job 3 replaces what is known of one before" in done.stderr
    text = (node / "jobs/3.xml").read_text()
    job = document.loads(text)
    assert SAID[1] not in text
    assert [job.get(name) for name in ("SubmitTime", "StartTime", "EndTime", "CpuDuration")] == [
        "1795185010", "1795185013", "1795185017", "5"
    ]  # fmt: skip


def test_documents_whose_jobs_have_ended_are_moved_away(node):
    (node / "records").write_text(RECORD.format(end=1795185020))
    (node / "done").mkdir()
    assert collect("--record", "records", "--done", "done").exit_code == 0
    assert (os.listdir("done"), (node / "jobs/3.xml").exists()) == (["3.xml"], False)


def test_a_document_that_could_not_be_moved_away_is_moved_by_the_next_call(node):
    (node / "records").write_text(RECORD.format(end=1795185020))
    (node / "done").mkdir()
    others = {"none": "<JobGroup/>", "nameless": "<Job><Name>n</Name></Job>"}
    for name, text in others.items():
        (node / f"jobs/{name}.xml").write_text(text)
    error = OSError(errno.EXDEV, "Invalid cross-device link")
    with patch.object(Path, "replace", side_effect=error):
        assert collect("--record", "records", "--done", "done").exit_code == 1
    assert collect("--record", "records").exit_code == 0
    assert collect("--record", "records", "--done", "done").exit_code == 0
    left = {name.removesuffix(".xml") for name in os.listdir("jobs")} - {".lock"}
    assert (os.listdir("done"), left) == (["3.xml"], others.keys())


def test_what_cannot_be_read_is_told_and_the_rest_goes_on(node):
    header, record = RECORD.format(end=1795185020).splitlines()
    (node / "records").write_text(f"{header}\n4|x|COMPLETED|soon|later|?|1|x|x\n{record}\n")
    (node / "jobs/2.xml").write_text("<Job>")
    done = collect("--record", "records")
    assert done.exit_code == 1
    assert "jobs/2.xml: " in done.stderr
    assert "records:2: error" in done.stderr
    assert done.stdout.startswith("jobs/3.xml: ")


def test_what_cannot_be_asked_says_so(node):
    program(node, "sacct", "echo database is down >&2; exit 1")
    done = collect()
    assert (done.exit_code, "database is down" in done.stderr) == (2, True)
    elsewhere = run("collect", "--for", "gridengine", "--documents", "jobs")
    assert (elsewhere.exit_code, "--record" in elsewhere.stderr) == (2, True)


# Submitting


@pytest.fixture
def queue(node):
    program(node, "sbatch", f"cat > {node}/script; echo 3")
    program(node, "scontrol", f'ls jobs > {node}/seen; echo "$@" >> {node}/seen')
    program(node, "scancel", f'echo "$@" > {node}/cancelled')
    (node / "jobs/3.xml").unlink()
    (node / "job.xml").write_text(JOB.replace("<Id>3", "<Executable>/bin/true</Executable><Id>w"))
    return node


def test_a_document_is_in_its_place_before_the_job_may_start(queue):
    done = run("submit", "--for", "slurm", "--documents", "jobs", "job.xml")
    assert (done.exit_code, done.stdout) == (0, "3\n")
    assert (queue / "seen").read_text() == "3.xml\nrelease 3\n"
    assert (queue / "script").read_text() == "#!/bin/sh\nexec /bin/true\n"
    assert document.loads((queue / "jobs/3.xml").read_text()).id == "3"


def test_a_job_whose_document_cannot_be_kept_is_taken_back(queue):
    done = run("submit", "--for", "slurm", "--documents", "nowhere", "job.xml")
    assert (done.exit_code, (queue / "cancelled").read_text()) == (2, "3\n")
    assert not (queue / "seen").exists()


def test_a_refusal_is_told(queue):
    program(queue, "sbatch", "echo invalid partition >&2; exit 1")
    done = run("submit", "--for", "slurm", "job.xml")
    assert (done.exit_code, "invalid partition" in done.stderr) == (1, True)


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_a_job_that_asks_for_more_than_is_carried_is_not_submitted(queue, options):
    text = (queue / "job.xml").read_text().replace("</Job>", "<Quote>q</Quote><Mood>m</Mood></Job>")
    (queue / "job.xml").write_text(text)
    done = run("submit", "--for", "slurm", *options, "job.xml")
    assert (done.exit_code, done.stdout) == (2, "")
    *told, last = done.stderr.splitlines()
    assert [line.partition(" is not ")[0] for line in told] == [
        "job.xml:9: error: element Mood", "job.xml:9: error: Quote 'q'",
    ]  # fmt: skip
    assert last == "sssjob: error: job.xml: not submitted: what it asks for would be left out"
    assert not (queue / "script").exists()


def test_the_policy_of_a_group_holds_for_a_job_of_it(queue):
    job = (queue / "job.xml").read_text().replace("</Job>", "<Quote>q</Quote></Job>")
    group = f"<JobGroup awarenessPolicy='Warn'><Id>g</Id>{job}</JobGroup>"
    (queue / "job.xml").write_text(group)
    done = run("submit", "--for", "slurm", "--documents", "jobs", "job.xml")
    assert (done.exit_code, done.stdout) == (0, "3\n")
    assert "warning: Quote 'q' is not asked of slurm" in done.stderr
    assert document.loads((queue / "jobs/3.xml").read_text()).get("Quote") == "q"


def test_a_job_that_its_user_holds_is_not_let_go(queue):
    text = (queue / "job.xml").read_text().replace("</Job>", "<Hold>User</Hold></Job>")
    (queue / "job.xml").write_text(text)
    done = run("submit", "--for", "slurm", "job.xml")
    assert (done.exit_code, done.stdout) == (0, "3\n")
    assert not (queue / "seen").exists()


def test_a_dry_run_shows_the_command_and_the_script(queue):
    done = run("submit", "--for", "slurm", "--dry-run", "job.xml")
    first, *script = done.stdout.splitlines()
    assert first.startswith("sbatch --parsable --hold")
    assert script == ["#!/bin/sh", "exec /bin/true"]
    assert not (queue / "script").exists()


# Installing


def test_install_prints_what_to_configure_and_the_scripts(node):
    done = run("install", "--for", "slurm")
    assert done.stdout.splitlines()[1:5] == [
        "Prolog=/usr/libexec/sssjob/slurm/prolog",
        "TaskProlog=/usr/libexec/sssjob/slurm/taskprolog",
        "Epilog=/usr/libexec/sssjob/slurm/epilog", "PrologFlags=Alloc",
    ]  # fmt: skip
    assert done.stdout.count("#!/bin/sh") == 3


def test_install_writes_the_scripts(node):
    done = run("install", "--for", "gridengine", "--to", "scripts")
    assert "written to" in done.stderr
    assert sorted(os.listdir("scripts")) == ["epilog", "prolog", "starter"]
    assert f"root@{node}/scripts/prolog" in done.stdout
    assert "#!/bin/sh" not in done.stdout


def test_install_as_json(node):
    found = json.loads(run("install", "--for", "pbs", "--json").stdout)
    assert set(found["scripts"]) == {"prologue", "epilogue", "profile.sh"}
    assert found["written"] is False


@pytest.mark.parametrize(
    "words", [("--root", "mjf"), ("--site", "none.toml"), ("--documents", "jobs")]
)
def test_install_refuses_what_no_daemon_could_use(node, words):
    done = run("install", "--for", "slurm", *words)
    assert (done.exit_code, done.stdout) == (2, "")


def test_scripts_find_the_commands_of_a_batch_system_where_they_are_here(node):
    assert f" PATH={node}/bin:/usr/sbin:" in run("install", "--for", "slurm").stdout
    (node / "bin/scontrol").unlink()
    assert f"{node}/bin" not in run("install", "--for", "pbs").stdout


def test_the_life_of_an_element_of_an_array_of_LSF_as_its_scripts_play_it(node):
    """No LSF runs here; this is what its manuals say that an sbatchd does on a host."""
    where = {"root": "mjf", "documents": "jobs", "log": "log", "to": "scripts"}
    options = [word for name, place in where.items() for word in (f"--{name}", f"{node}/{place}")]
    job = {"JOBID": "7", "JOBINDEX": "3", "RUNTIMELIMIT": "60.0", "EXEC_HOST": "n9"}
    host = {"HOST_NAME": "'$4'", "MAX": "8"}
    program(node, "bjobs", f"test \"$5\" = '7[3]' && echo '{json.dumps({'RECORDS': [job]})}'")
    program(node, "bhosts", f"echo '{json.dumps({'RECORDS': [host]})}'")
    assert run("install", "--for", "lsf", *options).exit_code == 0
    told = {"LSB_JOBID": "7", "LSB_JOBINDEX": "3"}

    def sbatchd(script, *arguments):
        words = [node / "scripts" / script, *arguments]
        return subprocess.run(
            words, env=told, capture_output=True, text=True, check=True, timeout=HANG
        ).stdout

    assert sbatchd("prolog") == ""
    assert sbatchd("starter", "cat $JOBFEATURES/wall_limit_secs") == "3600\n"
    assert sbatchd("starter", "cat $JOBFEATURES/job_id") == "7[3]\n"
    assert sbatchd("starter", "cat $MACHINEFEATURES/total_cpu") == "8\n"
    sbatchd("epilog")
    assert not (node / "mjf/7[3]").exists()


def test_the_life_of_a_job_of_Flux_as_its_scripts_play_it(node):
    """No Flux runs here; this is what its manuals say that its job manager does on a node."""
    where = {"root": "mjf", "documents": "jobs", "log": "log", "to": "scripts"}
    options = [word for name, place in where.items() for word in (f"--{name}", f"{node}/{place}")]
    lite = '{"version":1,"execution":{"R_lite":[{"rank":"1","children":{"core":"0-%s"}}]%s}}'
    own = lite % (1, ',"starttime":1700000000.5,"expiration":1700003600.5')
    program(
        node,
        "flux",
        f"""case "$*" in
'job info 91088924704768 R') echo '{own}';; 'getattr rank') echo 1;;
'resource R') echo '{lite % (7, "")}';; 'jobs '*) [ -e {node}/over ] || echo '91088924704768|1';;
*) exit 1;; esac""",
    )
    assert run("install", "--for", "flux", *options).exit_code == 0
    assert (node / "scripts/features.lua").exists()
    told = {"FLUX_JOB_ID": "ƒiFkbMhFM", "FLUX_JOB_USERID": str(os.getuid())}
    place = node / "mjf/91088924704768"

    def manager(script):
        subprocess.run([node / "scripts" / script], env=told, check=True, timeout=HANG)

    manager("prolog")
    assert read(place / "jobfeatures").values == {
        **read(place / "jobfeatures").values, "allocated_cpu": 2, "wall_limit_secs": 3600,
        "jobstart_secs": 1700000000, "job_id": "91088924704768",
    }  # fmt: skip
    assert (node / "mjf/machinefeatures/total_cpu").read_text().strip() == "8"
    run("sweep", "--for", "flux", "--root", str(node / "mjf"))
    assert place.exists()
    (node / "over").touch()
    run("sweep", "--for", "flux", "--root", str(node / "mjf"))
    assert not place.exists()
    document = node / "jobs/91088924704768.xml"
    document.write_text("<Job><Id>91088924704768</Id></Job>")
    manager("prolog")
    status.write({"used_CPU": 77}, place / "jobstatus")
    manager("epilog")
    assert (place.exists(), ">77<" in document.read_text()) == (False, True)


FLUX_R = (
    '{"version":1,"execution":{"R_lite":[{"rank":"%s","children":{"core":"0-1"}}],'
    '"starttime":1700000000.5,"expiration":1700003600.5}}'
)


@pytest.mark.parametrize(
    ("shown", "is_folded", "told"),
    [
        ("echo '" + FLUX_R % "1" + "'", True, ""),
        ("echo '" + FLUX_R % "1-2" + "'", False, ""),
        ("exit 1", False, "flux does not say whether job 100 had other nodes: nothing of it is"),
    ],
    ids=["one node", "two nodes", "no answer"],
)
def test_an_epilog_asks_whether_a_job_had_one_node_where_its_prolog_was_not_answered(
    node, monkeypatch, shown, is_folded, told
):  # fmt: skip
    monkeypatch.setenv("FLUX_JOB_ID", "100")
    monkeypatch.setenv("FLUX_JOB_USERID", str(os.getuid()))
    (node / "jobs/100.xml").write_text("<Job><Id>100</Id></Job>")
    program(node, "flux", "exit 1")
    words = ("--for", "flux", "--root", "mjf", "--documents", "jobs")
    run("prolog", *words)
    status.write({"used_CPU": 77}, "mjf/100/jobstatus")
    program(node, "flux", f'case "$*" in "job info 100 R") {shown};; *) echo 1;; esac')
    done = run("epilog", *words)
    assert (done.exit_code, told in done.stderr) == (1 if told else 0, True)
    assert (">77<" in (node / "jobs/100.xml").read_text()) == is_folded
    assert not (node / "mjf/100").exists()


def test_an_epilog_asks_nothing_where_there_is_no_document(node, monkeypatch):
    monkeypatch.setenv("FLUX_JOB_ID", "100")
    program(node, "flux", f"echo >> {node}/asked; exit 1")
    words = ("--for", "flux", "--root", "mjf", "--documents", "jobs")
    run("prolog", *words)
    (node / "asked").unlink()
    done = run("epilog", *words)
    assert (done.exit_code, done.stderr, (node / "asked").exists()) == (0, "", False)


def test_the_life_of_a_job_of_PBS_as_its_scripts_play_it(node):
    """No PBS runs here; this is what its manuals say that a MOM does."""
    where = {"root": "mjf", "jobs": "jobs", "log": "log", "to": "scripts"}
    options = [word for name, place in where.items() for word in (f"--{name}", f"{node}/{place}")]
    program(node, "qstat", "exit 1")
    program(node, "pbsnodes", 'printf "$1\\n     state = free\\n     np = 4\\n"')
    assert run("install", "--for", "pbs", *options).exit_code == 0
    (node / "jobs/101.ce.xml").write_text(JOB.replace("<Id>3<", "<Id>101.ce<"))

    def mom(script, *arguments):
        words = [node / "scripts" / script, "101.ce", "root", "root", "run", *arguments]
        subprocess.run(words, env={}, check=True, timeout=HANG)

    mom("prologue", "nodes=1:ppn=2,walltime=01:00:00,mem=1gb")
    told = subprocess.run(
        ["/bin/sh", "-c", f". {node}/scripts/profile.sh; cat $JOBFEATURES/wall_limit_secs"],
        env={"PBS_JOBID": "101.ce", "PATH": "/usr/bin:/bin"}, capture_output=True, text=True,
        check=True, timeout=HANG,
    )  # fmt: skip
    assert told.stdout == "3600\n"
    mom(
        "epilogue",
        "4711",
        "nodes=1:ppn=2,walltime=01:00:00",
        "cput=00:01:05,mem=3456kb",
        "batch",
        "",
        "0",
    )
    assert os.listdir(node / "mjf") == ["machinefeatures"]
    job = document.loads((node / "jobs/101.ce.xml").read_text())
    assert (job.get("CpuDuration"), job.requested) == ("65", document.loads(JOB).requested)
    assert job.delivered.get("Memory", metric="Max").bytes == 3456 << 10


def sweep(*words):
    return run("sweep", "--for", "slurm", "--root", "mjf", "--node", "n1", *words)


def test_sweep_removes_directories_of_jobs_that_the_node_no_longer_has(node, monkeypatch):
    assert prolog().exit_code == 0
    monkeypatch.setenv("SLURM_JOB_ID", "12")
    program(node, "squeue", "echo 3")
    (node / "mjf/2").mkdir()
    (node / "mjf/2/jobfeatures").mkdir()
    shown = sweep("--dry-run")
    assert (shown.exit_code, shown.stdout, shown.stderr) == (0, "would remove 2\n", "")
    done = sweep("--json")
    assert (done.exit_code, json.loads(done.stdout)) == (0, {"removed": ["2"], "notes": []})
    assert sorted(os.listdir(node / "mjf")) == ["3", "machinefeatures"]


def test_sweep_finds_the_directory_of_its_node(node):
    """Or says that there is none, or that they are those of nodes."""
    for name in ("n1", "n2"):
        directories.Directories(node / f"mjf/{name}", "2").make({"job_id": "2"})
        (node / f"mjf/{name}/machinefeatures").mkdir()
    program(node, "squeue", "echo 3")
    done = sweep()
    told = "sssjob: mjf has no jobs, but mjf/n1 has: --root mjf/%n --node n1\n"
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", told)
    done = run("sweep", "--for", "slurm", "--root", "mjf/%n", "--node", "n1")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "removed 2\n", "")
    assert (node / "mjf/n2/2").is_dir()
    done = run("sweep", "--for", "slurm", "--root", "other/%n", "--node", "n2")
    told = "sssjob: other/n2 is not there: no prolog has made it\n"
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", told)


def both(*words):
    """What a sweep does, and a dry run says just before."""
    first = sweep(*words, "--dry-run")
    done = sweep(*words)
    said = done.stdout.replace("removed", "would remove")
    assert (first.exit_code, first.stdout, first.stderr) == (done.exit_code, said, done.stderr)
    return done


def test_what_an_epilog_cannot_fold_for_a_full_disk_is_folded_by_sweep(node):
    program(node, "squeue", "true")
    prolog("--documents", "jobs")
    status.write({"used_CPU": 77}, "mjf/3/jobstatus")
    before = (node / "jobs/3.xml").read_text()
    full = OSError(errno.ENOSPC, "No space left on device")
    with patch("sssjob.collect.outputs.writing", Mock(side_effect=full)):
        done = epilog("--documents", "jobs")
        assert (done.exit_code, "mjf/3 is kept" in done.stderr) == (1, True), done.stderr
        status.write({"used_CPU": 9999}, "mjf/3/jobstatus")  # by a process that still runs
        again = both("--documents", "jobs")
        assert (again.exit_code, again.stdout) == (1, "")
    without = both()
    assert (without.exit_code, "is not folded: --documents" in without.stderr) == (1, True)
    # A directory that is not there, or of which the file system is not mounted.
    (node / "empty").mkdir()
    for other in ("empty", "nowhere"):
        without = both("--documents", other)
        assert (without.exit_code, without.stdout, os.path.isdir("mjf/3")) == (1, "", True)
        assert other in without.stderr
    # An epilog that runs once more, and documents into which nothing can be folded.
    for options in ((), ("--documents", "empty"), ("--documents", "nowhere")):
        once_more = epilog(*options)
        assert (once_more.exit_code, os.path.isdir("mjf/3")) == (1, True), once_more.stderr
        assert "mjf/3 is kept" in once_more.stderr
    for text in ("<Job><Id>999</Id></Job>", before.replace("</Job>", "<Mood>m</Mood></Job>")):
        (node / "empty/3.xml").write_text(text)
        other = both("--documents", "empty")
        assert (other.exit_code, other.stdout, os.path.isdir("mjf/3")) == (1, "", True)
        assert (node / "empty/3.xml").read_text() == text
    assert (node / "jobs/3.xml").read_text() == before
    assert (both("--documents", "jobs").stdout, os.listdir("mjf")) == (
        "removed 3\n", ["machinefeatures"]
    )  # fmt: skip
    after = (node / "jobs/3.xml").read_text()
    assert after != before
    assert ">77<" in after
    assert ">9999<" not in after


FAULTS = (errno.ESTALE, errno.EIO, errno.EACCES, errno.ELOOP, errno.ENOTDIR, errno.ETIMEDOUT)


@pytest.mark.parametrize("number", FAULTS, ids=errno.errorcode.get)
def test_documents_that_cannot_be_looked_at_are_not_gone(node, number):
    """As on a server that does not answer; what the job said is kept until it does."""
    program(node, "squeue", "true")
    prolog("--documents", "jobs")
    status.write({"used_CPU": 77}, "mjf/3/jobstatus")
    stat = Path.stat

    def fails(place, **options):
        if place.parts[:1] == ("jobs",):
            raise OSError(number, os.strerror(number), str(place))
        return stat(place, **options)

    def unread(document):
        raise OSError(number, os.strerror(number), str(document))

    with patch.object(Path, "stat", fails), patch("sssjob.collect.Delivery", unread):
        done = epilog("--documents", "jobs")
        assert (done.exit_code, "mjf/3 is kept" in done.stderr) == (1, True), done.stderr
        assert os.strerror(number) in done.stderr
        assert both("--documents", "jobs").exit_code == 1
    done = both("--documents", "jobs")
    assert (done.exit_code, done.stdout) == (0, "removed 3\n")
    assert ">77<" in (node / "jobs/3.xml").read_text()


@pytest.mark.parametrize("how", ["empty", "gone", "link", "fifo", "closed"])
def test_a_document_that_the_prolog_read_and_the_epilog_does_not_find_costs_nothing(node, how):
    """Its file system may not be mounted, or may not be read; a FIFO has nobody wait."""
    program(node, "squeue", "true")
    prolog("--documents", "jobs")
    status.write({"used_CPU": 77}, "mjf/3/jobstatus")
    place = node / "jobs"
    place.rename(node / "aside")
    if how != "gone":
        place.mkdir()
    if how == "link":
        (place / "3.xml").symlink_to(node / "unmounted")
    if how == "fifo":
        os.mkfifo(place / "3.xml")
    if how == "closed":
        place.chmod(0)
    with patch("os.access", lambda path, *_, **__: str(path) != "jobs"):
        done = epilog("--documents", "jobs")
        assert (done.exit_code, "mjf/3 is kept" in done.stderr) == (1, True), done.stderr
        assert both("--documents", "jobs").exit_code == 1
    for each in place.glob("*"):
        each.unlink()
    if how != "gone":
        place.rmdir()
    (node / "aside").rename(place)
    assert both("--documents", "jobs").stdout == "removed 3\n"
    assert ">77<" in (place / "3.xml").read_text()


def test_a_document_that_only_the_epilog_found_is_no_reason_to_remove_anything(node):
    """Its file system was not mounted when the job began, and another one is there now."""
    program(node, "squeue", "true")
    (node / "jobs/3.xml").rename(node / "3.xml")
    prolog("--documents", "jobs")
    (node / "3.xml").rename(node / "jobs/3.xml")
    status.write({"used_CPU": 77}, "mjf/3/jobstatus")
    full = OSError(errno.ENOSPC, "No space left on device")
    with patch("sssjob.collect.outputs.writing", Mock(side_effect=full)):
        assert "mjf/3 is kept" in epilog("--documents", "jobs").stderr
    (node / "other").mkdir()  # another directory of documents, or what is below a mount
    (node / "other/.lock").touch()
    done = both("--documents", "other")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "mjf/3 is kept" in epilog("--documents", "other").stderr
    assert both("--documents", "jobs").stdout == "removed 3\n"
    assert ">77<" in (node / "jobs/3.xml").read_text()


@pytest.mark.parametrize(
    ("step", "options"),
    [("_end", ()), ("_end", ("--documents", "jobs")), ("documents.check", ("--documents", "jobs"))],
)
def test_an_epilog_takes_away_nothing_of_the_next_run_of_its_job(node, step, options):
    """It waited for the lock of the documents, say, and its script was ended meanwhile."""
    prolog("--documents", "jobs")
    before = (node / "jobs/3.xml").read_text()
    usual = documents.check if step == "documents.check" else collecting._end

    def later(*words):
        made.append(1)
        if len(made) == 1:
            prolog("--documents", "jobs")
        return usual(*words)

    made = []
    with patch(f"sssjob.collect.{step}", later):
        done = epilog(*options, "--log", "log")
    said = (node / "log").read_text()
    assert "what is there is of its next run, and stays, " in said
    assert sorted(os.listdir("mjf/3")) == [".described", "jobfeatures", "jobstatus"]
    assert (done.exit_code, "the next run of job 3 has begun" in said) == (1, True)
    assert (node / "jobs/3.xml").read_text() == before


def test_an_epilog_tells_a_document_of_another_job_and_keeps_what_is_known(node):
    prolog("--documents", "jobs")
    (node / "jobs/3.xml").write_text("<Job><Id>999</Id></Job>")
    done = epilog("--documents", "jobs")
    assert (done.exit_code, "no job has the Id 3" in done.stderr) == (1, True)
    assert "mjf/3 is kept" in done.stderr


@pytest.mark.parametrize(
    "step", ["handles.check", "documents.check", "documents.locked", "_fold", "first look"]
)
def test_an_epilog_that_is_ended_at_any_step_has_kept_what_is_known(node, step):
    """As by its time limit, while the server of the documents does not answer."""
    program(node, "squeue", "true")
    prolog("--documents", "jobs")
    status.write({"used_CPU": 77}, "mjf/3/jobstatus")
    ends = Terminated(15) if step != "handles.check" else [None, Terminated(15)]
    look = os.stat

    def hangs(path, **options):
        if str(path).startswith("jobs"):
            raise Terminated(15)
        return look(path, **options)

    where = "os.stat" if step == "first look" else f"sssjob.collect.{step}"
    with patch(where, side_effect=hangs if step == "first look" else ends):
        assert epilog("--documents", "jobs").exit_code == 143
    status.write({"used_CPU": 9999}, "mjf/3/jobstatus")
    assert both("--documents", "jobs").stdout == "removed 3\n"
    text = (node / "jobs/3.xml").read_text()
    assert (">77<" in text, ">9999<" in text) == (True, False)


def test_what_an_epilog_kept_that_was_ended_before_it_could_look_stays_without_a_document(node):
    program(node, "squeue", "true")
    (node / "jobs/3.xml").rename(node / "3.xml")
    prolog("--documents", "jobs")
    status.write({"used_CPU": 77}, "mjf/3/jobstatus")
    with patch("sssjob.collect.documents.is_absent", side_effect=Terminated(15)):
        assert epilog("--documents", "jobs").exit_code == 143
    for words in ((), ("--documents", "jobs")):
        assert (both(*words).exit_code, os.path.isdir("mjf/3")) == (1, True)
    (node / "3.xml").rename(node / "jobs/3.xml")
    assert both("--documents", "jobs").stdout == "removed 3\n"
    assert ">77<" in (node / "jobs/3.xml").read_text()


def test_sweep_gives_up_what_is_left_of_a_job_that_is_named(node):
    program(node, "squeue", "true")
    prolog("--documents", "jobs")
    full = OSError(errno.ENOSPC, "No space left on device")
    with patch("sssjob.collect.outputs.writing", Mock(side_effect=full)):
        epilog("--documents", "jobs")
    (node / "jobs/3.xml").unlink()
    assert "sweep --discard 3 gives it up" in both("--documents", "jobs").stderr
    assert both("--discard", "3", "--dry-run").stdout == "would remove 3\n"
    shutil.rmtree("mjf/3/jobfeatures")  # by a person
    done = both("--discard", "3")
    assert (done.exit_code, done.stdout, os.path.lexists("mjf/3")) == (0, "removed 3\n", False)
    again = both("--discard", "3", "--discard", "4")
    assert (again.exit_code, "mjf/3 is not there" in again.stderr) == (1, True)
    assert both("--discard", "../x").exit_code == 2


def kept_for_a_full_disk(node):
    """A job whose epilog could not write its document."""
    program(node, "squeue", "true")
    prolog("--documents", "jobs")
    status.write({"used_CPU": 77}, "mjf/3/jobstatus")
    (node / "mjf/3/jobstatus/can_postpone_last_job").write_text("maybe")
    full = OSError(errno.ENOSPC, "No space left on device")
    with patch("sssjob.collect.outputs.writing", Mock(side_effect=full)):
        done = epilog("--documents", "jobs")
    assert (done.exit_code, "can_postpone_last_job is not read: 'maybe'" in done.stderr) == (
        1,
        True,
    )


@pytest.mark.parametrize("again", [epilog, both], ids=["a second epilog", "sweep"])
def test_whoever_folds_what_was_kept_tells_what_is_not_folded(node, again):
    kept_for_a_full_disk(node)
    done = again("--documents", "jobs")
    assert "used_CPU 77 is more than allocated_CPU 1" in done.stderr
    assert (">77<" in (node / "jobs/3.xml").read_text(), os.path.isdir("mjf/3")) == (True, False)


@pytest.mark.parametrize("moment", ["documents.locked", "Delivery.look"])
@pytest.mark.parametrize("again", [epilog, sweep], ids=["a second epilog", "sweep"])
def test_whoever_is_slow_to_fold_what_was_kept_folds_nothing_of_a_next_run(node, again, moment):
    kept_for_a_full_disk(node)
    before = (node / "jobs/3.xml").read_text()

    def next_run(*_):
        prolog("--documents", "jobs")
        return nullcontext()

    with patch(f"sssjob.collect.{moment}", side_effect=next_run):
        done = again("--documents", "jobs")
    assert (done.exit_code, "the next run of job 3 has begun" in done.stderr) == (1, True)
    assert (os.path.isdir("mjf/3/jobfeatures"), (node / "jobs/3.xml").read_text()) == (True, before)


@pytest.mark.parametrize("words", [("--discard", "3"), ("--documents", "jobs"), ()])
def test_sweep_leaves_a_next_run_that_begins_while_it_asks(node, words):
    kept_for_a_full_disk(node)
    before = (node / "jobs/3.xml").read_text()

    def next_run(*_):
        prolog("--documents", "jobs")
        return set()

    with patch("sssjob.features.batch.call.Invocation.present", side_effect=next_run):
        done = sweep(*words)
    assert (done.exit_code, done.stdout) == (int("--discard" in words), "")
    assert (os.path.isdir("mjf/3/jobfeatures"), (node / "jobs/3.xml").read_text()) == (True, before)


def test_sweep_folds_nothing_of_a_job_whose_epilog_never_ran(node):
    """Its node was lost, and another one may run it."""
    program(node, "squeue", "true")
    prolog("--documents", "jobs")
    before = (node / "jobs/3.xml").read_text()
    assert both("--documents", "jobs").stdout == "removed 3\n"
    assert (node / "jobs/3.xml").read_text() == before


def test_two_that_fold_at_once_what_was_kept_are_both_right(node):
    kept_for_a_full_disk(node)

    @contextmanager
    def the_other(*_):
        with patch("sssjob.collect.documents.locked", lambda *_: nullcontext()):
            assert sweep("--documents", "jobs").stdout == "removed 3\n"
        yield

    with patch("sssjob.collect.documents.locked", the_other):
        done = epilog("--documents", "jobs")
    assert (done.exit_code, done.stderr, os.path.lexists("mjf/3")) == (0, "", False)


def test_what_was_kept_goes_when_it_is_folded_or_given_up_and_never_else(node):
    """Its first epilog was ended before it could look, and the next one finds no document."""
    program(node, "squeue", "true")
    (node / "jobs/3.xml").rename(node / "3.xml")
    prolog("--documents", "jobs")
    status.write({"used_CPU": 77}, "mjf/3/jobstatus")
    with patch("sssjob.collect.documents.is_absent", side_effect=Terminated(15)):
        assert epilog("--documents", "jobs").exit_code == 143
    for _ in range(2):
        done = epilog("--documents", "jobs")
        assert (done.exit_code, os.path.isdir("mjf/3")) == (1, True)
        assert "sweep --discard 3 gives it up" in done.stderr
    (node / "3.xml").rename(node / "jobs/3.xml")
    assert epilog("--documents", "jobs", "--log", "log").exit_code == 0
    assert re.search(r" epilog slurm 3: [0-9]+ values added, removed, ", (node / "log").read_text())
    assert ">77<" in (node / "jobs/3.xml").read_text()


def test_an_epilog_without_documents_keeps_what_a_job_said_that_its_prolog_described(node):
    program(node, "squeue", "true")
    prolog("--documents", "jobs")
    status.write({"used_CPU": 77}, "mjf/3/jobstatus")
    done = epilog()
    assert (done.exit_code, os.path.isdir("mjf/3")) == (1, True)
    assert "mjf/3: --documents says where its document is" in done.stderr
    assert "mjf/3 is kept: sssjob features sweep --documents DIR folds it" in done.stderr
    status.write({"used_CPU": 9999}, "mjf/3/jobstatus")
    assert both("--documents", "jobs").stdout == "removed 3\n"
    assert ">77<" in (node / "jobs/3.xml").read_text()


def test_an_epilog_says_removed_only_of_what_it_removed(node):
    prolog()
    epilog("--log", "log")
    epilog("--log", "log")
    lines = (node / "log").read_text().splitlines()
    assert [line.partition(" 3: ")[2].partition(",")[0] for line in lines] == [
        "removed", "nothing is there"
    ]  # fmt: skip


def test_what_can_neither_be_kept_nor_folded_is_told(node):
    prolog("--documents", "jobs")
    full = OSError(errno.ENOSPC, "No space left on device")
    with (
        patch("sssjob.collect.outputs.writing", Mock(side_effect=full)),
        patch.object(directories.Directories, "keep", side_effect=full),
    ):
        done = epilog("--documents", "jobs")
    assert (done.exit_code, os.listdir("mjf")) == (1, ["machinefeatures"])
    assert "mjf/3 is removed, and not folded: mjf/3: No space left on device" in done.stderr


def test_documents_that_are_not_there_cost_no_job_what_it_said(node):
    """Their file system makes the directory when it is mounted."""
    program(node, "squeue", "true")
    (node / "jobs/3.xml").rename(node / "3.xml")
    prolog("--documents", "jobs")
    status.write({"used_CPU": 77}, "mjf/3/jobstatus")
    (node / "jobs").rename(node / "away")
    done = epilog("--documents", "jobs")
    assert (done.exit_code, "mjf/3 is kept" in done.stderr) == (1, True)
    (node / "away").rename(node / "jobs")
    (node / "3.xml").rename(node / "jobs/3.xml")
    assert both("--documents", "jobs").stdout == "removed 3\n"
    assert ">77<" in (node / "jobs/3.xml").read_text()


@pytest.mark.parametrize("name", ["site", "x.toml"])
def test_sweep_gives_up_nothing_that_is_not_of_a_job(node, name):
    program(node, "squeue", "true")
    prolog()
    (node / "mjf/site").mkdir()
    (node / "mjf/x.toml").touch()
    done = both("--discard", name)
    assert (done.exit_code, f"mjf/{name} is not there" in done.stderr) == (1, True)
    assert {"site", "x.toml"} <= {*os.listdir("mjf")}


def test_sweep_gives_up_nothing_of_a_job_that_the_node_has(node):
    program(node, "squeue", "echo 3; echo 3")
    prolog("--documents", "jobs")
    done = both("--discard", "3")
    assert (done.exit_code, os.path.isdir("mjf/3")) == (1, True)


def test_an_epilog_without_directories_takes_nothing_of_a_next_run(node):
    """Its prolog had failed, and the next one comes while it works."""
    begun = []

    def next_run(*_):
        prolog("--documents", "jobs")
        status.write({"used_CPU": 5}, "mjf/3/jobstatus")
        begun.append(True)
        return False

    with patch("sssjob.collect.documents.is_absent", side_effect=next_run):
        done = epilog("--documents", "jobs")
    assert (begun, done.exit_code, os.path.isdir("mjf/3/jobfeatures")) == ([True], 1, True)
    assert "the next run of job 3 has begun" in done.stderr
    assert "used_CPU" not in (node / "jobs/3.xml").read_text()


def test_an_epilog_keeps_nothing_of_a_job_that_never_had_a_document(node):
    (node / "jobs/3.xml").unlink()
    prolog("--documents", "jobs")
    done = epilog("--documents", "jobs")
    assert (done.exit_code, done.stderr, os.listdir("mjf")) == (0, "", ["machinefeatures"])


def test_a_lock_of_documents_that_is_not_given_back_costs_no_job_what_it_said(node):
    program(node, "squeue", "true")
    prolog("--documents", "jobs")
    status.write({"used_CPU": 77}, "mjf/3/jobstatus")
    with holding(node / "jobs/.lock"), patch("sssjob.collect.LOCK", 0.1):
        done = epilog("--documents", "jobs")
        assert (done.exit_code, "mjf/3 is kept" in done.stderr) == (1, True), done.stderr
        assert "is not given back within 0.1 s" in done.stderr
        assert both("--documents", "jobs").exit_code == 1
    assert both("--documents", "jobs").stdout == "removed 3\n"
    assert ">77<" in (node / "jobs/3.xml").read_text()


@contextmanager
def holding(lock):
    """Another process has a lock."""
    code = "import fcntl,sys; f = open(sys.argv[1], 'a'); fcntl.lockf(f, 2); print(); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        yield
        process.stdin.close()


def test_an_epilog_logs_what_it_keeps_and_a_prolog_what_it_takes_away_unfolded(node):
    prolog("--documents", "jobs")
    full = OSError(errno.ENOSPC, "No space left on device")
    with patch("sssjob.collect.outputs.writing", Mock(side_effect=full)):
        epilog("--documents", "jobs", "--log", "log")
    said = (node / "log").read_text()
    assert (": kept" in said, ": removed" in said) == (True, False)
    again = prolog("--documents", "jobs")
    assert "kept of an earlier run is gone, and was not folded" in again.stderr
    later = prolog("--documents", "jobs")
    assert (again.exit_code, later.exit_code, later.stderr) == (1, 0, "")


@pytest.mark.parametrize("answer", ["exit 1", "echo what", "sleep 60"])
def test_sweep_removes_nothing_where_slurm_does_not_answer(node, answer):
    assert prolog().exit_code == 0
    program(node, "squeue", answer)
    done = sweep("--seconds", "0.3")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("sssjob: error: slurm does not say which jobs are on node n1")
    assert (node / "mjf/3/jobfeatures").is_dir()


def check(*words):
    return run("install", "--for", "slurm", "--check", "--node", "n1", "--root", "/run/mjf", *words)


CONFIGURED = """\
case "$*" in
*config) printf "Prolog = %s\\nTaskProlog = %s\\nEpilog = %s\\nPrologFlags = %s\\n" {0};;
*" node "*) cat {1}/scontrol-node.txt;;
*) echo No reservations in the system;;
esac"""


def test_check_compares_with_the_configuration_as_it_is_and_keeps_what_is_there(node, monkeypatch):
    monkeypatch.setattr(scripts, "OWNER", os.geteuid())
    own = node / "own"
    own.touch(0o500)
    to = ("--to", f"{node}/etc/scripts")
    program(node, "scontrol", CONFIGURED.format(f"{own} '(null)' '(null)' NoHold", DATA))
    done = check(*to, "--json")
    found = json.loads(done.stdout)
    keeps_to_its_schema("features install", found)
    assert (done.exit_code, found["check"]["machine"]["total_cpu"]) == (1, "8")
    assert found["check"]["job"]["allocated_cpu"] == "1"
    assert "no rating of n1 is known" in "".join(found["check"]["notes"])
    assert [each["good"] for each in found["check"]["settings"]] == [False] * 4
    assert f"for each in {own};" in (node / "etc/scripts/prolog").read_text()
    # Once it is configured so, the site's own program is still called.
    ours = " ".join(f"{node}/etc/scripts/{name}" for name in ("prolog", "taskprolog", "epilog"))
    program(node, "scontrol", CONFIGURED.format(f"{ours} NoHold,Alloc", DATA))
    again = check(*to)
    assert again.exit_code == 0
    assert again.stdout.count("# is so") == 4
    assert "$MACHINEFEATURES/total_cpu  8" in again.stdout
    assert f"for each in {own};" in (node / "etc/scripts/prolog").read_text()
    run("install", "--for", "slurm", *to)
    assert f"for each in {own};" in (node / "etc/scripts/prolog").read_text()
    # It is root's alone, or the job's prolog is another's.
    own.chmod(0o720)
    done = check(*to)
    assert (done.exit_code, f"# {own}: it has the mode 0720" in done.stdout) == (1, True)
    own.unlink()
    assert f"# {own}: it is not there" in check(*to).stdout


def test_a_pattern_of_programs_of_the_site_is_judged_with_its_directory(node, monkeypatch):
    """Whoever can put a file there is root before each job."""
    monkeypatch.setattr(scripts, "OWNER", os.geteuid())
    folder = node / "own"
    folder.mkdir(mode=0o755)
    (folder / "one").write_text("#!/bin/sh\n")
    (folder / "one").chmod(0o755)
    program(node, "scontrol", CONFIGURED.format(f"'{folder}/*' '(null)' '(null)' NoHold", DATA))
    to = ("--to", str(node / "etc/scripts"))
    check(*to)
    ours = " ".join(f"{node}/etc/scripts/{name}" for name in ("prolog", "taskprolog", "epilog"))
    program(node, "scontrol", CONFIGURED.format(f"{ours} NoHold,Alloc", DATA))
    assert check(*to).exit_code == 0
    for place, mode, fault in (
        (folder / "one", 0o777, f"# {folder}/one: it has the mode 0777"),
        (folder / "one", 0o644, f"# {folder}/one: its mode 0644 keeps it from being used"),
        (folder, 0o777, f"# {folder}/*: "),
    ):
        place.chmod(mode)
        done = check(*to)
        assert (done.exit_code, fault in done.stdout) == (1, True), done.stdout
        place.chmod(0o755)


def test_check_reads_the_files_that_pbs_calls_and_keeps_what_was_moved_aside(node, monkeypatch):
    home = node / "pbs"
    (home / "mom_priv").mkdir(parents=True)
    monkeypatch.setattr(scripts, "OWNER", os.geteuid())
    (node / "pbs.conf").write_text(f"PBS_HOME={home}\n")
    monkeypatch.setenv("PBS_CONF_FILE", f"{node}/pbs.conf")
    program(node, "qmgr", "exit 0")
    own = home / "mom_priv/prologue"
    own.write_text("#!/bin/sh\n")
    words = ("install", "--for", "pbs", "--check", "--to", f"{node}/etc/scripts")
    found = run(*words)
    assert f"move it to {own}.site" in found.stdout
    own.rename(f"{own}.site")
    own.with_name("prologue.site").chmod(0o700)
    run(*words)
    for name in ("prologue", "epilogue"):
        (home / "mom_priv" / name).write_bytes((node / "etc/scripts" / name).read_bytes())
        (home / "mom_priv" / name).chmod(0o500)
    found = run(*words)
    assert (found.exit_code, found.stdout.count("# is so")) == (1, 2)
    # What has the right text is not run if its mode is wrong, and what it calls may be another's.
    (home / "mom_priv/epilogue").chmod(0o644)
    own.with_name("prologue.site").chmod(0o777)
    program(node, "qmgr", "exit 1")
    found = run(*words)
    assert (found.exit_code, found.stdout.count("# is so")) == (1, 1)
    assert "epilogue: its mode 0644 keeps it from being used: chmod 744" in found.stdout
    assert "prologue.site: it has the mode 0777, which lets others in: chmod 755" in found.stdout
    assert "hooks: qmgr does not list them" in found.stdout
    assert f"for each in {own}.site;" in own.read_text()


EXTENDED = """<Job><Id>3</Id><Extension type="JobFeatures" name="{}">{}</Extension>
<Extension type="JobFeatures" name="other">kept</Extension></Job>"""


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("job_id", "9", "job_id is 3 by the batch system, but 9"),
        ("custom", "z" * 9000, "custom: 'zzz"), ("custom", "z" * 4096, "custom: 'zzz"),
        ("hs06_job", "1" * 9000, "hs06_job: "), ("other", "3", "'other' is there 2 times"),
    ],
)  # fmt: skip
def test_an_odd_word_of_a_document_costs_that_word(node, name, text, told):
    (node / "jobs/3.xml").write_text(EXTENDED.format(name, text))
    done = prolog("--documents", "jobs")
    assert (done.exit_code, told in done.stderr) == (0, True)
    values = read(node / "mjf/3/jobfeatures").values
    assert (values["job_id"], values["other"], values["allocated_cpu"]) == ("3", "kept", 1)
    assert name in ("job_id", "other") or name not in values


def test_what_only_extensions_give_has_an_end(node):
    """Each key is a file that is open until all are there."""
    row = '<Extension type="JobFeatures" name="k{}">1</Extension>'
    rows = "".join(row.format(number) for number in range(40_000))
    (node / "jobs/3.xml").write_text(f"<Job><Id>3</Id>{rows}</Job>")
    done = prolog("--documents", "jobs")
    assert (done.exit_code, "of 40000 extensions" in done.stderr) == (0, True)
    values = read(node / "mjf/3/jobfeatures").values
    assert (values["allocated_cpu"], values["k255"], "k256" in values) == (1, "1", False)


def test_a_document_with_odd_words_is_folded(node):
    (node / "jobs/3.xml").write_text(EXTENDED.format("job_id", "9"))
    prolog("--documents", "jobs")
    done = epilog("--documents", "jobs")
    assert (done.exit_code, "values added" in done.stdout) == (0, True)


def test_a_prolog_waits_for_no_pipe_in_the_place_of_the_sites_file(node):
    os.mkfifo(node / "site.toml")
    done = prolog("--site", f"{node}/site.toml")
    assert (done.exit_code, "site.toml' is not a file" in done.stderr) == (2, True)


def test_a_file_of_the_site_that_others_can_change_is_no_word_of_the_site(node):
    """What it says is believed by all jobs of the node."""
    site, elsewhere = node / "site.toml", node / "elsewhere"
    elsewhere.mkdir()

    def refused(file):
        done = prolog("--site", str(file), "--log", f"{node}/log")
        installed = run("install", "--for", "slurm", "--to", "to", "--site", str(file))
        assert (done.exit_code, installed.exit_code) == (2, 2)
        assert "prolog" in (node / "log").read_text().splitlines()[-1]
        return installed.stderr

    site.write_text("hs06 = 80\n")
    site.chmod(0o666)
    assert "is not a file of root's or your own that nobody else can write" in refused(site)
    site.chmod(0o644)
    (node / "link.toml").symlink_to(site)
    assert "nobody else can write" in refused(node / "link.toml")
    (elsewhere / "site.toml").write_text("hs06 = 80\n")
    elsewhere.chmod(0o777)
    assert "can be written by others" in refused(elsewhere / "site.toml")
    assert "No such file" in refused(node / "none.toml")
    assert prolog("--site", str(site)).exit_code == 0


def test_a_configuration_that_names_scripts_which_cannot_be_run_is_not_good(node, monkeypatch):
    monkeypatch.setattr(scripts, "OWNER", os.geteuid())
    words = ("install", "--for", "slurm", "--check", "--node", "n1", "--log", f"{node}/log")
    place = "/usr/libexec/sssjob/slurm"
    ours = " ".join(f"{place}/{name}" for name in ("prolog", "taskprolog", "epilog"))
    program(node, "scontrol", CONFIGURED.format(f"{ours} NoHold,Alloc", DATA))
    if not os.path.lexists(place):
        done = run(*words)
        assert (done.exit_code, done.stdout.count("it is not there: write it with --to")) == (1, 3)
    at = scripts.Installation("slurm", f"{node}/etc", ["sssjob"])
    scripts.write(f"{node}/etc", at.scripts())
    assert list(at.uncalled()) == []
    (node / "etc/prolog").chmod(0o644)
    (node / "etc/taskprolog").chmod(0o700)
    (node / "etc/epilog").unlink()
    assert [(each.script, each.is_good) for each in at.uncalled()] == [
        ("prolog", False), ("epilog", False), ("taskprolog", False)
    ]  # fmt: skip


def test_a_log_whose_directory_is_missing_is_told(node):
    ours = " ".join(f"{node}/etc/scripts/{name}" for name in ("prolog", "taskprolog", "epilog"))
    program(node, "scontrol", CONFIGURED.format(f"{ours} NoHold,Alloc", DATA))
    words = ("--to", f"{node}/etc/scripts", "--log", f"{node}/not/there/log")
    for done, code in ((check(*words), 1), (run("install", "--for", "slurm", *words), 0)):
        assert done.exit_code == code
        assert f"{node}/not/there: there is no such directory here" in done.stderr
    assert check(*words[:2], "--log", f"{node}/log").exit_code == 0


def test_a_directory_of_documents_that_is_missing_is_told(node):
    """Nobody else makes it, and epilogs keep the directories of each job meanwhile."""
    ours = " ".join(f"{node}/etc/scripts/{name}" for name in ("prolog", "taskprolog", "epilog"))
    program(node, "scontrol", CONFIGURED.format(f"{ours} NoHold,Alloc", DATA))
    jobs = node / "documents"
    words = ("--to", f"{node}/etc/scripts", "--log", f"{node}/log", "--documents", str(jobs))
    for done, code in ((check(*words), 1), (run("install", "--for", "slurm", *words), 0)):
        assert done.exit_code == code
        assert f"{jobs}: there is no such directory here" in done.stderr
    jobs.mkdir()
    done = check(*words)
    assert (done.exit_code, "no such directory" in done.stderr) == (0, False)


def test_a_program_of_the_site_that_is_gone_is_called_no_longer(node):
    own = node / "own"
    place = ("--to", f"{node}/etc/scripts", "--log", f"{node}/log")
    program(node, "scontrol", CONFIGURED.format(f"{own} '(null)' '(null)' Alloc", DATA))
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    check(*place)
    script = node / "etc/scripts/prolog"
    assert str(own) in script.read_text()
    install = ("install", "--for", "slurm", *place)
    assert str(own) not in run(*install).stderr
    own.unlink()
    done = run(*install)
    told = f"sssjob: warning: {own} is not there: our prolog calls it no longer\n"
    assert (done.exit_code, told in done.stderr) == (0, True)
    assert str(own) not in script.read_text()


def test_commands_of_the_batch_system_that_others_can_exchange_are_refused(node):
    """Their directory is the first in the path of root's scripts."""
    program(node, "scontrol", CONFIGURED.format("", DATA))
    (node / "bin").chmod(0o777)
    for words in ((), ("--check",)):
        done = run("install", "--for", "slurm", *words)
        assert (done.exit_code, f"{node}/bin can be written by others" in done.stderr) == (2, True)


def test_our_own_programs_that_others_can_exchange_are_told(node, monkeypatch):
    ours = " ".join(f"{node}/etc/scripts/{name}" for name in ("prolog", "taskprolog", "epilog"))
    program(node, "scontrol", CONFIGURED.format(f"{ours} NoHold,Alloc", DATA))
    words = ("--to", f"{node}/etc/scripts", "--log", f"{node}/log")
    (node / "site").mkdir(mode=0o755)
    monkeypatch.setattr("sys.prefix", f"{node}/site")
    told = "would be root before every job"
    done = check(*words)
    assert (done.exit_code, told in done.stderr) == (0, False)
    (node / "site").chmod(0o777)
    for done, code in ((check(*words), 1), (run("install", "--for", "slurm", *words), 0)):
        assert (done.exit_code, told in done.stderr) == (code, True)


def test_check_says_where_nothing_is_known(node):
    program(node, "scontrol", "exit 1")
    done = check()
    assert (done.exit_code, "the configuration of slurm is not known" in done.stderr) == (1, True)


def test_a_job_that_goes_well_has_one_line_in_the_log_and_nothing_is_printed(node):
    before, after = prolog("--log", "log"), epilog("--log", "log")
    assert [(done.exit_code, done.stdout, done.stderr) for done in (before, after)] == [
        (0, "", "")
    ] * 2
    first, second = (node / "log").read_text().splitlines()
    assert re.fullmatch(
        r"[0-9T:-]{19}Z prolog slurm 3: [0-9]+ values, commands of slurm: [0-9], [0-9.]+ s of "
        r"CPU time",
        first,
    )
    assert re.fullmatch(r"[0-9T:-]{19}Z epilog slurm 3: removed, [0-9.]+ s of CPU time", second)


def test_what_is_missing_is_in_the_log_with_its_job(node):
    scontrol(node, "exit 1")
    assert prolog("--log", "log").exit_code == 1
    lines = (node / "log").read_text().splitlines()
    assert len(lines) >= 2
    assert all(" prolog slurm 3: " in line for line in lines)
    assert "warning: scontrol -o -d show job 3 returned 1" in lines[1]
    done = run("prolog", "--for", "slurm", "--root", "shown/x", "--log", "log")
    assert (done.exit_code, " prolog slurm 3: error: " in (node / "log").read_text()) == (2, True)


# Who is asked


@pytest.fixture
def told(node, monkeypatch):
    """A node whose Slurm hands over what later versions do, and whose control groups limit."""
    group = node / "group/job_3"
    group.mkdir(parents=True)
    (group / "memory.max").write_text(f"{200 << 20}\n")
    monkeypatch.setattr("sssjob.systems.slurm.groups.place", lambda environment: str(group))
    handed = {
        "SLURM_JOB_CPUS_PER_NODE": "2", "SLURM_JOB_START_TIME": "1795185000",
        "SLURM_JOB_END_TIME": "1795185900",
    }  # fmt: skip
    for name, value in handed.items():
        monkeypatch.setenv(name, value)
    agrees(node, CPU_IDs="4-5", TimeLimit="00:15:00")
    (node / "bin/real").write_text((node / "bin/scontrol").read_text())
    (node / "bin/real").chmod(0o755)
    program(node, "scontrol", f'echo "$*" >> {node}/asked; exec {node}/bin/real "$@"')
    prolog("--scratch", str(node))  # which describes the machine
    (node / "asked").unlink(missing_ok=True)
    return node


def asked(place):
    """What scontrol was asked, by the last words."""
    if not (place / "asked").exists():
        return []
    return [line.partition(" show ")[2] for line in (place / "asked").read_text().splitlines()]


MACHINE_KEPT = "slurm n1 {}\n"


def watched(place, seconds=HANG, said=MACHINE_KEPT):
    text = said.format(int(time.time()) + seconds)
    (place / "mjf/machinefeatures/.watched").write_text(text)


def test_nobody_is_asked_what_the_environment_and_the_control_group_say(told):
    watched(told)
    done = prolog("--scratch", str(told))
    assert (done.exit_code, done.stderr, asked(told)) == (0, "", [])
    values = read("mjf/3/jobfeatures").values
    wanted = {
        "allocated_cpu": 2, "max_rss_bytes": 200 << 20, "jobstart_secs": 1795185000,
        "wall_limit_secs": 900,
    }  # fmt: skip
    assert wanted.items() <= values.items()
    assert values["scratch_limit_bytes"] > 1 << 20


def test_what_the_environment_and_scontrol_say_otherwise_is_told(told, monkeypatch):
    watched(told)
    monkeypatch.delenv("SLURM_JOB_NUM_NODES")  # so that scontrol is asked
    agrees(told, TimeLimit="00:10:00")
    done = prolog("--scratch", str(told))
    said = "wall_limit_secs is 900 by $SLURM_JOB_END_TIME - $SLURM_JOB_START_TIME, but 600 by"
    assert (done.exit_code, said in done.stderr) == (1, True)
    assert read("mjf/3/jobfeatures").values["wall_limit_secs"] == 900


@pytest.mark.parametrize(
    "without",
    ["SLURM_JOB_CPUS_PER_NODE", "SLURM_JOB_START_TIME", "SLURM_JOB_END_TIME",
     "SLURM_JOB_NUM_NODES", "memory", "scratch"],
)  # fmt: skip
def test_what_nobody_else_says_is_asked_once(told, monkeypatch, without):
    watched(told)
    if without == "memory":
        (told / "group/job_3/memory.max").write_text("max\n")
        (told / "group/memory.max").write_text("1000000000\n")  # of all jobs together
    monkeypatch.delenv(without, raising=False)
    scratch = [] if without == "scratch" else ["--scratch", str(told)]
    assert prolog(*scratch).exit_code == 0
    assert asked(told) == ["job 3"]
    wanted = {"max_rss_bytes": 100 << 20}
    assert wanted.items() <= read("mjf/3/jobfeatures").values.items()


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-1, MACHINE_KEPT), (10**6, MACHINE_KEPT), (60, "slurm n2 {}\n"), (60, "pbs n1 {}\n"),
     (60, "slurm n1\n"), (60, "{}")],
)  # fmt: skip
def test_maintenance_is_asked_where_nobody_watches_this_node(told, seconds, said):
    watched(told, seconds, said)
    assert prolog("--scratch", str(told)).exit_code == 0
    assert asked(told) == ["reservation"]


def test_a_job_of_a_reservation_asks_for_its_end(told, monkeypatch):
    watched(told)
    monkeypatch.setenv("SLURM_JOB_RESERVATION", "mine")
    prolog("--scratch", str(told))
    assert asked(told) == ["reservation"]


def test_who_watches_knows_whether_slurm_answered(told):
    watch = Watch(["features", "slurm"], Surroundings({"PATH": os.environ["PATH"]}, "n1"))
    watch.look(0)
    assert watch.answering() == ("slurm",)
    program(told, "scontrol", "exit 1")
    watch.look(0)
    assert watch.answering() == ()
    directories.watched(told / "mjf/machinefeatures", "slurm", "n1", 90)
    found = [directories.is_watched(told / "mjf", "slurm", "n1", now) for now in (60, 89, 90)]
    assert found == [True, True, False]


hear = Watch.hear


class Rounds:
    """The clock of a watch: each pause is over at once, and then the next step is done."""

    def __init__(self, steps):
        self.now, self.pauses, self.steps = 1795190000, [], iter(steps)

    def time(self):
        return self.now

    monotonic = time

    def hear(self, watch, seconds):
        """What is asked is answered first."""
        if watch.patience() is not None:
            hear(watch, HANG)
            return
        self.now += seconds
        self.pauses.append(seconds)
        if (step := next(self.steps, None)) is None:
            raise Stopped(signal.SIGTERM)
        step(self)


@pytest.fixture
def watching(told, monkeypatch):
    """Watch the machine of that node, with a step behind each look, until a signal ends it."""

    program(
        told, "squeue", "echo $SLURM_JOB_ID RUNNING N/A N/A"
    )  # a prolog, whose job has an end, is beside the watch here

    def runs(*steps, words=("--node", "n1")):
        clock = Rounds(steps)
        monkeypatch.setattr(Watch, "hear", lambda *given: clock.hear(*given))
        monkeypatch.setattr("sssjob.cli.features.watch.time", clock)
        monkeypatch.setattr("sssjob.features.batch.starting.time", clock)
        place = str(told / "mjf/machinefeatures")
        done = run("watch", "--from", "slurm", "--machine", place, *words)
        assert done.exit_code == 128 + signal.SIGTERM, done.stderr
        assert len(clock.pauses) == len(steps) + 1
        return done

    return runs


def noted(place):
    file = place / "mjf/machinefeatures/.watched"
    return file.read_text() if file.exists() else None


def asks(place):
    """What a prolog asks now."""
    (place / "asked").unlink(missing_ok=True)
    prolog("--scratch", str(place))
    return asked(place)


def shutdown(place):
    return read(place / "mjf/machinefeatures", MACHINE_FEATURES).values.get("shutdowntime")


def reserves(place, printed):
    """What Slurm says of reservations; "" is that it does not answer."""
    said = f"echo {printed}" if printed else "exit 1"
    lines = (f'*" reservation") {said};;', f'*" node "*) cat {DATA}/scontrol-node.txt;;',
             f"*) cat {place}/shown;;")  # fmt: skip
    program(place, "real", f'case "$*" in {" ".join(lines)} esac')


NONE = "No reservations in the system"


def test_a_watch_answers_for_prologs_as_long_as_slurm_answers_it(told, watching):
    seen = []

    def fails(clock):
        seen.append((clock.now, noted(told), asks(told)))
        reserves(told, "")

    def late(clock):
        seen.append((clock.now, noted(told), asks(told)))
        clock.now += 36
        seen.append((clock.now, noted(told), asks(told)))

    done = watching(fails, late)
    until = "slurm n1 1795190065\n"  # two looks of 30 s, and the 5 s that an answer may take
    assert seen == [
        (1795190030, until, []), (1795190060, until, []), (1795190096, until, ["reservation"])
    ]  # fmt: skip
    assert "slurm does not say when node n1 is taken away" in done.stderr
    assert noted(told) is None  # prologs ask again at once


@pytest.mark.parametrize("words", [(), ("--node", "n1", "--every", "3600")])
def test_a_watch_that_does_not_know_its_node_or_looks_too_seldom_answers_for_nobody(
    told, watching, words
):
    seen = []
    watching(lambda clock: seen.append((noted(told), asks(told))), words=words)
    assert seen == [(None, ["reservation"])]


def test_a_watch_calls_off_what_a_prolog_announced(told, watching):
    """Before it began, and between two looks: a prolog may have asked just before."""
    reserves(told, MAINTAINED)
    prolog()
    assert shutdown(told) == 4100000000
    reserves(told, NONE)
    seen = []

    def announces(clock):
        seen.append(shutdown(told))
        directories.announce(told / "mjf", {"slurm": 4100000000}, clock.now)
        seen.append(shutdown(told))

    watching(announces, lambda clock: seen.append(shutdown(told)))
    assert seen == [None, 4100000000, None]


def test_a_watch_that_asks_by_the_name_of_the_host_calls_off_no_announcement_of_a_prolog(
    told, watching
):
    reserves(told, MAINTAINED)
    prolog()
    seen = []
    watching(lambda clock: seen.append(shutdown(told)), words=())
    assert [*seen, shutdown(told)] == [4100000000] * 2


def test_what_a_watch_could_not_announce_it_announces_at_the_next_look(told, watching, monkeypatch):
    reserves(told, MAINTAINED)
    seen = []
    full = OSError(errno.ENOSPC, "No space left on device")

    def freed(clock):
        seen.append((shutdown(told), noted(told)))
        patch.undo()

    with monkeypatch.context() as patch:
        patch.setattr("sssjob.features.batch.directories.put", Mock(side_effect=full))
        done = watching(lambda clock: None, freed, lambda clock: seen.append(shutdown(told)))
    assert seen == [(None, None), 4100000000]
    assert done.stderr.count("No space left on device") == 1


def test_a_watch_that_begins_again_calls_off_what_it_announced_before(told, watching):
    seen = []
    reserves(told, MAINTAINED)
    watching()
    seen.append(shutdown(told))
    reserves(told, "")
    watching()  # which hears nothing
    seen.append(shutdown(told))
    reserves(told, NONE)
    watching()
    assert [*seen, shutdown(told)] == [4100000000, 4100000000, None]


def test_a_job_that_keeps_the_lock_of_its_status_delays_no_other_epilog(node, monkeypatch):
    """While the epilog of job 3 waits for that lock, the epilog of job 4 runs to its end."""
    prolog("--documents", "jobs")
    (node / "jobs/4.xml").write_text(JOB.replace("<Id>3<", "<Id>4<"))
    monkeypatch.setenv("SLURM_JOB_ID", "4")
    shown = (node / "shown").read_text()
    (node / "shown").write_text(shown.replace("JobId=3 ", "JobId=4 "))
    prolog("--documents", "jobs")
    monkeypatch.setenv("SLURM_JOB_ID", "3")
    (node / "mjf/3/jobstatus/used_CPU").write_text("7\n")
    pilot = (node / "mjf/3/jobstatus/used_CPU").open("r+")
    fcntl.flock(pilot, fcntl.LOCK_EX)
    ended = []

    def meanwhile(_):
        pid = os.fork()  # a lock of fcntl is one of a process
        if pid == 0:
            monkeypatch.setattr("sssjob.collect.LOCK", 0.1)
            os.environ["SLURM_JOB_ID"] = "4"
            os._exit(epilog("--documents", "jobs").exit_code)
        ended.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        pilot.close()

    with monkeypatch.context() as patch:
        patch.setattr("sssjob.features.status.time.sleep", meanwhile)
        done = epilog("--documents", "jobs")
    assert (ended, done.exit_code) == ([0], 0)
    for job in ("3", "4"):
        assert not (node / "mjf" / job).exists()
        found = document.loads((node / f"jobs/{job}.xml").read_text())
        assert found.delivered.text("Processors") == "1"


def test_a_lock_that_a_pilot_never_gives_back_is_told_and_what_it_said_last_is_folded(
    node, monkeypatch
):
    prolog("--documents", "jobs")
    (node / "mjf/3/jobstatus/used_CPU").write_text("1\n")
    (node / "mjf/3/jobstatus/priority_factor").write_text("4\n")
    monkeypatch.setattr("sssjob.collect.status.read", partial(status.read, wait=0))
    with (node / "mjf/3/jobstatus/used_CPU").open("r+") as pilot:
        fcntl.flock(pilot, fcntl.LOCK_EX)
        done = epilog("--documents", "jobs")
    said = f"{node}/mjf/3/jobstatus/used_CPU: it was locked by others for 0 seconds"
    assert (done.exit_code, said.replace(f"{node}/", "") in done.stderr) == (1, True)
    assert "priority_factor" in (node / "jobs/3.xml").read_text()
    assert not (node / "mjf/3").exists()
