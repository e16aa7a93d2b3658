"""What fuzzing tries for hours is tried for a moment: its examples, and some changes of each.

`make fuzz` goes on from there.
"""

import signal
import subprocess
import sys
from random import Random

import pytest
from fuzz_targets import CORPUS, HOME, PARSERS, TARGETS, mutated, tried

from sssjob import registry

CHANGES = 3  # of each example


@pytest.mark.parametrize("name", TARGETS)
def test_any_bytes_are_read_or_refused(name):
    target, chance = TARGETS[name], Random(name)
    examples = [*target.seeds(name)]
    assert examples
    for data in (b"", *examples):
        tried(target.run, data)
        for _ in range(CHANGES):
            tried(target.run, mutated(data, chance))


READS = {
    "formats of records": ("records", registry.all_formats),
    "formats of status": ("status", registry.all_status_formats),
    "targets": ("scripts", lambda: [n for n, row in registry.all_targets().items() if row.reads]),
    "queues": ("queue", lambda: [n for n, row in registry.all_systems().items() if row.queue]),
    "caps": ("caps", lambda: [n for n, row in registry.all_systems().items() if row.caps]),
}


@pytest.mark.parametrize("kind, names", READS.values(), ids=READS)
def test_whatever_the_registry_reads_is_a_target(kind, names):
    assert names()
    assert {f"{kind} {name}" for name in names()} <= PARSERS.keys()


@pytest.mark.parametrize("name", PARSERS)
def test_an_example_of_each_target_is_taken(name):
    target = PARSERS[name]
    assert any(tried(target.run, data) for data in target.seeds(name))


def test_what_was_kept_belongs_to_a_target():
    kept = {each.name for each in CORPUS.iterdir()}
    assert kept
    assert kept <= TARGETS.keys()


BOUND = """
import sys
sys.path[:0] = ["tests", "tests/long"]
import fuzz
from types import SimpleNamespace
from pathlib import Path

fuzz.SLOW, fuzz.MEMORY = 0.5, 64
target = SimpleNamespace(run=lambda data: {run}, seeds=lambda name: [b"<a>"])
targets = SimpleNamespace(
    TARGETS={{"x": target}}, mutated=lambda data, chance: data, tried=lambda run, data: run(data)
)
fuzz.by_chance(targets, "x", 1, Path(sys.argv[1]))
"""


@pytest.mark.parametrize("run, status", [
    ("sum(iter(int, 1))", -signal.SIGPROF), ("bytes(1 << 28)", 1), ("None", 0),
], ids=["too long", "too much", "as it should"])  # fmt: skip
def test_an_input_that_takes_too_much_ends_its_target_and_is_kept(run, status, tmp_path):
    code = BOUND.format(run=run)
    found = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=HOME, capture_output=True, check=False
    )
    assert found.returncode == status, found.stderr
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"<a>"] * bool(status)
