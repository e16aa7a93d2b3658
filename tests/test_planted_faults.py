"""The program that plants faults plants some, and the tests of units notice them."""

import os
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "long/mutate.py"


@pytest.fixture(scope="module")
def planting():
    spec = spec_from_file_location("planting", PROGRAM)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_faults_are_planted_in_each_room_every_week(planting):
    weekly = (PROGRAM.parents[2] / ".github/workflows/long.yml").read_text()
    rooms = re.search(r"room: \[(.*)\]", weekly)[1].split(", ")
    assert {*rooms} == planting.ROOMS.keys() - {"units"}  # which is a part of words


def test_what_is_marked_as_equivalent_is_a_fault_that_can_be_planted(planting):
    found = {
        each.key
        for name in {key[0] for key in planting.EQUIVALENT}
        for each in planting.faults(name)
    }
    assert planting.EQUIVALENT.keys() <= found


def test_what_is_printed_of_faults_tells_which_to_plant_again(planting):
    few = [*planting.faults("sssjob.integers"), *planting.faults("sssjob.visible")]
    printed = "\n".join(fault.told("no test comes here") for fault in few)
    assert planting.named(f"{printed}\nwords: 3 of 9 faults, 0 that change nothing\n") == {
        fault.key for fault in few
    }


def test_a_fault_stands_in_the_lines_of_its_statement(planting):
    for fault in planting.faults("sssjob.visible"):
        assert fault.line in fault.lines


def test_planted_faults_are_noticed():
    own = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    done = subprocess.run(
        [sys.executable, PROGRAM, "units", "4", "2"],  # a seed without faults that change nothing
        env={**own, "PYTHONPATH": str(PROGRAM.parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "units: 4 of 1" in done.stdout
    assert done.stdout.endswith("100 % noticed, 0 not noticed\n")
