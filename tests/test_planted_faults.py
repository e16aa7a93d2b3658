"""The program that plants faults plants some, and the tests of units notice them."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parent / "long/mutate.py"


def test_planted_faults_are_noticed():
    own = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    done = subprocess.run(
        [sys.executable, PROGRAM, "units", "4", "2"],  # a seed without faults that change nothing
        env={**own, "PYTHONPATH": str(PROGRAM.parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("units: 4 of 1")
    assert done.stdout.endswith("faults, 0 not noticed\n")
