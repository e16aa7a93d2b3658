"""The program that plants faults plants some, and the tests of units notice them."""

import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

PROGRAM = Path(__file__).parent / "long/mutate.py"


def test_what_is_marked_as_equivalent_is_a_fault_that_can_be_planted():
    spec = spec_from_file_location("planting", PROGRAM)
    planting = module_from_spec(spec)
    spec.loader.exec_module(planting)
    found = {
        each.key
        for name in {key[0] for key in planting.EQUIVALENT}
        for each in planting.faults(name)
    }
    assert planting.EQUIVALENT.keys() <= found


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
    assert done.stdout.endswith("100 % noticed, 0 not noticed\n")
