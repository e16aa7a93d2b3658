"""A signal that comes while something is half written: nothing of it stays."""

import os
import signal
import subprocess
import sys

import pytest

# The signal comes where what was written is forced to the disk, and each place in turn.
PROGRAM = """
import os, signal, sys
from sssjob.cli import sssjob
number, place, words = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
force, calls = os.fsync, 0
def fsync(handle):
    global calls
    calls += 1
    force(handle)
    if calls == place:
        os.kill(os.getpid(), number)
os.fsync = fsync
sssjob(words)
"""


@pytest.fixture
def ended(tmp_path):
    (tmp_path / "job.xml").write_text(
        "<Job><Id>1</Id><Requested><Duration>60</Duration><Processors>2</Processors></Requested></Job>"
    )
    (tmp_path / "message").write_text("APEL-summary-job-message: v0.2\nSite: x\n%%\n")

    def run(number, place, *words):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(int(number)), str(place), *words],
            cwd=tmp_path, capture_output=True, text=True,
        )  # fmt: skip
        left = [name for _, folders, files in os.walk(tmp_path) for name in (*folders, *files)]
        return done, [name for name in left if name.startswith(".sssjob-") or name.endswith(".tmp")]

    return run


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda each: each.name)
@pytest.mark.parametrize("place", [1, 2, 3])
@pytest.mark.parametrize("words", [
    ("features", "job", "job.xml", "jobfeatures"),
    ("features", "machine", "--node", "n1", "jobfeatures"),
    ("send", "--outbox", "out", "message"),
], ids=" ".join)  # fmt: skip
def test_what_was_half_written_goes(words, place, number, ended):
    done, left = ended(number, place, *words)
    assert left == []
    assert done.returncode in (0, 1, 128 + number, -number), done.stderr
    assert "Traceback" not in done.stderr
