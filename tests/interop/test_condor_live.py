# ruff: noqa: E501 (documents as people write them)
"""A real HTCondor runs our hooks, and what they deliver agrees with what it records.

Where no pool can be started, the test says why; ``tests/condor/test_life.py`` plays the same life
without HTCondor.
"""

import json
import os
import signal
import sqlite3
from contextlib import closing

import condor_pool
import pytest
from daemons import started
from waiting import until

from sssjob.document import read

pytestmark = pytest.mark.interop

FETCHED = """\
<JobGroup>
  <Id>fetched</Id>
  <JobDefaults><User>alice</User><Executable>/bin/sh</Executable></JobDefaults>
  <Job>
    <Id>range</Id>
    <Arguments>-c 'cat $JOBFEATURES/wall_limit_secs $MACHINEFEATURES/total_cpu; sleep 3; exit 3'</Arguments>
    <OutputFile>/data/out.range</OutputFile>
    <Requested>
      <Processors op="GE">2</Processors>
      <Memory>100</Memory>
      <Disk>10</Disk>
      <Duration op="LE">600</Duration>
    </Requested>
  </Job>
  <Job>
    <Id>alternatives</Id>
    <Arguments>-c 'i=0; while [ $i -lt 2000000 ]; do i=$((i+1)); done; sleep 3'</Arguments>
    <Requested>
      <Memory>100</Memory>
      <Disk>10</Disk>
      <Processors group="1">64</Processors>
      <Processors conj="Or" group="-1">1</Processors>
    </Requested>
  </Job>
</JobGroup>
"""
SUBMITTED = """\
executable = /bin/sh
transfer_executable = false
arguments = "-c 'test -s $JOBFEATURES/allocated_cpu && i=0 && while [ $$i -lt 2000000 ]; do i=$$((i+1)); done; sleep 6'"
request_memory = 100
request_disk = 1000
queue
"""


@pytest.fixture(scope="module")
def pool():
    running = started(condor_pool.start)
    yield running
    condor_pool.stop()


def jobs_of(path):
    return {job.id: job for block in read(path) for job in getattr(block, "jobs", (block,))}


def completed(path, count):
    """The jobs of a document, once so many have ended and been folded."""

    def look():
        try:
            jobs = jobs_of(path)
        except OSError:
            return None
        return (
            jobs if sum(job.get("State") == "Completed" for job in jobs.values()) == count else None
        )

    return until(look)


def test_jobs_that_a_startd_fetches_leave_what_they_used(pool):
    path = pool.jobs / "fetched.xml"
    path.write_text(FETCHED)
    jobs = completed(path, 2)
    assert jobs, pool.log("StartLog")[-3000:]
    assert (pool.root / "data/out.range").read_text() == "600\n4\n"
    assert jobs["range"].get("ExitCode") == "3"
    assert jobs["range"].delivered.text("Processors") == "2"
    assert jobs["alternatives"].get("ExitCode") == "0"

    history = json.loads(pool.run("condor_history", "-startd", "-json"))
    recorded = {ad["SSSJobId"]: ad for ad in history if "SSSJobId" in ad}
    for name, job in jobs.items():
        assert abs(job.delivered.value("Duration") - recorded[name]["RemoteWallClockTime"]) <= 2
        assert abs(int(job.get("EndTime")) - recorded[name]["CompletionDate"]) <= 2


# Each would go on for ever, or for minutes.
LIMITED = {
    "duration": ("/bin/sleep", "100", '<Duration op="LE">4</Duration>', "TIMEOUT: it ran"),
    "memory": ("/usr/bin/python3", "-c 'a = b\"x\" * (200 &lt;&lt; 20); input()' ", "",
               "OUT_OF_MEMORY"),
    "cpu": ("/bin/sh", "-c 'while :; do :; done'", "", "TIMEOUT: "),
}  # fmt: skip
LIMITED_JOB = """\
<Job><Id>{name}</Id><User>alice</User><Executable>{program}</Executable>
<Arguments>{words}</Arguments>{limit}
<Requested><Processors>1</Processors><Memory>60</Memory><Disk>10</Disk>{asked}</Requested></Job>
"""


def test_a_fetched_job_is_ended_at_each_of_its_limits_and_told_which(pool):
    for name, (program, words, asked, _) in LIMITED.items():
        limit = '<ResourceLimit name="CPUTime">2</ResourceLimit>' if name == "cpu" else ""
        words = words.replace("input()", '__import__("time").sleep(100)')
        text = LIMITED_JOB.format(name=name, program=program, words=words, asked=asked, limit=limit)
        (pool.jobs / f"{name}.xml").write_text(text)
    for name, (*_, message) in LIMITED.items():
        [job] = (completed(pool.jobs / f"{name}.xml", 1) or {None: None}).values()
        assert job is not None, (name, (pool.jobs / f"{name}.xml").read_text())
        assert job.get("StatusMessage").startswith(message), name
        assert job.get("StartCount") == "1"
        assert int(job.delivered.value("Duration")) < 60


WITH_GPU = """\
<Job><Id>gpu</Id><User>alice</User><Executable>/bin/sleep</Executable><Arguments>3</Arguments>
<Requested><Processors>1</Processors><Memory>60</Memory><Disk>10</Disk>
<Resource name="GPU" type="{model}">1</Resource><Resource name="Tapes">2</Resource>
</Requested></Job>
"""


def test_gpus_of_a_model_and_resources_of_a_site_are_given_and_delivered(pool):
    never = pool.jobs / "never.xml"
    never.write_text(WITH_GPU.format(model="H100"))
    path = pool.jobs / "gpu.xml"
    path.write_text(WITH_GPU.format(model="A30"))
    jobs = completed(path, 1)
    assert jobs, pool.log("StartLog")[-3000:]
    found = {
        (each.attributes["name"], each.attributes.get("type")): each.text
        for each in jobs["gpu"].delivered if each.name == "Resource"
    }  # fmt: skip
    assert found == {("GPU", "NVIDIA A30"): "1", ("Tapes", None): "2"}
    assert jobs_of(never)["gpu"].get("State") == ""


def test_a_job_that_cannot_be_started_is_held_and_delivers_nothing(pool):
    path = pool.jobs / "poison.xml"
    path.write_text(
        LIMITED_JOB.format(name="poison", program="/no/such", words="", asked="", limit="")
    )

    def held():
        [job] = jobs_of(path).values()
        return job if job.get("State") == "Hold" else None

    job = until(held)
    assert job, pool.log("StartLog")[-3000:]
    assert "/no/such (Executable) does not exist" in job.get("StatusMessage")
    assert job.get("StatusMessage").startswith("held after 2 attempts")
    assert not job.delivered
    assert "StartTime" not in job.properties.names()


AGAIN = """\
<Job><Id>{name}</Id><User>alice</User><Executable>/bin/sh</Executable>
<Arguments>-c 'if test -e /data/{name}; then exit 4; fi; touch /data/{name}; sleep 100'</Arguments>
<Requested><Processors>1</Processors><Memory>60</Memory><Disk>10</Disk></Requested></Job>
"""


def _pids(pool, name):
    """The processes of this name inside of the pool."""
    found = pool.run("pgrep", "-x", name, check=False)
    return [int(pid) for pid in found.split()]


@pytest.mark.parametrize("how", ["vacate", "kill the starter", "kill the startd"])
def test_a_job_that_loses_its_slot_runs_again_and_each_start_is_told(pool, how):
    name = how.replace(" ", "-")
    path = pool.jobs / f"{name}.xml"
    path.write_text(AGAIN.format(name=name))
    assert until((pool.root / "data" / name).exists), pool.log("StartLog")[-3000:]
    if how == "vacate":
        pool.run("condor_vacate", "-fast", "-all")
    else:
        for pid in _pids(pool, f"condor_{how.rpartition(' ')[2]}"):
            os.kill(pid, signal.SIGKILL)
    jobs = completed(path, 1)
    assert jobs, path.read_text() + pool.log("StartLog")[-3000:]
    assert jobs[name].get("ExitCode") == "4"
    if how == "vacate":
        assert jobs[name].get("StartCount") == "2"
        first, second = jobs[name].task_groups
        assert first.get("StatusMessage").startswith("evicted")
        assert second.get("ExitCode") == "4"
        total = sum(each.delivered.value("Duration") for each in (first, second))
        assert jobs[name].delivered.value("Duration") == total


def test_a_job_from_a_schedd_finds_its_features_and_its_usage_comes_back(pool):
    (pool.root / "data/job.sub").write_text(SUBMITTED.replace("$$", "$"))
    cluster = pool.run("condor_submit", "-terse", "job.sub", user="alice").split(".")[0]
    ended = until(
        lambda: json.loads(pool.run("condor_history", "-json", cluster, check=False) or "[]")
    )
    assert ended, pool.log("SchedLog")[-2000:]
    [ad] = ended
    assert ad["ExitCode"] == 0
    pool.run("/usr/local/bin/sssjob", "condor", "fold", "--documents", "/data/jobs", check=False)
    found = until(
        lambda: [
            job
            for path in pool.jobs.glob(".condor/reported/*.xml")
            for job in jobs_of(path).values()
            if job.get("GlobalId") == ad["GlobalJobId"] and job.get("State") == "Completed"
        ]
    )
    assert found, list(pool.jobs.rglob("*"))
    [job] = found
    assert job.get("StartCount") == "1"
    assert abs(job.delivered.value("Duration") - ad["ActivationExecutionDuration"]) <= 1
    assert job.delivered.value("Duration") <= ad["RemoteWallClockTime"] + 1
    cpu = ad["RemoteUserCpu"] + ad["RemoteSysCpu"]
    assert abs(int(job.get("CpuDuration")) - cpu) <= 2
    assert job.delivered.text("Processors") == str(ad["CpusProvisioned"])
    measured = job.delivered.get("Memory", metric="Max").bytes // 1024
    assert measured <= ad["ResidentSetSize"] * 1.3 + 1024


def test_the_configuration_of_a_pool_that_runs_has_nothing_wrong_with_it(pool):
    dump = pool.run("condor_config_val", "-dump")
    (pool.root / "data/dump").write_text(dump)
    text = pool.run("/usr/local/bin/sssjob", "condor", "check", "--json", "dump")
    told = json.loads(text)
    assert [each for each in told["problems"] if each["error"]] == []
    assert {"SLOT_TYPE_1", "MACHINE_RESOURCE_Tapes"} <= {each["name"] for each in told["variables"]}


WAITS = """\
<Job><Id>{name}</Id><User>alice</User><Executable>/bin/sh</Executable>
<Arguments>-c 'until test -e /data/go.{name}; do sleep 0.2; done; exit 5'</Arguments>
<Requested><Processors>1</Processors><Memory>60</Memory><Disk>10</Disk></Requested></Job>
"""
# Left by another user while the job of alice runs: its end, the one of no job, and a document.
FORGED = (
    'SSSReport = "exit-exit"\nSSSKey = "{key}"\nJobPid = 7\nExitCode = 0\nExitReason = "x"\n',
    'SSSReport = "exit-evict"\nSSSKey = "{key}"\n',
    'SSSReport = "exit-exit"\nSSSKey = "1.1"\nOwner = "alice"\nCmd = "/bin/evil"\n',
    "<Job><Id>forged</Id><User>alice</User><Executable>/bin/evil</Executable></Job>",
)


def test_what_others_forge_moves_no_job_of_a_pool_that_runs(pool):
    path = pool.jobs / "forged.xml"
    path.write_text(WAITS.format(name="forged"))

    def running():
        [job] = jobs_of(path).values()
        return job if job.get("State") == "Running" else None

    assert until(running), pool.log("StartLog")[-3000:]
    with closing(sqlite3.connect(pool.jobs / ".condor/queue.db")) as kept:
        [(key, attempt)] = kept.execute("SELECT key, attempt FROM job WHERE id = 'forged'")
    spool = pool.jobs / ".condor/spool"
    for number, text in enumerate(FORGED):
        report = pool.root / "data" / f"{key}.{number}"
        report.write_text(text.format(key=f"{key}.{attempt}"))
        os.chown(report, 65534, 65534)
        report.rename(spool / report.name)  # of nobody else at any moment
    fold = "/usr/local/bin/sssjob", "condor", "fold", "--documents", "/data/jobs"
    pool.run(*fold, check=False)  # unless a hook of the pool was first
    assert until(lambda: not [each for each in spool.iterdir() if each.name.startswith(f"{key}.")
                              and each.stat().st_uid == 65534])  # fmt: skip
    assert running()
    (pool.root / "data/go.forged").touch()
    jobs = completed(path, 1)
    assert jobs, pool.log("StartLog")[-3000:]
    assert (jobs["forged"].get("ExitCode"), jobs["forged"].get("StartCount")) == ("5", "1")
    assert len([*(pool.jobs / ".condor/bad").iterdir()]) >= 3


def checked(pool):
    """The errors that `condor check` finds in the configuration of the pool."""
    (pool.root / "data/dump").write_text(pool.run("condor_config_val", "-dump"))
    text = pool.run("/usr/local/bin/sssjob", "condor", "check", "--json", "dump", check=False)
    return [each["problem"] for each in json.loads(text)["problems"] if each["error"]]


def test_what_hooks_refuse_in_the_log_of_a_startd_check_says_by_the_same_words(pool):
    state = pool.jobs / ".condor"
    assert until(state.exists)
    owner = state.stat()
    os.chown(state, 0, 0)
    try:
        [told] = checked(pool)
        assert "/data/jobs/.condor belongs to uid 0" in told
        assert until(lambda: told in pool.log("StartLog")), pool.log("StartLog")[-3000:]
    finally:
        os.chown(state, owner.st_uid, owner.st_gid)
    assert checked(pool) == []


def test_slots_publish_what_startd_cron_prints(pool):
    def shown():
        return pool.run("condor_status", "-af", "MachineFeatures_hs06").split()

    # A slot is there before the startd has asked for the first time.
    assert until(lambda: "42.5" in shown())
