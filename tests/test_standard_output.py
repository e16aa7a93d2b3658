"""What a command prints is delivered, or the command says that it was not."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("sssjob")
EXAMPLES = Path(__file__).parents[1] / "examples"
PRINTING = {
    "--version": 0, "--help": 0, "examples": 0, "explain Memory": 0, "schema query": 0,
    "validate {examples}/awareness.xml": 1, "show {examples}/message.xml": 0,
    "query //Id {examples}/message.xml": 0, "canon {examples}/message.xml": 0,
    "convert {examples}/slurm/sacct.txt": 0, "report {examples}/slurm/sacct.txt": 0,
    "report --json {examples}/slurm/sacct.txt": 0, "completion bash": 0,
}  # fmt: skip
KEPT = {"buffered": {}, "at once": {"PYTHONUNBUFFERED": "1"}}


def printed(words, stdout, kept):
    return subprocess.Popen(
        [COMMAND, *words.format(examples=EXAMPLES).split()], env={**os.environ, **KEPT[kept]},
        stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("words", PRINTING)
def test_what_a_full_disk_does_not_take_is_told_once_and_ends_with_2(words, kept, full):
    with full.open("w") as stream, printed(words, stream, kept) as process:
        _, said = process.communicate()
    if PRINTING[words] == 0:  # or the findings went to standard error, and nothing is missing
        assert process.returncode == 2
        assert said.splitlines()[-1] == "sssjob: error: No space left on device"
    assert said.count("No space left") <= 1
    assert process.returncode in (PRINTING[words], 2)


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("words", [words for words, code in PRINTING.items() if not code])
def test_a_reader_that_has_gone_ends_a_command_as_its_signal_does(words, kept):
    reading, writing = os.pipe()
    os.close(reading)
    process = printed(words, writing, kept)
    os.close(writing)
    _, said = process.communicate()
    assert process.returncode == -signal.SIGPIPE, said
    assert "ipe" not in said


# What is left of a command is freed before its last output is written; the moment is the garbage
# collector's choice elsewhere.
COLLECTED = """
import gc
from sssjob import standard_output
from sssjob.__main__ import main

finish = standard_output.finish

def collected():
    gc.collect()
    return finish()

standard_output.finish = collected
main()
"""


@pytest.mark.parametrize("words", [*PRINTING, "condor ad {examples}/condor/job.xml"])
def test_what_a_command_leaves_to_be_collected_does_not_close_standard_output(words):
    done = subprocess.run(
        [sys.executable, "-c", COLLECTED, *words.format(examples=EXAMPLES).split()],
        capture_output=True, stdin=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert done.returncode == PRINTING.get(words, 0), done.stderr
    assert "closed file" not in done.stderr
