"""sssjob status: a batch system that is asked, files that are read, tables, watching."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from waiting import until

from sssjob import store
from sssjob.check.sources import check_source
from sssjob.cli import sssjob
from sssjob.cli import status as status_command
from sssjob.systems.slurm.status import table

DATA = Path(__file__).parents[1] / "data"
QUEUE = DATA / "lcginfo/slurm-24.11/squeue.json"
TEXT = DATA / "lcginfo/slurm-24.11/scontrol-show-job.txt"
COMMAND = Path(sys.executable).with_name("sssjob")


def run(*arguments, data=None):
    return CliRunner().invoke(sssjob, ["status", *map(str, arguments)], input=data)


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Puts a program in front of the others: what it prints, and how it ends."""
    place = tmp_path / "bin"
    place.mkdir()
    monkeypatch.setenv("PATH", f"{place}:/usr/bin:/bin")

    def make(name, script):
        program = place / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    return make


def test_a_system_is_asked_by_its_own_commands(command):
    command("squeue", f'[ "$*" = "--all --json" ] && [ "$SLURM_TIME_FORMAT" = %s ] && cat {QUEUE}')
    found = run("--from", "slurm")
    assert (found.exit_code, found.stderr) == (0, "")
    assert [line.partition("</Id>")[0] for line in found.stdout.splitlines()] == [
        "<Job><Id>52", "<Job><Id>53", "<Job><Id>54_[1,3,5,7,9%2]",
    ]  # fmt: skip


def test_a_system_that_prints_no_json_is_asked_for_text(command):
    command("squeue", "echo 'squeue: unrecognized option --json' >&2; exit 1")
    command("scontrol", f"cat {TEXT}")
    assert len(run("--from", "slurm").stdout.splitlines()) == 54


@pytest.mark.parametrize(
    "script, message",
    [
        ("echo 'squeue: error: slurmctld is down' >&2; exit 1", "returned 1: down"),
        ("sleep 60", "did not end within 0.2 seconds"),
        ("echo out of order", "no known format of records begins with 'out of order'"),
    ],
)
def test_a_system_that_does_not_answer_prints_nothing(command, script, message):
    command("squeue", script)
    command("scontrol", "echo down >&2; exit 1")
    found = run("--from", "slurm", "--timeout", "0.2")
    assert found.exit_code == 2
    assert found.stdout == ""
    assert message in found.stderr


def test_an_empty_answer_has_no_jobs_and_is_no_fault(command):
    command("qstat", "exit 0")
    for name in ("pbs", "gridengine"):
        found = run("--from", name)
        assert (found.exit_code, found.stdout) == (0, "")
        assert "no jobs" in found.stderr


def test_times_of_a_system_that_is_asked_are_its_own(command):
    """The commands print local times, and are told which."""
    text = '{"pbs_server":"s","Jobs":{"1.s":{"job_state":"Q","ctime":"Fri Nov 20 14:20:27 2026"}}}'
    command("qstat", f"[ \"$TZ\" = UTC ] && echo '{text}'")
    found = run("--from", "pbs")
    assert "<SubmitTime>1795184427</SubmitTime>" in found.stdout
    assert found.stderr == ""
    assert "1795180827" in run("--from", "pbs", "--tz", "Europe/Paris").stdout


def test_documents_go_into_a_store_with_their_history(tmp_path):
    address = tmp_path / "jobs.db"
    queue = json.loads(QUEUE.read_text())
    for state in ("RUNNING", "COMPLETED"):
        queue["jobs"][0]["job_state"] = [state]
        documents = run("-", data=json.dumps(queue)).stdout
        done = CliRunner().invoke(sssjob, ["store", "import", str(address), "-"], input=documents)
        assert done.exit_code == 0, done.output
    with store.open(address, read_only=True) as stored:
        assert stored.count() == 3
        assert [b"Completed" in each.document for each in stored.versions("52")] == [False, True]


def test_files_of_several_systems_are_told_apart(tmp_path):
    status = DATA / "status"
    found = run(
        QUEUE, status / "sge-xml/list-and-details.xml", status / "qstat-json/jobs.json",
        status / "qstat-xml/jobs.xml", DATA / "condor/condor_q.json",
        DATA / "records/flux/jobs.json",
    )  # fmt: skip
    assert found.exit_code == 0
    assert found.stdout.count("<Job>") == len(found.stdout.splitlines()) == 28
    written = tmp_path / "jobs.sss"
    written.write_text(found.stdout)
    assert not [item for item in check_source(written) if item.severity == "error"]


def test_what_cannot_be_read_is_told_with_its_place_and_the_rest_goes_on():
    found = run(DATA / "status/squeue-json/odd.json")
    assert found.exit_code == 1
    assert found.stdout.count("<Job>") == 5
    assert "odd.json:14: error: '' is no job id" in found.stderr


def test_people_get_a_table_of_used_and_asked_for():
    found = run("--table", DATA / "status/qstat-xml/jobs.xml")
    head, first = found.stdout.splitlines()[:2]
    assert head.split() == ["id", "name", "user", "state", "queue", "time", "processors", "memory"]
    assert first.split()[-6:] == ["Running", "batch", "0:30:01/1:00:00", "8", "1", "GB/2"] or (
        "0:30:01/1:00:00" in first and "1 GB/2 GB" in first
    )


def test_control_characters_of_a_name_do_not_reach_the_terminal():
    record = {"job_id": 1, "job_state": ["PENDING"], "name": "a\u009b2Jb"}
    found = run("--table", "-", data=json.dumps({"jobs": [record]}))
    assert "\u009b" not in found.stdout


def test_jobs_are_printed_as_json_objects():
    found = [json.loads(line) for line in run("--json", QUEUE).stdout.splitlines()]
    assert [each["items"][0]["text"] for each in found] == ["52", "53", "54_[1,3,5,7,9%2]"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((), "name a batch system"),
        (("--watch", "1", QUEUE), "--watch"),
        (("--watch", "1", "--from", "slurm", "-o", "x"), "--watch"),
        (("--failures", "2", "--from", "slurm"), "--watch"),
        (("--table", "--json", QUEUE), "cannot be used together"),
        (("--from", "lsf"), "known: condor"),
        (("--from", "squeue-json"), "no system that can be asked"),
        (("--from", "slurm", DATA / "condor/condor_q.json"), "recognised as condor"),
        (("no/such/file",), "No such file"),
    ],
)
def test_what_is_not_understood_exits_2(arguments, message):
    found = run(*arguments)
    assert found.exit_code == 2
    assert message in found.stderr


def test_accounting_of_slurm_points_here():
    found = CliRunner().invoke(sssjob, ["convert", "--from", "slurm-json", str(QUEUE)])
    assert found.exit_code == 2
    assert "sssjob status --from slurm" in found.stderr


def test_watching_prints_what_is_new_until_it_is_interrupted(command, tmp_path):
    """Each answer of the queue is another; what did not change is not printed again."""
    queue = json.loads(QUEUE.read_text())
    (tmp_path / "0").write_text(json.dumps(queue))
    queue["jobs"][1]["job_state"] = ["RUNNING"]
    queue["jobs"][1]["nodes"] = "n1"
    (tmp_path / "1").write_text(json.dumps(queue))
    command(
        "squeue",
        f"cd {tmp_path}; n=$(cat turn 2>/dev/null || echo 0); cat $n; [ $n = 1 ] || echo 1 > turn; "
        "echo asked >> turns",
    )
    with subprocess.Popen(
        [COMMAND, "status", "--from", "slurm", "--watch", "0.1"], stdout=subprocess.PIPE, text=True,
        env=os.environ,
    ) as process:  # fmt: skip
        turns = tmp_path / "turns"
        try:
            assert until(lambda: turns.exists() and turns.read_text().count("asked") > 3)
        finally:
            process.send_signal(signal.SIGINT)
        printed = process.stdout.read()
    assert process.returncode == 130
    ids = [line.partition("</Id>")[0].removeprefix("<Job><Id>") for line in printed.splitlines()]
    assert ids == ["52", "53", "54_[1,3,5,7,9%2]", "53"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("at", ["a finalizer", "anywhere"])
def test_an_interrupt_that_python_drops_ends_the_watching_too(at, monkeypatch):
    """What is raised while an object is finalized, as each process that was asked, goes nowhere."""
    rounds = []

    class Asked:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    def jobs(self, *_):
        rounds.append(len(rounds))
        if len(rounds) == 2:
            Asked() if at == "a finalizer" else signal.raise_signal(signal.SIGINT)
        return []

    def sleep(seconds):
        assert len(rounds) < 2, "it goes on"

    monkeypatch.setattr(status_command.Showing, "_jobs", jobs)
    monkeypatch.setattr(status_command.time, "sleep", sleep)
    # Who starts the tests in the background may have it ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        found = CliRunner().invoke(sssjob, ["status", "--from", "slurm", "--watch", "9"])
        assert (found.exit_code, rounds) == (130, [0, 1])
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def watched(tmp_path, *more):
    return subprocess.Popen(
        [COMMAND, "status", "--from", "slurm", "--watch", "0.1", *more], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ,
    )  # fmt: skip


def test_a_system_that_does_not_answer_is_told_once_and_watched_on(command, tmp_path):
    """It fails three times, for other reasons, and has a job of which nothing can be read then."""
    turns = tmp_path / "turns"
    command(
        "squeue",
        f"echo asked >> {turns}; n=$(wc -l < {turns}); "
        f"""[ $n = 1 ] || [ $n -gt 4 ] && exec cat {QUEUE}; """
        """[ $n = 2 ] && echo '{"jobs": [{' && exit 0; echo "down $n" >&2; exit 1""",
    )
    command("scontrol", "echo down >&2; exit 1")
    with watched(tmp_path) as process:
        try:
            assert until(
                lambda: turns.exists() and turns.read_text().count("asked") > 7,
                going=lambda: process.poll() is None,
            )
        finally:
            process.send_signal(signal.SIGINT)
        printed, said = process.communicate()
    assert process.returncode == 130
    assert len(printed.splitlines()) == 3  # none anew, as nothing has changed
    assert said.count("does not answer, and is asked again") == 1, said
    assert said.count("slurm answers again") == 1, said


def test_faults_of_records_are_told_once_while_they_are_watched(command, tmp_path):
    turns = tmp_path / "turns"
    odd = DATA / "status/squeue-json/odd.json"
    command("squeue", f"echo asked >> {turns}; exec cat {odd}")
    with watched(tmp_path) as process:
        try:
            assert until(
                lambda: turns.exists() and turns.read_text().count("asked") > 3,
                going=lambda: process.poll() is None,
            )
        finally:
            process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert said.count("error: '' is no job id") == 1, said


def test_watching_ends_after_so_many_failures_in_a_row_where_that_is_asked_for(command, tmp_path):
    turns = tmp_path / "turns"
    command(
        "squeue",
        f"echo asked >> {turns}; n=$(wc -l < {turns}); [ $n = 3 ] && exec cat {QUEUE}; exit 1",
    )
    command("scontrol", "echo 'all is down' >&2; exit 1")
    with watched(tmp_path, "--failures", "3") as process:
        _, said = process.communicate()
    assert (process.returncode, turns.read_text().count("asked")) == (2, 6)
    assert said.count("does not answer, and is asked again") == 2
    assert (
        said.splitlines()[-1]
        == "sssjob: error: scontrol --all --details --oneliner show jobs returned 1: all is down"
    )


@pytest.mark.parametrize("name", ["squeue-json", "slurn"])
def test_what_can_never_be_asked_is_not_watched(name):
    found = run("--from", name, "--watch", "1")
    assert found.exit_code == 2
    assert found.stderr.count("\n") == 1


RECORDED = sorted((Path(__file__).parents[1] / "data" / "lcginfo").glob("slurm-*/squeue.json"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.parent.name)
def test_all_members_of_a_real_squeue_are_read_or_known_to_be_left_out(path, tmp_path):
    assert "not read" not in CliRunner().invoke(sssjob, ["status", str(path)]).stderr
    newer = json.loads(path.read_bytes())
    for number, job in enumerate(newer["jobs"]):
        job["cosmic_rays"] = number
    (tmp_path / "newer.json").write_text(json.dumps(newer))
    result = CliRunner().invoke(sssjob, ["status", str(tmp_path / "newer.json")])
    told = [line for line in result.stderr.splitlines() if "not read" in line]
    assert [line.partition(": ")[2] for line in told] == [
        "notice: members of a job that are not read: cosmic_rays"
    ]
    assert result.exit_code == 0


def test_what_is_left_out_of_squeue_was_seen_and_is_not_read():
    seen = {
        name for path in RECORDED for job in json.loads(path.read_bytes())["jobs"] for name in job
    }
    left = [name for names in table.LEFT.values() for name in names]
    assert len(left) == len(set(left))
    assert set(left) <= seen
    assert not set(left) & {row.path[0] for row in table.JSON if row.path}
