# ruff: noqa: E501 (documents as people write them)
"""A real Slurm calls the scripts that we install; jobs find what it enforces, and records come back.

Where no cluster can be started, the tests say why.
"""

import json
import shutil

import pytest
import slurm_cluster
import slurm_ends
from batch_jobs import (
    COMMAND,
    answer,
    collected,
    install,
    kept,
    prepare,
    proven,
    submitted,
    told,
    unproven,
)
from daemons import started, user
from waiting import until

pytestmark = pytest.mark.interop

TOLD = (
    'echo "cpus $SLURM_CPUS_ON_NODE"; echo "memory $SLURM_MEM_PER_NODE"; echo "mood $MOOD"; '
    'echo "cpu $(ulimit -t)"'
)
# fmt: off
DOCUMENTS = {
    "one": """<Job><Id>one</Id><Executable>{probe}</Executable><Requested>
        <Processors op="GE">1</Processors><Processors op="LE">4</Processors>
        <Memory op="LE" units="MB">150</Memory><Duration op="LE">120</Duration></Requested>
        <Extension type="JobFeatures" name="grace_secs_job">60</Extension></Job>""",
    "two": """<Job><Id>two</Id><Executable>{probe}</Executable>
        <Requested><Duration op="LE">180</Duration></Requested>
        <TaskGroup><TaskCount>2</TaskCount><Requested><Memory units="MB">100</Memory></Requested></TaskGroup></Job>""",
    "busy": """<Job><Id>busy</Id><Executable>/bin/sh</Executable>
        <Arguments>-c '(ulimit -t 3; while :; do :; done); exit 0'</Arguments><Requested>
        <Memory units="MB">100</Memory><Duration>60</Duration></Requested></Job>""",
    "spread": """<Job><Id>spread</Id><Executable>/usr/bin/srun</Executable><Arguments>{probe}</Arguments>
        <NodeCount>2</NodeCount><Requested><Processors>6</Processors>
        <Memory units="MB">200</Memory><Duration op="LE">60</Duration></Requested></Job>""",
    "asking": """<Job><Id>asking</Id><Executable>{probe}</Executable><Shell>/bin/bash</Shell>
        <Environment export="false"><Variable name="MOOD">it's $good "here"</Variable></Environment>
        <EligibleTime>1700000000</EligibleTime><Restartable>false</Restartable>
        <NotificationList>None</NotificationList><ResourceLimit name="CPUTime">50</ResourceLimit>
        <Requested><Memory units="MB">100</Memory><Duration>60</Duration><Node>n1</Node></Requested></Job>""",
}
# What the job finds: processors and MiB on a node, and seconds.
GIVEN = {"one": (1, 150, 120), "two": (2, 200, 180)}
# fmt: on


@pytest.fixture(scope="module")
def cluster():
    """A cluster that calls our scripts, which an agent runs."""

    def lines(place):
        found = install(place, "slurm", "mjf/%n", "--agent", place.root / "agent")
        return [*(line for line in found if "=" in line.partition(" ")[0]), *slurm_ends.LINES]

    place = started(slurm_cluster.start, lines)
    place.daemon(COMMAND, "features", "agent", "--socket", place.root / "agent")
    assert until((place.root / "agent").exists), place.logs()
    prepare(place, TOLD)
    yield place
    place.stop()


@pytest.fixture(scope="module")
def ran(cluster):
    """The jobs of all documents, as a user ran them: their ids, by name."""
    # Nothing of this process is in the environment of the jobs.
    options = (f"--chdir={cluster.root}/work", "--export=NONE")
    found = {
        name: submitted(cluster, "slurm", name, text, options) for name, text in DOCUMENTS.items()
    }
    for job in found.values():
        assert until(lambda job=job: ended(cluster, job)), cluster.logs()
    return found


def ended(cluster, job):
    """Whether a job and its epilog are over."""
    shown = cluster.run("scontrol", "-o", "show", "job", job)
    return "JobState=COMPLETED" in shown and not list(cluster.root.glob(f"mjf/*/{job}"))


@pytest.mark.parametrize("name", GIVEN)
def test_a_job_finds_what_slurm_enforces(cluster, ran, name):
    found, (cpus, memory, seconds) = told(cluster, name), GIVEN[name]
    assert found["JOBFEATURES"] == f"{cluster.root}/mjf/n1/{ran[name]}/jobfeatures"
    # What Slurm itself tells the job, and what was asked for.
    assert found["allocated_cpu"] == found["cpus"] == str(cpus)
    assert int(found["max_rss_bytes"]) == int(found["memory"]) << 20 == memory << 20
    assert found["wall_limit_secs"] == str(seconds)
    assert found["cpu_limit_secs"] == str(seconds * cpus)
    assert found["job_id"] == ran[name]
    shown = cluster.run(
        "squeue",
        "-h",
        "-j",
        ran[name],
        "-t",
        "all",
        "-o",
        "%S %l %C",
        env={"SLURM_TIME_FORMAT": "%s"},
    ).split()
    assert shown == [found["jobstart_secs"], f"{seconds // 60}:00", str(cpus)]


def test_the_document_tells_what_slurm_does_not_know(cluster, ran):
    assert told(cluster, "one")["grace_secs_job"] == "60"
    assert "grace_secs_job" not in told(cluster, "two")


@pytest.mark.parametrize("node", ["n1", "n2"])
def test_a_machine_has_the_processors_that_jobs_may_have(cluster, ran, node):
    shown = cluster.run("sinfo", "-h", "-N", "-p", "main", "-n", node, "-o", "%c").strip()
    assert (cluster.root / f"mjf/{node}/machinefeatures/total_cpu").read_text().strip() == shown


def test_every_task_of_an_array_finds_its_own_features(cluster, ran):
    odd = "x\nJobId=1 JobName=y\n   Nodes=n[1-2] CPU_IDs=0-5 Mem=9 GRES= TimeLimit=9-00:00:00"
    array = batch(cluster, "--array=1-3", "-n2", "--mem=110", "--time=3", "-J", odd, out="task-%a")
    shown = [told(cluster, f"task-{task}") for task in (1, 2, 3)]
    # The last task has the id of the array, for which scontrol shows all tasks.
    assert [each["job_id"] == array for each in shown] == [False, False, True]
    for each in shown:
        assert each["JOBFEATURES"].endswith(f"/{each['job_id']}/jobfeatures")
        assert each["allocated_cpu"] == each["cpus"] == "2"
        assert (each["wall_limit_secs"], each["max_rss_bytes"]) == ("180", str(110 << 20))


def test_every_component_of_a_heterogeneous_job_finds_its_own_features(cluster, ran):
    first, second = ("-n1", "--mem=60", "--time=2"), ("-n3", "--mem=210", "--time=4")
    probe = (
        f"#!/bin/sh\nsrun --het-group=0,1 -n1 -o {cluster.root}/work/part-%j {cluster.root}/probe\n"
    )
    leader = batch(cluster, *first, ":", *second, out="set", script=probe)
    shown = [told(cluster, f"part-{int(leader) + offset}") for offset in (0, 1)]
    assert [
        tuple(each[name] for name in ("job_id", "allocated_cpu", "wall_limit_secs"))
        for each in shown
    ] == [(leader, "1", "120"), (str(int(leader) + 1), "3", "240")]
    assert [int(each["max_rss_bytes"]) >> 20 for each in shown] == [60, 210]


def test_maintenance_and_a_reservation_reach_the_job(cluster, ran):
    """The window begins long before the limit of the job would end it."""
    make = ("scontrol", "create", "reservation", "duration=60")
    cluster.run(
        *make, "reservationname=fix", "starttime=now+3hours", "nodes=n1", "flags=maint",
        "users=root",
    )  # fmt: skip
    cluster.run(
        *make, "reservationname=mine", "starttime=now", "nodes=n1", f"users={user().pw_name}"
    )
    try:
        batch(cluster, "--reservation=mine", "--tmp=5", "--time=2", out="reserved")
        shown = cluster.run(
            "scontrol", "-o", "show", "reservation", env={"SLURM_TIME_FORMAT": "%s"}
        )
        watched = cluster.run(
            COMMAND, "features", "watch", "--once", "--from", "slurm", "--node", "n1"
        )
    finally:
        for name in ("fix", "mine"):
            cluster.run("scontrol", "delete", f"reservationname={name}")
    found = told(cluster, "reserved")
    lines = {line.split()[0].partition("=")[2]: line for line in shown.splitlines()}
    assert f" StartTime={found['shutdowntime']} " in lines["fix"]
    assert f" EndTime={found['shutdowntime_job']} " in lines["mine"]
    assert watched.startswith(f"shutdowntime  {found['shutdowntime']} ")
    assert found["scratch_limit_bytes"] == str(5 << 20)
    batch(cluster, "-w", "n1", out="after")
    assert not {"shutdowntime", "shutdowntime_job"} & told(cluster, "after").keys()


def batch(cluster, *options, out, script=""):
    """Run a job to its end as a user; gives its id."""
    printed = cluster.run(
        "sbatch", "--parsable", "-W", f"--chdir={cluster.root}/work", "-o", out, *options,
        user=user().pw_name, stdin=script or f"#!/bin/sh\nexec {cluster.root}/probe\n",
    )  # fmt: skip
    return printed.strip()


def test_a_job_writes_its_status_and_nothing_else(cluster, ran):
    assert told(cluster, "one")["status"] == "written"
    assert told(cluster, "one")["features"] == "protected"


def test_each_node_of_a_job_tells_its_own_part(cluster, ran):
    lines = (cluster.root / "work/spread").read_text().splitlines()
    here = sorted(line for line in lines if line.startswith("JOBFEATURES "))
    assert {line.split("/mjf/")[1].split("/")[0] for line in here} == {"n1", "n2"}
    shown = cluster.run("scontrol", "-o", "-d", "show", "job", ran["spread"])
    processors = {line.split()[1] for line in lines if line.startswith("allocated_cpu ")}
    assert processors == {line.split()[1] for line in lines if line.startswith("cpus ")}, shown
    assert {line for line in lines if line.startswith("max_rss_bytes ")} == {
        f"max_rss_bytes {100 << 20}"
    }


def test_nothing_is_left_but_the_directory_of_the_machine(cluster, ran):
    def left():
        return sorted(
            str(path.relative_to(cluster.root / "mjf")) for path in cluster.root.glob("mjf/*/*")
        )

    # A job has ended before its epilog has.
    assert until(lambda: left() == ["n1/machinefeatures", "n2/machinefeatures"]), left()


def test_the_directory_of_a_job_without_an_epilog_is_swept_and_that_of_a_running_job_stays(
    cluster, ran
):
    root = cluster.root / "mjf/n1"
    words = ("features", "sweep", "--for", "slurm", "--root", root, "--node")
    out = cluster.root / "work/long"
    job = cluster.run(
        "sbatch", "--parsable", "-w", "n1", "-o", out, "--wrap", "sleep 600", user=user().pw_name
    ).strip()
    assert until(lambda: (root / job).exists()), cluster.logs()
    shutil.copytree(root / job, root / "999999")
    assert cluster.run(COMMAND, *words, "n1").split() == ["removed", "999999"]
    assert cluster.run(COMMAND, *words, "n7", check=False) == ""  # there is no such node
    assert (root / job / "jobfeatures/job_id").read_text() == f"{job}\n"
    cluster.run("scancel", job)
    assert until(lambda: not (root / job).exists()), cluster.logs()


def test_the_agent_ran_the_prologs_and_epilogs(cluster, ran):
    said = next(cluster.root.glob("log/sssjob-*.out")).read_text().splitlines()
    assert said[0].startswith("listening at ")
    assert said.count("prolog ended with 0") >= len(ran)
    assert said.count("epilog ended with 0") >= len(ran)


def test_the_epilog_folds_what_the_job_was_given_and_what_it_said(cluster, ran):
    job = kept(cluster, ran["two"])
    assert job.delivered.text("Processors") == "2"
    limits = {item.attributes["name"]: item.text for item in job.properties.all("ResourceLimit")}
    assert limits["ResidentSetSize"] == str(200 << 20)
    assert job.delivered.get("Processors", context="Used").text == "1"


def test_records_fold_when_they_are_complete_and_the_documents_answer(cluster, ran):
    assert until(lambda: collected(cluster, "slurm")), cluster.run("sacct", "-P")
    for name, (cpus, _, _) in GIVEN.items():
        job = kept(cluster, ran[name])
        assert (job.get("State"), job.get("Name")) == ("Completed", "probe")
        shown = cluster.run(
            "sacct", "-X", "-n", "-P", "-j", ran[name], "-o", "Start,End,ElapsedRaw,AllocCPUS",
            env={"SLURM_TIME_FORMAT": "%s"},
        ).strip().split("|")  # fmt: skip
        assert shown == [
            job.get("StartTime"), job.get("EndTime"), job.delivered.text("Duration"), str(cpus),
        ]  # fmt: skip
        assert job.delivered.text("Processors") == str(cpus)
    busy = kept(cluster, ran["busy"])
    assert int(busy.get("CpuDuration")) >= 1
    assert 0 < busy.delivered.get("Memory", metric="Max").bytes <= 100 << 20
    question = "//Job[Delivered/Processors = 2 and State = 'Completed']/Id"
    assert answer(cluster, question, ran["two"]) == ran["two"]
    assert answer(cluster, question, ran["one"]) == ""
    spread = kept(cluster, ran["spread"])
    assert spread.delivered.text("Processors") == "6"


def test_a_job_runs_and_its_node_stays_though_no_features_can_be_made(cluster, ran):
    blocked = cluster.root / "mjf/n1"
    blocked.rename(cluster.root / "aside")
    blocked.write_text("")
    try:
        out = cluster.root / "work/blocked"
        cluster.run(
            "sbatch", "-W", "-w", "n1", "-o", out, "--wrap", "echo ran $JOBFEATURES",
            user=user().pw_name,
        )  # fmt: skip
    finally:
        blocked.unlink()
        (cluster.root / "aside").rename(blocked)
    assert out.read_text() == "ran\n"
    assert "n1" in (cluster.root / "log/hooks").read_text()
    assert "DRAIN" not in cluster.run("scontrol", "-o", "show", "node", "n1")


def test_what_a_job_asks_for_beside_amounts_is_what_it_gets(cluster, ran):
    found = told(cluster, "asking")
    assert (found["mood"], found["cpu"]) == ('it\'s $good "here"', "50")
    shown = cluster.run("scontrol", "-o", "show", "job", ran["asking"])
    assert "Requeue=0" in shown
    assert "ReqNodeList=n1" in shown


def test_the_command_submits_a_document_that_the_prolog_finds(cluster, ran):
    place = cluster.root / "job.xml"
    text = DOCUMENTS["one"].format(probe=cluster.root / "probe").replace("60<", "77<")
    place.write_text(
        text.replace(
            "<Requested>", f"<OutputFile>{cluster.root}/work/sent</OutputFile><Requested>", 1
        )
    )
    printed = cluster.run(
        COMMAND, "features", "submit", "--for", "slurm", "--documents", cluster.root / "jobs",
        "--seconds", 60, place,
    ).strip()  # fmt: skip
    assert until(lambda: ended(cluster, printed)), cluster.logs()
    assert told(cluster, "sent")["grace_secs_job"] == "77"
    job = kept(cluster, printed)
    assert (job.id, job.delivered.text("Processors")) == (printed, "1")


ASKED = """<Job awarenessPolicy="Warn"><Id>1</Id><Name>a "b" #c \\ d</Name><Executable>/bin/true</Executable>
  <InitialWorkingDirectory>/tmp</InitialWorkingDirectory><OutputFile>/dev/null</OutputFile>
  <Hold>User</Hold><TaskCount>4</TaskCount><TaskDistribution type="TasksPerNode">2</TaskDistribution>
  <Restartable>false</Restartable><EligibleTime>1900000000</EligibleTime>
  <NotificationList uri="amy@x.org">JobEnd</NotificationList><Requested><NodeCount>2</NodeCount>
  <Processors>8</Processors><Memory units="MB">301</Memory><Duration>330</Duration>
  <Node aggregation="Range">n[1-2]</Node></Requested></Job>"""
SHOWN = (
    'JobName=a "b" #c \\ d', "TimeLimit=00:06:00", "NumNodes=2", "NumTasks=4", "CPUs/Task=2",
    "NtasksPerN:B:S:C=2:", "MinMemoryNode=151M", "ReqNodeList=n[1-2]", "WorkDir=/tmp", "Requeue=0",
    "StdOut=/dev/null", "MailUser=amy@x.org", "MailType=END", "Reason=JobHeldUser",
    "EligibleTime=2030-03-1",
)  # fmt: skip


def test_slurm_has_of_a_translated_script_what_the_job_asks_for(cluster):
    from sssjob import loads, translate

    script = cluster.root / "translated.sh"
    script.write_text(translate(loads(ASKED), to="sbatch").text)
    cluster.run("sbatch", "--test-only", script)
    number = cluster.run("sbatch", "--parsable", script).strip()
    found = cluster.run("scontrol", "-o", "show", "job", number)
    cluster.run("scancel", number)
    assert [each for each in SHOWN if each not in found] == []


def test_the_check_of_the_installation_reads_this_configuration(cluster):
    """Where a site has its own programs, they are called first, and the flags stay."""
    words = (
        COMMAND, "features", "install", "--for", "slurm", "--check", "--json", "--node", "n1",
        "--root", cluster.root / "mjf/%n", "--documents", cluster.root / "jobs", "--log",
        cluster.root / "log/hooks", "--seconds", 60, "--agent", cluster.root / "agent",
    )  # fmt: skip
    scripts = {path: path.read_text() for path in (cluster.root / "hooks").iterdir()}
    found = json.loads(cluster.run(*words, "--to", cluster.root / "hooks"))["check"]
    assert [each["name"] for each in found["settings"] if each["good"]] == [
        "Prolog", "TaskProlog", "Epilog", "PrologFlags"
    ]  # fmt: skip
    assert (found["machine"]["total_cpu"], found["job"]["allocated_cpu"]) == ("8", "1")
    assert {path: path.read_text() for path in scripts} == scripts
    other = json.loads(cluster.run(*words, "--to", cluster.root / "other", check=False))["check"]
    prolog, *_, flags = other["settings"]
    assert (prolog["own"], prolog["good"]) == (f"{cluster.root}/hooks/prolog", False)
    assert (flags["found"], flags["good"]) == ("Alloc", True)
    assert (
        f"for each in {cluster.root}/hooks/prolog;" in (cluster.root / "other/prolog").read_text()
    )


def test_the_conformance_kit_proves_this_site(cluster):
    """Jobs of every kind, and a controller that hangs, a full disk and a umask."""
    rows = proven(cluster, "slurm")
    assert len(rows) == 12
    assert unproven(cluster, rows) == []
    assert {row["outcome"] for row in rows} == {"holds"}


@pytest.mark.parametrize(
    ("name", "before", "signals"),
    [("step", "srun -n1 ", ["CONT", "TERM", "USR1"]), ("batch", "", ["USR1"])],
)
def test_the_payload_of_a_preempted_job_has_its_grace(cluster, name, before, signals):
    slurm_ends.payload_has_its_grace(cluster, name, before, signals)


def test_the_payload_of_a_preempted_job_ends_with_its_grace(cluster):
    slurm_ends.payload_is_ended_with_its_grace(cluster, "ended", "again")


def test_a_drain_is_told_and_taken_back(cluster, ran):
    slurm_ends.drain_is_told_and_taken_back(cluster, cluster.root / "mjf/n1/machinefeatures")
