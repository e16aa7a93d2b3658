# ruff: noqa: E501 (documents as people write them)
"""A real Grid Engine calls the scripts that we install; jobs find what it enforces.

Where no cell can be started, the tests say why.
"""

import shutil

import gridengine_cell
import pytest
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

TOLD = 'echo "slots $NSLOTS"; echo "limit $(ulimit -v)"; echo "mood $MOOD"; echo "cpu $(ulimit -t)"'
# fmt: off
DOCUMENTS = {
    "one": """<Job><Id>one</Id><Executable>{probe}</Executable><Requested>
        <Processors op="GE">1</Processors><Processors op="LE">4</Processors>
        <Memory op="LE" units="MB">150</Memory><Duration op="LE">120</Duration></Requested>
        <Extension type="JobFeatures" name="grace_secs_job">60</Extension></Job>""",
    "two": """<Job><Id>two</Id><Executable>{probe}</Executable>
        <Requested><Duration op="LE">180</Duration></Requested>
        <TaskGroup><TaskCount>2</TaskCount><Requested><Memory units="MB">100</Memory></Requested></TaskGroup></Job>""",
    "open": """<Job><Id>open</Id><Executable>{probe}</Executable><Requested>
        <Memory units="MB">120</Memory></Requested></Job>""",
    "asking": """<Job><Id>asking</Id><Executable>{probe}</Executable><Shell>/bin/bash</Shell>
        <Environment export="false"><Variable name="MOOD">it's $good "here"</Variable></Environment>
        <EligibleTime>1700000000</EligibleTime><Restartable>false</Restartable>
        <NotificationList>None</NotificationList><ResourceLimit name="CPUTime">50</ResourceLimit>
        <Requested><Memory units="MB">100</Memory><Duration>60</Duration></Requested></Job>""",
}
# What the job finds: slots, MiB, and seconds, of which the last are those of the queue.
GIVEN = {"one": (1, 150, 120), "two": (2, 200, 180), "open": (1, 120, 600)}
QUEUED = ("simple", "array", "requeued", "unlimited", "odd names")
# fmt: on


@pytest.fixture(scope="module")
def cell():
    """A cell that calls our scripts: as root in one queue, as the user in the other."""

    def queues(place):
        lines = dict(line.split() for line in install(place, "gridengine", "mjf"))
        starter = place.root / "starter"  # Grid Engine makes no $TMPDIR for root
        starter.write_text(
            f"#!/bin/sh\nTMPDIR=${{TMPDIR:-{place.root}/own}}\nexport TMPDIR\n"
            f'exec {place.root}/hooks/starter "$@"\n'
        )
        starter.chmod(0o755)
        place.make("own")
        return {
            "main.q": {**lines, "h_rt": "00:10:00"},
            "user.q": {"starter_method": starter, "h_rt": "00:10:00", "seq_no": "9"},
        }

    place = started(gridengine_cell.start, queues)
    prepare(place, TOLD)
    yield place
    place.stop()


@pytest.fixture(scope="module")
def ran(cell):
    """The jobs of all documents, as a user ran them: their ids, by name."""
    found = {
        name: submitted(cell, "gridengine", name, text, Queue="main.q")
        for name, text in DOCUMENTS.items()
    }
    assert until(lambda: set(found.values()) <= finished(cell)), cell.logs()
    return found


def finished(cell):
    """The jobs with a line in the accounting file."""
    file = cell.root / "default/common/accounting"
    lines = file.read_text().splitlines() if file.exists() else []
    return {line.split(":")[5] for line in lines if not line.startswith("#")}


def test_what_a_job_asks_for_beside_amounts_is_what_it_gets(cell, ran):
    found = told(cell, "asking")
    assert (found["mood"], found["cpu"]) == ('it\'s $good "here"', "50")


@pytest.mark.parametrize("name", GIVEN)
def test_a_job_finds_what_grid_engine_enforces(cell, ran, name):
    found, (slots, memory, seconds) = told(cell, name), GIVEN[name]
    assert found["JOBFEATURES"] == f"{cell.root}/mjf/{ran[name]}/jobfeatures"
    assert found["allocated_cpu"] == found["slots"] == str(slots)
    # The limit that the kernel has for the shell of the job, in KiB.
    assert int(found["max_rss_bytes"]) == int(found["limit"]) << 10 == memory << 20
    assert found["wall_limit_secs"] == str(seconds)
    assert (found["job_id"], found["status"]) == (ran[name], "written")
    assert found["features"] == "protected"


def test_the_machine_has_the_slots_of_its_queues(cell, ran):
    found = (cell.root / "mjf/machinefeatures/total_cpu").read_text().strip()
    assert found == str(2 * gridengine_cell.SLOTS)


def test_the_limit_of_a_queue_is_that_of_this_host(cell, ran):
    cell.run("qconf", "-mattr", "queue", "h_rt", "00:09:00", f"main.q@{gridengine_cell.HOST}")
    try:
        out = cell.root / "work/override"
        cell.run(
            "qsub", "-terse", "-N", "test", "-sync", "y", "-q", "main.q", "-j", "y", "-o", out,
            "-b", "y", "cat $JOBFEATURES/wall_limit_secs", user=user().pw_name,
        )  # fmt: skip
    finally:
        cell.run("qconf", "-purge", "queue", "h_rt", f"main.q@{gridengine_cell.HOST}")
    assert out.read_text() == "540\n"


def test_the_document_tells_what_grid_engine_does_not_know(cell, ran):
    assert told(cell, "one")["grace_secs_job"] == "60"
    assert "grace_secs_job" not in told(cell, "two")


def test_nothing_is_left_but_the_directory_of_the_machine(cell, ran):
    assert [path.name for path in (cell.root / "mjf").iterdir()] == ["machinefeatures"]


def test_the_epilog_folds_what_was_given_and_measured(cell, ran):
    job = kept(cell, ran["two"])
    assert job.delivered.text("Processors") == "2"
    assert job.delivered.get("Processors", context="Used").text == "1"
    assert job.delivered.get("Memory", metric="Max") is not None
    assert job.properties.get("CpuDuration") is not None


def test_records_fold_and_the_documents_answer(cell, ran):
    accounting = ("--record", cell.root / "default/common/accounting")
    assert until(lambda: collected(cell, "gridengine", *accounting))
    lines = (cell.root / "default/common/accounting").read_text().splitlines()
    records = {row[5]: row for line in lines if (row := line.split(":")) and len(row) > 40}
    for name, (slots, _, _) in GIVEN.items():
        job = kept(cell, ran[name])
        row = records[ran[name]]
        assert job.get("EndTime") == row[10]
        # The prolog runs before the job does.
        assert 0 <= int(row[9]) - int(job.get("StartTime")) <= 60
        assert job.delivered.text("User") == user().pw_name
        assert job.delivered.text("Processors") == str(slots)
    question = "//Job[Delivered/Processors = 2 and State = 'Completed']/Id"
    assert answer(cell, question, ran["two"]) == ran["two"]
    assert answer(cell, question, ran["one"]) == ""


def test_a_user_cannot_lead_the_prolog_elsewhere(cell, ran):
    out, aside = cell.root / "work/led", cell.root / "work/aside"
    aside.mkdir()
    (aside / "environment").symlink_to(cell.root / "probe")
    led = f"SGE_JOB_SPOOL_DIR={aside},JOB_ID=999,JOBFEATURES=/x,NSLOTS=64,PYTHONPATH={aside}"
    cell.run(
        "qsub", "-terse", "-N", "test", "-sync", "y", "-q", "main.q", "-j", "y", "-o", out,
        "-v", led, "-b", "y", "cat $JOBFEATURES/job_id $JOBFEATURES/allocated_cpu",
        user=user().pw_name,
    )  # fmt: skip
    job, count = out.read_text().split()
    assert (int(job) < 999, count) == (True, "1")
    assert "JOBFEATURES=/" not in (cell.root / "probe").read_text()
    assert not (cell.root / "mjf/999").exists()


def runs(cell, name):
    """Whether a user can run our command: Python may be in root's home directory."""
    return "sssjob" in cell.run(COMMAND, "--version", user=name, check=False)


@pytest.mark.parametrize("queue", ["main.q", "user.q"])
def test_commands_and_tasks_of_arrays_find_their_features(cell, ran, queue):
    # A starter runs as the user, who has to be able to run our command.
    who = user().pw_name if queue == "main.q" or runs(cell, user().pw_name) else ""
    common = ["-terse", "-N", "test", "-sync", "y", "-j", "y", "-q", queue]
    out = cell.root / f"work/command-{queue}"
    cell.run(
        "qsub", *common, "-o", out, "-b", "y", "cat $JOBFEATURES/job_id; echo $MACHINEFEATURES",
        user=who,
    )  # fmt: skip
    job, machine = out.read_text().split()
    assert job.isdigit()
    assert machine.endswith("/machinefeatures")
    out = cell.root / f"work/array-{queue}"
    script = "cat $JOBFEATURES/job_id $JOBFEATURES/wall_limit_secs\n"
    cell.run("qsub", *common, "-o", out, "-t", "2", "-S", "/bin/sh", user=who, stdin=script)
    name, seconds = out.read_text().split()
    assert name.endswith(".2")
    assert seconds == "600"


def test_the_directory_of_a_job_without_an_epilog_is_swept_and_that_of_a_running_job_stays(
    cell, ran
):
    root, out = cell.root / "mjf", cell.root / "work/long"
    words = ("features", "sweep", "--for", "gridengine", "--root", root, "--node")
    job = cell.run(
        "qsub", "-terse", "-N", "test", "-q", "main.q", "-j", "y", "-o", out, "-t", "3", "-b", "y", "sleep 600",
        user=user().pw_name,
    ).partition(".")[0].strip()  # fmt: skip
    assert until(lambda: (root / f"{job}.3").exists()), cell.logs()
    shutil.copytree(root / f"{job}.3", root / f"{job}.4")
    node = cell.run("qconf", "-sel").split()[0]
    assert cell.run(COMMAND, *words, node).split() == ["removed", f"{job}.4"]
    assert cell.run(COMMAND, *words, "elsewhere", check=False) == ""  # there is no such host
    assert (root / f"{job}.3/jobfeatures/job_id").read_text() == f"{job}.3\n"
    cell.run("qdel", job)
    assert until(lambda: not (root / f"{job}.3").exists()), cell.logs()


def test_the_queue_stays_open_though_no_features_can_be_made(cell, ran):
    blocked = cell.root / "mjf"
    blocked.rename(cell.root / "aside")
    blocked.write_text("")
    out = cell.root / "work/blocked"
    try:
        cell.run(
            "qsub", "-terse", "-N", "test", "-sync", "y", "-q", "main.q", "-j", "y", "-o", out, "-b", "y",
            "echo ran $JOBFEATURES", user=user().pw_name,
        )  # fmt: skip
    finally:
        blocked.unlink()
        (cell.root / "aside").rename(blocked)
    assert out.read_text() == "ran\n"
    cell.answers("qstat", "-f", holds=gridengine_cell._is_open)


ASKED = """<Job awarenessPolicy="Warn"><Id>1</Id><Name>scan</Name><Executable>/bin/true</Executable>
  <InitialWorkingDirectory>/tmp</InitialWorkingDirectory><OutputFile>/dev/null</OutputFile>
  <ErrorFile redirectList="Merge"/><Hold>User</Hold><Restartable>false</Restartable><Priority>-5</Priority>
  <EligibleTime>1900000000</EligibleTime><NotificationList uri="amy@x.org">JobEnd</NotificationList>
  <ResourceLimit name="CPUTime" type="Soft">50</ResourceLimit>
  <Requested><Processors op="GE">2</Processors><Processors op="LE">4</Processors>
  <Memory units="MB">301</Memory><Duration>330</Duration><Node>localhost</Node></Requested></Job>"""
SHOWN = {
    "job_name": "scan", "cwd": "/tmp", "merge": "y", "priority": "-5", "mail_options": "e",
    "mail_list": "amy@x.org", "restart": "n", "parallel environment": "smp range: 2-4",
}  # fmt: skip


def test_grid_engine_takes_a_translated_script_as_it_is_meant(cell):
    from sssjob import loads, translate

    script = cell.root / "translated.sh"
    script.write_text(translate(loads(ASKED), to="sge").text)
    printed = cell.run("qsub", "-verify", script)
    found = {name: text.strip() for name, _, text in
             (line.partition(":") for line in printed.splitlines())}  # fmt: skip
    assert {name: text for name, text in SHOWN.items() if found.get(name) != text} == {}, printed
    resources = dict(each.split("=") for each in found["hard resource_list"].split(","))
    assert resources == {
        "h_vmem": "154112K", "h_rt": "330", "s_cpu": "50", "h": "localhost",
    }, printed  # fmt: skip


def test_the_conformance_kit_proves_this_site(cell):
    """Jobs of every kind that there is, and a controller that hangs, a full disk and a umask."""
    queue = [
        word for name in QUEUED for each in ("-q", "main.q") for word in ("--with", name, each)
    ]
    rows = {row["case"]: row for row in proven(cell, "gridengine", *queue)}
    missing = {"heterogeneous", "multi-node", "whole node", "srun alone"}
    assert {name for name, row in rows.items() if row["outcome"] == "not here"} == missing
    assert unproven(cell, rows.values()) == []
    assert len(rows) == 12
