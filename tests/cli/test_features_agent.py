"""The agent runs the very commands that scripts would run, for its own user only."""

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from daemons import user
from waiting import HANG, runs, until

from sssjob.features.batch import agent, client
from sssjob.features.read import read

DATA = Path(__file__).parents[1] / "data/batch"
COMMAND = [sys.executable, "-m", "sssjob"]
JOB = '<Job><Id>3</Id><Requested><Disk units="GB">5</Disk></Requested></Job>'
VARIABLES = {"SLURM_JOB_ID": "3", "SLURM_JOB_UID": str(os.geteuid()), "SLURM_JOB_NUM_NODES": "1",
             "SLURMD_NODENAME": "n1"}  # fmt: skip


# What a command imports of ours beside what the agent has.
IMPORTED = """\
import sys
from sssjob.__main__ import main
from sssjob.cli.features import agent
agent.prepare()
before = set(sys.modules)
sys.argv = sys.argv[1:]
try:
    main()
except SystemExit:
    late = set(sys.modules) - before
    print(sorted(name for name in late if name.startswith("sssjob")), file=sys.stderr)
"""


@pytest.fixture
def node(safe_path):
    """A node of Slurm: ``scontrol`` prints what a real one did."""
    (safe_path / "bin").mkdir()
    shown = f'case "$*" in *" node "*) cat {DATA}/scontrol-node.txt;; *" reservation") '
    shown += f"echo No reservations in the system;; *) cat {DATA}/scontrol-one-node.txt;; esac"
    program(safe_path, shown)
    (safe_path / "jobs").mkdir()
    (safe_path / "jobs/3.xml").write_text(JOB)
    return safe_path


def program(place, text):
    (place / "bin/scontrol").write_text(f"#!/bin/sh\n{text}\n")
    (place / "bin/scontrol").chmod(0o755)


def started(place):
    process = subprocess.Popen(
        [*COMMAND, "features", "agent", "--socket", f"{place}/run/agent"],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr.readline() == f"listening at {place}/run/agent\n"
    return process


@pytest.fixture
def listening(node):
    process = started(node)
    (node / "agent.pid").write_text(str(process.pid))
    yield node
    process.terminate()
    _, said = process.communicate(timeout=HANG)
    assert "Traceback" not in said


def words(place, command, *more):
    root = ("--for", "slurm", "--root", f"{place}/mjf", "--documents", f"{place}/jobs")
    return [*COMMAND, "features", command, *root, *more]


def asking(place, command):
    return [sys.executable, "-IS", client.__file__, f"{place}/run/agent", *command]


def run(place, command, **more):
    environment = {**VARIABLES, "PATH": f"{place}/bin:{os.environ['PATH']}"}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=HANG, check=False, **more
    )


def tree(place):
    return {
        str(path.relative_to(place)): path.read_text()
        for path in sorted(place.rglob("*"))
        if path.is_file() and path.name not in ("jobstart_secs", ".sssjob")
    }


def test_the_agent_does_what_the_command_does(listening):
    """Each step by the command alone, and by the agent: outputs, exit codes, and all files."""
    seen = []
    for call in (lambda place, command: command, asking):
        steps = []
        for step in (
            words(listening, "prolog"),
            words(listening, "epilog"),
            words(listening, "epilog", "--for", "x"),
        ):
            done = run(listening, call(listening, step))
            steps.append((done.returncode, done.stdout, done.stderr, tree(listening / "mjf")))
            if step[4] == "prolog":
                assert read(listening / "mjf/3/jobfeatures").values["allocated_cpu"] == 1
        seen.append((steps, (listening / "jobs/3.xml").read_text()))
        (listening / "jobs/3.xml").write_text(JOB)
    assert seen[0] == seen[1]
    assert [code for code, *_ in seen[0][0]] == [0, 0, 2]


def test_where_nobody_listens_the_client_runs_the_command(node):
    done = run(node, asking(node, words(node, "prolog")))
    assert (done.returncode, done.stderr) == (0, "")
    assert read(node / "mjf/3/jobfeatures").values["job_id"] == "3"


def test_an_agent_runs_nothing_but_prologs_and_epilogs(listening):
    """What it does not run, the client runs itself."""
    (listening / "over").mkdir()
    (listening / "over/shutdowntime").write_text("1\n")
    step = [*COMMAND, "features", "expire", f"{listening}/over"]
    done = run(listening, asking(listening, step))
    assert (done.returncode, done.stdout) == (0, f"{listening}/over: removed shutdowntime\n")


IMPATIENT = """\
import sys
from sssjob.features.batch import client
client._PATIENCE = 0.2
sys.exit(client.main(sys.argv[1], sys.argv[2:]))
"""


def test_an_agent_that_does_not_answer_is_done_without_and_does_nothing_later(listening):
    """A prolog that came later than its job has ended would make what nobody takes away."""
    agent = int((listening / "agent.pid").read_text())
    os.kill(agent, signal.SIGSTOP)
    try:
        step = words(listening, "prolog")
        command = [sys.executable, "-c", IMPATIENT, f"{listening}/run/agent", *step]
        with (listening / "log").open("w") as log:  # which the agent has, too, until it goes on
            done = subprocess.run(
                command, env={**VARIABLES, "PATH": f"{listening}/bin:{os.environ['PATH']}"},
                stdout=log, stderr=log, timeout=HANG, check=False,
            )  # fmt: skip
    finally:
        os.kill(agent, signal.SIGCONT)
    said = (listening / "log").read_text()
    assert (done.returncode, "run/agent: no answer within 0.2 s" in said) == (0, True)
    assert read(listening / "mjf/3/jobfeatures").values["job_id"] == "3"
    assert run(listening, asking(listening, words(listening, "epilog"))).returncode == 0
    assert run(listening, asking(listening, words(listening, "epilog"))).returncode == 0
    assert not (listening / "mjf/3").exists()


@pytest.mark.parametrize("kind", ["file", "link", "directory"])
def test_what_is_no_socket_is_not_taken_for_an_agents(node, kind):
    place = node / "run/agent"
    place.parent.mkdir()
    (node / "kept").write_text("kept\n")
    if kind == "file":
        place.write_text("kept\n")
    elif kind == "link":
        place.symlink_to(node / "kept")
    else:
        place.mkdir()
    done = run(node, [*COMMAND, "features", "agent", "--socket", str(place)])
    assert (done.returncode, done.stderr) == (
        2, f"sssjob: error: {place}: it is there, and is no socket\n"
    )  # fmt: skip
    assert place.is_dir() or place.read_text() == "kept\n"


@pytest.mark.parametrize(
    "octets",
    [
        b"", b"x", b"\0" * 8, b"\xff" * 8, (1 << 40).to_bytes(8, "little"),
        (30).to_bytes(8, "little") + b"2\0features\0prolog", (4).to_bytes(8, "little") + b"x\0y\0",
        (3).to_bytes(8, "little") + b"9\0\0",
    ],
)  # fmt: skip
def test_what_is_no_call_costs_its_caller_only(listening, octets):
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(f"{listening}/run/agent")
        if octets:
            socket.send_fds(line, [octets], [1, 2])
        line.shutdown(socket.SHUT_WR)
        line.settimeout(HANG)
        assert line.recv(8) == b""
    assert run(listening, asking(listening, words(listening, "prolog"))).returncode == 0


def test_what_is_imported_for_a_call_is_there_already(listening):
    """Nothing of ours that a child imports: it would do so for each job."""
    traced = run(listening, asking(listening, words(listening, "prolog")))
    assert traced.returncode == 0
    for command in ("prolog", "epilog"):
        step = ["sssjob", *words(listening, command)[3:]]
        done = run(listening, [sys.executable, "-c", IMPORTED, *step])
        assert done.stderr.splitlines()[-1] == "[]"


def test_a_signal_to_the_script_ends_what_the_agent_runs(listening):
    program(listening, f"echo $$ > {listening}/pid; exec sleep 600")
    environment = {**VARIABLES, "PATH": f"{listening}/bin:{os.environ['PATH']}"}
    step = words(listening, "prolog", "--seconds", "600")
    process = subprocess.Popen(asking(listening, step), env=environment)
    pid = until(lambda: (listening / "pid").exists() and (listening / "pid").read_text().strip())
    process.terminate()
    assert process.wait(HANG) == 128 + signal.SIGTERM
    os.kill(int(pid), signal.SIGKILL)  # which its own group would have ended with it


def test_a_prolog_ends_with_its_script_however_that_is_killed(listening):
    """It would make directories behind the epilog of its job, which the system runs then."""
    ids = f"echo $PPID > {listening}/new; mv {listening}/new {listening}/pid"
    program(listening, f"{ids}; cat {listening}/go")
    os.mkfifo(listening / "go")
    environment = {**VARIABLES, "PATH": f"{listening}/bin:{os.environ['PATH']}"}
    step = words(listening, "prolog", "--seconds", "600")
    process = subprocess.Popen(asking(listening, step), env=environment)
    assert until((listening / "pid").exists)
    pid = (listening / "pid").read_text().strip()
    process.kill()
    process.wait()
    assert until(lambda: not runs(pid))
    with suppress(OSError):  # what it asked, if that still waits
        os.close(os.open(listening / "go", os.O_WRONLY | os.O_NONBLOCK))
    assert not (listening / "mjf/3").exists()


@pytest.mark.parametrize("with_agent", [False, True])
def test_what_is_killed_while_the_agent_runs_it_is_done_once_more(listening, with_agent):
    """The log tells it, and the job has its features."""
    shown = (listening / "bin/scontrol").read_text().split("\n", 1)[1]
    ids = f'echo "$PPID $$" > {listening}/new; mv {listening}/new {listening}/pids'
    program(listening, f"[ -e {listening}/pids ] || {{ {ids}; exec sleep 600; }}\n{shown}")
    environment = {**VARIABLES, "PATH": f"{listening}/bin:{os.environ['PATH']}"}
    step = words(listening, "prolog", "--seconds", "600")
    process = subprocess.Popen(
        asking(listening, step), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    until((listening / "pids").exists)
    child, asked = (listening / "pids").read_text().split()
    agent = [(listening / "agent.pid").read_text()] if with_agent else []
    for pid in (*agent, child, asked):
        os.kill(int(pid), signal.SIGKILL)
    _, said = process.communicate(timeout=HANG)
    told = "run/agent: who ran it was killed; it is done once more"
    assert (process.returncode, told in said) == (0, True)
    assert read(listening / "mjf/3/jobfeatures").values["allocated_cpu"] == 1


def test_a_second_agent_at_one_place_is_refused(listening):
    done = run(listening, [*COMMAND, "features", "agent", "--socket", f"{listening}/run/agent"])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"sssjob: error: {listening}/run/agent: an agent listens there already\n"


def test_what_a_killed_agent_left_is_taken_over(node):
    first = started(node)
    first.kill()
    first.communicate(timeout=HANG)
    assert (node / "run/agent").is_socket()
    second = started(node)
    try:
        assert run(node, asking(node, words(node, "prolog"))).returncode == 0
    finally:
        second.terminate()
        second.communicate(timeout=HANG)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_user_is_answered_nothing(listening):
    place = listening / "run/agent"
    assert place.stat().st_mode & 0o777 == 0o600
    listening.chmod(0o755)
    place.chmod(0o666)  # even so, the kernel says who calls
    code = (
        f"import os, socket; os.setuid({user().pw_uid}); line = socket.socket(socket.AF_UNIX);"
        f"line.connect({str(place)!r}); line.settimeout({HANG}); print(line.recv(8))"
    )
    done = run(listening, [sys.executable, "-c", code])
    assert done.stdout == "b''\n"


# Listens at a place as a user, says what a caller sent and handed over, and answers a number.
LIAR = """\
import os, socket, sys
place, number, answer = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
listener = socket.socket(socket.AF_UNIX)
listener.bind(place)
os.setuid(number)
listener.listen()
print("listening", flush=True)
line, _ = listener.accept()
octets, files, _, _ = socket.recv_fds(line, 8, 2)
print(len(octets), len(files), flush=True)
line.sendall(answer.to_bytes(8, "little", signed=True))
line.recv(1)
"""


def asked_of_liar(node, number, answer):
    """What the client did where a liar listens, and what that one was sent."""
    (node / "run").mkdir()
    liar = subprocess.Popen(
        [sys.executable, "-c", LIAR, f"{node}/run/agent", str(number), str(answer)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert liar.stdout.readline() == "listening\n"
        done = run(node, asking(node, words(node, "prolog")))
        sent, _ = liar.communicate(timeout=HANG)
    finally:
        liar.kill()
        liar.communicate()
    assert done.returncode == 0
    assert read(node / "mjf/3/jobfeatures").values["job_id"] == "3"
    return sent, done.stderr


LINE = re.compile(r"20[0-9-]{8}T[0-9:]{8}Z prolog slurm -: (?P<words>.*)\n")  # as of the log


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
@pytest.mark.parametrize("answer", [0, 1 << 20])
def test_another_user_who_listens_is_handed_nothing(node, answer):
    sent, said = asked_of_liar(node, user().pw_uid, answer)
    assert sent == "0 0\n"
    assert LINE.fullmatch(said)["words"] == (
        f"{node}/run/agent: the user {user().pw_uid} listens there, who is not this one (0); "
        "it is done without"
    )


@pytest.mark.parametrize("answer", [1, -1, -(1 << 62)])
def test_a_number_that_is_no_process_is_never_signalled(node, answer):
    sent, said = asked_of_liar(node, os.geteuid(), answer)
    assert (sent, f"run/agent: {answer} is no process" in said) == ("8 2\n", True)


@pytest.mark.skipif(os.geteuid() != 0, reason="a user may have his own in a sticky directory")
def test_a_place_that_others_can_write_is_refused(tmp_path):
    done = run(tmp_path, [*COMMAND, "features", "agent", "--socket", str(tmp_path / "agent")])
    assert (done.returncode, "can be written by others" in done.stderr) == (2, True)


def test_a_call_that_is_too_large_is_done_without_the_agent(listening):
    large = {f"X{number}": "x" * 100_000 for number in range(agent.LIMIT // 100_000 + 1)}
    environment = {**VARIABLES, **large}
    done = subprocess.run(
        asking(listening, words(listening, "prolog")), env=environment, capture_output=True,
        text=True, timeout=HANG, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()[0]) == (
        1, f"JOBFEATURES={listening}/mjf/3/jobfeatures"
    )  # fmt: skip
