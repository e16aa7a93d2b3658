"""What real systems say of their jobs, asked by sssjob status, is what was asked of them.

Where a system cannot be started, the test says why.
"""

import io
import os
import subprocess
import sys
from pathlib import Path

import condor_pool
import gridengine_cell
import pytest
import slurm_cluster
from daemons import started
from waiting import until

from sssjob.document import loads
from sssjob.lcginfo import lrmsinfo

pytestmark = pytest.mark.interop

COMMAND = Path(sys.executable).with_name("sssjob")


@pytest.fixture(scope="module")
def cluster():
    place = started(slurm_cluster.start)
    yield place
    place.stop()


@pytest.fixture(scope="module")
def cell():
    place = started(gridengine_cell.start)
    yield place
    place.stop()


@pytest.fixture(scope="module")
def pool():
    yield started(condor_pool.start)
    condor_pool.stop()


def asked(place, system, **environment):
    """The jobs that the command shows, by id, and what it says beside them."""
    done = subprocess.run(
        [COMMAND, "status", "--from", system], capture_output=True, text=True, check=False,
        env={**os.environ, **(place.environment if place else {}), **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    jobs = [loads(line) for line in done.stdout.splitlines()]
    return {job.id: job for job in jobs}, done.stderr


def submit(cluster, *options):
    script = "#!/bin/sh\nsleep 300\n"
    words = ("sbatch", "--parsable", f"--chdir={cluster.root}/work", "--export=NONE", *options)
    return cluster.run(*words, stdin=script).strip()


@pytest.fixture(scope="module")
def queued(cluster):
    """Jobs that run, wait for another, are held, and are an array."""
    runs = submit(
        cluster, "--job-name=ru n<&>", "--ntasks=2", "--cpus-per-task=2", "--mem=300", "--time=7"
    )
    waits = submit(cluster, f"--dependency=afterok:{runs}", "--mem-per-cpu=50", "--ntasks=3")
    held = submit(cluster, "--hold", "--begin=2036-01-01T00:00:00", "--no-requeue")
    array = submit(cluster, "--hold", "--array=1-9:2")
    assert until(lambda: "RUNNING" in cluster.run("squeue", "-h", "-j", runs, "-o", "%T"))
    yield {"runs": runs, "waits": waits, "held": held, "array": array}
    cluster.run("scancel", runs, waits, held, array)


def shown(jobs, queued):
    runs, waits, held = (jobs[queued[name]] for name in ("runs", "waits", "held"))
    assert runs.get("State") == "Running"
    assert runs.get("Name") == "ru n<&>"
    assert runs.requested.text("Duration") == "420"
    assert runs.requested.get("Memory").bytes == 300 << 20
    assert runs.delivered.text("Processors") == "4"
    assert runs.delivered.text("Node") in slurm_cluster.NODES
    assert runs.get("TaskCount") == "2"
    assert runs.get("StartTime")
    assert runs.get("EndTime") == ""
    assert waits.get("State") == "Idle"
    (dependency,) = waits.properties.all("Dependency")
    assert (dependency.text, dependency.attributes["condition"]) == (queued["runs"], "OnSuccess")
    assert waits.requested.get("Memory").bytes == 150 << 20
    assert waits.get("Queue") == "main"
    assert (held.get("State"), held.get("Hold")) == ("Hold", "User")
    assert held.get("Restartable") == "false"
    assert f"{queued['array']}_[1,3,5,7,9]" in jobs


def test_slurm_says_what_was_asked_of_it(cluster, queued):
    found, said = asked(cluster, "slurm")
    shown(found, queued)
    assert said == ""


def lrmsinfo_of(system, **environment):
    """The snapshot that lcginfo makes of a system, and what it says beside it."""
    done = subprocess.run(
        [COMMAND, "lcginfo", "lrms", "--from", system], capture_output=True, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return lrmsinfo.read(io.BytesIO(done.stdout)), done.stderr.decode()


def test_slurm_says_how_it_gives_its_slots_away(cluster, queued):
    cluster.run(
        "scontrol", "create", "reservation", "duration=60", "reservationname=kept",
        "starttime=now+3hours", "nodes=n1", "users=root",
    )  # fmt: skip
    try:
        found, said = lrmsinfo_of("slurm", **cluster.environment)
    finally:
        cluster.run("scontrol", "delete", "reservationname=kept")
    assert said == ""
    rules = {each.name: each for each in found.scheduling.queues}
    assert rules["main"].starts
    assert sum(pool.slots for pool in found.scheduling.pools) == found.nactive
    assert sum(pool.free for pool in found.scheduling.pools) == found.nfree
    assert all("main" in pool.queues for pool in found.scheduling.pools)
    [kept] = found.scheduling.reserved
    assert (kept.name, kept.end - kept.start) == ("kept", 3600)
    assert 0 < kept.slots < found.nactive
    assert 3 * 3600 - 60 < kept.start - found.now <= 3 * 3600 + 60
    assert {job.priority is not None for job in found.jobs} == {True}


def test_slurm_says_the_same_in_text(cluster, queued, tmp_path):
    """As one does that prints no JSON."""
    program = tmp_path / "squeue"
    program.write_text("#!/bin/sh\necho 'squeue: unrecognized option --json' >&2; exit 1\n")
    program.chmod(0o755)
    found, said = asked(cluster, "slurm", PATH=f"{tmp_path}:{os.environ['PATH']}")
    shown(found, queued)
    assert said == ""


def test_grid_engine_says_what_was_asked_of_it(cell):
    def qsub(*options):
        return cell.run("qsub", "-terse", "-b", "y", "-wd", f"{cell.root}/work", *options).strip()

    name = "we|rd&<x>"
    runs = qsub("-N", name, "-pe", "smp", "2-3", "-l", "h_rt=300,h_vmem=200M", "-v",
                "MOOD=a b", "sleep", "300")  # fmt: skip
    waits = qsub("-N", "waits", "-hold_jid", runs, "-q", "main.q", "sleep", "1")
    array = qsub("-N", "array", "-t", "1-9:2", "-h", "-r", "n", "sleep", "1")
    assert until(lambda: " r " in cell.run("qstat", "-s", "r"))
    jobs, said = asked(cell, "gridengine")
    cell.run("qdel", runs, waits, array.partition(".")[0])
    assert said == ""
    job = jobs[runs]
    assert job.get("State") == "Running"
    assert job.get("Name") == name
    bounds = [(item.attributes["op"], item.text) for item in job.requested.all("Processors")]
    assert bounds == [("GE", "2"), ("LE", "3")]
    assert job.requested.text("Duration") == "300"
    assert job.requested.get("Swap").bytes == 400 << 20  # of each of two slots
    assert job.delivered.text("Processors") == "3"
    assert job.delivered.text("Queue") == "main.q"
    variables = {each.attributes["name"]: each.text for each in job["Environment"].children}
    assert variables["MOOD"] == "a b"
    assert jobs[waits].get("State") == "Hold"
    (dependency,) = jobs[waits].properties.all("Dependency")
    assert (dependency.text, dependency.attributes["condition"]) == (runs, "OnExit")
    waiting = jobs[f"{array.partition('.')[0]}.1-9:2"]
    assert (waiting.get("State"), waiting.get("Restartable")) == ("Hold", "false")


def test_grid_engine_says_how_it_gives_its_slots_away(cell):
    found, said = lrmsinfo_of("gridengine", **cell.environment)
    assert said == ""
    [rules] = found.scheduling.queues
    assert (rules.name, rules.maxwalltime) == ("main.q", None)
    assert not found.scheduling.keeps
    assert found.nactive == gridengine_cell.SLOTS


def test_grid_engine_without_jobs_has_none(cell):
    assert until(lambda: not cell.run("qstat", "-u", "*").strip())
    assert asked(cell, "gridengine")[0] == {}


def test_htcondor_says_what_was_asked_of_it(pool, tmp_path):
    text = (
        "executable = /bin/sleep\narguments = 300\ntransfer_executable = false\n"
        "request_cpus = 2\nrequest_memory = 100\nbatch_name = named\nqueue\n"
        "hold = true\nqueue\n"
    )
    (pool.root / "data/submitted").write_text(text)
    pool.run("condor_submit", "/data/submitted", user="alice")
    program = tmp_path / "condor_q"  # the pool has a root directory of its own
    # Without our environment: the bindings of HTCondor, once imported, name a configuration in it.
    inside = f"chroot {pool.root} /usr/bin/env -i PATH={condor_pool.PATH} HOME=/root"
    program.write_text(f'#!/bin/sh\nexec {inside} condor_q "$@"\n')
    program.chmod(0o755)

    def states():
        return sorted(job.get("State") for job in jobs().values())

    def jobs():
        return asked(None, "condor", PATH=f"{tmp_path}:{condor_pool.PATH}")[0]

    assert until(lambda: states() == ["Hold", "Running"]), states()
    for name in ("condor_status", "condor_userprio"):
        (tmp_path / name).write_text(program.read_text().replace("condor_q", name))
        (tmp_path / name).chmod(0o755)
    found, said = lrmsinfo_of("condor", PATH=f"{tmp_path}:{condor_pool.PATH}")
    assert said == ""
    assert {job.state: job.priority for job in found.jobs} == {"running": -2.0, "pending": None}
    for job in jobs().values():
        assert job.get("Name") == "named"
        assert job.delivered.text("User") == "alice"
        assert job.requested.text("Processors") == "2"
        assert job.requested.get("Memory").bytes == 100 << 20
    pool.run("condor_rm", "-all")
    assert until(lambda: not jobs())
