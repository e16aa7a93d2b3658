"""``sssjob submit``, ``cancel``, ``hold``, ``release``, and what kill -9 leaves behind."""

import getpass
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from json_commands import keeps_to_its_schema
from pretended import COMMANDS, Pretended
from waiting import until

from sssjob import store
from sssjob.cli import sssjob
from sssjob.delivery.runs import fold_run
from sssjob.document import dumps, loads, read
from sssjob.fold import JOB, Fact
from sssjob.model import Property

ONE = "<Job><Id>mine</Id><Executable>/bin/true</Executable></Job>\n"
TWO = """<JobGroup><Id>g</Id>
<Job><Id>b</Id><Executable>/bin/true</Executable><Dependency>a</Dependency></Job>
<Job><Id>a</Id><Executable>/bin/true</Executable></Job>
</JobGroup>
"""
PROGRAM = [sys.executable, "-c", "from sssjob.cli import main; main()"]
SUBMITS = {"flux": "flux job submit", "condor": "condor_submit", "lsf": "bsub", "slurm": "sbatch"}
RELEASES = {"flux": "flux job urgency", "condor": "condor_release", "lsf": "bresume",
            "slurm": "scontrol release"}  # fmt: skip


@pytest.fixture
def system(request, tmp_path, monkeypatch):
    """The commands of a batch system, Slurm's if nothing is said."""
    found = Pretended(tmp_path / "batch", getattr(request, "param", "slurm"), getpass.getuser())
    monkeypatch.setenv("PATH", found.path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    Path("job.xml").write_text(ONE)
    return found


def run(*words):
    return CliRunner().invoke(sssjob, words)


def submit(*words):
    return run("submit", "--to", "slurm", *words, "job.xml")


def started(name):
    words = [*PROGRAM, "submit", "--to", name, "job.xml"]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def job():
    (found,) = read("job.xml")
    return found


def test_a_job_is_submitted_printed_and_written_back(system):
    done = submit()
    assert (done.exit_code, done.stdout, done.stderr) == (0, "1\n", "")
    assert (job().id, job().get("State")) == ("1", "Idle")
    assert job().get("ResourceManagerType") == "slurm"
    again = submit("--json")
    told = json.loads(again.stdout)
    keeps_to_its_schema("submit", told)
    assert (told["id"], told["new"], told["job"], len(system.jobs)) == ("1", False, "1", 1)


def test_a_dry_run_of_a_job_that_is_submitted_says_so(system):
    assert submit().exit_code == 0
    done = submit("--dry-run")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.endswith(f"job.xml: job {job().id} is submitted already\n")


ASKED = "<Job><Id>mine</Id><Executable>/bin/true</Executable>{}</Job>\n"
DEADLINE = "<DeadlineTime>2100000000</DeadlineTime>"
RAN = (Fact(Property("DeadlineTime", 1900000000), JOB), Fact(Property("Priority", 99), JOB),
       Fact(Property("StartTime", 500), JOB))  # fmt: skip


@pytest.mark.parametrize("group", [
    "{}",
    "<JobGroup><JobDefaults><DeadlineTime>2000000000</DeadlineTime></JobDefaults>{}</JobGroup>",
])  # fmt: skip
@pytest.mark.parametrize("asked", ["", DEADLINE])
@pytest.mark.parametrize("command", [
    ("submit", "--to", "slurm", "--dry-run"), ("translate", "--to", "sbatch"),
    ("features", "submit", "--for", "slurm", "--dry-run"),
])  # fmt: skip
def test_what_was_folded_of_a_run_is_not_asked_for_again(system, command, asked, group):
    job = loads(ASKED.format(asked))
    told = []
    for each in (job, fold_run(job, RAN, overwrite=True).job):
        Path("job.xml").write_text(group.format(dumps(each)))
        done = CliRunner().invoke(sssjob, [*command, "job.xml"])
        told.append((done.exit_code, done.output))
    assert told[0] == told[1]
    assert told[0][0] == 0


def test_a_dry_run_shows_the_command_and_what_it_is_given(system):
    done = submit("--dry-run")
    first, *script = done.stdout.splitlines()
    assert first == (
        "sbatch --parsable --hold --comment=sssjob:urn:uuid:00000000-0000-0000-0000-000000000000"
    )
    assert (script[0], script[-1]) == ("#!/bin/sh", "exec /bin/true")
    told = json.loads(submit("--dry-run", "--json").stdout)
    keeps_to_its_schema("submit", told)
    assert (told["job"], told["command"]) == ("mine", first.split())
    assert told["input"].splitlines() == script
    assert (system.calls, Path("job.xml").read_text()) == ([], ONE)


def test_what_cannot_be_taken_is_told_and_refuses_or_is_left_out(system):
    Path("job.xml").write_text(ONE.replace("</Job>", "<Quote>q</Quote></Job>"))
    done = submit()
    assert (done.exit_code, done.stdout, system.calls) == (2, "", [])
    assert "job.xml:1: error: Quote 'q' in sbatch" in done.stderr
    assert done.stderr.endswith("sssjob: error: job.xml: nothing is submitted\n")
    text = Path("job.xml").read_text().replace("<Job>", "<Job awarenessPolicy='Warn'>")
    Path("job.xml").write_text(text)
    done = submit()
    assert (done.exit_code, done.stdout) == (0, "1\n")
    assert "job.xml:1: warning: Quote 'q' in sbatch" in done.stderr


def test_a_refusal_of_the_batch_system_is_told_after_what_is_submitted(system):
    Path("job.xml").write_text(TWO)
    system.fault("sbatch --parsable --hold before fail")
    done = submit()
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == "sssjob: sbatch refuses: it does not work today\n"
    system.fault("scontrol release 2 before fail")
    done = submit()
    assert (done.exit_code, done.stdout) == (1, "1\n")
    system.fault()
    assert submit().stdout == "1\n2\n"
    assert [each["state"] for each in system.jobs.values()] == ["idle", "idle"]


def test_a_batch_system_that_is_not_there_or_hangs_is_told(system, monkeypatch):
    system.fault("sbatch before hang")
    done = submit("--timeout", "0.5")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "did not end within 0.5 seconds" in done.stderr
    monkeypatch.setenv("PATH", "/nowhere")
    done = submit()
    assert (done.exit_code, "No such file" in done.stderr) == (2, True)


def test_jobs_of_a_store_are_said_by_id_global_id_or_query(system):
    with store.open("jobs.db", create=True) as jobs:
        jobs.load(
            b"<Jobs><Job><Id>x</Id><User>%s</User><Executable>/bin/true</Executable></Job>"
            b"<Job><Id>y</Id><GlobalId>urn:y</GlobalId><Executable>/bin/true</Executable></Job>"
            b"<Job><Id>z</Id><Executable>/bin/true</Executable></Job></Jobs>"
            % getpass.getuser().encode()
        )
    words = ("submit", "--to", "slurm", "jobs.db")
    assert run(*words).exit_code == 2
    assert system.calls == []
    query = f"//Job[User='{getpass.getuser()}']"
    assert run(*words, "--where", query).stdout == "1\n"
    assert run(*words, "--global-id", "urn:y").stdout == "2\n"
    assert run(*words, "--select", "z").stdout == "3\n"
    assert run(*words, "--global-id", "urn:y").stdout == "2\n"
    assert run(*words, "--select", "nobody").exit_code == 1
    assert run("hold", "--global-id", "urn:y", "jobs.db").stdout == "2 Hold\n"
    assert [each["state"] for each in system.jobs.values()] == ["idle", "hold", "idle"]
    with store.open("jobs.db") as jobs:
        assert loads(jobs.get("2").document).get("Hold") == "User"


@pytest.mark.parametrize(
    "query",
    ["//Job/Id", "//Id/text()", "//Job/@a", "//comment()", "//processing-instruction()", "1", "/*"],
)
def test_a_query_that_finds_no_jobs_chooses_none(system, query):
    Path("jobs.xml").write_text("<Jobs><Job a='b'><Id>x</Id><!-- c --><?p i?></Job></Jobs>")
    done = run("submit", "--to", "slurm", "jobs.xml", "--where", query)
    assert (done.exit_code, done.stdout, system.calls) == (2, "", [])
    assert "--where finds what is neither a job nor a job group" in done.stderr


def test_only_what_is_chosen_is_told(system):
    Path("job.xml").write_text(TWO)
    assert submit("--select", "a").stdout == "1\n"
    assert submit("--select", "b").stdout == "2\n"
    assert submit("--select", "g").stdout == "1\n2\n"
    done = submit("--select", "nobody")
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", "sssjob: no job\n")


def test_jobs_are_steered_by_their_document(system):
    Path("job.xml").write_text(TWO)
    submit()
    done = run("hold", "--select", "2", "job.xml")
    assert (done.exit_code, done.stdout) == (0, "2 Hold\n")
    assert run("release", "job.xml").stdout == "2 Idle\n1 Idle\n"
    assert run("cancel", "--select", "g", "job.xml").stdout == "2 Cancelled\n1 Cancelled\n"
    assert run("cancel", "job.xml").exit_code == 0
    done = run("release", "job.xml")
    assert (done.exit_code, done.stderr.count("it has ended: Cancelled")) == (1, 2)


def test_a_job_that_was_never_submitted_or_elsewhere_is_told(system):
    done = run("cancel", "job.xml")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "no ResourceManagerType tells where" in done.stderr
    assert "has no SubmitTime" in run("cancel", "--to", "slurm", "job.xml").stderr
    submit()
    assert "submitted to slurm" in run("cancel", "--to", "pbs", "job.xml").stderr
    assert system.jobs["1"]["state"] == "idle"


@pytest.mark.parametrize("file", ["-", "nowhere.xml", "."])
def test_what_cannot_be_written_back_is_not_submitted(system, file):
    done = run("submit", "--to", "slurm", file)
    assert (done.exit_code, system.calls) == (2, [])


def test_a_compressed_document_is_not_submitted(system):
    import gzip

    Path("job.xml").write_bytes(gzip.compress(ONE.encode()))
    done = submit()
    assert (done.exit_code, "is compressed" in done.stderr, system.calls) == (2, True, [])


# What a process that is killed leaves behind


STEPS = [
    ("submits", "before", "when nothing is submitted"),
    ("submits", "after", "when it is submitted, and nobody knows its id"),
    ("releases", "before", "when its document knows it, and it is held"),
    ("releases", "after", "when it is released, and its document says that it is held"),
]


@pytest.mark.parametrize("system", sorted(COMMANDS), indirect=True)
@pytest.mark.parametrize(("what", "when"), [step[:2] for step in STEPS], ids=[s[2] for s in STEPS])
def test_kill_9_leaves_one_job(system, what, when):
    name = system.system
    command = {"submits": SUBMITS.get(name, "qsub"), "releases": RELEASES.get(name, "qrls")}[what]
    system.fault(f"{command} {when} kill")
    assert started(name).wait(600) == -9
    system.fault()
    done = started(name)
    printed, said = done.communicate(timeout=600)
    assert (done.returncode, said) == (0, "")
    assert [each["state"] for each in system.jobs.values()] == ["idle"]
    assert (job().id, job().get("State")) == (printed.strip(), "Idle")


def test_kill_9_before_the_batch_system_is_asked_leaves_one_job(system):
    Path("job.xml").write_text(ONE.replace("</Id>", "</Id><GlobalId>urn:x</GlobalId>"))
    system.fault("squeue before kill")
    assert started("slurm").wait(600) == -9
    assert system.jobs == {}
    system.fault()
    assert started("slurm").wait(600) == 0
    assert len(system.jobs) == 1


def test_a_command_that_outlives_who_started_it_is_waited_for(system):
    """The one is killed while sbatch is at work; the other begins before that is accepted."""
    system.fault("sbatch before kill", "sbatch before wait")
    assert started("slurm").wait(600) == -9
    system.fault()
    again = started("slurm")
    # A call that does not wait asks, and ends, in this time: nothing is lost if it does not.
    until(lambda: len(system.calls) > 1 or again.poll() is not None, seconds=2)
    assert system.calls[1:] == []
    (system.root / "go").touch()
    assert again.communicate(timeout=600) == ("1\n", "")
    assert [each["state"] for each in system.jobs.values()] == ["idle"]


def test_two_calls_at_once_submit_one_job(system):
    calls = [started("slurm") for _ in range(4)]
    assert [call.communicate(timeout=600)[0] for call in calls] == ["1\n"] * 4
    assert len(system.jobs) == 1


def test_two_copies_at_once_submit_one_job(system):
    text = ONE.replace("</Id>", "</Id><GlobalId>urn:x</GlobalId>")
    calls = []
    for number in range(3):
        Path(f"{number}.xml").write_text(text)
        calls.append(subprocess.Popen([*PROGRAM, "submit", "--to", "slurm", f"{number}.xml"],
                                      stdout=subprocess.PIPE, text=True))  # fmt: skip
    assert [call.communicate(timeout=600)[0] for call in calls] == ["1\n"] * 3
    assert len(system.jobs) == 1


def test_a_lock_that_is_not_given_back_ends_a_call(system, monkeypatch):
    from sssjob.submission import Busy, How, InFile, SubmitOptions, locks
    from sssjob.submission import submit as library

    place = InFile(Path("job.xml"))
    with (
        locks.locked(locks.default_place(), place.name, 1),
        pytest.raises(Busy, match="another call is at work"),
    ):
        list(library(place, SubmitOptions("slurm"), How(patience=0)))
    assert system.calls == []
    assert os.listdir(locks.default_place()) == []
