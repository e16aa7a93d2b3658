"""A client that speaks SSSRMAP over HTTP drives a real Slurm through the gateway.

Where no cluster can be started, the tests say why.
"""

import shutil
import subprocess

import pytest
import slurm_cluster
from batch_jobs import COMMAND
from daemons import started
from gateways import serving
from submitting_gateway import prepare
from waiting import HANG, until

from sssjob.document import loads

pytestmark = pytest.mark.interop

JOB = """<Job><Name>through</Name><Executable>/bin/sleep</Executable><Arguments>{}</Arguments>
<OutputFile>/dev/null</OutputFile><InitialWorkingDirectory>/tmp</InitialWorkingDirectory>
<Requested><Processors>1</Processors><Duration>330</Duration></Requested></Job>"""
KILLER = """#!/bin/sh
{program} "$@"; status=$?
[ -e {root}/kill ] && rm {root}/kill && kill -9 $PPID
exit $status
"""


@pytest.fixture(scope="module")
def cluster():
    place = started(slurm_cluster.start)
    yield place
    place.stop()


@pytest.fixture
def folder(cluster, tmp_path, monkeypatch):
    """That of a gateway whose sbatch kills who called it where there is a file called kill."""
    prepare(tmp_path, account="root", queues=["main"], every=0.2)
    wrapped = tmp_path / "bin"
    wrapped.mkdir()
    (wrapped / "sbatch").write_text(
        KILLER.format(
            root=tmp_path, program=shutil.which("sbatch", path=cluster.environment["PATH"])
        )
    )
    (wrapped / "sbatch").chmod(0o755)
    for name, value in cluster.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"{wrapped}:{cluster.environment['PATH']}")
    yield tmp_path
    if found := squeue(cluster):
        cluster.run("scancel", *found)
    assert until(lambda: not squeue(cluster))


def squeue(cluster, what="%F"):
    return cluster.run("squeue", "-h", "-o", what).split()


def client(folder, port, *words, actor="maui", key="maui.key"):
    """What the command of a client answers: its status, and what it prints."""
    done = subprocess.run(
        [COMMAND, "request", *words, "--to", f"http://127.0.0.1:{port}/SSSRMAP3", "--actor", actor,
         "--key-file", folder / key],
        capture_output=True, text=True, check=False, timeout=HANG, cwd=folder,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def submitted(folder, port, seconds, id_):
    (folder / "job.xml").write_text(JOB.format(seconds))
    code, out, said = client(folder, port, "Submit", "Job", "--data", "job.xml", "--id", id_)
    assert code == 0, said
    return loads(out)


def state(folder, port, id_):
    _, out, _ = client(folder, port, "Query", "Job", "--where", f"Id={id_}", "--get", "State")
    return out.split()[-1]


def kept(folder, port, id_):
    """A job as the gateway has it."""
    _, out, said = client(folder, port, "Query", "Job", "--where", f"Id={id_}")
    return loads(out) if out else said


def test_a_job_is_submitted_runs_and_has_ended_and_another_one_is_cancelled(folder, cluster):
    with serving(folder) as (_, port):
        short = submitted(folder, port, 1, "1")
        long = submitted(folder, port, 300, "2")
        assert {short.id, long.id} >= set(squeue(cluster)) >= {long.id}
        shown = cluster.run("scontrol", "show", "job", long.id, "-o")
        assert f"Comment=sssjob:{long.get('GlobalId')}" in shown
        assert "Partition=main" in shown
        assert until(lambda: state(folder, port, long.id) == "Running")
        assert until(lambda: state(folder, port, short.id) == "Completed")
        ended, runs = (kept(folder, port, each.id) for each in (short, long))
        times = [int(ended.get(name)) for name in ("SubmitTime", "StartTime", "EndTime")]
        assert (times, ended.get("ExitCode")) == (sorted(times), "0")
        assert (runs.get("StartTime") != "", runs.get("EndTime")) == (True, "")
        assert runs.delivered.text("Processors") == ended.delivered.text("Processors") == "1"
        assert runs.delivered.text("Node")
        words = ("Modify", "Job", "--set", "Duration=600", "--where", f"Id={long.id}")
        assert client(folder, port, *words)[0] == 0
        assert squeue(cluster, "%l") == ["10:00"]
        code, _, said = client(
            folder, port, "Cancel", "Job", "--where", f"Id={long.id}",
            actor="ann", key="auth_key",
        )  # fmt: skip
        assert (code, squeue(cluster)) == (0, [long.id])
        assert "done for 0 of 0 jobs" in said  # it is none of hers
        code, out, said = client(folder, port, "Cancel", "Job", "--where", f"Id={long.id}")
        assert (code, loads(out).get("State")) == (0, "Cancelled"), said
        assert until(lambda: squeue(cluster) == [])


def test_who_may_not_submit_is_refused(folder, cluster):
    (folder / "job.xml").write_text(JOB.format(300))
    with serving(folder) as (_, port):
        code, _, said = client(
            folder, port, "Submit", "Job", "--data", "job.xml", actor="ann", key="auth_key"
        )
    assert (code, squeue(cluster)) == (1, [])
    assert "ann may not do this (Job Submit) (444)" in said


def test_a_gateway_that_is_killed_before_it_answers_has_one_job_when_asked_again(folder, cluster):
    (folder / "job.xml").write_text(JOB.format(300))
    (folder / "kill").touch()
    with serving(folder) as (process, port):
        code, _, _ = client(folder, port, "Submit", "Job", "--data", "job.xml", "--id", "17")
        assert (code, process.wait(HANG)) == (2, -9)
    [there] = squeue(cluster)
    with serving(folder) as (_, port):
        assert submitted(folder, port, 300, "17").id == there
        assert submitted(folder, port, 300, "17").id == there
        assert until(lambda: state(folder, port, there) == "Running")
    assert squeue(cluster) == [there]


CHAIN = """<JobGroup><Id>wf</Id><JobDefaults><Executable>/bin/sleep</Executable>
<OutputFile>/dev/null</OutputFile><InitialWorkingDirectory>/tmp</InitialWorkingDirectory>
<Requested><Processors>1</Processors><Duration>330</Duration></Requested></JobDefaults>
<Job><Id>c</Id><Arguments>1</Arguments><Dependency condition="OnSuccess">b</Dependency></Job>
<Job><Id>a</Id><Arguments>2</Arguments><Name>first</Name></Job>
<Job><Id>b</Id><Arguments>{}</Arguments>
<Dependency condition="OnSuccess" designator="JobName">first</Dependency></Job></JobGroup>"""


def test_a_group_is_submitted_in_its_order_once_and_runs(folder, cluster):
    """Its first job waits for a file, so that Slurm still shows what the others wait for."""
    waits = f"-c 'until [ -e {folder}/go ]; do sleep 0.1; done'"
    first = f"<Arguments>{waits}</Arguments><Executable>/bin/sh</Executable>"
    text = CHAIN.format(1).replace("<Arguments>2</Arguments>", first)
    (folder / "group.xml").write_text(text)
    words = ("Submit", "JobGroup", "--data", "group.xml", "--id", "17")
    (folder / "kill").touch()
    with serving(folder) as (process, port):
        code, _, _ = client(folder, port, *words)
        assert (code, process.wait(HANG)) == (2, -9)
    with serving(folder) as (_, port):
        code, out, said = client(folder, port, *words)
        assert code == 0, said
        jobs = loads(out).jobs
        again = loads(client(folder, port, *words)[1]).jobs
        assert [job.id for job in again] == [job.id for job in jobs]  # states go on meanwhile
        third, first, second = (job.id for job in jobs)
        shown = cluster.run("scontrol", "show", "job", third, "-o")
        assert f"Dependency=afterok:{second}" in shown
        (folder / "go").touch()
        assert until(lambda: state(folder, port, third) == "Completed")
        starts = [int(kept(folder, port, id_).get("StartTime")) for id_ in (first, second, third)]
        assert starts == sorted(starts)

        def known():  # slurmdbd may hear of a job behind its end
            names = cluster.run("sacct", "-n", "-X", "-o", "JobID").split()
            return [id_ for id_ in names if int(id_) >= int(first)]

        assert until(lambda: len(known()) >= 3)
        assert len(known()) == 3


def test_a_group_that_slurm_refuses_in_the_middle_is_told_and_cancelled(folder, cluster):
    """Slurm refuses a reservation that there is not."""
    there_is_not = "<Id>b</Id><Reservation>nowhere</Reservation>"
    text = CHAIN.format(300).replace("<Id>b</Id>", there_is_not)
    (folder / "group.xml").write_text(text.replace("<Arguments>2<", "<Arguments>300<"))
    with serving(folder) as (_, port):
        words = ("Submit", "JobGroup", "--data", "group.xml", "--id", "18")
        code, _, said = client(folder, port, *words)
        [there] = squeue(cluster)
        assert code == 1
        assert f"1 of 3 jobs are submitted ({there}), not 'b': The batch system refuses it" in said
        words = ("Cancel", "JobGroup", "--where", "Id=wf")
        code, out, said = client(folder, port, *words)
        assert [job.get("State") for job in loads(out).jobs] == ["", "Cancelled", ""], said
        assert until(lambda: squeue(cluster) == [])


def test_a_job_that_was_created_before_is_submitted_and_runs(folder, cluster):
    text = JOB.format(1).replace("<Name>", "<Id>mine</Id><Name>")
    (folder / "job.xml").write_text(text)
    with serving(folder) as (_, port):
        assert client(folder, port, "Create", "Job", "--data", "job.xml")[0] == 0
        code, out, said = client(
            folder, port, "Submit", "Job", "--where", "Id=mine", "--id", "20"
        )  # fmt: skip
        assert code == 0, said
        assert until(lambda: state(folder, port, loads(out).id) == "Completed")
