"""Ctrl-C and SIGTERM end every command that reads, at once and alike, and leave no half a file."""

import fcntl
import os
import signal
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest
from waiting import until

from sssjob import cli
from sssjob.cli.signals import Terminated, is_ending, terminable

ROOT = Path(__file__).parents[2]
COMMAND = Path(sys.executable).with_name("sssjob")
DOCUMENT = b"<Jobs><Job><Id>1</Id><Executable>/bin/true</Executable></Job>\n<Job>"
RECORDS = b"JobID|User|State|Start|End\n7|amy|COMPLETED|1|2\n"
# Each waits for the rest of standard input when the signal comes.
READING = {
    "validate -": DOCUMENT, "validate --workers 2 -": DOCUMENT, "show -": DOCUMENT,
    "query //Id -": DOCUMENT, "query Id -": DOCUMENT, "canon -": DOCUMENT,
    "diff - {job}": DOCUMENT, "repair -": DOCUMENT, "repair -o {out} -": DOCUMENT,
    "transform to-3.1.0 -": DOCUMENT, "transform to-3.1.0 -o {out} -": DOCUMENT,
    "store import {store} -": DOCUMENT, "translate --to sbatch --from sss -": DOCUMENT,
    "status --from slurm -": b'{"jobs": [', "convert --from slurm -": RECORDS,
    "convert --from slurm -o {out} -": RECORDS, "convert --from slurm --workers 2 -": RECORDS,
    "deliver {job} --record -": RECORDS, "report --from slurm -": RECORDS,
    "audit --from slurm -": RECORDS, "explain -": DOCUMENT, "match {job} --offers -": b"[",
    "alternatives -": DOCUMENT, "layout -": DOCUMENT, "graph -": DOCUMENT,
    "graph --svg {out} -": DOCUMENT, "profile -": DOCUMENT, "condor ad -": DOCUMENT,
    "lcginfo lrms --from sss -": DOCUMENT, "lcginfo backtest -": DOCUMENT,
}  # fmt: skip


def unread(pipe):
    """How many bytes of a pipe nobody has read yet."""
    (count,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))
    return count


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
@pytest.mark.parametrize("words", READING)
def test_a_signal_ends_a_command_with_its_number_and_leaves_nothing(words, number, tmp_path):
    job = tmp_path / "job.xml"
    job.write_bytes(DOCUMENT.replace(b"<Jobs>", b"").partition(b"\n")[0])
    out, store = tmp_path / "out", tmp_path / "jobs.db"
    called = words.format(job=job, out=out, store=store).split()
    with subprocess.Popen(
        [COMMAND, *called], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdin.write(READING[words])
        process.stdin.flush()
        try:
            assert until(lambda: unread(process.stdin) == 0, going=lambda: process.poll() is None)
        finally:
            process.send_signal(number)
        said = process.stderr.read().decode()
        process.stdin.close()
    # Whoever dies of a signal is told by a shell as 128 and its number, too.
    assert process.returncode in (-number, 128 + number), said
    assert not said.strip(), said
    assert not out.exists()
    assert {path.name.partition("-")[0] for path in tmp_path.iterdir()} <= {"job.xml", "jobs.db"}


# More than a pipe holds.
JOBS = b"".join(b"<Job><Id>%0200d</Id></Job>\n" % number for number in range(1000))


@pytest.mark.parametrize(
    "words", ["show", "query //Job/Id", "canon", "convert --from sss", "explain"]
)
def test_a_reader_that_closes_the_pipe_ends_a_command_as_it_ends_others(words, tmp_path):
    jobs = tmp_path / "jobs.sss"
    jobs.write_bytes(
        JOBS.replace(b"<Job>", b"<Job><Requested><Processors>1</Processors></Requested>")
    )
    with subprocess.Popen(
        [COMMAND, *words.split(), jobs], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        process.stderr.read()
    assert process.returncode == -signal.SIGPIPE


@pytest.mark.parametrize("words", ["show", "query //Job/Id", "schema validate", "--help", "canon"])
def test_what_finds_standard_output_closed_says_so(words, tmp_path):
    jobs = tmp_path / "jobs.sss"
    jobs.write_bytes(JOBS)
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", COMMAND, *words.split(),
         *([jobs] if "-" not in words and "schema" not in words else [])],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "sssjob: error: standard output: it is closed\n")


def test_a_file_does_not_become_a_standard_stream_that_was_closed(tmp_path):
    jobs, out = tmp_path / "jobs.sss", tmp_path / "out"
    jobs.write_bytes(JOBS)
    called = [COMMAND, "convert", "--from", "sss", jobs, "-o", out]
    done = subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *called])
    assert done.returncode == 0
    assert out.read_bytes().count(b"<Job>") == JOBS.count(b"<Job>")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_another_exception_hides_still_ends_the_command(number):
    """It may come between a handle that is closed and the note that it is."""
    rounds = 0
    with pytest.raises(Terminated) as ended, terminable() as go_on:  # noqa: PT012  (the block)
        while rounds < 2:
            go_on()
            rounds += 1
            with suppress(OSError):
                try:
                    signal.raise_signal(number)
                finally:
                    os.close(-1)
    assert (rounds, ended.value.code) == (1, 128 + number)


@pytest.mark.parametrize("ending", [lambda: None, lambda: os.close(-1), lambda: sys.exit(0)])
def test_a_block_that_ends_after_a_hidden_signal_ends_by_it(ending):
    with pytest.raises(Terminated), terminable():  # noqa: PT012  (the block)
        with suppress(Terminated):
            signal.raise_signal(signal.SIGTERM)
        ending()


def test_a_block_without_a_signal_ends_as_it_does():
    with terminable() as go_on:
        go_on()
    with pytest.raises(OSError, match="Bad file descriptor"), terminable():
        os.close(-1)


def test_a_process_that_goes_on_behind_a_command_is_none(monkeypatch):
    """Else the payload of a command would leave signals ignored there, and in all it starts."""
    monkeypatch.setattr(sys, "argv", ["sssjob", "--version"])
    with pytest.raises(SystemExit):
        cli.main()
    assert not is_ending([])
