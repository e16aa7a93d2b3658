"""The program that kills commands at random moments kills some, and finds what they leave whole."""

import re
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parent / "long/kills.py"
LOGS = ["log", "log of ads", "log of JSON", "log to APEL"]
CASES = ["features", "convert", *LOGS, "outbox", "hook that fetches", "hook of an end"]


def test_what_killed_commands_leave_is_whole():
    words = [sys.executable, PROGRAM, "2", "22", *CASES]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"^(.*): [0-2] kills, 0 neither", done.stdout, re.MULTILINE)
    assert found == CASES
