"""sssjob condor config, cron, queue, fold, simulate: what they print, and how they end."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from sssjob import store
from sssjob.classads import long
from sssjob.cli import sssjob
from sssjob.systems.condor.hooks import site
from sssjob.systems.condor.hooks.candidates import refresh
from sssjob.systems.condor.hooks.queue import OpenQueue
from sssjob.systems.condor.hooks.settings import HookSettings

SSSJOB = str(Path(sys.executable).with_name("sssjob"))
# One of a startd whose jobs run as its user, as those of root do here.
SLOT = {"Name": "slot1@n1", "Cpus": 1, "Memory": 100, "Disk": 1000, "SSSRunsAs": "root"}


def run(*arguments, given=None):
    return CliRunner().invoke(sssjob, ["condor", *map(str, arguments)], input=given)


@pytest.fixture
def jobs(tmp_path):
    place = tmp_path / "jobs"
    place.mkdir()
    for name, state in (("a", ""), ("b", "<State>Hold</State>")):
        (place / f"{name}.xml").write_text(
            f"<Job><Id>{name}</Id><Executable>/bin/true</Executable><User>root</User>{state}</Job>"
        )
    return place


def test_a_configuration_names_every_hook_by_its_path():
    lines = run("config", "--hooks", "/opt/hooks", "--keyword", "mjf").stdout.splitlines()
    assert "STARTD_JOB_HOOK_KEYWORD = MJF" in lines
    assert "MJF_HOOK_FETCH_WORK = /opt/hooks/fetch-work" in lines
    assert "MJF_HOOK_PREPARE_JOB_BEFORE_TRANSFER = /opt/hooks/prepare-job" in lines
    assert site.unknown(lines) == []


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--slot", "1", "--slot", "4"),
        ("--no-fetch", "--every-job"),
        ("--cron", "--site /etc/site.toml"),
    ],
)
def test_every_variable_is_one_that_the_text_names(options):
    found = run("config", "--hooks", "/opt/hooks", *options)
    assert found.exit_code == 0
    assert site.unknown(found.stdout.splitlines()) == []


def test_a_variable_that_the_text_does_not_name_is_found():
    assert site.unknown(["SSS_HOOK_PREPARE = /x", "# c = d", "STARTD_CRON_A_COLOUR = red"]) == [
        "SSS_HOOK_PREPARE",
        "STARTD_CRON_A_COLOUR",
    ]


def test_only_some_slots_fetch():
    lines = run("config", "--hooks", "/opt/hooks", "--slot", "4").stdout
    assert "SLOT4_JOB_HOOK_KEYWORD = SSS\n" in lines
    assert "STARTD_JOB_HOOK_KEYWORD" not in lines


def test_hooks_are_programs_that_htcondor_accepts(jobs, tmp_path):
    hooks = tmp_path / "hooks"
    options = ("--documents", jobs, "--write-hooks", "--option=--silence=60")
    found = run("config", "--hooks", hooks, *options)
    assert found.exit_code == 0
    for line in found.stdout.splitlines():
        name, _, path = line.partition(" = ")
        if "_HOOK_" in name and path.startswith("/"):
            mode = Path(path).stat().st_mode
            assert stat.S_IMODE(mode) == 0o755
    answer = subprocess.run(
        [hooks / "fetch-work"], input=long.write(SLOT).encode(), capture_output=True, check=True
    )
    assert b'Cmd = "/bin/true"\n' in answer.stdout


@pytest.mark.parametrize(
    "arguments, reason",
    [
        (("config", "--hooks", "relative"), "an absolute path"),
        (("config", "--keyword", "no good"), "a keyword"),
        (
            ("config", "--hooks", "/tmp/x", "--write-hooks", "--option=--nosuch"),
            "do not understand",
        ),
        (("cron", "--set", "hs06"), "expected KEY=VALUE"),
        (("cron", "--set", "hs06=soon"), "is not"),
        (("cron", "--prefix", "a b"), "expected letters, digits and underscores"),
        (("queue",), "no jobs"),
        (
            ("queue", "--documents", "/nowhere", "--state", "/tmp/nowhere-state"),
            "neither a directory",
        ),
        (("fold", "--documents", "postgresql://h/db"), "--state DIR"),
        (("simulate", "--hooks", "/nowhere"), "no program fetch-work"),
    ],
)
def test_what_is_not_understood_is_said_and_ends_with_2(arguments, reason, tmp_path, monkeypatch):
    monkeypatch.delenv("SSSJOB_CONDOR_JOBS", raising=False)
    found = run(*arguments)
    assert found.exit_code == 2
    assert reason in found.stderr


def test_cron_publishes_features_with_a_prefix_and_single_slots_first():
    found = run("cron", "--no-host", "--set", "total_cpu=8", "--set", "2:hs06=9.5", "--update")
    assert found.stdout.splitlines() == [
        "MachineFeatures_total_cpu = 8",
        "MachineFeatures_hs06 = 9.5",
        "SlotId = 2",
        "- slot2",
        "MachineFeatures_total_cpu = 8",
        "- update:true",
    ]
    assert run("cron", "--no-host", "--prefix", "X", "--set", "total_cpu=8").stdout == (
        "Xtotal_cpu = 8\n"
    )


@pytest.mark.parametrize("slots", [(2,), (2, 10)])
def test_the_last_ad_of_cron_asks_for_the_update_whichever_it_is(slots):
    words = [word for slot in slots for word in ("--set", f"{slot}:hs06=9.5")]
    told = run("cron", "--no-host", "--update", *words).stdout.splitlines()
    assert [line for line in told if line.startswith("-")] == [
        *(f"- slot{slot}" for slot in slots[:-1]), f"- slot{slots[-1]} update:true",
    ]  # fmt: skip
    assert told[-1].startswith("-")


def test_cron_without_anything_to_say_ends_with_1():
    for words in ((), ("--update",)):
        found = run("cron", "--no-host", *words)
        assert (found.exit_code, found.stdout) == (1, "")


def test_the_queue_shows_every_job_with_its_state(jobs):
    found = run("queue", "--documents", jobs, "--json")
    assert found.exit_code == 0
    assert json.loads(found.stdout)["jobs"] == [
        {"state": "ready", "key": "a.xml", "reason": ""},
        {"state": "waiting", "key": "b.xml", "reason": "its State is Hold"},
    ]
    assert run("queue", "--documents", jobs).stdout.splitlines()[0] == "ready     a.xml"


def test_jobs_of_a_store_are_shown_by_their_keys(tmp_path):
    with store.open(tmp_path / "jobs.db", create=True) as held, held.change() as change:
        change.put(b"<Job><Id>a b</Id><Executable>/bin/true</Executable></Job>")
    shown = run("queue", "--documents", tmp_path / "jobs.db", "--state", tmp_path / "state")
    assert shown.stdout.split()[1].startswith("Job/")
    assert "%25" not in shown.stdout


def test_a_job_can_be_given_back_by_hand(jobs):
    slot = long.write(SLOT)
    command = [SSSJOB, "condor", "fetch-work", "--documents", jobs]
    assert subprocess.run(command, input=slot.encode(), capture_output=True, check=True).stdout
    assert "offered   a.xml" in run("queue", "--documents", jobs).stdout
    found = run("queue", "--documents", jobs, "--give-back", "a.xml")
    assert "ready     a.xml" in found.stdout
    assert run("queue", "--documents", jobs, "--give-back", "a.xml").exit_code == 2


def test_fold_takes_what_users_of_jobs_left_in_the_spool(jobs):
    slot = long.write(SLOT)
    command = [SSSJOB, "condor", "fetch-work", "--documents", jobs]
    ad = subprocess.run(command, input=slot.encode(), capture_output=True, check=True).stdout
    told = ad + b"JobPid = 7\nJobDuration = 5.0\nExitCode = 0\nExitBySignal = false\n"
    leave = [SSSJOB, "condor", "job-exit", "--documents", jobs, "--fold", "never", "exit"]
    subprocess.run(leave, input=told, check=True)
    assert "<Delivered>" not in (jobs / "a.xml").read_text()
    found = run("fold", "--documents", jobs)
    assert (found.exit_code, found.stderr) == (0, "1 report folded, 0 bad\n")
    assert "<Duration>5</Duration>" in (jobs / "a.xml").read_text()
    assert run("fold", "--documents", jobs).stderr == "0 reports folded, 0 bad\n"


def test_a_report_that_cannot_be_folded_is_set_aside(jobs):
    run("fold", "--documents", jobs)
    (jobs / ".condor/spool/x").write_text("rubbish")
    found = run("fold", "--documents", jobs)
    assert found.exit_code == 1
    assert "spool/'x': it is no report of a hook" in found.stderr
    assert (jobs / ".condor/bad/1").read_text() == "rubbish"
    assert os.listdir(jobs / ".condor/spool") == []


def test_showing_the_queue_writes_nothing(jobs):
    before = snapshot(jobs)
    assert run("queue", "--documents", jobs).exit_code == 0
    assert snapshot(jobs) == before
    run("fold", "--documents", jobs)
    before = snapshot(jobs)
    assert run("queue", "--documents", jobs).exit_code == 0
    assert snapshot(jobs) == before


JOB = "<Job><Id>7</Id><Executable>/bin/true</Executable>{}</Job>"
EXCLUDED = '<Node op="NE">n{}</Node>'
UNREADABLE = {
    "broken": "<Job>",
    "empty": "",
    "no text": "\0<",
    "a DTD": "<!DOCTYPE a [<!ENTITY x 'y'>]>" + JOB,
    "another namespace": JOB.replace("<Job>", "<Job xmlns='urn:x'>"),
    "deep": "<JobGroup>" * 3000 + JOB.format("") + "</JobGroup>" * 3000,
    "many": JOB.format(f"<Requested>{''.join(map(EXCLUDED.format, range(3000)))}</Requested>"),
}


# decision 697
@pytest.mark.parametrize("kind", [*UNREADABLE, "a link"])
@pytest.mark.parametrize("runs", [False, True])
def test_the_queue_tells_each_time_of_a_document_that_cannot_be_read(jobs, kind, runs):
    """Hooks say so once, in a log that the user of the job does not read."""
    given = HookSettings(str(jobs))
    if runs:
        with OpenQueue(given) as queue:
            refresh(given, queue, until=None, say=str)
            [row] = queue.jobs("ready")
            assert queue.claim(row.key, "amy", 1.0, "Cpus = 1\n")
    (jobs / "a.xml").unlink()
    if kind == "a link":
        (jobs / "a.xml").symlink_to("b.xml")
    else:
        (jobs / "a.xml").write_text(UNREADABLE[kind])
    for looks in range(3):
        found = run("queue", "--documents", jobs)
        assert found.exit_code == 2
        assert found.stderr.startswith("sssjob: a.xml:")
        assert "b.xml  its State is Hold" in found.stdout
        with OpenQueue(given) as queue:
            said = []
            refresh(given, queue, until=None, say=said.append)
        assert len(said) == (looks == 0)


def snapshot(directory):
    """Every file of a tree with its owner, its times and its bytes."""
    return {
        path: (path.stat().st_uid, path.stat().st_mtime_ns, path.is_file() and path.read_bytes())
        for path in (directory, *directory.rglob("*"))
    }


def test_a_simulation_tells_what_happens(jobs):
    found = run("simulate", "--documents", jobs, "--json")
    assert found.exit_code == 0
    events = [json.loads(line) for line in found.stdout.splitlines()]
    assert [event["what"] for event in events if event["what"] != "updated"] == [
        "fetched", "accepted", "started", "ended", "no work", "claim given up",
    ]  # fmt: skip
    assert run("simulate", "--documents", jobs).exit_code == 1
