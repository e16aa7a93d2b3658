# ruff: noqa: E501 (documents as people write them)
"""A whole life: slots fetch SSS jobs, prepare, run, update and end them, and usage comes back.

The execution point is simulated, the hooks are our commands, the jobs are real processes.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import HANG

from sssjob import store
from sssjob.classads.values import Ad
from sssjob.document import read
from sssjob.systems.condor.hooks.settings import HOOKS
from sssjob.systems.condor.hooks.simulate import Pace, simulate, slot_ad
from sssjob.systems.condor.hooks.starter import Hooks, Starter

SSSJOB = str(Path(sys.executable).with_name("sssjob"))
USER = "root" if os.geteuid() == 0 else ""

JOBS = f"""\
<JobGroup>
  <!-- three jobs for two slots -->
  <Id>life</Id>
  <JobDefaults><Executable>/bin/sh</Executable>{f"<User>{USER}</User>" if USER else ""}</JobDefaults>
  <Job>
    <Id>range</Id>
    <Arguments>-c 'echo $(cat $JOBFEATURES/allocated_cpu $JOBFEATURES/wall_limit_secs); exit 3'</Arguments>
    <OutputFile>OUT</OutputFile>
    <Requested>
      <Processors op="GE">2</Processors>
      <Processors op="LE">4</Processors>
      <Duration op="LE">600</Duration>
    </Requested>
  </Job>
  <Job>
    <Id>alternatives</Id>
    <Arguments>-c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; sleep 1'</Arguments>
    <Requested>
      <Processors group="1">64</Processors>
      <Processors conj="Or" group="-1">1</Processors>
    </Requested>
  </Job>
  <Job>
    <Id>after</Id>
    <Arguments>-c 'kill -9 $$'</Arguments>
    <Dependency condition="OnFailure">range</Dependency>
  </Job>
</JobGroup>
"""


@pytest.fixture(params=["directory", "store"])
def jobs(request, tmp_path):
    """Where the jobs are, and how their documents are read."""
    text = JOBS.replace("OUT", str(tmp_path / "out"))
    if request.param == "directory":
        place = tmp_path / "jobs"
        place.mkdir()
        (place / "life.xml").write_text(text)
        return str(place), lambda: list(read(place / "life.xml"))
    place = tmp_path / "jobs.db"
    with store.open(place, create=True) as held, held.change() as change:
        change.put(text.encode())

    def documents():
        with store.open(place, read_only=True) as held:
            return [block for found in held.documents() for block in blocks(found.document)]

    return str(place), documents


def blocks(document):
    import io

    return read(io.BytesIO(document))


def played(place, state, slots):
    """What happened, in order."""
    commands = {
        hook: [SSSJOB, "condor", hook]
        + (
            []
            if hook == "prepare-job"
            else ["--documents", place, "--state", state, "--fold", "now", "--seconds", "600"]
        )
        for hook in HOOKS
    }
    commands["prepare-job-before-transfer"] = commands["prepare-job"]
    pace = Pace(initial_update=0.2, update=0.4, timeout=HANG)
    events = []
    simulate(slots, commands, events.append, pace)
    return events


def test_a_whole_life_leaves_what_each_job_used(jobs, tmp_path):
    place, documents = jobs
    events = played(
        place, str(tmp_path / "state"), [slot_ad(1, 4, 4096, 10**6), slot_ad(2, 1, 1024, 10**6)]
    )
    assert [event for event in events if event.what in ("bad reply", "failed", "not started")] == []
    fetched = {event.more: event.slot for event in events if event.what == "fetched"}
    assert fetched == {
        "range": "slot1@localhost",
        "alternatives": fetched["alternatives"],
        "after": fetched["after"],
    }
    [group] = documents()
    by_id = {job.id: job for job in group.jobs}

    # The job found its features with a shell one-liner.
    assert (tmp_path / "out").read_text() == "4 600\n"
    assert by_id["range"].get("ExitCode") == "3"
    assert by_id["range"].delivered.text("Processors") == "4"

    busy = by_id["alternatives"]
    assert busy.get("State") == "Completed"
    assert busy.get("ExitCode") == "0"
    assert busy.delivered.value("Duration") >= 1
    start, ran, cpu = (
        busy.properties.get("Extension", name="Starts")
        .text.rpartition("/")[2]
        .rstrip("+")
        .split(":")
    )
    assert 0 < float(cpu) <= float(ran) + 1
    assert busy.get("StartTime") == start
    assert busy.delivered.get("Memory", metric="Max").bytes > 1 << 20

    killed = by_id["after"]
    assert killed.get("ExitCode") == "137"
    assert "signal 9" in killed.get("StatusMessage")
    assert {job.get("StartCount") for job in group.jobs} == {"1"}


def test_nothing_but_the_jobs_changes_in_a_document(tmp_path):
    place = tmp_path / "jobs"
    place.mkdir()
    (place / "life.xml").write_text(JOBS.replace("OUT", str(tmp_path / "out")))
    played(str(place), str(tmp_path / "state"), [slot_ad(1, 4, 4096, 10**6)])
    text = (place / "life.xml").read_text()
    assert "<!-- three jobs for two slots -->" in text
    assert '<Processors op="GE">2</Processors>' in text


def test_a_slot_that_is_too_small_gets_nothing(tmp_path):
    place = tmp_path / "jobs"
    place.mkdir()
    (place / "one.xml").write_text(
        f"<Job><Id>1</Id><Executable>/bin/true</Executable><User>{USER or 'me'}</User>"
        "<Requested><Memory units='GB'>8</Memory></Requested></Job>"
    )
    events = played(str(place), str(tmp_path / "state"), [slot_ad(1, 4, 4096, 10**6)])
    assert [event.what for event in events] == ["no work"]


def test_each_hook_of_a_starter_knows_the_scratch_directory(tmp_path):
    log, words = tmp_path / "log", {}
    for name in ("prepare-job", "update-job-info", "job-exit"):
        words[name] = ["/bin/sh", "-c", f"echo {name} $_CONDOR_SCRATCH_DIR >>{log}"]
    waits = f"until grep -q update {log}; do sleep 0.05; done"
    job = Ad({"Cmd": "/bin/sh", "Arguments": f"-c '{waits}'", "Iwd": str(tmp_path)})
    hooks = Hooks(words, lambda *told: None)
    Starter(job, slot_ad(1, 4, 4096, 10**6), tmp_path, hooks, 0.01, 60).run()
    assert log.read_text().splitlines() == [f"{name} {tmp_path}" for name in words]


@pytest.mark.parametrize("hook", ["prepare-job", "update-job-info", "job-exit"])
def test_a_hook_of_a_starter_starts_without_what_takes_long_to_import(tmp_path, hook):
    """It is started for every job: `typing` with what it needs took a third of the time."""
    roads = [each for each in sys.path if each]
    code = f"import sys; sys.path += {roads}; from sssjob.__main__ import main; main()"
    words = ["condor", hook, f"--documents={tmp_path}", f"--state={tmp_path}/s", "--fold=never"]
    job = 'ClusterId = 7\nCmd = "/bin/true"\nGlobalJobId = "ce#7.0#1700000000"\nJobPid = 7\n'
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", "-c", code, *words,
         *(["exit"] if hook == "job-exit" else [])],
        input=job, env={**os.environ, "_CONDOR_SCRATCH_DIR": str(tmp_path)}, capture_output=True,
        text=True, check=True, timeout=HANG,
    )  # fmt: skip
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "sssjob.systems.condor.hooks.programs" in imported
    assert imported.isdisjoint({"typing", "enum", "re", "click", "sssjob.model"})


def test_an_update_waits_for_the_one_before(tmp_path):
    log, done = tmp_path / "log", tmp_path / "done"
    slow = f"echo begin >>{log}; until [ -e {done} ]; do sleep 0.05; done; echo end >>{log}"
    events = []
    hooks = Hooks({"update-job-info": ["/bin/sh", "-c", slow]}, lambda *told: events.append(told))
    waits = f"until [ -e {log} ]; do sleep 0.05; done; sleep 0.5; touch {done}"
    job = Ad({"Cmd": "/bin/sh", "Arguments": f"-c '{waits}'", "Iwd": str(tmp_path)})
    Starter(job, slot_ad(1, 4, 4096, 10**6), tmp_path, hooks, 0.01, 0.01).run()
    assert ("ended", "exited normally with status 0") in events
    told = log.read_text().split()
    assert told[::2] == ["begin"] * len(told[::2])
    assert told[1::2] == ["end"] * len(told[1::2])
