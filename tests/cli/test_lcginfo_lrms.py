"""sssjob lcginfo lrms, jobs and caps: whole answers on standard output, remarks beside them."""

import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sssjob import store
from sssjob.check.sources import check_source
from sssjob.cli import sssjob
from sssjob.lcginfo import lrmsinfo

DATA = Path(__file__).parents[1] / "data" / "lcginfo"
EXAMPLE = Path(__file__).parents[2] / "examples" / "lcginfo" / "lrmsinfo"


def run(*arguments, data=None):
    return CliRunner().invoke(sssjob, ["lcginfo", *map(str, arguments)], input=data)


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Puts a program in front of the others: what it prints, and how it ends."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def make(name, text, status=0, last=""):
        (tmp_path / f"{name}{last}.out").write_text(text)
        program = tmp_path / name
        choose = "for word; do :; done" if last else "word="
        printed = f"cat '{tmp_path / name}'$word.out"
        program.write_text(f"#!/bin/sh\n{choose}\n{printed}\nexit {status}\n")
        program.chmod(0o755)

    return make


ERRORS = [{"description": "Failed while looking for jobs", "error": "Unspecified error"}]


def test_a_slurm_whose_controller_does_not_answer_is_no_empty_site(tmp_path):
    """squeue --json of 22.05.8 ends with 0 then, and lists nothing."""
    answer = tmp_path / "squeue.json"
    answer.write_text(json.dumps({"meta": {}, "errors": ERRORS, "jobs": []}))
    done = run("lrms", "--from", "slurm", answer)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Slurm answers with an error: Failed while looking for jobs" in done.stderr


def test_an_error_beside_an_answer_of_slurm_is_told(tmp_path):
    answer = tmp_path / "squeue.json"
    jobs = json.loads((DATA / "slurm-24.11" / "squeue.json").read_text())
    answer.write_text(json.dumps(jobs | {"errors": ["one node", *ERRORS]}))
    done = run("lrms", "--from", "slurm", answer)
    assert done.exit_code == 1
    assert "beside its answer: one node; Failed while looking for jobs" in done.stderr


def test_files_of_a_batch_system_become_lrmsinfo():
    folder = DATA / "slurm-24.11"
    result = run("lrms", "--from", "slurm", folder / "sinfo.json", folder / "squeue.json")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[:3] == [
        "nactive     16", "nfree       12", "now         1795184578",
    ]  # fmt: skip
    assert result.stdout.splitlines()[3] == (
        "pool {'queues': 'inf,main,short', 'slots': 16, 'free': 12}"
    )
    assert len(result.stdout.splitlines()) == 11


@pytest.mark.parametrize(
    "name, files",
    [
        ("slurm", ("slurm-24.11/sinfo.json", "slurm-24.11/squeue.json")),
        ("slurm", ("slurm-22.05/scontrol-show-job-oneline.txt",)),
        ("pbs", ("pbs/qstat-f.txt", "pbs/pbsnodes-a.txt")),
        ("gridengine", ("gridengine/qstat-xml-u.xml",)),
        ("condor", ("condor/condor_q.json", "condor/condor_status.json")),
        ("condor", ("condor/condor_q.long.txt",)),
    ],
)
def test_what_printed_files_is_recognised(name, files):
    named = [DATA / each for each in files]
    known = run("lrms", "--from", name, "--now", "1795185100", "--tz", "UTC", *named)
    guessed = run("lrms", "--now", "1795185100", "--tz", "UTC", *named)
    assert len(known.stdout.splitlines()) > 1
    assert (guessed.exit_code, guessed.stdout) == (known.exit_code, known.stdout)


def test_lrmsinfo_is_recognised():
    assert run("lrms", EXAMPLE).stdout == run("lrms", "--from", "lrmsinfo", EXAMPLE).stdout != ""


def test_stores_and_documents_may_be_named_together(tmp_path):
    job = "<Job><Id>{}</Id><User>a</User><Queue>q</Queue><State>Idle</State></Job>"
    (tmp_path / "a.xml").write_text(job.format(7))
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        jobs.load(job.format(8).encode())
    result = run("lrms", tmp_path / "a.xml", tmp_path / "jobs.db")
    assert result.exit_code == 0
    assert [f"'jobid': '{each}'" in result.stdout for each in (7, 8)] == [True, True]


def test_what_no_batch_system_prints_is_told(tmp_path):
    (tmp_path / "x").write_text("hello\n")
    result = run("lrms", tmp_path / "x")
    assert result.exit_code == 2
    assert f"{tmp_path / 'x'}: no batch system is known to print this" in result.stderr


# Why lrmsinfo says something else, or more, where it is made of a listing than of its job objects.
ARRAYS = "the tasks of an array that wait are counted one by one"
PLAIN = "how long jobs have run is told of those that ended, as JSON tells it"
GROUPS = "without a unix group a job has the group or project that the system gives it"
LOCAL = "a job of PBS without a unix group is in one of that host, as lcg-info has it"
AGO = "a job of PBS without a start started as long ago as it has run"
STATELESS = "a job in a state that nobody knows is in no queue"
USUAL = "a job of Grid Engine that asks for no queue counts for the one with the most slots"
PROJECTS = "a job of Grid Engine without a unix group has its project"
LIMITS = "sites and computing elements write limits of HTCondor as attributes of their own"
TURNS = "what orders jobs is made of what users say and of the shares that they have had"
ENDED = "how long jobs of HTCondor have run is told of those that ended"
REASONS = "a job that waits for another job, or for its time, does not compete for slots"
ROADS = {
    "lcginfo/slurm-22.05/squeue.json": {"jobid": ARRAYS},
    "lcginfo/slurm-22.05/scontrol-show-job-oneline.txt": {"jobid": ARRAYS, "walltime": PLAIN},
    "lcginfo/slurm-24.11/squeue.json": {"jobid": ARRAYS},
    "lcginfo/slurm-24.11/scontrol-show-job.txt": {"jobid": ARRAYS, "walltime": PLAIN},
    "status/scontrol/odd.txt": {"jobid": ARRAYS, "walltime": PLAIN, "state": REASONS},
    "lcginfo/pbs/qstat-f.txt": {"group": LOCAL, "start": AGO},
    "status/qstat-text/odd.txt": {"jobid": STATELESS, "group": LOCAL, "state": REASONS},
    "status/qstat-xml/jobs.xml": {"jobid": STATELESS, "group": LOCAL},
    "status/qstat-json/jobs.json": {"group": LOCAL, "state": REASONS},
    "lcginfo/gridengine/qstat-xml-f-r.xml": {"queue": USUAL, "priority": TURNS},
    "lcginfo/gridengine/qstat-xml-long.xml": {
        "jobid": ARRAYS,
        "queue": USUAL,
        "group": PROJECTS,
        "priority": TURNS,
    },
    "lcginfo/gridengine/qstat-xml-u.xml": {"jobid": ARRAYS, "queue": USUAL, "priority": TURNS},
    "lcginfo/gridengine/qstat-xml-j-running.xml": {},
    "lcginfo/gridengine/qstat-xml-j-pending.xml": {"jobid": ARRAYS},
    "status/sge-xml/list-and-details.xml": {"jobid": ARRAYS, "priority": TURNS},
    "lcginfo/condor/condor_q.json": {"maxwalltime": LIMITS, "walltime": ENDED, "priority": TURNS},
    "lcginfo/condor/condor_q.long.txt": {
        "maxwalltime": LIMITS,
        "walltime": ENDED,
        "priority": TURNS,
    },
}


# Listings that have no two roads, or no jobs on one of them.
ELSEWHERE = {
    "lcginfo/condor/condor_status.json": "machines",
    "lcginfo/condor/condor_status.long.txt": "machines",
    "lcginfo/gridengine/qconf-sq.txt": "queues",
    "lcginfo/gridengine/qconf-ssconf.txt": "the scheduler",
    "lcginfo/gridengine/qstat-xml-f-F.xml": "queues without a job",
    "lcginfo/gridengine/qstat-xml-finished.xml": "jobs that have ended and are in no queue",
    "lcginfo/gridengine/qstat-xml-j-unknown.xml": "no jobs",
    "lcginfo/maui/diagnose-g.txt": "caps",
    "lcginfo/pbs/pbsnodes-a.txt": "nodes",
    "lcginfo/slurm-22.05/sacctmgr-assoc.txt": "caps",
    "lcginfo/slurm-22.05/scontrol-show-node-oneline.txt": "nodes",
    "lcginfo/slurm-22.05/sinfo.json": "nodes",
    "lcginfo/slurm-22.05/squeue-O.txt": "columns of a site, which status does not read",
    "lcginfo/slurm-22.05/squeue-all.txt": "columns of a site, which status does not read",
    "lcginfo/slurm-24.11/scontrol-show-node.json": "nodes",
    "lcginfo/slurm-24.11/scontrol-show-node.txt": "nodes",
    "lcginfo/slurm-24.11/sinfo.json": "nodes",
    "lcginfo/text/lrmsinfo": "lrmsinfo",
    "lcginfo/text/vo-max-jobs": "caps",
    "status/condor-q/odd.json": "ads that are none",
    "status/qstat-json/odd.json": "broken: lrmsinfo would show a site in part",
    "status/qstat-xml/odd.xml": "jobs without any group: lcg-info has one for them",
    "status/sge-xml/odd.xml": "broken: lrmsinfo would show a site in part",
    "status/squeue-json/odd.json": "broken: lrmsinfo would show a site in part",
}


def test_every_recorded_listing_is_compared_or_has_a_reason():
    recorded = {
        str(path.relative_to(DATA.parent))
        for folder in ("lcginfo", "status") for path in (DATA.parent / folder).glob("*/*")
        if path.suffix != ".outcomes"
    }  # fmt: skip
    assert recorded == ROADS.keys() | ELSEWHERE.keys()
    assert not ROADS.keys() & ELSEWHERE.keys()


@pytest.mark.parametrize("name", ROADS)
def test_a_listing_says_as_lrmsinfo_what_its_job_objects_say(name):
    listing = DATA.parent / name
    common = ("--queue", "q", "--now", "1795185100", "--tz", "UTC")
    straight = run("lrms", *common, listing)
    status = CliRunner().invoke(sssjob, ["status", str(listing)])
    by_way = run("lrms", *common, "--from", "sss", data=status.stdout)
    entries = [
        {job.jobid: job for job in lrmsinfo.read(io.BytesIO(result.stdout_bytes)).jobs}
        for result in (straight, by_way)
    ]
    assert all(entries)
    one, other = entries
    differ = {
        field
        for jobid in one.keys() & other.keys()
        for field, *values in zip(one[jobid]._fields, one[jobid], other[jobid], strict=True)
        if values[0] != values[1]
    }
    assert differ | ({"jobid"} if one.keys() != other.keys() else set()) <= ROADS[name].keys()


@pytest.mark.parametrize("words, reason, state", [
    pytest.param(["COMPLETED", "COMPLETING"], "None", "running", id="completing"),
    pytest.param(["TIMEOUT", "COMPLETING"], "None", "running", id="completing-after-its-limit"),
    pytest.param(["RUNNING", "BLINKING"], "None", "running", id="a-flag-nobody-knows"),
    pytest.param(["PENDING", "REQUEUE_HOLD"], "None", "pending", id="held-when-requeued"),
    pytest.param(["PENDING", "SPECIAL_EXIT"], "None", "pending", id="held-after-an-exit"),
    pytest.param(["EXPEDITING"], "None", "queued", id="expediting"),
    pytest.param(["POWER_UP_NODE"], "None", "running", id="its-node-boots"),
    pytest.param(["UPDATE_DB"], "None", "running", id="not-in-the-database-yet"),
    pytest.param(["PENDING"], "JobHeldAdmin", "pending", id="held"),
])  # fmt: skip
def test_lists_of_states_of_slurm_mean_the_same_on_both_roads(tmp_path, words, reason, state):
    document = json.loads((DATA / "slurm-24.11" / "squeue.json").read_text())
    (job,) = (each for each in document["jobs"] if each["job_state"] == ["RUNNING"])
    document["jobs"] = [{**job, "job_state": words, "state_reason": reason}]
    listing = tmp_path / "squeue.json"
    listing.write_text(json.dumps(document, indent=1))
    status = CliRunner().invoke(sssjob, ["status", str(listing)])
    for result in (run("lrms", listing), run("lrms", "--from", "sss", data=status.stdout)):
        (entry,) = lrmsinfo.read(io.BytesIO(result.stdout_bytes)).jobs
        assert entry.state == state


def test_without_files_the_commands_are_run(command):
    folder = DATA / "slurm-22.05"
    command("squeue", (folder / "squeue.json").read_text())
    command("sinfo", (folder / "sinfo.json").read_text())
    live = run("lrms", "--from", "slurm", "--now", "1795185100")
    for what in ("job", "node"):
        printed = (folder / f"scontrol-show-{what}-oneline.txt").read_text()
        command("scontrol", printed, last=f"{what}s")
    text = run("lrms", "--from", "slurm", "--text", "--now", "1795185100", "--tz", "UTC")
    assert live.exit_code == text.exit_code == 0
    assert sorted(live.stdout.splitlines()) == sorted(text.stdout.splitlines())


@pytest.mark.parametrize("text, status, message", [
    pytest.param('{"jobs": [', 0, "the JSON cannot be read", id="cut-off"),
    pytest.param("", 1, "squeue returned 1", id="failed"),
    pytest.param("slurm_load_jobs error", 0, "is no output of Slurm", id="a-message"),
])  # fmt: skip
def test_a_batch_system_that_does_not_answer_prints_nothing(command, text, status, message):
    command("squeue", text, status)
    command("sinfo", "{}")
    result = run("lrms", "--from", "slurm")
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_a_job_that_cannot_be_printed_is_reported(tmp_path):
    result = run("lrms", "--from", "pbs", DATA / "pbs" / "qstat-f.txt", "--tz", "UTC")
    assert result.exit_code == 1
    assert "pbs: error: job '106.ce.example.org': 'Z' is not a job_state" in result.stderr
    assert result.stdout.count("\n") == 6


@pytest.mark.parametrize("name", ["utc", "Z", "z"])
def test_utc_goes_by_each_of_its_names(name):
    words = ("lrms", "--from", "pbs", DATA / "pbs" / "qstat-f.txt", "--now", "1795185100", "--tz")
    assert run(*words, name).stdout == run(*words, "UTC").stdout != ""


def test_lrmsinfo_becomes_job_objects_and_comes_back(tmp_path):
    documents = run("jobs", "--clock", "none", EXAMPLE)
    assert documents.exit_code == 0
    assert not list(check_source(documents.stdout_bytes))
    headers = ("--slots", "8", "--cycle", "120", "--now", "1795184574")
    back = run("lrms", "--from", "sss", *headers, "-", data=documents.stdout_bytes)
    with EXAMPLE.open("rb") as stream:
        assert lrmsinfo.read(io.BytesIO(back.stdout_bytes)) == lrmsinfo.read(stream)


def test_a_store_prints_what_has_not_ended(tmp_path):
    documents = run("jobs", "--clock", "none", EXAMPLE).stdout_bytes
    path = tmp_path / "jobs.db"
    with store.open(path, create=True, by="amy") as jobs, jobs.change() as change:
        for line in documents.splitlines():
            change.put(line)
    headers = ("--slots", "8", "--cycle", "120", "--now", "1795184574", "--done-within", "0")
    back = run("lrms", "--from", "store", *headers, path)
    with EXAMPLE.open("rb") as stream:
        expected = lrmsinfo.read(stream)
    found = lrmsinfo.read(io.BytesIO(back.stdout_bytes))
    alive = {job for job in expected.jobs if job.state != "done"}
    assert set(found.jobs) == alive
    assert len(alive) > 3
    assert (found.nactive, found.nfree) == (8, 0)


def test_times_become_those_of_the_clock():
    result = run("jobs", "--clock", "1795184600", "--to", "sss", EXAMPLE)
    assert "<StartTime>1795098200</StartTime>" in result.stdout
    assert "\n</Jobs>\n" in result.stdout
    assert run("jobs", "--clock", "soon", EXAMPLE).exit_code == 2


def test_a_bad_line_is_reported_with_its_place():
    text = EXAMPLE.read_text() + "{'queue': 'long', 'state'\n"
    result = run("jobs", data=text)
    assert result.exit_code == 1
    assert "<stdin>:12: error: " in result.stderr
    assert "converted 7, bad 1" in result.stderr


def test_a_flood_of_bad_lines_is_told_in_short():
    result = run("lrms", "--from", "lrmsinfo", data="{'x'\n" * 1000)
    assert result.exit_code == 1
    assert "<stdin>: error: and 980 more like these; --all-findings tells each" in result.stderr
    assert len(result.stderr.splitlines()) == 21


def test_control_characters_of_strangers_do_not_reach_the_terminal():
    result = run("lrms", "--from", "lrmsinfo", data="{'queue': 'a', '\x1b[2J'\n")
    assert "\x1b" not in result.stderr


def test_lrmsinfo_is_written_anew_with_what_is_known_better():
    result = run("lrms", "--from", "lrmsinfo", "--slots", "10", "--cycle", "26", EXAMPLE)
    assert result.stdout.splitlines()[:4] == [
        "nactive     10", "nfree       2", "now         1795184574", "schedCycle  26",
    ]  # fmt: skip


@pytest.mark.parametrize("arguments, message", [
    pytest.param(("lrms", "--from", "slurm", "/no/such"), "/no/such", id="no-file"),
    pytest.param(("lrms", "--from", "pbs", "--tz", "Mars/Base", "-"), "time zone", id="zone"),
    pytest.param(("lrms", "--from", "lsf"), "lsf", id="no-format"),
    pytest.param(("lrms", "--from", "store"), "name a store", id="no-store"),
    pytest.param(("lrms", "--from", "store", "/no/such.db"), "/no/such.db", id="no-such-store"),
    pytest.param(("lrms", "--from", "sss", "--now", "soon", "-"), "soon", id="no-time"),
])  # fmt: skip
def test_what_is_not_understood_exits_2(arguments, message):
    result = run(*arguments, data="")
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_caps_are_read_from_files_and_commands(command):
    maui = DATA / "maui" / "diagnose-g.txt"
    expected = "{'atlsgm': 200, 'lhcb': 40, 'old': 8}\n"
    assert run("caps", "--from", "maui", maui).stdout == expected
    command("diagnose", maui.read_text())
    assert run("caps", "--from", "maui").stdout == expected
    assert run("caps", "--from", "vomaxjobs", "-", data=expected).stdout == expected
    assert run("caps", "--from", "vomaxjobs", data="{'a': -1}").exit_code == 1
    assert run("caps", "--from", "slurm", maui).exit_code == 2


def test_help_shows_every_command_and_an_example():
    result = run("--help")
    for name in ("lrms", "jobs", "caps", "check", "estimate"):
        assert f"  {name} " in result.stdout
        assert "Examples:" in run(name, "--help").stdout
    assert run("nothing").exit_code == 2


@pytest.mark.parametrize(
    ("printed", "code", "said"),
    [
        ("PartitionName=main MaxTime=10 State=UP", 0, ""),
        ("no permission", 1, "estimates know less of the scheduler"),
        ("something else", 0, "estimates know less of the scheduler"),
    ],
)
def test_what_tells_how_slots_are_given_away_may_fail(command, printed, code, said):
    command("squeue", (DATA / "slurm-24.11/squeue.json").read_text())
    command("sinfo", (DATA / "slurm-24.11/sinfo.json").read_text())
    command("scontrol", printed, code)
    result = run("lrms", "--from", "slurm")
    assert result.exit_code == 0
    assert ("queue {'name': 'main'" in result.stdout) == (not said)
    assert said in result.stderr
    assert bool(result.stderr) == bool(said)
    assert "nactive     16" in result.stdout
