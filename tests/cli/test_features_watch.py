"""Notices are printed, announced, passed on, and signalled to the payload that runs meanwhile."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest
from click.testing import CliRunner
from http_answers import serving
from json_commands import keeps_to_its_schema
from waiting import HANG, until

from sssjob.cli import sssjob
from sssjob.features.keys import MACHINE_FEATURES
from sssjob.features.read import read
from sssjob.features.write import write

FAR, PAST = 4000000000, 1795000000


@pytest.fixture
def job(safe_path, monkeypatch):
    """The directories of a job that has to have ended in the year 2096."""
    write({"total_cpu": 8}, safe_path / "machine")
    write({"shutdowntime_job": FAR}, safe_path / "job")
    monkeypatch.chdir(safe_path)
    monkeypatch.setenv("MACHINEFEATURES", f"{safe_path}/machine")
    monkeypatch.setenv("JOBFEATURES", f"{safe_path}/job")
    return safe_path


def watch(*words):
    return CliRunner().invoke(sssjob, ["features", "watch", *words])


def test_a_notice_is_printed_with_its_source(job):
    done = watch("--once", "--from", "features")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == (
        "shutdowntime_job  4000000000 (2096-10-02T07:06:40Z) by features: $JOBFEATURES\n"
    )


def test_a_notice_as_data(job):
    done = watch("--once", "--from", "features", "--json")
    row = json.loads(done.stdout)
    keeps_to_its_schema("features watch", row)
    assert row == {
        "key": "shutdowntime_job", "value": FAR, "source": "features", "why": "$JOBFEATURES"
    }  # fmt: skip


def test_where_no_shutdown_is_announced_the_exit_code_says_so(job):
    (job / "job/shutdowntime_job").unlink()
    assert (watch("--once", "--from", "features").exit_code, watch("--once").exit_code) == (1, 1)


def test_a_source_that_was_named_and_does_not_answer_is_told(job, monkeypatch):
    monkeypatch.setenv("PATH", str(job))
    done = watch("--once", "--from", "features", "--from", "condor", "--node", "h")
    assert (done.exit_code, done.stdout.count("\n")) == (2, 1)
    assert done.stderr.startswith("sssjob: condor: Error running condor_status: it is not in ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--from", "cloud"], "'cloud' is not one of features, systemd, kubernetes"),
        (["--once", "--", "true"], "--once looks once and runs no COMMAND"),
        (["--machine", "nowhere"], "'nowhere' does not exist"),
        (["--signal", "KILL"], "'KILL' is not one of"),
    ],
)
def test_what_cannot_be_meant_is_refused(job, words, said):
    done = watch(*words)
    assert (done.exit_code, said in done.stderr) == (2, True)


def test_a_notice_is_announced_in_a_directory_and_a_program_is_called(job):
    write({"job_id": "7"}, job / "told")
    (job / "program").write_text(f'#!/bin/sh\necho "$@" > {job}/called\n')
    (job / "program").chmod(0o755)
    done = watch("--once", "--from", "features", "--job", "told", "--call", "./program")
    assert (done.exit_code, done.stderr) == (0, "")
    assert read("told").values["shutdowntime_job"] == FAR
    assert (job / "called").read_text() == f"shutdowntime_job {FAR} features\n"


def test_a_program_that_fails_is_told_and_nothing_else_changes(job):
    done = watch("--once", "--from", "features", "--call", "false")
    assert (done.exit_code, done.stderr) == (0, "sssjob: false returned 1\n")


def running(*words, **more):
    return subprocess.Popen(
        [sys.executable, "-m", "sssjob", "features", "watch", "--from", "features", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["TERM", "USR1"])
def test_a_payload_is_signalled_when_its_end_is_near(job, name):
    write({"shutdowntime_job": FAR}, job / "job")
    # The notice is longer than what is left, so that the end is near at once.
    process = running("--notice", str(FAR), "--signal", name, "--", "sleep", "600")
    printed, said = process.communicate(timeout=HANG)
    assert (process.returncode, said) == (128 + getattr(signal, f"SIG{name}"), "")
    assert printed.startswith(f"shutdowntime_job  {FAR}")


COUNTS = (
    "trap 'echo got >> signals' USR1; echo ready > ready; until [ -e end ]; do sleep 0.05; done"
)


def test_an_end_that_moves_a_little_is_signalled_once(job):
    """Once more only when it was called off, or put off, and comes near again."""
    now = int(time.time())
    write({"shutdowntime_job": FAR}, job / "job")
    process = running(
        "--every", "0.1", "--notice", "600", "--signal", "USR1", "--", "sh", "-c", COUNTS
    )
    assert process.stdout.readline().startswith(f"shutdowntime_job  {FAR} ")
    assert until((job / "ready").exists)
    for number, moment in enumerate([now + 500, now + 501, now + 499, FAR, now + 502]):
        write({"shutdowntime_job": moment}, job / "job")
        assert process.stdout.readline().startswith(f"shutdowntime_job  {moment} ")
        wanted = 1 if number < 4 else 2
        assert until(lambda: (job / "signals").exists())
        assert until(lambda wanted=wanted: (job / "signals").read_text().count("got") == wanted)
    (job / "end").touch()
    process.communicate(timeout=HANG)
    assert (process.returncode, (job / "signals").read_text()) == (0, "got\ngot\n")


# The code of the payload says that it was signalled, which it can be once it is ready.
ENDS = "trap 'exit 5' USR1; echo ready > ready; while :; do sleep 0.05; done"


def ended(job, process):
    """The exit code of a watch whose payload's end has come near."""
    assert until((job / "ready").exists)
    write({"shutdowntime_job": int(time.time()) + 500}, job / "job")
    return process.wait(HANG)


@pytest.mark.parametrize("closed", ["stdout", "stderr", "both"])
def test_a_payload_goes_on_where_nothing_can_be_printed(job, closed):
    with open("/dev/full", "w") as nowhere:
        streams = {each: nowhere for each in ("stdout", "stderr") if closed in (each, "both")}
        process = subprocess.Popen(
            [sys.executable, "-m", "sssjob", "features", "watch", "--from", "features", "--from",
             "aws", "--url", "http://127.0.0.1:1", "--every", "0.1", "--notice", "600",
             "--signal", "USR1", "--", "sh", "-c", ENDS],
            **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **streams},
        )  # fmt: skip
        assert ended(job, process) == 5


def test_a_program_that_hangs_does_not_delay_the_signal(job):
    wait = "until [ -e end ]; do sleep 0.05; done"
    (job / "program").write_text(f"#!/bin/sh\n{wait}\n")
    (job / "program").chmod(0o755)
    process = running(
        "--call", "./program", "--seconds", str(HANG), "--every", "0.1", "--notice", "600",
        "--signal", "USR1", "--", "sh", "-c",
        f"trap 'echo signalled > signalled' USR1; echo ready > ready; {wait}",
    )  # fmt: skip
    assert until((job / "ready").exists)
    write({"shutdowntime_job": int(time.time()) + 500}, job / "job")
    assert until((job / "signalled").exists)  # while the first call waits
    (job / "end").touch()
    process.communicate(timeout=HANG)
    assert process.returncode == 0


@pytest.mark.parametrize("code", [0, 7])
def test_the_exit_code_is_that_of_the_payload(job, code):
    process = running("--", "sh", "-c", f"exit {code}")
    process.communicate(timeout=HANG)
    assert process.returncode == code


def test_a_payload_that_is_not_there_is_told(job):
    done = watch("--", "./nothing-of-this-name")
    assert (done.exit_code, "nothing-of-this-name" in done.stderr) == (2, True)


SENT = ("TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "ALRM", "XCPU", "VTALRM", "RTMIN")


@pytest.mark.parametrize("name", SENT)
def test_a_signal_for_the_command_goes_to_the_payload(job, name):
    """Batch systems warn a job by USR1 or XCPU; it may do something about it and go on."""
    number = getattr(signal, f"SIG{name}")
    waits = "until [ -e end ]; do sleep 0.05; done"
    process = running(
        "--", "sh", "-c", f"trap 'touch got' {int(number)}; touch ready; {waits}; exit 7"
    )
    assert until((job / "ready").exists)
    os.kill(process.pid, number)
    assert until((job / "got").exists)
    (job / "end").touch()
    process.communicate(timeout=HANG)
    assert process.returncode == 7


NOTES = (
    "trap 'echo USR1 >> got' USR1; trap 'echo TERM >> got' TERM; trap 'echo USR2 >> got' USR2; "
    "touch ready; until [ -e end ]; do sleep 0.05; done"
)


@pytest.mark.parametrize("first", ["USR1", "TERM"])
def test_a_signal_that_was_sent_to_all_processes_reaches_the_payload_once(job, first):
    """Many programs take the second one for an order to break off."""
    process = running("--", "sh", "-c", NOTES, start_new_session=True)
    assert until((job / "ready").exists)
    got = job / "got"
    number = getattr(signal, f"SIG{first}")
    for times in (1, 2):
        os.killpg(process.pid, number)
        assert until(lambda times=times: got.exists() and got.read_text().count(first) == times)
        # Signals are handed on in order: when this one is there, no other comes.
        os.kill(process.pid, signal.SIGUSR2)
        assert until(lambda times=times: got.read_text().count("USR2") == times)
        assert got.read_text().count(first) == times
    (job / "end").touch()
    process.communicate(timeout=HANG)
    assert process.returncode == 0


def test_a_payload_with_a_group_of_its_own_is_handed_what_others_of_the_job_are_sent(job):
    process = running(
        "--", sys.executable, "-c",
        "import os, sys; os.setsid(); os.execvp(sys.argv[1], sys.argv[1:])", "sh", "-c", NOTES,
        start_new_session=True,
    )  # fmt: skip
    assert until((job / "ready").exists)
    os.killpg(process.pid, signal.SIGUSR1)
    assert until((job / "got").exists)
    (job / "end").touch()
    process.communicate(timeout=HANG)
    assert process.returncode == 0


@pytest.mark.parametrize("name", ["TERM", "USR1"])
def test_the_exit_code_is_that_of_the_payload_whatever_signal_comes_behind_its_end(job, name):
    """Signals without a pause from its end until the command has ended, too."""
    process = running("--", "sh", "-c", f"trap '' {name}; touch ready; read line; exit 7",
                      stdin=subprocess.PIPE)  # fmt: skip
    assert until((job / "ready").exists)
    process.stdin.close()  # so that the payload ends
    # Not reaped, the number stays that of the command.
    while not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
        os.kill(process.pid, getattr(signal, f"SIG{name}"))
    assert process.wait(HANG) == 7


def test_a_watch_ends_with_its_payload_though_another_thread_asks_for_its_end_just_then(
    job, monkeypatch
):  # fmt: skip
    monkeypatch.setattr(subprocess.Popen, "poll", lambda process: None)
    done = watch("--from", "features", "--every", "86400", "--", "sh", "-c", "exit 7")
    assert done.exit_code == 7


def test_a_signal_that_is_ignored_is_ignored_by_the_payload_too(job):
    process = running(
        "--", "sh", "-c", "touch ready; until [ -e end ]; do sleep 0.05; done; exit 7",
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )  # fmt: skip
    assert until((job / "ready").exists)
    os.kill(process.pid, signal.SIGHUP)
    (job / "end").touch()
    process.communicate(timeout=HANG)
    assert process.returncode == 7


@pytest.mark.parametrize("name", ["USR1", "TERM"])
def test_a_signal_while_the_payload_is_started_goes_to_it(job, monkeypatch, name):
    start, number = subprocess.Popen, getattr(signal, f"SIG{name}")

    def signalled(*given, **options):
        os.kill(os.getpid(), number)  # before anybody has the process
        return start(*given, **options)

    monkeypatch.setattr("sssjob.cli.features.watch.subprocess.Popen", signalled)
    assert watch("--from", "features", "--", "sleep", "600").exit_code == 128 + number


@contextmanager
def hanging():
    """A service that answers nothing until this ends."""
    goes_on = threading.Event()
    with serving(lambda request: goes_on.wait(HANG) and (404, {}, b"")) as (url, asked):
        try:
            yield url, asked
        finally:
            goes_on.set()


def test_the_first_notice_waits_for_no_source_that_hangs(job):
    write({"shutdowntime_job": int(time.time()) + 500}, job / "job")
    with hanging() as (url, _):
        process = running(
            "--from", "aws", "--url", url, "--seconds", str(HANG), "--notice", "600",
            "--signal", "USR1", "--", "sh", "-c", "exec sleep 600",
        )  # fmt: skip
        process.communicate(timeout=HANG)
    assert process.returncode == 128 + signal.SIGUSR1


def test_a_watch_ends_with_its_payload_whatever_hangs(job):
    """Neither a source nor a call has it wait, and neither is left behind."""
    (job / "program").write_text("#!/bin/sh\necho $$ > pid.part; mv pid.part pid; exec sleep 6000")
    (job / "program").chmod(0o755)
    with hanging() as (url, asked):
        process = running(
            "--from", "aws", "--url", url, "--seconds", str(HANG), "--every", str(HANG),
            "--call", "./program", "--", "sh", "-c",
            "until [ -e end ]; do sleep 0.05; done; exit 7",
        )  # fmt: skip
        assert until(lambda: asked and (job / "pid").exists())
        (job / "end").touch()
        _, said = process.communicate(timeout=HANG)
    assert process.returncode == 7
    assert said == "sssjob: ./program has not been told all changes: 1\n"
    called = int((job / "pid").read_text())
    assert until(lambda: not os.path.exists(f"/proc/{called}"))


def test_one_look_gives_a_source_its_seconds_for_all_questions(job):
    with hanging() as (url, _):
        done = watch("--once", "--from", "features", "--from", "aws", "--url", url,
                     "--seconds", "0.3")  # fmt: skip
    assert (done.exit_code, done.stdout.count("\n")) == (2, 1)
    assert done.stderr.startswith("sssjob: aws: ")


def test_what_is_announced_is_called_off_though_the_directory_is_read(job, monkeypatch):
    """The announcement stands in the directory that ``features`` reads, also after a kill."""
    monkeypatch.setenv("MACHINEFEATURES", f"{job}/machine")
    found = {"/latest/meta-data/spot/instance-action": SPOT}

    def answer(request):
        body = found.get(request.path)
        return (404, {}, b"") if body is None else (200, {"Content-Length": str(len(body))}, body)

    with serving(answer) as (url, _):
        words = ("--once", "--from", "features", "--from", "aws", "--url", url,
                 "--machine", f"{job}/machine", "--seconds", str(HANG))  # fmt: skip
        first = watch(*words)
        assert read(job / "machine", MACHINE_FEATURES).values["shutdowntime"] == FAR - 10
        found.clear()
        again = watch(*words)
    assert [each.stdout.count("by aws: spot") for each in (first, again)] == [1, 0]
    assert "shutdowntime " not in again.stdout
    assert "shutdowntime" not in read(job / "machine", MACHINE_FEATURES).values


SPOT = b'{"action": "terminate", "time": "2096-10-02T07:06:30Z"}'


def test_without_a_payload_a_signal_ends_the_command(job):
    process = running()
    assert process.stdout.readline().startswith("shutdowntime_job")
    process.terminate()
    process.communicate(timeout=HANG)
    assert process.returncode in (128 + signal.SIGTERM, -signal.SIGTERM)


def test_what_moves_and_is_called_off_is_told_while_it_watches(job):
    process = running("--every", "0.1")
    assert process.stdout.readline().startswith(f"shutdowntime_job  {FAR} ")
    write({"shutdowntime_job": FAR + 60}, job / "job")
    assert process.stdout.readline().startswith(f"shutdowntime_job  {FAR + 60} ")
    write({"job_id": "7"}, job / "job")
    assert process.stdout.readline() == "shutdowntime_job  called off\n"
    process.terminate()
    process.communicate(timeout=HANG)


def service(found):
    def answer(request):
        body = found.get(request.path)
        return (404, {}, b"") if body is None else (200, {"Content-Length": str(len(body))}, body)

    return serving(answer)


def discover(url, *words):
    return CliRunner().invoke(sssjob, ["features", "discover", "--service", url, *words])


PLACES = {
    "/latest/meta-data/machinefeatures": b"http://169.254.169.253/machinefeatures",
    "/latest/meta-data/jobfeatures": b"/run/mjf/it's",
}


def test_a_virtual_machine_exports_what_its_metadata_names():
    with service(PLACES) as (url, _):
        done, data = discover(url), discover(url, "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    shell = f'{done.stdout}echo "$MACHINEFEATURES|$JOBFEATURES"'
    said = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True)
    assert said.stdout == "http://169.254.169.253/machinefeatures|/run/mjf/it's\n"
    keeps_to_its_schema("features discover", json.loads(data.stdout))
    assert json.loads(data.stdout)["JOBFEATURES"] == "/run/mjf/it's"


def test_metadata_without_features_and_no_service_at_all():
    with service({}) as (url, _):
        done = discover(url)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == f"{url} has neither machinefeatures nor jobfeatures\n"
    none = discover("http://127.0.0.1:1")
    assert (none.exit_code, none.stderr.startswith("sssjob: error: ")) == (2, True)
