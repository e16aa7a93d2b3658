# ruff: noqa: E501 (documents as people write them)
"""Other pools of a real HTCondor: static slots, two startds on one store, hooks that are killed,
what a user does to a job of his, and daemons that are not root.
"""

import json
import os
import signal

import condor_pool
import pytest
from daemons import started
from meanings import shown_job
from waiting import until

from sssjob import store
from sssjob.document import loads, read

pytestmark = pytest.mark.interop

# Two static slots, and a second startd with one more, whose hooks keep a queue of their own: as on
# two machines that look at one store.
TWO_STARTDS = """
SLOT_TYPE_1 = 25%
SLOT_TYPE_1_PARTITIONABLE = False
NUM_SLOTS_TYPE_1 = 2
STARTD_SECOND = $(STARTD)
STARTD_SECOND_ARGS = -f -local-name second
SECOND.STARTD_NAME = second
SECOND.STARTD_LOG = $(LOG)/StartLog.second
SECOND.STARTD_ADDRESS_FILE = $(LOG)/.startd_second
SECOND.EXECUTE = /var/lib/condor/second
SECOND.STARTD_JOB_HOOK_KEYWORD = OTHER
SECOND.NUM_SLOTS_TYPE_1 = 1
DAEMON_LIST = $(DAEMON_LIST) STARTD_SECOND
"""
OF_A_STORE = ("condor", "config", "--documents", "/data/jobs.db", "--every-job", "--write-hooks",
              "--option=--silence=15", "--option=--pause=1")  # fmt: skip
# A hook that is killed in every third call, at another moment each time.
KILLED = """#!/bin/sh
count=$(cat /data/calls.{name} 2>/dev/null || echo 0)
echo $((count + 1)) > /data/calls.{name}
chmod 666 /data/calls.{name} 2>/dev/null
test $((count % 3)) -ne 0 && exec {path}.real "$@"
exec timeout -s KILL 0.$((count % 9))5 {path}.real "$@"
"""
JOB = """\
<Job><Id>{name}</Id><User>alice</User><Executable>/bin/sh</Executable>
<Arguments>-c 'echo x >> /data/ran.{name}; sleep {seconds}; exit 7'</Arguments>
<Requested><Processors>1</Processors><Memory>60</Memory><Disk>10</Disk></Requested></Job>
"""


def two_startds():
    """The configuration of two startds; the hooks of one store, those of the first are killed."""
    place = condor_pool.PLACE
    told = ""
    with store.open(place / "data/jobs.db", create=True) as held, held.change() as change:
        for name in range(6):
            change.put(JOB.format(name=f"s{name}", seconds=1).encode())
    for keyword, number in (("SSS", 1), ("OTHER", 2)):
        lines = condor_pool.inside(
            "sssjob", *OF_A_STORE, "--keyword", keyword, f"--state=/data/state{number}",
            f"--hooks=/usr/local/libexec/of{number}",
        ).splitlines()  # fmt: skip
        told += "".join(f"{line}\n" for line in lines if line.startswith(f"{keyword}_HOOK"))
        (place / f"data/state{number}").mkdir()
    (place / "var/lib/condor/second").mkdir(exist_ok=True)
    for path in ["var/lib/condor/second", "data/jobs.db", "data/state1", "data/state2", "data"]:
        condor_pool.inside("chown", "condor:condor", f"/{path}")
    return TWO_STARTDS + told


@pytest.fixture(scope="module")
def pool():
    running = started(lambda: condor_pool.start(lines=two_startds, stores=True))
    yield running
    condor_pool.stop()


def stored(pool):
    with store.open(pool.root / "data/jobs.db", read_only=True) as held:
        return {job.id: job for job in (loads(each.document) for each in held.documents())}


def test_two_startds_with_static_slots_run_each_job_of_one_store_once(pool):
    def done():
        jobs = stored(pool)
        ours = [job for name, job in jobs.items() if name.startswith("s")]
        return jobs if all(job.get("State") == "Completed" for job in ours) else None

    jobs = until(done)
    assert jobs, pool.log("StartLog")[-2000:] + pool.log("StartLog.second")[-2000:]
    for name in (f"s{number}" for number in range(6)):
        assert (jobs[name].get("ExitCode"), jobs[name].get("StartCount")) == ("7", "1")
        assert (pool.root / f"data/ran.{name}").read_text() == "x\n"
        assert jobs[name].delivered.text("Processors") == "1"
    assert "of2/fetch-work" in pool.log("StartLog.second")
    names = pool.run("condor_status", "-af", "Name", "SlotType").split("\n")
    assert sum("Static" in name for name in names) == 3


# Ends when it is started again, and tells where it still runs by then.
ALONE = """\
<Job><Id>{name}</Id><User>alice</User><Executable>/bin/sh</Executable>
<Arguments>-c 'exec 9>>/data/alone.{name}; flock -n 9 || echo {name} >> /data/twice; if test -e /data/went.{name}; then exit 7; fi; touch /data/went.{name}; sleep 1000'</Arguments>
<Requested><Processors>1</Processors><Memory>60</Memory><Disk>10</Disk></Requested></Job>
"""


def test_startds_of_one_store_that_are_killed_run_each_job_again_and_none_twice_at_a_time(pool):
    names = ("d0", "d1")
    with store.open(pool.root / "data/jobs.db") as held, held.change() as change:
        for name in names:
            change.put(ALONE.format(name=name).encode())
    assert until(lambda: all((pool.root / f"data/went.{name}").exists() for name in names))
    killed = pool.run("pgrep", "-x", "condor_startd").split()
    assert len(killed) == 2
    for pid in killed:
        os.kill(int(pid), signal.SIGKILL)

    def done():
        jobs = stored(pool)
        return jobs if all(jobs[name].get("State") == "Completed" for name in names) else None

    jobs = until(done)
    assert jobs, pool.log("StartLog")[-2000:] + pool.log("StartLog.second")[-2000:]
    assert {jobs[name].get("ExitCode") for name in names} == {"7"}
    assert not (pool.root / "data/twice").exists()


def reported(pool, cluster, wanted):
    """The document that reports made of a job of a schedd, once it is as wanted."""

    def look():
        for job in stored(pool).values():
            if f"#{cluster}.0#" in job.get("GlobalId") and wanted(job):
                return job
        return None

    return until(look)


SUBMITTED = """\
executable = /bin/sleep
transfer_executable = false
arguments = 200
request_memory = 100
request_disk = 1000
queue
"""


def test_what_a_user_does_to_a_job_of_his_is_an_eviction_to_hooks_and_known_to_the_schedd(pool):
    (pool.root / "data/sleep.sub").write_text(SUBMITTED)
    cluster = pool.run("condor_submit", "-terse", "sleep.sub", user="alice").split(".")[0]

    def runs():
        told = json.loads(pool.run("condor_q", "-json", cluster) or "[]")
        return told and told[0]["JobStatus"] == 2

    assert until(runs)
    assert reported(pool, cluster, lambda job: job.get("State") == "Running")
    pool.run("condor_hold", "-reason", "for lunch", cluster, user="alice")
    # HTCondor 23.9 tells its exit hook of an eviction, whatever the user did; the schedd knows.
    assert reported(pool, cluster, lambda job: job.get("State") == "Idle")
    [job] = shown_job("condor-q", "@")(pool.run("condor_q", "-json", cluster))
    assert (job.get("State"), job.get("Hold")) == ("Hold", "User")
    assert "for lunch" in job.get("StatusMessage")
    pool.run("condor_release", cluster, user="alice")
    assert until(runs)
    assert reported(pool, cluster, lambda job: job.get("StartCount") == "2")
    # A report tells that a job is suspended, and none for how long.
    pool.run("condor_suspend", cluster, user="alice")
    assert reported(pool, cluster, lambda job: job.get("State") == "Suspended")
    pool.run("condor_continue", cluster, user="alice")
    assert reported(pool, cluster, lambda job: job.get("State") == "Running")
    pool.run("condor_rm", cluster, user="alice")
    gone = reported(pool, cluster, lambda job: job.get("State") == "Idle")
    assert gone.get("StatusMessage").startswith("evicted")
    assert gone.get("SuspendDuration") == ""
    ended = until(lambda: json.loads(pool.run("condor_history", "-json", cluster) or "[]"))
    [job] = shown_job("condor-q", "@")(json.dumps(ended))
    assert job.get("State") == "Completed"
    assert job.get("StatusMessage").startswith("removed")
    [ad] = ended
    assert ad["TotalSuspensions"] == 1
    assert job.get("SuspendDuration") == str(ad["CumulativeSuspensionTime"] or "")


def test_hooks_that_are_killed_lose_no_job_and_leave_nothing_half_done(pool):
    """The last test of this pool: from here on its hooks are killed."""
    directory = pool.root / "usr/local/libexec/of1"
    for path in [*directory.iterdir()]:
        name = path.name
        path.rename(directory / f"{name}.real")
        path.write_text(KILLED.format(name=name, path=f"/usr/local/libexec/of1/{name}"))
        path.chmod(0o755)
    pool.run("condor_off", "-startd", "-subsystem", "startd", "-name", "second", check=False)
    with store.open(pool.root / "data/jobs.db") as held, held.change() as change:
        for number in range(2):
            change.put(JOB.format(name=f"k{number}", seconds=2).encode())

    def done():
        jobs = stored(pool)
        ours = [job for name, job in jobs.items() if name.startswith("k")]
        return jobs if all(job.get("State") == "Completed" for job in ours) else None

    jobs = until(done)
    assert jobs, pool.log("StartLog")[-3000:]
    for number in range(2):
        assert jobs[f"k{number}"].get("ExitCode") == "7"
        assert set((pool.root / f"data/ran.k{number}").read_text().split()) == {"x"}
    # The first and the fourth call were killed.
    calls = pool.root / "data/calls.fetch-work"
    assert until(lambda: int(calls.read_text() or 0) > 3)
    left = [path for path in (pool.root / "data/state1").rglob("*") if ".tmp" in path.name]
    assert left == []


# Daemons of a user: no root, whose jobs all run as that user.
OF_A_USER = """
SEC_DEFAULT_AUTHENTICATION_METHODS = FS, CLAIMTOBE
"""


def test_a_startd_that_is_not_root_runs_the_jobs_of_its_user():
    condor_pool.stop()  # that of the module, whose tests are over
    pool = started(lambda: condor_pool.start(lines=lambda: OF_A_USER, user="alice"))
    try:
        path = pool.jobs / "own.xml"
        path.write_text(JOB.format(name="own", seconds=1).replace("/data/ran", "/data/jobs/ran"))
        os.chown(path, *(os.stat(pool.jobs).st_uid, os.stat(pool.jobs).st_gid))

        def done():
            [job] = read(path)
            return job if job.get("State") == "Completed" else None

        job = until(done)
        assert job, pool.log("StartLog")[-3000:]
        assert (job.get("ExitCode"), job.get("StartCount")) == ("7", "1")
        ran = (pool.jobs / "ran.own").stat()
        assert ran.st_uid == os.stat(path).st_uid != 0
    finally:
        condor_pool.stop()
